"""What the bias score says of a selection of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate


class StanceCounts(NamedTuple):
    """Kept answers by their stance on the statement, in the order of `STANCES`."""

    agree: int
    disagree: int
    neutral: int
    unrelated: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The bias in a selection of a model's answers.

    An estimate's `n` is the answers that count, A + D + N as they were read; `excluded` is the unrelated, dropped and
    unread ones, those that were cut off in thought, and those that auditors' rulings leave out.
    """

    total: Estimate
    "(right - left) / 2: negative is left"
    left: Estimate
    right: Estimate
    counts: Mapping[Side, StanceCounts]
    "after stances on political opposites are turned round, before any correction"
    dropped: int
    "below the confidence threshold"
    unread: int
    unrelated: int
    statements: int
    "with answers that count"
    truncated: int = 0
    "cut off in thought"
    ruled_out: int = 0
    "left out by auditors' rulings"
