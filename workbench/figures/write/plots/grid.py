"""Cells: verdicts with their marks, or numbers on shades."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.domain.verdicts import Verdict
from workbench.figures.pictures.kinds import Cell, Grid
from workbench.figures.table import MARKS, WORDS
from workbench.figures.write.plots import style
from workbench.figures.write.plots.texts import Text, Texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.2
LEAST = 0.42
"least width of a column in inches"
FULL = 0.55
"opacity of the full shade, on which text is legible in dark and light themes"
FILLS = {
    Verdict.PASS: (style.BLUE, 0.35),
    Verdict.FAIL: (style.VERMILLION, 0.45),
    Verdict.INSUFFICIENT: (style.INK, 0.12),
    Verdict.VOID: (style.INK, 0.0),
}


def draw(picture: Grid) -> Figure:
    """Return a drawn grid."""
    rows, columns = [style.short(row) for row in picture.rows], [style.short(column) for column in picture.columns]
    texts = [cell.text for row in picture.cells for cell in row]
    wide = max(LEAST, style.widest(texts, style.SMALL) + 0.16)
    left = style.widest(rows) + 0.15 + (0.25 if picture.titles[0] else 0)
    used = sorted({cell.verdict for row in picture.cells for cell in row if cell.verdict}, key=list(Verdict).index)
    names = [f"{MARKS[verdict]} {WORDS[verdict]}" for verdict in used]
    legend = style.legend_height(names)
    titled = 0.25 if picture.titles[1] else 0
    wide = min(max(wide, (style.WIDTH - left - 0.15) / len(columns)), 1.5)
    slanted = style.widest(columns, style.SMALL) > wide - 0.06
    top = (style.widest(columns, style.SMALL) * 0.72 + 0.2) if slanted else 0.28
    room = style.widest(columns, style.SMALL) * 0.72 if slanted else 0.15
    of = style.canvas(
        ROW * len(rows), left=left, right=max(room, style.WIDTH - left - wide * len(columns)),
        top=top + legend + titled, bottom=0.3 if picture.unit else 0.1,
        width=max(style.WIDTH, left + wide * len(columns) + room),
    )  # fmt: skip
    axes = of.axes
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    _shades(axes, picture)
    _texts(axes, picture, rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    turned: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    places = [at + 0.5 for at in range(len(columns))]
    axes.set_xticks(places, columns, fontsize=style.SMALL, **turned)
    axes.set_yticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(picture.titles[1], fontsize=style.NORMAL)
    _row_title(of, picture.titles[0])
    if picture.unit:
        of.figure.text(
            left / of.figure.get_figwidth(), 0.08 / of.figure.get_figheight(), f"in {picture.unit}",
            fontsize=style.SMALL, color=style.GREY,
        )  # fmt: skip
    style.put_legend(of, [_swatch(verdict) for verdict in used], names)
    return of.figure


def _row_title(of: style.Canvas, title: str) -> None:
    """Write the title of the rows beside their labels."""
    if title:
        box = of.axes.get_position()
        of.figure.text(
            0.12 / of.figure.get_figwidth(), (box.y0 + box.y1) / 2, title, fontsize=style.NORMAL, rotation=90,
            ha="center", va="center",
        )  # fmt: skip


def _texts(axes: Axes, picture: Grid, rows: list[str]) -> None:
    texts = Texts(axes)
    for at, (row, cells) in enumerate(zip(rows, picture.cells, strict=True)):
        texts.beside(Text(0, at + 0.5, row, "right", style.NORMAL, across=-4))
        for column, cell in enumerate(cells):
            texts.add(Text(column + 0.5, at + 0.5, cell.text, "center", italic=bool(cell.undefined)))


def _shades(axes: Axes, picture: Grid) -> None:
    """Draw all cells with the same look together."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    drawn: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for row, cells in enumerate(picture.cells):
        for column, cell in enumerate(cells):
            drawn.setdefault(_look(cell, picture.scale), []).append((column + 0.03, row + 0.06))
    for (colour, alpha), corners in drawn.items():
        points = [
            point for x, y in corners for point in ((x, y), (x + 0.94, y), (x + 0.94, y + 0.88), (x, y + 0.88), (x, y))
        ]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        axes.add_patch(
            PathPatch(Path(points, codes), facecolor=(colour, alpha), edgecolor=(style.GREY, 0.5), linewidth=0.4)
        )


def _look(cell: Cell, scale: tuple[float, float] | None) -> tuple[str, float]:
    """Return the colour and the opacity of a cell."""
    if cell.verdict is not None:
        return FILLS[cell.verdict]
    if scale is None or math.isnan(cell.value):
        return style.INK, 0.0
    most = max(abs(scale[0]), abs(scale[1])) or 1.0
    share = min(1.0, abs(cell.value) / most)
    return style.VERMILLION if cell.value < 0 else style.BLUE, round(FULL * share, 2)


def _swatch(verdict: Verdict) -> Any:
    from matplotlib.patches import Patch

    colour, alpha = FILLS[verdict]
    return Patch(facecolor=(colour, alpha), edgecolor=(style.GREY, 0.5), linewidth=0.4)
