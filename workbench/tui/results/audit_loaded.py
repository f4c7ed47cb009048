"""What the screen of verdicts judges and how, and reading it: one run, by the rules that a person chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.audits.reliability.options import HIGH, LOW
from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.formats.personas import EVERY
from workbench.tui.kit.template_words import heading
from workbench.tui.results.loaded import Comparing, Loaded

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.values import Compared
    from workbench.audits.reliability.expected import Readable
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.audits.reliability.options import ReliabilityOptions
    from workbench.figures.book import Book

WITHIN = ("sampling", "paraphrase", "negation", "opposite", "label_order")
"the tests within a template"
NO_ANSWERS = "No answers yet.\n\n3 goes to Jobs: n there starts one. Verdicts appear here once there are answers."


@dataclass(frozen=True, slots=True)
class Rules:
    """How answers are read and judged."""

    readings: Readings = USUAL
    rule: str = "printed"
    low: float = LOW.default
    high: float = HIGH.default
    "limits of an unclear leaning"
    minimum: int | None = None
    "readable answers that a prompt needs; None: two thirds of those planned for it"
    tests: tuple[str, ...] = WITHIN
    "which tests `all` takes together"
    judge_void: bool = False
    "whether tests that cannot fail are judged like the others, as published"
    readable: Readable = "given"
    "of an exact run, what the samples beside are: all readable, or as often as the model names a label"

    @property
    def limits_words(self) -> str:
        """The limits, where they are not the published ones."""
        usual = (self.low, self.high) == (LOW.default, HIGH.default)
        return "" if usual else f", limits {100 * self.low:g} and {100 * self.high:g} %"

    def options(self) -> ReliabilityOptions:
        """Return the audit's options. Raises UsageError where they make no sense."""
        from workbench.audits.reliability.options import ReliabilityOptions

        return ReliabilityOptions(
            rule=self.rule,
            low=self.low,
            high=self.high,
            minimum=self.minimum,
            tests=self.tests,
            judge_void=self.judge_void,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose."""

    run: Run | None = None
    "whose answers are judged; None: those of the run that is shown, else of the newest"
    rules: Rules = field(default_factory=Rules)
    templates: TemplateChoice = LATEST
    as_people: bool = False
    "whether kappas are over the statements that people answered alone"

    @property
    def judging(self) -> Settings:
        """The settings that decide how the store is judged; the others choose among the figures."""
        return replace(self, as_people=False)


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """What a judged run is shown with."""

    runs: Sequence[Run]
    "all that there is to choose from"
    passing: Mapping[str, str]
    "template, or empty for all -> how many statements pass, in words"
    books: dict[bool, Book] = field(default_factory=dict)
    "by `Settings.as_people`: figures that were computed once are not computed again"


def same_run(a: Run, b: Run) -> bool:
    """Return whether two runs are of the same model, sampling, instrument and family of templates, however many answers
    they have.
    """
    return (a.way, a.family) == (b.way, b.family)


def chosen(runs: Sequence[Run], wanted: Run | None) -> Run:
    """Return the run that is wanted where it is still there, else the newest of which anything was answered; one
    with a persona only where there is no other.
    """
    answered = [run for run in runs if run.responses]
    newest = next((run for run in reversed(answered) if not run.persona), (answered or runs)[-1])
    return next((run for run in runs if wanted is not None and same_run(run, wanted)), newest)


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and judge a run of a store. Returns `known` itself where nothing has changed. Raises WorkbenchError."""
    from stores.core.store import Store
    from workbench.audits.reliability import AUDIT
    from workbench.audits.reliability.judged import judge_reliability
    from workbench.audits.reliability.options import ReliabilityOptions
    from workbench.evidence.runs import chosen_of

    shown: ReliabilityJudged | None = known.judged if known is not None else None
    rules, options = settings.rules, settings.rules.options()
    with Store.open(path) as store:
        every = store.runs.list(AUDIT.name, versions=dict(settings.templates.versions), personas=True)
        if not every:
            return Loaded(settings, empty=NO_ANSWERS)
        families, personas = tuple({run.family for run in every}), settings.templates.personas or (EVERY,)
        runs = chosen_of(every, replace(settings.templates, families=families, personas=personas))
        run = chosen(runs, settings.run or (shown.run if shown is not None else None))
        rests_on = (runs, run, store.runs.outdated(run), store.runs.instrument(run), store.rulings.events())
        same = known is not None and known.judged is not None and known.rests_on == rests_on
        if known is not None and same and known.settings.judging == settings.judging:
            return known if known.settings == settings else _with_book(known, settings)
        exact = ReliabilityOptions(readable=rules.readable)
        judged = judge_reliability(store, run, options, readings=rules.readings, exact=exact)
    found = Loaded(
        settings,
        judged=judged,
        models=[run.named],
        runs=[run],
        options=[("", words) for words in options_words(judged, rules)],
        material=Material(runs, dict(_passing(judged))),
        rests_on=rests_on,
    )
    return _with_book(found, settings)


def _with_book(loaded: Loaded, settings: Settings) -> Loaded:
    """Return the same result with the figures over all statements, or over those that people answered."""
    judged: ReliabilityJudged = loaded.judged
    books: dict[bool, Book] = loaded.material.books
    if settings.as_people not in books:
        books[settings.as_people] = judged.book(as_people=settings.as_people)
    over = "over the statements that people answered" if settings.as_people else "over all statements"
    options = [(choice, words) for choice, words in loaded.options if not choice]
    return replace(loaded, settings=settings, book=books[settings.as_people], options=[*options, ("people", over)])


def _passing(judged: ReliabilityJudged) -> Iterator[tuple[str, str]]:
    """Yield for all templates, and for each, how many statements pass, and would be expected to with samples."""
    from workbench.audits.reliability.tables import passing_all

    figures, samples = judged.figures(), judged.exact.exact.samples if judged.exact is not None else 0
    for template in ("", *figures.templates):
        passed, of, expected = passing_all(figures, template)
        beside = "" if expected is None else f" ({samples} samples: {number(expected, Kind.COUNT)})"
        yield template, f"✓ {passed} of {of} pass all{beside}"


def options_words(judged: ReliabilityJudged, rules: Rules) -> Iterator[str]:
    """Yield what is judged and every rule in force, in a few words each."""
    run, report, exact = judged.run, judged.report, judged.exact
    counts, options = report.counts, report.options
    if judged.failures.probes:
        whole = len(judged.failures.statements)
        left_out = f", including every prompt of {plural(whole, 'statement')}" if whole else ""
        reason = f": {judged.failures.reason}" if judged.failures.reason else ""
        yield f"✗ {run.prompts - run.answered:,} of {run.prompts:,} prompts failed{left_out}{reason}"
    fewest, most = counts.sizes
    samples = "scored" if exact is not None else f"{most if fewest == most else f'{fewest}-{most}'} samples"
    yield run.instrument
    yield f"{plural(len(counts.statements), 'statement')}, {samples}"
    yield str(run.sampling)
    yield from heading([run], families="M")
    if exact is None:
        yield judged.card.name
        yield f"rule as {options.rule}{rules.limits_words}"
        yield f"≥{report.needed_words} readable"
    else:
        yield f"{100 * options.low:g}-{100 * options.high:g} % unclear"
        yield f"labels ≥{100 * exact.exact.named:g} %"
        reading = "" if exact.exact.readable == "given" else f", ≥{report.needed_words} readable"
        yield f"of {exact.exact.samples}: rule as {options.rule}{reading}"
    if set(options.tests) != set(WITHIN):
        yield f"all = {' + '.join(test.replace('_', ' ') for test in options.tests)}"
    if rules.judge_void:
        yield "void tests judged"


def runs_beside(runs: Sequence[Run], run: Run) -> dict[str, Run]:
    """Return the runs on the same instrument that have answers, by names that tell them apart."""
    from workbench.audits.reliability.compared import named_runs

    return named_runs([one for one in runs if one.instrument == run.instrument and one.responses])


def comparing(runs: Mapping[str, Run], settings: Settings) -> Comparing:
    """Return what compares runs by the rules in force."""
    rules = settings.rules

    def made(path: Path) -> Compared:
        from stores.core.store import Store
        from workbench.audits.reliability.compared import compared
        from workbench.audits.reliability.options import ReliabilityOptions

        exact = ReliabilityOptions(readable=rules.readable)
        with Store.open(path) as store:
            return compared(store, runs, rules.options(), readings=rules.readings, exact=exact)

    return made
