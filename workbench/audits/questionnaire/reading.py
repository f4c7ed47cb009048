"""The stored next tokens of a run, gathered as predictions: the arrays that the statistics take.

A cell of the design is one wording of one target under one condition, for one respondent. If
answers, questions or scales were changed after it was asked, it has a prompt for every context it
was asked in. One prompt of each cell counts.

A run has up to a million prompts. Each is therefore reduced to a few numbers as it is read. Values
that many prompts have in common (the wording and template of a target, and condition, context and
respondent) are looked at once, and all else is stored in arrays.
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
from stores.runs.predictions import AskedWording, PredictionRow, RunPredictions
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
    people_named,
)
from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, ModelPredictions
from workbench.audits.questionnaire.options import Masses
from workbench.domain.designs import Design
from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument
from workbench.domain.keys import text_key
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import (
    Contexts,
    Form,
    Meaning,
    Questionnaire,
    QuestionRole,
    Survey,
)
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
"the answers yes and no as a template spells them"
Ruled = Mapping[bytes, Effect]
"the effect of auditors' rulings by the key of an answer's text"
NONE_RULED: Ruled = {}
_BY_LABEL: Mapping[str | None, Mark] = {Stance.AGREE.value: "yes", Stance.DISAGREE.value: "no"}


def top_masses(tokens: Sequence[tuple[str, float]], labels: Labels) -> tuple[float, float, float]:
    """Return the probabilities of yes, no and other among the ten likeliest tokens."""
    yes = no = other = 0.0
    for text, log_probability in tokens[:PUBLISHED_TOP]:
        mark = mark_of_token(text, labels)
        if mark == "yes":
            yes += exp(log_probability)
        elif mark == "no":
            no += exp(log_probability)
        else:
            other += exp(log_probability)
    return yes, no, other


def vocabulary_masses(words: Mapping[str, float] | None, labels: Labels) -> tuple[float, float]:
    """Return p(yes) and p(no) over the whole vocabulary, or NaN if they are not reported."""
    probabilities = words or {}
    return probabilities.get(labels[0], float("nan")), probabilities.get(labels[1], float("nan"))


def count_marks(
    answers: Mapping[str, int], labels: Labels, ruled: Ruled = NONE_RULED
) -> dict[Mark, int]:
    """Return the numbers of drawn answers that are yes, no and neither.

    Parameters
    ----------
    answers : number of answers by distinct text; thoughts before an answer are not read
    ruled : effect of an auditor's ruling by the key of an answer's text
    """
    counts: dict[Mark, int] = {"yes": 0, "no": 0, "other": 0}
    for text, count in answers.items():
        effect = ruled.get(text_key(split(text).answer or ""), NOTHING) if ruled else NOTHING
        if effect.left_out:
            continue
        if effect.read:
            mark = _BY_LABEL.get(effect.label, "other")
        else:
            mark = mark_of_answer(text, labels)
        counts[mark] += count
    return counts


def shares(answers: Mapping[Mark, int]) -> tuple[float, float, float, float, float]:
    """Return the shares of counted answers that are yes, no and neither, then yes and no again.

    The last two are those of the vocabulary, since counted answers have only one measure.
    """
    n = sum(answers.values())
    if not n:
        return (0.0,) * 5
    yes, no, other = (answers[mark] / n for mark in ("yes", "no", "other"))
    return yes, no, other, yes, no


@lru_cache(maxsize=100_000)
def mark_of_answer(text: str, labels: Labels) -> Mark:
    """Return the reading of an answer by a strict rule, see `readers.rules`."""
    answer = split(text).answer
    if answer is None:
        return "other"
    return _BY_LABEL.get(_rule(labels).read(answer).label, "other")


@lru_cache(maxsize=64)
def _rule(labels: Labels) -> FirstWord:
    """Return the rule that reads the first word of an answer."""
    return FirstWord(*labels)


@lru_cache(maxsize=100_000)
def mark_of_token(text: str, labels: Labels) -> Mark:
    """Return the one of two labels that a token spells."""
    if mass([(text, 0.0)], labels[0]):
        return "yes"
    return "no" if mass([(text, 0.0)], labels[1]) else "other"


AUDIT = "questionnaire"

Axes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CurrentDesign:
    """The contexts and templates that a design would use now."""

    contexts: Mapping[tuple[Condition, str], str]
    "key of the context by (condition, respondent)"
    templates: Mapping[tuple[str, bool], Template]
    """template by (ref of a target, whether without context); a target without a template is
    missing"""

    def uses_template(self, put: AskedWording, *, zero_shot: bool) -> bool:
        """Return whether the design would still use a target's template, regardless of its text."""
        template = self.templates.get((put.ref, zero_shot))
        return template is not None and _shown(template, zero_shot) == _shown(
            put.template, zero_shot
        )

    def uses_context(self, axes: Axes) -> bool:
        """Return whether the design would still use the context of a prompt with these axes."""
        context = axes.get(CONTEXT)
        return context is None or context == self.contexts.get(
            (condition_of(axes), axes.get(RESPONDENT, ""))
        )


