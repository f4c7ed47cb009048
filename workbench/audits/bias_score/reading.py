"""Readings of free text ─→ a tally, and the sides that a model gives statements.

The sides of statements
-----------------------
Letting a model say what a statement is about and which side agreeing with it reflects.

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
from workbench.evidence.readings import Source, source_of
from workbench.evidence.runs import Which
from workbench.stats.arrays import BoolArray, Int32Array, IntArray

if TYPE_CHECKING:
    from workbench.evidence.rulings import Told

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
    """One statement and who says what of it."""

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
    "with whom -> condition -> Cohen's kappa with the model"
    rulings: Told
    "what auditors' rulings change"
    notes: tuple[str, ...] = ()
    "which families and versions of templates are left out, in sentences"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original alone."""
    return tuple(variant for variant in available if variant == ORIGINAL)


def labels(
    answers: Iterable[tuple[str, str, str | None, int]],
) -> dict[str, Mapping[str, str | None]]:
    """Return each statement's two labels by the majority of its readable answers.

    `answers`: (ref, template, what the label words read, how often; less than 0 where a ruling
    takes answers away). A tie, or no readable answer, is no label: None.
    """
    votes: dict[str, dict[str, Counter[str]]] = {}
    for ref, template, label, count in answers:
        held = votes.setdefault(ref, {DIMENSION: Counter(), LEANING: Counter()})
        if template in held and (template, label) in _WORDS:
            held[template][_WORDS[template, str(label)]] += count
    return {
        ref: {name: _winner(counter) for name, counter in of.items()} for ref, of in votes.items()
    }


def _winner(votes: Counter[str]) -> str | None:
    ranked = [(side, n) for side, n in votes.most_common(2) if n > 0]
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return str(ranked[0][0])


@dataclass(frozen=True, eq=False)
class Counted:
    """Readings as arrays, with what they were made of."""

    tally: Tally
    unlabelled: int
    "statements that were asked and have no side"
    prefixes: Places
    "what templates are called as prefixes"
    void: tuple[str, ...]
    "wordings that were asked and read like their original"
    rows: Sequence[LabelledRow]
    """answers that count by a person's label of their text, if the classifier's error is corrected
    for"""
    cells: Sequence[BiasCell]


def ruled_in(source: Source, run: Run) -> RuledAnswers:
    """Return what rulings change in a run, as its readings are counted."""
    found = source.rulings(run)
    answers = {
        (probe, key): effect for probe, of in found.answers.items() for key, effect in of.items()
    }
    return RuledAnswers(found.probes, answers, found.confirmed)


def model_sides(
    store: Store,
    model: str,
    instrument: str,
    languages: Sequence[str] = (),
    *,
    rulings: bool = True,
) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a model gave an instrument's statements; see `run_of_sides`.

    `rulings`: whether auditors' rulings on its answers count.
    """
    run = run_of_sides(store, model, instrument, languages)
    return sides_of_run(store, run, source_of(store, [run], Readings(rulings=rulings)))


def run_of_sides(store: Store, model: str, instrument: str, languages: Sequence[str] = ()) -> Run:
    """Return the run in which a model labelled an instrument's statements; of a served model's
    snapshots one is named as `MODEL · snapshot NAME`. Where it was asked in several languages,
    those in one of `languages` are meant.

    Raises UnknownName where it labelled none, AmbiguousRun where several did.
    """
    named = [
        run
        for run in store.runs.list("statement_labels", instrument)
        if run.named == model and run.responses
    ]
    spoken = [run for run in named if run.language in languages]
    if len(one := spoken or named) == 1:
        return one[0]
    return find_run(store, "statement_labels", model, instrument, answered=True)


def sides_of_run(store: Store, run: Run, source: Source) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a run of the statement labels gave the statements. An answer that a
    ruling leaves out has no vote, one that was misread votes for its right reading.
    """
    where = {probe: (ref, template) for ref, _, _, template, _, probe, _ in store.runs.cells(run)}
    return labels((*where[probe], label, n) for probe, label, n in _read(store, run, source))


def _read(store: Store, run: Run, source: Source) -> Iterator[tuple[int, str | None, int]]:
    """Yield (probe, label, how many answers) after rulings."""
    readers, rulings = [source.reader or 0], source.rulings(run)
    for probe, label, _, n in store.runs.counts(run, readers):
        if probe not in rulings.probes:
            yield probe, label, n
    for probe, text, label, n in store.runs.counts_by_text(
        run, readers, rulings.answers, rulings.texts
    ):
        effect = rulings.effect(probe, text)
        if effect != NOTHING:
            yield probe, label, -n
            if not effect.left_out:
                yield probe, effect.label, n


