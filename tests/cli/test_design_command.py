"""`workbench design`: from a run of a store, or from components that are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import data, rows, run

GIVEN = (
    "--components",
    "statement=.1,wording=.01",
    "--statements",
    "20",
    "--templates",
    "2",
    "--samples",
    "10",
)


def test_a_design_is_planned_from_components_that_are_given(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "design", demo, *GIVEN, "--claim", "g >= .8", "--claim", "|bias| >= .2")
    (design,) = rows(found, "design")
    assert (design["statements"], design["wordings"], design["answers"]) == (
        20,
        6,
        20 * 6 * 2 * 2 * 10,
    )
    assert design["time"] == "not known"
    assert [row["met"] for row in rows(found, "claims")] == [True, False]
    assert found["known"]["components"] == {"statement": 0.1, "wording": 0.01}
    assert {row["factor"] for row in rows(found, "needs", claim="|bias| >= 0.2")} == {"statements"}


def test_a_mistake_is_told_in_a_sentence(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, said in (
        (("--claim", "kappa > .7"), "'kappa >= .7'"),
        (("--components", "wordng=.1"), "statement-template"),
        (("--components", "statement=.2,wording=.2"), "the variance is at most 0.25"),
        (
            (
                "--components",
                "statement=.1",
                "--samples",
                "3",
                "--minimum",
                "5",
                "--claim",
                "kappa>=.7",
            ),
            "more than the 3 planned",
        ),
        (
            ("--components", "statement=.1", "--family", "chat", "--dtype", "x"),
            "found --dtype, --family; --components",
        ),
        (
            (*GIVEN, "--claim", "g >= .8", "--low", "0.4"),
            "found --low; only claims of kappa and reliable are",
        ),
        ((*GIVEN, "--as-published", "--minimum", "2"), "found --minimum, --as-published"),
        (("--tests", "sampling"), "found --tests; "),
    ):
        code, _, err = run(capsys, "design", demo, *wrong)
        assert (code, said in err) == (2, True), err


@pytest.mark.e2e
def test_a_design_is_planned_from_a_run_at_its_pace(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("--model", "scripted", "--statements", "6", "--templates", "3", "--samples", "10")
    assert run(capsys, "run", demo, *ask, "--yes")[0] == 0
    agreement = data(capsys, "show", demo, "reliability")
    components = {row["component"]: row["variance"] for row in rows(agreement, "components")}
    found = data(capsys, "design", demo, "--statements", "12", "--claim", "kappa >= .2")
    for name, value in found["known"]["components"].items():
        assert value == pytest.approx(max(0.0, components[name]))
    (design,) = rows(found, "design")
    assert (design["statements"], design["templates"], design["samples"]) == (12, 3, 10)
    assert found["answers_a_second"] > 0
    assert design["time"] != "not known"
    assert 0.9 < found["known"]["readable"] <= 1.0
    code, out, _ = run(capsys, "design", demo, "--samples", "20", "--claim", "reliable >= .9")
    assert code == 0
    assert "out of reach" in out
