"""Tests that cannot fail: what they compare is one and the same prompt, or a wording that is not there or has no text.

Two label orders that come to one text, a variant that repeats its original and templates that put a statement alike are
compared with themselves; a statement without a negation has nothing that its original could be compared with. By
default such a test is void for its statement: it is shown and counted, and it is in no denominator. The published code
judges it like any other; the option `judge_void` does so, too, and a test without a wording is insufficient then.

Two prompts are one where they read alike: case and blanks aside, as `lint` compares texts. A negation that differs from
its original by a blank negates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.audits.reliability.counts import PRINTED, SWAPPED, Counts
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.statements import VariantKind
from workbench.stats.arrays import BoolArray


@dataclass(frozen=True, eq=False)
class Voids:
    """Which prompts make no test."""

    repeats: BoolArray
    """(T, S, V, 2): the prompt is the one that it is compared with, or one of the two is blank. A wording is compared
    with the original in the same label order, the swapped original with the printed one."""
    blank: BoolArray
    "(S, V): the wording has no text"
    template: BoolArray
    "(S,): all templates put the original alike"
    original: int | None
    "where on the variant axis the original stands"
    missing: bool = True
    "whether a test is void where its statement has no wording of which a stance is expected"

    @property
    def label_order(self) -> BoolArray:
        """Whether the original has one text in both label orders: (T, S)."""
        if self.original is None:
            return np.zeros(self.repeats.shape[:2], dtype=np.bool_)
        return np.asarray(self.repeats[:, :, self.original, SWAPPED])

    @property
    def pairs(self) -> BoolArray:
        """Whether a wording and the original make no pair of conditions: (T, S, V, 2).

        Where both label orders have one text, the swapped pair is the printed one over again.
        """
        found = self.repeats.copy()
        found[..., SWAPPED] |= self.label_order[..., None]
        return found


def voids(counts: Counts, options: ReliabilityOptions) -> Voids:
    """Return which prompts make no test; none where the options judge them all."""
    places = counts.places(VariantKind.ORIGINAL)
    original = places[0] if places else None
    repeats = np.zeros(counts.positive.shape, dtype=np.bool_)
    blank = np.zeros_like(counts.exists)
    template = np.zeros(len(counts.statements), dtype=np.bool_)
    if options.judge_void:
        return Voids(repeats, blank, template, original, missing=False)
    if counts.blank is not None:
        blank |= counts.blank & counts.exists
    if original is not None and counts.prompts is not None:
        of_original = counts.prompts[:, :, original]
        repeats |= (counts.prompts == of_original[:, :, None]) & (counts.prompts >= 0)
        repeats[:, :, original] = False
        repeats[:, :, original, SWAPPED] = (of_original[..., SWAPPED] == of_original[..., PRINTED]) & (
            of_original[..., PRINTED] >= 0
        )
        first = of_original[:1, :, PRINTED]
        template |= (len(counts.templates) > 1) & (first >= 0).all(axis=0)
        template &= (of_original[..., PRINTED] == first).all(axis=0)
    repeats |= blank[None, :, :, None]
    if original is not None:
        repeats |= blank[None, :, original, None, None]
        template |= blank[:, original]
    return Voids(repeats, blank, template, original)
