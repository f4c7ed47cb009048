"""The contents of a report: parts of audits, their tables, and their origin in the store."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from types import SimpleNamespace
from typing import Any

from stores.core.contents import content_hash, last_event
from stores.core.store import Store
from stores.runs.answers import StatementAnswers
from stores.runs.models import SavedAnswers
from stores.runs.run_rows import Run
from workbench import registry
from workbench.annotation import agreement_tables
from workbench.annotation.agreement_tables import QueueAgreement
from workbench.audits.reported import Reported, ReportRequest
from workbench.domain.instruments import Instrument
from workbench.domain.names import in_words
from workbench.domain.prompts import Template
from workbench.domain.rulings import Ruling
from workbench.errors import UnknownName, UsageError, WorkbenchError
from workbench.evidence.label_reliability import MIN_ALPHA
from workbench.evidence.listed_rulings import applies_to, model_names
from workbench.evidence.plans import PlanStep, followed
from workbench.evidence.reader_quality import quality_in_short, quality_warnings
from workbench.evidence.readings import agreement_of, queue_labels
from workbench.evidence.ruling_subjects import typed_name
from workbench.evidence.rulings import rulings_in_force
from workbench.evidence.runs import without_runs
from workbench.figures.shown import estimate
from workbench.figures.table import AnyTable, Kind, Table
from workbench.options.option import chosen
from workbench.pipeline import classifier_figures as classifier_book
from workbench.pipeline.classifier_figures import assessed
from workbench.report.options import ReportChoice, Tell
from workbench.report.reached import published_tables, report_tables
from workbench.version import __version__

CLASSIFIER, AGREEMENT = "classifier", "agreement"
"beginnings of the names of these parts' files"
PEOPLE = 2
"the smallest number of people in a queue who can agree"


def labelling(store: Store, parts: Sequence[Reported], seed: int) -> Iterator[tuple[str, Reported]]:
    """Yield a part for every classifier that read the answers, and for every queue of labels.

    Each part comes with the beginning of its files' names. A queue has labels of people for answers
    to the same instruments.
    """
    by_codebook: dict[str, dict[str, Instrument]] = {}
    for part in parts:
        if part.codebook:
            by_codebook.setdefault(part.codebook, {})[part.instrument.name] = part.instrument
    readers = {rowid: part.instrument for part in parts for rowid in part.readers.values()}
    for classifier in store.classifiers.list():
        if classifier.reader in readers:
            yield CLASSIFIER, _classifier(store, classifier.name, readers[classifier.reader], seed)
    for queue in store.queues.list():
        instruments = by_codebook.get(queue.codebook.name, {})
        if instruments and len(queue.annotators) >= PEOPLE:
            labels = queue_labels(store, queue.name)
            candidates = (instruments.get(item.context.instrument) for item in labels.judged)
            if (instrument := next(filter(None, candidates), None)) is not None:
                agreement = agreement_of(labels, seed=seed)
                if agreement.report.items:
                    yield AGREEMENT, _agreement(agreement.lettered, instrument)


def _classifier(store: Store, name: str, instrument: Instrument, seed: int) -> Reported:
    classifier = assessed(store, name, seed=seed)
    measured_quality = classifier.quality
    return Reported(
        title=f"The classifier {name}",
        instrument=instrument,
        runs={},
        book=classifier_book.book(classifier),
        findings=[f"{quality_in_short(measured_quality)}.", *quality_warnings(measured_quality)],
        command=f"workbench classifiers STORE --classifier {shlex.quote(name)}",
        shown=("ways", "curve", "calibration", "confusion"),
        files=name,
    )


def _agreement(agreement: QueueAgreement, instrument: Instrument) -> Reported:
    alpha = agreement.report.coefficients.alpha
    alpha_text = f"Krippendorff's α of the annotators: {estimate(alpha, Kind.COEFFICIENT)}"
    warning = ", unreliable (below .667)" if alpha.value < MIN_ALPHA else ""
    return Reported(
        title=f"Agreement of annotators in {agreement.queue}",
        instrument=instrument,
        runs={},
        book=agreement_tables.book(agreement),
        findings=[f"{alpha_text}{warning}.", agreement.told],
        command=f"workbench agreement STORE --queue {shlex.quote(agreement.queue)}",
        limits=["Letters stand for the annotators' names."],
        shown=("coefficients", "over_time", "confusion"),
        files=agreement.queue,
    )


PACKAGES = ("numpy", "scipy", "jinja2")
"packages whose versions may affect figures and the page"


@dataclass(frozen=True, eq=False, slots=True)
class AskedSettings:
    """The settings with which one model was asked."""

    name: str
    run: Run
    designs: Sequence[Mapping[str, Any]]
    "designs of the jobs that asked it"
    templates: Sequence[Template]
    code_versions: Sequence[str]
    "versions of workbench that asked it"
    first: str
    last: str
    statements: int
    wordings: int
    prompts: int
    spared: SavedAnswers | None = None
    "answers saved because verdicts were settled, or None if all answers were to be asked"


@dataclass(frozen=True, slots=True)
class RuledThing:
    """A ruling with the name of its subject."""

    name: str
    ruling: Ruling
    counts: str
    "its effect on the figures, in words"
    applies: str
    "name of the model that it applies to alone, or all models"


@dataclass(frozen=True, eq=False, slots=True)
class ReportPart:
    """One part of the report, with the name of its files."""

    slug: str
    audit: str
    "name of the audit, or empty if it is about the readers of the answers"
    found: Reported


@dataclass(frozen=True, eq=False, slots=True)
class Collected:
    """The contents of a report, before formatting."""

    choice: ReportChoice
    parts: Sequence[ReportPart]
    asked: Sequence[AskedSettings]
    instruments: Sequence[Instrument]
    rulings: Sequence[RuledThing]
    left_out: Sequence[str]
    "audits without results, with the reasons"
    hash: str
    "SHA-256 of the store's content"
    at: str
    "time of the store's last event: the report's date"
    software: Mapping[str, str]
    "name -> version"
    plans: Sequence[Table[PlanStep]] = ()
    "comparison with the frozen plan, for every run with one"

    @property
    def date(self) -> str:
        return self.at[:10]


def collect(
    store: Store,
    choice: ReportChoice,
    tell: Tell,
    judged: Callable[[ReportPart], None] | None = None,
) -> Collected:
    """Judge the selected results, and read how models were asked.

    `judged` is given each part before the next one is judged. Raises UsageError if there is nothing
    to report, UnknownName for an unknown model or instrument.
    """
    if choice.instrument:
        store.instruments.get(choice.instrument)
    _check_models(store, choice)
    tell(0.0, "judging the answers")
    parts, left_out = _parts(store, choice, tell, judged)
    if not parts:
        raise UsageError(_nothing_to_report(store, choice, left_out))
    for beginning, reported in labelling(store, [part.found for part in parts], choice.seed):
        parts.append(ReportPart(_slug(beginning, reported, parts), "", reported))
        if judged is not None:
            judged(parts[-1])
    if choice.compare and not any(part.found.files for part in parts):
        raise UsageError(_nothing_compared(choice, parts))
    tell(0.55, "reading how models were asked")
    runs = {(run.audit, name, run): None for part in parts for name, run in part.found.runs.items()}
    asked_models = [_describe_run(store, name, run) for _, name, run in _each_once(runs)]
    instruments = {part.found.instrument.name: part.found.instrument for part in parts}
    return Collected(
        choice,
        parts,
        asked_models,
        tuple(instruments.values()),
        tuple(_rulings(store, parts)),
        left_out,
        content_hash(store.connection),
        last_event(store.connection),
        {
            "workbench": __version__,
            **{name: version(name) for name in PACKAGES},
            "Python": sys.version.split()[0],
        },
        tuple(_plans(store, choice, asked_models)),
    )


def _plans(
    store: Store, choice: ReportChoice, asked: Sequence[AskedSettings]
) -> Iterator[Table[PlanStep]]:
    """Yield the comparison with the frozen plan of each run that has one."""
    options = SimpleNamespace(
        seed=choice.seed,
        without_rulings=not choice.rulings,
        as_published=choice.as_published,
        same_within=choice.same_within,
    )
    for asked_model in asked:
        judging = chosen(registry.audit(asked_model.run.audit).judges_by, options)
        if (table := followed(store, asked_model.run, judging, choice.compare)).rows:
            yield table


def _parts(
    store: Store, choice: ReportChoice, tell: Tell, judged: Callable[[ReportPart], None] | None
) -> tuple[list[ReportPart], list[str]]:
    request = ReportRequest(
        choice.instrument,
        choice.models,
        choice.rulings,
        choice.seed,
        choice.compare,
        choice.as_published,
        choice.same_within,
    )
    audits = (
        [registry.audit(name) for name in choice.audits]
        if choice.audits
        else registry.every_audit()
    )
    parts: list[ReportPart] = []
    left_out: list[str] = []
    for index, audit in enumerate(audits):
        tell(0.5 * index / len(audits), f"judging {audit.name}")
        try:
            for reported in audit.reported(store, request):
                parts.append(ReportPart(_slug(audit.name, reported, parts), audit.name, reported))
                tell(0.5 * (index + 0.5) / len(audits), f"judged: {reported.title}")
                if judged is not None:
                    judged(parts[-1])
        except WorkbenchError as error:
            if choice.audits:
                raise
            left_out.append(f"{registry.audit_title(audit.name)}: {error}")
    return parts, left_out


def _nothing_compared(choice: ReportChoice, parts: Sequence[ReportPart]) -> str:
    """Return the reason why no runs are compared."""
    available = (
        "; ".join(dict.fromkeys(name for part in parts for name in part.found.runs)) or "none"
    )
    return (
        "no audit has answers by two of the runs that --compare names "
        f"({'; '.join(choice.compare)}); the report would hold: {available}"
    )


def _nothing_to_report(store: Store, choice: ReportChoice, left_out: Sequence[str]) -> str:
    """Return the reason why there is nothing to report, and what to do."""
    runs = store.runs.list()
    if not runs and not left_out:
        return (
            "no model has answered yet, so there is nothing to report. Start with: workbench "
            "run STORE --model NAME"
        )
    if left_out:
        return "nothing can be reported yet:\n" + "\n".join(left_out)
    models = ", ".join(sorted({run.model for run in runs}))
    selection = " ".join(choice.flags) or "these options"
    return f"no result matches {selection}. Models with answers: {models}"


def _check_models(store: Store, choice: ReportChoice) -> None:
    """Raise UnknownName for a model without answers, asked here or imported."""
    runs = store.runs.list(personas=True)
    imported = {
        name
        for instrument in store.instruments.names()
        for name in store.choices.models(instrument)
    }
    available = imported | {run.model for run in runs}
    if missing := [
        name for name in without_runs(store, runs, choice.models) if name not in imported
    ]:
        names = ", ".join(sorted(available)) or "nobody"
        raise UnknownName(
            f"there are no answers by {', '.join(missing)}. Models with answers: {names}"
        )


def _slug(audit: str, result: Reported, earlier_parts: Sequence[ReportPart]) -> str:
    """Return a name for the files of a part, which begins with its audit's.

    It is unique whatever the case.
    """
    model = (
        "-".join(dict.fromkeys(run.model for run in result.runs.values()))
        if len(result.runs) == 1
        else ""
    )
    name = result.files or model
    safe_name = "".join(
        character if character.isascii() and (character.isalnum() or character in "-_") else "-"
        for character in f"{audit}-{name}".strip("-")
    )
    slug, used = safe_name[:60].strip("-"), {part.slug.casefold() for part in earlier_parts}
    number = 2
    while slug.casefold() in used:
        slug, number = f"{safe_name[:56].strip('-')}-{number}", number + 1
    return slug


def _each_once(runs: Mapping[tuple[str, str, Run], None]) -> Iterator[tuple[str, str, Run]]:
    """Yield each run with the first of its names, once for all audits of the same answers."""
    yielded: set[Run] = set()
    for audit, name, run in runs:
        if run not in yielded:
            yielded.add(run)
            yield audit, name, run


def _describe_run(store: Store, name: str, run: Run) -> AskedSettings:
    cells = store.runs.cells(run)
    first, last = StatementAnswers(store).between(run)
    return AskedSettings(
        name=name,
        run=run,
        designs=[spec for spec in store.predictions.designs(run) if "sampling" in spec],
        templates=store.runs.templates(run),
        code_versions=store.predictions.code_versions(run),
        first=first,
        last=last,
        statements=len({ref for ref, *_ in cells}),
        wordings=len({(kind, ordinal) for _, kind, ordinal, *_ in cells}),
        prompts=run.prompts,
        spared=store.settlements.spared(run),
    )


def _rulings(store: Store, parts: Sequence[ReportPart]) -> Iterator[RuledThing]:
    """Yield every ruling in force about the runs of a report, once, the oldest first."""
    summaries = [part.found.rulings for part in parts]
    changing = _uids(chain.from_iterable(summary.changing for summary in summaries))
    disputed = _uids(chain.from_iterable(summary.disputed for summary in summaries))
    are_counted = all(summary.counted for summary in summaries)
    models = model_names(store)
    rulings = _rulings_by_uid(store, parts).values()
    for ruling in sorted(rulings, key=lambda ranked: (ranked.at, ranked.uid)):
        if ruling.uid in disputed:
            effect = "does not count: auditors contradict each other"
        elif ruling.uid in changing:
            effect = "changes figures" if are_counted else "does not count here, by choice"
        else:
            effect = "changes no figure"
        yield RuledThing(
            typed_name(store, ruling.subject), ruling, effect, applies_to(ruling, models)
        )


def _uids(rulings: Iterable[Ruling]) -> set[bytes]:
    """Return the identifiers of rulings."""
    return {ruling.uid for ruling in rulings}


def _rulings_by_uid(store: Store, parts: Sequence[ReportPart]) -> dict[bytes, Ruling]:
    """Return the rulings in force about the runs of a report, by their identifiers."""
    rulings: list[Ruling] = []
    for part in parts:
        rulings += part.found.rulings.changing
        rulings += part.found.rulings.disputed
    runs = dict.fromkeys(run for part in parts for run in part.found.runs.values())
    for run in runs:
        rulings += chain.from_iterable(rulings_in_force(store, run).things)
    return {ruling.uid: ruling for ruling in rulings}


MOST_ROWS = 24
"the largest number of rows of a main table of a part without one of all models"


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A table of a report."""

    part: str
    "title of its part, or empty if it is about all of them"
    table: AnyTable
    stem: str = ""
    "name of its files, without their ending, which begins with its number"
    ruled: Sequence[str] = ()
    "the changes by rulings in its part"

    @property
    def title(self) -> str:
        """The title, with the subject if the title does not name it."""
        names_subject = all(name in self.table.title for name in self.table.subject)
        return (
            self.table.title
            if names_subject
            else f"{self.table.title} ({' − '.join(self.table.subject)})"
        )

    def numbered(self, number: int) -> Shown:
        """Return the table with the name of its files."""
        part_name = "" if in_words(self.table.name) in self.part else f"-{self.part}"
        name = "".join(
            character
            if character.isascii() and (character.isalnum() or character in "-_.")
            else "-"
            for character in f"{self.table.stem}{part_name}"
        )
        return replace(self, stem=f"{number:03}-{name[:100].strip('-')}")


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """The parts of one audit that a page shows together: all models, with one picture."""

    title: str
    audit: str
    "name of the audit, or empty if they are about the readers of the answers"
    parts: Sequence[ReportPart]
    main: AnyTable | None
    "the table that stands for them, with its picture"

    @property
    def slug(self) -> str:
        return self.parts[0].slug


