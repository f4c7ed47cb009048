"""The form of a new queue: what is to be labelled by how many people, and, before it is made, what would be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select, SelectionList, Static
from textual.widgets.selection_list import Selection
from textual.worker import get_current_worker

from workbench.annotation import options as of
from workbench.domain.annotations import Purpose
from workbench.errors import UsageError, WorkbenchError
from workbench.help.sections import section
from workbench.options.shared import SEED
from workbench.tui.format import visible
from workbench.tui.kit.base import Background, in_store, store_path
from workbench.tui.kit.fields_form import FieldsForm
from workbench.tui.kit.start_form import select

if TYPE_CHECKING:
    from workbench.options.option import Option
    from workbench.pipeline.queues import Proposal, QueueSpec

NAME_FIRST = "Give the queue a name; this line then shows what the queue will draw."
ALL = ""
"the choice that stands for every instrument"
PURPOSES = {
    Purpose.TRAINING: "training: a classifier learns from these labels",
    Purpose.TEST: "test: a classifier is tested on these labels",
    Purpose.CHECK: "check: people review a model's labels",
}
LABELS = {Purpose.TRAINING: "1", Purpose.TEST: "2", Purpose.CHECK: "1"}
"people who label an item, unless one says otherwise"


@dataclass(frozen=True, slots=True)
class QueueValues:
    """The form as it was typed."""

    name: str
    purpose: str
    codebook: str
    instrument: str
    per_stratum: str
    labels: str
    overlap: str
    seed: str
    held_out: str
    attention: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What a queue may be drawn from."""

    codebooks: tuple[str, ...]
    instruments: tuple[str, ...]
    models: tuple[str, ...]


class QueueForm(FieldsForm[str | None], Background):
    """Fields above, what they would draw below; dismisses the name of the queue that was made."""

    CSS_PATH = "queue_form.tcss"
    EXPLAIN = section("screens-annotation", "A new queue")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "make", "Make"),
        Binding("escape", "dismiss(None)", "Close without making a queue"),
        Binding("f1", "explain", "Explain the fields"),
    ]

    proposal_line = query_one("#proposal", Static)
    make_button = query_one("#make", Button)

    @dataclass
    class Opened(Message):
        """It was read what there is to draw from."""

        sources: Sources

    @dataclass
    class Proposed(Message):
        """It is known what the form would draw."""

        values: QueueValues
        proposal: Proposal

    @dataclass
    class Made(Message):
        """The queue is in the store."""

        name: str

    def __init__(self) -> None:
        super().__init__()
        self._proposed: tuple[QueueValues, QueueSpec] | None = None
        self._wanted = False
        self._named = False
        "whether a name was typed, or the queue was asked for without one: only then its lack is a mistake"
        self._labels = LABELS[Purpose.TRAINING]
        "what the field said because of the purpose, not because of a person"

    def compose(self) -> ComposeResult:
        purposes = [(words, purpose.value) for purpose, words in PURPOSES.items()]
        with Vertical(classes="form") as form:
            form.border_title = "New queue: items for people to label"
            form.border_subtitle = "Tab next · F5 make · F1 explain · Esc back"
            with VerticalScroll(id="fields", can_focus=False):
                yield _row("name", Input(id="name", compact=True, placeholder="stance-training"))
                yield _row("for", Select(purposes, id="purpose", value="training", allow_blank=False, compact=True))
                with Horizontal(classes="pair"):
                    yield _row("codebook", select("codebook"))
                    yield _row("instrument", select("instrument"))
                with Horizontal(classes="pair"):
                    yield _asked(of.PER_STRATUM)
                    yield _asked(of.LABELS, self._labels)
                with Horizontal(classes="pair"):
                    yield _asked(of.OVERLAP)
                    yield _asked(SEED)
                with Horizontal(classes="pair"):
                    yield _asked(of.HELD_OUT)
                    yield _asked(of.ATTENTION)
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

    @on(Opened)
    def fill(self, event: Opened) -> None:
        """Offer what there is; the stance of all answers is chosen."""
        sources = event.sources
        self._offer("#codebook", [(visible(name), name) for name in sources.codebooks], "stance")
        instruments = [("all", ALL), *((visible(name), name) for name in sources.instruments)]
        self._offer("#instrument", instruments, ALL)
        models: SelectionList[str] = self.query_one("#models", SelectionList)
        with models.prevent(SelectionList.SelectedChanged):
            models.add_options([Selection(Content(visible(name)), name, True) for name in sources.models])
        several = len(sources.models) > 1
        models.display = self.query_one("#models-name").display = several
        self.ask()

    @on(Select.Changed, "#purpose")
    def suggest_labels(self, event: Select.Changed) -> None:
        """Suggest how many people a purpose needs, unless a number was typed."""
        box = self.query_one("#labels", Input)
        if box.value == self._labels:
            box.value = self._labels = LABELS[Purpose(str(event.value))]

    @on(Input.Changed, "#name")
    def take_name(self) -> None:
        self._named = True

    @on(Input.Changed)
    @on(Select.Changed)
    @on(SelectionList.SelectedChanged)
    def ask(self) -> None:
        """Draw what the form comes to, once typing pauses."""
        self._proposed = None
        self.make_button.disabled = True
        self.soon(self.propose_now)

    @on(Proposed)
    def show_proposal(self, event: Proposed) -> None:
        if event.values != self._values():
            return
        self._proposed = (event.values, event.proposal.spec)
        self.proposal_line.remove_class("-trouble")
        self.proposal_line.update(Content(visible(event.proposal.describe(), lines=True)))
        self.make_button.disabled = False
        if self._wanted:
            self._wanted = False
            self.action_make()

    @on(Made)
    def leave(self, event: Made) -> None:
        self.dismiss(event.name)

    @on(Button.Pressed, "#make")
    @on(Input.Submitted)
    def make_pressed(self) -> None:
        self.action_make()

    def action_make(self) -> None:
        """Make what the last lines say; if that is still being drawn, as soon as it is there."""
        self._named = True
        if self._proposed is None:
            self._wanted = True
            self.propose_now()
        elif not self.make_button.disabled:
            self.make_button.disabled = True
            self.write(self._proposed[1])

    def propose_now(self) -> None:
        self.no_longer()
        values = self._values()
        if not values.name.strip() and not self._named:
            self.proposal_line.update(Content.styled(NAME_FIRST, "$text-muted"))
        elif values.codebook:
            self.proposal_line.remove_class("-trouble")
            self.draw(values)

    def _values(self) -> QueueValues:
        models: SelectionList[str] = self.query_one("#models", SelectionList)
        chosen = tuple(models.selected)
        names = ("name", "per_stratum", "labels", "overlap", "seed", "held_out", "attention")
        return QueueValues(
            purpose=self.chosen("purpose"),
            codebook=self.chosen("codebook"),
            instrument=self.chosen("instrument"),
            models=() if len(chosen) == models.option_count else tuple(sorted(chosen)),
            **{name: self.typed(name) for name in names},
        )

    def _offer(self, selector: str, options: list[tuple[str, str]], first: str) -> None:
        select: Select[str] = self.query_one(selector, Select)
        with select.prevent(Select.Changed):
            select.set_options([(Content(words), value) for words, value in options])
            if first in {value for _, value in options}:
                select.value = first

    def _say(self, error: WorkbenchError) -> None:
        self._wanted = False
        self.proposal_line.add_class("-trouble")
        self.proposal_line.update(Content("✗ " + visible(in_store(self.app, str(error)), lines=True)))
        self.make_button.disabled = True

    @work(thread=True, exclusive=True, exit_on_error=False, group="open")
    def open(self) -> None:
        self.post_message(self.Opened(read_sources(store_path(self.app))))

    @work(thread=True, exclusive=True, exit_on_error=False, group="draw")
    def draw(self, values: QueueValues) -> None:
        worker = get_current_worker()
        try:
            proposal = read_proposal(store_path(self.app), values)
        except WorkbenchError:
            if worker.is_cancelled:
                return
            raise
        if not worker.is_cancelled:
            self.post_message(self.Proposed(values, proposal))

    @work(thread=True, exclusive=True, exit_on_error=False, group="write")
    def write(self, spec: QueueSpec) -> None:
        from stores.core.store import Store
        from workbench.pipeline import queues

        with Store.open(store_path(self.app)) as store:
            queues.make(store, spec)
        self.post_message(self.Made(spec.name))


