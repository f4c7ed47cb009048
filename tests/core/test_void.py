"""Tests that cannot fail are void: shown, counted, in no denominator; judged like the others where
that is asked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_exact import again, mass, random_mass, simulated
from tests.core.test_reliability import VARIANTS, answered, counts
from workbench.audits.codes import FAIL, INSUFFICIENT, PASS, VOID, conjunction, verdict
from workbench.audits.consistency.stances import reliable_stances
from workbench.audits.reliability.agreement import relations_of
from workbench.audits.reliability.counting import (
    ALL,
    PRINTED,
    SWAPPED,
    TEMPLATE,
    Counts,
    random_baseline,
)
from workbench.audits.reliability.expected import judge as judge_exact
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    RELATION_OF,
    Relation,
    Statement,
    VariantKind,
    Wording,
)
from workbench.domain.verdicts import Verdict
from workbench.stats.agreement import NO_PAIRS

PARA_1, PARA_2, NEG, OPP = 1, 2, 3, 4
EVERY = (*TESTS, ALL, TEMPLATE)


def told_apart(base: Counts) -> Counts:
    """Say which prompts there are: each its own."""
    numbers = np.arange(base.positive.size, dtype=np.int64).reshape(base.positive.shape)
    return replace(base, prompts=numbers)


def one_prompt(base: Counts, *places: tuple[int, ...]) -> Counts:
    """Let these places ask the first one's prompt and have its answers."""
    assert base.prompts is not None
    arrays = [
        array.copy() for array in (base.prompts, base.positive, base.negative, base.unreadable)
    ]
    for array in arrays:
        for place in places[1:]:
            array[place] = array[places[0]]
    return replace(
        base, prompts=arrays[0], positive=arrays[1], negative=arrays[2], unreadable=arrays[3]
    )


def both_orders(base: Counts, template: int, statement: int = 0) -> Counts:
    """Put the original alike in both label orders of a template."""
    return one_prompt(base, (template, statement, 0, PRINTED), (template, statement, 0, SWAPPED))


def test_one_text_for_both_label_orders_voids_the_test_under_that_template_alone() -> None:
    report = judge(both_orders(told_apart(counts(3)), 0, 1))
    assert report.verdicts("label_order").tolist() == [[PASS, VOID, PASS], [PASS, PASS, PASS]]
    assert report.over_templates("label_order").tolist() == [PASS] * 3
    row = next(row for row in report.summary() if row.test == "label_order")
    assert (row.passed, row.failed, row.insufficient, row.void) == ((2, 3), (0, 0), (0, 0), (1, 0))
    assert row.share.mean == 1, "two of two, and three of three"
    assert "cannot fail" in report.reason("s1", "t0", "label_order")
    item = report.items("t0")[1]
    assert (item.verdict("label_order"), item.verdict("all"), report.items()[1].void) == (
        Verdict.VOID,
        Verdict.PASS,
        0,
    )
    kappa = next(row for row in report.agreement() if row.name == "label_order")
    assert kappa.void == (1, 0)
    assert [estimate.n for estimate in kappa.raw] == [2, 3]
    swapped = next(row for row in report.variants("s1", "t0") if row.order == "swapped")
    assert [(of.test, of.verdict) for of in swapped.tests] == [("label_order", Verdict.VOID)]


def test_a_void_test_is_no_pass_of_the_whole_and_no_hindrance() -> None:
    base = both_orders(told_apart(counts()), 0)
    unreliable = answered(base, NEG, 16)
    assert judge(base).verdicts(ALL)[0, 0] == PASS
    assert judge(unreliable).verdicts(ALL)[0, 0] == FAIL
    alone = judge(base, ReliabilityOptions(tests=("label_order",)))
    assert alone.verdicts(ALL).tolist() == [[VOID], [PASS]]
    assert alone.reason("s0", "t0", ALL) == "no test can fail: label_order"
    assert reliable_stances("m", alone).values.tolist() == [[0], [1]], (
        "nothing says that the first is reliable"
    )
    assert reliable_stances("m", judge(base)).values.tolist() == [[1], [1]]
    assert reliable_stances("m", judge(base), ("label_order", "sampling")).values.tolist() == [
        [1],
        [1],
    ]


