"""Importing, exporting and checking multiple-choice questions: anyone's, the shipped ones, the
authors' download.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import published
from tests.core.test_formats_biasmonkey import answers, column, download, prompts
from tests.core.test_formats_biasmonkey import csv as csv_of
from workbench.audits.response_bias.answers import tabulate
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.score import judge
from workbench.data import SHIPPED_CHOICES, shipped_instrument_folder, templates_of
from workbench.domain.choices import Bias, Perturbation

FOLDER = shipped_instrument_folder(SHIPPED_CHOICES)
HEADER = "key,bias,original,changed\n"
QUESTION = '"Better or worse?\nA. Better\nB. Worse"'


def test_the_shipped_questions_come_in_are_clean_and_go_out_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place, other = tmp_path / "a.db", tmp_path / "out", tmp_path / "b.db"
    code, out, _ = run(capsys, "import", path, FOLDER, "--format", "choices")
    assert code == 0
    assert (
        "20 acquiescence, 20 allow_forbid, 20 response_order, 20 opinion_float, 20 odd_even" in out
    )
    assert "- Veldania is fictional." in out
    assert run(capsys, "lint", path)[1].endswith(
        "0 errors, 0 warnings, 0 notes. Home counts fewer: neither style hints nor what models "
        "found\n"
    )
    assert "A. More trams and buses" in run(capsys, "statements", path)[1]
    code, out, _ = run(capsys, "export", path, place)
    assert code == 0
    assert "veldania_choices: 100 statements as choices" in out
    assert "Left out" not in out
    command = (
        out.splitlines()[-1]
        .removeprefix("Import it: workbench ")
        .replace("OTHER_STORE", str(other))
        .split()
    )
    assert run(capsys, *command)[0] == 0
    with Store.open(path) as one, Store.open(other) as two:
        found = two.instruments.get(SHIPPED_CHOICES)
        assert found == one.instruments.get(SHIPPED_CHOICES)
        assert found.templates == templates_of(("response_bias",))
        assert sum(1 for item in found.choices if item.shares) == 40
    code, out, _ = run(capsys, "import", path, FOLDER, "--format", "choices")
    assert "(0 new, 0 changed, 100 unchanged, 0 retired)" in out


def test_other_formats_say_what_they_leave_out_of_questions_and_keep_their_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.db"
    (tmp_path / "q").mkdir()
    (tmp_path / "q/choices.csv").write_text(
        f"{HEADER}k,response_order,{QUESTION},\n", encoding="utf-8"
    )
    perturbed = "key,bias,perturbation,draw,text\nk,response_order,key_typo,2," + QUESTION.replace(
        "tt", "ty", 1
    )
    (tmp_path / "q/perturbed.csv").write_text(perturbed, encoding="utf-8")
    answered = "model,bias,key,form,recorded,offered,n_a\nm,odd_even,x,original,5,5,1\nm,odd_even,x,changed,5,4,2\n"
    (tmp_path / "q/model_answers.csv").write_text(answered, encoding="utf-8")
    code, out, _ = run(capsys, "import", path, tmp_path / "q", "--format", "choices")
    assert code == 0
    assert "answers of models: 1 new set, 3 answers (m)" in out
    assert "1 questions of the models' answers have no text" in out
    four = '"Good?\nA. Very\nB. Rather\nC. Hardly\nD. No"'
    changed = four.replace('No"', 'No\nE. Unsure"')
    (tmp_path / "even.csv").write_text(
        f"{HEADER}k,opinion_float,{four},{changed}\n", encoding="utf-8"
    )
    said = (
        "no figure of the bias counts 1 question by the definition corrected, for the "
        "original has no middle option: "
    )
    assert said + "opinion_float.k" in " ".join(
        run(capsys, "import", tmp_path / "b.db", tmp_path / "even.csv", "--format", "choices")[
            1
        ].split()
    )
    plan = (
        "run",
        tmp_path / "b.db",
        "--audit",
        "response_bias",
        "--model",
        "scripted",
        "--dry-run",
    )
    assert f"note: {said}opinion_float.k" in run(capsys, *plan)[1]
    for format_ in ("csv", "jsonl", "probvaa", "choices"):
        place = tmp_path / format_
        code, out, err = run(capsys, "export", path, place, "--format", format_)
        assert (code, err) == (0, "")
        said = (", with people's shares: --format choices" in out, "1 sets of models'" in out)
        assert said == (format_ != "choices",) * 2
        back = tmp_path / f"{format_}.db"
        command = (
            out.splitlines()[-1]
            .removeprefix("Import it: workbench ")
            .replace("OTHER_STORE", str(back))
            .split()
        )
        assert run(capsys, *command)[0] == 0
        with Store.open(path) as one, Store.open(back) as two:
            name = two.instruments.only()
            kept = [[w.text for w in s.wordings] for s in two.instruments.get(name).statements]
            assert kept == [
                [w.text for w in one.instruments.get("q").statements[0].wordings][: len(kept[0])]
            ]
            assert len(kept[0]) == (1 if format_ == "probvaa" else 2)
            assert (two.choices.answer_sets(name) == one.choices.answer_sets("q")) == (
                format_ == "choices"
            )


def test_questions_given_as_statements_are_told_their_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (FOLDER, FOLDER / "choices.csv"):
        code, _, err = run(capsys, "import", tmp_path / "a.db", path, "--format", "csv")
        assert (code, "import it with --format choices" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (
            f'k,response_order,"Q?\nA. One",{QUESTION}\n',
            "line 2, column 'original'",
            "a question with one option",
        ),
        (
            f'k,response_order,"Q?\nOne\nTwo",{QUESTION}\n',
            "line 2, column 'original'",
            "without lettered options",
        ),
        ("k,response_order,,\n", "line 2, column 'original'", "an empty cell; expected some text"),
        ('k,response_order,"Q?\nA. One\nB. ",\n', "line 2, column 'original'", "an empty option B"),
        (
            f'k,response_order,{QUESTION},"B?\nB. x\nA. y"\n',
            "line 2, column 'changed'",
            "the letters B, A",
        ),
        (
            f"k,odd_even,{QUESTION},\n",
            "line 2, column 'original'",
            "2 options; expected an odd number",
        ),
        (f"k,response_order,{QUESTION},\n" * 2, "line 5, column 'key'", "again, after line 2"),
        (f"k,order,{QUESTION},\n", "line 2, column 'bias'", "an unknown bias 'order'"),
        (
            f'k,response_order,"{"x" * 10_001}?\nA. a\nB. b",\n',
            "line 2, column 'original'",
            "expected 10,000 at most",
        ),
    ],
    ids=[
        *(
            "one option",
            "no letters",
            "an empty cell",
            "an empty option",
            "letters out of order",
            "no middle option",
        ),
        *("a key twice", "no bias of this name", "a long text"),
    ],
)
def test_a_question_that_is_none_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, place: str, said: str
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    code, out, err = run(capsys, "import", tmp_path / "a.db", path, "--format", "choices")
    assert (code, out) == (1, "")
    assert f"mine.csv, {place}: found " in err
    assert said in err
    assert not (tmp_path / "a.db").exists()


Rows = list[list[str]]


def _shifted(rows: Rows) -> Rows:
    """Every key one row further down."""
    return [
        rows[0],
        *(
            [before[0], *row[1:]]
            for before, row in zip([rows[1], *rows[1:]], rows[1:], strict=False)
        ),
    ]


def answer_rows() -> Rows:
    """Two questions of two and of three options, three answers to each of both forms."""
    forms = [
        (key, n, group)
        for key, n in (("k1", 2), ("k2", 3))
        for group in ("orig alpha", "reversed alpha")
    ]
    return [
        ["key", "response", "group", "num_options"],
        *([key, letter, group, str(n)] for key, n, group in forms for letter in "aab"),
    ]


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (_shifted, "line 8, column 'num_options'", "rows may be shifted"),
        (
            lambda rows: [rows[0], ["k1", "?", *rows[1][2:]], *rows[2:]],
            "line 2, column 'response'",
            "'?'",
        ),
    ],
    ids=["shifted rows", "no letter"],
)
def test_answers_that_cannot_be_meant_are_refused_with_their_place(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Rows], Rows],
    place: str,
    said: str,
) -> None:
    path = tmp_path / "m" / "response_order.csv.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows(change(answer_rows()))
    code, out, err = run(capsys, "import", tmp_path / "a.db", path, "--format", "biasmonkey")
    assert (code, out) == (1, "")
    assert f"m/response_order.csv.gz, {place}: found " in err
    assert said in err


def test_a_letter_that_was_not_offered_is_kept_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answer_rows()
    rows[1][1], rows[2][1] = "z", ""
    path = tmp_path / "m" / "response_order.csv"
    path.parent.mkdir()
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    code, out, _ = run(
        capsys, "import", tmp_path / "a.db", path, "--format", "biasmonkey", "--name", "mine"
    )
    assert code == 0
    assert "m: 1 file, 12 answers; 1 without a letter, 1 with letters that were not offered." in out
    assert f"Next: workbench show {tmp_path / 'a.db'} response_bias --instrument mine" in out
    with Store.open(tmp_path / "a.db") as store:
        assert store.choices.answer_sets("mine")[0].pairs[0].original.counts == {
            "z": 1,
            "": 1,
            "b": 1,
        }
        assert store.instruments.get("mine").statements == ()
    code, _, err = run(capsys, "export", tmp_path / "a.db", tmp_path / "out", "--format", "csv")
    assert (code, "holds no statement yet" in err) == (2, True)
    code, out, _ = run(capsys, "export", tmp_path / "a.db", tmp_path / "out")
    assert (code, "as choices in" in out) == (0, True)
    assert run(capsys, "import", tmp_path / "b.db", tmp_path / "out", "--format", "choices")[0] == 0
    with Store.open(tmp_path / "a.db") as one, Store.open(tmp_path / "b.db") as two:
        assert one.choices.answer_sets("mine") == two.choices.answer_sets("mine")


@pytest.mark.e2e
def test_the_authors_download_comes_in_parts_and_gives_the_published_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts: Tjuatja et al. 2024, section 3. Means under P: their table 5; under C: of the same
    files, see `golden/test_response_bias_published.py`.
    """
    path, root = tmp_path / "a.db", published("biasmonkey")
    assert run(capsys, "import", path, root / "prompts", "--format", "biasmonkey")[0] == 0
    code, out, _ = run(
        capsys, "import", path, root / "results" / "llama2-7b", "--format", "biasmonkey"
    )
    assert code == 0
    assert "biasmonkey: 0 statements (0 new, 0 changed, 0 unchanged, 0 retired), 0 wordings" in out
    assert "answers of models: 17 new sets, 261,000 answers (llama2-7b)" in out
    lines = out.splitlines()
    model = lines.index(
        "llama2-7b: 17 files, 261,000 answers; 0 without a letter, 97 with letters that were not "
        "offered."
    )
    assert lines[model + 1].startswith("- there are no answers for opinion_float-key_typo")
    assert any(
        "its letters were not renamed (c to d, d to e), and 93 answers" in line for line in lines
    )
    with Store.open(path) as store:
        items = store.choices.items("biasmonkey").values()
        assert Counter(item.bias for item in items if not item.variant) == {
            Bias.ACQUIESCENCE: 176,
            Bias.ALLOW_FORBID: 48,
            Bias.RESPONSE_ORDER: 271,
            Bias.OPINION_FLOAT: 126,
            Bias.ODD_EVEN: 126,
        }
        tables = [tabulate(one) for one in store.choices.answer_sets("biasmonkey")]
    for definition, means in (
        (Definition.PAPER, (1.9205, -3.92)),
        (Definition.CORRECTED, (1.9580, -5.6250)),
    ):
        cells = judge(tables, ChangeOptions(definition)).cells
        found = {(cell.bias, cell.condition): cell.delta.mean for cell in cells}
        assert found[Bias.ACQUIESCENCE, None] == pytest.approx(means[0], abs=5e-5)
        assert found[Bias.ACQUIESCENCE, Perturbation.KEY_TYPO] == pytest.approx(means[1], abs=5e-5)
    _, out, _ = run(capsys, "lint", path)
    assert "0 errors, 11 warnings" in out, (
        "two originals with three options, one without forbid, eight asked twice"
    )


