"""How often the intervals of agreement hold the truth, where pairs share a statement; simulated
with a fixed seed.

Longer runs (2,000 simulations, Monte Carlo error .5 points, 600 resamples; three paraphrases a
statement): pairs drawn one by one covered 81-89 %, whole statements by percentiles 89-94 %, and
whole statements as here 93-95 % from 20 statements on, at κ of .33, .59 and .82 (1,000
simulations); with 10 statements 92 %. Agreement on one statement: see `pairs_estimates`.
"""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.agreement import cohen_kappa, kappa_2x2, pairs_estimates
from workbench.stats.arrays import FloatArray, IntArray

PARAPHRASES = 3
SIMULATIONS, RESAMPLES = 300, 300


def stances(
    rng: np.random.Generator, statements: int, wordings_vary: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the originals, the paraphrases and the statements of all pairs: a latent position, and
    one a wording.
    """
    position = rng.normal(0.3, 1, (statements, 1))
    stance = (position + rng.normal(0, wordings_vary, (statements, 1 + PARAPHRASES)) > 0).astype(
        np.int64
    )
    statement = np.repeat(np.arange(statements), PARAPHRASES)
    return np.repeat(stance[:, 0], PARAPHRASES), stance[:, 1:].ravel(), statement


def truth(wordings_vary: float) -> float:
    first, second, _ = stances(np.random.default_rng(0), 400_000, wordings_vary)
    return float(kappa_2x2(np.bincount(2 * first + second, minlength=4).reshape(2, 2)))


@pytest.mark.e2e
@pytest.mark.parametrize(("statements", "wordings_vary"), [(20, 0.5), (50, 0.2), (100, 0.5)])
def test_intervals_over_statements_hold_the_truth_and_those_over_pairs_do_not(
    statements: int, wordings_vary: float
) -> None:
    rng = np.random.default_rng(statements)
    wanted = truth(wordings_vary)
    held = np.zeros(2)
    for _ in range(SIMULATIONS):
        first, second, statement = stances(rng, statements, wordings_vary)
        for place, clusters in enumerate((None, statement)):
            found = cohen_kappa(first, second, rng, RESAMPLES, clusters)
            held[place] += found.low <= wanted <= found.high
    over_pairs, over_statements = held / SIMULATIONS
    error = (0.95 * 0.05 / SIMULATIONS) ** 0.5  # 1.3 points
    assert over_statements > 0.95 - 3 * error
    assert over_pairs < 0.95 - 4 * error


def test_nothing_that_varies_has_no_interval() -> None:
    rng = np.random.default_rng(1)
    same = cohen_kappa([1, 1, 0, 0], [1, 1, 0, 0], rng, 200, [0, 0, 1, 1])
    assert (same.value, np.isnan(same.low)) == (1.0, True)
    one = cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0], rng, 200, [7, 7, 7, 7])
    assert (one.value, np.isnan(one.low)) == (0.5, True), "one statement says nothing of others"


def test_pairs_that_are_each_their_own_statement_are_drawn_as_pairs() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(2, size=400)
    second = np.where(rng.random(400) < 0.8, first, 1 - first)
    by_pair, by_cluster = (
        cohen_kappa(first, second, np.random.default_rng(3), 4000, clusters)
        for clusters in (None, np.arange(400))
    )
    assert (by_cluster.low, by_cluster.high) == pytest.approx((by_pair.low, by_pair.high), abs=0.02)


def conditions(
    rng: np.random.Generator, wordings: FloatArray, templates: int, by_template: float
) -> IntArray:
    """Return the pairs of one statement by template, 2 label orders x 3 paraphrases each:
    (templates, 2, 2).
    """
    shape = (templates, 2, 1 + PARAPHRASES)
    latent = (
        0.2 + wordings + rng.normal(0, by_template, (templates, 1, 1)) + np.array([0, 0.3])[:, None]
    )
    stance = (
        latent
        + rng.normal(0, by_template / 2, (*shape[:1], 1, shape[2]))
        + rng.normal(0, 0.4, shape)
        > 0
    )
    original, other = np.broadcast_arrays(stance[..., :1], stance[..., 1:])
    cell = 2 * original.astype(np.int64) + other
    return np.stack([(cell == each).sum(axis=(1, 2)) for each in range(4)], axis=1).reshape(
        templates, 2, 2
    )


@pytest.mark.e2e
@pytest.mark.parametrize("by_template", [0.4, 0.8, 1.5])
def test_intervals_of_one_statement_hold_the_agreement_under_all_templates(
    by_template: float,
) -> None:
    rng = np.random.default_rng(int(10 * by_template))
    wordings = rng.normal(0, 0.5, (SIMULATIONS, 1 + PARAPHRASES))
    tables = np.array([conditions(rng, each, 6, by_template) for each in wordings])
    wanted = np.array(
        [_agreeing(conditions(rng, each, 3000, by_template).sum(axis=0)) for each in wordings]
    )
    found = pairs_estimates(tables, "observed")
    one_by_one = []
    for table, truth in zip(tables.sum(axis=1), wanted, strict=True):
        drawn = rng.multinomial(36, table.ravel() / 36, size=RESAMPLES).reshape(-1, 2, 2)
        low, high = np.quantile([_agreeing(each) for each in drawn], [0.025, 0.975])
        one_by_one.append(low <= truth <= high)
    shown = ~np.isnan(found.low)
    held = ((found.low <= wanted) & (wanted <= found.high))[shown]
    assert shown.mean() > 0.9
    assert held.mean() > 0.91
    assert np.mean(one_by_one) < 0.88


def _agreeing(table: IntArray) -> float:
    return float(np.trace(table) / table.sum())
