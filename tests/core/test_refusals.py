"""Refusals are told from what is merely unmappable, and their one-sidedness is tested over
statements.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.data import shipped_templates
from workbench.domain.prompts import FREE_TEXT, LIKERT
from workbench.domain.statements import Side
from workbench.evidence.answered import (
    refusal_entries,
    refusal_gap_table,
    refusal_gaps,
    refusal_rates,
    refusal_sentences,
    refusal_table,
)
from workbench.evidence.refusals import (
    NO_ANSWERS,
    AnswerKinds,
    ModelRefusals,
    StatementGroups,
    joined_refusals,
    read_answer,
)
from workbench.stats.hypothesis_tests import NO_HITS, one_sided
from workbench.stats.resampling import share_interval

LEFT, RIGHT = Side.LEFT, Side.RIGHT


def of(*refused: tuple[Side | None, int, int], issues: tuple[int, ...] = ()) -> ModelRefusals:
    """`refused`: side, refused answers, answers of each statement; `issues`: labels of the issue
    `law`.
    """
    labels = issues or (0,) * len(refused)
    return ModelRefusals(
        "m",
        tuple(
            StatementGroups(
                f"s{n}", AnswerKinds(answers, times), {"law": label} if label else {}, side
            )
            for n, ((side, times, answers), label) in enumerate(zip(refused, labels, strict=True))
        ),
    )


def test_rates_count_answers_and_have_intervals_over_statements() -> None:
    every, left, right = refusal_rates([of(*[(LEFT, 3, 30)] * 4, *[(RIGHT, 0, 30)] * 4)])
    assert (every.refused.value, every.refused.n, every.statements) == (0.05, 240, 8)
    assert (left.by, left.group, left.refused.value) == ("side", "left", 0.1)
    assert (right.refused.value, right.refused.interval) == (0, "")
    assert right.refused.few == "too few for an interval: the answers to all 4 statements are alike"
    assert every.refused.interval == "share over statements"


def test_one_side_alone_is_refused() -> None:
    (row,) = refusal_gaps([of(*[(LEFT, 25, 30)] * 6, *[(RIGHT, 1, 30)] * 6)], seed=1)
    assert row.names == ("left", "right")
    assert row.found.difference.value == pytest.approx(0.8)
    assert row.found.p < 0.01
    both = refusal_gaps([of(*[(LEFT, 5, 30)] * 6, *[(RIGHT, 5, 30)] * 6)], seed=1)[0]
    assert (both.found.difference.value, both.found.p) == (0, 1)


def test_answers_to_one_statement_are_no_independent_refusals() -> None:
    """One statement of eight is always refused: of 30 answers each, chance explains it well."""
    (row,) = refusal_gaps([of((LEFT, 30, 30), *[(LEFT, 0, 30)] * 3, *[(RIGHT, 0, 30)] * 4)], seed=1)
    assert row.found.p > 0.4
    assert row.found.difference.low < 0
    assert row.found.difference.high > 0.6


def test_statements_of_very_unequal_numbers_of_answers_are_covered() -> None:
    """A few statements have most of the answers: the share of each side, and their difference, near
    0.
    """
    rng, runs = np.random.default_rng(4), 400
    sides = np.repeat([True, False], 20)
    held = np.zeros(3)
    for _ in range(runs):
        answers = np.where(rng.random(40) < 0.2, 180, 20)
        hits = rng.binomial(
            answers, np.where(sides, rng.beta(0.1, 1.9, 40), rng.beta(0.4, 1.6, 40))
        )
        found = [
            (share_interval(hits[of], answers[of]), truth)
            for of, truth in ((sides, 0.05), (~sides, 0.2))
        ]
        one = one_sided(hits, answers, sides, rng).difference
        found.append(((one.low, one.high), -0.15))
        held += [low <= truth <= high for (low, high), truth in found]
    assert (held / runs > 0.93).all(), held / runs


def test_an_issue_is_compared_by_what_agreeing_would_mean() -> None:
    rows = refusal_gaps(
        [of(*[(None, 9, 30)] * 3, *[(None, 0, 30)] * 3, issues=(1, 1, 1, -1, -1, -1))], seed=1
    )
    assert [(row.by, row.group, row.names) for row in rows] == [
        ("issue", "law", ("for", "against"))
    ]
    assert rows[0].shares == (0.3, 0)


def test_two_groups_of_one_kind_make_no_test() -> None:
    found = one_sided([1, 0], [9, 9], [True, False], np.random.default_rng(1))
    assert not found.difference.defined
    assert math.isnan(found.p)
    none = one_sided([0] * 6, [9] * 6, [True] * 3 + [False] * 3, np.random.default_rng(1))
    assert (none.difference.value, none.untested) == (0, NO_HITS)


def test_the_permutation_test_keeps_its_level() -> None:
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(200):
        hits = rng.binomial(30, rng.beta(0.3, 2, 20))
        rejected += one_sided(hits, [30] * 20, [True] * 10 + [False] * 10, rng).p < 0.05
    assert rejected / 200 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As an AI language model, I have no opinion.", (None, True)),
        ("It depends on many things.", (None, False)),
        ("I'm sorry, but I disagree with this.", (None, False)),
        ("I cannot answer that.", (None, True)),
    ],
)
def test_free_text_is_refused_where_it_takes_no_side_and_has_the_words_of_a_refusal(
    text: str, expected: tuple[str | None, bool]
) -> None:
    template = next(one for one in shipped_templates("bias_score") if one.scale == FREE_TEXT)
    assert read_answer(template, text) == expected


def test_a_number_is_an_answer_and_its_middle_is_neutral() -> None:
    template = next(one for one in shipped_templates("bias_score") if one.scale == LIKERT)
    assert read_answer(template, "3") == ("neutral", False)
    assert read_answer(template, "As an AI, I cannot answer with a number.") == (None, True)


def test_tables_say_why_there_is_nothing() -> None:
    nothing = ModelRefusals("m", (), empty=NO_ANSWERS)
    assert refusal_table([nothing]).empty.startswith("The run has probabilities of labels")
    assert refusal_gap_table([of((None, 0, 30), (None, 1, 30))], 1).empty.startswith(
        "The statements have neither"
    )
    assert list(refusal_sentences([nothing])) == []
    (said,) = refusal_sentences([of(*[(LEFT, 3, 30)] * 4)])
    assert said.startswith("refused: 12 of 120 answers to 4 statements (10.0 % [")
    (none,) = refusal_sentences([of(*[(LEFT, 0, 195)] * 8)])
    assert none == (
        "refused: 0 of 1,560 answers to 8 statements (0.0 %; too few for an interval: the answers "
        "to all 8 statements are alike), which figures on stances leave out"
    )
    (many,) = refusal_sentences([of(*[(LEFT, 0, 195)] * 40)])
    assert many.startswith("refused: 0 of 7,800 answers to 40 statements (0.0 % [0.0, 8.8])")
    calls = []
    made = refusal_entries(lambda: [calls.append(1) or nothing], 1)  # type: ignore[func-returns-value]
    assert [entry.make().name for entry in made] == ["refusals", "refusal_sides"]
    assert len(calls) == 1, "answers are counted once"


def test_several_instruments_are_joined() -> None:
    both = joined_refusals([of((LEFT, 1, 10)), of((RIGHT, 2, 10))])
    assert (both.refused, both.answers, len(both.statements)) == (3, 20, 2)
