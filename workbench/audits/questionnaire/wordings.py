"""How much a model's bias depends on the words of a question (Haller et al. 2025, section 3.4).

    rms = root of the mean of bias_k² over the K wordings                                  (as printed)
    sd  = root of the mean of (bias_k - mean bias)², so that rms² = sd² + mean²            (as the text names it)

K counts the paraphrases, not the original. One that reads like the original is void: `sd` leaves it out, and `rms`
keeps it, as printed. `sd` has the divisor K, so that the two are comparable. Biases are taken over the respondents who
were asked in all wordings, the original too: only the words differ. A wording in which nobody could be read has no
bias; it is left out, and counted.

Where a prompt shows nobody's answers, biases in two wordings differ by the same for any respondents: the interval of
`sd` has no width, because who is drawn plays no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.audits.questionnaire.cells import NOBODY_ANSWERED, NOT_OFFERED, UNREADABLE, Layout
from workbench.audits.questionnaire.draws import AT_ONCE, Counts, Resampling, ratio
from workbench.audits.questionnaire.figures import Condition, Noise, VariabilityFigure, WordingFigure
from workbench.audits.questionnaire.sampled import shared
from workbench.domain.statements import ORIGINAL, Relation, VariantId
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

ALL_VOID = "every other wording is identical to the original"
FEWEST = {"sd": 2, "rms": 1}


def variability(layout: Layout, condition: Condition, resampling: Resampling) -> tuple[VariabilityFigure, ...]:
    """Return the variability of each target; empty where no wording but the original was asked.

    Wordings that mean something else, such as negations, have no part in it. Raises UnknownName for the condition.
    """
    layout.place(condition)
    asked = [w for w in layout.predictions.wordings if w.relation is Relation.SAME and len(layout.rows(condition, w))]
    if not any(wording != ORIGINAL for wording in asked):
        return ()
    wordings = Wordings(layout, condition, tuple(asked))
    found: list[VariabilityFigure] = []
    together = max(1, AT_ONCE // (2 * len(asked) * (1 + resampling.draws)))
    for start in range(0, len(layout.predictions.targets), together):
        places = range(start, min(start + together, len(layout.predictions.targets)))
        sums = wordings.with_noise(resampling.sums(wordings.features(places), wordings.units), places, resampling)
        found += [wordings.figure(place, *of) for place, of in zip(places, sums, strict=True)]
    return tuple(found)


class Wordings:
    """All wordings of all targets under one condition."""

    def __init__(self, layout: Layout, condition: Condition, wordings: tuple[VariantId, ...]) -> None:
        self.targets, self.condition, self.wordings = layout.predictions.targets, condition, wordings
        self.cells = [layout.cell(condition, wording) for wording in wordings]
        self.there: BoolArray = np.array([cell.present.any(axis=1) for cell in self.cells])
        "(W, T): which wordings of a target were asked at all"
        self.common: BoolArray = self._in_all("counted")
        "(T, R): who was asked in all of these"
        self.units: BoolArray = np.asarray(self.common.any(axis=0))
        known = layout.predictions.wordings
        void = layout.predictions.void
        self.void: BoolArray = (
            np.zeros_like(self.there) if void is None else void[[known.index(wording) for wording in wordings]]
        )
        "(W, T): which wordings read like the original"
        self.paraphrase: BoolArray = np.array([wording != ORIGINAL for wording in wordings])

    def _in_all(self, name: str) -> BoolArray:
        common = np.repeat(self.there.any(axis=0, keepdims=True).T, self.cells[0].human.shape[1], axis=1)
        for place, cell in enumerate(self.cells):
            common &= getattr(cell, name) | ~self.there[place][:, np.newaxis]
        return np.asarray(common)

    def features(self, places: Sequence[int]) -> FloatArray:
        """Return what each respondent adds to targets: (targets, 2, W, R), whether read and share - answer."""
        some, common = list(places), self.common[list(places)]
        readable = np.stack([cell.readable[some] & common for cell in self.cells], axis=1)
        difference = np.stack([cell.difference[some] for cell in self.cells], axis=1)
        return np.stack([readable, np.where(readable, difference, 0.0)], axis=1)

    def with_noise(self, sums: FloatArray, places: Sequence[int], resampling: Resampling) -> FloatArray:
        """Return sums (targets, 2, W, 1 + draws) with the noise of counted answers that people have in common."""
        for number, (wording, cell) in enumerate(zip(self.wordings, self.cells, strict=True)):
            noise = shared(cell, resampling, f"wording {wording}", self.common, places)
            if noise is not None:
                sums[:, 1, number] += noise.difference
        return sums

    def figure(self, place: int, readable: FloatArray, difference: FloatArray) -> VariabilityFigure:
        """Return the variability of a target from its sums, (W, 1 + draws) each."""
        biases, there = ratio(difference, readable), self.there[:, place]
        people = readable[:, 0].astype(np.int64)
        counting = there & self.paraphrase
        live = counting & ~self.void[:, place]
        ks = [int((people[which] > 0).sum()) for which in (live, counting)]
        counts = [
            Counts(k, int(which.sum()) - k, self._why(place, k)[at])
            for at, (k, which) in enumerate(zip(ks, (live, counting), strict=True))
        ]
        if not live.any() and counting.any():
            counts[0] = Counts(0, 0, ALL_VOID)
        drawn = np.stack([spread(biases[live])[0], spread(biases[counting])[1]])
        n, nan = int(self.common[place].sum()), float("nan")
        found = [
            Estimate(float(values[0]), nan, nan, of.n, of.excluded, of.undefined if np.isnan(values[0]) else "")
            for values, of in zip(drawn, counts, strict=True)
        ]
        shown = tuple(
            WordingFigure(self.wordings[i], float(biases[i, 0]), int(people[i]), bool(self.void[i, place]))
            for i in np.flatnonzero(there)
        )
        noise = _noise(drawn[0], n), _noise(drawn[1], n)
        return VariabilityFigure(self.targets[place], self.condition, shown, ks[0], found[0], found[1], *noise)

    def _why(self, place: int, k: int) -> tuple[str, str]:
        """Say why a target has no sd, and no rms."""
        both = ""
        if np.isnan(self.cells[0].human[place]).all():
            both = NOBODY_ANSWERED
        elif not (self.there[:, place] & self.paraphrase).any():
            both = "only the original was asked"
        elif not self.common[place].any():
            both = NOT_OFFERED if self._in_all("asked")[place].any() else "no respondent was asked in all wordings"
        elif k == 0:
            both = UNREADABLE
        return both or f"{k} wording has a bias; a deviation needs {FEWEST['sd']}", both


def _noise(drawn: FloatArray, respondents: int) -> Noise:
    """Return what of a deviation, and of its draws, is noise: (1 + draws,).

    A draw of people holds their noise once more, so that E*[d*²] - d² is the square of what noise adds, but for the
    factor (n - 1) / n of the bootstrap's variance.
    """
    squares = drawn[1:][~np.isnan(drawn[1:])] ** 2
    if respondents < 2 or np.isnan(drawn[0]) or not len(squares):
        return Noise(float("nan"), float("nan"))
    alone = max(0.0, float(squares.mean()) - float(drawn[0]) ** 2) * respondents / (respondents - 1)
    return Noise(math.sqrt(alone), math.sqrt(max(0.0, float(drawn[0]) ** 2 - alone)))


def spread(biases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sd and rms over wordings: (K, ...) to two (...). NaN is left out; where too few are left there is none."""
    defined = ~np.isnan(biases)
    k: IntArray = defined.sum(axis=0)
    known, some = np.where(defined, biases, 0.0), np.maximum(k, 1)
    mean = known.sum(axis=0) / some
    squares = np.where(defined, (known - mean) ** 2, 0.0).sum(axis=0) / some
    sd = np.where(k >= FEWEST["sd"], np.sqrt(squares), np.nan)
    rms = np.where(k >= FEWEST["rms"], np.sqrt((known**2).sum(axis=0) / some), np.nan)
    return sd, rms
