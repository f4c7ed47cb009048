"""The shipped questionnaire, whose respondents are synthetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import synthesize
from tests.cli.test_commands import data, rows, run
from tests.synthetic import generate, known
from workbench.data import data_folder, shipped_instrument_folder
from workbench.synthetic.spec import read_population

PANEL = shipped_instrument_folder("veldania_panel")


def test_the_shipped_answers_are_written_again_byte_for_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.csv"
    synthesize.main(["--out", str(path)])
    out = capsys.readouterr().out
    assert out.startswith("140 synthetic respondents, seed 2023.\nTheir answers are in ")
    assert "att-effort" in out
    assert path.read_bytes() == (PANEL / "answers.csv").read_bytes()


def test_the_documented_figures_are_those_of_the_shipped_respondents() -> None:
    text = (data_folder() / "README.md").read_text(encoding="utf-8")
    panel = read_population(PANEL / "generator.toml")
    scores = known(panel, generate(panel, panel.respondents, panel.seed))
    assert len(scores) == 7
    for score in scores:
        shares = (score.human, score.majority, score.accuracy)
        cells = [f"{100 * share:.1f}" for share in shares]
        cells[2] += f" ± {100 * score.accuracy_sd:.1f}"
        row = f"| `{score.target}` | {score.respondents} | {' | '.join(cells)} |"
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
