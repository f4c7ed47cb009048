"""Mean and standard deviation, with n and the number of excluded values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import MeanSd


def mean_sd(values: npt.ArrayLike, ddof: int = 1) -> MeanSd:
    """Return mean and standard deviation of the defined values.

    `ddof=1` is the sample deviation (divisor n - 1), `ddof=0` the population deviation (divisor n). One value has
    no sample deviation: it is NaN, not 0.

    Examples
    --------
    >>> mean_sd([1.0, 3.0, float("nan")])
    MeanSd(mean=2.0, sd=1.4142135623730951, n=2, excluded=1)
    >>> mean_sd([5.0])
    MeanSd(mean=5.0, sd=nan, n=1, excluded=0)
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    kept = numbers[~np.isnan(numbers)]
    mean = float(kept.mean()) if kept.size else float("nan")
    sd = float(kept.std(ddof=ddof)) if kept.size > ddof else float("nan")
    return MeanSd(mean, sd, int(kept.size), int(numbers.size - kept.size))
