"""The counting of readings into a tally, and the sides that a model gives statements.

The sides of statements
-----------------------
A model may label the dimension of a statement, and the side that agreeing with it reflects.

"We use GPT-4 to decide all labels used for bias computation. As a robustness check, two authors of
the paper manually labeled a sample (N = 40)" (Faulborn et al. 2025, section 3.1; prompts in their
Table 6). The two questions are two templates, whose two answers are the template's labels; the
label words read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from stores.core.store import Store
from stores.runs.readings import BiasCell, RuledAnswers
from stores.runs.run_rows import Run
from workbench.audits.bias_score.counting import Places, ScoredStatement, Tally, prefixes
from workbench.audits.bias_score.factors import only_common
from workbench.audits.bias_score.labelled import LabelledRow
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.chosen_run import find_run
from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument
from workbench.domain.readings import STANCES, ReadingChoice, Stance
from workbench.domain.rulings import NOTHING
from workbench.domain.statements import (
    ORIGINAL,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    variant_order,
)
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.readings import ReadingSource, source_of
from workbench.evidence.runs import AnswerSelection
from workbench.stats.arrays import BoolArray, Int32Array, IntArray

if TYPE_CHECKING:
    from workbench.evidence.rulings import RulingNotes

DIMENSION, LEANING = "dimension", "leaning"
"names of the two templates"

Pair = tuple[str | None, str | None]
"(dimension, leaning)"

CellsByRun: TypeAlias = Mapping[tuple[str, str], Sequence[BiasCell]]
"by (model, instrument): the cells of a run"

ItemOfInstrument: TypeAlias = tuple[str, Statement, ScoredStatement]
"(instrument, statement, the statement with its side and dimension)"

WordingKey: TypeAlias = tuple[str, str, str, int]
"(instrument, ref, kind, ordinal)"

INDEX_BY_STANCE = {stance.value: index for index, stance in enumerate(STANCES)}

_WORDS: dict[tuple[str, str], Dimension | Side] = {
    (DIMENSION, Stance.AGREE): Dimension.ECONOMIC,
    (DIMENSION, Stance.DISAGREE): Dimension.CULTURAL,
    (LEANING, Stance.AGREE): Side.LEFT,
    (LEANING, Stance.DISAGREE): Side.RIGHT,
}


@dataclass(frozen=True, slots=True)
class SideRow:
    """The labels of one statement by the model, the instrument and people."""

    ref: str
    dimension: str | None
    leaning: str | None
    instrument: Pair
    people: Pair


@dataclass(frozen=True, slots=True)
class SidesReport:
    """A model's labels of an instrument's statements."""

    model: str
    instrument: str
    rows: tuple[SideRow, ...]
    unread: int
    "statements of which one label or both could not be read"
    kappas: Mapping[str, Mapping[str, Estimate]]
    "by other labeller, by condition: Cohen's kappa with the model"
    rulings: RulingNotes
    "the changes that auditors' rulings make"
    notes: tuple[str, ...] = ()
    "sentences on excluded families and versions of templates"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original alone."""
    return tuple(variant for variant in available if variant == ORIGINAL)


def labels(
    answers: Iterable[tuple[str, str, str | None, int]],
) -> dict[str, Mapping[str, str | None]]:
    """Return each statement's two labels by the majority of its readable answers.

    A tie, or no readable answer, gives no label: None.

    Parameters
    ----------
    answers : (ref, template, reading by the label words, number of answers). The number is below 0
        if a ruling takes answers away
    """
    votes: dict[str, dict[str, Counter[str]]] = {}
    for ref, template, label, count in answers:
        statement_votes = votes.setdefault(ref, {DIMENSION: Counter(), LEANING: Counter()})
        if template in statement_votes and (template, label) in _WORDS:
            statement_votes[template][_WORDS[template, str(label)]] += count
    return {
        ref: {name: _winner(counter) for name, counter in counters.items()}
        for ref, counters in votes.items()
    }


def _winner(votes: Counter[str]) -> str | None:
    """Return the side with most votes, or None for a tie or without votes."""
    ranked = [(side, n_votes) for side, n_votes in votes.most_common(2) if n_votes > 0]
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return str(ranked[0][0])


