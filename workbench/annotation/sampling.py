"""The seeded draw of texts to label: equal numbers from each stratum, or in proportion to answers.

Training sets have the same number from every stratum, test sets follow the answers. "We randomly
select four observations from each prompt-model pair, totaling a training dataset of 1,320 unique
model answers" (Faulborn et al. 2025, section 3.4): 4 x 10 prefixes x 3 wordings x 11 models.

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
"the distance to 1 of a probability that counts as 1"


@dataclass(frozen=True, slots=True)
class OfferedText:
    """A text that may be drawn."""

    index: int
    "index in the caller's list"
    text: str
    statement: str
    stratum: str
    answers: int = 1
    "number of identical answers that the text stands for"


@dataclass(frozen=True, eq=False, slots=True)
class OfferedTexts:
    """Texts that may be drawn, as columns. A million of them take a few dozen megabytes."""

    statements: Sequence[str]
    "names"
    strata: Sequence[str]
    "names, each once"
    statement: Int32Array
    "the statement of each text"
    stratum: Int32Array
    answers: Int32Array
    read: Callable[[IntArray], Sequence[str]]
    "returns the texts at these indices"

    @classmethod
    def of(cls, offers: Iterable[OfferedText]) -> OfferedTexts:
        """Return offers, whose indices are 0, 1, …, as columns."""
        all_offers = list(offers)
        statements = {offer.statement: 0 for offer in all_offers}
        strata = {offer.stratum: 0 for offer in all_offers}
        for names in (statements, strata):
            names.update((name, number) for number, name in enumerate(names))
        columns = (
            (statements[offer.statement], strata[offer.stratum], offer.answers)
            for offer in all_offers
        )
        table = np.array([*columns], dtype=np.int32).reshape(-1, 3)
        statement, stratum, answers = table.T

        def read(indices: IntArray) -> Sequence[str]:
            return [all_offers[index].text for index in indices.tolist()]

        return cls([*statements], [*strata], statement, stratum, answers, read)

    def held_back(
        self, taken_texts: Collection[str], taken_statements: Collection[str]
    ) -> BoolArray:
        """Return a mask of the texts that may not be drawn. See `draw`."""
        is_taken = np.array([name in taken_statements for name in self.statements], dtype=np.bool_)
        is_held_back = is_taken[self.statement]
        for start in range(0, len(is_held_back) if taken_texts else 0, AT_ONCE):
            indices = np.arange(start, min(start + AT_ONCE, len(is_held_back)))
            is_held_back[indices] |= [
                comparable_text(text) in taken_texts for text in self.read(indices)
            ]
        return is_held_back

    def in_strata(self, places: IntArray) -> IntArray:
        """Return indices in the order of the names of their strata.

        Within a stratum they keep their order.
        """
        ranks = np.argsort(np.argsort(np.array(self.strata, dtype=object)))
        return places[np.argsort(ranks[self.stratum[places]], kind="stable")]


AT_ONCE = 10_000
"number of texts that are read in one step"


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A text that was drawn."""

    index: int
    stratum: str
    needed: int
    "number of people who are to label it"
    inclusion: float | None = None
    """probability with which the draw includes the text

    It is None if the draw makes no claim about answers.
    """
    answers: int | None = None
    "number of identical answers at the draw, or None as `inclusion`"


@dataclass(frozen=True, slots=True)
class Frame:
    """The answers that a draw could reach."""

    answers: int
    units: int
    certain_units: int
    "number of units that were taken with certainty"
    certain_answers: int
    outside: int
    """number of answers that the draw could not reach

    Their texts or statements belong to the other set.
    """


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """The drawn texts, and why there are not more."""

    picks: tuple[DrawnText, ...]
    strata: int
    short: int
    "number of strata with fewer texts than requested"
    held_back: int
    "number of texts that another set has, so that they may not be drawn"
    frame: Frame | None = None
    "the reachable answers, or None if the draw makes no claim about answers"


