"""Answers in batches: requests are uploaded together, wait at the endpoint, and are matched with
their results.

A batch is recorded in the ledger before it is uploaded, and again with each id from the endpoint. A
restarted worker finds it there, or by its token at the endpoint, and continues waiting: nothing is
uploaded twice. A request is identified by its prompt's key, its seed and the number of its call, so
that results can be matched in any order, even if its job was planned again.

Temporary failures are asked again in another batch, at most ROUNDS times; a refusal changes the
dialect, as for single calls, and otherwise counts as a failure.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from workbench.domain.batches import BatchLedger, Halt, SentBatch
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import BudgetSpent, ModelError, SnapshotsAlternate
from workbench.inference.base import Work
from workbench.inference.served.behaviour import Snapshots
from workbench.inference.served.budget import Account, Room, Usage, counted, prompt_tokens
from workbench.inference.served.calls import Body, Call, Dialect, call_seed
from workbench.inference.served.client import NO_CREDIT, Client
from workbench.inference.served.reply import (
    Kind,
    Reply,
    TryFailed,
    answered_with,
    brief,
    read_reply,
    server_words,
)

PATHS = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "responses": "/v1/responses",
}
"endpoint -> its name in the lines of a batch"
TRANSFER_S = 600.0
"timeout in seconds for sending or fetching a file"
CALL_S = 60.0
WINDOW = "24h"
"the only completion window of the protocol"
PAGES = 20
"pages of a list of batches or files, a hundred each, that are searched for a token"
MARK = "workbench"
"key of the token in a batch's metadata"


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch as described by the endpoint."""

    id: str
    state: str
    completed: int
    failed: int
    files: tuple[str, ...]
    "ids of the result files: answers, and errors of single requests"
    errors: tuple[str, ...]
    "why the whole batch failed"


