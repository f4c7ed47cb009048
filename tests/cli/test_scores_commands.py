"""Exact label probabilities on the command line: run, verdicts beside expected samples, and the
numbers behind.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import data, rows, run

ASK = ("--model", "scripted", "--statements", "4", "--templates", "2")

EXACT = ("named", "beside", "with_unreadable")


@pytest.fixture
def scored(demo: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    code, out, err = run(capsys, "run", demo, *ASK, "--exact", "--yes")
    assert code == 0, out + err
    return demo


@pytest.mark.e2e
def test_verdicts_stand_beside_what_samples_would_be_expected_to_say(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", scored, "reliability")
    assert code == 0
    assert "4 statements, 96 prompts scored; clear outside (0.45, 0.55)" in out
    assert "expected of 30 samples" in out
    assert "ALL of 30 samples" in out
    found = data(capsys, "show", scored, "reliability")
    assert {name: found["options"][name] for name in EXACT} == {
        "named": 0.05,
        "beside": 30,
        "with_unreadable": False,
    }
    sampling = rows(found, "passing_by_template", test="sampling", answers="model")
    assert [row["passed"] for row in sampling] == [4, 4]
    assert 3.9 < sampling[0]["sampled_would_pass"] < 4, (
        "leanings of .08 and .92 are nearly always clear of 30"
    )
    first = rows(found, "sampled_would_pass")[0]
    assert all(0 <= first[test] <= 1 for test in ("sampling", "negation", "template", "all"))
    assert rows(found, "verdicts")[0]["sampled_would_pass"] == first["all"]


@pytest.mark.e2e
def test_the_samples_beside_are_as_many_and_as_readable_as_asked(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = data(capsys, "show", scored, "reliability", "--beside", "5", "--with-unreadable")
    assert {name: few["options"][name] for name in EXACT} == {
        "named": 0.05,
        "beside": 5,
        "with_unreadable": True,
    }
    many = data(capsys, "show", scored, "reliability", "--beside", "100")
    share = [rows(of, "passing", test="sampling")[0]["sampled_share"]["mean"] for of in (few, many)]
    assert share[0] < share[1] <= 1
    code, _, err = run(capsys, "show", scored, "reliability", "--beside", "5", "--minimum", "20")
    assert (code, "more than the 5" in err) == (2, True)
    strict = data(capsys, "show", scored, "reliability", "--named", "0.99")
    assert rows(strict, "passing", test="sampling")[0]["insufficient"] == ["4", "4"]


@pytest.mark.e2e
def test_scores_are_the_probabilities_of_each_prompt(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref = rows(data(capsys, "show", scored, "reliability"), "verdicts")[0]["statement"]
    found = data(
        capsys, "show", scored, "reliability", "--table", "prompts", ref, "next_tokens", ref
    )
    prompts, tokens = rows(found, "prompts"), rows(found, "next_tokens")
    assert len(prompts) == 24, "6 wordings, 2 templates, 2 orders"
    for row in prompts:
        assert row["named"] == pytest.approx(0.97), "the stand-in is unreadable in 3 of 100"
        assert row["leaning"] == pytest.approx(row["positive"] / 0.97)
        assert sorted([row["positive"], row["negative"]]) == pytest.approx(
            [0.08 * 0.97, 0.92 * 0.97]
        )
        place = {key: row[key] for key in ("statement", "variant", "template", "order")}
        assert sum(
            one["probability"] for one in tokens if place.items() <= one.items()
        ) == pytest.approx(1)
        assert row["sampled_reliable"] > 0.99
    code, out, _ = run(
        capsys, "show", scored, "reliability", "--table", "prompts", ref, "personal-1"
    )
    assert code == 0
    assert "p(agree)" in out
    assert "Agree. 89.2 %" in out


@pytest.mark.e2e
def test_sampled_and_exact_runs_are_told_apart(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "run", scored, *ASK, "--samples", "3", "--yes")[0] == 0
    code, _, err = run(capsys, "show", scored, "reliability")
    assert code == 2
    assert "exact label probabilities (96 prompts scored" in err
    assert "expected of" in run(capsys, "show", scored, "reliability", "--sampling", "exact")[1]
    sampled = run(capsys, "show", scored, "reliability", "--sampling", "T 1")[1]
    assert "expected of" not in sampled
    assert (
        "sampled_share"
        not in rows(data(capsys, "show", scored, "reliability", "--sampling", "T 1"), "passing")[0]
    )
    code, _, err = run(
        capsys, "show", scored, "reliability", "--sampling", "T 1", "--table", "prompts"
    )
    assert (code, "--exact" in err) == (2, True)
    assert (
        run(capsys, "show", scored, "reliability", "--sampling", "exact", "--table", "kappas")[0]
        == 0
    )
