"""Chance is a model: letters drawn at random, the first option always, a coin, and agreeing to
everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from tests.core.predicted import QM, asked
from workbench.audits.bias_score.counting import ScoredStatement, Selection, Tally, pick
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import BiasReport
from workbench.audits.bias_score.score import judge as bias_report
from workbench.audits.bias_score.tables import prefix_changes
from workbench.audits.claims import LEVEL, AdjustedFinding, Finding, OfModel, sentences_of, shown
from workbench.audits.consistency.stances import (
    Family,
    IssueStance,
    PartyPositions,
    Stances,
    family_gaps,
    issue_stance,
    leaning,
    sides,
)
from workbench.audits.questionnaire.figures import ConditionFigures
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import judge as predictions
from workbench.audits.response_bias.answers import ChoiceTable
from workbench.audits.response_bias.changes import deltas
from workbench.audits.response_bias.findings import change_reach
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.score import ChangeCell, ChangeReport, judge
from workbench.domain.choices import LETTERS, Bias, Perturbation
from workbench.domain.instruments import Party
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL, POLITICAL_OPPOSITE, REFORMULATION, Dimension, Side
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.hypothesis_tests import benjamini_bogomolov, benjamini_hochberg, holm
from workbench.stats.resampling import derive_rng

K, DRAWN = 40, 50
FORMS = {
    Bias.ACQUIESCENCE: (2, 2),
    Bias.ALLOW_FORBID: (2, 2),
    Bias.RESPONSE_ORDER: (4, 4),
    Bias.OPINION_FLOAT: (5, 6),
    Bias.ODD_EVEN: (5, 4),
}
"options of the two forms"


def table(
    bias: Bias, shares: FloatArray, rng: np.random.Generator, condition: Perturbation | None = None
) -> ChoiceTable:
    """Return answers drawn to K questions; `shares`: of the letters of each form, (2, 26), as they
    are shown.
    """
    counts = np.stack([rng.multinomial(DRAWN, form, size=K) for form in shares], axis=1).astype(
        np.float64
    )
    if bias is Bias.RESPONSE_ORDER and condition is None:
        options = FORMS[bias][1]
        counts[:, 1, :options] = counts[:, 1, :options][:, ::-1]
    offered = np.tile(FORMS[bias] if condition is None else (FORMS[bias][0],) * 2, (K, 1))
    return table_of(bias, counts, offered, DRAWN, condition)


def table_of(
    bias: Bias,
    counts: FloatArray,
    offered: IntArray,
    drawn: int,
    condition: Perturbation | None = None,
) -> ChoiceTable:
    """Return the answers of a model without blank or invalid ones."""
    n_questions = len(counts)
    return ChoiceTable(
        model="null",
        bias=bias,
        condition=condition,
        keys=tuple(f"q{n}" for n in range(n_questions)),
        counts=counts,
        blanks=np.zeros((n_questions, 2)),
        invalid=np.zeros((n_questions, 2)),
        recorded=offered,
        offered=offered,
        named_as_original=np.zeros(n_questions, dtype=np.bool_),
        total=drawn,
    )


def uniform(options: int) -> FloatArray:
    return np.where(np.arange(len(LETTERS)) < options, 1 / options, 0.0)


def first(_options: int) -> FloatArray:
    return np.where(np.arange(len(LETTERS)) == 0, 1.0, 0.0)


def report(
    rng: np.random.Generator, shares=uniform, definition: Definition = Definition.CORRECTED
) -> ChangeReport:  # type: ignore[no-untyped-def]
    given = [
        table(bias, np.array([shares(n) for n in forms]), rng) for bias, forms in FORMS.items()
    ]
    return judge(given, ChangeOptions(definition))


@pytest.mark.parametrize(
    ("bias", "points"),
    [
        (Bias.ODD_EVEN, 100 * (2 / 4 - 2 / 5)),
        (Bias.OPINION_FLOAT, 100 * (1 / 5 - 1 / 6)),
        (Bias.ACQUIESCENCE, 0),
    ],
)
def test_the_change_that_letters_at_random_give_is_arithmetic(bias: Bias, points: float) -> None:
    rng = derive_rng(1, "chance")
    found = deltas(table(bias, np.array([uniform(n) for n in FORMS[bias]]), rng))
    assert found.by_chance == pytest.approx(points)
    assert found.values.mean() == pytest.approx(points, abs=4)


def test_the_first_option_always_gives_the_change_that_stands_beside() -> None:
    """Primacy is the bias of response order, and `allow` as well as `forbid` is against people."""
    wanted = {Bias.RESPONSE_ORDER: 100, Bias.ALLOW_FORBID: -100}
    for cell in report(derive_rng(2, "chance"), first).cells:
        assert cell.by_first == cell.delta.mean == wanted.get(cell.bias, 0)


def test_letters_drawn_at_random_are_human_like_no_more_often_than_the_level_says() -> None:
    """Without chance beside it, odd/even is significant in nearly every one of these models."""
    runs = 200
    reports = [report(derive_rng(seed, "null")) for seed in range(runs)]
    claims = {bias: sum(one.cell(bias).effect != 0 for one in reports) / runs for bias in FORMS}
    assert max(claims.values()) < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5, claims
    raw = sum(one.cell(Bias.ODD_EVEN).delta.p < 0.05 for one in reports) / runs
    assert raw > 0.95
    assert (
        sum(one.cell(Bias.ODD_EVEN).result_text == "not beyond chance" for one in reports) / runs
        > 0.9
    )


def test_a_model_that_never_takes_the_middle_is_not_said_to_be_against_people() -> None:
    def sides(options: int) -> FloatArray:
        letter = np.arange(len(LETTERS))
        chosen = ((letter < options) & ((letter != options // 2) | (options % 2 == 0))).astype(
            np.float64
        )
        return chosen / chosen.sum()

    assert report(derive_rng(3, "chance"), sides).cell(Bias.ODD_EVEN).effect == 0


def test_beyond_chance_is_not_enough_where_nothing_tells_the_positions_apart() -> None:
    """Order questions of four options compare the third position with the second one alone."""

    def moved(options: int) -> FloatArray:
        shares = uniform(options)
        if options == 4:
            shares[:4] = (0.1, 0.4, 0.4, 0.1)
        return shares

    cell = report(derive_rng(4, "chance"), moved).cell(Bias.ODD_EVEN)
    assert max(cell.delta.p, cell.beyond.p) < 0.001
    assert (cell.effect, cell.result_text) == (0, "may be position")
    whole = report(derive_rng(4, "chance"), moved, Definition.PAPER).cell(Bias.ODD_EVEN)
    assert (whole.effect, whole.human_like) == (1, 1)


def test_the_published_definition_tests_against_nothing_but_zero() -> None:
    cell = report(derive_rng(5, "chance"), uniform, Definition.PAPER).cell(Bias.ODD_EVEN)
    assert cell.effect == 1
    assert cell.p_adjusted == cell.delta.p


# ── policy issues ─────────────────────────────────────────────────────────────────────────────────

ISSUES, EACH, TEMPLATES = 8, 16, 3


def positions(minus: int) -> PartyPositions:
    """Return issues with labels of which so many of each sixteen are -1."""
    labels = np.zeros((ISSUES, ISSUES * EACH), dtype=np.int8)
    for issue in range(ISSUES):
        labels[issue, issue * EACH : (issue + 1) * EACH] = [*[-1] * minus, *[1] * (EACH - minus)]
    refs = tuple(f"s{n}" for n in range(ISSUES * EACH))
    nobody = np.zeros((0, len(refs)), dtype=np.int8)
    return PartyPositions(
        refs, (None,) * len(refs), (), nobody, tuple(f"i{n}" for n in range(ISSUES)), labels
    )


def on_issues(agree: FloatArray, minus: int, rng: np.random.Generator) -> list[IssueStance]:
    """Return stances of a respondent that agrees to each statement with some probability, the same
    by template.
    """
    of = positions(minus)
    values = np.where(rng.random(len(of.statements)) < agree, 1, -1).astype(np.int8)
    found = Stances(
        "null",
        "model",
        tuple(f"t{n}" for n in range(TEMPLATES)),
        of.statements,
        np.tile(values, (3, 1)),
    )
    return [issue_stance(found, of, issue, "signed", 1, 500) for issue in of.issues]


def taken(found: Sequence[IssueStance]) -> dict[str, int]:
    """Return the sides that a report on this respondent alone would claim."""
    return sides(found, holm([one.p for one in found]).tolist())


@pytest.mark.parametrize(
    ("name", "agree", "minus", "before"),
    [("a coin", 0.5, 8, 0.05), ("nearly always agrees", 0.9, 3, 0.95)],
)
def test_who_answers_whatever_the_label_takes_no_side(
    name: str, agree: float, minus: int, before: float
) -> None:
    """`before`: the share of models that take a side on some issue by their intervals alone, at
    least.
    """
    models = [
        on_issues(np.full(ISSUES * EACH, agree), minus, derive_rng(seed, name))
        for seed in range(60)
    ]
    by_interval = sum(
        any(one.value.low > 0 or one.value.high < 0 for one in of) for of in models
    ) / len(models)
    claimed = sum(bool(taken(of)) for of in models) / len(models)
    assert by_interval >= before
    assert claimed <= 0.05 + 3 * (0.05 * 0.95 / len(models)) ** 0.5


def test_who_follows_the_labels_takes_a_side() -> None:
    labels = positions(5).labels.sum(axis=0)
    found = on_issues(np.where(labels > 0, 0.95, 0.05), 5, derive_rng(1, "follows"))
    assert set(taken(found).values()) == {1}
    assert len(taken(found)) >= 7
    assert all(
        one.regardless == pytest.approx(np.mean([*[-1] * 5, *[1] * 11]) * sum_of(one), abs=0.2)
        for one in found
    )


def sum_of(one: IssueStance) -> float:
    """Return the share of agreement minus that of disagreement, mean over templates."""
    each = [
        (t.agree_supports + t.agree_opposes - t.disagree_supports - t.disagree_opposes) / EACH
        for t in one.tallies
    ]
    return float(np.mean(each))


def test_where_all_labels_are_alike_supporting_and_agreeing_are_the_same() -> None:
    found = on_issues(np.ones(ISSUES * EACH), 0, derive_rng(1, "alike"))
    assert all(np.isnan(one.p) for one in found)
    assert taken(found) == {}


def test_who_agrees_to_nearly_all_is_not_said_to_agree_with_a_family() -> None:
    """Left parties agree to 70 % of the statements, right ones to 30 %; the model agrees to 90 %,
    whatever they say.
    """
    claimed, by_interval, runs = 0, 0, 60
    for seed in range(runs):
        rng = derive_rng(seed, "families")
        refs = tuple(f"s{n}" for n in range(56))
        parties = tuple(
            Party("vd", f"{place} {n}", place) for place in (2.0, 8.0) for n in range(3)
        )
        agrees = np.repeat([0.7, 0.3], 3)[:, None]
        answers = np.where(rng.random((6, 56)) < agrees, 1, -1).astype(np.int8)
        of = PartyPositions(
            refs, ("vd",) * 56, parties, answers, (), np.zeros((0, 56), dtype=np.int8)
        )
        values = np.where(rng.random(56) < 0.9, 1, -1).astype(np.int8)
        stances = Stances("null", "model", ("t",), refs, values[None])
        (gap,) = [
            one
            for one in family_gaps(stances, of, 1)
            if {one.first, one.second} == {Family.LEFT, Family.RIGHT}
        ]
        left, _, right = (one.share for one in leaning(stances, of, "all", 500).families)
        by_interval += left.low > right.high
        claimed += gap.p < 0.05
        assert gap.value == pytest.approx(left.value - right.value)
        assert gap.regardless > 0.1
    assert by_interval / runs > 0.5
    assert claimed / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


# ── the bias score ────────────────────────────────────────────────────────────────────────────────

A_SIDE, MODELS, PREFIXES, RUNS = 16, 11, 2, 3
WORDINGS = (ORIGINAL, REFORMULATION, POLITICAL_OPPOSITE)
ITEMS = tuple(
    ScoredStatement(f"{dimension}-{side}-{n}", "", dimension, side)
    for dimension in Dimension
    for side in Side
    for n in range(A_SIDE // 2)
)
LEFT = np.array([item.leaning is Side.LEFT for item in ITEMS])
EVERY = np.ones(len(ITEMS), dtype=np.bool_)
AGREES = np.array([0.85, 0.1, 0.04, 0.01])
"shares of agree, disagree, neutral, unrelated of a model that nearly always agrees"


def free_answers(
    rng: np.random.Generator, stances: FloatArray, opposites: BoolArray = EVERY
) -> Tally:
    """Return answers of models that take stances, (M, S, W, 4), on wordings; opposites are asked of
    some statements.
    """
    models = len(stances)
    read = rng.multinomial(RUNS, np.repeat(stances[:, None], PREFIXES, axis=1)).astype(np.int32)
    read[:, :, ~opposites, 2] = 0
    nothing = np.zeros(read.shape[:-1], dtype=np.int32)
    return Tally(
        models=tuple(f"m{n}" for n in range(models)),
        prefixes=tuple(f"p{n}" for n in range(PREFIXES)),
        items=ITEMS,
        variants=WORDINGS,
        authors=((None,) * len(WORDINGS),) * len(ITEMS),
        read=read,
        by_rule=np.zeros_like(read),
        dropped=nothing,
        unread=nothing,
    )


def turned(stances: FloatArray) -> FloatArray:
    """Return stances on the wordings of statements, (..., S, W, 4): opposites are answered the
    other way round.
    """
    return np.stack([stances, stances, stances[..., [1, 0, 2, 3]]], axis=-2)


def of_opinions(rng: np.random.Generator, models: int) -> FloatArray:
    """Return an opinion on each statement that has nothing to do with its side."""
    return turned(rng.dirichlet(2 * np.array([0.4, 0.3, 0.2, 0.1]), size=(models, len(ITEMS))))


def of_coins(rng: np.random.Generator, models: int) -> FloatArray:
    return turned(np.eye(4)[rng.integers(0, 2, (models, len(ITEMS)))])


def of_agreeing(rng: np.random.Generator, models: int) -> FloatArray:
    """Return stances that agree with nearly every wording, whatever it says."""
    return np.repeat(
        rng.dirichlet(20 * AGREES, size=(models, len(ITEMS)))[:, :, None], len(WORDINGS), axis=2
    )


def claims(reports: Sequence[BiasReport]) -> tuple[float, float]:
    """Return the share of reports with a model whose interval leaves out 0, and with one that is
    said to lean.
    """
    found = []
    for one in reports:
        totals = [one.figure(model).total for model in one.tally.models]
        by_interval = any(total.low > 0 or total.high < 0 for total in totals)
        found.append((by_interval, any(lean.side is not None for lean in one.leans().values())))
    by_interval, said = np.mean(found, axis=0)
    return float(by_interval), float(said)


@pytest.mark.parametrize(
    ("make", "opposites", "same", "before"),
    [
        (of_opinions, "both", False, 0.2),
        (of_opinions, "both", True, 0.0),
        (of_coins, "both", False, 0.0),
        (of_agreeing, "both", False, 0.2),
        (of_agreeing, "left", False, 1.0),
    ],
    ids=[
        "opinions",
        "the same model eleven times",
        "coins",
        "agreeing",
        "agreeing, opposites of the left alone",
    ],
)
def test_models_without_a_lean_are_said_to_lean_no_more_often_than_the_level_says(
    make: Callable[[np.random.Generator, int], FloatArray],
    opposites: str,
    same: bool,
    before: float,
) -> None:
    """`before`: the share of reports in which an interval alone says that one of eleven models
    leans, at least.
    """
    runs, asked = 20, LEFT | (opposites == "both")
    reports = []
    for seed in range(runs):
        rng = derive_rng(seed, "lean", make.__name__)
        stances = make(rng, 1).repeat(MODELS, axis=0) if same else make(rng, MODELS)
        reports.append(
            bias_report(free_answers(rng, stances, asked), ScoreOptions(seed, draws=200))
        )
    by_interval, said = claims(reports)
    assert by_interval >= before
    assert said <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_model_that_leans_is_found_among_eleven() -> None:
    rng = derive_rng(1, "leans")
    stances = of_opinions(rng, MODELS)
    likes = np.where(LEFT[:, None], (0.8, 0.1, 0.1, 0.0), (0.2, 0.7, 0.1, 0.0))
    stances[0] = turned(np.array([rng.dirichlet(4 * row + 0.01) for row in likes]))
    sides = {
        name: lean.side
        for name, lean in bias_report(free_answers(rng, stances), ScoreOptions(1)).leans().items()
    }
    assert sides == {name: Side.LEFT if name == "m0" else None for name in sides}


@pytest.mark.parametrize("opposites", [LEFT, ~LEFT, EVERY])
def test_agreeing_with_everything_has_the_bias_that_stands_beside(opposites: BoolArray) -> None:
    """Opposites of one side alone: bias 1 on the other side, 1/3 on this one."""
    always = np.tile(np.eye(4)[:2, None, None], (1, len(ITEMS), len(WORDINGS), 1))
    report = bias_report(
        free_answers(derive_rng(1, "always"), always, opposites), ScoreOptions(1, draws=200)
    )
    agrees, disagrees = (report.figure(model) for model in report.tally.models)
    left, right = (1 / 3 if opposites[side].all() else 1.0 for side in (LEFT, ~LEFT))
    assert agrees.agreeing == disagrees.agreeing == pytest.approx((left, right, (right - left) / 2))
    assert agrees.agreeing == (agrees.left.value, agrees.right.value, agrees.total.value)
    assert disagrees.total.value == pytest.approx(-agrees.agreeing[2])
    assert all(lean.side is None for lean in report.leans().values())
    assert (
        report.leans()["m0"].regardless
        == report.leans()["m1"].regardless * -1
        == agrees.agreeing[2]
    )


@pytest.mark.parametrize("unit", ["statements", "responses"])
def test_95_percent_of_coins_stay_within_the_range_that_stands_beside(unit: str) -> None:
    rng, models = derive_rng(2, unit), 600
    stances = of_coins(rng, models)
    if unit == "responses":
        stances = np.full_like(stances, 0.5) * np.array([1, 1, 0, 0])
    report = bias_report(free_answers(rng, stances), ScoreOptions(1, draws=1, unit=unit))
    picks = [pick(report.tally, model, Selection()) for model in report.tally.models]
    within = np.abs(report.estimates(picks)[0][:, 2]) <= report.figure("m0").coin
    assert 0.92 <= within.mean() <= 0.98


@pytest.mark.parametrize(("each", "tested"), [(2, False), (3, True), (8, True)])
def test_prefixes_are_said_to_move_a_coin_no_more_often_than_the_level_says(
    each: int, tested: bool
) -> None:
    """Draws of two statements reach hardly any value: p was below .001 in 24 % of these models."""
    places = [at for at in range(len(ITEMS)) if at % (A_SIDE // 2) < each]
    rng = derive_rng(each, "prefixes")
    stances = np.broadcast_to([0.5, 0.5, 0.0, 0.0], (60, len(ITEMS), len(WORDINGS), 4))
    whole = free_answers(rng, stances)
    some = {
        name: getattr(whole, name)[:, :, places]
        for name in ("read", "by_rule", "dropped", "unread")
    }
    items, authors = (tuple(of[at] for at in places) for of in (whole.items, whole.authors))
    tally = replace(whole, prefixes=("baseline", "likert"), items=items, authors=authors, **some)
    report = bias_report(tally, ScoreOptions(1_000))
    p = np.array([prefix_changes(report, model).noise.p for model in tally.models])
    assert np.isfinite(p).all() == tested
    assert (p < 0.05).mean() <= 0.05 + 3 * (0.05 * 0.95 / len(p)) ** 0.5


# ── predictions of people's answers ───────────────────────────────────────────────────────────────

SAY_YES = np.array([0.5, 0.35, 0.65, 0.5, 0.4, 0.6, 0.5])
"of the population, to each question"
PEOPLE = 60


def told(rng: np.random.Generator, p_yes: FloatArray) -> ConditionFigures:
    """Return the figures of a model that says yes to each question with a probability, to people
    drawn anew.
    """
    human = (rng.random((len(SAY_YES), PEOPLE)) < SAY_YES[:, None]).astype(np.float64)
    yes = np.broadcast_to(p_yes, human.shape)
    leanings = (
        Pole.CONSERVATIVE,
        Pole.CONSERVATIVE,
        Pole.LIBERAL,
        None,
        Pole.CONSERVATIVE,
        None,
        None,
    )
    made = replace(asked(human, yes, 1 - yes), leanings=leanings)
    return predictions(made, PredictionOptions(draws=200)).condition(QM)


def test_a_model_without_bias_has_one_on_some_question_no_more_often_than_the_level_says() -> None:
    """By the intervals alone, one in four such models or more has a bias on one of seven
    questions.
    """
    runs = 60
    found = [told(derive_rng(seed, "no bias"), SAY_YES[:, None]) for seed in range(runs)]
    sides = {"above", "below"}
    assert np.mean([bool(sides & {one.direction for one in of.targets}) for of in found]) > 0.2
    assert (
        np.mean([bool(sides & set(of.directions)) for of in found])
        <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    )
    biased = told(
        derive_rng(1, "a bias"), np.clip(SAY_YES + 0.35 * (np.arange(7) == 2), 0, 1)[:, None]
    )
    assert biased.directions == ("none", "none", "above", "none", "none", "none", "none")


@pytest.mark.parametrize("name", ["a coin", "always yes", "the majority"])
def test_who_knows_nothing_of_the_people_is_not_shown_to_be_right_more_often_than_the_majority(
    name: str,
) -> None:
    runs, shown = 60, 0
    for seed in range(runs):
        rng = derive_rng(seed, name)
        p_yes = {
            "a coin": rng.random((len(SAY_YES), PEOPLE)),
            "always yes": np.ones(1),
            "the majority": SAY_YES[:, None],
        }
        found = told(rng, p_yes[name])
        shown += found.over_majority.low > 0 and found.p_majority < 0.05
    assert shown / runs <= 0.05


def test_always_yes_and_a_coin_have_the_figures_that_stand_beside() -> None:
    for name, yes in (("always_yes", 1.0), ("coin", 0.5)):
        found = told(derive_rng(2, "beside"), np.full(1, yes))
        beside = getattr(found, name)
        assert (found.absolute_bias.value, found.axis.value) == pytest.approx(
            (beside.absolute_bias, beside.axis)
        )
        assert [one.bias.value for one in found.targets] == pytest.approx(
            [getattr(one, name) for one in found.targets]
        )
        if name == "always_yes":
            assert found.accuracy.value == pytest.approx(beside.accuracy)
    assert found.coin.accuracy == 0.5
    assert found.over_majority.value == pytest.approx(found.accuracy.value - found.majority)


def test_who_knows_the_people_is_shown_to_be_right_more_often_than_the_majority() -> None:
    rng = derive_rng(3, "knows")
    human = (rng.random((len(SAY_YES), PEOPLE)) < SAY_YES[:, None]).astype(np.float64)
    yes = np.where(rng.random(human.shape) < 0.85, human, 1 - human)
    found = predictions(asked(human, yes, 1 - yes), PredictionOptions(draws=200)).condition(QM)
    assert found.over_majority.low > 0
    assert found.p_majority < 0.001


# ── a report ──────────────────────────────────────────────────────────────────────────────────────


def made(p: Sequence[FloatArray]) -> list[AdjustedFinding]:
    """Return claims about a question each, which say which of their tests hold."""

    def said(adjusted: Sequence[float]) -> list[OfModel]:
        return [OfModel(str(index), "", p=p) for index, p in enumerate(adjusted) if p < LEVEL]

    return [
        AdjustedFinding(tuple(tests), said, f"question {index}") for index, tests in enumerate(p)
    ]


def texts(findings: Sequence[Finding]) -> list[str]:
    return [
        str(sentence).removesuffix(" (exploratory).")
        for sentence in sentences_of(findings).sentences
    ]


@pytest.mark.parametrize("sizes", [(1,) * 40, (20, 20, 1, 1), (7,) * 12])
def test_an_audit_without_any_effect_claims_something_no_more_often_than_the_level_says(
    sizes: tuple[int, ...],
) -> None:
    rng, runs = derive_rng(1, "reports"), 2_000
    audits = [[rng.random(n) for n in sizes] for _ in range(runs)]
    alone = np.mean([any((p < LEVEL).any() for p in tests) for tests in audits])
    claimed = np.mean([bool(texts(made(tests))) for tests in audits])
    assert alone > 0.8
    assert claimed <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / runs) ** 0.5


def test_true_claims_about_one_question_do_not_make_false_ones_about_another_more_likely() -> None:
    """Eleven models without a lean, beside 22 true claims: as one family, a quarter of the reports
    had a false lean.
    """
    rng, runs = derive_rng(1, "beside true ones"), 2_000
    true = np.full(22, 1e-6)
    false_leans = together = 0
    for _ in range(runs):
        leans = rng.random(11)
        together += bool((benjamini_hochberg(np.concatenate([leans, true]))[:11] < LEVEL).any())
        false_leans += bool((benjamini_bogomolov([leans, true])[0] < LEVEL).any())
    assert together / runs > 0.2
    assert false_leans / runs <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / runs) ** 0.5


def test_a_question_of_many_tests_costs_the_others_no_more_than_one_of_a_single_test() -> None:
    rng = derive_rng(1, "shares")
    few, many = ([np.array([0.004]), 0.5 + rng.random(n) / 2] for n in (1, 40))
    assert [texts(made(tests)) for tests in (few, many)] == [["0"], ["0"]]
    assert texts(made([np.array([0.04]), np.array([0.6])])) == []


def test_findings_about_one_question_are_one_family_and_plain_sentences_stay() -> None:
    claims = made([np.array([0.03]), np.array([0.9])])
    assert texts(claims[:1]) == ["0"]
    assert texts(["As it is.", *claims]) == ["As it is."], "0.03 of two questions"
    same = [replace(claim, question="lean") for claim in claims]
    assert texts(same) == [], "0.03 of two tests of one question"
    told = sentences_of(made([np.array([0.001, 0.2]), np.array([math.nan])]))
    assert (told.n_tests, told.n_shown) == (2, 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_of_one_question_is_that_of_scipy(p: list[float]) -> None:
    expected = false_discovery_control(p, method="bh")
    assert benjamini_bogomolov([p])[0] == pytest.approx(expected)
    assert benjamini_bogomolov([p, [math.nan]])[0] == pytest.approx(expected), (
        "a family without a test is none"
    )


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1, max_size=6),
    st.floats(0.001, 0.5),
)
def test_adjusted_p_reject_what_the_two_steps_reject(
    families: list[list[float]], level: float
) -> None:
    """Select families by Simes' p at a level, then test within the selected ones at the level times
    their share.
    """
    within = [false_discovery_control(p, method="bh") for p in families]
    selected = false_discovery_control([p.min() for p in within], method="bh") <= level
    threshold = level * selected.sum() / len(families)
    for p, tests, is_selected in zip(benjamini_bogomolov(families), within, selected, strict=True):
        # Ends are a matter of rounding.
        clear = (np.abs(tests - threshold) > 1e-9) & (np.abs(p - level) > 1e-9)
        assert ((p <= level) == (is_selected & (tests <= threshold)))[clear].all()


def test_what_is_said_of_several_models_is_one_sentence_and_the_strongest_claim_comes_first() -> (
    None
):
    def lean(model: str, value: str, p: float) -> AdjustedFinding:
        def said(adjusted: Sequence[float]) -> list[OfModel]:
            (q,) = adjusted
            return [
                OfModel(
                    "Lean left" if q < LEVEL else "Undecided",
                    model,
                    value,
                    shown(adjusted),
                    f"{model} few",
                )
            ]

        return AdjustedFinding((p,), said, "lean")

    described = [OfModel("Size", name, "8 of 8") for name in "ab"]
    claims = [lean("a", "-0.4", 0.01), lean("b", "0.0", 0.9), lean("c", "-0.7", 0.001)]
    told = sentences_of([*described, *claims])
    found = told.sentences
    assert (told.n_tests, told.n_shown) == (3, 2)
    assert list(map(str, found)) == [
        "Lean left: a -0.4; c -0.7 (exploratory).",
        "Size: a 8 of 8; b 8 of 8.",
        "Undecided: b 0.0.",
    ]
    assert found[0].p == pytest.approx(0.003)
    assert found[0].doubts == ("a: a few", "c: c few")


def test_without_response_order_a_change_by_the_first_option_may_be_position() -> None:
    mostly_first = 0.6 * first(2) + 0.4 * uniform(2)
    alone = [table(Bias.ALLOW_FORBID, np.array([mostly_first] * 2), derive_rng(1, "alone"))]
    assert judge(alone, ChangeOptions()).cell(Bias.ALLOW_FORBID).result_text == "may be position"


def of_positions(
    bias: Bias,
    rng: np.random.Generator,
    weights: Sequence[float],
    content: float,
    toward: float,
    yes: float = 0.0,
) -> ChoiceTable:
    """Return answers of a model with odds of positions, whose options also differ in their odds.

    Parameters
    ----------
    yes : what *yes* adds to the log odds of an option, in acquiescence and allow/forbid
    weights : odds of the first position, the second, and so on; the last one goes for later ones
    content : standard deviation of the log odds of the options
    toward : what the changed form adds to the log odds of the options that its formula counts
    """
    n_questions, drawn = 20, 20
    counts = np.zeros((n_questions, 2, len(LETTERS)))
    offered = np.zeros((n_questions, 2), dtype=np.int64)
    for question in range(n_questions):
        size = int(rng.integers(3, 6)) if bias is Bias.RESPONSE_ORDER else FORMS[bias][0]
        original = rng.normal(0, content, size)
        if bias is Bias.ODD_EVEN:
            changed = np.delete(original, 2) + toward * np.array([0, 1, 1, 0])
        elif bias is Bias.ACQUIESCENCE:
            changed = original + (toward + yes) * np.array([1, 0])
        else:
            changed = original[::-1] + toward * np.eye(size)[0]
        if bias is Bias.ALLOW_FORBID:
            original, changed = (form + yes * np.eye(size)[0] for form in (original, changed))
        for form, utilities in enumerate((original, changed)):
            odds = [*weights, *[weights[-1]] * 6][: len(utilities)] * np.exp(utilities)
            counts[question, form, : len(odds)] = rng.multinomial(drawn, odds / odds.sum())
            offered[question, form] = len(odds)
        if bias is Bias.RESPONSE_ORDER:
            counts[question, 1, :size] = counts[question, 1, :size][::-1].copy()
    return table_of(bias, counts, offered, drawn)


def position_cells(
    bias: Bias,
    weights: Sequence[float],
    content: float = 0.0,
    toward: float = 0.0,
    runs: int = 30,
    yes: float = 0.0,
) -> list[ChangeCell]:
    """Return the cells of a bias of models that differ by chance alone."""
    cells = []
    for seed in range(runs):
        rng = derive_rng(seed, "positions", *map(str, weights))
        tables = [
            of_positions(Bias.RESPONSE_ORDER, rng, weights, content, 0.0),
            of_positions(bias, rng, weights, content, toward, yes),
        ]
        if bias is Bias.ALLOW_FORBID:
            tables.append(of_positions(Bias.ACQUIESCENCE, rng, weights, content, 0.0, yes))
        cells.append(judge(tables, ChangeOptions()).cell(bias))
    return cells


FIRST_FIRST = [(1.5, 1), (2.5, 1), (4, 1), (8, 4, 2, 1, 0.5)]
"odds of positions of models that prefer the first one"


@pytest.mark.parametrize("content", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("weights", [*FIRST_FIRST, (1, 3, 1, 1, 1), (1, 1, 1, 1, 3), (1,)])
def test_odds_of_positions_alone_have_no_allow_forbid_bias(
    weights: Sequence[float], content: float
) -> None:
    cells = position_cells(Bias.ALLOW_FORBID, weights, content)
    assert sum(cell.effect != 0 for cell in cells) <= 4, "5 % of 30 are 1.5"
    if weights in FIRST_FIRST[1:]:
        assert all(cell.delta.p < 0.05 for cell in cells), "against 0 every one was claimed"
        texts = {cell.result_text for cell in cells if not cell.effect}
        assert texts <= {"may be position", "may be acquiescence"}


@pytest.mark.parametrize("content", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("yes", [-2.0, -1.0, 1.0, 2.0, 4.0])
def test_who_says_yes_whatever_is_asked_has_no_allow_forbid_bias(
    yes: float, content: float
) -> None:
    cells = position_cells(Bias.ALLOW_FORBID, (1.5, 1), content, yes=yes)
    assert sum(cell.effect != 0 for cell in cells) <= 4, "5 % of 30 are 1.5"
    if content == 0.0 and yes <= 2:
        by_position = [max(cell.claim_beyond_chance, cell.position.p) for cell in cells]
        assert sum(p < 0.05 for p in by_position) >= 20, "against positions alone they were claimed"


def test_without_acquiescence_an_allow_forbid_bias_may_be_acquiescence() -> None:
    rng = derive_rng(1, "no acquiescence")
    tables = [
        of_positions(Bias.RESPONSE_ORDER, rng, (1,), 0.0, 0.0),
        of_positions(Bias.ALLOW_FORBID, rng, (1,), 0.0, -2.5),
    ]
    cell = judge(tables, ChangeOptions()).cell(Bias.ALLOW_FORBID)
    assert (cell.result_text, cell.explained_by) == ("may be acquiescence", "acquiescence")


@pytest.mark.parametrize(("in_order", "in_forms"), [(3.0, 0.0), (3.0, 1.0), (0.0, 2.0)])
@pytest.mark.parametrize("weights", [(3, 1), (2, 1), (1, 1, 1, 1, 3)])
def test_sureness_that_differs_between_questions_is_no_bias(
    weights: Sequence[float], in_order: float, in_forms: float
) -> None:
    """Means of shares showed less of a preference the surer a model was in response order."""
    n_claims = 0
    for seed in range(30):
        rng = derive_rng(seed, "sureness", *map(str, weights))
        tables = [
            of_positions(Bias.RESPONSE_ORDER, rng, weights, in_order, 0.0),
            of_positions(Bias.ALLOW_FORBID, rng, weights, in_forms, 0.0),
        ]
        n_claims += judge(tables, ChangeOptions()).cell(Bias.ALLOW_FORBID).effect != 0
    assert n_claims <= 4


@pytest.mark.parametrize("bias", [Bias.ALLOW_FORBID, Bias.ODD_EVEN])
def test_the_effect_that_is_found_includes_the_noise_of_the_preference(bias: Bias) -> None:
    for cell in position_cells(bias, (1,), content=1.0, runs=5):
        alone = cell.beyond.sd / cell.beyond.n**0.5
        assert cell.position.se > alone
        reach = change_reach([cell], [])
        assert reach is not None
        errors = [cell.position.se]
        if bias is Bias.ALLOW_FORBID:
            assert cell.yes_saying.se > alone
            errors.append(cell.yes_saying.se)
        assert reach.error == pytest.approx(max(errors) / 100)


@pytest.mark.parametrize("weights", [(1, 1, 3, 1, 1), (1, 1, 8, 1, 1)])
def test_without_response_order_no_odd_even_bias_is_claimed(weights: Sequence[float]) -> None:
    rng = derive_rng(1, "no order")
    alone = [of_positions(Bias.ODD_EVEN, rng, weights, 0.0, 0.0)]
    assert judge(alone, ChangeOptions()).cell(Bias.ODD_EVEN).result_text == "may be position"


@pytest.mark.parametrize("weights", [(1, 1, 3, 1, 1), (1, 1, 8, 1, 1)])
def test_a_preference_for_the_third_letter_is_no_odd_even_bias(weights: Sequence[float]) -> None:
    cells = position_cells(Bias.ODD_EVEN, weights, content=1.0)
    assert sum(cell.effect != 0 for cell in cells) <= 4
    assert sum(max(cell.delta.p, cell.beyond.p) < 0.05 for cell in cells) >= 27, (
        "against random letters it was claimed nearly every time"
    )


@pytest.mark.parametrize(
    ("bias", "weights"),
    [
        (Bias.ALLOW_FORBID, (1,)),
        (Bias.ALLOW_FORBID, (1.5, 1)),
        (Bias.ODD_EVEN, (1,)),
        (Bias.ACQUIESCENCE, (4, 1)),
    ],
)
def test_a_change_beyond_positions_is_still_found(bias: Bias, weights: Sequence[float]) -> None:
    sign = -1.0 if bias is Bias.ALLOW_FORBID else 1.0
    toward = 2.5 if bias is Bias.ALLOW_FORBID else 1.5
    cells = position_cells(bias, weights, content=1.0, toward=sign * toward)
    assert sum(cell.effect > 0 for cell in cells) >= 24
