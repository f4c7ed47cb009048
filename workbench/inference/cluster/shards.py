"""The division of a job for a cluster: the question, shards of prompts, and the number of engines.

Prompts of a shard have common beginnings. There are plain values only, which are sent between the
worker process, its Ray process and the engines, independent of Ray.

Messages
--------
The messages between the worker process and its Ray process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import UsageError
from workbench.inference.base import Model, NextTokens, ScoredOptions

LOCAL, AUTO = "local", "auto"
HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})")
SHARD = 128
"prompts per shard: enough to share beginnings, few enough to repeat if an engine is lost"
SHARDS_PER_ENGINE = 4
"least shards per engine of a small job, so that no engine waits long for the last one"
CHUNK = 8
"answered prompts per message"

Item = Request | Prompt | tuple[Prompt, tuple[str, ...]]
Answer = Drawn | ScoredOptions | NextTokens


class ShardTask(Protocol):
    """The question about each item of a shard."""

    def answers(self, model: Model, items: Sequence[Any]) -> Iterator[Answer]: ...


@dataclass(frozen=True, slots=True)
class SamplingTask:
    """A question that asks requests for answers."""

    sampling: Sampling

    def answers(self, model: Model, items: Sequence[Any]) -> Iterator[Answer]:
        return model.generate(items, self.sampling)


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """A question that asks pairs of a prompt and its options for log-probabilities."""

    whole_words: bool = False

    def answers(self, model: Model, items: Sequence[Any]) -> Iterator[Answer]:
        prompts, options = [prompt for prompt, _ in items], [choices for _, choices in items]
        return model.score(prompts, options, whole_words=self.whole_words)


@dataclass(frozen=True, slots=True)
class NextTokensTask:
    """A question that asks prompts for their k most likely next tokens."""

    k: int
    words: tuple[str, ...] = ()

    def answers(self, model: Model, items: Sequence[Any]) -> Iterator[Answer]:
        return model.next_tokens(items, self.k, self.words)


@dataclass(frozen=True, slots=True)
class Shard:
    """Items that one engine answers in one task."""

    places: tuple[int, ...]
    "index of each item in the whole job"
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class EngineLayout:
    """The engines that a cluster has room for."""

    engines: int
    gpus: int
    "per engine: 1, or 0 if the cluster has no GPU"
    cpus: int
    "per engine"
    nodes: tuple[tuple[str, str], ...]
    "(id, name) of each node with room for an engine"


def index_of(answer: Answer) -> int:
    """Return the position of the item that an answer belongs to."""
    return answer.request if isinstance(answer, Drawn) else answer.prompt


def with_index(answer: Answer, index: int) -> Answer:
    """Return the answer at another position."""
    if isinstance(answer, Drawn):
        return replace(answer, request=index)
    return replace(answer, prompt=index)


def text_of(item: Item) -> tuple[str, ...]:
    """Return the texts of an item's prompt by turn. Items with common beginnings sort together."""
    if isinstance(item, Request):
        prompt = item.prompt
    elif isinstance(item, tuple):
        prompt = item[0]
    else:
        prompt = item
    return tuple(message.content for message in prompt.messages)


