"""Pass rates and κ with the reader's error, by a control sample, where the right readings are
known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from tests.coverage.pooled import HALF, SURE, Persona, answered
from tests.coverage.study import Held, Scenario
from workbench.audits.codes import PASS
from workbench.audits.reliability.agreement import agreement
from workbench.audits.reliability.counting import ALL, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.reader_error import READINGS, ReaderError
from workbench.domain.reviews import NOT_PASSED, PASSED
from workbench.evidence.control_sample import DecidedStratum, RuledControlSample
from workbench.stats.arrays import IntArray

SAMPLES, MANY = 20, 6_000
Models = tuple[Persona, Persona]
MIXED: Models = SURE, HALF
"each answers half of the statements"
TESTS = ReliabilityOptions(tests=("sampling", "paraphrase", "negation", "label_order"))
ERRS = np.array([[0.90, 0.06, 0.04], [0.06, 0.90, 0.04], [0.10, 0.10, 0.80]])
"right reading in rows, what the reader says in columns"


@dataclass(frozen=True, eq=False)
class Sample(RuledControlSample):
    """A control sample of which only the counts are known."""

    counted: Mapping[str, Mapping[tuple[str | None, str | None], float]] = field(
        default_factory=dict
    )
    sizes: Mapping[str, int] = field(default_factory=dict)

    def readings(self, stratum: str) -> Mapping[tuple[str | None, str | None], float]:
        return self.counted[stratum]

    def strata(self) -> tuple[DecidedStratum, ...]:
        return tuple(
            DecidedStratum(name, size, 0, sum(self.counted[name].values()), 0, 0)
            for name, size in self.sizes.items()
        )


@dataclass(frozen=True)
class World:
    """A run whose right readings are known, and what a reader and two kinds of auditors make of
    it.
    """

    truth: Counts
    read: Counts
    ruled: Counts
    "an auditor has looked at every answer to the statements that fail, and at no other"
    sample: Sample


def world(seed: int, statements: int = 60, drawn: int = 60, models: Models = MIXED) -> World:
    rng = np.random.default_rng(seed)
    half = [answered(one.shares(rng, statements // 2, 1), SAMPLES, rng) for one in models]
    arrays = {
        name: np.concatenate([getattr(one, name) for one in half], axis=1)
        for name in ("positive", "negative", "unreadable")
    }
    names = tuple(f"s{n}" for n in range(statements))
    truth = replace(
        half[0], statements=names, exists=np.ones((statements, 3), dtype=bool), **arrays
    )
    right = np.stack([truth.positive, truth.negative, truth.unreadable], axis=-1)
    # (…, right, read).
    crossed = np.stack([rng.multinomial(right[..., at], ERRS[at]) for at in range(3)], axis=-2)

    def counts(of: np.ndarray) -> Counts:
        return replace(
            truth, **{name: of[..., at].astype(np.int32) for at, name in enumerate(arrays)}
        )

    read = counts(crossed.sum(axis=-2))
    passes = judge(read, TESTS).over_templates(ALL) == PASS
    ruled = np.where(passes[None, :, None, None, None], crossed.sum(axis=-2), right)
    cells = {
        name: crossed[:, there].sum(axis=(0, 1, 2, 3))
        for name, there in ((PASSED, passes), (NOT_PASSED, ~passes))
    }
    counted = {name: dict(_drawn(of, drawn // 2, rng)) for name, of in cells.items()}
    sizes = {name: int(of.sum()) for name, of in cells.items()}
    return World(truth, read, counts(ruled), Sample((), (), {}, counted, sizes))


def _drawn(
    crossed: IntArray, n: int, rng: np.random.Generator
) -> Iterator[tuple[tuple[str | None, str | None], float]]:
    for at, k in enumerate(rng.multivariate_hypergeometric(crossed.reshape(-1), n).tolist()):
        if k:
            yield (READINGS[at % 3], READINGS[at // 3]), float(k)


def error(of: World) -> ReaderError:
    return ReaderError(judge(of.read, TESTS), judge(of.ruled, TESTS), of.sample, 50)


@cache
def truth(models: Models) -> tuple[float, float]:
    """Return the share of statements that pass, and κ of the negation, by right readings of very
    many statements.
    """
    report = judge(world(1, MANY, models=models).truth, TESTS)
    return report.passing(ALL).value, _kappa(report)


def _kappa(report: ReliabilityReport) -> float:
    return next(
        row.flipped_mean.mean
        for row in agreement(report, intervals=False)
        if row.name == "negation"
    )


def with_error(
    rng: np.random.Generator, statements: int, drawn: int, models: Models = MIXED
) -> Mapping[str, Held]:
    found = error(world(int(rng.integers(2**31)), statements, drawn, models)).corrected
    share, kappa = truth(models)
    return {
        "share with the reader's error": Held.of(found.passing, share),
        "κ with the reader's error": Held.of(found.kappas["negation"], kappa),
    }


SCENARIOS = (
    Scenario(
        "reader's error: 60 statements, 60 control answers",
        "clustering",
        lambda rng: with_error(rng, 60, 60),
    ),
    Scenario(
        "reader's error: 30 statements, 20 control answers",
        "small n",
        lambda rng: with_error(rng, 30, 20),
    ),
    Scenario(
        "reader's error: 40 statements, nearly all kept, 40 control answers",
        "ties or boundaries",
        lambda rng: with_error(rng, 40, 40, (SURE, SURE)),
    ),
)
