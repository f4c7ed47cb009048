"""Checks numbers as they are read from files.

Every reader of tables and logs takes its numbers from `finite_number`.
"""

from __future__ import annotations

import math
import re

LARGEST = 1e15
"no count, weight or parameter in a file is larger. Whole numbers up to this are exact as floats."
_WRITTEN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""only ASCII digits count: `nan`, `inf`, `1_000` and digits of other scripts are not numbers in
a table"""
_WITH_COMMA = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+),[0-9]+")
_IN_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")


def finite_number(
    value: object, *, low: float = -LARGEST, high: float = LARGEST, whole: bool = False
) -> float | None:
    """Return a value from a file as a number, or None if it is not a finite number in the range.

    Parameters
    ----------
    value
        A text, or a number as JSON has it. True and False are no numbers.
    low, high
        The range, ends included.
    whole
        Accept whole numbers only.

    Examples
    --------
    >>> finite_number("0.5"), finite_number(" 1e3 "), finite_number(7), finite_number("3.0", whole=True)
    (0.5, 1000.0, 7.0, 3.0)
    >>> [finite_number(value) for value in ("nan", "inf", "1e300", "1_000", "", True, None)]
    [None, None, None, None, None, None, None]
    """  # noqa: E501
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and not _WRITTEN.fullmatch(value.strip()):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    if not math.isfinite(number) or not low <= number <= high:
        return None
    return None if whole and not number.is_integer() else number


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number with a decimal comma, such as `0,5` or `1.234,5`."""
    return _WITH_COMMA.fullmatch(text.strip()) is not None


def with_point(text: str) -> str:
    """Return a number with a decimal comma as one with a point, or any other text unchanged.

    Examples
    --------
    >>> with_point("0,5"), with_point("1.234,5"), with_point("1.234"), with_point("yes, 5")
    ('0.5', '1234.5', '1234', 'yes, 5')
    """
    stripped = text.strip()
    if _WITH_COMMA.fullmatch(stripped) or _IN_THOUSANDS.fullmatch(stripped):
        return stripped.replace(".", "").replace(",", ".")
    return text
