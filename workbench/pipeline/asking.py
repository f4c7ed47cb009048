"""The collection of missing answers, and their commits as they arrive."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stores.core.store import Store
from stores.runs.run_rows import Answered
from workbench import registry
from workbench.domain.courses import Course
from workbench.domain.gpus import Gpu
from workbench.domain.probe_results import FIRST, FirstAnswers, Reasons
from workbench.domain.responses import Answerer, Drawn, ModelCard, Request
from workbench.evidence.readings import BatchReader
from workbench.evidence.settling import Read
from workbench.inference.base import (
    Asking,
    Changing,
    Doubtful,
    GpuWatch,
    Metered,
    Thinking,
    Unhurried,
)
from workbench.pipeline.planning import Plan, refreshed

if TYPE_CHECKING:
    from workbench.inference.base import Model

FLUSH_AFTER_S = 1.0
"answers wait no longer than this before they are committed"

Came = dict[bytes, tuple[int, int]]
"prompt key -> (answers that count, all answers)"


@dataclass(slots=True)
class AskingProgress:
    """The progress of a collection, for people who watch."""

    done: int
    total: int
    answers: int = 0
    unreadable: int = 0
    refused: int = 0
    truncated: int = 0
    "answers that were cut off in thought"
    failed: int = 0
    decided: int = 0
    "answers that were ended because their stance was settled"
    invalid: int = 0
    "answers that are drawn again because they are none of those offered, or cut off in thought"
    over: int = 0
    """number of valid answers beyond the expected ones

    The number of valid answers of a round is not known before.
    """
    short: int = 0
    "prompts that have too few valid answers after all tries"
    lacking: int = 0
    "valid answers that these lack"
    spared: int = 0
    "answers that need not be drawn, as the verdicts of their prompts are settled"
    settled: int = 0
    "number of prompts that are settled before all their answers are drawn"
    settlement: str = ""
    "the share of the answers that settling took, for people"
    seconds: float = 0.0
    course: Course = field(default_factory=Course)
    "(seconds, answers, unreadable or invalid ones) at the commits"
    shared: float = 0.0
    "share of prompt tokens that were not computed again"
    merged: float = 0.0
    "share of answer tokens that were not computed again"
    used: Mapping[str, float] = field(default_factory=dict)
    "usage of a served model's calls, see `Metered`"
    asked: Mapping[str, str] = field(default_factory=dict)
    "notes on a served model: its dialect, and its refusals"
    thought_before: int = 0
    "tokens of thoughts of the model when the attempt began"
    reasons: Reasons = field(default_factory=Reasons)
    "reasons of the failed answers"
    answerers: Sequence[Answerer] = ()
    "the answers of each snapshot of a served model"
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    "answers of a served model by their `system_fingerprint`"
    watch: GpuWatch | None = None
    "the reader of the GPUs, or None before the first look"
    gpus: Sequence[Gpu] = ()
    "the load of each GPU of the model"
    hopeless: str = ""
    """why the remaining answers are not asked for

    Not one of the first can be read, or they are not drawn.
    """
    undrawn: str = ""
    "why a served model's answers are not drawn"

    def fail(self, reason: str, count: int) -> None:
        """Count failures of one reason."""
        self.failed += count
        self.reasons.add(reason, count)

    def mark(self, seconds: float, n_unreadable: int) -> None:
        """Record the time since the attempt began, and a point of its course."""
        self.seconds = seconds
        self.course.add(round(seconds, 2), self.answers, n_unreadable)

    def hear(self, model: Model) -> None:
        """Record the usage of a served model, and the load of the GPUs of a local one."""
        self.watch = self.watch or GpuWatch.of(model)
        self.gpus = self.watch.look(model, self.seconds)
        self.used = model.meter() if isinstance(model, Metered) else {}
        if isinstance(model, Thinking) and model.thinking_tokens > self.thought_before:
            self.used = {**self.used, "tokens_thought": model.thinking_tokens - self.thought_before}
        self.asked = model.asked if isinstance(model, Asking) else {}
        if isinstance(model, Changing):
            self.answerers, self.fingerprints = model.answerers, model.fingerprints

    def as_json(self) -> str:
        return json.dumps(
            {
                **self.used,
                "snapshots": [asdict(answerer) for answerer in self.answerers],
                "fingerprints": sorted(self.fingerprints.items()),
                **({"asked": dict(self.asked)} if self.asked else {}),
                **({"gpus": [asdict(gpu) for gpu in self.gpus]} if self.gpus else {}),
                "answers": self.answers,
                "unreadable": self.unreadable,
                "refused": self.refused,
                "truncated": self.truncated,
                "failed": self.failed,
                "lasting": self.reasons.lasting,
                "reasons": self.reasons.most_frequent(),
                "decided": self.decided,
                "invalid": self.invalid,
                "over": self.over,
                "short": self.short,
                **(
                    {"spared": self.spared, "settled": self.settled, "settlement": self.settlement}
                    if self.spared
                    else {}
                ),
                "seconds": round(self.seconds, 2),
                "shared": round(self.shared, 4),
                "merged": round(self.merged, 4),
                "course": self.course.points,
            }
        )


class _Asking:
    """One attempt at a plan.

    New answers are committed about once a second, together with the job's progress.
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
        self.progress = AskingProgress(plan.samples_stored, plan.samples)
        self._standing(plan)
        self.progress.watch = GpuWatch.of(model)
        if isinstance(model, Thinking):
            self.progress.thought_before = model.thinking_tokens
        self.plan = plan
        self._store, self._model, self._attempt, self._job = store, model, attempt, job
        self._should_stop = should_stop
        self._turns = turns_of(model)
        self._ids: dict[ModelCard, tuple[int, int]] = {}
        self._reading = BatchReader.for_probes(store, plan.templates, plan.probes)
        self._first = first
        self._batch: list[Answered] = []
        self._said: dict[bytes, Read] = {}
        "the readings of new answers that the plan does not know of yet"
        self._started = self._committed = time.monotonic()
        # Otherwise the first reply names the snapshot that answers.
        if not isinstance(model, Changing) or model.card.snapshot:
            self._ids_of(None)

    @property
    def changed(self) -> bool:
        """Whether a served model has changed since the plan was made."""
        return turns_of(self._model) != self._turns

    @property
    def ends(self) -> bool:
        """Whether nothing more is to be asked."""
        return bool(self._should_stop() or self._store.moved or self.progress.hopeless)

    @property
    def _looks_now(self) -> bool:
        """Whether there are enough answers to look at the first ones, however fast they came."""
        first = self._first
        if first is None or (first.alike and isinstance(self._model, Doubtful)):
            return first is not None
        return not first.decided and self.progress.answers - first.answers >= FIRST

    def turn(self) -> str:
        """Plan for the model that answers now, and return a message on the change."""
        self._turns = turns_of(self._model)
        self.plan = refreshed(self._store, self.plan, self._model.card, self._attempt)
        self._said = {}
        progress = self.progress
        progress.done, progress.total = self.plan.samples_stored, self.plan.samples
        self._standing(self.plan)
        return changed_words(
            self._model.card.name, self._turns, f"{self.plan.samples_needed:,} answers"
        )

    def ask(self, wanted: Sequence[tuple[bytes, Request]]) -> Came:
        """Ask once and commit the answers.

        Return the numbers for each prompt without failures.

        Until the first answers were looked at, no more is asked than they are.
        """
        counts: Came = {}
        for portion in self._portions(wanted):
            counts |= self._ask(portion)
            if self.ends or self.changed:
                break
        return counts

    def _portions(
        self, wanted: Sequence[tuple[bytes, Request]]
    ) -> Iterator[Sequence[tuple[bytes, Request]]]:
        first, begin = self._first, 0
        while first is not None and not first.decided and not first.at_once and begin < len(wanted):
            answers, prompts = first.lacking
            end = begin
            while end < len(wanted) and (answers > 0 or prompts > end - begin):
                answers -= wanted[end][1].n
                end += 1
            yield wanted[begin:end]
            begin = end
        if begin < len(wanted):
            yield wanted[begin:]

    def _ask(self, wanted: Sequence[tuple[bytes, Request]]) -> Came:
        counts: Came = {}
        answers = self._model.generate(
            [request for _, request in wanted], self.plan.design.sampling
        )
        try:
            for drawn in answers:
                key, request = wanted[drawn.request]
                self._batch.append(_answered(key, request, drawn, self._ids_of(drawn.snapshot)[0]))
                counts_before = counts.get(key, (0, 0))
                valid, total = self._count(key, drawn, counts_before[0])
                if not drawn.failed:
                    counts[key] = counts_before[0] + valid, counts_before[1] + total
                is_due = time.monotonic() - self._committed >= FLUSH_AFTER_S
                if not drawn.more and (drawn.wait or is_due or self._looks_now):
                    self.commit()
                    if self.ends:
                        if not isinstance(self._model, Unhurried):
                            break
                        self._model.wind_down()
        finally:
            _close(answers)
            if self._batch:
                self.commit()
        return counts

    def go_on(self, came: Came) -> None:
        """Update the plan with the new answers.

        Invalid answers are drawn again, and settled prompts are not asked any more.
        """
        if self.plan.settling is None:
            self.plan = self.plan.with_answers(came)
        self._standing(self.plan)

    def settle(self, wanted: Sequence[tuple[bytes, Request]]) -> None:
        """Record the answers of a round to prompts that are asked until settled.

        Note which of them are settled.
        """
        if self.plan.settling is None or self.changed:
            return
        self.plan = self.plan.with_settled_answers(
            self._said, {key: request.first + request.n for key, request in wanted}
        )
        self._said = {}
        assert self.plan.settling is not None
        self._store.settlements.settle(*self._ids_of(None), self.plan.settling.settled_at())
        self.progress.settlement = self.plan.settling.describe()
        self._standing(self.plan)

    def _standing(self, plan: Plan) -> None:
        """Record the answers that a plan no longer needs."""
        progress = self.progress
        progress.short, progress.lacking = len(plan.given_up), plan.samples_given_up
        progress.spared, progress.settled = plan.samples_spared, plan.prompts_settled

    def commit(self) -> None:
        """Write the new answers with their readings, and the progress of the job."""
        progress, work = self.progress, self._model.work
        readings = self._reading.read(self._batch)
        reader = self._reading
        progress.unreadable, progress.refused, progress.truncated = (
            reader.unreadable,
            reader.refused,
            reader.truncated,
        )
        self._look()
        progress.mark(
            time.monotonic() - self._started,
            progress.unreadable if self.plan.tally is None else progress.invalid,
        )
        progress.shared = saved(work.prompt_tokens, work.prompt_tokens_computed)
        progress.merged = saved(work.sampled_tokens, work.sampled_tokens_computed)
        progress.hear(self._model)
        state = (
            None
            if self._job is None
            else (self._job, progress.done + progress.spared, progress.as_json())
        )
        ids = self._ids_of(None)
        self._store.keep(
            lambda: self._store.runs.add(
                *ids, self._attempt, self._batch, job=state, readings=readings
            ),
            self._batch,
        )
        self._batch.clear()
        self._committed = time.monotonic()

    def _look(self) -> None:
        """Check whether the first answers can be read.

        If answers are drawn until they are valid, check whether one is.
        """
        first, progress, reader = self._first, self.progress, self._reading
        if first is None:
            return
        if first.alike and isinstance(self._model, Doubtful):
            first.undrawn = progress.undrawn = self._model.undrawn(self.plan.design.sampling)
            first.differ = not first.undrawn
            if first.undrawn:
                progress.hopeless = first.describe()
                return
        if first.readable:
            return
        free_text = registry.audit(self.plan.design.audit).nature.free_text
        n_unread = (
            reader.silent(free_text=free_text) if self.plan.tally is None else progress.invalid
        )
        keys = [item.prompt_key for item in self._batch if item.answers]
        texts = (text for item in self._batch for text, _ in item.answers)
        first.look(keys, texts, progress.answers, n_unread, reader.refused, reader.truncated)
        progress.hopeless = first.describe() if first.hopeless else ""

    def _ids_of(self, snapshot: str | None) -> tuple[int, int]:
        """Return the rowids of the model that gave an answer, and of the sampling."""
        card = replace(self._model.card, occasion=self.plan.design.occasion)
        card = card if snapshot is None else replace(card, snapshot=snapshot)
        if card not in self._ids:
            ids = self._ids[card] = self._store.runs.begin(card, self.plan.design.sampling)
            self._store.runs.note_plan(*ids, self.plan.prompts, self.plan.design.samples)
            if self.plan.settling is not None:
                self._store.settlements.note(*ids, self.plan.settling.by())
        return self._ids[card]

    def _count(self, key: bytes, drawn: Drawn, before: int) -> tuple[int, int]:
        """Record the progress of a job by answers to a prompt, and return (those that count, all).

        `before` is the number of valid answers of the same round so far.
        """
        if self._first is not None:
            self._first.drew(key, drawn.answers)
        n_new, tally, progress = (
            sum(count for _, count in drawn.answers),
            self.plan.tally,
            self.progress,
        )
        valid = n_new if tally is None else tally.count(key, drawn.answers)
        n_wanted = max(0, self.plan.design.samples - self.plan.stored.get(key, 0) - before)
        progress.done += n_new if tally is None else min(valid, n_wanted)
        progress.over += 0 if tally is None else max(0, valid - n_wanted)
        if self.plan.settling is not None:
            new_reading = self.plan.settling.read(key, drawn.answers)
            known_reading = self._said.get(key, (0, 0, 0))
            self._said[key] = (
                known_reading[0] + new_reading[0],
                known_reading[1] + new_reading[1],
                known_reading[2] + new_reading[2],
            )
        progress.answers += n_new
        progress.invalid += n_new - valid
        progress.decided += drawn.decided
        if drawn.failed:
            progress.fail(drawn.reason, drawn.failed)
        return valid, n_new


