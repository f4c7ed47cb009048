"""Adjudication: only what people disagree on, one item at a time, anonymous; one key decides and is committed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.domain.annotations import Reason, Subject
from workbench.errors import WorkbenchError
from workbench.tui.annotation.adjudicate_format import (
    EXPLAIN,
    LONGEST_NOTE,
    REASONS,
    Case,
    Docket,
    about,
    answer_heading,
    choices,
    counts,
    decision_line,
    guideline,
    label_lines,
    note_line,
    nothing_left,
    place_back,
    reasons,
)
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import TextScreen

if TYPE_CHECKING:
    from stores.annotation.labels import Judged
    from stores.core.store import Store

STATEMENT_LINES = 5
"lines of a statement in sight; it scrolls"


class NoteDialog(ModalScreen[str | None]):
    """One line of text; dismisses it, or None where nothing is to change."""

    CSS_PATH = "adjudicate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", key_display="Esc")]

    def __init__(self, note: str) -> None:
        super().__init__()
        self._note = note

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small") as dialog:
            dialog.border_title = "Note on the decision"
            dialog.border_subtitle = "Enter keep · Esc cancel"
            yield Input(self._note, id="note", max_length=LONGEST_NOTE, compact=True)

    @on(Input.Submitted)
    def keep(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class AdjudicateScreen(StoreScreen):
    """The open disagreements of a queue."""

    CSS_PATH = "adjudicate.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "reason(0)", "Reason", key_display="1-6", tooltip="Say why they differ, before deciding"),
        *(Binding(str(n + 1), f"reason({n})", show=False) for n in range(1, len(REASONS))),
        Binding("c", "cycle_reason", "Next reason", show=False),
        Binding("m", "note", "Note", tooltip="Write a note that the decision carries"),
        Binding("s", "skip", "Skip", tooltip="Leave this item for later without deciding"),
        Binding("z,b", "back", "Back", key_display="z", tooltip="Go back to the decision before, to decide anew"),
        Binding("g", "guide", "Guide", tooltip="Read the guideline"),
        Binding("escape,q", "dismiss(None)", "Leave", key_display="Esc"),
    ]

    statement = query_one("#statement", ReadText)
    answer = query_one("#answer", ReadText)

    @dataclass
    class Found(Message):
        """The disagreements are there."""

        docket: Docket

    @dataclass
    class Committed(Message):
        """A decision is in the store."""

        case: Case

    @dataclass
    class Changed(Message):
        """Somebody labelled the item while it was looked at; nothing was decided."""

        before: Case
        now: Case | None
        "None: every label was withdrawn"

    def __init__(self, queue: str) -> None:
        super().__init__()
        self._queue = queue
        self._docket: Docket | None = None
        self._open: list[Case] = []
        self._decided: list[Case] = []
        self._back = 0
        self._reason, self._note = Reason.OTHER, ""
        self._busy = True
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

    def on_mount(self) -> None:
        self.title_bar.place = f"adjudicate › {self._queue}"
        self._auditor = getattr(self.app, "annotator", None)
        self.query_one("#case").display = False
        self.read()

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
        first = self._docket is None
        self._docket, self._back, self._busy = event.docket, 0, False
        self._open, self._decided = list(event.docket.open), list(event.docket.decided)
        if first:
            self._bind_labels()
        self.trouble.hide()
        self._show()
        if first and self._auditor is None and self._open:
            self._ask_name()

    @on(Committed)
    def go_on(self, event: Committed) -> None:
        self._forget(event.case)
        self._decided.append(event.case)
        self._busy, self._back = False, 0
        self.trouble.hide()
        self._show()
        if not self._open:
            self.action_refresh()  # others may have labelled meanwhile

    @on(Changed)
    def look_again(self, event: Changed) -> None:
        self._busy, self._back = False, 0
        self._forget(event.before)
        if event.now is not None and event.now.judged.open:
            self._open.insert(0, event.now)
        elif event.now is not None and event.now.judged.decision is not None:
            self._decided.append(event.now)
            self._back = 1
        self.notify("This item's labels changed while it was shown. Nothing was decided: look again.", markup=False)
        self._show()

    def failed(self, error: WorkbenchError) -> None:
        self._busy = False
        super().failed(error)

    def action_refresh(self) -> None:
        if not self._busy or self._docket is None:
            self._busy = True
            self.read()

    def action_decide(self, place: int) -> None:
        """Commit the label with this place in the codebook."""
        case, docket = self.current, self._docket
        if self._busy or case is None or docket is None:
            return
        if self._auditor is None:
            self._ask_name()
            return
        self._busy = True
        self.commit(case, docket.codebook.labels[place], self._reason, self._note, self._auditor)

    def action_reason(self, place: int) -> None:
        """Choose why people disagreed; the next label key commits it."""
        if not self._busy and self.current is not None:
            self._reason = list(REASONS)[place]
            self.query_one("#reasons", Static).update(reasons(self._reason))

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
            self.notify("This is the only one left.", markup=False)
            return
        else:
            self._open.append(self._open.pop(0))
        self._show()

    def action_back(self) -> None:
        """Show the decision before."""
        if self._busy:
            return
        if self._back == len(self._decided):
            self.notify("There is no decision before this.", markup=False)
            return
        self._back += 1
        self._show()

    def action_guide(self) -> None:
        if (docket := self._docket) is not None:
            self.app.push_screen(TextScreen(f"Guideline: {docket.codebook.title}", guideline(docket.codebook)))

    def _bind_labels(self) -> None:
        """Give the codebook's keys their labels. They win over other keys: without them nothing can be decided."""
        assert self._docket is not None
        options = self._docket.codebook.options
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
        others = {key: found for key, found in bound.items() if key not in deciding}
        bound.clear()
        bound.update(deciding | others)  # the footer keeps this order

    def _ask_name(self) -> None:
        from workbench.tui.kit.person_dialog import PersonDialog

        self.app.push_screen(PersonDialog(()), self._keep_name)  # no list: it would name those who labelled

    def _keep_name(self, name: str | None) -> None:
        if name is not None:
            self._auditor = name
            if hasattr(self.app, "annotator"):
                self.app.annotator = name

    def _keep_note(self, note: str | None) -> None:
        if note is not None:
            self._note = note
            self._show_note()

    def _forget(self, case: Case) -> None:
        self._open = [each for each in self._open if each.unit != case.unit]
        self._decided = [each for each in self._decided if each.unit != case.unit]

    def _show(self) -> None:
        case, docket = self.current, self._docket
        assert docket is not None
        self.title_bar.note = counts(len(self._open), len(self._decided))
        self.refresh_bindings()
        empty = self.query_one("#empty", Static)
        empty.display, self.query_one("#case").display = case is None, case is not None
        if case is None:
            empty.update(nothing_left(docket))
            self.set_focus(None)
            return
        past = case.judged.decision if self._back else None
        self._reason = Reason(past.reason) if past else Reason.OTHER
        self._note = past.note if past else ""
        self._show_case(case, docket)

    def _show_case(self, case: Case, docket: Docket) -> None:
        context = case.judged.context
        by_itself = docket.codebook.subject is Subject.STATEMENT and context.text == context.statement
        where = f" · {place_back(self._back)}" if self._back else ""
        texts: dict[str, str | Content] = {
            "#decision": decision_line(case),
            "#about": Content.assemble(("Statement", "bold"), (f"  {about(case)}{where}", "$text-muted")),
            "#heading": Content.styled(answer_heading(docket.codebook, context.text), "bold"),
            "#labels": label_lines(case),
            "#question": visible(docket.codebook.question),
            "#choices": choices(docket.codebook.options),
            "#reasons": reasons(self._reason),
        }
        for selector, text in texts.items():
            self.query_one(selector, Static).update(text)
        self.query_one("#decision").display = case.judged.decision is not None
        self.statement.display = not by_itself
        self.statement.show(visible(context.statement, lines=True))
        self.answer.show(visible(context.text, lines=True))
        self._show_note()
        self.query_one("#given").scroll_home(animate=False)
        self.answer.focus()

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self._note))
        line.display = bool(self._note)

    @work(thread=True, exclusive=True, exit_on_error=False, group="read")
    def read(self) -> None:
        worker = get_current_worker()
        docket = docket_of(self.store_path, self._queue)
        if not worker.is_cancelled:
            self.post_message(self.Found(docket))

    @work(thread=True, exit_on_error=False, group="commit")
    def commit(self, case: Case, label: str, reason: Reason, note: str, auditor: str) -> None:
        """Commit a decision on the labels that were shown; on others, show those."""
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            now = case_of(store, self._queue, case.unit)
            if now is None or now.judged.labels != case.judged.labels:
                self.post_message(self.Changed(case, now))
                return
            codebook = store.queues.get(self._queue).codebook
            store.labels.decide(case.unit, codebook, label, reason, note, auditor, seen=case.judged.labels)
            after = case_of(store, self._queue, case.unit)
        self.post_message(self.Committed(after or case))


def docket_of(path: Path, queue: str) -> Docket:
    """Read what there is to adjudicate in a queue."""
    from stores.core.store import Store

    with Store.open(path) as store:
        found = store.queues.get(queue)
        judged = store.labels.judged(found.codebook.name, queue=queue, only_disputed=True)
        decided = [item for item in judged if item.decision is not None and not item.open]
        compared = 0
        if not judged:
            labelled = store.labels.judged(found.codebook.name, queue=queue)
            compared = sum(len(item.labels) > 1 for item in labelled)
    return Docket(
        codebook=found.codebook,
        open=tuple(as_case(item) for item in judged if item.open),
        decided=tuple(as_case(item) for item in sorted(decided, key=lambda item: item.decision.at)),  # type: ignore[union-attr]
        compared=compared,
    )


def case_of(store: Store, queue: str, unit: int) -> Case | None:
    """Read one item; None where nobody labels it any more."""
    found = store.labels.judged(store.queues.get(queue).codebook.name, queue=queue, unit=unit)
    return as_case(found[0]) if found else None


def as_case(judged: Judged) -> Case:
    from stores.annotation.labels import anonymous

    return Case(judged, anonymous(judged))