def divide(items: Mapping[int, Item], engines: int, most: int = SHARD) -> list[Shard]:
    """Divide items, by index, into shards of equal size.

    Neighbours in a shard have common beginnings.
    """
    size = max(1, min(most, -(-len(items) // (SHARDS_PER_ENGINE * max(1, engines)))))
    order = sorted(items, key=lambda index: (text_of(items[index]), index))
    groups = [tuple(order[start : start + size]) for start in range(0, len(order), size)]
    return [Shard(indices, tuple(items[index] for index in indices)) for indices in groups]


def chunks_in_order(answers: Iterable[Answer], size: int = CHUNK) -> Iterator[tuple[Answer, ...]]:
    """Yield a shard's answers in the order of its items, `size` at a time.

    A repeated shard gives the same chunks again, in whatever order the engine works: Ray repeats
    the task of a lost engine, and skips as many chunks as had arrived.
    """
    waiting: dict[int, Answer] = {}
    ready: list[Answer] = []
    next_index = 0
    for answer in answers:
        waiting[index_of(answer)] = answer
        while next_index in waiting:
            ready.append(waiting.pop(next_index))
            next_index += 1
        while len(ready) >= size:
            yield tuple(ready[:size])
            del ready[:size]
    if ready := [*ready, *(waiting[index] for index in sorted(waiting))]:
        yield tuple(ready)


def plan_engines(nodes: Iterable[Mapping[str, Any]], engines: int | None = None) -> EngineLayout:
    """Return the engines for a cluster of `nodes`, as described by `ray.nodes()`.

    There is one per GPU if there are any, otherwise one per node with all its cores. `engines` None
    stands for as many as fit. Raises UsageError if there is no room for any engine.
    """
    living_nodes = [node for node in nodes if node["Alive"]]
    gpu_nodes = [node for node in living_nodes if node["Resources"].get("GPU", 0) >= 1]
    usable = gpu_nodes or [node for node in living_nodes if node["Resources"].get("CPU", 0) >= 1]
    if not usable:
        raise UsageError(
            f"none of the cluster's {len(living_nodes)} nodes offers a GPU or a CPU for an engine"
        )
    names = tuple((str(node["NodeID"]), str(node["NodeManagerHostname"])) for node in usable)
    if gpu_nodes:
        n_gpus = sum(int(node["Resources"]["GPU"]) for node in gpu_nodes)
        return EngineLayout(min(engines or n_gpus, n_gpus), 1, 1, names)
    count = engines or len(usable)
    engines_per_node = -(-count // len(usable))
    cores = min(int(node["Resources"]["CPU"]) for node in usable)
    return EngineLayout(count, 0, max(1, cores // engines_per_node), names)


def checked_address(text: str) -> str:
    """Return the address of a cluster.

    Raises UsageError if it is not `local`, `auto` or `HOST:PORT`.
    """
    match = HOST_AND_PORT.fullmatch(text)
    if text in (LOCAL, AUTO) or (match and 0 < int(match[2]) < 65536):
        return text
    client = (
        " Ray Client is not supported: start the job on a node of the cluster."
        if text.startswith("ray:")
        else ""
    )
    raise UsageError(
        f"{text!r} is no cluster: give `local` (this machine), `auto` (the cluster that this "
        f"machine is a node of) or HOST:PORT of its head.{client}"
    )


@dataclass(frozen=True, slots=True)
class ClusterCall:
    """The task of a Ray process.

    It looks at the model on every node, or asks a question of every item.
    """

    address: str
    model: str
    dtype: str
    question: ShardTask | None = None
    "the question, or None to look at the model"
    items: tuple[tuple[int, Item], ...] = ()
    shard: int = 0
    engines: int | None = None
    "the number of engines, or None for one per GPU or node"
    folder: str = ""
    "base folder of relative model names"
    chat_format: str = ""
    "source of the chat template, or empty for the model's own"


@dataclass(frozen=True, slots=True)
class ClusterJoined:
    """The message that the cluster has been joined."""

    nodes: int
    engines: int


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """Some answers of one engine, or its card alone."""

    node: str
    card: ModelCard
    answers: tuple[Answer, ...] = ()
    work: tuple[int, int, int, int] = (0, 0, 0, 0)
    "work for these answers, in the order of the fields of Work"


@dataclass(frozen=True, slots=True)
class ClusterError:
    """An error that would occur again."""

    text: str
    trace: str = ""
    "traceback of a bug, for the log"


@dataclass(frozen=True, slots=True)
class ClusterLoss:
    """The loss of Ray or of a node. The other nodes may be asked for the missing answers."""

    why: str


@dataclass(frozen=True, slots=True)
class AllAnswered:
    """The message that all shards are answered."""


ClusterMessage = ClusterJoined | AnsweredPart | ClusterError | ClusterLoss | AllAnswered
