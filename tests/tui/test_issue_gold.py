"""Agreement, gold and ties of policy issues: figures with intervals, nobody named, one key
decides.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.conftest import flowing, judged_by, screen_text, shown, until
from tests.tui.issue_stores import ISSUES, LAW, SOCIETY, issue_store, label
from workbench.annotation.issues import issue_report
from workbench.domain.instruments import IssueLabel
from workbench.domain.names import in_words
from workbench.tui.annotation.issue_cases import IssueCasesScreen, IssueGoldScreen
from workbench.tui.annotation.issue_grid import IssueGridScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView

REFS = tuple(f"s-{n:02}" for n in range(12))
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
PEOPLE = ("annabel", "bartholomew", "clementine")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three people labelled twelve statements: two ties on law and order, one on liberal
    society.
    """
    path = issue_store(tmp_path / "audit.db", *REFS)
    for number, person in enumerate(PEOPLE):
        given: dict[str, dict[str, int | None]] = {
            ref: {LAW: 1 if n < 4 else 0, SOCIETY: -1 if n > 9 else 0} for n, ref in enumerate(REFS)
        }
        given["s-01"][LAW] = given["s-05"][LAW] = number - 1
        given["s-02"][SOCIETY] = number - 1
        given["s-03"][LAW] = 1 if number else 0
        label(path, person, given)
    return path


async def opened(pilot: Pilot[Any], screen: IssueGoldScreen | IssueCasesScreen) -> None:
    await pilot.app.push_screen(screen)
    await until(pilot, lambda: sheet(screen) is not None or screen.trouble.shown or said(screen))
    await pilot.pause()


def sheet(screen: Screen[Any]) -> Sheet | None:
    return screen.query_one(SheetView).sheet


def said(screen: Screen[Any]) -> str:
    """What stands in the place of figures."""
    text = str(screen.query_one("#empty", Static).render())
    return "" if text in (IssueGoldScreen.COUNTING, "Reading the labels …") else text


def cells(screen: Screen[Any], *keys: str) -> dict[str, str]:
    """The row of the first column's value, as it reads: title -> text."""
    found = sheet(screen)
    assert found is not None
    titles = [column.title for column in found.table.columns]
    shown_keys = [in_words(key) for key in keys]
    return next(
        dict(zip(titles, row, strict=True)) for row in found.cells if row[: len(keys)] == shown_keys
    )


async def press(pilot: Pilot[Any], screen: IssueCasesScreen, *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: not screen._busy)
        await pilot.pause()


def gold(path: Path) -> dict[tuple[str, str], int]:
    with Store.open(path) as store:
        return {
            (ref, i): label
            for ref, of in store.issues.gold("small", "people").items()
            for i, label in of.items()
        }


@pytest.mark.e2e
async def test_the_figures_are_those_of_the_report_and_say_why_there_is_none(path: Path) -> None:
    with Store.open(path) as store:
        report = issue_report(store.issues.labels("small"), ISSUES, REFS)
    law = report.issues[ISSUES.index(LAW)]
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen := IssueGoldScreen("small"))
        row = cells(screen, LAW)
        assert row["Fleiss' κ"] == f"{law.fleiss.value:.2f} (c)"
        assert law.fleiss.few.startswith("too few for an interval: 5 of 12")
        assert (row["sd"], row["pairs"], row["ties"]) == (f"{law.cohen.sd:.2f}", "3", "2")
        assert [row[f"given {sign}"] for sign in ("+1", "0", "-1")] == ["10", "24", "2"]
        line = next(
            line for line in screen_text(app).splitlines() if in_words(LAW) in line
        ).replace(in_words(LAW), LAW)
        assert row["Fleiss' κ"] in line
        assert line.split()[1] == "2"
        assert screen.title_bar.note == "3 to decide"
        assert "Fleiss' κ undefined: fewer than two people labelled it" in shown(app, "#details")
        await pilot.press("j", "j", "j")
        await pilot.pause()
        assert "Public safety and discipline" in shown(app, "#details")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "values cannot be recomputed" in str(app.screen._text)  # type: ignore[attr-defined]