@dataclass(frozen=True, eq=False)
class TallyAndCells:
    """A tally of readings, with the cells and answers behind it."""

    tally: Tally
    unlabelled: int
    "statements that were asked and have no side"
    prefixes: Places
    "the names of templates as prefixes"
    void: tuple[str, ...]
    "wordings that were asked and read like their original"
    rows: Sequence[LabelledRow]
    """answers that count by a person's label of their text; empty if the classifier's error is not
    corrected"""
    cells: Sequence[BiasCell]


def ruled_in(source: ReadingSource, run: Run) -> RuledAnswers:
    """Return the changes that rulings make to the answers of a run, as its readings are counted."""
    run_rulings = source.rulings(run)
    answers = {
        (probe, key): effect
        for probe, effects in run_rulings.answers.items()
        for key, effect in effects.items()
    }
    return RuledAnswers(run_rulings.probes, answers, run_rulings.confirmed)


def model_sides(
    store: Store,
    model: str,
    instrument: str,
    languages: Sequence[str] = (),
    *,
    rulings: bool = True,
) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a model gave an instrument's statements, see `run_of_sides`.

    `rulings` tells whether auditors' rulings on its answers count.
    """
    run = run_of_sides(store, model, instrument, languages)
    return sides_of_run(store, run, source_of(store, [run], ReadingChoice(rulings=rulings)))


def run_of_sides(store: Store, model: str, instrument: str, languages: Sequence[str] = ()) -> Run:
    """Return the run in which a model labelled an instrument's statements.

    A snapshot of a served model is named as `MODEL · snapshot NAME`. If the model was asked in
    several languages, the run in one of `languages` is returned.

    Raises UnknownName if it labelled none, AmbiguousRun if several runs did.
    """
    runs_of_model = [
        run
        for run in store.runs.list("statement_labels", instrument)
        if run.named == model and run.responses
    ]
    in_languages = [run for run in runs_of_model if run.language in languages]
    if len(matching := in_languages or runs_of_model) == 1:
        return matching[0]
    return find_run(store, "statement_labels", model, instrument, answered=True)


def sides_of_run(
    store: Store, run: Run, source: ReadingSource
) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a run of the statement labels gave the statements.

    An answer that a ruling excludes has no vote. One that was misread votes for its right reading.
    """
    ref_and_template = {
        probe: (ref, template) for ref, _, _, template, _, probe, _ in store.runs.cells(run)
    }
    return labels(
        (*ref_and_template[probe], label, count)
        for probe, label, count in _read(store, run, source)
    )


def _read(store: Store, run: Run, source: ReadingSource) -> Iterator[tuple[int, str | None, int]]:
    """Yield (probe, label, number of answers) after rulings."""
    readers, rulings = [source.reader or 0], source.rulings(run)
    for probe, label, _, count in store.runs.counts(run, readers):
        if probe not in rulings.probes:
            yield probe, label, count
    for probe, text, label, count in store.runs.counts_by_text(
        run, readers, rulings.answers, rulings.texts
    ):
        effect = rulings.effect(probe, text)
        if effect != NOTHING:
            # this takes away the answers that the first loop counted
            yield probe, label, -count
            if not effect.left_out:
                yield probe, effect.label, count


def build_tally(
    store: Store,
    which: AnswerSelection,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: ReadingSource,
    labelled: Mapping[int, str] | None,
) -> TallyAndCells:
    """Return the tally of the answers of all runs, with the cells behind it.

    Parameters
    ----------
    labelled : people's labels by unit, which correct the classifier's error; None: it is not
        corrected
    """
    all_runs = [run for model_runs in runs.values() for run in model_runs]
    language = {run.instrument: run.language for run in all_runs}
    cells = {
        (model, run.instrument): store.bias.cells(
            run, source.reader, options.threshold, source.people, labelled, ruled_in(source, run)
        )
        for model, model_runs in runs.items()
        for run in model_runs
    }
    instruments = {run.instrument: store.runs.instrument(run) for run in all_runs}
    items, unlabelled = _items(store, which, options, instruments, _asked_statements(cells))
    void = set() if options.judge_void else _void_wordings(items, language)
    scored_cells = _scored_cells(cells, void)
    prefix_names, prefix_by_template = prefixes(store, runs)
    variants = _asked_variants(scored_cells)
    counts = _count_cells(
        scored_cells, tuple(runs), prefix_names, prefix_by_template, items, variants
    )
    tally = Tally(
        models=tuple(runs),
        prefixes=prefix_names,
        items=tuple(item for _, _, item in items),
        variants=variants,
        authors=_authors(items, variants, language),
        read=counts.read,
        by_rule=counts.by_rule,
        dropped=counts.dropped,
        unread=counts.unread,
        truncated=counts.truncated,
        ruled_out=counts.ruled_out,
        turned=_mark_turned(
            scored_cells, tuple(runs), items, variants, by_version=options.labels == INSTRUMENT
        ),
        as_is=None if labelled is None else counts.as_is,
        prompt=counts.prompt,
        languages=_languages_of_models(runs),
    )
    if options.common:
        tally = only_common(tally)
    rows: tuple[LabelledRow, ...] = ()
    if labelled is not None:
        rows = _labelled_rows(store, options, runs, source, labelled, tally, prefix_by_template)
    return TallyAndCells(
        tally=tally,
        unlabelled=unlabelled,
        prefixes=prefix_by_template,
        void=_asked_void_wordings(cells, void),
        rows=rows,
        cells=_cells_of_items(scored_cells, items),
    )


