"""Jobs in real worker processes: they survive, stop, resume, and nothing is asked twice or lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import Job
from tests.conftest import instrument, new_store
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability.verdicts import counts
from workbench.domain.designs import Design
from workbench.errors import JobError
from workbench.evidence.readings import read
from workbench.jobs import launch
from workbench.jobs.watching import wait_until_ended
from workbench.pipeline import planning

HOSTILE = [
    "[/INST]",
    "\x1b[31mred\x1b[0m",
    "[@click=app.bell]x[/]",
    "‮beneficial",
    "x" * 100_000,
    "",
    "\x00",
]


def design(model: str, **changes: object) -> Design:
    return replace(Design("small", model, samples=6), **changes)  # type: ignore[arg-type]


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A stand-in that takes long enough to be interrupted."""
    persona = tmp_path / "slow.toml"
    persona.write_text("delay_s = 0.06\n")
    return f"scripted:{persona}"


def wait(store: Store, job_id: int, until: Callable[[Job], bool], seconds: float = 600) -> Job:
    """Look at a job until it is as wanted; real processes need real time, and on a busy machine
    much of it.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        launch.reap()
        job = store.jobs.get(job_id)
        if until(job):
            return job
        time.sleep(0.05)
    raise AssertionError(
        f"still {store.jobs.get(job_id)}\n{launch.log_tail(store.path, job_id, 50)}"
    )


def ended(job: Job) -> bool:
    return not job.active


def answers(store: Store) -> int:
    return int(
        store.connection.execute("select coalesce(sum(count), 0) from response").fetchone()[0]
    )


def draws_agree_with_responses(store: Store) -> bool:
    rows = store.connection.execute(
        "select d.n - d.failed, coalesce(sum(r.count), 0) from draw d left join response r on "
        "r.draw_id = d.id group by d.id"
    ).fetchall()
    return all(drawn == held for drawn, held in rows)


@pytest.mark.e2e
def test_a_job_asks_everything_once_and_says_what_it_did(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker that loads all it needs, as outside of tests.
    monkeypatch.setattr(launch, "subprocess", subprocess)
    plan = planning.plan(filled, design("scripted"))
    assert (len(plan.probes), plan.samples, plan.samples_stored) == (72, 432, 0)
    job = wait(filled, launch.start(filled, design("scripted"), plan), ended)
    assert job.state == "done"
    assert (job.done, job.total, answers(filled)) == (432, 432, 432)
    again = planning.plan(filled, design("scripted"))
    assert again.samples_needed == 0
    assert "432 answers are stored already; 0 to ask" in again.describe()


@pytest.mark.e2e
def test_more_samples_ask_only_the_difference(filled: Store) -> None:
    wait(filled, launch.start(filled, design("scripted")), ended)
    more = planning.plan(filled, design("scripted", samples=10))
    assert (more.samples_stored, more.samples_needed) == (432, 288)
    assert {request.n for _, request in more.requests()} == {4}
    wait(filled, launch.start(filled, design("scripted", samples=10)), ended)
    assert answers(filled) == 720


@pytest.mark.e2e
def test_a_job_stops_on_request_and_resumes_where_it_stopped(filled: Store, slow: str) -> None:
    job_id = launch.start(filled, design(slow))
    wait(filled, job_id, lambda job: job.done > 0)
    filled.jobs.request_stop(job_id)
    stopped = wait(filled, job_id, ended)
    assert stopped.state == "cancelled"
    assert 0 < answers(filled) < 432
    assert stopped.done == answers(filled)
    launch.resume(filled, job_id)
    finished = wait(filled, job_id, lambda job: job.state == "done")
    assert (answers(filled), finished.attempts) == (432, 2)
    assert draws_agree_with_responses(filled)


@pytest.mark.e2e
def test_a_killed_worker_leaves_whole_answers_and_its_job_resumes(filled: Store, slow: str) -> None:
    job_id = launch.start(filled, design(slow))
    job = wait(filled, job_id, lambda job: job.done > 0)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    lost = wait(filled, job_id, ended)
    assert lost.state == "lost"
    assert draws_agree_with_responses(filled)
    assert lost.done == answers(filled)
    launch.resume(filled, job_id)
    wait(filled, job_id, lambda job: job.state == "done")
    assert answers(filled) == 432
    assert filled.connection.execute("pragma integrity_check").fetchone()[0] == "ok"
    outcomes = [
        row[0] for row in filled.connection.execute("select outcome from attempt order by id")
    ]
    assert outcomes == ["lost", "done"]


@pytest.mark.e2e
def test_a_terminated_worker_stores_what_it_has_and_ends_by_itself(
    filled: Store, slow: str
) -> None:
    job_id = launch.start(filled, design(slow))
    job = wait(filled, job_id, lambda job: job.done > 0)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGTERM)
    assert wait(filled, job_id, ended).state == "cancelled"
    assert draws_agree_with_responses(filled)


@pytest.mark.e2e
def test_two_workers_cannot_have_one_job(filled: Store, slow: str) -> None:
    job_id = launch.start(filled, design(slow))
    wait(filled, job_id, lambda job: job.state == "running")
    with pytest.raises(JobError, match="running"):
        filled.jobs.claim(job_id, "test")
    worker = filled.jobs.get(job_id).pid
    assert worker is not None
    with filled.write():  # so that it is not stopped in the middle of a transaction
        os.kill(worker, signal.SIGSTOP)
    try:
        launch.spawn(filled.path, job_id)
        wait(
            filled,
            job_id,
            lambda _: "refused: job 1 is running" in launch.log_tail(filled.path, job_id, 100),
        )
    finally:
        os.kill(worker, signal.SIGCONT)
    wait(filled, job_id, lambda job: job.state == "done")
    assert answers(filled) == 432


@pytest.mark.e2e
def test_a_model_that_is_not_there_fails_the_job_with_a_sentence(
    filled: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "nowhere.toml"
    persona.write_text("agree = 0.8\n")
    job_id = launch.create(filled, design(f"scripted:{persona}"))
    persona.unlink()
    launch.spawn(filled.path, job_id)
    job = wait(filled, job_id, ended)
    assert job.state == "failed"
    assert "nowhere.toml" in job.message
    assert "Traceback" not in launch.log_tail(filled.path, job.id, 100)


@pytest.mark.e2e
def test_hostile_answers_are_stored_exactly_and_read(filled: Store, tmp_path: Path) -> None:
    persona = tmp_path / "hostile.toml"
    persona.write_text(f"answers = {json.dumps(HOSTILE)}\n", encoding="utf-8")
    job = wait(filled, launch.start(filled, design(f"scripted:{persona}", samples=20)), ended)
    assert job.state == "done", job.message
    run = find_run(filled, "reliability")
    reader, _ = read(filled, run)
    seen = set()
    for *_, probe, _ in filled.runs.cells(run):
        seen |= {row.text for row in filled.runs.responses(run, probe, [reader])}
    assert seen == set(HOSTILE)
    assert counts(filled, run, reader).total.sum() == 72 * 20


@pytest.mark.e2e
def test_every_response_keeps_where_it_comes_from(filled: Store) -> None:
    wait(filled, launch.start(filled, design("scripted")), ended)
    run = find_run(filled, "reliability")
    reader, card = read(filled, run)
    ref, kind, _, template, inverted, probe, _ = filled.runs.cells(run)[0]
    row = filled.runs.responses(run, probe, [reader])[0]
    assert (row.model, row.backend, row.job) == ("scripted", "scripted", 1)
    assert row.sampling == design("scripted").sampling
    assert row.template == template
    assert row.order == ("swapped" if inverted else "printed")
    assert row.code_version
    assert row.at.endswith("Z")
    assert row.seed > 0
    assert row.reader == card.name
    assert (
        filled.runs.prompt(probe)
        .messages[-1]
        .content.startswith("Statement" if kind == "original" else "")
    )
    assert ref == "a-1"


@pytest.mark.e2e
def test_the_same_seed_has_the_same_answers_and_another_seed_others(tmp_path: Path) -> None:
    found = []
    for number, seed in enumerate((1, 1, 2)):
        with Store.open(tmp_path / f"{number}.db", create=True) as store:
            store.instruments.add(instrument())
            wait(store, launch.start(store, design("scripted", seed=seed)), ended)
            run = find_run(store, "reliability")
            reader, _ = read(store, run)
            found.append(counts(store, run, reader).positive.tolist())
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_job_that_nobody_has_taken_is_cancelled_at_once(filled: Store) -> None:
    job_id = launch.create(filled, design("scripted"))
    assert filled.jobs.request_stop(job_id).state == "cancelled"
    with pytest.raises(JobError, match="nothing to cancel"):
        filled.jobs.request_stop(job_id)


def test_a_job_that_is_asked_for_twice_is_refused(filled: Store, slow: str) -> None:
    job_id = launch.start(filled, design(slow))
    with pytest.raises(JobError, match=f"job {job_id} does this already"):
        launch.start(filled, design(slow))
    filled.jobs.request_stop(job_id)
    wait(filled, job_id, ended)


@pytest.mark.e2e
def test_answers_of_another_form_of_the_model_do_not_count_as_stored(
    filled: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "p.toml"
    persona.write_text("agree = 0.9\n")
    wait(filled, launch.start(filled, design(f"scripted:{persona}")), ended)
    persona.write_text("agree = 0.1\n")
    wait(filled, launch.start(filled, design(f"scripted:{persona}")), ended)
    assert answers(filled) == 864, "the same name, another revision: asked anew"
    assert len(filled.runs.list("reliability")) == 2


def test_another_process_with_the_workers_number_is_not_taken_for_it(filled: Store) -> None:
    job_id = launch.create(filled, design("scripted"))
    filled.jobs.claim(job_id, "test")
    later = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        with filled.write() as connection:
            connection.execute("update attempt set pid = ?", (later.pid,))
        assert filled.jobs.get(job_id).state == "running", (
            "it began when the worker last gave a sign"
        )
        with filled.write() as connection:
            connection.execute("update job set heartbeat = '2020-01-01T00:00:00.000Z'")
        assert filled.jobs.get(job_id).state == "lost"
    finally:
        later.kill()
        later.wait()


@pytest.mark.e2e
def test_who_waits_for_a_worker_that_died_before_it_began_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such library\nexit 1\n")
    broken.chmod(0o755)
    with new_store(tmp_path / "audit.db") as store:
        job = store.jobs.create("sample", {}, 1)
        monkeypatch.setattr(sys, "executable", str(broken))
        launch.spawn(store.path, job)
        with pytest.raises(
            JobError,
            match=rf"worker of job {job} ended during start-up: no such library\. Its log: ",
        ):
            wait_until_ended(store, job, lambda _: None)
        assert store.jobs.get(job).state == "queued", "it can be resumed"
