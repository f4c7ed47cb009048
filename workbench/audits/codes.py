"""Verdicts as arrays, and how several make one.

A test is passed, failed or open (insufficient), and conjunctions follow Kleene: one failing part
settles that the whole fails, whatever is missing; otherwise one insufficient part leaves the whole
open. A void part is no part: a test that cannot fail settles nothing, and a whole of nothing but
void parts is void.
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
    """Return pass or fail where it can be decided, insufficient elsewhere."""
    return np.where(np.asarray(decidable), np.asarray(passed), INSUFFICIENT).astype(np.int8)


def conjunction(
    parts: npt.ArrayLike, axis: int, counts: npt.ArrayLike = True, none: int = INSUFFICIENT
) -> Codes:
    """Return the conjunction along an axis.

    Parameters
    ----------
    counts : boolean, broadcasts to `parts`: which parts there are. Where all that there are are
        void, so is the whole
    none : the verdict where there is no part: never a vacuous pass

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
    named = np.broadcast_to(np.asarray(counts), values.shape)
    there, any_ = named & (values != VOID), named.any(axis=axis)
    fails = np.any(there & (values == FAIL), axis=axis)
    open_ = np.any(there & (values == INSUFFICIENT), axis=axis)
    settled = np.where(
        fails, FAIL, np.where(open_, INSUFFICIENT, np.where(there.any(axis=axis), PASS, VOID))
    )
    return np.where(any_, settled, none).astype(np.int8)
