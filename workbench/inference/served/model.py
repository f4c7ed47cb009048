"""Models that are served elsewhere: any OpenAI-compatible endpoint, through the `openai` package.

Which endpoint a name stands for is in remote_address, limits of cost in remote_budget, pace and retries in
remote_pace and remote_ask, what counts as an answer in remote_reply, scores in remote_scores.

A served model is asked with the sampling exactly as it is, and in its server's dialect (served/providers): what the
server would add of its own is switched off where the server is known. Of an unknown one what the sampling leaves open
(top-k None) is the endpoint's default; vLLM and transformers serve read theirs from the model's generation_config.json.
transformers serve draws only where that file says `do_sample`, unless its name ends with #transformers. Seeds are
passed where they are taken, but no service promises the same answers again: `deterministic` is False.
"""

from __future__ import annotations

import asyncio
import os
import queue
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from workbench.domain.batches import BatchLedger, SentBatch
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Answerer, Drawn, ModelCard, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import NextTokens, Scored, Work, unknown_tokens
from workbench.inference.served.address import Address, endpoint_key, parse_address
from workbench.inference.served.ask import Asker, PromptAsker, Run
from workbench.inference.served.batch_client import BatchClient
from workbench.inference.served.batches import BatchRun, Endpoint
from workbench.inference.served.budget import Account, Budget, Usage, budget_from
from workbench.inference.served.calls import ALTERNATIVES, Call, Dialect
from workbench.inference.served.client import Client
from workbench.inference.served.loop import Loop
from workbench.inference.served.pace import RetryPolicy, retry_policy_from
from workbench.inference.served.probabilities import Probabilities
from workbench.inference.served.providers import named, providers, recognised
from workbench.inference.served.reply import Reply, TryFailed, brief
from workbench.inference.served.scores import WHOLE, Refusals, likeliest
from workbench.inference.served.snapshots import Snapshots

WIND_DOWN_S = 30.0
"seconds for which calls under way are waited for once a run is to end"
AHEAD = 4
"requests begun or not yet taken by the caller, for each call that may be under way"
UNKNOWN = "unknown"

T = TypeVar("T")


def load_remote(
    name: str,
    *,
    environ: Mapping[str, str] = os.environ,
    budget: Budget | None = None,
    patience: RetryPolicy | None = None,
    transport: Any = None,
) -> RemoteModel:
    """Return a served model after asking its endpoint what it serves.

    `transport` is an asynchronous transport of the package's HTTP client, in place of the network.

    Raises ModelError at once where the name or its URL is not as expected, the key is missing or refused, nothing
    answers there, or a limit in the environment is no number.
    """
    address = parse_address(name, environ)
    model = RemoteModel(
        address,
        endpoint_key(address, environ),
        budget_from(environ) if budget is None else budget,
        patience or retry_policy_from(environ),
        transport,
    )
    try:
        model.look()
    except BaseException:
        model.close()
        raise
    return model


