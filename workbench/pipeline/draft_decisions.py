"""A draft becomes a wording: where it goes, and what must still be as the person saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.core.store import Store
from stores.instruments.draft_rows import Draft
from stores.instruments.editing import Changed
from workbench.domain.choices import ChoiceItem
from workbench.domain.drafting import SINGLE, kind_words
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.workshop.draft_hints import draft_hints
from workbench.workshop.draft_lines import drafted
from workbench.workshop.drafting import compared, entering, fault_in_words, form_faults
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
    """Accept a draft into the instrument, as drafted or as `text`; return the change and its wording.

    `seen` are the wordings of the statement that the person saw. Raises ConflictError where the draft was decided on
    meanwhile, or where what it was drafted from or what it replaces is no longer what was seen; UsageError where the
    text cannot be a wording or stands there already.
    """
    made = drafted(draft.kind, draft.line)
    wording = entering(draft.kind, made if text is None else text)
    edited = wording != made
    item = store.choices.items(draft.instrument).get(draft.ref) if draft.kind is VariantKind.CHANGED else None
    author = f"{draft.drafter}, edited by {person}" if edited else draft.drafter
    placed: list[VariantId] = []

    def place(statement: Statement) -> Statement:
        variant = VariantId(draft.kind) if draft.kind in SINGLE else next_variant(statement, draft.kind)
        _check_seen(statement, draft, seen)
        _check_new(statement, draft, wording)
        _check_form(statement, draft, wording, item)
        placed.append(variant)
        return with_text(statement, variant, draft.language, wording, author)

    changed = store.drafts.accept(draft.id, wording, person=person, place=place, edited=edited, note=note)
    return changed, placed[-1]


@dataclass(frozen=True, slots=True)
class AcceptedAll:
    """What became of drafts that were to be accepted together."""

    accepted: tuple[int, ...]
    "in the order in which they entered"
    left: Mapping[str, int]
    "why -> how many wait on; a draft with several hints counts for its first"
    versions: tuple[str, ...]
    "statements that were asked about before, and have another version now"

    def said(self) -> str:
        """Say it in a line."""
        n, waiting = len(self.accepted), sum(self.left.values())
        parts = [f"{n:,} {'draft' if n == 1 else 'drafts'} accepted"]
        if waiting:
            whys = ", ".join(f"{count:,}: {why}" for why, count in sorted(self.left.items(), key=lambda x: -x[1]))
            parts.append(f"{waiting:,} {'waits' if waiting == 1 else 'wait'} on ({whys})")
        if self.versions:
            parts.append(f"answered before, so new versions: {', '.join(self.versions)}")
        return "; ".join(parts)


def accept_all(
    store: Store, drafts: Iterable[Draft], *, person: str, note: str = "", with_hints: bool = False
) -> AcceptedAll:
    """Accept drafts into the instrument one after another, each checked in its current state.

    Left to be decided one at a time: drafts with a hint, unless `with_hints`; those that would replace a wording; and
    those that cannot enter any more. Each acceptance is in the store before the next one, and undone by itself.
    """
    accepted: list[int] = []
    left: Counter[str] = Counter()
    versions: dict[str, None] = {}
    for draft in drafts:
        why = why_one_by_one(store, draft, with_hints=with_hints)
        if not why:
            try:
                changed, _ = accept(store, draft, person=person, note=note)
            except (ConflictError, UsageError, UnknownName) as error:
                why = str(error)
            else:
                accepted.append(draft.id)
                versions |= dict.fromkeys(changed.versions)
        if why:
            left[why] += 1
    return AcceptedAll(tuple(accepted), dict(left), tuple(versions))


def why_one_by_one(store: Store, draft: Draft, *, with_hints: bool = False) -> str:
    """Return why a person should decide on a draft individually; "" if it may be accepted with others."""
    try:
        held = store.statements.get(draft.instrument, draft.ref).wordings
    except UnknownName as error:
        return str(error)
    if draft.kind in SINGLE and any(w.variant.kind is draft.kind and w.language == draft.language for w in held):
        return f"it would replace the existing {kind_words(draft.kind)}"
    if draft.fault:
        return fault_in_words(draft.fault)
    if with_hints:
        return ""
    item = store.choices.items(draft.instrument).get(draft.ref) if draft.kind is VariantKind.CHANGED else None
    bias = item.bias if item is not None else None
    return next(iter(draft_hints(draft.kind, draft.language, draft.basis, draft.line, held, bias)), "")


def _check_seen(statement: Statement, draft: Draft, seen: Sequence[Wording] | None) -> None:
    """Raise ConflictError if the wordings relevant to a draft have changed since they were shown."""
    if seen is None:
        return
    kinds = {VariantKind.ORIGINAL, VariantKind.QUESTION} | ({draft.kind} if draft.kind in SINGLE else set())

    def matters(wordings: Sequence[Wording]) -> set[tuple[VariantId, str]]:
        return {(w.variant, w.text) for w in wordings if w.language == draft.language and w.variant.kind in kinds}

    if matters(statement.wordings) != matters(seen):
        raise ConflictError(f"{statement.ref} has changed in the meantime; nothing was written")


def _check_form(statement: Statement, draft: Draft, wording: str, item: ChoiceItem | None) -> None:
    """Raise UsageError if a changed form cannot be compared with the original."""
    original = statement.wording(ORIGINAL, draft.language)
    faults = form_faults(item.bias, original.text, wording) if item is not None and original is not None else ()
    if faults:
        raise UsageError(f"{statement.ref}: {'; '.join(faults)}; nothing was written")


def _check_new(statement: Statement, draft: Draft, wording: str) -> None:
    """Raise UsageError where a statement has the text already, or an original that a question would be turned into."""
    for held in statement.wordings:
        if held.language == draft.language and compared(held.text) == compared(wording):
            raise UsageError(f"{statement.ref} has this text already, as its {held.variant}; nothing was written")
    if draft.kind is VariantKind.ORIGINAL and statement.wording(ORIGINAL, draft.language) is not None:
        raise UsageError(f"{statement.ref} has an original in {draft.language!r} by now; edit that one")
