"""The economic x cultural plane of models, with a letter per model and a mark per source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.domain.verdicts import Estimate
from workbench.figures.table import AnyTable, Column
from workbench.tui.results.sheet import Picture, Sheet
from workbench.tui.widgets.pictures import (
    HOLLOW_MARKS,
    MARKS,
    CoordinateInterval,
    CoordinatePoint,
    Plane,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"letters of models; beyond Z they start again"
SIGN = "sign"
SIGN_HELP = (
    "letter of the model and mark of the source in the picture; letters beside one mark share a "
    "place; a hollow mark: a coordinate rests on too little data for an interval"
)


class PlanePicture(Plane, Picture):
    """A drawing of the rows of `plane` and `plane_by_source` with both intervals."""

    @staticmethod
    def signed(table: AnyTable) -> AnyTable:
        """Return the table with the mark and the letter of each row in its first column.

        Its numbers need no pictures of their own, and columns that the plane does not show give way
        to the others.
        """
        signs = dict(zip(map(table.key, table.rows), map("".join, _signs(table)), strict=True))
        column: Column[Any] = Column(SIGN, "", lambda row: signs[table.key(row)], help=SIGN_HELP)
        other_columns = [
            replace(column, scale=None, aside=column.aside or column.key in ("total", "answers"))
            for column in table.columns
        ]
        return replace(table, columns=[column, *other_columns])

    def show(self, sheet: Sheet, at: int | None) -> None:
        self.points = points(sheet.table, at)


def points(table: AnyTable, at: int | None) -> tuple[CoordinatePoint, ...]:
    """Return the points of a table's rows. The row at an index is selected."""
    columns = {column.key: column for column in table.columns}
    return tuple(
        CoordinatePoint(
            letter,
            _interval(columns["economic"].value(row)),
            _interval(columns["cultural"].value(row)),
            mark,
            index == at,
        )
        for index, (row, (mark, letter)) in enumerate(zip(table.rows, _signs(table), strict=True))
    )


def _signs(table: AnyTable) -> list[tuple[str, str]]:
    """Return the mark of the source and the letter of the model of each row."""
    columns = [column for column in table.columns if column.key in ("economic", "cultural")]
    marks = [
        HOLLOW_MARKS[MARKS.index(mark)]
        if any(_is_few(column.value(row)) for column in columns)
        else mark
        for mark, row in zip(_by("source", table, MARKS), table.rows, strict=True)
    ]
    return list(zip(marks, _by("model", table, LETTERS), strict=True))


def _is_few(value: object) -> bool:
    """Return whether a coordinate has too little data for an interval."""
    return isinstance(value, Estimate) and bool(value.few)


def _by(key: str, table: AnyTable, signs: str) -> Sequence[str]:
    """Return the sign of each row's value in a column, or the first sign without the column.

    Values get the signs in the order of their first rows.
    """
    column = next((candidate for candidate in table.columns if candidate.key == key), None)
    values = [column.value(row) if column is not None else None for row in table.rows]
    index_by_value = {value: index for index, value in enumerate(dict.fromkeys(values))}
    return [signs[index_by_value[value] % len(signs)] for value in values]


def _interval(value: object) -> CoordinateInterval:
    return (
        CoordinateInterval(value.value, value.low, value.high)
        if isinstance(value, Estimate)
        else CoordinateInterval(math.nan)
    )
