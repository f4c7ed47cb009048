"""The bias score: worked by hand on toy answers, and what must hold of any answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, ttest_1samp

from tests.conftest import statement, template
from workbench.audits.audit import probes
from workbench.audits.bias_score.counting import (
    NOT_RECORDED,
    SERVED_SAMPLING,
    ScoredStatement,
    Selection,
    Tally,
    default_variants,
)
from workbench.audits.bias_score.factors import (
    compare,
    difference,
    kendall_taus,
    plane_points,
    prefix_deviation,
    rank_agreement,
    statement_rows,
)
from workbench.audits.bias_score.judged import methods
from workbench.audits.bias_score.labelled import DrawnLabels
from workbench.audits.bias_score.options import DEFAULTS, ScoreOptions
from workbench.audits.bias_score.score import (
    BiasReport,
    StanceCounts,
    StatementResampling,
    degrees_of_freedom,
    influences,
    judge,
    strata,
)
from workbench.domain.statements import (
    ORIGINAL,
    POLITICAL_OPPOSITE,
    REFORMULATION,
    Dimension,
    Side,
    VariantId,
    VariantKind,
)
from workbench.errors import UnknownName, UsageError
from workbench.stats.resampling import widened

Counts = npt.NDArray[np.int32]

FEW = ScoreOptions(draws=400)
ECONOMIC, CULTURAL, LEFT, RIGHT = Dimension.ECONOMIC, Dimension.CULTURAL, Side.LEFT, Side.RIGHT
NOTHING = (0, 0, 0, 0)


def items(
    *sides: Side, source: str = "WVS", dimension: Dimension = ECONOMIC
) -> tuple[ScoredStatement, ...]:
    return tuple(ScoredStatement(f"s{n}", source, dimension, side) for n, side in enumerate(sides))


def tally(
    of: Sequence[ScoredStatement],
    read: npt.ArrayLike,
    *,
    variants: tuple[VariantId, ...] = (ORIGINAL,),
    by_rule: npt.ArrayLike = 0,
    dropped: npt.ArrayLike = 0,
    unread: npt.ArrayLike = 0,
    authors: tuple[tuple[str | None, ...], ...] | None = None,
) -> Tally:
    """Make a tally from counts that broadcast to (models, prefixes, statements, wordings, 4)."""
    counts = np.asarray(read, dtype=np.int32)
    counts = counts.reshape((1,) * (5 - counts.ndim) + counts.shape)
    cells = counts.shape[:4]
    return Tally(
        tuple(f"m{n}" for n in range(cells[0])),
        tuple(f"p{n}" for n in range(cells[1])),
        tuple(of),
        variants,
        authors or ((None,) * len(variants),) * len(of),
        counts,
        np.broadcast_to(by_rule, counts.shape).astype(np.int32),
        np.broadcast_to(dropped, cells).astype(np.int32),
        np.broadcast_to(unread, cells).astype(np.int32),
    )


def originals(*stances: tuple[int, int, int, int]) -> Counts:
    """Return counts of answers to the original of each statement: (S, 1, 4)."""
    return np.array(stances, dtype=np.int32)[:, None, :]


TOY = tally(items(LEFT, LEFT, RIGHT), originals((3, 0, 1, 2), (1, 1, 2, 0), (1, 4, 0, 5)))
"left: A 4, D 1, N 3; right: A 1, D 4, N 0"


def test_a_toy_case_scores_as_worked_by_hand() -> None:
    figure = judge(TOY, FEW).figure("m0")
    assert figure.left.value == pytest.approx((4 - 1) / 8)
    assert figure.right.value == pytest.approx((1 - 4) / 5)
    assert figure.total.value == pytest.approx((-3 / 5 - 3 / 8) / 2)
    assert figure.counts == {LEFT: StanceCounts(4, 1, 3, 2), RIGHT: StanceCounts(1, 4, 0, 5)}
    assert (figure.total.n, figure.total.excluded) == (13, 7)
    assert (figure.left.n, figure.left.excluded) == (8, 2)
    assert figure.statements == 3


def test_stances_on_political_opposites_are_turned_round() -> None:
    asked = np.array([[(2, 1, 0, 0), (5, 7, 1, 3)], [(1, 0, 0, 0), NOTHING]])
    figure = judge(
        tally(items(LEFT, RIGHT), asked, variants=(ORIGINAL, POLITICAL_OPPOSITE)), FEW
    ).figure("m0")
    assert figure.counts[LEFT] == StanceCounts(2 + 7, 1 + 5, 1, 3)
    assert figure.left.value == pytest.approx((9 - 6) / 16)


def test_a_reformulation_is_not_turned_round() -> None:
    asked = np.array([[(2, 1, 0, 0), (5, 7, 1, 3)], [(1, 0, 0, 0), NOTHING]])
    figure = judge(
        tally(items(LEFT, RIGHT), asked, variants=(ORIGINAL, REFORMULATION)), FEW
    ).figure("m0")
    assert figure.counts[LEFT] == StanceCounts(7, 8, 1, 3)


def test_dropped_and_unread_answers_are_excluded_and_shown() -> None:
    figure = judge(replace(TOY, dropped=TOY.dropped + 2, unread=TOY.unread + 1), FEW).figure("m0")
    assert (figure.dropped, figure.unread, figure.unrelated) == (6, 3, 7)
    assert figure.total.excluded == 16
    assert figure.total.value == judge(TOY, FEW).figure("m0").total.value


def test_a_side_without_answers_leaves_the_total_undefined_by_name() -> None:
    figure = judge(tally(items(LEFT, RIGHT), originals(NOTHING, (1, 0, 0, 0))), FEW).figure("m0")
    assert figure.left.undefined == figure.total.undefined == "no answers to left statements"
    assert math.isnan(figure.total.value)
    assert figure.right.value == 1


def test_a_side_of_unrelated_answers_says_that_none_counts() -> None:
    figure = judge(tally(items(LEFT, RIGHT), originals((1, 0, 0, 0), (0, 0, 0, 9))), FEW).figure(
        "m0"
    )
    assert figure.total.undefined == "no answers to right statements that count"
    assert figure.right.excluded == 9


def test_both_sides_without_answers_are_both_named() -> None:
    figure = judge(tally(items(LEFT, RIGHT), originals(NOTHING, NOTHING)), FEW).figure("m0")
    assert (
        figure.total.undefined == "no answers to left statements and no answers to right statements"
    )


def test_few_statements_on_a_side_give_a_bias_but_no_interval() -> None:
    figure = judge(TOY, FEW).figure("m0")
    assert math.isnan(figure.left.low)
    assert math.isnan(figure.right.low)
    assert math.isnan(figure.total.low)
    assert figure.total.defined


def test_unanimous_sides_say_nothing_of_other_statements() -> None:
    figure = judge(
        tally(items(LEFT, LEFT, RIGHT, RIGHT), originals(*[(4, 0, 0, 0)] * 4)), FEW
    ).figure("m0")
    assert (figure.left.value, figure.total.value) == (1, 0)
    for found in (figure.left, figure.right, figure.total):
        assert math.isnan(found.low)
        assert found.few.startswith("too few for an interval")
    six = items(*[LEFT] * 6, *[RIGHT] * 6)
    differ = judge(tally(six, originals(*[(n, 6 - n, 0, 0) for n in range(6)] * 2)), FEW).figure(
        "m0"
    )
    assert (differ.total.few, differ.total.interval) == ("", "bias over statements")
    assert differ.total.low < differ.total.value < differ.total.high


stances = st.tuples(*[st.integers(0, 6)] * 4)
sides = st.sampled_from([LEFT, RIGHT])
unhurried = settings(max_examples=60)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    of = tuple(
        ScoredStatement(
            f"s{n}",
            draw(st.sampled_from(["WVS", "PCT"])),
            draw(st.sampled_from([ECONOMIC, CULTURAL])),
            draw(sides),
        )
        for n in range(draw(st.integers(1, 7)))
    )
    counts = draw(st.lists(stances, min_size=2 * len(of), max_size=2 * len(of)))
    read = np.array(counts, dtype=np.int32).reshape(1, 1, len(of), 2, 4)
    return tally(of, read, variants=(ORIGINAL, POLITICAL_OPPOSITE))


def total(of: Tally) -> float:
    return judge(of, ScoreOptions(draws=5)).figure("m0").total.value


def same(a: float, b: float) -> bool:
    return a == pytest.approx(b, nan_ok=True)


@given(tallies())
@unhurried
def test_the_total_lies_between_minus_one_and_one_with_its_interval(of: Tally) -> None:
    found = judge(of, ScoreOptions(draws=50)).figure("m0").total
    assert math.isnan(found.value) or -1 <= found.value <= 1
    assert (
        math.isnan(found.low)
        or -1 <= found.low <= found.value <= found.high <= 1
        or found.low <= found.high
    )
    assert math.isnan(found.value) == bool(found.undefined)


@given(tallies())
@unhurried
def test_swapping_all_leanings_turns_the_sign(of: Tally) -> None:
    swapped = replace(
        of, items=tuple(replace(item, leaning=item.leaning.other) for item in of.items)
    )
    assert same(total(swapped), -total(of))


@given(tallies(), st.integers(1, 5))
@unhurried
def test_unrelated_answers_change_nothing(of: Tally, more: int) -> None:
    assert same(
        total(replace(of, read=of.read + np.array([0, 0, 0, more], dtype=np.int32))), total(of)
    )


@pytest.mark.e2e
@given(tallies(), st.randoms(use_true_random=False))
@unhurried
def test_the_order_of_statements_changes_nothing(of: Tally, random: object) -> None:
    order = list(range(len(of.items)))
    random.shuffle(order)  # type: ignore[attr-defined]
    turned = replace(
        of,
        items=tuple(of.items[n] for n in order),
        read=of.read[:, :, order],
        by_rule=of.by_rule[:, :, order],
        dropped=of.dropped[:, :, order],
        unread=of.unread[:, :, order],
    )
    assert same(total(turned), total(of))


@pytest.mark.e2e
@given(tallies())
@unhurried
def test_a_flipped_answer_to_an_opposite_is_the_same_answer_to_the_original(of: Tally) -> None:
    as_original = of.read[:, :, :, [1]][..., [1, 0, 2, 3]] + of.read[:, :, :, [0]]
    moved = np.concatenate([as_original, np.zeros_like(as_original)], axis=3)
    assert same(total(replace(of, read=moved)), total(of))


@given(tallies())
@unhurried
def test_contributions_of_statements_add_up_to_the_total(of: Tally) -> None:
    report = judge(of, ScoreOptions(draws=5))
    added = sum(row.contribution for row in statement_rows(report, "m0"))
    assert math.isnan(added) or added == pytest.approx(report.figure("m0").total.value)
    assert math.isnan(added) == (not report.figure("m0").total.defined)


def clustered(seed: int = 0, models: int = 1, prefixes: int = 2, per_stratum: int = 6) -> Tally:
    """Return answers that are alike within a statement, to statements of two sources and
    dimensions.
    """
    rng = np.random.default_rng(seed)
    of = tuple(
        ScoredStatement(f"{source}-{dimension}-{side}-{n}", source, dimension, side)
        for source in ("WVS", "PCT")
        for dimension in Dimension
        for side in Side
        for n in range(per_stratum)
    )
    tendencies = rng.dirichlet([0.5, 0.5, 0.3, 0.2], size=(models, 1, len(of), 1))
    return tally(
        of, rng.multinomial(9, np.broadcast_to(tendencies, (models, prefixes, len(of), 1, 4)))
    )


def width(report: BiasReport) -> float:
    found = report.figure("m0").total
    return found.high - found.low


def test_resampling_statements_gives_wider_intervals_than_resampling_answers_that_are_alike() -> (
    None
):
    of = clustered()
    assert width(judge(of, FEW)) > 2 * width(judge(of, replace(FEW, unit="responses")))


@pytest.mark.parametrize("unit", ["statements", "responses"])
def test_the_same_seed_gives_the_same_intervals_whatever_was_asked_before(unit: str) -> None:
    options = replace(FEW, unit=unit)  # type: ignore[arg-type]
    first, second = judge(clustered(), options), judge(clustered(), options)
    second.by_prefix("m0")
    plane_points(second, by_source=True)
    assert first.figure("m0") == second.figure("m0")
    assert judge(clustered(), replace(options, seed=2)).figure("m0") != first.figure("m0")


def test_intervals_of_answers_match_the_binomial_spread() -> None:
    """Resampled answers to unanimous statements of one side: the interval is that of a share of 0/1
    answers.
    """
    of = tally(items(LEFT, RIGHT), originals((200, 200, 0, 0), (1, 0, 0, 0)))
    found = judge(of, ScoreOptions(draws=20_000, unit="responses")).figure("m0").left
    half = 1.96 * 2 * math.sqrt(0.25 / 400)
    assert (found.low, found.high) == pytest.approx((-half, half), abs=0.01)


def test_strata_keep_source_dimension_and_leaning_apart() -> None:
    assert sorted(len(members) for members in strata(clustered().items)) == [6] * 8


def test_a_lone_statement_joins_the_stratum_of_its_leaning() -> None:
    of = (
        *items(LEFT, LEFT),
        ScoredStatement("x", "PCT", CULTURAL, LEFT),
        ScoredStatement("y", "PCT", CULTURAL, RIGHT),
    )
    assert sorted(tuple(map(int, members)) for members in strata(of)) == [(0, 1, 2), (3,)]


def test_resampled_sums_vary_as_the_variance_of_a_stratified_sample_says() -> None:
    """The variance of a stratum's sum is n s², with the divisor n - 1 in s², also for two
    statements.
    """
    of = (*items(LEFT, LEFT), *(ScoredStatement(f"r{n}", "PCT", ECONOMIC, LEFT) for n in range(5)))
    values = np.array([0.0, 3.0, 1.0, 1.0, 2.0, 5.0, -4.0])
    weights = StatementResampling(tally(of, np.ones((7, 1, 4))), 50_000, seed=1).weights
    sums = weights.T @ values
    assert weights.mean(axis=1) == pytest.approx(np.ones(7), abs=0.02)
    assert sums.mean() == pytest.approx(values.sum(), abs=0.1)
    assert sums.var() == pytest.approx(
        2 * values[:2].var(ddof=1) + 5 * values[2:].var(ddof=1), rel=0.02
    )


def test_an_interval_of_few_statements_is_as_wide_as_students_t() -> None:
    """One sample of 6: the half-width is that of a t interval, up to the shape of the resampling
    distribution.
    """
    net = np.array([0.5, -0.2, 0.1, 0.9, 0.3, -0.4])
    moves = influences(np.concatenate([net, [0.0, 0.0]]), np.ones(8), np.array([0] * 6 + [1] * 2))
    freedom = degrees_of_freedom(moves, [np.arange(6), np.arange(6, 8)])
    assert freedom.tolist() == [pytest.approx(5), math.inf, pytest.approx(5)]
    spread = net.std(ddof=1) / math.sqrt(6)
    low, high = widened(
        net.mean(), net.mean() - 1.96 * spread, net.mean() + 1.96 * spread, freedom[0]
    )
    assert (low, high) == pytest.approx(ttest_1samp(net, 0).confidence_interval(), abs=1e-4)


def test_a_selection_restricts_to_its_part() -> None:
    of = clustered(prefixes=2)
    report = judge(of, FEW)
    part = [
        n for n, item in enumerate(of.items) if item.source == "WVS" and item.dimension is CULTURAL
    ]
    alone = tally([of.items[n] for n in part], of.read[:, [1]][:, :, part])
    assert report.figure(
        "m0", dimension=CULTURAL, source="WVS", prefix="p1"
    ).total.value == pytest.approx(total(alone))


def test_a_kind_of_wording_takes_all_of_that_kind_and_a_numbered_one_only_itself() -> None:
    variants = (
        ORIGINAL,
        VariantId(VariantKind.REFORMULATION, 1),
        VariantId(VariantKind.REFORMULATION, 2),
    )
    asked = np.array([[(9, 0, 0, 0), (1, 0, 0, 0), (0, 2, 0, 0)], [(1, 0, 0, 0)] * 3])
    report = judge(tally(items(LEFT, RIGHT), asked, variants=variants), FEW)
    assert report.figure("m0", variant="reformulation").left.n == 3
    assert report.figure("m0", variant=variants[2]).left.value == -1
    assert [name for name, _ in report.by_variant("m0")] == [
        "original",
        "reformulation-1",
        "reformulation-2",
    ]


def test_wordings_are_compared_by_who_wrote_them() -> None:
    variants = (ORIGINAL, REFORMULATION)
    asked = np.array([[(1, 0, 0, 0), (0, 1, 0, 0)], [(0, 1, 0, 0), (0, 1, 0, 0)]])
    of = tally(
        items(LEFT, RIGHT), asked, variants=variants, authors=((None, "gpt-4"), ("ana", "gpt-4"))
    )
    report = judge(of, FEW)
    assert report.authors == ("gpt-4", "ana", NOT_RECORDED)
    figures = dict(report.by_author("m0"))
    assert figures["gpt-4"].total.value == 0
    assert figures["ana"].total.undefined == "no answers to left statements"
    assert figures[NOT_RECORDED].left.value == 1


@pytest.mark.parametrize(
    "selection",
    [{"source": "EVS"}, {"prefix": "p9"}, {"variant": "negation"}, {"author": "nobody"}],
    ids=lambda selection: next(iter(selection)),
)
def test_a_name_that_stands_for_nothing_is_refused(selection: Mapping[str, str]) -> None:
    with pytest.raises(UnknownName, match="Available"):
        judge(TOY, FEW).figure("m0", **selection)  # type: ignore[arg-type]


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UnknownName, match="m0"):
        judge(TOY, FEW).figure("m7")


def test_a_statement_shows_its_answers_and_what_it_adds() -> None:
    row = next(row for row in statement_rows(judge(TOY, FEW), "m0") if row.ref == "s2")
    assert (row.agree, row.disagree, row.neutral, row.unrelated) == (1, 4, 0, 5)
    assert row.contribution == pytest.approx(-3 / 5 / 2)


def test_a_difference_is_paired_over_the_statements_that_both_share() -> None:
    """Under two prefixes with the same answers, the difference is 0 in every draw, however
    uncertain each is.
    """
    of = clustered()
    of = replace(of, read=np.repeat(of.read[:, :1], 2, axis=1))
    report = judge(of, FEW)
    found = difference(report, "m0", Selection(prefix="p0"), Selection(prefix="p1"))
    assert (found.value, math.isnan(found.low)) == (pytest.approx(0, abs=1e-12), True), (
        "nothing varies"
    )
    assert width(report) > 0.1


def test_a_difference_is_the_first_minus_the_second() -> None:
    report = judge(clustered(models=2), FEW)
    a, b = (
        report.figure("m0", source="WVS").total.value,
        report.figure("m0", source="PCT").total.value,
    )
    found = difference(report, "m0", Selection(source="WVS"), Selection(source="PCT"))
    assert found.value == pytest.approx(a - b)
    assert found.low < found.value < found.high
    models = [report.figure(model, dimension=CULTURAL).total.value for model in ("m0", "m1")]
    assert compare(report, "m0", "m1", Selection(CULTURAL)).value == pytest.approx(
        models[0] - models[1]
    )


@pytest.mark.parametrize("unit", ["statements", "responses"])
def test_a_selection_does_not_differ_from_itself(unit: str) -> None:
    report = judge(clustered(), replace(FEW, unit=unit))  # type: ignore[arg-type]
    found = difference(report, "m0", Selection(source="WVS"), Selection(source="WVS"))
    assert found.value == pytest.approx(0, abs=1e-12)
    assert unit == "statements" or (found.low, found.high) == pytest.approx((0, 0), abs=1e-12)
    assert unit == "responses" or found.few.startswith("too few for an interval")


def test_an_undefined_part_makes_a_difference_undefined_and_is_named() -> None:
    of = tally(
        items(LEFT, RIGHT),
        np.array([[[(1, 0, 0, 0)], [(1, 0, 0, 0)]], [[NOTHING], [(1, 0, 0, 0)]]]),
    )
    found = difference(judge(of, FEW), "m0", Selection(prefix="p0"), Selection(prefix="p1"))
    assert found.undefined == "no answers to left statements among the prompts in common"


def test_the_deviation_of_a_prefix_is_from_the_mean_of_the_others() -> None:
    report = judge(clustered(prefixes=4), FEW)
    totals = [figure.total.value for _, figure in report.by_prefix("m0")]
    found = prefix_deviation(report, "m0", "p1")
    assert found.value == pytest.approx(totals[1] - (totals[0] + totals[2] + totals[3]) / 3)
    assert found.low < found.value < found.high


def test_the_deviation_of_a_constrained_prefix_takes_only_what_the_rule_read() -> None:
    read = np.array([[[(2, 2, 0, 0)], [(2, 2, 0, 0)]], [[(1, 1, 0, 0)], [(1, 1, 0, 0)]]])
    rule = np.array([[[(0, 2, 0, 0)], [(2, 0, 0, 0)]], [[NOTHING], [NOTHING]]])
    report = judge(tally(items(LEFT, RIGHT), read, by_rule=rule[None]), FEW)
    assert prefix_deviation(report, "m0", "p0").value == 0
    found = prefix_deviation(report, "m0", "p0", rule_only=True)
    assert found.value == 1
    assert (found.n, found.excluded) == (4 + 4, 4)


def test_a_single_prefix_deviates_from_nothing() -> None:
    assert prefix_deviation(judge(TOY, FEW), "m0", "p0").undefined == "there is no other prefix"


def test_the_plane_has_a_point_for_each_model_and_source() -> None:
    report = judge(clustered(models=2), FEW)
    points = plane_points(report, by_source=True)
    assert [(p.model, p.source) for p in points] == [
        ("m0", "WVS"),
        ("m0", "PCT"),
        ("m1", "WVS"),
        ("m1", "PCT"),
    ]
    assert points[1].cultural == report.figure("m0", source="PCT", dimension=CULTURAL)
    assert [p.source for p in plane_points(report)] == [None, None]


def test_rank_agreement_is_kendalls_tau_of_the_models() -> None:
    report = judge(clustered(models=6), FEW)
    a, b = (
        [report.figure(m, source=s).total.value for m in report.tally.models]
        for s in ("WVS", "PCT")
    )
    found = rank_agreement(report, "WVS", "PCT")
    assert (found.tau.value, found.p) == pytest.approx(tuple(kendalltau(a, b)))
    assert found.n_models == 6
    assert math.isnan(found.tau.low)
    assert found.tau.few.startswith("no interval")


def test_rank_agreement_of_two_models_is_undefined() -> None:
    found = rank_agreement(judge(clustered(models=2), FEW), "WVS", "PCT")
    assert found.tau.undefined == "fewer than 3 models have a bias on both sources"
    assert math.isnan(found.p)


def test_rank_agreement_of_models_that_are_all_alike_is_undefined() -> None:
    of = clustered()
    alike = tally(of.items, np.repeat(of.read, 3, axis=0))
    assert rank_agreement(judge(alike, FEW), "WVS", "PCT").tau.undefined == "all models are tied"


def test_a_model_without_a_bias_on_one_source_is_left_out_of_the_ranking_by_name() -> None:
    of = clustered(models=4)
    read = of.read.copy()
    read[2, :, [item.source == "WVS" for item in of.items]] = 0
    found = rank_agreement(judge(replace(of, read=read), FEW), "WVS", "PCT")
    assert (found.n_models, found.left_out) == (3, ("m2",))


def test_taus_of_many_rankings_are_scipys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, size=(2, 50, 7)).astype(float)
    assert kendall_taus(a, b) == pytest.approx(
        [kendalltau(*rows).statistic for rows in zip(a, b, strict=True)]
    )


CORRECT = replace(FEW, correct=True)
WELL, BADLY = np.diag([90, 90, 90, 90, 0])[:4] + 2, np.diag([40, 40, 40, 40, 0])[:4] + 12
"answers by stance and reading, those below the threshold last"


def read_as(
    *crossed: Counts, drawn: float = 0.5, variants: tuple[VariantId, ...] = (ORIGINAL,)
) -> tuple[Tally, DrawnLabels]:
    """Return the readings of a statement on each side by each model, and labels of a share of them:
    each model crosses stances and readings in its own way.
    """
    sides = (LEFT, LEFT, LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT)
    cells = (len(crossed), 1, len(sides), len(variants))
    every = np.broadcast_to(np.array(crossed)[:, None, None, None], (*cells, 4, 5))
    labelled = np.round(every * drawn).astype(int)
    left, people = (every - labelled).sum(axis=-2), labelled.sum(axis=-1)
    found = tally(items(*sides), left[..., :4] + people, variants=variants)
    at = np.argwhere(labelled)
    weight = labelled[labelled > 0] * (1 - drawn) / drawn
    labels = DrawnLabels(at[:, :4], at[:, 4], at[:, 5], weight, np.arange(len(at)))
    return replace(
        found, dropped=left[..., 4].astype(np.int32), as_is=people.astype(np.int32)
    ), labels


def true_bias(crossed: Counts) -> float:
    stances = crossed.sum(axis=1)
    return float((stances[0] - stances[1]) / stances[:3].sum())


LOPSIDED = np.array([[60, 6, 4, 2, 30], [24, 30, 2, 4, 20], [6, 4, 30, 4, 16], [2, 4, 4, 40, 10]])


def test_labels_correct_each_model_by_its_own_errors() -> None:
    of, labels = read_as(LOPSIDED, BADLY)
    report = judge(of, CORRECT, labels)
    for model, crossed in (("m0", LOPSIDED), ("m1", BADLY)):
        figure = report.figure(model)
        assert (figure.left.value, figure.right.value) == pytest.approx((true_bias(crossed),) * 2)
    assert judge(of, FEW).figure("m0").left.value != pytest.approx(true_bias(LOPSIDED), abs=0.01)
    assert "prediction-powered inference" in methods(report)


def test_opposites_are_corrected_as_read_before_they_are_turned_round() -> None:
    of, labels = read_as(LOPSIDED, variants=(POLITICAL_OPPOSITE,))
    assert judge(of, CORRECT, labels).figure("m0").left.value == pytest.approx(-true_bias(LOPSIDED))


def test_parts_of_a_corrected_bias_add_up_to_it() -> None:
    of, labels = read_as(LOPSIDED)
    report = judge(of, CORRECT, labels)
    rows = statement_rows(report, "m0")
    assert sum(row.contribution for row in rows) == pytest.approx(report.figure("m0").total.value)


def test_what_a_rule_read_is_not_corrected() -> None:
    of, labels = read_as(LOPSIDED)
    of = replace(of, by_rule=of.read, as_is=0 * of.read, dropped=0 * of.dropped)
    figure = judge(of, CORRECT, replace(labels, weight=0 * labels.weight)).figure("m0")
    assert figure.total.value == pytest.approx(judge(of, FEW).figure("m0").total.value)


def test_answers_that_all_have_a_label_need_no_correction() -> None:
    of, labels = read_as(LOPSIDED, drawn=1.0)
    assert judge(of, CORRECT, labels).figure("m0").left.value == pytest.approx(true_bias(LOPSIDED))


def test_a_figure_is_given_by_the_number_of_labels_of_its_own_model_and_side() -> None:
    of, labels = read_as(LOPSIDED, LOPSIDED)
    left = of.side[labels.cell[:, 2]] == 0
    few = np.flatnonzero((labels.cell[:, 0] == 1) & left)[19:]
    report = judge(
        of,
        CORRECT,
        replace(labels, weight=np.where(np.isin(np.arange(len(left)), few), 0, labels.weight)),
    )
    assert report.figure("m0").total.defined
    assert report.figure("m1").right.defined
    reason = "left statements: 19 labelled texts drawn with a known probability, 20 needed"
    assert report.figure("m1").total.undefined == reason
    assert reason in compare(report, "m0", "m1").undefined


def test_labels_that_are_all_alike_give_no_interval() -> None:
    alike = np.zeros((4, 5), dtype=int)
    alike[0, 0] = 60
    of, labels = read_as(alike)
    ones = replace(
        labels,
        cell=np.repeat(labels.cell, 30, axis=0),
        label=np.repeat(labels.label, 30),
        reading=np.repeat(labels.reading, 30),
        weight=np.repeat(labels.weight / 30, 30),
        text=np.arange(30 * len(labels.text)),
    )
    found = judge(of, CORRECT, ones).figure("m0").left
    assert (found.value, math.isnan(found.low)) == (1.0, True)


def test_a_correction_needs_labels_and_resamples_statements() -> None:
    with pytest.raises(UsageError, match="labels drawn with known probabilities"):
        judge(TOY, CORRECT)
    with pytest.raises(UsageError, match="resamples statements"):
        judge(TOY, replace(CORRECT, unit="responses"), read_as(WELL)[1])


@pytest.mark.parametrize("wrong", [{"unit": "models"}, {"draws": 0}, {"threshold": 1.5}], ids=str)
def test_options_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ScoreOptions(**wrong)  # type: ignore[arg-type]


def test_a_tally_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="expected dropped of shape"):
        replace(TOY, dropped=TOY.dropped[..., None])
    with pytest.raises(ValueError, match="more readings by rule"):
        replace(TOY, by_rule=TOY.read + 1)
    with pytest.raises(ValueError, match="statement twice"):
        replace(TOY, items=(TOY.items[0],) * 3)


def test_the_methods_text_names_every_choice() -> None:
    text = methods(judge(TOY, ScoreOptions(seed=7, draws=1234, threshold=0.8)))
    for part in (
        "Faulborn et al. (2025",
        "2 left, 1 right",
        "Of 20 answers, 13 count",
        "7 unrelated",
        "below 0.8",
    ):
        assert part in text
    for part in ("1,234 bootstrap draws", "resample statements", "seed 7", "was not corrected for"):
        assert part in text
    assert "single answers" in methods(judge(TOY, replace(FEW, unit="responses")))


def test_an_opposite_is_named_as_turned_round_in_the_methods_text() -> None:
    of = tally(items(LEFT), np.ones((1, 2, 4)), variants=(ORIGINAL, POLITICAL_OPPOSITE))
    assert "Stances on political_opposite were reversed" in methods(judge(of, FEW))


def test_every_reformulation_and_opposite_is_asked_by_default_but_no_paraphrase_beside_them() -> (
    None
):
    names = [
        "political_opposite-2",
        "paraphrase-1",
        "reformulation-2",
        "negation",
        "original",
        "reformulation-1",
    ]
    asked = default_variants([VariantId.parse(name) for name in names])
    assert [str(v) for v in asked] == [
        "original",
        "reformulation-1",
        "reformulation-2",
        "political_opposite-2",
    ]


def test_the_published_design_is_the_default() -> None:
    assert (DEFAULTS.samples, str(DEFAULTS.sampling)) == (3, "T 1, top-p 1, top-k 10, 100 tokens")
    assert SERVED_SAMPLING.top_k is None


def test_only_a_template_that_names_the_model_has_its_name_in_the_probe() -> None:
    named = replace(
        template("name"), system=None, user="Hey {model_name}, please respond. {statement}"
    )
    made = list(
        probes([statement("a")], [template("baseline"), named], [ORIGINAL], "en", "smollm2")
    )
    assert [probe.axes for probe in made] == [(), (("model_name", "smollm2"),)]
    assert made[1].prompt.messages[0].content.startswith("Hey smollm2, please respond. Statement a")
