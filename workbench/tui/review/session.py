"""What an auditor does from opening a queue until leaving it: shared by the list and the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.tui.preferences import reviews_blind

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.pipeline.review_progress import Progress, Waiting

RunKey = tuple[object, ...]
"what tells a run from others of a store"


@dataclass
class ReviewSession:
    """One auditor at one queue."""

    blind: bool = field(default_factory=reviews_blind)
    "whether the model is hidden, and what others ruled before one's own ruling; at first as the person left it"
    done: list[tuple[str, Ruling]] = field(default_factory=list)
    "(name of the item, ruling) of what was ruled here and can be taken back, the newest last"


def run_key(run: Run) -> RunKey:
    """Return what tells a run from others of a store, however many answers it has."""
    return (*run.way, run.family)


def reviewable(store: Store) -> Sequence[Run]:
    """Return the runs that have anything to review, those with a persona first, and the one that was answered last at
    the end.
    """
    from workbench import registry

    asking = {one.name for one in registry.asking()}
    found = [run for run in store.runs.list(personas=True) if run.audit in asking and run.responses]
    return sorted(found, key=lambda run: (not run.persona, run.last))


def can_undo(session: ReviewSession, progress: Progress | None, auditor: str | None) -> bool:
    """Return whether something was ruled in a session, or at an earlier visit on what is in the queue."""
    if session.done or progress is None or auditor is None:
        return bool(session.done)
    return any(progress.of.looked_at(one.ref, auditor) for one in progress.of.queue)


def taken_back(path: Path, session: ReviewSession, auditor: str | None) -> tuple[str, str]:
    """Take the auditor's newest ruling of a session back, or else their newest in force; return the name of its item,
    empty if it was not made in this session, and a sentence. Raises ConflictError.
    """
    from stores.core.store import Store
    from workbench.evidence.ruling_subjects import take_back

    with Store.open(path) as store:
        newest = store.rulings.newest(auditor) if auditor is not None else None
        mine = bool(session.done) and session.done[-1][1].auditor == (auditor or session.done[-1][1].auditor)
        item, ruling = session.done.pop() if mine else ("", newest)
        if ruling is None:
            return "", f"Nothing to undo: {auditor} has no ruling in force."
        return item, take_back(store, ruling, auditor=auditor or ruling.auditor)


def after(
    path: Path, known: Progress, auditor: str | None, item: Waiting | None = None, *, first: bool = False
) -> tuple[Progress, Waiting | None]:
    """Return a queue as it is now, and what waits next after an `item`, or `first` of all, leased to the auditor."""
    from stores.core.store import Store
    from workbench.pipeline.review_progress import looked_again, name, take_next

    with Store.open(path) as store:
        progress = looked_again(store, known, auditor)
        if item is None and not first:
            return progress, None
        return progress, take_next(store, progress, "" if item is None else name(item))
