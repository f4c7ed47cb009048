"""Served models that change while they are asked: every answer stays with the snapshot that gave
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.run_rows import Run
from tests.jobs.faulty_server import Asked, FaultyServer, prompt_of
from tests.jobs.test_jobs import answers, draws_agree_with_responses, ended, wait
from workbench.audits.chosen_run import find_run
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY, ModelCard
from workbench.errors import AmbiguousRun
from workbench.jobs import launch, worker
from workbench.pipeline import planning

OLD, NEW, THIRD, FOURTH = "parrot-2026-01", "parrot-2026-02", "parrot-2026-03", "parrot-2026-04"
TOTAL = 216
"answers of `design`: 72 prompts, 3 each"


@pytest.fixture(autouse=True)
def one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls come in order, so that a test can say which of them the endpoint answers with what."""
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")


def design(server: FaultyServer) -> Design:
    return Design("small", server.name, samples=3)


def reports(
    server: FaultyServer, *turns: tuple[int, str]
) -> Callable[[Asked], tuple[str | None, str | None]]:
    """Report each snapshot from the call with that number on."""

    def report(asked: Asked) -> tuple[str | None, str | None]:
        number = next(n for n, call in enumerate(server.asked) if call is asked)
        return next(name for first, name in reversed(turns) if number >= first), None

    return report


def done(store: Store, asked: FaultyServer | Design) -> Job:
    """Do a job in this process, which is quicker; its worker minds no signals then."""
    return go_on(store, launch.create(store, asked if isinstance(asked, Design) else design(asked)))


def go_on(store: Store, number: int) -> Job:
    log = launch.log_path(store.path, number)
    log.parent.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, log.open("a") as file, redirect_stdout(file):
        patch.setattr("workbench.jobs.worker.signal.signal", lambda *_: None)
        worker.run(store.path, number)
    return store.jobs.get(number)


def resumed(store: Store, number: int) -> Job:
    assert store.jobs.resume(number)
    return go_on(store, number)


def told(server: FaultyServer) -> dict[str, str]:
    """Return which snapshot gave each answer, as the server remembers it."""
    return {text: str(server.report(call)[0]) for call in server.asked for text in call.serials}


def held(store: Store) -> dict[str, str]:
    """Return which snapshot gave each answer, as it is stored."""
    rows = store.connection.execute(
        "select t.body, m.snapshot from response r join text t on t.id = r.text_id join draw d on "
        "d.id = r.draw_id join model m on m.id = d.model_id"
    )
    return dict(rows.fetchall())


def by_snapshot(store: Store) -> dict[str, Run]:
    return {run.snapshot: run for run in store.runs.list("reliability")}


@pytest.mark.e2e
def test_answers_of_two_snapshots_are_two_runs_and_the_prompt_at_hand_is_asked_anew(
    filled: Store,
) -> None:
    with FaultyServer(lambda _call, _body: "only one") as server:
        server.report = reports(server, (0, OLD), (31, NEW))
        job = wait(filled, launch.start(filled, design(server)), ended)
        log = launch.log_tail(filled.path, job.id, 100)
        assert held(filled) == told(server), (
            "an answer stands under a snapshot that did not give it"
        )
        asked = Counter(prompt_of(call.body) for call in server.asked)
    assert job.state == "done", job.message
    runs = by_snapshot(filled)
    assert {name: run.responses for name, run in runs.items()} == {OLD: 31, NEW: 186}
    assert runs[NEW].prompts == 62, "61 prompts were not begun, and the one at hand was asked anew"
    per_prompt = filled.connection.execute(
        "select d.model_id, d.prompt_id, sum(d.n - d.failed) from draw d group by 1, 2"
    ).fetchall()
    assert sorted(Counter(n for *_, n in per_prompt).items()) == [(1, 1), (3, 72)]
    assert sum(asked.values()) == TOTAL + 1, (
        "one answer was given up to the old snapshot, none was paid twice"
    )
    assert f"answers with {NEW} now, with {OLD} before" in log
    assert [(share.snapshot, share.answers) for share in job.snapshots] == [(OLD, 31), (NEW, 186)]
    assert "several snapshots" in job.message
    assert draws_agree_with_responses(filled)


@pytest.mark.e2e
def test_runs_of_two_snapshots_are_named_and_chosen_by_them(filled: Store) -> None:
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (40, NEW))
        done(filled, server)
    with pytest.raises(
        AmbiguousRun, match=rf"--snapshot(.|\n)*snapshot {OLD}(.|\n)*snapshot {NEW}"
    ):
        find_run(filled, "reliability")
    run = find_run(filled, "reliability", snapshot=OLD)
    assert (run.snapshot, run.responses) == (OLD, 120)
    assert f"snapshot {OLD}" in run.label


@pytest.mark.e2e
def test_calls_that_were_under_way_at_the_change_are_no_return_of_the_old_snapshot(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "8")
    with FaultyServer(lambda _call, _body: "slow") as server:
        server.report = reports(server, (0, OLD), (30, NEW))
        job = done(filled, server)
        assert held(filled) == told(server)
    assert job.state == "done", job.message
    assert set(by_snapshot(filled)) == {OLD, NEW}


