"""Stored next tokens ─gather→ predictions: which prompt of each cell counts, as the arrays that the statistics take.

A cell of the design is one wording of one target under one condition, for one respondent. Where answers, questions or
scales were changed after it was asked, it has a prompt for every context it was asked in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Literal

import numpy as np

from stores.predictions import PredictionRow
from stores.run_rows import Run
from stores.store import Store
from workbench.audits.questionnaire import (
    CONDITION,
    CONTEXT,
    QUESTIONS,
    RESPONDENT,
    SEED,
    TOP,
    Conversations,
    context_key,
    mass,
)
from workbench.audits.questionnaire_conditions import CONDITIONS, ZERO_SHOT, drawn, expanded, is_drawn, people
from workbench.audits.questionnaire_figures import NEVER_ASKED, Condition, Masses, Predictions
from workbench.data import shipped_templates
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Contexts, Form, Meaning, Question, Questionnaire, Role, Survey
from workbench.domain.statements import VariantId, VariantKind, variant_order
from workbench.errors import UsageError
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

AUDIT = "questionnaire"
HUMAN = {Meaning.YES: 1.0, Meaning.NO: 0.0, Meaning.NEUTRAL: float("nan"), Meaning.MISSING: float("nan")}

Mark = Literal["yes", "no", "other"]
Cell = tuple[str, str, int, Condition, str]
"(ref, kind, ordinal, condition, respondent)"
Contextual = Mapping[tuple[Condition, str], str]
"(condition, respondent) -> key of the context that would be shown now"


@dataclass(frozen=True, eq=False)
class Gathered:
    """A run's predictions, and what stands behind each of them."""

    predictions: Predictions
    probe: IntArray
    "(N,): rowid of the prompt"
    other: FloatArray
    "(N,): probability of the ten likeliest tokens that are neither yes nor no"
    outdated: BoolArray
    "(N,): whether the prompt would be put differently now"
    failed: tuple[PredictionRow, ...] = ()
    "prompts that count and have no next tokens"
    left_out: int = 0
    "prompts about targets or respondents that the questionnaire no longer has"


def gather(store: Store, run: Run, instrument: Instrument, questionnaire: Questionnaire, masses: Masses) -> Gathered:
    """Return what a run predicted, one prompt a cell, with people's answers as the scales read them now."""
    asked_for = _conditions(store, run)
    rows = [row for row in store.predictions.of_run(run) if condition_of(row) in asked_for]
    targets = questionnaire.of_role(Role.TARGET)
    now = _current(store, run, rows, instrument, questionnaire)
    chosen = _chosen(rows, {question.ref: question for question in targets}, now)
    refs = [question.ref for question in targets]
    names = [respondent.name for respondent in questionnaire.respondents]
    known, people_known = set(refs), {*names, ""}
    kept = {cell: row for cell, row in chosen.items() if cell[0] in known and cell[4] in people_known}
    answered = {cell: row for cell, row in kept.items() if row.tokens}
    sums = [top_sums(row) for row in answered.values()]
    if masses == "vocabulary":
        both = [masses_of(row, masses) for row in answered.values()]
    else:
        both = [(one["yes"], one["no"]) for one in sums]
    return Gathered(
        predictions=_arrays(
            answered, questionnaire, np.array(both, dtype=np.float64).reshape(-1, 2), _people(store, run, questionnaire)
        ),
        probe=np.array([row.probe for row in answered.values()], dtype=np.int64),
        other=np.array([one["other"] for one in sums], dtype=np.float64),
        outdated=np.array([not _is_current(cell, row, now) for cell, row in answered.items()], dtype=bool),
        failed=tuple(row for row in kept.values() if not row.tokens),
        left_out=len(chosen) - len(kept),
    )


def _conditions(store: Store, run: Run) -> set[Condition]:
    """Return the conditions under which a model was asked. With few answered questions a prompt may have the text of
    one under a condition that it was not asked under, which alone would make figures of a handful of people.
    """
    found: set[Condition] = set()
    for design in map(Design.from_json, store.predictions.designs(run)):
        questions = design.contexts.questions
        for name in expanded(design.contexts.conditions):
            seed = design.seed if is_drawn(name) else 0
            found.add(Condition(name, seed, 0 if name == ZERO_SHOT else questions))
    return found


def _people(store: Store, run: Run, questionnaire: Questionnaire) -> frozenset[str]:
    """Return the names of those whom the designs of a run drew: a prompt without context stands for them, so that it is
    compared with the same people as the others.
    """
    found: set[str] = set()
    for design in map(Design.from_json, store.predictions.designs(run)):
        found |= set(drawn(Survey(questionnaire, design.contexts, design.seed)))
    return frozenset(found)


def condition_of(row: PredictionRow) -> Condition:
    """Return the condition under which a prompt was put."""
    return Condition(row.axes.get(CONDITION, ""), int(row.axes.get(SEED, 0)), int(row.axes.get(QUESTIONS, 0)))


def variant_of(row: PredictionRow) -> VariantId:
    return VariantId(VariantKind(row.kind), row.ordinal)


def masses_of(row: PredictionRow, masses: Masses) -> tuple[float, float]:
    """Return p(yes) and p(no); NaN where the backend does not offer what is asked for."""
    if masses == "vocabulary":
        words = row.words or {}
        return words.get(row.labels[0], float("nan")), words.get(row.labels[1], float("nan"))
    sums = top_sums(row)
    return sums["yes"], sums["no"]


def top_sums(row: PredictionRow) -> dict[Mark, float]:
    """Return how much of the probability of the ten likeliest tokens is yes, no and other."""
    sums: dict[Mark, float] = {"yes": 0.0, "no": 0.0, "other": 0.0}
    for text, log in row.tokens[:TOP]:
        sums[spelled(text, row.labels)] += exp(log)
    return sums


