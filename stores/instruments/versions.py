"""Rows of statements and their wordings ↔ values, for imports of instruments and single edits.

Statements are also written as JSON, for the record of edits before and after a change.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stores.annotation.annotation_items import first_wording
from stores.core.base import decode_text, execute_named, now, text_ids
from workbench.domain.responses import EXACT
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


def snapshot(statement: Statement) -> str:
    """Return a statement as JSON, with everything that an edit can change.

    People's labels are not included.
    """
    wordings = sorted(
        statement.wordings, key=lambda wording: (wording.language, variant_order(wording.variant))
    )
    return json.dumps(
        {
            "ref": statement.ref,
            "version": statement.version,
            "country": statement.country,
            "topic": statement.topic,
            "dimension": statement.dimension,
            "leaning": statement.leaning,
            "source": statement.source,
            "tags": statement.tags,
            "derived_from": statement.derived_from,
            "wordings": [
                [
                    str(wording.variant),
                    wording.language,
                    wording.text,
                    wording.author,
                    wording.stated,
                ]
                for wording in wordings
            ],
        },
        # and ASCII: otherwise the database could not store half characters from older imports
        sort_keys=True,
    )


def restored_statement(body: str) -> Statement:
    """Return the statement of a snapshot."""
    values = json.loads(body)
    wordings = tuple(
        Wording(
            VariantId.parse(variant),
            language,
            text,
            author,
            Relation(relation) if relation else None,
        )
        for variant, language, text, author, relation in values["wordings"]
    )
    return Statement(
        ref=values["ref"],
        wordings=wordings,
        country=values["country"],
        topic=values["topic"],
        languages=tuple(sorted({wording.language for wording in wordings})),
        dimension=Dimension(values["dimension"]) if values["dimension"] else None,
        leaning=Side(values["leaning"]) if values["leaning"] else None,
        source=values["source"],
        tags=tuple(values["tags"]),
        derived_from=values["derived_from"],
        version=values["version"],
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
    """Return statements by rowid, in the order of their instrument.

    `condition` is our own SQL about `s`.
    """
    rows = execute_named(connection, _ROWS.format(condition=condition), values).fetchall()
    wordings: dict[int, list[Wording]] = defaultdict(list)
    for row in rows:
        if row["kind"] is not None:
            wordings[row["id"]].append(_wording(row))
    statements: dict[int, Statement] = {}
    for row in rows:
        if row["id"] not in statements:
            texts, dimension, leaning = wordings[row["id"]], row["dimension"], row["leaning"]
            statements[row["id"]] = Statement(
                ref=row["ref"],
                wordings=tuple(
                    sorted(
                        texts,
                        key=lambda wording: (wording.language, variant_order(wording.variant)),
                    )
                ),
                country=row["country"],
                topic=row["topic"],
                issues=labels.get(row["ref"], {}),
                languages=tuple(sorted({wording.language for wording in texts})),
                dimension=Dimension(dimension) if dimension else None,
                leaning=Side(leaning) if leaning else None,
                source=row["source"],
                tags=tuple(json.loads(row["tags"])),
                derived_from=row["derived_from"],
                version=row["version"],
            )
    return statements


def _wording(row: sqlite3.Row) -> Wording:
    variant = VariantId(VariantKind(row["kind"]), row["ordinal"])
    relation = Relation(row["relation"])
    text = decode_text(row["body"])
    return Wording(
        variant,
        row["language"],
        text,
        row["author"],
        None if relation is variant.relation else relation,
    )


def place(wording: Wording) -> Place:
    return (wording.variant.kind.value, wording.variant.ordinal, wording.language)


def held_texts(connection: sqlite3.Connection, statement_id: int) -> dict[Place, int]:
    """Return the text (rowid) of each wording that a statement has."""
    rows = connection.execute(
        "select kind, ordinal, language, text_id from wording where statement_id = ?",
        (statement_id,),
    )
    return {(kind, ordinal, language): text_id for kind, ordinal, language, text_id in rows}


def insert_statement(
    connection: sqlite3.Connection,
    instrument_id: int,
    statement: Statement,
    version: int,
    ordinal: int,
) -> int:
    """Insert a current statement with its wordings and return its rowid."""
    columns = about(statement)
    rowid: int = connection.execute(
        "insert into statement (instrument_id, ref, version, current, ordinal, created_at, "
        f"{', '.join(columns)}) "
        f"values (?, ?, ?, 1, ?, ?, {', '.join('?' * len(columns))}) returning id",
        (instrument_id, statement.ref, version, ordinal, now(), *columns.values()),
    ).fetchone()[0]
    write_wordings(connection, rowid, statement)
    return rowid


def update_about(connection: sqlite3.Connection, statement_id: int, statement: Statement) -> None:
    """Write the columns of a statement's row besides its wordings."""
    columns = about(statement)
    connection.execute(
        f"update statement set {', '.join(f'{column} = ?' for column in columns)} where id = ?",
        (*columns.values(), statement_id),
    )


