"""The results screen draws the bias score as the report has it, and leads from every number down to the answers."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from textual.coordinate import Coordinate
from textual.pilot import Pilot

from stores.store import Store
from tests.tui.bias_stores import HOSTILE_REF, MODELS, asked, full, labelled, sided, trained, unsided
from tests.tui.conftest import HOSTILE, flowing, made, screen_text, shown, until
from workbench.domain.statements import Dimension
from workbench.pipeline.bias import INSTRUMENT, PEOPLE, BiasChoice, BiasJudged, bias
from workbench.pipeline.training import THRESHOLDS
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import visible
from workbench.tui.results.classifier import ClassifierScreen
from workbench.tui.screens import results_options, results_view
from workbench.tui.screens.answers import WholeAnswerScreen
from workbench.tui.screens.bias_statement import BiasResponsesScreen, BiasStatementsScreen
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.results import ResultsScreen, ResultsTable
from workbench.tui.screens.results_format import number
from workbench.tui.screens.results_options import BiasOptionsScreen
from workbench.tui.screens.results_view import Settings
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.plane import FULL, Interval, Plane, Point, Scale, draw, fitted

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
FEW = 200
"draws, where intervals do not matter"


# ── the picture ─────────────────────────────────────────────────────────────────────────────────────────────────────


def at(letter: str, x: float, y: float, mark: str = "●", reach: float = 0.0) -> Point:
    ends = [(v - reach, v + reach) if reach else (math.nan, math.nan) for v in (x, y)]
    return Point(letter, Interval(x, *ends[0]), Interval(y, *ends[1]), mark)


def picture(points: list[Point], scale: Scale = FULL, width: int = 66, height: int = 22) -> list[str]:
    """Return rows of a picture whose inner part is 60 x 21: rows are 0.1, columns 2/59 of the plane."""
    return ["".join(sign for sign, _ in row) for row in draw(points, width, height, scale)]


def test_every_row_is_as_wide_as_asked_for_and_too_little_room_draws_nothing() -> None:
    for width, height in ((66, 22), (24, 5), (200, 60)):
        rows = picture([at("A", 0.3, -0.3, reach=0.2)], width=width, height=height)
        assert [len(row) for row in rows] == [width] * height
    assert {sign for row in picture([at("A", 0, 0)], width=10, height=3) for sign in row} == {" "}


def test_a_mark_stands_where_its_values_are_and_its_letter_beside_it() -> None:
    rows = picture([at("A", -1, 1), at("B", 1, -1), at("C", 0.5, 0.3)])
    assert rows[0][5:7] == "●A"
    assert rows[20][63:65] == "B●"
    assert rows[7][5 + round(0.75 * 59)] == "●"
    assert rows[7][5 + round(0.75 * 59) + 1] == "C"


def test_the_axes_go_through_0_and_their_ends_are_named() -> None:
    rows = picture([])
    assert "economic left" in rows[10]
    assert "economic right" in rows[10]
    assert rows[10].startswith("   0 ")
    assert "┊ cultural right" in rows[0]
    assert "┊ cultural left" in rows[20]
    assert rows[0].startswith("+1.0")
    assert rows[21].split() == ["-1.0", "0", "+1.0"]


def test_the_cross_reaches_as_far_as_both_intervals() -> None:
    rows = picture([Point("A", Interval(0.0, -0.5, 0.5), Interval(0.5, 0.2, 0.8))])
    row, column = 5, 5 + 30
    assert (rows[row].index("├"), rows[row].rindex("┤")) == (5 + 15, 5 + 44)
    assert rows[row][column : column + 2] == "●A"
    assert (rows[2][column], rows[8][column]) == ("┬", "┴")
    assert {rows[line][column] for line in (3, 4, 6, 7)} == {"│"}


def test_points_on_one_place_stand_beside_each_other_with_their_own_marks() -> None:
    rows = picture([at("A", 0.5, 0.5), at("B", 0.5, 0.5), at("C", 0.5, 0.5, "○")])
    assert "●AB○C" in rows[5]


def test_neighbouring_points_do_not_hide_each_other() -> None:
    step = 2 / 59
    rows = picture([at("A", 0.5, 0.5), at("B", 0.5 + step, 0.5), at("C", 0.5 + 2 * step, 0.5)])
    assert "●●●" in rows[5]
    text = "\n".join(rows)
    assert all(text.count(letter) == 1 for letter in "ABC")


def test_many_points_on_the_edge_still_have_every_letter() -> None:
    points = [at(letter, 1, 1 - 0.1 * (n % 3)) for n, letter in enumerate("ABCDEFGHI")]
    text = "\n".join(picture(points))
    assert all(letter in text for letter in "ABCDEFGHI")


def test_what_lies_beyond_the_scale_is_drawn_at_its_edge_with_arrows() -> None:
    point = Point("A", Interval(0.9, 0.2, 1.0), Interval(0.0, -0.4, 0.05))
    rows = picture([point], Scale(-0.5, 0.5, -0.1, 0.1))
    row = next(line for line in rows if "●" in line)
    assert row[64] == "●"
    assert row[63] == "A"
    assert rows[20][64] == "▾"


def test_a_point_without_a_coordinate_is_not_drawn() -> None:
    undefined = Point("A", Interval(math.nan), Interval(0.5))
    assert picture([undefined]) == picture([])
    assert not undefined.placed


def test_the_near_scale_holds_all_intervals_and_0_with_one_unit_on_both_axes() -> None:
    scale = fitted([Point("A", Interval(-0.3, -0.62, -0.1), Interval(0.2, 0.1, 0.31))])
    assert scale.left <= -0.62
    assert scale.right == 0
    assert scale.top >= 0.31
    assert scale.bottom <= 0
    assert math.isclose(scale.right - scale.left, scale.top - scale.bottom)
    assert fitted([]) == FULL
    assert fitted([Point("A", Interval(-1, -1, 1), Interval(0))]) == FULL


# ── the screen ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with answers, labels and a classifier; tests of the screen only read it."""
    return full(tmp_path_factory.mktemp("results") / "audit.db")


