"""A random control sample of the answers of a run: drawn once, with a seed, and the same until it is worked through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.domain.readings import ReaderCard


@dataclass(frozen=True, slots=True)
class ControlItem:
    """A distinct answer to a prompt, drawn once or several times."""

    ref: str
    stratum: str
    prompt: bytes
    text: bytes
    "keys: the two name an answer in every store"
    label: str | None
    "what the reader made of it at the draw; None: unreadable"
    answers: int
    "how often it was given"
    places: tuple[int, ...]
    "where its drawn answers stand in the random order of all that were drawn; more than one: drawn several times"
    words: str = ""
    "its text, cut, with the wording and the template that it answers; as the store has them now"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratum at the draw."""

    size: int
    "answers in all, N"
    drawn: int
    "of them, n; the probability of inclusion is n / N"

    @property
    def inclusion(self) -> float:
        return self.drawn / self.size


@dataclass(frozen=True, slots=True)
class ControlSample:
    """A draw."""

    uid: bytes
    run: Mapping[str, str]
    "what names the run in every store"
    reader: ReaderCard
    "whose readings are controlled"
    seed: int
    strata: Mapping[str, Drawn]
    drawn_by: str
    "empty: nobody said"
    at: str
    items: tuple[ControlItem, ...]
    "in the order in which they are looked at"
