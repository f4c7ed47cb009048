"""Writes readings of rules and classifiers, for answers that arrive and for answers read later."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from stores.core.base import now
from workbench.domain.keys import text_key
from workbench.domain.readings import Reading


@dataclass(frozen=True, slots=True)
class RuleReading:
    """A rule's or classifier's reading of a text as an answer to a template."""

    text: str
    template: bytes
    "the template's key"
    reader: int
    "rowid of the rule"
    reading: Reading


def insert_readings(connection: sqlite3.Connection, readings: Iterable[RuleReading]) -> None:
    """Insert readings of stored texts and templates. Call inside a transaction."""
    at = now()
    templates: dict[bytes, int] = {}
    for item in readings:
        if item.template not in templates:
            row = connection.execute("select id from template where key = ?", (item.template,)).fetchone()
            templates[item.template] = row[0]
        text = connection.execute("select id from text where key = ?", (text_key(item.text),)).fetchone()[0]
        unit = (text, templates[item.template])
        connection.execute("insert into unit (text_id, template_id) values (?, ?) on conflict do nothing", unit)
        reading = item.reading
        connection.execute(
            "insert into reading (unit_id, reader_id, revision, label, reason, start, stop, confidence, at) "
            "values ((select id from unit where text_id = ? and template_id = ? and wording_id is null), "
            "?, 1, ?, ?, ?, ?, ?, ?) on conflict do nothing",
            (*unit, item.reader, reading.label, reading.reason, reading.start, reading.stop, reading.confidence, at),
        )
