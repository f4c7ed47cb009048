"""`workbench classifiers`: the figures of a test set as tables, the same as the pipeline computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.tui.bias_stores import asked, labelled, trained
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
    return first["n"] == second.n and (first["value"] is None or first["value"] == pytest.approx(second.value))


def test_figures_are_those_of_the_evaluation(filled: Path, found: Assessed, capsys: pytest.CaptureFixture[str]) -> None:
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
        assert [row[f"{way}_n"] for row in rows(shell, "curve")] == [point.n for point in test.curve(way)]
        bins = rows(shell, "calibration", way=way)
        assert [row["n"] for row in bins] == [one.n for one in test.calibration(way).bins]
    assert [row["threshold"] for row in rows(shell, "curve")] == list(THRESHOLDS)
    counts = [[row[f"read_{name}"] for name in (*LABELS, "below")] for row in rows(shell, "confusion")]
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
    assert html_page([entry.make(*subject) for entry in of.contents for subject in entry.subjects], of.title, of.told)


def test_without_a_classifier_the_next_step_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "init", tmp_path / "a.db")[0] == 0
    assert "There is no classifier yet" in run(capsys, "classifiers", tmp_path / "a.db")[1]
    assert data(capsys, "classifiers", tmp_path / "a.db")["classifiers"] == []
