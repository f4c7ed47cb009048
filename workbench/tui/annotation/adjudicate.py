"""Adjudication: only what people disagree on, one item at a time, anonymous; one key decides and is committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from workbench.domain.annotations import Reason, Subject
from workbench.tui.annotation.adjudicate_format import (
    EXPLAIN,
    REASONS,
    about,
    answer_heading,
    counts,
    decision_line,
    is_party,
    label_lines,
    nothing_left,
    place_back,
    reasons,
)
from workbench.tui.annotation.adjudication_session import AdjudicationQueue, AdjudicationSession, Case
from workbench.tui.annotation.annotate_format import (
    CHANGED,
    NAME_COLUMNS,
    UNDONE,
    guideline,
    key_row,
    last_line,
    pace_line,
)
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.session import Tally
from workbench.tui.annotation.session_screen import SessionScreen
from workbench.tui.format import literal, visible
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.note_dialog import NoteDialog, note_line
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.kit.status import say
from workbench.tui.screen_keys import keys_of

STATEMENT_LINES = 5
"lines of a statement in sight; it scrolls"
TALL = 30
"lines from which there is room for a sentence about the chosen reason"


class AdjudicateScreen(SessionScreen[AdjudicationSession]):
    """The open disagreements of a queue."""

    CSS_PATH = "adjudicate.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "reason(0)", "Reason", key_display="1-6", tooltip="Choose why the labels differ, before deciding"),
        *(Binding(str(n + 1), f"reason({n})", show=False) for n in range(1, len(REASONS))),
        Binding("c", "cycle_reason", "Next reason", show=False),
        Binding("m", "note", "Note", tooltip="Write a note for the decision"),
        Binding(
            "s,right_square_bracket",
            "skip",
            "Skip",
            key_display="s",
            tooltip="Skip this item for now",
        ),
        Binding("z", "undo", "Undo", tooltip="Undo your last decision, then earlier ones"),
        Binding(
            "left_square_bracket,b",
            "back",
            "Back",
            key_display="[",
            tooltip="Go back to the previous decision, to change it",
        ),
        Binding("p", "person", "Person", show=False, tooltip="Choose who decides"),
        Binding("g", "guide", "Guide", tooltip="Read the guideline"),
        Binding("escape,q", "leave", "Leave", key_display="Esc"),
    ]

    statement = query_one("#statement", ReadText)
    answer = query_one("#answer", ReadText)

    @dataclass
    class Found(Message):
        """The disagreements are there."""

        found: AdjudicationQueue

    @dataclass
    class Committed(Message):
        """A decision is in the store."""

        case: Case
        label: str

    @dataclass
    class Changed(Message):
        """Somebody labelled the item while it was looked at; nothing was decided."""

        before: Case
        now: Case | None
        "None: every label was withdrawn"

    @dataclass
    class Undone(Message):
        """A decision was taken back; None: there was none."""

        case: Case | None
        label: str = ""
        reason: str = ""
        note: str = ""

    def __init__(self, queue: str) -> None:
        super().__init__()
        self._queue = queue
        self._found: AdjudicationQueue | None = None
        self._open: list[Case] = []
        self._decided: list[Case] = []
        self._back = 0
        self._reason, self._note = Reason.OTHER, ""
        self._auditor: str | None = None

    def compose_body(self) -> ComposeResult:
        yield Static("Reading the labels …", id="empty", markup=False)
        with Vertical(id="case"):
            yield Static(id="decision", markup=False)
            yield Static(id="about", markup=False)
            yield ReadText(name="statement", most=STATEMENT_LINES)
            yield Static(id="heading", markup=False)
            yield ReadText(name="answer")
            with VerticalScroll(id="given", can_focus=False):
                yield Static(id="labels", markup=False)
            yield Static(id="question", markup=False)
            yield Static(id="choices", markup=False)
            yield Static(id="reasons", markup=False)
            yield Static(id="note-line", markup=False)
            yield Static(id="pace", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"adjudicate › {self._queue}"
        self._auditor = getattr(self.app, "annotator", None)
        self.query_one("#case").display = False
        self.begin(lambda path: AdjudicationSession(path, self._queue))
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.current is not None or action not in ("decide", "reason", "cycle_reason", "note", "skip")

    @property
    def current(self) -> Case | None:
        """The item on the screen."""
        if self._back:
            return self._decided[-self._back]
        return self._open[0] if self._open else None

    @on(Found)
    def take(self, event: Found) -> None:
        self.answered()
        first, before = self._found is None, self._found
        self._found, self._back = event.found, 0
        self._open, self._decided = list(event.found.open), list(event.found.decided)
        if before is None or before.codebook != event.found.codebook:
            if before is not None:
                say(self, CHANGED, warns=True)
            self._bind_labels()
        self._show()
        if first and self._auditor is None and self._open:
            self._ask_name()

    @on(Committed)
    def go_on(self, event: Committed) -> None:
        self.answered()
        self._forget(event.case)
        self._decided.append(event.case)
        self._back, self._said = 0, f"{event.label} (saved)"
        self._show()
        if not self._open:
            self.action_refresh()  # others may have labelled meanwhile

    @on(Undone)
    def take_back(self, event: Undone) -> None:
        """Show the item whose decision was taken back: open again, or as it was decided before."""
        self.answered()
        if event.case is None:
            say(self, "Nothing to undo: you have decided nothing in this queue.", warns=True)
            return
        self._said = f"{UNDONE}: {event.label}"
        self._put_first(event.case)
        self._show()
        if not self._back:  # what was typed with the decision comes back with the item
            self._reason, self._note = Reason(event.reason), event.note
            self._show_reason()
            self._show_note()

    @on(Changed)
    def look_again(self, event: Changed) -> None:
        self.answered()
        self._back = 0
        self._forget(event.before)
        if event.now is not None:
            self._put_first(event.now)
        say(self, "This item's labels changed while you read it. Nothing was decided; read it again.", warns=True)
        self._show()

    def action_refresh(self) -> None:
        if not self._busy or self._found is None:
            self.submit(lambda session: self.Found(session.read()))

    def action_decide(self, place: int) -> None:
        """Commit the label with this place in the codebook."""
        case, found = self.current, self._found
        if self._busy or case is None or found is None:
            return
        if self._auditor is None:
            self._ask_name()
            return
        if not is_party(case, self._auditor):
            self._commit(case, place)
            return

        def take(agreed: bool | None) -> None:
            if agreed:
                self._commit(case, place)

        question = (
            f"{visible(self._auditor)} labelled this item, and would choose between their own label and another's."
        )
        self.app.push_screen(ConfirmScreen(question, "Decide anyway", "Leave it to another person"), take)

    def _commit(self, case: Case, place: int) -> None:
        found, auditor = self._found, self._auditor
        if self._busy or found is None or auditor is None:
            return
        label, reason, note = found.codebook.labels[place], self._reason, self._note

        def decide(session: AdjudicationSession) -> Message:
            decided, now = session.decide(case, found.codebook, label, reason, note, auditor)
            return self.Committed(now or case, label) if decided else self.Changed(case, now)

        self.submit(decide, lost=visible(label))

    def action_reason(self, place: int) -> None:
        """Choose why people disagreed; the next label key commits it."""
        if not self._busy and self.current is not None:
            self._reason = list(REASONS)[place]
            self._show_reason()

    def action_cycle_reason(self) -> None:
        known = list(REASONS)
        self.action_reason((known.index(self._reason) + 1) % len(known))

    def action_note(self) -> None:
        if not self._busy and self.current is not None:
            self.app.push_screen(NoteDialog(self._note), self._keep_note)

    def action_skip(self) -> None:
        """Put the item behind the others; from an earlier decision, come back to the open ones."""
        if self._busy or self.current is None:
            return
        if self._back:
            self._back = 0
        elif len(self._open) == 1:
            say(self, "This is the last item left.", warns=True)
            return
        else:
            self._open.append(self._open.pop(0))
            self._said = "skipped"
        self._show()

    def action_undo(self) -> None:
        """Take back the newest decision of this person, earlier visits included."""
        if self._busy:
            return
        if (auditor := self._auditor) is None:
            self._ask_name()
            return

        def undo(session: AdjudicationSession) -> Message:
            return self.Undone(*(session.undo(auditor) or (None,)))

        self.submit(undo, lost="the undo")

    def action_back(self) -> None:
        """Show the decision before."""
        if self._busy:
            return
        if self._back == len(self._decided):
            say(self, "There is no earlier decision.", warns=True)
            return
        self._back += 1
        self._show()

    def action_guide(self) -> None:
        if (found := self._found) is not None:
            title, text = f"Guideline: {found.codebook.title}", guideline(found.codebook)
            self.app.push_screen(TextScreen(title, text, closed_by=keys_of(self, "guide")))

    def _bind_labels(self) -> None:
        """Give the codebook's keys their labels. They win over other keys: without them nothing can be decided."""
        assert self._found is not None
        options = self._found.codebook.options
        keys = " ".join(visible(option.key) for option in options)
        deciding = {
            option.key: [
                Binding(
                    option.key,
                    f"decide({place})",
                    "Decide",
                    show=place == 0,
                    key_display=keys if place == 0 else option.key,
                    tooltip=f"Decide: {visible(option.label)}",
                    priority=True,
                )
            ]
            for place, option in enumerate(options)
        }
        bound = self._bindings.key_to_bindings
        others = {
            key: found
            for key, found in bound.items()
            if key not in deciding and not found[0].action.startswith("decide(")
        }
        bound.clear()
        bound.update(deciding | others)  # the footer keeps this order

    def _ask_name(self) -> None:
        note = "Your decisions are stored under this name."
        asked = PersonDialog(
            (), self._auditor, note=note, what="adjudicator"
        )  # no list: it would name those who labelled
        self.app.push_screen(asked, self._keep_name)

    def action_person(self) -> None:
        """Say who decides."""
        if not self._busy:
            self._ask_name()

    def _keep_name(self, name: str | None) -> None:
        if name is not None:
            self._auditor = name
            if hasattr(self.app, "annotator"):
                self.app.annotator = name
            if self._found is not None:
                self._show_who()

    def _keep_note(self, note: str | None) -> None:
        if note is not None:
            self._note = note
            self._show_note()

    def _put_first(self, case: Case) -> None:
        """Let an item be the one in sight, open or decided."""
        self._forget(case)
        self._back = 0
        if case.judged.open:
            self._open.insert(0, case)
        elif case.judged.decision is not None:
            self._decided.append(case)
            self._back = 1

    def _forget(self, case: Case) -> None:
        self._open = [each for each in self._open if each.unit != case.unit]
        self._decided = [each for each in self._decided if each.unit != case.unit]

    def _show(self) -> None:
        case, found = self.current, self._found
        assert found is not None
        self._show_who()
        self.refresh_bindings()
        empty = self.query_one("#empty", Static)
        empty.display, self.query_one("#case").display = case is None, case is not None
        if case is None:
            empty.update(nothing_left(found))
            self.set_focus(None)
            return
        past = case.judged.decision if self._back else None
        self._reason = Reason(past.reason) if past else Reason.OTHER
        self._note = past.note if past else ""
        self._show_case(case, found)

    def _show_who(self) -> None:
        """Put into the title who decides, and how many items wait."""
        who = f" · by {literal(self._auditor, NAME_COLUMNS).plain}" if self._auditor else ""
        self.title_bar.place = f"adjudicate › {self._queue}{who}"
        self.title_bar.note = counts(len(self._open), len(self._decided))

    def _show_case(self, case: Case, found: AdjudicationQueue) -> None:
        context = case.judged.context
        by_itself = found.codebook.subject is Subject.STATEMENT and context.text == context.statement
        where = f" · {place_back(self._back)}" if self._back else ""
        texts: dict[str, str | Content] = {
            "#decision": decision_line(case),
            "#about": Content.assemble(("Statement", "bold"), (f"  {about(case)}{where}", "$text-muted")),
            "#heading": Content.styled(answer_heading(found.codebook, context.text), "bold"),
            "#labels": label_lines(case),
            "#question": visible(found.codebook.question),
            "#choices": key_row(found.codebook.options, action="decide"),
        }
        for selector, text in texts.items():
            self.query_one(selector, Static).update(text)
        self.query_one("#decision").display = case.judged.decision is not None
        self.statement.display = not by_itself
        self.statement.show(visible(context.statement, lines=True))
        self.answer.show(visible(context.text, lines=True))
        self._show_reason()
        self._show_note()
        self.show_progress()
        self.query_one("#given").scroll_home(animate=False)
        self.answer.focus()

    def show_progress(self) -> None:
        decided = len(self._decided)
        self.say(pace_line(Tally(decided, decided + len(self._open)), last_line(self._said, 0)))

    def _show_reason(self) -> None:
        chosen = reasons(self._reason, whole=self.size.height >= TALL)
        self.query_one("#reasons", Static).update(chosen)

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self._note))
        line.display = bool(self._note)
