"""Calls until there is an answer or a final failure.

The module handles retries, waits, the budget, and when to give up on a server.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

import numpy as np

from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import BudgetSpent, ModelError, SnapshotsAlternate
from workbench.inference.base import Work
from workbench.inference.served.behaviour import Snapshots
from workbench.inference.served.budget import Account, Room, Usage, counted_usage, prompt_tokens
from workbench.inference.served.calls import Body, Dialect, ModelCall, call_seed
from workbench.inference.served.client import CallPace, Client, RetryPolicy, Slot, wait_before
from workbench.inference.served.reply import (
    FailureKind,
    Reply,
    TryFailed,
    answers_by_snapshot,
    read_reply,
)

GIVE_UP_AFTER = 4
"consecutive requests without any answer after which the rest is not tried"
LONG = (FailureKind.LATE, FailureKind.USELESS)
DOWN = (FailureKind.LATE, FailureKind.BROKEN, FailureKind.ABSENT, FailureKind.BUSY)
"failures of the server, not of the request"


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of one call and its retries: answers, or the reason why there are none."""

    texts: tuple[str, ...] = ()
    failure: TryFailed | None = None
    by: tuple[str, str] = ("", "")
    "snapshot and fingerprint"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that failed and waits for its next try."""

    why: str
    attempt: int
    "number of the next try"
    tries: int
    "number of tries after which the call is given up"
    until: float
    "time of the beginning of the next try, on the monotonic clock"

    def describe(self) -> str:
        """Return the state of the call as one line of a job's progress."""
        seconds = self.until - time.monotonic()
        when = f"next try in {seconds:.0f} s" if seconds >= 1 else "trying now"
        return f"{self.why}, attempt {self.attempt} of {self.tries}, {when}"


class Stopped(Exception):
    """The end of a run: no further call is started."""


