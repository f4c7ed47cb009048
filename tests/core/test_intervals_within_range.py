"""Intervals of shares and of their differences stay within the values that these can have."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.audits.representation.likeness import difference
from workbench.stats.agreement import observed_agreement
from workbench.stats.hypothesis_tests import mean_test
from workbench.stats.resampling import student_interval


def test_a_difference_of_likeness_over_two_questions_has_no_interval_beyond_its_scale() -> None:
    """Student's interval of two questions was [-477.8, +416.7] points."""
    found, p = difference(np.array([0.04, -0.10]), [])
    assert found.value == pytest.approx(-0.03)
    assert (found.low, found.high) == (
        pytest.approx(-0.919, abs=1e-3),
        pytest.approx(0.859, abs=1e-3),
    )
    wide, wider = difference(np.array([0.3, -0.4]), [])
    assert (np.isnan(wide.low), wide.interval) == (True, "")
    assert wide.few == "too few for an interval: 2 questions, it would span the whole scale"
    assert 0 < p < 1
    assert 0 < wider < 1


def test_an_end_beyond_the_scale_is_the_end_of_the_scale() -> None:
    assert student_interval(0.9, np.array([0.2, -0.2, 0.1, -0.1]), limit=1.0)[1] == 1.0
    found = mean_test([60.0, 95.0], limit=100.0)
    assert (found.low, found.high) == (-100.0, 100.0)
    assert mean_test([60.0, 95.0]).high > 100
    assert found.p == mean_test([60.0, 95.0]).p


@pytest.mark.parametrize(("statements", "given"), [(5, False), (40, True)])
def test_perfect_agreement_on_few_statements_has_no_interval(statements: int, given: bool) -> None:
    codes = np.tile([0, 1, 0], statements)
    found = observed_agreement(
        codes, codes, np.random.default_rng(1), clusters=np.repeat(np.arange(statements), 3)
    )
    assert found.value == 1
    assert bool(found.interval) is given
    assert bool(found.few) is not given
