"""On a GPU: fp32 answers are `generate`'s, bf16 is off by its own rounding only, and the
distribution is the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from tests.inference.frequencies import against_exact, any_rejected, p_value, total
from tests.inference.jobs_of_prompts import (
    all_answers,
    counts,
    mixed_job,
    requests,
    scores,
    single,
    spell,
    text,
)
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, build, engine_over
from workbench.domain.responses import Sampling

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here"),
]
KINDS = pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding"])
GREEDY = Sampling(top_p=1.0, top_k=1, max_new_tokens=12)


@pytest.fixture(autouse=True)
def _full_precision() -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


@KINDS
def test_greedy_answers_in_fp32_are_those_of_generate(kind: str) -> None:
    job = mixed_job(100, 200)
    network = build(kind).cuda()
    plain = Oracle(copy.deepcopy(network), STOP)
    with engine_over(network) as engine:
        found = [
            single(answers)
            for answers in all_answers(engine.sample(job, requests(3, 100), GREEDY, spell), 100)
        ]
    assert found == [plain.greedy(prompt, GREEDY.max_new_tokens) for prompt in job]


@KINDS
def test_bf16_scores_are_off_by_rounding_only(kind: str) -> None:
    job = mixed_job(40, 120)
    ends = [[[9], [10, 11], [12, 13, 14]]] * 40
    network = build(kind, dtype=torch.bfloat16).cuda()
    exact, half = Oracle(build(kind).cuda(), STOP), Oracle(copy.deepcopy(network), STOP)
    with engine_over(network) as engine:
        found = np.array(scores(engine, job, ends))
    wanted = np.array(
        [[exact.score(p, end) for end in its] for p, its in zip(job, ends, strict=True)]
    )
    rounded = np.array(
        [[half.score(p, end) for end in its] for p, its in zip(job, ends, strict=True)]
    )
    assert np.abs(found - wanted).mean() < 1.5 * np.abs(rounded - wanted).mean()


def test_counts_fit_the_exact_probabilities_on_a_gpu() -> None:
    sampling, rng = (
        Sampling(temperature=0.8, top_p=0.85, max_new_tokens=3),
        np.random.default_rng(8),
    )
    job = [text(rng, 2 + i, range(1, 12)) for i in range(20)]
    network = build("llama", vocab_size=12, spread=1.5)
    plain = Oracle(copy.deepcopy(network), frozenset({2, 7}))
    with engine_over(network.cuda(), frozenset({2, 7})) as engine:
        drawn = counts(engine.sample(job, requests(3000, 20), sampling, spell), 20)
    statistics = [
        against_exact(a, plain.distribution(p, sampling)) for a, p in zip(drawn, job, strict=True)
    ]
    assert not any_rejected([p_value(statistic) for statistic in statistics])
    assert 0.001 < total(statistics) < 0.999