def test_a_warning_of_a_file_stays_with_its_answers_in_the_store_every_output_and_an_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place, other = tmp_path / "a.db", download(tmp_path / "d"), tmp_path / "b.db"
    (place / "results/m/acquiescence.csv").write_bytes(csv_of(column(answers(), 1, 3)))
    code, out, _ = run(capsys, "import", path, place, "--format", "biasmonkey", "--name", "q")
    assert code == 0
    words = "answers that fit their questions better 3 rows up"
    assert words in " ".join(out.split())
    with Store.open(path) as store:
        ((said,), none) = (one.warnings for one in store.choices.answer_sets("q"))
        assert words in said
        assert not none
    code, out, _ = run(capsys, "show", path, "response_bias")
    assert f"m, acquiescence: warning: {said}" in " ".join(out.split())
    found = json.loads(run(capsys, "show", path, "response_bias", "--json")[1])
    assert f"m, acquiescence: warning: {said}" in found["notes"]
    (cells,) = (table["rows"] for table in found["tables"] if table["name"] == "cells")
    assert [(cell["condition"], cell["warnings"]) for cell in cells] == [
        ("bias", [said]),
        ("key_typo", []),
    ]
    assert run(capsys, "export", path, tmp_path / "out", "--format", "choices")[0] == 0
    assert run(capsys, "import", other, tmp_path / "out", "--format", "choices")[0] == 0
    with Store.open(path) as one, Store.open(other) as two:
        assert two.choices.answer_sets("q") == one.choices.answer_sets("q")


