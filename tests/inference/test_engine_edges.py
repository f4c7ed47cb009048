"""Whatever a job looks like, every sample comes back, once, and depends on its request alone."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from tests.inference.jobs_of_prompts import (
    ORDINARY,
    alike,
    all_answers,
    counts,
    mixed_job,
    requests,
    spell,
    text,
)
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, build, engine_over
from workbench.domain.responses import Sampling
from workbench.inference.base import Work
from workbench.inference.engine import shared_engine
from workbench.inference.engines import Engine, Tokens

USUAL = Sampling(temperature=1.0, top_p=0.85, max_new_tokens=6)
SAME = 0.99
"""share of requests: in another batch a probability differs in its last digit, and a draw may fall
just there"""


def drawn(
    engine: Engine, job: list[list[int]], n: int, sampling: Sampling = USUAL
) -> list[dict[tuple[int, ...], int]]:
    found = counts(engine.sample(job, requests(n, len(job)), sampling, spell), len(job))
    assert [sum(answers.values()) for answers in found] == [n] * len(job)
    for answers in found:
        assert all(count > 0 for count in answers.values())
        assert all(len(answer) <= sampling.max_new_tokens for answer in answers)
        assert not any(token in STOP for answer in answers for token in answer)
    return found


JOBS = {
    "one prompt": [[5, 6, 7]],
    "a prompt of one token": [[5]],
    "all prompts identical": [[5, 6, 7]] * 12,
    "no shared beginning": [[token, *ORDINARY[:8]] for token in ORDINARY[:20]],
    "each a beginning of the next": [ORDINARY[: i + 1] for i in range(20)],
    "each a beginning of the one before": [ORDINARY[: 20 - i] for i in range(20)],
    "a long prompt beside short ones": [[5], text(np.random.default_rng(1), 1500), [5, 6], [7]],
    "two long prompts that part late": [[*ORDINARY * 5, 5], [*ORDINARY * 5, 6], ORDINARY * 5],
    "everything": mixed_job(25, 60),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
@pytest.mark.parametrize("n", [1, 30])
def test_every_sample_of_every_prompt_comes_back(
    engine: Engine, job: list[list[int]], n: int
) -> None:
    assert [sum(answers.values()) for answers in drawn(engine, job, n)] == [n] * len(job)


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_the_likeliest_answer_is_drawn_from_its_own_prompt(
    engine: Engine, oracle: Oracle, job: list[list[int]]
) -> None:
    nearly_greedy = Sampling(temperature=0.0005, top_p=0.5, max_new_tokens=4)
    for prompt, answers in zip(job, drawn(engine, job, 2, nearly_greedy), strict=True):
        assert answers == {oracle.greedy(prompt, 4): 2}


def test_an_empty_job_has_no_answers(engine: Engine) -> None:
    assert list(engine.sample([], [], USUAL, spell)) == []


def test_an_answer_whose_first_token_ends_it_has_no_tokens(oracle: Oracle) -> None:
    ending = frozenset({int(oracle.next_log_probabilities([5, 6]).argmax())})
    with engine_over(build("llama"), ending) as engine:
        greedy = Sampling(top_k=1, max_new_tokens=5)
        (answers,) = all_answers(engine.sample([[5, 6]], requests(7, 1), greedy, spell), 1)
        assert answers.counts == {(): 7}


def test_an_answer_of_no_tokens_is_one_of_several(engine: Engine, oracle: Oracle) -> None:
    job = mixed_job(40, 20)
    found = drawn(engine, job, 60, Sampling(top_p=1.0, max_new_tokens=3))
    share = sum(answers.get((), 0) for answers in found) / (60 * len(job))
    exact = np.mean(
        [np.exp(oracle.next_log_probabilities(prompt))[sorted(STOP)].sum() for prompt in job]
    )
    assert share == pytest.approx(exact, abs=5 * np.sqrt(exact / (60 * len(job))))


def test_answers_may_have_one_token_at_most(engine: Engine) -> None:
    for answers in drawn(engine, mixed_job(30, 30), 20, Sampling(max_new_tokens=1)):
        assert set(map(len, answers)) <= {0, 1}


def test_a_thousand_samples_of_a_prompt_come_back(engine: Engine) -> None:
    assert [sum(answers.values()) for answers in drawn(engine, [[5, 6, 7], [5, 6, 8]], 1000)] == [
        1000,
        1000,
    ]


def test_requests_may_ask_for_different_numbers_of_samples(engine: Engine) -> None:
    job, n = mixed_job(30, 30), [1 + 7 * (i % 9) for i in range(30)]
    found = counts(engine.sample(job, requests(n, 30), USUAL, spell), 30)
    assert [sum(answers.values()) for answers in found] == n


@pytest.mark.e2e
def test_first_answers_come_while_others_are_not_begun(engine: Engine, work: Work) -> None:
    job = [[5, 6, *text(np.random.default_rng(i), 5)] for i in range(300)]
    engine.limit_parallel(20)
    groups = iter(engine.sample(job, requests(2, 300), USUAL, spell))
    first = next(groups)
    begun = work.prompt_tokens
    found = all_answers([first, *groups], 300)
    assert begun < work.prompt_tokens / 2
    assert all(sum(answers.counts.values()) == 2 for answers in found)


@pytest.mark.e2e
@pytest.mark.parametrize("most", [1, 7, 10_000])
def test_answers_do_not_depend_on_how_much_is_under_way(engine: Engine, most: int) -> None:
    job = mixed_job(12, 30)
    freely = drawn(engine, job, 5)
    engine.limit_parallel(most)
    assert alike(drawn(engine, job, 5), freely) >= SAME


@pytest.mark.e2e
def test_a_bound_on_rows_is_kept_and_lifted(engine: Engine) -> None:
    network = build("llama")
    with engine_over(network) as watched:
        seen: list[int] = []
        network.get_output_embeddings().register_forward_hook(
            lambda module, given, result: seen.append(result.shape[:-1].numel())
        )
        job = [[5, 6, token] for token in ORDINARY[:20]]
        most: dict[int | None, int] = {}
        for bound in (3, None):
            watched.limit_parallel(bound)
            seen.clear()
            drawn(watched, job, 3)
            most[bound] = max(seen)
        assert (most[3] or 0) <= 3 < (most[None] or 0)


def test_the_bound_may_change_from_another_thread(engine: Engine) -> None:
    job = mixed_job(40, 40)
    undisturbed, over = drawn(engine, job, 8), threading.Event()

    def meddle() -> None:
        for i in range(100_000):
            engine.limit_parallel((1, 50, None, 3)[i % 4])
            if over.wait(0.001):
                return

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        meddled = drawn(engine, job, 8)
    finally:
        over.set()
        thread.join()
    assert alike(meddled, undisturbed) >= SAME


@pytest.mark.parametrize("leave", ["closed", "dropped", "kept"])
def test_an_engine_is_as_good_as_new_after_a_reader_has_left_half_way(
    engine: Engine, leave: str
) -> None:
    job = mixed_job(60, 30)
    undisturbed = drawn(engine, job, 5)
    engine.limit_parallel(10)
    reader = iter(engine.sample(job, requests(5, 60), USUAL, spell))
    next(reader)
    engine.limit_parallel(None)
    if leave == "closed":
        reader.close()  # type: ignore[attr-defined]
    elif leave == "dropped":
        del reader
    assert drawn(engine, job, 5) == undisturbed


@pytest.mark.e2e
def test_two_engines_take_turns(oracle: Oracle) -> None:
    job = mixed_job(20, 30)
    with engine_over(build("llama")) as left, engine_over(build("qwen3-sliding")) as right:
        alone = [drawn(left, job, 5), drawn(right, job, 5)]
        for engine in (left, right):
            engine.limit_parallel(10)
        readers = [
            iter(engine.sample(job, requests(5, 20), USUAL, spell)) for engine in (left, right)
        ]
        groups: list[list[list[object]]] = [[], []]
        for turn in range(500):
            group = next(readers[turn % 2], None)
            if group is not None:
                groups[turn % 2].append(group)  # type: ignore[arg-type]
        for taken, expected in zip(groups, alone, strict=True):
            assert alike(counts(taken, 20), expected) >= SAME  # type: ignore[arg-type]


def test_the_same_call_twice_draws_the_same(engine: Engine) -> None:
    job = mixed_job(30, 60)
    assert drawn(engine, job, 10) == drawn(engine, job, 10)


def test_another_engine_draws_the_same(engine: Engine) -> None:
    job = mixed_job(30, 40)
    with engine_over(build("llama")) as other:
        assert drawn(engine, job, 10) == drawn(other, job, 10)


@pytest.mark.e2e
def test_another_seed_draws_something_else(engine: Engine) -> None:
    job = mixed_job(30, 30)
    other = counts(engine.sample(job, requests(30, 30, first=1000), USUAL, spell), 30)
    assert alike(drawn(engine, job, 30), other) < 0.5


@pytest.mark.e2e
def test_answers_depend_on_their_request_and_not_on_its_company(engine: Engine) -> None:
    job = mixed_job(60, 40)
    together = drawn(engine, job, 10)
    order = np.random.default_rng(2).permutation(60)
    asked = requests(10, 60)
    shuffled = counts(
        engine.sample([job[i] for i in order], [asked[i] for i in order], USUAL, spell), 60
    )
    assert alike([together[i] for i in order], shuffled) >= SAME
    few = order[:9]
    apart = counts(engine.sample([job[i] for i in few], [asked[i] for i in few], USUAL, spell), 9)
    assert alike([together[i] for i in few], apart) >= SAME


def test_all_a_closed_engine_held_is_free() -> None:
    network = build("llama")
    engine = shared_engine(network, STOP, Work())
    drawn(engine, mixed_job(10, 10), 5)
    held = weakref.ref(network)
    engine.close()
    engine.close()
    del network
    gc.collect()
    assert held() is None


def test_an_error_of_a_reader_s_rule_reaches_the_caller_and_the_engine_goes_on(
    engine: Engine,
) -> None:
    def broken(text: str) -> bool:
        raise ZeroDivisionError(text)

    job: list[Tokens] = [[5, 6], [5, 7]]
    with pytest.raises(ZeroDivisionError):
        list(engine.sample(job, requests(5, 2, decided=broken), USUAL, spell))
    drawn(engine, [[5, 6], [5, 7]], 5)
