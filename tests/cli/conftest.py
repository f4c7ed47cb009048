"""The shipped instrument in a store of its own, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from workbench.cli.main import main


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    assert main(["init", str(path), "--demo"]) == 0
    return path


@pytest.fixture
def demo(made_demo: Path, tmp_path: Path) -> Path:
    """A store as `workbench init --demo` makes it."""
    return Path(shutil.copy(made_demo, tmp_path / "demo.db"))
