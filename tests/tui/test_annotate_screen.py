"""Labelling: on disk before the next item shows, never an item nobody saw, undone as deep as the
session, blind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from stores.annotation.annotator import Annotator, QueueProgress
from stores.core.store import Store
from tests.tui.annotation_stores import (
    HOSTILE_ANSWERS,
    QUEUE,
    answers,
    held,
    labelling_store,
    labels_of,
    leases_of,
)
from tests.tui.seats import Seat, at_screen
from workbench.data import shipped_codebook
from workbench.domain.annotations import Codebook, LabelOption, LabelSubject
from workbench.tui import format as tui_format
from workbench.tui.annotation import annotate_format
from workbench.tui.annotation.annotate import AnnotateScreen, GivenScreen
from workbench.tui.annotation.annotate_format import key_row, last_line, pace_line
from workbench.tui.kit import session_screen
from workbench.tui.kit.dialogs import NoteDialog, TextScreen

pytestmark = pytest.mark.usefixtures("no_pause")


@asynccontextmanager
async def seated(
    path: Path, name: str = "ana", *, queue: str = QUEUE, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Seat]:
    async with at_screen(path, AnnotateScreen(queue, name), size=size) as seat:
        await seat.until(lambda: seat.screen.ready or seat.screen.trouble.shown)
        yield seat


@pytest.mark.e2e
async def test_every_key_of_the_codebook_gives_its_label(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(5))
    options = shipped_codebook("stance").options
    async with seated(path) as seat:
        for place, option in enumerate(options):
            assert f"answer {place:04}" in seat.text
            await seat.press(option.key)
            await seat.until(
                lambda said=f"last: {option.label} (saved) – z to undo": said in seat.text
            )  # type: ignore[misc]
        seat.screen.still_waits()  # the clock ran out as the answer came
        await seat.until(lambda: "(saved) – z to undo" in seat.text)
    assert [(text[:11], label) for text, _, label in labels_of(path)] == [
        (f"answer {place:04}", option.label) for place, option in enumerate(options)
    ]


@pytest.mark.parametrize("per_hour", [None, 412.4, 9_999.0, 120_000.0, 3_600_000.0, -40.0])
def test_what_was_saved_fits_on_the_line_at_any_pace(per_hour: float | None) -> None:
    progress = QueueProgress(
        done=99, left=1, held=0, skipped=0, flagged=0, per_hour=per_hour, attention=(0, 0)
    )
    for option in shipped_codebook("stance").options:
        line = pace_line(progress, last_line(f"{option.label} (saved)", 3))
        assert line.cell_length <= 76  # 80 columns less the margins
        assert ("an hour" in line.plain) is (per_hour in (412.4, 9_999.0))


def test_what_can_be_undone_is_whole_and_a_pace_of_two_labels_is_none() -> None:
    progress = QueueProgress(
        done=9, left=1, held=0, skipped=0, flagged=0, per_hour=333.0, attention=(0, 0)
    )
    assert "an hour" not in pace_line(progress, last_line("agree (saved)", 1)).plain
    for option in shipped_codebook("side").options:
        later = pace_line(
            replace(progress, done=99_999), last_line(f"{option.label} (saved)", 3), width=76
        )
        assert later.plain.endswith(f"last: {option.label} (saved) – z to undo")
        assert later.cell_length <= 76
    assert last_line("undone", 2).plain == "last: undone – z undoes the step before"
    assert last_line("undone", 0).plain == "last: undone", "nothing is left to undo"


def test_a_label_with_its_key_is_not_torn() -> None:
    options = shipped_codebook("side").options
    for width in (76, 60, 40):
        for mark in ("", *(option.label for option in options)):
            lines = key_row(options, mark, width=width).plain.replace("\u00a0", " ").split("\n")
            assert all(len(line) <= width for line in lines)
            for option in options:
                shown = f"‹{option.label}›" if option.label == mark else option.label
                assert sum(f" {option.key}  {shown}" in line for line in lines) == 1


@pytest.mark.e2e
async def test_undo_goes_back_step_by_step_and_returns_in_the_same_order(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(6))
    async with seated(path) as seat:
        await seat.press("a", "d", "s", "n")
        assert "answer 0004" in seat.text
        for text, former in (
            ("answer 0003", "neutral"),
            ("answer 0002", ""),
            ("answer 0001", "disagree"),
        ):
            await seat.press("z")
            assert text in seat.text
            assert (f"your previous label: {former}, withdrawn" in seat.text) == bool(former)
            assert (f"‹{former}›" in seat.text) == bool(former)
        await seat.press("z")
        assert "answer 0000" in seat.text
        assert labels_of(path) == []
        await seat.press("z")
        assert "nothing to undo: you have labelled, flagged and noted nothing here" in seat.text
        for number, key in enumerate("udna"):
            assert f"answer {number:04}" in seat.text
            await seat.press(key)
        assert "answer 0004" in seat.text
    labels = [(text[:11], label) for text, _, label in labels_of(path)]
    assert labels == [
        ("answer 0000", "unrelated"),
        ("answer 0001", "disagree"),
        ("answer 0002", "neutral"),
        ("answer 0003", "agree"),
    ]


@pytest.mark.e2e
async def test_a_skipped_item_comes_back_behind_all_others(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        await seat.press("s")
        assert "answer 0001" in seat.text
        await seat.press("a", "a")
        assert "answer 0000" in seat.text
        await seat.press("a")
        assert "You have labelled everything" in seat.text


@pytest.mark.e2e
async def test_undo_takes_back_whatever_was_done_last_and_says_what(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(6))
    async with seated(path) as seat:
        await seat.press("a")
        await seat.press("c")
        await seat.press("f")
        await seat.until(lambda: "last: flag (saved) – z to undo" in seat.text)
        await seat.press("c")
        assert "you are fairly sure" in seat.text
        await seat.press("z")
        assert "you are unsure" in seat.text
        assert "last: undone: confidence" in seat.text
        await seat.press("z")
        await seat.until(lambda: "last: undone: flag" in seat.text)
        assert "⚑ flagged" not in seat.text
        assert "answer 0001" in seat.text
        assert [label for _, _, label in labels_of(path)] == ["agree"], (
            "the label before the flag stays"
        )
        await seat.pilot.press("m")
        await seat.until(lambda: isinstance(seat.app.screen, NoteDialog))
        await seat.pilot.press(*"hm", "enter")
        await seat.until(lambda: "note “hm”" in seat.text)
        await seat.press("z")
        await seat.until(lambda: "last: undone: note" in seat.text)
        assert "note “hm”" not in seat.text
        await seat.press("z")
        await seat.until(lambda: "last: undone: agree" in seat.text)
    assert labels_of(path) == []


@pytest.mark.e2e
async def test_undo_reaches_back_to_labels_flags_and_notes_of_earlier_visits(
    tmp_path: Path,
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(6))
    async with seated(path) as seat:
        await seat.press("a", "d")
        await seat.press("f")
        await seat.until(lambda: "⚑ flagged" in seat.text)
        await seat.press("n")
    with Annotator.open(path, QUEUE, "zora") as other:
        other.remark(other.next().unit, flagged=True, note="")  # type: ignore[union-attr]
    async with seated(path) as seat:
        for words, text in (
            ("neutral", "0002"),
            ("flag", "0002"),
            ("disagree", "0001"),
            ("agree", "0000"),
        ):
            await seat.press("z")
            await seat.until(lambda words=words: f"undone: {words}" in seat.text)  # type: ignore[misc]
            assert f"answer {text}" in seat.text
        await seat.press("z")
        assert "nothing to undo" in seat.text
    assert labels_of(path) == []


@pytest.mark.e2e
async def test_flag_and_note_are_saved_and_shown_and_outlive_the_label(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with seated(path) as seat:
        await seat.press("f")
        await seat.until(lambda: "⚑ flagged" in seat.text)
        await seat.pilot.press("m")
        await seat.until(lambda: isinstance(seat.app.screen, NoteDialog))
        await seat.pilot.press(*"q[b]!", "enter")
        await seat.until(lambda: "note “q[b]!”" in seat.text)
        await seat.press("d")
        assert "flagged" not in seat.text
    with Store.open(path) as store:
        given = store.labels.judged("stance")[0].labels[0]
    assert (given.flagged, given.note, given.label) == (True, "q[b]!", "disagree")


@pytest.mark.e2e
async def test_escape_leaves_a_note_as_it_was(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with seated(path) as seat:
        await seat.pilot.press("m")
        await seat.until(lambda: isinstance(seat.app.screen, NoteDialog))
        await seat.pilot.press("x", "escape", "y")
        await seat.until(lambda: seat.app.screen is seat.screen)
        await seat.press("f")
        await seat.until(lambda: "⚑ flagged" in seat.text)
        assert "note" not in seat.text


@pytest.mark.e2e
async def test_a_note_that_could_not_be_saved_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.core.connection.BUSY_TIMEOUT_MS", 100)
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with seated(path) as seat:
        with held(path):
            await seat.pilot.press("m")
            await seat.until(lambda: isinstance(seat.app.screen, NoteDialog))
            await seat.pilot.press(*"why", "enter")
            await seat.until(lambda: "NOT saved" in seat.text)
        await seat.pilot.press("m")
        await seat.until(lambda: isinstance(seat.app.screen, NoteDialog))
        assert seat.app.screen.query_one(Input).value == "why"
        await seat.pilot.press("enter")
        await seat.until(lambda: "note “why”" in seat.text)


async def test_how_sure_one_is_goes_with_one_label_only(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        await seat.press("c", "c")
        assert "you are fairly sure" in seat.text
        await seat.press("a")
        assert "how sure: not said" in seat.text
        await seat.press("a")
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "select confidence from reading where label is not null order by at"
    ).fetchall()
    connection.close()
    assert rows == [(0.67,), (None,)]


@pytest.mark.e2e
async def test_the_guideline_opens_above_on_80_columns_and_beside_on_140(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    words = "takes the side against the statement"
    async with seated(path) as seat:
        await seat.pilot.press("g")
        await seat.until(lambda: isinstance(seat.app.screen, TextScreen))
        assert words in seat.words
        await seat.pilot.press("a", "g")
        await seat.until(lambda: seat.app.screen is seat.screen)
        assert "answer 0000" in seat.text
    async with seated(path, size=(140, 40)) as seat:
        await seat.pilot.press("g")
        await seat.until(lambda: "takes the side" in seat.text)
        assert "answer 0000" in seat.text
        await seat.press("a")
        assert "answer 0001" in seat.text
        assert "takes the side" in seat.text
        await seat.pilot.press("g")
        await seat.until(lambda: "takes the side" not in seat.text)


@pytest.mark.e2e
async def test_a_label_of_before_can_be_changed_and_work_goes_on_where_it_was(
    tmp_path: Path,
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4))
    async with seated(path) as seat:
        await seat.press("a", "f")
        await seat.until(lambda: "⚑ flagged" in seat.text)
        await seat.pilot.press("m", *"odd", "enter")
        await seat.until(lambda: "note “odd”" in seat.text)
        await seat.press("c", "c", "d")
    async with seated(path) as seat:
        assert "answer 0002" in seat.text
        assert "2/4 items" in seat.note
        await seat.pilot.press("v")
        await seat.until(lambda: isinstance(seat.app.screen, GivenScreen))
        assert "disagree  answer 0001" in seat.text
        newest = seat.app.screen.query_one(OptionList)
        assert newest.option_count == 2
        lines = [line.strip(" │") for line in seat.text.splitlines()]
        mine = next(
            place for place, line in enumerate(lines) if line.startswith("disagree  answer 0001")
        )
        assert lines[mine + 1].startswith("on: ")
        assert lines[mine + 2] == "you were fairly sure · ⚑ flagged · note “odd”"
        assert set(lines[mine + 3]) == {"─"}, "a line between two labels"
        assert lines[mine + 4].startswith("agree  answer 0000")
        await seat.pilot.press("j", "enter")
        await seat.until(lambda: "your label: agree" in seat.text)
        assert "answer 0000" in seat.text
        assert "‹agree›" in seat.text
        await seat.press("n")
        assert "answer 0002" in seat.text
        await seat.pilot.press("v")
        await seat.until(lambda: isinstance(seat.app.screen, GivenScreen))
        await seat.pilot.press("enter")
        await seat.until(lambda: "your label: neutral" in seat.text)
        await seat.press("s")
        assert "answer 0002" in seat.text
    assert [label for _, _, label in labels_of(path)] == ["neutral", "disagree"]


@pytest.mark.e2e
async def test_two_people_at_one_store_label_what_needs_two_and_not_each_others(
    tmp_path: Path,
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4), needed=1)
    async with seated(path, "ana") as ana, seated(path, "bob") as bob:
        assert "answer 0000" in ana.text
        assert "answer 0001" in bob.text
        await ana.press("a")
        assert "answer 0002" in ana.text
        await bob.press("d")
        assert "answer 0003" in bob.text
        await ana.press("a")
        await ana.until(lambda: "1 item is with other annotators" in ana.text)
        await bob.press("d")
        assert "You have labelled everything" in bob.text
    given = [(text[:11], who, label) for text, who, label in labels_of(path)]
    assert given == [
        ("answer 0000", "ana", "agree"),
        ("answer 0001", "bob", "disagree"),
        ("answer 0002", "ana", "agree"),
        ("answer 0003", "bob", "disagree"),
    ]


@pytest.mark.e2e
async def test_nothing_hidden_is_on_the_screen(tmp_path: Path) -> None:
    path = labelling_store(
        tmp_path / "a.db", answers(3), needed=2, attention=[("known item", "agree")]
    )
    with Annotator.open(path, QUEUE, "Zora-the-other") as other:
        item = other.next()
        assert item is not None
        other.remark(item.unit, flagged=True, note="peer-note")
        other.label(item.unit, "unrelated")
    seen = []
    async with seated(path, size=(140, 40)) as seat:
        for key in ("v", "escape", "g", "a", "d", "n", "question_mark", "escape", "f1"):
            seen.append(seat.text)
            await seat.pilot.press(key)
            await seat.pilot.pause(0.1)
        seen.append(seat.text)
    for text in seen:
        for hidden in (
            "secret-model-9b",
            "prefix-7",
            "Zora",
            "peer-note",
            "flagged",
            "original",
            "attention",
        ):
            assert hidden not in text
    assert any("answer 0000" in text for text in seen)


@pytest.mark.e2e
async def test_hostile_answers_are_shown_literally(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", HOSTILE_ANSWERS)
    wanted = (
        "[@click=app.quit]x[/] and [bold]no end",
        "␛[31mred␛[0m ␇ and ␛]0;title␇",
        "right \\u202e to left, שלום and مرحبا",
        "(the answer is empty)",
        "(the answer is blank: 4 characters of white space)",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "word word word word",
        "[/INST] closes nothing",
    )
    async with seated(path) as seat:
        for text in wanted:
            assert text in seat.text
            assert "\x1b" not in seat.text
            await seat.press("u")
        assert "You have labelled everything" in seat.text
    assert [text for text, _, _ in labels_of(path)] == list(HOSTILE_ANSWERS)


@pytest.mark.e2e
async def test_a_hostile_statement_and_codebook_do_no_harm(tmp_path: Path) -> None:
    options = (
        LabelOption("[red]yes[/]", "y", "[@click=app.quit]m"),
        LabelOption("‹no›\x1b", "s", ""),
    )
    book = Codebook("odd", "[b]", "[link=x]?", LabelSubject.RESPONSE, options, "[/] guide")
    path = labelling_store(tmp_path / "a.db", answers(2), codebook=book, queue="[q]\u202e")
    async with seated(path, queue="[q]\u202e") as seat:
        assert "[red]yes[/]" in seat.text
        assert "[link=x]?" in seat.text
        await seat.press("g")
        await seat.until(lambda: "[@click=app.quit]m" in seat.text)
        await seat.pilot.press("escape")
        await seat.press("y")
        await seat.press("s")
    assert [label for _, _, label in labels_of(path, "[q]\u202e")] == ["[red]yes[/]", "‹no›\x1b"]


@pytest.mark.e2e
async def test_a_long_answer_scrolls_and_the_next_one_starts_at_its_beginning(
    tmp_path: Path,
) -> None:
    text = "\n".join(f"line {n}" for n in range(500))
    path = labelling_store(tmp_path / "a.db", (text, text + "\nend"))
    async with seated(path) as seat:
        assert "Response · 500 lines, space shows more" in seat.text
        await seat.pilot.press("space")
        await seat.until(lambda: "line 0 " not in seat.text)
        await seat.pilot.press("end")
        await seat.until(lambda: "line 499" in seat.text)
        await seat.pilot.press("up")
        await seat.until(lambda: "line 499" not in seat.text)
        await seat.press("a")
        assert "line 0 " in seat.text
        assert "Response · 501 lines" in seat.text


@pytest.mark.e2e
async def test_leaving_gives_the_item_back_and_digits_and_h_do_not_leave(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        await seat.press("a")
        await seat.pilot.press("1", "2", "9", "0", "h")
        assert seat.app.screen is seat.screen
        assert leases_of(path) == [("ana", answers(3)[1])]
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.screen is not seat.screen)
        await seat.until(lambda: leases_of(path) == [])


@pytest.mark.e2e
async def test_leaving_right_after_a_key_keeps_the_label_and_no_lease(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        await seat.pilot.press("a", "escape")
        await seat.until(lambda: seat.app.screen is not seat.screen)
    assert [label for _, _, label in labels_of(path)] == ["agree"]
    assert leases_of(path) == []


@pytest.mark.e2e
@pytest.mark.parametrize("dies_in", ["before", "after"])
async def test_a_killed_program_leaves_the_label_or_none_and_the_same_item_comes_back(
    tmp_path: Path, dies_in: str
) -> None:
    """The process is killed in the label's transaction, or between its commit and the next item."""
    import subprocess
    import sys

    path = labelling_store(tmp_path / "a.db", answers(3))
    verb = "label" if dies_in == "before" else "next"
    code = f"""
import asyncio, os, sys
from dataclasses import replace
from pathlib import Path
from stores.annotation.annotator import Annotator, QueueProgress
from workbench.tui import format as tui_format
from workbench.tui.app import WorkbenchApp
from workbench.tui.annotation.annotate import AnnotateScreen

def die(self, *args, **named):
    if {verb!r} == "label":
        with self._store.write() as connection:
            self._revise(connection, args[0], args[1], "", None, None)
            os._exit(9)
    os._exit(9)

async def main():
    app = WorkbenchApp(Path(sys.argv[1]))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = AnnotateScreen({QUEUE!r}, "ana")
        await app.push_screen(screen)
        while not screen.ready:
            await pilot.pause()
        Annotator.{verb} = die
        await pilot.press("d")
        while True:
            await pilot.pause()

asyncio.run(main())
"""
    killed = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=Path(__file__).parents[2],
        timeout=120,
        check=False,
    )
    assert killed.returncode == 9
    labels = [label for _, _, label in labels_of(path)]
    assert labels == ([] if dies_in == "before" else ["disagree"])
    async with seated(path) as seat:
        assert ("answer 0000" if dies_in == "before" else "answer 0001") in seat.text


