"""Every benchmark runs, at a size that measures nothing: nobody would notice one that is out of date otherwise."""

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
"threads that wait for one another spin, which takes minutes where other processes want the cores, too"
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
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)


def test_every_module_of_benchmarks_is_listed() -> None:
    assert {path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py")} == set(NAMES) - {"start"}


@pytest.mark.e2e
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


def test_an_unknown_benchmark_is_named_with_those_there_are() -> None:
    done = run("speed")
    assert done.returncode == 2
    assert "no benchmark is named 'speed'; there is: start, verdicts" in done.stderr
