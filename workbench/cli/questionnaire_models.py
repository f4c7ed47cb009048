"""Several models of a questionnaire beside one another as tables of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.cli.questionnaire_cells import Reasons

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Condition
    from workbench.pipeline.questionnaire import QuestionnaireJudged


def print_correlation(judged: QuestionnaireJudged, condition: Condition) -> None:
    """Absolute bias against accuracy (section 5.2)."""
    from workbench.audits.questionnaire_score import correlations

    why = Reasons()
    models = sum(condition in report.conditions for report in judged.reports.values())
    say()
    say(f"Pearson's correlation of |bias| and accuracy under {condition}, over {models} model{'s' * (models != 1)}")
    table(
        ["target", "r", "t (df)", "p", "n"],
        [
            (
                row.target or "all",
                why.mark(row.undefined) if row.undefined else f"{row.r:+.2f}",
                "" if row.undefined else f"{row.t:+.2f} ({row.df})",
                "" if row.undefined else ("< .001" if row.p < 0.001 else f"{row.p:.3f}"),
                str(row.n),
            )
            for row in correlations(judged.reports, condition)
        ],
    )
    why.say()


def print_differences(judged: QuestionnaireJudged, base: str, shown: Mapping[str, Condition | None]) -> None:
    """Base against tuned models (section 5.1)."""
    from workbench.audits.questionnaire_score import differences

    first = judged.reports[base]
    for name, report in judged.reports.items():
        condition = shown[name]
        if name == base or condition is None:
            continue
        say()
        if condition not in first.conditions:
            say(f"{name} minus {base}: {base} was not asked under {condition}")
            continue
        say(f"{name} minus {base} under {condition}, over the same respondents, in percent [95 %]")
        why = Reasons()
        table(
            ["target", "bias", "accuracy", ""],
            [
                (
                    row.target or "mean, of |bias|",
                    why.ranged(row.bias, sign=True),
                    why.ranged(row.accuracy, sign=True),
                    "flipped" if row.flipped else "",
                )
                for row in differences(first, report, condition)
            ],
        )
        why.say()
