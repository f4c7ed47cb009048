"""What stands around every screen: the line that says where one is, and the panel that says what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.figures.hints import hinted
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from textual.timer import Timer

SAID_S = 8.0
"for which it stays in sight what a key did"


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
    TitleBar.-long {
        height: auto;
        max-height: 3;
        text-wrap: wrap;
    }
    """

    place: reactive[str] = reactive("")
    note: reactive[str] = reactive("")
    said: reactive[Content | None] = reactive[Content | None](None)
    "what was done a moment ago; it stands where there is room, else in place of the rest"

    def __init__(self, store: str, place: str) -> None:
        super().__init__(markup=False)
        self.store = store
        self._ends: Timer | None = None
        self.set_reactive(TitleBar.place, place)

    def say(self, sentence: str, *, warns: bool = False) -> None:
        """Show a sentence for a while; it takes more lines only where one cannot hold it."""
        mark, style = ("!", "bold $text-warning") if warns else ("✓", "bold $text-success")
        said = Content.assemble((f"{mark} {visible(sentence)}", style))
        self.set_class(said.cell_length > self.content_size.width, "-long")
        self.said = said
        if self._ends is not None:
            self._ends.stop()
        self._ends = self.set_timer(SAID_S, self.unsay)

    def unsay(self) -> None:
        """Show again where one is."""
        self.said = None
        self.remove_class("-long")

    def rename(self, store: str) -> None:
        """Name another store."""
        self.store = store
        self.refresh()

    def render(self) -> Content:
        left = Content.assemble(
            ("workbench", "bold"), " · ", visible(self.store), "  ", (visible(self.place), "bold $text-accent")
        )
        note = Content(visible(self.note))
        if self.said is not None:
            return self._with_said(left, note, self.said)
        room = self.content_size.width - left.cell_length - note.cell_length
        return Content.assemble(left, " " * max(2, room), note)

    def _with_said(self, left: Content, note: Content, said: Content) -> Content:
        """Return what was done with as much of the rest as there is room for."""
        place, nothing = Content.styled(visible(self.place), "bold $text-accent"), Content("")
        here = Content.assemble(visible(self.store), "  ", place)
        for before, after in ((left, note), (left, nothing), (here, nothing), (place, nothing)):
            gap = 2 * bool(after.cell_length)
            room = self.content_size.width - before.cell_length - said.cell_length - after.cell_length - gap
            if room >= 2:
                return Content.assemble(before, " " * room, said, " " * gap, after)
        return said


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

    def show(self, error: WorkbenchError, store: Path | None = None) -> None:
        """Show an error; commands that it names are about the store at hand, where there is one."""
        said = str(error) if store is None else hinted(str(error), store)
        self.update(Content(visible(said, lines=True)))
        self.add_class("-shown")

    def hide(self) -> None:
        self.remove_class("-shown")

    @property
    def shown(self) -> bool:
        return self.has_class("-shown")