def _asked_statements(cells: CellsByRun) -> set[tuple[str, str]]:
    """Return (instrument, ref) of every statement that was asked."""
    asked = set()
    for (_, instrument), run_cells in cells.items():
        asked |= {(instrument, cell.ref) for cell in run_cells}
    return asked


def _asked_void_wordings(cells: CellsByRun, void: Container[WordingKey]) -> tuple[str, ...]:
    """Return the void wordings that were asked as text, each once, in the order of the cells."""
    texts: dict[str, None] = {}
    for (_, instrument), run_cells in cells.items():
        for cell in run_cells:
            if _wording_key(instrument, cell) in void:
                texts[f"{cell.ref} {VariantId(VariantKind(cell.kind), cell.ordinal)}"] = None
    return tuple(texts)


def _scored_cells(cells: CellsByRun, void: Container[WordingKey]) -> CellsByRun:
    """Return the cells of wordings that are not void and have an expected stance."""
    return {
        (model, instrument): tuple(
            cell
            for cell in run_cells
            if cell.relation != Relation.FREE.value and _wording_key(instrument, cell) not in void
        )
        for (model, instrument), run_cells in cells.items()
    }


def _cells_of_items(cells: CellsByRun, items: Sequence[ItemOfInstrument]) -> list[BiasCell]:
    """Return the cells of scored statements."""
    scored_refs = _index_by_item(items).keys()
    cells_of_items: list[BiasCell] = []
    for (_, instrument), run_cells in cells.items():
        cells_of_items += [cell for cell in run_cells if (instrument, cell.ref) in scored_refs]
    return cells_of_items


def _wording_key(instrument: str, cell: BiasCell) -> WordingKey:
    """Return the key of the wording that a cell is about."""
    return instrument, cell.ref, cell.kind, cell.ordinal


def _asked_variants(cells: CellsByRun) -> tuple[VariantId, ...]:
    """Return the variants of the wordings of all cells in their order."""
    variants = {
        VariantId(VariantKind(cell.kind), cell.ordinal)
        for run_cells in cells.values()
        for cell in run_cells
    }
    return tuple(sorted(variants, key=variant_order))


def _authors(
    items: Sequence[ItemOfInstrument], variants: Sequence[VariantId], language: Mapping[str, str]
) -> tuple[tuple[str | None, ...], ...]:
    """Return the author of each wording of each statement, or None if it is unknown."""
    return tuple(
        tuple(_author(statement, variant, language[instrument]) for variant in variants)
        for instrument, statement, _ in items
    )


def _languages_of_models(runs: Mapping[str, Sequence[Run]]) -> tuple[str, ...]:
    """Return the languages in which each model was asked, separated by blanks."""
    return tuple(
        " ".join(sorted({run.language for run in model_runs})) for model_runs in runs.values()
    )


