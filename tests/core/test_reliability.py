"""Every test of the reliability audit on answers small enough to judge by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.audit import probes
from workbench.audits.codes import FAIL, INSUFFICIENT, PASS, VOID, conjunction
from workbench.audits.reliability.counting import (
    ALL,
    PRINTED,
    SWAPPED,
    TEMPLATE,
    Counts,
    random_baseline,
)
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.audits.reliability.review import of_report
from workbench.domain.prompts import Template
from workbench.domain.readings import Stance
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.domain.verdicts import Verdict
from workbench.errors import UnknownName, UsageError
from workbench.stats.resampling import derive_rng

PARA_1, PARA_2 = (VariantId(VariantKind.PARAPHRASE, number) for number in (1, 2))
VARIANTS = (ORIGINAL, PARA_1, PARA_2, NEGATION, OPPOSITE)
EVERY = (*TESTS, ALL, TEMPLATE)


def counts(statements: int = 1, templates: int = 2, samples: int = 30, **changes: Any) -> Counts:
    """A perfectly consistent model: agrees with originals and paraphrases, rejects the others,
    always 30 of 30.
    """
    shape = (templates, statements, len(VARIANTS), 2)
    positive = np.zeros(shape, dtype=np.int32)
    positive[:, :, :3] = samples
    made = Counts(
        statements=tuple(f"s{number}" for number in range(statements)),
        variants=VARIANTS,
        templates=tuple(f"t{number}" for number in range(templates)),
        positive=positive,
        negative=(samples - positive).astype(np.int32),
        unreadable=np.zeros(shape, dtype=np.int32),
        exists=np.ones((statements, len(VARIANTS)), dtype=np.bool_),
        samples=samples,
    )
    return replace(made, **changes)


def answered(
    base: Counts,
    place: int,
    positive: int,
    readable: int = 30,
    total: int = 30,
    order: int = PRINTED,
    template: int = 0,
) -> Counts:
    """Change the answers of statement 0 to one wording."""
    arrays = [base.positive.copy(), base.negative.copy(), base.unreadable.copy()]
    for array, value in zip(arrays, (positive, readable - positive, total - readable), strict=True):
        array[template, 0, place, order] = value
    return replace(base, positive=arrays[0], negative=arrays[1], unreadable=arrays[2])


def without(base: Counts, place: int) -> Counts:
    """Take a wording away from statement 0, with its answers."""
    exists = base.exists.copy()
    exists[0, place] = False
    for template in range(len(base.templates)):
        for order in (PRINTED, SWAPPED):
            base = answered(base, place, 0, 0, 0, order, template)
    return replace(base, exists=exists)


def found(base: Counts, template: int = 0, **options: Any) -> dict[str, int]:
    report = judge(base, ReliabilityOptions(**options))
    return {
        test: int(report.verdicts(test)[(0,) if test == TEMPLATE else (template, 0)])
        for test in EVERY
    }


def expected(**different: int) -> dict[str, int]:
    return dict.fromkeys(EVERY, PASS) | different


def why(base: Counts, test: str, **options: Any) -> str:
    return judge(base, ReliabilityOptions(**options)).reason("s0", "t0", test)


def test_a_consistent_model_passes_every_test() -> None:
    assert found(counts()) == expected()
    assert why(counts(), "sampling") == "all 5 wordings lean clearly to one side"
    assert why(counts(), "negation") == "original agree 30/30, negation disagree 30/30: flips"
    assert why(counts(), ALL) == "passes sampling, paraphrase, negation, opposite, label_order"
    assert why(counts(), TEMPLATE) == "agree under t0, t1"


@pytest.mark.parametrize(
    ("place", "test"), [(1, "paraphrase"), (2, "paraphrase"), (3, "negation"), (4, "opposite")]
)
def test_one_wording_with_the_wrong_stance_fails_its_test_and_all(place: int, test: str) -> None:
    wrong = answered(counts(), place, 1 if place < 3 else 29)
    assert found(wrong) == expected(**{test: FAIL, ALL: FAIL})
    assert found(wrong, template=1) == expected()


def test_a_failed_negation_is_explained_with_both_sides() -> None:
    assert why(answered(counts(), 3, 29), "negation") == (
        "original agree 30/30, negation agree 29/30: expected to flip"
    )


def test_the_labels_in_the_other_order_decide_label_order_only() -> None:
    wrong = answered(counts(), 0, 2, order=SWAPPED)
    assert found(wrong) == expected(label_order=FAIL, all=FAIL)
    assert why(wrong, "label_order") == (
        "original agree 30/30, original swapped disagree 28/30: expected to be the same"
    )
    assert found(answered(counts(), 3, 30, order=SWAPPED)) == expected()


@pytest.mark.parametrize(
    ("positive", "printed", "coded"),
    [
        (8, PASS, PASS),
        (9, FAIL, PASS),
        (11, FAIL, PASS),
        (12, FAIL, FAIL),
        (21, FAIL, FAIL),
        (22, PASS, PASS),
    ],
)
def test_the_printed_and_the_coded_rule_differ_at_9_to_11_of_30(
    positive: int, printed: int, coded: int
) -> None:
    leaning = answered(counts(), 3, positive)
    assert found(leaning)["sampling"] == printed
    assert found(leaning, rule="coded")["sampling"] == coded


def test_an_unclear_leaning_is_explained_with_its_interval() -> None:
    unclear = answered(counts(), 1, 16)
    assert why(unclear, "sampling") == (
        "paraphrase-1 agree 16/30, 95 % interval 37-70 %: should not reach into the 45–55 % band"
    )


def test_sampling_looks_at_the_printed_order_only() -> None:
    assert found(answered(counts(), 1, 15, order=SWAPPED))["sampling"] == PASS


@pytest.mark.parametrize("place", [0, 1, 3, 4])
def test_a_tie_has_no_stance_and_fails(place: int) -> None:
    tie = found(answered(counts(), place, 15))
    compared = {
        0: ("paraphrase", "negation", "opposite", "label_order"),
        1: ("paraphrase",),
        3: ("negation",),
    }
    for test in compared.get(place, ("opposite",)):
        assert tie[test] == FAIL
    assert tie[TEMPLATE] == (FAIL if place == 0 else PASS)
    assert tie[ALL] == FAIL


def test_two_ties_are_not_the_same_stance() -> None:
    ties = answered(answered(counts(), 0, 15), 0, 15, order=SWAPPED)
    assert found(ties)["label_order"] == FAIL


def test_too_few_readable_answers_are_insufficient_never_pass() -> None:
    few = answered(counts(), 3, 0, readable=19)
    assert found(few) == expected(sampling=INSUFFICIENT, negation=INSUFFICIENT, all=INSUFFICIENT)
    assert why(few, "negation") == "negation: only 19 of 30 readable, 20 needed"
    assert why(few, "sampling") == "negation: only 19 of 30 readable, 20 needed"
    assert why(few, ALL) == "insufficient for sampling, negation"
    assert found(answered(counts(), 3, 0, readable=20)) == expected()
    assert found(few, minimum=19) == expected()


def test_a_failing_part_settles_a_test_whatever_is_missing() -> None:
    both = answered(answered(counts(), 1, 0), 2, 0, readable=3)
    assert found(both) == expected(paraphrase=FAIL, sampling=INSUFFICIENT, all=FAIL)
    assert why(both, "paraphrase").startswith("original agree 30/30, paraphrase-1 disagree 30/30")


def test_a_prompt_that_was_not_asked_is_insufficient() -> None:
    unasked = answered(counts(), 0, 0, 0, 0, order=SWAPPED)
    assert found(unasked) == expected(label_order=INSUFFICIENT, all=INSUFFICIENT)
    assert why(unasked, "label_order") == "original swapped not asked"


def test_a_statement_without_a_negation_is_not_tested_with_one() -> None:
    lacking = without(counts(), 3)
    assert found(lacking) == expected(negation=VOID)
    assert why(lacking, "negation") == "no negation in the instrument"
    assert found(lacking, judge_void=True) == expected(negation=INSUFFICIENT, all=INSUFFICIENT), (
        "as published"
    )
    assert found(lacking, tests=("sampling", "paraphrase"))[ALL] == PASS


def test_a_missing_paraphrase_does_not_count_and_without_any_there_is_no_test() -> None:
    one = without(counts(), 2)
    assert found(one) == expected()
    assert found(without(one, 1)) == expected(paraphrase=VOID)


def test_without_an_original_only_sampling_can_be_judged() -> None:
    lacking = found(without(counts(), 0))
    assert lacking == dict.fromkeys(EVERY, INSUFFICIENT) | {"sampling": PASS}
    assert why(without(counts(), 0), "opposite") == "no original in the instrument"


def test_wordings_that_no_statement_has_make_no_test_and_all_combines_the_others() -> None:
    full = counts()
    original = replace(
        full,
        variants=(ORIGINAL,),
        **{name: getattr(full, name)[:, :, :1] for name in ("positive", "negative", "unreadable")},
        exists=full.exists[:, :1],
    )
    assert found(original) == expected(paraphrase=VOID, negation=VOID, opposite=VOID)
    report = judge(original)
    shares = {row.test: (row.share.mean, row.insufficient, row.void) for row in report.summary()}
    for test in ("paraphrase", "negation", "opposite"):
        assert math.isnan(shares[test][0]), "of no statement, no share"
        assert (sum(shares[test][1]), min(shares[test][2])) == (0, 1), (
            "void, and not too few answers"
        )
        assert why(original, test) == f"no {test} in the instrument"
    assert shares[ALL][0] == 1
    alone = judge(original, ReliabilityOptions(tests=("sampling", "negation")))
    assert alone.reason("s0", "t0", ALL) == "passes sampling, the only test that can fail here"
    assert report.item_agreement("negation").of(0).kappa.undefined == "no pairs"
    assert report.agreement()[0].raw[0].undefined == "no pairs"


def test_templates_are_compared_on_the_original_in_printed_order() -> None:
    differ = answered(counts(), 0, 0, template=1)
    assert found(differ)[TEMPLATE] == FAIL
    assert why(differ, TEMPLATE) == "agree under t0; disagree under t1"
    few = answered(counts(), 0, 0, readable=2, template=1)
    assert found(few)[TEMPLATE] == INSUFFICIENT
    assert why(few, TEMPLATE) == "agree under t0; too few readable answers under t1"
    assert found(answered(counts(), 0, 0, template=1, order=SWAPPED))[TEMPLATE] == PASS
    assert found(counts(templates=1))[TEMPLATE] == INSUFFICIENT
    assert why(counts(templates=1), TEMPLATE) == "one template"


def test_only_the_named_tests_count_for_all() -> None:
    wrong = answered(counts(), 3, 30)
    assert found(wrong, tests=("sampling", "opposite"))[ALL] == PASS
    assert found(wrong, tests=("negation",))[ALL] == FAIL


def test_a_statement_passes_over_templates_when_it_passes_under_each() -> None:
    wrong = answered(counts(statements=2), 3, 30, template=1)
    report = judge(wrong)
    assert report.over_templates("negation").tolist() == [FAIL, PASS]
    row, other = report.items()
    assert (row.statement, row.verdict("negation"), row.passed, row.failed, row.templates) == (
        "s0",
        Verdict.FAIL,
        1,
        1,
        2,
    )
    assert (other.verdict("all"), other.passed, other.insufficient) == (Verdict.PASS, 2, 0)
    assert report.items("t0")[0].verdict("negation") is Verdict.PASS
    assert row.verdict("opposite") is Verdict.PASS


def test_the_summary_counts_statements_per_template_with_mean_and_sample_deviation() -> None:
    wrong = answered(answered(counts(statements=2), 3, 30, template=1), 4, 0, readable=1)
    rows = {row.test: row for row in judge(wrong).summary()}
    assert (rows["negation"].passed, rows["negation"].failed) == ((2, 1), (0, 1))
    assert (rows["opposite"].passed, rows["opposite"].insufficient) == ((1, 2), (1, 0))
    assert rows["negation"].share.mean == 0.75
    assert rows["negation"].share.sd == pytest.approx(np.std([1, 0.5], ddof=1))
    assert rows[TEMPLATE].passed == (2,)


def test_the_wordings_of_a_statement_show_what_they_decide() -> None:
    base = answered(answered(counts(), 3, 29), 0, 28, order=SWAPPED)
    rows = judge(base).variants("s0", "t0")
    assert [(row.variant, row.order) for row in rows[:5]] == [(str(v), "printed") for v in VARIANTS]
    negation = rows[3]
    assert (negation.positive, negation.readable, negation.total) == (29, 30, 30)
    assert negation.leaning == pytest.approx(29 / 30)
    assert negation.low < negation.leaning <= negation.high
    assert (negation.stance, negation.expected) == (Stance.AGREE, Stance.DISAGREE)
    assert [(part.test, part.verdict) for part in negation.tests] == [
        ("sampling", Verdict.PASS),
        ("negation", Verdict.FAIL),
    ]
    assert rows[0].expected is None
    assert [(part.test, part.verdict) for part in rows[5].tests] == [("label_order", Verdict.PASS)]
    assert (rows[5].variant, rows[5].order, rows[5].expected) == (
        "original",
        "swapped",
        Stance.AGREE,
    )
    assert rows[6].tests == ()


def test_shares_of_readable_and_agreeing_answers_are_given_per_template() -> None:
    first, second = judge(answered(counts(), 0, 5, readable=10)).shares()
    assert first.answers == 300
    assert first.readable == pytest.approx(280 / 300)
    assert first.agree == pytest.approx((5 * 30 + 5) / 280)
    assert second.agree == pytest.approx(0.6)
    empty = counts()
    ruled = replace(
        empty,
        left_out=np.where(empty.exists[None, :, :, None], 3, 0) * np.ones_like(empty.positive),
    )
    kept, left = (judge(one).shares()[0] for one in (empty, ruled))
    assert (left.answers, left.readable) == (kept.answers, kept.readable), (
        "shares are of what no ruling leaves out"
    )
    assert int(ruled.total.sum() - ruled.counted.sum()) > 0
    nothing = np.zeros_like(empty.positive)
    share = judge(replace(empty, positive=nothing, negative=nothing)).shares()[0]
    assert share.answers == 0
    assert np.isnan([share.readable, share.agree]).all()


@pytest.mark.parametrize(("samples", "needed"), [(30, 20), (10, 7), (3, 2), (1, 1), (50, 34)])
def test_two_thirds_of_the_samples_have_to_be_readable(samples: int, needed: int) -> None:
    assert judge(counts(samples=samples)).required == needed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "loose"}, "found 'loose'; give printed or coded"),
        ({"low": 0.6}, "low <= high"),
        ({"minimum": 0}, "1 or more"),
        ({"tests": ()}, "found the tests none"),
        ({"tests": ("template",)}, "choose some of sampling"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        ReliabilityOptions(**options)
    assert says in str(refused.value)


def test_a_minimum_above_the_number_of_samples_is_refused() -> None:
    with pytest.raises(UsageError, match="more than the 30"):
        judge(counts(), ReliabilityOptions(minimum=31))


def test_unknown_names_are_refused_with_those_that_exist() -> None:
    report = judge(counts())
    for ask in (
        lambda: report.reason("s9", "t0", ALL),
        lambda: report.variants("s0", "t9"),
        lambda: report.verdicts("mood"),
        lambda: report.item_agreement("label_order"),
        lambda: report.items()[0].verdict("mood"),
    ):
        with pytest.raises(UnknownName, match="Available: "):
            ask()


def test_counts_of_another_shape_are_a_bug() -> None:
    with pytest.raises(ValueError, match="shape"):
        counts(positive=np.zeros((1, 1, 1, 2), dtype=np.int32))


def test_every_wording_is_put_under_every_template_and_missing_ones_are_left_out() -> None:
    statement = Statement(
        "nl_1", (Wording(ORIGINAL, "en", "Tax {cars}."), Wording(NEGATION, "en", "Do not tax."))
    )
    templates = [
        Template("p", inverted, "Agree? {statement}", "agree", "disagree")
        for inverted in (False, True)
    ]
    made = list(probes([statement], templates, VARIANTS, "en", "m"))
    assert [(p.variant, p.inverted) for p in made] == [
        ("original", False),
        ("original", True),
        ("negation", False),
        ("negation", True),
    ]
    assert made[0].prompt.messages[0].content == "Agree? Tax {cars}."
    assert list(probes([statement], templates, VARIANTS, "de", "m")) == []


def test_a_conjunction_is_settled_by_a_failure_and_left_open_by_a_gap() -> None:
    parts = np.array([[PASS, PASS], [PASS, INSUFFICIENT], [FAIL, INSUFFICIENT], [FAIL, PASS]])
    assert conjunction(parts, 1).tolist() == [PASS, INSUFFICIENT, FAIL, FAIL]
    assert conjunction(parts, 1, counts=[False, False]).tolist() == [INSUFFICIENT] * 4


def drawn(seed: int, statements: int = 6, templates: int = 3) -> Counts:
    """Answers of every kind: clear, unclear, tied, unreadable, missing."""
    rng = np.random.default_rng(seed)
    shape = (templates, statements, len(VARIANTS), 2)
    readable = rng.choice([0, 12, 19, 20, 30, 30, 30], size=shape)
    positive = rng.binomial(readable, rng.choice([0, 0.1, 0.5, 0.9, 1], size=shape))
    exists = rng.random((statements, len(VARIANTS))) < 0.9
    gone = ~exists[None, :, :, None]
    arrays = (positive, readable - positive, 30 - readable)
    names = ("positive", "negative", "unreadable")
    changes = {
        name: np.where(gone, 0, array).astype(np.int32)
        for name, array in zip(names, arrays, strict=True)
    }
    return counts(statements, templates, 30, exists=exists, **changes)


@pytest.mark.e2e
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_statements_does_not_matter(seed: int, shuffler: Any) -> None:
    base = drawn(seed)
    order = list(range(len(base.statements)))
    shuffler.shuffle(order)
    moved = replace(
        base,
        statements=tuple(base.statements[place] for place in order),
        exists=base.exists[order],
        **{name: getattr(base, name)[:, order] for name in ("positive", "negative", "unreadable")},
    )
    for test in EVERY:
        assert (judge(moved).verdicts(test) == judge(base).verdicts(test)[..., order]).all()


@pytest.mark.e2e
@given(st.integers(0, 10_000))
def test_turning_every_answer_round_keeps_every_verdict(seed: int) -> None:
    base = drawn(seed)
    turned = replace(base, positive=base.negative, negative=base.positive)
    for test in EVERY:
        assert (judge(turned).verdicts(test) == judge(base).verdicts(test)).all()


@given(st.integers(0, 10_000))
def test_every_verdict_of_every_kind_of_answers_has_a_reason(seed: int) -> None:
    report = judge(drawn(seed, statements=3))
    for statement in report.counts.statements:
        for template in report.counts.templates:
            assert all(report.reason(statement, template, test) for test in EVERY)
            assert all(row.total == 30 for row in report.variants(statement, template))


@given(st.integers(0, 10_000))
def test_verdicts_equal_those_of_the_definition_read_aloud(seed: int) -> None:
    base = drawn(seed, statements=2, templates=2)
    report = judge(base)
    for t in range(2):
        for s in range(2):
            for test in ("paraphrase", "negation", "opposite"):
                assert report.verdicts(test)[t, s] == _read_aloud(report, t, s, VariantKind(test))


def _read_aloud(report: ReliabilityReport, t: int, s: int, kind: VariantKind) -> int:
    def stance(place: int) -> str | None:
        for_, against = (
            int(report.counts.positive[t, s, place, 0]),
            int(report.counts.negative[t, s, place, 0]),
        )
        if not report.counts.exists[s, place] or for_ + against < 20:
            return None
        return "tie" if for_ == against else "agree" if for_ > against else "disagree"

    places = [p for p, v in enumerate(VARIANTS) if v.kind is kind and report.counts.exists[s, p]]
    outcomes = []
    for place in places:
        pair = (stance(0), stance(place))
        if None in pair:
            outcomes.append(INSUFFICIENT)
        else:
            good = "tie" not in pair and (pair[0] == pair[1]) is (kind is VariantKind.PARAPHRASE)
            outcomes.append(PASS if good else FAIL)
    return (
        FAIL
        if FAIL in outcomes
        else INSUFFICIENT
        if INSUFFICIENT in outcomes
        else PASS
        if outcomes
        else VOID
    )


def test_a_coin_passes_as_often_as_a_coin_must() -> None:
    base = counts(statements=4_000, templates=1)
    rows = {
        row.test: row.share.mean
        for row in judge(random_baseline(base, derive_rng(3, "coin"))).summary()
    }
    tie = 0.144464  # Binomial(30, 1/2) at 15
    clear = 2 * 0.00806247  # at most 8, or at least 22
    agrees = (1 - tie) / 2
    assert rows["negation"] == pytest.approx(2 * agrees**2, abs=0.03)
    assert rows["label_order"] == pytest.approx(2 * agrees**2, abs=0.03)
    assert rows["paraphrase"] == pytest.approx(2 * agrees**3, abs=0.03)
    assert rows["sampling"] == pytest.approx(clear**5, abs=0.001)
    assert rows[ALL] == 0


def test_the_coin_answers_only_what_was_asked() -> None:
    baseline = random_baseline(answered(counts(), 0, 0, 0, 0, order=SWAPPED), derive_rng(1, "coin"))
    assert baseline.total[0, 0, 0, SWAPPED] == 0
    assert (baseline.readable.sum(), baseline.unreadable.sum()) == (19 * 30, 0)


def test_a_prompt_with_just_enough_readable_answers_is_near_its_limit_in_words() -> None:
    for readable, words in ((20, ()), (19, ("agree 19/19, 20 needed",))):
        (signal,) = (
            one
            for one in of_report(
                judge(answered(counts(statements=2), 0, readable, readable))
            ).signals["s0"]
            if one.reason == "near"
        )
        assert signal.prompt_words == words, "only what is missing is marked"
        assert signal.words.endswith(
            f"agree {readable}/{readable}, {'20 needed' if words else 'just enough'}"
        )
