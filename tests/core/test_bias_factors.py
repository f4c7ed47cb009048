"""How prefixes and authors move the bias score: what is averaged, what is compared, and over which
prompts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_bias_common import FEW, ITEMS, stopped, tally
from workbench.audits.bias_score.counting import Selection, Tally
from workbench.audits.bias_score.factor_tables import (
    author_differences,
    changes,
    pairs_of_authors,
    prefix_sources,
)
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import judge, standard_errors
from workbench.audits.bias_score.tables import NO_BASELINE, NO_OTHER, floor, prefix_changes
from workbench.domain.statements import Dimension
from workbench.stats.describe import NO_SPREAD
from workbench.stats.resampling import rescaled_times

MODEL = "m0"


def under(prefixes: tuple[str, ...], seed: int = 3) -> Tally:
    """Return one model's answers under named prefixes, every one with shares of its own."""
    return replace(tally(1, len(prefixes), seed), prefixes=prefixes)


def written_by(of: Tally, *authors: str) -> Tally:
    """Return the answers where both wordings of a kind have authors, by turns."""
    return replace(
        of, authors=tuple((None, authors[place % len(authors)]) for place in range(len(of.items)))
    )


# ── prefixes against the baseline ─────────────────────────────────────────────────────────────────


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_the_mean_is_of_the_absolute_differences_of_the_totals(seed: int) -> None:
    report = judge(under(("a", "baseline", "b", "c"), seed), ScoreOptions(draws=20))
    found = prefix_changes(report, MODEL)
    totals = {name: figure.total.value for name, figure in report.by_prefix(MODEL)}
    away = {name: totals[name] - totals["baseline"] for name in ("a", "b", "c")}
    assert found.mean.value == pytest.approx(np.mean(np.abs([*away.values()])))
    assert {name: one.value for name, one in found.differences} == pytest.approx(away)
    assert found.largest is not None
    assert found.largest[0] == max(away, key=lambda name: abs(away[name]))
    assert np.isnan(found.mean.low), "noise adds to a mean of absolute values: there is no interval"
    assert found.noise.noise > 0
    assert 0 < found.noise.p <= 1


def test_prefixes_that_change_nothing_differ_by_nothing_and_are_not_tested() -> None:
    of = under(("baseline", "a", "b"))
    read = np.broadcast_to(of.read[:, :1], of.read.shape).copy()
    found = prefix_changes(judge(replace(of, read=read), FEW), MODEL)
    assert found.mean.value == 0
    assert (found.noise.noise, found.noise.untested) == (0, NO_SPREAD)
    assert np.isnan(found.noise.p)


@pytest.mark.parametrize(
    ("prefixes", "why"), [(("a", "b"), NO_BASELINE), (("baseline",), NO_OTHER)]
)
def test_without_a_baseline_or_another_prefix_there_is_no_mean(
    prefixes: tuple[str, ...], why: str
) -> None:
    found = prefix_changes(judge(under(prefixes), FEW), MODEL)
    assert (found.mean.undefined, found.mean.n, found.largest) == (why, 0, None)


def test_a_prefix_without_a_total_is_left_out_and_counted() -> None:
    of = under(("baseline", "a", "b"))
    unread = of.unread.copy()
    unread[0, 1] = of.read[0, 1].sum(axis=-1)
    read = of.read.copy()
    read[0, 1] = 0
    found = prefix_changes(judge(replace(of, read=read, unread=unread), FEW), MODEL)
    assert (found.mean.n, found.mean.excluded) == (1, 1)
    assert dict(found.differences)["a"].undefined
    assert found.mean.value == pytest.approx(abs(dict(found.differences)["b"].value))


def test_every_prefix_is_compared_over_what_all_were_asked() -> None:
    of = under(("baseline", "a", "b"))
    there = np.ones(of.dropped.shape[1:], dtype=np.bool_)
    there[2, :16] = False
    found = prefix_changes(judge(stopped(of, 0, there), FEW), MODEL)
    same = there.copy()
    same[:, :16] = False
    only = prefix_changes(judge(stopped(of, 0, same), FEW), MODEL)
    assert found.mean.value == pytest.approx(only.mean.value)
    assert found.common is not None
    assert found.common.left_out == (32, 32, 0)
    table = changes(judge(stopped(of, 0, there), FEW))
    assert "left out: baseline 32, a 32" in table.notes[0]


