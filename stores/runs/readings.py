"""Readings of responses by rules, classifiers and people, in one table; the newest revision of each reader counts."""

from __future__ import annotations

from collections.abc import Iterable

from stores.annotation.people import reader_id
from stores.core.base import Aggregate
from stores.core.texts import restored
from stores.instruments.template_versions import PROBES
from stores.runs.rule_readings import RuleReading, insert_readings
from stores.runs.run_rows import Run, run_values
from workbench.domain.prompts import Template
from workbench.domain.readings import ReaderCard


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

    def unread(self, run: Run, template: Template, reader: int, *, limit: int = 5000) -> tuple[str, ...]:
        """Return up to `limit` distinct answers to a template in a run that a reader has not read."""
        asked = ("unread", run, template.key, reader, limit)
        return self.store.remembered(asked, lambda: self._unread(run, template, reader, limit))

    def _unread(self, run: Run, template: Template, reader: int, limit: int) -> tuple[str, ...]:
        values = run_values(self.connection, run) | {"template": template.key, "reader": reader, "limit": limit}
        return tuple(restored(body) for (body,) in self.connection.execute(_UNREAD, values))

    def add(self, readings: Iterable[RuleReading]) -> None:
        """Write readings in one transaction; existing readings of a reader are kept."""
        with self.store.write() as connection:
            insert_readings(connection, readings)


_UNREAD = f"""
    select distinct x.body
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id and t.key = :template
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where i.name = :instrument and not exists (
        select 1 from unit u join reading g on g.unit_id = u.id and g.reader_id = :reader
        where u.text_id = r.text_id and u.template_id = p.template_id and u.wording_id is null
    )
    limit :limit
"""
