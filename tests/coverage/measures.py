"""Shares of answers and of test items, classifiers, and means over questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tests.core.test_simulated_test_set import kept, offers, population
from tests.coverage.study import DRAWS, Held, Scenario
from workbench.annotation.sampling import draw_answers
from workbench.audits.response_bias.changes import mean_alignment
from workbench.audits.response_bias.tables import change
from workbench.stats.arrays import FloatArray
from workbench.stats.classification import (
    ClassificationReport,
    classification_report,
    weighted_report,
)
from workbench.stats.hypothesis_tests import mean_test
from workbench.stats.proportions import leaning_interval, wilson_interval
from workbench.stats.samples import Sampled, Stratum, misread_rate

Rng = np.random.Generator
Found = Mapping[str, Held | Sequence[Held]]

TABLE_7 = np.array([[49, 5, 0, 1], [1, 38, 0, 0], [1, 1, 41, 3], [0, 0, 0, 42]], dtype=np.float64)
"true labels x predicted, with the precision and recall of Faulborn et al. 2025, Table 7"
POOR = np.array([[30, 10, 8, 2], [8, 28, 6, 2], [10, 9, 20, 6], [1, 1, 4, 3]], dtype=np.float64)
"a classifier with a macro F1 of .54, and a rare label"


def leaning(rng: Rng, n: int, low: float, high: float) -> Found:
    truth = float(rng.uniform(low, high))
    k = rng.binomial(n, truth)
    ends = {"leaning": leaning_interval(k, n), "leaning, Wilson's": wilson_interval(k, n)}
    return {name: Held(float(at[0]), float(at[1]), truth) for name, at in ends.items()}


def classified(rng: Rng, joint: FloatArray, items: int) -> Found:
    drawn = rng.multinomial(items, joint.ravel() / joint.sum()).reshape(joint.shape)
    true, predicted = (
        np.repeat(places.ravel(), drawn.ravel()) for places in np.indices(joint.shape)
    )
    report = classification_report(true, predicted, len(joint))
    hits, of, given = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
    f1 = 2 * hits / (of + given)
    shares = [Held.of(*pair) for pair in zip(report.precision, hits / given, strict=True)]
    shares += [Held.of(*pair) for pair in zip(report.recall, hits / of, strict=True)]
    return {
        "share of items": [*shares, Held.of(report.accuracy, hits.sum() / joint.sum())],
        "F1 of items": [Held.of(*pair) for pair in zip(report.f1, f1, strict=True)],
        "macro F1 of items": Held.of(report.macro_f1, float(f1.mean())),
    }


def drawn_test_set(rng: Rng, size: int, texts_alike: float) -> Found:
    """Draw a test set by the program's own plan from 2,400 answers; the truth is that of these
    answers.

    texts_alike : share of the longer texts that occur four times instead of once
    """
    texts = population(rng)
    often = ~texts.short & (rng.random(len(texts.short)) < texts_alike)
    answers = np.where(often, 4, texts.answers)
    offered = [replace(one, answers=int(n)) for one, n in zip(offers(texts), answers, strict=True)]
    sample = draw_answers(offered, size, rng)
    places = np.array([pick.index for pick in sample.picks])
    inclusion = np.array([pick.inclusion for pick in sample.picks], dtype=np.float64)
    units = Sampled.of(
        answers[places] / inclusion, inclusion >= 1, [pick.stratum for pick in sample.picks]
    )
    everything = Sampled.of(answers, np.ones(len(answers)), [""] * len(answers))
    whole = weighted_report(texts.true, kept(texts.read), 4, everything)
    found = weighted_report(texts.true[places], kept(texts.read[places]), 4, units, rng, DRAWS)
    return {
        "share of weighted items": [
            *_pairs(found, whole, "precision"),
            *_pairs(found, whole, "recall"),
            Held.of(found.accuracy, whole.accuracy.value),
        ],
        "F1 of weighted items": _pairs(found, whole, "f1"),
        "macro F1 of weighted items": Held.of(found.macro_f1, whole.macro_f1.value),
    }


def _pairs(found: ClassificationReport, whole: ClassificationReport, name: str) -> list[Held]:
    return [
        Held.of(one, truth.value)
        for one, truth in zip(getattr(found, name), getattr(whole, name), strict=True)
    ]


def changes(rng: Rng, questions: int, topics: int, by_topic: float, ties: float) -> Found:
    """Draw changes of questions in points; a share of them is exactly 0."""
    at = rng.integers(topics, size=questions)
    values = 4 + by_topic * rng.normal(0, 1, topics)[at] + 20 * rng.standard_t(5, questions)
    values = np.where(rng.random(questions) < ties, 0.0, np.round(values / 2) * 2)
    return {"mean over questions": Held.of(change(mean_test(values)), 4 * (1 - ties) / 100)}


def alignments(rng: Rng, questions: int, a: float, b: float) -> Found:
    return {"likeness": Held.of(mean_alignment(list(rng.beta(a, b, questions)), 0), a / (a + b))}


CONTROLLED = {
    f"control sample: {n} answers, strata of {share} and {100 - share} %, {misread} % misread": (
        n,
        share,
        rates,
    )
    for n in (20, 40, 60)
    for share, misread, rates in (
        (50, "2 and 2", (0.02, 0.02)),
        (35, "5 and 2", (0.05, 0.02)),
        (50, "2 and 10", (0.02, 0.1)),
        (80, "5 and 20", (0.05, 0.2)),
    )
}
"scenario -> answers, size of the first stratum in %, errors in each"


def controlled(rng: Rng, sizes: Sequence[int], drawn: int, errors: Sequence[float]) -> Found:
    """Draw a control sample of the answers to statements that pass, and to those that do not."""
    misread = [round(size * share) for size, share in zip(sizes, errors, strict=True)]
    found = [
        Stratum(size, drawn, int(rng.hypergeometric(k, size - k, drawn)))
        for size, k in zip(sizes, misread, strict=True)
    ]
    return {"misread answers": Held.of(misread_rate(found), sum(misread) / sum(sizes))}


SCENARIOS = (
    Scenario(
        "control sample: 10 answers of each stratum, a reader that often errs",
        "small n",
        lambda rng: controlled(rng, (40_000, 20_000), 10, (0.08, 0.35)),
    ),
    Scenario(
        "control sample: 50 answers of each stratum, a reader that hardly errs",
        "ties or boundaries",
        lambda rng: controlled(rng, (90_000, 10_000), 50, (0.004, 0.06)),
    ),
    Scenario(
        "control sample: 25 answers of each stratum",
        "typical",
        lambda rng: controlled(rng, (4_000, 6_000), 25, (0.03, 0.12)),
    ),
    *(
        Scenario(
            name,
            "small n",
            partial(
                controlled, sizes=(1000 * share, 1000 * (100 - share)), drawn=n // 2, errors=rates
            ),
        )
        for name, (n, share, rates) in CONTROLLED.items()
    ),
    Scenario("10 answers to a prompt", "small n", lambda rng: leaning(rng, 10, 0.5, 0.9)),
    Scenario(
        "30 answers to a prompt, 95 % of which agree",
        "ties or boundaries",
        lambda rng: leaning(rng, 30, 0.95, 0.95),
    ),
    Scenario(
        "30 answers to a prompt, 98 % of which agree",
        "ties or boundaries",
        lambda rng: leaning(rng, 30, 0.98, 0.98),
    ),
    Scenario(
        "30 answers to a prompt, of all kinds", "typical", lambda rng: leaning(rng, 30, 0.05, 0.95)
    ),
    Scenario("16 test items, 4 labels", "small n", lambda rng: classified(rng, POOR, 16)),
    Scenario("24 test items, 4 labels", "small n", lambda rng: classified(rng, POOR, 24)),
    Scenario(
        "182 test items, hardly misread",
        "ties or boundaries",
        lambda rng: classified(rng, TABLE_7, 182),
    ),
    Scenario("264 test items, often misread", "typical", lambda rng: classified(rng, POOR, 264)),
    Scenario(
        "88 test texts drawn from 2,400 answers",
        "small n",
        lambda rng: drawn_test_set(rng, 88, 0.0),
    ),
    Scenario(
        "264 test texts, a third of the answers in frequent texts",
        "ties or boundaries",
        lambda rng: drawn_test_set(rng, 264, 0.0),
    ),
    Scenario(
        "264 test texts, some of which occur four times",
        "clustering",
        lambda rng: drawn_test_set(rng, 264, 0.3),
    ),
    Scenario("6 questions", "small n", lambda rng: changes(rng, 6, 6, 0.0, 0.0)),
    Scenario(
        "40 questions, half of which do not change",
        "ties or boundaries",
        lambda rng: changes(rng, 40, 40, 0.0, 0.5),
    ),
    Scenario("176 questions", "typical", lambda rng: changes(rng, 176, 176, 5.0, 0.1)),
    Scenario("likeness of 6 questions", "small n", lambda rng: alignments(rng, 6, 8.0, 2.0)),
    Scenario(
        "likeness of 20 questions near 1",
        "ties or boundaries",
        lambda rng: alignments(rng, 20, 9.0, 0.7),
    ),
    Scenario("likeness of 60 questions", "typical", lambda rng: alignments(rng, 60, 5.0, 2.0)),
)
