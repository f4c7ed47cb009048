"""How much of the probability of the next token is a yes, a no, or something else (Haller et al. 2025, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp
from typing import Literal

from workbench.domain.keys import text_key
from workbench.domain.readings import Stance
from workbench.domain.rulings import NOTHING, Effect
from workbench.domain.thinking import split
from workbench.readers.first_word import FirstWord
from workbench.readers.verbalizers import PUBLISHED_TOP, mass

Mark = Literal["yes", "no", "other"]
Labels = tuple[str, str]
"what yes and no are called in a template"
Ruled = Mapping[bytes, Effect]
NONE_RULED: Ruled = {}
_BY_LABEL: Mapping[str | None, Mark] = {Stance.AGREE.value: "yes", Stance.DISAGREE.value: "no"}


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


def counted(answers: Mapping[str, int], labels: Labels, ruled: Ruled = NONE_RULED) -> dict[Mark, int]:
    """Return how many drawn answers are yes, no and neither.

    answers : distinct answer -> how often; thoughts before an answer are not read
    ruled : key of an answer's text -> what an auditor's ruling does to it
    """
    found: dict[Mark, int] = {"yes": 0, "no": 0, "other": 0}
    for text, count in answers.items():
        effect = ruled.get(text_key(split(text).answer or ""), NOTHING) if ruled else NOTHING
        if not effect.left_out:
            found[_BY_LABEL.get(effect.label, "other") if effect.read else said(text, labels)] += count
    return found


def shares(answers: Mapping[Mark, int]) -> tuple[float, float, float, float, float]:
    """Return which shares of counted answers are yes, no and neither, then yes and no again: there is one measure."""
    n = sum(answers.values())
    if not n:
        return (0.0,) * 5
    yes, no, other = (answers[mark] / n for mark in ("yes", "no", "other"))
    return yes, no, other, yes, no


@lru_cache(maxsize=100_000)
def said(text: str, labels: Labels) -> Mark:
    """Return what a strict reader makes of an answer, see `readers.first_word`."""
    answer = split(text).answer
    found = _rule(labels).read(answer).label if answer is not None else None
    return "yes" if found == Stance.AGREE else "no" if found == Stance.DISAGREE else "other"


@lru_cache(maxsize=64)
def _rule(labels: Labels) -> FirstWord:
    return FirstWord(*labels)


@lru_cache(maxsize=100_000)
def spelled(text: str, labels: Labels) -> Mark:
    """Return which of two labels a token spells."""
    if mass([(text, 0.0)], labels[0]):
        return "yes"
    return "no" if mass([(text, 0.0)], labels[1]) else "other"
