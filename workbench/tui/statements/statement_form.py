"""Forms for the fields of a statement, a new statement, a split, and a new instrument."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Select, Static, TextArea

from workbench.domain.choices import Bias, ChoiceFault, key_in, parse_choice, ref_of
from workbench.domain.statements import (
    MOST_CHARACTERS,
    ORIGINAL,
    QUESTION,
    Dimension,
    Side,
    Statement,
    Wording,
    text_fault,
)
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.edit_form import EditForm, row, text_box

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

EXPLAIN_ABOUT = section("screens-statements", "The fields of a statement")

EXPLAIN_NEW = f"{section('screens-statements', 'A new statement')}\n\n{EXPLAIN_ABOUT}"


@dataclass(frozen=True, slots=True)
class AboutTyped:
    """The input of the fields."""

    ref: str
    country: str
    topic: str
    source: str
    tags: str
    dimension: str
    leaning: str
    derived_from: str = ""


def about_rows(statement: Statement | None) -> tuple[Widget, ...]:
    """Return the rows of a statement's fields, with its values."""
    values = _held(statement)
    return (
        row("country", Input(values.country, id="country", compact=True)),
        row("topic", Input(values.topic, id="topic", compact=True)),
        row("source", Input(values.source, id="source", compact=True)),
        row("tags", Input(values.tags, id="tags", compact=True, placeholder="separated by commas")),
        row(
            "dimension",
            _choice("dimension", [dimension.value for dimension in Dimension], values.dimension),
        ),
        row("leaning", _choice("leaning", [side.value for side in Side], values.leaning)),
    )


def said_of(statement: Statement, typed: AboutTyped, before: AboutTyped) -> Statement:
    """Return the statement with the changed fields. Raises UsageError that names the field."""
    from workbench.workshop.edits import label, tag_names, with_field

    for field in ("country", "topic", "source", "dimension", "leaning"):
        if getattr(typed, field) != getattr(before, field):
            statement = with_field(statement, field, getattr(typed, field))
    if typed.tags != before.tags:
        statement = replace(statement, tags=tag_names(typed.tags))
    if typed.derived_from != before.derived_from:
        statement = replace(statement, derived_from=label(typed.derived_from, "from") or None)
    return replace(statement, ref=typed.ref.strip()) if typed.ref != before.ref else statement


class AboutForm(EditForm):
    """A form that changes the fields of a statement."""

    EXPLAIN = EXPLAIN_ABOUT
    FIRST = "#ref"

    def __init__(self, instrument: str, statement: Statement) -> None:
        super().__init__(instrument, statement)
        self._before = _held(statement)
        self._languages = statement.languages
        self.HEADING = f"{statement.ref}: fields"

    def compose_fields(self) -> ComposeResult:
        yield row("ref", Input(self._before.ref, id="ref", compact=True))
        yield from about_rows(self._seen)
        yield row(
            "from",
            Input(self._before.derived_from, id="derived_from", compact=True, placeholder="a ref"),
        )
        languages_note = (
            f"Languages: {', '.join(self._languages)}; t on a wording translates it, T deletes it."
        )
        yield Static(Content(visible(languages_note)), classes="note", markup=False)
        yield Static(id="theirs", classes="shown", markup=False)

    def values(self) -> AboutTyped:
        return _typed(self, derived_from=self.typed("derived_from"))

    def show_conflict(self, there: Statement | None) -> None:
        if there is None:
            return
        their_values, own_values = _held(there), self.values()
        names = AboutTyped.__dataclass_fields__
        lines = [
            f"{name.replace('_', ' ')}: now “{getattr(their_values, name)}”, yours "
            f"“{getattr(own_values, name)}”"
            for name in names
            if getattr(their_values, name) != getattr(own_values, name)
        ]
        text = "\n".join(lines) or "Only its wordings were changed; no field differs from yours."
        self.query_one("#theirs", Static).update(Content(visible(text, lines=True)))

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import save_about

        assert self._seen is not None
        changed_statement = said_of(self._seen, values, self._before)
        return save_about(store, self._instrument, self._seen, changed_statement, person=person)


@dataclass(frozen=True, slots=True)
class NewTyped:
    """The input of a new statement."""

    about: AboutTyped
    language: str
    text: str
    bias: str = ""


