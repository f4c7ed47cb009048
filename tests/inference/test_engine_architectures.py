"""Architectures differ in how they attend; an engine computes a network right or refuses it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

from tests.inference.jobs_of_prompts import all_answers, mixed_job, requests, scores, single, spell
from tests.inference.oracle import Oracle
from tests.inference.random_models import (
    ARCHITECTURES,
    MASKED,
    OTHERS,
    POSITIONS,
    STOP,
    UNSHAREABLE,
    WINDOW,
    build,
    engine_over,
)
from workbench.domain.responses import Sampling
from workbench.inference.base import Work
from workbench.inference.engine import Unshareable, shared_engine
from workbench.inference.engines import Engine

GREEDY = Sampling(top_p=1.0, top_k=1, max_new_tokens=6)
JOB = mixed_job(16, 5 * WINDOW, seed=11)
ENDS = [[[9], [9, 10, 12], [13, 14, 15, 16, 17, 18, 19, 20, 21, 22]]] * len(JOB)


def check(engine: Engine, plain: Oracle) -> None:
    """Compare answers, tables and scores with the oracle's."""
    for likeliest in engine.likeliest(JOB, 4):
        log = plain.next_log_probabilities(JOB[likeliest.prompt])
        assert likeliest.log_probabilities == pytest.approx(np.sort(log)[::-1][:4], abs=1e-5)
    for prompt, ends, values in zip(JOB, ENDS, scores(engine, JOB, ENDS), strict=True):
        assert values == pytest.approx([plain.score(prompt, end) for end in ends], abs=2e-5)
    found = all_answers(engine.sample(JOB, requests(2, len(JOB)), GREEDY, spell), len(JOB))
    assert [single(answers) for answers in found] == [plain.greedy(prompt, 6) for prompt in JOB]


def own_copy(network: Any) -> Oracle:
    return Oracle(copy.deepcopy(network), STOP)


@pytest.mark.e2e
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_common_architectures_are_shared_and_right(kind: str) -> None:
    network = build(kind)
    plain = own_copy(network)
    with engine_over(network) as engine:
        check(engine, plain)


@pytest.mark.parametrize("kind", OTHERS)
def test_any_other_architecture_is_right_or_refused(kind: str) -> None:
    network = build(kind)
    plain = own_copy(network)
    try:
        engine = shared_engine(network, STOP, Work())
    except Unshareable as refusal:
        assert str(refusal)  # noqa: PT017 - either is right, silence is not
    else:
        check(engine, plain)
        engine.close()


@pytest.mark.e2e
@pytest.mark.parametrize("kind", MASKED)
def test_a_window_that_masks_alone_know_of_is_refused_where_prompts_can_be_longer(
    kind: str,
) -> None:
    with pytest.raises(Unshareable, match="masks alone"):
        shared_engine(build(kind), STOP, Work())
    network = build(kind, sliding_window=POSITIONS)
    plain = own_copy(network)
    with engine_over(network) as engine:
        check(engine, plain)


@pytest.mark.parametrize("kind", UNSHAREABLE)
def test_what_cannot_be_shared_is_refused_with_a_reason_and_left_as_it_was(kind: str) -> None:
    network = build(kind)
    before = copy.deepcopy(network)
    with pytest.raises(Unshareable, match=r"\w{3}"):
        shared_engine(network, STOP, Work())
    given = {"input_ids": torch.tensor([[5, 6, 7]])}
    if network.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.tensor([[0, 8]])
    with torch.inference_mode():
        assert torch.equal(network(**given).logits, before(**given).logits)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding"])
def test_a_network_answers_plainly_after_an_engine_has_used_it(kind: str) -> None:
    network = build(kind)
    plain = own_copy(network)
    with engine_over(network) as engine:
        list(engine.likeliest(JOB, 3))
    assert [Oracle(network, STOP).greedy(prompt, 4) for prompt in JOB[:4]] == [
        plain.greedy(prompt, 4) for prompt in JOB[:4]
    ]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding"])
def test_bf16_differs_from_a_plain_pass_by_its_own_rounding_only(kind: str) -> None:
    network = build(kind, dtype=torch.bfloat16)
    single_precision, half = Oracle(build(kind), STOP), own_copy(network)
    with engine_over(network) as engine:
        found = np.array(scores(engine, JOB, ENDS))
    exact = np.array(
        [
            [single_precision.score(p, end) for end in ends]
            for p, ends in zip(JOB, ENDS, strict=True)
        ]
    )
    plain = np.array(
        [[half.score(p, end) for end in ends] for p, ends in zip(JOB, ENDS, strict=True)]
    )
    assert np.abs(found - exact).mean() < 1.5 * np.abs(plain - exact).mean()


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_network_that_mixes_tokens_outside_of_attention_is_refused(kind: str) -> None:
    network = build(kind)
    inner = network.model.layers[0].mlp if kind == "llama" else network.transformer.h[0].mlp

    def leak(module: Any, given: Any, result: torch.Tensor) -> torch.Tensor:
        return result + 0.3 * torch.cumsum(result, dim=1)

    inner.register_forward_hook(leak)
    with pytest.raises(Unshareable):
        shared_engine(network, STOP, Work())
