"""What stands around every screen: the line that says where one is, and the panel that says what went wrong."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.tui.format import visible


class TitleBar(Static):
    """`workbench · elections.db ── statements`, and a few words at the right."""

    DEFAULT_CSS = """
    TitleBar {
        dock: top;
        height: 1;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    place: reactive[str] = reactive("")
    note: reactive[str] = reactive("")

    def __init__(self, store: str, place: str) -> None:
        super().__init__(markup=False)
        self.store = store
        self.set_reactive(TitleBar.place, place)

    def rename(self, store: str) -> None:
        """Name another store."""
        self.store = store
        self.refresh()

    def render(self) -> Content:
        left = Content.assemble(
            ("workbench", "bold"), " · ", visible(self.store), "  ", (visible(self.place), "bold $text-accent")
        )
        note = Content(visible(self.note))
        room = self.content_size.width - left.cell_length - note.cell_length
        return Content.assemble(left, " " * max(2, room), note)


class Trouble(Static):
    """What went wrong, what was kept, and what to do; hidden while all is well."""

    DEFAULT_CSS = """
    Trouble {
        display: none;
        height: auto;
        max-height: 60%;
        margin: 1 2;
        padding: 0 1;
        border: round $error;
        border-title-color: $text-error;
        border-subtitle-color: $text-muted;
    }
    Trouble.-shown {
        display: block;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.border_title = "✗ This did not work"

    def show(self, error: WorkbenchError) -> None:
        self.update(Content(visible(str(error), lines=True)))
        self.add_class("-shown")

    def hide(self) -> None:
        self.remove_class("-shown")

    @property
    def shown(self) -> bool:
        return self.has_class("-shown")
