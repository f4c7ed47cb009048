"""The form of one wording: its text, its differences from the original, and its faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Select, Static, TextArea

from workbench.domain.choices import Choice, ChoiceFault, parse_choice
from workbench.domain.drafting import TYPED
from workbench.domain.statements import (
    CHANGED,
    MOST_CHARACTERS,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
)
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.base import app_of
from workbench.tui.kit.edit_form import EditForm, row, text_box
from workbench.tui.statements.statement_format import (
    RELATION_WORDS,
    difference,
    marked,
    variant_name,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

EXPLAIN = section("screens-statements", "A wording")

OFFERED = (
    VariantKind.PARAPHRASE,
    VariantKind.NEGATION,
    VariantKind.OPPOSITE,
    VariantKind.REFORMULATION,
    VariantKind.POLITICAL_OPPOSITE,
    VariantKind.QUESTION,
)
"kinds that may be added, in the order of how often they are wanted"


@dataclass(frozen=True, slots=True)
class WordingTask:
    """The wording to write."""

    statement: Statement
    language: str
    variant: VariantId | None = None
    "None: a further wording, of a kind to be selected"
    into: tuple[str, ...] | None = None
    "languages that the wording lacks, for a translation, or None for no translation"

    @property
    def held(self) -> Wording | None:
        """The existing wording to edit or translate, or None."""
        return (
            self.statement.wording(self.variant, self.language)
            if self.variant is not None
            else None
        )


@dataclass(frozen=True, slots=True)
class WordingInput:
    """The input of the form."""

    kind: str
    language: str
    text: str


class WordingForm(EditForm):
    """A form that edits, adds or translates a wording."""

    EXPLAIN = EXPLAIN
    FIRST = "#text"

    def __init__(self, instrument: str, task: WordingTask) -> None:
        super().__init__(instrument, task.statement)
        self._work = task
        self._theirs: Statement | None = None
        self.HEADING = _heading(task)

    def compose_fields(self) -> ComposeResult:
        task = self._work
        if task.variant is None:
            kinds = [(kind.value.replace("_", " "), kind.value) for kind in _kinds(task)]
            yield row(
                "kind", Select(kinds, id="kind", value=kinds[0][1], allow_blank=False, compact=True)
            )
            if _has_changed(task):
                yield Static(
                    "The question already has its one changed form: e on it edits it.",
                    classes="note",
                    markup=False,
                )
        if task.into is not None:
            lacks = ", ".join(task.into) or "none of the instrument's languages"
            first_language = task.into[0] if task.into else ""
            yield row(
                "language", Input(first_language, id="language", compact=True, placeholder="de")
            )
            yield Static(Content(visible(f"Missing: {lacks}")), classes="note", markup=False)
        yield text_box(_start(task), "text", "the wording")
        yield Static(id="basis", classes="heading", markup=False)
        yield Static(id="before", classes="shown", markup=False)
        yield Static(id="after", classes="shown", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        if self._work.into == ():
            self.query_one("#language").focus()

    def begin_in(self, box: TextArea) -> None:
        """Select the original in a new wording: typing replaces it, and an arrow key keeps it."""
        if self._work.variant is None:
            box.select_all()
        else:
            super().begin_in(box)

    def values(self) -> WordingInput:
        kind = self.chosen("kind") if self._work.variant is None else ""
        language = (
            self.typed("language").strip() if self._work.into is not None else self._work.language
        )
        return WordingInput(kind, language, self.typed("text"))

    def input_fault(self) -> str:
        typed = self.values()
        if not typed.language:
            return "the language is missing; give one such as de"
        if fault := text_fault(typed.text):
            return f"this text cannot be saved: {fault}"
        if self._work.into is not None and self._seen is not None:
            return _translation_fault(self._seen, self._place(typed, self._seen), typed.language)
        if fault := self._choice_fault(typed):
            return fault
        if self._work.variant is None and typed.text == _start(self._work):
            return "this is still the original's text; edit it into the variant"
        return ""

    def _choice_fault(self, typed: WordingInput) -> str:
        """Return why a form of a multiple-choice question is none, or an empty string."""
        kind = self._kind(typed)
        is_form = kind in (VariantKind.CHANGED, *TYPED)
        is_asked_form = kind is VariantKind.ORIGINAL and _has_forms(self._work)
        if not is_form and not is_asked_form:
            return ""
        choice = parse_choice(typed.text)
        if not isinstance(choice, ChoiceFault):
            return ""
        name = kind.value.replace("_", " ")
        return (
            f"{name}: this is a question with options: found {choice.found}; expected "
            f"{choice.expected}"
        )

    def input_changed(self) -> None:
        """Show the differences and faults of the input."""
        typed = self.values()
        self._show_difference(typed.text)
        fault = self.input_fault()
        if fault and self.dirty:
            self.say(f"✗ {fault}", wrong=True)
            return
        person = app_of(self).annotator
        owner_text = (
            f"saved under the name {person}" if person is not None else "F5 asks for your name"
        )
        count = f"{len(typed.text):,} of {MOST_CHARACTERS:,} characters · {owner_text}"
        duplicate = self._same_as(typed)
        self.say(f"! the same text as {duplicate} · {count}" if duplicate else count)

    def show_conflict(self, there: Statement | None) -> None:
        self._theirs = there
        self._show_difference(self.values().text)

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import outcome
        from workbench.workshop.edits import with_text

        seen = self._seen
        if seen is None:
            raise UsageError("there is no statement to change")
        typed: WordingInput = values
        variant = self._place(typed, seen)
        changed_statement = with_text(seen, variant, typed.language, typed.text, person)
        act = _act(self._work, variant, typed.language)
        changed = store.statements.save(
            self._instrument, [changed_statement], person=person, act=act, expected={seen.ref: seen}
        )
        return outcome(store, self._instrument, changed)

    def _place(self, typed: WordingInput, statement: Statement) -> VariantId:
        from workbench.workshop.edits import next_variant

        return self._work.variant or next_variant(statement, VariantKind(typed.kind))

    def _kind(self, typed: WordingInput) -> VariantKind:
        return (
            self._work.variant.kind if self._work.variant is not None else VariantKind(typed.kind)
        )

    def _same_as(self, typed: WordingInput) -> str:
        if self._seen is None:
            return ""
        own_key = (self._place(typed, self._seen), typed.language)
        other_wordings = (
            wording
            for wording in self._seen.wordings
            if (wording.variant, wording.language) != own_key
        )
        return next(
            (
                variant_name(wording.variant)
                for wording in other_wordings
                if wording.text.strip() == typed.text.strip()
            ),
            "",
        )

    def _show_difference(self, text: str) -> None:
        basis, compared = self._basis()
        self.query_one("#basis", Static).update(Content(visible(basis)))
        left_box, right_box = self.query_one("#before", Static), self.query_one("#after", Static)
        if self._work.into is not None and self._theirs is None:
            left_box.update(Content(visible(compared, lines=True)))
            return
        left, right = difference(compared, text)
        left_box.update(marked(left, "−"))
        right_box.update(marked(right, "+"))

    def _basis(self) -> tuple[str, str]:
        """Return the heading of the comparison, and the text to compare with."""
        task = self._work
        if self._theirs is not None:
            typed = self.values()
            wording = self._theirs.wording(self._place(typed, self._theirs), typed.language)
            return "The other person's text (−), and yours (+):", _text(wording)
        if task.into is not None:
            return f"In {task.language}:", _text(task.held)
        original = task.statement.wording(ORIGINAL, task.language)
        if task.variant == ORIGINAL:
            return "Old text (−), new text (+):", _text(original)
        expected = "" if task.variant is None else f" · {_expected(task)}"
        return f"The original (−), and this wording (+){expected}:", _text(original)


def _heading(task: WordingTask) -> str:
    ref = task.statement.ref
    if task.variant is None:
        return f"{ref}: another wording in {task.language}"
    name = variant_name(task.variant)
    return (
        f"{ref}: translate its {name}"
        if task.into is not None
        else f"{ref}: {name} in {task.language}"
    )


def _kinds(task: WordingTask) -> tuple[VariantKind, ...]:
    """Return the available kinds. Without an original, only that or the question that it answers.

    A multiple-choice question has one changed form, and any number of versions with typos.
    """
    original = task.statement.wording(ORIGINAL, task.language)
    if original is None:
        return (VariantKind.ORIGINAL, VariantKind.QUESTION)
    is_choice = isinstance(parse_choice(original.text), Choice)
    if not is_choice:
        return OFFERED
    changed_kinds = () if _has_changed(task) else (VariantKind.CHANGED,)
    return (*changed_kinds, *sorted(TYPED), *OFFERED)


def _has_changed(task: WordingTask) -> bool:
    return task.statement.wording(CHANGED, task.language) is not None


def _has_forms(task: WordingTask) -> bool:
    """Return whether a statement has forms that only multiple-choice questions have."""
    return any(
        wording.variant.kind in (VariantKind.CHANGED, *TYPED) for wording in task.statement.wordings
    )


def _start(task: WordingTask) -> str:
    """Return the initial text: the existing wording, or the original.

    A translation starts empty.
    """
    if task.into is not None:
        return ""
    wording = task.held or task.statement.wording(ORIGINAL, task.language)
    return wording.text if wording is not None else ""


def _text(wording: Wording | None) -> str:
    """Return the text of a wording, or an empty string without one."""
    return wording.text if wording is not None else ""


def _expected(task: WordingTask) -> str:
    wording = task.held
    return RELATION_WORDS[wording.relation] if wording is not None else ""


def _translation_fault(statement: Statement, variant: VariantId, language: str) -> str:
    from workbench.workshop.edits import HEADS

    if statement.wording(variant, language) is not None:
        return f"{variant_name(variant)} exists in {language} already; e there edits it"
    if variant not in HEADS and statement.wording(ORIGINAL, language) is None:
        return f"there is no original in {language} yet; translate that first"
    return ""


def _act(task: WordingTask, variant: VariantId, language: str) -> str:
    if task.into is not None:
        return f"translated {variant_name(variant)} into {language}"
    return (
        f"added {variant_name(variant)}"
        if task.variant is None
        else f"edited {variant_name(variant)}"
    )
