"""Schema 19 and later: plain texts, views for people."""

from __future__ import annotations

from stores.core.migrations.packed import unpacked
from stores.core.migrations.steps import migrations, run
from stores.core.sqlite import Database


@migrations()
def m019_plain_texts(db: Database) -> None:
    """Texts are not compressed any more: see `stores.core.texts`.

    SQLite passes the rows on one by one, so no store is too large. Like every migration it is one transaction: where it
    is interrupted the store stays as it was, and the next program that opens it begins anew.
    """
    db.conn.create_function("unpacked", 2, unpacked, deterministic=True)
    run(
        db,
        """
        create table text_19 (
            id integer primary key,
            key blob not null,
            body any not null check (typeof(body) in ('text', 'blob'))
        ) strict;
        insert into text_19 select id, key, unpacked(body, packed) from text order by id;
        drop table text;
        alter table text_19 rename to text;
        create unique index text_key on text (key)
        """,
    )
    db.conn.create_function("unpacked", 2, None)
