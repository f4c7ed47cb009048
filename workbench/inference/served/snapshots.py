"""Tracks the model that an endpoint reports in each reply.

One name may stand for several models: an alias moves to another dated snapshot, or a load balancer serves two. The
model reported in a reply is part of the identity of its answers. A `system_fingerprint` is not: it may differ between
requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.domain.responses import Answerer
from workbench.errors import SnapshotsAlternate
from workbench.inference.served.budget import Usage
from workbench.inference.served.reply import Reply

MOST_CHANGES = 3
"changes after which the run stops: the answers would be scattered over as many models"


@dataclass(slots=True)
class Tally:
    """The answers and usage of one snapshot."""

    answers: int = 0
    spent: Usage = field(default_factory=Usage)


class Snapshots:
    """The snapshots of one endpoint, in the order in which it changed."""

    def __init__(self, name: str, cost: Callable[[Usage], float | None]):
        self.current: str | None = None
        "None before the first reply"
        self.fingerprints: Counter[str] = Counter()
        "fingerprint -> answers; replies without one are not counted"
        self._name, self._cost = name, cost
        self._met: list[str] = []
        self._changes = 0
        self.turns: list[tuple[str, str]] = []
        "(snapshot before, snapshot after) of each unexpected change of the model"
        self._tallies: dict[str, Tally] = {}
        self._assumed = False

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Set the earlier snapshot; `asked`: in the same job, so that another snapshot is a change within it.

        Has no effect after the first reply.
        """
        if not self._tallies:
            self.current, self._met, self._assumed = snapshot, [snapshot], not asked

    def met(self, reply: Reply, spent: Usage, sent_under: int) -> bool:
        """Take a reply into account; return whether the model has changed with it.

        Replies to calls sent before the latest change was seen are ignored. Raises SnapshotsAlternate if an earlier
        snapshot has returned, or the model has changed too often.
        """
        tally = self._tallies.setdefault(reply.snapshot, Tally())
        tally.answers += len(reply.choices)
        tally.spent += spent
        if reply.fingerprint and reply.choices:
            self.fingerprints[reply.fingerprint] += len(reply.choices)
        if self.current is None or reply.snapshot == self.current:
            self._now(reply.snapshot)
            return False
        if self._assumed:
            self._met = []
            self._turn(reply.snapshot)
            return True
        returned = reply.snapshot in self._met
        if returned and sent_under < len(self.turns):
            return False
        self._changes += 1
        self._turn(reply.snapshot)
        if returned or self._changes >= MOST_CHANGES:
            raise SnapshotsAlternate(self._told(returned))
        return True

    def tallies(self) -> tuple[Answerer, ...]:
        """Return the answers and usage of each snapshot, in order of appearance."""
        return tuple(
            Answerer(
                snapshot,
                tally.answers,
                tally.spent.requests,
                tally.spent.prompt_tokens,
                tally.spent.answer_tokens,
                self._cost(tally.spent),
            )
            for snapshot, tally in self._tallies.items()
        )

    def _turn(self, snapshot: str) -> None:
        self.turns.append((self.current or "", snapshot))
        self._now(snapshot)

    def _now(self, snapshot: str) -> None:
        self.current, self._assumed = snapshot, False
        if snapshot not in self._met:
            self._met.append(snapshot)

    def _told(self, returned: bool) -> str:
        what = "an earlier snapshot has returned" if returned else f"it has changed {self._changes} times"
        came = "; ".join(answerer.describe() for answerer in self.tallies())
        return (
            f"{self._name}: the endpoint answers with several snapshots, and {what}. {came}. Answers of two snapshots "
            "are never pooled. Start a job with the name of one dated snapshot, or resume this one to go on with the "
            "snapshot that answers then"
        )
