"""Stored next tokens ─gather→ predictions: which prompt of each cell counts, as the arrays that the
statistics take.

A cell of the design is one wording of one target under one condition, for one respondent. Where
answers, questions or scales were changed after it was asked, it has a prompt for every context it
was asked in.

A run has up to a million prompts. So each is made into a few numbers as it is read, what many of
them have in common (the wording and template of a target; condition, context and respondent) is
looked at once, and all else is arrays.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp
from typing import Literal

import numpy as np
import numpy.typing as npt

from stores.core.store import Store
from stores.runs.predictions import PredictionRow, Put, RunPredictions
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.questionnaire.asking import (
    CONDITION,
    CONTEXT,
    QUESTIONS,
    RESPONDENT,
    SEED,
    ZERO_SHOT,
    Conversations,
    asked_about,
    check,
    condition_order,
    expanded,
    is_drawn,
    persons,
)
from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, Predictions
from workbench.audits.questionnaire.options import Masses
from workbench.domain.designs import Design
from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument
from workbench.domain.keys import text_key
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Contexts, Form, Meaning, Questionnaire, Role, Survey
from workbench.domain.readings import Stance
from workbench.domain.rulings import NOTHING, Effect
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, variant_order
from workbench.domain.thinking import split
from workbench.errors import UnknownName, UsageError
from workbench.evidence.letters import LabelProbabilities
from workbench.evidence.rulings import NO_RULINGS, RunRulings
from workbench.readers.rules import FirstWord
from workbench.readers.verbalizers import PUBLISHED_TOP, mass
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

Mark = Literal["yes", "no", "other"]
Labels = tuple[str, str]
"what yes and no are called in a template"
Ruled = Mapping[bytes, Effect]
NONE_RULED: Ruled = {}
_BY_LABEL: Mapping[str | None, Mark] = {Stance.AGREE.value: "yes", Stance.DISAGREE.value: "no"}


def top_masses(tokens: Sequence[tuple[str, float]], labels: Labels) -> tuple[float, float, float]:
    """Return how much of the probability of the ten likeliest tokens is yes, no and other."""
    yes = no = other = 0.0
    for text, log in tokens[:PUBLISHED_TOP]:
        mark = spelled(text, labels)
        if mark == "yes":
            yes += exp(log)
        elif mark == "no":
            no += exp(log)
        else:
            other += exp(log)
    return yes, no, other


def vocabulary_masses(words: Mapping[str, float] | None, labels: Labels) -> tuple[float, float]:
    """Return p(yes) and p(no) over the whole vocabulary; NaN where the backend does not say."""
    held = words or {}
    return held.get(labels[0], float("nan")), held.get(labels[1], float("nan"))


def counted(
    answers: Mapping[str, int], labels: Labels, ruled: Ruled = NONE_RULED
) -> dict[Mark, int]:
    """Return how many drawn answers are yes, no and neither.

    answers : distinct answer -> how often; thoughts before an answer are not read
    ruled : key of an answer's text -> what an auditor's ruling does to it
    """
    found: dict[Mark, int] = {"yes": 0, "no": 0, "other": 0}
    for text, count in answers.items():
        effect = ruled.get(text_key(split(text).answer or ""), NOTHING) if ruled else NOTHING
        if not effect.left_out:
            found[_BY_LABEL.get(effect.label, "other") if effect.read else said(text, labels)] += (
                count
            )
    return found


def shares(answers: Mapping[Mark, int]) -> tuple[float, float, float, float, float]:
    """Return which shares of counted answers are yes, no and neither, then yes and no again: there
    is one measure.
    """
    n = sum(answers.values())
    if not n:
        return (0.0,) * 5
    yes, no, other = (answers[mark] / n for mark in ("yes", "no", "other"))
    return yes, no, other, yes, no


@lru_cache(maxsize=100_000)
def said(text: str, labels: Labels) -> Mark:
    """Return what a strict reader makes of an answer, see `readers.rules`."""
    answer = split(text).answer
    found = _rule(labels).read(answer).label if answer is not None else None
    return "yes" if found == Stance.AGREE else "no" if found == Stance.DISAGREE else "other"


@lru_cache(maxsize=64)
def _rule(labels: Labels) -> FirstWord:
    return FirstWord(*labels)


@lru_cache(maxsize=100_000)
def spelled(text: str, labels: Labels) -> Mark:
    """Return which of two labels a token spells."""
    if mass([(text, 0.0)], labels[0]):
        return "yes"
    return "no" if mass([(text, 0.0)], labels[1]) else "other"


AUDIT = "questionnaire"

Axes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Now:
    """How prompts would be put now."""

    contexts: Mapping[tuple[Condition, str], str]
    "(condition, respondent) -> key of the context"
    templates: Mapping[tuple[str, bool], Template]
    """(ref of a target, whether without context) -> what it is put by; left out where nothing puts
    it"""

    def puts(self, put: Put, *, zero_shot: bool) -> bool:
        """Return whether a target is put as it would be now, its text aside."""
        now = self.templates.get((put.ref, zero_shot))
        return now is not None and _shown(now, zero_shot) == _shown(put.template, zero_shot)

    def shows(self, axes: Axes) -> bool:
        """Return whether the context of a prompt with these axes is the one that would be shown
        now.
        """
        context = axes.get(CONTEXT)
        return context is None or context == self.contexts.get(
            (condition_of(axes), axes.get(RESPONDENT, ""))
        )


def condition_of(axes: Axes) -> Condition:
    """Return the condition under which a prompt was put."""
    return Condition(axes.get(CONDITION, ""), int(axes.get(SEED, 0)), int(axes.get(QUESTIONS, 0)))


def current(
    instrument: Instrument,
    questionnaire: Questionnaire,
    language: str,
    put: Iterable[Put],
    axes: Iterable[Axes],
) -> Now:
    """Return how prompts of these templates and axes would be put now."""
    templates = _templates([one.template for one in put], instrument)
    asking = Conversations(instrument.statements, templates, language, Survey(questionnaire))
    wanted: dict[Condition, set[str]] = defaultdict(set)
    for of in axes:
        if CONTEXT in of:
            wanted[condition_of(of)].add(of[RESPONDENT])
    contexts: dict[tuple[Condition, str], str] = {}
    for questions in sorted({condition.questions for condition in wanted}):
        alike = {
            condition: names
            for condition, names in wanted.items()
            if condition.questions == questions
        }
        contexts |= {
            (condition, name): key for condition, name, key in _keys(asking, questions, alike)
        }
    return Now(contexts, dict(_put_by(asking)))


def _keys(
    asking: Conversations, questions: int, wanted: Mapping[Condition, set[str]]
) -> Iterator[tuple[Condition, str, str]]:
    """Yield the key of each respondent's context; none where the questionnaire can no longer be
    asked so.
    """
    questionnaire, contexts = asking.survey.questionnaire, Contexts(questions=questions)
    try:
        check(Survey(questionnaire, contexts))
        everybody = tuple(persons(questionnaire, questions, set().union(*wanted.values())))
        for condition, names in wanted.items():
            survey = Survey(questionnaire, contexts, condition.seed)
            of = Conversations(asking.statements, asking.templates, asking.language, survey)
            for person in everybody:
                if person.name in names:
                    yield condition, person.name, of.context_key(condition.name, person)
    except UsageError:
        return


def _put_by(asking: Conversations) -> Iterator[tuple[tuple[str, bool], Template]]:
    """Yield what puts each target, with context and without; nothing where no template does."""
    for question in asking.survey.questionnaire.of_role(Role.TARGET):
        for condition in ("", ZERO_SHOT):
            with suppress(UnknownName):
                yield (question.ref, condition == ZERO_SHOT), asking.template(question, condition)


def _templates(put: Iterable[Template], instrument: Instrument) -> tuple[Template, ...]:
    """Return the templates of the families and languages of some as a design would take them
    now.
    """
    places = dict.fromkeys((one.family, one.language) for one in put)
    forms = {*map(str, Form), *(f"{form}-{ZERO_SHOT}" for form in Form)}
    return tuple(
        one
        for family, language in places
        for one in registry.audit(AUDIT).templates_for(instrument, language)
        if one.family == family and one.language == language and one.name in forms
    )


def _shown(template: Template, zero_shot: bool) -> tuple[str, bool, str | None]:
    """Return what a prompt shows of its target's template; the system turn of others is one of
    their context.
    """
    return template.user, template.chat, template.system if zero_shot else None


HUMAN = {
    meaning: {Meaning.YES: 1.0, Meaning.NO: 0.0}.get(meaning, float("nan")) for meaning in Meaning
}
UNKNOWN = NEVER_ASKED - 1
"stands for a target or respondent that the questionnaire no longer has"

Both = tuple[FloatArray, FloatArray]
"(N,) each: probability of yes, and of no; NaN where the backend does not offer it"

_ROW = np.dtype(
    [(name, np.int64) for name in ("probe", "put", "axes", "prompt", "answers", "given", "silent")]
    + [("answered", np.bool_)]
    + [(name, np.float64) for name in ("yes", "no", "other", "yes of all", "no of all")]
)
"""of one prompt: its rowid, the places of what is put and of its axes, the rowid of its text, how
many answers were drawn and count (0: none, probabilities were computed), how many were given and
how many of them are neither yes nor no (exclusions aside), and its masses: of ten tokens, of the
vocabulary, or shares of answers
"""


@dataclass(frozen=True, eq=False)
class Gathered:
    """A run's predictions, and what stands behind each of them."""

    predictions: Predictions
    masses: Mapping[Masses, Both]
    "what the predictions may take for the probabilities of yes and no"
    probe: IntArray
    "(N,): rowid of the prompt"
    other: FloatArray
    "(N,): probability of the ten likeliest tokens that are neither yes nor no"
    outdated: BoolArray
    "(N,): whether the prompt would be put differently now"
    failed: tuple[str, ...] = ()
    "of each prompt that counts and has no next tokens, why"
    left_out: int = 0
    "prompts about targets or respondents that the questionnaire no longer has"
    ruled_out: int = 0
    "prompts that auditors' rulings leave out"
    weights: FloatArray | None = None
    "(R,): of the respondents, whether they count or not; None: all are alike"
    silent: tuple[int, int] = (0, 0)
    """answers that are neither yes nor no, of all that were given, exclusions aside; of computed
    probabilities prompts"""

    def by(self, masses: Masses, *, unweighted: bool) -> Gathered:
        """Return the same by other probabilities of yes and no, or with other weights."""
        yes, no = self.masses[masses]
        weights = None if unweighted else self.weights
        return replace(self, predictions=replace(self.predictions, yes=yes, no=no, weights=weights))

    def old(
        self, condition: Condition, target: str | None = None, wording: VariantId | None = ORIGINAL
    ) -> int:
        """Return how many prompts behind a figure would be put differently now. None: of all
        targets, or wordings.
        """
        of = self.predictions
        if condition not in of.conditions or (wording is not None and wording not in of.wordings):
            return 0
        counts = self._old[of.conditions.index(condition)]
        counts = counts.sum(axis=0) if wording is None else counts[of.wordings.index(wording)]
        return int(counts.sum() if target is None else counts[of.targets.index(target)])

    @cached_property
    def _old(self) -> IntArray:
        """How many prompts are outdated: by condition, wording and target."""
        of, at = self.predictions, self.outdated
        counts = np.zeros((len(of.conditions), len(of.wordings), len(of.targets)), dtype=np.int64)
        np.add.at(counts, (of.condition[at], of.wording[at], of.target[at]), 1)
        return counts


