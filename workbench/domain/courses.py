"""The course of a job's figures: a few points of them over its time, for a picture in a line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import TypeAlias

Point: TypeAlias = tuple[float, ...]
"the place on the axis, such as seconds or steps, and the figures there"

MOST_POINTS = 60
"a job's row is written every second, so its course stays as small as a line of the screen"


class Course:
    """The points of a course, in their order on the axis.

    The newest point is always among them. Of earlier ones enough stay for a picture of the whole.
    """

    def __init__(self, most: int = MOST_POINTS) -> None:
        self.points: list[Point] = []
        self._most = most
        self._gap = 0.0

    def add(self, at: float, *figures: float) -> None:
        """Add the newest point. It replaces the one before it if that one is too close to others.

        Examples
        --------
        >>> course = Course(most=4)
        >>> for second in range(100):
        ...     course.add(second, 10 * second)
        >>> course.points[0], course.points[-1], len(course.points) <= 4
        ((0, 0), (99, 990), True)
        """
        points = self.points
        if len(points) > 1 and points[-1][0] - points[-2][0] < self._gap:
            points.pop()
        points.append((at, *figures))
        if len(points) > self._most:
            self._thin()

    def _thin(self) -> None:
        """Keep about half of the points, at equal distances, with the first and the newest."""
        first, *middle, newest = self.points
        self._gap = 2 * (newest[0] - first[0]) / self._most
        kept = [first]
        for point in middle:
            if point[0] - kept[-1][0] >= self._gap:
                kept.append(point)
        self.points = [*kept[: self._most - 1], newest]


def bins(points: Sequence[Point], most: int) -> list[Point]:
    """Return the growth of counts in equal parts of their axis, as (length, growth, …).

    The counts begin at 0, and grow evenly between two points. There are at most as many parts as
    points: a finer picture would show what nobody measured.

    Examples
    --------
    >>> bins([(1.0, 10.0), (2.0, 40.0)], 8)
    [(1.0, 10.0), (1.0, 30.0)]
    """
    n_parts = min(most, len(points))
    if not n_parts or points[-1][0] <= 0:
        return []
    origin = (0.0,) * len(points[0])
    known = [origin, *points]
    length = points[-1][0] / n_parts
    edges = [_between(known, part * length) for part in range(n_parts)]
    edges.append(points[-1])
    return [
        (length, *(after - before for before, after in zip(low[1:], high[1:], strict=True)))
        for low, high in pairwise(edges)
    ]


def _between(points: Sequence[Point], at: float) -> Point:
    """Return the counts at a place on the axis, on the straight line between two points."""
    index = min(max(1, bisect_right([point[0] for point in points], at)), len(points) - 1)
    before, after = points[index - 1], points[index]
    distance = after[0] - before[0]
    share = (at - before[0]) / distance if distance > 0 else 1.0
    return tuple(low + share * (high - low) for low, high in zip(before, after, strict=True))


def means(points: Sequence[Point], most: int) -> list[float]:
    """Return the first figure of the points; of more points than wanted, means of neighbours.

    Examples
    --------
    >>> means([(1, 4.0), (2, 2.0), (3, 1.0), (4, 0.0)], 2)
    [3.0, 0.5]
    """
    n_parts = min(most, len(points))
    parts = [
        points[index * len(points) // n_parts : (index + 1) * len(points) // n_parts]
        for index in range(n_parts)
    ]
    return [sum(point[1] for point in part) / len(part) for part in parts]


def points_of(value: Iterable[Sequence[float | None]]) -> tuple[Point, ...]:
    """Return points from JSON. Those with a missing or infinite figure are excluded."""
    points = []
    for stored in value:
        figures = [float(figure) for figure in stored if figure is not None]
        if len(figures) == len(stored) and all(map(isfinite, figures)):
            points.append(tuple(figures))
    return tuple(points)
