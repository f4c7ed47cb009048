"""The dialogs of an audit's options without a key, readers and models, and of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option as Line

from workbench import registry
from workbench.audits.audit import Audit
from workbench.domain.names import in_words
from workbench.domain.prompts import NONE
from workbench.domain.responses import EXACT
from workbench.errors import WorkbenchError
from workbench.evidence.runs import EACH
from workbench.figures.visible import visible
from workbench.options.option import Option, Type
from workbench.options.schema import OptionField
from workbench.tui.kit.dialogs import RADIO, TICK
from workbench.tui.results.loaded import Settings, StoreChoices

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

NOTHING_OFFERED = StoreChoices()
READER, MODEL, FINGERPRINTS = "reader", "model", "fingerprints"


class ChoicesScreen(ModalScreen[Settings | None]):
    """The dialog of the options of a judgement. It returns the settings, or None if unchanged."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True, tooltip="Apply the choices"),
        Binding("space", "choose", "Choose", tooltip="Choose what is under the cursor"),
        Binding("left", "step(-1)", "Less", tooltip="Make the number smaller"),
        Binding("right", "step(1)", "More", tooltip="Make the number larger"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
        Binding("escape,q", "dismiss(None)", "Cancel", tooltip="Close without changing anything"),
    ]

    choices = query_one("#choices", OptionList)

    def __init__(self, audit: Audit, settings: Settings, offers: StoreChoices) -> None:
        super().__init__()
        self.settings, self._audit, self._offers = settings, audit, offers

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Options of the figures"
            dialog.border_subtitle = "Space choose · ← → number · Enter apply · Esc cancel"
            yield OptionList(id="choices", markup=False)
            yield Static(id="trouble", markup=False)

    def on_mount(self) -> None:
        self._fill(1)
        self.choices.focus()

    @on(OptionList.OptionSelected)
    def action_choose(self) -> None:
        """Choose the line under the cursor."""
        row = self.choices.highlighted
        if row is not None:
            self._take(
                with_choice(
                    self.settings, str(self.choices.get_option_at_index(row).id), self._offers
                ),
                row,
            )

    def action_step(self, step: int) -> None:
        """Change the number under the cursor."""
        row = self.choices.highlighted
        if row is not None:
            self._take(
                with_next_number(
                    self.settings, str(self.choices.get_option_at_index(row).id), step, self._offers
                ),
                row,
            )

    def action_apply(self) -> None:
        self.dismiss(self.settings)

    def action_down(self) -> None:
        self.choices.action_cursor_down()

    def action_up(self) -> None:
        self.choices.action_cursor_up()

    def _take(self, settings: Settings | str, at: int) -> None:
        trouble = f"✗ {visible(settings)}" if isinstance(settings, str) else ""
        self.query_one("#trouble", Static).update(Content.styled(trouble, "$text-error"))
        if isinstance(settings, Settings):
            self.settings = settings
            self._fill(at)

    def _fill(self, at: int) -> None:
        self.choices.set_options(
            Line(
                Content.styled(text, "" if name else "$text-muted"),
                id=name or None,
                disabled=not name,
            )
            for name, text in form(self._audit, self.settings, self._offers)
        )
        self.choices.highlighted = at


def has_lines(audit: Audit) -> bool:
    """Return whether an audit has options in this dialog."""
    return bool(audit.readers or _unkeyed(audit))


def form(audit: Audit, settings: Settings, offers: StoreChoices) -> Iterator[tuple[str, str]]:
    """Yield the id of each line of the form, which is empty for a heading, and its text."""
    for reader in audit.readers:
        reader_names = offers.names.get(READER, {})
        current_reader = settings.readings.by or next(iter(reader_names), "")
        yield "", _heading(reader)
        yield from _names(READER, reader_names, current_reader)
    for name, declared in _unkeyed(audit).items():
        yield from _lines(name, declared, getattr(settings.options, name), offers)
    if len(offers.models) > 1:
        yield "", "Models"
        yield from _ticks(
            MODEL, {name: name for name in offers.models}, settings.models or offers.models
        )
    if offers.fingerprints:
        tick = TICK[settings.fingerprint == EACH]
        yield f"{FINGERPRINTS}:", f" {tick} a separate result for each system_fingerprint"


def _unkeyed(audit: Audit) -> dict[str, OptionField]:
    return {
        name: declared for name, declared in audit.options.offered().items() if not declared.key
    }


def _heading(one: Option) -> str:
    return f"{one.help[:1].upper()}{one.help[1:]}"


def _lines(
    name: str, one: OptionField, value: Any, offers: StoreChoices
) -> Iterator[tuple[str, str]]:
    """Yield the lines of one option. A text without offered values has none."""
    offered_values = offers.names.get(name) or one.option.choices
    choices = (
        offered_values
        if isinstance(offered_values, Mapping)
        else {choice: choice for choice in offered_values}
    )
    if one.option.type is Type.FLAG:
        yield f"{name}:", f" {TICK[value]} {one.option.help}"
    elif isinstance(value, tuple):
        yield "", _heading(one.option)
        yield from _ticks(
            name, {choice: in_words(choice) for step in one.steps for choice in step}, value
        )
    elif choices:
        yield "", _heading(one.option)
        yield from _names(name, choices, value)
    elif one.option.type in (Type.WHOLE, Type.NUMBER):
        available_steps = offers.steps.get(name)
        if value is None and not available_steps:
            yield f"{name}:", f" ← {one.option.none} → {one.option.help}"
            return
        default_text = f" ({one.option.none})" if value is None else ""
        value = available_steps[0] if value is None and available_steps else value
        value_text = f"{value:,}" if one.option.type is Type.WHOLE else f"{value:g}"
        yield f"{name}:", f" ← {value_text} → {one.option.help}{default_text}"