def condition_of(axes: Axes) -> Condition:
    """Return the condition of a prompt with these axes."""
    return Condition(axes.get(CONDITION, ""), int(axes.get(SEED, 0)), int(axes.get(QUESTIONS, 0)))


def current(
    instrument: Instrument,
    questionnaire: Questionnaire,
    language: str,
    put: Iterable[AskedWording],
    axes: Iterable[Axes],
) -> CurrentDesign:
    """Return the contexts and templates that would be used now for prompts like these."""
    templates = _templates([target.template for target in put], instrument)
    conversations = Conversations(instrument.statements, templates, language, Survey(questionnaire))
    names_by_condition: dict[Condition, set[str]] = defaultdict(set)
    for prompt_axes in axes:
        if CONTEXT in prompt_axes:
            names_by_condition[condition_of(prompt_axes)].add(prompt_axes[RESPONDENT])
    contexts: dict[tuple[Condition, str], str] = {}
    for questions in sorted({condition.questions for condition in names_by_condition}):
        with_same_questions = {
            condition: names
            for condition, names in names_by_condition.items()
            if condition.questions == questions
        }
        contexts |= {
            (condition, name): key
            for condition, name, key in _keys(conversations, questions, with_same_questions)
        }
    return CurrentDesign(contexts, dict(_put_by(conversations)))


def _keys(
    asking: Conversations, questions: int, wanted: Mapping[Condition, set[str]]
) -> Iterator[tuple[Condition, str, str]]:
    """Yield the condition, the respondent and the key of each context.

    There are none if the questionnaire has no respondents, or no longer so many questions.
    """
    questionnaire, contexts = asking.survey.questionnaire, Contexts(questions=questions)
    try:
        check(Survey(questionnaire, contexts))
        people = tuple(people_named(questionnaire, questions, set().union(*wanted.values())))
        for condition, names in wanted.items():
            survey = Survey(questionnaire, contexts, condition.seed)
            conversations = Conversations(
                asking.statements, asking.templates, asking.language, survey
            )
            for person in people:
                if person.name in names:
                    yield condition, person.name, conversations.context_key(condition.name, person)
    except UsageError:
        return


def _put_by(asking: Conversations) -> Iterator[tuple[tuple[str, bool], Template]]:
    """Yield the template of each target, with context and without, if there is one."""
    for question in asking.survey.questionnaire.of_role(QuestionRole.TARGET):
        for condition in ("", ZERO_SHOT):
            with suppress(UnknownName):
                yield (question.ref, condition == ZERO_SHOT), asking.template(question, condition)


def _templates(put: Iterable[Template], instrument: Instrument) -> tuple[Template, ...]:
    """Return the current templates of the same families and languages as some used ones."""
    used = dict.fromkeys((template.family, template.language) for template in put)
    names = {*map(str, Form), *(f"{form}-{ZERO_SHOT}" for form in Form)}
    return tuple(
        template
        for family, language in used
        for template in registry.audit(AUDIT).templates_for(instrument, language)
        if template.family == family and template.language == language and template.name in names
    )


