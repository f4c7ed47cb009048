"""A store of every schema from the baseline on opens with all that it holds; one that is migrated
is copied first.

A migration needs a frozen store: see `tests/stores/schemas/rows.py`. The tests of the mechanism use
one of their own, `m999_weather`.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from stores.core import connection
from stores.core import connection as backup
from stores.core.base import Database, Migrations
from stores.core.connection import SCHEMA_VERSION
from stores.core.migrations import BASELINE, make_baseline, run
from stores.core.store import Store
from tests.stores.schemas.rows import dump, frozen, grown, thawed
from workbench.errors import NewerStore, StoreError

VERSIONS = range(BASELINE, SCHEMA_VERSION + 1)
NEXT = SCHEMA_VERSION + 1
GROWS = {"_sqlite_migrations"}
"tables to which a migration adds rows of its own"
TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\s\w]")
"of SQL: a string, a quoted name, a word, or a sign"
WEATHER = """
    create table weather (
        id integer primary key, -- a comment; with a semicolon
        day text not null,
        sky text not null default 'a; b'
    ) strict;
    create index weather_of on weather (day);
    create trigger weather_said after insert on weather begin
        update instrument set notes = '["it rains"]';
        update instrument set title = 'Wet';
    end;
    alter table job add column umbrella integer not null default 1
