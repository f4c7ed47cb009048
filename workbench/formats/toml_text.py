"""Writes TOML that reads back to the same strings: the standard library reads TOML but does not write it.

Files are UTF-8 without a byte order mark, lines end in a line feed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def toml_text(values: Mapping[str, str | Sequence[str] | Mapping[str, str]]) -> str:
    """Return a TOML file of texts, lists of texts and, at the end, tables of texts.

    Examples
    --------
    >>> print(toml_text({"name": 'a "b"', "notes": ["one"], "titles": {"law and order": "Law"}}), end="")
    name = "a \\"b\\""
    notes = [
        "one",
    ]
    <BLANKLINE>
    [titles]
    "law and order" = "Law"
    """
    plain = [f"{_key(name)} = {_value(value)}\n" for name, value in values.items() if not isinstance(value, Mapping)]
    tables = [
        f"\n[{_key(name)}]\n" + "".join(f"{_key(key)} = {_string(text)}\n" for key, text in table.items())
        for name, table in values.items()
        if isinstance(table, Mapping)
    ]
    return "".join((*plain, *tables))


def toml_tables(path: Sequence[str], tables: Iterable[Mapping[str, str | Sequence[str]]]) -> str:
    """Return a TOML array of tables, which follows the texts of a file.

    Examples
    --------
    >>> print(toml_tables(("scales", "yes_no"), [{"values": ["yes"], "meaning": "yes"}]), end="")
    <BLANKLINE>
    [[scales.yes_no]]
    values = [
        "yes",
    ]
    meaning = "yes"
    """
    name = ".".join(map(_key, path))
    rows = ("".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items()) for table in tables)
    return "".join(f"\n[[{name}]]\n{row}" for row in rows)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _value(value: str | Sequence[str] | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return _string(value)
    return "[\n" + "".join(f"    {_string(str(part))},\n" for part in value) + "]" if value else "[]"


def _string(text: str) -> str:
    """Return a basic string: quotes, backslashes and unprintable characters are escaped."""
    return '"' + "".join(_ESCAPES.get(sign) or _shown(sign) for sign in text) + '"'


def _shown(sign: str) -> str:
    return sign if sign.isprintable() else f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08X}"
