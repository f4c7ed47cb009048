"""Whom the people of a file stand for: their weights, and the groups that they are of.

    --weight "pspwght*pweight" --groups "cntry,age=agea:18-29/30-49/50-64/65+"

Weights multiply. A group is a column, by its own name or another one; a column of many numbers is
cut.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.names import plural
from workbench.domain.questionnaires import Respondent, folded, named_few
from workbench.errors import UsageError
from workbench.formats.numbers import finite_number, has_decimal_comma
from workbench.formats.records import Findings
from workbench.formats.tabular import COMMA_HINT

HEAVIEST = 1e12
NOTHING = frozenset({"", "nan", "na", "n/a", "."})
"what programs write for a cell without a value"
OWN = ("respondent", "weight")
"columns of `respondents.csv` that are no groups"
MOST_NUMBERS, MOST_VALUES = 30, 300
"different numbers, and different words, of one group"
CUTS = '--groups "{}:18-29/30-49/50-64/65+"'
_CUT = re.compile(r"(-?\d+)-(-?\d+)|(-?\d+)\+")


@dataclass(frozen=True, slots=True)
class Grouping:
    """A column that tells groups of people apart."""

    name: str
    "`age`"
    column: str
    cuts: tuple[tuple[str, float, float], ...] = ()
    "(value, from, to) in whole numbers; none: the column's values are the groups"

    def value(self, cell: str) -> str | None:
        """Return the group of a cell; "" outside of all cuts, None for what is no number and would
        have to be one.
        """
        if not self.cuts:
            return cell
        number = number_in(cell)
        if number is None:
            return None
        return next(
            (value for value, low, high in self.cuts if low <= math.floor(number) <= high), ""
        )


@dataclass(frozen=True, slots=True)
class Who:
    """Which columns say whom the people stand for."""

    weights: tuple[str, ...] = ()
    "multiplied"
    groups: tuple[Grouping, ...] = ()
    drop_unweighted: bool = False
    "leave out people without a weight"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.weights, *(one.column for one in self.groups))))


NOBODY = Who()
"no column says anything"


def who_of(groups: str | None, weight: str | None, *, drop_unweighted: bool = False) -> Who:
    """Return what was typed. Raises UsageError where it cannot be read."""
    weights = tuple(filter(None, map(str.strip, re.split(r"[*,]", weight or ""))))
    found = tuple(_grouping(part) for part in map(str.strip, (groups or "").split(",")) if part)
    for option, names in (("groups", [one.name for one in found]), ("weight", weights)):
        if twice := [name for name, n in Counter(names).items() if n > 1]:
            raise UsageError(f"--{option}: {twice[0]} is named twice; name it once")
    if drop_unweighted and not weights:
        raise UsageError("--drop-unweighted belongs to --weight COLUMN")
    return Who(weights, found, drop_unweighted)


def _grouping(typed: str) -> Grouping:
    named, _, cuts = typed.partition(":")
    name, sign, column = (part.strip() for part in named.partition("="))
    if not name or (sign and not column):
        raise UsageError(
            f"--groups: found {typed!r}; give COLUMN, NAME=COLUMN, or COLUMN:18-29/30-49/50+"
        )
    if name in OWN:
        raise UsageError(
            f"--groups: a group cannot be called {name}; give it another name, as in "
            f"land={column or name}"
        )
    found: list[tuple[str, float, float]] = []
    for cut in map(str.strip, cuts.split("/")) if cuts else ():
        match = _CUT.fullmatch(cut)
        low, high = (
            (float(match[1] or match[3]), float(match[2] or math.inf)) if match else (0.0, -1.0)
        )
        if low > high:
            raise UsageError(
                f"--groups: found {cut!r}; give whole numbers from low to high, as in "
                "18-29/30-49/50+"
            )
        if any(low <= other_high and other_low <= high for _, other_low, other_high in found):
            raise UsageError(
                f"--groups: found {cut!r}, which shares numbers with another part; give each "
                "number once"
            )
        found.append((cut, low, high))
    return Grouping(name, column or name, tuple(found))


def number_in(cell: str) -> float | None:
    """Return a cell as a number of any finite size, or None if it is none: codes may be long."""
    return finite_number(cell, low=-sys.float_info.max, high=sys.float_info.max)


def note_all(
    findings: Findings,
    path: Path,
    column: str,
    found: Mapping[str, list[int]],
    expected: str,
    what: str = "",
) -> None:
    """Note each value once, at the first of its places, with how often it stands there."""
    for value, places in found.items():
        said = f"{value!r}{what}" if value else "an empty cell"
        times = f", {len(places):,} times, here first" if len(places) > 1 else ""
        findings.add(path, places[0], column, said + times, expected)


def weights_of(
    path: Path,
    columns: Mapping[str, Sequence[str]],
    places: Sequence[int],
    who: Who,
    findings: Findings,
) -> list[float | None]:
    """Return the weight of each person, None for one without; every fault is noted, each kind once
    in a column.
    """
    found: list[float | None] = [1.0] * len(places)
    for name, cells in columns.items():
        bad: dict[str, list[int]] = {}
        absent: list[int] = []
        for at, (cell, place) in enumerate(zip(cells, places, strict=True)):
            if folded(cell) in NOTHING:
                absent.append(place)
                found[at] = None
                continue
            value, before = number_in(cell), found[at]
            if value is None or not 0 <= value <= HEAVIEST:
                bad.setdefault(cell, []).append(place)
            elif before is not None:
                found[at] = min(before * value, HEAVIEST)
        few = dict(list(bad.items())[:FAULTS])
        hint = COMMA_HINT if any(map(has_decimal_comma, few)) else ", with a decimal point"
        note_all(findings, path, name, few, f"a weight: a number from 0 to {HEAVIEST:g}{hint}")
        if len(bad) > FAULTS:
            findings.add(
                path,
                None,
                name,
                f"{len(bad) - FAULTS:,} other values that are no weights",
                "weights",
            )
        if absent and not who.drop_unweighted:
            expected = "a weight for every person; --drop-unweighted leaves the others out"
            note_all(findings, path, name, {"": absent}, expected)
    return found


FAULTS = 5
"different values of a column at fault that are told one by one"


def groups_of(
    path: Path, grouping: Grouping, cells: Sequence[str], places: Sequence[int], findings: Findings
) -> tuple[list[str], tuple[str, ...]]:
    """Return the group of each person, "" for none, and sentences about who is in none.

    Raises UsageError for a column of too many different values.
    """
    known: dict[str, str] = {}
    bad: dict[str, list[int]] = {}
    found = []
    for cell, place in zip(cells, places, strict=True):
        if cell not in known:
            value = "" if folded(cell) in NOTHING else grouping.value(cell)
            known[cell] = value or ""
            if value is None:
                bad[cell] = []
        if cell in bad:
            bad[cell].append(place)
        found.append(known[cell])
    note_all(
        findings,
        path,
        grouping.column,
        dict(list(bad.items())[:FAULTS]),
        "a number, which is put into a part",
    )
    values = {value for value in known.values() if value}
    _check_number(grouping, values)
    outside = sum(
        folded(cell) not in NOTHING and not value for cell, value in zip(cells, found, strict=True)
    )
    told = [
        f"{plural(outside, 'respondent')} outside of {grouping.name} "
        f"{'/'.join(c for c, *_ in grouping.cuts)}."
    ]
    return found, tuple(told if outside and not bad else ())


def _check_number(grouping: Grouping, values: set[str]) -> None:
    numbers = all(number_in(value) is not None for value in values)
    if len(values) <= (MOST_NUMBERS if numbers else MOST_VALUES):
        return
    name = grouping.column
    way = f"cut it, as in {CUTS.format(name)}" if numbers else "leave it out of --groups"
    raise UsageError(
        f"the group {name} has {len(values):,} different values, which are too many for groups; "
        f"{way}"
    )


def with_who(
    people: Sequence[Respondent],
    weights: Mapping[str, float | None],
    groups: Mapping[str, Mapping[str, str]],
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people with their weights and groups, without those who have no weight, and
    sentences about that.
    """
    kept = [
        Respondent(one.name, one.answers, weight, groups.get(one.name, {}))
        for one in people
        if (weight := weights.get(one.name, 1.0)) is not None
    ]
    dropped = [one.name for one in people if weights.get(one.name, 1.0) is None]
    nobody = [one.name for one in kept if one.weight == 0]
    if kept and len(nobody) == len(kept):
        raise UsageError(
            "every respondent has the weight 0, so nobody counts; leave --weight out, or name "
            "another one"
        )
    told = []
    if dropped:
        told.append(
            f"{plural(len(dropped), 'respondent')} without a weight left out: {named_few(dropped)}."
        )
    if nobody:
        told.append(
            f"{plural(len(nobody), 'respondent')} with the weight 0, who count for nothing: "
            f"{named_few(nobody)}."
        )
    return tuple(kept), tuple(told)


def counted_groups(people: Sequence[Respondent]) -> dict[str, dict[str, int]]:
    """Return how many people each group has; those in none are counted under ""."""
    fields = dict.fromkeys(field for one in people for field in one.groups)
    return {
        field: dict(sorted(Counter(one.groups.get(field, "") for one in people).items()))
        for field in fields
    }


def said_of_people(people: Sequence[Respondent]) -> list[str]:
    """Say how weights are spread and how many people each group has; nothing where nobody has
    either.
    """
    from workbench.stats.weights import spread_of

    said = []
    if any(one.weight != 1 for one in people):
        said.append(f"weights: {spread_of([one.weight for one in people])}")
    for field, counts in counted_groups(people).items():
        none = counts.pop("", 0)
        told = [f"{value} {n:,}" for value, n in counts.items()]
        said.append(f"group {field}: {named_few(told, 40)}{f'; in none {none:,}' if none else ''}")
    return said
