"""`make docs`: every help page is a page of the site, and no link of it leads nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench.help import topics

ROOT = Path(__file__).parents[2]


@pytest.mark.e2e
def test_the_site_has_every_page(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs mkdocs-material: pip install -e '.[docs]'")
    command = [
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "-f",
        "workbench/help/site/mkdocs.yml",
        "-d",
        tmp_path,
    ]
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for page in topics():
        assert page.title.split(":")[0] in (tmp_path / f"{page.name}.html").read_text(
            encoding="utf-8"
        ), page.name
    first = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "reliability.html" in first
    assert "Glossary" in first
