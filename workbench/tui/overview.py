"""What Home says about a store: read in a worker, shown by the screen. Knows the store and the pipeline, no widget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.verdicts import Estimate
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from stores.annotation.classifiers import Classifier
    from stores.annotation.queues import Queue
    from stores.core.store import Store
    from stores.instruments.instruments import InstrumentSummary
    from stores.jobs.job_rows import Job
    from stores.runs.run_rows import Run
    from workbench.audits.reliability.judge import Report

RUNS_SHOWN = 3
"verdict lines on Home: those of the runs that were answered last"


@dataclass(frozen=True, slots=True)
class Overview:
    """What can be said at once."""

    notice: str
    instruments: tuple[InstrumentSummary, ...]
    answers: int
    models: int
    jobs: tuple[Job, ...]
    "the newest first"
    free_answers: int
    "answers in free text, which people and classifiers read"
    queues: tuple[Queue, ...]
    labels: tuple[int, int, int]
    "items with one label, with several, and those to adjudicate"
    classifiers: tuple[Classifier, ...]
    imported: tuple[str, ...] = ()
    "models whose answers to multiple-choice questions were collected elsewhere"

    @property
    def active(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.active)


@dataclass(frozen=True, slots=True)
class LintCount:
    """How many findings a check of one instrument has."""

    errors: int
    warnings: int
    notes: int


@dataclass(frozen=True, slots=True)
class RunVerdicts:
    """How many statements of a run pass every test under every template."""

    model: str
    label: str
    passed: int
    failed: int
    insufficient: int
    trouble: str = ""
    "why there are no verdicts"
    void: int = 0
    "statements for which no test can fail"

    @property
    def statements(self) -> int:
        """Statements with a test that can fail."""
        return self.passed + self.failed + self.insufficient


@dataclass(frozen=True, slots=True)
class ClassifierScore:
    """How good the newest classifier is."""

    name: str
    macro_f1: Estimate
    "at the published confidence threshold"
    kept: float
    "share of what the test stands for that reaches it"
    rests_on: str
    "what both are about, in a few words"


@dataclass(frozen=True, slots=True)
class BiasLine:
    """Where a model stands."""

    model: str
    total: Estimate


@dataclass(frozen=True, slots=True)
class ConsistencyLine:
    """Whom the newest model answers like, and how many policy issues enough of its answers speak to."""

    model: str
    shares: tuple[tuple[str, Estimate], ...]
    "family of parties -> share of the statements; empty where there are no parties"
    enough: int
    "policy issues with six reliable statements or more"
    issues: int
    "policy issues with a label"


@dataclass(frozen=True, slots=True)
class PredictionLine:
    """How well the newest model predicts what people answered, and how far off it is."""

    model: str
    instrument: str
    condition: str
    accuracy: float
    "mean over questions; NaN where a question has none, as for the other two"
    majority: float
    bias: float
    "mean of the absolute biases"
    questions: int
    few: int = 0
    "people on the question that has the fewest, where they are too few to say anything of a side; 0: they are not"
    unfinished: str = ""
    "which job has not come to its end; empty where all have"


@dataclass(frozen=True, slots=True)
class ChoiceLine:
    """What the newest answers to multiple-choice questions show of response biases, and whose answers there are."""

    instrument: str
    asked: int
    "models that were asked here"
    imported: int
    "models whose answers were collected elsewhere"
    subject: str = ""
    "the model, and how it was asked where that is not clear"
    significant: int = 0
    "biases with a significant change"
    human_like: int = 0
    "of these, those in the direction that people show"
    biases: int = 0
    "biases that have a test"
    perturbed: int = 0
    "errors of typing, bias by bias, with a significant change"
    perturbations: int = 0
    short: int = 0
    "prompts of this model with too few valid answers"
    trouble: str = ""
    "why there are no figures"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What takes a moment: checks of the instruments, verdicts on the newest runs."""

    lint: dict[str, LintCount]
    verdicts: tuple[RunVerdicts, ...]
    classifier: ClassifierScore | None
    bias: tuple[BiasLine, ...]
    consistency: ConsistencyLine | None = None
    "None where there is neither a party nor a policy-issue label, or no answer"
    predictions: PredictionLine | None = None
    "of the questionnaire audit; None where no model was asked"
    choices: ChoiceLine | None = None
    "of multiple-choice questions; None where there are no answers to any"


