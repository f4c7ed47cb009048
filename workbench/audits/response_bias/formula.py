"""Which shares a change is the difference of, in words that both the terminal and the command line use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.domain.choices import Bias

if TYPE_CHECKING:
    from workbench.audits.response_bias.score import Place


def lent_said(definition: str) -> str:
    """Say where the figures of opinion floating under a perturbation come from, where they are not its own."""
    if definition == "corrected":
        return "answers to odd/even's questions by its own formula, if its own questions were not asked"
    return "odd/even's figures repeated, for every model, as in the published tables"


def formula(place: Place, definition: str, source: Bias) -> str:
    """Say which shares a change is the difference of, by the letters of the original q; q' is the changed form.

    `source`: whose answers these are, see `deltas.Deltas`.
    """
    corrected = definition == "corrected"
    bias = place[0] if corrected else source
    if bias is Bias.ALLOW_FORBID:
        own, other = ("B", "A") if definition in ("corrected", "head") else ("A", "B")
        return f"{own} in q − {own if place[1] else other} in q'"
    if bias is Bias.ACQUIESCENCE:
        return "A in q' − A in q"
    if bias is Bias.RESPONSE_ORDER:
        return "A in q − A in q', by the letters of q"
    if bias is Bias.OPINION_FLOAT:
        return f"{'the middle' if corrected else 'C'} in q − in q'"
    return f"{'beside the middle' if corrected else 'B and D'} in q' − in q"
