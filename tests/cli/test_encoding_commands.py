"""What the command line says of how turns reach a model, and which models that makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Answered
from workbench.cli import main
from workbench.domain.designs import Design
from workbench.domain.responses import UNKNOWN, ModelCard, Sampling
from workbench.pipeline import planning


def test_doctor_says_how_the_turns_of_each_model_were_encoded(
    filled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    attempt = filled.jobs.claim(filled.jobs.create("sample", {}, 1), "test")
    plan = planning.plan(filled, Design("small", "scripted", samples=1))
    filled.runs.add_probes("reliability", "small", "en", plan.templates, plan.probes)
    for encoding in (UNKNOWN, "1", "1; system turn at the beginning of the user turn"):
        card = ModelCard("m", "r", "transformers", "float32", "hash", encoding)
        answered = Answered(plan.probes[0].prompt.key, 1, 1, (("Harmful.", 1),))
        filled.runs.add(*filled.runs.begin(card, Sampling()), attempt, [answered])
    main(["doctor", str(filled.path), "--json"])
    found = [
        (c["state"], c["found"])
        for c in json.loads(capsys.readouterr().out)
        if c["name"] == "model m"
    ]
    assert [state for state, _ in found] == ["ok", "note", "note"]
    assert "encoding unknown" in found[2][1]
    assert "system turn at the beginning" in found[1][1]
    assert len(filled.runs.list()) == 3, "each is a run of its own"


def test_a_default_system_turn_is_switched_off_by_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "demo.db"
    assert main(["init", str(path), "--demo"]) == 0
    asked = [
        "run",
        str(path),
        "--model",
        "smollm2",
        "--statements",
        "2",
        "--no-default-system",
        "--dry-run",
    ]
    capsys.readouterr()
    assert main(asked) == 0
    assert "chat format of +no-default-system" in capsys.readouterr().out
    asked[3] = "scripted"
    assert main(asked) == 2
    assert "'+no-default-system'" in capsys.readouterr().err
