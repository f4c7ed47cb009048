"""Which run a command judges: by sampling and dtype, and what it says of one in which answers
failed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.tui.test_failed_runs import REASON, partly

ASK = ("--model", "scripted", "--statements", "2", "--templates", "1", "--yes")


@pytest.mark.parametrize(
    "command", [("show", "reliability"), ("show", "consistency", "--model", "narrow")]
)
def test_a_run_in_which_everything_failed_is_an_error_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    path = partly(tmp_path / "failed.db")
    code, _, err = run(capsys, command[0], path, *command[1:])
    assert (code, "Traceback" in err) == (2, False)
    assert f"none of its 96 prompts was answered, all failed: {REASON}" in err


def test_consistency_without_an_answer_still_shows_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "show", partly(tmp_path / "failed.db"), "consistency")[0] == 0


def test_statements_of_which_everything_failed_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = partly(tmp_path / "failed.db", "mig")
    out = run(capsys, "show", path, "reliability")[1]
    assert "3 statements, 72 prompts answered" in out
    assert (
        "24 of 96 prompts failed, including every prompt of 1 statement: the prompt has"
        in " ".join(out.split())
    )
    found = data(capsys, "show", path, "reliability")["run"]
    assert (found["failed_statements"], found["failed_because"]) == (["mig-01"], REASON)


@pytest.mark.e2e
def test_a_whole_description_is_preferred_to_one_that_it_is_a_part_of(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ((), ("--until-decided",)):
        assert run(capsys, "run", demo, *ASK, "--samples", "2", *more)[0] == 0
    whole = "T 1, top-p 0.85, 20 tokens"
    assert (
        data(capsys, "show", demo, "reliability", "--sampling", whole)["run"]["sampling"]["stop"]
        == ""
    )
    assert (
        data(capsys, "show", demo, "reliability", "--sampling", "decided")["run"]["sampling"][
            "stop"
        ]
        == "decided"
    )
    assert data(capsys, "pilot", demo, "--rank", "--sampling", whole)["sampling"] == whole
    assert run(capsys, "show", demo, "consistency", "--sampling", whole)[0] == 0
    code, _, err = run(capsys, "show", demo, "reliability", "--sampling", "T 0.3")
    assert code == 2
    assert "no run of reliability has sampling 'T 0.3'. Available:\n" in err
    assert f"{whole}, until decided (48 answers" in err


@pytest.mark.e2e
def test_runs_that_differ_in_their_dtype_are_listed_and_chosen_by_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = partly(partly(tmp_path / "two.db", "mig"), "mig", dtype="bfloat16")
    code, _, err = run(capsys, "show", path, "reliability")
    assert code == 2
    assert "--dtype" in err
    assert "answers, float32, revision" in err
    assert "answers, bfloat16, revision" in err
    for dtype in ("float32", "bfloat16"):
        assert data(capsys, "show", path, "reliability", "--dtype", dtype)["run"]["dtype"] == dtype
        assert (
            run(capsys, "show", path, "reliability", "--dtype", dtype, "--table", "kappas")[0] == 0
        )
        assert run(capsys, "pilot", path, "--rank", "--dtype", dtype)[0] == 0
        out = run(capsys, "show", path, "consistency", "--dtype", dtype)[1]
        assert "narrow · " not in out, "one run is left, so its model's name is enough"
    assert run(capsys, "show", path, "reliability", "--dtype", "float16")[0] == 2


def test_a_model_without_probabilities_is_told_how_to_compute_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = partly(tmp_path / "two.db", "mig")
    code, _, err = run(capsys, "show", path, "reliability", "--table", "prompts")
    assert (code, f"workbench run {path} --exact" in err) == (2, True)


@pytest.mark.e2e
def test_what_an_exact_run_cannot_use_is_refused(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", demo, *ASK, "--exact")[0] == 0
    code, _, err = run(capsys, "show", demo, "reliability", "--beside", "0")
    assert (code, "--beside: found 0; give 1 or more" in err) == (2, True)
    code, _, err = run(capsys, "show", demo, "reliability", "--reader", "label-words-coded")
    assert (code, "leave out --reader" in err) == (2, True)
    found = data(capsys, "show", demo, "reliability")["run"]
    assert (found["responses"], found["scored"]) == (0, 24)


@pytest.mark.e2e
def test_the_next_command_names_what_tells_the_answers_apart(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", demo, *ASK, "--exact")[0] == 0
    assert run(capsys, "run", demo, *ASK, "--exact")[1].rstrip().endswith("--model scripted")
    assert run(capsys, "run", demo, *ASK, "--samples", "2")[0] == 0
    assert (
        run(capsys, "run", demo, *ASK, "--exact")[1]
        .rstrip()
        .endswith("--model scripted --sampling exact")
    )
    out = run(capsys, "run", demo, *ASK, "--samples", "2")[1]
    assert out.rstrip().endswith("--model scripted --sampling 'T 1, top-p 0.85, 20 tokens'")


@pytest.mark.e2e
def test_wordings_that_were_never_asked_have_no_row_and_failed_ones_say_so(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", demo, *ASK, "--exact", "--variants", "original,negation")[0] == 0
    prompts = rows(data(capsys, "show", demo, "reliability", "--table", "prompts"), "prompts")
    assert {row["variant"] for row in prompts} == {"original", "negation"}
    with Store.open(demo) as store, store.write() as connection:
        prompt = connection.execute("select min(prompt_id) from draw").fetchone()[0]
        connection.execute("delete from score where prompt_id = ?", (prompt,))
        connection.execute(
            "update draw set failed = 1, reason = ? where prompt_id = ?", (REASON, prompt)
        )
    out = run(capsys, "show", demo, "reliability", "--table", "prompts")[1]
    assert "not offered" not in out
    assert f"1 of {len(prompts)} prompts failed: {REASON}" in out
    assert sum(" failed " in line for line in out.splitlines()) == 1
    assert len(
        rows(data(capsys, "show", demo, "reliability", "--table", "prompts"), "prompts")
    ) == len(prompts)
