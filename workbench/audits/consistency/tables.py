"""The tables of political consistency: leaning, issue stances and the statements behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from workbench.audits.consistency.judged import (
    PARTY,
    PERSON,
    Consistency,
    PartyStances,
    RespondentDifference,
)
from workbench.audits.consistency.options import OFFERED, Formula, View
from workbench.audits.consistency.stances import (
    ALWAYS_AGREE,
    ALWAYS_DISAGREE,
    FEWEST,
    MEASURES,
    FamilyShare,
    IssueStance,
    IssueTally,
    LabelledStatement,
    Leaning,
    PartyShare,
    PartyStatement,
    Stances,
)
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.domain.instruments import Party
from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Star
from workbench.figures.table import AnyTable, Column, Kind, Link, Table

STANCES = {1: "agree", -1: "disagree", 0: "none"}
SIGNS = {"agree": "+", "disagree": "−", "none": "·"}
ANSWERS = {1: "agree", -1: "disagree", 0: "neutral", None: "no answer"}
MATCHES = {
    "all": "all matches",
    "agree": "matches where both agree",
    "disagree": "matches where both disagree",
}
BASELINES = (ALWAYS_AGREE, ALWAYS_DISAGREE)
Row = TypeVar("Row")
Texts = Mapping[str, str]
"original wording by statement"
DRAWN_TOGETHER = "The interval resamples statements for both at once."
FEW = f"• fewer than {FEWEST} reliable statements on average over templates"


def respondents(result: Consistency, names: Sequence[str]) -> Table[Stances]:
    """Return the table of respondents, with their statements and the number of reliable ones."""
    return Table(
        "respondents",
        "Respondents",
        [result.respondent(name) for name in names],
        [
            Column("respondent", "respondent", lambda row: row.name),
            Column("statements", "statements", lambda row: len(row.statements), Kind.COUNT),
            Column("templates", "templates", lambda row: row.templates, Kind.WORDS),
            Column(
                "reliable",
                "reliable, by template",
                lambda row: [str(n) for n in row.reliable],
                Kind.WORDS,
            ),
        ],
        key=lambda row: (row.name,),
    )


def leaning(
    result: Consistency, names: Sequence[str], view: View
) -> Table[tuple[str, FamilyShare]]:
    """Return the table of each respondent's agreement with the parties of each family."""
    leanings, agree, disagree = (
        {name: result.leaning(name, matches) for name in names}
        for matches in (view, "agree", "disagree")
    )

    def part(leanings_of_view: Mapping[str, Leaning]) -> Callable[[tuple[str, FamilyShare]], float]:
        """Return the function from a row to the share of the same family in another view."""
        return lambda row: (
            next(
                share
                for share in leanings_of_view[row[0]].families
                if share.family is row[1].family
            ).share.value
        )

    return Table(
        "leaning",
        f"Political leaning: {MATCHES[view]}",
        [
            (name, share)
            for name, leaning_of_view in leanings.items()
            for share in leaning_of_view.families
        ],
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("family", "parties", lambda row: row[1].family.value),
            Column("share", "share", lambda row: row[1].share, Kind.SHARE, scale=(0, 1)),
            Column("agree", "both agree", part(agree), Kind.SHARE, aside=True),
            Column("disagree", "both disagree", part(disagree), Kind.SHARE, aside=True),
            Column(
                "sd",
                "sd",
                lambda row: row[1].templates.sd,
                Kind.SHARE,
                help="over templates, population formula",
                aside=True,
            ),
            Column("parties", "n parties", lambda row: row[1].parties, Kind.COUNT, aside=True),
            Column(
                "statements", "n statements", lambda row: row[1].share.n, Kind.COUNT, aside=True
            ),
            Column(
                "reliable",
                "reliable",
                lambda row: leanings[row[0]].reliable,
                Kind.SHARE,
                help="statements with a reliable stance, mean and sd over templates",
                aside=True,
            ),
        ],
        key=lambda row: (row[0], row[1].family.value),
        definition="Share of a country's statements on which the reliable stance is the party's "
        "answer: the mean over "
        "the parties of a family (left below 4, right above 6 on the left-right scale), then "
        "over templates. The "
        "interval treats statements within countries as a sample. The two baselines always agree "
        "and always disagree: "
        "the result of the questionnaire alone.",
        notes=[*_left_out(leanings), *filter(None, [result.positions.scale])],
        empty="The instrument has no parties, so leaning cannot be computed.",
        link=lambda row: Link("party_matches", (row[0],)),
        pictures=[
            Forest(values=["share"], rows=["family"], series="respondent", baselines=BASELINES)
        ],
    )


