"""Pages of help in the terminal: the palette finds them by their titles. `workbench help` prints the same."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from workbench.figures.visible import visible
from workbench.help import Topic, topics

PREFIX = "Help: "


class HelpProvider(Provider):
    """Finds pages by their titles."""

    async def discover(self) -> Hits:
        for page in topics():
            title = PREFIX + page.title
            yield DiscoveryHit(Content(title), partial(self.app.push_screen, PageScreen(page)), help=page.name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for page in topics():
            title = PREFIX + page.title
            if (score := max(matcher.match(title), matcher.match(page.name))) > 0:
                show = partial(self.app.push_screen, PageScreen(page))
                yield Hit(score, matcher.highlight(title), show, text=title, help=page.name)


class PageScreen(ModalScreen[None]):
    """A page to read."""

    DEFAULT_CSS = """
    PageScreen {
        align: center middle;
        background: $background 60%;
    }
    PageScreen .page {
        width: 100%;
        max-width: 124;
        height: 90%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "dismiss(None)", "Close", key_display="Esc"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
    ]

    def __init__(self, page: Topic) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        from textual.widgets import Markdown  # brings a parser that only this screen needs

        with Vertical(classes="page") as page:
            page.border_title = Content(self._page.name)
            page.border_subtitle = f"Esc back · workbench help {self._page.name} prints this page"
            with VerticalScroll():
                yield Markdown(visible(self._page.words, lines=True), open_links=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
