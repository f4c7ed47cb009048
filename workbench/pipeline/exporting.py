"""Instrument → files: what a format holds of it, and what of the store is no part of an instrument."""

from __future__ import annotations

from dataclasses import replace

from stores.core.store import Store
from workbench.formats.write import Export, export


def prepared(store: Store, instrument: str, format: str) -> Export:  # noqa: A002  the field's word
    """Return an instrument ready to be written; its notes name what stays in the store alone."""
    whole = replace(
        store.instruments.get(instrument),
        questionnaire=store.questionnaires.get(instrument),
        answer_sets=store.choices.answer_sets(instrument),
    )
    found = export(format, whole)
    return replace(found, notes=(*found.notes, *store.instruments.stays_behind(instrument)))
