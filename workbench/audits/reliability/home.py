"""What Home says of the runs of the reliability audit that were answered last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import HomeLine
from workbench.audits.codes import verdict
from workbench.audits.reliability.judge import ALL, Report
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.verdicts import Verdict
from workbench.errors import WorkbenchError
from workbench.evidence.answered import Answered, answered
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.registry import DEFAULT_AUDIT

RUNS_SHOWN = 3


def lines(store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
    """Return how many statements of each of the newest runs pass every test under every template."""
    every = store.runs.list(DEFAULT_AUDIT)
    same = Counter(run.label for run in every)
    return [
        _line(
            n,
            run,
            f"{run.label} · {run.dtype}" if same[run.label] > 1 else run.label,
            report_of(store, run, shared),
            answered(store, run),
        )
        for n, run in enumerate(reversed(every[-RUNS_SHOWN:]))
    ]


def report_of(store: Store, run: Run, shared: dict[object, Any]) -> Report | str:
    """Return the verdicts on a run; why there are none where it cannot be judged."""
    key = (DEFAULT_AUDIT, run)
    if key not in shared:
        try:
            shared[key] = run_verdicts(store, run).report
        except WorkbenchError as error:
            shared[key] = str(error)
    found: Report | str = shared[key]
    return found


def report_known(run: Run, shared: Mapping[object, Any]) -> Report | None:
    """Return the verdicts on a run where they are known."""
    found = shared.get((DEFAULT_AUDIT, run))
    return found if isinstance(found, Report) else None


def _line(place: int, run: Run, label: str, report: Report | str, came: Answered) -> HomeLine:
    part = [(f"! {number(came.share, Kind.SHARE)} of the plan was answered", True)] if came.partial else []
    key, below = f"verdicts:{place}", [*part, (label, False)]
    if isinstance(report, str):
        return HomeLine(key, "Verdicts", "none yet", report, below, dim=True, run=run)
    found = Counter(verdict(code) for code in report.over_templates(ALL))
    statements = found[Verdict.PASS] + found[Verdict.FAIL] + found[Verdict.INSUFFICIENT]  # those that can fail a test
    detail = f"✗ {found[Verdict.FAIL]} to review"
    if found[Verdict.INSUFFICIENT]:
        detail += f"  · {found[Verdict.INSUFFICIENT]} few"
    if found[Verdict.VOID]:
        detail += f"  ∅ {found[Verdict.VOID]} void"
    return HomeLine(
        key,
        "Verdicts",
        f"✓ {found[Verdict.PASS]} of {statements} reliable",
        detail,
        below,
        todo="see which statements are unreliable, and why",
        todo_below="Enter on a row shows the answers behind a verdict",
        run=run,
    )
