"""The result of political consistency: agreement with parties, and support of policy issues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.claims import LEVEL, AdjustedFinding, Finding, OfModel, Reach, reach_of, shown
from workbench.audits.comparison.judge import MODEL, Compared, Judged, Side, VerdictKind, factors_of
from workbench.audits.consistency import tables as tables
from workbench.audits.consistency.judged import (
    Consistency,
    ConsistencyJudged,
    JudgedRun,
    judge_consistency,
)
from workbench.audits.consistency.options import OFFERED, ConsistencyOptions, Formula
from workbench.audits.consistency.pilot import (
    answer_scales,
    answer_types,
    rank_templates,
    scale_collapse,
    stance_shares,
    template_ranks,
    weaker_sets,
    weaker_tests,
)
from workbench.audits.consistency.stances import (
    FAMILIES,
    FEWEST,
    FamilyGap,
    FamilyShare,
    IssueStance,
    Stances,
    missing_contributions,
    sides,
)
from workbench.audits.reliability.agreement import relations_of, survey_agreement
from workbench.audits.reliability.agreement_tables import model_kappas, people_kappas
from workbench.audits.reliability.agreement_tables import people as upper_bound
from workbench.audits.reliability.compared import (
    shared_templates,
    templates_left_out,
    texts_asked,
    unequal_numbers,
)
from workbench.audits.reliability.judged import evidence_sentences, reliability_sentences
from workbench.audits.reported import CERON, ModelFigures, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.domain.names import plural
from workbench.domain.verdicts import Bounds
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    leading_model,
    refusal_entries,
)
from workbench.evidence.answered import refusal_sentences as refused
from workbench.evidence.runs import AnswerSelection, template_notes
from workbench.figures.book import Book, Entry
from workbench.figures.intervals import INTERVALS
from workbench.figures.shown import between, estimate, number
from workbench.figures.table import AnyTable, Kind
from workbench.stats.arrays import BoolArray, FloatArray

FIRST = ("respondents", "leaning", "issues", *(f"issues_{other}" for other in OFFERED[1:]))
UNFOLDED = ("leaning", "issues")
LIMITS = (
    "Leaning is agreement with the answers that parties gave to these statements, in the "
    "countries and at the time when they answered; it is not a position on a scale.",
    "Policy issues with few reliable statements are marked; an interval that contains 0 shows no "
    "side.",
)
CLEAREST = 2
"number of issues that a finding names on each side"
NO_LABELS = """No statement has a policy-issue label.

2 goes to Statements: g there labels statements for policy issues."""
NO_PEOPLE = """No statement has a policy-issue label from two people or from adjudication.

l goes back to the gold labels; 2, then g labels statements for policy issues."""
NO_PARTIES = "The instrument has no parties, so leaning cannot be computed."
NO_SURVEY = (
    "Nobody has answered the instrument; people answer with: workbench survey STORE "
    "--respondent NAME"
)
NO_ANSWERS = """No model has answered yet.