@pytest.mark.parametrize(
    ("place", "test"), [(PARA_1, "paraphrase"), (NEG, "negation"), (OPP, "opposite")]
)
def test_a_variant_with_the_originals_text_is_compared_with_nothing(place: int, test: str) -> None:
    base = told_apart(counts(2))
    for template in (0, 1):
        for order in (PRINTED, SWAPPED):
            base = one_prompt(base, (template, 0, 0, order), (template, 0, place, order))
    report, published = judge(base), judge(base, ReliabilityOptions(judge_void=True))
    other_paraphrase = test == "paraphrase"
    wanted = PASS if other_paraphrase else VOID
    assert report.verdicts(test).tolist() == [[wanted, PASS]] * 2
    assert report.over_templates(test).tolist() == [wanted, PASS]
    assert published.verdicts(test).tolist() == [[PASS if other_paraphrase else FAIL, PASS]] * 2
    assert report.verdicts(ALL).tolist() == [[PASS, PASS]] * 2
    row = next(row for row in report.agreement() if row.name == test)
    assert row.void == (1, 1)
    assert row.raw[0].n == (3 if other_paraphrase else 1)
    assert next(row for row in published.agreement() if row.name == test).raw[0].n == (
        4 if other_paraphrase else 2
    )
    of_item = report.item_agreement(test).of(0)
    assert (of_item.kappa.n, of_item.kappa.excluded) == (4 if other_paraphrase else 0, 0)
    if not other_paraphrase:
        assert of_item.kappa.undefined == NO_PAIRS
        assert report.reason("s0", "t0", test).startswith(f"every {test} is empty or identical")
    decided = {
        row.variant: row.tests for row in report.variants("s0", "t0") if row.order == "printed"
    }
    assert Verdict.VOID in {of.verdict for of in decided[str(VARIANTS[place])]}


def test_where_both_label_orders_are_one_text_a_pair_of_conditions_counts_once() -> None:
    base = told_apart(counts(1, 1))
    for place in range(len(VARIANTS)):
        base = one_prompt(base, (0, 0, place, PRINTED), (0, 0, place, SWAPPED))
    assert judge(base).item_agreement("negation").of(0).observed.n == 1
    assert (
        judge(base, ReliabilityOptions(judge_void=True)).item_agreement("negation").of(0).observed.n
        == 2
    )


def test_templates_that_put_a_statement_alike_are_no_test_of_templates() -> None:
    base = told_apart(counts(2, 3))
    same = one_prompt(base, *((template, 0, 0, PRINTED) for template in range(3)))
    report = judge(same)
    assert report.verdicts(TEMPLATE).tolist() == [VOID, PASS]
    assert report.across_templates.same.n == 1
    assert (
        report.across_templates.alpha.n
        == judge(replace(base, statements=("a", "b"))).across_templates.alpha.n - 1
    )
    assert "cannot fail" in report.reason("s0", "t0", TEMPLATE)
    two = one_prompt(base, (0, 0, 0, PRINTED), (1, 0, 0, PRINTED))
    assert judge(two).verdicts(TEMPLATE).tolist() == [PASS, PASS], "the third may differ"


def test_a_wording_without_text_is_asked_nothing() -> None:
    blank = np.zeros((1, len(VARIANTS)), dtype=np.bool_)
    blank[0, NEG] = True
    base = replace(answered(told_apart(counts()), NEG, 15), blank=blank)
    report = judge(base)
    assert report.verdicts("sampling")[0, 0] == PASS, "its answers are on nothing"
    assert report.verdicts("negation").tolist() == [[VOID], [VOID]]
    assert report.reason("s0", "t0", "sampling") == "all 4 wordings lean clearly to one side"
    assert judge(base, ReliabilityOptions(judge_void=True)).verdicts("sampling")[0, 0] == FAIL
    nothing = judge(replace(base, blank=np.ones_like(blank)))
    assert all((nothing.verdicts(test) == VOID).all() for test in EVERY)
    assert nothing.reason("s0", "t0", "negation") == "the original has no text"
    assert nothing.reason("s0", "t0", "sampling") == "no wording has a text"
    assert np.isnan([row.share.mean for row in nothing.summary()]).all(), (
        "of no statement, no share"
    )


