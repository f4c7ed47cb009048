"""The gate of everything that the terminal paints, so that it receives no control characters.

Every line of every widget passes here after it is rendered, so texts in editors, toasts and titles
are covered like those in tables. The widgets keep the exact text: only the painted text changes.
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
"least contrast ratio of words (WCAG 2.2, AA), and number of steps to a colour that has it"
ENDS = ColorTriplet(255, 255, 255), ColorTriplet(0, 0, 0)
READ = re.compile("[^\\W_]|[✓✗∅·°!?*−±→←▲▼▸●○◌=≠]")
"a letter, a digit, or a mark that is read like a word"


class Literal(LineFilter):
    """A filter that replaces unprintable characters by visible signs."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the line in its width.

        A sign takes cells where a control character took none. Blanks make room for it, or else the
        end of the line.
        """
        if all(text.isprintable() for text, _, control in segments if not control):
            return segments
        width = Segment.get_line_length(segments)
        painted = [
            segment if segment.control else Segment(visible(segment.text), segment.style)
            for segment in segments
        ]
        excess = Segment.get_line_length(painted) - width
        for index, (text, style, control) in reversed(list(enumerate(painted))):
            n_cut = min(excess, len(text) - len(text.rstrip(" ")))
            if n_cut > 0 and not control:
                painted[index], excess = Segment(text[:-n_cut], style), excess - n_cut
        return Segment.adjust_line_length(painted, width)


class Legible(LineFilter):
    """A filter that paints words and marks in legible colours in any theme.

    It comes after Textual's own filters: under NO_COLOR the red of a mark is a dark grey.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the line with no word or mark of less contrast than `CONTRAST`."""
        background_colour = background.rich_color
        return [
            Segment(text, legible(style, background_colour))
            if style is not None and not control and not text.isspace() and READ.search(text)
            else Segment(text, style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def legible(style: Style, background: RichColor) -> Style:
    """Return a style with at least the contrast `CONTRAST` to its background.

    Its colour is moved towards black or white as far as needed.
    """
    own_background = style.bgcolor or background
    # The terminal's own colours have no known values.
    if style.color is None or style.color.triplet is None or own_background.triplet is None:
        return style
    background_luminance = luminance(own_background.triplet)
    target = max(ENDS, key=lambda candidate: contrast(luminance(candidate), background_luminance))
    for step in range(STEPS + 1):
        mixed = blend_rgb(style.color.triplet, target, step / STEPS)
        if contrast(luminance(mixed), background_luminance) >= CONTRAST:
            break
    return style if not step else style + Style(color=RichColor.from_triplet(mixed))


def luminance(color: ColorTriplet) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in color.normalized
    )
    return sum(
        weight * linear for weight, linear in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


def contrast(one: float, two: float) -> float:
    """Return the contrast ratio of two luminances, 1 to 21 (WCAG 2.2)."""
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)


LITERAL, LEGIBLE = Literal(), Legible()


class LiteralApp(App[int]):
    """An app whose lines all pass the gate, so that they are safe and legible."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), LITERAL, LEGIBLE)
