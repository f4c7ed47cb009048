"""Queues: what people are asked to label, how far each queue is, and where they disagree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.annotation.queue_tables import QueueState, queues
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.queue_form import QueueForm
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.kit.status import say
from workbench.tui.results.details import explained
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from stores.annotation.queues import Queue
    from stores.core.store import Store

REFRESH_S = 5.0

OPENS = "Enter labels the items of a queue."
EXPORT = "Labels are exported on the command line: workbench labels STORE --help"
NO_QUEUE = """No queue yet. A queue holds the items that people label, and how many people label each.

n makes one from the free-text answers of a bias_score run."""
NO_ANSWERS = """

The store has no such answers yet. 3 goes to Jobs: n there asks a model,
with the audit bias_score.
Or label the statements themselves: press n and choose the codebook side."""


class QueuesScreen(StoreScreen):
    """Every queue, the oldest first."""

    CSS_PATH = "queues.tcss"
    PLACE = "annotate"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Make a new queue"),
        Binding("d", "adjudicate", "Decide", tooltip="Decide disagreements between people"),
        Binding("v", "agreement", "Agreement", tooltip="Show the agreement between people"),
        Binding("p", "person", "Person", tooltip="Choose who annotates"),
        Binding("b", "codebook", "Codebook", tooltip="Read and change the codebook that people label by"),
        Binding("w", "people", "Who", show=False, tooltip="Describe the annotators and respondents"),
    ]

    view = query_one(SheetView)
    who = query_one("#who", Static)

    @dataclass
    class Seen(Message):
        """The queues were read."""

        queues: tuple[QueueState, ...]
        answers: bool
        "whether there is anything to make a queue from"
        waits: str = ""
        "the queue that the cursor goes to first; empty: it stays where it is"

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
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        queue = self.current
        if action in ("adjudicate", "agreement"):
            return queue is not None and not self.view.box.has_focus  # the keys are letters there
        return True

    @property
    def current(self) -> QueueState | None:
        """The queue under the cursor."""
        found: QueueState | None = self.view.row
        return found

    def explain(self) -> str:
        sheet = self.view.sheet
        return f"{explained(sheet.table, opens=OPENS) if sheet is not None else NO_QUEUE}\n\n{EXPORT}"

    @property
    def person(self) -> str | None:
        """Who annotates here; known to the app, so that other screens ask nobody twice."""
        return getattr(self.app, "annotator", None)

    def tick(self) -> None:
        """Look again: others label at the same time."""
        if self.is_current and not self._reading and not self.view.box.has_focus:
            self.action_refresh()

    @on(Seen)
    def show_queues(self, event: Seen) -> None:
        self._reading, self._answers = False, event.answers
        self.trouble.hide()
        if not self._seen or event.queues != self._queues:
            self._seen, self._queues = True, event.queues
            self.view.display = bool(event.queues)
            self.view.show(Sheet(queues(event.queues)))
            if event.waits:
                places = {queue.name: at for at, queue in enumerate(event.queues)}
                self.view.go_to(places.get(event.waits, 0))
        self.show_who()

    @on(SheetView.Opened)
    def open_row(self) -> None:
        """Label the queue under the cursor, once it is known who does."""
        if (queue := self.current) is None:
            return
        if self.person is None:
            self._ask_person(queue.name)
        else:
            self.app.push_screen(AnnotateScreen(queue.name, self.person))

    @on(SheetView.Current)
    def show_who(self) -> None:
        """Say what Enter does, or how to make a queue."""
        self.refresh_bindings()
        if not self._seen:
            return
        asked = f"Enter labels as {visible(self.person)}; p changes the person" if self.person else ""
        empty = NO_QUEUE + ("" if self._answers else NO_ANSWERS)
        self.who.update(Content((asked or "Enter asks who you are") if self._queues else empty))

    def failed(self, error: WorkbenchError) -> None:
        self._reading = False
        if not self._seen:
            self.who.update("")
        super().failed(error)

    def action_refresh(self) -> None:
        self._reading = True
        self.look()

    def action_new(self) -> None:
        self.app.push_screen(QueueForm(), self._made)

    def action_codebook(self) -> None:
        """Open the codebook of the queue under the cursor."""
        self.app.push_screen(screen("codebook", *([self.current.codebook] if self.current is not None else [])))

    def action_people(self) -> None:
        self.app.push_screen(screen("people"))

    def action_person(self) -> None:
        self._ask_person(None)

    def action_adjudicate(self) -> None:
        """Decide the disagreements of the queue under the cursor, if there are any."""
        if (queue := self.current) is None:
            return
        if queue.disputed:
            self._elsewhere("action_adjudicate")
            return
        others = [f"{one.name} has {plural(one.disputed, 'item')} to decide" for one in self._queues if one.disputed]
        others += ["nor has any other queue"] * (not others and len(self._queues) > 1)
        say(self, visible("; ".join([f"{queue.name} has no disagreement to decide", *others])), warns=True)

    def action_agreement(self) -> None:
        self._elsewhere("action_agreement")

    def _elsewhere(self, action: str) -> None:
        """Have the app show another screen about the queue under the cursor."""
        go = getattr(self.app, action, None)
        if callable(go) and (queue := self.current) is not None:
            self.call_later(go, queue.name)

    def _ask_person(self, then: str | None) -> None:
        """Ask who annotates; with `then`, go on to that queue."""
        known = dict.fromkeys(name for queue in self._queues for name in queue.annotators)

        def take(name: str | None) -> None:
            if name is None:
                return
            setattr(self.app, "annotator", name)  # noqa: B010
            self.show_who()
            if then is not None:
                self.app.push_screen(AnnotateScreen(then, name))

        self.app.push_screen(PersonDialog(tuple(known), self.person), take)

    def _made(self, name: str | None) -> None:
        if name is not None:
            say(self, f"Made the queue {name}.")
            self.action_refresh()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        worker, first = get_current_worker(), not self._seen
        found, answers, waits = read_queues(self.store_path, first=first)
        if not worker.is_cancelled:
            self.post_message(self.Seen(found, answers, waits))


def read_queues(path: Path, *, first: bool) -> tuple[tuple[QueueState, ...], bool, str]:
    """Return how far the queues of a store are, whether it has answers to make one from, and, where they are looked at
    for the `first` time, the queue that most waits for somebody: for a decision before anything else.
    """
    from stores.core.store import Store
    from workbench.evidence.readings import runs
    from workbench.pipeline.todo import queue_that_waits

    with Store.open(path) as store:
        found = tuple(_state(store, queue) for queue in store.queues.list())
        return found, bool(found) or bool(runs(store)), queue_that_waits(store) if first else ""


def _state(store: Store, queue: Queue) -> QueueState:
    judged = store.labels.judged(queue.codebook.name, queue=queue.name, only_disputed=True)
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
        disputed=sum(item.open for item in judged),
        attention=queue.attention,
        made=queue.created_at,
    )
