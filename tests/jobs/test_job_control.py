"""Jobs are paused, resumed, retried, throttled and queued while real worker processes run; whatever
ends a worker, what is stored is whole, and nothing is asked twice.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.jobs.jobs import Orders
from tests.jobs.drafting import start_drafting
from tests.jobs.faulty_server import FaultyServer
from tests.jobs.test_draft_jobs import ONE
from tests.jobs.test_jobs import answers, design, draws_agree_with_responses, ended, slow, wait
from workbench.domain.designs import Design
from workbench.errors import JobError, StoreError, UsageError
from workbench.jobs import launch, worker
from workbench.jobs.task import Control
from workbench.pipeline.drafting import DraftSpec

__all__ = ["slow"]


def paused(job: Job) -> bool:
    return job.state == "paused" and bool(job.message)


def started(store: Store, model: str) -> int:
    """Start a job and let some of its answers be stored."""
    job_id = launch.start(store, design(model))
    wait(store, job_id, lambda job: job.done > 0)
    return job_id


def pids(store: Store) -> list[int]:
    return [row[0] for row in store.connection.execute("select pid from attempt order by id")]


def log(store: Store, job_id: int = 1) -> str:
    return launch.log_tail(store.path, job_id, 1000)


@pytest.mark.e2e
def test_a_paused_job_has_stored_what_it_has_and_goes_on_in_the_same_worker(
    filled: Store, slow: str
) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    job = wait(filled, job_id, paused)
    assert job.worker
    assert job.active
    assert "paused on request" in job.message
    assert "Its worker stays ready for 10 min" in job.message
    assert 0 < job.done == answers(filled) < 432
    time.sleep(1.5)
    assert answers(filled) == job.done, "a paused job asks nothing"
    assert launch.resume(filled, job_id) is None, "its worker is there"
    assert wait(filled, job_id, ended).state == "done"
    assert answers(filled) == 432
    assert len(pids(filled)) == 1
    assert log(filled).count("loading") == 1, "the model stayed loaded"
    assert "goes on" in log(filled)
    assert draws_agree_with_responses(filled)


@pytest.mark.e2e
def test_a_worker_that_holds_a_paused_job_sleeps(filled: Store, slow: str) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    job = wait(filled, job_id, paused)
    before = cpu_seconds(job.pid or 0)
    time.sleep(2.0)
    assert cpu_seconds(job.pid or 0) - before < 0.6, (
        "it looks about once a second, and computes nothing"
    )
    filled.jobs.request_stop(job_id)
    wait(filled, job_id, ended)


def test_only_news_ends_a_wait() -> None:
    control = Control()
    control.hear(Orders(pause=True))
    control.wait(5.0)  # that was news
    control.hear(Orders(pause=True))
    began = time.monotonic()
    control.wait(0.2)
    assert time.monotonic() - began >= 0.2, "to hear the same again is none"


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        pytest.skip("no /proc here that says how long a process computed")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.e2e
def test_a_worker_that_is_killed_while_its_job_is_paused_loses_nothing(
    filled: Store, slow: str
) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    job = wait(filled, job_id, paused)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    left = wait(filled, job_id, lambda found: not found.worker)
    assert left.state == "paused", (
        "that is what its person wanted, and resuming starts another worker"
    )
    assert not left.active
    assert left.done == answers(filled)
    assert launch.resume(filled, job_id) is not None
    assert wait(filled, job_id, lambda found: found.state == "done").attempts == 2
    assert answers(filled) == 432
    assert filled.connection.execute("pragma integrity_check").fetchone()[0] == "ok"


@pytest.mark.e2e
def test_a_paused_job_outlives_its_workers_patience(
    filled: Store, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_HOLD_S", "0")
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    job = wait(filled, job_id, lambda found: paused(found) and not found.worker)
    assert "stays ready" not in job.message
    assert [row[0] for row in filled.connection.execute("select outcome from attempt")] == [
        "paused"
    ]
    assert launch.resume(filled, job_id) is not None
    assert wait(filled, job_id, lambda found: found.state == "done").attempts == 2
    assert answers(filled) == 432


@pytest.mark.e2e
def test_a_worker_that_is_terminated_while_paused_leaves_its_job_paused(
    filled: Store, slow: str
) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    job = wait(filled, job_id, paused)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGTERM)
    assert wait(filled, job_id, lambda found: not found.worker).state == "paused"


@pytest.mark.e2e
def test_a_paused_job_is_cancelled_with_and_without_a_worker(filled: Store, slow: str) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    wait(filled, job_id, paused)
    filled.jobs.request_stop(job_id)
    job = wait(filled, job_id, ended)
    assert job.state == "cancelled"
    assert "stopped on request" in job.message
    second = launch.create(filled, design("scripted"))
    filled.jobs.pause(second)
    assert filled.jobs.get(second).state == "paused"
    assert filled.jobs.request_stop(second).state == "cancelled"


@pytest.mark.e2e
def test_a_job_that_is_resumed_before_it_has_paused_just_goes_on(filled: Store, slow: str) -> None:
    job_id = started(filled, slow)
    filled.jobs.pause(job_id)
    launch.resume(filled, job_id)
    assert wait(filled, job_id, ended).state == "done"
    assert answers(filled) == 432


@pytest.mark.e2e
def test_a_job_that_waits_for_a_worker_is_paused_at_once_and_no_worker_takes_it(
    filled: Store,
) -> None:
    job_id = launch.create(filled, design("scripted"))
    assert filled.jobs.pause(job_id).state == "paused"
    with pytest.raises(JobError, match="job 1 is paused"):
        filled.jobs.claim(job_id, "test")
    with pytest.raises(JobError, match="is paused; resume it"):
        launch.create(filled, design("scripted"))
    with pytest.raises(JobError, match="only a job that runs or waits to can be paused"):
        filled.jobs.pause(job_id)
    launch.resume(filled, job_id)
    assert wait(filled, job_id, ended).state == "done"


@pytest.mark.e2e
def test_a_job_that_was_cancelled_before_its_worker_came_is_not_begun(filled: Store) -> None:
    job_id = launch.create(filled, design("scripted"))
    filled.jobs.request_stop(job_id)
    launch.spawn(filled.path, job_id)
    deadline = time.monotonic() + 600
    while "refused" not in log(filled) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "refused: job 1 was cancelled" in log(filled)
    assert answers(filled) == 0


def doubtful(text: str) -> bool:
    """Whether the server below refuses a prompt: those about one statement."""
    return "Repeal: Statement a-2" in text


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server that refuses some prompts until it is mended."""

    def fault(_call: int, body: dict[str, object]) -> str:
        return "400" if doubtful(str(body["messages"])) else ""

    with FaultyServer(fault) as running:
        yield running


