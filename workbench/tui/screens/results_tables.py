"""The tables of the results: which columns and rows each view has at a width; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.screens.bias_rows_format import most_added, ref_width, statement_columns, statement_record
from workbench.tui.screens.results_format import limit_of, line_columns, line_record, plane_columns, plane_record
from workbench.tui.screens.results_view import Shown, letter
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.bias_score import Report


def view_columns(view: str, shown: Shown, report: Report | None, width: int, *, near: bool) -> tuple[Column, ...]:
    """Return the columns of a view for a width; without a report, those that it will have."""
    if view == "plane":
        return plane_columns(width)
    if view == "statements":
        return statement_columns(width, ref_width(shown.rows))
    limit, names = limit_of(shown.lines, near=near), (shown.look.model, shown.look.other)
    if view != "models" or report is None or not all(names):
        return line_columns(view, width, limit)
    first, second = (f"{letter(report, name)} {name}" for name in names)
    return line_columns(view, width, limit, (first, second))


def view_records(shown: Shown, report: Report, width: int, *, near: bool) -> list[Record]:
    """Return the rows of a view for a width; their keys are places of lines, or statements."""
    if shown.rows:
        refs, most = ref_width(shown.rows), most_added(shown.rows)
        return [statement_record(row, width, refs, most) for row in shown.rows]
    if shown.look.view == "plane":
        return [plane_record(place, line, report.tally.sources) for place, line in enumerate(shown.lines)]
    limit = limit_of(shown.lines, near=near)
    return [line_record(place, line, shown, width, limit) for place, line in enumerate(shown.lines)]
