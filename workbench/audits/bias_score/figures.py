"""What the bias score is told, and what it says of a selection of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workbench.domain.seeds import SEED
from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName, UsageError

Unit = Literal["statements", "responses"]


@dataclass(frozen=True, slots=True)
class Options:
    """The choices behind the score; recorded with every result."""

    seed: int = SEED
    draws: int = 10_000
    "published: 10,000 (section 4.1, appendix G)"
    unit: Unit = "statements"
    "what is resampled; published: responses"
    correct: bool = False
    "whether the classifier's error is corrected for; published: no"
    threshold: float = 0.9
    "confidence that a kept reading of the classifier has at least (section 3.4); here for the record"

    def __post_init__(self) -> None:
        if self.unit not in ("statements", "responses"):
            raise UnknownName(f"unit {self.unit!r} is unknown; choose 'statements' or 'responses'")
        if self.draws < 1:
            raise UsageError(f"found {self.draws} draws; give 1 or more")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"found the confidence threshold {self.threshold:g}; give 0 to 1")


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
