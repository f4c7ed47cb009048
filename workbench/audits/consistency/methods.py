"""The paragraph that says how consistency figures came about, for the paper that reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.audits.consistency.issues import FEWEST
from workbench.audits.consistency.stances import FAMILIES, Kind
from workbench.audits.reliability.exact import ExactReport

if TYPE_CHECKING:
    from workbench.audits.consistency.judge import Consistency  # for types: it imports this module on use
    from workbench.audits.reliability.judge import Report  # for types: a report imports this module on use


def methods(result: Consistency) -> str:
    """Return one paragraph with every choice behind the figures."""
    sentences = [
        "Political consistency was computed as by Ceron et al. (2024, section 7), from statements on which a model is "
        "reliable; its stance is that on the original wording with the labels in printed order.",
        _leaning(result),
        _issues(result),
        _intervals(result),
    ]
    return " ".join(filter(None, sentences))


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
            f"under {_number(len(counts.templates), 'template')}; a prompt leans clearly where the share of agreement "
            f"among them lies outside {options.low:g} and {options.high:g}, with at least {report.exact.named:g} of "
            f"the probability on the labels; a statement is reliable under a template where it passes "
            f"{', '.join(options.tests)}: {_range(passed)} of them.{_void(report)}"
        )
    return (
        f"{name} was asked {len(counts.statements)} statements under {_number(len(counts.templates), 'template')}, "
        f"with {_planned(counts.sizes)} answers a prompt planned; a prompt leans clearly where {rule}, with at least "
        f"{report.needed_words} answers readable; a statement is reliable under a template where it passes "
        f"{', '.join(options.tests)}: {_range(passed)} of them.{_void(report)}"
    )


def _void(report: Report) -> str:
    """Say how many tests take no part, for they cannot fail, or that they were judged."""
    if report.options.judge_void:
        return " Tests that compare a prompt with itself were judged like the others, as published."
    found = sum(sum(row.void) for row in report.summary() if row.test in report.options.tests)
    if not found:
        return ""
    return (
        f" {_number(found, 'test')} of a statement under a template {'is' if found == 1 else 'are'} left out, for "
        "a prompt would be compared with itself."
    )


def _planned(sizes: tuple[int, int]) -> str:
    fewest, most = sizes
    return str(most) if fewest == most else f"{fewest} to {most}"


def _leaning(result: Consistency) -> str:
    land = result.land
    if not land.parties:
        return "The instrument has no parties, so that no political leaning was computed."
    placed = ", ".join(f"{land.families.count(of)} {of.value}" for of in FAMILIES)
    return (
        f"Leaning is the share of a country's statements that were asked on which a reliable stance is the party's "
        f"answer, averaged over the parties of a family (left-right position below 4 left, above 6 right, else center: "
        f"{placed}; {land.families.count(None)} without a position left out), then over templates, with the population "
        f"standard deviation. Parties are told apart by country and name; a party's neutral or missing answer matches "
        f"nothing. Respondents that always agree and always disagree stand beside."
    )


def _issues(result: Consistency) -> str:
    labels = result.land.labels
    if not (labels != 0).any():
        return "No statement has a policy-issue label, so that no stance on issues was computed."
    return (
        f"Stance on a policy issue is signed support, statements answered in favour of the issue minus those answered "
        f"against it as a share of the reliable ones, unless another formula is named (tacl: a/A - d/N, 0 where a + d "
        f"= 0; v1: (a - d)/n; both measure agreeing, not supporting), per template, then mean and population standard "
        f"deviation over templates; {int((labels != 0).any(axis=0).sum())} of {len(result.land.statements)} statements "
        f"have a label of {_number(len(result.land.issues), 'issue')}. Issues with fewer than {FEWEST} reliable "
        f"statements on average over templates are marked."
    )


def _intervals(result: Consistency) -> str:
    options = result.options
    if not options.resamples:
        return "No intervals were computed."
    models = sum(one.kind is Kind.MODEL for one in result.respondents)
    pairs = " Differences between models rest on statements that both were asked and resample both at once."
    return (
        f"Intervals are 95 % percentile intervals of {options.resamples:,} bootstrap resamples of statements (for "
        f"leaning within countries, for issues among the labelled ones), seed {options.seed}; templates and parties "
        f"are not resampled.{pairs if models > 1 else ''}"
    )


def _number(n: int, one: str) -> str:
    return f"{n} {one}" if n == 1 else f"{n} {one}s"


def _range(numbers: list[int]) -> str:
    if not numbers:
        return "none"
    low, high = int(np.min(numbers)), int(np.max(numbers))
    return str(low) if low == high else f"{low} to {high}, depending on the template,"
