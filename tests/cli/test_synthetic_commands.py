"""`synthesize`, as a script sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import data, rows, run
from workbench.data import data_folder, shipped_instrument_folder

PANEL = shipped_instrument_folder("veldania_panel")


def test_the_shipped_answers_are_written_again_byte_for_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.csv"
    code, out, _ = run(capsys, "synthesize", "--out", path)
    assert code == 0
    assert out.startswith("140 synthetic respondents, seed 2023; their answers are in ")
    assert path.read_bytes() == (PANEL / "answers.csv").read_bytes()
    code, _, err = run(capsys, "synthesize", "--out", path)
    assert code == 2
    assert "exists already" in err


def test_it_says_what_can_be_known_of_each_target(capsys: pytest.CaptureFixture[str]) -> None:
    found = data(
        capsys,
        "synthesize",
        "--spec",
        PANEL / "generator.toml",
        "--respondents",
        "25",
        "--seed",
        "8",
    )
    assert (found["respondents"], found["seed"], found["out"]) == (25, 8, None)
    assert len(found["known"]) == 7
    for figure in found["known"]:
        assert figure["accuracy"] >= 0.5
        assert figure["majority"] == max(figure["human"], 1 - figure["human"])
    code, out, _ = run(capsys, "synthesize", "--respondents", "25", "--seed", "8")
    assert code == 0
    first = found["known"][0]
    (line,) = [line.split() for line in out.splitlines() if line.startswith(first["target"])]
    assert line[:3] == [first["target"], str(first["respondents"]), f"{100 * first['human']:.1f}"]


def test_the_documented_figures_are_those_of_the_shipped_respondents(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (data_folder() / "README.md").read_text(encoding="utf-8")
    for k in data(capsys, "synthesize")["known"]:
        shares = [
            f"{100 * k[name]:.1f}" for name in ("human", "majority", "accuracy", "accuracy_sd")
        ]
        row = (
            f"| `{k['target']}` | {k['respondents']} | {shares[0]} | {shares[1]} | {shares[2]} "
            f"± {shares[3]} |"
        )
        assert row in text.splitlines()


def test_lint_finds_nothing_but_notes_in_the_shipped_questionnaire(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    run(capsys, "init", path)
    assert run(capsys, "import", path, "--format", "csv", PANEL)[0] == 0
    found = rows(data(capsys, "lint", path, "--all"), "findings")
    assert {finding["severity"] for finding in found} == {"note"}
    assert {finding["code"] for finding in found} <= {"absolute-word", "two-in-one", "no-leaning"}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--respondents", "0"], 2, "give 1 to 100,000"),
        (["--seed", "-1"], 2, "give 0 or more"),
        (["--spec", "nowhere.toml"], 2, "cannot be read"),
        (["--out", "/nowhere/answers.csv"], 2, "cannot be written"),
        (
            ["--spec", PANEL / "instrument.toml"],
            1,
            "found no profiles; expected a table [[profile]]",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_without_a_traceback(
    capsys: pytest.CaptureFixture[str], options: list[object], code: int, said: str
) -> None:
    found, out, err = run(capsys, "synthesize", *options)
    assert (found, out) == (code, "")
    assert said in err