def _shown(template: Template, zero_shot: bool) -> tuple[str, bool, str | None]:
    """Return the parts of a target's template that a prompt shows.

    Without context this includes the system turn. With context, that turn is a part of the context.
    """
    return template.user, template.chat, template.system if zero_shot else None


HUMAN = {
    meaning: {Meaning.YES: 1.0, Meaning.NO: 0.0}.get(meaning, float("nan")) for meaning in Meaning
}
UNKNOWN = NEVER_ASKED - 1
"the index of a target or respondent that the questionnaire no longer has"

Both = tuple[FloatArray, FloatArray]
"(N,) each: probability of yes, and of no, or NaN if the backend does not report it"

_ROW = np.dtype(
    [(name, np.int64) for name in ("probe", "put", "axes", "prompt", "answers", "given", "silent")]
    + [("answered", np.bool_)]
    + [(name, np.float64) for name in ("yes", "no", "other", "yes of all", "no of all")]
)
"""one prompt: its rowid, the indices of its target and of its axes, the rowid of its text, the
number of drawn answers that count (0: none, probabilities were computed), the number of all answers
and of those that are neither yes nor no (exclusions aside), whether it was answered, and its
masses: of ten tokens, of the vocabulary, or shares of answers"""


@dataclass(frozen=True, eq=False)
class GatheredPredictions:
    """The predictions of a run, and the prompts behind them."""

    predictions: ModelPredictions
    masses: Mapping[Masses, Both]
    "the probabilities of yes and no that the predictions may use"
    probe: IntArray
    "(N,): rowid of the prompt"
    other: FloatArray
    "(N,): probability of those of the ten likeliest tokens that are neither yes nor no"
    outdated: BoolArray
    "(N,): whether the prompt would be worded differently now"
    failed: tuple[str, ...] = ()
    "reason for each prompt that counts and has no next tokens"
    left_out: int = 0
    "prompts about targets or respondents that the questionnaire no longer has"
    ruled_out: int = 0
    "prompts that auditors' rulings exclude"
    weights: FloatArray | None = None
    "(R,): weights of all respondents, counted or not. None: all weights are equal"
    silent: tuple[int, int] = (0, 0)
    """number of answers that are neither yes nor no, and of all answers, exclusions aside; for
    computed probabilities numbers of prompts"""

    def with_options(self, masses: Masses, *, unweighted: bool) -> GatheredPredictions:
        """Return a copy with other probabilities of yes and no, or with other weights."""
        yes, no = self.masses[masses]
        weights = None if unweighted else self.weights
        return replace(self, predictions=replace(self.predictions, yes=yes, no=no, weights=weights))

    def count_outdated(
        self, condition: Condition, target: str | None = None, wording: VariantId | None = ORIGINAL
    ) -> int:
        """Return the number of a figure's prompts that would be worded differently now.

        The target None stands for all targets, the wording None for all wordings.
        """
        predictions = self.predictions
        if condition not in predictions.conditions or (
            wording is not None and wording not in predictions.wordings
        ):
            return 0
        counts = self._outdated_counts[predictions.conditions.index(condition)]
        if wording is None:
            counts = counts.sum(axis=0)
        else:
            counts = counts[predictions.wordings.index(wording)]
        if target is None:
            return int(counts.sum())
        return int(counts[predictions.targets.index(target)])

    @cached_property
    def _outdated_counts(self) -> IntArray:
        """The numbers of outdated prompts by condition, wording and target."""
        predictions, outdated = self.predictions, self.outdated
        counts = np.zeros(
            (len(predictions.conditions), len(predictions.wordings), len(predictions.targets)),
            dtype=np.int64,
        )
        np.add.at(
            counts,
            (
                predictions.condition[outdated],
                predictions.wording[outdated],
                predictions.target[outdated],
            ),
            1,
        )
        return counts


