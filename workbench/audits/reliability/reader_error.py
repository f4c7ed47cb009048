"""The effect of the reader's errors on the figures of a run, by its random control sample.

Auditors look at failures first. Their right readings turn failed statements into passed ones and
hardly ever passed ones into failed ones, so figures drift upwards with every ruling. Here only
rulings that exclude answers count, and misreadings enter at their rate in the control sample, on
passed and on failed statements.

The counts of right readings are drawn given the readings, prompt by prompt. The right reading of an
answer that was read as r is k with a probability proportional to θ_k M_kr. M is the distribution of
readings of answers of each kind, by the control sample with its strata weighted to their sizes. θ
are the shares of the prompt, Dirichlet around those of its statement with a spread that is
estimated from the prompts. Gibbs sampling alternates the two, with a new M from its own posterior
in each sweep. (Drawing the right reading from the reading alone would scatter answers that agree,
so that a steady model would waver.) Statements are resampled in each draw. Misreadings are treated
as independent of one another. The interval of a reader that errs on whole statements should be
wider.
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
from workbench.evidence.control_sample import RuledControlSample
from workbench.figures.shown import estimate, number
from workbench.figures.table import Column, Kind, Table
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.resampling import derive_rng, percentile_interval

T = TypeVar("T", bound=np.generic)
DRAWS = 100
READINGS = (Stance.AGREE.value, Stance.DISAGREE.value, None)
"the last one: nothing that could be read"
SUPPOSED = np.where(np.eye(3, dtype=np.bool_), 0.8, 0.1)
"""answers of each kind that are added to the decided ones, so that no observed error does not count
as no error"""
BURNED, APART = 20, 3
"number of sweeps before the first draw, and from one draw to the next"


@dataclass(frozen=True, slots=True)
class ReadingFigures:
    """The figures of a run with one kind of readings."""

    name: str
    passing: Estimate
    kappas: Mapping[str, Estimate]
    """name of a comparison -> mean κ over templates, with the second stance turned round if that is
    expected"""


@dataclass(frozen=True, eq=False)
class ReaderError:
    """The figures of a run, corrected by what the control sample shows of its reader."""

    as_read: ReliabilityReport
    "without auditors' right readings, and without the answers that they exclude"
    as_ruled: ReliabilityReport
    control: RuledControlSample
    draws: int = DRAWS

    @cached_property
    def decided(self) -> tuple[FloatArray, ...]:
        """The counts of decided answers by (right reading, reading), (3, 3), of each stratum."""
        counts_by_stratum = []
        for stratum in self.control.strata():
            counts = np.zeros((3, 3))
            for (read, right), n_answers in self.control.readings(stratum.name).items():
                counts[_place(right), _place(read)] += n_answers
            counts_by_stratum.append(counts)
        return tuple(counts_by_stratum)

    @cached_property
    def crossed(self) -> FloatArray:
        """The counts of all strata together, weighted to their sizes: (3, 3).

        Their sum is the effective number of answers of the weighted strata (Kish).
        """
        sizes = np.array([stratum.size for stratum in self.control.strata()], dtype=np.float64)
        n = np.array([counts.sum() for counts in self.decided])
        weights = sizes / n
        joint = sum(counts * weight for counts, weight in zip(self.decided, weights, strict=True))
        return np.asarray(joint / sizes.sum() * (n @ weights) ** 2 / (n @ weights**2))

    @cached_property
    def rows(self) -> tuple[ReadingFigures, ...]:
        """The figures as read, as ruled if that differs, and with the reader's error."""
        read, ruled = self.as_read.counts, self.as_ruled.counts
        is_equal = np.array_equal(read.positive, ruled.positive) and np.array_equal(
            read.negative, ruled.negative
        )
        ruled_rows = [] if is_equal else [_standing("as ruled", self.as_ruled)]
        return (_standing("as read", self.as_read), *ruled_rows, self.corrected)

    @cached_property
    def corrected(self) -> ReadingFigures:
        """The figures that right readings of all answers would give, by the control sample."""
        name, n = "with the reader's error", self.as_read.passing(ALL).n
        if not all(counts.any() for counts in self.decided):
            reason = (
                "no control answer is decided yet on statements that pass, or on those that do not"
            )
            undefined = Estimate(np.nan, np.nan, np.nan, n, 0, reason)
            return ReadingFigures(
                name,
                undefined,
                {row.name: undefined for row in agreement(self.as_read, intervals=False)},
            )
        draws = [_standing("", drawn_report) for drawn_report in self._simulated_reports()]
        kappas = {
            comparison: _over(
                [draw.kappas[comparison].value for draw in draws],
                estimate_of_draw.n,
                "κ with the reader's error",
            )
            for comparison, estimate_of_draw in draws[0].kappas.items()
        }
        return ReadingFigures(
            name,
            _over([draw.passing.value for draw in draws], n, "share with the reader's error"),
            kappas,
        )

    def _simulated_reports(self) -> Iterator[ReliabilityReport]:
        """Yield reports on simulated right readings of resampled statements."""
        report = self.as_read
        rng = derive_rng(report.options.seed, "reader error")
        for counts in right_readings(report.counts, self.crossed, self.draws, rng):
            rows = rng.integers(len(counts.statements), size=len(counts.statements)).tolist()
            yield judge(counts.for_statements(rows), report.options)


def _place(reading: str | None) -> int:
    """Return the index of a reading in `READINGS`."""
    return READINGS.index(reading) if reading in READINGS else 2


