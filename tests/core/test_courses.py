"""A course keeps few points of a job's figures, and a picture of it invents none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.courses import MOST_POINTS, Course, bins, means, points_of
from workbench.tui.format import sparkline

STEPS = st.lists(st.tuples(st.floats(0.01, 1e4), st.integers(0, 10_000)), min_size=1, max_size=300)


@given(STEPS)
def test_few_points_stay_and_the_newest_is_one_of_them(steps: list[tuple[float, int]]) -> None:
    course, at, count = Course(), 0.0, 0
    for seconds, n_new in steps:
        at, count = at + seconds, count + n_new
        course.add(at, count)
        assert course.points[-1] == (at, count)
        assert len(course.points) <= MOST_POINTS
    assert course.points == sorted(course.points)
    assert len(course.points) >= min(len(steps), 2)


@given(STEPS, st.integers(1, 40))
def test_parts_of_a_course_add_up_to_its_counts(steps: list[tuple[float, int]], most: int) -> None:
    course, at, count = Course(), 0.0, 0
    for seconds, n_new in steps:
        at, count = at + seconds, count + n_new
        course.add(at, count)
    parts = bins(course.points, most)
    assert len(parts) == min(most, len(course.points))
    assert sum(length for length, _ in parts) == pytest.approx(at)
    assert sum(growth for _, growth in parts) == pytest.approx(count, abs=1e-6)
    assert all(growth >= -1e-6 for _, growth in parts)


def test_a_long_course_shows_where_it_was_slow() -> None:
    course, count = Course(), 0
    for second in range(1, 3601):
        count += 10 if second <= 1800 else 1
        course.add(second, count)
    rates = [growth / length for length, growth in bins(course.points, 8)]
    assert rates == pytest.approx([10] * 4 + [1] * 4, abs=0.5)


@pytest.mark.parametrize("points", [[], [(0.0, 0.0)], [(0.0, 5.0), (0.0, 6.0)]])
def test_a_course_of_no_time_has_no_parts(points: list[tuple[float, ...]]) -> None:
    assert bins(points, 8) == []


def test_points_at_one_time_divide_by_nothing() -> None:
    assert sum(growth for _, growth in bins([(1.0, 1.0), (1.0, 2.0), (1.0, 4.0)], 3)) == 4.0


def test_means_are_of_neighbours_in_their_order() -> None:
    assert means([(n, float(n)) for n in range(5)], 2) == [0.5, 3.0]
    assert means([], 4) == []


def test_points_come_from_json() -> None:
    assert points_of([[1, 2], [3, 4.5]]) == ((1.0, 2.0), (3.0, 4.5))
    assert points_of([[1, None], [2, float("nan")], [3, 1]]) == ((3.0, 1.0),)


def test_a_sparkline_has_a_block_per_value() -> None:
    assert sparkline([0, 50, 100, None, float("nan"), 200], 100) == "▁▅█  █"
    assert sparkline([0, 0], 0) == "▁▁"
