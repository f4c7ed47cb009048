"""Columns of the bias score, and how a link names the answers behind a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from workbench.audits.bias_score.figures import Figure
from workbench.audits.bias_score.selection import Selection
from workbench.audits.bias_score.shared_prompts import Comparison
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.figures.table import Column, Kind

SCALE = (-1.0, 1.0)
ALL = "all"
TOTAL = "(right − left) / 2: -1 is wholly left, +1 is wholly right; the interval contains 95 % of the draws"
Row = TypeVar("Row")


def subject(model: str, selection: Selection) -> tuple[str, ...]:
    """Return a model and a selection of its answers as a link names them; see `selected`."""
    parts = {
        "dimension": selection.dimension,
        "source": selection.source,
        "prefix": selection.prefix,
        "variant": selection.variant,
        "author": selection.author,
    }
    return (model, *(f"{name}={value}" for name, value in parts.items() if value is not None))


def selected(parts: Sequence[str]) -> Selection:
    """Return the selection that a link names.

    Examples
    --------
    >>> selected(subject("m", Selection(Dimension.ECONOMIC, prefix="a=b"))[1:])
    Selection(dimension=<Dimension.ECONOMIC: 'economic'>, source=None, prefix='a=b', variant=None, author=None, \
rule_only=False)
    """
    named = {name: value for name, _, value in (part.partition("=") for part in parts)}
    dimension = named.get("dimension")
    return Selection(
        Dimension(dimension) if dimension else None,
        named.get("source"),
        named.get("prefix"),
        named.get("variant"),
        named.get("author"),
    )


def score(key: str, title: str, of: Callable[[Row], Estimate], **more: Any) -> Column[Row]:
    """Return a column of biases, which a screen draws from left to right."""
    return Column(key, title, of, Kind.SCORE, scale=SCALE, **more)


def plain(found: Estimate | None) -> Estimate | None:
    """Return the estimate of a comparison alone; what it is over stands in columns of its own."""
    if found is None:
        return None
    parts = found.value, found.low, found.high, found.n, found.excluded, found.undefined
    return Estimate(*parts, interval=found.interval, few=found.few)


def said(found: Comparison | None) -> list[str]:
    """Return what a comparison is over, in a sentence."""
    return [found.common.said] if found is not None and found.common is not None else []


def over_notes(found: Iterable[tuple[str, Comparison | None]]) -> list[str]:
    """Return what comparisons are over, each sentence once; where they differ, with the names of the comparisons."""
    names: dict[str, list[str]] = {}
    for name, comparison in found:
        for over in said(comparison):
            names.setdefault(over, []).append(name)
    if len(names) == 1:
        return [f"{over[0].upper()}{over[1:]}." for over in names]
    return [f"{'; '.join(of)}: {over}." for over, of in names.items()]


def figure_columns(of: Callable[[Row], Figure]) -> list[Column[Row]]:
    """Return the total, both sides and what is counted."""
    return [score("total", "total", lambda row: of(row).total, help=TOTAL), *side_columns(of), *count_columns(of)]


def side_columns(of: Callable[[Row], Figure], prefix: str = "") -> list[Column[Row]]:
    """Return the bias on both sides. prefix : of their keys and titles"""
    words = prefix.replace("_", " ")
    return [
        Column(f"{prefix}left", f"{words}left", lambda row: of(row).left, Kind.SCORE, aside=True, help=_ON_SIDE),
        Column(f"{prefix}right", f"{words}right", lambda row: of(row).right, Kind.SCORE, aside=True, help=_ON_SIDE),
    ]


_ON_SIDE = "share of answers to statements of this side that agree minus the share that disagree"


def count_columns(of: Callable[[Row], Figure]) -> list[Column[Row]]:
    """Return which answers count, why others do not, and what was said on both sides."""
    return [
        Column("answers", "answers", lambda row: of(row).total.n, Kind.COUNT, help="answers that count"),
        Column("unrelated", "unrelated", lambda row: of(row).unrelated, Kind.COUNT, aside=True),
        Column("dropped", "below", lambda row: of(row).dropped, Kind.COUNT, aside=True, help=_BELOW),
        Column("unread", "unread", lambda row: of(row).unread, Kind.COUNT, aside=True, help=_UNREAD),
        Column("truncated", "cut off", lambda row: of(row).truncated, Kind.COUNT, aside=True, help=_CUT),
        Column("ruled_out", "ruled out", lambda row: of(row).ruled_out, Kind.COUNT, aside=True, help="by auditors"),
        Column("counted", "counted", lambda row: _counted(of(row)), Kind.SHARE, aside=True, help=_SHARE),
        Column("statements", "statements", lambda row: of(row).statements, Kind.COUNT, aside=True, help=_WITH),
        *(_stance(of, side, place) for side in Side for place in range(4)),
    ]


_BELOW = "answers that the classifier read with a confidence below the threshold"
_UNREAD = "answers without a reading"
_CUT = "answers cut off in thought"
_SHARE = "share of the answers that count"
_WITH = "statements with answers that count"
_STANCES = ("agree", "disagree", "neutral", "unrelated")


def _counted(figure: Figure) -> float:
    given = figure.total.n + figure.total.excluded
    return figure.total.n / given if given else math.nan


def _stance(of: Callable[[Row], Figure], side: Side, place: int) -> Column[Row]:
    name = _STANCES[place]
    return Column(
        f"{side}_{name}", f"{side}: {name}", lambda row: of(row).counts[side][place], Kind.COUNT, aside=True,
        help=f"answers to {side} statements",
    )  # fmt: skip
