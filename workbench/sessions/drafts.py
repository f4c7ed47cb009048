"""Reviewing drafts: one person decides on the pending drafts of an instrument, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.choices import Bias, ChoiceItem
from workbench.domain.drafting import DRAFTED, SINGLE
from workbench.domain.statements import Statement, VariantKind, Wording
from workbench.sessions.session import UndoSteps
from workbench.workshop.drafting import draft_hints, drafted, fault_in_words

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft


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

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints on the draft, and its fault if it has one."""
        draft = self.draft
        hints = draft_hints(
            draft.kind,
            draft.language,
            draft.basis,
            draft.line,
            self.statement.wordings,
            self.bias,
        )
        return (fault_in_words(draft.fault), *hints) if draft.fault else hints

    @property
    def is_unremarkable(self) -> bool:
        """Whether it has no hint and replaces nothing, so that it can be accepted unread."""
        kind = self.draft.kind
        if kind in SINGLE and any(wording.variant.kind is kind for wording in self.wordings):
            return False
        return not self.hints


@dataclass(frozen=True, slots=True)
class DraftStack:
    """The drafts to review, with their statements."""

    drafts: tuple[Draft, ...]
    statements: Mapping[str, Statement]
    items: Mapping[str, ChoiceItem]
    "multiple-choice questions by ref"
    counts: Mapping[str, int]
    decided: Mapping[int, tuple[str, str]]
    "decision and person of each decided draft, by its id"

    def case(self, draft: Draft) -> DraftCase:
        """Return a draft with its statement."""
        item = self.items.get(draft.ref)
        return DraftCase(draft, self.statements[draft.ref], item.bias if item else None)


def read_stack(store: Store, instrument: str) -> DraftStack:
    """Read the pending drafts, and the decisions on the others."""
    drafts = store.drafts.list(instrument)
    refs = {draft.ref for draft in drafts}
    statements = {
        statement.ref: statement
        for statement in store.instruments.get(instrument).statements
        if statement.ref in refs
    }
    return DraftStack(
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
    )


@dataclass(frozen=True, slots=True)
class DraftDecision:
    """A committed decision on drafts."""

    drafts: tuple[int, ...]
    "ids of the drafts that were decided on, or none if somebody else was first"
    message: str