@pytest.mark.e2e
def test_a_retry_asks_only_what_failed(filled: Store, server: FaultyServer) -> None:
    asked = Design("small", server.name, samples=3)
    job = wait(filled, launch.start(filled, asked), ended)
    assert job.state == "failed"
    assert job.failed_items == 4 * 3, "two templates in two orders"
    with filled.write() as connection:  # as if some had never been asked
        lost = "select d.id from draw d where d.failed = 0 order by d.id limit 5"
        connection.execute(f"delete from response where draw_id in ({lost})")
        connection.execute(f"delete from draw where id in ({lost})")
    before = len(server.asked)
    server.fault = lambda _call, _body: ""
    launch.retry(filled, job.id)
    job = wait(filled, job.id, ended)
    again = server.asked[before:]
    assert len(again) == 4
    assert all(doubtful(str(call.body["messages"])) for call in again)
    assert job.state == "cancelled"
    assert "what had failed is answered; 201 of 216 answers are stored" in job.message
    launch.resume(filled, job.id)
    assert wait(filled, job.id, ended).state == "done"
    assert answers(filled) == 216


@pytest.mark.e2e
def test_there_is_nothing_to_retry_where_nothing_failed(filled: Store, slow: str) -> None:
    job_id = started(filled, slow)
    with pytest.raises(JobError, match="once it has ended"):
        launch.retry(filled, job_id)
    filled.jobs.request_stop(job_id)
    wait(filled, job_id, ended)
    with pytest.raises(JobError, match="nothing that job 1 asked has failed"):
        launch.retry(filled, job_id)


