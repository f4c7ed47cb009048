"""The classifier screen shows its test as the pipeline computes it, and which answers were
misread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.core.store import Store
from tests.tui.bias_stores import DATA, asked, full, labelled, sided, trained
from tests.tui.books import by_parts, press, settled
from tests.tui.conftest import judged_by, made, screen_text, shown, until
from workbench.classifier.config import LABELS
from workbench.evidence.reader_quality import Evaluation
from workbench.figures.book import Book
from workbench.figures.table import AnyTable
from workbench.pipeline.classifier_figures import WAYS
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.base import of_store
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.classifier import ClassifierChoice, ClassifierScreen, load

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
CLASSES, CURVE, CONFUSION, CALIBRATION, TRAINING = (["tab"] * n for n in (1, 3, 4, 6, 7))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two classifiers, the newest the better one; tests only read it."""
    path = labelled(asked(tmp_path_factory.mktemp("classifier") / "audit.db"), per_stratum=1)
    return trained(trained(path, "old-one", right=0.6, reads=False), "new-one", right=0.9)


@pytest.fixture(scope="module")
def held_out(filled: Path) -> Evaluation:
    with Store.open(filled) as store:
        return Evaluation.from_json(store.classifiers.get("new-one").evaluation)


async def opened(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> ClassifierScreen:
    await until(pilot, lambda: settled(app))
    screen = ClassifierScreen()
    await app.push_screen(screen)
    await until(pilot, lambda: settled(app))
    await pilot.pause()
    await press(app, pilot, *keys)
    return screen


def book(path: Path, threshold: float = 0.9) -> Book:
    found = of_store(path, lambda store: load(store, ClassifierChoice(threshold=threshold))).book
    assert found is not None
    return found


def cells(table: AnyTable) -> list[dict[str, Any]]:
    return [{column.key: column.value(row) for column in table.columns} for row in table.rows]


def test_every_figure_of_the_test_is_in_a_table(filled: Path, held_out: Evaluation) -> None:
    of = book(filled)
    points = {(way, point.threshold): point for way in WAYS for point in held_out.curve(way)}
    ways = cells(of.table("ways"))
    assert [(row["way"], row["threshold"], row["macro_f1"]) for row in ways] == [
        (way, threshold, points[(way, threshold)].macro_f1)
        for threshold in (0.9, 0.0)
        for way in WAYS
    ]
    for way in WAYS:
        report, rows = (
            held_out.report(way, 0.9),
            [row for row in cells(of.table("classes")) if row["way"] == way],
        )
        for key in ("precision", "recall", "f1", "support"):
            assert [row[key] for row in rows] == list(getattr(report, key))
        assert [
            (str(row[f"{way}_macro_f1"]), row[f"{way}_n"]) for row in cells(of.table("curve"))
        ] == [(str(point.macro_f1), point.n) for point in held_out.curve(way)]
        bins = [row for row in cells(of.table("calibration")) if row["way"] == way]
        assert [(str(row["accuracy"]), str(row["mean_confidence"]), row["n"]) for row in bins] == [
            (str(one.accuracy), str(one.mean_confidence), one.n)
            for one in held_out.calibration(way).bins
        ]
    matrix = cells(of.table("confusion"))
    assert [
        [row[f"read_{name}"] for name in (*LABELS, "below")] for row in matrix
    ] == held_out.confusion(0.9).tolist()


def test_what_was_misread_comes_with_its_text_the_surest_first(
    filled: Path, held_out: Evaluation
) -> None:
    rows = cells(book(filled, 0.0).table("misread"))
    assert len(rows) == int((held_out.predicted["tuned"] != held_out.true).sum())
    sure = [row["confidence"] for row in rows]
    assert sure == sorted(sure, reverse=True)
    with Store.open(filled) as store:
        texts = {
            str(item.context.unit): item.context.text for item in store.labels.judged("stance")
        }
    assert {row["text"] for row in rows if row["unit"] in texts} <= set(texts.values())
    missing = [
        row
        for row in cells(book(filled, 0.0).behind["texts"]("unrelated", "unrelated"))
        if int(row["unit"]) >= 10_000
    ]
    assert missing
    assert all("lacks the text" in row["text"] for row in missing)


@pytest.mark.e2e
@SIZES
async def test_brackets_move_the_threshold(filled: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        assert "of the test set alone (inclusion unknown)" in judged_by(app)
        assert list(by_parts(app)) == [(way, at) for at in ("0.9", "0") for way in WAYS]
        await press(app, pilot, "minus")
        assert "confidence from 0.85" in judged_by(app)
        assert next(iter(by_parts(app))) == ("tuned", "0.85")
        await press(app, pilot, *["plus"] * 4)
        assert "confidence from 0.99" in judged_by(app)
        assert "undefined" in screen_text(app)
        await press(app, pilot, *CLASSES)
        assert "0.99 ← →" in shown(app, "#tabs")
        await press(app, pilot, "right")
        assert "0 ← →" in shown(app, "#tabs")


@pytest.mark.e2e
async def test_the_matrix_leads_to_the_answers_of_a_label(
    filled: Path, held_out: Evaluation
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *CONFUSION)
        counts = held_out.confusion(0.9).tolist()[0]
        row = by_parts(app)[("agree",)]
        assert [row[f"read_{name}"] for name in (*LABELS, "below")] == [str(n) for n in counts]
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BehindScreen)
        assert "Test texts that people call agree" in shown(app, "#about")
        found = by_parts(app)
        assert len(found) == sum(counts)
        assert sum(bool(row["below"]) for row in found.values()) == counts[-1]
        await press(app, pilot, "escape", "e")
        assert "▸misread answers" in shown(app, "#tabs")


@pytest.mark.e2e
async def test_what_it_was_trained_on_is_there(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *TRAINING)
        said = {key[0]: row["value"] for key, row in by_parts(app).items()}
        assert said["base"] == "facebook/bart-large-mnli"
        assert said["trained on"] == "108 answers: agree 40, disagree 38, neutral 21, unrelated 9"
        assert (said["training hash"], said["test hash"]) == (
            DATA["training_hash"],
            DATA["test_hash"],
        )
        assert (said["training queues"], said["test queues"]) == ("first-round", "all")
        assert said["steps"] == "1,200, the best after 900"
        assert "torch 2.13.0" in said["versions"]


@pytest.mark.e2e
async def test_c_goes_through_the_classifiers_the_newest_first(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(app, pilot)
        assert "classifier 1 of 2: new-one" in judged_by(app)
        before = by_parts(app)
        await press(app, pilot, "c")
        assert "classifier 2 of 2: old-one" in judged_by(app)
        assert by_parts(app) != before
        await press(app, pilot, "C")
        assert by_parts(app) == before


@pytest.mark.e2e
async def test_notes_and_the_question_mark_explain_the_figures(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "expected calibration error" in screen.explain()
        await press(app, pilot, "n")
        assert isinstance(app.screen, TextScreen)
        for words in ("new-one: facebook/bart-large-mnli", "Wilson's at an effective n"):
            assert words in shown(app, "#text")


@pytest.mark.e2e
async def test_without_a_classifier_the_next_step_stands_there(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", sided()))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "No classifier yet" in shown(app, "#empty")
        assert "5 goes to Annotate" in screen_text(app)
        await press(app, pilot, "tab", "e", "c", "minus")
        assert app.screen is screen
        await press(app, pilot, "escape")
        assert app.screen is not screen


@pytest.mark.e2e
async def test_names_from_outside_are_shown_literally(tmp_path: Path) -> None:
    path = trained(full(tmp_path / "audit.db"), "[bold]x\x1b", reads=False)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "[bold]x␛" in judged_by(app)
        assert "\x1b" not in screen_text(app)
