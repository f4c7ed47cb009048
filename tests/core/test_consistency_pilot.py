"""The choice of templates, results under weaker tests, and collapsed answer scales, on small
cases.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.consistency.pilot import (
    answer_types,
    draw_statements,
    rank_templates,
    scale_collapse,
    select_counts,
    weaker_tests,
)
from workbench.audits.consistency.stances import PartyPositions, party_positions
from workbench.audits.reliability import judge as reliability
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.instruments import Instrument, Party, PartyAnswer
from workbench.domain.statements import NEGATION, ORIGINAL, Statement, VariantId, VariantKind
from workbench.errors import UsageError

VARIANTS = (ORIGINAL, VariantId(VariantKind.PARAPHRASE, 1), NEGATION)


def counts(
    positive: int = 30, negative: int = 0, statements: int = 4, templates: int = 2
) -> Counts:
    """The same answers to every prompt of 30."""
    shape = (templates, statements, len(VARIANTS), 2)
    return Counts(
        statements=tuple(f"s{number}" for number in range(statements)),
        variants=VARIANTS,
        templates=tuple(f"t{number}" for number in range(templates)),
        positive=np.full(shape, positive, dtype=np.int32),
        negative=np.full(shape, negative, dtype=np.int32),
        unreadable=np.full(shape, 30 - positive - negative, dtype=np.int32),
        exists=np.ones(shape[1:3], dtype=np.bool_),
        samples=30,
    )


def unreadable(base: Counts, template: int, share: float) -> Counts:
    """Make a share of a template's answers unreadable."""
    positive, lost = base.positive.copy(), base.unreadable.copy()
    taken = (positive[template] * share).astype(np.int32)
    positive[template] -= taken
    lost[template] += taken
    return replace(base, positive=positive, unreadable=lost)


def silent(base: Counts, template: int) -> Counts:
    """Take a template's answers away."""
    arrays = [array.copy() for array in (base.positive, base.negative, base.unreadable)]
    for array in arrays:
        array[template] = 0
    return replace(base, positive=arrays[0], negative=arrays[1], unreadable=arrays[2])


def test_templates_are_ranked_by_readable_answers() -> None:
    made = unreadable(unreadable(counts(20, 10, templates=4), 0, 0.5), 2, 0.5)
    rows = rank_templates(
        silent(made, 3), {"t0": "personal", "t1": "personal", "t2": "impersonal"}, best=1
    )
    assert [(row.rank, row.template, row.chosen) for row in rows] == [
        (1, "t1", True),
        (2, "t0", False),
        (2, "t2", True),
        (4, "t3", False),
    ]
    first, second, _, last = rows
    assert (first.readable.value, first.readable.n, first.statements) == (1.0, 4 * 3 * 2 * 30, 4)
    assert first.agree == pytest.approx(20 / 30)
    assert second.readable.value == pytest.approx(20 / 30)
    assert second.disagree == pytest.approx(10 / 20)
    assert last.readable.undefined == "no answers"
    assert math.isnan(last.agree)


def test_the_interval_of_a_readable_share_resamples_statements() -> None:
    """Of 16 statements, 8 are never readable under t0: the share of statements is Binomial(16, 1/2)
    / 16.
    """
    made = counts(statements=16)
    positive, lost = made.positive.copy(), made.unreadable.copy()
    positive[0, :8], lost[0, :8] = 0, 30
    row = rank_templates(replace(made, positive=positive, unreadable=lost), {})[1]
    assert row.readable.value == 0.5
    assert row.readable.low == pytest.approx(0.25, abs=0.07)
    assert row.readable.high == pytest.approx(0.75, abs=0.07)


def test_a_single_statement_has_no_interval() -> None:
    assert math.isnan(rank_templates(counts(statements=1), {})[0].readable.low)


def test_a_pilot_looks_at_its_own_statements_and_templates() -> None:
    made = select_counts(counts(), ("s3", "s1", "gone"), ("t1",))
    assert (made.statements, made.templates) == (("s1", "s3"), ("t1",))
    assert made.positive.shape == (1, 2, 3, 2)
    assert select_counts(counts(), ("s0",)).templates == ("t0", "t1")


def test_a_pilot_keeps_what_wordings_say_of_their_relation() -> None:
    """The negation of s1 is said to mean the same: agreeing with it is right there, and wrong for
    s0.
    """
    relations = np.array([[1, 1, -1], [1, 1, 1], [1, 1, -1], [1, 1, -1]], dtype=np.int8)
    made = select_counts(replace(counts(), relations=relations), ("s1",))
    assert reliability.judge(made).verdicts("negation").tolist() == [[1], [1]]


def test_answer_types_count_statements_by_the_stance_on_the_original() -> None:
    made = counts(30, 0)
    positive, negative = made.positive.copy(), made.negative.copy()
    positive[0, 0], negative[0, 0] = 0, 30  # t0 rejects s0 in all wordings
    positive[0, 1], negative[0, 1] = 15, 15  # and has no stance on s1
    report = reliability.judge(
        replace(made, positive=positive, negative=negative),
        ReliabilityOptions(tests=("paraphrase",)),
    )
    types = answer_types(report)
    assert types.agree == (0.5, 1.0)
    assert types.disagree == (0.25, 0.0)
    assert types.reliable_agree == pytest.approx((2 / 3, 1.0))
    assert types.mean("agree").mean == 0.75
    assert types.mean("agree").sd == 0.25


