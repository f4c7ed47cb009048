"""Answers that were cut off in thought are neither readable nor unreadable: figures say how many
there are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.core.test_bias_score import FEW, TOY
from tests.core.test_reliability import counts
from workbench.audits.bias_score.judged import methods
from workbench.audits.bias_score.score import judge
from workbench.audits.reliability import judge as reliability
from workbench.audits.reliability.counting import random_baseline


def test_they_count_against_the_minimum_and_are_named() -> None:
    base = counts()
    cut = np.zeros_like(base.positive)
    cut[0, 0, 0, 0], positive = 20, base.positive.copy()
    positive[0, 0, 0, 0] = 10
    report = reliability.judge(replace(base, positive=positive, truncated=cut))
    assert (report.counts.cut_off, int(report.counts.total[0, 0, 0, 0])) == (20, 30)
    said = report.reason(report.counts.statements[0], report.counts.templates[0], "sampling")
    assert "only 10 of 30 readable (20 cut off in thought), 20 needed" in said
    row = report.variants(report.counts.statements[0], report.counts.templates[0])[0]
    assert (row.total, row.readable, row.truncated) == (30, 10, 20)
    assert random_baseline(report.counts, np.random.default_rng(1)).cut_off == 0
    with pytest.raises(ValueError, match="truncated answers of shape"):
        replace(base, truncated=cut[0])


def test_the_bias_counts_them_as_left_out() -> None:
    cut = np.zeros_like(TOY.dropped)
    cut[0, 0, 0, 0] = 4
    plain, figure = (judge(tally, FEW).figure("m0") for tally in (TOY, replace(TOY, truncated=cut)))
    assert (plain.truncated, figure.truncated) == (0, 4)
    assert figure.total.excluded == plain.total.excluded + 4
    assert figure.left.excluded == plain.left.excluded + 4
    assert (figure.total.value, figure.total.n, figure.unread) == (
        plain.total.value,
        plain.total.n,
        plain.unread,
    )
    assert "4 that were cut off in thought" in methods(judge(replace(TOY, truncated=cut), FEW))
    with pytest.raises(ValueError, match="truncated of shape"):
        replace(TOY, truncated=cut[0])
