"""Writes rows to files in batches: CSV, JSON Lines, Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.csv_files import csv_text, guarded
from workbench.errors import MissingPackage
from workbench.tidy.columns import Field, Row, Rows, Type

BATCH = 20_000
"rows per batch in memory, and per row group of a Parquet file"
HELD = 4_000
"cached encoded values of a column"
INSTALL = "pip install 'llm-audit-workbench[data]'"


def write_csv(of: Rows, rows: Iterable[Row], path: Path) -> int:
    """Write rows as CSV in UTF-8; return how many. A cell that a spreadsheet would run is neutralised."""
    encoders = [_Encoded(_CELLS[field.type], field) for field in of.fields]

    def line(row: Row) -> str:
        return ",".join([encoded[value] for encoded, value in zip(encoders, row, strict=True)]) + "\n"

    return _write_lines(rows, path, line, csv_text([field.name for field in of.fields], ()))


def write_jsonl(of: Rows, rows: Iterable[Row], path: Path) -> int:
    """Write rows as JSON Lines, one object per row; return how many."""
    encoders = [_Encoded(_member, field) for field in of.fields]

    def line(row: Row) -> str:
        return f"{{{', '.join([encoded[value] for encoded, value in zip(encoders, row, strict=True)])}}}\n"

    return _write_lines(rows, path, line)


def _write_lines(rows: Iterable[Row], path: Path, line: Callable[[Row], str], header: str = "") -> int:
    """Write one line per row; repeated ones are encoded once. Half a surrogate pair is escaped: `\\ud800`."""
    last: Row | None = None
    made = ""

    def lines(batch: Sequence[Row]) -> Iterator[str]:
        nonlocal last, made
        for row in batch:
            if row is not last:
                last, made = row, line(row)
            yield made

    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(header)
        return _in_batches(rows, lambda batch: file.write("".join(lines(batch))))


class _Encoded(dict[Any, str]):
    """A cache of encoded values of one column, most of which recur."""

    def __init__(self, encode: Callable[[Field, Any], str], field: Field):
        super().__init__()
        self._encode, self._field = encode, field

    def __missing__(self, value: Any) -> str:
        if len(self) >= HELD:
            self.clear()
        found = self[value] = self._encode(self._field, value)
        return found


def write_parquet(of: Rows, rows: Iterable[Row], path: Path) -> int:
    """Write rows as Parquet; return how many. Raises MissingPackage without pyarrow."""
    pyarrow = arrow()
    from pyarrow.parquet import ParquetWriter

    schema = arrow_schema(of)
    with ParquetWriter(path, schema, compression="zstd") as writer:
        return _in_batches(rows, lambda batch: writer.write_batch(arrow_batch(of, batch, schema, pyarrow)))


WRITERS: Mapping[str, Callable[[Rows, Iterable[Row], Path], int]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}


def arrow() -> Any:
    """Return pyarrow. Raises MissingPackage."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackage(f"Parquet and Arrow need the package pyarrow; install it with: {INSTALL}") from error
    return pyarrow


def arrow_schema(of: Rows) -> Any:
    """Return the schema of rows, with the meaning of each column in its metadata."""
    pyarrow = arrow()
    simple = {
        Type.TEXT: pyarrow.string(),
        Type.WHOLE: pyarrow.int64(),
        Type.NUMBER: pyarrow.float64(),
        Type.TRUTH: pyarrow.bool_(),
    }

    def kind(field: Field) -> Any:
        if field.type is not Type.RECORDS:
            return simple[field.type]
        return pyarrow.list_(pyarrow.struct([pyarrow.field(part.name, kind(part)) for part in field.parts]))

    fields = [pyarrow.field(one.name, kind(one), metadata={"description": one.meaning}) for one in of.fields]
    return pyarrow.schema(fields, metadata={"title": of.title, "description": of.about})


def arrow_batch(of: Rows, rows: Sequence[Row], schema: Any, pyarrow: Any) -> Any:
    """Return rows as one record batch. Half a surrogate pair, which Arrow cannot encode, is escaped: `\\ud800`."""
    arrays = []
    for place, field in enumerate(of.fields):
        values = [row[place] for row in rows]
        if field.parts:
            values = [records(field, value) for value in values]
        try:
            arrays.append(pyarrow.array(values, schema.field(place).type))
        except UnicodeEncodeError:
            arrays.append(pyarrow.array([_whole(value) for value in values], schema.field(place).type))
    return pyarrow.record_batch(arrays, schema=schema)


def records(field: Field, values: Iterable[Row]) -> list[dict[str, Any]]:
    """Return records with the names of their parts."""
    names = [part.name for part in field.parts]
    return [dict(zip(names, value, strict=True)) for value in values]


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [{name: _whole(part) for name, part in one.items()} for one in value]
    return value


def _in_batches(rows: Iterable[Row], write: Callable[[Sequence[Row]], object]) -> int:
    count = 0
    for batch in batches(rows):
        write(batch)
        count += len(batch)
    return count


def batches(rows: Iterable[Row]) -> Iterator[Sequence[Row]]:
    """Yield rows in batches of `BATCH`."""
    left = iter(rows)
    while batch := tuple(islice(left, BATCH)):
        yield batch


def _member(field: Field, value: Any) -> str:
    told = records(field, value) if field.parts and value is not None else value
    return f"{json.dumps(field.name)}: {json.dumps(told, ensure_ascii=False, allow_nan=False)}"


def _text(_: Field, value: str | None) -> str:
    return "" if value is None else csv_text((guarded(value),), ()).removesuffix("\n")


def _json(field: Field, value: Any) -> str:
    return _text(field, json.dumps(records(field, value), ensure_ascii=False, allow_nan=False))


_CELLS: Mapping[Type, Callable[[Field, Any], str]] = {
    Type.TEXT: _text,
    Type.WHOLE: lambda _, value: "" if value is None else str(value),
    Type.NUMBER: lambda _, value: "" if value is None else repr(float(value)),
    Type.TRUTH: lambda _, value: "" if value is None else "true" if value else "false",
    Type.RECORDS: _json,
}
