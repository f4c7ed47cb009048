"""CSV: one file per table. A cell that a spreadsheet would run is neutralised; nothing else is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.csv_files import csv_text, guarded
from workbench.figures.table import AnyTable
from workbench.figures.write.flat import Plain, flat


def csv_files(tables: Iterable[AnyTable]) -> Mapping[str, str]:
    """Return file name -> contents; a table without rows has only its header."""
    files = {}
    for table in tables:
        data = flat(table)
        files[f"{table.stem}.csv"] = csv_text(
            [guarded(name) for name in data.header], [[_cell(value) for value in row] for row in data.rows]
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