def _left_out(leaning_by_respondent: Mapping[str, Leaning]) -> list[str]:
    """Return the notes on excluded parties, by respondent if the countries asked about differ."""
    names_by_counts: dict[str, list[str]] = {}
    for name, leaning_of_view in leaning_by_respondent.items():
        counts = (
            f"{leaning_of_view.unplaced} without a left-right position, "
            f"{leaning_of_view.unasked} from countries not asked"
        )
        names_by_counts.setdefault(counts, []).append(name)
    if len(names_by_counts) == 1:
        return [f"parties left out: {counts}" for counts in names_by_counts]
    return [
        f"parties left out of {', '.join(names)}: {counts}"
        for counts, names in names_by_counts.items()
    ]


def leaning_by_template(
    result: Consistency, names: Sequence[str], view: View
) -> Table[tuple[str, FamilyShare, str, float]]:
    """Return the table of the shares under each template, whose means are in `leaning`."""
    rows = [
        (name, share, template, value)
        for name in names
        for share in result.leaning(name, view).families
        for template, value in zip(
            result.respondent(name).templates, share.by_template, strict=False
        )
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
        link=lambda row: Link("party_matches", (row[0],)),
    )


def issues(
    result: Consistency, names: Sequence[str], formula: Formula, definitions: Texts | None = None
) -> Table[tuple[str, IssueStance]]:
    """Return the table of respondents' stances on every policy issue.

    `definitions` tell for each issue what supporting it means.
    """
    rows = [(name, stance) for name in names for stance in result.issues(name, formula)]
    notes = []
    if any(stance.few for _, stance in rows):
        notes.append(FEW)
    n_zeros = sum(stance.zero_by_rule > 0 for _, stance in rows)
    if n_zeros:
        notes.append(
            f"0 by rule under some template, because no stance supports the issue: {n_zeros}"
        )
    return Table(
        "issues",
        f"Stance on policy issues: {formula}",
        rows,
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("issue", "policy issue", lambda row: row[1].issue, words=_issue_words(result)),
            Column(
                "stance",
                formula,
                lambda row: row[1].value,
                Kind.SCORE,
                scale=(-1, 1),
                reference=lambda row: result.issue(ALWAYS_AGREE, row[1].issue, formula).value.value,
                help="the mean over templates; ╎ in the picture: always agree",
            ),
            Column(
                "sd",
                "sd",
                lambda row: row[1].templates.sd,
                Kind.COEFFICIENT,
                help="over templates",
                aside=True,
            ),
            Column(
                "regardless",
                "whatever the label",
                lambda row: row[1].regardless,
                Kind.SCORE,
                help="signed support of somebody who agrees as often, and not by the labels",
                aside=True,
            ),
            *_labelled_columns(),
            *(_by_formula(result, other) for other in OFFERED if other != formula),
        ],
        key=lambda row: (row[0], row[1].issue),
        definition=MEASURES[formula],
        detail=lambda row: tuple(_on_issue(row[1], definitions or {})),
        notes=notes,
        empty="The instrument has no policy issues.",
        link=lambda row: Link("issue_statements", (row[0], row[1].issue)),
        subject=(formula,),
        pictures=[
            Forest(
                values=["stance"],
                rows=["issue"],
                series="respondent",
                baselines=BASELINES,
                reference=ALWAYS_AGREE,
                whole=True,
            ),
            Star(
                value="stance",
                spoke="issue",
                series="respondent",
                baselines=BASELINES,
                suffix="spider",
            ),
        ],
    )


