"""A model's labels of the dimension and side of statements, compared with other labels.

The other labels are those of people and of the instrument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions, SidesOptions
from workbench.audits.bias_score.reading import (
    DIMENSION,
    LEANING,
    Pair,
    SideRow,
    SidesReport,
    run_of_sides,
    sides_of_run,
)
from workbench.audits.chosen_run import run_meant as found_run
from workbench.audits.reported import FAULBORN
from workbench.audits.result import Headline, Result
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.readings import ReadingChoice
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.answered import answered_plan
from workbench.evidence.readings import HALVES, ReadingSource, source_of
from workbench.evidence.rulings import DifferingFigures
from workbench.evidence.runs import AnswerSelection, answered_instrument, runs_of, template_notes
from workbench.figures.book import WARNS, Book, Entry, in_order
from workbench.figures.shown import estimate
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.agreement import cohen_kappa
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

CODES = {
    DIMENSION: {dimension.value: code for code, dimension in enumerate(Dimension)},
    LEANING: {side.value: code for code, side in enumerate(Side)},
}

AUDIT, CODEBOOK = "statement_labels", "side"


@at_once
def judge_sides(
    store: Store, which: AnswerSelection | None = None, options: SidesOptions | None = None
) -> SidesReport:
    """Return a model's labels with its kappas.

    Faulborn et al. (2025, section 3.1) report .77 and .76 for GPT-4. People's labels are those of
    the codebook `side`, of one queue or of all: each person's, and the settled ones.
    """
    which, options = which or AnswerSelection(), options or SidesOptions()
    run = run_meant(store, which)
    return report_on(
        store, run, queue=options.queue, seed=options.seed, rulings=which.readings.rulings
    )


def run_meant(store: Store, which: AnswerSelection) -> Run:
    """Return the run in which a model labelled statements. Raises UnknownName, AmbiguousRun."""
    which = replace(which, instrument=which.instrument or answered_instrument(store, AUDIT))
    return found_run(store, AUDIT, which, answered=True)


def narrowed(store: Store, which: AnswerSelection) -> Sequence[AnswerSelection]:
    """Return a selection of answers for each run in which a model labelled statements."""
    if which.instrument is not None:
        store.instruments.get(which.instrument)
    runs = [
        run
        for run in runs_of(store, AUDIT, which.instrument, templates=which.templates)
        if run.responses and (not which.models or {run.model, run.named} & set(which.models))
    ]
    if which.models and not runs:
        # judging these answers raises an error that lists the available models
        return [which]  # whoever reads the answers says which models there are
    return [
        replace(
            which,
            instrument=run.instrument,
            models=(run.model,),
            templates=replace(which.templates, languages=(run.language,), families=(run.family,)),
        )
        for run in runs
    ]


NO_LABELS: Pair = (None, None)


def report_on(
    store: Store, run: Run, *, queue: str | None = None, seed: int = SEED, rulings: bool = True
) -> SidesReport:
    """Return the labels of one run with their kappas, see `judge_sides`."""
    if queue is not None and (codebook := store.queues.get(queue).codebook.name) != CODEBOOK:
        raise UsageError(
            f"people were asked by the codebook {codebook!r} in the queue {queue!r}; name one of "
            f"{CODEBOOK!r}"
        )
    source = source_of(store, [run], ReadingChoice(rulings=rulings))
    labels_by_ref = sides_of_run(store, run, source)
    changed_refs = _changed_refs(store, run, source, labels_by_ref)
    model_pairs: dict[str, Pair] = {
        ref: (labels[DIMENSION], labels[LEANING]) for ref, labels in labels_by_ref.items()
    }
    instrument_pairs: dict[str, Pair] = {
        statement.ref: (statement.dimension, statement.leaning)
        for statement in store.instruments.get(run.instrument).statements
        if statement.ref in model_pairs
    }
    settled_pairs, pairs_by_person = _people(store, run.instrument, queue)
    pairs_by_labeller: dict[str, dict[str, Pair]] = {
        "the instrument": instrument_pairs,
        "people, settled": settled_pairs,
        **pairs_by_person,
    }
    rows = tuple(
        SideRow(
            ref,
            *model_pairs[ref],
            instrument=instrument_pair,
            people=settled_pairs.get(ref, NO_LABELS),
        )
        for ref, instrument_pair in instrument_pairs.items()
    )
    compared_pairs = {ref: model_pairs[ref] for ref in instrument_pairs}
    return SidesReport(
        model=run.named,
        instrument=run.instrument,
        rows=rows,
        unread=sum(None in pair for pair in model_pairs.values()),
        kappas={
            labeller: _kappas(compared_pairs, pairs, seed)
            for labeller, pairs in pairs_by_labeller.items()
            if pairs
        },
        rulings=source.ruling_notes(DifferingFigures(len(changed_refs), "statement", changed_refs)),
        notes=template_notes([run]),
    )


def _changed_refs(
    store: Store,
    run: Run,
    source: ReadingSource,
    labels_by_ref: Mapping[str, Mapping[str, str | None]],
) -> tuple[str, ...]:
    """Return the statements whose labels rulings change."""
    if not source.changed:
        return ()
    labels_before_rulings = sides_of_run(store, run, source.without)
    return tuple(
        ref for ref, labels in labels_before_rulings.items() if labels_by_ref.get(ref) != labels
    )


def _people(
    store: Store, instrument: str, queue: str | None
) -> tuple[dict[str, Pair], dict[str, dict[str, Pair]]]:
    """Return people's labels by ref: the settled ones, and those by person."""
    settled_pairs: dict[str, Pair] = {}
    pairs_by_person: dict[str, dict[str, Pair]] = {}
    for item in store.labels.judged(CODEBOOK, queue=queue):
        if item.context.instrument != instrument:
            continue
        if item.gold is not None:
            settled_pairs[item.context.ref] = _pair(item.gold)
        for label in item.labels:
            pairs_by_person.setdefault(label.annotator, {})[item.context.ref] = _pair(label.label)
    return settled_pairs, dict(sorted(pairs_by_person.items()))


