"""Many short texts as one artist.

matplotlib's own texts take a millisecond each, mostly for the layout of lines, which these do not
need: a page of 420 cells is drawn six times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text as MatplotlibText
from matplotlib.transforms import IdentityTransform

from workbench.figures.write.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Side = Literal["left", "center", "right"]
CAPITAL = 0.36
"half the height of a capital, in sizes of the font, as texts are centred on their line"


@dataclass(frozen=True, slots=True)
class Text:
    """A text at its position."""

    x: float
    y: float
    text: str
    side: Side = "left"
    "the side of the text that is at x"
    size: float = style.SMALL
    italic: bool = False
    colour: str = style.INK
    across: float = 0.0
    "points to the right of x"


@cache
def _font(family: str, italic: bool, size: float) -> FontProperties:
    return FontProperties(family=family, style="italic" if italic else "normal", size=size)


class _Anchor:
    """The anchor of a text for the SVG writer.

    Another font thus moves only the other end of the text.
    """

    def __init__(self, x: float, y: float, side: Side) -> None:
        self.at, self.side = (x, y), side

    def get_transform(self) -> Any:
        return IdentityTransform()

    def get_unitless_position(self) -> tuple[float, float]:
        return self.at

    def get_ha(self) -> str:
        return self.side

    def get_rotation_mode(self) -> str:
        return "default"

    def get_fontfeatures(self) -> None:
        return None

    def get_language(self) -> None:
        return None


class Texts(Artist):
    """The texts of axes.

    `add` takes data coordinates. `beside` takes the horizontal one as a share of the axes' width.
    """

    def __init__(self, axes: Any) -> None:
        super().__init__()
        self._held: list[tuple[Any, Text]] = []
        self._of = axes
        self.set_zorder(4)
        self.set_clip_on(False)
        axes.figure.add_artist(self)

    def add(self, text: Text) -> None:
        self._held.append((self._of.transData, text))

    def beside(self, text: Text) -> None:
        self._held.append((self._of.get_yaxis_transform(), text))

    def lines(self) -> list[str]:
        """Return the texts without their positions."""
        return [text.text for _, text in self._held]

    def draw(self, renderer: Any) -> None:
        """Write every text with one anchor and no layout."""
        from matplotlib.colors import to_rgb

        _, height = renderer.get_canvas_width_height()
        points = renderer.points_to_pixels(1.0)
        (family,) = rcParams["font.family"]
        for transform, text in self._held:
            x, y = transform.transform((text.x, text.y))
            x, y = x + text.across * points, y - CAPITAL * text.size * points
            font = _font(family, text.italic, text.size)
            width = style.inches(text.text, text.size) * 72 * points
            left = x - {"left": 0.0, "center": width / 2, "right": width}[text.side]
            pen = renderer.new_gc()
            pen.set_foreground(to_rgb(text.colour))
            top = height - y if renderer.flipy() else y
            renderer.draw_text(
                pen, left, top, text.text, font, 0, ismath=False, mtext=_Anchor(x, y, text.side)
            )
            pen.restore()
        self.stale = False


def characters_of(figure: Figure) -> frozenset[str]:
    """Return the characters of all texts of a figure."""
    single = [text.get_text() for text in figure.findobj(MatplotlibText)]
    grouped = [text for artist in figure.findobj(Texts) for text in artist.lines()]
    return frozenset("".join([*single, *grouped]))
