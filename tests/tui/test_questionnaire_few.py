"""Few people, other people, and one figure larger than another: what the questionnaire screen must not hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.store import Store
from tests.questionnaire_stores import TARGETS, Masses, Predict, card, ideal, panel, predict
from tests.tui.conftest import made, screen_text, shown, until
from tests.tui.test_questionnaire_screen import begin, cells, press, settled, table, to
from workbench.audits.questionnaire_figures import Condition
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.pipeline.questionnaire import questionnaire
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.questionnaire import QuestionnaireScreen
from workbench.tui.screens.questionnaire_questions import QuestionsScreen
from workbench.tui.screens.questionnaire_view import AVERAGE, AXIS, model_order

PEOPLE = 12
ALL, SOME, ONE = "all-7b", "some-7b", "one-7b"
QM = Condition("qm")


def only(people: tuple[str, ...], masses: Masses) -> Predict:
    """Return a model that says the same of everybody, and fails on all but these people."""

    def by(probe: Probe) -> Masses | str:
        return masses if dict(probe.axes).get("respondent") in people else "out of memory"

    return by


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one model was asked about everybody, one about three people, one about a single person."""
    path = made(tmp_path_factory.mktemp("few") / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, only(("r03",), (0.8, 0.1)), card(ONE))
        predict(store, only(("r01", "r03", "r05"), (0.9, 0.05)), card(SOME))
        predict(store, lambda _: (0.1, 0.8), card(ALL), conditions=("qm", "zero-shot"))
    return path


def column(model: str) -> int:
    return 3 + (ALL, ONE, SOME).index(model)