class Asker:
    """The caller of one endpoint during one or more runs. It belongs to one event loop."""

    def __init__(
        self,
        client: Client,
        dialect: Dialect,
        account: Account,
        patience: RetryPolicy,
        work: Work,
        snapshots: Snapshots,
        rng: np.random.Generator,
        hidden: str | None,
    ):
        self.client = client
        self.pace = CallPace(patience.concurrency)
        self._dialect, self._account, self._patience = dialect, account, patience
        self._work, self._snapshots, self._rng = work, snapshots, rng
        self._hidden = hidden
        self.filtered = 0
        self.waiting: Waiting | None = None
        """the call that waits for its next try while the server is down

        It is None if the latest call was answered.
        """

    @property
    def answering(self) -> str | None:
        """The snapshot of the latest answer, or None before the first reply."""
        return self._snapshots.current

    async def ask(self, run: CallRun, call: ModelCall, most_tries: int | None = None) -> Reply:
        """Return the reply to a call, retrying where that is useful.

        `most_tries` is fewer than the patience allows.

        Raises TryFailed with the last reason, Stopped if the run ends, ModelError if it must end.
        """
        tries = long_tries = 0
        while True:
            body = self._dialect.body(call)
            try:
                return await self._try(run, call, body)
            except TryFailed as failure:
                if self._dialect.learn(body, failure, call.sampling):
                    continue
                is_long = failure.kind in LONG
                tries += 1
                long_tries += is_long
                usual_tries = most_tries or self._patience.tries
                is_exhausted = tries >= usual_tries or long_tries >= self._patience.long_tries
                if failure.kind is FailureKind.REFUSED or is_exhausted:
                    self.waiting = None
                    if tries > 1:
                        failure.reason += f" ({tries} tries)"
                    raise
                if failure.kind is FailureKind.LATE:
                    run.check_silence(self._patience)
                max_tries = self._patience.long_tries if is_long else usual_tries
                await self._wait(failure, tries, max_tries)

    async def _wait(self, failure: TryFailed, tries: int, most: int) -> None:
        """Wait before the next try.

        `most` is the number of tries after which the call is given up.

        The wait is as long as the server asks, plus some time so that calls do not all return
        together.

        Raises ModelError if the server asks for too long a pause.
        """
        wait = wait_before(tries, self._patience, self._rng)
        if failure.after is not None:
            if failure.after > self._patience.longest_pause_s:
                raise ModelError(
                    f"the endpoint asks to wait {failure.after:,.0f} s ({failure.reason}). What "
                    "was answered is kept; resume later"
                )
            self.pace.pause(failure.after)
            wait = failure.after + min(wait, self._patience.first_wait_s)
        if failure.kind in DOWN:
            self.waiting = Waiting(self._down(failure), tries + 1, most, time.monotonic() + wait)
        await asyncio.sleep(wait)

    def _down(self, failure: TryFailed) -> str:
        """Return the fault of the server, in a few words."""
        host = self.client.host
        if failure.kind is FailureKind.LATE:
            return f"no reply from {host} in time"
        if failure.status is None:
            return f"no connection to {host}"
        return f"{host} answered with {failure.status}"

    async def _try(self, run: CallRun, call: ModelCall, body: Body) -> Reply:
        """Send a call once and book its cost."""
        max_cost = Usage(
            1, prompt_tokens(call.prompt) + len(call.echo), call.n * call.sampling.most_tokens
        )
        async with self.pace.slot() as slot:
            await self._set_aside(run, max_cost)
            n_turns = len(self._snapshots.turns)
            cost = max_cost  # also for a cancelled call: the server may continue it
            try:
                content = await self.client.send(self._dialect.endpoint(call.prompt), body)
                reply = read_reply(content, call.n, self._hidden)
                cost = counted_usage(reply, max_cost)
            except TryFailed as failure:
                cost = max_cost if failure.paid else Usage(1)
                _slow_down(slot, failure)
                raise
            except ModelError:
                cost = Usage(1)
                raise
            finally:
                self._account.book(max_cost, cost)
            slot.went_well()
        self.waiting = None
        run.record_answer()
        self._count(reply, cost)
        try:
            counted_reply = reply if run.counts else replace(reply, choices=())
            run.winding_down |= self._snapshots.record_reply(counted_reply, cost, n_turns)
        except SnapshotsAlternate as error:
            run.end(error)
        return reply

    async def _set_aside(self, run: CallRun, dearest: Usage) -> None:
        """Wait until the budget has room for a call. Raises BudgetSpent if there is none left."""
        while True:
            if run.over:
                raise Stopped
            room = self._account.set_aside(dearest)
            if room is Room.FREE:
                return
            if room is Room.NONE:
                budget, spent = self._account.budget, self._account.spent
                raise BudgetSpent(
                    f"the budget of {budget.exceeded(spent + dearest)} has no room for another "
                    f"call; spent: {budget.describe(spent)}. What was answered is kept; raise the "
                    "limit and resume"
                )
            await self.pace.a_call_ended()

    def _count(self, reply: Reply, cost: Usage) -> None:
        """Count the tokens of a reply. Cached tokens of the prompt were not computed."""
        self.filtered += sum(choice.filtered for choice in reply.choices)
        self._work.prompt_tokens += cost.prompt_tokens
        self._work.prompt_tokens_computed += cost.prompt_tokens - min(
            reply.cached_tokens, cost.prompt_tokens
        )
        self._work.sampled_tokens += cost.answer_tokens
        self._work.sampled_tokens_computed += cost.answer_tokens

    async def answer(
        self, run: CallRun, position: int, request: Request
    ) -> tuple[Drawn, ...] | None:
        """Return the answers to a request by snapshot, or None if the run ended before any answer.

        Failed answers are counted by reason.
        """
        texts_by_snapshot: dict[tuple[str, str], list[str]] = {}
        n_missing = request.n
        failure: TryFailed | None = None
        # With one answer per call, the number of the call is that of the answer.
        next_call = request.first
        while failure is None and n_missing > 0:
            outcomes = await self._draw_missing(run, request, n_missing, next_call)
            next_call += len(outcomes)
            for outcome in outcomes:
                n_missing -= len(outcome.texts)
                if outcome.texts:
                    texts_by_snapshot.setdefault(outcome.by, []).extend(outcome.texts)
            failure = next((outcome.failure for outcome in outcomes if outcome.failure), None)
            if run.over:
                break
        if n_missing and failure is None and not texts_by_snapshot:
            return None
        run.record_end(bool(texts_by_snapshot), failure)
        if failure is not None:
            return answers_by_snapshot(position, texts_by_snapshot, n_missing, failure.reason)
        if run.stop is None:
            # Answers that were not asked for because the run winds down did not fail.
            return answers_by_snapshot(position, texts_by_snapshot, 0, "")
        reason = str(run.stop) if n_missing else ""
        return answers_by_snapshot(position, texts_by_snapshot, n_missing, reason)

    async def _draw_missing(
        self, run: CallRun, request: Request, n_missing: int, first_call: int
    ) -> list[CallOutcome]:
        """Make as many parallel calls as the missing answers of a request need."""
        calls = [
            self._draw(run, request, n_answers, call_seed(request.seed, number))
            for number, n_answers in enumerate(self._sizes(n_missing), first_call)
        ]
        return await asyncio.gather(*calls)

    def _sizes(self, missing: int) -> list[int]:
        """Return the number of answers that each of the next calls asks for.

        Each asks for as many as the server takes.
        """
        most = self._dialect.most
        n_full, remainder = divmod(missing, most)
        sizes = [most] * n_full
        if remainder:
            sizes.append(remainder)
        return sizes

    async def _draw(self, run: CallRun, request: Request, n: int, seed: int) -> CallOutcome:
        """Make one call for n answers, and for fewer if the server refuses so many.

        The outcome may have fewer. The dialect learns how many the server gives.
        """
        try:
            reply = await self.ask(run, ModelCall(request.prompt, n, seed, run.sampling))
        except TryFailed as failure:
            n_allowed = self._dialect.n_after_refusal(n, failure)
            if not n_allowed:
                return CallOutcome(failure=failure)
            outcome = await self._draw(run, request, n_allowed, seed)
            if not outcome.texts and self._dialect.brought == 1:
                # One answer is refused, too, so it is not about their number.
                self._dialect.too_many = None
            return outcome
        except ModelError as error:
            run.end(error)
            return CallOutcome()
        except Stopped:
            return CallOutcome()
        self._dialect.record_answers(n, len(reply.choices))
        answered_by = (reply.snapshot, reply.fingerprint)
        return CallOutcome(tuple(choice.text for choice in reply.choices), by=answered_by)


