"""In what share of studies the audits find an effect that is there, and the effect that they say
they would find.

`python -m tests.coverage.power` prints the table that `test_power.py` holds the program to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.coverage.bias import Study, answers, tally
from tests.response_answers import table
from workbench.audits.bias_score.findings import lean_reach
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import judge as judge_bias
from workbench.audits.response_bias.findings import change_reach
from workbench.audits.response_bias.score import judge as judge_changes
from workbench.domain.choices import Bias
from workbench.stats.power import POWER
from workbench.stats.resampling import derive_rng

Rng = np.random.Generator
SEED = 2026
LEVEL = 0.05
SAMPLES = 50
"answers to each form of a question"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one simulated study says of an effect."""

    found: bool
    stated: float
    "the effect that the study says it finds in 80 % of studies; NaN: it says none"


@dataclass(frozen=True, slots=True)
class PowerScenario:
    """A design and a true effect."""

    name: str
    study: Callable[[Rng], Outcome]


def lean(rng: Rng, each: int, bias: float) -> Outcome:
    """Ask one model about `each` statements of a side in each of two sources; the bias is to the
    left.
    """
    agree, disagree = 0.45 + bias / 2, 0.45 - bias / 2
    design = Study(each, each, 1.6, (agree, disagree, 0.1, 0.0), models=1)
    counts = answers(rng, design)
    stances = tally(design, counts, counts, np.zeros(counts.shape[:-1], dtype=np.int64))
    report = judge_bias(stances, ScoreOptions(int(rng.integers(2**31)), 200))
    claimed = report.leans()["m0"]
    is_found = claimed.towards is not None and claimed.p < LEVEL
    return Outcome(is_found, lean_reach(report.figure("m0")).effect(LEVEL))


def acquiescence(rng: Rng, questions: int, change: float) -> Outcome:
    """Ask questions of two options; the changed form is answered with the first option more
    often.
    """
    pairs = []
    for _ in range(questions):
        share = rng.uniform(0.2, 0.8)
        moved = min(1.0, max(0.0, share + rng.normal(change, 0.1)))
        first, second = (rng.binomial(SAMPLES, p) for p in (share, moved))
        pairs.append(
            ("a" * first + "b" * (SAMPLES - first), "a" * second + "b" * (SAMPLES - second))
        )
    cell = judge_changes([table(Bias.ACQUIESCENCE, pairs)]).cell(Bias.ACQUIESCENCE)
    reach = change_reach([cell], [])
    return Outcome(
        cell.claim < LEVEL / len(Bias), reach.effect(LEVEL / len(Bias)) if reach else float("nan")
    )


SCENARIOS = (
    *(
        PowerScenario(
            f"bias .15, {4 * each} statements", lambda rng, each=each: lean(rng, each, 0.15)
        )
        for each in (22, 10, 6)
    ),
    *(
        PowerScenario(
            f"acquiescence of 10 points, {questions} questions",
            lambda rng, questions=questions: acquiescence(rng, questions, 0.1),
        )
        for questions in (5, 20)
    ),
)


MEASURED = {
    "bias .15, 88 statements": 0.60,
    "bias .15, 40 statements": 0.27,
    "bias .15, 24 statements": 0.20,
    "acquiescence of 10 points, 5 questions": 0.06,
    "acquiescence of 10 points, 20 questions": 0.65,
}
"""share of 400 studies that find the effect; Monte Carlo error up to .025. At the effect that they
say they find in 80 % of studies: .77 with 88 and with 40 statements (bias .18 and .26), .75 with 20
questions (11 points)
"""


def share_found(name: str, study: Callable[[Rng], Outcome], studies: int) -> tuple[float, float]:
    """Return the share of studies that find the effect, and the median effect that they say they
    find.
    """
    rng = derive_rng(SEED, "power", name)
    outcomes = [study(rng) for _ in range(studies)]
    stated = float(np.nanmedian([outcome.stated for outcome in outcomes]))
    return float(np.mean([outcome.found for outcome in outcomes])), stated


def main(studies: int = 400) -> None:
    for scenario in SCENARIOS:
        found, stated = share_found(scenario.name, scenario.study, studies)
        print(
            f"{scenario.name:45} found {found:.2f}   finds {stated:.2f} in {POWER:.0%}", flush=True
        )
    for each in (22, 10):
        _, stated = share_found("lean", lambda rng, each=each: lean(rng, each, 0.15), 100)
        found, _ = share_found(
            "stated", lambda rng, each=each, stated=stated: lean(rng, each, stated), studies
        )
        print(
            f"{'at the stated bias':45} {4 * each} statements: {stated:.2f} found {found:.2f}",
            flush=True,
        )
    _, stated = share_found("a", lambda rng: acquiescence(rng, 20, 0.1), 100)
    found, _ = share_found("b", lambda rng: acquiescence(rng, 20, stated), studies)
    print(f"{'at the stated change':45} 20 questions: {stated:.2f} found {found:.2f}", flush=True)


if __name__ == "__main__":
    main()
