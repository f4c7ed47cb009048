"""Figures of how many statements pass each test, beside what samples would and what coin flips do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.audits.reliability.beside import Reliability
from workbench.audits.reliability.counts import TEMPLATE
from workbench.audits.reliability.exact import ExpectedRow
from workbench.audits.reliability.judge import Report, SummaryRow
from workbench.audits.reliability.options import TESTS
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table, in_words

MODEL, COIN = "model", "coin flips"


@dataclass(frozen=True, slots=True)
class Passing:
    """How many statements pass a test: the model's, what samples would, and coin flips."""

    model: SummaryRow
    sampled: ExpectedRow | None
    coin: SummaryRow | None


def passing(of: Reliability) -> Table[Passing]:
    """Return how many statements pass each test (Ceron et al. 2024, Figure 3)."""
    exact = of.exact
    sampled = {row.test: row for row in exact.expected_summary()} if exact else {}
    coins = {row.test: row for row in of.coin.summary()}
    rows = [Passing(row, sampled.get(row.test), coins.get(row.test)) for row in of.report.summary()]
    n = exact.options.beside if exact else 0
    of_samples: list[Column[Passing]] = [
        Column(
            "sampled_share",
            f"expected of {n} samples",
            lambda row: row.sampled.share if row.sampled else None,
            Kind.SHARE,
        ),
    ]
    passed_of_samples: list[Column[Passing]] = [
        Column(
            "sampled_passed", "of samples", lambda row: _words(row.sampled.passed, 1) if row.sampled else (), Kind.WORDS
        ),
    ]
    coin: Column[Passing] = Column(
        "coin_share",
        COIN,
        lambda row: row.coin.share if row.coin else None,
        Kind.SHARE,
        help="fair flips, as many per prompt as samples, put through the same tests (section 6.1)",
    )
    shares = ["share", *(["sampled_share"] if exact else []), "coin_share"]
    return Table(
        "passing",
        "Statements that pass each test",
        rows,
        [
            Column("test", "test", lambda row: row.model.test, words=in_words(TESTS)),
            Column(
                "share",
                "exact" if exact else "model",
                lambda row: row.model.share,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="share of the statements that pass",
            ),
            *(of_samples if exact else ()),
            coin,
            Column("passed", "passed", lambda row: _words(row.model.passed), Kind.WORDS),
            *(passed_of_samples if exact else ()),
            Column("failed", "failed", lambda row: _words(row.model.failed), Kind.WORDS),
            Column(
                "insufficient",
                "too few",
                lambda row: _words(row.model.insufficient),
                Kind.WORDS,
                help="statements with too few readable answers to judge",
            ),
            Column(
                "void",
                "void",
                lambda row: _words(row.model.void),
                Kind.WORDS,
                help="statements that cannot fail the test: nothing to compare, or a prompt with itself",
            ),
        ],
        key=lambda row: (row.model.test,),
        definition="Share of the statements whose test is not void: mean and sd over templates. Too few "
        "readable answers do not pass.",
        notes=[f"passed, failed, too few, void: statements under {', '.join(of.templates)}"],
        link=lambda row: Link("verdicts", ("", row.model.test)),
        pictures=[Forest(values=shares, rows=["test"], axis="statements that pass", baselines=[COIN])],
    )


def _words(numbers: Sequence[float], digits: int = 0) -> list[str]:
    return [f"{number:.{digits}f}" for number in numbers]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many statements pass a test under one template."""

    answers: str
    "model, coin flips"
    test: str
    template: str
    passed: int
    failed: int
    insufficient: int
    void: int
    sampled: float | None


def passing_by_template(of: Reliability) -> Table[Tally]:
    """Return under each template how many statements pass each test, of which `passing` has the mean."""
    exact = of.exact
    sampled = {row.test: row.passed for row in exact.expected_summary()} if exact else {}
    rows = list(_tallies(MODEL, of.report, sampled))
    rows += _tallies(COIN, of.coin, {})
    return Table(
        "passing_by_template",
        "Statements that pass each test, under each template",
        rows,
        [
            Column("answers", "answers of", lambda row: row.answers),
            Column("test", "test", lambda row: row.test, words=in_words(TESTS)),
            Column("template", "template", lambda row: row.template),
            Column("passed", "passed", lambda row: row.passed, Kind.COUNT),
            Column("failed", "failed", lambda row: row.failed, Kind.COUNT),
            Column("insufficient", "too few", lambda row: row.insufficient, Kind.COUNT),
            Column("void", "void", lambda row: row.void, Kind.COUNT),
            Column("sampled_would_pass", "expected of samples", lambda row: row.sampled, Kind.COUNT),
        ],
        key=lambda row: (row.answers, row.test, row.template),
        link=lambda row: _verdicts(of, row),
        notes=["the test `template` is over all templates and has one row"],
    )


def _verdicts(of: Reliability, row: Tally) -> Link | None:
    """Return the statements of a row that do not pass; None for coin flips, which nobody asked."""
    under = row.template if row.template in of.templates else ""
    return Link("verdicts", (under, row.test)) if row.answers == MODEL else None


def _tallies(answers: str, report: Report, sampled: Mapping[str, Sequence[float]]) -> Iterator[Tally]:
    for row in report.summary():
        names = report.counts.templates if row.test != TEMPLATE else ("all templates",)
        for at, name in enumerate(names):
            chance = sampled[row.test][at] if row.test in sampled else None
            yield Tally(
                answers, row.test, name, row.passed[at], row.failed[at], row.insufficient[at], row.void[at], chance
            )
