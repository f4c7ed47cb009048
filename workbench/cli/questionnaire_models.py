"""Several models of a questionnaire beside one another as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.cli.questionnaire_cells import FEW, MEAN_OF_ABSOLUTE, OLD, Reasons
from workbench.domain.counting import plural

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Condition, Correlation, Difference
    from workbench.pipeline.questionnaire import QuestionnaireJudged


def print_correlation(judged: QuestionnaireJudged, condition: Condition, target: str | None = None) -> None:
    """Absolute bias against accuracy (section 5.2); of targets only where there are models enough."""
    from workbench.audits.questionnaire_score import correlations
    from workbench.domain.questionnaires import LEAST_RESPONDENTS

    why = Reasons()
    models = sum(condition in report.conditions for report in judged.reports.values())
    say()
    say(f"Pearson's correlation of |bias| and accuracy under {condition}, over {plural(models, 'model')}")
    overall, *each = correlations(judged.reports, condition)
    rows = [overall, *(row for row in each if target in (None, row.target))]
    defined = any(not row.undefined for row in each)
    table(
        ["target", "r", "t (df)", "p", "n"],
        [
            (
                row.target or "all",
                why.mark(row.undefined) if row.undefined else f"{round(row.r, 2) + 0.0:+.2f}",
                *_test(row, why),
                str(row.n),
            )
            for row in (rows if defined else [overall])
        ],
    )
    why.say()
    if each and not defined:
        say(f"Of single targets there is none: each has at most {plural(models, 'model')}.")
    if overall.few:
        say(
            f"{overall.few} of the {plural(overall.n, 'point')} rest on fewer than {LEAST_RESPONDENTS} respondents: "
            "both coordinates are mostly noise and share it, so r and p say nothing of the models"
        )
    if not overall.undefined:
        say("p takes the points for independent, as published, although those of a model belong together")


def _test(row: Correlation, why: Reasons) -> tuple[str, str]:
    """Return t and p of a correlation; a mark for the reason where it has no test."""
    if row.undefined or row.untested:
        return ("", "") if row.undefined else (why.mark(row.untested), "")
    return f"{row.t:+.2f} ({row.df})", "< .001" if row.p < 0.001 else f"{row.p:.3f}"


def print_differences(
    judged: QuestionnaireJudged,
    base: str,
    bases: Sequence[str],
    shown: Mapping[str, Sequence[Condition]],
    target: str | None = None,
) -> None:
    """Base against tuned models (section 5.1): every model that is no base."""
    first = judged.reports[base]
    for name in judged.reports:
        for condition in shown[name] if name not in bases else ():
            say()
            if condition not in first.conditions:
                say(f"{name} minus {base}: {base} was not asked under {condition}")
                continue
            _difference(judged, base, name, condition, target)


def _difference(judged: QuestionnaireJudged, base: str, name: str, condition: Condition, target: str | None) -> None:
    from workbench.audits.questionnaire_conditions import ZERO_SHOT
    from workbench.audits.questionnaire_score import differences
    from workbench.domain.questionnaires import LEAST_RESPONDENTS

    *every, of_all = differences(judged.reports[base], judged.reports[name], condition)
    rows = tuple(row for row in (*every, of_all) if target in (None, row.target))
    both = (judged.gathered[base], judged.gathered[name])
    old = {row.target: sum(found.old(condition, row.target) for found in both) for row in rows}
    why = Reasons()
    say(f"{name} minus {base} under {condition}, over the same respondents, in percent [95 %]")
    table(
        ["target", "n", "bias", "accuracy", ""],
        [
            (
                row.target or "mean, of |bias|",
                str(row.respondents) if row.target else "",
                why.ranged(row.bias, sign=True),
                why.ranged(row.accuracy, sign=True),
                _mark(row, old[row.target]),
            )
            for row in rows
        ],
    )
    why.say()
    if any(of_all.left_out):
        first, second = of_all.left_out
        say(f"left out, over all targets: {plural(first, 'answer')} of {base} alone, {second:,} of {name} alone")
    if any(old.values()):
        say(f"{OLD}: so many prompts of the two show what was changed since; the note below has more")
    if any(row.few and not old[row.target] for row in rows):
        say(f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say that the models differ, or how")
    if condition.name == ZERO_SHOT:
        say("zero-shot shows nobody's answers: two models differ by the same whoever is drawn, so an interval of the")
        say("bias has no width; it says nothing of other wordings or questions")
    if target is None:
        say(f"{MEAN_OF_ABSOLUTE}.")


def _mark(row: Difference, old: int) -> str:
    if old:
        return f"{OLD} {old:,}"
    return FEW if row.few else "flipped" if row.flipped else ""
