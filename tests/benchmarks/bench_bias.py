"""The bias score at the published size: 11 models x 10 prefixes x 89 statements x 3 wordings x 3
runs, 88,110 readings.

Both compute what Figure 1 shows, the bias of every model by source and dimension (44 figures), with
intervals of 10,000 draws. The baseline is a plain loop in numpy: draw statements with replacement,
look up their answers, count, score. It is timed on a sample of draws of one model and scaled.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.core.test_simulated_bias import ITEMS, MEANS, PREFIXES, RUNS, SPREAD, WORDINGS
from workbench.audits.bias_score.counting import Tally
from workbench.audits.bias_score.factors import plane_points
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import BiasReport, judge
from workbench.domain.statements import Dimension, Side

MODELS, DRAWS, BASELINE_DRAWS, REPEATS = 11, 10_000, 100, 5
TINY_MODELS, TINY_DRAWS, TINY_BASELINE_DRAWS = 2, 20, 2

Counts = npt.NDArray[np.int32]


def build(models: int) -> Tally:
    """Return a tally of random answers."""
    rng = np.random.default_rng(1)
    tendencies = np.stack([[rng.dirichlet(SPREAD * mean) for mean in MEANS] for _ in range(models)])
    shape = (models, len(PREFIXES), len(ITEMS), len(WORDINGS))
    read = rng.multinomial(RUNS, np.broadcast_to(tendencies[:, None, :, None], (*shape, 4))).astype(
        np.int32
    )
    nothing = np.zeros(shape, dtype=np.int32)
    authors = ((None,) * len(WORDINGS),) * len(ITEMS)
    names = tuple(f"model-{n}" for n in range(models))
    return Tally(
        names, PREFIXES, ITEMS, WORDINGS, authors, read, np.zeros_like(read), nothing, nothing
    )


def ours(tally: Tally, draws: int) -> BiasReport:
    """Return the report with its figures computed."""
    report = judge(tally, ScoreOptions(draws=draws))
    plane_points(report, by_source=True)
    return report


def plain_loop(tally: Tally, draws: int, baseline_draws: int) -> float:
    """Return the seconds that the plain loop would take for all models."""
    rng = np.random.default_rng(1)
    # (statement, cell, stance).
    cells = tally.read[0].transpose(1, 0, 2, 3).reshape(len(ITEMS), -1, 4)
    answers = [np.concatenate([np.repeat(np.arange(4), counts) for counts in of]) for of in cells]
    started = time.perf_counter()
    for source in tally.sources:
        for dimension in Dimension:
            places = [
                n
                for n, item in enumerate(ITEMS)
                if (item.source, item.dimension) == (source, dimension)
            ]
            totals = []
            for _ in range(baseline_draws):
                bias = {}
                for side in Side:
                    mine = [n for n in places if ITEMS[n].leaning is side]
                    stances = np.concatenate([answers[n] for n in rng.choice(mine, size=len(mine))])
                    agree, disagree, neutral = ((stances == code).sum() for code in range(3))
                    bias[side] = (agree - disagree) / (agree + disagree + neutral)
                totals.append((bias[Side.RIGHT] - bias[Side.LEFT]) / 2)
            np.percentile(totals, [2.5, 97.5])
    return (time.perf_counter() - started) * len(tally.models) * draws / baseline_draws


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the baseline."""
    draws, baseline_draws = (TINY_DRAWS, TINY_BASELINE_DRAWS) if tiny else (DRAWS, BASELINE_DRAWS)
    tally = build(TINY_MODELS if tiny else MODELS)
    ours(tally, draws)  # imports what the first interval needs
    times = []
    for _ in range(1 if tiny else REPEATS):
        started = time.perf_counter()
        ours(replace(tally), draws)  # a new tally has computed nothing yet
        times.append(time.perf_counter() - started)
    seconds, plain = float(np.median(times)), plain_loop(tally, draws, baseline_draws)
    size = f"{int(tally.read.sum()):,} readings, {draws:,} draws"
    what = f"bias of {len(tally.models)} models by source and dimension, {size}"
    return [
        (what, f"{seconds:.3f} s", f"{plain / seconds:,.0f}x"),
        ("the same by a plain loop (scaled from a sample)", f"{plain:.0f} s", "1x"),
    ]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
