"""The screen of the queues of people's labels, with their progress, and the form of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select, SelectionList, Static
from textual.widgets.selection_list import Selection

from workbench.annotation.tables import QueueState, queues
from workbench.commands.sample import SampleCommand, default_labels
from workbench.domain.annotations import Purpose
from workbench.domain.names import plural
from workbench.errors import UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.annotate_format import PACE_FROM
from workbench.tui.format import human_duration, pace
from workbench.tui.kit.base import (
    Background,
    StoreScreen,
    app_of,
    in_background,
    say,
    with_store_name,
    worker,
)
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.person_dialog import PersonDialog, ask_person
from workbench.tui.kit.start_form import FieldsForm, select
from workbench.tui.results.details import table_help
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from stores.annotation.queues import Queue
    from stores.core.store import Store
    from workbench.options.option import Option
    from workbench.pipeline.queues import QueueProposal

OPTIONS = SampleCommand.options()
NAME_FIRST = "Give the queue a name; this line then shows what the queue will draw."
ALL = ""
"value of the choice of all instruments"
PURPOSES = {
    Purpose.TRAINING: "training: a classifier learns from these labels",
    Purpose.TEST: "test: a classifier is tested on these labels",
    Purpose.CHECK: "check: people review a model's labels",
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the items of a queue."""

    codebooks: tuple[str, ...]
    instruments: tuple[str, ...]
    models: tuple[str, ...]