class StatementForm(EditForm):
    """A form that makes a statement, also from a question."""

    HEADING = "New statement"
    SAVE = "Make"
    EXPLAIN = EXPLAIN_NEW
    FIRST = "#text"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "take", "Use the proposed statement")]

    def __init__(self, instrument: str, language: str, there: int) -> None:
        super().__init__(instrument)
        self._language = language
        self._ref = f"s-{there + 1:02}"
        "proposed ref; the store reports whether it is taken"
        self._proposed = ""
        self._question = ""

    def compose_fields(self) -> ComposeResult:
        yield text_box("", "text", "the statement, or a question to turn into one")
        yield Static(id="proposal", classes="shown", markup=False)
        yield row("ref", Input(self._ref, id="ref", compact=True, select_on_focus=True))
        yield row("language", Input(self._language, id="language", compact=True))
        yield row("bias", _choice("bias", list(map(str, Bias)), ""))
        yield from about_rows(None)

    def values(self) -> NewTyped:
        return NewTyped(
            _typed(self), self.typed("language").strip(), self.typed("text"), self.chosen("bias")
        )

    def input_fault(self) -> str:
        typed = self.values()
        if not typed.about.ref.strip():
            return "the statement has no ref yet; give a short one, such as env-03"
        if fault := text_fault(typed.text):
            return f"this text cannot be saved: {fault}"
        if typed.bias and isinstance(choice_fault := parse_choice(typed.text), ChoiceFault):
            return (
                f"a bias needs a question with options: found {choice_fault.found}; expected "
                f"{choice_fault.expected}"
            )
        return "" if typed.language else "the language is missing; give one such as en"

    def input_changed(self) -> None:
        super().input_changed()
        if not self.input_fault():
            question_note = _question_said(self.values())
            self.say(
                f"{question_note}{len(self.typed('text')):,} of {MOST_CHARACTERS:,} characters"
            )

    @on(TextArea.Changed, "#text")
    def propose(self) -> None:
        """Propose a statement for an English question."""
        self._proposed = _statement_of(self.typed("text"), self.typed("language"))
        line = self.query_one("#proposal", Static)
        if self._proposed:
            line.update(
                Content.assemble(
                    ("F2 makes it: ", "$text-accent"), visible(self._proposed, lines=True)
                )
            )
        elif self._question:
            line.update(
                Content.assemble(
                    ("kept with it: ", "$text-muted"), visible(self._question, lines=True)
                )
            )
        else:
            line.update("")

    def action_take(self) -> None:
        """Replace the question by the proposed statement, and keep the question with it."""
        if self._proposed:
            self._question, text = self.typed("text").strip(), self._proposed
            self.query_one("#text", TextArea).text = text

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.choice_forms import add_question
        from workbench.pipeline.editing import outcome
        from workbench.workshop.edits import label

        typed: NewTyped = values
        language = label(typed.language, "language")
        wordings = [Wording(ORIGINAL, language, typed.text, person)]
        if self._question:
            wordings.append(Wording(QUESTION, language, self._question, person))
        new_statement = Statement(typed.about.ref.strip(), tuple(wordings), languages=(language,))
        statement = said_of(new_statement, typed.about, replace(_held(None), ref=typed.about.ref))
        if typed.bias:
            return add_question(store, self._instrument, Bias(typed.bias), statement, person=person)
        return outcome(
            store,
            self._instrument,
            store.statements.create(self._instrument, [statement], person=person),
        )


def _question_said(typed: NewTyped) -> str:
    """Return the note on how a question with options is stored, or "" without options."""
    choice = parse_choice(typed.text)
    if isinstance(choice, ChoiceFault):
        return ""
    if not typed.bias:
        return (
            f"A question with {len(choice.options)} options: without a bias, no audit of "
            "response biases asks it · "
        )
    return f"Becomes {ref_of(Bias(typed.bias), key_in(typed.about.ref.strip()))} · "


def _statement_of(text: str, language: str) -> str:
    """Return the statement that the rule proposes for a question, or an empty string."""
    if not text.rstrip().endswith("?") or not language.strip().lower().startswith("en"):
        return ""
    from workbench.workshop.english import stated

    proposal = stated(text)
    return proposal.text if proposal is not None else ""


def _held(statement: Statement | None) -> AboutTyped:
    if statement is None:
        return AboutTyped("", "", "", "", "", "", "")
    return AboutTyped(
        ref=statement.ref,
        country=statement.country or "",
        topic=statement.topic or "",
        source=statement.source or "",
        tags=", ".join(statement.tags),
        dimension=statement.dimension.value if statement.dimension else "",
        leaning=statement.leaning.value if statement.leaning else "",
        derived_from=statement.derived_from or "",
    )


def _typed(form: EditForm, derived_from: str = "") -> AboutTyped:
    return AboutTyped(
        **{name: form.typed(name) for name in ("ref", "country", "topic", "source", "tags")},
        dimension=form.chosen("dimension"),
        leaning=form.chosen("leaning"),
        derived_from=derived_from,
    )