def _names(name: str, there: Mapping[str, str], chosen: object) -> Iterator[tuple[str, str]]:
    for value, text in there.items():
        yield f"{name}:{value}", f" {RADIO[value == chosen]} {visible(text)}"


def _ticks(name: str, there: Mapping[str, str], chosen: Sequence[str]) -> Iterator[tuple[str, str]]:
    for value, text in there.items():
        yield f"{name}:{value}", f" {TICK[value in chosen]} {visible(text)}"


def with_choice(settings: Settings, line: str, offers: StoreChoices) -> Settings | str:
    """Return the settings after the choice of a line, or an error message.

    The line of a number resets it to its default. At least one model stays selected.
    """
    option_name, _, name = line.partition(":")
    if option_name == READER:
        is_default = name == next(iter(offers.names[READER])) and settings.readings.by is None
        return (
            settings
            if is_default
            else replace(settings, readings=replace(settings.readings, by=name))
        )
    if option_name == MODEL:
        selected = set(settings.models or offers.models) ^ {name}
        models = tuple(model for model in offers.models if model in selected) or settings.models
        return replace(settings, models=() if models == offers.models else models)
    if option_name == FINGERPRINTS:
        return replace(settings, fingerprint=None if settings.fingerprint == EACH else EACH)
    declared = settings.options.offered()[option_name]
    value = getattr(settings.options, option_name)
    if declared.option.type is Type.FLAG:
        return _with(settings, option_name, not value)
    if isinstance(value, tuple):
        all_values = (choice for step in declared.steps for choice in step)
        return _with(
            settings,
            option_name,
            tuple(choice for choice in all_values if (choice in value) != (choice == name)),
        )
    return (
        _with(settings, option_name, declared.read(name))
        if name
        else replace(settings, options=settings.options.usual([option_name]))
    )


def with_next_number(
    settings: Settings, line: str, step: int, offers: StoreChoices = NOTHING_OFFERED
) -> Settings | str:
    """Return the settings after a number of the form was changed. It stops at its ends."""
    option_name, _, name = line.partition(":")
    declared = settings.options.offered().get(option_name)
    if name or declared is None or declared.option.type not in (Type.WHOLE, Type.NUMBER):
        return settings
    value = getattr(settings.options, option_name)
    if available_steps := offers.steps.get(option_name):
        return _with(
            settings,
            option_name,
            _next(sorted(available_steps), available_steps[0] if value is None else value, step),
        )
    if declared.steps:
        return _with(settings, option_name, _next(declared.steps, value, step))
    minimum = int(declared.option.least or 0)
    return _with(settings, option_name, minimum if value is None else value + step)


def _with(settings: Settings, name: str, value: Any) -> Settings | str:
    try:
        return replace(settings, options=settings.options.with_values(**{name: value}))
    except WorkbenchError as error:
        return str(error)


def _next(values: Sequence[Any], value: Any, step: int) -> Any:
    """Return a neighbour of a value in a list. It stops at the ends."""
    index = values.index(value) if value in values else 0
    return values[max(0, min(len(values) - 1, index + step))]


class RunsScreen(ModalScreen["Run | None"]):
    """The dialog of the runs that can be judged. It returns a run, or None."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Cancel", tooltip="Close without changing anything"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
    ]

    def __init__(self, runs: Sequence[Run], current: Run) -> None:
        super().__init__()
        self._runs, self._current = tuple(runs), current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Choose the answers"
            dialog.border_subtitle = "Enter choose · Esc cancel"
            has_several_audits = len({run.audit for run in self._runs}) > 1
            yield OptionList(
                *(Line(run_words(run, audits=has_several_audits)) for run in self._runs),
                id="runs",
                markup=False,
            )

    def on_mount(self) -> None:
        runs = self.query_one("#runs", OptionList)
        runs.highlighted = next(
            (index for index, run in enumerate(self._runs) if same_run(run, self._current)), 0
        )
        runs.focus()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._runs[event.option_index])

    def action_down(self) -> None:
        self.query_one("#runs", OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one("#runs", OptionList).action_cursor_up()


def _made(run: Run) -> str:
    return " · ".join(filter(None, (run.dtype, run.encoded)))


def run_words(run: Run, *, audits: bool = False) -> Content:
    """Return two lines with a run's settings and number of answers. `audits` adds its audit."""
    is_scored = run.sampling.mode == EXACT
    persona = (f"persona {run.persona_name or NONE}",) if run.personas else ()
    audit = (registry.audit_title(run.audit),) if audits else ()
    settings = (*persona, *audit, run.instrument, str(run.sampling), *run.asked_with)
    occasion = (f"asked anew {run.occasion}",) if run.occasion else ()
    answers = f"{run.responses:,} {'prompts scored' if is_scored else 'answers'}"
    details = (
        answers,
        *filter(None, (_made(run),)),
        run.version,
        *occasion,
        f"last {run.last[:16].replace('T', ' ')} UTC",
    )
    return Content.assemble(
        (visible(run.model), "bold"),
        f" · {visible(' · '.join(settings))}\n",
        (f"  {visible(' · '.join(details))}", "dim"),
    )


def same_run(a: Run, b: Run) -> bool:
    """Return whether two runs have the same model, sampling, instrument and family of templates.

    The numbers of their answers may differ.
    """
    return (a.design_key, a.family) == (b.design_key, b.family)


__all__ = [
    "ChoicesScreen",
    "RunsScreen",
    "form",
    "has_lines",
    "same_run",
    "with_choice",
    "with_next_number",
]
