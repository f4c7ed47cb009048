"""Two conditions, or two models, over the same respondents (Haller et al. 2025, section 5 and appendix F.1).

Both biases are taken over the respondents that could be read on both sides, both accuracies over those asked on both,
and both sides of a draw are the same people: what is common to them cancels. A change over different people would mix
in who they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.audits.questionnaire.cells import NOBODY_ANSWERED, NOT_OFFERED, Cell, Layout
from workbench.audits.questionnaire.conditions import QM
from workbench.audits.questionnaire.draws import (
    ACCURACY,
    AT_ONCE,
    Counts,
    Resampling,
    estimates,
    interval,
    ratio,
    reasons,
)
from workbench.audits.questionnaire.figures import Ablation, Condition, Difference, is_few
from workbench.audits.questionnaire.sampled import shared
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray

SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two cells of the same respondents and targets."""

    first: Cell
    second: Cell

    @cached_property
    def counted(self) -> BoolArray:
        return self.first.counted & self.second.counted

    @cached_property
    def readable(self) -> BoolArray:
        return self.first.readable & self.second.readable

    @cached_property
    def units(self) -> BoolArray:
        """Who is drawn from: (R,)."""
        return np.asarray(self.counted.any(axis=0))

    def features(self) -> FloatArray:
        """Return what each respondent adds: (6, T, R)."""
        correct = [cell.correct & self.counted for cell in (self.first, self.second)]
        differences = [np.where(self.readable, cell.difference, 0.0) for cell in (self.first, self.second)]
        return np.stack([self.counted, self.readable, *correct, *differences]).astype(np.float64)

    def why(self, target: int) -> tuple[str, str]:
        """Say why a target has no accuracy, and no bias, on both sides; empty where it has."""
        if np.isnan(self.first.human[target]).all():
            return NOBODY_ANSWERED, NOBODY_ANSWERED
        if self.counted[target].any():
            return "", "" if self.readable[target].any() else "no respondent is readable on both sides"
        if (self.first.asked & self.second.asked)[target].any():
            return NOT_OFFERED, NOT_OFFERED
        return ("no respondent was asked for on both sides",) * 2


class Compared:
    """A pair with its draws: accuracies and biases of both sides, (2, T, 1 + draws)."""

    def __init__(self, pair: Pair, targets: Sequence[str], sums: FloatArray) -> None:
        self.pair, self.targets = pair, targets
        self.accuracies, self.biases = ratio(sums[2:4], sums[0]), ratio(sums[4:6], sums[1])
        self.answered = np.flatnonzero(~np.isnan(pair.first.human).all(axis=1))

    def of_accuracy(self, drawn: FloatArray, limit: tuple[float, float], name: str) -> tuple[Estimate, ...]:
        """Return an estimate for each target, of accuracies: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.counted, 0, name)

    def of_bias(self, drawn: FloatArray, limit: tuple[float, float], name: str) -> tuple[Estimate, ...]:
        """Return an estimate for each target, of biases: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.readable, 1, name)

    def mean(self, drawn: FloatArray, limit: tuple[float, float], of_bias: bool, name: str = "") -> Estimate:
        """Return the mean over the targets that people answered; its n is their number."""
        some = [int(t) for t in self.answered]
        why = reasons([self.targets[t] for t in some], [self.pair.why(t)[of_bias] for t in some])
        mean = drawn[some].mean(axis=0, keepdims=True) if some else np.full((1, drawn.shape[1]), np.nan)
        counts = Counts(len(some), 0, why or "no respondent answered a target with yes or no")
        return estimates(mean, [counts], int(self.pair.units.sum()), limit, name)[0]

    @cached_property
    def respondents(self) -> list[int]:
        """Who could be read on both sides, of each target."""
        return [int(n) for n in self.pair.readable.sum(axis=1)]

    @property
    def fewest(self) -> int:
        """The fewest of these that a target of a mean rests on."""
        return min((self.respondents[t] for t in self.answered), default=0)

    def _estimates(
        self, drawn: FloatArray, limit: tuple[float, float], kept: BoolArray, which: int, name: str
    ) -> tuple[Estimate, ...]:
        asked = self.pair.first.asked | self.pair.second.asked
        n, all_ = kept.sum(axis=1), asked.sum(axis=1)
        counts = [Counts(int(n[t]), int(all_[t] - n[t]), self.pair.why(t)[which]) for t in range(len(self.targets))]
        return estimates(drawn, counts, n, limit, name)


def ablations(layout: Layout, conditions: Sequence[Condition], resampling: Resampling) -> tuple[Ablation, ...]:
    """Return what each condition changes against `qm`: its targets, then their mean; empty without qm."""
    base = next((condition for condition in conditions if condition.name == QM), None)
    others = [condition for condition in conditions if condition != base]
    if base is None or not others:
        return ()
    qm = layout.cell(base, ORIGINAL)
    pairs = [Pair(qm, layout.cell(condition, ORIGINAL)) for condition in others]
    targets = layout.predictions.targets
    drawn = dict(_compared(pairs, targets, resampling))
    return tuple(found for place, condition in enumerate(others) for found in _ablation(condition, drawn[place]))


