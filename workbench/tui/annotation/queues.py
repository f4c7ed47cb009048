"""Queues: what people are asked to label, how far each queue is, and where they disagree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.domain.counting import plural
from workbench.errors import WorkbenchError
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.queue_form import QueueForm
from workbench.tui.format import bar, literal, percent, visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.annotation.queues import Queue

REFRESH_S = 5.0

EXPLAIN = """labels      that are there, of those that are needed; what is beyond
            what an item needs is not counted
finished    items that have all their labels
people      who have labelled in the queue
decide      items whose labels differ and on which nobody has decided: d

Items with a known label, mixed in to see that people read, are in none
of these numbers.

Labels are exported on the command line: workbench labels STORE --help"""

NO_QUEUE = """No queue yet: a queue says what is to be labelled, and by how many people.

n makes one from the free-text answers of a bias_score run."""
NO_ANSWERS = """

The store holds no such answers yet. Ask a model first:
workbench run STORE --audit bias_score --model NAME
Or label the statements themselves: n, and the codebook side."""


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A queue and how many of its items wait for a decision."""

    queue: Queue
    disputed: int


class QueuesScreen(StoreScreen):
    """Every queue, the oldest first."""

    CSS_PATH = "queues.tcss"
    PLACE = "annotate"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Make a new queue"),
        Binding("d", "adjudicate", "Decide", tooltip="Decide where people disagree"),
        Binding("k", "agreement", "Agreement", tooltip="Show how well people agree"),
        Binding("p", "person", "Person", tooltip="Say who annotates"),
    ]

    table = query_one("#queues", RecordTable)
    details = query_one("#details", Static)

    @dataclass
    class Seen(Message):
        """The queues were read."""

        lines: tuple[QueueLine, ...]
        answers: bool
        "whether there is anything to make a queue from"

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[str, QueueLine] = {}
        self._answers = True
        self._seen = False
        self._reading = False

    def compose_body(self) -> ComposeResult:
        yield QueueTable(
            [
                Column("name", "queue", None),
                Column("purpose", "for", 8),
                Column("codebook", "codebook", 10, least=100),
                Column("items", "items", 6),
                Column("bar", "", 5),
                Column("labels", "labels", 13),
                Column("finished", "finished", 8),
                Column("people", "people", 6),
                Column("disputed", "decide", 6),
            ],
            name="queues",
        )
        yield Static("Reading the queues …", id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        line = self.current
        if action == "adjudicate":
            return line is not None and bool(line.disputed)
        if action == "agreement":
            return line is not None
        return True

    @property
    def current(self) -> QueueLine | None:
        """The queue under the cursor."""
        return self._lines.get(self.table.current or "")

    @property
    def person(self) -> str | None:
        """Who annotates here; known to the app, so that other screens ask nobody twice."""
        return getattr(self.app, "annotator", None)

    def tick(self) -> None:
        """Look again: others label at the same time."""
        if self.is_current and not self._reading:
            self.action_refresh()

    @on(Seen)
    def show_queues(self, event: Seen) -> None:
        self._reading = False
        self._seen, self._answers = True, event.answers
        self._lines = {line.queue.name: line for line in event.lines}
        self.trouble.hide()
        self.table.show([queue_record(line) for line in event.lines])
        self.table.display = bool(event.lines)
        self._show_details()

    @on(RecordTable.RowSelected)
    def open_row(self) -> None:
        """Label the queue under the cursor, once it is known who does."""
        if (line := self.current) is None:
            return
        if self.person is None:
            self._ask_person(line.queue.name)
        else:
            self.app.push_screen(AnnotateScreen(line.queue.name, self.person))

    @on(RecordTable.RowHighlighted)
    def _show_details(self) -> None:
        self.refresh_bindings()
        if self._seen:
            line = self.current
            empty = NO_QUEUE + ("" if self._answers else NO_ANSWERS)
            self.details.update(Content(empty) if line is None else queue_details(line, self.person))

    def failed(self, error: WorkbenchError) -> None:
        self._reading = False
        if not self._seen:
            self.details.update("")
        super().failed(error)

    def action_refresh(self) -> None:
        self._reading = True
        self.look()

    def action_new(self) -> None:
        self.app.push_screen(QueueForm(), self._made)

    def action_person(self) -> None:
        self._ask_person(None)

    def action_adjudicate(self) -> None:
        self._elsewhere("action_adjudicate")

    def action_agreement(self) -> None:
        self._elsewhere("action_agreement")

    def _elsewhere(self, action: str) -> None:
        """Have the app show another screen about the queue under the cursor."""
        go = getattr(self.app, action, None)
        if callable(go) and (line := self.current) is not None:
            self.call_later(go, line.queue.name)

    def _ask_person(self, then: str | None) -> None:
        """Ask who annotates; with `then`, go on to that queue."""
        known = dict.fromkeys(name for line in self._lines.values() for name in line.queue.annotators)

        def take(name: str | None) -> None:
            if name is None:
                return
            setattr(self.app, "annotator", name)  # noqa: B010
            self._show_details()
            if then is not None:
                self.app.push_screen(AnnotateScreen(then, name))

        self.app.push_screen(PersonDialog(tuple(known), self.person), take)

    def _made(self, name: str | None) -> None:
        if name is not None:
            self.notify(f"The queue {visible(name)} is made.", markup=False)
            self.action_refresh()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        worker = get_current_worker()
        lines, answers = read_queues(self.store_path)
        if not worker.is_cancelled:
            self.post_message(self.Seen(lines, answers))


class QueueTable(RecordTable, inherit_bindings=False):
    """The list of queues. Here k is agreement, not the row above."""

    DEFAULT_CSS = """
    QueueTable {
        height: auto;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Annotate", key_display="Enter"),
        Binding("up", "cursor_up", "Row above", show=False),
        Binding("down,j", "cursor_down", "Row below", show=False),
        Binding("home,g", "scroll_top", "First row", show=False),
        Binding("end,G", "scroll_bottom", "Last row", show=False),
    ]


def read_queues(path: Path) -> tuple[tuple[QueueLine, ...], bool]:
    """Return the queues of a store, and whether it has answers to make one from."""
    from stores.core.store import Store

    with Store.open(path) as store:
        lines = tuple(
            QueueLine(queue, sum(item.open for item in store.labels.judged(queue.codebook.name, queue=queue.name,
                                                                           only_disputed=True)))
            for queue in store.queues.list()
        )  # fmt: skip
        return lines, bool(lines) or bool(store.runs.list("bias_score"))


def queue_record(line: QueueLine) -> Record:
    """Return a row of the table."""
    queue = line.queue
    numbers = (f"{queue.done:,}/{queue.needed:,}", f"{queue.finished:,}", str(len(queue.annotators)),
               str(line.disputed) if line.disputed else "·")  # fmt: skip
    labels, finished, people, disputed = (Text(number, justify="right") for number in numbers)
    return (
        queue.name,
        (
            literal(queue.name, 60),
            literal(queue.purpose.value, 8),
            literal(queue.codebook.name, 10),
            Text(f"{queue.items:,}", justify="right"),
            Text(bar(queue.done, queue.needed)),
            labels,
            finished,
            people,
            disputed,
        ),
    )


def queue_details(line: QueueLine, person: str | None) -> Content:
    """Return what the table has no room for, and what Enter does."""
    queue = line.queue
    people = ", ".join(visible(name) for name in queue.annotators) or "nobody yet"
    lines = [
        Content.assemble(
            (visible(queue.codebook.title), "bold"),
            f" · {percent(queue.done, queue.needed)} of the labels · since {visible(queue.created_at[:10])}",
        ),
        Content(f"labelled by {people}"),
    ]
    if queue.attention:
        lines.append(Content(f"{plural(queue.attention, 'item')} with a known label, besides"))
    if line.disputed:
        lines.append(Content(f"{plural(line.disputed, 'item')} to decide: d"))
    who = f"Enter labels as {visible(person)}; p is for somebody else" if person else "Enter asks who you are"
    return Content("\n").join([*lines, Content(""), Content.styled(who, "$text-muted")])
