"""The review of pending drafts, one at a time: one key decides, and it is stored at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.domain.choices import Bias, ChoiceItem
from workbench.domain.drafting import DRAFTED, SINGLE, CallLabel, kind_words
from workbench.domain.names import plural
from workbench.domain.statements import (
    ORIGINAL,
    RELATION_OF,
    Relation,
    Statement,
    VariantKind,
    Wording,
)
from workbench.errors import ConflictError, UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.base import StoreScreen, in_background, say, worker
from workbench.tui.kit.dialogs import NoteDialog, TextScreen, confirm, note_line, with_answer
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.kit.person_dialog import EditorDialog, as_person, ask_person
from workbench.tui.routes import screen
from workbench.tui.rulings.ruling import ruling_lines
from workbench.tui.rulings.standing import RuledPlace, standing_in
from workbench.tui.statements.statement_format import difference, marked
from workbench.workshop.drafting import draft_hints, drafted, entering, fault_in_words, hints

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


@dataclass(frozen=True, slots=True)
class DraftCase:
    """A draft and the statement that it is for."""

    draft: Draft
    statement: Statement
    bias: Bias | None = None
    "bias of a multiple-choice question"

    @property
    def text(self) -> str:
        """The wording that accepting adds."""
        return drafted(self.draft.kind, self.draft.line)

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """The wordings of the statement in the draft's language."""
        return tuple(
            wording
            for wording in self.statement.wordings
            if wording.language == self.draft.language
        )


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
        "#hints": hint_content(hint_lines(case)),
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


def hint_lines(case: DraftCase) -> tuple[str, ...]:
    """Return the hints on a draft, and its fault if it has one."""
    draft = case.draft
    existing_wordings = case.statement.wordings
    hint_texts = draft_hints(
        draft.kind, draft.language, draft.basis, draft.line, existing_wordings, case.bias
    )
    return (fault_in_words(draft.fault), *hint_texts) if draft.fault else hint_texts


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


@dataclass(frozen=True, slots=True)
class Stack:
    """The drafts to review, with their statements."""

    drafts: tuple[Draft, ...]
    statements: Mapping[str, Statement]
    items: Mapping[str, ChoiceItem]
    "multiple-choice questions by ref"
    counts: Mapping[str, int]
    decided: Mapping[int, tuple[str, str]]
    "decision and person of each decided draft, by its id"
    rulings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    "auditors' rulings on a statement, its original and answers to it, by ref"

    def case(self, draft: Draft) -> DraftCase:
        """Return a draft with its statement."""
        item = self.items.get(draft.ref)
        return DraftCase(draft, self.statements[draft.ref], item.bias if item else None)


def read_stack(store: Store, instrument: str) -> Stack:
    """Read the pending drafts, and the decisions on the others."""
    drafts = store.drafts.list(instrument)
    refs = {draft.ref for draft in drafts}
    statements = {
        statement.ref: statement
        for statement in store.instruments.get(instrument).statements
        if statement.ref in refs
    }
    standing = standing_in(store)
    return Stack(
        drafts=tuple(
            draft for draft in drafts if draft.state == "pending" and draft.ref in statements
        ),
        statements=statements,
        items=store.choices.items(instrument),
        counts=store.drafts.counts(instrument),
        decided={
            draft.id: (draft.decision.decision, draft.decision.person)
            for draft in drafts
            if draft.decision and draft.state not in ("pending", "unusable")
        },
        rulings={
            ref: standing.on_place(RuledPlace((instrument,), (ref, str(ORIGINAL)))) for ref in refs
        },
    )


def unremarkable(cases: Sequence[DraftCase]) -> tuple[DraftCase, ...]:
    """Return the drafts without a hint that replace nothing, which can be accepted together."""
    return tuple(case for case in cases if not _replaces(case) and not hint_lines(case))


def _replaces(case: DraftCase) -> bool:
    kind = case.draft.kind
    return kind in SINGLE and any(wording.variant.kind is kind for wording in case.wordings)


def bulk_question(cases: Sequence[DraftCase], chosen: Sequence[DraftCase], narrowed: str) -> str:
    """Return the question before drafts are accepted unread."""
    refs = len({case.draft.ref for case in chosen})
    filter_text = f" ({narrowed})" if narrowed else ""
    lines = [f"Accept {plural(len(chosen), 'draft')} for {plural(refs, 'statement')}{filter_text}?"]
    if n_rest := len(cases) - len(chosen):
        predicate = "has a hint or replaces" if n_rest == 1 else "have hints or replace"
        lines.append(
            f"{n_rest:,} that {predicate} a wording "
            f"{'waits' if n_rest == 1 else 'wait'} on, to be read by you."
        )
    lines.append("z undoes all of them.")
    return "\n\n".join(lines)