def read_sources(path: Path) -> Sources:
    """Return what a queue of a store may be drawn from."""
    from stores.core.store import Store
    from workbench.data import shipped_codebooks
    from workbench.evidence.readings import models

    with Store.open(path) as store:
        return Sources(shipped_codebooks(), tuple(store.instruments.names()), models(store))


def read_proposal(path: Path, values: QueueValues) -> Proposal:
    """Draw what the form asks for, without making it. Raises WorkbenchError."""
    from stores.core.store import Store
    from workbench.pipeline import queues

    spec = as_spec(values)
    with Store.open(path) as store:
        return queues.propose(store, spec)


def as_spec(values: QueueValues) -> QueueSpec:
    """Return what a form asks for. Raises UsageError, saying which field cannot be as it is."""
    from workbench.pipeline.queues import QueueSpec

    name = " ".join(values.name.split())
    if not name:
        raise UsageError("the queue has no name; give one, such as stance-training")
    return QueueSpec(
        name=name,
        purpose=Purpose(values.purpose),
        codebook=values.codebook,
        instrument=values.instrument or None,
        models=values.models,
        per_stratum=of.PER_STRATUM.needed(values.per_stratum),
        labels=of.LABELS.needed(values.labels),
        overlap=of.OVERLAP.needed(values.overlap),
        seed=SEED.needed(values.seed),
        held_out=of.HELD_OUT.needed(values.held_out),
        attention=of.ATTENTION.needed(values.attention),
    )


def _asked(option: Option, text: str | None = None) -> Horizontal:
    return _row(option.title, Input(option.text(text), id=option.name, compact=True))


def _row(name: str, field: Widget) -> Horizontal:
    return Horizontal(Label(name, classes="name", markup=False), field, classes="row")
