"""Jobs of a store that came from somebody else: nobody's key goes anywhere before a person has
agreed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import FaultyServer
from tests.jobs.test_jobs import answers, ended, wait
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.jobs import launch, origin

KEY = "sk-secret-0123456789"


@pytest.fixture
def foreign(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Store, FaultyServer, int]:
    """A store with a job of a colleague that asks a server, here where somebody else holds a
    key.
    """
    server = FaultyServer()
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "colleague"))
    job = launch.create(filled, Design("small", server.name, samples=1))
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "mine"))
    monkeypatch.setenv("WORKBENCH_ENDPOINT_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return filled, server, job


@pytest.mark.e2e
def test_resuming_a_colleagues_job_asks_nobody_before_a_person_agrees_and_sends_no_key_after(
    foreign: tuple[Store, FaultyServer, int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, server, number = foreign
    monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "500")
    with server:
        assert main(["jobs", str(store.path), "resume", str(number)]) == 2
        said = capsys.readouterr().err
        assert f"model   {server.name}" in said
        assert (
            f"host    127.0.0.1:{server.url.rpartition(':')[2].removesuffix('/v1')}, which gets "
            "no key" in said
        )
        assert "budget  at most 500 requests" in said
        assert "--yes" in said
        assert (store.jobs.get(number).state, server.calls) == ("queued", [])
        assert main(["jobs", str(store.path), "resume", str(number), "--yes"]) == 0
        job = wait(store, number, ended)
        assert (job.state, answers(store)) == ("done", 72), job.message
        assert KEY not in str([dict(call.headers) for call in server.calls])


@pytest.mark.e2e
def test_the_person_at_a_terminal_is_asked_once(
    foreign: tuple[Store, FaultyServer, int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, server, number = foreign
    replies = iter(["", "n", "y"])
    monkeypatch.setattr("builtins.input", lambda: next(replies))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with server:
        for _ in range(2):
            assert main(["jobs", str(store.path), "resume", str(number)]) == 2
        assert "Continue it here?" in capsys.readouterr().err
        assert not server.calls
        assert main(["jobs", str(store.path), "resume", str(number)]) == 0
        wait(store, number, ended)
    assert origin.here().made(store.jobs.get(number)), "agreed to once, it counts as created here"


@pytest.mark.e2e
def test_a_worker_that_nobody_sent_leaves_a_job_from_elsewhere_alone(
    foreign: tuple[Store, FaultyServer, int],
) -> None:
    store, server, number = foreign
    with server:
        done = subprocess.run(
            [sys.executable, "-m", "workbench.jobs.worker", str(store.path), str(number)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "was created elsewhere" in done.stdout
        assert not server.calls


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_retrying_asks_too(foreign: tuple[Store, FaultyServer, int], state: str) -> None:
    store, server, number = foreign
    attempt = store.jobs.claim(number, "theirs")
    store.jobs.note_failures(number, ["x"])
    store.jobs.finish(number, attempt, state)
    with server, pytest.raises(origin.ElsewhereError, match="was created elsewhere"):
        launch.retry(store, number)


def test_a_mark_holds_for_what_the_job_asked_then_and_cannot_be_copied(filled: Store) -> None:
    ours = launch.create(filled, Design("small", "openai:a@http://gpu7/v1", samples=1))
    other = launch.create(filled, Design("small", "openai:a@http://gpu8/v1", samples=1))
    installation = origin.here()
    assert all(installation.made(filled.jobs.get(job)) for job in (ours, other))
    with filled.write() as connection:
        spec = json.loads(
            connection.execute("select spec from job where id = ?", (ours,)).fetchone()[0]
        )
        spec["model"] = "openai:a@http://evil.example/v1"
        connection.execute(
            "update job set spec = ? where id = ?", (json.dumps(spec, sort_keys=True), ours)
        )
        connection.execute(
            "update job set mark = (select mark from job where id = ?) where id = ?", (ours, other)
        )
    assert not any(installation.made(filled.jobs.get(job)) for job in (ours, other))


def test_the_secret_is_the_users_own_and_stays_the_same(tmp_path: Path) -> None:
    environ = {"WORKBENCH_CONFIG": str(tmp_path / "new")}
    assert origin.here(environ).secret == origin.here(environ).secret != b""
    assert (tmp_path / "new" / "installation").stat().st_mode & 0o077 == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["installation"]
    assert origin.config_folder({"XDG_CONFIG_HOME": "/x"}) == Path("/x/workbench")


def test_where_no_secret_can_be_kept_a_job_runs_and_resuming_it_asks(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "a file"))
    job = wait(filled, launch.start(filled, Design("small", "scripted", samples=1)), ended)
    assert job.state == "done", job.message
    assert job.mark == ""
    assert not origin.here(os.environ).made(job)
