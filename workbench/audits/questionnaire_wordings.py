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

from workbench.audits.questionnaire_cells import NOBODY_ANSWERED, NOT_OFFERED, UNREADABLE, Layout
from workbench.audits.questionnaire_draws import AT_ONCE, Counts, Resampling, estimates, ratio
from workbench.audits.questionnaire_figures import Condition, VariabilityFigure, WordingFigure
from workbench.domain.statements import ORIGINAL, Relation, VariantId
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

ALL_VOID = "every other wording has the text of the original"
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
        sums = resampling.sums(wordings.features(places), wordings.units)
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
        n, limits = int(self.common[place].sum()), (self._most_sd(place, live), 1.0)
        found = [
            estimate
            for values, count, most in zip(drawn, counts, limits, strict=True)
            for estimate in estimates(values[None], [count], n, (0.0, most))
        ]
        shown = tuple(
            WordingFigure(self.wordings[i], float(biases[i, 0]), int(people[i]), bool(self.void[i, place]))
            for i in np.flatnonzero(there)
        )
        return VariabilityFigure(self.targets[place], self.condition, shown, ks[0], *found)

    def _most_sd(self, place: int, counting: BoolArray) -> float:
        """Return the largest deviation that K biases can have: half of them at either end of their range, for even K.
        Over the same people, all read, they have one mean answer in common, and lie within 1 of one another.
        """
        cells = [cell for cell, counts in zip(self.cells, counting, strict=True) if counts]
        alike = all((cell.readable[place] | ~self.common[place]).all() for cell in cells)
        k = max(1, len(cells))
        return (1.0 if alike else 2.0) * math.sqrt((k // 2) * (k - k // 2)) / k

    def _why(self, place: int, k: int) -> tuple[str, str]:
        """Say why a target has no sd, and no rms."""
        both = ""
        if np.isnan(self.cells[0].human[place]).all():
            both = NOBODY_ANSWERED
        elif not (self.there[:, place] & self.paraphrase).any():
            both = "no wording but the original was asked"
        elif not self.common[place].any():
            both = NOT_OFFERED if self._in_all("asked")[place].any() else "no respondent was asked in all wordings"
        elif k == 0:
            both = UNREADABLE
        return both or f"{k} wording has a bias; a deviation takes {FEWEST['sd']}", both


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
