"""Models that answer on a Ray cluster, or on all GPUs of one machine.

There is one engine per GPU, otherwise one per node. Only the worker process writes the store. Ray
runs in its child process (`driver`), which passes shards of prompts (`shards`) to engines
(`engine`) through Ray Data and returns their answers. Answers depend only on the seeds of their
requests, so it makes no difference which engine computes a shard, or how often: Ray repeats the
shard of a lost engine, and the remaining engines are asked for answers that are still missing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import MissingPackage, ModelError, UsageError
from workbench.inference.base import NextTokens, ScoredOptions, Work
from workbench.inference.cluster.shards import (
    SHARD,
    AllAnswered,
    Answer,
    AnsweredPart,
    ClusterCall,
    ClusterError,
    ClusterLoss,
    ClusterMessage,
    Item,
    NextTokensTask,
    SamplingTask,
    ScoringTask,
    ShardTask,
    checked_address,
    index_of,
)
from workbench.installed import install

START_S = 120.0
"seconds for Ray to start, or to join a cluster"
END_S = 15.0
"seconds for it to end by itself, with all its engines"


def check_installed() -> None:
    """Raise MissingPackage if Ray is not installed."""
    if find_spec("ray") is None:
        raise MissingPackage(f"a cluster needs Ray, which is not installed: {install('ray')}")


class RayProcess:
    """One call to Ray, in a child process."""

    def __init__(self, call: ClusterCall):
        self._call = call
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._child: subprocess.Popen[bytes] | None = subprocess.Popen(
            [sys.executable, "-c", "from workbench.inference.cluster.driver import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # the worker handles interrupts from the terminal
        )

    def messages(self) -> Iterator[ClusterMessage]:
        """Yield Ray's messages until it ends.

        Closing the iterator ends the process and frees its engines.
        """
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            return
        try:
            with contextlib.suppress(BrokenPipeError):
                pickle.dump(self._call, child.stdin)
                child.stdin.flush()
            if not select.select([child.stdout], [], [], START_S)[0]:
                raise ModelError(
                    f"cluster {self._call.address}: Ray did not start or answer within "
                    f"{START_S:.0f} s"
                )
            while (message := self._next(child.stdout)) is not None:
                yield message
                if isinstance(message, AllAnswered | ClusterLoss):
                    return
        finally:
            self.close()

    def _next(self, out: IO[bytes]) -> ClusterMessage | None:
        try:
            message: Any = pickle.load(out)  # noqa: S301 - written by our own process
        except (EOFError, ValueError, pickle.UnpicklingError):
            return (
                None
                if self._child is None
                else ClusterLoss(f"Ray's process ended: {self._last_words()}")
            )
        return message  # type: ignore[no-any-return]

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = [
            line.strip()
            for line in self._errors.read().decode(errors="replace").splitlines()
            if line.strip()
        ]
        return lines[-1][:500] if lines else "without a word"

    def close(self) -> None:
        """End the process. Safe to call twice."""
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._errors.close()


IDLE_ROUNDS = 3
"number of times in a row that a cluster may fail without any answer"

log = logging.getLogger(__name__)


def load_cluster(
    name: str,
    dtype: str,
    address: str,
    environ: Mapping[str, str] = os.environ,
    *,
    chat_format: str = "",
) -> ClusterModel:
    """Return a model that runs on a Ray cluster.

    The address is `local`, all GPUs of this machine, `auto`, the cluster that this machine is a
    node of, or HOST:PORT of the head of that cluster.

    Every node loads the model once and reports its card. The engines start and end with each
    question, so that a paused job occupies no GPU. $WORKBENCH_ENGINES is the number of engines, if
    not one per GPU or node, and $WORKBENCH_SHARD the prompts per shard.

    Raises UsageError for another address or for a served model, MissingPackage without Ray, and
    ModelError if the cluster cannot be reached, or if its nodes do not load the same model.
    """
    call = ClusterCall(
        checked_address(address),
        name,
        dtype,
        shard=_number(environ, "WORKBENCH_SHARD") or SHARD,
        engines=_number(environ, "WORKBENCH_ENGINES"),
        folder=str(Path.cwd()),
        chat_format=chat_format,
    )
    if name.startswith(("openai:", "vllm:")):
        raise UsageError(f"{name} is served elsewhere: there is nothing for a cluster to compute")
    check_installed()
    return ClusterModel(call, common_card(name, _cards_of_nodes(call)))


def _number(environ: Mapping[str, str], variable: str) -> int | None:
    text = environ.get(variable, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"${variable} is {text!r}; give a whole number, 1 or more")
    return int(text)


def _cards_of_nodes(call: ClusterCall) -> list[AnsweredPart]:
    parts: list[AnsweredPart] = []
    for message in RayProcess(call).messages():
        if isinstance(message, ClusterError | ClusterLoss):
            raise _error(message, call)
        if isinstance(message, AnsweredPart):
            parts.append(message)
    return parts


def common_card(name: str, parts: Sequence[AnsweredPart]) -> ModelCard:
    """Return the card that all nodes agree on.

    Raises ModelError, naming the nodes, if they differ.
    """
    cards: dict[ModelCard, list[str]] = {}
    for part in parts:
        cards.setdefault(part.card, []).append(part.node)
    if not cards:
        raise ModelError(f"{name}: no node of the cluster loaded the model")
    if len(cards) > 1:
        differences = "; ".join(
            f"{', '.join(sorted(set(nodes)))}: revision {card.revision}, {card.dtype}"
            for card, nodes in cards.items()
        )
        raise ModelError(
            f"{name} is not the same model on all nodes ({differences}). Give every node the same "
            "files, or name a dtype; answers of two models are never pooled"
        )
    return next(iter(cards))


def _error(message: ClusterError | ClusterLoss, call: ClusterCall) -> ModelError:
    if isinstance(message, ClusterLoss):
        return ModelError(
            f"cluster {call.address}: {message.why}. What was answered is kept; resume asks the "
            "rest"
        )
    if message.trace:
        log.error("%s", message.trace)
    return ModelError(message.text)


class ClusterModel:
    """A model whose engines run on a cluster. Each question has its own Ray process."""

    def __init__(self, call: ClusterCall, card: ModelCard):
        self._call, self._card, self._work = call, card, Work()
        self._link: RayProcess | None = None
        self._answered_by: Counter[str] = Counter()

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def work(self) -> Work:
        return self._work

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers as `Model.generate`.

        Raises ModelError if the cluster fails repeatedly without any answer.
        """
        for answer in self._ask(SamplingTask(sampling), requests):
            if isinstance(answer, Drawn):
                yield answer

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        items = [(prompt, tuple(choices)) for prompt, choices in zip(prompts, options, strict=True)]
        for answer in self._ask(ScoringTask(whole_words), items):
            if isinstance(answer, ScoredOptions):
                yield answer

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        for answer in self._ask(NextTokensTask(k, tuple(words)), prompts):
            if isinstance(answer, NextTokens):
                yield answer

    def close(self) -> None:
        """End the Ray process of the active question, and its engines."""
        link, self._link = self._link, None
        if link is not None:
            link.close()

    @property
    def answered_by(self) -> Mapping[str, int]:
        """The number of prompts that each node answered."""
        return dict(self._answered_by)

    def _ask(self, question: ShardTask, items: Sequence[Item]) -> Iterator[Answer]:
        """Ask until every item is answered once.

        A round ends early if the cluster loses too many nodes.
        """
        remaining = dict(enumerate(items))
        n_idle = 0
        while remaining:
            n_before = len(remaining)
            lost = yield from self._ask_round(question, remaining)
            n_idle = n_idle + 1 if len(remaining) == n_before else 0
            if remaining and n_idle >= IDLE_ROUNDS:
                raise _error(lost, self._call)
            if remaining:
                log.warning(
                    "cluster %s: %s; asking %d prompts again",
                    self._call.address,
                    lost.why,
                    len(remaining),
                )

    def _ask_round(
        self, question: ShardTask, left: dict[int, Item]
    ) -> Generator[Answer, None, ClusterLoss]:
        """Ask the remaining items once, and remove answered ones from `left`.

        Return why items remain.
        """
        link = self._link = RayProcess(
            replace(self._call, question=question, items=tuple(left.items()))
        )
        lost = ClusterLoss("the engines ended without some of the answers")
        try:
            for message in link.messages():
                if isinstance(message, ClusterError):
                    raise _error(message, self._call)
                if isinstance(message, AnsweredPart):
                    yield from self._new_answers(message, left)
                elif isinstance(message, ClusterLoss):
                    lost = message
        finally:
            link.close()
        return lost

    def _new_answers(self, part: AnsweredPart, left: dict[int, Item]) -> Iterator[Answer]:
        """Yield the new answers of a part. A shard that is computed twice repeats some answers."""
        common_card(self._call.model, [AnsweredPart("the cluster before", self._card), part])
        self._book(part.work)
        new = [answer for answer in part.answers if left.pop(index_of(answer), None) is not None]
        self._answered_by[part.node] += len(new)
        for n_after, answer in enumerate(new, start=1 - len(new)):
            yield replace(answer, more=n_after < 0) if isinstance(answer, Drawn) else answer

    def _book(self, done: tuple[int, int, int, int]) -> None:
        total, (prompt, prompt_computed, sampled, sampled_computed) = self._work, done
        total.prompt_tokens += prompt
        total.prompt_tokens_computed += prompt_computed
        total.sampled_tokens += sampled
        total.sampled_tokens_computed += sampled_computed
