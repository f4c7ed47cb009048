"""Adjudication of disputed items: one anonymous item at a time, and one key decides.

Each decision is committed at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.annotations import Codebook, DisagreementReason, LabelSubject
from workbench.domain.names import plural
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.adjudication import (
    AdjudicationQueue,
    AdjudicationSession,
    DisputedItem,
    DisputedItems,
    UndoneDecision,
)
from workbench.sessions.items import UnitCounts
from workbench.tui.annotation.annotate_format import (
    CHANGED,
    NAME_COLUMNS,
    UNDONE,
    ReadText,
    guideline,
    key_row,
    last_line,
    pace_line,
)
from workbench.tui.format import literal
from workbench.tui.keymap import keys_of
from workbench.tui.kit.base import app_of, say
from workbench.tui.kit.dialogs import (
    NoteDialog,
    TextScreen,
    confirm,
    note_line,
    short_note,
    with_answer,
)
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.kit.person_dialog import PersonDialog, ask_person
from workbench.tui.kit.session_screen import SessionScreen, ShowResult

if TYPE_CHECKING:
    from stores.annotation.labels import AdjudicatorDecision, GivenLabel


REASONS = {
    DisagreementReason.SLIP: "one annotator pressed the wrong key or misread",
    DisagreementReason.AMBIGUOUS: "the text supports both labels",
    DisagreementReason.GUIDELINE: "the guideline does not cover this",
    DisagreementReason.CONTEXT: "deciding requires the statement",
    DisagreementReason.HEDGED: "the response argues both sides before it decides",
    DisagreementReason.OTHER: "none of the reasons 1 to 5; a note can say more",
}
"explanations of the reasons, in the order of their digits"
IN_SHORT = {
    DisagreementReason.SLIP: "wrong key",
    DisagreementReason.AMBIGUOUS: "supports both",
    DisagreementReason.GUIDELINE: "does not say",
    DisagreementReason.CONTEXT: "needs statement",
    DisagreementReason.HEDGED: "argues both",
    DisagreementReason.OTHER: "none of 1-5",
}
"short explanations for the list of reasons, of which 80 columns have three side by side"

EXPLAIN = section("screens-annotation", "Adjudicating")


def nothing_left(found: AdjudicationQueue) -> str:
    """Return why no item is visible."""
    if found.decided:
        return (
            f"All disagreements in this queue are decided: {len(found.decided):,}.\n\n"
            "[ goes back to the last decision, z undoes your last one."
        )
    if not found.compared:
        return "No item has two labels yet, so there are no disagreements."
    items_text = "1 item has" if found.compared == 1 else f"{found.compared:,} items have"
    return f"No disagreements in this queue: {items_text} two or more labels, and they agree."


def about(case: DisputedItem) -> str:
    """Return the position of an item: `economic · eco-01 · original`.

    Its side is omitted, because it would sway the adjudicator.
    """
    context = case.judged.context
    return " · ".join(
        visible(text) for text in (context.dimension, context.ref, context.variant) if text
    )


def answer_heading(codebook: Codebook, text: str) -> str:
    """Return the heading of the text that was labelled."""
    if codebook.subject is LabelSubject.STATEMENT:
        return "Text"
    return "Response" if text.strip() else "Response (empty)"


def label_lines(case: DisputedItem) -> Content:
    """Return one line per label, under letters."""
    label_width = max((len(visible(given.label)) for _, given in case.given), default=0)
    return Content("\n").join(
        _label_line(letter, given, label_width) for letter, given in case.given
    )


def _label_line(letter: str, given: GivenLabel, wide: int) -> Content:
    parts = [
        Content.styled(f"{letter}  ", "$text-muted"),
        Content.styled(f"{visible(given.label):<{wide}}", "bold"),
    ]
    if given.note:
        parts.append(Content(f"  “{short_note(given.note)}”"))
    if given.flagged:
        parts.append(Content.styled("  ⚑ flagged", "$text-warning"))
    return Content.assemble(*parts)


def decision_line(case: DisputedItem) -> str:
    """Return the line of the earlier decision, or an empty string without one."""
    decision = case.judged.decision
    if decision is None:
        return ""
    if case.judged.open:
        return f"↺ reopened: new labels came after the decision of {_decided(decision)}"
    return f"✓ decided {_decided(decision)}. A label key changes the decision."


def _decided(decision: AdjudicatorDecision) -> str:
    note = f" “{short_note(decision.note)}”" if decision.note else ""
    return f"{moment(decision.at)}: {visible(decision.label)} ({visible(decision.reason)}){note}"


def moment(at: str) -> str:
    """Return a stored time in a readable form.

    Examples
    --------
    >>> moment("2026-11-21T09:30:00.123Z")
    '2026-11-21 09:30 UTC'
    """
    return f"{at[:10]} {at[11:16]} UTC"


def reasons(chosen: DisagreementReason, *, whole: bool) -> Content:
    """Return the reasons with digits and short explanations, the chosen one marked.

    With `whole`, a sentence about the chosen reason follows.
    """
    parts = list(_reasons(chosen))
    half = len(parts) // 2
    rows = [Content("  ").join(row) for row in (parts[:half], parts[half:])]
    if whole:
        rows.append(
            Content.styled(f"Why they differ: {chosen.value} – {REASONS[chosen]}", "$text-muted")
        )
    return Content("\n").join(rows)


def _reasons(chosen: DisagreementReason) -> Iterator[Content]:
    for digit, reason in enumerate(REASONS, 1):
        explanation = (f" ({IN_SHORT[reason]})", "$text-muted")
        if reason is chosen:
            yield Content.assemble((f"▸{digit} {reason.value}", "bold"), explanation)
        else:
            yield Content.assemble((f" {digit}", "$text-accent"), f" {reason.value}", explanation)


def counts(left: int, decided: int) -> str:
    """Return the counts of a queue: `3 left · 2 decided`."""
    return f"{left:,} left · {decided:,} decided"


def place_back(back: int) -> str:
    """Return the position among earlier decisions, such as `the last decision`."""
    return "the last decision" if back == 1 else f"{plural(back, 'decision')} back"


CHANGED_MEANWHILE = (
    "This item's labels changed while you read it. Nothing was decided; read it again."
)
DECIDED_MEANWHILE = (
    "This item was decided in another session while you read it. Nothing was stored; read it again."
)


def _decided_since(before: DisputedItem, now: DisputedItem) -> bool:
    """Return whether only the decision on an item changed."""
    return (
        before.judged.labels == now.judged.labels and before.judged.decision != now.judged.decision
    )


STATEMENT_LINES = 5
"number of visible lines of a statement, which scrolls"
TALL = 30
"terminal lines from which there is room for a sentence about the chosen reason"


class AdjudicateScreen(SessionScreen[AdjudicationSession]):
    """The screen of the open disagreements of a queue."""

    CSS_PATH = "adjudicate.tcss"
    EXPLAIN = EXPLAIN
    DECIDES: ClassVar[frozenset[str]] = frozenset(
        ["decide", "reason", "cycle_reason", "note", "skip", "undo"]
    )
    FREE: ClassVar[frozenset[str]] = frozenset({"leave", "guide"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "1",
            "reason(0)",
            "Reason",
            key_display="1-6",
            tooltip="Choose why the labels differ, before deciding",
        ),
        *(
            Binding(str(index + 1), f"reason({index})", show=False)
            for index in range(1, len(REASONS))
        ),
        Binding("c", "cycle_reason", "Next reason", show=False, tooltip="Choose the next reason"),
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
        Binding("escape,q", "leave", "Leave", key_display="Esc", tooltip="Leave this screen"),
    ]

    statement = query_one("#statement", ReadText)
    answer = query_one("#answer", ReadText)

    def __init__(self, queue: str) -> None:
        super().__init__()
        self._queue = queue
        self.items = DisputedItems()
        self._auditor: str | None = None
        self._shown: int | None = None
        "unit of the visible item"

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
        self._auditor = app_of(self).annotator
        self.query_one("#case").display = False
        self.begin(lambda path: AdjudicationSession(path, self._queue))
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.current is not None or action not in (
            "decide",
            "reason",
            "cycle_reason",
            "note",
            "skip",
        )

    @property
    def current(self) -> DisputedItem | None:
        """The visible item, or None without one."""
        return self.items.current

    def take(self, queue: AdjudicationQueue) -> None:
        self.request_answered()
        previous = self.items.queue
        self.items.take(queue)
        if previous is None or previous.codebook != queue.codebook:
            if previous is not None:
                say(self, CHANGED, warns=True)
            self._bind_labels(queue.codebook)
        self._show()
        if previous is None and self._auditor is None and queue.open:
            self._ask_name()

    def go_on(self, item: DisputedItem, label: str) -> None:
        self.request_answered()
        self.items.go_on(item)
        self._said = f"{label} (saved)"
        self._show()
        if not self.items.open:
            self.action_refresh()  # Others may have labelled meanwhile.

    def take_back(self, item: DisputedItem, undone: UndoneDecision) -> None:
        """Show the item of an undone decision: open again, or with its earlier decision."""
        self.request_answered()
        self._said = f"{UNDONE}: {undone.label}"
        self.items.return_to(item, undone)
        self._show()

    def say_nothing_to_undo(self) -> None:
        self.request_answered()
        say(self, "Nothing to undo: you have decided nothing in this queue.", warns=True)

    def look_again(self, before: DisputedItem, now: DisputedItem | None) -> None:
        self.request_answered()
        self.items.replace(before, now)
        is_decided = now is not None and _decided_since(before, now)
        say(self, DECIDED_MEANWHILE if is_decided else CHANGED_MEANWHILE, warns=True)
        self._show()

    def action_refresh(self) -> None:
        if not self._busy or self.items.queue is None:
            self.submit(lambda session: partial(self.take, session.read()))

    def action_decide(self, label_index: int) -> None:
        """Commit the label at an index of the codebook."""
        item = self.current
        if self._busy or item is None:
            return
        if self._auditor is None:
            self._ask_name()
            return
        if all(given.annotator != self._auditor for given in item.judged.labels):
            self._commit(item, label_index)
            return

        question = (
            f"{visible(self._auditor)} labelled this item, and would choose between their "
            "own label and another's."
        )
        confirm(
            self,
            question,
            "Decide anyway",
            "Leave it to another person",
            lambda: self._commit(item, label_index),
        )

    def _commit(self, item: DisputedItem, label_index: int) -> None:
        queue, auditor = self.items.queue, self._auditor
        if self._busy or queue is None or auditor is None:
            return
        codebook, label = queue.codebook, queue.codebook.labels[label_index]
        reason, note = self.items.reason, self.items.note

        def show(session: AdjudicationSession, is_decided: bool) -> ShowResult:
            current = session.item(item.unit)
            if not is_decided:
                return partial(self.look_again, item, current)
            return partial(self.go_on, current or item, label)

        self.take_step(
            lambda session: session.decide(item, codebook, label, reason, note, auditor),
            lambda is_decided: f"{label} (saved)" if is_decided else "",
            show,
            lost=visible(label),
        )

    def action_reason(self, reason_index: int) -> None:
        """Choose the reason of a disagreement, which the next label key commits."""
        if not self._busy and self.current is not None:
            self._draft(list(REASONS)[reason_index], self.items.note)

    def action_cycle_reason(self) -> None:
        all_reasons = list(REASONS)
        self.action_reason((all_reasons.index(self.items.reason) + 1) % len(all_reasons))

    def action_note(self) -> None:
        if not self._busy and self.current is not None:
            with_answer(self, NoteDialog(self.items.note), self._keep_note)

    def action_skip(self) -> None:
        """Move the item behind the others, or return from an earlier decision to the open items."""
        if self._busy or self.current is None:
            return
        was_open = not self.items.n_back
        if not self.items.skip():
            say(self, "This is the last item left.", warns=True)
            return
        if was_open:
            self._said = "skipped"
        self._show()

    def action_undo(self) -> None:
        """Undo the newest decision of this person, including those of earlier visits."""
        if self._busy:
            return
        auditor = self._auditor
        if auditor is None:
            self._ask_name()
            return

        def describe(undone: UndoneDecision | None) -> str:
            return f"{UNDONE}: {undone.label}" if undone is not None else ""

        def show(session: AdjudicationSession, undone: UndoneDecision | None) -> ShowResult:
            item = session.item(undone.unit) if undone is not None else None
            if item is None or undone is None:
                return self.say_nothing_to_undo
            return partial(self.take_back, item, undone)

        self.take_step(lambda session: session.undo(auditor), describe, show, lost="the undo")

    def action_back(self) -> None:
        """Show the previous decision."""
        if self._busy:
            return
        if not self.items.go_back():
            say(self, "There is no earlier decision.", warns=True)
            return
        self._show()

    def action_guide(self) -> None:
        if self.items.queue is None:
            return
        codebook, guide_keys = self.items.queue.codebook, keys_of(self, "guide")
        title = f"Guideline: {codebook.title}"
        self.app.push_screen(TextScreen(title, guideline(codebook), closed_by=guide_keys))

    def _bind_labels(self, codebook: Codebook) -> None:
        """Bind the codebook's keys to their labels, with priority over other keys.

        Without them nothing can be decided.
        """
        options = codebook.options
        keys = " ".join(visible(option.key) for option in options)
        bindings: dict[str, list[Binding]] = {}
        for index, option in enumerate(options):
            binding = Binding(
                option.key,
                f"decide({index})",
                "Decide",
                show=index == 0,
                key_display=keys if index == 0 else option.key,
                tooltip=f"Decide: {visible(option.label)}",
                priority=True,
            )
            bindings[option.key] = [binding]
        all_bindings = self._bindings.key_to_bindings
        for key, key_bindings in all_bindings.items():
            if not key_bindings[0].action.startswith("decide("):
                bindings.setdefault(key, key_bindings)
        all_bindings.clear()
        all_bindings.update(bindings)  # The footer keeps this order.

    def _ask_name(self) -> None:
        note = "Your decisions are stored under this name."
        # There is no list of names, because it would show who labelled.
        dialog = PersonDialog((), self._auditor, note=note, what="adjudicator")
        ask_person(self, dialog, self._keep_name)

    def action_person(self) -> None:
        """Ask for the adjudicator's name."""
        if not self._busy:
            self._ask_name()

    def _keep_name(self, name: str) -> None:
        self._auditor = name
        if self.items.queue is not None:
            self._show_who()

    def _keep_note(self, note: str) -> None:
        self._draft(self.items.reason, note)

    def _draft(self, reason: DisagreementReason, note: str) -> None:
        """Show the reason and the note of the next decision. An open item keeps them until then."""
        self.items.draft(reason, note)
        self._show_reason()
        self._show_note()

    def _show(self) -> None:
        case, queue = self.current, self.items.queue
        assert queue is not None
        self._show_who()
        self.refresh_bindings()
        empty = self.query_one("#empty", Static)
        empty.display, self.query_one("#case").display = case is None, case is not None
        if case is None:
            empty.update(nothing_left(queue))
            self.set_focus(None)
            return
        self._show_case(case, queue.codebook)

    def _show_who(self) -> None:
        """Show the adjudicator and the numbers of items in the title."""
        auditor_text = (
            f" · by {literal(self._auditor, NAME_COLUMNS).plain}" if self._auditor else ""
        )
        self.title_bar.place = f"adjudicate › {self._queue}{auditor_text}"
        self.title_bar.note = counts(len(self.items.open), len(self.items.decided))

    def _show_case(self, case: DisputedItem, codebook: Codebook) -> None:
        context = case.judged.context
        if context.unit != self._shown:
            self._shown = context.unit
            gate_of(self).show_other(self)
        is_alone = codebook.subject is LabelSubject.STATEMENT and context.text == context.statement
        position_text = f" · {place_back(self.items.n_back)}" if self.items.n_back else ""
        texts: dict[str, str | Content] = {
            "#decision": decision_line(case),
            "#about": Content.assemble(
                ("Statement", "bold"), (f"  {about(case)}{position_text}", "$text-muted")
            ),
            "#heading": Content.styled(answer_heading(codebook, context.text), "bold"),
            "#labels": label_lines(case),
            "#question": visible(codebook.question),
            "#choices": key_row(codebook.options, action="decide"),
        }
        for selector, text in texts.items():
            self.query_one(selector, Static).update(text)
        self.query_one("#decision").display = case.judged.decision is not None
        self.statement.display = not is_alone
        self.statement.show(visible(context.statement, lines=True))
        self.answer.show(visible(context.text, lines=True))
        self._show_reason()
        self._show_note()
        self.show_progress()
        self.query_one("#given").scroll_home(animate=False)
        self.answer.focus()

    def show_progress(self) -> None:
        n_decided = len(self.items.decided)
        progress = UnitCounts(n_decided, n_decided + len(self.items.open))
        self.say(pace_line(progress, last_line(self._said, 0)))

    def _show_reason(self) -> None:
        reason_lines = reasons(self.items.reason, whole=self.size.height >= TALL)
        self.query_one("#reasons", Static).update(reason_lines)

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self.items.note))
        line.display = bool(self.items.note)
