"""What an audit is: which prompts it needs, how answers to them are judged, and where its figures
are shown.

An audit is an object in a folder of its own. The registry hands it out by its name; the command
line, forms, jobs and screens ask it what they need to know and name none. Its module imports
nothing heavy: what computes is imported on use.
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
    from workbench.audits.reported import Reported, Wanted
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.domain.findings import LintFinding
    from workbench.domain.readings import Readings
    from workbench.domain.reviews import Judged
    from workbench.evidence.letters import LabelProbabilities
    from workbench.evidence.runs import Which
    from workbench.figures.table import AnyTable
    from workbench.stats.proportions import VerdictRule

RUNS_AT_HOME = 3
"newest runs, of an audit with a result for each"
Given = SimpleNamespace
"the value of every option by its name"
Opened = Callable[[], "AbstractContextManager[Store]"]
"opens the store"
Material = Survey | ChoiceItems | None
"""what an audit is given beside statements: people's answers to a questionnaire, or which
statements are multiple choice"""


@dataclass(frozen=True, slots=True)
class Defaults:
    """How an audit was published, and so how it is asked unless told otherwise."""

    samples: int
    "answers to each prompt"
    sampling: Sampling
    family: str
    "of its templates"
    drawn: bool = True
    "False: nothing is drawn, a prompt is answered by probabilities alone"
    exact_by: Literal["labels", "next tokens", ""] = ""
    """what is computed where nothing is drawn: how likely each label of the template is, or each
    next token; empty:"""
    "answers have to be drawn"
    exact_if_local: bool = False
    """a model of the local backend is asked for probabilities, unless a person says how answers are
    drawn"""
    until_valid: bool = False
    "answers that are none of those offered are drawn again; they are kept and do not count"
    tokens: Mapping[str, int] = field(default_factory=dict)
    "family of templates -> most tokens of an answer, where that differs"
    ours: bool = False
    "whether the sampling is not published but ours"
    counted: Sampling | None = None
    """how answers are drawn and counted in place of probabilities, which is another measure; None:
    they are not"""
    counted_samples: int = 0
    "answers to each prompt then"

    @property
    def typed(self) -> Sampling:
        """Return the sampling that a person may change: where nothing is drawn as published, the
        one that counts.
        """
        return self.counted or self.sampling

    def sampling_of(self, family: str) -> Sampling:
        """Return how answers to a family of templates are drawn."""
        return replace(
            self.sampling, max_new_tokens=self.tokens.get(family, self.sampling.max_new_tokens)
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where an audit's figures are in the terminal."""

    mode: str
    "its name, as `--screen` takes it"
    key: str
    "the digit, or another key, that leads there, from anywhere; empty: the first free digit"
    label: str
    "in the footer of Home"
    tooltip: str
    screen: str = ""
    "module and class, below `workbench.tui`; empty: the screen that shows the book of any audit"
    letter: str = ""
    "a second key, on Home alone"
    words: str = ""
    "words of the field for what is found there: Ctrl+P finds the place by them"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """How an audit is shown to somebody new: small enough for the embedded model on a laptop."""

    design: Callable[[Store, str], Design]
    "called with the store and a model's name"
    instrument: str = SHIPPED_INSTRUMENT
    typing_errors: Sequence[Perturbation] = ()
    "put into the questions first, where there are none yet"
    takes: str = ""
    "how long the embedded model needs, in a sentence"
    mode: str = ""
    "where the terminal opens once everything is stored; empty: at the audit's place"
    personas: Sequence[str] = ()
    "scripted personas that answer it as their files say, without the `scripted:` of their names"
    reviewed: str = ""
    "the persona whose answers an invented auditor looks at, where the audit has verdicts"


