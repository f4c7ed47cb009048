"""The weights of the people of a file, and their groups.

    --weight "pspwght*pweight" --groups "cntry,age=agea:18-29/30-49/50-64/65+"

Weights multiply. A group is a column, by its own name or another one. A column of many numbers is
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
"values that programs write for a cell without a value"
OWN = ("respondent", "weight")
"columns of `respondents.csv` that are no groups"
MOST_NUMBERS, MOST_VALUES = 30, 300
"the largest numbers of different numbers, and of different words, of one group"
CUTS = '--groups "{}:18-29/30-49/50-64/65+"'
_CUT = re.compile(r"(-?\d+)-(-?\d+)|(-?\d+)\+")


@dataclass(frozen=True, slots=True)
class Grouping:
    """A column that divides people into groups."""

    name: str
    "for example `age`"
    column: str
    cuts: tuple[tuple[str, float, float], ...] = ()
    "(value, from, to) in whole numbers. Without cuts, the column's values are the groups."

    def value(self, cell: str) -> str | None:
        """Return the group of a cell, or an empty string outside of all cuts.

        It is None for a cell that would have to be a number and is none.
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
class PeopleColumns:
    """The columns with weights and groups of the people."""

    weights: tuple[str, ...] = ()
    "columns whose values are multiplied"
    groups: tuple[Grouping, ...] = ()
    drop_unweighted: bool = False
    "whether people without a weight are left out"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.weights, *(grouping.column for grouping in self.groups))))


NOBODY = PeopleColumns()
"without columns"


def people_columns_of(
    groups: str | None, weight: str | None, *, drop_unweighted: bool = False
) -> PeopleColumns:
    """Return the columns from the typed options. Raises UsageError if they cannot be read."""
    weights = tuple(filter(None, map(str.strip, re.split(r"[*,]", weight or ""))))
    groupings = tuple(_grouping(part) for part in map(str.strip, (groups or "").split(",")) if part)
    for option, names in (
        ("groups", [grouping.name for grouping in groupings]),
        ("weight", weights),
    ):
        if repeated := [name for name, count in Counter(names).items() if count > 1]:
            raise UsageError(f"--{option}: {repeated[0]} is named twice; name it once")
    if drop_unweighted and not weights:
        raise UsageError("--drop-unweighted belongs to --weight COLUMN")
    return PeopleColumns(weights, groupings, drop_unweighted)


def _grouping(typed: str) -> Grouping:
    name_part, _, cuts = typed.partition(":")
    name, equals, column = (part.strip() for part in name_part.partition("="))
    if not name or (equals and not column):
        raise UsageError(
            f"--groups: found {typed!r}; give COLUMN, NAME=COLUMN, or COLUMN:18-29/30-49/50+"
        )
    if name in OWN:
        raise UsageError(
            f"--groups: a group cannot be called {name}; give it another name, as in "
            f"land={column or name}"
        )
    return Grouping(name, column or name, tuple(_cuts(cuts)))


def _cuts(typed: str) -> list[tuple[str, float, float]]:
    """Return (text, lowest, highest number) of each part. Raises UsageError if parts overlap."""
    cuts: list[tuple[str, float, float]] = []
    parts = typed.split("/") if typed else []
    for part in map(str.strip, parts):
        low, high = _bounds(part)
        if any(low <= other_high and other_low <= high for _, other_low, other_high in cuts):
            raise UsageError(
                f"--groups: found {part!r}, which shares numbers with another part; give each "
                "number once"
            )
        cuts.append((part, low, high))
    return cuts


def _bounds(part: str) -> tuple[float, float]:
    """Return (lowest, highest number) of a part. Raises UsageError if it is none."""
    match = _CUT.fullmatch(part)
    if match is not None:
        low = float(match[1] or match[3])
        high = float(match[2] or math.inf)
        if low <= high:
            return low, high
    raise UsageError(
        f"--groups: found {part!r}; give whole numbers from low to high, as in 18-29/30-49/50+"
    )


def number_in(cell: str) -> float | None:
    """Return a cell as a number of any finite size, or None if it is none. Codes may be long."""
    return finite_number(cell, low=-sys.float_info.max, high=sys.float_info.max)


def note_all(
    findings: Findings,
    path: Path,
    column: str,
    places_by_value: Mapping[str, list[int]],
    expected: str,
    what: str = "",
) -> None:
    """Note each value once, at the first of its places, with its number of occurrences."""
    for value, places in places_by_value.items():
        problem = f"{value!r}{what}" if value else "an empty cell"
        times = f", {len(places):,} times, here first" if len(places) > 1 else ""
        findings.add(path, places[0], column, problem + times, expected)


