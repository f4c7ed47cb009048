"""Keys of the queue and of its items: `C` closes an item, `b` hides the model and what others ruled, or shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import ActiveBinding, Binding, BindingType

from workbench.tui.kit.base import store_path
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.preferences import BLIND, keep
from workbench.tui.rulings.ruling import NOTE, RulingKeys

if TYPE_CHECKING:
    from workbench.pipeline.review_progress import Progress, Waiting
    from workbench.tui.review.session import ReviewSession

HIDE = "Hide model", "Hide the model and other auditors' rulings: a blind review, until you show them again"
SHOW = "Show model", "Show the model and other auditors' rulings again"


class BlindKey(RulingKeys):
    """A screen of a review, which an auditor may do blind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "done", "Close", tooltip="Close the item: nothing more to rule on in the statement"),
        Binding("b", "blind", HIDE[0], tooltip=HIDE[1]),
    ]

    session: ReviewSession

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
        return progress is not None and isinstance(item, Ranked) and self._auditor not in progress.deciders(item)

    def action_done(self) -> None:
        """Say that there is nothing more to rule on in the statement: the item is closed, no figure changes."""
        item, progress = self.item_in_sight, self.progress_in_sight
        if item is None or progress is None or not self.can_close:
            return
        if self._auditor is not None:
            self.store_done(progress, item, self._auditor)
            return

        def named(name: str | None) -> None:
            if name is not None:
                self.app.annotator = name  # type: ignore[attr-defined]
                self.store_done(progress, item, name)

        known = sorted({one.auditor for of in progress.of.rulings.things for one in of})
        self.app.push_screen(PersonDialog(known, note=NOTE, what="auditor"), named)

    @work(thread=True, exit_on_error=False, group="rule")
    def store_done(self, progress: Progress, item: Waiting, auditor: str) -> None:
        from stores.core.store import Store
        from workbench.domain.rulings import Verdict
        from workbench.evidence.ruling_subjects import rule, statement
        from workbench.pipeline.review import with_rulings

        with Store.open(store_path(self.app)) as store:
            n, of = with_rulings(store, progress.of).ruled(item.ref, auditor)
            reason = f"{n:,} of {of:,} ruled, nothing more to rule on" if n else "nothing to rule on"
            thing = statement(store, progress.of.run.instrument, item.ref)
            made = rule(store, thing, Verdict.REVIEWED, auditor=auditor, reason=reason, reading=None)
        self.post_message(self.WasRuled(f"{Verdict.REVIEWED}: {item.ref}; z undoes it", made))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now, each called by what it does now."""
        found = super().active_bindings
        called, does = SHOW if self.session.blind else HIDE
        return {
            key: active._replace(
                binding=replace(active.binding, description=called, tooltip=does), tooltip=does
            ) if active.binding.action == "blind" else active
            for key, active in found.items()
        }  # fmt: skip

    def turn_blind(self) -> None:
        """Show what may be seen now."""
        raise NotImplementedError("abstract")

    def action_blind(self) -> None:
        """Hide the model and what others ruled, or show it again; it stays so until it is turned again."""
        self.session.blind = not self.session.blind
        keep(BLIND, self.session.blind)
        self.refresh_bindings()
        self.turn_blind()