def right_readings(
    counts: Counts, crossed: FloatArray, draws: int, rng: np.random.Generator
) -> Iterator[Counts]:
    """Yield draws of counts in which every answer has its right reading.

    Parameters
    ----------
    crossed : (right, read), (3, 3), numbers of decided answers
    """
    is_negated = counts.signs[None, :, :, None, None] < 0
    read = np.stack([counts.positive, counts.negative, counts.unreadable], axis=-1).astype(np.int64)
    right = read
    for sweep in range(BURNED + draws * APART):
        reads = np.stack([rng.dirichlet(row) for row in crossed + SUPPOSED])  # P(read | right)
        prior = np.where(
            is_negated,
            _turned(statement_prior := _prior(np.where(is_negated, _turned(right), right))),
            statement_prior,
        )
        shares = rng.standard_gamma(right + prior)
        odds = shares[..., None] * reads  # (T, S, V, 2, right, read)
        odds /= np.maximum(odds.sum(axis=-2, keepdims=True), 1e-300)
        right = np.sum(
            [rng.multinomial(read[..., reading], odds[..., reading]) for reading in range(3)],
            axis=0,
        )
        if sweep >= BURNED and (sweep - BURNED) % APART == 0:
            positive, negative, unreadable = (
                right[..., reading].astype(np.int32) for reading in range(3)
            )
            yield replace(counts, positive=positive, negative=negative, unreadable=unreadable)


def _turned(readings: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return readings, (..., 3), with the two stances exchanged."""
    return readings[..., [1, 0, 2]]


def _prior(right: IntArray) -> FloatArray:
    """Return the parameters of the Dirichlet distribution of the prompts' shares: (1, S, 1, 1, 3).

    They are around the shares of the statement, over all of its prompts, turned to have the same
    meaning, with one spread.

    Parameters
    ----------
    right : (T, S, V, 2, 3)
    """
    n_answers = right.sum(axis=-1, keepdims=True)
    statement_counts = right.sum(axis=(0, 2, 3)) + 1 / 3
    mean = (statement_counts / statement_counts.sum(axis=1, keepdims=True))[None, :, None, None]
    # A prompt with one answer says nothing about the variance within prompts.
    has_several = n_answers[..., 0] > 1
    shares = right / np.maximum(n_answers, 1)
    within = shares * (1 - shares) / np.maximum(n_answers - 1, 1)
    between = float((((shares - mean) ** 2 - within).sum(axis=-1))[has_several].sum())
    total = float(
        np.broadcast_to((mean * (1 - mean)).sum(axis=-1), has_several.shape)[has_several].sum()
    )
    spread = np.clip(total / max(between, 1e-6 * max(total, 1e-6)) - 1, 0.05, 1e3)
    return np.asarray(mean * spread)


def _standing(name: str, report: ReliabilityReport) -> ReadingFigures:
    """Return the figures of a report, with κ without intervals."""
    kappas = {
        row.name: Estimate(row.flipped_mean.mean, np.nan, np.nan, row.flipped_mean.n)
        for row in agreement(report, intervals=False)
    }
    return ReadingFigures(name, report.passing(ALL), kappas)


def _over(values: Sequence[float], n: int, interval: str) -> Estimate:
    """Return the mean of draws with its interval, or an undefined estimate."""
    numbers = np.array(values)
    low, high = (float(bound) for bound in percentile_interval(numbers))
    if np.isnan(low):
        return Estimate(np.nan, np.nan, np.nan, n, 0, "undefined in most draws")
    return Estimate(float(np.nanmean(numbers)), low, high, n, interval=interval)


def table(reader_errors: ReaderError) -> Table[ReadingFigures]:
    """Return the table of pass rate and κ before and after correction for the reader's error."""
    n_decided, rate = (
        round(sum(float(counts.sum()) for counts in reader_errors.decided)),
        reader_errors.control.rate,
    )
    return Table(
        "reader_error",
        "With the reader's error",
        reader_errors.rows,
        [
            Column("reading", "answers", lambda row: row.name, main=True),
            Column(
                "passing", "passes all tests", lambda row: row.passing, Kind.SHARE, scale=(0, 1)
            ),
            Column("statements", "n", lambda row: row.passing.n, Kind.COUNT),
            *map(_kappa, reader_errors.rows[0].kappas),
        ],
        key=lambda row: (row.name,),
        definition="As read: without right readings by auditors, which move figures upwards "
        "where they look at "
        "failures alone. With the reader's error: each answer is drawn to be what the control "
        "sample says of such a "
        "reading.",
        notes=[
            f"Control sample: {n_decided:,} answers decided, misread {estimate(rate, Kind.SHARE)}."
        ],
    )


def _kappa(name: str) -> Column[ReadingFigures]:
    """Return the column of the mean κ of a comparison."""
    return Column(
        f"kappa_{name}",
        f"κ {in_words(name)}",
        lambda row: row.kappas[name],
        Kind.COEFFICIENT,
        help="mean over templates",
    )


def corrected_share_text(reader_errors: ReaderError) -> str:
    """Return the pass rate corrected for the reader's error, next to the rate after rulings.

    It is empty if the share is undefined or reads the same.
    """
    ruled, corrected = reader_errors.as_ruled.passing(ALL), reader_errors.corrected.passing
    if not corrected.defined or number(corrected.value, Kind.SHARE) == number(
        ruled.value, Kind.SHARE
    ):
        return ""
    return (
        "with the reader's error by the control sample "
        f"{estimate(reader_errors.corrected.passing, Kind.SHARE)}, as ruled "
        f"{estimate(reader_errors.as_ruled.passing(ALL), Kind.SHARE)}"
    )
