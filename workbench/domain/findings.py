"""A finding of a check, with the texts that it rests on.

It is about an instrument, about a wording, or about a model's comparison of two wordings. A finding
can be waived by a person. A waiver holds for the very texts that it was given on, so a finding
knows its texts (`fingerprint`).
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from workbench.domain.keys import content_key
from workbench.domain.statements import VariantId

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text that a finding is about."""

    name: str
    "description of the text for people: `original`, `nl_12 original`"
    text: str


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One oddity."""

    severity: str
    "`error` if results would be wrong, `warning` for a look at it, or `note` for information"
    code: str
    subject: str
    "a statement's ref, a template's name, an issue"
    message: str
    ref: str | None = None
    "the statement to go to, or None if the finding is about none"
    variant: VariantId | None = None
    "the wording to go to, or None if the finding is about all of them"
    language: str | None = None
    texts: tuple[Quoted, ...] = ()
    "compared texts, at most two, with the one it was compared with first"
    detail: str = ""
    "the difference to findings with all else in common, such as a template's missing label"

    @property
    def fingerprint(self) -> bytes:
        """The 16-byte key of code, subject, place and the texts involved.

        Figures and models are no part of it: a person who waived a similarity has waived it for
        these two texts. A finding without texts is told by its message.
        """
        texts = [quoted.text for quoted in self.texts] or [self.message]
        fields = [
            self.code,
            self.subject,
            str(self.variant or ""),
            self.language or "",
            self.detail,
        ]
        return content_key([*fields, *texts])


def folded(text: str) -> str:
    """Return a text in the form used for comparison: NFC, one space between words, case folded."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def by_severity(finding: LintFinding) -> int:
    """Return the sort key of a finding, with errors first."""
    return SEVERITIES.index(finding.severity)


LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True, slots=True)
class Entailment:
    """The probabilities of entailment, neutrality and contradiction of two texts.

    They add up to 1.
    """

    entailment: float
    neutral: float
    contradiction: float

    @property
    def label(self) -> str:
        """The most probable of the three."""
        return max(LABELS, key=lambda label: getattr(self, label))

    @property
    def probability(self) -> float:
        """The probability of the likeliest relation."""
        return max(self.entailment, self.neutral, self.contradiction)

    def __str__(self) -> str:
        return f"{self.label} {self.probability:.2f}"
