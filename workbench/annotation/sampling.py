"""Drawing texts to label, seeded: for training the same number from every stratum, for a test in
proportion to answers.

"We randomly select four observations from each prompt-model pair, totaling a training dataset of
1,320 unique model answers" (Faulborn et al. 2025, section 3.4): 4 x 10 prefixes x 3 wordings x 11
models.

A test set supports claims about answers, so its draw records with which probability each unit was
included. A unit is a text as an answer to one wording, with n_i identical answers. Its probability
is pi_i = min(1, rate n_i): every answer has the same chance, and units with at least 1 / rate
answers are taken with certainty. A drawn unit then stands for w_i = n_i / pi_i answers, and a sum
weighted by w_i estimates the sum over all answers without bias.

References
----------
Horvitz and Thompson 1952, "A generalization of sampling without replacement from a finite
universe", JASA 47. Hartley and Rao 1962, "Sampling with unequal probabilities and without
replacement", Annals of Mathematical Statistics 33 (systematic draw from a random order).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from workbench.errors import UsageError
from workbench.stats.arrays import BoolArray, FloatArray, Int32Array, IntArray

ROUNDING = 1e-9
"a probability this close to 1 is 1"


@dataclass(frozen=True, slots=True)
class Offer:
    """A text that may be drawn."""

    index: int
    "place in the caller's list"
    text: str
    statement: str
    stratum: str
    answers: int = 1
    "identical answers that the text stands for"


@dataclass(frozen=True, eq=False, slots=True)
class Offers:
    """Texts that may be drawn, as columns: a million of them take a few dozen megabytes."""

    statements: Sequence[str]
    "names"
    strata: Sequence[str]
    "names, none twice"
    statement: Int32Array
    "which statement each text is about"
    stratum: Int32Array
    answers: Int32Array
    read: Callable[[IntArray], Sequence[str]]
    "returns the texts at these places"

    @classmethod
    def of(cls, offers: Iterable[Offer]) -> Offers:
        """Return offers, whose indices are 0, 1, …, as columns."""
        listed = list(offers)
        statements = {offer.statement: 0 for offer in listed}
        strata = {offer.stratum: 0 for offer in listed}
        for names in (statements, strata):
            names.update((name, number) for number, name in enumerate(names))
        columns = ((statements[one.statement], strata[one.stratum], one.answers) for one in listed)
        table = np.array([*columns], dtype=np.int32).reshape(-1, 3)
        statement, stratum, answers = table.T

        def read(places: IntArray) -> Sequence[str]:
            return [listed[place].text for place in places.tolist()]

        return cls([*statements], [*strata], statement, stratum, answers, read)

    def held_back(
        self, taken_texts: Collection[str], taken_statements: Collection[str]
    ) -> BoolArray:
        """Return which texts may not be drawn; see `draw`."""
        taken = np.array([name in taken_statements for name in self.statements], dtype=np.bool_)
        found = taken[self.statement]
        for start in range(0, len(found) if taken_texts else 0, AT_ONCE):
            places = np.arange(start, min(start + AT_ONCE, len(found)))
            found[places] |= [plain(text) in taken_texts for text in self.read(places)]
        return found

    def in_strata(self, places: IntArray) -> IntArray:
        """Return places in the order of the names of their strata, and otherwise as they stood."""
        ranks = np.argsort(np.argsort(np.array(self.strata, dtype=object)))
        return places[np.argsort(ranks[self.stratum[places]], kind="stable")]


AT_ONCE = 10_000
"texts that are read in one step"


@dataclass(frozen=True, slots=True)
class Pick:
    """A text that was drawn."""

    index: int
    stratum: str
    needed: int
    "people who are to label it"
    inclusion: float | None = None
    """probability with which the draw includes the text; None where the draw makes no claim about
    answers"""
    answers: int | None = None
    "identical answers at the draw; None as `inclusion`"


@dataclass(frozen=True, slots=True)
class Frame:
    """The answers that a draw could reach."""

    answers: int
    units: int
    certain_units: int
    "units that were taken with certainty"
    certain_answers: int
    outside: int
    "answers that the draw could not reach: their texts or statements belong to the other set"


@dataclass(frozen=True, slots=True)
class Sample:
    """What was drawn, and why it is not more."""

    picks: tuple[Pick, ...]
    strata: int
    short: int
    "strata with fewer texts than were asked for"
    held_back: int
    "texts that another set has, so that they may not be drawn"
    frame: Frame | None = None
    "None where the draw makes no claim about answers"


def plain(text: str) -> str:
    """Return a text as two sets are compared: case, blanks and ways to write an accent do not tell
    responses apart.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def overlapping(
    count: int, overlap: float, per_stratum: Sequence[int], rng: np.random.Generator
) -> list[set[int]]:
    """Return for each stratum which of its picks several people label.

    `overlap` below or equal to 1 is a share of each stratum, above it a number in each; a share is
    met over all strata together, so that a tenth of strata of four is not nothing.
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
    offers: Iterable[Offer] | Offers,
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
    _check(per_stratum, labels, overlap, limit)
    of = offers if isinstance(offers, Offers) else Offers.of(offers)
    held = of.held_back(taken_texts, taken_statements)
    places = of.in_strata(np.flatnonzero(~held))
    seen: set[str] = set()
    drawn: list[list[Pick]] = []
    for there in (
        np.split(places, 1 + np.flatnonzero(np.diff(of.stratum[places]))) if len(places) else ()
    ):
        chosen: list[Pick] = []
        for place in there[rng.permutation(len(there))]:
            if len(chosen) == per_stratum:
                break
            if (key := plain(of.read(np.array([place]))[0])) not in seen:
                seen.add(key)
                chosen.append(Pick(int(place), of.strata[of.stratum[place]], 1))
        drawn.append(chosen)
    short = sum(len(chosen) < per_stratum for chosen in drawn)
    if limit is not None:
        drawn = _limited(drawn, limit, rng)
    picks = _picks(drawn, labels, overlap, rng)
    return Sample(picks, strata=len(drawn), short=short, held_back=int(held.sum()))


def draw_answers(
    offers: Iterable[Offer] | Offers,
    per_stratum: int,
    rng: np.random.Generator,
    *,
    strata: int = 1,
    labels: int = 1,
    overlap: float = 1.0,
    taken_texts: Collection[str] = (),
    taken_statements: Collection[str] = (),
    limit: int | None = None,
) -> Sample:
    """Draw `per_stratum` x `strata` texts, `limit` at most, so that every answer has the same
    chance to be represented.

    A systematic draw over the texts in the order of their strata, which are thereby represented in
    proportion to their answers. An offer is a text as an answer to one wording, offered once with
    all its answers. The other parameters are those of `draw`; the order of the result is random.

    Raises UsageError for numbers that mean nothing.
    """
    _check(per_stratum, labels, overlap, limit)
    size = per_stratum * strata if limit is None else min(per_stratum * strata, limit)
    of = offers if isinstance(offers, Offers) else Offers.of(offers)
    held = of.held_back(taken_texts, taken_statements)
    places = np.flatnonzero(~held)
    places = of.in_strata(places[rng.permutation(len(places))])
    answers = of.answers[places]
    chances = inclusion(answers, size)
    by_stratum: defaultdict[str, list[Pick]] = defaultdict(list)
    for at in systematic(chances, rng):
        place, stratum = int(places[at]), of.strata[of.stratum[places[at]]]
        by_stratum[stratum].append(Pick(place, stratum, 1, float(chances[at]), int(answers[at])))
    certain = chances >= 1
    return Sample(
        _picks(list(by_stratum.values()), labels, overlap, rng),
        strata=strata,
        short=0,
        held_back=int(held.sum()),
        frame=Frame(
            int(answers.sum()),
            len(places),
            int(certain.sum()),
            int(answers[certain].sum()),
            int(of.answers[held].sum()),
        ),
    )


def inclusion(answers: Sequence[int] | Int32Array, size: int) -> FloatArray:
    """Return each text's probability to be among `size` drawn ones: min(1, rate n_i), with a rate
    that makes them add up to `size`, or to the number of texts where that is smaller.

    Examples
    --------
    >>> inclusion([6, 1, 1, 1, 1], 3).tolist()
    [1.0, 0.5, 0.5, 0.5, 0.5]
    >>> inclusion([6, 1], 3).tolist()
    [1.0, 1.0]
    """
    sizes = np.asarray(answers, dtype=np.float64)
    certain = np.zeros(len(sizes), dtype=np.bool_)
    while (left := size - int(certain.sum())) > 0 and not certain.all():
        chances = left * sizes / sizes[~certain].sum()
        more = ~certain & (chances >= 1 - ROUNDING)
        if not more.any():
            return np.where(certain, 1.0, chances)
        certain |= more
    return certain.astype(np.float64)


def systematic(chances: FloatArray, rng: np.random.Generator) -> list[int]:
    """Return the places that a systematic draw takes, each with its probability; their number is
    the sum of these.

    The probabilities are laid end to end, and a comb with teeth at distance 1 and a random start
    falls on them.
    """
    certain = chances >= 1
    edges = np.cumsum(np.where(certain, 0.0, chances))
    if len(edges) and edges[-1] > 0:
        edges *= round(edges[-1]) / edges[-1]  # rounding errors must not cost or add a text
    below = np.floor(np.concatenate([[0.0], edges]) + rng.random())
    return [int(place) for place in np.flatnonzero(certain | (np.diff(below) > 0))]


def _picks(
    drawn: Sequence[Sequence[Pick]], labels: int, overlap: float, rng: np.random.Generator
) -> tuple[Pick, ...]:
    """Settle which picks several people label, and bring all into a random order."""
    several = overlapping(sum(map(len, drawn)), overlap, [len(chosen) for chosen in drawn], rng)
    picks = [
        replace(pick, needed=labels if place in of else 1)
        for chosen, of in zip(drawn, several, strict=True)
        for place, pick in enumerate(chosen)
    ]
    return tuple(picks[place] for place in rng.permutation(len(picks)))


def _check(per_stratum: int, labels: int, overlap: float, limit: int | None) -> None:
    """Raise UsageError for numbers that mean nothing."""
    if limit is not None and limit < 1:
        raise UsageError(f"found a limit of {limit} items; give 1 or more")
    if per_stratum < 1 or labels < 1 or not 0 <= overlap < inf or (overlap > 1 and overlap % 1):
        raise UsageError(
            f"found {per_stratum} per stratum, {labels} labels, overlap {overlap:g}; give 1 or "
            "more, 1 or more, "
            "and a share up to 1 or a whole number above it"
        )


def _limited(
    drawn: Sequence[Sequence[Pick]], limit: int, rng: np.random.Generator
) -> list[list[Pick]]:
    """Return a random part of what was drawn, before it is settled which of it several people
    label.
    """
    places = [(row, column) for row, chosen in enumerate(drawn) for column in range(len(chosen))]
    kept = {places[place] for place in rng.permutation(len(places))[:limit]}
    return [
        [pick for c, pick in enumerate(chosen) if (r, c) in kept] for r, chosen in enumerate(drawn)
    ]