def read_overview(path: Path) -> Overview:
    """Read what is cheap. Raises StoreError."""
    from stores.core.store import Store

    with Store.open(path) as store:
        answers, _ = store.runs.totals()
        runs = store.runs.list() if answers else ()
        queues = store.queues.list()
        return Overview(
            notice=store.notice,
            instruments=store.instruments.summaries(),
            answers=answers,
            models=len({run.model for run in runs}),
            jobs=store.jobs.list(),
            free_answers=sum(run.responses for run in runs if run.audit == "bias_score"),
            queues=queues,
            labels=store.labels.totals() if queues else (0, 0, 0),
            classifiers=store.classifiers.list(),
            imported=tuple(
                model for name in store.choices.instruments_with_answers() for model in store.choices.models(name)
            ),
        )


def read_judgement(path: Path) -> Judgement:
    """Check the instruments and judge the newest runs. Raises StoreError."""
    from stores.core.store import Store

    with Store.open(path) as store:
        lint = {name: lint_count(store, name) for name in store.instruments.names()}
        every = store.runs.list("reliability")
        runs = every[-RUNS_SHOWN:]
        reports = [(run, _report(store, run)) for run in reversed(runs)]
        same = Counter(run.label for run in every)
        verdicts = tuple(
            _verdicts(run, report, f"{run.label} · {run.dtype}" if same[run.label] > 1 else run.label)
            for run, report in reports
        )
        lines = (_consistency(store, run, report) for run, report in reports if not isinstance(report, str))
        consistency = next(lines, None)
        return Judgement(
            lint, verdicts, _classifier(store), _bias(store), consistency, _predictions(store), _choices(store)
        )


def lint_count(store: Store, name: str) -> LintCount:
    """Count the findings about an instrument by their severity."""
    from workbench.pipeline.checking import open_lint

    found = Counter(str(finding.severity) for finding in open_lint(store, name))
    return LintCount(found["error"], found["warning"], found["note"])


def _report(store: Store, run: Run) -> Report | str:
    """Judge the answers of a run; return why where that is impossible."""
    from workbench.audits.reliability.verdicts import run_verdicts

    try:
        return run_verdicts(store, run).report
    except WorkbenchError as error:
        return str(error)


def _verdicts(run: Run, report: Report | str, label: str) -> RunVerdicts:
    from workbench.audits.base import verdict
    from workbench.audits.reliability.judge import ALL
    from workbench.domain.verdicts import Verdict

    if isinstance(report, str):
        return RunVerdicts(run.model, label, 0, 0, 0, report)
    found = Counter(verdict(code) for code in report.over_templates(ALL))
    return RunVerdicts(
        run.model,
        label,
        found[Verdict.PASS],
        found[Verdict.FAIL],
        found[Verdict.INSUFFICIENT],
        void=found[Verdict.VOID],
    )


def _consistency(store: Store, run: Run, report: Report) -> ConsistencyLine | None:
    from workbench.audits.consistency import judge as audit

    instrument = store.instruments.get(run.instrument)
    land = audit.landscape(instrument, store.issues.gold(run.instrument))
    labelled = int((land.labels != 0).any(axis=1).sum())
    if not land.parties and not labelled:
        return None
    result = audit.judge(land, [audit.reliable_stances(run.model, report)], options=audit.Options(resamples=0))
    families = result.leaning(run.model).families if land.parties else ()
    enough = sum(not stance.few for stance in result.issues(run.model))
    return ConsistencyLine(run.model, tuple((of.family.value, of.share) for of in families), enough, labelled)


