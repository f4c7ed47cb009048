"""The options of any audit that have no key on its screen, whose readings count, and which models
or run.
"""

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
from workbench.options.schema import Declared
from workbench.tui.kit.dialogs import RADIO, TICK
from workbench.tui.results.loaded import Offers, Settings

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

NOTHING_OFFERED = Offers()
READER, MODEL, FINGERPRINTS = "reader", "model", "fingerprints"


class ChoicesScreen(ModalScreen[Settings | None]):
    """How answers are judged; dismisses the settings, or None where nothing is to change."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True),
        Binding("space", "choose", "Choose"),
        Binding("left", "step(-1)", "Less"),
        Binding("right", "step(1)", "More"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
        Binding("escape,q", "dismiss(None)", "Cancel"),
    ]

    choices = query_one("#choices", OptionList)

    def __init__(self, audit: Audit, settings: Settings, offers: Offers) -> None:
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
        """Choose what is under the cursor."""
        at = self.choices.highlighted
        if at is not None:
            self._take(
                picked(self.settings, str(self.choices.get_option_at_index(at).id), self._offers),
                at,
            )

    def action_step(self, step: int) -> None:
        """Change the number under the cursor."""
        at = self.choices.highlighted
        if at is not None:
            self._take(
                stepped(
                    self.settings, str(self.choices.get_option_at_index(at).id), step, self._offers
                ),
                at,
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
                Content.styled(words, "" if name else "$text-muted"),
                id=name or None,
                disabled=not name,
            )
            for name, words in form(self._audit, self.settings, self._offers)
        )
        self.choices.highlighted = at


def has_lines(audit: Audit) -> bool:
    """Return whether an audit has options to choose here."""
    return bool(audit.readers or _unkeyed(audit))


def form(audit: Audit, settings: Settings, offers: Offers) -> Iterator[tuple[str, str]]:
    """Yield the lines of the form: what a line chooses (nothing for a heading), and its words."""
    for reader in audit.readers:
        there = offers.names.get(READER, {})
        chosen = settings.readings.by or next(iter(there), "")
        yield "", _heading(reader)
        yield from _names(READER, there, chosen)
    for name, one in _unkeyed(audit).items():
        yield from _lines(name, one, getattr(settings.options, name), offers)
    if len(offers.models) > 1:
        yield "", "Models"
        yield from _ticks(
            MODEL, {name: name for name in offers.models}, settings.models or offers.models
        )
    if offers.fingerprints:
        told_apart = TICK[settings.fingerprint == EACH]
        yield f"{FINGERPRINTS}:", f" {told_apart} a separate result for each system_fingerprint"


def _unkeyed(audit: Audit) -> dict[str, Declared]:
    return {name: one for name, one in audit.options.offered().items() if not one.key}


def _heading(one: Option) -> str:
    return f"{one.help[:1].upper()}{one.help[1:]}"


def _lines(name: str, one: Declared, value: Any, offers: Offers) -> Iterator[tuple[str, str]]:
    """Yield the lines of one option; none for a text that nothing is offered for."""
    of = offers.names.get(name) or one.option.choices
    choices = of if isinstance(of, Mapping) else {each: each for each in of}
    if one.option.type is Type.FLAG:
        yield f"{name}:", f" {TICK[value]} {one.option.help}"
    elif isinstance(value, tuple):
        yield "", _heading(one.option)
        yield from _ticks(
            name, {each: in_words(each) for step in one.steps for each in step}, value
        )
    elif choices:
        yield "", _heading(one.option)
        yield from _names(name, choices, value)
    elif one.option.type in (Type.WHOLE, Type.NUMBER):
        there = offers.steps.get(name)
        if value is None and not there:
            yield f"{name}:", f" ← {one.option.none} → {one.option.help}"
            return
        usual = f" ({one.option.none})" if value is None else ""
        value = there[0] if value is None and there else value
        shown = f"{value:,}" if one.option.type is Type.WHOLE else f"{value:g}"
        yield f"{name}:", f" ← {shown} → {one.option.help}{usual}"


def _names(name: str, there: Mapping[str, str], chosen: object) -> Iterator[tuple[str, str]]:
    for value, words in there.items():
        yield f"{name}:{value}", f" {RADIO[value == chosen]} {visible(words)}"


def _ticks(name: str, there: Mapping[str, str], chosen: Sequence[str]) -> Iterator[tuple[str, str]]:
    for value, words in there.items():
        yield f"{name}:{value}", f" {TICK[value in chosen]} {visible(words)}"


def picked(settings: Settings, line: str, offers: Offers) -> Settings | str:
    """Return the settings after a line of the form was chosen, or why it cannot be: of a number,
    the usual one. One model at least stays chosen.
    """
    what, _, name = line.partition(":")
    if what == READER:
        usual = name == next(iter(offers.names[READER])) and settings.readings.by is None
        return (
            settings if usual else replace(settings, readings=replace(settings.readings, by=name))
        )
    if what == MODEL:
        ticked = set(settings.models or offers.models) ^ {name}
        models = tuple(one for one in offers.models if one in ticked) or settings.models
        return replace(settings, models=() if models == offers.models else models)
    if what == FINGERPRINTS:
        return replace(settings, fingerprint=None if settings.fingerprint == EACH else EACH)
    one = settings.options.offered()[what]
    value = getattr(settings.options, what)
    if one.option.type is Type.FLAG:
        return _with(settings, what, not value)
    if isinstance(value, tuple):
        every = (each for step in one.steps for each in step)
        return _with(
            settings, what, tuple(each for each in every if (each in value) != (each == name))
        )
    return (
        _with(settings, what, one.read(name))
        if name
        else replace(settings, options=settings.options.usual([what]))
    )


def stepped(
    settings: Settings, line: str, step: int, offers: Offers = NOTHING_OFFERED
) -> Settings | str:
    """Return the settings after a number of the form was changed; its ends are where it stops."""
    what, _, name = line.partition(":")
    one = settings.options.offered().get(what)
    if name or one is None or one.option.type not in (Type.WHOLE, Type.NUMBER):
        return settings
    value = getattr(settings.options, what)
    if there := offers.steps.get(what):
        return _with(
            settings, what, _next(sorted(there), there[0] if value is None else value, step)
        )
    if one.steps:
        return _with(settings, what, _next(one.steps, value, step))
    least = int(one.option.least or 0)
    return _with(settings, what, least if value is None else value + step)


def _with(settings: Settings, name: str, value: Any) -> Settings | str:
    try:
        return replace(settings, options=settings.options.but(**{name: value}))
    except WorkbenchError as error:
        return str(error)


def _next(values: Sequence[Any], value: Any, step: int) -> Any:
    """Return a neighbour in a list; its ends are where it stops."""
    at = values.index(value) if value in values else 0
    return values[max(0, min(len(values) - 1, at + step))]


class RunsScreen(ModalScreen["Run | None"]):
    """Whose answers are judged; dismisses a run, or None."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Cancel"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, runs: Sequence[Run], current: Run) -> None:
        super().__init__()
        self._runs, self._current = tuple(runs), current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Choose the answers"
            dialog.border_subtitle = "Enter choose · Esc cancel"
            audits = len({run.audit for run in self._runs}) > 1
            yield OptionList(
                *(Line(run_words(run, audits=audits)) for run in self._runs),
                id="runs",
                markup=False,
            )

    def on_mount(self) -> None:
        runs = self.query_one("#runs", OptionList)
        runs.highlighted = next(
            (n for n, run in enumerate(self._runs) if same_run(run, self._current)), 0
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
    """Return two lines: whose answers, and how many; `audits`: to the prompts of which audit,
    too.
    """
    scored = run.sampling.mode == EXACT
    persona = (f"persona {run.persona_name or NONE}",) if run.personas else ()
    audit = (registry.audit_title(run.audit),) if audits else ()
    asked = (*persona, *audit, run.instrument, str(run.sampling), *run.asked_with)
    anew = (f"asked anew {run.occasion}",) if run.occasion else ()
    answers = f"{run.responses:,} {'prompts scored' if scored else 'answers'}"
    details = (
        answers,
        *filter(None, (_made(run),)),
        run.version,
        *anew,
        f"last {run.last[:16].replace('T', ' ')} UTC",
    )
    return Content.assemble(
        (visible(run.model), "bold"),
        f" · {visible(' · '.join(asked))}\n",
        (f"  {visible(' · '.join(details))}", "dim"),
    )


def same_run(a: Run, b: Run) -> bool:
    """Return whether two runs are of the same model, sampling, instrument and family of templates,
    however many answers they have.
    """
    return (a.way, a.family) == (b.way, b.family)


__all__ = ["ChoicesScreen", "RunsScreen", "form", "has_lines", "picked", "same_run", "stepped"]
