"""The agreement of the people who labelled a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.options.option import flag
from workbench.options.shared import QUEUE, SEED

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Printed

PEOPLE = "workbench show STORE consistency --table people_kappas upper_bound"
MODELS_AGREE = "workbench show STORE consistency --table model_kappas"
OPTIONS = (
    QUEUE.but(help="agreement of the annotators of this queue"),
    SEED.of("the bootstrap intervals"),
    flag("items", "per labelled item"),
)


def agreement_of(
    store: Store, queue: str | None, *, seed: int, items: bool, every: bool
) -> Printed:
    """Return the agreement of the people who labelled a queue.

    items : also per labelled item
    every : every table, as programs read them

    Raises UsageError without a queue, UnknownName for an unknown one.
    """
    if queue is None:
        raise UsageError(
            "name the queue of the annotators with --queue; for the people who answered a survey: "
            f"{PEOPLE}; for models beside them: {MODELS_AGREE}"
        )
    from workbench.annotation.agreement_tables import book, printed
    from workbench.audits.audit import Printed
    from workbench.evidence.readings import queue_agreement

    annotators = queue_agreement(store, queue, seed=seed)
    result_book, report = book(annotators), annotators.report
    metadata = {
        **result_book.about,
        "annotators": report.annotators,
        "items": report.items,
        "labelled_once": report.labelled_once,
        "unlabelled": report.unlabelled,
    }
    tables = printed(annotators, with_items=items, every=every)
    return Printed(tables, metadata, result_book.title, result_book.told)