@pytest.mark.e2e
@SIZES
async def test_ties_stand_first_and_nobody_is_named(path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, screen := IssueGoldScreen("small"))
        for keys in (("tab",), ("shift+tab", "j", "j", "j")):  # from a tie, and from the issue
            await pilot.press(*keys)
            await until(pilot, lambda: screen.query_one("#body").styles.opacity == 1)
            await pilot.pause()
            await pilot.press("enter")
            await until(
                pilot, lambda: isinstance(app.screen, IssueCasesScreen) and sheet(app.screen)
            )
            await pilot.pause()
            text = screen_text(app)
            found = sheet(app.screen)
            assert found is not None
            refs = [row[0] for row in found.cells]
            assert refs == ["s-01", "s-05", "s-03"]
            assert cells(app.screen, "s-01", LAW)["to decide"] == "◆"
            assert cells(app.screen, "s-03", LAW)["to decide"] == ""
            assert not any(person in text for person in PEOPLE)
            assert cells(app.screen, "s-01", LAW)["labels"].startswith("A ")
            assert cells(app.screen, "s-01", LAW)["because"] == "the annotators' labels tie"
            assert "Statement s-01 should become law." in shown(app, "#details")
            assert {cell_len(line) for line in text.splitlines()} == {size[0]}
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)


@pytest.mark.e2e
async def test_one_key_decides_and_goes_on_to_the_next_tie(path: Path) -> None:
    app = WorkbenchApp(path, annotator="nora")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueCasesScreen("small", LAW)
        await opened(pilot, screen)
        await press(pilot, screen, "a")
        assert gold(path)["s-01", LAW] == 1
        assert screen.current is not None
        assert screen.current.statement == "s-05", "the row that was decided stays where it is"
        assert screen._cases[screen.view.table.keys[0]].statement == "s-01"
        assert screen.title_bar.note == "1 to decide · where people differ"
        assert "+1 decided – z to undo" in shown(app, "#pace")
        await press(pilot, screen, "d")
        assert gold(path)["s-05", LAW] == -1
        assert screen.title_bar.note == "0 to decide · where people differ"
        await press(pilot, screen, "z")
        assert ("s-05", LAW) not in gold(path)
        await press(pilot, screen, "z")
        assert ("s-01", LAW) not in gold(path)
        assert screen.current.statement == "s-01"


@pytest.mark.e2e
async def test_undo_reaches_back_to_ones_own_decisions_of_earlier_visits(path: Path) -> None:
    for person, key in (("nora", "a"), ("olaf", "d")):
        app = WorkbenchApp(path, annotator=person)
        async with app.run_test(size=(80, 24)) as pilot:
            screen = IssueCasesScreen("small", LAW)
            await opened(pilot, screen)
            await press(pilot, screen, key)
    assert (gold(path)["s-01", LAW], gold(path)["s-05", LAW]) == (1, -1)
    app = WorkbenchApp(path, annotator="nora")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueCasesScreen("small", LAW)
        await opened(pilot, screen)
        await press(pilot, screen, "z")
        assert ("s-01", LAW) not in gold(path)
        assert "undone: s-01" in shown(app, "#pace")
        await press(pilot, screen, "z")
        assert "Nothing to undo: you have decided nothing here." in screen_text(app)
        assert gold(path)["s-05", LAW] == -1, "the decision of another person stays"


@pytest.mark.e2e
async def test_a_decision_is_changed_and_taken_back_and_undo_puts_it_back(path: Path) -> None:
    app = WorkbenchApp(path, annotator="nora")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueCasesScreen("small", SOCIETY)
        await opened(pilot, screen)
        await press(pilot, screen, "a", "n")
        assert gold(path)["s-02", SOCIETY] == 0
        await press(pilot, screen, "space")
        assert ("s-02", SOCIETY) not in gold(path)
        assert screen.title_bar.note.startswith("1 to decide")
        await press(pilot, screen, "z")
        assert gold(path)["s-02", SOCIETY] == 0
        await press(pilot, screen, "z", "z")
        assert ("s-02", SOCIETY) not in gold(path)


@pytest.mark.e2e
async def test_labels_that_changed_while_they_were_looked_at_are_shown_before_anything_is_decided(
    path: Path,
) -> None:
    app = WorkbenchApp(path, annotator="nora")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueCasesScreen("small", LAW)
        await opened(pilot, screen)
        label(path, "clementine", {"s-01": {LAW: 0}})
        await press(pilot, screen, "a")
        assert gold(path)["s-01", LAW] == 0, "the majority, not the decision"
        assert cells(screen, "s-01", LAW)["because"] == "more than half of the annotators"
        await press(pilot, screen, "a")
        assert gold(path)["s-01", LAW] == 1


