"""The screen of a questionnaire: its questions with their roles, and scales with meanings.

Both can be edited here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from workbench.domain.names import plural
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Pole,
    Question,
    QuestionRole,
    Scale,
    Tallied,
    group_fields,
)
from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError
from workbench.figures.book import Book, Subject
from workbench.figures.visible import visible
from workbench.tui.format import following
from workbench.tui.kit.base import say, worker
from workbench.tui.kit.dialogs import confirm
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.results.book_screen import tabs
from workbench.tui.results.details import table_help
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Loaded, Opened, TableView
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from stores.core.store import Store

Write = Callable[["Store"], object]
ABOUT_CHANGES = """Among the questions, o changes the role of one, O makes it one of a survey, l changes its leaning, \
t its form and a its scale. Among the scales, y, n, e and u make an answer mean yes, no, neutral or missing; p makes \
it a step of an ordered scale, c one of several options without an order. Among the answers of people, b steps \
through their groups. Every change is stored under your name, and figures change at once; earlier predictions stay as \
they are."""  # noqa: E501


def questions(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001  as all views are called
    """Return a function that opens the current questionnaire, or a message without one."""
    return (
        (lambda: QuestionsScreen(loaded.instrument))
        if loaded.instrument
        else "There is no questionnaire yet."
    )


@dataclass(frozen=True, eq=False, slots=True)
class LoadedQuestionnaire:
    """A questionnaire, its tables, and the scales that a question may have."""

    book: Book
    tallied: Tallied
    scales: Mapping[str, Scale]
    "the questionnaire's own scales and the shipped ones"
    groups: tuple[str, ...] = ()
    "grouping fields of the respondents"


class QuestionsScreen(Following):
    """The screen of questions, scales or shares of answers."""

    DEFAULT_CSS = """
    QuestionsScreen #tabs, QuestionsScreen #about {
        height: auto;
        margin: 0 1;
    }
    QuestionsScreen #about {
        color: $text-muted;
        margin: 0 1 1 1;
    }
    """
    PLACE = "results › questionnaire › questions"
    DECIDES: ClassVar[frozenset[str]] = frozenset({"change", "means"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "tab",
            "turn",
            "Questions/scales",
            key_display="Tab",
            tooltip="Show the scales, or the questions",
        ),
        Binding("o", "change('role')", "Role", tooltip="Make it a target or a context question"),
        Binding("O", "change('survey')", "Survey", show=False, tooltip="Make it a survey question"),
        Binding("l", "change('leaning')", "Leaning", tooltip="Set the leaning of a yes"),
        Binding(
            "t",
            "change('form')",
            "Form",
            tooltip="Ask it as a question, or as a statement to agree with",
        ),
        Binding("a", "change('scale')", "Scale", tooltip="Use the next scale"),
        Binding("y", "means('yes')", "Yes", tooltip="This answer means yes"),
        Binding("n", "means('no')", "No", tooltip="This answer means no"),
        Binding("e", "means('neutral')", "Neutral", tooltip="This answer is neutral"),
        Binding("u", "means('missing')", "Missing", tooltip="This answer counts as none"),
        Binding("p", "means('step')", "Step", tooltip="This answer is a step of an ordered scale"),
        Binding(
            "d",
            "means('option')",
            "Option",
            tooltip="This answer is one of several without an order",
        ),
        Binding("b", "by", "Groups", tooltip="Show the answers of the next groups of people"),
        Binding("escape", "back", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._held: LoadedQuestionnaire | None = None
        self._look = TableView("questions")
        self._by = ""
        "field whose groups' answers are shown, or empty for all respondents together"

    def compose_body(self) -> ComposeResult:
        yield Static(id="tabs", markup=False)
        yield Static("Reading …", id="about", markup=False)
        yield SheetView()

    def on_mount(self) -> None:
        self.view.table.focus()
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        views = {"change": "questions", "means": "scales", "by": "shares"}
        if action in views:
            return self._held is not None and self._look.view == views[action]
        if action == "rule":
            return self.ruled_place() is not None
        return action != "review"

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        """Return the question of a row. A scale has no place."""
        ref = getattr(sheet.table.rows[at], "ref", None)
        return RuledPlace((self._instrument,), (ref,)) if ref is not None else None

    @property
    def figures(self) -> Loaded | None:
        return Loaded(None, book=self._held.book) if self._held is not None else None

    def explain(self) -> str:
        sheet = self.view.sheet
        return (
            f"{table_help(sheet.table)}\n\n{ABOUT_CHANGES}" if sheet is not None else ABOUT_CHANGES
        )

    def put(self, held: LoadedQuestionnaire) -> None:
        self._held = held
        self.trouble.hide()
        self.query_one("#about", Static).update(visible(" · ".join(held.book.told)))
        self._show()

    def action_turn(self) -> None:
        """Show the next table."""
        if self._held is not None:
            views = tuple(entry.name for entry in self._held.book.contents)
            self._look = TableView(following(views, self._look.view))
            self._show()

    def action_by(self) -> None:
        """Show the answers by the next grouping field of respondents."""
        questionnaire = self._held
        fields = () if questionnaire is None else ("", *questionnaire.groups)
        if len(fields) < 2:
            say(self, "Nobody has a group.", warns=True)
            return
        self._by = following(fields, self._by)
        self.action_refresh()

    def action_back(self) -> None:
        if not self.view.show_all_rows():
            self.dismiss(None)

    def action_change(self, what: str) -> None:
        """Set the next role, leaning, form or scale of the question under the cursor."""
        questionnaire, row = self._held, self.view.row
        if questionnaire is None or row is None:
            return
        question: Question = row
        changed_question = with_change(question, what, tuple(questionnaire.scales))
        if changed_question == question:
            say(
                self,
                "It is a survey question." if what == "survey" else "There is no other scale.",
                warns=True,
            )
            return
        message = change_words(question, changed_question, questionnaire.tallied.respondents)
        self._confirm(
            message,
            lambda person: self._keep_question(
                changed_question, "role" if what == "survey" else what, person
            ),
        )

    def action_means(self, meaning: str) -> None:
        """Give the answer under the cursor another meaning."""
        questionnaire, row = self._held, self.view.row
        if questionnaire is None or row is None:
            return
        answer: tuple[Scale, AnswerOption] = row
        (scale, option), new_meaning = answer, Meaning(meaning)
        if option.meaning is new_meaning:
            say(self, f"The answer means {meaning} already.", warns=True)
            return
        changed_scale = scale.remapped({option.values[0]: new_meaning})
        message = mapping_words(questionnaire.tallied, scale, option, new_meaning)
        self._confirm(message, lambda person: self._keep_scale(changed_scale, person))

    def action_refresh(self) -> None:
        self.read_questions()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        if self._held is None:
            self.query_one("#about", Static).update("")

    def _show(self) -> None:
        if self._held is not None:
            book = self._held.book
            self.query_one("#tabs", Static).update(tabs(book, self._look, self.size.width - 2))
            self.view.show(Sheet(book.table(self._look.view)))
            self.refresh_bindings()

    def _confirm(self, said: str, then: Callable[[str], None]) -> None:
        confirm(self, said, "Change it", "Cancel", lambda: as_person(self, self._instrument, then))

    def _keep_question(self, after: Question, what: str, person: str) -> None:
        value = getattr(after, what)
        changes = {what: value}
        self.write(
            lambda store: store.questionnaires.set_question(
                self._instrument, after.ref, person=person, **changes
            ),
            f"{after.ref}: {what} is {getattr(value, 'value', value) or 'neither'} now",
        )

    def _keep_scale(self, scale: Scale, person: str) -> None:
        self.write(
            lambda store: store.questionnaires.set_scale(self._instrument, scale, person=person),
            f"changed the scale {scale.name}",
        )

    @worker("write", newest=False)
    async def write(self, change: Write, said: str) -> None:
        await self.with_store(change)
        say(self, said)
        self.action_refresh()

    @worker("questions")
    async def read_questions(self) -> None:
        self.put(await self.with_store(lambda store: read(store, self._instrument, self._by)))


def read(store: Store, name: str, by: str = "") -> LoadedQuestionnaire:
    """Read a questionnaire. Raises UsageError if no question of the instrument has a role."""
    from workbench.errors import UsageError
    from workbench.workshop.questionnaire_tables import book

    tallied, instrument = store.questionnaires.tallied(name), store.instruments.get(name)
    if tallied is None:
        raise UsageError(f"{name} has no question with a role")
    texts = {
        statement.ref: wording.text
        for statement in instrument.statements
        if (wording := statement.wording(ORIGINAL, instrument.language))
    }
    topics = {statement.ref: statement.topic for statement in instrument.statements}
    has_survey = (
        tallied.questionnaire.of_role(QuestionRole.SURVEY)
        or tallied.weighted
        or tallied.questionnaire.published
    )
    people = store.questionnaires.get(name) if has_survey else None
    questionnaire_book = book(
        name, tallied, texts, topics, summary(name, tallied), people, (by,) if by else ()
    )
    groups = (
        ()
        if people is None
        else (
            *group_fields(people.respondents),
            *(published.group for published in people.published),
        )
    )
    return LoadedQuestionnaire(
        questionnaire_book, tallied, store.questionnaires.scales(name), tuple(dict.fromkeys(groups))
    )


def summary(name: str, of: Tallied) -> tuple[str, ...]:
    """Return texts about a questionnaire: its name and numbers of questions, people and scales."""
    questions = of.questionnaire.questions
    roles = ", ".join(
        f"{len(of.questionnaire.of_role(role)):,} {role.value}" for role in QuestionRole
    )
    return (
        name,
        f"{plural(len(questions), 'question')}: {roles}",
        plural(of.respondents, "respondent"),
        plural(len({question.scale for question in questions}), "scale"),
    )


LEANINGS = (None, Pole.LIBERAL, Pole.CONSERVATIVE)
"values in the order of the key `l`"
EFFECTS = {
    Meaning.YES: "shown to the model and counted as yes",
    Meaning.NO: "shown to the model and counted as no",
    Meaning.NEUTRAL: "neutral: neither shown to the model nor predicted",
    Meaning.STEP: "a step of an ordered scale: offered by survey questions, neither shown to the "
    "model nor predicted",
    Meaning.OPTION: "an option without an order: offered by survey questions, neither shown to "
    "the model nor predicted",
    Meaning.MISSING: "missing: neither shown to the model nor predicted",
}


def next_leaning(leaning: Pole | None) -> Pole | None:
    return LEANINGS[(LEANINGS.index(leaning) + 1) % len(LEANINGS)]


def next_scale(names: Sequence[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


def change_words(before: Question, after: Question, people: int) -> str:
    """Return the sentences that describe the effect of a change to a question."""
    return f"{before.ref}: " + " ".join(_changes(before, after, people))


def _changes(before: Question, after: Question, people: int) -> Iterator[str]:
    if after.role is not before.role:
        yield f"{before.role.value} → {after.role.value}."
        if after.role is QuestionRole.TARGET:
            yield "The model will then predict its answers instead of seeing them."
        elif after.role is QuestionRole.SURVEY:
            yield (
                "It will then be put with its options, and answers of models are compared with "
                "those of people."
            )
        else:
            yield (
                f"Its answers by {plural(people, 'respondent')} will then be shown to the "
                "model instead of predicted."
            )
        yield "Earlier predictions used another context: run the audit again."
    if after.leaning != before.leaning:
        names = (
            leaning.value if leaning else "neither" for leaning in (before.leaning, after.leaning)
        )
        yield "leaning of a yes: " + " → ".join(names) + "."
        yield "Only the liberal-conservative axis changes, at once; no model is asked again."
    if after.form is not before.form:
        yield f"{before.form.value} → {after.form.value}."
        yield "The prompt changes: run the audit again."
    if after.scale != before.scale:
        yield f"scale {before.scale} → {after.scale}."
        yield (
            "Answers that are not on that scale are refused. Figures change at once; contexts "
            "may change."
        )


def mapping_words(of: Tallied, scale: Scale, option: AnswerOption, meaning: Meaning) -> str:
    """Return the sentences that describe the effect of another meaning of an answer."""
    from workbench.workshop.questionnaire_tables import given

    n_uses = sum(question.scale == scale.name for question in of.questionnaire.questions)
    return (
        f"{scale.name}: {option.values[0]!r} means {option.meaning.value} → {meaning.value}. It "
        f"was given {plural(given(of, scale, option), 'time')}, to {plural(n_uses, 'question')}, "
        f"and will be {EFFECTS[meaning]}. Answers to targets change at once. Earlier prompts "
        "showed it differently: run the audit again."
    )


def with_change(question: Question, what: str, scales: Sequence[str]) -> Question:
    """Return a question after one step of `role`, `leaning`, `form` or `scale`.

    `survey` sets the role of survey questions.
    """
    if what == "role":
        return replace(
            question,
            role=QuestionRole.CONTEXT
            if question.role is QuestionRole.TARGET
            else QuestionRole.TARGET,
        )
    if what == "survey":
        return replace(question, role=QuestionRole.SURVEY)
    if what == "leaning":
        return replace(question, leaning=next_leaning(question.leaning))
    if what == "form":
        return replace(
            question, form=Form.QUESTION if question.form is Form.STATEMENT else Form.STATEMENT
        )
    return replace(question, scale=next_scale(scales, question.scale))
