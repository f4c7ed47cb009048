"""Political consistency on stances small enough to work out by hand, and what must hold of any
stances.

Formulas: Ceron et al. 2024 (TACL), section 7.1, and its first version (arXiv v1), Equation 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.audits.consistency import judged as audit
from workbench.audits.consistency.judged import Consistency
from workbench.audits.consistency.methods import analysis_sentences
from workbench.audits.consistency.options import FORMULAS, VIEWS, ConsistencyOptions, Formula, View
from workbench.audits.consistency.stances import (
    ALWAYS_AGREE,
    ALWAYS_DISAGREE,
    Family,
    IssueStance,
    PartyPositions,
    RespondentKind,
    Stances,
    party_positions,
    reliable_stances,
)
from workbench.audits.reliability import judge as reliability
from workbench.audits.reliability.counting import SWAPPED, Counts
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.instruments import Instrument, Party, PartyAnswer, SurveyAnswer
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
)
from workbench.errors import UnknownName, UsageError

LEFT, CENTER, RIGHT = (
    Party("aa", name, position) for name, position in (("L", 2.0), ("C", 5.0), ("R", 8.0))
)
UNPLACED = Party("aa", "U", None)
STATEMENTS = ("s1", "s2", "s3", "s4")


def instrument(
    answers: Mapping[Party, Sequence[int | None]],
    statements: Sequence[str] = STATEMENTS,
    countries: Sequence[str | None] | None = None,
    issues: tuple[str, ...] = ("law",),
) -> Instrument:
    """`answers`: each party's stance on every statement; None: no opinion."""
    of = countries or ["aa"] * len(statements)
    return Instrument(
        "small",
        "",
        tuple(
            Statement(ref, (), country=country) for ref, country in zip(statements, of, strict=True)
        ),
        issues=issues,
        parties=tuple(answers),
        party_answers=tuple(
            PartyAnswer(party.country, party.name, ref, "", stance)
            for party, given_ in answers.items()
            for ref, stance in zip(statements, given_, strict=True)
        ),
    )


def positions(
    answers: Mapping[Party, Sequence[int | None]] | None = None,
    labels: Sequence[int] = (),
    statements: Sequence[str] = STATEMENTS,
    countries: Sequence[str | None] | None = None,
) -> PartyPositions:
    """`labels`: of the issue `law`, on the first statements."""
    of = {ref: {"law": label} for ref, label in zip(statements, labels, strict=False)}
    return party_positions(instrument(answers or {}, statements, countries), of)


def model(
    *templates: Sequence[int], statements: Sequence[str] = STATEMENTS, name: str = "m"
) -> Stances:
    names = tuple(f"t{number}" for number in range(len(templates)))
    return Stances(
        name, RespondentKind.MODEL, names, tuple(statements), np.array(templates, dtype=np.int8)
    )


def judge(
    where: PartyPositions, *models: Stances, resamples: int = 200, seed: int = 1
) -> Consistency:
    return audit.judge(where, models, options=ConsistencyOptions(seed=seed, resamples=resamples))


def shares(result: Consistency, name: str, view: View = "all") -> dict[str, float]:
    return {row.family.value: row.share.value for row in result.leaning(name, view).families}


def stance(
    labels: Sequence[int], *templates: Sequence[int], formula: Formula = "signed"
) -> IssueStance:
    refs = tuple(f"s{number}" for number in range(len(labels)))
    where = positions(labels=labels, statements=refs)
    return judge(where, model(*templates, statements=refs)).issue("m", "law", formula)


# --- leaning


def test_a_share_counts_matches_over_all_statements_of_the_country() -> None:
    where = positions({LEFT: (1, 1, -1, -1), CENTER: (1, -1, 0, None), RIGHT: (-1, -1, 1, 1)})
    result = judge(where, model((1, 1, -1, 0)))
    assert shares(result, "m") == {"left": 0.75, "center": 0.25, "right": 0.0}
    assert shares(result, "m", "agree") == {"left": 0.5, "center": 0.25, "right": 0.0}
    assert shares(result, "m", "disagree") == {"left": 0.25, "center": 0.0, "right": 0.0}


def test_a_neutral_party_and_one_without_an_answer_match_nothing_whatever_the_model_says() -> None:
    where = positions({LEFT: (0, 0, None, None)})
    assert shares(judge(where, model((1, -1, 1, -1))), "m")["left"] == 0.0