@dataclass(frozen=True, eq=False)
class _RunPrompts:
    """The prompts of a run as arrays."""

    rows: npt.NDArray[np.void]
    "(N,) of `_ROW`"
    put: Sequence[AskedWording]
    axes: Sequence[Axes]
    "the axes to which rows point, and others"
    conditions: Sequence[Condition]
    "the condition of each of the axes"

    def by_put(self, of: Callable[[AskedWording], int]) -> IntArray:
        """Return a number for each row, computed from its target and template."""
        return _looked_up([of(put) for put in self.put], self.rows["put"])

    def by_axes(self, of: Callable[[Axes], int]) -> IntArray:
        """Return a number for each row, computed from its axes."""
        return _looked_up([of(axes) for axes in self.axes], self.rows["axes"])

    def by_condition(self, of: Callable[[Condition], int]) -> IntArray:
        """Return a number for each row, computed from its condition."""
        numbers = {condition: of(condition) for condition in dict.fromkeys(self.conditions)}
        return _looked_up([numbers[condition] for condition in self.conditions], self.rows["axes"])

    def some(self, which: npt.NDArray[np.generic]) -> _RunPrompts:
        """Return the prompts at some indices, or those that are true in a mask."""
        # Usually all are true, and a copy of a run is large
        if which.dtype == np.bool_ and which.all():
            return self
        return replace(self, rows=self.rows[which])

    def axes_in_use(self) -> list[Axes]:
        """Return the axes to which rows point."""
        return [self.axes[index] for index in np.unique(self.rows["axes"])]

    def targets_in_use(self) -> frozenset[str]:
        """Return the refs of the targets to which rows point."""
        return frozenset(self.put[index].ref for index in np.unique(self.rows["put"]))


def _looked_up(numbers: Sequence[int], places: IntArray) -> IntArray:
    """Return the number at the index of each row."""
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
) -> GatheredPredictions:
    """Return the predictions of a run, one prompt for each cell, with the human answers.

    The current scales read the human answers.

    Parameters
    ----------
    only : a condition that shows human answers. Only prompts under it count, in the original
        wording. Empty: all prompts
    rulings : these exclude prompts and answers, and change the reading of drawn answers
    unweighted : whether to ignore the weights of respondents
    """
    prompts, failure_by_probe = _read(store, run, only, rulings)
    asked_conditions = _conditions(store, run)
    prompts = prompts.some(prompts.by_condition(asked_conditions.__contains__) > 0)
    design = current(instrument, questionnaire, run.language, prompts.put, prompts.axes_in_use())
    selection = _select(prompts, design, questionnaire, rulings)
    answered = selection.answered
    masses_by_name = _masses(answered)
    names = {axes.get(RESPONDENT, "") for axes in answered.axes_in_use()}
    people = _people(store, run, questionnaire, names)
    predictions = _predictions(answered, questionnaire, people, masses_by_name[masses])
    predictions = _with_void(predictions, store.runs.instrument(run).statements, run.language)
    failed_probes = selection.failed.rows["probe"].tolist()
    known = selection.known
    gathered = GatheredPredictions(
        predictions=replace(predictions, ruled_out=selection.excluded.targets_in_use()),
        masses=masses_by_name,
        probe=answered.rows["probe"].copy(),
        other=answered.rows["other"].copy(),
        outdated=~np.logical_and(*_as_now(answered, design)),
        failed=tuple(failure_by_probe[probe] for probe in failed_probes),
        left_out=selection.n_unknown,
        ruled_out=len(selection.excluded.rows),
        weights=_weights(questionnaire),
        silent=_silent(known.rows[known.rows["answered"]], masses),
    )
    return gathered.with_options(masses, unweighted=unweighted)


