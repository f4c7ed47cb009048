"""A store from somebody else: what would run in it is refused, and what can be read of a damaged
one is saved.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from stores.core.base import Database
from stores.core.connection import SCHEMA_VERSION, open_database
from stores.core.contents import names
from stores.core.identity import Anchor
from stores.core.migrations import BASELINE, migrations
from stores.core.own_schema import DIGESTS, digest, expected_objects, expected_rows
from stores.core.own_schema import WRITTEN as WRITTEN_HERE
from stores.core.rescue import Rescued, rescue_rows
from stores.core.store import Store
from tests.cli.test_commands import run, unfolded
from tests.stores.schemas.rows import thawed
from tests.tui.audit_runs import audited
from workbench.errors import StoreError

VERSIONS = range(BASELINE, SCHEMA_VERSION + 1)
REFUSED = r"schema of a store: .*--rescue NEW|malformed|not a database"
PARTY = (
    "create table party (id integer primary key, instrument_id integer, country text, name "
    "text, position real)"
)
FOREIGN = {
    "a trigger": "create trigger shift after insert on draw begin delete from response; end",
    "a trigger before a delete": "create trigger t before delete on ruling begin select "
    "raise(ignore); end",
    "a trigger of a view": "create trigger t instead of insert on v_answers begin delete from "
    "text; end",
    "a view": "create view weather as select 1 as sky",
    "a view of ours that lies": "drop view v_answers; create view v_answers as select 'all "
    "agree' as answer",
    "a view of ours is missing": "drop view v_stances",
    "a view in place of a table": "alter table party rename to party_old; create view party as "
    "select * from party_old",
    "a generated column": "alter table party add column share real generated always as (1.0) "
    "virtual",
    "a generated column in brief": "alter table party add column share real as (1.0)",
    "a column": "alter table party add column share real",
    "a virtual table": "create virtual table words using fts5(body)",
    "a virtual table in two blanks": "create  virtual  table words using fts5(body)",
    "a virtual table in a comment": "create/**/virtual table words using fts5(body)",
    "a table": "create table weather (sky text)",
    "a table without its constraints": f"drop table party; {PARTY}",
    "a table of another name": "alter table party rename to faction",
    "a missing table": "drop table party_answer",
    "an index": "create index slow on text (body)",
    "an index with an expression": "create index slow on text (length(body))",
    "an index on other columns": "drop index text_key; create unique index text_key on text (id)",
    "an index that is not unique": "drop index text_key; create index text_key on text (key)",
    "an index of some rows": "drop index reading_of_people; create index reading_of_people on "
    "reading (reader_id, at)",
    "a missing index": "drop index text_key",
}
"scripts that any program can run"
WRITTEN = {
    "a view of another type": ("v_answers", {"type": "View"}),
    "a table of another type": ("party", {"type": "TABLE"}),
    "a type that is no text": ("party", {"type": b"table"}),
    "a name that is no UTF-8": ("party", {"name": b"part\xff"}),
    "an index of another table": ("text_key", {"tbl_name": "party"}),
    "cascading": ("wording", ("references statement", "references statement on delete cascade")),
    "another literal": ("statement", ("'cultural'", "'moral'")),
    "another number": ("queue_item", ("inclusion <= 1", "inclusion <= 2")),
    "another default": ("statement", ("default '[]'", "default '[ ]'")),
    "a literal in another case": ("statement", ("'cultural'", "'Cultural'")),
    "a name in place of a literal": ("statement", ("'left'", '"left"')),
    "a name in place of a word": ("model", ("not null", 'not "null"')),
    "another blob": ("v_readings", ("x''", "x'00'")),
    "no check": (
        "reader",
        ("check (kind in ('rule', 'classifier', 'person', 'adjudication', 'import'))", ""),
    ),
    "a check more": ("party", ("position real", "position real check (randomblob(1))")),
    "a collation": ("party", ("name text not null", "name text not null collate nocase")),
    "not unique": ("instrument", ("not null unique", "not null")),
    "not strict": ("party", (") strict", ")")),
    "no rowid": ("party", ("strict", "strict, without rowid")),
    "a comment that never ends": ("party", (") strict", ") strict /*")),
    "a text after its end": ("party", (") strict", ") strict\0, evil")),
}
"""name of an object -> what is written into SQLite's own table: columns, or a text in place of
another"""


def with_foreign(path: Path, what: str) -> Path:
    """Return a store whose schema is changed as a name of `FOREIGN`, `WRITTEN` or `OTHERS` says."""
    if what in FOREIGN:
        return changed(path, FOREIGN[what])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma writable_schema = on")
        OTHERS[what](connection) if what in OTHERS else written_into(connection, *WRITTEN[what])
        connection.commit()
    return path


def written_into(
    connection: sqlite3.Connection, name: str, change: dict[str, object] | tuple[str, str]
) -> None:
    """Change one row of SQLite's own table."""
    if isinstance(change, tuple):
        (sql,) = connection.execute(
            "select sql from sqlite_schema where name = ?", (name,)
        ).fetchone()
        assert change[0] in sql
        change = {"sql": sql.replace(*change)}
    for column, value in change.items():
        made = connection.execute(
            f"update sqlite_schema set {column} = ? where name = ?", (value, name)
        )
        assert made.rowcount == 1


