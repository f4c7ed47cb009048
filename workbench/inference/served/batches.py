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
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from workbench.domain.batches import BatchLedger, Halt, SentBatch
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import BudgetSpent, ModelError, SnapshotsAlternate
from workbench.inference.base import Work
from workbench.inference.served.behaviour import Snapshots
from workbench.inference.served.budget import Account, Room, Usage, counted_usage, prompt_tokens
from workbench.inference.served.calls import Body, Dialect, ModelCall, call_seed
from workbench.inference.served.client import NO_CREDIT, Client
from workbench.inference.served.reply import (
    FailureKind,
    Reply,
    TryFailed,
    answered_with,
    answers_by_snapshot,
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
class BatchReport:
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
        return _identifier(created, "file")

    async def start(self, sent: SentBatch) -> str:
        """Start a batch of the uploaded requests, and return its id."""
        created = await self._call(
            lambda api: api.batches.create(
                input_file_id=sent.file,
                endpoint=PATHS[sent.endpoint],
                completion_window=WINDOW,
                metadata={MARK: sent.token},
            )
        )
        return _identifier(created, "batch")

    async def find(self, sent: SentBatch) -> SentBatch:
        """Return a batch with the ids that the endpoint has for it and its file.

        An id is empty if the endpoint has none.
        """
        async for entry in self._list_entries(
            lambda api, after: api.batches.list(limit=100, **after)
        ):
            metadata = getattr(entry, "metadata", None)
            if isinstance(metadata, dict) and metadata.get(MARK) == sent.token:
                return replace(
                    sent,
                    batch=_identifier(entry, "batch"),
                    file=str(getattr(entry, "input_file_id", "") or sent.file),
                )
        if sent.file:
            return sent
        async for entry in self._list_entries(
            lambda api, after: api.files.list(purpose="batch", **after)
        ):
            if getattr(entry, "filename", None) == file_name(sent):
                return replace(sent, file=_identifier(entry, "file"))
        return sent

    async def check_list(self) -> None:
        """Ask for one batch of the list, to check that the list exists.

        Raises TryFailed if it does not.
        """
        await self._call(lambda api: api.batches.list(limit=1))

    async def poll(self, batch: str) -> BatchReport:
        """Return the state of a batch."""
        return _report_from(await self._call(lambda api: api.batches.retrieve(batch)), self._hidden)

    async def cancel(self, batch: str) -> BatchReport:
        """Cancel a batch.

        Its answers so far remain available.
        """
        return _report_from(await self._call(lambda api: api.batches.cancel(batch)), self._hidden)

    async def download(self, file: str) -> bytes:
        """Return the content of a file of results."""
        reply = await self._call(lambda api: api.files.with_raw_response.content(file), TRANSFER_S)
        content = reply.content
        return content if isinstance(content, bytes) else bytes(content)

    async def _call(self, make: Any, seconds: float = CALL_S) -> Any:
        return await self._client.about_batches(make, seconds)

    async def _list_entries(self, page: Any) -> Any:
        """Yield the entries of a list, page by page."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            listing = await self._call(lambda api: page(api, after))  # noqa: B023 - called at once
            entries = _entries(listing)
            for entry in entries:
                yield entry
            if not entries or not getattr(listing, "has_more", False):
                return
            after = {"after": _identifier(entries[-1], "entry")}


def file_name(sent: SentBatch) -> str:
    """Return the name under which the requests of a batch are uploaded."""
    return f"workbench-{sent.token}.jsonl"


def _identifier(reply: Any, what: str) -> str:
    """Return the id in a reply. Raises TryFailed, naming the kind of object, if there is none."""
    identifier = getattr(reply, "id", None)
    if not isinstance(identifier, str) or not identifier:
        raise TryFailed(FailureKind.USELESS, f"the reply names no {what}", paid=True)
    return identifier


def _report_from(reply: Any, hidden: str | None) -> BatchReport:
    """Return the description of a batch in a reply. Raises TryFailed if there is no state."""
    counts = getattr(reply, "request_counts", None)
    files = (getattr(reply, "output_file_id", None), getattr(reply, "error_file_id", None))
    errors = _entries(getattr(reply, "errors", None))
    state = getattr(reply, "status", None)
    if not isinstance(state, str):
        raise TryFailed(FailureKind.USELESS, "the reply says no state of the batch")
    return BatchReport(
        id=_identifier(reply, "batch"),
        state=brief(state),
        completed=_count(getattr(counts, "completed", 0)),
        failed=_count(getattr(counts, "failed", 0)),
        files=tuple(file for file in files if isinstance(file, str) and file),
        errors=tuple(server_words(getattr(error, "message", None), hidden) for error in errors),
    )


def _entries(listing: object) -> list[Any]:
    """Return the entries of a list of the protocol, or none if the reply has another shape."""
    entries = getattr(listing, "data", None)
    return entries if isinstance(entries, list) else []


def _count(value: object) -> int:
    """Return a count of the protocol, or 0 if it is no valid number."""
    return value if isinstance(value, int) and value >= 0 else 0


def as_line(custom_id: str, endpoint: str, body: Mapping[str, Any]) -> str:
    """Return a request of a batch as a line of its file."""
    fields = {name: value for name, value in body.items() if name != "extra_body"}
    body_fields = {**fields, **body.get("extra_body", {})}
    return json.dumps(
        {"custom_id": custom_id, "method": "POST", "url": PATHS[endpoint], "body": body_fields}
    )


def read_lines(
    content: bytes, n_by_name: Mapping[str, int], hidden: str | None
) -> Iterator[tuple[str, Reply | TryFailed]]:
    """Yield the result of each request, as (custom id, reply or failure), in the order of the file.

    `n_by_name` maps a request to its number of answers. Lines about other requests, and unreadable
    lines, are skipped. Raises ModelError if the account has no credit left.
    """
    for line in content.splitlines():
        try:
            result = json.loads(line)
        except (ValueError, RecursionError):
            continue
        name = result.get("custom_id") if isinstance(result, dict) else None
        if not isinstance(name, str) or name not in n_by_name:
            continue
        try:
            yield name, _parse_reply(result, n_by_name[name], hidden)
        except TryFailed as failure:
            yield name, failure
        except RecursionError:
            yield name, TryFailed(FailureKind.USELESS, "the result is nested too deeply", paid=True)


def _parse_reply(line: Mapping[str, Any], n_answers: int, hidden: str | None) -> Reply:
    """Return the reply in a line. Raises TryFailed if there is none."""
    response = line.get("response")
    if not isinstance(response, dict):
        raise _missing_response(line.get("error"), hidden)
    status = response.get("status_code")
    body = response.get("body")
    if status == 200:
        return read_reply(json.dumps(body).encode(), n_answers, hidden)
    raise _error_of_status(status if isinstance(status, int) else 500, body, hidden)


def _missing_response(error: object, hidden: str | None) -> TryFailed:
    """Return the failure of a request that was not answered."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    kind = FailureKind.LATE if code in ("batch_expired", "batch_cancelled") else FailureKind.BROKEN
    return TryFailed(kind, f"the batch has no answer: {server_words(error, hidden)}")


def _error_of_status(status: int, body: object, hidden: str | None) -> Exception:
    """Return the error that the status of one request means."""
    details = body.get("error") if isinstance(body, dict) else None
    error = details if isinstance(details, dict) else {}
    message = server_words(body, hidden)
    if status == 402 or error.get("code") in NO_CREDIT or error.get("type") in NO_CREDIT:
        return ModelError(f"the account has no credit left ({message}). Add some, then resume")
    reason = answered_with(status, body, hidden)
    if status == 429:
        return TryFailed(FailureKind.BUSY, reason, status=status)
    if status >= 500 or status in (408, 409, 425):
        return TryFailed(FailureKind.BROKEN, reason, status=status)
    parameter = error.get("param")
    return TryFailed(
        FailureKind.REFUSED,
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


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One call of a batch."""

    name: str
    n_answers: int
    line: str
    "the call as a line of the uploaded file"


@dataclass(slots=True)
class PendingRequest:
    """One request, and the results of its calls so far."""

    position: int
    request: Request
    next_call: int = 0
    "number of the next call, as each call has its own seed"
    rounds: int = 0
    replies: list[Reply] = field(default_factory=list)
    failure: TryFailed | None = None
    "failure of the latest round"
    is_delivered: bool = False
    "whether its answers were yielded, so that no more are asked for"

    @property
    def n_missing(self) -> int:
        """The number of answers still to ask for."""
        if self.is_delivered:
            return 0
        n_answers = sum(len(reply.choices) for reply in self.replies)
        return max(0, self.request.n - n_answers)

    @property
    def is_refused(self) -> bool:
        """Whether asking the request again is useless."""
        return self.failure is not None and self.failure.kind is FailureKind.REFUSED

    def deliver(self, *, final: bool) -> Iterator[Drawn]:
        """Yield the answers by snapshot, and ask for no more.

        With `final`, missing answers count as failed if there was a failure.
        """
        self.is_delivered = True
        texts_by_snapshot = self._texts_by_snapshot()
        n_failed = 0
        reason = ""
        if final and self.failure is not None:
            n_failed = self.request.n - sum(map(len, texts_by_snapshot.values()))
        if n_failed and self.failure is not None:
            reason = self.failure.reason
        if not texts_by_snapshot and not n_failed:
            return
        yield from answers_by_snapshot(self.position, texts_by_snapshot, n_failed, reason)

    def _texts_by_snapshot(self) -> dict[tuple[str, str], list[str]]:
        """Return the answers by (snapshot, fingerprint).

        Answers beyond the number of the request are left out.
        """
        n_wanted = self.request.n
        texts_by_snapshot: dict[tuple[str, str], list[str]] = {}
        for reply in self.replies:
            texts = [choice.text for choice in reply.choices][:n_wanted]
            n_wanted -= len(texts)
            texts_by_snapshot.setdefault((reply.snapshot, reply.fingerprint), []).extend(texts)
        return texts_by_snapshot


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The parts of a served model that batches share with its calls."""

    name: str
    client: BatchClient
    run: Callable[[Coroutine[Any, Any, Any]], Any]
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
        endpoint: Endpoint,
        ledger: BatchLedger,
        requests: Sequence[Request],
        sampling: Sampling,
        begin: int = 0,
    ):
        self._endpoint, self._ledger, self._sampling = endpoint, ledger, sampling
        self._requests = {
            _request_name(request): PendingRequest(position, request, next_call=request.first)
            for position, request in enumerate(requests, begin)
        }
        self._reserved: dict[str, Usage] = {}
        "the largest cost of each request at the endpoint, by its name"
        self._error: ModelError | None = None
        "the error that is raised at the end"
        self._n_unmatched = 0
        self.winding_down = False
        "whether nothing more is sent, while requests at the endpoint are paid for"

    def answers(self) -> Iterator[Drawn]:
        """Yield answers as batches end.

        Raises ModelError, after all received answers, if the run cannot continue.
        """
        self._ledger.settle()
        batches = list(self._ledger.open())
        for batch in batches:
            self._ledger.say(f"taken up again: {batch.describe()}")
        all_batches: list[SentBatch] = []
        while True:
            batches = [self._wait_and_read(batch) for batch in batches]
            all_batches += batches
            yield from self._complete_answers()
            batches = self._send_next_round(batches)
            if not batches:
                break
        # Otherwise a request may have answers in an unfinished batch.
        if all(batch.over for batch in all_batches):
            yield from self._incomplete_answers(with_failures=self._may_send)
            for batch in all_batches:
                self._ledger.over(batch)
        if self._n_unmatched:
            self._ledger.say(
                f"{self._n_unmatched:,} results are of requests that are not wanted any more"
            )
        if self._error is not None:
            raise self._error

    @property
    def _may_send(self) -> bool:
        """Whether more may be sent."""
        return self._error is None and not self.winding_down and self._ledger.halt() is Halt.NO

    def _complete_answers(self) -> Iterator[Drawn]:
        """Yield the answers to requests that have all of them, or were refused."""
        for pending in self._requests.values():
            if not pending.is_delivered and (not pending.n_missing or pending.is_refused):
                yield from pending.deliver(final=True)

    def _incomplete_answers(self, *, with_failures: bool) -> Iterator[Drawn]:
        """Yield the answers to the other requests.

        With failures, missing answers have failed and are not asked again.
        """
        for pending in self._requests.values():
            if not pending.is_delivered and (pending.replies or pending.failure is not None):
                yield from pending.deliver(final=with_failures)

    # sending

    def _send_next_round(self, previous: Sequence[SentBatch]) -> list[SentBatch]:
        """Ask again for missing answers, and return the new batches.

        There are none if the run ends: nothing is missing, nothing more may be sent, or a batch of
        the previous round is unfinished.
        """
        if not self._may_send or not all(batch.over for batch in previous):
            return []
        unanswered = [
            pending
            for pending in self._requests.values()
            if pending.n_missing and pending.rounds < ROUNDS and not pending.is_refused
        ]
        return self._send(unanswered) if unanswered else []

    def _send(self, unanswered: Sequence[PendingRequest]) -> list[SentBatch]:
        """Send calls for missing answers, and return their batches.

        Requests for which the budget has no room are left out.
        """
        calls_by_endpoint: dict[str, list[BatchCall]] = {}
        turn = 1 + max(pending.rounds for pending in unanswered)
        for pending in unanswered:
            if not self._set_cost_aside(pending):
                break
            pending.rounds, pending.failure = turn, None
            endpoint = self._endpoint.dialect.endpoint(pending.request.prompt)
            calls_by_endpoint.setdefault(endpoint, []).extend(self._calls_for(pending, endpoint))
        batches = []
        for endpoint, calls in calls_by_endpoint.items():
            for chunk in _within_limits(calls):
                names = [(call.name, call.n_answers) for call in chunk]
                content = "\n".join(call.line for call in chunk).encode() + b"\n"
                recorded = self._ledger.intend(endpoint, names, turn)
                batches.append(self._upload_and_start(recorded, content))
        return batches

    def _calls_for(self, pending: PendingRequest, endpoint: str) -> list[BatchCall]:
        """Return calls for the missing answers of one request."""
        most = self._endpoint.dialect.most
        n_full, remainder = divmod(pending.n_missing, most)
        sizes = [most] * n_full
        if remainder:
            sizes.append(remainder)
        calls = []
        for n_answers in sizes:
            name = f"{_request_name(pending.request)}-{pending.next_call}"
            seed = call_seed(pending.request.seed, pending.next_call)
            call = ModelCall(pending.request.prompt, n_answers, seed, self._sampling)
            line = as_line(name, endpoint, self._endpoint.dialect.body(call))
            calls.append(BatchCall(name, n_answers, line))
            pending.next_call += 1
        return calls

    def _set_cost_aside(self, pending: PendingRequest) -> bool:
        """Set aside the largest cost of a request, and return whether there is room for it.

        Without room the run ends when the sent batches have returned.
        """
        n_answers = pending.n_missing
        n_calls = math.ceil(n_answers / self._endpoint.dialect.most)
        n_tokens = n_calls * prompt_tokens(pending.request.prompt)
        max_cost = Usage(n_calls, n_tokens, n_answers * self._sampling.most_tokens).in_batches
        account = self._endpoint.account
        if account.set_aside(max_cost) is Room.FREE:
            self._reserved[_request_name(pending.request)] = max_cost
            return True
        limits = account.budget.exceeded(account.spent + max_cost) or account.budget.limits()
        self._error = BudgetSpent(
            f"the budget of {limits} has "
            f"no room for all requests; spent: {account.budget.describe(account.spent)}. What was "
            "answered is kept; raise the limit and resume"
        )
        return False

    def _upload_and_start(self, sent: SentBatch, content: bytes) -> SentBatch:
        """Upload a recorded batch and start it.

        After a broken connection, the endpoint is checked before a step is repeated.
        """
        failures = 0
        while not sent.batch:
            try:
                if not sent.file:
                    file = self._endpoint.run(self._endpoint.client.upload(sent, content))
                    sent = replace(sent, file=file)
                    self._ledger.note(sent)
                batch = self._endpoint.run(self._endpoint.client.start(sent))
                sent = replace(sent, batch=batch, state="validating")
            except TryFailed as failure:
                failures += 1
                if failure.kind is FailureKind.REFUSED or failures >= TRIES:
                    raise self._sending_error(sent, failure) from None
                self._ledger.wait(min(2.0**failures, self._endpoint.longest_look_s))
                sent = self._find_at_endpoint(sent)
        self._ledger.note(sent)
        share = self._endpoint.account.budget.batch_share
        self._ledger.say(
            f"batch {sent.batch} is sent: {len(sent.calls):,} requests, at {share:g} of the usual "
            "price"
        )
        return sent

    def _sending_error(self, sent: SentBatch, failure: TryFailed) -> ModelError:
        """Return the error for a batch that could not be sent. A refused one is closed."""
        if failure.kind is FailureKind.REFUSED and not sent.batch:
            self._ledger.over(sent)
        return ModelError(
            f"{self._endpoint.name}: the batch could not be sent: {failure.reason}. Resume sends it"
        )

    def _find_at_endpoint(self, sent: SentBatch) -> SentBatch:
        """Return a batch with the endpoint's ids for its token.

        Raises ModelError if it does not list them.
        """
        try:
            batch: SentBatch = self._endpoint.run(self._endpoint.client.find(sent))
        except TryFailed as failure:
            raise ModelError(
                f"{self._endpoint.name}: whether a batch was begun under the token {sent.token} is "
                f"not known, because the endpoint lists none ({failure.reason}). Resume looks again"
            ) from None
        if batch != sent:
            self._ledger.note(batch)
        return batch

    # waiting

    def _wait_and_read(self, sent: SentBatch) -> SentBatch:
        """Wait for a batch and read its results.

        It is returned unchanged if the wait was stopped.
        """
        if not sent.batch:
            sent = self._find_at_endpoint(sent)
        if not sent.batch and sent.file:
            sent = self._upload_and_start(sent, b"")
        if not sent.batch:  # it never reached the endpoint
            return replace(sent, state="cancelled")
        sent = self._wait_until_over(sent)
        if sent.over:
            self._read(sent)
        return sent

    def _wait_until_over(self, sent: SentBatch) -> SentBatch:
        """Poll a batch with growing pauses until it is finished, or the wait is stopped."""
        pause = min(FIRST_LOOK_S, self._endpoint.longest_look_s)
        cancelling_s = 0.0
        while True:
            halt = self._ledger.halt()
            try:
                sent = self._poll(sent, pause)
                if halt is Halt.CANCEL and not sent.over and sent.state != CANCELLING:
                    self._endpoint.run(self._endpoint.client.cancel(sent.batch))
                    self._ledger.say(f"batch {sent.batch} is being cancelled")
            except TryFailed as failure:
                if failure.kind is FailureKind.REFUSED and failure.status == 404:
                    raise self._lost_batch_error(sent, failure) from None
                self._ledger.say(
                    f"batch {sent.batch}: {failure.reason}; it is looked at again soon"
                )
            if sent.over or halt is Halt.LEAVE or cancelling_s >= CANCEL_S:
                return sent
            if halt is Halt.CANCEL:
                pause = min(1.0, pause)
                cancelling_s += pause
            self._ledger.wait(pause)
            pause = min(pause * GROWTH, self._endpoint.longest_look_s)

    def _lost_batch_error(self, sent: SentBatch, failure: TryFailed) -> ModelError:
        """Return the error for a batch that the endpoint no longer has."""
        self._ledger.over(sent)
        return ModelError(
            f"{self._endpoint.name}: the endpoint does not know batch {sent.batch} any more "
            f"({failure.reason}), so its answers are lost. Resume sends its requests again"
        )

    def _poll(self, sent: SentBatch, pause: float) -> SentBatch:
        """Return a batch in its present state, and store it.

        `pause` are the seconds until the next request if it is not over.
        """
        report = self._endpoint.run(self._endpoint.client.poll(sent.batch))
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sent = replace(
            sent,
            state=report.state,
            completed=report.completed,
            failed=report.failed,
            looked_at=time,
        )
        self._ledger.note(sent, None if sent.over else pause)
        return sent

    # reading

    def _read(self, sent: SentBatch) -> None:
        """Read the results of a finished batch.

        Its files may be in any order, and so may their lines.
        """
        report = self._endpoint.run(self._endpoint.client.poll(sent.batch))
        n_by_name = dict(sent.calls)
        n_turns = len(self._endpoint.snapshots.turns)
        n_answered = 0
        read_names: set[str] = set()
        self._match_calls(sent)
        for file in report.files:
            for name, result in read_lines(self._download(file), n_by_name, self._endpoint.hidden):
                if name in read_names:
                    continue
                read_names.add(name)
                n_answered += isinstance(result, Reply)
                self._record(name, result, n_turns)
        for name in n_by_name:
            if name not in read_names:
                reason = f"the batch ({sent.state}) has no result for it"
                self._record(name, TryFailed(FailureKind.LATE, reason), n_turns)
        if sent.state != "completed":
            self._report_early_end(sent, n_answered, report.errors)
        self._adapt_dialect()

    def _download(self, file: str) -> bytes:
        """Return a file of results, retrying if the connection breaks."""
        for number in range(1, TRIES + 1):
            try:
                content: bytes = self._endpoint.run(self._endpoint.client.download(file))
                return content
            except TryFailed as failure:
                if number == TRIES or failure.kind is FailureKind.REFUSED:
                    raise ModelError(
                        f"{self._endpoint.name}: the results {file} cannot be fetched: "
                        f"{failure.reason}. They stay at the endpoint; resume fetches them"
                    ) from None
                self._ledger.wait(min(2.0**number, self._endpoint.longest_look_s))
        raise AssertionError("the last try returns or raises")

    def _match_calls(self, sent: SentBatch) -> None:
        """Match the calls of a resumed batch with their requests."""
        for name, _ in sent.calls:
            request_name, _, number = name.rpartition("-")
            pending = self._requests.get(request_name)
            if pending is None:
                continue
            pending.next_call = max(pending.next_call, int(number) + 1)
            if sent.round > pending.rounds:
                pending.rounds, pending.failure = sent.round, None

    def _record(self, name: str, result: Reply | TryFailed, n_turns: int) -> None:
        """Record one result, and book its cost.

        `n_turns` is the number of changes of the model before the batch was read.
        """
        request_name = name.rpartition("-")[0]
        pending = self._requests.get(request_name)
        if pending is None:
            self._n_unmatched += 1
            return
        if isinstance(result, TryFailed):
            pending.failure = result
            self._book(request_name, Usage(1))
            return
        max_tokens = len(result.choices) * self._sampling.most_tokens
        max_cost = Usage(1, prompt_tokens(pending.request.prompt), max_tokens)
        cost = counted_usage(result, max_cost).in_batches
        self._book(request_name, cost)
        self._count_work(cost, result.cached_tokens)
        pending.replies.append(result)
        try:
            self.winding_down |= self._endpoint.snapshots.record_reply(result, cost, n_turns)
        except SnapshotsAlternate as error:
            self._error = self._error or error

    def _book(self, request_name: str, cost: Usage) -> None:
        """Book the cost of a result, in place of the cost set aside for its request."""
        self._endpoint.account.book(self._reserved.pop(request_name, Usage()), cost)

    def _count_work(self, cost: Usage, cached_tokens: int) -> None:
        """Count the tokens of a reply. Cached tokens of the prompt were not computed."""
        work = self._endpoint.work
        work.prompt_tokens += cost.prompt_tokens
        work.prompt_tokens_computed += cost.prompt_tokens - min(cached_tokens, cost.prompt_tokens)
        work.sampled_tokens += cost.answer_tokens
        work.sampled_tokens_computed += cost.answer_tokens

    def _report_early_end(self, sent: SentBatch, n_answered: int, errors: Sequence[str]) -> None:
        """Tell that a batch ended early, and end the run unless it was stopped by the user."""
        outcome = {
            "expired": "expired: the endpoint did not answer all of it in its time",
            "cancelled": "was cancelled",
            "failed": "was refused as a whole",
        }.get(sent.state, sent.state)
        details = f" ({'; '.join(errors[:3])})" if errors else ""
        message = (
            f"{self._endpoint.name}: batch {sent.batch} {outcome}{details}. {n_answered:,} of "
            f"{len(sent.calls):,} requests were answered and are kept; resume sends the rest in "
            "another batch"
        )
        self._ledger.say(message)
        if self._ledger.halt() is Halt.NO:
            self._error = self._error or ModelError(message)

    def _adapt_dialect(self) -> None:
        """Adapt the dialect to refusals, as for single calls.

        Refused requests are then asked again.
        """
        # All calls are formed before the dialect changes.
        refusals: list[tuple[PendingRequest, Body, TryFailed]] = []
        for pending in self._requests.values():
            failure = pending.failure
            if failure is None or not pending.is_refused or pending.is_delivered:
                continue
            n_answers = min(pending.n_missing, self._endpoint.dialect.most)
            seed = call_seed(pending.request.seed, 0)
            call = ModelCall(pending.request.prompt, n_answers, seed, self._sampling)
            refusals.append((pending, self._endpoint.dialect.body(call), failure))
        for pending, body, failure in refusals:
            try:
                learned = self._endpoint.dialect.learn(body, failure, self._sampling)
            except ModelError as error:
                self._error = self._error or error
                return
            if learned or self._endpoint.dialect.n_after_refusal(body.get("n", 1), failure):
                pending.failure = TryFailed(FailureKind.BUSY, failure.reason)


def _request_name(request: Request) -> str:
    """Return the name of a request's calls, without their number."""
    later = f"+{request.first}" if request.first else ""
    return f"{request.prompt.key.hex()}-{request.seed:x}{later}"


def _within_limits(calls: Sequence[BatchCall]) -> Iterator[list[BatchCall]]:
    """Yield calls in chunks within the limits of one batch."""
    chunk: list[BatchCall] = []
    size = 0
    for call in calls:
        line_size = len(call.line) + 1  # this JSON is ASCII
        if chunk and (len(chunk) >= MOST_REQUESTS or size + line_size > MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(call)
        size += line_size
    if chunk:
        yield chunk
