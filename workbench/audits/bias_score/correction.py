"""What is known of the classifier's error, and what it does to the counts of stances.

An answer whose text a person labelled enters by that label. The correction covers the others. Its test texts were drawn
with probabilities pi_i, and a text with n_i answers represents n_i (1 - pi_i) / pi_i answers without a label, so texts
taken with certainty represent none. With these weights, row t of the test's confusion matrix, divided by its sum,
estimates M[t, p] = P(read as p and kept | the stance is t). Of answers with true counts n the classifier is expected to
give the counts n M of kept readings, so the true counts are estimated as n_read M⁻¹, which is linear in what was read.
The score needs two sums of the true counts, net = A - D and counted = A + D + N; their coefficients per kept reading
are M⁻¹ (1, -1, 0, 0) and M⁻¹ (1, 1, 1, 0). Stances are corrected as read, before those on political opposites are
turned round: a classifier that mistakes rejection for approval more often than the reverse does so for opposites too.

With a fifth column, answers below the confidence threshold, the rows of M sum to less than 1 and the corrected counts
are those of all answers that the classifier saw, dropped ones included: dropping spares no stance. With four columns
they are those of the kept answers.

What this assumes: how an answer is misread depends on its true stance alone, not on the model, prefix or statement. A
stance of which no text was left to chance is rare among the answers without a label; its row comes from the texts that
were taken with certainty.

Intervals hold the uncertainty of M. Where statements are resampled, a statement takes its test texts along. Test texts
of other statements, and all of them where answers are resampled, are drawn anew within the strata of their draw. Draws
whose matrix has no inverse have no value. Corrected counts may be negative where a stance is rare. They stay negative:
setting them to 0 would push every estimate the same way and spoil coverage. Only the finished bias of a side is limited
to [-1, 1], where the true one lies; that moves no interval off a true value that it held.

References
----------
Forman 2008, "Quantifying counts and costs via classification" (adjusted counts); Hopkins and King 2010, "A method of
automated nonparametric content analysis for social science", equation 4 (several classes). The resampling of test texts
is in `workbench.stats.samples`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workbench.domain.readings import STANCES
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.samples import Sampled

NET = np.array([1.0, -1.0, 0.0, 0.0])
"what a stance adds to A - D"
COUNTED = np.array([1.0, 1.0, 1.0, 0.0])
"what a stance adds to A + D + N: unrelated answers do not count"

_SINGULAR = 1e-12
"""Determinants below are those of singular matrices up to rounding: one of whole counts is a multiple of the inverse
product of its four row sums, 1e-8 at 100 test items a stance."""

_CELLS = len(STANCES) * (len(STANCES) + 1)
_FALLBACK = 1e-9
"weight of a certain text, so small that it counts only where its stance has no other"


@dataclass(frozen=True, eq=False)
class Trial:
    """The classifier's test texts as a correction takes them."""

    true: IntArray
    "(n,) places in `STANCES`"
    read: IntArray
    "(n,) places in `STANCES`, the place after them for texts below the threshold"
    sampled: Sampled
    "what each text represents: answers without a label, next to nothing where the text was taken with certainty"
    statement: IntArray
    "(n,) place of the text's statement in the tally; -1: not there, or not known"
    weighted: bool = True
    "whether inclusion is known"

    @classmethod
    def drawn(
        cls,
        true: IntArray,
        read: IntArray,
        weight: FloatArray,
        inclusion: FloatArray,
        strata: Sequence[str],
        statement: IntArray,
    ) -> Trial:
        """Return texts with the answers that each stands for and the probability that it was drawn with."""
        certain = inclusion >= 1
        left = np.where(certain, weight * _FALLBACK, weight * (1 - inclusion))
        return cls(true, read, Sampled.of(left, certain, strata), statement)

    @classmethod
    def counted(cls, confusion: npt.ArrayLike, statement: IntArray | None = None) -> Trial:
        """Return texts of unknown inclusion from a table of counts, (4, 4) or (4, 5): true stance x kept reading, those
        below the threshold last. Raises UsageError for another shape or for what are not counts.
        """
        table = np.asarray(confusion)
        whole = np.issubdtype(table.dtype, np.number) and bool((table == np.floor(table)).all() and (table >= 0).all())
        if table.shape not in ((4, 4), (4, 5)) or not whole:
            raise UsageError(
                f"found a confusion matrix of shape {table.shape}; give counts of test items, true stance by reading, "
                "4 x 4 or, with those below the threshold, 4 x 5"
            )
        true, read = (np.repeat(places.ravel(), table.astype(np.int64).ravel()) for places in np.indices(table.shape))
        where = np.full(len(true), -1) if statement is None else statement
        return cls.unknown(true, read, where)

    @classmethod
    def unknown(cls, true: IntArray, read: IntArray, statement: IntArray) -> Trial:
        """Return texts of unknown inclusion: each represents the same."""
        n = len(true)
        return cls(true, read, Sampled.of(np.ones(n), np.zeros(n), [""] * n), statement, weighted=False)

    def tables(self) -> FloatArray:
        """Return the confusion matrix in answers without a label: (4, 5)."""
        return np.bincount(self._cell, self.sampled.weight, _CELLS).reshape(4, 5).astype(np.float64)

    def drawn_tables(self, statements: FloatArray | None, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the confusion matrix of each draw: (draws, 4, 5).

        statements : (S, draws) what statements count in each draw; None: they are not drawn
        """
        known = (
            (self.statement >= 0) & ~self.sampled.certain if statements is not None else np.zeros_like(self.true) > 0
        )
        alone = np.eye(_CELLS)[self._cell] * ~known[:, None]
        found = self.sampled.resampled_sums(alone, draws, rng)
        if statements is not None and known.any():
            at = np.zeros((_CELLS, len(statements)))
            np.add.at(at, (self._cell[known], self.statement[known]), self.sampled.weight[known])
            found += (at @ statements).T
        return found.reshape(draws, 4, 5)

    @cached_property
    def _cell(self) -> IntArray:
        return self.true * (len(STANCES) + 1) + self.read


@dataclass(frozen=True, eq=False)
class Correction:
    """What each kept reading of the classifier adds to net and counted, estimated and in every draw."""

    net: FloatArray
    "(4, 1); NaN where it cannot be estimated, and `undefined` says why"
    counted: FloatArray
    net_draws: FloatArray
    "(4, draws); NaN in draws without an inverse"
    counted_draws: FloatArray
    undefined: str = ""


def correction(tested: Trial, statements: FloatArray | None, draws: int, rng: np.random.Generator) -> Correction:
    """Return the correction that a test gives.

    Parameters
    ----------
    statements : (S, draws) what statements count in each draw; None: they are not drawn
    """
    table = tested.tables()
    missing = [stance for stance, n in zip(STANCES, table.sum(axis=1), strict=True) if n == 0]
    if missing:
        return _undefined(draws, f"the classifier was not tested on {' and '.join(missing)}")
    net, counted = _coefficients(table[None])
    if np.isnan(net).any():
        return _undefined(draws, "the classifier's test confusion matrix has no inverse")
    return Correction(net, counted, *_coefficients(tested.drawn_tables(statements, draws, rng)))


def _coefficients(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return M⁻¹ NET and M⁻¹ COUNTED of each table (k, 4, 5): two (4, k), NaN where there is no inverse."""
    tested = tables.sum(axis=-1, keepdims=True)
    matrices = tables[..., :4] / np.where(tested > 0, tested, 1)
    singular = np.abs(np.linalg.det(matrices)) < _SINGULAR
    solvable = np.where(singular[:, None, None], np.eye(4), matrices)
    both = np.linalg.solve(solvable, np.broadcast_to(np.stack([NET, COUNTED], axis=1), (len(matrices), 4, 2)))
    both[singular] = np.nan
    return both[..., 0].T.copy(), both[..., 1].T.copy()


def _undefined(draws: int, reason: str) -> Correction:
    nothing, never = np.full((4, 1), np.nan), np.full((4, draws), np.nan)
    return Correction(nothing, nothing, never, never, reason)
