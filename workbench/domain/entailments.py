"""What a model of natural language inference says of two texts."""

from __future__ import annotations

from dataclasses import dataclass

LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True, slots=True)
class Entailment:
    """The probabilities that a premise entails, says nothing of, or contradicts a hypothesis; they add up to 1."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def label(self) -> str:
        """The most probable of the three."""
        return max(LABELS, key=lambda label: getattr(self, label))

    @property
    def probability(self) -> float:
        """That of the most probable."""
        return max(self.entailment, self.neutral, self.contradiction)

    def __str__(self) -> str:
        return f"{self.label} {self.probability:.2f}"
