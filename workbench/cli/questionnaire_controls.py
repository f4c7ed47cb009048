"""What changes a bias as tables of text: other contexts (appendix F.1) and other words (tables 4 and 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.cli.questionnaire_cells import (
    ABOVE,
    BELOW,
    MEAN_OF_ABSOLUTE,
    OLD,
    Reasons,
    percent,
    signed,
)
from workbench.cli.questionnaire_fit import Form, print_fitting

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Ablation, Condition, VariabilityFigure
    from workbench.audits.questionnaire_score import Report
    from workbench.domain.verdicts import Ranged

    Old = Callable[..., int]
    "how many prompts behind a figure would be put differently now: see `Gathered.old`"


def print_conditions(report: Report, target: str | None, shown: Sequence[Condition], old: Old) -> None:
    """What the controls change against qm (appendix F.1)."""
    from workbench.audits.questionnaire_conditions import QM

    say()
    rows = [row for row in report.ablations() if row.target == target and row.condition in shown]
    if not rows:
        there = ", ".join(map(str, report.conditions))
        say(f"Conditions: nothing to compare; qm and another condition are needed, there is: {there}")
        return
    of = f"target {target}" if target else "means over targets"
    say(f"Conditions, {of}, and what they change against qm over the same respondents, in percent [95 %]")
    why = Reasons()
    headers = ["condition", "bias" if target else "|bias|", "change", "accuracy", "change"]
    base = next(condition for condition in report.conditions if condition.name == QM)
    outdated = {condition: old(condition, target) for condition in (base, *(row.condition for row in rows))}
    forms = [
        [_qm_row(report, base, target, why, short), *(_ablation_row(row, why, target, short, outdated) for row in rows)]
        for short in (False, True)
    ]
    for form in forms:
        form[:] = [
            (f"{row[0]} {OLD} {n:,}" if n else row[0], *row[1:]) for row, n in zip(form, outdated.values(), strict=True)
        ]
    missing = f"{ABOVE} {BELOW}: the interval leaves out 0. Intervals"
    left = print_fitting(Form(headers, forms[0]), Form(headers, forms[1], missing), whole=1)
    why.say()
    if left:
        say(left)
    if any(outdated.values()):
        say(f"{OLD}: so many prompts show what was changed since; a change between old and new ones is no effect")
    if target is None:
        say(f"{MEAN_OF_ABSOLUTE}. Of one target: --target REF")


def _qm_row(report: Report, base: Condition, target: str | None, why: Reasons, short: bool) -> tuple[str, ...]:
    figures = report.condition(base)
    if target is None:
        return base.name, _plain(figures.absolute_bias, why, short), "", _plain(figures.accuracy, why, short), ""
    row = next(row for row in figures.targets if row.target == target)
    return base.name, _plain(row.bias, why, short, sign=True), "", _plain(row.accuracy, why, short), ""


def _plain(value: Ranged, why: Reasons, short: bool, *, sign: bool = False) -> str:
    """Return a figure, with its interval where there is room."""
    if short and not value.undefined:
        return signed(value.value) if sign else percent(value.value)
    return why.ranged(value, sign=sign)


def _ablation_row(
    row: Ablation, why: Reasons, target: str | None, short: bool, outdated: Mapping[Condition, int]
) -> tuple[str, ...]:
    old = next(iter(outdated.values())) + outdated[row.condition]
    return (
        str(row.condition),
        _plain(row.bias, why, short, sign=target is not None),
        why.changed(row.change, few=row.few, old=old, short=short),
        _plain(row.accuracy, why, short),
        why.changed(row.accuracy_change, few=row.few, old=old, short=short),
    )


def print_wordings(report: Report, shown: Sequence[Condition], target: str | None, old: Old) -> None:
    """How much the bias varies over wordings (tables 4 and 6)."""
    from workbench.pipeline.questionnaire import mean_variability

    kind = report.options.variability
    found = {condition: report.variability(condition) for condition in shown}
    found = {condition: rows for condition, rows in found.items() if rows}
    say()
    if not found:
        say("Wordings: only the original was asked; paraphrases are needed for the variability of the bias")
        return
    named = {"sd": "standard deviation of the bias over them", "rms": "root mean square of the bias over them"}[kind]
    say(f"Wordings: {named}, in percent, over the n people who were asked in all wordings")
    why = Reasons()
    lines: list[tuple[str, ...]] = []
    for condition, rows in found.items():
        some = [row for row in rows if target in (None, row.target)]
        lines += [_wording_cells(condition, row, kind, why) for row in some]
        if target is None:
            mean = percent(mean_variability(report, condition))
            lines.append((str(condition), "mean", "", "", mean, "", "", "", "", ""))
    headers = ["condition", "target", "n", "K", "variability", "noise", "without", "original", "lowest", "highest"]
    left = print_fitting(Form(headers, lines), whole=1)
    say("Noise only adds to a variability, so it has no interval. noise: what noise alone gives; without: what is left")
    say("original, lowest, highest: biases over the same n, not over all as elsewhere; lowest and highest of the K")
    say(f"paraphrases, without the original.{' mean: of the figures above it; no interval is computed' * (not target)}")
    if outdated := {str(condition): n for condition in found if (n := old(condition, target, None))}:
        said = ", ".join(f"{condition} {n:,}" for condition, n in outdated.items())
        say(f"{OLD}, so many prompts show what was changed since: {said}")
    why.say()
    if left:
        say(left)
    if target:
        _each_wording(found, target)


def _wording_cells(condition: Condition, row: VariabilityFigure, kind: str, why: Reasons) -> tuple[str, ...]:
    from workbench.domain.statements import ORIGINAL

    original = next((one for one in row.wordings if one.wording == ORIGINAL), None)
    others = [one.bias for one in row.wordings if one.wording != ORIGINAL and not math.isnan(one.bias)]
    extremes = (signed(min(others)), signed(max(others))) if others else ("–", "–")
    value, noise = (row.sd, row.sd_noise) if kind == "sd" else (row.rms, row.rms_noise)
    people = str(max((one.respondents for one in row.wordings), default=0))
    known = signed(original.bias) if original else "–"
    k = f"{row.k} (+{row.void} void)" if row.void else str(row.k)
    shares = map(_share, (noise.alone, noise.without))
    return str(condition), row.target, people, k, why.ranged(value), *shares, known, *extremes


def _share(value: float) -> str:
    return "–" if math.isnan(value) else percent(value)


def _each_wording(found: Mapping[Condition, Sequence[VariabilityFigure]], target: str) -> None:
    say()
    say(f"Bias of {target} in each wording, in percent")
    rows = {c: next((row for row in rows if row.target == target), None) for c, rows in found.items()}
    biases = {
        condition: {str(one.wording): one for one in row.wordings} for condition, row in rows.items() if row is not None
    }
    wordings = dict.fromkeys(wording for of in biases.values() for wording in of)
    table(
        ["wording", *(f"{condition} (n)" for condition in biases)],
        [
            (
                wording,
                *(
                    f"{signed(of[wording].bias)} ({of[wording].respondents})" if wording in of else "–"
                    for of in biases.values()
                ),
            )
            for wording in wordings
        ],
    )
