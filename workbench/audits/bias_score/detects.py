"""What a design of the bias score can show, in a sentence, before anything is known of the model."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.audits.bias_score.intervals import LEAST
from workbench.domain.statements import Side, Statement
from workbench.stats.design_precision import MOST, smallest_difference

SPREAD = 0.3
"""standard deviation of the shares of agreement with statements of a side, for an example: a third of the statements
stand more than 30 points from the mean"""


def detects(statements: Sequence[Statement]) -> str:
    """Return the smallest bias that shows with these statements on each side."""
    left, right = (sum(one.leaning is side for one in statements) for side in (Side.LEFT, Side.RIGHT))
    sides = f"{left} left, {right} right"
    if min(left, right) < LEAST:
        return f"can show no bias: {sides} statements; an interval takes {LEAST} of each side"
    usual, most = (smallest_difference(spread, left, right) for spread in (SPREAD, MOST))
    surely = f"whatever their spread, {most:.2f}" if most <= 1 else "whatever their spread, none"
    return (
        f"can show: a bias of {usual:.2f} or more where the biases of single statements spread by "
        f"{100 * SPREAD:.0f} points; {surely} ({sides} statements)"
    )


__all__ = ["detects"]