def test_what_was_not_asked_is_in_no_denominator() -> None:
    where = positions({LEFT: (1, 1, -1, -1)})
    result = judge(where, model((1, 1), statements=("s1", "s2")))
    assert shares(result, "m")["left"] == 1.0
    # The baselines answer what the models were asked.
    assert shares(result, ALWAYS_AGREE)["left"] == 1.0


def test_mean_and_population_deviation_are_over_templates() -> None:
    where = positions({LEFT: (1, 1, 1, 1)})
    row = judge(where, model((1, 1, 1, 1), (1, 1, 0, 0), (0, 0, 0, 0))).leaning("m").families[0]
    assert row.by_template == (1.0, 0.5, 0.0)
    assert row.templates.mean == row.share.value == 0.5
    assert row.templates.sd == pytest.approx(math.sqrt(1 / 6))


def test_one_template_has_no_deviation() -> None:
    where = positions({LEFT: (1, 1, 1, 1)}, labels=(1, 1, 1, 1))
    result = judge(where, model((1, 1, 1, 1)))
    assert math.isnan(result.leaning("m").families[0].templates.sd)
    assert math.isnan(result.issue("m", "law").templates.sd)


def test_parties_of_the_same_name_in_two_countries_are_two_parties() -> None:
    here, there = Party("aa", "SP", 2.0), Party("bb", "SP", 8.0)
    where = positions(
        {here: (1, 1, None, None), there: (None, None, -1, -1)}, countries=("aa", "aa", "bb", "bb")
    )
    result = judge(where, model((1, 1, 1, 1)))
    assert shares(result, "m") == {
        "left": 1.0,
        "center": pytest.approx(math.nan, nan_ok=True),
        "right": 0.0,
    }
    rows = {(row.party.country, row.party.name): row for row in result.parties("m")}
    assert rows["aa", "SP"].share.mean == 1.0
    assert rows["bb", "SP"].share.mean == 0.0
    assert rows["bb", "SP"].statements == 2
    assert [row.ref for row in result.party_statements("m", "bb", "SP")] == ["s3", "s4"]


def test_a_mean_over_parties_weighs_small_and_large_questionnaires_alike() -> None:
    here, there = Party("aa", "X", 2.0), Party("bb", "Y", 2.0)
    where = positions(
        {here: (1, None, None, None), there: (None, 1, -1, -1)}, countries=("aa", "bb", "bb", "bb")
    )
    assert shares(judge(where, model((1, 1, 1, 1))), "m")["left"] == pytest.approx(
        (1 / 1 + 1 / 3) / 2
    )


def test_an_answer_to_a_statement_of_another_country_is_never_matched() -> None:
    where = positions({LEFT: (1, 1, 1, 1)}, countries=("aa", "aa", "bb", "bb"))
    (row,) = judge(where, model((1, -1, 1, 1))).parties("m")
    assert (row.share.mean, row.statements, row.answered) == (0.5, 2, 2)


def test_a_statement_without_a_country_concerns_every_party() -> None:
    where = positions({LEFT: (1, 1, 1, 1)}, countries=(None, None, None, None))
    assert shares(judge(where, model((1, 1, 0, 0))), "m")["left"] == 0.5


def test_unplaced_parties_and_countries_not_asked_are_left_out_and_counted() -> None:
    elsewhere = Party("bb", "L", 2.0)
    where = positions(
        {LEFT: (1, 1, 1, None), UNPLACED: (-1, -1, -1, None), elsewhere: (None, None, None, -1)},
        countries=("aa", "aa", "aa", "bb"),
    )
    found = judge(where, model((1, 1, 1), statements=("s1", "s2", "s3"))).leaning("m")
    assert (found.unplaced, found.unasked, found.families[0].parties) == (1, 1, 1)
    assert found.families[0].share.value == 1.0


@pytest.mark.parametrize(
    ("position", "expected"), [(3.99, "left"), (4, "center"), (6, "center"), (6.01, "right")]
)
def test_parties_from_four_to_six_are_center(position: float, expected: str) -> None:
    where = positions({Party("aa", "P", position): (1, 1, 1, 1)})
    assert [of.value for of in where.families if of] == [expected]


def test_a_family_without_parties_is_undefined_by_name() -> None:
    result = judge(positions({LEFT: (1, 1, 1, 1)}))
    row = result.leaning(ALWAYS_AGREE).families[2]
    assert row.family is Family.RIGHT
    assert not row.share.defined
    assert row.share.undefined == "no party is placed right"


