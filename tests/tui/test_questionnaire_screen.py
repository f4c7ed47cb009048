"""The questionnaire screen shows the figures as the analysis has them, and leads down to single
prompts.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from stores.core.store import Store
from stores.runs.scores import NextTokenTable
from tests import questionnaire_stores
from tests.questionnaire_stores import NAME, TARGETS, Masses, card, ideal, panel, predict
from tests.tui import books
from tests.tui.books import press, row, settled
from tests.tui.conftest import HOSTILE, flowing, judged_by, made, screen_text, shown, until
from workbench import registry
from workbench.audits.questionnaire import reading as questionnaire_rows
from workbench.audits.questionnaire.answer_tables import likeliest
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.effect_tables import compared
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import (
    QuestionnaireJudged,
    judge_questionnaire,
    predictions_of,
    prompt_asked,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.result import results_of
from workbench.audits.questionnaire.score import PredictionReport
from workbench.audits.questionnaire.tables import under
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import Form, Meaning, Pole, QuestionRole, Respondent
from workbench.domain.statements import Wording
from workbench.figures.book import Book
from workbench.figures.shown import number, painted
from workbench.figures.table import AnyTable, Kind
from workbench.tui.app import WorkbenchApp
from workbench.tui.comparison.screen import ComparisonScreen
from workbench.tui.format import row_key, row_parts
from workbench.tui.home.home import HomeScreen
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import EditorDialog
from workbench.tui.results import result_screen
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Loaded
from workbench.tui.results.questionnaire_instrument import QuestionsScreen
from workbench.tui.results.questionnaire_prompt import PromptScreen
from workbench.tui.results.result_screen import screen_class
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import FluidTable

QuestionnaireScreen = screen_class(registry.audit("questionnaire"))
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
PEOPLE = 12
QM = Condition("qm")
KNOWS, DOUBTS = "knows-7b", "doubts-7b-instruct"

CONTENTS = (
    "bias",
    "accuracy",
    "variability",
    "predicted",
    "without",
    "targets",
    "means",
    "axis",
    "axis_targets",
    "bias_changes",
    "accuracy_changes",
    "correlation",
    "conditions",
    "changes",
    "wordings",
    "wording_means",
    "each_wording",
    "tokens",
    "models",
    "asked",
    "answered",
    "refusals",
    "choices",
)


def doubts(probe: Probe) -> Masses:
    """Say mostly yes to `t0`, mostly no to `t1`, less so in other words; nothing at all of one
    person's `t1`.
    """
    if dict(probe.axes).get("respondent") == "r03" and probe.statement == "t1":
        return 0.0, 0.0
    yes = 0.6 if probe.statement == "t0" else 0.2
    yes += {"original": 0.0, "paraphrase-1": -0.1, "paraphrase-2": 0.15}[probe.variant]
    return yes, 0.8 - yes


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one model knows everybody's answer and another does not; tests only read
    it.
    """
    path = made(tmp_path_factory.mktemp("questionnaire") / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, ideal(store), card(KNOWS), conditions=("qm", "zero-shot"))
        wordings = ("original", "paraphrase-1", "paraphrase-2")
        predict(
            store, doubts, card(DOUBTS), conditions=("qm", "zero-shot", "random"), variants=wordings
        )
    return path


@pytest.fixture(scope="module")
def judged(filled: Path) -> QuestionnaireJudged:
    with Store.open(filled) as store:
        return judge_questionnaire(store)


def of(judged: QuestionnaireJudged, condition: str = "") -> Book:
    """Return the figures that the screen is to show."""
    results = results_of(judged)
    return book(replace(results, options=replace(results.options, condition=condition or None)))


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await books.begin(app, pilot, QuestionnaireScreen)


def screen(app: WorkbenchApp) -> Following:
    assert isinstance(app.screen, Following)
    return app.screen


def in_sight(app: WorkbenchApp) -> AnyTable:
    """Return the table that the screen shows."""
    sheet = screen(app).view.sheet
    assert sheet is not None
    return sheet.table


def keys(app: WorkbenchApp) -> list[tuple[str, ...]]:
    """Return the names of the rows in sight, in their order."""
    return [tuple(row_parts(key)) for key in screen(app).view.table.keys]


