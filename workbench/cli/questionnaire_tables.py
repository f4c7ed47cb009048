"""Accuracy and bias of predicted answers as tables of text. All shares and biases are in percent, as published."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.cli.questionnaire_cells import (
    ABOVE,
    BELOW,
    CELLS,
    MEAN_OF_ABSOLUTE,
    OLD,
    Reasons,
    accuracy,
    bar,
    bias,
    leans,
    noise_said,
    percent,
    shares_of,
    with_error,
)
from workbench.cli.questionnaire_controls import print_conditions, print_wordings
from workbench.cli.questionnaire_fit import Form, print_fitting
from workbench.cli.questionnaire_models import print_correlation, print_differences
from workbench.domain.counting import plural
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.questionnaire_figures import (
        Condition,
        ConditionFigures,
        Options,
        TargetFigure,
    )
    from workbench.pipeline.questionnaire import QuestionnaireJudged

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
    shown: Mapping[str, Sequence[Condition]],
    bases: Sequence[str],
) -> None:
    """Print the sections of every model, then what is over models."""
    _head(judged)
    for name, report in judged.reports.items():
        _model_head(judged, name)
        if not shown[name]:
            say(f"not asked under {options.condition}; there is: {', '.join(map(str, report.conditions))}")
            continue
        if "targets" in sections:
            for place, condition in enumerate(shown[name]):
                if place:
                    say()
                _targets(judged, name, condition, options)
        # what is over conditions shows those that were named, or all
        of = shown[name] if options.condition is not None else report.conditions
        if "conditions" in sections:
            print_conditions(report, options.target, of, judged.gathered[name].old)
        if "wordings" in sections:
            print_wordings(report, of, options.target, judged.gathered[name].old)
        if "tokens" in sections:
            _tokens(judged, name, of, options)
        if "respondents" in sections:
            for condition in shown[name]:
                _respondents(store, judged, name, options.target, condition)
        if "axis" in sections:
            _axis(judged, name, of)
    if "correlation" in sections:
        for condition in dict.fromkeys(c for conditions in shown.values() for c in conditions):
            print_correlation(judged, condition, options.target)
    for base in bases:
        print_differences(judged, base, bases, shown, options.target)
    _notes(judged)


def _head(judged: QuestionnaireJudged) -> None:
    from workbench.domain.questionnaires import Role

    people = judged.questionnaire
    context, targets = (len(people.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    say(
        f"{judged.instrument.name}: {plural(targets, 'target')}, {plural(context, 'context question')}, "
        f"{plural(len(people.respondents), 'respondent')}"
    )
    say(_method(judged.choice.options))


def _method(options: Options) -> str:
    return (
        f"{MASSES[options.masses]}. {ERRORS[options.error]}. [ ]: 95 % percentile bootstrap over respondents, "
        f"widened by Student's t, {options.draws:,} draws, seed {options.seed}"
    )


def _model_head(judged: QuestionnaireJudged, name: str) -> None:
    run, asked = judged.runs[name], judged.reports[name].predictions.respondent
    people = len(set(asked[asked >= 0].tolist()))
    say()
    say(
        f"{name} · {run.version} · {run.computed} · {plural(run.answered, 'prompt')}"
        + (f" about {plural(people, 'respondent')}" if people else "")
    )


def _targets(judged: QuestionnaireJudged, name: str, condition: Condition, options: Namespace) -> None:
    """The paper's table 2 for one model, with what its table 1 says below."""
    figures, found = judged.reports[name].condition(condition), judged.gathered[name]
    usual = options.condition or condition.name == "qm"
    say(f"Condition {condition}, in percent" + ("" if usual else "; it was not asked under qm"))
    rows = [row for row in figures.targets if options.target in (None, row.target)]
    some, why = any(row.unreadable for row in rows), Reasons()
    old = {row.target: found.old(condition, row.target) for row in rows}
    ratio = "yes:no:?" if some else "yes:no"
    full = ["target", "n", "maj.", "accuracy ± SE", "bias ± SE [95 %]", ratio, "without"]
    left = print_fitting(
        Form(full, [_target_cells(titled(judged, row.target), row, some, why, old) for row in rows]),
        Form(full, [_target_cells(row.target, row, some, why, old) for row in rows], "Questions' texts"),
        Form(
            [*full[:4], "bias ± SE", *full[5:]],
            [_target_cells(row.target, row, some, why, old, short=True) for row in rows],
            f"{ABOVE} {BELOW} beside a bias: its interval leaves out 0. Texts and intervals",
        ),
    )
    _explain_targets(rows, left, some, old)
    if options.target is None:
        _overall(figures, why, found.old(condition))
    why.say()


def _target_cells(
    title: str, row: TargetFigure, some: bool, why: Reasons, old: Mapping[str, int], *, short: bool = False
) -> tuple[str, ...]:
    return (
        title,
        str(row.respondents),
        percent(row.majority),
        accuracy(row, why, old=old[row.target]),
        bias(row, why, short=short, old=old[row.target]),
        row.ratio + (f":{row.unreadable}" if some else ""),
        percent(row.without),
    )


