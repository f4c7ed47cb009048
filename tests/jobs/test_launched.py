"""`--serve vllm`: a server of an environment of its own is started, asked, and stopped whatever
happens.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.jobs.test_jobs import ended, wait
from workbench.data import shipped_instrument_folder
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling
from workbench.errors import ModelError, UsageError
from workbench.formats.read import read_instrument
from workbench.inference.load import load
from workbench.jobs import launch
from workbench.pipeline.design_checks import check_design

STUB = Path(__file__).with_name("vllm_stub.py")
MODEL = "tiny/model"
SERVED = Sampling(max_new_tokens=5)


@pytest.fixture(autouse=True)
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment with a stand-in for vLLM."""
    program = tmp_path / "env" / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    # Paths may have blanks.
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(STUB)])} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("WORKBENCH_VLLM", str(tmp_path / "env"))
    monkeypatch.setenv("STUB_PIDS", str(tmp_path / "pids"))
    monkeypatch.setenv("WORKBENCH_VLLM_STOP_S", "5")
    return tmp_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "audit.db"
    with Store.open(file, create=True) as store:
        store.instruments.add(read_instrument("csv", shipped_instrument_folder()))
    return file


def processes(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(folder: Path, seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, processes(folder))) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, processes(folder)))


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="there is no /proc here"
)


@needs_proc
def test_a_job_starts_the_server_asks_it_and_stops_it(
    path: Path, vllm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STUB_MANNER", "slow")
    monkeypatch.setenv("WORKBENCH_VLLM_ARGS", "--tensor-parallel-size 2")
    how = (
        "run",
        path,
        "--serve",
        "vllm",
        "--model",
        MODEL,
        "--statements",
        "1",
        "--variants",
        "original",
    )
    code, out, err = run(capsys, *how, "--samples", "2", "--no-probe", "--yes")
    assert code == 0, out + err
    assert gone(vllm)
    with Store.open(path) as store:
        (found,) = store.runs.list("reliability")
        assert (found.model, found.revision) == (f"vllm:{MODEL}", "vLLM 0.99.1")
        assert store.jobs.get(1).spec["model"] == f"vllm:{MODEL}"
        dump = "\n".join(store.connection.iterdump())
    log = launch.log_path(path, 1).with_suffix(".vllm.log").read_text()
    port = log.partition("--port ")[2].split()[0]
    assert f"127.0.0.1:{port}" not in dump, "the port is no part of who answered"
    assert f"serve {MODEL} --host 127.0.0.1 --port {port} --tensor-parallel-size 2" in log
    assert '"top_k": ' in log, "it is asked in vLLM's dialect"


@needs_proc
def test_the_same_model_by_another_port_is_the_same_run(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = (
        "run",
        path,
        "--model",
        f"vllm:{MODEL}",
        "--statements",
        "1",
        "--variants",
        "original",
        "--no-probe",
        "--yes",
    )
    for samples in ("1", "2"):
        assert run(capsys, *how, "--samples", samples)[0] == 0
    with Store.open(path) as store:
        (found,) = store.runs.list("reliability")
        assert found.samples == 2


@needs_proc
def test_a_worker_that_is_killed_leaves_no_server(
    path: Path, vllm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_MANNER", "deaf")
    with Store.open(path) as store:
        design = Design("veldania", f"vllm:{MODEL}", samples=1, sampling=SERVED)
        job = launch.start(store, design)
        wait(store, job, lambda _: (vllm / "pids").exists())
        (pid,) = [pid for pid, process in launch._processes.items() if process.poll() is None]
        os.kill(pid, signal.SIGKILL)
        assert gone(vllm)


@needs_proc
def test_a_job_that_is_cancelled_while_the_server_starts_stops_it(
    path: Path, vllm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_MANNER", "deaf")
    with Store.open(path) as store:
        job = launch.start(store, Design("veldania", f"vllm:{MODEL}", samples=1, sampling=SERVED))
        wait(store, job, lambda _: (vllm / "pids").exists())
        store.jobs.request_stop(job)
        found = wait(store, job, ended)
        assert (found.state, gone(vllm)) == ("cancelled", True)
        assert "its model was not loaded yet" in found.message


@needs_proc
def test_a_server_that_ends_before_it_answers_is_told_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STUB_MANNER", "dies")
    with pytest.raises(
        ModelError, match=r"ended before it answered: .*CUDA out of memory. Its log: .*server.log"
    ):
        load(f"vllm:{MODEL}", beside=tmp_path / "server.log")


@needs_proc
@pytest.mark.parametrize("name", ["--trust-remote-code", "a/b@--trust-remote-code"])
def test_a_name_is_no_option_of_the_server(vllm: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="begins with -, which vLLM would take for an option"):
        load(f"vllm:{name}", beside=tmp_path / "server.log")
    assert not (tmp_path / "server.log").exists()


@needs_proc
def test_a_model_that_is_closed_has_no_server(vllm: Path, tmp_path: Path) -> None:
    model = load(f"vllm:{MODEL}@v2", beside=tmp_path / "server.log")
    assert all(map(alive, processes(vllm)))
    assert model.card.name == f"vllm:{MODEL}@v2"
    assert f"serve {MODEL} " in (tmp_path / "server.log").read_text()
    assert "--revision v2" in (tmp_path / "server.log").read_text()
    model.close()
    assert gone(vllm, 0)
    model.close()


def test_without_vllm_nothing_is_queued(
    path: Path, vllm: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(vllm / "env")
    code, _, err = run(
        capsys, "run", path, "--serve", "vllm", "--model", MODEL, "--no-probe", "--yes"
    )
    assert code == 2
    assert "Install vLLM apart: python3 -m venv" in " ".join(err.split())
    monkeypatch.delenv("WORKBENCH_VLLM")
    monkeypatch.setenv("PATH", str(vllm))
    code, _, err = run(capsys, "run", path, "--model", f"vllm:{MODEL}", "--no-probe", "--yes")
    assert code == 2
    assert "no `vllm` is here" in err
    with Store.open(path) as store:
        assert not store.jobs.list()


def test_what_a_server_cannot_take_is_refused(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for model in ("scripted", "openai:m@http://127.0.0.1:9/v1"):
        code, _, err = run(capsys, "run", path, "--serve", "vllm", "--model", model)
        assert code == 2
        assert "no server here can load" in err
    design = Design("veldania", f"vllm:{MODEL}")
    for wrong in (replace(design, dtype="bfloat16"), replace(design, cluster="local")):
        with pytest.raises(UsageError):
            check_design(wrong)
