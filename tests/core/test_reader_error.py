"""What a reader's errors do to pass rates and κ, by the control sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.coverage.reader_error import TESTS, error, world
from workbench.audits.reliability.counting import ALL
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.reader_error import ReaderError, right_readings
from workbench.domain.reviews import NOT_PASSED, PASSED


def test_errors_of_the_reader_fail_statements_and_the_control_sample_says_how_many() -> None:
    """Over ten runs with a reader that misreads every tenth answer."""
    gaps, plain, held, ruled = [], [], 0, []
    for seed in range(10):
        of = world(seed)
        found, true = error(of), judge(of.truth, TESTS).passing(ALL).value
        corrected = found.corrected.passing
        held += corrected.low <= true <= corrected.high
        gaps.append(corrected.value - true)
        plain.append(found.as_read.passing(ALL).value - true)
        ruled.append(found.as_ruled.passing(ALL).value - found.as_read.passing(ALL).value)
    assert min(ruled) >= 0
    assert held >= 9
    assert abs(np.mean(gaps)) < 0.03 < 0.05 < abs(np.mean(plain))


def test_a_reader_of_whom_no_error_is_seen_in_many_answers_leaves_counts_nearly_as_they_are() -> (
    None
):
    of = world(1)
    (same,) = right_readings(of.read, np.eye(3) * 1e6, 1, np.random.default_rng(1))
    assert (
        sum(
            np.abs(getattr(same, name) - getattr(of.read, name)).sum()
            for name in ("positive", "negative")
        )
        <= 2
    )


def test_the_table_says_what_is_not_decided_yet() -> None:
    of = world(1)
    nothing = replace(of.sample, counted={PASSED: {}, NOT_PASSED: {}})
    rows = ReaderError((read := judge(of.read, TESTS)), read, nothing).rows
    assert [row.name for row in rows] == ["as read", "with the reader's error"], (
        "rulings change nothing"
    )
    assert "no control answer is decided yet" in rows[1].passing.undefined