@dataclass(frozen=True, slots=True, eq=False)
class _Selection:
    """The prompts of a run that count, one for each cell."""

    known: _RunPrompts
    "prompts about targets and respondents that the questionnaire has: all of the next three"
    excluded: _RunPrompts
    "prompts that auditors' rulings exclude"
    answered: _RunPrompts
    failed: _RunPrompts
    "prompts without next tokens or answers"
    n_unknown: int
    "number of prompts about other targets or respondents"


def _select(
    prompts: _RunPrompts, design: CurrentDesign, questionnaire: Questionnaire, rulings: RunRulings
) -> _Selection:
    """Return the prompts that count, by whether rulings exclude them and whether they failed."""
    selected = prompts.some(_chosen(prompts, design))
    has_target = _targets(selected, questionnaire) != UNKNOWN
    has_respondent = _respondents(selected, questionnaire) != UNKNOWN
    known = selected.some(has_target & has_respondent)
    is_excluded = np.isin(known.rows["probe"], list(rulings.probes))
    # Rulings may also exclude each of the drawn answers to a prompt
    is_excluded |= (known.rows["given"] > 0) & (known.rows["answers"] == 0)
    included = known.some(~is_excluded)
    return _Selection(
        known=known,
        excluded=known.some(is_excluded),
        answered=included.some(included.rows["answered"]),
        failed=included.some(~included.rows["answered"]),
        n_unknown=len(selected.rows) - len(known.rows),
    )


def _masses(answered: _RunPrompts) -> dict[Masses, Both]:
    """Return the probabilities of yes and no of answered prompts, by the tokens summed over."""
    rows = answered.rows
    return {
        "top10": (rows["yes"].copy(), rows["no"].copy()),
        "vocabulary": (rows["yes of all"].copy(), rows["no of all"].copy()),
    }


def _weights(questionnaire: Questionnaire) -> FloatArray | None:
    """Return the weights of the respondents, or None if all are equal (above 0), on any scale."""
    weights = np.array(
        [respondent.weight for respondent in questionnaire.respondents], dtype=np.float64
    )
    are_equal = not len(weights) or (weights[0] > 0 and bool((weights == weights[0]).all()))
    return None if are_equal else weights


def _silent(rows: npt.NDArray[np.void], masses: Masses) -> tuple[int, int]:
    """Return the numbers of unreadable and of all answers, or for probabilities of prompts."""
    if rows["given"].any():
        return int(rows["silent"].sum()), int(rows["given"].sum())
    yes, no = (rows[name if masses == "top10" else f"{name} of all"] for name in ("yes", "no"))
    is_known = ~(np.isnan(yes) | np.isnan(no))
    return int((is_known & (yes + no == 0)).sum()), int(is_known.sum())


def _read(
    store: Store, run: Run, only: str, rulings: RunRulings
) -> tuple[_RunPrompts, dict[int, str]]:
    """Return the prompts of a run, and by rowid the reason why a prompt failed.

    The prompts are in the order of the statements, for each one from the oldest to the newest.
    """
    predictions, failure_by_probe = store.predictions.of_run(run, only), dict[int, str]()
    rows = np.fromiter(_numbers(predictions, failure_by_probe, rulings), dtype=_ROW)
    prompts = _RunPrompts(
        rows,
        predictions.put,
        predictions.axes,
        [condition_of(axes) for axes in predictions.axes],
    )
    return prompts.some(
        np.lexsort((rows["probe"], prompts.by_put(lambda put: put.place)))
    ), failure_by_probe


def _numbers(
    found: RunPredictions, why: dict[int, str], rulings: RunRulings
) -> Iterator[tuple[float, ...]]:
    """Yield the values of each row of `_ROW`.

    The reasons why prompts have no tokens are added to `why`, by rowid.
    """
    labels: list[tuple[str, str]] = []
    for row in found:
        if row.put == len(labels):
            template = found.put[row.put].template
            labels.append((template.positive, template.negative))
        if not row.tokens and not row.answers:
            why[row.probe] = row.failed
        own_labels = labels[row.put]
        indices = row.probe, row.put, row.axes, row.prompt
        if row.answers is None:
            top = top_masses(row.tokens, own_labels)
            of_all = vocabulary_masses(row.words, own_labels)
            yield (*indices, 0, 0, 0, bool(row.tokens), *top, *of_all)
            continue
        ruled, read_anew = (
            effects.get(row.probe, NONE_RULED) for effects in (rulings.answers, rulings.read_anew)
        )
        counts = count_marks(row.answers, own_labels, ruled)
        given_counts = count_marks(row.answers, own_labels, read_anew)
        numbers = sum(counts.values()), sum(given_counts.values()), given_counts["other"]
        yield (*indices, *numbers, bool(row.answers), *shares(counts))


