"""The messages between the worker process and its Ray process."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.domain.responses import ModelCard
from workbench.inference.cluster.shards import Answer, Item, Question


@dataclass(frozen=True, slots=True)
class Call:
    """The task of a Ray process: look at the model on every node, or ask a question of every item."""

    address: str
    model: str
    dtype: str
    question: Question | None = None
    "None: look"
    items: tuple[tuple[int, Item], ...] = ()
    shard: int = 0
    engines: int | None = None
    "None: one per GPU or node"
    folder: str = ""
    "base folder of relative model names"
    chat_format: str = ""
    "source of the chat template; empty: the model's own"


@dataclass(frozen=True, slots=True)
class Joined:
    """The cluster has been joined."""

    nodes: int
    engines: int


@dataclass(frozen=True, slots=True)
class Part:
    """Some answers of one engine, or its card alone."""

    node: str
    card: ModelCard
    answers: tuple[Answer, ...] = ()
    work: tuple[int, int, int, int] = (0, 0, 0, 0)
    "work for these answers, in the order of the fields of Work"


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that would occur again."""

    text: str
    trace: str = ""
    "traceback of a bug, for the log"


@dataclass(frozen=True, slots=True)
class Lost:
    """Ray gave up, or a node is lost: the other nodes may be asked for the missing answers."""

    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """All shards are answered."""


Said = Joined | Part | Trouble | Lost | Ended