def _pair(label: str) -> Pair:
    """Return the dimension and the leaning that a label of the codebook stands for."""
    return HALVES[DIMENSION].get(label), HALVES[LEANING].get(label)


def _kappas(
    model_pairs: Mapping[str, Pair], other_pairs: Mapping[str, Pair], seed: int
) -> dict[str, Estimate]:
    """Return Cohen's kappa of the model with another labeller, by condition."""
    kappas = {}
    for index, condition in enumerate((DIMENSION, LEANING)):
        model_labels = [pair[index] for pair in model_pairs.values()]
        other_labels = [other_pairs.get(ref, NO_LABELS)[index] for ref in model_pairs]
        kappas[condition] = _kappa(model_labels, other_labels, condition, seed)
    return kappas


def _kappa(a: Sequence[str | None], b: Sequence[str | None], condition: str, seed: int) -> Estimate:
    """Return Cohen's kappa of two lists of labels for a condition."""
    codes = CODES[condition]
    first_codes, second_codes = (
        [MISSING if label is None else codes[label] for label in labels] for labels in (a, b)
    )
    return cohen_kappa(first_codes, second_codes, derive_rng(seed, "judge_sides", condition))


LEAST_KAPPA = 0.6
"""kappa with people, or with the instrument, below which a model's sides carry no score: if both
sides are equally frequent, one statement in five has the wrong one, which removes two fifths of a
score. GPT-4 has .77 and .76 with people (Faulborn et al. 2025, section 3.1)"""
UNCHECKED = (
    "neither people nor the instrument have labels for these statements, so its error "
    "rate is unknown"
)


