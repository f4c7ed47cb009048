"""Where a key leads from what is chosen: around the ends of a row of values, or no farther than its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def following(values: Sequence[T], at: object, step: int = 1) -> T:
    """Return the value that follows one, around the ends; the first where it is not there.

    Examples
    --------
    >>> following("abc", "c"), following("abc", "a", -1), following("abc", "x")
    ('a', 'c', 'a')
    """
    return values[(values.index(at) + step) % len(values)] if at in values else values[0]


def beside(values: Sequence[T], at: object, step: int) -> T:
    """Return the value beside one; at an end the one itself, the first where it is not there.

    Examples
    --------
    >>> beside("abc", "b", 1), beside("abc", "c", 1)
    ('c', 'c')
    """
    return values[max(0, min(values.index(at) + step, len(values) - 1))] if at in values else values[0]
