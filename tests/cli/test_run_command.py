"""`workbench run` with answers that end early, exact probabilities, number formats and clusters;
and its estimate.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from workbench.cli import main
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY, WHEN_DECIDED
from workbench.jobs import launch
from workbench.pipeline import design_checks

FEW = ("--statements", "2", "--templates", "1", "--variants", "original")


def run(
    capsys: pytest.CaptureFixture[str], path: Path, *options: str, model: str = "scripted"
) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["run", str(path), "--model", model, *FEW, *options])
    return code, *capsys.readouterr()


def planned(capsys: pytest.CaptureFixture[str], path: Path, *options: str, model: str) -> Any:
    code, out, err = run(capsys, path, *options, "--dry-run", "--json", model=model)
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--samples", "3"), "--samples"),
        (("--temperature", "1", "--top-p", "0.5"), "--temperature, --top-p"),
        (("--top-k", "0", "--max-new-tokens", "5"), "--top-k, --max-new-tokens"),
        (("--until-decided",), "--until-decided"),
    ],
)
def test_exact_probabilities_are_not_sampled(
    demo: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], named: str
) -> None:
    code, _, err = run(capsys, demo, "--exact", *options, "--dry-run")
    assert code == 2
    assert f"leave out {named}\n" in err


@pytest.mark.parametrize(
    ("audit", "said"),
    [
        ("bias_score", "answered on a scale or in free text"),
        ("statement_labels", "judged in the audit reliability"),
    ],
)
def test_exact_probabilities_need_two_labels_and_an_audit_that_judges_them(
    demo: Path, capsys: pytest.CaptureFixture[str], audit: str, said: str
) -> None:
    code = main(["run", str(demo), "--model", "scripted", "--audit", audit, "--exact", "--dry-run"])
    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.e2e
def test_an_exact_run_counts_prompts(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, demo, "--exact", "--yes")
    assert code == 0, out + err
    assert "0 prompts are scored already; 4 to score\nsampling: exact label probabilities" in out
    with Store.open(demo) as store:
        assert Design.from_json(store.jobs.get(1).spec).sampling == EXACTLY
    assert (
        "4 prompts are scored already; 0 to score" in run(capsys, demo, "--exact", "--dry-run")[1]
    )


@pytest.mark.e2e
def test_answers_end_when_they_are_decided(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, demo, "--until-decided", "--samples", "5", "--yes")
    assert code == 0, out + err
    assert "20 tokens, until decided; seed 1" in out
    with Store.open(demo) as store:
        assert Design.from_json(store.jobs.get(1).spec).sampling.stop == WHEN_DECIDED
        assert store.connection.execute("select sum(n), sum(decided) > 0 from draw").fetchone() == (
            20,
            1,
        )
    assert "0 answers are stored already" in run(capsys, demo, "--samples", "5", "--dry-run")[1], (
        "another sampling"
    )


def test_a_served_model_is_not_asked_until_decided(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, demo, "--until-decided", "--yes", model="openai:gpt-4o")
    assert code == 2
    assert "a served model sends whole answers" in err
    assert Store.open(demo).jobs.list() == ()


def test_dtype_and_cluster_go_into_the_job(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: None)
    monkeypatch.setattr(design_checks, "check_installed", lambda: None)
    options = ("--dtype", "bfloat16", "--cluster", " head:6379 ", "--yes", "--detach")
    code, out, _ = run(capsys, demo, *options, model="some/model")
    assert code == 0
    assert "seed 1; bfloat16; cluster head:6379" in out
    with Store.open(demo) as store:
        design = Design.from_json(store.jobs.get(1).spec)
    assert (design.dtype, design.cluster) == ("bfloat16", "head:6379")


def test_an_unknown_dtype_is_no_job(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(demo), "--model", "smollm2", "--dtype", "int4"]) == 2
    assert (
        "--dtype: found 'int4'; give float32, bfloat16, float16, int8 or nf4"
        in capsys.readouterr().err
    )
    code, _, err = run(capsys, demo, "--dtype", "float16", "--yes")
    assert code == 2
    assert "no effect on a scripted model" in err


def test_a_dry_run_says_what_a_served_model_costs(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PRICE_IN", "2"), ("PRICE_OUT", "10"), ("MAX_REQUESTS", "3")):
        monkeypatch.setenv(f"WORKBENCH_{name}", value)
    _, out, _ = run(capsys, demo, "--dry-run", model="openai:gpt-4o")
    assert "4 calls, up to 120 if the endpoint gives one answer per call" in out
    assert "! beyond the limit of 3 requests" in out
    told = planned(capsys, demo, model="openai:gpt-4o")["estimate"]
    assert told["requests"] == 4
    assert told["exceeds"] == "3 requests"
    assert told["cost_most"] > 120 * 20 * 10 / 1e6


@pytest.mark.e2e
def test_a_second_run_knows_how_fast_the_first_was(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(capsys, demo, model="scripted")["estimate"]["seconds"] is None
    assert run(capsys, demo, "--yes")[0] == 0
    with Store.open(demo) as store, store.write() as connection:
        connection.execute("update job set progress = ?", ('{"answers": 120, "seconds": 60}',))
    told = planned(capsys, demo, "--statements", "6", model="scripted")
    assert (told["answers_needed"], told["estimate"]["like_job"]) == (240, 1)
    assert told["estimate"]["seconds"] == 120.0


def test_a_seed_below_nothing_is_refused_in_every_mode(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mode in ((), ("--exact",)):
        code, _, err = run(capsys, demo, "--seed", "-1", "--dry-run", *mode)
        assert code == 2
        assert "--seed: found -1" in err
