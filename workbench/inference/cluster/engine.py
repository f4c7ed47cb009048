"""The engines that run on the nodes: local models in separate processes.

Each has its own GPU or a node's cores. An engine needs no file of the worker: the package is
installed on each node, and weights are loaded as on a single machine (from a shared folder or the
hub's cache).
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import Any

from workbench.errors import WorkbenchError
from workbench.inference.base import Model
from workbench.inference.cluster.shards import (
    AnsweredPart,
    ClusterError,
    Shard,
    ShardTask,
    chunks_in_order,
    index_of,
    with_index,
)


class ClusterEngine:
    """An engine that answers shards one after another, as Ray Data passes them on."""

    def __init__(
        self, name: str, dtype: str, folder: str, question: ShardTask, chat_format: str = ""
    ):
        self._question = question
        self._model = _load_model(name, dtype, folder, chat_format)
        self._node = node_name()
        self._booked = (0, 0, 0, 0)

    def __call__(
        self, batch: Mapping[str, Any]
    ) -> Iterator[dict[str, list[AnsweredPart | ClusterError]]]:
        for shard in batch["shard"]:
            for message in self._answer_shard(shard):
                yield {"said": [message]}

    def _answer_shard(self, shard: Shard) -> Iterator[AnsweredPart | ClusterError]:
        try:
            for answers in chunks_in_order(self._question.answers(self._model, shard.items)):
                numbered = tuple(
                    with_index(answer, shard.places[index_of(answer)]) for answer in answers
                )
                yield AnsweredPart(self._node, self._model.card, numbered, self._work_since())
        except WorkbenchError as error:
            yield ClusterError(f"node {self._node}: {error}")
        except Exception as error:  # a bug: it would occur on every engine
            yield ClusterError(
                f"node {self._node}: {type(error).__name__}: {error}", traceback.format_exc()
            )

    def _work_since(self) -> tuple[int, int, int, int]:
        """Return the work done since the last call."""
        total = astuple(self._model.work)
        booked, self._booked = self._booked, total
        a, b, c, d = (int(new - old) for new, old in zip(total, booked, strict=True))
        return a, b, c, d


def load_card(
    name: str, dtype: str, folder: str, chat_format: str = ""
) -> AnsweredPart | ClusterError:
    """Load a model, report its card, and free it."""
    node = node_name()
    try:
        model = _load_model(name, dtype, folder, chat_format)
        card = model.card
        model.close()
    except WorkbenchError as error:
        return ClusterError(f"node {node}: {error}")
    return AnsweredPart(node, card)


def node_name() -> str:
    """Return the machine's name, and the beginning of the id under which `ray status` lists it."""
    ray = sys.modules.get("ray")  # imported wherever an engine runs
    if ray is None or not ray.is_initialized():
        return platform.node()
    return f"{platform.node()} ({ray.get_runtime_context().get_node_id()[:8]})"


def _load_model(name: str, dtype: str, folder: str, chat_format: str) -> Model:
    """Load a model. A relative name is resolved as by the worker, if both see the same folders."""
    from workbench.inference.load import load

    with contextlib.suppress(OSError):
        os.chdir(folder)
    return load(name, dtype=dtype, chat_format=chat_format)