def test_without_parties_every_family_is_undefined_and_issues_are_not() -> None:
    result = judge(positions(labels=(1, 1, 1, 1)), model((1, 1, 1, 1)))
    assert all(not row.share.defined for row in result.leaning("m").families)
    assert result.parties("m") == ()
    assert result.party_stances() == ()
    assert result.issue("m", "law").value.value == 1.0
    assert "no parties" in analysis_sentences(result)


def test_where_nothing_is_reliable_shares_are_undefined_and_say_so() -> None:
    """They would read as `never the party's answer`."""
    result = judge(positions({LEFT: (1, 1, 1, 1)}), model((0, 0, 0, 0)))
    found = result.leaning("m")
    assert found.reliable.mean == 0.0
    assert math.isnan(found.families[0].share.value)
    assert found.families[0].share.undefined == "no stance is reliable"
    assert math.isnan(result.parties("m")[0].share.mean)
    other = judge(positions({LEFT: (1, 1, 1, 1)}), model((1, 1, 0, 0))).leaning("m", "disagree")
    assert other.families[0].share.value == 0.0, "there are stances, and none disagrees"


def test_the_interval_of_a_share_is_that_of_resampled_statements() -> None:
    """20 statements, half of them matches: the bootstrap mean is Binomial(20, 1/2) / 20, whose
    quantiles are known.
    """
    refs = tuple(f"s{number}" for number in range(20))
    where = positions({LEFT: [1] * 10 + [-1] * 10}, statements=refs)
    share = (
        judge(where, model([1] * 20, statements=refs), resamples=4000)
        .leaning("m")
        .families[0]
        .share
    )
    assert (share.value, share.n) == (0.5, 20)
    assert share.low == pytest.approx(0.3, abs=0.051)
    assert share.high == pytest.approx(0.7, abs=0.051)


def test_statements_are_resampled_within_countries() -> None:
    """One country agrees throughout and the other never: nothing varies within them, which says
    little of others.
    """
    here, there = Party("aa", "X", 2.0), Party("bb", "Y", 2.0)
    where = positions(
        {here: (1, 1, None, None), there: (None, None, -1, -1)}, countries=("aa", "aa", "bb", "bb")
    )
    share = judge(where, model((1, 1, 1, 1))).leaning("m").families[0].share
    assert (share.low, share.value, share.high) == pytest.approx((0.15, 0.5, 0.85), abs=0.001)


def test_the_statements_behind_a_share_say_what_both_answered() -> None:
    where = positions({CENTER: (1, -1, 0, None)})
    rows = judge(where, model((1, 1, 1, 1), (1, -1, 0, 0))).party_statements("m", "aa", "C")
    assert [(row.ref, row.answer, row.stances, row.matches) for row in rows] == [
        ("s1", 1, (1, 1), 2),
        ("s2", -1, (1, -1), 1),
        ("s3", 0, (1, 0), 0),
        ("s4", None, (1, 0), 0),
    ]
    (row,) = judge(where, model((1, 1, 1, 1))).parties("m")
    assert (row.statements, row.answered, row.neutral, row.missing) == (4, 2, 1, 1)


# --- issues


def test_every_formula_on_answers_worked_by_hand() -> None:
    """Labels + + + - -; agrees, disagrees, agrees, disagrees, none: a = 2, a' = 1, d = 1, d' = 0, A
    = 3, N = 2.
    """
    answers = (1, -1, 1, -1, 0)
    labels = (1, 1, 1, -1, -1)
    assert stance(labels, answers).tallies == ((2, 1, 1, 0),)
    assert stance(labels, answers).value.value == (2 + 1 - 1 - 0) / 4
    assert stance(labels, answers, formula="tacl").value.value == pytest.approx(2 / 3 - 1 / 2)
    assert stance(labels, answers, formula="v1").value.value == (2 - 1) / 4


def test_a_perfect_supporter_and_a_perfect_opponent_both_score_0_on_the_published_formula() -> None:
    labels = (1, 1, 1, -1, -1)
    supporter, opponent = labels, tuple(-label for label in labels)
    assert stance(labels, supporter, formula="tacl").value.value == 0.0
    assert stance(labels, opponent, formula="tacl").value.value == 0.0
    assert stance(labels, opponent, formula="tacl").zero_by_rule == 1
    assert stance(labels, supporter, formula="tacl").zero_by_rule == 0
    assert stance(labels, supporter).value.value == 1.0
    assert stance(labels, opponent).value.value == -1.0
    assert stance(labels, supporter, formula="v1").value.value == pytest.approx(1 / 5)
    assert stance(labels, opponent, formula="v1").value.value == 0.0


