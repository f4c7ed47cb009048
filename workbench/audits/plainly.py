"""What a report says of an audit that declares nothing for it: its book, and how much of its plan was answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stores.core.store import Store
from workbench.audits.reported import Reported, Wanted
from workbench.evidence.answered import answered
from workbench.evidence.runs import of_models, runs_of, told_apart

if TYPE_CHECKING:
    from workbench.audits.audit import Audit  # for types: it imports this module on use


def reported(audit: Audit, store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield the book of an audit with its usual options, once for all of its runs; none where nobody answered."""
    runs = of_models(store, runs_of(store, audit.name, wanted.instrument or None), wanted.models)
    runs = [run for run in runs if run.responses]
    if not runs:
        return
    book = audit.book(store, audit.usual())
    names = told_apart(
        [run.named for run in runs], [run.instrument for run in runs], [str(run.sampling) for run in runs]
    )
    yield Reported(
        title=book.title,
        instrument=store.runs.instrument(runs[-1]),
        runs=dict(zip(names, runs, strict=True)),
        book=book,
        findings=(),
        command=audit.command,
        answered=[answered(store, run, name) for name, run in zip(names, runs, strict=True)],
        shown=[entry.name for entry in book.contents[:1]],
    )
