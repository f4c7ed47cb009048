"""Exports a store as a folder of rows with a dictionary and a Croissant record, completely or not at all."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from stores.core.store import Store
from workbench.domain.counting import plural
from workbench.errors import UsageError
from workbench.formats.folder import check_place, expanded
from workbench.tidy import describe
from workbench.tidy.choice import Choice
from workbench.tidy.columns import Batch, Row, Rows
from workbench.tidy.write import BY_COLUMNS, WRITERS, arrow

FORMATS = tuple(WRITERS)
Tell = Callable[[str, int], None]
"called with a kind of rows and the number written"
TOLD_EVERY = 10_000


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    folder: Path
    files: tuple[describe.File, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def export(
    store: Store, kinds: Sequence[Rows], format_: str, choice: Choice, folder: Path, tell: Tell | None = None
) -> Exported:
    """Write kinds of rows into a new or empty folder.

    Rows are written into a temporary folder, which is renamed at the end. They are streamed, so memory does not grow
    with them. Raises UsageError if the folder cannot be written, UnknownName for names that the store lacks,
    MissingPackage for a format whose package is not installed.
    """
    if format_ not in FORMATS:
        raise UsageError(f"rows are written as {', '.join(FORMATS)}; found the format {format_}")
    if format_ == "parquet":
        arrow()
    choice.check(store)
    place = expanded(folder)
    check_place(place, force=False)
    fresh = place.parent / f".{place.name}.{uuid4().hex[:12]}"
    try:
        fresh.mkdir(parents=True)
        found = _written(store, kinds, format_, choice, fresh, tell)
        fresh.rename(place)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written ({error.strerror}); nothing of it is there. Free some space, or give another "
            "folder."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Exported(place, *found)


def _written(
    store: Store, kinds: Sequence[Rows], format_: str, choice: Choice, fresh: Path, tell: Tell | None
) -> tuple[tuple[describe.File, ...], tuple[str, ...], tuple[str, ...]]:
    files = []
    for of in kinds:
        path = fresh / f"{of.name}.{format_}"
        made = of.batches(store, choice) if format_ in BY_COLUMNS else of.read(store, choice)
        count = WRITERS[format_](of, _told(of.name, made, tell), path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files.append(describe.File(of, path.name, count, path.stat().st_size, digest))
    notes = tuple(_notes(store, kinds, format_, choice))
    instruments = [store.instruments.get(name) for name in choice.instruments or store.instruments.names()]
    last = store.data_rows.last()
    record = describe.croissant(store.path.stem, files, instruments, format_, last, notes)
    (fresh / describe.DICTIONARY).write_text(describe.dictionary(files), encoding="utf-8")
    (fresh / describe.CROISSANT).write_text(record, encoding="utf-8")
    (fresh / describe.PAGE).write_text(describe.page(files, notes, choice.left_out), encoding="utf-8")
    return tuple(files), notes, tuple(choice.left_out)


def _told(name: str, made: Iterator[Row] | Iterator[Batch], tell: Tell | None) -> Iterator[Row | Batch]:
    if tell is None:
        yield from made
        return
    count = 0
    for one in made:
        before = count
        count += len(one) if isinstance(one, Batch) else 1
        for told in range(before // TOLD_EVERY + 1, count // TOLD_EVERY + 1):
            tell(name, told * TOLD_EVERY)
        yield one
    tell(name, count)


def _notes(store: Store, kinds: Sequence[Rows], format_: str, choice: Choice) -> Iterator[str]:
    """Yield notes on the files."""
    if format_ == "csv":
        yield describe.FORMULAS
        yield describe.EMPTY
    yield describe.NAMED if choice.names else describe.PSEUDONYMS
    if any(of.name in COUNTED for of in kinds):
        yield describe.EXPANDED if choice.expand else describe.COLLAPSED
        if scored := store.data_rows.scored(choice.chosen(store)):
            yield (
                f"{plural(scored, 'prompt')} {'was' if scored == 1 else 'were'} asked for probabilities alone, of "
                "which figures are made; answers there are none."
            )


COUNTED = frozenset({"answers", "readings"})
