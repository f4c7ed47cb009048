"""Several estimates on one axis, drawn in the cells of one line of a terminal.

    -40                0                 +40
         ├───L────┤    │    ├──Y───┤            L, Y: values   ├ ┤: their 95 % intervals   │: 0   ╎: a reference

Each series has a letter, which tells the series apart without colour. Letters that fall into one
cell become `*`. A lower-case letter is a value with too little data for an interval.
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.table import Value
from workbench.tui.widgets.pictures import REFERENCE, ZERO, place

COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
MOST_SERIES = len(COLOURS)
SEVERAL = "*"
"mark of a cell with the values of several series"


@dataclass(frozen=True, slots=True)
class StripPoint:
    """The estimate of one series."""

    letter: str
    estimate: Estimate
    colour: str


def series_letters(names: Sequence[str]) -> list[str]:
    """Return a different capital letter for each name: one that it has, if possible.

    Examples
    --------
    >>> series_letters(["scripted:left", "scripted:yes-sayer", "smollm2"])
    ['L', 'Y', 'S']
    >>> series_letters(["gpt-4", "gpt-5"])
    ['G', 'P']
    """
    chosen: list[str] = []
    for name in names:
        own_letters = [letter for letter in name.rpartition(":")[2].upper() if letter.isalpha()]
        alphabet = [chr(code) for code in range(ord("A"), ord("Z") + 1)]
        candidates = [letter for letter in [*own_letters, *alphabet] if letter in alphabet]
        chosen.append(next(letter for letter in candidates if letter not in chosen))
    return chosen


def strip_point(letter: str, value: Value, colour: str) -> StripPoint | None:
    """Return the point of a value, or None if it is not a defined number."""
    if isinstance(value, MeanSd):
        value = value.mean
    if isinstance(value, Estimate):
        return StripPoint(letter, value, colour) if value.defined else None
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return StripPoint(letter, Estimate(float(value), math.nan, math.nan, 0), colour)


def interval_strip(
    points: Sequence[StripPoint],
    width: int,
    scale: tuple[float, float],
    references: Sequence[float] = (),
) -> Text:
    """Return estimates on one axis, `width` columns wide. Values beyond the axis are at its ends.

    Examples
    --------
    >>> left = StripPoint("L", Estimate(-0.5, -0.8, -0.2, 10, 0), "cyan")
    >>> yes = StripPoint("Y", Estimate(0.5, math.nan, math.nan, 3, few="few"), "magenta")
    >>> interval_strip([left, yes], 21, (-1.0, 1.0), [0.9]).plain
    '  ├──L──┤ │    y   ╎ '
    >>> interval_strip([left, left], 9, (-1.0, 1.0)).plain
    ' ├*┤│    '
    """
    low, high = scale

    def column(value: float) -> int:
        return place((value - low) / (high - low), width)

    characters, styles = [" "] * width, ["dim"] * width
    if low <= 0 <= high:
        characters[column(0.0)] = ZERO
    for reference in references:
        characters[column(reference)] = REFERENCE
    for point in points:
        if math.isnan(point.estimate.low):
            continue
        first, last = column(point.estimate.low), column(point.estimate.high)
        for cell in range(first, last + 1):
            characters[cell], styles[cell] = "─", point.colour
        characters[first], characters[last] = "├", "┤"
    letter_by_column: dict[int, str] = {}
    for point in points:
        cell = column(point.estimate.value)
        letter = point.letter.lower() if point.estimate.few else point.letter
        letter_by_column[cell] = SEVERAL if cell in letter_by_column else letter
        characters[cell], styles[cell] = letter_by_column[cell], f"bold {point.colour}"
    return Text.assemble(*zip(characters, styles, strict=True), no_wrap=True)


def axis_labels(ends: tuple[str, str], scale: tuple[float, float], width: int) -> str:
    """Return the heading of a column of strips: the ends of its axis, and 0 between them.

    Examples
    --------
    >>> axis_labels(("-40", "+20"), (-0.4, 0.2), 21)
    '-40          0    +20'
    """
    low, high = scale
    characters = list(ends[0].ljust(width))
    if low < 0 < high:
        characters[place(-low / (high - low), width)] = "0"
    characters[width - len(ends[1]) :] = ends[1]
    return "".join(characters)
