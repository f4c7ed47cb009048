"""Populations as TOML files that people write.

A file is read exactly, or refused with all its faults at once.

seed = 2023                      # how many are drawn, and by which seed, unless told otherwise
respondents = 140
axes = ["economic"]              # names of your own

[[profile]]
name = "progressive"
weight = 0.4                     # share of the population; weights are relative
economic = -1.0                  # its position on each axis

[scale.four_point]
missing = 0.02                   # share of those asked that does not answer; left out: 0
yes = { "yes" = 0.6, "rather yes" = 0.4 }
no = { "no" = 0.5, "rather no" = 0.5 }

[scale.likert_7]
neutral = { "neutral" = 0.07 }   # share of those asked; left out: nobody
yes = { "agree" = 1.0 }
no = { "disagree" = 1.0 }

[context]                        # base: log-odds of a yes in the middle of the axes; what they rise by along each
fin-01 = { scale = "four_point", base = -0.3, economic = 2.0 }

[target]
att-effort = { scale = "likert_7", base = 0.2, economic = 2.5 }
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.domain.questionnaires import folded
from workbench.synthetic.population import AnswerScale, Item, Profile, SyntheticPopulation
from workbench.toml_files import TomlFile

_KEYS = ("seed", "respondents", "axes", "profile", "scale", "context", "target")
_SCALE = ("missing", "neutral", "yes", "no")
_ITEM = ("scale", "base")
_NUMBER = "a number from -100 to 100"
_SHARES = 'shares above 0 of answers, such as { "agree" = 0.6, "somewhat agree" = 0.4 }'
_STEEPEST = 30.0
"""log-odds beyond which a probability is all but 0 or 1, and a single answer could rule a profile
out"""
MOST = 100_000
"respondents that are drawn at once"


def read_population(path: Path) -> SyntheticPopulation:
    """Read a population from a TOML file.

    Raises UsageError if the file cannot be read, InputError with every fault of one that can.
    """
    file = TomlFile.read(path)
    file.unknown_keys(_KEYS)
    axes = _axes(file)
    scales = _scales(file)
    profiles = _profiles(file, axes)
    items = {
        role: _items(file, role, axes, [scale.name for scale in scales])
        for role in ("context", "target")
    }
    for item in items["target"]:
        if item.ref in [other.ref for other in items["context"]]:
            file.fault(item.ref, "a question of both [context] and [target]", "it in one of them")
    seed = _whole(file, "seed", 0, 2**63 - 1)
    respondents = _whole(file, "respondents", 1, MOST)
    file.check()
    population = SyntheticPopulation(
        axes, profiles, scales, items["context"], items["target"], respondents, seed
    )
    _check_steepness(file, population)
    file.check()
    return population


def _axes(file: TomlFile) -> tuple[str, ...]:
    axes = file.table.get("axes")
    expected = "a list of different names, such as ['economic', 'cultural']"
    if (
        not isinstance(axes, list)
        or not axes
        or not all(isinstance(axis, str) and axis.strip() for axis in axes)
    ):
        file.fault("axes", "nothing" if axes is None else repr(axes), expected)
        return ()
    reserved = [axis for axis in axes if axis in (*_ITEM, "name", "weight")]
    if reserved or len(set(axes)) < len(axes):
        file.fault(
            "axes",
            repr(axes),
            expected + (f"; {reserved[0]!r} has a meaning already" if reserved else ""),
        )
    return tuple(axes)


def _profiles(file: TomlFile, axes: Sequence[str]) -> tuple[Profile, ...]:
    profiles: list[Profile] = []
    for line, table in file.tables(
        "profile", "no profiles", "a table [[profile]] for each kind of person"
    ):
        faults = [
            (key, "an unknown key", f"one of {', '.join(_of(axes))}")
            for key in table
            if key not in _of(axes)
        ]
        name = table.get("name")
        if not isinstance(name, str) or not name.strip():
            faults.append(
                ("name", "nothing" if name is None else repr(name), "some text in quotes")
            )
        elif name in [profile.name for profile in profiles]:
            faults.append(("name", f"{name!r} again", "every name once"))
        weight = _number(table.get("weight"))
        if weight is None or weight <= 0:
            faults.append(("weight", _shown(table.get("weight")), "a number above 0"))
        faults += [
            (axis, _shown(table.get(axis)), _NUMBER)
            for axis in axes
            if _number(table.get(axis)) is None
        ]
        file.cell_faults(line, "profile", faults)
        position = tuple(_number(table.get(axis)) or 0.0 for axis in axes)
        profiles.append(Profile(str(name), weight or 1.0, position))
    return tuple(profiles)


def _of(axes: Sequence[str]) -> tuple[str, ...]:
    return ("name", "weight", *axes)


def _scales(file: TomlFile) -> tuple[AnswerScale, ...]:
    tables = file.table.get("scale")
    if (
        not isinstance(tables, dict)
        or not tables
        or not all(isinstance(table, dict) for table in tables.values())
    ):
        file.fault("scale", "no scales", "a table [scale.NAME] for each scale")
        return ()
    return tuple(_scale(file, name, table) for name, table in tables.items())


def _scale(file: TomlFile, name: str, table: dict[str, Any]) -> AnswerScale:
    location = f"scale.{name}"
    for key in table:
        if key not in _SCALE:
            file.fault(location, f"an unknown key {key!r}", f"one of {', '.join(_SCALE)}")
    kinds = {
        kind: _shares(file, location, kind, table.get(kind)) for kind in ("yes", "no", "neutral")
    }
    missing = _number(table.get("missing", 0))
    unanswered = (missing or 0.0) + sum(share for _, share in kinds["neutral"])
    if missing is None or missing < 0 or unanswered >= 1:
        file.fault(
            location,
            f"missing = {_shown(table.get('missing', 0))}",
            "0 or more, below 1 with the neutral shares",
        )
    answers = [folded(answer) for shares in kinds.values() for answer, _ in shares]
    for answer in dict.fromkeys(answers):
        if answers.count(answer) > 1:
            file.fault(location, f"the answer {answer!r} more than once", "every answer once")
    return AnswerScale(name, kinds["yes"], kinds["no"], kinds["neutral"], missing or 0.0)


def _shares(file: TomlFile, where: str, kind: str, table: Any) -> tuple[tuple[str, float], ...]:
    if table is None and kind == "neutral":
        return ()
    shares = (
        {word: _number(share) for word, share in table.items()} if isinstance(table, dict) else {}
    )
    if not shares or not all(
        word.strip() and share is not None and share > 0 for word, share in shares.items()
    ):
        file.fault(where, f"{kind} = {_shown(table)}", _SHARES)
        return ()
    return tuple((word, share) for word, share in shares.items() if share is not None)


def _items(
    file: TomlFile, role: str, axes: Sequence[str], scales: Sequence[str]
) -> tuple[Item, ...]:
    tables = file.table.get(role)
    if not isinstance(tables, dict) or not tables:
        file.fault(role, "no questions", f"a table [{role}] with a line a question")
        return ()
    items = []
    for ref, table in tables.items():
        if not isinstance(table, dict):
            file.fault(
                ref, _shown(table), 'a table such as { scale = "four_point", base = 0.0, … }'
            )
            continue
        for key in table:
            if key not in (*_ITEM, *axes):
                file.fault(ref, f"an unknown key {key!r}", f"one of {', '.join((*_ITEM, *axes))}")
        if table.get("scale") not in scales:
            file.fault(
                ref,
                f"scale = {_shown(table.get('scale'))}",
                f"one of {', '.join(scales) or 'the scales'}",
            )
        numbers = {key: _number(table.get(key, 0)) for key in ("base", *axes)}
        for key, number in numbers.items():
            if number is None:
                file.fault(ref, f"{key} = {_shown(table.get(key))}", _NUMBER)
        values = {key: number or 0.0 for key, number in numbers.items()}
        items.append(
            Item(ref, str(table.get("scale")), values["base"], tuple(values[axis] for axis in axes))
        )
    return tuple(items)


def _check_steepness(file: TomlFile, population: SyntheticPopulation) -> None:
    for item in population.items:
        for profile in population.profiles:
            odds = item.base + sum(
                a * b for a, b in zip(item.loadings, profile.position, strict=True)
            )
            if abs(odds) > _STEEPEST:
                file.fault(
                    item.ref,
                    f"log-odds of {odds:g} for the profile {profile.name!r}",
                    f"at most ±{_STEEPEST:g}",
                )


def _whole(file: TomlFile, key: str, low: int, high: int) -> int:
    value = file.table.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    file.fault(
        key,
        _shown(value),
        f"a whole number from {low} to {high:,}" if high == MOST else f"{low} or more",
    )
    return low


def _number(value: Any) -> float | None:
    """Return a number, or None for anything else and for one that no probability needs."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or abs(value) > 100
    ):
        return None
    return float(value)


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)
