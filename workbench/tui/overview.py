"""What Home says about a store: read in a worker, shown by the screen. Knows the store and the pipeline, no widget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from stores.instruments import InstrumentSummary
    from stores.jobs import Job
    from stores.runs import Run
    from stores.store import Store

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

    @property
    def statements(self) -> int:
        return self.passed + self.failed + self.insufficient


@dataclass(frozen=True, slots=True)
class Judgement:
    """What takes a moment: checks of the instruments, verdicts on the newest runs."""

    lint: dict[str, LintCount]
    verdicts: tuple[RunVerdicts, ...]


def read_overview(path: Path) -> Overview:
    """Read what is cheap. Raises StoreError."""
    from stores.store import Store

    with Store.open(path) as store:
        answers, _ = store.runs.totals()
        return Overview(
            notice=store.notice,
            instruments=store.instruments.summaries(),
            answers=answers,
            models=len({run.model for run in store.runs.list()}) if answers else 0,
            jobs=store.jobs.list(),
        )


def read_judgement(path: Path) -> Judgement:
    """Check the instruments and judge the newest runs. Raises StoreError."""
    from stores.store import Store

    with Store.open(path) as store:
        lint = {name: lint_count(store, name) for name in store.instruments.names()}
        runs = store.runs.list("reliability")[-RUNS_SHOWN:]
        return Judgement(lint, tuple(_verdicts(store, run) for run in reversed(runs)))


def lint_count(store: Store, name: str) -> LintCount:
    """Count the findings about an instrument by their severity."""
    from workbench.lint import lint

    found = Counter(str(finding.severity) for finding in lint(store.instruments.get(name)))
    return LintCount(found["error"], found["warning"], found["note"])


def _verdicts(store: Store, run: Run) -> RunVerdicts:
    from workbench import pipeline
    from workbench.audits.base import verdict
    from workbench.audits.reliability import ALL, judge
    from workbench.domain.verdicts import Verdict

    try:
        reader, _ = pipeline.read(store, run)
        report = judge(pipeline.counts(store, run, reader))
    except WorkbenchError as error:
        return RunVerdicts(run.model, run.label, 0, 0, 0, str(error))
    found = Counter(verdict(code) for code in report.over_templates(ALL))
    return RunVerdicts(run.model, run.label, found[Verdict.PASS], found[Verdict.FAIL], found[Verdict.INSUFFICIENT])


def import_shipped(path: Path) -> str:
    """Import the instrument that ships with workbench; return a sentence about it. Raises WorkbenchError."""
    from stores.store import Store
    from workbench.data import shipped_instrument_folder
    from workbench.formats.read import read_instrument

    instrument = read_instrument("csv", shipped_instrument_folder())
    with Store.open(path) as store:
        imported = store.instruments.add(instrument)
    return f"Imported {imported.name}: {len(instrument.statements):,} statements, {imported.wordings:,} wordings."
