"""The consistency screen shows leaning and stances as the analysis has them, and leads down to a
model's answers.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui import books
from tests.tui.audit_runs import NO, YES, Answers, audited
from tests.tui.books import SIZES, at, behind, by_parts, press, table
from tests.tui.conftest import HOSTILE, flowing, judged_by, made, screen_text, shown, status, until
from workbench import registry
from workbench.audits.consistency.judged import Consistency, judge_consistency
from workbench.audits.consistency.options import OFFERED
from workbench.audits.consistency.stances import MEASURES
from workbench.audits.reliability.options import TESTS
from workbench.domain.instruments import (
    Instrument,
    IssueDefinition,
    IssueLabel,
    Party,
    PartyAnswer,
    SurveyAnswer,
)
from workbench.domain.prompts import Probe
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.figures.shown import shown as shown_value
from workbench.figures.table import Column, Kind
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import row_key, row_parts
from workbench.tui.kit.dialogs import StoreGoneDialog, TextScreen
from workbench.tui.results import result_screen
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.options_dialog import ChoicesScreen
from workbench.tui.results.result_screen import screen_class
from workbench.tui.results.wordings import WordingsScreen

BiasScreen, ConsistencyScreen = (
    screen_class(registry.audit(name)) for name in ("bias_score", "consistency")
)

REFS = tuple(f"s-{n}" for n in range(1, 9))
LAW, SOCIETY = "law_and_order", "liberal_society"


def leans(*, agrees: bool) -> Callable[[Probe], Answers]:
    """Return a model that agrees, or disagrees, with every original, and passes every test."""

    def answer(probe: Probe) -> Answers:
        turned = probe.variant in ("negation", "opposite")
        return ((YES if agrees != turned else NO, 30),)

    return answer


def base() -> Instrument:
    """Eight statements: seven of law and order, of which two with the label -1, and one of liberal
    society.

    Who agrees with all of them supports law and order by (5 - 2) / 7, by `tacl` 5 / 5 - 0 / 2, by
    `v1` 5 / 7.
    """
    labels = [IssueLabel(ref, LAW, "gold", 1 if n < 5 else -1) for n, ref in enumerate(REFS[:7])]
    answers = [
        PartyAnswer("vd", "Larks", ref, "yes", 1 if n < 4 else -1) for n, ref in enumerate(REFS)
    ]
    answers += [PartyAnswer("vd", "Terns", ref, "yes", 1) for ref in REFS]
    answers += [
        PartyAnswer("vd", "Gulls", ref, "no", -1 if n < 6 else 0) for n, ref in enumerate(REFS)
    ]
    return replace(
        instrument(*REFS),
        issue_labels=(*labels, IssueLabel(REFS[7], SOCIETY, "gold", 1)),
        definitions=(IssueDefinition(LAW, "", "More police."),),
        parties=(
            Party("vd", "Larks", 2.0),
            Party("vd", "Terns", 5.0),
            Party("vd", "Gulls", 8.0),
            Party("vd", "Owls"),
        ),
        party_answers=tuple(answers),
        survey=tuple(SurveyAnswer("ana", ref, ORIGINAL, ref != "s-1") for ref in REFS),
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one model agrees and one disagrees with everything; tests only read it."""
    path = tmp_path_factory.mktemp("consistency") / "audit.db"
    audited(path, leans(agrees=True), "yes-sayer", base())
    return audited(path, leans(agrees=False), "no-sayer", base())


@pytest.fixture(scope="module")
def result(filled: Path) -> Consistency:
    with Store.open(filled) as store:
        return judge_consistency(store).result


CONTENTS = (
    "issues",
    "leaning",
    "party_stances",
    "people",
    "respondents",
    "issues_by_template",
    "leaning_by_template",
    "templates",
    "answer_types",
    "weaker_tests",
    "answer_scales",
    "model_kappas",
    "model_kappas_as_people",
)


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await books.begin(app, pilot, ConsistencyScreen)


def painted_estimate(value: Estimate) -> str:
    """Return a stance as tables show it."""
    column: Column[Any] = Column("stance", "stance", lambda row: row, Kind.SCORE)
    return shown_value(value, column)


