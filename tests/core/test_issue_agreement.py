"""Agreement on policy issues as both versions of the paper report it, ties, and gold labels."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import published
from workbench.annotation.issues import (
    NO_PAIR,
    ONE_PERSON,
    IssueAgreement,
    IssueReport,
    LabelStanding,
    annotators,
    anonymous,
    issue_report,
)
from workbench.domain.instruments import ADJUDICATION, GOLD, IssueLabel, gold_labels
from workbench.formats.read import read_instrument

STATEMENTS = tuple(f"s{n}" for n in range(40))
ISSUE = "law_and_order"
Given = dict[str, list[int | None]]
"annotator -> a label a statement, None where there is none"


def labels(given: Given, issue: str = ISSUE) -> list[IssueLabel]:
    return [
        IssueLabel(statement, issue, name, label)
        for name, column in given.items()
        for statement, label in zip(STATEMENTS, column, strict=False)
        if label is not None
    ]


def report(given: Given, **options: object) -> IssueReport:
    return issue_report(labels(given), (ISSUE,), STATEMENTS, resamples=200, **options)  # type: ignore[arg-type]


def agreement(given: Given) -> IssueAgreement:
    return report(given).issues[0]


def simulated(seed: int, people: int = 3, statements: int = 40, truthful: float = 0.85) -> Given:
    """Annotators who mostly say the truth, of which a fifth bears on the issue."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1, 0, 1], size=statements, p=[0.08, 0.8, 0.12])
    found: Given = {}
    for number in range(people):
        guesses = rng.choice([-1, 0, 1], size=statements)
        column = np.where(rng.random(statements) < truthful, truth, guesses)
        found[f"p{number}"] = [int(label) for label in column]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_fleiss_is_that_of_statsmodels_for_three_annotators(seed: int) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    given = simulated(seed)
    table, _ = aggregate_raters(np.array(list(given.values())).T)
    found = agreement(given).fleiss
    assert found.value == pytest.approx(fleiss_kappa(table, method="fleiss"))
    assert (found.n, found.excluded) == (40, 0)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("seed", range(6))