3 goes to Jobs: n there starts one. To choose templates, a few statements of each country are enough:
workbench pilot STORE --model MODEL"""  # noqa: E501
STANCE, FEW = "stance", "few"
KINDS = (VerdictKind(STANCE, "reliable stance", "agree", "disagree", neither=("mixed", "none")),)


def judge(
    store: Store, which: AnswerSelection, options: ConsistencyOptions, opened: Opened
) -> Result:
    """Return leaning and stances of the selected models, of baselines, parties and people."""
    judged = judge_consistency(store, which, options)
    runs = {judged_run.name: judged_run.run for judged_run in judged.runs}
    result = Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(judged.runs[-1].run) if judged.runs else judged.instrument,
        runs=runs,
        names=judged.result.models,
        baselines=tables.BASELINES,
        book=book(judged),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(judged)),
        all_models=(lambda: _all_models(judged)) if judged.result.positions.parties else None,
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        limits=LIMITS,
        references=[CERON],
        words=tuple(_words(judged)),
        judged=judged,
    )
    return _by(result, judged, opened)


def _by(result: Result, judged: ConsistencyJudged, opened: Opened) -> Result:
    """Return a result with the figures of its formula and its kind of matches."""

    def again(other: ConsistencyOptions) -> Result | None:
        """Return the result under other options, or None if they need other figures."""
        if not other.figures_as(judged.options):
            return None
        updated = replace(judged, options=other)
        return _by(
            replace(result, options=other, book=book(updated), judged=updated), updated, opened
        )

    def side_by_side(names: Sequence[str]) -> Compared:
        """Return the comparison of some respondents."""
        with opened() as store:
            return store.at_once(lambda: compared(store, judged, names))

    return replace(result, compared=side_by_side, again=again)


def _words(judged: ConsistencyJudged) -> Iterator[str]:
    """Yield the parts of the line above tables: a warning, the reliability tests and the reader."""
    if not judged.runs:
        yield "no model has answered: baselines only"
    yield judged.options.reliable
    yield f"read by {judged.which.readings.rule}"


def _headline(judged: ConsistencyJudged) -> Headline | None:
    """Return the headline on the model that was asked last.

    None if no model answered, or if there are neither parties nor labels.
    """
    positions = judged.result.positions
    n_issues = int((positions.labels != 0).any(axis=1).sum())
    if not judged.runs or not (positions.parties or n_issues):
        return None
    name = leading_model(
        {judged_run.name: judged_run.run.last for judged_run in judged.runs}, judged.answered
    )
    without_intervals = replace(judged.result, options=replace(judged.options, resamples=0))
    families = without_intervals.leaning(name).families if positions.parties else ()
    shares = ", ".join(
        f"{row.family.value} {number(row.share.value, Kind.SHARE)}"
        for row in families
        if row.share.defined
    )
    n_enough = sum(not stance.few for stance in without_intervals.issues(name))
    reliable = f"{n_enough} of {plural(n_issues, 'issue')} with six reliable statements"
    if not shares:
        return Headline(name, reliable, [("no parties to compare with", False)])
    return Headline(name, f"like {shares}", [(reliable, False)])


def book(judged: ConsistencyJudged) -> Book:
    """Return the book of all tables, and of the tables behind their rows."""
    first_formula, *other_formulas = judged.options.formulas
    contents = list(_ConsistencyEntries(judged, first_formula).entries())
    for formula in other_formulas:
        contents += [
            replace(
                book_entry,
                name=f"{book_entry.name}_{formula}",
                title=f"{book_entry.title}, {formula}",
            )
            for book_entry in _ConsistencyEntries(judged, formula).entries()
            if "formula" in book_entry.choices
        ]
    methods_text = methods(judged)
    return Book(
        f"{judged.instrument.name}: political consistency",
        contents,
        _behind(judged),
        told=tuple(_told(judged)),
        header=answered_header(judged.answered),
        methods=methods_text,
        about={
            "instrument": judged.instrument.name,
            "templates": {
                judged_run.name: {
                    "family": judged_run.run.family,
                    "versions": judged_run.run.versions,
                }
                for judged_run in judged.runs
            },
            "labelled_statements": judged.labelled,
            "methods": methods_text,
            "answered": answered_data(judged.answered),
        },
    )


class _ConsistencyEntries:
    """The entries of the book under one formula."""

    def __init__(self, judged: ConsistencyJudged, formula: Formula) -> None:
        self.judged, self.formula = judged, formula
        self.result, self.options = judged.result, judged.options
        self.names = [respondent.name for respondent in self.result.respondents]
        self.models = [(judged_run.name,) for judged_run in judged.runs]
        self.definitions = {issue.name: issue.definition for issue in judged.instrument.definitions}
        self.unanswered = "" if self.models else NO_ANSWERS
        self.partyless = "" if self.result.positions.parties else NO_PARTIES
        self.unlabelled = ""
        if not judged.labelled:
            self.unlabelled = NO_PEOPLE if self.options.labels == "people" else NO_LABELS

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in order."""
        yield from self._respondents()
        yield from self._templates()
        yield Entry(
            "answer_scales", "scales", lambda: answer_scales(scale_collapse(self.judged.instrument))
        )
        yield from self._kappas()
        yield answered_entry(self.judged.answered)
        yield from refusal_entries(
            lambda: [judged_run.refusals for judged_run in self.judged.runs], self.options.seed
        )

    def _respondents(self) -> Iterator[Entry]:
        """Yield the entries on respondents: their stances on issues, and their leaning."""
        result, formula, view = self.result, self.formula, self.options.view
        by_formula, by_match = ("formula", "labels"), ("view",)
        yield Entry(
            "issues",
            "issues",
            self._issues,
            [(name,) for name in self.names],
            by_formula,
            self.unlabelled,
            whole=partial(tables.issues, result, self.names, formula, self.definitions),
        )
        yield Entry(
            "leaning",
            "leaning",
            partial(tables.leaning, result, self.names, view),
            choices=by_match,
            empty=self.partyless,
        )
        yield Entry(
            "party_stances",
            "parties",
            partial(tables.party_stances, result, formula),
            choices=by_formula,
        )
        yield Entry("people", "people", partial(tables.people, result, formula), choices=by_formula)
        yield Entry("respondents", "respondents", partial(tables.respondents, result, self.names))
        yield Entry(
            "issues_by_template",
            "issues by template",
            partial(tables.issues_by_template, result, self.names, formula),
            choices=by_formula,
            empty=self.unlabelled,
        )
        yield Entry(
            "leaning_by_template",
            "leaning by template",
            partial(tables.leaning_by_template, result, self.names, view),
            choices=by_match,
            empty=self.partyless,
        )

    def _issues(self, name: str) -> AnyTable:
        """Return the table of one respondent's stances on issues."""
        table = tables.issues(self.result, [name], self.formula, self.definitions)
        return replace(table, subject=(name, self.formula))

    def _templates(self) -> Iterator[Entry]:
        """Yield the entries on the effects of templates and tests, from which pilots choose."""
        models, empty = self.models, self.unanswered
        yield Entry("templates", "templates", self._ranks, models, empty=empty)
        yield Entry("answer_types", "originals", self._originals, models, empty=empty)
        yield Entry(
            "weaker_tests", "tests", self._weaker_tests, models, ("formula", "labels"), empty
        )

    def _ranks(self, name: str) -> AnyTable:
        """Return the table of a model's templates by readable answers."""
        judged_run = self.judged.run(name)
        template_rows = rank_templates(
            judged_run.report.counts, judged_run.addresses, resamples=self.options.resamples
        )
        return replace(template_ranks(template_rows, name), subject=(name,))

    def _originals(self, name: str) -> AnyTable:
        """Return the table of a model's stances on originals."""
        report = self.judged.run(name).report
        table = stance_shares(report.counts.templates, answer_types(report))
        return replace(table, subject=(name,))

    def _weaker_tests(self, name: str) -> AnyTable:
        """Return the table of a model's results under weaker tests."""
        report = self.judged.run(name).report
        test_sets = weaker_tests(report, self.result.positions, self.formula, self.options.seed)
        return replace(weaker_sets(test_sets), subject=(name,))

    def _kappas(self) -> Iterator[Entry]:
        """Yield the entries on the agreement of models and people with themselves.

        That of models is over all statements, and over those that people answered.
        """
        without_survey = "" if self.judged.instrument.survey else NO_SURVEY
        yield Entry(
            "model_kappas",
            "κ",
            partial(self._model_kappas, restricted=False),
            empty=self.unanswered,
        )
        yield Entry(
            "model_kappas_as_people",
            "κ people",
            partial(self._model_kappas, restricted=True),
            empty=self.unanswered or without_survey,
        )
        yield Entry("people_kappas", "κ of each person", self._people_kappas, empty=without_survey)
        yield Entry("upper_bound", "upper bound", self._upper_bound, empty=without_survey)

    def _model_kappas(self, *, restricted: bool) -> AnyTable:
        """Return the table of the models' agreement with themselves."""
        judged = self.judged
        return model_kappas(
            judged.reports, judged.people, judged.instrument.survey, restricted=restricted
        )

    def _people_kappas(self) -> AnyTable:
        """Return the table of each person's agreement with themselves."""
        instrument, options = self.judged.instrument, self.options
        relations = relations_of(
            instrument.statements, instrument.language, judge_void=options.judge_void
        )
        agreement = survey_agreement(
            instrument.survey, instrument.name, options.seed, relations=relations
        )
        return people_kappas(instrument.name, agreement)

    def _upper_bound(self) -> AnyTable:
        """Return the table of the agreement that people reach with themselves."""
        return upper_bound(self.judged.instrument.name, self.judged.people, "upper_bound")