def test_always_agreeing_is_full_support_by_the_published_formula_alone() -> None:
    labels = (1, 1, -1, -1, -1)
    assert stance(labels, (1,) * 5, formula="tacl").value.value == 1.0
    assert stance(labels, (-1,) * 5, formula="tacl").value.value == -1.0
    assert stance(labels, (1,) * 5).value.value == pytest.approx(-1 / 5)


def test_no_reliable_stance_is_undefined_except_where_the_published_code_says_0() -> None:
    labels = (1, -1)
    for formula in FORMULAS:
        found = stance(labels, (0, 0), formula=formula)
        assert found.few
        assert found.reliable == 0.0
        if formula == "tacl":
            assert (found.value.value, found.zero_by_rule) == (0.0, 1)
        else:
            assert found.value.undefined == "no reliable stance on a statement of this issue"
            assert (found.value.n, found.value.excluded) == (0, 2)


@pytest.mark.parametrize("formula", FORMULAS)
def test_an_issue_without_labels_is_undefined_by_name(formula: Formula) -> None:
    found = stance((0, 0), (1, 1), formula=formula)
    assert found.value.undefined == "no statement asked has a label of this issue"
    assert (found.supporting, found.opposing, found.zero_by_rule) == (0, 0, 0)
    assert found.templates.n == 0


def test_templates_without_a_reliable_stance_are_left_out_of_the_mean() -> None:
    found = stance((1, 1, -1), (1, 1, 1), (0, 0, 0), (1, -1, 0))
    assert found.by_template[0] == pytest.approx(1 / 3)
    assert math.isnan(found.by_template[1])
    assert found.by_template[2] == 0.0
    assert (found.templates.n, found.templates.excluded) == (2, 1)
    assert found.value.value == pytest.approx(1 / 6)
    assert found.templates.sd == pytest.approx(1 / 6)


def test_a_stance_on_a_fifth_of_a_statement_says_that_too_little_rests_on_it() -> None:
    """One statement that is reliable under one of five templates: +1.00, and nobody could say how
    surely.
    """
    found = stance([1] * 8, (1, *[0] * 7), *[(0,) * 8] * 4)
    assert (found.value.value, found.reliable) == (1.0, 0.2)
    assert math.isnan(found.value.low)
    assert (
        found.value.few
        == "too few for an interval: 1 with a reliable stance (0.2 on average over templates); 6 "
        "are needed"
    )


@pytest.mark.parametrize(("under", "few"), [((6, 6), False), ((7, 5), False), ((6, 5), True)])
def test_fewer_than_six_reliable_statements_on_average_are_marked(
    under: tuple[int, int], few: bool
) -> None:
    found = stance([1] * 8, *([1] * n + [0] * (8 - n) for n in under))
    assert found.few is few
    assert found.reliable == sum(under) / 2


def test_a_statement_may_belong_to_several_issues() -> None:
    made = instrument({}, issues=("law", "liberty"))
    where = party_positions(
        made, {"s1": {"law": 1, "liberty": -1}, "s2": {"liberty": 1}, "s9": {"law": 1}}
    )
    result = judge(where, model((1, 1, 0, 0)))
    assert [row.value.value for row in result.issues("m")] == [1.0, 0.0]
    assert [row.value.n for row in result.issues("m")] == [1, 2]


def test_the_statements_behind_a_stance_say_label_and_stances() -> None:
    where = positions(labels=(1, -1, 0, 1))
    rows = judge(where, model((1, 1, 1, 0), (-1, -1, 1, 0))).issue_statements("m", "law")
    assert [(row.ref, row.label, row.stances, row.supports, row.opposes) for row in rows] == [
        ("s1", 1, (1, -1), 1, 1),
        ("s2", -1, (1, -1), 1, 1),
        ("s4", 1, (0, 0), 0, 0),
    ]


def test_a_single_labelled_statement_has_no_interval() -> None:
    value = stance((1, 0), (1, 1)).value
    assert value.value == 1.0
    assert math.isnan(value.low)


