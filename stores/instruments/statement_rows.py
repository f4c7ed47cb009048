"""Rows of statements and their wordings ↔ values, for the import of whole instruments and for single edits."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping

from stores.core.base import named, now
from stores.core.texts import restored, text_ids
from workbench.domain.statements import (
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    variant_order,
)

Place = tuple[str, int, str]
"(kind, ordinal, language) of a wording"

ABOUT = ("country", "topic", "dimension", "leaning", "source", "tags", "derived_from")
"columns of a statement's row besides its wordings"


def about(statement: Statement) -> dict[str, str | None]:
    """Return the columns of a statement's row besides its wordings."""
    return {
        "country": statement.country,
        "topic": statement.topic,
        "dimension": statement.dimension,
        "leaning": statement.leaning,
        "source": statement.source,
        "tags": json.dumps(statement.tags, ensure_ascii=False),
        "derived_from": statement.derived_from,
    }


def read_statements(
    connection: sqlite3.Connection,
    condition: str,
    values: Mapping[str, object],
    labels: Mapping[str, Mapping[str, int]],
) -> dict[int, Statement]:
    """Return statements by rowid, in the order of their instrument; `condition` is SQL of ours about `s`."""
    rows = named(connection, _ROWS.format(condition=condition), values).fetchall()
    wordings: dict[int, list[Wording]] = defaultdict(list)
    for row in rows:
        if row["kind"] is not None:
            wordings[row["id"]].append(_wording(row))
    found: dict[int, Statement] = {}
    for row in rows:
        if row["id"] not in found:
            texts, dimension, leaning = wordings[row["id"]], row["dimension"], row["leaning"]
            found[row["id"]] = Statement(
                ref=row["ref"],
                wordings=tuple(sorted(texts, key=lambda w: (w.language, variant_order(w.variant)))),
                country=row["country"],
                topic=row["topic"],
                issues=labels.get(row["ref"], {}),
                languages=tuple(sorted({w.language for w in texts})),
                dimension=Dimension(dimension) if dimension else None,
                leaning=Side(leaning) if leaning else None,
                source=row["source"],
                tags=tuple(json.loads(row["tags"])),
                derived_from=row["derived_from"],
                version=row["version"],
            )
    return found


def _wording(row: sqlite3.Row) -> Wording:
    variant = VariantId(VariantKind(row["kind"]), row["ordinal"])
    stated = Relation(row["relation"])
    text = restored(row["body"])
    return Wording(variant, row["language"], text, row["author"], None if stated is variant.relation else stated)


def place(wording: Wording) -> Place:
    return (wording.variant.kind.value, wording.variant.ordinal, wording.language)


def held_texts(connection: sqlite3.Connection, statement_id: int) -> dict[Place, int]:
    """Return the text of each wording that a statement has."""
    rows = connection.execute(
        "select kind, ordinal, language, text_id from wording where statement_id = ?", (statement_id,)
    )
    return {(kind, ordinal, language): text for kind, ordinal, language, text in rows}


def insert_statement(
    connection: sqlite3.Connection, instrument_id: int, statement: Statement, version: int, ordinal: int
) -> int:
    """Insert a current statement with its wordings and return its rowid."""
    said = about(statement)
    rowid: int = connection.execute(
        f"insert into statement (instrument_id, ref, version, current, ordinal, created_at, {', '.join(said)}) "
        f"values (?, ?, ?, 1, ?, ?, {', '.join('?' * len(said))}) returning id",
        (instrument_id, statement.ref, version, ordinal, now(), *said.values()),
    ).fetchone()[0]
    write_wordings(connection, rowid, statement)
    return rowid


def update_about(connection: sqlite3.Connection, statement_id: int, statement: Statement) -> None:
    """Write the columns of a statement's row besides its wordings."""
    said = about(statement)
    connection.execute(
        f"update statement set {', '.join(f'{column} = ?' for column in said)} where id = ?",
        (*said.values(), statement_id),
    )


def write_wordings(connection: sqlite3.Connection, statement_id: int, statement: Statement) -> None:
    """Set a statement's wordings: rows with unchanged text keep their rowid, missing ones are deleted."""
    texts = text_ids(connection, (w.text for w in statement.wordings))
    gone = set(held_texts(connection, statement_id)) - {place(w) for w in statement.wordings}
    connection.executemany(
        "delete from wording where statement_id = ? and kind = ? and ordinal = ? and language = ?",
        [(statement_id, *at) for at in sorted(gone)],
    )
    connection.executemany(
        "insert into wording (statement_id, kind, ordinal, language, text_id, author, relation) "
        "values (?, ?, ?, ?, ?, ?, ?) on conflict (statement_id, language, kind, ordinal) do update set "
        "text_id = excluded.text_id, author = excluded.author, relation = excluded.relation",
        [(statement_id, *place(w), texts[w.text], w.author, w.relation.value) for w in statement.wordings],
    )


_ROWS = f"""
    select s.id, s.ref, s.version, {", ".join(f"s.{column}" for column in ABOUT)},
        w.kind, w.ordinal, w.language, w.author, w.relation, x.body
    from statement s left join wording w on w.statement_id = s.id left join text x on x.id = w.text_id
    where {{condition}}
    order by s.ordinal, s.version, w.id
"""
