"""Values with their intervals, one per line: a forest plot of one or several series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.picture import MOST_SAID, Picture, split
from workbench.figures.pictures.values import Axis, extremes, hollow_said, said, undefined_said

MOST_LINES = 48
"of a page"


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval."""

    label: str
    "of its line"
    value: Estimate
    series: str = ""
    "its series, if a line has several: a model"
    references: tuple[float, ...] = ()
    "references for this value only"
    beside: str = ""
    "text after the value, such as stars of significance"

    @property
    def named(self) -> str:
        """The name of the value: line and series."""
        return f"{self.label}, {self.series}" if self.series else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(Picture):
    """Points in lines from top to bottom, grouped by label."""

    axis: Axis
    points: Sequence[Point]
    baselines: Sequence[str] = ()
    "series that are not models, but references for comparison"
    reference: str = ""
    "meaning of the points' references: `always agrees`"

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(point.label for point in self.points))

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(point.series for point in self.points))

    @property
    def empty(self) -> bool:
        return not self.points

    def pages(self) -> Sequence[Self]:
        parts = split(self.labels, max(1, MOST_LINES // max(1, len(self.series))))
        if len(parts) == 1:
            return (self,)
        return [
            self.paged(place, len(parts), points=[point for point in self.points if point.label in set(part)])
            for place, part in enumerate(parts, 1)
        ]

    def _said(self) -> str:
        values, names = [point.value for point in self.points], [point.named for point in self.points]
        what = f"{plural(len(values), 'value')} on the axis {self.axis.label}"
        if len(values) <= MOST_SAID:
            each = (said(name, value, self.axis.kind) for name, value in zip(names, values, strict=True))
            return " ".join([f"{what}: {'; '.join(each)}.", *hollow_said(values)])
        return " ".join(
            [f"{what}.", extremes(names, values, self.axis.kind), *undefined_said(values), *hollow_said(values)]
        )
