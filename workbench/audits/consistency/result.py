"""The result of political consistency: agreement with parties, and support of policy issues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.comparison.judge import Compared
from workbench.audits.consistency import tables as tables
from workbench.audits.consistency.compared import compared
from workbench.audits.consistency.findings import list_findings
from workbench.audits.consistency.judged import (
    ConsistencyJudged,
    judge_consistency,
)
from workbench.audits.consistency.methods import methods
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
)
from workbench.audits.reliability.agreement import relations_of, survey_agreement
from workbench.audits.reliability.agreement_tables import model_kappas, people_kappas
from workbench.audits.reliability.agreement_tables import people as upper_bound
from workbench.audits.reported import CERON, ModelFigures, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.domain.names import plural
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
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Kind

FIRST = ("respondents", "leaning", "issues", *(f"issues_{other}" for other in OFFERED[1:]))
UNFOLDED = ("leaning", "issues")
LIMITS = (
    "Leaning is agreement with the answers that parties gave to these statements, in the "
    "countries and at the time when they answered; it is not a position on a scale.",
    "Policy issues with few reliable statements are marked; an interval that contains 0 shows no "
    "side.",
)
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
        findings=Later(lambda: list_findings(judged)),
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
    """Return a result that can be computed again with other options or compared."""

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
