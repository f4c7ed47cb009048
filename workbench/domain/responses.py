"""What was asked of a model, and what it answered."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Sampling:
    """How answers are drawn. Two samplings that differ anywhere are never pooled."""

    temperature: float = 1.0
    top_p: float = 0.85
    top_k: int | None = None
    "None: the whole vocabulary"
    max_new_tokens: int = 20

    @property
    def key(self) -> bytes:
        return content_key(asdict(self))

    def __str__(self) -> str:
        top_k = f", top-k {self.top_k}" if self.top_k else ""
        return f"T {self.temperature:g}, top-p {self.top_p:g}{top_k}, {self.max_new_tokens} tokens"


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

    @property
    def key(self) -> bytes:
        return content_key(asdict(self))


@dataclass(frozen=True, slots=True)
class Request:
    """Ask one prompt for n exchangeable answers."""

    prompt: Prompt
    n: int
    seed: int
    "the generator of exactly these answers; derived from the job's seed and the prompt's key"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The answers to one request: a multiset, because samples of one prompt are exchangeable."""

    request: int
    "position in the sequence of requests"
    answers: tuple[tuple[str, int], ...]
    "(text, how often); counts add up to the request's n unless `failed` says otherwise"
    failed: int = 0
    reason: str = ""
    "why answers failed, for people"
    more: bool = False
    "whether further answers are at hand already, so that they may as well be committed together"