"""

Rows = dict[str, list[dict[str, object]]]


def written(version: int, folder: Path) -> Path:
    """Return a file with the frozen store of a schema."""
    path = folder / "old.db"
    db = sqlite3.connect(path)
    db.executescript(frozen(version).read_text(encoding="utf-8"))
    db.close()
    return path


def rows_of(db: sqlite3.Connection) -> Rows:
    """Return the rows of every table as {column: value}."""
    found: Rows = {}
    for (name,) in db.execute(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
    ):
        cursor = db.execute(f"select * from {name}")
        columns = [column[0] for column in cursor.description]
        found[name] = [dict(zip(columns, row, strict=True)) for row in cursor]
    return found


def schema_of(
    db: sqlite3.Connection,
) -> dict[tuple[str, str], tuple[list[str], list[tuple[object, ...]]]]:
    """Return the tokens of the SQL of every table, index, view and trigger, and what it has:
    columns, indexes.
    """
    found = {}
    for kind, name, sql in db.execute("select type, name, sql from sqlite_schema").fetchall():
        tokens = [
            token if token[0] == "'" else token.strip('"').lower()
            for token in TOKEN.findall(sql or "")
        ]
        about = (
            ("index_xinfo",)
            if kind == "index"
            else ("table_xinfo", "index_list", "foreign_key_list")
        )
        found[kind, name] = (
            tokens,
            [row for one in about for row in db.execute(f"pragma {one}({name})")],
        )
    return found


def user_version(db: sqlite3.Connection) -> int:
    return int(db.execute("pragma user_version").fetchone()[0])


def copies(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if ".before-" in file.name)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sentences: list[str] = []
    monkeypatch.setattr(backup, "tell", sentences.append)
    return sentences


@pytest.fixture
def one_more(monkeypatch: pytest.MonkeyPatch) -> Migrations:
    """A workbench that has one more migration than this one."""
    migrations = deepcopy(connection.migrations)

    @migrations()
    def m999_weather(db: Database) -> None:
        run(db, WEATHER)
        db.execute("drop trigger weather_said")  # a store with triggers is refused

    monkeypatch.setattr(connection, "migrations", migrations)
    monkeypatch.setattr(connection, "SCHEMA_VERSION", NEXT)
    return migrations


def test_a_new_store_has_the_schema_of_the_frozen_one(store: Store) -> None:
    """A baseline that is changed would part old stores from new ones: this finds it."""
    assert frozen(SCHEMA_VERSION).exists(), (
        "add rows for it, then: python -m tests.stores.schemas.rows"
    )
    assert schema_of(store.connection) == schema_of(thawed(SCHEMA_VERSION).conn)
    db = Database(memory=True)
    make_baseline(db)
    assert schema_of(db.conn) == {
        key: value
        for key, value in schema_of(thawed(BASELINE).conn).items()
        if "_sqlite_migrations" not in key[1]
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frozen_store_has_rows_in_every_table(version: int) -> None:
    assert [name for name, rows in rows_of(thawed(version).conn).items() if not rows] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_every_schema_opens_with_all_that_it_holds(
    version: int, tmp_path: Path, told: list[str]
) -> None:
    path = written(version, tmp_path)
    before = rows_of(thawed(version).conn)
    with Store.open(path) as store:
        assert user_version(store.connection) == SCHEMA_VERSION
        assert store.connection.execute("pragma integrity_check").fetchone()[0] == "ok"
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        assert schema_of(store.connection) == schema_of(thawed(SCHEMA_VERSION).conn)
        after = rows_of(store.connection)
        for name, rows in before.items():
            now = [{column: row[column] for column in rows[0]} for row in after[name]]
            assert [row for row in rows if row not in now] == [], name
            assert name in GROWS or len(now) == len(rows), name
        assert [(job.state, job.done) for job in store.jobs.list()] == [("done", 3)]
        (found,) = store.runs.list("reliability")
        assert (found.model, found.responses, found.failed) == ("m", 2, 1)
        assert store.runs.planned(found) == {1: 3}
        assert store.instruments.get("small").statements[0].ref == "a-1"
        store.jobs.create("sample", {}, 1)
    migrated = version < SCHEMA_VERSION
    assert (len(copies(tmp_path)), len(told)) == (migrated, migrated)


def test_a_store_is_copied_and_then_migrated(
    tmp_path: Path, told: list[str], one_more: Migrations
) -> None:
    path = written(SCHEMA_VERSION, tmp_path)
    before = rows_of(thawed(SCHEMA_VERSION).conn)
    with pytest.raises(
        StoreError, match=f"schema {SCHEMA_VERSION}; this one has {NEXT}.*Open it once for writing"
    ):
        Store.open_for_reading(path)
    with Store.open(path) as store:
        assert user_version(store.connection) == NEXT
        after = rows_of(store.connection)
        assert after.pop("weather") == []
        assert {row.pop("umbrella") for row in after["job"]} == {1}
        assert after.pop("_sqlite_migrations")[-1]["name"] == "m999_weather"
        assert after == {name: rows for name, rows in before.items() if name not in GROWS}
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        migrated = schema_of(store.connection)
    assert copies(tmp_path) == [f"old.db.before-v{NEXT}"]
    assert told == [
        f"{path}: brought from schema {SCHEMA_VERSION} to {NEXT}. The store as it was is kept in "
        f"{path}.before-v{NEXT}; delete it once all is well."
    ]
    copy = Database(tmp_path / f"old.db.before-v{NEXT}")
    assert dump(copy) == frozen(SCHEMA_VERSION).read_text(encoding="utf-8")
    copy.close()
    Store.open(path).close()
    assert len(told) == 1
    with Store.open(tmp_path / "new.db", create=True) as new:
        assert schema_of(new.connection) == migrated
    assert len(copies(tmp_path)) == 1


def test_the_next_frozen_store_is_the_newest_one_migrated_with_its_rows(
    one_more: Migrations,
) -> None:
    rows = {NEXT: "insert into weather (day) values ('today');\nupdate job set umbrella = 0"}
    db = grown(thawed(SCHEMA_VERSION), rows, one_more)
    assert user_version(db.conn) == NEXT
    assert [row["sky"] for row in rows_of(db.conn)["weather"]] == ["a; b"]
    again = sqlite3.connect(":memory:")
    again.executescript(dump(db))
    assert rows_of(again) == rows_of(db.conn)
    assert schema_of(again) == schema_of(db.conn)


def test_a_copy_overwrites_nothing(tmp_path: Path, told: list[str], one_more: Migrations) -> None:
    path = written(SCHEMA_VERSION, tmp_path)
    other = tmp_path / f"old.db.before-v{NEXT}"
    other.write_text("mine")
    Store.open(path).close()
    assert other.read_text() == "mine"
    assert f"old.db.before-v{NEXT}-2;" in told[0]


def test_a_store_that_cannot_be_copied_is_left_as_it_is(
    tmp_path: Path, told: list[str], one_more: Migrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for a full disk: SQLite hears `disk full` or `I/O error`
    of both.
    """
    path = written(SCHEMA_VERSION, tmp_path)
    before = path.read_bytes()
    connect = sqlite3.connect

    def small(target: object, **options: object) -> sqlite3.Connection:
        made = connect(target, **options)  # type: ignore[call-overload]
        if str(target).endswith(".part"):
            made.execute("pragma max_page_count = 2")
        return made  # type: ignore[no-any-return]

    monkeypatch.setattr(backup.sqlite3, "connect", small)
    with pytest.raises(
        StoreError,
        match=r"could not be copied beforehand \(.*full.*\)\. Nothing was changed\. Make room",
    ):
        Store.open(path)
    monkeypatch.undo()
    with connect(path) as again:
        assert user_version(again) == SCHEMA_VERSION
    again.close()
    assert path.read_bytes()[100:] == before[100:]
    assert copies(tmp_path) == []
    assert told == []


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, told: list[str], one_more: Migrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(SCHEMA_VERSION, tmp_path)

    @one_more()
    def m035_interrupted(db: Database) -> None:
        db.execute("delete from reading")
        raise KeyboardInterrupt

    monkeypatch.setattr(connection, "SCHEMA_VERSION", NEXT + 1)
    with pytest.raises(KeyboardInterrupt):
        Store.open(path)
    assert told == []
    monkeypatch.undo()
    with Store.open(path) as store:
        assert rows_of(store.connection) == rows_of(thawed(SCHEMA_VERSION).conn)
        assert user_version(store.connection) == SCHEMA_VERSION


