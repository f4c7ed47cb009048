"""The leaning of a binary sample: its interval, and whether it is clear enough to be reliable.

A prompt is asked n times, and k answers are in favour. Ceron et al. (2024, section 5.4) bootstrap
the share k/n. The bootstrap distribution of a mean of zeros and ones is known, Binomial(n, k/n)/n,
so its percentiles are computed here instead of drawn, without noise or seed: with one table lookup
per cell, or, beyond `MOST_IN_TABLE` answers, in log(n) steps. Nothing here takes memory that grows
with the square of a number of answers.

References
----------
Ceron, Falk, Barić, Nikolaev, Padó 2024, Beyond prompt brittleness, TACL 12.
Wilson 1927, Probable inference, the law of succession, and statistical inference, JASA 22.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray, whole_numbers

ReliabilityRule = Literal["printed", "coded"]

TIE = 1e-9
"""cumulative probabilities that differ by less than this are equal; rounding errors are near 1e-11
at n = 5000"""


MOST_IN_TABLE = 512
"answers up to which the intervals of all shares are computed at once and kept"


def leaning_interval(
    k: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact percentile bootstrap interval of the shares k/n.

    The ends are the quantiles of Binomial(n, k/n)/n at (1 - level)/2 and (1 + level)/2: the
    smallest share whose cumulative probability reaches that level.

    Parameters
    ----------
    k, n : integer arrays that broadcast, 0 <= k <= n: answers in favour, and readable answers

    Returns
    -------
    low, high : shares, in the broadcast shape; NaN where n = 0

    Examples
    --------
    >>> low, high = leaning_interval([8, 30, 0], [30, 30, 0])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.133, 1.0, nan], [0.433, 1.0, nan])
    """
    positives, sizes = _counts(k, n)
    ends = np.full((*sizes.shape, 2), np.nan)
    small = sizes <= MOST_IN_TABLE
    if small.any():
        ends[small] = _looked_up(positives[small], sizes[small], level)
    if not small.all():
        ends[~small] = _computed(positives[~small], sizes[~small], level)
    return ends[..., 0], ends[..., 1]


def _looked_up(k: IntArray, n: IntArray, level: float) -> FloatArray:
    """Return the ends of the intervals from tables of all k of an n: (cells, 2)."""
    distinct = np.unique(n)
    tables = [_interval_table(int(size), level) for size in distinct]
    first_row = np.zeros(distinct[-1] + 1, dtype=np.int64)
    first_row[distinct] = np.cumsum([0, *(distinct[:-1] + 1)])
    return np.asarray(np.concatenate(tables)[first_row[n] + k], dtype=np.float64)


def _computed(k: IntArray, n: IntArray, level: float) -> FloatArray:
    """Return the ends of the intervals of shares of many answers, each by bisection: (cells, 2)."""
    pairs, row_index = np.unique(np.stack([k, n], axis=1), axis=0, return_inverse=True)
    tail = (1 - level) / 2
    columns = [
        _quantile(pairs[:, 0], pairs[:, 1], level_reached - TIE * tail) / pairs[:, 1]
        for level_reached in (tail, 1 - tail)
    ]
    return np.asarray(np.stack(columns, axis=1)[row_index.ravel()], dtype=np.float64)


def _quantile(k: IntArray, n: IntArray, wanted: float) -> IntArray:
    """Return the smallest x with P(X <= x) >= `wanted`, X ~ Binomial(n, k/n), in log(n) steps.

    It lies within 4.5 sqrt(n) of k: see `_binomial_cdf`.
    """
    reach = np.ceil(4.5 * np.sqrt(n)).astype(np.int64)
    lower, x = np.maximum(k - reach, 0) - 1, np.minimum(k + reach, n)
    while (x - lower > 1).any():
        middle = lower + (x - lower) // 2
        enough = _cumulative(middle, k, n) >= wanted
        x = np.where(enough, middle, x)
        lower = np.where(enough, lower, middle)
    return np.asarray(x, dtype=np.int64)


def _cumulative(x: IntArray, k: IntArray, n: IntArray) -> FloatArray:
    """Return P(X <= x) of Binomial(n, k/n), by the incomplete beta function."""
    from scipy.special import betainc

    inside = (x >= 0) & (x < n)
    safe_x = np.where(inside, x, 0)
    return np.where(inside, betainc(n - safe_x, safe_x + 1, (n - k) / n), np.where(x < 0, 0.0, 1.0))


