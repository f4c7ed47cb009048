"""Curves: values against a number, with bands for intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.picture import Picture
from workbench.figures.pictures.values import Axis, extremes, hollow_said, undefined_said


@dataclass(frozen=True, slots=True)
class Line:
    """One curve."""

    series: str
    points: Sequence[tuple[float, Estimate]]
    "(position on the horizontal axis, value)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Picture):
    """Curves over one horizontal axis."""

    x: Axis
    y: Axis
    lines: Sequence[Line]
    identity: str = ""
    "meaning of the diagonal; empty: it is not drawn"

    @property
    def empty(self) -> bool:
        return not any(line.points for line in self.lines)

    def _said(self) -> str:
        told = [f"{plural(len(self.lines), 'curve')} of {self.y.label} against {self.x.label}."]
        for line in self.lines:
            values = [value for _, value in line.points]
            names = [f"at {self.x.title} {self.x.tick(place)}" for place, _ in line.points]
            told += [f"{line.series or self.y.title}: {extremes(names, values, self.y.kind)}"]
            told += [*undefined_said(values), *hollow_said(values)]
        return " ".join(told)
