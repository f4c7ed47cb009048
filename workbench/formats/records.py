"""The records of a table in any kind of file, as text with their places: CSV with any separator,
JSON, TOML, Excel, Parquet, SPSS, Stata.

What a file is, its first bytes say, whatever its name. Spreadsheets change data on saving, and a
lenient reader turns that into silently wrong data: a cell that nobody can be sure of is a fault
with its place.
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
"""characters of a line, and of a cell, of a table: more is no text that anybody asks or reads, but
may take all memory"""
csv.field_size_limit(LONGEST)  # the default of 131,072 characters refuses long texts

UTF_8 = "a file saved as UTF-8 (in Excel: 'CSV UTF-8'), or its encoding: --encoding NAME"
SEPARATORS, LOOKED_AT, LOOKED_AT_CHARACTERS = ",;\t|", 20, 65_536
"""signs between fields, and the records and characters that are looked at to tell which of them it
is"""
COMMA = ","
MOST_OF_NAME = 60
"characters of a column's name that is taken for one below a title"
LOOKED_AT_ROWS = 1000
"rows that are looked at to tell whether columns without a name are empty"
LEFT_OUT, NUMBER = "-", "#"
"""what a mapping gives a column that is not read, and the column that every table has: the number
of the row"""
_WORD = re.compile(rb"[^\s,;\"]*")
_RULE_CELL = re.compile(r":?-+:?")
_SAID = re.compile(r"sep=(.)\r?\n")
"the line by which Excel is told the separator"
FEWER = "fewer, or --most-bytes, which allows more"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_EMPTY = frozenset({"", "nan"})
MOST_FINDINGS = 1000
"faults after which reading ends: nobody corrects more of them by hand"
MOST_COLUMNS = 16_384
"as many as a spreadsheet has"
MOST_SHEETS = 1000
FREE_CELLS, CELLS_A_BYTE = 2**20, 16
"""cells that any table may have, and how many for each byte of a larger file: packed surveys with
many gaps have 2 to 5"""
FREE_SIGNS, SIGNS_A_BYTE = FREE_BYTES, RATIO
"the same for the characters of its cells"


class Kind(StrEnum):
    """What a file is."""

    TEXT = "CSV"
    LINES = "JSON Lines"
    JSON = "JSON"
    TOML = "TOML"
    EXCEL = "Excel"
    PARQUET = "Parquet"
    SPSS = "SPSS"
    STATA = "Stata"


NEEDS = {
    Kind.EXCEL: "openpyxl",
    Kind.PARQUET: "pyarrow",
    Kind.SPSS: "pyreadstat",
    Kind.STATA: "pyreadstat",
}


@dataclass(frozen=True, slots=True)
class How:
    """How a file is read where it does not say so itself."""

    columns: Mapping[str, str] = field(default_factory=dict)
    "name in the file -> name here, or `LEFT_OUT`"
    sheet: str = ""
    "of a spreadsheet; empty: the only one"
    encoding: str = ""
    "of a text; empty: UTF-8, or UTF-16 with its mark"
    header: bool = True
    "whether the first record names the columns; otherwise their numbers do"
    answers: Mapping[str, str] = field(default_factory=dict)
    "word of a party's answer -> the stance that it stands for"
    language: str = ""
    "of the texts; empty: as the file or its layout says"
    decimal: str = ""
    "sign before the decimals of a number; empty: a point"
    header_row: int = 0
    """line or row of a text or spreadsheet that names the columns; 0: the first one that is not
    empty"""
    exact: bool = False
    """whether line ends within cells stay as they are, as in texts that are compared with stored
    ones"""


AS_IS = How()


@dataclass(slots=True)
class Findings:
    """The faults found so far; reading continues so that the user sees all of them at once, up to
    `MOST_FINDINGS`.
    """

    found: list[Finding] = field(default_factory=list)
    "errors: the file cannot be read as it is"
    warned: list[Finding] = field(default_factory=list)
    "implausible but possibly correct: the file is read, and the user is warned"
    counted: dict[str, str] = field(default_factory=dict)
    "name of a file -> what its places count, where they are no lines"

    def add(
        self, file: Path, line: int | None, column: str | None, found: str, expected: str
    ) -> None:
        self.found.append(self._at(file, line, column, found, expected))
        if len(self.found) >= MOST_FINDINGS:
            self.check()

    def warn(
        self, file: Path, line: int | None, column: str | None, found: str, expected: str
    ) -> None:
        self.warned.append(self._at(file, line, column, found, expected))

    def check(self) -> None:
        """Raise InputError if there are faults, sorted by file and line."""
        files = list(dict.fromkeys(one.file for one in self.found))
        if self.found:
            raise InputError(
                sorted(self.found, key=lambda one: (files.index(one.file), one.line or 0))
            )

    def _at(
        self, file: Path, line: int | None, column: str | None, found: str, expected: str
    ) -> Finding:
        return Finding(
            file.name, line or None, column, found, expected, self.counted.get(file.name, "line")
        )


def kind_of(path: Path) -> Kind:
    """Return what a file is by its content. Raises UsageError if it cannot be read."""
    with opened(path) as file:
        begin = file.read(4096)
    if begin.startswith(ZIP):
        return Kind.EXCEL
    if begin.startswith((GZIP, ZSTD)):
        raise UsageError(f"{path}: found a packed file within a packed file; unpack it first")
    suffix = Path(name_of(path)).suffix
    if begin.startswith(b"PAR1"):
        return Kind.PARQUET
    if begin.startswith((b"$FL2", b"$FL3")):
        return Kind.SPSS
    if begin.startswith(b"<stata_dta>") or (
        begin[:1] in b"\x72\x73" and begin[1:2] in (b"\x01", b"\x02")
    ):
        return Kind.STATA
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return (
            Kind.JSON
            if suffix == ".json" or text.partition(b"\n")[0].strip() == b"{"
            else Kind.LINES
        )
    if text.startswith(b"[") and suffix != ".toml":
        return Kind.JSON
    return Kind.TOML if suffix == ".toml" else Kind.TEXT


def records(path: Path, findings: Findings, how: How = AS_IS) -> Iterator[tuple[int, list[str]]]:
    """Yield (place, cells) of each record: first the names of the columns, then the rows, without
    those left out.

    A place is the line on which a record of a text begins, otherwise the number of the row in its
    file. Every fault is noted. Raises UsageError if the file cannot be read or has several sheets,
    MissingPackage.
    """
    kind = kind_of(path)
    if how.sheet and kind not in (Kind.EXCEL, Kind.JSON):
        raise UsageError(f"{path}: found {kind}, which has no sheets; leave --sheet out")
    if how.encoding and kind in NEEDS:
        raise UsageError(
            f"{path}: found {kind}, which says its encoding itself; leave --encoding out"
        )
    if not how.header and kind not in (Kind.TEXT, Kind.EXCEL):
        raise UsageError(f"{path}: found {kind}, whose columns have names; leave --no-header out")
    if how.header_row and kind not in (Kind.TEXT, Kind.EXCEL):
        raise UsageError(f"{path}: found {kind}, whose columns have names; leave --header-row out")
    if kind in (Kind.PARQUET, Kind.SPSS, Kind.STATA) and is_packed(path):
        raise UsageError(f"{path}: found {kind} in a packed file; unpack it first")
    if kind is not Kind.TEXT:
        findings.counted[path.name] = "row" if kind in NEEDS else "entry"
    if kind in (Kind.SPSS, Kind.STATA):
        found = _of_statistics(path, kind, findings)
    else:
        found = _READERS[kind](path, findings, how)
    found = _bounded(path, found, findings)
    if how.header:
        found = _without_empty_ends(path, found, findings)
    if how.decimal == COMMA:
        found = _with_points(found)
    yield from found if how.header and not how.columns else _mapped(path, found, findings, how)


def _bounded(
    path: Path, found: Iterator[tuple[int, list[str]]], findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield records until there are too many columns, or more in them than the size of the file
    explains: tables of some kinds say briefly what fills the memory.
    """
    size = path.stat().st_size
    cells, signs = _most_cells(path), max(FREE_SIGNS, SIGNS_A_BYTE * size, most_bytes() or 0)
    for place, record in found:
        text = "".join(record)
        cells, signs = cells - len(record), signs - len(text)
        if not is_text(text):
            column = next((n for n, cell in enumerate(record, start=1) if not is_text(cell)), None)
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
            what = "cells" if cells < 0 else "characters"
            findings.add(
                path, place, None, f"many more {what} than a file of {size:,} bytes has", FEWER
            )
        if len(record) > MOST_COLUMNS or min(cells, signs) < 0:
            findings.check()
        yield place, record


