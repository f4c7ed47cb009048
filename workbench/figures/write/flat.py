"""Tables as plain rows and columns for data files: an estimate takes a column for each of its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.domain.verdicts import Estimate, MeanSd, Verdict
from workbench.figures.table import AnyTable, Value

ESTIMATE = ("low", "high", "n", "excluded", "undefined")
MEAN_SD = ("sd", "n", "excluded")
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Flat:
    """A rectangular table of plain values."""

    header: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def flat(table: AnyTable) -> Flat:
    """Return a table in which `share` becomes `share`, `share_low`, `share_high`, `share_n` and so on.

    Parts are taken from the first row that has them; a column that holds plain values alone stays one column.
    """
    values = [[column.value(row) for column in table.columns] for row in table.rows]
    parts = [_parts([row[place] for row in values]) for place in range(len(table.columns))]
    header = tuple(
        name
        for column, names in zip(table.columns, parts, strict=True)
        for name in (column.key, *(f"{column.key}_{part}" for part in names))
    )
    rows = tuple(
        tuple(cell for value, names in zip(row, parts, strict=True) for cell in _cells(value, names)) for row in values
    )
    return Flat(header, rows)


def _parts(values: list[Value]) -> tuple[str, ...]:
    for value in values:
        if isinstance(value, Estimate):
            return ESTIMATE
        if isinstance(value, MeanSd):
            return MEAN_SD
    return ()


def _cells(value: Value, parts: tuple[str, ...]) -> Iterator[Plain]:
    yield plain(value.value if isinstance(value, Estimate) else value.mean if isinstance(value, MeanSd) else value)
    for part in parts:
        yield plain(getattr(value, part, None))


def plain(value: Any) -> Plain:
    """Return one plain value; NaN is None, several texts are one."""
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    if isinstance(value, Verdict):
        return value.value
    if value is None or isinstance(value, str | int | bool):
        return value
    return " ".join(value)