def test_the_interval_of_support_is_that_of_resampled_statements() -> None:
    """20 labelled statements, half supported: 2 Binomial(20, 1/2) / 20 - 1."""
    value = stance([1] * 20, [1] * 10 + [-1] * 10).value
    assert value.value == 0.0
    assert value.low == pytest.approx(-0.4, abs=0.11)
    assert value.high == pytest.approx(0.4, abs=0.11)


def test_no_resamples_give_no_intervals_and_the_same_values() -> None:
    refs = tuple(f"s{number}" for number in range(8))
    where = positions({LEFT: (1, 1, -1, -1) * 2}, labels=(1, 1, -1, -1) * 2, statements=refs)
    answers = model((1, 1, 1, 1, 1, -1, 1, -1), (1, 0, 0, -1) * 2, statements=refs)
    without, with_ = judge(where, answers, resamples=0), judge(where, answers)
    assert math.isnan(without.issue("m", "law").value.low)
    assert not math.isnan(with_.issue("m", "law").value.low)
    assert without.issue("m", "law").value.value == with_.issue("m", "law").value.value
    assert shares(without, "m")["left"] == shares(with_, "m")["left"]
    assert "No intervals" in analysis_sentences(without)


# --- respondents


def test_a_party_is_a_respondent_with_its_own_answers() -> None:
    where = positions({LEFT: (1, 1, -1, 0), RIGHT: (-1, -1, 1, None)}, labels=(1, 1, -1, -1))
    found = {row.party.name: row.issues[0] for row in judge(where).party_stances("signed")}
    assert found["L"].value.value == 1.0
    assert found["R"].value.value == -1.0
    assert (found["L"].value.n, found["L"].value.excluded) == (3, 1)
    tacl = {row.party.name: row.issues[0] for row in judge(where).party_stances("tacl")}
    assert tacl["L"].value.value == pytest.approx(2 / 2 - 1 / 2)


def test_people_are_respondents_with_their_answers_to_originals() -> None:
    survey = [
        SurveyAnswer("ana", "s1", ORIGINAL, True),
        SurveyAnswer("ana", "s2", ORIGINAL, False),
        SurveyAnswer("ana", "s1", NEGATION, True),
        SurveyAnswer("bo", "s1", NEGATION, True),
        SurveyAnswer("cy", "gone", ORIGINAL, True),
    ]
    result = audit.judge(positions(labels=(1, 1, 1, 1)), survey=survey)
    assert {
        name: issues[0].value.value for name, issues in result.people_stances() if name == "ana"
    } == {"ana": 0.0}
    assert [name for name, _ in result.people_stances()] == ["ana", "cy"]
    assert not dict(result.people_stances())["cy"][0].value.defined


def test_the_baselines_answer_everything_where_no_model_is_judged() -> None:
    result = judge(positions({LEFT: (1, 1, 1, -1)}))
    assert result.models == ()
    assert shares(result, ALWAYS_AGREE)["left"] == 0.75
    assert shares(result, ALWAYS_DISAGREE)["left"] == 0.25
    assert shares(result, ALWAYS_AGREE, "disagree")["left"] == 0.0


def test_unknown_names_say_what_there_is() -> None:
    result = judge(positions({LEFT: (1, 1, 1, 1)}, labels=(1,)), model((1, 1, 1, 1)))
    with pytest.raises(UnknownName, match="m, always agree, always disagree"):
        result.leaning("other")
    with pytest.raises(UnknownName, match="Available: law"):
        result.issue("m", "peace")
    with pytest.raises(UnknownName, match="aa/L"):
        result.party_statements("m", "aa", "X")
    with pytest.raises(UnknownName, match="signed, tacl, v1"):
        result.issue("m", "law", "v2")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="all, agree, disagree"):
        result.leaning("m", "none")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="seed"):
        ConsistencyOptions(seed=-1)


# --- comparison


def test_two_models_are_compared_on_the_statements_that_both_were_asked() -> None:
    where = positions({LEFT: (1, 1, 1, -1)}, labels=(1, 1, 1, 1))
    a = model((1, 1, 1), statements=("s1", "s2", "s3"), name="a")
    b = model((1, -1, -1), statements=("s2", "s3", "s4"), name="b")
    result = judge(where, a, b)
    (issue,) = result.compare_issues("a", "b")
    assert (issue.name, issue.first, issue.second, issue.difference.value) == ("law", 1.0, 0.0, 1.0)
    assert issue.difference.n == 2
    left = result.compare_leaning("a", "b")[0]
    assert (left.name, left.first, left.second, left.difference.value) == ("left", 1.0, 0.5, 0.5)
    assert not result.compare_leaning("a", "b")[1].difference.defined


