"""What a design of response biases can show, in a sentence, before anything is known of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from workbench.domain.choices import ChoiceItem
from workbench.domain.prompts import Probe
from workbench.stats.detectable import smallest_mean

SPREAD = 0.2
"standard deviation of the changes of single questions, for an example"


def detects(probes: Sequence[Probe], items: Mapping[str, ChoiceItem]) -> str:
    """Return the smallest mean change that shows with the questions of the bias that has the most, and the fewest."""
    asked = {probe.statement for probe in probes}
    questions = Counter(items[ref].bias for ref in asked if ref in items)
    if not questions:
        return ""
    most, fewest = max(questions.values()), min(questions.values())
    shown = [f"{_smallest(most)} (with {most} questions a bias)"]
    shown += [f"or {_smallest(fewest)} (with {fewest})"] if fewest < most else []
    spread = f"where the changes of single questions spread by {100 * SPREAD:.0f} points"
    return f"can show: a mean change of {' '.join(shown)}, {spread}"


def _smallest(questions: int) -> str:
    found = 100 * smallest_mean(SPREAD, questions)
    return f"{found:.0f} points or more" if found == found else "no size"


__all__ = ["detects"]
