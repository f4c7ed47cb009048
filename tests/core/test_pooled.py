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
from workbench.audits.reliability.pooled import by_coin, pooled_verdicts
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
    """Return the logits of agreement of a made-up model, as the statement puts it: the negation is
    turned back.
    """
    t, s, v, _ = AXES
    parts = [
        (statement, (1, s, 1, 1)),
        (0.4, (1, s, v, 1)),
        (0.2, (t, s, 1, 1)),
        (0.2, (t, 1, 1, 1)),
        (0.2, AXES),
    ]
    return np.asarray(sum(sd * rng.standard_normal(shape) for sd, shape in parts))


def answered(
    logits: npt.NDArray[np.float64], samples: int, rng: np.random.Generator, unread: float = 0.0
) -> Counts:
    """Return so many answers to each prompt of a made-up model, a share of them unreadable."""
    agree = 1 / (1 + np.exp(-logits))
    agree[:, :, -1] = 1 - agree[:, :, -1]
    readable = rng.binomial(samples, 1 - unread, agree.shape)
    positive = rng.binomial(readable, agree)
    there = np.ones(AXES[1:3], dtype=bool)
    agreed, rejected, unread_ = (
        one.astype(np.int32) for one in (positive, readable - positive, samples - readable)
    )
    names = tuple(f"s{n}" for n in range(AXES[1]))
    return Counts(names, VARIANTS, ("a", "b"), agreed, rejected, unread_, there, samples)


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
    assert mcnemar(int((one & ~other).sum()), int((other & ~one).sum())) < 0.001, (
        "verdicts differ by n alone"
    )
    difference = pooled_verdicts(few).difference(pooled_verdicts(many), "all")
    assert difference.low < 0 < difference.high
    assert abs(difference.value) < 0.06
    for report in (few, many):
        assert pooled_verdicts(report).share("all").value == pytest.approx(keep(logits), abs=0.06)


def test_unreadable_answers_alone_do_not_move_what_is_pooled() -> None:
    rng = np.random.default_rng(3)
    logits = persona(rng)
    whole, part = judge(answered(logits, 30, rng)), judge(answered(logits, 30, rng, unread=0.25))
    assert part.passing("all").value < whole.passing("all").value - 0.05
    assert abs(pooled_verdicts(whole).difference(pooled_verdicts(part), "all").value) < 0.06


def test_few_answers_of_which_some_are_unreadable_do_not_move_what_is_pooled() -> None:
    rng = np.random.default_rng(3)
    logits = persona(rng)
    shares = [
        pooled_verdicts(judge(answered(logits, n, rng, unread=0.25))).share("all")
        for n in (6, 30, 120)
    ]
    assert [share.n for share in shares] == [60, 60, 60], "no prompt is unreadable for lack of luck"
    for share in shares:
        assert share.value == pytest.approx(keep(logits), abs=0.08)


def test_whether_a_statement_counts_does_not_depend_on_what_its_other_prompts_say() -> None:
    """Statements with a silent prompt once counted if the others contradicted each other."""
    rng = np.random.default_rng(5)
    counts = answered(persona(rng), 30, rng)
    is_silent = np.zeros(AXES, dtype=bool)
    is_silent[:, ::2, 1] = True
    silent = replace(
        counts,
        positive=np.where(is_silent, 0, counts.positive),
        negative=np.where(is_silent, 0, counts.negative),
        unreadable=np.where(is_silent, 30, counts.unreadable),
    )
    whole, part = pooled_verdicts(judge(counts)), pooled_verdicts(judge(silent))
    assert part.known["all"].tolist() == [row % 2 == 1 for row in range(AXES[1])]
    assert part.share("all").n == 30
    half = whole.passes["all"][:, 1::2].mean()
    assert part.share("all").value == pytest.approx(half, abs=0.06)


