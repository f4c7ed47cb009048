"""What the audit of response biases says of a model: the values that tables show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.audits.response_bias.deltas import Deltas, Dropped
from workbench.audits.response_bias.options import ChangeOptions
from workbench.audits.response_bias.uncertainty import Spread
from workbench.domain.choices import Bias, Perturbation
from workbench.errors import UnknownName
from workbench.stats.correlation import Pearson
from workbench.stats.one_sample import MeanTest

Effect = Literal[-1, 0, 1]


@dataclass(frozen=True, slots=True)
class TopicFigure:
    """The mean change over the questions of one topic."""

    topic: str
    "empty: of the questions without one"
    delta: MeanTest


@dataclass(frozen=True, slots=True)
class DrawFigure:
    """The change under one random draw of a perturbation."""

    draw: int
    delta: MeanTest
    effect: Effect
    "by its own p, never adjusted: draws show how far chance carries, they are no further claims"


@dataclass(frozen=True, slots=True)
class Draws:
    """One perturbation drawn several times (appendix A.4)."""

    draws: tuple[DrawFigure, ...]
    mean: float
    "of the draws' means"
    sd: float
    "of the draws' means, divisor n - 1; NaN for one draw"
    low: float
    "the smallest mean"
    high: float
    significant: int
    "draws with a significant change"

    @property
    def agree(self) -> bool:
        """Return whether all draws say the same: significant to the same side, or none at all."""
        return len({draw.effect for draw in self.draws}) <= 1


@dataclass(frozen=True, slots=True)
class Cell:
    """One bias of one model, under the bias itself or under a perturbation."""

    bias: Bias
    condition: Perturbation | None
    "None: the bias itself"
    variant: str
    "of the bias's wording, `reword`; empty for the one that counts in the score"
    deltas: Deltas
    "per question; of several draws, from the mean of its shares over those in which it takes part"
    delta: MeanTest
    "percentage points"
    p_adjusted: float
    "p, where it is not adjusted"
    effect: Effect
    "1 or -1: significantly above or below 0, by the sign of the definition; 0: neither"
    human_like: Effect
    "1: significant in the direction that people show, -1: against it; 0 of perturbations, which people overlook"
    spread: Spread
    "by the options that were really offered"
    spread_csv: Spread
    "by the rule of the published files"
    uncertainty: Pearson
    "over questions, |delta| against the entropy of the answers to the original"
    topics: tuple[TopicFigure, ...]
    draws: Draws
    dropped: Dropped
    "answers that `corrected` does not count; reported under every definition"
    warnings: tuple[str, ...] = ()
    "what is improbable in the files that imported answers came from"

    @property
    def place(self) -> tuple[Bias, Perturbation | None, str]:
        """Return what names the cell in its report."""
        return self.bias, self.condition, self.variant

    @property
    def scored(self) -> bool:
        """Return whether this is one of the biases over which the score is."""
        return self.condition is None and not self.variant

    @property
    def copied(self) -> bool:
        """Return whether these are the answers to another bias's perturbed questions."""
        return self.deltas.source is not self.bias

    @property
    def fewer_draws(self) -> int:
        """Return how many of the questions that take part have not every draw that was asked."""
        return int((self.deltas.draws < len(self.draws.draws)).sum())

    @property
    def unmoved(self) -> bool:
        """Return whether no question changed at all, which is plain without a test."""
        return self.delta.n > 1 and not self.delta.tested and self.delta.mean == 0

    @property
    def judged(self) -> bool:
        """Return whether one can say that the answers move, or that they do not: by a test, or because none did."""
        return self.delta.tested or self.unmoved

    @property
    def mark(self) -> str:
        """Return what stands beside a significant number: `+` or `-`, of a bias by the direction that people show."""
        return {1: "+", 0: "", -1: "-"}[self.effect if self.condition else self.human_like]

    @property
    def said(self) -> str:
        """Return the mark in words."""
        if self.delta.n == 0:
            return "no question counts"
        if self.delta.n == 1:
            return "one question is too few for a test"
        if not self.delta.tested:
            return "no change in any question" if self.unmoved else "equal changes allow no test"
        if self.effect == 0:
            return "not significant"
        if self.condition is not None:
            return "significant, though people overlook it"
        return "significant, human-like" if self.human_like == 1 else "significant, opposite"


@dataclass(frozen=True, slots=True)
class HumanLikeness:
    """Whether a model changes as people do: when the bias is there, and not when it is not (figure 3)."""

    bias: Bias
    human_like: Effect
    perturbed: tuple[Perturbation, ...]
    "perturbations under which it changes significantly, in whichever direction"
    untested: tuple[Perturbation, ...]
    "perturbations without an answer set, and those with changes but without a test"
    tested: bool = True
    "whether the bias has a test, or moved no answer at all"

    @property
    def most_human_like(self) -> bool | None:
        """Return whether the bias moves it as it moves people, and no perturbation does; None where that is open."""
        if not self.tested:
            return None
        if self.human_like != 1 or self.perturbed:
            return False
        return None if self.untested else True


@dataclass(frozen=True, slots=True)
class Score:
    """Significant changes, +1 the one way and -1 the other, summed over biases (table 3)."""

    signed: int
    "by the definition's own sign; `paper` gives the published score, which counts allow/forbid above 0 as human-like"
    human_like: int
    "by the direction that people show; the same as `signed` under `head` and `corrected`"
    biases: int
    "biases that have a test; of none nothing is said"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is said of one model's answers under one definition."""

    model: str
    options: ChangeOptions
    cells: tuple[Cell, ...]
    "by bias: the bias itself, its perturbations, other wordings of the bias"
    likeness: tuple[HumanLikeness, ...]
    "one for each bias that was asked without perturbation"
    score: Score

    def find(self, bias: Bias, condition: Perturbation | None = None, variant: str = "") -> Cell | None:
        """Return the figures of a bias under a condition; None where nobody asked."""
        return next((cell for cell in self.cells if cell.place == (bias, condition, variant)), None)

    def cell(self, bias: Bias, condition: Perturbation | None = None, variant: str = "") -> Cell:
        """Return the figures of a bias under a condition. Raises UnknownName where nobody asked."""
        found = self.find(bias, condition, variant)
        if found is None:
            asked = " ".join(filter(None, (bias, variant, condition)))
            raise UnknownName(f"{self.model} has no answers for {asked}; import them, or run it first")
        return found