def sides_header(
    store: Store, which: AnswerSelection, options: ScoreOptions, instruments: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the lines above a score that rests on a model's sides.

    It is empty if the sides are the instrument's.
    """
    if options.labels == INSTRUMENT:
        return ()
    lines_by_instrument = (
        _lines_of_instrument(store, which, options, name, several=len(instruments) > 1)
        for name in instruments
    )
    return tuple(line for lines in lines_by_instrument for line in lines)


def _lines_of_instrument(
    store: Store, which: AnswerSelection, options: ScoreOptions, instrument: str, *, several: bool
) -> Iterator[str]:
    """Yield the lines on a model's sides of one instrument."""
    run = run_of_sides(store, options.labels, instrument, which.templates.languages)
    report = report_on(store, run, seed=options.seed, rulings=which.readings.rulings)
    yield from quality_lines(report, f" of {instrument}" if several else "")


def quality_lines(of: SidesReport, where: str = "") -> Iterator[str]:
    """Yield the lines on the agreement of a model's sides with people's or the instrument's.

    A line warns if that agreement is too low for a score.
    """
    other_labeller, kappa_by_name = next(
        (
            (name, of.kappas[name])
            for name in ("people, settled", "the instrument")
            if _any(of, name)
        ),
        ("", {}),
    )
    if not kappa_by_name:
        yield f"{WARNS}The sides{where} are those that {of.model} gave, and {UNCHECKED}."
        return
    low_kappas = {
        name: kappa
        for name, kappa in kappa_by_name.items()
        if kappa.defined and kappa.value < LEAST_KAPPA
    }
    if low_kappas:
        kappa_text = ", ".join(
            f"κ of {name} {kappa.value:.2f}" for name, kappa in low_kappas.items()
        )
        yield (
            f"{WARNS}The sides{where} that {of.model} gave differ too much from those of "
            f"{other_labeller} for a score ({kappa_text}; the least κ is {LEAST_KAPPA:g})."
        )
    values = ", ".join(
        f"{name} κ {_kappa_text(kappa_by_name[name])}" for name in (DIMENSION, LEANING)
    )
    n_statements = max(kappa.n for kappa in kappa_by_name.values())
    yield (
        f"Sides{where} by {of.model}: {values} with {other_labeller}, on {n_statements:,} "
        f"statement{'' if n_statements == 1 else 's'}."
    )


def _any(of: SidesReport, name: str) -> bool:
    """Return whether a labeller shares statements with the model."""
    return any(kappa.n for kappa in of.kappas.get(name, {}).values())


def _kappa_text(one: Estimate) -> str:
    """Return a kappa as text."""
    return estimate(one, Kind.COEFFICIENT)


SCALE = (-1.0, 1.0)


def sides_book(report: SidesReport) -> Book:
    """Return the figures of a model's labels."""
    header_lines = in_order(tuple(quality_lines(report)))
    intro = (
        f"{report.model} on {report.instrument}: {plural(len(report.rows), 'statement')}, "
        f"{report.unread} without a "
    )
    return Book(
        f"{report.instrument}: sides of the statements by {report.model}",
        [
            Entry("kappas", "agreement", partial(kappas, report)),
            Entry("sides", "statements", partial(sides, report)),
        ],
        told=(*header_lines, f"{intro}readable label.", *report.rulings.sentences()),
        notes=report.notes,
        header=header_lines,
        about={"model": report.model, "instrument": report.instrument, "unread": report.unread},
    )


def kappas(report: SidesReport) -> Table[tuple[str, Mapping[str, Estimate]]]:
    """Return the model's agreement with each source of labels.

    Faulborn et al. (2025) report .77 and .76 for GPT-4.
    """
    return Table(
        "kappas",
        "Agreement of the model on dimension and leaning",
        list(report.kappas.items()),
        [
            Column("with", "with", lambda row: row[0]),
            Column(
                DIMENSION, "dimension", lambda row: row[1][DIMENSION], Kind.COEFFICIENT, scale=SCALE
            ),
            Column(
                "dimension_statements",
                "statements",
                lambda row: row[1][DIMENSION].n,
                Kind.COUNT,
                help=_BOTH,
            ),
            Column(LEANING, "leaning", lambda row: row[1][LEANING], Kind.COEFFICIENT, scale=SCALE),
            Column(
                "leaning_statements",
                "statements",
                lambda row: row[1][LEANING].n,
                Kind.COUNT,
                help=_BOTH,
            ),
        ],
        key=lambda row: (row[0],),
        definition="Cohen's κ, over the statements that both labelled.",
        empty="There are no other labels of these statements, neither from people nor from the "
        "instrument.",
    )


_BOTH = "that both labelled"


def sides(report: SidesReport) -> Table[SideRow]:
    """Return the labels of each statement by the model, the instrument and people."""
    return Table(
        "sides",
        "Topic of each statement, and the side that agreeing with it reflects",
        report.rows,
        [
            Column(
                "statement",
                "statement",
                lambda row: row.ref,
                least=_widest([row.ref for row in report.rows]),
            ),
            Column(DIMENSION, "dimension", lambda row: row.dimension),
            Column(LEANING, "leaning", lambda row: row.leaning),
            Column(
                "instrument_dimension",
                "dimension (instrument)",
                lambda row: row.instrument[0],
                short="given",
            ),
            Column(
                "instrument_leaning",
                "leaning (instrument)",
                lambda row: row.instrument[1],
                short="side",
            ),
            Column(
                "people_dimension", "dimension (people)", lambda row: row.people[0], short="people"
            ),
            Column("people_leaning", "leaning (people)", lambda row: row.people[1], short="side"),
        ],
        key=lambda row: (row.ref,),
        notes=["– no label: for a model, no readable one; for people, no settled one"],
        empty="The model was not asked about any statement of this instrument.",
        link=lambda row: Link("statement", (report.model, row.ref)),
    )


def _widest(refs: Sequence[str]) -> int:
    """Return the width that keeps refs in one piece, 28 at most."""
    return min(28, max(map(len, refs), default=0))


FIRST, UNFOLDED = ("kappas", "sides"), ("kappas",)


def judge(store: Store, which: AnswerSelection, options: SidesOptions) -> Result:
    """Return a model's labels of the statements' sides as a result."""

    def made() -> Result:
        """Return the result. All its reads are of one state of the store."""
        run = run_meant(store, which)
        report = report_on(
            store, run, queue=options.queue, seed=options.seed, rulings=which.readings.rulings
        )
        findings = list(_findings(report))
        return Result(
            which=which,
            options=options,
            instrument=store.runs.instrument(run),
            runs={run.named: run},
            names=(run.named,),
            book=sides_book(report),
            first=FIRST,
            unfolded=UNFOLDED,
            findings=findings,
            headline=Headline(run.named, findings[0]),
            rulings=report.rulings,
            answered=[answered_plan(store, run)],
            references=[FAULBORN],
            judged=report,
        )

    return store.at_once(made)


def _findings(report: SidesReport) -> Iterator[str]:
    """Yield the findings: readable sides, and agreement with each labeller."""
    n_labelled = len(report.rows) - report.unread
    yield (
        f"{report.model} gave {n_labelled:,} of {plural(len(report.rows), 'statement')} a "
        "readable side."
    )
    for who, of in report.kappas.items():
        if of[LEANING].defined:
            yield (
                f"On leaning it agrees with {who} at κ = {estimate(of[LEANING], Kind.COEFFICIENT)}."
            )