@dataclass(frozen=True, eq=False)
class _RunPrompts:
    """Prompts of a run as arrays."""

    rows: npt.NDArray[np.void]
    "(N,) of `_ROW`"
    put: Sequence[Put]
    axes: Sequence[Axes]
    "what rows point to, and more"
    conditions: Sequence[Condition]
    "of the axes"

    def by_put(self, of: Callable[[Put], int]) -> IntArray:
        """Return a number of what each row puts."""
        return _looked_up([of(one) for one in self.put], self.rows["put"])

    def by_axes(self, of: Callable[[Axes], int]) -> IntArray:
        """Return a number of each row's axes."""
        return _looked_up([of(one) for one in self.axes], self.rows["axes"])

    def by_condition(self, of: Callable[[Condition], int]) -> IntArray:
        """Return a number of each row's condition."""
        numbers = {condition: of(condition) for condition in dict.fromkeys(self.conditions)}
        return _looked_up([numbers[condition] for condition in self.conditions], self.rows["axes"])

    def some(self, which: npt.NDArray[np.generic]) -> _RunPrompts:
        """Return the prompts of some places, or those that are true in a mask."""
        if which.dtype == np.bool_ and which.all():  # the usual case, and a copy of a run is large
            return self
        return replace(self, rows=self.rows[which])

    def axes_in_use(self) -> list[Axes]:
        """Return the axes that rows point to."""
        return [self.axes[place] for place in np.unique(self.rows["axes"])]


