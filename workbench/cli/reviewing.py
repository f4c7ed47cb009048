"""What waits for an auditor under a run, why, and how far auditors are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.cli.audit_options import AUDIT
from workbench.cli.figures import FIGURES, put_out
from workbench.cli.verbs import Namespace, verb
from workbench.options.option import Option
from workbench.options.shared import OF_RUN, READER, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.figures.table import AnyTable
    from workbench.pipeline.review import Review


@verb(
    STORE,
    AUDIT.but(choices=tuple(one.name for one in registry.asking())),
    OF_RUN,
    READER.but(help="whose readings are reviewed", none="as in the figures"),
    Option("as_", "your name: what you have looked at waits no more", metavar="NAME"),
    FIGURES,
    about="Print the statements that an auditor should look at first, and why: each reason has a weight, and the "
    "weights add up. Rule with `workbench rule`.",
)
def review(options: Namespace) -> int:
    """Print the queue."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        found = _review(store, options)
        return _show(options, found)


def _review(store: Store, options: Namespace) -> Review:
    from workbench.domain.readings import Readings
    from workbench.evidence.run_choice import templates_of
    from workbench.evidence.runs import find_run
    from workbench.pipeline.review import review as of_run

    run = find_run(
        store,
        options.audit,
        options.model,
        options.instrument,
        options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
    )
    return of_run(store, run, Readings(options.reader))


def _show(options: Namespace, of: Review) -> int:
    from workbench.domain.names import person_name
    from workbench.evidence.run_choice import about
    from workbench.pipeline import review_tables as tables

    auditor = person_name(options.as_, "auditor") if options.as_ else None
    made: list[AnyTable] = [tables.queue(of, auditor), tables.reasons(), tables.auditors(of)]
    plain: dict[str, Any] = {"run": about(of.run), "auditor": auditor, "reader": of.card}
    put_out(options, made, plain, title=f"{of.run.label}: review", told=tables.told(of, auditor))
    return 0