@pytest.mark.parametrize("readable", [0.3, 0.65])
def test_statements_that_are_seldom_readable_count_alike_at_any_number_of_answers(
    readable: float,
) -> None:
    """Where a test decided, more answers left out more of the half that has no stance."""
    rng = np.random.default_rng(7)
    logits = persona(rng)
    logits[:, ::2] = 0.0
    shares = []
    for n in (5, 20, 60):
        counts = answered(logits, n, rng)
        seldom = np.zeros(AXES, dtype=bool)
        seldom[:, ::2] = True
        keeps = np.where(seldom, readable, 1.0)
        positive = rng.binomial(counts.positive, keeps)
        negative = rng.binomial(counts.negative, keeps)
        counts = replace(
            counts,
            positive=positive.astype(np.int32),
            negative=negative.astype(np.int32),
            unreadable=(n - positive - negative).astype(np.int32),
        )
        shares.append(pooled_verdicts(judge(counts)).share("all"))
    n_statements = AXES[1] if readable > 0.5 else AXES[1] // 2
    assert [share.n for share in shares] == [n_statements] * 3
    assert max(share.value for share in shares) - min(share.value for share in shares) < 0.12


def test_verdicts_are_compared_at_equal_numbers_of_answers() -> None:
    rng = np.random.default_rng(4)
    logits = persona(rng)
    reports = {"few": judge(answered(logits, 20, rng)), "many": judge(answered(logits, 120, rng))}
    equal, said, untested = at_equal_numbers(reports)
    assert (said[0], untested) == (
        "Verdicts are of 20 answers to a prompt, drawn at random where it has more (seed 1), "
        "because a prompt has unequally many answers (few 20, many 120).",
        "",
    )
    assert {of.counts.sizes for of in equal.values()} == {(20, 20)}
    one, other = (of.over_templates("all") == 1 for of in equal.values())
    assert mcnemar(int((one & ~other).sum()), int((other & ~one).sum())) > 0.05
    assert at_equal_numbers({"few": reports["few"]}) == ({"few": reports["few"]}, (), "")
    settled = replace(reports["many"].counts, until_settled=np.zeros(AXES, dtype=bool))
    assert at_equal_numbers({"few": reports["few"], "many": judge(settled)})[2] == (
        "a prompt has unequally many answers (few 20, many 120), asked until the verdict was "
        "settled"
    )


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 9), st.integers(0, 2**31))
def test_thinning_keeps_what_there_is_and_never_more_than_is_wanted(
    a: int, b: int, unread: int, seed: int
) -> None:
    agreed, rejected, unread_ = (np.full((1, 1, 1, 2), n, dtype=np.int32) for n in (a, b, unread))
    planned = np.full((1, 1, 1, 2), a + b + unread + 3, dtype=np.int32)
    there = np.ones((1, 1), dtype=bool)
    counts = Counts(
        ("s",),
        VARIANTS[:1],
        ("t",),
        agreed,
        rejected,
        unread_,
        there,
        int(planned.max()),
        planned=planned,
    )
    found = thinned(counts, 20, np.random.default_rng(seed))
    wanted = min(20, a + b + unread + 3)
    assert (found.wanted == wanted).all()
    assert (found.total <= wanted).all()
    assert (found.total >= wanted - 3).all(), "three were planned and never drawn"
    assert ((found.positive <= a) & (found.negative <= b) & (found.unreadable <= unread)).all()


def test_sides_at_random_keep_a_stance_as_often_as_coins_fall_alike() -> None:
    coin = by_coin(judge(answered(persona(np.random.default_rng(5)), 10, np.random.default_rng(5))))
    assert coin.share("label_order").value == pytest.approx(0.25, abs=0.02), (
        "two templates, two orders each"
    )
    assert coin.share("paraphrase").value == pytest.approx(1 / 64, abs=0.01)
    assert coin.share("template").value == pytest.approx(0.5, abs=0.02)


def test_a_statement_without_readable_answers_is_left_out_and_a_void_test_is_no_row() -> None:
    counts = answered(persona(np.random.default_rng(6)), 10, np.random.default_rng(6))
    for array in (counts.positive, counts.negative):
        array[:, 0] = 0
    counts.positive[:, 0, 0] = 4  # of 10: less than half
    report = judge(counts, ReliabilityOptions())
    found = pooled_verdicts(report).share("all")
    assert (found.n, found.excluded) == (59, 1)
    assert pooled_verdicts(report).share("opposite").n == 0