def to(table: str) -> list[str]:
    """Return the keys that lead from the issues to a table."""
    return ["tab"] * CONTENTS.index(table)


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_of_names_comes_apart_again_whatever_they_contain() -> None:
    names = ("a\nb", "c", "", '"]', "\x1b[31m", "right \u202e to left")
    assert row_parts(row_key(*names)) == names
    assert row_key("a\nb", "c") != row_key("a", "b\nc")


def bare(cell: str) -> str:
    """Return a cell without the letter of the note that says why there is no interval."""
    return re.sub(r" \([a-z]\)$", "", cell)


# ── policy issues ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
@SIZES
async def test_every_formula_is_reached_with_its_interval_and_its_plain_sentence(
    filled: Path, result: Consistency, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="consistency")
    values = {"signed": "+0.43 [", "tacl": "+1.00"}
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        for formula in OFFERED:
            row = by_parts(app)["yes-sayer", LAW]
            stance = result.issue("yes-sayer", LAW, formula)
            assert bare(row["stance"]) == painted_estimate(stance.value)
            assert row["stance"].startswith(values[formula])
            assert row["reliable"] == "7"
            assert ("○" if stance.value.few else "●") in row["picture of stance"]
            # The note why there is no interval takes the place: ? has the sentence.
            if size[0] < 100:
                await press(app, pilot, "f")
                continue
            assert MEASURES[formula] in flowing(app)
            for other in set(OFFERED) - {formula}:
                assert painted_estimate(result.issue("yes-sayer", LAW, other).value) in flowing(app)
            await press(app, pilot, "f")
        assert "signed support" in judged_by(app)