async def test_what_was_before_a_person_when_the_terminal_died_comes_first(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4))
    annotator = Annotator.open(path, QUEUE, "ana")
    first = annotator.next()
    assert first is not None
    annotator.label(first.unit, "agree")
    annotator.next()
    annotator.connection.close()
    async with seated(path) as seat:
        assert "answer 0001" in seat.text
        assert seat.note == "ana  1/4 items"


@pytest.mark.e2e
async def test_a_store_that_cannot_be_opened_is_a_calm_panel_and_f5_tries_again(
    tmp_path: Path,
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path, queue="second") as seat:
        await seat.until(lambda: "no queue is named 'second'" in seat.words)
        await seat.pilot.press("a", "z", "s", "m", "v", "g")
        assert seat.app.screen is seat.screen
        labelling_store(path, ("later",), queue="second")
        await seat.pilot.press("f5")
        await seat.until(lambda: "later" in seat.text)


@pytest.mark.e2e
async def test_a_finished_queue_says_so_and_its_last_label_can_be_undone(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with seated(path) as seat:
        await seat.press("a", "a")
        assert "You have labelled everything in this queue." in seat.text
        assert "You have labelled 2 items" in seat.text
        assert "100 %" in seat.text
        assert seat.note == "ana  2/2 items"
        await seat.press("d")
        assert "You have labelled everything" in seat.text
        await seat.press("z")
        assert "answer 0001" in seat.text
    async with seated(path, "bob") as seat:
        await seat.press("a", "a")
        assert "You have labelled everything" in seat.text


async def test_items_in_others_hands_come_free_and_f5_finds_them(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(1), needed=1)
    with Annotator.open(path, QUEUE, "bob") as bob:
        item = bob.next()
        assert item is not None
        async with seated(path) as seat:
            assert "1 item is with other annotators" in seat.text
            bob.release(item.unit)
            await seat.pilot.press("f5")
            await seat.until(lambda: "answer 0000" in seat.text)


@pytest.mark.e2e
@pytest.mark.parametrize(
    "name", ["bob ç 'x'", '"; drop table reading; --', "[b]ana[/]", "研究員", "x" * 64, "1"]
)
async def test_odd_names_are_people_like_others(tmp_path: Path, name: str) -> None:
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with seated(path, name) as seat:
        await seat.press("a")
        assert seat.note.endswith("  1/2 items")
        assert name[:10] in seat.note
        assert "1/2" in seat.text
    assert [(who, label) for _, who, label in labels_of(path)] == [(name, "agree")]


@pytest.mark.e2e
async def test_a_statement_to_be_placed_is_shown_alone_and_without_its_side(tmp_path: Path) -> None:
    path = labelling_store(
        tmp_path / "a.db",
        ("Taxes should be lower.", "Flags are fine."),
        codebook=shipped_codebook("side"),
    )
    async with seated(path) as seat:
        assert "Taxes should be lower." in seat.text
        assert "economic · right" not in seat.text
        assert "should become law" not in seat.text
        assert " e  economic-left" in seat.text.replace("\u00a0", " ")
        await seat.pilot.press("m")
        await seat.until(lambda: "Note on this statement" in seat.text)
        await seat.pilot.press("escape")
        await seat.press("r")
        assert "Flags are fine." in seat.text
    assert [label for _, _, label in labels_of(path)] == ["economic-right"]


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_all_that_one_needs_is_in_sight(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tui_format, "FASTEST_PACE", float("inf"))
    monkeypatch.setattr(annotate_format, "PACE_FROM", 2)
    path = labelling_store(tmp_path / "a.db", answers(30))
    async with seated(path, size=size) as seat:
        await seat.press("a", "d", "f")
        await seat.until(lambda: "⚑ flagged" in seat.text)
        text = seat.text.replace("\u00a0", " ")
        for part in (
            "Statement",
            "economic",
            "answer 0002",
            " a  agree",
            " u  unrelated",
            "7 %",
            "an hour",
            "last: flag (saved) – z to undo",
            "annotate · first",
            "ana  2/30",
            "F1 Keys",
        ):
            assert part in text
        assert not any(f"economic · {side}" in text for side in ("left", "right")), (
            "the side stays hidden"
        )


@pytest.mark.e2e
async def test_a_click_on_a_label_gives_it(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        row = next(n for n, line in enumerate(seat.text.split("\n")) if "unrelated" in line)
        column = seat.text.split("\n")[row].index("neutral")
        await seat.pilot.click(offset=(column + 1, row))
        await seat.until(lambda: "answer 0001" in seat.text)
    assert [label for _, _, label in labels_of(path)] == ["neutral"]


@pytest.mark.e2e
async def test_the_second_half_of_a_double_click_labels_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path) as seat:
        row = next(n for n, line in enumerate(seat.text.split("\n")) if "unrelated" in line)
        column = seat.text.split("\n")[row].index("neutral")
        await seat.pilot.click(offset=(column + 1, row))
        monkeypatch.setattr(session_screen, "CLICK_S", 3600.0)
        await seat.until(lambda: "answer 0001" in seat.text and seat.screen.ready)
        await seat.pilot.click(offset=(column + 1, row))
        await seat.pilot.pause()
        assert "answer 0001" in seat.text
    assert [label for _, _, label in labels_of(path)] == ["neutral"]


@pytest.mark.e2e
async def test_all_keys_and_labels_are_listed(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    async with seated(path, size=(100, 60)) as seat:
        await seat.pilot.press("f1")
        await seat.until(lambda: isinstance(seat.app.screen, TextScreen))
        for words in (
            "Label: disagree",
            "Undo the last step",
            "Skip: move this item",
            "Show or hide the guideline",
        ):
            assert words in seat.text