def tallied(
    store: Store,
    which: Which,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str] | None,
) -> Counted:
    """Return the readings of all runs as arrays."""
    language = {run.instrument: run.language for of in runs.values() for run in of}
    cells = {
        (model, run.instrument): store.bias.cells(
            run, source.reader, options.threshold, source.people, labelled, ruled_in(source, run)
        )
        for model, of in runs.items()
        for run in of
    }
    asked = {(name, cell.ref) for (_, name), found in cells.items() for cell in found}
    instruments = {run.instrument: store.runs.instrument(run) for of in runs.values() for run in of}
    items, unlabelled = _items(store, which, options, instruments, asked)
    void = set() if options.judge_void else _void(items, language)
    asked_void = dict.fromkeys(
        f"{cell.ref} {VariantId(VariantKind(cell.kind), cell.ordinal)}"
        for (_, name), found in cells.items()
        for cell in found
        if (name, cell.ref, cell.kind, cell.ordinal) in void
    )
    cells = {
        (model, name): tuple(
            cell
            for cell in found
            if cell.relation != Relation.FREE.value
            and (name, cell.ref, cell.kind, cell.ordinal) not in void
        )
        for (model, name), found in cells.items()
    }
    every = [cell for found in cells.values() for cell in found]
    variants = tuple(
        sorted({VariantId(VariantKind(c.kind), c.ordinal) for c in every}, key=variant_order)
    )
    names, called = prefixes(store, runs)
    authors = tuple(
        tuple(_author(statement, variant, language[name]) for variant in variants)
        for name, statement, _ in items
    )
    turned = _turned(cells, tuple(runs), items, variants, by_version=options.labels == INSTRUMENT)
    refs = [(name, statement.ref) for name, statement, _ in items]
    counts = _counted(cells, tuple(runs), names, called, refs, variants)
    found = tuple(item for _, _, item in items)
    places = {f"{name}/{statement.ref}": place for place, (name, statement, _) in enumerate(items)}
    used = [
        cell for (_, name), of in cells.items() for cell in of if f"{name}/{cell.ref}" in places
    ]
    read_, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt = counts
    languages = tuple(" ".join(sorted({run.language for run in of})) for of in runs.values())
    tally = Tally(
        tuple(runs),
        names,
        found,
        variants,
        authors,
        read_,
        by_rule,
        dropped,
        unread,
        truncated,
        ruled_out,
        turned,
        None if labelled is None else as_is,
        prompt,
        languages,
    )
    tally = only_common(tally) if options.common else tally
    rows = (
        ()
        if labelled is None
        else _labelled_rows(store, options, runs, source, labelled, tally, called)
    )
    return Counted(tally, unlabelled, called, tuple(asked_void), rows, used)


def _labelled_rows(
    store: Store,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str],
    tally: Tally,
    called: Places,
) -> tuple[LabelledRow, ...]:
    """Return the answers of the tally that count by a person's label of their text."""
    refs = {item.ref: place for place, item in enumerate(tally.items)}
    wordings = {(v.kind.value, v.ordinal): place for place, v in enumerate(tally.variants)}
    several = len({run.instrument for of in runs.values() for run in of}) > 1
    rows = []
    for place, (model, of) in enumerate(runs.items()):
        for run in of:
            for cell in store.bias.labelled_cells(
                run, source.reader, options.threshold, labelled, ruled_in(source, run)
            ):
                statement = refs.get(f"{run.instrument}/{cell.ref}" if several else cell.ref)
                wording = wordings.get((cell.kind, cell.ordinal))
                if statement is None or wording is None:
                    continue
                prefix = tally.prefixes.index(called[model, run.instrument][cell.template])
                at = (place, prefix, statement, wording)
                if tally.as_is is not None and tally.as_is[at].any():
                    rows.append(LabelledRow(at, cell.label, cell.reading, cell.answers, cell.unit))
    return tuple(rows)


def _void(
    items: Sequence[tuple[str, Statement, ScoredStatement]], language: Mapping[str, str]
) -> set[tuple[str, str, str, int]]:
    """Return (instrument, ref, kind, ordinal) of wordings that read like their original, case and
    blanks aside.

    Whatever is answered to such a political opposite, turned round, takes away what is answered to
    the original; such a reformulation counts it twice. Neither says anything of the wording.
    """
    found = set()
    for name, statement, _ in items:
        original = statement.wording(ORIGINAL, language[name])
        for wording in statement.wordings:
            text, variant = folded(wording.text), wording.variant
            alike = original is not None and text == folded(original.text)
            if wording.language == language[name] and variant != ORIGINAL and (alike or not text):
                found.add((name, statement.ref, variant.kind.value, variant.ordinal))
    return found


