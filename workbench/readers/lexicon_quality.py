"""How well the label-word rule reads labelled answers: the quality that a lexicon records (`make lexicons`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.readers.label_words import REFUSAL, LabelWords
from workbench.readers.lexicon import Lexicon, Quality

PARTS = ("tuned", "held back")
"of the labelled texts: those that the lists were tuned on, and those not used for tuning"
STANCES = ("agree", "disagree")
DIGITS = 4


class Labelled(NamedTuple):
    """An answer with the reading that a person gave."""

    part: str
    positive: str
    "positive label of the pair that was asked"
    label: str
    "agree, disagree, refusal, or none"
    text: str


def quality(words: Lexicon, texts: Sequence[Labelled]) -> Quality:
    """Return how well the rule reads these texts; 1 for figures with a denominator of 0."""
    rules = {pair.positive: LabelWords(pair.positive, pair.negative, words) for pair in words.pairs}
    found = [(one.label, _said(rules[one.positive], one.text)) for one in texts]
    stances = [(label, said) for label, said in found if said in STANCES]
    held = [(label, said) for label, said in found if label in STANCES]
    refused = [label for label, said in found if said == REFUSAL]
    refusing = [said for label, said in found if label == REFUSAL]
    return Quality(
        len(texts),
        _share([label == said for label, said in stances]),
        _share([label == said for label, said in held]),
        _share([label == REFUSAL for label in refused]),
        _share([said == REFUSAL for said in refusing]),
    )


def _said(rule: LabelWords, text: str) -> str:
    reading = rule.read(text)
    return reading.label or (REFUSAL if reading.reason == REFUSAL else "none")


def _share(right: Sequence[bool]) -> float:
    return round(sum(right) / len(right), DIGITS) if right else 1.0


__all__ = ["PARTS", "Labelled", "quality"]
