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
from typing import TYPE_CHECKING

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
from workbench.domain.readings import STANCES, Readings, Stance
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
class Counted:
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
    return sides_of_run(store, run, source_of(store, [run], Readings(rulings=rulings)))


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


def tallied(
    store: Store,
    which: AnswerSelection,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: ReadingSource,
    labelled: Mapping[int, str] | None,
) -> Counted:
    """Return the readings of all runs as arrays."""
    language = {run.instrument: run.language for model_runs in runs.values() for run in model_runs}
    cells = {
        (model, run.instrument): store.bias.cells(
            run, source.reader, options.threshold, source.people, labelled, ruled_in(source, run)
        )
        for model, model_runs in runs.items()
        for run in model_runs
    }
    asked_refs = {(name, cell.ref) for (_, name), run_cells in cells.items() for cell in run_cells}
    instruments = {
        run.instrument: store.runs.instrument(run)
        for model_runs in runs.values()
        for run in model_runs
    }
    items, unlabelled = _items(store, which, options, instruments, asked_refs)
    void = set() if options.judge_void else _void(items, language)
    asked_void = dict.fromkeys(
        f"{cell.ref} {VariantId(VariantKind(cell.kind), cell.ordinal)}"
        for (_, name), run_cells in cells.items()
        for cell in run_cells
        if (name, cell.ref, cell.kind, cell.ordinal) in void
    )
    cells = {
        (model, name): tuple(
            cell
            for cell in run_cells
            if cell.relation != Relation.FREE.value
            and (name, cell.ref, cell.kind, cell.ordinal) not in void
        )
        for (model, name), run_cells in cells.items()
    }
    all_cells = [cell for run_cells in cells.values() for cell in run_cells]
    variants = tuple(
        sorted(
            {VariantId(VariantKind(cell.kind), cell.ordinal) for cell in all_cells},
            key=variant_order,
        )
    )
    names, prefix_names = prefixes(store, runs)
    authors = tuple(
        tuple(_author(statement, variant, language[name]) for variant in variants)
        for name, statement, _ in items
    )
    is_turned = _turned(
        cells, tuple(runs), items, variants, by_version=options.labels == INSTRUMENT
    )
    refs = [(name, statement.ref) for name, statement, _ in items]
    arrays = _counted(cells, tuple(runs), names, prefix_names, refs, variants)
    scored_items = tuple(item for _, _, item in items)
    index_by_ref = {
        f"{name}/{statement.ref}": index for index, (name, statement, _) in enumerate(items)
    }
    used_cells = [
        cell
        for (_, name), run_cells in cells.items()
        for cell in run_cells
        if f"{name}/{cell.ref}" in index_by_ref
    ]
    kept_readings, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt = arrays
    languages = tuple(
        " ".join(sorted({run.language for run in model_runs})) for model_runs in runs.values()
    )
    tally = Tally(
        tuple(runs),
        names,
        scored_items,
        variants,
        authors,
        kept_readings,
        by_rule,
        dropped,
        unread,
        truncated,
        ruled_out,
        is_turned,
        None if labelled is None else as_is,
        prompt,
        languages,
    )
    tally = only_common(tally) if options.common else tally
    rows = (
        ()
        if labelled is None
        else _labelled_rows(store, options, runs, source, labelled, tally, prefix_names)
    )
    return Counted(tally, unlabelled, prefix_names, tuple(asked_void), rows, used_cells)


def _labelled_rows(
    store: Store,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: ReadingSource,
    labelled: Mapping[int, str],
    tally: Tally,
    called: Places,
) -> tuple[LabelledRow, ...]:
    """Return the answers of the tally that count by a person's label of their text."""
    index_by_ref = {item.ref: index for index, item in enumerate(tally.items)}
    index_by_wording = {
        (variant.kind.value, variant.ordinal): index for index, variant in enumerate(tally.variants)
    }
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
                wording = index_by_wording.get((cell.kind, cell.ordinal))
                if statement is None or wording is None:
                    continue
                prefix = tally.prefixes.index(called[model, run.instrument][cell.template])
                position = (model_index, prefix, statement, wording)
                if tally.as_is is not None and tally.as_is[position].any():
                    rows.append(
                        LabelledRow(position, cell.label, cell.reading, cell.answers, cell.unit)
                    )
    return tuple(rows)