def _looked_up(numbers: Sequence[int], places: IntArray) -> IntArray:
    return np.asarray(np.array(numbers, dtype=np.int64)[places], dtype=np.int64)


def gather(
    store: Store,
    run: Run,
    instrument: Instrument,
    questionnaire: Questionnaire,
    masses: Masses,
    only: str = "",
    rulings: RunRulings = NO_RULINGS,
    *,
    unweighted: bool = False,
) -> Gathered:
    """Return what a run predicted, one prompt a cell, with people's answers as the scales read them
    now.

    `only`: under this condition, in the original wording; a condition that shows people's answers.
    `rulings`: what they leave out does not count, and drawn answers that they read anew have the
    right reading. `unweighted`: everybody counts once.
    """
    prompts, why = _read(store, run, only, rulings)
    asked_for = _conditions(store, run)
    prompts = prompts.some(prompts.by_condition(asked_for.__contains__) > 0)
    now = current(instrument, questionnaire, run.language, prompts.put, prompts.axes_in_use())
    chosen = prompts.some(_chosen(prompts, now))
    known = (_targets(chosen, questionnaire) != UNKNOWN) & (
        _respondents(chosen, questionnaire) != UNKNOWN
    )
    there = chosen.some(known)
    excluded = np.isin(there.rows["probe"], list(rulings.probes))
    excluded |= (there.rows["given"] > 0) & (there.rows["answers"] == 0)
    kept = there.some(~excluded)
    answered, failed = kept.some(kept.rows["answered"]), kept.some(~kept.rows["answered"])
    both: dict[Masses, Both] = {
        "top10": (answered.rows["yes"].copy(), answered.rows["no"].copy()),
        "vocabulary": (answered.rows["yes of all"].copy(), answered.rows["no of all"].copy()),
    }
    names = {axes.get(RESPONDENT, "") for axes in answered.axes_in_use()}
    out = there.some(excluded)
    ruled_out = frozenset(out.put[place].ref for place in np.unique(out.rows["put"]))
    made = Gathered(
        predictions=replace(
            _with_void(
                _predictions(
                    answered, questionnaire, _people(store, run, questionnaire, names), both[masses]
                ),
                store.runs.instrument(run).statements,
                run.language,
            ),
            ruled_out=ruled_out,
        ),
        masses=both,
        probe=answered.rows["probe"].copy(),
        other=answered.rows["other"].copy(),
        outdated=~np.logical_and(*_as_now(answered, now)),
        failed=tuple(why[probe] for probe in failed.rows["probe"].tolist()),
        left_out=len(chosen.rows) - len(there.rows),
        ruled_out=len(out.rows),
        weights=_weights(questionnaire),
        silent=_silent(there.rows[there.rows["answered"]], masses),
    )
    return made.by(masses, unweighted=unweighted)


