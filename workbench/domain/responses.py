"""What was asked of a model, and what it answered."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Protocol

from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt

SAMPLED, EXACT = "sample", "exact"
"modes: answers are drawn; the probabilities of a template's labels are computed and nothing is drawn"
UNKNOWN = "unknown"
WHEN_DECIDED = "decided"
"stop rule: an answer ends as soon as its stance is settled, whatever the model would have said after it"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How answers are drawn. Two samplings that differ anywhere are never pooled."""

    temperature: float = 1.0
    top_p: float = 0.85
    top_k: int | None = None
    "None: the whole vocabulary"
    max_new_tokens: int = 20
    stop: str = ""
    "empty: an answer ends where the model ends it, or after `max_new_tokens`; or `decided`"
    mode: str = SAMPLED
    "`sample` or `exact`"

    @property
    def key(self) -> bytes:
        usual = {"stop": "", "mode": SAMPLED}  # keys from before there were these stay as they were
        return content_key({name: x for name, x in asdict(self).items() if usual.get(name) != x})

    def __str__(self) -> str:
        if self.mode == EXACT:
            return "exact label probabilities"
        top_k = f", top-k {self.top_k}" if self.top_k else ""
        stop = ", until decided" if self.stop else ""
        tokens = f"{self.max_new_tokens} token{'' if self.max_new_tokens == 1 else 's'}"
        return f"T {self.temperature:g}, top-p {self.top_p:g}{top_k}, {tokens}{stop}"


EXACTLY = Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=0, mode=EXACT)
"the model's own probabilities: no temperature, no nucleus, no sampling"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Which model answered, exactly enough to ask it again."""

    name: str
    "as it was asked for: `smollm2`, a hub id, a folder's name"
    revision: str
    "commit of the hub, or a hash of the weights' file"
    backend: str
    "`transformers`, `scripted`, …; versions are the attempt's: a new library does not make another model"
    dtype: str
    chat_format: str
    "`none`, or a hash of the chat template"
    encoding: str = UNKNOWN
    "how the turns of a prompt were put into the chat format: a version, and what was done beyond that; `unknown` of a \
server's, and of what was asked before it was noted"
    snapshot: str = ""
    "the model that an endpoint reported on its replies; empty: it reported none, or nobody wrote it down"

    @property
    def key(self) -> bytes:
        usual = {"encoding": UNKNOWN, "snapshot": ""}  # keys from before there were these stay as they were
        return content_key({name: x for name, x in asdict(self).items() if usual.get(name) != x})


@dataclass(frozen=True, slots=True)
class Answerer:
    """What came from one of the models behind a served name."""

    snapshot: str
    "as the endpoint reported it; empty: it reported none"
    answers: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    "None: prices are not known"

    def describe(self) -> str:
        """Say for people what it gave and what that cost."""
        price = "" if self.cost is None else f", a cost of {self.cost:.4g}"
        return (
            f"{self.snapshot or 'snapshot unknown'}: {self.answers:,} answers, {self.requests:,} calls, "
            f"{self.tokens_in:,} + {self.tokens_out:,} tokens{price}"
        )


class Decided(Protocol):
    """Says of the beginning of an answer whether its stance is settled: nothing that may follow changes the reading.

    A value: it travels to other processes with its request.
    """

    def __call__(self, text: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Request:
    """Ask one prompt for n exchangeable answers."""

    prompt: Prompt
    n: int
    seed: int
    "the generator of exactly these answers; derived from the job's seed and the prompt's key"
    decided: Decided | None = None
    "ends an answer early; None: answers are drawn to their end"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The answers to one request: a multiset, because samples of one prompt are exchangeable.

    A served model may answer one request with several: each of a snapshot and a fingerprint of its own.
    """

    request: int
    "position in the sequence of requests"
    answers: tuple[tuple[str, int], ...]
    "(text, how often); counts add up to the request's n unless `failed` says otherwise"
    failed: int = 0
    reason: str = ""
    "why answers failed, for people"
    decided: int = 0
    "of the answers, those that were ended because their stance was settled"
    snapshot: str | None = None
    "the model that the endpoint reported for these answers; None: the one of the model's card"
    fingerprint: str = ""
    "the `system_fingerprint` of the replies; empty: none was reported"
    more: bool = False
    "whether further answers are at hand already, so that they may as well be committed together"