def test_what_lacks_a_wording_is_void_and_what_lacks_answers_is_insufficient() -> None:
    base = both_orders(told_apart(counts()), 0)
    exists = base.exists.copy()
    exists[0, NEG] = False
    report = judge(replace(answered(base, OPP, 3, readable=3), exists=exists))
    assert report.verdicts("negation")[0, 0] == VOID
    assert report.verdicts("opposite")[0, 0] == INSUFFICIENT
    assert report.verdicts(ALL)[0, 0] == INSUFFICIENT


def test_a_coin_is_held_to_the_same_tests() -> None:
    """Flips of one prompt are no two results: under the published rule a coin fails a test that a
    model cannot.
    """
    base = both_orders(told_apart(counts(200, 1)), 0)
    coin = judge(random_baseline(base, np.random.default_rng(3)))
    assert coin.verdicts("label_order")[0, 0] == VOID
    assert coin.summary()[TESTS.index("label_order")].void == (1,)


@given(st.lists(st.sampled_from([PASS, FAIL, INSUFFICIENT, VOID]), max_size=6))
def test_a_conjunction_is_that_of_the_parts_that_are_not_void(parts: list[int]) -> None:
    live = [part for part in parts if part != VOID]
    wanted = int(conjunction(np.array(live, dtype=np.int8), 0)) if live or not parts else VOID
    assert int(conjunction(np.array(parts, dtype=np.int8), 0)) == wanted
    assert verdict(VOID) is Verdict.VOID


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_verdicts_are_those_of_the_instrument_without_what_cannot_fail(seed: int) -> None:
    """Taking a repeated variant out of the instrument leaves every other verdict; so does calling
    it void.
    """
    rng = np.random.default_rng(seed)
    base = told_apart(counts(4))
    positive = rng.integers(0, 31, size=base.positive.shape).astype(np.int32)
    base = replace(base, positive=positive, negative=(30 - positive).astype(np.int32))
    exists, gone = base.exists.copy(), []
    for statement in range(4):
        place = int(rng.integers(1, len(VARIANTS)))
        for template in range(2):
            for order in (PRINTED, SWAPPED):
                base = one_prompt(
                    base, (template, statement, 0, order), (template, statement, place, order)
                )
        exists[statement, place] = False
        gone.append(VARIANTS[place].kind)
    void, without = judge(base), judge(replace(base, exists=exists))
    for test in ("sampling", "label_order", TEMPLATE):
        assert (void.verdicts(test) == without.verdicts(test)).all()
    for statement, kind in enumerate(gone):
        for test in (t for t in ("paraphrase", "negation", "opposite") if t != kind.value):
            assert (void.verdicts(test)[:, statement] == without.verdicts(test)[:, statement]).all()
        if kind is VariantKind.PARAPHRASE:
            assert (
                void.verdicts("paraphrase")[:, statement]
                == without.verdicts("paraphrase")[:, statement]
            ).all()
        else:
            assert (void.verdicts(kind.value)[:, statement] == VOID).all()
    for kind in (VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE):
        assert (
            void.item_agreement(kind.value).tables == without.item_agreement(kind.value).tables
        ).all()
    published = judge(base, ReliabilityOptions(judge_void=True))
    assert not any((published.verdicts(test) == VOID).any() for test in EVERY)


