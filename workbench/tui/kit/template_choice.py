"""Which language and family of templates figures are about, and which versions of templates that
were edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.domain.prompts import NONE, TemplateChoice
from workbench.figures.visible import visible
from workbench.formats.personas import EVERY
from workbench.tui.kit.dialogs import RADIO, TICK

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

SHOWN = 3
"families and versions that a heading names"


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from."""

    families: tuple[str, ...] = ()
    "that were asked"
    versions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    "of each template that was asked in several"
    languages: tuple[str, ...] = ()
    "that were asked"
    personas: tuple[str, ...] = ()
    "that stood before prompts, after `none`; empty: none did"

    def __bool__(self) -> bool:
        return (
            len(self.families) > 1
            or bool(self.versions)
            or len(self.languages) > 1
            or bool(self.personas)
        )


def offered(runs: Iterable[Run]) -> Offer:
    """Return what there is to choose from."""
    families: dict[str, None] = {}
    languages: dict[str, None] = {}
    personas: dict[str, None] = {}
    versions: dict[str, set[int]] = {}
    for run in runs:
        languages |= dict.fromkeys((*run.languages, run.language))
        families |= dict.fromkeys(run.families)
        personas |= dict.fromkeys(run.personas)
        for one in run.versions:
            versions.setdefault(one.name, set()).update({one.version, *one.others} - {0})
    several = {
        name: tuple(sorted(numbers))
        for name, numbers in sorted(versions.items())
        if len(numbers) > 1
    }
    return Offer(tuple(families), several, tuple(languages), (NONE, *personas) if personas else ())


def heading(runs: Iterable[Run], families: str = "T") -> list[str]:
    """Return which languages, families and versions figures are about, where there are others, as a
    part of a heading.

    `families`: the key that chooses a language or a family.
    """
    every = tuple(runs)
    before = [f"persona {run.persona_name or NONE}" for run in every if run.personas]
    parts = list(dict.fromkeys([*before, *(part for run in every for part in run.asked_with)]))
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    offer = offered(every)
    several = len(offer.families) > 1 or len(offer.languages) > 1 or bool(offer.personas)
    keys = [families] * several + ["T"] * bool(offer.versions)
    others = f" ({' and '.join(dict.fromkeys(keys))}: others)" if keys else ""
    return [visible(", ".join(parts[:SHOWN])) + more + others] if parts else []


def templates_for(run: Run, chosen: TemplateChoice) -> TemplateChoice:
    """Return a choice of templates that shows a run: the one that is chosen, changed only where
    that leaves it out.

    `chosen` without families means those that were asked last.
    """
    families = (
        chosen.families if run.family in (chosen.families or run.families[-1:]) else (run.family,)
    )
    spoken = not chosen.languages or run.language in chosen.languages
    persona = run.persona_name or NONE
    before = chosen.personas if {persona, EVERY} & set(chosen.personas or (NONE,)) else (persona,)
    return TemplateChoice(
        families, chosen.versions, chosen.languages if spoken else (run.language,), before
    )


TEMPLATES_KEY = Binding(
    "T",
    "templates",
    "Templates",
    show=False,
    tooltip="Choose the language, the family and versions of templates",
)
LANGUAGE, PERSONA, FAMILY, VERSION = "language", "persona", "family", "version"
LINES = {
    LANGUAGE: "Language",
    PERSONA: "Persona before the prompts",
    FAMILY: "Family of templates",
    VERSION: "Version of",
}