def to(view: str) -> list[str]:
    return ["tab"] * CONTENTS.index(view)


@pytest.mark.e2e
async def test_every_table_is_that_of_the_book(filled: Path, judged: QuestionnaireJudged) -> None:
    app, expected = WorkbenchApp(filled, start="questionnaire"), of(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert screen(app).title_bar.note == "2 models"
        for name in CONTENTS:
            entry = expected.entry(name)
            assert not entry.empty
            if name == "refusals":  # nothing was drawn, so nothing was refused
                assert screen(app).view.sheet is None
                await press(app, pilot, "tab")
                continue
            table = in_sight(app)
            assert table.name == name
            subject = app.screen._look.subject  # type: ignore[attr-defined]
            assert painted(table) == painted(entry.make(*subject))
            assert keys(app) == [table.key(one) for one in table.rows]
            assert entry.title in shown(app, "#tabs")
            await press(app, pilot, "tab")
        assert in_sight(app).name == CONTENTS[0]


@pytest.mark.e2e
async def test_left_and_right_put_another_model_first_and_the_people_are_those_it_was_asked_about(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert [one.key for one in in_sight(app).columns][3:5] == [DOUBTS, KNOWS]
        assert DOUBTS in shown(app, "#tabs")
        await press(app, pilot, "right")
        assert [one.key for one in in_sight(app).columns][3:5] == [KNOWS, DOUBTS]
        assert painted(in_sight(app)) == painted(of(judged).table("bias", KNOWS))
        await press(app, pilot, *to("means"))
        assert {key[0] for key in keys(app)} == {KNOWS}, (
            "the model stays the same from table to table"
        )


@pytest.mark.e2e
async def test_of_many_prompts_the_first_condition_is_shown_while_the_rest_is_read(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.audits.questionnaire.judged.MANY", 10)
    seen, reading, gather = Event(), Event(), questionnaire_rows.gather

    def waiting(*given: Any, **more: Any) -> questionnaire_rows.Gathered:
        if not given[-1]:  # all of a run
            reading.set()
            assert seen.wait(60)
        return gather(*given, **more)

    monkeypatch.setattr("workbench.audits.questionnaire.judged.gather", waiting)
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: reading.is_set() and "still reading" in screen_text(app))
        await until(pilot, lambda: screen(app).view.sheet is not None)
        first = row(app, "t0")
        assert "condition qm ·" in judged_by(app), "the others are not known yet"
        seen.set()
        await begin(app, pilot)
        assert row(app, "t0") == first
        assert "condition qm (1 of 3)" in judged_by(app)
        assert "still reading" not in screen_text(app)


@pytest.mark.e2e
async def test_e_shows_variability_as_printed(filled: Path, judged: QuestionnaireJudged) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    (spread,) = (one for one in judged.reports[DOUBTS].variability(QM) if one.target == "t0")
    assert not math.isclose(spread.sd.value, spread.rms.value, abs_tol=0.001)
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert "over wordings" not in judged_by(app)
        await press(app, pilot, *to("variability"))
        assert row(app, "t0")[DOUBTS] == f"{100 * spread.sd.value:.1f} points"
        assert "sd over wordings" in judged_by(app)
        await press(app, pilot, "e")
        assert row(app, "t0")[DOUBTS] == f"{100 * spread.rms.value:.1f} points"
        assert row(app, "t0")[KNOWS] == "–"
        assert "as printed" in judged_by(app)


@pytest.mark.e2e
async def test_c_shows_another_condition_and_a_model_that_was_not_asked_has_no_figure(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "c")
        assert "zero-shot (2 of 3)" in judged_by(app)
        assert painted(in_sight(app)) == painted(of(judged, "zero-shot").table("bias", DOUBTS))
        await press(app, pilot, "c")
        assert row(app, "t0")[KNOWS] == "–"
        await press(app, pilot, "c")
        assert "qm (1 of 3)" in judged_by(app)
        await press(app, pilot, "C")
        assert "random (3 of 3)" in judged_by(app)
        await press(app, pilot, *to("bias_changes"))
        assert "condition" not in judged_by(app), "this table is about all conditions"


@pytest.mark.e2e
async def test_m_sums_over_the_vocabulary_and_e_takes_the_printed_error(filled: Path) -> None:
    with Store.open(filled) as store:
        options = PredictionOptions(masses="vocabulary").with_values(as_published=True)
        expected = of(judge_questionnaire(store, options=options))
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("targets"))
        before = painted(in_sight(app))
        await press(app, pilot, "M", "e")
        assert painted(in_sight(app)) == painted(expected.table("targets", DOUBTS)) != before
        assert "vocabulary" in judged_by(app)
        assert "SE as printed" in judged_by(app)


@pytest.mark.e2e
async def test_two_models_are_compared_and_a_target_leads_to_its_question(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "B", "enter")
        assert isinstance(app.screen, ComparisonScreen)
        while app.screen._look.view != "compared":
            await press(app, pilot, "tab")
        first, second = app.screen.models
        results = results_of(judged)
        assert painted(in_sight(app)) == painted(compared(results, under(results), second, first))
        assert f"{first} − {second}" in shown(app, "#tabs")
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BehindScreen), (
            "Enter leads to the question in the audit's own results"
        )
        await press(app, pilot, "escape", "escape")
        assert isinstance(app.screen, QuestionnaireScreen)


