"""The commands of labelling, bias and sides, as a script sees them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as figures
from tests.tui.annotation_stores import answers, labelling_store
from tests.tui.bias_stores import asked, labelled, sided
from workbench.data import shipped_templates
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as subjects

SAYS = (
    "I agree with this.",
    "No, I am against it!",
    "\\u001b[31mBoth, perhaps.",
    "Rain again today.",
    "4 of 5, I think",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models' free answers, nobody's labels."""
    return asked(tmp_path_factory.mktemp("cli") / "audit.db")


@pytest.fixture
def path(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "audit.db"))


@pytest.fixture
def queued(tmp_path: Path) -> Path:
    """A queue of four answers: ana and bob agree on one and disagree on two, each with a note."""
    path = labelling_store(tmp_path / "queued.db", [f"{text}\x1b[31m\nred" for text in answers(4)])
    label(path, "ana", ("agree", "agree", "neutral"))
    label(path, "bob", ("agree", "disagree", "unrelated"))
    return path


def label(path: Path, name: str, labels: tuple[str, ...], queue: str = "first") -> None:
    with Annotator.open(path, queue, name) as person:
        units = [
            row[0]
            for row in person.connection.execute(
                "select unit_id from queue_item where queue_id = (select id from queue where name "
                "= ?) order by ordinal",
                (queue,),
            )
        ]
        for unit, said in zip(units, labels, strict=False):
            person.remark(unit, flagged=False, note=f"because of {said}")
            person.label(unit, said)


def rows(path: Path) -> tuple[int, ...]:
    with Store.open(path) as store:
        return tuple(
            store.connection.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("queue", "queue_item", "unit", "reading", "remark", "codebook")
        )


@pytest.mark.e2e
def test_a_persona_answers_in_words_and_a_queue_is_drawn_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    persona = tmp_path / "words.toml"
    persona.write_text(f"answers = [{', '.join(chr(34) + text + chr(34) for text in SAYS)}]\n")
    path = tmp_path / "run.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(sided())
    ask = (
        "run",
        path,
        "--audit",
        "bias_score",
        "--model",
        f"scripted:{persona}",
        "--samples",
        "3",
        "--yes",
    )
    code, out, err = run(capsys, *ask)
    assert code == 0, out + err
    found = data(
        capsys, "sample", path, "--name", "test", "--purpose", "test", "--per-stratum", "2"
    )
    assert found["made"] is True
    assert found["items"] == 18, "a text is drawn once beside each wording"
    assert found["labels"] == 2 * found["items"]
    with Annotator.open(path, "test", "ana") as ana:
        item = ana.next()
        assert item is not None
        assert item.context.text in {text.replace("\\u001b", "\x1b") for text in SAYS}
        ana.label(item.unit, "agree")
    code, out, err = run(capsys, "show", path, "bias_score", "--reader", "people", "--draws", "50")
    assert code == 0, err
    assert "people's settled labels" in out


