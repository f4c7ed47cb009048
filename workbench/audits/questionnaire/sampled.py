"""What the drawing of answers adds to the noise of figures, where answers are counted in place of probabilities.

Of the n answers to a prompt that say yes or no, y say yes. Its p(yes) is y / n with the noise of so many draws: given
them, p(yes) follows Beta(y + 1/2, n - y + 1/2) (Jeffreys' prior), so that another n answers are beta-binomial.

How much of it an interval has already depends on whom a prompt is about.

- Where everybody has a prompt of their own (`qm`), the noise differs from person to person. Draws of people hold it as
  it is: the variance of what is observed is that between people plus that of the answers. To draw it once more would
  count it twice.
- Where k people have one prompt (`zero-shot`: all of them; equal contexts: some), its noise is common to them. Draws of
  people hold 1/k of its variance. What is missing, (k² - k) v for a sum over them, is drawn here: the draw of the
  prompt around its mean, times root(k² - k), is added to each draw of people.

A prediction is yes where y >= n - y. That of a prompt of one person may be another one next time, which draws of people
hold, too: an accuracy here is that of the majority of so many answers, and below that of the probability itself where
this is near 1/2. That of a prompt of several people flips for all of them at once; it is drawn here.

A correlation over models and targets has no draws of people. `redrawn` gives its points as other answers to the same
prompts would have given them.

References
----------
Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion (Jeffreys' interval). Davison and Hinkley
1997, Bootstrap Methods and their Application, section 3.8 (of two sources of variation resample the outer one alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.questionnaire.cells import Cell
from workbench.audits.questionnaire.draws import Resampling
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.resampling import derive_rng

PRIOR = 0.5
"Jeffreys"
SURE = 0.025
"a prediction that other answers would turn this seldom is taken for known"
AT_ONCE = 2_000_000
"numbers drawn at once (16 MB)"


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What is added to sums over people, in the sample and each draw: (T, 1 + draws), 0 in the sample."""

    difference: FloatArray
    correct: FloatArray
    variance: FloatArray
    "(T,): of the sum of differences, beyond what draws of people hold"
    doubtful: BoolArray
    "(T,): whether other answers might turn a prediction that several people have in common"


@dataclass(frozen=True, slots=True, eq=False)
class _Prompts:
    """The prompts of one target: (G,) each."""

    yes: FloatArray
    no: FloatArray
    "answers"
    people: FloatArray
    "who were asked with it and could be read"
    agreeing: FloatArray
    "of them, who answered yes themselves"


def shared(
    cell: Cell, resampling: Resampling, name: str, kept: BoolArray | None = None, some: Sequence[int] | None = None
) -> Shared | None:
    """Return the noise of prompts that several people have in common; None where probabilities were computed.

    name : of the stream of random numbers: one for each side of a comparison, whose answers were drawn apart
    kept : (T, R), whose prompts count; None: all that can be read
    some : places of targets; None: all
    """
    if cell.answers is None:
        return None
    places = range(len(cell.human)) if some is None else some
    found = [_of_target(_prompts(cell, t, kept), resampling, (name, t)) for t in places]
    shape = len(found), 1 + resampling.draws
    return Shared(
        difference=np.array([one[0] for one in found], dtype=np.float64).reshape(shape),
        correct=np.array([one[1] for one in found], dtype=np.float64).reshape(shape),
        variance=np.array([one[2] for one in found], dtype=np.float64),
        doubtful=np.array([one[3] for one in found], dtype=np.bool_),
    )


def _of_target(
    of: _Prompts, resampling: Resampling, name: tuple[str, int]
) -> tuple[FloatArray, FloatArray, float, bool]:
    """Return what is added to the differences and to the correct ones of a target, (1 + draws,), and see `Shared`."""
    difference, correct = np.zeros(1 + resampling.draws), np.zeros(1 + resampling.draws)
    several = of.people > 1
    if not several.any():
        return difference, correct, 0.0, False
    some = _Prompts(*(each[several] for each in (of.yes, of.no, of.people, of.agreeing)))
    n = some.yes + some.no + 2 * PRIOR
    mean, spread = (some.yes + PRIOR) / n, some.people * (some.people - 1)
    turn = 2 * some.agreeing - some.people  # what a yes in place of a no adds to the correct ones
    says = (some.yes >= some.no).astype(np.float64)
    turned = np.zeros(len(n))
    for at, p in _drawn(some, resampling.draws, derive_rng(resampling.seed, "questionnaire answers", *name)):
        flips = (p >= 0.5) - says[:, None]
        difference[at], correct[at] = np.sqrt(spread) @ (p - mean[:, None]), turn @ flips
        turned += np.abs(flips).sum(axis=1)
    variance = float((spread * mean * (1 - mean) / (n + 1)).sum())
    return difference, correct, variance, bool((turned > SURE * resampling.draws).any())


def redrawn(cell: Cell, resampling: Resampling, name: str) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of the targets as other answers to the same prompts would give them.

    (T, draws) each, NaN where there are none; None where probabilities were computed. The people stay the same. What is
    drawn scatters around what was found: the mean of a prompt's draws is its y / n.
    """
    if cell.answers is None:
        return None
    targets, draws = len(cell.human), resampling.draws
    accuracy, bias = np.full((targets, draws), np.nan), np.full((targets, draws), np.nan)
    rng = derive_rng(resampling.seed, "questionnaire answers", "again", name)
    for t in range(targets):
        of, counted, readable = _prompts(cell, t, None), cell.counted[t].sum(), cell.readable[t].sum()
        if not counted or not readable:
            continue
        n = of.yes + of.no
        centre = (of.yes + PRIOR) / (n + 2 * PRIOR) - of.yes / n
        for at, p in _drawn(of, draws, rng):
            at = slice(at.start - 1, at.stop - 1)
            bias[t, at] = (of.people @ (p - centre[:, None]) - of.agreeing.sum()) / readable
            yes = p >= 0.5
            accuracy[t, at] = (of.agreeing @ yes + (of.people - of.agreeing) @ ~yes) / counted
    return accuracy, bias


def _prompts(cell: Cell, target: int, kept: BoolArray | None) -> _Prompts:
    """Return the distinct prompts about one target, by the people who could be read."""
    assert cell.answers is not None
    assert cell.prompt is not None
    who = cell.readable[target] if kept is None else cell.readable[target] & kept[target]
    _, first, group, people = np.unique(
        cell.prompt[target][who], return_index=True, return_inverse=True, return_counts=True
    )
    answers = cell.answers[target][who][first]
    yes, no = (np.rint(mass[target][who][first] * answers) for mass in (cell.yes, cell.no))
    agreeing = np.bincount(group.ravel(), cell.human[target][who], minlength=len(first))
    return _Prompts(yes, no, people.astype(np.float64), agreeing.astype(np.float64))


def _drawn(of: _Prompts, draws: int, rng: np.random.Generator) -> Iterator[tuple[slice, FloatArray]]:
    """Yield p(yes) of each prompt, (G, some), with the places of these draws after the sample's."""
    together = max(1, AT_ONCE // max(1, len(of.yes)))
    for start in range(0, draws, together):
        n = min(together, draws - start)
        shape = (len(of.yes), n)
        p = rng.beta(of.yes[:, None] + PRIOR, of.no[:, None] + PRIOR, size=shape)
        yield slice(1 + start, 1 + start + n), np.asarray(p, dtype=np.float64)


__all__ = ["Shared", "redrawn", "shared"]
