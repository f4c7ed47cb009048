"""How runs follow the plans that were frozen before they were asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stores.core.store import Store
from workbench import registry
from workbench.audits.audit import Audit, Given, Medium, Printed
from workbench.domain.designs import FrozenPlan
from workbench.domain.names import listed
from workbench.evidence.plans import followed, plan_lines, runs_of_plans
from workbench.evidence.runs import runs_of_models
from workbench.figures.book import WARNS
from workbench.figures.table import AnyTable
from workbench.options.option import chosen


def check(store: Store, plan: FrozenPlan) -> Iterator[AnyTable]:
    """Yield, for every run of a plan, the table of how the plan was followed."""
    for run, hash_ in runs_of_plans(store, plan.audit):
        if hash_ == plan.hash:
            yield followed(store, run)


def with_plans(
    store: Store, audit: Audit, options: Given, printed: Printed, medium: Medium
) -> Printed:
    """Return the printed figures of an audit with how they follow frozen plans.

    The lines are in the header and, for a program, in a table for each run. An audit that asks
    nothing follows the plans of the audit whose answers it judges.
    """
    audit = registry.audit(audit.asked_by)
    if not audit.judges_by:
        return printed
    option_values = chosen(audit.judges_by, options)
    model, instrument = (getattr(options, name, None) for name in ("model", "instrument"))
    planned = [
        run for run, _ in runs_of_plans(store, audit.name) if instrument in (None, run.instrument)
    ]
    runs = runs_of_models(store, planned, listed(model))
    compared_runs = getattr(options, "compare", None) or ()
    tables = [followed(store, run, option_values, compared_runs) for run in runs]
    lines = [line for table in tables for line in plan_lines(table)]
    if not tables:
        return printed
    sentences = " ".join(line.removeprefix(WARNS) for line in lines)
    context = dict(printed.about)
    if isinstance(context.get("methods"), str):
        context["methods"] = f"{context['methods']} {sentences}"
    return replace(
        printed,
        header=(*lines, *printed.header),
        told=(*lines, *printed.told),
        tables=(*printed.tables, *(tables if medium.data else ())),
        about=context,
        methods=f"{printed.methods} {sentences}" if printed.methods else printed.methods,
    )
