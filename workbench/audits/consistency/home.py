"""What Home says of whom the newest model answers like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stores.core.store import Store
from workbench.audits.audit import RUNS_AT_HOME, HomeLine
from workbench.audits.consistency import judge as of_stances
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.evidence.answered import answered
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.registry import DEFAULT_AUDIT


def lines(store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
    """Return one line, of the newest model; none where there is neither a party nor a policy-issue label."""
    for run in reversed(store.runs.list(DEFAULT_AUDIT)[-RUNS_AT_HOME:]):
        try:
            known = shared.get((DEFAULT_AUDIT, run))
            report = run_verdicts(store, run).report if known is None else known.judged.report
        except UsageError:
            continue
        instrument = store.instruments.get(run.instrument)
        positions = of_stances.party_positions(instrument, store.issues.gold(run.instrument))
        issues = int((positions.labels != 0).any(axis=1).sum())
        if not positions.parties and not issues:
            return ()
        stances = [of_stances.reliable_stances(run.model, report)]
        result = of_stances.judge(positions, stances, options=of_stances.Options(resamples=0))
        families = result.leaning(run.model).families if positions.parties else ()
        shares = ", ".join(
            f"{of.family.value} {number(of.share.value, Kind.SHARE)}" for of in families if of.share.defined
        )
        enough = sum(not stance.few for stance in result.issues(run.model))
        like = f"answers like {shares} of the time" if shares else "no parties to compare with"
        detail = f"{enough} of {plural(issues, 'policy issue')} with six reliable statements"
        came = answered(store, run)
        part = [(f"! {number(came.share, Kind.SHARE)} of the plan was answered", True)] if came.partial else []
        return [HomeLine("consistency:", "Consistency", run.model, detail, [*part, (like, False)], run=run)]
    return ()
