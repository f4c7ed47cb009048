"""Verdicts on exact label probabilities, and what sampling would be expected to say."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_reliability import VARIANTS
from workbench.audits.codes import FAIL, INSUFFICIENT, PASS
from workbench.audits.reliability.counting import ALL, PRINTED, TEMPLATE, Counts
from workbench.audits.reliability.expected import (
    AGREE,
    DISAGREE,
    FEW,
    TIE,
    ExactReport,
    LabelMass,
    judge,
)
from workbench.audits.reliability.judge import judge as judge_samples
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.domain.prompts import FREE_TEXT, LIKERT, Template
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.readers.lexicon import continues_word
from workbench.readers.verbalizers import first_verbalizers, verbalizers
from workbench.stats.proportions import is_reliable

EVERY = (*TESTS, ALL, TEMPLATE)


def mass(
    statements: int = 1, templates: int = 2, p: float = 0.9, named: float = 0.8, **changes: Any
) -> LabelMass:
    """A consistent model: agrees with originals and paraphrases with leaning p, rejects the others
    as clearly.
    """
    shape = (templates, statements, len(VARIANTS), 2)
    leaning = np.full(shape, p)
    leaning[:, :, 3:] = 1 - p
    made = LabelMass(
        statements=tuple(f"s{number}" for number in range(statements)),
        variants=VARIANTS,
        templates=tuple(f"t{number}" for number in range(templates)),
        positive=named * leaning,
        negative=named * (1 - leaning),
        exists=np.ones((statements, len(VARIANTS)), dtype=np.bool_),
    )
    return replace(made, **changes)


def leaning_to(base: LabelMass, at: tuple[int, ...], p: float, named: float = 0.8) -> LabelMass:
    """Change what the model thinks of one prompt."""
    positive, negative = base.positive.copy(), base.negative.copy()
    positive[at], negative[at] = named * p, named * (1 - p)
    return replace(base, positive=positive, negative=negative)


def random_mass(rng: np.random.Generator, statements: int, templates: int = 2) -> LabelMass:
    """Leanings over the whole range, near the limits and at the ends, with labels of all sizes;
    wordings missing.
    """
    shape = (templates, statements, len(VARIANTS), 2)
    leaning = rng.choice([0.0, 0.3, 0.5, 0.65, 0.75, 1.0], size=shape) * 0.7 + 0.3 * rng.random(
        shape
    )
    leaning = np.where(rng.random(shape) < 0.2, np.round(leaning), leaning)
    named = rng.choice([0.5, 0.7, 0.9, 1.0], size=shape)
    exists = rng.random((statements, len(VARIANTS))) < 0.85
    scored = (rng.random(shape) < 0.97) & exists[None, :, :, None]
    return LabelMass(
        tuple(map(str, range(statements))),
        VARIANTS,
        tuple(f"t{n}" for n in range(templates)),
        np.where(scored, named * leaning, np.nan),
        np.where(scored, named * (1 - leaning), np.nan),
        exists,
        rng.choice([-1, 0, 1], size=exists.shape, p=[0.45, 0.1, 0.45]).astype(np.int8),
    )


def test_a_consistent_model_passes_every_test_and_its_leaning_is_the_share_among_the_labels() -> (
    None
):
    report = judge(mass())
    assert all((report.verdicts(test) == PASS).all() for test in EVERY)
    assert report.leaning[0, 0, 0, PRINTED] == pytest.approx(0.9)
    assert report.mass.named[0, 0, 0, PRINTED] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.45, FAIL), (0.55, FAIL), (0.449, PASS), (0.551, PASS), (0.5, FAIL)]
)
def test_a_prompt_leans_clearly_where_its_leaning_lies_outside_the_limits(
    p: float, verdict: int
) -> None:
    report = judge(leaning_to(mass(), (0, 0, 0, PRINTED), p))
    assert report.verdicts("sampling")[0, 0] == verdict
    assert report.verdicts("sampling")[1, 0] == PASS


def test_a_tie_has_no_stance_and_fails_what_compares_it() -> None:
    report = judge(leaning_to(mass(), (0, 0, 0, PRINTED), 0.5))
    for test in ("sampling", "paraphrase", "negation", "opposite", "label_order"):
        assert report.verdicts(test)[0, 0] == FAIL
    assert report.counts.total[0, 0, 0, PRINTED] == 1, "it was asked all the same"


def test_labels_with_too_little_probability_are_insufficient_and_the_reason_says_how_little() -> (
    None
):
    base = leaning_to(mass(), (0, 0, 3, PRINTED), 0.0, named=0.04)
    report = judge(base)
    assert report.verdicts("negation")[0, 0] == INSUFFICIENT
    assert "negation: only 4.00% of the probability on its labels, 5.00% needed" in report.reason(
        "s0", "t0", "negation"
    )
    assert judge(base, ReliabilityOptions(named=0.01)).verdicts("negation")[0, 0] == PASS


def test_reasons_have_the_exact_shares() -> None:
    report = judge(leaning_to(mass(), (0, 0, 3, PRINTED), 0.52))
    said = report.reason("s0", "t0", "negation")
    assert said == "original agree 90.0%, negation agree 52.0%: expected to flip"
    assert (
        report.reason("s0", "t0", "sampling")
        == "negation agree 52.0%: expected below 45 % or above 55 %"
    )
    unscored = judge(leaning_to(mass(), (0, 0, 3, PRINTED), math.nan))
    assert unscored.reason("s0", "t0", "negation") == "negation not scored"


def test_kappas_over_statements_are_those_of_the_stances() -> None:
    rng = np.random.default_rng(5)
    base = random_mass(rng, 40)
    report = judge(base)
    signs = np.nan_to_num(np.sign(base.positive - base.negative))
    assert (report.stances == np.where(report.has_stance_data, signs, 0)).all()
    assert {row.name for row in report.agreement()} == {
        "paraphrase",
        "negation",
        "opposite",
        "label_order",
    }
    assert all(row.raw[0].n > 0 for row in report.agreement())


# ── the sampling verdict beside it ────────────────────────────────────────────────────────────────


def test_one_prompt_by_hand() -> None:
    """Three samples, of which two have to be readable; p = .75 and 20 % of the answers name no
    label.
    """
    rule = ReliabilityOptions(minimum=2, low=0.5, high=0.5, beside=3, with_unreadable=True)
    base = leaning_to(mass(), (0, 0, 0, PRINTED), 0.75, named=0.8)
    found = judge(base, rule).expected
    a, b, c = 0.6, 0.2, 0.2
    two, three = 3 * c, 1.0
    agree = two * a * a + three * (a**3 + 3 * a * a * b)
    disagree = two * b * b + three * (b**3 + 3 * b * b * a)
    tie, few = two * 2 * a * b, c**3 + 3 * c * c * (a + b)
    at = (0, 0, 0, PRINTED)
    assert found.stances[at] == pytest.approx([agree, disagree, tie, few])
    clear = [[is_reliable(k, m, low=0.5, high=0.5) for k in range(m + 1)] for m in range(4)]
    ways = {
        (2, 0): two * b * b,
        (2, 1): tie,
        (2, 2): two * a * a,
        (3, 0): b**3,
        (3, 1): 3 * a * b * b,
        (3, 2): 3 * a * a * b,
        (3, 3): a**3,
    }
    assert found.reliable[at] == pytest.approx(sum(p for (m, k), p in ways.items() if clear[m][k]))


@pytest.mark.parametrize("unreadable", [False, True])
@pytest.mark.parametrize("rule", ["printed", "coded"])
def test_probabilities_are_those_that_simulated_samples_come_to(
    unreadable: bool, rule: str
) -> None:
    """Against 4,000 simulated audits through the real verdicts, every test of every statement."""
    rng = np.random.default_rng(11)
    base, samples, repeats = random_mass(rng, 6), 9, 4000
    tests = ("sampling", "paraphrase", "label_order")
    options = ReliabilityOptions(
        rule=rule,
        low=0.4,
        high=0.6,
        minimum=6,
        tests=tests,
        beside=samples,
        with_unreadable=unreadable,
    )
    found = judge_samples(simulated(judge(again(base, repeats), options), rng), options)
    report = judge(base, options)
    for test in EVERY:
        codes, wanted = found.verdicts(test), report.expected.of(test)
        codes = codes.reshape(*codes.shape[:-1], repeats, len(base.statements))
        for code, p in ((PASS, wanted.passed), (FAIL, wanted.failed)):
            share = (codes == code).mean(axis=-2)
            assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / repeats) + 1e-9).all(), test


def again(base: LabelMass, repeats: int) -> LabelMass:
    """Return the same statements many times over."""
    sides = [np.tile(side, (1, repeats, 1, 1)) for side in (base.positive, base.negative)]
    assert base.relations is not None
    return replace(
        base,
        statements=tuple(f"{ref}-{n}" for n in range(repeats) for ref in base.statements),
        positive=sides[0],
        negative=sides[1],
        exists=np.tile(base.exists, (repeats, 1)),
        relations=np.tile(base.relations, (repeats, 1)),
    )


def simulated(report: ExactReport, rng: np.random.Generator) -> Counts:
    """Draw the answers that a model with these probabilities gives."""
    base, n = report.mass, report.options.beside
    sides = [np.nan_to_num(side) for side in (base.positive, base.negative)]
    if not report.options.with_unreadable:
        named = np.where(sides[0] + sides[1] > 0, sides[0] + sides[1], 1)
        sides = [side / named for side in sides]
    thirds = np.stack([*sides, np.maximum(0, 1 - sides[0] - sides[1])], axis=-1)
    drawn = rng.multinomial(n, thirds / thirds.sum(axis=-1, keepdims=True)).astype(np.int32)
    positive, negative, unreadable = (np.where(base.scored, drawn[..., at], 0) for at in range(3))
    return replace(report.counts, positive=positive, negative=negative, unreadable=unreadable)


@pytest.mark.parametrize("unreadable", [False, True])
def test_a_model_without_doubt_is_judged_by_samples_as_it_is(unreadable: bool) -> None:
    report = judge(mass(p=1.0, named=1.0), ReliabilityOptions(with_unreadable=unreadable))
    for test in EVERY:
        assert (report.expected.of(test).passed == 1.0).all()
        assert (report.expected.of(test).failed == 0.0).all()
    other = judge(mass(p=0.0, named=1.0), ReliabilityOptions(with_unreadable=unreadable))
    assert (other.expected.stances[..., :3, PRINTED, DISAGREE] == 1.0).all()


def test_an_even_prompt_is_almost_never_reliable_with_thirty_samples() -> None:
    """0-8 and 22-30 of 30 are clear under the printed rule: 2 P(X <= 8) of Binomial(30, 1/2) =
    .01612.
    """
    report = judge(leaning_to(mass(), (0, 0, 0, PRINTED), 0.5))
    by_hand = 2 * sum(math.comb(30, k) for k in range(9)) / 2**30
    assert report.expected.reliable[0, 0, 0, PRINTED] == pytest.approx(by_hand)
    assert round(by_hand, 4) == 0.0161


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 12))
def test_swapping_the_labels_swaps_the_stances_and_nothing_else(
    seed: int, unreadable: bool, samples: int
) -> None:
    base = random_mass(np.random.default_rng(seed), 3)
    turned = replace(base, positive=base.negative, negative=base.positive)
    options = ReliabilityOptions(beside=samples, with_unreadable=unreadable)
    left, right = judge(base, options), judge(turned, options)
    order = [DISAGREE, AGREE, TIE, FEW]
    assert np.allclose(left.expected.stances, right.expected.stances[..., order])
    assert (left.stances == -right.stances).all()
    for test in EVERY:
        assert (left.verdicts(test) == right.verdicts(test)).all()
        assert np.allclose(left.expected.of(test).passed, right.expected.of(test).passed)
        assert np.allclose(left.expected.of(test).failed, right.expected.of(test).failed)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans())
def test_probabilities_add_up_and_all_is_no_likelier_than_its_parts(
    seed: int, unreadable: bool
) -> None:
    base = random_mass(np.random.default_rng(seed), 3)
    found = judge(base, ReliabilityOptions(beside=10, with_unreadable=unreadable)).expected
    assert np.allclose(found.stances.sum(axis=-1), 1)
    every = found.of(ALL)
    assert (every.passed + every.failed <= 1 + 1e-9).all()
    for test in TESTS:
        assert (
            every.passed <= np.where(found.of(test).void, 1.0, found.of(test).passed) + 1e-9
        ).all()
        assert (every.failed >= found.of(test).failed - 1e-9).all()


def test_with_more_samples_the_expected_verdict_comes_near_the_exact_one() -> None:
    base = leaning_to(mass(p=0.8), (0, 0, 3, PRINTED), 0.7)
    shares = [
        judge(base, ReliabilityOptions(beside=n)).expected.of(ALL).failed[0, 0]
        for n in (10, 30, 100)
    ]
    assert judge(base).verdicts(ALL)[0, 0] == FAIL
    assert shares[-1] > 0.9999
    assert judge(mass(p=0.7), ReliabilityOptions(beside=200)).expected.of(ALL).passed.min() > 0.95


def test_expected_numbers_of_statements_stand_beside_the_passes() -> None:
    report = judge(mass(statements=4, p=0.8))
    rows = {row.test: row for row in report.expected_summary()}
    by_hand = 4 * report.expected.of("sampling").passed[0, 0]
    assert rows["sampling"].passed == pytest.approx((by_hand, by_hand))
    assert len(rows[TEMPLATE].passed) == 1
    assert report.expected.over_templates(ALL) == pytest.approx(
        report.expected.of(ALL).passed.prod(axis=0)
    )


@pytest.mark.parametrize("unreadable", [False, True])
def test_all_17208_prompts_are_judged_in_well_under_a_second(unreadable: bool) -> None:
    base = random_mass(np.random.default_rng(1), 239, templates=6)
    began = time.perf_counter()
    report = judge(base, ReliabilityOptions(with_unreadable=unreadable))
    report.expected_summary()
    assert time.perf_counter() - began < 2.0, "0.3 s on two cores"


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="give 0 to 1"):
        ReliabilityOptions(named=1.5)
    with pytest.raises(UsageError, match=r"minimum of 20 .* more than the 10"):
        judge(mass(), ReliabilityOptions(minimum=20, beside=10))
    with pytest.raises(UsageError, match="give 1 to 200"):
        _ = judge(mass(), ReliabilityOptions(beside=201)).expected
    with pytest.raises(ValueError, match="more than 1"):
        mass(positive=np.ones((2, 1, 5, 2)))


# ── forms of labels ───────────────────────────────────────────────────────────────────────────────


def template(positive: str, negative: str, **changes: Any) -> Template:
    return Template("t", False, "{statement}", positive, negative, **changes)


def test_a_label_is_scored_in_every_case_after_a_blank_a_quotation_mark_and_asterisks() -> None:
    forms = verbalizers(template("favorable", "unfavorable"))
    cases = ("favorable", "Favorable", "FAVORABLE")
    assert set(forms.positive) == {
        b + m + c for b in ("", " ") for m in ("", '"', "*", "**") for c in cases
    }
    assert len(forms.all) == len(set(forms.all)) == 48
    assert {"Strongly agree", "strongly agree", ' "STRONGLY AGREE'} <= set(
        verbalizers(template("Strongly agree", "disagree")).positive
    )
    assert first_verbalizers(template("favorable", "unfavorable")).positive == (
        "favorable",
        "Favorable",
    )
    assert first_verbalizers(template("Ja", "Nein", chat=False)).all == (" Ja", " Nein")


@given(
    st.text(min_size=1, max_size=9).filter(str.strip),
    st.text(min_size=1, max_size=9).filter(str.strip),
)
def test_no_spelling_that_ends_its_word_is_the_beginning_of_another(
    positive: str, negative: str
) -> None:
    """Then an answer begins with at most one of them, and their probabilities add up."""
    try:
        forms = verbalizers(template(positive, negative))
    except UsageError:
        return
    for side, others in ((forms.positive, forms.negative), (forms.negative, forms.positive)):
        for form in side:
            assert not any(
                o.startswith(form) and not continues_word(o[len(form) :]) for o in others
            )


def test_labels_that_only_share_their_first_letters_are_told_apart_by_the_end_of_the_word() -> None:
    assert verbalizers(template("no", "none")).positive[0] == "no"
    assert verbalizers(template("agree", "agreement")).negative[0] == "agreement"


def test_labels_of_which_one_begins_with_the_other_are_refused() -> None:
    with pytest.raises(UsageError, match="one begins with the other"):
        verbalizers(template("support", "support not"))
    with pytest.raises(UsageError, match="one begins with the other"):
        verbalizers(template("yes", "Yes, but"))


@pytest.mark.parametrize("scale", [LIKERT, FREE_TEXT])
def test_templates_without_labels_are_refused(scale: str) -> None:
    with pytest.raises(UsageError, match="not one of two labels"):
        verbalizers(template("agree", "disagree", scale=scale))


def test_rows_of_a_statement_have_the_probabilities_and_what_samples_would_say() -> None:
    report = judge(mass(p=0.9, named=0.5))
    first, *_ = rows = report.exact_rows("s0", "t0")
    assert [row.row.variant for row in rows][: len(VARIANTS)] == [str(v) for v in VARIANTS]
    assert first.row.variant == str(ORIGINAL)
    assert (first.positive, first.negative, first.named) == pytest.approx((0.45, 0.05, 0.5))
    assert first.reliable == pytest.approx(float(report.expected.reliable[0, 0, 0, PRINTED]))
    assert first.agree + first.disagree + first.tie + first.few == pytest.approx(1)