def label_probabilities(store: Store, run: Run) -> Iterator[LabelProbabilities]:
    """Yield the probabilities of the labels for a run's prompts, in the order of storage.

    The labels are those of the reader, and one for all other tokens.
    """
    predictions = store.predictions.of_run(run)
    for row in predictions:
        if not row.tokens:
            continue
        template = predictions.put[row.put].template
        labels = template.positive, template.negative
        yes, no, other = top_masses(row.tokens, labels)
        probabilities = {Stance.AGREE.value: yes, Stance.DISAGREE.value: no, OTHER: other}
        if row.words is None:
            yield LabelProbabilities(row.probe, probabilities)
            continue
        yes, no = vocabulary_masses(row.words, labels)
        yield LabelProbabilities(
            row.probe, probabilities, {Stance.AGREE.value: yes, Stance.DISAGREE.value: no}
        )


OTHER = "other"
"the label of the likeliest tokens that are neither yes nor no"


def _conditions(store: Store, run: Run) -> set[Condition]:
    """Return the conditions under which a model was asked.

    If few questions were answered, a prompt may have the same text as one under a condition that
    was not asked. Such prompts alone would give figures of a handful of respondents.
    """
    conditions: set[Condition] = set()
    for design in map(Design.from_json, store.predictions.designs(run)):
        questions = design.contexts.questions
        for name in expanded(design.contexts.conditions):
            seed = design.seed if is_drawn(name) else 0
            conditions.add(Condition(name, seed, 0 if name == ZERO_SHOT else questions))
    return conditions


def _people(
    store: Store, run: Run, questionnaire: Questionnaire, asked: Collection[str]
) -> frozenset[str]:
    """Return the names of the respondents that the designs of a run drew.

    A prompt without context stands for them, so that it is compared with the same respondents as
    the other prompts. `asked` are the respondents that the model was asked about: a respondent who
    was added later may be drawn by a design, but has no own prompt before it is asked again.
    Respondents that a design drew of those at its time may not be drawn of the present ones.
    """
    drawn_names: set[str] = set()
    for spec, names_then in store.predictions.drawn_from(run):
        design = Design.from_json(spec)
        questionnaire_then = replace(
            questionnaire,
            respondents=tuple(
                respondent
                for respondent in questionnaire.respondents
                if respondent.name in names_then
            ),
        )
        names = {
            name
            for version in (questionnaire_then, questionnaire)
            for name in asked_about(Survey(version, design.contexts, design.seed))
        }
        if expanded(design.contexts.conditions) != (ZERO_SHOT,):
            names.intersection_update(asked)
        drawn_names |= names
    return frozenset(drawn_names)


def variant_of(row: PredictionRow | AskedWording) -> VariantId:
    """Return the wording of a prompt."""
    return VariantId(VariantKind(row.kind), row.ordinal)


def _chosen(prompts: _RunPrompts, design: CurrentDesign) -> IntArray:
    """Return the indices of the prompts that count, one for each cell.

    Answered prompts come before others, then the prompt that would be used now, then the newest.
    The cells are in the order of their first prompts.
    """
    cells = _cells(prompts)
    has_context, has_template = _as_now(prompts, design)
    is_current = has_context & has_template
    keys = (prompts.rows["probe"], has_template, is_current, prompts.rows["answered"], cells)
    order = np.lexsort(keys)
    last_of_cells = np.flatnonzero(np.diff(cells[order], append=-1))
    first_of_cells = np.unique(cells, return_index=True)[1]
    return np.asarray(order[last_of_cells][np.argsort(first_of_cells)], dtype=np.int64)


