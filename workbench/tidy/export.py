"""The writing of rows to files in batches: CSV, JSON Lines, Parquet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from stores.core.store import Store
from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.errors import MissingPackage, UnknownName, UsageError
from workbench.formats.folder import check_place, expanded
from workbench.installed import install
from workbench.tidy.answers import ANSWERS, READINGS
from workbench.tidy.columns import (
    BATCH,
    CodedColumn,
    ColumnBatch,
    ColumnField,
    Row,
    RowKind,
    RowSelection,
    ValueType,
)
from workbench.tidy.figures import FIGURES, VERDICTS
from workbench.tidy.people import LABELS, RULINGS
from workbench.tidy.probabilities import PROBABILITIES
from workbench.version import __version__
from workbench.whole_folders import made_beside

HELD = 4_000
"number of cached encoded values of a column"


def write_csv(row_kind: RowKind, rows: Iterable[Row], path: Path) -> int:
    """Write rows as CSV in UTF-8, and return their number.

    A cell that a spreadsheet would run is neutralised.
    """
    encoders = [_Encoded(_CELLS[field.type], field) for field in row_kind.fields]

    def line(row: Row) -> str:
        return (
            ",".join([encoded[value] for encoded, value in zip(encoders, row, strict=True)]) + "\n"
        )

    return _write_lines(rows, path, line, csv_text([field.name for field in row_kind.fields], ()))


def write_jsonl(row_kind: RowKind, rows: Iterable[Row], path: Path) -> int:
    """Write rows as JSON Lines, one object per row, and return their number."""
    encoders = [_Encoded(_member, field) for field in row_kind.fields]

    def line(row: Row) -> str:
        members = [encoded[value] for encoded, value in zip(encoders, row, strict=True)]
        return f"{{{', '.join(members)}}}\n"

    return _write_lines(rows, path, line)


def _write_lines(
    rows: Iterable[Row], path: Path, line: Callable[[Row], str], header: str = ""
) -> int:
    """Write one line per row.

    Repeated rows are encoded once. Half a surrogate pair is escaped: `\\ud800`.
    """
    last: Row | None = None
    last_line = ""

    def lines(batch: Sequence[Row]) -> Iterator[str]:
        nonlocal last, last_line
        for row in batch:
            if row is not last:
                last, last_line = row, line(row)
            yield last_line

    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(header)
        return _in_batches(rows, lambda batch: file.write("".join(lines(batch))))


class _Encoded(dict[Any, str]):
    """A cache of encoded values of one column, most of which recur."""

    def __init__(self, encode: Callable[[ColumnField, Any], str], field: ColumnField):
        super().__init__()
        self._encode, self._field = encode, field

    def __missing__(self, value: Any) -> str:
        if len(self) >= HELD:
            self.clear()
        encoded = self[value] = self._encode(self._field, value)
        return encoded


def write_parquet(row_kind: RowKind, batches: Iterable[ColumnBatch], path: Path) -> int:
    """Write rows as Parquet, and return their number. Raises MissingPackage without pyarrow."""
    arrow()
    from pyarrow.parquet import ParquetWriter

    arrow_batches, count = ArrowBatches(row_kind, dictionaries=False), 0
    with ParquetWriter(path, arrow_batches.schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(arrow_batches.of(batch))
            count += len(batch)
    return count


WRITERS: Mapping[str, Callable[[RowKind, Any, Path], int]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "jsonl": write_jsonl,
}
BY_COLUMNS = frozenset({"parquet"})
"formats whose writer takes batches, while the others take rows"


def arrow() -> Any:
    """Return pyarrow. Raises MissingPackage."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackage(
            f"Parquet and Arrow need the package pyarrow; install it with: {install('data')}"
        ) from error
    return pyarrow


