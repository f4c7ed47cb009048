"""Any job, in any order of events, draws what plain forward passes draw from the same seeds.

The oracle here grows each request's tree by itself, with one plain pass a step; so an answer that
came from a wrong token, a wrong seat or a wrong count shows. Memory runs out at random places of
the engine, also between two of its own copies, and how much is under way changes all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.inference.jobs_of_prompts import all_answers, mixed_job, spell, text
from tests.inference.jobs_of_prompts import requests as asked
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, VOCABULARY, build
from workbench.domain.responses import Request, Sampling
from workbench.inference import engine as engine_module
from workbench.inference.attention import BatchSlots, ComputedSequences
from workbench.inference.base import Work
from workbench.inference.engine import SharedEngine, shared_engine
from workbench.inference.engines import SampledAnswers, Tokens
from workbench.inference.nucleus import nucleus
from workbench.inference.tree import SampleTree

KINDS = ("llama", "gemma2", "qwen2-sliding", "mistral-sliding", "gpt2")
SEEDS = range(10)
SAME = 0.99
"share of requests: a draw may fall on the last digit of a probability"

Drawn = tuple[dict[tuple[int, ...], int], int]


def grown_alone(
    oracle: Oracle, prompt: Tokens, request: Request, sampling: Sampling, stop: frozenset[int]
) -> Drawn:
    """Return a request's answers by plain passes over whole sequences."""
    rule = request.decided
    settled = None if rule is None else lambda answer: rule(spell(answer))
    tree = SampleTree(request.n, request.seed, stop, sampling.max_new_tokens, settled)
    while tree.rows:
        logits = oracle.logits([[*prompt, *row.tokens] for row in tree.rows])[:, -1]
        tree.grow(*nucleus(logits, sampling))
    return dict(tree.finished), tree.decided


def odd(text: str) -> bool:
    """Stand for a rule that settles answers early, by their last token."""
    return int(text.split()[-1]) % 7 == 0


def job(rng: np.random.Generator) -> list[list[int]]:
    prompts = mixed_job(
        int(rng.integers(10, 20)), int(rng.choice([6, 20, 60])), int(rng.integers(1000))
    )
    return [*prompts, text(rng, int(rng.integers(1, 200)))]


def sampling_of(rng: np.random.Generator) -> Sampling:
    return Sampling(
        temperature=float(rng.choice([0.3, 1.0, 1.7])),
        top_p=float(rng.choice([0.3, 0.85, 1.0])),
        top_k=rng.choice([None, None, 5]),
        max_new_tokens=int(rng.integers(1, 6)),
    )


class Failures:
    """Lets memory run out a few times, wherever the engine computes, keeps or copies."""

    def __init__(self, rng: np.random.Generator, most: int):
        self._rng, self._most, self.count = rng, most, 0

    def watch(self, patch: pytest.MonkeyPatch, network: Any) -> None:
        network.get_input_embeddings().register_forward_pre_hook(lambda *given: self._maybe())
        for owner, name in (
            (BatchSlots, "make_room"),
            (BatchSlots, "move"),
            (BatchSlots, "fill"),
            (ComputedSequences, "pairs"),
            (engine_module, "nucleus"),
        ):
            patch.setattr(owner, name, self._failing(getattr(owner, name)))

    def _failing(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self._maybe()
            return work(*arguments)

        return watched

    def _maybe(self) -> None:
        if self.count < self._most and self._rng.random() < 0.1:
            self.count += 1
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")


def bounded(
    engine: SharedEngine, groups: Iterator[list[SampledAnswers]], rng: np.random.Generator
) -> Iterator[list[SampledAnswers]]:
    """Change what may be under way whenever answers come."""
    for group in groups:
        engine.limit_parallel(rng.choice([None, 1, 5, 40]))
        yield group


def drawn(
    seed: int, patch: pytest.MonkeyPatch, failing: int
) -> tuple[list[Drawn], list[Drawn], int]:
    """Return the answers to a random job: the engine's and the oracle's; and how often memory ran
    out.

    Of a few failures none is the last straw: the engine gives up only where it has nothing left to
    make smaller.
    """
    rng = np.random.default_rng(seed)
    kind, stop = (
        KINDS[seed % len(KINDS)],
        STOP if rng.random() < 0.5 else frozenset(range(0, VOCABULARY, 5)),
    )
    prompts, sampling = job(rng), sampling_of(rng)
    numbers = rng.choice([1, 3, 9, 30], size=len(prompts)).tolist()
    wanted = asked(
        numbers, len(prompts), first=seed * 1000, decided=odd if rng.random() < 0.3 else None
    )
    patch.setattr(engine_module, "ALONE_ROWS", rng.choice([1, 4, 8, 1000]))
    patch.setattr(engine_module, "ALONE_TOKENS", rng.choice([0, 3, 64, 1000]))
    patch.setattr(engine_module, "LOST_TOKENS", rng.choice([0, 3, 32]))
    patch.setattr(engine_module, "AHEAD", rng.choice([0, 5, 64]))
    oracle = Oracle(build(kind), stop)
    network = build(kind)
    engine = shared_engine(network, stop, Work())
    if not failing:
        engine.pass_rows, engine.pass_tokens = (
            int(rng.choice([1, 7, 256])),
            int(rng.choice([16, 50, 1024])),
        )
    plain = [
        grown_alone(oracle, p, r, sampling, stop) for p, r in zip(prompts, wanted, strict=True)
    ]
    failures = Failures(rng, failing)
    failures.watch(patch, network)
    found = all_answers(
        bounded(engine, engine.sample(prompts, wanted, sampling, spell), rng), len(prompts)
    )
    assert [sum(answers.counts.values()) for answers in found] == numbers
    return [(answers.counts, answers.decided) for answers in found], plain, failures.count


@pytest.mark.e2e
def test_random_jobs_draw_what_plain_passes_draw() -> None:
    same = []
    for seed in SEEDS:
        with pytest.MonkeyPatch.context() as patch:
            found, plain, _ = drawn(seed, patch, 0)
        same += [one == other for one, other in zip(found, plain, strict=True)]
    assert np.mean(same) >= SAME


@pytest.mark.e2e
def test_memory_that_runs_out_anywhere_loses_no_answer_and_doubles_none() -> None:
    same, failed = [], 0
    for seed in SEEDS:
        with pytest.MonkeyPatch.context() as patch:
            found, plain, count = drawn(seed, patch, 4)
        same += [one == other for one, other in zip(found, plain, strict=True)]
        failed += count
    assert failed >= 3 * len(SEEDS)
    assert np.mean(same) >= SAME