def write_wordings(connection: sqlite3.Connection, statement_id: int, statement: Statement) -> None:
    """Set a statement's wordings.

    Rows with unchanged text keep their rowid, and missing ones are deleted.
    """
    texts = text_ids(connection, (wording.text for wording in statement.wordings))
    removed = set(held_texts(connection, statement_id)) - {
        place(wording) for wording in statement.wordings
    }
    connection.executemany(
        "delete from wording where statement_id = ? and kind = ? and ordinal = ? and language = ?",
        [(statement_id, *key) for key in sorted(removed)],
    )
    connection.executemany(
        "insert into wording (statement_id, kind, ordinal, language, text_id, author, relation) "
        "values (?, ?, ?, ?, ?, ?, ?) on conflict (statement_id, language, kind, ordinal) do "
        "update set "
        "text_id = excluded.text_id, author = excluded.author, relation = excluded.relation",
        [
            (
                statement_id,
                *place(wording),
                texts[wording.text],
                wording.author,
                wording.relation.value,
            )
            for wording in statement.wordings
        ],
    )


_ROWS = f"""
    select s.id, s.ref, s.version, {", ".join(f"s.{column}" for column in ABOUT)},
        w.kind, w.ordinal, w.language, w.author, w.relation, x.body
    from statement s left join wording w on w.statement_id = s.id left join text x
        on x.id = w.text_id
    where {{condition}}
    order by s.ordinal, s.version, w.id
"""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a statement, with counts of its data."""

    statement: Statement
    current: bool
    archived: bool
    created_at: str
    answers: int
    "number of answers of models to its prompts"
    labels: int
    "number of people's labels of answers to it, or of its wordings"
    survey: int
    "number of answers of people to its wordings"
    issue_labels: int = 0
    "number of policy-issue labels, which are copied to a new version"


def history(connection: sqlite3.Connection, instrument_id: int, ref: str) -> tuple[Version, ...]:
    """Return the versions of a statement, the oldest first."""
    values = {"instrument": instrument_id, "ref": ref}
    statements = read_statements(
        connection, "s.instrument_id = :instrument and s.ref = :ref", values, {}
    )
    return tuple(
        Version(statements[rowid], bool(current), archived_at is not None, created_at, *counts)
        for rowid, current, archived_at, created_at, *counts in connection.execute(_HISTORY, values)
    )


def write_texts(
    connection: sqlite3.Connection,
    instrument_id: int,
    rowid: int,
    statement: Statement,
    ordinal: int,
    *,
    keep: bool = False,
) -> tuple[int, bool]:
    """Set the wordings of a current statement.

    Returns the rowid of the current version, and whether it is another one. An earlier version with
    exactly these texts becomes current again. Otherwise texts that were never asked, answered or
    labelled are changed in place, and for other texts a new version is created. The previous
    version keeps its answers and labels. With `keep`, unused texts are also kept in a version.
    """
    texts = text_ids(connection, (wording.text for wording in statement.wordings))
    target = {place(wording): texts[wording.text] for wording in statement.wordings}
    existing = held_texts(connection, rowid)
    changed_keys = {key for key, text_id in existing.items() if target.get(key) != text_id}
    earlier_id = (
        _same_texts(connection, instrument_id, statement.ref, target) if changed_keys else None
    )
    if earlier_id is None and not (
        changed_keys if keep else changed_keys & _used(connection, rowid)
    ):
        write_wordings(connection, rowid, statement)
        return rowid, False
    connection.execute("update statement set current = 0 where id = ?", (rowid,))
    if earlier_id is not None:
        connection.execute(
            "update statement set current = 1, archived_at = null where id = ?", (earlier_id,)
        )
        write_wordings(connection, earlier_id, statement)  # authors and relations may have changed
        copy_labels(
            connection, rowid, earlier_id, [key for key in existing if key not in changed_keys]
        )
        return earlier_id, True
    version = max(latest_version(connection, instrument_id, statement.ref) + 1, statement.version)
    new_id = insert_statement(connection, instrument_id, statement, version, ordinal)
    copy_labels(connection, rowid, new_id, [key for key in existing if key not in changed_keys])
    return new_id, True


def latest_version(connection: sqlite3.Connection, instrument_id: int, ref: str) -> int:
    """Return the highest version of a statement, or 0 if there is none."""
    row = connection.execute(
        "select coalesce(max(version), 0) from statement where instrument_id = ? and ref = ?",
        (instrument_id, ref),
    ).fetchone()
    return int(row[0])


def _used(connection: sqlite3.Connection, statement_id: int) -> set[Place]:
    """Return the wordings that were asked, answered or labelled, or are planned to be."""
    return {
        (kind, ordinal, language)
        for kind, ordinal, language in connection.execute(_USED, (statement_id,))
    }


def _same_texts(
    connection: sqlite3.Connection, instrument_id: int, ref: str, wanted: dict[Place, int]
) -> int | None:
    """Return the newest version with exactly these texts, or None if there is none."""
    rows = connection.execute(
        "select id from statement where instrument_id = ? and ref = ? order by version desc",
        (instrument_id, ref),
    ).fetchall()
    return next((int(rowid) for (rowid,) in rows if held_texts(connection, rowid) == wanted), None)


def copy_labels(connection: sqlite3.Connection, old: int, new: int, same: Iterable[Place]) -> None:
    """Copy labels and answers of parties to another version.

    People's own stances are copied only for unchanged texts. Labels from an earlier copy are kept.
    Answers from an earlier copy are updated.
    """
    values = {"old": old, "new": new}
    connection.execute(
        "insert into issue_label (statement_id, issue, reader_id, revision, label, at) select "
        ":new, issue, reader_id, revision, label, at from issue_label where statement_id = :old "
        "on conflict do nothing",
        values,
    )
    connection.execute(
        "insert into party_answer (party_id, statement_id, answer, stance) select party_id, :new, "
        "answer, stance from party_answer where statement_id = :old on conflict (party_id, "
        "statement_id) do update set answer = excluded.answer, stance = excluded.stance",
        values,
    )
    connection.executemany(
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) select ?, "
        "respondent, kind, ordinal, agrees from survey_answer where statement_id = ? and kind = ? "
        "and ordinal = ? on conflict do update set agrees = excluded.agrees",
        [(new, old, kind, ordinal) for kind, ordinal, _ in same],
    )


_USED = """
    select w.kind, w.ordinal, w.language from wording w where w.statement_id = ? and (
        exists (select 1 from probe p where p.wording_id = w.id)
        or exists (select 1 from unit u where u.wording_id = w.id)
        or exists (select 1 from survey_item i where i.wording_id = w.id)
        or exists (
            select 1 from survey_answer a
            where a.statement_id = w.statement_id and a.kind = w.kind and a.ordinal = w.ordinal
        )
    )
"""

_HISTORY = f"""
    select s.id, s.current, s.archived_at, s.created_at,
        (select coalesce(sum(d.n - d.failed), 0) from draw d join sampling g on g.id = d.sampling_id
            where g.mode <> '{EXACT}' and d.prompt_id in (
            select p.prompt_id from probe p join wording w on w.id = p.wording_id
                where w.statement_id = s.id)),
        (select count(*) from reading r where r.uid is not null and r.label is not null
            and r.unit_id in (
            select u.id from wording w join unit u on u.wording_id = {first_wording("w", "s")}
            where w.statement_id = s.id)),
        (select count(*) from survey_answer a where a.statement_id = s.id),
        (select count(distinct l.issue || char(10) || l.reader_id) from issue_label l
            where l.statement_id = s.id and l.label is not null)
    from statement s where s.instrument_id = :instrument and s.ref = :ref order by s.version
"""