class ArrowBatches:
    """The conversion of rows to Arrow record batches.

    A value that recurs is converted once for all rows of a batch, and those of whole designs once
    for all batches.

    dictionaries : fields that recur have the dictionary type of Arrow, which holds a value once
    """

    def __init__(self, row_kind: RowKind, *, dictionaries: bool):
        self._pyarrow, self._fields = arrow(), row_kind.fields
        self.schema = self._schema(row_kind, dictionaries=dictionaries)
        self._made: dict[int, tuple[Sequence[Any], Any]] = {}

    def _schema(self, row_kind: RowKind, *, dictionaries: bool) -> Any:
        """Return the schema, with the meaning of each column in its metadata."""
        pyarrow = self._pyarrow
        simple = {
            ValueType.TEXT: pyarrow.string(),
            ValueType.WHOLE: pyarrow.int64(),
            ValueType.NUMBER: pyarrow.float64(),
            ValueType.TRUTH: pyarrow.bool_(),
            ValueType.TIME: pyarrow.timestamp("us", "UTC"),
        }

        def kind(field: ColumnField) -> Any:
            if field.type is ValueType.RECORDS:
                return pyarrow.list_(
                    pyarrow.struct([pyarrow.field(part.name, kind(part)) for part in field.parts])
                )
            is_dictionary = dictionaries and field.recurs and field in row_kind.fields
            return (
                pyarrow.dictionary(pyarrow.int32(), simple[field.type])
                if is_dictionary
                else simple[field.type]
            )

        fields = [
            pyarrow.field(field.name, kind(field), metadata={"description": field.meaning})
            for field in row_kind.fields
        ]
        return pyarrow.schema(
            fields, metadata={"title": row_kind.title, "description": row_kind.about}
        )

    def of(self, batch: ColumnBatch) -> Any:
        """Return a record batch.

        Half a surrogate pair, which Arrow cannot encode, is escaped: `\\ud800`.
        """
        arrays = [self._column(index, column) for index, column in enumerate(batch.columns)]
        record_batch = self._pyarrow.record_batch(arrays, schema=self.schema)
        if batch.times is None:
            return record_batch
        import numpy as np

        return record_batch.take(
            self._pyarrow.array(np.repeat(np.arange(len(batch.times)), batch.times))
        )

    def _column(self, place: int, column: Any) -> Any:
        pyarrow, kind = self._pyarrow, self.schema.field(place).type
        if not isinstance(column, CodedColumn):
            return self._values(place, column)
        if place not in self._made or self._made[place][0] is not column.values:
            self._made[place] = column.values, self._values(place, column.values)
        return self._made[place][1].take(pyarrow.array(column.codes)).cast(kind)

    def _values(self, place: int, values: Sequence[Any]) -> Any:
        field, kind = self._fields[place], self.schema.field(place).type
        is_dictionary = self._pyarrow.types.is_dictionary(kind)
        if field.parts:
            values = [records(field, value) for value in values]
        elif field.type is ValueType.TIME:
            values = [None if value is None else moment(value) for value in values]
        plain_kind = kind.value_type if is_dictionary else kind
        try:
            array = self._pyarrow.array(values, plain_kind)
        except UnicodeEncodeError:
            array = self._pyarrow.array([_encodable(value) for value in values], plain_kind)
        return array.dictionary_encode() if is_dictionary else array


def moment(text: str) -> datetime:
    """Return a stored time, in UTC."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def records(field: ColumnField, values: Iterable[Row]) -> list[dict[str, Any]]:
    """Return records with the names of their parts."""
    names = [part.name for part in field.parts]
    return [dict(zip(names, value, strict=True)) for value in values]


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [{name: _encodable(value_) for name, value_ in record.items()} for record in value]
    return value


def _in_batches(rows: Iterable[Row], write: Callable[[Sequence[Row]], object]) -> int:
    count, remaining = 0, iter(rows)
    while batch := tuple(islice(remaining, BATCH)):
        write(batch)
        count += len(batch)
    return count


def _member(field: ColumnField, value: Any) -> str:
    json_value = records(field, value) if field.parts and value is not None else value
    return (
        f"{json.dumps(field.name)}: {json.dumps(json_value, ensure_ascii=False, allow_nan=False)}"
    )


def _text(_: ColumnField, value: str | None) -> str:
    return "" if value is None else csv_text((guarded(value),), ()).removesuffix("\n")


def _json(field: ColumnField, value: Any) -> str:
    return _text(field, json.dumps(records(field, value), ensure_ascii=False, allow_nan=False))


def _truth(_: ColumnField, value: Any) -> str:
    if value is None:
        return ""
    return "true" if value else "false"


_CELLS: Mapping[ValueType, Callable[[ColumnField, Any], str]] = {
    ValueType.TEXT: _text,
    ValueType.WHOLE: lambda _, value: "" if value is None else str(value),
    ValueType.NUMBER: lambda _, value: "" if value is None else repr(float(value)),
    ValueType.TRUTH: _truth,
    ValueType.TIME: _text,
    ValueType.RECORDS: _json,
}


DICTIONARY, CROISSANT, PAGE = "dictionary.csv", "croissant.json", "README.md"
MEDIA_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
    "parquet": "application/x-parquet",
}
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""the context of Croissant 1.0

It is from https://docs.mlcommons.org/croissant/docs/croissant-spec.html, appendix 1.
"""
DATA_TYPES = {
    ValueType.TEXT: "sc:Text",
    ValueType.WHOLE: "sc:Integer",
    ValueType.NUMBER: "sc:Float",
    ValueType.TRUTH: "sc:Boolean",
    ValueType.TIME: "sc:DateTime",
    ValueType.RECORDS: "sc:Text",
}
FORMULAS = (
    "A cell of a CSV file that a spreadsheet would run as a formula (it begins with = + - @, a tab "
    "or a line end, and is no number) is neutralised: an apostrophe stands before it. A text that "
    "begins with apostrophes and then such a sign has one apostrophe more, so taking one "
    "apostrophe off gives every text back. Parquet and JSON Lines hold texts as they are."
)
EMPTY = (
    "An empty cell of a CSV file is a value that is missing, or an empty text; Parquet and "
    "JSON Lines tell them apart."
)
PSEUDONYMS = (
    "People stand under pseudonyms (p-…): a keyed hash of the name, whose key is the identity of "
    "the store. They are the same in all files of one store, differ between stores, and cannot be "
    "turned back without the store. What people wrote in their own words (notes, reasons) is word "
    "for word."
)
NAMED = (
    "People stand under their names, because --names was given. Think before you pass these "
    "files on."
)
EXPANDED = "Rows are expanded: one stands for one answer."
COLLAPSED = (
    "One row stands for all answers of a draw that are alike; count says how many. "
    "--expand repeats rows."
)


