"""Strict reading of CSV files: every fault with its line and column, all faults of a file at once.

Spreadsheets change data on saving; a lenient reader turns that into silently wrong data. Here a file is either read
exactly or refused with a list of places to correct.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from workbench.csv_files import bare
from workbench.errors import Finding, InputError, UsageError

csv.field_size_limit(2**31 - 1)  # the default of 131,072 characters refuses long texts; larger values overflow a C long

UTF_8 = "a file saved as UTF-8 (in Excel: 'CSV UTF-8 (Comma delimited)')"
COMMAS = (
    "columns separated by commas: in Excel save as 'CSV UTF-8 (Comma delimited)', and where that writes semicolons "
    "too, set the system's list separator to a comma"
)
_WORD = re.compile(rb"[^\s,;\"]*")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Findings:
    """The faults found so far; reading continues so that the user sees all of them at once."""

    found: list[Finding] = field(default_factory=list)
    "errors: the file cannot be read as it is"
    warned: list[Finding] = field(default_factory=list)
    "implausible but possibly correct: the file is read, and the user is warned"

    def add(self, file: Path, line: int | None, column: str | None, found: str, expected: str) -> None:
        self.found.append(Finding(file.name, line, column, found, expected))

    def warn(self, file: Path, line: int | None, column: str | None, found: str, expected: str) -> None:
        self.warned.append(Finding(file.name, line, column, found, expected))

    def check(self) -> None:
        """Raise InputError if there are faults, sorted by file and line."""
        files = list(dict.fromkeys(one.file for one in self.found))
        if self.found:
            raise InputError(sorted(self.found, key=lambda one: (files.index(one.file), one.line or 0)))


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a CSV file."""

    file: Path
    line: int
    "the line on which the record begins, counting from 1"
    cells: dict[str, str]

    def get(self, column: str) -> str:
        """Return a cell without outer spaces, "" if the file has no such column."""
        return self.cells.get(column, "").strip()


def read_text(path: Path, findings: Findings) -> str | None:
    """Return a file's text, or None after noting why it cannot be read as UTF-8 (a byte order mark is accepted)."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    if _is_utf_16(content):
        findings.add(path, 1, None, "a file in UTF-16", UTF_8)
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02X} at position {error.start}, which is not UTF-8"
        findings.add(path, line, None, found + _windows_1252(content, error.start), UTF_8)
        return None
    if "\x00" in text:
        findings.add(path, text.count("\n", 0, text.index("\x00")) + 1, None, "a NUL byte", "a text file in UTF-8")
        return None
    return text


def _is_utf_16(content: bytes) -> bool:
    """Return whether bytes begin with the mark of UTF-16, or have a NUL in every other place, as Latin text has in
    UTF-16.
    """
    begin = content[:400]
    return content.startswith(_UTF_16) or any(begin[at::2].count(0) * 10 > 9 * len(begin[at::2]) > 27 for at in (0, 1))


def _windows_1252(content: bytes, at: int) -> str:
    """Return the word at the first byte that is not UTF-8, if it may be Windows-1252; otherwise ""."""
    if not content[:at].isascii():
        return ""
    word = next((found for found in _WORD.finditer(content) if found.start() <= at < found.end()), None)
    try:
        said = word[0].decode("cp1252") if word else ""
    except UnicodeDecodeError:
        return ""
    return f"; it looks like Windows-1252, in which this is {said[:40]!r}" if any(map(str.isalpha, said)) else ""


def read_rows(
    path: Path,
    findings: Findings,
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    prefixes: Sequence[str] = (),
    any_columns: bool = False,
    may_be_empty: Sequence[str] = (),
    guarded: bool = False,
    column: Callable[[str], str] = str,
) -> list[Row]:
    """Return the records of a CSV file; every fault is noted in `findings`.

    Parameters
    ----------
    required, optional
        Required and optional columns. Cells of required columns must not be empty.
    prefixes
        Prefixes of further optional columns: `issue.`.
    any_columns
        Accept columns of any other name too.
    may_be_empty
        Required columns whose cells may be empty.
    guarded
        Remove the apostrophes that prevent a spreadsheet from running a cell.
    column
        What a column is called here, of its name in the file.
    """
    text = read_text(path, findings)
    if text is None:
        return []
    records = records_of(path, text, findings)
    first = next((record for record in records if not is_blank(record[1])), None)
    if first is None:
        if not findings.found:
            findings.add(path, 1, None, "an empty file", f"a header with {', '.join(required)}")
        return []
    line, header = first
    header = [column(name.strip()) for name in header]
    if not _header_is_good(path, line, header, findings, required, optional, prefixes, any_columns):
        return []
    rows = []
    for line, cells in records:
        if is_blank(cells):
            continue
        if len(cells) != len(header):
            findings.add(path, line, None, f"{len(cells)} fields", f"{len(header)}, as in the header")
            continue
        named: dict[str, str] = {}
        for name, cell in zip(header, cells, strict=True):
            named.setdefault(
                name, bare(cell) if guarded else cell
            )  # if two columns have the same name, the first counts
        row = Row(path, line, named)
        rows.append(row)
        for needed in required:
            if not row.get(needed) and needed not in may_be_empty:
                findings.add(path, line, needed, "an empty cell", "some text")
    return rows


def header_of(path: Path) -> list[str]:
    """Return the names of a file's columns; empty if they cannot be read."""
    unnoted = Findings()
    records = records_of(path, read_text(path, unnoted) or "", unnoted)
    return next(([name.strip() for name in cells] for _, cells in records if not is_blank(cells)), [])