class RemoteModel:
    """A model behind an OpenAI-compatible endpoint."""

    deterministic = False
    "whether the same seed is known to have the same answers"

    def __init__(
        self,
        address: Address,
        key: str | None,
        budget: Budget | None = None,
        patience: RetryPolicy | None = None,
        transport: Any = None,
    ):
        self.address = address
        self._key, self._transport = key, transport
        self._patience = patience or RetryPolicy()
        self._account = Account(budget or Budget())
        self._work = Work()
        self._snapshots = Snapshots(address.name, lambda spent: self._account.budget.cost(spent))
        self._dialect = Dialect(address, named(address.dialect) if address.dialect else recognised(address.host, ()))
        self._revision = UNKNOWN
        self.listed: Mapping[str, Any] = {}
        "what the endpoint lists of this model"
        self._most = self._patience.concurrency
        self._loop: Loop | None = None
        self._asker: Asker | None = None
        self._run: Run | None = None
        self._under_way: Future[None] | None = None
        self._ledger: BatchLedger | None = None
        self._batches: BatchRun | None = None
        self._probabilities = Probabilities(address.name, self._dialect, self._snapshots)

    @property
    def card(self) -> ModelCard:
        snapshot = self._snapshots.current or ""
        encoding = self._dialect.provider.encoding or UNKNOWN
        return ModelCard(self.address.name, self._revision, "openai", "served", "served", encoding, snapshot)

    @property
    def dialect(self) -> Dialect:
        """How this server is asked, as far as it is known or was learned."""
        return self._dialect

    @property
    def asked(self) -> Mapping[str, str]:
        """See `Asking`."""
        return {"dialect": self._dialect.provider.key or "unknown", **self._dialect.refusals}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how this server is asked, for the log."""
        return self._dialect.notes

    @property
    def work(self) -> Work:
        return self._work

    @property
    def budget(self) -> Budget:
        return self._account.budget

    @property
    def spent(self) -> Usage:
        """What was booked so far, calls without a usable answer included."""
        return self._account.spent

    @property
    def cost(self) -> float | None:
        """The price of `spent`, None where prices are not known."""
        return self.budget.cost(self.spent)

    @property
    def answerers(self) -> tuple[Answerer, ...]:
        """What came from each model that the endpoint reported."""
        return self._snapshots.tallies()

    @property
    def fingerprints(self) -> Mapping[str, int]:
        """How many answers came under each `system_fingerprint`."""
        return dict(self._snapshots.fingerprints)

    @property
    def turns(self) -> Sequence[tuple[str, str]]:
        """Each time that the endpoint came to answer with another model: (before, after)."""
        return self._snapshots.turns

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Say which snapshot answered before; see `Changing`."""
        self._snapshots.expect(snapshot, asked=asked)

    @property
    def filtered(self) -> int:
        """Answers that the service's content filter cut; they are kept with the text they have."""
        return self._asker.filtered if self._asker else 0

    def look(self) -> None:
        """Ask the endpoint what it serves, for the card."""
        loop, asker = self._open()
        listed = loop.do(asker.client.served()) or ()
        self._revision = _revision(self.address, listed)
        self.listed = _entry(self.address, listed) or {}
        if not self.address.dialect:
            self._dialect.speak(recognised(self.address.host, listed))

    def score_with(self, sampling: Sampling) -> None:
        """See `Configured`."""
        self._dialect.provider.thinking_fields(sampling.thinking)
        self._dialect.scored_with = sampling

    def ask(self, call: Call) -> Reply:
        """Return the reply to one call by itself. Raises what `Asker.ask` raises."""
        loop, asker = self._open()
        return loop.do(asker.ask(Run(self.address.name, call.sampling), call))

    def at_once(self, most: int | None) -> None:
        """Bound the calls under way, from any thread; within the bound their number still adapts."""
        self._most = self._patience.concurrency if most is None else most
        loop, asker = self._loop, self._asker
        if loop is not None and asker is not None:
            loop.loop.call_soon_threadsafe(asker.pace.allow, self._most)

    def meter(self) -> Mapping[str, float]:
        """Return what this run used and may use."""
        spent, budget = self.spent, self.budget
        used: dict[str, float | None] = {
            "requests": spent.requests,
            "tokens_in": spent.prompt_tokens,
            "tokens_out": spent.answer_tokens,
            "tokens_thought": spent.thinking_tokens or None,
            "at_once": int(self._asker.pace.limit) if self._asker else None,
            "at_once_most": self._most,
            "cost": self.cost,
            "max_requests": budget.max_requests,
            "max_tokens": budget.max_tokens,
            "max_cost": budget.max_cost,
        }
        return {name: value for name, value in used.items() if value is not None}

    def wind_down(self) -> None:
        """Begin no further request; calls under way are paid, so their answers are waited for, if not for long."""
        if (batches := self._batches) is not None:
            batches.winding_down = True
        loop, run, work = self._loop, self._run, self._under_way
        if loop is not None and run is not None and work is not None:
            run.winding_down = True
            loop.loop.call_soon_threadsafe(loop.loop.call_later, WIND_DOWN_S, work.cancel)

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers as `Model.generate`. Where the run cannot go on (no key, no such model, budget spent, the
        server is down), what was answered is yielded first and ModelError is raised then.
        """
        self._dialect.provider.check(sampling)
        self._dialect.provider.thinking_fields(sampling.thinking)  # refused before anything is paid
        if self._ledger is None:
            yield from self._by_calls(requests, sampling)
        else:
            yield from self._in_batches(self._ledger, requests, sampling)

    def _by_calls(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        async def answer(asker: Asker, run: Run, position: int) -> tuple[Drawn, ...] | None:
            return await asker.answer(run, position, requests[position])

        for parts in self._each(len(requests), sampling, answer):
            yield from parts

    def _in_batches(self, ledger: BatchLedger, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers in batches. Where nothing was asked yet, the first request is asked by calls: what the endpoint
        refuses is learned before a day is spent on it.
        """
        asked_first = 0 if ledger.open() or self.spent.requests else 1
        turns = len(self._snapshots.turns)
        if asked_first:
            for drawn in self._by_calls(requests[:1], sampling):
                yield replace(drawn, wait=not drawn.more)
        if len(self._snapshots.turns) > turns or not requests[asked_first:]:
            return
        batches = self._batches = BatchRun(self._endpoint(), ledger, requests[asked_first:], sampling, asked_first)
        try:
            yield from batches.answers()
        finally:
            self._batches = None

    def check_batches(self) -> None:
        """Raise ModelError where the endpoint is not known to take batches."""
        of = self._dialect.provider
        if not of.batch:
            known = ", ".join(one.name for one in providers() if one.batch)
            raise ModelError(
                f"{self.address.name}: {of.name} is not known to take batches; {known} does. If this server takes them "
                "in OpenAI's manner (/files and /batches), name it with #openai at the end"
            )

    def lists_batches(self) -> None:
        """Ask the endpoint for its batches, which costs nothing. Raises ModelError where it is not known to take any,
        TryFailed where it has no such list.
        """
        self.check_batches()
        endpoint = self._endpoint()
        endpoint.do(endpoint.client.listed())

    def use_batches(self, ledger: BatchLedger) -> None:
        """See `Batching`."""
        self.check_batches()
        self._account.budget = replace(self._account.budget, batch_share=self._dialect.provider.batch)
        self._ledger = ledger

    def cancel_batch(self, sent: SentBatch) -> SentBatch:
        """See `Batching`."""
        endpoint = self._endpoint()
        try:
            found: SentBatch = sent if sent.batch else endpoint.do(endpoint.client.find(sent))
            if not found.batch:
                return replace(found, state="cancelled")
            return replace(found, state=endpoint.do(endpoint.client.cancel(found.batch)).state)
        except TryFailed as failure:
            raise ModelError(failure.reason) from None

    def _endpoint(self) -> Endpoint:
        loop, asker = self._open()
        return Endpoint(
            self.address.name,
            BatchClient(asker.client, self._key),
            loop.do,
            self._dialect,
            self._account,
            self._snapshots,
            self._work,
            self._key,
            self._patience.batch_look_s,
        )

    def score(
        self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]], *, whole_words: bool = False
    ) -> Iterator[Scored]:
        """Score options as `Model.score`, yielding as replies arrive; remote_scores and, of whole words, remote_labels
        say how.

        A prompt that cannot be scored comes with the reason. Raises ModelError where no further call is of use: the
        endpoint sends no probabilities, or none that can be read for any of the first prompts.
        """
        refusals = Refusals("could be scored")

        async def score(asker: Asker, run: Run, position: int) -> Scored | None:
            prompt, choices = prompts[position], options[position]
            if not all(choices):
                raise ModelError(f"an option of {list(choices)!r} is empty; give every option some text")
            alone = PromptAsker(asker)
            of = self._probabilities.of_labels if whole_words else self._probabilities.of_options
            found = await of(alone, run, prompt, choices)
            if isinstance(found, str):
                _ended(run, refusals, found)
                return Scored(position, np.full(len(choices), np.nan), found)
            if found is None or alone.mixed:
                return None
            refusals.had_some()
            logs = np.array(found, dtype=np.float64)
            return Scored(position, logs, snapshot=alone.snapshot, fingerprint=alone.fingerprint)

        yield from self._each(len(prompts), WHOLE, score)

    def next_tokens(self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()) -> Iterator[NextTokens]:
        """Yield next tokens as `Model.next_tokens`: those that the endpoint names, at most 20 and maybe fewer than k.

        Where it names no alternatives, `words` are forced upon it as answers (remote_forced); their ways of writing are
        all that is named then. What is learnt here is not asked again by a `score` of the same prompts that follows.
        """
        name = self.address.name
        if not 1 <= k <= ALTERNATIVES:
            raise ModelError(f"{name}: {k} next tokens were asked for; endpoints name 1 to {ALTERNATIVES}")

        refusals = Refusals("have next tokens")

        async def ask(asker: Asker, run: Run, position: int) -> NextTokens | None:
            alone = PromptAsker(asker)
            found = await self._probabilities.of_next_tokens(alone, run, prompts[position], k, words)
            if isinstance(found, str):
                _ended(run, refusals, found)
                return unknown_tokens(position, found)
            if found is None or alone.mixed:
                return None
            refusals.had_some()
            named = likeliest(name, position, found, k)
            return replace(named, snapshot=alone.snapshot, fingerprint=alone.fingerprint)

        yield from self._each(len(prompts), WHOLE, ask)

    def _each(
        self, count: int, sampling: Sampling, ask: Callable[[Asker, Run, int], Awaitable[T | None]]
    ) -> Iterator[T]:
        """Yield what becomes of each of `count` requests, as it comes. Where the run cannot go on, what was answered is
        yielded first and ModelError is raised then.
        """
        loop, asker = self._open()
        run = self._run = Run(self.address.name, sampling)
        arrived: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        room = asyncio.Semaphore(AHEAD * self._patience.concurrency)

        async def one(position: int) -> T | None:
            return await ask(asker, run, position)

        work = self._under_way = loop.start(_answer_all(asker, run, count, one, room, arrived))
        work.add_done_callback(lambda _: arrived.put(None))
        try:
            while (found := arrived.get()) is not None:
                loop.loop.call_soon_threadsafe(room.release)
                yield found
            if not work.cancelled():  # `close` was called meanwhile
                work.result()
            if run.stop is not None:
                raise run.stop
        finally:
            work.cancel()
            self._run = self._under_way = None

    def close(self) -> None:
        """Cancel what is under way and close the connections. A later call opens new ones."""
        loop, asker = self._loop, self._asker
        self._loop = self._asker = None
        if loop is not None:
            if asker is not None:
                loop.do(asker.client.close())
            loop.close()

    def _open(self) -> tuple[Loop, Asker]:
        if self._loop is None or self._asker is None:
            self._loop = self._loop or Loop("served model")
            self._asker = self._loop.do(self._new_asker())
        return self._loop, self._asker

    async def _new_asker(self) -> Asker:
        asker = Asker(
            Client(self.address, self._key, self._patience, self._transport),
            self._dialect,
            self._account,
            self._patience,
            self._work,
            self._snapshots,
            np.random.default_rng(0),  # of the jitter alone
            self._key,
        )
        asker.pace.allow(self._most)
        return asker