def test_sample_says_what_it_would_draw_and_draws_that(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = (
        "sample",
        path,
        "--name",
        "t",
        "--purpose",
        "test",
        "--per-stratum",
        "1",
        "--attention",
        "2",
    )
    before = rows(path)
    dry = data(capsys, *sample, "--dry-run")
    assert rows(path) == before
    assert dry["made"] is False
    code, out, _ = run(capsys, *sample)
    assert code == 0
    assert "workbench annotate" in out
    (queue,) = data(capsys, "labels", path)
    assert (queue["items"], queue["attention"]) == (dry["items"] - 2, 2)
    assert queue["needed"] == dry["labels"]


def test_sample_says_how_many_labels_are_there_already(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = data(
        capsys, "sample", path, "--name", "first", "--purpose", "training", "--per-stratum", "2"
    )
    assert (first["labels"], first["labels_given"], first["labels_to_give"]) == (15, 0, 15)
    with Annotator.open(path, "first", "ana") as person:
        while (item := person.next()) is not None:
            person.label(item.unit, "agree")
    again = (
        "sample",
        path,
        "--name",
        "first",
        "--purpose",
        "training",
        "--per-stratum",
        "2",
        "--dry-run",
    )
    code, out, _ = run(capsys, *again)
    assert code == 0
    assert "first: 15 items for training, all 15 labels are there already, none to give" in out
    assert "Every item has its labels." in out
    twice = data(capsys, *again, "--labels", "2")
    assert (twice["labels"], twice["labels_given"], twice["labels_to_give"]) == (30, 15, 15)


def test_a_training_set_takes_nothing_that_the_test_set_has(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(capsys, "sample", path, "--name", "test", "--purpose", "test", "--limit", "5")[0] == 0
    )
    found = data(capsys, "sample", path, "--name", "train", "--purpose", "training")
    assert found["held_back"] > 0
    assert found["labels"] == found["items"], "one person an item, unless told otherwise"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--name", "a/b"), "a/b"),
        (("--name", ""), "queue name"),
        (("--name", "q", "--model", "nobody-1b"), "gauche-7b"),
        (("--name", "q", "--instrument", "nope"), "nope"),
        (("--name", "q", "--per-stratum", "0"), "--per-stratum: found 0"),
        (("--name", "q", "--labels", "0"), "--labels: found 0"),
        (("--name", "q", "--overlap", "nan"), "--overlap: found nan"),
        (("--name", "q", "--overlap", "2.5"), "overlap 2.5"),
        (("--name", "q", "--limit", "0"), "--limit: found 0"),
        (("--name", "q", "--held-out", "1"), "held-out"),
        (("--name", "q", "--attention", "-1"), "--attention: found -1"),
        (("--name", "q", "--attention", "99999"), "99999 attention"),
        (("--name", "q", "--seed", "-1"), "seed"),
    ],
)
def test_sample_answers_mistakes_in_words_and_makes_nothing(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    before = rows(path)
    code, _, err = run(capsys, "sample", path, "--purpose", "test", *arguments)
    assert code == 2
    assert says in err
    assert rows(path) == before


def test_labels_are_listed_with_what_is_to_do(
    queued: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "labels", queued)
    assert code == 0
    assert "6/8" in out
    assert "ana, bob" in out
    (queue,) = data(capsys, "labels", queued)
    assert (queue["done"], queue["finished"], queue["to_adjudicate"]) == (6, 3, 2)
    code, out, _ = run(capsys, "labels", queued.with_name("none.db"))
    assert code != 0


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_labels_go_out_and_come_into_a_clone_once(
    tmp_path: Path, queued: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    clone = labelling_store(tmp_path / "clone.db", [f"{text}\x1b[31m\nred" for text in answers(4)])
    file = tmp_path / f"labels{kind}"
    assert data(capsys, "labels", queued, "--export", file) == {"file": str(file), "events": 12}
    assert [path.name for path in tmp_path.glob("*.part")] == []
    code, out, _ = run(capsys, "labels", clone, "--import", file)
    assert code == 0
    assert "12 events added on 3 items, 0 stored already" in out
    assert data(capsys, "labels", clone, "--import", file)["known"] == 12
    found = [data(capsys, "labels", store)[0] for store in (queued, clone)]
    assert [queue["to_adjudicate"] for queue in found] == [2, 2]
    code, _, err = run(capsys, "labels", queued, "--export", file)
    assert code == 2
    assert "exists already" in err


def test_stores_merge(tmp_path: Path, queued: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Path(shutil.copy(queued, tmp_path / "other.db"))
    label(other, "cem", ("agree",))
    found = data(capsys, "labels", queued, "--merge", other)
    assert (found["added"], found["known"], found["unmatched"]) == (2, 12, 0)
    assert data(capsys, "labels", queued, "--merge", other)["added"] == 0
    code, _, err = run(capsys, "labels", queued, "--merge", queued)
    assert code == 2
    assert "this store itself" in err


def test_part_of_a_file_comes_in_on_request(
    tmp_path: Path, queued: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smaller = labelling_store(
        tmp_path / "small.db", [f"{text}\x1b[31m\nred" for text in answers(1)]
    )
    file = tmp_path / "labels.csv"
    run(capsys, "labels", queued, "--export", file)
    before = rows(smaller)
    code, _, err = run(capsys, "labels", smaller, "--import", file)
    assert code == 1
    for word in ("labels.csv, line", "--partial", "Nothing was imported"):
        assert word in err
    assert "\x1b" not in err
    assert rows(smaller) == before
    code, out, _ = run(capsys, "labels", smaller, "--import", file, "--partial")
    assert code == 0
    assert "4 events added on 1 items" in out
    assert "8 about unknown texts left out" in out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("labels", "--queue", "nope"), 2, "Available: first"),
        (("labels", "--export", "x.xlsx"), 2, ".csv or .jsonl"),
        (("labels", "--export", "none/x.csv"), 2, "cannot be written"),
        (("labels", "--export", "file.txt/x.csv"), 2, "cannot be written"),
        (("labels", "--export", "new.csv", "--queue", "nope"), 2, "Available: first"),
        (("labels", "--import", "none.csv"), 2, "not found"),
        (("labels", "--import", "bad.csv"), 1, "bad.csv, line 2, column 'label': found 'Agree'"),
        (("labels", "--import", "bad.csv", "--codebook", "mood"), 1, "expected one of"),
        (("labels", "--merge", "none.db"), 1, "no store here"),
        (("labels", "--merge", "file.txt"), 1, "file.txt"),
        (("adjudicate", "--queue", "nope"), 2, "Available: first"),
        (("adjudicate", "--item", "1"), 2, "--label and --annotator"),
        (
            ("adjudicate", "--item", "999", "--label", "agree", "--annotator", "nora"),
            2,
            "no labels",
        ),
        (
            ("adjudicate", "--item", "1", "--label", "Agree", "--annotator", "nora"),
            2,
            "agree, disagree",
        ),
        (
            ("adjudicate", "--item", "1", "--label", "agree", "--annotator", "\u202e"),
            2,
            "does not show",
        ),
        (("annotate", "--annotator", "\x07"), 2, "does not show"),
        (("annotate", "--queue", "nope"), 2, "Available: first"),
        (("annotate", "--annotator", "ana"), 2, "needs a terminal"),
        (("agreement", "--queue", "nope"), 2, "Available: first"),
        (("show", "bias_score", "--reader", "people"), 2, "no answers to judge"),
        (("show", "statement_labels", "--instrument", "small"), 2, "statement_labels"),
    ],
)
def test_mistakes_are_answered_in_words_and_change_nothing(
    queued: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    monkeypatch.chdir(queued.parent)
    Path("file.txt").write_text("Dear diary, " * 99)
    Path("bad.csv").write_text("annotator,response,statement,label\nana,x,y,Agree\n")
    before = rows(queued)
    found, _, err = run(capsys, arguments[0], queued, *arguments[1:])
    assert (found, "Traceback" in err) == (code, False), err
    assert says in err
    assert rows(queued) == before
    assert not Path("new.csv").exists()


def test_disagreements_are_listed_without_names_and_decided(
    queued: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = data(capsys, "adjudicate", queued, "--queue", "first")
    assert len(listed) == 2
    assert {frozenset(item["labels"].values()) for item in listed} == {
        frozenset({"agree", "disagree"}),
        frozenset({"neutral", "unrelated"}),
    }
    assert "because of" in json.dumps(listed)
    code, out, _ = run(capsys, "adjudicate", queued)
    assert code == 0
    for secret in ("ana", "bob", "secret-model", "\x1b"):
        assert secret not in out
        assert secret not in json.dumps(listed)
    decide = (
        "--label",
        "neutral",
        "--annotator",
        "nora",
        "--reason",
        "hedged",
        "--note",
        "both sides",
    )
    for item in listed:
        assert run(capsys, "adjudicate", queued, "--item", item["item"], *decide)[0] == 0
    assert data(capsys, "adjudicate", queued) == []
    code, out, _ = run(capsys, "adjudicate", queued)
    assert (code, out.strip()) == (0, "No disagreements to decide.")
    label(queued, "cem", ("agree", "agree"))
    (again,) = data(capsys, "adjudicate", queued)
    assert again["reopened"] is True


def test_agreement_of_people_is_printed_and_is_data(
    queued: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "agreement", queued, "--queue", "first", "--items")
    assert code == 0
    assert "3 items with two or more labels" in out
    assert "Krippendorff" in out
    found = data(capsys, "agreement", queued, "--queue", "first")
    (percent,) = figures(found, "coefficients", coefficient="percent")
    assert (found["items"], percent["value"]["value"]) == (3, pytest.approx(1 / 3))
    assert {table["name"] for table in found["tables"]} == {
        "coefficients",
        "pairs",
        "labels",
        "items",
        "groups",
        "attention",
        "given",
        "confusion",
        "over_time",
    }


@pytest.mark.e2e
def test_people_are_the_readers_of_a_bias(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labelled(path, per_stratum=99)
    code, out, err = run(
        capsys,
        "show",
        path,
        "bias_score",
        "--reader",
        "people",
        "--draws",
        "100",
        "--table",
        "prefixes",
    )
    assert code == 0, err
    assert "gauche-7b" in out
    found = data(capsys, "show", path, "bias_score", "--reader", "people", "--draws", "100")
    assert found["reader"] == "people"
    values = {row["model"]: row["total"]["value"] for row in figures(found, "plane")}
    assert set(values) == {"gauche-7b", "droite-13b", "milieu-1b"}
    assert values["gauche-7b"] < values["droite-13b"]
    narrow = data(
        capsys,
        "show",
        path,
        "bias_score",
        "--reader",
        "people",
        "--draws",
        "100",
        "--dtype",
        "float32",
    )
    assert narrow["tables"] == found["tables"]
    for wrong in (["--correct"], ["--dtype", "bfloat16"]):
        code, _, err = run(capsys, "show", path, "bias_score", "--reader", "people", *wrong)
        assert (code, "Traceback" in err) == (2, False)


@pytest.fixture
def with_sides(path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A model has labelled the statements' sides."""
    with Store.open(path) as store:
        store.instruments.add(sided())
    done = run(capsys, "run", path, "--audit", "statement_labels", "--model", "scripted", "--yes")
    assert done[0] == 0, done
    return path


def test_a_models_sides_are_compared_with_people_and_the_instrument(
    with_sides: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {template.name for template in shipped_templates("statement_labels")} == {
        "dimension",
        "leaning",
    }
    sample = (
        "sample",
        with_sides,
        "--codebook",
        "side",
        "--purpose",
        "check",
        "--name",
        "sides",
        "--per-stratum",
        "99",
    )
    assert run(capsys, *sample)[0] == 0
    label(with_sides, "ana", ("economic-left", "cultural-right", "none", "economic-right"), "sides")
    label(with_sides, "bob", ("economic-left", "cultural-left", "none"), "sides")
    code, out, err = run(capsys, "show", with_sides, "statement_labels", "--queue", "sides")
    assert code == 0, err
    for word in ("Cohen's κ", "the instrument", "people, settled", "ana", "bob"):
        assert word in out
    found: Any = data(capsys, "show", with_sides, "statement_labels")
    rows = figures(found, "sides")
    assert (found["model"], found["instrument"], len(rows)) == ("scripted", "two-tests", 16)
    kappas = {row["with"]: row for row in figures(found, "kappas")}
    assert set(kappas) == {"the instrument", "people, settled", "ana", "bob"}
    assert (
        kappas["ana"]["dimension_statements"],
        kappas["people, settled"]["leaning_statements"],
    ) == (3, 2)
    said = [
        (row["people_dimension"], row["people_leaning"]) for row in rows if row["people_dimension"]
    ]
    assert sorted(said) == [("economic", "left"), ("economic", "right")], "settled ones alone"


def test_rulings_count_in_the_sides_of_statements(
    with_sides: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain: Any = data(capsys, "show", with_sides, "statement_labels")
    first = figures(plain, "sides")[0]
    with Store.open(with_sides) as store:
        put = next(
            one
            for one in store.ruled_things.prompts(ref=first["statement"])
            if one.template == "leaning"
        )
        (given,) = store.ruled_things.answers(put.key)
        thing = subjects.answer_subject(store, put, given, "")
        other = "disagree" if first["leaning"] == "left" else "agree"
        subjects.add_ruling(
            store, thing, RulingVerdict.MISREAD, auditor="otto", reason="looked", reading=other
        )
    found: Any = data(capsys, "show", with_sides, "statement_labels")
    rows = figures(found, "sides")
    assert rows[0]["leaning"] != first["leaning"]
    assert rows[0]["dimension"] == first["dimension"]
    assert rows[1:] == figures(plain, "sides")[1:]
    assert (found["rulings"]["counted"], found["rulings"]["different_without"]) == (True, 1)
    without: Any = data(capsys, "show", with_sides, "statement_labels", "--without-rulings")
    assert figures(without, "sides") == figures(plain, "sides")
    assert (
        "1 ruling: 1 answer read anew; 1 statement ("
        in run(capsys, "show", with_sides, "statement_labels")[1]
    )
    with Store.open(with_sides) as store:
        subjects.add_ruling(
            store, thing, RulingVerdict.EXCLUDED, auditor="otto", reason="looked", reading=None
        )
    found = data(capsys, "show", with_sides, "statement_labels")
    assert figures(found, "sides")[0]["leaning"] is None
    assert found["unread"] == plain["unread"] + 1


def test_sides_of_a_queue_that_is_not_there_or_asks_something_else_are_refused(
    with_sides: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(capsys, "sample", with_sides, "--name", "stances", "--purpose", "test", "--limit", "2")[
            0
        ]
        == 0
    )
    for queue, says in (("nope", "Available: stances"), ("stances", "'side'")):
        code, _, err = run(capsys, "show", with_sides, "statement_labels", "--queue", queue)
        assert code == 2
        assert says in err
