"""Verdicts as arrays of codes, and their conjunction.

A test is passed, failed or open (insufficient), and conjunctions follow Kleene. One failing part
decides that the whole fails, whatever is missing. Otherwise one insufficient part leaves the whole
open. A void part does not count, because a test that cannot fail decides nothing. A whole of void
parts alone is void.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Verdict

Codes = npt.NDArray[np.int8]
"verdicts: PASS, FAIL, INSUFFICIENT or VOID"

PASS: Final = 1
FAIL: Final = 0
INSUFFICIENT: Final = -1
VOID: Final = -2

_VERDICTS = {
    PASS: Verdict.PASS,
    FAIL: Verdict.FAIL,
    INSUFFICIENT: Verdict.INSUFFICIENT,
    VOID: Verdict.VOID,
}


def verdict(code: int) -> Verdict:
    """Return the verdict of one code."""
    return _VERDICTS[int(code)]


def codes(passed: npt.ArrayLike, decidable: npt.ArrayLike) -> Codes:
    """Return pass or fail if it can be decided, insufficient otherwise."""
    return np.where(np.asarray(decidable), np.asarray(passed), INSUFFICIENT).astype(np.int8)


def conjunction(
    parts: npt.ArrayLike, axis: int, counts: npt.ArrayLike = True, none: int = INSUFFICIENT
) -> Codes:
    """Return the conjunction along an axis.

    Parameters
    ----------
    counts : boolean, broadcasts to `parts`: whether a part exists. If all existing parts are void,
        so is the whole
    none : the verdict without any part: never a vacuous pass

    Examples
    --------
    >>> conjunction([[1, 1], [1, -1], [0, -1]], axis=1).tolist()
    [1, -1, 0]
    >>> conjunction([[1, 0]], axis=1, counts=[[True, False]]).tolist()
    [1]
    >>> conjunction([[1, -2], [-2, -2]], axis=1).tolist()
    [1, -2]
    >>> conjunction([[1, 1]], axis=1, counts=False, none=VOID).tolist()
    [-2]
    """
    values = np.asarray(parts)
    exists = np.broadcast_to(np.asarray(counts), values.shape)
    has_effect, any_exists = exists & (values != VOID), exists.any(axis=axis)
    fails = np.any(has_effect & (values == FAIL), axis=axis)
    is_open = np.any(has_effect & (values == INSUFFICIENT), axis=axis)
    verdicts = np.where(
        fails,
        FAIL,
        np.where(is_open, INSUFFICIENT, np.where(has_effect.any(axis=axis), PASS, VOID)),
    )
    return np.where(any_exists, verdicts, none).astype(np.int8)
