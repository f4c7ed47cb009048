"""What is computed is the least that can be: each distinct beginning once."""

from __future__ import annotations

import pytest

from tests.inference.jobs_of_prompts import (
    ORDINARY,
    all_answers,
    mixed_job,
    requests,
    scores,
    spell,
)
from tests.inference.oracle import closed_under
from workbench.domain.responses import Sampling
from workbench.inference.base import Work
from workbench.inference.engines import Engine

USUAL = Sampling(temperature=0.7, top_p=0.85, max_new_tokens=5)
STEM = ORDINARY[:30]
JOBS = {
    "one stem": [[*STEM, token] for token in ORDINARY[:25]],
    "a stem of stems": [[*STEM[: 5 * (i % 6)], *ORDINARY[i : i + 4]] for i in range(40)],
    "identical": [STEM] * 10,
    "each a beginning of the next": [ORDINARY[: i + 1] for i in range(30)],
    "nothing shared": [[token, *STEM[:6]] for token in ORDINARY[:30]],
    "everything": mixed_job(60, 50),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_each_distinct_beginning_of_the_prompts_is_computed_once(
    engine: Engine, work: Work, job: list[list[int]]
) -> None:
    all_answers(engine.sample(job, requests(4, len(job)), USUAL, spell), len(job))
    assert work.prompt_tokens == sum(map(len, job))
    assert work.prompt_tokens_computed == len(closed_under(job))


@pytest.mark.parametrize("n", [1, 6, 50])
def test_each_distinct_beginning_of_the_answers_is_computed_once(
    engine: Engine, work: Work, n: int
) -> None:
    job = [[*STEM, token] for token in ORDINARY[:25]]
    found = all_answers(engine.sample(job, requests(n, 25), USUAL, spell), 25)
    needed = [
        closed_under([answer[: USUAL.max_new_tokens - 1] for answer in answers.counts])
        for answers in found
    ]
    assert work.sampled_tokens_computed == sum(map(len, needed))
    tokens = sum(
        len(answer) * count for answers in found for answer, count in answers.counts.items()
    )
    last = sum(
        count
        for answers in found
        for answer, count in answers.counts.items()
        if len(answer) == USUAL.max_new_tokens
    )
    assert tokens - last <= work.sampled_tokens <= tokens


def test_samples_that_are_all_alike_cost_what_one_costs(engine: Engine, work: Work) -> None:
    job = [[*STEM, token] for token in ORDINARY[:10]]
    greedy = Sampling(top_k=1, max_new_tokens=5)
    list(engine.sample(job, requests(1, 10), greedy, spell))
    alone = work.sampled_tokens_computed
    list(engine.sample(job, requests(500, 10), greedy, spell))
    assert work.sampled_tokens_computed == 2 * alone > 0


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_scores_compute_prompts_and_ends_once(
    engine: Engine, work: Work, job: list[list[int]]
) -> None:
    ends = [[[9], [10, 11], [10, 12, 13]]] * len(job)
    scores(engine, job, ends)
    everything = closed_under([[*prompt, *end] for prompt in job for end in ends[0]])
    assert (
        len(closed_under(job))
        <= work.prompt_tokens_computed + work.sampled_tokens_computed
        <= len(everything)
    )


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_tables_of_next_tokens_compute_prompts_once(
    engine: Engine, work: Work, job: list[list[int]]
) -> None:
    list(engine.likeliest(job, 3))
    assert work.prompt_tokens == sum(map(len, job))
    assert work.prompt_tokens_computed == len(closed_under(job))
