"""The bias score against what Faulborn et al. 2025 published: their statements, and their biases by
prefix.

Source: paper Tables 1 and 10-12 (statements); `dataset/prefixes.csv` of the authors' repository
(biases of 11 models under 10 prefixes). The answers behind these are not public, so what is done
with biases can be checked, not the biases.
"""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.conftest import published
from workbench.audits.bias_score.counting import ScoredStatement, Tally
from workbench.audits.bias_score.factor_tables import prefix_sources, statement_counts
from workbench.audits.bias_score.factors import (
    deviation_weights,
    kendall_taus,
    kendall_test,
    plane_points,
    undefined_ranking,
)
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import judge, strata
from workbench.audits.bias_score.tables import prefix_changes
from workbench.domain.statements import ORIGINAL, Dimension, Side

TABLE_1 = {
    ("PCT", "cultural", "left"): 9,
    ("PCT", "cultural", "right"): 31,
    ("PCT", "economic", "left"): 10,
    ("PCT", "economic", "right"): 12,
    ("WVS", "cultural", "left"): 4,
    ("WVS", "cultural", "right"): 14,
    ("WVS", "economic", "left"): 2,
    ("WVS", "economic", "right"): 7,
}


MEANS_OF_2B = {"gpt-3.5-turbo-0125": 0.208, "gpt-4": 0.086}
"computed by hand from `prefixes.csv`: mean of nine |bias - bias under `baseline`|"


@pytest.fixture
def items() -> tuple[ScoredStatement, ...]:
    with published("faulborn", "statements.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(
            ScoredStatement(
                row["id"],
                row["source"],
                Dimension(row["issue_label"]),
                Side(row["political_leaning_label"]),
            )
            for row in csv.DictReader(lines)
        )


@pytest.fixture
def biases() -> dict[str, dict[str, float]]:
    """Model -> prefix -> total bias. The column that the file calls `prefix` holds the model."""
    with published("faulborn", "prefixes.csv").open(encoding="utf-8", newline="") as lines:
        return {
            row["prefix"]: {
                name: float(value) for name, value in row.items() if name not in ("", "prefix")
            }
            for row in csv.DictReader(lines)
        }


def test_the_89_statements_have_the_counts_of_table_1_and_each_row_is_a_stratum(
    items: tuple[ScoredStatement, ...],
) -> None:
    assert (
        Counter((item.source, item.dimension.value, item.leaning.value) for item in items)
        == TABLE_1
    )
    assert sorted(map(len, strata(items))) == sorted(TABLE_1.values())


def test_a_model_that_agrees_with_everything_has_no_bias(
    items: tuple[ScoredStatement, ...],
) -> None:
    """Agreeing with both sides is no bias (section 3.1); agreeing with the left alone is -1."""
    yes, no = np.array([3, 0, 0, 0]), np.array([0, 3, 0, 0])
    left = np.array([item.leaning is Side.LEFT for item in items])
    read = np.stack([np.tile(yes, (89, 1)), np.where(left[:, None], yes, no)])[
        :, None, :, None
    ].astype(np.int32)
    cells = np.zeros(read.shape[:4], dtype=np.int32)
    made = Tally(
        ("yes", "partisan"),
        ("p",),
        items,
        (ORIGINAL,),
        ((None,),) * 89,
        read,
        np.zeros_like(read),
        cells,
        cells,
    )
    report = judge(made, ScoreOptions(draws=100))
    assert [report.figure(model).total.value for model in made.models] == [0, -1]
    assert {point.economic.total.value for point in plane_points(report, by_source=True)} == {0, -1}
    counted = {
        (source, d.value, side.value): n for source, d, side, n in statement_counts(report).rows
    }
    assert counted == TABLE_1


def test_likert_deviates_from_the_mean_of_the_other_prefixes_as_the_published_numbers_say(
    biases: dict[str, dict[str, float]],
) -> None:
    """Appendix H: "With the exception of three out of eleven models, the political bias level
    obtained by only using the likert prefix varies greatly compared to the bias level obtained by
    averaging over all other prefixes."
    """
    found = {model: deviation(row, "likert") for model, row in biases.items()}
    assert found["gpt-4"] == pytest.approx(-0.33018 - -0.09658, abs=1e-5)  # minus the mean of nine
    assert found["falcon-7b-instruct"] == pytest.approx(-0.08994 - -0.21608, abs=1e-5)
    near = {model for model, shift in found.items() if abs(shift) < 0.02}
    assert near == {"falcon-40b-instruct", "gpt-3.5-turbo-0125", "llama-2-13b-hf"}
    assert min(abs(shift) for model, shift in found.items() if model not in near) > 0.04


