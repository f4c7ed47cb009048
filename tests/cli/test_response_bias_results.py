"""`workbench verdicts --audit response_bias`: the matrix, its views, JSON, CSV files, and what is refused."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import DESIGN, EXACT, ask, first_option, pairs
from workbench.cli.output import table
from workbench.cli.response_bias_names import find_condition, find_kind
from workbench.data import shipped_templates
from workbench.domain.choice_statements import with_pairs
from workbench.domain.choices import AnsweredPair, AnswerSet, ArmAnswers, Bias, Perturbation
from workbench.domain.instruments import Instrument
from workbench.inference.scripted import Persona, ScriptedModel
from workbench.inference.scripted_letters import LetterHabits
from workbench.pipeline.response_bias import response_bias

AUDIT = ("--audit", "response_bias")
EXACTLY_ASKED = "first · exact"
MANY = tuple(f"model-{n}" for n in range(9))


def told(model: str, *forms: tuple[dict[str, int], dict[str, int]]) -> AnswerSet:
    """Answers from elsewhere to the questions on response order, three options each."""
    answered = [
        AnsweredPair(f"q{n}", ArmAnswers(q, 3, 3), ArmAnswers(changed, 3, 3)) for n, (q, changed) in enumerate(forms)
    ]
    return AnswerSet(model, Bias.RESPONSE_ORDER, None, tuple(answered))


TOLD = told(
    "told", ({"a": 7, "b": 3}, {"a": 5, "b": 5}), ({"a": 9, "z": 1}, {"a": 8, "": 2}), ({"a": 10}, {"a": 4, "b": 6})
)
"deltas of valid shares 20, 0 and 60; of all ten answers 20, 10 and 60"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model asked by samples and exactly, one that gives no letter, and answers from elsewhere; only read."""
    path = tmp_path_factory.mktemp("choices") / "choices.db"
    silent = ScriptedModel(Persona(letters=LetterHabits(invalid=1.0)), name="silent")
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs(), (TOLD,)))
        ask(store, first_option(invalid=0.25))
        ask(store, first_option(invalid=0.25), EXACT)
        ask(store, silent, replace(DESIGN, model="silent", samples=2, tries=2))
    return path


def row(out: str, title: str) -> str:
    """Return the first line that begins with a title, without it."""
    return next(line for line in out.splitlines() if line.startswith(title)).removeprefix(title).strip()


def test_the_matrix_says_size_significance_and_direction_in_words(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "verdicts", asked, *AUDIT, "--model", EXACTLY_ASKED)
    assert code == 0
    # odds 3:1:1…: response order 3/5 - 1/5; odd/even 2/6 - 2/7; allow/forbid 1/4 - 3/4
    assert row(out, "response order") == "+40.0 equal changes are no test (n 3)"
    assert row(out, "odd/even") == "+4.8 equal changes are no test (n 3)"
    assert row(out, "  key typo") == "0.0 no change in any question (n 3)"
    assert row(out, "allow/forbid") == "-50.0 one question is no test (n 1)"
    assert re.findall("  most human-like +(\\w+)", out) == ["open"] * 3, "no bias has a test"
    assert row(out, "score ") == "– no bias has a test"
    assert "probabilities of the next token · template lettered" in out
    assert "Definition corrected: shares of valid answers" in out
    assert "p below 0.05, t-test over questions, two-sided; p is not adjusted" in out


