"""Tables as plain rows and columns for data files. An estimate has one column per part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from workbench.csv_files import csv_text, guarded
from workbench.domain.verdicts import Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.errors import MissingPackage
from workbench.figures.table import AnyTable, Value
from workbench.installed import install_package

PARTS: Mapping[type, tuple[str, ...]] = {
    Estimate: ("value", "low", "high", "n", "excluded", "undefined"),
    MeanSd: ("mean", "sd", "n", "excluded"),
    RepeatedVerdict: ("verdict", "passed", "tested"),
}
"parts of a value, its own column first"
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Flat:
    """A rectangular table of plain values."""

    header: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def flat(table: AnyTable) -> Flat:
    """Return a table with one column for each part of a value.

    So `share` becomes `share`, `share_low`, `share_high`, `share_n` and so on. Parts are taken from
    the first row that has them. A column with only plain values stays one column.
    """
    columns = [[column.value(row) for row in table.rows] for column in table.columns]
    parts = [_parts(values) for values in columns]
    header = tuple(
        name
        for column, names in zip(table.columns, parts, strict=True)
        for name in (column.key, *(f"{column.key}_{part}" for part in names))
    )
    plain_columns = [
        cells
        for values, names in zip(columns, parts, strict=True)
        for cells in _cells(values, names)
    ]
    return Flat(header, tuple(zip(*plain_columns, strict=True)))


def _parts(values: list[Value]) -> tuple[str, ...]:
    return next((PARTS[type(value)][1:] for value in values if type(value) in PARTS), ())


def _cells(values: list[Value], parts: tuple[str, ...]) -> Iterator[list[Plain]]:
    """Yield a column for the values themselves, and one for each of their parts."""
    yield [
        plain(getattr(value, value_parts[0]) if (value_parts := PARTS.get(type(value))) else value)
        for value in values
    ]
    for part in parts:
        yield [plain(getattr(value, part, None)) for value in values]


def plain(value: Any) -> Plain:
    """Return one plain value. NaN is None, several texts are one."""
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    if isinstance(value, Verdict):
        return value.value
    return value if value is None or isinstance(value, str | int) else " ".join(value)


def csv_files(tables: Iterable[AnyTable]) -> Mapping[str, str]:
    """Return file name -> contents. A table without rows has only its header."""
    files = {}
    for table in tables:
        data = flat(table)
        files[f"{table.stem}.csv"] = csv_text(
            [guarded(name) for name in data.header],
            [[_cell(value) for value in row] for row in data.rows],
        )
    return files


def _cell(value: Plain) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return guarded(value) if isinstance(value, str) else str(value)


def parquet_files(tables: Iterable[AnyTable]) -> Mapping[str, bytes]:
    """Return file name -> contents. Raises MissingPackage without pyarrow."""
    files = {}
    for table in tables:
        buffer, arrow = BytesIO(), arrow_table(table)
        from pyarrow.parquet import write_table

        write_table(arrow, buffer)
        files[f"{table.stem}.parquet"] = buffer.getvalue()
    return files


def arrow_table(table: AnyTable) -> Any:
    """Return a table as a pyarrow.Table. Raises MissingPackage without pyarrow."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackage(
            "Parquet and Arrow need the package pyarrow; install it with: "
            f"{install_package('pyarrow')}"
        ) from error
    data = flat(table)
    columns = {name: [row[index] for row in data.rows] for index, name in enumerate(data.header)}
    metadata = {
        "title": table.title,
        "definition": table.definition,
        "notes": "\n".join(table.notes),
    }
    return pyarrow.table(columns).replace_schema_metadata(metadata)
