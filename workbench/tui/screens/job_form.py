"""The form of a new job: what to ask of which model, and, before anything starts, what that comes to."""

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
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select, SelectionList, Static
from textual.widgets.selection_list import Selection
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.errors import UsageError, WorkbenchError
from workbench.tui.design_form import Choices, FormValues, as_design
from workbench.tui.format import visible
from workbench.tui.screens.base import as_trouble, store_path
from workbench.tui.screens.dialogs import TextScreen

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.pipeline import Plan

PLAN_AFTER_S = 0.3

EXPLAIN = """instrument   whose statements are asked
model        smollm2 (embedded), a model of the hub, a local folder or
             a GGUF file
statements   nothing for all, 8 for the first eight, or refs:
             env-01, soc-03
variants     which wordings; the tests compare the original with others
templates    the instructions around a statement; each is asked in both
             orders of its labels
samples      answers to each prompt; 30 as published
             (Ceron et al. 2024, section 5.4)
temperature, top-p   how answers are drawn; answers of two samplings are
             never pooled
seed         the same seed, model and prompt give the same answers

Nothing is asked twice: what the store holds already counts."""


class JobForm(ModalScreen[int | None]):
    """Fields above, what they come to below; dismisses the number of the job that was started."""

    CSS_PATH = "job_form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "start", "Start"),
        Binding("escape", "dismiss(None)", "Leave without starting"),
        Binding("f1,question_mark", "explain", "Explain the fields"),
    ]

    plan_line = query_one("#plan", Static)
    start_button = query_one("#start", Button)

    @dataclass
    class Opened(Message):
        """The instruments were read."""

        choices: tuple[Choices, ...]

    @dataclass
    class Planned(Message):
        """It is known what the form comes to."""

        values: FormValues
        plan: Plan

    @dataclass
    class Started(Message):
        """A worker runs."""

        job: int

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[str, Choices] = {}
        self._plan: Plan | None = None
        self._planned: FormValues | None = None
        self._pause: Timer | None = None
        self._wanted = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="form") as form:
            form.border_title = "New job: ask a model"
            form.border_subtitle = "Tab next · Space choose · F5 start · F1 explain · Esc back"
            with VerticalScroll(id="fields", can_focus=False):
                yield _row("instrument", Select[str]([], id="instrument", allow_blank=True, compact=True, prompt="…"))
                yield _row("model", Input("smollm2", id="model", compact=True))
                yield _row("statements", Input(id="statements", compact=True, placeholder="all · or 8 · or refs"))
                with Horizontal(classes="pair", id="origin"):
                    yield _row("family", Select[str]([], id="family", allow_blank=True, compact=True, prompt="…"))
                    yield _row("language", Select[str]([], id="language", allow_blank=True, compact=True, prompt="…"))
                with Horizontal(classes="pair lists"):
                    yield _titled("variants", SelectionList[str](id="variants", compact=True))
                    yield _titled("templates", SelectionList[str](id="templates", compact=True))
                with Horizontal(classes="pair"):
                    yield _row("samples", Input("30", id="samples", compact=True))
                    yield _row("temperature", Input("1", id="temperature", compact=True))
                with Horizontal(classes="pair"):
                    yield _row("seed", Input("1", id="seed", compact=True))
                    yield _row("top-p", Input("0.85", id="top_p", compact=True))
            yield Static("Reading the instruments …", id="plan", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Start  F5", id="start", variant="success", compact=True, disabled=True)
                yield Button("Leave  Esc", id="leave", compact=True)

    def on_mount(self) -> None:
        self.query_one("#model").focus()
        self.open()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._say(as_trouble(event.worker.error))

    @on(Opened)
    def fill(self, event: Opened) -> None:
        """Offer the instruments; the first one is chosen."""
        self._choices = {choices.instrument: choices for choices in event.choices}
        if not self._choices:
            self._say(UsageError("The store holds no instrument yet. Esc, then h: Home imports the shipped one."))
            return
        select = self.query_one("#instrument", Select)
        select.set_options([(_name(name), name) for name in self._choices])
        select.value = event.choices[0].instrument

    @on(Select.Changed, "#instrument")
    def offer(self, event: Select.Changed) -> None:
        """Offer what the chosen instrument has."""
        choices = self._choices.get(str(event.value))
        if choices is None:
            return
        self._offer("#family", choices.families, "chat" if "chat" in choices.families else "")
        self._offer("#language", choices.languages, "")
        self.query_one("#origin").display = len(choices.families) > 1 or len(choices.languages) > 1
        self._list("#variants", choices.variants)
        self._list_templates()
        self.ask()

    @on(Select.Changed, "#family")
    def offer_templates(self) -> None:
        self._list_templates()
        self.ask()

    @on(Input.Changed)
    @on(Select.Changed, "#language")
    @on(SelectionList.SelectedChanged)
    def ask(self) -> None:
        """Work out what the form comes to, once typing pauses."""
        self._plan = None
        self.start_button.disabled = True
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PLAN_AFTER_S, self.plan_now)

    @on(Planned)
    def show_plan(self, event: Planned) -> None:
        if event.values != self._values():
            return
        self._plan, self._planned = event.plan, event.values
        text = event.plan.describe()
        if not event.plan.samples_needed:
            text += "\nEverything is stored already: there is nothing to start. Its verdicts: Esc, then 4."
        self.plan_line.remove_class("-trouble")
        self.plan_line.update(Content(visible(text, lines=True)))
        self.start_button.disabled = not event.plan.samples_needed
        if self._wanted:
            self._wanted = False
            self.action_start()

    @on(Started)
    def leave(self, event: Started) -> None:
        self.dismiss(event.job)

    @on(Button.Pressed, "#start")
    @on(Input.Submitted)
    def start_pressed(self) -> None:
        self.action_start()

    @on(Button.Pressed, "#leave")
    def leave_pressed(self) -> None:
        self.dismiss(None)

    def action_start(self) -> None:
        """Start what the last line says; if that is still being worked out, as soon as it is there."""
        if self._plan is None:
            self._wanted = True
            self.plan_now()
        elif self._plan.samples_needed:
            self.start_button.disabled = True
            self.launch(self._plan)

    def action_explain(self) -> None:
        self.app.push_screen(TextScreen("The fields", EXPLAIN))

    def plan_now(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        if (values := self._values()) is not None:
            self.work_out(values)

    def _values(self) -> FormValues | None:
        chosen = self._chosen("#instrument")
        if not chosen:
            return None
        return FormValues(
            instrument=chosen,
            family=self._chosen("#family"),
            language=self._chosen("#language"),
            variants=self._selected("#variants"),
            templates=self._selected("#templates"),
            **{
                name: self.query_one(f"#{name}", Input).value
                for name in ("model", "statements", "samples", "temperature", "top_p", "seed")
            },
        )

    def _chosen(self, selector: str) -> str:
        select = self.query_one(selector, Select)
        return "" if select.is_blank() else str(select.value)

    def _selected(self, selector: str) -> tuple[str, ...]:
        """Return what is ticked, in the order of the list; all of it and none of it both stand for all."""
        choices: SelectionList[str] = self.query_one(selector, SelectionList)
        ticked = set(choices.selected)
        values = [choices.get_option_at_index(place).value for place in range(choices.option_count)]
        names = tuple(value for value in values if value in ticked)
        return () if len(names) == choices.option_count else names

    def _offer(self, selector: str, names: tuple[str, ...], first: str) -> None:
        select = self.query_one(selector, Select)
        with select.prevent(Select.Changed):
            select.set_options([(_name(name), name) for name in names])
            if names:
                select.value = first or names[0]

    def _list(self, selector: str, names: tuple[str, ...]) -> None:
        choices = self.query_one(selector, SelectionList)
        with choices.prevent(SelectionList.SelectedChanged):
            choices.clear_options()
            choices.add_options([Selection(Content(visible(name)), name, True) for name in names])

    def _list_templates(self) -> None:
        choices = self._choices.get(self._chosen("#instrument"))
        if choices is not None:
            family = self._chosen("#family")
            self._list("#templates", tuple(name for of, name in choices.templates if of == family))

    def _say(self, error: WorkbenchError) -> None:
        self._wanted = False
        self.plan_line.add_class("-trouble")
        self.plan_line.update(Content("✗ " + visible(str(error), lines=True)))
        self.start_button.disabled = True

    @work(thread=True, exclusive=True, exit_on_error=False, group="open")
    def open(self) -> None:
        self.post_message(self.Opened(read_choices(store_path(self.app))))

    @work(thread=True, exclusive=True, exit_on_error=False, group="plan")
    def work_out(self, values: FormValues) -> None:
        worker = get_current_worker()
        try:
            plan = read_plan(store_path(self.app), values)
        except WorkbenchError:
            if worker.is_cancelled:
                return
            raise
        if not worker.is_cancelled:
            self.post_message(self.Planned(values, plan))

    @work(thread=True, exclusive=True, exit_on_error=False, group="launch")
    def launch(self, plan: Plan) -> None:
        from stores.store import Store
        from workbench.jobs import launch

        with Store.open(store_path(self.app)) as store:
            self.post_message(self.Started(launch.start(store, plan.design, plan)))


def read_choices(path: Path) -> tuple[Choices, ...]:
    """Return what may be chosen, for each instrument of a store."""
    from stores.store import Store
    from workbench.domain.statements import variant_order

    found = []
    with Store.open(path) as store:
        for name in store.instruments.names():
            instrument = store.instruments.get(name)
            wordings = [w for s in instrument.statements for w in s.wordings]
            templates = [t for t in instrument.templates if t.audit == "reliability"]
            languages = sorted({w.language for w in wordings}, key=lambda x: (x != instrument.language, x))
            found.append(
                Choices(
                    instrument=name,
                    statements=len(instrument.statements),
                    families=tuple(dict.fromkeys(t.family for t in templates)),
                    templates=tuple(dict.fromkeys((t.family, t.name) for t in templates)),
                    variants=tuple(map(str, sorted({w.variant for w in wordings}, key=variant_order))),
                    languages=tuple(languages),
                )
            )
    return tuple(found)


def read_plan(path: Path, values: FormValues) -> Plan:
    """Return what the form comes to. Raises WorkbenchError, saying which field cannot be as it is."""
    from stores.store import Store
    from workbench import pipeline

    with Store.open(path) as store:
        refs = [line.ref for line in store.instruments.lines(values.instrument)]
        return pipeline.plan(store, as_design(values, refs))


def _name(text: str) -> Content:
    return Content(visible(text))


def _row(name: str, field: Widget) -> Horizontal:
    return Horizontal(Label(name, classes="name", markup=False), field, classes="row")


def _titled(name: str, field: Widget) -> Vertical:
    return Vertical(Label(name, classes="name", markup=False), field, classes="titled")
