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


def last_ruled(progress: Progress | None, item: Waiting | None, auditor: str | None) -> Ruling | None:
    """Return the auditor's newest ruling in force on an item, or on something below its statement; None: there is
    none.
    """
    from workbench.domain.reviews import Ranked

    if progress is None or item is None or auditor is None:
        return None
    of, control = progress.of, progress.control
    if isinstance(item, Ranked):
        every = [one for one in of.rulings.statements.get(item.ref, ()) if not of.as_drawn(one)]
    else:
        every = list(control.rulings.get((item.prompt, item.text), ())) if control is not None else []
    return max((one for one in every if one.auditor == auditor), key=lambda one: one.at, default=None)


def taken_back(path: Path, session: ReviewSession, auditor: str, last: Ruling | None) -> tuple[str, str]:
    """Take the auditor's newest ruling of a session back, or else their `last` on the item in sight; return the name of
    its item, empty if it was not made in this session, and a sentence. Raises ConflictError.
    """
    from stores.core.store import Store
    from workbench.evidence.ruling_subjects import take_back

    with Store.open(path) as store:
        in_force = {one.uid for of in store.rulings.standing().values() for one in of if one.auditor == auditor}
        session.done[:] = [(item, one) for item, one in session.done if one.uid in in_force]
        item, ruling = session.done.pop() if session.done else ("", last)
        if ruling is None or ruling.uid not in in_force:
            return "", f"Nothing to undo: {auditor} has no ruling on this item."
        return item, take_back(store, ruling, auditor=auditor)


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
