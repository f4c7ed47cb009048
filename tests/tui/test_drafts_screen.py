"""Review of drafts: one at a time, a decision is in the store before the next shows, and nothing
enters unseen.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, SelectionList, TextArea

from stores.core.store import Store
from stores.instruments.drafts import Draft, NewDraft
from tests.conftest import instrument
from tests.tui.conftest import HOSTILE, made, screen_text, shown, status, until
from tests.tui.typing import done
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    QUESTION,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.jobs import launch
from workbench.pipeline.drafting import accept, draft_by_rule
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.kit.command_form import CommandForm
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.statements.drafts import DraftEditor, DraftsScreen

PARAPHRASE = VariantKind.PARAPHRASE
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


def basis(ref: str) -> str:
    return f"Statement {ref} should become law."


def proposed(path: Path, *lines: tuple[str, VariantKind, str], fault: str = "") -> None:
    """Let somebody have drafted lines: (ref, kind, text)."""
    with Store.open(path) as store:
        drafts = [
            NewDraft(ref, kind, "en", basis(ref), line, "m-1", "p#1@", fault=fault)
            for ref, kind, line in lines
        ]
        store.drafts.add("small", drafts)


def drafts(path: Path) -> tuple[Draft, ...]:
    with Store.open(path) as store:
        return store.drafts.list("small")


def wording(path: Path, ref: str, variant: VariantId) -> Wording | None:
    with Store.open(path) as store:
        return store.statements.get("small", ref).wording(variant, "en")


def settled(screen: DraftsScreen, note: str) -> bool:
    return note in screen.title_bar.note and not screen._busy


async def opened(app: WorkbenchApp, pilot: Pilot[int], person: str | None = "Nora") -> DraftsScreen:
    app.annotator = person
    screen = DraftsScreen("small")
    await app.push_screen(screen)
    await until(pilot, lambda: screen.review.stack is not None or screen.trouble.shown)
    await until(pilot, lambda: screen.current is None or screen.query_one("#draft").size.height)
    await pilot.pause()
    return screen


@pytest.fixture
def stacked(path: Path) -> Path:
    proposed(
        path,
        ("a-1", PARAPHRASE, '1. "Statement a-1 is to become law."'),
        ("a-1", VariantKind.NEGATION, "Statement a-1 should not become law."),
        ("a-2", PARAPHRASE, "Let a-2 be a law."),
    )
    return path


@SIZES
async def test_a_draft_is_shown_with_its_original_what_is_there_and_where_it_comes_from(
    stacked: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        text = screen_text(app)
        assert screen.title_bar.note == "1 of 3 pending · 0 accepted · 0 rejected"
        assert "a-1 · paraphrase" in text
        assert "expected: the same stance as the original" in text
        assert "−[should]" in text
        assert "+[is to]" in text
        assert "paraphrase-3" in shown(app, "#existing")
        assert "m-1 · p" in shown(app, "#provenance")
        await pilot.press("s")
        assert "▲ accepting replaces it" in shown(app, "#existing")
        assert "expected: the opposite stance" in screen_text(app)


async def test_accepting_commits_before_the_next_shows_and_numbers_paraphrases(
    stacked: Path,
) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        seen: list[str | None] = []
        show = screen._show

        def shows() -> None:
            held = wording(stacked, "a-1", VariantId(PARAPHRASE, 4))
            seen.append(held.text if held else None)
            show()

        screen._show = shows  # type: ignore[method-assign]
        await pilot.press("a")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        assert seen == ["Statement a-1 is to become law."]
        assert wording(stacked, "a-1", VariantId(PARAPHRASE, 4)) == Wording(
            VariantId(PARAPHRASE, 4), "en", "Statement a-1 is to become law.", "m-1"
        )
        assert "negation" in shown(app, "#heading"), "the next one"
        await pilot.press("a")
        await until(pilot, lambda: "2 accepted" in screen.title_bar.note)
        held = wording(stacked, "a-1", NEGATION)
        assert held is not None
        assert held.text == "Statement a-1 should not become law."


@pytest.mark.e2e
async def test_one_key_accepts_all_without_a_hint_after_a_question_and_one_takes_them_back(
    path: Path,
) -> None:
    proposed(
        path,
        *(
            ("a-1", PARAPHRASE, f"{n}. Statement a-1 ought to be enacted in way {chr(96 + n) * 2}.")
            for n in range(1, 8)
        ),
        ("a-1", PARAPHRASE, "Statement a-1 should never become law."),
        ("a-2", VariantKind.NEGATION, "Statement a-2 should not become law."),
    )
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        asked = shown(app, "#text")
        assert "Accept 7 drafts for 1 statement?" in asked
        assert "2 that have hints or replace a wording wait on" in asked
        await pilot.press("n")
        assert not any(d.state == "accepted" for d in drafts(path)), "a question, not an act"
        await pilot.press("A", "y")
        await until(pilot, lambda: settled(screen, "7 accepted"))
        assert screen.title_bar.note.startswith("1 of 2 pending · 7 accepted")
        assert wording(path, "a-1", VariantId(PARAPHRASE, 10)) is not None
        assert "paraphrase-10" in shown(app, "#existing")
        assert "and 6 more, from paraphrase-1 on" in shown(app, "#existing")
        assert "paraphrase-5" not in shown(app, "#existing")
        await pilot.press("A")
        await pilot.pause()
        assert app.screen is screen, "what is left has to be read"
        await pilot.press("z")
        await until(pilot, lambda: settled(screen, "1 of 9 pending · 0 accepted"))
        assert wording(path, "a-1", VariantId(PARAPHRASE, 4)) is None


@pytest.mark.e2e
async def test_an_edited_draft_has_both_authors(stacked: Path) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("e")
        assert isinstance(app.screen, DraftEditor)
        box = app.screen.query_one(TextArea)
        assert box.text == "Statement a-1 is to become law."
        box.text = "  "
        await pilot.press("f5")
        assert isinstance(app.screen, DraftEditor)
        assert "the wording is empty" in shown(app, "#said")
        box.text = "Nine laws\nare due."
        await until(pilot, lambda: "other numbers" in shown(app, "#said"))
        await pilot.press("f5")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        assert drafts(stacked)[0].state == "edited"
        held = wording(stacked, "a-1", VariantId(PARAPHRASE, 4))
        assert held == Wording(
            VariantId(PARAPHRASE, 4), "en", "Nine laws are due.", "m-1, edited by Nora"
        )


@pytest.mark.e2e
async def test_a_rejection_keeps_its_note_and_the_instrument_as_it_was(stacked: Path) -> None:
    with Store.open(stacked) as store:
        before = store.instruments.get("small")
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("m", *"too vague", "enter")
        assert shown(app, "#note-line") == "Note: “too vague”"
        await pilot.press("r")
        await until(pilot, lambda: "1 rejected" in screen.title_bar.note)
        assert not screen.query_one("#note-line").display
    decision = drafts(stacked)[0].decision
    assert decision is not None
    assert (decision.decision, decision.note, decision.person) == ("rejected", "too vague", "Nora")
    with Store.open(stacked) as store:
        assert store.instruments.get("small") == before


@pytest.mark.e2e
async def test_undo_goes_back_as_far_as_the_session_and_takes_wordings_out_again(
    stacked: Path,
) -> None:
    with Store.open(stacked) as store:
        before = store.instruments.get("small")
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        for key, note in (("a", "1 accepted"), ("a", "2 accepted"), ("r", "1 rejected")):
            await pilot.press(key)
            await until(pilot, partial(settled, screen, note))
        assert screen.current is None
        for left in (1, 2, 3):
            await pilot.press("z")
            await until(pilot, partial(settled, screen, f"of {left}"))
        assert screen.current is not None
        assert screen.current.draft.kind is PARAPHRASE
        assert not screen.check_action("undo", ())
    with Store.open(stacked) as store:
        assert store.instruments.get("small") == before


async def test_what_another_reviewer_decided_is_said_and_not_decided_twice(stacked: Path) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        first = drafts(stacked)[0]
        with Store.open(stacked) as store:
            store.drafts.reject(first.id, person="Olaf")
        await pilot.press("a")
        await until(pilot, lambda: "1 rejected" in screen.title_bar.note)
        assert "Olaf has rejected" in status(app)
        assert wording(stacked, "a-1", VariantId(PARAPHRASE, 4)) is None
        second = screen.current
        assert second is not None
        with Store.open(stacked) as store:
            accept(store, store.drafts.get(second.draft.id), person="Olaf")
        screen.tick()
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        assert "Olaf has accepted this draft" in status(app)


async def test_a_negation_that_changed_since_it_was_shown_is_not_replaced(stacked: Path) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("s")
        with Store.open(stacked) as store:
            proposed(stacked, ("a-1", VariantKind.NEGATION, "No law on a-1."))
            accept(store, store.drafts.list("small")[-2], person="Olaf")
        held = wording(stacked, "a-1", NEGATION)
        assert held is not None
        assert held.text == "No law on a-1."
        await pilot.press("a")
        await until(pilot, lambda: not screen._busy)
        await until(pilot, lambda: "has changed in the meantime" in status(app))
        held = wording(stacked, "a-1", NEGATION)
        assert held is not None
        assert held.text == "No law on a-1."


@pytest.mark.e2e
async def test_filters_by_kind_and_statement_narrow_the_stack(stacked: Path) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("f")
        assert screen.title_bar.note.startswith("only paraphrase · 1 of 2")
        await pilot.press("f")
        assert screen.title_bar.note.startswith("only negation · 1 of 1")
        await pilot.press("f", "t")
        assert screen.title_bar.note.startswith("only a-1 · 2 of 2")
        await pilot.press("a")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        await pilot.press("r")
        await until(pilot, lambda: "1 rejected" in screen.title_bar.note)
        assert "No pending drafts (only a-1)" in shown(app, "#empty")
        await pilot.press("t")
        assert screen.current is not None
        assert screen.current.draft.ref == "a-2"


async def test_a_question_becomes_the_original_of_its_statement(path: Path) -> None:
    with Store.open(path) as store:
        wordings = (Wording(QUESTION, "en", "Should the state pay?"),)
        store.statements.create("small", [Statement("q-1", wordings)], person="ana")
        assert draft_by_rule(store, "small", [VariantKind.ORIGINAL], ["q-1"]) == {"": 1}
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "question" in screen_text(app)
        assert "becomes the original" in screen_text(app)
        await pilot.press("a")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
    with Store.open(path) as store:
        found = store.statements.get("small", "q-1")
    assert {w.variant: w.text for w in found.wordings} == {
        QUESTION: "Should the state pay?",
        ORIGINAL: "The state should pay.",
    }


async def test_lines_that_cannot_be_wordings_are_listed_with_why_and_not_in_the_stack(
    path: Path,
) -> None:
    proposed(path, *(("a-1", PARAPHRASE, text) for text in HOSTILE), fault="control")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.current is None
        assert "6 lines" in shown(app, "#empty")
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()
        text = screen_text(app)
        assert "unprintable or broken" in text
        assert "\x1b" not in text


@pytest.mark.e2e
async def test_hostile_drafts_are_shown_literally(path: Path) -> None:
    proposed(path, *(("a-1", PARAPHRASE, text) for text in HOSTILE))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        for text in HOSTILE[:4]:
            assert screen.current is not None
            assert screen.current.draft.line == text
            assert "\x1b" not in screen_text(app)
            assert "\u202e" not in screen_text(app)
            await pilot.press("s")
        await pilot.press("left", "a")
        await until(pilot, lambda: screen.trouble.shown)
        assert "u202e, which does not show" in screen_text(app)
        assert {d.state for d in drafts(path)} == {"pending"}


@pytest.mark.e2e
async def test_who_reviews_is_asked_once(stacked: Path) -> None:
    app = WorkbenchApp(stacked)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot, person=None)
        await pilot.press("a")
        assert isinstance(app.screen, PersonDialog)
        await pilot.press(*"ana", "enter")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        await pilot.press("r")
        await until(pilot, lambda: "1 rejected" in screen.title_bar.note)
    assert {d.decision.person for d in drafts(stacked) if d.decision} == {"ana"}


@pytest.mark.e2e
async def test_the_form_says_what_is_asked_and_its_drafts_come_to_the_open_screen(
    path: Path, tmp_path: Path
) -> None:
    persona = tmp_path / "drafter.toml"
    answers = ["1. A law on this is due.\n2. Let this be the law.\n\nSure, here you go:"]
    persona.write_text(f"answers = {json.dumps(answers)}\n", encoding="utf-8")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "No drafts yet" in shown(app, "#empty")
        await pilot.press("n")
        form = app.screen
        assert isinstance(form, CommandForm)
        await until(pilot, lambda: "prompts to ask" in shown(app, "#plan"))
        assert "Haller et al. 2025, appendix C" in shown(app, "#plan")
        assert "3 statements × 5 calls of 20 each, a sample of 50" in shown(app, "#plan")
        kinds: SelectionList[str] = form.query_one("#kind", SelectionList)
        kinds.deselect_all()
        kinds.select("paraphrase")
        form.query_one("#model", Input).value = f"scripted:{persona}"
        form.query_one("#statements", Input).value = "a-1, b-1"
        form.query_one("#calls", Input).value = "2"
        await until(pilot, lambda: "2 statements × 2 calls" in shown(app, "#plan"))
        await until(pilot, lambda: "4 prompts to ask" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is screen)
        deadline = time.monotonic() + 600
        while len(screen.review.pending) < 4:
            assert time.monotonic() < deadline
            launch.reap()
            screen.tick()
            await pilot.pause(0.05)
        assert "2 · 0 accepted" not in screen.title_bar.note
        texts = {(case.ref, case.line) for case in screen.review.pending}
        assert ("b-1", "2. Let this be the law.") in texts
        await done(app, pilot)  # the drafts that came last are on the screen
        await pilot.press("a")
        await until(pilot, lambda: "1 accepted" in screen.title_bar.note)
        await until(pilot, lambda: drafts_job_ended(path))
    held = wording(path, "a-1", VariantId(PARAPHRASE, 4))
    assert held is not None
    assert held.text == "A law on this is due."
    made_by = drafts(path)[0].made
    assert made_by is not None
    assert (made_by.backend, made_by.job) == ("scripted", 1)


def drafts_job_ended(path: Path) -> bool:
    launch.reap()
    with Store.open(path) as store:
        return not any(job.active for job in store.jobs.list())


@pytest.mark.e2e
async def test_the_rule_drafts_at_once_and_without_a_job(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("n")
        form = app.screen
        await until(pilot, lambda: "prompts to ask" in shown(app, "#plan"))
        form.query_one("#model", Input).value = "rule"
        await until(pilot, lambda: "the rule makes 3 drafts at once" in shown(app, "#plan"))
        kinds: SelectionList[str] = form.query_one("#kind", SelectionList)
        assert kinds.selected == ["negation"], "a kind that no rule drafts is not offered"
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is screen and len(screen.review.pending) == 3)
        assert screen.review.pending[0].line == "Statement a-1 should not become law."
        assert "workbench rule" in shown(app, "#provenance")
    with Store.open(path) as store:
        assert store.jobs.list() == ()


@pytest.mark.e2e
async def test_jobs_offers_drafting_and_says_what_came_of_it(path: Path, tmp_path: Path) -> None:
    persona = tmp_path / "nonsense.toml"
    persona.write_text(
        'answers = ["", "Sure, here it is:", "???", "As an AI language model, I cannot do that."]\n'
    )
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, JobsScreen) and app.screen._seen)
        await pilot.press("n", "d")
        await until(pilot, lambda: isinstance(app.screen, CommandForm))
        app.screen.query_one("#model", Input).value = f"scripted:{persona}"
        await until(pilot, lambda: "nonsense.toml drafts for 3 statements" in shown(app, "#plan"))
        assert all(words in screen_text(app) for words in ("Start  F5", "Leave  Esc"))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(pilot, lambda: drafts_job_ended(path))
        await pilot.press("f5")
        await until(pilot, lambda: "no usable drafts" in shown(app, "#details"))
        assert "drafts paraphrase, negation, opposite for all statements of small" in shown(
            app, "#details"
        )
    with Store.open(path) as store:
        assert store.jobs.get(1).state == "done"
        assert store.statements.edits("small") == ()


async def test_a_store_that_has_no_such_instrument_says_so(tmp_path: Path) -> None:
    path = made(tmp_path / "other.db", instrument(name="other"))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.trouble.shown
        assert "no instrument is named" in screen_text(app)
