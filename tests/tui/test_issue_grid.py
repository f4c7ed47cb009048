"""The label grid: blind, one key a cell, on disk before the cursor moves, undone as deep as the
session.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument, statement
from tests.tui.conftest import HOSTILE, flowing, made, screen_text, shown, until
from tests.tui.issue_stores import ISSUES, LAW, SOCIETY, issue_store, label, labels_of
from tests.tui.seats import Seat, at_screen
from workbench.data import shipped_issue_scheme
from workbench.domain.instruments import IssueDefinition
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.tui.annotation.issue_grid import IssueGridScreen, grid_columns, short_heads
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit import session_screen
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog

pytestmark = pytest.mark.usefixtures("no_pause")
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


@asynccontextmanager
async def seated(
    path: Path, person: str = "ana", size: tuple[int, int] = (80, 24), name: str = "small"
) -> AsyncIterator[Seat]:
    async with at_screen(path, IssueGridScreen(name), person, size) as seat:
        await seat.until(lambda: seat.screen.ready or seat.screen.trouble.shown)
        yield seat


def at(seat: Seat) -> tuple[str | None, str]:
    """The statement and the issue under the cursor."""
    return seat.screen.table.current, ISSUES[seat.screen.table.issue]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return issue_store(tmp_path / "audit.db")


@pytest.mark.e2e
@SIZES
async def test_eight_issues_stand_beside_each_other_with_what_they_mean(
    path: Path, size: tuple[int, int]
) -> None:
    async with seated(path, size=size) as seat:
        lines = screen_text(seat.app).splitlines()
        head = next(line for line in lines if "statement" in line)
        assert head.split()[2:] == ["open", "econ", "fina", "law", "migr", "envi", "socl", "socy"]
        assert sum("·" in line and "Statement" in line for line in lines) == 3
        await seat.press("right", "right", "right")
        text = flowing(seat.app)
        assert "Law and order law_and_order" in text
        definition = next(
            issue.definition for issue in shipped_issue_scheme().issues if issue.name == LAW
        )
        assert definition in text
        assert "Statement a-1 should become law. " in text


async def test_a_label_is_on_disk_before_the_cursor_moves(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with seated(path) as seat:
        seen: list[dict[tuple[str, str], int]] = []
        go_to = seat.screen.table.go_to

        def watched(row: int, issue: int) -> None:
            seen.append(labels_of(path, "ana"))
            go_to(row, issue)

        monkeypatch.setattr(seat.screen.table, "go_to", watched)
        await seat.press("a")
        await seat.press("d")
    assert seen == [
        {("a-1", ISSUES[0]): 1},
        {("a-1", ISSUES[0]): 1, ("a-1", ISSUES[1]): -1},
    ]


@pytest.mark.e2e
async def test_keys_give_labels_and_a_full_row_leads_to_the_next(path: Path) -> None:
    async with seated(path) as seat:
        await seat.press("a", "d", "n", "plus", "minus", "0", "1", "a")
        assert at(seat) == ("a-2", ISSUES[0])
        assert shown(seat.app, "#pace").startswith("▰▱▱▱▱ 33 %")
        assert "+1 liberal society (saved) – z to undo" in shown(seat.app, "#pace")
        assert seat.screen.title_bar.note == "ana  1/3"
    given = dict(zip(ISSUES, (1, -1, 0, 1, -1, 0, 1, 1), strict=True))
    assert labels_of(path, "ana") == {("a-1", issue): label for issue, label in given.items()}


@pytest.mark.e2e
async def test_the_rest_of_a_row_is_filled_with_0_and_taken_back_as_one_step(path: Path) -> None:
    async with seated(path) as seat:
        await seat.press("l", "l", "l", "d", "f")
        assert labels_of(path, "ana") == {
            ("a-1", issue): -1 if issue == LAW else 0 for issue in ISSUES
        }
        assert at(seat) == ("a-2", ISSUES[0])
        assert "0 for 7 issues (saved)" in shown(seat.app, "#pace")
        await seat.press("z")
        assert labels_of(path, "ana") == {("a-1", LAW): -1}
        assert at(seat)[0] == "a-1"
        await seat.press("z")
        assert labels_of(path, "ana") == {}
        assert at(seat) == ("a-1", LAW)
        await seat.press("z")
        assert "nothing to undo" in shown(seat.app, "#pace")


@pytest.mark.e2e
async def test_after_the_last_column_the_rest_of_the_same_statement_is_filled(path: Path) -> None:
    async with seated(path) as seat:
        await seat.press(*["l"] * (len(ISSUES) - 1), "a")
        assert at(seat) == ("a-1", ISSUES[0])
        assert f"a-1: +1 {ISSUES[-1].replace('_', ' ')} (saved)" in shown(seat.app, "#pace")
        await seat.press("f")
        assert labels_of(path, "ana") == {
            ("a-1", issue): int(issue == ISSUES[-1]) for issue in ISSUES
        }
        assert at(seat)[0] == "a-2"


@pytest.mark.e2e
async def test_undo_reaches_behind_the_session_and_not_behind_an_undo(path: Path) -> None:
    async with seated(path) as seat:
        await seat.press("a", "d", "z", "n", "f")
    async with seated(path) as seat:
        await seat.press("z")
        assert labels_of(path, "ana") == {("a-1", ISSUES[0]): 1, ("a-1", ISSUES[1]): 0}
        await seat.press("z", "z")
        assert labels_of(path, "ana") == {}
        await seat.press("z")
        assert "nothing to undo" in shown(seat.app, "#pace")


@pytest.mark.e2e
async def test_a_label_is_taken_back_in_its_place(path: Path) -> None:
    label(path, "ana", {"a-1": {LAW: 1, SOCIETY: 0}})
    async with seated(path) as seat:
        await seat.press("l", "l", "l", "space")
        assert at(seat) == ("a-1", LAW)
        assert labels_of(path, "ana") == {("a-1", SOCIETY): 0}
        await seat.press("z")
        assert labels_of(path, "ana") == {("a-1", LAW): 1, ("a-1", SOCIETY): 0}


async def test_what_others_said_is_nowhere(path: Path) -> None:
    label(path, "bob", {ref: dict.fromkeys(ISSUES, 1) for ref in ("a-1", "a-2", "b-1")})
    with Store.open(path) as store:
        store.issues.adjudicate("small", "a-1", LAW, -1, "nora")
    async with seated(path) as seat:
        text = screen_text(seat.app)
        assert "+1 " not in "\n".join(line for line in text.splitlines() if "Statement" in line)
        assert seat.screen.title_bar.note == "ana  0/3"
        assert "bob" not in text
        thread = seat.screen._thread
        assert thread is not None
        with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
            thread.submit(
                lambda session: session.store.connection.execute("select label from issue_label")
            ).result()


@pytest.mark.e2e
async def test_the_next_open_cell_is_found_around_the_end(path: Path) -> None:
    label(path, "ana", {"a-2": dict.fromkeys(ISSUES, 0), "a-1": dict.fromkeys(ISSUES[:7], 0)})
    async with seated(path) as seat:
        assert at(seat) == ("a-1", SOCIETY), "it begins where something is open"
        await seat.press("u")
        assert at(seat) == ("b-1", ISSUES[0])
        await seat.press("f", "u")
        assert at(seat) == ("a-1", SOCIETY)
        await seat.press("n", "u")
        assert "every listed cell has a label" in shown(seat.app, "#pace")


@pytest.mark.e2e
async def test_the_filter_shows_what_is_open_and_keeps_a_finished_row_until_it_is_asked_again(
    path: Path,
) -> None:
    label(path, "ana", {"a-2": dict.fromkeys(ISSUES, 0)})
    async with seated(path) as seat:
        await seat.press("x")
        assert list(seat.screen.table.keys) == ["a-1", "b-1"]
        await seat.press("f")
        assert list(seat.screen.table.keys) == ["a-1", "b-1"]
        await seat.press("x", "x")
        assert list(seat.screen.table.keys) == ["b-1"]
        await seat.press("f", "x", "x")
        assert "every statement is labelled: x shows all" in shown(seat.app, "#pace")
        await seat.press("u")
        assert at(seat)[0] is None, "there is no cell to go to"
        await seat.press("z")
        assert list(seat.screen.table.keys) == ["a-1", "a-2", "b-1"], "what is undone is listed"
        assert at(seat)[0] == "b-1"


@pytest.mark.e2e
async def test_keys_typed_ahead_stay_on_the_statement_that_is_in_sight(path: Path) -> None:
    async with seated(path) as seat:
        await seat.until(lambda: seat.screen.ready)
        for _ in range(12):  # faster than any disk: all of them wait for the first
            seat.app.post_message(events.Key("a", "a"))
        await seat.until(lambda: len(labels_of(path, "ana")) == 8)
        await seat.until(lambda: seat.screen.ready)
        await seat.pilot.pause()
        assert {ref for ref, _ in labels_of(path, "ana")} == {"a-1"}
        assert at(seat) == ("a-2", ISSUES[0])
        assert "4 keys dropped: typed before this was on the screen" in seat.text


@pytest.mark.e2e
async def test_a_key_that_came_before_the_statement_was_seen_is_dropped(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with seated(path) as seat:
        monkeypatch.setattr(session_screen, "GLANCE_S", 3600.0)
        await seat.pilot.press("j")
        await seat.pilot.press("a", "f")
        await seat.until(lambda: "2 keys dropped" in seat.text)
        assert labels_of(path, "ana") == {}


@pytest.mark.e2e
async def test_a_move_of_the_cursor_during_a_write_comes_after_it(path: Path) -> None:
    held = sqlite3.connect(path, isolation_level=None)
    async with seated(path) as seat:
        held.execute("begin immediate")
        await seat.pilot.press("a")
        await seat.pilot.press("j")
        await seat.until(lambda: "waiting for the store" in shown(seat.app, "#pace"))
        held.execute("commit")
        await seat.until(lambda: at(seat) == ("a-2", ISSUES[1]))
        assert labels_of(path, "ana") == {("a-1", ISSUES[0]): 1}
    held.close()


@pytest.mark.e2e
async def test_a_statement_that_was_edited_meanwhile_is_not_labelled_until_it_is_read_again(
    path: Path,
) -> None:
    async with seated(path) as seat:
        with Store.open(path) as store:
            other = Statement("a-1", (Wording(ORIGINAL, "en", "Other words."),))
            people = {"party_answers": (), "survey": (), "issue_labels": ()}
            store.instruments.add(
                replace(instrument(), statements=(other, statement("b-1")), issues=ISSUES, **people)
            )  # type: ignore[arg-type]
        await seat.pilot.press("a")
        await seat.until(lambda: seat.screen.trouble.shown)
        assert "changed or taken away" in shown(seat.app, "Trouble")
        assert f"+1 {ISSUES[0].replace('_', ' ')} was NOT saved" in shown(seat.app, "#pace")
        assert labels_of(path, "ana") == {}
        await seat.pilot.press("f5")
        await seat.until(lambda: not seat.screen.trouble.shown and seat.screen.ready)
        assert seat.screen.table.keys == ("a-1", "b-1")
        await seat.press("a")
        assert labels_of(path, "ana") == {("a-1", ISSUES[0]): 1}


@pytest.mark.e2e
async def test_who_labels_is_asked_and_a_name_that_is_nobodys_can_be_mended(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueGridScreen("small")
        await app.push_screen(screen)
        await until(pilot, lambda: isinstance(app.screen, PersonDialog))
        app.screen.query_one("#person", Input).value = "gold"
        await pilot.press("enter")
        await until(pilot, lambda: screen.trouble.shown)
        assert "no annotator's name" in shown(app, "Trouble")
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PersonDialog))
        app.screen.query_one("#person", Input).value = "cem"
        await pilot.press("enter")
        await until(pilot, lambda: screen.ready)
        await pilot.press("a")
        await until(pilot, lambda: labels_of(path, "cem"))
        assert app.annotator == "cem"


@pytest.mark.e2e
async def test_an_instrument_without_issues_is_offered_the_eight(tmp_path: Path) -> None:
    path = issue_store(tmp_path / "none.db", eight=False)
    app = WorkbenchApp(path, annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("n", "y"):
            screen = IssueGridScreen("small")
            await app.push_screen(screen)
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
            await pilot.press(key)
            if key == "n":
                await until(pilot, lambda s=screen: s not in app.screen_stack)  # type: ignore[misc]
                with Store.open(path) as store:
                    assert store.issues.names("small") == ()
        await until(pilot, lambda: screen.ready)
        await pilot.press("a")
        await until(pilot, lambda: labels_of(path, "ana"))


@pytest.mark.e2e
@SIZES
async def test_hostile_statements_and_issues_are_shown_literally(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    texts = (*HOSTILE, "אבג \u05d0\u202b rtl", "e\u0301" * 200, "漢字" * 2000)
    statements = tuple(
        Statement(f"h-{n}", (Wording(ORIGINAL, "en", text),), country="[b]", topic="[/x]")
        for n, text in enumerate(texts)
    )
    hostile = replace(
        instrument(),
        statements=statements,
        issue_labels=(),
        party_answers=(),
        survey=(),
        issues=("[bold]red[/bold]", "\x1b[31m", "x" * 64),
        definitions=(IssueDefinition("[bold]red[/bold]", "[/]", "\x1b[2J" + "long " * 500),),
    )
    path = made(tmp_path / "hostile.db", hostile)
    async with seated(path, size=size) as seat:
        for _ in texts:
            text = screen_text(seat.app)
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert {cell_len(line) for line in text.splitlines()} == {size[0]}
            await seat.press("f")
        await seat.press("t")
        assert isinstance(seat.app.screen, TextScreen)
    assert len(labels_of(path, "ana")) == 3 * len(texts)


@pytest.mark.e2e
async def test_everything_can_be_read_in_full(path: Path) -> None:
    async with seated(path) as seat:
        await seat.press("i")
        assert isinstance(seat.app.screen, TextScreen)
        text = flowing(seat.app)
        assert "Open foreign policy" in text
        await seat.pilot.press("escape")
        await seat.pilot.press("question_mark")
        await seat.until(lambda: isinstance(seat.app.screen, TextScreen))
        assert "agreeing with the statement means" in screen_text(seat.app)


@pytest.mark.e2e
async def test_two_annotators_at_two_terminals_lose_nothing(path: Path) -> None:
    async with seated(path, "ana") as one:
        await one.press("a", "a")
        async with seated(path, "ben") as two:
            await asyncio.gather(two.press("d", "d", "f"))
        await one.press("f")
    assert len(labels_of(path, "ana")) == len(labels_of(path, "ben")) == 8
    assert labels_of(path, "ana")["a-1", ISSUES[0]] == 1
    assert labels_of(path, "ben")["a-1", ISSUES[0]] == -1


def test_heads_are_short_and_all_different() -> None:
    assert short_heads([f"issue_{n}" for n in range(20)], 3)[:3] == ["0", "1", "2"]
    for names in (
        ["a b", "a_b", "b a"],
        ["", " ", "_"],
        ["same"] * 9,
        ["социальная", "социальность"],
    ):
        for width in (2, 3, 4):
            heads = short_heads(names, width)
            assert len(set(heads)) == len(names)
            assert all(len(head) <= width for head in heads)


@pytest.mark.parametrize("count", [1, 8, 12, 20])
def test_the_columns_of_any_scheme_fit_into_80(count: int) -> None:
    issues = [IssueDefinition(f"issue_{n}") for n in range(count)]
    columns = grid_columns(78, issues)
    assert sum(column.width or 8 for column in columns) <= 78