@pytest.mark.e2e
async def test_enter_leads_from_a_figure_to_models_conditions_people_and_the_prompt(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    rows = predictions_of(judged, DOUBTS, "t0", QM)
    missed = {one.respondent for one in rows if not one.correct}
    assert 0 < len(missed) < len(rows)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "enter")
        assert in_sight(app).name == "models_on"
        await press(app, pilot, "enter")
        assert (in_sight(app).name, in_sight(app).subject) == ("question", (DOUBTS, "t0"))
        assert [key for (key,) in keys(app)] == ["qm", "zero-shot", "random"]
        assert (row(app, "qm")["yes"], row(app, "qm")["no"]) == ("60.0 %", "20.0 %")
        assert "t0 is good." in shown(app, "#details")
        assert "leans no bias shown" in flowing(app)
        await press(app, pilot, "right")
        assert in_sight(app).subject == (KNOWS, "t0")
        await press(app, pilot, "left", "enter")
        assert in_sight(app).subject == (DOUBTS, "t0", "qm", "original")
        assert {key[-1] for key in keys(app)[: len(missed)]} == missed
        assert f"{len(missed)} of {len(rows)} answers missed" in screen_text(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PromptScreen)
        await press(app, pilot, *["escape"] * 4)
        assert isinstance(app.screen, QuestionnaireScreen)
        await press(app, pilot, *to("each_wording"), "down", "enter")
        assert in_sight(app).subject == (DOUBTS, "t0", "qm", "paraphrase-1")


def tokens(app: WorkbenchApp, key: str) -> list[str]:
    """Return what a token's row says, without blanks around it."""
    return [str(cell).strip() for cell in app.screen.query_one(FluidTable).get_row(key)]


@pytest.mark.e2e
async def test_a_prompt_has_its_context_folded_and_unfolds_to_every_answered_question(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *["enter"] * 4)
        assert isinstance(app.screen, PromptScreen)
        missed = next(one for one in predictions_of(judged, DOUBTS, "t0", QM) if not one.correct)
        with Store.open(filled) as store:
            found = prompt_asked(store, judged, DOUBTS, missed.probe)
        text = app.screen.query_one(LongText)
        assert text.lines[0] == f"▸ 10 answered questions of {found.respondent} · u unfolds"
        folded = "\n".join(text.lines)
        assert "t0 is good." in folded
        assert "c3" not in folded
        assert app.screen.table.row_count == len(found.tokens)
        first = found.tokens[0]
        assert tokens(app, "1")[1] == f"“{first.text.replace(' ', '␣')}”"
        assert tokens(app, "1")[3] == number(first.probability, Kind.SHARE)
        assert {tokens(app, str(n))[2] for n in range(1, 12)} <= {"y yes", "n no", "other"}
        origin = shown(app, "#provenance")
        assert "all other tokens" in shown(app, "#about")
        for part in (
            found.provenance.model,
            "float32",
            "qm",
            "code-1",
            f"job {found.provenance.job}",
        ):
            assert part in origin
        await press(app, pilot, "u")
        unfolded = "\n".join(text.lines)
        assert all(f"Should c{n} be so?" in unfolded for n in range(10))
        assert "assistant" in unfolded
        await press(app, pilot, "y")
        assert app.clipboard.count("assistant:") == 10
        await press(app, pilot, "u")
        assert text.lines[0].startswith("▸ 10 answered")
        picture = likeliest(found)
        sizes = [size for bar in picture.bars for _, size in bar.parts]
        assert sizes[: len(found.tokens)] == [one.probability for one in found.tokens]
        await press(app, pilot, "P")
        assert "Next token on t0" in screen_text(app)


