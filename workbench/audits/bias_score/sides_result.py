"""The result of letting a model label statements: its labels, and how they agree with those of others."""

from __future__ import annotations

from collections.abc import Iterator

from stores.core.store import Store
from workbench.audits.bias_score.options import SidesOptions
from workbench.audits.bias_score.sides import report_on, run_meant
from workbench.audits.bias_score.statement_labels import LEANING, SidesReport
from workbench.audits.bias_score.statement_labels_tables import book
from workbench.audits.references import FAULBORN
from workbench.audits.result import Headline, Result
from workbench.domain.names import plural
from workbench.evidence.answered import answered
from workbench.evidence.runs import Which
from workbench.figures.shown import estimate
from workbench.figures.table import Kind

FIRST, UNFOLDED = ("kappas", "sides"), ("kappas",)


def judge(store: Store, which: Which, options: SidesOptions) -> Result:
    """Return what a model said of the statements' sides."""

    def made() -> Result:
        run = run_meant(store, which)
        report = report_on(store, run, queue=options.queue, seed=options.seed, rulings=which.readings.rulings)
        found = list(_findings(report))
        return Result(
            which=which,
            options=options,
            instrument=store.runs.instrument(run),
            runs={run.named: run},
            names=(run.named,),
            book=book(report),
            first=FIRST,
            unfolded=UNFOLDED,
            findings=found,
            headline=Headline(run.named, found[0]),
            rulings=report.rulings,
            answered=[answered(store, run)],
            references=[FAULBORN],
            judged=report,
        )

    return store.at_once(made)


def _findings(report: SidesReport) -> Iterator[str]:
    labelled = len(report.rows) - report.unread
    yield f"{report.model} gave {labelled:,} of {plural(len(report.rows), 'statement')} a readable side."
    for who, of in report.kappas.items():
        if of[LEANING].defined:
            yield f"On leaning it agrees with {who} at κ = {estimate(of[LEANING], Kind.COEFFICIENT)}."


__all__ = ["judge"]
