"""The screen of a survey: a person agrees or disagrees with one statement at a time.

Each answer is saved before the next statement. Nothing here tells which variant of which statement
is shown, or what any person or model said of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.annotation.survey import SurveyDesign
from workbench.domain.names import plural
from workbench.domain.statements import Relation
from workbench.errors import WorkbenchError
from workbench.figures.shown import shown
from workbench.figures.table import Column, Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.survey import CurrentQuestion, RespondentSession, unfinished_respondents
from workbench.tui.annotation.annotate_format import ReadText, title_note
from workbench.tui.annotation.item_screen import GUIDE, LEAVE, SKIP, UNDO, ItemScreen
from workbench.tui.kit.base import worker
from workbench.tui.kit.person_dialog import PersonDialog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.annotation.respondent import Answers, Relations, SurveyProgress
    from workbench.audits.reliability.agreement import AgreementRow
    from workbench.domain.verdicts import Estimate

KAPPA: Column[Estimate] = Column("kappa", "Cohen's κ", lambda value: value, Kind.COEFFICIENT)

EXPLAIN = section("screens-annotation", "Answering the survey")


def intro_text(name: str, progress: SurveyProgress) -> Content:
    """Return the introduction of a survey. It tells that there is no right answer."""
    person = visible(name)
    if progress.done or progress.declined:
        greeting = (
            f"Welcome back, {person}. You have answered {progress.done:,} of {progress.total:,} "
            "statements."
        )
    else:
        greeting = (
            f"Welcome, {person}. You will read {plural(progress.total, 'statement')}, "
            "one at a time."
        )
    paragraphs = (
        "Say whether you agree or disagree with each. Your own view counts: there is no right "
        "answer, and you see nobody else's.",
        "Some statements resemble others. Judge each by itself, without trying to remember "
        "earlier answers.",
        "Each answer is saved before the next statement shows. You may leave at any time with q; "
        "under the same name you continue where you stopped.",
    )
    lines = [Content.styled(greeting, "bold")]
    for paragraph in paragraphs:
        lines += [Content(""), Content(paragraph)]
    lines += [
        Content(""),
        Content.assemble(
            ("a", "bold"),
            " agree    ",
            ("d", "bold"),
            " disagree    ",
            ("s", "bold"),
            " skip    ",
            ("z", "bold"),
            " undo",
        ),
    ]
    return Content("\n").join(
        [*lines, Content(""), Content.assemble(("Enter", "bold"), " begins.")]
    )


def end_text(
    name: str, progress: SurveyProgress, consistency: Sequence[AgreementRow], more: int
) -> Content:
    """Return the end of a survey, with thanks, the person's own consistency and the next keys.

    `more` statements could be asked.
    """
    lines = [
        Content.styled(f"That was the last one. Thank you, {visible(name)}.", "bold"),
        Content(""),
    ]
    lines.append(
        Content(f"You answered {progress.done:,} of {plural(progress.total, 'statement')}.")
    )
    if progress.declined:
        lines.append(Content(f"You left {progress.declined:,} unanswered."))
    if progress.gone:
        lines.append(Content(f"{progress.gone:,} have been removed from the instrument since."))
    lines += [Content(""), *consistency_lines(consistency), Content("")]
    lines.append(
        Content.assemble(
            ("Enter", "bold"),
            " the next person    ",
            ("q", "bold"),
            " leave    ",
            ("z", "bold"),
            " undo the last answer",
        )
    )
    if more:
        lines.append(Content.assemble(("n", "bold"), f" continue with {more:,} more statements"))
    return Content("\n").join(lines)


def consistency_lines(rows: Sequence[AgreementRow]) -> list[Content]:
    """Return a person's κ for each kind of variant that they answered, and what it means."""
    answered_rows = [row for row in rows if row.raw and row.raw[0].n + row.raw[0].excluded]
    if not answered_rows:
        return [
            Content(
                "Your answers cannot be compared: that requires an original and one of its "
                "variants."
            )
        ]
    lines = [
        Content.styled("Agreement of your answers to originals and variants: Cohen's κ", "bold")
    ]
    for row in answered_rows:
        name = row.name.replace("_", " ")
        lines.append(Content(f"  {name:<20}{_kappa(row.raw[0])}"))
        if row.relation is Relation.FLIPPED and row.flipped[0].defined:
            lines.append(Content(f"  {'  after flipping':<20}{_kappa(row.flipped[0])}"))
    explanations = (
        "1 means the same view throughout. For variants with the contrary meaning κ is",
        "below 0, and 1 after flipping. [95 % interval]; n: pairs.",
    )
    return [*lines, *(Content.styled(f"  {line}", "$text-muted") for line in explanations)]


