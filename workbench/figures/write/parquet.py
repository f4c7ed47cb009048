"""Parquet: one file per table, exact text, with title, definition and notes in the file's metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

from workbench.errors import MissingPackage
from workbench.figures.table import AnyTable
from workbench.figures.write.flat import flat


def parquet_files(tables: Iterable[AnyTable]) -> Mapping[str, bytes]:
    """Return file name -> contents. Raises MissingPackage without pyarrow."""
    files = {}
    for table in tables:
        buffer, made = BytesIO(), arrow_table(table)
        from pyarrow.parquet import write_table

        write_table(made, buffer)
        files[f"{table.stem}.parquet"] = buffer.getvalue()
    return files


def arrow_table(table: AnyTable) -> Any:
    """Return a table as a pyarrow.Table. Raises MissingPackage without pyarrow."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackage(
            "Parquet and Arrow need the package pyarrow; install it with: pip install pyarrow"
        ) from error
    data = flat(table)
    columns = {name: [row[place] for row in data.rows] for place, name in enumerate(data.header)}
    about = {"title": table.title, "definition": table.definition, "notes": "\n".join(table.notes)}
    return pyarrow.table(columns).replace_schema_metadata(about)
