"""`instrument.toml`: what an instrument is called, whose it is, and which issues and templates belong to it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from workbench.data import INSTRUMENT_AUDITS
from workbench.formats.tabular import Findings, read_text, unknown

TITLES = "issue_titles"
LISTS = ("issues", "notes", "templates")
OR_TEXT = ("notes", "templates")
"lists of which one may be given as a text"


@dataclass(frozen=True, slots=True)
class About:
    """The keys of the file; "" and () where it does not say."""

    name: str = ""
    title: str = ""
    version: str = "1"
    language: str = "en"
    source: str = ""
    citation: str = ""
    licence: str = ""
    templates: tuple[str, ...] = INSTRUMENT_AUDITS
    "audits whose published templates the instrument has"
    issues: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


KEYS = tuple(field.name for field in fields(About))


def read_about(path: Path, findings: Findings) -> About:
    """Return what the file says; faults are noted in `findings`. A file that is not there says nothing."""
    text = read_text(path, findings) if path.exists() else None
    if text is None:
        return About()
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        findings.add(path, line, None, f"text that is not TOML ({error})", "a TOML file")
        return About()
    good: dict[str, Any] = {key: _value(path, text, key, item, findings) for key, item in value.items()}
    _check_titles(path, text, value, findings)
    return About(**{key: item for key, item in good.items() if key in KEYS and item is not None})


def _value(path: Path, text: str, key: str, item: Any, findings: Findings) -> str | tuple[str, ...] | None:
    """Return a value as `About` has it; None, with a note, where it is unknown or of another kind."""
    line = _line_of(text, key)
    if key == TITLES:
        return None
    if key not in KEYS:
        findings.add(path, line, key, *unknown("key", key, (*KEYS, TITLES)))
        return None
    if key == "issues" and isinstance(item, dict):
        item = list(item)
    if key in LISTS:
        item = [item] if isinstance(item, str) and key in OR_TEXT else item
        if isinstance(item, list) and all(isinstance(part, str) for part in item):
            return tuple(dict.fromkeys(item)) if key == "templates" else tuple(item)
    elif isinstance(item, str) and item.strip():
        return item
    findings.add(path, line, key, repr(item), "a list of texts" if key in LISTS else "some text in quotes")
    return None


def _check_titles(path: Path, text: str, value: dict[str, Any], findings: Findings) -> None:
    """Note titles of issues that the file does not list."""
    titles, issues = value.get(TITLES, {}), value.get("issues", ())
    if not isinstance(titles, dict):
        findings.add(path, _line_of(text, TITLES), TITLES, repr(titles), "a table: issue = title")
        return
    for name in titles if issues else ():
        if name not in issues:
            findings.add(path, _line_of(text, name), name, *unknown("issue", name, tuple(issues)))


def _line_of(text: str, key: str) -> int | None:
    match = re.search(rf"^\s*(?:\[\s*)?[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    return None if match is None else text.count("\n", 0, match.end()) + 1
