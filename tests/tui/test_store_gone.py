"""The store's file goes away under a person's hands: nothing is called saved that is not, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import Input, Static

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, labelling_store, labels_of
from tests.tui.conftest import made, screen_text, until
from tests.tui.issue_stores import ISSUES, issue_store
from tests.tui.issue_stores import labels_of as issue_labels
from tests.tui.test_adjudicate_screen import decisions, labelled, queued
from tests.tui.test_statement_editor import held, on_sheet
from tests.tui.test_statement_editor import opened as editing
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import StoreGone
from workbench.tui import app as terminal
from workbench.tui.annotation import session_screen
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.issue_grid import IssueGridScreen
from workbench.tui.annotation.survey import SurveyScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.store_gone_dialog import StoreGoneDialog
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.wording_form import WordingForm


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_screen, "GLANCE_S", 0.0)


def delete(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def replace_by_another(path: Path) -> None:
    other = path.with_name("other.db")
    Store.open(other, create=True).close()
    delete(path)
    other.rename(path)


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
    monkeypatch.setattr(session_screen, "GLANCE_S", 0.0)
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


@dataclass
class Work:
    """Work on a screen that writes to the store: two steps, each of which one key commits."""

    fill: Callable[[Path], object]
    screen: Callable[[], Screen[Any]]
    keys: tuple[str, str]
    saved: Callable[[WorkbenchApp], bool]
    "whether the first step is said to be in the store"
    kept: Callable[[Path], object]
    wanted: object
    "what the copy holds once the second step was done again"


def disputed(path: Path) -> None:
    units = queued(path, ["Yes and no.", "I would rather not.", "It depends."])
    for person, label in (("Annabel", "agree"), ("Bartholomew", "neutral")):
        labelled(path, person, dict.fromkeys(units, label))


WORKS = {
    "adjudication": Work(
        disputed,
        lambda: AdjudicateScreen("q"),
        ("d", "a"),
        lambda app: "2 left · 1 decided" in screen_text(app),
        lambda path: [label for _, label, *_ in decisions(path)],
        ["disagree", "agree"],
    ),
    "issue labels": Work(
        issue_store,
        lambda: IssueGridScreen("small"),
        ("a", "d"),
        lambda app: "(saved)" in screen_text(app),
        lambda path: issue_labels(path, "ana"),
        {("a-1", ISSUES[0]): 1, ("a-1", ISSUES[1]): -1},
    ),
}


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("goes", [delete, replace_by_another])
@pytest.mark.parametrize("work", WORKS)
async def test_what_a_person_decides_of_a_store_that_is_gone_is_done_again_in_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, goes: Callable[[Path], None], size: tuple[int, int]
) -> None:
    monkeypatch.setattr(session_screen, "GLANCE_S", 0.0)
    of, path = WORKS[work], tmp_path / "audit.db"
    of.fill(path)
    app = WorkbenchApp(path, annotator="ana")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.anchor is not None)
        await app.push_screen(screen := of.screen())
        await pilot.pause()
        await pilot.press(of.keys[0])
        await until(pilot, lambda: of.saved(app))
        goes(path)
        await pilot.press(of.keys[1])
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        assert "the store is gone" in flat(screen_text(app)).lower()
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert screen.trouble.shown
        assert "the store is gone" in flat(screen_text(app)).lower()
        assert "(saved)" not in screen_text(app)
        await pilot.press(of.keys[1])
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        app.screen.query_one(Input).value = str(tmp_path / "kept.db")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and app.store_path == tmp_path / "kept.db")
        await until(pilot, lambda: not any(not worker.is_finished for worker in app.workers))
        await pilot.press(of.keys[1])
        await until(pilot, lambda: of.kept(tmp_path / "kept.db") == of.wanted)


@pytest.mark.parametrize("goes", [delete, replace_by_another])
async def test_what_is_typed_into_an_editor_is_saved_in_the_copy(tmp_path: Path, goes: Callable[[Path], None]) -> None:
    path, kept = made(tmp_path / "audit.db", instrument()), tmp_path / "audit.rescued.db"
    app = WorkbenchApp(path, start="statements", annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await until(pilot, lambda: app.anchor is not None)
        await pilot.press("j")
        await editing(pilot, WordingForm, "e")
        form = app.screen
        await pilot.press(*" Truly.")
        goes(path)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        assert "the store is gone" in flat(str(form.query_one("#said", Static).render()))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is form and app.store_path == kept)
        assert "Truly." in screen_text(app), "what was typed stands there"
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, StatementScreen))
        await until(pilot, lambda: "Truly." in flat(screen_text(app)))
    wording = held(kept).wording(VariantId(VariantKind.PARAPHRASE, 1), "en")
    assert wording is not None
    assert wording.text.endswith("(1) Truly.")
