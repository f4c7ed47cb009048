"""The base of the forms of the statement editor, which lose no input and overwrite nothing unseen.

A form saves in a worker and stays open until that succeeds. If somebody else has changed the
statement meanwhile, it shows the current version and keeps the input. The next save overwrites that
version.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select, Static, TextArea

from workbench.errors import ConflictError, StoreGone, WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.keymap import Keyed
from workbench.tui.kit.base import Background, offer_store_copy, once_painted, worker
from workbench.tui.kit.dialogs import TextScreen, confirm
from workbench.tui.kit.person_dialog import as_person

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.domain.statements import Statement
    from workbench.pipeline.editing import Done


class EditForm(ModalScreen["Done | None"], Keyed, Background):
    """A form that changes statements. It returns the change, or None if nothing changed."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("edit_form.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "save", "Save", tooltip="Save what was typed"),
        Binding("escape", "leave", "Leave", tooltip="Leave this screen"),
        Binding("f1", "explain", "Explain the fields", tooltip="Explain what the fields mean"),
    ]
    HEADING = ""
    SAVE = "Save"
    EXPLAIN = ""
    FIRST = ""
    "selector of the field that has focus at first"

    said = query_one("#said", Static)
    save_button = query_one("#save", Button)

    def __init__(self, instrument: str, seen: Statement | None = None) -> None:
        super().__init__()
        self._instrument = instrument
        self._seen = seen
        "the statement that a save is meant to change, as the user has seen it"
        self._first: object = None
        self._saving = False

    @abstractmethod
    def compose_fields(self) -> ComposeResult:
        """Yield the rows of the form."""

    @abstractmethod
    def values(self) -> object:
        """Return the input of the form, comparable with ==."""

    @abstractmethod
    def write(self, store: Store, person: str, values: Any) -> Done:
        """Save the input, in a thread. Raises WorkbenchError without writing anything."""

    def input_fault(self) -> str:
        """Return why the input cannot be saved, or an empty string if it can.

        It checks only what is known without the store.
        """
        return ""

    def begin_in(self, box: TextArea) -> None:
        """Put the cursor of a text area at its end, where typing starts."""
        box.move_cursor(box.document.end)

    def show_conflict(self, there: Statement | None) -> None:
        """Show the version of somebody else. It is None if the form is about several statements."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="form") as form:
            form.border_title = Content(visible(self.HEADING))
            form.border_subtitle = f"Tab next · F5 {self.SAVE.lower()} · F1 explain · Esc back"
            with VerticalScroll(id="fields", can_focus=False):
                yield from self.compose_fields()
            yield Static(id="said", markup=False)
            with Horizontal(id="buttons"):
                yield Button(f"{self.SAVE}  F5", id="save", variant="success", compact=True)
                yield Button("Leave  Esc", id="leave", compact=True)

    def on_mount(self) -> None:
        self._first = self.values()
        for box in self.query(TextArea):
            self.begin_in(box)
        self.query(self.FIRST).focus()  # none if it was left before it was composed
        once_painted(self, self.input_changed)

    def failed(self, error: WorkbenchError) -> None:
        self._free()
        self.say(f"✗ {error}", wrong=True)
        if isinstance(error, StoreGone):
            offer_store_copy(self.app, error)

    @property
    def dirty(self) -> bool:
        """Whether the form has unsaved input."""
        return self.values() != self._first

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    def field_changed(self) -> None:
        self.input_changed()

    def input_changed(self) -> None:
        """Show the fault of the current input. Forms with a preview do more."""
        fault = self.input_fault()
        self.say(f"✗ {fault}" if fault and self.dirty else "", wrong=True)

    def show_refused(self, error: WorkbenchError, there: Statement | None) -> None:
        """Show the current version beside the input. The next save overwrites it."""
        self._free()
        if there is not None:
            self._seen = there
        self.show_conflict(there)
        advice = (
            "Your text is still here: F5 overwrites the current version with it, Esc discards it."
        )
        self.say(f"✗ {error}. {advice}", wrong=True)

    @on(Button.Pressed, "#save")
    def save_pressed(self) -> None:
        self.action_save()

    @on(Input.Submitted)
    def field_entered(self) -> None:
        self.entered()

    def entered(self) -> None:
        """Handle Enter in a field by saving. Forms with a preview to check first do less."""
        self.action_save()

    def action_save(self) -> None:
        """Save under the user's name, unless the input has a fault."""
        if self._saving:
            return
        if fault := self.input_fault():
            self.say(f"✗ {fault}", wrong=True)
            return
        as_person(self, self._instrument, self._save_as)

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        """Leave the form. Ask before unsaved input is lost."""
        if not self.dirty:
            self.dismiss(None)
            return
        confirm(
            self,
            "Discard what you typed?",
            "discard it",
            "keep editing",
            lambda: self.dismiss(None),
        )

    def action_explain(self) -> None:
        self.app.push_screen(TextScreen("The fields", self.EXPLAIN))

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show a message above the buttons."""
        self.said.set_class(wrong and bool(text), "-wrong")
        self.said.update(Content(visible(text, lines=True)))

    def typed(self, name: str) -> str:
        """Return the text of an input or a text area, or an empty string for other fields."""
        field = self.query_one(f"#{name}")
        if isinstance(field, TextArea):
            return field.text
        return field.value if isinstance(field, Input) else ""

    def chosen(self, name: str) -> str:
        """Return the value of a select, or an empty string without one."""
        select = self.query_one(f"#{name}", Select)
        return "" if select.is_blank() else str(select.value)

    def _save_as(self, person: str) -> None:
        self._saving = True
        self.save_button.disabled = True
        self.say("Saving …")
        self.save(person, self.values(), self._seen.ref if self._seen is not None else None)

    def _free(self) -> None:
        self._saving = False
        self.save_button.disabled = False

    @worker("save", newest=False)
    async def save(self, person: str, values: object, ref: str | None) -> None:
        def write(store: Store) -> tuple[Done | ConflictError, Statement | None]:
            try:
                return self.write(store, person, values), None
            except ConflictError as error:
                return error, store.statements.get(
                    self._instrument, ref
                ) if ref is not None else None

        done, current_version = await self.with_store(write)
        if isinstance(done, ConflictError):
            self.show_refused(done, current_version)
        else:
            self.dismiss(done)


def row(name: str, field: Widget) -> Horizontal:
    """Return a field beside its name."""
    return Horizontal(Label(name, classes="name", markup=False), field, classes="row")


class Paragraph(TextArea):
    """A text area for one paragraph. Enter goes to the next field, Ctrl+J begins a new line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "ctrl+j"):
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self.screen.focus_next()
            else:
                self.insert("\n")
        else:
            await super()._on_key(event)


