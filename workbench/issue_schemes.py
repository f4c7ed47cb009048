"""Schemes of policy issues as files: which issues there are, and what supporting each means.

Statements are labelled for these issues.

    name = "smartvote"
    title = "Eight policy issues"
    source = "where they come from"               # may be left out

    [[issue]]
    name = "law_and_order"                        # as labels and columns name it
    title = "Law and order"
    definition = "What supporting it means, and what is against it."

A file is read exactly or refused with all its faults at once. Two issues whose names differ only in
case or blanks are a fault: nobody could tell their labels apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.domain.instruments import IssueDefinition
from workbench.toml_files import TomlFile

MOST = 20
"issues of a scheme; a person has to keep all of them in mind"
LONGEST_NAME = 64
LONGEST_TEXT = 2_000
"characters of a title or definition"

_TEXTS = ("name", "title", "source")
_ISSUE = ("name", "title", "definition")
_KEYS = (*_TEXTS, "issue")
_NAME = "a name of letters, digits and `_` that does not begin with a digit, such as law_and_order"


@dataclass(frozen=True, slots=True)
class IssueScheme:
    """A set of policy issues that statements are labelled for."""

    name: str
    title: str
    issues: tuple[IssueDefinition, ...]
    source: str = ""


def read_issue_scheme(path: Path) -> IssueScheme:
    """Read a scheme from a TOML file.

    Raises UsageError if the file cannot be read, InputError with every fault of one that can.
    """
    file = TomlFile.read(path)
    file.unknown_keys(_KEYS)
    values = {key: file.words(key, needed=key != "source") for key in _TEXTS}
    issues = _issues(file)
    file.check()
    return IssueScheme(values["name"], values["title"], issues, values["source"])


def defined(
    names: Sequence[str], own: Sequence[IssueDefinition], known: Sequence[IssueDefinition] = ()
) -> tuple[IssueDefinition, ...]:
    """Return the definitions of some issues, in this order.

    A title or a definition is that of the instrument, or else that of a known scheme, or else
    empty.

    Examples
    --------
    >>> defined(["peace"], [IssueDefinition("peace", "Peace!")], [IssueDefinition("peace", "Peace", "No war.")])
    (IssueDefinition(name='peace', title='Peace!', definition='No war.'),)
    >>> defined(["cats"], [])
    (IssueDefinition(name='cats', title='', definition=''),)
    """  # noqa: E501
    own_by_name, known_by_name = (
        {issue.name: issue for issue in issues} for issues in (own, known)
    )
    empty = IssueDefinition("")
    candidates = [
        (name, own_by_name.get(name, empty), known_by_name.get(name, empty)) for name in names
    ]
    return tuple(
        IssueDefinition(
            name,
            own_issue.title or known_issue.title,
            own_issue.definition or known_issue.definition,
        )
        for name, own_issue, known_issue in candidates
    )


def same_name(name: str) -> str:
    """Return a key that is equal for names that a person would take for one.

    Case, blanks and `_` do not count.

    Examples
    --------
    >>> same_name(" Law and  Order") == same_name("law_and_order")
    True
    """
    return "".join(unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split())


def _issues(file: TomlFile) -> tuple[IssueDefinition, ...]:
    tables = file.tables("issue", "no issues", f"1 to {MOST} tables [[issue]]")
    if len(tables) > MOST:
        file.fault("issue", f"{len(tables)} issues", f"1 to {MOST} tables [[issue]]")
    issues: list[IssueDefinition] = []
    for line, table in tables:
        file.cell_faults(line, "issue", [*_cell_faults(table), *_repeated(table, issues)])
        issues.append(IssueDefinition(*(str(table.get(cell) or "").strip() for cell in _ISSUE)))
    return tuple(issues)


def _cell_faults(table: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of the faults of one issue by itself."""
    faults = [
        (cell, "an unknown key", f"one of {', '.join(_ISSUE)}")
        for cell in table
        if cell not in _ISSUE
    ]
    for cell in _ISSUE:
        value = table.get(cell)
        if not isinstance(value, str) or not value.strip():
            faults.append(
                (cell, "nothing" if value is None else repr(value), "some text in quotes")
            )
        elif cell == "name" and not _is_name(value):
            faults.append((cell, repr(value[:LONGEST_NAME]), _NAME))
        elif len(value) > LONGEST_TEXT:
            faults.append((cell, f"{len(value):,} characters", f"at most {LONGEST_TEXT:,}"))
        elif cell != "name" and (fault := _unshown(value)):
            faults.append((cell, fault, "text whose characters all show"))
    return faults


def _is_name(text: str) -> bool:
    return (
        text.isidentifier() and len(text) <= LONGEST_NAME and unicodedata.is_normalized("NFC", text)
    )


def _unshown(text: str) -> str:
    """Return the first character that does not show itself, as an escape. Line ends do."""
    hidden = [
        character for character in text if not character.isprintable() and character not in "\n\r\t"
    ]
    return hidden[0].encode("unicode_escape").decode("ascii") if hidden else ""


def _repeated(table: dict[str, Any], earlier: list[IssueDefinition]) -> list[tuple[str, str, str]]:
    """Return the faults of a name or a title that an earlier issue has.

    Names and titles are compared as people would read them.
    """
    faults = []
    for cell in ("name", "title"):
        value = table.get(cell)
        if not isinstance(value, str) or not value.strip():
            continue
        for other in earlier:
            if same_name(value) == same_name(getattr(other, cell)):
                note = "" if value == getattr(other, cell) else f", like {getattr(other, cell)!r}"
                faults.append(
                    (
                        cell,
                        f"{value!r} again{note}",
                        f"every {cell} once; case and spaces are ignored",
                    )
                )
    return faults
