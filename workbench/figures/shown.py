"""The text of values: one format per kind, for all media."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import Any

from workbench.domain.verdicts import Bounds, Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.figures.intervals import remarks
from workbench.figures.table import MARKS, WORDS, AnyTable, Column, Kind, Value
from workbench.figures.visible import visible

UNSIGNED = {Kind.SCORE: Kind.COEFFICIENT, Kind.POINTS: Kind.SIZE}
"kinds for the deviations of signed numbers"
NONE = "–"
"text of a missing value"


def painted(table: AnyTable) -> tuple[list[list[str]], list[str]]:
    """Return the cells of a table and its notes.

    A letter refers to the note on a missing value or interval.
    """
    reasons: dict[str, str] = {}
    intervals: dict[str, None] = {}
    cells = [
        [_cell(row, column, reasons, intervals) for column in table.columns] for row in table.rows
    ]
    return cells, [
        *map(visible, table.notes),
        *remarks(intervals),
        *(f"{letter} {visible(reason)}" for reason, letter in reasons.items()),
    ]


def _cell(
    row: Any, column: Column[Any], reasons: dict[str, str], intervals: dict[str, None]
) -> str:
    value = column.value(row)
    if isinstance(value, Estimate) and value.interval and not column.aside:
        intervals[value.interval] = None
    if isinstance(value, Estimate) and not value.defined:
        return f"undefined {_letter(value.undefined, reasons)}"
    remark = visible(column.beside(row)) if column.beside is not None else ""
    if isinstance(value, Estimate) and value.few:
        remark = f"{_letter(value.few, reasons)} {remark}".strip()
    return f"{shown(value, column)} {remark}" if remark else shown(value, column)


def _letter(why: str, reasons: dict[str, str]) -> str:
    return reasons.setdefault(why, f"({ascii_lowercase[len(reasons) % 26]})")


def shown(value: Value, column: Column[Any]) -> str:
    """Return the text of a value: `43.2 % [38.0, 49.1]`, `+0.58 [+0.41, +0.72]`, and so on.

    An example with a deviation is `45.0 % (sd 3.2)`, and without a value `undefined: …`.
    """
    if value is None:
        return NONE
    if isinstance(value, Estimate):
        return estimate(value, column.kind)
    if isinstance(value, MeanSd):
        spread = (
            ""
            if math.isnan(value.sd)
            else f" (sd {number(value.sd, UNSIGNED.get(column.kind, column.kind), bare=True)})"
        )
        return number(value.mean, column.kind) + spread
    if isinstance(value, Verdict):
        return f"{MARKS[value]} {WORDS[value]}"
    if isinstance(value, RepeatedVerdict):
        # `✗ 4/6`, passed of tested; only the verdict if the test is never made
        verdict = value.verdict
        return (
            f"{MARKS[verdict]} "
            f"{f'{value.passed}/{value.tested}' if value.tested else WORDS[verdict]}"
        )
    if isinstance(value, bool):
        return (
            (column.mark if value else "")
            if column.kind is Kind.MARK
            else ("yes" if value else "no")
        )
    if isinstance(value, int | float):
        return number(value, column.kind)
    if isinstance(value, str):
        return visible(column.words.get(value, value), lines=column.kind is Kind.PROSE)
    return " ".join(visible(column.words.get(text, text)) for text in value)


def estimate(value: Estimate, kind: Kind) -> str:
    """Return `0.58 [0.41, 0.72]`, or why there is no value."""
    if not value.defined:
        return f"undefined: {visible(value.undefined)}"
    if math.isnan(value.low):
        return number(value.value, kind)
    ends = (number(end, kind, bare=True) for end in (value.low, value.high))
    return f"{number(value.value, kind)} [{', '.join(ends)}]"


def between(bounds: Bounds, kind: Kind) -> str:
    """Return `between -46.4 and +0.0 points`."""
    return (
        f"between {number(bounds.low, kind, bare=kind is not Kind.SHARE)} and "
        f"{number(bounds.high, kind)}"
    )


def bounded(value: float, bounds: Bounds, kind: Kind, what: str = "it") -> str:
    """Return the possible effect of missing answers on a number, for the end of a sentence.

    The result is empty if they make no difference.

    Examples
    --------
    >>> bounded(0.4, Bounds(0.0, 0.46), Kind.SCORE)
    'what is missing could turn it: between +0.00 and +0.46'
    >>> bounded(0.4, Bounds(0.1, 0.46), Kind.SCORE)
    'whatever is missing, it stays between +0.10 and +0.46'
    >>> bounded(0.0, Bounds(0.0, 0.46), Kind.POINTS), bounded(0.4, Bounds(0.4, 0.4), Kind.SCORE)
    ('with what is missing it is between +0.0 and +46.0 points', '')
    """
    if not bounds.wide:
        return ""
    if bounds.turn(value):
        return f"what is missing could turn {what}: {between(bounds, kind)}"
    if math.isnan(value) or not number(value, kind, bare=True).strip("+-0."):
        return f"with what is missing {what} is {between(bounds, kind)}"
    return f"whatever is missing, {what} stays {between(bounds, kind)}"


def number(value: float, kind: Kind, *, bare: bool = False) -> str:
    """Return one number of a kind.

    A `bare` number has no unit, for ends of intervals and deviations.

    Examples
    --------
    >>> number(0.4321, Kind.SHARE), number(0.9999, Kind.SHARE), number(-0.071, Kind.POINTS)
    ('43.2 %', '>99.9 %', '-7.1 points')
    >>> number(0.167, Kind.SIZE), number(0.167, Kind.SIZE, bare=True)
    ('16.7 points', '16.7')
    >>> number(0.58, Kind.SCORE), number(0.58, Kind.COEFFICIENT), number(0.0002, Kind.P_VALUE), number(1320, Kind.COUNT)
    ('+0.58', '0.58', '<0.001', '1,320')
    >>> number(20.0, Kind.COUNT), number(2.5, Kind.COUNT)
    ('20', '2.5')
    >>> number(2, Kind.BALANCE), number(0, Kind.BALANCE)
    ('+2', '0')
    >>> number(0.0042, Kind.PART), number(-0.0001, Kind.PART)
    ('+0.004', '+0.000')
    """  # noqa: E501
    if math.isnan(value):
        return NONE
    if kind is Kind.SHARE:
        return _percent(value) + ("" if bare else " %")
    if kind is Kind.POINTS:
        return f"{100 * value:+z.1f}" + ("" if bare else " points")
    if kind is Kind.SIZE:
        return f"{100 * value:z.1f}" + ("" if bare else " points")
    if kind is Kind.SCORE:
        return f"{value:+z.2f}"
    if kind is Kind.BALANCE:
        return f"{value:+,.0f}" if value else "0"
    if kind is Kind.PART:
        return f"{value:+z.3f}"
    if kind is Kind.P_VALUE:
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if kind is Kind.COUNT:
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    return f"{value:z.2f}"


def _percent(value: float) -> str:
    """Return a percentage with one decimal. Only all is 100.0, and only none is 0.0."""
    text = f"{100 * value:.1f}"
    if text == "100.0" and value < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and value > 0 else text