def _cells(prompts: _RunPrompts) -> IntArray:
    """Return the number of each prompt's cell, from 0."""
    wordings, conditions, people = _Numbered(), _Numbered(), _Numbered()
    wording_numbers = prompts.by_put(lambda put: wordings.number((put.ref, put.kind, put.ordinal)))
    condition_numbers = prompts.by_condition(conditions.number)
    person_numbers = prompts.by_axes(lambda axes: people.number(axes.get(RESPONDENT, "")))
    return (wording_numbers * len(conditions) + condition_numbers) * len(people) + person_numbers


class _Numbered(dict[Hashable, int]):
    """The numbers of values, in the order in which they are added."""

    def number(self, value: Hashable) -> int:
        """Return the number of a value, which is added if it is new."""
        return self.setdefault(value, len(self))


def _as_now(prompts: _RunPrompts, design: CurrentDesign) -> tuple[BoolArray, BoolArray]:
    """Return whether each prompt has the current context, and the current template."""
    uses_templates = np.array(
        [
            [design.uses_template(put, zero_shot=zero_shot) for zero_shot in (False, True)]
            for put in prompts.put
        ],
        dtype=np.bool_,
    )
    is_zero_shot = prompts.by_condition(lambda condition: condition.name == ZERO_SHOT)
    has_template = uses_templates.reshape(-1, 2)[prompts.rows["put"], is_zero_shot]
    return prompts.by_axes(design.uses_context) > 0, has_template


def _targets(prompts: _RunPrompts, questionnaire: Questionnaire) -> IntArray:
    """Return the index of each prompt's target, or UNKNOWN."""
    index_by_ref = {
        question.ref: index
        for index, question in enumerate(questionnaire.of_role(QuestionRole.TARGET))
    }
    return prompts.by_put(lambda put: index_by_ref.get(put.ref, UNKNOWN))


def _respondents(prompts: _RunPrompts, questionnaire: Questionnaire) -> IntArray:
    """Return the index of each prompt's respondent, NEVER_ASKED or UNKNOWN."""
    index_by_name = {"": NEVER_ASKED} | {
        respondent.name: index for index, respondent in enumerate(questionnaire.respondents)
    }
    return prompts.by_axes(lambda axes: index_by_name.get(axes.get(RESPONDENT, ""), UNKNOWN))


def _predictions(
    answered: _RunPrompts, questionnaire: Questionnaire, people: Collection[str], masses: Both
) -> ModelPredictions:
    """Return answered prompts as predictions. Only the human answers of `people` count."""
    targets = questionnaire.of_role(QuestionRole.TARGET)
    in_use = {answered.conditions[index] for index in np.unique(answered.rows["axes"])}
    conditions = sorted(in_use, key=condition_order)
    puts = [answered.put[index] for index in np.unique(answered.rows["put"])]
    wordings = sorted({variant_of(put) for put in puts}, key=variant_order)
    index_by_condition = {condition: index for index, condition in enumerate(conditions)}
    index_by_wording = {wording: index for index, wording in enumerate(wordings)}
    return ModelPredictions(
        targets=tuple(question.ref for question in targets),
        leanings=tuple(question.leaning for question in targets),
        respondents=tuple(respondent.name for respondent in questionnaire.respondents),
        human=_human(questionnaire, people),
        conditions=tuple(conditions),
        wordings=tuple(wordings),
        condition=answered.by_condition(
            lambda condition: index_by_condition.get(condition, UNKNOWN)
        ),
        target=_targets(answered, questionnaire),
        wording=answered.by_put(lambda put: index_by_wording.get(variant_of(put), UNKNOWN)),
        respondent=_respondents(answered, questionnaire),
        yes=masses[0],
        no=masses[1],
        answers=answered.rows["answers"].copy() if answered.rows["answers"].any() else None,
        prompt=answered.rows["prompt"].copy(),
    )


