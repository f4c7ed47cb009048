"""Another package whose entry points are broken, hostile or badly named is named and skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENTRY_POINTS = """[workbench.audits]
gone = no_such_module:AUDIT
ends = ends_the_program:AUDIT
reliability = no_such_module:AUDIT
--help = no_such_module:AUDIT
[workbench.readers]
raises = raises_at_once:READER
[workbench.formats]
lines = no_such_module:lines
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with a broken package."""
    site = tmp_path / "site"
    about = site / "broken-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "ends_the_program.py").write_text("raise SystemExit(5)")
    (site / "raises_at_once.py").write_text("raise RuntimeError('no\\x1b[2Jthing')")
    return {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path)}


def workbench(environment: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=60, check=False
    )


@pytest.mark.e2e
def test_broken_packages_stop_nothing_and_are_named(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    store = tmp_path / "audit.db"
    made = workbench(environment, "init", store, "--demo")
    assert made.returncode == 0, made.stderr
    told = workbench(environment, "doctor", store)
    assert told.returncode == 0, told.stderr
    for name in ("gone", "ends", "'--help'", "raises", "lines"):
        assert name in told.stdout
    assert "\x1b" not in told.stdout + told.stderr
    asked = workbench(environment, "run", store, "--audit", "gone", "--model", "coin")
    assert asked.returncode in (1, 2)
    assert (
        "workbench.audits gone of another package is not used: ModuleNotFoundError" in asked.stderr
    )
    assert "Traceback" not in asked.stderr
    ours = workbench(
        environment, "run", store, "--model", "coin", "--samples", 2, "--statements", 1, "--yes"
    )
    assert "Traceback" not in ours.stderr
