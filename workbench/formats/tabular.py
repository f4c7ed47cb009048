"""Strict reading of tables.

Every fault has its place and column, and all faults of a file are found at once. A file is either
read exactly or refused with a list of places to correct.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from workbench.csv_files import bare
from workbench.formats.numbers import finite_number, has_decimal_comma
from workbench.formats.records import (
    AS_IS,
    Findings,
    ReadSettings,
    is_blank,
    likely_header_row,
    records,
)

COMMA_HINT = ", with a decimal point; a table is read with decimal commas by --decimal ,"


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a CSV file."""

    file: Path
    line: int
    "the line on which the record begins, counting from 1"
    cells: dict[str, str]

    def get(self, column: str) -> str:
        """Return a cell without outer spaces, or an empty string if the file lacks the column."""
        return self.cells.get(column, "").strip()


def read_rows(
    path: Path,
    findings: Findings,
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    prefixes: Sequence[str] = (),
    any_columns: bool = False,
    may_be_empty: Sequence[str] = (),
    first_counts: Sequence[str] = (),
    guarded: bool = False,
    column: Callable[[str], str] = str,
    settings: ReadSettings = AS_IS,
) -> list[Row]:
    """Return the records of a file. Every fault is noted in `findings`.

    Parameters
    ----------
    required, optional
        Required and optional columns. Cells of required columns must not be empty.
    prefixes
        Prefixes of further optional columns: `issue.`.
    any_columns
        Whether columns of other names are accepted, too.
    may_be_empty
        Required columns whose cells may be empty.
    first_counts
        Columns that a known layout has twice. The first of the two counts.
    guarded
        Whether to remove the apostrophes, in the header too, that keep a spreadsheet from running
        a cell.
    column
        Returns our name of a column from its name in the file.
    settings
        The settings for reading a file that does not describe itself.
    """
    numbered_rows = records(path, findings, settings)
    header_record = next((record for record in numbered_rows if not is_blank(record[1])), None)
    if header_record is None:
        if not findings.found:
            findings.add(path, 1, None, "an empty file", f"a header with {', '.join(required)}")
        return []
    line, names = header_record
    header = [column(bare(name.strip()) if guarded else name.strip()) for name in names]
    is_incomplete = not set(required) <= set(header)
    if is_incomplete and (header_row := likely_header_row(path, settings)) is not None:
        findings.add(
            path, line, None, "a title or comment above the columns", header_told(header_row)
        )
        return []
    if not _header_is_good(
        path, line, header, findings, required, optional, prefixes, any_columns, first_counts
    ):
        return []
    filled_columns = [name for name in required if name not in may_be_empty]
    rows = []
    for row in _rows_below(path, header, numbered_rows, findings, guarded=guarded):
        rows.append(row)
        for name in filled_columns:
            if not row.get(name):
                findings.add(path, row.line, name, "an empty cell", "some text")
    return rows


def _rows_below(
    path: Path,
    header: Sequence[str],
    numbered_rows: Iterable[tuple[int, list[str]]],
    findings: Findings,
    *,
    guarded: bool,
) -> Iterator[Row]:
    """Yield the rows with as many cells as the header. Others are noted, unless they are blank."""
    for line, cells in numbered_rows:
        if is_blank(cells):
            continue
        if len(cells) == len(header):
            yield Row(path, line, _cells_by_name(header, cells, guarded=guarded))
        else:
            expected = f"{len(header)}, as in the header"
            findings.add(path, line, None, f"{len(cells)} fields", expected)


def _cells_by_name(header: Sequence[str], cells: Sequence[str], *, guarded: bool) -> dict[str, str]:
    """Return the cells of a row. Of two columns of one name, the first counts."""
    cell_by_name: dict[str, str] = {}
    for name, cell in zip(header, cells, strict=True):
        cell_by_name.setdefault(name, bare(cell) if guarded else cell)
    return cell_by_name


