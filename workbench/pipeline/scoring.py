"""The computation of missing probabilities of a design that samples nothing.

If an audit reads labels, their probabilities are scored. In the same pass the likeliest next tokens
of each prompt are stored, if the backend offers them: they show what the model would say in place
of a label. If an audit reads the next token itself, that table is all there is, with the
probability of the two labels over the whole vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from stores.core.store import Store
from stores.runs.scores import NextTokenTable, ScoredPrompt
from workbench import registry
from workbench.domain.probe_results import FIRST, FirstAnswers
from workbench.domain.prompts import Prompt
from workbench.domain.responses import ModelCard
from workbench.domain.thinking import in_thought
from workbench.errors import BudgetSpent, ModelError, SnapshotsAlternate
from workbench.inference.base import (
    Configured,
    GpuWatch,
    Metered,
    NextTokens,
    ScoredOptions,
    Unhurried,
    Windowed,
)
from workbench.pipeline.asking import FLUSH_AFTER_S, AskingProgress, changed_words, saved, turns_of
from workbench.pipeline.planning import Plan, refreshed
from workbench.readers.verbalizers import PUBLISHED_TOP, forms_by_prompt, mass

if TYPE_CHECKING:
    from workbench.inference.base import Model

LOOKED_AT = 24
"number of the longest prompts with a context, by their characters, whose tokens are counted"
AFTER = 1
"number of tokens that must fit after a prompt"


def check_window(model: Model, prompts: Iterable[Prompt]) -> None:
    """Raise ModelError if a prompt with a context does not fit.

    The message tells how many questions do.

    A prompt that is too long and not among the longest by characters is refused by itself when it
    is asked.
    """
    if not isinstance(model, Windowed) or model.window is None:
        return
    with_context = (prompt for prompt in prompts if _pairs(prompt))
    longest = sorted(with_context, key=_characters, reverse=True)[:LOOKED_AT]
    max_tokens = model.window - AFTER
    lengths = model.lengths(longest)
    too_long = [
        (length, prompt)
        for length, prompt in zip(lengths, longest, strict=True)
        if length > max_tokens
    ]
    if not too_long:
        return
    n_tokens, worst = max(too_long, key=lambda item: item[0])
    fits = min(_fitting(model, prompt, max_tokens) for _, prompt in too_long)
    raise ModelError(
        f"a context of {_pairs(worst)} answered questions with its target has {n_tokens:,} tokens, "
        f"and the window of {model.card.name} is {model.window:,}: "
        + (
            f"{fits} of the questions fit. Ask with --context-questions {fits}, or take a model "
            "with a longer window"
            if fits
            else "not one question fits. Take a model with a longer window, or ask zero-shot"
        )
    )


def _fitting(model: Windowed, prompt: Prompt, most: int) -> int:
    """Return the number of a prompt's first answered questions that fit with the target.

    It is found by bisection.
    """
    low, high = 0, _pairs(prompt)
    while low < high:
        middle = (low + high + 1) // 2
        if model.lengths([_first(prompt, middle)])[0] <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _first(prompt: Prompt, pairs: int) -> Prompt:
    """Return a prompt with only its first answered questions."""
    system = prompt.context % 2
    return Prompt(
        (*prompt.messages[: system + 2 * pairs], *prompt.messages[prompt.context :]), prompt.chat
    )


def _pairs(prompt: Prompt) -> int:
    return prompt.context // 2


def _characters(prompt: Prompt) -> int:
    return sum(len(message.content) for message in prompt.messages)


THINKS = (
    "the model begins by thinking (its likeliest next token is {token!r}, {share:.1%}), so that "
    "token is no answer. "
    "Sample it instead, or name a chat template that ends the thought (--chat-format)"
)

T = TypeVar("T")

TOP = 20
"""number of next tokens that are stored of each prompt

Served models name this many.
"""
TOGETHER = 512
"""number of prompts whose tokens and labels are computed before the next ones'

It is enough to share most of their common beginnings.
"""
TOGETHER_SERVED = 64
"""the same of a served model

