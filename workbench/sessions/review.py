"""Reviewing a run: an auditor's session at the queue of a run, which the list and the items share.

Ranking a queue takes long, and its data is kept between screens. So each step opens the store by
itself: it takes the store and the last known queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from workbench.sessions.session import UndoSteps

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.pipeline.review import ReviewProgress, Waiting

RunKey: TypeAlias = tuple[object, ...]
"values that distinguish a run from the others of a store"


@dataclass(frozen=True, slots=True)
class RuledItem:
    """A ruling of a session."""

    item: str
    "name of the item in the queue"
    ruling: Ruling


@dataclass
class ReviewSession:
    """One auditor's session at one queue."""

    blind: bool
    "whether the model, and others' rulings before one's own, are hidden"
    steps: UndoSteps[RuledItem] = field(default_factory=UndoSteps)

    def undo(self, store: Store, auditor: str, last: Ruling | None) -> tuple[str, str]:
        """Take back the auditor's newest ruling of this session, or else `last`.

        Return the name of its item, empty if it was not ruled on in this session, and a message.
        Raises ConflictError if it was taken back or superseded meanwhile.

        Parameters
        ----------
        last
            The auditor's newest ruling on the visible item, or None if there is none.
        """
        from workbench.evidence.ruling_subjects import take_back

        def withdraw(step: RuledItem) -> tuple[str, str]:
            return step.item, take_back(store, step.ruling, auditor=auditor)

        uids_in_force = {
            ruling.uid
            for rulings in store.rulings.standing().values()
            for ruling in rulings
            if ruling.auditor == auditor
        }
        self.steps.replace([step for step in self.steps if step.ruling.uid in uids_in_force])
        if self.steps:
            return self.steps.undo(withdraw)
        if last is None or last.uid not in uids_in_force:
            return "", f"Nothing to undo: {auditor} has no ruling on this item."
        return "", take_back(store, last, auditor=auditor)


def run_key(run: Run) -> RunKey:
    """Return the values that distinguish a run from the others of a store."""
    return (*run.design_key, run.family)


def reviewable_runs(store: Store) -> Sequence[Run]:
    """Return the runs with responses to review, sorted.

    Runs with a persona come first, and the run with the latest answer last.
    """
    from workbench import registry

    audit_names = {audit.name for audit in registry.asking()}
    runs = [
        run for run in store.runs.list(personas=True) if run.audit in audit_names and run.responses
    ]
    return sorted(runs, key=lambda run: (not run.persona, run.last))


def newest_ruling_on(
    progress: ReviewProgress | None, item: Waiting | None, auditor: str | None
) -> Ruling | None:
    """Return the auditor's newest ruling in force on an item or below its statement, or None."""
    from workbench.domain.reviews import RankedStatement

    if progress is None or item is None or auditor is None:
        return None
    review, control = progress.of, progress.control
    rulings: Sequence[Ruling] = ()
    if isinstance(item, RankedStatement):
        on_statement = review.rulings.statements.get(item.ref, ())
        rulings = [ruling for ruling in on_statement if not review.as_drawn(ruling)]
    elif control is not None:
        rulings = control.rulings.get((item.prompt, item.text), ())
    own_rulings = [ruling for ruling in rulings if ruling.auditor == auditor]
    return max(own_rulings, key=lambda ruling: ruling.at, default=None)


def next_item(
    store: Store,
    known: ReviewProgress,
    auditor: str | None,
    item: Waiting | None = None,
    *,
    first: bool = False,
) -> tuple[ReviewProgress, Waiting | None]:
    """Return the current queue, and the item that is then leased to the auditor, if any.

    It is the next one after `item`, or the first of all with `first`.
    """
    from workbench.pipeline.review import item_name, looked_again, take_next

    progress = looked_again(store, known, auditor)
    if item is None and not first:
        return progress, None
    return progress, take_next(store, progress, "" if item is None else item_name(item))


def ruling_auditors(progress: ReviewProgress) -> Sequence[str]:
    """Return the auditors with a ruling in force in a queue."""
    return sorted({ruling.auditor for rulings in progress.of.rulings.things for ruling in rulings})


def close_statement(store: Store, progress: ReviewProgress, item: Waiting, auditor: str) -> Ruling:
    """Rule that nothing more is to be ruled on in a statement. No figure changes."""
    from workbench.domain.rulings import RulingVerdict
    from workbench.evidence.ruling_subjects import add_ruling, statement_subject
    from workbench.pipeline.review import with_rulings

    run = progress.of.run
    n_ruled, n_total = with_rulings(store, progress.of).ruled(item.ref, auditor)
    reason = "nothing to rule on"
    if n_ruled:
        reason = f"{n_ruled:,} of {n_total:,} ruled, nothing more to rule on"
    return add_ruling(
        store,
        statement_subject(store, run.instrument, item.ref),
        RulingVerdict.REVIEWED,
        auditor=auditor,
        reason=reason,
        reading=None,
        model=store.runs.model_key(run).hex(),
    )
