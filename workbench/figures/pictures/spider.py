"""Values on axes around a centre: a spider plot, as published for stances on policy issues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.picture import MOST_SAID, Picture
from workbench.figures.pictures.values import Axis, extremes, hollow_said, said, undefined_said

FEWEST_SPOKES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Spider(Picture):
    """Closed lines through a value on each spoke; a line is interrupted at undefined values."""

    axis: Axis
    "axis of every spoke, with its low end in the centre"
    spokes: Sequence[str]
    lines: Mapping[str, Sequence[Estimate]]
    "series -> value on each spoke"
    baselines: Sequence[str] = ()

    @property
    def empty(self) -> bool:
        values = [value for line in self.lines.values() for value in line]
        return len(self.spokes) < FEWEST_SPOKES or not any(value.defined for value in values)

    def _said(self) -> str:
        told = [f"{plural(len(self.spokes), 'spoke')}, {self.axis.label}."]
        for name, values in self.lines.items():
            who = f"{name}: " if name else ""
            if len(self.spokes) * len(self.lines) <= 2 * MOST_SAID:
                each = (said(spoke, value, self.axis.kind) for spoke, value in zip(self.spokes, values, strict=True))
                told.append(f"{who}{'; '.join(each)}.")
            else:
                told.append(f"{who}{extremes(self.spokes, values, self.axis.kind)}")
                told += undefined_said(values)
            told += hollow_said(values)
        return " ".join(told)
