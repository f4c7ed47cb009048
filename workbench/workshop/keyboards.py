"""Mistyped letters: neighbouring keys of each letter, on keyboards read from files."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.data import data_folder
from workbench.errors import UnknownName
from workbench.toml_files import TomlFile


@dataclass(frozen=True, slots=True)
class Keyboard:
    """The possible typing mistakes."""

    name: str
    "name stored with results: `en`"
    instead: Mapping[str, str]
    "small letter -> small letters typed instead"


ANY_LETTER = Keyboard(
    "any letter", {letter: string.ascii_lowercase.replace(letter, "") for letter in string.ascii_lowercase}
)
"every other letter of a to z, all equally likely: how the published prompts of Tjuatja et al. 2024 were made"


@lru_cache
def shipped_keyboard(name: str = "en") -> Keyboard:
    """Return a shipped keyboard. Raises UnknownName, which lists the available ones."""
    folder = data_folder() / "keyboards"
    path = folder / f"{name}.toml"
    if not path.is_file():
        there = ", ".join(sorted(known.stem for known in folder.glob("*.toml"))) or "nothing"
        raise UnknownName(f"there is no {name!r} among the shipped keyboards. Available: {there}")
    return read_keyboard(path)


def read_keyboard(path: Path) -> Keyboard:
    """Read a keyboard: `name`, `title`, and, from the top, one table `[[row]]` per row with `letters` and `offset` (in
    keys).

    Raises UsageError if the file cannot be read, InputError with all of its faults.
    """
    file = TomlFile.read(path)
    file.unknown_keys(("name", "title", "row"))
    name = file.words("name")
    file.words("title", needed=False)
    tables = file.tables("row", "no row", "a table [[row]] for each row of keys, from the top")
    for line, table in tables:
        file.cell_faults(line, "row", _faults(table))
    file.check()
    rows = [(str(table["letters"]), float(table["offset"])) for _, table in tables]
    doubled = sorted(
        {letter for letter in "".join(row for row, _ in rows) if sum(row.count(letter) for row, _ in rows) > 1}
    )
    if doubled:
        file.fault("row", f"{', '.join(doubled)} on several keys", "each letter once")
    file.check()
    return Keyboard(name, beside(rows))


def beside(rows: Sequence[tuple[str, float]]) -> Mapping[str, str]:
    """Return each letter's neighbours: less than 1 key apart in adjacent rows, and the two next to it in its own row.

    Examples
    --------
    >>> beside([("qw", 0.0), ("as", 0.25)])["q"]
    'wa'
    """
    keys = [
        (letter, row, offset + place)
        for row, (letters, offset) in enumerate(rows)
        for place, letter in enumerate(letters)
    ]
    return {
        letter: "".join(
            other
            for other, there, right in keys
            if (there == row and abs(right - at) == 1) or (abs(there - row) == 1 and abs(right - at) < 1)
        )
        for letter, row, at in keys
    }


def _faults(table: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of one row."""
    letters, offset = table.get("letters"), table.get("offset")
    found = [(key, "an unknown key", "letters and offset") for key in table if key not in ("letters", "offset")]
    if not isinstance(letters, str) or not letters or any(letter.upper() == letter for letter in letters):
        found.append(("letters", repr(letters), "the small letters of the row in quotes, from the left"))
    if isinstance(offset, bool) or not isinstance(offset, int | float):
        found.append(("offset", repr(offset), "a number: how many keys the row begins to the right of the leftmost"))
    return found
