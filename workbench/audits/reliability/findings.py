"""The findings on reliability: kept stances, the published test, and the weakest test."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.audits.claims import OfModel
from workbench.audits.codes import FAIL, INSUFFICIENT, VOID
from workbench.audits.reliability import pooled, reader_error
from workbench.audits.reliability.counting import ALL
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import ReliabilityJudged, VerdictFigures
from workbench.domain.names import in_words, plural
from workbench.domain.verdicts import Bounds
from workbench.figures.shown import between, number
from workbench.figures.table import Kind


def list_findings(
    name: str, judged: ReliabilityJudged, figures: VerdictFigures
) -> Iterator[OfModel]:
    """Yield the findings on the reliability of a run."""
    report = judged.report
    value, caveat = pooled.format_share(figures.pooled)
    yield OfModel(f"{pooled.KEEP}{pooled.tests_words(report)}", name, value, doubt=caveat)
    label, value, range_text = passing_said(report)
    error = judged.verdicts.error
    corrected = "" if error is None else reader_error.corrected_share_text(error)
    yield OfModel(label, name, value, doubt="; ".join(filter(None, (range_text, corrected))))
    yield from _weakest(name, report)
    codes = report.over_templates(ALL)
    n_void = int((codes == VOID).sum())
    if n_void:
        yield OfModel(
            "Statements that are not counted, because no test applies to them", name, f"{n_void:,}"
        )
    if judged.exact is not None:
        yield OfModel(
            "Verdicts from the model's own probabilities of the two labels, without sampling",
            name,
            f"{plural(len(codes) - n_void, 'statement')}",
        )


def passing_said(report: ReliabilityReport) -> tuple[str, str, str]:
    """Return the label, the value and the possible range of the published pass rate.

    The range is that of the share if the statements with too few answers were decided.
    """
    codes = report.over_templates(ALL)
    n_failed, n_insufficient, n_void = (
        int((codes == code).sum()) for code in (FAIL, INSUFFICIENT, VOID)
    )
    n_tested = len(codes) - n_void
    n_passed = n_tested - n_failed - n_insufficient
    share = f" ({number(n_passed / n_tested, Kind.SHARE)})" if n_tested else ""
    bounds_text = (
        between(Bounds(n_passed / n_tested, (n_passed + n_insufficient) / n_tested), Kind.SHARE)
        if n_insufficient
        else ""
    )
    range_text = (
        f"{bounds_text} if the {n_insufficient:,} with too few readable answers were decided"
        if n_insufficient
        else ""
    )
    label = f"Statements that {pooled.published_words(report)}{pooled.tests_words(report)}"
    return label, f"{n_passed:,} of {n_tested:,}{share}", range_text


MOST_FAILED = "Test that the most statements fail, under any template"


def _weakest(name: str, report: ReliabilityReport) -> Iterator[OfModel]:
    """Yield a finding on the test that most statements fail, under any template."""
    n_failed_by_test = {
        test: int((report.over_templates(test) == FAIL).sum()) for test in report.options.tests
    }
    test = max(n_failed_by_test, key=lambda candidate: n_failed_by_test[candidate], default="")
    if test and n_failed_by_test[test]:
        n_tested = int((report.over_templates(test) != VOID).sum())
        basis = f"at {pooled.answers_words(report)} answers a prompt"
        if isinstance(report, ExactReport):
            basis = "from exact probabilities"
        n_failed = f"{n_failed_by_test[test]:,} of {n_tested:,}"
        yield OfModel(MOST_FAILED, name, f"{in_words(test)}, {n_failed} {basis}")
    elif n_failed_by_test:
        yield OfModel(MOST_FAILED, name, "none")