@pytest.mark.e2e
async def test_all_ties_of_all_issues_are_decided_in_one_go(path: Path) -> None:
    app = WorkbenchApp(path, annotator="nora")
    async with app.run_test(size=(80, 24)) as pilot:
        gold_screen = IssueGoldScreen("small")
        await opened(pilot, gold_screen)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, IssueCasesScreen) and app.screen._figures)
        screen = app.screen
        assert isinstance(screen, IssueCasesScreen)
        assert len(screen.view.table.keys) == 3
        await press(pilot, screen, "n", "n", "n")
        await press(pilot, screen, "x", "x", "x")
        assert "Nothing to decide" in shown(app, "#empty")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is gold_screen and gold_screen.title_bar.note == "")
    assert [gold(path)[cell] for cell in (("s-01", LAW), ("s-05", LAW), ("s-02", SOCIETY))] == [
        0,
        0,
        0,
    ]


@pytest.mark.e2e
async def test_who_decides_is_asked_once(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueCasesScreen("small", LAW)
        await opened(pilot, screen)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, PersonDialog))
        app.screen.query_one("#person", Input).value = "nora"
        await pilot.press("enter")
        await until(pilot, lambda: ("s-01", LAW) in gold(path))
        await until(pilot, lambda: not screen._busy)
        await press(pilot, screen, "d")
        assert gold(path)["s-05", LAW] == -1
        with Store.open(path) as store:
            deciders = store.connection.execute(
                "select name from reader where kind = 'adjudication'"
            ).fetchall()
    assert deciders == [("nora",)]


@pytest.mark.e2e
async def test_a_sources_own_labels_count_or_do_not(path: Path) -> None:
    with Store.open(path) as store:
        store.issues.add("small", [IssueLabel(ref, LAW, "gold", -1) for ref in REFS])
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueGoldScreen("small")
        await opened(pilot, screen)

        def counts() -> list[str]:
            return [cells(screen, LAW)[f"gold {sign}"] for sign in ("+1", "0", "-1")]

        assert counts() == ["0", "0", "12"]
        await pilot.press("w")
        await until(pilot, lambda: "Only people's labels and decisions count" in judged_by(app))
        await pilot.pause()
        assert counts() == ["3", "7", "0"]


@pytest.mark.e2e
async def test_nobodys_labels_and_no_issues_say_what_to_do(tmp_path: Path) -> None:
    bare, none = issue_store(tmp_path / "bare.db"), issue_store(tmp_path / "none.db", eight=False)
    app = WorkbenchApp(bare, annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, IssueGoldScreen("small"))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, IssueCasesScreen) and app.screen._figures)
        await pilot.pause()
        assert "No labels for this issue yet" in shown(app, "#empty")
        await pilot.press("escape")
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, IssueGridScreen))
    app = WorkbenchApp(none)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, IssueGoldScreen("small"))
        assert "--scheme FILE" in flowing(app)
        before = app.screen
        await pilot.press("enter", "d", "i", "w")
        await pilot.pause()
        assert app.screen is before


async def test_an_instrument_that_is_not_there_is_said(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = IssueGoldScreen("large")
        await opened(pilot, screen)
        assert "'large'" in shown(app, "Trouble")


@pytest.mark.e2e
@SIZES
async def test_hostile_names_and_texts_are_shown_literally(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "hostile.db"
    hostile = replace(
        instrument("[/]", "\x1b[2J", "r\u202el"), issues=("[b]", "\x1b[31m"), issue_labels=()
    )
    with Store.open(path, create=True) as store:
        store.instruments.add(hostile)
    for person, value in (("[red]", 1), ("]x[", 0)):
        label(path, person, {ref: {"[b]": value} for ref in ("[/]", "\x1b[2J", "r\u202el")})
    app = WorkbenchApp(path, annotator="[u]")
    async with app.run_test(size=size) as pilot:
        await opened(pilot, IssueGoldScreen("small"))
        first = screen_text(app)
        screen = IssueCasesScreen("small", None)
        await opened(pilot, screen)
        await press(pilot, screen, "a", "a")
        for text in (first, screen_text(app)):
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert {cell_len(line) for line in text.splitlines()} == {size[0]}
    assert gold(path)["[/]", "[b]"] == 1


@pytest.mark.e2e
async def test_one_key_lets_a_single_labellers_labels_count(tmp_path: Path) -> None:
    path = issue_store(tmp_path / "audit.db", *REFS)
    label(path, "annabel", {"s-00": {LAW: 1}})
    app = WorkbenchApp(path, annotator="annabel")
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(pilot, screen := IssueGoldScreen("small"))
        assert "if at least 2 people labelled" in flowing(app)
        assert gold(path) == {}
        await pilot.press("o")
        await until(pilot, lambda: screen._judged.report.fewest == 1)
        assert "Of 1 gold label, 1 rest on a single annotator" in flowing(app)
        assert gold(path) == {("s-00", LAW): 1}
        await pilot.press("o")
        await until(pilot, lambda: screen._judged.report.fewest == 2)
        assert gold(path) == {}
