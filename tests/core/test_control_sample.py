"""The control sample of answers: how many are drawn of each stratum, each with its probability, and
the rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stores.annotation.reviews import ReadAnswer
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.domain.reviews import ControlSample
from workbench.domain.rulings import Ruled, Ruling, RulingVerdict, Subject
from workbench.evidence.control_sample import RuledControlSample, items_of_all_draws
from workbench.pipeline.review import sample_answers
from workbench.stats.samples import LEAST, Stratum, allocated, drawn, misread_rate


@given(st.lists(st.integers(1, 200), min_size=1, max_size=3), st.integers(2, 300))
def test_as_many_are_drawn_as_there_are_and_strata_alike(sizes: list[int], n: int) -> None:
    found = allocated(sizes, n)
    assert all(0 <= m <= size for m, size in zip(found, sizes, strict=True))
    assert sum(found) == min(n, sum(sizes))
    short = [m for m, size in zip(found, sizes, strict=True) if m < size]
    assert max(short, default=0) - min(short, default=0) <= 1


def test_every_answer_is_drawn_with_the_same_probability_however_its_text_repeats() -> None:
    counts, rng = np.array([30, 29, 1, 10]), np.random.default_rng(7)
    times = np.zeros(4)
    for _ in range(4000):
        times += np.bincount(drawn(counts, 20, rng), minlength=4)
    expected = 4000 * 20 * counts / counts.sum()
    assert np.abs(times - expected).max() < 4 * np.sqrt(expected.max())
    assert sorted(drawn(counts, 70, rng)) == sorted(np.repeat(np.arange(4), counts))


@given(st.integers(0, 60), st.integers(LEAST, 60))
def test_one_stratum_has_the_mid_p_interval(k: int, n: int) -> None:
    k = min(k, n)
    found = misread_rate([Stratum(10_000, n, k), Stratum(0, 0, 0)])
    assert found.value == pytest.approx(k / n)
    if k:
        assert stats.binom(n, found.low).sf(k) + stats.binom(n, found.low).pmf(
            k
        ) / 2 == pytest.approx(0.025)
    if k < n:
        assert stats.binom(n, found.high).cdf(k - 1) + stats.binom(n, found.high).pmf(
            k
        ) / 2 == pytest.approx(0.025)
    assert (found.low == 0, found.high == 1) == (k == 0, k == n)


@pytest.mark.parametrize("n", [20, 40, 60])
def test_two_strata_of_few_answers_are_covered_at_every_rate_of_error(n: int) -> None:
    """The coverage is exact: every outcome of both strata, with its probability."""
    half = n // 2
    outcomes = [(k, m) for k in range(half + 1) for m in range(half + 1)]
    mass = {
        rate: stats.binom(half, rate).pmf(np.arange(half + 1)) for rate in (0.02, 0.05, 0.1, 0.2)
    }
    for share in (10, 35, 50):
        found = [
            misread_rate([Stratum(share, half, k), Stratum(100 - share, half, m)])
            for k, m in outcomes
        ]
        for first, second in itertools.product(mass, repeat=2):
            truth = (share * first + (100 - share) * second) / 100
            held = sum(
                mass[first][k] * mass[second][m]
                for (k, m), one in zip(outcomes, found, strict=True)
                if one.low <= truth + 1e-9 and truth - 1e-9 <= one.high
            )
            assert held > 0.92, (share, first, second)


def test_a_rate_weights_strata_and_says_where_there_is_none() -> None:
    found = misread_rate([Stratum(900, 30, 0), Stratum(100, 30, 15)])
    assert found.value == pytest.approx(0.05)
    assert found.low < 0.05 < found.high
    few = misread_rate([Stratum(900, 5, 0), Stratum(100, 5, 1)])
    assert few.value == pytest.approx(0.02)
    assert math.isnan(few.low)
    assert "too few" in few.few
    assert "decided" in misread_rate([Stratum(900, 30, 0), Stratum(100, 0, 0)]).undefined


REPEATED = 6
"answers with the same text"
FEW = 40
"answers of a draw"


def _answers() -> Iterator[tuple[ReadAnswer, bool]]:
    """Yield the answers of a run and whether the reader misreads them: 4 % of those that pass, 25 %
    of the others.
    """
    for n in range(200):
        ref, every = ("passes", 25) if n < 150 else ("fails", 4)
        one = ReadAnswer(
            ref, "original", "t", False, bytes([n]), b"", "agree", REPEATED if n % 2 else 1
        )
        yield one, n % (2 * every) in (0, 1)


ANSWERS = dict(_answers())
WRONG = {one.prompt for one, wrong in ANSWERS.items() if wrong}
RATE = sum(one.count for one, wrong in ANSWERS.items() if wrong) / sum(one.count for one in ANSWERS)
RULED = {
    (one.prompt, b""): (
        Ruling(
            bytes(16),
            Subject(Ruled.ANSWER, {"prompt": one.prompt.hex(), "text": ""}),
            RulingVerdict.MISREAD if wrong else RulingVerdict.CONFIRMED,
            None,
            "looked",
            "otto",
            "",
        ),
    )
    for one, wrong in ANSWERS.items()
}


def _draw(seed: int) -> ControlSample:
    strata, items = sample_answers([*ANSWERS], str, FEW, seed)
    return ControlSample(
        bytes(16), {}, ReaderCard(ReaderKind.RULE, "r", "1"), seed, strata, "", "", tuple(items)
    )


def _rate(*draws: ControlSample) -> float:
    return RuledControlSample(draws, items_of_all_draws(draws), RULED).rate.value


def test_redrawing_until_the_rate_pleases_moved_the_rate_and_all_draws_together_do_not() -> None:
    seeds, newest, together, stopped = itertools.count(), [], [], []
    for _ in range(150):
        draws = [_draw(next(seeds)) for _ in range(6)]
        pleased = next(
            (n for n, one in enumerate(draws, start=1) if _rate(one) < RATE / 2), len(draws)
        )
        newest.append(_rate(draws[pleased - 1]))  # each draw replaced the one before it
        together.append(_rate(*draws))
        stopped.append(_rate(*draws[:pleased]))
    error = np.std(together) / np.sqrt(len(together))
    assert abs(np.mean(together) - RATE) < 3 * error
    assert np.mean(newest) < RATE - 15 * error
    # Whoever stops as soon as a draw pleases still moves the rate: no estimate but the first draw's
    # is free of that.
    assert RATE - np.mean(newest) > 2 * (RATE - np.mean(stopped))


def test_an_answer_that_several_draws_hold_counts_once_with_the_probability_of_being_in_any() -> (
    None
):
    counted = np.zeros(2)
    for seed in range(0, 200, 2):
        draws = _draw(seed), _draw(seed + 1)
        found = RuledControlSample(draws, items_of_all_draws(draws), RULED)
        strata = {one.name: one for one in found.strata()}
        counted += [strata[name].counted for name in ("passes", "fails")]
        for name, of in draws[0].strata.items():
            assert found.inclusion(name) == pytest.approx(1 - (1 - of.drawn / of.size) ** 2)
            assert strata[name].drawn <= 2 * of.drawn
    sizes = [draws[0].strata[name].size * found.inclusion(name) for name in ("passes", "fails")]
    assert counted / 100 == pytest.approx(np.array(sizes), rel=0.01)
    census = tuple(sample_answers([*ANSWERS], str, 10_000, seed) for seed in (1, 2))
    every = [
        ControlSample(b"", {}, draws[0].reader, 1, strata, "", "", tuple(items))
        for strata, items in census
    ]
    assert _rate(*every) == pytest.approx(RATE)
    assert sum(
        one.counted
        for one in RuledControlSample(tuple(every), items_of_all_draws(every), RULED).strata()
    ) == sum(one.count for one in ANSWERS)


def test_an_answer_of_an_earlier_draw_that_is_open_again_leaves_nothing_out() -> None:
    draws = _draw(1), _draw(2)
    items = items_of_all_draws(draws)
    fails = [one for one in items if one.stratum == "fails"]
    rulings = {at: of for at, of in RULED.items() if at != (fails[3].prompt, fails[3].text)}
    (found,) = [
        one for one in RuledControlSample(draws, items, rulings).strata() if one.name == "fails"
    ]
    assert found.counted <= fails[3].places[0]
    assert found.drawn > found.counted
