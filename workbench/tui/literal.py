"""The gate for everything that the terminal paints: no character reaches it that it would obey.

Every line of every widget passes here after it is rendered, so texts in editors, toasts and titles
are covered like those in tables. The widgets keep the exact text: only what is painted changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from workbench.figures.visible import visible

CONTRAST, STEPS = 4.5, 10
"""least ratio of words to their background (WCAG 2.2, AA), and in how many steps a colour comes to
it"""
ENDS = ColorTriplet(255, 255, 255), ColorTriplet(0, 0, 0)
READ = re.compile("[^\\W_]|[✓✗∅·°!?*−±→←▲▼▸●○◌=≠]")
"a letter, a digit, or a mark that is read like a word"


class Literal(LineFilter):
    """Replaces characters that do not print by visible signs."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the line, as wide as it was. A sign takes cells where a control character took
        none; blanks make room for it, or else the end of the line.
        """
        if all(text.isprintable() for text, _, control in segments if not control):
            return segments
        width = Segment.get_line_length(segments)
        painted = [
            segment if segment.control else Segment(visible(segment.text), segment.style)
            for segment in segments
        ]
        excess = Segment.get_line_length(painted) - width
        for place, (text, style, control) in reversed(list(enumerate(painted))):
            cut = min(excess, len(text) - len(text.rstrip(" ")))
            if cut > 0 and not control:
                painted[place], excess = Segment(text[:-cut], style), excess - cut
        return Segment.adjust_line_length(painted, width)


class Legible(LineFilter):
    """Paints words and marks in colours that stand out from their background, whatever the theme
    makes of them.

    It comes after Textual's own filters: under NO_COLOR the red of a mark is a dark grey.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the line with no word or mark of less contrast than `CONTRAST`."""
        back = background.rich_color
        return [
            Segment(text, legible(style, back))
            if style is not None and not control and not text.isspace() and READ.search(text)
            else Segment(text, style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def legible(style: Style, background: RichColor) -> Style:
    """Return a style whose colour has the least contrast with its background, or more: it goes
    towards black or white as far as it must.
    """
    back = style.bgcolor or background
    # The terminal's own colours.
    if style.color is None or style.color.triplet is None or back.triplet is None:
        return style
    under = luminance(back.triplet)
    end = max(ENDS, key=lambda one: contrast(luminance(one), under))
    for step in range(STEPS + 1):
        mixed = blend_rgb(style.color.triplet, end, step / STEPS)
        if contrast(luminance(mixed), under) >= CONTRAST:
            break
    return style if not step else style + Style(color=RichColor.from_triplet(mixed))


def luminance(color: ColorTriplet) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one: float, two: float) -> float:
    """Return the contrast ratio of two luminances, 1 to 21 (WCAG 2.2)."""
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)


LITERAL, LEGIBLE = Literal(), Legible()


class LiteralApp(App[int]):
    """An app whose every line passes the gate, and can be read."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), LITERAL, LEGIBLE)
