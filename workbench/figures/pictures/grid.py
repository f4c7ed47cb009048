"""Cells in rows and columns: verdicts of statements on tests, a confusion matrix, biases by model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from workbench.domain.counting import plural
from workbench.domain.verdicts import Verdict
from workbench.figures.marks import WORDS
from workbench.figures.pictures.picture import Picture, split

MOST_ROWS = 60
"of a page"
MOST_SAID = 25
"most cells that a description for screen readers lists"


@dataclass(frozen=True, slots=True)
class Cell:
    """A verdict, or a formatted number."""

    text: str
    value: float = math.nan
    "value of its shade; NaN: no shade"
    verdict: Verdict | None = None
    undefined: str = ""
    "why there is no value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Picture):
    """Rows of cells. A cell shows its number or mark; its shade repeats it."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    scale: tuple[float, float] | None = None
    "values of no shade and of full shade; values below 0 have another colour. None: verdicts"
    titles: tuple[str, str] = ("", "")
    "meaning of rows and columns: `people say`, `read as`"
    unit: str = ""
    "of the numbers"

    @property
    def empty(self) -> bool:
        return not (self.rows and self.columns)

    def pages(self) -> Sequence[Self]:
        parts = split(range(len(self.rows)), MOST_ROWS)
        if len(parts) == 1:
            return (self,)
        return [
            self.paged(
                place, len(parts), rows=[self.rows[row] for row in part], cells=[self.cells[row] for row in part]
            )
            for place, part in enumerate(parts, 1)
        ]

    def _said(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        what = f"{plural(len(self.rows), 'row')} of {plural(len(self.columns), 'column')}{unit}"
        if any(cell.verdict for row in self.cells for cell in row):
            return f"{what}. {' '.join(map(self._column_said, range(len(self.columns))))}"
        if len(self.rows) * len(self.columns) <= MOST_SAID:
            rows = (
                f"{name}: {', '.join(map(_cell_said, self.columns, cells))}"
                for name, cells in zip(self.rows, self.cells, strict=True)
            )
            return f"{what}. {'; '.join(rows)}."
        return f"{what}, the numbers of the table of the same title."

    def _column_said(self, place: int) -> str:
        counted = Counter(cells[place].verdict for cells in self.cells)
        parts = [f"{counted[one]:,} {WORDS[one]}" for one in Verdict if counted[one]]
        return f"{self.columns[place]}: {', '.join(parts) or 'nothing'}."


def _cell_said(column: str, cell: Cell) -> str:
    return f"{column} {cell.text} ({cell.undefined})" if cell.undefined else f"{column} {cell.text}"
