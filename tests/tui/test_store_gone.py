"""The store's file goes away under a person's hands: nothing is called saved that is not, and
nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from tests.tui.conftest import made, screen_text, until
from tests.tui.test_annotation_session import KINDS, seated
from tests.tui.test_statement_editor import held, on_sheet
from tests.tui.test_statement_editor import opened as editing
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import StoreGone
from workbench.tui import app as terminal
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import StoreGoneDialog
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.wording_form import WordingForm

pytestmark = pytest.mark.usefixtures("no_pause")


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


@pytest.mark.e2e
async def test_nobody_reads_saved_while_the_file_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("goes", [delete, replace_by_another])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_person_labels_in_a_store_that_is_gone_is_done_again_in_the_copy(
    tmp_path: Path, kind: str, goes: Callable[[Path], None], size: tuple[int, int]
) -> None:
    of, path, copy = KINDS[kind], tmp_path / "audit.db", tmp_path / "kept.db"
    async with seated(path, kind, size) as seat:
        app = seat.app
        await seat.until(lambda: app.anchor is not None)
        await seat.press("d")
        await seat.until(lambda: "(saved)" in seat.words)
        goes(path)
        await seat.pilot.press("a")
        await seat.until(lambda: isinstance(app.screen, StoreGoneDialog))
        assert "the store is gone" in seat.words.lower()
        assert "agree was NOT saved" in flat(str(seat.screen.trouble.render())) or kind == "issues"
        assert "(saved)" not in seat.screen._said
        await seat.pilot.press("escape")
        await seat.until(lambda: app.screen is seat.screen)
        assert seat.screen.trouble.shown
        assert "the store is gone" in seat.words.lower()
        assert "(saved)" not in seat.words
        await seat.pilot.press("a")
        await seat.until(lambda: isinstance(app.screen, StoreGoneDialog))
        app.screen.query_one(Input).value = str(copy)
        await seat.pilot.press("enter")
        await seat.until(lambda: app.screen is seat.screen and app.store_path == copy)
        await seat.until(lambda: all(worker.is_finished for worker in app.workers) and seat.rest)
        await seat.press("a")
        await seat.until(lambda: "(saved)" in seat.words)
        assert sorted(map(str, of.kept(copy))) == sorted(map(str, of.labels))
        if kind != "adjudication":  # there z leads back to decisions, which stand
            await seat.press("z", "z")
            assert of.kept(copy) == []


@pytest.mark.e2e
@pytest.mark.parametrize("goes", [delete, replace_by_another])
async def test_what_is_typed_into_an_editor_is_saved_in_the_copy(
    tmp_path: Path, goes: Callable[[Path], None]
) -> None:
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
