"""A probe comes before a long run: it is shown, decided on, counts in no figure, and changes no
answer of the run.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import PROBE, UNREADABLE, Job
from tests.conftest import instrument
from tests.jobs.faulty_server import FaultyServer
from tests.jobs.test_jobs import answers, design, ended, wait
from workbench.domain.probe_results import FIRST, PROBED, PROMPTS, ProbeWish
from workbench.domain.responses import EXACTLY
from workbench.jobs import launch
from workbench.jobs.tidying import delete, what_goes

MUTE = ("Well.", "As an AI language model, I cannot say.", "")


def persona(
    folder: Path, name: str = "odd", delay: float = 0.0, said: tuple[str, ...] = MUTE
) -> str:
    """Return the name of a stand-in that says nothing else."""
    file = folder / f"{name}.toml"
    file.write_text(f"answers = {json.dumps(said)}\ndelay_s = {delay}\n")
    return f"scripted:{file}"


def everything(store: Store) -> list[tuple[object, ...]]:
    """Return every answer and probability of a store, with the seeds."""
    drawn = store.connection.execute(
        "select p.key, d.seed, d.n, d.failed, x.body, r.count from draw d join prompt p on p.id = "
        "d.prompt_id left join response r on r.draw_id = d.id left join text x on x.id = r.text_id "
        "order by 1, 2, 5"
    ).fetchall()
    scored = store.connection.execute(
        "select p.key, x.body, s.log_probability from score s join prompt p on p.id = s.prompt_id "
        "join text x on x.id = s.text_id order by 1, 2"
    ).fetchall()
    return [*map(tuple, drawn), *map(tuple, scored)]


def waits(job: Job) -> bool:
    return bool(job.question)


@pytest.mark.e2e
@pytest.mark.parametrize("exact", [False, True])
def test_a_run_has_the_same_answers_with_and_without_its_probe(tmp_path: Path, exact: bool) -> None:
    found = []
    for wish in (None, ProbeWish(least=0.0)):
        with Store.open(tmp_path / f"{wish is None}.db", create=True) as store:
            store.instruments.add(instrument())
            changes = {"samples": 1, "sampling": EXACTLY} if exact else {}
            job = wait(store, launch.start(store, design("scripted", **changes), probe=wish), ended)
            assert (job.state, job.probed is None) == ("done", wish is None), job.message
            found.append(everything(store))
    assert found[0] == found[1] != []


@pytest.mark.e2e
def test_a_run_that_nobody_watches_stops_below_the_stated_share_and_goes_on_when_told(
    filled: Store, tmp_path: Path
) -> None:
    job_id = launch.start(filled, design(persona(tmp_path)), probe=ProbeWish(least=0.25))
    job = wait(filled, job_id, ended)
    assert (job.state, job.question, job.worker, answers(filled)) == ("paused", PROBE, False, 0)
    assert job.message.startswith(
        "Probe: 0 of 20 answers are readable (0 %) with templates of family chat"
    )
    assert "fewer than 25 % stop a run. The run itself has asked nothing yet." in job.message
    assert job.probed is not None
    assert {one.fault for one in job.probed.answers} <= {"unreadable", "refusal", "empty"}
    launch.resume(filled, job_id)
    job = wait(filled, job_id, ended)
    assert (job.state, job.question, job.patient, answers(filled)) == ("done", "", True, 432)
    assert job.probed is not None, "it is not asked again, and not forgotten"


@pytest.mark.e2e
def test_a_person_who_is_asked_finds_the_worker_ready(filled: Store) -> None:
    job_id = launch.start(filled, design("scripted"), probe=ProbeWish(asks=True))
    job = wait(filled, job_id, waits)
    assert (job.state, job.worker, job.attempts, answers(filled)) == ("paused", True, 1, 0)
    assert "Its worker stays ready for" in job.message
    assert launch.resume(filled, job_id) is None, "the worker that waits goes on"
    job = wait(filled, job_id, ended)
    assert (job.state, job.attempts, job.question, answers(filled)) == ("done", 1, "", 432)


@pytest.mark.e2e
def test_a_person_who_is_asked_may_cancel(filled: Store) -> None:
    job_id = launch.start(filled, design("scripted"), probe=ProbeWish(asks=True))
    wait(filled, job_id, waits)
    filled.jobs.request_stop(job_id)
    job = wait(filled, job_id, ended)
    assert (job.state, job.question, answers(filled)) == ("cancelled", "", 0)
    assert "1 attempt" in what_goes(filled, job_id)
    assert "the 20 answers of its probe" in what_goes(filled, job_id)
    log = launch.log_path(filled.path, job_id)
    assert log.exists()
    delete(filled, job_id)
    assert not log.exists()
    assert filled.jobs.list() == ()


@pytest.mark.e2e
def test_a_served_model_pays_for_the_probe_and_the_plan_alone(filled: Store) -> None:
    with FaultyServer() as server:
        server.respond = lambda asked: {
            "choices": [
                {
                    "index": n,
                    "message": {
                        "role": "assistant",
                        "content": f"Beneficial. {asked.body['seed']} {n}",
                    },
                }
                for n in range(asked.body.get("n", 1))
            ]
        }
        job = wait(
            filled,
            launch.start(filled, design(server.name, samples=2), probe=ProbeWish(least=0.0)),
            ended,
        )
        assert job.state == "done", job.message
        assert sum(call.body.get("n", 1) for call in server.asked) >= answers(filled) + PROBED
    assert job.probed is not None
    assert len(job.probed.answers) == PROBED
    assert answers(filled) == 144


@pytest.mark.e2e
def test_a_probe_that_nobody_answers_fails_the_job(filled: Store) -> None:
    with FaultyServer(lambda _call, _body: "400") as server:
        job = wait(
            filled,
            launch.start(filled, design(server.name, samples=2), probe=ProbeWish(least=0.0)),
            ended,
        )
    assert job.state == "failed", job.message
    assert (job.probed, answers(filled)) == (None, 0)


@pytest.mark.e2e
def test_the_embedded_model_is_asked_a_probe(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_DEVICE", "cpu")
    asked = design("smollm2", samples=1, statements=("a-1",), variants=("original",))
    job = wait(filled, launch.start(filled, asked, probe=ProbeWish(least=0.0)), ended)
    assert job.state == "done", launch.log_tail(filled.path, job.id, 50)
    assert job.probed is not None
    assert (len(job.probed.answers), answers(filled)) == (PROBED, 4)


@pytest.mark.e2e
def test_a_job_whose_first_answers_are_all_unreadable_pauses_once_and_says_why(
    filled: Store, tmp_path: Path
) -> None:
    asked = design(persona(tmp_path, delay=0.05), samples=20)
    job_id = launch.start(filled, asked)
    job = wait(filled, job_id, ended)
    assert (job.state, job.question, job.worker) == ("paused", UNREADABLE, False)
    held = answers(filled)
    assert FIRST <= held < 1440
    assert job.message.startswith(
        f"Not one of the first {held} answers (to {held // 20} prompts) can be read"
    )
    assert '"Well."' in job.message
    launch.resume(filled, job_id)
    job = wait(filled, job_id, ended)
    assert (job.state, job.question, answers(filled)) == ("done", "", 1440)


@pytest.mark.e2e
def test_a_fast_job_pauses_before_more_than_its_first_answers_are_asked(
    filled: Store, tmp_path: Path
) -> None:
    job = wait(filled, launch.start(filled, design(persona(tmp_path), samples=20)), ended)
    assert (job.state, job.question, answers(filled)) == ("paused", UNREADABLE, PROMPTS * 20)


@pytest.mark.e2e
def test_a_pilot_is_patient_and_one_readable_answer_is_enough_for_others(
    filled: Store, tmp_path: Path
) -> None:
    mute = design(persona(tmp_path, delay=0.02), samples=5)
    assert wait(filled, launch.start(filled, mute, patient=True), ended).state == "done"
    some = persona(tmp_path, "some", delay=0.02, said=(*MUTE * 8, "Beneficial."))
    assert wait(filled, launch.start(filled, design(some, samples=5)), ended).state == "done"
