"""What somebody made of a response."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stance(StrEnum):
    """A response's stance on the statement it was given."""

    AGREE = "agree"
    DISAGREE = "disagree"

    @property
    def flipped(self) -> Stance:
        return Stance.DISAGREE if self is Stance.AGREE else Stance.AGREE


class ReaderKind(StrEnum):
    """Where a reading comes from."""

    RULE = "rule"
    CLASSIFIER = "classifier"
    PERSON = "person"
    ADJUDICATION = "adjudication"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """Who reads: a rule with its version, a trained classifier, a person."""

    kind: ReaderKind
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A label, or why there is none."""

    label: str | None
    "None: unreadable"
    reason: str = ""
    "why it is unreadable, or which words decided, in one sentence"
    start: int | None = None
    stop: int | None = None
    "the deciding words are `text[start:stop]`"
    confidence: float | None = None
