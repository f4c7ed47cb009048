"""The store's file went away while it was open: where to write what it held."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.base import Background, worker

if TYPE_CHECKING:
    from stores.core.identity import Anchor

SAYS = (
    "Everything stored can still be read, including labels, answers and edits made here. Enter writes it to "
    "a new store and continues there; then repeat any change that was not saved. With Esc nothing can be saved."
)


class StoreGoneDialog(ModalScreen[Path | None], Background):
    """Asks where the copy goes; dismisses the path of the copy, None where there is none."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave it")]

    box = query_one("#path", Input)
    trouble = query_one("#trouble", Static)

    def __init__(self, error: WorkbenchError, anchor: Anchor) -> None:
        super().__init__()
        self._error, self._anchor = error, anchor

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "The store is gone"
            dialog.border_subtitle = "Enter write the copy · Esc back"
            yield Static(Content(visible(f"{self._error}\n\n{SAYS}", lines=True)), id="text", markup=False)
            yield Input(str(self._anchor.free_path), id="path", compact=True)
            yield Static(id="trouble", markup=False)

    def on_mount(self) -> None:
        self.box.focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        self.trouble.update("Writing …")
        self.write(Path(event.value).expanduser())

    @worker("write", newest=False)
    async def write(self, path: Path) -> None:
        self.dismiss(await to_thread(self._anchor.rescue, path))

    def failed(self, error: WorkbenchError) -> None:
        self.trouble.update(Content("✗ " + visible(str(error))))
