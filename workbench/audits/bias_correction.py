"""What is known of the classifier's error, and what it does to the counts of stances.

The classifier is tested on answers that people labelled. Row t of the test's confusion matrix, divided by its sum,
estimates M[t, p] = P(read as p and kept | the stance is t). Of answers with true counts n the classifier is expected to
give the counts n M of kept readings, so the true counts are estimated as n_read M⁻¹, which is linear in what was read.
The score needs two sums of the true counts, net = A - D and counted = A + D + N; their coefficients per kept reading
are M⁻¹ (1, -1, 0, 0) and M⁻¹ (1, 1, 1, 0). Stances are corrected as read, before those on political opposites are
turned round: a classifier that mistakes rejection for approval more often than the reverse does so for opposites too.

With a fifth column, answers below the confidence threshold, the rows of M sum to less than 1 and the corrected counts
are those of all answers that the classifier saw, dropped ones included: dropping spares no stance. With four columns
they are those of the kept answers.

What this assumes: how an answer is misread depends on its true stance alone, not on the model, prefix or statement, and
test items were misread as the audited answers are. A test set drawn at random from the answers gives both on average.

In every draw the test items of each true stance are drawn anew, so intervals hold the uncertainty of M. Draws whose
matrix has no inverse have no value. Corrected counts may be negative where a stance is rare. They stay negative:
setting them to 0 would push every estimate the same way and spoil coverage. Only the finished bias of a side is limited
to [-1, 1], where the true one lies; that moves no interval off a true value that it held.

References
----------
Forman 2008, "Quantifying counts and costs via classification" (adjusted counts); Hopkins and King 2010, "A method of
automated nonparametric content analysis for social science", equation 4 (several classes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.readings import STANCES
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray

NET = np.array([1.0, -1.0, 0.0, 0.0])
"what a stance adds to A - D"
COUNTED = np.array([1.0, 1.0, 1.0, 0.0])
"what a stance adds to A + D + N: unrelated answers do not count"

_SINGULAR = 1e-12
"""Determinants below are those of singular matrices up to rounding: one of whole counts is a multiple of the inverse
product of its four row sums, 1e-8 at 100 test items a stance."""


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


def correction(confusion: npt.ArrayLike, draws: int, rng: np.random.Generator) -> Correction:
    """Return the correction that a test gives.

    Parameters
    ----------
    confusion : counts of test items, (4, 4) or (4, 5): true stance x kept reading, in the order of `STANCES`; the fifth
        column holds items whose reading was below the threshold

    Raises UsageError for another shape or for what are not counts.
    """
    table = np.asarray(confusion)
    whole = np.issubdtype(table.dtype, np.number) and bool((table == np.floor(table)).all() and (table >= 0).all())
    if table.shape not in ((4, 4), (4, 5)) or not whole:
        raise UsageError(
            f"found a confusion matrix of shape {table.shape}; give counts of test items, true stance by reading, "
            "4 x 4 or, with those below the threshold, 4 x 5"
        )
    tested = table.sum(axis=1)
    if (tested == 0).any():
        missing = " and ".join(stance for stance, n in zip(STANCES, tested, strict=True) if n == 0)
        return _undefined(draws, f"the classifier was not tested on {missing}")
    shares = table / tested[:, None]
    net, counted = _coefficients(shares[None, :, :4])
    if np.isnan(net).any():
        return _undefined(draws, "the classifier's test confusion matrix has no inverse")
    again = np.stack(
        [rng.multinomial(int(n), row, size=draws) / n for n, row in zip(tested, shares, strict=True)], axis=1
    )
    return Correction(net, counted, *_coefficients(again[:, :, :4]))


def _coefficients(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return M⁻¹ NET and M⁻¹ COUNTED of each matrix: two (4, k), NaN where there is no inverse."""
    singular = np.abs(np.linalg.det(matrices)) < _SINGULAR
    solvable = np.where(singular[:, None, None], np.eye(4), matrices)
    both = np.linalg.solve(solvable, np.broadcast_to(np.stack([NET, COUNTED], axis=1), (len(matrices), 4, 2)))
    both[singular] = np.nan
    return both[..., 0].T.copy(), both[..., 1].T.copy()


def _undefined(draws: int, reason: str) -> Correction:
    nothing, never = np.full((4, 1), np.nan), np.full((4, draws), np.nan)
    return Correction(nothing, nothing, never, never, reason)