def _classifier(store: Store) -> ClassifierScore | None:
    from workbench import pipeline
    from workbench.classifier.config import PUBLISHED_THRESHOLD

    known = store.classifiers.list()
    if not known:
        return None
    tested = pipeline.evaluation(known[-1])
    point = tested.point("tuned", PUBLISHED_THRESHOLD)
    return ClassifierScore(known[-1].name, point.macro_f1, point.kept.value, tested.rests_on())


def _bias(store: Store) -> tuple[BiasLine, ...]:
    from workbench.audits.bias_score.judged import judge_bias

    if not store.classifiers.list():
        return ()
    try:
        report = judge_bias(store).report
    except WorkbenchError:
        return ()
    return tuple(BiasLine(model, report.figure(model).total) for model in report.tally.models[:RUNS_SHOWN])


def _predictions(store: Store) -> PredictionLine | None:
    runs = store.predictions.runs("questionnaire")
    if not runs:
        return None
    from workbench.audits.questionnaire.figures import Options
    from workbench.audits.questionnaire.judged import QuestionnaireChoice, judge_questionnaire, unfinished

    run, options = runs[-1], Options(draws=100)  # few: no interval is shown
    try:
        judged = judge_questionnaire(
            store, QuestionnaireChoice(run.instrument, (run.model,), run.dtype, options=options)
        )
    except WorkbenchError:
        return None
    name, report = next(iter(judged.reports.items()))
    if not report.conditions:
        return None
    of = report.condition(report.conditions[0])
    mean, bias = of.accuracy.value, of.absolute_bias.value
    going = next(unfinished(store, judged.runs[name]), "")
    few = of.accuracy.respondents if of.accuracy.few else 0
    return PredictionLine(name, run.instrument, str(of.condition), mean, of.majority, bias, of.accuracy.n, few, going)


def _choices(store: Store) -> ChoiceLine | None:
    """Judge the model that answered multiple-choice questions last, here or, where nobody did here, elsewhere."""
    runs, elsewhere = store.predictions.runs("response_bias"), store.choices.instruments_with_answers()
    if not runs and not elsewhere:
        return None
    from workbench.audits.response_bias.judged import ResponseBiasChoice, judge_response_bias

    instrument = runs[-1].instrument if runs else elsewhere[-1]
    imported = store.choices.models(instrument)
    asked = {run.model for run in runs if run.instrument == instrument}
    line = ChoiceLine(instrument, len(asked), len(imported))
    try:
        judged = judge_response_bias(store, ResponseBiasChoice(instrument))
    except WorkbenchError as error:
        return replace(line, trouble=str(error))
    own = [name for name, subject in judged.subjects.items() if not runs or subject.model == runs[-1].model]
    subject = (own or list(judged.subjects))[-1]
    cells = judged.reports[subject].cells
    biases, others = [c for c in cells if c.scored], [c for c in cells if c.condition is not None]
    return replace(
        line,
        subject=subject,
        significant=sum(cell.effect != 0 for cell in biases),
        human_like=sum(cell.human_like == 1 for cell in biases),
        biases=judged.reports[subject].score.biases,
        perturbed=sum(cell.effect != 0 for cell in others),
        perturbations=sum(cell.delta.n > 1 for cell in others),
        short=len(judged.subjects[subject].short),
    )


def import_shipped(path: Path, name: str = "") -> str:
    """Import an instrument that ships with workbench, the usual one where none is named; return a sentence about it.

    Raises WorkbenchError.
    """
    from stores.core.store import Store
    from workbench.data import SHIPPED_INSTRUMENT
    from workbench.formats.read import read_shipped

    instrument = read_shipped(name or SHIPPED_INSTRUMENT)
    with Store.open(path) as store:
        imported = store.instruments.add(instrument)
    return f"Imported {imported.name}: {len(instrument.statements):,} statements, {imported.wordings:,} wordings."