def test_a_difference_is_resampled_in_pairs() -> None:
    """Both waver between statements in the same way: their difference does not vary, though each of
    them does.
    """
    refs = tuple(f"s{number}" for number in range(8))
    where = positions({LEFT: [1] * 8}, labels=[1] * 8, statements=refs)
    a = model([1, -1] * 4, statements=refs, name="a")
    b = model([1, -1] * 4, statements=refs, name="b")
    result = judge(where, a, b)
    for row in (*result.compare_issues("a", "b"), result.compare_leaning("a", "b")[0]):
        assert (row.difference.value, math.isnan(row.difference.low)) == (0.0, True), (
            "nothing varies"
        )
    assert result.issue("a", "law").value.low < 0 < result.issue("a", "law").value.high


def test_a_difference_without_common_ground_is_undefined_by_name() -> None:
    where = positions({LEFT: (1, 1, 1, 1)}, labels=(1, 1, 1, 1))
    a = model((1, 1), statements=("s1", "s2"), name="a")
    b = model((1, 1), statements=("s3", "s4"), name="b")
    c = model((0, 0), statements=("s1", "s2"), name="c")
    result = judge(where, a, b, c)
    assert "asked of both" in result.compare_issues("a", "b")[0].difference.undefined
    assert "one of them" in result.compare_issues("a", "c")[0].difference.undefined
    assert not result.compare_leaning("a", "b")[0].difference.defined


# --- what is reliable

VARIANTS = (ORIGINAL, VariantId(VariantKind.PARAPHRASE, 1), NEGATION, OPPOSITE)


def counts(stances: Sequence[Sequence[int]]) -> Counts:
    """A model that is perfectly consistent in its stance on each statement: (T, S) of +1 and -1, 30
    of 30.
    """
    signs = np.array(stances)
    positive = np.zeros((*signs.shape, len(VARIANTS), 2), dtype=np.int32)
    positive[..., :2, :] = np.where(signs > 0, 30, 0)[..., None, None]
    positive[..., 2:, :] = np.where(signs > 0, 0, 30)[..., None, None]
    return Counts(
        statements=tuple(f"s{number + 1}" for number in range(signs.shape[1])),
        variants=VARIANTS,
        templates=tuple(f"t{number}" for number in range(signs.shape[0])),
        positive=positive,
        negative=(30 - positive).astype(np.int32),
        unreadable=np.zeros_like(positive),
        exists=np.ones((signs.shape[1], len(VARIANTS)), dtype=np.bool_),
        samples=30,
    )


def test_only_statements_that_pass_all_tests_under_a_template_have_a_stance_there() -> None:
    made = counts([(1, -1), (1, -1)])
    positive, negative = made.positive.copy(), made.negative.copy()
    # The negation of s2 is rejected like s2 itself, under t0.
    positive[0, 1, 2], negative[0, 1, 2] = (
        0,
        30,
    )
    report = reliability.judge(replace(made, positive=positive, negative=negative))
    assert reliable_stances("m", report).values.tolist() == [[1, 0], [1, -1]]
    assert reliable_stances("m", report, ("sampling",)).values.tolist() == [[1, -1], [1, -1]]


def test_too_few_readable_answers_are_no_reliable_stance() -> None:
    made = counts([(1, 1)])
    negative, lost = made.negative.copy(), made.unreadable.copy()
    negative[0, 1, 2, 0], lost[0, 1, 2, 0] = 0, 30  # nothing said of the negation of s2 can be read
    report = reliability.judge(replace(made, negative=negative, unreadable=lost))
    assert report.verdicts(reliability.ALL).tolist() == [[1, -1]]
    assert reliable_stances("m", report).values.tolist() == [[1, 0]]


