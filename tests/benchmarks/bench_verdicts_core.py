"""Verdicts on a whole model, from counts: this package against the published way.

The published way (Ceron et al. 2024, section 5.4) draws 1,000 bootstrap resamples of the answers to each prompt in a
loop. It is timed on a sample of the prompts and scaled. Run: python tests/benchmarks/bench_verdicts_core.py
"""

from __future__ import annotations

import time

import numpy as np

from workbench.audits.reliability import ALL, TEMPLATE, TESTS, Counts, judge
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, VariantId, VariantKind

TEMPLATES, STATEMENTS, SAMPLES, TIMED = 6, 239, 30, 40
VARIANTS = (ORIGINAL, *(VariantId(VariantKind.PARAPHRASE, number) for number in (1, 2, 3)), NEGATION, OPPOSITE)


def answers(rng: np.random.Generator) -> Counts:
    shape = (TEMPLATES, STATEMENTS, len(VARIANTS), 2)
    positive = rng.binomial(SAMPLES, rng.beta(0.3, 0.3, size=shape)).astype(np.int32)
    return Counts(
        tuple(f"s{number}" for number in range(STATEMENTS)),
        VARIANTS,
        tuple(f"t{number}" for number in range(TEMPLATES)),
        positive,
        (SAMPLES - positive).astype(np.int32),
        np.zeros(shape, dtype=np.int32),
        np.ones(shape[1:3], dtype=np.bool_),
        SAMPLES,
    )


def published(counts: Counts) -> float:
    """Return the seconds that the loop over resamples takes for all prompts, from a sample of them."""
    positive = counts.positive.ravel()[:TIMED]
    rng = np.random.default_rng(1)
    started = time.perf_counter()
    for k in positive:
        sample = np.repeat([1, 0], [k, SAMPLES - k])
        np.percentile([rng.choice(sample, size=SAMPLES).mean() for _ in range(1_000)], [2.5, 97.5])
    return (time.perf_counter() - started) / TIMED * counts.positive.size


def main() -> None:
    counts = answers(np.random.default_rng(0))
    started = time.perf_counter()
    report = judge(counts)
    for test in (*TESTS, ALL, TEMPLATE):
        report.verdicts(test)
    verdicts = time.perf_counter() - started
    report.agreement()
    report.items()
    everything = time.perf_counter() - started
    loop = published(counts)
    print(f"{counts.positive.size:,} prompts x {SAMPLES} answers")
    print(f"published loop (scaled)     {loop:9.2f} s")
    print(f"verdicts                    {verdicts:9.4f} s   {loop / verdicts:,.0f}x")
    print(f"verdicts, kappas, intervals {everything:9.4f} s   {loop / everything:,.0f}x")


if __name__ == "__main__":
    main()