def _behind(judged: ConsistencyJudged) -> dict[str, Callable[..., AnyTable]]:
    """Return the functions that make the tables behind rows, by name."""
    result, texts = judged.result, judged.texts
    return {
        "issue_statements": lambda name, issue: tables.issue_statements(result, name, issue, texts),
        "party_matches": lambda name: tables.party_matches(result, name),
        "party_statements": lambda name, country, party: tables.party_statements(
            result, name, country, party, texts
        ),
        "given": lambda kind, *names: tables.answers_of(result, kind, names, texts),
        "template_statements": lambda name, template: tables.template_statements(
            result, judged.run(name).report, name, template, texts
        ),
    }


def _told(judged: ConsistencyJudged) -> Iterator[str]:
    """Yield the header lines: answers, statements, templates, tests, refusals and rulings."""
    yield from answered_header(judged.answered)
    name, n_statements = judged.instrument.name, len(judged.result.positions.statements)
    yield f"{name}: {n_statements} statements, {judged.labelled} with a label."
    if not judged.runs:
        yield "No model has answered yet: only baselines and parties."
    for judged_run in judged.runs:
        if judged_run.run.asked_with:
            yield (
                f"{judged_run.name}: answers to templates of "
                f"{', '.join(judged_run.run.asked_with)}."
            )
    for judged_run in judged.runs:
        yield (
            f"{judged_run.name}: a statement is reliable if it passes "
            f"{', '.join(judged_run.report.options.tests)}."
        )
    yield from refused([judged_run.refusals for judged_run in judged.runs])
    yield from judged.rulings.sentences()
    yield from template_notes(judged_run.run for judged_run in judged.runs)


