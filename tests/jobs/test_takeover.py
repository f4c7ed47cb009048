"""A worker that was taken for gone and comes back: the store takes nothing from it, and no clocks
are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from stores.instruments.drafts import DrafterRows, NewDraft
from stores.jobs import job_rows as liveness
from stores.jobs.job_rows import LOST_AFTER_S, Job, Sign, Watch
from stores.runs.run_rows import Answered
from stores.runs.scores import ScoredPrompt
from tests.conftest import instrument, new_store
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.domain.statements import VariantKind
from workbench.errors import AttemptEnded, JobError
from workbench.inference.load import load
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning

SAMPLES = 5


class Interrupted(ScriptedModel):
    """A stand-in that lets something happen before its n-th answer."""

    def __init__(self, at: int, happens: Callable[[], None]) -> None:
        super().__init__(ScriptedPersona(agree=0.9))
        self._at, self._happens = at, happens

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for number, drawn in enumerate(super().generate(requests, sampling)):
            if number == self._at:
                self._happens()
            yield drawn


def job_of(store: Store) -> int:
    design = Design("small", "scripted", samples=SAMPLES)
    return store.jobs.create("sample", design.as_json(), 1)


def work(store: Store, job: int, attempt: int, model: ScriptedModel | None = None) -> None:
    model = model or ScriptedModel(ScriptedPersona(agree=0.9))
    plan = planning.plan(store, Design.from_json(store.jobs.get(job).spec), card=model.card)
    asking.collect(store, plan, model, attempt=attempt, job=job)


def on_another_machine(store: Store, job: int) -> None:
    """Let a job's worker be one of another machine, whose clock is years behind."""
    with store.write() as connection:
        connection.execute("update attempt set host = 'elsewhere' where job_id = ?", (job,))
        connection.execute(
            "update job set heartbeat = '2020-01-01T00:00:00.000Z' where id = ?", (job,)
        )


def answers_a_prompt(store: Store) -> set[int]:
    rows = store.connection.execute(
        "select sum(n - failed) from draw group by prompt_id, model_id, sampling_id"
    )
    return {row[0] for row in rows}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The observer's own clock, which a test moves."""
    now = [0.0]
    monkeypatch.setattr(liveness, "WATCH", Watch(lambda: now[0]))
    return now


@pytest.mark.e2e
@given(at=st.integers(0, 71), lasts=st.floats(0, 1))
def test_every_prompt_ends_with_the_planned_number_of_answers(
    tmp_path_factory: pytest.TempPathFactory, at: int, lasts: float
) -> None:
    """Whenever the takeover comes, and however often the old worker commits."""
    path = tmp_path_factory.mktemp("store") / "audit.db"
    with new_store(path) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "FLUSH_AFTER_S", 0.0 if lasts < 0.5 else 1e9)
        store.instruments.add(instrument())
        job = job_of(store)
        attempt = store.jobs.claim(job, "old")

        def taken_over() -> None:
            with Store.open(path) as other:
                on_another_machine(other, job)
                with other.write() as connection:
                    connection.execute("update job set state = 'queued' where id = ?", (job,))
                second = other.jobs.claim(job, "new")
                work(other, job, second)
                assert other.jobs.finish(job, second, "done")

        with pytest.raises(
            AttemptEnded, match="another worker has the job now; nothing of this was written"
        ):
            work(store, job, attempt, Interrupted(at, taken_over))
        assert answers_a_prompt(store) == {SAMPLES}
        assert not store.jobs.finish(job, attempt, "failed")
        assert store.jobs.get(job).state == "done"


def test_nothing_is_written_for_an_attempt_that_has_ended(filled: Store) -> None:
    """One rule of the store, not one of each verb: answers, probabilities, drafts, progress, plans,
    readings.
    """
    job = job_of(filled)
    attempt = filled.jobs.claim(job, "old")
    work(filled, job, attempt)
    prompt = filled.connection.execute("select key from prompt").fetchone()[0]
    model, sampling = filled.runs.begin(ScriptedModel(ScriptedPersona()).card, Sampling())
    draft = NewDraft("a-1", VariantKind.PARAPHRASE, "en", "basis", "line", "m", "label", 1)
    assert filled.jobs.finish(job, attempt, "cancelled")
    before = "\n".join(filled.connection.iterdump())
    writes: list[Callable[[], object]] = [
        lambda: filled.runs.add(model, sampling, attempt, [Answered(prompt, 1, 1, (("yes", 1),))]),
        lambda: filled.scores.add(
            model, sampling, attempt, [ScoredPrompt(prompt, (("yes", -1.0),))], {}
        ),
        lambda: filled.drafts.add("small", [draft], DrafterRows(model, sampling, attempt)),
    ]
    for write in writes:
        with pytest.raises(AttemptEnded, match=f"job {job} has ended: it ended as cancelled"):
            write()
    filled.work_for(attempt)
    writes = [
        lambda: filled.jobs.report(job, 3, "{}", "training"),
        lambda: filled.jobs.plan(job, 9),
        lambda: filled.jobs.note_failures(job, ["x"]),
        lambda: filled.runs.begin(
            replace(ScriptedModel(ScriptedPersona()).card, name="other"), Sampling()
        ),
    ]
    for write in writes:
        with pytest.raises(AttemptEnded):
            write()
    assert filled.jobs.beat(job, attempt=attempt).lost
    assert "\n".join(filled.connection.iterdump()) == before