@pytest.mark.e2e
async def test_issues_with_fewer_than_six_reliable_statements_are_marked(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert by_parts(app)["yes-sayer", SOCIETY]["few"] == "•"
        assert by_parts(app)["yes-sayer", LAW]["few"] == ""
        assert "• fewer than 6 reliable statements" in flowing(app)
        assert "defined: More police." in shown(app, "#details")
        await press(app, pilot, "down")
        assert at(app) == ("yes-sayer", SOCIETY)
        assert "defined" not in shown(app, "#details")


@pytest.mark.e2e
async def test_the_arrows_go_to_the_next_model_and_to_the_baselines(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        seen = {}
        for _ in range(4):
            name = re.split("  |… ", shown(app, "#tabs").removesuffix(" ← →").rstrip())[-1].strip()
            row = by_parts(app)[name, LAW]
            seen[name] = row["stance"][:5]
            assert row["picture of stance"].count("●") == 1
            await press(app, pilot, "right")
        assert seen == {
            "yes-sayer": "+0.43",
            "no-sayer": "-0.43",
            "always agree": "+0.43",
            "always disagree": "-0.43",
        }
        await press(app, pilot, "left")
        assert "always disagree" in shown(app, "#tabs")


@pytest.mark.e2e
async def test_what_is_undefined_says_why(tmp_path: Path) -> None:
    path = audited(tmp_path / "audit.db", lambda _: ((YES, 30),), "parrot", base())
    app = WorkbenchApp(path, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert by_parts(app)["parrot", LAW]["stance"] == "undefined (a)"
        assert "signed undefined: no reliable stance on a statement of this issue" in shown(
            app, "#details"
        )
        await press(app, pilot, "f")
        assert by_parts(app)["parrot", LAW]["stance"].startswith("+0.00")
        assert "0 by the formula's own rule under 2 templates" in shown(app, "#details")


# ── leaning ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
@SIZES
async def test_leaning_has_three_views_beside_both_baselines(
    filled: Path, size: tuple[int, int]
) -> None:
    """Larks (left) agree with four of eight, Terns (center) with all, Gulls (right) disagree with
    six.
    """
    app = WorkbenchApp(filled, start="consistency")
    wanted = {
        "all": {"yes-sayer": [50, 100, 0], "no-sayer": [50, 0, 75], "always agree": [50, 100, 0]},
        "agree": {"yes-sayer": [50, 100, 0], "no-sayer": [0, 0, 0], "always disagree": [0, 0, 0]},
        "disagree": {
            "yes-sayer": [0, 0, 0],
            "no-sayer": [50, 0, 75],
            "always disagree": [50, 0, 75],
        },
    }
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("leaning"))
        for match, shares in wanted.items():
            assert f"matches: {match}" in screen_text(app)
            found = by_parts(app)
            for name, numbers in shares.items():
                of = [
                    found[name, family]["share"].split(" %")[0]
                    for family in ("left", "center", "right")
                ]
                assert of == [f"{number:.1f}" for number in numbers], (match, name)
            await press(app, pilot, "w")
        assert "[" in by_parts(app)["yes-sayer", "left"]["share"]
        if size[0] == 140:
            row = by_parts(app)["no-sayer", "left"]
            assert (row["agree"], row["disagree"]) == ("0.0 %", "50.0 %")
        assert "parties left out: 1 without a left-right position" in flowing(app)


# ── parties, people, two models ───────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_parties_and_people_are_respondents(filled: Path, result: Consistency) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("party_stances"))
        for formula in OFFERED:
            found = by_parts(app)
            for party in result.party_stances(formula):
                cell, value = found["vd", party.party.name][LAW], party.issues[0].value
                assert bare(cell) == (painted_estimate(value) if value.defined else "undefined"), (
                    party
                )
            await press(app, pilot, "f")
        await press(app, pilot, "enter")
        assert behind(app) == "given"
        assert by_parts(app)["s-1",]["answer"] == "agree"
        assert by_parts(app)["s-1",]["supports"] == "+ law and order"
        assert by_parts(app)["s-6",]["supports"] == "+ law and order"
        await until(pilot, lambda: "Enter" not in screen_text(app).splitlines()[-1])
        await press(app, pilot, "escape", "tab")
        assert by_parts(app)["ana",][LAW].startswith("+0.14")
        await press(app, pilot, "enter")
        assert by_parts(app)["s-1",]["answer"] == "disagree"
        assert shown(app, "#about").startswith("Answers of ana")


@pytest.mark.e2e
async def test_two_models_side_by_side_have_a_difference_with_its_interval(
    filled: Path, result: Consistency
) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "B", "space", "down", "space", "enter")
        while app.screen._look.view != "compared_issues":  # type: ignore[attr-defined]
            await press(app, pilot, "tab")
        found = by_parts(app)
        law = result.compare_issues("no-sayer", "yes-sayer")[0]
        assert bare(found[LAW,]["difference"]) == painted_estimate(law.difference)
        assert found[LAW,]["difference"].startswith("-0.86")
        assert "yes-sayer − no-sayer" in shown(app, "#tabs")
        assert MEASURES["signed"] in flowing(app)
        await press(app, pilot, "enter")
        assert behind(app) == "issue_statements"
        assert by_parts(app)["s-1",]["stances"] == "− −"
        await press(app, pilot, "right")
        assert shown(app, "#about").startswith("no-sayer: statements on liberal society")
        await press(app, pilot, "escape", "left_square_bracket")
        assert by_parts(app)["right",]["difference"].startswith("+75.0 points [")
        await press(app, pilot, "end", "enter")
        assert behind(app) == "party_matches"


# ── templates, weaker tests, answer scales ────────────────────────────────────────────────────────


def hardly(probe: Probe) -> Answers:
    """Agree with every original, under personal-2 often unreadably, and contradict oneself on
    s-1.
    """
    if probe.template == "personal-2":
        return (("It depends.", 9), *((text, n - 9) for text, n in leans(agrees=True)(probe)))
    if probe.statement == "s-1" and probe.variant == "negation":
        return ((YES, 30),)
    return leans(agrees=True)(probe)


@pytest.mark.e2e
async def test_templates_are_ranked_and_lead_to_what_is_hard_to_read(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db", hardly, "smol", base()), start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("templates"))
        found = by_parts(app)
        assert list(found) == [("personal-1",), ("personal-2",)]
        first, second = found.values()
        assert (first["rank"], first["readable"][:7], first["chosen"]) == ("1", "100.0 %", "✓")
        assert (second["rank"], second["readable"][:6]) == ("2", "70.0 %")
        await press(app, pilot, "down", "enter")
        assert behind(app) == "template_statements"
        assert by_parts(app)["s-1",]["readable"] == "70.0 %"
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WordingsScreen)
        assert "s-1 under personal-2" in shown(app, "#about")
        await press(app, pilot, "escape", "escape")
        assert at(app) == ("personal-2",)
        await press(app, pilot, "tab")
        assert by_parts(app)["mean over templates",]["agree"] == "100.0 % (sd 0.0)"
        assert by_parts(app)["mean over templates",]["disagree"] == "0.0 % (sd 0.0)"


@pytest.mark.e2e
async def test_weaker_tests_stand_side_by_side_with_their_deviation(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db", hardly, "smol", base()), start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("weaker_tests"))
        found = by_parts(app)
        assert [name for (name,) in found] == [
            "no tests",
            "sampling",
            "sampling, label order and paraphrase",
            "all",
        ]
        assert found["no tests",]["passed"] == "100.0 % (sd 0.0)"
        assert found["all",]["passed"] == "93.8 % (sd 6.2)"
        assert found["all",]["spread"].startswith("0.02")
        assert (
            "law and order +0.43 (sd 0.00)" in flowing(app)
            or found["no tests",][LAW] == "+0.43 (sd 0.00)"
        )
        before = flowing(app)
        await press(app, pilot, "f")
        assert flowing(app) != before


def scaled() -> Instrument:
    """Parties that are not as far apart when their answers are collapsed to agree and disagree.

    Distances of A-B, A-C, B-C: 1, .75, 1 on all answers, ranks 2.5, 1, 2.5; 0, .75, .75 collapsed,
    ranks 1, 2.5, 2.5. Spearman's correlation of three pairs is -0.75 / 1.5.
    """
    answers = {
        "A": ("strongly yes",) * 8,
        "B": ("rather yes",) * 8,
        "C": ("strongly yes",) * 2 + ("no",) * 6,
    }
    given = tuple(
        PartyAnswer("vd", party, ref, word, -1 if word == "no" else 1)
        for party, words in answers.items()
        for ref, word in zip(REFS, words, strict=True)
    )
    parties = (Party("vd", "A", 1.0), Party("vd", "B", 5.0), Party("vd", "C"))
    return replace(base(), parties=parties, party_answers=given)


@pytest.mark.e2e
async def test_answer_scales_are_compared_without_any_model(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", scaled()), start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("answer_scales"))
        row = by_parts(app)["vd",]
        assert (row["statements"], row["answers"]) == ("8", "3")
        assert row["placed"] == "undefined (a)"
        assert "placed parties undefined: 1 pair of parties; three are needed" in shown(
            app, "#details"
        )
        assert (row["every"], row["every_pairs"]) == ("-0.50", "3")
        await until(pilot, lambda: "Enter" not in screen_text(app).splitlines()[-1])
        before = app.screen
        await press(app, pilot, "enter")
        assert app.screen is before
        details = app.screen.query_one("#details")
        details.styles.max_height = 3
        await until(pilot, lambda: "Enter" in screen_text(app).splitlines()[-1])
        details.styles.max_height = 12
        await until(pilot, lambda: "Enter" not in screen_text(app).splitlines()[-1])


# ── down, and back ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_an_issue_leads_to_the_models_answers_and_back(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        first = app.screen
        assert isinstance(first, ConsistencyScreen)
        loaded = first._loaded
        await press(app, pilot, "enter", "down", "enter")
        assert isinstance(app.screen, WordingsScreen)
        assert "s-2 under personal-1" in shown(app, "#about")
        assert by_parts(app)["original", "printed"].get(
            "readable"
        ) == "30" or "readable 30" in flowing(app)
        await press(app, pilot, "escape")
        assert behind(app) == "issue_statements"
        assert at(app) == ("s-2",)
        await press(app, pilot, "escape")
        assert at(app) == ("yes-sayer", LAW)
        assert first.is_current
        assert first._loaded is loaded, "nothing changed, so nothing was judged again"


@pytest.mark.e2e
async def test_a_family_leads_to_its_parties_their_statements_and_the_answers(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("leaning"), "down", "enter")
        assert behind(app) == "party_matches"
        larks = by_parts(app)["vd", "Larks"]
        assert (larks["share"], larks["agree"], larks["disagree"]) == (
            "50.0 % (sd 0.0)",
            "50.0 %",
            "0.0 %",
        )
        assert "left-right position 2.00" in flowing(app)
        await press(app, pilot, *["right"] * 2)
        assert shown(app, "#about").startswith("no-sayer")
        assert by_parts(app)["vd", "Gulls"]["share"].startswith("75.0 %")
        await press(app, pilot, "enter")
        assert behind(app) == "party_statements"
        row = by_parts(app)["s-1",]
        assert (row["statement"], row["party"], row["stances"], row["matches"]) == (
            "s-1",
            "agree",
            "− −",
            "0",
        )
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WordingsScreen)
        await press(app, pilot, "escape", "escape", "escape")
        assert at(app) == ("yes-sayer", "center")


@pytest.mark.e2e
async def test_a_baseline_has_no_answers_to_open(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "left", "enter", "enter")
        assert behind(app) == "issue_statements"
        assert status(app) == "A baseline has no answers to show."


# ── choices, help ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_o_chooses_which_tests_make_a_stance_reliable(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db", hardly, "smol", base()), start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert by_parts(app)["smol", LAW]["reliable"] == "6.5"
        assert isinstance(app.screen, ConsistencyScreen)
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)
        lines = [str(line.id) for line in app.screen.choices.options]
        for test in TESTS[1:]:
            app.screen.choices.highlighted = lines.index(f"tests:{test}")
            await pilot.press("space")
        await press(app, pilot, "enter")
        assert by_parts(app)["smol", LAW]["reliable"] == "7"
        assert "reliable: sampling ·" in judged_by(app)


@pytest.mark.slow
async def test_help_says_what_each_table_means_and_which_keys_work(filled: Path) -> None:
    of_issues = ("issues", "issues_by_template", "party_stances", "people", "weaker_tests")
    nothing_behind = (
        "respondents",
        "answer_types",
        "weaker_tests",
        "answer_scales",
        *CONTENTS[-2:],
    )
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        for view in CONTENTS:
            sheet = app.screen._shown.sheet  # type: ignore[attr-defined]
            assert sheet.table.name == view
            await press(app, pilot, "question_mark")
            assert isinstance(app.screen, TextScreen)
            assert sheet.table.definition in shown(app, "#text")
            for column in sheet.table.columns:
                assert column.help in shown(app, "#text")
            await press(app, pilot, "escape", "f1")
            keys = shown(app, "#text")
            assert ("Change: formula of the stance" in keys) == (view in of_issues)
            assert ("Change: policy-issue labels" in keys) == (view in of_issues)
            assert ("Change: which matches count" in keys) == (
                view in ("leaning", "leaning_by_template")
            )
            assert ("Open what this row rests on" in keys) == (view not in nothing_behind)
            assert "Sort by a column" in keys
            await press(app, pilot, "escape", "tab")


@pytest.mark.e2e
async def test_the_methods_paragraph_names_the_choices(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "H")
        assert "Ceron et al. (2024, section 7)" in shown(app, "#text")
        assert "yes-sayer was asked 8 statements" in shown(app, "#text")


@pytest.mark.e2e
async def test_results_and_consistency_lead_to_each_other(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, BiasScreen)
                and "No model has answered yet" in screen_text(app)
            ),
        )
        await press(app, pilot, "7")
        await begin(app, pilot)
        assert next(iter(by_parts(app).values()))["stance"].startswith("+0.43")
        await press(app, pilot, "6")
        assert isinstance(app.screen, BiasScreen)


