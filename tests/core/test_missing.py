"""What is missing is an outcome: counted by run and side, bounded, compared, and named where it
could turn a claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.test_bias_score import items, tally
from tests.core.test_comparison import of, side
from workbench.audits.bias_score.compared import difference_said
from workbench.audits.bias_score.counting import Tally
from workbench.audits.bias_score.factors import compare
from workbench.audits.bias_score.findings import in_a_sentence as lean_said
from workbench.audits.bias_score.findings import missing_said
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import judge as judge_bias
from workbench.audits.bias_score.tables import bias
from workbench.audits.claims import sentences_of
from workbench.audits.codes import FAIL, PASS, VOID
from workbench.audits.comparison.book import _findings, changes_table, tables
from workbench.audits.comparison.judge import (
    ANSWERED,
    Change,
    Compared,
    VerdictKind,
    changes,
    comparison_lines,
)
from workbench.audits.consistency.findings import missing_stance_texts
from workbench.audits.consistency.judged import judge as judge_consistency
from workbench.audits.consistency.stances import (
    PartyPositions,
    Stances,
    posterior_stances,
    reliable_stances,
)
from workbench.audits.consistency.stances import RespondentKind as Respondent
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.findings import passing_said
from workbench.audits.reliability.judge import ReliabilityReport, reason
from workbench.audits.reliability.judge import judge as judge_reliability
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.pooled import format_difference as pooled_said
from workbench.audits.reliability.pooled import pooled_verdicts
from workbench.domain.instruments import Party
from workbench.domain.statements import Side, VariantId, VariantKind
from workbench.figures.write.document import document

PASSED, FAILED = 30, 26
A, B = "p" * PASSED + "f" * FAILED, "p" * PASSED + "i" * FAILED
FEW = ScoreOptions(draws=400)


def two(first: str = A, second: str = B) -> Compared:
    return of(side("a", first), side("b", second))


def findings(compared: Compared) -> list[str]:
    """Return what a report on this comparison alone says."""
    return list(map(str, sentences_of(_findings(compared)).sentences))


def main_finding(compared: Compared) -> str:
    """Return what is said of the verdict that the audit is known for."""
    title = compared.kinds[0].title
    return next(text for text in findings(compared) if text.startswith(f"{title} of "))


def by_kind(compared: Compared) -> dict[str, Change]:
    return {one.kind.name: one for one in changes(compared)}


# ── runs side by side ─────────────────────────────────────────────────────────────────────────────


def test_a_run_that_refuses_what_the_other_fails_is_not_said_to_be_like_it() -> None:
    main = by_kind(two())["all"]
    assert (main.difference.value, main.difference.n) == (0.0, PASSED), "complete cases say nothing"
    assert main.missing == (0, FAILED, 0)
    assert main.bounds == pytest.approx((0.0, FAILED / 56))
    turned = by_kind(two(B, A))["all"]
    assert turned.missing == (FAILED, 0, 0)
    assert turned.bounds == pytest.approx((-FAILED / 56, 0.0))
    first = main_finding(two())
    assert "Of 56 statements, verdicts are missing on 26 in b" in first
    assert "between +0.0 and +46.4 points" in first
    assert "these runs are not shown to be alike" in first


def test_answering_is_compared_and_tested_like_any_verdict() -> None:
    answered = by_kind(two())[ANSWERED]
    assert (answered.n, answered.lost, answered.gained) == (56, FAILED, 0)
    assert (answered.first_share, answered.second_share) == pytest.approx((1.0, PASSED / 56))
    assert answered.p < 1e-6
    assert answered.difference.high < 0
    rows = next(one for one in tables(two(), data=True) if one.subject == (ANSWERED,)).rows
    assert sum(row.changed for row in rows) == FAILED


def test_the_header_says_what_is_missing_and_by_whom() -> None:
    assert "56 statements asked of all; left out: none; missing: b 26." in comparison_lines(two())
    assert "56 statements asked of all; left out: none." in comparison_lines(two(A, A)), (
        "nothing is missing"
    )


def test_where_nothing_is_missing_nothing_is_added() -> None:
    whole = two(A, A[::-1])
    assert [kind.name for kind in whole.kinds] == ["all"]
    (one,) = changes(whole)
    assert one.bounds == pytest.approx((one.difference.value,) * 2)
    there = {column.key: column.aside for column in changes_table(whole).columns}
    assert all(there[key] for key in ("missing_first", "missing_second", "lowest", "highest"))


def test_every_medium_has_the_bounds() -> None:
    there = {column.key: column.aside for column in changes_table(two()).columns}
    assert not any(there[key] for key in ("missing_first", "missing_second", "lowest", "highest"))
    (made,) = (one for one in document([changes_table(two())], {})["tables"])
    row = next(row for row in made["rows"] if row["verdict"] == "all tests")
    assert (row["missing_first"], row["missing_second"]) == (0, FAILED)
    assert (row["lowest"], row["highest"]) == pytest.approx((0.0, FAILED / 56))


def test_a_difference_that_what_is_missing_could_turn_says_so() -> None:
    loose = main_finding(two("p" * 20 + "f" * 10 + "p" * 10, "p" * 20 + "p" * 10 + "i" * 10))
    assert "what is missing could turn it" not in loose, "at worst the first passes as many"
    turned = main_finding(two("p" * 20 + "f" * 5 + "p" * 10, "p" * 20 + "p" * 5 + "i" * 10))
    assert "what is missing could turn the difference: between -14.3 and +14.3 points" in turned
    holds = main_finding(two("f" * 20 + "p" * 10 + "i" * 2, "p" * 32))
    assert "could turn" not in holds
    assert "stays between" in holds
    every = list(findings(two("p" * 20 + "f" * 12 + "p" * 30, "p" * 20 + "p" * 12 + "i" * 30)))
    assert any(
        "what is missing could turn" in line for line in every if line.startswith("Adjusted p")
    )


def test_void_items_and_mixed_stances_are_not_missing() -> None:
    stance = VerdictKind("all", "stance", "pass", "fail", neither=("insufficient",))
    assert by_kind(two("ppvv", "pfvv"))["all"].missing == (0, 0, 0)
    assert {
        one.kind.name for one in changes(of(side("a", "ppii"), side("b", "pfpp"), kinds=(stance,)))
    } == {"all"}


def test_languages_have_bounds_of_unpaired_shares() -> None:
    apart = of(side("a", "ppff"), side("b", "ppii", language="de"))
    main = by_kind(apart)["all"]
    assert main.bounds == pytest.approx((0.0, 0.5))


letters = st.lists(st.sampled_from("pfiv"), min_size=1, max_size=12)


@given(letters, st.randoms(use_true_random=False), st.booleans())
def test_bounds_hold_whatever_the_missing_verdicts_are(
    first: list[str], random: object, apart: bool
) -> None:
    second = random.sample(first, len(first))  # type: ignore[attr-defined]
    more = {"language": "de"} if apart else {}

    def compare_(one: str, other: str) -> Change:
        return changes(of(side("a", one), side("b", other, **more)))[0]

    one = compare_("".join(first), "".join(second))
    found = []
    for fill in ("pp", "pf", "fp", "ff"):
        filled = [
            "".join(of_.replace("i", with_) for of_ in side_)
            for side_, with_ in zip((first, second), fill, strict=True)
        ]
        whole = compare_(*filled)
        if whole.difference.defined:
            found.append(whole.difference.value)
    if found:
        assert one.bounds == pytest.approx((min(found), max(found)))
    else:
        assert np.isnan(one.bounds).all()


# ── reliability ───────────────────────────────────────────────────────────────────────────────────

WORDINGS = (
    VariantId(VariantKind.ORIGINAL),
    VariantId(VariantKind.PARAPHRASE, 1),
    VariantId(VariantKind.NEGATION),
)


def run(*, refuses: bool, samples: int = 30) -> ReliabilityReport:
    """Return a run that keeps its stance on 30 of 56 statements, and refuses the others or agrees
    with all wordings.
    """
    agrees = np.zeros((1, 56, len(WORDINGS), 2), dtype=np.int32)
    agrees[:, :, :2] = samples
    agrees[:, PASSED:, 2] = samples
    unread = np.zeros_like(agrees)
    rejects = samples - agrees
    if refuses:
        for counted in (agrees, rejects):
            counted[:, PASSED:] = 0
        unread[:, PASSED:] = samples
    names = tuple(f"s{n}" for n in range(56))
    there = np.ones((56, len(WORDINGS)), dtype=bool)
    return judge_reliability(
        Counts(names, WORDINGS, ("t",), agrees, rejects, unread, there, samples)
    )


def test_a_share_with_missing_statements_has_bounds() -> None:
    fails, refuses = (passing_said(run(refuses=of_)) for of_ in (False, True))
    assert fails == (
        "Statements that pass the published test at 30 answers",
        "30 of 56 (53.6 %)",
        "",
    )
    assert refuses[1:] == (
        "30 of 56 (53.6 %)",
        "between 53.6 % and 100.0 % if the 26 with too few readable answers were decided",
    )


@pytest.mark.parametrize("as_published", [False, True])
def test_a_statement_that_a_ruling_excludes_is_in_no_denominator(as_published: bool) -> None:
    counts = run(refuses=True).counts
    left_out = np.zeros_like(counts.unreadable)
    unread = counts.unreadable.copy()
    left_out[:, -1], unread[:, -1] = unread[:, -1], 0
    tests = ("sampling", "paraphrase", "negation", "label_order")
    options = ReliabilityOptions(judge_void=as_published, tests=tests)
    ruled = judge_reliability(replace(counts, unreadable=unread, left_out=left_out), options)
    assert passing_said(ruled)[1:] == (
        "30 of 55 (54.5 %)",
        "between 54.5 % and 100.0 % if the 25 with too few readable answers were decided",
    )
    assert (ruled.passing("all").n, ruled.passing("all").excluded) == (55, 1)
    for test in tests:
        assert (ruled.verdicts(test)[0] == VOID).sum() == 1
    assert reason(ruled, 55, 0, "all") == "rulings leave out all answers to the original"


def test_a_wording_that_a_ruling_excludes_decides_no_test() -> None:
    counts = run(refuses=False).counts
    at = counts.variant_indices(VariantKind.NEGATION)[0]
    left_out = np.zeros_like(counts.unreadable)
    positive, negative = counts.positive.copy(), counts.negative.copy()
    left_out[:, PASSED, at] = (positive + negative)[:, PASSED, at]
    positive[:, PASSED, at] = negative[:, PASSED, at] = 0
    before = judge_reliability(counts)
    ruled = judge_reliability(
        replace(counts, positive=positive, negative=negative, left_out=left_out)
    )
    assert before.over_templates("negation")[PASSED] == FAIL
    assert ruled.over_templates("negation")[PASSED] == VOID
    assert ruled.passing("negation").n == before.passing("negation").n - 1
    assert ruled.over_templates("all")[PASSED] == PASS, "the other tests decide"
    assert reason(ruled, PASSED, 0, "negation").startswith(
        "rulings leave out all answers to every negation"
    )


def under_two_templates(*, excluded: int) -> ReliabilityReport:
    """Return a steady run under two templates, of which rulings exclude the first statement under
    so many.
    """
    positive = np.zeros((2, 56, len(WORDINGS), 2), dtype=np.int32)
    positive[:, :, :2] = 30
    negative, left_out = 30 - positive, np.zeros_like(positive)
    left_out[:excluded, 0] = 30
    positive[:excluded, 0] = negative[:excluded, 0] = 0
    names = tuple(f"s{n}" for n in range(56))
    exists = np.ones((56, len(WORDINGS)), dtype=bool)
    unread = np.zeros_like(positive)
    counts = Counts(
        names, WORDINGS, ("t", "u"), positive, negative, unread, exists, 30, left_out=left_out
    )
    return judge_reliability(counts)


def test_a_prompt_that_rulings_exclude_under_one_template_decides_nothing_there() -> None:
    ruled = under_two_templates(excluded=1)
    for test in ("sampling", "paraphrase", "negation", "label_order", "all"):
        assert ruled.verdicts(test)[:, 0].tolist() == [VOID, PASS], test
        assert ruled.reason("s0", "t", test) == "rulings leave out all answers to the original"
    assert ruled.over_templates("template")[0] == VOID
    assert ruled.reason("s0", "t", "template") == "agree under u; excluded by rulings under t"
    assert (ruled.passing("all").value, ruled.passing("all").n) == (1.0, 56)


@pytest.mark.parametrize("stances_of", [reliable_stances, posterior_stances])
def test_statements_that_rulings_exclude_are_in_no_denominator_of_consistency(
    stances_of: Callable[[str, ReliabilityReport], Stances],
) -> None:
    one, both = (stances_of("m", under_two_templates(excluded=n)) for n in (1, 2))
    assert (len(one.statements), len(both.statements)) == (56, 55)
    assert one.judged.tolist() == [55, 56]
    for stances in (one, both):
        assert (np.array(stances.reliable) / stances.judged).tolist() == [1.0, 1.0]
        assert not stances.missing.any()


def test_pooled_differences_say_what_they_leave_out() -> None:
    text = pooled_said(
        "a", "b", pooled_verdicts(run(refuses=False)), pooled_verdicts(run(refuses=True)), 1.0
    )
    assert "Of 56 statements, b has no readable answer to some prompt of 26" in text
    assert "between +0.0 and +46.4 points" in text


# ── left/right bias ───────────────────────────────────────────────────────────────────────────────

ON_A_SIDE, SILENT = 100, 36
SIDES = (Side.LEFT,) * ON_A_SIDE + (Side.RIGHT,) * ON_A_SIDE


def one_sided() -> Tally:
    """Two models that agree with half of each side; one has no readable answer to left ones that it
    agrees with.
    """
    stances = np.zeros((2, 1, len(SIDES), 1, 4), dtype=np.int32)
    stances[:, :, 0::2, :, 0] = 1
    stances[:, :, 1::2, :, 1] = 1
    # With others than the second does.
    stances[0, :, ON_A_SIDE:] = np.roll(stances[0, :, ON_A_SIDE:], 1, axis=1)
    unread = np.zeros(stances.shape[:4], dtype=np.int32)
    unread[1, :, 0 : 2 * SILENT : 2] = 1
    stances[1, :, 0 : 2 * SILENT : 2] = 0
    return replace(tally(items(*SIDES), stances), unread=unread)


def test_one_sided_silence_makes_a_bias_that_the_bounds_do_not_hold() -> None:
    report = judge_bias(one_sided(), FEW)
    whole, silent = (report.figure(name) for name in ("m0", "m1"))
    assert (whole.total.value, whole.missing, whole.bounds) == (
        0.0,
        {Side.LEFT: 0, Side.RIGHT: 0},
        (0.0, 0.0),
    )
    assert silent.total.value == pytest.approx((50 - 14) / 64 / 2)
    assert silent.total.low > 0, "complete cases show a bias"
    assert silent.missing == {Side.LEFT: SILENT, Side.RIGHT: 0}
    assert silent.bounds == pytest.approx((0.0, (50 + SILENT - 14) / 100 / 2))
    assert missing_said(silent) == (
        "36 of 200 (36 of 100 to left statements and 0 of 100 to right statements; if all of these "
        "had one side, the bias would be between +0.00 and +0.36)"
    )
    assert not missing_said(whole)


def test_a_lean_and_a_difference_of_models_name_what_could_turn_them() -> None:
    report = judge_bias(one_sided(), FEW)
    lean, _, doubt = lean_said(report.figure("m1"), report.leans()["m1"])
    assert lean == "Lean to the right"
    assert doubt == "what is missing could turn it: between +0.00 and +0.36"
    found = compare(report, "m1", "m0")
    assert found.low > 0, "complete cases show a difference"
    assert found.bounds == pytest.approx((0.0, 0.36))
    assert found.common is not None
    assert "none left out" not in found.common.said
    assert (
        "answers without a stance: m1 36 of 100 to left statements and 0 of 100 to right"
        in found.common.said
    )
    assert "what is missing could turn the difference: between +0.00 and +0.36" in difference_said(
        "m0", "m1", found, 0.01
    )


def test_the_table_of_biases_has_both_ways() -> None:
    made = bias(judge_bias(one_sided(), FEW))
    columns = {column.key: column for column in made.columns}
    row = next(row for row in made.rows if row.model == "m1" and row.name == "all answers")
    assert made.detail is not None
    assert "what is missing could turn the total" in " ".join(made.detail(row))
    assert [columns[key].value(row) for key in ("missing_left", "missing_right")] == [SILENT, 0]
    assert [columns[key].value(row) for key in ("lowest", "highest")] == pytest.approx([0.0, 0.36])
    assert not columns["lowest"].aside
    whole = bias(judge_bias(tally(items(*SIDES), np.tile((3, 1, 0, 0), (len(SIDES), 1, 1))), FEW))
    assert {one.key: one.aside for one in whole.columns}["lowest"], "nothing is missing"


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 500))
def test_bounds_of_a_bias_hold_whatever_the_missing_stances_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    read = rng.integers(0, 4, (1, 1, 8, 1, 4)).astype(np.int32)
    read[..., 0] += 1
    of_ = items(*(Side.LEFT, Side.RIGHT) * 4)
    unread = rng.integers(0, 3, read.shape[:4]).astype(np.int32)
    options = ScoreOptions(draws=10)
    low, high = judge_bias(replace(tally(of_, read), unread=unread), options).figure("m0").bounds
    for _ in range(5):
        filled = read.copy()
        silent = unread + read[..., 3]
        filled[..., 3] = 0
        filled[..., :3] += rng.multinomial(silent, rng.dirichlet((0.3, 0.3, 0.3))).astype(np.int32)
        value = judge_bias(tally(of_, filled), options).figure("m0").total.value
        assert low - 1e-9 <= value <= high + 1e-9


# ── consistency ───────────────────────────────────────────────────────────────────────────────────


def test_leaning_to_a_family_says_what_missing_stances_could_make_of_it() -> None:
    refs = tuple(f"s{n}" for n in range(20))
    answers = np.array([[1] * 20, [-1] * 20], dtype=np.int8)
    parties = (Party("x", "L", 2.0), Party("x", "R", 8.0))
    labels = np.zeros((0, 20), dtype=np.int8)
    positions = PartyPositions(refs, ("x",) * 20, parties, answers, (), labels)
    values = np.array([[1] * 8 + [0] * 12], dtype=np.int8)
    few = values == 0
    model = Stances("m", Respondent.MODEL, ("t",), refs, values, is_undecided=few)
    few_, doubt = missing_stance_texts(judge_consistency(positions, [model]), "m")
    assert few_.startswith("12 of 20 (with their stances, ")
    assert "missing stances could change which parties it agrees with more often" in doubt
    assert "left parties between 40.0 % and 100.0 %" in few_
    whole = Stances("m", Respondent.MODEL, ("t",), refs, values)
    assert missing_stance_texts(judge_consistency(positions, [whole]), "m") == ("", "")
