"""Agreement of annotators on a queue: its tables, letters for names, and the items behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.books import at, by_parts, press, settled
from tests.tui.conftest import HOSTILE, judged_by, made, screen_text, shown, until
from tests.tui.test_adjudicate_screen import STANCE, labelled, queued
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.annotators import AnnotatorsScreen, load
from workbench.tui.results.behind import BehindScreen
from workbench.tui.routes import screen as screen_of_path

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
FIRST = [*["agree"] * 5, *["disagree"] * 5]
SECOND = [*["agree"] * 4, *["disagree"] * 5, "agree"]
"observed 8 of 10, by chance 5 of 10: Cohen's κ is (0.8 - 0.5) / (1 - 0.5) = 0.60"
PAIRS, ITEMS, ATTENTION, GIVEN, CONFUSION = (["tab"] * n for n in (1, 4, 5, 6, 7))


async def opened(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> AnnotatorsScreen:
    await until(pilot, lambda: settled(app))
    app.push_screen(screen_of_path("agreement", "q"))
    await until(
        pilot,
        lambda: isinstance(app.screen, AnnotatorsScreen) and bool(app.screen.query("#preview")),
    )
    screen = app.screen
    assert isinstance(screen, AnnotatorsScreen)
    await until(pilot, lambda: settled(app) or screen.trouble.shown)
    await press(app, pilot, *keys)
    return screen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


@pytest.fixture
def two(path: Path) -> list[int]:
    """Ten items by Annabel and Bartholomew; an eleventh by Annabel alone."""
    units = queued(path, [f"answer {n}" for n in range(11)])
    labelled(path, "Annabel", dict(zip(units, [*FIRST, "neutral"], strict=True)))
    labelled(
        path, "Bartholomew", dict(zip(units, SECOND, strict=False)), notes={units[4]: "not [b]sure"}
    )
    return units


def lines(found: dict[tuple[str, ...], dict[str, str]], column: str) -> list[str]:
    """Return the cells of a column, from top to bottom."""
    return [row[column] for row in found.values()]


@pytest.mark.e2e
@SIZES
async def test_coefficients_carry_intervals_n_and_what_was_left_out(
    path: Path, two: list[int], size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        assert (
            "10 items with two or more labels, by 2 annotators; left out: 1 labelled once"
            in " ".join(shown(app, "#options").split())
        )
        found = by_parts(app)
        assert lines(found, "coefficient") == [
            "percent agreement",
            "Krippendorff's α, nominal",
            "Krippendorff's α, ordinal",
            "Fleiss' κ",
            "Gwet's AC1",
        ]
        assert found[("percent",)]["value"].startswith("0.80 [")
        assert (found[("percent",)]["n"], found[("percent",)]["excluded"]) == ("10", "1")
        await press(app, pilot, *PAIRS)
        pair = by_parts(app)[("Annabel", "Bartholomew")]
        assert pair["kappa"] == "0.60 (a)", "ten items are too few for an interval"
        assert pair["n"] == "10"
        assert "percent" in screen_text(app)
    del two


@pytest.mark.e2e
async def test_letters_take_the_place_of_every_name_and_give_it_back(
    path: Path, two: list[int]
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "o")
        assert "letters instead of names" in judged_by(app)
        seen = ""
        for _ in range(9):
            await press(app, pilot, "tab")
            seen += screen_text(app)
        assert "Annabel" not in seen
        assert "Bartholomew" not in seen
        assert "labels given" in seen
        await press(app, pilot, *GIVEN)
        assert lines(by_parts(app), "annotator") == ["A", "B"]
        await press(app, pilot, "o")
        assert lines(by_parts(app), "annotator") == ["Annabel", "Bartholomew"]
    del two


@pytest.mark.e2e
async def test_an_item_opens_with_every_label_and_no_name(path: Path, two: list[int]) -> None:
    with Store.open(path) as store:
        store.labels.decide(two[9], STANCE, "agree", DisagreementReason.HEDGED, "", "Olaf")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot, "i")
        found = by_parts(app)
        assert list(found)[:2] == [(str(two[4]),), (str(two[9]),)]
        assert lines(found, "decided")[:2] == ["–", "agree"]
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BehindScreen)
        text = screen_text(app)
        for wanted in (
            "answer 4",
            "Statement a-1 should become law.",
            "disagree",
            "⚑",
            "not [b]sure",
        ):
            assert wanted in text
        assert "Annabel" not in text
        assert "Bartholomew" not in text
        await press(app, pilot, "right")
        assert "decision: agree (hedged)" in screen_text(app)
        await press(app, pilot, "escape", "escape")
        assert app.screen is not screen


@pytest.mark.e2e
async def test_a_text_that_is_longer_than_the_screen_is_read_on_with_enter(path: Path) -> None:
    units = queued(path, ["begin " + "and on " * 500 + "END"])
    for person, label in (("ana", "agree"), ("bob", "disagree")):
        labelled(path, person, {units[0]: label})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "i", "enter")
        assert isinstance(app.screen, BehindScreen)
        await until(pilot, lambda: "Enter" in screen_text(app))
        assert "END" not in screen_text(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, TextScreen)
        await press(app, pilot, "end")
        await until(pilot, lambda: "END" in screen_text(app))


@pytest.mark.e2e
async def test_the_matrix_of_each_pair_is_behind_it_and_beside_the_others(path: Path) -> None:
    units = queued(path, ["x", "y"], needed=3)
    labelled(path, "ana", dict(zip(units, ["agree", "agree"], strict=True)))
    labelled(path, "bob", dict(zip(units, ["agree", "disagree"], strict=True)))
    labelled(path, "cem", dict(zip(units, ["neutral", "neutral"], strict=True)))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *CONFUSION)
        assert "ana − bob ← →" in shown(app, "#tabs")
        agree = by_parts(app)[("agree",)]
        assert (agree["as_agree"], agree["as_disagree"], agree["all"]) == ("1", "1", "2")
        assert "50.0 %" in screen_text(app)
        await press(app, pilot, "right", "right")
        assert "bob − cem ← →" in shown(app, "#tabs")
        await press(app, pilot, "left", "left", "left")
        assert "bob − cem ← →" in shown(app, "#tabs")
        await press(app, pilot, "tab", "tab", *PAIRS, "down", "enter")
        assert isinstance(app.screen, BehindScreen)
        assert shown(app, "#about") == "Confusions: rows ana, columns cem  from row 2 of 3 [ ]"
        assert by_parts(app)[("agree",)]["as_neutral"] == "2"


@pytest.mark.e2e
async def test_people_who_agree_on_everything_have_undefined_numbers_that_say_why(
    path: Path,
) -> None:
    units = queued(path, ["x", "y"])
    for person in ("ana", "bob"):
        labelled(path, person, dict.fromkeys(units, "agree"))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *PAIRS)
        assert by_parts(app)[("ana", "bob")]["kappa"] == "undefined (a)"
        assert "κ undefined: all answers equal" in screen_text(app)
        await press(app, pilot, "i")
        assert lines(by_parts(app), "agreeing") == ["100.0 %", "100.0 %"]


@pytest.mark.e2e
async def test_empty_queues_say_what_is_missing(path: Path) -> None:
    units = queued(path, ["x", "y"])
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Nobody has labelled anything in this queue yet." in screen_text(app)
        await press(app, pilot, "tab", "i", "o", "escape")
        labelled(path, "ana", {units[0]: "agree"})
        await opened(app, pilot)
        assert "No item of the queue has two labels yet." in screen_text(app)
        assert "left out: 1 labelled once" in judged_by(app)
        await press(app, pilot, *GIVEN)
        assert by_parts(app)[("ana",)]["share_agree"] == "100.0 %"
        assert "undefined" not in screen_text(app)
        await press(app, pilot, "o", "i", "left", "enter")


@pytest.mark.e2e
async def test_a_queue_that_is_not_there_is_a_plain_sentence(path: Path) -> None:
    made(path, instrument())
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: screen.trouble.shown)
        assert "no queue is named 'q'" in screen_text(app)
        assert "Computing" not in screen_text(app)


@pytest.mark.e2e
async def test_refreshing_brings_labels_that_came_meanwhile(path: Path, two: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *PAIRS)
        labelled(path, "Bartholomew", {two[10]: "neutral"})
        await press(app, pilot, "f5")
        assert "11 items with two or more labels" in judged_by(app)
        assert at(app) == ("Annabel", "Bartholomew")
    with Store.open(path) as store:
        found = load(store, "q")
        assert load(store, "q", found) is found
        lettered = load(store, "q", found, letters=True)
    assert lettered.source is found.source, "letters compute nothing anew"


@pytest.mark.e2e
async def test_attention_scores_stand_apart_from_agreement(path: Path) -> None:
    made(path, instrument())
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        items = [
            NewItem(wording, 2, "s", text="x"),
            NewItem(wording, 0, "", text="I agree.", attention="agree"),
        ]
        store.queues.create("q", Purpose.TEST, STANCE, items, {})
        item, known = (
            row[0]
            for row in store.connection.execute("select unit_id from queue_item order by ordinal")
        )
    labelled(path, "ana", {item: "agree", known: "agree"})
    labelled(path, "bob", {item: "agree", known: "disagree"})
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, *ATTENTION)
        assert {
            key: (row["right"], row["answered"], row["share"]) for key, row in by_parts(app).items()
        } == {("ana",): ("1", "1", "100.0 %"), ("bob",): ("0", "1", "0.0 %")}
        assert "1 item with two or more labels, by 2 annotators" in judged_by(app)


@pytest.mark.e2e
@SIZES
async def test_hostile_texts_and_long_names_are_literal(path: Path, size: tuple[int, int]) -> None:
    units = queued(path, HOSTILE)
    long_names = ("[bold]" + "ä" * 50, "漢字" * 30)
    for person, label in zip(long_names, ("agree", "disagree"), strict=True):
        labelled(
            path, person, dict.fromkeys(units, label), notes=dict(zip(units, HOSTILE, strict=True))
        )
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, *PAIRS)
        assert "[bold]" in screen_text(app)
        await press(app, pilot, "i", "enter")
        for _ in HOSTILE:
            assert not {"\x1b", "\x07", "\u202e"} & set(screen_text(app))
            await press(app, pilot, "right")


@pytest.mark.e2e
async def test_the_explanation_says_what_each_coefficient_is(path: Path, two: list[int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        assert "annotate › agreement › q" in screen_text(app)
        for key in ("percent", "alpha", "alpha_ordinal", "fleiss", "ac1"):
            assert by_parts(app)[(key,)]["means"]
        await press(app, pilot, *PAIRS)
        for word in ("percent", "Cohen's κ", "AC1"):
            assert word in screen.explain()
    del two