@pytest.mark.e2e
async def test_home_says_whom_the_newest_model_answers_like(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Consistency" in screen_text(app))
        assert "Consistency no-sayer like left 50.0 %, center 0.0 %, right … +1 → 7" in flowing(
            app
        ), flowing(app)
        await press(app, pilot, "l")
        await begin(app, pilot)
        assert isinstance(app.screen, ConsistencyScreen)


# ── empty, loading, trouble, refresh ──────────────────────────────────────────────────────────────


async def said(path: Path, keys: list[str]) -> str:
    """Return what stands in place of a view."""
    app = WorkbenchApp(path, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *keys)
        assert app.screen.query_one("#empty").has_class("-shown")
        assert not app.screen.query_one("#body").display
        return shown(app, "#empty")


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    Store.open(tmp_path / "audit.db", create=True).close()
    assert "There is nothing to ask about yet." in await said(tmp_path / "audit.db", [])


@pytest.mark.e2e
async def test_each_view_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(
        base(), issue_labels=(), issues=(), parties=(), party_answers=(), survey=(), definitions=()
    )
    bare = replace(bare, statements=tuple(replace(s, issues={}) for s in bare.statements))
    path = made(tmp_path / "audit.db", bare)
    wanted = {
        "issues": "No statement has a policy-issue label.",
        "leaning": "The instrument has no parties",
        "party_stances": "The instrument has no parties.",
        "people": "Nobody has answered the survey",
        "templates": "No model has answered yet.",
        "weaker_tests": "No model has answered yet.",
        "answer_scales": "The instrument has no answers from parties",
        "model_kappas": "No model has answered yet.",
        "model_kappas_as_people": "No model has answered yet.",
    }
    for view, words in wanted.items():
        # The table of last time is remembered.
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / view))
        assert words in await said(path, to(view)), view


