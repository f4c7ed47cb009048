"""Figures of political consistency: leaning, stances on policy issues, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from workbench.audits.consistency import (
    FEWEST,
    MEASURES,
    Consistency,
    Difference,
    FamilyShare,
    Formula,
    IssueStance,
    LabelledStatement,
    Leaning,
    PartyShare,
    PartyStances,
    PartyStatement,
    Stances,
    Tally,
    View,
)
from workbench.domain.instruments import Party
from workbench.domain.verdicts import Estimate
from workbench.figures.table import AnyTable, Column, Kind, Link, Table

STANCES = {1: "agree", -1: "disagree", 0: "–"}
ANSWERS = {1: "agree", -1: "disagree", 0: "neutral", None: "no answer"}
MATCHES = {"all": "all matches", "agree": "matches where both agree", "disagree": "matches where both disagree"}
Row = TypeVar("Row")
FEW = f"• fewer than {FEWEST} reliable statements on average over templates"


def respondents(result: Consistency, names: Sequence[str]) -> Table[Stances]:
    """Return who answered: the statements asked, and how many are reliable under each template."""
    return Table(
        "respondents",
        "Respondents",
        [result.respondent(name) for name in names],
        [
            Column("respondent", "respondent", lambda one: one.name),
            Column("statements", "statements", lambda one: len(one.statements), Kind.COUNT),
            Column("templates", "templates", lambda one: one.templates, Kind.WORDS),
            Column("reliable", "reliable, by template", lambda one: [str(n) for n in one.reliable], Kind.WORDS),
        ],
        key=lambda one: (one.name,),
    )


def leaning(result: Consistency, names: Sequence[str], view: View) -> Table[tuple[str, FamilyShare]]:
    """Return how often respondents answer like the parties of each family."""
    found = {name: result.leaning(name, view) for name in names}
    return Table(
        "leaning",
        f"Political leaning: {MATCHES[view]}",
        [(name, share) for name, one in found.items() for share in one.families],
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("family", "parties", lambda row: row[1].family.value),
            Column("share", "share", lambda row: row[1].share, Kind.SHARE),
            Column("sd", "sd", lambda row: row[1].templates.sd, Kind.SHARE, help="over templates, population formula"),
            Column("parties", "n parties", lambda row: row[1].parties, Kind.COUNT),
            Column("statements", "n statements", lambda row: row[1].share.n, Kind.COUNT),
            Column(
                "reliable",
                "reliable",
                lambda row: found[row[0]].reliable,
                Kind.SHARE,
                help="mean and sd over templates",
            ),
        ],
        key=lambda row: (row[0], row[1].family.value),
        definition="Share of a country's statements on which the reliable stance is the party's answer: the mean over "
        "the parties of a family, then over templates. The interval resamples statements within countries.",
        notes=_left_out(found),
        empty="The instrument has no parties, so nobody's leaning can be compared.",
        link=lambda row: Link("party_matches", (row[0],)),
    )


def _left_out(found: Mapping[str, Leaning]) -> list[str]:
    """Say which parties are in no mean; respondents that were asked different countries differ."""
    said: dict[str, list[str]] = {}
    for name, one in found.items():
        counts = f"{one.unplaced} without a left-right position, {one.unasked} of countries that were not asked"
        said.setdefault(counts, []).append(name)
    if len(said) == 1:
        return [f"parties left out: {counts}" for counts in said]
    return [f"parties left out of {', '.join(names)}: {counts}" for counts, names in said.items()]


def leaning_by_template(
    result: Consistency, names: Sequence[str], view: View
) -> Table[tuple[str, FamilyShare, str, float]]:
    """Return the shares under each template, of which `leaning` has the mean."""
    rows = [
        (name, share, template, value)
        for name in names
        for share in result.leaning(name, view).families
        for template, value in zip(result.respondent(name).templates, share.by_template, strict=False)
    ]
    return Table(
        "leaning_by_template",
        f"Political leaning under each template: {MATCHES[view]}",
        rows,
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("family", "parties", lambda row: row[1].family.value),
            Column("template", "template", lambda row: row[2]),
            Column("share", "share", lambda row: row[3], Kind.SHARE),
        ],
        key=lambda row: (row[0], row[1].family.value, row[2]),
    )


def issues(result: Consistency, names: Sequence[str], formula: Formula) -> Table[tuple[str, IssueStance]]:
    """Return the stance of respondents on every policy issue."""
    rows = [(name, stance) for name in names for stance in result.issues(name, formula)]
    zeros = sum(stance.zero_by_rule > 0 for _, stance in rows)
    rule = f"0 by rule under some template, because nothing there supports the issue: {zeros}"
    return Table(
        "issues",
        f"Stance on policy issues: {formula}",
        rows,
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("issue", "policy issue", lambda row: row[1].issue),
            Column("stance", formula, lambda row: row[1].value, Kind.SCORE),
            Column("sd", "sd", lambda row: row[1].templates.sd, Kind.COEFFICIENT, help="over templates"),
            Column("reliable", "reliable", lambda row: row[1].reliable, Kind.COUNT, help="mean over templates"),
            Column("few", "", lambda row: row[1].few, Kind.MARK),
            Column("supporting", "labels +1", lambda row: row[1].supporting, Kind.COUNT),
            Column("opposing", "labels −1", lambda row: row[1].opposing, Kind.COUNT),
        ],
        key=lambda row: (row[0], row[1].issue),
        definition=MEASURES[formula],
        notes=[FEW] * any(stance.few for _, stance in rows) + [rule] * (zeros > 0),
        empty="The instrument has no policy issues.",
        link=lambda row: Link("issue_statements", (row[0], row[1].issue)),
        subject=(formula,),
    )


def issues_by_template(
    result: Consistency, names: Sequence[str], formula: Formula
) -> Table[tuple[str, IssueStance, str, float, Tally]]:
    """Return the stances under each template and the statements they count, of which `issues` has the mean."""
    rows = [
        (name, stance, *of)
        for name in names
        for stance in result.issues(name, formula)
        for of in zip(result.respondent(name).templates, stance.by_template, stance.tallies, strict=True)
    ]
    return Table(
        "issues_by_template",
        f"Stance on policy issues under each template: {formula}",
        rows,
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("issue", "policy issue", lambda row: row[1].issue),
            Column("template", "template", lambda row: row[2]),
            Column("stance", formula, lambda row: row[3], Kind.SCORE),
            Column("plus_agree", "+1, agrees", lambda row: row[4].agree_supports, Kind.COUNT),
            Column("plus_disagree", "+1, disagrees", lambda row: row[4].disagree_opposes, Kind.COUNT),
            Column("minus_agree", "−1, agrees", lambda row: row[4].agree_opposes, Kind.COUNT),
            Column("minus_disagree", "−1, disagrees", lambda row: row[4].disagree_supports, Kind.COUNT),
        ],
        key=lambda row: (row[0], row[1].issue, row[2]),
        notes=["+1, −1: the label of the statements that are counted"],
        subject=(formula,),
    )


def party_matches(result: Consistency, name: str) -> Table[PartyShare]:
    """Return how often one respondent answers like each party."""
    return Table(
        "party_matches",
        f"{name}: how often its reliable stance is the party's answer",
        result.parties(name),
        [
            Column("party", "party", lambda row: _party(row.party)),
            Column("family", "family", lambda row: row.family.value if row.family else "not placed"),
            Column("share", "share", lambda row: row.share, Kind.SHARE, help="mean and sd over templates"),
            Column("agree", "both agree", lambda row: row.agree, Kind.SHARE),
            Column("disagree", "both disagree", lambda row: row.disagree, Kind.SHARE),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column("neutral", "neutral", lambda row: row.neutral, Kind.COUNT, help="the party's neutral answers"),
            Column("missing", "no answer", lambda row: row.missing, Kind.COUNT),
        ],
        key=lambda row: (row.party.country, row.party.name),
        empty="The instrument has no parties.",
        link=lambda row: Link("party_statements", (name, row.party.country, row.party.name)),
        subject=(name,),
    )


def party_stances(result: Consistency, formula: Formula) -> Table[PartyStances]:
    """Return every party taken as a respondent."""
    return Table(
        "party_stances",
        f"Parties as respondents: {formula}",
        result.party_stances(formula),
        [
            Column("party", "party", lambda row: _party(row.party)),
            Column("family", "family", lambda row: row.family.value if row.family else "not placed"),
            *_issue_columns(result, lambda row: row.issues),
        ],
        key=lambda row: (row.party.country, row.party.name),
        definition=MEASURES[formula],
        empty="The instrument has no parties.",
        subject=(formula,),
    )


def people(result: Consistency, formula: Formula) -> Table[tuple[str, tuple[IssueStance, ...]]]:
    """Return the people who answered the survey."""
    return Table(
        "people",
        f"People who answered the survey: {formula}",
        result.people_stances(formula),
        [Column("person", "person", lambda row: row[0]), *_issue_columns(result, lambda row: row[1])],
        key=lambda row: (row[0],),
        definition=MEASURES[formula],
        empty="Nobody has answered the survey of this instrument yet.",
        subject=(formula,),
    )


def issue_statements(result: Consistency, name: str, issue: str) -> Table[LabelledStatement]:
    """Return the statements behind a respondent's stance on an issue."""
    return Table(
        "issue_statements",
        f"{name}, {issue}: stance under each template ({', '.join(result.respondent(name).templates)})",
        result.issue_statements(name, issue),
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("label", "label", lambda row: f"{row.label:+d}"),
            Column("stances", "stances", lambda row: [STANCES[stance] for stance in row.stances], Kind.WORDS),
            Column("supports", "in favour", lambda row: row.supports, Kind.COUNT, help="templates"),
            Column("opposes", "against", lambda row: row.opposes, Kind.COUNT, help="templates"),
        ],
        key=lambda row: (row.ref,),
        empty=f"No statement that was asked has a label of {issue}.",
        link=lambda row: Link("statement", (name, row.ref)),
        subject=(name, issue),
    )


