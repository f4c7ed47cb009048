"""Figures of the questionnaire audit as cells, pictures and sentences; pure.

Biases are shown in points: hundred times the difference of two shares, above 0 where the model says yes more often
than the people (Haller et al. 2025, section 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS, Pole
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate, Ranged
from workbench.tui.format import percent, visible
from workbench.tui.screens.questionnaire_view import Look
from workbench.tui.widgets.leaning_bar import place

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import TargetFigure, VariabilityFigure, WordingFigure

WIDE = 120
"columns of the terminal from which numbers are spelt out"
UP, DOWN, AT, FEW, NONE, OLD = "▲", "▼", " ", "·", "–", "!"


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def points(share: float, *, sign: bool = True) -> str:
    """Return a share in points with one decimal; `0.0` bears no sign, nothing is `–`.

    Examples
    --------
    >>> points(0.1234), points(-0.0001), points(math.nan), points(0.05, sign=False)
    ('+12.3', '0.0', '–', '5.0')
    """
    if math.isnan(share):
        return NONE
    shown = f"{100 * share:+.1f}" if sign else f"{100 * share:.1f}"
    return shown.lstrip("+-") if float(shown) == 0 else shown


def interval(value: Ranged, *, sign: bool = True) -> str:
    """Return `[+5.1, +19.5]` in points; empty where there is none."""
    if math.isnan(value.low) or math.isnan(value.high):
        return ""
    return f"[{points(value.low, sign=sign)}, {points(value.high, sign=sign)}]"


def side(value: Ranged, reference: float = 0.0) -> str:
    """Return ▲ or ▼ where the whole interval lies above or below the reference, else a blank.

    Examples
    --------
    >>> side(Estimate(0.2, 0.1, 0.3, 9)), side(Estimate(-0.2, -0.3, -0.1, 9)), side(Estimate(0.1, -0.1, 0.3, 9))
    ('▲', '▼', ' ')
    """
    if math.isnan(value.value) or math.isnan(reference):
        return AT
    if value.low > reference:
        return UP
    return DOWN if value.high < reference else AT


def side_of_people(value: Ranged, reference: float = 0.0, people: int | None = None) -> str:
    """Return `side`, and `·` for a figure of too few respondents to say.

    `people`: the respondents of the question that has fewest, for a mean, whose n counts questions; else the value's n.

    Examples
    --------
    >>> side_of_people(Estimate(0.2, 0.1, 0.3, 3)), side_of_people(Estimate(0.2, 0.1, 0.3, 7), people=90)
    ('·', '▲')
    """
    if math.isnan(value.value):
        return AT
    respondents = value.n if people is None and isinstance(value, Estimate) else people
    return FEW if respondents is not None and 0 < respondents < LEAST_RESPONDENTS else side(value, reference)


def error(se: float) -> str:
    """Return `±3.7` in points; empty where there is no standard error."""
    return "" if math.isnan(se) else f"±{100 * se:.1f}"


def signed_cell(value: Ranged, se: float, people: int | None = None) -> Text:
    """Return `+12.3 ±3.7 ▲`; `people` as in `side_of_people`."""
    if math.isnan(value.value):
        return Text("undefined ", style="dim italic", justify="right")
    return Text.assemble(
        (f"{points(value.value):>6}", "bold"),
        (f" {error(se):<5}", "dim"),
        f" {side_of_people(value, people=people)}",
        no_wrap=True,
    )


def share_cell(value: Ranged, se: float, reference: float = math.nan, people: int | None = None) -> Text:
    """Return `63.4 % ±2.1 ▲`: above or below the reference where the interval leaves it out."""
    if math.isnan(value.value):
        return Text("undefined ", style="dim italic", justify="right")
    mark = AT if math.isnan(reference) else side_of_people(value, reference, people)
    return Text.assemble((f"{100 * value.value:>5.1f} %", "bold"), (f" {error(se):<5}", "dim"), mark, no_wrap=True)


def difference_cell(value: Estimate, people: int | None = None) -> Text:
    """Return `+3.4 [-1.2, +8.0] ▲`; `people` as in `side_of_people`."""
    if not value.defined or math.isnan(value.value):
        return Text(" undefined", style="dim italic", no_wrap=True)
    mark = side_of_people(value, people=people)
    return Text.assemble(
        (f"{points(value.value):>6}", "bold"), (f" {interval(value)}", "dim"), f" {mark}", no_wrap=True
    )


def spread_cell(found: VariabilityFigure | None, *, rms: bool) -> Text:
    """Return `4.2 over 5`: how far the bias varies over wordings, and over how many."""
    value = None if found is None else found.rms if rms else found.sd
    if value is None or found is None or not value.defined or math.isnan(value.value):
        return Text(f"{NONE:>6}", style="dim", no_wrap=True)
    return Text.assemble((f"{points(value.value, sign=False):>6}", "bold"), (f" over {found.k}", "dim"), no_wrap=True)


def ratio_cell(yes: int, no: int, unreadable: int) -> Text:
    """Return `34:66`, with what could not be read behind it."""
    cell = Text.assemble((f"{f'{yes}:{no}':>8}", "bold"), no_wrap=True)
    return cell.append(f" ·{unreadable}", "dim") if unreadable else cell


def without_cell(share: float) -> Text:
    return Text(f"{NONE if math.isnan(share) else percent(share, digits=1):>8}", no_wrap=True)


def figure_cell(figure: TargetFigure | None, spread: VariabilityFigure | None, look: Look) -> Text:
    """Return what a cell of the table shows of one question and one model."""
    if figure is None:
        return Text(f"{NONE:>6}", style="dim")
    if look.measure == "accuracy":
        return share_cell(figure.accuracy, figure.accuracy_se, figure.majority)
    if look.measure == "variability":
        return spread_cell(spread, rms=look.rms)
    if look.measure == "yes:no":
        return ratio_cell(figure.yes, figure.no, figure.unreadable)
    if look.measure == "without":
        return without_cell(figure.without)
    return signed_cell(figure.bias, figure.bias_se)


def marked_old(cell: Text, old: int) -> Text:
    """Put `!` in the place of a cell's last sign, which says a side, where prompts behind it show what has changed."""
    if not old or cell.plain.startswith("undefined"):
        return cell
    cell.right_crop(1)
    return cell.append(OLD, "bold")