@pytest.mark.parametrize("heartbeat", ["2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"])
def test_a_worker_elsewhere_is_gone_once_its_heartbeat_stood_still_and_not_by_its_clock(
    filled: Store, clock: list[float], heartbeat: str
) -> None:
    job = job_of(filled)
    attempt = filled.jobs.claim(job, "old")

    def look(after: float) -> Job:
        clock[0] += after
        with filled.write() as connection:
            connection.execute("update attempt set host = 'elsewhere'")
            connection.execute("update job set heartbeat = ?", (heartbeat,))
        return filled.jobs.get(job)

    assert [(j.state, j.unsure) for j in (look(0), look(LOST_AFTER_S))] == [("running", True)] * 2
    with pytest.raises(JobError, match="running"):
        filled.jobs.claim(job, "new")
    assert not filled.jobs.beat(job, attempt=attempt).lost
    assert [(j.state, j.unsure) for j in (look(1), look(LOST_AFTER_S))] == [("running", False)] * 2
    assert look(1).state == "lost"
    assert filled.jobs.claim(job, "new") != attempt


def test_a_machine_of_the_same_name_is_not_this_one(filled: Store, clock: list[float]) -> None:
    job = job_of(filled)
    filled.jobs.claim(job, "old")
    with filled.write() as connection:
        connection.execute("update attempt set place = 'another container', pid = 4194305")
    assert filled.jobs.get(job).unsure
    clock[0] += LOST_AFTER_S + 1
    assert filled.jobs.get(job).state == "lost"


def test_a_watch_knows_what_moved_from_what_it_has_not_seen_move() -> None:
    now = [0.0]
    watch = Watch(lambda: now[0])
    assert watch.look(b"a", 1) is Sign.UNKNOWN
    now[0] = LOST_AFTER_S
    assert watch.look(b"a", 1) is Sign.UNKNOWN
    assert watch.look(b"a", 2) is Sign.MOVES
    now[0] += LOST_AFTER_S + 1
    assert watch.look(b"a", 2) is Sign.STILL
    assert watch.look(b"b", 2) is Sign.UNKNOWN
    assert watch.look(b"a", 3) is Sign.MOVES


def test_a_cancelled_job_takes_nothing_from_a_worker_that_was_gone(
    filled: Store, clock: list[float]
) -> None:
    job = job_of(filled)
    attempt = filled.jobs.claim(job, "old")
    on_another_machine(filled, job)
    assert filled.jobs.get(job).unsure
    clock[0] += LOST_AFTER_S + 1
    assert filled.jobs.request_stop(job).state == "cancelled"
    assert filled.jobs.beat(job, attempt=attempt).lost


def test_the_shell_watches_a_worker_elsewhere_before_it_takes_its_job(
    filled: Store,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = job_of(filled)
    attempt = filled.jobs.claim(job, "old")
    on_another_machine(filled, job)
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        if seconds < 0.1:  # a writer that rests
            return
        looks.append(seconds)
        clock[0] += 10
        if len(looks) == 2:
            filled.jobs.beat(job, attempt=attempt)

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(launch, "LOOK_S", 0.0)
    assert main(["jobs", str(filled.path)]) == 0
    assert "its worker on elsewhere sends no heartbeat" in " ".join(capsys.readouterr().out.split())
    assert main(["jobs", str(filled.path), "resume", str(job), "--yes"]) == 1
    shown = capsys.readouterr()
    assert "Watching its heartbeat for at most 60 s" in shown.out
    assert f"job {job} is running" in shown.err
    assert len(looks) == 2
    clock[0] += LOST_AFTER_S + 1
    monkeypatch.setattr(launch, "spawn", lambda *_: 1)
    assert main(["jobs", str(filled.path), "resume", str(job), "--yes"]) == 0
    assert filled.jobs.beat(job, attempt=attempt).lost


@pytest.mark.e2e
def test_an_old_worker_process_leaves_the_new_ones_answers_alone(
    filled: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "slow.toml"
    persona.write_text("delay_s = 0.05\n")
    design = Design("small", f"scripted:{persona}", samples=SAMPLES)
    job = launch.start(filled, design)
    deadline = time.monotonic() + 90
    while not filled.jobs.get(job).done and time.monotonic() < deadline:
        time.sleep(0.05)
    with filled.write() as connection:
        connection.execute("update job set state = 'queued' where id = ?", (job,))
    second = filled.jobs.claim(job, "new")
    model = load(design.model)
    plan = planning.plan(filled, design, card=model.card)
    assert plan.samples_stored > 0
    asking.collect(filled, plan, model, attempt=second, job=job)
    while "lost: " not in launch.log_tail(filled.path, job, 99) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "another worker has the job now" in launch.log_tail(filled.path, job, 99)
    assert answers_a_prompt(filled) == {SAMPLES}
