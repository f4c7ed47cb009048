"""Pictures made from tables: a table names columns, and the values of their cells are drawn.

A table declares such a recipe in its `pictures`. `pictures_of` applies it. Nothing is computed
again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.domain.verdicts import Estimate, RepeatedVerdict, Verdict
from workbench.figures.pictures.kinds import (
    NAN,
    PERCENT,
    Axis,
    Bar,
    Bars,
    Cell,
    Grid,
    Intervals,
    Line,
    Lines,
    Place,
    Plane,
    Point,
    Spider,
    estimated,
    fitted,
    reach,
)
from workbench.figures.pictures.picture import Picture
from workbench.figures.shown import number, shown
from workbench.figures.table import MARKS, AnyTable, Column, Kind
from workbench.figures.visible import visible

NO_VALUE = "there is no value"
NOTHING = Estimate(NAN, NAN, NAN, 0, 0, NO_VALUE)


def pictures_of(table: AnyTable) -> list[Picture]:
    """Return the pictures that a table declares, without empty ones."""
    return (
        [picture for make in table.pictures if not (picture := make(table)).empty]
        if table.rows
        else []
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The common fields of recipes: the name of the picture, and how to read it."""

    suffix: str = ""
    "suffix to the table's name, or empty if the picture has the table's name"
    title: str = ""
    "title, or empty for the table's"
    note: str = ""
    "explanation of the picture, if the table's definition has none"

    def about(self, table: AnyTable) -> dict[str, Any]:
        return {
            "name": f"{table.name}_{self.suffix}" if self.suffix else table.name,
            "title": self.title or table.title,
            "definition": table.definition,
            "notes": (*([self.note] if self.note else ()), *table.notes),
            "subject": table.subject,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest(Recipe):
    """Values with their intervals.

    Several columns are several series, unless a column has the series.
    """

    values: Sequence[str]
    rows: Sequence[str]
    "columns that together name a line, without those with only one value"
    series: str | Sequence[str] = ()
    """columns that together name a series

    If there are several, those with only one value are left out.
    """
    axis: str = ""
    "title of the axis, or empty for that of the first column"
    baselines: Sequence[str] = ()
    reference: str | tuple[str, ...] = ""
    "meaning of the columns' references, or of each of them, or empty if only 0 is drawn"
    ends: tuple[str, str] = ("", "")
    "meaning of the low and the high end of the axis"
    whole: bool = False
    "whether the whole scale of the column is shown, not only the range of the values"

    def __call__(self, table: AnyTable) -> Intervals:
        columns = [found(table, key) for key in self.values]
        series_columns = telling(table, self.series)
        points = list(self._points(table, columns, series_columns))
        first, names = columns[0], {point.series for point in points}
        context = self.about(table)
        if isinstance(self.reference, str) and any(point.references for point in points):
            context["notes"] = (f"Thin mark: {self.reference}.", *context["notes"])
        return Intervals(
            axis=axis_of(
                first,
                [point.value for point in points],
                [reference for point in points for reference in point.references],
                title=self.axis,
                whole=self.whole,
                ends=self.ends,
            ),
            points=points,
            baselines=[name for name in self.baselines if name in names],
            reference=(self.reference,) * bool(self.reference)
            if isinstance(self.reference, str)
            else self.reference,
            **context,
        )

    def _points(
        self, table: AnyTable, columns: Sequence[Column[Any]], own: Sequence[Column[Any]]
    ) -> Iterator[Point]:
        labels = telling(table, self.rows)
        for row in table.rows:
            for column in columns:
                value = estimated(column.value(row))
                if value is None:
                    continue
                series = (
                    said_of(row, own) if own else visible(column.title) if len(columns) > 1 else ""
                )
                remark = column.beside(row) if column.beside else ""
                references = _references(column, row) if self.reference else ()
                yield Point(said_of(row, labels), value, series, references, visible(remark))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix(Recipe):
    """Cells of several columns, shaded by their values or marked by their verdicts."""

    columns: Sequence[str]
    rows: Sequence[str]
    shades: Sequence[str] = ()
    "columns for the shades of cells, if not the shown columns: shares for counts"
    titles: tuple[str, str] = ("", "")
    scale: tuple[float, float] | None = None
    "column of the shades, or None for the first column"

    def __call__(self, table: AnyTable) -> Grid:
        columns = [found(table, key) for key in self.columns]
        shades = [found(table, key) for key in self.shades] or columns
        cells = [
            [_cell(row, column, shade) for column, shade in zip(columns, shades, strict=True)]
            for row in table.rows
        ]
        labels = telling(table, self.rows)
        has_verdicts = any(cell.verdict for row in cells for cell in row)
        return Grid(
            rows=[said_of(row, labels) for row in table.rows],
            columns=[visible(column.title) for column in columns],
            cells=cells,
            scale=None if has_verdicts else self.scale or shades[0].scale or _widest(cells),
            titles=self.titles,
            unit=PERCENT.get(columns[0].kind, ""),
            **self.about(table),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves(Recipe):
    """Columns against a number. With a column of series, the rows become curves."""

    x: str
    values: Sequence[str]
    series: str | Sequence[str] = ()
    identity: str = ""
    axis: str = ""
    "title of the vertical axis, or empty for that of the first column"
    marked: str = ""
    "column that is true where the horizontal axis is marked, such as at the chosen value"

    def __call__(self, table: AnyTable) -> Lines:
        x, columns = found(table, self.x), [found(table, key) for key in self.values]
        series_columns = telling(table, self.series)
        lines: dict[str, list[tuple[float, Estimate]]] = {}
        for row in table.rows:
            position = estimated(x.value(row))
            for column in columns:
                value = estimated(column.value(row))
                if position is not None and position.defined and value is not None:
                    name = (
                        said_of(row, series_columns)
                        if series_columns
                        else visible(column.title)
                        if len(columns) > 1
                        else ""
                    )
                    lines.setdefault(name, []).append((position.value, value))
        positions = [position_ for line in lines.values() for position_, _ in line]
        values = [value for line in lines.values() for _, value in line]
        low, high = x.scale or ((min(positions), max(positions)) if positions else (0.0, 1.0))
        return Lines(
            x=Axis(visible(x.title), x.kind, low, high, tuple(self._marked(table, x))),
            y=axis_of(columns[0], values, title=self.axis),
            lines=[
                Line(name, sorted(points, key=lambda point: point[0]))
                for name, points in lines.items()
            ],
            identity=self.identity,
            **self.about(table),
        )

    def _marked(self, table: AnyTable, x: Column[Any]) -> Iterator[tuple[float, str]]:
        if self.marked:
            column = found(table, self.marked)
            for row in table.rows:
                if column.value(row) and (position := estimated(x.value(row))) is not None:
                    yield position.value, visible(column.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(Recipe):
    """Rows as points between two columns."""

    x: str
    y: str
    rows: Sequence[str]
    series: str | Sequence[str] = ()
    labelled: bool = True
    square: bool = False
    identity: str = ""
    ends: tuple[tuple[str, str], tuple[str, str]] = (("", ""), ("", ""))
    "meaning of the low and high ends of both axes"

    def __call__(self, table: AnyTable) -> Plane:
        columns = found(table, self.x), found(table, self.y)
        labels, series_columns = telling(table, self.rows), telling(table, self.series)
        points = [
            Place(
                said_of(row, labels),
                estimated(columns[0].value(row)) or NOTHING,
                estimated(columns[1].value(row)) or NOTHING,
                said_of(row, series_columns) if series_columns else "",
            )
            for row in table.rows
        ]
        spans = (
            axis_of(column, [getattr(point, name) for point in points], ends=ends)
            for column, name, ends in zip(columns, "xy", self.ends, strict=True)
        )
        x, y = _alike(*spans) if self.square or self.identity else spans
        return Plane(
            x=x,
            y=y,
            places=points,
            labelled=self.labelled,
            square=self.square,
            identity=self.identity,
            **self.about(table),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Star(Recipe):
    """A column with one spoke per row and one line per series."""

    value: str
    spoke: str
    series: str | Sequence[str] = ()
    baselines: Sequence[str] = ()

    def __call__(self, table: AnyTable) -> Spider:
        column, spoke = found(table, self.value), found(table, self.spoke)
        series_columns = telling(table, self.series)
        values = {
            (
                said_of(row, series_columns) if series_columns else "",
                said_of(row, [spoke]),
            ): estimated(column.value(row)) or NOTHING
            for row in table.rows
        }
        spokes, names = (
            list(dict.fromkeys(spoke_name for _, spoke_name in values)),
            list(dict.fromkeys(name for name, _ in values)),
        )
        low, high = column.scale or fitted(*reach(values.values()))
        return Spider(
            axis=Axis(visible(column.title), column.kind, low, high),
            spokes=spokes,
            lines={
                name: [values.get((name, spoke_name), NOTHING) for spoke_name in spokes]
                for name in names
            },
            baselines=[name for name in self.baselines if name in names],
            **self.about(table),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked(Recipe):
    """Columns as the parts of a bar per row, or one column with the series in another column."""

    values: Sequence[str]
    rows: Sequence[str]
    series: str | Sequence[str] = ()
    axis: str = ""

    def __call__(self, table: AnyTable) -> Bars:
        columns, labels = [found(table, key) for key in self.values], telling(table, self.rows)
        series_columns = telling(table, self.series)
        bars = [
            Bar(
                said_of(row, labels),
                [
                    (
                        said_of(row, series_columns)
                        if series_columns
                        else visible(column.title)
                        if len(columns) > 1
                        else "",
                        (estimated(column.value(row)) or NOTHING).value,
                    )
                    for column in columns
                ],
            )
            for row in table.rows
        ]
        first = columns[0]
        longest = max(
            (sum(size for _, size in bar.parts if not math.isnan(size)) for bar in bars),
            default=1.0,
        )
        low, high = fitted(0.0, longest) if len(columns) > 1 or first.scale is None else first.scale
        return Bars(
            axis=Axis(self.axis or visible(first.title), first.kind, low, high),
            bars=bars,
            **self.about(table),
        )


# ── helpers of recipes ────────────────────────────────────────────────────────────────────────────


def found(table: AnyTable, key: str) -> Column[Any]:
    """Return a column by its key.

    Raises KeyError if the table lacks it, which is a fault of the recipe.
    """
    for column in table.columns:
        if column.key == key:
            return column
    raise KeyError(f"the table {table.name} has no column {key!r}")


def telling(table: AnyTable, keys: str | Sequence[str]) -> list[Column[Any]]:
    """Return the key columns that distinguish rows, or the last one if none does."""
    columns = [found(table, key) for key in ((keys,) if isinstance(keys, str) else keys) if key]
    distinguishing = [
        column
        for column in columns
        if len({shown(column.value(row), column) for row in table.rows}) > 1
    ]
    return distinguishing or columns[-1:]


def said_of(row: Any, columns: Iterable[Column[Any]]) -> str:
    """Return the values of columns as one label."""
    return " ".join(filter(None, (shown(column.value(row), column) for column in columns)))


def axis_of(
    column: Column[Any],
    values: Sequence[Estimate],
    references: Iterable[float] = (),
    *,
    title: str = "",
    whole: bool = False,
    ends: tuple[str, str] = ("", ""),
) -> Axis:
    """Return the axis of a column.

    It has the whole scale of a share unless a value lies outside, else the range of the values
    with 0.
    """
    scale = column.scale or ((0.0, 1.0) if column.kind is Kind.SHARE else None)
    is_within = scale is not None and all(
        scale[0] <= estimate.value <= scale[1]
        for estimate in values
        if math.isfinite(estimate.value)
    )
    if scale is not None and is_within and (whole or column.kind is Kind.SHARE):
        low, high = scale
    else:
        low, high = fitted(*reach(values, references), scale if is_within else None)
    zero = ((0.0, ""),) if low < 0 < high else ()
    return Axis(title or visible(column.title), column.kind, low, high, zero, ends)


def _alike(x: Axis, y: Axis) -> tuple[Axis, Axis]:
    """Return both axes with a common scale."""
    low, high = min(x.low, y.low), max(x.high, y.high)
    zero = ((0.0, ""),) if low < 0 < high else ()
    return tuple(Axis(axis.title, axis.kind, low, high, zero, axis.ends) for axis in (x, y))  # type: ignore[return-value]


def _references(column: Column[Any], row: Any) -> tuple[float, ...]:
    value = column.reference(row) if column.reference else None
    values = (value,) if isinstance(value, int | float) else value or ()
    return tuple(values) if any(not math.isnan(reference) for reference in values) else ()


def _cell(row: Any, column: Column[Any], shade: Column[Any]) -> Cell:
    value, shade_value = column.value(row), estimated(shade.value(row))
    if isinstance(value, Verdict | RepeatedVerdict):
        verdict = value.verdict if isinstance(value, RepeatedVerdict) else value
        counts = (
            f" {value.passed}/{value.tested}"
            if isinstance(value, RepeatedVerdict) and value.tested
            else ""
        )
        return Cell(f"{MARKS[verdict]}{counts}", verdict=verdict)
    if isinstance(value, Estimate) and not value.defined:
        return Cell("undef.", undefined=visible(value.undefined))
    remark = visible(column.beside(row)) if column.beside else ""
    estimate = estimated(value)
    text = (
        number(estimate.value, column.kind, bare=True)
        if estimate is not None
        else shown(value, column)
    )
    return Cell(
        f"{text} {remark}".strip(),
        shade_value.value if shade_value is not None and shade_value.defined else NAN,
    )


def _widest(cells: Sequence[Sequence[Cell]]) -> tuple[float, float]:
    widest = max(
        (abs(cell.value) for row in cells for cell in row if not math.isnan(cell.value)),
        default=1.0,
    )
    return 0.0, widest or 1.0
