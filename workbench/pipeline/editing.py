"""Changes of statements: their outcome in sentences, and those of several steps."""

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
"number of refs that a sentence names, while the others are counted"


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
    first_refs = ", ".join(refs[:NAMED])
    return first_refs if len(refs) <= NAMED else f"{first_refs} and {len(refs) - NAMED:,} more"


def _to_look_at(store: Store, instrument: str, ref: str, batch: bytes) -> str:
    """Return the number of variants and labels of an original that has another text now.

    It is empty if there are none.
    """
    edit = next(
        (edit for edit in store.statements.edits(instrument, ref) if edit.batch == batch), None
    )
    if edit is None or edit.before is None or edit.after is None:
        return ""
    old_texts, new_texts = (
        {
            wording.language: wording.text
            for wording in statement.wordings
            if wording.variant == ORIGINAL
        }
        for statement in (edit.before, edit.after)
    )
    changed_languages = {
        language for language, text in new_texts.items() if old_texts.get(language, text) != text
    }
    unedited = [
        wording
        for wording in edit.after.wordings
        if wording.language in changed_languages and wording.variant not in HEADS
    ]
    older_variants = [wording for wording in unedited if wording in edit.before.wordings]
    n_labels = (
        sum(
            version.issue_labels
            for version in store.statements.history(instrument, ref)
            if version.current
        )
        if changed_languages
        else 0
    )
    parts = (
        [f"{_plural(len(older_variants), 'variant')} for the old text"] if older_variants else []
    )
    parts += [f"{_plural(n_labels, 'policy-issue label')}, which moved with it"] if n_labels else []
    return f"Check {' and '.join(parts)}." if parts else ""


def _version(store: Store, instrument: str, ref: str, batch: bytes) -> str:
    edit = next(
        (edit for edit in store.statements.edits(instrument, ref) if edit.batch == batch), None
    )
    history = {
        version.statement.version: version for version in store.statements.history(instrument, ref)
    }
    current_version = next((number for number, version in history.items() if version.current), None)
    old_version = edit.before.version if edit is not None and edit.before is not None else None
    if (
        current_version is None
        or old_version is None
        or old_version not in history
        or old_version == current_version
    ):
        return f"{ref} has a new version."
    verb = "made" if current_version > old_version else "is current again"
    old_history = history[old_version]
    counts = [
        _plural(number, noun)
        for number, noun in (
            (old_history.answers, "answer"),
            (old_history.labels, "label"),
            (old_history.survey, "answer by people"),
        )
        if number
    ]
    stay_verb = (
        "stays" if old_history.answers + old_history.labels + old_history.survey == 1 else "stay"
    )
    kept_note = (
        f"{' and '.join(counts)} {stay_verb} with version {old_version}"
        if counts
        else f"version {old_version} is kept"
    )
    return f"Version {current_version} {verb}; {kept_note}."


def _plural(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    for word in ("answer", "label", "variant"):
        noun = noun.replace(word, f"{word}s")
    return f"{number:,} {noun}"


def people(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the people who changed statements here. The most recent one comes first."""
    return tuple(dict.fromkeys(edit.person for edit in store.statements.edits(instrument)))


def undoable(store: Store, instrument: str, person: str) -> Undoable | None:
    """Return the change that undo would revert, or None if there is nothing to undo."""
    edits = store.statements.edits(instrument, limit=2000)
    newest = next(
        (
            edit
            for edit in edits
            if edit.person == person and not edit.undone and edit.act != "undo"
        ),
        None,
    )
    if newest is None:
        return None
    refs = tuple(dict.fromkeys(edit.ref for edit in reversed(edits) if edit.batch == newest.batch))
    return Undoable(newest.batch, newest.act, refs, newest.at)


def undo(store: Store, instrument: str, person: str) -> Done:
    """Undo the newest change of a person, and return its description."""
    change = store.statements.undo(instrument, person=person)
    if change is None:
        return Done(f"There is nothing to undo: {person} has no change in force here.")
    refs = tuple(reversed(change.refs))  # undone from the last to the first
    return Done(f"Undone: {change.act} {named(refs)}.", refs)


def change_all(
    store: Store,
    instrument: str,
    statements: Mapping[str, Statement],
    change: Callable[[Statement], Statement],
    *,
    person: str,
    act: str,
) -> Done:
    """Make one change of many statements in one transaction.

    The statements are as they were read. Raises ConflictError and UsageError.
    """
    updated = [
        updated_statement
        for old in statements.values()
        if (updated_statement := change(old)) != old
    ]
    expected = {new.ref: statements[new.ref] for new in updated}
    saved = store.statements.save(instrument, updated, person=person, act=act, expected=expected)
    return outcome(store, instrument, saved)


def save_about(
    store: Store, instrument: str, seen: Statement, wanted: Statement, *, person: str
) -> Done:
    """Save the metadata of a statement, its ref included."""
    under_old_ref = replace(wanted, ref=seen.ref)
    expected = {seen.ref: seen}
    if wanted.ref == seen.ref:
        saved = store.statements.save(
            instrument, [under_old_ref], person=person, act="described", expected=expected
        )
        return outcome(store, instrument, saved)
    act, refs = f"renamed from {seen.ref}", (seen.ref, wanted.ref)
    change = store.statements.change(
        instrument, person=person, act=act, expected=expected, save=[under_old_ref], rename=refs
    )
    return Done(f"{change.act[:1].upper()}{change.act[1:]}: {wanted.ref}.", (wanted.ref,))


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
    """Split a statement into two, and archive it."""
    halves = split(seen, refs, texts, language, person)
    act = f"split from {seen.ref}"
    expected = {seen.ref: seen}
    store.statements.change(
        instrument, person=person, act=act, expected=expected, create=halves, archive=[seen.ref]
    )
    new_refs = tuple(half.ref for half in halves)
    return Done(f"{seen.ref} became {named(new_refs)}, and is archived with its answers.", new_refs)
