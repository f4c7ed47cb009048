"""Agreement of annotators on a queue: the numbers, who and what they are about, and the items behind them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.screen import Screen

from stores.annotator import Annotator
from stores.queues import NewItem
from stores.store import Store
from tests.conftest import instrument
from tests.tui.conftest import HOSTILE, made, screen_text, shown, until
from tests.tui.test_adjudicate_screen import STANCE, labelled, queued
from workbench.domain.annotations import Codebook, LabelOption, Purpose, Reason
from workbench.domain.verdicts import Estimate
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.agreement import AgreementScreen, ItemScreen, agreement_of
from workbench.tui.screens.agreement_format import (
    abbreviated,
    confusion_lines,
    distribution_lines,
    group_lines,
    names,
    pair_lines,
    shaded,
    why_undefined,
)
from workbench.tui.widgets.long_text import LongText

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
FIRST = [*["agree"] * 5, *["disagree"] * 5]
SECOND = [*["agree"] * 4, *["disagree"] * 5, "agree"]
"observed 8 of 10, by chance 5 of 10: Cohen's κ is (0.8 - 0.5) / (1 - 0.5) = 0.60"


async def opened(app: WorkbenchApp, pilot: Pilot[int]) -> AgreementScreen:
    screen = AgreementScreen("q")
    await app.push_screen(screen)
    await until(pilot, lambda: screen._found is not None or screen.trouble.shown)
    await pilot.pause()
    return screen


def top(app: WorkbenchApp) -> Screen[Any]:
    return app.screen


def text_of(lines: object) -> str:
    return "\n".join(line.plain for line in lines)  # type: ignore[attr-defined]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


@pytest.fixture
def two(path: Path) -> list[int]:
    """Ten items by Annabel and Bartholomew; an eleventh by Annabel alone."""
    units = queued(path, [f"answer {n}" for n in range(11)])
    labelled(path, "Annabel", dict(zip(units, [*FIRST, "neutral"], strict=True)))
    labelled(path, "Bartholomew", dict(zip(units, SECOND, strict=False)), notes={units[4]: "not [b]sure"})
    return units


@SIZES
async def test_coefficients_carry_intervals_n_and_what_was_left_out(
    path: Path, two: list[int], size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        assert shown(app, "#overview") == (
            "10 items with two labels or more by 2 annotators; 1 labelled once only and left out."
        )
        lines = shown(app, "#coefficients").splitlines()
        assert lines[1].startswith("  percent agreement          0.80 [")
        assert lines[1].endswith("] n 10, 1 left out")
        assert [line.split("  ")[1] for line in lines[1:]] == [
            "percent agreement", "Fleiss' κ", "Krippendorff's α, nominal", "Krippendorff's α, ordinal", "Gwet's AC1",
        ]  # fmt: skip
        pair = shown(app, "#pairs").splitlines()[2]
        assert "Annabel – Bartholomew" in pair
        assert " 0.60 [" in pair
        assert pair.split()[-1] == "10"
        assert "Agreement over all items" in screen_text(app)
    del two


async def test_letters_take_the_place_of_every_name_and_give_it_back(path: Path, two: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 120)) as pilot:
        await opened(app, pilot)
        for section in ("#pairs", "#given", "#confusion"):
            assert "Annabel" in shown(app, section)
        await pilot.press("o")
        assert "Annabel" not in screen_text(app)
        assert "Bartholomew" not in screen_text(app)
        assert "A – B" in shown(app, "#pairs") or "B – A" in shown(app, "#pairs")
        assert [line.split()[0] for line in shown(app, "#given").splitlines()[2:]] == ["A", "B"]
        await pilot.press("o")
        assert "Annabel" in screen_text(app)
    del two


async def test_an_item_opens_with_every_label_and_no_name(path: Path, two: list[int]) -> None:
    with Store.open(path) as store:
        store.labels.decide(two[9], STANCE, "agree", Reason.HEDGED, "", "Olaf")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.table.keys == (str(two[4]), str(two[9]))
        states = [screen.table.get_cell(str(unit), "state").plain for unit in (two[4], two[9])]
        assert states == ["· open", "✓ agree"]
        await pilot.press("i")
        assert screen.table.has_focus
        await pilot.press("enter")
        assert isinstance(app.screen, ItemScreen)
        text = "\n".join(app.screen.query_one(LongText).lines)
        assert "answer 4" in text
        assert "Statement a-1 should become law." in text
        assert "disagree  “not [b]sure”  ⚑ flagged" in text
        assert "Annabel" not in text
        assert "Bartholomew" not in text
        await pilot.press("escape", "down", "enter")
        assert "Decision: agree (hedged)" in "\n".join(app.screen.query_one(LongText).lines)
        await pilot.press("escape", "escape")
        assert top(app) is screen
        assert screen.sheet.has_focus
        await pilot.press("escape")
        assert top(app) is not screen


async def test_brackets_turn_to_another_pair_of_annotators(path: Path) -> None:
    units = queued(path, ["x", "y"], needed=3)
    labelled(path, "ana", dict(zip(units, ["agree", "agree"], strict=True)))
    labelled(path, "bob", dict(zip(units, ["agree", "disagree"], strict=True)))
    labelled(path, "cem", dict(zip(units, ["neutral", "neutral"], strict=True)))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        seen = []
        for key in ("right_square_bracket", "right_square_bracket", "right_square_bracket", "left_square_bracket"):
            seen.append(shown(app, "#confusion").splitlines()[0])
            await pilot.press(key)
        assert ["rows ana, columns bob" in seen[0], "rows ana, columns cem" in seen[1]] == [True, True]
        assert "rows bob, columns cem; pair 3 of 3" in seen[2]
        assert seen[3] == seen[0]
        await until(pilot, lambda: "What is taken for what" in screen_text(app))
        assert screen.sheet.scroll_y > 0


def test_the_matrix_shows_the_share_of_its_row_by_shade_and_the_items_by_number(path: Path, two: list[int]) -> None:
    found = agreement_of(path, "q")
    lines = text_of(confusion_lines(found, names(found.report.annotators, hidden=False), 76, 0)).splitlines()
    assert lines[2].split() == ["agree", "█████████", "4", "░░░░░░░░░", "1", "0", "0", "5"]
    assert lines[4].split() == ["neutral", "0", "0", "0", "0", "0"]
    assert [shaded(n, 8, 5).strip()[0] for n in (1, 2, 3, 4, 5, 6, 7, 8)] == list("░░▒▒▓▓██")
    del two


def test_labels_given_are_bars_with_shares(path: Path, two: list[int]) -> None:
    found = agreement_of(path, "q")
    lines = text_of(distribution_lines(found, names(found.report.annotators, hidden=False), 136)).splitlines()
    row = next(line for line in lines if "Bartholomew" in line)
    assert row.split()[1] == "10"
    assert row.count("50 %") == 2
    assert row.split()[2].count("▰") == row.split()[2].count("▱")
    del two


def test_groups_come_worst_first_and_leave_out_what_nobody_labelled_twice(path: Path) -> None:
    made(path, instrument())
    with Store.open(path) as store:
        wordings = [
            row[0]
            for row in store.connection.execute(
                "select w.id from wording w join statement s on s.id = w.statement_id where w.kind = 'original' "
                "order by s.ref"
            )
        ]
        items = [NewItem(wording, 2, "s", text=f"x {wording} {n}") for wording in wordings for n in range(2)]
        store.queues.create("q", Purpose.TEST, STANCE, items, {})
        units = [row[0] for row in store.connection.execute("select unit_id from queue_item order by ordinal")]
    labelled(path, "ana", dict(zip(units, ["agree"] * 5, strict=False)))
    labelled(path, "bob", dict(zip(units, ["agree", "agree", "agree", "disagree"], strict=False)))
    found = agreement_of(path, "q")
    text = text_of(group_lines(found, 76, every=False))
    rows = text.splitlines()
    first, second = (next(n for n, row in enumerate(rows) if row.startswith(f"  {ref} ")) for ref in ("a-2", "a-1"))
    assert first < second
    assert "0.50" in rows[first]
    assert "1.00" in rows[second]
    assert "1 without an item that two people labelled" in text
    assert "undefined: all answers equal" in text
    assert "stratum" not in text
    assert "stratum" in text_of(group_lines(found, 76, every=True))


def test_an_undefined_number_says_why(path: Path) -> None:
    units = queued(path, ["x", "y"])
    for person in ("ana", "bob"):
        labelled(path, person, dict.fromkeys(units, "agree"))
    found = agreement_of(path, "q")
    text = text_of(pair_lines(found, names(found.report.annotators, hidden=False), 76))
    assert "undefined  " in text
    assert "undefined: all answers equal – ana – bob" in text
    assert "nan" not in text.lower()
    undefined = Estimate(math.nan, math.nan, math.nan, 0, 0, "no pairs")
    assert text_of(why_undefined([(f"p{n}", undefined) for n in range(5)])) == (
        "  undefined: no pairs – p0, p1, p2 and 2 more"
    )


async def test_people_who_agree_on_everything_have_no_items_to_open(path: Path) -> None:
    units = queued(path, ["x", "y"])
    for person in ("ana", "bob"):
        labelled(path, person, dict(zip(units, ["agree", "neutral"], strict=True)))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert "Everybody agrees on every item" in shown(app, "#items-head")
        assert not screen.table.display
        await pilot.press("i")
        assert screen.sheet.has_focus


async def test_empty_queues_say_what_is_missing(path: Path) -> None:
    units = queued(path, ["x", "y"])
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Nobody has labelled anything in this queue yet." in screen_text(app)
        await pilot.press("escape")
        labelled(path, "ana", {units[0]: "agree"})
        await opened(app, pilot)
        assert shown(app, "#overview") == (
            "Nothing to compare yet: 1 annotator, no item with two labels; 1 labelled once only and left out."
        )
        assert "100 %" in shown(app, "#given")
        assert "undefined" not in screen_text(app)
        await pilot.press("i", "right_square_bracket", "a", "o")


async def test_a_queue_that_is_not_there_is_a_plain_sentence(path: Path) -> None:
    made(path, instrument())
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        assert screen.trouble.shown
        assert "no queue is named 'q'" in screen_text(app)
        assert "Computing" not in screen_text(app)


async def test_refreshing_brings_labels_that_came_meanwhile(path: Path, two: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        labelled(path, "Bartholomew", {two[10]: "neutral"})
        await pilot.press("f5")
        await until(pilot, lambda: "11 items with two labels" in shown(app, "#overview"))


async def test_attention_scores_stand_apart_from_agreement(path: Path) -> None:
    made(path, instrument())
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        items = [NewItem(wording, 2, "s", text="x"), NewItem(wording, 0, "", text="I agree.", attention="agree")]
        store.queues.create("q", Purpose.TEST, STANCE, items, {})
        item, known = (row[0] for row in store.connection.execute("select unit_id from queue_item order by ordinal"))
    labelled(path, "ana", {item: "agree", known: "agree"})
    labelled(path, "bob", {item: "agree", known: "disagree"})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        lines = shown(app, "#attention").splitlines()
        assert [line.split() for line in lines[2:]] == [
            ["ana", "1", "of", "1", "right", "100", "%"],
            ["bob", "0", "of", "1", "right", "0", "%"],
        ]
        assert shown(app, "#overview").startswith("1 item with two labels or more by 2 annotators")
        assert shown(app, "#given").count(" 100 %") == 2


@SIZES
async def test_hostile_texts_and_long_names_fit_and_are_literal(path: Path, size: tuple[int, int]) -> None:
    units = queued(path, HOSTILE)
    long_names = ("[bold]" + "ä" * 50, "漢字" * 30)
    for person, label in zip(long_names, ("agree", "disagree"), strict=True):
        labelled(path, person, dict.fromkeys(units, label), notes=dict(zip(units, HOSTILE, strict=True)))
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        found = screen._found
        assert found is not None
        for section in ("#coefficients", "#pairs", "#labels", "#given", "#confusion"):
            assert max(map(cell_len, shown(app, section).splitlines())) <= size[0] - 3, section
        assert "[bold]" in shown(app, "#pairs")
        await pilot.press("i")
        for _ in HOSTILE:
            await pilot.press("enter")
            await until(pilot, lambda: app.screen.query_one(LongText).lines)
            assert "\x1b" not in screen_text(app)
            await pilot.press("escape", "down")


def test_labels_that_share_a_beginning_stay_apart_where_they_are_cut(path: Path) -> None:
    assert len({abbreviated(label, 8) for label in ("economic-left", "economic-right", "cultural-left")}) == 3
    assert abbreviated("none", 8) == "none    "
    made(path, instrument())
    labels = ("economic-left", "economic-right", "cultural-left", "cultural-right", "none")
    options = tuple(LabelOption(label, key, "") for label, key in zip(labels, "eruio", strict=True))
    book: Codebook = replace(STANCE, name="side", options=options, ordinal=())
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        store.queues.create("q", Purpose.CHECK, book, [NewItem(wording, 2, "", text="x")], {})
        unit = store.connection.execute("select unit_id from queue_item").fetchone()[0]
    for person, label in (("ana", "economic-left"), ("bob", "economic-right")):
        with Annotator.open(path, "q", person) as annotator:
            annotator.label(unit, label)
    found = agreement_of(path, "q")
    called = names(found.report.annotators, hidden=False)
    head = text_of(confusion_lines(found, called, 76, 0)).splitlines()[1].split()
    assert len(set(head)) == 6
    for line in text_of(distribution_lines(found, called, 76)).splitlines():
        assert len(line) <= 76


async def test_the_explanation_says_what_each_coefficient_is(path: Path, two: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("question_mark")
        for word in ("percent", "Cohen's κ", "Fleiss' κ", "Krippendorff", "Gwet's AC1"):
            assert word in screen_text(app)
    del two