def collect(
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
    """Ask for the missing answers, and commit them with their readings and the job's progress.

    If answers are drawn until they are valid, what is missing then is asked again, until nothing is
    or no tries are left. A prompt that failed waits for another attempt. Stops after the answers at
    hand when `should_stop` says so. What was committed is complete and stays. Calls to a served
    model that are under way then are paid for, so they are waited for. `only`: of these prompts
    (keys) alone. If a served model becomes another one on the way, `say` is told. What the new one
    lacks is asked of it, except prompts that are answered in full. With `first` it stops, too, if
    not one of the first answers can be read.

    Raises StoreGone, which names the copy that all was written to, if the store's file went away
    meanwhile.
    """
    if plan.templates:
        design = plan.design
        store.runs.add_probes(
            design.audit,
            design.instrument,
            design.language,
            plan.templates,
            plan.probes,
            design.personas,
        )
    asking = _Asking(store, plan, model, attempt, job, should_stop, first)
    initial_only = only
    while requests := [
        (key, request) for key, request in asking.plan.requests() if only is None or key in only
    ]:
        new_counts = asking.ask(requests)
        if asking.changed and not asking.ends:
            say(asking.turn())
            only = initial_only
            continue
        asking.settle(requests)
        if not plan.in_rounds or asking.ends:
            break
        asking.go_on(new_counts)
        only = frozenset(new_counts)
    if plan.in_rounds:
        asking.settle([])
        asking.commit()
    store.check_moved()
    return asking.progress


def turns_of(model: Model) -> tuple[tuple[str, str], ...]:
    """Return the changes of a served model: (snapshot before, snapshot after).

    Other models never change.
    """
    return tuple(model.turns) if isinstance(model, Changing) else ()


def changed_words(name: str, turns: Sequence[tuple[str, str]], left: str) -> str:
    """Return the message that a served model has changed, with the consequence for its answers."""
    previous, current = (snapshot or "an unknown snapshot" for snapshot in turns[-1])
    return (
        f"{name}: the endpoint answers with {current} now, with {previous} before. Answers so far "
        f"stay those of {previous}; "
        f"prompts that it has not answered in full are asked of {current} ({left} to go)"
    )


def _answered(key: bytes, request: Request, drawn: Drawn, model_id: int) -> Answered:
    n_answers = sum(count for _, count in drawn.answers) + drawn.failed
    return Answered(
        key,
        request.seed,
        n_answers,
        drawn.answers,
        drawn.failed,
        drawn.reason,
        drawn.decided,
        model_id,
        drawn.fingerprint,
        request.first,
        request.n,
    )


def _close(answers: Iterator[Any]) -> None:
    close = getattr(answers, "close", None)
    if close is not None:
        close()


def saved(naive: int, computed: int) -> float:
    """Return the share of tokens that were not computed again."""
    return 1 - computed / naive if naive else 0.0
