"""How fast a server is asked: waits, what a server says about waiting, concurrency that adapts."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from workbench.errors import UsageError
from workbench.inference.served.client import (
    FIRST_LIMIT,
    CallPace,
    RetryPolicy,
    retry_after,
    retry_policy_from,
    wait_before,
)


def test_waits_double_up_to_the_longest_with_jitter_that_a_seed_repeats() -> None:
    patience = RetryPolicy(first_wait_s=0.5, longest_wait_s=8.0)
    waits = [wait_before(attempt, patience, np.random.default_rng(1)) for attempt in range(1, 9)]
    again = [wait_before(attempt, patience, np.random.default_rng(1)) for attempt in range(1, 9)]
    assert waits == again
    for wait, whole in zip(waits, [0.5, 1, 2, 4, 8, 8, 8, 8], strict=True):
        assert whole / 2 <= wait <= whole
    rng = np.random.default_rng(2)
    assert len({wait_before(3, patience, rng) for _ in range(20)}) == 20, (
        "calls do not come back together"
    )
    assert wait_before(10_000, patience, rng) <= 8


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_a_server_names_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    now = 1445412480.0  # 2015-10-21 07:28:00 UTC
    assert retry_after(headers, now) == seconds


def test_patience_comes_from_the_environment() -> None:
    assert retry_policy_from({}) == RetryPolicy()
    found = retry_policy_from({"WORKBENCH_CONCURRENCY": "2", "WORKBENCH_TIMEOUT_S": "30"})
    assert (found.concurrency, found.reply_s) == (2, 30)
    with pytest.raises(UsageError, match="WORKBENCH_TIMEOUT_S"):
        retry_policy_from({"WORKBENCH_TIMEOUT_S": "long"})


async def test_calls_at_once_grow_by_one_a_round_and_halve_once_for_calls_that_failed_together() -> (
    None
):
    pace = CallPace(8)
    for _ in range(FIRST_LIMIT):
        pace.raise_limit()
    assert pace.limit == FIRST_LIMIT + 1
    for _ in range(100):
        pace.raise_limit()
    assert pace.limit == 8
    slots = [pace.slot() for _ in range(8)]
    for slot in slots:
        await slot.__aenter__()
    for slot in slots:
        slot.too_much()
    assert pace.limit == 4, "eight calls of one round that fail are one piece of news"
    for slot in slots:
        await slot.__aexit__(None, None, None)
    for _ in range(5):
        async with pace.slot() as slot:
            slot.too_much()
    assert pace.limit == 1


async def test_no_more_calls_are_under_way_than_the_limit_and_a_cancelled_one_gives_its_place_back() -> (
    None
):
    pace = CallPace(3)
    most = 0

    async def call() -> None:
        nonlocal most
        async with pace.slot():
            most = max(most, pace.under_way)
            await asyncio.sleep(0.001)

    tasks = [asyncio.create_task(call()) for _ in range(30)]
    await asyncio.sleep(0)
    for task in tasks[::5]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (most, pace.under_way) == (3, 0)
