"""A store of every schema version opens and is brought up to date with all that it holds, after a copy was made.

A new migration needs a frozen store: see `tests/stores/schemas/rows.py`, which says how (two steps).
"""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path
from unittest.mock import Mock

import pytest

from stores.core import backup
from stores.core.connection import SCHEMA_VERSION
from stores.core.migrations import v19_on
from stores.core.migrations.packed import as_packed
from stores.core.sqlite import Database
from stores.core.store import Store
from stores.core.texts import restored, text_ids
from tests.stores.schemas.rows import build, dump, frozen
from workbench.domain.keys import text_key
from workbench.errors import StoreError

VERSIONS = range(1, SCHEMA_VERSION + 1)
GROWS = {"text", "thought", "planned", "identity", "template_version", "_sqlite_migrations"}
"tables to which a migration adds rows of its own"
GONE = {("text", "packed")}
"columns that a migration drops"

Rows = dict[str, list[dict[str, object]]]


def thawed(version: int, folder: Path) -> Path:
    """Return a file with the frozen store of a version."""
    path = folder / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(frozen(version).read_text(encoding="utf-8"))
    connection.close()
    return path


def rows_of(connection: sqlite3.Connection) -> Rows:
    """Return the rows of every table as {column: value}."""
    found: Rows = {}
    for (name,) in connection.execute(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    ):
        cursor = connection.execute(f"select * from {name}")
        columns = [column[0] for column in cursor.description]
        found[name] = [dict(zip(columns, row, strict=True)) for row in cursor]
    return found


def schema_of(connection: sqlite3.Connection) -> set[tuple[str, str, tuple[tuple[object, ...], ...]]]:
    """Return tables and views with their columns, and indexes with theirs, however they were written."""
    found = set()
    for kind, name in connection.execute(
        "select type, name from sqlite_master where name not like 'sqlite_%'"
    ).fetchall():
        columns = connection.execute(f"pragma {'index_xinfo' if kind == 'index' else 'table_xinfo'}({name})").fetchall()
        found.add((kind, name, tuple(columns)))
    return found


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sentences: list[str] = []
    monkeypatch.setattr(backup, "tell", sentences.append)
    return sentences