@pytest.fixture(scope="module")
def judged(filled: Path) -> BiasJudged:
    with Store.open(filled) as store:
        return bias(store)


async def on_results(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    """Show the results, and wait for the first view or for what stands in its place."""
    if "results" not in app.MODES:
        app.add_mode("results", ResultsScreen)
    await app.switch_mode("results")
    await until(pilot, lambda: settled(app))


def settled(app: WorkbenchApp) -> bool:
    """Whether the results screen shows what it was last asked for."""
    screen = app.screen
    if not isinstance(screen, ResultsScreen) or not screen.is_mounted:
        return False
    running = any(not worker.is_finished for worker in app.workers)
    said = screen.query_one("#empty").has_class("-shown")
    return not running and (
        (screen._shown.look == screen._look and bool(screen._judged)) or (said and bool(screen._loaded))
    )


async def press(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, each when the view before is there."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        await until(pilot, lambda: not isinstance(app.screen, ResultsScreen) or settled(app))


def table(app: WorkbenchApp, view: str) -> ResultsTable:
    return app.screen.query_one(f"#{view}", ResultsTable)


def cells(app: WorkbenchApp, view: str) -> list[dict[str, str]]:
    """Return the cells of a view as they are shown, by column."""
    found = table(app, view)
    keys = [str(column.key.value) for column in found.ordered_columns]
    return [
        {key: str(found.get_cell_at(Coordinate(row, n))).strip() for n, key in enumerate(keys)}
        for row in range(found.row_count)
    ]


def to(view: str) -> list[str]:
    """Return the keys that lead from the plane to a view."""
    return ["right_square_bracket"] * results_view.VIEWS.index(view)


def test_names_of_readers_and_thresholds_are_those_of_the_pipeline() -> None:
    assert (results_view.PEOPLE, results_view.INSTRUMENT) == (PEOPLE, INSTRUMENT)
    assert results_options.THRESHOLDS == THRESHOLDS
    assert Settings().choice() == BiasChoice()


@SIZES
async def test_the_plane_shows_the_numbers_of_the_report(
    filled: Path, judged: BiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        rows = cells(app, "plane")
        for letter, row, point in zip("ABC", rows, judged.report.plane(), strict=True):
            assert row["model"] == f"●{letter} {point.model}"
            assert row["total"] == number(judged.report.figure(point.model).total)
            assert row["economic"] == number(point.economic.total)
            assert row["cultural"] == number(point.cultural.total)
        drawn = app.screen.query_one(Plane).points
        assert [(p.letter, p.x.value, p.y.value) for p in drawn] == [
            (letter, p.economic.total.value, p.cultural.total.value)
            for letter, p in zip("ABC", judged.report.plane(), strict=True)
        ]
        assert (drawn[0].x.low, drawn[0].y.high) == (
            judged.report.plane()[0].economic.total.low,
            judged.report.plane()[0].cultural.total.high,
        )
        text = screen_text(app)
        assert "●A" in text
        assert "economic left" in text
        figure = judged.report.figure(judged.report.tally.models[0])
        assert number(figure.left) in shown(app, "#details")
        assert f"{figure.dropped:,} below 0.9" in shown(app, "#details")
        assert f"{figure.unrelated:,} unrelated" in shown(app, "#details")
        assert "bart-stance ≥0.9" in shown(app, "#options")
        assert "seed 1" in shown(app, "#options")


async def test_sources_have_marks_of_their_own_and_x_goes_near(filled: Path, judged: BiasJudged) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        plane = app.screen.query_one(Plane)
        assert plane.scale == FULL
        await press(app, pilot, "x")
        assert plane.scale == fitted(plane.points) != FULL
        await press(app, pilot, "s")
        assert [point.mark for point in plane.points] == ["●", "○"] * 3
        points = judged.report.plane(by_source=True)
        rows = cells(app, "plane")
        assert [row["economic"] for row in rows] == [number(p.economic.total) for p in points]
        assert rows[1]["model"].startswith("○A WVS")
        assert plane.points[0].chosen
        await press(app, pilot, "down", "down", "down")
        assert [point.chosen for point in plane.points].index(True) == 3


@SIZES
async def test_prefixes_show_their_totals_and_what_likert_and_baseline_add(
    filled: Path, judged: BiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("prefixes"))
        model = judged.report.tally.models[0]
        for row, (prefix, figure) in zip(cells(app, "prefixes"), judged.report.by_prefix(model), strict=True):
            assert row["name"] == prefix
            assert row["bias"] == number(figure.total)
            assert row["n"] == f"{figure.total.n:,}"
            assert "●" in row["bar"]
        for prefix in ("likert", "baseline"):
            found = judged.report.prefix_deviation(model, prefix)
            assert f"{prefix} minus the mean of the other prefixes: {number(found)}" in shown(app, "#details")
        await press(app, pilot, "d")
        economic = judged.report.by_prefix(model, Dimension.ECONOMIC)
        assert [row["bias"] for row in cells(app, "prefixes")] == [number(figure.total) for _, figure in economic]
        await press(app, pilot, "right")
        second = judged.report.tally.models[1]
        economic = judged.report.by_prefix(second, Dimension.ECONOMIC)
        assert [row["bias"] for row in cells(app, "prefixes")] == [number(figure.total) for _, figure in economic]
        assert f"B {second}" in shown(app, "#tabs")


async def test_wordings_sources_and_models_show_the_report(filled: Path, judged: BiasJudged) -> None:
    app, report = WorkbenchApp(filled), judged.report
    a, b, _ = report.tally.models
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("wordings"))
        expected = [(name, number(f.total)) for name, f in report.by_variant(a)]
        expected += [(f"by {name}", number(f.total)) for name, f in report.by_author(a)]
        assert [(row["name"], row["bias"]) for row in cells(app, "wordings")] == expected
        await press(app, pilot, "tab")
        rows = cells(app, "sources")
        assert [row["bias"] for row in rows[:2]] == [number(f.total) for _, f in report.by_source(a)]
        pct, wvs = (
            results_view.shown(report, replace(app_look(app), view="sources")).lines[n].selection for n in (0, 1)
        )
        assert pct is not None
        assert wvs is not None
        assert rows[2]["name"] == "PCT − WVS"
        assert rows[2]["bias"] == number(report.difference(a, pct, wvs))
        tau = report.rank_agreement("PCT", "WVS")
        assert f"Kendall's τ of PCT, WVS on 3 models: {tau.tau.value:.2f}" in shown(app, "#details")
        await press(app, pilot, "tab")
        rows = cells(app, "models")
        assert rows[0]["a"] == number(report.figure(a).total)
        assert rows[0]["b"] == number(report.figure(b).total)
        assert rows[0]["difference"] == number(report.compare(a, b))
        likert = next(row for row in rows if row["name"] == "likert")
        assert likert["difference"] == number(report.compare(a, b, prefix="likert"))
        await press(app, pilot, "right", "right")
        assert "B − C" in shown(app, "#tabs")


def app_look(app: WorkbenchApp) -> Any:
    screen = app.screen
    assert isinstance(screen, ResultsScreen)
    return screen._look


@SIZES
async def test_statements_are_counted_and_ordered_by_what_they_add(
    filled: Path, judged: BiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, "left_square_bracket")
        rows = {row.ref: row for row in judged.report.statements(judged.report.tally.models[0])}
        shown_rows = cells(app, "statements")
        assert len(shown_rows) == len(rows) == 16
        sizes = [abs(rows[cell["ref"]].contribution) for cell in shown_rows]
        assert sizes == sorted(sizes, reverse=True)
        for cell in shown_rows:
            row = rows[cell["ref"]]
            counts = [value for key, value in cell.items() if key not in ("ref", "side", "adds", "bar", "rest", "out")]
            assert counts == [str(n) for n in (row.agree, row.disagree, row.neutral, row.unrelated)]
            assert float(cell["adds"]) == pytest.approx(row.contribution, abs=5e-4)
        assert f"{shown_rows[0]['ref'].replace('-', ' ')}, original." in shown(app, "#details")
        await press(app, pilot, "s")
        assert [row["ref"] for row in cells(app, "statements")] == list(rows)


async def test_enter_leads_from_a_prefix_to_statements_to_answers_to_the_text(filled: Path, judged: BiasJudged) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("prefixes"), "down", "enter")
        screen = app.screen
        assert isinstance(screen, BiasStatementsScreen)
        assert "prefix opinion" in shown(app, "#about")
        ref = screen.table.current
        assert ref is not None
        row = next(r for r in screen._rows if r.ref == ref)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BiasResponsesScreen) and app.screen.table.row_count > 0)
        screen = app.screen
        assert isinstance(screen, BiasResponsesScreen)
        answers = screen._page.rows
        assert {answer.template for answer in answers} == {"opinion"}
        kept = [a for a in answers if screen._readers.kind(a) in ("agree", "disagree", "neutral", "unrelated")]
        assert sum(a.count for a in kept) == row.agree + row.disagree + row.neutral + row.unrelated
        assert answers[0].text in shown(app, "#text")
        assert answers[0].wording in shown(app, "#text")
        assert f"seed {answers[0].seed}" in shown(app, "#provenance")
        assert "workbench 9.9" in shown(app, "#provenance")
        assert "bart-stance, confidence 0.9" in shown(app, "#reading")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, WholeAnswerScreen)
        assert app.screen.query_one(LongText).lines == [answers[0].text]
        await pilot.press("escape", "escape", "escape")
        await until(pilot, lambda: settled(app))
        assert table(app, "prefixes").current == "1"


