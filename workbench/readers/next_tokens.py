"""Reads the most likely next tokens of a prompt: the probability of a label."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

PUBLISHED_TOP = 10
"number of most likely next tokens over which the published masses are summed (Haller et al. 2025, section 3.1)"


def mass(tokens: Sequence[tuple[str, float]], label: str) -> float:
    """Return the probability of the tokens that spell a label, ignoring surrounding spaces and case.

    `tokens`: (text, log-probability in nats). Haller et al. 2025, section 3.1, footnote 2.

    Examples
    --------
    >>> round(mass([(" Yes", -1.0), ("yes", -2.0), ("no", -3.0), ("Yesterday", -4.0)], "yes"), 4)
    0.5032
    """
    wanted = label.strip().casefold()
    return sum(exp(log) for text, log in tokens if text.strip().casefold() == wanted)
