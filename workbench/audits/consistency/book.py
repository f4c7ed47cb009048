"""The figures of political consistency as one book: what stands for itself, and what each row was made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.audits.consistency import tables as tables
from workbench.audits.consistency.judge import Consistency, Formula, Stances, View, party_stances
from workbench.audits.consistency.pilot import ScaleCollapse, answer_types, rank_templates, weaker_tests
from workbench.audits.consistency.pilot_tables import answer_scales, stance_shares, template_ranks, weaker_sets
from workbench.audits.reliability.human_bound import Bound
from workbench.audits.reliability.judge import Report
from workbench.audits.reliability.model_kappas import model_kappas
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import Answered, entries, entry, header
from workbench.evidence.refusals import Refusals
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable, Column, Kind, Link, Table

NO_LABELS = """No statement has a policy-issue label.

2 goes to Statements: g there labels statements for policy issues."""
NO_PEOPLE = """No statement has a policy-issue label from two people or from adjudication.

l goes back to the gold labels; 2, then g labels statements for policy issues."""
NO_PARTIES = "The instrument has no parties, so leaning cannot be computed."
NO_SURVEY = """Nobody has answered the instrument, so people's statements are empty.

2 goes to Statements: y there answers them; or: workbench survey STORE --respondent NAME"""
NO_ANSWERS = """No model has answered yet.

3 goes to Jobs: n there starts one. To choose templates, a few statements of each country are enough:
workbench pilot STORE --model MODEL"""


@dataclass(frozen=True, eq=False)
class Material:
    """What figures show beside the analysis."""

    texts: Mapping[str, str] = field(default_factory=dict)
    "statement -> its original wording"
    definitions: Mapping[str, str] = field(default_factory=dict)
    "policy issue -> what supporting it means"
    reports: Mapping[str, Report] = field(default_factory=dict)
    "model -> its reliability; baselines have none"
    addresses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "model -> template -> personal or impersonal"
    scales: Sequence[ScaleCollapse] = ()
    labelled: int = 0
    "statements with a label for some policy issue"
    of_people: bool = False
    "whether the labels are those of people alone"
    survey: Sequence[SurveyAnswer] = ()
    people: Callable[[], Sequence[Bound]] = tuple
    "returns how consistently the people who answered the survey answer"
    refusals: Sequence[Refusals] = ()
    "of each model"
    answered: Sequence[Answered] = ()
    "how much of the plan of each model was answered, and what came of it"


def book(result: Consistency, formula: Formula, view: View, material: Material) -> Book:
    """Return the figures by a formula of stances and a view of leaning."""
    of = _Figures(result, formula, view, material)
    contents = [
        *of.respondents(),
        *of.templates_and_tests(),
        Entry("answer_scales", "scales", lambda: answer_scales(material.scales)),
        *of.kappas(),
        entry(material.answered),
        *entries(lambda: material.refusals, result.options.seed),
    ]
    return Book("Political consistency", contents, of.behind(), header=header(material.answered))


@dataclass(frozen=True, eq=False, slots=True)
class _Figures:
    """The entries of the book, by what they are about."""

    result: Consistency
    formula: Formula
    view: View
    material: Material

    @property
    def models(self) -> list[tuple[str]]:
        return [(name,) for name in self.result.models]

    @property
    def unlabelled(self) -> str:
        if self.material.labelled:
            return ""
        return NO_PEOPLE if self.material.of_people else NO_LABELS

    @property
    def unanswered(self) -> str:
        return "" if self.models else NO_ANSWERS

    @property
    def partyless(self) -> str:
        return "" if self.result.positions.parties else NO_PARTIES

    def respondents(self) -> list[Entry]:
        """Return what each model, party and person supports and whom each answers like."""
        result, formula = self.result, self.formula
        names = [one.name for one in result.respondents]

        def issues(name: str) -> AnyTable:
            found = tables.issues(result, [name], formula, self.material.definitions)
            return replace(found, subject=(name, formula))

        def every_issue() -> AnyTable:
            return tables.issues(result, names, formula, self.material.definitions)

        each = [(name,) for name in names]
        return [
            Entry("issues", "issues", issues, each, ("formula",), self.unlabelled, whole=every_issue),
            Entry(
                "leaning", "leaning", lambda: tables.leaning(result, names, self.view),
                choices=("match",), empty=self.partyless,
            ),
            Entry("parties", "parties", lambda: tables.party_stances(result, formula), choices=("formula",)),
            Entry("people", "people", lambda: tables.people(result, formula), choices=("formula",)),
            Entry("respondents", "respondents", lambda: tables.respondents(result, names)),
            Entry(
                "issues_by_template", "issues by template", lambda: tables.issues_by_template(result, names, formula),
                choices=("formula",), empty=self.unlabelled,
            ),
            Entry(
                "leaning_by_template", "leaning by template",
                lambda: tables.leaning_by_template(result, names, self.view), choices=("match",), empty=self.partyless,
            ),
        ]  # fmt: skip

    def templates_and_tests(self) -> list[Entry]:
        """Return what templates and tests do to a model's figures, as pilots choose among them."""
        reports, options, formula = self.material.reports, self.result.options, self.formula

        def ranks(name: str) -> AnyTable:
            addresses = self.material.addresses.get(name, {})
            found = rank_templates(reports[name].counts, addresses, options.seed, options.resamples)
            return replace(template_ranks(found, name), subject=(name,))

        def answered(name: str) -> AnyTable:
            found = stance_shares(reports[name].counts.templates, answer_types(reports[name]))
            return replace(found, subject=(name,))

        def weaker(name: str) -> AnyTable:
            found = weaker_sets(weaker_tests(reports[name], self.result.positions, formula, options.seed))
            return replace(found, subject=(name,))

        return [
            Entry("templates", "templates", ranks, self.models, empty=self.unanswered),
            Entry("answer_types", "originals", answered, self.models, empty=self.unanswered),
            Entry("weaker_tests", "tests", weaker, self.models, ("formula",), self.unanswered),
        ]

    def kappas(self) -> list[Entry]:
        """Return how far a model agrees with itself, over all statements and over those that people answered."""
        material = self.material

        def table(only: bool) -> Callable[[], AnyTable]:
            return lambda: model_kappas(material.reports, material.people(), material.survey, restricted=only)

        as_people = self.unanswered or ("" if material.survey else NO_SURVEY)
        return [
            Entry("model_kappas", "κ", table(False), empty=self.unanswered),
            Entry("model_kappas_as_people", "κ people", table(True), empty=as_people),
        ]

    def behind(self) -> dict[str, Callable[..., AnyTable]]:
        """Return what rows of the tables lead to."""
        result, material, texts = self.result, self.material, self.material.texts
        return {
            "issue_statements": lambda name, issue: tables.issue_statements(result, name, issue, texts),
            "party_matches": lambda name: tables.party_matches(result, name),
            "party_statements": lambda name, country, party: tables.party_statements(
                result, name, country, party, texts
            ),
            "given": lambda kind, *of: given(result, kind, of, texts),
            "template_statements": lambda name, template: template_statements(
                result, material.reports[name], name, template, material
            ),
        }