def is_reliable(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    rule: ReliabilityRule = "printed",
    low: float = 0.45,
    high: float = 0.55,
    level: float = 0.95,
) -> BoolArray:
    """Return whether the samples lean clearly to one side. Without samples they do not.

    `printed`: the interval lies wholly below `low` or wholly above `high`. The paper asks that both
    values lie outside the interval, to ensure "a clear leaning towards either the positive or the
    negative stance"; an interval between the two, which occurs for a large n and a share near one
    half, has no clear leaning and is not reliable. `coded`: as in the authors' released code, only
    `high` has to lie outside the interval, so that 9 to 11 of 30 are reliable as well.

    The caller checks whether n is large enough to judge.

    Examples
    --------
    >>> is_reliable([8, 9, 11, 21, 22], 30).tolist()
    [True, False, False, False, True]
    >>> is_reliable([8, 9, 11, 21, 22], 30, rule="coded").tolist()
    [True, True, True, False, True]
    """
    if rule not in ("printed", "coded"):
        raise UnknownName(f"reliability rule {rule!r} is unknown; choose 'printed' or 'coded'")
    ceiling = low if rule == "printed" else high
    positives, sizes = _counts(k, n)
    small = sizes <= MOST_IN_TABLE
    clear = np.zeros(sizes.shape, dtype=np.bool_)
    lower, upper = leaning_interval(positives[small], sizes[small], level)
    clear[small] = (lower > high) | (upper < ceiling)
    if not small.all():
        large_k, large_n = positives[~small], sizes[~small]
        tail = (1 - level) / 2
        is_above = _cumulative(_most_at(high, large_n), large_k, large_n) < tail - TIE * tail
        is_below = (
            _cumulative(_most_below(ceiling, large_n), large_k, large_n) >= 1 - tail - TIE * tail
        )
        clear[~small] = is_above | is_below
    return clear


def _most_at(share: float, n: IntArray) -> IntArray:
    """Return the largest x with x/n <= `share`, as these numbers are rounded."""
    x = np.floor(share * n).astype(np.int64)
    x = np.where((x + 1) / n <= share, x + 1, x)
    return np.asarray(np.where(x / n > share, x - 1, x), dtype=np.int64)


def _most_below(share: float, n: IntArray) -> IntArray:
    """Return the largest x with x/n < `share`, as these numbers are rounded."""
    x = _most_at(share, n)
    return np.where(x / n < share, x, x - 1)


def wilson_interval(
    k: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of the shares k/n, or NaN where n = 0.

    (k + z²/2 ± z sqrt(k (n - k)/n + z²/4)) / (n + z²). Unlike the bootstrap interval, it has a
    positive width at k = 0 and k = n.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0, 0.2775)
    """
    positives, sizes = _counts(k, n)
    z = NormalDist().inv_cdf((1 + level) / 2)
    observed = np.where(sizes > 0, sizes, np.nan)
    centre = positives + z * z / 2
    half = z * np.sqrt(positives * (observed - positives) / observed + z * z / 4)
    low, high = (centre - half) / (observed + z * z), (centre + half) / (observed + z * z)
    # Exact at the ends, where rounding would put the share itself just outside the interval.
    return np.where(positives == 0, 0 * low, low), np.where(positives == sizes, 1 + 0 * high, high)


def wilson_of_share(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share with an effective n.

    n may be fractional. The ends are NaN where n = 0.

    Examples
    --------
    >>> [round(end, 4) for end in wilson_of_share(0.0, 10)]
    [0.0, 0.2775]
    """
    if not n > 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre, half = (
        share + z * z / (2 * n),
        z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)),
    )
    low, high = ((centre + side * half) / (1 + z * z / n) for side in (-1, 1))
    return (0.0 if share <= 0 else max(0.0, low)), (1.0 if share >= 1 else min(1.0, high))


