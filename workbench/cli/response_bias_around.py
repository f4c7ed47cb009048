"""What stands around response biases as text: valid answers, likeness to people, two models or ways of asking."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from workbench.cli.output import say, table
from workbench.cli.response_bias_format import (
    correlation,
    mean,
    percent,
    plain_number,
    points,
    probability,
    undefined_said,
)
from workbench.cli.response_bias_names import kind_said, place_said
from workbench.domain.counting import plural

if TYPE_CHECKING:
    from workbench.pipeline.response_bias import ResponseBiasJudged

BAR = 40
"characters of the longest bar of a histogram"


def print_validity(judged: ResponseBiasJudged) -> None:
    """Print how often answers were offered letters, by question (figure 6)."""
    for name, found in judged.validity.items():
        most = max(int(found.histogram.max()), 1) if found.histogram.size else 1
        say()
        say(
            f"{name}: {percent(found.mean)} of the answers to a question are offered letters, on average over "
            f"{plural(len(found.shares), 'question')} (a question counts once for each form that was compared)"
        )
        bins = len(found.histogram)
        table(
            ["valid", "questions", ""],
            [
                (f"{100 * n // bins}-{100 * (n + 1) // bins} %", f"{count:,}", "█" * math.ceil(BAR * count / most))
                for n, count in enumerate(map(int, found.histogram))
            ],
        )
        if found.without:
            say(f"{plural(found.without, 'question')} without any valid answer")


def print_people(judged: ResponseBiasJudged) -> None:
    """Print how near answers to the original questions come to people's (table 4)."""
    from workbench.audits.response_bias_people import INTERVAL

    say()
    if not judged.people:
        say(f"No human shares are known of the questions of {judged.instrument.name} that were asked.")
        return
    say("Likeness to people's answers to the original questions: 1 - Wasserstein distance of the shares, 1 is the same")
    table(
        ["model", "questions", "mean [95 %]"],
        [
            (
                name,
                str(found.mean.n),
                plain_number(found.mean.value)
                + ("" if math.isnan(found.mean.low) else f" [{found.mean.low:.3f}, {found.mean.high:.3f}]"),
            )
            for name, found in judged.people.items()
        ],
    )
    for name, found in judged.people.items():
        for reason, n in Counter(left.reason for left in found.left_out).items():
            say(f"{name}: {plural(n, 'question')} left out, {reason}")
    say("Options are taken for a scale with equal steps, in the order in which they stand.")
    say(f"[ ]: {INTERVAL}.")


def print_compared(judged: ResponseBiasJudged, first: str, second: str) -> None:
    """Print two subjects beside one another, paired over questions (table 11)."""
    from workbench.pipeline.response_bias import compared

    found = compared(judged, first, second)
    say()
    say(f"{second} minus {first}, in percentage points, over the questions that take part in both")
    table(
        ["", first, second, "n", "left out", "difference [95 %]", "p", "r over questions", ""],
        [
            (
                kind_said(row.bias, row.variant),
                points(row.first.mean),
                points(row.second.mean),
                str(row.change.n),
                " and ".join(f"{n:,}" for n in row.left_out),
                mean(row.change),
                probability(row.change.p),
                correlation(row.questions),
                "turned" if row.turned else "",
            )
            for row in found.rows
        ],
    )
    if any(any(row.left_out) for row in found.rows):
        say(f"left out: questions that take part in {first} alone, and in {second} alone")
    if any(row.turned for row in found.rows):
        say("turned: significant in both, to opposite sides")
    if why := undefined_said(row.questions for row in found.rows):
        say(why)
    means = found.means
    if not math.isnan(means.change):
        say(
            f"Over biases: mean difference {points(means.change)}, of sizes {points(means.change_of_size)}; r of the "
            f"means {correlation(means.correlation)}"
        )
    _print_agreement(judged, first, second)


def _print_agreement(judged: ResponseBiasJudged, first: str, second: str) -> None:
    from workbench.pipeline.response_bias import sampling_agreements

    rows = sampling_agreements(judged, first, second)
    if not rows:
        return
    say()
    say("Samples against exact probabilities: is the difference more than the error of sampling?")
    table(
        ["", "n", "sampled", "exact", "error", "z", "p", "mean square"],
        [
            (
                place_said(*place),
                str(found.n),
                points(found.sampled, 2),
                points(found.exact, 2),
                plain_number(found.error, 2),
                points(found.z, 2),
                probability(found.p),
                plain_number(found.mean_square, 2),
            )
            for place, found in rows.items()
        ],
    )
    say("Mean square: of single questions' differences in their errors; near 1 where sampling explains them.")
