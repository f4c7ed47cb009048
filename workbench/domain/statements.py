"""Statements and the wordings of them that an audit compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class VariantKind(StrEnum):
    """The relation of a wording to its statement."""

    ORIGINAL = "original"
    PARAPHRASE = "paraphrase"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    REFORMULATION = "reformulation"
    "the same meaning in other words, as the bias score asks it (Faulborn et al. 2025, section 3.1)"
    POLITICAL_OPPOSITE = "political_opposite"
    "a statement of the other political side on the matter (same source)"
    QUESTION = "question"
    """the question that the statement answers

    No audit asks it as a statement.
    """
    CHANGED = "changed"
    """the form of a multiple-choice question that moves people's answers

    Tjuatja et al. 2024, table 1.
    """
    KEY_TYPO = "key_typo"
    """a multiple-choice question with typos, which people overlook

    Two more kinds of them follow.
    """
    MIDDLE_RANDOM = "middle_random"
    LETTER_SWAP = "letter_swap"


class Dimension(StrEnum):
    """The political dimension of a statement (Faulborn et al. 2025, section 2)."""

    ECONOMIC = "economic"
    CULTURAL = "cultural"


class Side(StrEnum):
    """The political side that agreeing with a statement reflects."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        return Side.LEFT if self is Side.RIGHT else Side.RIGHT


class Relation(StrEnum):
    """The expected relation of the stance on a wording to the stance on the original."""

    SAME = "same"
    FLIPPED = "flipped"
    FREE = "free"
    "no expected stance, since no test compares the wording with the original"


RELATION_OF = {
    VariantKind.ORIGINAL: Relation.SAME,
    VariantKind.PARAPHRASE: Relation.SAME,
    VariantKind.NEGATION: Relation.FLIPPED,
    VariantKind.OPPOSITE: Relation.FLIPPED,
    VariantKind.REFORMULATION: Relation.SAME,
    VariantKind.POLITICAL_OPPOSITE: Relation.FLIPPED,
    VariantKind.QUESTION: Relation.FREE,
    VariantKind.CHANGED: Relation.FREE,
    VariantKind.KEY_TYPO: Relation.FREE,
    VariantKind.MIDDLE_RANDOM: Relation.FREE,
    VariantKind.LETTER_SWAP: Relation.FREE,
}
"expected relation of a kind, unless a wording has another"


@dataclass(frozen=True, slots=True, order=True)
class VariantId:
    """A wording of a statement, by its kind and, for paraphrases, its number."""

    kind: VariantKind
    ordinal: int = 0
    "1, 2, 3… for kinds of which a statement may have several, and 0 for the others"

    def __str__(self) -> str:
        return f"{self.kind.value}-{self.ordinal}" if self.ordinal else self.kind.value

    @classmethod
    def parse(cls, text: str) -> VariantId:
        """Read `original`, `negation` or `paraphrase-2`.

        Raises ValueError on anything else.
        """
        kind, _, ordinal = text.partition("-")
        return cls(VariantKind(kind), int(ordinal) if ordinal else 0)

    @property
    def relation(self) -> Relation:
        """The relation that is expected of the kind.

        A wording may override it.
        """
        return RELATION_OF[self.kind]


ORIGINAL = VariantId(VariantKind.ORIGINAL)
NEGATION = VariantId(VariantKind.NEGATION)
OPPOSITE = VariantId(VariantKind.OPPOSITE)
REFORMULATION = VariantId(VariantKind.REFORMULATION)
POLITICAL_OPPOSITE = VariantId(VariantKind.POLITICAL_OPPOSITE)
QUESTION = VariantId(VariantKind.QUESTION)
CHANGED = VariantId(VariantKind.CHANGED)


MOST_CHARACTERS = 10_000
"""most characters of a wording

Longer texts are not statements, and every prompt would carry them.
"""


def text_fault(text: str) -> str:
    """Return the fault by which a text cannot be a wording as it is, or an empty string."""
    if not text.strip():
        return "it is empty"
    if len(text) > MOST_CHARACTERS:
        return f"it has {len(text):,} characters; a wording has at most {MOST_CHARACTERS:,}"
    if "\x00" in text:
        return "it holds a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it holds half of a character (a lone surrogate)"
    return ""


def variant_order(variant: VariantId) -> tuple[int, int]:
    """Return the sort key of a variant.

    The order is original, paraphrases, negation, opposite, reformulations, political opposites,
    question.
    """
    return (_PLACES[variant.kind], variant.ordinal)


_PLACES = {kind: position for position, kind in enumerate(VariantKind)}


@dataclass(frozen=True, slots=True)
class Wording:
    """One text of a statement in one language."""

    variant: VariantId
    language: str
    text: str
    author: str | None = None
    "a person, a model or a publication, or None if the source does not name it"
    stated: Relation | None = None
    "the expected relation, if it differs from that of its kind"

    @property
    def relation(self) -> Relation:
        """The expected relation of the stance on it to the stance on the original."""
        return self.stated or self.variant.relation


@dataclass(frozen=True, slots=True)
class Statement:
    """A policy proposition with its wordings."""

    ref: str
    "unique in its instrument, as people write it: `env-03`, `nl_12`"
    wordings: tuple[Wording, ...]
    country: str | None = None
    topic: str | None = None
    issues: Mapping[str, int] = field(default_factory=dict)
    "policy issue -> +1 agreeing supports it, -1 disagreeing supports it, 0 not related"
    languages: tuple[str, ...] = ()
    "languages in the order of the source, or empty for the order of the wordings"
    dimension: Dimension | None = None
    leaning: Side | None = None
    "the side that agreeing reflects, or None if nobody labelled it or it has none"
    source: str | None = None
    "the survey or test of the statement in an instrument of several: `WVS`, `PCT`"
    tags: tuple[str, ...] = ()
    "free words, in the order in which they were given"
    derived_from: str | None = None
    """ref of the statement that it was split off or made from

    Chains of these have an end.
    """
    version: int = 1
    "number of the version, since texts that were asked are never changed"

    def wording(self, variant: VariantId, language: str) -> Wording | None:
        """Return the wording of a variant in a language, or None if there is none."""
        return next(
            (
                wording
                for wording in self.wordings
                if wording.variant == variant and wording.language == language
            ),
            None,
        )