async def test_wordings_lead_to_the_answers_to_that_wording_alone(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("wordings"), "down", "down", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, BiasResponsesScreen) and app.screen.table.row_count > 0)
        screen = app.screen
        assert isinstance(screen, BiasResponsesScreen)
        assert {row.kind for row in screen._page.rows} == {"political_opposite"}
        flipped = next(n for n, r in enumerate(screen._page.rows) if screen._readers.kind(r) in ("agree", "disagree"))
        screen.table.show_row(flipped)
        await pilot.pause()
        assert "on the opposite, so it counts as" in shown(app, "#reading")


async def test_f_shows_one_reading_after_another(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, BiasResponsesScreen) and app.screen.table.row_count > 0)
        screen = app.screen
        assert isinstance(screen, BiasResponsesScreen)
        every = screen._page.rows
        for kind in ("agree", "disagree", "neutral", "unrelated", "below", "not read"):
            await pilot.press("f")
            await until(pilot, partial(shows, screen, kind))
            expected = [row for row in every if screen._readers.kind(row) == kind]
            assert list(screen._page.rows) == expected
            assert screen.query_one("#empty").display == (not expected)


def shows(screen: BiasResponsesScreen, kind: str) -> bool:
    return screen._page.kind == kind


@SIZES
async def test_hostile_answers_are_shown_literally(filled: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("statements"), "s")
        refs = [row["ref"] for row in cells(app, "statements")]
        table(app, "statements").show_row(refs.index(HOSTILE_REF))
        await press(app, pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, BiasResponsesScreen) and app.screen.table.row_count > 0)
        screen = app.screen
        assert isinstance(screen, BiasResponsesScreen)
        assert {row.text for row in screen._page.rows} >= set(HOSTILE)
        for place, row in enumerate(screen._page.rows):
            screen.table.show_row(place)
            await pilot.pause()
            assert (visible(row.text[:1000], lines=True) or "(empty answer)") in shown(app, "#text")
            assert "\x1b" not in screen_text(app)
            assert "\u202e" not in screen_text(app)
        place = next(n for n, row in enumerate(screen._page.rows) if len(row.text) == 100_000)
        screen.table.show_row(place)
        await pilot.press("enter")
        await pilot.pause()
        assert "".join(app.screen.query_one(LongText).lines) == "a" * 100_000