def test_models_stand_beside_one_another_and_what_is_missing_is_a_dash(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--model", "told,silent")[1]
    assert row(out, "response order").split("  ")[0] == "+26.7 not significant (n 3)"
    assert row(out, "response order").endswith("no question takes part")
    assert row(out, "odd/even").split()[0] == "–", "nobody told of it"
    assert "told · answers imported · 3 pairs of answered forms" in out
    assert "- silent: 20 forms with fewer than 2 valid answers" in out


def test_a_definition_is_named_in_words_and_turns_signs_as_published(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--model", f"told,{EXACTLY_ASKED}", "--definition", "all_keys")[1]
    assert row(out, "response order").startswith("+30.0 not significant (n 3)"), "of all answers: 20, 10 and 60"
    assert row(out, "allow/forbid").endswith("+50.0 one question is no test (n 1)")
    assert "Definition all keys: as the published tables, without leaving out questions" in out
    strict = run(capsys, "verdicts", asked, *AUDIT, "--model", "told", "--alpha", "0.3", "--holm", "biases")[1]
    assert row(strict, "response order") == "+26.7 * significant, human-like (n 3)"
    assert "* p < 0.3" in strict
    assert "p is adjusted by Holm's procedure over a model's biases" in strict


def test_on_a_narrow_terminal_models_stand_in_several_tables_with_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.db"
    with new_store(path) as store:
        sets = [replace(TOLD, model=name) for name in MANY]
        sets += [told(name, *[({"a": 9, "b": n + 1}, {"a": 3, "b": 7}) for n in range(3)]) for name in ("last",)]
        store.instruments.add(with_pairs(Instrument("choices", "Choices", ()), pairs(), sets))
    piped = run(capsys, "verdicts", path, *AUDIT)[1]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    narrow = run(capsys, "verdicts", path, *AUDIT)[1]
    for out, room, parts in ((piped, 200, 1), (narrow, 80, 3)):
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in out.splitlines()]
        rows = [line for line in lines if line.startswith("response order")]
        assert len(rows) == parts
        assert all(len(line) <= room for line in rows)
        assert " ".join(rows).count("+26.7") == len(MANY)
        assert re.search(r"\+\d+\.\d \*+ \+$", rows[-1].rstrip()), "significant and human-like, as a mark"
        assert "+ human-like, - opposite" in out


def test_cells_have_the_test_the_entropy_and_what_was_dropped(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--cells", "--model", "told", "--holm", "all")[1]
    first, second = (line.split() for line in out.splitlines() if line.startswith("response order"))
    assert first[2:] == [
        *("3", "+26.67", "[-49.22,", "+102.56]", "+1.51", "(2)"),
        *("0.27", "0.27"),
        "not",
        "significant",
        "0",
    ]
    assert second[2] == "0.185", "H(.7, .3) = .611 of ln 3 = 1.099, and twice 0"
    assert second[-3:] == ["2", "1", "0"], "two blanks, a letter that was not offered, nothing drawn again"
    exact = run(capsys, "verdicts", asked, *AUDIT, "--cells", "--model", EXACTLY_ASKED)[1]
    assert row(exact, "response order").split()[:4] == ["3", "+40.00", "–", "–"], "no t and no p"
    assert "response order: all values equal, so there is no test" in exact
    assert "score" not in exact, "views are shown as they are named"


def test_topics_and_draws_have_rows_of_their_own(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    view = ("--topics", "--draws", "--model", EXACTLY_ASKED, "--bias", "odd_even")
    out = run(capsys, "verdicts", asked, *AUDIT, *view)[1]
    assert row(out, "odd/even ").split()[:3] == ["life", "3", "+4.8"]
    draws = [line.split() for line in out.splitlines() if line.startswith("odd/even, key typo  ")]
    assert [line[3] for line in draws] == ["life", "1", "2"], "a topic, then two draws"
    assert "odd/even, key typo: mean 0.0, sd 0.0, from 0.0 to 0.0; 0 of 2 significant, all say the same" in out


def test_questions_are_listed_the_largest_change_first(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--questions", "response-order", "--model", "told,silent")[1]
    lines = [line.split() for line in out.splitlines() if re.match("q[0-9] ", line)]
    assert [line[:3] for line in lines] == [
        ["q2", "transport", "+60.0"],
        ["q0", "transport", "+20.0"],
        ["q1", "transport", "0.0"],
    ]
    assert lines[2][4:8] == ["90.0", "%", "80.0", "%"]
    assert "3 questions left out, no usable answer to the original form: q0, q1, q2" in out


def test_a_question_shows_both_forms_with_counts_and_bars(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--question", "q0", "--bias", "response_order", "--model", "told")[1]
    original, changed = out.split("original: ")[1].split("changed form: ")
    assert original.startswith("10 valid of 10 answers")
    assert re.search(rf"^a  7 +70.0 %  {'█' * 21}{'·' * 9}  Trams", original, re.MULTILINE)
    assert re.search(r"^c  a +5 +50.0 %", changed, re.MULTILINE), "the last option is the original's first"
    assert "Question of the changed form, as the instrument has it (told was asked elsewhere):" in out
    other = run(capsys, "verdicts", asked, *AUDIT, "--question", "response_order.q1", "--model", "told")[1]
    assert "letters that were not offered: z 1" in other
    assert "8 valid of 10 answers, 2 without an offered letter" in other


def test_a_draw_of_a_perturbation_is_shown_with_the_prompts_that_were_put(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = ("--question", "q0", "--bias", "odd_even", "--condition", "key_typo", "--draw", "2", "--model", "first")
    code, out, err = run(capsys, "verdicts", asked, *AUDIT, *of)
    assert code == 0, err
    assert "q0 · life · odd/even, key typo, draw 2 of 2 · first · samples" in out
    assert "q0 · life · odd/even, key typo, draw 2 of 2 · first · exact" in out
    assert "exact, the offered letters have 75.0 % of the probability" in out
    assert "Question: How arree things 0?\nA. Much better" in out
    assert "People's answers to the original: 20.0 %, 20.0 %" in out


def test_valid_answers_and_likeness_to_people_are_views(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--validity", "--people")[1]
    assert "silent: 0.0 % of the answers to a question are offered letters" in out
    assert "13 questions without any valid answer" in out
    assert "first · exact: 75.0 %" in out
    # 1 - (2/7 - .2 + …): cumulative shares 3/7, 4/7, 5/7, 6/7 against .2, .4, .6, .8
    assert row(out, "first · exact    ").split() == ["3", "0.857", "[0.857,", "0.857]"]
    assert "told: " not in out.split("Likeness")[1], "no shares are known of what it was asked"
    assert "Definition" not in out, "neither rests on one"


def test_two_ways_of_asking_are_compared_over_questions(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--compare", "first · samples", EXACTLY_ASKED)[1]
    assert "first · exact minus first · samples, in percentage points" in out
    assert "Samples against exact probabilities" in out
    found = data(capsys, "verdicts", asked, *AUDIT, "--compare", "told", EXACTLY_ASKED)["compare"]
    (order,) = found["biases"]
    assert (order["bias"], order["change"]["n"]) == ("response_order", 3)
    assert order["change"]["mean"] == pytest.approx(40 - 80 / 3)
    assert found["sampling"] == [], "answers from elsewhere are no samples of these probabilities"
    assert order["questions"]["r"] is None, "all changes of one are the same"


def test_json_has_every_figure_and_undefined_ones_as_null(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "verdicts", asked, *AUDIT)
    assert found["options"]["definition"] == "corrected"
    assert "valid answers" in found["options"]["definition_in_words"]
    with Store.open(asked) as store:
        judged = response_bias(store)
    assert found["notes"] == list(judged.notes)
    assert list(found["models"]) == list(judged.reports)
    for name, report in judged.reports.items():
        for cell, shown in zip(report.cells, found["models"][name]["cells"], strict=True):
            assert (shown["bias"], shown["condition"]) == (cell.bias, cell.condition or "bias")
            mean = shown["delta"]["mean"]
            assert mean == (None if cell.delta.n == 0 else pytest.approx(cell.delta.mean))
            assert (shown["said"], len(shown["draws"]["draws"])) == (cell.said, len(cell.draws.draws))
    sampled = found["models"]["first · samples"]
    assert sampled["designs"] == [{"seed": 1, "samples": 20, "tries": 20}]
    assert sampled["run"]["sampling"]["max_new_tokens"] == 1
    assert sampled["validity"]["mean"] == pytest.approx(0.75, abs=0.08)
    assert (found["models"]["told"]["run"], found["models"]["told"]["people"]) == (None, None)


def test_json_of_a_question_has_every_answer_with_its_seed(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = ("--question", "q1", "--bias", "odd_even", "--questions", "odd_even", "--model", "first · samples")
    found = data(capsys, "verdicts", asked, *AUDIT, *of)
    (shown,) = found["question"].values()
    assert found["notes"] == [], "what is said of other questions is not said here"
    arm = shown["changed"]
    assert [option["original"] for option in arm["options"]] == ["a", "b", "d", "e"]
    assert sum(answer["count"] for answer in arm["answers"]) == arm["drawn"]
    assert sum(option["count"] for option in arm["options"]) == arm["valid"] == arm["drawn"] - arm["invalid"]
    assert all(answer["seed"] >= 0 and answer["job"] == 1 for answer in arm["answers"])
    assert "Question: How are things in district 1?" in arm["prompt"][0]["content"]
    (rows,) = found["questions"]["models"].values()
    assert {line["key"] for line in rows} == {"q0", "q1", "q2"}
    assert set(found["models"]["first · samples"]) & {"cells", "validity"} == set(), "views as they are named"


def test_csv_files_have_a_row_a_figure(asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "figures"
    code, out, err = run(capsys, "verdicts", asked, *AUDIT, "--csv", folder)
    assert code == 0, err
    names = {"cells", "scores", "likeness", "topics", "draws", "validity", "people", "questions"}
    assert {path.stem for path in folder.iterdir()} == names
    rows = read(folder / "cells.csv")
    assert f"cells.csv  {len(rows)} rows" in out
    order = next(line for line in rows if line["model"] == "told")
    assert float(order["mean"]) == pytest.approx(80 / 3)
    assert (order["mean"], order["unit"]) == ("26.66666667", "percentage points")
    assert (order["blank"], order["not_offered"], order["definition"]) == ("2", "1", "corrected")
    silent = next(line for line in rows if line["model"] == "silent")
    assert (silent["mean"], silent["p"], silent["said"]) == ("", "", "no question takes part")
    places = {(line["model"], line["bias"], line["condition"]) for line in read(folder / "questions.csv")}
    assert places == {(line["model"], line["bias"], line["condition"]) for line in rows}, "every cell's questions"
    assert run(capsys, "verdicts", asked, *AUDIT, "--csv", folder)[0] == 2, "nothing is written over unasked"
    for bias in ("odd_even", "response_order"):
        code, out, err = run(capsys, "verdicts", asked, *AUDIT, "--csv", folder, "--questions", bias)
        assert (code, f"questions-{bias}.csv" in out) == (0, True), err
    out = run(capsys, "verdicts", asked, *AUDIT, "--csv", folder, "--people", "--model", "told")[1]
    assert "people.csv was not written: there is no such figure" in out
    views = ("--questions", "odd_even", "--question", "q9", "--compare", "first · samples", EXACTLY_ASKED)
    assert run(capsys, "verdicts", asked, *AUDIT, "--csv", folder, "--force", *views)[0] == 0
    answers = [line for line in read(folder / "answers-allow_forbid-q9.csv") if line["model"] == EXACTLY_ASKED]
    assert [float(line["probability"]) for line in answers] == pytest.approx([0.5625, 0.1875] * 2)
    assert [line["count"] for line in answers] == [""] * 4
    assert len(read(folder / "sampling.csv")) == 4, "three biases, a typing error of two draws by its first"


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "nobody"), "nobody: no such model has answers; there is: told; first · samples"),
        (("--instrument", "nothing"), "no instrument is named 'nothing'"),
        (("--bias", "order"), "there is no bias 'order' here; there is: allow_forbid, response_order, odd_even"),
        (("--condition", "typos"), "there is no condition 'typos'; there is: bias, key_typo"),
        (("--condition", "letter_swap"), "nothing was asked of these biases under this condition; there is: allow/f"),
        (("--questions", "odd_even", "--condition", "letter_swap"), "nothing was asked of odd/even, letter swap"),
        (("--questions", "odd_even", "--condition", "bias,key_typo"), "questions are those of one condition"),
        (("--question", "q77"), "no question 'q77' was asked; there is: q9, q0"),
        (("--question", "q0"), "q0 was asked for several biases: response_order, odd_even; name one with --bias"),
        (("--question", "q0", "--bias", "odd_even", "--condition", "key_typo", "--draw", "3"), "has no draw 3"),
        (("--draw", "2"), "--draw is for a single question"),
        (("--compare", "told", "told"), "--compare was given told twice"),
        (("--compare", "told", "first"), "'first' was asked in 2 ways; name one: first · samples; first · exact"),
        (("--alpha", "1.5"), "found a level of 1.5"),
        (("--draws", "500"), "found --draws 500; response biases have no bootstrap"),
        (("--csv", "x", "--json"), "--csv writes files and --json prints"),
        (("--force",), "--force replaces files of --csv FOLDER"),
        (("--bias", ","), "found nothing after --bias"),
        (("--rule", "coded", "--low", "0.4"), "--rule, --low are for verdicts of the audit reliability"),
        (("--seed", "3"), "--seed is for verdicts of the audits reliability and questionnaire"),
        (("--show", "targets"), "--show is for verdicts of the audit questionnaire"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_printed(
    asked: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, "verdicts", asked, *AUDIT, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_options_of_response_biases_are_refused_elsewhere(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for audit, options, said in (
        ("reliability", ("--definition", "paper"), "--definition is for verdicts of the audit response_bias"),
        ("questionnaire", ("--cells",), "--cells is for verdicts of the audit response_bias"),
        ("reliability", ("--draws",), "--draws is for verdicts of the audits questionnaire and response_bias"),
        ("questionnaire", ("--draws",), "found 0 draws; give 100 or more"),
    ):
        code, _, err = run(capsys, "verdicts", asked, "--audit", audit, *options)
        assert code == 2
        assert said in err


@pytest.mark.parametrize(
    "command",
    [
        ("verdicts",),
        ("agreement",),
        ("agreement", "--items", "--model", "first"),
        ("consistency",),
        ("pilot", "--rank", "--model", "first"),
        ("scores", "--tokens"),
        ("bias",),
        ("sides",),
        ("verdicts", "--audit", "questionnaire"),
    ],
)
def test_commands_of_other_audits_name_the_one_that_has_answers(
    asked: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, command[0], asked, *command[1:])
    assert (code, out) == (2, "")
    assert "workbench verdicts STORE --audit response_bias" in err


def test_a_store_without_answers_says_how_to_get_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with new_store(tmp_path / "empty.db"):
        pass
    code, _, err = run(capsys, "verdicts", tmp_path / "empty.db", *AUDIT)
    assert code == 2
    assert "workbench run STORE --audit response_bias" in err


def test_names_are_read_as_people_write_them() -> None:
    kinds = [(Bias.ACQUIESCENCE, ""), (Bias.ACQUIESCENCE, "reword"), (Bias.ODD_EVEN, "")]
    assert [find_kind(text, kinds)[0] for text in ("odd/even", "Odd-Even", "odd even")] == [Bias.ODD_EVEN] * 3
    assert find_kind("acquiescence (reword)", kinds) == find_kind("acquiescence-reword", kinds) == kinds[1]
    assert (find_condition("key typo"), find_condition("bias")) == (Perturbation.KEY_TYPO, None)


def test_the_json_is_one_document(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "verdicts", asked, *AUDIT, "--json", "--bias", "odd_even", "--condition", "bias", "--cells")[1]
    shown = json.loads(out)["shown"]
    assert shown == {"views": ["cells"], "biases": ["odd_even"], "conditions": ["bias"]}


def test_names_from_data_stand_in_the_head_of_a_table_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    table(["[/b]", "[red]x", "\x1b[31mred"], [("a", "b", "c")])
    assert capsys.readouterr().out.split() == ["[/b]", "[red]x", "␛[31mred", "a", "b", "c"]


def test_errors_of_typing_stand_under_their_own_bias_and_signs_as_published_beneath_the_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbids(key: str, n: int) -> AnsweredPair:
        return AnsweredPair(key, ArmAnswers({"a": 10 - n, "b": n}, 2, 2), ArmAnswers({"a": 9, "b": 1}, 2, 2))

    path = tmp_path / "signs.db"
    answered = tuple(forbids(f"q{n}", n) for n in (1, 2, 3))
    typed = AnswerSet("typed", Bias.ALLOW_FORBID, Perturbation.KEY_TYPO, answered)
    moved = AnswerSet("moved", Bias.ALLOW_FORBID, None, answered)
    with new_store(path) as store:
        store.instruments.add(with_pairs(Instrument("choices", "Choices", ()), pairs(), (typed, moved, TOLD)))
    out = run(capsys, "verdicts", path, *AUDIT, "--model", "typed,told")[1].splitlines()
    at = next(place for place, line in enumerate(out) if line.startswith("  key typo"))
    assert re.match(r"allow/forbid +– not asked", out[at - 1])
    published = run(capsys, "verdicts", path, *AUDIT, "--model", "moved", "--definition", "all keys")[1]
    assert row(published, "score ") == "-1 of 1", "opposite to people, whatever the sign"
    assert row(published, "score as published (sign)") == "+1 of 1"
    assert "score as published" not in run(capsys, "verdicts", path, *AUDIT, "--model", "moved")[1]


def test_what_rests_on_more_than_is_shown_is_not_shown(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = run(capsys, "verdicts", asked, *AUDIT)[1]
    assert "- told, response_order: " in whole
    part = run(capsys, "verdicts", asked, *AUDIT, "--bias", "odd_even", "--condition", "bias")[1]
    for absent in ("score", "most human-like", "Score", "Most human-like", "- told, response_order: "):
        assert absent not in part
    assert "most human-like" in run(capsys, "verdicts", asked, *AUDIT, "--bias", "odd_even")[1]


def test_a_question_is_named_by_ref_or_key_and_its_change_by_letters(
    asked: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("q9", "allow_forbid.q9"):
        out = run(capsys, "verdicts", asked, *AUDIT, "--question", name, "--model", EXACTLY_ASKED)[1]
        assert "change -50.0 percentage points: B in q − A in q' (q original, q' changed form)" in out
    doubled = replace(TOLD, pairs=tuple(replace(one, key=f"response_order.{one.key}") for one in TOLD.pairs))
    with new_store(tmp_path / "doubled.db") as store:
        store.instruments.add(Instrument("choices", "Choices", (), answer_sets=(doubled,)))
    for name in ("response_order.q1", "response_order.response_order.q1"):
        code, out, err = run(capsys, "verdicts", tmp_path / "doubled.db", *AUDIT, "--question", name)
        assert code == 0, err
        assert "response_order.q1 · response order · told" in out