def _weights(questionnaire: Questionnaire) -> FloatArray | None:
    """Return people's weights; None where all are alike, on any scale."""
    weights = np.array(
        [respondent.weight for respondent in questionnaire.respondents], dtype=np.float64
    )
    alike = not len(weights) or (weights[0] > 0 and bool((weights == weights[0]).all()))
    return None if alike else weights


def _silent(rows: npt.NDArray[np.void], masses: Masses) -> tuple[int, int]:
    if rows["given"].any():
        return int(rows["silent"].sum()), int(rows["given"].sum())
    yes, no = (rows[name if masses == "top10" else f"{name} of all"] for name in ("yes", "no"))
    known = ~(np.isnan(yes) | np.isnan(no))
    return int((known & (yes + no == 0)).sum()), int(known.sum())


def _read(
    store: Store, run: Run, only: str, rulings: RunRulings
) -> tuple[_RunPrompts, dict[int, str]]:
    """Return the prompts of a run in the order of the statements, the oldest of each first, and why
    some failed.
    """
    found, why = store.predictions.of_run(run, only), dict[int, str]()
    rows = np.fromiter(_numbers(found, why, rulings), dtype=_ROW)
    prompts = _RunPrompts(rows, found.put, found.axes, [condition_of(axes) for axes in found.axes])
    return prompts.some(np.lexsort((rows["probe"], prompts.by_put(lambda put: put.place)))), why