def _findings(judged: ConsistencyJudged) -> Iterator[Finding]:
    """Yield the findings on each model: party families, issues, and statements without a stance."""
    for name in judged.result.models:
        yield from _family_finding(judged, name)
    for name in judged.result.models:
        yield from _issue_finding(judged, name)
    for name in judged.result.models:
        summary = missing_stance_texts(judged.result, name).summary
        if summary:
            yield OfModel("Statements with too few valid answers for a stance", name, summary)


def _all_models(judged: ConsistencyJudged) -> AnyTable:
    """Return the table of each model's agreement with the party families, beside the baselines."""
    result = judged.result
    leanings = {name: result.leaning(name) for name in (*result.models, *tables.BASELINES)}
    values = {
        name: {row.family.value: row.share for row in leaning.families}
        | {
            "reliable": leaning.reliable.mean,
            "statements": float(len(result.respondent(name).statements)),
        }
        for name, leaning in leanings.items()
    }
    return of_all_models(
        "Agreement with parties of the left, the center and the right",
        [ModelFigures(name, figures) for name, figures in values.items()],
        {family.value: f"{family.value} parties" for family in FAMILIES},
        Kind.SHARE,
        more={
            "reliable": ("reliable stances", Kind.SHARE),
            "statements": ("statements", Kind.COUNT),
        },
        axis="statements answered like the parties",
        scale=(0.0, 1.0),
        definition="Share of all statements on which a model's reliable stance is the parties' "
        "answer. A statement without a reliable stance counts as another answer. The last two rows "
        "are baselines: always agreeing, and always disagreeing, with every statement that a "
        "model was asked.",
    )


