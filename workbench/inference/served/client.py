"""Single calls to a server through the `openai` package, and the interpretation of its errors.

The package does not handle retries, waits and redirects: its retries would bypass the budget, and a
redirect would send prompts to a host that the user did not name.

Pace
----
The pace of requests to a server: adaptive concurrency, waits between tries, and the server's
requests to wait.

Concurrency follows additive increase and multiplicative decrease (Chiu & Jain 1989, Computer
Networks and ISDN Systems 17:1-14): one more call after each successful round, half as many when the
server reports overload. Waits between tries grow exponentially, with jitter, so that calls that
failed together are not repeated together.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

import numpy as np

from workbench.errors import MissingPackage, ModelError
from workbench.inference.served.address import ENDPOINT_HOSTS, Address
from workbench.inference.served.bounded import TooLong, bounded_client
from workbench.inference.served.budget import number_from, whole_from
from workbench.inference.served.calls import Body
from workbench.inference.served.reply import (
    FailureKind,
    TryFailed,
    answered_with,
    brief,
    server_words,
)
from workbench.inference.served.secret import without_key
from workbench.installed import install_package

TIMEOUT = "WORKBENCH_TIMEOUT_S"
FIRST_LIMIT = 4
"parallel calls at the start"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts and numbers of tries. Times are in seconds."""

    tries: int = 8
    """tries per call

    With the waits between them they span about a minute, the usual window of a rate limit.
    """
    long_tries: int = 3
    "tries of a call that times out or has a useless reply: each may cost money"
    connect_s: float = 5.0
    reply_s: float = 120.0
    "timeout of a complete reply"
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_pause_s: float = 120.0
    """longest pause, as the run ends if a server asks for a longer one

    The run can be resumed.
    """
    concurrency: int = 16
    "most parallel calls"
    batch_look_s: float = 600.0
    "longest pause between two checks of a batch"


def retry_policy_from(environ: Mapping[str, str]) -> RetryPolicy:
    """Return the retry policy that the environment sets.

    It reads $WORKBENCH_CONCURRENCY, $WORKBENCH_TIMEOUT_S and $WORKBENCH_BATCH_LOOK_S.
    """
    default = RetryPolicy()
    concurrency = whole_from(environ, "WORKBENCH_CONCURRENCY")
    seconds = number_from(environ, TIMEOUT)
    look_s = number_from(environ, "WORKBENCH_BATCH_LOOK_S")
    return RetryPolicy(
        concurrency=max(1, concurrency or default.concurrency),
        reply_s=seconds or default.reply_s,
        batch_look_s=look_s or default.batch_look_s,
    )


def wait_before(attempt: int, patience: RetryPolicy, rng: np.random.Generator) -> float:
    """Return the seconds to wait before the next try of a call that failed `attempt` times.

    It is a random fraction, at least half, of a time that doubles up to a limit.
    """
    full_wait = min(patience.longest_wait_s, patience.first_wait_s * 2.0 ** min(attempt - 1, 30))
    return full_wait * (0.5 + 0.5 * float(rng.random()))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a server asks to wait, or None if it does not say.

    See RFC 9110, section 10.2.3. `now` is the time of day in seconds, for servers that name a date.
    """
    for header, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        text = headers.get(header)
        if text is None:
            continue
        try:
            seconds = float(text) / per_second
        except ValueError:
            seconds = _seconds_until(text, now)
        if 0 <= seconds < math.inf:  # false for NaN
            return seconds
    return None


def _seconds_until(date: str, now: float) -> float:
    """Return the seconds until a date of a header, or -1 if it is no date."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return -1.0


