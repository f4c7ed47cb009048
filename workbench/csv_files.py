"""CSV files: text that reads back to the same strings, and cells that a spreadsheet would run.

Files are UTF-8 without a byte order mark, lines end in a line feed. A cell that begins with one of
`= + - @`, a tab or a line end is taken for a formula, which is a way to run code on the machine of
whoever opens a file of statements that others wrote (OWASP, "CSV Injection"): it is written with an
apostrophe before it and read without. Plain numbers are left as they are. A text that begins with
apostrophes and then such a sign gets one apostrophe more, so that every text comes back as it was;
an apostrophe before anything else ('tis) is part of the text on both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_QUOTED = re.compile(r'[,"\r\n]')
APOSTROPHE = "'"
_SIGNS = r"[=+\-@\t\r\n]"
_RUNS = re.compile(rf"'*{_SIGNS}")
_GUARDED = re.compile(rf"'+{_SIGNS}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """Return the cell of a text.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1"), guarded("'tis"), guarded("-0.5")
    ("'=1+1", "''=1", "'tis", '-0.5')
    """
    return APOSTROPHE + text if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def bare(cell: str) -> str:
    """Return the text of a cell, which was given to `guarded`.

    Examples
    --------
    >>> bare("'=1+1"), bare("''=1"), bare("'tis"), bare("=typed by hand")
    ('=1+1', "'=1", "'tis", '=typed by hand')
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a CSV file."""
    return "".join(csv_line(cells) for cells in (header, *rows))


def csv_line(cells: Iterable[str]) -> str:
    """Return a line of a CSV file.

    Python's writer leaves a lone carriage return unquoted if lines end in LF.
    """
    return ",".join(_cell(cell) for cell in cells) + "\n"


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