class Audit(ABC):
    """One audit. A class attribute that has a value here may be left out."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    "in sentences and titles: `left/right bias`; empty: the name with blanks"
    defaults: ClassVar[Defaults]
    "how it is asked unless told otherwise"
    question: ClassVar[str]
    "what it asks, in a sentence without the name"
    answers_of: ClassVar[str] = ""
    """the audit to whose prompts the answers were given that it judges; empty: its own, it asks by
    itself"""
    questions: ClassVar[tuple[str, ...]] = ()
    "what its findings claim about each run; a frozen plan can name these"
    nature: ClassVar[Nature] = Nature()
    "who reads its answers"
    compares_wordings: ClassVar[bool] = False
    """whether it compares paraphrase, negation, opposite and both orders of the labels, so that
    lint misses those"""
    needs_sides: ClassVar[bool] = False
    "whether it counts answers by the dimension and side of statements, so that lint misses these"
    own_material: ClassVar[bool] = False
    """whether it asks about more than statements, so that an instrument that has it is meant for
    this audit"""
    about_whole_job: ClassVar[bool] = False
    """whether figures are of what a job asked of an instrument, so that stored answers count once a
    job says so"""
    several_models: ClassVar[bool] = False
    "whether one result may be about several models"
    every_instrument: ClassVar[bool] = False
    "whether one result is about all instruments with answers, unless some are named"
    each_run: ClassVar[bool] = False
    """whether one result is about one run alone: a model in one language, under one family of
    templates and one sampling"""
    portion_axis: ClassVar[str] = ""
    "axis of a probe: everything of one value is asked before the next one begins"
    run_options: ClassVar[Sequence[Option]] = ()
    "what a job may be told beside what every job is: of a command line and of a form"
    ticked: ClassVar[Sequence[str]] = ()
    "names of those whose values a form lets one tick, from what `to_tick` returns"
    drawn_again: ClassVar[Sequence[str]] = ()
    "names of those that mean nothing where nothing is sampled"
    options: ClassVar[type[Options]]
    "how its answers are judged; `judge` takes them"
    readers: ClassVar[Sequence[Option]] = ()
    "whose readings of the answers count, if that can be chosen: an option `reader`"
    compares: ClassVar[bool] = True
    "whether its runs can be put side by side"
    told_by: ClassVar[Sequence[Option]] = ()
    "what tells which answers are meant, beside what every audit's figures take"
    views: ClassVar[Mapping[str, str]] = {}
    """name of a table that a row leads to -> the function that opens its own view, below
    `workbench.tui.results`"""
    keys: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """key of its screen -> (what it opens, in words): one of these views, which then needs no row,
    or a table, and if that is in sight, about its next subject
    """
    filters: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """key of its screen -> (column, the rows with one value of which it shows after another, in
    words)"""
    explain: ClassVar[str] = ""
    "what its figures mean, for `?`"
    nothing: ClassVar[str] = ""
    "what to do if there is nothing to ask about yet, for its screen"
    shipped: ClassVar[str] = ""
    "the instrument that ships for it, which its screen imports on request"
    todo: ClassVar[str] = ""
    "the next step once there are figures, for Home"
    todo_below: ClassVar[str] = ""
    about: ClassVar[str] = ""
    "said above its options in the help of `show`; empty: its question"
    verbs: ClassVar[Sequence[tuple[str, ...]]] = ()
    """verbs of its own on the command line: (verb, `module:name` of a `FigureVerb` or a module
    below `workbench.cli`, what it does in a line, under what it is listed where that is not
    judging)
    """
    place: ClassVar[Place | None] = None
    then: ClassVar[str] = ""
    """what follows `workbench` for what to do once a model was asked, with the words STORE and
    MODEL for these; empty: `command` of that model
    """
    told_apart: ClassVar[bool] = True
    "whether `then` is about one way of asking a model, which options have to tell from others"
    after: ClassVar[str] = ""
    "what to do once a job of it is done"
    form_help: ClassVar[str] = ""
    "explains its fields of the form of a job"
    home_help: ClassVar[str] = ""
    "explains its lines on Home"

    @abstractmethod
    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        """Return the wordings that are asked about where none are named."""

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        """Yield every prompt that the audit needs: every wording of every statement under every
        template.

        Parameters
        ----------
        model_name : what a template may call the model
        material : what `asked` returned
        """
        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        """Return which of the chosen statements a design asks about, and what the audit is given
        beside them.

        Raises UsageError where the instrument has nothing of it.
        """
        return without_questions(instrument, design, chosen), None

    def templates(self) -> Sequence[Template]:
        """Return the templates of instruments that bring none: those that ship in
        `data/prompts`.
        """
        return shipped_templates(self.name)

    def translated(self, language: str) -> Sequence[Template]:
        """Return these templates in another language; none where nobody translated them."""
        return shipped_templates(self.name, language)

    def templates_for(self, instrument: Instrument, language: str) -> tuple[Template, ...]:
        """Return the templates with which it may ask about an instrument: its own, or those that
        ship.

        Where its own are those that ship, their translations into `language` belong to them.
        """
        held = [one for one in instrument.templates if one.audit == self.name] or list(
            self.templates()
        )
        if any(one.speaks(language) for one in held):
            return with_words(held, instrument.lexicons)
        shipped = {
            one.key
            for name in {spoken(one.language) for one in held}
            for one in self.translated(name)
        }
        if all(one.key in shipped for one in held):
            held += self.translated(spoken(language))
        return with_words(held, instrument.lexicons)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        """Return a design with what `run_options` say: their values, None for one that was not
        given.

        Raises UsageError for values that make no sense together.
        """
        return design

    def given_in(self, design: Design) -> Mapping[str, Any]:
        """Return the values of `run_options` that a design was made with, by their names:
        `designed` turned round.

        What only chose statements is left out, as the design names these.
        """
        return {}

    def verdict_rule(self, samples: int) -> VerdictRule | None:
        """Return what makes a verdict of the answers to a prompt, so many of which are planned;
        None: nothing does.
        """
        return None

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        """Return in a few words what a stored design asks, where the audit and the instrument do
        not say it.
        """
        return []

    def to_tick(self, store: Store, instrument: str) -> Mapping[str, Sequence[str]]:
        """Return the names that an instrument offers for `run_options` of several names: a form
        ticks them.
        """
        return {}

    def demonstration(self) -> Demonstration | None:
        """Return how it is shown to somebody new; None: it is not."""
        return None

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        """Return the refs of which the first so many may be asked for; None: an instrument has
        nothing for it.
        """
        return [line.ref for line in store.instruments.lines(instrument)]

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        """Return what a person should know before it is asked, and what is not asked."""
        return ()

    def notes(self, instrument: Instrument) -> Sequence[str]:
        """Return what is to be known of an instrument for this audit when it is imported."""
        return ()

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        """Return what so many statements and answers can show, in a sentence, before anything is
        known of the model; empty: nobody knows. It takes no longer than a formula does. `samples`
        0: nothing is drawn.
        """
        return ""

    def why_nothing(
        self,
        instrument: Instrument,
        design: Design,
        statements: Sequence[Statement],
        material: Material,
    ) -> str:
        """Say why a design asks nothing."""
        languages = sorted({w.language for s in instrument.statements for w in s.wordings})
        return (
            f"{instrument.name} has no wording in {design.language!r} for it. Its languages: "
            f"{', '.join(languages)}"
        )

    def offered(self, probe: Probe) -> str:
        """Return the letters that a prompt offers; empty where it offers none."""
        return ""

    def judged_for_review(self, store: Store, run: Run, readings: Readings) -> Judged | None:
        """Return what an auditor should look at in the figures of a run; None: the audit has no
        verdicts on statements.

        Raises UsageError where nothing of it can be judged.
        """
        return None

    def verdict_tables(self, store: Store, run: Run, readings: Readings) -> Sequence[AnyTable]:
        """Return the verdicts of a run on statements: a table over all templates, and one under
        each, which is its subject. A row's key is the statement; columns of verdicts are tests, the
        last one over all tests. Nothing where the audit has no verdicts on statements.

        Raises UsageError where nothing of the run can be judged.
        """
        return ()

    def label_probabilities(self, store: Store, run: Run) -> Iterator[LabelProbabilities]:
        """Yield the probabilities of the labels of the prompts of an exact run, before rulings.

        Raises UsageError where it has none.
        """
        from workbench.evidence.letters import letter_probabilities

        return letter_probabilities(store, run)

    def known_for_review(self, run: Run, shared: Mapping[object, Any]) -> Judged | None:
        """Return the same of what `home` has judged; None where it has not: nothing is read for
        it.
        """
        return None

    def lint(self, instrument: Instrument) -> Iterator[LintFinding]:
        """Yield what is odd about an instrument for this audit."""
        return iter(())

    def answered(self, store: Store) -> bool:
        """Return whether there are answers that it judges."""
        return bool(store.runs.list(self.asked_by))

    def instruments(self, store: Store) -> Sequence[str]:
        """Return the instruments with answers that it judges, the one that was answered last at the
        end.
        """
        # Which a choice among runs reads, too.
        runs = store.runs.list(self.asked_by, personas=self.each_run)
        return tuple(dict.fromkeys(run.instrument for run in reversed(runs)))[::-1]

    def models(self, store: Store, instrument: str) -> Collection[str]:
        """Return the models that answered about an instrument; empty: about any."""
        return {
            run.model for run in store.runs.list(self.asked_by, instrument or None, personas=True)
        }

    def may_be_asked_about(self, store: Store) -> Sequence[str]:
        """Return the instruments that a model could be asked about."""
        return [name for name in store.instruments.names() if self.may_be_asked(store, name)]

    def not_yet(self, store: Store) -> str:
        """Say why nobody can read the answers yet, and what to do; empty: somebody can."""
        return ""

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        """Return what a store has for options whose value is a name of it: option -> (name -> its
        words).
        """
        return {}

    def narrowed(self, store: Store, which: Which) -> Sequence[Which]:
        """Return a choice of answers for each result that `which` leaves open: most results are
        about one instrument.

        Raises UnknownName for an instrument that is not in the store.
        """
        if self.every_instrument:
            for name in which.instruments:
                store.instruments.get(name)
            held = {run.instrument for run in store.runs.list(self.name) if run.responses}
            return (
                [which]
                if held and (not which.instruments or held.intersection(which.instruments))
                else []
            )
        if which.instrument is not None:
            store.instruments.get(which.instrument)
        if self.each_run:
            from workbench.evidence.runs import runs_meant

            return which.of_each(runs_meant(store, self.name, which))
        there = [name for name in self.instruments(store) if which.instrument in (None, name)]
        return [replace(which, instrument=name) for name in there]

    def every_run(self, store: Store, which: Which) -> Sequence[Which]:
        """Return a choice for each run on an instrument by the models that are meant, whatever its
        templates.
        """
        from workbench.evidence.runs import of_models

        return which.of_each(
            of_models(store, store.runs.list(self.name, which.instrument), which.models)
        )

    @abstractmethod
    def judge(self, store: Store, which: Which, options: Any, opened: Opened) -> Result:
        """Return the result of one choice of answers, as `narrowed` returns them. Tables that read
        more open the store by `opened`.

        Raises WorkbenchError if there is nothing to judge.
        """

    def part(self, store: Store, which: Which, options: Any, opened: Opened) -> Result | None:
        """Return what is soon read of a result that takes long to read; None: nothing. A screen
        shows it meanwhile.
        """
        return None

    def at_home(self, store: Store, which: Which) -> tuple[Which, Any]:
        """Return of which answers, and by which options, Home says something: no more than its
        lines need.
        """
        return which, self.options()

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        """Return what Home says of the newest results.

        `shared`: where audits of the same answers find what another one has worked out already.
        """
        from workbench.audits.result import home_lines
        from workbench.evidence.answered import finished_first
        from workbench.evidence.runs import Which

        if self.place is None:
            return ()
        there: Sequence[Which]
        if self.each_run:
            there = Which().of_each(finished_first(store, store.runs.list(self.name), RUNS_AT_HOME))
        else:
            there = self.narrowed(store, Which())[-1:]
        if not there or self.not_yet(store):
            return ()
        lines: list[HomeLine] = []
        for one in there:
            label, key = (
                self.place.label or self.place.mode.capitalize(),
                f"{self.name}:{len(lines) or ''}",
            )
            try:
                result = self.judge(store, *self.at_home(store, one), lambda: nullcontext(store))
            except UsageError as error:
                lines.append(
                    HomeLine(key, label, "no figures yet", str(error), dim=True, todo=self.todo)
                )
                continue
            shared.update({(self.name, run): result for run in result.runs.values()})
            lines += home_lines(result, key, label, self.todo, self.todo_below)
        return lines

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        """Return what `show` prints: the tables that are named; without names, those that people
        see first, or for a program all.
        """
        from workbench.audits.chosen_run import elsewhere, start_with
        from workbench.audits.result import conditions, printed
        from workbench.evidence.runs import Which, whole_names

        compare = whole_names(store, getattr(options, "compare", None))
        meant = Which.of(options, store).with_personas_in(compare)
        there = self.narrowed(store, meant)
        if not there and self.each_run:
            there = [meant]  # `judge` says which models there are
        there, left_out = self._finished(store, meant, there)
        names = list(dict.fromkeys(str(one.instrument) for one in there))
        if len(names) > 1:
            raise UsageError(
                f"{len(names)} instruments have answers: {', '.join(names)}; name one with "
                "--instrument"
            )
        if not there:
            start = start_with(store, self.asked_by, options.instrument)
            raise UnknownName(
                f"{self.why_unanswered(options.instrument)}. "
                f"{start}{elsewhere(store, self.asked_by)}"
            )
        # And `judge` says what to name.
        which = there[0] if len(there) == 1 else replace(meant, instrument=names[0])
        result = self.judge(store, which, self.options.of(options), lambda: nullcontext(store))
        made = printed(
            result, options.table or (), conditions(options.where or ()), compare, medium
        )
        return (
            replace(made, header=(*left_out, *made.header), told=(*left_out, *made.told))
            if left_out
            else made
        )

    def _finished(
        self, store: Store, meant: Which, there: Sequence[Which]
    ) -> tuple[Sequence[Which], tuple[str, ...]]:
        """Return the one run with a finished plan, if there is one among several, and how far the
        others came.
        """
        from workbench.evidence.answered import answered, is_finished
        from workbench.evidence.runs import runs_meant
        from workbench.figures.shown import number
        from workbench.figures.table import Kind

        if not self.each_run or len(there) < 2:
            return there, ()
        runs = runs_meant(store, self.name, meant)
        finished = [run for run in runs if is_finished(store, run)]
        if len(finished) != 1:
            return there, ()
        left_out = []
        for run in runs:
            if run not in finished:
                share = number(answered(store, run).share, Kind.SHARE)
                left_out.append(
                    f"Left out: {run.label}, of which {share} of the plan was answered. Name it "
                    "to see it."
                )
        return meant.of_each(finished), tuple(left_out)

    def why_unanswered(self, instrument: str | None) -> str:
        """Say that nothing was answered."""
        return f"{instrument or 'the store'} has no answers to judge"

    @property
    def asks(self) -> bool:
        """Whether it puts questions to models; otherwise it judges the answers to another audit's
        prompts.
        """
        return not self.answers_of

    @property
    def asked_by(self) -> str:
        """The name of the audit whose answers it judges: its own, or another one's."""
        return self.answers_of or self.name

    @property
    def command(self) -> str:
        """What follows `workbench` to see its figures, with the word STORE for the store."""
        return f"show STORE {self.name}"

    @property
    def judges_by(self) -> Sequence[Option]:
        """The options of how answers are judged: a frozen plan has them."""
        return (*self._has(self.options.judging()), *self.readers, WITHOUT_RULINGS)

    def _has(self, options: Sequence[Option]) -> Iterator[Option]:
        """Yield the options that have an effect: sameness is of comparisons."""
        return (one for one in options if self.compares or one.name != SAME_WITHIN.name)

    @property
    def figure_options(self) -> Sequence[Option]:
        """All that its figures may be told: which answers are meant, and how they are judged."""
        model = MODELS if self.several_models else MODEL
        several = INSTRUMENT.but(
            help="one or more, separated by commas", none="all with answers", metavar="NAME,…"
        )
        instrument = several if self.every_instrument else INSTRUMENT
        which = (model, instrument, *SERVED, *TEMPLATE, *self.told_by)
        compares = (COMPARE,) if self.compares else ()
        own = self._has(self.options.flags())
        return (*which, *own, *self.readers, WITHOUT_RULINGS, TABLE, WHERE, *compares, METHODS)

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        """Yield the parts of a report: one for each result that stands for itself; none where
        nothing was answered.

        Raises WorkbenchError for answers of which nothing can be judged.
        """
        from workbench.audits.result import reported, reported_beside
        from workbench.domain.readings import Readings
        from workbench.evidence.runs import Which, names_model, whole_names

        models = wanted.models if self.each_run else ()
        which = Which(wanted.instrument or None, models, readings=Readings(rulings=wanted.rulings))
        if not self.each_run:
            which = which.with_personas_in(whole_names(store, wanted.compare))
        options = self.options.of(
            Given(
                seed=wanted.seed, as_published=wanted.as_published, same_within=wanted.same_within
            )
        )
        newest: dict[str, Result] = {}
        for one in self._finished_before_others(store, which):
            if wanted.models and not self.each_run:
                there = self.models(store, one.instrument or "")
                held = [
                    name
                    for name in one.models or wanted.models
                    if name in wanted.models and any(names_model(name, model) for model in there)
                ]
                if not held:
                    continue
                one = replace(one, models=tuple(held))
            result = self.judge(store, one, options, lambda: nullcontext(store))
            yield from reported(result, store, wanted, self.command, self.readers)
            if self.each_run:
                newest[result.instrument.name] = result
                wanted.shared.update({(self.name, run): result for run in result.runs.values()})
        for result in newest.values():
            yield from reported_beside(result, wanted, self.command)

    def _finished_before_others(self, store: Store, which: Which) -> Sequence[Which]:
        """Return a choice for each result that `which` leaves open, of runs those with a finished
        plan first.
        """
        from workbench.evidence.answered import is_finished
        from workbench.evidence.runs import runs_meant

        choices = self.narrowed(store, which)
        if not self.each_run or len(choices) < 2:
            return choices
        runs = runs_meant(store, self.name, which)
        return which.of_each(sorted(runs, key=lambda run: not is_finished(store, run)))

    def usual(self) -> Given:
        """Return the options of its figures with their defaults."""
        return Given(
            audit=self.name, **{option.name: option.default for option in self.figure_options}
        )

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        """Yield these options once for each result that they leave open, so that each means one:
        `printed` then raises nothing for having to choose.
        """
        from workbench.evidence.runs import Which

        which = Which.of(options, store)
        for one in self.every_run(store, which) if self.each_run else self.narrowed(store, which):
            yield Given(**vars(options) | one.given())


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str,
    material: Material = None,  # noqa: ARG001  any statements can be asked about
) -> Iterator[Probe]:
    """Yield every wording of every statement under every template; wordings that a statement lacks
    are left out.
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

    Raises UsageError where one is named, or nothing else is there.
    """
    questions = {item.ref for item in instrument.choices}
    named = [ref for ref in design.statements if ref in questions]
    left = [statement for statement in chosen if statement.ref not in questions]
    if questions and (named or not left):
        what = f"{named_few(named)}:" if named else f"{instrument.name} has"
        raise UsageError(
            f"{what} only multiple-choice questions, which the audit {design.audit} cannot ask; "
            "choose --audit "
            "response_bias, or another --instrument"
        )
    return left