def _labelled_columns() -> list[Column[tuple[str, IssueStance]]]:
    """Return the columns of the test, and of the labelled statements behind it."""
    return [
        Column(
            "p",
            "p",
            lambda row: row[1].p,
            Kind.P_VALUE,
            help="that the stances have nothing to do with the labels, by permuting these: a "
            "coin, or agreeing to "
            "everything",
        ),
        Column(
            "reliable",
            "reliable",
            lambda row: row[1].reliable,
            Kind.COUNT,
            help="labelled statements with a reliable stance, mean over templates",
        ),
        Column("few", "", lambda row: row[1].few, Kind.MARK),
        Column("supporting", "labels +1", lambda row: row[1].supporting, Kind.COUNT, aside=True),
        Column("opposing", "labels −1", lambda row: row[1].opposing, Kind.COUNT, aside=True),
    ]


def _by_formula(result: Consistency, formula: Formula) -> Column[tuple[str, IssueStance]]:
    """Return the column of the stances by another formula."""
    return Column(
        f"stance_{formula}",
        formula,
        lambda row: result.issue(row[0], row[1].issue, formula).value,
        Kind.SCORE,
        help=MEASURES[formula],
        aside=True,
    )


def _on_issue(stance: IssueStance, definitions: Texts) -> Iterator[str]:
    """Yield the details of a stance: its counts, the rule of `tacl`, and the issue's definition."""
    if stance.tallies:
        n = len(stance.tallies)
        agreed, disagreed, against, opposing = (
            sum(column) / n for column in zip(*stance.tallies, strict=True)
        )
        yield (
            f"for: {agreed:.1f} agreed, {disagreed:.1f} disagreed · against: {against:.1f} "
            f"disagreed, {opposing:.1f} agreed (means over {plural(n, 'template')})"
        )
    if stance.zero_by_rule:
        yield (
            f"0 by the formula's own rule under {plural(stance.zero_by_rule, 'template')}: no "
            "stance supports it"
        )
    if definition := definitions.get(stance.issue):
        yield f"defined: {definition}"


def issues_by_template(
    result: Consistency, names: Sequence[str], formula: Formula
) -> Table[tuple[str, IssueStance, str, float, IssueTally]]:
    """Return the table of the stances under each template, whose means are in `issues`.

    It has the numbers of counted statements.
    """
    rows = [
        (name, stance, *template_figures)
        for name in names
        for stance in result.issues(name, formula)
        for template_figures in zip(
            result.respondent(name).templates, stance.by_template, stance.tallies, strict=True
        )
    ]
    return Table(
        "issues_by_template",
        f"Stance on policy issues under each template: {formula}",
        rows,
        [
            Column("respondent", "respondent", lambda row: row[0]),
            Column("issue", "policy issue", lambda row: row[1].issue, words=_issue_words(result)),
            Column("template", "template", lambda row: row[2]),
            Column("stance", formula, lambda row: row[3], Kind.SCORE),
            Column("plus_agree", "+1, agrees", lambda row: row[4].agree_supports, Kind.COUNT),
            Column(
                "plus_disagree", "+1, disagrees", lambda row: row[4].disagree_opposes, Kind.COUNT
            ),
            Column("minus_agree", "−1, agrees", lambda row: row[4].agree_opposes, Kind.COUNT),
            Column(
                "minus_disagree", "−1, disagrees", lambda row: row[4].disagree_supports, Kind.COUNT
            ),
        ],
        key=lambda row: (row[0], row[1].issue, row[2]),
        notes=["+1, −1: label of the counted statements"],
        link=lambda row: Link("issue_statements", (row[0], row[1].issue)),
        subject=(formula,),
    )


def party_matches(result: Consistency, name: str) -> Table[PartyShare]:
    """Return the table of one respondent's agreement with each party."""
    return Table(
        "party_matches",
        f"{name}: how often its reliable stance is the party's answer",
        result.parties(name),
        [
            Column("party", "party", lambda row: _party(row.party)),
            Column(
                "family", "family", lambda row: row.family.value if row.family else "not placed"
            ),
            Column(
                "position",
                "left-right position",
                lambda row: row.party.position,
                Kind.COEFFICIENT,
                aside=True,
            ),
            Column(
                "share",
                "share",
                lambda row: row.share,
                Kind.SHARE,
                help="mean and sd over templates",
                scale=(0, 1),
            ),
            Column("agree", "both agree", lambda row: row.agree, Kind.SHARE),
            Column("disagree", "both disagree", lambda row: row.disagree, Kind.SHARE),
            Column(
                "statements",
                "statements",
                lambda row: row.statements,
                Kind.COUNT,
                help="asked in its country",
            ),
            Column(
                "neutral",
                "neutral",
                lambda row: row.neutral,
                Kind.COUNT,
                help="the party's neutral answers",
                aside=True,
            ),
            Column("missing", "no answer", lambda row: row.missing, Kind.COUNT, aside=True),
        ],
        key=lambda row: (row.party.country, row.party.name),
        empty="The instrument has no parties.",
        link=lambda row: Link("party_statements", (name, row.party.country, row.party.name)),
        subject=(name,),
        pictures=[Forest(values=["share"], rows=["party"], series="family")],
    )