class DraftReview:
    """One person's review of the drafts of an instrument.

    It knows the visible draft, the filters and the decisions that can be undone. The methods that
    take a store commit one decision each.
    """

    def __init__(self, instrument: str) -> None:
        self.instrument = instrument
        self.stack: DraftStack | None = None
        self.kind: VariantKind | None = None
        "the only kind of drafts to show, or None for all"
        self.ref: str | None = None
        "the only statement whose drafts to show, or None for all"
        self.note = ""
        "note on the next decision"
        self._steps: UndoSteps[tuple[int, ...]] = UndoSteps()
        "drafts that were decided on by one key press each"
        self._index = 0
        self._reopened: int | None = None
        "id of the draft to show once the stack is read"

    @property
    def pending(self) -> tuple[Draft, ...]:
        """The pending drafts that pass the filters."""
        if self.stack is None:
            return ()
        return tuple(
            draft
            for draft in self.stack.drafts
            if self.kind in (None, draft.kind) and self.ref in (None, draft.ref)
        )

    @property
    def index(self) -> int:
        """The position of the visible draft among the pending ones, or -1 without one."""
        return min(self._index, len(self.pending) - 1)

    @property
    def current(self) -> DraftCase | None:
        """The visible draft with its statement, or None without one."""
        if self.stack is None or not self.pending:
            return None
        return self.stack.case(self.pending[self.index])

    @property
    def unremarkable(self) -> tuple[DraftCase, ...]:
        """The pending drafts that can be accepted together."""
        if self.stack is None:
            return ()
        cases = [self.stack.case(draft) for draft in self.pending]
        return tuple(case for case in cases if case.is_unremarkable)

    @property
    def can_undo(self) -> bool:
        return len(self._steps) > 0

    def take(self, stack: DraftStack) -> str:
        """Use the current stack, and stay on the visible draft, or show the one that was reopened.

        Return a message if somebody else decided on the visible draft, or else an empty string.
        """
        previous = self.current
        self.stack = stack
        reopened, self._reopened = self._reopened, None
        if self._go_to(reopened) or previous is None or self._go_to(previous.draft.id):
            return ""
        self._index = max(0, self.index)
        decision, person = stack.decided.get(previous.draft.id, ("", ""))
        if not decision or any(previous.draft.id in drafts for drafts in self._steps):
            return ""
        return f"{previous.draft.ref}: {person} has {decision} this draft in the meantime."

    def step(self, by: int) -> None:
        """Go to the next or the previous draft, starting over at the end."""
        self._index = (self.index + by) % len(self.pending)
        self.note = ""

    def show_next_kind(self) -> None:
        """Show only the next kind of pending drafts. After the last kind, show all."""
        pending_kinds = {draft.kind for draft in self.stack.drafts} if self.stack else set()
        choices = [None, *(kind for kind in DRAFTED if kind in pending_kinds)]
        next_kind = None
        if self.kind in choices:
            next_kind = choices[(choices.index(self.kind) + 1) % len(choices)]
        self._filter(next_kind, self.ref)

    def show_statement_or_all(self) -> None:
        """Show only the drafts of the visible statement, or all again."""
        case = self.current
        ref = case.draft.ref if case is not None and self.ref is None else None
        self._filter(self.kind, ref)

    def accept(self, store: Store, case: DraftCase, person: str, text: str | None) -> DraftDecision:
        """Accept a draft, or `text` in its place."""
        from workbench.pipeline.drafting import accept

        changed, variant = accept(
            store,
            case.draft,
            person=person,
            text=text,
            note=self.note,
            seen=case.statement.wordings,
        )
        version_note = ""
        if changed.versions:
            version_note = "; models answered the old text, so the wording has a new version"
        message = f"Accepted as {variant} of {case.draft.ref}{version_note}."
        return DraftDecision((case.draft.id,), message)

    def accept_all(self, store: Store, cases: Sequence[DraftCase], person: str) -> DraftDecision:
        """Accept drafts, apart from those on which somebody else decided meanwhile."""
        from workbench.pipeline.drafting import accept_all

        done = accept_all(store, [case.draft for case in cases], person=person, note=self.note)
        return DraftDecision(done.accepted, f"{done.summary()}.")

    def reject(self, store: Store, case: DraftCase, person: str) -> DraftDecision:
        store.drafts.reject(case.draft.id, person=person, note=self.note)
        message = f"Rejected: a draft of {case.draft.kind} of {case.draft.ref}. z undoes it."
        return DraftDecision((case.draft.id,), message)

    def go_on(self, decision: DraftDecision) -> None:
        """Remember a decision for undoing it. Its note was that of this decision alone."""
        if decision.drafts:
            self._steps.add(decision.drafts)
        self.note = ""

    def undo(self, store: Store, person: str) -> tuple[int, ...]:
        """Undo the decisions of the last key press, the newest first, and return their drafts."""

        def reopen(drafts: tuple[int, ...]) -> tuple[int, ...]:
            for draft in reversed(drafts):
                store.drafts.reopen(draft, person=person)
            return drafts

        return self._steps.undo(reopen)

    def return_to(self, drafts: tuple[int, ...]) -> None:
        """Show the first of the drafts that are pending again, once the stack is read."""
        self.kind = self.ref = None
        self._reopened = drafts[0]

    def _filter(self, kind: VariantKind | None, ref: str | None) -> None:
        """Filter the stack, and stay on the visible draft if it passes."""
        previous = self.current
        self.kind, self.ref, self._index = kind, ref, 0
        if previous is not None:
            self._go_to(previous.draft.id)

    def _go_to(self, draft_id: int | None) -> bool:
        """Make a draft the visible one. Return whether it is pending."""
        ids = [draft.id for draft in self.pending]
        if draft_id not in ids:
            return False
        self._index = ids.index(draft_id)
        return True
