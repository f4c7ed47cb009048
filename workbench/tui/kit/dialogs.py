"""Dialogs above a screen: texts, questions, lists, numbers, notes, and the copy of a lost store."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen, Screen
from textual.types import CSSPathType
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.domain.findings import LintFinding
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.base import Background, worker

if TYPE_CHECKING:
    from stores.core.identity import Anchor

T = TypeVar("T")


class TextScreen(ModalScreen[None]):
    """A text to read, shown literally."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("dialogs.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q,enter,f1,question_mark",
            "dismiss(None)",
            "Close",
            key_display="Esc",
            tooltip="Close this",
        ),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
        Binding("p", "page", "Whole page", tooltip="Read the whole help page"),
    ]

    def __init__(
        self,
        title: str,
        text: str | Content,
        *,
        wide: bool = False,
        page: Callable[[], Screen[Any]] | None = None,
        closed_by: Sequence[str] = (),
    ) -> None:
        """Create the dialog.

        `page`: creates the screen of the help page with more details. `closed_by`: the keys that
        opened this text, which close it, too.
        """
        super().__init__(classes="-wide" if wide else "")
        self._title, self._text, self._page, self._closed_by = title, text, page, closed_by
        for key in closed_by:
            self._bindings.bind(key, "dismiss(None)", "Close", show=False)

    def compose(self) -> ComposeResult:
        text = (
            self._text
            if isinstance(self._text, Content)
            else Content(visible(self._text, lines=True))
        )
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = " · ".join(
                [
                    *["p whole page"] * (self._page is not None),
                    " or ".join([*self._closed_by, "Esc"]) + " back",
                ]
            )
            with VerticalScroll():
                yield Static(text, markup=False, id="text")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "page" or self._page is not None

    def action_page(self) -> None:
        if self._page is not None:
            self.app.switch_screen(self._page())

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_down(self) -> None:
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        self.query_one(VerticalScroll).scroll_up(animate=False)