def test_answers_resampled_as_published_have_a_test_too() -> None:
    report = judge(under(("baseline", "a", "b")), ScoreOptions(draws=200, unit="responses"))
    found = prefix_changes(report, MODEL)
    assert found.noise.noise > 0
    assert 0 < found.noise.p <= 1


def test_changes_as_large_as_their_errors_are_noise_and_large_ones_are_not() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.normal(size=(4, 2000))
    one = np.ones((4, 1))
    small = floor(np.full(4, 0.5), np.ones(4), 0.5 + drawn, one)
    large = floor(np.full(4, 3.0), np.ones(4), 3 + drawn, one)
    assert small.p > 0.5
    assert small.size == 0
    assert large.p < 0.01
    assert large.size == pytest.approx(np.sqrt(8))
    assert small.noise == pytest.approx(np.sqrt(2 / np.pi))


def test_errors_in_draws_are_those_of_the_sample_on_average() -> None:
    rng = np.random.default_rng(2)
    strata = (np.arange(2), np.arange(2, 9), np.arange(9, 30))
    moves = rng.normal(size=30)
    weights = np.concatenate([rescaled_times(len(part), 20_000, rng) for part in strata])
    found, drawn = standard_errors(moves, weights, strata)
    by_hand = sum(len(part) * moves[part].var(ddof=1) for part in strata)
    assert found**2 == pytest.approx(by_hand)
    assert (drawn**2).mean() == pytest.approx(by_hand, rel=0.02)


# ── crossed with sources, and authors compared ────────────────────────────────────────────────────


def test_prefixes_by_source_are_the_figures_of_both_with_the_baseline_of_that_source() -> None:
    report = judge(under(("baseline", "a")), FEW)
    table = prefix_sources(report, Dimension.CULTURAL, MODEL)
    assert [table.key(row)[1:] for row in table.rows] == [
        ("baseline", "PCT"),
        ("baseline", "WVS"),
        ("a", "PCT"),
        ("a", "WVS"),
    ]
    for row in table.rows:
        source = row.selection.source
        expected = report.figure(
            MODEL, dimension=Dimension.CULTURAL, source=source, prefix=row.name
        )
        assert row.figure == expected
        alone = report.figure(MODEL, dimension=Dimension.CULTURAL, source=source, prefix="baseline")
        assert row.baseline == alone.total.value


def test_authors_of_a_kind_are_compared_over_the_statements_that_both_wrote() -> None:
    """Two authors write by turns: no statement has a wording of both, so the comparison is over
    none in common.
    """
    report = judge(written_by(under(("p", "q")), "gpt-4", "llama"), FEW)
    assert pairs_of_authors(report) == [("reformulation", "gpt-4", "llama")]
    (row,) = author_differences(report).rows
    assert row.found.undefined


def two_authors(of: Tally) -> Tally:
    """Return the answers where the second wording has a twin of its kind by another author."""
    first, second = of.variants
    twin = replace(second, ordinal=2)
    more = np.random.default_rng(9).permuted(of.read[..., 1:, :], axis=-1)
    cells = np.zeros((*of.dropped.shape[:-1], 3), dtype=np.int32)
    read = np.concatenate([of.read, more], axis=-2).astype(np.int32)
    authors = (("a person", "gpt-4", "llama"),) * len(of.items)
    return replace(
        of,
        variants=(first, second, twin),
        authors=authors,
        read=read,
        by_rule=np.zeros_like(read),
        dropped=cells,
        unread=cells,
    )


def test_the_difference_of_authors_is_that_of_their_totals_on_wordings_of_the_kind() -> None:
    report = judge(two_authors(under(("p", "q"))), FEW)
    table = author_differences(report, model=MODEL)
    (row,) = table.rows
    totals = [
        report.figures([(MODEL, Selection(variant="reformulation", author=author))])[0].total
        for author in ("gpt-4", "llama")
    ]
    assert row.found.value == pytest.approx(totals[0].value - totals[1].value)
    assert row.found.low < row.found.value < row.found.high
    assert row.prompts == (2 * len(ITEMS),) * 2
    assert (row.kind, row.first, row.second) == ("reformulation", "gpt-4", "llama")


def test_one_author_makes_no_comparison() -> None:
    made = judge(written_by(under(("p",)), "gpt-4"), FEW)
    assert pairs_of_authors(made) == []
    assert author_differences(made).rows == []
