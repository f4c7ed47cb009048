"""Merged sampling draws what independent sampling draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from workbench.inference.tree import SampleTree

STOP = 0
NEXT = {
    (): [0.0, 0.5, 0.3, 0.2],
    1: [0.4, 0.3, 0.2, 0.1],
    2: [0.1, 0.2, 0.6, 0.1],
    3: [0.7, 0.1, 0.1, 0.1],
}
"a small Markov chain over the tokens 0 (stop) to 3; (): the first token"


def drawn(n: int, seed: int, longest: int = 3) -> Counter[tuple[int, ...]]:
    tree = SampleTree(n, seed, frozenset({STOP}), longest)
    while tree.rows:
        probabilities = np.array([NEXT[row.tokens[-1] if row.tokens else ()] for row in tree.rows])
        order = np.argsort(-probabilities, axis=1, kind="stable")
        tree.grow(order, np.take_along_axis(probabilities, order, axis=1))
    return tree.finished


def exact(longest: int = 3) -> dict[tuple[int, ...], float]:
    """Return the probability of every answer."""
    found: dict[tuple[int, ...], float] = {}

    def walk(answer: tuple[int, ...], p: float) -> None:
        if len(answer) == longest:
            found[answer] = found.get(answer, 0.0) + p
            return
        for token, q in enumerate(NEXT[answer[-1] if answer else ()]):
            if token == STOP:
                found[answer] = found.get(answer, 0.0) + p * q
            elif q:
                walk((*answer, token), p * q)

    walk((), 1.0)
    return {answer: p for answer, p in found.items() if p}


def test_whole_answers_have_the_exact_distribution() -> None:
    wanted, n = exact(), 40_000
    found = drawn(n, seed=7)
    assert set(found) <= set(wanted)
    statistic = chisquare([found[answer] for answer in wanted], [n * p for p in wanted.values()])
    assert statistic.pvalue > 0.01


@pytest.mark.e2e
def test_many_small_trees_have_the_same_distribution_as_a_large_one() -> None:
    wanted = exact()
    total: Counter[tuple[int, ...]] = Counter()
    for seed in range(4000):
        total += drawn(5, seed)
    assert (
        chisquare(
            [total[answer] for answer in wanted], [20_000 * p for p in wanted.values()]
        ).pvalue
        > 0.01
    )


@settings(max_examples=50)
@given(n=st.integers(1, 300), seed=st.integers(0, 2**32), longest=st.integers(1, 6))
def test_no_sample_is_lost_or_made_up(n: int, seed: int, longest: int) -> None:
    found = drawn(n, seed, longest)
    assert sum(found.values()) == n
    assert max(map(len, found)) <= longest
    assert found == drawn(n, seed, longest)


def test_a_token_of_probability_zero_is_never_drawn() -> None:
    tree = SampleTree(10_000, 1, frozenset({STOP}), 1)
    tree.grow(np.array([[5, 6, 7]]), np.array([[0.5, 0.5, 0.0]]))
    assert set(tree.finished) == {(5,), (6,)}


@pytest.mark.parametrize("n", [1, 30])
def test_one_certain_answer_is_one_row(n: int) -> None:
    tree = SampleTree(n, 1, frozenset({STOP}), 5)
    tree.grow(np.array([[4]]), np.array([[1.0]]))
    assert [(row.tokens, row.count) for row in tree.rows] == [((4,), n)]
