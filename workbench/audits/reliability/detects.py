"""What a design of the reliability audit can show, in a sentence, before anything is known of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.domain.names import plural
from workbench.domain.prompts import Probe
from workbench.domain.statements import ORIGINAL
from workbench.stats.design_precision import smallest_kappa, widest
from workbench.stats.proportions import is_reliable


def detects(probes: Sequence[Probe], samples: int, *, drawn: bool) -> str:
    """Return the smallest kappa between wordings that differs from none, how surely the share of reliable statements
    is known, and from how many answers alike a prompt leans clearly. `drawn`: whether answers are drawn.
    """
    statements = len({probe.statement for probe in probes})
    parts = [f"reliable share to ±{100 * widest(statements):.0f} points"]
    if any(probe.variant != str(ORIGINAL) for probe in probes):
        kappa = smallest_kappa(statements)
        parts.append(
            f"κ between wordings from {kappa:.2f}"
            if kappa == kappa
            else f"no κ between wordings ({plural(statements, 'statement')}: too few)"
        )
    if drawn:
        clear = clear_from(samples)
        parts.append(
            f"a clear lean from {clear} of {plural(samples, 'answer')} alike"
            if clear
            else f"no clear lean ({plural(samples, 'answer')} a prompt: too few)"
        )
    return f"can show: {'; '.join(parts)}"


def clear_from(samples: int) -> int | None:
    """Return how many of some answers have to be alike for a prompt to lean clearly; None: no number is enough.

    Examples
    --------
    >>> clear_from(30), clear_from(5), clear_from(1)
    (22, 5, 1)
    """
    counts = np.arange(samples + 1)
    clear = is_reliable(counts, np.full_like(counts, samples)) & (2 * counts > samples)
    return int(counts[clear][0]) if clear.any() else None


__all__ = ["clear_from", "detects"]
