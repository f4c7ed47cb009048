"""The gate for everything that the terminal paints: no character reaches it that it would obey.

Every line of every widget passes here after it is rendered, so texts in editors, toasts and titles are covered like
those in tables. The widgets keep the exact text: only what is painted changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from workbench.figures.visible import visible


class Literal(LineFilter):
    """Replaces characters that do not print by visible signs."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the line, as wide as it was. A sign takes cells where a control character took none; blanks make room
        for it, or else the end of the line.
        """
        if all(text.isprintable() for text, _, control in segments if not control):
            return segments
        width = Segment.get_line_length(segments)
        painted = [
            segment if segment.control else Segment(visible(segment.text), segment.style) for segment in segments
        ]
        excess = Segment.get_line_length(painted) - width
        for place, (text, style, control) in reversed(list(enumerate(painted))):
            cut = min(excess, len(text) - len(text.rstrip(" ")))
            if cut > 0 and not control:
                painted[place], excess = Segment(text[:-cut], style), excess - cut
        return Segment.adjust_line_length(painted, width)


LITERAL = Literal()


class LiteralApp(App[int]):
    """An app whose every line passes the gate."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), LITERAL)
