"""Tests of means, pairs, clusters and strata, and adjustments of p for several tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.proportions import wilson_of_share
from workbench.stats.resampling import NORMAL, NOTHING, Ends, share_interval
from workbench.stats.samples import hypergeometric


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return Holm's adjusted p values: max over j <= i of min(1, (m - j + 1) p_(j)).

    The p are in ascending order.

    A NaN stands for a test that could not be made: it stays NaN and does not count among the m.

    References
    ----------
    Holm 1979, A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> [round(float(each), 3) for each in holm([0.04, 0.01, float("nan"), 0.03])]
    [0.06, 0.03, nan, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    steps = np.arange(len(order), 0, -1) * values[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(order) else steps
    return adjusted


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return p values adjusted by Benjamini and Hochberg's procedure.

    It bounds the expected share of false alarms.

    min over j >= i of min(1, m p_(j) / j), for p in ascending order; valid for tests that are
    independent or positively dependent. A NaN stands for a test that could not be made: it stays
    NaN and does not count among the m.

    References
    ----------
    Benjamini and Hochberg 1995, Controlling the false discovery rate.

    Examples
    --------
    >>> [round(float(each), 3) for each in benjamini_hochberg([0.04, 0.01, float("nan"), 0.03])]
    [0.04, 0.03, nan, 0.04]
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    steps = values[order] * (len(order) / np.arange(1, len(order) + 1))
    adjusted[order] = np.clip(np.minimum.accumulate(steps[::-1])[::-1], 0, 1)
    return adjusted


def benjamini_bogomolov(families: Sequence[npt.ArrayLike]) -> list[FloatArray]:
    """Return p values of several families, adjusted within families and for their choice.

    A family counts as selected at level q if its smallest p, adjusted by Benjamini and Hochberg's
    procedure within the family, is selected among those of all m families by the same procedure.
    With R families selected, a test holds at q if its adjusted p is at most R q / m. So the
    expected share of false alarms, averaged over the selected families, is at most q, and without
    any effect some test holds with a probability of at most q. True effects in one family do not
    make false alarms more likely in another, as they do where all tests are one family.

    Parameters
    ----------
    families
        The p values of each family, (n,) each. A NaN stands for a test that could not be made: it
        stays NaN, and a family of NaN alone does not count among the m.

    References
    ----------
    Benjamini and Bogomolov 2014, Selective inference on multiple families of hypotheses, theorem 1.

    Examples
    --------
    >>> [p.round(3).tolist() for p in benjamini_bogomolov([[0.01, 0.6], [0.5]])]
    [[0.04, 0.6], [0.5]]
    """
    adjusted_within = [benjamini_hochberg(p) for p in families]
    smallest = np.sort([np.nanmin(p) for p in adjusted_within if np.isfinite(p).any()])
    if not smallest.size:
        return adjusted_within
    n_selected = np.arange(1, smallest.size + 1)
    factors = smallest.size / n_selected
    # the lowest level at which so many families are selected, or more
    levels = np.minimum.accumulate((smallest * factors)[::-1])[::-1]
    adjusted = []
    for p in adjusted_within:
        at_each_level = np.maximum(levels, p[:, np.newaxis] * factors)
        adjusted.append(np.minimum(at_each_level.min(axis=1), 1))
    return adjusted


NO_VALUES = "no values"
ONE_VALUE = "one value has no spread"
ALL_EQUAL = "all values equal"
ROUNDING = 1e-12
"values that differ by less than this share of the largest are equal up to rounding"


@dataclass(frozen=True, slots=True)
class MeanTest:
    """A mean with its interval and its two-sided test against 0."""

    mean: float
    "NaN if there are no values"
    low: float
    "95 % interval of Student's t; NaN without a test"
    high: float
    sd: float
    "divisor n - 1; NaN for fewer than two values"
    t: float
    "NaN without a test"
    df: int
    "n - 1, never below 0"
    p: float
    "two-sided; NaN without a test"
    n: int
    degenerate: str = ""
    """why there is no test: `all values equal`, `one value has no spread`, `no values`; empty if
    there is one"""

    @property
    def tested(self) -> bool:
        """Whether there is a test."""
        return not self.degenerate


def mean_test(values: npt.ArrayLike, resolution: float = 0.0, limit: float = math.inf) -> MeanTest:
    """Return the mean with its interval and Student's test of it against 0.

    t = mean / (sd / root(n)) with n - 1 degrees of freedom, and the interval is mean ± t(0.975) sd
    / root(n).

    NaNs are excluded. Fewer than two values, or values that are all equal, have no test and no
    interval, and `degenerate` gives the reason: the test compares a mean with the spread of the
    values, and equal values have none. (scipy gives p = 0 for two equal values other than 0.)

    Parameters
    ----------
    resolution : values that differ by at most this, in their own unit, are equal: rounding errors
        of equal values would give an arbitrary t
    limit : largest size that a mean can have, as 1 for a difference of two shares; the interval
        ends there

    References
    ----------
    Student 1908, The probable error of a mean.

    Examples
    --------
    >>> found = mean_test([1, 2, 3, 6])
    >>> round(found.mean, 3), round(found.low, 3), round(found.t, 3), found.df, round(found.p, 4)
    (3.0, -0.437, 2.777, 3, 0.0691)
    >>> mean_test([4.0]).degenerate
    'one value has no spread'
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = numbers[~np.isnan(numbers)]
    n, nan = len(numbers), float("nan")
    if n == 0:
        return MeanTest(nan, nan, nan, nan, nan, 0, nan, 0, NO_VALUES)
    mean = float(numbers.mean())
    if n == 1:
        return MeanTest(mean, nan, nan, nan, nan, 0, nan, 1, ONE_VALUE)
    if np.ptp(numbers) <= max(resolution, ROUNDING * float(np.abs(numbers).max())):
        return MeanTest(
            mean if abs(mean) > resolution else 0.0, nan, nan, 0.0, nan, n - 1, nan, n, ALL_EQUAL
        )
    sd = float(numbers.std(ddof=1))
    from scipy.special import stdtr, stdtrit  # importing scipy.stats takes most of a second

    se = sd / np.sqrt(n)
    t = float(mean / se)
    reach = float(stdtrit(n - 1, 0.975) * se)
    low, high = max(mean - reach, -limit), min(mean + reach, limit)
    return MeanTest(mean, low, high, sd, t, n - 1, 2 * float(stdtr(n - 1, -abs(t))), n)