@dataclass(frozen=True, slots=True)
class File:
    """One written file of rows."""

    of: RowKind
    name: str
    rows: int
    bytes: int
    sha256: str


def dictionary(files: Iterable[File]) -> str:
    """Return the data dictionary, one line per column."""
    header = ("file", "column", "type", "meaning", "empty")
    return csv_text(
        header, [[guarded(cell) for cell in line] for file in files for line in _lines(file)]
    )


def _lines(file: File) -> Iterator[Sequence[str]]:
    for field in file.of.fields:
        yield (file.name, field.name, field.type.value, field.meaning, _empty(field))
        for part in field.parts:
            yield (
                file.name,
                f"{field.name}[].{part.name}",
                part.type.value,
                part.meaning,
                _empty(part),
            )


def _empty(field: ColumnField) -> str:
    return field.empty or "never empty, unless a text is"


def page(files: Sequence[File], sentences: Iterable[str], left_out: Iterable[str]) -> str:
    """Return the page for people."""
    contents = "\n".join(f"- `{file.name}`: {file.rows:,} rows. {file.of.about}" for file in files)
    notes = dict.fromkeys((*sentences, *(note for file in files for note in file.of.notes)))
    note_lines = "\n".join(f"- {_literal(note)}" for note in notes)
    missing = "\n".join(f"- {_literal(note)}" for note in left_out)
    missing_section = f"\n## Left out\n\n{missing}\n" if missing else ""
    return (
        f"# Data of a workbench store\n\nWritten by workbench {__version__}. `{DICTIONARY}` says "
        "what each column "
        f"means, and what an empty cell means. `{CROISSANT}` describes the files for programs "
        "(MLCommons Croissant "
        f"1.0).\n\n{contents}\n\n## To know\n\n{note_lines}\n{missing_section}"
    )


def _literal(text: str) -> str:
    """Return text that Markdown shows unchanged, on one line."""
    from workbench.figures.visible import visible

    return visible(" ".join(text.split())).replace("<", "\\<")


def croissant(
    name: str,
    files: Sequence[File],
    instruments: Sequence[Instrument],
    format_: str,
    last: str,
    about: Iterable[str],
) -> str:
    """Return the Croissant record (MLCommons Croissant 1.0) of the files, as JSON-LD.

    last : time of the newest data, and the only date of the record, so that it is reproducible
    """
    licences = list(
        dict.fromkeys(instrument.licence for instrument in instruments if instrument.licence)
    )
    citations = list(
        dict.fromkeys(instrument.citation for instrument in instruments if instrument.citation)
    )
    record: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": " ".join((*(f"{file.of.title}: {file.of.about}" for file in files), *about)),
        "version": "1.0.0",
        **({"datePublished": last[:10]} if last else {}),
        **({"license": licences[0] if len(licences) == 1 else licences} if licences else {}),
        **({"citeAs": " ".join(citations)} if citations else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{file.bytes} B",
                "encodingFormat": MEDIA_TYPES[format_],
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": file.of.name,
                "name": file.of.name,
                "description": file.of.about,
                "field": [_field(file, field, nested=format_ != "csv") for field in file.of.fields],
            }
            for file in files
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _field(file: File, field: ColumnField, *, nested: bool) -> dict[str, Any]:
    """Return a field. Records are `nested` if the format has lists. Otherwise they are text."""
    identifier = f"{file.of.name}/{field.name}"
    description = {
        "@type": "cr:Field",
        "@id": identifier,
        "name": field.name,
        "description": f"{field.meaning}. Empty: {field.empty}."
        if field.empty
        else f"{field.meaning}.",
    }
    source = {"fileObject": {"@id": file.name}, "extract": {"column": field.name}}
    if not (field.parts and nested):
        return description | {"dataType": DATA_TYPES[field.type], "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{identifier}/{part.name}",
            "name": f"{field.name}/{part.name}",
            "description": f"{part.meaning}.",
            "dataType": DATA_TYPES[part.type],
            "source": source | {"transform": {"jsonPath": f"$.{part.name}"}},
        }
        for part in field.parts
    ]
    return description | {"repeated": True, "subField": parts}