def party_stances(result: Consistency, formula: Formula) -> Table[PartyStances]:
    """Return the table of the parties as respondents, with their stances on issues."""
    return Table(
        "party_stances",
        f"Parties as respondents: {formula}",
        result.party_stances(formula),
        [
            Column("party", "party", lambda row: _party(row.party)),
            Column(
                "family", "family", lambda row: row.family.value if row.family else "not placed"
            ),
            *_issue_columns(result, lambda row: row.issues),
        ],
        key=lambda row: (row.party.country, row.party.name),
        definition=f"{MEASURES[formula]} All answers of a party count as reliable; a neutral "
        "answer is no stance.",
        empty="The instrument has no parties.",
        link=lambda row: Link("given", (PARTY, row.party.country, row.party.name)),
        subject=(formula,),
    )


def people(result: Consistency, formula: Formula) -> Table[tuple[str, tuple[IssueStance, ...]]]:
    """Return the table of the people who answered the survey, with their stances on issues."""
    return Table(
        "people",
        f"People who answered the survey: {formula}",
        result.people_stances(formula),
        [
            Column("person", "person", lambda row: row[0]),
            *_issue_columns(result, lambda row: row[1]),
        ],
        key=lambda row: (row[0],),
        definition=MEASURES[formula],
        empty="Nobody has answered the survey of this instrument yet.\n\n2 goes to Statements: v "
        "asks a person.",
        link=lambda row: Link("given", (PERSON, row[0])),
        subject=(formula,),
    )


def _issue_words(result: Consistency) -> dict[str, str]:
    """Return the names of the policy issues as text, by issue."""
    return {issue: issue.replace("_", " ") for issue in result.positions.issues}


def _wording(texts: Texts, ref: Callable[[Row], str]) -> Column[Row]:
    """Return the column of the original wording."""
    return Column(
        "wording", "wording", lambda row: texts.get(ref(row), ""), least=24, main=True, aside=True
    )


def _signed(result: Consistency, name: str) -> str:
    """Return the note that explains the signs of stances."""
    templates = ", ".join(result.respondent(name).templates)
    return f"stances under {templates}: + agrees, − disagrees, · no reliable stance"


def _stances(stances: Callable[[Row], Sequence[int]]) -> Column[Row]:
    """Return the column of the stances under each template."""
    return Column(
        "stances",
        "stances",
        lambda row: [STANCES[stance] for stance in stances(row)],
        Kind.WORDS,
        words=SIGNS,
    )


def issue_statements(
    result: Consistency, name: str, issue: str, texts: Texts | None = None
) -> Table[LabelledStatement]:
    """Return the table of the statements behind a respondent's stance on an issue."""
    return Table(
        "issue_statements",
        f"{name}: statements on {issue.replace('_', ' ')}",
        result.issue_statements(name, issue),
        [
            Column("statement", "statement", lambda row: row.ref),
            _wording(texts or {}, lambda row: row.ref),
            Column(
                "label",
                "label",
                lambda row: row.label,
                Kind.BALANCE,
                help="+1 agreeing supports the issue, −1 disagreeing supports it",
            ),
            _stances(lambda row: row.stances),
            Column(
                "supports",
                "in favour",
                lambda row: row.supports,
                Kind.COUNT,
                help="templates under which the stance supports the issue",
            ),
            Column(
                "opposes",
                "against",
                lambda row: row.opposes,
                Kind.COUNT,
                help="templates under which the stance opposes the issue",
            ),
        ],
        key=lambda row: (row.ref,),
        notes=[_signed(result, name)],
        detail=lambda row: [texts[row.ref]] if texts and row.ref in texts else [],
        empty=f"No statement asked has a label of {issue}.",
        link=lambda row: Link("statement", (name, row.ref)),
        subject=(name, issue),
    )


