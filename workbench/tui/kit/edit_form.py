"""What the forms of the statement editor have in common: nothing typed is lost, and nothing is
saved over unseen.

A form saves in a worker and stays open until that worked. Where somebody else changed the statement
meanwhile, it shows what stands there now and keeps what was typed; saving once more puts it on top
of that.
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
from workbench.tui.kit.base import Background, offer_copy, once_painted, worker
from workbench.tui.kit.dialogs import TextScreen, confirm
from workbench.tui.kit.person_dialog import as_person

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.domain.statements import Statement
    from workbench.pipeline.editing import Done


class EditForm(ModalScreen["Done | None"], Keyed, Background):
    """A form that changes statements; dismisses with the change, or None if nothing changed."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("edit_form.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "save", "Save"),
        Binding("escape", "leave", "Leave"),
        Binding("f1", "explain", "Explain the fields"),
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
        "the statement that a save is meant to change, as the person knows it"
        self._first: object = None
        self._saving = False

    @abstractmethod
    def compose_fields(self) -> ComposeResult:
        """Yield the rows of the form."""

    @abstractmethod
    def values(self) -> object:
        """Return the form as typed, comparable with ==."""

    @abstractmethod
    def write(self, store: Store, person: str, values: Any) -> Done:
        """Save. Called in a thread. Raises WorkbenchError; nothing is written then."""

    def fault(self) -> str:
        """Say why it cannot be saved as typed; "" where it can, as far as is known without the
        store.
        """
        return ""

    def begin_in(self, box: TextArea) -> None:
        """Put the cursor where typing begins."""
        box.move_cursor(box.document.end)

    def show_conflict(self, there: Statement | None) -> None:
        """Show what somebody else made of the statement; None where the form is about several."""

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
        self.query_one(self.FIRST).focus()
        once_painted(self, self.looked_at)

    def failed(self, error: WorkbenchError) -> None:
        self._free()
        self.say(f"✗ {error}", wrong=True)
        if isinstance(error, StoreGone):
            offer_copy(self.app, error)

    @property
    def dirty(self) -> bool:
        """Whether something was typed that is not saved."""
        return self.values() != self._first

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    def field_changed(self) -> None:
        self.looked_at()

    def looked_at(self) -> None:
        """Say what is known of the form as it is now; forms that can say more do."""
        fault = self.fault()
        self.say(f"✗ {fault}" if fault and self.dirty else "", wrong=True)

    def show_refused(self, error: WorkbenchError, there: Statement | None) -> None:
        """Show both: what stands there now, and what was typed. The next save is meant."""
        self._free()
        if there is not None:
            self._seen = there
        self.show_conflict(there)
        again = (
            "Your text is still here: F5 overwrites the current version with it, Esc discards it."
        )
        self.say(f"✗ {error}. {again}", wrong=True)

    @on(Button.Pressed, "#save")
    def save_pressed(self) -> None:
        self.action_save()

    @on(Input.Submitted)
    def field_entered(self) -> None:
        self.entered()

    def entered(self) -> None:
        """Do what Enter in a field means; forms whose outcome has to be looked at first do less."""
        self.action_save()

    def action_save(self) -> None:
        """Save as the person who sits here, unless it cannot be saved as it is."""
        if self._saving:
            return
        if fault := self.fault():
            self.say(f"✗ {fault}", wrong=True)
            return
        as_person(self, self._instrument, self._save_as)

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        """Leave; ask before anything that was typed is lost."""
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
        """Put a sentence above the buttons."""
        self.said.set_class(wrong and bool(text), "-wrong")
        self.said.update(Content(visible(text, lines=True)))

    def typed(self, name: str) -> str:
        """Return what an input or a text area holds."""
        field = self.query_one(f"#{name}")
        if isinstance(field, TextArea):
            return field.text
        return field.value if isinstance(field, Input) else ""

    def chosen(self, name: str) -> str:
        """Return what a select holds, "" for nothing."""
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

        done, there = await self.with_store(write)
        if isinstance(done, ConflictError):
            self.show_refused(done, there)
        else:
            self.dismiss(done)


def row(name: str, field: Widget) -> Horizontal:
    """Return a field beside its name."""
    return Horizontal(Label(name, classes="name", markup=False), field, classes="row")


class Paragraph(TextArea):
    """A text that is nearly always one paragraph: Enter goes to the next field, Ctrl+J begins a new
    line.
    """

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
    """Return a box for a text that wraps; Tab and Enter leave it."""
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
    """A form with `#preview`, about the statements `refs`."""

    def __init__(self, instrument: str, refs: tuple[str, ...]) -> None:
        super().__init__(instrument)
        self._refs = refs
        self._preview: Any = None
        self._pause: Timer | None = None
        self._wanted = False
        "whether it is to be saved as soon as it is known what it comes to"
        self._refused = False
        "whether somebody else changed a statement meanwhile"

    @abstractmethod
    def work_out(self, store: Store, typed: Any) -> object:
        """Return what the form comes to. Called in a thread. Raises WorkbenchError."""

    @abstractmethod
    def show_outcome(self, typed: Any, preview: Any) -> None:
        """Draw what the form comes to, and say so in a sentence."""

    def looked_at(self) -> None:
        """Work out what the form comes to, once typing pauses."""
        self._preview = None
        if self._pause is not None:
            self._pause.stop()
        if fault := self.fault():
            self.say_fault(fault)
            self.draw([])
        else:
            self._pause = self.set_timer(PREVIEW_AFTER_S, self.preview_now)

    def show_preview(self, typed: Any, preview: Any, fault: str = "") -> None:
        if typed != self.values():
            return
        self._preview = preview
        wanted, self._wanted = self._wanted, False
        if preview is None:
            self.say(f"✗ {fault}", wrong=True)
            self.draw([])
            return
        self.show_outcome(typed, preview)
        if wanted:
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
        """Say why the form cannot be as it is typed."""
        self.say(f"✗ {fault}", wrong=True)

    def draw(self, lines: list[Content]) -> None:
        """Show lines in the preview."""
        self.query_one("#preview", Static).update(Content("\n").join(lines))

    @worker("preview", beside=True)
    async def preview(self, typed: object) -> None:
        def load(store: Store) -> tuple[object, str]:
            """Return what the form comes to, or None and why it cannot be as it was typed."""
            try:
                return self.work_out(store, typed), ""
            except WorkbenchError as error:
                return None, str(error)

        self.show_preview(typed, *await self.with_store(load))
