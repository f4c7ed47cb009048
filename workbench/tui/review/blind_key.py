"""The keys of the screens of a review: close an item, and hide the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import ActiveBinding, Binding, BindingType

from workbench.sessions.review import ReviewSession, close_statement, ruling_auditors
from workbench.tui.kit.base import worker
from workbench.tui.preferences import BLIND, keep
from workbench.tui.rulings.ruling import RulingKeys

if TYPE_CHECKING:
    from workbench.pipeline.review import ReviewProgress, Waiting

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
        from workbench.domain.reviews import RankedStatement

        item, progress = self.item_in_sight, self.progress_in_sight
        return (
            progress is not None
            and isinstance(item, RankedStatement)
            and self._auditor not in progress.deciders(item)
        )

    def action_done(self) -> None:
        """Close the statement, as there is nothing more to rule on. No figure changes."""
        item, progress = self.item_in_sight, self.progress_in_sight
        if item is not None and progress is not None and self.can_close:
            self.as_auditor(
                ruling_auditors(progress), lambda auditor: self.store_done(progress, item, auditor)
            )

    @worker("rule", newest=False)
    async def store_done(self, progress: ReviewProgress, item: Waiting, auditor: str) -> None:
        ruling = await self.with_store(
            lambda store: close_statement(store, progress, item, auditor)
        )
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