It shares nothing, and its current prompts are asked anew when it changes.
"""


@dataclass(slots=True)
class _Batch:
    """The computed results that are not committed."""

    scored: list[ScoredPrompt] = field(default_factory=list)
    tables: dict[bytes, NextTokenTable] = field(default_factory=dict)


class _Scoring:
    """One attempt at a plan.

    Results are committed about once a second, together with the job's progress.
    """

    def __init__(
        self,
        store: Store,
        plan: Plan,
        model: Model,
        attempt: int,
        job: int | None,
        should_stop: Callable[[], bool],
        first: FirstAnswers | None,
    ) -> None:
        self._first, self._looked, self._silent = first, 0, 0
        self.progress = AskingProgress(
            done=plan.samples_stored, total=plan.samples, watch=GpuWatch.of(model)
        )
        self.stopped = False
        self._store, self._model, self._attempt, self._job = store, model, attempt, job
        self._should_stop = should_stop
        self._labels_wanted = registry.audit(plan.design.audit).defaults.exact_by == "labels"
        self._forms = forms_by_prompt(plan.templates, plan.probes) if self._labels_wanted else {}
        self._words = () if self._labels_wanted else labels_of(plan)
        self.plan = plan
        self._turns = turns_of(model)
        self._ids: dict[ModelCard, tuple[int, int]] = {}
        self._offers_tokens = True
        self._batches: dict[tuple[int, int], _Batch] = {}
        self._tabled: dict[bytes, str | None] = {}
        """prompt key -> the snapshot that named its next tokens

        It has the prompts that are computed together.
        """
        self._thinks: dict[bytes, str] = {}
        "prompt key -> why its next token is no answer, of the same prompts"
        self._started = self._committed = time.monotonic()

    @property
    def changed(self) -> bool:
        """Whether a served model has changed since the plan was made."""
        return turns_of(self._model) != self._turns

    def turn(self) -> str:
        """Plan for the model that answers now, and return a message on the change."""
        self._turns = turns_of(self._model)
        self.plan = refreshed(self._store, self.plan, self._model.card, self._attempt)
        self.progress.done, self.progress.total = self.plan.samples_stored, self.plan.samples
        return changed_words(
            self._model.card.name, self._turns, f"{self.plan.samples_needed:,} prompts"
        )

    def score(self, prompts: Sequence[tuple[bytes, Prompt]]) -> None:
        """Compute and commit the results of some prompts.

        Tokens come first, so that a scored prompt has them.
        """
        self._tabled.clear()
        self._thinks.clear()
        try:
            if not self._labels_wanted:
                self._next(prompts)
                return
            with_tokens = self._store.scores.with_tokens(self._ids_of(None)[0])
            self._tokens([(key, prompt) for key, prompt in prompts if key not in with_tokens])
            if self.changed:  # prompts answered before the change are paid and may be complete
                prompts = [(key, prompt) for key, prompt in prompts if key in self._tabled]
            if not self.stopped:
                self._labels(prompts)
        finally:
            self._commit()

    def _next(self, prompts: Sequence[tuple[bytes, Prompt]]) -> None:
        """Record the next tokens of prompts that are asked for nothing else."""
        with closing_of(
            self._model.next_tokens([prompt for _, prompt in prompts], TOP, self._words)
        ) as tables:
            for next_tokens in tables:
                key = prompts[next_tokens.prompt][0]
                thought_reason = "" if next_tokens.reason else begins_in_thought(next_tokens)
                reason, is_silent = next_tokens.reason or thought_reason, bool(thought_reason)
                if not reason:
                    table = self._batch(next_tokens.snapshot).tables[key] = _table(next_tokens)
                    is_silent = not any(
                        mass(table.tokens[:PUBLISHED_TOP], word) for word in self._words
                    )
                    self.progress.unreadable += is_silent
                if not next_tokens.reason:
                    self._look(key, is_silent, next_tokens.texts)
                self._count(
                    ScoredPrompt(key, (), reason, next_tokens.fingerprint), next_tokens.snapshot
                )
                if self._pause():
                    return

    def _tokens(self, prompts: Sequence[tuple[bytes, Prompt]]) -> None:
        """Record the likeliest next tokens.

        An endpoint that offers none is not paid for saying so again.
        """
        if not self._offers_tokens or not prompts:
            return
        try:
            with closing_of(
                self._model.next_tokens([prompt for _, prompt in prompts], TOP)
            ) as tables:
                for next_tokens in tables:
                    key = prompts[next_tokens.prompt][0]
                    if reason := begins_in_thought(next_tokens):
                        self._thinks[key] = reason
                    elif not next_tokens.reason:
                        self._batch(next_tokens.snapshot).tables[key] = _table(next_tokens)
                        self._tabled[key] = next_tokens.snapshot
                    if self._pause():
                        return
        except (BudgetSpent, SnapshotsAlternate):
            raise
        except ModelError:
            self._offers_tokens = not isinstance(self._model, Metered)

    def _labels(self, prompts: Sequence[tuple[bytes, Prompt]]) -> None:
        forms = [self._forms[key] for key, _ in prompts]
        with closing_of(
            scored_one_by_one(self._model, [prompt for _, prompt in prompts], forms)
        ) as scores:
            for score in scores:
                index = score.prompt
                if score.snapshot not in (
                    None,
                    self._tabled.get(prompts[index][0], score.snapshot),
                ):
                    continue  # the labels are from another model than the tokens: asked anew
                self._record_score(prompts[index][0], forms[index], score)
                if self._pause():
                    return

    def _record_score(self, key: bytes, forms: Sequence[str], scored: ScoredOptions) -> None:
        thought_reason = self._thinks.get(key, "")
        if not scored.reason:
            self._look(key, bool(thought_reason), (thought_reason,))
        reason = scored.reason or thought_reason
        reason = reason or (
            "a probability is undefined" if np.isnan(scored.log_probabilities).any() else ""
        )
        logs = (
            () if reason else tuple(zip(forms, map(float, scored.log_probabilities), strict=True))
        )
        self._count(ScoredPrompt(key, logs, reason, scored.fingerprint), scored.snapshot)

    def _batch(self, snapshot: str | None) -> _Batch:
        """Return the uncommitted results of a snapshot.

        None stands for the one that answers now.
        """
        return self._batches.setdefault(self._ids_of(snapshot), _Batch())

    def _ids_of(self, snapshot: str | None) -> tuple[int, int]:
        """Return the rowids of the model that answered, and of the sampling."""
        card = replace(self._model.card, occasion=self.plan.design.occasion)
        card = card if snapshot is None else replace(card, snapshot=snapshot)
        if card not in self._ids:
            self._ids[card] = self._store.runs.begin(card, self.plan.design.sampling)
        return self._ids[card]

    def _count(self, scored: ScoredPrompt, snapshot: str | None) -> None:
        self._batch(snapshot).scored.append(scored)
        self.progress.done += not scored.reason
        self.progress.answers += not scored.reason
        if scored.reason:
            self.progress.fail(scored.reason, 1)

    def _look(self, key: bytes, silent: bool, texts: Sequence[str]) -> None:
        """Check whether the first prompts have an answer among their likeliest next tokens."""
        if self._first is None or self._first.readable:
            return
        self._looked += 1
        self._silent += silent
        self._first.look([key], texts[:1], self._looked, self._silent, 0, 0)
        self.progress.hopeless = self._first.describe() if self._first.hopeless else ""

    def _pause(self) -> bool:
        """Commit about once a second, and return whether to stop at once.

        Calls that are paid for are waited for.
        """
        is_hopeless = bool(self.progress.hopeless) and not self.stopped
        if is_hopeless or time.monotonic() - self._committed >= FLUSH_AFTER_S:
            self._commit()
            if not self.stopped and (
                self._should_stop() or self._store.moved or self.progress.hopeless
            ):
                self.stopped = True
                if isinstance(self._model, Unhurried):
                    self._model.wind_down()
        return self.stopped and not isinstance(self._model, Unhurried)

    def _commit(self) -> None:
        batches, self._batches = self._batches, {}
        self._committed = time.monotonic()
        progress, work = self.progress, self._model.work
        progress.mark(self._committed - self._started, progress.unreadable)
        progress.shared = saved(work.prompt_tokens, work.prompt_tokens_computed)
        progress.hear(self._model)
        state = None if self._job is None else (self._job, progress.done, progress.as_json())
        for ids, batch in batches.items():
            self._write(ids, batch, state)

    def _write(
        self, ids: tuple[int, int], batch: _Batch, state: tuple[int, int, str] | None
    ) -> None:
        ids_and_attempt = (*ids, self._attempt)
        self._store.keep(
            lambda: self._store.scores.add(*ids_and_attempt, batch.scored, batch.tables, job=state),
            batch.scored,
        )


def score_design(
    store: Store,
    plan: Plan,
    model: Model,
    *,
    attempt: int,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    only: Set[bytes] | None = None,
    say: Callable[[str], None] = lambda _: None,
    first: FirstAnswers | None = None,
) -> AskingProgress:
    """Compute the missing label probabilities.

    `done` and `answers` of the progress count prompts.

    What was committed is complete and stays. A prompt that cannot be scored is stored as failed,
    with the reason. `only`: of these prompts (keys) alone. If a served model becomes another one on
    the way, `say` is told, and what is left is scored by the new one. With `first` it stops, too,
    if not one of the first prompts has an answer among its likeliest next tokens. Raises UsageError
    if a template's answers are not two labels, ModelError if the model cannot go on.
    """
    design = plan.design
    store.runs.add_probes(
        design.audit,
        design.instrument,
        design.language,
        plan.templates,
        plan.probes,
        design.personas,
    )
    if isinstance(model, Configured):
        model.score_with(plan.design.sampling)
    scoring = _Scoring(store, plan, model, attempt, job, should_stop, first)
    portion_size = TOGETHER_SERVED if isinstance(model, Metered) else TOGETHER
    while True:
        missing = [
            (key, prompt)
            for key, prompt in plan.prompts.items()
            if not scoring.plan.stored.get(key) and (only is None or key in only)
        ]
        check_window(model, (prompt for _, prompt in missing))
        all_at_once = bool(plan.design.cluster)  # a cluster loads the model each time
        for portion in [missing] if all_at_once else _portions(plan, missing, portion_size, first):
            scoring.score(portion)
            if scoring.stopped or scoring.changed or scoring.progress.hopeless or should_stop():
                break
        store.check_moved()
        if scoring.stopped or not scoring.changed or scoring.progress.hopeless or should_stop():
            return scoring.progress
        say(scoring.turn())


def _portions(
    plan: Plan, wanted: Sequence[tuple[bytes, Prompt]], together: int, first: FirstAnswers | None
) -> Iterator[Sequence[tuple[bytes, Prompt]]]:
    """Yield prompts that are computed together.

    All of one value of the audit's `portion_axis` are finished before the next begins: a run that
    is stopped should leave whole figures of the first. Until the first prompts were looked at, no
    more are computed.
    """
    axis = registry.audit(plan.design.audit).portion_axis
    values = {probe.prompt.key: dict(probe.axes).get(axis) for probe in reversed(plan.probes)}
    for _, group in groupby(wanted, key=lambda item: values.get(item[0])):
        value_prompts = list(group)
        begin = 0
        while begin < len(value_prompts):
            end = begin + (together if first is None or first.decided else min(together, FIRST))
            yield value_prompts[begin:end]
            begin = end


def labels_of(plan: Plan) -> tuple[str, ...]:
    """Return the labels of a plan's templates, each once, or the letters of lettered options."""
    audit = registry.audit(plan.design.audit)
    if letters := {letter for probe in plan.probes for letter in audit.offered(probe)}:
        return tuple(sorted(letters))
    return tuple(
        dict.fromkeys(
            label for template in plan.templates for label in (template.positive, template.negative)
        )
    )


