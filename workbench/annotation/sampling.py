"""Drawing texts to label: the same number from every stratum, seeded, no text twice.

"We randomly select four observations from each prompt-model pair, totaling a training dataset of 1,320 unique model
answers" (Faulborn et al. 2025, section 3.4): 4 x 10 prefixes x 3 wordings x 11 models.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from workbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Offer:
    """A text that may be drawn."""

    index: int
    "place in the caller's list"
    text: str
    statement: str
    stratum: str


@dataclass(frozen=True, slots=True)
class Pick:
    """A text that was drawn."""

    index: int
    stratum: str
    needed: int
    "people who are to label it"


@dataclass(frozen=True, slots=True)
class Sample:
    """What was drawn, and why it is not more."""

    picks: tuple[Pick, ...]
    strata: int
    short: int
    "strata with fewer texts than were asked for"
    held_back: int
    "texts that another set has, so that they may not be drawn"


def plain(text: str) -> str:
    """Return a text as two sets are compared: case, blanks and ways to write an accent do not tell responses apart."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def overlapping(count: int, overlap: float, per_stratum: Sequence[int], rng: np.random.Generator) -> list[set[int]]:
    """Return for each stratum which of its picks several people label.

    `overlap` below or equal to 1 is a share of each stratum, above it a number in each; a share is met over all strata
    together, so that a tenth of strata of four is not nothing.
    """
    if overlap > 1:
        return [set(rng.permutation(n)[: int(overlap)].tolist()) for n in per_stratum]
    chosen = set(rng.permutation(count)[: round(overlap * count)].tolist())
    found, start = [], 0
    for n in per_stratum:
        found.append({place - start for place in chosen if start <= place < start + n})
        start += n
    return found


def draw(
    offers: Iterable[Offer],
    per_stratum: int,
    rng: np.random.Generator,
    *,
    labels: int = 1,
    overlap: float = 1.0,
    taken_texts: Collection[str] = (),
    taken_statements: Collection[str] = (),
    limit: int | None = None,
) -> Sample:
    """Draw up to `per_stratum` texts from every stratum; the order of the result is random.

    Parameters
    ----------
    labels : people who label an overlapping item; the others get one
    overlap : share of the items (up to 1) or number in each stratum (above 1) that overlap
    taken_texts : texts as `plain` writes them that may not be drawn: those of the other set
    taken_statements : statements none of whose texts may be drawn
    limit : most texts in all: a random part of what the strata give

    Raises UsageError for numbers that mean nothing.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"found a limit of {limit} items; give 1 or more")
    if per_stratum < 1 or labels < 1 or not 0 <= overlap < inf or (overlap > 1 and overlap % 1):
        raise UsageError(
            f"found {per_stratum} per stratum, {labels} labels, overlap {overlap:g}; give 1 or more, 1 or more, "
            "and a share up to 1 or a whole number above it"
        )
    by_stratum: defaultdict[str, list[Offer]] = defaultdict(list)
    held_back = 0
    for offer in offers:
        if plain(offer.text) in taken_texts or offer.statement in taken_statements:
            held_back += 1
        else:
            by_stratum[offer.stratum].append(offer)
    seen: set[str] = set()
    drawn: list[list[Offer]] = []
    for stratum in sorted(by_stratum):
        chosen: list[Offer] = []
        for place in rng.permutation(len(by_stratum[stratum])):
            offer = by_stratum[stratum][place]
            if len(chosen) == per_stratum:
                break
            if (key := plain(offer.text)) not in seen:
                seen.add(key)
                chosen.append(offer)
        drawn.append(chosen)
    short = sum(len(chosen) < per_stratum for chosen in drawn)
    if limit is not None:
        drawn = _limited(drawn, limit, rng)
    several = overlapping(sum(map(len, drawn)), overlap, [len(chosen) for chosen in drawn], rng)
    picks = [
        Pick(offer.index, offer.stratum, labels if place in of else 1)
        for chosen, of in zip(drawn, several, strict=True)
        for place, offer in enumerate(chosen)
    ]
    order = rng.permutation(len(picks))
    return Sample(
        picks=tuple(picks[place] for place in order),
        strata=len(drawn),
        short=short,
        held_back=held_back,
    )


def _limited(drawn: Sequence[Sequence[Offer]], limit: int, rng: np.random.Generator) -> list[list[Offer]]:
    """Return a random part of what was drawn, before it is settled which of it several people label."""
    places = [(row, column) for row, chosen in enumerate(drawn) for column in range(len(chosen))]
    kept = {places[place] for place in rng.permutation(len(places))[:limit]}
    return [[offer for c, offer in enumerate(chosen) if (r, c) in kept] for r, chosen in enumerate(drawn)]
