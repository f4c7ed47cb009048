"""Where the spread of a bias score comes from, on answers whose components are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.core.test_bias_score import items, tally
from workbench.audits.bias_score.book import figures_book
from workbench.audits.bias_score.factors import cells, components
from workbench.audits.bias_score.score import BiasReport, judge
from workbench.domain.statements import ORIGINAL, Dimension, Side, VariantId, VariantKind
from workbench.stats.components import FEW, SAMPLING, STATEMENT, TEMPLATE, WORDING, decompose

OPPOSITE = VariantId(VariantKind.POLITICAL_OPPOSITE, 1)
SIDES = (Side.LEFT, Side.RIGHT) * 12
SIGNS = np.array([-1.0, 1.0] * 12)


def report(lean: Any, samples: int = 40, seed: int = 1) -> BiasReport:
    """Return a report of a model whose net share for the right has these expectations: (P, S,
    W).
    """
    rng = np.random.default_rng(seed)
    agree = (
        1 + lean * SIGNS[:, None] * np.array([1.0, -1.0])
    ) / 2  # the second wording is the political opposite
    k = rng.binomial(samples, agree)
    read = np.zeros((*k.shape, 4), dtype=np.int32)
    read[..., 0], read[..., 1] = k, samples - k
    return judge(tally(items(*SIDES), read, variants=(ORIGINAL, OPPOSITE)))


def values(of: BiasReport) -> dict[str, float]:
    return {one.name: one.raw for one in decompose(cells(of, "m0", None), 1.0).components}


def test_two_sides_that_are_answered_alike_differ_in_nothing_however_far_apart_their_means_are() -> (
    None
):
    lean = np.broadcast_to(0.4 + 0.5 * SIGNS[:, None], (5, 24, 2)) * 0.9
    found = values(report(lean, samples=400))
    assert all(abs(value) < 2e-3 for value in found.values())
    assert found[SAMPLING] > 0


def test_what_moves_statements_wordings_and_prefixes_is_told_apart() -> None:
    rng = np.random.default_rng(2)
    s, w, p = (
        scale * rng.choice([-1, 1], size) for scale, size in ((0.3, 24), (0.2, (24, 2)), (0.1, 8))
    )
    found = values(report(s[:, None] + w + p[:, None, None], samples=400))
    by_side = [np.var((s[:, None] + w).mean(axis=1)[side == SIGNS], ddof=1) for side in (-1, 1)]
    wording = np.mean(w.var(axis=1, ddof=1))
    assert found[WORDING] == pytest.approx(wording, rel=0.05)
    assert found[STATEMENT] == pytest.approx(np.mean(by_side) - wording / 2, rel=0.05)
    assert found[TEMPLATE] == pytest.approx(p.var(ddof=1), rel=0.15)


def test_sampling_is_that_of_the_net_share() -> None:
    found = values(report(np.zeros((4, 24, 2)), samples=20))
    assert found[SAMPLING] == pytest.approx(1 / 20, rel=0.1)


def test_the_book_and_its_table_say_what_was_found() -> None:
    of = report(np.full((2, 24, 2), 0.3))
    table = figures_book(of).table("components")
    assert [row.component.name for row in table.rows][:2] == [STATEMENT, WORDING]
    assert any(FEW in note and "3 prefixes" in note for note in table.notes), "two prefixes"
    assert not components(of, Dimension.CULTURAL).rows
