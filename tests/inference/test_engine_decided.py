"""A sample ends as soon as its stance is decided: then, not later, and only where its request says
so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.inference.jobs_of_prompts import (
    ORDINARY,
    alike,
    all_answers,
    counts,
    mixed_job,
    requests,
    spell,
)
from workbench.domain.responses import Decided, Sampling
from workbench.inference.base import Work
from workbench.inference.engines import Engine

USUAL = Sampling(temperature=1.2, top_p=0.95, max_new_tokens=8)


@dataclass(frozen=True, slots=True)
class LongEnough:
    """Decided after so many tokens."""

    tokens: int

    def __call__(self, text: str) -> bool:
        return len(text.split()) >= self.tokens


@dataclass(frozen=True, slots=True)
class Says:
    """Decided as soon as one of these tokens was said."""

    tokens: tuple[int, ...]

    def __call__(self, text: str) -> bool:
        return any(str(token) in text.split() for token in self.tokens)


OFTEN = Says(tuple(ORDINARY[::4]))


@pytest.mark.parametrize("decided", [OFTEN, LongEnough(3), LongEnough(8), LongEnough(9)], ids=str)
def test_answers_end_where_they_are_decided_and_nowhere_else(
    engine: Engine, decided: Decided
) -> None:
    job = mixed_job(20, 30)
    for answers in all_answers(
        engine.sample(job, requests(20, 20, decided=decided), USUAL, spell), 20
    ):
        assert sum(answers.counts.values()) == 20
        for answer in answers.counts:
            assert not any(decided(spell(answer[:i])) for i in range(1, len(answer)))
        settled = {
            answer: count for answer, count in answers.counts.items() if decided(spell(answer))
        }
        # one that is settled by its last permitted token would have ended there anyhow: it may
        # count as either
        cut = sum(count for answer, count in settled.items() if len(answer) < USUAL.max_new_tokens)
        assert cut <= answers.decided <= sum(settled.values())


def test_a_rule_that_is_never_met_changes_nothing(engine: Engine) -> None:
    job = mixed_job(30, 30)
    without = counts(engine.sample(job, requests(10, 30), USUAL, spell), 30)
    never = all_answers(
        engine.sample(job, requests(10, 30, decided=LongEnough(99)), USUAL, spell), 30
    )
    assert [answers.counts for answers in never] == without
    assert all(answers.decided == 0 for answers in never)


@pytest.mark.e2e
def test_requests_without_a_rule_are_not_touched_by_those_with_one(engine: Engine) -> None:
    job = mixed_job(60, 30)
    without = counts(engine.sample(job, requests(10, 60), USUAL, spell), 60)
    mixed = [replace(r, decided=OFTEN) if i % 2 else r for i, r in enumerate(requests(10, 60))]
    found = all_answers(engine.sample(job, mixed, USUAL, spell), 60)
    assert alike([answers.counts for answers in found[::2]], without[::2]) >= 0.99
    assert all(answers.decided == 0 for answers in found[::2])
    assert sum(answers.decided for answers in found[1::2]) > 60


def test_the_same_prompt_may_be_asked_with_and_without_a_rule(engine: Engine) -> None:
    plain, ruled = requests(30, 2)
    asked = [plain, replace(ruled, decided=LongEnough(1))]
    open_ended, cut = all_answers(engine.sample([[5, 6, 7]] * 2, asked, USUAL, spell), 2)
    assert max(map(len, open_ended.counts)) > 1
    assert max(map(len, cut.counts)) == 1
    assert open_ended.decided == 0
    assert cut.decided == sum(count for answer, count in cut.counts.items() if answer)


def test_ending_early_saves_the_rest_of_the_work(engine: Engine, work: Work) -> None:
    job = mixed_job(20, 20)
    list(engine.sample(job, requests(10, 20), USUAL, spell))
    whole, prompts = work.sampled_tokens_computed, work.prompt_tokens_computed
    list(engine.sample(job, requests(10, 20, decided=LongEnough(1)), USUAL, spell))
    assert work.sampled_tokens_computed == whole > 0
    assert work.prompt_tokens_computed > prompts
