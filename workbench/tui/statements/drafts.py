"""Review: the pending drafts, one at a time; one key decides, and it is in the store before the next one shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.domain.drafting import DRAFTED
from workbench.domain.names import plural
from workbench.domain.statements import VariantKind
from workbench.errors import ConflictError, WorkbenchError
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.editor_dialog import EditorDialog, as_person
from workbench.tui.kit.note_dialog import NoteDialog, note_line
from workbench.tui.kit.status import say
from workbench.tui.rulings.ruling import ruled_by
from workbench.tui.statements.draft_editor import DraftEditor
from workbench.tui.statements.drafts_decide import (
    accept_these,
    accept_this,
    bulk_question,
    reject_this,
    reopen_these,
    unremarkable,
)
from workbench.tui.statements.drafts_format import (
    EXPLAIN,
    Case,
    case_texts,
    filter_words,
    nothing_left,
    place,
)
from workbench.tui.statements.drafts_stack import Stack, read_stack, read_unusable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft

REFRESH_S = 5.0
RULED = 2
"rulings on the statement that are shown: a draft of what is at fault is seldom right"


class DraftsScreen(StoreScreen):
    """The drafts of an instrument that nobody has decided on."""

    CSS_PATH = "drafts.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", "Accept", tooltip="Accept the draft: it becomes a wording of the instrument"),
        Binding("A", "accept_all", "Accept all", show=False, tooltip="Accept all listed drafts that have no hint"),
        Binding("e", "edit", "Edit", tooltip="Edit the draft, then accept it"),
        Binding("r", "reject", "Reject", tooltip="Reject the draft"),
        Binding("s,right,right_square_bracket", "step(1)", "Skip", key_display="s", tooltip="Skip this draft for now"),
        Binding("left,left_square_bracket", "step(-1)", "Before", show=False, tooltip="Go to the previous draft"),
        Binding("z", "undo", "Undo", tooltip="Undo your last decision"),
        Binding("m", "note", "Note", tooltip="Write a note for the next decision"),
        Binding("f", "kind", "Kind", tooltip="Show one kind of draft after another, then all"),
        Binding("t", "statement", "Statement", show=False, tooltip="Show only this statement, then all"),
        Binding(
            "u", "unusable", "Unusable", show=False, tooltip="List the lines that cannot be wordings, with reasons"
        ),
        Binding("n", "draft", "Draft more", tooltip="Draft wordings with a model or a rule"),
        Binding("p", "person", "Person", show=False, tooltip="Choose who reviews"),
        Binding("escape,q", "dismiss(None)", "Leave", key_display="Esc"),
    ]

    @dataclass
    class Found(Message):
        """The stack was read."""

        stack: Stack

    @dataclass
    class Decided(Message):
        """Decisions are in the store."""

        drafts: tuple[int, ...]
        sentence: str

    @dataclass
    class Overtaken(Message):
        """Somebody else was faster; nothing was written."""

        sentence: str

    @dataclass
    class Reopened(Message):
        """Decisions were taken back."""

        draft: int
        "the first of them, to be shown"

    @dataclass
    class Listed(Message):
        """The lines that cannot be wordings were read."""

        text: str

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._stack: Stack | None = None
        self._at = 0
        self._kind: VariantKind | None = None
        self._ref: str | None = None
        self._note = ""
        self._mine: list[tuple[int, ...]] = []
        "drafts that were decided on here, the newest last and those of one key together: what z takes back"
        self._want: int | None = None
        "a draft to show once the stack is read"
        self._deciding = False
        self._busy = True

    def compose_body(self) -> ComposeResult:
        yield Static("Reading the drafts …", id="empty", markup=False)
        with Vertical(id="case"):
            yield Static(id="heading", markup=False)
            with VerticalScroll(id="texts"):
                yield Static(id="basis-name", classes="name", markup=False)
                yield Static(id="basis", markup=False)
                yield Static(id="ruled", markup=False)
                yield Static("draft", classes="name", markup=False)
                yield Static(id="draft", markup=False)
            yield Static(id="existing", markup=False)
            yield Static(id="hints", markup=False)
            yield Static(id="note-line", markup=False)
            yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"drafts › {self._instrument}"
        self.query_one("#case").display = False
        self.read()
        self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        if self._stack is not None:
            self.read()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("accept", "accept_all", "edit", "reject", "step", "note"):
            return self.current is not None
        if action == "undo":
            return bool(self._mine)
        return True

    @property
    def waiting(self) -> tuple[Draft, ...]:
        """The drafts that the filters leave."""
        drafts = self._stack.drafts if self._stack else ()
        return tuple(d for d in drafts if self._kind in (None, d.kind) and self._ref in (None, d.ref))

    @property
    def current(self) -> Case | None:
        """The draft on the screen, with its statement."""
        waiting = self.waiting
        if self._stack is None or not waiting:
            return None
        draft = waiting[min(self._at, len(waiting) - 1)]
        return self._stack.case(draft)

    def tick(self) -> None:
        """Look again: drafts arrive, and others review at the same time."""
        if self.is_current and not self._busy:
            self.read(self._stack)

    @on(Found)
    def take(self, event: Found) -> None:
        """Show what is there now, and stay on the draft that was shown."""
        before = self.current
        self._stack, self._busy = event.stack, self._deciding
        self.trouble.hide()
        left = [draft.id for draft in self.waiting]
        if self._want in left:
            self._at = left.index(self._want)
        elif before is not None:
            self._stay(before.draft)
        self._want = None
        self._show()

    @on(Decided)
    def go_on(self, event: Decided) -> None:
        self._mine += [event.drafts] if event.drafts else []
        self._note, self._deciding = "", False
        say(self, event.sentence)
        self.read()

    @on(Overtaken)
    def look_again(self, event: Overtaken) -> None:
        self._deciding = False
        say(self, event.sentence, warns=True)
        self.read()

    @on(Reopened)
    def return_to(self, event: Reopened) -> None:
        taken = len(self._mine.pop())
        say(self, f"Undone: {plural(taken, 'decision')}. The draft is pending again.")
        self._kind = self._ref = None
        self._want, self._deciding = event.draft, False
        self.read()

    @on(Listed)
    def show_list(self, event: Listed) -> None:
        self.app.push_screen(TextScreen("Lines that cannot be wordings", event.text, wide=True))

    def failed(self, error: WorkbenchError) -> None:
        self._busy = self._deciding = False
        super().failed(error)

    def action_refresh(self) -> None:
        self.read()

    def action_accept(self) -> None:
        """Let the draft enter the instrument as it is."""
        if (case := self.current) is not None:
            self._decide(lambda store, person: self.Decided(*accept_this(store, case, None, person, self._note)))

    def action_accept_all(self) -> None:
        """Let all that wait here enter, but those that a person should look at; ask first."""
        stack = self._stack
        if stack is None or self._busy:
            return
        cases = [stack.case(draft) for draft in self.waiting]
        if not (chosen := unremarkable(cases)):
            say(self, "Every draft here has a hint or replaces a wording: decide them one by one.", warns=True)
            return

        def take(yes: bool | None) -> None:
            if yes:
                self._decide(lambda store, person: self.Decided(*accept_these(store, chosen, person, self._note)))

        question = bulk_question(cases, chosen, filter_words(self._kind, self._ref))
        self.app.push_screen(ConfirmScreen(question, "accept them", "review them first"), take)

    def action_edit(self) -> None:
        case = self.current
        if case is None or self._busy:
            return

        def take(text: str | None) -> None:
            if text is not None:
                self._decide(lambda store, person: self.Decided(*accept_this(store, case, text, person, self._note)))

        self.app.push_screen(DraftEditor(case), take)

    def action_reject(self) -> None:
        if (case := self.current) is not None:
            self._decide(lambda store, person: self.Decided(*reject_this(store, case, person, self._note)))

    def action_step(self, by: int) -> None:
        """Show a neighbour; behind the last one comes the first."""
        if not self._busy and (waiting := self.waiting):
            self._at = (min(self._at, len(waiting) - 1) + by) % len(waiting)
            self._note = ""
            self._show()

    def action_undo(self) -> None:
        """Take the newest decision of this session back, or all that one key made."""
        if self._mine:
            self._decide(lambda store, person: self.Reopened(reopen_these(store, self._mine[-1], person)))

    def action_note(self) -> None:
        if not self._busy and self.current is not None:
            self.app.push_screen(NoteDialog(self._note), self._keep_note)

    def action_kind(self) -> None:
        """Show one kind after another of those that wait, then all."""
        if self._stack is None or self._busy:
            return
        there = {draft.kind for draft in self._stack.drafts}
        turn = [None, *(kind for kind in DRAFTED if kind in there)]
        self._filter(turn[(turn.index(self._kind) + 1) % len(turn)] if self._kind in turn else None, self._ref)

    def action_statement(self) -> None:
        """Show only the drafts of this statement, or all again."""
        if not self._busy:
            case = self.current
            self._filter(self._kind, case.draft.ref if case is not None and self._ref is None else None)

    def action_unusable(self) -> None:
        self.list_unusable(self._ref)

    def action_draft(self) -> None:
        """Let more be drafted."""
        from workbench.tui.statements.draft_form import DraftForm

        def started(job: int | None) -> None:
            if job is not None:
                say(self, f"Job {job} is running; its drafts appear here as they arrive.")

        self.app.push_screen(DraftForm(self._instrument, (self._ref,) if self._ref else ()), started)

    def action_person(self) -> None:
        """Say who reviews from now on."""

        def take(name: str | None) -> None:
            if name is not None:
                setattr(self.app, "annotator", name)  # noqa: B010

        self.app.push_screen(EditorDialog(self._instrument), take)

    def _decide(self, act: Callable[[Store, str], Message]) -> None:
        """Write a decision as the person who sits here, once it is known who that is."""

        def go(person: str) -> None:
            if not self._busy:
                self._busy = self._deciding = True
                self.write(lambda store: act(store, person))

        if not self._busy:
            as_person(self, self._instrument, go)

    def _keep_note(self, note: str | None) -> None:
        if note is not None:
            self._note = note
            self._show_note()

    def _filter(self, kind: VariantKind | None, ref: str | None) -> None:
        """Limit the stack, and stay on the draft where it is left."""
        before = self.current
        self._kind, self._ref, self._at = kind, ref, 0
        left = [draft.id for draft in self.waiting]
        if before is not None and before.draft.id in left:
            self._at = left.index(before.draft.id)
        self._show()

    def _stay(self, before: Draft) -> None:
        """Go on showing the draft that was shown; where somebody else decided on it, say so."""
        left = [draft.id for draft in self.waiting]
        if before.id in left:
            self._at = left.index(before.id)
            return
        self._at = min(self._at, max(0, len(left) - 1))
        decided = self._stack.decided.get(before.id) if self._stack else None
        if decided is not None and not any(before.id in mine for mine in self._mine):
            what, who = decided
            say(self, f"{before.ref}: {who} has {what} this draft in the meantime.", warns=True)

    def _show(self) -> None:
        case, stack = self.current, self._stack
        if stack is None:
            return
        waiting, narrowed = self.waiting, filter_words(self._kind, self._ref)
        note = place(min(self._at, len(waiting) - 1), len(waiting), stack.counts)
        self.title_bar.note = f"{narrowed} · {note}" if narrowed else note
        self.refresh_bindings()
        empty = self.query_one("#empty", Static)
        empty.display, self.query_one("#case").display = case is None, case is not None
        if case is None:
            empty.update(nothing_left(stack.counts, narrowed))
            self.set_focus(None)
            return
        for selector, text in case_texts(case).items():
            self.query_one(selector, Static).update(text)
        ruled = self.query_one("#ruled", Static)
        lines = ruled_by(stack.rulings.get(case.draft.ref, ())[:RULED])
        ruled.update(Content("\n").join(lines))
        ruled.display = bool(lines)
        self._show_note()
        self.query_one("#texts").scroll_home(animate=False)
        self.query_one("#texts").focus()

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self._note))
        line.display = bool(self._note)

    @work(thread=True, exclusive=True, exit_on_error=False, group="read", description="")
    def read(self, known: Stack | None = None) -> None:
        """Read the stack; where it is as `known`, say nothing."""
        from stores.core.store import Store

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            if known is not None and store.drafts.counts(self._instrument) == known.counts:
                return
            stack = read_stack(store, self._instrument)
        if not worker.is_cancelled:
            self.post_message(self.Found(stack))

    @work(thread=True, exit_on_error=False, group="write")
    def write(self, act: Callable[[Store], Message]) -> None:
        """Write to the store, and say what that came to."""
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            try:
                done = act(store)
            except ConflictError as error:
                done = self.Overtaken(str(error))
        self.post_message(done)

    @work(thread=True, exclusive=True, exit_on_error=False, group="list")
    def list_unusable(self, ref: str | None) -> None:
        self.post_message(self.Listed(read_unusable(self.store_path, self._instrument, ref)))
