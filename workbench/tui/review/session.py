"""What an auditor does from opening a queue until leaving it: shared by the list and the items."""

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
    from workbench.pipeline.review import Progress, Waiting

RunKey = tuple[object, ...]
"what tells a run from others of a store"


@dataclass
class ReviewSession:
    """One auditor at one queue."""

    blind: bool = field(default_factory=reviews_blind)
    """whether the model is hidden, and what others ruled before one's own ruling; at first as the
    person left it"""
    done: list[tuple[str, Ruling]] = field(default_factory=list)
    "(name of the item, ruling) of what was ruled here and can be taken back, the newest last"


def run_key(run: Run) -> RunKey:
    """Return what tells a run from others of a store, however many answers it has."""
    return (*run.way, run.family)


def reviewable(store: Store) -> Sequence[Run]:
    """Return the runs that have anything to review, those with a persona first, and the one that
    was answered last at the end.
    """
    from workbench import registry

    asking = {one.name for one in registry.asking()}
    found = [run for run in store.runs.list(personas=True) if run.audit in asking and run.responses]
    return sorted(found, key=lambda run: (not run.persona, run.last))


def last_ruled(
    progress: Progress | None, item: Waiting | None, auditor: str | None
) -> Ruling | None:
    """Return the auditor's newest ruling in force on an item, or on something below its statement;
    None: there is none.
    """
    from workbench.domain.reviews import Ranked

    if progress is None or item is None or auditor is None:
        return None
    of, control = progress.of, progress.control
    if isinstance(item, Ranked):
        every = [one for one in of.rulings.statements.get(item.ref, ()) if not of.as_drawn(one)]
    else:
        every = (
            list(control.rulings.get((item.prompt, item.text), ())) if control is not None else []
        )
    return max(
        (one for one in every if one.auditor == auditor), key=lambda one: one.at, default=None
    )


def taken_back(
    store: Store, session: ReviewSession, auditor: str, last: Ruling | None
) -> tuple[str, str]:
    """Take the auditor's newest ruling of a session back, or else their `last` on the item in
    sight; return the name of its item, empty if it was not made in this session, and a sentence.
    Raises ConflictError.
    """
    from workbench.evidence.ruling_subjects import take_back

    in_force = {
        one.uid for of in store.rulings.standing().values() for one in of if one.auditor == auditor
    }
    session.done[:] = [(item, one) for item, one in session.done if one.uid in in_force]
    item, ruling = session.done.pop() if session.done else ("", last)
    if ruling is None or ruling.uid not in in_force:
        return "", f"Nothing to undo: {auditor} has no ruling on this item."
    return item, take_back(store, ruling, auditor=auditor)


def after(
    store: Store,
    known: Progress,
    auditor: str | None,
    item: Waiting | None = None,
    *,
    first: bool = False,
) -> tuple[Progress, Waiting | None]:
    """Return a queue as it is now, and what waits next after an `item`, or `first` of all, leased
    to the auditor.
    """
    from workbench.pipeline.review import looked_again, name, take_next

    progress = looked_again(store, known, auditor)
    if item is None and not first:
        return progress, None
    return progress, take_next(store, progress, "" if item is None else name(item))


def ruled_before(progress: Progress) -> Sequence[str]:
    """Return who made a ruling that stands in a queue."""
    return sorted({one.auditor for of in progress.of.rulings.things for one in of})


HIDE = (
    "Hide model",
    "Hide the model and other auditors' rulings: a blind review, until you show them again",
)
SHOW = "Show model", "Show the model and other auditors' rulings again"


class BlindKey(RulingKeys):
    """A screen of a review, which an auditor may do blind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "C", "done", "Close", tooltip="Close the item: nothing more to rule on in the statement"
        ),
        Binding("b", "blind", HIDE[0], tooltip=HIDE[1]),
    ]

    session: ReviewSession
    DECIDES: ClassVar[frozenset[str]] = frozenset({"done"})

    @property
    def progress_in_sight(self) -> Progress | None:
        """The queue that is shown; None: none is."""
        raise NotImplementedError("abstract")

    @property
    def item_in_sight(self) -> Waiting | None:
        """The item that is shown, or that the cursor is on; None: there is none."""
        raise NotImplementedError("abstract")

    @property
    def can_close(self) -> bool:
        """Whether the item in sight is a statement that this auditor has not decided on."""
        from workbench.domain.reviews import Ranked

        item, progress = self.item_in_sight, self.progress_in_sight
        return (
            progress is not None
            and isinstance(item, Ranked)
            and self._auditor not in progress.deciders(item)
        )

    def action_done(self) -> None:
        """Say that there is nothing more to rule on in the statement: the item is closed, no figure
        changes.
        """
        item, progress = self.item_in_sight, self.progress_in_sight
        if item is not None and progress is not None and self.can_close:
            self.as_auditor(
                ruled_before(progress), lambda auditor: self.store_done(progress, item, auditor)
            )

    @worker("rule", newest=False)
    async def store_done(self, progress: Progress, item: Waiting, auditor: str) -> None:
        def close(store: Store) -> Ruling:
            from workbench.domain.rulings import Verdict
            from workbench.evidence.ruling_subjects import rule, statement
            from workbench.pipeline.review import with_rulings

            n, of = with_rulings(store, progress.of).ruled(item.ref, auditor)
            reason = (
                f"{n:,} of {of:,} ruled, nothing more to rule on" if n else "nothing to rule on"
            )
            thing = statement(store, progress.of.run.instrument, item.ref)
            model = store.runs.model_key(progress.of.run).hex()
            return rule(
                store,
                thing,
                Verdict.REVIEWED,
                auditor=auditor,
                reason=reason,
                reading=None,
                model=model,
            )

        made = await self.with_store(close)
        self.take_ruled(f"{made.verdict}: {item.ref}; z undoes it", made)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now, each called by what it does now."""
        found = super().active_bindings
        called, does = SHOW if self.session.blind else HIDE
        return {
            key: active._replace(
                binding=replace(active.binding, description=called, tooltip=does), tooltip=does
            )
            if active.binding.action == "blind"
            else active
            for key, active in found.items()
        }

    def turn_blind(self) -> None:
        """Show what may be seen now."""
        raise NotImplementedError("abstract")

    def action_blind(self) -> None:
        """Hide the model and what others ruled, or show it again; it stays so until it is turned
        again.
        """
        self.session.blind = not self.session.blind
        keep(BLIND, self.session.blind)
        self.refresh_bindings()
        self.turn_blind()