def begins_in_thought(next_tokens: NextTokens) -> str:
    """Return the reason why the next token is no answer, or an empty string if it is one.

    The likeliest token may begin a thought.
    """
    if not next_tokens.texts or not in_thought(next_tokens.texts[0]):
        return ""
    return THINKS.format(
        token=next_tokens.texts[0], share=float(np.exp(next_tokens.log_probabilities[0]))
    )


def _table(next_tokens: NextTokens) -> NextTokenTable:
    tokens = zip(next_tokens.texts, map(float, next_tokens.log_probabilities), strict=True)
    return NextTokenTable(tuple(tokens), float(next_tokens.rest), next_tokens.words)


def scored_one_by_one(
    model: Model, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]
) -> Iterator[ScoredOptions]:
    """Yield scores of whole words as `Model.score`.

    If a local model refuses, find the prompts that it refuses, and the reasons.

    A served model says itself which prompts it refused: an error is the end of its run.
    """
    remaining = dict.fromkeys(range(len(prompts)))
    try:
        with closing_of(model.score(prompts, options, whole_words=True)) as scores:
            for score in scores:
                del remaining[score.prompt]
                yield score
        return
    except ModelError:
        if isinstance(model, Metered):
            raise
    for index in remaining:
        try:
            for score in model.score([prompts[index]], [options[index]], whole_words=True):
                yield ScoredOptions(index, score.log_probabilities, score.reason)
        except ModelError as error:
            yield ScoredOptions(index, np.full(len(options[index]), np.nan), str(error))


@contextmanager
def closing_of(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Close an iterator at the end, if it can be closed. That stops its work."""
    try:
        yield items
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