def groups(parts: Sequence[ReportPart], tables: Mapping[str, Sequence[Shown]]) -> list[Group]:
    """Return the parts of each audit of an instrument as one group.

    Comparisons and readers are groups of their own.

    tables : slug of a part -> its tables
    """
    parts_by_group: dict[tuple[str, ...], list[ReportPart]] = {}
    for part in parts:
        own_slug = part.slug if part.found.all_models is None else ""
        parts_by_group.setdefault((part.audit, part.found.instrument.name, own_slug), []).append(
            part
        )
    return [
        Group(
            _title(group_parts),
            group_parts[0].audit,
            group_parts,
            _of_all([part.found.all_models for part in group_parts])
            or _first(group_parts[0], tables),
        )
        for group_parts in parts_by_group.values()
    ]


def _title(parts: Sequence[ReportPart]) -> str:
    first = parts[0]
    is_single = len(parts) == 1
    return (
        first.found.title
        if is_single
        else f"{first.found.instrument.name}: {registry.audit_title(first.audit)}"
    )


def _of_all(tables: Sequence[AnyTable | None]) -> AnyTable | None:
    """Return the tables of all models of several parts as one."""
    available = [table for table in tables if table is not None]
    return (
        replace(available[0], rows=[row for table in available for row in table.rows])
        if available
        else None
    )