FORMATS = tuple(WRITERS)
Tell = Callable[[str, int], None]
"a function of a kind of rows and the number written"
TOLD_EVERY = 10_000


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    folder: Path
    files: tuple[File, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def export(
    store: Store,
    kinds: Sequence[RowKind],
    format_: str,
    choice: RowSelection,
    folder: Path,
    tell: Tell | None = None,
) -> Exported:
    """Write kinds of rows into a new or empty folder.

    Rows are written into a temporary folder, which is renamed at the end. They are streamed, so
    memory does not grow with them. Raises UsageError if the folder cannot be written, UnknownName
    for names that the store lacks, MissingPackage for a format whose package is not installed.
    """
    if format_ not in FORMATS:
        raise UsageError(f"rows are written as {', '.join(FORMATS)}; found the format {format_}")
    if format_ == "parquet":
        arrow()
    choice.check(store)
    target = expanded(folder)
    check_place(target, force=False)
    try:
        with made_beside(target) as fresh:
            fresh.mkdir()
            written = store.at_once(
                lambda: _write_kinds(store, kinds, format_, choice, fresh, tell)
            )
            fresh.rename(target)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written ({error.strerror}); nothing of it is there. Free some "
            "space, or give another folder."
        ) from error
    return Exported(target, *written)


def _write_kinds(
    store: Store,
    kinds: Sequence[RowKind],
    format_: str,
    choice: RowSelection,
    fresh: Path,
    tell: Tell | None,
) -> tuple[tuple[File, ...], tuple[str, ...], tuple[str, ...]]:
    files = []
    for row_kind in kinds:
        path = fresh / f"{row_kind.name}.{format_}"
        rows = (
            row_kind.batches(store, choice)
            if format_ in BY_COLUMNS
            else row_kind.read(store, choice)
        )
        count = WRITERS[format_](row_kind, _with_progress(row_kind.name, rows, tell), path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files.append(File(row_kind, path.name, count, path.stat().st_size, digest))
    notes = tuple(_file_notes(store, kinds, format_, choice))
    instruments = [
        store.instruments.get(name) for name in choice.instruments or store.instruments.names()
    ]
    last = store.data_rows.last()
    record = croissant(store.path.stem, files, instruments, format_, last, notes)
    (fresh / DICTIONARY).write_text(dictionary(files), encoding="utf-8")
    (fresh / CROISSANT).write_text(record, encoding="utf-8")
    (fresh / PAGE).write_text(page(files, notes, choice.left_out), encoding="utf-8")
    return tuple(files), notes, tuple(choice.left_out)


def _with_progress(
    name: str, made: Iterator[Row] | Iterator[ColumnBatch], tell: Tell | None
) -> Iterator[Row | ColumnBatch]:
    if tell is None:
        yield from made
        return
    count = 0
    for item in made:
        previous_count = count
        count += len(item) if isinstance(item, ColumnBatch) else 1
        for step in range(previous_count // TOLD_EVERY + 1, count // TOLD_EVERY + 1):
            tell(name, step * TOLD_EVERY)
        yield item
    tell(name, count)


def _file_notes(
    store: Store, kinds: Sequence[RowKind], format_: str, choice: RowSelection
) -> Iterator[str]:
    """Yield notes on the files."""
    if format_ == "csv":
        yield FORMULAS
        yield EMPTY
    yield NAMED if choice.names else PSEUDONYMS
    if any(row_kind.name in COUNTED for row_kind in kinds):
        yield EXPANDED if choice.expand else COLLAPSED
        if n_scored := store.data_rows.scored(choice.chosen(store)):
            yield (
                f"{plural(n_scored, 'prompt')} {'was' if n_scored == 1 else 'were'} asked for "
                "probabilities "
                "instead of answers; these are rows of their own (--what probabilities)."
            )


COUNTED = frozenset({"answers", "readings"})


KINDS: Mapping[str, RowKind] = {
    kind.name: kind
    for kind in (ANSWERS, READINGS, PROBABILITIES, LABELS, RULINGS, VERDICTS, FIGURES)
}


def kinds(names: Sequence[str]) -> tuple[RowKind, ...]:
    """Return kinds of rows by their names, each once. Raises UnknownName."""
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise UnknownName(
            f"--what has no {', '.join(map(repr, unknown))}. Available: {', '.join(KINDS)}"
        )
    return tuple(KINDS[name] for name in dict.fromkeys(names))
