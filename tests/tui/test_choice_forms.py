"""Forms of questions on the screen: previewed with what differs, accepted with one key, undone with
another.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Select, SelectionList, TextArea

from stores.core.store import Store
from tests.choice_questions import NAME, asked_store
from tests.conftest import instrument
from tests.tui.conftest import screen_text, shown, until
from workbench.domain.statements import CHANGED, VariantKind
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.command_form import CommandForm
from workbench.tui.statements.choice_form import NONE, ChoiceForm
from workbench.tui.statements.drafts import DraftsScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statement_form import StatementForm
from workbench.tui.statements.statements import StatementsScreen
from workbench.tui.statements.wording_form import WordingForm
from workbench.tui.widgets.fields import Tick

WEATHER = "response_order.weather"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    path = tmp_path / "town.db"
    asked_store(path).close()
    return path


def variants(path: Path, ref: str) -> list[str]:
    with Store.open(path) as store:
        return [str(wording.variant) for wording in store.statements.get(NAME, ref).wordings]


def shown_refs(app: WorkbenchApp) -> tuple[str, ...]:
    return tuple(app.screen.table.keys) if isinstance(app.screen, StatementsScreen) else ()


def screen_of(app: WorkbenchApp, kind: type[ChoiceForm]) -> ChoiceForm:
    assert isinstance(app.screen, kind)
    return app.screen


@pytest.mark.e2e
async def test_forms_are_previewed_accepted_and_undone_from_the_question(town: Path) -> None:
    app = WorkbenchApp(town)
    app.annotator = "Nora"
    async with app.run_test(size=(80, 24)) as pilot:
        screen = StatementScreen(NAME, WEATHER, "en", (WEATHER,))
        await app.push_screen(screen)
        await until(pilot, lambda: screen._sheet is not None)
        await pilot.press("F")
        await until(
            pilot, lambda: isinstance(app.screen, ChoiceForm) and app.screen._preview is not None
        )
        form = screen_of(app, ChoiceForm)
        await until(pilot, lambda: "D. Completely  (was A)" in screen_text(app))
        assert "A. Not at all  (was D)" in screen_text(app)
        assert "F5 writes 1 wording" in shown(app, "#said")
        form.query_one("#make", Select).value = NONE
        form.query_one("#key_typo", Tick).value = True
        form.query_one("#draws", Input).value = "2"
        form.query_one("#seed", Input).value = "7"
        await until(pilot, lambda: "F5 writes 2 wordings" in shown(app, "#said"))
        assert "key typo-2" in shown(app, "#preview")
        assert "−[" in shown(app, "#preview")
        form.query_one("#seed", Input).value = "seven"
        await until(pilot, lambda: "give a whole number" in shown(app, "#said"))
        await pilot.press("f5")
        assert app.screen is form
        assert variants(town, WEATHER) == ["original"], "nothing enters that cannot be worked out"
        form.query_one("#seed", Input).value = "7"
        await until(pilot, lambda: form._preview is not None and "F5 writes" in shown(app, "#said"))
        form.query_one("#seed").focus()
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: screen._sheet is not None and len(screen._sheet.wordings) == 3)
        assert variants(town, WEATHER) == ["original", "key_typo-1", "key_typo-2"]
        assert "seed 7, draw 1" in screen_text(app)
        await pilot.press("u")
        await until(pilot, lambda: screen._sheet is not None and len(screen._sheet.wordings) == 1)
        assert variants(town, WEATHER) == ["original"]


@pytest.mark.e2e
async def test_marked_questions_get_pairs_and_a_question_changed_meanwhile_is_looked_at_anew(
    town: Path,
) -> None:
    app = WorkbenchApp(town, start="statements")
    app.annotator = "Nora"
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: isinstance(app.screen, StatementsScreen) and app.screen.table.row_count == 5,
        )
        text = screen_text(app)
        assert "How do you like free buses" in text
        assert "␊" not in text, "a list shows the question without its options"
        await pilot.press("asterisk")
        await until(pilot, lambda: "5 marked" in shown(app, "#filters"))
        await pilot.press("F")
        await until(
            pilot, lambda: isinstance(app.screen, ChoiceForm) and app.screen._preview is not None
        )
        form = screen_of(app, ChoiceForm)
        assert "acquiescence, 1 question left out" in shown(app, "#preview")
        form.query_one("#make", Select).value = "opinion_float"
        await until(pilot, lambda: "1 question would be new" in shown(app, "#said"))
        assert "+ D. Don't know" in shown(app, "#preview")
        assert "found 4 options, none of them in the middle" in shown(app, "#preview")
        with Store.open(town) as store:
            store.statements.archive(NAME, ["response_order.sights"], person="Otto")
        await pilot.press("f5")
        await until(pilot, lambda: "response_order.sights" in shown(app, "#said"))
        assert app.screen is form
    with Store.open(town) as store:
        assert "opinion_float.sights" not in store.choices.items(NAME)


@pytest.mark.e2e
async def test_a_question_is_written_under_a_bias(town: Path) -> None:
    app = WorkbenchApp(town, start="statements")
    app.annotator = "Nora"
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: isinstance(app.screen, StatementsScreen) and app.screen.table.row_count == 5,
        )
        listed = app.screen
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, StatementForm))
        form = app.screen
        form.query_one("#ref", Input).value = "parks"
        form.query_one("#text", TextArea).text = "Should ball games be allowed in parks?"
        form.query_one("#bias", Select).value = "allow_forbid"
        await until(pilot, lambda: "without lettered options" in shown(app, "#said"))
        await pilot.press("f5")
        assert app.screen is form
        form.query_one("#text", TextArea).text += "\nA. Yes\nB. No\nC. Perhaps"
        await until(pilot, lambda: "Becomes allow_forbid.parks" in shown(app, "#said"))
        await pilot.press("f5")
        await until(pilot, lambda: "allow_forbid needs two" in shown(app, "#said"))
        text = form.query_one("#text", TextArea).text
        form.query_one("#text", TextArea).text = text.replace("\nC. Perhaps", "")
        await until(pilot, lambda: "Becomes" in shown(app, "#said"))
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is listed and "allow_forbid.parks" in shown_refs(app))
    with Store.open(town) as store:
        assert store.choices.items(NAME)["allow_forbid.parks"].key == "parks"


@pytest.mark.e2e
async def test_a_changed_form_is_written_by_hand_with_its_options(town: Path) -> None:
    app = WorkbenchApp(town)
    app.annotator = "Nora"
    async with app.run_test(size=(80, 24)) as pilot:
        screen = StatementScreen(NAME, "allow_forbid.dogs", "en", ("allow_forbid.dogs",))
        await app.push_screen(screen)
        await until(pilot, lambda: screen._sheet is not None)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, WordingForm))
        assert app.screen.query_one("#kind", Select).value == VariantKind.CHANGED
        app.screen.query_one("#text", TextArea).text = "Should dogs be forbidden in shops?"
        await until(pilot, lambda: "without lettered options" in shown(app, "#said"))
        app.screen.query_one("#text", TextArea).text += "\nA. Yes\nB. No"
        await until(pilot, lambda: "characters" in shown(app, "#said"))
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is screen and "changed" in screen_text(app))
        await until(pilot, lambda: screen._sheet is not None and len(screen._sheet.wordings) == 2)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, WordingForm))
        assert app.screen.query_one("#kind", Select).value == VariantKind.KEY_TYPO, (
            "a question has one changed form"
        )
        assert "e on it edits it" in screen_text(app)
        app.screen.query_one("#text", TextArea).text = "Shuold dogs be allowed?"
        await until(
            pilot, lambda: "key typo: this is a question with options" in shown(app, "#said")
        )
    with Store.open(town) as store:
        assert store.statements.get(NAME, "allow_forbid.dogs").wording(CHANGED, "en") is not None


@pytest.mark.e2e
async def test_changed_forms_are_drafted_and_reviewed_only_where_there_are_such_questions(
    town: Path,
) -> None:
    with Store.open(town) as store:
        store.instruments.add(instrument())
    app = WorkbenchApp(town)
    app.annotator = "Nora"
    async with app.run_test(size=(80, 24)) as pilot:
        form = CommandForm("draft", instrument=NAME)
        await app.push_screen(form)
        kinds: SelectionList[str] = form.query_one("#kind", SelectionList)
        await until(pilot, lambda: kinds.selected == ["changed"])
        form.query_one("#model", Input).value = "rule"
        await until(pilot, lambda: "the rule makes 2 drafts at once" in shown(app, "#plan"))
        assert set(form.listed("kind")) == {"original", "negation", "changed"}, (
            "what a rule can draft"
        )
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is not form)
        await app.push_screen(review := DraftsScreen(NAME))
        await until(
            pilot, lambda: review.current is not None and "changed form" in shown(app, "#heading")
        )
        assert "acquiescence" in shown(app, "#heading")
        assert (
            shown(app, "#draft")
            == "Wouldn't you agree that the state should build more flats?\nA. Yes\nB. No"
        )
        assert "no hints" in shown(app, "#hints")
        await pilot.press("a")
        await until(pilot, lambda: "1 accepted" in review.title_bar.note)
        await app.push_screen(plain := CommandForm("draft", instrument="small"))
        await until(pilot, lambda: "negation" in plain.listed("kind"))
        assert "changed" not in plain.listed("kind")
    with Store.open(town) as store:
        held = store.statements.get(NAME, "acquiescence.views").wording(CHANGED, "en")
    assert held is not None
    assert held.text.endswith("\nA. Yes\nB. No")
