"""A draft becomes a wording: where it goes, and what must still be as the person saw it."""

from __future__ import annotations

from collections.abc import Sequence

from stores.draft_rows import Draft
from stores.editing import Changed
from stores.store import Store
from workbench.domain.drafting import SINGLE
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.errors import ConflictError, UsageError
from workbench.workshop.drafting import bare, compared, wording_text
from workbench.workshop.edits import next_variant, with_text


def accept(
    store: Store,
    draft: Draft,
    *,
    person: str,
    text: str | None = None,
    note: str = "",
    seen: Sequence[Wording] | None = None,
) -> tuple[Changed, VariantId]:
    """Let a draft enter the instrument, as it was drafted or as `text`; return what changed and where it stands.

    `seen` are the wordings of the statement that the person saw. Raises ConflictError where the draft was decided on
    meanwhile, or where what it was drafted from or what it replaces is no longer what was seen; UsageError where the
    text cannot be a wording or stands there already.
    """
    drafted = bare(draft.line)
    wording = wording_text(drafted if text is None else text)
    edited = wording != drafted
    author = f"{draft.drafter}, edited by {person}" if edited else draft.drafter
    placed: list[VariantId] = []

    def place(statement: Statement) -> Statement:
        variant = VariantId(draft.kind) if draft.kind in SINGLE else next_variant(statement, draft.kind)
        _check_seen(statement, draft, seen)
        _check_new(statement, draft, wording)
        placed.append(variant)
        return with_text(statement, variant, draft.language, wording, author)

    changed = store.drafts.accept(draft.id, wording, person=person, place=place, edited=edited, note=note)
    return changed, placed[-1]


def _check_seen(statement: Statement, draft: Draft, seen: Sequence[Wording] | None) -> None:
    """Raise ConflictError where the wordings that matter for a draft are not those that were seen."""
    if seen is None:
        return
    kinds = {VariantKind.ORIGINAL, VariantKind.QUESTION} | ({draft.kind} if draft.kind in SINGLE else set())

    def matters(wordings: Sequence[Wording]) -> set[tuple[VariantId, str]]:
        return {(w.variant, w.text) for w in wordings if w.language == draft.language and w.variant.kind in kinds}

    if matters(statement.wordings) != matters(seen):
        raise ConflictError(f"{statement.ref} was changed meanwhile; nothing was written")


def _check_new(statement: Statement, draft: Draft, wording: str) -> None:
    """Raise UsageError where a statement has the text already, or an original that a question would be turned into."""
    for held in statement.wordings:
        if held.language == draft.language and compared(held.text) == compared(wording):
            raise UsageError(f"{statement.ref} has this text already, as its {held.variant}; nothing was written")
    if draft.kind is VariantKind.ORIGINAL and statement.wording(ORIGINAL, draft.language) is not None:
        raise UsageError(f"{statement.ref} has an original in {draft.language!r} by now; edit that one")
