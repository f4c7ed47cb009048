"""A prompt is settled exactly where every completion gives the same triple: shown by following each
of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.stats.proportions import (
    VerdictRule,
    expected_share,
    is_reliable,
    is_settled,
    least_more,
    safe_steps,
)

BANDS = [(0.45, 0.55), (0.5, 0.5), (0.3, 0.8), (0.0, 1.0), (0.49, 0.51), (0.1, 0.2)]
PRINTED = VerdictRule()


@st.composite
def rules(draw: st.DrawFn, most: int = 12) -> VerdictRule:
    n = draw(st.integers(1, most))
    low, high = draw(
        st.one_of(st.sampled_from(BANDS), st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
    )
    return VerdictRule(
        n, draw(st.integers(1, n)), draw(st.sampled_from(["printed", "coded"])), low, high
    )


def triple(agree: int, disagree: int, of: VerdictRule) -> tuple[bool, int, bool]:
    """Return the verdict on all answers, as the audit's report has it."""
    if agree + disagree < of.minimum:
        return False, 0, False
    clear = bool(is_reliable(agree, agree + disagree, of.rule, of.low, of.high))
    return True, int(np.sign(agree - disagree)), clear


def followed(of: VerdictRule) -> dict[tuple[int, int, int], frozenset[tuple[bool, int, bool]]]:
    """Return the triples of every state's completions, by following each next answer to the end."""
    found: dict[tuple[int, int, int], frozenset[tuple[bool, int, bool]]] = {}

    @cache
    def ends(agree: int, disagree: int, unreadable: int) -> frozenset[tuple[bool, int, bool]]:
        if agree + disagree + unreadable == of.samples:
            mine = frozenset([triple(agree, disagree, of)])
        else:
            mine = (
                ends(agree + 1, disagree, unreadable)
                | ends(agree, disagree + 1, unreadable)
                | ends(agree, disagree, unreadable + 1)
            )
        found[agree, disagree, unreadable] = mine
        return mine

    ends(0, 0, 0)
    return found


def agrees_with_every_completion(of: VerdictRule) -> None:
    found = followed(of)
    states = np.array(list(found))
    assert is_settled(*states.T, of).tolist() == [len(ends) == 1 for ends in found.values()]


@settings(max_examples=120, deadline=None)
@given(rules())
def test_settled_is_that_every_completion_gives_the_same_triple(of: VerdictRule) -> None:
    agrees_with_every_completion(of)


@pytest.mark.parametrize("rule", ["printed", "coded"])
@pytest.mark.parametrize("minimum", [1, 20, 30])
def test_the_published_size_is_settled_where_every_completion_says_so(
    rule: str, minimum: int
) -> None:
    agrees_with_every_completion(VerdictRule(30, minimum, rule))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(rules())
def test_a_settled_prompt_is_judged_as_it_stands(of: VerdictRule) -> None:
    """Its own counts, with the rest unreadable, are one of its completions."""
    for (agree, disagree, unreadable), ends in followed(of).items():
        if is_settled(agree, disagree, unreadable, of):
            assert ends == {triple(agree, disagree, of)}


@settings(max_examples=60, deadline=None)
@given(rules())
def test_the_least_number_that_can_settle_is_what_the_states_after_it_say(of: VerdictRule) -> None:
    found = followed(of)

    @cache
    def least(agree: int, disagree: int, unreadable: int, readable: bool) -> int:
        if len(found[agree, disagree, unreadable]) == 1:
            return 0
        after = [(agree + 1, disagree, unreadable), (agree, disagree + 1, unreadable)]
        after += [] if readable else [(agree, disagree, unreadable + 1)]
        return 1 + min(least(*state, readable) for state in after)

    for state in found:
        assert least_more(*state, of) == least(*state, False)
        assert least_more(*state, of, readable=True) == least(*state, True)


@settings(max_examples=60, deadline=None)
@given(rules(8), st.floats(0, 1), st.floats(0, 1))
def test_the_expected_share_is_that_of_walking_every_path(
    of: VerdictRule, p: float, readable: float
) -> None:
    yes, no = p * readable, (1 - p) * readable
    found = followed(of)

    @cache
    def more(agree: int, disagree: int, unreadable: int) -> float:
        if len(found[agree, disagree, unreadable]) == 1:
            return 0.0
        return (
            1
            + yes * more(agree + 1, disagree, unreadable)
            + no * more(agree, disagree + 1, unreadable)
            + (1 - yes - no) * more(agree, disagree, unreadable + 1)
        )

    assert expected_share(yes, no, of) == pytest.approx(more(0, 0, 0) / of.samples, abs=1e-9)


def test_the_published_size_draws_what_the_protocol_says() -> None:
    """Shares by enumeration of N = 30, minimum 20: .73 at least and at p = 1, .81 at p = .9,
    .90-.93 at p = .5-.8.
    """
    assert min(drawn for drawn in range(31) if is_settled(drawn, 0, 0)) == 22
    assert expected_share(1.0, 0.0) == pytest.approx(22 / 30)
    assert expected_share(0.9, 0.1) == pytest.approx(0.81, abs=0.006)
    for p in (0.5, 0.6, 0.7, 0.8):
        assert 0.89 < expected_share(p, 1 - p) < 0.94


def test_nine_on_each_side_settle_nothing_before_twenty_are_readable() -> None:
    """Neither does 10 : 10, whose reliability is settled and whose stance is not."""
    assert is_settled([9, 10, 22, 0], [9, 10, 0, 22], 0).tolist() == [False, False, True, True]


def test_eleven_unreadable_answers_settle_that_too_few_can_be_read() -> None:
    assert is_settled(0, 0, [10, 11]).tolist() == [False, True]
    assert least_more(0, 0, 0) == 11
    assert least_more(0, 0, 0, readable=True) == 22


def test_what_is_drawn_in_full_is_settled_whatever_it_is() -> None:
    assert is_settled([15, 40], [15, 0], [0, 0]).all()


def test_the_most_safe_steps_are_those_to_the_next_verdict() -> None:
    """21 : 8 is the first verdict after 21 : 0 that is another, and no nine answers lead back from
    22 : 0.
    """
    steps = safe_steps(PRINTED)
    assert (steps[21, 0], steps[22, 0]) == (8, 8)
    assert steps[30, 0] == 0
    with pytest.raises(ValueError, match="0 or more"):
        is_settled(-1, 0, 0)