def _numbers(
    found: RunPredictions, why: dict[int, str], rulings: RunRulings
) -> Iterator[tuple[float, ...]]:
    """Yield rows; `why`: here it is put why a prompt (by its rowid) has no tokens."""
    labels: list[tuple[str, str]] = []
    for probe, put, axes, tokens, words, failed, prompt, answers in found:
        if put == len(labels):
            labels.append((found.put[put].template.positive, found.put[put].template.negative))
        if not tokens and not answers:
            why[probe] = failed
        of = labels[put]
        if answers is None:
            masses = (*top_masses(tokens, of), *vocabulary_masses(words, of))
            yield (probe, put, axes, prompt, 0, 0, 0, bool(tokens), *masses)
            continue
        counts = counted(answers, of, rulings.answers.get(probe, NONE_RULED))
        given = counted(answers, of, rulings.read_anew.get(probe, NONE_RULED))
        numbers = sum(counts.values()), sum(given.values()), given["other"]
        yield (probe, put, axes, prompt, *numbers, bool(answers), *shares(counts))


def label_probabilities(store: Store, run: Run) -> Iterator[LabelProbabilities]:
    """Yield the probabilities of a run's prompts in the order of storage: the reader's labels, and
    all else.
    """
    predictions = store.predictions.of_run(run)
    for row in predictions:
        if not row.tokens:
            continue
        template = predictions.put[row.put].template
        labels = template.positive, template.negative
        yes, no, other = top_masses(row.tokens, labels)
        counted = {Stance.AGREE.value: yes, Stance.DISAGREE.value: no, OTHER: other}
        if row.words is None:
            yield LabelProbabilities(row.probe, counted)
            continue
        yes, no = vocabulary_masses(row.words, labels)
        yield LabelProbabilities(
            row.probe, counted, {Stance.AGREE.value: yes, Stance.DISAGREE.value: no}
        )


OTHER = "other"
"the likeliest tokens that are neither label"


def _conditions(store: Store, run: Run) -> set[Condition]:
    """Return the conditions under which a model was asked. With few answered questions a prompt may
    have the text of one under a condition that it was not asked under, which alone would make
    figures of a handful of people.
    """
    found: set[Condition] = set()
    for design in map(Design.from_json, store.predictions.designs(run)):
        questions = design.contexts.questions
        for name in expanded(design.contexts.conditions):
            seed = design.seed if is_drawn(name) else 0
            found.add(Condition(name, seed, 0 if name == ZERO_SHOT else questions))
    return found


def _people(
    store: Store, run: Run, questionnaire: Questionnaire, asked: Collection[str]
) -> frozenset[str]:
    """Return the names of those whom the designs of a run drew: a prompt without context stands for
    them, so that it is compared with the same people as the others.

    `asked`: whom the model was asked about. Somebody who came since is drawn by a design, and has
    no prompt of their own before it is asked again. Whom a design drew of the people of its time
    may not be drawn of those of now.
    """
    found: set[str] = set()
    for spec, here in store.predictions.drawn_from(run):
        design = Design.from_json(spec)
        then = replace(
            questionnaire, respondents=tuple(r for r in questionnaire.respondents if r.name in here)
        )
        names = {
            name
            for of in (then, questionnaire)
            for name in asked_about(Survey(of, design.contexts, design.seed))
        }
        found |= (
            names
            if expanded(design.contexts.conditions) == (ZERO_SHOT,)
            else names.intersection(asked)
        )
    return frozenset(found)


