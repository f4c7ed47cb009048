"""Names of policy issues: one issue has one name. `Law` and `law ` would be two columns of one thing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from workbench.formats.tabular import Findings


class IssueNames:
    """The names of issues that a file used so far, and the place where a name is another's twin."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def twin(self, name: str) -> str | None:
        """Return the earlier name that is the same but for case and blanks; None where this one is new or the same."""
        first = self._first.setdefault(_folded(name), name)
        return None if first == name else first


def check_issue_list(path: Path, line: int | None, key: str, names: Iterable[str], findings: Findings) -> None:
    """Note names that are empty, have outer blanks, or stand twice, be it in another case."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip() or name != name.strip():
            findings.add(path, line, key, f"the issue {name!r}", "a name without outer spaces")
        elif _folded(name) in seen:
            note_twin(path, line, key, name, seen[_folded(name)], findings)
        seen.setdefault(_folded(name), name)


def note_twin(path: Path, line: int | None, column: str, name: str, first: str, findings: Findings) -> None:
    """Note an issue that is there already under a name that differs in nothing a reader sees as another name."""
    findings.add(path, line, column, f"the issue {name!r}, and {first!r} before it", "every issue once, by one name")


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
