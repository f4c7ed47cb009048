"""Colours, marks and sizes of drawn pictures, and their canvas.

Colours are those of Okabe and Ito (2008) with a contrast of at least 3 to 1 to both white and
black. A mark, a dash or a hatch repeats them. Ink and paper have unique colours, so that the SVG
writer can replace them by the reader's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from workbench.figures.pictures.kinds import Axis
from workbench.figures.write.plots.fonts import families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER, GREY = "#010203", "#fdfefc", "#767676"
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, INK)
MARKS = ("o", "s", "D", "^", "v", "P", "X")
BASELINES = (">", "<", "|", "x")
REFERENCES = ("|", "d", "x")
DASHES = ("-", "--", ":", "-.")
HATCHES = ("", "////", "....", "\\\\\\\\", "xx", "--")
WIDTH = 7.2
"width of a picture, in inches"
SMALL, NORMAL = 7.5, 8.5
"sizes of text, in points"
LEGEND_LINE = 0.2
PAD = 0.08
LONGEST = 44
"most characters of a label"

RC = {
    "font.size": NORMAL,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
    "hatch.color": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "workbench",
    "pdf.fonttype": 42,
    "legend.frameon": False,
    "axes.unicode_minus": False,
}
"""settings of matplotlib besides the font

Dollar signs in labels are not formulas: `text.parse_math`.
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a series: mark, dash and hatch, which its colour repeats."""

    colour: str
    mark: str
    dash: str
    hatch: str


def looks(series: Sequence[str], baselines: Sequence[str] = ()) -> dict[str, Look]:
    """Return the look of each series. Baselines are grey."""
    look_by_name = {
        name: Look(GREY, BASELINES[number % len(BASELINES)], ":", "")
        for number, name in enumerate(baselines)
    }
    for index, name in enumerate(name for name in series if name not in look_by_name):
        look_by_name[name] = Look(
            COLOURS[index % len(COLOURS)],
            MARKS[index % len(MARKS)],
            DASHES[index % len(DASHES)],
            HATCHES[index % len(HATCHES)],
        )
    return look_by_name


def short(text: str, most: int = LONGEST) -> str:
    """Return a label, truncated to leave room for the picture."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@cache
def _measure() -> Any:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    return TextToPath(), FontProperties(family=families())


@lru_cache(4096)
def inches(text: str, size: float = NORMAL) -> float:
    """Return the width of a text in inches."""
    path, font = _measure()
    font = font.copy()
    font.set_size(size)
    return float(path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def widest(texts: Sequence[str], size: float = NORMAL) -> float:
    """Return the width of the widest text.

    Only those with most characters are measured, which is fast.
    """
    return max(
        (inches(text, size) for text in sorted(sorted(set(texts)), key=len)[-4:]), default=0.0
    )


@dataclass(slots=True)
class Canvas:
    """A figure with its axes, placed by inches."""

    figure: Figure
    axes: Axes
    top: float
    "inches above the axes"


def canvas(
    height: float,
    *,
    left: float,
    right: float = 0.15,
    top: float = 0.1,
    bottom: float = 0.5,
    width: float = WIDTH,
    polar: bool = False,
) -> Canvas:
    """Return axes `height` inches high with margins around them."""
    from matplotlib.figure import Figure

    total = height + top + bottom
    figure = Figure(figsize=(width, total), facecolor=PAPER)
    box = (left / width, bottom / total, (width - left - right) / width, height / total)
    axes = figure.add_axes(box, facecolor="none", projection="polar" if polar else None)
    return Canvas(figure, axes, top)


def legend_height(names: Sequence[str]) -> float:
    """Return the height in inches of a legend above the axes."""
    return LEGEND_LINE * len(_legend_rows(names)) + PAD if names else 0.0


def put_legend(canvas: Canvas, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Write the legend above the axes, in as many lines as needed."""
    if not names:
        return
    height = canvas.figure.get_figheight()
    first = 0
    for row, row_names in enumerate(_legend_rows(names)):
        canvas.figure.legend(
            handles[first : first + len(row_names)],
            row_names,
            loc="upper left",
            ncols=len(row_names),
            fontsize=SMALL,
            bbox_to_anchor=(PAD / WIDTH, 1 - (PAD / 2 + row * LEGEND_LINE) / height),
            borderpad=0,
            borderaxespad=0,
            handletextpad=0.5,
            columnspacing=1.4,
            handlelength=2.2,
        )
        first += len(row_names)


def _legend_rows(names: Sequence[str]) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    row_width = 0.0
    for name in names:
        needed_width = inches(name, SMALL) + 0.5
        if rows[-1] and row_width + needed_width > WIDTH - 2 * PAD:
            rows.append([])
            row_width = 0.0
        rows[-1].append(name)
        row_width += needed_width
    return rows


def put_axis(axes: Axes, axis: Axis, *, vertical: bool = False) -> None:
    """Scale an axis, write its title and numbers, and draw reference values."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    drawn_axis = axes.yaxis if vertical else axes.xaxis
    margin = 0.02 * (axis.high - axis.low) or 0.5
    (axes.set_ylim if vertical else axes.set_xlim)(axis.low - margin, axis.high + margin)
    drawn_axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    drawn_axis.set_major_formatter(FuncFormatter(lambda value, _: axis.tick(round(value, 10))))
    drawn_axis.set_tick_params(labelsize=SMALL, length=3, width=0.6)
    low, high = axis.ends
    title = f"← {low} · {axis.label} · {high} →" if low else axis.label
    (axes.set_ylabel if vertical else axes.set_xlabel)(title, fontsize=NORMAL, labelpad=4)
    for value, meaning in axis.references:
        line = axes.axhline if vertical else axes.axvline
        line(value, color=GREY, linewidth=0.8, linestyle="--" if meaning else "-", zorder=0.5)
        if meaning and not vertical:
            is_right = value > (axis.low + 2 * axis.high) / 3
            axes.annotate(
                meaning,
                (value, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-3 if is_right else 3, -2),
                textcoords="offset points",
                fontsize=SMALL,
                color=GREY,
                va="top",
                ha="right" if is_right else "left",
            )