def test_a_program_that_is_killed_while_it_migrates_leaves_the_store_as_it_was(
    tmp_path: Path, told: list[str], one_more: Migrations
) -> None:
    path = written(SCHEMA_VERSION, tmp_path)
    code = (
        "import sys, time; from pathlib import Path; from stores.core import connection\n"
        "from stores.core.base import Migrations\n"
        "migrations = Migrations('workbench')\n"
        "@migrations()\n"
        "def m034_killed(db):\n"
        "    db.execute('pragma cache_size = 10')  # so that half of it is written to disk\n"
        "    db.execute('drop table assignment'); db.execute('update job set message = "
        "hex(zeroblob(500000))')\n"
        "@migrations()\n"
        "def m035_slow(db):\n"
        "    print('half', flush=True); time.sleep(600)\n"
        "connection.migrations, connection.SCHEMA_VERSION = migrations, int(sys.argv[2])\n"
        "connection.open_database(Path(sys.argv[1]), create=False)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(NEXT + 1)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    process.kill()
    process.stdout.close()
    process.wait()
    with sqlite3.connect(path) as left:
        assert user_version(left) == SCHEMA_VERSION
        assert rows_of(left) == rows_of(thawed(SCHEMA_VERSION).conn)
    left.close()
    with Store.open(path) as store:
        assert user_version(store.connection) == NEXT
    assert len(told) == 1


def test_a_store_that_a_newer_program_migrates_meanwhile_is_left_to_it(
    tmp_path: Path, told: list[str], one_more: Migrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(SCHEMA_VERSION, tmp_path)

    def meanwhile(db: Database, _path: Path) -> str:
        db.execute(f"pragma user_version = {NEXT + 1}")
        return ""

    monkeypatch.setattr(connection, "set_journal_mode", meanwhile)
    with pytest.raises(NewerStore, match=f"schema {NEXT + 1}"):
        Store.open(path)
    with sqlite3.connect(path) as left:
        assert user_version(left) == NEXT + 1
    left.close()
    assert copies(tmp_path) == []


def test_who_has_a_store_open_that_a_newer_program_migrates_writes_no_more(tmp_path: Path) -> None:
    with Store.open(written(SCHEMA_VERSION, tmp_path)) as store:
        rows = rows_of(store.connection)
        with sqlite3.connect(store.path) as newer:
            newer.execute(f"pragma user_version = {NEXT}")
        newer.close()
        said = f"from schema {SCHEMA_VERSION} to {NEXT} while it was open here"
        with pytest.raises(NewerStore, match=said), store.write() as connection:
            connection.execute("update instrument set title = 'of an older workbench'")
        with pytest.raises(NewerStore), store.rehearsal():
            pass
        with pytest.raises(NewerStore, match="Leave, update this workbench"):
            store.at_once(lambda: 1)
        assert rows_of(store.connection) == rows


def test_a_migration_gives_back_the_room_that_it_needed(
    tmp_path: Path, one_more: Migrations
) -> None:
    path = written(SCHEMA_VERSION, tmp_path)
    with sqlite3.connect(path) as old:
        old.execute("create table gone (body blob)")
        old.execute("insert into gone values (zeroblob(3000000))")
        old.execute("drop table gone")
    old.close()
    with Store.open(path) as store:
        assert path.stat().st_size < 1_500_000
        assert path.with_name("old.db-wal").stat().st_size < 100_000
        assert rows_of(store.connection).keys() == rows_of(thawed(SCHEMA_VERSION).conn).keys() | {
            "weather"
        }