def party_statements(
    result: Consistency, name: str, country: str, party: str, texts: Texts | None = None
) -> Table[PartyStatement]:
    """Return the table of the statements behind a respondent's share with one party."""
    return Table(
        "party_statements",
        f"{name} and {country}/{party}: statements",
        result.party_statements(name, country, party),
        [
            Column("statement", "statement", lambda row: row.ref),
            _wording(texts or {}, lambda row: row.ref),
            Column("party", "party", lambda row: ANSWERS[row.answer], help="the party's answer"),
            _stances(lambda row: row.stances),
            Column(
                "matches",
                "matches",
                lambda row: row.matches,
                Kind.COUNT,
                help="templates under which both take the same side",
            ),
        ],
        key=lambda row: (row.ref,),
        notes=[_signed(result, name)],
        detail=lambda row: [texts[row.ref]] if texts and row.ref in texts else [],
        empty=f"No statement from {country} was asked.",
        link=lambda row: Link("statement", (name, row.ref)),
        subject=(name, country, party),
    )


def differences(
    result: Consistency, first: str, second: str, view: View, formulas: Sequence[Formula]
) -> Iterator[AnyTable]:
    """Yield the tables of the differences between two respondents.

    The first one is by party family, then there is one by policy issue for each formula.
    """
    yield _difference(
        result,
        "leaning",
        "party family",
        result.compare_leaning(first, second, view),
        (first, second),
    )
    for formula in formulas:
        rows = result.compare_issues(first, second, formula)
        yield _difference(
            result, "issues", f"policy issue, {formula}", rows, (first, second), formula
        )


def _difference(
    result: Consistency,
    subject: str,
    title: str,
    rows: Sequence[RespondentDifference],
    pair: tuple[str, str],
    *formula: Formula,
) -> Table[RespondentDifference]:
    """Return a table of the differences between two respondents."""
    value_kind, difference_kind, span = Kind.SCORE, Kind.SCORE, 2
    if subject == "leaning":
        value_kind, difference_kind, span = Kind.SHARE, Kind.POINTS, 1

    def below(row: RespondentDifference) -> Link:
        """Return the link to the parties or statements behind a row."""
        if subject == "leaning":
            return Link("party_matches", (pair[0],))
        return Link("issue_statements", (pair[0], row.name))

    return Table(
        f"compared_{subject}",
        f"{pair[0]} − {pair[1]}, by {title}",
        rows,
        [
            Column("name", title, lambda row: row.name, words=_issue_words(result)),
            Column("first", "first", lambda row: row.first, value_kind),
            Column("second", "second", lambda row: row.second, value_kind),
            Column(
                "difference",
                "difference",
                lambda row: row.difference,
                difference_kind,
                scale=(-span, span),
            ),
            Column(
                "n", "n", lambda row: row.difference.n, Kind.COUNT, help="statements asked of both"
            ),
        ],
        key=lambda row: (row.name,),
        definition=" ".join([*(MEASURES[name] for name in formula), DRAWN_TOGETHER]),
        notes=tuple({f"{pair[0]} − {pair[1]}: {row.shared.said(*pair)}." for row in rows}),
        link=below,
        subject=(*pair, *formula),
        pictures=[Forest(values=["difference"], rows=["name"], axis=f"{pair[0]} − {pair[1]}")],
    )


def _issue_columns(
    result: Consistency, stances_of: Callable[[Row], Sequence[IssueStance]]
) -> list[Column[Row]]:
    """Return a column of the stance on each policy issue."""

    def value(index: int) -> Callable[[Row], Estimate]:
        """Return the function from a row to its stance on one issue."""
        return lambda row: stances_of(row)[index].value

    return [
        Column(issue, issue.replace("_", " "), value(index), Kind.SCORE, aside=index > 2)
        for index, issue in enumerate(result.positions.issues)
    ]


def _party(party: Party) -> str:
    """Return the name of a party with its country."""
    return party.label


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """The answer of a party or a person to one statement."""

    ref: str
    stance: int
    supports: tuple[str, ...]
    "policy issues with a sign: + for an issue that the answer supports, − for one that it opposes"


