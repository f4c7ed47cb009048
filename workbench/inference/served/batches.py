"""Answers in batches: requests are uploaded together and matched with their results.

The requests wait at the endpoint. A batch is recorded in the ledger before it is uploaded, and
again with each id from the endpoint. A restarted worker finds it there, or by its token at the
endpoint, and continues waiting: nothing is uploaded twice. A request is identified by its prompt's
key, its seed and the number of its call, so that results can be matched in any order, even if its
job was planned again.

Temporary failures are asked again in another batch, at most ROUNDS times. A refusal changes the
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
    """The calls to an endpoint about batches. They belong to the event loop of its client."""

    def __init__(self, client: Client, hidden: str | None):
        self._client, self._hidden = client, hidden

    async def upload(self, sent: SentBatch, content: bytes) -> str:
        """Send the requests of a batch and return the id of the file."""
        created = await self._call(
            lambda api: api.files.create(file=(file_name(sent), content), purpose="batch"),
            TRANSFER_S,
        )
        return _id(created, "file")

    async def begin(self, sent: SentBatch) -> str:
        """Start a batch of the uploaded requests, and return its id."""
        created = await self._call(
            lambda api: api.batches.create(
                input_file_id=sent.file,
                endpoint=PATHS[sent.endpoint],
                completion_window=WINDOW,
                metadata={MARK: sent.token},
            )
        )
        return _id(created, "batch")

    async def find(self, sent: SentBatch) -> SentBatch:
        """Return a batch with the ids that the endpoint has for it and its file.

        An id is empty if the endpoint has none.
        """
        async for entry in self._listed(lambda api, after: api.batches.list(limit=100, **after)):
            metadata = getattr(entry, "metadata", None)
            if isinstance(metadata, dict) and metadata.get(MARK) == sent.token:
                return replace(
                    sent,
                    batch=_id(entry, "batch"),
                    file=str(getattr(entry, "input_file_id", "") or sent.file),
                )
        if sent.file:
            return sent
        async for entry in self._listed(
            lambda api, after: api.files.list(purpose="batch", **after)
        ):
            if getattr(entry, "filename", None) == file_name(sent):
                return replace(sent, file=_id(entry, "file"))
        return sent

    async def listed(self) -> None:
        """Ask for one batch of the list, to check that the list exists.

        Raises TryFailed if it does not.
        """
        await self._call(lambda api: api.batches.list(limit=1))

    async def look(self, batch: str) -> Seen:
        """Return the state of a batch."""
        return _seen(await self._call(lambda api: api.batches.retrieve(batch)), self._hidden)

    async def cancel(self, batch: str) -> Seen:
        """Cancel a batch.

        Its answers so far remain available.
        """
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
            listing = await self._call(lambda api: page(api, after))  # noqa: B023 - called at once
            entries = _entries(listing)
            for entry in entries:
                yield entry
            if not entries or not getattr(listing, "has_more", False):
                return
            after = {"after": _id(entries[-1], "entry")}


def file_name(sent: SentBatch) -> str:
    return f"workbench-{sent.token}.jsonl"


def _id(made: Any, what: str) -> str:
    identifier = getattr(made, "id", None)
    if not isinstance(identifier, str) or not identifier:
        raise TryFailed(Kind.USELESS, f"the reply names no {what}", paid=True)
    return identifier


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
    """Return the entries of a list of the protocol, or none if the reply has another shape."""
    entries = getattr(listed, "data", None)
    return entries if isinstance(entries, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def as_line(custom_id: str, endpoint: str, body: Mapping[str, Any]) -> str:
    """Return a request of a batch as a line of its file."""
    fields = {name: value for name, value in body.items() if name != "extra_body"}
    body_fields = {**fields, **body.get("extra_body", {})}
    return json.dumps(
        {"custom_id": custom_id, "method": "POST", "url": PATHS[endpoint], "body": body_fields}
    )


def read_lines(
    content: bytes, asked: Mapping[str, int], hidden: str | None
) -> Iterator[tuple[str, Reply | TryFailed]]:
    """Yield the result of each request, as (custom id, reply or failure), in the order of the file.

    `asked` maps a request to its number of answers. Lines about other requests, and unreadable
    lines, are skipped. Raises ModelError if the account has no credit left.
    """
    for line in content.splitlines():
        try:
            result = json.loads(line)
        except (ValueError, RecursionError):
            continue
        name = result.get("custom_id") if isinstance(result, dict) else None
        if isinstance(name, str) and name in asked:
            try:
                yield name, _reply(result, asked[name], hidden)
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
    details = body.get("error") if isinstance(body, dict) else None
    error = details if isinstance(details, dict) else {}
    message = server_words(body, hidden)
    if status == 402 or error.get("code") in NO_CREDIT or error.get("type") in NO_CREDIT:
        return ModelError(f"the account has no credit left ({message}). Add some, then resume")
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
"limits of one batch, of which the official endpoint takes 50,000 requests and 200 MB"
FIRST_LOOK_S, GROWTH, LONGEST_LOOK_S = 10.0, 1.5, 600.0
"seconds before a batch is first polled, growth factor of pauses, and longest pause"
CANCEL_S = 60.0
"""seconds to wait for a batch that is being cancelled