class QueueForm(FieldsForm[str | None], Background):
    """A form with a preview of the items of a queue. It returns the name of the new queue."""

    CSS_PATH = "queue_form.tcss"
    EXPLAIN = section("screens-annotation", "A new queue")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "make", "Make", tooltip="Make the queue"),
        Binding("escape", "dismiss(None)", "Close without making a queue"),
        Binding("f1", "explain", "Explain the fields", tooltip="Explain what the fields mean"),
    ]

    proposal_line = query_one("#proposal", Static)
    make_button = query_one("#make", Button)

    def __init__(self) -> None:
        super().__init__()
        self._named = False
        "whether a name was typed, or the queue was requested without one; only then is it missing"
        self._labels = str(default_labels(Purpose.TRAINING))
        "default number of labels for the purpose, which the field has unless the user changes it"

    def compose(self) -> ComposeResult:
        purposes = [(label, purpose.value) for purpose, label in PURPOSES.items()]
        with Vertical(classes="form") as form:
            form.border_title = "New queue: items for people to label"
            form.border_subtitle = "Tab next · F5 make · F1 explain · Esc back"
            with VerticalScroll(id="fields", can_focus=False):
                yield _row("name", Input(id="name", compact=True, placeholder="stance-training"))
                yield _row(
                    "for",
                    Select(
                        purposes, id="purpose", value="training", allow_blank=False, compact=True
                    ),
                )
                with Horizontal(classes="pair"):
                    yield _row("codebook", select("codebook"))
                    yield _row("instrument", select("instrument"))
                with Horizontal(classes="pair"):
                    yield _asked(OPTIONS["per_stratum"])
                    yield _asked(OPTIONS["labels"], self._labels)
                with Horizontal(classes="pair"):
                    yield _asked(OPTIONS["overlap"])
                    yield _asked(OPTIONS["seed"])
                with Horizontal(classes="pair"):
                    yield _asked(OPTIONS["held_out"])
                    yield _asked(OPTIONS["attention"])
                yield _asked(OPTIONS["limit"])
                yield Label("models", classes="name", markup=False, id="models-name")
                yield SelectionList[str](id="models", compact=True)
            yield Static("Reading the items …", id="proposal", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Make  F5", id="make", variant="success", compact=True, disabled=True)
                yield Button("Leave  Esc", id="leave", compact=True)

    def on_mount(self) -> None:
        self.query_one("#name").focus()
        self.open()

    def failed(self, error: WorkbenchError) -> None:
        self._say(error)

    @on(Select.Changed, "#purpose")
    def suggest_labels(self, event: Select.Changed) -> None:
        """Suggest the number of people for a purpose, unless another number was typed."""
        box = self.query_one("#labels", Input)
        if box.value == self._labels:
            box.value = self._labels = str(default_labels(Purpose(str(event.value))))

    @on(Input.Changed, "#name")
    def take_name(self) -> None:
        self._named = True

    @on(Input.Changed)
    @on(Select.Changed)
    @on(SelectionList.SelectedChanged)
    def ask(self) -> None:
        """Update the preview after a pause in typing."""
        self.make_button.disabled = True
        self.soon(self.propose_now)

    @on(Button.Pressed, "#make")
    @on(Input.Submitted)
    def action_make(self) -> None:
        """Make the queue of the current fields, even if the preview is not up to date."""
        self._named = True
        self.no_longer()
        self.make_button.disabled = True
        self.write(self._texts())

    def propose_now(self) -> None:
        self.no_longer()
        texts = self._texts()
        if not texts["name"].strip() and not self._named:
            self.proposal_line.update(Content.styled(NAME_FIRST, "$text-muted"))
        elif texts["codebook"]:
            self.proposal_line.remove_class("-trouble")
            self.draw(texts)

    def _texts(self) -> dict[str, Any]:
        """Return the texts of the fields by the names of the options."""
        models: SelectionList[str] = self.query_one("#models", SelectionList)
        has_all = len(models.selected) == models.option_count
        names = (
            "name",
            "per_stratum",
            "labels",
            "overlap",
            "seed",
            "held_out",
            "attention",
            "limit",
        )
        return {
            **{name: self.typed(name) for name in names},
            "purpose": self.chosen("purpose"),
            "codebook": self.chosen("codebook"),
            "instrument": self.chosen("instrument"),
            "model": None if has_all else tuple(sorted(models.selected)),
        }

    def _offer(self, selector: str, options: list[tuple[str, str]], first: str) -> None:
        select: Select[str] = self.query_one(selector, Select)
        with select.prevent(Select.Changed):
            select.set_options([(Content(label), value) for label, value in options])
            if first in {value for _, value in options}:
                select.value = first
            # A value that stays the same may have another label now.
            select.mutate_reactive(Select.value)  # type: ignore[misc]  # a generic class

    def _say(self, error: WorkbenchError) -> None:
        self.proposal_line.add_class("-trouble")
        self.proposal_line.update(
            Content("✗ " + visible(with_store_name(self.app, str(error)), lines=True))
        )
        self.make_button.disabled = True

    @worker("open")
    async def open(self) -> None:
        """Offer the available sources.

        The codebook `stance` and all instruments are preselected.
        """
        sources = await self.with_store(read_sources)
        self._offer("#codebook", [(visible(name), name) for name in sources.codebooks], "stance")
        instruments = [("all", ALL), *((visible(name), name) for name in sources.instruments)]
        self._offer("#instrument", instruments, ALL)
        models: SelectionList[str] = self.query_one("#models", SelectionList)
        with models.prevent(SelectionList.SelectedChanged):
            models.add_options(
                [Selection(Content(visible(name)), name, True) for name in sources.models]
            )
        has_several_models = len(sources.models) > 1
        models.display = self.query_one("#models-name").display = has_several_models
        self.ask()

    @worker("draw", beside=True)
    async def draw(self, texts: dict[str, Any]) -> None:
        def load(store: Store) -> QueueProposal:
            return command_of(texts).proposal(store)

        proposal = await self.with_store(load)
        if texts != self._texts():
            return
        self.proposal_line.remove_class("-trouble")
        self.proposal_line.update(Content(visible(proposal.describe(), lines=True)))
        self.make_button.disabled = False

    @worker("write", newest=False)
    async def write(self, texts: dict[str, Any]) -> None:
        """Make a queue. Keys wait until it is made or refused."""

        def make(store: Store) -> str:
            command = command_of(texts)
            command.run(store)
            return command.name

        self.dismiss(await self.with_store(make))


def read_sources(store: Store) -> Sources:
    """Return the possible sources of a queue of a store."""
    from workbench.data import shipped_codebooks
    from workbench.evidence.readings import free_text_models

    return Sources(shipped_codebooks(), tuple(store.instruments.names()), free_text_models(store))


def command_of(texts: Mapping[str, Any]) -> SampleCommand:
    """Return the command of a filled form. Raises UsageError that names the invalid field."""
    name = " ".join(texts["name"].split())
    if not name:
        raise UsageError("the queue has no name; give one, such as stance-training")
    return SampleCommand.from_form({**texts, "name": name})


def _asked(option: Option, text: str | None = None) -> Horizontal:
    field = Input(option.text(text), id=option.name, compact=True, placeholder=option.none)
    return _row(option.title, field)


def _row(name: str, field: Widget) -> Horizontal:
    return Horizontal(Label(name, classes="name", markup=False), field, classes="row")


REFRESH_S = 5.0

OPENS = "Enter labels the items of a queue."
EXPORT = "Labels are exported on the command line: workbench labels STORE --help"
NO_QUEUE = """No queue yet. A queue holds the items that people label, and how many people label each.

n makes one from the free-text answers of a bias_score run."""  # noqa: E501
NO_ANSWERS = """

The store has no such answers yet. 3 goes to Jobs: n there asks a model,
with the audit bias_score.
Or label the statements themselves: press n and choose the codebook side."""


class QueuesScreen(StoreScreen):
    """The screen of all queues, the oldest first."""

    CSS_PATH = "queues.tcss"
    PLACE = "annotate"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Make a new queue"),
        Binding("d", "adjudicate", "Decide", tooltip="Decide disagreements between people"),
        Binding("v", "agreement", "Agreement", tooltip="Show the agreement between people"),
        Binding("p", "person", "Person", tooltip="Choose who annotates"),
        Binding(
            "b", "codebook", "Codebook", tooltip="Read and change the codebook that people label by"
        ),
        Binding(
            "w", "people", "Who", show=False, tooltip="Describe the annotators and respondents"
        ),
    ]

    view = query_one(SheetView)
    who = query_one("#who", Static)

    def __init__(self) -> None:
        super().__init__()
        self._queues: tuple[QueueState, ...] = ()
        self._answers = True
        self._seen = False
        self._reading = False

    def compose_body(self) -> ComposeResult:
        yield SheetView()
        yield Static("Reading the queues …", id="who", markup=False)

    def on_mount(self) -> None:
        self.view.display = False
        self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        if not self._seen:
            self.action_refresh()
        else:
            with in_background():
                self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        queue = self.current
        if action in ("adjudicate", "agreement"):
            return queue is not None and not self.view.box.has_focus  # the keys are letters there
        return True

    @property
    def current(self) -> QueueState | None:
        """The queue under the cursor."""
        queue: QueueState | None = self.view.row
        return queue

    def explain(self) -> str:
        sheet = self.view.sheet
        return (
            f"{table_help(sheet.table, opens=OPENS) if sheet is not None else NO_QUEUE}\n\n{EXPORT}"
        )

    @property
    def person(self) -> str | None:
        """The name of the annotator, which the app keeps so that no screen asks twice."""
        return app_of(self).annotator

    def tick(self) -> None:
        """Refresh, because others label at the same time."""
        if (
            self.is_current
            and not self._reading
            and not self.view.box.has_focus
            and self.has_changed()
        ):
            with in_background():
                self.action_refresh()

    def show_queues(self, found: tuple[QueueState, ...], answers: bool, waits: str) -> None:
        """Show the queues.

        `answers`: whether the store has answers to make one from. `waits`: the queue for the
        cursor, or empty to leave it.
        """
        self._reading, self._answers = False, answers
        self.trouble.hide()
        if not self._seen or found != self._queues:
            self._seen, self._queues = True, found
            self.view.display = bool(found)
            self.view.show(Sheet(queues(found)))
            if waits:
                row_by_name = {queue.name: row for row, queue in enumerate(found)}
                self.view.go_to(row_by_name.get(waits, 0))
        self.show_who()

    @on(SheetView.Opened)
    def open_row(self) -> None:
        """Label the queue under the cursor. Ask for the annotator's name if it is unknown."""
        if (queue := self.current) is None:
            return
        if self.person is None:
            self._ask_person(queue.name)
        else:
            self.app.push_screen(AnnotateScreen(queue.name, self.person))

    @on(SheetView.Current)
    def show_who(self) -> None:
        """Show the missing labels of the queue and the keys, or how to make a queue."""
        self.refresh_bindings()
        if not self._seen:
            return
        person_text = (
            f"Enter labels as {visible(self.person)}; p changes the person" if self.person else ""
        )
        empty_text = NO_QUEUE + ("" if self._answers else NO_ANSWERS)
        if not self._queues:
            self.who.update(Content(empty_text))
            return
        lines = [left_text(self.current) if self.current is not None else ""]
        lines.append(person_text or "Enter asks who you are")
        self.who.update(Content("\n".join(filter(None, lines))))

    def failed(self, error: WorkbenchError) -> None:
        self._reading = False
        if not self._seen:
            self.who.update("")
        super().failed(error)

    def action_refresh(self) -> None:
        self._reading = True
        self.look()

    def action_new(self) -> None:
        with_answer(self, QueueForm(), self._made)

    def action_codebook(self) -> None:
        """Open the codebook of the queue under the cursor."""
        codebooks = () if self.current is None else (self.current.codebook,)
        self.app.push_screen(screen("codebook", *codebooks))

    def action_people(self) -> None:
        self.app.push_screen(screen("people"))

    def action_person(self) -> None:
        self._ask_person(None)

    def action_adjudicate(self) -> None:
        """Decide the disagreements of the queue under the cursor, if there are any."""
        if (queue := self.current) is None:
            return
        if queue.disputed:
            self.app.push_screen(screen("adjudicate", queue.name))
            return
        other_texts = [
            f"{other_queue.name} has {plural(other_queue.disputed, 'item')} to decide"
            for other_queue in self._queues
            if other_queue.disputed
        ]
        other_texts += ["nor has any other queue"] * (not other_texts and len(self._queues) > 1)
        say(
            self,
            visible("; ".join([f"{queue.name} has no disagreement to decide", *other_texts])),
            warns=True,
        )

    def action_agreement(self) -> None:
        """Show the agreement of the annotators of the queue under the cursor."""
        if (queue := self.current) is not None:
            self.app.push_screen(screen("agreement", queue.name))

    def _ask_person(self, then: str | None) -> None:
        """Ask for the annotator's name. With `then`, go on to that queue."""
        names = dict.fromkeys(name for queue in self._queues for name in queue.annotators)

        def take(name: str) -> None:
            self.show_who()
            if then is not None:
                self.app.push_screen(AnnotateScreen(then, name))

        ask_person(self, PersonDialog(tuple(names), self.person), take)

    def _made(self, name: str) -> None:
        say(self, f"Made the queue {name}.")
        self.action_refresh()

    @worker("look")
    async def look(self) -> None:
        first = not self._seen
        self.show_queues(*await self.with_store(lambda store: read_queues(store, first=first)))


