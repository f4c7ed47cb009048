"""What the worker process and its Ray process say to each other."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.responses import ModelCard
from workbench.inference.cluster.shards import Answer, Item, Question


@dataclass(frozen=True, slots=True)
class Call:
    """What a Ray process is to do: look at the model on every node, or ask a question of every item."""

    address: str
    model: str
    dtype: str
    question: Question | None = None
    "None: look"
    items: tuple[tuple[int, Item], ...] = ()
    shard: int = 0
    engines: int | None = None
    "None: one a GPU or node"
    folder: str = ""
    "where relative names of models lie"
    chat_format: str = ""
    "whose chat template is used; empty: the model's own"


@dataclass(frozen=True, slots=True)
class Joined:
    """The cluster is there."""

    nodes: int
    engines: int


@dataclass(frozen=True, slots=True)
class Part:
    """Some answers of one engine, or its card alone."""

    node: str
    card: ModelCard
    answers: tuple[Answer, ...] = ()
    work: tuple[int, int, int, int] = (0, 0, 0, 0)
    "what they cost, in the order of the fields of Work"


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that would come again."""

    text: str
    trace: str = ""
    "of a bug: for the log"


@dataclass(frozen=True, slots=True)
class Lost:
    """Ray gave up, or a node is gone: what is left may be asked of the others."""

    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """All shards are answered."""


Said = Joined | Part | Trouble | Lost | Ended
