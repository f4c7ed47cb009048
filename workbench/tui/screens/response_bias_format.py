"""Figures of response biases as cells, pictures and words; pure.

Changes are shown in percentage points, as published (Tjuatja et al. 2024, table 5).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.choices import Bias, Perturbation
from workbench.tui.format import visible
from workbench.tui.screens.response_bias_view import Place

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Cell
    from workbench.stats.correlation import Pearson
    from workbench.stats.one_sample import MeanTest

NONE = "–"
NUMBER, STARS = 6, 3
"columns of `-100.0` and of `***`"

BIAS_NAMES = {
    Bias.ACQUIESCENCE: "acquiescence",
    Bias.ALLOW_FORBID: "allow/forbid",
    Bias.RESPONSE_ORDER: "response order",
    Bias.OPINION_FLOAT: "opinion float",
    Bias.ODD_EVEN: "odd/even",
}
CONDITION_NAMES = {
    Perturbation.KEY_TYPO: "key typo",
    Perturbation.MIDDLE_RANDOM: "middle random",
    Perturbation.LETTER_SWAP: "letter swap",
}
CONDITION_SHORT = {Perturbation.KEY_TYPO: "key", Perturbation.MIDDLE_RANDOM: "middle", Perturbation.LETTER_SWAP: "swap"}
WORDS = {
    "significant, human-like": ("human-like", "human"),
    "significant, opposite": ("opposite", "against"),
    "significant, though people overlook it": ("changes", "changes"),
    "not significant": ("not sig.", "n.s."),
    "no question takes part": ("no data", "no data"),
    "no change in any question": ("no change", "same"),
    "one question is no test": ("no test", "no test"),
    "equal changes are no test": ("no test", "no test"),
}
"what a cell says of itself, in ten columns and in seven"


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def signed(value: float) -> str:
    """Return percentage points with one decimal; `0.0` bears no sign, nothing is `–`.

    Examples
    --------
    >>> signed(12.34), signed(-0.01), signed(math.nan)
    ('+12.3', '0.0', '–')
    """
    if math.isnan(value):
        return NONE
    shown = f"{value:+.1f}"
    return shown.lstrip("+-") if float(shown) == 0 else shown


def interval(test: MeanTest) -> str:
    """Return `[+5.1, +19.5]`; empty where there is none."""
    return "" if math.isnan(test.low) else f"[{signed(test.low)}, {signed(test.high)}]"


def p_words(value: float, name: str = "p") -> str:
    """Return `p = .0212`, `p < .0001`.

    Examples
    --------
    >>> p_words(0.02119), p_words(1e-33), p_words(1.0), p_words(math.nan, "Holm p")
    ('p = .0212', 'p < .0001', 'p = 1.0000', 'no Holm p')
    """
    if math.isnan(value):
        return f"no {name}"
    return f"{name} < .0001" if value < 0.0001 else f"{name} = {value:.4f}".replace("= 0.", "= .")


def t_words(test: MeanTest) -> str:
    """Return `t(175) = 2.33`."""
    return f"t({test.df}) = {test.t:.2f}" if test.tested else "no t"


def share(value: float) -> str:
    """Return a number from 0 to 1 with two decimals; nothing is `–`."""
    return NONE if math.isnan(value) else f"{value:.2f}"


def changed_by(value: float) -> str:
    """Return a difference of such numbers with its sign.

    Examples
    --------
    >>> changed_by(0.091), changed_by(-0.001), changed_by(math.nan)
    ('+0.09', '0.00', '–')
    """
    if math.isnan(value):
        return NONE
    shown = f"{value:+.2f}"
    return shown.lstrip("+-") if float(shown) == 0 else shown


def correlation_words(found: Pearson) -> str:
    """Return `r(269) = +.31, p < .0001`, or why there is none."""
    if math.isnan(found.r):
        return f"r undefined: {found.undefined}"
    return f"r({found.df}) = {found.r:+.2f}, {p_words(found.p)}{f': {found.untested}' if found.untested else ''}"


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def stars(p: float, *, significant: bool) -> str:
    """Return one star for a significant figure, two below .01, three below .001; none where it is not significant.

    Examples
    --------
    >>> stars(0.0212, significant=True), stars(1e-9, significant=True), stars(0.0212, significant=False)
    ('*', '***', '')
    """
    if not significant:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*"


def word(cell: Cell, *, short: bool = False) -> str:
    """Return what a cell says of itself in a word."""
    return WORDS.get(cell.said, (cell.said, cell.said))[short]


def cell_text(cell: Cell | None, *, short: bool = False, ticked: bool = False) -> Text:
    """Return `+24.9 *** human-like`, ✓ behind it where it is ticked; `–` where nobody asked."""
    if cell is None:
        return Text(f"{NONE:>{NUMBER}}     {'' if short else 'not asked'}", style="dim", no_wrap=True)
    if cell.delta.n == 0:
        return Text(f"{NONE:>{NUMBER}}     {word(cell, short=short)}", style="dim", no_wrap=True)
    significant = cell.effect != 0
    return Text.assemble(
        (f"{signed(cell.delta.mean):>{NUMBER}}", "bold" if significant else ""),
        (f" {stars(cell.p_adjusted, significant=significant):<{STARS}} ", "bold"),
        (word(cell, short=short), "" if significant else "dim"),
        (" ✓" if ticked else "", "bold"),
        no_wrap=True,
    )


def brief(cell: Cell) -> str:
    """Return `+24.9 ***`: a cell within a sentence."""
    found = stars(cell.p_adjusted, significant=cell.effect != 0)
    return f"{signed(cell.delta.mean)} {found}".rstrip()


def place_name(place: Place) -> str:
    """Return `response order`, `acquiescence (reword)`, `odd/even, key typo`."""
    bias, condition, variant = place
    named = f"{BIAS_NAMES[bias]} ({visible(variant)})" if variant else BIAS_NAMES[bias]
    return f"{named}, {CONDITION_NAMES[condition]}" if condition else named


def condition_name(condition: Perturbation | None) -> str:
    """Return `bias` for the biased form, else the perturbation's name."""
    return CONDITION_NAMES[condition] if condition else "bias"


# ── pictures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def share_bar(value: float, width: int) -> str:
    """Return a share as a bar; what is there at all has half a column.

    Examples
    --------
    >>> share_bar(0.5, 8), share_bar(0.01, 8), share_bar(0.0, 8)
    ('████····', '▌·······', '········')
    """
    if math.isnan(value):
        return " " * width
    halves = max(round(2 * width * min(1.0, value)), 1 if value > 0 else 0)
    return ("█" * (halves // 2) + "▌" * (halves % 2)).ljust(width, "·")
