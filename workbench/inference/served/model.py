"""Served models: any OpenAI-compatible endpoint, through the `openai` package.

Endpoints of names are in `address`, limits of cost in `budget`, pace and retries in `client` and
`ask`, the reading of replies in `reply`, scores in `scores`.

A served model is asked with exactly the given sampling, in its server's dialect (`providers`). If
the server is known, its own additional parameters are switched off. For an unknown server,
parameters that the sampling leaves open (top-k None) are the endpoint's defaults. vLLM and
transformers serve read theirs from the model's generation_config.json. transformers serve draws
only if that file sets `do_sample`, unless its name ends with #transformers. Seeds are sent if the
server accepts them, but no service guarantees the same answers again: `deterministic` is False.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from workbench.domain.batches import BatchLedger, SentBatch
from workbench.domain.keys import SEED
from workbench.domain.names import placeless
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Answerer, Drawn, ModelCard, Request, Sampling, draws
from workbench.errors import ModelError
from workbench.inference.base import NextTokens, ScoredOptions, Work, unknown_tokens
from workbench.inference.served.address import Address, endpoint_key, parse_address
from workbench.inference.served.ask import Asker, CallRun, PromptAsker, Stopped
from workbench.inference.served.batches import BatchClient, BatchRun, Endpoint
from workbench.inference.served.behaviour import (
    DRAWS,
    OPEN_CHAT,
    OPEN_TEXT,
    TOKENS,
    Drawing,
    Snapshots,
    answer_probability,
    comparable_text,
)
from workbench.inference.served.budget import Account, Budget, Usage, budget_from
from workbench.inference.served.calls import ALTERNATIVES, Dialect, ModelCall, call_seed
from workbench.inference.served.client import Client, RetryPolicy, retry_policy_from
from workbench.inference.served.probabilities import (
    WHOLE,
    MissingProbabilities,
    Probabilities,
    likeliest,
)
from workbench.inference.served.providers import UNKNOWN as UNKNOWN_KIND
from workbench.inference.served.providers import (
    Provider,
    provider_named,
    providers,
    recognise_by_routes,
    recognise_server,
)
from workbench.inference.served.reply import FailureKind, Reply, TryFailed, brief

T = TypeVar("T")


class EventLoopThread:
    """An event loop that runs coroutines in parallel to the caller's thread."""

    def __init__(self, name: str):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result. Interrupting the caller cancels the work."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel running coroutines and end the thread."""
        if self.loop.is_closed():
            return
        self.run(self._cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def _cancel_all(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.loop.shutdown_asyncgens()


WIND_DOWN_S = 30.0
"seconds to wait for active calls when a run ends"
PROBE_TRIES = 2
"tries of a call that tests a server"
NO_FIELD = "workbench_asks_which_server"
"a field that no server knows"
AHEAD = 4
"requests started or not yet taken by the caller, per possible active call"
UNKNOWN = "unknown"

log = logging.getLogger(__name__)


def load_remote(
    name: str,
    *,
    environ: Mapping[str, str] = os.environ,
    budget: Budget | None = None,
    patience: RetryPolicy | None = None,
    transport: Any = None,
) -> RemoteModel:
    """Return a served model after asking its endpoint what it serves.

    `transport`: an asynchronous transport of the package's HTTP client, instead of the network.

    Raises ModelError immediately if the name or its URL is invalid, the key is missing or refused,
    the endpoint does not answer, or a limit in the environment is not a number.
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
    "whether the same seed is known to give the same answers"

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
        self._dialect = Dialect(
            address,
            provider_named(address.dialect)
            if address.dialect
            else recognise_server(address.host, ()),
        )
        self._revision = UNKNOWN
        self.listed: Mapping[str, Any] = {}
        "the endpoint's list entry of this model"
        self.serves: tuple[str, ...] = ()
        "the models that the endpoint lists, or empty if it has no list"
        self._most = self._patience.concurrency
        self._loop: EventLoopThread | None = None
        self._asker: Asker | None = None
        self._run: CallRun | None = None
        self._under_way: Future[None] | None = None
        self._ledger: BatchLedger | None = None
        self._batches: BatchRun | None = None
        self._probabilities = Probabilities(address.name, self._dialect, self._snapshots)

    @property
    def card(self) -> ModelCard:
        snapshot = self._snapshots.current or ""
        encoding = self._dialect.provider.encoding or UNKNOWN
        return ModelCard(
            self.address.name, self._revision, "openai", "served", "served", encoding, snapshot
        )

    @property
    def dialect(self) -> Dialect:
        """The known or learned dialect of this server."""
        return self._dialect

    @property
    def asked(self) -> Mapping[str, str]:
        """See `Asking`."""
        return {"dialect": self._dialect.provider.key or "unknown", **self._dialect.refusals}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes about the dialect, for the log."""
        return self._dialect.notes

    @property
    def work(self) -> Work:
        return self._work

    @property
    def budget(self) -> Budget:
        return self._account.budget

    @property
    def spent(self) -> Usage:
        """The booked cost so far, including calls without a usable answer."""
        return self._account.spent

    @property
    def cost(self) -> float | None:
        """The price of `spent`, or None if prices are unknown."""
        return self.budget.cost(self.spent)

    @property
    def answerers(self) -> tuple[Answerer, ...]:
        """The answers and usage of each model that the endpoint reported."""
        return self._snapshots.tallies()

    @property
    def fingerprints(self) -> Mapping[str, int]:
        """The number of answers for each `system_fingerprint`."""
        return dict(self._snapshots.fingerprints)

    @property
    def turns(self) -> Sequence[tuple[str, str]]:
        """The changes of the endpoint's model: (before, after)."""
        return self._snapshots.turns

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Set the snapshot that answered before. See `Changing`."""
        self._snapshots.expect(snapshot, asked=asked)

    @property
    def filtered(self) -> int:
        """The number of answers cut by the service's content filter. Their text is kept."""
        return self._asker.filtered if self._asker else 0

    def look(self) -> None:
        """Ask the endpoint what it serves, for the card."""
        loop, asker = self._open()
        entries = loop.run(asker.client.served()) or ()
        self._revision = _revision(self.address, entries)
        self.listed = _list_entry(self.address, entries) or {}
        self.serves = tuple(str(entry.get("id")) for entry in entries)
        if not self.address.dialect:
            kind = recognise_server(self.address.host, entries)
            if kind is UNKNOWN_KIND:
                kind = recognise_by_routes(loop.run(asker.client.routes()))
            self._dialect.start_with(kind)

    def score_with(self, sampling: Sampling) -> None:
        """See `Configured`."""
        self._dialect.provider.thinking_fields(sampling.thinking)
        self._dialect.scored_with = sampling

    def ask(self, call: ModelCall) -> Reply:
        """Return the reply to a single call. Raises the errors of `Asker.ask`."""
        loop, asker = self._open()
        return loop.run(asker.ask(CallRun(self.address.name, call.sampling), call))

    def ask_all(self, calls: Sequence[ModelCall], within: float) -> list[Reply | Exception]:
        """Return the reply to each call, or its error.

        All calls together have `within` seconds. The error is that of the second try, or TryFailed
        if there was no second try in time. Raises ModelError if no call can be made.
        """
        loop, asker = self._open()

        async def ask() -> list[Reply | Exception]:
            run = CallRun(self.address.name, calls[0].sampling, counts=False)
            tasks = [asyncio.create_task(asker.ask(run, call, PROBE_TRIES)) for call in calls]
            _, pending = await asyncio.wait(tasks, timeout=within)
            for task in pending:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            return [_error_or_reply(outcome) for outcome in outcomes]

        return loop.run(ask())

    def sample_open_prompt(self, sampling: Sampling, within: float) -> Drawing:
        """Return answers to the open prompt, each with a seed of its own.

        If all are equal, their probability is added.

        Raises the error of the first failed call.
        """
        prompt = OPEN_TEXT if self.address.raw else OPEN_CHAT
        calls = [ModelCall(prompt, 1, call_seed(SEED, number), sampling) for number in range(DRAWS)]
        until = time.monotonic() + within
        texts = tuple(
            comparable_text(_reply_or_raise(received).choices[0].text)
            for received in self.ask_all(calls, within)
        )
        result = Drawing(texts)
        if result.is_greedy and (remaining_s := until - time.monotonic()) > 0:
            (outcome,) = self.ask_all([replace(calls[0], logprobs=1, whole=True)], remaining_s)
            if isinstance(outcome, Reply):
                result = replace(
                    result, probability=answer_probability(outcome.choices[0].logprobs)
                )
        return result

    def undrawn(self, sampling: Sampling) -> str:
        """Return the reason why answers are not drawn, as `Doubtful` describes.

        The open prompt is asked at temperature 1, with the further settings of the sampling.
        """
        if "temperature" in sampling.left or not draws(sampling):
            return ""
        open_ended = replace(sampling, temperature=1.0, top_p=1.0, max_new_tokens=TOKENS)
        try:
            sampled = self.sample_open_prompt(open_ended, DRAWS * self._patience.reply_s)
        except (ModelError, TryFailed) as error:
            log.warning(
                "%s: it cannot be told whether its answers are drawn (%s)", self.address.name, error
            )
            return ""
        finding = f"{DRAWS} of {DRAWS} answers to an open prompt are equal at temperature 1"
        return f"{finding}: {self.advice_on_drawing()}" if sampled.is_greedy else ""

    def advice_on_drawing(self) -> str:
        """Return the advice on a server that does not draw.

        If its kind is unknown, it is asked by a field that no server knows: some refuse it in words
        of their own.
        """
        provider = self._dialect.provider
        if provider is UNKNOWN_KIND:
            refusing = None
            with suppress(ModelError, TryFailed):
                refusing = self.kind_by_refusal(self._patience.reply_s)[1]
            kind = refusing or next(candidate for candidate in providers() if candidate.refuses)
            name = self.address.spoken(kind.key)
            if refusing:
                return (
                    f"the server refuses fields as {kind.name} does, which draws only if it "
                    f"is asked to. Ask {name}"
                )
            return (
                f"its kind is unknown. If it is {kind.name}, ask {name}; if another, name its "
                "kind after the # "
                f"({', '.join(server.key for server in providers())}), or start it so that it draws"
            )
        return (
            f"it is asked as {provider.name}. Start the server so that it draws, or leave that to "
            "it (--temperature server)"
        )

    def kind_by_refusal(self, within: float) -> tuple[str, Provider | None]:
        """Return a server's answer to an unknown field, and the kind of server that gives it.

        The answer is the server's words, or empty if it takes the field.
        """
        sampling = Sampling(max_new_tokens=1, extra=json.dumps({NO_FIELD: True}))
        (reply,) = self.ask_all(
            [ModelCall(OPEN_TEXT if self.address.raw else OPEN_CHAT, 1, None, sampling)], within
        )
        if isinstance(reply, Reply):
            return "", None
        message = str(reply.__context__ if isinstance(reply.__context__, TryFailed) else reply)
        if NO_FIELD not in message:
            raise reply
        return message, next(
            (
                candidate
                for candidate in providers()
                if candidate.refuses and candidate.refuses in message
            ),
            None,
        )

    def limit_parallel(self, most: int | None) -> None:
        """Limit the active calls, from any thread. Their number still adapts within the limit."""
        self._most = self._patience.concurrency if most is None else most
        loop, asker = self._loop, self._asker
        if loop is not None and asker is not None:
            loop.loop.call_soon_threadsafe(asker.pace.allow, self._most)

    @property
    def waiting(self) -> str:
        """The reason for waiting while its server is down, for any thread.

        It is empty while the server answers.
        """
        asker = self._asker
        waiting = None if asker is None else asker.waiting
        return "" if waiting is None else waiting.describe()

    def carry(self, spent: Mapping[str, float]) -> None:
        """Count what earlier attempts at a job spent. `spent` is the stored result of `meter`."""
        counts = (
            int(spent.get(name, 0))
            for name in ("requests", "tokens_in", "tokens_out", "tokens_thought")
        )
        self._account.carry(Usage(*counts))

    def meter(self) -> Mapping[str, float]:
        """Return the usage and the limits of this job."""
        spent, budget = self.spent, self.budget
        carried = self._account.carried
        usage: dict[str, float | None] = {
            "requests": spent.requests,
            "tokens_in": spent.prompt_tokens,
            "tokens_out": spent.answer_tokens,
            "tokens_thought": spent.thinking_tokens or None,
            "at_once": int(self._asker.pace.limit) if self._asker else None,
            "at_once_most": self._most,
            "cost": self.cost,
            "tokens_in_before": carried.prompt_tokens or None,
            "tokens_out_before": carried.answer_tokens or None,
            "cost_before": budget.cost(carried) or None,
            "max_requests": budget.max_requests,
            "max_tokens": budget.max_tokens,
            "max_cost": budget.max_cost,
        }
        return {name: value for name, value in usage.items() if value is not None}

    def wind_down(self) -> None:
        """Start no further request.

        Active calls are paid for, so their answers are awaited for a limited time.
        """
        if (batches := self._batches) is not None:
            batches.winding_down = True
        loop, run, work = self._loop, self._run, self._under_way
        if loop is not None and run is not None and work is not None:
            run.winding_down = True
            loop.loop.call_soon_threadsafe(loop.loop.call_later, WIND_DOWN_S, work.cancel)

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers as `Model.generate`.

        If the run cannot continue (no key, no such model, budget spent, server down), received
        answers are yielded before ModelError is raised.
        """
        self._dialect.provider.check(sampling)
        self._dialect.provider.thinking_fields(sampling.thinking)  # refuses before any cost
        if self._ledger is None:
            yield from self._by_calls(requests, sampling)
        else:
            yield from self._in_batches(self._ledger, requests, sampling)

    def _by_calls(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        async def answer(asker: Asker, run: CallRun, position: int) -> tuple[Drawn, ...] | None:
            return await asker.answer(run, position, requests[position])

        for answers in self._ask_each(len(requests), sampling, answer):
            yield from answers

    def _in_batches(
        self, ledger: BatchLedger, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[Drawn]:
        """Draw answers in batches.

        If nothing was asked before, the first request uses calls, so that refusals are found before
        a day is spent on a batch.
        """
        n_by_call = 0 if ledger.open() or self.spent.requests else 1
        n_turns = len(self._snapshots.turns)
        if n_by_call:
            for drawn in self._by_calls(requests[:1], sampling):
                yield replace(drawn, wait=not drawn.more)
        if len(self._snapshots.turns) > n_turns or not requests[n_by_call:]:
            return
        batches = self._batches = BatchRun(
            self._endpoint(), ledger, requests[n_by_call:], sampling, n_by_call
        )
        try:
            yield from batches.answers()
        finally:
            self._batches = None

    def check_batches(self) -> None:
        """Raise ModelError if the endpoint is not known to take batches."""
        api = self._dialect.provider
        if not api.batch:
            names = ", ".join(provider.name for provider in providers() if provider.batch)
            raise ModelError(
                f"{self.address.name}: {api.name} is not known to take batches; {names} does. If "
                "this server takes them "
                "in OpenAI's manner (/files and /batches), name it with #openai at the end"
            )

    def check_batch_list(self) -> None:
        """Ask the endpoint for its list of batches, which is free.

        Raises ModelError if it is not known to take batches, TryFailed if it has no such list.
        """
        self.check_batches()
        endpoint = self._endpoint()
        endpoint.run(endpoint.client.check_list())

    def use_batches(self, ledger: BatchLedger) -> None:
        """See `Batching`."""
        self.check_batches()
        self._account.budget = replace(
            self._account.budget, batch_share=self._dialect.provider.batch
        )
        self._ledger = ledger

    def cancel_batch(self, sent: SentBatch) -> SentBatch:
        """See `Batching`."""
        endpoint = self._endpoint()
        try:
            batch: SentBatch = sent if sent.batch else endpoint.run(endpoint.client.find(sent))
            if not batch.batch:
                return replace(batch, state="cancelled")
            return replace(batch, state=endpoint.run(endpoint.client.cancel(batch.batch)).state)
        except TryFailed as failure:
            raise ModelError(failure.reason) from None

    def _endpoint(self) -> Endpoint:
        loop, asker = self._open()
        return Endpoint(
            self.address.name,
            BatchClient(asker.client, self._key),
            loop.run,
            self._dialect,
            self._account,
            self._snapshots,
            self._work,
            self._key,
            self._patience.batch_look_s,
        )

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        """Score options as `Model.score`, yielding as replies arrive.

        See `scores` and, for whole words, `labels`.

        A prompt that cannot be scored comes with the reason. Raises ModelError if further calls are
        useless: the endpoint sends no probabilities, or no readable ones for any of the first
        prompts.
        """
        refusals = MissingProbabilities("could be scored")

        async def score(asker: Asker, run: CallRun, position: int) -> ScoredOptions | None:
            prompt, choices = prompts[position], options[position]
            if not all(choices):
                raise ModelError(
                    f"an option of {list(choices)!r} is empty; give every option some text"
                )
            prompt_asker = PromptAsker(asker)
            scores_of = (
                self._probabilities.of_labels if whole_words else self._probabilities.of_options
            )
            logs_or_reason = await scores_of(prompt_asker, run, prompt, choices)
            if isinstance(logs_or_reason, str):
                _record_missing(run, refusals, logs_or_reason)
                return ScoredOptions(position, np.full(len(choices), np.nan), logs_or_reason)
            if logs_or_reason is None or prompt_asker.mixed:
                return None
            refusals.had_some()
            log_probabilities = np.array(logs_or_reason, dtype=np.float64)
            return ScoredOptions(
                position,
                log_probabilities,
                snapshot=prompt_asker.snapshot,
                fingerprint=prompt_asker.fingerprint,
            )

        yield from self._ask_each(len(prompts), WHOLE, score)

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        """Yield next tokens as `Model.next_tokens`: at most 20, and possibly fewer than k.

        They are those that the endpoint returns. If it returns no alternatives, `words` are forced
        as answers (`forced`), and only their spellings are returned. A following `score` of the
        same prompts reuses these results.
        """
        name = self.address.name
        if not 1 <= k <= ALTERNATIVES:
            raise ModelError(
                f"{name}: {k} next tokens were asked for; endpoints name 1 to {ALTERNATIVES}"
            )

        refusals = MissingProbabilities("have next tokens")

        async def ask(asker: Asker, run: CallRun, position: int) -> NextTokens | None:
            prompt_asker = PromptAsker(asker)
            logs_or_reason = await self._probabilities.of_next_tokens(
                prompt_asker, run, prompts[position], k, words
            )
            if isinstance(logs_or_reason, str):
                _record_missing(run, refusals, logs_or_reason)
                return unknown_tokens(position, logs_or_reason)
            if logs_or_reason is None or prompt_asker.mixed:
                return None
            refusals.had_some()
            next_tokens = likeliest(name, position, logs_or_reason, k)
            return replace(
                next_tokens, snapshot=prompt_asker.snapshot, fingerprint=prompt_asker.fingerprint
            )

        yield from self._ask_each(len(prompts), WHOLE, ask)

    def _ask_each(
        self,
        count: int,
        sampling: Sampling,
        ask: Callable[[Asker, CallRun, int], Awaitable[T | None]],
    ) -> Iterator[T]:
        """Yield the result of each of `count` requests as it arrives.

        If the run cannot continue, received results are yielded before ModelError is raised.
        """
        loop, asker = self._open()
        run = self._run = CallRun(self.address.name, sampling)
        arrived: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        room = asyncio.Semaphore(AHEAD * self._patience.concurrency)

        async def one(position: int) -> T | None:
            return await ask(asker, run, position)

        work = self._under_way = loop.start(_answer_all(asker, run, count, one, room, arrived))
        work.add_done_callback(lambda _: arrived.put(None))
        try:
            while (result := arrived.get()) is not None:
                loop.loop.call_soon_threadsafe(room.release)
                yield result
            if not work.cancelled():  # `close` was called meanwhile
                work.result()
            if run.stop is not None:
                raise run.stop
        finally:
            work.cancel()
            self._run = self._under_way = None

    def close(self) -> None:
        """Cancel active calls and close the connections. A later call opens new ones."""
        loop, asker = self._loop, self._asker
        self._loop = self._asker = None
        if loop is not None:
            if asker is not None:
                loop.run(asker.client.close())
            loop.close()

    def _open(self) -> tuple[EventLoopThread, Asker]:
        if self._loop is None or self._asker is None:
            self._loop = self._loop or EventLoopThread("served model")
            self._asker = self._loop.run(self._new_asker())
        return self._loop, self._asker

    async def _new_asker(self) -> Asker:
        asker = Asker(
            Client(self.address, self._key, self._patience, self._transport),
            self._dialect,
            self._account,
            self._patience,
            self._work,
            self._snapshots,
            np.random.default_rng(0),  # only for the jitter
            self._key,
        )
        asker.pace.allow(self._most)
        return asker


async def _answer_all(
    asker: Asker,
    run: CallRun,
    count: int,
    ask: Callable[[int], Awaitable[T | None]],
    room: asyncio.Semaphore,
    arrived: queue.SimpleQueue[T | None],
) -> None:
    """Answer requests, several in parallel.

    Each is started when the caller has room for its answers.

    An error of one request ends the run. Active requests are awaited.
    """

    async def one(position: int) -> None:
        try:
            result = await ask(position)
        except ModelError as error:
            run.end(error)
            result = None
        if result is None:
            room.release()
        else:
            arrived.put(result)

    async with asyncio.TaskGroup() as group:
        for position in range(count):
            await room.acquire()
            await asker.pace.begin()
            if run.over:
                asker.pace.end()
                return
            task = group.create_task(one(position))
            # Also if it is cancelled before it runs.
            task.add_done_callback(lambda _: asker.pace.end())


def _error_or_reply(outcome: Reply | BaseException) -> Reply | Exception:
    if isinstance(outcome, asyncio.CancelledError | Stopped):
        return TryFailed(FailureKind.LATE, "no whole reply in time")
    if not isinstance(outcome, Reply | Exception):
        raise outcome
    return outcome


def _reply_or_raise(outcome: Reply | Exception) -> Reply:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _record_missing(run: CallRun, refusals: MissingProbabilities, reason: str) -> None:
    """Record a prompt without probabilities, and end the run if none has any."""
    if (error := refusals.had_none(reason)) is not None:
        run.end(error)


def _list_entry(address: Address, listed: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return next((entry for entry in listed if entry.get("id") == address.model), None)


def _revision(address: Address, listed: tuple[dict[str, Any], ...]) -> str:
    """Return the constant part of an endpoint's list entry.

    It does not change while the endpoint serves the same model.

    The official endpoint dates its models. Others return the time of the request, but may name the
    weights (`root`). A path names none, see `placeless`.
    """
    entry = _list_entry(address, listed)
    if entry is None:
        return UNKNOWN
    weights = str(entry.get("root") or entry["id"])
    return placeless(
        brief(
            f"{weights} {entry['created']}"
            if address.official and entry.get("created")
            else weights
        )
    )
