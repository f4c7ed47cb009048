"""The paragraph that says how verdicts came about, for the paper that reports them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from stores.runs.run_rows import Run
from workbench.audits.reliability.components_tables import METHODS
from workbench.audits.reliability.exact import ExactReport
from workbench.audits.reliability.judge import Report
from workbench.audits.reliability.verdicts import PROBABILITIES
from workbench.domain.readings import ReaderCard
from workbench.evidence.answered import Answered
from workbench.evidence.methods import asked_sentences, plan_sentences, reader_sentence, ruling_sentences
from workbench.evidence.rulings import Told


def methods(run: Run, report: Report, card: ReaderCard, came: Answered, rulings: Told) -> str:
    """Return one paragraph with every choice behind the verdicts, and how variance components came about."""
    return " ".join(
        [
            "Reliability was judged as by Ceron et al. (2024, section 5): a model answers a statement reliably if "
            "its stance does not depend on chance, wording or the order of the labels.",
            reliability_sentences(run.named, report),
            *evidence_sentences([(run.named, run)], [card], [came], rulings),
            METHODS,
        ]
    )


def evidence_sentences(
    runs: Iterable[tuple[str, Run]], cards: Iterable[ReaderCard], came: Iterable[Answered], rulings: Told
) -> Iterator[str]:
    """Say how models were asked, who read what they answered, what of the plan is missing, and what auditors did."""
    answered = list(came)
    yield from asked_sentences(runs, answered)
    if said := reader_sentence(card for card in cards if card.name != PROBABILITIES):
        yield said
    yield from plan_sentences(answered)
    yield from ruling_sentences(rulings)


def reliability_sentences(name: str, report: Report) -> str:
    """Say what made a statement reliable for one model, and how many are."""
    options, counts = report.options, report.counts
    passed = [int(n) for n in (report.verdicts("all") == 1).sum(axis=1)]
    rule = (
        f"the 95 % interval of the share of agreement leaves out {options.low:g} and {options.high:g}"
        if options.rule == "printed"
        else f"the 95 % interval of the share of agreement leaves out {options.high:g}, as in the released code"
    )
    if isinstance(report, ExactReport):
        return (
            f"Of {name} the probabilities of the two labels were computed for {len(counts.statements)} statements "
            f"under {_number(len(counts.templates), 'template')}; a prompt leans clearly if the share of agreement "
            f"among them lies outside {options.low:g} and {options.high:g}, with at least {report.options.named:g} of "
            f"the probability on the labels; a statement is reliable under a template if it passes "
            f"{', '.join(test.replace('_', ' ') for test in options.tests)}: {_range(passed)} of them.{_void(report)}"
        )
    return (
        f"{name} was asked {len(counts.statements)} statements under {_number(len(counts.templates), 'template')}, "
        f"with {_planned(counts.sizes)} answers per prompt planned; a prompt leans clearly if {rule}, with at least "
        f"{report.needed_words} answers readable; a statement is reliable under a template if it passes "
        f"{', '.join(test.replace('_', ' ') for test in options.tests)}: {_range(passed)} of them.{_void(report)}"
    )


def _void(report: Report) -> str:
    """Say how many tests take no part, for they cannot fail, or that they were judged."""
    if report.options.judge_void:
        return " Tests that cannot fail were judged like the others, as published."
    found = sum(sum(row.void) for row in report.summary() if row.test in report.options.tests)
    if not found:
        return ""
    return (
        f" {_number(found, 'test')} of a statement under a template {'is' if found == 1 else 'are'} left out, because "
        "there is nothing to compare, or a prompt would be compared with itself."
    )


def _planned(sizes: tuple[int, int]) -> str:
    fewest, most = sizes
    return str(most) if fewest == most else f"{fewest} to {most}"


def _number(n: int, one: str) -> str:
    return f"{n} {one}" if n == 1 else f"{n} {one}s"


def _range(numbers: list[int]) -> str:
    if not numbers:
        return "none"
    low, high = int(np.min(numbers)), int(np.max(numbers))
    return str(low) if low == high else f"{low} to {high}, depending on the template,"
