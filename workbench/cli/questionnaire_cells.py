"""Figures of Questionnaire Modeling as cells of text, in percent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import say

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Average, Direction, TargetFigure
    from workbench.domain.verdicts import Ranged
    from workbench.pipeline.questionnaire_asked import TokenShares
    from workbench.stats.noise import NoiseFloor

BAR = 30
"characters of a bar"
ABOVE, BELOW = "▲", "▼"
"beside a figure whose interval leaves out 0, or the accuracy of the majority's answer"
FEW = "few"
OLD = "old"
"beside a figure some of whose prompts show answers or questions that were changed since"
SIDES: Mapping[Direction, str] = {"above": ABOVE, "below": BELOW, "few": FEW, "none": "", "": ""}
MEAN_OF_ABSOLUTE = (
    "|bias| is a mean of absolute values: noise only adds to it, so that it has no interval. Whether there is a bias "
    "is said by the test and by the signed ones"
)
CELLS = {"yes": "█", "no": "▓", "other": "░", "rest": "·"}


class Reasons:
    """Why figures of a table are undefined: a letter in the cell, the reason once below."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        """Return what stands in the cell."""
        letter = self._places.setdefault(reason, _letters(len(self._places)))
        return f"– ({letter})"

    def say(self) -> None:
        """Print every reason."""
        for reason, letter in self._places.items():
            say(f"({letter}) undefined: {reason}")

    def ranged(self, value: Ranged, *, sign: bool = False) -> str:
        """Return `61.2 [55.0, 67.1]`, or where the reason is why there is no value."""
        if value.undefined:
            return self.mark(value.undefined)
        said = signed(value.value) if sign else percent(value.value)
        return f"{said} {interval(value, sign=sign)}".rstrip()

    def averaged(self, value: Average, *, sign: bool = False) -> str:
        """Return `61.2 ± 3.1 [55.0, 67.1]`, or where the reason is why there is no value; `few` behind it where a
        target rests on too few people.
        """
        if value.undefined:
            return self.mark(value.undefined)
        few = f" {FEW}" if value.few else ""
        return f"{with_error(value.value, value.se, sign=sign)} {interval(value, sign=sign)}".rstrip() + few

    def changed(self, value: Ranged, *, few: bool, old: int, short: bool = False) -> str:
        """Return `+3.1 [+1.0, +5.2]` and `few` where too few people are behind it, or `old` where prompts are; `short`:
        `+3.1 ▲`, the sign where the interval leaves out 0.
        """
        if value.undefined:
            return self.mark(value.undefined)
        mark = OLD if old else FEW if few else ""
        if not short:
            return f"{self.ranged(value, sign=True)} {mark}".rstrip()
        side = mark or (ABOVE if value.low > 0 else BELOW if value.high < 0 else "")
        return f"{signed(value.value)} {side}".rstrip()


def _letters(n: int) -> str:
    """Return a, b, … z, aa, ab, …"""
    first, last = divmod(n, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + last)


def percent(value: float) -> str:
    """Return `61.2`; a dash where there is nothing.

    Examples
    --------
    >>> percent(0.612), percent(-1e-9)
    ('61.2', '0.0')
    """
    return "–" if math.isnan(value) else f"{round(100 * value, 1) + 0.0:.1f}"  # never -0.0


def signed(value: float) -> str:
    """Return `+12.3`; a dash where there is nothing.

    Examples
    --------
    >>> signed(-0.1234), signed(-1e-9), signed(float("nan"))
    ('-12.3', '+0.0', '–')
    """
    return "–" if math.isnan(value) else f"{round(100 * value, 1) + 0.0:+.1f}"  # never -0.0


def with_error(value: float, error: float, *, sign: bool = False) -> str:
    """Return `61.2 ± 3.1`."""
    said = signed(value) if sign else percent(value)
    return said if math.isnan(error) else f"{said} ± {percent(error)}"


def interval(value: Ranged, *, sign: bool = False) -> str:
    """Return `[55.0, 67.1]`; nothing where there is none."""
    form = signed if sign else percent
    return "" if math.isnan(value.low) else f"[{form(value.low)}, {form(value.high)}]"


def leans(way: Direction, above: str, below: str) -> str:
    """Say to which side an interval lies; nothing where there is none."""
    said = {"above": f"leans {above}", "below": f"leans {below}", "none": "no bias shown", "few": "few", "": ""}
    return said[way]


def accuracy(row: TargetFigure, why: Reasons, *, old: int = 0) -> str:
    """Return `61.2 ± 3.1 ▲`: the sign where the interval leaves out the accuracy of the majority's answer and no prompt
    is old.
    """
    if row.accuracy.undefined:
        return why.mark(row.accuracy.undefined)
    side = "" if old or row.accuracy_direction == FEW else SIDES[row.accuracy_direction]
    return f"{with_error(row.accuracy.value, row.accuracy_se)} {side}".rstrip()


def bias(row: TargetFigure, why: Reasons, *, short: bool = False, old: int = 0) -> str:
    """Return `+12.3 ± 3.1 [+6.0, +18.1] leans yes`; `short`: `+12.3 ± 3.1 ▲`. Where prompts are old, they are counted
    instead of a side: `+12.3 ± 3.1 old 4`.
    """
    if row.bias.undefined:
        return why.mark(row.bias.undefined)
    said = with_error(row.bias.value, row.bias_se, sign=True)
    mark = f"{OLD} {old:,}" if old else SIDES[row.direction] if short else leaning(row)
    parts = (said, mark) if short else (said, interval(row.bias, sign=True), mark)
    return " ".join(part for part in parts if part)


def leaning(row: TargetFigure) -> str:
    """Say what a model leans to on a target."""
    return leans(row.direction, "yes", "no")


def shares_of(shares: TokenShares) -> dict[str, float]:
    """Return the parts in which a bar is drawn."""
    return {"yes": shares.yes, "no": shares.no, "other": shares.other, "rest": shares.rest}


def bar(shares: TokenShares) -> str:
    """Return the shares as so many characters; empty where nothing is known."""
    if not shares.prompts:
        return ""
    drawn, until = "", 0.0
    for name, share in shares_of(shares).items():
        until += share
        drawn += CELLS[name] * (round(until * BAR) - len(drawn))
    return drawn


def noise_said(found: NoiseFloor) -> str:
    """Return what noise alone would give a mean of |bias|, the size without it, and the test."""
    if math.isnan(found.noise):
        return f"Noise in |bias|: not known, {found.untested}"
    p = f"no test of no bias at all: {found.untested}" if found.untested else f"p of no bias at all {p_value(found.p)}"
    return (
        f"Noise alone would give |bias| {percent(found.noise)}; size without noise (root mean square) "
        f"{percent(found.size)}; {p}"
    )


def p_value(p: float) -> str:
    """Return `< .001`, or three decimals."""
    return "< .001" if p < 0.001 else f"{p:.3f}"