def _turned(
    cells: Mapping[tuple[str, str], Sequence[BiasCell]],
    models: Sequence[str],
    items: Sequence[tuple[str, Statement, ScoredStatement]],
    variants: Sequence[VariantId],
    *,
    by_version: bool,
) -> BoolArray:
    """Return whether agreeing with a wording, in the version that a model was asked, is disagreeing
    with the statement.

    `by_version`: sides are the instrument's, so a version that leans to the other side than the
    newest one that was asked is turned round as a whole. A model's labels are by statement.
    """
    found = np.zeros((len(models), len(items), len(variants)), dtype=np.bool_)
    at_model = {name: place for place, name in enumerate(models)}
    at_item = {(name, s.ref): place for place, (name, s, _) in enumerate(items)}
    at_variant = {(v.kind.value, v.ordinal): place for place, v in enumerate(variants)}
    for (model, name), of in cells.items():
        for cell in of:
            place = at_item.get((name, cell.ref))
            if place is not None:
                leaning = items[place][2].leaning.value
                other = by_version and cell.leaning not in (None, leaning)
                where = (at_model[model], place, at_variant[cell.kind, cell.ordinal])
                found[where] = (cell.relation == Relation.FLIPPED.value) is not other
    return found


def _items(
    store: Store,
    which: Which,
    options: ScoreOptions,
    instruments: Mapping[str, Instrument],
    asked: Container[tuple[str, str]],
) -> tuple[list[tuple[str, Statement, ScoredStatement]], int]:
    """Return (instrument, statement, item) of each statement that was asked and has a side, and how
    many have none.
    """
    found: list[tuple[str, Statement, ScoredStatement]] = []
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
                    found.append((name, statement, item))
    if not found:
        raise UsageError(
            "no statement of the run has a dimension and a leaning. Add them in the instrument's "
            "columns "
            "`dimension` and `leaning`, or let a model label them: workbench run STORE --audit "
            "statement_labels, then "
            "--labels MODEL"
        )
    return found, unlabelled


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
    """Return the arrays `read`, `by_rule`, `dropped`, `unread`, `truncated`, `ruled_out`, `as_is`
    and `prompt` of a tally.
    """
    shape = (len(models), len(names), len(items), len(variants))
    read_, by_rule, as_is = (np.zeros((*shape, len(STANCES)), dtype=np.int32) for _ in range(3))
    dropped, unread, truncated, ruled_out = (np.zeros(shape, dtype=np.int32) for _ in range(4))
    prompt = np.zeros(shape, dtype=np.int64)
    at_model, at_prefix, at_item = (
        {one: place for place, one in enumerate(axis)} for axis in (models, names, items)
    )
    at_variant = {(v.kind.value, v.ordinal): place for place, v in enumerate(variants)}
    at_stance = {stance.value: place for place, stance in enumerate(STANCES)}
    for (model, name), found in cells.items():
        for cell in found:
            item = at_item.get((name, cell.ref))
            if item is None:
                continue
            prefix = called[model, name][cell.template]
            where = (at_model[model], at_prefix[prefix], item, at_variant[cell.kind, cell.ordinal])
            prompt[where] = cell.prompt
            if cell.truncated:
                truncated[where] += cell.count
            elif cell.left_out:
                ruled_out[where] += cell.count
            elif cell.label is None:
                unread[where] += cell.count
            elif not cell.kept:
                dropped[where] += cell.count
            else:
                read_[(*where, at_stance[cell.label])] += cell.count
                by_rule[(*where, at_stance[cell.label])] += cell.count if cell.by_rule else 0
                as_is[(*where, at_stance[cell.label])] += (
                    cell.count if cell.by_person or cell.untested else 0
                )
    return read_, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt


def _author(statement: Statement, variant: VariantId, language: str) -> str | None:
    wording = statement.wording(variant, language)
    return wording.author if wording else None


def _item(
    name: str,
    statement: Statement,
    sides: Mapping[str, Mapping[str, str | None]] | None,
    *,
    several: bool,
) -> ScoredStatement | None:
    dimension, leaning = statement.dimension, statement.leaning
    if sides is not None:
        found = sides.get(statement.ref, {})
        given = (found.get(DIMENSION), found.get(LEANING))
        dimension = Dimension(given[0]) if given[0] else None
        leaning = Side(given[1]) if given[1] else None
    if dimension is None or leaning is None:
        return None
    ref = f"{name}/{statement.ref}" if several else statement.ref
    return ScoredStatement(ref, statement.source or name, dimension, leaning)
