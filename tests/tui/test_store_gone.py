"""The store's file goes away under a person's hands: nothing is called saved that is not, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, labelling_store, labels_of
from tests.tui.conftest import made, screen_text, until
from workbench.errors import StoreGone
from workbench.tui import app as terminal
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens import annotate, survey
from workbench.tui.screens.annotate import AnnotateScreen
from workbench.tui.screens.store_gone_dialog import StoreGoneDialog
from workbench.tui.screens.survey import SurveyScreen


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotate, "GLANCE_S", 0.0)


def delete(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def flat(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_labels_of_a_store_that_is_gone_are_written_elsewhere_and_labelling_goes_on(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4))
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        screen = AnnotateScreen(QUEUE, "ana")
        await app.push_screen(screen)
        await until(pilot, lambda: screen.ready and app.anchor is not None)
        await pilot.press("d")
        await until(pilot, lambda: screen.ready and "disagree (saved)" in screen_text(app))
        delete(path)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        assert "the store is gone" in flat(screen_text(app))
        assert "agree was NOT saved" in flat(str(screen.trouble.render()))
        assert "(saved)" not in flat(str(screen._said))
        app.screen.query_one(Input).value = str(tmp_path / "kept.db")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert app.store_path == tmp_path / "kept.db"
        await until(pilot, lambda: screen.ready)
        await pilot.press("a")
        await until(pilot, lambda: screen.ready and "agree (saved)" in screen_text(app) and "0002" in screen_text(app))
        await pilot.press("z")
        await until(pilot, lambda: screen.ready and "0001" in screen_text(app))
        await pilot.press("a")
        await until(pilot, lambda: screen.ready and "0002" in screen_text(app))
    assert [label for _, _, label in labels_of(tmp_path / "kept.db")] == ["disagree", "agree"]
    assert not path.exists()


async def test_nobody_reads_saved_while_the_file_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LOOK_EVERY_S", 0.1)
    path = labelling_store(tmp_path / "a.db", answers(4))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = AnnotateScreen(QUEUE, "ana")
        await app.push_screen(screen)
        await until(pilot, lambda: screen.ready and app.anchor is not None)
        await pilot.press("d")
        await until(pilot, lambda: screen.ready and "disagree (saved)" in screen_text(app))
        delete(path)
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert "(saved)" not in screen_text(app)
        assert "the store is gone" in screen_text(app)


async def test_a_screen_does_not_take_another_store_at_the_path_for_its_own(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(1))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.anchor is not None)
        with Store.open(tmp_path / "other.db", create=True):
            pass
        delete(path)
        (tmp_path / "other.db").rename(path)
        with pytest.raises(StoreGone, match="Another store was put in its place"):
            Store.open(path)
    Store.open(path).close()


async def test_a_survey_goes_on_in_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "GLANCE_S", 0.0)
    path = made(tmp_path / "audit.db", replace(instrument(), survey=()))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = SurveyScreen("small", None, "ana")
        await app.push_screen(screen)
        await until(pilot, lambda: "Enter begins." in screen_text(app) and app.anchor is not None)
        await pilot.press("enter")
        await until(pilot, lambda: screen.ready)
        await pilot.press("a")
        await until(pilot, lambda: screen.ready and "(saved)" in screen_text(app))
        delete(path)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and screen.ready)
        await pilot.press("d")
        await until(pilot, lambda: screen.ready and "(saved)" in screen_text(app))
    with Store.open(tmp_path / "audit.rescued.db") as kept:
        assert sorted(answer.agrees for answer in kept.surveys.answers("small")) == [False, True]
