"""Where memory runs out, batches shrink and nothing is lost: the network is made to fail in its
first or last layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.inference.jobs_of_prompts import ORDINARY, alike, counts, requests, scores, spell, text
from tests.inference.random_models import build, engine_over
from workbench.domain.responses import Sampling
from workbench.errors import ModelError
from workbench.inference.engine import ALONE_TOKENS, held_tokens

USUAL = Sampling(temperature=1.0, top_p=0.95, max_new_tokens=6)
SAME = 0.99
JOB = [[5, 6, *ORDINARY[i % 5 : i % 5 + 3], ORDINARY[i]] for i in range(40)]
N = 12


class Memory:
    """A stand-in for a device's memory: passes that are too large fail, in the place where they are
    watched.

    Failing in the last layer is the harder case: the caches of the layers before have grown
    already.
    """

    def __init__(self, network: Any, place: str):
        self.fails: Callable[[int, int], bool] = lambda passed, tokens: False
        self.passed = self.failed = 0
        self.error: Callable[[], Exception] = lambda: torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate"
        )
        watched = {"first": network.get_input_embeddings(), "last": network.model.layers[-1].mlp}[
            place
        ]
        axes = {"first": 2, "last": 2}[place]
        watched.register_forward_pre_hook(
            lambda module, given: self._pass(given[0].shape[:axes].numel())
        )

    def _pass(self, tokens: int) -> None:
        self.passed += 1
        if self.fails(self.passed, tokens):
            self.failed += 1
            raise self.error()


@pytest.fixture(scope="module")
def undisturbed() -> list[dict[tuple[int, ...], int]]:
    with engine_over(build("llama")) as engine:
        return counts(engine.sample(JOB, requests(N, 40), USUAL, spell), 40)


PLACES = pytest.mark.parametrize("place", ["first", "last"])


@pytest.mark.e2e
@PLACES
@pytest.mark.parametrize("room", [N, 40, 150])
def test_all_answers_come_where_only_so_many_tokens_fit(
    place: str, room: int, undisturbed: list[dict[tuple[int, ...], int]]
) -> None:
    network = build("llama")
    with engine_over(network) as engine:
        memory = Memory(network, place)
        memory.fails = lambda passed, tokens: tokens > room
        found = counts(engine.sample(JOB, requests(N, 40), USUAL, spell), 40)
        assert alike(found, undisturbed) >= SAME
        # The batch stays low; it does not fail again at every step.
        assert 0 < memory.failed < memory.passed / 3


@PLACES
@pytest.mark.parametrize("when", range(1, 9))
def test_a_single_failure_at_any_pass_changes_no_answer(
    place: str, when: int, undisturbed: list[dict[tuple[int, ...], int]]
) -> None:
    network = build("llama")
    with engine_over(network) as engine:
        memory = Memory(network, place)
        memory.fails = lambda passed, tokens: passed == when
        found = counts(engine.sample(JOB, requests(N, 40), USUAL, spell), 40)
        assert memory.failed == int(memory.passed >= when)
        assert alike(found, undisturbed) >= SAME


@PLACES
def test_scores_come_where_only_so_many_tokens_fit(place: str) -> None:
    network, ends = build("llama"), [[[9], [10, 11], [10, 12, 13]]] * 40
    with engine_over(network) as engine:
        freely = np.array(scores(engine, JOB, ends))
        memory = Memory(network, place)
        memory.fails = lambda passed, tokens: tokens > 30
        assert np.array(scores(engine, JOB, ends)) == pytest.approx(freely, abs=1e-5)
        assert memory.failed
        likeliest = sorted(engine.likeliest(JOB, 3), key=lambda found: found.prompt)
        assert [found.prompt for found in likeliest] == list(range(40))


@pytest.mark.e2e
@pytest.mark.parametrize("place", [pytest.param("first", marks=pytest.mark.slow), "last"])
def test_memory_that_holds_not_even_one_row_is_said_to_be_too_small(place: str) -> None:
    network = build("llama")
    with engine_over(network) as engine:
        memory = Memory(network, place)
        memory.fails = lambda passed, tokens: True
        with pytest.raises(ModelError, match="memory"):
            list(engine.sample(JOB, requests(N, 40), USUAL, spell))
        with pytest.raises(ModelError, match="memory"):
            list(engine.score(JOB, [[[9]]] * 40))
        memory.fails = lambda passed, tokens: False
        assert len(counts(engine.sample(JOB, requests(N, 40), USUAL, spell), 40)) == 40


@pytest.mark.e2e
def test_a_cpu_that_cannot_allocate_is_out_of_memory_too(
    undisturbed: list[dict[tuple[int, ...], int]],
) -> None:
    network = build("llama")
    with engine_over(network) as engine:
        memory = Memory(network, "last")
        memory.fails = lambda passed, tokens: tokens > 40
        memory.error = lambda: RuntimeError(
            "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate "
            "memory: you tried to "
            "allocate 1099511627776 bytes. Error code 12 (Cannot allocate memory)"
        )
        found = counts(engine.sample(JOB, requests(N, 40), USUAL, spell), 40)
        assert memory.failed
        assert alike(found, undisturbed) >= SAME


@PLACES
def test_other_errors_are_nobody_s_lack_of_memory(place: str) -> None:
    network = build("llama")
    with engine_over(network) as engine:
        memory = Memory(network, place)
        memory.fails = lambda passed, tokens: True
        memory.error = lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied")
        with pytest.raises(RuntimeError, match="mat1 and mat2"):
            list(engine.sample(JOB, requests(N, 40), USUAL, spell))
        assert memory.failed == 1


def test_rows_of_prompts_that_share_little_are_thought_to_hold_them_whole() -> None:
    rng = np.random.default_rng(0)
    apart = [tuple(text(rng, 400)) for _ in range(20)]
    alike = [(*apart[0], *text(rng, 20)) for _ in range(20)]
    assert held_tokens(apart) == 400
    assert held_tokens(alike) == ALONE_TOKENS
    assert held_tokens([]) == ALONE_TOKENS


def test_log_probabilities_that_do_not_fit_are_computed_of_fewer_prompts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, ends = build("llama"), [[[9], [10, 11]]] * 40
    with engine_over(network) as engine:
        freely, usual = np.array(scores(engine, JOB, ends)), torch.log_softmax

        def small(logits: torch.Tensor, dim: int) -> torch.Tensor:
            if len(logits) > 10:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
            return usual(logits, dim=dim)

        monkeypatch.setattr(torch, "log_softmax", small)
        assert np.array(scores(engine, JOB, ends)) == pytest.approx(freely, abs=1e-5)
