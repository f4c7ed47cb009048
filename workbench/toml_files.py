"""TOML files that people write: read exactly, or refused with all their faults at once.

Each fault has its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any

from workbench.errors import Finding, InputError, UsageError
from workbench.regular_files import check_file

DEEPEST = 100
"""levels of tables and lists within each other; `repr`, `str` and `json.dumps` fail at some
hundreds more"""
BARE_DATE = "a date or time without quotes"
LARGEST, TOO_LARGE = 2**63, "a whole number of more than 64 bits"
"whole numbers of TOML have 64 bits; Python writes none of more than 4,300 digits"
_DATE = re.compile(r"(?<=[=\[,\s])(\d{4}-\d\d-\d\d|\d\d:\d\d)")
_LONG = re.compile(r"\d[\d_]{18,}|0[xob][\da-fA-F_]{16,}")


def parsed(text: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises `tomllib.TOMLDecodeError`, also for a text that is nested too deeply, a number that is
    too large, and a date or time without quotes. None of our files has a key for a date or time,
    and JSON has no such value.
    """
    try:
        table = tomllib.loads(text)
        is_too_deep = too_deep(table)
    except RecursionError:
        is_too_deep = True
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number that is too long to read, or a date that no calendar has
        raise tomllib.TOMLDecodeError(
            TOO_LARGE if "digits" in str(error) else str(error)
        ) from error
    if is_too_deep:
        raise tomllib.TOMLDecodeError(f"tables or lists more than {DEEPEST} levels deep")
    for level in levels(table):
        if any(isinstance(value, int) and not -LARGEST <= value < LARGEST for value in level):
            raise tomllib.TOMLDecodeError(TOO_LARGE)
        if any(isinstance(value, date | time) for value in level):
            raise tomllib.TOMLDecodeError(BARE_DATE)
    return table


def levels(value: object) -> Iterator[list[object]]:
    """Yield the values of a table or list, then those of the tables and lists within, and so on."""
    level = [value]
    while level:
        yield level
        inner = [
            container.values() if isinstance(container, dict) else container
            for container in level
            if isinstance(container, (dict, list))
        ]
        level = [inner_value for values in inner for inner_value in values]


def too_deep(value: object) -> bool:
    """Return whether tables and lists are nested so deeply that code may fail on them."""
    return any(depth > DEEPEST for depth, _ in enumerate(levels(value)))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table of a file. Raises as `TomlFile.read`."""
    return TomlFile.read(path).table


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the table of the text of a file.

    Raises InputError, which names the line, if the text is no TOML.
    """
    try:
        return parsed(text)
    except tomllib.TOMLDecodeError as error:
        # Errors of `parsed` itself name no line, so the line of the first such value is taken.
        suspect = (_DATE if str(error) == BARE_DATE else _LONG).search(text)
        match = re.search(r"line (\d+)", str(error))
        line = (
            int(match[1])
            if match
            else text.count("\n", 0, suspect.start() if suspect else len(text)) + 1
        )
        fault = Finding(path.name, line, None, f"text that is not TOML ({error})", "a TOML file")
        raise InputError([fault], f"Correct {path}, then try again.") from error


@dataclass(slots=True)
class TomlFile:
    """A file's text and table, and the faults that were found so far."""

    path: Path
    text: str
    table: dict[str, Any]
    found: list[Finding] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read a file. Raises UsageError if it cannot be read, InputError if it is no TOML."""
        try:
            return cls.of(path, check_file(path).read_bytes().decode("utf-8-sig"))
        except OSError as error:
            raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            fault = Finding(
                path.name, None, None, "bytes that are not UTF-8", "a file saved as UTF-8"
            )
            raise InputError([fault], f"Correct {path}, then try again.") from error

    @classmethod
    def of(cls, path: Path, text: str) -> TomlFile:
        """Return the file of a text. Raises InputError if it is no TOML."""
        return cls(path, text, parse_toml(text, path))

    def check(self) -> None:
        """Raise InputError if there is any fault."""
        if self.found:
            raise InputError(self.found)

    def fault(self, key: str, said: str, wanted: str) -> None:
        """Note a fault at the first line on which a key stands."""
        match = re.search(rf"^[ \t]*[\[\s]*[\"']?{re.escape(key)}\b", self.text, re.MULTILINE)
        line = None if match is None else self.text.count("\n", 0, match.end()) + 1
        self.found.append(Finding(self.path.name, line, key, said, wanted))

    def unknown_keys(self, known: Sequence[str]) -> None:
        """Note every key that is none of the known ones."""
        for key in self.table:
            if key not in known:
                self.fault(key, "an unknown key", f"one of {', '.join(known)}")

    def words(self, key: str, *, needed: bool = True) -> str:
        """Return the text of a key without outer blanks, or "" if it has none.

        A key without text is a fault. A missing key is one if it is `needed`.
        """
        value = self.table.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None or needed:
            self.fault(key, "nothing" if value is None else repr(value), "some text in quotes")
        return ""

    def tables(
        self, name: str, nothing: str, wanted: str
    ) -> list[tuple[int | None, dict[str, Any]]]:
        """Return the tables `[[name]]` with the lines on which they begin.

        A line is None if the text does not show it. If there are no such tables, note a fault.
        """
        tables = self.table.get(name)
        if (
            not isinstance(tables, list)
            or not tables
            or not all(isinstance(table, dict) for table in tables)
        ):
            self.fault(name, nothing, wanted)
            return []
        matches = re.finditer(rf"^[ \t]*\[\[\s*{re.escape(name)}\b", self.text, re.MULTILINE)
        lines = [self.text.count("\n", 0, match.end()) + 1 for match in matches]
        return [
            (lines[index] if len(lines) == len(tables) else None, table)
            for index, table in enumerate(tables)
        ]

    def cell_faults(
        self, line: int | None, name: str, faults: Sequence[tuple[str, str, str]]
    ) -> None:
        """Note the faults of one table, each (cell, found, expected)."""
        self.found += [
            Finding(self.path.name, line, f"{name}.{cell}", actual, expected)
            for cell, actual, expected in faults
        ]
