"""Names of policy issues: one issue has one name. `Law` and `law ` would be two columns of one issue."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from workbench.formats.tabular import Findings


class IssueNames:
    """The names of issues used so far in a file, to find names that differ only in case or spaces."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def twin(self, name: str) -> str | None:
        """Return the earlier name that differs only in case and spaces; None if this one is new or identical."""
        first = self._first.setdefault(_folded(name), name)
        return None if first == name else first


def check_issue_list(path: Path, line: int | None, key: str, names: Iterable[str], findings: Findings) -> None:
    """Note names that are empty, have outer spaces, or occur twice, even in another case."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip() or name != name.strip():
            findings.add(path, line, key, f"the issue {name!r}", "a name without outer spaces")
        elif _folded(name) in seen:
            note_twin(path, line, key, name, seen[_folded(name)], findings)
        seen.setdefault(_folded(name), name)


def note_twin(path: Path, line: int | None, column: str, name: str, first: str, findings: Findings) -> None:
    """Note an issue that exists already under a name that differs only in case or spaces."""
    findings.add(path, line, column, f"the issue {name!r}, and {first!r} before it", "every issue once, by one name")


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