def _without_empty_ends(
    path: Path, found: Iterator[tuple[int, list[str]]], findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield records without the columns after the last one with a name, if they are empty:
    spreadsheets leave some.

    Columns without a name that have a value among the first rows stay. A later value there is a
    fault.
    """
    first: list[tuple[int, list[str]]] = []
    header: list[str] | None = None
    for record in found:
        first.append(record)
        if header is None and not is_blank(record[1]):
            header = record[1]
        if len(first) == LOOKED_AT_ROWS:
            break
    width = _width_of(header or ())
    named = len(header or ())
    for _, cells in first:
        if len(cells) == named and any(cell.strip() for cell in cells[width:]):
            width = named
    for place, cells in chain(first, found):
        beyond = [cell.strip() for cell in cells[width:]]
        if width and beyond and not any(beyond) and not is_blank(cells):
            yield place, cells[:width]
        elif width < named == len(cells) and any(beyond):
            column = width + 1 + next(n for n, cell in enumerate(beyond) if cell)
            said = f"a value in column {column}, which has no name"
            findings.add(
                path, place, None, said, "a name for the column in the header, or an empty column"
            )
            yield place, cells[:width]
        else:
            yield place, cells


def _width_of(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last one that is not empty."""
    return max((n for n, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _with_points(found: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield records in which numbers with a decimal comma have a point; the first record has the
    names of columns.
    """
    is_header = True
    for place, cells in found:
        if is_header:
            is_header = is_blank(cells)
            yield place, cells
        else:
            yield place, [with_point(cell) for cell in cells]


def _most_cells(path: Path) -> int:
    """Return how many cells the table in a file may have."""
    return max(FREE_CELLS, CELLS_A_BYTE * path.stat().st_size, most_bytes() or 0)


def is_text(text: str) -> bool:
    """Return whether UTF-8 holds a text, and SQLite all of it."""
    return "\x00" not in text and (
        text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)
    )


def _mapped(
    path: Path, found: Iterator[tuple[int, list[str]]], findings: Findings, how: How
) -> Iterator[tuple[int, list[str]]]:
    """Yield records under the names of a mapping; those of another length as they are, for whoever
    checks it.
    """
    width, kept, numbered = 0, list[int](), NUMBER in how.columns
    row = 0
    for place, cells in found:
        if is_blank(cells):
            continue
        if not width:
            width = len(cells)
            names = [
                name.strip() if how.header else str(n) for n, name in enumerate(cells, start=1)
            ]
            called = _told_apart(names)
            for name in how.columns:
                if name not in (*called, NUMBER):
                    findings.add(
                        path, place, name, "no such column to map", f"one of {', '.join(called)}"
                    )
            pairs = list(zip(called, names, strict=True))
            ours = [how.columns.get(own, how.columns.get(name, name)) for own, name in pairs]
            left_out = {name for name, our in how.columns.items() if our == LEFT_OUT}
            kept = [
                n
                for n, pair in enumerate(pairs)
                if ours[n] != LEFT_OUT or left_out.isdisjoint(pair)
            ]
            yield place, [ours[n] for n in kept] + [how.columns.get(NUMBER, "")] * numbered
            if how.header:
                continue
        row += 1
        yield (
            place,
            [cells[n] for n in kept] + [str(row)] * numbered if len(cells) == width else cells,
        )


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return the names by which a mapping may call columns: the second `answer` is `answer (2)`,
    and the third column is `3` if it has no name.

    Examples
    --------
    >>> _told_apart(["answer", "", "answer"])
    ['answer', '2', 'answer (2)']
    """
    times = Counter[str]()
    called = []
    for place, name in enumerate(names, start=1):
        times[name] += 1
        if not name:
            called.append(str(place))
        else:
            called.append(name if times[name] == 1 else f"{name} ({times[name]})")
    return called


def objects(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield (place, value) of each line of JSON Lines, or of each element of a JSON list; any other
    JSON is one value. What is no JSON, or nested too deeply, is noted.
    """
    if kind_of(path) is Kind.LINES:
        findings.counted[path.name] = "line"
        for number, line in enumerate(text_lines(path, findings), start=1):
            if line.strip() and (value := _json(path, number, line, findings)) is not None:
                yield number, value
        return
    findings.counted[path.name] = "entry"
    value = _json(path, 1, read_text(path, findings) or "", findings)
    if value is not None:
        yield from enumerate(value if isinstance(value, list) else [value], start=1)


def header_of(path: Path, how: How = AS_IS) -> list[str]:
    """Return the names of a file's columns; empty if they cannot be read."""
    try:
        if not how.columns and (kind := kind_of(path)) in (Kind.SPSS, Kind.STATA):
            return [one.name for one in labelled(path, kind, Findings(), ()) or ()]
        found = records(path, Findings(), how)
        return next(
            ([name.strip() for name in cells] for _, cells in found if not is_blank(cells)), []
        )
    except (UsageError, MissingPackage):
        return []


def sheets_of(path: Path, how: How = AS_IS) -> dict[str, list[str]]:
    """Return the columns of each table of a file: of the sheets of a spreadsheet and the lists of a
    JSON object, by their names; of any other file, and where a sheet is named, those of its one
    table, which has no name.
    """
    try:
        kind = kind_of(path)
        if kind is Kind.EXCEL and not how.sheet:
            book = _book(path, read_only=True)
            begin = max(0, how.header_row - 1)
            rows = {
                one.title: (
                    [_said(cell).strip() for cell in row] for row in islice(one.values, begin, None)
                )
                for one in book.worksheets
            }
            return {
                title: next((row for row in found if any(row)), []) for title, found in rows.items()
            }
        value = (
            json.loads(read_text(path, Findings()) or "")
            if kind is Kind.JSON and not how.sheet
            else None
        )
    except (UsageError, MissingPackage, ValueError, RecursionError):
        return {}
    except Exception:
        return {}
    lists = value.items() if isinstance(value, dict) else ()
    held = {
        name: one
        for name, one in lists
        if isinstance(one, list) and one and isinstance(one[0], dict)
    }
    return {name: [key for key, _ in _flat(one[0])] for name, one in held.items()} or {
        "": header_of(path, how)
    }


def likely_header_row(path: Path, how: How = AS_IS) -> int | None:
    """Return the row of a text or spreadsheet that seems to name the columns, if a title or comment
    stands above it; None if the first row may be the header.
    """
    try:
        kind = kind_of(path)
        if how.header_row or not how.header or kind not in (Kind.TEXT, Kind.EXCEL):
            return None
        if kind is Kind.TEXT:
            return _header_line(
                [*islice(text_lines(path, Findings(), how.encoding, LONGEST), 2 * LOOKED_AT)]
            )
        rows = list(islice(_of_excel(path, Findings(), how), LOOKED_AT))
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
            if _n_filled(cells) == widest and _may_name(cells, widest)
        ),
        None,
    )


def _header_line(lines: Sequence[str]) -> int | None:
    """Return the number of the first line from which a text is an even table, or None if that is
    its first one.
    """
    filled = [n for n, line in enumerate(lines, start=1) if line.strip()]
    for number in filled[:LOOKED_AT]:
        text = "".join(lines[number - 1 : number - 1 + LOOKED_AT])
        for sign in SEPARATORS:
            reader = csv.reader(StringIO(text, newline=""), delimiter=sign)
            rows = [cells for cells in islice(reader, LOOKED_AT) if not is_blank(cells)]
            widths = {len(cells) for cells in rows[: len(rows) - 1] or rows}
            if len(rows) < 2 or len(widths) > 1 or max(widths) < 2 or not _may_name(rows[0], 2):
                continue
            title = next(csv.reader([lines[filled[0] - 1]], delimiter=sign), [])
            width = max(map(_filled_width, rows))
            is_below = filled[0] != number and 2 * _n_filled(title) <= width
            return number if is_below and _n_filled(rows[0]) == width else None
    return None


def _filled_width(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last one that is not empty."""
    return max((place for place, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _n_filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _is_title(cells: Sequence[str], widest: int) -> bool:
    """Return whether a row has a title or a comment: one cell among rows of several."""
    return _n_filled(cells) == 1 < widest


def _may_name(cells: Sequence[str], fewest: int) -> bool:
    """Return whether cells may be names of columns: different ones, none of them a number or a
    sentence.
    """
    names = [cell.strip() for cell in cells if cell.strip()]
    is_short = all(len(name) <= MOST_OF_NAME for name in names)
    others = any(finite_number(name) is not None or name.endswith((".", "!")) for name in names)
    return len(names) >= fewest and len(set(names)) == len(names) and is_short and not others


def keys_of(path: Path) -> list[str]:
    """Return the keys of a JSON file, or of the first object of JSON Lines, those of objects within
    with a dot.
    """
    lines = text_lines(path, Findings())
    try:
        value = json.loads("".join(lines) if kind_of(path) is Kind.JSON else next(lines, ""))
        return (
            []
            if too_deep(value) or not isinstance(value, dict)
            else [name for name, _ in _flat(value)]
        )
    except (ValueError, RecursionError):
        return []


def is_blank(cells: Sequence[str]) -> bool:
    """Return whether a record is an empty line, or a row of empty cells as spreadsheets leave them
    (`,,,,`).
    """
    return not cells or (len(cells) > 1 and not any(cell.strip() for cell in cells))


def read_text(path: Path, findings: Findings, encoding: str = "") -> str | None:
    """Return a file's text, or None after noting why it cannot be read: as UTF-8 or, with its mark,
    UTF-16, unless another encoding is named.
    """
    before = len(findings.found)
    text = "".join(text_lines(path, findings, encoding))
    return text if len(findings.found) == before else None


def text_lines(
    path: Path, findings: Findings, encoding: str = "", longest: int = -1
) -> Iterator[str]:
    """Yield the lines of a text with their ends, as `read_text` reads it; a fault, or a line of
    more than `longest` bytes (-1: any), is noted and ends them.
    """
    with opened(path) as file:
        begin = file.peek(400)[:400]  # type: ignore[attr-defined]  # it is buffered
        marked = begin.startswith(_UTF_16)
        if not encoding and not marked and _is_utf_16(begin):
            findings.add(path, 1, None, "a file in UTF-16 without the mark that says so", UTF_8)
            return
        try:
            codec = codecs.lookup(encoding or ("utf-16" if marked else "utf-8-sig")).name
            b"".decode(codec)  # not all of them are of texts
        except LookupError as error:
            raise UsageError(
                f"--encoding {encoding}: no encoding has this name; found often: windows-1252"
            ) from error
        # A byte of a line's end may be part of another sign.
        whole = codec.startswith(("utf-16", "utf-32"))
        at, ascii_before = 0, True
        lines = [file.read()] if whole else iter(partial(file.readline, longest), b"")
        for number, raw in enumerate(lines, start=1):
            if len(raw) == longest and not raw.endswith(b"\n"):
                findings.add(
                    path, number, None, f"a line of more than {longest:,} bytes", "lines of a table"
                )
                return
            try:
                line = raw.decode("utf-8" if number > 1 and codec == "utf-8-sig" else codec)
            except UnicodeDecodeError as error:
                place = at + error.start
                hint = "" if encoding or not ascii_before else _windows_1252(raw, error.start)
                found = (
                    f"byte 0x{raw[error.start]:02X} at position {place}, which is not "
                    f"{encoding or 'UTF-8'}{hint}"
                )
                findings.add(path, number + raw.count(b"\n", 0, error.start), None, found, UTF_8)
                return
            if "\x00" in line:
                nul = number + line.count("\n", 0, line.index("\x00"))
                findings.add(path, nul, None, "a NUL byte", "a text file in UTF-8")
                return
            at, ascii_before = at + len(raw), ascii_before and raw.isascii()
            yield line


def _is_utf_16(content: bytes) -> bool:
    """Return whether bytes have a NUL in every other place, as Latin text has in UTF-16."""
    begin = content[:400]
    return any(begin[at::2].count(0) * 10 > 9 * len(begin[at::2]) > 27 for at in (0, 1))


def _windows_1252(content: bytes, at: int) -> str:
    """Return the word at the first byte that is not UTF-8, if it may be Windows-1252; otherwise
    "".
    """
    if not content[:at].isascii():
        return ""
    word = next(
        (found for found in _WORD.finditer(content) if found.start() <= at < found.end()), None
    )
    try:
        said = word[0].decode("cp1252") if word else ""
    except UnicodeDecodeError:
        return ""
    if not any(map(str.isalpha, said)):
        return ""
    return f"; in Windows-1252 this is {said[:40]!r}: --encoding windows-1252 reads it so"


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────


def _of_text(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:
    lines = text_lines(path, findings, how.encoding, LONGEST)
    n_above = max(0, how.header_row - 1)
    lines = islice(lines, n_above, None) if n_above else lines
    head = [*islice(lines, LOOKED_AT)]
    if not head:
        return
    # A file with the line ends of Windows has them within its cells, too: there they are line
    # breaks of a text.
    is_windows = not how.exact and _ends_as_in_windows("".join(head))
    signs = SEPARATORS if how.decimal != COMMA else SEPARATORS.replace(COMMA, "") + COMMA
    for place, cells in _without_frame(records_of(path, chain(head, lines), findings, signs)):
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
    for index, sign in enumerate(head):
        if sign == '"':
            is_quoted = not is_quoted
        elif sign == "\n" and not is_quoted:
            return head[:index].endswith("\r")
    return head.partition("\n")[0].endswith("\r")


def _without_frame(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield records of a text; those of a table in Markdown without the bars at its edges and the
    rule below its names.

    Examples
    --------
    >>> table = (["", " Nr ", " Text ", ""], ["", "---", ":--", ""], ["", " 1 ", " Tolls. ", ""])
    >>> list(_without_frame(enumerate(table, start=1)))
    [(1, ['Nr', 'Text']), (3, ['1', 'Tolls.'])]
    """
    first = [*islice(rows, 2)]
    is_framed = len(first) == 2 and all(
        len(cells) > 2 and not cells[0].strip() for _, cells in first
    )
    if not is_framed or not all(_RULE_CELL.fullmatch(cell.strip()) for cell in first[1][1][1:-1]):
        yield from chain(first, rows)
        return
    for place, cells in chain(first[:1], rows):
        inside = cells[1:-1] if cells and not cells[-1].strip() else cells[1:]
        yield place, [cell.strip() for cell in inside]


def records_of(
    path: Path, lines: Iterator[str], findings: Findings, signs: str = SEPARATORS
) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record of a text with separators, one of `signs`."""
    head, looked_at = list[str](), 0
    for line in lines:
        head.append(line)
        if (looked_at := looked_at + len(line)) > LOOKED_AT_CHARACTERS:
            break
    said = _SAID.match(head[0]) if head else None
    first = 1 if said else 0
    sign = said[1] if said else _separator("".join(head), signs)
    rest = (part for line in chain(head[first:], lines) for part in _ends(line))
    reader = csv.reader(rest, strict=True, delimiter=sign)
    begins = first + 1
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            findings.add(
                path,
                begins,
                None,
                f"a record that is not CSV ({error})",
                "balanced quotes, doubled inside",
            )
            return
        yield begins, fields
        begins = first + reader.line_num + 1


def _ends(line: str) -> Iterable[str]:
    """Return the lines of a line: old programs end them with a carriage return alone."""
    return (
        StringIO(line, newline="")
        if "\r" in line.removesuffix("\r\n") or "\n" in line[:-1]
        else (line,)
    )


def _separator(text: str, signs: str = SEPARATORS) -> str:
    """Return the first sign that divides all of the first records into the same number of fields,
    otherwise the one that divides the header into the most; a comma where none does.
    """
    found: list[list[int]] = []
    for sign in signs:
        reader = csv.reader(StringIO(text[:LOOKED_AT_CHARACTERS], newline=""), delimiter=sign)
        found.append(
            [len(cells) for cells in islice(reader, LOOKED_AT) if not is_blank(cells)] or [0]
        )
    widths = [
        one[:-1] if len(text) > LOOKED_AT_CHARACTERS and len(one) > 1 else one for one in found
    ]
    even = next(
        (
            sign
            for sign, one in zip(signs, widths, strict=True)
            if len(set(one)) == 1 and one[0] > 1
        ),
        "",
    )
    first = [one[0] for one in widths]
    if even or max(first) < 2:
        return even or COMMA
    return signs[first.index(max(first))]


def _of_lines(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:
    """Yield the objects of JSON Lines as rows; columns are the keys of all of them, so the file is
    read twice.
    """
    findings.counted[path.name] = "line"
    names = dict[str, None]()
    for number, line in enumerate(text_lines(path, findings, how.encoding), start=1):
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
    for number, line in enumerate(text_lines(path, Findings(), how.encoding), start=1):
        value = _json(path, number, line, Findings()) if line.strip() else None
        if isinstance(value, dict):
            row = dict(_flat(value))
            yield number, [row.get(name, "") for name in names]


def _of_json(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:
    """Yield the objects of a list as rows; a list may be the value of a key, alone among the
    keys.
    """
    text = read_text(path, findings, how.encoding)
    value = None if text is None else _json(path, 1, text, findings)
    yield from _of_lists(path, value, findings, how.sheet)


def json_rows(path: Path, how: How = AS_IS) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (place, object) of each row of a table in JSON or JSON Lines, with the places of
    `records`.

    Faults are passed over, as `records` notes them.
    """
    findings = Findings()
    if kind_of(path) is Kind.LINES:
        for number, line in enumerate(text_lines(path, findings, how.encoding), start=1):
            value = _json(path, number, line, findings) if line.strip() else None
            if isinstance(value, dict):
                yield number, value
        return
    text = read_text(path, findings, how.encoding)
    value = None if text is None else _json(path, 1, text, findings)
    yield from enumerate(_row_list(value, how.sheet) or [], start=1)


def _row_list(value: object, sheet: str = "") -> list[Mapping[str, Any]] | None:
    """Return the rows of a JSON value, or None if it has no single list of objects."""
    if isinstance(value, dict):
        lists = [part for part in value.values() if isinstance(part, list) and part]
        tables = [part for part in lists if isinstance(part[0], dict)]
        if isinstance(value.get(sheet), list):
            value = value[sheet]
        elif len(tables) == 1:
            value = tables[0]
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return value
    return None


def _of_toml(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path, findings, how.encoding)
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
    """An object with a duplicate key, of which Python would silently keep the last value."""


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of pairs; for `json.loads`. Raises RepeatedKey."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise RepeatedKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return value


def _json(path: Path, line: int, text: str, findings: Findings) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=without_repeats)
        deep = too_deep(value)
    except RecursionError:
        deep = True
    except RepeatedKey as error:
        findings.add(path, line, str(error), "the same key twice in one object", "every key once")
        return None
    except ValueError as error:
        at = line + getattr(error, "lineno", 1) - 1
        findings.counted[path.name] = "line"
        said = "a number of more than 4,300 digits" if "digits" in str(error) else str(error)
        findings.add(path, at, None, f"what is not JSON ({said})", "valid JSON")
        return None
    if deep:
        findings.add(
            path,
            line,
            None,
            "JSON that is nested too deeply",
            "objects within objects, a few levels deep",
        )
        return None
    return value


def _of_objects(found: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield objects as rows; an object within one gives columns with a dot, `issues.economy`."""
    flat = [(place, dict(_flat(one))) for place, one in found]
    names = list(dict.fromkeys(name for _, row in flat for name in row))
    if names:
        yield 0, names
    for place, row in flat:
        yield place, [row.get(name, "") for name in names]


def _flat(one: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in one.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, list) and all(isinstance(part, str) for part in value):
            yield f"{before}{key}", ", ".join(value)
        else:
            yield f"{before}{key}", _said(value)


def _said(value: object) -> str:
    """Return a value as a cell."""
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


def _package(kind: Kind) -> ModuleType:
    """Return the package that reads a kind of file. Raises MissingPackage."""
    from importlib import import_module

    name = NEEDS[kind]
    try:
        return import_module("pyarrow.parquet" if name == "pyarrow" else name)
    except ImportError as error:
        raise _missing(kind) from error


def _missing(kind: Kind) -> MissingPackage:
    return MissingPackage(
        f"{kind} files need the package {NEEDS[kind]}; install it with: {install('tables')}"
    )


def _of_excel(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:
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
    filled = [one for one in book.worksheets if one.max_row > 1 or one.max_column > 1]
    sheet = next((one for one in book.worksheets if one.title == how.sheet), None)
    if how.sheet and sheet is None:
        raise UsageError(f"{path}: no sheet {how.sheet!r}; there are {', '.join(book.sheetnames)}")
    if sheet is None and len(filled) > 1:
        raise UsageError(
            f"{path}: {len(filled)} sheets: {', '.join(one.title for one in filled)}; --sheet "
            "names one"
        )
    sheet = sheet or (filled[0] if filled else book.worksheets[0])
    if sheet.max_row * sheet.max_column > _most_cells(path):
        found = (
            f"a sheet of {sheet.max_row:,} rows and {sheet.max_column:,} columns, most of "
            "them empty"
        )
        findings.add(
            path,
            None,
            None,
            found,
            "no empty rows and columns: delete those after the last that is filled",
        )
        return
    for merged in sheet.merged_cells.ranges:
        if merged.max_row < how.header_row:
            continue
        findings.add(
            path,
            merged.min_row,
            None,
            f"merged cells, {merged}",
            "a value in every cell of its own",
        )
    rows = [
        [_said_in_excel(value) for value in cells] for cells in sheet.iter_rows(values_only=True)
    ]
    width = max((n + 1 for row in rows for n, cell in enumerate(row) if cell), default=0)
    _note_formulas(path, sheet.title, rows, findings)
    yield from (
        (place, row[:width]) for place, row in enumerate(rows, start=1) if place >= how.header_row
    )


def _said_in_excel(value: object) -> str:
    """Return a cell of a spreadsheet, which writes a carriage return as `_x000D_`."""
    return _said(value).replace("_x000D_", "").replace("\r\n", "\n")


def _book(path: Path, **how: bool) -> Any:
    """Open a spreadsheet. Raises UsageError where it would fill the memory, MissingPackage, and
    whatever its parts raise.
    """
    openpyxl = _package(Kind.EXCEL)
    whole = content(path)  # a path has to end in .xlsx
    _check_parts(path, whole, openpyxl.utils.cell.range_boundaries)
    return openpyxl.load_workbook(BytesIO(whole), **how)


def _check_parts(
    path: Path, whole: bytes, corners: Callable[[str], tuple[int, int, int, int]]
) -> None:
    """Raise UsageError for a spreadsheet that says briefly what becomes large: openpyxl makes a
    cell of every place in a range that is merged or a link, and reads a part as often as it is
    named.
    """
    cells = sheets = deep = most = 0
    allowed = _most_cells(path)

    def begin(name: str, given: dict[str, str]) -> None:
        nonlocal cells, sheets, deep
        deep, tag = deep + 1, name.rpartition(":")[2]
        sheets += tag == "sheet"
        if tag == "c":
            cells += 1
        elif tag in ("mergeCell", "hyperlink"):
            left, top, right, bottom = corners(given["ref"])
            cells += (right - left + 1) * (bottom - top + 1)
        if deep > DEEPEST or sheets > MOST_SHEETS or max(cells, most) * max(sheets, 1) > allowed:
            raise UsageError(
                f"{path}: found more cells or sheets than the size of the file explains; give a "
                "table as CSV"
            )

    def end(_: str) -> None:
        nonlocal deep
        deep -= 1

    with ZipFile(BytesIO(whole)) as held:
        for part in held.namelist():
            reader = expat.ParserCreate()
            reader.StartElementHandler, reader.EndElementHandler, cells, deep = begin, end, 0, 0
            # Openpyxl says what.
            with (
                held.open(part) as file,
                suppress(expat.ExpatError, KeyError, ValueError),
            ):
                reader.ParseFile(file)
            most = max(most, cells)


def _note_formulas(
    path: Path, title: str, rows: Sequence[Sequence[str]], findings: Findings
) -> None:
    """Note cells whose formula nobody has computed: the program that wrote the file left no
    value.
    """
    book = _book(path, read_only=True)
    for place, (cells, row) in enumerate(zip(book[title].iter_rows(), rows, strict=False), start=1):
        for cell, said in zip(cells, row, strict=False):
            if cell.data_type == "f" and not said:
                found = f"a formula without a value in {cell.coordinate}"
                findings.add(
                    path,
                    place,
                    None,
                    found,
                    "a value: open and save the file in a spreadsheet program",
                )
    book.close()


def _of_parquet(path: Path, findings: Findings, how: How) -> Iterator[tuple[int, list[str]]]:  # noqa: ARG001
    parquet = _package(Kind.PARQUET)
    try:
        schema = parquet.ParquetFile(path).schema_arrow
        names = list(schema.names)
        yield 0, names
        place = 0
        # A nested column has no dictionary.
        plain = [field.name for field in schema if not field.type.num_fields]
        for batch in parquet.ParquetFile(
            path, read_dictionary=plain
        ).iter_batches():  # a text is held once
            for cells in zip(*(_cells(batch.column(n)) for n in range(len(names))), strict=True):
                place += 1
                yield place, list(cells)
    except (OSError, ValueError) as error:  # pyarrow's errors of a damaged file are such
        findings.add(
            path, None, None, f"a Parquet file that cannot be read ({error})", "a whole file"
        )


def _cells(column: Any) -> list[str]:
    """Return a column of a Parquet file as cells, each text of its dictionary once."""
    if not hasattr(column, "dictionary"):
        return list(map(_said, column.to_pylist()))
    known = list(map(_said, column.dictionary.to_pylist()))
    return ["" if place is None else known[place] for place in column.indices.to_pylist()]


def _of_statistics(path: Path, kind: Kind, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of an SPSS or Stata file: labels in place of labelled values, nothing for what
    its author declared to be missing.
    """
    columns = labelled(path, kind, findings)
    if columns is None:
        return
    yield 0, [one.name for one in columns]
    for place, cells in enumerate(zip(*(one.cells() for one in columns), strict=True), start=1):
        yield place, list(cells)


@dataclass(frozen=True, slots=True)
class Variable:
    """A column of a statistics file, with what its author said of it."""

    name: str
    question: str
    "its label: in surveys the question"
    labels: Mapping[str, str]
    "value as text -> its label, in the order of the values"
    missing: frozenset[str]
    "values as text that are no answer"
    values: Sequence[object]

    def texts(self) -> list[str]:
        """Return the values as cells."""
        known: dict[object, str] = {}
        return [
            known[value] if value in known else known.setdefault(value, _said(value))
            for value in self.values
        ]

    def cells(self) -> Iterable[str]:
        """Return the answers in words where there are labels."""
        said = self.texts()
        return [
            "" if one in self.missing or one in _EMPTY else self.labels.get(one, one)
            for one in said
        ]


def labelled(
    path: Path, kind: Kind, findings: Findings, columns: Sequence[str] | None = None
) -> list[Variable] | None:
    """Return the columns of an SPSS or Stata file; None, with a note, where it cannot be read.

    columns : those to be read, which have to be there; none of them: all columns, without their
        values; None: all

    Raises MissingPackage.
    """
    if find_spec(NEEDS[kind]) is None:
        raise _missing(kind)
    try:
        about = contents(path, kind, columns)
    except UnreadableFile as error:
        findings.add(path, None, None, f"{kind} data that cannot be read ({error})", "a whole file")
        return None
    found = []
    for name, question in zip(about["names"], about["questions"], strict=True):
        known, places = about["values"][name]
        labels = {_said(value): str(said) for value, said in about["labels"].get(name, ())}
        missing = {_said(value) for value in about["missing"].get(name, ())}
        for bounds in about["ranges"].get(name, ()):
            inside = {_said(value) for value in known if _within(value, bounds)}
            missing |= inside | {value for value in labels if _within(_number(value), bounds)}
        found.append(
            Variable(
                name, str(question), labels, frozenset(missing), [known[place] for place in places]
            )
        )
    return found


def _within(value: object, bounds: Mapping[str, Any]) -> bool:
    same = (
        isinstance(value, (int, float)) == isinstance(bounds["lo"], (int, float))
        and value is not None
    )
    return bool(same and bounds["lo"] <= value <= bounds["hi"])


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


_READERS = {
    Kind.TEXT: _of_text,
    Kind.LINES: _of_lines,
    Kind.JSON: _of_json,
    Kind.TOML: _of_toml,
    Kind.EXCEL: _of_excel,
    Kind.PARQUET: _of_parquet,
}
