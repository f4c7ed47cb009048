"""The session of an auditor at a queue, which the list and the items share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import ActiveBinding, Binding, BindingType

from workbench.tui.kit.base import worker
from workbench.tui.preferences import BLIND, keep, reviews_blind
from workbench.tui.rulings.ruling import RulingKeys

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.pipeline.review import ReviewProgress, Waiting

RunKey = tuple[object, ...]
"values that distinguish a run from the others of a store"


@dataclass
class ReviewSession:
    """One auditor's session at one queue."""

    blind: bool = field(default_factory=reviews_blind)
    "whether the model, and others' rulings before one's own, are hidden; at first as last set"
    done: list[tuple[str, Ruling]] = field(default_factory=list)
    "rulings of this session that can be undone, each with the name of its item, the newest last"


def run_key(run: Run) -> RunKey:
    """Return the values that distinguish a run from the others of a store."""
    return (*run.design_key, run.family)


def reviewable(store: Store) -> Sequence[Run]:
    """Return the runs with responses to review, sorted.

    Runs with a persona come first, and the run with the latest answer last.
    """
    from workbench import registry

    audit_names = {audit.name for audit in registry.asking()}
    reviewable_runs = [
        run for run in store.runs.list(personas=True) if run.audit in audit_names and run.responses
    ]
    return sorted(reviewable_runs, key=lambda run: (not run.persona, run.last))


def last_ruled(
    progress: ReviewProgress | None, item: Waiting | None, auditor: str | None
) -> Ruling | None:
    """Return the auditor's newest ruling in force on an item or below its statement, or None."""
    from workbench.domain.reviews import Ranked

    if progress is None or item is None or auditor is None:
        return None
    review, control = progress.of, progress.control
    if isinstance(item, Ranked):
        item_rulings = [
            ruling
            for ruling in review.rulings.statements.get(item.ref, ())
            if not review.as_drawn(ruling)
        ]
    else:
        item_rulings = (
            list(control.rulings.get((item.prompt, item.text), ())) if control is not None else []
        )
    return max(
        (ruling for ruling in item_rulings if ruling.auditor == auditor),
        key=lambda one: one.at,
        default=None,
    )


def undo_newest(
    store: Store, session: ReviewSession, auditor: str, last: Ruling | None
) -> tuple[str, str]:
    """Take back the auditor's newest ruling of a session, or else `last` on the visible item.

    Returns the name of its item, empty if it was not ruled on in this session, and a message.
    Raises ConflictError.
    """
    from workbench.evidence.ruling_subjects import take_back

    in_force = {
        own_ruling.uid
        for rulings in store.rulings.standing().values()
        for own_ruling in rulings
        if own_ruling.auditor == auditor
    }
    session.done[:] = [
        (item, session_ruling)
        for item, session_ruling in session.done
        if session_ruling.uid in in_force
    ]
    item, ruling = session.done.pop() if session.done else ("", last)
    if ruling is None or ruling.uid not in in_force:
        return "", f"Nothing to undo: {auditor} has no ruling on this item."
    return item, take_back(store, ruling, auditor=auditor)


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


def auditors_of(progress: ReviewProgress) -> Sequence[str]:
    """Return the auditors with a ruling in force in a queue."""
    return sorted({ruling.auditor for rulings in progress.of.rulings.things for ruling in rulings})


HIDE = (
    "Hide model",
    "Hide the model and other auditors' rulings: a blind review, until you show them again",
)
SHOW = "Show model", "Show the model and other auditors' rulings again"


class BlindKey(RulingKeys):
    """A screen of a review, which can be blind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "C", "done", "Close", tooltip="Close the item: nothing more to rule on in the statement"
        ),
        Binding("b", "blind", HIDE[0], tooltip=HIDE[1]),
    ]

    session: ReviewSession
    DECIDES: ClassVar[frozenset[str]] = frozenset({"done"})

    @property
    def progress_in_sight(self) -> ReviewProgress | None:
        """The visible queue, or None without one."""
        raise NotImplementedError("abstract")

    @property
    def item_in_sight(self) -> Waiting | None:
        """The visible item, or the one under the cursor, or None without one."""
        raise NotImplementedError("abstract")

    @property
    def can_close(self) -> bool:
        """Whether the current item is a statement that this auditor has not decided on."""
        from workbench.domain.reviews import Ranked

        item, progress = self.item_in_sight, self.progress_in_sight
        return (
            progress is not None
            and isinstance(item, Ranked)
            and self._auditor not in progress.deciders(item)
        )

    def action_done(self) -> None:
        """Close the statement, as there is nothing more to rule on. No figure changes."""
        item, progress = self.item_in_sight, self.progress_in_sight
        if item is not None and progress is not None and self.can_close:
            self.as_auditor(
                auditors_of(progress), lambda auditor: self.store_done(progress, item, auditor)
            )

    @worker("rule", newest=False)
    async def store_done(self, progress: ReviewProgress, item: Waiting, auditor: str) -> None:
        def close(store: Store) -> Ruling:
            from workbench.domain.rulings import Verdict
            from workbench.evidence.ruling_subjects import add_ruling, statement_subject
            from workbench.pipeline.review import with_rulings

            n_ruled, n_total = with_rulings(store, progress.of).ruled(item.ref, auditor)
            reason = (
                f"{n_ruled:,} of {n_total:,} ruled, nothing more to rule on"
                if n_ruled
                else "nothing to rule on"
            )
            thing = statement_subject(store, progress.of.run.instrument, item.ref)
            model = store.runs.model_key(progress.of.run).hex()
            return add_ruling(
                store,
                thing,
                Verdict.REVIEWED,
                auditor=auditor,
                reason=reason,
                reading=None,
                model=model,
            )

        ruling = await self.with_store(close)
        self.take_ruled(f"{ruling.verdict}: {item.ref}; z undoes it", ruling)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now, each named by its current effect."""
        bindings = super().active_bindings
        label, tooltip = SHOW if self.session.blind else HIDE
        return {
            key: active._replace(
                binding=replace(active.binding, description=label, tooltip=tooltip), tooltip=tooltip
            )
            if active.binding.action == "blind"
            else active
            for key, active in bindings.items()
        }

    def turn_blind(self) -> None:
        """Show the screen again after a change of the blind mode."""
        raise NotImplementedError("abstract")

    def action_blind(self) -> None:
        """Hide or show the model and others' rulings, and store that choice."""
        self.session.blind = not self.session.blind
        keep(BLIND, self.session.blind)
        self.refresh_bindings()
        self.turn_blind()