def all_indexes_dropped(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "select name from sqlite_schema where type = 'index' and sql is not null"
    )
    for (name,) in rows.fetchall():
        connection.execute(f'drop index "{name}"')


def trigger_of_another_type(connection: sqlite3.Connection) -> None:
    connection.execute("create trigger shift after insert on draw begin delete from response; end")
    written_into(connection, "shift", {"type": "Trigger"})


def trigger_that_says_table(connection: sqlite3.Connection) -> None:
    trigger_of_another_type(connection)
    written_into(connection, "shift", {"type": "table", "tbl_name": "shift"})


def table_twice(connection: sqlite3.Connection) -> None:
    connection.execute("insert into sqlite_schema select * from sqlite_schema where name = 'party'")


OTHERS: dict[str, Callable[[sqlite3.Connection], None]] = {
    "all indexes dropped": all_indexes_dropped,
    "a trigger of another type": trigger_of_another_type,
    "a trigger that says it is a table": trigger_that_says_table,
    "a table twice": table_twice,
}
LOSING = (
    "a view in place of a table",
    "a table without its constraints",
    "a table of another name",
    "a missing table",
    "a table twice",
    "a trigger that says it is a table",
)
"changes after which rows are not where they were"
EVERY = [*FOREIGN, *WRITTEN, *OTHERS]


@pytest.fixture(scope="module")
def sound_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited(tmp_path_factory.mktemp("sound") / "audit.db")


