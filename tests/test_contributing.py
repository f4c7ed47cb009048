"""What the pages for contributors say of the repository is so."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.version import __version__

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_code_map_names_every_folder_of_the_program_and_no_other() -> None:
    named = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
    folders = {
        f"workbench/{path.parent.name}" for path in (ROOT / "workbench").glob("*/__init__.py")
    }
    assert named == folders | {"stores", "data"}


def test_files_and_targets_that_are_named_are_there() -> None:
    for path in re.findall(r"`((?:workbench|tests|stores|data)/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path
    targets = set(
        re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"make ([\w-]+)", PAGE)) <= targets


def test_the_citation_is_of_this_version() -> None:
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
