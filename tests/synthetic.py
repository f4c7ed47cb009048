"""Draws from a population of which everything is known, and the scores of the ideal predictor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from workbench.domain.questionnaires import Respondent
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray
from workbench.stats.resampling import derive_rng
from workbench.synthetic.population import Ideal, SyntheticPopulation


def generate(
    population: SyntheticPopulation, respondents: int, seed: int
) -> tuple[Respondent, ...]:
    """Draw respondents with names such as `syn-001`, so that nobody takes them for people.

    The first n of a longer draw are those of a shorter one with the same seed.
    """
    items, p_yes = population.items, population.p_yes()
    # one number per respondent for the profile, and three per question:
    # whether it is answered, whether with yes or no, and how firmly
    numbers = np.random.default_rng(seed).random((respondents, 1 + 3 * len(items)))
    profiles = np.searchsorted(np.cumsum(population.weights())[:-1], numbers[:, 0], side="right")
    width = max(3, len(str(respondents)))
    return tuple(
        Respondent(
            f"syn-{index + 1:0{width}}",
            _answers(population, p_yes[profiles[index]], numbers[index, 1:].reshape(-1, 3)),
        )
        for index in range(respondents)
    )


@dataclass(frozen=True, slots=True)
class IdealScore:
    """The score of the ideal predictor on one target, given these respondents' earlier answers.

    Its bias is 0 but for chance. Figures that vary with chance have a standard deviation.
    """

    target: str
    respondents: int
    "number of those who said yes or no"
    human: float
    "share of these who said yes; without any, NaN, as is everything below"
    majority: float
    "accuracy of always predicting the more frequent answer"
    expected: float
    "share of yes that is expected of them: mean p(yes)"
    accuracy: float
    "expected accuracy: mean of the greater of p(yes) and p(no)"
    accuracy_sd: float
    bias_sd: float
    "of the mean of p(yes) minus the answer"


def known(
    population: SyntheticPopulation, respondents: Sequence[Respondent]
) -> tuple[IdealScore, ...]:
    """Return the score of the ideal predictor on each target.

    It predicts from the context questions that each respondent answered.
    """
    predict = Ideal(population)
    answers_as_yes = yes_or_no(population, respondents)
    context = {item.ref for item in population.context}
    predictions = [
        predict({ref: yes for ref, yes in answers.items() if ref in context})
        for answers in answers_as_yes
    ]
    return tuple(_known(item.ref, answers_as_yes, predictions) for item in population.targets)


def yes_or_no(
    population: SyntheticPopulation, respondents: Sequence[Respondent]
) -> list[dict[str, bool]]:
    """Return whether answers are a yes, by ref and for each respondent.

    Neutral and missing answers are left out.
    """
    scales = {item.ref: population.scale(item) for item in population.items}
    is_yes_by_answer: dict[tuple[str, str], bool | None] = {}
    rows = []
    for respondent in respondents:
        is_yes_by_ref = {}
        for ref, scale in scales.items():
            answer = respondent.answers.get(ref, "")
            if answer and (ref, answer) not in is_yes_by_answer:
                is_yes_by_answer[ref, answer] = scale.said_yes(answer)
            if (yes := is_yes_by_answer.get((ref, answer))) is not None:
                is_yes_by_ref[ref] = yes
        rows.append(is_yes_by_ref)
    return rows


def _known(
    ref: str, said: Sequence[Mapping[str, bool]], predicted: Sequence[Mapping[str, float]]
) -> IdealScore:
    pairs = [
        (prediction[ref], answers[ref])
        for prediction, answers in zip(predicted, said, strict=True)
        if ref in answers
    ]
    if not pairs:
        nan = float("nan")
        return IdealScore(ref, 0, nan, nan, nan, nan, nan, nan)
    p, yes = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    n, human = len(pairs), float(yes.mean())
    # Of a right prediction as of a yes: both are draws of p or 1 - p.
    sd = sqrt(float((p * (1 - p)).sum())) / n
    return IdealScore(
        ref,
        n,
        human,
        max(human, 1 - human),
        float(p.mean()),
        float(np.maximum(p, 1 - p).mean()),
        sd,
        sd,
    )


def _answers(
    population: SyntheticPopulation, p_yes: FloatArray, numbers: FloatArray
) -> dict[str, str]:
    """Return the answers of one respondent by ref.

    Missing ones are left out.

    `p_yes` is (Q,), `numbers` is (Q, 3).
    """
    answers = {}
    scales = {scale.name: scale for scale in population.scales}
    for item, p, (answer_number, yes_number, firmness_number) in zip(
        population.items, p_yes, numbers.tolist(), strict=True
    ):
        scale = scales[item.scale]
        position = answer_number - scale.missing
        neutral = sum(share for _, share in scale.neutral)
        if position >= neutral:
            answers[item.ref] = _one_of(scale.yes if yes_number < p else scale.no, firmness_number)
        elif position >= 0:
            answers[item.ref] = _one_of(scale.neutral, firmness_number)
    return answers


def _one_of(shares: Sequence[tuple[str, float]], number: float) -> str:
    """Return the answer at a position between 0 and 1, where each has as much room as its share."""
    remaining = number * sum(share for _, share in shares)
    for answer, share in shares:
        remaining -= share
        if remaining < 0:
            return answer
    return shares[-1][0]


STEPS = 1000
"shares are whole numbers of these parts, and sum to 1 exactly"


def synthetic_shares(
    key: str, options: int, seed: int, concentration: int = 2
) -> tuple[float, ...]:
    """Return a share for each option, drawn for this key under this seed.

    `concentration` is that of every option. With 1, all shares are equally likely. The greater it
    is, the more alike the shares are.

    A gamma variable of a whole shape is the sum of as many exponential ones, -ln(1 - u). Only
    uniform numbers are drawn, as numpy keeps their stream between versions.

    Raises UsageError for fewer than two options or a concentration below 1.

    Examples
    --------
    >>> sum(synthetic_shares("parks", 5, seed=8))
    1.0
    """
    if options < 2 or concentration < 1:
        raise UsageError(
            f"found {options} options and concentration {concentration}; give 2 or more, and 1 "
            "or more"
        )
    uniform = derive_rng(seed, "answer shares", key).random((options, concentration))
    gamma = -np.log1p(-uniform).sum(axis=1)
    parts = STEPS * gamma / gamma.sum()
    whole_parts = np.floor(parts).astype(int)
    # Largest remainders first.
    for index in np.argsort(whole_parts - parts, kind="stable")[: STEPS - whole_parts.sum()]:
        whole_parts[index] += 1
    return tuple(int(part) / STEPS for part in whole_parts)
