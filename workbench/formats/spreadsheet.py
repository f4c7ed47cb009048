"""Cells that a spreadsheet would run: written with an apostrophe before them, read without it.

A cell is taken for a formula where it begins with one of `= + - @`, a tab or a line end, which is a way to run code on
the machine of whoever opens a file of statements that others wrote (OWASP, "CSV Injection"). Plain numbers are left as
they are. A text that begins with apostrophes and then such a sign gets one apostrophe more, so that every text comes
back as it was; an apostrophe before anything else ('tis) is part of the text on both ways.
"""

from __future__ import annotations

import re

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
    """Return the text of a cell: what `guarded` was given.

    Examples
    --------
    >>> bare("'=1+1"), bare("''=1"), bare("'tis"), bare("=typed by hand")
    ('=1+1', "'=1", "'tis", '=typed by hand')
    """
    return cell[1:] if _GUARDED.match(cell) else cell