def read_queues(store: Store, *, first: bool) -> tuple[tuple[QueueState, ...], bool, str]:
    """Return the progress of the queues, whether answers exist, and the queue for the cursor.

    That is the queue that most needs somebody, decisions before labels. It is empty unless this is
    the `first` reading.
    """
    from workbench.evidence.readings import free_text_runs
    from workbench.pipeline.todo import queue_that_waits

    states = tuple(_state(store, queue) for queue in store.queues.list())
    return (
        states,
        bool(states) or bool(free_text_runs(store)),
        queue_that_waits(store) if first else "",
    )


def left_text(queue: QueueState) -> str:
    """Return `84 labels left, ~12 min at 412 an hour (nora)`, or an empty string if none are left.

    Several people who label at the same time share what is left.
    """
    if queue.left <= 0:
        return ""
    paces = [(name, per_hour) for name, per_hour in queue.paces if pace(per_hour)]
    left = f"{plural(queue.left, 'label')} left"
    if not paces:
        return left
    duration = human_duration(3600 * queue.left / sum(per_hour for _, per_hour in paces))
    if len(paces) == 1:
        name, per_hour = paces[0]
        return f"{left}, ~{duration} at {pace(per_hour)} ({visible(name)})"
    names = ", ".join(f"{visible(name)} {pace(per_hour)}" for name, per_hour in paces)
    return f"{left}, ~{duration} together: {names}"


def _state(store: Store, queue: Queue) -> QueueState:
    disputed_items = store.labels.judged(queue.codebook.name, queue=queue.name, only_disputed=True)
    return QueueState(
        name=queue.name,
        purpose=queue.purpose.value,
        codebook=queue.codebook.name,
        title=queue.codebook.title,
        items=queue.items,
        needed=queue.needed,
        done=queue.done,
        finished=queue.finished,
        annotators=tuple(queue.annotators),
        disputed=sum(item.open for item in disputed_items),
        attention=queue.attention,
        made=queue.created_at,
        paces=tuple(sorted(store.queues.paces(queue.name, PACE_FROM).items())),
    )
