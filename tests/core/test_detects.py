"""What a design can show is said before anything is asked, by formulas that simulations agree
with.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind

from stores.core.store import Store
from tests.conftest import instrument
from workbench.audits.bias_score.score import detects as of_sides
from workbench.audits.reliability.planning import clear_from
from workbench.data import SHIPPED_CHOICES, SHIPPED_INSTRUMENT, SHIPPED_QUESTIONNAIRE
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY
from workbench.formats.read import read_shipped
from workbench.pipeline import planning
from workbench.registry import audit
from workbench.stats.agreement import kappa_2x2
from workbench.stats.design_precision import (
    POWER,
    smallest_difference,
    smallest_kappa,
    smallest_mean,
    widest,
)
from workbench.stats.proportions import is_reliable, wilson_interval
from workbench.stats.resampling import derive_rng

RUNS = 2000
ERROR = 4 * math.sqrt(POWER * (1 - POWER) / RUNS)
"four standard errors of the share of simulated studies that show an effect"


@pytest.mark.parametrize(("left", "right"), [(44, 45), (6, 30)])
def test_a_difference_of_that_size_shows_in_four_of_five_studies(left: int, right: int) -> None:
    rng = derive_rng(1, "detects", left, right)
    effect = smallest_difference(0.3, left, right)
    a, b = rng.normal(0, 0.3, (RUNS, left)), rng.normal(effect, 0.3, (RUNS, right))
    shown = (ttest_ind(a, b, axis=1).pvalue < 0.05).mean()
    assert shown == pytest.approx(POWER, abs=ERROR + 0.01)


def test_a_mean_of_that_size_shows_in_four_of_five_studies() -> None:
    rng = derive_rng(1, "detects mean")
    values = rng.normal(smallest_mean(0.2, 12), 0.2, (RUNS, 12))
    assert (ttest_1samp(values, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(
        POWER, abs=ERROR + 0.02
    )


def test_a_kappa_of_that_size_shows_in_four_of_five_studies() -> None:
    """Both answers are equally frequent, and equal as often as that kappa says: (1 + kappa) / 2."""
    rng, n = derive_rng(1, "detects kappa"), 239
    same = rng.binomial(n, (1 + smallest_kappa(n)) / 2, RUNS)
    tables = np.array(
        [[[s // 2, (n - s) // 2], [n - s - (n - s) // 2, s - s // 2]] for s in same.tolist()]
    )
    assert (kappa_2x2(tables) > 1.96 / math.sqrt(n)).mean() == pytest.approx(
        POWER, abs=ERROR + 0.02
    )


@given(st.integers(2, 200), st.integers(2, 200), st.floats(0.01, 0.5))
def test_more_statements_show_less_and_more_spread_shows_more(
    left: int, right: int, spread: float
) -> None:
    found = smallest_difference(spread, left, right)
    assert smallest_difference(spread, left + 1, right) < found
    assert smallest_difference(2 * spread, left, right) == pytest.approx(2 * found)
    assert smallest_difference(spread, right, left) == pytest.approx(found)


def test_too_little_shows_nothing() -> None:
    assert math.isnan(smallest_difference(0.3, 1, 40))
    assert math.isnan(smallest_mean(0.3, 1))
    assert math.isnan(smallest_kappa(5)), "an agreement of more than 1"
    low, high = wilson_interval(8, 16)
    assert widest(16) == pytest.approx(float(high - low) / 2)


@given(st.integers(1, 60))
def test_a_prompt_leans_clearly_from_the_least_number_that_the_rule_takes(samples: int) -> None:
    found = clear_from(samples)
    assert found is not None
    assert bool(is_reliable(found, samples))
    assert not bool(is_reliable(found - 1, samples)) or 2 * (found - 1) <= samples


def test_sides_decide_what_a_bias_design_shows() -> None:
    statements = instrument().statements
    assert all(one.leaning is None for one in statements)
    assert of_sides(statements).startswith(
        "can show no bias: 0 left, 0 right statements; an interval takes 4 of each"
    )


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        (
            SHIPPED_INSTRUMENT,
            "reliability",
            (
                "can show: reliable share to ±",
                "a difference between two models from 22 points in 80 % of studies",
                "κ between wordings from 0.",
                "a clear lean from 22 of 30 answers alike",
            ),
        ),
        (SHIPPED_INSTRUMENT, "bias_score", ("can show: a bias of", " left", " right")),
        (
            SHIPPED_QUESTIONNAIRE,
            "questionnaire",
            ("can show, on one target: a bias of", "respondents"),
        ),
        (SHIPPED_CHOICES, "response_bias", ("can show: a mean change of", "questions a bias")),
    ],
)
def test_every_plan_says_what_it_can_show_at_once(
    store: Store, name: str, asked: str, words: tuple[str, ...]
) -> None:
    store.instruments.add(read_shipped(name))
    defaults = audit(asked).defaults
    design = Design(
        name,
        "smollm2",
        asked,
        defaults.samples,
        defaults.sampling_of(defaults.family),
        family=defaults.family,
    )
    found = planning.plan(store, design)
    for word in words:
        assert word in found.detects
    assert found.detects in found.describe().splitlines()


def test_probabilities_have_no_number_of_answers(store: Store) -> None:
    store.instruments.add(read_shipped(SHIPPED_INSTRUMENT))
    found = planning.plan(store, Design(SHIPPED_INSTRUMENT, "smollm2", samples=1, sampling=EXACTLY))
    assert "clear lean" not in found.detects
    assert "κ between wordings from" in found.detects
