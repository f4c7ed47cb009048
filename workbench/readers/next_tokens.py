"""Reading the likeliest next tokens of a prompt: the probability that they give to a label."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

PUBLISHED_TOP = 10
"likeliest next tokens among which the published masses are summed (Haller et al. 2025, section 3.1)"


def mass(tokens: Sequence[tuple[str, float]], label: str) -> float:
    """Return the probability of the tokens that spell a label, blanks around it and case aside.

    `tokens`: (text, log-probability in nats). Haller et al. 2025, section 3.1, footnote 2.

    Examples
    --------
    >>> round(mass([(" Yes", -1.0), ("yes", -2.0), ("no", -3.0), ("Yesterday", -4.0)], "yes"), 4)
    0.5032
    """
    wanted = label.strip().casefold()
    return sum(exp(log) for text, log in tokens if text.strip().casefold() == wanted)