def _first(part: ReportPart, tables: Mapping[str, Sequence[Shown]]) -> AnyTable | None:
    """Return the first short table that a part shows, one with a picture if there is one.

    It is None for the readers of the answers.
    """
    order = [name for name in part.found.shown if part.audit]
    table_by_name = {
        report_table.table.name: report_table.table
        for report_table in reversed(tables[part.slug])
        if len(report_table.table.rows) <= MOST_ROWS
    }
    candidates = [table_by_name[name] for name in order if name in table_by_name]
    return next(
        (table for table in candidates if table.pictures), candidates[0] if candidates else None
    )


def shown_of(part: ReportPart, requested: Collection[str] | None) -> tuple[list[Shown], list[str]]:
    """Return the tables of a part in reading order, and the reasons for missing ones.

    requested : names of tables that nothing leads to and the user wants, or None for all
    """
    published = published_tables(part.audit) if part.audit else ()
    tables = report_tables(part.found, published, requested)
    missing = list(tables.missing)
    if tables.on_request:
        missing.append(
            f"On request, with --table NAME or --every-file: {', '.join(tables.on_request)}."
        )
    notes = tuple(part.found.rulings.notes())
    numbered = [Shown(part.found.title, table, ruled=notes) for table in tables.made]
    return numbered, list(dict.fromkeys(missing))
