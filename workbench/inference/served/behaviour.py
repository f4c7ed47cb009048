"""The behaviour of a server in its replies: the model that it reports, and whether it draws.

Snapshots
---------
Tracks the model that an endpoint reports in each reply.

One name may stand for several models: an alias moves to another dated snapshot, or a load balancer
serves two. The model reported in a reply is part of the identity of its answers. A
`system_fingerprint` is not: it may differ between requests.

Drawing
-------
Whether a model draws its answers: the same answers from a server may come of a certain model or of
greedy decoding.

The rule. An open prompt is asked `DRAWS` times at temperature 1, each time with another seed. If
all answers are equal, the server does not draw. With q the probability of the likeliest answer, a
server that draws gives equal answers with a probability of at most q^(DRAWS - 1) (the sum of
p^DRAWS over all answers, p <= q). That is 0.1 % at q = 0.18: answers of 24 tokens whose tokens have
93 % on average. If the server sends log-probabilities, the answer's own probability p takes the
place of that bound, and the server is found not to draw only if p^(DRAWS - 1) <= `FALSE_ALARM`. A
model that is certain even of this prompt is "unknown". Greedy servers whose arithmetic varies from
call to call are missed.

A job asks the open prompt with its probe, and after its own answers never differed within a prompt
(`domain.first_answers`). A model that is certain of an audit's answers, but not of everything,
never pauses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Answerer
from workbench.domain.thinking import split
from workbench.errors import SnapshotsAlternate
from workbench.inference.served.budget import Usage
from workbench.inference.served.reply import Reply

MOST_CHANGES = 3
"changes after which the run stops, since its answers would be scattered over as many models"


@dataclass(slots=True)
class SnapshotUsage:
    """The answers and usage of one snapshot."""

    answers: int = 0
    spent: Usage = field(default_factory=Usage)


class Snapshots:
    """The snapshots of one endpoint, in the order in which it changed."""

    def __init__(self, name: str, cost: Callable[[Usage], float | None]):
        self.current: str | None = None
        "the reported snapshot, or None before the first reply"
        self.fingerprints: Counter[str] = Counter()
        "fingerprint -> answers, without replies that have no fingerprint"
        self._name, self._cost = name, cost
        self._met: list[str] = []
        self._changes = 0
        self.turns: list[tuple[str, str]] = []
        "(snapshot before, snapshot after) of each unexpected change of the model"
        self._tallies: dict[str, SnapshotUsage] = {}
        self._assumed = False

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Set the earlier snapshot.

        `asked` tells whether it answered in the same job, so that another snapshot is a change
        within it.

        This has no effect after the first reply.
        """
        if not self._tallies:
            self.current, self._met, self._assumed = snapshot, [snapshot], not asked

    def record_reply(self, reply: Reply, spent: Usage, sent_under: int) -> bool:
        """Record a reply, and return whether the model has changed with it.

        Replies to calls sent before the latest change was seen are ignored. Raises
        SnapshotsAlternate if an earlier snapshot has returned, or the model has changed too often.
        """
        tally = self._tallies.setdefault(reply.snapshot, SnapshotUsage())
        tally.answers += len(reply.choices)
        tally.spent += spent
        if reply.fingerprint and reply.choices:
            self.fingerprints[reply.fingerprint] += len(reply.choices)
        if self.current is None or reply.snapshot == self.current:
            self._set_current(reply.snapshot)
            return False
        if self._assumed:
            self._met = []
            self._change_to(reply.snapshot)
            return True
        returned = reply.snapshot in self._met
        if returned and sent_under < len(self.turns):
            return False
        self._changes += 1
        self._change_to(reply.snapshot)
        if returned or self._changes >= MOST_CHANGES:
            raise SnapshotsAlternate(self._alternation_message(returned))
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

    def _change_to(self, snapshot: str) -> None:
        self.turns.append((self.current or "", snapshot))
        self._set_current(snapshot)

    def _set_current(self, snapshot: str) -> None:
        self.current, self._assumed = snapshot, False
        if snapshot not in self._met:
            self._met.append(snapshot)

    def _alternation_message(self, returned: bool) -> str:
        event = (
            "an earlier snapshot has returned"
            if returned
            else f"it has changed {self._changes} times"
        )
        answerers = "; ".join(answerer.describe() for answerer in self.tallies())
        return (
            f"{self._name}: the endpoint answers with several snapshots, and {event}. {answerers}. "
            "Answers of two snapshots are never pooled. Start a job with the name of one dated "
            "snapshot, or resume this one to go on with the snapshot that answers then"
        )


