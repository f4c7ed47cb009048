"""`instrument.toml`: the name, source and licence of an instrument, its issues and templates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from workbench.answer_scales import name_fault, options_of
from workbench.domain.instruments import IssueDefinition
from workbench.domain.questionnaires import Scale
from workbench.errors import InputError
from workbench.formats.records import Findings, read_text
from workbench.formats.tabular import unknown
from workbench.toml_files import parse_toml


class IssueNames:
    """The names of issues used so far in a file.

    They are kept to find names that differ only in case or spaces.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def twin(self, name: str) -> str | None:
        """Return the earlier name that differs only in case and spaces.

        It is None if this name is new or identical.
        """
        first = self._first.setdefault(_folded(name), name)
        return None if first == name else first


def check_issue_list(
    path: Path, line: int | None, key: str, names: Iterable[str], findings: Findings
) -> None:
    """Note names that are empty, have outer spaces, or occur twice, even in another case."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip() or name != name.strip():
            findings.add(path, line, key, f"the issue {name!r}", "a name without outer spaces")
        elif _folded(name) in seen:
            note_twin(path, line, key, name, seen[_folded(name)], findings)
        seen.setdefault(_folded(name), name)


def note_twin(
    path: Path, line: int | None, column: str, name: str, first: str, findings: Findings
) -> None:
    """Note an issue that exists already under a name that differs only in case or spaces."""
    findings.add(
        path,
        line,
        column,
        f"the issue {name!r}, and {first!r} before it",
        "every issue once, by one name",
    )


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


TITLES, DEFINITIONS = "issue_titles", "issue_definitions"
TABLES = (TITLES, DEFINITIONS)
SCALES = "scales"
TEXTS = ("name", "title", "version", "language", "source", "citation", "licence")
LISTS = ("templates", "issues", "notes", "retired", "missing", "ignored")
OR_TEXT = ("notes", "templates")
"lists that may be given as a single text"
OR_NUMBERS = ("missing",)
"lists whose texts may be written as whole numbers"
KEYS = (*TEXTS, *LISTS)


@dataclass(frozen=True, slots=True)
class About:
    """The keys of the file. Missing keys are "" and ()."""

    name: str = ""
    title: str = ""
    version: str = "1"
    language: str = ""
    source: str = ""
    citation: str = ""
    licence: str = ""
    templates: tuple[str, ...] | None = None
    "audits whose published templates the instrument uses, or None for those that fit it"
    issues: tuple[str, ...] | None = None
    "None for the issues that labels name"
    notes: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    "refs of former statements of the instrument, from which others may be derived"
    missing: tuple[str, ...] = ()
    "codes in answers.csv that mean no answer"
    ignored: tuple[str, ...] = ()
    "columns of answers.csv that are not questions"
    definitions: tuple[IssueDefinition, ...] = ()
    scales: tuple[Scale, ...] = ()
    "its own answer scales, including those that replace shipped ones"


def read_about(path: Path, findings: Findings) -> About:
    """Return the contents of the file. Faults are noted in `findings`. A missing file is empty."""
    text = read_text(path, findings) if path.exists() else None
    if text is None:
        return About()
    try:
        value = parse_toml(text, path)
    except InputError as error:
        findings.found += error.findings
        return About()
    values: dict[str, Any] = {
        key: _value(path, text, key, item, findings) for key, item in value.items()
    }
    tables = {name: _table(path, text, name, value, findings) for name in TABLES}
    issues = values.get("issues")
    if issues is not None:
        check_issue_list(path, _line_of(text, "issues"), "issues", issues, findings)
    return About(
        **{key: item for key, item in values.items() if key in KEYS and item is not None},
        definitions=_definitions(tables[TITLES], tables[DEFINITIONS]),
        scales=_scales(path, text, value.get(SCALES, {}), findings),
    )


def _value(
    path: Path, text: str, key: str, item: Any, findings: Findings
) -> str | tuple[str, ...] | None:
    """Return a value as `About` stores it.

    It is None, with a note, if its key is unknown or its type is wrong.
    """
    line = _line_of(text, key)
    if key in (*TABLES, SCALES):
        return None
    if key not in KEYS:
        findings.add(path, line, key, *unknown("key", key, (*KEYS, *TABLES, SCALES)))
        return None
    if key in LISTS:
        texts = _as_list(key, item)
        if isinstance(texts, list) and all(map(_is_text, texts)):
            return tuple(dict.fromkeys(texts)) if key == "templates" else tuple(texts)
        findings.add(path, line, key, _excerpt(texts), "a list of texts")
        return None
    if _is_text(item) and item.strip():
        return item
    findings.add(path, line, key, _excerpt(item), "some text in quotes")
    return None


def _as_list(key: str, item: Any) -> Any:
    """Return a value as a list if its key allows the form that it has, otherwise as it is."""
    if key == "issues" and isinstance(item, dict):
        return list(item)
    if key in OR_TEXT and isinstance(item, str):
        return [item]
    if key in OR_NUMBERS and isinstance(item, list):
        return [str(element) if type(element) is int else element for element in item]
    return item


def _is_text(item: Any) -> TypeGuard[str]:
    """Return whether a value is a text that a database can hold."""
    return isinstance(item, str) and "\x00" not in item


def _table(
    path: Path, text: str, table: str, value: dict[str, Any], findings: Findings
) -> dict[str, str]:
    """Return a table of texts about issues.

    Values that are not text, and unlisted issues, are noted.
    """
    entries, issues = value.get(table, {}), value.get("issues", ())
    if not isinstance(entries, dict):
        findings.add(path, _line_of(text, table), table, _excerpt(entries), "a table: issue = text")
        return {}
    check_issue_list(path, _line_of(text, table), table, entries, findings)
    for name, entry_text in entries.items():
        if not isinstance(entry_text, str) or "\x00" in entry_text:
            findings.add(
                path, _line_of(text, name, table), name, _excerpt(entry_text), "some text in quotes"
            )
        elif issues and name not in issues:
            findings.add(
                path, _line_of(text, name, table), name, *unknown("issue", name, tuple(issues))
            )
    return {name: entry_text for name, entry_text in entries.items() if isinstance(entry_text, str)}


def _definitions(
    titles: dict[str, str], definitions: dict[str, str]
) -> tuple[IssueDefinition, ...]:
    return tuple(
        IssueDefinition(name, titles.get(name, ""), definitions.get(name, ""))
        for name in {**titles, **definitions}
    )


def _scales(path: Path, text: str, value: Any, findings: Findings) -> tuple[Scale, ...]:
    """Return the scales `[[scales.NAME]]`. Faults are noted."""
    if not isinstance(value, dict):
        findings.add(
            path, _line_of(text, SCALES), SCALES, _excerpt(value), "tables [[scales.NAME]]"
        )
        return ()
    scales = []
    for name, tables in value.items():
        matches = re.finditer(
            rf"^\s*\[\[?\s*{SCALES}\s*\.\s*[\"']?{re.escape(name)}\b", text, re.MULTILINE
        )
        lines: list[int | None] = [text.count("\n", 0, match.end()) + 1 for match in matches]
        lines = lines or [_line_of(text, SCALES)]
        fault = name_fault(name)
        if fault:
            findings.add(path, lines[0], f"{SCALES}.{name}", *fault)
        elif not isinstance(tables, list) or not tables:
            findings.add(
                path, lines[0], f"{SCALES}.{name}", _excerpt(tables), f"tables [[{SCALES}.{name}]]"
            )
        else:
            options, faults = options_of(tables)
            for index, cell, problem, expected in faults:
                findings.add(
                    path,
                    lines[min(index, len(lines) - 1)],
                    f"{SCALES}.{name}.{cell}",
                    problem,
                    expected,
                )
            scales.append(Scale(name, options))
    return tuple(scales)


def _line_of(text: str, key: str, table: str = "") -> int | None:
    header = re.search(rf"^\s*\[\s*{table}\s*\]", text, re.MULTILINE) if table else None
    pattern = re.compile(rf"^\s*(?:\[\s*)?[\"']?{re.escape(key)}\b", re.MULTILINE)
    match = pattern.search(text, header.end() if header else 0)
    return None if match is None else text.count("\n", 0, match.end()) + 1


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:120] + "…"
