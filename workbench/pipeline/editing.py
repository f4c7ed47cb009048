"""What a change of statements came to, in sentences, and the changes that are several verbs of the
store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.domain.statements import ORIGINAL, Statement
from workbench.workshop.edits import HEADS, split

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.statements import Changed

NAMED = 4
"refs that a sentence names; the others are counted"


@dataclass(frozen=True, slots=True)
class Done:
    """A change that was made."""

    sentence: str
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Undoable:
    """The newest change of a person that is not undone."""

    batch: bytes
    act: str
    refs: tuple[str, ...]
    at: str


def outcome(store: Store, instrument: str, changed: Changed, what: str = "") -> Done:
    """Return the changes, and the answers that stay with older versions."""
    if not changed.refs:
        return Done("Nothing to change.")
    act = what or changed.act
    sentences = [f"{act[:1].upper()}{act[1:]}: {named(changed.refs)}."]
    sentences += [
        _version(store, instrument, ref, changed.batch) for ref in changed.versions[:NAMED]
    ]
    if len(changed.versions) > NAMED:
        sentences.append(
            f"{len(changed.versions) - NAMED} more have a new version; their answers stay with "
            "the old."
        )
    sentences += filter(
        None, (_to_look_at(store, instrument, ref, changed.batch) for ref in changed.refs[:NAMED])
    )
    return Done(" ".join(sentences), changed.refs)


def named(refs: Sequence[str]) -> str:
    """Return `a-1, a-2` or `a-1, a-2, a-3, a-4 and 12 more`."""
    shown = ", ".join(refs[:NAMED])
    return shown if len(refs) <= NAMED else f"{shown} and {len(refs) - NAMED:,} more"


def _to_look_at(store: Store, instrument: str, ref: str, batch: bytes) -> str:
    """Name what was written, or labelled, for an original that is another text now; "" where there
    is nothing.
    """
    edit = next(
        (edit for edit in store.statements.edits(instrument, ref) if edit.batch == batch), None
    )
    if edit is None or edit.before is None or edit.after is None:
        return ""
    before, after = (
        {w.language: w.text for w in s.wordings if w.variant == ORIGINAL}
        for s in (edit.before, edit.after)
    )
    changed = {language for language, text in after.items() if before.get(language, text) != text}
    same = [w for w in edit.after.wordings if w.language in changed and w.variant not in HEADS]
    kept = [w for w in same if w in edit.before.wordings]
    labels = (
        sum(v.issue_labels for v in store.statements.history(instrument, ref) if v.current)
        if changed
        else 0
    )
    parts = [f"{_plural(len(kept), 'variant')} for the old text"] if kept else []
    parts += [f"{_plural(labels, 'policy-issue label')}, which moved with it"] if labels else []
    return f"Check {' and '.join(parts)}." if parts else ""


def _version(store: Store, instrument: str, ref: str, batch: bytes) -> str:
    edit = next(
        (edit for edit in store.statements.edits(instrument, ref) if edit.batch == batch), None
    )
    history = {
        version.statement.version: version for version in store.statements.history(instrument, ref)
    }
    now = next((number for number, version in history.items() if version.current), None)
    was = edit.before.version if edit is not None and edit.before is not None else None
    if now is None or was is None or was not in history or was == now:
        return f"{ref} has a new version."
    made = "made" if now > was else "is current again"
    old = history[was]
    counts = [
        _plural(number, noun)
        for number, noun in (
            (old.answers, "answer"),
            (old.labels, "label"),
            (old.survey, "answer by people"),
        )
        if number
    ]
    stay = "stays" if old.answers + old.labels + old.survey == 1 else "stay"
    kept = (
        f"{' and '.join(counts)} {stay} with version {was}" if counts else f"version {was} is kept"
    )
    return f"Version {now} {made}; {kept}."


def _plural(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    for one in ("answer", "label", "variant"):
        noun = noun.replace(one, f"{one}s")
    return f"{number:,} {noun}"


def people(store: Store, instrument: str) -> tuple[str, ...]:
    """Return who changed statements here, those who did last first."""
    return tuple(dict.fromkeys(edit.person for edit in store.statements.edits(instrument)))


def undoable(store: Store, instrument: str, person: str) -> Undoable | None:
    """Return the change that undo would revert; None without one."""
    edits = store.statements.edits(instrument, limit=2000)
    newest = next(
        (e for e in edits if e.person == person and not e.undone and e.act != "undo"), None
    )
    if newest is None:
        return None
    refs = tuple(dict.fromkeys(edit.ref for edit in reversed(edits) if edit.batch == newest.batch))
    return Undoable(newest.batch, newest.act, refs, newest.at)


def undo(store: Store, instrument: str, person: str) -> Done:
    """Undo the newest change of a person, and say what that was."""
    changed = store.statements.undo(instrument, person=person)
    if changed is None:
        return Done(f"There is nothing to undo: {person} has no change in force here.")
    refs = tuple(reversed(changed.refs))  # undone from the last to the first
    return Done(f"Undone: {changed.act} {named(refs)}.", refs)


def change_all(
    store: Store,
    instrument: str,
    statements: Mapping[str, Statement],
    change: Callable[[Statement], Statement],
    *,
    person: str,
    act: str,
) -> Done:
    """Make one change of many statements, seen as given, in one transaction. Raises ConflictError
    and UsageError.
    """
    changed = [after for before in statements.values() if (after := change(before)) != before]
    expected = {after.ref: statements[after.ref] for after in changed}
    saved = store.statements.save(instrument, changed, person=person, act=act, expected=expected)
    return outcome(store, instrument, saved)


def save_about(
    store: Store, instrument: str, seen: Statement, wanted: Statement, *, person: str
) -> Done:
    """Save what is said of a statement, its ref included."""
    kept = replace(wanted, ref=seen.ref)
    expected = {seen.ref: seen}
    if wanted.ref == seen.ref:
        saved = store.statements.save(
            instrument, [kept], person=person, act="described", expected=expected
        )
        return outcome(store, instrument, saved)
    act, refs = f"renamed from {seen.ref}", (seen.ref, wanted.ref)
    changed = store.statements.change(
        instrument, person=person, act=act, expected=expected, save=[kept], rename=refs
    )
    return Done(f"{changed.act[:1].upper()}{changed.act[1:]}: {wanted.ref}.", (wanted.ref,))


def split_in_two(
    store: Store,
    instrument: str,
    seen: Statement,
    refs: tuple[str, str],
    texts: tuple[str, str],
    language: str,
    *,
    person: str,
) -> Done:
    """Make two statements of one, and archive it."""
    halves = split(seen, refs, texts, language, person)
    act = f"split from {seen.ref}"
    expected = {seen.ref: seen}
    store.statements.change(
        instrument, person=person, act=act, expected=expected, create=halves, archive=[seen.ref]
    )
    made = tuple(half.ref for half in halves)
    return Done(f"{seen.ref} became {named(made)}, and is archived with its answers.", made)