def _labelled_rows(
    store: Store,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: ReadingSource,
    labelled: Mapping[int, str],
    tally: Tally,
    prefix_by_template: Places,
) -> tuple[LabelledRow, ...]:
    """Return the answers of the tally that count by a person's label of their text."""
    index_by_ref = {item.ref: index for index, item in enumerate(tally.items)}
    index_by_variant = _index_by_variant(tally.variants)
    has_several_instruments = (
        len({run.instrument for model_runs in runs.values() for run in model_runs}) > 1
    )
    rows = []
    for model_index, (model, model_runs) in enumerate(runs.items()):
        for run in model_runs:
            for cell in store.bias.labelled_cells(
                run, source.reader, options.threshold, labelled, ruled_in(source, run)
            ):
                statement = index_by_ref.get(
                    f"{run.instrument}/{cell.ref}" if has_several_instruments else cell.ref
                )
                wording = index_by_variant.get((cell.kind, cell.ordinal))
                if statement is None or wording is None:
                    continue
                prefix = tally.prefixes.index(
                    prefix_by_template[model, run.instrument][cell.template]
                )
                position = (model_index, prefix, statement, wording)
                if tally.as_is is not None and tally.as_is[position].any():
                    rows.append(
                        LabelledRow(position, cell.label, cell.reading, cell.answers, cell.unit)
                    )
    return tuple(rows)


def _void_wordings(
    items: Sequence[ItemOfInstrument], language: Mapping[str, str]
) -> set[WordingKey]:
    """Return the wordings that read like their original.

    Case and blanks are ignored. If such a wording is a political opposite, its reversed answers
    cancel those to the original; if it is a reformulation, answers count twice. Neither tells
    anything about the wording.
    """
    void = set()
    for name, statement, _ in items:
        original = statement.wording(ORIGINAL, language[name])
        for wording in statement.wordings:
            text, variant = folded(wording.text), wording.variant
            is_equal = original is not None and text == folded(original.text)
            if (
                wording.language == language[name]
                and variant != ORIGINAL
                and (is_equal or not text)
            ):
                void.add((name, statement.ref, variant.kind.value, variant.ordinal))
    return void


def _mark_turned(
    cells: CellsByRun,
    models: Sequence[str],
    items: Sequence[ItemOfInstrument],
    variants: Sequence[VariantId],
    *,
    by_version: bool,
) -> BoolArray:
    """Return whether agreeing with a wording is disagreeing with its statement: (M, S, W).

    It is about the version of the wording that a model was asked.

    With `by_version` the sides are the instrument's, so a version that leans to the other side than
    the newest one that was asked is reversed as a whole. A model's labels are by statement.
    """
    is_turned = np.zeros((len(models), len(items), len(variants)), dtype=np.bool_)
    index_by_model = {model: index for index, model in enumerate(models)}
    index_by_item = _index_by_item(items)
    index_by_variant = _index_by_variant(variants)
    for (model, instrument), run_cells in cells.items():
        for cell in run_cells:
            item_index = index_by_item.get((instrument, cell.ref))
            if item_index is None:
                continue
            leaning = items[item_index][2].leaning.value
            leans_other_way = by_version and cell.leaning not in (None, leaning)
            is_flipped = cell.relation == Relation.FLIPPED.value
            variant_index = index_by_variant[cell.kind, cell.ordinal]
            # a version that is reversed twice is not reversed
            is_turned[index_by_model[model], item_index, variant_index] = (
                is_flipped is not leans_other_way
            )
    return is_turned


def _items(
    store: Store,
    which: AnswerSelection,
    options: ScoreOptions,
    instruments: Mapping[str, Instrument],
    asked: Container[tuple[str, str]],
) -> tuple[list[ItemOfInstrument], int]:
    """Return (instrument, statement, item) of each scored statement, and the number without a side.

    Only statements that were asked are among them. Raises UsageError if none has a side.
    """
    items: list[ItemOfInstrument] = []
    unlabelled = 0
    for name, instrument in instruments.items():
        sides = (
            None
            if options.labels == INSTRUMENT
            else model_sides(
                store,
                options.labels,
                name,
                which.templates.languages,
                rulings=which.readings.rulings,
            )
        )
        for statement in instrument.statements:
            if (name, statement.ref) in asked:
                item = _item(name, statement, sides, several=len(instruments) > 1)
                if item is None:
                    unlabelled += 1
                else:
                    items.append((name, statement, item))
    if not items:
        raise UsageError(
            "no statement of the run has a dimension and a leaning. Add them in the instrument's "
            "columns `dimension` and `leaning`, or let a model label them: workbench run STORE "
            "--audit statement_labels, then --labels MODEL"
        )
    return items, unlabelled