class TemplatesScreen(ModalScreen[TemplateChoice | None]):
    """Which languages and templates count; dismisses the choice, or None where nothing is to
    change.
    """

    CSS_PATH = "choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True),
        Binding("space", "choose", "Choose"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
        Binding("escape,q", "dismiss(None)", "Cancel"),
    ]

    choices = query_one("#choices", OptionList)

    def __init__(self, offer: Offer, choice: TemplateChoice) -> None:
        super().__init__()
        self._offer, self.choice = offer, choice

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Choose the answers that count"
            dialog.border_subtitle = "Space choose · Enter apply · Esc cancel"
            yield OptionList(id="choices", markup=False)

    def on_mount(self) -> None:
        self._fill(1)
        self.choices.focus()

    @on(OptionList.OptionSelected)
    def action_choose(self) -> None:
        """Choose what is under the cursor."""
        at = self.choices.highlighted
        if at is not None:
            self.choice = picked(
                self.choice, str(self.choices.get_option_at_index(at).id), self._offer
            )
            self._fill(at)

    def action_apply(self) -> None:
        self.dismiss(self.choice)

    def action_down(self) -> None:
        self.choices.action_cursor_down()

    def action_up(self) -> None:
        self.choices.action_cursor_up()

    def _fill(self, at: int) -> None:
        self.choices.set_options(
            Option(
                Content.styled(visible(words), "" if name else "$text-muted"),
                id=name or None,
                disabled=not name,
            )
            for name, words in form(self.choice, self._offer)
        )
        self.choices.highlighted = at


def form(choice: TemplateChoice, offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield the lines of the form: what a line chooses (nothing for a heading), and its words."""
    if len(offer.languages) > 1:
        yield "", f"{LINES[LANGUAGE]}; each choice has its own result"
        yield f"{LANGUAGE}:", f" {TICK[not choice.languages]} all"
        yield from (
            (f"{LANGUAGE}:{place}", f" {TICK[language in choice.languages]} {language}")
            for place, language in enumerate(offer.languages)
        )
    if offer.personas:
        yield "", f"{LINES[PERSONA]}; of several, each is a result of its own"
        chosen_of = choice.personas or (NONE,)
        yield from (
            (f"{PERSONA}:{place}", f" {TICK[EVERY in chosen_of or name in chosen_of]} {name}")
            for place, name in enumerate(offer.personas)
        )
    families, versions = offer.families, offer.versions
    if len(families) > 1:
        yield "", f"{LINES[FAMILY]}; each choice has its own result"
        yield f"{FAMILY}:", f" {TICK[not choice.families]} the most recently asked"
        yield from (
            (f"{FAMILY}:{place}", f" {TICK[family in choice.families]} {family}")
            for place, family in enumerate(families)
        )
    chosen = dict(choice.versions)
    for place, (name, numbers) in enumerate(versions.items()):
        yield "", f"{LINES[VERSION]} {name}"
        yield (
            f"{VERSION}:{place}:",
            f" {RADIO[name not in chosen]} the current version, or the most recently asked",
        )
        yield from (
            (
                f"{VERSION}:{place}:{number}",
                f" {RADIO[chosen.get(name) == number]} version {number}",
            )
            for number in numbers
        )


def picked(choice: TemplateChoice, line: str, offer: Offer) -> TemplateChoice:
    """Return the choice after a line of the form was chosen."""
    what, _, rest = line.partition(":")
    if what == LANGUAGE:
        return replace(choice, languages=_toggled(choice.languages, offer.languages, rest))
    if what == PERSONA:
        now = offer.personas if EVERY in choice.personas else choice.personas or (NONE,)
        return replace(choice, personas=_toggled(now, offer.personas, rest))
    if what == FAMILY:
        return replace(choice, families=_toggled(choice.families, offer.families, rest))
    place, _, number = rest.partition(":")
    name = list(offer.versions)[int(place)]
    others = tuple(one for one in choice.versions if one[0] != name)
    return replace(choice, versions=(*others, (name, int(number))) if number else others)


def _toggled(chosen: Sequence[str], offered: Sequence[str], place: str) -> tuple[str, ...]:
    """Return what is chosen after the line at a place was; no place: nothing in particular."""
    wanted = {offered[int(place)]} ^ set(chosen) if place else set()
    return tuple(name for name in offered if name in wanted)