@pytest.mark.e2e
async def test_a_prompt_without_context_has_nothing_to_unfold(filled: Path) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "enter", "enter", "down", *["enter"] * 2)
        assert isinstance(app.screen, PromptScreen)
        assert "Your response:" in "\n".join(app.screen.query_one(LongText).lines)
        assert "x Unfold" not in screen_text(app)
        assert "no answers in the context" in shown(app, "#about")


@pytest.mark.e2e
@SIZES
async def test_every_level_fits_and_says_what_its_numbers_mean(
    filled: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        for _ in range(4):
            assert "q Leave" in screen_text(app).splitlines()[-1] or size[0] == 80
            table = in_sight(app)
            await press(app, pilot, "question_mark")
            assert isinstance(app.screen, TextScreen)
            told = shown(app, "#text")
            assert table.title in told
            assert table.definition in told
            assert all(column.help in told for column in table.columns)
            await press(app, pilot, "escape", "enter")
        assert isinstance(app.screen, PromptScreen)
        assert "q Leave" in screen_text(app).splitlines()[-1]
        await press(app, pilot, "question_mark")
        assert "u unfolds the context" in shown(app, "#text")


@pytest.mark.e2e
async def test_the_cursor_stays_on_its_question_through_models_measures_and_conditions(
    filled: Path,
) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "down", "c", "right", "M", "f5", "tab")
        assert screen(app).view.table.current == row_key("t1")


