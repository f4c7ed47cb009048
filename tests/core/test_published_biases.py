"""Published biases by prefix: Faulborn et al. 2025, Figures 2b and 5, beside the store's models."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_commands import data, run
from tests.conftest import SHARED
from tests.tui import bias_stores
from workbench.audits.bias_score.published import read
from workbench.errors import InputError

PREFIXES = SHARED / "faulborn" / "prefixes.csv"


@pytest.mark.skipif(not PREFIXES.exists(), reason="the published instruments are not here")
def test_figures_2b_and_5_are_those_of_the_published_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with PREFIXES.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    store = bias_stores.full(tmp_path / "bias.db")
    document = data(
        capsys, "show", store, "bias_score", "--published-file", PREFIXES, "--table", "published"
    )
    (table,) = document["tables"]
    found = {row["model"]: row for row in table["rows"] if row["source"] == "published"}
    assert list(found) == [row["prefix"] for row in rows]
    assert len(found) == 11
    for row in rows:
        totals = {name: float(value) for name, value in row.items() if name not in ("", "prefix")}
        base = totals["baseline"]
        others = np.array([value for name, value in totals.items() if name != "baseline"])
        assert found[row["prefix"]]["mean"] == pytest.approx(np.abs(others - base).mean())
        for name in ("baseline", "likert"):
            rest = np.mean([value for other, value in totals.items() if other != name])
            assert found[row["prefix"]][f"deviation_{name}"] == pytest.approx(totals[name] - rest)
    assert {row["source"] for row in table["rows"]} == {"published", "here"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,baseline\na,0.1\na,0.2\n", "'a' again"),
        ("model,baseline\na,2\n", "'2'"),
        ("model,baseline\na,left\n", "'left'"),
        ("model,baseline\n,0.1\n", "without a model"),
        ("x,baseline\na,0.1\n", "x, baseline"),
        ("model\na\n", "model"),
    ],
)
def test_a_file_at_fault_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read(path)


def test_an_empty_cell_is_no_bias_and_nothing_is_compared_without_the_baseline(
    tmp_path: Path,
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("model,likert,opinion\na,0.5,\nb,0.5,0.1\n")
    first, second = read(path)
    assert first.totals == {"likert": 0.5}
    assert np.isnan(first.deviation("likert"))
    assert second.deviation("likert") == pytest.approx(0.4)
    assert np.isnan(second.from_baseline)


def test_a_file_that_is_not_there_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = bias_stores.full(tmp_path / "bias.db")
    code, _, err = run(capsys, "show", store, "bias_score", "--published-file", tmp_path / "no.csv")
    assert code == 2
    assert "no.csv" in err
