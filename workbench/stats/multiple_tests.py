"""Adjusted p values for several tests, which control the probability of any false alarm or the false discovery rate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return Holm's adjusted p values: max over j <= i of min(1, (m - j + 1) p_(j)), for p in ascending order.

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
    made = np.flatnonzero(~np.isnan(values))
    order = made[np.argsort(values[made], kind="stable")]
    steps = np.arange(len(order), 0, -1) * values[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(order) else steps
    return adjusted


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return p values adjusted by Benjamini and Hochberg's procedure, which bounds the expected share of false alarms.

    min over j >= i of min(1, m p_(j) / j), for p in ascending order; valid for tests that are independent or positively
    dependent. A NaN stands for a test that could not be made: it stays NaN and does not count among the m.

    References
    ----------
    Benjamini and Hochberg 1995, Controlling the false discovery rate.

    Examples
    --------
    >>> [round(float(each), 3) for each in benjamini_hochberg([0.04, 0.01, float("nan"), 0.03])]
    [0.04, 0.03, nan, 0.04]
    """
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    made = ~np.isnan(values)
    if made.any():
        adjusted[made] = false_discovery_control(values[made], method="bh")
    return adjusted