def test_a_file_at_fault_stops_the_import_and_skip_goes_on_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place = tmp_path / "a.db", download(tmp_path / "d")
    (place / "results/n").mkdir()
    (place / "results/n/acquiescence.csv").write_bytes(csv_of(column(answers(), 3, 3)))
    code, out, err = run(capsys, "import", path, place, "--format", "biasmonkey")
    assert (code, out, path.exists()) == (1, "", False)
    assert "With --skip the other files are imported without these." in err
    assert {line.split(",")[0] for line in err.splitlines()[:-1]} == {
        "workbench: n/acquiescence.csv",
        "n/acquiescence.csv",
    }
    code, out, _ = run(capsys, "import", path, place, "--format", "biasmonkey", "--skip")
    assert code == 0
    assert "Skipped n/acquiescence.csv, line" in out
    with Store.open(path) as store:
        assert store.choices.models("biasmonkey") == ("m",)
    code, _, err = run(capsys, "import", path, FOLDER, "--format", "choices", "--skip")
    assert (code, "--skip belongs to --format biasmonkey" in err) == (2, True)


def test_questions_that_came_with_a_warning_show_it_with_every_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place = tmp_path / "a.db", download(tmp_path / "d")
    rows = prompts()[:5] + prompts()[6:]
    (place / "prompts/acquiescence.csv").write_bytes(csv_of(column(rows, 3, 1)))
    (place / "prompts/acquiescence-key_typo.csv").unlink()
    assert run(capsys, "import", path, place, "--format", "biasmonkey")[0] == 0
    notes = json.loads(run(capsys, "show", path, "response_bias", "--json")[1])["notes"]
    assert any(
        note.startswith("warning about the texts of 9 questions: prompts/acquiescence.csv")
        for note in notes
    )
    assert run(capsys, "export", path, tmp_path / "out", "--format", "choices")[0] == 0
    assert run(capsys, "import", tmp_path / "b.db", tmp_path / "out", "--format", "choices")[0] == 0
    with Store.open(path) as one, Store.open(tmp_path / "b.db") as two:
        assert two.choices.items("biasmonkey") == one.choices.items("biasmonkey")
    (place / "prompts/acquiescence.csv").write_bytes(csv_of(prompts()))
    assert run(capsys, "import", path, place / "prompts", "--format", "biasmonkey")[0] == 0
    with Store.open(path) as store:
        assert not any(item.warnings for item in store.choices.items("biasmonkey").values()), (
            "the file was mended"
        )
