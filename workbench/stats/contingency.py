"""Two-rater coefficients from square tables of counts, many tables at once.

A table's cell (i, j) counts the items to which the first rater gave category i and the second
category j. Tables are stacked in leading axes: (..., q, q) in, (...) out, NaN where a coefficient
is undefined. `agreement` gives the reason.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray


def observed_agreement(tables: npt.ArrayLike) -> FloatArray:
    """Return p_o = Σ_i n_ii / N, or NaN if the table is empty.

    Examples
    --------
    >>> float(observed_agreement([[20, 5], [10, 15]]))
    0.7
    """
    counts = np.asarray(tables, dtype=np.float64)
    return _ratio(_agreeing(counts), counts.sum(axis=(-2, -1)))


def kappa(tables: npt.ArrayLike) -> FloatArray:
    """Return Cohen's κ = (p_o - p_e) / (1 - p_e), p_e = Σ_i n_i. n_.i / N².

    NaN if p_e = 1, that is, if both raters gave one and the same category throughout, and if the
    table is empty. If only one of the raters always gives the same category, κ = 0. All steps
    before the last division use whole numbers, so that neither case depends on rounding.

    References
    ----------
    Cohen 1960, A coefficient of agreement for nominal scales, equation 1.

    Examples
    --------
    >>> float(kappa([[20, 5], [10, 15]]))
    0.4
    """
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1)
    return _ratio(total * _agreeing(counts) - chance, total * total - chance)


def gwet_ac1(tables: npt.ArrayLike) -> FloatArray:
    """Return Gwet's AC1 = (p_o - p_e) / (1 - p_e).

    p_e = Σ_i π_i (1 - π_i) / (q - 1) and π_i = (n_i. + n_.i) / 2N.

    The size q of the table is the number of offered categories, used or not. AC1 is defined if
    there is at least one pair: when all answers are equal, p_e = 0 and AC1 = 1.

    References
    ----------
    Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement.

    Examples
    --------
    >>> round(float(gwet_ac1([[20, 5], [10, 15]])), 4)
    0.4059
    """
    counts = np.asarray(tables, dtype=np.float64)
    observed = observed_agreement(counts)
    shares = _ratio(
        counts.sum(axis=-1) + counts.sum(axis=-2), 2 * counts.sum(axis=(-2, -1))[..., None]
    )
    chance = (shares * (1 - shares)).sum(axis=-1) / (counts.shape[-1] - 1)
    return np.asarray((observed - chance) / (1 - chance), dtype=np.float64)


def _agreeing(counts: FloatArray) -> FloatArray:
    return np.asarray(np.trace(counts, axis1=-2, axis2=-1), dtype=np.float64)


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the quotient, or NaN where the denominator is 0."""
    return np.asarray(numerator / np.where(denominator == 0, np.nan, denominator), dtype=np.float64)
