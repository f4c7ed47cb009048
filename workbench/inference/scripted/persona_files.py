"""Scripted personas as TOML files, read exactly or refused with all faults at once.

`workbench.inference.scripted.model` documents the fields; for the tables `[letters]`, `[spread]` and `[sides]` see
`letters`, `spread` and `sides` in `workbench.inference.scripted`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeGuard

from workbench.inference.scripted.letters import STEEPEST, LetterHabits
from workbench.inference.scripted.model import Persona
from workbench.inference.scripted.sides import Sides
from workbench.inference.scripted.spread import FIELDS, Spread
from workbench.toml_files import TomlFile

KNOWN = tuple(field.name for field in fields(Persona))
OF_LETTERS = tuple(field.name for field in fields(LetterHabits))
OF_SIDES = ("statements", "left", "right", "yes", "hedges")
OF_SPREAD = ("statements", "mean", "seed", "moved", *FIELDS)
SHARE = "a share from 0 to 1"
ODDS = "a list of odds, 0 or more each and one of the first two above 0, such as [3, 1]"
RANGES = {
    "agree": (0.0, 1.0, SHARE),
    "unreadable": (0.0, 1.0, SHARE),
    "invalid": (0.0, 1.0, SHARE),
    "by_text": (-STEEPEST, STEEPEST, f"a number from -{STEEPEST:g} to {STEEPEST:g}"),
    "delay_s": (0.0, math.inf, "seconds, 0 or more"),
    "mean": (0.0, 1.0, SHARE),
    **dict.fromkeys(("left", "right", "yes", "hedges"), (0.0, 1.0, SHARE)),
    **dict.fromkeys(FIELDS, (0.0, 0.25, "the variance of a share, 0 to 0.25")),
}
"(least, most, description)"


def read_persona(file: TomlFile) -> Persona:
    """Return the persona of a parsed file. Raises InputError with all of its faults."""
    table = file.table
    misplaced = [key for key in table if key in OF_LETTERS]
    for key in misplaced:
        file.fault(key, "a field of [letters] outside that table", "it below a line [letters]")
    _unknown(file, [key for key in table if key not in misplaced], KNOWN)
    letters = table.get("letters", {})
    if not isinstance(letters, dict):
        file.fault("letters", "no table", "a line [letters] and its fields below it")
        letters = {}
    persona: dict[str, Any] = {
        **_numbers(file, table, "agree", "unreadable", "delay_s"),
        **_texts(file, table, "answers", least=0),
        **_texts(file, table, "thoughts", least=0),
        "letters": _habits(file, letters),
        "spread": _spread(file, table),
        "sides": _sides(file, table),
    }
    file.check()
    return Persona(**persona)


def _spread(file: TomlFile, table: Mapping[str, Any]) -> Spread | None:
    """Return what `[spread]` as given; None if it is missing or, with a fault noted, invalid."""
    given = table.get("spread")
    if given is None:
        return None
    if not isinstance(given, dict):
        file.fault("spread", "no table", "a line [spread] and its fields below it")
        return None
    _unknown(file, given, OF_SPREAD)
    if "agree" in table:
        file.fault("agree", "a share beside [spread], which decides it", "one of the two")
    statements, seed = given.get("statements"), given.get("seed", 1)
    if not isinstance(statements, str) or not statements.strip():
        file.fault("statements", repr(statements), "an instrument that ships, or the path of a statements.csv")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        file.fault("seed", repr(seed), "a whole number, 0 or more")
    numbers = _numbers(file, given, "mean", *FIELDS)
    mean, total = numbers.pop("mean", 0.5), sum(numbers.values())
    if total > mean * (1 - mean):
        most = f"at most {mean * (1 - mean):.3g}, mean (1 - mean)"
        file.fault("spread", f"variances of {total:g} together", most)
    components = tuple((FIELDS[name], float(value)) for name, value in numbers.items())
    moved = tuple(_moved(file, given))
    return Spread(str(statements), float(mean), seed, components, moved) if isinstance(seed, int) else None


def _moved(file: TomlFile, given: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the entries of `[[spread.moved]]`; faults are noted."""
    tables = given.get("moved", [])
    for one in tables if isinstance(tables, list) else [tables]:
        known = isinstance(one, dict) and one.keys() == {"said", "by"}
        if (
            known
            and isinstance(one["said"], str)
            and one["said"].strip()
            and _is_number(one["by"])
            and -1 <= one["by"] <= 1
        ):
            yield one["said"].strip(), float(one["by"])
        else:
            file.fault("moved", repr(one)[:60], 'said = "…" and by = a number from -1 to 1')


def _sides(file: TomlFile, table: Mapping[str, Any]) -> Sides | None:
    """Return what `[sides]` as given; None if it is missing or, with a fault noted, invalid."""
    given = table.get("sides")
    if given is None:
        return None
    if not isinstance(given, dict):
        file.fault("sides", "no table", "a line [sides] and its fields below it")
        return None
    _unknown(file, given, OF_SIDES)
    for other in ("agree", "spread"):
        if other in table:
            file.fault("sides", f"a table beside {other}, which decides the shares, too", "one of the two")
    statements = given.get("statements")
    names = [statements] if isinstance(statements, str) else statements
    if not isinstance(names, list) or not names or not all(isinstance(one, str) and one.strip() for one in names):
        file.fault("statements", repr(statements), "instruments that ship, or paths of statements.csv files")
        names = []
    return Sides(tuple(names), **_numbers(file, given, "left", "right", "yes", "hedges"))


def _habits(file: TomlFile, table: Mapping[str, Any]) -> LetterHabits:
    """Return `[letters]` as given; invalid fields are noted as faults and left out."""
    _unknown(file, table, OF_LETTERS)
    return LetterHabits(
        **_weights(file, table),
        **_numbers(file, table, "by_text", "invalid", "yes"),
        **_texts(file, table, "others", least=1),
    )


def _unknown(file: TomlFile, keys: Sequence[str] | Mapping[str, Any], known: Sequence[str]) -> None:
    for key in keys:
        if key not in known:
            file.fault(key, "an unknown key", f"one of {', '.join(known)}")


def _numbers(file: TomlFile, table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the given numbers that are within their range."""
    found = {}
    for key in keys:
        least, most, said = RANGES[key]
        value = table.get(key)
        if _is_number(value) and least <= value <= most:
            found[key] = value
        elif key in table:
            file.fault(key, repr(value), said)
    return found


def _weights(file: TomlFile, table: Mapping[str, Any]) -> dict[str, Any]:
    if "weights" not in table:
        return {}
    value = table["weights"]
    odds = isinstance(value, list) and all(_is_number(x) and x >= 0 for x in value)
    if odds and sum(value[:2]) > 0:
        return {"weights": tuple(value)}
    file.fault("weights", repr(value), ODDS)
    return {}


def _texts(file: TomlFile, table: Mapping[str, Any], key: str, *, least: int) -> dict[str, Any]:
    if key not in table:
        return {}
    value = table[key]
    if isinstance(value, list) and len(value) >= least and all(isinstance(text, str) for text in value):
        return {key: tuple(value)}
    file.fault(key, repr(value), "a list of texts" + (", one or more" if least else ""))
    return {}


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
