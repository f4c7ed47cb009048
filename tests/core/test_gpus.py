"""What GPUs are doing, read from a stand-in for nvidia-smi, and shown one row a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import instrument
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.inference.base import GpuWatch, read_gpus
from workbench.inference.scripted.model import ScriptedModel
from workbench.pipeline import asking, planning
from workbench.tui.jobs.job_lines import job_details

TWO = "0, NVIDIA H200, 29755, 143771, 87\n1, NVIDIA H200, 512, 143771, [N/A]\n"


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that a stand-in for nvidia-smi prints."""
    said = tmp_path / "said"
    said.write_text(TWO)
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec /bin/cat {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return said


class OnTwo(ScriptedModel):
    """A model that says it lies on two GPUs."""

    gpus = (0, 1)

    def generate(self, requests, sampling):  # type: ignore[no-untyped-def]
        for drawn in super().generate(requests, sampling):
            self.work.prompt_tokens_computed += 500
            yield drawn


def test_each_gpu_is_read(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = read_gpus()
    assert (first.index, first.name, first.busy) == (0, "NVIDIA H200", 0.87)
    assert (first.used, first.total) == (29755 * 2**20, 143771 * 2**20)
    assert second.busy == 0
    assert first.describe() == "GPU 0 NVIDIA H200: 31.2 of 150.8 GB, 87 % busy"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    (seen,) = read_gpus()
    assert (seen.index, seen.used) == (0, 512 * 2**20)


@pytest.mark.parametrize("said", ["", "No devices were found\n", "0, broken\n", "a, b, c, d, e\n"])
def test_what_nobody_can_read_is_no_gpu(smi: Path, said: str) -> None:
    smi.write_text(said)
    assert read_gpus() == ()


def test_without_the_program_there_is_nothing(tmp_path: Path) -> None:
    assert read_gpus({"PATH": str(tmp_path)}) == ()


def test_a_model_that_computes_elsewhere_has_none(smi: Path) -> None:
    model = ScriptedModel()
    assert GpuWatch.of(model).look(model, 1.0) == ()


def test_tokens_a_second_are_those_of_the_attempt_and_readings_are_few(smi: Path) -> None:
    model = OnTwo()
    model.work.prompt_tokens_computed = 1000
    watch = GpuWatch.of(model)
    model.work.prompt_tokens_computed = 3000
    assert [gpu.tokens_a_second for gpu in watch.look(model, 4.0)] == [500.0, 500.0]
    smi.write_text("0, NVIDIA H200, 1, 143771, 1\n")
    assert len(watch.look(model, 4.0)) == 2, "it was read a moment ago"


def test_a_job_shows_a_row_for_each_gpu_while_it_runs(
    smi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument())
        name = store.instruments.names()[0]
        design = Design(name, "scripted", samples=1, variants=("original",))
        model = OnTwo()
        plan = planning.plan(store, design, card=model.card)
        job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
        attempt = store.jobs.claim(job, "test")
        asking.collect(store, plan, model, attempt=attempt, job=job)
        running = store.jobs.get(job)
        assert [gpu.index for gpu in running.gpus] == [0, 1]
        assert all(gpu.tokens_a_second > 0 for gpu in running.gpus)
        shown = job_details(running).plain
        assert shown.count("of 150.8 GB") == 2
        assert "tokens a second" in shown
        assert main(["jobs", str(path)]) == 0
        assert capsys.readouterr().out.count("GPU ") == 2
        assert main(["jobs", str(path), "--json"]) == 0
        (told,) = json.loads(capsys.readouterr().out)
        assert [gpu["index"] for gpu in told["gpus"]] == [0, 1]
        store.jobs.finish(job, attempt, "done")
        assert "GPU" not in job_details(store.jobs.get(job)).plain, (
            "what is over says nothing of now"
        )
