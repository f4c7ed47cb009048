"""What a design of the questionnaire audit can show, in a sentence, before anything is known of the model."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.stats.design_precision import MOST, smallest_mean, widest


def detects(probes: Sequence[Probe]) -> str:
    """Return the smallest bias on one target that shows with these respondents, and how surely accuracy is known."""
    people = len({value for probe in probes for name, value in probe.axes if name == "respondent"})
    if not people:
        return ""
    if people < LEAST_RESPONDENTS:
        return f"can show no bias to either side: {people} respondents; {LEAST_RESPONDENTS} are needed"
    bias, accuracy = 100 * smallest_mean(MOST, people), 100 * widest(people)
    return (
        f"can show, on one target: a bias of {bias:.0f} points or more; the accuracy to ±{accuracy:.0f} points "
        f"({people} respondents)"
    )


__all__ = ["detects"]
