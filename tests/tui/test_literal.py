"""Nothing that the terminal would obey is painted, and editors keep the exact text."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Input, Static, TextArea

from tests.core.test_visible import HOSTILE
from workbench.tui.app import WorkbenchApp
from workbench.tui.literal import LITERAL, LiteralApp


class Editors(LiteralApp):
    """Editors and texts as hostile as they come."""

    def compose(self) -> ComposeResult:
        yield TextArea(HOSTILE)
        yield Input(HOSTILE.replace("\r", ""))
        yield Static(HOSTILE, markup=False)


def painted(app: App[int]) -> list[str]:
    """Return the lines that go to the terminal."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


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
    assert "".join(segment.text for segment in LITERAL.apply(full, Color.parse("black"))) == "ab␛[2Jc"


def test_an_ordinary_line_is_the_same_object() -> None:
    line = [Segment("plain – ✓ 平")]
    assert LITERAL.apply(line, Color.parse("black")) is line


def test_the_workbench_has_the_gate() -> None:
    assert issubclass(WorkbenchApp, LiteralApp)
