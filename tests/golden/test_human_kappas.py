"""How consistently people answer a statement and its variants, from the published survey.

Source: `survey_vaas.csv` in the authors' repository `tceron/eval_political_worldviews`, 50
statements and 6 annotators. Ceron et al. 2024 (arXiv v1), Table 4, row "humans": mean and sample
standard deviation of the annotators' kappas for the original against each variant, raw sign kept.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from workbench.domain.verdicts import MeanSd
from workbench.stats.agreement import cohen_kappa
from workbench.stats.describe import mean_sd

SURVEY = (
    Path(__file__).parents[3] / "shared/instruments/probvaa/data/human_annotations/survey_vaas.csv"
)
ANNOTATORS = ("1", "2", "3", "4", "5", "6")

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def survey() -> Rows:
    if not SURVEY.is_file():
        pytest.skip("the published survey (survey_vaas.csv) is not beside the project")
    with SURVEY.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def kappas(survey: Rows, variant: str) -> list[float]:
    values = []
    for annotator in ANNOTATORS:
        rows = [row for row in survey if row["annotator"] == annotator]
        found = cohen_kappa(
            [int(row["original"]) for row in rows], [int(row[variant]) for row in rows]
        )
        assert (found.n, found.excluded) == (50, 0)
        values.append(found.value)
    return values


def rounded(summary: MeanSd, digits: int) -> tuple[float, float]:
    return round(summary.mean, digits), round(summary.sd, digits)


def test_each_annotators_kappa_with_the_paraphrase_is_reproduced(survey: Rows) -> None:
    found = [round(value, 4) for value in kappas(survey, "paraphrase")]
    assert found == [0.8760, 0.7615, 0.9493, 0.9132, 1.0000, 0.9081]


def test_the_human_upper_bound_for_paraphrases_is_reproduced(survey: Rows) -> None:
    summary = mean_sd(kappas(survey, "paraphrase"))
    assert rounded(summary, 4) == (0.9014, 0.0805)
    assert rounded(summary, 2) == (0.90, 0.08)  # as printed


def test_the_human_upper_bounds_for_flipped_variants_are_reproduced(survey: Rows) -> None:
    # Printed: negation -0.69 (.08), opposition -0.65 (.12). The means agree; the two deviations are
    # exchanged in print.
    assert rounded(mean_sd(kappas(survey, "negation")), 2) == (-0.69, 0.12)
    assert rounded(mean_sd(kappas(survey, "opposite")), 2) == (-0.65, 0.08)
