"""Nothing that the terminal would obey is painted, and editors keep the exact text."""

from __future__ import annotations

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.text import Text
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import DataTable, Input, Static, TextArea

from tests.core.test_visible import HOSTILE
from workbench.tui.app import WorkbenchApp
from workbench.tui.literal import LITERAL, LiteralApp, contrast, luminance
from workbench.tui.results.sheet import VERDICT_STYLES


class Editors(LiteralApp):
    """Editors and texts as hostile as they come."""

    def compose(self) -> ComposeResult:
        yield TextArea(HOSTILE)
        yield Input(HOSTILE.replace("\r", ""))
        yield Static(HOSTILE, markup=False)


class Marks(LiteralApp):
    """Every mark and style that tables have."""

    def compose(self) -> ComposeResult:
        table: DataTable[Text] = DataTable(cursor_type="row")
        table.add_columns("mark", "what")
        for style in sorted({*VERDICT_STYLES.values(), "bold green", "yellow", "dim", ""}):
            for mark in ("✓", "✗", "·", "∅", "✗ fail"):
                table.add_row(Text(mark, style=style), Text("word", style=style))
        yield table


def painted(app: App[int]) -> list[str]:
    """Return the lines that go to the terminal."""
    return [
        "".join(segment.text for segment in strip)
        for strip in app.screen._compositor.render_strips()
    ]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_editors_paint_signs_and_keep_the_text(size: tuple[int, int]) -> None:
    app = Editors()
    async with app.run_test(size=size) as pilot:
        app.notify(HOSTILE, title=HOSTILE, markup=False)
        await pilot.pause()
        lines = painted(app)
        assert all(line.isprintable() for line in lines)
        assert sum("␛]52;c;ZXZpbA==" in line for line in lines) >= 3
        assert app.query_one(TextArea).text == HOSTILE
        assert app.query_one(Input).value == HOSTILE.replace("\r", "")


def test_a_line_keeps_its_width() -> None:
    line = [Segment("ab\x1b[2Jcd"), Segment("   "), Segment("end")]
    filtered = LITERAL.apply(line, Color.parse("black"))
    assert "".join(segment.text for segment in filtered) == "ab␛[2Jcd  end"
    full = [Segment("ab\x1b[2Jcd")]
    assert (
        "".join(segment.text for segment in LITERAL.apply(full, Color.parse("black"))) == "ab␛[2Jc"
    )


def test_an_ordinary_line_is_the_same_object() -> None:
    line = [Segment("plain – ✓ 平")]
    assert LITERAL.apply(line, Color.parse("black")) is line


@pytest.mark.parametrize("no_color", [False, True])
@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "nord", "solarized-light"])
async def test_every_mark_and_word_stands_out_without_colours_in_light_themes_and_with_256_colours(
    monkeypatch: pytest.MonkeyPatch, theme: str, *, no_color: bool
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    app = Marks()
    async with app.run_test(size=(60, 40)) as pilot:
        app.theme = theme
        await pilot.pause()
        seen = [
            segment
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.text.strip()
        ]
        assert {segment.text.strip() for segment in seen} >= {"✗", "✓", "·", "✗ fail", "word"}
        for text, style, _ in seen:
            assert style is not None
            colors = [one for one in (style.color, style.bgcolor) if one is not None]
            assert len(colors) == 2
            for shown, least in (
                (colors, 4.5),
                ([one.downgrade(ColorSystem.EIGHT_BIT) for one in colors], 3.0),
            ):
                fore, back = (luminance(one.get_truecolor()) for one in shown)
                assert contrast(fore, back) >= least, (text, style)


def test_the_workbench_has_the_gate() -> None:
    assert issubclass(WorkbenchApp, LiteralApp)
