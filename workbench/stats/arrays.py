"""The arrays that the statistics take and return."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]


def whole_numbers(values: npt.ArrayLike) -> IntArray:
    """Return category codes or counts as int64.

    Raises TypeError for types that could lose values, such as floats.
    """
    codes = np.asarray(values)
    if codes.size and not np.can_cast(codes.dtype, np.int64):
        raise TypeError(f"categories and counts are whole numbers; found {codes.dtype}")
    return codes.astype(np.int64)