def answers_of(
    result: Consistency, kind: str, name_parts: Sequence[str], texts: Texts
) -> Table[AnswerSupport]:
    """Return the table of the answers of a party or a person, with the issues that they support.

    `name_parts` is the country and the name of a party, or the name of a person.
    """
    stances = result.who_answered(kind, *name_parts)
    positions = result.positions.on_statements(stances.statements)
    rows = [
        AnswerSupport(
            ref,
            stance,
            tuple(_signed_issues(positions.issues, stance, positions.labels[:, column].tolist())),
        )
        for column, (ref, stance) in enumerate(
            zip(stances.statements, map(int, stances.values[0]), strict=True)
        )
    ]
    return Table(
        "given",
        f"Answers of {'/'.join(name_parts)}",
        rows,
        [
            Column("statement", "statement", lambda row: row.ref),
            _wording(texts, lambda row: row.ref),
            Column("answer", "answer", lambda row: STANCES[row.stance]),
            Column(
                "supports",
                "supports (+), opposes (−)",
                lambda row: ", ".join(row.supports),
                least=16,
                short="issues",
                help="policy issues that agreeing supports or opposes",
            ),
        ],
        key=lambda row: (row.ref,),
        definition="A neutral answer is no stance. These are not a model's answers, so no "
        "answers lie behind them.",
        detail=lambda row: [
            text for text in (texts.get(row.ref, ""), ", ".join(row.supports)) if text
        ],
        subject=(kind, *name_parts),
    )


def _signed_issues(issues: Sequence[str], stance: int, labels: Sequence[int]) -> Iterator[str]:
    """Yield the issues that an answer supports or opposes, with their signs."""
    for issue, label in zip(issues, labels, strict=True):
        if stance * label:
            yield f"{'+' if stance * label > 0 else '−'} {issue.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class ReadableShare:
    """The share of readable answers to one statement under one template."""

    ref: str
    share: Estimate
    stance: int


def template_statements(
    result: Consistency, report: ReliabilityReport, name: str, template: str, texts: Texts
) -> Table[ReadableShare]:
    """Return the table of the statements under one template, the least readable first."""
    return Table(
        "template_statements",
        f"{name} under {template}: statements by readable answers",
        sorted(
            _readable_shares(result, report, name, template),
            key=lambda row: (math.isnan(row.share.value), row.share.value),
        ),
        [
            Column("statement", "statement", lambda row: row.ref),
            _wording(texts, lambda row: row.ref),
            Column(
                "readable",
                "readable",
                lambda row: row.share,
                Kind.SHARE,
                scale=(0, 1),
                help="answers with a readable stance, over all wordings of the statement",
            ),
            Column("answers", "of", lambda row: row.share.n, Kind.COUNT),
            Column(
                "stance",
                "stance",
                lambda row: STANCES[row.stance],
                help="on the original, if reliable",
            ),
        ],
        key=lambda row: (row.ref,),
        detail=lambda row: [texts[row.ref]] if row.ref in texts else [],
        empty=f"{name} was not asked with the template {template}.",
        link=lambda row: Link("statement", (name, row.ref, template)),
        subject=(name, template),
    )


def _readable_shares(
    result: Consistency, report: ReliabilityReport, name: str, template: str
) -> Iterator[ReadableShare]:
    """Yield the share of readable answers to each statement under one template."""
    counts, stances = report.counts, result.respondent(name)
    if template not in counts.templates:
        return
    row = counts.templates.index(template)
    stance_by_ref = {
        ref: int(value) for ref, value in zip(stances.statements, stances.values[row], strict=True)
    }
    readable, counted, total = (
        array[row].sum(axis=(1, 2)) for array in (counts.readable, counts.counted, counts.total)
    )
    rows = zip(counts.statements, readable.tolist(), counted.tolist(), total.tolist(), strict=True)
    for ref, n_readable, n_counted, n_asked in rows:
        if n_counted:
            share = Estimate(n_readable / n_counted, math.nan, math.nan, int(n_counted), 0, "")
        else:
            reason = "rulings leave out every answer" if n_asked else "it was not asked"
            share = Estimate(math.nan, math.nan, math.nan, int(n_counted), 0, reason)
        yield ReadableShare(ref, share, stance_by_ref.get(ref, 0))