class BatchClient:
    """Calls to an endpoint about batches. Belongs to the event loop of its client."""

    def __init__(self, client: Client, hidden: str | None):
        self._client, self._hidden = client, hidden

    async def upload(self, sent: SentBatch, content: bytes) -> str:
        """Send the requests of a batch and return the id of the file."""
        made = await self._call(
            lambda api: api.files.create(file=(file_name(sent), content), purpose="batch"),
            TRANSFER_S,
        )
        return _id(made, "file")

    async def begin(self, sent: SentBatch) -> str:
        """Start a batch of the uploaded requests, and return its id."""
        made = await self._call(
            lambda api: api.batches.create(
                input_file_id=sent.file,
                endpoint=PATHS[sent.endpoint],
                completion_window=WINDOW,
                metadata={MARK: sent.token},
            )
        )
        return _id(made, "batch")

    async def find(self, sent: SentBatch) -> SentBatch:
        """Return a batch with the endpoint's ids of it and its file: empty if the endpoint has
        none.
        """
        async for one in self._listed(lambda api, after: api.batches.list(limit=100, **after)):
            metadata = getattr(one, "metadata", None)
            if isinstance(metadata, dict) and metadata.get(MARK) == sent.token:
                return replace(
                    sent,
                    batch=_id(one, "batch"),
                    file=str(getattr(one, "input_file_id", "") or sent.file),
                )
        if sent.file:
            return sent
        async for one in self._listed(lambda api, after: api.files.list(purpose="batch", **after)):
            if getattr(one, "filename", None) == file_name(sent):
                return replace(sent, file=_id(one, "file"))
        return sent

    async def listed(self) -> None:
        """Ask for one batch of the list, to check that the list exists. Raises TryFailed if it does
        not.
        """
        await self._call(lambda api: api.batches.list(limit=1))

    async def look(self, batch: str) -> Seen:
        """Return the state of a batch."""
        return _seen(await self._call(lambda api: api.batches.retrieve(batch)), self._hidden)

    async def cancel(self, batch: str) -> Seen:
        """Cancel a batch; its answers so far remain available."""
        return _seen(await self._call(lambda api: api.batches.cancel(batch)), self._hidden)

    async def lines(self, file: str) -> bytes:
        """Return the text of a file of results."""
        reply = await self._call(lambda api: api.files.with_raw_response.content(file), TRANSFER_S)
        content = reply.content
        return content if isinstance(content, bytes) else bytes(content)

    async def _call(self, make: Any, seconds: float = CALL_S) -> Any:
        return await self._client.about_batches(make, seconds)

    async def _listed(self, page: Any) -> Any:
        """Yield the entries of a list, page by page."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            found = await self._call(lambda api: page(api, after))  # noqa: B023 - called at once
            entries = _entries(found)
            for one in entries:
                yield one
            if not entries or not getattr(found, "has_more", False):
                return
            after = {"after": _id(entries[-1], "entry")}


def file_name(sent: SentBatch) -> str:
    return f"workbench-{sent.token}.jsonl"


def _id(made: Any, what: str) -> str:
    found = getattr(made, "id", None)
    if not isinstance(found, str) or not found:
        raise TryFailed(Kind.USELESS, f"the reply names no {what}", paid=True)
    return found


def _seen(made: Any, hidden: str | None) -> Seen:
    counts = getattr(made, "request_counts", None)
    files = (getattr(made, "output_file_id", None), getattr(made, "error_file_id", None))
    errors = _entries(getattr(made, "errors", None))
    state = getattr(made, "status", None)
    if not isinstance(state, str):
        raise TryFailed(Kind.USELESS, "the reply says no state of the batch")
    return Seen(
        _id(made, "batch"),
        brief(state),
        _count(getattr(counts, "completed", 0)),
        _count(getattr(counts, "failed", 0)),
        tuple(file for file in files if isinstance(file, str) and file),
        tuple(server_words(getattr(error, "message", None), hidden) for error in errors),
    )


def _entries(listed: object) -> list[Any]:
    """Return the entries of a list of the protocol, none if the reply has another shape."""
    entries = getattr(listed, "data", None)
    return entries if isinstance(entries, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def as_line(custom_id: str, endpoint: str, body: Mapping[str, Any]) -> str:
    """Return a request of a batch as a line of its file."""
    plain = {name: value for name, value in body.items() if name != "extra_body"}
    sent = {**plain, **body.get("extra_body", {})}
    return json.dumps(
        {"custom_id": custom_id, "method": "POST", "url": PATHS[endpoint], "body": sent}
    )


def read_lines(
    content: bytes, asked: Mapping[str, int], hidden: str | None
) -> Iterator[tuple[str, Reply | TryFailed]]:
    """Yield the result of each request, as (custom id, reply or failure), in the order of the file.

    `asked`: number of answers per request; lines about other requests, and unreadable lines, are
    skipped. Raises ModelError if the account has no credit left.
    """
    for line in content.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        name = value.get("custom_id") if isinstance(value, dict) else None
        if isinstance(name, str) and name in asked:
            try:
                yield name, _reply(value, asked[name], hidden)
            except TryFailed as failure:
                yield name, failure
            except RecursionError:
                yield name, TryFailed(Kind.USELESS, "the result is nested too deeply", paid=True)


def _reply(line: Mapping[str, Any], asked: int, hidden: str | None) -> Reply:
    """Return the reply in a line. Raises TryFailed if there is none."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        code = str(error.get("code")) if isinstance(error, dict) else ""
        early = code in ("batch_expired", "batch_cancelled")
        raise TryFailed(
            Kind.LATE if early else Kind.BROKEN,
            f"the batch has no answer: {server_words(error, hidden)}",
        )
    status, body = response.get("status_code"), response.get("body")
    if status == 200:
        return read_reply(json.dumps(body).encode(), asked, hidden)
    raise _refused(status if isinstance(status, int) else 500, body, hidden)


def _refused(status: int, body: object, hidden: str | None) -> Exception:
    """Return the error that the status of one request means."""
    found = body.get("error") if isinstance(body, dict) else None
    error = found if isinstance(found, dict) else {}
    words = server_words(body, hidden)
    if status == 402 or error.get("code") in NO_CREDIT or error.get("type") in NO_CREDIT:
        return ModelError(f"the account has no credit left ({words}). Add some, then resume")
    reason = answered_with(status, body, hidden)
    if status == 429:
        return TryFailed(Kind.BUSY, reason, status=status)
    if status >= 500 or status in (408, 409, 425):
        return TryFailed(Kind.BROKEN, reason, status=status)
    parameter = error.get("param")
    return TryFailed(
        Kind.REFUSED,
        reason,
        status=status,
        parameter=parameter if isinstance(parameter, str) else None,
    )