def _header_is_good(
    path: Path,
    line: int,
    header: list[str],
    findings: Findings,
    required: Sequence[str],
    optional: Sequence[str],
    prefixes: Sequence[str],
    any_columns: bool,
    first_counts: Sequence[str],
) -> bool:
    n_faults = len(findings.found)
    for name in required:
        if name not in header:
            similar = nearest(name, header)
            finding = "no such column" + (f" (there is {similar!r})" if similar else "")
            findings.add(path, line, name, finding, "a required column")
    known_columns = [*required, *optional]
    for name, count in Counter(header).items():
        is_read = bool(name) or not any_columns
        if count > 1 and is_read and name not in first_counts:
            expected = f"one; {_leave_out(f'{name} (2)')}"
            findings.add(path, line, name, f"{count} columns of this name", expected)
        if any_columns or name in known_columns:
            continue
        if not name:
            position = header.index("") + 1
            expected = f"a name in the header; {_leave_out(str(position))}"
            findings.add(path, line, name, f"column {position} without a name", expected)
        elif not _has_prefix(name, prefixes):
            names = [*known_columns, *(f"{prefix}…" for prefix in prefixes)]
            findings.add(path, line, name, *unknown("column", name, names))
    return len(findings.found) == n_faults


def _has_prefix(name: str, prefixes: Iterable[str]) -> bool:
    """Return whether a name is one of the prefixes with a text behind it."""
    return any(name.startswith(prefix) and name != prefix for prefix in prefixes)


def header_told(row: int) -> str:
    """Return the advice for a table whose columns are named below its first row."""
    return f"the names of the columns; they seem to stand in row {row}: --header-row {row}"


def _leave_out(column: str) -> str:
    return f"a single table is read without it by --ignore {shlex.quote(column)}"


def unknown(kind: str, name: str, valid_names: Sequence[str]) -> tuple[str, str]:
    """Return (finding, expectation) for an unknown name, with a similar name as a suggestion."""
    similar = nearest(name, valid_names)
    # Names may be members of an enumeration.
    hint = f" (did you mean {str(similar)!r}?)" if similar else ""
    return f"an unknown {kind}", f"one of {', '.join(valid_names)}{hint}"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None if none is similar.

    A name that differs only in case is preferred.

    Examples
    --------
    >>> nearest("Q1", ["q2", "q1"]), nearest("paraphrse", ["original", "paraphrase"]), nearest("x", ["original"])
    ('q1', 'paraphrase', None)
    """  # noqa: E501
    by_case: dict[str, str] = {}
    for candidate in candidates:
        by_case.setdefault(candidate.strip().casefold(), candidate)
    matches = get_close_matches(name.strip().casefold(), by_case, 1)
    return by_case[matches[0]] if matches else None


def is_new(
    seen: dict[Hashable, int],
    key: Hashable,
    row: Row,
    column: str,
    findings: Findings,
    called: str = "",
) -> bool:
    """Return whether the key is new. Otherwise note both lines.

    The function adds the key to `seen`.

    `called` is the key in words, if its parts alone are not clear.
    """
    first_line = seen.setdefault(key, row.line)
    if first_line == row.line:
        return True
    description = called or ", ".join(
        repr(part) for part in (key if isinstance(key, tuple) else (key,)) if part != ""
    )
    findings.add(
        row.file, row.line, column, f"{description} again, after line {first_line}", "it once"
    )
    return False


def number(row: Row, column: str, findings: Findings, *, low: float, high: float) -> float | None:
    """Return a cell as a number in a range.

    It is None if the cell is empty or, with a note, if it is something else.
    """
    text = row.get(column)
    if not text:
        return None
    value = finite_number(text, low=low, high=high)
    if value is None:
        hint = COMMA_HINT if has_decimal_comma(text) else ""
        findings.add(
            row.file, row.line, column, repr(text), f"a number from {low:g} to {high:g}{hint}"
        )
    return value


def choice(
    row: Row, column: str, findings: Findings, value_by_word: Mapping[str, int | None]
) -> tuple[bool, int | None]:
    """Return (whether a cell is a valid word, the value of the word)."""
    text = row.get(column)
    if text.casefold() in value_by_word:
        return True, value_by_word[text.casefold()]
    findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(value_by_word))
    return False, None


def known_word(row: Row, column: str, words: type[StrEnum], findings: Findings) -> str | None:
    """Return a cell that is a valid word, or None, with a note, for another word.

    Empty cells were noted before.
    """
    word = row.get(column).casefold()
    if word in tuple(words):
        return word
    if word:
        problem, expected = unknown(column, word, tuple(words))
        findings.add(row.file, row.line, column, f"{problem} {row.get(column)!r}", expected)
    return None
