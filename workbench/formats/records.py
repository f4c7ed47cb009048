"""The records of a table in any kind of file, as text with their places.

A file may be CSV with any separator, JSON, TOML, Excel, Parquet, SPSS or Stata. Its first bytes
tell what it is, whatever its name. Spreadsheets change data on saving, and a lenient reader turns
that into silently wrong data. So a cell whose value is uncertain is a fault with its place.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.parsers import expat
from zipfile import ZipFile

from workbench.errors import Finding, InputError, MissingPackage, UsageError
from workbench.formats.numbers import LARGEST, finite_number, with_point
from workbench.formats.packed import (
    FREE_BYTES,
    GZIP,
    RATIO,
    ZIP,
    ZSTD,
    content,
    is_packed,
    most_bytes,
    name_of,
    opened,
)
from workbench.formats.statistics_files import UnreadableFile, contents
from workbench.installed import install
from workbench.toml_files import DEEPEST, parse_toml, too_deep

LONGEST = 2**24
"""the largest number of characters of a line, and of a cell, of a table: a longer one is no text
that anybody asks or reads, but may take all memory"""
csv.field_size_limit(LONGEST)  # the default of 131,072 characters refuses long texts

UTF_8 = "a file saved as UTF-8 (in Excel: 'CSV UTF-8'), or its encoding: --encoding NAME"
SEPARATORS, LOOKED_AT, LOOKED_AT_CHARACTERS = ",;\t|", 20, 65_536
"""signs between fields, and the numbers of records and of characters from which the separator is
found"""
COMMA = ","
MOST_OF_NAME = 60
"the largest number of characters of a column's name below a title"
LOOKED_AT_ROWS = 1000
"number of rows from which it is told whether columns without a name are empty"
LEFT_OUT, NUMBER = "-", "#"
"""the name that a mapping gives a column that is not read, and the name of a column that every
table has: the number of the row"""
_WORD = re.compile(rb"[^\s,;\"]*")
_RULE_CELL = re.compile(r":?-+:?")
_SAID = re.compile(r"sep=(.)\r?\n")
"the line that tells Excel the separator"
FEWER = "fewer, or --most-bytes, which allows more"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_EMPTY = frozenset({"", "nan"})
MOST_FINDINGS = 1000
"number of faults after which reading ends, since nobody corrects more of them by hand"
MOST_COLUMNS = 16_384
"the limit of spreadsheets"
MOST_SHEETS = 1000
FREE_CELLS, CELLS_A_BYTE = 2**20, 16
"""the number of cells that any table may have, and the number for each byte of a larger file.
Packed surveys with many gaps have 2 to 5."""
FREE_SIGNS, SIGNS_A_BYTE = FREE_BYTES, RATIO
"the same limits for the characters of the cells"


class FileKind(StrEnum):
    """The kind of a file."""

    TEXT = "CSV"
    LINES = "JSON Lines"
    JSON = "JSON"
    TOML = "TOML"
    EXCEL = "Excel"
    PARQUET = "Parquet"
    SPSS = "SPSS"
    STATA = "Stata"


NEEDS = {
    FileKind.EXCEL: "openpyxl",
    FileKind.PARQUET: "pyarrow",
    FileKind.SPSS: "pyreadstat",
    FileKind.STATA: "pyreadstat",
}


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """The settings for reading a file that does not describe itself."""

    columns: Mapping[str, str] = field(default_factory=dict)
    "name in the file -> name here, or `LEFT_OUT`"
    sheet: str = ""
    "sheet of a spreadsheet, or an empty string for the only one"
    encoding: str = ""
    "encoding of a text, or an empty string for UTF-8, or for UTF-16 with its mark"
    header: bool = True
    "whether the first record names the columns. Otherwise their numbers do."
    answers: Mapping[str, str] = field(default_factory=dict)
    "word for a party's answer -> the stance that it stands for"
    language: str = ""
    "language of the texts, or an empty string for the one of the file or its layout"
    decimal: str = ""
    "sign before the decimals of a number, or an empty string for a point"
    header_row: int = 0
    """line or row of a text or spreadsheet that names the columns, or 0 for the first one that
    is not empty"""
    exact: bool = False
    "whether line ends within cells stay as they are, for texts that are compared with stored ones"


AS_IS = ReadSettings()


@dataclass(slots=True)
class Findings:
    """The faults found so far.

    Reading continues so that the user sees all of them at once, up to `MOST_FINDINGS`.
    """

    found: list[Finding] = field(default_factory=list)
    "errors: the file cannot be read as it is"
    warned: list[Finding] = field(default_factory=list)
    "implausible but possibly correct values: the file is read, and the user is warned"
    counted: dict[str, str] = field(default_factory=dict)
    "name of a file -> the unit that its places count, if they are no lines"

    def add(
        self, file: Path, line: int | None, column: str | None, problem: str, expected: str
    ) -> None:
        self.found.append(self._finding(file, line, column, problem, expected))
        if len(self.found) >= MOST_FINDINGS:
            self.check()

    def warn(
        self, file: Path, line: int | None, column: str | None, problem: str, expected: str
    ) -> None:
        self.warned.append(self._finding(file, line, column, problem, expected))

    def check(self) -> None:
        """Raise InputError if there are faults, sorted by file and line."""
        files = list(dict.fromkeys(finding.file for finding in self.found))
        if self.found:
            raise InputError(
                sorted(
                    self.found, key=lambda finding: (files.index(finding.file), finding.line or 0)
                )
            )

    def _finding(
        self, file: Path, line: int | None, column: str | None, problem: str, expected: str
    ) -> Finding:
        return Finding(
            file.name, line or None, column, problem, expected, self.counted.get(file.name, "line")
        )


def kind_of(path: Path) -> FileKind:
    """Return the kind of a file by its content. Raises UsageError if it cannot be read."""
    with opened(path) as file:
        begin = file.read(4096)
    if begin.startswith(ZIP):
        return FileKind.EXCEL
    if begin.startswith((GZIP, ZSTD)):
        raise UsageError(f"{path}: found a packed file within a packed file; unpack it first")
    suffix = Path(name_of(path)).suffix
    if begin.startswith(b"PAR1"):
        return FileKind.PARQUET
    if begin.startswith((b"$FL2", b"$FL3")):
        return FileKind.SPSS
    if begin.startswith(b"<stata_dta>") or (
        begin[:1] in b"\x72\x73" and begin[1:2] in (b"\x01", b"\x02")
    ):
        return FileKind.STATA
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return (
            FileKind.JSON
            if suffix == ".json" or text.partition(b"\n")[0].strip() == b"{"
            else FileKind.LINES
        )
    if text.startswith(b"[") and suffix != ".toml":
        return FileKind.JSON
    return FileKind.TOML if suffix == ".toml" else FileKind.TEXT


def records(
    path: Path, findings: Findings, settings: ReadSettings = AS_IS
) -> Iterator[tuple[int, list[str]]]:
    """Yield (place, cells) of each record: first the names of the columns, then the rows.

    Excluded columns are missing. A place is the line on which a record of a text begins, and in
    other files the number of the row. Every fault is noted. Raises UsageError if the file cannot be
    read or has several sheets, and MissingPackage if the package for its kind is missing.
    """
    kind = kind_of(path)
    _check_settings(path, kind, settings)
    if kind is not FileKind.TEXT:
        findings.counted[path.name] = "row" if kind in NEEDS else "entry"
    if kind in (FileKind.SPSS, FileKind.STATA):
        numbered_rows = _of_statistics(path, kind, findings)
    else:
        numbered_rows = _READERS[kind](path, findings, settings)
    numbered_rows = _bounded(path, numbered_rows, findings)
    if settings.header:
        numbered_rows = _without_empty_ends(path, numbered_rows, findings)
    if settings.decimal == COMMA:
        numbered_rows = _with_points(numbered_rows)
    if settings.columns or not settings.header:
        numbered_rows = _mapped(path, numbered_rows, findings, settings)
    yield from numbered_rows


def _check_settings(path: Path, kind: FileKind, settings: ReadSettings) -> None:
    """Raise UsageError for a setting that does not apply to a kind of file.

    A sheet applies to spreadsheets and JSON. An encoding applies to texts. A header row applies to
    texts and spreadsheets. Some kinds of file cannot be read while they are packed.
    """
    has_names = kind not in (FileKind.TEXT, FileKind.EXCEL)
    if settings.sheet and kind not in (FileKind.EXCEL, FileKind.JSON):
        raise UsageError(f"{path}: found {kind}, which has no sheets; leave --sheet out")
    if settings.encoding and kind in NEEDS:
        raise UsageError(
            f"{path}: found {kind}, which says its encoding itself; leave --encoding out"
        )
    if not settings.header and has_names:
        raise UsageError(f"{path}: found {kind}, whose columns have names; leave --no-header out")
    if settings.header_row and has_names:
        raise UsageError(f"{path}: found {kind}, whose columns have names; leave --header-row out")
    if kind in (FileKind.PARQUET, FileKind.SPSS, FileKind.STATA) and is_packed(path):
        raise UsageError(f"{path}: found {kind} in a packed file; unpack it first")


def _bounded(
    path: Path, records: Iterator[tuple[int, list[str]]], findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield records until there are too many columns, cells or characters.

    The limits depend on the size of the file, since tables of some kinds describe in a few bytes
    what fills the memory.
    """
    size = path.stat().st_size
    cells, signs = _most_cells(path), max(FREE_SIGNS, SIGNS_A_BYTE * size, most_bytes() or 0)
    for place, record in records:
        text = "".join(record)
        cells, signs = cells - len(record), signs - len(text)
        if not is_text(text):
            column = next(
                (number for number, cell in enumerate(record, start=1) if not is_text(cell)), None
            )
            findings.add(
                path,
                place,
                str(column),
                "a NUL or half a surrogate pair",
                "text that UTF-8 can hold",
            )
        if len(record) > MOST_COLUMNS:
            findings.add(path, place, None, f"{len(record):,} columns", f"at most {MOST_COLUMNS:,}")
        if min(cells, signs) < 0:
            unit = "cells" if cells < 0 else "characters"
            findings.add(
                path, place, None, f"many more {unit} than a file of {size:,} bytes has", FEWER
            )
        if len(record) > MOST_COLUMNS or min(cells, signs) < 0:
            findings.check()
        yield place, record


