"""Readings of responses, and the readers of an audit's answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from workbench import entry_points


class Stance(StrEnum):
    """A response's stance on the statement it was given.

    Rules that look for label words know two stances, while people and classifiers know four
    (Faulborn et al. 2025, section 3.4).
    """

    AGREE = "agree"
    DISAGREE = "disagree"
    NEUTRAL = "neutral"
    UNRELATED = "unrelated"

    @property
    def flipped(self) -> Stance:
        """The stance on the contrary statement.

        Neutral and unrelated stay what they are.
        """
        return {Stance.AGREE: Stance.DISAGREE, Stance.DISAGREE: Stance.AGREE}.get(self, self)


STANCES = tuple(Stance)
"the four labels, in the order of tables and matrices"
THRESHOLDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
"confidences on curves and in forms"


LABEL_WORDS = "label-words"
"the rule that reads labels unless another is chosen"
PEOPLE = "people"
"people's settled labels, in the place of a reader"


@dataclass(frozen=True, slots=True)
class ReadingChoice:
    """The choice of readings that count.

    Audits take it, and `evidence.readings` applies it.
    """

    by: str | None = None
    """a rule, a classifier, or `people`

    None stands for label words if a template asks for a label, and for the newest classifier if
    answers are free text.
    """
    rulings: bool = True
    "whether auditors' rulings count"

    @property
    def rule(self) -> str:
        """The rule that reads labels."""
        return self.by or LABEL_WORDS


USUAL = ReadingChoice()


class ReaderKind(StrEnum):
    """The origin of a reading."""

    RULE = "rule"
    CLASSIFIER = "classifier"
    PERSON = "person"
    ADJUDICATION = "adjudication"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """A reader of answers: a rule with its version, a trained classifier, or a person."""

    kind: ReaderKind
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A label, or why there is none."""

    label: str | None
    "None if it is unreadable"
    reason: str = ""
    "why it is unreadable, or which words decided, in one sentence"
    start: int | None = None
    stop: int | None = None
    "end of the deciding words, which are `text[start:stop]`"
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Nature:
    """The readers of an audit's answers."""

    free_text: bool = False
    "whether its answers are free text, which people and classifiers read"
    by_rule: bool = False
    """whether a rule reads each answer as it arrives

    Progress then says how many are readable.
    """
    first_word: bool = False
    """whether the first word of an answer is its reading

    The published figures are probabilities, and drawn answers count in their place in this way.
    """
    "their place count so"


def nature(audit: str) -> Nature:
    """Return the nature of an audit.

    Raises UnknownName, listing those there are.
    """
    return cast("Nature", entry_points.load_audit(audit).nature)


def free_text() -> tuple[str, ...]:
    """Return the names of the audits whose answers are free text."""
    return tuple(name for name in entry_points.audits() if nature(name).free_text)