# ── pictures ────────────────────────────────────────────────────────────────────────────────────────────────────────

FILLS = (("yes", "█"), ("no", "▓"), ("other", "▒"), ("rest", "·"))
"what the next token is: yes, no, another one of the ten likeliest, any other"


class Shares(Protocol):
    """Where the probability of the next token goes; the four add up to 1."""

    @property
    def yes(self) -> float: ...

    @property
    def no(self) -> float: ...

    @property
    def other(self) -> float: ...

    @property
    def rest(self) -> float: ...


def token_bar(shares: Shares, width: int) -> Text:
    """Return the four shares as fills, `width` columns together; what is there at all has a column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> token_bar(SimpleNamespace(yes=0.5, no=0.25, other=0.2, rest=0.05), 20).plain
    '██████████▓▓▓▓▓▒▒▒▒·'
    """
    values = [getattr(shares, name) for name, _ in FILLS]
    if any(math.isnan(value) for value in values):
        return Text("unknown"[:width].ljust(width), style="dim italic", no_wrap=True)
    widths = column_shares(values, width)
    styles = ("bold", "", "dim", "dim")
    parts = ((sign * columns, style) for (_, sign), columns, style in zip(FILLS, widths, styles, strict=True))
    return Text.assemble(*parts, no_wrap=True)


def column_shares(values: Sequence[float], width: int) -> list[int]:
    """Return how many of `width` columns each share gets; half a percent and more gets one at least.

    Examples
    --------
    >>> column_shares([0.98, 0.006, 0.004, 0.01], 10)
    [8, 1, 0, 1]
    """
    total = sum(values) or 1.0
    columns = [max(1 if value / total >= 0.005 else 0, math.floor(width * value / total + 0.5)) for value in values]
    while sum(columns) != width and any(columns):
        step = 1 if sum(columns) < width else -1
        columns[columns.index(max(columns))] += step
    return columns


def token_numbers(shares: Shares) -> str:
    """Return the four shares in percent, without a sign: ` 34  50  10   6`."""
    values = (getattr(shares, name) for name, _ in FILLS)
    return "".join(f"{NONE if math.isnan(v) else f'{100 * v:.0f}':>4}" for v in values)


def token_legend(shares: Shares | None = None) -> Content:
    """Return what the fills mean, each with its share where there is one."""
    parts = []
    for name, sign in FILLS:
        share = "" if shares is None else f" {percent(getattr(shares, name), digits=1)}"
        words = {"other": "other in top 10"}.get(name, name)
        parts.append(Content.assemble((sign * 2, "bold"), f" {words}{share}"))
    return Content("   ").join(parts)


