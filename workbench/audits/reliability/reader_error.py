"""What the reader's own errors do to the figures of a run, by its random control sample.

Auditors look at what fails first. Their right readings turn failed statements into passed ones and
hardly ever passed ones into failed ones, so figures drift upwards with every ruling. Here only
rulings that leave answers out count, and misreadings enter at the rate at which the control sample
found them, on passed and on failed statements.

The counts of right readings are drawn given what was read, prompt by prompt. An answer is rightly k
where it was read r with a probability proportional to θ_k M_kr: M is how the reader reads answers
of each kind, by the control sample with its strata weighted to their sizes, and θ are the shares of
the prompt, Dirichlet around those of its statement with a spread that the prompts tell. Gibbs
sampling alternates the two, with a new M from its own posterior in each sweep. (The right reading
given what was read alone would scatter answers that agree: a steady model would waver.) Statements
are resampled in each draw. Misreadings are taken as independent of one another; the interval of a
reader that errs on whole statements should be wider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workbench.audits.reliability.agreement import agreement
from workbench.audits.reliability.counting import ALL, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.domain.names import in_words
from workbench.domain.readings import Stance
from workbench.domain.verdicts import Estimate
from workbench.evidence.control_sample import Control
from workbench.figures.shown import estimate, number
from workbench.figures.table import Column, Kind, Table
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.resampling import derive_rng, percentile_interval

T = TypeVar("T", bound=np.generic)
DRAWS = 100
READINGS = (Stance.AGREE.value, Stance.DISAGREE.value, None)
"the last one: nothing that could be read"
SUPPOSED = np.where(np.eye(3, dtype=np.bool_), 0.8, 0.1)
"""answers, one of each kind, that are supposed beside the decided ones, so that no error seen is
not no error"""
BURNED, APART = 20, 3
"sweeps before the first draw, and from one to the next"


@dataclass(frozen=True, slots=True)
class Standing:
    """The figures of a run under one way of reading it."""

    name: str
    passing: Estimate
    kappas: Mapping[str, Estimate]
    """name of a comparison -> mean κ over templates, with the second stance turned round where that
    is expected"""


@dataclass(frozen=True, eq=False)
class ReaderError:
    """The figures of a run by what the control sample says of its reader."""

    as_read: ReliabilityReport
    "without right readings by auditors, without what they leave out"
    as_ruled: ReliabilityReport
    control: Control
    draws: int = DRAWS

    @cached_property
    def decided(self) -> tuple[FloatArray, ...]:
        """How often a reading was which right one: (right, read), (3, 3), of each stratum."""
        found = []
        for stratum in self.control.strata():
            counts = np.zeros((3, 3))
            for (read, right), n in self.control.readings(stratum.name).items():
                counts[_place(right), _place(read)] += n
            found.append(counts)
        return tuple(found)

    @cached_property
    def crossed(self) -> FloatArray:
        """The same of all strata, weighted to their sizes, as many answers as the weighted ones are
        worth (Kish).
        """
        sizes = np.array([one.size for one in self.control.strata()], dtype=np.float64)
        n = np.array([of.sum() for of in self.decided])
        each = sizes / n
        joint = sum(of * weight for of, weight in zip(self.decided, each, strict=True))
        return np.asarray(joint / sizes.sum() * (n @ each) ** 2 / (n @ each**2))

    @cached_property
    def rows(self) -> tuple[Standing, ...]:
        """The figures as read, as ruled if that differs, and with the reader's error."""
        read, ruled = self.as_read.counts, self.as_ruled.counts
        same = np.array_equal(read.positive, ruled.positive) and np.array_equal(
            read.negative, ruled.negative
        )
        anew = [] if same else [_standing("as ruled", self.as_ruled)]
        return (_standing("as read", self.as_read), *anew, self.corrected)

    @cached_property
    def corrected(self) -> Standing:
        """The figures that right readings of all answers would give, as far as the control sample
        tells.
        """
        name, n = "with the reader's error", self.as_read.passing(ALL).n
        if not all(of.any() for of in self.decided):
            why = (
                "no control answer is decided yet on statements that pass, or on those that do not"
            )
            undefined = Estimate(np.nan, np.nan, np.nan, n, 0, why)
            return Standing(
                name,
                undefined,
                {row.name: undefined for row in agreement(self.as_read, intervals=False)},
            )
        drawn = [_standing("", one) for one in self._drawn()]
        kappas = {
            each: _over(
                [one.kappas[each].value for one in drawn], found.n, "κ with the reader's error"
            )
            for each, found in drawn[0].kappas.items()
        }
        return Standing(
            name,
            _over([one.passing.value for one in drawn], n, "share with the reader's error"),
            kappas,
        )

    def _drawn(self) -> Iterator[ReliabilityReport]:
        report = self.as_read
        rng = derive_rng(report.options.seed, "reader error")
        for counts in right_readings(report.counts, self.crossed, self.draws, rng):
            places = rng.integers(len(counts.statements), size=len(counts.statements)).tolist()
            yield judge(counts.of(places), report.options)