@pytest.mark.e2e
async def test_without_a_model_the_baselines_stand_alone(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", base()), start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "no model has answered: baselines only" in flowing(app)
        assert next(iter(by_parts(app).values()))["stance"].startswith("+0.43")
        await press(app, pilot, "tab")
        assert {name for name, _ in by_parts(app)} == {"always agree", "always disagree"}


@pytest.mark.e2e
async def test_l_takes_the_labels_that_people_gave(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "l")
        assert "people's labels" in judged_by(app)
        assert "from two people" in shown(app, "#empty")
        await press(app, pilot, "l")
        assert next(iter(by_parts(app).values()))["stance"].startswith("+0.43")


@pytest.mark.e2e
async def test_i_goes_through_the_instruments(tmp_path: Path) -> None:
    other = replace(base(), name="other", issue_labels=(IssueLabel("s-1", SOCIETY, "gold", 1),))
    path = made(tmp_path / "audit.db", other)
    audited(path, leans(agrees=True), "smol", base())
    app = WorkbenchApp(path, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert shown(app, "#options").startswith("small")
        await press(app, pilot, "i")
        assert shown(app, "#options").startswith("other · no model has answered")
        await press(app, pilot, "i")
        assert shown(app, "#options").startswith("small")


@pytest.mark.e2e
async def test_a_refresh_takes_new_answers_and_keeps_the_cursor(tmp_path: Path) -> None:
    path = audited(tmp_path / "audit.db", leans(agrees=True), "yes-sayer", base())
    app = WorkbenchApp(path, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("leaning"), *["down"] * 4)
        assert at(app) == ("always agree", "center")
        audited(path, leans(agrees=False), "no-sayer", base())
        await press(app, pilot, "f5")
        assert ("no-sayer", "left") in by_parts(app)
        assert at(app) == ("always agree", "center")
        assert "2 models" in screen_text(app).splitlines()[0]


@pytest.mark.e2e
async def test_a_store_that_cannot_be_read_keeps_what_is_shown(tmp_path: Path) -> None:
    path = audited(tmp_path / "audit.db", leans(agrees=True), "yes-sayer", base())
    app = WorkbenchApp(path, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        away = path.rename(tmp_path / "away.db")
        await press(app, pilot, "f5")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        await press(app, pilot, "escape")
        assert isinstance(app.screen, ConsistencyScreen)
        assert app.screen.trouble.has_class("-shown")
        assert app.screen.query_one("#body").display
        away.rename(path)
        await press(app, pilot, "f5")
        assert isinstance(app.screen, ConsistencyScreen)
        assert not app.screen.trouble.has_class("-shown")


@pytest.mark.e2e
async def test_it_says_that_it_judges_and_works_everything_out_beside_the_terminal(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only workers judge and resample: no figure is computed in the thread that draws."""
    may_go, threads = threading.Event(), []
    judge, stance = result_screen.load, Consistency._issue

    def slow(*given: Any) -> Any:
        may_go.wait(60)
        return judge(*given)

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return stance(*given)

    monkeypatch.setattr(result_screen, "load", slow)
    monkeypatch.setattr(Consistency, "_issue", watched)
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, ConsistencyScreen) and app.screen.is_mounted
        )
        assert "Judging the answers …" in screen_text(app)
        may_go.set()
        await begin(app, pilot)
        for _ in CONTENTS:
            await press(app, pilot, "down", "up", "tab")
    assert threads
    assert threading.main_thread() not in threads


# ── hostile names ─────────────────────────────────────────────────────────────────────────────────


def hostile() -> Instrument:
    """Names that are markup, control signs, keys of other rows, or each other's when joined."""
    names = (*HOSTILE[:4], "a\nb", "left", "name")
    issues = (*names[:4], "left", "party", "family")
    parties = (
        *(Party("v\nd", name, float(n)) for n, name in enumerate(names)),
        Party("v", "d\na\nb", 9.0),
    )
    labels = tuple(IssueLabel(ref, issue, "gold", 1) for ref in REFS for issue in issues)
    small = base()
    return replace(
        small,
        statements=tuple(replace(s, country="v\nd", issues={}) for s in small.statements),
        issues=issues,
        issue_labels=labels,
        definitions=tuple(IssueDefinition(issue, "", HOSTILE[1]) for issue in issues),
        parties=parties,
        party_answers=tuple(
            PartyAnswer(p.country, p.name, ref, HOSTILE[2], 1) for p in parties for ref in REFS
        ),
        survey=tuple(SurveyAnswer("v\nd/a\nb", ref, ORIGINAL, True) for ref in REFS),
    )


@pytest.mark.e2e
@SIZES
async def test_hostile_names_are_shown_literally_and_lead_down_all_the_same(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = audited(tmp_path / "audit.db", leans(agrees=True), "[bold]m[/]", hostile())
    audited(path, leans(agrees=False), "right \u202e to left", hostile())
    app = WorkbenchApp(path, start="consistency")
    below: dict[str, str] = {}
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        assert "[bold]m[/]" in screen_text(app)
        assert "[@click=app.bell]x[/] closes" in screen_text(app)
        for view in CONTENTS:
            await press(app, pilot, "end")
            text = screen_text(app)
            assert "\x1b" not in text
            assert "\u202e" not in text
            await press(app, pilot, "home", "down", "enter")
            if isinstance(app.screen, BehindScreen):
                below[view] = behind(app)
                assert table(app).row_count
                assert "\u202e" not in screen_text(app)
                await press(app, pilot, "escape")
            await press(app, pilot, "tab")
        assert below == {
            "issues": "issue_statements",
            "issues_by_template": "issue_statements",
            "leaning": "party_matches",
            "leaning_by_template": "party_matches",
            "party_stances": "given",
            "people": "given",
            "templates": "template_statements",
        }


# ── sorting, finding, previews ────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_s_sorts_by_a_column_and_once_more_the_other_way(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("leaning"))
        came = list(by_parts(app))
        await press(app, pilot, "s", *["down"] * 3, "enter")
        shares = [row["share"] for row in by_parts(app).values()]
        assert [text.split(" %")[0] for text in shares[:3]] == ["100.0", "100.0", "75.0"]
        assert "share ▾" in screen_text(app)
        await press(app, pilot, "s", "enter")
        assert "share ▴" in screen_text(app)
        assert next(iter(by_parts(app).values()))["share"].startswith("0.0 %")
        await press(app, pilot, "s", "home", "enter")
        assert list(by_parts(app)) == came


@pytest.mark.e2e
async def test_a_slash_finds_rows_and_escape_shows_all_again(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("leaning"), "slash", *"agree left", "enter")
        assert list(by_parts(app)) == [("always agree", "left"), ("always disagree", "left")]
        await press(app, pilot, "enter")
        assert behind(app) == "party_matches"
        await press(app, pilot, "escape", "escape")
        assert len(by_parts(app)) == 12
        assert isinstance(app.screen, ConsistencyScreen)
        await press(app, pilot, "slash", *"nothing like it")
        assert "No row contains “nothing like it”" in flowing(app)


@pytest.mark.e2e
async def test_a_tall_terminal_previews_what_enter_opens(filled: Path) -> None:
    app = WorkbenchApp(filled, start="consistency")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await until(
            pilot, lambda: "Enter: yes-sayer: statements on law and order" in screen_text(app)
        )
        assert "Statement s-7 should become law." in screen_text(app)
        await press(app, pilot, "down")
        await until(
            pilot, lambda: "Enter: yes-sayer: statements on liberal society" in screen_text(app)
        )
        assert "Statement s-8 should become law." in screen_text(app)
