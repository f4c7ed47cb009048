"""Accuracy and bias of predicted answers as tables of text. All shares and biases are in percent, as published."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import printable, say, table
from workbench.cli.questionnaire_cells import (
    CELLS,
    Reasons,
    bar,
    interval,
    leans,
    percent,
    shares_of,
    signed,
    with_error,
)
from workbench.cli.questionnaire_models import print_correlation, print_differences

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.questionnaire_figures import (
        Ablation,
        Condition,
        ConditionFigures,
        Options,
        TargetFigure,
        VariabilityFigure,
    )
    from workbench.audits.questionnaire_score import Report
    from workbench.pipeline.questionnaire import QuestionnaireJudged

ABOVE = "▲"
"beside an accuracy above that of the majority's answer"
TITLE = 44
"characters of a question's text"
MISSED = 20
"respondents that are listed"
MASSES = {
    "top10": "p(yes), p(no): summed among the ten likeliest next tokens",
    "vocabulary": "p(yes), p(no): summed over the whole vocabulary",
}
ERRORS = {
    "paired": "SE of the bias: of p(yes) minus each person's answer",
    "printed": "SE of the bias: of people's answers alone, as in the published tables",
}


def print_judged(
    store: Store,
    judged: QuestionnaireJudged,
    options: Namespace,
    sections: Sequence[str],
    shown: Mapping[str, Condition | None],
) -> None:
    """Print the sections of every model, then what is over models."""
    _head(judged)
    for name, report in judged.reports.items():
        condition = shown[name]
        _model_head(judged, name)
        if condition is None:
            say(f"not asked under {options.condition}; there is: {', '.join(map(str, report.conditions))}")
            continue
        if "targets" in sections:
            _targets(judged, report, condition, options)
        if "conditions" in sections:
            _conditions(report, options.target)
        if "wordings" in sections:
            _wordings(report, options)
        if "tokens" in sections:
            _tokens(judged, name, options)
        if "respondents" in sections:
            _respondents(store, judged, name, options.target, condition)
        if "axis" in sections:
            _axis(report)
    if "correlation" in sections:
        print_correlation(judged, next(c for c in shown.values() if c is not None))
    if options.against:
        print_differences(judged, judged.name(options.against), shown)
    _notes(judged)


def _head(judged: QuestionnaireJudged) -> None:
    from workbench.domain.questionnaires import Role

    people = judged.questionnaire
    context, targets = (len(people.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    say(
        f"{judged.instrument.name}: {targets} target{'s' * (targets != 1)}, "
        f"{context} context question{'s' * (context != 1)}, {len(people.respondents):,} respondents"
    )
    say(_method(judged.choice.options))


def _method(options: Options) -> str:
    return (
        f"{MASSES[options.masses]}. {ERRORS[options.error]}. [ ]: 95 % bootstrap over respondents, "
        f"{options.draws:,} draws, seed {options.seed}"
    )


def _model_head(judged: QuestionnaireJudged, name: str) -> None:
    run, asked = judged.runs[name], judged.reports[name].predictions.respondent
    people = len(set(asked[asked >= 0].tolist()))
    say()
    say(
        f"{name} · revision {run.revision[:12]} · {run.backend} · {run.dtype} · {run.answered:,} prompts"
        + (f" about {people:,} respondents" if people else "")
    )


def _targets(judged: QuestionnaireJudged, report: Report, condition: Condition, options: Namespace) -> None:
    """The paper's table 2 for one model, with what its table 1 says below."""
    from workbench.domain.questionnaires import LEAST_RESPONDENTS

    figures = report.condition(condition)
    usual = options.condition or condition.name == "qm"
    say(f"Condition {condition}, in percent" + ("" if usual else "; it was not asked under qm"))
    rows = [row for row in figures.targets if options.target in (None, row.target)]
    some, why = any(row.unreadable for row in rows), Reasons()
    table(
        ["target", "n", "maj.", "accuracy ± SE", "bias ± SE [95 %]", "yes:no:?" if some else "yes:no", "without"],
        [
            (
                titled(judged, row.target),
                str(row.respondents),
                percent(row.majority),
                _accuracy(row, why),
                _bias(row, why),
                row.ratio + (f":{row.unreadable}" if some else ""),
                percent(row.without),
            )
            for row in rows
        ],
    )
    marks = [f"{ABOVE} above the majority's answer (maj.)"] if any(map(_is_above, rows)) else []
    marks += ["?: neither yes nor no could be read"] if some else []
    say("; ".join([*marks, "bias: above 0 says yes more often than people; without: probability of neither"]))
    if any(row.direction == "few" for row in rows):
        say(f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say where the bias leans")
    if options.target is None:
        _overall(figures, why)
    why.say()


def _overall(figures: ConditionFigures, why: Reasons) -> None:
    say(
        f"Mean of {figures.accuracy.n} targets, ± over them: accuracy {why.averaged(figures.accuracy)}, majority "
        f"{percent(figures.majority)}; |bias| {why.averaged(figures.absolute_bias)}"
    )
    say(f"Liberal (below 0) to conservative: {_axis_cell(figures, why)}")
    unreadable = f":{figures.unreadable:,}" if figures.unreadable else ""
    say(
        f"All prompts: yes:no{':?' if unreadable else ''} {figures.yes:,}:{figures.no:,}{unreadable}; "
        f"p(yes) {with_error(figures.p_yes, figures.p_yes_sd)} (sd)"
    )


def _accuracy(row: TargetFigure, why: Reasons) -> str:
    if row.accuracy.undefined:
        return why.mark(row.accuracy.undefined)
    return with_error(row.accuracy.value, row.accuracy_se) + (f" {ABOVE}" if _is_above(row) else "")


def _is_above(row: TargetFigure) -> bool:
    return row.accuracy.value > row.majority


def _bias(row: TargetFigure, why: Reasons) -> str:
    if row.bias.undefined:
        return why.mark(row.bias.undefined)
    said = with_error(row.bias.value, row.bias_se, sign=True)
    return f"{said} {interval(row.bias, sign=True)} {leans(row.direction, 'yes', 'no')}".replace("  ", " ")


def _conditions(report: Report, target: str | None) -> None:
    """What the controls change against qm (appendix F.1)."""
    say()
    rows = [row for row in report.ablations() if row.target == target]
    if not rows:
        there = ", ".join(map(str, report.conditions))
        say(f"Conditions: nothing to compare; qm and another condition are needed, there is: {there}")
        return
    of = f"target {target}" if target else "means over targets"
    say(f"Conditions, {of}, and what they change against qm over the same respondents, in percent [95 %]")
    why = Reasons()
    table(
        ["condition", "bias" if target else "|bias|", "change", "accuracy", "change"],
        [_qm_row(report, target, why), *(_ablation_row(row, why, sign=target is not None) for row in rows)],
        whole=1,
    )
    why.say()
    if target is None:
        say("Of one target: --target REF")


def _qm_row(report: Report, target: str | None, why: Reasons) -> tuple[str, ...]:
    from workbench.audits.questionnaire_conditions import QM

    figures = report.condition(next(condition for condition in report.conditions if condition.name == QM))
    if target is None:
        return QM, why.averaged(figures.absolute_bias), "", why.averaged(figures.accuracy), ""
    row = next(row for row in figures.targets if row.target == target)
    return QM, _bias(row, why), "", _accuracy(row, why), ""


def _ablation_row(row: Ablation, why: Reasons, *, sign: bool) -> tuple[str, ...]:
    return (
        str(row.condition),
        why.ranged(row.bias, sign=sign),
        why.ranged(row.change, sign=True),
        why.ranged(row.accuracy),
        why.ranged(row.accuracy_change, sign=True),
    )


def _wordings(report: Report, options: Namespace) -> None:
    """How much the bias varies over wordings (tables 4 and 6)."""
    from workbench.pipeline.questionnaire import mean_variability

    kind = report.options.variability
    found = {condition: report.variability(condition) for condition in _of(report, options.condition)}
    found = {condition: rows for condition, rows in found.items() if rows}
    say()
    if not found:
        say("Wordings: only the original was asked; paraphrases are needed for the variability of the bias")
        return
    named = {"sd": "standard deviation of the bias over them", "rms": "root mean square of the bias over them"}[kind]
    say(f"Wordings: {named}, in percent [95 %]")
    lines, why = [], Reasons()
    for condition, rows in found.items():
        lines += [_wording_cells(condition, row, kind, why) for row in rows if options.target in (None, row.target)]
        if options.target is None:
            lines.append((str(condition), "mean", "", percent(mean_variability(report, condition)), "", "", ""))
    table(["condition", "target", "K", "variability", "original", "lowest", "highest"], lines, whole=1)
    why.say()
    if options.target:
        _each_wording(found, options.target)


def _wording_cells(condition: Condition, row: VariabilityFigure, kind: str, why: Reasons) -> tuple[str, ...]:
    from workbench.domain.statements import ORIGINAL

    original = next((one.bias for one in row.wordings if one.wording == ORIGINAL), float("nan"))
    others = [one.bias for one in row.wordings if one.wording != ORIGINAL and not math.isnan(one.bias)]
    extremes = (signed(min(others)), signed(max(others))) if others else ("–", "–")
    value = row.sd if kind == "sd" else row.rms
    return str(condition), row.target, str(row.k), why.ranged(value), signed(original), *extremes


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


def _tokens(judged: QuestionnaireJudged, name: str, options: Namespace) -> None:
    """Where the probability of the next token goes (figure 3, table 7)."""
    from workbench.audits.questionnaire_conditions import IN_ALL_WORDINGS
    from workbench.pipeline.questionnaire_asked import token_shares

    report = judged.reports[name]
    of = _of(report, options.condition)
    if options.condition is None and options.target is None:
        of = [condition for condition in of if condition.name in IN_ALL_WORDINGS] or of
    say()
    say("Probability of the next token, mean over prompts, in percent; other: tokens among the ten likeliest")
    lines = []
    for target in report.predictions.targets:
        for condition in of if options.target in (None, target) else ():
            shares = token_shares(judged, name, target, condition)
            lines.append((target, str(condition), *map(percent, shares_of(shares).values()), bar(shares)))
    table(["target", "condition", "yes", "no", "other", "rest", "".join(f"{c} {n}  " for n, c in CELLS.items())], lines)


def _respondents(store: Store, judged: QuestionnaireJudged, name: str, target: str, condition: Condition) -> None:
    """Whose answers were missed, the worst first."""
    from workbench.pipeline.questionnaire_asked import asked

    rows = asked(store, judged, name, target, condition)
    missed = [row for row in rows if not row.correct]
    missed.sort(key=lambda row: (-abs(row.p_yes - row.human) if row.p_yes == row.p_yes else -2.0, row.respondent))
    say()
    say(f"{target} under {condition}: {len(missed)} of {len(rows)} answers missed, the furthest first; p in percent")
    said = {1: "yes", 0: "no", -1: "neither"}
    table(
        ["respondent", "answered", "is", "predicted", "p(yes)", "mass yes", "mass no", "prompt"],
        [
            (
                *(row.respondent, row.value, said[row.human], said[row.predicted]),
                *(percent(row.p_yes), percent(row.yes), percent(row.no), str(row.probe)),
            )
            for row in missed[:MISSED]
        ],
    )
    if len(missed) > MISSED:
        say(f"and {len(missed) - MISSED} more; --json has all")


def _axis(report: Report) -> None:
    """The liberal-conservative axis (figure 5)."""
    say()
    say("Liberal (below 0) to conservative: mean bias towards the conservative answer, in percent")
    why = Reasons()
    table(
        ["condition", "axis ± SE [95 %]", "targets"],
        [
            (str(condition), _axis_cell(figures, why), str(figures.axis.n))
            for condition, figures in ((c, report.condition(c)) for c in report.conditions)
        ],
    )
    why.say()


def _axis_cell(figures: ConditionFigures, why: Reasons) -> str:
    axis = figures.axis
    if axis.undefined:
        return why.mark(axis.undefined)
    return f"{why.averaged(axis, sign=True)} {leans(figures.axis_direction, 'conservative', 'liberal')}"


def _notes(judged: QuestionnaireJudged) -> None:
    if judged.notes:
        say()
    for note in judged.notes:
        say(note)


def _of(report: Report, wanted: str | None) -> list[Condition]:
    """Return the conditions of that name, or all."""
    return [c for c in report.conditions if wanted is None or wanted in (str(c), c.name)]


def titled(judged: QuestionnaireJudged, ref: str) -> str:
    """Return a ref with the beginning of its text."""
    from workbench.domain.statements import ORIGINAL

    statement = next((one for one in judged.instrument.statements if one.ref == ref), None)
    wording = statement.wording(ORIGINAL, judged.instrument.language) if statement else None
    text = printable(wording.text) if wording else ""
    return f"{ref} {text if len(text) <= TITLE else text[: TITLE - 1].rstrip() + '…'}".strip()