def variant_of(row: PredictionRow | Put) -> VariantId:
    """Return the wording that a prompt puts."""
    return VariantId(VariantKind(row.kind), row.ordinal)


def _chosen(prompts: _RunPrompts, now: Now) -> IntArray:
    """Return the places of the prompts that count, one a cell: of those that were answered, or of
    all where none was, the one that would be put now, else the newest. Cells stand in the order of
    their first prompts.
    """
    cells = _cells(prompts)
    shows, puts = _as_now(prompts, now)
    order = np.lexsort((prompts.rows["probe"], puts, shows & puts, prompts.rows["answered"], cells))
    last = np.flatnonzero(np.diff(cells[order], append=-1))
    first = np.unique(cells, return_index=True)[1]
    return np.asarray(order[last][np.argsort(first)], dtype=np.int64)


def _cells(prompts: _RunPrompts) -> IntArray:
    """Return a number of each prompt's cell, from 0."""
    wording, condition, person = _Numbered(), _Numbered(), _Numbered()
    of_put = prompts.by_put(lambda put: wording.number((put.ref, put.kind, put.ordinal)))
    of_condition = prompts.by_condition(condition.number)
    of_person = prompts.by_axes(lambda axes: person.number(axes.get(RESPONDENT, "")))
    return (of_put * len(condition) + of_condition) * len(person) + of_person


class _Numbered(dict[Hashable, int]):
    """Numbers of values, in the order in which they come."""

    def number(self, value: Hashable) -> int:
        return self.setdefault(value, len(self))


def _as_now(prompts: _RunPrompts, now: Now) -> tuple[BoolArray, BoolArray]:
    """Return whether each prompt shows the context that it would show now, and puts its target as
    it would now.
    """
    puts = np.array(
        [[now.puts(put, zero_shot=zero) for zero in (False, True)] for put in prompts.put],
        dtype=np.bool_,
    )
    zero_shot = prompts.by_condition(lambda condition: condition.name == ZERO_SHOT)
    return prompts.by_axes(now.shows) > 0, puts.reshape(-1, 2)[prompts.rows["put"], zero_shot]


def _targets(prompts: _RunPrompts, questionnaire: Questionnaire) -> IntArray:
    """Return the place of the target that each prompt is about, or UNKNOWN."""
    at = {question.ref: place for place, question in enumerate(questionnaire.of_role(Role.TARGET))}
    return prompts.by_put(lambda put: at.get(put.ref, UNKNOWN))


def _respondents(prompts: _RunPrompts, questionnaire: Questionnaire) -> IntArray:
    """Return the place of the respondent that each prompt is about, NEVER_ASKED or UNKNOWN."""
    at = {"": NEVER_ASKED} | {of.name: place for place, of in enumerate(questionnaire.respondents)}
    return prompts.by_axes(lambda axes: at.get(axes.get(RESPONDENT, ""), UNKNOWN))


def _predictions(
    answered: _RunPrompts, questionnaire: Questionnaire, people: Collection[str], masses: Both
) -> Predictions:
    """Return answered prompts as the statistics take them. `people`: those whose answers count."""
    targets = questionnaire.of_role(Role.TARGET)
    in_use = {answered.conditions[place] for place in np.unique(answered.rows["axes"])}
    conditions = sorted(in_use, key=condition_order)
    used = [answered.put[place] for place in np.unique(answered.rows["put"])]
    wordings = sorted({variant_of(put) for put in used}, key=variant_order)
    at_condition = {condition: place for place, condition in enumerate(conditions)}
    at_wording = {wording: place for place, wording in enumerate(wordings)}
    return Predictions(
        targets=tuple(question.ref for question in targets),
        leanings=tuple(question.leaning for question in targets),
        respondents=tuple(respondent.name for respondent in questionnaire.respondents),
        human=_human(questionnaire, people),
        conditions=tuple(conditions),
        wordings=tuple(wordings),
        condition=answered.by_condition(lambda condition: at_condition.get(condition, UNKNOWN)),
        target=_targets(answered, questionnaire),
        wording=answered.by_put(lambda put: at_wording.get(variant_of(put), UNKNOWN)),
        respondent=_respondents(answered, questionnaire),
        yes=masses[0],
        no=masses[1],
        answers=answered.rows["answers"].copy() if answered.rows["answers"].any() else None,
        prompt=answered.rows["prompt"].copy(),
    )


