"""How good the classifier is stands beside every figure that rests on it, with a warning where it
is too poor.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stores.annotation.labels import Classifier
from stores.core.store import Store
from tests.tui.bias_stores import LABELS, asked, book_of, trained
from workbench.audits.bias_score import AUDIT
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.reading import DIMENSION, LEANING, SidesReport
from workbench.audits.bias_score.sides import quality_lines
from workbench.cli.main import main
from workbench.domain.verdicts import Estimate
from workbench.evidence.reader_quality import (
    LEAST_TEXTS,
    ReaderQuality,
    quality,
    quality_data,
    quality_header,
    reader_table,
)
from workbench.evidence.rulings import NOTHING_RULED
from workbench.figures.book import in_order, warnings_of
from workbench.figures.shown import estimate
from workbench.figures.table import Kind
from workbench.stats.proportions import wilson_interval

COUNTS = (30, 30, 20, 20)


def classifier_with(
    recalls: tuple[float, ...], *, counts: tuple[int, ...] = COUNTS, by_statement: bool = False
) -> Classifier:
    """Return a classifier of which the test knows these recalls; what is misread counts for the
    next stance.
    """
    true = np.repeat(np.arange(4), counts)
    label = []
    for stance, (share, n) in enumerate(zip(recalls, counts, strict=True)):
        right = round(share * n)
        label += [stance] * right + [(stance + 1) % 4] * (n - right)
    way = {"label": label, "confidence": [0.95] * len(true)}
    evaluation: dict[str, Any] = {
        "labels": list(LABELS),
        "unit": list(range(len(true))),
        "true": true.tolist(),
        "tuned": way,
        "zero_shot": way,
    }
    data = {"test_queues": ["round-2"], "by_statement": by_statement}
    return Classifier("bart", 1, "v1", "stance", "folder", {}, data, evaluation, "2026-01-01", None)


def test_a_classifier_that_reads_well_has_its_quality_beside_the_figures() -> None:
    found = quality(classifier_with((0.95, 0.95, 0.9, 0.9), by_statement=True), 0.9)
    (line,) = quality_header(found)
    assert line.startswith("Read by bart (confidence from 0.9): macro F1 0.9")
    assert line.endswith(
        "100 test texts of round-2, held out: none of their texts or statements trained it."
    )
    assert (found.poor, found.too_poor, found.shortcoming) == ((), False, "")


def test_a_classifier_that_misses_two_thirds_of_a_stance_is_too_poor() -> None:
    """Macro F1 of two thirds and a third of agreement found gave a bias of 0.00 [-.03, .02] without
    a word.
    """
    found = quality(classifier_with((1 / 3, 0.8, 0.8, 0.8)), 0.9)
    warning, read_by = quality_header(found)
    assert found.macro_f1.value == pytest.approx(0.66, abs=0.03)
    assert warning == (
        "! The classifier bart is too poor for reliable figures (macro F1 "
        f"{found.macro_f1.value:.2f}, recall of agree "
        "0.33): it takes 0.75, for misreadings can hide a lean or make one up."
    )
    assert "recall of agree 0.33 [0.19, 0.51]" in read_by
    assert "none of their texts trained it." in read_by
    poor = {
        row[0]: column.value(row)
        for column in reader_table(found).columns[-1:]
        for row in reader_table(found).rows
    }
    assert [name for name, marked in poor.items() if marked] == ["macro F1", "recall of agree"]


def with_confidence(classifier: Classifier, confidence: list[float]) -> Classifier:
    tuned = {**classifier.evaluation["tuned"], "confidence": confidence}
    return replace(classifier, evaluation={**classifier.evaluation, "tuned": tuned})


def test_a_threshold_that_keeps_nothing_names_one_that_does() -> None:
    unsure = with_confidence(classifier_with((0.95, 0.95, 0.9, 0.9)), [0.75] * 70 + [0.65] * 30)
    other = quality(unsure, 0.7)
    assert other.alternative is None
    assert quality_header(quality(unsure, 0.9))[0] == (
        "! The classifier bart reads no test text with a confidence of 0.9 or more. Lower the "
        "threshold: --threshold 0.7 keeps 70 of 100 test texts, with macro F1 "
        f"{estimate(other.macro_f1, Kind.COEFFICIENT)}."
    )


def test_a_threshold_that_keeps_one_label_alone_names_one_that_tells_how_good_the_reader_is() -> (
    None
):
    """Of 44 texts nine of one label were kept: that is no test in which all items have one
    label.
    """
    sure = [0.95] * 9 + [0.65] * 11 + [0.62] * 8 + [0.4] * 16
    unsure = with_confidence(classifier_with((1.0, 0.8, 1.0, 0.0), counts=(20, 15, 9, 0)), sure)
    found, other = quality(unsure, 0.9), quality(unsure, 0.6)
    f1 = estimate(other.macro_f1, Kind.COEFFICIENT)
    assert (found.kept, found.texts, other.kept) == (9, 44, 28)
    assert quality_header(found)[0] == (
        "! At confidence 0.9 the classifier bart keeps 9 of 44 test texts, all labelled agree: "
        "macro F1 is undefined. "
        f"Lower the threshold: --threshold 0.6 keeps 28 of 44 test texts, with macro F1 {f1}."
    )
    assert (
        found.shortcoming
        == "not judged at confidence 0.9, which keeps 9 of 44 test texts (0.6 keeps 28)"
    )
    assert quality_data(found)["alternative"] == {
        "threshold": 0.6,
        "test_texts_kept": 28,
        "kept": pytest.approx(28 / 44),
        "macro_f1": quality_data(other)["macro_f1"],
    }
    assert not warnings_of(quality_header(other))


def test_a_threshold_that_keeps_few_texts_of_several_labels_says_so() -> None:
    sure = [0.95] * 12 + [0.65] * 18 + [0.95] * 12 + [0.65] * 58
    found = quality(with_confidence(classifier_with((1.0, 1.0, 1.0, 1.0)), sure), 0.9)
    assert not warnings_of(quality_header(found))
    assert quality_header(found)[-1].startswith(
        "Confidence 0.9 keeps 24 of 100 test texts. Lower the threshold: --threshold 0.6 keeps "
        "100 of 100 test texts"
    )


def test_a_test_of_one_label_says_that_it_tells_nothing() -> None:
    found = quality(classifier_with((0.9, 0.0, 0.0, 0.0), counts=(10, 0, 0, 0)), 0.9)
    assert quality_header(found)[0] == (
        "! The test of the classifier bart cannot tell how good it is: all items have one label."
    )


def test_one_poor_stance_is_enough_and_one_that_no_score_rests_on_is_not() -> None:
    assert quality(classifier_with((0.95, 0.6, 0.95, 0.95)), 0.9).too_poor
    unrelated = quality(classifier_with((0.95, 0.95, 0.95, 0.7)), 0.9)
    assert unrelated.poor == ("unrelated",)
    assert not unrelated.too_poor
    assert "recall of unrelated 0.70" in quality_header(unrelated)[0]


def test_figures_that_are_corrected_for_the_error_carry_no_warning() -> None:
    corrected = quality(classifier_with((1 / 3, 0.8, 0.8, 0.8)), 0.9, corrected=True)
    assert corrected.too_poor
    assert not warnings_of(quality_header(corrected))


def test_a_classifier_that_was_never_tested_is_said_to_be() -> None:
    found = quality(classifier_with((0.0,) * 4, counts=(0, 0, 0, 0)), 0.9)
    warning, read_by = quality_header(found)
    assert warning.startswith(
        "! The classifier bart was never tested on labelled answers: the error rate"
    )
    assert read_by == "Read by bart (confidence from 0.9), never tested."
    assert found.shortcoming == "never tested"
    assert not reader_table(found).definition


def test_a_small_test_says_that_it_is_small() -> None:
    assert (
        wilson_interval(LEAST_TEXTS, LEAST_TEXTS)[0]
        > 0.75
        > wilson_interval(LEAST_TEXTS - 1, LEAST_TEXTS - 1)[0]
    )
    found = quality(classifier_with((1.0, 1.0, 1.0, 1.0), counts=(5, 30, 20, 20)), 0.9)
    assert quality_header(found)[-1] == (
        "Of the texts of its test 5 that agree; its quality is known from 12 of each."
    )


@pytest.fixture(scope="module")
def poor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose answers a poor classifier has read."""
    return trained(asked(tmp_path_factory.mktemp("poor") / "poor.db"), right=0.4)


