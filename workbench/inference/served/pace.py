"""The pace of requests to a server: adaptive concurrency, waits between tries, and the server's requests to wait.

Concurrency follows additive increase and multiplicative decrease (Chiu & Jain 1989, Computer Networks and ISDN
Systems 17:1-14): one more call after each successful round, half as many when the server reports overload. Waits
between tries grow exponentially, with jitter, so that calls that failed together are not repeated together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType

import numpy as np

from workbench.inference.served.budget import number_from, whole_from

TIMEOUT = "WORKBENCH_TIMEOUT_S"
FIRST_LIMIT = 4
"parallel calls at the start"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts and numbers of tries. Times in seconds."""

    tries: int = 8
    "tries per call; with the waits between them they span about a minute, the usual window of a rate limit"
    long_tries: int = 3
    "tries of a call that times out or has a useless reply: each may cost money"
    connect_s: float = 5.0
    reply_s: float = 120.0
    "timeout of a complete reply"
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_pause_s: float = 120.0
    "if a server asks for a longer pause, the run ends; it can be resumed"
    concurrency: int = 16
    "most parallel calls"
    batch_look_s: float = 600.0
    "longest pause between two checks of a batch"


def retry_policy_from(environ: Mapping[str, str]) -> RetryPolicy:
    """Return the patience set by $WORKBENCH_CONCURRENCY, $WORKBENCH_TIMEOUT_S and $WORKBENCH_BATCH_LOOK_S."""
    usual = RetryPolicy()
    calls = whole_from(environ, "WORKBENCH_CONCURRENCY")
    seconds = number_from(environ, TIMEOUT)
    look_s = number_from(environ, "WORKBENCH_BATCH_LOOK_S")
    return RetryPolicy(
        concurrency=max(1, calls or usual.concurrency),
        reply_s=seconds or usual.reply_s,
        batch_look_s=look_s or usual.batch_look_s,
    )


def wait_before(attempt: int, patience: RetryPolicy, rng: np.random.Generator) -> float:
    """Return the seconds to wait before the next try of a call that failed `attempt` times: a random fraction, at least
    half, of a time that doubles up to a limit.
    """
    whole = min(patience.longest_wait_s, patience.first_wait_s * 2.0 ** min(attempt - 1, 30))
    return whole * (0.5 + 0.5 * float(rng.random()))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a server asks to wait (RFC 9110, section 10.2.3), None if it does not say.

    `now` is the time of day in seconds, for servers that name a date.
    """
    for header, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        text = headers.get(header)
        if text is None:
            continue
        try:
            seconds = float(text) / per_second
        except ValueError:
            seconds = _until(text, now)
        if seconds >= 0:  # NaN is not
            return seconds
    return None


def _until(date: str, now: float) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return -1.0


class Pace:
    """Controls the pace of calls: use `async with pace.slot() as slot` around each call, then report its result.

    Belongs to one event loop.
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
        return Slot(self)

    def pause(self, seconds: float) -> None:
        """Start no call for some time."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    async def enter(self) -> None:
        while True:
            if (wait := self._not_before - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            elif self.under_way < int(self.limit):
                self.under_way += 1
                return
            else:
                await self.a_call_ended()

    async def begin(self) -> None:
        """Wait until one more request may start: there are at most as many requests as parallel calls, so that a
        request which needs further tries does not wait behind all untried ones.
        """
        while self.begun >= int(self.limit):
            await self.a_call_ended()
        self.begun += 1

    def end(self) -> None:
        self.begun -= 1
        self.wake()

    def leave(self) -> None:
        self.under_way -= 1
        self.wake()

    def wake(self) -> None:
        """Wake the tasks that wait for a call to end."""
        ended, self._ended = self._ended, asyncio.Event()
        ended.set()

    async def a_call_ended(self) -> None:
        await self._ended.wait()

    def allow(self, most: int) -> None:
        """Limit the parallel calls from now on; active calls continue."""
        self.most = most
        self.limit = min(self.limit, float(most))
        self.wake()

    def raise_limit(self) -> None:
        self.limit = min(float(self.most), self.limit + 1.0 / max(1, int(self.limit)))

    def lower_limit(self, began: int) -> None:
        if began == self.round:
            self.round += 1
            self.limit = max(1.0, self.limit / 2)


class Slot:
    """The slot of one active call."""

    def __init__(self, pace: Pace):
        self._pace = pace
        self._began = 0

    async def __aenter__(self) -> Slot:
        await self._pace.enter()
        self._began = self._pace.round
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pace.leave()

    def went_well(self) -> None:
        self._pace.raise_limit()

    def too_much(self) -> None:
        self._pace.lower_limit(self._began)
