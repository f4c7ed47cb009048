"""Frozen stores, one of each schema from the baseline on, with rows in every table.

A migration takes two steps: add rows for the tables and columns that it makes below, and run

    python -m tests.stores.schemas.rows

which migrates the newest frozen store, adds the rows and writes the result as `vN.sql`. A frozen
store is never written anew: it is what programs of its time wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stores.core.base import Database, Migrations
from stores.core.connection import SCHEMA_VERSION
from stores.core.migrations import BASELINE, migrations, run

FOLDER = Path(__file__).parent
ROWS: Mapping[int, str] = {
    34: """
        insert into model (key, name, revision, backend, dtype, chat_format, first_seen, occasion)
        values (x'00112233445566778899aabbccddeeff', 'm', 'r', 'transformers', 'float32', 'none',
            '2026-11-27',
            '2026-11-27')
    """,
    35: """
        insert into respondent (instrument_id, name, at, weight)
        select id, 'heavy', '2026-11-27', 2.5 from instrument limit 1;
        insert into respondent_group select id, 'age', '18-29' from respondent where name = 'heavy';
        insert into published_share
        select id, 'country', 'Veldania', '{"yes": 0.25, "no": 0.75}', 900 from question limit 1;
    """,
    36: """
        insert into reading (unit_id, reader_id, revision, label, reason, at, codebook_id, uid,
            dated)
        select unit_id, reader_id, revision + 100, label, reason, '2026-11-29T00:00:00.000Z',
            codebook_id, x'36', 0
        from reading where uid is not null limit 1;
        insert into remark (uid, unit_id, reader_id, flagged, note, at, dated)
        select x'36', unit_id, reader_id, flagged, note, '2026-11-29T00:00:00.000Z', 0 from remark
            limit 1;
    """,
}
"schema -> statements with rows for what its migration made"


def frozen(version: int) -> Path:
    return FOLDER / f"v{version:03d}.sql"


def thawed(version: int) -> Database:
    """Return the frozen store of a schema, in memory."""
    db = Database(memory=True)
    db.conn.executescript(frozen(version).read_text(encoding="utf-8"))
    return db


def grown(db: Database, rows: Mapping[int, str], migrations: Migrations = migrations) -> Database:
    """Migrate a store by one schema and add the rows for it; return the store."""
    version = int(db.execute("pragma user_version").fetchone()[0]) + 1
    migrations.apply(db, stop_before=[one.name for one in migrations.pending(db)][1:])
    run(db, rows.get(version, ""))
    db.conn.commit()
    db.execute(f"pragma user_version = {version}")
    return db


def dump(db: Database) -> str:
    """Return a store as SQL, with what marks it as one."""
    marks = (
        f"pragma {name} = {db.execute(f'pragma {name}').fetchone()[0]};"
        for name in ("application_id", "user_version")
    )
    return "\n".join([*marks, *db.conn.iterdump(), ""])


if __name__ == "__main__":
    for number in range(BASELINE + 1, SCHEMA_VERSION + 1):
        if not frozen(number).exists():
            frozen(number).write_text(dump(grown(thawed(number - 1), ROWS)), encoding="utf-8")
            print(f"wrote {frozen(number)}")
