"""Which multiple-choice questions a design asks about, read from a store."""

from __future__ import annotations

from stores.core.store import Store
from workbench.domain.choices import ChoiceItems
from workbench.domain.designs import Design
from workbench.domain.questionnaire_tallies import named_few
from workbench.errors import UsageError


def questions(store: Store, design: Design) -> ChoiceItems:
    """Return which statements are multiple-choice questions. Raises UsageError where none is, or one is not."""
    items = store.choices.items(design.instrument)
    if not items:
        raise UsageError(
            f"{design.instrument} has no multiple-choice questions. Import some: workbench import STORE --format "
            "choices PATH (data/README.md), or choose another --instrument"
        )
    others = [ref for ref in design.statements if ref not in items]
    if others:
        raise UsageError(f"{named_few(others)} of {design.instrument}: no multiple-choice question")
    return items
