"""The drawing of the newest results on Home."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from textual.content import Content
from textual.widgets import Static

from tests.tui.conftest import screen_text, until
from tests.tui.test_home import answered
from workbench.audits.printed import HomeFigure, HomeLine
from workbench.domain.verdicts import Estimate
from workbench.figures.table import Kind
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.drawn_results import drawn_results, written_result


def line(name: str, estimate: Estimate, kind: Kind = Kind.SHARE) -> HomeLine:
    return HomeLine(name, "Audit", name, "", figure=HomeFigure(estimate, kind, "kept stances"))


@pytest.mark.parametrize("width", [20, 40, 90])
def test_models_are_on_one_axis_in_the_given_columns(width: int) -> None:
    drawing = drawn_results(
        [
            line("a-model-with-a-name-that-goes-on-and-on", Estimate(0.25, 0.0, 0.5, 56)),
            line("長い名前のモデル", Estimate(0.75, 0.5, 1.0, 56)),
        ],
        width,
    )
    assert drawing is not None
    rows = drawing.split("\n")[1:]
    assert all(row.cell_length <= max(width, 24) for row in rows)
    assert len({row.cell_length for row in rows[1:]}) == 1
    columns = [Content(row.plain.partition("●")[0]).cell_length for row in rows[1:]]
    assert columns[0] < columns[1] or width == 20


def test_a_figure_without_an_interval_is_hollow_and_one_without_a_value_is_not_drawn() -> None:
    few = Estimate(0.5, math.nan, math.nan, 3, few="too few")
    undefined = Estimate(math.nan, math.nan, math.nan, 0, undefined="no answers")
    drawing = drawn_results([line("few", few), line("none", undefined)], 60)
    assert drawing is not None
    assert "○" in drawing.plain
    assert "none" not in drawing.plain
    assert drawn_results([line("none", undefined)], 60) is None
    assert drawn_results([HomeLine("k", "Choices", "model", "1 of 7")], 60) is None


def test_a_score_has_zero_on_its_axis() -> None:
    drawing = drawn_results([line("left", Estimate(-0.5, -0.6, -0.4, 9), Kind.SCORE)], 60)
    assert drawing is not None
    axis = drawing.split("\n")[1].plain
    assert axis.split() == ["-1", "0", "+1"]
    assert drawing.split("\n")[2].plain.index("●") < axis.index("0")


def test_names_and_remarks_are_shown_literally() -> None:
    text = written_result(HomeLine("k", "Choices", "[red]m", "x", [("! [b]", True)])).plain
    assert text == "Choices: [red]m\nx\n! [b]"


@pytest.mark.parametrize(("columns", "is_drawn"), [(100, False), (120, True), (200, True)])
async def test_home_draws_the_results_beside_its_lines(
    path: Path, columns: int, is_drawn: bool
) -> None:
    app = WorkbenchApp(answered(path))
    async with app.run_test(size=(columns, 40)) as pilot:
        await until(pilot, lambda: "of 3 stances" in screen_text(app))
        pane = app.screen.query_one("#unfolded", Static)
        assert ("statements that keep their stance" in str(pane.content)) == is_drawn
