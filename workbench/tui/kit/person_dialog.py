"""Dialogs that ask for the name of a person, typed or chosen from earlier names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.domain.names import person_name
from workbench.errors import UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.base import Background, app_of, worker
from workbench.tui.kit.dialogs import with_answer

if TYPE_CHECKING:
    from stores.core.store import Store


class PersonDialog(ModalScreen[str | None], Background):
    """A dialog that asks for a name. It returns its normal form, or None."""

    CSS_PATH = "../annotation/queues.tcss"
    SHORT_TEXT = True
    EXPECTED = True
    "False: the dialog replaces a requested screen, so keys typed for that are no name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", tooltip="Go back"),
        Binding(
            "down", "app.focus_next", "To the names", show=False, tooltip="Go to the list of names"
        ),
    ]

    box = query_one("#person", Input)
    trouble = query_one("#trouble", Static)

    def __init__(
        self,
        known: Sequence[str],
        current: str | None = None,
        *,
        note: str = "Your labels are stored under this name.",
        what: str = "annotator",
    ) -> None:
        super().__init__()
        self._known, self._current = tuple(known), current
        self._note, self._what = note, what

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Who are you?"
            dialog.border_subtitle = "Enter continue · Esc back"
            yield Input(
                self._current or "",
                placeholder="the same name each time",
                id="person",
                compact=True,
            )
            yield Static(self._note, id="trouble", markup=False)
            if self._known:
                yield Static(
                    "Known names: ↓, then Enter chooses one", id="known-title", markup=False
                )
                names = (Option(Content(visible(name))) for name in self._known)
                yield OptionList(*names, id="known", markup=False)

    def on_mount(self) -> None:
        self.box.focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the name, or show why it is invalid."""
        try:
            self.dismiss(person_name(event.value, self._what))
        except UsageError as error:
            self.failed(error)

    def failed(self, error: WorkbenchError) -> None:
        self.trouble.add_class("-wrong")
        self.trouble.update(Content("✗ " + visible(str(error))))

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._known[event.option_index])


def ask_person(screen: Screen[Any], dialog: PersonDialog, then: Callable[[str], object]) -> None:
    """Ask for the user's name, and go on under it."""

    def take(name: str) -> None:
        app_of(screen).annotator = name
        then(name)

    with_answer(screen, dialog, take)


def as_person(screen: Screen[Any], instrument: str, then: Callable[[str], object]) -> None:
    """Go on under the user's name. Ask for it if it is unknown."""
    person = app_of(screen).annotator
    if person is not None:
        then(person)
    else:
        dialog = EditorDialog(instrument)
        dialog.EXPECTED = False
        ask_person(screen, dialog, then)


class EditorDialog(PersonDialog):
    """A dialog that asks for the name under which changes are stored."""

    def __init__(self, instrument: str) -> None:
        super().__init__(())
        self._instrument = instrument

    def on_mount(self) -> None:
        self.query_one("#trouble", Static).update(
            "Your changes are stored under this name, and you can undo them."
        )
        self.read()

    async def offer(self, names: tuple[str, ...]) -> None:
        """Offer the names of people who changed statements here before."""
        if names and not self.query(OptionList):
            self._known = names
            options = OptionList(
                *(Option(Content(visible(known_name))) for known_name in names),
                id="known",
                markup=False,
            )
            await self.query_one(".dialog", Vertical).mount(options)

    @worker("known", beside=True)
    async def read(self) -> None:
        def load(store: Store) -> tuple[str, ...]:
            from workbench.pipeline.editing import people

            return people(store, self._instrument)

        if self._instrument:
            await self.offer(await self.with_store(load))