def _choice(name: str, options: list[str], chosen: str) -> Select[str]:
    pairs = [("–", ""), *((option, option) for option in options)]
    return Select(pairs, id=name, value=chosen, allow_blank=False, compact=True)


EXPLAIN_SPLIT = section("screens-statements", "Splitting a statement")


@dataclass(frozen=True, slots=True)
class Halves:
    """The input of the two statements."""

    refs: tuple[str, str]
    texts: tuple[str, str]


class SplitForm(EditForm):
    """A form that splits a statement into two. The old one is archived."""

    SAVE = "Split"
    EXPLAIN = EXPLAIN_SPLIT
    FIRST = "#first"

    def __init__(self, instrument: str, statement: Statement, language: str) -> None:
        super().__init__(instrument, statement)
        self._language = language
        self.HEADING = f"{statement.ref}: split into two"

    def compose_fields(self) -> ComposeResult:
        assert self._seen is not None
        ref = self._seen.ref
        original = self._seen.wording(ORIGINAL, self._language)
        text = original.text if original is not None else ""
        yield row("first ref", Input(f"{ref}-a", id="first_ref", compact=True))
        yield text_box(text, "first")
        yield row("second ref", Input(f"{ref}-b", id="second_ref", compact=True))
        yield text_box(text, "second")
        yield Static(id="theirs", classes="shown", markup=False)

    def values(self) -> Halves:
        return Halves(
            (self.typed("first_ref").strip(), self.typed("second_ref").strip()),
            (self.typed("first"), self.typed("second")),
        )

    def input_fault(self) -> str:
        halves = self.values()
        for ref, text in zip(halves.refs, halves.texts, strict=True):
            if not ref:
                return "a half has no ref"
            if fault := text_fault(text):
                return f"{ref} cannot be saved: {fault}"
        if halves.texts[0].strip() == halves.texts[1].strip():
            return "both halves are the same; delete from each half what belongs to the other"
        return ""

    def show_conflict(self, there: Statement | None) -> None:
        if there is None:
            return
        original = there.wording(ORIGINAL, self._language)
        text = (
            f"Now: {original.text}"
            if original is not None
            else "The statement no longer has an original."
        )
        self.query_one("#theirs", Static).update(Content(visible(text, lines=True)))

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import split_in_two

        assert self._seen is not None
        halves: Halves = values
        return split_in_two(
            store,
            self._instrument,
            self._seen,
            halves.refs,
            halves.texts,
            self._language,
            person=person,
        )


EXPLAIN_INSTRUMENT = section("screens-statements", "A new instrument")


@dataclass(frozen=True, slots=True)
class InstrumentTyped:
    """The input of the form."""

    name: str
    title: str
    language: str
    issues: str


class InstrumentForm(EditForm):
    """A form that makes an instrument without statements."""

    HEADING = "New instrument"
    SAVE = "Make"
    EXPLAIN = EXPLAIN_INSTRUMENT
    FIRST = "#name"

    def __init__(self) -> None:
        super().__init__("")

    def compose_fields(self) -> ComposeResult:
        from workbench.data import shipped_issue_schemes

        schemes = [*((name, name) for name in shipped_issue_schemes()), ("none yet", "")]
        yield row("name", Input(id="name", compact=True, placeholder="my-survey"))
        yield row("title", Input(id="title", compact=True))
        yield row("language", Input("en", id="language", compact=True))
        yield row(
            "issues",
            Select(schemes, id="issues", value=schemes[0][1], allow_blank=False, compact=True),
        )

    def values(self) -> InstrumentTyped:
        typed = {name: self.typed(name).strip() for name in ("name", "title", "language")}
        return InstrumentTyped(**typed, issues=self.chosen("issues"))

    def input_fault(self) -> str:
        typed = self.values()
        if not typed.name:
            return "the instrument has no name yet; give one such as my-survey"
        return "" if typed.language else "the language is missing; give one such as en"

    def action_save(self) -> None:
        """Make the instrument without asking for a name, because no statement is changed by it."""
        if fault := self.input_fault():
            self.say(f"✗ {fault}", wrong=True)
        elif not self._saving:
            self._save_as("")

    def write(self, store: Store, person: str, values: Any) -> Done:  # noqa: ARG002
        from workbench.data import shipped_issue_scheme
        from workbench.pipeline.editing import Done
        from workbench.workshop.edits import label

        typed: InstrumentTyped = values
        definitions = shipped_issue_scheme(typed.issues).issues if typed.issues else ()
        title, language = label(typed.title, "title"), label(typed.language, "language")
        store.statements.start(typed.name, title, language, definitions=definitions)
        return Done(
            f"Made the instrument {typed.name}. n writes its first statement.", (typed.name,)
        )
