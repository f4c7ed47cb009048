"""How near a model's answers to the original questions come to those of people.

Tjuatja et al. 2024, table 4 and appendix E, by the measure of Santurkar et al. 2023, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.response_bias.deltas import LeftOut
from workbench.audits.response_bias.table import Table, valid_answers
from workbench.domain.choices import Bias
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray
from workbench.stats.clustered import share_ends
from workbench.stats.distances import ordered_wasserstein
from workbench.stats.one_sample import NO_VALUES

Shares = Mapping[tuple[Bias, str], Sequence[float]]
"(bias, key of the question) -> human shares of the original's options, in their order; empty where nobody was asked"

NOBODY = "no human shares"
OTHER_NUMBER = "human shares are not one number of 0 or more for each option"
NO_ANSWERS = "no usable answer of the model"
NO_SCALE = "fewer than two options"
INTERVAL = "95 % interval: Wilson's at the effective number of questions"
"how the interval came about, for people"


@dataclass(frozen=True, slots=True)
class Representativeness:
    """How alike the answers of a model and of people are."""

    mean: Estimate
    "over questions, each once: 1 all shares equal, 0 everybody at one end and the model at the other; `INTERVAL` says \
how the interval came about, which a single question has not"
    alignments: tuple[tuple[str, float], ...]
    "(key, 1 - W) of each question"
    left_out: tuple[LeftOut, ...]


def representativeness(tables: Iterable[Table], shares: Shares) -> Representativeness:
    """Return the mean over questions of 1 - W, W = Σ_{i<n} |F_i - G_i| / (n - 1) of the model's and people's shares.

    F and G are cumulative shares over the n options in the order in which they stand: they are taken for a scale with
    equal steps, so an option `don't know` should not be among them. The model's are those of its valid answers to the
    original form of the bias's questions, not of the perturbations'. A question asked for several biases, with the same
    human shares, counts once, with the mean of its answers' shares.
    """
    found: dict[tuple[str, tuple[float, ...]], list[FloatArray]] = {}
    left_out = []
    for table in tables:
        if table.condition is None:
            for key, options, answers in zip(table.keys, table.offered[:, 0], valid_answers(table)[:, 0], strict=True):
                human = tuple(shares.get((table.bias, key), ()))
                reason = _unusable(human, int(options), answers)
                if reason:
                    left_out.append(LeftOut(key, reason))
                else:
                    found.setdefault((key, human), []).append(answers[:options] / answers.sum())
    alignments = tuple(
        (key, max(0.0, 1 - float(ordered_wasserstein(np.mean(model, axis=0), human))))
        for (key, human), model in found.items()
    )
    mean = mean_alignment([value for _, value in alignments], len(left_out))
    return Representativeness(mean, alignments, tuple(left_out))


def mean_alignment(values: Sequence[float], excluded: int) -> Estimate:
    """Return the mean with its interval over questions (`clustered.share_ends`).

    Every alignment lies in [0, 1], and most near 1: an interval of Student's t may pass 1, this one never does.
    """
    n, nan = len(values), float("nan")
    if n < 2:
        return Estimate(values[0] if n else nan, nan, nan, n, excluded, "" if n else NO_VALUES)
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    return Estimate(mean, *share_ends(mean, (numbers - mean) / n, n), n, excluded, interval="likeness")


def _unusable(human: Sequence[float], options: int, answers: FloatArray) -> str:
    """Return why a question says nothing about the likeness; empty where it does."""
    if not human:
        return NOBODY
    if len(human) != options or not sum(human) > 0 or min(human) < 0:
        return OTHER_NUMBER
    if options < 2:
        return NO_SCALE
    return "" if answers.sum() > 0 else NO_ANSWERS
