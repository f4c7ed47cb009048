"""`workbench show STORE response_bias`: the matrix, its views, JSON, CSV files, and what is
refused.
"""

from __future__ import annotations

import csv
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import DESIGN, EXACT, ask, first_option, pairs
from workbench.audits.response_bias.answers import find_condition, find_kind
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.audits.response_bias.questions import Changes
from workbench.cli.output import table
from workbench.data import shipped_templates
from workbench.domain.choices import AnsweredPair, AnswerSet, ArmAnswers, Bias, Perturbation
from workbench.domain.instruments import Instrument, with_pairs
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona

AUDIT = ("response_bias",)
FORMS = ("forms", "options", "prompts", "answers", "answers")
"tables of one question; the answers to each form"
EXACTLY_ASKED = "first · exact"
MANY = tuple(f"model-{n}" for n in range(9))


def told(model: str, *forms: tuple[dict[str, int], dict[str, int]]) -> AnswerSet:
    """Answers from elsewhere to the questions on response order, three options each."""
    answered = [
        AnsweredPair(f"q{n}", ArmAnswers(q, 3, 3), ArmAnswers(changed, 3, 3))
        for n, (q, changed) in enumerate(forms)
    ]
    return AnswerSet(model, Bias.RESPONSE_ORDER, None, tuple(answered))