def weights_of(
    path: Path,
    columns: Mapping[str, Sequence[str]],
    places: Sequence[int],
    who: PeopleColumns,
    findings: Findings,
) -> list[float | None]:
    """Return the weight of each person, or None for one without.

    Every fault is noted, each kind once in a column.
    """
    weights: list[float | None] = [1.0] * len(places)
    for name, cells in columns.items():
        invalid: dict[str, list[int]] = {}
        empty_places: list[int] = []
        for index, (cell, place) in enumerate(zip(cells, places, strict=True)):
            if folded(cell) in NOTHING:
                empty_places.append(place)
                weights[index] = None
                continue
            value, previous = number_in(cell), weights[index]
            if value is None or not 0 <= value <= HEAVIEST:
                invalid.setdefault(cell, []).append(place)
            elif previous is not None:
                weights[index] = min(previous * value, HEAVIEST)
        first_invalid = dict(list(invalid.items())[:FAULTS])
        hint = (
            COMMA_HINT if any(map(has_decimal_comma, first_invalid)) else ", with a decimal point"
        )
        note_all(
            findings, path, name, first_invalid, f"a weight: a number from 0 to {HEAVIEST:g}{hint}"
        )
        if len(invalid) > FAULTS:
            findings.add(
                path,
                None,
                name,
                f"{len(invalid) - FAULTS:,} other values that are no weights",
                "weights",
            )
        if empty_places and not who.drop_unweighted:
            expected = "a weight for every person; --drop-unweighted leaves the others out"
            note_all(findings, path, name, {"": empty_places}, expected)
    return weights


FAULTS = 5
"the number of different faulty values of a column that are named one by one"


def groups_of(
    path: Path, grouping: Grouping, cells: Sequence[str], places: Sequence[int], findings: Findings
) -> tuple[list[str], tuple[str, ...]]:
    """Return the group of each person, and sentences about people in none.

    The group is an empty string for none. Raises UsageError for a column of too many different
    values.
    """
    group_by_cell: dict[str, str] = {}
    invalid: dict[str, list[int]] = {}
    groups = []
    for cell, place in zip(cells, places, strict=True):
        if cell not in group_by_cell:
            value = "" if folded(cell) in NOTHING else grouping.value(cell)
            group_by_cell[cell] = value or ""
            if value is None:
                invalid[cell] = []
        if cell in invalid:
            invalid[cell].append(place)
        groups.append(group_by_cell[cell])
    note_all(
        findings,
        path,
        grouping.column,
        dict(list(invalid.items())[:FAULTS]),
        "a number, which is put into a part",
    )
    values = {value for value in group_by_cell.values() if value}
    _check_number(grouping, values)
    n_outside = sum(
        folded(cell) not in NOTHING and not value for cell, value in zip(cells, groups, strict=True)
    )
    notes = [
        f"{plural(n_outside, 'respondent')} outside of {grouping.name} "
        f"{'/'.join(cut for cut, *_ in grouping.cuts)}."
    ]
    return groups, tuple(notes if n_outside and not invalid else ())


def _check_number(grouping: Grouping, values: set[str]) -> None:
    are_numbers = all(number_in(value) is not None for value in values)
    if len(values) <= (MOST_NUMBERS if are_numbers else MOST_VALUES):
        return
    name = grouping.column
    remedy = f"cut it, as in {CUTS.format(name)}" if are_numbers else "leave it out of --groups"
    raise UsageError(
        f"the group {name} has {len(values):,} different values, which are too many for groups; "
        f"{remedy}"
    )


def with_weights_and_groups(
    people: Sequence[Respondent],
    weights: Mapping[str, float | None],
    groups: Mapping[str, Mapping[str, str]],
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people with their weights and groups, and sentences about omitted people.

    People without a weight are left out.
    """
    weighted = [
        Respondent(person.name, person.answers, weight, groups.get(person.name, {}))
        for person in people
        if (weight := weights.get(person.name, 1.0)) is not None
    ]
    dropped = [person.name for person in people if weights.get(person.name, 1.0) is None]
    uncounted = [person.name for person in weighted if person.weight == 0]
    if weighted and len(uncounted) == len(weighted):
        raise UsageError(
            "every respondent has the weight 0, so nobody counts; leave --weight out, or name "
            "another one"
        )
    notes = []
    if dropped:
        notes.append(
            f"{plural(len(dropped), 'respondent')} without a weight left out: {named_few(dropped)}."
        )
    if uncounted:
        notes.append(
            f"{plural(len(uncounted), 'respondent')} with the weight 0, who count for nothing: "
            f"{named_few(uncounted)}."
        )
    return tuple(weighted), tuple(notes)


def counted_groups(people: Sequence[Respondent]) -> dict[str, dict[str, int]]:
    """Return the number of people in each group. People in none are counted under ""."""
    fields = dict.fromkeys(field for person in people for field in person.groups)
    return {
        field: dict(sorted(Counter(person.groups.get(field, "") for person in people).items()))
        for field in fields
    }


def people_notes(people: Sequence[Respondent]) -> list[str]:
    """Return texts about the spread of weights and the sizes of groups.

    There are none if nobody has a weight or a group.
    """
    from workbench.stats.weights import spread_of

    sentences = []
    if any(person.weight != 1 for person in people):
        sentences.append(f"weights: {spread_of([person.weight for person in people])}")
    for field, counts in counted_groups(people).items():
        n_none = counts.pop("", 0)
        texts = [f"{value} {count:,}" for value, count in counts.items()]
        sentences.append(
            f"group {field}: {named_few(texts, 40)}{f'; in none {n_none:,}' if n_none else ''}"
        )
    return sentences
