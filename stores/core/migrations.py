"""The schema: a baseline, and the migrations after it.

A new store gets the baseline, which is SQL by area in the folder `schema`, and then every
migration. The baseline is as final as a migration that stores went through: change the schema with
one more migration, at the end of this file.

Identity: content that is the same everywhere has a 16-byte content key (`workbench.domain.keys`),
so two stores merge by `insert or ignore`. Rowids are private to one file. Samples of one prompt are
exchangeable, so a draw keeps the multiset of its answers: thirty equal answers are one row. A rule
reads a text once per template, not once per sample. At ten million responses `response` costs about
15 bytes a row, `draw` about 60 bytes a prompt.

A migration runs without foreign keys, which are turned on when the schema is up to date: a table
may be replaced under its old name. The `transform` of sqlite-utils does that, too, but drops
WITHOUT ROWID and triggers.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from stores.core.base import Database, Migrations

APPLICATION_ID = 0x574B4231
"marks a file as a workbench store ('WKB1')"
BASELINE = 33
"the schema version of the baseline. The first migration after it is m034."
BEFORE_BASELINE = "workbench 0.2.0 as of 25 November 2026"
"the last version that brings stores of schemas 1 to 32 to the baseline"
FOLDER = Path(__file__).parent / "schema"
AREAS = (
    "core",
    "instruments",
    "workshop",
    "questionnaires",
    "jobs",
    "runs",
    "annotation",
    "rulings",
    "views",
)

migrations = Migrations("workbench")


@migrations()
def m034_occasion(db: Database) -> None:
    """Add the date from which stored prompts were asked anew.

    Such prompts make a run of their own.
    """
    run(db, "alter table model add column occasion text not null default ''")
    for name, sql in db.execute(
        "select name, sql from sqlite_schema where type = 'view'"
    ).fetchall():
        if "m.snapshot," in sql:
            db.execute(f"drop view {name}")
            db.execute(sql.replace("m.snapshot,", "m.snapshot, m.occasion,"))


@migrations()
def m035_populations(db: Database) -> None:
    """Add survey questions, weights and groups of respondents, and published shares."""
    run(
        db,
        """
        create table question_revision_new (
            question_id integer not null references question,
            revision integer not null,
            role text check (role in ('context', 'target', 'survey')),
            form text not null check (form in ('question', 'statement')),
            scale text not null,
            leaning text check (leaning in ('liberal', 'conservative')),
            person text not null,
            at text not null,
            primary key (question_id, revision)
        ) strict, without rowid;
        insert into question_revision_new select * from question_revision;
        drop table question_revision;
        alter table question_revision_new rename to question_revision;
        alter table respondent add column weight real not null default 1 check (weight >= 0);
        create table respondent_group (
            respondent_id integer not null references respondent,
            field text not null,
            value text not null,
            primary key (respondent_id, field)
        ) strict, without rowid;
        create table published_share (
            question_id integer not null references question,
            field text not null,
            value text not null,
            shares text not null,
            people integer check (people > 0),
            primary key (question_id, field, value)
        ) strict, without rowid;
        """,
    )


@migrations()
def m036_undated_labels(db: Database) -> None:
    """Add a mark for labels of unknown date.

    Their time is then that of the import and serves only to order them.
    """
    for name in ("reading", "remark"):
        run(
            db,
            f"alter table {name} add column dated integer not null default 1 check (dated in (0, "
            "1))",
        )
    (sql,) = db.execute("select sql from sqlite_schema where name = 'v_readings'").fetchone()
    db.execute("drop view v_readings")
    db.execute(sql.replace("b.at as time,", "cast(iif(b.dated, b.at, null) as text) as time,"))


def make_baseline(db: Database) -> None:
    """Make the tables, indexes and views of the baseline in an empty database.

    Call inside a transaction.
    """
    for area in AREAS:
        run(db, (FOLDER / f"{area}.sql").read_text(encoding="utf-8"))
    db.execute("insert into identity (uid) values (randomblob(16))")


def run(db: Database, script: str) -> None:
    """Execute statements one by one, as `executescript` would commit the migration's transaction.

    A statement ends at the end of a line. The last one needs no semicolon.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
    if statement.strip():
        db.execute(statement)