def positions(statements: int = 4) -> PartyPositions:
    refs = [f"s{number}" for number in range(statements)]
    made = Instrument("i", "", tuple(Statement(ref, ()) for ref in refs), issues=("law",))
    return party_positions(made, {ref: {"law": 1} for ref in refs})


def test_weaker_tests_keep_more_statements() -> None:
    """Every wording is agreed with: that passes sampling, label order and paraphrase, and fails
    negation.
    """
    rows = weaker_tests(reliability.judge(counts()), positions())
    assert [(row.name, row.passed.mean) for row in rows] == [
        ("no tests", 1.0),
        ("sampling", 1.0),
        ("sampling, label order and paraphrase", 1.0),
        ("all", 0.0),
    ]
    assert rows[2].issues[0].value.value == 1.0
    assert not rows[3].issues[0].value.defined
    assert (rows[2].spread.mean, rows[2].spread.n) == (0.0, 1)
    assert rows[3].spread.n == 0


def test_chosen_tests_stand_last_and_once() -> None:
    report = reliability.judge(counts(), ReliabilityOptions(tests=("sampling",)))
    rows = weaker_tests(report, positions())
    assert [row.tests for row in rows] == [
        (),
        ("sampling", "label_order", "paraphrase"),
        ("sampling",),
    ]


def statements(**countries: int) -> tuple[Statement, ...]:
    return tuple(
        Statement(f"{country}_{number}", (), country=country)
        for country, n in countries.items()
        for number in range(n)
    )


def test_a_sample_is_drawn_evenly_over_countries() -> None:
    refs = draw_statements(statements(aa=20, bb=20, cc=2), 12, np.random.default_rng(1))
    assert Counter(ref[:2] for ref in refs) == {"aa": 5, "bb": 5, "cc": 2}


@given(st.integers(1, 30), st.integers(0, 5))
def test_a_sample_has_its_size_no_doubles_and_the_order_of_the_instrument(
    n: int, seed: int
) -> None:
    pool = statements(aa=20, bb=10)
    refs = draw_statements(pool, n, np.random.default_rng(seed))
    everything = [statement.ref for statement in pool]
    assert list(refs) == [ref for ref in everything if ref in set(refs)]
    assert len(refs) == n
    tally = Counter(ref[:2] for ref in refs)
    assert abs(tally["aa"] - tally["bb"]) <= 1 or tally["bb"] == 10


def test_the_same_seed_draws_the_same_sample() -> None:
    pool = statements(aa=30)
    drawn = [draw_statements(pool, 5, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("n", [0, -1, 4])
def test_a_sample_of_more_or_less_than_there_is_is_refused(n: int) -> None:
    with pytest.raises(UsageError, match="the instrument has 3"):
        draw_statements(statements(aa=3), n, np.random.default_rng(1))


def answers(**given_: str) -> Instrument:
    """Parties' answers to s0, s1, …: `2` completely agree, `1` agree, `0` neutral, `-` disagree,
    `?` no opinion.
    """
    words = {
        "2": ("completely agree", 1),
        "1": ("agree", 1),
        "0": ("neutral", 0),
        "-": ("disagree", -1),
    }
    unsure: tuple[str, int | None] = ("no opinion", None)
    n = max(map(len, given_.values()))
    return Instrument(
        "i",
        "",
        tuple(Statement(f"s{number}", (), country="aa") for number in range(n)),
        parties=tuple(Party("aa", name, 5.0 if name.islower() else None) for name in given_),
        party_answers=tuple(
            PartyAnswer("aa", name, f"s{number}", *words.get(letter, unsure))
            for name, letters in given_.items()
            for number, letter in enumerate(letters)
        ),
    )


def test_distances_are_shares_of_different_answers() -> None:
    """Full: ab 2/4, ac 3/4, bc 4/4, ranks 1 2 3. Collapsed: ab 0, ac 2/4, bc 2/4, ranks 1 2.5 2.5:
    ρ = .866.
    """
    (row,) = scale_collapse(answers(a="1111", b="2211", c="1--2"))
    assert row.placed.value == pytest.approx(math.sqrt(3) / 2)
    assert row.placed.n == 3
    assert (row.every.value, row.every.n) == (row.placed.value, row.placed.n)
    assert set(row.answers) == {"agree", "completely agree", "disagree"}


def test_no_opinion_is_neutral_where_answers_are_collapsed() -> None:
    """Full: ab 1/2, ac 1/2, bc 2/2. Collapsed: ab 0, ac 1/2, bc 1/2."""
    (row,) = scale_collapse(answers(a="01", b="?1", c="0-"))
    full, collapsed = [0.5, 0.5, 1.0], [0.0, 0.5, 0.5]
    assert row.placed.value == pytest.approx(np.corrcoef([1.5, 1.5, 3], [1, 2.5, 2.5])[0, 1])
    assert len(full) == len(collapsed) == row.placed.n


def test_parties_without_a_position_count_in_one_of_the_two_columns() -> None:
    (row,) = scale_collapse(answers(a="11", b="1-", C="2-", D="--"))
    assert row.placed.undefined == "1 pair of parties; three are needed"
    assert row.every.n == 6


def test_equal_distances_have_no_rank_correlation() -> None:
    (row,) = scale_collapse(answers(a="1", b="0", c="-"))
    assert row.placed.undefined == "all parties are equally far from each other"
    assert scale_collapse(Instrument("i", "", ())) == ()
