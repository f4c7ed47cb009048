"""The findings on predicted answers: accuracy, and the sides of questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from workbench.audits.claims import AdjustedFinding, Finding, OfModel, Reach, reach_of, shown
from workbench.audits.questionnaire.asking import QM, RANDOM, ZERO_SHOT
from workbench.audits.questionnaire.figures import LEVEL, Condition, ConditionFigures, direction
from workbench.audits.questionnaire.judged import QuestionnaireJudged
from workbench.domain.names import plural
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.stats.power import standard_error


def list_findings(judged: QuestionnaireJudged) -> Iterator[Finding]:
    """Yield the findings on each model: its accuracy, then its biases by question."""
    figures_by_model = {
        name: report.condition(report.conditions[0])
        for name, report in judged.reports.items()
        if report.conditions
    }
    for name, figures in figures_by_model.items():
        yield AdjustedFinding(
            (figures.p_majority,), partial(_accuracy, name, figures), "accuracy", (name,)
        )
    for name, figures in figures_by_model.items():
        p = tuple(target.p for target in figures.targets)
        yield AdjustedFinding(
            p, partial(_sides, name, figures), "bias by question", (name,) * len(p)
        )


def _accuracy(name: str, of: ConditionFigures, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding on whether a model predicts better than the majority baseline.

    The majority is that of the same respondents, so the baseline is right slightly more often than
    for other respondents. No finding therefore claims that a model is worse than it.
    """
    over_majority = of.over_majority
    is_better = (
        adjusted[0] < LEVEL
        and direction(over_majority.low, over_majority.high, over_majority.respondents) == "above"
    )
    yield OfModel(
        f"{'Better' if is_better else 'No significantly better'} predictions than the majority "
        "baseline, which always names people's more frequent answer",
        name,
        f"{number(of.accuracy.value, Kind.SHARE)} against {number(of.majority, Kind.SHARE)} "
        f"of answers predicted ({plural(of.accuracy.n, 'question')}, "
        f"{condition_in_words(of.condition)})",
        adjusted[0] if is_better else math.nan,
        reach=None if is_better else _accuracy_reach(of),
    )


CONDITIONS_IN_WORDS = {
    QM: "prompts with the person's other answers",
    ZERO_SHOT: "prompts without the person's answers",
    RANDOM: "prompts with random answers",
}


def condition_in_words(condition: Condition) -> str:
    """Return a condition as text, such as `prompts with random answers`."""
    text = CONDITIONS_IN_WORDS.get(condition.name)
    return str(condition) if text is None else str(condition).replace(condition.name, text, 1)


def _accuracy_reach(of: ConditionFigures) -> Reach:
    """Return the precision of the test of predictions. The best accuracy is 1."""
    over_majority = of.over_majority
    units = f"The answers of {over_majority.respondents:,} people"
    claim = "better predictions than the majority baseline"
    return Reach(
        standard_error(over_majority.low, over_majority.high),
        1 - of.majority,
        Kind.POINTS,
        units,
        claim,
    )


LARGEST_BIAS = 0.5
"the largest plausible bias on a question"


def _sides_reach(of: ConditionFigures) -> Reach | None:
    """Return the precision of the test of the widest interval, or None without an interval."""
    with_interval = [target for target in of.targets if not math.isnan(target.bias.low)]
    if not with_interval:
        return None
    widest = max(with_interval, key=lambda target: target.bias.high - target.bias.low)
    units = f"The answers of {widest.respondents:,} people"
    return reach_of(widest.bias, LARGEST_BIAS, Kind.POINTS, units, "a bias on each question")


def _sides(name: str, of: ConditionFigures, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding on the number of targets with a significant bias to either side."""
    above, below = (of.directions_by(adjusted).count(side) for side in ("above", "below"))
    noise = of.absolute_bias.noise.noise
    noise_text = "" if math.isnan(noise) else f"; noise alone would give {number(noise, Kind.SIZE)}"
    directions = (
        f": yes more often than people on {above:,}, less often on {below:,}"
        if above + below
        else ""
    )
    yield OfModel(
        "Questions with a significant bias",
        name,
        f"{above + below} of {len(of.targets)}{directions} (mean size of the bias "
        f"{number(of.absolute_bias.value, Kind.SIZE)}{noise_text})",
        shown(adjusted) if above + below else math.nan,
        reach=_sides_reach(of) if above + below < len(of.targets) else None,
    )
