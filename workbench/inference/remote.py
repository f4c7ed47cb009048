"""Models that are served elsewhere: any OpenAI-compatible endpoint, through the `openai` package.

Which endpoint a name stands for is in remote_address, limits of cost in remote_budget, pace and retries in
remote_pace and remote_ask, what counts as an answer in remote_reply, scores in remote_scores.

A served model is asked with the sampling exactly as it is; what the sampling leaves open (top-k None) is left to the
endpoint, whose own defaults hold (vLLM and transformers serve read them from the model's generation_config.json).
transformers serve draws only where that file says `do_sample`; elsewhere it gives the likeliest answer at every
temperature. Seeds are passed where they are taken, but no service promises the same answers again: `deterministic` is
False.
"""

from __future__ import annotations

import asyncio
import os
import queue
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import Work
from workbench.inference.remote_address import Address, endpoint_key, parse_address
from workbench.inference.remote_ask import Asker, Run
from workbench.inference.remote_budget import Account, Budget, Spent, budget_from
from workbench.inference.remote_calls import Dialect, checked_sampling
from workbench.inference.remote_client import Client
from workbench.inference.remote_loop import Loop
from workbench.inference.remote_pace import Patience, patience_from
from workbench.inference.remote_reply import TryFailed, brief
from workbench.inference.remote_scores import echo_call, echoed_score, first_token_call, first_token_scores, refused

WIND_DOWN_S = 30.0
"seconds for which calls under way are waited for once a run is to end"
AHEAD = 4
"requests begun or not yet taken by the caller, for each call that may be under way"
UNKNOWN = "unknown"


def load_remote(
    name: str,
    *,
    environ: Mapping[str, str] = os.environ,
    budget: Budget | None = None,
    patience: Patience | None = None,
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
        patience or patience_from(environ),
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
        patience: Patience | None = None,
        transport: Any = None,
    ):
        self.address = address
        self._key, self._transport = key, transport
        self._patience = patience or Patience()
        self._account = Account(budget or Budget())
        self._work = Work()
        self._served_by: Counter[str] = Counter()
        self._dialect = Dialect(address)
        self._revision = UNKNOWN
        self._most = self._patience.concurrency
        self._loop: Loop | None = None
        self._asker: Asker | None = None
        self._run: Run | None = None
        self._under_way: Future[None] | None = None

    @property
    def card(self) -> ModelCard:
        return ModelCard(self.address.name, self._revision, "openai", "served", "served")

    @property
    def work(self) -> Work:
        return self._work

    @property
    def budget(self) -> Budget:
        return self._account.budget

    @property
    def spent(self) -> Spent:
        """What was booked so far, calls without a usable answer included."""
        return self._account.spent

    @property
    def cost(self) -> float | None:
        """The price of `spent`, None where prices are not known."""
        return self.budget.cost(self.spent)

    @property
    def served_by(self) -> tuple[tuple[str, int], ...]:
        """Which model ids and fingerprints the endpoint put on its replies, and how often: more than one means that
        it changed what it serves.
        """
        return tuple(self._served_by.most_common())

    @property
    def filtered(self) -> int:
        """Answers that the service's content filter cut; they are kept with the text they have."""
        return self._asker.filtered if self._asker else 0

    def look(self) -> None:
        """Ask the endpoint what it serves, for the card."""
        loop, asker = self._open()
        self._revision = _revision(self.address, loop.do(asker.client.served()))

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
        loop, run, work = self._loop, self._run, self._under_way
        if loop is not None and run is not None and work is not None:
            run.winding_down = True
            loop.loop.call_soon_threadsafe(loop.loop.call_later, WIND_DOWN_S, work.cancel)

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers as `Model.generate`. Where the run cannot go on (no key, no such model, budget spent, the
        server is down), what was answered is yielded first and ModelError is raised then.
        """
        checked_sampling(self.address, sampling)
        loop, asker = self._open()
        run = self._run = Run(self.address.name, sampling)
        arrived: queue.SimpleQueue[Drawn | None] = queue.SimpleQueue()
        room = asyncio.Semaphore(AHEAD * self._patience.concurrency)
        work = self._under_way = loop.start(_answer_all(asker, run, requests, room, arrived))
        work.add_done_callback(lambda _: arrived.put(None))
        try:
            while (drawn := arrived.get()) is not None:
                loop.loop.call_soon_threadsafe(room.release)
                yield drawn
            if not work.cancelled():  # `close` was called meanwhile
                work.result()
            if run.stop is not None:
                raise run.stop
        finally:
            work.cancel()
            self._run = self._under_way = None

    def score(self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        """Score options as `Model.score`; remote_scores says how. Raises ModelError saying what the endpoint lacks."""
        loop, asker = self._open()
        return loop.do(self._score_all(asker, prompts, options))

    async def _score_all(
        self, asker: Asker, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float64]]:
        run = Run(self.address.name, Sampling())
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._score_one(asker, run, prompt, choices))
                for prompt, choices in zip(prompts, options, strict=True)
            ]
        return [_result(task.result()) for task in tasks]

    async def _score_one(
        self, asker: Asker, run: Run, prompt: Prompt, options: Sequence[str]
    ) -> NDArray[np.float64] | ModelError:
        """Return the scores, or the error, which a group of tasks would wrap."""
        name = self.address.name
        if not all(options):
            return ModelError(f"an option of {list(options)!r} is empty; give every option some text")
        echo = self._dialect.endpoint(prompt) == "completions"
        what = "echoed prompts with logprobs" if echo else "top_logprobs"
        try:
            if echo:
                replies = [await asker.ask(run, echo_call(prompt, option)) for option in options]
                scores = [echoed_score(name, *pair) for pair in zip(replies, options, strict=True)]
            else:
                scores = first_token_scores(name, await asker.ask(run, first_token_call(prompt)), options)
        except TryFailed as failure:
            return refused(name, failure, what)
        except ModelError as error:
            return error
        return np.array(scores, dtype=float)

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
            self._served_by,
            np.random.default_rng(0),  # of the jitter alone
            self._key,
        )
        asker.pace.allow(self._most)
        return asker


async def _answer_all(
    asker: Asker,
    run: Run,
    requests: Sequence[Request],
    room: asyncio.Semaphore,
    arrived: queue.SimpleQueue[Drawn | None],
) -> None:
    """Answer requests, some at a time; each is begun when there is room for its answers with the caller."""

    async def one(position: int, request: Request) -> None:
        drawn = await asker.answer(run, position, request)
        if drawn is None:
            room.release()
        else:
            arrived.put(drawn)

    async with asyncio.TaskGroup() as group:
        for position, request in enumerate(requests):
            await room.acquire()
            await asker.pace.begin()
            if run.over:
                asker.pace.end()
                return
            task = group.create_task(one(position, request))
            task.add_done_callback(lambda _: asker.pace.end())  # also where it is cancelled before it runs


def _result(found: NDArray[np.float64] | ModelError) -> NDArray[np.float64]:
    if isinstance(found, ModelError):
        raise found
    return found


def _revision(address: Address, listed: tuple[dict[str, Any], ...] | None) -> str:
    """Return what an endpoint says of the model that does not change while it serves the same one.

    The official endpoint dates its models; others put the time of asking there, but may name the weights (`root`).
    """
    entry = next((entry for entry in listed or () if entry.get("id") == address.model), None)
    if entry is None:
        return UNKNOWN
    named = str(entry.get("root") or entry["id"])
    return brief(f"{named} {entry['created']}" if address.official and entry.get("created") else named)
