"""What served models may cost: limits hold whatever calls turn out to cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import UsageError
from workbench.inference.served.budget import Account, Budget, Room, Usage, budget_from, estimate

PRICED = {"WORKBENCH_MAX_COST": "2.5", "WORKBENCH_PRICE_IN": "0.15", "WORKBENCH_PRICE_OUT": "0.6"}


def test_limits_and_prices_come_from_the_environment() -> None:
    assert budget_from({}) == Budget()
    found = budget_from(
        PRICED | {"WORKBENCH_MAX_REQUESTS": "1_000", "WORKBENCH_MAX_TOKENS": " 20000 "}
    )
    assert found == Budget(1000, 20000, 2.5, 0.15, 0.6)


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf", "1,5"])
def test_a_limit_that_is_no_number_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"\$WORKBENCH_MAX_REQUESTS is"):
        budget_from({"WORKBENCH_MAX_REQUESTS": text})


def test_a_limit_of_cost_needs_prices() -> None:
    with pytest.raises(UsageError, match="WORKBENCH_PRICE_IN"):
        budget_from({"WORKBENCH_MAX_COST": "2"})


def test_cost_is_that_of_both_prices_a_million_tokens() -> None:
    budget = budget_from(PRICED)
    assert budget.cost(Usage(3, 2_000_000, 500_000)) == pytest.approx(0.15 * 2 + 0.6 * 0.5)
    assert Budget().cost(Usage(1, 1, 1)) is None
    assert "a cost of 0.6" in budget.describe(Usage(3, 2_000_000, 500_000))


def test_an_estimate_counts_every_answer_at_its_longest() -> None:
    prompt = Prompt((Message("user", "x" * 300),))
    found = estimate([Request(prompt, 30, 1), Request(prompt, 10, 2)], Sampling(max_new_tokens=20))
    assert (found.requests, found.answer_tokens) == (2, 40 * 20)
    assert 2 * 100 <= found.prompt_tokens <= 2 * 130


def test_where_a_call_has_one_answer_a_prompt_is_paid_for_each_of_them() -> None:
    requests = [Request(Prompt((Message("user", "x" * 300),)), 30, 1)]
    together, alone = (
        estimate(requests, Sampling(max_new_tokens=20), alone=alone) for alone in (False, True)
    )
    assert (together.requests, alone.requests) == (1, 30)
    assert alone.prompt_tokens == 30 * together.prompt_tokens
    assert alone.answer_tokens == together.answer_tokens


def test_every_limit_that_is_broken_is_named() -> None:
    budget = Budget(max_requests=3, max_tokens=100, max_cost=1, price_in=1, price_out=1)
    assert budget.exceeded(Usage(4, 90, 20)) == "3 requests and 100 tokens"
    assert budget.exceeded(Usage(3, 90, 10)) == ""


def test_a_count_is_a_whole_number_and_one_price_needs_the_other() -> None:
    with pytest.raises(UsageError, match=r"WORKBENCH_MAX_REQUESTS is '0.5'; it is a count"):
        budget_from({"WORKBENCH_MAX_REQUESTS": "0.5"})
    with pytest.raises(UsageError, match=r"\$WORKBENCH_PRICE_OUT is not set"):
        budget_from({"WORKBENCH_PRICE_IN": "1"})


calls = st.lists(
    st.tuples(st.integers(1, 50), st.integers(1, 50), st.floats(0, 1), st.integers(0, 3)),
    max_size=40,
)


@given(st.integers(0, 20), st.integers(0, 400), calls)
def test_a_budget_is_never_exceeded_however_calls_overlap(
    requests: int, tokens: int, wanted: list[tuple]
) -> None:  # type: ignore[type-arg]
    account = Account(
        Budget(max_requests=requests, max_tokens=tokens, max_cost=1e-3, price_in=1, price_out=4)
    )
    under_way: list[tuple[Usage, Usage]] = []
    for prompt, answer, share, ending in wanted:
        dearest = Usage(1, prompt, answer)
        room = account.set_aside(dearest)
        if room is Room.FREE:
            under_way.append((dearest, Usage(1, prompt, int(answer * share))))
        elif room is Room.TAKEN:
            assert under_way, "there is something to wait for"
        for _ in range(min(ending, len(under_way))):
            account.book(*under_way.pop(0))
        assert not account.budget.exceeded(account.spent)
    for pair in under_way:
        account.book(*pair)
    assert not account.budget.exceeded(account.spent)
