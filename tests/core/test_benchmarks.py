"""Every benchmark runs, at a size that measures nothing: nobody would notice one that is out of
date otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""threads that wait for one another spin, which takes minutes where other processes want the cores,
too"""
FOLDER = Path(__file__).parents[1] / "benchmarks"


def _bench() -> ModuleType:
    spec = spec_from_file_location("bench", FOLDER / "bench.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    path = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = path  # the script puts its own folder first
    return module


NAMES: tuple[str, ...] = _bench().BENCHMARKS


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "bench.py"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD
    )


def test_every_module_of_benchmarks_is_listed() -> None:
    assert {path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py")} == set(
        NAMES
    ) - {"start"}


@pytest.mark.slow
def test_every_benchmark_runs_at_a_tiny_size_and_fills_its_rows() -> None:
    """In one process: most of the time goes into imports that several benchmarks share."""
    done = run("--tiny")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 2 * len(NAMES)
    for row in rows:
        what, found, _ = (cell.strip() for cell in row.strip("|").split("|"))
        assert what
        assert re.search(r"[0-9]", found), row


def gpu(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "gpu.py"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD
    )


@pytest.mark.slow
def test_what_a_gpu_is_asked_runs_on_a_cpu_at_a_tiny_size(tmp_path: Path) -> None:
    """The two parts that are left out are benchmarks, which the test above runs."""
    done = gpu(
        "--tiny", "--to", str(tmp_path / "gpu.md"), "tests", "embedded", "large", "memory", "jobs"
    )
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "gpu.md").read_text(encoding="utf-8")
    assert "FAILED" not in table
    for said in (
        "pytest -m gpu",
        "100% of greedy answers equal",
        "answers/s",
        "share of the memory-bandwidth bound",
    ):
        assert said in table
    assert re.search(r"ran out [1-9]\d* times \| 100% of 40 prompts", table)
    assert re.search(r"two jobs at once of scripted, [1-9]\d* answers", table)


@pytest.mark.slow
def test_a_part_that_fails_is_a_row_and_the_exit_status(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import gpu\n"
        "def broken(*, tiny):\n    yield 'first', '1', ''\n    raise RuntimeError('no kernel "
        "image')\n"
        "gpu.PARTS |= {'memory': broken, 'jobs': lambda *, tiny: [('after it', '1', '')]}\n"
        "sys.argv = ['gpu.py', '--tiny', '--to', sys.argv[2], 'memory', 'jobs']\n"
        "raise SystemExit(gpu.main())"
    )
    command = [sys.executable, "-c", code, str(FOLDER), str(tmp_path / "gpu.md")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD
    )
    assert done.returncode == 1
    table = (tmp_path / "gpu.md").read_text(encoding="utf-8")
    assert "| memory | FAILED | RuntimeError: no kernel image |" in table
    assert "| after it | 1 |" in table  # the parts after it run


@pytest.mark.slow
def test_without_a_gpu_one_line_says_so() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    done = gpu()
    assert done.returncode == 1
    assert done.stderr == "There is no CUDA device here (PyTorch sees none), so nothing was run.\n"


def test_an_unknown_benchmark_is_named_with_those_there_are() -> None:
    done = run("speed")
    assert done.returncode == 2
    assert "no benchmark is named 'speed'; there is: start, verdicts" in done.stderr