TOLD = told(
    "told",
    ({"a": 7, "b": 3}, {"a": 5, "b": 5}),
    ({"a": 9, "z": 1}, {"a": 8, "": 2}),
    ({"a": 10}, {"a": 4, "b": 6}),
)
"deltas of valid shares 20, 0 and 60; of all ten answers 20, 10 and 60"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model asked by samples and exactly, one that gives no letter, and answers from elsewhere;
    only read.
    """
    path = tmp_path_factory.mktemp("choices") / "choices.db"
    silent = ScriptedModel(ScriptedPersona(letters=LetterHabits(invalid=1.0)), name="silent")
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs(), (TOLD,)))
        ask(store, first_option(invalid=0.25))
        ask(store, first_option(invalid=0.25), EXACT)
        ask(store, silent, replace(DESIGN, model="silent", samples=2, tries=2))
    return path


def rows(found: Any, name: str, *subject: str, **of: object) -> list[dict[str, Any]]:
    """Return the rows of a table in a JSON document; `of` keeps those with these values."""
    tables = [
        one
        for one in found["tables"]
        if one["name"] == name and (not subject or one["subject"] == [*subject])
    ]
    return [
        row
        for one in tables
        for row in one["rows"]
        if all(row[key] == value for key, value in of.items())
    ]


def names(found: Any) -> list[str]:
    return [one["name"] for one in found["tables"]]


def asking(*question: str) -> list[str]:
    """Return the words that name all tables of a question."""
    ends = ((), (), (), ("original",), ("changed",))
    return [word for name, end in zip(FORMS, ends, strict=True) for word in (name, *question, *end)]


def row(out: str, *begin: str) -> str:
    """Return the first line that begins with these cells, without them, blanks between cells taken
    together.
    """
    start = "  ".join(begin)
    lines = (re.sub(" {2,}", "  ", line.strip()) for line in out.splitlines())
    return next(line for line in lines if line.startswith(f"{start}  ")).removeprefix(start).strip()


def test_the_matrix_says_size_significance_and_direction_in_words(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", asked, *AUDIT, "--model", EXACTLY_ASKED)
    assert code == 0
    # odds 3:1:1…: response order 3/5 - 1/5; odd/even 2/6 - 2/7; allow/forbid 1/4 - 3/4
    assert row(out, "response order", "bias") == "+40.0 points no test  +0.0 points"
    assert row(out, "odd/even", "bias") == "+4.8 points no test  +10.0 points"
    assert row(out, "odd/even", "key typo") == "+0.0 points no change  +0.0 points"
    assert row(out, "allow/forbid", "bias") == "-50.0 points no test  +0.0 points"
    published = run(capsys, "show", asked, *AUDIT, "--model", EXACTLY_ASKED, "--as-published")[1]
    assert "most human-like" in published
    assert "most human-like" not in out
    assert row(out, EXACTLY_ASKED, "exact").startswith("exact label probabilities  lettered")
    assert "Definition corrected: shares of valid answers" in out
    assert "p below 0.05, t-test over questions, two-sided; p is not adjusted" in out
    said = {
        one["said"]
        for one in rows(data(capsys, "show", asked, *AUDIT), "cells", model=EXACTLY_ASKED)
    }
    assert said == {
        "one question is too few for a test",
        "equal changes allow no test",
        "no change in any question",
    }


def test_models_stand_beside_one_another_and_what_is_missing_is_a_dash(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "show", asked, *AUDIT, "--model", "told,silent")[1]
    assert (
        row(out, "response order", "bias")
        == "+26.7 points [-49.2, +100.0] n.s.  undefined (a)  +0.0 points"
    )
    assert "(a) no question counts" in out
    assert row(out, "odd/even", "bias") == "–  undefined (a)  –", "nobody told of it"
    assert row(out, "told", "imported").endswith("0  3"), "three pairs of answered forms"
    assert "silent: 20 forms with fewer than 2 valid answers" in out


def test_a_definition_is_named_in_words_and_turns_signs_as_published(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "show", asked, *AUDIT, "--model", f"told,{EXACTLY_ASKED}", "--as-published")[
        1
    ]
    assert row(out, "response order", "bias").startswith("+30.0 points"), (
        "of all answers: 20, 10 and 60"
    )
    assert row(out, "allow/forbid", "bias").endswith("+50.0 points no test")
    assert "Definition paper: as the published tables" in out
    strict = run(
        capsys, "show", asked, *AUDIT, "--model", "told", "--alpha", "0.3", "--holm", "biases"
    )[1]
    assert (
        row(strict, "response order", "bias")
        == "+26.7 points [-49.2, +100.0] * human-like  +0.0 points"
    )
    assert "* p < 0.3" in strict
    assert "Holm's procedure adjusts p over a model's biases" in strict


def test_on_a_narrow_terminal_models_stand_in_several_grids(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.db"
    with new_store(path) as store:
        sets = [replace(TOLD, model=name) for name in MANY]
        sets += [
            told(name, *[({"a": 9, "b": n + 1}, {"a": 3, "b": 7}) for n in range(3)])
            for name in ("last",)
        ]
        store.instruments.add(with_pairs(Instrument("choices", "Choices", ()), pairs(), sets))
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, "show", path, *AUDIT)[1].splitlines()
    cells = [line for line in lines if line.startswith("response order")]
    assert len(cells) == 4
    assert " ".join(cells).count("+26.7") == len(MANY)
    assert all(len(line) <= 80 for line in lines)
    assert "** +0.0 points human-like" in " ".join(" ".join(lines).split()), (
        "chance stands beside the last model"
    )


def test_cells_have_the_test_the_entropy_and_what_was_dropped(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", asked, *AUDIT, "--table", "cells", "entropies", "--holm", "all")
    (cell,) = rows(found, "cells", model="told")
    assert (cell["bias"], cell["condition"], cell["n"], cell["df"], cell["said"]) == (
        *("response_order", "bias", 3, 2, "not significant"),
    )
    change = cell["change"]
    assert [change["value"], change["low"], change["high"]] == pytest.approx(
        [0.2667, -0.4922, 1.0], abs=1e-4
    )
    assert (change["n"], change["excluded"]) == (3, cell["left_out"]) == (3, 0)
    assert [cell["t"], cell["p"], cell["p_adjusted"]] == pytest.approx(
        [1.512, 0.27, 0.27], abs=1e-3
    )
    assert (cell["blank"], cell["not_offered"], cell["drawn_again"]) == (2, 1, 0)
    offered, csv_rule = rows(found, "entropies", model="told")
    assert (offered["rule"], csv_rule["rule"]) == ("offered", "csv")
    assert offered["original"] == pytest.approx(0.185, abs=1e-3), (
        "H(.7, .3) = .611 of ln 3 = 1.099, and twice 0"
    )
    exact = rows(found, "cells", model=EXACTLY_ASKED, bias="response_order")[0]
    assert (exact["change"]["value"], exact["t"], exact["p"]) == (pytest.approx(0.4), None, None)
    assert (exact["degenerate"], exact["r"]["undefined"]) == (
        "all values equal",
        "all values of one variable are equal",
    )
    out = run(capsys, "show", asked, *AUDIT, "--table", "cells", "--model", EXACTLY_ASKED)[1]
    told_of = row(out, EXACTLY_ASKED, "response order", "bias")
    assert told_of.startswith("3  +40.0 points  +0.0 points  +100.0 points  –  2  –  ")
    assert "equal changes allow no test" in told_of
    assert "Over all biases" not in out, "tables are shown as they are named"


def test_topics_and_draws_have_rows_of_their_own(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = (
        "--table",
        "topics",
        "draws",
        "draw_spread",
        "--model",
        EXACTLY_ASKED,
        "--where",
        "bias=odd_even",
    )
    found = data(capsys, "show", asked, *AUDIT, *view)
    assert names(found) == ["topics", "draws", "draw_spread"]
    topic = rows(found, "topics", condition="bias")[0]
    assert (topic["topic"], topic["n"], topic["change"]["value"]) == (
        "life",
        3,
        pytest.approx(1 / 3 - 2 / 7),
    )
    assert [
        (one["draw"], one["effect"], one["change"]["value"]) for one in rows(found, "draws")
    ] == [
        (1, 0, pytest.approx(0)),
        (2, 0, pytest.approx(0)),
    ]
    (spread,) = rows(found, "draw_spread")
    assert [spread[name] for name in ("draws", "significant", "agree", "with_fewer_draws")] == [
        2,
        0,
        True,
        0,
    ]
    assert [spread[name] for name in ("mean", "sd", "low", "high")] == pytest.approx([0, 0, 0, 0])


def test_questions_are_listed_the_largest_change_first(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = (
        "--table",
        "questions",
        "--where",
        "bias=response_order",
        "condition=bias",
        "--model",
        "told,silent",
    )
    found = data(capsys, "show", asked, *AUDIT, *view)
    of = rows(found, "questions", model="told")
    assert [(one["key"], one["topic"], round(one["change"], 6)) for one in of] == [
        ("q2", "transport", 0.6),
        ("q0", "transport", 0.2),
        ("q1", "transport", 0.0),
    ]
    assert (of[2]["valid_original"], of[2]["valid_changed"]) == (0.9, 0.8)
    assert {one["left_out"] for one in rows(found, "questions", model="silent")} == {
        "no usable answer to the original form"
    }


def test_a_question_shows_both_forms_with_counts(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = ("--table", *asking("told", "response_order", "bias", "q0"))
    out = run(capsys, "show", asked, *AUDIT, *of)[1]
    assert "q0 · transport · response order · told: answers to both forms" in out
    assert "A in q − A in q', by the letters of q" in out
    found = data(capsys, "show", asked, *AUDIT, *of)
    options = [
        (
            one["form"],
            one["letter"],
            one["letter_in_original"],
            one["count"],
            one["share"],
            one["option"],
        )
        for one in rows(found, "options")
    ]
    assert options[0] == ("original", "a", "a", 7, 0.7, "Trams")
    assert options[-1] == ("changed", "c", "a", 5, 0.5, "Trams"), (
        "the last option is the original's first"
    )
    assert {one["role"] for one in rows(found, "prompts")} == {"question"}, (
        "told was asked elsewhere"
    )
    other = data(
        capsys, "show", asked, *AUDIT, "--table", "forms", "told", "response_order", "bias", "q1"
    )
    original, changed = rows(other, "forms")
    assert original["others"] == ["z:1"]
    assert (changed["valid"], changed["drawn"], changed["invalid"]) == (8, 10, 2)


def test_a_draw_of_a_perturbation_is_shown_with_the_prompts_that_were_put(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ("first · samples", EXACTLY_ASKED)
    of = (
        "--table",
        *(word for name in runs for word in asking(name, "odd_even", "key_typo", "q0", "2")),
    )
    code, out, err = run(capsys, "show", asked, *AUDIT, *of)
    assert code == 0, err
    assert "q0 · life · odd/even, key typo, draw 2 of 2 · first · samples: prompts" in out
    assert "q0 · life · odd/even, key typo, draw 2 of 2 · first · exact: prompts" in out
    assert re.search(r"Question: How arree things 0\? *\n +A. Much better", out), (
        "a prompt keeps its lines"
    )
    found = data(capsys, "show", asked, *AUDIT, *of)
    subject = (EXACTLY_ASKED, "odd_even", "key_typo", "q0", "2")
    assert [one["probability"] for one in rows(found, "forms", *subject)] == pytest.approx(
        [0.75, 0.75]
    )
    assert [one["people"] for one in rows(found, "options", *subject)] == [0.2] * 5 + [None] * 5
    assert rows(found, "answers", *subject, "original")[0]["text"] == " A"[-1]


def test_valid_answers_and_likeness_to_people_have_tables(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ("valid_answers", "validity", "people", "people_questions")
    found = data(capsys, "show", asked, *AUDIT, "--table", *named)
    assert rows(found, "valid_answers", model="silent")[0]["mean"] == 0
    assert rows(found, "valid_answers", model="silent")[0]["without"] == 13
    assert rows(found, "valid_answers", model=EXACTLY_ASKED)[0]["mean"] == pytest.approx(0.75)
    assert [one["questions"] for one in rows(found, "validity", model="silent")] == [13] + [0] * 9
    # 1 - (2/7 - .2 + …): cumulative shares 3/7, 4/7, 5/7, 6/7 against .2, .4, .6, .8
    exact = rows(found, "people", model=EXACTLY_ASKED)[0]
    assert exact["questions"] == 3
    ends = [exact["likeness"][name] for name in ("value", "low", "high")]
    assert ends == pytest.approx([0.857, 0.327, 0.987], abs=1e-3), (
        "three questions alike say little of others"
    )
    assert rows(found, "people", model="told") == [], "no shares are known of what it was asked"
    assert len(rows(found, "people_questions", model=EXACTLY_ASKED, left_out="")) == 3


def test_two_ways_of_asking_are_compared_over_questions(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "show", asked, *AUDIT, "--compare", "first · samples", EXACTLY_ASKED)[1]
    assert "first · exact minus first · samples" in out
    assert "Samples against exact probabilities" in out
    found = data(capsys, "show", asked, *AUDIT, "--compare", "told", EXACTLY_ASKED)
    (order,) = rows(found, "compared", "told", EXACTLY_ASKED)
    assert (order["bias"], order["n"], order["turned"]) == ("response_order", 3, False)
    assert order["change"]["value"] == pytest.approx(0.4 - 0.8 / 3)
    assert rows(found, "sampling") == [], (
        "answers from elsewhere are no samples of these probabilities"
    )
    assert order["r"]["value"] is None, "all changes of one are the same"
    assert rows(found, "compared_means")[0]["change"] == pytest.approx(order["change"]["value"])


def test_json_has_every_figure_and_undefined_ones_as_null(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", asked, *AUDIT)
    assert found["options"]["definition"] == "corrected"
    assert "valid answers" in found["definition_in_words"]
    with Store.open(asked) as store:
        judged = judge_response_bias(store)
    assert found["notes"] == list(judged.notes)
    assert list(found["models"]) == list(judged.reports)
    for name, report in judged.reports.items():
        for cell, shown in zip(report.cells, rows(found, "cells", model=name), strict=True):
            assert (shown["bias"], shown["condition"]) == (cell.bias, cell.condition or "bias")
            assert shown["change"]["value"] == (
                None if cell.delta.n == 0 else pytest.approx(cell.delta.mean / 100)
            )
            assert (shown["said"], shown["draws"]) == (cell.result_text, len(cell.draws.draws))
    sampled = found["models"]["first · samples"]
    assert sampled["designs"] == [{"seed": 1, "samples": 20, "tries": 20}]
    assert sampled["run"]["sampling"]["max_new_tokens"] == 1
    assert rows(found, "valid_answers", model="first · samples")[0]["mean"] == pytest.approx(
        0.75, abs=0.08
    )
    assert found["models"]["told"]["run"] is None
    assert not [table for table in found["tables"] if table["name"] in ("scores", "likeness")], (
        "published alone"
    )


def test_json_of_a_question_has_every_answer_with_its_seed(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "first · samples"
    of = asking(name, "odd_even", "bias", "q1")
    found = data(
        capsys, "show", asked, *AUDIT, "--table", "questions", name, "odd_even", "bias", *of
    )
    options, (form,) = rows(found, "options", form="changed"), rows(found, "forms", form="changed")
    assert [option["letter_in_original"] for option in options] == ["a", "b", "d", "e"]
    answers = rows(found, "answers", form="changed")
    assert sum(answer["count"] for answer in answers) == form["drawn"]
    assert (
        sum(option["count"] for option in options)
        == form["valid"]
        == form["drawn"] - form["invalid"]
    )
    assert sum(answer["count"] for answer in answers if answer["offered"]) == form["valid"]
    assert all(int(answer["seed"]) >= 0 and answer["job"] == 1 for answer in answers)
    assert (
        "Question: How are things in district 1?"
        in rows(found, "prompts", form="changed")[0]["content"]
    )
    assert {line["key"] for line in rows(found, "questions")} == {"q0", "q1", "q2"}
    assert names(found) == ["questions", *FORMS], "tables as named"


@pytest.mark.e2e
def test_csv_files_have_a_row_a_figure(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "figures"
    code, out, err = run(capsys, "show", asked, *AUDIT, "--csv", folder)
    assert code == 0, err
    with Store.open(asked) as store:
        judged = judge_response_bias(store)
        contents = book(Changes(judged, lambda: nullcontext(store))).contents
    compared = {"compared", "compared_means", "sampling"}
    assert {path.stem for path in folder.iterdir()} == {
        entry.name for entry in contents if not entry.empty
    } - compared
    cells = read(folder / "cells.csv")
    assert f"cells.csv  {len(cells)} rows" in out
    order = next(line for line in cells if line["model"] == "told")
    assert (order["change"], order["change_n"], order["definition"]) == (
        "0.2666666667",
        "3",
        "corrected",
    )
    assert (order["blank"], order["not_offered"]) == ("2", "1")
    silent = next(line for line in cells if line["model"] == "silent")
    assert (silent["change"], silent["p"], silent["said"]) == ("", "", "no question counts")
    places = {
        (line["model"], line["bias"], line["condition"]) for line in read(folder / "questions.csv")
    }
    assert places == {(line["model"], line["bias"], line["condition"]) for line in cells}, (
        "every cell's questions"
    )
    assert run(capsys, "show", asked, *AUDIT, "--csv", folder)[0] == 2, (
        "nothing is written over unasked"
    )
    named = (
        "questions",
        EXACTLY_ASKED,
        "odd_even",
        "bias",
        "options",
        EXACTLY_ASKED,
        "allow_forbid",
        "bias",
        "q9",
    )
    views = ("--table", *named, "--compare", "first · samples", EXACTLY_ASKED)
    assert run(capsys, "show", asked, *AUDIT, "--csv", folder, "--force", *views)[0] == 0
    assert read(folder / "questions-first___exact-odd_even-bias.csv")
    options = read(folder / "options-first___exact-allow_forbid-bias-q9.csv")
    assert [float(line["probability"]) for line in options] == pytest.approx([0.5625, 0.1875] * 2)
    assert [line["count"] for line in options] == [""] * 4
    sampling = read(folder / "sampling-first___samples-first___exact.csv")
    assert len(sampling) == 4, "three biases, a typing error of two draws by its first"


def test_html_and_latex_hold_the_matrix(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "tex"
    code, out, err = run(
        capsys, "show", asked, *AUDIT, "--model", "told", "--html", page, "--latex", folder
    )
    assert code == 0, err
    assert {path.stem for path in folder.iterdir()} == {"subjects", "matrix"}
    assert "+26.7 points [-49.2, +100.0] n.s." in page.read_text(encoding="utf-8")
    assert "Definition corrected" in page.read_text(encoding="utf-8")
    assert "told, response_order: " in out, "notes stand beside the names of the files"


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--model", "nobody"),
            "nobody: no model of that name has answers. Available: told; first · samples",
        ),
        (("--instrument", "nothing"), "no instrument is named 'nothing'"),
        (
            ("--where", "bias=order"),
            "no row has bias=order. Available: allow_forbid, response_order, odd_even",
        ),
        (
            ("--where", "condition=letter_swap"),
            "no row has condition=letter_swap. Available: bias, key_typo",
        ),
        (("--where", "kind=x"), "no table here has the column 'kind'. Available: model, answers"),
        (("--where", "bias"), "found --where 'bias'; give COLUMN=VALUE"),
        (("--table", "cell"), "there is no table 'cell'. Available: matrix, cells"),
        (("--table", "matrix", "told"), "the table 'matrix' is not about 'told'"),
        (
            ("--table", "questions", "told", "order", "bias"),
            "there is no bias 'order' here. Available: allow_forbid",
        ),
        (
            ("--table", "questions", "told", "odd_even", "typos"),
            "there is no condition 'typos'. Available: bias",
        ),
        (("--table", "forms", "told", "response_order", "bias", "q77"), "was not asked 'q77'"),
        (("--table", "forms", EXACTLY_ASKED, "odd_even", "key_typo", "q0", "3"), "has no draw 3"),
        (("--table", "forms", "told"), "found --table forms told, which names no row"),
        (
            ("--table", "options", "told", "odd_even", "bias", "q0", "x"),
            "there is no draw 'x'; give its number",
        ),
        (
            ("--table", "answers", "told", "odd_even", "bias", "q0", "zz"),
            "there is no form 'zz'. Available: original, changed",
        ),
        (("--compare", "told", "told"), "--compare was given told twice"),
        (
            ("--compare", "told", "first"),
            "'first' was asked in 2 ways; name one: first · samples; first · exact",
        ),
        (("--alpha", "1.5"), "--alpha: found 1.5"),
        (
            ("--force",),
            "--force replaces files; give --csv, --parquet, --latex, --figures or --html",
        ),
        (
            ("--low", "0.4"),
            "--low is an option of reliability and consistency, not of response_bias",
        ),
        (
            ("--seed", "3"),
            "--seed is an option of reliability, consistency, bias_score, statement_labels, "
            "questionnaire and representation",
        ),
        (("--masses", "top10"), "--masses is an option of questionnaire, not of response_bias"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_printed(
    asked: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, "show", asked, *AUDIT, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_options_of_response_biases_are_refused_elsewhere(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for audit, options, said in (
        ("reliability", ("--holm", "all"), "--holm is an option of response_bias"),
    ):
        code, _, err = run(capsys, "show", asked, audit, *options)
        assert code == 2
        assert said in err


@pytest.mark.parametrize(
    "command",
    [
        ("show", "reliability"),
        ("show", "consistency"),
        ("pilot", "--rank", "--model", "first"),
        ("show", "bias_score"),
        ("show", "statement_labels"),
        ("show", "questionnaire"),
    ],
)
def test_commands_of_other_audits_name_the_one_that_has_answers(
    asked: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, command[0], asked, *command[1:])
    assert (code, out) == (2, "")
    assert f"workbench show {asked} response_bias" in err


def test_a_store_without_answers_says_how_to_get_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_store(tmp_path / "empty.db"):
        pass
    code, _, err = run(capsys, "show", tmp_path / "empty.db", *AUDIT)
    assert code == 2
    assert f"workbench run {tmp_path / 'empty.db'} --audit response_bias" in err


def test_names_are_read_as_people_write_them() -> None:
    kinds = [(Bias.ACQUIESCENCE, ""), (Bias.ACQUIESCENCE, "reword"), (Bias.ODD_EVEN, "")]
    assert [find_kind(text, kinds)[0] for text in ("odd/even", "Odd-Even", "odd even")] == [
        Bias.ODD_EVEN
    ] * 3
    assert (
        find_kind("acquiescence (reword)", kinds)
        == find_kind("acquiescence-reword", kinds)
        == kinds[1]
    )
    assert (find_condition("key typo"), find_condition("bias")) == (Perturbation.KEY_TYPO, None)


def test_only_rows_with_the_wanted_values_are_shown(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--where", "bias=odd_even", "condition=bias")
    found = data(capsys, "show", asked, *AUDIT, *where, "--table", "cells", "questions", "subjects")
    for name in ("cells", "questions"):
        assert {(one["bias"], one["condition"]) for one in rows(found, name)} == {
            ("odd_even", "bias")
        }
    assert rows(found, "subjects"), "a table without these columns keeps its rows"
    of = ("--table", "cells", "--where", "bias=odd/even", "model=told,first · exact")
    both = rows(data(capsys, "show", asked, *AUDIT, *of), "cells")
    assert {one["model"] for one in both} == {EXACTLY_ASKED}, (
        "told was not asked it; a bias is named as people see it"
    )


def test_names_from_data_stand_in_the_head_of_a_table_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table(["[/b]", "[red]x", "\x1b[31mred"], [("a", "b", "c")])
    assert capsys.readouterr().out.split() == ["[/b]", "[red]x", "␛[31mred", "a", "b", "c"]


def test_errors_of_typing_stand_under_their_own_bias_and_signs_as_published_beneath_the_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbids(key: str, n: int) -> AnsweredPair:
        return AnsweredPair(
            key, ArmAnswers({"a": 10 - n, "b": n}, 2, 2), ArmAnswers({"a": 9, "b": 1}, 2, 2)
        )

    path = tmp_path / "signs.db"
    answered = tuple(forbids(f"q{n}", n) for n in (1, 2, 3))
    typed = AnswerSet("typed", Bias.ALLOW_FORBID, Perturbation.KEY_TYPO, answered)
    moved = AnswerSet("moved", Bias.ALLOW_FORBID, None, answered)
    with new_store(path) as store:
        store.instruments.add(
            with_pairs(Instrument("choices", "Choices", ()), pairs(), (typed, moved, TOLD))
        )
    out = run(capsys, "show", path, *AUDIT, "--model", "typed,told")[1]
    assert row(out, "allow/forbid", "key typo")
    assert not re.search("^allow/forbid +bias", out, re.MULTILINE), "nobody was asked it"
    of = ("--model", "moved", "--as-published")
    (published,) = rows(data(capsys, "show", path, *AUDIT, *of), "scores")
    assert (published["score"], published["score_as_published"], published["biases"]) == (-1, 1, 1)
    text = run(capsys, "show", path, *AUDIT, *of)[1]
    assert row(text, "moved", "-1").startswith("+1  1"), "opposite to people, whatever the sign"
    assert "score as published" in text
    assert "score as published" not in run(capsys, "show", path, *AUDIT, "--model", "moved")[1]


def test_a_change_is_said_by_letters(
    asked: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    of = ("--table", "forms", EXACTLY_ASKED, "allow_forbid", "bias", "q9")
    out = run(capsys, "show", asked, *AUDIT, *of)[1]
    assert "Change -50.0 points: B in q − A in q' (q original, q' changed form)" in out


def test_three_ways_of_asking_stand_side_by_side_over_common_questions(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("first · samples", EXACTLY_ASKED, "told")
    found = data(capsys, "show", asked, *AUDIT, "--compare", *given)
    assert [one["run"] for one in rows(found, "compared_runs")] == list(given)
    pairs_shown = [one["subject"] for one in found["tables"] if one["name"] == "compared"]
    assert pairs_shown == [[given[0], given[1]], [given[0], given[2]], [given[1], given[2]]]
    items = rows(found, "changed_items", "moved")
    (order,) = [one for one in items if one["item"] == "response order"]
    assert not order["left_out"]
    assert {one["left_out"] for one in items if one["item"] != "response order"} == {
        "not asked of all"
    }
    for change in rows(found, "changes"):
        assert change["p"] is None
        assert "not a sample" in change["untested"]
    (first, *_) = rows(found, "compared", given[0], given[1])
    assert first["holm"] is None or first["holm"] >= first["p"]
