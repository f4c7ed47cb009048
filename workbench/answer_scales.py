"""Scales of answers as files: which answers a question may have, and what each of them means.

    name = "four_point"
    title = "Yes, rather yes, rather no, no"
    source = "where the mapping comes from"        # may be left out

    [[option]]                                     # from the most to the least affirmative
    values = ["rather yes", "75"]                  # how files write it, the first as people read it
    meaning = "yes"                                # yes, no, neutral, step, option or missing

An instrument's own scales stand in its `instrument.toml` as tables `[[scales.NAME]]` of the same
keys. A file is read exactly or refused with all its faults at once: a value that two options share
could mean either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from workbench.domain.names import thing_name
from workbench.domain.questionnaires import AnswerOption, Meaning, Scale, Tallied, folded
from workbench.errors import UsageError
from workbench.toml_files import TomlFile

Fault = tuple[int, str, str, str]
"(index of the option, cell, found, expected)"
_OPTION = ("values", "meaning")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
MOST_SHOWN = 4
"numbers of a scale that are shown; of more, only the ends"
_VALUES = "a list of texts in quotes, none of them empty"


def read_scale(path: Path) -> Scale:
    """Read a scale from a TOML file.

    Raises UsageError if the file cannot be read, InputError with every fault of one that can.
    """
    file = TomlFile.read(path)
    file.unknown_keys(("name", "title", "source", "option"))
    name, _, _ = (file.words(key, needed=key != "source") for key in ("name", "title", "source"))
    if name and (fault := name_fault(name)):
        file.fault("name", *fault)
    tables = file.tables("option", "no answers", "tables [[option]]")
    options, faults = options_of([table for _, table in tables])
    for index, cell, actual, expected in faults:
        file.cell_faults(tables[index][0], "option", [(cell, actual, expected)])
    file.check()
    return Scale(name, options)


def name_fault(name: str) -> tuple[str, str] | None:
    """Return (found, expected) of a text that cannot be the name of a scale, or None if it can."""
    try:
        thing_name(name, "scale's")
    except UsageError:
        return repr(name), "a name of up to 64 letters, digits, '-', '_' and '.'"
    return None


def options_of(tables: Sequence[Any]) -> tuple[tuple[AnswerOption, ...], list[Fault]]:
    """Return the options of parsed tables, and their faults. Options with a fault are left out."""
    options: list[AnswerOption] = []
    faults: list[Fault] = []
    earlier_values: dict[str, str] = {}
    for index, table in enumerate(tables):
        option_faults = [*_faults(table), *_repeated(table, earlier_values)]
        faults += [(index, *fault) for fault in option_faults]
        if not option_faults:
            options.append(
                AnswerOption(
                    tuple(value.strip() for value in table["values"]), Meaning(table["meaning"])
                )
            )
    return tuple(options), faults


def numbers_said(answers: Tallied) -> tuple[tuple[str, str], ...]:
    """Return (scale, what its numbers mean) for the scales on which people answered in numbers.

    A scale may know several codings, such as from 7 to 1 and from 100 to 0. Only those that were
    used are included.
    """
    answers_by_scale: dict[str, set[str]] = {}
    for question in answers.questionnaire.questions:
        answers_by_scale.setdefault(question.scale, set()).update(
            map(folded, answers.given.get(question.ref, ()))
        )
    scales = (scale for scale in answers.questionnaire.scales if scale.name in answers_by_scale)
    return tuple(
        (scale.name, text)
        for scale in scales
        if (text := _codings(scale, answers_by_scale[scale.name]))
    )


def _codings(scale: Scale, used: Collection[str]) -> str:
    """Return the meanings of numbers, such as `7 strongly agree … 1 strongly disagree`.

    It is empty if none of them was used.
    """
    options = list(scale.offered)
    if any(option.meaning in (Meaning.STEP, Meaning.OPTION) for option in options):
        return ""  # a number is its place, and means neither yes nor no
    numbers = [
        [value for value in option.values if _NUMBER.fullmatch(folded(value))] for option in options
    ]
    texts = []
    for index in range(max(map(len, numbers), default=0)):
        coded_options = [
            (codes[index], option)
            for codes, option in zip(numbers, options, strict=True)
            if len(codes) > index
        ]
        if any(folded(value) in used for value, _ in coded_options):
            entries = [f"{value} {_in_words(option)}" for value, option in coded_options]
            texts.append(
                ", ".join(entries)
                if len(entries) <= MOST_SHOWN
                else f"{entries[0]} … {entries[-1]}"
            )
    return "; and ".join(texts)


def _in_words(option: AnswerOption) -> str:
    """Return an answer as people read it, or its meaning if it is known by its number alone."""
    return option.meaning.value if _NUMBER.fullmatch(option.values[0]) else option.values[0]


def _faults(table: Any) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of the faults of one option by itself."""
    if not isinstance(table, dict):
        return [("values", repr(table), "a table with values and a meaning")]
    faults = [
        (cell, "an unknown key", f"one of {', '.join(_OPTION)}")
        for cell in table
        if cell not in _OPTION
    ]
    values, meaning = table.get("values"), table.get("meaning")
    if not _texts(values):
        faults.append(("values", "nothing" if values is None else repr(values), _VALUES))
    if not isinstance(meaning, str) or meaning not in tuple(Meaning):
        actual = "nothing" if meaning is None else repr(meaning)
        faults.append(("meaning", actual, f"one of {', '.join(Meaning)}"))
    return faults


def _texts(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(_is_value(value) for value in values)


def _is_value(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\x00" not in value


def _repeated(table: Any, taken: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the faults of values that this option or an earlier one has already.

    `taken` gets the values of this option: folded -> as written.
    """
    values = table.get("values") if isinstance(table, dict) else None
    faults = []
    for value in (values or ()) if _texts(values) else ():
        earlier = taken.get(folded(value))
        if earlier is not None:
            note = "" if earlier == value else f", like {earlier!r}"
            faults.append(
                (
                    "values",
                    f"{value!r} again{note}",
                    "every value once; case and spaces are ignored",
                )
            )
        taken.setdefault(folded(value), value)
    return faults
