"""The classifier screen shows its test as the pipeline computes it, and which answers were misread."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from stores.store import Store
from tests.tui.bias_stores import DATA, asked, full, labelled, sided, trained
from tests.tui.conftest import made, screen_text, shown, until
from workbench.pipeline.training import THRESHOLDS, Evaluation
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.answers import WholeAnswerScreen
from workbench.tui.screens.classifier import ClassifierScreen, MisreadScreen
from workbench.tui.screens.classifier_format import SHADES, curve_rows, shaded, share_bar, short
from workbench.tui.screens.classifier_view import LABELS, LEFT_OUT, TUNED, WAYS, ZERO_SHOT, assess, misread
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.widgets.leaning_bar import place
from workbench.tui.widgets.long_text import LongText

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two classifiers, the newest the better one; tests only read it."""
    path = labelled(asked(tmp_path_factory.mktemp("classifier") / "audit.db"), per_stratum=1)
    return trained(trained(path, "old-one", right=0.6, reads=False), "new-one", right=0.9)


@pytest.fixture(scope="module")
def held_out(filled: Path) -> Evaluation:
    with Store.open(filled) as store:
        return Evaluation.of(store.classifiers.get("new-one").evaluation)


async def opened(app: WorkbenchApp, pilot: Pilot[int]) -> ClassifierScreen:
    screen = ClassifierScreen()
    await app.push_screen(screen)
    await until(pilot, lambda: ready(app, screen))
    return screen


def ready(app: WorkbenchApp, screen: ClassifierScreen) -> bool:
    idle = all(worker.is_finished for worker in app.workers)
    return idle and (screen._assessed is not None or "No classifier" in shown(app, "#empty"))


