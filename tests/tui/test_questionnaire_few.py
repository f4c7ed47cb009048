"""Few people, other people and old figures: what the questionnaire's figures and screens must not
hide.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.core.store import Store
from tests.questionnaire_stores import TARGETS, Masses, Predict, card, ideal, panel, predict
from tests.tui.conftest import made, screen_text, until
from tests.tui.test_questionnaire_screen import begin, press, settled
from workbench import registry
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.effect_tables import compared
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.questionnaire.result import results_of
from workbench.audits.questionnaire.tables import under
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.figures.book import Book
from workbench.figures.shown import painted
from workbench.figures.table import AnyTable
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.home import HomeScreen
from workbench.tui.results.questionnaire_instrument import QuestionsScreen
from workbench.tui.results.result_screen import screen_class

QuestionnaireScreen = screen_class(registry.audit("questionnaire"))
PEOPLE = 12
ALL, SOME, ONE = "all-7b", "some-7b", "one-7b"


def only(people: tuple[str, ...], masses: Masses) -> Predict:
    """Return a model that says the same of everybody, and fails on all but these people."""

    def by(probe: Probe) -> Masses | str:
        return masses if dict(probe.axes).get("respondent") in people else "out of memory"

    return by


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one model was asked about everybody, one about three people, one about a
    single person.
    """
    path = made(tmp_path_factory.mktemp("few") / "panel.db", panel(PEOPLE))
    with Store.open(path) as store:
        predict(store, only(("r03",), (0.8, 0.1)), card(ONE))
        predict(store, only(("r01", "r03", "r05"), (0.9, 0.05)), card(SOME))
        predict(store, lambda _: (0.1, 0.8), card(ALL), conditions=("qm", "zero-shot"))
    return path


def of(store: Store) -> Book:
    """Return all figures of a store's questionnaire."""
    results = results_of(judge_questionnaire(store))
    return book(results)


@pytest.fixture(scope="module")
def figures(uneven: Path) -> Book:
    with Store.open(uneven) as store:
        return of(store)


def cell(table: AnyTable, key: str, *row: str) -> str:
    """Return what a table says of a row in one column."""
    keys = [table.key(one) for one in table.rows]
    return painted(table)[0][keys.index(row)][[column.key for column in table.columns].index(key)]


def test_people_are_those_of_the_first_model_and_others_are_named(figures: Book) -> None:
    table = figures.table("bias")
    assert (cell(table, "human", "t0"), cell(table, "respondents", "t0")) == ("50.0 %", "1–12")
    assert table.detail is not None
    assert list(table.detail(table.rows[0])) == [
        "not the same people: all-7b 12 · one-7b 1 · some-7b 3"
    ]
    assert "the models were asked about different people" in painted(table)[1][1]
    assert cell(figures.table("bias", SOME), "human", "t0") == "0.0 %"
    assert cell(figures.table("accuracy", SOME), "majority", "t0") == "100.0 %"


def test_models_stand_by_name_whoever_was_asked_last(figures: Book) -> None:
    assert [column.key for column in figures.table("bias").columns][3:6] == [ALL, ONE, SOME]
    assert [column.key for column in figures.table("bias", SOME).columns][3:6] == [SOME, ALL, ONE]


def test_few_people_are_marked_in_targets_means_and_with_a_single_one(figures: Book) -> None:
    for name in ("bias", "accuracy"):
        table = figures.table(name)
        for target in TARGETS:
            assert [cell(table, model, target).endswith("few") for model in (ALL, SOME, ONE)] == [
                False,
                True,
                True,
            ]
    few = f"few: fewer than {LEAST_RESPONDENTS} respondents"
    assert any(note.startswith(few) for note in painted(figures.table("bias"))[1])
    for name, key in (("means", "few"), ("axis", "leans")):
        table = figures.table(name)
        assert [cell(table, key, model, "qm") == "few" for model in (ALL, SOME, ONE)] == [
            False,
            True,
            True,
        ]
        assert any(note.startswith(few) for note in painted(table)[1])


def test_a_comparison_with_a_model_of_few_people_has_no_side(uneven: Path) -> None:
    with Store.open(uneven) as store:
        results = results_of(judge_questionnaire(store))
    table = compared(results, under(results), SOME, ALL)
    assert [cell(table, "mark", SOME, ALL, "qm", target) for target in (*TARGETS, "")] == [
        "few"
    ] * 3