def _with_void(
    predictions: ModelPredictions, statements: Iterable[Statement], language: str
) -> ModelPredictions:
    """Return predictions that mark the wordings that read like the original of their target.

    Differences in case and blanks are ignored.
    """
    statement_by_ref = {statement.ref: statement for statement in statements}
    void = np.zeros((len(predictions.wordings), len(predictions.targets)), dtype=np.bool_)
    for t, ref in enumerate(predictions.targets):
        statement = statement_by_ref.get(ref)
        original = None if statement is None else statement.wording(ORIGINAL, language)
        if statement is None or original is None:
            continue
        for w, variant in enumerate(predictions.wordings):
            wording = statement.wording(variant, language)
            if wording is not None and variant != ORIGINAL:
                void[w, t] = folded(wording.text) in ("", folded(original.text))
    return replace(predictions, void=void) if void.any() else predictions


def _human(questionnaire: Questionnaire, people: Collection[str]) -> FloatArray:
    """Return the answer of each respondent to each target: (T, R).

    It is NaN for an answer that is neither yes nor no, and for respondents who do not count.
    """
    answers = [
        [HUMAN[meaning] for meaning in questionnaire.meanings(question)]
        for question in questionnaire.of_role(QuestionRole.TARGET)
    ]
    human = np.array(answers, dtype=np.float64).reshape(
        len(answers), len(questionnaire.respondents)
    )
    human[:, [respondent.name not in people for respondent in questionnaire.respondents]] = np.nan
    return human


def reasons(why: Iterable[str]) -> str:
    """Return the reasons for failures, the most frequent first: `too long (12), refused (1)`."""
    return ", ".join(f"{reason} ({n:,})" for reason, n in Counter(why).most_common(3))


USUAL = Contexts()


def asking_again(store: Store, run: Run, found: GatheredPredictions, usual_language: str) -> str:
    """Return the commands that replace the outdated prompts of a run, or an empty string."""
    outdated = {
        condition
        for condition in found.predictions.conditions
        if found.count_outdated(condition, wording=None)
    }
    if not outdated:
        return ""
    conditions_by_options: dict[str, list[str]] = {}
    for design in map(Design.from_json, store.predictions.designs(run)):
        language = "" if run.language == usual_language else run.language
        options = " ".join(_options(replace(design, language=language)))
        conditions = conditions_by_options.setdefault(options, [])
        conditions += [
            name for name in _again_conditions(design, outdated) if name not in conditions
        ]
    commands = [
        f"workbench run STORE --audit {AUDIT} {options} --conditions {shlex.quote(','.join(names))}"
        for options, names in conditions_by_options.items()
        if names
    ]
    return "; ".join(commands)


def _again_conditions(design: Design, old: set[Condition]) -> Iterator[str]:
    """Yield the conditions of a design with outdated prompts."""
    questions = design.contexts.questions
    for name in expanded(design.contexts.conditions):
        seed = design.seed if is_drawn(name) else 0
        if Condition(name, seed, 0 if name == ZERO_SHOT else questions) in old:
            yield name


def _options(design: Design) -> Iterator[str]:
    """Yield the command-line options of a design that differ from the defaults."""
    contexts = design.contexts
    values_by_option = {
        "instrument": (design.instrument, ""),
        "model": (design.model, ""),
        "dtype": (design.dtype, ""),
        "chat-format": (design.chat_format, ""),
        "language": (design.language, ""),
        "statements": (",".join(design.statements), ""),
        "variants": (",".join(design.variants), ""),
        "respondents": (str(contexts.respondents), str(USUAL.respondents)),
        "every": (str(contexts.every), str(USUAL.every)),
        "context-questions": (str(contexts.questions), str(USUAL.questions)),
        "seed": (str(design.seed), "1"),
    }
    for name, (value, default) in values_by_option.items():
        if value != default:
            yield f"--{name} {shlex.quote(value)}"
