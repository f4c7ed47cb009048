"""How far a model's bias moves with the prefix: the mean absolute difference from `baseline`, the statement alone.

    b_k = total under prefix k - total under `baseline`;  shown: mean over k of |b_k|   (Faulborn et al., Figure 2b)

Noise alone makes such a mean larger than 0 and widens its draws, so it has no interval (`stats.noise`). Beside it stand
what noise gives, mean of s_k root(2 / π); the root mean square of the b_k without noise, root(max(0, mean(b_k² -
s_k²))); and a test of all b_k being 0: the share of draws with Σ ((b*_k - b_k) / s*_k)² of at least Σ (b_k / s_k)². The
s_k are linearised over statements within strata, in each draw anew. Of 400 simulated models without any change (89
statements in the strata of Table 1, nine prefixes) the test rejected 6 % at the level of 5 %; with the s_k of
the sample in every draw it rejected 8 %.

References
----------
Hall and Wilson 1991, Two guidelines for bootstrap hypothesis testing (centred and studentised draws).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.audits.bias_score.columns import plain
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.selection import Pick, Selection
from workbench.audits.bias_score.shared_prompts import Common, Comparison, between_selections, contrast
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import NO_SPREAD, NOTHING, NoiseFloor

NAN = float("nan")
BASELINE = "baseline"
"the prefix that is none: the statement alone"
NO_BASELINE = "the prefix `baseline` has no answers"
NO_OTHER = "there is no other prefix"


@dataclass(frozen=True, slots=True)
class PrefixChanges:
    """The mean absolute difference of a model's totals from its total under `baseline`."""

    model: str
    dimension: Dimension | None
    mean: Estimate
    "without an interval; n are prefixes, excluded those whose total is undefined"
    noise: NoiseFloor
    differences: tuple[tuple[str, Comparison], ...]
    "of each other prefix from `baseline`"
    common: Common | None = None

    @property
    def largest(self) -> tuple[str, Estimate] | None:
        """The prefix that moves the bias most, and by how much; None where no difference is defined."""
        known = [(name, found) for name, found in self.differences if found.defined]
        if not known:
            return None
        name, found = max(known, key=lambda pair: abs(pair[1].value))
        return name, plain(found) or found


def prefix_changes(report: Report, model: str, dimension: Dimension | None = None) -> PrefixChanges:
    """Return how far a model's bias under each prefix is from that under `baseline`.

    Over the statements and wordings that were asked under every prefix.
    """
    names = report.tally.prefixes
    others = [name for name in names if name != BASELINE]
    if BASELINE not in names or not others:
        why = NO_OTHER if BASELINE in names else NO_BASELINE
        return PrefixChanges(model, dimension, Estimate(NAN, NAN, NAN, 0, 0, why), NOTHING, ())
    selections = [Selection(dimension, prefix=name) for name in (BASELINE, *others)]
    picks, common = between_selections(report.tally, model, selections, (BASELINE, *others))
    differences = tuple(zip(others, _differences(report, picks, common), strict=True))
    totals = report.estimates(picks)[0][:, 2]
    changes = totals[1:] - totals[0]
    known = np.flatnonzero(~np.isnan(changes))
    if len(known) == 0:
        why = next((found.undefined for _, found in differences if found.undefined), NO_BASELINE)
        return PrefixChanges(
            model, dimension, Estimate(NAN, NAN, NAN, 0, len(others), why), NOTHING, differences, common
        )
    value = float(np.abs(changes[known]).mean())
    mean = Estimate(value, NAN, NAN, len(known), len(others) - len(known))
    return PrefixChanges(model, dimension, mean, _floor(report, picks, known), differences, common)


def _floor(report: Report, picks: list[Pick], known: IntArray) -> NoiseFloor:
    """Return what noise does to the mean absolute change under the prefixes at the places `known`."""
    values, moves = report.estimates(picks)
    drawn = report.drawn(picks)[:, 2]
    changes, moved, draws = ((of[1:] - of[0])[known] for of in (values[:, 2], moves[:, 2], drawn))
    errors, again = report.errors(moved)
    if errors is None:  # answers are resampled, not statements
        errors = draws.std(axis=1, ddof=1) if draws.shape[1] > 1 else np.full(len(draws), NAN)
        again = errors[:, None]
    return floor(changes, errors, draws, again)


def floor(changes: FloatArray, errors: FloatArray, drawn: FloatArray, drawn_errors: FloatArray) -> NoiseFloor:
    """Return what noise gives, what is left without it, and the test that every change is 0.

    Parameters
    ----------
    changes, errors : (K,), with their standard errors
    drawn, drawn_errors : (K, draws)
    """
    if np.isnan(errors).any():
        return NOTHING
    noise = float((errors * np.sqrt(2 / np.pi)).mean())
    size = float(np.sqrt(max(0.0, float((changes**2 - errors**2).mean()))))
    if (errors == 0).any():
        return NoiseFloor(noise, size, NAN, NO_SPREAD)
    found = float(((changes / errors) ** 2).sum())
    flat = drawn_errors == 0
    away = np.where(flat, np.inf, (drawn - changes[:, None]) / np.where(flat, 1.0, drawn_errors))
    extreme = np.count_nonzero((away**2).sum(axis=0) >= found)
    return NoiseFloor(noise, size, float((1 + extreme) / (1 + drawn.shape[1])))


def _differences(report: Report, picks: list[Pick], common: Common) -> Iterator[Comparison]:
    """Yield the difference of every other prefix from `baseline`, over what all prefixes were asked with."""
    baseline, *others = picks
    for place, chosen in enumerate(others, 1):
        sides = Common(
            (common.sides[place], common.sides[0]),
            common.statements,
            (common.prompts[place], common.prompts[0]),
            (common.left_out[place], common.left_out[0]),
            common.unpaired,
        )
        yield contrast(report, [chosen, baseline], sides, np.array([1.0, -1.0]))