OPEN = "Write the first sentence of a story about somebody who finds something strange."
OPEN_CHAT, OPEN_TEXT = (
    Prompt((Message("user", OPEN),)),
    Prompt((Message("user", "One morning,"),), chat=False),
)
DRAWS = 5
TOKENS = 24
"most tokens of an answer to the open prompt"
FALSE_ALARM = 0.001


@dataclass(frozen=True, slots=True)
class Drawing:
    """Answers to the open prompt at one setting."""

    texts: tuple[str, ...]
    probability: float | None = None
    """probability of the answer if all are equal, by the server's log-probabilities

    It is None if it is not known.
    """

    @property
    def is_conclusive(self) -> bool:
        """Whether there are answers to compare.

        There are several, and none was cut off in a thought that is not shown.
        """
        return len(self.texts) > 1 and all(self.texts)

    @property
    def n_equal(self) -> int:
        """The number of answers equal to the most frequent one."""
        return max(Counter(self.texts).values(), default=0)

    @property
    def has_differences(self) -> bool:
        return self.is_conclusive and self.n_equal < len(self.texts)

    @property
    def is_certain(self) -> bool:
        """Whether answers are equal, and a model that is drawn from would give equal ones, too."""
        p = self.probability
        return p is not None and p ** (len(self.texts) - 1) > FALSE_ALARM

    @property
    def is_greedy(self) -> bool:
        """Whether the server does not draw. See the rule above."""
        return (
            self.is_conclusive
            and len(self.texts) >= DRAWS
            and not self.has_differences
            and not self.is_certain
        )

    def describe(self, temperature: str) -> str:
        """Return `5 of 5 differ at 1`, or the number of equal answers, at a temperature."""
        n_answers, n_distinct = len(self.texts), len(set(self.texts))
        if n_distinct == n_answers > 1:
            return f"{n_answers} of {n_answers} differ at {temperature}"
        return f"{self.n_equal} of {n_answers} equal at {temperature}"


def comparable_text(text: str) -> str:
    """Return the compared text of an answer, with its thought."""
    parts = split(text)
    return f"{parts.thinking}\n{parts.answer or ''}".strip()


def answer_probability(logprobs: Mapping[str, Any] | None) -> float | None:
    """Return the probability of an answer, or None if a server's reply does not have it.

    It is the product over its tokens.
    """
    reported = logprobs or {}
    content = reported.get("content")
    if isinstance(content, list):
        logs: Any = [entry.get("logprob") for entry in content if isinstance(entry, dict)]
    else:
        logs = reported.get("token_logprobs")
    if (
        not isinstance(logs, list)
        or not logs
        or not all(isinstance(log, int | float) for log in logs)
    ):
        return None
    return math.exp(min(0.0, math.fsum(map(float, logs))))


def judge_temperature(at_one: Drawing, at_zero: Drawing, low: str = "0") -> tuple[bool | None, str]:
    """Return whether the server obeys the temperature, and the reason.

    The answers compared were drawn at 1 and at `low`. The result is None if they do not tell.
    """
    facts = f"({at_one.describe('1')}, {at_zero.describe(low)})"
    if not at_one.is_conclusive or not at_zero.is_conclusive:
        return None, "unknown: the answers are cut off in thought, so none can be compared"
    if at_one.is_greedy:
        return False, f"ignored: the server does not draw ({at_one.describe('1')})"
    if not at_one.has_differences:
        return None, f"unknown: the model is certain even of an open prompt {facts}"
    if not at_zero.has_differences:
        return True, f"obeyed {facts}"
    if len(set(at_zero.texts)) == len(at_zero.texts):
        return False, f"ignored at {low} {facts}"
    return (
        None,
        f"unknown: answers vary at {low}, by the temperature or by the server's arithmetic {facts}",
    )


def judge_narrowing(name: str, value: str, narrow: Drawing) -> tuple[bool | None, str]:
    """Return whether a parameter is obeyed, and the words.

    It leaves only the likeliest token, and answers differ without it.
    """
    facts = narrow.describe(f"{name} {value}")
    if not narrow.is_conclusive:
        return None, "unknown: the answers are cut off in thought, so none can be compared"
    if not narrow.has_differences:
        return True, f"obeyed ({facts})"
    if len(set(narrow.texts)) == len(narrow.texts):
        return False, f"ignored ({facts})"
    return None, f"unknown ({facts})"
