"""Thoughts in the shell: shown where a person asks for them; answers cut off in thought are said
with the remedy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main

TRACE = "Some would agree, it is beneficial."
FEW = ("--statements", "2", "--templates", "1", "--variants", "original")


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path, persona = tmp_path / "demo.db", tmp_path / "thinks.toml"
    outputs = (
        f"<think>{TRACE}</think>\n\nHarmful.",
        f"<think>{TRACE}",
        "<think>\x1b[31m</think>Harmful.",
    )
    persona.write_text(f"answers = {json.dumps(outputs)}\n")
    assert main(["init", str(path), "--demo"]) == 0
    assert (
        main(["run", str(path), "--model", f"scripted:{persona}", *FEW, "--yes", "--no-probe"]) == 0
    )
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.e2e
def test_a_job_says_how_many_answers_were_cut_off_and_what_helps(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (job,) = json.loads(said(capsys, "jobs", asked, "--json"))
    cut = job["progress"]["truncated"]
    assert 0 < cut < job["progress"]["answers"]
    words = f"{cut:,} of {job['progress']['answers']:,} answers were cut off in thought"
    assert words in job["message"]
    assert "more tokens in all (--max-new-tokens)" in job["message"]
    assert words in said(capsys, "jobs", asked, "log", "1")
    assert job["progress"]["unreadable"] + cut <= job["progress"]["answers"], (
        "it is one or the other"
    )


@pytest.mark.e2e
def test_thoughts_are_shown_on_request(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "thoughts", asked)
    assert f"thought: {TRACE}\nanswer: Harmful." in out
    assert f"thought: {TRACE}\ncut off in thought" in out
    assert "\x1b" not in out
    found: dict[str, Any] = json.loads(said(capsys, "thoughts", asked, "--json", "--limit", "1000"))
    outputs = found["outputs"]
    assert {one["answer"] for one in outputs} == {"Harmful.", None}
    assert sum(one["count"] for one in outputs) == found["answers"]
    assert found["cut_off"] == sum(one["count"] for one in outputs if one["answer"] is None)
    one = json.loads(
        said(capsys, "thoughts", asked, "--json", "--statement", outputs[0]["statement"])
    )
    assert {row["statement"] for row in one["outputs"]} == {outputs[0]["statement"]}
    assert main(["thoughts", str(asked), "--limit", "0"]) == 2


def test_verdicts_count_what_was_cut_off_beside_what_is_unreadable(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, "show", asked, "reliability")
    assert "unreadable 68.3 %, " in out
    assert "cut off in thought: " in out
    assert "ask again with more tokens" in out
    found = json.loads(said(capsys, "show", asked, "reliability", "--json"))["run"]
    assert 0 < found["cut_off"] < found["responses"]
    assert found["encoding"] == "unknown"
