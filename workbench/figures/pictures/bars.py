"""Parts of a whole, or sizes, as bars, one per line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from workbench.domain.counting import plural
from workbench.figures.pictures.picture import MOST_SAID, Picture, split
from workbench.figures.pictures.values import Axis
from workbench.figures.shown import number

MOST_BARS = 48
"of a page"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its parts, from left to right."""

    label: str
    parts: Sequence[tuple[str, float]]
    "(series, size); NaN: no value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(Picture):
    """Bars from top to bottom."""

    axis: Axis
    bars: Sequence[Bar]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(name for bar in self.bars for name, _ in bar.parts))

    @property
    def empty(self) -> bool:
        return not self.bars

    def pages(self) -> Sequence[Self]:
        parts = split(self.bars, MOST_BARS)
        return [self.paged(place, len(parts), bars=part) for place, part in enumerate(parts, 1)]

    def _said(self) -> str:
        what = f"{plural(len(self.bars), 'bar')} on the axis {self.axis.label}"
        if len(self.bars) > MOST_SAID:
            return f"{what}, the numbers of the table of the same title."
        return f"{what}: {'; '.join(map(self._bar_said, self.bars))}."

    def _bar_said(self, bar: Bar) -> str:
        parts = [
            f"{name} {'undefined' if math.isnan(size) else number(size, self.axis.kind)}".strip()
            for name, size in bar.parts
        ]
        return f"{bar.label} {', '.join(parts)}"
