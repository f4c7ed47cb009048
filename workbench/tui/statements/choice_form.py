"""Forms of multiple-choice questions: what is wanted above, what was made below; nothing enters unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Checkbox, Input, Label, Select, Static

from workbench.domain.choices import Bias, Perturbation
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.help.sections import section
from workbench.options.shared import SEED
from workbench.tui.kit.edit_form import row
from workbench.tui.kit.previewed_form import PreviewedForm
from workbench.tui.statements.choice_form_format import outlook
from workbench.tui.statements.choice_form_format import preview as lines_of
from workbench.tui.widgets.ticks import Tick
from workbench.workshop.options import ERRORS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.choice_forms import Proposals, Wanted
    from workbench.pipeline.editing import Done

OWN, NONE = "own", "none"
MAKES = {
    "the changed form of the question's bias": OWN,
    "a pair for response order: reverse the options": Bias.RESPONSE_ORDER.value,
    "a pair for opinion float: add a last option": Bias.OPINION_FLOAT.value,
    "a pair for odd/even: remove the middle option": Bias.ODD_EVEN.value,
    "no changed form: typos only": NONE,
}

EXPLAIN = section("screens-statements", "Forms of multiple-choice questions")


@dataclass(frozen=True, slots=True)
class FormTyped:
    """The form as it was typed."""

    make: str
    errors: tuple[str, ...]
    draws: str
    seed: str
    middle: str
    dont_know: str
    replace: bool


class ChoiceForm(PreviewedForm):
    """Makes forms of questions; dismisses what was done, or None."""

    HEADING = "Make forms"
    SAVE = "Accept"
    EXPLAIN = EXPLAIN
    FIRST = "#make"

    _preview: Proposals | None

    def __init__(self, instrument: str, refs: tuple[str, ...], language: str) -> None:
        super().__init__(instrument, refs)
        self._language = language
        of = refs[0] if len(refs) == 1 else plural(len(refs), "question")
        self.HEADING = f"Make forms of {of}"

    def compose_fields(self) -> ComposeResult:
        yield row("form", Select(list(MAKES.items()), id="make", value=OWN, allow_blank=False, compact=True))
        with Horizontal(classes="row ticks"):
            yield Label("errors", classes="name")
            for kind in Perturbation:
                yield Tick(kind.value.replace("_", " "), id=kind.value, compact=True)
        with Horizontal(classes="row"):
            yield Label("draws", classes="name")
            yield Input("1", id="draws", compact=True)
            yield Label("seed", classes="name -short")
            yield Input(SEED.text(), id="seed", compact=True)
        with Horizontal(classes="row"):
            yield Label("middle", classes="name")
            yield Input(id="middle", compact=True, placeholder="of scales of four")
            yield Label("don't know", classes="name -short")
            yield Input(id="dont_know", compact=True, placeholder="Don't know")
        with Horizontal(classes="row ticks"):
            yield Label("", classes="name")
            yield Tick("replace existing forms that differ", id="replace", compact=True)
        with VerticalScroll(id="made"):
            yield Static(id="preview", markup=False)

    def values(self) -> FormTyped:
        return FormTyped(
            make=self.chosen("make"),
            errors=tuple(kind.value for kind in Perturbation if self.query_one(f"#{kind.value}", Tick).value),
            draws=self.typed("draws"),
            seed=self.typed("seed"),
            middle=self.typed("middle").strip(),
            dont_know=self.typed("dont_know").strip(),
            replace=self.query_one("#replace", Tick).value,
        )

    @property
    def dirty(self) -> bool:
        """Nothing is lost by leaving: what was made can be made again."""
        return False

    def fault(self) -> str:
        try:
            wanted_of(self.values(), self._language)
        except UsageError as error:
            return str(error)
        return ""

    @on(Checkbox.Changed)
    def tick_changed(self) -> None:
        self.looked_at()

    def work_out(self, store: Store, typed: FormTyped) -> Proposals:
        from workbench.pipeline.choice_forms import propose

        return propose(store, self._instrument, self._refs, wanted_of(typed, self._language))

    def show_outcome(self, typed: FormTyped, preview: Proposals) -> None:
        self.draw(list(lines_of(preview)))
        meanwhile = "Somebody changed a question; the preview uses its current text. " if self._refused else ""
        self.say(f"{meanwhile}{outlook(preview, replace=typed.replace)}", wrong=self._refused)

    def action_save(self) -> None:
        """Write what is shown. While it is being worked out there is nothing to accept."""
        if self.fault():
            super().action_save()
        elif self._preview is None:
            self.preview_now()
        elif any(one.held is None or self.values().replace for one in self._preview.made):
            super().action_save()

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.choice_forms import accept

        typed: FormTyped = values
        if self._preview is None:
            raise UsageError("the preview is not ready yet")
        return accept(store, self._preview, person=person, replace=typed.replace)


def wanted_of(typed: FormTyped, language: str) -> Wanted:
    """Return what the form asks for. Raises UsageError, naming the field."""
    from workbench.pipeline.choice_forms import Wanted
    from workbench.workshop.choice_forms import DONT_KNOW

    if typed.make == NONE and not typed.errors:
        raise UsageError("nothing to make: choose a form, or tick typos")
    return Wanted(
        bias=Bias(typed.make) if typed.make not in (OWN, NONE) else None,
        own=typed.make == OWN,
        perturbations=tuple(map(Perturbation, typed.errors)),
        draws=ERRORS.needed(typed.draws),
        seed=SEED.needed(typed.seed),
        middle=typed.middle if typed.middle and typed.make in (OWN, Bias.ODD_EVEN) else None,
        dont_know=typed.dont_know or DONT_KNOW,
        language=language,
    )
