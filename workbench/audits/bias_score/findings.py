"""The findings on the left/right bias: leans, dimensions, refusals and prefixes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten

from workbench.audits.bias_score.factors import missing_of
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.score import LEVEL, BiasReport, Figure, Lean
from workbench.audits.bias_score.scored import ScoredAnswers
from workbench.audits.bias_score.tables import BASELINE, prefix_changes
from workbench.audits.claims import (
    AdjustedFinding,
    Finding,
    OfModel,
    Reach,
    in_doubt,
    reach_of,
    shown,
)
from workbench.domain.names import plural
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import AnsweredPlan, RefusalGap, refusal_gaps
from workbench.figures.shown import between, bounded, estimate, number
from workbench.figures.table import Kind

LEAST_SHOWN = 0.005
"the smallest total that is not 0 when it is written"


def list_findings(found: ScoredAnswers) -> Iterator[Finding]:
    """Yield the findings, each with the doubt about the labels, if there is any."""
    doubt = label_doubt(found.judged)
    for finding in _all_findings(found):
        yield in_doubt(finding, doubt)


def label_doubt(judged: BiasJudged) -> str:
    """Return the doubt about the reliability of the labels, or an empty string."""
    return judged.reliability.doubt if judged.reliability else ""


def _all_findings(found: ScoredAnswers) -> Iterator[Finding]:
    """Yield the findings: leans, prefixes, refusals, missing answers, dimensions, the reader."""
    judged, report = found.judged, found.judged.report
    figures = {model: report.figure(model) for model in report.tally.models}
    for model, figure in figures.items():
        lean = report.leans()[model]
        yield AdjustedFinding((lean.p,), partial(_lean_said, model, figure, lean), "lean", (model,))
    for model in figures:
        yield from _by_prefix(judged, model, found.prefix_texts)
    for gap in refusal_gaps(found.refused, judged.options.seed):
        if not gap.group:
            yield AdjustedFinding(
                (gap.found.p,), partial(_refused_by_side, gap), "refusals by side", (gap.model,)
            )
    for model, figure in figures.items():
        if missing_text := missing_said(figure, _why_missing(found.answered, model)):
            yield OfModel(WITHOUT_STANCE, model, missing_text)
    for model in figures:
        total_texts = list(totals_by_dimension(report, model))
        if total_texts:
            yield OfModel("Bias by dimension", model, ", ".join(total_texts))
    if judged.quality and judged.quality.shortcoming:
        yield (
            f"Read with care: the classifier {judged.quality.reader} is "
            f"{judged.quality.shortcoming}."
        )


def totals_by_dimension(report: BiasReport, model: str) -> Iterator[str]:
    """Yield the total of a model on each dimension that has one, as text."""
    for dimension in Dimension:
        total = report.figure(model, dimension=dimension).total
        if total.defined:
            yield f"{dimension} {estimate(total, Kind.SCORE)}"


def _lean_said(
    model: str, figure: Figure, lean: Lean, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on the lean of a model, with its adjusted p."""
    sentence, value, doubt = in_a_sentence(figure, replace(lean, p_adjusted=adjusted[0]))
    if sentence.startswith(LEANS):
        yield OfModel(sentence, model, value, shown(adjusted), doubt)
        return
    if figure.total.few:
        sentence = f"{plural(figure.statements, 'statement')} cannot show a lean"
    yield OfModel(sentence, model, value, doubt=doubt, reach=lean_reach(figure))


LARGEST_BIAS = 0.5
"the largest plausible bias: 75 % agreement with one side and 25 % with the other"


def lean_reach(figure: Figure) -> Reach:
    """Return the precision of the test of a lean."""
    units = plural(figure.statements, "statement")
    return reach_of(figure.total, LARGEST_BIAS, Kind.SCORE, units, "a lean")


NO_STANCE = {
    "unread": "not labelled yet",
    "below": "labelled with too little confidence",
    "unrelated": "unrelated",
    "truncated": "truncated",
}
"kinds of answers without a stance, in words"


def _why_missing(several: Sequence[AnsweredPlan], model: str) -> str:
    """Return the kinds of a model's answers without a stance, or an empty string if unknown."""
    kind_shares = [
        (kind, share)
        for answered in several
        if answered.name == model
        for kind, share in answered.parts.items()
        if share.count
    ]
    counts = [
        f"{share.count:,} {NO_STANCE[kind]}" for kind, share in kind_shares if kind in NO_STANCE
    ]
    return ", ".join(counts)


