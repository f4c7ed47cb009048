"""What costs time to import stays off the paths that people wait on. Proved in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "scipy", "sentence_transformers", "openai", "pandas", "sklearn")


@pytest.mark.parametrize(
    ("module", "also"),
    [
        ("workbench", ("numpy", "textual", "sqlite_utils")),
        ("workbench.cli.main", ("numpy", "textual", "sqlite_utils")),
        ("workbench.tui.app", ("numpy", "sqlite_utils")),
        ("workbench.audits.reliability.judge", ("sqlite_utils", "textual")),
        ("workbench.readers.label_words", ("numpy", "sqlite_utils", "textual")),
        ("workbench.jobs.launch", ("textual",)),
        ("workbench.jobs.worker", ("textual",)),
    ],
)
def test_a_module_brings_nothing_heavy(module: str, also: tuple[str, ...]) -> None:
    code = f"import {module}, sys; print([n for n in {[*HEAVY, *also]} if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_store_leaves_pandas_to_those_who_want_it() -> None:
    """sqlite-utils imports it wherever it is installed; the development extra brings it."""
    pytest.importorskip("pandas")
    code = "import stores.core.store, sys; assert 'pandas' not in sys.modules; import pandas; print(pandas.NA)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "<NA>"
