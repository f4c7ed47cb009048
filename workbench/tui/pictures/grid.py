"""Grids of cells in characters: each shows its mark or number, and a shade that repeats it.

plotext draws matrices by colour alone, so they are drawn here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from textual.content import Content

from workbench.domain.verdicts import Verdict
from workbench.figures.pictures.kinds import Cell, Grid

GAP = 1
LEAST, LABEL = 4, 24
"least width of a cell, and greatest width of a row's label"
SHADES = ("", "on $primary 20%", "on $primary 40%", "on $primary 60%")
BELOW = ("", "on $warning 20%", "on $warning 40%", "on $warning 60%")
VERDICTS = {
    Verdict.PASS: "on $success 30%",
    Verdict.FAIL: "bold on $error 40%",
    Verdict.INSUFFICIENT: "$text-muted",
    Verdict.VOID: "$text-muted",
}


def drawn(picture: Grid, width: int) -> Content:
    """Return the rows of a page below its column names, truncated to the width."""
    label = min(LABEL, max((len(row) for row in picture.rows), default=0))
    room = (width - label) // max(1, len(picture.columns)) - GAP
    lengths = [len(grid_cell.text) for cells in picture.cells for grid_cell in cells]
    cell_width = max(
        LEAST,
        min(room, max(max(lengths, default=1), max(map(len, picture.columns), default=1)) + 2),
    )
    header = Content.styled(
        " " * label
        + "".join(" " + _fit(name, cell_width).center(cell_width) for name in picture.columns),
        "bold",
    )
    lines = [header] if not any(picture.titles) else [_titles(picture), header]
    for name, cells in zip(picture.rows, picture.cells, strict=True):
        parts: list[tuple[str, str]] = [(_fit(name, label).rjust(label), "")]
        for row_cell in cells:
            parts += [
                (" ", ""),
                (
                    _fit(row_cell.text, cell_width).center(cell_width),
                    _shade(row_cell, picture.scale),
                ),
            ]
        lines.append(Content.assemble(*parts))
    return Content("\n").join(lines)


def _titles(picture: Grid) -> Content:
    rows, columns = picture.titles
    return Content.styled(f"rows: {rows} · columns: {columns}", "$text-muted")


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


def _shade(cell: Cell, scale: tuple[float, float] | None) -> str:
    if cell.verdict is not None:
        return VERDICTS[cell.verdict]
    if scale is None or math.isnan(cell.value):
        return "italic $text-muted" if cell.undefined else ""
    shades: Sequence[str] = SHADES if cell.value >= 0 else BELOW
    limit = max(abs(scale[0]), abs(scale[1])) or 1.0
    return shades[min(len(shades) - 1, round(abs(cell.value) / limit * (len(shades) - 1)))]
