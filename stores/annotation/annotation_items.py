"""The items of annotation: texts in their context, and codebooks.

There is one row per text, however often a model gave it. A label keeps the version of the codebook
that it was given under. A version is never rewritten. It is a row of `codebook`, by its content. An
event decides which version counts: the newest of `codebook_edit`. Until somebody changes a codebook
there is none, and a queue has the version that it was drawn under.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass

from stores.core.base import Aggregate, decode_text, execute_named, now, now_after, table
from workbench.domain.annotations import Codebook, LabelOption, LabelSubject, change_fault
from workbench.domain.names import person_name
from workbench.domain.statements import Relation, Side, VariantId, VariantKind
from workbench.errors import ConflictError, UsageError


@dataclass(frozen=True, slots=True)
class Context:
    """The statement that a text answers, as a person sees it."""

    unit: int
    text: str
    statement: str
    "the wording that the model was asked"
    instrument: str
    ref: str
    variant: str
    dimension: str | None
    leaning: str | None
    "the side that agreement with this wording indicates"


CONTEXT = """
    select u.id, x.body, y.body, i.name, s.ref, w.kind, w.ordinal, s.dimension, s.leaning,
        w.relation
    from unit u
    join text x on x.id = u.text_id
    join wording w on w.id = u.wording_id
    join text y on y.id = w.text_id
    join statement s on s.id = w.statement_id
    join instrument i on i.id = s.instrument_id
