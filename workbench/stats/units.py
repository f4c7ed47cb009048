"""Coefficients for any number of raters, from sums over units.

So many resamples are computed at once.

A unit is what was rated: a statement, a response. `agreement` converts its ratings to a row of
features, sums the rows over all units or over resampled ones, and passes the sums to the
coefficients here: (..., columns) in, (...) out, NaN where a coefficient is undefined.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray, IntArray, whole_numbers

Measurement = Literal["nominal", "ordinal"]

MISSING = int(np.iinfo(np.int8).min)
"code of a missing answer; -1 would collide with `disagree` coded as -1"


def category_counts(ratings: npt.ArrayLike) -> IntArray:
    """Return the number of ratings of each unit in each category that occurs: (units, q).

    Categories are in the order of their codes.
    """
    matrix = whole_numbers(ratings)
    if matrix.ndim != 2:
        raise ValueError(f"expected ratings of shape (units, raters), found {matrix.shape}")
    present = matrix != MISSING
    codes, index = np.unique(matrix[present], return_inverse=True)
    unit = np.nonzero(present)[0]
    flat = np.bincount(unit * len(codes) + index, minlength=len(matrix) * len(codes))
    return flat.reshape(len(matrix), len(codes))


def coincidence_matrices(counts: IntArray) -> FloatArray:
    """Return each unit's coincidence matrix, flat: (units, q²)."""
    ordered_pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(
        counts.shape[1], dtype=int
    )
    weighted = ordered_pairs / (counts.sum(axis=1) - 1)[:, None, None]
    return np.asarray(weighted.reshape(len(counts), counts.shape[1] ** 2), dtype=np.float64)


def alpha(sums: FloatArray, level: Measurement) -> FloatArray:
    """Return Krippendorff's alpha from flat coincidence matrices (..., q²).

    It is NaN with only one category.
    """
    q = round(sums.shape[-1] ** 0.5)
    coincidences = sums.reshape(*sums.shape[:-1], q, q)
    totals = coincidences.sum(axis=-1)
    if level == "nominal":
        distance = 1 - np.eye(q)
    else:
        midrank = np.cumsum(totals, axis=-1) - totals / 2
        distance = (midrank[..., :, None] - midrank[..., None, :]) ** 2
    observed = (coincidences * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    ratio = observed / np.where(expected == 0, np.nan, expected)
    return np.asarray(1 - (totals.sum(axis=-1) - 1) * ratio, dtype=np.float64)


def fleiss_features(counts: IntArray) -> FloatArray:
    """Return the features of each rated unit: (units, q + 3).

    They are the share of agreeing pairs, 1 if it has a pair, the category shares, and 1.
    """
    rated = counts[counts.sum(axis=1) >= 1]
    m = rated.sum(axis=1, keepdims=True)
    agreeing = (rated * (rated - 1)).sum(axis=1, keepdims=True) / np.maximum(m * (m - 1), 1)
    return np.hstack([agreeing, m >= 2, rated / m, np.ones_like(m)])


def fleiss(sums: FloatArray) -> FloatArray:
    """Return Fleiss' κ from summed `fleiss_features`.

    It is NaN with only one category or without pairs.
    """
    agreeing, pairable, rated = sums[..., 0], sums[..., 1], sums[..., -1]
    shares = sums[..., 2:-1]
    observed = agreeing / np.where(pairable == 0, np.nan, pairable)
    chance = ((shares / rated[..., None]) ** 2).sum(axis=-1)
    # exact, where 1 - chance == 0 would hinge on rounding.
    one_category = np.count_nonzero(shares, axis=-1) == 1
    return np.asarray(
        (observed - chance) / np.where(one_category, np.nan, 1 - chance), dtype=np.float64
    )


def gwet_ac1(sums: FloatArray, categories: int) -> FloatArray:
    """Return Gwet's AC1 from summed `fleiss_features`, or NaN without pairs.

    `categories` is the number of offered categories; those that do not occur have no column and add
    nothing to the sum.
    """
    agreeing, pairable, rated = sums[..., 0], sums[..., 1], sums[..., -1]
    shares = sums[..., 2:-1] / rated[..., None]
    observed = agreeing / np.where(pairable == 0, np.nan, pairable)
    chance = (shares * (1 - shares)).sum(axis=-1) / (categories - 1)
    return np.asarray((observed - chance) / (1 - chance), dtype=np.float64)


def specific(sums: FloatArray) -> FloatArray:
    """Return agreement on one category from agreeing and possible ordered pairs.

    It is NaN if none is possible.
    """
    possible = sums[..., 1]
    return np.asarray(sums[..., 0] / np.where(possible == 0, np.nan, possible), dtype=np.float64)
