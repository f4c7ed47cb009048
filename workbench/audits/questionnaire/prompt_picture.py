"""Where the probability of the next token of one prompt goes, as a picture (Haller et al. 2025, figure 3)."""

from __future__ import annotations

import math

from workbench.audits.questionnaire.asked import PromptAsked
from workbench.figures.pictures.kinds import Axis, Bar, Bars
from workbench.figures.table import Kind
from workbench.figures.visible import visible

READS = {"yes": "reads as yes", "no": "reads as no"}


def likeliest(asked: PromptAsked) -> Bars:
    """Return a bar for each of the likeliest next tokens, and one for all others; blanks are shown as ␣."""
    bars = [
        Bar(f"“{visible(one.text).replace(' ', '␣')}”", [(READS.get(one.mark, "other"), one.probability)])
        for one in asked.tokens
    ]
    others = not asked.answers and not math.isnan(asked.rest)
    rest = [Bar("all other tokens", [("other", asked.rest)])] if others else []
    tokens = "Next token", "Probability of each of the likeliest next tokens of one prompt."
    what, of = ("Answers", "Share of each answer among those drawn to one prompt.") if asked.answers else tokens
    return Bars(
        name="prompt_tokens",
        title=f"{what} on {visible(asked.target)}",
        definition=of,
        subject=(asked.provenance.model, asked.target, str(asked.condition), str(asked.variant), asked.respondent),
        axis=Axis("share" if asked.answers else "probability", Kind.SHARE, 0.0, 1.0),
        bars=[*bars, *rest],
    )