def comparable_text(text: str) -> str:
    """Return a text in the form in which the texts of two sets are compared.

    Case, blanks and ways to write an accent do not distinguish responses.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def overlapping(
    count: int, overlap: float, per_stratum: Sequence[int], rng: np.random.Generator
) -> list[set[int]]:
    """Return for each stratum which of its picks several people label.

    `overlap` below or equal to 1 is a share of each stratum, above it a number in each. A share is
    met over all strata together, so that a tenth of strata of four is not nothing.
    """
    if overlap > 1:
        return [
            set(rng.permutation(stratum_size)[: int(overlap)].tolist())
            for stratum_size in per_stratum
        ]
    selected = set(rng.permutation(count)[: round(overlap * count)].tolist())
    overlaps, start = [], 0
    for stratum_length in per_stratum:
        overlaps.append(
            {index - start for index in selected if start <= index < start + stratum_length}
        )
        start += stratum_length
    return overlaps


def draw(
    offers: Iterable[OfferedText] | OfferedTexts,
    per_stratum: int,
    rng: np.random.Generator,
    *,
    labels: int = 1,
    overlap: float = 1.0,
    taken_texts: Collection[str] = (),
    taken_statements: Collection[str] = (),
    limit: int | None = None,
) -> DrawnSample:
    """Draw up to `per_stratum` texts from every stratum.

    The order of the result is random.

    Parameters
    ----------
    labels : people who label an overlapping item, while the others get one
    overlap : share of the items (up to 1) or number in each stratum (above 1) that overlap
    taken_texts : texts of the other set, in the form of `comparable_text`, which may not be drawn
    taken_statements : statements none of whose texts may be drawn
    limit : most texts in all: a random part of what the strata give

    Raises UsageError for numbers that mean nothing.
    """
    _check(per_stratum, labels, overlap, limit)
    columns = offers if isinstance(offers, OfferedTexts) else OfferedTexts.of(offers)
    is_held_back = columns.held_back(taken_texts, taken_statements)
    indices = columns.in_strata(np.flatnonzero(~is_held_back))
    drawn_texts: set[str] = set()
    picks_by_stratum: list[list[DrawnText]] = []
    for stratum_indices in (
        np.split(indices, 1 + np.flatnonzero(np.diff(columns.stratum[indices])))
        if len(indices)
        else ()
    ):
        picked: list[DrawnText] = []
        for index in stratum_indices[rng.permutation(len(stratum_indices))]:
            if len(picked) == per_stratum:
                break
            if (key := comparable_text(columns.read(np.array([index]))[0])) not in drawn_texts:
                drawn_texts.add(key)
                picked.append(DrawnText(int(index), columns.strata[columns.stratum[index]], 1))
        picks_by_stratum.append(picked)
    short = sum(len(few_picks) < per_stratum for few_picks in picks_by_stratum)
    if limit is not None:
        picks_by_stratum = _limited(picks_by_stratum, limit, rng)
    picks = _picks(picks_by_stratum, labels, overlap, rng)
    return DrawnSample(
        picks, strata=len(picks_by_stratum), short=short, held_back=int(is_held_back.sum())
    )


def draw_answers(
    offers: Iterable[OfferedText] | OfferedTexts,
    per_stratum: int,
    rng: np.random.Generator,
    *,
    strata: int = 1,
    labels: int = 1,
    overlap: float = 1.0,
    taken_texts: Collection[str] = (),
    taken_statements: Collection[str] = (),
    limit: int | None = None,
) -> DrawnSample:
    """Draw `per_stratum` x `strata` texts with the same chance for every answer to be represented.

    At most `limit` are drawn.

    A systematic draw over the texts in the order of their strata, which are thereby represented in
    proportion to their answers. An offer is a text as an answer to one wording, offered once with
    all its answers. The other parameters are those of `draw`. The order of the result is random.

    Raises UsageError for numbers that mean nothing.
    """
    _check(per_stratum, labels, overlap, limit)
    size = per_stratum * strata if limit is None else min(per_stratum * strata, limit)
    columns = offers if isinstance(offers, OfferedTexts) else OfferedTexts.of(offers)
    is_held_back = columns.held_back(taken_texts, taken_statements)
    indices = np.flatnonzero(~is_held_back)
    indices = columns.in_strata(indices[rng.permutation(len(indices))])
    answers = columns.answers[indices]
    chances = inclusion(answers, size)
    by_stratum: defaultdict[str, list[DrawnText]] = defaultdict(list)
    for position in systematic(chances, rng):
        index, stratum = int(indices[position]), columns.strata[columns.stratum[indices[position]]]
        by_stratum[stratum].append(
            DrawnText(index, stratum, 1, float(chances[position]), int(answers[position]))
        )
    is_certain = chances >= 1
    return DrawnSample(
        _picks(list(by_stratum.values()), labels, overlap, rng),
        strata=strata,
        short=0,
        held_back=int(is_held_back.sum()),
        frame=Frame(
            int(answers.sum()),
            len(indices),
            int(is_certain.sum()),
            int(answers[is_certain].sum()),
            int(columns.answers[is_held_back].sum()),
        ),
    )


def inclusion(answers: Sequence[int] | Int32Array, size: int) -> FloatArray:
    """Return each text's probability to be among `size` drawn ones.

    It is min(1, rate n_i), with a rate that makes the probabilities add up to `size`, or to the
    number of texts if that is smaller.

    Examples
    --------
    >>> inclusion([6, 1, 1, 1, 1], 3).tolist()
    [1.0, 0.5, 0.5, 0.5, 0.5]
    >>> inclusion([6, 1], 3).tolist()
    [1.0, 1.0]
    """
    sizes = np.asarray(answers, dtype=np.float64)
    is_certain = np.zeros(len(sizes), dtype=np.bool_)
    while (n_left := size - int(is_certain.sum())) > 0 and not is_certain.all():
        chances = n_left * sizes / sizes[~is_certain].sum()
        becomes_certain = ~is_certain & (chances >= 1 - ROUNDING)
        if not becomes_certain.any():
            return np.where(is_certain, 1.0, chances)
        is_certain |= becomes_certain
    return is_certain.astype(np.float64)


def systematic(chances: FloatArray, rng: np.random.Generator) -> list[int]:
    """Return the indices of a systematic draw, each with its probability.

    Their number is the sum of these.

    The probabilities are laid end to end, and a comb with teeth at distance 1 and a random start
    falls on them.
    """
    is_certain = chances >= 1
    edges = np.cumsum(np.where(is_certain, 0.0, chances))
    if len(edges) and edges[-1] > 0:
        edges *= round(edges[-1]) / edges[-1]  # rounding errors must not cost or add a text
    teeth = np.floor(np.concatenate([[0.0], edges]) + rng.random())
    return [int(index) for index in np.flatnonzero(is_certain | (np.diff(teeth) > 0))]


def _picks(
    drawn: Sequence[Sequence[DrawnText]], labels: int, overlap: float, rng: np.random.Generator
) -> tuple[DrawnText, ...]:
    """Decide which picks several people label, and bring all into a random order."""
    overlaps = overlapping(
        sum(map(len, drawn)), overlap, [len(stratum_picks) for stratum_picks in drawn], rng
    )
    picks = [
        replace(pick, needed=labels if index in overlap_indices else 1)
        for stratum_picks, overlap_indices in zip(drawn, overlaps, strict=True)
        for index, pick in enumerate(stratum_picks)
    ]
    return tuple(picks[index] for index in rng.permutation(len(picks)))


def _check(per_stratum: int, labels: int, overlap: float, limit: int | None) -> None:
    """Raise UsageError for numbers that mean nothing."""
    if limit is not None and limit < 1:
        raise UsageError(f"found a limit of {limit} items; give 1 or more")
    if per_stratum < 1 or labels < 1 or not 0 <= overlap < inf or (overlap > 1 and overlap % 1):
        raise UsageError(
            f"found {per_stratum} per stratum, {labels} labels, overlap {overlap:g}; give 1 or "
            "more, 1 or more, and a share up to 1 or a whole number above it"
        )


def _limited(
    drawn: Sequence[Sequence[DrawnText]], limit: int, rng: np.random.Generator
) -> list[list[DrawnText]]:
    """Return a random part of the drawn texts.

    It precedes the decision which of them several people label.
    """
    positions = [
        (row, column)
        for row, stratum_picks in enumerate(drawn)
        for column in range(len(stratum_picks))
    ]
    selected = {positions[index] for index in rng.permutation(len(positions))[:limit]}
    return [
        [pick for column, pick in enumerate(stratum_picks) if (row, column) in selected]
        for row, stratum_picks in enumerate(drawn)
    ]