def strip_plot(wordings: Sequence[WordingFigure], width: int, limit: float) -> tuple[Text, Text]:
    """Return the biases of wordings on an axis from -limit to limit: the paraphrases, and the original below them.

    A paraphrase is `o`; several in one column are their number, `+` from ten on. The original is `◆`.

    Examples
    --------
    >>> from workbench.domain.statements import VariantId
    >>> from workbench.audits.questionnaire_figures import WordingFigure
    >>> names = (ORIGINAL, *(VariantId.parse(f"paraphrase-{n}") for n in (1, 2, 3)))
    >>> biases = (0.1, 0.1, 0.11, -0.3)
    >>> figures = [WordingFigure(name, bias, 9) for name, bias in zip(names, biases)]
    >>> [line.plain for line in strip_plot(figures, 21, 0.5)]
    ['    o     │ 2        ', '          │ ◆        ']
    """
    found: list[int] = [0] * width
    for figure in wordings:
        if figure.wording != ORIGINAL and not math.isnan(figure.bias):
            found[place((figure.bias + limit) / (2 * limit), width)] += 1
    zero = place(0.5, width)
    signs = ["│" if column == zero else " " for column in range(width)]
    marks = [_stacked(n) or sign for sign, n in zip(signs, found, strict=True)]
    original = next((figure.bias for figure in wordings if figure.wording == ORIGINAL), math.nan)
    if not math.isnan(original):
        signs[place((original + limit) / (2 * limit), width)] = "◆"
    return Text("".join(marks), style="bold", no_wrap=True), Text("".join(signs), style="bold", no_wrap=True)


def _stacked(n: int) -> str:
    """Return the mark of so many wordings in one column."""
    return "" if n == 0 else "o" if n == 1 else str(n) if n < 10 else "+"


def accuracy_line(value: Estimate, majority: float, width: int) -> Text:
    """Return an accuracy with its interval on a line from 0 to 100 %, ╎ where the more frequent answer is.

    Examples
    --------
    >>> accuracy_line(Estimate(0.7, 0.6, 0.8, 9), 0.5, 21).plain
    '··········╎·├─●─┤····'
    """
    if math.isnan(value.value):
        return Text(visible(value.undefined)[:width].ljust(width), style="dim italic", no_wrap=True)
    signs = ["·"] * width
    if not math.isnan(value.low):
        first, last = place(value.low, width), place(value.high, width)
        signs[first : last + 1] = ["─"] * (last + 1 - first)
        signs[first], signs[last] = "├", "┤"
    if not math.isnan(majority):
        at = place(majority, width)
        signs[at] = "╎" if signs[at] == "·" else "╫"
    signs[place(value.value, width)] = "●"
    return Text("".join(signs), style="bold", no_wrap=True)


def reach(values: Sequence[float], *, near: bool) -> float:
    """Return where a line around 0 ends: 1, or the next tenth behind the farthest value."""
    most = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if not near:
        return 1.0 if most <= 1 else 2.0
    return max(0.1, math.ceil(most * 10 - 1e-9) / 10)


def scale_line(width: int, limit: float, ends: tuple[str, str] = ("", "")) -> str:
    """Return the heading of such lines in points: `-50        0       +50`."""
    left, right = f"-{100 * limit:.0f}", f"+{100 * limit:.0f}"
    if ends[0]:
        wide = len("".join(ends)) + 2 * len(left) + 8 <= width
        left, right = (f"{ends[0]} {left}", f"{right} {ends[1]}") if wide else ends
    signs = [" "] * width
    for text, at in ((left, 0), ("0", place(0.5, width)), (right, width - len(right))):
        signs[max(0, at) : max(0, at) + len(text)] = text
    return "".join(signs)[:width]


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def pole_words(value: float, pole: Pole | None) -> str:
    """Say which pole a bias leans to, of a question whose yes leans to `pole`."""
    if pole is None or math.isnan(value) or value == 0:
        return ""
    other = Pole.LIBERAL if pole is Pole.CONSERVATIVE else Pole.CONSERVATIVE
    return (pole if value > 0 else other).value


def people_words(figure: TargetFigure) -> str:
    """Say what the people answered."""
    if math.isnan(figure.human):
        return "nobody who answered yes or no was asked about"
    yes = f"{percent(figure.human, digits=1)} of {plural(figure.respondents, 'respondent')} said yes"
    return f"{yes}; majority {percent(figure.majority, digits=1)}"