def _with_void(
    predictions: Predictions, statements: Iterable[Statement], language: str
) -> Predictions:
    """Return predictions that say which wordings read like the original of their target, case and
    blanks aside.
    """
    of = {statement.ref: statement for statement in statements}
    void = np.zeros((len(predictions.wordings), len(predictions.targets)), dtype=np.bool_)
    for t, ref in enumerate(predictions.targets):
        original = of[ref].wording(ORIGINAL, language) if ref in of else None
        for w, variant in enumerate(predictions.wordings):
            wording = (
                of[ref].wording(variant, language)
                if original is not None and variant != ORIGINAL
                else None
            )
            if original is not None and wording is not None:
                void[w, t] = folded(wording.text) in ("", folded(original.text))
    return replace(predictions, void=void) if void.any() else predictions


def _human(questionnaire: Questionnaire, people: Collection[str]) -> FloatArray:
    """Return what each respondent answered to each target: (T, R); NaN for those who do not
    count.
    """
    answers = [
        [HUMAN[meaning] for meaning in questionnaire.meanings(question)]
        for question in questionnaire.of_role(Role.TARGET)
    ]
    human = np.array(answers, dtype=np.float64).reshape(
        len(answers), len(questionnaire.respondents)
    )
    human[:, [respondent.name not in people for respondent in questionnaire.respondents]] = np.nan
    return human


def reasons(why: Iterable[str]) -> str:
    """Say why prompts failed, the most frequent reasons first: `too long (12), refused (1)`."""
    return ", ".join(f"{reason} ({n:,})" for reason, n in Counter(why).most_common(3))


USUAL = Contexts()


def asking_again(store: Store, run: Run, found: Gathered, usual_language: str) -> str:
    """Return the commands that replace the outdated prompts of a run; empty where there are
    none.
    """
    old = {
        condition
        for condition in found.predictions.conditions
        if found.old(condition, wording=None)
    }
    if not old:
        return ""
    wanted: dict[str, list[str]] = {}
    for design in map(Design.from_json, store.predictions.designs(run)):
        language = "" if run.language == usual_language else run.language
        named = wanted.setdefault(" ".join(_options(replace(design, language=language))), [])
        named += [name for name in _again_conditions(design, old) if name not in named]
    commands = [
        f"workbench run STORE --audit {AUDIT} {options} --conditions {shlex.quote(','.join(names))}"
        for options, names in wanted.items()
        if names
    ]
    return "; ".join(commands)


def _again_conditions(design: Design, old: set[Condition]) -> Iterator[str]:
    """Yield the conditions of a design under which something is outdated."""
    questions = design.contexts.questions
    for name in expanded(design.contexts.conditions):
        seed = design.seed if is_drawn(name) else 0
        if Condition(name, seed, 0 if name == ZERO_SHOT else questions) in old:
            yield name


def _options(design: Design) -> Iterator[str]:
    """Yield what tells a design from the usual one, as the command line says it."""
    of = design.contexts
    said = {
        "instrument": (design.instrument, ""),
        "model": (design.model, ""),
        "dtype": (design.dtype, ""),
        "chat-format": (design.chat_format, ""),
        "language": (design.language, ""),
        "statements": (",".join(design.statements), ""),
        "variants": (",".join(design.variants), ""),
        "respondents": (str(of.respondents), str(USUAL.respondents)),
        "every": (str(of.every), str(USUAL.every)),
        "context-questions": (str(of.questions), str(USUAL.questions)),
        "seed": (str(design.seed), "1"),
    }
    for name, (value, usual) in said.items():
        if value != usual:
            yield f"--{name} {shlex.quote(value)}"
