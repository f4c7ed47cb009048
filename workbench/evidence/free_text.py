"""Answers in free text, which people label and classifiers read."""

from __future__ import annotations

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry


def runs(store: Store) -> tuple[Run, ...]:
    """Return the runs of all audits with free-text answers, the newest of each audit last."""
    return tuple(run for audit in registry.free_text() for run in store.runs.list(audit, personas=True))


def models(store: Store) -> tuple[str, ...]:
    """Return the names of the models that answered in free text."""
    return tuple(sorted({run.model for run in runs(store)}))


def how_to_ask() -> str:
    """Return how to ask a model for such answers."""
    return f"Ask a model first: workbench run STORE --audit {registry.free_text()[0]} --model NAME"
