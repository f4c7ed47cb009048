"""Readings of responses by rules, classifiers and people, in one table; the newest revision of each reader counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stores.annotation.people import reader_id
from stores.core.base import Aggregate, now
from stores.core.texts import restored
from stores.instruments.templates import PROBES
from stores.runs.run_rows import Run, run_values
from workbench.domain.keys import text_key
from workbench.domain.readings import ReaderCard, Reading


class Readings(Aggregate):
    """The methods on readings."""

    def reader(self, card: ReaderCard) -> int:
        """Return the rowid of a reader, inserting a new one."""
        named = (card.kind.value, card.name, card.version)
        sql = "select id from reader where kind = ? and name = ? and version = ?"
        if (row := self.connection.execute(sql, named).fetchone()) is not None:
            return int(row[0])
        with self.store.write() as connection:
            return reader_id(connection, card.kind, card.name, card.version)

    def count(self, reader: int) -> int:
        """Return a reader's number of readings."""
        return int(self.connection.execute("select count(*) from reading where reader_id = ?", (reader,)).fetchone()[0])

    def unread(self, run: Run, readers: Mapping[bytes, int], *, limit: int = 5000) -> tuple[tuple[bytes, str], ...]:
        """Return up to `limit` (key of the template, distinct answer to it) of a run that nobody has read yet.

        `readers`: key of a template -> rowid of who is to read the answers to it; those to other templates are left out
        """
        values = run_values(self.connection, run) | {
            "readers": json.dumps({key.hex().upper(): reader for key, reader in readers.items()}),
            "limit": limit,
        }
        return tuple((key, restored(body)) for key, body in self.connection.execute(_UNREAD, values))

    def add(self, readings: Iterable[RuleReading]) -> None:
        """Write readings in one transaction; existing readings of a reader are kept."""
        with self.store.write() as connection:
            insert_readings(connection, readings)


_UNREAD = f"""
    with given as materialized (
        select distinct p.template_id, r.text_id
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        join given_answer r on r.draw_id = d.id
        where i.name = :instrument
    )
    select t.key, x.body
    from given a
    join template t on t.id = a.template_id
    join json_each(:readers) e on e.key = hex(t.key)
    join text x on x.id = a.text_id
    where not exists (
        select 1 from unit u join reading g on g.unit_id = u.id and g.reader_id = e.value
        where u.text_id = a.text_id and u.template_id = a.template_id and u.wording_id is null
    )
    limit :limit
"""


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