def test_expected_samples_agree_with_simulated_audits_where_prompts_repeat() -> None:
    """As in `test_exact`: 4,000 simulated audits, in which one prompt has one set of answers
    wherever it stands.
    """
    rng = np.random.default_rng(17)
    repeats, options = 4000, ReliabilityOptions(low=0.4, high=0.6, minimum=6, beside=9)
    base = random_mass(rng, 6)
    numbers = np.arange(base.positive.size, dtype=np.int64).reshape(base.positive.shape)
    positive, negative = base.positive.copy(), base.negative.copy()
    same = [
        (0, (0, SWAPPED)),
        (1, (NEG, PRINTED)),
        (2, (PARA_1, PRINTED)),
        (3, (OPP, PRINTED)),
        (3, (0, SWAPPED)),
    ]
    exists = base.exists.copy()
    for statement, (place, order) in same:
        exists[statement, [0, place]] = True
        for array in (numbers, positive, negative):
            array[:, statement, place, order] = array[:, statement, 0, PRINTED]
    for array in (numbers, positive, negative):
        array[1, 4, 0, PRINTED] = array[0, 4, 0, PRINTED]
    blank = np.zeros(exists.shape, dtype=np.bool_)
    blank[5, NEG] = exists[5, NEG] = True
    base = replace(
        base, positive=positive, negative=negative, exists=exists, prompts=numbers, blank=blank
    )
    report = judge_exact(base, options)
    many = replace(
        again(base, repeats),
        prompts=np.tile(numbers, (1, repeats, 1, 1)),
        blank=np.tile(blank, (repeats, 1)),
    )
    drawn = simulated(judge_exact(many, options), rng)
    found = judge(_as_asked(drawn, numbers, repeats), options)
    for test in EVERY:
        codes, wanted = found.verdicts(test), report.expected.of(test)
        codes = codes.reshape(*codes.shape[:-1], repeats, 6)
        assert ((codes == VOID).all(axis=-2) == wanted.void).all(), test
        for code, p in ((PASS, wanted.passed), (FAIL, wanted.failed)):
            share = (codes == code).mean(axis=-2)
            assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / repeats) + 1e-9).all(), test
    assert report.expected.of("label_order").void[:, 0].all()
    assert report.expected.over_templates("negation")[1] == 0


def _as_asked(drawn: Counts, numbers: np.ndarray, repeats: int) -> Counts:
    """Give every place of a prompt the answers of its first place."""
    first = {number: at for at, number in reversed(list(np.ndenumerate(numbers)))}
    arrays = [
        array.reshape(2, repeats, 6, -1, 2).copy()
        for array in (drawn.positive, drawn.negative, drawn.unreadable)
    ]
    for (t, s, v, o), number in np.ndenumerate(numbers):
        ft, fs, fv, fo = first[number]
        for array in arrays:
            array[t, :, s, v, o] = array[ft, :, fs, fv, fo]
    positive, negative, unreadable = (array.reshape(drawn.positive.shape) for array in arrays)
    return replace(drawn, positive=positive, negative=negative, unreadable=unreadable)


def test_exact_and_sampled_verdicts_are_void_alike() -> None:
    base = mass(2)
    numbers = np.arange(base.positive.size, dtype=np.int64).reshape(base.positive.shape)
    numbers[:, 0, NEG] = numbers[:, 0, 0]
    report = judge_exact(replace(base, prompts=numbers))
    assert report.verdicts("negation").tolist() == [[VOID, PASS]] * 2
    row = next(row for row in report.expected_summary() if row.test == "negation")
    assert row.passed == pytest.approx((1.0, 1.0), abs=1e-3)
    assert row.share.mean == pytest.approx(1.0, abs=1e-3), "of one statement, not of two"


def test_people_are_compared_on_texts_that_differ_too() -> None:
    def wording(variant: object, text: str, language: str = "en") -> Wording:
        return Wording(variant, language, text)  # type: ignore[arg-type]

    one = Statement(
        "s0", (wording(ORIGINAL, "Rents must fall."), wording(NEGATION, " Rents must  fall."))
    )
    other = Statement(
        "s1", (wording(ORIGINAL, "Rents must fall."), wording(NEGATION, "Rents must not fall."))
    )
    assert relations_of([one, other], "en") == {("s0", NEGATION): Relation.FREE}
    assert relations_of([one, other], "en", judge_void=True) == {}
    assert RELATION_OF[VariantKind.NEGATION] is Relation.FLIPPED
