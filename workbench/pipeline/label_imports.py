"""Imports of label files: the events of a file, the import, and sentences about the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from stores.annotation.exchange import Merged
from stores.core.store import Store
from workbench.data import shipped_codebook, shipped_codebooks
from workbench.domain.annotations import PURPOSES, Codebook, LabelEvent, Purpose
from workbench.domain.names import plural, thing_name
from workbench.errors import UsageError
from workbench.formats.label_files import read_labels


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """The settings of reading a label file, and the queue of its items."""

    codebook: str = "stance"
    "for rows that name none"
    into: str = ""
    "new queue for items without one, or empty if they stay without"
    purpose: str = Purpose.TRAINING.value
    "purpose of the new queue"

    @property
    def new_queue(self) -> tuple[str, Purpose] | None:
        """The name and purpose of the new queue, or None if no queue is made.

        Raises UsageError for a wrong name or purpose.
        """
        if self.purpose not in PURPOSES:
            raise UsageError(
                f"found the purpose {self.purpose!r}; give one of {', '.join(PURPOSES)}"
            )
        if not self.into:
            return None
        return thing_name(self.into, "queue"), Purpose(self.purpose)


DEFAULT_LABEL_OPTIONS = LabelOptions()


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The label events of a file."""

    name: str
    events: tuple[LabelEvent, ...]
    options: LabelOptions
    notes: tuple[str, ...] = ()
    "tool that wrote the file, and what was left out"


def read_label_file(path: Path, options: LabelOptions = DEFAULT_LABEL_OPTIONS) -> LabelFile:
    """Return the label events of a file. Raises UsageError, InputError."""
    notes: list[str] = []
    events = read_labels(path, options.codebook, notes.append)
    if not events:
        raise UsageError(f"{path.name} has no labels; nothing was changed")
    n_undated = sum(not event.at for event in events)
    if n_undated:
        notes.append(
            f"Without a time in the file: {plural(n_undated, 'event')}. The time of this import "
            "orders them; exports leave their time empty."
        )
    return LabelFile(path.name, events, options, tuple(notes))


def import_labels(store: Store, file: LabelFile, *, partial: bool) -> Merged:
    """Add the events that the store lacks, in one transaction.

    Parameters
    ----------
    partial
        Whether to leave out events about texts that the store lacks.

    Raises UsageError, InputError.
    """
    return store.exchange.add(
        file.events,
        known_codebooks(store),
        source=file.name,
        partial=partial,
        into=file.options.new_queue,
    )


def known_codebooks(store: Store) -> dict[str, Codebook]:
    """Return the shipped codebooks and those of the store.

    The latter replace shipped ones of the same name.
    """
    shipped = {name: shipped_codebook(name) for name in shipped_codebooks()}
    return shipped | store.exchange.codebooks()


def merged_sentences(merged: Merged, into: str | None) -> Iterator[str]:
    """Yield the result of an import of labels from a file or from another store, in sentences."""
    added = (
        f"{merged.added:,} events added on {merged.items:,} items, {merged.known:,} stored already"
    )
    yield added + (
        f", {merged.unmatched:,} about unknown texts left out" if merged.unmatched else ""
    )
    if merged.outside:
        yield (
            f"{merged.outside:,} of these items are in no queue of this store, so no figure counts "
            "them; import again with --into NAME --purpose training or test"
        )
    if merged.adopted:
        yield f"{merged.adopted:,} of these items were in no queue; the new queue {into} holds them"
    if merged.queues:
        yield f"queues added: {', '.join(merged.queues)}"
    if merged.rulings:
        yield f"{plural(merged.rulings, 'ruling')} of auditors added"
    if merged.control_samples:
        yield f"{plural(merged.control_samples, 'control sample')} of reviews added"
    if merged.people:
        yield f"{plural(merged.people, 'field')} about people added"


def label_sentences(file: LabelFile, merged: Merged) -> Iterator[str]:
    """Yield the result of an import of a label file, in sentences that begin with its name."""
    first, *remaining = merged_sentences(merged, file.options.into)
    yield f"{file.name}: {first}"
    yield from (f"- {note}" for note in (*file.notes, *remaining))


def label_data(file: LabelFile, merged: Merged) -> dict[str, object]:
    """Return the result of an import of a label file for a program."""
    return {"file": file.name, **asdict(merged), "notes": file.notes}


def label_rows(file: LabelFile, limit: int) -> list[tuple[str, ...]]:
    """Return annotator, label, statement and response of the first events."""
    return [
        (event.annotator, event.label or "", event.statement, event.response)
        for event in file.events[:limit]
    ]