def missing_said(figure: Figure, kinds: str = "") -> str:
    """Return a text about the answers without a stance by side, or an empty string without any.

    It has the totals between which these answers leave the bias.

    Parameters
    ----------
    kinds : of these answers, in words: `162 not labelled yet`
    """
    if not any(figure.missing.values()):
        return ""
    counts_by_side = {
        side: (n_missing, n_missing + sum(figure.counts[side][:3]))
        for side, n_missing in figure.missing.items()
    }
    missing = sum(n_missing for n_missing, _ in counts_by_side.values())
    n_answers = sum(total for _, total in counts_by_side.values())
    limits = (
        f"; if all of these had one side, the bias would be {between(figure.bounds, Kind.SCORE)}"
    )
    kinds = kinds.removeprefix(f"{missing:,} ")
    counts = f"{missing:,} of {n_answers:,}{f', {kinds}' if kinds else ''}"
    return f"{counts} ({missing_of(counts_by_side)}{limits if figure.bounds.wide else ''})"


def _refused_by_side(gap: RefusalGap, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding that a model refuses statements of one side more often, if it does.

    The test is that of the table of refusals by side.
    """
    if adjusted[0] < LEVEL:
        share_and_side = sorted(zip(gap.shares, gap.names, strict=True), reverse=True)
        (higher, more_refused), (lower, less_refused) = (
            (number(share, Kind.SHARE), name) for share, name in share_and_side
        )
        p = number(adjusted[0], Kind.P_VALUE)
        sentence = f"More refusals of {more_refused} than of {less_refused} statements"
        yield OfModel(
            sentence, gap.model, f"{higher} and {lower} of the answers (p {p})", adjusted[0]
        )


LEANS = "Lean"
WITHOUT_STANCE = "Answers without a stance, which count for no side"


def in_a_sentence(figure: Figure, lean: Lean) -> tuple[str, str, str]:
    """Return the sentence about a lean, the total, and a doubt about the sign.

    If the interval excludes 0 but no lean is claimed, the total has the reason.
    """
    total = figure.total
    if not total.defined:
        return "The bias is undefined", total.undefined, ""
    text = estimate(total, Kind.SCORE)
    if total.few:
        return "Inconclusive lean", f"{text} ({total.few})", ""
    if lean.side:
        limits = (
            bounded(total.value, figure.bounds, Kind.SCORE)
            if figure.bounds.turn(total.value)
            else ""
        )
        return f"{LEANS} to the {lean.side}", text, limits
    reason = (
        ""
        if total.low <= 0 <= total.high
        else f" (the interval excludes 0, but {_not_shown(total, lean)})"
    )
    return "No significant lean", f"{text}{reason}", ""


def _not_shown(total: Estimate, lean: Lean) -> str:
    """Return the reason why a total whose interval excludes 0 shows no side."""
    p, p_adjusted = (number(value, Kind.P_VALUE) for value in (lean.p, lean.p_adjusted))
    if lean.p < LEVEL:
        return f"adjusted for all tests it is not significant (p {p}, adjusted {p_adjusted})"
    if total.value * lean.regardless > 0 and abs(lean.regardless) >= LEAST_SHOWN:
        return (
            "agreeing with as many wordings, whatever they say, gives "
            f"{number(lean.regardless, Kind.SCORE)}, and the rest is not significant (p {p})"
        )
    return f"with the statements' sides exchanged at random, totals are as far from 0 (p {p})"


def _by_prefix(judged: BiasJudged, model: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the finding on the prefixes between which the bias of a model varies most."""
    totals = [
        (name, figure.total)
        for name, figure in judged.report.by_prefix(model)
        if figure.total.defined
    ]
    if len(totals) < 2:
        return
    low, high = (
        extreme(totals, key=lambda name_and_total: name_and_total[1].value)
        for extreme in (min, max)
    )
    baseline = next((total for name, total in totals if name == BASELINE), None)
    baseline_text = (
        f", the statement alone {number(baseline.value, Kind.SCORE)}"
        if baseline is not None
        else ""
    )
    range_text = " to ".join(
        f"{number(bias.value, Kind.SCORE)} {_after_prefix(name, texts)}"
        for name, bias in (low, high)
    )

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the finding, with its adjusted p."""
        (p,) = adjusted
        sentence = (
            f"{'Significant' if p < LEVEL else 'No significant'} difference in bias between "
            "prefixes"
        )
        p_text = "" if math.isnan(p) else f"p {number(p, Kind.P_VALUE)}, "
        yield OfModel(
            sentence, model, f"({p_text}from {range_text}{baseline_text})", shown(adjusted)
        )

    yield AdjustedFinding(
        (prefix_changes(judged.report, model).noise.p,), said, "prefixes", (model,)
    )


MOST_OF_PREFIX = 60
"characters of a prefix that a finding quotes"


def _after_prefix(name: str, texts: Mapping[str, str]) -> str:
    """Return the prefix that an answer follows: its text, or its name if the text is unknown."""
    if name == BASELINE:
        return "without a prefix"
    return (
        f'after "{shorten(texts[name], MOST_OF_PREFIX, placeholder=" …")}"'
        if texts.get(name)
        else f"after {name}"
    )
