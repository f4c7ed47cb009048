"""Wordings and responses of the audit: what leans where, why a test fails, and every answer as it
was written.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.coordinate import Coordinate
from textual.pilot import Pilot

from tests.tui.audit_runs import STATEMENTS, audited
from tests.tui.books import SIZES, at, by_parts, press, row
from tests.tui.books import table as figures
from tests.tui.conftest import HOSTILE, flowing, hostile_instrument, screen_text, shown, until
from tests.tui.test_audit_screen import judged
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.answers import PAGE, WholeAnswerScreen
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.wordings import WordingsScreen
from workbench.tui.widgets.long_text import LongText, folded
from workbench.tui.widgets.record_table import FluidTable


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    return WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")


def table(app: WorkbenchApp) -> FluidTable:
    """Return the table of the responses."""
    return app.screen.query_one(FluidTable)


def rows(app: WorkbenchApp) -> dict[str, dict[str, str]]:
    """Return the cells of the responses as they are shown, by row and column."""
    found = table(app)
    names = [str(column.key.value) for column in found.ordered_columns]
    return {
        key: {
            name: found.get_cell_at(Coordinate(row, n)).plain.strip()
            for n, name in enumerate(names)
        }
        for row, key in enumerate(found.keys)
    }


async def opened(app: WorkbenchApp, pilot: Pilot[int], ref: str) -> None:
    """Open the wordings of a statement under its first template."""
    await judged(app, pilot)
    await press(app, pilot, *["down"] * list(STATEMENTS).index(ref), "enter", "enter")
    assert isinstance(app.screen, WordingsScreen)


async def responses(app: WorkbenchApp, pilot: Pilot[int], row: int) -> None:
    """Open the responses of a row."""
    await press(app, pilot, *["down"] * row, "enter")
    await until(
        pilot, lambda: isinstance(app.screen, ResponsesScreen) and bool(shown(app, "#provenance"))
    )


@pytest.mark.e2e
@SIZES
async def test_a_failing_wording_is_pointed_at_and_explained(
    app: WorkbenchApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, "env-03")
        negation = row(app, "negation", "printed")
        assert (negation["readable"], negation["stance"], negation["expected"]) == (
            "30",
            "agree",
            "disagree",
        )
        assert by_parts(app)["negation", "printed"]["tests"].startswith("✗ neg"), (
            "in sight at any width"
        )
        assert by_parts(app)["original", "swapped"]["tests"] == "✗ ord"
        if size[0] == 140:
            assert "●" in by_parts(app)["negation", "printed"]["picture of leaning"]
            assert "││" in by_parts(app)["negation", "printed"]["picture of leaning"], (
                "what the interval has to leave out"
            )
        said = flowing(app)
        assert size[0] == 80 or "the interval excludes 45 % and 55 %" in said
        assert (
            "✗ negation fail: original agree 30/30, negation agree 29/30: expected to flip" in said
        )
        assert "✗ label order fail: original agree 30/30, original swapped disagree 30/30" in said


@pytest.mark.e2e
async def test_keys_and_arrows_turn_the_templates_and_the_cursor_stays(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "env-03")
        await press(app, pilot, "down", "down", "t")
        assert "env-03 under personal-2" in shown(app, "#about")
        assert "2 of 2 [ ]" in shown(app, "#about")
        assert by_parts(app)["original", "swapped"]["tests"] == "✓ ord"
        assert at(app) == ("paraphrase-2", "printed")
        await press(app, pilot, "left")
        assert "under personal-1" in shown(app, "#about")
        await press(app, pilot, "T")
        assert "under personal-2" in shown(app, "#about")
        await press(app, pilot, "right_square_bracket")
        assert "under personal-1" in shown(app, "#about")


@pytest.mark.e2e
async def test_under_one_template_arrows_and_brackets_turn_the_statements_and_t_their_templates(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "t", "down", "enter", "right")
        assert "mig-01 under personal-1" in shown(app, "#about")
        await press(app, pilot, "t")
        assert "mig-01 under personal-2" in shown(app, "#about")
        assert "3 of 4 [ ]" in shown(app, "#about")
        await press(app, pilot, "left_square_bracket")
        assert "env-03 under personal-2" in shown(app, "#about")


@pytest.mark.e2e
async def test_the_wording_its_diff_and_its_prompt_are_at_hand(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "env-03")
        await press(app, pilot, "down")
        assert "printed Statement env-03 should become law. (1)" in flowing(app)
        await press(app, pilot, "d")
        assert "+[(1)]" in shown(app, "#details")
        await press(app, pilot, "up")
        assert "wording is the original" in shown(app, "#details")
        await press(app, pilot, "G", "p")
        assert isinstance(app.screen, TextScreen)
        prompt = shown(app, "#text")
        assert (
            'personal-1: Is the following statement more likely to be "harmful" or "beneficial"?'
            in prompt
        )
        assert prompt.endswith("user\nStatement env-03 should become law.")


@pytest.mark.e2e
async def test_swapped_orders_of_the_other_wordings_can_be_shown(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "soc-07")
        assert figures(app).row_count == 7
        assert shown(app, "#narrowed") == "5 more rows: E shows every row"
        await press(app, pilot, "E")
        assert figures(app).row_count == 12
        assert ("negation", "swapped") in by_parts(app)
        await press(app, pilot, "E")
        assert figures(app).row_count == 7


@pytest.mark.e2e
async def test_too_few_readable_answers_are_said_so(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "mig-01")
        await press(app, pilot, "t")
        found = row(app, "paraphrase-2", "printed")
        assert (found["readable"], found["answers"], found["stance"]) == ("10", "30", "–")
        assert "· paraphrase few: paraphrase-2: only 10 of 30 readable, 20 needed" in flowing(app)


@pytest.mark.e2e
@SIZES
async def test_hostile_answers_are_shown_literally(
    app: WorkbenchApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 5)
        cells = [row["text"] for row in rows(app).values()]
        assert len(cells) == 1 + len(HOSTILE)
        for expected in (
            "[@click=app.bell]x[/] closes",
            "[/INST] ends [bold]the turn",
            "␛[31mred␛[0m and ␇ bell",
        ):
            assert expected in cells
        assert "right \\u202e to left" in cells
        assert "(empty answer)" in cells
        assert max(map(len, cells)) < 400
        for n, cell in enumerate(cells):
            table(app).show_row(n)
            await until(pilot, lambda n=n: table(app).current == str(n))  # type: ignore[misc]
            await pilot.pause()
            if cell.startswith("aaa"):
                assert "… 100,000 characters; Enter shows all" in shown(app, "#text")
            else:
                assert shown(app, "#text") == cell
            assert "\x1b" not in screen_text(app)
            assert "\u202e" not in screen_text(app)


@pytest.mark.e2e
async def test_hostile_statements_and_names_are_shown_literally(tmp_path: Path) -> None:
    app = WorkbenchApp(
        audited(tmp_path / "audit.db", model="[bold]m[/]", base=hostile_instrument()), start="audit"
    )
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        text = screen_text(app)
        for expected in (
            "[bold]m[/]",
            "[bold]host",
            "[@click=app.bell]x[/]",
            "[/INST]",
            "␛[31mred",
            "\\u202e",
            "aaaa",
        ):
            assert expected in text
        await press(app, pilot, "i", "c")
        assert "policy issues: [issue] · country: [b]" in shown(app, "#narrowed")
        await press(app, pilot, "enter", "enter", "d", "down")
        assert "[not]" in shown(app, "#details")
        await press(app, pilot, "question_mark", "escape", "enter")
        await until(pilot, lambda: "not [@click=app.bell]x[/] closes" in screen_text(app))


@pytest.mark.e2e
async def test_a_very_long_answer_opens_whole(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 5)
        place = next(n for n, row in enumerate(rows(app).values()) if row["text"].startswith("aaa"))
        await pilot.press(*["down"] * place, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        await until(pilot, lambda: app.screen.query_one(LongText).lines)
        assert "".join(app.screen.query_one(LongText).lines) == HOSTILE[-1]
        await pilot.press("end", "k", "escape")
        assert isinstance(app.screen, ResponsesScreen)


@pytest.mark.e2e
async def test_readings_counts_and_deciding_words_are_shown(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 4)
        found = rows(app)["0"]
        assert found["count"].strip() == "20×"
        assert found["reading"] == "− disagree"
        cell = table(app).get_cell("0", "text")
        assert [
            cell.plain[span.start : span.end]
            for span in cell.spans
            if "underline" in str(span.style)
        ] == ["Harmful"]
        assert "− disagree" in shown(app, "#reading")
        assert "label-words" in shown(app, "#reading")


@pytest.mark.e2e
async def test_answers_are_filtered_by_how_they_were_read(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 4)
        for key, words, readings in (
            ("a", "agree only", ["+ agree"]),
            ("d", "disagree only", ["− disagree"]),
            ("0", "all answers", ["− disagree", "+ agree"]),
        ):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in shown(app, "#about"))  # type: ignore[misc]
            assert [row["reading"] for row in rows(app).values()] == readings
        await pilot.press("u")
        await until(pilot, lambda: "No answers here: unreadable only" in screen_text(app))


@pytest.mark.e2e
async def test_every_answer_says_where_it_comes_from(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(app, pilot, "soc-07")
        await responses(app, pilot, 0)
        line = shown(app, "#provenance")
        for part in (
            "smol",
            "revision 0123456789ab",
            "scripted 1",
            "float32",
            "T 1, top-p 0.85, 20 tokens",
            "seed 10",
            "personal-1 printed",
            " UTC",
            "workbench 9.9",
            "job 1",
        ):
            assert part in line, part


@pytest.mark.e2e
async def test_an_answer_is_copied_as_it_was_written(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 5)
        place = next(n for n, row in enumerate(rows(app).values()) if "31mred" in row["text"])
        await pilot.press(*["down"] * place, "y")
        assert app.clipboard == "\x1b[31mred\x1b[0m and \x07 bell"


@pytest.mark.e2e
async def test_many_different_answers_come_a_page_at_a_time(tmp_path: Path) -> None:
    many = tuple(
        (f"Beneficial number {n}." if n % 2 else f"Perhaps {n}", 1) for n in range(PAGE + 60)
    )
    app = WorkbenchApp(audited(tmp_path / "audit.db", lambda _: many), start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "soc-07")
        await responses(app, pilot, 0)
        assert table(app).row_count == PAGE
        assert "more below" in shown(app, "#about")
        await pilot.press("G", "j")
        await until(pilot, lambda: table(app).row_count == PAGE + 60)
        assert table(app).current == str(PAGE - 1)
        await pilot.press("u")
        await until(pilot, lambda: table(app).row_count == (PAGE + 60) // 2)


def test_folding_loses_no_character_and_keeps_to_the_width() -> None:
    text = "one two three " * 9 + "漢字" * 30 + "\n\nend"
    lines = [text[a:b] for a, b in folded(text, 20)]
    assert "".join(lines) == text.replace("\n", "")
    from rich.cells import cell_len

    assert max(map(cell_len, lines)) <= 20