def test_a_prompt_is_drawn_towards_its_like_the_less_the_more_it_was_asked() -> None:
    statement = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    few = pooled_shares(
        [1, 9, 9, 9, 2, 2, 2, 2], [10] * 8, [statement], np.random.default_rng(1)
    ).mean(axis=0)
    many = pooled_shares(
        [100, 900, 900, 900, 200, 200, 200, 200], [1000] * 8, [statement], np.random.default_rng(1)
    )
    assert 0.1 < many.mean(axis=0)[0] < few[0]
    assert many.mean(axis=0) == pytest.approx([0.1, 0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.2], abs=0.02)
    with pytest.raises(ValueError, match="found 0 and 1"):
        pooled_shares([], [], [statement], np.random.default_rng(1))


HITS = (
    *(14, 7, 9, 12, 14, 15, 15, 14, 11, 15, 13, 14, 1, 1, 4, 5, 4, 9, 11, 6, 3, 11, 5, 5),
    *(13, 14, 10, 13, 12, 10, 12, 8, 10, 11, 9, 12, 3, 2, 1, 2, 15, 15, 14, 11, 8, 13, 4, 11),
)
"of 15 answers to each of four wordings of twelve statements"
VARIATIONAL = (
    *(
        0.812,
        0.598,
        0.665,
        0.757,
        0.954,
        0.963,
        0.963,
        0.954,
        0.84,
        0.918,
        0.883,
        0.902,
        0.144,
        0.144,
        0.22,
        0.248,
    ),
    *(
        0.386,
        0.558,
        0.626,
        0.455,
        0.305,
        0.576,
        0.37,
        0.37,
        0.853,
        0.874,
        0.777,
        0.853,
        0.755,
        0.694,
        0.755,
        0.629,
    ),
    *(
        0.694,
        0.725,
        0.662,
        0.755,
        0.163,
        0.141,
        0.12,
        0.141,
        0.936,
        0.936,
        0.922,
        0.869,
        0.577,
        0.739,
        0.438,
        0.677,
    ),
)
"""a reference run: `BinomialBayesMixedGLM(…, vcp_p=1.0, fe_p=10).fit_vb()` of statsmodels 0.14,
with effects of statements and wordings; the shares at its posterior means. Its priors of the
deviations are log-normal, and its posterior is variational
"""


def test_shares_are_those_of_a_reference_run() -> None:
    ours = pooled_shares(
        HITS, [15] * 48, [np.arange(48) // 4], np.random.default_rng(1), draws=1500
    ).mean(axis=0)
    assert ours == pytest.approx(VARIATIONAL, abs=0.045)
    assert abs(float((ours - VARIATIONAL).mean())) < 0.01
    alone = np.array(HITS) / 15
    assert np.abs(ours - VARIATIONAL).mean() < np.abs(alone - VARIATIONAL).mean() / 4


@pytest.mark.e2e
def test_the_posterior_is_calibrated() -> None:
    """Simulation-based calibration (Talts et al. 2018): ranks of truths from the prior among draws
    are uniform.
    """
    ranks = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        statement, wording = np.arange(24) // 6, np.arange(24) // 3
        sds = 2 * abs(rng.standard_cauchy()), abs(rng.standard_cauchy()), abs(rng.standard_cauchy())
        parts = (rng.standard_normal(size) * sd for size, sd in zip((4, 8, 24), sds, strict=True))
        of_statement, of_wording, rest = parts
        logits = 10 * rng.standard_normal() + of_statement[statement] + of_wording[wording] + rest
        truth = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        hits = rng.binomial(20, truth)
        drawn = pooled_shares(hits, [20] * 24, [statement, wording], rng, draws=400)[::4].mean(
            axis=1
        )
        ranks.append((drawn < truth.mean()).mean())
    counts, _ = np.histogram(ranks, bins=5, range=(0, 1 + 1e-9))
    expected = len(ranks) / 5
    assert ((counts - expected) ** 2 / expected).sum() < 18.47, (
        f"chi-squared with 4 degrees at .001: {counts}"
    )


def test_single_answers_tell_nothing_of_a_share() -> None:
    rng = np.random.default_rng(7)
    logits = persona(rng)
    single, many = (pooled_verdicts(judge(answered(logits, n, rng))) for n in (1, 30))
    assert "ask for two or more" in single.share("all").undefined
    assert "ask for two or more" in single.difference(many, "all").undefined
    assert many.share("all").defined
