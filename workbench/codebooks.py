"""Codebooks as files: a question, its labels with their keys, and a guideline for decisions.

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

A file is read exactly or refused with all its faults at once: labels are given under what it says.
"""  # noqa: E501

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from typing import Any

from workbench.domain.annotations import Codebook, LabelOption, LabelSubject
from workbench.toml_files import TomlFile

RESERVED_KEYS = frozenset("zsfmgqhjkcv0123456789")
"keys that steer annotating itself; no label may have one of them"
FREE_KEYS = "".join(key for key in ascii_lowercase if key not in RESERVED_KEYS)

_TEXTS = ("name", "title", "question", "subject", "guideline")
_OPTION = ("label", "key", "meaning")
_KEYS = (*_TEXTS, "ordinal", "option")


def read_codebook(path: Path) -> Codebook:
    """Read a codebook from a TOML file.

    Raises UsageError if the file cannot be read, InputError with every fault of one that can.
    """
    return _parsed(TomlFile.read(path))


def codebook_of_text(text: str) -> Codebook:
    """Return the codebook of a TOML text. Raises InputError with every fault."""
    return _parsed(TomlFile.of(Path("codebook"), text))


def codebook_text(codebook: Codebook) -> str:
    """Return a codebook as a TOML file that reads back to it, with its guideline in lines."""
    import tomli_w

    texts = {name: getattr(codebook, name) for name in _TEXTS}
    ordinal = {"ordinal": codebook.ordinal} if codebook.ordinal else {}
    options = [{cell: getattr(option, cell) for cell in _OPTION} for option in codebook.options]
    return tomli_w.dumps({**texts, **ordinal, "option": options}, multiline_strings=True)


def _parsed(file: TomlFile) -> Codebook:
    options = _options(file)
    file.unknown_keys(_KEYS)
    texts = {key: file.words(key) for key in _TEXTS}
    subject = texts.pop("subject")
    if subject and subject not in tuple(LabelSubject):
        file.fault("subject", repr(subject), f"one of {', '.join(LabelSubject)}")
    ordinal = _ordinal(file, tuple(option.label for option in options))
    file.check()
    return Codebook(**texts, subject=LabelSubject(subject), options=options, ordinal=ordinal)


def _options(file: TomlFile) -> tuple[LabelOption, ...]:
    tables = file.tables("option", "no options", "two tables [[option]] or more")
    if len(tables) == 1:
        file.fault("option", "one option", "two tables [[option]] or more")
    options: list[LabelOption] = []
    for line, table in tables:
        cells = {cell: table.get(cell) for cell in _OPTION}
        file.cell_faults(line, "option", [*_cell_faults(table, cells), *_repeated(cells, options)])
        options.append(LabelOption(*(str(cells[cell] or "").strip() for cell in _OPTION)))
    return tuple(options)


def _cell_faults(table: dict[str, Any], cells: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of the faults of one option by itself."""
    faults = [
        (cell, "an unknown key", f"one of {', '.join(_OPTION)}")
        for cell in table
        if cell not in _OPTION
    ]
    for cell, value in cells.items():
        if not isinstance(value, str) or not value.strip():
            faults.append(
                (cell, "nothing" if value is None else repr(value), "some text in quotes")
            )
    key = cells["key"]
    if isinstance(key, str) and key.strip() and (len(key) != 1 or key not in FREE_KEYS):
        problem = (
            "a key that annotating itself needs"
            if key in RESERVED_KEYS
            else "not one lower-case letter"
        )
        faults.append(("key", f"{key!r}, {problem}", f"one of the letters {' '.join(FREE_KEYS)}"))
    return faults


def _repeated(cells: dict[str, Any], earlier: list[LabelOption]) -> list[tuple[str, str, str]]:
    """Return the faults of a label or a key that an earlier option has: each means one thing."""
    faults = []
    for cell in ("label", "key"):
        for other in earlier:
            if cells[cell] and cells[cell] == getattr(other, cell):
                faults.append(
                    (
                        cell,
                        f"{cells[cell]!r} again, as of {other.label!r}",
                        "every label and key once",
                    )
                )
    return faults


def _ordinal(file: TomlFile, labels: tuple[str, ...]) -> tuple[str, ...]:
    value = file.table.get("ordinal", [])
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        file.fault("ordinal", repr(value), "a list of labels, from low to high")
        return ()
    for label in value:
        if label not in labels:
            file.fault("ordinal", f"{label!r}", f"a label of the options: {', '.join(labels)}")
        elif value.count(label) > 1:
            file.fault("ordinal", f"{label!r} twice", "every label once")
    return tuple(value)