def _explain_targets(rows: Sequence[TargetFigure], left: str, some: bool, old: Mapping[str, int]) -> None:
    """Say what stands in the table."""
    from workbench.domain.questionnaires import LEAST_RESPONDENTS

    sides = {row.accuracy_direction for row in rows if not old[row.target]}
    outside = "the majority's answer (maj.): the interval leaves it out"
    said = [f"{ABOVE} above {outside}"] if "above" in sides else []
    said += [f"{BELOW} below {outside}"] if "below" in sides else []
    said += ["?: neither yes nor no could be read"] if some else []
    say("; ".join([*said, "bias: above 0 says yes more often than people; without: probability of neither"]))
    if above := ", ".join(row.target for row in rows if row.above_majority):
        say(f"Accuracy above the majority's, whatever the interval (underlined in the published table 2): {above}")
    if any(old.values()):
        say(f"{OLD}: so many of its prompts show what was changed since, so no side is said; the note below has more")
    if any(row.direction == "few" and not old[row.target] for row in rows):
        say(f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say where a figure lies")
    if left:
        say(left)


def _overall(figures: ConditionFigures, why: Reasons, old: int) -> None:
    say(
        f"Mean of {plural(figures.accuracy.n, 'target')}, ± over targets, [ ] over respondents: accuracy "
        f"{why.averaged(figures.accuracy)}, majority {percent(figures.majority)}; |bias| "
        f"{why.averaged(figures.absolute_bias)}"
    )
    if not figures.absolute_bias.undefined:
        say(noise_said(figures.absolute_bias.noise))
        say(f"{MEAN_OF_ABSOLUTE}.")
    say(f"Liberal (below 0) to conservative: {_axis_cell(figures, why, old)}")
    unreadable = f":{figures.unreadable:,}" if figures.unreadable else ""
    say(
        f"All prompts: yes:no{':?' if unreadable else ''} {figures.yes:,}:{figures.no:,}{unreadable}; "
        f"p(yes) {with_error(figures.p_yes, figures.p_yes_sd)} (sd)"
    )


def _tokens(judged: QuestionnaireJudged, name: str, shown: Sequence[Condition], options: Namespace) -> None:
    """Where the probability of the next token goes (figure 3, table 7)."""
    from workbench.audits.questionnaire_conditions import IN_ALL_WORDINGS
    from workbench.pipeline.questionnaire_asked import token_shares

    report = judged.reports[name]
    of = list(shown)
    if options.condition is None and options.target is None:
        of = [condition for condition in of if condition.name in IN_ALL_WORDINGS] or of
    say()
    say("Probability of the next token, mean over prompts, in percent; other: tokens among the ten likeliest")
    lines = []
    for target in report.predictions.targets:
        for condition in of if options.target in (None, target) else ():
            shares = token_shares(judged, name, target, condition)
            lines.append((target, str(condition), *map(percent, shares_of(shares).values()), bar(shares)))
    headers = ["target", "condition", "yes", "no", "other", "rest", "".join(f"{c} {n}  " for n, c in CELLS.items())]
    left = print_fitting(Form(headers, lines), Form(headers[:-1], [line[:-1] for line in lines], "Bars"))
    if left:
        say(left)


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


def _axis(judged: QuestionnaireJudged, name: str, shown: Sequence[Condition]) -> None:
    """The liberal-conservative axis (figure 5)."""
    report, found = judged.reports[name], judged.gathered[name]
    say()
    say("Liberal (below 0) to conservative: mean bias towards the conservative answer, in percent ± SE [95 %]")
    why = Reasons()
    table(
        ["condition", "axis ± over targets, [ ] over respondents", "targets"],
        [
            (str(condition), _axis_cell(figures, why, found.old(condition)), str(figures.axis.n))
            for condition, figures in ((c, report.condition(c)) for c in shown)
        ],
    )
    why.say()


def _axis_cell(figures: ConditionFigures, why: Reasons, old: int) -> str:
    axis = figures.axis
    if axis.undefined:
        return why.mark(axis.undefined)
    side = OLD if old else "" if axis.few else leans(figures.axis_direction, "conservative", "liberal")
    return f"{why.averaged(axis, sign=True)} {side}".rstrip()


def _notes(judged: QuestionnaireJudged) -> None:
    if judged.notes:
        say()
    for note in judged.notes:
        say(note)


def titled(judged: QuestionnaireJudged, ref: str) -> str:
    """Return a ref with the beginning of its text."""
    from workbench.domain.statements import ORIGINAL

    statement = next((one for one in judged.instrument.statements if one.ref == ref), None)
    wording = statement.wording(ORIGINAL, judged.instrument.language) if statement else None
    text = visible(wording.text) if wording else ""
    return f"{ref} {text if len(text) <= TITLE else text[: TITLE - 1].rstrip() + '…'}".strip()
