"""How much of the probability of the next token is a yes, a no, or something else (Haller et al. 2025, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp
from typing import Literal

from workbench.readers.next_tokens import PUBLISHED_TOP, mass

Mark = Literal["yes", "no", "other"]
Labels = tuple[str, str]
"what yes and no are called in a template"


def top_masses(tokens: Sequence[tuple[str, float]], labels: Labels) -> tuple[float, float, float]:
    """Return how much of the probability of the ten likeliest tokens is yes, no and other."""
    yes = no = other = 0.0
    for text, log in tokens[:PUBLISHED_TOP]:
        mark = spelled(text, labels)
        if mark == "yes":
            yes += exp(log)
        elif mark == "no":
            no += exp(log)
        else:
            other += exp(log)
    return yes, no, other


def vocabulary_masses(words: Mapping[str, float] | None, labels: Labels) -> tuple[float, float]:
    """Return p(yes) and p(no) over the whole vocabulary; NaN where the backend does not say."""
    held = words or {}
    return held.get(labels[0], float("nan")), held.get(labels[1], float("nan"))


@lru_cache(maxsize=100_000)
def spelled(text: str, labels: Labels) -> Mark:
    """Return which of two labels a token spells."""
    if mass([(text, 0.0)], labels[0]):
        return "yes"
    return "no" if mass([(text, 0.0)], labels[1]) else "other"