@pytest.mark.e2e
async def test_figures_are_worked_out_beside_the_terminal(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only workers judge and resample: no figure is computed or written out in the thread that
    draws.
    """
    may_go, threads = threading.Event(), []
    load, condition = result_screen.load, PredictionReport.condition

    def slow(*given: Any) -> Any:
        may_go.wait(60)
        return load(*given)

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return condition(*given)

    def written_out(_: Loaded) -> str:
        raise AssertionError("all that was judged is written out")

    monkeypatch.setattr(result_screen, "load", slow)
    monkeypatch.setattr(PredictionReport, "condition", watched)
    monkeypatch.setattr(Loaded, "__repr__", written_out)
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, QuestionnaireScreen) and app.screen.is_mounted
        )
        assert "Judging the answers …" in screen_text(app)
        may_go.set()
        await begin(app, pilot)
        for _ in CONTENTS:
            await press(app, pilot, "down", "up", "tab")
        await press(app, pilot, "c", "enter", "enter")
    assert threads
    assert threading.main_thread() not in threads


# ── the questionnaire itself ──────────────────────────────────────────────────────────────────────


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


@pytest.mark.e2e
async def test_a_role_is_changed_with_a_name_after_saying_what_it_means(fresh: Path) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u")
        assert isinstance(app.screen, QuestionsScreen)
        assert (row(app, "t0")["role"], row(app, "t0")["leaning"]) == ("target", "liberal")
        assert [row(app, "t1")[key] for key in ("yes", "no", "neutral", "missing")] == [
            "10",
            "1",
            "1",
            "0",
        ]
        await press(app, pilot, "o")
        assert "context → target" in screen_text(app)
        await press(app, pilot, "n")
        await press(app, pilot, "o")
        await answer(app, pilot, "ana")
        assert row(app, "c0")["role"] == "target"
        await press(app, pilot, "l")
        await answer(app, pilot, None)  # nobody is asked twice
        assert row(app, "c0")["leaning"] == "liberal"
    with Store.open(fresh) as store:
        found = store.questionnaires.get(NAME)
        assert found is not None
        question = found.questions[0]
        assert (question.role, question.leaning) == (QuestionRole.TARGET, Pole.LIBERAL)
        assert {one.person for one in store.questionnaires.history(NAME)[-2:]} == {"ana"}


@pytest.mark.e2e
async def test_an_answer_is_given_another_meaning_and_the_figures_follow(fresh: Path) -> None:
    app, disagree = WorkbenchApp(fresh, start="questionnaire"), ("agreement", "disagree")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert row(app, "t1")["human"] == "90.9 %"
        await press(app, pilot, "u", "tab")
        assert ("yes_no", "yes") in keys(app)
        await press(app, pilot, *["down"] * keys(app).index(disagree))
        answer_row = row(app, *disagree)
        assert (answer_row["means"], answer_row["given"]) == ("no", str(PEOPLE // 2 + 1))
        assert answer_row["blank"] == "0"
        await press(app, pilot, "e")
        assert "no → neutral" in screen_text(app)
        await answer(app, pilot, "ana")
        assert row(app, *disagree)["means"] == "neutral"
        await press(app, pilot, "escape")
        assert row(app, "t1")["human"] == "100.0 %"
        await press(app, pilot, "u")
        with Store.open(fresh) as store:
            store.questionnaires.set_question(NAME, "c3", role=None, person="ana")
            spec = {"audit": "questionnaire", "instrument": NAME, "model": KNOWS}
            lost = store.jobs.create("sample", spec, 9)
        await press(app, pilot, "escape")
        await until(pilot, lambda: row(app, "t1")[KNOWS].endswith("old"))
        assert "have changed since, so no side is given" in flowing(app)
        assert isinstance(app.screen, QuestionnaireScreen)
        assert f"job {lost} is queued at 0 of 9 prompts" in " ".join(
            app.screen._loaded.source.notes
        )
        with Store.open(fresh) as store:
            store.jobs.request_stop(lost)
        await press(app, pilot, "f5")
        await until(
            pilot,
            lambda: f"job {lost} was cancelled" in " ".join(app.screen._loaded.source.notes),
        )
        with Store.open(fresh) as store:
            store.instruments.add(panel(4, name="second"))
        await press(app, pilot, "f5", "i")
        await until(pilot, lambda: "No model has answered about second yet" in shown(app, "#empty"))
        assert "i: the next of the store's 2 instruments" in shown(app, "#empty")
        assert (shown(app, "#tabs"), shown(app, "#options")) == ("", "second")
    with Store.open(fresh) as store:
        assert store.questionnaires.scales(NAME)["agreement"].meaning("disagree") is Meaning.NEUTRAL


@pytest.mark.e2e
async def test_a_scale_without_the_given_answers_is_refused_and_nothing_changes(
    fresh: Path,
) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u", "end", "a")
        await answer(app, pilot, "ana")
        assert isinstance(app.screen, QuestionsScreen)
        assert app.screen.trouble.shown
        assert "agree" in screen_text(app)
        assert row(app, "t1")["scale"] == "agreement"


@pytest.mark.e2e
async def test_what_was_asked_before_a_change_is_noted_beside_the_figures(fresh: Path) -> None:
    with Store.open(fresh) as store:
        store.questionnaires.set_question(
            NAME, "c0", role=QuestionRole.TARGET, form=Form.QUESTION, person="ana"
        )
        notes = judge_questionnaire(store).notes
    assert len(notes) > 1
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert row(app, "c0")[KNOWS].startswith("undefined")
        assert "the model was not asked" in flowing(app)
        assert f"n: {len(notes)} notes" in judged_by(app)
        await press(app, pilot, "n")
        assert isinstance(app.screen, TextScreen)
        assert all(note in shown(app, "#text") for note in notes)


# ── what is not there, and what is hostile ────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_an_empty_store_says_how_to_begin_and_i_imports_the_shipped_questionnaire(
    tmp_path: Path,
) -> None:
    app = WorkbenchApp(made(tmp_path / "empty.db"), start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "There is nothing to ask about yet" in shown(app, "#empty")
        await press(app, pilot, "I")
        await until(
            pilot, lambda: "No model has answered about veldania_panel yet" in shown(app, "#empty")
        )
        assert f"workbench run {tmp_path / 'empty.db'} --audit questionnaire" in shown(
            app, "#empty"
        )
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


@pytest.mark.e2e
async def test_what_one_model_one_condition_and_one_wording_lack_says_what_to_ask(
    fresh: Path,
) -> None:
    app = WorkbenchApp(fresh, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "B Compare" not in screen_text(app)
        for view, words in {
            "bias_changes": "Nothing to compare for",
            "wordings": "Only the original was asked",
        }.items():
            while app.screen._look.view != view:  # type: ignore[attr-defined]
                await press(app, pilot, "tab")
            assert words in " ".join(shown(app, "#empty").split())
        while app.screen._look.view != CONTENTS[0]:  # type: ignore[attr-defined]
            await press(app, pilot, "tab")
        assert keys(app) == [(ref,) for ref in TARGETS]


def hostile_panel() -> Instrument:
    """A panel whose texts, topics and people's names are what nobody should interpret."""
    base = panel(4)
    texts = [text for text in HOSTILE if text and len(text) < 1000]
    statements = tuple(
        replace(
            statement,
            topic="[/topic]",
            wordings=tuple(
                Wording(
                    w.variant, w.language, f"{texts[n % len(texts)]} {statement.ref} {w.variant}"
                )
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

    def table(yes: float, no: float, *, words: bool = True) -> NextTokenTable:
        tokens: Sequence[str] = ("yes", *(text[:40] for text in HOSTILE if text), "no")
        share = math.log(0.9 / len(tokens))
        return NextTokenTable(tuple((text, share) for text in tokens), 0.1, {"yes": 0.1, "no": 0.1})

    monkeypatch.setattr(questionnaire_stores, "table", table)
    path = made(tmp_path / "hostile.db", hostile_panel())
    with Store.open(path) as store:
        predict(
            store,
            lambda _: (0.1, 0.1),
            card("[bold]model[/x]"),
            variants=("original", "paraphrase-1"),
        )
    return path


@pytest.mark.e2e
async def test_texts_tokens_and_names_are_shown_as_they_stand(hostile: Path) -> None:
    app = WorkbenchApp(hostile, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert "[bold]model[/x]" in screen_text(app)
        for view in (*CONTENTS[1:], CONTENTS[0]):
            await press(app, pilot, "tab")
            assert app.screen._look.view == view  # type: ignore[attr-defined]
            assert "\x1b" not in screen_text(app)
            assert "\u202e" not in screen_text(app)
        await press(app, pilot, "enter", "enter", "enter")
        assert "[red]r00" in screen_text(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PromptScreen)
        await press(app, pilot, "u")
        text = screen_text(app)
        assert "\x1b" not in text
        assert any(
            "[bold]" in line or "[/" in line for line in app.screen.query_one(LongText).lines
        )
        found = [tokens(app, key)[1] for key in app.screen.table.keys]
        assert any("␛" in token for token in found)
        assert any("\\u202e" in token for token in found)
        await press(app, pilot, *["escape"] * 4, "u")
        assert "[/topic]" in screen_text(app)


# ── from elsewhere ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_home_says_how_well_the_newest_model_predicts_and_leads_here(
    filled: Path, judged: QuestionnaireJudged
) -> None:
    of = judged.reports[DOUBTS].condition(QM)
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and "predicts" in screen_text(app)
        )
        text = screen_text(app)
        assert f"predicts {number(of.accuracy.value, Kind.SHARE)}" in text
        facts = app.screen.query_one(OptionList)
        facts.highlighted = [option.id for option in facts.options].index(
            "questionnaire:questionnaire:"
        )
        await press(app, pilot, "enter")
        await begin(app, pilot)


@pytest.mark.e2e
async def test_8_opens_it(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "8")
        await begin(app, pilot)
    assert "questionnaire" in app.MODES


@pytest.mark.e2e
async def test_every_action_is_in_the_command_palette(filled: Path) -> None:
    app = WorkbenchApp(filled, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("targets"), "f1")
        told = shown(app, "#text")
        for words in (
            "qm, zero-shot, random",
            "published rules",
            "tokens over which",
            "Compare runs",
            "Open: questionnaire",
        ):
            assert words in told
