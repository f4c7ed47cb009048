"""JSON: tables with their definitions, exact text and full precision.

`schema` names the format of the document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from workbench.domain.verdicts import Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.figures.intervals import methods
from workbench.figures.table import AnyTable, Column, Value

SCHEMA = "workbench.figures/1"


def document(tables: Iterable[AnyTable], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return one JSON document: the choices behind the figures, then the tables."""
    return {"schema": SCHEMA, **about, "tables": [_table(table) for table in tables]}


def _table(table: AnyTable) -> dict[str, Any]:
    intervals = methods(table)
    return {
        "name": table.name,
        "subject": list(table.subject),
        "title": table.title,
        "definition": table.definition,
        "notes": list(table.notes),
        "columns": [_column(column) for column in table.columns],
        "intervals": {
            name: f"{interval.method}." + (f" {interval.remark}." if interval.remark else "")
            for name, interval in intervals.items()
        },
        "rows": [
            {column.key: _value(column.value(row)) for column in table.columns}
            for row in table.rows
        ],
    }


def _column(column: Column[Any]) -> dict[str, str]:
    fields = {"key": column.key, "title": column.title, "kind": column.kind.value}
    return fields | {
        name: text for name, text in (("unit", column.unit), ("help", column.help)) if text
    }


def _value(value: Value) -> Any:
    if isinstance(value, Estimate):
        optional = [name for name in ("interval", "few") if not getattr(value, name)]
        return {
            name: _value(field) for name, field in asdict(value).items() if name not in optional
        }
    if isinstance(value, MeanSd | RepeatedVerdict):
        return {name: _value(field) for name, field in asdict(value).items()}
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return list(value)