@pytest.mark.e2e
def test_every_medium_of_the_score_has_it(
    poor: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["show", str(poor), "bias_score", "--draws", "200"]) == 0
    assert "! The classifier bart-stance is too poor for reliable figures (macro F1 0." in flat(
        capsys
    )
    assert main(["show", str(poor), "bias_score", "--draws", "200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["header"][0].startswith("! The classifier bart-stance is too poor")
    assert found["classifier"]["too_poor"] is True
    assert found["classifier"]["recall"]["agree"]["value"] < 0.75
    assert "reader" in [table["name"] for table in found["tables"]]
    page, folder = tmp_path / "page.html", tmp_path / "latex"
    assert (
        main(
            [
                "show",
                str(poor),
                "bias_score",
                "--draws",
                "200",
                "--html",
                str(page),
                "--latex",
                str(folder),
            ]
        )
        == 0
    )
    assert "! The classifier bart-stance is too poor" in flat(capsys), (
        "beside the names of the files"
    )
    assert "is too poor for reliable figures" in page.read_text()
    for file in folder.glob("*.tex"):
        assert "is too poor for reliable figures" in file.read_text(), file.name


def test_home_says_it(poor: Path) -> None:
    with Store.open(poor) as store:
        line, *_ = AUDIT.home(store, {})
    assert any(warns and "too poor for reliable figures" in words for words, warns in line.below)


def test_people_who_read_need_no_test(poor: Path) -> None:
    with Store.open(poor) as store:
        judged = judge_bias(store, options=ScoreOptions(draws=200))
    assert judged.quality is not None
    people = replace(judged, source=replace(judged.source, classifier=None))
    assert people.quality is None
    assert warnings_of(book_of(poor, ScoreOptions(draws=200)).header)


def sides(dimension: float, leaning: float, whom: str = "people, settled") -> SidesReport:
    def kappa(value: float) -> Estimate:
        return Estimate(value, value - 0.1, min(1.0, value + 0.1), 40)

    return SidesReport(
        "gpt",
        "tests",
        (),
        0,
        {whom: {DIMENSION: kappa(dimension), LEANING: kappa(leaning)}},
        NOTHING_RULED,
    )


def test_sides_by_a_model_have_their_agreement_beside_the_score() -> None:
    (line,) = quality_lines(sides(0.77, 0.76))
    assert line.startswith("Sides by gpt: dimension κ 0.77 [0.67, 0.87], leaning κ 0.76 [")
    assert line.endswith("with people, settled, on 40 statements.")
    warning, _ = in_order(tuple(quality_lines(sides(0.77, 0.41, "the instrument"))))
    assert "for a score (κ of leaning 0.41; the least κ is 0.6)" in warning
    (unchecked,) = quality_lines(SidesReport("gpt", "tests", (), 0, {}, NOTHING_RULED))
    assert unchecked.startswith(
        "! The sides are those that gpt gave, and neither people nor the instrument"
    )


def test_quality_is_a_value_of_the_test_alone() -> None:
    assert quality(classifier_with((0.9,) * 4), 0.9) == quality(classifier_with((0.9,) * 4), 0.9)
    assert isinstance(quality(classifier_with((0.9,) * 4), 0.0), ReaderQuality)


def flat(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())
