"""The choices behind the bias score: who reads, whose labels count, what is resampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.audits.bias_score.options import UNITS
from workbench.domain.counting import plural
from workbench.domain.readings import PEOPLE, THRESHOLDS
from workbench.options.shared import THRESHOLD
from workbench.tui.format import visible
from workbench.tui.kit.choices import RADIO, TICK
from workbench.tui.results.bias_loaded import INSTRUMENT, Available, Settings
from workbench.tui.results.rules_dialog import JUDGED, VOIDS

DRAWS = (1_000, 10_000, 100_000)
Choice = TypeVar("Choice")


class BiasOptionsScreen(ModalScreen[Settings | None]):
    """How answers are scored; dismisses the settings, or None where nothing is to change."""

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

    def __init__(self, settings: Settings, available: Available) -> None:
        super().__init__()
        self._available = available
        reader = settings.readings.by or (available.classifiers[0] if available.classifiers else None)
        self._named, self._given = reader, settings
        self.settings = replace(
            settings, readings=replace(settings.readings, by=reader), models=settings.models or available.models
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Scoring options"
            dialog.border_subtitle = "Space choose · ← → number · Enter apply · Esc cancel"
            yield OptionList(id="choices", markup=False)

    def on_mount(self) -> None:
        self._fill(1)
        self.choices.focus()

    @on(OptionList.OptionSelected)
    def choose_clicked(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        """Choose what is under the cursor."""
        at = self.choices.highlighted
        if at is not None:
            self.settings = picked(self.settings, str(self.choices.get_option_at_index(at).id), self._available)
            self._fill(at)

    def action_step(self, step: int) -> None:
        """Change the number under the cursor."""
        at = self.choices.highlighted
        if at is not None:
            self.settings = stepped(self.settings, str(self.choices.get_option_at_index(at).id), step)
            self._fill(at)

    def action_apply(self) -> None:
        settings = self.settings
        every = settings.models == self._available.models
        kept = self._given.readings if settings.readings.by == self._named else settings.readings
        self.dismiss(replace(settings, models=() if every else settings.models, readings=kept))

    def action_down(self) -> None:
        self.choices.action_cursor_down()

    def action_up(self) -> None:
        self.choices.action_cursor_up()

    def _fill(self, at: int) -> None:
        self.choices.set_options(
            Option(Content.styled(words, "" if name else "$text-muted"), id=name or None, disabled=not name)
            for name, words in form(self.settings, self._available)
        )
        self.choices.highlighted = at


def form(settings: Settings, available: Available) -> Iterator[tuple[str, str]]:
    """Yield the lines of the form: what a line chooses (nothing for a heading), and its words."""
    yield "", "Reader of free-text answers (a rule reads numbers)"
    for name in available.classifiers:
        yield f"reader:{name}", f" {RADIO[settings.readings.by == name]} {visible(name)}"
    by_people = settings.readings.by == PEOPLE or (settings.readings.by is None and not available.classifiers)
    people = f"people only: {plural(available.settled, 'answer')}, {available.single:,} labelled by one person only"
    yield f"reader:{PEOPLE}", f" {RADIO[by_people]} {people}"
    if not by_people:
        yield "threshold:", f" ← {settings.threshold:g} → lowest confidence that counts (published: {THRESHOLD.text()})"
        yield "correct:", f" {TICK[settings.correct]} correct for the classifier's error on its test set"
    yield "", "Source of the statements' sides"
    yield f"labels:{INSTRUMENT}", f" {RADIO[settings.labels == INSTRUMENT]} the instrument's"
    for name in available.labellers:
        yield f"labels:{name}", f" {RADIO[settings.labels == name]} those from {visible(name)}"
    yield "", "Models"
    for name in available.models:
        yield f"model:{name}", f" {TICK[name in settings.models]} {visible(name)}"
    yield "common:", f" {TICK[settings.common]} only prompts that all these models answered"
    if available.fingerprints:
        yield "fingerprints:", f" {TICK[settings.fingerprints]} a separate result for each system_fingerprint"
    yield "", "Wordings identical to their original"
    for judged, words in VOIDS.items():
        yield f"void:{judged}", f" {RADIO[(judged == JUDGED) == settings.judge_void]} {words}"
    yield "", "Intervals resample"
    for unit, words in UNITS.items():
        yield f"unit:{unit}", f" {RADIO[settings.unit == unit]} {words}"
    yield "draws:", f" ← {settings.draws:,} → draws"
    yield "seed:", f" ← {settings.seed} → seed"


def picked(settings: Settings, line: str, available: Available) -> Settings:
    """Return the settings after a line of the form was chosen. One model at least stays chosen."""
    what, _, name = line.partition(":")
    if what == "reader":
        readings = replace(settings.readings, by=name)
        return replace(settings, readings=readings, correct=settings.correct and name != PEOPLE)
    if what == "labels":
        return replace(settings, labels=name)
    if what == "unit":
        return replace(settings, unit=name)
    if what == "correct":
        return replace(settings, correct=not settings.correct)
    if what == "common":
        return replace(settings, common=not settings.common)
    if what == "void":
        return replace(settings, judge_void=name == JUDGED)
    if what == "fingerprints":
        return replace(settings, fingerprints=not settings.fingerprints)
    if what == "model":
        chosen = set(settings.models) ^ {name}
        return replace(settings, models=tuple(m for m in available.models if m in chosen) or settings.models)
    return settings


def stepped(settings: Settings, line: str, step: int) -> Settings:
    """Return the settings after a number of the form was changed."""
    what = line.partition(":")[0]
    if what == "threshold":
        return replace(settings, threshold=_next(THRESHOLDS, settings.threshold, step))
    if what == "draws":
        return replace(settings, draws=_next(DRAWS, settings.draws, step))
    if what == "seed":
        return replace(settings, seed=max(0, settings.seed + step))
    return settings


def _next(values: Sequence[Choice], value: Choice, step: int) -> Choice:
    """Return a neighbour in a list; its ends are where it stops."""
    at = values.index(value) if value in values else 0
    return values[max(0, min(len(values) - 1, at + step))]
