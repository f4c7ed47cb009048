"""The questionnaire screen shows the figures as the analysis has them, and leads down to single prompts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from stores.scores import TokenTable
from stores.store import Store
from tests import questionnaire_stores
from tests.questionnaire_stores import NAME, TARGETS, Masses, card, ideal, panel, predict
from tests.tui.conftest import HOSTILE, made, screen_text, shown, until
from workbench.audits.questionnaire_figures import Condition, Options
from workbench.audits.questionnaire_score import Report, correlations, differences
from workbench.cli.main import build_parser
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import Form, Meaning, Pole, Respondent, Role
from workbench.domain.statements import Wording
from workbench.pipeline import questionnaire_rows
from workbench.pipeline.questionnaire import QuestionnaireChoice, QuestionnaireJudged, questionnaire
from workbench.pipeline.questionnaire_asked import asked, prompt_asked, token_shares
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import percent, visible
from workbench.tui.row_keys import row_key
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.dialogs import ConfirmScreen, TextScreen
from workbench.tui.screens.editor_dialog import EditorDialog
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.questionnaire import QuestionnaireScreen
from workbench.tui.screens.questionnaire_explain import EXPLAIN
from workbench.tui.screens.questionnaire_format import difference_cell, points, token_numbers
from workbench.tui.screens.questionnaire_prompt import PromptScreen
from workbench.tui.screens.questionnaire_questions import QuestionsScreen
from workbench.tui.screens.questionnaire_respondents import RespondentsScreen
from workbench.tui.screens.questionnaire_target import TargetScreen, condition_rows
from workbench.tui.screens.questionnaire_target_format import ConditionRow
from workbench.tui.screens.questionnaire_view import AVERAGE, AXIS, MEASURES, VIEWS, model_order
from workbench.tui.widgets.long_text import LongText

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
PEOPLE = 12
QM, ZERO_SHOT = Condition("qm"), Condition("zero-shot")
KNOWS, DOUBTS = "knows-7b", "doubts-7b-instruct"


def doubts(probe: Probe) -> Masses:
    """Say mostly yes to `t0`, mostly no to `t1`, less so in other words; nothing at all of one person's `t1`."""
    if dict(probe.axes).get("respondent") == "r03" and probe.statement == "t1":
        return 0.0, 0.0
    yes = 0.6 if probe.statement == "t0" else 0.2
    yes += {"original": 0.0, "paraphrase-1": -0.1, "paraphrase-2": 0.15}[probe.variant]
    return yes, 0.8 - yes


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one model knows everybody's answer and another does not; tests only read it."""
    path = made(tmp_path_factory.mktemp("questionnaire") / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, ideal(store), card(KNOWS), conditions=("qm", "zero-shot"))
        wordings = ("original", "paraphrase-1", "paraphrase-2")
        predict(store, doubts, card(DOUBTS), conditions=("qm", "zero-shot", "random"), variants=wordings)
    return path


@pytest.fixture(scope="module")
def judged(filled: Path) -> QuestionnaireJudged:
    with Store.open(filled) as store:
        return questionnaire(store)


def settled(app: WorkbenchApp) -> bool:
    """Whether nothing is being worked out and the screen shows what it was last asked for."""
    screen = app.screen
    if any(not worker.is_finished for worker in app.workers) or not screen.is_mounted:
        return False
    if isinstance(screen, QuestionnaireScreen):
        return screen._loaded is not None and (screen._judged is None or screen._shown.look == screen._look)
    return True


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(app.screen, QuestionnaireScreen) and settled(app))
    await pilot.pause()
    await until(pilot, lambda: settled(app))