After that, resuming the job fetches its answers.
"""
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
    "next call number, as each call has its own seed"
    rounds: int = 0
    replies: list[Reply] = field(default_factory=list)
    failure: TryFailed | None = None
    "failure of the latest round"
    handed: bool = False

    @property
    def had(self) -> int:
        return sum(len(reply.choices) for reply in self.replies)

    @property
    def missing(self) -> int:
        return 0 if self.handed else max(0, self.request.n - self.had)

    def drawn(self, *, final: bool) -> Iterator[Drawn]:
        """Yield the answers by snapshot.

        With `final`, missing answers count as failed if there was a failure.
        """
        self.handed = True
        texts_by_snapshot: dict[tuple[str, str], Counter[str]] = {}
        n_missing = self.request.n
        for reply in self.replies:
            texts = [choice.text for choice in reply.choices][:n_missing]
            n_missing -= len(texts)
            texts_by_snapshot.setdefault((reply.snapshot, reply.fingerprint), Counter()).update(
                texts
            )
        n_failed = n_missing if final and self.failure is not None else 0
        draws = [
            Drawn(
                self.position,
                tuple(sorted(texts.items(), key=lambda item: (-item[1], item[0]))),
                0,
                "",
                0,
                *snapshot,
                more=True,
            )
            for snapshot, texts in sorted(texts_by_snapshot.items())
        ] or [Drawn(self.position, ())]
        if not texts_by_snapshot and not n_failed:
            return
        yield from draws[:-1]
        reason = self.failure.reason if n_failed and self.failure is not None else ""
        yield replace(draws[-1], failed=n_failed, reason=reason, more=False)


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
    """The run of one sequence of requests, answered in batches."""

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
            _name(request): Wanted(position, request, calls=request.first)
            for position, request in enumerate(requests, begin)
        }
        self._aside: dict[str, Usage] = {}
        self._stop: ModelError | None = None
        self._unmatched = 0
        self.winding_down = False
        "whether nothing more is sent, while requests at the endpoint are paid for"

    def answers(self) -> Iterator[Drawn]:
        """Yield answers as batches end.

        Raises ModelError, after all received answers, if the run cannot continue.
        """
        self._ledger.settle()
        finished: list[SentBatch] = []
        batches = list(self._ledger.open())
        for batch in batches:
            self._ledger.say(f"taken up again: {batch.describe()}")
        while True:
            results = [self._finished(open_batch) for open_batch in batches]
            finished += results
            yield from self._complete()
            if not (
                self._goes_on
                and all(ended.over for ended in results)
                and (to_ask := self._to_ask())
            ):
                break
            if not (batches := self._send(to_ask)):
                break
        # Otherwise a request may have answers in an unfinished batch.
        if all(ended.over for ended in finished):
            yield from self._rest(failed=self._goes_on)
            for ended_batch in finished:
                self._ledger.over(ended_batch)
        if self._unmatched:
            self._ledger.say(
                f"{self._unmatched:,} results are of requests that are not wanted any more"
            )
        if self._stop is not None:
            raise self._stop

    def _to_ask(self) -> list[Wanted]:
        return [
            pending
            for pending in self._wanted.values()
            if pending.missing and pending.rounds < ROUNDS and not _final(pending)
        ]

    @property
    def _goes_on(self) -> bool:
        """Whether more may be sent."""
        return self._stop is None and not self.winding_down and self._ledger.halt() is Halt.NO

    def _complete(self) -> Iterator[Drawn]:
        """Yield requests that have all their answers, or were refused."""
        for wanted in self._wanted.values():
            if not wanted.handed and (not wanted.missing or _final(wanted)):
                yield from wanted.drawn(final=True)

    def _rest(self, *, failed: bool) -> Iterator[Drawn]:
        """Yield the results of the other requests.

        With `failed`, missing answers have failed and are not asked again.
        """
        for pending in self._wanted.values():
            if not pending.handed and (pending.replies or pending.failure is not None):
                yield from pending.drawn(final=failed)

    # sending

    def _send(self, wanted: Sequence[Wanted]) -> list[SentBatch]:
        """Send calls for missing answers, and return their batches."""
        lines: dict[str, list[tuple[str, int, str]]] = {}
        turn = 1 + max(pending.rounds for pending in wanted)
        for unanswered in wanted:
            if not self._room_for(unanswered):
                break
            unanswered.rounds, unanswered.failure = turn, None
            endpoint = self._of.dialect.endpoint(unanswered.request.prompt)
            for name, call in self._calls(unanswered):
                line = as_line(name, endpoint, self._of.dialect.body(call))
                lines.setdefault(endpoint, []).append((name, call.n, line))
        batches = []
        for endpoint, calls in lines.items():
            for chunk in _in_files(calls):
                recorded = self._ledger.intend(
                    endpoint, [(name, n_answers) for name, n_answers, _ in chunk], turn
                )
                batches.append(
                    self._begun(recorded, "\n".join(line for _, _, line in chunk).encode() + b"\n")
                )
        return batches

    def _calls(self, one: Wanted) -> list[tuple[str, Call]]:
        """Return calls for the missing answers of one request, by name."""
        missing = one.missing
        n_full, remainder = divmod(missing, self._of.dialect.most)
        sizes = [self._of.dialect.most] * n_full + [remainder] * bool(remainder)
        calls = []
        for n in sizes:
            seed = call_seed(one.request.seed, one.calls)
            calls.append(
                (
                    f"{_name(one.request)}-{one.calls}",
                    Call(one.request.prompt, n, seed, self._sampling),
                )
            )
            one.calls += 1
        return calls

    def _room_for(self, one: Wanted) -> bool:
        """Set aside the largest cost of a request.

        Without room the run ends when the sent batches have returned.
        """
        n_answers = one.missing
        n_calls = math.ceil(n_answers / self._of.dialect.most)
        n_tokens = n_calls * prompt_tokens(one.request.prompt)
        max_cost = Usage(n_calls, n_tokens, n_answers * self._sampling.most_tokens).in_batches
        account = self._of.account
        if account.set_aside(max_cost) is Room.FREE:
            self._aside[_name(one.request)] = max_cost
            return True
        self._stop = BudgetSpent(
            "the budget of "
            f"{account.budget.exceeded(account.spent + max_cost) or account.budget.limits()} has "
            f"no room for all requests; spent: {account.budget.describe(account.spent)}. What was "
            "answered is kept; raise the limit and resume"
        )
        return False

    def _begun(self, sent: SentBatch, content: bytes) -> SentBatch:
        """Upload a recorded batch and start it.

        After a broken connection, the endpoint is checked before a step is repeated.
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
        """Return a batch with the endpoint's ids for its token.

        Raises ModelError if it does not list them.
        """
        try:
            batch: SentBatch = self._of.do(self._of.client.find(sent))
        except TryFailed as failure:
            raise ModelError(
                f"{self._of.name}: whether a batch was begun under the token {sent.token} is not "
                f"known, because the endpoint lists none ({failure.reason}). Resume looks again"
            ) from None
        if batch != sent:
            self._ledger.note(batch)
        return batch

    # waiting

    def _finished(self, sent: SentBatch) -> SentBatch:
        """Wait for a batch and read its results.

        It is returned unchanged if the wait was stopped.
        """
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
            f"({failure.reason}), so its answers are lost. Resume sends its requests again"
        )

    def _look(self, sent: SentBatch, pause: float) -> SentBatch:
        batch_state = self._of.do(self._of.client.look(sent.batch))
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sent = replace(
            sent,
            state=batch_state.state,
            completed=batch_state.completed,
            failed=batch_state.failed,
            looked_at=time,
        )
        self._ledger.note(sent, None if sent.over else pause)
        return sent

    # reading

    def _read(self, sent: SentBatch) -> None:
        """Read the results of a finished batch.

        Its files may be in any order, and so may their lines.
        """
        seen = self._of.do(self._of.client.look(sent.batch))
        n_by_name, read_names, n_answered = dict(sent.calls), set[str](), 0
        n_turns = len(self._of.snapshots.turns)
        self._begin_round(sent)
        for file in seen.files:
            for name, result in read_lines(self._lines(file), n_by_name, self._of.hidden):
                if name not in read_names:
                    read_names.add(name)
                    n_answered += isinstance(result, Reply)
                    self._take(name, result, n_turns)
        for name in n_by_name:
            if name not in read_names:
                self._take(
                    name,
                    TryFailed(Kind.LATE, f"the batch ({sent.state}) has no result for it"),
                    n_turns,
                )
        if sent.state != "completed":
            self._ended_early(sent, n_answered, seen.errors)
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
                        f"{self._of.name}: the results {file} cannot be fetched: {failure.reason}. "
                        "They stay at the endpoint; resume fetches them"
                    ) from None
                self._ledger.wait(min(2.0**number, self._of.longest_look_s))
        raise AssertionError("the last try returns or raises")

    def _begin_round(self, sent: SentBatch) -> None:
        """Match the calls of a resumed batch with their requests."""
        for name, _ in sent.calls:
            request_name, _, number = name.rpartition("-")
            if (wanted := self._wanted.get(request_name)) is not None:
                wanted.calls = max(wanted.calls, int(number) + 1)
                if sent.round > wanted.rounds:
                    wanted.rounds, wanted.failure = sent.round, None

    def _take(self, name: str, found: Reply | TryFailed, sent_under: int) -> None:
        """Record one result, and book its cost."""
        request_name = name.rpartition("-")[0]
        wanted = self._wanted.get(request_name)
        if wanted is None:
            self._unmatched += 1
            return
        if isinstance(found, TryFailed):
            wanted.failure = found
            self._book(request_name, Usage(1))
            return
        max_tokens = len(found.choices) * self._sampling.most_tokens
        cost = counted(found, Usage(1, prompt_tokens(wanted.request.prompt), max_tokens)).in_batches
        prompt, answer = cost.prompt_tokens, cost.answer_tokens
        self._book(request_name, cost)
        work = self._of.work
        work.prompt_tokens += prompt
        work.prompt_tokens_computed += prompt - min(found.cached_tokens, prompt)
        work.sampled_tokens += answer
        work.sampled_tokens_computed += answer
        wanted.replies.append(found)
        try:
            self.winding_down |= self._of.snapshots.met(found, cost, sent_under)
        except SnapshotsAlternate as error:
            self._stop = self._stop or error

    def _book(self, of: str, cost: Usage) -> None:
        self._of.account.book(self._aside.pop(of, Usage()), cost)

    def _ended_early(self, sent: SentBatch, answered: int, errors: Sequence[str]) -> None:
        """Raise ModelError for a batch that ended early. Its answers are kept."""
        outcome = {
            "expired": "expired: the endpoint did not answer all of it in its time",
            "cancelled": "was cancelled",
            "failed": "was refused as a whole",
        }.get(sent.state, sent.state)
        details = f" ({'; '.join(errors[:3])})" if errors else ""
        message = (
            f"{self._of.name}: batch {sent.batch} {outcome}{details}. {answered:,} of "
            f"{len(sent.calls):,} requests were answered and are kept; resume sends the rest in "
            "another batch"
        )
        self._ledger.say(message)
        if self._ledger.halt() is Halt.NO:
            self._stop = self._stop or ModelError(message)

    def _learn(self) -> None:
        """Adapt the dialect to refusals, as for single calls.

        Refused requests are then asked again.
        """
        refusals: list[tuple[Wanted, Body, TryFailed]] = []
        for wanted in self._wanted.values():
            failure = wanted.failure
            if failure is not None and failure.kind is Kind.REFUSED and not wanted.handed:
                n_answers = min(wanted.missing, self._of.dialect.most)
                call = Call(
                    wanted.request.prompt,
                    n_answers,
                    call_seed(wanted.request.seed, 0),
                    self._sampling,
                )
                refusals.append((wanted, self._of.dialect.body(call), failure))
        for wanted, body, failure in refusals:
            try:
                learned = self._of.dialect.learn(body, failure, self._sampling)
            except ModelError as error:
                self._stop = self._stop or error
                return
            if learned or self._of.dialect.fewer(body.get("n", 1), failure):
                wanted.failure = TryFailed(Kind.BUSY, failure.reason)


def _final(one: Wanted) -> bool:
    """Return whether asking a request again is useless."""
    return one.failure is not None and one.failure.kind is Kind.REFUSED


def _name(request: Request) -> str:
    """Return the name of a request's calls, without their number."""
    later = f"+{request.first}" if request.first else ""
    return f"{request.prompt.key.hex()}-{request.seed:x}{later}"


def _in_files(calls: Sequence[tuple[str, int, str]]) -> Iterator[list[tuple[str, int, str]]]:
    """Yield calls in files within the limits of one batch."""
    chunk: list[tuple[str, int, str]] = []
    size = 0
    for call in calls:
        line_size = len(call[2]) + 1  # this JSON is ASCII
        if chunk and (len(chunk) >= MOST_REQUESTS or size + line_size > MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(call)
        size += line_size
    if chunk:
        yield chunk
