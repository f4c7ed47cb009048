"""The screen of a table's pictures, one at a time, above their descriptions for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.figures.pictures.kinds import Bars, Grid, Intervals
from workbench.figures.pictures.picture import Picture, split
from workbench.figures.visible import visible
from workbench.tui.kit.base import once_painted
from workbench.tui.pictures import grid, plot


class PictureScreen(ModalScreen[None]):
    """A dialog of a table's pictures. Tab shows the next picture, Page Down more of its lines."""

    DEFAULT_CSS = """
    PictureScreen {
        layout: vertical;
        background: $background;
        padding: 0 1;
    }
    PictureScreen #heading, PictureScreen #marks, PictureScreen #keys {
        height: auto;
    }
    PictureScreen #canvas {
        height: 1fr;
        min-height: 6;
    }
    PictureScreen #canvas > * {
        display: none;
    }
    PictureScreen #canvas .-shown {
        display: block;
    }
    PictureScreen #said {
        height: auto;
        max-height: 4;
        color: $text-muted;
    }
    PictureScreen #keys {
        color: $text-muted;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right_square_bracket,right", "view(1)", "Next picture", key_display="Tab"),
        Binding("shift+tab,left_square_bracket,left", "view(-1)", "Previous picture", show=False),
        Binding("pagedown,j,down", "down", "More rows", show=False),
        Binding("pageup,k,up", "up", "Previous rows", show=False),
        Binding("escape,q,P", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(self, pictures: Sequence[Picture]) -> None:
        super().__init__()
        self._pictures, self._at, self._page = pictures, 0, 0

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        yield Static(id="marks", markup=False)
        from textual_plotext import PlotextPlot

        with Container(id="canvas"):
            yield PlotextPlot(id="plot")
            yield Static(id="grid", markup=False)
        with VerticalScroll(id="said", can_focus=False):
            yield Static(id="words", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        once_painted(self, self._show)

    def on_resize(self) -> None:
        once_painted(self, self._show)

    @property
    def picture(self) -> Picture:
        return self._pictures[self._at]

    def action_view(self, step: int) -> None:
        self._at, self._page = (self._at + step) % len(self._pictures), 0
        self._show()

    def action_down(self) -> None:
        self._turn(1)

    def action_up(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        pages = self._pages()
        self._page = max(0, min(len(pages) - 1, self._page + step))
        self._show()

    def _pages(self) -> Sequence[Picture]:
        return fitted(self.picture, self.query_one("#canvas").size.height)

    def _show(self) -> None:
        pages = self._pages()
        self._page = min(self._page, len(pages) - 1)
        page = pages[self._page]
        self._draw(page)
        position_text = (
            f"  picture {self._at + 1} of {len(self._pictures)}" if len(self._pictures) > 1 else ""
        )
        heading = (visible(self.picture.title), "bold"), (position_text, "$text-muted")
        self.query_one("#heading", Static).update(Content.assemble(*heading))
        legend_parts = [
            legend_part
            for symbol, name, colour in plot.marks(self.picture)
            for legend_part in (
                (f"{symbol} ", f"rgb({','.join(map(str, colour))})"),
                (f"{visible(name)}   ", ""),
            )
        ]
        self.query_one("#marks", Static).update(Content.assemble(*legend_parts))
        self.query_one("#words", Static).update(
            visible(" ".join([self.picture.alt, *self.picture.notes]))
        )
        keys = ["Esc back"]
        keys = ["Tab next picture", *keys] if len(self._pictures) > 1 else keys
        if len(pages) > 1:
            n_more = sum(map(lines, pages[self._page + 1 :]))
            more_text = (
                f", {n_more:,} more {'line' if n_more == 1 else 'lines'} below" if n_more else ""
            )
            keys = [f"page {self._page + 1} of {len(pages)}{more_text}: PgDn, PgUp", *keys]
        self.query_one("#keys", Static).update(" · ".join(keys))

    def _draw(self, page: Picture) -> None:
        canvas, cells = self.query_one("#plot"), self.query_one("#grid", Static)
        width = self.query_one("#canvas").size.width
        canvas.set_class(not isinstance(page, Grid), "-shown")
        cells.set_class(isinstance(page, Grid), "-shown")
        if isinstance(page, Grid):
            cells.update(grid.drawn(page, width))
        else:
            plot.draw(getattr(canvas, "plt"), page, width)  # noqa: B009  its class is imported on use
            canvas.refresh()


def lines(page: Picture) -> int:
    """Return the number of lines of a page of a picture."""
    if isinstance(page, Intervals):
        return len(page.points)
    return (
        len(page.bars)
        if isinstance(page, Bars)
        else len(page.rows)
        if isinstance(page, Grid)
        else 1
    )


def fitted(picture: Picture, height: int) -> Sequence[Picture]:
    """Return a picture in as many pages as its lines need."""
    n_lines = plot.most(height)
    if isinstance(picture, Intervals):
        pages = split(picture.points, n_lines)
        return [
            picture.paged(number, len(pages), points=page) for number, page in enumerate(pages, 1)
        ]
    if isinstance(picture, Bars):
        bars = split(picture.bars, n_lines)
        return [picture.paged(number, len(bars), bars=page) for number, page in enumerate(bars, 1)]
    if isinstance(picture, Grid):
        rows = split(range(len(picture.rows)), max(1, height - 2))
        return [
            replace(
                picture,
                rows=[picture.rows[row] for row in page],
                cells=[picture.cells[row] for row in page],
            )
            for page in rows
        ]
    return (picture,)
