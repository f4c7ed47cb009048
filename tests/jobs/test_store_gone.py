"""A store's file is deleted, moved or replaced while it is open: nothing is said to be stored that
is not, and nothing that was stored, or was still to be, is lost.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from stores.core import identity
from stores.core.connection import SCHEMA_VERSION
from stores.core.store import Store
from tests.conftest import instrument, new_store
from workbench.domain.designs import Design
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import StoreError, StoreGone
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch, watching
from workbench.pipeline import asking, planning


def deleted(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        if file.is_file():
            file.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    with Store.open(path.with_name("new.db"), create=True):
        pass
    path.with_name("new.db").rename(path)


GONE = pytest.mark.parametrize("goes", [deleted, moved, replaced])


class Vanishing(ScriptedModel):
    """A stand-in that lets the store's file go before its n-th answer."""

    def __init__(self, at: int, goes: Callable[[], object]) -> None:
        super().__init__(ScriptedPersona(agree=0.9))
        self._at, self._goes = at, goes

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for number, drawn in enumerate(super().generate(requests, sampling)):
            if number == self._at:
                self._goes()
            yield drawn


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "audit.db") as store:
        store.instruments.add(instrument())
        yield store


def ask(store: Store, model: ScriptedModel) -> int:
    plan = planning.plan(store, Design("small", "scripted", samples=5), card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    return asking.collect(store, plan, model, attempt=attempt, job=job).done


def answers(store: Store) -> int:
    return int(
        store.connection.execute("select coalesce(sum(count), 0) from response").fetchone()[0]
    )


@GONE
def test_nothing_is_written_to_a_file_that_nobody_can_reach(
    small: Store, goes: Callable[[Path], None]
) -> None:
    goes(small.path)
    with pytest.raises(StoreGone, match="the store is gone"):
        small.jobs.create("sample", {}, 1)
    with pytest.raises(StoreGone):
        small.check()


def test_another_store_that_is_copied_over_a_store_is_not_taken_for_it(
    small: Store, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "other.db", create=True) as other:
        other.connection.execute("pragma journal_mode = delete")
        # What SQLite keeps of a file is valid until the file's counter differs.
        for name in (
            "one",
            "two",
            "three",
        ):
            other.instruments.add(instrument(name=name))
    small.connection.execute("pragma journal_mode = delete")
    shutil.copyfile(tmp_path / "other.db", small.path)
    with pytest.raises(StoreGone, match="Another store was copied over it"):
        small.jobs.create("sample", {}, 1)


@GONE
@pytest.mark.parametrize("at", [0, 20, 71])
def test_answers_that_come_after_the_store_went_are_in_a_copy_with_all_others(
    small: Store, monkeypatch: pytest.MonkeyPatch, goes: Callable[[Path], None], at: int
) -> None:
    monkeypatch.setattr(asking, "FLUSH_AFTER_S", 0.0)
    path = small.path
    with pytest.raises(
        StoreGone, match=r"All that was stored, and what was not yet, is in .*audit\.rescued\.db"
    ):
        ask(small, Vanishing(at, lambda: goes(path)))
    with Store.open(path.with_name("audit.rescued.db")) as kept:
        assert answers(kept) == 5 * (at + 1), "all up to the one in whose commit it was seen"
        assert kept.connection.execute("pragma integrity_check").fetchone()[0] == "ok"
        ask(kept, ScriptedModel(ScriptedPersona(agree=0.9)))
        assert answers(kept) == 72 * 5


def test_where_no_copy_can_be_made_the_answers_at_hand_are_in_a_file(
    small: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> Path:
        raise StoreError("the disk is full")

    monkeypatch.setattr("stores.core.store.rescue", full)
    monkeypatch.setattr(asking, "FLUSH_AFTER_S", 1e9)
    with pytest.raises(StoreGone, match=r"the disk is full.*audit\.unsaved\.jsonl, as JSON lines"):
        ask(small, Vanishing(71, lambda: deleted(small.path)))
    lines = [
        json.loads(line)
        for line in (tmp_path / "audit.unsaved.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert sum(count for line in lines for _, count in line["answers"]) == 72 * 5


def test_a_copy_takes_no_file_that_is_there(small: Store, tmp_path: Path) -> None:
    (tmp_path / "audit.rescued.db").write_text("mine")
    assert identity.free_path(small.path).name == "audit.rescued-2.db"
    with pytest.raises(StoreError, match="there is a file of this name"):
        identity.rescue(small.connection, small.identity, tmp_path / "audit.rescued.db")
    assert (tmp_path / "audit.rescued.db").read_text() == "mine"


@pytest.mark.e2e
def test_a_worker_says_that_the_store_is_gone_and_keeps_all_answers(
    small: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "slow.toml"
    persona.write_text("delay_s = 0.05\n")
    job = launch.start(small, Design("small", f"scripted:{persona}", samples=5))
    deadline = time.monotonic() + 90

    def log() -> str:
        return launch.log_tail(small.path, job, 99)

    while not small.jobs.get(job).done and time.monotonic() < deadline:
        time.sleep(0.05)
    deleted(small.path)
    while "failed: " not in log() and time.monotonic() < deadline:
        time.sleep(0.05)
    kept = tmp_path / "audit.rescued.db"
    assert f"Resume: workbench jobs {kept} resume {job}" in log()
    assert "done: " not in log()
    assert not small.path.exists()
    with pytest.raises(StoreGone, match=r"audit\.rescued\.db beside it"):
        watching.wait_until_ended(small, job, lambda _: None)
    with Store.open(kept) as store:
        found = store.jobs.get(job)
        assert (found.state, found.done) == ("failed", answers(store))
        assert 0 < answers(store) < 72 * 5
        assert "the store is gone" in found.message


@pytest.mark.e2e
def test_a_worker_ends_where_a_newer_workbench_migrates_its_store_and_the_job_can_be_resumed(
    small: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "slow.toml"
    persona.write_text("delay_s = 0.05\n")
    job = launch.start(small, Design("small", f"scripted:{persona}", samples=5))
    deadline = time.monotonic() + 90
    while not small.jobs.get(job).done and time.monotonic() < deadline:
        time.sleep(0.05)
    small.connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    while "lost: " not in launch.log_tail(small.path, job, 99) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "a newer workbench brought the store from schema" in launch.log_tail(small.path, job, 99)
    assert "Traceback" not in launch.log_tail(small.path, job, 99)
    small.connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
    while launch.settled(small, job).state != "lost" and time.monotonic() < deadline:
        time.sleep(0.1)
    launch.resume(small, job)
    watching.wait_until_ended(small, job, lambda _: None)
    assert small.jobs.get(job).state == "done"
    assert answers(small) == 72 * 5
