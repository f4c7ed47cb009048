"""Merged sampling draws what independent sampling draws.

20 prompts x 3,000 draws of a network whose answers can all be enumerated, so that counts are held
against exact probabilities, and against samples of `generate`, which draws each answer by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tests.inference.frequencies import (
    against_exact,
    any_rejected,
    first_tokens,
    of_two_samples,
    p_value,
    total,
)
from tests.inference.jobs_of_prompts import all_answers, counts, requests, spell, text
from tests.inference.oracle import Answer, Oracle
from tests.inference.random_models import build, engine_over
from workbench.domain.responses import Sampling
from workbench.inference.engines import Engine

PROMPTS, DRAWS = 20, 3000
LETTERS = 12
"size of the vocabulary"
END = frozenset({2, 7})
SETTINGS = [
    Sampling(temperature=0.8, top_p=0.85, max_new_tokens=3),
    Sampling(temperature=1.3, top_p=1.0, top_k=4, max_new_tokens=3),
]
SPREAD = 1.5


def prompts() -> list[list[int]]:
    rng = np.random.default_rng(8)
    stem = text(rng, 10, range(1, LETTERS))
    return [[*stem[: i % 11], *text(rng, 1 + i % 7, range(1, LETTERS))] for i in range(PROMPTS)]


@pytest.fixture(scope="module")
def tiny() -> Iterator[Engine]:
    with engine_over(build("llama", vocab_size=LETTERS, spread=SPREAD), END) as engine:
        yield engine


@pytest.fixture(scope="module")
def plain() -> Oracle:
    return Oracle(build("llama", vocab_size=LETTERS, spread=SPREAD), END)


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_counts_fit_the_exact_probabilities(
    tiny: Engine, plain: Oracle, sampling: Sampling
) -> None:
    drawn = counts(tiny.sample(prompts(), requests(DRAWS, PROMPTS), sampling, spell), PROMPTS)
    exact = [plain.distribution(prompt, sampling) for prompt in prompts()]
    whole = [against_exact(a, b) for a, b in zip(drawn, exact, strict=True)]
    first = [
        against_exact(first_tokens(a), first_tokens(b)) for a, b in zip(drawn, exact, strict=True)
    ]
    assert not any_rejected([p_value(statistic) for statistic in [*whole, *first]])
    assert 0.001 < total(whole) < 0.999
    assert 0.001 < total(first) < 0.999
    assert sum(df for _, df in whole) > 20 * PROMPTS  # else there would be little to get wrong


def test_the_test_would_notice_a_temperature_that_is_a_little_off(
    tiny: Engine, plain: Oracle
) -> None:
    drawn = counts(tiny.sample(prompts(), requests(DRAWS, PROMPTS), SETTINGS[0], spell), PROMPTS)
    off = Sampling(temperature=0.9, top_p=1.0, max_new_tokens=3)
    exact = [plain.distribution(prompt, off) for prompt in prompts()]
    assert any_rejected([p_value(against_exact(a, b)) for a, b in zip(drawn, exact, strict=True)])


@pytest.mark.e2e
def test_counts_are_like_those_of_independent_sampling(tiny: Engine, plain: Oracle) -> None:
    sampling = SETTINGS[0]
    drawn = counts(tiny.sample(prompts(), requests(DRAWS, PROMPTS), sampling, spell), PROMPTS)
    torch.manual_seed(9)
    independent = [Counter(plain.sampled(prompt, DRAWS, sampling)) for prompt in prompts()]
    whole = [of_two_samples(a, b) for a, b in zip(drawn, independent, strict=True)]
    first = [
        of_two_samples(first_tokens(a), first_tokens(b))
        for a, b in zip(drawn, independent, strict=True)
    ]
    assert not any_rejected([*whole, *first])


def test_two_samples_of_one_request_know_nothing_of_each_other(tiny: Engine, plain: Oracle) -> None:
    sampling, pairs = Sampling(temperature=0.8, top_p=0.85, max_new_tokens=2), 1500
    prompt = prompts()[3]
    drawn = counts(tiny.sample([prompt] * pairs, requests(2, pairs), sampling, spell), pairs)
    seen = Counter(tuple(sorted(Counter(pair).elements())) for pair in drawn)
    exact = plain.distribution(prompt, sampling)
    expected = {
        (a, b): p * q * (1 if a == b else 2)
        for a, p in exact.items()
        for b, q in exact.items()
        if a <= b
    }
    statistic = against_exact(seen, expected)
    assert p_value(statistic) > 0.01
    assert statistic[1] > 30


def test_requests_of_one_prompt_with_different_seeds_are_drawn_anew(tiny: Engine) -> None:
    same = [prompts()[0]] * 8
    drawn = counts(tiny.sample(same, requests(40, 8), SETTINGS[0], spell), 8)
    assert len({tuple(sorted(answers.items())) for answers in drawn}) == 8


@dataclass(frozen=True, slots=True)
class Says:
    """Decided as soon as one of these tokens was said."""

    tokens: tuple[int, ...]

    def __call__(self, text: str) -> bool:
        return any(str(token) in text.split() for token in self.tokens)


def test_answers_that_end_when_decided_are_beginnings_of_those_that_do_not(
    tiny: Engine, plain: Oracle
) -> None:
    sampling, decided = SETTINGS[0], Says((3, 5))
    found = all_answers(
        tiny.sample(prompts(), requests(DRAWS, PROMPTS, decided=decided), sampling, spell), PROMPTS
    )
    statistics = []
    for prompt, answers in zip(prompts(), found, strict=True):
        cut: dict[Answer, float] = {}
        for answer, p in plain.distribution(prompt, sampling).items():
            end = next(
                (i + 1 for i in range(len(answer)) if decided(spell(answer[: i + 1]))), len(answer)
            )
            cut[answer[:end]] = cut.get(answer[:end], 0.0) + p
        statistics.append(against_exact(answers.counts, cut))
    assert not any_rejected([p_value(statistic) for statistic in statistics])
    assert 0.001 < total(statistics) < 0.999
