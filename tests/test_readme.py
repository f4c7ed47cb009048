"""The README stays short, its links lead somewhere, and its commands can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from workbench.cli.main import workbench
from workbench.cli.parser import VerbCommand

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)]+)\)", TEXT)
LINES = [line.removeprefix("$ ") for line in TEXT.splitlines() if line.startswith("$ workbench ")]


def test_it_is_read_within_minutes() -> None:
    assert len(TEXT) <= 8_000


@pytest.mark.parametrize("link", [link for link in LINKS if "://" not in link])
def test_a_link_leads_to_a_file(link: str) -> None:
    assert (ROOT / link).is_file()


@pytest.mark.parametrize("target", ["run", "test", "docs"])
def test_make_knows_the_targets_that_it_names(target: str) -> None:
    assert f"make {target}" in TEXT
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("line", LINES)
def test_a_command_can_be_typed(line: str) -> None:
    _, verb, *words = shlex.split(line, comments=True)
    command = workbench().narrowed(click.Context(workbench()), [verb, *words])
    assert isinstance(command, VerbCommand)
    command.make_context(verb, words)