def _without_empty_ends(
    path: Path, records: Iterator[tuple[int, list[str]]], findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield records without the columns after the last one with a name, if they are empty.

    Spreadsheets leave such columns. Columns without a name that have a value among the first rows
    stay. A later value there is a fault.
    """
    first_records = list(islice(records, LOOKED_AT_ROWS))
    header = next((cells for _, cells in first_records if not is_blank(cells)), [])
    width = _used_width(header, first_records)
    for place, cells in chain(first_records, records):
        extra_cells = [cell.strip() for cell in cells[width:]]
        if not any(extra_cells):
            is_row = width > 0 and not is_blank(cells)
            yield place, cells[:width] if is_row else cells
            continue
        if not width < len(header) == len(cells):
            yield place, cells
            continue
        column = next(number for number, cell in enumerate(extra_cells, width + 1) if cell)
        findings.add(
            path,
            place,
            None,
            f"a value in column {column}, which has no name",
            "a name for the column in the header, or an empty column",
        )
        yield place, cells[:width]


def _used_width(header: Sequence[str], records: Sequence[tuple[int, list[str]]]) -> int:
    """Return the number of columns up to the last one with a name, or all if more have a value."""
    width = _width_of(header)
    for _, cells in records:
        if len(cells) == len(header) and _width_of(cells) > width:
            return len(header)
    return width


def _width_of(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last one that is not empty."""
    return max((number for number, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _with_points(records: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield records in which numbers with a decimal comma have a point.

    The first record has the names of columns.
    """
    is_header = True
    for place, cells in records:
        if is_header:
            is_header = is_blank(cells)
            yield place, cells
        else:
            yield place, [with_point(cell) for cell in cells]


def _most_cells(path: Path) -> int:
    """Return the number of cells that the table in a file may have."""
    return max(FREE_CELLS, CELLS_A_BYTE * path.stat().st_size, most_bytes() or 0)


def is_text(text: str) -> bool:
    """Return whether UTF-8 can encode a text, and SQLite keeps all of it."""
    return "\x00" not in text and (
        text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
    )


def _mapped(
    path: Path, records: Iterator[tuple[int, list[str]]], findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a file under the column names of a mapping.

    Records of another length are not changed, because a later check reports them.
    """
    columns: _MappedColumns | None = None
    row = 0
    for place, cells in records:
        if is_blank(cells):
            continue
        if columns is None:
            columns = _mapped_columns(path, place, cells, findings, settings)
            yield place, columns.header
            if settings.header:
                continue
        row += 1
        yield place, columns.cells_of(row, cells)


@dataclass(frozen=True, slots=True)
class _MappedColumns:
    """The columns of a table under the names of a mapping."""

    width: int
    "number of columns of the file"
    indices: Sequence[int]
    "the columns that are read"
    names: Sequence[str]
    row_numbers: str | None
    "name of the column with the number of the row, or None without one"

    @property
    def header(self) -> list[str]:
        extra_names = [] if self.row_numbers is None else [self.row_numbers]
        return [*self.names, *extra_names]

    def cells_of(self, row: int, cells: list[str]) -> list[str]:
        """Return the cells that are read of a row."""
        if len(cells) != self.width:
            return cells
        read_cells = [cells[index] for index in self.indices]
        if self.row_numbers is not None:
            read_cells.append(str(row))
        return read_cells


def _mapped_columns(
    path: Path, place: int, cells: Sequence[str], findings: Findings, settings: ReadSettings
) -> _MappedColumns:
    """Return the columns that the first record names. Mapped names that it lacks are noted."""
    names = [
        name.strip() if settings.header else str(number)
        for number, name in enumerate(cells, start=1)
    ]
    unique_names = _unique_names(names)
    for name in settings.columns:
        if name not in (*unique_names, NUMBER):
            expected = f"one of {', '.join(unique_names)}"
            findings.add(path, place, name, "no such column to map", expected)
    left_out = {name for name, mapped_name in settings.columns.items() if mapped_name == LEFT_OUT}
    indices: list[int] = []
    mapped_names: list[str] = []
    for index, (unique_name, name) in enumerate(zip(unique_names, names, strict=True)):
        mapped_name = settings.columns.get(unique_name, settings.columns.get(name, name))
        if mapped_name != LEFT_OUT or left_out.isdisjoint((unique_name, name)):
            indices.append(index)
            mapped_names.append(mapped_name)
    return _MappedColumns(len(cells), indices, mapped_names, settings.columns.get(NUMBER))


def _unique_names(names: Sequence[str]) -> list[str]:
    """Return the names by which a mapping may call columns.

    The second `answer` is `answer (2)`, and the third column is `3` if it has no name.

    Examples
    --------
    >>> _unique_names(["answer", "", "answer"])
    ['answer', '2', 'answer (2)']
    """
    counts = Counter[str]()
    unique_names = []
    for number, name in enumerate(names, start=1):
        counts[name] += 1
        if not name:
            unique_names.append(str(number))
        else:
            unique_names.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return unique_names


def objects(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield (place, value) of each line of JSON Lines, or of each element of a JSON list.

    Any other JSON is one value. Text that is not JSON, or nested too deeply, is noted.
    """
    if kind_of(path) is FileKind.LINES:
        findings.counted[path.name] = "line"
        for number, line in enumerate(text_lines(path, findings), start=1):
            if line.strip() and (value := _json(path, number, line, findings)) is not None:
                yield number, value
        return
    findings.counted[path.name] = "entry"
    text = read_text(path, findings)
    value = None if text is None else _json(path, 1, text, findings)
    if value is not None:
        yield from enumerate(value if isinstance(value, list) else [value], start=1)


def header_of(path: Path, settings: ReadSettings = AS_IS) -> list[str]:
    """Return the names of a file's columns, or an empty list if the file cannot be read."""
    try:
        if not settings.columns and (kind := kind_of(path)) in (FileKind.SPSS, FileKind.STATA):
            return [variable.name for variable in labelled(path, kind, Findings(), ()) or ()]
        numbered_rows = records(path, Findings(), settings)
        return next(
            ([name.strip() for name in cells] for _, cells in numbered_rows if not is_blank(cells)),
            [],
        )
    except (UsageError, MissingPackage):
        return []


def sheets_of(path: Path, settings: ReadSettings = AS_IS) -> dict[str, list[str]]:
    """Return the columns of each table of a file, by the name of the table.

    Tables are the sheets of a spreadsheet and the lists of a JSON object. Any other file, and a
    named sheet, is one table without a name.
    """
    value = None
    try:
        kind = kind_of(path)
        if kind is FileKind.EXCEL and not settings.sheet:
            return _columns_of_sheets(path, settings)
        if kind is FileKind.JSON and not settings.sheet:
            value = json.loads(read_text(path, Findings()) or "")
    except Exception:
        return {}
    columns_by_name = _columns_of_lists(value) if isinstance(value, dict) else {}
    return columns_by_name or {"": header_of(path, settings)}


def _columns_of_sheets(path: Path, settings: ReadSettings) -> dict[str, list[str]]:
    """Return the first row with a text in each sheet of a spreadsheet, by the sheet's title."""
    book = _book(path, read_only=True)
    begin = max(0, settings.header_row - 1)
    columns_by_title = {}
    for sheet in book.worksheets:
        rows = (
            [_cell_text(cell).strip() for cell in row] for row in islice(sheet.values, begin, None)
        )
        columns_by_title[sheet.title] = next(filter(any, rows), [])
    return columns_by_title


def _columns_of_lists(value: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the keys of the first object of each list of objects, by the list's key."""
    columns_by_name = {}
    for name, rows in value.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            columns_by_name[name] = [key for key, _ in _flat(rows[0])]
    return columns_by_name


def likely_header_row(path: Path, settings: ReadSettings = AS_IS) -> int | None:
    """Return the row that seems to name the columns below a title or comment.

    The result is None if the first row may be the header, or the file is neither a text nor a
    spreadsheet.
    """
    try:
        kind = kind_of(path)
        if (
            settings.header_row
            or not settings.header
            or kind not in (FileKind.TEXT, FileKind.EXCEL)
        ):
            return None
        if kind is FileKind.TEXT:
            return _header_line(
                [*islice(text_lines(path, Findings(), settings.encoding, LONGEST), 2 * LOOKED_AT)]
            )
        rows = list(islice(_records_of_excel(path, Findings(), settings), LOOKED_AT))
    except (UsageError, MissingPackage):
        return None
    filled = [(place, cells) for place, cells in rows if not is_blank(cells)]
    widest = max((_n_filled(cells) for _, cells in filled), default=0)
    if not filled or not _is_title(filled[0][1], widest):
        return None
    return next(
        (
            place
            for place, cells in filled
            if _n_filled(cells) == widest and _may_be_names(cells, widest)
        ),
        None,
    )


def _header_line(lines: Sequence[str]) -> int | None:
    """Return the number of the first line from which a text is an even table.

    It is None if that is its first line, or if there is none.
    """
    filled = [number for number, line in enumerate(lines, start=1) if line.strip()]
    for number in filled[:LOOKED_AT]:
        text = "".join(lines[number - 1 : number - 1 + LOOKED_AT])
        for separator in SEPARATORS:
            rows = _even_rows(text, separator)
            if not rows:
                continue
            title = next(csv.reader([lines[filled[0] - 1]], delimiter=separator), [])
            width = max(map(_width_of, rows))
            is_below = filled[0] != number and 2 * _n_filled(title) <= width
            return number if is_below and _n_filled(rows[0]) == width else None
    return None


def _even_rows(text: str, separator: str) -> list[list[str]]:
    """Return the rows of a table that has a header and equally many cells in each row.

    It is empty for any other text. The last row may be incomplete.
    """
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    rows = [cells for cells in islice(reader, LOOKED_AT) if not is_blank(cells)]
    if len(rows) < 2:
        return []
    widths = {len(cells) for cells in rows[:-1]}
    is_even = len(widths) == 1 and max(widths) >= 2
    return rows if is_even and _may_be_names(rows[0], 2) else []


def _n_filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _is_title(cells: Sequence[str], widest: int) -> bool:
    """Return whether a row has a title or a comment: one cell among rows of several."""
    return _n_filled(cells) == 1 < widest


def _may_be_names(cells: Sequence[str], fewest: int) -> bool:
    """Return whether cells may be names of columns.

    Names differ, and none of them is a number or a sentence.
    """
    names = [cell.strip() for cell in cells if cell.strip()]
    is_short = all(len(name) <= MOST_OF_NAME for name in names)
    has_other = any(finite_number(name) is not None or name.endswith((".", "!")) for name in names)
    return len(names) >= fewest and len(set(names)) == len(names) and is_short and not has_other


def keys_of(path: Path) -> list[str]:
    """Return the keys of a JSON file, or of the first object of JSON Lines.

    Keys of objects within have a dot.
    """
    lines = text_lines(path, Findings())
    try:
        value = json.loads("".join(lines) if kind_of(path) is FileKind.JSON else next(lines, ""))
        return (
            []
            if too_deep(value) or not isinstance(value, dict)
            else [name for name, _ in _flat(value)]
        )
    except (ValueError, RecursionError):
        return []


def is_blank(cells: Sequence[str]) -> bool:
    """Return whether a record is an empty line, or a row of empty cells.

    Spreadsheets leave such rows (`,,,,`).
    """
    return not cells or (len(cells) > 1 and not any(cell.strip() for cell in cells))


def read_text(path: Path, findings: Findings, encoding: str = "") -> str | None:
    """Return a file's text, or None after noting why it cannot be read.

    It is read as UTF-8 or, with its mark, UTF-16, unless another encoding is named.
    """
    n_before = len(findings.found)
    text = "".join(text_lines(path, findings, encoding))
    return text if len(findings.found) == n_before else None


def text_lines(
    path: Path, findings: Findings, encoding: str = "", longest: int = -1
) -> Iterator[str]:
    """Yield the lines of a text with their ends, as `read_text` reads it.

    A fault, or a line of more than `longest` bytes (-1: any), is noted and ends them.
    """
    with opened(path) as file:
        begin = file.peek(400)[:400]  # type: ignore[attr-defined]  # it is buffered
        has_mark = begin.startswith(_UTF_16)
        if not encoding and not has_mark and _is_utf_16(begin):
            findings.add(path, 1, None, "a file in UTF-16 without the mark that says so", UTF_8)
            return
        decoder = _LineDecoder(path, findings, encoding, _codec_of(encoding, has_mark=has_mark))
        # A byte of a line's end may be part of another sign.
        reads_whole = decoder.codec.startswith(("utf-16", "utf-32"))
        lines = [file.read()] if reads_whole else iter(partial(file.readline, longest), b"")
        for number, raw in enumerate(lines, start=1):
            if len(raw) == longest and not raw.endswith(b"\n"):
                findings.add(
                    path, number, None, f"a line of more than {longest:,} bytes", "lines of a table"
                )
                return
            line = decoder.decoded(number, raw)
            if line is None:
                return
            yield line


def _codec_of(encoding: str, *, has_mark: bool) -> str:
    """Return the name of the codec of a text. Raises UsageError for an unknown encoding."""
    default = "utf-16" if has_mark else "utf-8-sig"
    try:
        codec = codecs.lookup(encoding or default).name
        b"".decode(codec)  # not all of them are of texts
    except LookupError as error:
        raise UsageError(
            f"--encoding {encoding}: no encoding has this name; found often: windows-1252"
        ) from error
    return codec


class _LineDecoder:
    """Decodes the lines of a file, and notes the first fault."""

    def __init__(self, path: Path, findings: Findings, encoding: str, codec: str) -> None:
        self.codec = codec
        self._path = path
        self._findings = findings
        self._encoding = encoding
        "the encoding that was named, or an empty string"
        self._offset = 0
        self._ascii_before = True

    def decoded(self, number: int, raw: bytes) -> str | None:
        """Return a line as text, or None after noting why it cannot be decoded."""
        # Only the first line may begin with a mark.
        codec = "utf-8" if number > 1 and self.codec == "utf-8-sig" else self.codec
        try:
            line = raw.decode(codec)
        except UnicodeDecodeError as error:
            self._note_byte(number, raw, error.start)
            return None
        if "\x00" in line:
            nul_line = number + line.count("\n", 0, line.index("\x00"))
            self._findings.add(self._path, nul_line, None, "a NUL byte", "a text file in UTF-8")
            return None
        self._offset += len(raw)
        self._ascii_before = self._ascii_before and raw.isascii()
        return line

    def _note_byte(self, number: int, raw: bytes, start: int) -> None:
        """Note the first byte of a line that cannot be decoded."""
        hint = ""
        if not self._encoding and self._ascii_before:
            hint = _windows_1252_hint(raw, start)
        problem = (
            f"byte 0x{raw[start]:02X} at position {self._offset + start}, which is not "
            f"{self._encoding or 'UTF-8'}{hint}"
        )
        line = number + raw.count(b"\n", 0, start)
        self._findings.add(self._path, line, None, problem, UTF_8)


def _is_utf_16(content: bytes) -> bool:
    """Return whether bytes have a NUL in every other place, as Latin text has in UTF-16."""
    begin = content[:400]
    return any(begin[start::2].count(0) * 10 > 9 * len(begin[start::2]) > 27 for start in (0, 1))


def _windows_1252_hint(content: bytes, position: int) -> str:
    """Return a hint with the word at the first byte that is not UTF-8.

    `position` is that of the byte. The hint is empty if the word cannot be Windows-1252.
    """
    if not content[:position].isascii():
        return ""
    word = next(
        (match for match in _WORD.finditer(content) if match.start() <= position < match.end()),
        None,
    )
    try:
        decoded = word[0].decode("cp1252") if word else ""
    except UnicodeDecodeError:
        return ""
    if not any(map(str.isalpha, decoded)):
        return ""
    return f"; in Windows-1252 this is {decoded[:40]!r}: --encoding windows-1252 reads it so"


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────


def _records_of_text(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    lines = text_lines(path, findings, settings.encoding, LONGEST)
    n_above = max(0, settings.header_row - 1)
    lines = islice(lines, n_above, None) if n_above else lines
    head = [*islice(lines, LOOKED_AT)]
    if not head:
        return
    # A file with the line ends of Windows has them within its cells, too: there they are line
    # breaks of a text.
    is_windows = not settings.exact and _ends_as_in_windows("".join(head))
    separators = SEPARATORS if settings.decimal != COMMA else SEPARATORS.replace(COMMA, "") + COMMA
    for place, cells in _without_frame(records_of(path, chain(head, lines), findings, separators)):
        if is_windows:
            cells = [cell.replace("\r\n", "\n") if "\r" in cell else cell for cell in cells]
        yield place + n_above, cells


def _ends_as_in_windows(head: str) -> bool:
    """Return whether the first record at the beginning of a text has the line end of Windows.

    A line end within quotes belongs to a cell. If no record ends, as behind a stray quote, the
    first line decides.

    Examples
    --------
    >>> _ends_as_in_windows('ref,original\\r\\n'), _ends_as_in_windows('"a\\r\\nb",original\\n')
    (True, False)
    """
    is_quoted = False
    for index, character in enumerate(head):
        if character == '"':
            is_quoted = not is_quoted
        elif character == "\n" and not is_quoted:
            return head[:index].endswith("\r")
    return head.partition("\n")[0].endswith("\r")


def _without_frame(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield records of a text, without the frame of a table in Markdown.

    The frame has the bars at its edges and the rule below its names.

    Examples
    --------
    >>> table = (["", " Nr ", " Text ", ""], ["", "---", ":--", ""], ["", " 1 ", " Tolls. ", ""])
    >>> list(_without_frame(enumerate(table, start=1)))
    [(1, ['Nr', 'Text']), (3, ['1', 'Tolls.'])]
    """
    first_rows = [*islice(rows, 2)]
    is_framed = len(first_rows) == 2 and all(
        len(cells) > 2 and not cells[0].strip() for _, cells in first_rows
    )
    if not is_framed or not all(
        _RULE_CELL.fullmatch(cell.strip()) for cell in first_rows[1][1][1:-1]
    ):
        yield from chain(first_rows, rows)
        return
    for place, cells in chain(first_rows[:1], rows):
        inside = cells[1:-1] if cells and not cells[-1].strip() else cells[1:]
        yield place, [cell.strip() for cell in inside]


def records_of(
    path: Path, lines: Iterator[str], findings: Findings, signs: str = SEPARATORS
) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record of a text with separators, one of `signs`."""
    head, n_characters = list[str](), 0
    for line in lines:
        head.append(line)
        if (n_characters := n_characters + len(line)) > LOOKED_AT_CHARACTERS:
            break
    match = _SAID.match(head[0]) if head else None
    n_skipped = 1 if match else 0
    separator = match[1] if match else _separator("".join(head), signs)
    remaining = (
        physical_line
        for line in chain(head[n_skipped:], lines)
        for physical_line in _physical_lines(line)
    )
    reader = csv.reader(remaining, strict=True, delimiter=separator)
    first_line = n_skipped + 1
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            findings.add(
                path,
                first_line,
                None,
                f"a record that is not CSV ({error})",
                "balanced quotes, doubled inside",
            )
            return
        yield first_line, fields
        first_line = n_skipped + reader.line_num + 1


def _physical_lines(line: str) -> Iterable[str]:
    """Return the lines within a line. Old programs end them with a carriage return alone."""
    return (
        StringIO(line, newline="")
        if "\r" in line.removesuffix("\r\n") or "\n" in line[:-1]
        else (line,)
    )


def _separator(text: str, signs: str = SEPARATORS) -> str:
    """Return the sign that separates the fields of a text.

    It is the first one that divides all of the first records into the same number of fields,
    otherwise the one that divides the header into the most. It is a comma if none does.
    """
    counts_by_separator = {separator: _field_counts(text, separator) for separator in signs}
    for separator, counts in counts_by_separator.items():
        if len(set(counts)) == 1 and counts[0] > 1:
            return separator
    header_counts = {separator: counts[0] for separator, counts in counts_by_separator.items()}
    separator = max(header_counts, key=header_counts.__getitem__)
    return separator if header_counts[separator] > 1 else COMMA


def _field_counts(text: str, separator: str) -> list[int]:
    """Return the number of fields of each of the first records, or a 0 if there are no records."""
    reader = csv.reader(StringIO(text[:LOOKED_AT_CHARACTERS], newline=""), delimiter=separator)
    counts = [len(cells) for cells in islice(reader, LOOKED_AT) if not is_blank(cells)]
    if len(text) > LOOKED_AT_CHARACTERS and len(counts) > 1:
        return counts[:-1]  # the last record may be incomplete
    return counts or [0]


def _records_of_lines(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    """Yield the objects of JSON Lines as rows.

    The columns are the keys of all objects, so the file is read twice.
    """
    findings.counted[path.name] = "line"
    names = dict[str, None]()
    for number, line in enumerate(text_lines(path, findings, settings.encoding), start=1):
        value = _json(path, number, line, findings) if line.strip() else None
        if isinstance(value, dict):
            names |= dict.fromkeys(name for name, _ in _flat(value))
        elif value is not None:
            findings.add(
                path,
                number,
                None,
                f"JSON that is no object: {line.strip()[:40]}",
                "an object on each line",
            )
    if not names:
        return
    yield 0, list(names)
    for number, line in enumerate(text_lines(path, Findings(), settings.encoding), start=1):
        value = _json(path, number, line, Findings()) if line.strip() else None
        if isinstance(value, dict):
            row = dict(_flat(value))
            yield number, [row.get(name, "") for name in names]


def _records_of_json(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    """Yield the objects of a JSON list as rows.

    The list may be the value of a key, if no other key has a list.
    """
    text = read_text(path, findings, settings.encoding)
    value = None if text is None else _json(path, 1, text, findings)
    yield from _of_lists(path, value, findings, settings.sheet)


def json_rows(
    path: Path, settings: ReadSettings = AS_IS
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (place, object) of each row of a table in JSON or JSON Lines.

    The places are those of `records`. Faults are not noted here, because `records` notes them.
    """
    findings = Findings()
    if kind_of(path) is FileKind.LINES:
        for number, line in enumerate(text_lines(path, findings, settings.encoding), start=1):
            value = _json(path, number, line, findings) if line.strip() else None
            if isinstance(value, dict):
                yield number, value
        return
    text = read_text(path, findings, settings.encoding)
    value = None if text is None else _json(path, 1, text, findings)
    yield from enumerate(_row_list(value, settings.sheet) or [], start=1)


def _row_list(value: object, sheet: str = "") -> list[Mapping[str, Any]] | None:
    """Return the rows of a JSON value, or None if it has no single list of objects."""
    if isinstance(value, dict):
        lists = [element for element in value.values() if isinstance(element, list) and element]
        tables = [rows for rows in lists if isinstance(rows[0], dict)]
        if isinstance(value.get(sheet), list):
            value = value[sheet]
        elif len(tables) == 1:
            value = tables[0]
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return value
    return None


def _records_of_toml(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path, findings, settings.encoding)
    try:
        value = None if text is None else parse_toml(text, path)
    except InputError as error:
        findings.counted[path.name] = "line"
        findings.found += error.findings
        return
    yield from _of_lists(path, value, findings)


def _of_lists(
    path: Path, value: object, findings: Findings, sheet: str = ""
) -> Iterator[tuple[int, list[str]]]:
    rows = _row_list(value, sheet)
    if rows is not None:
        yield from _of_objects(list(enumerate(rows, start=1)))
    elif value is not None:
        findings.add(
            path, None, None, "no list of objects", "one list, with an object for each row"
        )


class RepeatedKey(ValueError):
    """The error for a duplicate key, of which Python would silently keep the last value."""


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of pairs, for `json.loads`. Raises RepeatedKey for a duplicate key."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise RepeatedKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return value


def _json(path: Path, line: int, text: str, findings: Findings) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=without_repeats)
        is_too_deep = too_deep(value)
    except RecursionError:
        is_too_deep = True
    except RepeatedKey as error:
        findings.add(path, line, str(error), "the same key twice in one object", "every key once")
        return None
    except ValueError as error:
        error_line = line + getattr(error, "lineno", 1) - 1
        findings.counted[path.name] = "line"
        reason = "a number of more than 4,300 digits" if "digits" in str(error) else str(error)
        findings.add(path, error_line, None, f"what is not JSON ({reason})", "valid JSON")
        return None
    if is_too_deep:
        findings.add(
            path,
            line,
            None,
            "JSON that is nested too deeply",
            "objects within objects, a few levels deep",
        )
        return None
    return value


def _of_objects(
    records: Sequence[tuple[int, Mapping[str, Any]]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield objects as rows. An object within one gives columns with a dot, `issues.economy`."""
    flat_rows = [(place, dict(_flat(json_object))) for place, json_object in records]
    names = list(dict.fromkeys(name for _, row in flat_rows for name in row))
    if names:
        yield 0, names
    for place, row in flat_rows:
        yield place, [row.get(name, "") for name in names]


def _flat(json_object: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in json_object.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield f"{before}{key}", ", ".join(value)
        else:
            yield f"{before}{key}", _cell_text(value)


def _cell_text(value: object) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        is_exact = value.is_integer() and abs(value) < LARGEST
        return str(int(value)) if is_exact else repr(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    return (
        str(value)
        if isinstance(value, (str, int))
        else json.dumps(value, ensure_ascii=False, default=str)
    )


# ── files of other programs ───────────────────────────────────────────────────────────────────────


def _package(kind: FileKind) -> ModuleType:
    """Return the package that reads a kind of file. Raises MissingPackage if it is missing."""
    from importlib import import_module

    name = NEEDS[kind]
    try:
        return import_module("pyarrow.parquet" if name == "pyarrow" else name)
    except ImportError as error:
        raise _missing(kind) from error


def _missing(kind: FileKind) -> MissingPackage:
    return MissingPackage(
        f"{kind} files need the package {NEEDS[kind]}; install it with: {install('tables')}"
    )


def _records_of_excel(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, list[str]]]:
    try:
        book = _book(path, data_only=True)
    except (MissingPackage, UsageError):
        raise
    except Exception as error:  # it raises whatever its parts raise
        findings.add(
            path,
            None,
            None,
            f"a spreadsheet that cannot be read ({error})",
            "an Excel file that opens",
        )
        return
    if not book.worksheets:
        findings.add(path, None, None, "a spreadsheet without a sheet", "an Excel file that opens")
        return
    sheet = _sheet_of(path, book, settings.sheet)
    if not _check_sheet(path, sheet, findings, settings):
        return
    rows = [
        [_excel_cell_text(value) for value in cells] for cells in sheet.iter_rows(values_only=True)
    ]
    width = max(map(_last_filled, rows), default=0)
    _note_formulas(path, sheet.title, rows, findings)
    for row_number, row in enumerate(rows, start=1):
        if row_number >= settings.header_row:
            yield row_number, row[:width]


def _last_filled(row: Sequence[str]) -> int:
    """Return the number of cells of a row up to the last one that has a text, spaces included."""
    return max((number for number, cell in enumerate(row, start=1) if cell), default=0)


def _sheet_of(path: Path, book: Any, name: str) -> Any:
    """Return the named sheet of a spreadsheet, or the only one that is filled.

    Raises UsageError if no sheet has the name, or several do.
    """
    if name:
        for worksheet in book.worksheets:
            if worksheet.title == name:
                return worksheet
        raise UsageError(f"{path}: no sheet {name!r}; there are {', '.join(book.sheetnames)}")
    filled = [
        worksheet
        for worksheet in book.worksheets
        if worksheet.max_row > 1 or worksheet.max_column > 1
    ]
    if len(filled) > 1:
        raise UsageError(
            f"{path}: {len(filled)} sheets: {', '.join(tab.title for tab in filled)}; --sheet "
            "names one"
        )
    return filled[0] if filled else book.worksheets[0]


def _check_sheet(path: Path, sheet: Any, findings: Findings, settings: ReadSettings) -> bool:
    """Return whether a sheet can be read. A sheet that is too large and merged cells are noted.

    A sheet with merged cells is read to its end, because it may have other faults.
    """
    if sheet.max_row * sheet.max_column > _most_cells(path):
        findings.add(
            path,
            None,
            None,
            f"a sheet of {sheet.max_row:,} rows and {sheet.max_column:,} columns, most of "
            "them empty",
            "no empty rows and columns: delete those after the last that is filled",
        )
        return False
    for cell_range in sheet.merged_cells.ranges:
        if cell_range.max_row >= settings.header_row:
            findings.add(
                path,
                cell_range.min_row,
                None,
                f"merged cells, {cell_range}",
                "a value in every cell of its own",
            )
    return True


def _excel_cell_text(value: object) -> str:
    """Return a cell of a spreadsheet, which writes a carriage return as `_x000D_`."""
    return _cell_text(value).replace("_x000D_", "").replace("\r\n", "\n")


def _book(path: Path, **how: bool) -> Any:
    """Open a spreadsheet.

    Raises UsageError if it would fill the memory, MissingPackage, and whatever its parts raise.
    """
    openpyxl = _package(FileKind.EXCEL)
    file_content = content(path)  # a path has to end in .xlsx
    _check_parts(path, file_content, openpyxl.utils.cell.range_boundaries)
    return openpyxl.load_workbook(BytesIO(file_content), **how)


def _check_parts(
    path: Path, whole: bytes, corners: Callable[[str], tuple[int, int, int, int]]
) -> None:
    """Raise UsageError for a spreadsheet that would become large in memory.

    Openpyxl makes a cell of every place in a range that is merged or a link, and reads a part as
    often as it is named. So a few bytes can describe many cells.
    """
    count = _PartCount(path, _most_cells(path), corners)
    with ZipFile(BytesIO(whole)) as archive:
        for part_name in archive.namelist():
            # Openpyxl says what is wrong with it.
            with (
                archive.open(part_name) as file,
                suppress(expat.ExpatError, KeyError, ValueError),
            ):
                count.reader_of_part().ParseFile(file)


class _PartCount:
    """Counts the cells and sheets that the parts of a spreadsheet describe."""

    def __init__(
        self, path: Path, allowed: int, corners: Callable[[str], tuple[int, int, int, int]]
    ) -> None:
        self._path = path
        self._allowed = allowed
        self._corners = corners
        self._n_sheets = 0
        self._max_cells = 0
        "the largest number of cells of a part"
        self._n_cells = 0
        "the number of cells of the current part so far"
        self._depth = 0

    def reader_of_part(self) -> expat.XMLParserType:
        """Return the parser of the next part. It raises UsageError for more than is allowed."""
        self._n_cells = 0
        self._depth = 0
        reader = expat.ParserCreate()
        reader.StartElementHandler = self._begin
        reader.EndElementHandler = self._end
        return reader

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        tag = name.rpartition(":")[2]
        if tag == "sheet":
            self._n_sheets += 1
        elif tag == "c":
            self._n_cells += 1
        elif tag in ("mergeCell", "hyperlink"):
            left, top, right, bottom = self._corners(attributes["ref"])
            self._n_cells += (right - left + 1) * (bottom - top + 1)
        self._max_cells = max(self._max_cells, self._n_cells)
        n_made = self._max_cells * max(self._n_sheets, 1)
        if self._depth > DEEPEST or self._n_sheets > MOST_SHEETS or n_made > self._allowed:
            raise UsageError(
                f"{self._path}: found more cells or sheets than the size of the file explains; "
                "give a table as CSV"
            )

    def _end(self, _: str) -> None:
        self._depth -= 1


def _note_formulas(
    path: Path, title: str, rows: Sequence[Sequence[str]], findings: Findings
) -> None:
    """Note cells whose formula has no computed value. The program that wrote the file left none."""
    book = _book(path, read_only=True)
    for row_number, (cells, row) in enumerate(
        zip(book[title].iter_rows(), rows, strict=False), start=1
    ):
        for cell, text in zip(cells, row, strict=False):
            if cell.data_type == "f" and not text:
                problem = f"a formula without a value in {cell.coordinate}"
                findings.add(
                    path,
                    row_number,
                    None,
                    problem,
                    "a value: open and save the file in a spreadsheet program",
                )
    book.close()


def _records_of_parquet(
    path: Path,
    findings: Findings,
    settings: ReadSettings,  # noqa: ARG001  the interface of `_READERS`
) -> Iterator[tuple[int, list[str]]]:
    parquet = _package(FileKind.PARQUET)
    try:
        schema = parquet.ParquetFile(path).schema_arrow
        names = list(schema.names)
        yield 0, names
        row_number = 0
        # A nested column has no dictionary.
        flat_columns = [field.name for field in schema if not field.type.num_fields]
        for batch in parquet.ParquetFile(
            path, read_dictionary=flat_columns
        ).iter_batches():  # a text is held once
            for cells in zip(
                *(_cells(batch.column(index)) for index in range(len(names))), strict=True
            ):
                row_number += 1
                yield row_number, list(cells)
    except (OSError, ValueError) as error:  # pyarrow's errors of a damaged file are such
        findings.add(
            path, None, None, f"a Parquet file that cannot be read ({error})", "a whole file"
        )


def _cells(column: Any) -> list[str]:
    """Return a column of a Parquet file as cells, each text of its dictionary once."""
    if not hasattr(column, "dictionary"):
        return list(map(_cell_text, column.to_pylist()))
    texts = list(map(_cell_text, column.dictionary.to_pylist()))
    return ["" if index is None else texts[index] for index in column.indices.to_pylist()]


def _of_statistics(
    path: Path, kind: FileKind, findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of an SPSS or Stata file.

    They have labels in place of labelled values, and nothing for values that are declared missing.
    """
    columns = labelled(path, kind, findings)
    if columns is None:
        return
    yield 0, [column.name for column in columns]
    for row_number, cells in enumerate(
        zip(*(column.cells() for column in columns), strict=True), start=1
    ):
        yield row_number, list(cells)


@dataclass(frozen=True, slots=True)
class Variable:
    """A column of a statistics file, with the description by its author."""

    name: str
    question: str
    "the label of the column, which in surveys is the question"
    labels: Mapping[str, str]
    "value as text -> its label, in the order of the values"
    missing: frozenset[str]
    "values as text that are no answer"
    values: Sequence[object]

    def texts(self) -> list[str]:
        """Return the values as cells."""
        text_by_value: dict[object, str] = {}
        return [
            text_by_value[value]
            if value in text_by_value
            else text_by_value.setdefault(value, _cell_text(value))
            for value in self.values
        ]

    def cells(self) -> Iterable[str]:
        """Return the answers, in words where there are labels."""
        texts = self.texts()
        return [
            "" if text in self.missing or text in _EMPTY else self.labels.get(text, text)
            for text in texts
        ]


def labelled(
    path: Path, kind: FileKind, findings: Findings, columns: Sequence[str] | None = None
) -> list[Variable] | None:
    """Return the columns of an SPSS or Stata file, or None, with a note, if it cannot be read.

    `columns` are the names of the columns to read, which have to exist. If it is empty, all columns
    are returned without their values. If it is None, all are read.

    Raises MissingPackage if the package for this kind is missing.
    """
    if find_spec(NEEDS[kind]) is None:
        raise _missing(kind)
    try:
        metadata = contents(path, kind, columns)
    except UnreadableFile as error:
        findings.add(path, None, None, f"{kind} data that cannot be read ({error})", "a whole file")
        return None
    variables = []
    for name, question in zip(metadata["names"], metadata["questions"], strict=True):
        distinct_values, indices = metadata["values"][name]
        labels = {
            _cell_text(value): str(label) for value, label in metadata["labels"].get(name, ())
        }
        missing = {_cell_text(value) for value in metadata["missing"].get(name, ())}
        for bounds in metadata["ranges"].get(name, ()):
            in_range = {_cell_text(value) for value in distinct_values if _within(value, bounds)}
            missing |= in_range | {value for value in labels if _within(_number(value), bounds)}
        variables.append(
            Variable(
                name,
                str(question),
                labels,
                frozenset(missing),
                [distinct_values[index] for index in indices],
            )
        )
    return variables


def _within(value: object, bounds: Mapping[str, Any]) -> bool:
    is_comparable = (
        isinstance(value, (int, float)) == isinstance(bounds["lo"], (int, float))
        and value is not None
    )
    return bool(is_comparable and bounds["lo"] <= value <= bounds["hi"])


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


_READERS = {
    FileKind.TEXT: _records_of_text,
    FileKind.LINES: _records_of_lines,
    FileKind.JSON: _records_of_json,
    FileKind.TOML: _records_of_toml,
    FileKind.EXCEL: _records_of_excel,
    FileKind.PARQUET: _records_of_parquet,
}
