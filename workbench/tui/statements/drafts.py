"""The review of pending drafts, one at a time: one key decides, and it is stored at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.domain.drafting import SINGLE, CallLabel, kind_words
from workbench.domain.names import plural
from workbench.domain.statements import (
    ORIGINAL,
    RELATION_OF,
    Relation,
    VariantKind,
)
from workbench.errors import ConflictError, UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.drafts import DraftCase, DraftDecision, DraftReview, DraftStack, read_stack
from workbench.tui.kit.base import StoreScreen, in_background, say, worker
from workbench.tui.kit.dialogs import NoteDialog, TextScreen, confirm, note_line, with_answer
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.kit.person_dialog import EditorDialog, as_person, ask_person
from workbench.tui.routes import screen
from workbench.tui.rulings.ruling import ruling_lines
from workbench.tui.rulings.standing import RuledPlace, standing_in
from workbench.tui.statements.statement_format import difference, marked
from workbench.workshop.drafting import entering, fault_in_words, hints

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft

T = TypeVar("T")
SHOWN = 300
"maximum number of characters of a text in a list"
LEAST_COMMON = 0.25
"share of a draft that the original has, too; below it nearly every word would be marked"
MOST_HELD = 4
"maximum number of wordings of a kind beside a draft, the newest first; others are counted"
MOST_LINES = 400
"maximum number of lines that cannot be wordings; others are counted"

EXPLAIN = section("screens-statements", "Reviewing drafts")


def heading(case: DraftCase) -> Content:
    """Return the heading of a draft: its kind and language, and what is expected of it."""
    draft = case.draft
    bias_or_stance = case.bias.value.replace("_", "/") if case.bias else expected(draft.kind)
    parts = [case.statement.topic or "", draft.language, bias_or_stance]
    return Content.assemble(
        (visible(f"{draft.ref} · {kind_words(draft.kind)}"), "bold"),
        ("  " + " · ".join(visible(text) for text in parts if text), "$text-muted"),
    )


def expected(kind: VariantKind) -> str:
    """Return the expected stance on a wording of a kind, relative to the original, as text."""
    if kind is VariantKind.ORIGINAL:
        return "becomes the original"
    return {
        Relation.SAME: "expected: the same stance as the original",
        Relation.FLIPPED: "expected: the opposite stance",
        Relation.FREE: "no expected stance",
    }[RELATION_OF[kind]]


def texts(case: DraftCase) -> tuple[Content, Content]:
    """Return the basis of a draft and the draft, with marked differences.

    The marks are left out if most of the text differs.
    """
    (old_stem, old_options), (new_stem, new_options) = (
        _asked(text, case.draft.kind) for text in (case.draft.basis, case.text)
    )
    left, right = difference(old_stem, new_stem)
    n_common = sum(len(part.text) for part in right if not part.changed)
    if n_common < LEAST_COMMON * len(new_stem):
        return Content(visible(case.draft.basis, lines=True)), Content(
            visible(case.text, lines=True)
        )
    option_texts = (Content(visible(text, lines=True)) for text in (old_options, new_options))
    return marked(left, "−") + next(option_texts), marked(right, "+") + next(option_texts)


def _asked(text: str, kind: VariantKind) -> tuple[str, str]:
    """Return a text and its options. Most texts have none.

    Readers compare options line by line, so they are kept apart.
    """
    stem, option_start, options = (
        text.partition("\nA. ") if kind is VariantKind.CHANGED else (text, "", "")
    )
    return stem, option_start + options


def case_texts(case: DraftCase) -> dict[str, Content]:
    """Return the content of each widget of a draft by its selector."""
    basis_content, draft_content = texts(case)
    return {
        "#heading": heading(case),
        "#basis-name": Content(
            "question" if case.draft.kind is VariantKind.ORIGINAL else "original"
        ),
        "#basis": basis_content,
        "#draft": draft_content,
        "#existing": existing(case),
        "#hints": hint_content(case.hints),
        "#provenance": Content(provenance(case.draft)),
    }


def existing(case: DraftCase) -> Content:
    """Return the statement's wordings of the draft's kind, and the effect of accepting on them."""
    kind = case.draft.kind
    wordings = [wording for wording in case.wordings if wording.variant.kind is kind]
    name = kind_words(kind)
    if not wordings:
        return Content.styled(
            f"The statement has no {name} in {visible(case.draft.language)} yet.", "$text-muted"
        )
    newest = wordings[::-1][:MOST_HELD]
    lines = [
        Content.assemble((f"{wording.variant}  ", "$text-muted"), _short(wording.text))
        for wording in newest
    ]
    if len(wordings) > MOST_HELD:
        lines.append(
            Content.styled(
                f"and {len(wordings) - MOST_HELD:,} more, from {wordings[0].variant} on",
                "$text-muted",
            )
        )
    if kind in SINGLE:
        lines.append(Content.styled("▲ accepting replaces it", "$text-warning"))
    return Content("\n").join(lines)


def hint_content(found: Sequence[str]) -> Content:
    if not found:
        return Content.styled("· no hints", "$text-muted")
    return Content("\n").join(
        Content.styled(f"▲ {visible(hint)}", "$text-warning") for hint in found
    )


def provenance(draft: Draft) -> str:
    """Return the origin of a draft in one line."""
    label = CallLabel.parse(draft.label)
    if draft.made is None:
        return visible(f"{draft.drafter} · {label.name} · {draft.at[:10]}")
    call = draft.made
    parts = [
        f"{call.model} {call.revision}".strip(),
        f"prompt {label.name}, call {label.call}",
        str(call.sampling),
        f"seed {draft.seed}",
        f"job {call.job}",
        f"{draft.at[:10]} {draft.at[11:16]} UTC",
    ]
    return visible(" · ".join(parts))


def place(at: int, of: int, counts: Mapping[str, int]) -> str:
    """Return the position and the counts: `3 of 57 pending · 12 accepted · 4 rejected`."""
    n_accepted = counts.get("accepted", 0) + counts.get("edited", 0)
    parts = [f"{at + 1} of {of:,} pending"] if of else ["none pending"]
    return " · ".join(
        [*parts, f"{n_accepted:,} accepted", f"{counts.get('rejected', 0):,} rejected"]
    )


def filter_words(kind: VariantKind | None, ref: str | None) -> str:
    """Return a text on the filters of the stack, or an empty string without any."""
    parts = [f"only {kind_words(kind)}"] if kind else []
    parts += [f"only {visible(ref)}"] if ref else []
    return " · ".join(parts)


def nothing_left(counts: Mapping[str, int], narrowed: str) -> Content:
    """Return the text of a stack without pending drafts."""
    if narrowed:
        return Content(f"No pending drafts ({narrowed}).\n\nk and t clear the filters.")
    state_counts = [f"{count:,} {state}" for state, count in counts.items() if count]
    if not state_counts:
        return Content(
            "No drafts yet.\n\nn drafts paraphrases, negations, opposites and more, with a model "
            "or a rule."
        )
    lines = [
        "You have decided every draft."
        if any(counts.get(state) for state in ("accepted", "edited", "rejected"))
        else "No pending drafts.",
        " · ".join(state_counts),
    ]
    if counts.get("unusable"):
        lines.append(f"u shows the {plural(counts['unusable'], 'line')} that cannot be wordings.")
    return Content("\n\n".join([*lines, "n drafts more."]))


def fault_list(drafts: Sequence[Draft]) -> str:
    """Return the lines that cannot be wordings, each with its fault, the newest first."""
    if not drafts:
        return "Every line of the answers can be a wording."
    counts: dict[str, int] = {}
    for draft in drafts:
        counts[draft.fault] = counts.get(draft.fault, 0) + 1
    head = [
        f"{count:>6,}  {fault_in_words(fault, count)}"
        for fault, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    newest = list(reversed(drafts))[:MOST_LINES]
    rows = [
        f"{draft.id} · {draft.ref} · {kind_words(draft.kind)} · {draft.drafter}: "
        f"{fault_in_words(draft.fault)}\n    “{_cut(draft.line)}”"
        for draft in newest
    ]
    more_lines = [f"and {len(drafts) - MOST_LINES:,} more"] if len(drafts) > MOST_LINES else []
    return "\n".join([*head, "", *rows, *more_lines])


def _short(text: str) -> str:
    return visible(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def bulk_question(cases: Sequence[DraftCase], n_pending: int, filter_text: str) -> str:
    """Return the question before these drafts, of all pending ones, are accepted unread."""
    n_statements = len({case.draft.ref for case in cases})
    filter_note = f" ({filter_text})" if filter_text else ""
    drafts, statements = plural(len(cases), "draft"), plural(n_statements, "statement")
    lines = [f"Accept {drafts} for {statements}{filter_note}?"]
    n_remaining = n_pending - len(cases)
    if n_remaining == 1:
        lines.append("1 that has a hint or replaces a wording waits on, to be read by you.")
    elif n_remaining:
        lines.append(
            f"{n_remaining:,} that have hints or replace a wording wait on, to be read by you."
        )
    lines.append("z undoes all of them.")
    return "\n\n".join(lines)


class DraftEditor(ModalScreen[str | None]):
    """A dialog to edit a draft. It returns the text that may enter an instrument, or None."""

    CSS_PATH = "drafts.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "save", "Accept this text", tooltip="Accept the draft with this text"),
        Binding("escape", "dismiss(None)", "Cancel", tooltip="Close without changing anything"),
    ]

    box = query_one(TextArea)

    def __init__(self, case: DraftCase) -> None:
        super().__init__()
        self._case = case

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(
                visible(f"{self._case.draft.ref} · {kind_words(self._case.draft.kind)}")
            )
            dialog.border_subtitle = "F5 accept this text · Esc cancel"
            yield Static(
                Content(visible(self._case.draft.basis, lines=True)), id="before", markup=False
            )
            yield TextArea(
                self._case.text,
                soft_wrap=True,
                compact=True,
                tab_behavior="focus",
                highlight_cursor_line=False,
            )
            yield Static(id="said", markup=False)

    def on_mount(self) -> None:
        self.box.focus()
        self.box.move_cursor(self.box.document.end)
        self.look()

    @on(TextArea.Changed)
    def look(self) -> None:
        """Show why the text cannot be a wording, or the hints on it."""
        try:
            text = entering(self._case.draft.kind, self.box.text)
        except UsageError as error:
            self._refuse(error)
            return
        draft = self._case.draft
        other_wordings = [
            wording for wording in self._case.wordings if wording.variant.kind is not draft.kind
        ]
        hint_texts = hints(
            draft.kind, draft.language, draft.basis, text, other_wordings, self._case.bias
        )
        self.query_one("#said", Static).update(hint_content(hint_texts))

    def action_save(self) -> None:
        try:
            self.dismiss(entering(self._case.draft.kind, self.box.text))
        except UsageError as error:
            self._refuse(error)

    def _refuse(self, error: UsageError) -> None:
        self.query_one("#said", Static).update(
            Content.styled(f"✗ {visible(str(error))}", "$text-error")
        )


REFRESH_S = 5.0
RULED = 2
"number of visible rulings on the statement, as drafts of a statement at fault are often wrong"


class DraftsScreen(StoreScreen):
    """The screen of the pending drafts of an instrument."""

    CSS_PATH = "drafts.tcss"
    EXPLAIN = EXPLAIN
    DECIDES: ClassVar[frozenset[str]] = frozenset(
        ["accept", "accept_all", "edit", "reject", "undo", "note"]
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "a",
            "accept",
            "Accept",
            tooltip="Accept the draft: it becomes a wording of the instrument",
        ),
        Binding(
            "A",
            "accept_all",
            "Accept all",
            show=False,
            tooltip="Accept all listed drafts that have no hint",
        ),
        Binding("e", "edit", "Edit", tooltip="Edit the draft, then accept it"),
        Binding("r", "reject", "Reject", tooltip="Reject the draft"),
        Binding(
            "s,right,right_square_bracket",
            "step(1)",
            "Skip",
            key_display="s",
            tooltip="Skip this draft for now",
        ),
        Binding(
            "left,left_square_bracket",
            "step(-1)",
            "Before",
            show=False,
            tooltip="Go to the previous draft",
        ),
        Binding("z", "undo", "Undo", tooltip="Undo your last decision"),
        Binding("m", "note", "Note", tooltip="Write a note for the next decision"),
        Binding("f", "kind", "Kind", tooltip="Show one kind of draft after another, then all"),
        Binding(
            "t", "statement", "Statement", show=False, tooltip="Show only this statement, then all"
        ),
        Binding(
            "u",
            "unusable",
            "Unusable",
            show=False,
            tooltip="List the lines that cannot be wordings, with reasons",
        ),
        Binding("n", "draft", "Draft more", tooltip="Draft wordings with a model or a rule"),
        Binding("p", "person", "Person", show=False, tooltip="Choose who reviews"),
        Binding(
            "escape,q", "dismiss(None)", "Leave", key_display="Esc", tooltip="Leave this screen"
        ),
    ]

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self.review = DraftReview(instrument)
        self._rulings: Mapping[str, Sequence[str]] = {}
        "auditors' rulings on a statement, its original and answers to it, by ref"
        self._shown: int | None = None
        "id of the visible draft"
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
        if self.review.stack is not None:
            with in_background():
                self.read()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("accept", "accept_all", "edit", "reject", "step", "note"):
            return self.current is not None
        if action == "undo":
            return self.review.can_undo
        return True

    @property
    def current(self) -> DraftCase | None:
        """The visible draft with its statement, or None without one."""
        return self.review.current

    def tick(self) -> None:
        """Poll the store, as drafts arrive and others review at the same time."""
        if self.is_current and not self._busy and self.has_changed():
            with in_background():
                self.read(self.review.stack)

    def take(self, stack: DraftStack, rulings: Mapping[str, Sequence[str]]) -> None:
        """Show the current stack, and stay on the visible draft."""
        self._busy, self._rulings = self._deciding, rulings
        self.trouble.hide()
        message = self.review.take(stack)
        if message:
            say(self, message, warns=True)
        self._show()

    def go_on(self, decision: DraftDecision) -> None:
        self.review.go_on(decision)
        say(self, decision.message)

    def return_to(self, drafts: tuple[int, ...]) -> None:
        self.review.return_to(drafts)
        say(self, f"Undone: {plural(len(drafts), 'decision')}. The draft is pending again.")

    def failed(self, error: WorkbenchError) -> None:
        self._busy = self._deciding = False
        super().failed(error)

    def action_refresh(self) -> None:
        self.read()

    def action_accept(self) -> None:
        """Accept the draft as it is."""
        self._accept(self.current)

    def action_accept_all(self) -> None:
        """Accept all drafts here that have no hint and replace nothing, after a question."""
        review = self.review
        if review.stack is None or self._busy:
            return
        cases = review.unremarkable
        if not cases:
            say(
                self,
                "Every draft here has a hint or replaces a wording: decide them one by one.",
                warns=True,
            )
            return

        def accept_all() -> None:
            self._decide(lambda store, person: review.accept_all(store, cases, person), self.go_on)

        question = bulk_question(cases, len(review.pending), filter_words(review.kind, review.ref))
        confirm(self, question, "accept them", "review them first", accept_all)

    def action_edit(self) -> None:
        case = self.current
        if case is not None and not self._busy:
            with_answer(self, DraftEditor(case), lambda text: self._accept(case, text))

    def action_reject(self) -> None:
        case = self.current
        if case is not None:
            self._decide(lambda store, person: self.review.reject(store, case, person), self.go_on)

    def action_step(self, by: int) -> None:
        """Show the next or the previous draft, starting over at the end."""
        if not self._busy and self.current is not None:
            self.review.step(by)
            self._show()

    def action_undo(self) -> None:
        """Undo the last key press that decided on drafts."""
        if self.review.can_undo:
            self._decide(self.review.undo, self.return_to)

    def action_note(self) -> None:
        if not self._busy and self.current is not None:
            with_answer(self, NoteDialog(self.review.note), self._keep_note)

    def action_kind(self) -> None:
        """Show only the next kind of pending drafts. After the last kind, show all."""
        if self.review.stack is not None and not self._busy:
            self.review.show_next_kind()
            self._show()

    def action_statement(self) -> None:
        """Show only the drafts of this statement, or all again."""
        if not self._busy:
            self.review.show_statement_or_all()
            self._show()

    def action_unusable(self) -> None:
        self.list_unusable(self.review.ref)

    def action_draft(self) -> None:
        """Open the form that drafts more."""
        form = screen(
            "start_job", "draft", instrument=self._instrument, statements=self.review.ref or ""
        )
        with_answer(
            self,
            form,
            lambda job: say(self, f"Job {job} is running; its drafts appear here as they arrive."),
        )

    def action_person(self) -> None:
        """Ask for the reviewer's name."""
        ask_person(self, EditorDialog(self._instrument), lambda _: None)

    def _accept(self, case: DraftCase | None, text: str | None = None) -> None:
        """Accept a draft, or `text` in its place."""
        if case is not None:
            self._decide(
                lambda store, person: self.review.accept(store, case, person, text), self.go_on
            )

    def _decide(self, act: Callable[[Store, str], T], then: Callable[[T], None]) -> None:
        """Write a decision under the user's name, then call `then`.

        Ask for an unknown name first.
        """

        def go(person: str) -> None:
            if not self._busy:
                self._busy = self._deciding = True
                self.write(lambda store: act(store, person), then)

        if not self._busy:
            as_person(self, self._instrument, go)

    def _keep_note(self, note: str) -> None:
        self.review.note = note
        self._show_note()

    def _show(self) -> None:
        review, case, stack = self.review, self.review.current, self.review.stack
        if stack is None:
            return
        filter_text = filter_words(review.kind, review.ref)
        position_text = place(review.index, len(review.pending), stack.counts)
        self.title_bar.note = f"{filter_text} · {position_text}" if filter_text else position_text
        self.refresh_bindings()
        empty = self.query_one("#empty", Static)
        empty.display, self.query_one("#case").display = case is None, case is not None
        if case is None:
            empty.update(nothing_left(stack.counts, filter_text))
            self.set_focus(None)
            return
        if case.draft.id != self._shown:
            self._shown = case.draft.id
            gate_of(self).show_other(self)
        for selector, text in case_texts(case).items():
            self.query_one(selector, Static).update(text)
        ruling_box = self.query_one("#ruled", Static)
        lines = ruling_lines(self._rulings.get(case.draft.ref, ())[:RULED])
        ruling_box.update(Content("\n").join(lines))
        ruling_box.display = bool(lines)
        self._show_note()
        self.query_one("#texts").scroll_home(animate=False)
        self.query_one("#texts").focus()

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self.review.note))
        line.display = bool(self.review.note)

    @worker("read")
    async def read(self, known: DraftStack | None = None) -> None:
        """Read the stack. If it equals `known`, do not change the screen."""
        instrument = self._instrument

        def load(store: Store) -> tuple[DraftStack, Mapping[str, Sequence[str]]] | None:
            if known is not None and store.drafts.counts(instrument) == known.counts:
                return None
            stack, standing = read_stack(store, instrument), standing_in(store)
            places = {
                ref: RuledPlace((instrument,), (ref, str(ORIGINAL))) for ref in stack.statements
            }
            return stack, {ref: standing.on_place(place) for ref, place in places.items()}

        current = await self.with_store(load)
        if current is not None:
            self.take(*current)

    @worker("write", newest=False)
    async def write(self, act: Callable[[Store], T], then: Callable[[T], None]) -> None:
        """Write to the store, and show the result, or that somebody else decided first."""
        try:
            result = await self.with_store(act)
        except ConflictError as error:
            say(self, str(error), warns=True)
        else:
            then(result)
        self._deciding = False
        self.read()

    @worker("list", opens=True)
    async def list_unusable(self, ref: str | None) -> None:
        refs = (ref,) if ref else ()
        drafts = await self.with_store(
            lambda store: store.drafts.list(self._instrument, state="unusable", refs=refs)
        )
        self.app.push_screen(
            TextScreen("Lines that cannot be wordings", fault_list(drafts), wide=True)
        )