def records_of(path: Path, text: str, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    begins = 1
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            findings.add(path, begins, None, f"a record that is not CSV ({error})", "balanced quotes, doubled inside")
            return
        yield begins, fields
        begins = reader.line_num + 1


def is_blank(cells: Sequence[str]) -> bool:
    """Return whether a record is an empty line, or a row of empty cells as spreadsheets leave them (`,,,,`)."""
    return not cells or (len(cells) > 1 and not any(cell.strip() for cell in cells))


def separator_fault(header: Sequence[str]) -> tuple[str, str] | None:
    """Return (found, expected) if a header is separated by a sign other than commas; otherwise None."""
    sign = next((sign for sign in ";\t" if len(header) == 1 and sign in header[0]), None)
    return None if sign is None else (f"columns separated by {sign!r}", COMMAS)


def _header_is_good(
    path: Path,
    line: int,
    header: list[str],
    findings: Findings,
    required: Sequence[str],
    optional: Sequence[str],
    prefixes: Sequence[str],
    any_columns: bool,
) -> bool:
    before = len(findings.found)
    known = [*required, *optional]
    separated = separator_fault(header)
    if separated is not None:
        findings.add(path, line, None, *separated)
        return False
    for name in required:
        if name not in header:
            near = nearest(name, header)
            found = "no such column" + (f" (there is {near!r})" if near else "")
            findings.add(path, line, name, found, "a required column")
    if any_columns:
        return len(findings.found) == before
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            findings.add(path, line, name, f"{header.count(name)} columns of this name", "one")
        if name not in known and not any(name.startswith(prefix) and name != prefix for prefix in prefixes):
            found, expected = unknown("column", name, [*known, *(f"{prefix}…" for prefix in prefixes)])
            findings.add(path, line, name, found, expected)
    return len(findings.found) == before


def unknown(what: str, name: str, known: Sequence[str]) -> tuple[str, str]:
    """Return (found, expected) for an unknown name, with a similar name as a suggestion."""
    near = nearest(name, known)
    hint = f" (did you mean {str(near)!r}?)" if near else ""  # names may be members of an enumeration
    return f"an unknown {what}", f"one of {', '.join(known)}{hint}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant, preferring one that differs only in case; None if none is similar.

    Examples
    --------
    >>> nearest("Q1", ["q2", "q1"]), nearest("paraphrse", ["original", "paraphrase"]), nearest("x", ["original"])
    ('q1', 'paraphrase', None)
    """
    by_case: dict[str, str] = {}
    for one in known:
        by_case.setdefault(one.strip().casefold(), one)
    near = get_close_matches(name.strip().casefold(), by_case, 1)
    return by_case[near[0]] if near else None


def is_new(
    seen: dict[Hashable, int], key: Hashable, row: Row, column: str, findings: Findings, called: str = ""
) -> bool:
    """Return whether the key is new; otherwise note both lines. The function adds the key to `seen`.

    `called`: the key in words, if its parts alone are not clear.
    """
    first = seen.setdefault(key, row.line)
    if first == row.line:
        return True
    said = called or ", ".join(repr(part) for part in (key if isinstance(key, tuple) else (key,)) if part != "")
    findings.add(row.file, row.line, column, f"{said} again, after line {first}", "it once")
    return False


def number(row: Row, column: str, findings: Findings, *, low: float, high: float) -> float | None:
    """Return a cell as a number in a range; None if it is empty or, with a note, if it is something else."""
    text = row.get(column)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        findings.add(row.file, row.line, column, repr(text), f"a number from {low:g} to {high:g}")
        return None
    return value


def choice(row: Row, column: str, findings: Findings, known: Mapping[str, int | None]) -> tuple[bool, int | None]:
    """Return (whether a cell is one of the known words, its value)."""
    text = row.get(column)
    if text.casefold() in known:
        return True, known[text.casefold()]
    findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(known))
    return False, None


def known_word(row: Row, column: str, known: type[StrEnum], findings: Findings) -> str | None:
    """Return a cell that is one of the known words; None, with a note, for others. Empty cells were noted before."""
    said = row.get(column).casefold()
    if said in tuple(known):
        return said
    if said:
        found, expected = unknown(column, said, tuple(known))
        findings.add(row.file, row.line, column, f"{found} {row.get(column)!r}", expected)
    return None
