"""The interface of an audit: its prompts, the judging of answers, and the place of its figures.

An audit is an object in a folder of its own. The registry hands it out by its name. The command
line, forms, jobs and screens use this interface and name no audit. The module of an audit imports
nothing heavy: modules that compute are imported on use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from workbench.audits.printed import FigureVerb as FigureVerb
from workbench.audits.printed import HomeLine as HomeLine
from workbench.audits.printed import Medium as Medium
from workbench.audits.printed import Printed as Printed
from workbench.data import SHIPPED_INSTRUMENT, shipped_templates, spoken
from workbench.domain.choices import ChoiceItems, Perturbation
from workbench.domain.instruments import Instrument, with_words
from workbench.domain.prompts import Probe, Template
from workbench.domain.questionnaires import Survey, named_few
from workbench.domain.readings import Nature
from workbench.domain.responses import Sampling
from workbench.domain.statements import Statement, VariantId
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option
from workbench.options.schema import Options
from workbench.options.shared import (
    COMPARE,
    INSTRUMENT,
    METHODS,
    MODEL,
    MODELS,
    SAME_WITHIN,
    SERVED,
    TABLE,
    TEMPLATE,
    WHERE,
    WITHOUT_RULINGS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.reported import Reported, ReportRequest
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.domain.findings import LintFinding
    from workbench.domain.readings import ReadingChoice
    from workbench.domain.reviews import RunSignals
    from workbench.evidence.letters import LabelProbabilities
    from workbench.evidence.runs import AnswerSelection
    from workbench.figures.table import AnyTable
    from workbench.stats.proportions import VerdictRule

RUNS_AT_HOME = 3
"newest runs on Home, of an audit with a result for each"
Given = SimpleNamespace
"the value of every option by its name"
Opened = Callable[[], "AbstractContextManager[Store]"]
"opens the store"
Material = Survey | ChoiceItems | None
"""the material of an audit beside statements: human answers to a questionnaire, or the
multiple-choice questions among the statements"""


@dataclass(frozen=True, slots=True)
class Defaults:
    """The settings of an audit as published. They apply unless others are given."""

    samples: int
    "answers to each prompt"
    sampling: Sampling
    family: str
    "of its templates"
    drawn: bool = True
    "False: nothing is sampled, and a prompt is answered by probabilities alone"
    exact_by: Literal["labels", "next tokens", ""] = ""
    """the probabilities that are computed if nothing is sampled: of the labels of the template, or
    of each next token; empty: answers have to be sampled"""
    exact_if_local: bool = False
    "a model of the local backend is asked for probabilities, unless the user sets the sampling"
    until_valid: bool = False
    "answers that name no option are drawn again; they are kept and do not count"
    tokens: Mapping[str, int] = field(default_factory=dict)
    "by family of templates: the most tokens of an answer, if it differs"
    ours: bool = False
    "whether the sampling is not published but ours"
    counted: Sampling | None = None
    """the sampling of answers that are counted in place of probabilities, which is another measure;
    None: answers are not counted"""
    counted_samples: int = 0
    "answers to each prompt that are counted"

    @property
    def typed(self) -> Sampling:
        """The sampling that a user may change.

        It is the one for counting if the published settings sample nothing.
        """
        return self.counted or self.sampling

    def sampling_of(self, family: str) -> Sampling:
        """Return the sampling of answers to a family of templates."""
        return replace(
            self.sampling, max_new_tokens=self.tokens.get(family, self.sampling.max_new_tokens)
        )


@dataclass(frozen=True, slots=True)
class AuditPlace:
    """The place of an audit's figures in the terminal."""

    mode: str
    "its name, as `--screen` takes it"
    key: str
    "the digit, or another key, that leads there from anywhere; empty: the first free digit"
    label: str
    "in the footer of Home"
    tooltip: str
    screen: str = ""
    "module and class, below `workbench.tui`; empty: the screen that shows the book of any audit"
    letter: str = ""
    "a second key, on Home alone"
    words: str = ""
    "words of the field by which Ctrl+P finds the place"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The demonstration of an audit, small enough for the embedded model on a laptop."""

    design: Callable[[Store, str], Design]
    "called with the store and a model's name"
    instrument: str = SHIPPED_INSTRUMENT
    typing_errors: Sequence[Perturbation] = ()
    "applied to the questions first, if there are none yet"
    takes: str = ""
    "a sentence on the time that the embedded model needs"
    mode: str = ""
    "the mode in which the terminal opens once everything is stored; empty: the audit's place"
    personas: Sequence[str] = ()
    "scripted personas that answer it as their files say, without the `scripted:` of their names"
    reviewed: str = ""
    "the persona whose answers an invented auditor reviews, if the audit has verdicts"


class Audit(ABC):
    """One audit. A class attribute that has a value here may be omitted."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    "in sentences and titles: `left/right bias`; empty: the name with blanks"
    defaults: ClassVar[Defaults]
    "its settings, unless others are given"
    question: ClassVar[str]
    "the subject of the audit, in a sentence without the name"
    answers_of: ClassVar[str] = ""
    "the audit to whose prompts the judged answers were given; empty: its own prompts"
    questions: ClassVar[tuple[str, ...]] = ()
    "names of the claims that its findings make about each run; a frozen plan can name these"
    nature: ClassVar[Nature] = Nature()
    "the kind of reader of its answers"
    compares_wordings: ClassVar[bool] = False
    """whether it compares paraphrase, negation, opposite and both orders of the labels, so that
    lint reports missing ones"""
    needs_sides: ClassVar[bool] = False
    """whether it counts answers by the dimension and side of statements, so that lint reports
    missing ones"""
    own_material: ClassVar[bool] = False
    """whether it asks about more than statements, so that an instrument with such material is meant
    for this audit"""
    about_whole_job: ClassVar[bool] = False
    """whether figures are about all that a job asked of an instrument, so that stored answers count
    once a job names them"""
    several_models: ClassVar[bool] = False
    "whether one result may be about several models"
    every_instrument: ClassVar[bool] = False
    "whether one result is about all instruments with answers, unless some are named"
    each_run: ClassVar[bool] = False
    """whether one result is about one run alone: a model in one language, with one family of
    templates and one sampling"""
    portion_axis: ClassVar[str] = ""
    "the axis of a probe whose values are asked one after the other: all prompts of one value first"
    run_options: ClassVar[Sequence[Option]] = ()
    "options of a job beside those of every audit, on the command line and in a form"
    ticked: ClassVar[Sequence[str]] = ()
    "names of the run options whose values a form lets the user tick, from `to_tick`"
    drawn_again: ClassVar[Sequence[str]] = ()
    "names of the run options without a meaning if nothing is sampled"
    options: ClassVar[type[Options]]
    "the options for judging answers; `judge` takes them"
    readers: ClassVar[Sequence[Option]] = ()
    "the option `reader`, if the reader of the answers can be chosen"
    compares: ClassVar[bool] = True
    "whether its runs can be put side by side"
    told_by: ClassVar[Sequence[Option]] = ()
    "options that select answers, beside those of every audit"
    views: ClassVar[Mapping[str, str]] = {}
    """by name of a table that a row leads to: the function that opens its own view, below
    `workbench.tui.results`"""
    keys: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """by key of its screen: (what it opens, in words). It opens one of these views, which then
    needs no row, or a table; if that table is visible, its next subject"""
    filters: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """by key of its screen: (column, in words). The screen shows the rows with one value of the
    column after another"""
    explain: ClassVar[str] = ""
    "explanation of its figures, for `?`"
    nothing: ClassVar[str] = ""
    "advice for its screen if there is nothing to ask about yet"
    shipped: ClassVar[str] = ""
    "the instrument that ships for it, which its screen imports on request"
    todo: ClassVar[str] = ""
    "the next step once there are figures, for Home"
    todo_below: ClassVar[str] = ""
    about: ClassVar[str] = ""
    "text above its options in the help of `show`; empty: its question"
    verbs: ClassVar[Sequence[tuple[str, ...]]] = ()
    """verbs of its own on the command line: (verb, `module:name` of a `FigureVerb` or a module
    below `workbench.cli`, its purpose in a line, the heading that lists it unless that is
    judging)"""
    place: ClassVar[AuditPlace | None] = None
    then: ClassVar[str] = ""
    """the command after `workbench` for the next step once a model was asked, with the words STORE
    and MODEL as placeholders; empty: `command` for that model"""
    told_apart: ClassVar[bool] = True
    "whether `then` is about one way of asking a model, which options have to select"
    after: ClassVar[str] = ""
    "advice for the next step once a job of it is done"
    form_help: ClassVar[str] = ""
    "explains its fields of the form of a job"
    home_help: ClassVar[str] = ""
    "explains its lines on Home"

    @abstractmethod
    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        """Return the wordings that are asked about if none are named."""

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        """Yield every prompt of the audit: each wording of each statement under each template.

        Parameters
        ----------
        model_name : the name that a template may use for the model
        material : the material that `asked` returned
        """
        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        """Return the statements that a design asks about, and the audit's material beside them.

        Raises UsageError if the instrument has none of it.
        """
        return without_questions(instrument, design, chosen), None

    def templates(self) -> Sequence[Template]:
        """Return the shipped templates, for instruments that have none: those in `data/prompts`."""
        return shipped_templates(self.name)

    def translated(self, language: str) -> Sequence[Template]:
        """Return these templates in another language, or none without a translation."""
        return shipped_templates(self.name, language)

    def templates_for(self, instrument: Instrument, language: str) -> tuple[Template, ...]:
        """Return the templates for an instrument: its own, or those that ship.

        If its own are those that ship, their translations into `language` belong to them.
        """
        templates = [
            template for template in instrument.templates if template.audit == self.name
        ] or list(self.templates())
        if any(template.speaks(language) for template in templates):
            return with_words(templates, instrument.lexicons)
        shipped_keys = {
            template.key
            for template_language in {spoken(template.language) for template in templates}
            for template in self.translated(template_language)
        }
        if all(template.key in shipped_keys for template in templates):
            templates += self.translated(spoken(language))
        return with_words(templates, instrument.lexicons)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        """Return a design with the values of `run_options`.

        A value that was not given is None. Raises UsageError for values that make no sense
        together.
        """
        return design

    def given_in(self, design: Design) -> Mapping[str, Any]:
        """Return the values of `run_options` in a design, by name: the inverse of `designed`.

        Values that only select statements are omitted, as the design names the statements.
        """
        return {}

    def verdict_rule(self, samples: int) -> VerdictRule | None:
        """Return the rule that turns the answers to a prompt into a verdict, or None without one.

        `samples` is the planned number of answers.
        """
        return None

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        """Return the parts of a stored design in a few words each.

        Parts that follow from the audit and the instrument are omitted.
        """
        return []

    def to_tick(self, store: Store, instrument: str) -> Mapping[str, Sequence[str]]:
        """Return the names that a form offers for `run_options` with several names."""
        return {}

    def demonstration(self) -> Demonstration | None:
        """Return the demonstration of the audit, or None without one."""
        return None

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        """Return the refs of which the first ones may be selected by their number.

        It is None if an instrument has nothing for the audit.
        """
        return [line.ref for line in store.instruments.lines(instrument)]

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        """Return remarks before the audit is run, including those on prompts that are not asked."""
        return ()

    def notes(self, instrument: Instrument) -> Sequence[str]:
        """Return notes on an instrument for this audit, when it is imported."""
        return ()

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        """Return a sentence on the effects that so many statements and answers can show.

        It needs no answers of the model, and takes no longer than a formula. It is empty if the
        effects are unknown. If `samples` is 0, nothing is sampled.
        """
        return ""

    def why_nothing(
        self,
        instrument: Instrument,
        design: Design,
        statements: Sequence[Statement],
        material: Material,
    ) -> str:
        """Return the reason why a design asks nothing."""
        languages = sorted(
            {
                wording.language
                for statement in instrument.statements
                for wording in statement.wordings
            }
        )
        return (
            f"{instrument.name} has no wording in {design.language!r} for it. Its languages: "
            f"{', '.join(languages)}"
        )

    def offered(self, probe: Probe) -> str:
        """Return the letters that a prompt offers, or an empty string."""
        return ""

    def judged_for_review(
        self, store: Store, run: Run, readings: ReadingChoice
    ) -> RunSignals | None:
        """Return the figures of a run for review by an auditor.

        It is None if the audit has no verdicts on statements. Raises UsageError if nothing of the
        run can be judged.
        """
        return None

    def verdict_tables(self, store: Store, run: Run, readings: ReadingChoice) -> Sequence[AnyTable]:
        """Return the verdicts of a run on statements, over all templates and under each.

        The first table is over all templates. Each other one is under a template, which is its
        subject. A row's key is the statement. Columns of verdicts are tests, the last one over all
        tests. It is empty if the audit has no verdicts on statements.

        Raises UsageError if nothing of the run can be judged.
        """
        return ()

    def label_probabilities(self, store: Store, run: Run) -> Iterator[LabelProbabilities]:
        """Yield the probabilities of the labels of the prompts of an exact run, before rulings.

        Raises UsageError if it has none.
        """
        from workbench.evidence.letters import letter_probabilities

        return letter_probabilities(store, run)

    def known_for_review(self, run: Run, shared: Mapping[object, Any]) -> RunSignals | None:
        """Return the figures for review from those that `home` has judged.

        It is None if `home` has not judged the run, since nothing is read for it.
        """
        return None

    def lint(self, instrument: Instrument) -> Iterator[LintFinding]:
        """Yield the findings of lint on an instrument for this audit."""
        return iter(())

    def answered(self, store: Store) -> bool:
        """Return whether there are answers that it judges."""
        return bool(store.runs.list(self.asked_by))

    def instruments(self, store: Store) -> Sequence[str]:
        """Return the instruments with answers that it judges, the last answered one at the end."""
        # a selection among runs reads the same list
        runs = store.runs.list(self.asked_by, personas=self.each_run)
        return tuple(dict.fromkeys(run.instrument for run in reversed(runs)))[::-1]

    def models(self, store: Store, instrument: str) -> Collection[str]:
        """Return the models that answered about an instrument; with an empty name, about any."""
        return {
            run.model for run in store.runs.list(self.asked_by, instrument or None, personas=True)
        }

    def may_be_asked_about(self, store: Store) -> Sequence[str]:
        """Return the instruments that a model could be asked about."""
        return [name for name in store.instruments.names() if self.may_be_asked(store, name)]

    def not_yet(self, store: Store) -> str:
        """Return the reason why answers cannot be read yet, with advice, or an empty string."""
        return ""

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        """Return the values that a store has for options: by option, by value, its text."""
        return {}

    def narrowed(self, store: Store, which: AnswerSelection) -> Sequence[AnswerSelection]:
        """Return a selection of answers for each result that `which` leaves open.

        Most results are about one instrument. Raises UnknownName for an instrument that is not in
        the store.
        """
        if self.every_instrument:
            for name in which.instruments:
                store.instruments.get(name)
            answered_instruments = {
                run.instrument for run in store.runs.list(self.name) if run.responses
            }
            return (
                [which]
                if answered_instruments
                and (not which.instruments or answered_instruments.intersection(which.instruments))
                else []
            )
        if which.instrument is not None:
            store.instruments.get(which.instrument)
        if self.each_run:
            from workbench.evidence.runs import selected_runs

            return which.for_each_run(selected_runs(store, self.name, which))
        instrument_names = [
            name for name in self.instruments(store) if which.instrument in (None, name)
        ]
        return [replace(which, instrument=name) for name in instrument_names]

    def every_run(self, store: Store, which: AnswerSelection) -> Sequence[AnswerSelection]:
        """Return a selection for each run of the selected models, with any templates."""
        from workbench.evidence.runs import runs_of_models

        return which.for_each_run(
            runs_of_models(store, store.runs.list(self.name, which.instrument), which.models)
        )

    @abstractmethod
    def judge(self, store: Store, which: AnswerSelection, options: Any, opened: Opened) -> Result:
        """Return the result of one selection of answers, as `narrowed` returns them.

        Tables that read more open the store by `opened`. Raises WorkbenchError if there is nothing
        to judge.
        """

    def part(
        self, store: Store, which: AnswerSelection, options: Any, opened: Opened
    ) -> Result | None:
        """Return the part of a slow result that is read quickly, or None without one.

        A screen shows it meanwhile.
        """
        return None

    def at_home(self, store: Store, which: AnswerSelection) -> tuple[AnswerSelection, Any]:
        """Return the selection of answers and the options of Home's lines.

        They cover no more than these lines need.
        """
        return which, self.options()

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        """Return Home's lines on the newest results.

        Audits of the same answers share their results in `shared`.
        """
        from workbench.audits.result import home_lines
        from workbench.evidence.answered import finished_first
        from workbench.evidence.runs import AnswerSelection

        if self.place is None:
            return ()
        selections: Sequence[AnswerSelection]
        if self.each_run:
            selections = AnswerSelection().for_each_run(
                finished_first(store, store.runs.list(self.name), RUNS_AT_HOME)
            )
        else:
            selections = self.narrowed(store, AnswerSelection())[-1:]
        if not selections or self.not_yet(store):
            return ()
        lines: list[HomeLine] = []
        for selection in selections:
            label, key = (
                self.place.label or self.place.mode.capitalize(),
                f"{self.name}:{len(lines) or ''}",
            )
            try:
                result = self.judge(
                    store, *self.at_home(store, selection), lambda: nullcontext(store)
                )
            except UsageError as error:
                lines.append(
                    HomeLine(key, label, "no figures yet", str(error), dim=True, todo=self.todo)
                )
                continue
            shared.update({(self.name, run): result for run in result.runs.values()})
            lines += home_lines(result, key, label, self.todo, self.todo_below)
        return lines

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        """Return the tables that `show` prints: the named ones, or the default ones without names.

        By default people get the first tables, and programs get all.
        """
        from workbench.audits.chosen_run import elsewhere, start_with
        from workbench.audits.result import conditions, printed
        from workbench.evidence.runs import AnswerSelection, whole_names

        compare = whole_names(store, getattr(options, "compare", None))
        user_selection = AnswerSelection.from_arguments(options, store).with_personas_in(compare)
        selections = self.narrowed(store, user_selection)
        if not selections and self.each_run:
            selections = [user_selection]  # `judge` says which models there are
        selections, left_out = self._finished(store, user_selection, selections)
        names = list(dict.fromkeys(str(selection.instrument) for selection in selections))
        if len(names) > 1:
            raise UsageError(
                f"{len(names)} instruments have answers: {', '.join(names)}; name one with "
                "--instrument"
            )
        if not selections:
            start = start_with(store, self.asked_by, options.instrument)
            raise UnknownName(
                f"{self.why_unanswered(options.instrument)}. "
                f"{start}{elsewhere(store, self.asked_by)}"
            )
        # with several runs, `judge` raises an error that tells what to name
        which = (
            selections[0] if len(selections) == 1 else replace(user_selection, instrument=names[0])
        )
        result = self.judge(store, which, self.options.of(options), lambda: nullcontext(store))
        output = printed(
            result, options.table or (), conditions(options.where or ()), compare, medium
        )
        return (
            replace(output, header=(*left_out, *output.header), told=(*left_out, *output.told))
            if left_out
            else output
        )

    def _finished(
        self, store: Store, selection: AnswerSelection, selections: Sequence[AnswerSelection]
    ) -> tuple[Sequence[AnswerSelection], tuple[str, ...]]:
        """Return the only run with a finished plan, with notes on the other runs.

        If there is no such run among several, all selections are returned without notes.
        """
        from workbench.evidence.answered import answered_plan, is_finished
        from workbench.evidence.runs import selected_runs
        from workbench.figures.shown import number
        from workbench.figures.table import Kind

        if not self.each_run or len(selections) < 2:
            return selections, ()
        runs = selected_runs(store, self.name, selection)
        finished = [run for run in runs if is_finished(store, run)]
        if len(finished) != 1:
            return selections, ()
        notes = []
        for run in runs:
            if run not in finished:
                share = number(answered_plan(store, run).share, Kind.SHARE)
                notes.append(
                    f"Left out: {run.label}, of which {share} of the plan was answered. Name it "
                    "to see it."
                )
        return selection.for_each_run(finished), tuple(notes)

    def why_unanswered(self, instrument: str | None) -> str:
        """Return the text on the lack of answers."""
        return f"{instrument or 'the store'} has no answers to judge"

    @property
    def asks(self) -> bool:
        """Whether it asks models, or judges the answers to another audit's prompts."""
        return not self.answers_of

    @property
    def asked_by(self) -> str:
        """The name of the audit whose answers it judges: its own, or another one's."""
        return self.answers_of or self.name

    @property
    def command(self) -> str:
        """The command after `workbench` that shows its figures, with STORE for the store."""
        return f"show STORE {self.name}"

    @property
    def judges_by(self) -> Sequence[Option]:
        """The options for judging answers. A frozen plan has them."""
        return (*self._has(self.options.judging()), *self.readers, WITHOUT_RULINGS)

    def _has(self, options: Sequence[Option]) -> Iterator[Option]:
        """Return the options that have an effect. One about sameness needs comparisons."""
        return (option for option in options if self.compares or option.name != SAME_WITHIN.name)

    @property
    def figure_options(self) -> Sequence[Option]:
        """The options of its figures: those that select answers, and those for judging."""
        model = MODELS if self.several_models else MODEL
        instruments = INSTRUMENT.but(
            help="one or more, separated by commas", none="all with answers", metavar="NAME,…"
        )
        instrument = instruments if self.every_instrument else INSTRUMENT
        selecting = (model, instrument, *SERVED, *TEMPLATE, *self.told_by)
        compares = (COMPARE,) if self.compares else ()
        own_options = self._has(self.options.flags())
        return (
            *selecting,
            *own_options,
            *self.readers,
            WITHOUT_RULINGS,
            TABLE,
            WHERE,
            *compares,
            METHODS,
        )

    def reported(self, store: Store, request: ReportRequest) -> Iterator[Reported]:
        """Yield the sections of a report: one for each result, or none without answers.

        Raises WorkbenchError for answers that cannot be judged.
        """
        from workbench.audits.result import reported, reported_beside
        from workbench.domain.readings import ReadingChoice
        from workbench.evidence.runs import AnswerSelection, names_model, whole_names

        # results on several models are restricted to these models below
        models = request.models if self.each_run else ()
        which = AnswerSelection(
            request.instrument or None, models, readings=ReadingChoice(rulings=request.rulings)
        )
        if not self.each_run:
            which = which.with_personas_in(whole_names(store, request.compare))
        options = self.options.of(
            Given(
                seed=request.seed,
                as_published=request.as_published,
                same_within=request.same_within,
            )
        )
        newest_by_instrument: dict[str, Result] = {}
        for selection in self._finished_before_others(store, which):
            if request.models and not self.each_run:
                answering_models = self.models(store, selection.instrument or "")
                matching_models = [
                    name
                    for name in selection.models or request.models
                    if name in request.models
                    and any(names_model(name, model) for model in answering_models)
                ]
                if not matching_models:
                    continue
                selection = replace(selection, models=tuple(matching_models))
            result = self.judge(store, selection, options, lambda: nullcontext(store))
            yield from reported(result, store, request, self.command, self.readers)
            if self.each_run:
                newest_by_instrument[result.instrument.name] = result
                request.shared.update({(self.name, run): result for run in result.runs.values()})
        for result in newest_by_instrument.values():
            yield from reported_beside(result, request, self.command)

    def _finished_before_others(
        self, store: Store, which: AnswerSelection
    ) -> Sequence[AnswerSelection]:
        """Return a selection for each result that `which` leaves open, finished plans first."""
        from workbench.evidence.answered import is_finished
        from workbench.evidence.runs import selected_runs

        choices = self.narrowed(store, which)
        if not self.each_run or len(choices) < 2:
            return choices
        runs = selected_runs(store, self.name, which)
        return which.for_each_run(sorted(runs, key=lambda run: not is_finished(store, run)))

    def usual(self) -> Given:
        """Return the options of its figures with their defaults."""
        return Given(
            audit=self.name, **{option.name: option.default for option in self.figure_options}
        )

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        """Yield these options once for each result that they leave open.

        Each then has one result, so that `printed` raises no error for an open choice.
        """
        from workbench.evidence.runs import AnswerSelection

        which = AnswerSelection.from_arguments(options, store)
        for selection in (
            self.every_run(store, which) if self.each_run else self.narrowed(store, which)
        ):
            yield Given(**vars(options) | selection.to_options())


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str,
    material: Material = None,  # noqa: ARG001  any statements can be asked about
) -> Iterator[Probe]:
    """Yield every wording of every statement under every template.

    Wordings that a statement lacks are skipped.
    """
    for statement in statements:
        for variant in variants:
            wording = statement.wording(variant, language)
            if wording is not None:
                for template in templates:
                    axes = (("model_name", model_name),) if template.names_model else ()
                    prompt = template.render(wording.text, model_name)
                    yield Probe(
                        statement.ref, str(variant), template.name, template.inverted, prompt, axes
                    )


def without_questions(
    instrument: Instrument, design: Design, chosen: Sequence[Statement]
) -> Sequence[Statement]:
    """Return statements without multiple-choice questions, which ask for no stance.

    Raises UsageError if such a question is named, or no other statement is there.
    """
    question_refs = {item.ref for item in instrument.choices}
    named_questions = [ref for ref in design.statements if ref in question_refs]
    other_statements = [statement for statement in chosen if statement.ref not in question_refs]
    if question_refs and (named_questions or not other_statements):
        subject = f"{named_few(named_questions)}:" if named_questions else f"{instrument.name} has"
        raise UsageError(
            f"{subject} only multiple-choice questions, which the audit {design.audit} cannot ask; "
            "choose --audit response_bias, or another --instrument"
        )
    return other_statements