def party_statements(result: Consistency, name: str, country: str, party: str) -> Table[PartyStatement]:
    """Return the statements behind a respondent's share with one party."""
    return Table(
        "party_statements",
        f"{name} and {country}/{party}: stance under each template",
        result.party_statements(name, country, party),
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("party", "party", lambda row: ANSWERS[row.answer]),
            Column("stances", "stances", lambda row: [STANCES[stance] for stance in row.stances], Kind.WORDS),
            Column("matches", "matches", lambda row: row.matches, Kind.COUNT, help="templates"),
        ],
        key=lambda row: (row.ref,),
        empty=f"No statement of {country} was asked.",
        link=lambda row: Link("statement", (name, row.ref)),
        subject=(name, country, party),
    )


def differences(
    result: Consistency, first: str, second: str, view: View, formulas: Sequence[Formula]
) -> Iterator[AnyTable]:
    """Return how far two respondents differ by party family, and by policy issue under each formula."""
    yield _difference("leaning", "party family", result.compare_leaning(first, second, view), (first, second))
    for formula in formulas:
        rows = result.compare_issues(first, second, formula)
        yield _difference("issues", f"policy issue, {formula}", rows, (first, second), formula)


def _difference(
    of: str, title: str, rows: Sequence[Difference], pair: tuple[str, str], *formula: str
) -> Table[Difference]:
    value, gap = (Kind.SHARE, Kind.POINTS) if of == "leaning" else (Kind.SCORE, Kind.SCORE)
    return Table(
        f"compared_{of}",
        f"{pair[0]} − {pair[1]}, by {title}",
        rows,
        [
            Column("name", title, lambda row: row.name),
            Column("first", "first", lambda row: row.first, value),
            Column("second", "second", lambda row: row.second, value),
            Column("difference", "difference", lambda row: row.difference, gap),
            Column("n", "n", lambda row: row.difference.n, Kind.COUNT, help="statements that both were asked"),
        ],
        key=lambda row: (row.name,),
        definition="The interval resamples statements for both at once.",
        notes=tuple({f"{pair[0]} − {pair[1]}: {row.shared.said(*pair)}." for row in rows}),
        subject=(*pair, *formula),
    )


def _issue_columns(result: Consistency, of: Callable[[Row], Sequence[IssueStance]]) -> list[Column[Row]]:
    """Return a column for each policy issue."""

    def value(place: int) -> Callable[[Row], Estimate]:
        return lambda row: of(row)[place].value

    return [
        Column(issue, issue.replace("_", " "), value(place), Kind.SCORE)
        for place, issue in enumerate(result.land.issues)
    ]


def _party(party: Party) -> str:
    return f"{party.country}/{party.name}"