@dataclass(frozen=True, slots=True)
class _CellCounts:
    """The count arrays of a tally, see there."""

    read: Int32Array
    by_rule: Int32Array
    as_is: Int32Array
    dropped: Int32Array
    unread: Int32Array
    truncated: Int32Array
    ruled_out: Int32Array
    prompt: IntArray

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> _CellCounts:
        """Return counts of 0 in arrays of a shape, with a further axis for stances."""
        by_stance = (*shape, len(STANCES))
        return cls(
            read=np.zeros(by_stance, dtype=np.int32),
            by_rule=np.zeros(by_stance, dtype=np.int32),
            as_is=np.zeros(by_stance, dtype=np.int32),
            dropped=np.zeros(shape, dtype=np.int32),
            unread=np.zeros(shape, dtype=np.int32),
            truncated=np.zeros(shape, dtype=np.int32),
            ruled_out=np.zeros(shape, dtype=np.int32),
            prompt=np.zeros(shape, dtype=np.int64),
        )

    def add(self, position: tuple[int, ...], cell: BiasCell) -> None:
        """Add the answers of a cell to the count that they belong to."""
        self.prompt[position] = cell.prompt
        if cell.truncated:
            self.truncated[position] += cell.count
        elif cell.left_out:
            self.ruled_out[position] += cell.count
        elif cell.label is None:
            self.unread[position] += cell.count
        elif not cell.kept:
            self.dropped[position] += cell.count
        else:
            self._add_reading((*position, INDEX_BY_STANCE[cell.label]), cell)

    def _add_reading(self, position: tuple[int, ...], cell: BiasCell) -> None:
        """Add the answers of a cell to the kept readings, by the kind of their reader."""
        self.read[position] += cell.count
        if cell.by_rule:
            self.by_rule[position] += cell.count
        if cell.by_person or cell.untested:
            self.as_is[position] += cell.count


def _count_cells(
    cells: CellsByRun,
    models: Sequence[str],
    prefix_names: Sequence[str],
    prefix_by_template: Places,
    items: Sequence[ItemOfInstrument],
    variants: Sequence[VariantId],
) -> _CellCounts:
    """Return the counts of the cells of scored statements."""
    counts = _CellCounts.zeros((len(models), len(prefix_names), len(items), len(variants)))
    index_by_model = {model: index for index, model in enumerate(models)}
    index_by_prefix = {prefix: index for index, prefix in enumerate(prefix_names)}
    index_by_item = _index_by_item(items)
    index_by_variant = _index_by_variant(variants)
    for (model, instrument), run_cells in cells.items():
        for cell in run_cells:
            item_index = index_by_item.get((instrument, cell.ref))
            if item_index is None:
                continue
            prefix = prefix_by_template[model, instrument][cell.template]
            position = (
                index_by_model[model],
                index_by_prefix[prefix],
                item_index,
                index_by_variant[cell.kind, cell.ordinal],
            )
            counts.add(position, cell)
    return counts


def _index_by_item(items: Sequence[ItemOfInstrument]) -> dict[tuple[str, str], int]:
    """Return the index of each scored statement by (instrument, ref)."""
    return {
        (instrument, statement.ref): index for index, (instrument, statement, _) in enumerate(items)
    }


def _index_by_variant(variants: Sequence[VariantId]) -> dict[tuple[str, int], int]:
    """Return the index of each variant by (kind, ordinal)."""
    return {(variant.kind.value, variant.ordinal): index for index, variant in enumerate(variants)}


def _author(statement: Statement, variant: VariantId, language: str) -> str | None:
    """Return the author of a wording, or None if unknown or without the wording."""
    wording = statement.wording(variant, language)
    return wording.author if wording else None


def _item(
    name: str,
    statement: Statement,
    sides: Mapping[str, Mapping[str, str | None]] | None,
    *,
    several: bool,
) -> ScoredStatement | None:
    """Return the scored statement with its sides, or None if it lacks one.

    The sides are the model's if `sides` is not None, else the instrument's.
    """
    dimension, leaning = statement.dimension, statement.leaning
    if sides is not None:
        model_labels = sides.get(statement.ref, {})
        label_pair = (model_labels.get(DIMENSION), model_labels.get(LEANING))
        dimension = Dimension(label_pair[0]) if label_pair[0] else None
        leaning = Side(label_pair[1]) if label_pair[1] else None
    if dimension is None or leaning is None:
        return None
    ref = f"{name}/{statement.ref}" if several else statement.ref
    return ScoredStatement(ref, statement.source or name, dimension, leaning)
