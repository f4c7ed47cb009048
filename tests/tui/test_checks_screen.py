"""The checks screen: findings, the way to each place, waivers, and models that look at wordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from stores.core.store import Store
from tests.conftest import instrument, statement
from tests.tui.conftest import flowing, hostile_instrument, made, screen_text, shown, status, until
from workbench.commands.check import CheckCommand
from workbench.domain.instruments import Instrument
from workbench.domain.statements import NEGATION, ORIGINAL, Statement, VariantId, VariantKind
from workbench.pipeline.checking import CheckedFinding, CheckSpec, check_report, run_check
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.command_form import CommandForm
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen, WaiveDialog
from workbench.tui.kit.person_dialog import EditorDialog
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.rulings.ruling import RuledText
from workbench.tui.statements.checks import ChecksScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.workshop.meaning import Thresholds

SIZES = [(80, 24), (140, 40)]
PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)


def with_text(whole: Statement, variant: VariantId, text: str) -> Statement:
    return replace(
        whole,
        wordings=tuple(
            replace(w, text=text) if w.variant == variant else w for w in whole.wordings
        ),
    )


def odd() -> Instrument:
    """One error at a-1, a warning at a-2, a note at b-1, and the two notes on too few labels."""
    first = with_text(statement("a-1", "Whales should vote."), NEGATION, "Whales should vote.")
    second = with_text(statement("a-2"), PARAPHRASE, " Stray blanks are odd.")
    third = with_text(statement("b-1"), ORIGINAL, "All schools should always be free.")
    return replace(instrument(), statements=(first, second, third))


@pytest.fixture
def odd_store(tmp_path: Path) -> Path:
    return made(tmp_path / "odd.db", odd())


async def opened(app: WorkbenchApp, pilot: Pilot[Any]) -> ChecksScreen:
    screen = ChecksScreen("small")
    await app.push_screen(screen)
    await until(pilot, lambda: screen._report is not None and screen.view.table.row_count)
    await pilot.pause()
    return screen


def shown_in(screen: ChecksScreen) -> list[CheckedFinding]:
    """Return the findings in sight."""
    sheet = screen.view.sheet
    assert sheet is not None
    return [sheet.table.rows[sheet.keys.index(key)][1] for key in screen.view.table.keys]


def codes(screen: ChecksScreen) -> list[str]:
    return [one.finding.code for one in shown_in(screen)]


async def to(screen: ChecksScreen, pilot: Pilot[Any], code: str) -> None:
    """Move the cursor to the first finding of a code."""
    screen.view.table.show_row(codes(screen).index(code))
    await until(pilot, lambda: screen.current is not None and screen.current.finding.code == code)


@pytest.mark.parametrize("size", SIZES)
async def test_findings_stand_by_severity_with_their_counts(
    odd_store: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        assert codes(screen)[0] == "negation-equals-original"
        severities = [one.finding.severity for one in shown_in(screen)]
        assert severities == sorted(severities, key=["error", "warning", "note"].index)
        text = screen_text(app)
        assert "✗ error" in text
        assert "1 error · 1 warning" in text
        details = shown(app, "#details")
        assert "en: negation is the same text as original" in details
        assert details.count("Whales should vote.") == 2, "both texts stand below"
        assert "Not checked by a model yet" in shown(app, "#models")


@pytest.mark.e2e
async def test_the_texts_are_compared_word_by_word(odd_store: Path) -> None:
    with Store.open(odd_store) as store:
        run_check(store, CheckSpec("small"))
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        await to(screen, pilot, "too-far")
        await until(pilot, lambda: "is far from its original" in shown(app, "#details"))
        assert "−[Statement a-2 should become law]" in shown(app, "#details")
        assert "+[ Stray blanks are odd]" in shown(app, "#details")
        assert "similarities by minilm of 17 texts" in shown(app, "#models")


@pytest.mark.e2e
async def test_enter_goes_to_the_wording_and_back_to_the_same_place(odd_store: Path) -> None:
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        await to(screen, pilot, "stray-blanks")
        row = screen.view.table.cursor_row
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and app.screen._sheet is not None
        )
        editor = app.screen
        assert isinstance(editor, StatementScreen)
        assert (editor._ref, editor._at) == ("a-2", PARAPHRASE)
        with Store.open(odd_store) as store:
            mended = with_text(
                store.statements.get("small", "a-2"), PARAPHRASE, "Stray blanks are gone."
            )
            store.statements.save("small", [mended], person="ana")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and "stray-blanks" not in codes(screen))
        assert screen.view.table.cursor_row == row, "the next finding has taken its row"
        assert "1 error · 0 warnings" in screen_text(app)


@pytest.mark.e2e
async def test_a_finding_about_no_statement_is_shown_whole(odd_store: Path) -> None:
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        await to(screen, pilot, "few-labels")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, TextScreen)
        assert "says little, and tables mark it" in shown(app, "#text")


@pytest.mark.e2e
async def test_waiving_asks_why_and_who_and_hides_the_finding(odd_store: Path) -> None:
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, WaiveDialog))
        await pilot.press("enter")
        await until(pilot, lambda: "needs a reason" in screen_text(app))
        app.screen.query_one(Input).value = "published \x1b[31mso\u202e"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditorDialog))
        await pilot.press(*"ana", "enter")
        await until(
            pilot, lambda: app.screen is screen and "negation-equals-original" not in codes(screen)
        )
        assert "0 errors · 1 warning" in screen_text(app)
        assert "1 waived" in screen_text(app)
        assert shown(app, "#narrowed") == "1 more row: v shows every row"
        await pilot.press("v")
        await until(pilot, lambda: "negation-equals-original" in codes(screen))
        screen.view.table.show_row(0)
        await until(pilot, lambda: "waived by ana" in shown(app, "#details"))
        assert "published [31mso" in shown(app, "#details")
        await pilot.press("u")
        await until(pilot, lambda: screen.current is not None and screen.current.waiver is None)
        assert "1 error · 1 warning" in screen_text(app)
    with Store.open(odd_store) as store:
        assert [waiver.reason for waiver in store.checks.waiver_history("small")] == [
            "published [31mso",
            None,
        ]


@pytest.mark.e2e
async def test_escape_leaves_a_finding_unwaived(odd_store: Path) -> None:
    app = WorkbenchApp(odd_store, annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, WaiveDialog))
        await pilot.press(*"no", "escape")
        # What was typed would be lost.
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: app.screen is screen)
    with Store.open(odd_store) as store:
        assert store.checks.waiver_history("small") == ()


@pytest.mark.e2e
async def test_filters_by_severity_kind_and_text(odd_store: Path) -> None:
    app = WorkbenchApp(odd_store)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, pilot)
        total = len(codes(screen))
        await pilot.press("s", "s")
        await until(pilot, lambda: codes(screen) == ["stray-blanks"])
        assert shown(app, "#narrowed") == f"1 of {total} rows · severity: ! warning"
        await pilot.press("0", "c")
        await until(pilot, lambda: codes(screen) == ["negation-equals-original"])
        await pilot.press("0", "slash", *"always")
        await until(pilot, lambda: codes(screen) == ["absolute-word"])
        await pilot.press("enter")
        assert app.focused is screen.view.table
        await pilot.press("slash", *"zebra")
        await until(pilot, lambda: "No row contains “zebra”" in shown(app, "#details"))
        await pilot.press("escape")
        await until(pilot, lambda: len(codes(screen)) == total)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


@pytest.mark.e2e
async def test_nothing_odd_is_said(tmp_path: Path) -> None:
    from workbench.data import shipped_instrument_folder
    from workbench.formats.native import read_csv

    path = made(tmp_path / "v.db", read_csv(shipped_instrument_folder()))
    with Store.open(path) as store:
        for one in check_report(store, "veldania").checked:
            store.checks.waive("veldania", one.finding, reason="as it should be", person="ana")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = ChecksScreen("veldania")
        await app.push_screen(screen)
        await until(pilot, lambda: "No findings for veldania" in shown(app, "#details"))
        assert "findings are waived: v shows them" in shown(app, "#details")
        await pilot.press("enter", "w", "u")
        assert app.screen is screen


@pytest.mark.e2e
async def test_models_look_in_a_worker_after_one_has_seen_what_that_means(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, CommandForm))
        await until(
            pilot,
            lambda: "18 texts to embed with minilm; 0 are stored already" in shown(app, "#plan"),
        )
        app.screen.query_one("#low", Input).value = "1.5"
        await until(
            pilot, lambda: "too different below: found 1.5; give -1 to 1" in shown(app, "#plan")
        )
        assert app.screen.query_one("#start", Button).disabled
        app.screen.query_one("#low", Input).value = "0.6"
        await until(pilot, lambda: "18 texts to embed" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: app.screen is screen and screen._job is not None)
        await until(pilot, lambda: screen._job is None, 120)
        await until(
            pilot, lambda: screen._report is not None and screen._report.encoder is not None
        )
        assert screen._report is not None
        assert screen._report.thresholds == Thresholds(low=0.6)
        await pilot.press("R")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, CommandForm)
                and "Everything is stored" in shown(app, "#plan")
            ),
        )
        assert app.screen.query_one("#start", Button).disabled


@pytest.mark.e2e
@pytest.mark.parametrize("size", SIZES)
async def test_hostile_texts_are_shown_and_not_obeyed(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = made(tmp_path / "h.db", hostile_instrument())
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        screen = ChecksScreen("[bold]host")
        await app.push_screen(screen)
        await until(pilot, lambda: screen.view.table.row_count)
        seen = ""
        for row in range(screen.view.table.row_count):
            screen.view.table.show_row(row)
            await pilot.pause()
            seen += shown(app, "#details") + screen_text(app)
        assert "\x1b" not in seen
        assert "\u202e" not in seen
        assert "right \\u202e to left" in seen
        assert "holds a direction mark (U+202E RIGHT-TO-LEFT OVERRIDE)" in seen
        assert "cannot be asked: it is empty" in seen


async def test_an_instrument_that_is_not_there_is_said(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = ChecksScreen("nope")
        await app.push_screen(screen)
        await until(pilot, lambda: screen.trouble.shown)
        assert "no instrument is named 'nope'" in flowing(app)


def test_what_is_typed_becomes_the_specification(store: Store) -> None:
    store.instruments.add(instrument())
    cosines = {"low": "0.4", "low_negation": "0.5", "high": "0.97", "twin": "0.8"}
    texts = {"instrument": "small", "encoder": "minilm", "nli": "", "language": ("en", "de")}
    spec = CheckCommand.from_form({**texts, **cosines}).check_spec(store)
    assert (spec.languages, spec.thresholds) == (
        ("en", "de"),
        Thresholds(0.4, 0.5, 0.97, 0.995, 0.8),
    )


@pytest.mark.e2e
async def test_what_a_finding_is_about_is_ruled_on_from_there(path: Path) -> None:
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await until(pilot, lambda: screen.ruled_place() is not None)
        place = screen.ruled_place()
        assert place is not None
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, RulingDialog))
        await pilot.press("x", "enter")
        await until(pilot, lambda: "excluded: " in status(app))
        with Store.open(path) as store:
            ((ruling,),) = store.rulings.standing().values()
        assert ruling.subject.named["statement"] == place.words[0]
        await until(pilot, lambda: "ruled by otto: excluded" in flowing(app))
        await pilot.press("l")
        await until(
            pilot, lambda: isinstance(app.screen, RuledText) and "ruled by otto" in flowing(app)
        )
        await pilot.press("escape")
        await pilot.press("z")
        await until(pilot, lambda: "undone: excluded" in status(app))