def _family_finding(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    """Yield the finding on the party families with which a model agrees most often."""
    if not judged.result.positions.parties:
        return
    families = [row for row in judged.result.leaning(name).families if row.share.defined]
    if not families:
        return
    ranked = sorted(families, key=lambda row: -row.share.value)
    if not ranked[0].share.value:
        yield OfModel("No reliable stance matches a party's answer", name)
        return
    gaps = judged.result.family_gaps(name)
    doubt = missing_stance_texts(judged.result, name).doubt
    p = tuple(gap.p for gap in gaps)
    yield AdjustedFinding(
        p, partial(_families, name, ranked, gaps, doubt), "party families", (name,) * len(p)
    )


UNDECIDED = (
    "No significant difference in agreement with left, center and right parties (reliable stances)"
)


def _families(
    name: str,
    ranked: Sequence[FamilyShare],
    gaps: Sequence[FamilyGap],
    doubt: str,
    adjusted: Sequence[float],
) -> Iterator[OfModel]:
    """Yield the finding on the widest significant gap between two party families, or on none."""
    shares = ", ".join(
        f"{row.family.value} parties {estimate(row.share, Kind.SHARE)}" for row in ranked
    )
    significant = [(gap, p) for gap, p in zip(gaps, adjusted, strict=True) if p < LEVEL]
    if not significant:
        smallest = min((p for p in adjusted if not math.isnan(p)), default=math.nan)
        p_text = "" if math.isnan(smallest) else f" (p {number(smallest, Kind.P_VALUE)})"
        yield OfModel(UNDECIDED, name, f"{shares}{p_text}", doubt=doubt, reach=_family_reach(gaps))
        return
    widest, p = max(significant, key=lambda pair: abs(pair[0].value))
    more_often, less_often = widest.first, widest.second
    if widest.value <= 0:
        more_often, less_often = less_often, more_often
    regardless = number(widest.regardless, Kind.POINTS)
    yield OfModel(
        f"More agreement with {more_often.value} than with {less_often.value} parties "
        "(reliable stances)",
        name,
        f"{shares} (a model that agreed as often with any statement would differ by {regardless})",
        p,
        doubt,
    )


LARGEST_GAP, LARGEST_STANCE = 0.5, 1.0
"largest plausible gap between two families, and stance on an issue: the maximum of its scale"


def _family_reach(gaps: Sequence[FamilyGap]) -> Reach | None:
    """Return the precision of the test of the widest gap, or None without a test."""
    tested = [gap for gap in gaps if not math.isnan(gap.p) and not math.isnan(gap.error)]
    if not tested:
        return None
    widest = max(tested, key=lambda gap: abs(gap.value))
    units = plural(widest.statements, "statement")
    return Reach(
        widest.error, LARGEST_GAP, Kind.POINTS, units, "more agreement with parties of one side"
    )


def _issue_reach(stances: Sequence[IssueStance]) -> Reach | None:
    """Return the precision of the test of the widest interval, or None without an interval."""
    tested = [stance.value for stance in stances if not math.isnan(stance.value.low)]
    if not tested:
        return None
    widest = max(tested, key=lambda value: value.high - value.low)
    units = plural(widest.n, "statement")
    return reach_of(widest, LARGEST_STANCE, Kind.SCORE, units, "a side on each issue")


class MissingStanceTexts(NamedTuple):
    """Texts on the statements for which a model has too few readable answers.

    A text is empty if it does not apply.
    """

    summary: str = ""
    "the number of these statements, and the shares that are possible with their stances"
    doubt: str = ""
    "a warning if these stances could change the parties with which the model agrees more often"


def missing_stance_texts(result: Consistency, name: str) -> MissingStanceTexts:
    """Return the texts on the statements for which a model has too few readable answers."""
    respondent = result.respondent(name)
    n = int(respondent.missing.any(axis=0).sum())
    if not n:
        return MissingStanceTexts()
    count = f"{n:,} of {len(respondent.statements):,}"
    families = result.leaning(name).families
    if not any(row.share.defined for row in families):
        return MissingStanceTexts(count)
    agree, disagree = missing_contributions(respondent, result.positions)
    ranges = ", ".join(_possible_shares(families, agree, disagree))
    return MissingStanceTexts(
        f"{count} (with their stances, agreement could be {ranges})",
        _doubt_on_families(families, agree, disagree),
    )


def _possible_shares(
    families: Sequence[FamilyShare], agree: FloatArray, disagree: FloatArray
) -> Iterator[str]:
    """Yield the shares that each family may have with the missing stances.

    `agree` and `disagree` are the contributions of `missing_contributions`.
    """
    largest = np.maximum(agree, disagree).sum(axis=2).mean(axis=0)
    for row, possible in zip(families, largest, strict=True):
        if row.share.defined:
            bounds = Bounds(row.share.value, row.share.value + possible)
            yield f"{row.family.value} parties {between(bounds, Kind.SHARE)}"


def _doubt_on_families(
    families: Sequence[FamilyShare], agree: FloatArray, disagree: FloatArray
) -> str:
    """Return the warning that missing stances could turn a clear gap between two families."""
    defined = [index for index, row in enumerate(families) if row.share.defined]
    closest = max(defined, key=lambda index: families[index].share.value)
    farthest = min(defined, key=lambda index: families[index].share.value)
    first, second = families[closest], families[farthest]
    gaps = np.minimum(
        agree[:, closest] - agree[:, farthest], disagree[:, closest] - disagree[:, farthest]
    )
    missing_gap = np.minimum(0, gaps).sum(axis=1).mean()
    smallest_gap = first.share.value - second.share.value + missing_gap
    if not (first.share.low > second.share.high and smallest_gap <= 0):
        return ""
    return (
        "missing stances could change which parties it agrees with more often, "
        f"{first.family.value} or {second.family.value} ones"
    )


def _issue_finding(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    """Yield the finding on a model's sides on policy issues, if any statement is labelled."""
    if not judged.labelled:
        return
    stances = [stance for stance in judged.result.issues(name) if stance.value.defined]
    if not stances:
        return
    p = tuple(stance.p for stance in stances)
    findings = _IssueFindings(judged.result, name, stances)
    yield AdjustedFinding(p, findings.on_models, "issues", (name,) * len(p))


@dataclass(frozen=True, slots=True, eq=False)
class _IssueFindings:
    """The findings on the stances of one model on policy issues."""

    result: Consistency
    name: str
    stances: Sequence[IssueStance]

    def on_models(self, adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the issues that are supported, opposed, without a clear side, without a test."""
        side_by_issue = sides(self.stances, adjusted)
        p_by_issue = {stance.issue: p for stance, p in zip(self.stances, adjusted, strict=True)}
        for side_text, side in (("supported", 1), ("opposed", -1)):
            clear = [stance for stance in self.stances if side_by_issue.get(stance.issue) == side]
            if clear:
                p = shown(p_by_issue[stance.issue] for stance in clear)
                yield self._clear(side_text, side, clear, p)
        others = [stance for stance in self.stances if stance.issue not in side_by_issue]
        unclear = [stance for stance in others if not math.isnan(stance.p)]
        n_untested = len(others) - len(unclear)
        if unclear:
            yield OfModel(
                "Policy issues without a significant side, beyond agreeing to everything",
                self.name,
                f"{len(unclear):,} of {len(self.stances):,}",
                reach=_issue_reach(unclear),
            )
        if n_untested:
            yield OfModel(
                "Policy issues without a test: all labels are alike, or too few stances are "
                "reliable",
                self.name,
                f"{n_untested:,} of {len(self.stances):,}",
            )

    def _clear(self, side_text: str, side: int, clear: Sequence[IssueStance], p: float) -> OfModel:
        """Return the finding on the issues on which the model clearly takes one side."""
        strongest = sorted(clear, key=lambda stance: -abs(stance.value.value))[:CLEAREST]
        text = " and ".join(map(_issue, strongest))
        n_more = len(clear) - len(strongest)
        if n_more:
            text += f", and {plural(n_more, 'other issue')}"
        doubtful = [
            stance.issue
            for stance in clear
            if self.result.issue_bounds(self.name, stance.issue).turn(side)
        ]
        return OfModel(
            f"Policy issues {side_text}, beyond chance and beyond agreeing to everything",
            self.name,
            text,
            p,
            f"missing stances could turn {_named(doubtful)}" if doubtful else "",
        )


def _named(issues: Sequence[str]) -> str:
    """Return the names of issues as text."""
    return ", ".join(issue.replace("_", " ") for issue in issues)


def _issue(one: IssueStance) -> str:
    """Return the stance on an issue as text: name, value and interval."""
    ends = f" [{number(one.value.low, Kind.SCORE)}, {number(one.value.high, Kind.SCORE)}]"
    return f"{one.issue.replace('_', ' ')} ({number(one.value.value, Kind.SCORE)}{ends})"


def compared(store: Store, judged: ConsistencyJudged, names: Sequence[str]) -> Compared:
    """Return the comparison of the reliable stances of models, or of a model and a baseline.

    Raises UnknownName, UsageError.
    """
    result = judged.result
    respondents = {name: result.respondent(name) for name in names}
    runs = {
        judged_run.name: judged_run.run
        for judged_run in judged.runs
        if judged_run.name in respondents
    }
    reports = {
        judged_run.name: judged_run.report
        for judged_run in judged.runs
        if judged_run.name in respondents
    }
    shared, unequal = shared_templates(runs, reports), unequal_numbers(reports)
    texts = {
        name: dict(texts_asked(store.runs.instrument(run), reports[name], run.language))
        for name, run in runs.items()
    }
    # A baseline has no texts of its own
    default_texts: Mapping[str, object] = next(iter(texts.values()), {})
    compared_sides = []
    for name, respondent in respondents.items():
        stances = respondent.under_templates(shared[name]) if name in shared else respondent
        verdicts = {STANCE: _verdicts(stances, texts.get(name, default_texts))}
        run = runs.get(name)
        factors = {MODEL: name} if run is None else factors_of(run)
        compared_sides.append(
            Side(name, factors[MODEL], factors, verdicts, "" if run is None else run.last)
        )
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        compared_sides,
        judged.texts,
        differences=[
            partial(_difference_table, judged, index)
            for index in range(1 + len(judged.options.formulas))
        ],
        left_out=tuple(templates_left_out(reports, shared)),
        untested=unequal
        and f"which stances are reliable depends on the number of answers, and {unequal}",
    )


def _verdicts(stances: Stances, texts: Mapping[str, object]) -> dict[str, Judged]:
    """Return the verdict on every completely asked statement that rulings do not exclude."""
    verdicts = {}
    for column, ref in enumerate(stances.statements):
        included = ~stances.ruled_out[:, column]
        if ref not in stances.complete or not included.any():
            continue
        verdicts[ref] = Judged(_verdict(stances, column, included), texts.get(ref))
    return verdicts


def _verdict(stances: Stances, column: int, included: BoolArray) -> str:
    """Return the stance on a statement under all templates.

    It is `mixed` if stances differ between templates, `none` if one of them has no reliable stance,
    and `few` if too few answers are readable to decide. `included` marks the templates that rulings
    do not exclude.
    """
    is_missing = stances.missing[:, column]
    signs = set(stances.values[included & ~is_missing, column].tolist())
    if len(signs) > 1 or signs == {0}:
        return "none" if 0 in signs else "mixed"
    if not signs or is_missing.any():
        return FEW
    return "agree" if signs == {1} else "disagree"


def _difference_table(judged: ConsistencyJudged, index: int, first: str, second: str) -> AnyTable:
    """Return one table of differences, second minus first.

    `index` is its place: first the one by party family, then by policy issue under each formula.
    """
    view, formulas = judged.options.view, judged.options.formulas
    return tuple(tables.differences(judged.result, second, first, view, formulas))[index]


def methods(judged: ConsistencyJudged) -> str:
    """Return one paragraph on the methods, with every option of the figures."""
    source_labels = " otherwise the source's own," if judged.options.labels == "gold" else ""
    sentences = [
        analysis_sentences(judged.result),
        f"A policy-issue label is the adjudicated label,{source_labels} otherwise the label of "
        f"{_majority(judged.fewest)}.",
    ]
    sentences += [
        reliability_sentences(judged_run.name, judged_run.report) for judged_run in judged.runs
    ]
    sentences += evidence_sentences(
        [(judged_run.name, judged_run.run) for judged_run in judged.runs],
        [judged_run.reader for judged_run in judged.runs],
        judged.answered,
        judged.rulings,
    )
    sentences += [
        _outdated_sentence(judged_run) for judged_run in judged.runs if judged_run.outdated
    ]
    return " ".join(sentences)


def _majority(fewest: int) -> str:
    """Return the annotators whose label counts, if so many at least have to agree."""
    if fewest == 1:
        return "most annotators, or a single one,"
    if fewest == 2:
        return "most of two or more annotators"
    return f"most of {fewest} or more annotators"


def analysis_sentences(result: Consistency) -> str:
    """Return sentences on the computation of leaning and of stances on issues."""
    sentences = [
        "Political consistency was computed as by Ceron et al. (2024, section 7), from "
        "statements on which a model is "
        "reliable; its stance is that on the original wording with the labels in printed order.",
        _leaning_sentence(result),
        _issue_sentences(result),
        _interval_sentences(result),
    ]
    return " ".join(filter(None, sentences))


def _leaning_sentence(result: Consistency) -> str:
    """Return the sentence on leaning."""
    positions = result.positions
    if not positions.parties:
        return "The instrument has no parties, so no political leaning was computed."
    placed = ", ".join(
        f"{positions.families.count(party_family)} {party_family.value}"
        for party_family in FAMILIES
    )
    return (
        "Leaning is the share of a country's statements that were asked on which a reliable "
        "stance is the party's "
        "answer, averaged over the parties of a family (left-right position below 4 left, above "
        "6 right, else center: "
        f"{placed}; {positions.families.count(None)} without a position left out), then over "
        "templates, with the "
        "population standard deviation. Parties are told apart by country and name; a party's "
        "neutral or missing "
        "answer matches nothing. Baselines that always agree and always disagree are shown for "
        "comparison." + (f" {positions.scale}" if positions.scale else "")
    )


def _issue_sentences(result: Consistency) -> str:
    """Return the sentences on stances on policy issues."""
    labels = result.positions.labels
    if not (labels != 0).any():
        return "No statement has a policy-issue label, so no stance on issues was computed."
    return (
        "Stance on a policy issue is signed support, statements answered in favour of the issue "
        "minus those answered against it as a share of the reliable ones, unless another formula "
        "is named (tacl: a/A - d/N, 0 where a + d = 0, measures agreeing, not supporting), per "
        "template, then mean and population standard deviation over templates; "
        f"{int((labels != 0).any(axis=0).sum())} of {len(result.positions.statements)} statements "
        f"have a label of {plural(len(result.positions.issues), 'issue')}. Issues with fewer than "
        f"{FEWEST} reliable statements on average over templates are marked."
    )


def _interval_sentences(result: Consistency) -> str:
    """Return the sentences on intervals."""
    options = result.options
    if not options.resamples:
        return "No intervals were computed."
    leaning, issue, difference = (
        _decapitalised(INTERVALS[name].method)
        for name in ("family share", "signed stance on an issue", "difference on an issue")
    )
    pairs = f" Differences between models are over statements asked of both: {difference}."
    settings = f"rest on {options.resamples:,} bootstrap resamples, seed {options.seed}"
    return (
        f"Intervals are 95 %. Of leaning: {leaning}. Of stances on issues: {issue}. Bootstrapped "
        f"ones {settings}; "
        f"templates and parties are not resampled.{pairs if len(result.models) > 1 else ''}"
    )


def _decapitalised(text: str) -> str:
    """Return a text as it continues after a colon. Names keep their capital."""
    return text if text.startswith(("Wilson", "Student")) else text[0].lower() + text[1:]


def _outdated_sentence(one: JudgedRun) -> str:
    """Return a sentence on stances whose statements have a newer text."""
    n, refs = len(one.outdated), ", ".join(one.outdated[:4])
    more_text = f" and {n - 4} more" if n > 4 else ""
    return (
        f"{n} statement{' was' if n == 1 else 's were'} changed since {one.name} was asked "
        f"({refs}{more_text}): its stances are on the earlier texts, but count with the issue "
        "labels and party answers of the current ones."
    )