async def _answer_all(
    asker: Asker,
    run: Run,
    count: int,
    ask: Callable[[int], Awaitable[T | None]],
    room: asyncio.Semaphore,
    arrived: queue.SimpleQueue[T | None],
) -> None:
    """Answer requests, some at a time; each is begun when there is room for its answers with the caller.

    An error of one request ends the run; what is under way is waited for.
    """

    async def one(position: int) -> None:
        try:
            found = await ask(position)
        except ModelError as error:
            run.end(error)
            found = None
        if found is None:
            room.release()
        else:
            arrived.put(found)

    async with asyncio.TaskGroup() as group:
        for position in range(count):
            await room.acquire()
            await asker.pace.begin()
            if run.over:
                asker.pace.end()
                return
            task = group.create_task(one(position))
            task.add_done_callback(lambda _: asker.pace.end())  # also where it is cancelled before it runs


def _ended(run: Run, refusals: Refusals, reason: str) -> None:
    """Note a prompt without probabilities, and end the run where none has any."""
    if (error := refusals.had_none(reason)) is not None:
        run.end(error)


def _entry(address: Address, listed: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return next((entry for entry in listed if entry.get("id") == address.model), None)


def _revision(address: Address, listed: tuple[dict[str, Any], ...]) -> str:
    """Return what an endpoint says of the model that does not change while it serves the same one.

    The official endpoint dates its models; others put the time of asking there, but may name the weights (`root`).
    """
    entry = _entry(address, listed)
    if entry is None:
        return UNKNOWN
    named = str(entry.get("root") or entry["id"])
    return brief(f"{named} {entry['created']}" if address.official and entry.get("created") else named)
