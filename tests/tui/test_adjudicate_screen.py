"""Adjudication: only disagreements, nobody's name, one key decides, and it is in the store before
the next shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from stores.annotation.annotator import Annotator
from stores.annotation.labels import JudgedItem
from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import held
from tests.tui.conftest import HOSTILE, flowing, made, screen_text, shown, until
from workbench.domain.annotations import (
    Codebook,
    DisagreementReason,
    LabelOption,
    LabelSubject,
    Purpose,
)
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import ConfirmScreen, StoreGoneDialog, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.widgets.long_text import LongText

STANCE = Codebook(
    "stance",
    "Stance of an answer",
    "What is the answer's stance on the statement?",
    LabelSubject.RESPONSE,
    (
        LabelOption("agree", "a", "takes its side"),
        LabelOption("disagree", "d", "takes the side against it"),
        LabelOption("neutral", "n", "takes no side"),
        LabelOption("unrelated", "u", "is no answer"),
    ),
    "In doubt, choose neutral.",
    ("disagree", "neutral", "agree"),
)
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


def queued(path: Path, texts: Sequence[str], *, needed: int = 2, name: str = "q") -> list[int]:
    """Make a store with a queue of these texts, all answers to the first statement; return the
    units.
    """
    made(path, instrument())
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        items = [NewItem(wording, needed, "s", text=text) for text in texts]
        store.queues.create(name, Purpose.TEST, STANCE, items, {})
        rows = store.connection.execute(
            "select unit_id from queue_item order by ordinal"
        ).fetchall()
    return [row[0] for row in rows]


def labelled(
    path: Path,
    person: str,
    labels: Mapping[int, str],
    notes: Mapping[int, str] | None = None,
    queue: str = "q",
) -> None:
    """Let a person label units; those with a note are flagged too."""
    with Annotator.open(path, queue, person) as annotator:
        for unit, label in labels.items():
            if notes and unit in notes:
                annotator.remark(unit, flagged=True, note=notes[unit])
            annotator.label(unit, label, elapsed_ms=900)


def judged(path: Path, unit: int) -> JudgedItem:
    with Store.open(path) as store:
        return store.labels.judged("stance", unit=unit)[0]


def decisions(path: Path) -> list[tuple[Any, ...]]:
    """Return every decision on record: (unit, label, reason, note, who), the first first."""
    with Store.open(path) as store:
        rows = store.connection.execute(
            "select r.unit_id, r.label, r.reason, r.note, h.name from reading r join reader h on "
            "h.id = r.reader_id where h.kind = 'adjudication' order by r.at, r.revision"
        )
        return [tuple(row) for row in rows]


async def opened(
    app: WorkbenchApp, pilot: Pilot[int], auditor: str | None = "Nora"
) -> AdjudicateScreen:
    """Show the screen, with a person who is known to the app, and wait for what it reads."""
    setattr(app, "annotator", auditor)  # noqa: B010
    screen = AdjudicateScreen("q")
    await app.push_screen(screen)
    await until(pilot, lambda: screen.items.queue is not None or screen.trouble.shown)
    await pilot.pause()
    return screen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


@pytest.fixture
def disputed(path: Path) -> list[int]:
    """Three disagreements and one item on which both agree."""
    units = queued(path, ["Yes and no.", "I would rather not.", "It depends.", "Surely."])
    labelled(path, "Annabel", dict(zip(units, ["agree", "agree", "neutral", "agree"], strict=True)))
    labelled(
        path,
        "Bartholomew",
        dict(zip(units, ["disagree", "disagree", "agree", "agree"], strict=True)),
        notes={units[0]: "takes [bold]both sides"},
    )
    return units


async def test_one_key_decides_and_it_is_stored_before_the_next_shows(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.title_bar.note == "3 left · 0 decided"
        assert "Yes and no." in screen_text(app)
        seen: list[list[tuple[Any, ...]]] = []
        show = screen._show

        def shows() -> None:
            seen.append(decisions(path))
            show()

        screen._show = shows  # type: ignore[method-assign]
        await pilot.press("d")
        await until(pilot, lambda: screen.title_bar.note == "2 left · 1 decided")
        assert seen == [[(disputed[0], "disagree", "other", "", "Nora")]]
        assert "I would rather not." in screen_text(app)
    found = judged(path, disputed[0])
    assert (found.gold, found.open) == ("disagree", False)


@pytest.mark.e2e
async def test_who_labelled_an_item_is_asked_before_deciding_it(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot, auditor="Annabel")
        assert screen.title_bar.place == "adjudicate › q · by Annabel"
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert decisions(path) == []
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PersonDialog))
        app.screen.query_one("#person", Input).value = "Nora"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("d")
        await until(pilot, lambda: bool(decisions(path)))
        assert screen.title_bar.place == "adjudicate › q · by Nora"
    assert decisions(path) == [(disputed[0], "disagree", "other", "", "Nora")]


@pytest.mark.e2e
async def test_nobody_is_named_and_notes_and_flags_are_shown_literally(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        text = screen_text(app)
        assert "“takes [bold]both sides”  ⚑" in text
        lines = shown(app, "#labels").splitlines()
        assert [line[0] for line in lines] == ["A", "B"]
        assert {line.split()[1] for line in lines} == {"agree", "disagree"}
        for key in ("s", "s", "f1"):
            assert "Annabel" not in screen_text(app)
            assert "Bartholomew" not in screen_text(app)
            await pilot.press(key)
    del disputed


@pytest.mark.e2e
async def test_reason_and_note_go_with_the_decision_and_not_with_the_next(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "▸6 other" in shown(app, "#reasons")
        await pilot.press("2")
        assert "▸2 ambiguous" in shown(app, "#reasons")
        await pilot.press("m", *"see p3", "enter")
        assert shown(app, "#note-line") == "Note: “see p3”"
        assert decisions(path) == []
        await pilot.press("n")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        assert decisions(path) == [(disputed[0], "neutral", "ambiguous", "see p3", "Nora")]
        assert "▸6 other" in shown(app, "#reasons")
        assert not screen.query_one("#note-line").display
        await pilot.press("c")
        assert "▸1 slip" in shown(app, "#reasons")


@pytest.mark.e2e
async def test_reason_and_note_wait_for_an_item_that_was_left(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("3", "m", *"hm", "enter", "n")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        await pilot.press("z")
        await until(pilot, lambda: shown(app, "#note-line") == "Note: “hm”")
        await pilot.press("s")
        assert "▸6 other" in shown(app, "#reasons"), "they belong to the item"
        for _ in range(9):
            if screen.current is not None and screen.current.unit != disputed[0]:
                await pilot.press("s")
        assert screen.current is not None
        assert screen.current.unit == disputed[0]
        assert "▸3" in shown(app, "#reasons")
        assert shown(app, "#note-line") == "Note: “hm”"


@pytest.mark.e2e
async def test_going_back_decides_anew_and_keeps_both_on_record(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("3", "a")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        await pilot.press("b")
        assert screen.current is not None
        assert screen.current.unit == disputed[0]
        assert "agree (guideline)" in shown(app, "#decision")
        assert "▸3 guideline" in shown(app, "#reasons")
        await pilot.press("u")
        await until(pilot, lambda: len(decisions(path)) == 2 and not screen._busy)
        assert [row[1] for row in decisions(path)] == ["agree", "unrelated"]
        assert judged(path, disputed[0]).gold == "unrelated"
        assert screen.title_bar.note == "2 left · 1 decided"
        assert screen.current.unit == disputed[1]


async def test_going_back_reaches_decisions_of_earlier_sessions(
    path: Path, disputed: list[int]
) -> None:
    with Store.open(path) as store:
        store.labels.decide(disputed[2], STANCE, "agree", DisagreementReason.SLIP, "clear", "Olaf")
        store.labels.decide(disputed[0], STANCE, "neutral", DisagreementReason.HEDGED, "", "Olaf")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        units = []
        for _ in range(3):
            await pilot.press("b")
            units.append(screen.current.unit if screen.current else None)
        assert units == [disputed[0], disputed[2], disputed[2]]
        assert "agree (slip) “clear”" in shown(app, "#decision")
        assert "Olaf" not in screen_text(app)
        await pilot.press("s")
        assert screen.current is not None
        assert screen.current.unit == disputed[1]


@pytest.mark.e2e
async def test_undo_takes_back_ones_own_decisions_of_this_and_earlier_visits(
    path: Path, disputed: list[int]
) -> None:
    with Store.open(path) as store:
        store.labels.decide(disputed[2], STANCE, "agree", DisagreementReason.SLIP, "clear", "Nora")
        store.labels.decide(disputed[2], STANCE, "neutral", DisagreementReason.HEDGED, "", "Nora")
        store.labels.decide(disputed[1], STANCE, "neutral", DisagreementReason.HEDGED, "", "Nora")
        store.labels.decide(disputed[1], STANCE, "agree", DisagreementReason.HEDGED, "", "Olaf")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)

        async def undo(said: str) -> None:
            await pilot.press("z")
            await until(pilot, lambda: said in screen_text(app) and not screen._busy)

        await pilot.press("3", "a")
        await until(pilot, lambda: "3 decided" in screen.title_bar.note and not screen._busy)
        await undo("undone: agree")
        assert screen.current is not None
        assert (screen.current.unit, judged(path, disputed[0]).decision) == (disputed[0], None)
        await undo("undone: neutral")
        assert screen.current.unit == disputed[2]
        assert "agree (slip) “clear”" in shown(app, "#decision"), "what stood before stands again"
        await pilot.press("s")
        await undo("undone: agree")
        assert screen.current.judged.decision is None
        await undo("Nothing to undo: you have decided nothing in this queue.")
        assert screen.title_bar.note == "2 left · 1 decided", "Olaf's decision stays"
        await pilot.press("d")
        await until(pilot, lambda: "2 decided" in screen.title_bar.note)
    assert [row[1] for row in decisions(path) if row[0] == disputed[2]][:3] == [
        "agree",
        "neutral",
        "agree",
    ]


async def test_undo_brings_reason_and_note_back_with_the_item(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("2", "m", *"see p3", "enter", "n")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        await pilot.press("z")
        await until(pilot, lambda: "undone: neutral" in screen_text(app) and not screen._busy)
        assert shown(app, "#note-line") == "Note: “see p3”"
        assert "▸2 ambiguous" in shown(app, "#reasons")
        await pilot.press("a")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
    assert decisions(path)[-1] == (disputed[0], "agree", "ambiguous", "see p3", "Nora")


@SIZES
async def test_every_reason_is_explained_before_it_is_chosen_and_every_key_has_its_own_line(
    path: Path, disputed: list[int], size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        for words in (
            "slip (wrong key)",
            "guideline (does not say)",
            "context (needs statement)",
            "other (none of 1-5)",
        ):
            assert words in screen_text(app)
        assert ("Why they differ: other" in screen_text(app)) is (size[1] > 24)
        await pilot.press("f1")
        listed = [" ".join(line.split()) for line in shown(app, "#text").splitlines()]
        assert {
            "a Decide: agree",
            "d Decide: disagree",
            "n Decide: neutral",
            "u Decide: unrelated",
        } <= set(listed)
    del disputed


async def test_the_side_of_a_statement_is_hidden_from_who_decides(
    path: Path, disputed: list[int]
) -> None:
    with Store.open(path) as store, store.write() as connection:
        connection.execute("update statement set dimension = 'economic', leaning = 'right'")
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        assert screen.current is not None
        assert (screen.current.unit, screen.current.judged.context.leaning) == (
            disputed[0],
            "right",
        )
        assert "economic · " in shown(app, "#about")
        assert "right" not in screen_text(app)


async def test_skipping_leaves_an_item_undecided_for_later(path: Path, disputed: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        order = []
        for _ in range(4):
            order.append(screen.current.unit if screen.current else None)
            await pilot.press("s")
        assert order == [*disputed[:3], disputed[0]]
        assert "last: skipped" in screen_text(app)
        assert decisions(path) == []
        assert screen.title_bar.note == "3 left · 0 decided"


async def test_an_item_that_was_reopened_says_so_and_what_was_decided(path: Path) -> None:
    units = queued(path, ["Perhaps."], needed=3)
    labelled(path, "Annabel", {units[0]: "agree"})
    labelled(path, "Bartholomew", {units[0]: "disagree"})
    with Store.open(path) as store:
        store.labels.decide(units[0], STANCE, "agree", DisagreementReason.AMBIGUOUS, "", "Olaf")
    labelled(path, "Cecily", {units[0]: "neutral"})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        line = shown(app, "#decision")
        assert line.startswith("↺ reopened: new labels came after the decision of 20")
        assert line.endswith("UTC: agree (ambiguous)")
        assert screen.title_bar.note == "1 left · 0 decided"
        assert "▸6 other" in shown(app, "#reasons")
        await pilot.press("n")
        await until(pilot, lambda: screen.title_bar.note == "0 left · 1 decided")
    assert [row[1] for row in decisions(path)] == ["agree", "neutral"]
    assert not judged(path, units[0]).open


async def test_labels_that_came_while_one_looked_are_shown_before_anything_is_decided(
    path: Path,
) -> None:
    units = queued(path, ["Perhaps."], needed=3)
    labelled(path, "Annabel", {units[0]: "agree"})
    labelled(path, "Bartholomew", {units[0]: "disagree"})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        labelled(path, "Cecily", {units[0]: "neutral"}, notes={units[0]: "look closely"})
        await pilot.press("a")
        await until(pilot, lambda: "look closely" in screen_text(app))
        assert decisions(path) == []
        await pilot.press("n")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
    assert [row[1] for row in decisions(path)] == ["neutral"]


@pytest.mark.e2e
async def test_keys_are_ignored_while_a_decision_is_committed(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        with held(path):
            await pilot.press("a", "d", "n", "s", "z", "2", "m")
            await until(pilot, lambda: "waiting for the store" in shown(app, "#pace"))
            assert app.screen is screen
            assert screen.current is not None
            assert screen.current.unit == disputed[0]
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        assert shown(app, "#pace").endswith("last: agree (saved)")
    assert [row[:2] for row in decisions(path)] == [(disputed[0], "agree")]


@pytest.mark.e2e
async def test_a_failed_commit_keeps_the_item_and_says_what_happened(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        path.rename(path.with_suffix(".away"))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        assert screen.trouble.shown
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        path.with_suffix(".away").rename(path)
        await pilot.press("d")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
        assert not screen.trouble.shown
    assert [row[:2] for row in decisions(path)] == [(disputed[0], "disagree")]


@pytest.mark.e2e
async def test_the_last_decision_ends_in_a_plain_word(path: Path, disputed: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        for left in (2, 1, 0):
            await pilot.press("a")
            await until(
                pilot,
                lambda left=left: f"{left} left" in screen.title_bar.note and not screen._busy,
            )  # type: ignore[misc]
        assert shown(app, "#empty").startswith("All disagreements in this queue are decided: 3.")
        await pilot.press("a", "b")
        assert screen.current is not None
        assert screen.current.unit == disputed[2]
        assert len(decisions(path)) == 3


async def test_a_queue_without_disagreements_says_how_much_was_compared(path: Path) -> None:
    units = queued(path, ["Yes.", "No."])
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "No item has two labels yet" in shown(app, "#empty")
        await pilot.press("escape")
        for person in ("Annabel", "Bartholomew"):
            labelled(path, person, {units[0]: "agree"})
        await opened(app, pilot)
        assert (
            "No disagreements in this queue: 1 item has two or more labels, and they agree."
            in " ".join(screen_text(app).split())
        )


async def test_a_queue_that_is_not_there_is_a_plain_sentence(path: Path) -> None:
    made(path, instrument())
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.trouble.shown
        assert "no queue is named 'q'" in screen_text(app)


@pytest.mark.e2e
async def test_without_a_name_nothing_is_decided_and_the_name_given_is_kept(
    path: Path, disputed: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot, auditor=None)
        assert isinstance(app.screen, PersonDialog)
        assert "Annabel" not in screen_text(app)
        await pilot.press("escape", "a")
        assert isinstance(app.screen, PersonDialog)
        assert decisions(path) == []
        await pilot.press(*"Nora  N", "enter", "a")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
    assert decisions(path) == [(disputed[0], "agree", "other", "", "Nora N")]
    assert getattr(app, "annotator", None) == "Nora N"


@pytest.mark.e2e
@SIZES
async def test_hostile_texts_are_shown_literally(path: Path, size: tuple[int, int]) -> None:
    units = queued(path, HOSTILE)
    for person, label in (("Annabel", "agree"), ("Bartholomew", "disagree")):
        labelled(
            path, person, dict.fromkeys(units, label), notes=dict(zip(units, HOSTILE, strict=True))
        )
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        for text in HOSTILE:
            assert "\x1b" not in screen_text(app)
            assert screen.query_one("#choices").region.height == 1
            assert "a agree" in flowing(app)
            assert "▸6 other" in screen_text(app)
            whole = "".join(screen.query_one("#answer", LongText).lines)
            assert len(whole) >= len(text)
            await pilot.press("s")
            await pilot.pause()


@pytest.mark.e2e
async def test_the_guideline_and_the_explanation_open(path: Path, disputed: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("g")
        assert isinstance(app.screen, TextScreen)
        assert "In doubt, choose neutral." in screen_text(app)
        await pilot.press("g")
        assert isinstance(app.screen, AdjudicateScreen)
        await pilot.press("question_mark")
        assert "in new letters for every item" in screen_text(app)
        await pilot.press("escape", "m")
        assert app.screen.query_one(Input).has_focus
        await pilot.press("a", "escape", "escape")
        assert not isinstance(app.screen, AdjudicateScreen)
    assert decisions(path) == []
    del disputed


async def test_label_keys_that_other_actions_have_still_decide(path: Path) -> None:
    """Codebooks that came with imported labels may use any key."""
    made(path, instrument())
    book = Codebook(
        "odd",
        "Odd",
        "?",
        LabelSubject.RESPONSE,
        (LabelOption("yes", "s", ""), LabelOption("no", "j", "")),
        "g",
    )
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        store.queues.create("q", Purpose.TEST, book, [NewItem(wording, 2, "", text="x")], {})
        unit = store.connection.execute("select unit_id from queue_item").fetchone()[0]
    labelled(path, "Annabel", {unit: "yes"})
    labelled(path, "Bartholomew", {unit: "no"})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("j")
        await until(pilot, lambda: "1 decided" in screen.title_bar.note)
    assert [row[1] for row in decisions(path)] == ["no"]
