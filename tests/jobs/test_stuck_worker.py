"""A worker that hears nothing, because it is stuck in its model, is ended by cancelling its job
twice.
"""

from __future__ import annotations

import time

import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import FaultyServer
from tests.jobs.test_jobs import wait
from workbench.domain.designs import Design
from workbench.jobs import launch
from workbench.jobs.tidying import cancel


@pytest.mark.e2e
def test_a_stuck_worker_is_ended_by_cancelling_twice(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT_S", "300")
    with FaultyServer(lambda call, _: "hang" if call >= 4 else "") as server:
        number = launch.start(filled, Design("small", server.name, samples=2))
        job = wait(
            filled, number, lambda one: one.state == "running" and len(server.asked) > 4, seconds=60
        )
        assert job.worker
        cancel(filled, number)
        began = time.monotonic()
        job, _ = cancel(filled, number)
        assert job.state == "cancelled"
        assert time.monotonic() - began < 10
        assert not filled.jobs.is_here(number)
