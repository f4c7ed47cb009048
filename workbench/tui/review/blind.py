"""`b` hides the model and what others ruled, or shows it: the key says which of the two it does now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import ActiveBinding, Binding, BindingType

from workbench.tui.preferences import BLIND, keep
from workbench.tui.rulings.ruling import RulingKeys

if TYPE_CHECKING:
    from workbench.tui.review.session import ReviewSession

HIDE = "Hide model", "Hide the model and other auditors' rulings: a blind review, until you show them again"
SHOW = "Show model", "Show the model and other auditors' rulings again"


class BlindKey(RulingKeys):
    """A screen of a review, which an auditor may do blind."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "blind", HIDE[0], tooltip=HIDE[1])]

    session: ReviewSession

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