def _place(reading: str | None) -> int:
    return READINGS.index(reading) if reading in READINGS else 2


def right_readings(
    counts: Counts, crossed: FloatArray, draws: int, rng: np.random.Generator
) -> Iterator[Counts]:
    """Yield draws of counts in which every answer has its right reading.

    crossed : (right, read), (3, 3), numbers of decided answers
    """
    signs = counts.signs[None, :, :, None, None] < 0
    read = np.stack([counts.positive, counts.negative, counts.unreadable], axis=-1).astype(np.int64)
    right = read
    for sweep in range(BURNED + draws * APART):
        reads = np.stack([rng.dirichlet(row) for row in crossed + SUPPOSED])  # P(read | right)
        prior = np.where(
            signs, _turned(around := _prior(np.where(signs, _turned(right), right))), around
        )
        shares = rng.standard_gamma(right + prior)
        odds = shares[..., None] * reads  # (T, S, V, 2, right, read)
        odds /= np.maximum(odds.sum(axis=-2, keepdims=True), 1e-300)
        right = np.sum([rng.multinomial(read[..., at], odds[..., at]) for at in range(3)], axis=0)
        if sweep >= BURNED and (sweep - BURNED) % APART == 0:
            positive, negative, unreadable = (right[..., at].astype(np.int32) for at in range(3))
            yield replace(counts, positive=positive, negative=negative, unreadable=unreadable)


def _turned(readings: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return (..., 3) with the two stances exchanged."""
    return readings[..., [1, 0, 2]]


def _prior(right: IntArray) -> FloatArray:
    """Return the parameters of the Dirichlet distribution of the prompts' shares: (1, S, 1, 1, 3).

    They are around the shares of the statement, over all of its prompts turned to say the same,
    with one spread.

    right : (T, S, V, 2, 3)
    """
    n = right.sum(axis=-1, keepdims=True)
    every = right.sum(axis=(0, 2, 3)) + 1 / 3
    mean = (every / every.sum(axis=1, keepdims=True))[None, :, None, None]
    there = n[..., 0] > 1
    shares = right / np.maximum(n, 1)
    within = shares * (1 - shares) / np.maximum(n - 1, 1)
    between = float((((shares - mean) ** 2 - within).sum(axis=-1))[there].sum())
    whole = float(np.broadcast_to((mean * (1 - mean)).sum(axis=-1), there.shape)[there].sum())
    spread = np.clip(whole / max(between, 1e-6 * max(whole, 1e-6)) - 1, 0.05, 1e3)
    return np.asarray(mean * spread)


def _standing(name: str, report: ReliabilityReport) -> Standing:
    kappas = {
        row.name: Estimate(row.flipped_mean.mean, np.nan, np.nan, row.flipped_mean.n)
        for row in agreement(report, intervals=False)
    }
    return Standing(name, report.passing(ALL), kappas)


def _over(values: Sequence[float], n: int, interval: str) -> Estimate:
    known = np.array(values)
    low, high = (float(end) for end in percentile_interval(known))
    if np.isnan(low):
        return Estimate(np.nan, np.nan, np.nan, n, 0, "undefined in most draws")
    return Estimate(float(np.nanmean(known)), low, high, n, interval=interval)


def table(of: ReaderError) -> Table[Standing]:
    """Return pass rate and κ as read, as ruled, and with the reader's error."""
    decided, rate = round(sum(float(one.sum()) for one in of.decided)), of.control.rate
    return Table(
        "reader_error",
        "With the reader's error",
        of.rows,
        [
            Column("reading", "answers", lambda row: row.name, main=True),
            Column(
                "passing", "passes all tests", lambda row: row.passing, Kind.SHARE, scale=(0, 1)
            ),
            Column("statements", "n", lambda row: row.passing.n, Kind.COUNT),
            *map(_kappa, of.rows[0].kappas),
        ],
        key=lambda row: (row.name,),
        definition="As read: without right readings by auditors, which move figures upwards "
        "where they look at "
        "failures alone. With the reader's error: each answer is drawn to be what the control "
        "sample says of such a "
        "reading.",
        notes=[
            f"Control sample: {decided:,} answers decided, misread {estimate(rate, Kind.SHARE)}."
        ],
    )


def _kappa(name: str) -> Column[Standing]:
    return Column(
        f"kappa_{name}",
        f"κ {in_words(name)}",
        lambda row: row.kappas[name],
        Kind.COEFFICIENT,
        help="mean over templates",
    )


def said(of: ReaderError) -> str:
    """Say which share of statements passes with the reader's error, beside the one as ruled; ""
    where it is undefined or reads the same.
    """
    ruled, corrected = of.as_ruled.passing(ALL), of.corrected.passing
    if not corrected.defined or number(corrected.value, Kind.SHARE) == number(
        ruled.value, Kind.SHARE
    ):
        return ""
    return (
        "with the reader's error by the control sample "
        f"{estimate(of.corrected.passing, Kind.SHARE)}, as ruled "
        f"{estimate(of.as_ruled.passing(ALL), Kind.SHARE)}"
    )