ROUNDS = 3
"most batches in which one request is asked"
MOST_REQUESTS, MOST_BYTES = 50_000, 100_000_000
"limits of one batch; the official endpoint takes 50,000 requests and 200 MB"
FIRST_LOOK_S, GROWTH, LONGEST_LOOK_S = 10.0, 1.5, 600.0
"seconds before a batch is first polled, growth factor of pauses, and longest pause"
CANCEL_S = 60.0
"""seconds to wait for a batch that is being cancelled; after that, resuming the job fetches its
answers"""
CANCELLING = "cancelling"
TRIES = 5
"most consecutive failures of calls while a batch is sent"

T = TypeVar("T")
Do = Callable[[Coroutine[Any, Any, T]], T]


@dataclass(slots=True)
class Wanted:
    """One request, and the results of its calls so far."""

    position: int
    request: Request
    calls: int = 0
    "next call number; each call has its own seed"
    rounds: int = 0
    replies: list[Reply] = field(default_factory=list)
    failure: TryFailed | None = None
    "of the latest round"
    handed: bool = False

    @property
    def had(self) -> int:
        return sum(len(reply.choices) for reply in self.replies)

    @property
    def missing(self) -> int:
        return 0 if self.handed else max(0, self.request.n - self.had)

    def drawn(self, *, final: bool) -> Iterator[Drawn]:
        """Yield the answers by snapshot; `final`: count missing answers as failed if there was a
        failure.
        """
        self.handed = True
        by: dict[tuple[str, str], Counter[str]] = {}
        left = self.request.n
        for reply in self.replies:
            texts = [choice.text for choice in reply.choices][:left]
            left -= len(texts)
            by.setdefault((reply.snapshot, reply.fingerprint), Counter()).update(texts)
        failed = left if final and self.failure is not None else 0
        parts = [
            Drawn(
                self.position,
                tuple(sorted(texts.items(), key=lambda of: (-of[1], of[0]))),
                0,
                "",
                0,
                *who,
                more=True,
            )
            for who, texts in sorted(by.items())
        ] or [Drawn(self.position, ())]
        if not by and not failed:
            return
        yield from parts[:-1]
        reason = self.failure.reason if failed and self.failure is not None else ""
        yield replace(parts[-1], failed=failed, reason=reason, more=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The parts of a served model that batches share with its calls."""

    name: str
    client: BatchClient
    do: Callable[[Coroutine[Any, Any, Any]], Any]
    "runs a coroutine in the model's event loop and returns its result"
    dialect: Dialect
    account: Account
    snapshots: Snapshots
    work: Work
    hidden: str | None
    longest_look_s: float = LONGEST_LOOK_S


class BatchRun:
    """One sequence of requests, answered in batches."""

    def __init__(
        self,
        of: Endpoint,
        ledger: BatchLedger,
        requests: Sequence[Request],
        sampling: Sampling,
        begin: int = 0,
    ):
        self._of, self._ledger, self._sampling = of, ledger, sampling
        self._wanted = {
            _name(one): Wanted(place, one, calls=one.first)
            for place, one in enumerate(requests, begin)
        }
        self._aside: dict[str, Usage] = {}
        self._stop: ModelError | None = None
        self._unmatched = 0
        self.winding_down = False
        "whether nothing more is sent; requests at the endpoint are paid for"

    def answers(self) -> Iterator[Drawn]:
        """Yield answers as batches end. Raises ModelError, after all received answers, if the run
        cannot continue.
        """
        self._ledger.settle()
        taken: list[SentBatch] = []
        sent = list(self._ledger.open())
        for batch in sent:
            self._ledger.say(f"taken up again: {batch.describe()}")
        while True:
            found = [self._finished(one) for one in sent]
            taken += found
            yield from self._complete()
            if not (self._goes_on and all(one.over for one in found) and (again := self._to_ask())):
                break
            if not (sent := self._send(again)):
                break
        # Otherwise a request may have answers in an unfinished batch.
        if all(one.over for one in taken):
            yield from self._rest(failed=self._goes_on)
            for one in taken:
                self._ledger.over(one)
        if self._unmatched:
            self._ledger.say(
                f"{self._unmatched:,} results are of requests that are not wanted any more"
            )
        if self._stop is not None:
            raise self._stop

    def _to_ask(self) -> list[Wanted]:
        return [
            one
            for one in self._wanted.values()
            if one.missing and one.rounds < ROUNDS and not _final(one)
        ]

    @property
    def _goes_on(self) -> bool:
        """Return whether more may be sent."""
        return self._stop is None and not self.winding_down and self._ledger.halt() is Halt.NO

    def _complete(self) -> Iterator[Drawn]:
        """Yield requests that have all their answers, or were refused."""
        for one in self._wanted.values():
            if not one.handed and (not one.missing or _final(one)):
                yield from one.drawn(final=True)

    def _rest(self, *, failed: bool) -> Iterator[Drawn]:
        """Yield the results of the other requests; `failed`: missing answers have failed and are
        not asked again.
        """
        for one in self._wanted.values():
            if not one.handed and (one.replies or one.failure is not None):
                yield from one.drawn(final=failed)

    # sending

    def _send(self, wanted: Sequence[Wanted]) -> list[SentBatch]:
        """Send calls for missing answers; return their batches."""
        lines: dict[str, list[tuple[str, int, str]]] = {}
        turn = 1 + max(one.rounds for one in wanted)
        for one in wanted:
            if not self._room_for(one):
                break
            one.rounds, one.failure = turn, None
            endpoint = self._of.dialect.endpoint(one.request.prompt)
            for name, call in self._calls(one):
                line = as_line(name, endpoint, self._of.dialect.body(call))
                lines.setdefault(endpoint, []).append((name, call.n, line))
        sent = []
        for endpoint, calls in lines.items():
            for some in _in_files(calls):
                noted = self._ledger.intend(endpoint, [(name, n) for name, n, _ in some], turn)
                sent.append(
                    self._begun(noted, "\n".join(line for _, _, line in some).encode() + b"\n")
                )
        return sent

    def _calls(self, one: Wanted) -> list[tuple[str, Call]]:
        """Return calls for the missing answers of one request, by name."""
        missing = one.missing
        whole, rest = divmod(missing, self._of.dialect.most)
        sizes = [self._of.dialect.most] * whole + [rest] * bool(rest)
        found = []
        for n in sizes:
            seed = call_seed(one.request.seed, one.calls)
            found.append(
                (
                    f"{_name(one.request)}-{one.calls}",
                    Call(one.request.prompt, n, seed, self._sampling),
                )
            )
            one.calls += 1
        return found

    def _room_for(self, one: Wanted) -> bool:
        """Set aside the largest cost of a request; without room the run ends when the sent batches
        have returned.
        """
        n = one.missing
        calls = math.ceil(n / self._of.dialect.most)
        tokens = calls * prompt_tokens(one.request.prompt)
        dearest = Usage(calls, tokens, n * self._sampling.most_tokens).in_batches
        account = self._of.account
        if account.set_aside(dearest) is Room.FREE:
            self._aside[_name(one.request)] = dearest
            return True
        self._stop = BudgetSpent(
            "the budget of "
            f"{account.budget.exceeded(account.spent + dearest) or account.budget.limits()} has "
            "no room "
            f"for all requests; spent: {account.budget.describe(account.spent)}. What was "
            "answered is kept; raise the "
            "limit and resume"
        )
        return False

    def _begun(self, sent: SentBatch, content: bytes) -> SentBatch:
        """Upload a recorded batch and start it. After a broken connection, the endpoint is checked
        before a step is repeated.
        """
        failures = 0
        while not sent.batch:
            try:
                if not sent.file:
                    sent = replace(sent, file=self._of.do(self._of.client.upload(sent, content)))
                    self._ledger.note(sent)
                sent = replace(
                    sent, batch=self._of.do(self._of.client.begin(sent)), state="validating"
                )
            except TryFailed as failure:
                failures += 1
                if failure.kind is Kind.REFUSED or failures >= TRIES:
                    raise self._unsent(sent, failure) from None
                self._ledger.wait(min(2.0**failures, self._of.longest_look_s))
                sent = self._found(sent)
        self._ledger.note(sent)
        self._ledger.say(
            f"batch {sent.batch} is sent: {len(sent.calls):,} requests, at {self._price()}"
        )
        return sent

    def _unsent(self, sent: SentBatch, failure: TryFailed) -> ModelError:
        if failure.kind is Kind.REFUSED and not sent.batch:
            self._ledger.over(sent)
        return ModelError(
            f"{self._of.name}: the batch could not be sent: {failure.reason}. Resume sends it"
        )

    def _price(self) -> str:
        share = self._of.account.budget.batch_share
        return f"{share:g} of the usual price"

    def _found(self, sent: SentBatch) -> SentBatch:
        """Return a batch with the endpoint's ids for its token. Raises ModelError if it does not
        list them.
        """
        try:
            found: SentBatch = self._of.do(self._of.client.find(sent))
        except TryFailed as failure:
            raise ModelError(
                f"{self._of.name}: whether a batch was begun under the token {sent.token} is not "
                "known, because the "
                f"endpoint lists none ({failure.reason}). Resume looks again"
            ) from None
        if found != sent:
            self._ledger.note(found)
        return found

    # waiting

    def _finished(self, sent: SentBatch) -> SentBatch:
        """Wait for a batch and read its results; return it unchanged if the wait was stopped."""
        if not sent.batch:
            sent = self._found(sent)
        if not sent.batch and sent.file:
            sent = self._begun(sent, b"")
        if not sent.batch:  # it never reached the endpoint
            return replace(sent, state="cancelled")
        sent = self._waited_for(sent)
        if sent.over:
            self._read(sent)
        return sent

    def _waited_for(self, sent: SentBatch) -> SentBatch:
        """Poll a batch with growing pauses until it is finished, or the wait is stopped."""
        pause = min(FIRST_LOOK_S, self._of.longest_look_s)
        cancelling_s = 0.0
        while True:
            halt = self._ledger.halt()
            try:
                sent = self._look(sent, pause)
                if halt is Halt.CANCEL and not sent.over and sent.state != CANCELLING:
                    self._of.do(self._of.client.cancel(sent.batch))
                    self._ledger.say(f"batch {sent.batch} is being cancelled")
            except TryFailed as failure:
                if failure.kind is Kind.REFUSED and failure.status == 404:
                    raise self._vanished(sent, failure) from None
                self._ledger.say(
                    f"batch {sent.batch}: {failure.reason}; it is looked at again soon"
                )
            if sent.over or halt is Halt.LEAVE or cancelling_s >= CANCEL_S:
                return sent
            if halt is Halt.CANCEL:
                pause = min(1.0, pause)
                cancelling_s += pause
            self._ledger.wait(pause)
            pause = min(pause * GROWTH, self._of.longest_look_s)

    def _vanished(self, sent: SentBatch, failure: TryFailed) -> ModelError:
        """Return the error for a batch that the endpoint no longer has."""
        self._ledger.over(sent)
        return ModelError(
            f"{self._of.name}: the endpoint does not know batch {sent.batch} any more "
            f"({failure.reason}), so its "
            "answers are lost. Resume sends its requests again"
        )

    def _look(self, sent: SentBatch, pause: float) -> SentBatch:
        seen = self._of.do(self._of.client.look(sent.batch))
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sent = replace(
            sent, state=seen.state, completed=seen.completed, failed=seen.failed, looked_at=at
        )
        self._ledger.note(sent, None if sent.over else pause)
        return sent

    # reading

    def _read(self, sent: SentBatch) -> None:
        """Read the results of a finished batch. Its files may be in any order, and so may their
        lines.
        """
        seen = self._of.do(self._of.client.look(sent.batch))
        asked, met, answered = dict(sent.calls), set[str](), 0
        sent_under = len(self._of.snapshots.turns)
        self._begin_round(sent)
        for file in seen.files:
            for name, found in read_lines(self._lines(file), asked, self._of.hidden):
                if name not in met:
                    met.add(name)
                    answered += isinstance(found, Reply)
                    self._take(name, found, sent_under)
        for name in asked:
            if name not in met:
                self._take(
                    name,
                    TryFailed(Kind.LATE, f"the batch ({sent.state}) has no result for it"),
                    sent_under,
                )
        if sent.state != "completed":
            self._ended_early(sent, answered, seen.errors)
        self._learn()

    def _lines(self, file: str) -> bytes:
        """Return a file of results, retrying if the connection breaks."""
        for number in range(1, TRIES + 1):
            try:
                content: bytes = self._of.do(self._of.client.lines(file))
                return content
            except TryFailed as failure:
                if number == TRIES or failure.kind is Kind.REFUSED:
                    raise ModelError(
                        f"{self._of.name}: the results {file} cannot be fetched: "
                        f"{failure.reason}. They stay at the "
                        "endpoint; resume fetches them"
                    ) from None
                self._ledger.wait(min(2.0**number, self._of.longest_look_s))
        raise AssertionError("the last try returns or raises")

    def _begin_round(self, sent: SentBatch) -> None:
        """Match the calls of a resumed batch with their requests."""
        for name, _ in sent.calls:
            of, _, number = name.rpartition("-")
            if (one := self._wanted.get(of)) is not None:
                one.calls = max(one.calls, int(number) + 1)
                if sent.round > one.rounds:
                    one.rounds, one.failure = sent.round, None

    def _take(self, name: str, found: Reply | TryFailed, sent_under: int) -> None:
        """Record one result, and book its cost."""
        of = name.rpartition("-")[0]
        one = self._wanted.get(of)
        if one is None:
            self._unmatched += 1
            return
        if isinstance(found, TryFailed):
            one.failure = found
            self._book(of, Usage(1))
            return
        most = len(found.choices) * self._sampling.most_tokens
        cost = counted(found, Usage(1, prompt_tokens(one.request.prompt), most)).in_batches
        prompt, answer = cost.prompt_tokens, cost.answer_tokens
        self._book(of, cost)
        work = self._of.work
        work.prompt_tokens += prompt
        work.prompt_tokens_computed += prompt - min(found.cached_tokens, prompt)
        work.sampled_tokens += answer
        work.sampled_tokens_computed += answer
        one.replies.append(found)
        try:
            self.winding_down |= self._of.snapshots.met(found, cost, sent_under)
        except SnapshotsAlternate as error:
            self._stop = self._stop or error

    def _book(self, of: str, cost: Usage) -> None:
        self._of.account.book(self._aside.pop(of, Usage()), cost)

    def _ended_early(self, sent: SentBatch, answered: int, errors: Sequence[str]) -> None:
        """Raise ModelError for a batch that ended early; its answers are kept."""
        why = {
            "expired": "expired: the endpoint did not answer all of it in its time",
            "cancelled": "was cancelled",
            "failed": "was refused as a whole",
        }.get(sent.state, sent.state)
        said = f" ({'; '.join(errors[:3])})" if errors else ""
        words = (
            f"{self._of.name}: batch {sent.batch} {why}{said}. {answered:,} of "
            f"{len(sent.calls):,} requests were answered and are kept; resume sends the rest in "
            "another batch"
        )
        self._ledger.say(words)
        if self._ledger.halt() is Halt.NO:
            self._stop = self._stop or ModelError(words)

    def _learn(self) -> None:
        """Adapt the dialect to refusals, as for single calls; refused requests are then asked
        again.
        """
        refused: list[tuple[Wanted, Body, TryFailed]] = []
        for one in self._wanted.values():
            failure = one.failure
            if failure is not None and failure.kind is Kind.REFUSED and not one.handed:
                n = min(one.missing, self._of.dialect.most)
                call = Call(one.request.prompt, n, call_seed(one.request.seed, 0), self._sampling)
                refused.append((one, self._of.dialect.body(call), failure))
        for one, body, failure in refused:
            try:
                learned = self._of.dialect.learn(body, failure, self._sampling)
            except ModelError as error:
                self._stop = self._stop or error
                return
            if learned or self._of.dialect.fewer(body.get("n", 1), failure):
                one.failure = TryFailed(Kind.BUSY, failure.reason)


def _final(one: Wanted) -> bool:
    """Return whether asking a request again is useless."""
    return one.failure is not None and one.failure.kind is Kind.REFUSED


def _name(request: Request) -> str:
    """Return the name of a request's calls, without their number."""
    later = f"+{request.first}" if request.first else ""
    return f"{request.prompt.key.hex()}-{request.seed:x}{later}"


def _in_files(calls: Sequence[tuple[str, int, str]]) -> Iterator[list[tuple[str, int, str]]]:
    """Yield calls in files within the limits of one batch."""
    some: list[tuple[str, int, str]] = []
    size = 0
    for call in calls:
        more = len(call[2]) + 1  # this JSON is ASCII
        if some and (len(some) >= MOST_REQUESTS or size + more > MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(call)
        size += more
    if some:
        yield some