@lru_cache(maxsize=100_000)
def spelled(text: str, labels: tuple[str, str]) -> Mark:
    """Return which of two labels a token spells."""
    if mass([(text, 0.0)], labels[0]):
        return "yes"
    return "no" if mass([(text, 0.0)], labels[1]) else "other"


def _chosen(
    rows: Iterable[PredictionRow], targets: Mapping[str, Question], now: Contextual
) -> dict[Cell, PredictionRow]:
    """Return the prompt that counts in each cell: of those that were answered, or of all where none was, the one that
    would be put now, else the newest.
    """
    chosen: dict[Cell, PredictionRow] = {}
    ranks: dict[Cell, tuple[bool, bool, bool, int]] = {}
    for row in rows:
        cell = (row.ref, row.kind, row.ordinal, condition_of(row), row.axes.get(RESPONDENT, ""))
        as_now = row.ref in targets and _form_of(row) == targets[row.ref].form.value
        rank = (bool(row.tokens), _is_current(cell, row, now), as_now, row.probe)
        if cell not in ranks or rank > ranks[cell]:
            chosen[cell], ranks[cell] = row, rank
    return chosen


def _form_of(row: PredictionRow) -> str:
    return row.template.removesuffix(f"-{ZERO_SHOT}")


def _is_current(cell: Cell, row: PredictionRow, now: Contextual) -> bool:
    context = row.axes.get(CONTEXT)
    return context is None or context == now.get((cell[3], cell[4]))


def _current(
    store: Store, run: Run, rows: Iterable[PredictionRow], instrument: Instrument, questionnaire: Questionnaire
) -> Contextual:
    """Return the contexts that the conditions of this run would show now."""
    wanted: dict[Condition, set[str]] = defaultdict(set)
    for row in rows:
        if CONTEXT in row.axes:
            wanted[condition_of(row)].add(row.axes[RESPONDENT])
    found: dict[tuple[Condition, str], str] = {}
    templates = _templates(store, run, instrument)
    for seed, questions in sorted({(condition.seed, condition.questions) for condition in wanted}):
        survey = Survey(questionnaire, Contexts(questions=questions), seed)
        asking = Conversations(instrument.statements, templates, run.language, survey)
        alike = {c: names for c, names in wanted.items() if (c.seed, c.questions) == (seed, questions)}
        found |= {(condition, name): key for condition, name, key in _keys(asking, alike)}
    return found


def _keys(asking: Conversations, wanted: Mapping[Condition, Collection[str]]) -> Iterator[tuple[Condition, str, str]]:
    """Yield the key of each respondent's context; none where the questionnaire can no longer be asked so."""
    try:
        for person in people(asking.survey):
            for condition, names in wanted.items():
                if person.name in names:
                    yield condition, person.name, context_key(asking.context(condition.name, person))
    except UsageError:
        return


def _templates(store: Store, run: Run, instrument: Instrument) -> tuple[Template, ...]:
    """Return the templates of the run's family as a design would take them now."""
    of_audit = [t for t in instrument.templates if t.audit == AUDIT] or list(shipped_templates(AUDIT))
    used = {template.family for template in store.runs.templates(run)}
    forms = {*map(str, Form), *(f"{form}-{ZERO_SHOT}" for form in Form)}
    return tuple(t for t in of_audit if t.family in used and t.name in forms)


def _arrays(
    rows: Mapping[Cell, PredictionRow], questionnaire: Questionnaire, both: FloatArray, asked: Collection[str]
) -> Predictions:
    """Return rows as arrays. `both`: (N, 2), their masses of yes and no; `asked`: the people whose answers count."""
    targets = questionnaire.of_role(Role.TARGET)
    names = [respondent.name for respondent in questionnaire.respondents]
    conditions = sorted({cell[3] for cell in rows}, key=_condition_order)
    wordings = sorted({variant_of(row) for row in rows.values()}, key=variant_order)
    at_target = {question.ref: i for i, question in enumerate(targets)}
    at_person = {name: i for i, name in enumerate(names)} | {"": NEVER_ASKED}
    at_condition = {condition: i for i, condition in enumerate(conditions)}
    at_wording = {(variant.kind.value, variant.ordinal): i for i, variant in enumerate(wordings)}
    human = np.array(
        [[HUMAN[meaning] for meaning in questionnaire.meanings(question)] for question in targets], dtype=np.float64
    ).reshape(len(targets), len(names))
    human[:, [name not in asked for name in names]] = np.nan
    return Predictions(
        targets=tuple(at_target),
        leanings=tuple(question.leaning for question in targets),
        respondents=tuple(names),
        human=human,
        conditions=tuple(conditions),
        wordings=tuple(wordings),
        condition=_places([at_condition[cell[3]] for cell in rows]),
        target=_places([at_target[cell[0]] for cell in rows]),
        wording=_places([at_wording[cell[1], cell[2]] for cell in rows]),
        respondent=_places([at_person[cell[4]] for cell in rows]),
        yes=both[:, 0],
        no=both[:, 1],
    )


def _places(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _condition_order(condition: Condition) -> tuple[int, Condition]:
    place = CONDITIONS.index(condition.name) if condition.name in CONDITIONS else len(CONDITIONS)
    return place, condition


def reasons(rows: Iterable[PredictionRow]) -> str:
    """Say why prompts failed, the most frequent reasons first: `too long (12), refused (1)`."""
    counted = Counter(row.failed for row in rows).most_common(3)
    return ", ".join(f"{reason} ({n:,})" for reason, n in counted)