def _void(
    items: Sequence[tuple[str, Statement, ScoredStatement]], language: Mapping[str, str]
) -> set[tuple[str, str, str, int]]:
    """Return (instrument, ref, kind, ordinal) of wordings that read like their original.

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


def _turned(
    cells: Mapping[tuple[str, str], Sequence[BiasCell]],
    models: Sequence[str],
    items: Sequence[tuple[str, Statement, ScoredStatement]],
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
    index_by_model = {name: index for index, name in enumerate(models)}
    index_by_item = {
        (name, statement.ref): index for index, (name, statement, _) in enumerate(items)
    }
    index_by_variant = {
        (variant.kind.value, variant.ordinal): index for index, variant in enumerate(variants)
    }
    for (model, name), run_cells in cells.items():
        for cell in run_cells:
            item_index = index_by_item.get((name, cell.ref))
            if item_index is not None:
                leaning = items[item_index][2].leaning.value
                leans_other_way = by_version and cell.leaning not in (None, leaning)
                position = (
                    index_by_model[model],
                    item_index,
                    index_by_variant[cell.kind, cell.ordinal],
                )
                # a version that is reversed twice is not reversed
                is_turned[position] = (
                    cell.relation == Relation.FLIPPED.value
                ) is not leans_other_way
    return is_turned


def _items(
    store: Store,
    which: AnswerSelection,
    options: ScoreOptions,
    instruments: Mapping[str, Instrument],
    asked: Container[tuple[str, str]],
) -> tuple[list[tuple[str, Statement, ScoredStatement]], int]:
    """Return (instrument, statement, item) of each scored statement, and the number without a side.

    Only statements that were asked are among them. Raises UsageError if none has a side.
    """
    items: list[tuple[str, Statement, ScoredStatement]] = []
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


def _counted(
    cells: Mapping[tuple[str, str], Sequence[BiasCell]],
    models: Sequence[str],
    names: Sequence[str],
    called: Places,
    items: Sequence[tuple[str, str]],
    variants: Sequence[VariantId],
) -> tuple[
    Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, IntArray
]:
    """Return the count arrays of a tally.

    They are `read`, `by_rule`, `dropped`, `unread`, `truncated`, `ruled_out`, `as_is` and `prompt`.
    """
    shape = (len(models), len(names), len(items), len(variants))
    kept_readings, by_rule, as_is = (
        np.zeros((*shape, len(STANCES)), dtype=np.int32) for _ in range(3)
    )
    dropped, unread, truncated, ruled_out = (np.zeros(shape, dtype=np.int32) for _ in range(4))
    prompt = np.zeros(shape, dtype=np.int64)
    index_by_model, index_by_prefix, index_by_item = (
        {key: index for index, key in enumerate(axis)} for axis in (models, names, items)
    )
    index_by_variant = {
        (variant.kind.value, variant.ordinal): index for index, variant in enumerate(variants)
    }
    index_by_stance = {stance.value: index for index, stance in enumerate(STANCES)}
    for (model, name), run_cells in cells.items():
        for cell in run_cells:
            item_index = index_by_item.get((name, cell.ref))
            if item_index is None:
                continue
            prefix = called[model, name][cell.template]
            position = (
                index_by_model[model],
                index_by_prefix[prefix],
                item_index,
                index_by_variant[cell.kind, cell.ordinal],
            )
            prompt[position] = cell.prompt
            if cell.truncated:
                truncated[position] += cell.count
            elif cell.left_out:
                ruled_out[position] += cell.count
            elif cell.label is None:
                unread[position] += cell.count
            elif not cell.kept:
                dropped[position] += cell.count
            else:
                kept_readings[(*position, index_by_stance[cell.label])] += cell.count
                by_rule[(*position, index_by_stance[cell.label])] += (
                    cell.count if cell.by_rule else 0
                )
                as_is[(*position, index_by_stance[cell.label])] += (
                    cell.count if cell.by_person or cell.untested else 0
                )
    return kept_readings, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt


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