PERMUTATIONS = 1_999
"2,000 with the observed grouping, so that a p value is a multiple of 1 / 2,000"
LEAST = 2
"fewest clusters per group"
NAN = float("nan")
NO_HITS = "no answer of either group is a refusal, so there is no difference to test"


@dataclass(frozen=True, slots=True)
class OneSided:
    """The difference between the shares of two groups, first minus second.

    It has a permutation test.
    """

    difference: Estimate
    "n: clusters of both groups"
    p: float
    "two-sided, by permutation; NaN without a test"
    untested: str = ""


def one_sided(
    hits: npt.ArrayLike, counts: npt.ArrayLike, first: npt.ArrayLike, rng: np.random.Generator
) -> OneSided:
    """Return the difference between the share of one group of clusters and that of the others.

    A share is Σ hits / Σ counts.

    The test permutes the groups of the clusters, so that answers to one statement stay together,
    and p = (1 + #{|d*| >= |d|}) / (1 + permutations). The interval combines the groups' limits by
    `share_interval` (MOVER; Newcombe 1998 for independent answers): Student's over clusters covered
    72 to 99 % where rates are near 0 or clusters of unequal size, this one 93 % or more.

    Parameters
    ----------
    hits, counts : (C,); clusters with a count of 0 are excluded
    first : (C,), whether a cluster is in the first group

    References
    ----------
    Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol.
    9(1): 39. Zou and Donner 2008, Construction of confidence limits about effect measures,
    Statistics in Medicine 27 (MOVER).

    Examples
    --------
    >>> found = one_sided([5, 4, 6, 5, 0, 0, 0, 0], [9] * 8, [True] * 4 + [False] * 4, np.random.default_rng(1))
    >>> round(found.difference.value, 3), found.p < 0.05
    (0.556, True)
    """  # noqa: E501
    hit_counts, answer_counts, group = (
        np.asarray(hits, float),
        np.asarray(counts, float),
        np.asarray(first, dtype=np.bool_),
    )
    nonempty = answer_counts > 0
    hit_counts, answer_counts, group = (
        hit_counts[nonempty],
        answer_counts[nonempty],
        group[nonempty],
    )
    sizes = int(group.sum()), int((~group).sum())
    if min(sizes) < LEAST:
        reason = (
            f"{sizes[0]} and {sizes[1]} statements were answered; a difference takes {LEAST} "
            "of each: ask more"
        )
        return OneSided(Estimate(NAN, NAN, NAN, sum(sizes), 0, reason), NAN, reason)
    value = float(_differences(hit_counts, answer_counts, group[None])[0])
    estimate = Estimate(value, NAN, NAN, sum(sizes))
    if not hit_counts.any():
        return OneSided(estimate, NAN, NO_HITS)
    shuffled = rng.permuted(np.tile(group, (PERMUTATIONS, 1)), axis=1)
    reached = int(
        np.count_nonzero(
            np.abs(_differences(hit_counts, answer_counts, shuffled)) >= abs(value) - ROUNDING
        )
    )
    return OneSided(
        _with_interval(estimate, hit_counts, answer_counts, group),
        (1 + reached) / (1 + PERMUTATIONS),
    )