def accept_draft(
    store: Store, case: DraftCase, text: str | None, person: str, note: str
) -> tuple[tuple[int, ...], str]:
    """Accept a draft, or `text` in its place. Return its id, and a message."""
    from workbench.pipeline.drafting import accept

    changed, variant = accept(
        store, case.draft, person=person, text=text, note=note, seen=case.statement.wordings
    )
    version_note = (
        "; models answered the old text, so the wording has a new version"
        if changed.versions
        else ""
    )
    return (case.draft.id,), f"Accepted as {variant} of {case.draft.ref}{version_note}."


def reject_this(
    store: Store, case: DraftCase, person: str, note: str
) -> tuple[tuple[int, ...], str]:
    """Reject a draft. Return its id, and a message."""
    store.drafts.reject(case.draft.id, person=person, note=note)
    return (
        case.draft.id,
    ), f"Rejected: a draft of {case.draft.kind} of {case.draft.ref}. z undoes it."


def accept_drafts(
    store: Store, cases: Sequence[DraftCase], person: str, note: str
) -> tuple[tuple[int, ...], str]:
    """Accept drafts. Return the ids of those that were accepted, and a message."""
    from workbench.pipeline.drafting import accept_all

    done = accept_all(store, [case.draft for case in cases], person=person, note=note)
    return done.accepted, f"{done.summary()}."


def reopen_drafts(store: Store, drafts: Sequence[int], person: str) -> int:
    """Undo decisions, the newest first. Return the draft that was decided on first."""
    for draft in reversed(drafts):
        store.drafts.reopen(draft, person=person)
    return drafts[0]