@dataclass(frozen=True, slots=True)
class Given:
    """What a party or a person answered to one statement."""

    ref: str
    stance: int
    supports: tuple[str, ...]
    "policy issues with a sign: + the answer supports it, − it opposes it"


def given(result: Consistency, kind: str, of: Sequence[str], texts: Mapping[str, str]) -> Table[Given]:
    """Return what a party (country, name), or a person (name), answered, and what that supports."""
    stances = _given(result, kind, of)
    positions = result.positions.on(stances.statements)
    rows = [
        Given(ref, stance, tuple(_supported(positions.issues, stance, positions.labels[:, at].tolist())))
        for at, (ref, stance) in enumerate(zip(stances.statements, map(int, stances.values[0]), strict=True))
    ]
    return Table(
        "given",
        f"Answers of {'/'.join(of)}",
        rows,
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("wording", "wording", lambda row: texts.get(row.ref, ""), least=24, main=True, aside=True),
            Column("answer", "answer", lambda row: tables.STANCES[row.stance]),
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
        definition="A neutral answer is no stance. These are not a model's answers, so no answers lie behind them.",
        detail=lambda row: [text for text in (texts.get(row.ref, ""), ", ".join(row.supports)) if text],
        subject=(kind, *of),
    )


def _given(result: Consistency, kind: str, of: Sequence[str]) -> Stances:
    if kind == "person":
        return next(one for one in result.people if one.name == of[0])
    return party_stances(result.positions, result.positions.party(*of))


def _supported(issues: Sequence[str], stance: int, labels: Sequence[int]) -> Iterator[str]:
    for issue, label in zip(issues, labels, strict=True):
        if stance * label:
            yield f"{'+' if stance * label > 0 else '−'} {issue.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class Readable:
    """How readable the answers to one statement are under one template."""

    ref: str
    share: Estimate
    stance: int


def template_statements(
    result: Consistency, report: Report, name: str, template: str, material: Material
) -> Table[Readable]:
    """Return the statements asked under one template, those with the fewest readable answers first."""
    return Table(
        "template_statements",
        f"{name} under {template}: statements by readable answers",
        sorted(
            _readable(result, report, name, template), key=lambda row: (math.isnan(row.share.value), row.share.value)
        ),
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("wording", "wording", lambda row: material.texts.get(row.ref, ""), least=24, main=True, aside=True),
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
                lambda row: tables.STANCES[row.stance],
                help="on the original, if reliable",
            ),
        ],
        key=lambda row: (row.ref,),
        detail=lambda row: [text for text in (material.texts.get(row.ref, ""),) if text],
        empty=f"{name} was not asked with the template {template}.",
        link=lambda row: Link("statement", (name, row.ref, template)),
        subject=(name, template),
    )


def _readable(result: Consistency, report: Report, name: str, template: str) -> Iterator[Readable]:
    counts, stances = report.counts, result.respondent(name)
    if template not in counts.templates:
        return
    at = counts.templates.index(template)
    marks = {ref: int(value) for ref, value in zip(stances.statements, stances.values[at], strict=True)}
    readable, counted, total = (array[at].sum(axis=(1, 2)) for array in (counts.readable, counts.counted, counts.total))
    rows = zip(counts.statements, readable.tolist(), counted.tolist(), total.tolist(), strict=True)
    for ref, part, whole, asked in rows:
        undefined = "" if whole else "rulings leave out every answer" if asked else "it was not asked"
        share = Estimate(part / whole if whole else math.nan, math.nan, math.nan, int(whole), 0, undefined)
        yield Readable(ref, share, marks.get(ref, 0))