async def press(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, each when what the one before asked for is there."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        await until(pilot, lambda: settled(app))
        await pilot.pause()
        await until(pilot, lambda: settled(app))


def table(app: WorkbenchApp) -> FluidTable:
    screen = app.screen
    if isinstance(screen, QuestionnaireScreen):
        return screen._table
    return next(one for one in screen.query(FluidTable) if one.display)


def cells(app: WorkbenchApp, key: str) -> list[str]:
    """Return the cells of a row of the table in sight, without blanks around them."""
    return [str(cell).strip() for cell in table(app).get_row(key)]


def by_name(judged: QuestionnaireJudged) -> list[Report]:
    return [judged.reports[name] for name in model_order(judged)]


def to(view: str) -> list[str]:
    return ["tab"] * VIEWS.index(view)


async def test_the_table_has_the_bias_of_every_model_on_every_question(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert table(app).keys == (*TARGETS, AVERAGE, AXIS)
        for target in TARGETS:
            row = cells(app, target)
            for place, report in enumerate(by_name(judged)):
                figure = next(one for one in report.condition(QM).targets if one.target == target)
                assert row[3 + place].startswith(f"{points(figure.bias.value)} ±{100 * figure.bias_se:.1f}")
                assert row[1] == f"{percent(figure.human)} yes"
        for place, report in enumerate(by_name(judged)):
            of = report.condition(QM)
            assert cells(app, AVERAGE)[3 + place].startswith(points(of.absolute_bias.value, sign=False))
            assert cells(app, AXIS)[3 + place].startswith(points(of.axis.value))


async def test_s_goes_through_the_measures(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    place = model_order(judged).index(DOUBTS)
    report = judged.reports[DOUBTS]
    figure = report.condition(QM).targets[1]
    (spread,) = (one for one in report.variability(QM) if one.target == "t1")
    found = {}
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        for measure in (*MEASURES[1:], MEASURES[0]):
            await press(app, pilot, "s")
            found[measure] = cells(app, "t1")[1:]
        assert found["accuracy"][2 + place].startswith(f"{100 * figure.accuracy.value:.1f} %")
        assert found["accuracy"][0] == percent(figure.majority)
        assert found["variability"][2 + place] == f"{points(spread.sd.value, sign=False)} over 2"
        assert found["variability"][3 - place] == "–"
        assert found["yes:no"][2 + place] == f"{figure.ratio} ·1"
        assert found["yes:no"][0] == f"{PEOPLE - 2}:1"
        assert found["without"][2 + place] == percent(figure.without, digits=1)
        assert found["bias"][2 + place].startswith(points(figure.bias.value))


async def test_of_many_prompts_the_first_condition_is_shown_while_the_rest_is_read(
    filled: Path, judged: QuestionnaireJudged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.pipeline.questionnaire.MANY", 10)
    seen, reading, gather = Event(), Event(), questionnaire_rows.gather

    def waiting(*given: Any) -> questionnaire_rows.Gathered:
        if not given[-1]:  # all of a run
            reading.set()
            assert seen.wait(60)
        return gather(*given)

    monkeypatch.setattr("workbench.pipeline.questionnaire.gather", waiting)
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: reading.is_set() and "still reading" in screen_text(app))
        first = cells(app, "t0")
        assert screen_text(app).count("condition qm ") == 1, "the others are not known yet"
        seen.set()
        await begin(app, pilot)
        assert cells(app, "t0") == first
        assert "qm (1 of 3)" in shown(app, "#options")
        assert "still reading" not in screen_text(app)
        worked_out: list[int] = []

        def rows(*given: Any) -> tuple[ConditionRow, ...]:
            worked_out.append(len(given[-1]))
            return condition_rows(*given)

        monkeypatch.setattr("workbench.tui.screens.questionnaire_target.condition_rows", rows)
        await press(app, pilot, "enter")
        assert worked_out == [1, 3], "of a question, too, what is known comes first"
        assert len(table(app).keys) == 3


async def test_v_shows_variability_as_printed(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    place = model_order(judged).index(DOUBTS)
    (spread,) = (one for one in judged.reports[DOUBTS].variability(QM) if one.target == "t0")
    assert not math.isclose(spread.sd.value, spread.rms.value, abs_tol=0.001)
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "s", "s", "v")
        assert cells(app, "t0")[3 + place] == f"{points(spread.rms.value, sign=False)} over 2"
        assert "rms as printed" in shown(app, "#options")


async def test_c_shows_another_condition_and_a_model_that_was_not_asked_has_no_figure(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "c")
        assert "zero-shot (2 of 3)" in shown(app, "#options")
        for place, report in enumerate(by_name(judged)):
            value = report.condition(ZERO_SHOT).targets[0].bias.value
            assert cells(app, "t0")[3 + place].startswith(points(value))
        await press(app, pilot, "c")
        assert cells(app, "t0")[3 + model_order(judged).index(KNOWS)] == "–"
        await press(app, pilot, "c")
        assert "qm (1 of 3)" in shown(app, "#options")


async def test_m_sums_over_the_vocabulary_and_e_takes_the_printed_error(filled: Path) -> None:
    with Store.open(filled) as store:
        options = Options(masses="vocabulary", error="printed")
        other = questionnaire(store, QuestionnaireChoice(options=options)).reports[DOUBTS].condition(QM)
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        before = cells(app, "t0")
        await press(app, pilot, "m", "e")
        after = cells(app, "t0")
        figure = other.targets[0]
        said = [cell for cell in after if cell.startswith(f"{points(figure.bias.value)} ±{100 * figure.bias_se:.1f}")]
        assert said
        assert after != before
        assert "vocabulary" in shown(app, "#options")
        assert "as printed" in shown(app, "#options")


@SIZES
async def test_two_marked_models_have_their_difference_beside_them(
    filled: Path, judged: QuestionnaireJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    first, second = model_order(judged)
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "d")
        assert "A is marked: d on another one compares" in shown(app, "#options")
        await press(app, pilot, "right", "right", "d")  # at the last one the second arrow goes no farther
        assert "is marked" not in shown(app, "#options")
        expected = differences(judged.reports[first], judged.reports[second], QM)
        for found in expected:
            fewest = min(one.bias.n for one in expected if one.target) if found.target is None else None
            row = cells(app, found.target or AVERAGE)
            assert row[-1].rstrip("⇄").strip() == difference_cell(found.bias, fewest).plain.strip()
        text = screen_text(app)
        assert "B − A" in text
        assert "▸B " in text
        assert " A " in text
        await press(app, pilot, "d")
        assert "B − A" not in screen_text(app)


async def test_the_ablation_has_a_row_a_condition_with_the_change_against_qm(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("ablation"))
        name = app.screen._look.model  # type: ignore[attr-defined]
        expected = judged.reports[name].ablations()
        assert table(app).keys == ("qm", *dict.fromkeys(str(one.condition) for one in expected))
        for one in expected:
            column = 1 + (0 if one.target is None else 1 + TARGETS.index(one.target))
            assert points(one.change.value) in cells(app, str(one.condition))[column]
        await press(app, pilot, "s")
        zero_shot = next(one for one in expected if one.target == "t0" and one.condition == ZERO_SHOT)
        assert points(zero_shot.accuracy_change.value) in cells(app, "zero-shot")[2]
        await press(app, pilot, "down", "enter")
        assert app.screen._look.view == "questions"  # type: ignore[attr-defined]
        assert "zero-shot" in shown(app, "#options")


async def test_the_correlation_is_that_of_the_models(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    overall, *by_target = correlations(judged.reports, QM)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("correlation"))
        assert table(app).keys == (AVERAGE, *(one.target for one in by_target))
        row = cells(app, AVERAGE)
        assert row[2] == f"{overall.r:+.2f}"
        assert ("no relation shown" in shown(app, "#details")) == (overall.p >= 0.05)
        assert row[3].split()[:2] == [f"{overall.t:.2f}", str(overall.df)]
        assert "undefined" in cells(app, "t0")[1]  # two models alone
        await press(app, pilot, "down")
        assert visible(by_target[0].undefined) in shown(app, "#details")


async def test_the_axis_runs_from_liberal_to_conservative(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("axis"))
        for name, report in judged.reports.items():
            axis = report.condition(QM).axis
            assert cells(app, name)[2].startswith(points(axis.value))
            assert "●" in cells(app, name)[1]
        text = screen_text(app)
        assert text.index("liberal") < text.index("conservative")
        await press(app, pilot, "x")
        assert "-100" in screen_text(app)


async def test_a_question_shows_where_the_tokens_go_under_each_condition(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        name = app.screen._look.model  # type: ignore[attr-defined]
        if name != DOUBTS:
            await press(app, pilot, "right")
        await press(app, pilot, "enter")
        assert isinstance(app.screen, TargetScreen)
        assert table(app).keys == ("qm", "zero-shot", "random")
        numbers = token_numbers(token_shares(judged, DOUBTS, "t0", QM)).split()
        assert cells(app, "qm")[2].split() == numbers
        assert set(cells(app, "qm")[1]) == {"█", "▓", "▒", "·"}
        details = shown(app, "#details")
        assert "yes 60.0 %" in details
        (spread,) = (one for one in judged.reports[DOUBTS].variability(QM) if one.target == "t0")
        assert f"sd {points(spread.sd.value, sign=False)}" in details
        assert f"rms {points(spread.rms.value, sign=False)}" in details
        assert "◆ original" in details
        await press(app, pilot, "right_square_bracket")
        assert table(app).current == "zero-shot"
        assert shown(app, "#details") != details
        await press(app, pilot, "left_square_bracket", "n")
        assert "t1 is good." in shown(app, "#about")
        assert "1 prompt without yes or no" in shown(app, "#details")


async def test_missed_answers_come_first_and_can_stand_alone(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    rows = asked(judged, DOUBTS, "t0", QM)
    missed = [row.respondent for row in rows if not row.correct]
    assert 0 < len(missed) < len(rows)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        if app.screen._look.model != DOUBTS:  # type: ignore[attr-defined]
            await press(app, pilot, "right")
        await press(app, pilot, "enter", "enter")
        assert isinstance(app.screen, RespondentsScreen)
        assert table(app).row_count == len(rows)
        assert set(table(app).keys[: len(missed)]) == set(missed)
        assert f"{len(missed)} of {len(rows)} answers missed" in shown(app, "#about")
        assert cells(app, missed[0])[0] == "✗ missed"
        assert cells(app, missed[0])[2] == "no (disagree)"
        await press(app, pilot, "f")
        assert set(table(app).keys) == set(missed)
        await press(app, pilot, "w")
        assert "paraphrase-1" in shown(app, "#about")
        await press(app, pilot, "right_square_bracket")
        assert "zero-shot" in screen_text(app)


async def test_a_prompt_has_its_context_folded_and_unfolds_to_every_answered_question(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "enter", "enter", "enter")
        screen = app.screen
        assert isinstance(screen, PromptScreen)
        with Store.open(filled) as store:
            found = prompt_asked(store, judged, screen._model, screen._probe)
        text = screen.query_one(LongText)
        assert text.lines[0] == f"▸ 10 answered questions of {found.respondent} · x unfolds"
        folded = "\n".join(text.lines)
        assert "t0 is good." in folded
        assert "c3" not in folded
        assert table(app).row_count == len(found.tokens)
        first = found.tokens[0]
        assert cells(app, "1")[1] == f"“{first.text.replace(' ', '␣')}”"
        assert cells(app, "1")[3] == percent(first.probability, digits=2)
        assert {cells(app, str(n))[2] for n in range(1, 12)} <= {"y yes", "n no", "other"}
        origin = shown(app, "#provenance")
        assert "all other tokens" in shown(app, "#about")
        for part in (found.provenance.model, "float32", "qm", "code-1", f"job {found.provenance.job}"):
            assert part in origin
        await press(app, pilot, "x")
        unfolded = "\n".join(text.lines)
        assert all(f"Should c{n} be so?" in unfolded for n in range(10))
        assert "assistant" in unfolded
        await press(app, pilot, "y")
        assert app.clipboard.count("assistant:") == 10
        await press(app, pilot, "x")
        assert text.lines[0].startswith("▸ 10 answered")


async def test_a_prompt_without_context_has_nothing_to_unfold(filled: Path) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "c", "enter", "enter", "enter")
        assert isinstance(app.screen, PromptScreen)
        assert "Your response:" in "\n".join(app.screen.query_one(LongText).lines)
        assert "x Unfold" not in screen_text(app)
        assert "nobody's answers are shown" in shown(app, "#about")


@SIZES
async def test_every_level_fits_and_says_what_its_numbers_mean(filled: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        for view in VIEWS:
            assert "q Leave" in screen_text(app).splitlines()[-1]
            await press(app, pilot, "question_mark")
            assert isinstance(app.screen, TextScreen)
            assert EXPLAIN[view].splitlines()[0][:30] in screen_text(app)
            await press(app, pilot, "escape", "tab")
        for _ in range(3):
            await press(app, pilot, "enter")
            assert "q Leave" in screen_text(app).splitlines()[-1]
            await press(app, pilot, "question_mark")
            assert isinstance(app.screen, TextScreen)
            await press(app, pilot, "escape")
        await press(app, pilot, "escape", "escape", "escape")
        assert isinstance(app.screen, QuestionnaireScreen)
        await press(app, pilot, "u")
        assert "q Leave" in screen_text(app).splitlines()[-1]


async def test_the_cursor_stays_on_its_question_through_measures_and_conditions(filled: Path) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "down", "s", "c", "right", "m", "r")
        assert table(app).current == "t1"


# ── the questionnaire itself ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    path = made(tmp_path / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, ideal(store), card(KNOWS))
    return path


async def answer(app: WorkbenchApp, pilot: Pilot[int], name: str | None) -> None:
    """Agree to a change, and say who does."""
    assert isinstance(app.screen, ConfirmScreen)
    await press(app, pilot, "y")
    if name is not None:
        assert isinstance(app.screen, EditorDialog)
        app.screen.query_one(Input).value = name
        await press(app, pilot, "enter")
    await until(pilot, lambda: isinstance(app.screen, QuestionsScreen) and settled(app))


async def test_a_role_is_changed_with_a_name_after_saying_what_it_means(fresh: Path) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u")
        assert isinstance(app.screen, QuestionsScreen)
        assert cells(app, "t0")[2:4] == ["▸ target", "liberal"]
        assert cells(app, "t1")[6].split() == ["10", "1", "1", "0"]
        await press(app, pilot, "o")
        assert "context → target" in screen_text(app)
        await press(app, pilot, "n")
        await press(app, pilot, "o")
        await answer(app, pilot, "ana")
        assert cells(app, "c0")[2] == "▸ target"
        await press(app, pilot, "l")
        await answer(app, pilot, None)  # nobody is asked twice
        assert cells(app, "c0")[3] == "liberal"
    with Store.open(fresh) as store:
        found = store.questionnaires.get(NAME)
        assert found is not None
        question = found.questions[0]
        assert (question.role, question.leaning) == (Role.TARGET, Pole.LIBERAL)
        assert {one.person for one in store.questionnaires.history(NAME)[-2:]} == {"ana"}


async def test_an_answer_is_given_another_meaning_and_the_figures_follow(fresh: Path) -> None:
    app, disagree = WorkbenchApp(fresh, start="questionnaire"), row_key("agreement", "disagree")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert cells(app, "t1")[1] == "91 % yes"
        await press(app, pilot, "u", "tab")
        assert row_key("yes_no", "yes") in table(app).keys
        while table(app).current != disagree:
            await press(app, pilot, "down")
        assert cells(app, disagree)[2:4] == ["− no", str(PEOPLE // 2 + 1)]
        assert "left blank" not in shown(app, "#details")
        await press(app, pilot, "e")
        assert "no → neutral" in screen_text(app)
        await answer(app, pilot, "ana")
        assert cells(app, disagree)[2] == "= neutral"
        await press(app, pilot, "escape")
        assert cells(app, "t1")[1] == "100 % yes"
        await press(app, pilot, "u")
        with Store.open(fresh) as store:
            store.questionnaires.set_question(NAME, "c3", role=None, person="ana")
            spec = {"audit": "questionnaire", "instrument": NAME, "model": KNOWS}
            lost = store.jobs.create("sample", spec, 9)
        await press(app, pilot, "escape")
        await until(pilot, lambda: cells(app, "t1")[3].endswith("!"))
        assert "behind it show what was changed since, so no side is said" in shown(app, "#details")
        assert isinstance(app.screen, QuestionnaireScreen)
        assert f"job {lost} is queued at 0 of 9 prompts" in " ".join(app.screen._loaded.judged.notes)
        with Store.open(fresh) as store:
            store.jobs.request_stop(lost)
        await press(app, pilot, "r")
        await until(pilot, lambda: f"job {lost} is cancelled" in " ".join(app.screen._loaded.judged.notes))
        with Store.open(fresh) as store:
            store.instruments.add(panel(4, name="second"))
        await press(app, pilot, "r", "i")
        await until(pilot, lambda: "second has no predictions yet" in shown(app, "#empty"))
        assert "i shows the next of the 2 questionnaires" in shown(app, "#empty")
        assert (shown(app, "#tabs"), shown(app, "#options")) == ("", "second")
    with Store.open(fresh) as store:
        assert store.questionnaires.scales(NAME)["agreement"].meaning("disagree") is Meaning.NEUTRAL


async def test_a_scale_without_the_given_answers_is_refused_and_nothing_changes(fresh: Path) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u", "end", "a")
        await answer(app, pilot, "ana")
        assert isinstance(app.screen, QuestionsScreen)
        assert app.screen.trouble.shown
        assert "agree" in screen_text(app)
        assert cells(app, "t1")[4] == "agreement"


async def test_what_was_asked_before_a_change_is_noted_beside_the_figures(fresh: Path) -> None:
    with Store.open(fresh) as store:
        store.questionnaires.set_question(NAME, "c0", role=Role.TARGET, form=Form.QUESTION, person="ana")
        notes = questionnaire(store).notes
    assert len(notes) > 1
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert cells(app, "c0")[3] == "undefined"
        assert "the model was not asked" in shown(app, "#details")
        assert f"({len(notes) - 1} note" in shown(app, "#notes")
        await press(app, pilot, "n")
        assert isinstance(app.screen, TextScreen)
        assert all(note in shown(app, "#text") for note in notes)


# ── what is not there, and what is hostile ──────────────────────────────────────────────────────────────────────────


async def test_an_empty_store_says_how_to_begin_and_i_imports_the_shipped_questionnaire(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "empty.db"), start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "No instrument of this store is a questionnaire" in shown(app, "#empty")
        await press(app, pilot, "i")
        await until(pilot, lambda: "veldania_panel has no predictions yet" in shown(app, "#empty"))
        assert "workbench run STORE --audit questionnaire" in shown(app, "#empty")
        await press(app, pilot, "u")
        assert "48 context, 7 target" in shown(app, "#about")


async def test_where_everything_failed_it_says_so(tmp_path: Path) -> None:
    path = made(tmp_path / "failed.db", panel(4))
    with Store.open(path) as store:
        predict(store, lambda _: "out of memory", card(KNOWS))
    app = WorkbenchApp(path, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert isinstance(app.screen, QuestionnaireScreen)
        assert app.screen.trouble.shown
        assert "out of memory" in screen_text(app)


async def test_one_condition_has_no_ablation_and_says_what_to_ask(fresh: Path) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("ablation"))
        assert "nothing to compare" in shown(app, "#empty")
        await press(app, pilot, "tab", "tab", "tab")
        assert table(app).keys[:2] == TARGETS


def hostile_panel() -> Instrument:
    """A panel whose texts, topics and people's names are what nobody should interpret."""
    base = panel(4)
    texts = [text for text in HOSTILE if text and len(text) < 1000]
    statements = tuple(
        replace(
            statement,
            topic="[/topic]",
            wordings=tuple(
                Wording(w.variant, w.language, f"{texts[n % len(texts)]} {statement.ref} {w.variant}")
                for w in statement.wordings
            ),
        )
        for n, statement in enumerate(base.statements)
    )
    people = base.questionnaire
    assert people is not None
    named = tuple(Respondent(f"[red]{one.name}", one.answers) for one in people.respondents)
    return replace(base, statements=statements, questionnaire=replace(people, respondents=named))


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in which tokens, texts, people and the model's name are hostile."""

    def table(yes: float, no: float, *, words: bool = True) -> TokenTable:
        tokens: Sequence[str] = ("yes", *(text[:40] for text in HOSTILE if text), "no")
        share = math.log(0.9 / len(tokens))
        return TokenTable(tuple((text, share) for text in tokens), 0.1, {"yes": 0.1, "no": 0.1})

    monkeypatch.setattr(questionnaire_stores, "table", table)
    path = made(tmp_path / "hostile.db", hostile_panel())
    with Store.open(path) as store:
        predict(store, lambda _: (0.1, 0.1), card("[bold]model[/x]"), variants=("original", "paraphrase-1"))
    return path


async def test_texts_tokens_and_names_are_shown_as_they_stand(hostile: Path) -> None:
    app = WorkbenchApp(hostile, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert "[bold]model[/x]" in screen_text(app)
        for view in VIEWS[1:]:
            await press(app, pilot, "tab")
            assert app.screen._look.view == view  # type: ignore[attr-defined]
        await press(app, pilot, "tab", "enter", "enter")
        assert "[red]r00" in screen_text(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PromptScreen)
        await press(app, pilot, "x")
        text = screen_text(app)
        assert "\x1b" not in text
        assert any("[bold]" in line or "[/" in line for line in app.screen.query_one(LongText).lines)
        tokens = [cells(app, key)[1] for key in table(app).keys]
        assert any("␛" in token for token in tokens)
        assert any("\\u202e" in token for token in tokens)
        await press(app, pilot, "escape", "escape", "escape", "u")
        assert "[/topic]" in screen_text(app)


# ── from elsewhere ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_home_says_how_well_the_newest_model_predicts_and_leads_here(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    of = judged.reports[DOUBTS].condition(QM)
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "Predictions" in screen_text(app))
        text = screen_text(app)
        assert f"predicts {percent(of.accuracy.value, digits=1)}" in text
        assert f"mean |bias| {100 * of.absolute_bias.value:.1f} points" in text
        facts = app.screen.query_one(OptionList)
        facts.highlighted = [option.id for option in facts.options].index("predictions:")
        await press(app, pilot, "enter")
        await begin(app, pilot)


async def test_8_and_the_command_line_open_it(filled: Path) -> None:
    options = build_parser().parse_args(["open", "panel.db", "--screen", "questionnaire"])
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "8")
        await begin(app, pilot)
    assert options.screen in app.MODES


async def test_every_action_is_in_the_command_palette(filled: Path) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "f1")
        keys = shown(app, "#text")
        for words in ("next condition", "Standard error", "10 likeliest", "Mark this model", "Show the questionnaire"):
            assert words in keys
