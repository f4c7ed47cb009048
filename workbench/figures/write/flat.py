"""Tables as plain rows and columns for data files: an estimate has one column per part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.domain.verdicts import Estimate, MeanSd, Outcome, Verdict
from workbench.figures.table import AnyTable, Value

PARTS: Mapping[type, tuple[str, ...]] = {
    Estimate: ("value", "low", "high", "n", "excluded", "undefined"),
    MeanSd: ("mean", "sd", "n", "excluded"),
    Outcome: ("verdict", "passed", "tested"),
}
"parts of a value, its own column first"
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Flat:
    """A rectangular table of plain values."""

    header: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def flat(table: AnyTable) -> Flat:
    """Return a table in which `share` becomes `share`, `share_low`, `share_high`, `share_n` and so on.

    Parts are taken from the first row that has them; a column with only plain values stays one column.
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
    return next((PARTS[type(value)][1:] for value in values if type(value) in PARTS), ())


def _cells(value: Value, parts: tuple[str, ...]) -> Iterator[Plain]:
    own = PARTS.get(type(value))
    yield plain(getattr(value, own[0]) if own else value)
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
