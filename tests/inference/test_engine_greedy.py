"""With one candidate a step there is nothing to draw: the engine's answers are `generate`'s, token
for token.
"""

from __future__ import annotations

import pytest

from tests.inference.jobs_of_prompts import all_answers, mixed_job, requests, single, spell
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, WINDOW, build, engine_over
from workbench.domain.responses import Sampling
from workbench.inference.engines import Engine

PROMPTS, LONGEST = 100, 200
GREEDY = Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=12)


@pytest.mark.e2e
@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen3-sliding"])
def test_a_hundred_greedy_answers_are_those_of_generate_one_prompt_at_a_time(kind: str) -> None:
    job = mixed_job(PROMPTS, LONGEST)
    assert min(map(len, job)) == 1
    assert max(map(len, job)) == LONGEST > 10 * WINDOW
    with engine_over(build(kind)) as engine:
        found = [
            single(a)
            for a in all_answers(engine.sample(job, requests(3, PROMPTS), GREEDY, spell), PROMPTS)
        ]
    plain = Oracle(build(kind), STOP)
    expected = [plain.greedy(prompt, GREEDY.max_new_tokens) for prompt in job]
    assert found == expected
    lengths = set(map(len, expected))
    assert GREEDY.max_new_tokens in lengths  # some answers are cut, others end themselves
    assert len(lengths) > 2


def test_greedy_answers_carry_the_count_of_all_samples(engine: Engine) -> None:
    job = mixed_job(12, 20)
    samples = [1 + i % 5 for i in range(12)]
    for answers in all_answers(engine.sample(job, requests(samples, 12), GREEDY, spell), 12):
        assert list(answers.counts.values()) == [samples[answers.request]]
        assert answers.decided == 0


def test_a_greedy_answer_is_the_same_alone_as_among_others(engine: Engine) -> None:
    job = mixed_job(14, 60, seed=1)
    together = all_answers(engine.sample(job, requests(2, 14), GREEDY, spell), 14)
    for prompt, answers in zip(job, together, strict=True):
        (alone,) = all_answers(engine.sample([prompt], requests(2, 1), GREEDY, spell), 1)
        assert alone.counts == answers.counts
