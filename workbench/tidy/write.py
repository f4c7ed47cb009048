"""Writes rows to files in batches: CSV, JSON Lines, Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.csv_files import csv_text, guarded
from workbench.errors import MissingPackage
from workbench.tidy.columns import BATCH, Batch, Coded, Field, Row, Rows, Type

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


def write_parquet(of: Rows, batches: Iterable[Batch], path: Path) -> int:
    """Write rows as Parquet; return how many. Raises MissingPackage without pyarrow."""
    arrow()
    from pyarrow.parquet import ParquetWriter

    made, count = ArrowBatches(of, dictionaries=False), 0
    with ParquetWriter(path, made.schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(made.of(batch))
            count += len(batch)
    return count


WRITERS: Mapping[str, Callable[[Rows, Any, Path], int]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}
BY_COLUMNS = frozenset({"parquet"})
"formats whose writer takes batches; the others take rows"


def arrow() -> Any:
    """Return pyarrow. Raises MissingPackage."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackage(f"Parquet and Arrow need the package pyarrow; install it with: {INSTALL}") from error
    return pyarrow


class ArrowBatches:
    """Makes Arrow record batches of rows. A value that recurs is converted once for all rows of a batch; those of whole
    designs once for all batches.

    dictionaries : fields that recur have the dictionary type of Arrow, which holds a value once
    """

    def __init__(self, of: Rows, *, dictionaries: bool):
        self._pyarrow, self._fields = arrow(), of.fields
        self.schema = self._schema(of, dictionaries=dictionaries)
        self._made: dict[int, tuple[Sequence[Any], Any]] = {}

    def _schema(self, of: Rows, *, dictionaries: bool) -> Any:
        """Return the schema, with the meaning of each column in its metadata."""
        pyarrow = self._pyarrow
        simple = {
            Type.TEXT: pyarrow.string(),
            Type.WHOLE: pyarrow.int64(),
            Type.NUMBER: pyarrow.float64(),
            Type.TRUTH: pyarrow.bool_(),
            Type.TIME: pyarrow.timestamp("us", "UTC"),
        }

        def kind(field: Field) -> Any:
            if field.type is Type.RECORDS:
                return pyarrow.list_(pyarrow.struct([pyarrow.field(part.name, kind(part)) for part in field.parts]))
            held = dictionaries and field.recurs and field in of.fields
            return pyarrow.dictionary(pyarrow.int32(), simple[field.type]) if held else simple[field.type]

        fields = [pyarrow.field(one.name, kind(one), metadata={"description": one.meaning}) for one in of.fields]
        return pyarrow.schema(fields, metadata={"title": of.title, "description": of.about})

    def of(self, batch: Batch) -> Any:
        """Return a record batch. Half a surrogate pair, which Arrow cannot encode, is escaped: `\\ud800`."""
        made = [self._column(place, column) for place, column in enumerate(batch.columns)]
        found = self._pyarrow.record_batch(made, schema=self.schema)
        if batch.times is None:
            return found
        import numpy as np

        return found.take(self._pyarrow.array(np.repeat(np.arange(len(batch.times)), batch.times)))

    def _column(self, place: int, column: Any) -> Any:
        pyarrow, kind = self._pyarrow, self.schema.field(place).type
        if not isinstance(column, Coded):
            return self._values(place, column)
        if place not in self._made or self._made[place][0] is not column.values:
            self._made[place] = column.values, self._values(place, column.values)
        return self._made[place][1].take(pyarrow.array(column.codes)).cast(kind)

    def _values(self, place: int, values: Sequence[Any]) -> Any:
        field, kind = self._fields[place], self.schema.field(place).type
        dictionary = self._pyarrow.types.is_dictionary(kind)
        if field.parts:
            values = [records(field, value) for value in values]
        elif field.type is Type.TIME:
            values = [None if value is None else moment(value) for value in values]
        plain = kind.value_type if dictionary else kind
        try:
            made = self._pyarrow.array(values, plain)
        except UnicodeEncodeError:
            made = self._pyarrow.array([_whole(value) for value in values], plain)
        return made.dictionary_encode() if dictionary else made


def moment(text: str) -> datetime:
    """Return a stored time, in UTC."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


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
    count, left = 0, iter(rows)
    while batch := tuple(islice(left, BATCH)):
        write(batch)
        count += len(batch)
    return count


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
    Type.TIME: _text,
    Type.RECORDS: _json,
}