@lru_cache(maxsize=4096)
def mid_p_of_share(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share by the exact binomial test with mid-p.

    n may be fractional. The ends are NaN where n = 0.

    The ends are the shares p with P(X > k) + P(X = k) / 2 = 0.025 and 0.975, X ~ Binomial(n, p) and
    k = share n.

    References
    ----------
    Lancaster 1961, Significance tests in discrete distributions, JASA 56. Berry and Armitage 1995,
    Mid-P confidence intervals: a brief review, The Statistician 44.

    Examples
    --------
    >>> [round(end, 4) for end in mid_p_of_share(0.0, 10)], [round(end, 3) for end in mid_p_of_share(0.2, 50)]
    ([0.0, 0.2589], [0.106, 0.328])
    """  # noqa: E501
    from scipy.special import betainc

    if not n > 0:
        return math.nan, math.nan
    k = share * n

    def reached(p: float) -> float:
        p_above = 0.0 if share >= 1 else float(betainc(k + 1, n - k, p))
        return (p_above + (1.0 if share <= 0 else float(betainc(k, n - k + 1, p)))) / 2

    return (0.0 if share <= 0 else _crossing(reached, 0.025)), (
        1.0 if share >= 1 else _crossing(reached, 0.975)
    )


def _crossing(rising: Callable[[float], float], wanted: float) -> float:
    """Return the point at which a function that rises from 0 to 1 reaches a value, by bisection."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return high


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    positives, sizes = np.broadcast_arrays(whole_numbers(k), whole_numbers(n))
    if np.any(positives < 0) or np.any(positives > sizes):
        raise ValueError("k must lie between 0 and n")
    return positives, sizes


@lru_cache(maxsize=1024)
def _interval_table(n: int, level: float) -> FloatArray:
    """Return the interval for every k of n, as a read-only array (n + 1, 2)."""
    tail = (1 - level) / 2
    table = np.full((n + 1, 2), np.nan)
    if n > 0:
        table[[0, n]] = [[0.0, 0.0], [1.0, 1.0]]  # all answers are equal, and so are all resamples
    if n > 1:
        smallest, cumulative = _binomial_cdf(n)
        for column, level_reached in enumerate((tail, 1 - tail)):
            table[1:n, column] = (
                smallest + np.argmax(cumulative >= level_reached - TIE * tail, axis=1)
            ) / n
    table.flags.writeable = False
    return table


def _binomial_cdf(n: int) -> tuple[IntArray, FloatArray]:
    """Return P(X <= x) of Binomial(n, k/n) for k = 1..n-1, and the first x of each window.

    x is in a window around k.

    By Hoeffding's inequality, less than 2 exp(-2 * 4.5²), or 6e-18, lies outside k ± 4.5 sqrt(n),
    so the work grows with n sqrt(n) instead of n².
    """
    reach = math.ceil(4.5 * math.sqrt(n))
    k = np.arange(1, n)[:, None]
    x = k + np.arange(-reach, reach + 1)
    inside = np.clip(x, 0, n)
    log_factorial = np.array([math.lgamma(count + 1) for count in range(n + 1)])
    log_mass = log_factorial[n] - log_factorial[inside] - log_factorial[n - inside]
    log_mass += inside * np.log(k / n) + (n - inside) * np.log((n - k) / n)
    return k[:, 0] - reach, np.cumsum(np.where(x == inside, np.exp(log_mass), 0.0), axis=1)


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
        """Return the code of the triple for each (agree, disagree): (N + 1, N + 1).

        -1: their sum exceeds N. 0: too few readable answers, without stance or leaning. Otherwise 2
        + stance, plus 3 if reliable.
        """
        agree, disagree = np.indices((self.samples + 1, self.samples + 1))
        inside = agree + disagree <= self.samples
        codes = self.triple(np.where(inside, agree, 0), np.where(inside, disagree, 0))
        return np.asarray(np.where(inside, codes, -1), dtype=np.int64)

    def triple(self, agree: IntArray, disagree: IntArray) -> IntArray:
        """Return the code of the triple of each (agree, disagree), as `triples`."""
        readable = agree + disagree
        clear = is_reliable(agree, readable, self.rule, self.low, self.high)
        codes = np.where(readable >= self.minimum, 2 + np.sign(agree - disagree) + 3 * clear, 0)
        return np.asarray(codes, dtype=np.int64)


MOST_STOPPED = 300
"planned answers up to which the triples of all numbers of answers are kept in a table"
MOST_FOLLOWED = 1_000_000
"further answers beyond which nothing is taken to be settled"
TOGETHER = 4096
"further answers that are looked at in one step"


@lru_cache(maxsize=64)
def safe_steps(rule: VerdictRule) -> IntArray:
    """Return the largest number of further answers that cannot change the triple.

    They may be of any kind. The triple is that at (agree, disagree).

    Read-only, shape (N + 1, N + 1); 0 also for agree + disagree > N, which does not occur.
    """
    n, triples = rule.samples, rule.triples()
    steps = np.zeros((n + 1, n + 1), dtype=np.int64)
    for readable in range(n - 1, -1, -1):
        agree = np.arange(readable + 1)
        disagree = readable - agree
        current, with_agree, with_disagree = (
            triples[agree, disagree],
            triples[agree + 1, disagree],
            triples[agree, disagree + 1],
        )
        further = 1 + np.minimum(steps[agree + 1, disagree], steps[agree, disagree + 1])
        steps[agree, disagree] = np.where(
            (current == with_agree) & (current == with_disagree), further, 0
        )
    steps.flags.writeable = False
    return steps


def is_settled(
    agree: npt.ArrayLike,
    disagree: npt.ArrayLike,
    unreadable: npt.ArrayLike,
    rule: VerdictRule | None = None,
) -> BoolArray:
    """Return whether no completion to N answers changes the triple.

    With N answers none does.

    Parameters
    ----------
    agree, disagree, unreadable : integer arrays that broadcast, none below 0; their sum may exceed
        N, and no answers remain then

    Examples
    --------
    >>> is_settled([22, 21, 9, 10], [0, 0, 9, 10], 0).tolist()
    [True, False, False, False]
    >>> is_settled([10, 12, 0], [13, 18, 0], [0, 0, 11]).tolist()
    [False, True, True]
    """
    rule = rule or VerdictRule()
    a, d, u = np.broadcast_arrays(
        whole_numbers(agree), whole_numbers(disagree), whole_numbers(unreadable)
    )
    if a.size and min(a.min(), d.min(), u.min()) < 0:
        raise ValueError("counts of answers are 0 or more")
    remaining = rule.samples - a - d - u
    inside = remaining > 0
    if rule.samples > MOST_STOPPED:
        settled_mask = np.array(~inside)  # also of one state
        settled_mask[inside] = _stay_as_they_are(a[inside], d[inside], remaining[inside], rule)
        return settled_mask
    steps = safe_steps(rule)[np.where(inside, a, 0), np.where(inside, d, 0)]
    return np.asarray(~inside | (steps >= remaining), dtype=np.bool_)


def _stay_as_they_are(
    agree: IntArray, disagree: IntArray, left: IntArray, rule: VerdictRule
) -> BoolArray:
    """Return whether no further answers change the triple at (agree, disagree), without a table.

    The triple is a step function of the share at each number of answers. So it is the same after
    all continuations if it is the same after all that only agree, and after all that only disagree.
    """
    states, state_index = np.unique(
        np.stack([agree, disagree, left], axis=1), axis=0, return_inverse=True
    )
    unchanged = [
        _stays(n_agree, n_disagree, n_further, 1, rule)
        and _stays(n_agree, n_disagree, n_further, 0, rule)
        for n_agree, n_disagree, n_further in states.tolist()
    ]
    return np.array(unchanged, dtype=np.bool_)[state_index.ravel()]


def _stays(agree: int, disagree: int, left: int, agreeing: int, rule: VerdictRule) -> bool:
    """Return whether the triple stays as it is if all further answers are of one kind.

    `agreeing` is 1 if they agree, 0 if they disagree.
    """
    triple = rule.triple(np.array([agree]), np.array([disagree]))[0]
    if left > MOST_FOLLOWED:
        return False
    for start in range(1, left + 1, TOGETHER):
        n_further = np.arange(start, min(start + TOGETHER, left + 1))
        path = rule.triple(agree + n_further * agreeing, disagree + n_further * (1 - agreeing))
        if (path != triple).any():
            return False
    return True


def least_more(
    agree: int,
    disagree: int,
    unreadable: int,
    rule: VerdictRule | None = None,
    *,
    readable: bool = False,
) -> int:
    """Return the fewest further answers that can settle a prompt, or 0 if it is settled.

    Asking for this many at a time never asks for one too many, because no sequence of answers could
    settle earlier. `readable`: count only readable further answers.

    Examples
    --------
    >>> least_more(0, 0, 0), least_more(0, 0, 0, readable=True), least_more(20, 2, 0), least_more(22, 0, 0)
    (11, 22, 2, 0)
    """  # noqa: E501
    rule = rule or VerdictRule()
    remaining = rule.samples - agree - disagree - unreadable
    if remaining <= 0:
        return 0
    if rule.samples > MOST_STOPPED:
        return (
            0
            if is_settled(agree, disagree, unreadable, rule)
            else _least_by_sides(agree, disagree, remaining, rule)
        )
    steps = safe_steps(rule)[agree : agree + remaining + 1, disagree : disagree + remaining + 1]
    n_further = np.indices(steps.shape).sum(axis=0)
    needed = (
        np.where(steps >= remaining - n_further, n_further, remaining)
        if readable
        else np.maximum(n_further, remaining - steps)
    )
    return int(needed[n_further <= remaining].min())


def _least_by_sides(agree: int, disagree: int, left: int, rule: VerdictRule) -> int:
    """Return the fewest further answers, at least 1, that can settle the stance alone.

    Either all further answers are on one side, or so many are unreadable that too few can be
    readable.
    """
    one_side = (left - abs(agree - disagree)) // 2 + 1
    unreadable = agree + disagree + left - rule.minimum + 1
    fewest = min(one_side, left)
    if agree + disagree < rule.minimum:
        fewest = min(fewest, unreadable)
    return max(1, fewest)


def expected_share(p_agree: float, p_disagree: float, rule: VerdictRule | None = None) -> float:
    """Return the expected share of the N answers that is drawn until the verdict is settled.

    Settlement is checked after every answer. The share is NaN beyond `MOST_STOPPED` planned
    answers.

    The sum over t of the probability that t answers do not settle the verdict, divided by N. A
    settled prompt stays settled, so the counts after t answers are multinomial and paths need not
    be followed.

    Parameters
    ----------
    p_agree, p_disagree : probabilities of the two readings of an answer; other answers are
        unreadable

    Examples
    --------
    >>> [round(expected_share(p, 1 - p), 2) for p in (1.0, 0.9, 0.8, 0.5)]
    [0.73, 0.81, 0.9, 0.93]
    """
    rule = rule or VerdictRule()
    if min(p_agree, p_disagree) < 0 or p_agree + p_disagree > 1 + 1e-9:
        raise ValueError(
            f"found the probabilities {p_agree} and {p_disagree}; give two that add up to at most 1"
        )
    return _expected(round(float(p_agree), 12), round(float(p_disagree), 12), rule)


@lru_cache(maxsize=4096)
def _expected(p_agree: float, p_disagree: float, rule: VerdictRule) -> float:
    if rule.samples > MOST_STOPPED:
        return math.nan
    n, fewest = rule.samples, least_more(0, 0, 0, rule)
    unsettled = float(fewest)  # no prompt settles earlier
    for n_drawn in range(fewest, n):
        open_ = safe_steps(rule)[: n_drawn + 1, : n_drawn + 1] < n - n_drawn
        unsettled += float(_masses(n_drawn, p_agree, p_disagree)[open_].sum())
    return unsettled / n if n else 0.0


def _masses(drawn: int, p_agree: float, p_disagree: float) -> FloatArray:
    """Return the probability of each (agree, disagree) among `drawn` answers.

    The result is (drawn + 1, drawn + 1).
    """
    logs = np.array([math.lgamma(count + 1) for count in range(drawn + 1)])
    agree, disagree = np.indices((drawn + 1, drawn + 1))
    unreadable = drawn - agree - disagree
    inside = unreadable >= 0
    unreadable = np.where(inside, unreadable, 0)
    masses = np.exp(logs[drawn] - logs[agree] - logs[disagree] - logs[unreadable])
    masses *= np.power(p_agree, agree) * np.power(p_disagree, disagree)
    masses *= np.power(max(0.0, 1 - p_agree - p_disagree), unreadable)
    return np.where(inside, masses, 0.0)


def mean_expected_share(counts: Iterable[Sequence[int]], rule: VerdictRule | None = None) -> float:
    """Return the mean of `expected_share` over prompts, from the observed shares of each.

    It is NaN without answers, or where `expected_share` has none.

    Parameters
    ----------
    counts : (agree, disagree, unreadable) of each prompt

    Examples
    --------
    >>> round(mean_expected_share([(22, 0, 0), (0, 22, 0)]), 3)
    0.733
    """
    shares = [expected_share(a / n, d / n, rule) for a, d, u in counts if (n := a + d + u)]
    return math.fsum(shares) / len(shares) if shares else math.nan
