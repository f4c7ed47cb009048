"""Annotation items: texts in their context, which are read and labelled. One row per text, however often a model gave
it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from stores.core.texts import restored
from workbench.domain.statements import Relation, Side, VariantId, VariantKind


@dataclass(frozen=True, slots=True)
class Context:
    """The statement that a text answers, as shown to a person."""

    unit: int
    text: str
    statement: str
    "the wording that the model was asked"
    instrument: str
    ref: str
    variant: str
    dimension: str | None
    leaning: str | None
    "the side that agreeing with this wording reflects"


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
        text=restored(body),
        statement=restored(statement),
        instrument=str(instrument),
        ref=str(ref),
        variant=str(wording),
        dimension=None if dimension is None else str(dimension),
        leaning=_leaning(side, Relation(str(relation))),
    )


def _leaning(side: Side | None, relation: Relation) -> str | None:
    """Return the side that agreeing with a wording reflects; None if its relation does not determine one."""
    if side is None or relation is Relation.FREE:
        return None
    return (side.other if relation is Relation.FLIPPED else side).value


def first_wording(wording: str, statement: str) -> str:
    """Return SQL for the first wording with the same text as a wording, given the aliases of the wording and its
    statement.

    Versions of a statement share wordings that an edit did not change. An answer to one is an answer to the other, so
    both have one unit: nobody labels it twice, and labels remain valid when another version is asked.
    """
    return f"""(
        select min(f.id) from statement v join wording f on f.statement_id = v.id
        where v.instrument_id = {statement}.instrument_id and v.ref = {statement}.ref
            and f.language = {wording}.language and f.kind = {wording}.kind and f.ordinal = {wording}.ordinal
            and f.text_id = {wording}.text_id
    )"""


def unit_of(connection: sqlite3.Connection, text_id: int, wording_id: int) -> int:
    """Return the rowid of the unit of a text that answers a wording, inserting a new one. Call inside a transaction."""
    row = connection.execute(
        f"select {first_wording('w', 's')} from wording w join statement s on s.id = w.statement_id where w.id = ?",
        (wording_id,),
    ).fetchone()
    wording_id = row[0]
    connection.execute(
        "insert into unit (text_id, wording_id) values (?, ?) on conflict do nothing", (text_id, wording_id)
    )
    row = connection.execute(
        "select id from unit where text_id = ? and wording_id = ? and template_id is null", (text_id, wording_id)
    ).fetchone()
    return int(row[0])