def _differences(hits: FloatArray, counts: FloatArray, groups: BoolArray) -> FloatArray:
    """Return the difference of shares under each grouping: (..., C) to (...)."""
    shares = [(members @ hits) / (members @ counts) for members in (groups, ~groups)]
    return np.asarray(shares[0] - shares[1], dtype=np.float64)


def _with_interval(
    estimate: Estimate, hits: FloatArray, counts: FloatArray, first: BoolArray
) -> Estimate:
    (p, of_p), (q, of_q) = (
        (
            float(hits[members].sum() / counts[members].sum()),
            share_interval(hits[members], counts[members]),
        )
        for members in (first, ~first)
    )
    low, high = hybrid_ends(q, of_q, p, of_p)
    return replace(estimate, low=low, high=high, interval="difference of refusal rates")


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test: that both kinds of change are equally likely.

    min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2). NaN if no pair differs: there is nothing
    to test.

    Parameters
    ----------
    only_first, only_second : pairs in which the first alone, and the second alone, says yes

    Examples
    --------
    >>> round(mcnemar(1, 8), 4), mcnemar(3, 3), mcnemar(0, 0)
    (0.0391, 1.0, nan)
    """
    from scipy.special import bdtr

    n_changed = only_first + only_second
    if n_changed == 0:
        return float("nan")
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), n_changed, 0.5)))


def paired_ends(only_first: float, only_second: float, n: float) -> Ends:
    """Return the 95 % interval of (c - b) / n over the same n items.

    It is the second share minus the first.

    The numbers need not be whole, as where it is not known for sure which items differ.

    Bonett and Price: d ± z sqrt((b' + c' - d²) / (n + 2)), where b' = (b + 1) / (n + 2), c' = (c +
    1) / (n + 2) and d = c' - b', cut at -1 and 1. Its width is positive even if no pair differs.
    NaN without pairs.

    Examples
    --------
    >>> [round(end, 3) for end in paired_ends(1, 8, 40)]
    [0.02, 0.313]
    >>> [round(end, 3) for end in paired_ends(0, 0, 10)]
    [-0.231, 0.231]
    """
    if n == 0:
        return NOTHING
    b, c = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    reach = NORMAL * float(np.sqrt((b + c - (c - b) ** 2) / (n + 2)))
    return max(-1.0, c - b - reach), min(1.0, c - b + reach)


def unpaired_ends(first: int, of_first: int, second: int, of_second: int) -> Ends:
    """Return the 95 % interval of the second share minus the first, over different items.

    Newcombe's method 10: `hybrid_ends` of both Wilson intervals. NaN if a side has no items.

    Examples
    --------
    >>> [round(end, 3) for end in unpaired_ends(5, 20, 14, 20)]
    [0.141, 0.657]
    """
    if not of_first or not of_second:
        return NOTHING
    p, q = first / of_first, second / of_second
    return hybrid_ends(p, wilson_of_share(p, of_first), q, wilson_of_share(q, of_second))


def hybrid_ends(p: float, of_p: Ends, q: float, of_q: Ends) -> Ends:
    """Return the interval of q - p from the intervals (l, u) of p and (l', u') of q.

    The ends are q - p - sqrt((q - l')² + (u - p)²) and q - p + sqrt((u' - q)² + (p - l)²).
    """
    down, up = np.hypot(q - of_q[0], of_p[1] - p), np.hypot(of_q[1] - q, p - of_p[0])
    return float(q - p - down), float(q - p + up)


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Cochran's test of whether several runs say yes equally often on the same items."""

    q: float
    "NaN if no item differs between the runs, or there are fewer than two runs"
    df: int
    p: float
    "by chi-squared with df degrees of freedom"
    n: int
    "items decided in all runs"
    differ: int
    "those of the n items on which the runs differ; the approximation needs about 24 / runs or more"