class CallPace:
    """The control of the pace of calls.

    It belongs to one event loop.

    Use `async with pace.slot() as slot` around each call, then report its result.
    """

    def __init__(self, most: int):
        self.most = most
        self.limit = float(min(FIRST_LIMIT, most))
        self.under_way = 0
        self.round = 0
        "number of decreases: calls that started before the latest one carry no new information"
        self.begun = 0
        "requests being answered, including those that wait between two tries"
        self._not_before = 0.0
        self._ended = asyncio.Event()

    def slot(self) -> Slot:
        """Return the slot of a call, to be entered with `async with`."""
        return Slot(self)

    def pause(self, seconds: float) -> None:
        """Start no call for some time."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    async def enter(self) -> None:
        """Wait until one more call may start, and count it as active."""
        while True:
            if (wait := self._not_before - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            elif self.under_way < int(self.limit):
                self.under_way += 1
                return
            else:
                await self.a_call_ended()

    async def begin(self) -> None:
        """Wait until one more request may start.

        There are at most as many requests as parallel calls, so that a request which needs further
        tries does not wait behind all untried ones.
        """
        while self.begun >= int(self.limit):
            await self.a_call_ended()
        self.begun += 1

    def end(self) -> None:
        """Count a request as ended."""
        self.begun -= 1
        self.wake()

    def leave(self) -> None:
        """Count a call as ended."""
        self.under_way -= 1
        self.wake()

    def wake(self) -> None:
        """Wake the tasks that wait for a call to end."""
        ended, self._ended = self._ended, asyncio.Event()
        ended.set()

    async def a_call_ended(self) -> None:
        """Wait until a call or a request has ended."""
        await self._ended.wait()

    def allow(self, most: int) -> None:
        """Limit the parallel calls from now on. Active calls continue."""
        self.most = most
        self.limit = min(self.limit, float(most))
        self.wake()

    def raise_limit(self) -> None:
        """Allow one more parallel call for each round of successful calls."""
        self.limit = min(float(self.most), self.limit + 1.0 / max(1, int(self.limit)))

    def lower_limit(self, began: int) -> None:
        """Halve the limit, once for all failed calls that began in the same round."""
        if began == self.round:
            self.round += 1
            self.limit = max(1.0, self.limit / 2)


class Slot:
    """The slot of one active call."""

    def __init__(self, pace: CallPace):
        self._pace = pace
        self._began = 0

    async def __aenter__(self) -> Slot:
        await self._pace.enter()
        self._began = self._pace.round
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pace.leave()

    def went_well(self) -> None:
        self._pace.raise_limit()

    def too_much(self) -> None:
        self._pace.lower_limit(self._began)


NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout")
"transport errors after which the server cannot have processed the call"
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
CANNOT_LIST = (500, 501)
"""statuses of a server that lists no models, like transformers serve without the hub

