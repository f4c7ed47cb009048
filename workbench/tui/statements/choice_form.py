"""The form that makes changed forms of multiple-choice questions, with a preview of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Checkbox, Input, Label, Select, Static

from workbench.domain.choices import Bias, Choice, Perturbation, parse_choice
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.options.shared import SEED
from workbench.tui.format import TextPart
from workbench.tui.kit.edit_form import PreviewedForm, row
from workbench.tui.statements.statement_format import MARK_STYLES, difference, marked, variant_name
from workbench.tui.widgets.fields import Tick
from workbench.workshop.choice_forms import OptionLine, option_lines, word_pairs
from workbench.workshop.options import ERRORS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.choice_forms import Proposals, ProposedWording, RequestedForms
    from workbench.pipeline.editing import Done

SHOWN = 40
"maximum number of forms that a preview shows; all of them are counted and written"


def outlook(proposals: Proposals, *, replace: bool) -> str:
    """Return a line that describes the effect of accepting."""
    writable = [proposal for proposal in proposals.made if replace or proposal.held is None]
    description = proposals.describe().split("\n")[0]
    if writable:
        return f"{description}. F5 writes {plural(len(writable), 'wording')}."
    return f"{description}: tick replace to write them." if proposals.made else f"{description}."


def preview_text(proposals: Proposals) -> Iterator[Content]:
    """Yield the lines of the forms that were made, and of those that cannot be made."""
    for proposal in proposals.made[:SHOWN]:
        yield _heading(proposal)
        yield from _form(proposal.before, proposal.text)
        yield from (
            Content.styled(f"▲ {visible(remark)}", "$text-warning") for remark in proposal.remarks
        )
    if len(proposals.made) > SHOWN:
        yield Content.styled(f"… and {len(proposals.made) - SHOWN:,} more", "$text-muted")
    for sentence in proposals.describe().split("\n")[1:]:
        yield Content.styled(f"– {visible(sentence)}", "$text-muted")


def side_by_side(before: str, after: str) -> tuple[Content, Content] | None:
    """Return two forms of a question with their differences, or None if one has no options."""
    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        return None
    removed, added = difference(old.stem, new.stem)
    options = [
        Content(f"  {letter.upper()}. {visible(text)}")
        for letter, text in zip(old.letters, old.options, strict=True)
    ]
    separator = Content("\n")
    return separator.join([marked(removed, "−"), *options]), separator.join(
        [marked(added, "+"), *map(_option, option_lines(old, new))]
    )


def _heading(one: ProposedWording) -> Content:
    """Return the heading with the destination of a form."""
    new_note = f"  new, from {visible(one.of)}" if one.of and one.variant == ORIGINAL else ""
    replace_note = "  ▲ differs from the existing text" if one.held is not None else ""
    return Content.assemble(
        (f"{visible(one.ref)} · {variant_name(one.variant)}", "bold"),
        (new_note, "$text-muted"),
        (replace_note, "$text-warning"),
    )


def _form(before: str, after: str) -> Iterator[Content]:
    """Yield a form with its differences.

    Options are left out if all are unchanged and the stem differs.
    """
    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        yield Content(visible(after, lines=True))
        return
    yield from _stem(old.stem, new.stem)
    if old.options != new.options or old == new:
        yield from map(_option, option_lines(old, new))


def _stem(before: str, after: str) -> Iterator[Content]:
    if before == after:
        yield Content(visible(after, lines=True))
        return
    if pairs := word_pairs(before, after):
        yield Content(" ").join([_word(old, new) for old, new in pairs])
        return
    removed, added = difference(before, after)
    yield marked(removed, "−")
    yield marked(added, "+")


def _word(old: str, new: str) -> Content:
    """Return a word, with its earlier spelling if an error was put into it."""
    if old == new:
        return Content(visible(new, lines=True))
    return Content(" ").join(
        [marked((TextPart(text, True),), mark) for text, mark in ((old, "−"), (new, "+"))]
    )


def _option(line: OptionLine) -> Content:
    """Return an option with its change."""
    text = f"{line.letter}. {visible(line.text)}"
    if line.mark in MARK_STYLES:
        return Content.assemble((f"{line.mark} ", "dim"), (text, MARK_STYLES[line.mark]))
    return Content.assemble(f"  {text}", (f"  ({line.mark})" if line.mark else "", "$text-accent"))


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
    """The input of the form."""

    make: str
    errors: tuple[str, ...]
    draws: str
    seed: str
    middle: str
    dont_know: str
    replace: bool


class ChoiceForm(PreviewedForm):
    """A form that makes forms of questions. It returns the result, or None."""

    HEADING = "Make forms"
    SAVE = "Accept"
    EXPLAIN = EXPLAIN
    FIRST = "#make"

    _preview: Proposals | None

    def __init__(self, instrument: str, refs: tuple[str, ...], language: str) -> None:
        super().__init__(instrument, refs)
        self._language = language
        subject = refs[0] if len(refs) == 1 else plural(len(refs), "question")
        self.HEADING = f"Make forms of {subject}"

    def compose_fields(self) -> ComposeResult:
        yield row(
            "form",
            Select(list(MAKES.items()), id="make", value=OWN, allow_blank=False, compact=True),
        )
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
            errors=tuple(
                kind.value for kind in Perturbation if self.query_one(f"#{kind.value}", Tick).value
            ),
            draws=self.typed("draws"),
            seed=self.typed("seed"),
            middle=self.typed("middle").strip(),
            dont_know=self.typed("dont_know").strip(),
            replace=self.query_one("#replace", Tick).value,
        )

    @property
    def dirty(self) -> bool:
        """Always False, because the forms can be made again."""
        return False

    def input_fault(self) -> str:
        try:
            wanted_of(self.values(), self._language)
        except UsageError as error:
            return str(error)
        return ""

    @on(Checkbox.Changed)
    def tick_changed(self) -> None:
        self.input_changed()

    def work_out(self, store: Store, typed: FormTyped) -> Proposals:
        from workbench.pipeline.choice_forms import propose

        return propose(store, self._instrument, self._refs, wanted_of(typed, self._language))

    def show_outcome(self, typed: FormTyped, preview: Proposals) -> None:
        self.draw(list(preview_text(preview)))
        conflict_note = (
            "Somebody changed a question; the preview uses its current text. "
            if self._refused
            else ""
        )
        self.say(f"{conflict_note}{outlook(preview, replace=typed.replace)}", wrong=self._refused)

    def action_save(self) -> None:
        """Write the forms of the preview. If it is not ready, compute it first."""
        if self.input_fault():
            super().action_save()
        elif self._preview is None:
            self.preview_now()
        elif any(proposal.held is None or self.values().replace for proposal in self._preview.made):
            super().action_save()

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.choice_forms import accept

        typed: FormTyped = values
        if self._preview is None:
            raise UsageError("the preview is not ready yet")
        return accept(store, self._preview, person=person, replace=typed.replace)


def wanted_of(typed: FormTyped, language: str) -> RequestedForms:
    """Return the request of a form. Raises UsageError that names the field."""
    from workbench.pipeline.choice_forms import RequestedForms
    from workbench.workshop.choice_forms import DONT_KNOW

    if typed.make == NONE and not typed.errors:
        raise UsageError("nothing to make: choose a form, or tick typos")
    return RequestedForms(
        bias=Bias(typed.make) if typed.make not in (OWN, NONE) else None,
        own=typed.make == OWN,
        perturbations=tuple(map(Perturbation, typed.errors)),
        draws=ERRORS.needed(typed.draws),
        seed=SEED.needed(typed.seed),
        middle=typed.middle if typed.middle and typed.make in (OWN, Bias.ODD_EVEN) else None,
        dont_know=typed.dont_know or DONT_KNOW,
        language=language,
    )
