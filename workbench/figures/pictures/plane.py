"""Points between two axes, each with the intervals of both coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.picture import MOST_SAID, Picture
from workbench.figures.pictures.values import Axis, hollow, hollow_said, said, undefined_said


@dataclass(frozen=True, slots=True)
class Place:
    """A point of a plane; it has no position if a coordinate is undefined."""

    label: str
    x: Estimate
    y: Estimate
    series: str = ""

    @property
    def placed(self) -> bool:
        return self.x.defined and self.y.defined

    @property
    def hollow(self) -> bool:
        """Whether a coordinate has too few data for an interval."""
        return hollow(self.x) or hollow(self.y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane(Picture):
    """Points of a plane, with optional labels."""

    x: Axis
    y: Axis
    places: Sequence[Place]
    labelled: bool = True
    square: bool = False
    "whether both axes have the same unit length"
    identity: str = ""
    "what it means that both coordinates agree; empty: no such line is drawn"

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(place.series for place in self.places))

    @property
    def left_out(self) -> list[Place]:
        """The points without a position."""
        return [place for place in self.places if not place.placed]

    @property
    def empty(self) -> bool:
        return not self.places

    def _said(self) -> str:
        told = [f"{plural(len(self.places), 'point')} by {self.x.label} and {self.y.label}."]
        if len(self.places) <= MOST_SAID:
            told += [f"{self._name(place)}: {self._coordinates(place)}." for place in self.places]
        else:
            told += undefined_said([one for place in self.left_out for one in (place.x, place.y)])
        told += hollow_said([one for place in self.places for one in (place.x, place.y)])
        return " ".join(told)

    def _coordinates(self, place: Place) -> str:
        return ", ".join(said(axis.title, value, axis.kind) for axis, value in ((self.x, place.x), (self.y, place.y)))

    @staticmethod
    def _name(place: Place) -> str:
        return f"{place.label}, {place.series}" if place.series and place.series != place.label else place.label