@pytest.mark.e2e
def test_the_calls_at_once_change_while_a_job_runs(filled: Store) -> None:
    with FaultyServer(lambda _call, _body: "slow") as server:
        server.pause_s = 0.15
        job_id = launch.create(filled, Design("small", server.name, samples=3))
        filled.jobs.set_concurrency(job_id, 1)
        launch.spawn(filled.path, job_id)
        job = wait(filled, job_id, lambda found: found.done > 0)
        assert server.most_at_once == 1
        assert job.progress["at_once_most"] == 1
        filled.jobs.set_concurrency(job_id, 6)
        assert wait(filled, job_id, ended).state == "done"
        assert 1 < server.most_at_once <= 6
    told = filled.jobs.get(job_id).progress
    assert told["requests"] == 72
    assert told["tokens_out"] > 0
    with pytest.raises(UsageError, match="give 1 or more"):
        filled.jobs.set_concurrency(job_id, 0)
    with pytest.raises(JobError, match="is done"):
        filled.jobs.set_concurrency(job_id, 2)


@pytest.mark.e2e
def test_answers_that_are_paid_and_under_way_are_kept_when_a_job_pauses(filled: Store) -> None:
    with FaultyServer(lambda _call, _body: "slow") as server:
        server.pause_s = 0.4
        job_id = launch.start(filled, Design("small", server.name, samples=3))
        wait(filled, job_id, lambda found: found.done > 0)
        filled.jobs.pause(job_id)
        job = wait(filled, job_id, paused)
        assert answers(filled) == job.done == len(server.delivered()) < 216
        launch.resume(filled, job_id)
        assert wait(filled, job_id, ended).state == "done"
        assert len(server.delivered()) == 216, "nothing was paid twice"


def in_lane(store: Store, state: str) -> int:
    """A job of this machine's lane, had by this very process."""
    job_id = store.jobs.create("train", {"name": state}, 1)
    if state == "running":
        assert store.jobs.claim_in_turn(job_id, "test", socket.gethostname()).attempt
    return job_id


