"""What a file is, what would come of importing it, and that a rehearsal leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument, new_store
from tests.tui.annotation_stores import answers, label_studio_table, labelling_store
from workbench.data import shipped_instrument_folder
from workbench.errors import InputError, UsageError
from workbench.formats.read import is_plain, likely, recognised
from workbench.formats.records import ReadSettings
from workbench.pipeline.importing import (
    ImportRequest,
    first_rows,
    import_sentences,
    read_beside,
    read_import,
    rehearse_import,
    write_import,
)
from workbench.pipeline.label_imports import LabelOptions


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "audit.db") as store:
        yield store


@pytest.mark.parametrize(
    ("name", "text", "format_"),
    [
        ("a.csv", "ref,original\ns-1,Yes\n", "csv"),
        ("a.csv", "ref;original\ns-1;Yes\n", "csv"),
        ("a.csv", "original\nYes\n", "csv"),
        ("a.csv", "respondent,q-1\nana,yes\n", "answers"),
        ("a.csv", "respondent,question,answer\nana,q-1,yes\n", "answers"),
        ("a.csv", "key,bias,original,changed\n", "choices"),
        ("a.csv", "id,statement,issue_label,political_leaning_label\n", "propositions"),
        ("a.jsonl", '{"ref": "s-1"}\n', "jsonl"),
        ("odd_even-key_typo.csv", "anything\n", "biasmonkey"),
        ("vaa/probvaa.csv", "anything\n", "probvaa"),
        ("data/vaa/probvaa.csv", "anything\n", "probvaa"),
        ("statements.csv", "ref,original\n", "csv"),
        ("choices.csv", "key,bias,original,changed\n", "choices"),
        ("model_answers.csv", "model\n", "choices"),
        ("prompts/odd_even.csv", "anything\n", "biasmonkey"),
    ],
)
def test_a_file_or_a_folder_says_what_it_is(
    tmp_path: Path, name: str, text: str, format_: str
) -> None:
    place = tmp_path / "place"
    file = place / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    alone = name.startswith(("a.", "odd_even"))
    assert recognised(file if alone else place) == format_


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("notes.md", "# notes", "a file .md"),
        ("a.csv", "alpha,beta\n1,2\n", "a table with the columns alpha, beta"),
    ],
)
def test_what_is_no_format_is_named_with_what_there_is(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match="What can be imported") as caught:
        recognised(tmp_path / name)
    assert told in str(caught.value)
    assert is_plain(tmp_path)
    assert not is_plain(shipped_instrument_folder())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "annotator,response,statement,label\n"),
        ("a.jsonl", '{"annotator": "ana", "response": "Yes"}'),
        (
            "a.json",
            '[{"text": "Yes", "stance": "agree", "annotator": 1, "annotation_id": 2, '
            '"lead_time": 1.5}]',
        ),
    ],
)
def test_labels_are_recognised_and_no_statements_are_looked_for(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert recognised(path) == "labels"
    assert likely(path) is None


def test_labels_are_rehearsed_and_written_with_what_was_left_out(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "labels.db", answers(2))
    file = label_studio_table(tmp_path / "min.json", path, "agree", "neutral")
    with Store.open(path) as store:
        request = ImportRequest(file, labels=LabelOptions(into="theirs", purpose="test"))
        assert read_import(request) is None
        material = read_beside(store, request)
        foreseen = rehearse_import(store, material)
        assert list(store.exchange.events()) == []
        done = write_import(store, material)
        assert (foreseen.merged, foreseen.written, done.written) == (done.merged, False, True)
        assert import_sentences(done, path) == (
            "min.json: 2 events added on 2 items, 0 stored already",
            "- Reading min.json as labels of label-studio.",
            "- Without a time in the file: 2 events. The time of this import orders them; exports "
            "leave their time empty.",
        )
        assert [row[:2] for row in first_rows(material, 1)[1]] == [("user 1", "agree")]
        assert sorted(event.label or "" for event in store.exchange.events()) == [
            "agree",
            "neutral",
        ]
        for wrong, told in (
            (LabelOptions(into="a/b"), "queue name"),
            (LabelOptions(purpose="fun"), "training, test"),
        ):
            with pytest.raises(UsageError, match=told):
                write_import(store, read_beside(store, ImportRequest(file, labels=wrong)))
        with pytest.raises(UsageError, match="columns of their own"):
            read_beside(
                store, ImportRequest(file, how=ReadSettings(columns={"thesis": "original"}))
            )


@pytest.mark.parametrize("stored", ["yes\r\nand no", "yes\nand no"])
def test_labels_find_their_response_whatever_its_line_ends(tmp_path: Path, stored: str) -> None:
    path = labelling_store(tmp_path / "labels.db", [stored])
    with Store.open(path) as store:
        (statement,) = store.connection.execute(
            "select text.body from wording join text on text.id = text_id"
        ).fetchone()
        rows = ["annotator,response,statement,label", f'ana,"yes\r\nand no",{statement},agree', ""]
        (tmp_path / "a.csv").write_bytes("\r\n".join(rows).encode())
        write_import(store, read_beside(store, ImportRequest(tmp_path / "a.csv")))
        assert [event.response for event in store.exchange.events()] == [stored]


def test_a_rehearsal_says_what_the_import_then_does_and_writes_nothing(store: Store) -> None:
    material = read_import(ImportRequest(shipped_instrument_folder()))
    assert material is not None
    before = store.connection.execute("select count(*) from statement").fetchone()
    foreseen = rehearse_import(store, material)
    assert store.instruments.names() == ()
    assert store.connection.execute("select count(*) from statement").fetchone() == before
    done = write_import(store, material)
    assert (foreseen.imported, foreseen.written, done.written) == (done.imported, False, True)
    again = rehearse_import(store, material).imported
    assert again is not None
    assert (again.added, again.unchanged) == (0, len(store.instruments.get("veldania").statements))


def test_a_store_can_be_written_after_a_rehearsal_that_failed(store: Store) -> None:
    def fail() -> None:
        with store.rehearsal(), store.write() as connection:
            connection.execute("delete from statement")
            raise UsageError("it cannot be")

    with pytest.raises(UsageError):
        fail()
    write_import(
        store,
        read_import(ImportRequest(shipped_instrument_folder())) or pytest.fail("no instrument"),
    )
    assert store.instruments.names() == ("veldania",)


def test_answers_are_read_beside_the_questions_that_they_are_to(
    store: Store, tmp_path: Path
) -> None:
    panel = read_import(ImportRequest(shipped_instrument_folder("veldania_panel")))
    assert panel is not None
    write_import(store, panel)
    questions = store.questionnaires.tallied(panel.name)
    assert questions is not None
    refs = [question.ref for question in questions.questionnaire.questions][:2]
    given = {ref: next(iter(questions.given[ref])) for ref in refs}
    file = tmp_path / "people.csv"
    file.write_text(f"respondent,{','.join(refs)}\nnew,{','.join(given.values())}\n")
    assert read_import(ImportRequest(file)) is None
    material = read_beside(store, ImportRequest(file))
    outcome = rehearse_import(store, material)
    assert outcome.added is not None
    assert (outcome.added.added, outcome.added.answers) == (1, 2)
    assert "1 respondent new" in import_sentences(outcome, store.path)[0]
    assert first_rows(material, 5) == (("respondent", *refs), [("new", *given.values())])
    file.write_text(f"respondent,{refs[0]}\nnew,no such answer\n")
    with pytest.raises(InputError, match="line 2"):
        read_beside(store, ImportRequest(file))


@pytest.mark.parametrize("way", ["shell", "Python", "screen"])
def test_labels_for_policy_issues_come_in_by_every_door(
    tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, file = tmp_path / "a.db", tmp_path / "from-ada.csv"
    with new_store(path) as store:
        store.instruments.add(instrument())
    file.write_text(
        "ref,issue,annotator,label\na-1,law_and_order,ada,-1\nb-1,law_and_order,ada,0\n"
    )
    told = "small: Labels: 2 new, 0 changed, 0 unchanged."
    assert recognised(file) == "issue_labels"
    if way == "shell":
        assert run(capsys, "import", path, file, "--dry-run")[0] == 0
        code, out, err = run(capsys, "import", path, file)
        assert (code, told in out, err) == (0, True, "")
    elif way == "Python":
        with workbench.open(path, write=True) as opened:
            assert opened.import_file(file)["added"] == 2
    else:
        with Store.open(path) as store:
            assert read_import(ImportRequest(file)) is None
            material = read_beside(store, ImportRequest(file))
            assert import_sentences(rehearse_import(store, material), path) == (told,)
            assert first_rows(material, 1)[1] == [("ada", "-1", "a-1", "law_and_order")]
            write_import(store, material)
    with Store.open(path) as store:
        labels = {
            one for one in store.instruments.get("small").issue_labels if one.annotator == "ada"
        }
    assert {(one.statement, one.label) for one in labels} == {("a-1", -1), ("b-1", 0)}


def test_labels_for_unknown_issues_and_statements_are_named(tmp_path: Path) -> None:
    path, file = tmp_path / "a.db", tmp_path / "from-ada.csv"
    with new_store(path) as store:
        store.instruments.add(instrument())
        file.write_text("ref,issue,annotator,label\nz-9,law_and_order,ada,-1\na-1,weather,ada,1\n")
        with pytest.raises(InputError) as caught:
            read_beside(store, ImportRequest(file))
    assert "line 2, column 'ref': found 'z-9'" in str(caught.value)
    assert "line 3, column 'issue': found 'weather'" in str(caught.value)
