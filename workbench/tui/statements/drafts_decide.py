"""Deciding on drafts, one or many at once: what is asked before, and what is said after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.domain.drafting import SINGLE
from workbench.domain.names import plural
from workbench.tui.statements.drafts_format import Case, hint_lines

if TYPE_CHECKING:
    from stores.core.store import Store


def unremarkable(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the drafts that have no hint and replace nothing: those that may be accepted together."""
    return tuple(case for case in cases if not _replaces(case) and not hint_lines(case))


def _replaces(case: Case) -> bool:
    kind = case.draft.kind
    return kind in SINGLE and any(w.variant.kind is kind for w in case.wordings)


def bulk_question(cases: Sequence[Case], chosen: Sequence[Case], narrowed: str) -> str:
    """Return what a person is asked before drafts enter unread, one by one."""
    refs = len({case.draft.ref for case in chosen})
    where = f" ({narrowed})" if narrowed else ""
    lines = [f"Accept {plural(len(chosen), 'draft')} for {plural(refs, 'statement')}{where}?"]
    if rest := len(cases) - len(chosen):
        those = "has a hint or replaces" if rest == 1 else "have hints or replace"
        lines.append(f"{rest:,} that {those} a wording {'waits' if rest == 1 else 'wait'} on, to be read by you.")
    lines.append("z undoes all of them.")
    return "\n\n".join(lines)


def accept_this(store: Store, case: Case, text: str | None, person: str, note: str) -> tuple[tuple[int, ...], str]:
    """Accept a draft as it is, or as `text`; return it, and what to say."""
    from workbench.pipeline.drafting import accept

    changed, variant = accept(store, case.draft, person=person, text=text, note=note, seen=case.statement.wordings)
    another = "; models answered the old text, so the wording has a new version" if changed.versions else ""
    return (case.draft.id,), f"Accepted as {variant} of {case.draft.ref}{another}."


def reject_this(store: Store, case: Case, person: str, note: str) -> tuple[tuple[int, ...], str]:
    """Reject a draft; return it, and what to say."""
    store.drafts.reject(case.draft.id, person=person, note=note)
    return (case.draft.id,), f"Rejected: a draft of {case.draft.kind} of {case.draft.ref}. z undoes it."


def accept_these(store: Store, cases: Sequence[Case], person: str, note: str) -> tuple[tuple[int, ...], str]:
    """Accept drafts; return those that entered, and what to say."""
    from workbench.pipeline.drafting import accept_all

    done = accept_all(store, [case.draft for case in cases], person=person, note=note)
    return done.accepted, f"{done.said()}."


def reopen_these(store: Store, drafts: Sequence[int], person: str) -> int:
    """Take decisions back, the newest first; return the draft that was decided on first."""
    for draft in reversed(drafts):
        store.drafts.reopen(draft, person=person)
    return drafts[0]
