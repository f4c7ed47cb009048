"""Instrument → files: what a format holds of it, and what of the store is no part of an instrument."""

from __future__ import annotations

from dataclasses import replace

from stores.core.store import Store
from workbench.annotation.people_tables import people_files
from workbench.formats.write import Export, export

PEOPLE = {
    "counts": "number of annotators and respondents with each value",
    "pseudonyms": "counts, and each person under a pseudonym",
    "none": "nothing",
}
"what an export says of who the people are; names never"


def prepared(store: Store, instrument: str, format: str, people: str = "counts") -> Export:  # noqa: A002  the field's word
    """Return an instrument ready to be written; its notes name what stays in the store alone.

    people : one of `PEOPLE`: what the fields of who annotates and answers come to; layouts that others read have none
    """
    whole = replace(
        store.instruments.get(instrument),
        questionnaire=store.questionnaires.get(instrument),
        answer_sets=store.choices.answer_sets(instrument),
    )
    found = export(format, whole)
    files = {} if people == "none" else people_files(store.people.list(), pseudonyms=people == "pseudonyms")
    notes = (*found.notes, *store.instruments.stays_behind(instrument))
    if files and format not in OURS:
        return replace(found, notes=(*notes, "Descriptions of annotators and respondents are left out."))
    return replace(found, files={**found.files, **files}, notes=notes)


OURS = ("csv", "choices")
"formats that are folders of our own files"
