"""Figures of response biases as cells of text. Means and their intervals are percentage points, as published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.audits.response_bias_deltas import Definition

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Adjusted, Cell, HumanLikeness, Options, Report
    from workbench.audits.response_bias_uncertainty import EntropyRule
    from workbench.stats.correlation import Pearson
    from workbench.stats.one_sample import MeanTest

NOTHING = "–"
BAR = 30
"characters of the bar of a share of 1"
FULL, PART = "█", "·"
ROUNDING = 1e-9
"shares that differ by less are equal: they are sums of floating-point numbers"

DEFINITIONS: Mapping[Definition, str] = {
    Definition.PAPER: "as the published tables: shares of all answers; of perturbations the first 50 questions of the "
    "file, of allow/forbid all; allow/forbid is human-like below 0",
    Definition.ALL_KEYS: "as the published tables, without leaving out questions: shares of all answers; allow/forbid "
    "is human-like below 0",
    Definition.HEAD: "as the code that the authors published last: shares of all answers; without eight questions of "
    "allow/forbid; above 0 is human-like for every bias",
    Definition.CORRECTED: "shares of valid answers; the options of a form without its middle go by the letters of the "
    "original; allow/forbid with two options only; above 0 is human-like for every bias",
}
HOLM: Mapping[Adjusted, str] = {
    "none": "p is not adjusted, as published",
    "biases": "p is adjusted by Holm's procedure over a model's biases, of perturbations it is not",
    "all": "p is adjusted by Holm's procedure over a model's biases and perturbations together",
}

ENTROPIES: Mapping[EntropyRule, str] = {
    "offered": "by the options really offered",
    "csv": "as in the published files, by the options that they record",
}


def points(value: float, digits: int = 1) -> str:
    """Return percentage points with their sign; a dash where there are none.

    Examples
    --------
    >>> points(1.958), points(-0.0001), points(float("nan"))
    ('+2.0', '0.0', '–')
    """
    if math.isnan(value):
        return NOTHING
    shown = f"{value:+.{digits}f}"
    return shown if float(shown) else shown.lstrip("+-")


def plain_number(value: float, digits: int = 3) -> str:
    """Return a number without a sign above 0; a dash where there is none."""
    return NOTHING if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def percent(value: float) -> str:
    """Return `61.2 %`; a dash where there is nothing. Less than all is never `100.0 %`, more than none never `0.0 %`.

    Examples
    --------
    >>> percent(0.612), percent(0.99996), percent(1.0), percent(1e-6), percent(0.0)
    ('61.2 %', '99.9 %', '100.0 %', '<0.1 %', '0.0 %')
    """
    if math.isnan(value):
        return NOTHING
    if 0.9995 <= value < 1 - ROUNDING:
        return "99.9 %"
    if ROUNDING < value < 0.0005:
        return "<0.1 %"
    return f"{round(100 * value, 1) + 0.0:.1f} %"


def probability(p: float) -> str:
    """Return a p value by three significant digits; a dash where there is no test.

    Examples
    --------
    >>> probability(0.02115), probability(1.03e-33), probability(0.0)
    ('0.0211', '1.03e-33', '0')
    """
    return NOTHING if math.isnan(p) else f"{p:.3g}"


def interval(test: MeanTest, digits: int = 1) -> str:
    """Return `[-0.3, +4.2]`; nothing where there is none."""
    return "" if math.isnan(test.low) else f"[{points(test.low, digits)}, {points(test.high, digits)}]"


def mean(test: MeanTest, digits: int = 1) -> str:
    """Return `+1.9 [-0.3, +4.2]`."""
    return f"{points(test.mean, digits)} {interval(test, digits)}".rstrip()


def t_value(test: MeanTest) -> str:
    """Return `+2.35 (175)`, with the degrees of freedom; a dash where there is no test."""
    return f"{test.t:+.2f} ({test.df})" if test.tested else NOTHING


def correlation(found: Pearson) -> str:
    """Return `+0.42`; a dash where there is none, see `undefined_said`."""
    return NOTHING if found.undefined else f"{round(found.r, 2) + 0.0:+.2f}"


def undefined_said(found: Iterable[Pearson]) -> str:
    """Return why a table shows dashes for correlations, or for their p; nothing where it shows none."""
    some = tuple(found)
    of_r = dict.fromkeys(one.undefined for one in some if one.undefined)
    of_p = dict.fromkeys(one.untested for one in some if one.untested)
    reasons = [f"{NOTHING} for {name}: {'; '.join(why)}" for name, why in (("r", of_r), ("p of r", of_p)) if why]
    return ". ".join(reasons)


def stars(cell: Cell) -> str:
    """Return how small the p of a significant change is; nothing for another.

    One star for a p below the chosen level, two below .01, three below .001.
    """
    if cell.effect == 0:
        return ""
    return "***" if cell.p_adjusted < 0.001 else "**" if cell.p_adjusted < 0.01 else "*"


def marked(cell: Cell | None) -> str:
    """Return `+24.9 *** +`: the mean, its stars and the mark of its direction; in words where there is no mean."""
    if cell is None:
        return NOTHING
    if math.isnan(cell.delta.mean):
        return cell.said
    return " ".join(filter(None, (points(cell.delta.mean), stars(cell), cell.mark)))


def worded(cell: Cell | None) -> str:
    """Return `+24.9 *** significant, human-like (n 271)`; a dash where nobody asked."""
    if cell is None:
        return NOTHING
    if math.isnan(cell.delta.mean):
        return cell.said
    return " ".join(filter(None, (points(cell.delta.mean), stars(cell), cell.said, f"(n {cell.delta.n})")))


def most_human_like(found: HumanLikeness) -> str:
    """Return `yes`, `no`, or `open` where a perturbation is missing."""
    return {True: "yes", False: "no", None: "open"}[found.most_human_like]


def score(report: Report) -> str:
    """Return `+2 of 5`, the score by the direction that people show."""
    return _summed(report.score.human_like, report)


def score_as_published(report: Report) -> str:
    """Return `+2 of 5`, the score by the definition's own sign."""
    return _summed(report.score.signed, report)


def _summed(value: int, report: Report) -> str:
    if not report.score.biases:
        return f"{NOTHING} no bias has a test"
    return f"{value:+d} of {report.score.biases}" if value else f"0 of {report.score.biases}"


def definition_said(definition: Definition) -> str:
    """Return the definition by name and in words."""
    return f"Definition {definition}: {DEFINITIONS[definition]}."


def test_said(options: Options) -> str:
    """Return what is significant."""
    return (
        f"Significant: p below {options.alpha:g}, t-test over questions, two-sided; {HOLM[options.holm]}. "
        "[ ]: 95 % interval."
    )


def bar(share: float) -> str:
    """Return a share as a bar; nothing where there is none.

    Examples
    --------
    >>> bar(0.5).count("█"), bar(float("nan"))
    (15, '')
    """
    if math.isnan(share):
        return ""
    full = round(min(1.0, max(0.0, share)) * BAR)
    return FULL * full + PART * (BAR - full)


def amount(value: float) -> str:
    """Return a number of answers; a dash where answers were not drawn."""
    return NOTHING if math.isnan(value) else f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
