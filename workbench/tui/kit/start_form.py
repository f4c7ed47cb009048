"""What the forms that start a job have in common: fields above, what they come to below, nothing
started unseen.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen, ScreenResultType
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Label, Select, SelectionList, Static
from textual.widgets.select import InvalidSelectValueError
from textual.widgets.selection_list import Selection

from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.keymap import Keyed
from workbench.tui.kit.base import Background, say, with_store_name, worker
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.widgets.fields import Field

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.commands.command import JobCommand
    from workbench.options.option import Option

PAUSE_S = 0.3
"typing pauses for so long before the form is worked out"


class FieldsForm(ModalScreen[ScreenResultType]):
    """A form; `#leave` closes it, `explain` says what its fields mean."""

    EXPLAIN = ""
    _pause: Timer | None = None

    def soon(self, work_out: Callable[[], object]) -> None:
        """Work out the form once typing pauses."""
        self.no_longer()
        self._pause = self.set_timer(PAUSE_S, work_out)

    def no_longer(self) -> None:
        """Do not wait for a pause any more: the form is worked out now, or later."""
        if self._pause is not None:
            self._pause.stop()

    @on(Button.Pressed, "#leave")
    def leave_pressed(self) -> None:
        self.dismiss(None)

    def action_explain(self) -> None:
        self.app.push_screen(TextScreen("The fields", self.EXPLAIN))

    def typed(self, name: str) -> str:
        """Return what an input holds."""
        return self.query_one(f"#{name}", Input).value

    def chosen(self, name: str) -> str:
        """Return what a select holds, "" for nothing."""
        select = self.query_one(f"#{name}", Select)
        return "" if select.is_blank() else str(select.value)


WORKING_OUT = "Working out the plan …"
STARTS_WITH = "Press F5 to start."
NOT_YET = "Wait for the plan."
NOT_RIGHT = "Nothing starts until ✗ is right."
NOTHING_TO_START = "There is nothing to start."
START = "Start  F5"
NOTHING = "…"
"stands in a select that has nothing to offer"


@dataclass(frozen=True, slots=True)
class JobPreview:
    """What a filled form comes to."""

    text: str
    start: Callable[[Store], int] | None
    "queues the job, starts its worker and returns its number; None: there is nothing to start"
    begins: str = ""
    "with what the job begins, said on the button"


class StartForm(FieldsForm[int | None], Keyed, Background):
    """A form; dismisses the number of the job that was started, or None."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("start_form.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "start", "Start", tooltip="Start the job"),
        Binding("escape", "dismiss(None)", "Close without starting a job"),
        Binding(
            "f1,question_mark",
            "explain",
            "Explain the fields",
            tooltip="Explain what the fields mean",
        ),
        # before the keys that follow are handed to a field: what is typed fast lands where it is
        # meant
        Binding("tab", "app.focus_next", "Next field", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous field", show=False, priority=True),
    ]
    HEADING = ""
    STARTING = "Starting …"
    CHOOSING = "Space choose"
    "which key chooses, at the form's edge"
    FIRST = ""
    "selector of the field that has focus at first"

    plan_line = query_one("#plan", Static)
    start_button = query_one("#start", Button)

    def __init__(self, *, like: int | None = None) -> None:
        super().__init__()
        self._like = like
        "number of the job whose options the fields begin with"
        self._outlook: JobPreview | None = None
        self._launching = False

    @abstractmethod
    def compose_fields(self) -> ComposeResult:
        """Yield the rows of the form."""

    @abstractmethod
    def read_choices(self, store: Store) -> object:
        """Return what there is to choose from. Called in a thread."""

    @abstractmethod
    def fill(self, choices: Any) -> None:
        """Offer what `read_choices` returned."""

    @abstractmethod
    def refill(self, command: JobCommand) -> None:
        """Show the options of a command in the fields, which have their choices already."""

    @abstractmethod
    def values(self) -> object | None:
        """Return the form as typed, comparable with ==; None while it cannot be worked out."""

    @abstractmethod
    def work_out(self, store: Store, values: Any) -> JobPreview:
        """Return what these values come to. Called in a thread. Raises WorkbenchError, naming the
        field.
        """

    def compose(self) -> ComposeResult:
        with Vertical(classes="form") as form:
            form.border_title = (
                self.HEADING if self._like is None else f"{self.HEADING}, like job {self._like}"
            )
            form.border_subtitle = f"Tab next · {self.CHOOSING} · F5 start · F1 explain · Esc back"
            with VerticalScroll(id="fields", can_focus=False):
                yield from self.compose_fields()
            yield Label("Start", classes="heading")
            yield Static("Reading the store …", id="plan", markup=False)
            with Horizontal(id="buttons"):
                yield Button(START, id="start", variant="success", compact=True, disabled=True)
                yield Button("Leave  Esc", id="leave", compact=True)
                yield Static(id="told", markup=False)

    def on_mount(self) -> None:
        self.query(self.FIRST).focus()  # none if it was left before it was composed
        self.open()

    def failed(self, error: WorkbenchError) -> None:
        self.say(error)
        if self._launching:
            self._launching = False
            self.query_one("#told", Static).update("")
            self.start_button.disabled = self._outlook is None  # whoever has mended it starts again

    @on(Input.Changed)
    @on(Select.Changed)
    @on(Checkbox.Changed)
    @on(SelectionList.SelectedChanged)
    def changed(self) -> None:
        self.ask()

    def ask(self) -> None:
        """Work out what the form comes to, once typing pauses; what it came to before is gone at
        once.
        """
        self._outlook = None
        self.start_button.disabled = True
        if self.values() is not None:
            self.plan_line.remove_class("-trouble").add_class("-old")
            self.plan_line.update(WORKING_OUT)
        self.soon(self.plan_now)

    @on(Input.Submitted)
    def say_what_starts(self) -> None:
        """Enter in a field starts nothing: whoever only meant to end a word would begin hours of
        work.
        """
        idle = self._outlook is not None and self._outlook.start is None
        say(
            self,
            NOT_RIGHT if self._wrong else NOTHING_TO_START if idle else STARTS_WITH,
            warns=True,
        )

    @property
    def _wrong(self) -> bool:
        """Whether the form as it stands comes to nothing that can be started, and says so."""
        return self._outlook is None and self.plan_line.has_class("-trouble")

    @on(Button.Pressed, "#start")
    def action_start(self) -> None:
        """Start what the last line says; while that is still being worked out nothing is
        started.
        """
        if self._outlook is None:
            if self._wrong or self.plan_line.has_class("-old"):
                say(self, NOT_RIGHT if self._wrong else NOT_YET, warns=True)
            self.plan_now()
        elif self._outlook.start is not None and not self.start_button.disabled:
            self.start_button.disabled = True
            say(self, self.STARTING)
            self._launching = True
            self.launch(self._outlook.start)
        elif self._outlook.start is None:
            say(self, NOTHING_TO_START, warns=True)

    def plan_now(self) -> None:
        self.no_longer()
        if (values := self.values()) is not None:
            self.plan(values)

    def say(self, error: WorkbenchError) -> None:
        """Show an error below the fields, and disable the start button."""
        self.plan_line.remove_class("-old").add_class("-trouble")
        self.plan_line.update(
            Content("✗ " + visible(with_store_name(self.app, str(error)), lines=True))
        )
        self.start_button.disabled = True
        if self._outlook is None:
            self.start_button.label = START

    def ticked(self, name: str) -> tuple[str, ...]:
        """Return what is ticked, in the order of the list."""
        choices: SelectionList[str] = self.query_one(f"#{name}", SelectionList)
        marked = set(choices.selected)
        values = [choices.get_option_at_index(place).value for place in range(choices.option_count)]
        return tuple(value for value in values if value in marked)

    def listed(self, name: str) -> tuple[str, ...]:
        """Return everything that a list offers."""
        choices: SelectionList[str] = self.query_one(f"#{name}", SelectionList)
        return tuple(
            choices.get_option_at_index(place).value for place in range(choices.option_count)
        )

    def offer(self, name: str, options: Sequence[tuple[str, str]], first: str) -> None:
        """Let a select offer (words, value), and choose one without a word to the form."""
        select = self.query_one(f"#{name}", Select)
        with select.prevent(Select.Changed):
            select.set_options(
                [(Content(visible(words)), value) for words, value in options or [(NOTHING, "")]]
            )
            if options:
                select.value = first
            # A value that stays the same may have another label now.
            select.mutate_reactive(Select.value)  # type: ignore[misc]  # a generic class

    def tick(self, name: str, names: Iterable[str], marked: Iterable[str]) -> None:
        """Let a list offer names with some of them ticked, without a word to the form."""
        on_ = set(marked)
        choices = self.query_one(f"#{name}", SelectionList)
        with choices.prevent(SelectionList.SelectedChanged):
            choices.clear_options()
            choices.add_options(
                [Selection(Content(visible(one)), one, one in on_) for one in names]
            )

    def pick(self, name: str, value: str) -> None:
        """Choose a value that a select offers, without a word to the form; one that it does not
        offer is left.
        """
        select = self.query_one(f"#{name}", Select)
        with select.prevent(Select.Changed), suppress(InvalidSelectValueError):
            select.value = value

    def put(self, name: str, text: str) -> None:
        """Write into an input without a word to the form."""
        field = self.query_one(f"#{name}", Input)
        with field.prevent(Input.Changed):
            field.value = text

    def open(self) -> None:
        """Read what there is to choose from."""
        self.read()

    @worker("open")
    async def read(self) -> None:
        def load(store: Store) -> tuple[object, JobCommand | None]:
            command = None
            if self._like is not None:
                from workbench.commands.again import command_like

                command = command_like(store, store.jobs.get(self._like))
            return self.read_choices(store), command

        choices, command = await self.with_store(load)
        self.fill(choices)
        if command is not None:
            self.refill(command)

    @worker("plan", beside=True)
    async def plan(self, values: object) -> None:
        outlook = await self.with_store(lambda store: self.work_out(store, values))
        if values != self.values():
            return
        self._outlook = outlook
        self.plan_line.remove_class("-trouble", "-old")
        self.plan_line.update(Content(visible(outlook.text, lines=True)))
        self.start_button.disabled = outlook.start is None
        self.start_button.label = " · ".join(filter(None, (START, outlook.begins)))
        self.start_button.refresh(layout=True)

    @worker("launch", newest=False)
    async def launch(self, start: Callable[[Store], int]) -> None:
        self.dismiss(await self.with_store(start))


def row(name: str, field: Widget) -> Horizontal:
    """Return a field with its name before it."""
    return Horizontal(
        Label(name, classes="name", markup=False), field, classes="row", id=f"row_{field.id}"
    )


def asked(option: Option, placeholder: str | None = None, *, id: str = "") -> Horizontal:  # noqa: A002  as Textual has it
    """Return the row of a declared option: its label, its default as it is typed, and what an empty
    field means.
    """
    empty = option.none if placeholder is None else placeholder
    return row(
        option.title, Field(option.text(), id=id or option.name, compact=True, placeholder=empty)
    )


def titled(name: str, field: Widget) -> Vertical:
    """Return a field with its name above it."""
    return Vertical(Label(name, classes="name", markup=False), field, classes="titled")


def select(name: str, options: Sequence[tuple[str, str]] = ()) -> Select[str]:
    """Return a select of one line; until it is filled it holds `NOTHING`, which nobody can choose
    afterwards.
    """
    offered = [(Content(visible(words)), value) for words, value in options or [(NOTHING, "")]]
    return Select[str](offered, id=name, allow_blank=False, value=offered[0][1], compact=True)