async def test_people_and_n_are_those_of_the_chosen_model(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert cells(app, "t0")[1:3] == ["50 % yes", str(PEOPLE)]
        assert "not the same people: all-7b 12 · one-7b 1 · some-7b 3" in shown(app, "#details")
        await press(app, pilot, "right", "right")
        assert cells(app, "t0")[1:3] == ["0 % yes", "3"]
        await press(app, pilot, "s")
        assert cells(app, "t0")[1:3] == ["100 %", "3"]


async def test_models_stand_by_name_whoever_was_asked_last(uneven: Path) -> None:
    with Store.open(uneven) as store:
        judged = questionnaire(store)
    assert model_order(judged) == (ALL, ONE, SOME)
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        text = screen_text(app)
        assert text.index("▸all-7b") < text.index(" one-7b") < text.index(" some-7b")


async def test_few_people_are_marked_in_questions_means_and_with_a_single_one(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        for key in (*TARGETS, AVERAGE, AXIS):
            row = cells(app, key)
            assert row[column(SOME)].endswith("·"), key
            assert row[column(ONE)].endswith("·"), key
            assert not row[column(ALL)].endswith("·"), key
        await press(app, pilot, "right", "right", "end", "up")
        assert table(app).current == AVERAGE
        assert f"fewer than {LEAST_RESPONDENTS} respondents" in shown(app, "#details")
        await press(app, pilot, "s")
        assert cells(app, AVERAGE)[column(SOME)].endswith("·")


async def test_a_comparison_with_a_model_of_few_people_has_no_side(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "d", "right", "right", "d")
        for key in (*TARGETS, AVERAGE):
            assert cells(app, key)[-1].endswith("·"), key
        assert "few respondents" in shown(app, "#details").splitlines()[-2]


async def test_a_correlation_over_figures_of_few_people_says_so_and_has_no_side(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("correlation"))
        assert cells(app, AVERAGE)[-1].endswith("·")
        assert f"4 of 6 figures rest on fewer than {LEAST_RESPONDENTS} respondents" in shown(app, "#details")


async def test_the_axis_of_few_people_has_no_side(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("axis"))
        assert cells(app, SOME)[-1].endswith("·")
        assert cells(app, ONE)[-1].endswith("·")
        await press(app, pilot, "end")
        assert "no side: · few respondents" in shown(app, "#details")


async def test_a_pole_is_named_only_where_the_interval_leaves_0_out(tmp_path: Path) -> None:
    path = made(tmp_path / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, lambda probe: (0.4, 0.5) if probe.statement == "t0" else (0.1, 0.8), card(ALL))
    app = WorkbenchApp(path, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        said = shown(app, "#details").splitlines()[2]
        assert "neither side" in said
        assert "conservative" not in said
        await press(app, pilot, "down")
        assert "liberal" in shown(app, "#details").splitlines()[2]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_an_ablation_names_its_measure_and_what_its_first_column_is(uneven: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("ablation"))
        assert "Δ bias against qm" in shown(app, "#tabs")
        assert "cells: Δ bias against qm, points; first column: Δ mean |bias|" in shown(app, "#options")
        assert "Δ|bias|" in screen_text(app)
        await press(app, pilot, "s")
        assert "Δ accuracy against qm" in shown(app, "#tabs")
        assert "Δ mean" in screen_text(app)


async def test_a_condition_without_figures_says_why(tmp_path: Path) -> None:
    path = made(tmp_path / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, ideal(store), card(ALL))
        predict(store, lambda p: (0.0, 0.0) if dict(p.axes)["condition"] == "random" else (0.5, 0.4), card(ALL),
                conditions=("qm", "random"))  # fmt: skip
    app = WorkbenchApp(path, start="questionnaire")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("ablation"), "down")
        assert table(app).current == "random"
        assert "no figure: no respondent could be read on both sides" in shown(app, "#details")
        assert "no question's bias changes" not in shown(app, "#details")


async def test_o_puts_the_largest_figure_of_the_chosen_model_first_and_back(uneven: Path) -> None:
    with Store.open(uneven) as store:
        figures = questionnaire(store).reports[ALL].condition(QM).targets
    by_size = sorted((one.target for one in figures), key=lambda ref: -abs(_bias(figures, ref)))
    assert by_size == ["t1", "t0"]
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert table(app).keys[:2] == TARGETS
        await press(app, pilot, "o")
        assert table(app).keys[:2] == tuple(by_size)
        assert "by size, o: as asked" in shown(app, "#options").replace("\n", " ")
        await press(app, pilot, "o")
        assert table(app).keys[:2] == TARGETS


def _bias(figures: tuple[object, ...], ref: str) -> float:
    return next(float(one.bias.value) for one in figures if one.target == ref)  # type: ignore[attr-defined]


async def test_the_table_from_before_is_dimmed_while_the_store_is_read(
    uneven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        screen = app.screen
        assert isinstance(screen, QuestionnaireScreen)
        body = screen.query_one("#body")
        assert not body.has_class("-old")
        monkeypatch.setattr(QuestionnaireScreen, "read_store", lambda *_: None)
        await press(app, pilot, "1", "8")
        assert body.has_class("-old")
        assert body.styles.opacity < 1
        assert "As before; reading" in screen_text(app)
        monkeypatch.undo()
        await press(app, pilot, "r")
        await until(pilot, lambda: not body.has_class("-old") and "3 models" in screen_text(app))


async def test_8_inside_the_questions_leads_up_to_the_results(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u")
        assert isinstance(app.screen, QuestionsScreen)
        await press(app, pilot, "8")
        await until(pilot, lambda: isinstance(app.screen, QuestionnaireScreen) and settled(app))


async def test_home_judges_anew_when_a_job_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.screens.home.REFRESH_S", 0.1)
    monkeypatch.setattr("workbench.tui.screens.home.IDLE_TICKS", 1)
    path = made(tmp_path / "panel.db", panel(PEOPLE))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "checking" not in screen_text(app))
        assert "Predictions" not in screen_text(app)
        with Store.open(path) as store:
            predict(store, ideal(store), card(ALL))
        await until(pilot, lambda: "predicts 100.0 %" in screen_text(app))
        with Store.open(path) as store:  # the same prompts of the same number, by another model
            predict(store, lambda _: (0.1, 0.8), card(SOME))
        await until(pilot, lambda: f"Predictions {SOME}" in screen_text(app).replace("  ", " "))
        text = screen_text(app)
        line = next(line for line in text.splitlines() if "mean |bias|" in line)
        assert "2 questions · qm · panel" in line
        assert "!" not in line
        with Store.open(path) as store, store.write() as connection:
            connection.execute("update job set state = 'cancelled', done = 3, total = 40")
        await until(pilot, lambda: "is cancelled at 3 of 40 prompts; figures will change." in screen_text(app))


async def test_home_shows_the_key_of_the_predictions(uneven: Path) -> None:
    app = WorkbenchApp(uneven)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Predictions" in screen_text(app))
        footer = screen_text(app).splitlines()[-1]
        assert ("8 People" in footer, "4 Audit" in footer, "9 Choices" in footer) == (True, True, True)
        await press(app, pilot, "p")
        await until(pilot, lambda: isinstance(app.screen, QuestionnaireScreen))
        assert "q Leave" in footer
