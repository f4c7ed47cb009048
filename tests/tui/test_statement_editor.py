"""Statements are written, varied, changed, split, archived and undone on the screen; nothing typed
is lost.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, TextArea

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.conftest import flowing, large_instrument, made, screen_text, shown, status, until
from workbench.domain.designs import Design
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    QUESTION,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import ConfirmScreen
from workbench.tui.kit.person_dialog import EditorDialog
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.statements.archived import ArchivedScreen
from workbench.tui.statements.bulk_form import BulkForm
from workbench.tui.statements.history import HistoryScreen, VersionAnswersScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statement_form import AboutForm, SplitForm, StatementForm
from workbench.tui.statements.statements import PAGE, StatementsScreen
from workbench.tui.statements.wording_form import WordingForm
from workbench.tui.widgets.frame import Trouble
from workbench.tui.widgets.record_table import RecordTable

Driver = Pilot[Any]


def app_on(path: Path, person: str | None = "ana") -> WorkbenchApp:
    return WorkbenchApp(path, start="statements", annotator=person)


def table(app: WorkbenchApp) -> RecordTable:
    return app.screen.query_one("#lines", RecordTable)


def held(path: Path, ref: str = "a-1", name: str = "small") -> Statement:
    with Store.open(path) as store:
        return store.statements.get(name, ref)


def flat(app: WorkbenchApp) -> str:
    """What the terminal shows, with lines joined and blanks collapsed."""
    return flowing(app)


async def rows(pilot: Driver, n: int = 3) -> None:
    app: WorkbenchApp = pilot.app  # type: ignore[assignment]
    await until(
        pilot, lambda: isinstance(app.screen, StatementsScreen) and table(app).row_count == n
    )


async def opened(pilot: Driver, kind: type[Any], *keys: str) -> None:
    """Press keys and wait for the screen that they open."""
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()


async def on_sheet(pilot: Driver, n: int = 3) -> None:
    await rows(pilot, n)
    await opened(pilot, StatementScreen, "enter")
    await until(pilot, lambda: "▸ original" in screen_text(pilot.app))


def answered(path: Path) -> int:
    """Let a scripted model answer everything; return how many answers the first statement has."""
    with Store.open(path) as store:
        plan = planning.plan(store, Design("small", "scripted", samples=2))
        job = launch.create(store, plan.design, plan)
        attempt = store.jobs.claim(job, "test")
        asking.collect(store, plan, ScriptedModel(ScriptedPersona()), attempt=attempt, job=job)
        store.jobs.finish(job, attempt, "done", "all is stored")
        return store.statements.history("small", "a-1")[-1].answers


@pytest.mark.e2e
async def test_a_wording_is_edited_with_its_difference_to_the_original_shown_as_it_is_typed(
    path: Path,
) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await pilot.press("j")
        await opened(pilot, WordingForm, "e")
        await pilot.press(*" Truly.")
        await until(pilot, lambda: "Truly" in shown(app, "#after"))
        assert shown(app, "#after") == "Statement a-1 should become law. +[(1) Truly.]"
        assert shown(app, "#said").endswith("of 10,000 characters · saved under the name ana")
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, StatementScreen))
        await until(pilot, lambda: "by ana" in screen_text(app))
        assert "▸ paraphrase-1" in screen_text(app)
    wording = held(path).wording(VariantId(VariantKind.PARAPHRASE, 1), "en")
    assert wording is not None
    assert (wording.text, wording.author) == ("Statement a-1 should become law. (1) Truly.", "ana")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "said"),
    [("", "it is empty"), ("a" * 10_001, "it has 10,001 characters"), ("a\x00b", "NUL")],
    ids=("empty", "long", "nul"),
)
async def test_a_text_that_cannot_be_a_wording_is_refused_and_kept(
    path: Path, text: str, said: str
) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        app.screen.query_one("#text", TextArea).text = text
        await pilot.press("f5")
        await until(pilot, lambda: said in shown(app, "#said"))
        assert isinstance(app.screen, WordingForm)
        assert app.screen.query_one("#text", TextArea).text == text
    assert held(path).version == 1


@pytest.mark.e2e
async def test_enter_leaves_the_text_and_breaks_no_line(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        box = app.screen.query_one("#text", TextArea)
        box.focus()
        box.text = "One."
        box.move_cursor(box.document.end)
        await pilot.press("enter")
        assert (box.text, box.has_focus) == ("One.", False)
        box.focus()
        await pilot.press("ctrl+j", "x")
        assert box.text == "One.\nx"


@pytest.mark.e2e
async def test_a_wording_that_repeats_another_is_said_to(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        # A heading, and a label of the first pair.
        await until(pilot, lambda: screen_text(app).count("original") == 2)
        await opened(pilot, WordingForm, "a")
        await pilot.press("f5")
        assert "still the original's text" in shown(app, "#said")
        await pilot.press(*"Short")
        assert app.screen.query_one("#text", TextArea).text == "Short", (
            "typing replaces what was filled in"
        )
        app.screen.query_one("#text", TextArea).text = "Repeal: Statement a-1 should become law."
        await until(pilot, lambda: "the same text as opposite" in shown(app, "#said"))


@pytest.mark.e2e
async def test_escape_asks_before_unsaved_text_is_lost(path: Path) -> None:
    before = held(path)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        await pilot.press("x")
        await opened(pilot, ConfirmScreen, "escape")
        await opened(pilot, WordingForm, "n")
        assert app.screen.query_one("#text", TextArea).text.endswith("law.x")
        await opened(pilot, ConfirmScreen, "escape")
        await opened(pilot, StatementScreen, "y")
        await opened(pilot, WordingForm, "e")
        await opened(pilot, StatementScreen, "escape")
    assert held(path) == before


@pytest.mark.e2e
async def test_of_two_people_who_edit_at_once_neither_loses_a_text(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        app.screen.query_one("#text", TextArea).text = "What ana wants should become law."
        with Store.open(path) as store:
            seen = store.statements.get("small", "a-1")
            theirs = replace(seen.wordings[0], text="What ben wants should become law.")
            store.statements.save(
                "small", [replace(seen, wordings=(theirs, *seen.wordings[1:]))], person="ben"
            )
        await pilot.press("f5")
        await until(pilot, lambda: "changed meanwhile by ben" in shown(app, "#said"))
        assert "−[ben]" in shown(app, "#before")
        assert "+[ana]" in shown(app, "#after")
        assert held(path).wordings[0].text == "What ben wants should become law."
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: "What ana wants" in screen_text(app))
    with Store.open(path) as store:
        assert [edit.person for edit in store.statements.edits("small", "a-1")] == ["ana", "ben"]


@pytest.mark.e2e
async def test_a_change_of_what_is_shown_is_refused_where_it_is_no_more_so(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        with Store.open(path) as store:
            seen = store.statements.get("small", "a-1")
            store.statements.save("small", [replace(seen, topic="other")], person="ben")
        await pilot.press("j", "o")
        await until(pilot, lambda: app.screen.query_one(Trouble).shown)
        await until(pilot, lambda: "other" in flat(app))
        assert "changed meanwhile by ben" in flat(app)
        await pilot.press("o")
        await until(pilot, lambda: "set here; the kind implies same" in flat(app))
    assert held(path).topic == "other"


@pytest.mark.e2e
async def test_a_variant_is_added_and_deleted_and_both_are_undone(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 60)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "a")
        app.screen.query_one("#kind", Select).value = "political_opposite"
        app.screen.query_one("#text", TextArea).text = "The other side."
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: "political opposite" in screen_text(app))
        assert "expected stance: opposite" in screen_text(app)
        await pilot.press("j", "T")
        await until(pilot, lambda: "paraphrase-1  expected" not in screen_text(app))
        await pilot.press("u")
        await until(pilot, lambda: "paraphrase-1  expected" in screen_text(app))
        await pilot.press("u")
        await until(pilot, lambda: "political opposite  expected" not in screen_text(app))
    assert {w.variant: w.text for w in held(path).wordings} == {
        w.variant: w.text for w in instrument().statements[0].wordings
    }


async def test_an_original_is_not_deleted_while_variants_need_it(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await on_sheet(pilot)
        await pilot.press("T")
        await until(pilot, lambda: "while its variants need it" in flat(app))
    assert held(path).wording(ORIGINAL, "en") is not None


@pytest.mark.e2e
async def test_what_is_expected_goes_from_same_to_flipped_to_free_and_a_stated_one_is_marked(
    path: Path,
) -> None:
    app = app_on(path)
    async with app.run_test(size=(100, 40)) as pilot:
        await on_sheet(pilot)
        assert "o Expect" not in screen_text(app)
        await pilot.press("j", "o")
        await until(
            pilot,
            lambda: (
                "expected stance: opposite (set here; the kind implies same)" in screen_text(app)
            ),
        )
        await pilot.press("o")
        await until(pilot, lambda: "no expected stance (set here" in screen_text(app))
        await pilot.press("o")
        await until(pilot, lambda: "(set here" not in screen_text(app))
    assert held(path).wordings[1].stated is None


@pytest.mark.e2e
async def test_a_translation_needs_the_original_in_that_language_first(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await on_sheet(pilot)
        await pilot.press("j")
        await opened(pilot, WordingForm, "t")
        app.screen.query_one("#language", Input).value = "de"
        app.screen.query_one("#text", TextArea).text = "Anders gesagt."
        await pilot.press("f5")
        await until(pilot, lambda: "no original in de yet" in shown(app, "#said"))
        await opened(pilot, ConfirmScreen, "escape")
        await opened(pilot, StatementScreen, "y")
        await pilot.press("k")
        await opened(pilot, WordingForm, "t")
        app.screen.query_one("#language", Input).value = "de"
        app.screen.query_one("#text", TextArea).text = "Satz a-1 soll Gesetz werden."
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: "en (of en, de)" in screen_text(app))
        await pilot.press("j")
        await opened(pilot, WordingForm, "t")
        assert "Missing: de" in flat(app)
        await opened(pilot, StatementScreen, "escape")
        await pilot.press("l")
        await until(pilot, lambda: "Satz a-1 soll" in screen_text(app))


@pytest.mark.e2e
async def test_fields_are_changed_and_a_statement_is_renamed_without_a_new_version(
    path: Path,
) -> None:
    answers = answered(path)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, AboutForm, "i")
        for name, value in (
            ("ref", "law-1"),
            ("tags", "pilot, rent"),
            ("topic", ""),
            ("source", "WVS"),
        ):
            app.screen.query_one(f"#{name}", Input).value = value
        app.screen.query_one("#leaning", Select).value = "left"
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: "tags pilot, rent" in screen_text(app))
        assert "statements › law-1" in screen_text(app)
        assert f"{answers} answers to it" in screen_text(app)
        await pilot.press("escape")
        await rows(pilot)
        await until(pilot, lambda: table(app).current == "law-1")
    changed = held(path, "law-1")
    assert (changed.tags, changed.topic, changed.source, changed.leaning) == (
        ("pilot", "rent"),
        None,
        "WVS",
        "left",
    )
    assert changed.version == 1


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("ref", "a-2", "a-2"),
        ("ref", "two words", "none of them a space"),
        ("derived_from", "a-1", "cannot be derived from itself"),
        ("derived_from", "a-2", "a-1 → a-2 → a-1"),
        ("derived_from", "nowhere", "does not have"),
        ("topic", "x" * 65, "at most 64"),
    ],
)
async def test_fields_that_cannot_be_so_are_refused_and_kept(
    path: Path, field: str, value: str, said: str
) -> None:
    with Store.open(path) as store:
        store.statements.save(
            "small",
            [replace(store.statements.get("small", "a-2"), derived_from="a-1")],
            person="ben",
        )
    before = held(path)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, AboutForm, "i")
        app.screen.query_one(f"#{field}", Input).value = value
        await pilot.press("f5")
        await until(pilot, lambda: said in shown(app, "#said"))
        assert app.screen.query_one(f"#{field}", Input).value == value
    assert held(path) == before


@pytest.mark.e2e
async def test_a_statement_is_split_in_two_and_the_old_one_is_archived(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, SplitForm, "S")
        app.screen.query_one("#first", TextArea).text = "One thing."
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, StatementScreen))
        await until(pilot, lambda: "derived from a-1" in screen_text(app))
        await pilot.press("escape")
        await rows(pilot, 4)
        await opened(pilot, ArchivedScreen, "A")
        await until(pilot, lambda: app.screen.query_one("#archived", RecordTable).keys == ("a-1",))
        await pilot.press("u")
        await until(pilot, lambda: "Nothing is archived" in screen_text(app))
        await opened(pilot, StatementsScreen, "escape")
        await rows(pilot, 5)
    half = held(path, "a-1-a")
    assert [w.text for w in half.wordings] == ["One thing."]
    assert (half.derived_from, half.topic, half.issues) == ("a-1", "law", {})


@pytest.mark.e2e
async def test_answers_stay_with_the_text_they_were_given_to(path: Path) -> None:
    answers = answered(path)
    app = app_on(path)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        app.screen.query_one("#text", TextArea).text = "Statement a-1 should never become law."
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: f"Version 2 made; {answers} answers" in flat(app))
        await until(pilot, lambda: "version 2" in screen_text(app))
        await opened(pilot, HistoryScreen, "v")
        await until(
            pilot, lambda: app.screen.query_one("#versions", RecordTable).keys == ("2", "1")
        )
        await pilot.press("j")
        await until(pilot, lambda: "Version 1 (−) and version 2 (+)" in screen_text(app))
        text = screen_text(app)
        assert "+[never]" in text
        assert f"{answers}" in next(line for line in text.splitlines() if "earlier" in line)
        assert "ana  edited original" in text
        await opened(pilot, VersionAnswersScreen, "enter")
        await until(pilot, lambda: f"{answers:,} given" in screen_text(app))
        assert "should become law" in screen_text(app), "the words that were put then"
        await opened(pilot, WholeAnswerScreen, "enter")
        await until(pilot, lambda: "seed" in screen_text(app))
        await opened(pilot, VersionAnswersScreen, "escape")
        await opened(pilot, HistoryScreen, "escape")
        await opened(pilot, StatementScreen, "escape")
        await pilot.press("u")
        await until(pilot, lambda: f"version 1 · {answers} answers to it" in screen_text(app))


@pytest.mark.e2e
async def test_undoing_something_that_was_not_done_here_asks_first(path: Path) -> None:
    with Store.open(path) as store:
        store.statements.archive("small", ["b-1"], person="ana")
    app = app_on(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await on_sheet(pilot, 2)
        await opened(pilot, ConfirmScreen, "u")
        assert "archived b-1" in flat(app)
        await opened(pilot, StatementScreen, "y")
        await until(pilot, lambda: "Undone: archived b-1" in flat(app))
        assert "▸ original" in screen_text(app)
        await pilot.press("u")
        await until(pilot, lambda: "nothing to undo" in flat(app))
    assert held(path, "b-1").ref == "b-1"


@pytest.mark.e2e
async def test_the_first_change_asks_who_makes_it_and_goes_on(path: Path) -> None:
    with Store.open(path) as store:
        store.statements.save(
            "small", [replace(store.statements.get("small", "a-2"), topic="x")], person="ben"
        )
    app = app_on(path, person=None)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await opened(pilot, WordingForm, "e")
        await pilot.press("x")
        await opened(pilot, EditorDialog, "f5")
        await until(pilot, lambda: "ben" in screen_text(app))
        await opened(pilot, WordingForm, "escape")
        await opened(pilot, EditorDialog, "f5")
        await opened(pilot, StatementScreen, *"ana", "enter")
        await until(pilot, lambda: "law.x" in screen_text(app))
    assert app.annotator == "ana"
    assert held(path).wordings[0].author == "ana"


@pytest.mark.e2e
async def test_the_text_of_a_wording_is_copied(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_sheet(pilot)
        await pilot.press("j", "y")
        assert app.clipboard == "Statement a-1 should become law. (1)"


async def test_a_place_can_be_jumped_to(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await app.push_screen(StatementScreen("small", "a-2", "en", ("a-2",), at=NEGATION))
        await until(pilot, lambda: "▸ negation" in screen_text(app))


@pytest.mark.e2e
async def test_marks_survive_pages_and_filters_and_are_counted(tmp_path: Path) -> None:
    app = app_on(made(tmp_path / "audit.db", large_instrument(PAGE + 10)))
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot, PAGE)
        await pilot.press("space", "space", "end", "j")
        await rows(pilot, 10)
        await pilot.press("space")
        assert "● 3 marked" in screen_text(app)
        await pilot.press("k", "home", "k")
        await rows(pilot, PAGE)
        await pilot.press("home")
        assert "●  s-0000" in screen_text(app)
        await pilot.press("slash", *"s-000", "enter")
        await rows(pilot, 10)
        await pilot.press("asterisk")
        await until(pilot, lambda: "● 11 marked" in screen_text(app))
        await pilot.press("asterisk")
        await until(pilot, lambda: "● 1 marked" in screen_text(app))


async def test_marking_all_reaches_beyond_the_page(tmp_path: Path) -> None:
    app = app_on(made(tmp_path / "audit.db", large_instrument(PAGE + 10)))
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot, PAGE)
        await pilot.press("asterisk")
        await until(pilot, lambda: f"● {PAGE + 10} marked" in screen_text(app))


@pytest.mark.e2e
async def test_marked_statements_are_tagged_and_found_by_their_tag(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(140, 30), notifications=True) as pilot:
        await rows(pilot)
        await pilot.press("space", "space")
        await opened(pilot, BulkForm, "b")
        assert "Change 2 statements" in screen_text(app)
        app.screen.query_one("#value", Input).value = "pilot"
        await until(pilot, lambda: "2 of 2 statements would change" in shown(app, "#said"))
        await opened(pilot, StatementsScreen, "f5")
        await until(pilot, lambda: screen_text(app).count("pilot") >= 2)
        await pilot.press("T")
        await rows(pilot, 2)
        assert "tag pilot" in screen_text(app)
        await pilot.press("0", "slash", *"pilo", "enter")
        await rows(pilot, 2)
        await pilot.press("escape", "u")
        await until(pilot, lambda: "Undone: tagged pilot a-1, a-2" in flat(app))
    assert held(path).tags == ()


async def test_a_replacement_is_shown_word_by_word_before_it_is_made(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await opened(pilot, BulkForm, "b")
        app.screen.query_one("#act", Select).value = "replace"
        app.screen.query_one("#value", Input).value = "become"
        app.screen.query_one("#new", Input).value = "remain"
        await pilot.press("f5")  # too early: nothing was shown yet
        await until(pilot, lambda: "1 of 1 statement would change" in shown(app, "#said"))
        assert "become" in held(path).wordings[0].text
        assert "−[become]" in shown(app, "#preview")
        assert "+[remain]" in shown(app, "#preview")
        await opened(pilot, StatementsScreen, "f5")
        await until(pilot, lambda: "should remain law" in screen_text(app))
    assert {"remain law" in w.text for w in held(path).wordings} == {True}


@pytest.mark.e2e
async def test_a_replacement_that_empties_a_wording_is_refused(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await opened(pilot, BulkForm, "b")
        app.screen.query_one("#act", Select).value = "replace"
        app.screen.query_one("#value", Input).value = "Statement a-1 should become law."
        await until(pilot, lambda: "empty after the change" in shown(app, "#said"))
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, BulkForm)


@pytest.mark.e2e
async def test_stray_blanks_are_drawn_and_stripped(path: Path) -> None:
    with Store.open(path) as store:
        seen = store.statements.get("small", "a-1")
        loose = replace(seen.wordings[0], text=" Taxes  should fall. ")
        store.statements.save(
            "small", [replace(seen, wordings=(loose, *seen.wordings[1:]))], person="ben"
        )
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await opened(pilot, BulkForm, "b")
        app.screen.query_one("#act", Select).value = "strip"
        await until(pilot, lambda: "␣Taxes ␣should fall.␣" in shown(app, "#preview"))
        await opened(pilot, StatementsScreen, "f5")
        await until(pilot, lambda: held(path).wordings[0].text == "Taxes should fall.")


@pytest.mark.e2e
async def test_a_bulk_change_of_what_somebody_else_changed_is_shown_anew(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await opened(pilot, BulkForm, "b")
        app.screen.query_one("#value", Input).value = "pilot"
        await until(pilot, lambda: "would change" in shown(app, "#said"))
        with Store.open(path) as store:
            store.statements.save("small", [replace(held(path), tags=("x",))], person="ben")
        await pilot.press("f5")
        await until(pilot, lambda: "their current state" in shown(app, "#said"))
        assert "x, pilot" in shown(app, "#preview")
        await opened(pilot, StatementsScreen, "f5")
        await until(pilot, lambda: held(path).tags == ("x", "pilot"))


@pytest.mark.e2e
async def test_an_empty_store_leads_to_an_instrument_and_its_first_statement(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "empty.db")
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "I starts a new one here" in screen_text(app))
        await pilot.press("I")
        await pilot.pause()
        app.screen.query_one("#name", Input).value = "two words"
        await pilot.press("f5")
        await until(pilot, lambda: "two words" in shown(app, "#said"))
        app.screen.query_one("#name", Input).value = "housing"
        await pilot.press("f5")
        await until(pilot, lambda: "n writes the first one" in screen_text(app))
        await opened(pilot, StatementForm, "n")
        await pilot.press(*"Should the state ban cars?")
        await until(pilot, lambda: "The state should ban cars." in shown(app, "#proposal"))
        await pilot.press("f2")
        assert app.screen.query_one("#text", TextArea).text == "The state should ban cars."
        await pilot.press("f5")
        await rows(pilot, 1)
        assert table(app).has_focus
    statement = held(path, "s-01", "housing")
    assert {w.variant: w.text for w in statement.wordings} == {
        ORIGINAL: "The state should ban cars.",
        QUESTION: "Should the state ban cars?",
    }


@pytest.mark.e2e
async def test_a_new_statement_whose_ref_is_taken_is_kept_as_typed(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await opened(pilot, StatementForm, "n")
        assert app.screen.focus_chain[0] is app.focused, "the first field, and the ref after it"
        await pilot.press(*"Taxes should fall.", "tab")
        assert app.screen.query_one("#ref", Input).has_focus
        app.screen.query_one("#ref", Input).value = "a-1"
        await pilot.press("f5")
        await until(pilot, lambda: "already" in shown(app, "#said"))
        app.screen.query_one("#ref", Input).value = "tax-1"
        await pilot.press("f5")
        await rows(pilot, 4)
        await until(pilot, lambda: table(app).current == "tax-1")


@pytest.mark.e2e
async def test_near_duplicates_are_listed_with_their_difference(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await pilot.press("N")
        await until(pilot, lambda: "3 pairs" in screen_text(app))
        await until(pilot, lambda: "Statement +[b-1] should" in screen_text(app))
        await opened(pilot, StatementScreen, "enter")
        await opened(pilot, type(app.screen_stack[-2]), "escape")
        await pilot.press("plus", "plus", "plus")
        await until(pilot, lambda: "1 pair · similarity ≥ 0.9" in screen_text(app))


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 20)])
async def test_right_to_left_and_combining_texts_stand_as_they_are(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    base = instrument()
    texts = ("يجب خفض الضرائب", "Ze\u0301ro impo\u0302t\u200f", "a" * 10_000)
    statements = tuple(
        Statement(
            f"r-{n}",
            (Wording(ORIGINAL, "en", text), Wording(NEGATION, "en", f"لا {text}")),
            tags=("[b]\u202e",),
        )
        for n, text in enumerate(texts)
    )
    path = tmp_path / "audit.db"
    made(
        path,
        replace(
            base,
            statements=tuple(replace(s, tags=()) for s in statements),
            issue_labels=(),
            party_answers=(),
            survey=(),
        ),
    )
    app = app_on(path)
    async with app.run_test(size=size) as pilot:
        await on_sheet(pilot)
        assert "يجب خفض الضرائب" in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: "impo\u0302t\\u200f" in screen_text(app))
        await opened(pilot, WordingForm, "e")
        await pilot.press("!")
        await opened(pilot, StatementScreen, "f5")
        await until(pilot, lambda: held(path, "r-1").wordings[0].text == texts[1] + "!")
        await until(pilot, lambda: "by ana" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "aaaa" in screen_text(app))
        await opened(pilot, WordingForm, "e")
        assert "10,000 of 10,000 characters" in shown(app, "#said")


async def test_everything_of_the_workshop_is_a_named_action(path: Path) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        named = {
            active.binding.tooltip
            for active in app.screen.active_bindings.values()
            if active.enabled and active.node is app.screen
        }
        said = (
            "Review the pending drafts",
            "List the findings",
            "Label policy issues",
            "Answer the statements yourself",
            "Write the instrument to files",
            "Undo your last change",
            "Start a new instrument",
        )
        for words in said:
            assert any(words in name for name in named)
        kept = ("n New", "/ Find", "Space Mark", "b Change", "d Draft", "F1 Keys")
        await until(pilot, lambda: all(word in screen_text(app).splitlines()[-1] for word in kept))


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("key", "screen"),
    [
        ("d", "CommandForm"),
        ("P", "DraftsScreen"),
        ("f", "ChecksScreen"),
        ("g", "IssueGridScreen"),
        ("G", "IssueGoldScreen"),
        ("y", "SurveyScreen"),
        ("w", "ExportScreen"),
        ("N", "SimilarScreen"),
        ("A", "ArchivedScreen"),
    ],
)
async def test_each_part_of_the_workshop_opens_from_the_list(
    path: Path, key: str, screen: str
) -> None:
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        await pilot.press(key)
        await until(pilot, lambda: screen in [type(one).__name__ for one in app.screen_stack])
        await app.workers.wait_for_complete()


@pytest.mark.e2e
async def test_the_list_rules_on_a_statement_and_z_takes_back_what_was_done_last(
    path: Path,
) -> None:
    app = app_on(path)
    app.annotator = "otto"
    async with app.run_test(size=(80, 24)) as pilot:
        await rows(pilot)
        ref = app.screen.query_one(RecordTable).current
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, RulingDialog))
        await pilot.press("x", "enter")
        await until(pilot, lambda: f"excluded: {ref}" in status(app))
        with Store.open(path) as store:
            ((ruling,),) = store.rulings.standing().values()
        assert (ruling.subject.kind, ruling.subject.named["statement"]) == ("statement", ref)
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and app.screen._sheet is not None
        )
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, RulingDialog))
        await pilot.press("x", "enter")
        await until(pilot, lambda: "excluded: " in status(app))
        await pilot.press("z")
        await until(pilot, lambda: "undone: excluded" in status(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, StatementsScreen))
        await pilot.press("z")
        await until(pilot, lambda: "undone: excluded" in status(app))
    with Store.open(path) as store:
        assert not any(store.rulings.standing().values())
