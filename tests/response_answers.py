"""Answer sets for the tests of response biases, from a line of letters for each form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.audits.response_bias.answers import ChoiceTable, tabulate
from workbench.domain.choices import AnsweredPair, AnswerSet, ArmAnswers, Bias, Perturbation

OFFERED: Mapping[Bias, tuple[int, int]] = {
    Bias.ACQUIESCENCE: (2, 2),
    Bias.ALLOW_FORBID: (2, 2),
    Bias.RESPONSE_ORDER: (3, 3),
    Bias.OPINION_FLOAT: (5, 6),
    Bias.ODD_EVEN: (5, 4),
}
MODEL = "model"


def options_of(bias: Bias, condition: Perturbation | None) -> tuple[int, int]:
    """Return how many options the forms of a question usually have."""
    original, changed = OFFERED[bias]
    return original, original if condition else changed


def arm(letters: str, offered: int, recorded: int | None = None, invalid: int = 0) -> ArmAnswers:
    """Return the answers of one form, a letter each; a blank stands for an answer without one."""
    counts = Counter("" if letter == " " else letter for letter in letters)
    return ArmAnswers(dict(counts), offered if recorded is None else recorded, offered, invalid)


def answers(
    bias: Bias,
    pairs: Sequence[tuple[str, str]],
    condition: Perturbation | None = None,
    *,
    model: str = MODEL,
    offered: tuple[int, int] | None = None,
    recorded: tuple[int, int] | None = None,
    mapped_back: bool = True,
    draw: int = 1,
    variant: str = "",
) -> AnswerSet:
    """Return the answers to questions `q0`, `q1`, …; each pair holds those to the original and to
    the changed form.
    """
    options = offered or options_of(bias, condition)
    told = recorded or options
    rows = tuple(
        AnsweredPair(
            f"q{n}", *(arm(text, options[side], told[side]) for side, text in enumerate(pair))
        )
        for n, pair in enumerate(pairs)
    )
    return AnswerSet(model, bias, condition, rows, draw, mapped_back, variant)


def table(
    bias: Bias, pairs: Sequence[tuple[str, str]], condition: Perturbation | None = None, **more: Any
) -> ChoiceTable:
    """Return the `answers` of the same arguments as arrays."""
    return tabulate(answers(bias, pairs, condition, **more))
