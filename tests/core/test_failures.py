"""Why prompts failed: reasons of one kind are one line, and those that asking again cannot mend are
known.
"""

from __future__ import annotations

import pytest

from workbench.domain.probe_results import SAID_SHORT, Reasons, lasting
from workbench.inference.local.model import NO_BEGIN
from workbench.inference.local.network import Window


def too_long(text: str, tokens: int) -> str:
    return Window(96).misfit(text, tokens, 20, "to generate")


def test_reasons_that_differ_in_prompt_and_numbers_are_one_kind_and_the_most_frequent_comes_first() -> (
    None
):
    reasons = Reasons()
    reasons.add("the server answered with 500: busy", 4)
    reasons.add(too_long("It's a prompt", 90), 5)
    reasons.add(too_long("another, longer", 1_091), 5)
    reasons.add(too_long("a third", 92), 5)
    told = reasons.most_frequent()
    assert [count for _, count in told] == [10, 5, 4]
    assert "It's a prompt" in told[0][0]
    assert reasons.describe().startswith('10 because the prompt "It\'s a prompt" has 90 tokens')
    assert reasons.describe().endswith("; 9 for other reasons")
    assert len(reasons.describe()) < SAID_SHORT + 50


@pytest.mark.parametrize(
    ("reason", "lasts"),
    [
        (too_long("x", 90), True),
        (too_long("x", 900), True),
        (NO_BEGIN, True),
        ("the server answered with 400: this is too long", True),
        ("the server answered with 500: busy (5 tries)", False),
        ("the server answered with 429: slower", False),
        ("", False),
    ],
)
def test_what_asking_again_cannot_mend_is_known(reason: str, lasts: bool) -> None:
    assert lasting(reason) is lasts
    reasons = Reasons()
    reasons.add(reason, 3)
    assert reasons.lasting == (3 if lasts else 0)