def test_the_newest_schema_has_a_frozen_store() -> None:
    assert frozen(SCHEMA_VERSION).exists(), "add rows for it, then: python -m tests.stores.schemas.rows"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_frozen_is_what_the_migrations_made_and_has_rows_in_every_table(version: int) -> None:
    """A migration that is changed after it was released would part old stores from new ones: this finds it."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(frozen(version).read_text(encoding="utf-8"))
    built = build(version)
    assert schema_of(connection) == schema_of(built.conn)
    held = rows_of(connection)
    assert {n: rows for n, rows in held.items() if n not in GROWS} == {
        n: rows for n, rows in rows_of(built.conn).items() if n not in GROWS
    }
    assert [name for name, rows in held.items() if not rows] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_every_version_opens_with_all_that_it_holds(version: int, tmp_path: Path, told: list[str]) -> None:
    path = thawed(version, tmp_path)
    with sqlite3.connect(path) as old:
        before = rows_of(old)
    old.close()
    with Store.open(path) as store:
        connection = store.connection
        assert connection.execute("pragma user_version").fetchone()[0] == SCHEMA_VERSION
        assert connection.execute("pragma integrity_check").fetchone()[0] == "ok"
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        after = rows_of(connection)
        assert schema_of(connection) == schema_of(build(SCHEMA_VERSION).conn)
        for name, rows in before.items():
            rows = [{c: value for c, value in row.items() if (name, c) not in GONE} for row in rows]
            now = [{column: row[column] for column in rows[0]} for row in after[name]] if rows else []
            assert [row for row in rows if row not in now] == [], name
            assert name in GROWS or len(now) == len(rows), name
        if version >= 3:
            assert [(job.state, job.done) for job in store.jobs.list()] == [("done", 3)]
            (run,) = store.runs.list("reliability")
            assert (run.model, run.responses, run.failed) == ("m", 2, 1)
            assert store.runs.planned(run) == {1: 3}
        assert store.instruments.get("small").statements[0].ref == "a-1"
        store.jobs.create("sample", {}, 1)
    copies = [file.name for file in tmp_path.iterdir() if ".before-" in file.name]
    if version == SCHEMA_VERSION:
        assert (copies, told) == ([], [])
        return
    assert copies == [f"old.db.before-v{SCHEMA_VERSION}"]
    assert told == [
        f"{path}: brought from schema {version} to {SCHEMA_VERSION}. The store as it was is kept in {path}.before-v"
        f"{SCHEMA_VERSION}."
    ]
    copy = Database(tmp_path / copies[0])
    assert dump(copy) == frozen(version).read_text(encoding="utf-8")
    copy.close()


def test_a_copy_overwrites_nothing(tmp_path: Path, told: list[str]) -> None:
    path = thawed(3, tmp_path)
    other = tmp_path / f"old.db.before-v{SCHEMA_VERSION}"
    other.write_text("mine")
    Store.open(path).close()
    assert other.read_text() == "mine"
    assert told[0].endswith(f"old.db.before-v{SCHEMA_VERSION}-2.")


def test_a_store_that_cannot_be_copied_is_left_as_it_is(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for a full disk: SQLite hears `disk full` or `I/O error` of both."""
    path = thawed(9, tmp_path)
    before = path.read_bytes()
    connect = sqlite3.connect

    def small(target: object, **options: object) -> sqlite3.Connection:
        connection = connect(target, **options)  # type: ignore[call-overload]
        if str(target).endswith(".part"):
            connection.execute("pragma max_page_count = 2")
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(backup.sqlite3, "connect", small)
    with pytest.raises(
        StoreError, match=r"could not be copied beforehand \(.*full.*\)\. Nothing was changed\. Make room"
    ):
        Store.open(path)
    monkeypatch.undo()
    with connect(path) as again:
        assert again.execute("pragma user_version").fetchone()[0] == 9
    again.close()
    assert path.read_bytes()[100:] == before[100:]
    assert [file.name for file in tmp_path.iterdir() if ".before-" in file.name] == []
    assert told == []


def test_texts_that_were_compressed_are_plain_with_their_ids_and_foreign_keys(tmp_path: Path, told: list[str]) -> None:
    texts = {7: "x" * 1024, 8: "é\x00" * 9000, 9: "half \ud800", 10: "", 11: "\ud800" * 2000}
    path = thawed(18, tmp_path)
    with sqlite3.connect(path) as old:
        rows = [(rowid, text_key(text), *as_packed(text)) for rowid, text in texts.items()]
        rows = [(rowid, key, None, packed or zlib.compress(str(body).encode())) for rowid, key, body, packed in rows]
        old.executemany("insert into text (id, key, body, packed) values (?, ?, ?, ?)", rows)
        old.execute("update prompt set context_id = 7")
    old.close()
    with Store.open(path) as store:
        held = dict(store.connection.execute("select id, body from text where id > 6").fetchall())
        assert {rowid: restored(body) for rowid, body in held.items()} == texts
        assert {rowid for rowid, body in held.items() if isinstance(body, bytes)} == {9, 11}
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), store.write() as connection:
            connection.execute("delete from text where id = 7")
        with store.write() as connection:
            assert text_ids(connection, texts.values()) == {text: rowid for rowid, text in texts.items()}


def test_a_migration_that_is_interrupted_leaves_the_store_as_it_was(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = thawed(18, tmp_path)
    with sqlite3.connect(path) as old:
        before = rows_of(old)
    old.close()
    with monkeypatch.context() as patch:
        patch.setattr(v19_on, "unpacked", Mock(side_effect=["plain", KeyboardInterrupt]))
        with pytest.raises(StoreError, match="user-defined function raised exception"):
            Store.open(path)
    with sqlite3.connect(path) as old:
        assert (rows_of(old), old.execute("pragma user_version").fetchone()) == (before, (18,))
    old.close()
    Store.open(path).close()
