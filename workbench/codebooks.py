"""Codebooks as files: a question, its labels with their keys, and the guideline that says how to decide.

    name = "stance"
    title = "Stance of an answer"
    question = "What is the answer's stance on the statement it was given?"
    subject = "response"                          # or "statement"
    guideline = '''How to decide, in plain text.'''
    ordinal = ["disagree", "neutral", "agree"]    # labels that have an order, from low to high; may be left out

    [[option]]
    label = "agree"
    key = "a"
    meaning = "one sentence"

A file is read exactly or refused with all its faults at once: annotators cannot mend a codebook afterwards without
coding again.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from workbench.domain.annotations import Codebook, LabelOption, Subject
from workbench.errors import Finding, InputError, UsageError

RESERVED_KEYS = frozenset("zsfmgqhjkcv0123456789")
"what annotating itself is steered with; no label may have one of them"
FREE_KEYS = "".join(key for key in ascii_lowercase if key not in RESERVED_KEYS)

_TEXTS = ("name", "title", "question", "subject", "guideline")
_OPTION = ("label", "key", "meaning")
_KEYS = (*_TEXTS, "ordinal", "option")


def read_codebook(path: Path) -> Codebook:
    """Read a codebook from a TOML file.

    Raises UsageError where the file cannot be read, InputError with every fault of one that can.
    """
    found: list[Finding] = []
    text, table = _load(path, found)
    options = _options(path, text, table.get("option"), found)
    labels = tuple(option.label for option in options)
    for key in table:
        if key not in _KEYS:
            found.append(_fault(path, text, key, "an unknown key", f"one of {', '.join(_KEYS)}"))
    texts = {key: _text(path, text, key, table, found) for key in _TEXTS}
    subject = texts.pop("subject")
    if subject and subject not in tuple(Subject):
        found.append(_fault(path, text, "subject", repr(subject), f"one of {', '.join(Subject)}"))
    ordinal = _ordinal(path, text, table.get("ordinal", []), labels, found)
    if found:
        raise InputError(found)
    return Codebook(**texts, subject=Subject(subject), options=options, ordinal=ordinal)


def _load(path: Path, found: list[Finding]) -> tuple[str, dict[str, Any]]:
    """Return the file's text and table; raises at once where it is no TOML."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        found.append(Finding(path.name, None, None, "bytes that are not UTF-8", "a file saved as UTF-8"))
        raise InputError(found) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = int(place[1]) if place else None
        found.append(Finding(path.name, line, None, f"text that is not TOML ({error})", "a TOML file"))
        raise InputError(found) from error


def _text(path: Path, text: str, key: str, table: dict[str, Any], found: list[Finding]) -> str:
    value = table.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()
    said = "nothing" if value is None else repr(value)
    found.append(_fault(path, text, key, said, "some text in quotes"))
    return ""


def _options(path: Path, text: str, tables: Any, found: list[Finding]) -> tuple[LabelOption, ...]:
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        found.append(_fault(path, text, "option", "no options", "two tables [[option]] or more"))
        return ()
    if len(tables) == 1:
        found.append(_fault(path, text, "option", "one option", "two tables [[option]] or more"))
    lines = [text.count("\n", 0, place.end()) + 1 for place in re.finditer(r"^[ \t]*\[\[\s*option\b", text, re.M)]
    options: list[LabelOption] = []
    for number, table in enumerate(tables):
        line = lines[number] if len(lines) == len(tables) else None
        cells = {cell: table.get(cell) for cell in _OPTION}
        faults = [*_cell_faults(table, cells), *_repeated(cells, options)]
        found += [Finding(path.name, line, f"option.{cell}", said, wanted) for cell, said, wanted in faults]
        options.append(LabelOption(*(str(cells[cell] or "").strip() for cell in _OPTION)))
    return tuple(options)


def _cell_faults(table: dict[str, Any], cells: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of one option by itself."""
    faults = [(cell, "an unknown key", f"one of {', '.join(_OPTION)}") for cell in table if cell not in _OPTION]
    for cell, value in cells.items():
        if not isinstance(value, str) or not value.strip():
            faults.append((cell, "nothing" if value is None else repr(value), "some text in quotes"))
    key = cells["key"]
    if isinstance(key, str) and key.strip() and (len(key) != 1 or key not in FREE_KEYS):
        taken = "a key that annotating itself needs" if key in RESERVED_KEYS else "not one lower-case letter"
        faults.append(("key", f"{key!r}, {taken}", f"one of the letters {' '.join(FREE_KEYS)}"))
    return faults


def _repeated(cells: dict[str, Any], earlier: list[LabelOption]) -> list[tuple[str, str, str]]:
    """Return what an option has in common with one before it: a label or a key means one thing."""
    faults = []
    for cell in ("label", "key"):
        for other in earlier:
            if cells[cell] and cells[cell] == getattr(other, cell):
                faults.append((cell, f"{cells[cell]!r} again, as of {other.label!r}", "every label and key once"))
    return faults


def _ordinal(path: Path, text: str, value: Any, labels: tuple[str, ...], found: list[Finding]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        found.append(_fault(path, text, "ordinal", repr(value), "a list of labels, from low to high"))
        return ()
    for label in value:
        if label not in labels:
            found.append(_fault(path, text, "ordinal", f"{label!r}", f"a label of the options: {', '.join(labels)}"))
        elif value.count(label) > 1:
            found.append(_fault(path, text, "ordinal", f"{label!r} twice", "every label once"))
    return tuple(value)


def _fault(path: Path, text: str, key: str, said: str, wanted: str) -> Finding:
    place = re.search(rf"^[ \t]*[\[\s]*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    line = None if place is None else text.count("\n", 0, place.end()) + 1
    return Finding(path.name, line, key, said, wanted)