def text_box(text: str, name: str, placeholder: str = "") -> TextArea:
    """Return a box for a text that wraps. Tab and Enter leave it."""
    return Paragraph(
        text,
        id=name,
        soft_wrap=True,
        tab_behavior="focus",
        compact=True,
        placeholder=placeholder,
        highlight_cursor_line=False,
    )


PREVIEW_AFTER_S = 0.25


class PreviewedForm(EditForm):
    """A form about the statements `refs`, with a `#preview` of the result."""

    def __init__(self, instrument: str, refs: tuple[str, ...]) -> None:
        super().__init__(instrument)
        self._refs = refs
        self._preview: Any = None
        self._pause: Timer | None = None
        self._wanted = False
        "whether to save as soon as the preview is ready"
        self._refused = False
        "whether somebody else has changed a statement meanwhile"

    @abstractmethod
    def work_out(self, store: Store, typed: Any) -> object:
        """Return the result of the form, in a thread. Raises WorkbenchError."""

    @abstractmethod
    def show_outcome(self, typed: Any, preview: Any) -> None:
        """Draw the preview, and describe the result in a sentence."""

    def input_changed(self) -> None:
        """Update the preview after a pause in typing."""
        self._preview = None
        if self._pause is not None:
            self._pause.stop()
        if fault := self.input_fault():
            self.say_fault(fault)
            self.draw([])
        else:
            self._pause = self.set_timer(PREVIEW_AFTER_S, self.preview_now)

    def show_preview(self, typed: Any, preview: Any, fault: str = "") -> None:
        if typed != self.values():
            return
        self._preview = preview
        saves_now, self._wanted = self._wanted, False
        if preview is None:
            self.say(f"✗ {fault}", wrong=True)
            self.draw([])
            return
        self.show_outcome(typed, preview)
        if saves_now:
            self.action_save()

    def show_conflict(self, there: Statement | None) -> None:  # noqa: ARG002
        """Compute the preview again from the current statements."""
        self._refused, self._preview = True, None
        self.preview_now()

    def preview_now(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self.preview(self.values())

    def say_fault(self, fault: str) -> None:
        """Show why the input has no valid result."""
        self.say(f"✗ {fault}", wrong=True)

    def draw(self, lines: list[Content]) -> None:
        """Show lines in the preview."""
        self.query_one("#preview", Static).update(Content("\n").join(lines))

    @worker("preview", beside=True)
    async def preview(self, typed: object) -> None:
        def load(store: Store) -> tuple[object, str]:
            """Return the result of the form with an empty string, or None and the error."""
            try:
                return self.work_out(store, typed), ""
            except WorkbenchError as error:
                return None, str(error)

        self.show_preview(typed, *await self.with_store(load))
