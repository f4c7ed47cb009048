"""Who changes statements: asked when a change first needs a name, with those who changed some before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual import on, work
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.tui.format import visible
from workbench.tui.kit.base import store_path
from workbench.tui.kit.person_dialog import PersonDialog


def as_person(screen: Screen[Any], instrument: str, then: Callable[[str], object]) -> None:
    """Go on as the person who sits here; ask who that is where nobody said so yet."""
    person = getattr(screen.app, "annotator", None)
    if isinstance(person, str):
        then(person)
        return

    def take(name: str | None) -> None:
        if name is not None:
            setattr(screen.app, "annotator", name)  # noqa: B010
            then(name)

    screen.app.push_screen(EditorDialog(instrument), take)


class EditorDialog(PersonDialog):
    """Asks for the name under which changes are kept."""

    @dataclass
    class Known(Message):
        """It was read who changed statements here before."""

        names: tuple[str, ...]

    def __init__(self, instrument: str) -> None:
        super().__init__(())
        self._instrument = instrument

    def on_mount(self) -> None:
        self.query_one("#trouble", Static).update("Your changes are stored under this name, and you can undo them.")
        self.read()

    @on(Known)
    async def offer(self, event: Known) -> None:
        if event.names and not self.query(OptionList):
            self._known = event.names
            options = OptionList(*(Option(Content(visible(n))) for n in event.names), id="known", markup=False)
            await self.query_one(".dialog", Vertical).mount(options)

    @work(thread=True, exclusive=True, exit_on_error=False, group="known")
    def read(self) -> None:
        from stores.core.store import Store
        from workbench.pipeline.editing import people

        if self._instrument:
            with Store.open(store_path(self.app)) as store:
                self.post_message(self.Known(people(store, self._instrument)))
