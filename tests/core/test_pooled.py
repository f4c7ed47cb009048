"""Shares by partial pooling, and verdicts that do not depend on the number of answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.audits.comparison.judge import mcnemar
from workbench.audits.reliability.compared import at_equal_numbers
from workbench.audits.reliability.counting import Counts, thinned
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.pooled import by_coin
from workbench.domain.statements import VariantId, VariantKind
from workbench.stats.pooled import pooled_shares

VARIANTS = (
    VariantId(VariantKind.ORIGINAL),
    *(VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2, 3)),
    VariantId(VariantKind.NEGATION),
)
AXES = 2, 60, len(VARIANTS), 2
"templates, statements, wordings, label orders"


def persona(rng: np.random.Generator, statement: float = 1.5) -> npt.NDArray[np.float64]:
    """Return the logits of agreement of a made-up model, as the statement puts it: the negation is turned back."""
    t, s, v, o = AXES
    parts = [(statement, (1, s, 1, 1)), (0.4, (1, s, v, 1)), (0.2, (t, s, 1, 1)), (0.2, (t, 1, 1, 1)), (0.2, AXES)]
    return np.asarray(sum(sd * rng.standard_normal(shape) for sd, shape in parts))


def answered(logits: npt.NDArray[np.float64], samples: int, rng: np.random.Generator, unread: float = 0.0) -> Counts:
    """Return so many answers to each prompt of a made-up model, a share of them unreadable."""
    agree = 1 / (1 + np.exp(-logits))
    agree[:, :, -1] = 1 - agree[:, :, -1]
    readable = rng.binomial(samples, 1 - unread, agree.shape)
    positive = rng.binomial(readable, agree)
    there = np.ones(AXES[1:3], dtype=bool)
    arrays = [array.astype(np.int32) for array in (positive, readable - positive, samples - readable)]
    names = tuple(f"s{n}" for n in range(AXES[1]))
    return Counts(names, VARIANTS, ("a", "b"), *arrays, exists=there, samples=samples)


def keep(logits: npt.NDArray[np.float64]) -> float:
    """Return the share of statements whose every prompt has one side, clearly."""
    agree = 1 / (1 + np.exp(-logits))
    same = (agree > 0.5).all(axis=(2, 3)) | (agree < 0.5).all(axis=(2, 3))
    printed = (np.abs(agree - 0.5) > 0.05)[..., 0].all(axis=2)
    sides = (agree[..., 0] > 0.5).all(axis=2) | (agree[..., 0] < 0.5).all(axis=2)
    first = (agree[:, :, 0] > 0.5).all(axis=2) | (agree[:, :, 0] < 0.5).all(axis=2)
    assert (same <= (sides & first)).all()
    return float((sides & first & printed).all(axis=0).mean())


def test_one_persona_passes_more_often_the_more_it_is_asked_and_is_pooled_alike() -> None:
    rng = np.random.default_rng(2)
    logits = persona(rng)
    few, many = (judge(answered(logits, n, rng)) for n in (20, 120))
    one, other = (of.over_templates("all") == 1 for of in (few, many))
    assert mcnemar(int((one & ~other).sum()), int((other & ~one).sum())) < 0.001, "verdicts differ by n alone"
    difference = few.pooled.difference(many.pooled, "all")
    assert difference.low < 0 < difference.high
    assert abs(difference.value) < 0.06
    for report in (few, many):
        assert report.pooled.share("all").value == pytest.approx(keep(logits), abs=0.06)


def test_unreadable_answers_alone_do_not_move_what_is_pooled() -> None:
    rng = np.random.default_rng(3)
    logits = persona(rng)
    whole, part = judge(answered(logits, 30, rng)), judge(answered(logits, 30, rng, unread=0.25))
    assert part.passing("all").value < whole.passing("all").value - 0.05
    assert abs(whole.pooled.difference(part.pooled, "all").value) < 0.06


def test_verdicts_are_compared_at_equal_numbers_of_answers() -> None:
    rng = np.random.default_rng(4)
    logits = persona(rng)
    reports = {"few": judge(answered(logits, 20, rng)), "many": judge(answered(logits, 120, rng))}
    equal, said, untested = at_equal_numbers(reports)
    assert (said[0], untested) == (
        "Verdicts are of 20 answers a prompt, drawn at random where there are more (seed 1): few 20, many 120.",
        "",
    )
    assert {of.counts.sizes for of in equal.values()} == {(20, 20)}
    one, other = (of.over_templates("all") == 1 for of in equal.values())
    assert mcnemar(int((one & ~other).sum()), int((other & ~one).sum())) > 0.05
    assert at_equal_numbers({"few": reports["few"]}) == ({"few": reports["few"]}, (), "")
    settled = replace(reports["many"].counts, until_settled=np.zeros(AXES, dtype=bool))
    assert at_equal_numbers({"few": reports["few"], "many": judge(settled)})[2] == (
        "a prompt has unequally many answers (few 20, many 120), asked until the verdict was settled"
    )


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 9), st.integers(0, 2**31))
def test_thinning_keeps_what_there_is_and_never_more_than_is_wanted(a: int, b: int, unread: int, seed: int) -> None:
    arrays = [np.full((1, 1, 1, 2), n, dtype=np.int32) for n in (a, b, unread)]
    planned = np.full((1, 1, 1, 2), a + b + unread + 3, dtype=np.int32)
    there = np.ones((1, 1), dtype=bool)
    counts = Counts(("s",), VARIANTS[:1], ("t",), *arrays, exists=there, samples=int(planned.max()), planned=planned)
    found = thinned(counts, 20, np.random.default_rng(seed))
    wanted = min(20, a + b + unread + 3)
    assert (found.wanted == wanted).all()
    assert (found.total <= wanted).all()
    assert (found.total >= wanted - 3).all(), "three were planned and never drawn"
    assert ((found.positive <= a) & (found.negative <= b) & (found.unreadable <= unread)).all()


def test_sides_at_random_keep_a_stance_as_often_as_coins_fall_alike() -> None:
    coin = by_coin(judge(answered(persona(np.random.default_rng(5)), 10, np.random.default_rng(5))))
    assert coin.share("label_order").value == pytest.approx(0.25, abs=0.02), "two templates, two orders each"
    assert coin.share("paraphrase").value == pytest.approx(1 / 64, abs=0.01)
    assert coin.share("template").value == pytest.approx(0.5, abs=0.02)


def test_a_statement_without_readable_answers_is_left_out_and_a_void_test_is_no_row() -> None:
    counts = answered(persona(np.random.default_rng(6)), 10, np.random.default_rng(6))
    for array in (counts.positive, counts.negative):
        array[:, 0] = 0
    report = judge(counts, ReliabilityOptions())
    found = report.pooled.share("all")
    assert (found.n, found.excluded) == (59, 1)
    assert report.pooled.share("opposite").n == 0


def test_a_prompt_is_drawn_towards_its_like_the_less_the_more_it_was_asked() -> None:
    statement = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    few = pooled_shares([1, 9, 9, 9, 2, 2, 2, 2], [10] * 8, [statement], np.random.default_rng(1)).mean(axis=0)
    many = pooled_shares([100, 900, 900, 900, 200, 200, 200, 200], [1000] * 8, [statement], np.random.default_rng(1))
    assert 0.1 < many.mean(axis=0)[0] < few[0]
    assert many.mean(axis=0) == pytest.approx([0.1, 0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.2], abs=0.02)
    with pytest.raises(ValueError, match="found 0 and 1"):
        pooled_shares([], [], [statement], np.random.default_rng(1))