def deviation(row: dict[str, float], prefix: str) -> float:
    others = [value for name, value in row.items() if name != prefix]
    assert row[prefix] - sum(others) / len(others) == pytest.approx(
        float(deviation_weights(len(row)) @ [row[prefix], *others])
    )
    return float(deviation_weights(len(row)) @ [row[prefix], *others])


def test_gpt_35_is_the_tuned_model_that_prefixes_steer_most_as_figure_2b_says(
    biases: dict[str, dict[str, float]],
) -> None:
    """Figure 2b shows the average absolute difference of the prefixes from `baseline`; the caption:
    "gpt-3.5-turbo-0125 is most susceptible to steering". Its values are those of the published
    biases: mean over nine prefixes of |b - b0|.
    """
    report = judge(with_biases(biases), ScoreOptions(draws=50))
    found = {model: prefix_changes(report, model) for model in biases}
    for model, row in biases.items():
        expected = [
            abs(value - row["baseline"]) for name, value in row.items() if name != "baseline"
        ]
        assert (len(expected), found[model].mean.n) == (9, 9)
        assert found[model].mean.value == pytest.approx(sum(expected) / 9, abs=1e-5)
    means = {model: round(one.mean.value, 3) for model, one in found.items()}
    assert (means["gpt-3.5-turbo-0125"], means["gpt-4"]) == (
        MEANS_OF_2B["gpt-3.5-turbo-0125"],
        MEANS_OF_2B["gpt-4"],
    )
    tuned = [model for model in means if "gpt" in model or "instruct" in model or "chat" in model]
    assert len(tuned) == 7
    assert max(tuned, key=means.__getitem__) == "gpt-3.5-turbo-0125"


def with_biases(biases: dict[str, dict[str, float]], answers: int = 1_000_000) -> Tally:
    """Return answers of models to two statements a side that have these totals, to the sixth
    digit.
    """
    items = tuple(
        ScoredStatement(f"{side}-{n}", "WVS", Dimension.ECONOMIC, side)
        for side in Side
        for n in range(2)
    )
    prefixes = tuple(next(iter(biases.values())))
    read = np.zeros((len(biases), len(prefixes), len(items), 1, 4), dtype=np.int32)
    for model, row in enumerate(biases.values()):
        for place, prefix in enumerate(prefixes):
            for number, item in enumerate(items):
                bias = row[prefix] if item.leaning is Side.RIGHT else -row[prefix]
                agree = round(answers * (1 + bias) / 2)
                read[model, place, number, 0, :2] = agree, answers - agree
    cells = np.zeros(read.shape[:4], dtype=np.int32)
    authors = ((None,),) * len(items)
    return Tally(
        tuple(biases),
        prefixes,
        items,
        (ORIGINAL,),
        authors,
        read,
        np.zeros_like(read),
        cells,
        cells,
    )


def test_figure_6_crosses_prefixes_and_sources_and_marks_the_baseline(
    biases: dict[str, dict[str, float]],
) -> None:
    """With one source the crossed figure is that of the prefixes: 11 models x 10 prefixes, as
    published.
    """
    table = prefix_sources(judge(with_biases(biases), ScoreOptions(draws=50)))
    found = {(row.model, row.name): row for row in table.rows}
    assert len(found) == 110
    for model, row in biases.items():
        for prefix, bias in row.items():
            assert found[model, prefix].figure.total.value == pytest.approx(bias, abs=1e-5)
            assert found[model, prefix].baseline == pytest.approx(row["baseline"], abs=1e-5)


def test_rankings_of_the_published_models_agree_as_scipy_says(
    biases: dict[str, dict[str, float]],
) -> None:
    table = np.array([list(row.values()) for row in biases.values()]).T  # (prefix, model)
    assert undefined_ranking(table[:2]) == ""
    assert undefined_ranking(table[:2, :2]) == "fewer than 3 models have a bias on both sources"
    for first in table:
        expected = [kendalltau(first, second) for second in table]
        assert [kendall_test(first, second) for second in table] == [
            tuple(pair) for pair in expected
        ]
        taus = kendall_taus(np.broadcast_to(first, table.shape), table)
        assert taus == pytest.approx([pair.statistic for pair in expected])