def test_a_setting_that_no_worker_understands_queues_nothing(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("WORKBENCH_LOCAL_JOBS", "WORKBENCH_HOLD_S"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "abc")
            with pytest.raises(UsageError, match=variable):
                launch.start(filled, design("scripted"))
    assert filled.jobs.list() == ()


def test_jobs_that_load_a_model_here_take_turns_and_others_do_not_wait(store: Store) -> None:
    lane = socket.gethostname()
    first, second, third = (
        in_lane(store, "running"),
        in_lane(store, "second"),
        in_lane(store, "third"),
    )
    for job_id, ahead in ((second, (first,)), (third, (first, second))):
        turn = store.jobs.claim_in_turn(job_id, "test", lane)
        assert (turn.attempt, turn.ahead) == (None, ahead)
    assert store.jobs.get(second).message.startswith("waits for job 1")
    assert store.jobs.get(second).worker
    assert store.jobs.waited_for(first, lane)
    assert store.jobs.claim_in_turn(in_lane(store, "elsewhere"), "test", "another machine").attempt
    assert store.jobs.claim_in_turn(in_lane(store, "two at once"), "test", lane, most=4).attempt
    store.jobs.request_stop(5)
    store.jobs.finish(first, 1, "done")
    with store.write() as connection:
        connection.execute("update attempt set ended_at = 'now' where job_id = 5")
        connection.execute("update job set state = 'done' where id = 5")
    assert store.jobs.claim_in_turn(third, "test", lane).ahead == (second,), (
        "the smaller number goes first"
    )
    assert store.jobs.claim_in_turn(second, "test", lane).attempt
    assert not store.jobs.resume(third), "its worker is there; it is told to begin now"
    assert store.jobs.claim_in_turn(third, "test", lane).attempt


@pytest.mark.parametrize(
    ("kind", "spec", "waits"),
    [
        ("sample", {"model": "smollm2"}, True),
        ("sample", {"model": "scripted:x.toml"}, False),
        ("draft", {"model": "openai:gpt@http://localhost/v1"}, False),
        ("draft", {"model": "scripted-llama"}, True),
        ("train", {"name": "x"}, True),
        ("classify", {"classifier": "x"}, True),
        ("check", {"encoder": "minilm"}, True),
    ],
)
def test_only_what_is_computed_here_takes_turns(
    store: Store, kind: str, spec: dict[str, object], waits: bool
) -> None:
    assert bool(launch.lane_of(store.jobs.get(store.jobs.create(kind, spec, 1)))) == waits


@pytest.mark.e2e
def test_a_worker_waits_for_its_turn_and_is_told_to_begin(filled: Store) -> None:
    first = in_lane(filled, "running")
    job_id = launch.create(filled, design("nowhere/at-all"))
    launch.spawn(filled.path, job_id)
    job = wait(filled, job_id, lambda found: f"waits for job {first}" in found.message)
    assert (job.state, job.attempts) == ("queued", 0)
    assert launch.resume(filled, job_id) is None
    said = wait(filled, job_id, ended).message
    assert "no model could be loaded" in said
    assert "Resume the job when this is fixed" in said


@pytest.mark.e2e
def test_a_worker_that_waits_for_its_turn_lets_go_of_a_cancelled_job(filled: Store) -> None:
    in_lane(filled, "running")
    job_id = launch.create(filled, design("nowhere/at-all"))
    launch.spawn(filled.path, job_id)
    wait(filled, job_id, lambda found: "waits for job" in found.message)
    filled.jobs.request_stop(job_id)
    deadline = time.monotonic() + 600
    while "refused" not in log(filled, job_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert f"refused: job {job_id} was cancelled" in log(filled, job_id)


@pytest.mark.e2e
def test_a_paused_job_makes_room_for_one_that_waits(
    filled: Store, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = socket.gethostname()
    # As if the stand-in were a model of this machine.
    monkeypatch.setattr(worker, "lane_of", lambda _job: lane)
    job_id = launch.create(filled, design(slow))
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run_here(filled.path, job_id)))
    thread.start()
    wait(filled, job_id, lambda job: job.done > 0)
    filled.jobs.pause(job_id)
    wait(filled, job_id, paused)
    other = filled.jobs.create("train", {"name": "x"}, 1)
    assert filled.jobs.claim_in_turn(other, "test", lane).ahead == (job_id,), (
        "its memory is not free yet"
    )
    thread.join(timeout=30)
    assert codes == [3]
    assert filled.jobs.get(job_id).state == "paused"
    assert filled.jobs.claim_in_turn(other, "test", lane).attempt


def run_here(path: Path, job_id: int, free: object = None) -> int:
    """Run a worker in this process, where its parts can be replaced; it minds no signals then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.jobs.worker.signal.signal", lambda *_: None)
        return worker.run(path, job_id, free=free or (lambda _: 10**12))  # type: ignore[arg-type]


@pytest.mark.e2e
def test_a_full_disk_ends_a_job_before_anything_is_lost(filled: Store, slow: str) -> None:
    job_id = launch.create(filled, design(slow))

    def free(_folder: Path) -> int:
        return 10**12 if answers_of(filled.path) == 0 else 5_000_000

    assert run_here(filled.path, job_id, free) == 1
    job = filled.jobs.get(job_id)
    assert job.state == "failed"
    assert "stopped: only 5 MB are free in" in job.message
    assert "$WORKBENCH_MIN_FREE_MB" in job.message
    assert 0 < job.done == answers(filled) < 432
    assert draws_agree_with_responses(filled)
    launch.resume(filled, job_id)
    assert wait(filled, job_id, ended).state == "done"


def answers_of(path: Path) -> int:
    with Store.open(path) as store:
        return answers(store)


def test_a_job_is_not_begun_on_a_full_disk(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = launch.create(filled, design("scripted"))
    assert run_here(filled.path, job_id, lambda _: 1_000_000) == 1
    assert "only 1 MB are free" in filled.jobs.get(job_id).message
    assert answers(filled) == 0
    monkeypatch.setenv("WORKBENCH_MIN_FREE_MB", "1e15")
    with pytest.raises(StoreError, match=r"are free in .* nothing was started"):
        launch.resume(filled, job_id)
    with pytest.raises(StoreError, match="are free in"):
        launch.create(filled, replace(design("scripted"), seed=9))
    monkeypatch.setenv("WORKBENCH_MIN_FREE_MB", "plenty")
    with pytest.raises(UsageError, match="'plenty'; give a number of megabytes"):
        launch.create(filled, replace(design("scripted"), seed=9))


@pytest.mark.e2e
def test_a_worker_that_was_taken_for_gone_lets_the_next_one_have_the_job(
    filled: Store, slow: str
) -> None:
    job_id = started(filled, slow)
    old = filled.jobs.get(job_id).pid
    with filled.write() as connection:  # as another machine sees one that slept
        connection.execute("update attempt set host = 'elsewhere'")
        connection.execute("update job set heartbeat = '2020-01-01T00:00:00.000Z'")
        row = connection.execute("select id from attempt").fetchone()
        connection.execute("update job set state = 'queued' where id = ?", (job_id,))
    second = filled.jobs.claim(job_id, "test")
    assert second != row[0]
    deadline = time.monotonic() + 600
    while "another worker has the job now" not in log(filled) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "another worker has the job now" in log(filled)
    job = filled.jobs.get(job_id)
    assert (job.state, job.pid) == ("running", os.getpid())
    assert old != os.getpid()


def test_two_terminals_that_resume_a_lost_job_start_one_worker_that_has_it(filled: Store) -> None:
    job_id = launch.create(filled, design("scripted"))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    filled.jobs.claim(job_id, "test")
    with filled.write() as connection:
        connection.execute("update attempt set pid = ?", (gone.pid,))
    assert filled.jobs.get(job_id).state == "lost"
    filled.jobs.claim(job_id, "first")
    with (
        Store.open(filled.path) as other,
        pytest.raises(JobError, match="job 1 is running by process"),
    ):
        other.jobs.claim(job_id, "second")


@pytest.mark.e2e
def test_a_retry_of_drafts_asks_only_the_calls_that_failed(filled: Store) -> None:
    def refuses(_call: int, body: dict[str, object]) -> str:
        return "400" if "Statement a-2" in str(body["messages"]) else ""

    with FaultyServer(refuses) as running:
        asked = DraftSpec("small", running.name, (ONE,))
        job = wait(filled, start_drafting(filled, asked), ended)
        assert (job.state, job.done, job.total, len(job.failures)) == ("failed", 2, 3, 1)
        before = len(running.asked)
        running.fault = lambda _call, _body: ""
        launch.retry(filled, job.id)
        job = wait(filled, job.id, ended)
        again = running.asked[before:]
    assert (job.state, job.done, job.failures) == ("done", 3, ())
    assert len(again) == 1
    assert "Statement a-2" in str(again[0].body["messages"])


def test_a_clock_that_went_back_makes_no_worker_silent(store: Store) -> None:
    lane = socket.gethostname()
    in_lane(store, "running")
    waiting = store.jobs.create("train", {}, 1)
    assert store.jobs.claim_in_turn(waiting, "test", lane).attempt is None
    with store.write() as connection:
        connection.execute("update job set heartbeat = '2099-01-01T00:00:00.000Z'")
    assert store.jobs.get(waiting).worker
    assert store.jobs.get(1).state == "running"
    with store.write() as connection:
        connection.execute(
            "update job set heartbeat = '2020-01-01T00:00:00.000Z' where id = ?", (waiting,)
        )
    assert not store.jobs.get(waiting).worker, (
        "a waiting worker that says nothing for a minute is gone"
    )
