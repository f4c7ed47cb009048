"""A batch of requests that an endpoint answers in its own time, at a share of the price.

A batch is noted before it is uploaded, under a token that also stands in the name of its file and
in the batch's own metadata. A worker that finds a noted batch without an id asks the endpoint for
the token, so a batch that was begun there is taken up and never uploaded a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

OVER = frozenset({"completed", "failed", "expired", "cancelled"})
"states of a batch in which nothing more comes of it, in the words of the protocol"


@dataclass(frozen=True, slots=True)
class SentBatch:
    """The state of one batch."""

    token: str
    endpoint: str
    "chat, completions or responses"
    calls: tuple[tuple[str, int], ...]
    "(custom id, number of answers asked for)"
    round: int = 1
    """number of the times that these requests have been asked with it

    The calls of one round may need several batches.
    """
    file: str = ""
    "id of its uploaded requests, or an empty string if it is not known"
    batch: str = ""
    "its own id, or an empty string if it is not known"
    state: str = ""
    "state in the endpoint's word, or an empty string if it was not looked at yet"
    completed: int = 0
    failed: int = 0
    created_at: str = ""
    looked_at: str = ""
    "time of the latest request to the endpoint (UTC), or an empty string without one"

    @property
    def over(self) -> bool:
        return self.state in OVER

    def describe(self) -> str:
        """Return the state of the batch as a sentence."""
        if not self.batch:
            return (
                f"a batch of {len(self.calls):,} requests was being sent {clock(self.created_at)}"
            )
        failures = f", {self.failed:,} failed" if self.failed else ""
        last_asked = f"; last asked {clock(self.looked_at)}" if self.looked_at else ""
        return (
            f"batch {self.batch} {self.state.replace('_', ' ') or 'sent'} since "
            f"{clock(self.created_at)}: "
            f"{self.completed:,} of {len(self.calls):,} requests answered{failures}{last_asked}"
        )


def clock(stamp: str) -> str:
    """Return a stored time in the form `2026-11-23 09:30 UTC`."""
    return f"{stamp[:10]} {stamp[11:16]} UTC"


class Halt(Enum):
    """A request to a job that waits for a batch."""

    NO = "go on"
    LEAVE = "stop waiting; the batch goes on at the endpoint"
    CANCEL = "cancel the batch"


class BatchLedger(Protocol):
    """The record of a job's batches, and its reports while it waits for them."""

    def open(self) -> Sequence[SentBatch]:
        """Return the batches with answers that are not stored yet, oldest first."""
        ...

    def intend(self, endpoint: str, calls: Sequence[tuple[str, int]], turn: int) -> SentBatch:
        """Note a batch of a round that is about to be sent."""
        ...

    def note(self, sent: SentBatch, next_look_s: float | None = None) -> None:
        """Store the state of a batch and the time of the next request to the endpoint."""
        ...

    def over(self, sent: SentBatch) -> None:
        """Take a batch for done, once the answers handed on so far are stored."""
        ...

    def settle(self) -> None:
        """Close the batches that are done.

        Their answers are stored by now.
        """
        ...

    def halt(self) -> Halt: ...

    def wait(self, seconds: float) -> None:
        """Wait the given time, or until `halt` may have another result."""
        ...

    def say(self, sentence: str) -> None: ...
