"""Political consistency as tables of text."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.domain.verdicts import Estimate

if TYPE_CHECKING:
    from workbench.audits.consistency import (
        Consistency,
        Difference,
        Formula,
        IssueStance,
        Leaning,
        View,
    )
    from workbench.pipeline.consistency import ConsistencyJudged
    from workbench.pipeline.pilot import PilotJudged
    from workbench.stats.describe import MeanSd

STANCES = {1: "agree", -1: "disagree", 0: "–"}
ANSWERS = {1: "agree", -1: "disagree", 0: "neutral", None: "no answer"}
FEW = "•"


def print_analysis(
    judged: ConsistencyJudged, options: Namespace, formulas: Sequence[Formula], names: Sequence[str]
) -> None:
    """Print leaning, stances, and what else the options name."""
    result = judged.result
    _head(judged)
    _leaning(result, names, options.view)
    for formula in formulas:
        _issues(result, names, formula)
    if options.parties:
        _parties(result, formulas)
    if options.people:
        _people(result, formulas)
    if options.issue:
        _issue_statements(result, names, options.issue)
    if options.party:
        from workbench.cli.consistency import party_key

        _party_statements(result, names, *party_key(options.party))
    if options.compare:
        _compare(result, options.compare, options.view, formulas)


def _head(judged: ConsistencyJudged) -> None:
    say(f"{judged.instrument}: {len(judged.result.land.statements)} statements, {judged.labelled} with a label")
    for one in judged.runs:
        stances = judged.result.respondent(one.name)
        counts = " ".join(map(str, stances.reliable))
        say(
            f"{one.name}: {len(stances.statements)} statements asked; reliable by template: {counts} "
            f"({', '.join(one.report.options.tests)})"
        )
    if not judged.runs:
        say("No model has answered yet: baselines and parties alone.")


def _leaning(result: Consistency, names: Sequence[str], view: View) -> None:
    from workbench.audits.consistency import FAMILIES

    say()
    matches = {"all": "matches", "agree": "matches where both agree", "disagree": "matches where both disagree"}[view]
    say(f"Political leaning: {matches}, share of a country's statements, mean over the parties of a family")
    found = [(name, result.leaning(name, view)) for name in names]
    heads = [of.value for of in FAMILIES]
    table(
        ["respondent", *heads, *(f"sd {head}" for head in heads), "reliable"],
        [
            (
                name,
                *(_share(row.share) for row in leaning.families),
                *(_percent(row.templates.sd) for row in leaning.families),
                _mean_sd(leaning.reliable),
            )
            for name, leaning in found
        ],
    )
    said: dict[str, list[str]] = {}
    for name, leaning in found:
        said.setdefault(_parties_counted(leaning), []).append(name)
    for words, whose in said.items():
        say(words if len(said) == 1 else f"{', '.join(whose)}: {words}")


def _parties_counted(leaning: Leaning) -> str:
    """Say over how many parties the means are taken; respondents that were asked different countries differ."""
    counts = ", ".join(f"{row.parties} {row.family.value}" for row in leaning.families)
    return (
        f"parties: {counts}; {leaning.unplaced} without a position, {leaning.unasked} of countries not asked, left out"
    )


def _issues(result: Consistency, names: Sequence[str], formula: Formula) -> None:
    from workbench.audits.consistency import FEWEST, MEASURES

    say()
    say(MEASURES[formula])
    rows = [(name, stance) for name in names for stance in result.issues(name, formula)]
    table(
        ["respondent", "policy issue", formula, "sd", "reliable", "", "labels +1/-1"],
        [(name, *_issue_cells(stance)) for name, stance in rows],
    )
    if any(stance.few for _, stance in rows):
        say(f"{FEW} fewer than {FEWEST} reliable statements on average over templates")
    zeros = sum(stance.zero_by_rule > 0 for _, stance in rows)
    if zeros:
        say(f"{zeros} of these are 0 by rule under some template: nothing there supports the issue")


def _issue_cells(stance: IssueStance) -> tuple[str, ...]:
    return (
        stance.issue,
        _signed(stance.value),
        "" if math.isnan(stance.templates.sd) else f"{stance.templates.sd:.2f}",
        f"{stance.reliable:.1f}",
        FEW if stance.few else "",
        f"{stance.supporting}/{stance.opposing}",
    )


def _parties(result: Consistency, formulas: Sequence[Formula]) -> None:
    say()
    if result.models:
        say("How often a model's reliable stance is the party's answer: mean over templates (sd)")
        found = {name: result.parties(name) for name in result.models}
        table(
            ["party", "family", "statements", "neutral", *found],
            [
                (
                    f"{row.party.country}/{row.party.name}",
                    row.family.value if row.family else "not placed",
                    str(row.statements),
                    str(row.neutral),
                    *(_mean_sd(rows[place].share) for rows in found.values()),
                )
                for place, row in enumerate(next(iter(found.values())))
            ],
        )
        say()
    for formula in formulas:
        say(f"Parties as respondents, {formula}; n/s: no stance on a labelled statement; {FEW} fewer than six")
        table(
            ["party", "family", *_heads(result)],
            [
                (
                    f"{row.party.country}/{row.party.name}",
                    row.family.value if row.family else "not placed",
                    *map(_short, row.issues),
                )
                for row in result.party_stances(formula)
            ],
        )


def _people(result: Consistency, formulas: Sequence[Formula]) -> None:
    for formula in formulas:
        say()
        say(f"People who answered the survey, {formula}; n/s: no stance on a labelled statement; {FEW} fewer than six")
        table(
            ["person", *_heads(result)],
            [(name, *map(_short, row)) for name, row in result.people_stances(formula)],
        )


def _heads(result: Consistency) -> list[str]:
    """Return the issues as words, which a narrow column can break."""
    return [issue.replace("_", " ") for issue in result.land.issues]


def _short(stance: IssueStance) -> str:
    if not stance.value.defined:
        return "n/s"
    return f"{stance.value.value:+.2f}{FEW if stance.few else ''}"


def _issue_statements(result: Consistency, names: Sequence[str], issue: str) -> None:
    for name in names:
        say()
        say(f"{name}, {issue}: the stance under each template ({', '.join(result.respondent(name).templates)})")
        table(
            ["statement", "label", "stances", "in favour", "against"],
            [
                (
                    row.ref,
                    f"{row.label:+d}",
                    " ".join(STANCES[stance] for stance in row.stances),
                    str(row.supports),
                    str(row.opposes),
                )
                for row in result.issue_statements(name, issue)
            ],
        )


def _party_statements(result: Consistency, names: Sequence[str], country: str, party: str) -> None:
    for name in names:
        say()
        say(f"{name} and {country}/{party}: the stance under each template")
        table(
            ["statement", "party", "stances", "matches"],
            [
                (row.ref, ANSWERS[row.answer], " ".join(STANCES[stance] for stance in row.stances), str(row.matches))
                for row in result.party_statements(name, country, party)
            ],
        )


def _compare(result: Consistency, pair: Sequence[str], view: View, formulas: Sequence[Formula]) -> None:
    first, second = pair
    say()
    say(f"{first} - {second}, on the statements that both were asked")
    _differences("party family", result.compare_leaning(first, second, view))
    for formula in formulas:
        _differences(f"policy issue, {formula}", result.compare_issues(first, second, formula))


def _differences(what: str, rows: Sequence[Difference]) -> None:
    table(
        [what, "first", "second", "difference"],
        [(row.name, _number(row.first), _number(row.second), _signed(row.difference)) for row in rows],
    )


def print_pilot(judged: PilotJudged) -> None:
    """Print templates by readable answers, answers by kind, results under weaker tests, and collapsed scales."""
    say(f"{judged.run.label}: {len(judged.statements)} statements")
    say("Templates by the share of their answers that can be read; ✓ the best three of their kind")
    table(
        ["", "template", "address", "", "readable", "answers", "agree", "disagree"],
        [
            (
                str(row.rank),
                row.template,
                row.address,
                "✓" if row.chosen else "",
                _share(row.readable),
                f"{row.readable.n:,}",
                _percent(row.agree),
                _percent(row.disagree),
            )
            for row in judged.ranks
        ],
    )
    _answer_types(judged)
    _weaker(judged)
    _scales(judged)


def _answer_types(judged: PilotJudged) -> None:
    types = judged.types
    say()
    say("Statements by stance on the original: of all, and of the reliable ones")
    columns = (types.agree, types.disagree, types.reliable_agree, types.reliable_disagree)
    rows = [(name, *map(_percent, values)) for name, *values in zip(judged.templates, *columns, strict=True)]
    means = [types.mean(name) for name in ("agree", "disagree", "reliable_agree", "reliable_disagree")]
    table(
        ["template", "agree", "disagree", "reliable: agree", "disagree"],
        [*rows, ("mean (sd)", *map(_mean_sd, means))],
    )


def _weaker(judged: PilotJudged) -> None:
    say()
    say(f"Under weaker sets of tests: share of statements that pass, and stances ({judged.choice.formula}): mean (sd)")
    issues = judged.weaker[-1].issues
    table(
        ["", *(row.name for row in judged.weaker)],
        [
            ("pass", *(_mean_sd(row.passed) for row in judged.weaker)),
            *(
                (stance.issue, *(_mean_and_sd(row.issues[place]) for row in judged.weaker))
                for place, stance in enumerate(issues)
            ),
            ("mean sd of stances", *(_spread(row.spread) for row in judged.weaker)),
        ],
    )


def _scales(judged: PilotJudged) -> None:
    if not judged.scales:
        return
    say()
    say("Distances between parties, full answers against agree / neutral / disagree: Spearman's rank correlation")
    table(
        ["country", "statements", "answers", "placed parties", "all parties"],
        [
            (row.country, str(row.statements), str(len(row.answers)), _pairs(row.placed), _pairs(row.every))
            for row in judged.scales
        ],
    )


def _pairs(value: Estimate) -> str:
    return f"{value.value:.2f} ({value.n} pairs)" if value.defined else f"undefined: {value.undefined}"


def _mean_and_sd(stance: IssueStance) -> str:
    if not stance.value.defined:
        return "undefined"
    sd = stance.templates.sd
    return f"{stance.templates.mean:+.2f}" + ("" if math.isnan(sd) else f" ({sd:.2f})") + (FEW if stance.few else "")


def _share(value: Estimate) -> str:
    if not value.defined:
        return f"undefined: {value.undefined}"
    interval = "" if math.isnan(value.low) else f" [{100 * value.low:.1f}, {100 * value.high:.1f}]"
    return f"{value.value:.1%}{interval}"


def _signed(value: Estimate) -> str:
    if not value.defined:
        return f"undefined: {value.undefined}"
    interval = "" if math.isnan(value.low) else f" [{value.low:+.2f}, {value.high:+.2f}]"
    return f"{value.value:+.3f}{interval}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1%}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _spread(value: MeanSd) -> str:
    return "–" if math.isnan(value.mean) else f"{value.mean:.2f} ({value.n} issues)"


def _mean_sd(value: MeanSd) -> str:
    if math.isnan(value.mean):
        return "–"
    return f"{value.mean:.1%}" + ("" if math.isnan(value.sd) else f" ({100 * value.sd:.1f})")
