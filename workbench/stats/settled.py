"""Settlement: when further answers to a prompt cannot change its verdict, and how many answers that saves.

A prompt is planned to be asked N times. Its verdict is a triple: whether enough answers are readable, the majority
stance, and whether the answers lean clearly to that side. After `agree`, `disagree` and `unreadable` answers the
verdict is settled if all possible outcomes of the remaining answers give the same triple. Then asking can stop: the
verdict is exactly the one that all N answers would have given, not an estimate of it.

With r answers left the completions of (a, d) are all (a + i, d + j) with i + j <= r, a triangle. A triangle consists of
its corner and two triangles of r - 1, one step further in each direction, so the largest triangle with one triple at
every corner follows from those of its two neighbours: the work grows with N², not with the number of completions. The
corner itself is among its completions (all remaining answers unreadable), so a settled prompt is judged by its current
counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import BoolArray, FloatArray, IntArray, whole_numbers
from workbench.stats.proportions import ReliabilityRule, is_reliable


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """The rule that turns the answers to a prompt into its triple."""

    samples: int = 30
    "N: answers planned"
    minimum: int = 20
    "fewest readable answers that are enough"
    rule: ReliabilityRule = "printed"
    low: float = 0.45
    high: float = 0.55

    def triples(self) -> IntArray:
        """Return a code of the triple for each (agree, disagree): (N + 1, N + 1); -1 if their sum exceeds N.

        0: too few readable answers, without stance or leaning; otherwise 2 + stance, plus 3 if reliable.
        """
        agree, disagree = np.indices((self.samples + 1, self.samples + 1))
        readable = agree + disagree
        inside = readable <= self.samples
        clear = is_reliable(np.where(inside, agree, 0), np.where(inside, readable, 0), self.rule, self.low, self.high)
        codes = np.where(readable >= self.minimum, 2 + np.sign(agree - disagree) + 3 * clear, 0)
        return np.asarray(np.where(inside, codes, -1), dtype=np.int64)


@lru_cache(maxsize=64)
def safe_steps(of: VerdictRule) -> IntArray:
    """Return the largest number of further answers, of any kind, that cannot change the triple at (agree, disagree).

    Read-only, shape (N + 1, N + 1); 0 also for agree + disagree > N, which does not occur.
    """
    n, triples = of.samples, of.triples()
    steps = np.zeros((n + 1, n + 1), dtype=np.int64)
    for readable in range(n - 1, -1, -1):
        agree = np.arange(readable + 1)
        disagree = readable - agree
        here, more, other = triples[agree, disagree], triples[agree + 1, disagree], triples[agree, disagree + 1]
        further = 1 + np.minimum(steps[agree + 1, disagree], steps[agree, disagree + 1])
        steps[agree, disagree] = np.where((here == more) & (here == other), further, 0)
    steps.flags.writeable = False
    return steps


def is_settled(
    agree: npt.ArrayLike, disagree: npt.ArrayLike, unreadable: npt.ArrayLike, of: VerdictRule | None = None
) -> BoolArray:
    """Return whether no completion to N answers changes the triple; True if there are N answers already.

    Parameters
    ----------
    agree, disagree, unreadable : integer arrays that broadcast, none below 0; their sum may exceed N, and no answers
    remain then

    Examples
    --------
    >>> is_settled([22, 21, 9, 10], [0, 0, 9, 10], 0).tolist()
    [True, False, False, False]
    >>> is_settled([10, 12, 0], [13, 18, 0], [0, 0, 11]).tolist()
    [False, True, True]
    """
    of = of or VerdictRule()
    a, d, u = np.broadcast_arrays(whole_numbers(agree), whole_numbers(disagree), whole_numbers(unreadable))
    if a.size and min(a.min(), d.min(), u.min()) < 0:
        raise ValueError("counts of answers are 0 or more")
    left = of.samples - a - d - u
    inside = left > 0
    steps = safe_steps(of)[np.where(inside, a, 0), np.where(inside, d, 0)]
    return np.asarray(~inside | (steps >= left), dtype=np.bool_)


def least_more(
    agree: int, disagree: int, unreadable: int, of: VerdictRule | None = None, *, readable: bool = False
) -> int:
    """Return the fewest further answers after which a prompt can be settled; 0 if it is settled.

    Asking for this many at a time never asks for one too many, because no sequence of answers could settle earlier.
    `readable`: count only readable further answers.

    Examples
    --------
    >>> least_more(0, 0, 0), least_more(0, 0, 0, readable=True), least_more(20, 2, 0), least_more(22, 0, 0)
    (11, 22, 2, 0)
    """
    of = of or VerdictRule()
    left = of.samples - agree - disagree - unreadable
    if left <= 0:
        return 0
    steps = safe_steps(of)[agree : agree + left + 1, disagree : disagree + left + 1]
    more = np.indices(steps.shape).sum(axis=0)
    need = np.where(steps >= left - more, more, left) if readable else np.maximum(more, left - steps)
    return int(need[more <= left].min())


def expected_share(p_agree: float, p_disagree: float, of: VerdictRule | None = None) -> float:
    """Return the expected share of the N answers that is drawn if settlement is checked after every answer.

    The sum over t of the probability that t answers do not settle the verdict, divided by N. A settled prompt stays
    settled, so the counts after t answers are multinomial and paths need not be followed.

    Parameters
    ----------
    p_agree, p_disagree : probabilities of the two readings of an answer; other answers are unreadable

    Examples
    --------
    >>> [round(expected_share(p, 1 - p), 2) for p in (1.0, 0.9, 0.8, 0.5)]
    [0.73, 0.81, 0.9, 0.93]
    """
    of = of or VerdictRule()
    if min(p_agree, p_disagree) < 0 or p_agree + p_disagree > 1 + 1e-9:
        raise ValueError(f"found the probabilities {p_agree} and {p_disagree}; give two that add up to at most 1")
    return _expected(round(float(p_agree), 12), round(float(p_disagree), 12), of)


@lru_cache(maxsize=4096)
def _expected(p_agree: float, p_disagree: float, of: VerdictRule) -> float:
    n, first = of.samples, least_more(0, 0, 0, of)
    unsettled = float(first)  # no prompt settles earlier
    for drawn in range(first, n):
        open_ = safe_steps(of)[: drawn + 1, : drawn + 1] < n - drawn
        unsettled += float(_masses(drawn, p_agree, p_disagree)[open_].sum())
    return unsettled / n if n else 0.0


def _masses(drawn: int, p_agree: float, p_disagree: float) -> FloatArray:
    """Return the probability of each (agree, disagree) among `drawn` answers: (drawn + 1, drawn + 1)."""
    logs = np.array([math.lgamma(i + 1) for i in range(drawn + 1)])
    agree, disagree = np.indices((drawn + 1, drawn + 1))
    rest = drawn - agree - disagree
    inside = rest >= 0
    rest = np.where(inside, rest, 0)
    found = np.exp(logs[drawn] - logs[agree] - logs[disagree] - logs[rest])
    found *= np.power(p_agree, agree) * np.power(p_disagree, disagree)
    found *= np.power(max(0.0, 1 - p_agree - p_disagree), rest)
    return np.where(inside, found, 0.0)


def mean_expected_share(counts: Iterable[Sequence[int]], of: VerdictRule | None = None) -> float:
    """Return the mean of `expected_share` over prompts, from the observed shares of each; NaN without answers.

    Parameters
    ----------
    counts : (agree, disagree, unreadable) of each prompt

    Examples
    --------
    >>> round(mean_expected_share([(22, 0, 0), (0, 22, 0)]), 3)
    0.733
    """
    found = [expected_share(a / n, d / n, of) for a, d, u in counts if (n := a + d + u)]
    return math.fsum(found) / len(found) if found else math.nan
