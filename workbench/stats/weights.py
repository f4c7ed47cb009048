"""Shares of weighted people, with the effective sample size and the design effect.

See Kish 1965.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.signedinteger[Any]]
"""place of each person's answer among the options that a question offers; below 0: no answer, or
none of them"""


def effective_n(weights: Floats) -> float:
    """Return the effective sample size (Σw)² / Σw² (Kish 1965, section 11.7), or 0 without weights.

    Examples
    --------
    >>> effective_n(np.array([1.0, 1.0, 1.0])), effective_n(np.array([3.0, 1.0]))
    (3.0, 1.6)
    """
    heaviest = float(np.max(weights, initial=0.0))
    if heaviest <= 0:
        return 0.0
    scaled = weights / heaviest  # squares of weights of any size stay in range
    return round(float(scaled.sum() ** 2 / np.square(scaled).sum()), 9)


@dataclass(frozen=True, slots=True)
class WeightedShares:
    """The weighted shares of a group's answers to one question."""

    shares: tuple[float, ...]
    "share of each option, together 1; NaN if nobody with a weight answered"
    people: int
    "with a weight above 0 who answered"
    effective_n: float

    @property
    def design_effect(self) -> float:
        """The design effect of the weights, or NaN without respondents."""
        return self.people / self.effective_n if self.effective_n else float("nan")


def weighted_shares(codes: Codes, weights: Floats, options: int) -> WeightedShares:
    """Return the shares of options among people.

    Parameters
    ----------
    codes : (n,); who has no answer counts for nothing
    weights : (n,) at least 0

    Examples
    --------
    >>> weighted_shares(np.array([0, 1, -1]), np.array([3.0, 1.0, 5.0]), 2).shares
    (0.75, 0.25)
    """
    counts = (codes >= 0) & (weights > 0)
    sums = np.bincount(codes[counts], weights[counts], options)
    total = sums.sum()
    shares = sums / total if total else np.full(options, np.nan)
    return WeightedShares(
        tuple(map(float, shares)), int(counts.sum()), effective_n(weights[counts])
    )


@dataclass(frozen=True, slots=True)
class WeightSpread:
    """A summary of survey weights."""

    sum: float
    least: float
    most: float
    people: int
    "with a weight above 0"
    effective_n: float

    @property
    def design_effect(self) -> float:
        """The design effect of the weights, or NaN without respondents."""
        return self.people / self.effective_n if self.effective_n else float("nan")

    def __str__(self) -> str:
        effect = f"{self.design_effect:.4g}" if self.people else "undefined"
        effective = f"effective n {self.effective_n:,.6g} of {self.people:,}"
        return (
            f"sum {self.sum:,.6g}, from {self.least:.4g} to {self.most:.4g}; {effective}, design "
            f"effect {effect}"
        )


def spread_of(weights: Sequence[float]) -> WeightSpread:
    """Return the summary of survey weights.

    Examples
    --------
    >>> str(spread_of([3.0, 1.0, 0.0]))
    'sum 4, from 0 to 3; effective n 1.6 of 2, design effect 1.25'
    """
    values = np.asarray(weights, np.float64)
    ends = (
        (float(values.min()), float(values.max())) if len(values) else (float("nan"), float("nan"))
    )
    return WeightSpread(float(values.sum()), *ends, int((values > 0).sum()), effective_n(values))