def cochran_q(yes: npt.ArrayLike) -> CochranQ:
    """Return Cochran's test of (items, runs), 1 for yes and 0 for no.

    Q = (k - 1) (k Σ C_j² - N²) / (k N - Σ R_i²), of column sums C, row sums R and their total N.

    Examples
    --------
    >>> found = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]])
    >>> round(found.q, 3), found.df, round(found.p, 3), found.n, found.differ
    (6.0, 2, 0.05, 6, 4)
    """
    from scipy.special import chdtrc

    table = np.atleast_2d(np.asarray(yes, dtype=np.float64))
    n, runs = table.shape
    rows = table.sum(axis=1)
    differ = int(np.count_nonzero((rows > 0) & (rows < runs)))
    df = max(0, runs - 1)
    if not differ or runs < 2:
        return CochranQ(float("nan"), df, float("nan"), n, differ)
    total = table.sum()
    columns = table.sum(axis=0)
    q = df * (runs * (columns**2).sum() - total**2) / (runs * total - (rows**2).sum())
    return CochranQ(float(q), df, float(chdtrc(df, q)), n, differ)


Tables = list[npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The result of a test of homogeneity within strata."""

    statistic: float
    "sum over strata of Pearson's chi-squared; NaN if undefined"
    p: float
    strata: int
    "informative strata: with answers of two groups or more that are not all equal"
    answers: int
    "in these strata"
    undefined: str = ""
    "the reason why there is no test; empty if there is one"


def heterogeneity(
    tables: Iterable[npt.NDArray[np.int64]],
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Heterogeneity:
    """Test whether the distribution over columns (answers) depends on the row (group).

    It tests all tables (strata) together, for a dependence in any of them.

    X2 = sum over strata of sum (n_rc - e_rc)^2 / e_rc with e_rc = n_r. n_.c / n; its null
    distribution comes from tables with the same margins, drawn independently in each stratum; p =
    (1 + #{X2* >= X2}) / (1 + permutations).

    Notes
    -----
    A stratum is excluded, because its X2 is constant, if it has one group, if all its answers are
    equal, or if no two of them are equal. If no stratum remains there is no test, and `undefined`
    gives the reason.

    References
    ----------
    Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol.
    9(1): 39.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> heterogeneity([np.array([[9, 0], [0, 9]])], rng).p
    0.0005
    >>> heterogeneity([np.array([[9, 1]])], rng).undefined
    'there is one group only'
    """
    all_tables = [np.asarray(table, dtype=np.int64) for table in tables]
    shared = [
        nonempty
        for table in all_tables
        if (nonempty := table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]).shape[0] > 1
    ]
    informative = [table for table in shared if table.shape[1] > 1 and table.sum(axis=0).max() > 1]
    if reason := _why_none(all_tables, shared, informative):
        return Heterogeneity(float("nan"), float("nan"), 0, 0, reason)
    observed = sum(_chi_squared(table[None])[0] for table in informative)
    permuted: npt.NDArray[np.float64] = np.zeros(permutations)
    for table in informative:
        permuted += _chi_squared(_shuffled(table, rng, permutations))
    reached = int((permuted >= observed * (1 - 1e-12)).sum())
    return Heterogeneity(
        float(observed),
        (1 + reached) / (1 + permutations),
        len(informative),
        int(sum(table.sum() for table in informative)),
    )


def _why_none(every: Tables, shared: Tables, telling: Tables) -> str:
    """Return why there is nothing to test, or an empty string if there is a test."""
    if not any(table.sum() for table in every):
        return "there are no answers"
    if max(table.shape[0] for table in every) < 2:
        return "there is one group only"
    if not shared:
        return "no prompt was answered in two groups"
    if not telling:
        return "of no prompt are some answers equal and others not"
    return ""


def _chi_squared(tables: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return Pearson's chi-squared of tables (draws, rows, columns) without empty margins."""
    total = tables.sum(axis=(1, 2), keepdims=True)
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / total
    statistics: npt.NDArray[np.float64] = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
    return statistics


def _shuffled(
    table: npt.NDArray[np.int64], rng: np.random.Generator, draws: int
) -> npt.NDArray[np.int64]:
    """Return random tables with the margins of this one, for groups without an effect."""
    remaining = np.tile(table.sum(axis=0), (draws, 1))
    rows: list[npt.NDArray[np.int64]] = []
    for size in table.sum(axis=1)[:-1]:
        rows.append(_taken(remaining, int(size), rng))
        remaining = remaining - rows[-1]
    return np.stack([*rows, remaining], axis=1)


def _taken(
    left: npt.NDArray[np.int64], size: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw `size` answers without replacement from the remaining answers of each draw.

    They are drawn column by column.
    """
    taken = np.zeros_like(left)
    n_wanted = np.full(len(left), size)
    beyond = left.sum(axis=1)
    for column in range(left.shape[1] - 1):
        beyond = beyond - left[:, column]
        taken[:, column] = hypergeometric(left[:, column], beyond, n_wanted, rng)
        n_wanted = n_wanted - taken[:, column]
    taken[:, -1] = n_wanted
    return taken