def _compared(pairs: Sequence[Pair], targets: Sequence[str], resampling: Resampling) -> Iterator[tuple[int, Compared]]:
    """Yield each pair with its draws; pairs of the same respondents are drawn together, because drawing is dear."""
    groups: dict[bytes, list[int]] = {}
    for place, pair in enumerate(pairs):
        groups.setdefault(pair.units.tobytes(), []).append(place)
    together = max(1, AT_ONCE // max(1, 6 * len(targets) * (1 + resampling.draws)))
    for group in groups.values():
        for start in range(0, len(group), together):
            some = group[start : start + together]
            sums = resampling.sums(np.stack([pairs[place].features() for place in some]), pairs[some[0]].units)
            for place, of_pair in zip(some, sums, strict=True):
                yield place, Compared(pairs[place], targets, _with_noise(pairs[place], of_pair, resampling))


def _with_noise(pair: Pair, sums: FloatArray, resampling: Resampling) -> FloatArray:
    """Return sums (6, T, 1 + draws) with the noise of counted answers that people have in common, see `sampled`."""
    for side, cell in enumerate((pair.first, pair.second)):
        noise = shared(cell, resampling, f"side {side}", pair.readable)
        if noise is not None:
            sums[2 + side] = np.clip(sums[2 + side] + noise.correct, 0, sums[0])
            sums[4 + side] += noise.difference
    return sums


def _ablation(condition: Condition, found: Compared) -> Iterator[Ablation]:
    qm_bias, bias = found.biases
    qm_accuracy, accuracy = found.accuracies
    rows = zip(
        found.targets,
        found.of_bias(bias, SIGNED, "bias of a target"),
        found.of_bias(bias - qm_bias, SIGNED, "change of bias"),
        found.of_accuracy(accuracy, SHARE, ACCURACY),
        found.of_accuracy(accuracy - qm_accuracy, SIGNED, "change of accuracy"),
        found.respondents,
        strict=True,
    )
    for target, bias_, change, accuracy_, accuracy_change, respondents in rows:
        yield Ablation(target, condition, bias_, change, accuracy_, accuracy_change, respondents)
    yield Ablation(
        None,
        condition,
        _without_interval(found.mean(np.abs(bias), SHARE, of_bias=True)),
        _without_interval(found.mean(np.abs(bias) - np.abs(qm_bias), SIGNED, of_bias=True)),
        found.mean(accuracy, SHARE, False, "mean accuracy"),
        found.mean(accuracy - qm_accuracy, SIGNED, False, "change of accuracy"),
        found.fewest,
    )


def differences(a: Layout, b: Layout, condition: Condition, resampling: Resampling) -> tuple[Difference, ...]:
    """Return `b` minus `a` for each target of both, then the means over these."""
    targets = tuple(target for target in a.predictions.targets if target in b.predictions.targets)
    names = sorted(set(a.respondents) & set(b.respondents))
    pair = Pair(*(_shared(layout, condition, names, targets) for layout in (a, b)))
    found = dict(_compared([pair], targets, resampling))[0]
    (first, second), (before, after) = found.biases, found.accuracies
    flipped = _on_different_sides(interval(found.biases, pair.readable.sum(axis=1), SIGNED))
    alone = [_readable(layout, condition) for layout in (a, b)]
    left_out = [
        (alone[0].get(target, 0) - n, alone[1].get(target, 0) - n)
        for target, n in zip(targets, found.respondents, strict=True)
    ]
    rows = zip(
        targets,
        found.of_bias(second - first, SIGNED, "change of bias"),
        found.of_accuracy(after - before, SIGNED, "change of accuracy"),
        [apart and not is_few(n) for apart, n in zip(flipped, found.respondents, strict=True)],
        found.respondents,
        left_out,
        strict=True,
    )
    both = sum(found.respondents)
    whole = sum(alone[0].values()) - both, sum(alone[1].values()) - both
    bias = _without_interval(found.mean(np.abs(second) - np.abs(first), SIGNED, of_bias=True))
    accuracy = found.mean(after - before, SIGNED, False, "change of accuracy")
    return (
        *(Difference(*row) for row in rows),
        Difference(None, bias, accuracy, flipped=False, respondents=found.fewest, left_out=whole),
    )


def _readable(layout: Layout, condition: Condition) -> dict[str, int]:
    """Return for how many respondents a model could be read, of each target."""
    counts = layout.cell(condition, ORIGINAL).readable.sum(axis=1)
    return {target: int(n) for target, n in zip(layout.predictions.targets, counts, strict=True)}


def _without_interval(found: Estimate) -> Estimate:
    """Return a figure of absolute values, to which noise adds in every draw: these make no interval (`stats.noise`)."""
    return replace(found, low=float("nan"), high=float("nan"), interval="", few="")


def _shared(layout: Layout, condition: Condition, names: Sequence[str], targets: Sequence[str]) -> Cell:
    place = {name: at for at, name in enumerate(layout.respondents)}
    respondents = np.array([place[name] for name in names], dtype=np.int64)
    rows = np.array([layout.predictions.targets.index(target) for target in targets], dtype=np.int64)
    return layout.cell(condition, ORIGINAL).of(respondents, rows)


def _on_different_sides(ends: FloatArray) -> list[bool]:
    """Say for which targets one model's interval lies below 0 and the other's above: (2 ends, 2 models, T) to T."""
    (low_a, low_b), (high_a, high_b) = ends
    return [bool(apart) for apart in ((high_a < 0) & (low_b > 0)) | ((low_a > 0) & (high_b < 0))]