class ConfirmScreen(ModalScreen[bool]):
    """A question. It returns whether the answer is yes."""

    CSS_PATH = "dialogs.tcss"
    DECIDES: ClassVar[frozenset[str]] = frozenset({"dismiss(True)"})
    asks_to_quit = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes", tooltip="Say yes"),
        Binding("n,escape,q", "dismiss(False)", "No", key_display="n", tooltip="Say no"),
        Binding(
            "left,right",
            "app.focus_next",
            "Other button",
            show=False,
            tooltip="Go to the other button",
        ),
    ]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Static(visible(self._question, lines=True), markup=False, id="text")
            with Horizontal(classes="buttons"):
                yield Button(f"y  {self._yes}", id="yes", variant="warning", compact=True)
                yield Button(f"n  {self._no}", id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class ListDialog(ModalScreen[str | None]):
    """A choice among several lines, with the text of each key. It returns a key or None."""

    CSS_PATH = "dialogs.tcss"
    DEFAULT_CSS = """
    ListDialog {
        align: center middle;
        background: $background 60%;
    }
    ListDialog OptionList, ListDialog OptionList:focus {
        height: auto;
        max-height: 20;
        border: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
    ]

    def __init__(
        self,
        title: str,
        lines: Mapping[str, Content],
        at: str,
        does: str = "Enter chooses · Esc back",
    ) -> None:
        super().__init__()
        self._title, self._lines, self._at, self._does = title, lines, at, does

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small") as dialog:
            dialog.border_title, dialog.border_subtitle = Content(self._title), Content(self._does)
            yield OptionList(
                *(Option(text, id=key) for key, text in self._lines.items()), markup=False
            )

    def on_mount(self) -> None:
        lines = self.query_one(OptionList)
        lines.focus()
        lines.highlighted = list(self._lines).index(self._at)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()


def confirm(
    screen: Screen[Any], question: str, yes: str, no: str, then: Callable[[], object]
) -> None:
    """Ask a question, and go on if the answer is yes."""

    def answered(agreed: bool | None) -> None:
        if agreed:
            then()

    screen.app.push_screen(ConfirmScreen(question, yes, no), answered)


def with_answer(screen: Screen[Any], dialog: Screen[T | None], then: Callable[[T], object]) -> None:
    """Show a dialog, and go on with its answer. Without an answer, nothing else happens."""

    def answered(answer: T | None) -> None:
        if answer is not None:
            then(answer)

    screen.app.push_screen(dialog, answered)


RADIO: Final = {True: "(•)", False: "( )"}
"marks of one option among several"
TICK: Final = {True: "[x]", False: "[ ]"}


MOST = 100_000


class NumberDialog(ModalScreen[int | None]):
    """A dialog that asks for a number.

    It returns 0 if the field is left empty, or None if it is closed without an answer.
    """

    SHORT_TEXT = True
    CSS_PATH = "dialogs.tcss"
    DEFAULT_CSS = """
    NumberDialog {
        align: center middle;
        background: $background 60%;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", tooltip="Go back")
    ]

    box = query_one("#number", Input)
    note = query_one("#note", Static)

    def __init__(self, title: str, current: int | None, note: str) -> None:
        super().__init__()
        self._title, self._current, self._note = title, current, note

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = "Enter continue · empty: the usual number · Esc back"
            value = "" if self._current is None else str(self._current)
            yield Input(value, placeholder="a whole number", id="number", compact=True)
            yield Static(Content(visible(self._note)), id="note", markup=False)

    def on_mount(self) -> None:
        self.box.focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the number, or show why it is not one."""
        text = event.value.strip()
        if text and not (text.isdecimal() and 1 <= int(text) <= MOST):
            error_text = (
                f"✗ {text[:20]!r}: give a whole number from 1 to {MOST:,}, or leave the field empty"
            )
            self.note.update(Content.styled(visible(error_text), "$text-error"))
            return
        self.dismiss(int(text) if text else 0)


LONGEST_NOTE = 2000
"maximum number of characters of a note, in the field and on screens"


class NoteDialog(ModalScreen[str | None]):
    """A line of text. It returns the text, or None to keep the note unchanged."""

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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Cancel",
            key_display="Esc",
            tooltip="Close without changing anything",
        )
    ]

    def __init__(
        self, note: str, title: str = "Note for the decision", *, hint: str = "", act: str = "save"
    ) -> None:
        super().__init__()
        self._note, self._title, self._hint, self._act = note, title, hint, act
        self.SHORT_TEXT = act == "find"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = f"Enter {self._act} · Esc cancel"
            yield Input(self._note, id="note", max_length=LONGEST_NOTE, compact=True)
            if self._hint:
                yield Static(self._hint, classes="-dim", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        self.dismiss(
            "".join(character for character in event.value if character.isprintable()).strip()
        )


def short_note(note: str) -> str:
    """Return a note on one line, literally."""
    return visible(note[:LONGEST_NOTE]) + ("…" if len(note) > LONGEST_NOTE else "")


def note_line(note: str) -> str:
    """Return the line with the note that a decision will have, or an empty string without one."""
    return f"Note: “{short_note(note)}”" if note else ""


LONGEST_REASON = 500
"maximum number of characters of a reason, as in the store"


class WaiveDialog(ModalScreen[str | None]):
    """A dialog that asks for a reason. It returns it, or None if the finding is not waived."""

    CSS_PATH = "../statements/checks.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Do not waive")]

    def __init__(self, finding: LintFinding) -> None:
        super().__init__()
        self._finding = finding

    def compose(self) -> ComposeResult:
        finding = self._finding
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(f"Waive {visible(finding.code)}: why?")
            dialog.border_subtitle = "Enter waive · Esc back"
            yield Static(
                Content(visible(f"{finding.subject}: {finding.message}"[:300])),
                markup=False,
                classes="-dim",
            )
            yield Input(
                placeholder="the reason, for the next reader",
                id="reason",
                max_length=LONGEST_REASON,
                compact=True,
            )
            yield Static(
                "The waiver holds until one of the texts changes.",
                id="trouble",
                markup=False,
                classes="-dim",
            )

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the reason without invisible characters. Ask for one if nothing remains."""
        reason = " ".join(
            "".join(
                character if character.isprintable() else " " for character in event.value
            ).split()
        )
        if reason:
            self.dismiss(reason)
        else:
            self.query_one("#trouble", Static).update(
                "✗ A waiver needs a reason: say why you accept the finding."
            )


SAYS = (
    "Everything stored can still be read, including labels, answers and edits made here. Enter "
    "writes it to a new store and continues there; then repeat any change that was not saved. With "
    "Esc nothing can be saved."
)


class StoreGoneDialog(ModalScreen[Path | None], Background):
    """A dialog that asks where to write the copy.

    It returns the copy's path, or None without one.
    """

    CSS_PATH = "dialogs.tcss"
    EXPECTED = False
    SHORT_TEXT = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave it", tooltip="Leave the store as it is")
    ]

    box = query_one("#path", Input)
    trouble = query_one("#trouble", Static)

    def __init__(self, error: WorkbenchError, anchor: Anchor) -> None:
        super().__init__()
        self._error, self._anchor = error, anchor

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "The store is gone"
            dialog.border_subtitle = "Enter write the copy · Esc back"
            yield Static(
                Content(visible(f"{self._error}\n\n{SAYS}", lines=True)), id="text", markup=False
            )
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