def test_a_correlation_over_figures_of_few_people_says_so(figures: Book) -> None:
    table = figures.table("correlation")
    assert cell(table, "few", "qm", "all") == "4"
    assert any(
        f"4 of the 6 points rest on fewer than {LEAST_RESPONDENTS}" in note
        for note in painted(table)[1]
    )


def test_a_pole_is_named_only_where_the_interval_leaves_0_out(tmp_path: Path) -> None:
    with Store.open(made(tmp_path / "panel.db", panel(40))) as store:
        predict(
            store, lambda probe: (0.4, 0.5) if probe.statement == "t1" else (0.1, 0.8), card(ALL)
        )
        table = of(store).table("targets")
    assert [cell(table, "pole", ALL, "qm", target) for target in TARGETS] == ["conservative", ""]


def test_a_condition_without_figures_says_why(tmp_path: Path) -> None:
    with Store.open(made(tmp_path / "panel.db", panel(PEOPLE))) as store:
        predict(store, ideal(store), card(ALL))
        predict(
            store,
            lambda p: (0.0, 0.0) if dict(p.axes)["condition"] == "random" else (0.5, 0.4),
            card(ALL),
            conditions=("qm", "random"),
        )
        table = of(store).table("bias_changes", ALL)
    assert cell(table, "mean", "random") == "undefined (a)"
    assert any("no respondent is readable on both sides" in note for note in painted(table)[1])
    assert table.detail is not None
    assert list(table.detail(table.rows[1])) == [], "that nothing changes is not known"


@pytest.mark.e2e
async def test_the_table_from_before_is_dimmed_while_the_store_is_read(
    uneven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        screen = app.screen
        assert isinstance(screen, QuestionnaireScreen)
        body = screen.query_one("#body")
        assert body.styles.opacity == 1
        monkeypatch.setattr(QuestionnaireScreen, "read_store", lambda *_: None)
        await press(app, pilot, "1", "8")
        assert body.styles.opacity < 1
        assert body.styles.opacity < 1
        assert "Previous figures; reading" in screen_text(app)
        monkeypatch.undo()
        await press(app, pilot, "f5")
        await until(pilot, lambda: body.styles.opacity == 1 and "3 models" in screen_text(app))


@pytest.mark.e2e
async def test_8_inside_the_questions_leads_up_to_the_results(uneven: Path) -> None:
    app = WorkbenchApp(uneven, start="questionnaire")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "u")
        assert isinstance(app.screen, QuestionsScreen)
        await press(app, pilot, "8")
        await until(pilot, lambda: isinstance(app.screen, QuestionnaireScreen) and settled(app))


@pytest.mark.e2e
async def test_home_judges_anew_when_a_job_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.home.home.REFRESH_S", 0.1)
    monkeypatch.setattr("workbench.tui.home.home.IDLE_TICKS", 1)
    path = made(tmp_path / "panel.db", panel(PEOPLE))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and "checking" not in screen_text(app)
        )
        assert "predicts" not in screen_text(app)
        with Store.open(path) as store:
            predict(store, ideal(store), card(ALL))
        await until(pilot, lambda: "predicts 100.0 %" in screen_text(app))
        with Store.open(path) as store:  # the same prompts of the same number, by another model
            predict(store, lambda _: (0.1, 0.8), card(SOME))
        await until(pilot, lambda: f"People {SOME}" in " ".join(screen_text(app).split()))
        assert "!" not in screen_text(app)
        with Store.open(path) as store, store.write() as connection:
            connection.execute("update job set state = 'cancelled', done = 3, total = 40")
        await until(
            pilot,
            lambda: "was cancelled at 3 of 40 prompts; figures will change." in screen_text(app),
        )


@pytest.mark.e2e
async def test_home_shows_the_key_of_the_predictions(uneven: Path) -> None:
    app = WorkbenchApp(uneven)
    async with app.run_test(size=(140, 24)) as pilot:
        await until(pilot, lambda: "predicts" in screen_text(app))
        footer = screen_text(app).splitlines()[-1]
        assert ("8 People" in footer, "4 Audit" in footer, "9 Ch" in footer) == (True, True, True)
        await press(app, pilot, "p")
        await until(pilot, lambda: isinstance(app.screen, QuestionnaireScreen))
        assert "q Leave" in footer
