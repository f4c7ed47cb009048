"""Forms of multiple-choice questions: what is wanted above, what was made below; nothing enters
unseen.
"""

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
from workbench.tui.format import Part
from workbench.tui.kit.edit_form import PreviewedForm, row
from workbench.tui.statements.statement_format import MARK_STYLES, difference, marked, variant_name
from workbench.tui.widgets.fields import Tick
from workbench.workshop.choice_forms import OptionLine, option_lines, word_pairs
from workbench.workshop.options import ERRORS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.choice_forms import Proposal, Proposals, Wanted
    from workbench.pipeline.editing import Done

SHOWN = 40
"forms that a preview draws; all of them are counted, and written"


def outlook(proposals: Proposals, *, replace: bool) -> str:
    """Say in a line what accepting comes to."""
    ready = [one for one in proposals.made if replace or one.held is None]
    said = proposals.describe().split("\n")[0]
    if ready:
        return f"{said}. F5 writes {plural(len(ready), 'wording')}."
    return f"{said}: tick replace to write them." if proposals.made else f"{said}."


def preview_text(proposals: Proposals) -> Iterator[Content]:
    """Yield what was made, and what cannot be, as lines."""
    for one in proposals.made[:SHOWN]:
        yield _heading(one)
        yield from _form(one.before, one.text)
        yield from (
            Content.styled(f"▲ {visible(remark)}", "$text-warning") for remark in one.remarks
        )
    if len(proposals.made) > SHOWN:
        yield Content.styled(f"… and {len(proposals.made) - SHOWN:,} more", "$text-muted")
    for said in proposals.describe().split("\n")[1:]:
        yield Content.styled(f"– {visible(said)}", "$text-muted")


def side_by_side(before: str, after: str) -> tuple[Content, Content] | None:
    """Return two forms of a question with what differs; None where one of the texts is no question
    with options.
    """
    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        return None
    removed, added = difference(old.stem, new.stem)
    options = [
        Content(f"  {letter.upper()}. {visible(text)}")
        for letter, text in zip(old.letters, old.options, strict=True)
    ]
    lines = Content("\n")
    return lines.join([marked(removed, "−"), *options]), lines.join(
        [marked(added, "+"), *map(_option, option_lines(old, new))]
    )


def _heading(one: Proposal) -> Content:
    """Return where a form goes."""
    new = f"  new, from {visible(one.of)}" if one.of and one.variant == ORIGINAL else ""
    instead = "  ▲ differs from the existing text" if one.held is not None else ""
    return Content.assemble(
        (f"{visible(one.ref)} · {variant_name(one.variant)}", "bold"),
        (new, "$text-muted"),
        (instead, "$text-warning"),
    )


def _form(before: str, after: str) -> Iterator[Content]:
    """Yield a form with what differs; options that are all as they were are left out where the
    question is another.
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
    """Return a word, with what it was before where an error was put into it."""
    if old == new:
        return Content(visible(new, lines=True))
    return Content(" ").join(
        [marked((Part(text, True),), mark) for text, mark in ((old, "−"), (new, "+"))]
    )


def _option(line: OptionLine) -> Content:
    """Return an option with what became of it."""
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
        self.draw(list(preview_text(preview)))
        meanwhile = (
            "Somebody changed a question; the preview uses its current text. "
            if self._refused
            else ""
        )
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
