"""The only filter for displayed text: on a terminal, in a document, in a log.

A terminal executes escape sequences, and direction marks reorder adjacent text. Every unprintable
character is replaced by a visible sign. JSON, CSV and Parquet keep the exact text and do not use
this filter.
"""

from __future__ import annotations

import unicodedata

PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}
"a visible sign for each ASCII control character"


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with every character visible: ESC as ␛, a right-to-left override as \\u202e.

    With `lines`, line feeds stay and tabs become spaces. Otherwise they are shown as ␊ and ␉.

    Examples
    --------
    >>> visible("a\\x1b[2Jb"), visible("a\\nb"), visible("a\\nb", lines=True)
    ('a␛[2Jb', 'a␊b', 'a\\nb')
    """
    if text.isprintable():
        return text
    return "".join(_visible(character, lines) for character in text)


def _visible(character: str, lines: bool) -> str:
    if character.isprintable():
        return character
    if lines and character in "\n\t":
        return "\n" if character == "\n" else "    "
    if unicodedata.category(character) == "Zs":
        return " "
    return PICTURES.get(ord(character)) or character.encode("unicode_escape").decode("ascii")