async def test_options_change_the_figures_and_are_always_in_sight(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        before = cells(app, "plane")
        await press(app, pilot, "o")
        assert isinstance(app.screen, BiasOptionsScreen)
        await pilot.press("down", "down", *["left"] * 4, "down", "space", "end", "right", "up", "left", "up", "space")
        chosen = app.screen.settings
        assert (chosen.threshold, chosen.correct, chosen.seed, chosen.draws, chosen.unit) == (
            0.6, True, 2, 1000, "responses",
        )  # fmt: skip
        await pilot.press("enter")
        await until(pilot, lambda: settled(app) and "≥0.6" in shown(app, "#options"))
        with Store.open(filled) as store:
            expected = bias(store, BiasChoice(threshold=0.6, correct=True, seed=2, draws=1000, unit="responses"))
        after = cells(app, "plane")
        assert after != before
        assert [row["total"] for row in after] == [
            number(expected.report.figure(model).total) for model in expected.report.tally.models
        ]
        for words in ("error corrected", "resampled responses", "seed 2", "1,000 draws"):
            assert words in shown(app, "#options")
        await press(app, pilot, "m")
        assert isinstance(app.screen, TextScreen)
        assert shown(app, "#text") == expected.report.methods()


async def test_models_and_peoples_labels_can_be_chosen(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, "o")
        await pilot.press("down", "space", "down", "down", "space", "enter")
        await until(pilot, lambda: settled(app) and "people" in shown(app, "#options"))
        with Store.open(filled) as store:
            models = tuple(MODELS)[1:]
            expected = bias(store, BiasChoice(reader="people", models=models))
        assert [row["total"] for row in cells(app, "plane")] == [
            number(expected.report.figure(model).total) for model in expected.report.tally.models
        ]
        assert "2 models chosen" in shown(app, "#options")


async def test_leaving_the_options_changes_nothing(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        before = cells(app, "plane")
        await press(app, pilot, "o")
        await pilot.press("space", "down", "space", "escape")
        await until(pilot, lambda: settled(app))
        assert cells(app, "plane") == before
        await press(app, pilot, "o", "enter")
        assert cells(app, "plane") == before


async def test_the_question_mark_explains_every_view(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        for view in results_view.VIEWS:
            await pilot.press("question_mark")
            assert isinstance(app.screen, TextScreen)
            text = shown(app, "#text")
            assert text.startswith(view.upper())
            assert "(right − left) / 2" in text
            assert "not corrected" in text
            await press(app, pilot, "escape", "tab")
        assert app_look(app).view == "plane"


async def test_c_opens_the_classifier(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        await pilot.press("c")
        assert isinstance(app.screen, ClassifierScreen)


async def test_new_readings_are_shown_when_one_comes_back(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "audit.db"), reads=False)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        assert "0 below 0.9" in shown(app, "#details")
        before = cells(app, "plane")
        trained(path, "second")
        await pilot.press("1")
        await app.switch_mode("results")
        await until(pilot, lambda: settled(app) and "second" in shown(app, "#options"))
        assert cells(app, "plane") != before


# ── where something is missing ──────────────────────────────────────────────────────────────────────────────────────


async def test_statements_of_several_instruments_are_told_apart_down_to_their_answers(tmp_path: Path) -> None:
    path = asked(tmp_path / "audit.db", sided("one", sources=("PCT",)), ["milieu-1b"])
    trained(asked(path, sided("two", sources=("WVS",)), ["milieu-1b"]))
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        await press(app, pilot, *to("statements"), "s")
        assert [row["ref"].partition("/")[0] for row in cells(app, "statements")] == ["one"] * 8 + ["two"] * 8
        await press(app, pilot, "end", "enter")
        await until(pilot, lambda: isinstance(app.screen, BiasResponsesScreen) and app.screen.table.row_count > 0)
        screen = app.screen
        assert isinstance(screen, BiasResponsesScreen)
        assert {row.wording.partition(",")[0] for row in screen._page.rows} == {"WVS cultural right 2"}


@SIZES
async def test_without_answers_the_next_step_stands_there(tmp_path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", sided()))
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        assert "No free-text answers yet" in shown(app, "#empty")
        assert "3 goes to Jobs" in shown(app, "#empty")
        await press(app, pilot, "tab", "d", "x", "o", "m", "p")
        assert isinstance(app.screen, ResultsScreen)


@SIZES
async def test_without_a_classifier_annotating_is_the_next_step(tmp_path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(asked(tmp_path / "audit.db"))
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        text = shown(app, "#empty")
        assert "3 models answered" in text
        assert "5 goes to Annotate" in text
        assert "p scores" not in text
        await press(app, pilot, "p")
        assert "3 models answered" in shown(app, "#empty")


async def test_without_a_classifier_peoples_labels_can_be_scored(tmp_path: Path) -> None:
    path = labelled(asked(tmp_path / "audit.db"))
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 40)) as pilot:
        await on_results(app, pilot)
        assert "p scores these alone" in shown(app, "#empty")
        await press(app, pilot, "p")
        with Store.open(path) as store:
            expected = bias(store, BiasChoice(reader="people"))
        assert [row["total"] for row in cells(app, "plane")] == [
            number(expected.report.figure(model).total) for model in expected.report.tally.models
        ]
        assert "read by people ·" in shown(app, "#options")


@SIZES
async def test_a_side_without_statements_leaves_its_coordinate_undefined(tmp_path: Path, size: tuple[int, int]) -> None:
    path = trained(asked(tmp_path / "audit.db", unsided(), ["gauche-7b"]))
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        row = cells(app, "plane")[0]
        assert row["economic"] == "undefined"
        assert row["cultural"] != "undefined"
        assert "gauche-7b economic undefined: no answers to left statements" in shown(app, "#notes")
        assert "no answers to left statements" in screen_text(app).replace("\n", " ")
        assert "A" not in "".join(line[:60] for line in screen_text(app).splitlines()[4:9])
        await press(app, pilot, *to("models"))
        assert "One model only" in shown(app, "#empty")
        await press(app, pilot, "tab")
        assert len(cells(app, "statements")) == 12


async def test_without_sides_the_trouble_says_how_to_give_them(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "audit.db", sided(sides=False), ["milieu-1b"]))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_results(app, pilot)
        assert "no statement that was asked has a dimension and a leaning" in flowing(app)
        await press(app, pilot, "o")
        assert isinstance(app.screen, BiasOptionsScreen)


def test_cells_are_texts_so_that_names_are_never_markup(judged: BiasJudged) -> None:
    from workbench.tui.screens.results_format import plane_record

    found = results_view.shown(judged.report, results_view.Look(model=judged.report.tally.models[0]))
    line = replace(found.lines[0], name="[bold]x[/]\x1b")
    _, row = plane_record(0, line, judged.report.tally.sources)
    assert all(isinstance(cell, Text) for cell in row)
    assert row[0].plain == " ●A [bold]x[/]␛"


@SIZES
@pytest.mark.parametrize("line", ["void:judged", "fingerprints:"])
async def test_void_wordings_are_judged_and_fingerprints_told_apart_where_that_is_chosen(
    tmp_path: Path, line: str, size: tuple[int, int]
) -> None:
    base = sided()
    same = tuple(
        replace(s, wordings=(s.wordings[0], replace(s.wordings[1], text=s.wordings[0].text.upper()), s.wordings[2]))
        for s in base.statements
    )
    path = trained(asked(tmp_path / "audit.db", replace(base, statements=same), ("gauche-7b",)))
    with Store.open(path) as store:
        with store.write() as connection:
            connection.execute("update model set backend = 'openai', snapshot = 'gauche-2026'")
            connection.execute("update draw set fingerprint = 'fp_' || (id % 2)")
        choice = BiasChoice(judge_void=True) if line.startswith("void") else BiasChoice(fingerprint="each")
        expected = bias(store, choice).report
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await on_results(app, pilot)
        before = cells(app, "plane")
        assert "∅ 16 wordings with the original's text void" in " ".join(shown(app, "#options").split())
        await press(app, pilot, "o")
        screen = app.screen
        assert isinstance(screen, BiasOptionsScreen)
        screen.choices.highlighted = screen.choices.get_option_index(line)
        await pilot.press("space", "enter")
        await until(pilot, lambda: settled(app) and cells(app, "plane") != before)
        total = [number(expected.figure(model).total) for model in expected.tally.models]
        assert [row["total"] for row in cells(app, "plane")] == total
        assert len(total) == (1 if line.startswith("void") else 2)
        assert ("void wordings judged" in shown(app, "#options").replace("void judged", "void wordings judged")) == (
            "void" in line
        )