class PromptAsker:
    """The calls of one prompt through an `Asker`.

    It records the snapshot and fingerprint of each reply.
    """

    def __init__(self, asker: Asker):
        self._asker = asker
        self.by: list[tuple[str, str]] = []

    async def ask(self, run: CallRun, call: ModelCall) -> Reply:
        """Return the reply to a call, as `Asker.ask`.

        Raises Stopped if the endpoint's snapshot has changed since the earlier calls of this
        prompt, because their answers can no longer be completed.
        """
        if self.by and self.by[-1][0] != self._asker.answering:
            raise Stopped
        reply = await self._asker.ask(run, call)
        self.by.append((reply.snapshot, reply.fingerprint))
        return reply

    @property
    def mixed(self) -> bool:
        """Whether several snapshots have answered, so that the prompt has to be asked again."""
        return len({snapshot for snapshot, _ in self.by}) > 1

    @property
    def snapshot(self) -> str | None:
        """The snapshot that answered, or None if none did."""
        return self.by[0][0] if self.by else None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the replies, or all of them if there are several."""
        return " + ".join(sorted({fingerprint for _, fingerprint in self.by if fingerprint}))


class CallRun:
    """One sequence of requests, and whether it continues."""

    def __init__(self, name: str, sampling: Sampling, *, counts: bool = True):
        self.sampling, self.counts = sampling, counts
        """the sampling of answers, and whether they count among those of their snapshot

        Answers that test a server do not.
        """
        self.stop: ModelError | None = None
        "why no further call is started"
        self.winding_down = False
        "whether no further call is started because no more answers are wanted"
        self._name = name
        self._in_a_row = 0
        self._ever = False
        self._last = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether no further call is started."""
        return self.stop is not None or self.winding_down

    def record_answer(self) -> None:
        """Record that the server has answered."""
        self._ever, self._in_a_row = True, 0
        self._last = time.monotonic()

    def check_silence(self, patience: RetryPolicy) -> None:
        """Raise ModelError after silence for as long as one call with its tries may take."""
        silent_s = time.monotonic() - self._last
        if silent_s >= patience.long_tries * patience.reply_s:
            raise ModelError(
                f"{self._name}: nothing was answered for {silent_s:,.0f} s. What was answered is "
                "kept; resume when the "
                "endpoint is well, or allow it more time ($WORKBENCH_TIMEOUT_S)"
            )

    def end(self, error: ModelError) -> None:
        """Start no further call, because of an error. The first one is kept."""
        self.stop = self.stop or error

    def record_end(self, any_text: bool, failure: TryFailed | None) -> None:
        """Record how a request ended.

        A server is given up if it is down, or has refused everything from the beginning.
        """
        if any_text or failure is None or not (failure.kind in DOWN or not self._ever):
            return
        self._in_a_row += 1
        if self._in_a_row >= GIVE_UP_AFTER:
            self.end(
                ModelError(
                    f"{self._name}: the last {self._in_a_row} requests had no answer at all; the "
                    "last reason: "
                    f"{failure.reason}. What was answered is kept; resume when the endpoint is well"
                )
            )


def _slow_down(slot: Slot, failure: TryFailed) -> None:
    """Make fewer parallel calls if the server is down."""
    if failure.kind in DOWN:
        slot.too_much()
