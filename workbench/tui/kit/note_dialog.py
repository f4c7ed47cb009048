"""A note: one line of text, and how it is shown beside what it is about."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.tui.format import visible

LONGEST_NOTE = 2000
"characters of a note that can be written, and that are shown"


class NoteDialog(ModalScreen[str | None]):
    """One line of text; dismisses with it, or with None to keep the note unchanged."""

    DEFAULT_CSS = """
    NoteDialog {
        align: center middle;
        background: $background 60%;
    }
    NoteDialog .dialog {
        width: 100%;
        max-width: 80;
        height: auto;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    NoteDialog .-dim {
        color: $text-muted;
        margin-top: 1;
    }
    NoteDialog Input {
        background: $boost;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", key_display="Esc")]

    def __init__(self, note: str, title: str = "Note for the decision", *, hint: str = "", act: str = "save") -> None:
        super().__init__()
        self._note, self._title, self._hint, self._act = note, title, hint, act

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = f"Enter {self._act} · Esc cancel"
            yield Input(self._note, id="note", max_length=LONGEST_NOTE, compact=True)
            if self._hint:
                yield Static(self._hint, classes="-dim", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        self.dismiss("".join(character for character in event.value if character.isprintable()).strip())


def short_note(note: str) -> str:
    """Return a note on one line, literally."""
    return visible(note[:LONGEST_NOTE]) + ("…" if len(note) > LONGEST_NOTE else "")


def note_line(note: str) -> str:
    """Return the note that a decision will carry."""
    return f"Note: “{short_note(note)}”" if note else ""
