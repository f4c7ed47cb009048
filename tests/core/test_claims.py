"""What a comparison may claim of differences: that they are there, that they are not, or
neither.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from workbench import registry
from workbench.audits.comparison.judge import DIFFERENT, INCONCLUSIVE, claims
from workbench.audits.reliability.options import JUDGING
from workbench.domain.verdicts import Bounds, Estimate
from workbench.stats.power import detectable_pairs
from workbench.stats.resampling import derive_rng

NAN = float("nan")


def difference(value: float, reach: float) -> Estimate:
    return Estimate(value, value - reach, value + reach, 50)


def test_a_difference_is_claimed_of_a_family_and_sameness_within_what_is_asked_for() -> None:
    found = [
        difference(0.3, 0.1),
        difference(0.12, 0.1),
        difference(0.01, 0.03),
        Estimate(0.2, NAN, NAN, 3),
    ]
    assert claims(found, [NAN] * 4, None) == [DIFFERENT, DIFFERENT, INCONCLUSIVE, ""]
    assert claims(found, [NAN] * 4, 0.05) == [DIFFERENT, DIFFERENT, "same within ±0.05", ""]
    assert claims([difference(0.12, 0.1)] * 4, [NAN] * 4, None) == [INCONCLUSIVE] * 4, (
        "each alone would be different"
    )
    assert claims([difference(0.3, 0.1)], [0.2], 0.05) == [INCONCLUSIVE], (
        "the p of a test comes before the interval"
    )
    assert claims([difference(0.0, 0.0)], [NAN], 0.01) == ["same within ±0.01"]
    missing = [Bounds(-0.25, 0.0), Bounds(-0.01, 0.04)]
    assert claims([difference(0.0, 0.03)] * 2, [NAN] * 2, 0.05, missing) == [
        INCONCLUSIVE,
        "same within ±0.05",
    ]


@pytest.mark.parametrize("true", [0.0, 0.1])
def test_identical_models_seldom_differ_in_any_row_and_unlike_ones_are_seldom_the_same(
    true: float,
) -> None:
    """Of tables of thirteen differences, any row by its interval alone leaves out 0 in nearly
    half.
    """
    rng = np.random.default_rng(7)
    by_interval = by_claim = same = 0
    for _ in range(1_000):
        found = [difference(value, 1.96 * 0.04) for value in true + 0.04 * rng.standard_normal(13)]
        by_interval += any(one.low > 0 or one.high < 0 for one in found)
        claimed = claims(found, [NAN] * 13, 0.1)
        by_claim += DIFFERENT in claimed
        same += sum(one.startswith("same") for one in claimed)
    if true:
        assert same / 13_000 < 0.03, "differences of exactly ±d"
    else:
        assert by_interval > 430
        assert by_claim < 70


def test_sameness_is_an_option_of_comparisons_alone() -> None:
    audit = registry.audit("reliability")
    assert "same_within" in {one.name for one in audit.figure_options}
    assert "same_within" not in {
        one.name for one in registry.audit("statement_labels").figure_options
    }
    assert "same_within" not in {one.name for one in JUDGING}


@pytest.mark.parametrize(("n", "discordance"), [(56, 0.1), (24, 0.1), (56, 0.0)])
def test_the_difference_that_a_comparison_finds_is_found_in_80_per_cent(
    n: int, discordance: float
) -> None:
    level = 0.05 / 7
    effect = detectable_pairs(n, level, discordance)
    rng = derive_rng(1, "power", str(n))
    shares = [discordance / 2, discordance / 2 + effect, 1 - discordance - effect]
    changed = rng.multinomial(n, shares, size=2000)[:, :2]
    p = [binomtest(int(lost), int(lost + gained)).pvalue for lost, gained in changed]
    assert 0.77 < np.mean(np.array(p) < level) < 0.9, "the next smaller step is below 80 %"
