"""The choice of languages, personas, families and versions of the templates of figures."""

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
"number of families and versions that a heading names"


@dataclass(frozen=True, slots=True)
class PromptChoices:
    """The available choices among the prompts of some runs."""

    families: tuple[str, ...] = ()
    "families of the prompts"
    versions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    "versions of each template with several"
    languages: tuple[str, ...] = ()
    "languages of the prompts"
    personas: tuple[str, ...] = ()
    "personas before prompts, after `none`, or empty if no prompt had one"

    def __bool__(self) -> bool:
        return (
            len(self.families) > 1
            or bool(self.versions)
            or len(self.languages) > 1
            or bool(self.personas)
        )


def offer_of(runs: Iterable[Run]) -> PromptChoices:
    """Return the available choices among the prompts of runs."""
    families: dict[str, None] = {}
    languages: dict[str, None] = {}
    personas: dict[str, None] = {}
    versions: dict[str, set[int]] = {}
    for run in runs:
        languages |= dict.fromkeys((*run.languages, run.language))
        families |= dict.fromkeys(run.families)
        personas |= dict.fromkeys(run.personas)
        for template_version in run.versions:
            versions.setdefault(template_version.name, set()).update(
                {template_version.version, *template_version.others} - {0}
            )
    versions_by_name = {
        name: tuple(sorted(numbers))
        for name, numbers in sorted(versions.items())
        if len(numbers) > 1
    }
    return PromptChoices(
        tuple(families), versions_by_name, tuple(languages), (NONE, *personas) if personas else ()
    )


def heading(runs: Iterable[Run], families: str = "T") -> list[str]:
    """Return the languages, families and versions of figures, as parts of a heading.

    The list is empty if there are no others. `families` is the key that chooses a language or a
    family.
    """
    all_runs = tuple(runs)
    persona_parts = [f"persona {run.persona_name or NONE}" for run in all_runs if run.personas]
    parts = list(
        dict.fromkeys([*persona_parts, *(part for run in all_runs for part in run.asked_with)])
    )
    more_text = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    offer = offer_of(all_runs)
    has_choice = len(offer.families) > 1 or len(offer.languages) > 1 or bool(offer.personas)
    keys = [families] if has_choice else []
    if offer.versions:
        keys.append("T")
    keys_text = f" ({' and '.join(dict.fromkeys(keys))}: others)" if keys else ""
    return [visible(", ".join(parts[:SHOWN])) + more_text + keys_text] if parts else []


def templates_for(run: Run, chosen: TemplateChoice) -> TemplateChoice:
    """Return a choice of templates that includes a run, changed only where needed.

    `chosen` without families means those that were asked last.
    """
    families = (
        chosen.families if run.family in (chosen.families or run.families[-1:]) else (run.family,)
    )
    has_language = not chosen.languages or run.language in chosen.languages
    persona = run.persona_name or NONE
    personas = chosen.personas if {persona, EVERY} & set(chosen.personas or (NONE,)) else (persona,)
    return TemplateChoice(
        families, chosen.versions, chosen.languages if has_language else (run.language,), personas
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
    """A dialog for the languages and templates that count. It returns the choice, or None."""

    CSS_PATH = "choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True, tooltip="Apply the choices"),
        Binding("space", "choose", "Choose", tooltip="Choose what is under the cursor"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
        Binding("escape,q", "dismiss(None)", "Cancel", tooltip="Close without changing anything"),
    ]

    choices = query_one("#choices", OptionList)

    def __init__(self, offer: PromptChoices, choice: TemplateChoice) -> None:
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
        """Choose the line under the cursor."""
        row = self.choices.highlighted
        if row is not None:
            self.choice = with_choice(
                self.choice, str(self.choices.get_option_at_index(row).id), self._offer
            )
            self._fill(row)

    def action_apply(self) -> None:
        self.dismiss(self.choice)

    def action_down(self) -> None:
        self.choices.action_cursor_down()

    def action_up(self) -> None:
        self.choices.action_cursor_up()

    def _fill(self, at: int) -> None:
        self.choices.set_options(
            Option(
                Content.styled(visible(text), "" if name else "$text-muted"),
                id=name or None,
                disabled=not name,
            )
            for name, text in form(self.choice, self._offer)
        )
        self.choices.highlighted = at


def form(choice: TemplateChoice, offer: PromptChoices) -> Iterator[tuple[str, str]]:
    """Yield the id of each line of the form, which is empty for a heading, and its text."""
    if len(offer.languages) > 1:
        yield "", f"{LINES[LANGUAGE]}; each choice has its own result"
        yield f"{LANGUAGE}:", f" {TICK[not choice.languages]} all"
        yield from (
            (f"{LANGUAGE}:{index}", f" {TICK[language in choice.languages]} {language}")
            for index, language in enumerate(offer.languages)
        )
    if offer.personas:
        yield "", f"{LINES[PERSONA]}; of several, each is a result of its own"
        current_personas = choice.personas or (NONE,)
        yield from (
            (
                f"{PERSONA}:{index}",
                f" {TICK[EVERY in current_personas or name in current_personas]} {name}",
            )
            for index, name in enumerate(offer.personas)
        )
    families, versions = offer.families, offer.versions
    if len(families) > 1:
        yield "", f"{LINES[FAMILY]}; each choice has its own result"
        yield f"{FAMILY}:", f" {TICK[not choice.families]} the most recently asked"
        yield from (
            (f"{FAMILY}:{index}", f" {TICK[family in choice.families]} {family}")
            for index, family in enumerate(families)
        )
    selected = dict(choice.versions)
    for template_index, (name, numbers) in enumerate(versions.items()):
        yield "", f"{LINES[VERSION]} {name}"
        yield (
            f"{VERSION}:{template_index}:",
            f" {RADIO[name not in selected]} the current version, or the most recently asked",
        )
        yield from (
            (
                f"{VERSION}:{template_index}:{number}",
                f" {RADIO[selected.get(name) == number]} version {number}",
            )
            for number in numbers
        )


def with_choice(choice: TemplateChoice, line: str, offer: PromptChoices) -> TemplateChoice:
    """Return the choice after a line of the form was chosen."""
    line_kind, _, value = line.partition(":")
    if line_kind == LANGUAGE:
        return replace(choice, languages=_toggled(choice.languages, offer.languages, value))
    if line_kind == PERSONA:
        current_personas = (
            offer.personas if EVERY in choice.personas else choice.personas or (NONE,)
        )
        return replace(choice, personas=_toggled(current_personas, offer.personas, value))
    if line_kind == FAMILY:
        return replace(choice, families=_toggled(choice.families, offer.families, value))
    template_index, _, number = value.partition(":")
    name = list(offer.versions)[int(template_index)]
    others = tuple(
        template_version for template_version in choice.versions if template_version[0] != name
    )
    return replace(choice, versions=(*others, (name, int(number))) if number else others)


def _toggled(chosen: Sequence[str], offered: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the selection after the line at an index was toggled, or none without an index."""
    selected = {offered[int(place)]} ^ set(chosen) if place else set()
    return tuple(name for name in offered if name in selected)