class DraftEditor(ModalScreen[str | None]):
    """A dialog to edit a draft. It returns the text that may enter an instrument, or None."""

    CSS_PATH = "drafts.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "save", "Accept this text"),
        Binding("escape", "dismiss(None)", "Cancel"),
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
        Binding("escape,q", "dismiss(None)", "Leave", key_display="Esc"),
    ]

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._stack: Stack | None = None
        self._at = 0
        self._kind: VariantKind | None = None
        self._ref: str | None = None
        self._note = ""
        self._mine: list[tuple[int, ...]] = []
        "drafts that were decided on here, by key press, the newest last, for undoing"
        self._shown: int | None = None
        "id of the visible draft"
        self._want: int | None = None
        "id of the draft to show once the stack is read"
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
            with in_background():
                self.read()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("accept", "accept_all", "edit", "reject", "step", "note"):
            return self.current is not None
        if action == "undo":
            return bool(self._mine)
        return True

    @property
    def waiting(self) -> tuple[Draft, ...]:
        """The pending drafts that pass the filters."""
        drafts = self._stack.drafts if self._stack else ()
        return tuple(
            draft
            for draft in drafts
            if self._kind in (None, draft.kind) and self._ref in (None, draft.ref)
        )

    @property
    def current(self) -> DraftCase | None:
        """The visible draft with its statement, or None without one."""
        waiting = self.waiting
        if self._stack is None or not waiting:
            return None
        draft = waiting[min(self._at, len(waiting) - 1)]
        return self._stack.case(draft)

    def tick(self) -> None:
        """Poll the store, as drafts arrive and others review at the same time."""
        if self.is_current and not self._busy and self.has_changed():
            with in_background():
                self.read(self._stack)

    def take(self, stack: Stack) -> None:
        """Show the current stack, and stay on the visible draft."""
        previous = self.current
        self._stack, self._busy = stack, self._deciding
        self.trouble.hide()
        pending_ids = [draft.id for draft in self.waiting]
        if self._want in pending_ids:
            self._at = pending_ids.index(self._want)
        elif previous is not None:
            self._stay(previous.draft)
        self._want = None
        self._show()

    def go_on(self, decided: tuple[tuple[int, ...], str]) -> None:
        drafts, sentence = decided
        self._mine += [drafts] if drafts else []
        self._note = ""
        say(self, sentence)

    def return_to(self, first: int) -> None:
        n_undone = len(self._mine.pop())
        say(self, f"Undone: {plural(n_undone, 'decision')}. The draft is pending again.")
        self._kind = self._ref = None
        self._want = first

    def failed(self, error: WorkbenchError) -> None:
        self._busy = self._deciding = False
        super().failed(error)

    def action_refresh(self) -> None:
        self.read()

    def action_accept(self) -> None:
        """Accept the draft as it is."""
        if (case := self.current) is not None:
            self._decide(
                lambda store, person: accept_draft(store, case, None, person, self._note),
                self.go_on,
            )

    def action_accept_all(self) -> None:
        """Accept all drafts here that have no hint and replace nothing, after a question."""
        stack = self._stack
        if stack is None or self._busy:
            return
        cases = [stack.case(draft) for draft in self.waiting]
        if not (selected_cases := unremarkable(cases)):
            say(
                self,
                "Every draft here has a hint or replaces a wording: decide them one by one.",
                warns=True,
            )
            return

        question = bulk_question(cases, selected_cases, filter_words(self._kind, self._ref))
        confirm(
            self,
            question,
            "accept them",
            "review them first",
            lambda: self._decide(
                lambda store, person: accept_drafts(store, selected_cases, person, self._note),
                self.go_on,
            ),
        )

    def action_edit(self) -> None:
        case = self.current
        if case is None or self._busy:
            return

        def take(text: str) -> None:
            self._decide(
                lambda store, person: accept_draft(store, case, text, person, self._note),
                self.go_on,
            )

        with_answer(self, DraftEditor(case), take)

    def action_reject(self) -> None:
        if (case := self.current) is not None:
            self._decide(
                lambda store, person: reject_this(store, case, person, self._note), self.go_on
            )

    def action_step(self, by: int) -> None:
        """Show the next or the previous draft, starting over at the end."""
        if not self._busy and (waiting := self.waiting):
            self._at = (min(self._at, len(waiting) - 1) + by) % len(waiting)
            self._note = ""
            self._show()

    def action_undo(self) -> None:
        """Undo the last key press that decided on drafts."""
        if self._mine:
            self._decide(
                lambda store, person: reopen_drafts(store, self._mine[-1], person), self.return_to
            )

    def action_note(self) -> None:
        if not self._busy and self.current is not None:
            with_answer(self, NoteDialog(self._note), self._keep_note)

    def action_kind(self) -> None:
        """Show only the next kind of pending drafts. After the last kind, show all."""
        if self._stack is None or self._busy:
            return
        pending_kinds = {draft.kind for draft in self._stack.drafts}
        choices = [None, *(kind for kind in DRAFTED if kind in pending_kinds)]
        self._filter(
            choices[(choices.index(self._kind) + 1) % len(choices)]
            if self._kind in choices
            else None,
            self._ref,
        )

    def action_statement(self) -> None:
        """Show only the drafts of this statement, or all again."""
        if not self._busy:
            case = self.current
            self._filter(
                self._kind, case.draft.ref if case is not None and self._ref is None else None
            )

    def action_unusable(self) -> None:
        self.list_unusable(self._ref)

    def action_draft(self) -> None:
        """Open the form that drafts more."""
        form = screen("start_job", "draft", instrument=self._instrument, statements=self._ref or "")
        with_answer(
            self,
            form,
            lambda job: say(self, f"Job {job} is running; its drafts appear here as they arrive."),
        )

    def action_person(self) -> None:
        """Ask for the reviewer's name."""
        ask_person(self, EditorDialog(self._instrument), lambda _: None)

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
        self._note = note
        self._show_note()

    def _filter(self, kind: VariantKind | None, ref: str | None) -> None:
        """Filter the stack, and stay on the current draft if it passes."""
        previous = self.current
        self._kind, self._ref, self._at = kind, ref, 0
        pending_ids = [draft.id for draft in self.waiting]
        if previous is not None and previous.draft.id in pending_ids:
            self._at = pending_ids.index(previous.draft.id)
        self._show()

    def _stay(self, before: Draft) -> None:
        """Stay on the previous draft. If somebody else decided on it, tell so."""
        pending_ids = [draft.id for draft in self.waiting]
        if before.id in pending_ids:
            self._at = pending_ids.index(before.id)
            return
        self._at = min(self._at, max(0, len(pending_ids) - 1))
        decided = self._stack.decided.get(before.id) if self._stack else None
        if decided is not None and not any(before.id in own_ids for own_ids in self._mine):
            decision, person = decided
            say(
                self,
                f"{before.ref}: {person} has {decision} this draft in the meantime.",
                warns=True,
            )

    def _show(self) -> None:
        case, stack = self.current, self._stack
        if stack is None:
            return
        waiting, filter_text = self.waiting, filter_words(self._kind, self._ref)
        position_text = place(min(self._at, len(waiting) - 1), len(waiting), stack.counts)
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
        lines = ruling_lines(stack.rulings.get(case.draft.ref, ())[:RULED])
        ruling_box.update(Content("\n").join(lines))
        ruling_box.display = bool(lines)
        self._show_note()
        self.query_one("#texts").scroll_home(animate=False)
        self.query_one("#texts").focus()

    def _show_note(self) -> None:
        line = self.query_one("#note-line", Static)
        line.update(note_line(self._note))
        line.display = bool(self._note)

    @worker("read")
    async def read(self, known: Stack | None = None) -> None:
        """Read the stack. If it equals `known`, do not change the screen."""

        def load(store: Store) -> Stack | None:
            is_unchanged = (
                known is not None and store.drafts.counts(self._instrument) == known.counts
            )
            return None if is_unchanged else read_stack(store, self._instrument)

        if (stack := await self.with_store(load)) is not None:
            self.take(stack)

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