def test_the_mean_of_pairwise_cohen_is_that_of_statsmodels(seed: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa, to_table

    given = simulated(seed)
    kappas = []
    for a, b in combinations(given.values(), 2):
        table, _ = to_table(np.array([a, b]).T, bins=[-1, 0, 1, 2])
        kappas.append(cohens_kappa(table, return_results=False))
    found = agreement(given).cohen
    assert found.mean.value == pytest.approx(np.mean(kappas))
    assert found.sd == pytest.approx(np.std(kappas, ddof=1))
    assert [pair.kappa.value for pair in found.pairs] == pytest.approx(kappas)
    assert found.mean.low < found.mean.value < found.mean.high


@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_the_krippendorff_package_with_gaps(seed: int) -> None:
    import krippendorff

    given = simulated(seed)
    given["p1"][3:9] = [None] * 6
    data = [[np.nan if label is None else label for label in column] for column in given.values()]
    expected = krippendorff.alpha(np.array(data, dtype=float), level_of_measurement="nominal")
    assert agreement(given).alpha.value == pytest.approx(expected)


def test_both_published_coefficients_are_close_where_annotators_are_alike() -> None:
    """The two versions of the paper print the same column of numbers once as Cohen and once as
    Fleiss.
    """
    given = simulated(7)
    found = agreement(given)
    assert found.cohen.mean.value == pytest.approx(found.fleiss.value, abs=0.02)


@pytest.mark.e2e
def test_the_published_agreement_cannot_be_recomputed_because_only_gold_labels_are_published() -> (
    None
):
    """Table 1 (0.85 for open foreign policy, …) rests on three annotators whose files are not
    public.
    """
    instrument = read_instrument("probvaa", published("probvaa"))
    refs = tuple(statement.ref for statement in instrument.statements)
    found = issue_report(instrument.issue_labels, instrument.issues, refs, resamples=50)
    assert found.annotators == ()
    assert {issue.fleiss.undefined for issue in found.issues} == {ONE_PERSON}
    assert {issue.cohen.mean.undefined for issue in found.issues} == {NO_PAIR}
    assert {issue.fleiss.excluded for issue in found.issues} == {239}
    by_source = Counter(
        case.statement
        for case in found.cases
        if case.standing is LabelStanding.SOURCE and case.gold
    )
    assert len(by_source) == 193, (
        "section 4.2: the gold annotations contain 193 statements in total"
    )


def test_gaps_are_excluded_and_counted() -> None:
    given: Given = {"a": [1, 0, 0, -1, None, 1], "b": [1, 0, 1, -1, 0], "c": [None, 0]}
    found = agreement(given)
    assert (found.fleiss.n, found.fleiss.excluded) == (4, 36)
    assert (found.cohen.mean.n, found.cohen.mean.excluded) == (4, 36)
    assert {
        (pair.first, pair.second): (pair.kappa.n, pair.kappa.excluded) for pair in found.cohen.pairs
    } == {
        ("a", "b"): (4, 2),
        ("a", "c"): (1, 4),
        ("b", "c"): (1, 4),
    }
    assert found.given == (2, 5, 4)


def test_what_has_no_value_says_why() -> None:
    alone = agreement({"a": [1, 0, 1]})
    assert (alone.cohen.mean.undefined, alone.fleiss.undefined, alone.percent.undefined) == (
        NO_PAIR,
        ONE_PERSON,
        ONE_PERSON,
    )
    apart = agreement({"a": [1, 0, None, None], "b": [None, None, 1, 0]})
    assert (apart.cohen.mean.undefined, apart.fleiss.undefined) == (NO_PAIR, ONE_PERSON)
    equal = agreement({"a": [0, 0, 0], "b": [0, 0, 0]})
    assert equal.cohen.mean.undefined == equal.fleiss.undefined == "all answers equal"
    assert equal.percent.value == 1.0
    assert math.isnan(equal.cohen.sd)
    nobody = agreement({})
    assert (nobody.cohen.mean.undefined, nobody.fleiss.excluded) == (NO_PAIR, 40)


def test_a_pair_without_a_kappa_is_left_out_of_the_mean_and_shown() -> None:
    found = agreement({"a": [0, 0, 0, None], "b": [0, 0, 0, 1], "c": [1, 0, 0, 1]}).cohen
    assert (found.defined, len(found.pairs)) == (2, 3)
    assert (
        next(p for p in found.pairs if (p.first, p.second) == ("a", "b")).kappa.undefined
        == "all answers equal"
    )
    defined = [pair.kappa.value for pair in found.pairs if pair.kappa.defined]
    assert found.mean.value == pytest.approx(np.mean(defined))


def test_two_people_have_one_kappa_and_no_deviation() -> None:
    found = agreement({"a": [1, 0, 0, -1], "b": [1, 0, 1, -1]}).cohen
    assert found.mean.value == found.pairs[0].kappa.value
    assert math.isnan(found.sd)


def test_an_interval_depends_on_the_seed_and_on_nothing_else() -> None:
    given = simulated(3)
    alone = report(given).issues[0]
    more = issue_report(
        [*labels(given), *labels(simulated(4), "other")],
        ("other", ISSUE),
        STATEMENTS,
        resamples=200,
    ).issues[1]
    assert (alone.fleiss, alone.cohen) == (more.fleiss, more.cohen)
    assert report(given, seed=2).issues[0].fleiss.low != alone.fleiss.low


def test_gold_is_the_majority_and_ties_are_listed() -> None:
    given: Given = {"a": [1, 1, 1, 1, 1], "b": [1, 1, 0, -1, None], "c": [0, None, -1, 1, None]}
    cases = {case.statement: case for case in report(given).cases}
    assert {ref: (case.gold, case.standing.value) for ref, case in cases.items()} == {
        "s0": (1, "majority"),
        "s1": (1, "majority"),
        "s2": (None, "tied"),
        "s3": (1, "majority"),
        "s4": (None, "few"),
    }
    assert [ref for ref, case in cases.items() if case.open] == ["s2"]
    assert [ref for ref, case in cases.items() if case.differs] == ["s0", "s2", "s3"]
    found = report(given).issues[0]
    assert (found.ties, found.decided, found.gold) == (1, 0, (0, 0, 3))
    assert report(given, fewest=1).issues[0].gold == (0, 0, 4)


def test_two_who_differ_tie_and_half_is_no_majority() -> None:
    given: Given = {"a": [1, 1], "b": [0, 1], "c": [None, 0], "d": [None, 0]}
    assert [case.open for case in report(given).cases] == [True, True]


def test_an_adjudication_wins_over_source_and_people_and_closes_a_tie() -> None:
    given: Given = {"a": [1, 1], "b": [0, 1], GOLD: [-1, -1], ADJUDICATION: [0, None]}
    first, second = report(given).cases
    assert (first.gold, first.standing, first.open, first.tied) == (
        0,
        LabelStanding.ADJUDICATED,
        False,
        True,
    )
    assert (second.gold, second.standing, second.source) == (-1, LabelStanding.SOURCE, -1)
    assert [case.gold for case in report(given, source=False).cases] == [0, 1]
    assert report(given, source=False).cases[1].standing is LabelStanding.MAJORITY
    assert first.labels == (("a", 1), ("b", 0))


def test_a_source_and_an_adjudication_are_nobodys_labels() -> None:
    given: Given = {"a": [1, 0], GOLD: [1, 0], ADJUDICATION: [1, 1]}
    assert annotators(labels(given)) == ("a",)
    assert report(given).issues[0].fleiss.undefined == ONE_PERSON


def test_labels_on_issues_outside_the_scheme_are_counted_and_left_out() -> None:
    found = issue_report(
        [*labels({"a": [1]}), *labels({"a": [1, 1], "b": [0, 0]}, "gone")], (ISSUE,), STATEMENTS
    )
    assert found.outside == 4
    assert [(count.annotator, count.labels) for count in found.annotators] == [("a", 1)]


def test_a_statement_is_complete_when_every_issue_has_a_label() -> None:
    given = [*labels({"a": [1, 0]}), *labels({"a": [0]}, "other")]
    found = issue_report(given, (ISSUE, "other"), STATEMENTS, resamples=10)
    assert [(count.labels, count.complete) for count in found.annotators] == [(3, 1)]


def test_letters_hide_who_said_what_and_are_dealt_anew_for_each_case() -> None:
    given = {name: [n % 3 - 1 for n in range(40)] for name in ("ana", "ben", "caz")}
    given["caz"] = [(n + 1) % 3 - 1 for n in range(40)]
    dealt = {tuple(label for _, label in anonymous(case)) for case in report(given).cases}  # type: ignore[arg-type]
    assert len(dealt) > 3
    case = report(given).cases[0]  # type: ignore[arg-type]
    assert [letter for letter, _ in anonymous(case)] == ["A", "B", "C"]
    assert sorted(label for _, label in anonymous(case)) == sorted(
        label for _, label in case.labels
    )


people = st.sampled_from(["a", "b", "c", "d"])
some_labels = st.dictionaries(
    st.tuples(st.sampled_from(STATEMENTS[:6]), people), st.sampled_from([-1, 0, 1])
)


@given(some_labels)
def test_gold_does_not_depend_on_who_said_what_nor_on_the_order(
    said: dict[tuple[str, str], int],
) -> None:
    one = [IssueLabel(ref, ISSUE, name, label) for (ref, name), label in said.items()]
    renamed = [
        IssueLabel(x.statement, ISSUE, {"a": "d", "d": "a"}.get(x.annotator, x.annotator), x.label)
        for x in one
    ]
    assert gold_labels(one) == gold_labels(list(reversed(renamed)))


@pytest.mark.e2e
@given(some_labels)
def test_turning_every_label_round_turns_gold_round_and_keeps_agreement(
    said: dict[tuple[str, str], int],
) -> None:
    one = [IssueLabel(ref, ISSUE, name, label) for (ref, name), label in said.items()]
    other = [IssueLabel(x.statement, ISSUE, x.annotator, -x.label) for x in one]
    before, after = (issue_report(x, (ISSUE,), STATEMENTS, resamples=2) for x in (one, other))
    assert [case.gold for case in after.cases] == [
        None if c.gold is None else -c.gold for c in before.cases
    ]
    a, b = before.issues[0], after.issues[0]
    assert a.fleiss.undefined == b.fleiss.undefined
    for x, y in ((a.fleiss.value, b.fleiss.value), (a.cohen.mean.value, b.cohen.mean.value)):
        assert x == pytest.approx(y, nan_ok=True)