def _kappa(value: Estimate) -> str:
    return f"{shown(value, KAPPA)} n {value.n:,}"


def consistency_of(
    answers: Answers, instrument: str, relations: Relations
) -> tuple[AgreementRow, ...]:
    """Return the κ between a person's answers to originals and to variants."""
    from workbench.audits.reliability.agreement import survey_agreement

    return survey_agreement(answers, instrument, relations=relations)


class SurveyScreen(ItemScreen[RespondentSession["AgreementRow"], CurrentQuestion["AgreementRow"]]):
    """The screen of one person's answers after an introduction, then of the next person's."""

    EXPLAIN = EXPLAIN
    OPENING = ""
    CLOSED = "Enter asks for another name; F5 tries again."
    NO_STEPS = "nothing to undo"
    UNIT = "statement"
    STATEMENT_LINES = 10
    TIME_LEFT = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "go_on",
            "Continue",
            key_display="Enter",
            tooltip="Begin; at the end, hand over to the next person",
        ),
        Binding(
            "n", "further", "More", tooltip="Continue with statements that you have not answered"
        ),
        replace(SKIP, tooltip="Skip: move it to the end; the second time, leave it unanswered"),
        UNDO,
        GUIDE,
        LEAVE,
    ]

    def __init__(
        self, instrument: str, design: SurveyDesign | None = None, respondent: str | None = None
    ) -> None:
        super().__init__("survey", instrument, respondent)
        self.instrument = instrument
        self._design = design or SurveyDesign()

    def on_mount(self) -> None:
        if self._person_name is None:
            self.look()
        else:
            self._welcome(self._person_name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "go_on":
            return not self.asking
        if action == "further":
            return self._view is not None and bool(self._view.more)
        return super().check_action(action, parameters)

    def page_of(self, view: CurrentQuestion[AgreementRow]) -> Content | None:
        if view.item is None:
            return end_text(self._person_name or "", view.progress, view.consistency, view.more)
        return None if view.is_introduced else intro_text(self._person_name or "", view.progress)

    @property
    def text(self) -> ReadText:
        return self.statement

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        if self._person_name is None:
            self.show_page(Content(""))

    def action_go_on(self) -> None:
        """Begin, or at the end let the next person answer."""
        if self._busy or self.asking:
            return
        if self._view is not None and self._view.item is not None and self._codebook is not None:
            self.show_view(replace(self._view, is_introduced=True), self._codebook, "")
        elif self._person_name is not None:
            self._hand_over()

    def action_further(self) -> None:
        """Go on with statements that this person was not asked about."""
        if self._view is not None and self._view.more and not self._busy:
            self.ask(lambda session: session.go_further(), "", lost="")

    def action_refresh(self) -> None:
        if self._thread is None and self._person_name is None and self.trouble.shown:
            self.trouble.hide()
            self.look()
        else:
            super().action_refresh()

    def _take_name(self, name: str | None) -> None:
        if name is None:
            self.call_later(self.action_leave)
        else:
            self._welcome(name)

    def _welcome(self, name: str) -> None:
        """Begin or continue a person's session."""
        self._person_name = name
        self.title_bar.note = title_note(name, None)
        self.show_page(Content("Opening the survey …"))
        instrument, design = self.instrument, self._design
        self.begin(lambda path: RespondentSession(path, instrument, name, design, consistency_of))
        self.go_on("")

    @worker("hand over")
    async def _hand_over(self) -> None:
        """End this person's session, and ask for the next name.

        Nothing of this person stays visible.
        """
        self._busy = True
        await self.end()
        self._view, self._person_name, self._said = None, None, ""
        self.title_bar.note = ""
        self.trouble.hide()
        self.show_page(Content(""))
        self.say(Content(""))
        self.refresh_bindings()
        self.look()

    @worker("look", opens=True)
    async def look(self) -> None:
        """Ask for the respondent's name, among those with statements left. Without one, leave."""
        names = await self.with_store(lambda store: unfinished_respondents(store, self.instrument))
        note = "Your name or a pseudonym, the same each time. Your answers are stored under it."
        self.app.push_screen(
            PersonDialog(names, None, note=note, what="respondent"), self._take_name
        )
