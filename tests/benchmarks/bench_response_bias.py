"""Response biases at the published size: 747 questions in 5 biases, each under itself and three
perturbations.

Both compute the mean change of every bias and condition with its t-test, from 50 answers to each
form. Ours also gives what the terminal shows beside it: entropies and their change, correlations,
dropped answers, the score. The baseline is the plain way: for every question, filter the rows of a
table, count letters, subtract.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))

from workbench.audits.response_bias.answers import tabulate
from workbench.audits.response_bias.score import ChangeReport, judge
from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Perturbation,
)

QUESTIONS = {
    Bias.ACQUIESCENCE: (176, 2, 2),
    Bias.ALLOW_FORBID: (48, 2, 2),
    Bias.RESPONSE_ORDER: (271, 3, 3),
    Bias.OPINION_FLOAT: (126, 5, 6),
    Bias.ODD_EVEN: (126, 5, 4),
}
"bias -> questions, options of both forms (Tjuatja et al. 2024, table 1)"
SAMPLES, REPEATS = 50, 5
TINY_QUESTIONS = 2


def build(most: int | None = None) -> list[AnswerSet]:
    """Return random answers of one model; `most`: questions of each bias."""
    rng = np.random.default_rng(1)

    def arm(options: int) -> ArmAnswers:
        letters = rng.choice(options, size=SAMPLES, p=rng.dirichlet(np.ones(options)))
        return ArmAnswers(dict(Counter(LETTERS[letter] for letter in letters)), options, options)

    found = []
    for bias, (questions, first, second) in QUESTIONS.items():
        for condition in (None, *Perturbation):
            options = second if condition is None else first
            pairs = tuple(
                AnsweredPair(f"q{n}", arm(first), arm(options))
                for n in range(min(questions, most or questions))
            )
            found.append(AnswerSet("model", bias, condition, pairs))
    return found


def ours(sets: list[AnswerSet]) -> ChangeReport:
    """Return the whole report."""
    return judge([tabulate(one) for one in sets])


def plain(sets: list[AnswerSet]) -> float:
    """Return the seconds that filtering a table for every question takes."""
    from scipy.stats import ttest_1samp

    tables = []
    for one in sets:
        rows = [
            (pair.key, letter, group)
            for pair in one.pairs
            for group, arm in (("orig", pair.original), ("other", pair.changed))
            for letter, n in arm.counts.items()
            for _ in range(n)
        ]
        tables.append(pd.DataFrame(rows, columns=["key", "response", "group"]))
    started = time.perf_counter()
    for table in tables:
        changes = []
        for key in table["key"].unique():
            of = table[table["key"] == key]
            first = of[of["group"] == "orig"]["response"].value_counts()
            second = of[of["group"] == "other"]["response"].value_counts()
            changes.append((second.get("a", 0) - first.get("a", 0)) * 100 / SAMPLES)
        ttest_1samp(changes, 0)
    return time.perf_counter() - started


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the baseline."""
    sets = build(TINY_QUESTIONS if tiny else None)
    ours(sets)  # imports what the first test needs
    times = []
    for _ in range(1 if tiny else REPEATS):
        started = time.perf_counter()
        ours(sets)
        times.append(time.perf_counter() - started)
    seconds, slow = float(np.median(times)), plain(sets)
    answers = sum(2 * SAMPLES * len(one.pairs) for one in sets)
    return [
        (
            f"response biases of one model, {answers:,} answers in {len(sets)} sets",
            f"{seconds:.3f} s",
            f"{slow / seconds:,.0f}x",
        ),
        ("changes alone, filtering a table for every question", f"{slow:.1f} s", "1x"),
    ]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