@pytest.mark.e2e
def test_a_job_pauses_where_an_earlier_snapshot_returns_and_goes_on_when_a_person_says_so(
    filled: Store,
) -> None:
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (10, NEW), (20, OLD))
        job = done(filled, server)
        assert (job.state, job.worker) == ("paused", False)
        assert "an earlier snapshot has returned" in job.message
        assert f"{OLD}: 33 answers, 11 calls, 110 + 99 tokens" in job.message
        assert f"{NEW}: 30 answers, 10 calls" in job.message
        assert answers(filled) == 63 == len(server.delivered()), "what was paid is stored"
        job = resumed(filled, job.id)
        assert job.state == "done", job.message
        assert held(filled) == told(server)
        assert len(server.asked) == 72, (
            "prompts that a snapshot has answered in full are not asked again"
        )


@pytest.mark.e2e
def test_what_each_snapshot_cost_is_said(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_PRICE_IN", "1000")
    monkeypatch.setenv("WORKBENCH_PRICE_OUT", "2000")
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (10, NEW), (20, OLD))
        job = done(filled, server)
    assert f"{NEW}: 30 answers, 10 calls, 100 + 90 tokens, a cost of 0.28" in job.message


def test_three_changes_pause_a_job(filled: Store) -> None:
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (5, NEW), (10, THIRD), (15, FOURTH))
        job = done(filled, server)
    assert job.state == "paused"
    assert "it has changed 3 times" in job.message
    assert set(by_snapshot(filled)) == {OLD, NEW, THIRD, FOURTH}


@pytest.mark.e2e
def test_a_change_between_two_attempts_is_one_of_the_job(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "30")
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (30, NEW))
        job = done(filled, server)
        assert job.state == "failed"
        monkeypatch.delenv("WORKBENCH_MAX_REQUESTS")
        job = resumed(filled, job.id)
        assert job.state == "done", job.message
        assert len(server.asked) == 72
        assert {name: run.responses for name, run in by_snapshot(filled).items()} == {
            OLD: 90,
            NEW: 126,
        }
    assert f"answers with {NEW} now, with {OLD} before" in launch.log_tail(filled.path, job.id, 100)


@pytest.mark.e2e
def test_another_job_asks_the_new_snapshot_everything_and_the_same_one_nothing(
    filled: Store,
) -> None:
    with FaultyServer() as server:
        server.report = reports(server, (0, OLD), (72, NEW))
        done(filled, server)
        assert planning.plan(filled, design(server)).samples_needed == 0
        more = Design("small", server.name, samples=4)
        job = done(filled, more)
        assert (job.state, job.done) == ("done", 288), job.message
        assert {name: run.responses for name, run in by_snapshot(filled).items()} == {
            OLD: TOTAL,
            NEW: 288,
        }


@pytest.mark.e2e
def test_a_model_from_before_snapshots_were_kept_stays_a_run_of_its_own(filled: Store) -> None:
    with FaultyServer() as server:
        server.report = lambda _: (None, None)
        done(filled, server)
        (run,) = filled.runs.list("reliability")
        assert "snapshot unknown" in run.label
        key = filled.connection.execute("select key from model").fetchone()[0]
        card = ModelCard(server.name, "parrot-1-weights", "openai", "served", "served")
        assert card.key == key, "its key is what it was"
        server.report = lambda _: (NEW, None)
        done_again = done(filled, Design("small", server.name, samples=4))
        assert done_again.state == "done", done_again.message
    assert {name: run.responses for name, run in by_snapshot(filled).items()} == {
        "": TOTAL,
        NEW: 288,
    }


def scoring(asked: Asked) -> dict[str, Any]:
    top = [
        {"token": word, "logprob": log} for word, log in (("beneficial", -0.5), ("harmful", -1.5))
    ]
    top += [{"token": word.capitalize(), "logprob": -4.0} for word in ("beneficial", "harmful")]
    logprobs = {"content": [{"token": "beneficial", "logprob": -0.5, "top_logprobs": top}]}
    return {"choices": [{"index": 0, "message": {"content": "beneficial"}, "logprobs": logprobs}]}


@pytest.mark.e2e
def test_scored_prompts_belong_to_the_snapshot_that_scored_them(filled: Store) -> None:
    with FaultyServer() as server:
        server.respond = scoring
        server.report = reports(server, (0, OLD), (31, NEW))
        exact = Design("small", server.name, samples=1, sampling=EXACTLY)
        job = done(filled, exact)
        assert job.state == "done", launch.log_tail(filled.path, job.id, 50)
        runs = by_snapshot(filled)
        assert {name: run.responses for name, run in runs.items()} == {OLD: 31, NEW: 41}
        for table in ("score", "next_tokens"):
            rows = filled.connection.execute(
                f"select m.snapshot, count(distinct s.prompt_id) from {table} s join model m on "
                "m.id = s.model_id group by 1"
            ).fetchall()
            assert dict(rows) == {OLD: 31, NEW: 41}
        assert len(server.asked) == 72, "nothing was paid twice"