@pytest.fixture
def path(tmp_path: Path, sound_store: Path) -> Path:
    """A copy of a sound store, which a test may change."""
    copy = tmp_path / "audit.db"
    with closing(sqlite3.connect(sound_store)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def changed(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_every_schema_has_its_digest() -> None:
    objects = {version: expected_objects(version, migrations).items() for version in VERSIONS}
    rows = {version: expected_rows(version, migrations) for version in VERSIONS}
    assert {version: digest(found) for version, found in objects.items()} == DIGESTS
    # Other versions write the same schema in other words.
    if sqlite3.sqlite_version.startswith("3.40."):
        assert {version: digest(found) for version, found in rows.items()} == WRITTEN_HERE


@pytest.mark.parametrize("what", EVERY)
def test_a_schema_that_differs_is_refused_before_anything_of_it_runs(path: Path, what: str) -> None:
    with_foreign(path, what)
    before = sha256(path.read_bytes()).hexdigest()
    for opened in (Store.open, Store.open_for_reading):
        with pytest.raises(StoreError, match=REFUSED):
            opened(path)
    assert sha256(path.read_bytes()).hexdigest() == before


def test_a_trigger_in_an_older_store_is_refused_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as copy:
        thawed(SCHEMA_VERSION - 1).conn.backup(copy)
        copy.execute("create trigger t after insert on statement begin delete from text; end")
        copy.commit()
    with pytest.raises(StoreError, match="trigger t is foreign"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as copy:
        assert copy.execute("pragma user_version").fetchone()[0] == SCHEMA_VERSION - 1
    assert [one.name for one in tmp_path.iterdir()] == ["old.db"]
    whole = counts(path)
    result = saved(path, tmp_path / "new.db")
    assert (result.left_out, result.lost, result.refused) == (("trigger t is foreign",), {}, {})
    with Store.open(tmp_path / "new.db") as store:
        assert store.connection.execute("pragma user_version").fetchone()[0] == SCHEMA_VERSION
    now = counts(tmp_path / "new.db")
    assert {name: now[name] for name in whole} == whole


def test_a_store_that_says_a_migration_was_made_is_not_taken_for_migrated(tmp_path: Path) -> None:
    path = older(tmp_path / "old.db")
    newest = migrations.pending(Database(memory=True))[-1].name
    row = (
        "insert into _sqlite_migrations (migration_set, name, applied_at) values "
        f"('workbench', '{newest}', 'now')"
    )
    changed(path, row)
    with pytest.raises(StoreError, match="table reading has"):
        Store.open(path)
    saved(path, tmp_path / "new.db")
    Store.open(tmp_path / "new.db").close()


def test_neither_tab_nor_the_terminal_reads_a_foreign_store_before_it_is_opened(path: Path) -> None:
    assert names(path, "models") == ("smol",)
    endless = (
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i as {} from n"
    )
    changed(path, f"drop table model; create view model as {endless.format('name')}")
    changed(path, f"drop table identity; create view identity as {endless.format('uid')}")
    assert names(path, "models") == ()
    assert Anchor.of(path) is None


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_store_with_the_number_of_another_schema_is_refused(path: Path, version: int) -> None:
    changed(path, f"pragma user_version = {version}")
    with pytest.raises(StoreError, match=r"table reading has|newer workbench"):
        Store.open(path)


def saved(path: Path, target: Path) -> Rescued:
    return rescue_rows(path, target, lambda one: open_database(one, create=False, quiet=True)[0])


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        names = [
            name
            for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")
            if not name.startswith(("sqlite_", "_sqlite"))
        ]
        return {
            name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in names
        }


@pytest.mark.parametrize("what", [name for name in [*FOREIGN, *OTHERS] if name not in LOSING])
def test_a_clean_copy_has_every_row_and_nothing_foreign(
    path: Path, tmp_path: Path, what: str
) -> None:
    whole = counts(path)
    found = saved(with_foreign(path, what), tmp_path / "new.db")
    assert found.lost == found.refused == {}
    assert counts(tmp_path / "new.db") == whole
    with Store.open(tmp_path / "new.db") as store:
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        assert store.runs.list("reliability")


@pytest.mark.e2e
@pytest.mark.parametrize("seed", range(12))
def test_what_can_be_read_of_a_damaged_store_is_saved(
    path: Path, tmp_path: Path, seed: int
) -> None:
    whole = counts(path)
    rng = np.random.default_rng(seed)
    data = bytearray(path.read_bytes())
    for page in rng.choice(np.arange(1, len(data) // 4096), 3, replace=False):
        at = int(page) * 4096
        data[at : at + 4096] = rng.bytes(4096)
    path.write_bytes(data)
    try:
        found = saved(path, tmp_path / "new.db")
    except StoreError as error:
        if "list of its tables can be read" in str(error):
            return
        raise
    now = counts(tmp_path / "new.db")
    assert set(now) == set(whole)
    assert all(now[name] <= whole[name] for name in whole if name != "identity")
    assert all(
        now[name] == whole[name]
        for name in whole
        if name not in found.lost and name not in found.refused
    )


def test_the_shell_rescues_and_says_what_came(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(path, FOREIGN["a trigger"])
    code, out, err = run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")
    assert (code, err) == (0, "")
    assert "trigger shift" in unfolded(out)
    assert "Go on with" in unfolded(out)
    code, _, err = run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")
    assert code == 1
    assert "there is a file already" in unfolded(err)
    assert run(capsys, "doctor", "--rescue", tmp_path / "new.db")[0] == 2


MALFORMED = {
    "a misspelt word": "update sqlite_schema set sql = 'create tabel x' where name = 'party'",
    "a definition that ends early": "update sqlite_schema set sql = 'create table party (' where "
    "name = 'party'",
    "no definition": "update sqlite_schema set sql = null where name = 'party'",
    "a definition that is a number": "update sqlite_schema set sql = 7 where name = 'party'",
    "an index without its table": "update sqlite_schema set sql = 'create index text_key on "
    "nothing (x)' "
    "where name = 'text_key'",
    "a root page that is not there": "update sqlite_schema set rootpage = 999999 where name = "
    "'party'",
    "no root page": "update sqlite_schema set rootpage = 0 where name = 'party'",
    "one root page of two tables": "update sqlite_schema set rootpage = 1 where name = 'party'",
    "a name twice": "update sqlite_schema set name = 'model' where name = 'party'",
}


@pytest.mark.parametrize("what", MALFORMED)
def test_the_advice_for_a_schema_that_sqlite_refuses_works(
    path: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = counts(path)["response"]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma writable_schema = on")
        assert connection.execute(MALFORMED[what]).rowcount == 1
        connection.commit()
    code, _, err = run(capsys, "show", path, "reliability")
    assert code == 0 or "--rescue NEW" in err
    code, _, err = run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")
    assert (code, err) == (0, "")
    assert counts(tmp_path / "new.db")["response"] == answers
    assert run(capsys, "show", tmp_path / "new.db", "reliability")[0] == 0


def test_a_store_that_is_merged_is_only_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: Path
) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as copy:
        thawed(SCHEMA_VERSION - 1).conn.backup(copy)
    before = sha256(other.read_bytes()).hexdigest()
    code, _, err = run(capsys, "labels", path, "--merge", other)
    assert code == 1, err
    assert f"{other}: the store is damaged" in err, "its codebook is none"
    assert "brought from schema" not in err
    assert sha256(other.read_bytes()).hexdigest() == before
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("other")) == [
        "other.db"
    ]


BROKEN = {
    "JSON": "update job set spec = '{'",
    "a codebook without its keys": "update codebook set body = '{}'",
    "a text that is no UTF-8": "update statement set country = cast(x'ff41' as text)",
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_no_workbench_writes_ends_in_a_sentence(
    path: Path, what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path) as store:
        store.jobs.create("sample", {}, 1)
        store.exchange.codebooks()
    changed(path, BROKEN[what])
    met = []
    for command in (
        ("jobs", path),
        ("statements", path),
        ("show", path, "reliability"),
        ("export", path, path / "x"),
    ):
        code, _, err = run(capsys, *command)
        assert code in (0, 1, 2), err
        met += [err] * ("--rescue NEW" in unfolded(err))
    assert met or "codebook" in what
    code, out, _ = run(capsys, "doctor", path)
    assert "Save what can be read" in unfolded(out) or "codebook" in what


@pytest.mark.parametrize(
    ("n_rows", "change"),
    [(0, "delete from identity"), (2, "insert into identity (uid) values (randomblob(16))")],
)
def test_a_store_without_one_identity_is_damaged_and_can_be_rescued(
    path: Path, tmp_path: Path, n_rows: int, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(path, change)
    words = f"its table identity has {n_rows} rows, not 1"
    code, out, _ = run(capsys, "doctor", path)
    text = unfolded(out)
    assert (code, text.count(words), text.count("Save what can be read: workbench doctor")) == (
        1,
        1,
        1,
    )
    for command in (("jobs", path), ("statements", path), ("export", path, tmp_path / "x")):
        code, _, err = run(capsys, *command)
        assert (code, words in unfolded(err)) == ((1, True) if n_rows == 0 else (0, False)), err
    assert run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")[0] == 0
    assert run(capsys, "doctor", tmp_path / "new.db")[0] == 0


def test_a_file_that_is_part_of_a_store_or_empty_is_named_for_what_it_is(
    path: Path, tmp_path: Path
) -> None:
    with Store.open(path) as store:
        with store.write() as connection:
            connection.execute("update instrument set title = 'Other'")
        log = tmp_path / "log.db"
        log.write_bytes(path.with_name(f"{path.name}-wal").read_bytes())
    with pytest.raises(StoreError, match="this is the write-ahead log of a store"):
        Store.open(log)
    (tmp_path / "empty.db").touch()
    for opened in (Store.open, Store.open_for_reading):
        with pytest.raises(StoreError, match=r"the file is empty \(0 bytes\)"):
            opened(tmp_path / "empty.db")


def older(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as copy:
        thawed(SCHEMA_VERSION - 1).conn.backup(copy)
    return path


def test_a_migration_that_has_no_room_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = older(tmp_path / "old.db")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(
        StoreError, match=r"needs \d+ MiB for a copy and the change; .* has 0 MiB left"
    ):
        Store.open(path)
    assert [one.name for one in tmp_path.iterdir() if "before" in one.name] == []


def test_an_interrupted_migration_leaves_one_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = older(tmp_path / "old.db")

    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("stores.core.connection.migrations.apply", stops)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                Store.open(path)
    Store.open(path).close()
    assert len([one for one in tmp_path.iterdir() if ".before-" in one.name]) == 1
