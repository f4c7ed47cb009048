"""What every audit shares: its interface, and verdicts as arrays.

Verdicts have three values, and conjunctions of them follow Kleene: one failing part settles that the whole fails,
whatever is missing; otherwise one insufficient part leaves the whole open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId
from workbench.domain.verdicts import Verdict

Codes = npt.NDArray[np.int8]
"verdicts: PASS, FAIL or INSUFFICIENT"

PASS: Final = 1
FAIL: Final = 0
INSUFFICIENT: Final = -1

_VERDICTS = {PASS: Verdict.PASS, FAIL: Verdict.FAIL, INSUFFICIENT: Verdict.INSUFFICIENT}


class Audit(Protocol):
    """The module of an audit, as the registry hands it out."""

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
    ) -> Iterator[Probe]:
        """Yield every prompt that the audit needs."""
        ...


def verdict(code: int) -> Verdict:
    """Return the verdict of one code."""
    return _VERDICTS[int(code)]


def codes(passed: npt.ArrayLike, decidable: npt.ArrayLike) -> Codes:
    """Return pass or fail where it can be decided, insufficient elsewhere."""
    return np.where(np.asarray(decidable), np.asarray(passed), INSUFFICIENT).astype(np.int8)


def conjunction(parts: npt.ArrayLike, axis: int, counts: npt.ArrayLike = True) -> Codes:
    """Return the three-valued conjunction along an axis.

    Parameters
    ----------
    counts : boolean, broadcasts to `parts`: which parts there are. Where there is none, nothing can be said:
        insufficient, not a vacuous pass.

    Examples
    --------
    >>> conjunction([[1, 1], [1, -1], [0, -1]], axis=1).tolist()
    [1, -1, 0]
    >>> conjunction([[1, 0]], axis=1, counts=[[True, False]]).tolist()
    [1]
    """
    values = np.asarray(parts)
    there = np.broadcast_to(np.asarray(counts), values.shape)
    fails = np.any(there & (values == FAIL), axis=axis)
    open_ = np.any(there & (values == INSUFFICIENT), axis=axis) | ~there.any(axis=axis)
    return np.where(fails, FAIL, np.where(open_, INSUFFICIENT, PASS)).astype(np.int8)