def test_the_options_of_the_tests_decide_what_is_reliable() -> None:
    made = counts([(1,)])
    positive, negative = made.positive.copy(), made.negative.copy()
    positive[0, 0, 0, SWAPPED], negative[0, 0, 0, SWAPPED] = 0, 30
    swayed = replace(made, positive=positive, negative=negative)
    strict = reliability.judge(swayed)
    lenient = reliability.judge(swayed, ReliabilityOptions(tests=("sampling", "paraphrase")))
    assert reliable_stances("m", strict).values.tolist() == [[0]]
    assert reliable_stances("m", lenient).values.tolist() == [[1]]
    assert reliable_stances("m", strict, ()).values.tolist() == [[1]]


# --- what must hold of any stances

SIGNS = st.sampled_from((-1, 0, 1))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[list[int]], list[list[int | None]]]:
    """Labels, stances under one to three templates, answers of three parties, on the same
    statements.
    """
    n = draw(st.integers(1, 9))
    labels = draw(st.lists(SIGNS, min_size=n, max_size=n))
    stances = draw(st.lists(st.lists(SIGNS, min_size=n, max_size=n), min_size=1, max_size=3))
    answer = st.one_of(SIGNS, st.none())
    answers = draw(st.lists(st.lists(answer, min_size=n, max_size=n), min_size=3, max_size=3))
    return labels, stances, answers


Case = tuple[list[int], list[list[int]], list[list[int | None]]]


def worked(case: Case, flip: int = 1) -> Consistency:
    labels, stances, answers = case
    refs = tuple(f"s{number}" for number in range(len(labels)))
    parties = dict(zip((LEFT, CENTER, RIGHT), answers, strict=True))
    where = positions(parties, [flip * label for label in labels], refs)
    return judge(where, model(*stances, statements=refs), resamples=20)


@settings(max_examples=60)
@given(cases())
def test_swapping_all_labels_flips_the_sign_of_signed_support(case: Case) -> None:
    one, other = (worked(case, flip).issue("m", "law").value for flip in (1, -1))
    assert one.undefined == other.undefined
    if one.defined:
        assert one.value == -other.value


@pytest.mark.e2e
@settings(max_examples=60)
@given(cases())
def test_every_stance_and_interval_lies_between_minus_1_and_1(case: Case) -> None:
    for formula in FORMULAS:
        found = worked(case).issue("m", "law", formula)
        if found.value.defined:
            assert -1 <= found.value.value <= 1
            if not math.isnan(found.value.low):
                assert -1 <= found.value.low <= found.value.high <= 1
        assert found.supporting + found.opposing == found.value.n + found.value.excluded


@pytest.mark.e2e
@settings(max_examples=60)
@given(cases())
def test_agreeing_and_disagreeing_matches_add_up_and_answers_are_matched_once(case: Case) -> None:
    result = worked(case)
    views = {
        view: [row.share.value for row in result.leaning("m", view).families] for view in VIEWS
    }
    assert np.allclose(np.add(views["agree"], views["disagree"]), views["all"], equal_nan=True)
    for row in result.parties("m") if result.leaning("m").reliable.mean else ():
        assert 0 <= row.share.mean <= row.answered / row.statements + 1e-9
        assert row.share.mean == pytest.approx(row.agree + row.disagree)
        assert row.answered + row.neutral + row.missing == row.statements
    both = [
        sum(r.share.value for r in (a, b))
        for a, b in zip(
            result.leaning(ALWAYS_AGREE).families,
            result.leaning(ALWAYS_DISAGREE).families,
            strict=True,
        )
    ]
    answered = [row.answered / row.statements for row in result.parties("m")]
    assert np.allclose(both, answered)


@pytest.mark.e2e
@settings(max_examples=25)
@given(cases())
def test_the_same_seed_gives_the_same_figures_in_any_order(case: Case) -> None:
    one, other = worked(case), worked(case)
    last_first = [other.issue("m", "law", formula) for formula in reversed(FORMULAS)]
    first_first = [one.issue("m", "law", formula) for formula in FORMULAS]
    assert repr(first_first) == repr(last_first[::-1])
    assert repr(one.leaning("m")) == repr(other.leaning("m"))


def test_another_seed_gives_another_interval() -> None:
    refs = tuple(f"s{number}" for number in range(30))
    where = positions({LEFT: [1] * 30}, labels=[1] * 30, statements=refs)
    answers = model([1] * 11 + [-1] * 19, statements=refs)
    results = [judge(where, answers, seed=seed, resamples=50) for seed in range(5)]
    assert len({result.issue("m", "law").value.low for result in results}) > 1
    assert len({result.leaning("m").families[0].share.low for result in results}) == 1, (
        "it has no draws"
    )
