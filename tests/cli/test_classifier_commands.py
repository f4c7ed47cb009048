"""`workbench classifiers`: the figures of a test set as tables, the same as the pipeline
computes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stores.annotation.labels import PredictedLabel
from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.tui.bias_stores import asked, labelled, read_as, trained
from workbench.classifier.config import LABELS
from workbench.domain.readings import THRESHOLDS
from workbench.domain.verdicts import Estimate
from workbench.figures.table import AnyTable, Link
from workbench.figures.write.html import html_page
from workbench.pipeline.classifier_figures import Assessed, assessed, book


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two classifiers; tests only read it."""
    path = labelled(asked(tmp_path_factory.mktemp("classifier") / "audit.db"), per_stratum=1)
    return trained(trained(path, "old-one", right=0.6, reads=False), "new-one", right=0.9)


@pytest.fixture(scope="module")
def found(filled: Path) -> Assessed:
    with Store.open(filled) as store:
        return assessed(store, "new-one")


def cells(table: AnyTable) -> list[dict[str, Any]]:
    return [{column.key: column.value(row) for column in table.columns} for row in table.rows]


def same(first: dict[str, Any], second: Estimate) -> bool:
    return first["n"] == second.n and (
        first["value"] is None or first["value"] == pytest.approx(second.value)
    )


def test_figures_are_those_of_the_evaluation(
    filled: Path, found: Assessed, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = data(capsys, "classifiers", filled, "--classifier", "new-one")
    assert (shell["name"], sorted(shell["classifiers"])) == ("new-one", ["new-one", "old-one"])
    assert (shell["threshold"], shell["test"]["inclusion_known"]) == (0.9, False)
    test = found.test
    for way in ("tuned", "zero_shot"):
        for threshold in (0.9, 0.0):
            (row,) = (row for row in rows(shell, "ways", way=way) if row["threshold"] == threshold)
            assert same(row["macro_f1"], test.point(way, threshold).macro_f1)
            report = test.report(way, threshold)
            classes = rows(shell, "classes", f"{threshold:g}", way=way)
            assert [row["label"] for row in classes] == list(LABELS)
            assert all(same(row["f1"], of) for row, of in zip(classes, report.f1, strict=True))
            matrix = [[row[f"read_{label}"] for label in LABELS] for row in classes]
            assert matrix == [list(row) for row in report.matrix]
        assert [row[f"{way}_n"] for row in rows(shell, "curve")] == [
            point.n for point in test.curve(way)
        ]
        bins = rows(shell, "calibration", way=way)
        assert [row["n"] for row in bins] == [one.n for one in test.calibration(way).bins]
    assert [row["threshold"] for row in rows(shell, "curve")] == list(THRESHOLDS)
    counts = [
        [row[f"read_{name}"] for name in (*LABELS, "below")] for row in rows(shell, "confusion")
    ]
    assert counts == test.confusion(0.9).tolist()


def test_the_shell_says_what_figures_stand_for_and_which_others_there_are(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "classifiers", filled, "--threshold", "0.8")
    assert code == 0
    assert "Inclusion unknown: figures describe the test set, not the answers" in out
    assert "Classes at confidence 0.8" in out
    assert "Other classifiers: " in out


def test_behind_a_label_stand_its_texts_and_the_surest_mistakes_come_first(found: Assessed) -> None:
    of = book(found)
    misread = cells(of.table("misread"))
    assert all(row["true"] != row["read"] and not row["below"] for row in misread)
    sure = [row["confidence"] for row in misread]
    assert sure == sorted(sure, reverse=True)
    counts = found.test.confusion(found.threshold).sum(axis=1).tolist()
    behind = [of.follow(Link("texts", (label,))) for label in LABELS]
    assert [len(table.rows) for table in behind if table] == counts
    one = of.behind["texts"](LABELS[0], "below")
    assert len(one.rows) == found.test.confusion(found.threshold)[0, -1]
    assert html_page(
        [entry.make(*subject) for entry in of.contents for subject in entry.subjects],
        of.title,
        of.told,
    )


def test_without_a_classifier_the_next_step_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "init", tmp_path / "a.db")[0] == 0
    assert "There is no classifier yet" in run(capsys, "classifiers", tmp_path / "a.db")[1]
    assert data(capsys, "classifiers", tmp_path / "a.db")["classifiers"] == []


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose answers two classifiers read: the second calls every agreement neutral that
    names a number.
    """
    path = trained(
        labelled(asked(tmp_path_factory.mktemp("again") / "audit.db"), per_stratum=1), "first"
    )
    trained(path, "second", right=0.6, reads=False)
    with Store.open(path) as store:
        one = store.classifiers.get("second")
        while pending := store.classifiers.pending(one.reader, "bias_score", None, (), limit=1000):
            given = [(p, *read_as(p.text)) for p in pending]
            labels = [
                ("neutral" if label == "agree" and p.wording_id % 3 == 0 else label)
                for p, label, _ in given
            ]
            store.classifiers.predict(
                one,
                [
                    PredictedLabel(p.text_id, p.wording_id, label, sure)
                    for (p, _, sure), label in zip(given, labels, strict=True)
                ],
            )
    return path


def test_the_same_answers_are_compared_with_how_another_classifier_reads_them(again: Path) -> None:
    with Store.open(again) as store:
        of = assessed(store, "first", 0.0)
        rows = store.connection.execute(
            "select a.label, b.label from reading a join reading b using (unit_id) where "
            "a.reader_id = ? and b.reader_id = ?",
            [store.classifiers.get(name).reader for name in ("first", "second")],
        ).fetchall()
    (row,) = book(of).table("retrained").rows
    same = sum(a == b for a, b in rows)
    assert (row.other, row.same.n, row.same.excluded) == ("second", len(rows), 0)
    assert row.same.value == pytest.approx(same / len(rows))
    assert 0 < same < len(rows)
    assert row.same.low < row.same.value < row.same.high
    assert row.change == pytest.approx((len(rows) - same) / len(rows)), (
        "agreement that became neutral"
    )
    with Store.open(again) as store:
        (back,) = book(assessed(store, "second", 0.0)).table("retrained").rows
    assert back.change == pytest.approx(-row.change)
    assert back.kappa.value == pytest.approx(row.kappa.value)


def test_without_readings_of_another_classifier_nothing_is_compared(found: Assessed) -> None:
    table = book(found).table("retrained")
    assert not table.rows
    assert "No other classifier has read these answers" in table.empty


def test_recall_is_told_by_the_model_that_gave_a_text(again: Path) -> None:
    with Store.open(again) as store:
        of = assessed(store, "first", 0.0)
    n = len(of.test.true)
    given = {row[0]: sum(row[1].support) for row in book(of).table("by_model").rows}
    assert given == {model: among.sum() for model, among in of.models.items()}
    assert len(given) > 1, "the first texts of the test set are answers of the store"
    known = replace(of, models={"one": np.arange(n) < n // 2, "both": np.ones(n, dtype=bool)})
    one, both = book(known).table("by_model").rows
    right = of.test.predicted["tuned"] == of.test.true
    assert both[1].accuracy.value == pytest.approx(right.mean())
    assert one[1].accuracy.value == pytest.approx(right[: n // 2].mean())
    assert sum(one[1].support) == n // 2