"""


def as_context(row: tuple[object, ...]) -> Context:
    """Return the context of a row that begins with the columns of `CONTEXT`."""
    unit, body, statement, instrument, ref, kind, ordinal, dimension, leaning, relation = row[:10]
    wording = VariantId(VariantKind(str(kind)), int(str(ordinal)))
    side = None if leaning is None else Side(str(leaning))
    return Context(
        unit=int(str(unit)),
        text=decode_text(body),
        statement=decode_text(statement),
        instrument=str(instrument),
        ref=str(ref),
        variant=str(wording),
        dimension=None if dimension is None else str(dimension),
        leaning=_leaning(side, Relation(str(relation))),
    )


def _leaning(side: Side | None, relation: Relation) -> str | None:
    """Return the side that agreement with a wording indicates.

    It is None if the relation of the wording does not determine a side.
    """
    if side is None or relation is Relation.FREE:
        return None
    return (side.other if relation is Relation.FLIPPED else side).value


def first_wording(wording: str, statement: str) -> str:
    """Return SQL for the first wording with the same text as a wording.

    The parameters are the aliases of the wording and its statement. Versions of a statement share
    wordings that an edit did not change. An answer to one is an answer to the other, so both have
    one unit: nobody labels it twice, and labels remain valid when another version is asked.
    """
    return f"""(
        select min(f.id) from statement v join wording f on f.statement_id = v.id
        where v.instrument_id = {statement}.instrument_id and v.ref = {statement}.ref
            and f.language = {wording}.language and f.kind = {wording}.kind
                and f.ordinal = {wording}.ordinal
            and f.text_id = {wording}.text_id
    )"""


def unit_of(connection: sqlite3.Connection, text_id: int, wording_id: int) -> int:
    """Return the rowid of the unit of a text that answers a wording, inserting a new one.

    Call inside a transaction.
    """
    row = connection.execute(
        f"select {first_wording('w', 's')} from wording w join statement s on s.id = "
        "w.statement_id where w.id = ?",
        (wording_id,),
    ).fetchone()
    wording_id = row[0]
    connection.execute(
        "insert into unit (text_id, wording_id) values (?, ?) on conflict do nothing",
        (text_id, wording_id),
    )
    row = connection.execute(
        "select id from unit where text_id = ? and wording_id = ? and template_id is null",
        (text_id, wording_id),
    ).fetchone()
    return int(row[0])


@dataclass(frozen=True, slots=True)
class CodebookVersion:
    """A version of a codebook in this store."""

    number: int
    "from 1, in the order in which the versions came into this store"
    codebook: Codebook
    at: str
    person: str
    "the person who chose it last, or an empty string if it came with a queue or with labels"
    note: str
    labels: int
    "number of people's current labels that were given under it"
    current: bool


class Codebooks(Aggregate):
    """The methods on codebooks."""

    def chosen(self, name: str) -> Codebook | None:
        """Return the version that somebody chose last, or None if nobody changed the codebook."""
        return _chosen(self.connection, name)

    def versions(self, counts: Codebook) -> tuple[CodebookVersion, ...]:
        """Return the versions of a codebook in this store, the oldest first.

        `counts` is the version that counts now.
        """
        rows = execute_named(self.connection, _VERSIONS, {"name": counts.name})
        return tuple(
            CodebookVersion(
                number,
                codebook_from_json(row["body"]),
                row["changed_at"] or row["created_at"],
                row["person"] or "",
                row["note"] or "",
                row["labels"],
                row["key"] == counts.key,
            )
            for number, row in enumerate(rows, start=1)
        )

    def change(
        self, before: Codebook, after: Codebook, person: str, note: str = ""
    ) -> CodebookVersion:
        """Let another version count from now on, in one transaction, and return it.

        An earlier version may count again. `before` is the version that the person read. Raises
        ConflictError if another one counts by now. Raises UsageError if nothing changes, or if
        labels that were given would lose their meaning.
        """
        name = person_name(person)
        if fault := change_fault(before, after):
            raise UsageError(fault)
        with self.store.write() as connection:
            chosen = _chosen(connection, before.name)
            if chosen is not None and chosen.key != before.key:
                raise ConflictError(
                    f"somebody changed the codebook {before.name} meanwhile; nothing was saved"
                )
            save_codebook(connection, before)
            rowid = save_codebook(connection, after)
            last_time = connection.execute("select max(at) from codebook_edit").fetchone()[0]
            edit = {
                "codebook_id": rowid,
                "person": name,
                "note": " ".join(note.split()),
                "at": now_after(last_time),
            }
            table(connection, "codebook_edit").insert({"uid": secrets.token_bytes(16), **edit})
        return next(version for version in self.versions(after) if version.current)


def save_codebook(connection: sqlite3.Connection, codebook: Codebook) -> int:
    """Return the rowid of a codebook, inserting a new one. Call inside a transaction."""
    values = {"name": codebook.name, "body": codebook_as_json(codebook), "created_at": now()}
    return int(table(connection, "codebook").lookup({"key": codebook.key}, values))


def codebook_as_json(codebook: Codebook) -> str:
    """Return a codebook as JSON, for stores and label files."""
    return json.dumps(
        {
            "name": codebook.name,
            "title": codebook.title,
            "question": codebook.question,
            "subject": codebook.subject.value,
            "options": [[option.label, option.key, option.meaning] for option in codebook.options],
            "guideline": codebook.guideline,
            "ordinal": list(codebook.ordinal),
        },
        ensure_ascii=False,
    )


def codebook_from_json(body: str) -> Codebook:
    """Return the codebook that `codebook_as_json` wrote."""
    value = json.loads(body)
    return Codebook(
        name=value["name"],
        title=value["title"],
        question=value["question"],
        subject=LabelSubject(value["subject"]),
        options=tuple(LabelOption(*option) for option in value["options"]),
        guideline=value["guideline"],
        ordinal=tuple(value["ordinal"]),
    )


def chosen_version(name: str) -> str:
    """Return SQL for the rowid of the version that somebody chose last, or null without one.

    `name` is SQL, too.
    """
    return (
        "(select v.codebook_id from codebook_edit v join codebook k on k.id = v.codebook_id "
        f"where k.name = {name} order by v.at desc, v.uid desc limit 1)"
    )


def version_of(connection: sqlite3.Connection, name: str) -> int:
    """Return the rowid of the version that counts.

    It is the one chosen last, or else the newest of this store.
    """
    cursor = connection.execute(
        f"select coalesce({chosen_version(':name')}, (select max(id) from codebook where name = "
        ":name))",
        {"name": name},
    )
    return int(cursor.fetchone()[0])


def _chosen(connection: sqlite3.Connection, name: str) -> Codebook | None:
    cursor = connection.execute(
        f"select body from codebook where id = {chosen_version(':name')}", {"name": name}
    )
    row = cursor.fetchone()
    return None if row is None else codebook_from_json(row[0])


CURRENT_LABELS = """
    select g.unit_id, g.codebook, g.codebook_id, g.reader_id, g.annotator, g.label, g.uid, g.at,
        g.dated, g.elapsed_ms
    from (
        select r.unit_id, c.name as codebook, r.codebook_id, r.reader_id, h.name
            as annotator, r.label, r.uid, r.at,
            r.dated, r.elapsed_ms,
            row_number() over (
                partition by r.unit_id, c.name, r.reader_id order by r.at desc, r.uid desc
            ) as place
        from reading r
        join reader h on h.id = r.reader_id and h.kind = 'person'
        join codebook c on c.id = r.codebook_id
        where r.uid is not null {where}
    ) g
    where g.place = 1 and g.label is not null
"""
"""each person's current label of each unit under any version of a codebook. `{where}` adds
conditions."""

_VERSIONS = f"""
    select c.key, c.body, c.created_at, e.person, e.note, e.at as changed_at,
        (select count(*) from ({CURRENT_LABELS.format(where="and c.name = :name")}) l
            where l.codebook_id = c.id)
            as labels
    from codebook c
    left join codebook_edit e on e.uid = (
        select n.uid from codebook_edit n where n.codebook_id = c.id order by n.at desc, n.uid desc
            limit 1
    )
    where c.name = :name order by c.id
"""
