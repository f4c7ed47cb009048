"""Files and batches of an OpenAI-compatible endpoint, through the `openai` package, and the format of their lines.

Every call here may be repeated: uploaded files and started batches are found by the token of the batch, which is in the
name of its file and in its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.domain.batches import SentBatch
from workbench.errors import ModelError
from workbench.inference.served.client import NO_CREDIT, Client
from workbench.inference.served.reply import Kind, Reply, TryFailed, brief, read_reply, server_words

PATHS = {"chat": "/v1/chat/completions", "completions": "/v1/completions", "responses": "/v1/responses"}
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
            lambda api: api.files.create(file=(file_name(sent), content), purpose="batch"), TRANSFER_S
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
        """Return a batch with the endpoint's ids of it and its file: empty if the endpoint has none."""
        async for one in self._listed(lambda api, after: api.batches.list(limit=100, **after)):
            if (getattr(one, "metadata", None) or {}).get(MARK) == sent.token:
                return replace(sent, batch=_id(one, "batch"), file=str(getattr(one, "input_file_id", "") or sent.file))
        if sent.file:
            return sent
        async for one in self._listed(lambda api, after: api.files.list(purpose="batch", **after)):
            if getattr(one, "filename", None) == file_name(sent):
                return replace(sent, file=_id(one, "file"))
        return sent

    async def listed(self) -> None:
        """Ask for one batch of the list, to check that the list exists. Raises TryFailed if it does not."""
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
            entries = list(getattr(found, "data", None) or ())
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
    errors = getattr(getattr(made, "errors", None), "data", None) or ()
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


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def as_line(custom_id: str, endpoint: str, body: Mapping[str, Any]) -> str:
    """Return a request of a batch as a line of its file."""
    plain = {name: value for name, value in body.items() if name != "extra_body"}
    sent = {**plain, **body.get("extra_body", {})}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": PATHS[endpoint], "body": sent})


def read_lines(content: bytes, asked: Mapping[str, int], hidden: str | None) -> Iterator[tuple[str, Reply | TryFailed]]:
    """Yield the result of each request, as (custom id, reply or failure), in the order of the file.

    `asked`: number of answers per request; lines about other requests, and unreadable lines, are skipped. Raises
    ModelError if the account has no credit left.
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


def _reply(line: Mapping[str, Any], asked: int, hidden: str | None) -> Reply:
    """Return the reply in a line. Raises TryFailed if there is none."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        code = str(error.get("code")) if isinstance(error, dict) else ""
        early = code in ("batch_expired", "batch_cancelled")
        raise TryFailed(Kind.LATE if early else Kind.BROKEN, f"the batch has no answer: {server_words(error, hidden)}")
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
    reason = f"the server answered with {status}: {words}"
    if status == 429:
        return TryFailed(Kind.BUSY, reason, status=status)
    if status >= 500 or status in (408, 409, 425):
        return TryFailed(Kind.BROKEN, reason, status=status)
    parameter = error.get("param")
    return TryFailed(Kind.REFUSED, reason, status=status, parameter=parameter if isinstance(parameter, str) else None)
