"""Descriptions of annotators and respondents, as events of which the newest counts.

No annotator's connection can read this table: see `stores.core.permissions`.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace

from stores.core.base import Aggregate, named, now_after
from stores.core.identity import uid_of
from workbench.domain.issue_gold import ADJUDICATION, GOLD
from workbench.domain.names import person_name
from workbench.domain.people import Described, FieldEvent, field_name, field_value, pseudonym
from workbench.errors import UnknownName, UsageError

ANNOTATOR, RESPONDENT = "annotator", "respondent"


class DescribedPeople(Aggregate):
    """The methods on fields of people."""

    def list(self) -> tuple[Described, ...]:
        """Return everybody who annotated or answered, or has a description, by name."""
        fields: dict[str, dict[str, str]] = {}
        for event in self.events():
            known = fields.setdefault(event.person, {})
            known.pop(event.field, None)
            if event.value is not None:
                known[event.field] = event.value
        roles: dict[str, dict[str, None]] = {}
        for role, name in self.connection.execute(_ROLES, {"gold": GOLD, "adjudication": ADJUDICATION}):
            roles.setdefault(str(name), {})[str(role)] = None
        names = sorted({*roles, *(name for name, known in fields.items() if known)})
        uid = uid_of(self.connection)
        return tuple(
            Described(name, tuple(roles.get(name, ())), fields.get(name, {}), pseudonym(name, uid)) for name in names
        )

    def describe(self, person: str, values: Mapping[str, str], *, by: str) -> Described:
        """Set fields of a person; an empty value clears a field. Unchanged values are not stored again.

        Raises UnknownName for a person who neither annotated nor answered here, UsageError for an unknown field.
        """
        name, author = person_name(person, "person"), person_name(by, "person")
        cleaned = {field_name(key): field_value(key, value) for key, value in values.items()}
        if len(cleaned) < len(values):
            raise UsageError("found a field twice; give each once")
        with self.store.write() as connection:
            known = {one.name: one for one in self.list()}
            if name not in known:
                there = ", ".join(known) or "nobody"
                raise UnknownName(f"{name!r} neither annotated nor answered here. Available: {there}")
            last = max((event.at for event in _events(connection)), default=None)
            at = now_after(last)
            fields = dict(known[name].fields)
            _insert(
                connection,
                [
                    FieldEvent(secrets.token_bytes(16), name, key, value, author, at)
                    for key, value in cleaned.items()
                    if fields.get(key) != value
                ],
            )
        left = {key: value for key, value in (fields | cleaned).items() if value is not None}
        return replace(known[name], fields=left)

    def events(self) -> tuple[FieldEvent, ...]:
        """Return all events, the oldest first."""
        return _events(self.connection)

    def merge(self, events: Iterable[FieldEvent]) -> int:
        """Add events of another store, with their own times; return how many were new."""
        with self.store.write() as connection:
            return _insert(connection, events)


def _events(connection: sqlite3.Connection) -> tuple[FieldEvent, ...]:
    rows = named(connection, "select uid, person, field, value, said_by, at from person_field order by at, uid")
    return tuple(FieldEvent(*row) for row in rows)


def _insert(connection: sqlite3.Connection, events: Iterable[FieldEvent]) -> int:
    return connection.executemany(
        "insert into person_field (uid, person, field, value, said_by, at) values (?, ?, ?, ?, ?, ?) "
        "on conflict (uid) do nothing",
        [(one.uid, one.person, one.field, one.value, one.by, one.at) for one in events],
    ).rowcount


_ROLES = f"""
    select '{ANNOTATOR}', r.name from reader r
    where r.name not in (:gold, :adjudication) and r.kind in ('person', 'import') and (
        exists (select 1 from issue_label l where l.reader_id = r.id)
        or exists (select 1 from reading b where b.reader_id = r.id)
    )
    union
    select '{RESPONDENT}', respondent from survey_answer
    union
    select '{RESPONDENT}', respondent from survey
    order by 1, 2
"""
