"""Probabilities of the engine are those of one forward pass over the prompt and the end."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.jobs_of_prompts import ORDINARY, mixed_job, scores, text
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, VOCABULARY, build, engine_over
from workbench.inference.engines import Engine

CLOSE = 1e-5
"in nats, fp32"


def test_the_likeliest_tokens_are_those_of_a_plain_forward_pass(
    engine: Engine, oracle: Oracle
) -> None:
    job, k = mixed_job(60, 120, seed=2), 7
    found = sorted(engine.likeliest(job, k), key=lambda likeliest: likeliest.prompt)
    assert [likeliest.prompt for likeliest in found] == list(range(60))
    for prompt, likeliest in zip(job, found, strict=True):
        log = oracle.next_log_probabilities(prompt)
        assert list(likeliest.tokens) == np.argsort(-log)[:k].tolist()
        assert likeliest.log_probabilities == pytest.approx(np.sort(log)[::-1][:k], abs=CLOSE)


def test_all_tokens_together_have_probability_one(engine: Engine) -> None:
    for likeliest in engine.likeliest(mixed_job(12, 20), VOCABULARY):
        assert sorted(likeliest.tokens) == list(range(VOCABULARY))
        assert np.exp(likeliest.log_probabilities).sum() == pytest.approx(1, abs=CLOSE)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding"])
def test_scores_of_ends_of_every_length_are_those_of_a_forward_pass_each(kind: str) -> None:
    rng = np.random.default_rng(3)
    job = mixed_job(40, 90, seed=3)
    ends = [[text(rng, int(rng.integers(1, 12))) for _ in range(rng.integers(1, 6))] for _ in job]
    with engine_over(build(kind)) as engine:
        found = scores(engine, job, ends)
    plain = Oracle(build(kind), STOP)
    for prompt, choices, values in zip(job, ends, found, strict=True):
        assert values == pytest.approx([plain.score(prompt, end) for end in choices], abs=CLOSE)


PROMPT = [5, 6, 7, 8]
TRICKY = {
    "one token each": [[5], [6], [90]],
    "beginnings of one another": [[5], [5, 6], [5, 6, 7], [5, 6, 8]],
    "the same end twice": [[5, 6], [5, 6]],
    "a single end": [[9, 10, 11]],
    "an end that ends the answer": [[2], [5, 2], [2, 5]],
    "an end that repeats the prompt": [PROMPT, PROMPT[:1]],
    "very different lengths": [[5], ORDINARY[:70], ORDINARY[:69], ORDINARY[5:7]],
}


@pytest.mark.parametrize("ends", TRICKY.values(), ids=TRICKY.keys())
def test_ends_may_look_like_this(engine: Engine, oracle: Oracle, ends: list[list[int]]) -> None:
    (found,) = scores(engine, [PROMPT], [ends])
    assert found == pytest.approx([oracle.score(PROMPT, end) for end in ends], abs=CLOSE)


def test_an_end_that_makes_one_prompt_into_another_is_still_the_end_of_its_own(
    engine: Engine, oracle: Oracle
) -> None:
    prompts = [PROMPT, [*PROMPT, 9], [*PROMPT, 9, 10], PROMPT]
    ends = [[[9], [9, 10, 11]], [[10], [11]], [[11], [9]], [[10], [9]]]
    found = scores(engine, prompts, ends)
    for prompt, choices, values in zip(prompts, ends, found, strict=True):
        assert values == pytest.approx([oracle.score(prompt, end) for end in choices], abs=CLOSE)


def test_ends_that_all_prompts_share_are_scored_for_each(engine: Engine, oracle: Oracle) -> None:
    job, shared = mixed_job(50, 60, seed=4), [[9], [10, 11], [10, 12, 13, 14]]
    for prompt, values in zip(job, scores(engine, job, [shared] * 50), strict=True):
        assert values == pytest.approx([oracle.score(prompt, end) for end in shared], abs=CLOSE)


def test_an_end_of_one_token_scores_as_the_table_of_next_tokens_says(engine: Engine) -> None:
    (likeliest,) = engine.likeliest([PROMPT], 20)
    (found,) = scores(engine, [PROMPT], [[[token] for token in likeliest.tokens]])
    assert found == pytest.approx(likeliest.log_probabilities.tolist(), abs=CLOSE)


def test_a_prompt_of_fifteen_hundred_tokens_scores_beside_short_ones(
    engine: Engine, oracle: Oracle
) -> None:
    long = text(np.random.default_rng(5), 1500)
    job = [[5], long, [5, 6], [*long[:1400], 7], long[:700]]
    ends = [[[9], [10, 11]]] * 5
    for prompt, values in zip(job, scores(engine, job, ends), strict=True):
        assert values == pytest.approx([oracle.score(prompt, end) for end in ends[0]], abs=CLOSE)


def test_sums_of_many_tokens_are_kept_in_double_precision(engine: Engine, oracle: Oracle) -> None:
    end = text(np.random.default_rng(6), 400)
    (found,) = scores(engine, [PROMPT], [[end]])
    assert found[0] == pytest.approx(oracle.score(PROMPT, end), rel=1e-6)


@pytest.mark.parametrize("rows", [1, 3])
def test_scores_do_not_depend_on_how_much_is_computed_at_once(engine: Engine, rows: int) -> None:
    job = mixed_job(30, 40, seed=5)
    ends = [[[9], [10, 11], [10, 12, 13]]] * 30
    freely = scores(engine, job, ends)
    engine.limit_parallel(rows)
    assert np.array(scores(engine, job, ends)) == pytest.approx(np.array(freely), abs=CLOSE)


def test_a_reader_who_leaves_half_way_does_not_disturb_the_next(engine: Engine) -> None:
    job = mixed_job(40, 40, seed=6)
    ends = [[[9], [10, 11]]] * 40
    undisturbed = scores(engine, job, ends)
    engine.limit_parallel(4)
    leaving = engine.score(job, ends)
    next(iter(leaving))
    del leaving
    assert np.array(scores(engine, job, ends)) == pytest.approx(np.array(undisturbed), abs=CLOSE)


def test_nothing_asked_is_nothing_answered(engine: Engine) -> None:
    assert list(engine.score([], [])) == []
    assert list(engine.likeliest([], 3)) == []