Other errors may be temporary.
"""
LIST_TRIES, LIST_S = 3, 10.0
"tries and timeout in seconds for asking a server what it serves"
NAMED = 10
"models that a message names of those that a server lists"


class NotServed(ModelError):
    """The error of a server that answered with 404.

    It has no such model, or takes no such calls.
    """


class Client:
    """An endpoint that calls are sent to. It belongs to one event loop."""

    def __init__(
        self, address: Address, key: str | None, patience: RetryPolicy, transport: Any = None
    ):
        try:
            import openai
        except ImportError as error:
            raise MissingPackage(
                f"{address.name}: served models need the package openai. Install it: "
                f"{install_package('openai')}"
            ) from error
        self._openai: Any = openai
        self._address, self._key, self._patience = address, key, patience
        self._http = bounded_client(
            openai,
            key,
            transport=transport,
            follow_redirects=False,
            trust_env=not address.is_loopback,
        )
        self._client: Any = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=address.url,
            max_retries=0,
            timeout=openai.Timeout(patience.reply_s, connect=patience.connect_s),
            http_client=self._http,
        )
        if not address.official:  # other services must not see the account's identity
            self._client.organization = self._client.project = None
        self._client.admin_api_key = None

    async def close(self) -> None:
        await self._client.close()

    async def send(self, endpoint: str, body: Body) -> bytes:
        """Return the reply to a call.

        Raises TryFailed, or ModelError if all further calls would fail too.
        """
        resources = {
            "chat": self._client.chat.completions,
            "completions": self._client.completions,
            "responses": self._client.responses,
        }
        try:
            reply = await self._within(
                resources[endpoint].with_raw_response.create(**body), self._patience.reply_s
            )
        except self._openai.NotFoundError as error:
            raise NotServed(await self._not_found(endpoint, error)) from None
        content = reply.content
        return content if isinstance(content, bytes) else bytes(content)

    async def about_batches(self, make: Callable[[Any], Any], seconds: float) -> Any:
        """Return the result of a call that `make` creates from the package's client.

        Raises as `send`, but TryFailed if the endpoint does not support the call.
        """
        try:
            return await self._within(make(self._client), seconds)
        except self._openai.NotFoundError as error:
            raise TryFailed(
                FailureKind.REFUSED, answered_with(404, error.body, self._key), status=404
            ) from None

    async def served(self) -> tuple[dict[str, Any], ...] | None:
        """Return the server's list of models, or None if it has no list.

        Raises ModelError if it cannot be reached, refuses the key, or is too busy: a guess would
        give the model another identity, and all answers would be paid for again.
        """
        for attempt in range(1, LIST_TRIES + 1):
            try:
                reply = await self._within(self._client.models.with_raw_response.list(), LIST_S)
                return _parse_models(reply)
            except (self._openai.NotFoundError, ValueError):
                return None
            except TryFailed as failure:
                if failure.status in CANNOT_LIST or failure.kind is FailureKind.REFUSED:
                    return None
                max_tries = (
                    min(LIST_TRIES, self._patience.long_tries)
                    if failure.kind is FailureKind.LATE
                    else LIST_TRIES
                )
                if attempt >= max_tries or failure.kind is FailureKind.ABSENT:
                    raise ModelError(f"{self._address.name}: {self._no_list(failure)}") from None
                await asyncio.sleep(min(self._patience.first_wait_s * attempt, LIST_S))
        return None

    async def routes(self) -> frozenset[str]:
        """Return the paths in the server's description of itself, or empty if it has none.

        The description is /openapi.json beside its version. The key is not sent.

        Raises ModelError if there is no reply after a few tries: the server would be known or not
        by chance.
        """
        import json

        address = self._address.url.removesuffix("/v1") + "/openapi.json"
        for attempt in range(1, LIST_TRIES + 1):
            try:
                reply = await self._http.get(address, timeout=LIST_S)
                break
            except (
                Exception
            ) as error:  # a pooled connection may have been closed by the server meanwhile
                if attempt == LIST_TRIES:
                    raise ModelError(
                        f"{self._address.name}: {address} had no answer ({type(error).__name__}), "
                        "so the kind of the server is not known. Look whether it is well, or name "
                        "its kind after a # (help dialects)"
                    ) from None
        try:
            description = json.loads(reply.content)
        except (ValueError, RecursionError):
            return frozenset()
        paths = description.get("paths") if isinstance(description, dict) else None
        return frozenset(map(str, paths)) if isinstance(paths, dict) else frozenset()

    def _no_list(self, failure: TryFailed) -> str:
        if failure.kind is not FailureKind.LATE:
            return failure.reason
        return (
            f"{self._address.url} was asked which models it serves: {failure.reason}. Look whether "
            "the server is well, then start again"
        )

    async def _within(self, call: Any, seconds: float) -> Any:
        """Wait for a complete reply, and translate errors of the package and of its transport."""
        openai = self._openai
        try:
            async with asyncio.timeout(seconds):
                return await call
        except (TimeoutError, openai.APITimeoutError) as error:
            if type(error.__cause__).__name__ in NEVER_SENT:
                raise self._unreachable(error) from None
            raise TryFailed(
                FailureKind.LATE, f"no whole reply in {seconds:g} s", paid=True
            ) from None
        except TooLong as error:
            raise TryFailed(FailureKind.USELESS, str(error), paid=True) from None
        except openai.APIConnectionError as error:
            raise self._unreachable(error) from None
        except openai.NotFoundError:
            raise
        except UnicodeEncodeError:
            raise TryFailed(
                FailureKind.REFUSED, "the prompt holds half a character, which no request can carry"
            ) from None
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except openai.APIError as error:
            raise TryFailed(
                FailureKind.USELESS, f"the reply cannot be read ({type(error).__name__})", paid=True
            ) from None

    @property
    def host(self) -> str:
        """The host that is asked."""
        return self._address.host or self._address.url

    def _unreachable(self, error: Exception) -> TryFailed:
        cause = error.__cause__ or error
        message = brief(without_key(str(cause), self._key)) or type(cause).__name__
        if type(cause).__name__ in NEVER_SENT:
            return TryFailed(
                FailureKind.ABSENT,
                f"nothing answers at {self._address.url} ({message}). Start the server, or mend "
                "the address",
            )
        event = (
            "the reply cannot be unpacked"
            if type(cause).__name__ == "DecodingError"
            else "the connection broke off"
        )
        return TryFailed(FailureKind.BROKEN, f"{event} ({message})", paid=True)

    def _refusal(self, error: Any) -> Exception:
        """Return the error for an unsuccessful status.

        It is TryFailed, or ModelError if the run cannot continue.
        """
        status, name = int(error.status_code), self._address.name
        message = server_words(error.body if error.body is not None else error.message, self._key)
        if status in (401, 403):
            return ModelError(f"{name}: {self._about_key(status)}")
        if status == 402 or error.code in NO_CREDIT or error.type in NO_CREDIT:
            return ModelError(
                f"{name}: the account has no credit left ({message}). Add some, then resume"
            )
        if status < 400:
            return ModelError(
                f"{name}: {self._address.url} redirects elsewhere ({status}); name the final "
                "address"
            )
        reason = answered_with(status, error.body, self._key)
        wait_s = retry_after(error.response.headers, time.time())
        if status == 429:
            return TryFailed(FailureKind.BUSY, reason, status=status, after=wait_s)
        if status >= 500 or status in (408, 409, 425):
            return TryFailed(FailureKind.BROKEN, reason, status=status, after=wait_s)
        parameter = error.param if isinstance(error.param, str) else None
        return TryFailed(FailureKind.REFUSED, reason, status=status, parameter=parameter)

    def _about_key(self, status: int) -> str:
        variable = self._address.key_variable
        if not self._address.trusted:
            return (
                f"{self._address.url} wants a key ({status}), and none was sent: ${ENDPOINT_HOSTS} "
                "does not list the host. If this host may see your key, set "
                f"${ENDPOINT_HOSTS}={self._address.host} and ${variable}"
            )
        if self._key is None:
            return f"{self._address.url} wants a key ({status}); set ${variable} in the environment"
        return (
            f"{self._address.url} refused the key of ${variable} ({status}); set one that may "
            "use this model"
        )

    async def _not_found(self, endpoint: str, error: Any) -> str:
        """Return a message about the missing model or endpoint."""
        path = {"chat": "/chat/completions"}.get(endpoint, f"/{endpoint}")
        reason = server_words(error.body, self._key, default="")
        message = (
            f"{self._address.name}: {self._address.url}{path} answered with "
            f"404{reason and ': '}{reason}. "
        )
        try:
            ids = [str(entry.get("id")) for entry in await self.served() or ()]
        except ModelError:
            ids = []
        if not ids:
            return (
                message + "Look whether the address ends as the server's own does (mostly /v1) and "
                "serves this model"
            )
        if self._address.model in ids:
            return (
                f"{message}It lists this model, but not for such calls; try #completions, "
                "#responses, or neither"
            )
        return message + served_models_text(self._address.model, ids)


def served_models_text(model: str, ids: Iterable[str]) -> str:
    """Return the text about the models that a server lists.

    Names nearest to that of a model come first.
    """
    names = sorted(
        ids, key=lambda name: -SequenceMatcher(None, model.casefold(), name.casefold()).ratio()
    )
    remainder = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"It serves: {brief(', '.join(names[:NAMED]))}{remainder}"


def _parse_models(reply: Any) -> tuple[dict[str, Any], ...] | None:
    """Return the entries of a list of models. Raises ValueError if it is not JSON."""
    import json

    value = json.loads(reply.content)
    entries = value.get("data") if isinstance(value, dict) else None
    return (
        tuple(entry for entry in entries if isinstance(entry, dict))
        if isinstance(entries, list)
        else None
    )