async def press(app: WorkbenchApp, pilot: Pilot[int], screen: ClassifierScreen, *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        await until(pilot, lambda: app.screen is not screen or ready(app, screen))


@SIZES
async def test_macro_f1_stands_tuned_beside_zero_shot_at_the_threshold_and_overall(
    filled: Path, held_out: Evaluation, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        for threshold, keys in ((0.9, ()), (0.85, ("left_square_bracket",))):
            await press(app, pilot, screen, *keys)
            _, at, every, rests_on = shown(app, "#summary").splitlines()
            assert rests_on.strip() == "of the test set alone (inclusion unknown)"
            assert at.startswith(f"at ≥{threshold:g}")
            for way in WAYS:
                points = {point.threshold: point for point in held_out.curve(way)}
                assert short(points[threshold].macro_f1) in at
                assert short(points[0.0].macro_f1) in every
        assert max(map(len, shown(app, "#summary").splitlines())) < 80


@SIZES
async def test_each_class_has_precision_recall_f1_and_support(
    filled: Path, held_out: Evaluation, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        text = shown(app, "#sheet")
        lines = text.splitlines()
        assert max(map(len, lines)) <= size[0] - 2
        for way in WAYS:
            report = held_out.report(way, 0.9)
            for label, *values, support in zip(
                LABELS, report.precision, report.recall, report.f1, report.support, strict=True
            ):
                mine = [line for line in lines if line.startswith(label)]
                words = "".join(f"{short(value):<17}" for value in values) + f"{support:>3}"
                assert any(words in line for line in mine), (way, label)


async def test_the_curve_has_a_mark_where_each_value_is(filled: Path, held_out: Evaluation) -> None:
    with Store.open(filled) as store:
        assessed = assess(store.classifiers.get("new-one"), 0.9)
    width, height = 60, 21
    rows = curve_rows(assessed, width, height)
    for way, f1_mark, kept_mark in ((TUNED, "●", "◆"), (ZERO_SHOT, "○", "◇")):
        for n, point in enumerate(held_out.curve(way)):
            column = place(n / (len(THRESHOLDS) - 1), width - 4)
            for mark, value in ((f1_mark, point.macro_f1.value), (kept_mark, point.kept.value)):
                if value == value:
                    row = rows[height - 1 - place(value, height)]
                    assert mark in row[column : column + 4], (way, point.threshold, mark)
    at = place(THRESHOLDS.index(0.9) / (len(THRESHOLDS) - 1), width - 4)
    assert sum(row[at] == "┊" for row in rows) >= height - 4


@SIZES
async def test_the_curve_stands_with_its_numbers_and_brackets_move_the_threshold(
    filled: Path, held_out: Evaluation, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        await press(app, pilot, screen, "tab")
        text = shown(app, "#sheet")
        assert "● tuned ○ zero-shot" in text
        for way in WAYS:
            for point in held_out.curve(way):
                assert short(point.macro_f1) in text
        assert "▸0.9" in text
        await press(app, pilot, screen, "right_square_bracket", "right_square_bracket", "right_square_bracket")
        assert "▸0.99" in shown(app, "#sheet")
        assert "undefined" in shown(app, "#summary")


@SIZES
async def test_the_confusion_matrix_shows_shades_and_counts_and_leads_to_the_answers(
    filled: Path, held_out: Evaluation, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        await press(app, pilot, screen, "tab", "tab")
        matrix = held_out.confusion(0.9).tolist()
        for row, counts in enumerate(matrix):
            shown_row = screen.matrix.get_row_at(row)
            assert [cell.plain.replace("%", "").split()[-2 if size[0] == 140 else -1] for cell in shown_row[1:-1]] == [
                str(n) for n in counts
            ]
        await press(app, pilot, screen, *["right"] * 5)
        assert f"{matrix[0][LEFT_OUT]:,} test texts that people call agree were read with a confidence below" in shown(
            app, "#cell"
        )
        await press(app, pilot, screen, "enter")
        await until(pilot, lambda: isinstance(app.screen, MisreadScreen) and app.screen.table.row_count > 0)
        listed = app.screen
        assert isinstance(listed, MisreadScreen)
        assert len(listed._items) == matrix[0][LEFT_OUT]
        assert {item.true for item in listed._items} == {"agree"}
        assert all(item.below for item in listed._items)


async def test_e_lists_what_was_misread_with_its_text_the_surest_first(filled: Path, held_out: Evaluation) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        await press(app, pilot, screen, *["left_square_bracket"] * 8, "e")
        await until(pilot, lambda: isinstance(app.screen, MisreadScreen) and app.screen.table.row_count > 0)
        listed = app.screen
        assert isinstance(listed, MisreadScreen)
        assert len(listed._items) == int((held_out.predicted["tuned"] != held_out.true).sum())
        sure = [item.confidence for item in listed._items]
        assert sure == sorted(sure, reverse=True)
        with Store.open(filled) as store:
            texts = {item.context.unit: item.context.text for item in store.labels.judged("stance")}
        assert all(item.text == texts.get(item.unit) for item in listed._items)
        held = next(n for n, item in enumerate(listed._items) if item.text)
        listed.table.show_row(held)
        await pilot.pause()
        item = listed._items[held]
        assert item.text is not None
        assert f"people say {item.true}, read as {item.read}" in shown(app, "#text")
        assert item.text[:40] in shown(app, "#text")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, WholeAnswerScreen)
        assert "".join(app.screen.query_one(LongText).lines) == item.text


async def test_a_text_that_the_store_does_not_hold_is_said_to_be_missing(filled: Path) -> None:
    with Store.open(filled) as store:
        classifier = store.classifiers.get("new-one")
    unrelated = LABELS.index("unrelated")
    missing = [item for item in misread(filled, classifier, 0.0, (unrelated, unrelated)) if item.unit >= 10_000]
    assert missing
    assert all(item.text is None for item in missing)


@SIZES
async def test_calibration_shows_accuracy_beside_confidence(
    filled: Path, held_out: Evaluation, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        await press(app, pilot, screen, "tab", "tab", "tab")
        text = shown(app, "#sheet")
        for way in WAYS:
            found = held_out.calibration(way)
            assert f"expected calibration error {found.ece:.3f}, n 60" in text
            for bin_ in found.bins:
                if bin_.n:
                    assert f"{short(bin_.accuracy):<17}{bin_.mean_confidence:>5.2f}{bin_.n:>6,}" in text


def test_a_bar_is_as_long_as_its_share() -> None:
    assert share_bar(1.0, 0.0, 10) == "┃" + "▆" * 9
    assert share_bar(0.0, 1.0, 10) == "·" * 9 + "┃"


def test_shades_grow_with_the_share() -> None:
    cells = [shaded(n, n, 8, wide=False, right=False).plain[1] for n in (0, 1, 3, 5, 8)]
    assert "".join(cells) == SHADES
    assert shaded(0, 0, 0, wide=True, right=False).plain.split() == ["0", "–"]


async def test_what_it_was_trained_on_is_there(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await press(app, pilot, screen, *["tab"] * 4)
        text = shown(app, "#sheet")
        for words in (
            "facebook/bart-large-mnli",
            "108 answers: agree 40, disagree 38, neutral 21, unrelated 9",
            f"training {DATA['training_hash']} · test {DATA['test_hash']}",
            "1,200, the best after 900",
            "13 min on cpu",
            "torch 2.13.0",
            "training: first-round; test: all",
        ):
            assert words in text


async def test_n_goes_through_the_classifiers_the_newest_first(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        lines = shown(app, "#names").splitlines()
        assert [line[:10] for line in lines] == ["▸ new-one ", "  old-one "]
        before = shown(app, "#summary")
        await press(app, pilot, screen, "n")
        assert "▸ old-one" in shown(app, "#names")
        assert shown(app, "#summary") != before
        await press(app, pilot, screen, "n")
        assert shown(app, "#summary") == before


async def test_the_question_mark_explains_every_view(filled: Path) -> None:
    app = WorkbenchApp(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        for view in ("CLASSES", "CURVE", "CONFUSION", "CALIBRATION", "TRAINING"):
            await pilot.press("question_mark")
            assert isinstance(app.screen, TextScreen)
            assert shown(app, "#text").startswith(view)
            await press(app, pilot, screen, "escape")
            await press(app, pilot, screen, "tab")


@SIZES
async def test_without_a_classifier_the_next_step_stands_there(tmp_path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", sided()))
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        assert "No classifier yet" in shown(app, "#empty")
        assert "5 goes to Annotate" in screen_text(app)
        await press(app, pilot, screen, "tab", "e", "n", "left_square_bracket")
        assert app.screen is screen
        await pilot.press("escape")
        assert app.screen is not screen


async def test_names_from_outside_are_shown_literally(tmp_path: Path) -> None:
    path = trained(full(tmp_path / "audit.db"), "[bold]x\x1b", reads=False)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "▸ [bold]x␛" in shown(app, "#names")
