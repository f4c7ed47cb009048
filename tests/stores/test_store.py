"""Opening, refusing and writing to a store."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import sqlite3
import subprocess
import sys
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from stores.core import machines
from stores.core.base import decode_text, table, text_ids
from stores.core.connection import SCHEMA_VERSION
from stores.core.contents import ConnectionCache
from stores.core.identity import Anchor
from stores.core.migrations import APPLICATION_ID, BASELINE
from stores.core.store import Store
from workbench.domain.keys import text_key
from workbench.domain.responses import ModelCard, Sampling
from workbench.errors import NewerStore, NotAStore, OlderStore, ReadOnlyStore, StoreBusy, StoreError


def test_a_new_store_is_stamped_strict_and_write_ahead_logged(store: Store) -> None:
    read = store.connection.execute
    assert read("pragma application_id").fetchone()[0] == APPLICATION_ID
    assert read("pragma user_version").fetchone()[0] == SCHEMA_VERSION
    assert read("pragma journal_mode").fetchone()[0] == "wal"
    assert read("pragma foreign_keys").fetchone()[0] == 1
    loose = read(
        "select name from pragma_table_list where type = 'table' and schema = 'main' and strict = "
        "0 and name not like 'sqlite_%' and name not like '_sqlite_%'"
    ).fetchall()
    assert loose == []


def test_opening_again_migrates_nothing(store: Store) -> None:
    before = list(store.connection.iterdump())
    with Store.open(store.path) as again:
        assert list(again.connection.iterdump()) == before


def test_a_missing_store_is_not_made_by_opening_it(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="workbench init"):
        Store.open(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_schema_is_refused_and_left_alone(store: Store) -> None:
    store.connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(NewerStore, match=f"schema {SCHEMA_VERSION + 1}.*install a newer copy"):
        Store.open(store.path)


@pytest.mark.parametrize("schema", [0, 1, BASELINE - 1])
def test_a_schema_before_the_baseline_is_refused_and_left_alone(
    tmp_path: Path, schema: int
) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        old.execute("create table text (id integer primary key, packed blob)")
        old.execute(f"pragma application_id = {APPLICATION_ID}")
        old.execute(f"pragma user_version = {schema}")
    old.close()
    before = path.read_bytes()
    for opened in (Store.open, Store.open_for_reading):
        with pytest.raises(OlderStore) as caught:
            opened(path)
        assert str(caught.value) == (
            f"{path}: the store has schema {schema}, and this workbench opens schemas from 33 on: "
            "open it once with workbench 0.2.0 as of 25 November 2026, which brings it to schema "
            "33 and keeps a copy beside it."
        )
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["old.db"]


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "foreign.db"
    with sqlite3.connect(path) as foreign:
        foreign.execute("create table birds (name text)")
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(NotAStore, match="birds"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("Dear diary, " * 200)
    with pytest.raises(NotAStore, match="not a SQLite file"):
        Store.open(path)


def test_a_read_only_file_is_refused_with_what_to_do(store: Store) -> None:
    store.path.chmod(0o444)
    with pytest.raises(ReadOnlyStore, match=r"chmod u\+w"):
        Store.open(store.path)


def test_a_folder_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="folder"):
        Store.open(tmp_path, create=True)
    with pytest.raises(StoreError, match="does not exist"):
        Store.open(tmp_path / "nowhere" / "a.db", create=True)


def test_on_a_network_file_system_the_store_falls_back_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "file_system", lambda _path: "nfs4")
    with Store.open(tmp_path / "a.db", create=True) as store:
        assert store.connection.execute("pragma journal_mode").fetchone()[0] == "truncate"
        assert "nfs4" in store.notice
        with store.write() as connection:
            connection.execute("insert into text (key, body) values (x'00', 'kept')")
    with Store.open(tmp_path / "a.db") as store:
        assert store.connection.execute("select body from text").fetchone()[0] == "kept"


def test_a_store_that_came_to_a_network_file_system_is_opened_beside_what_keeps_its_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(tmp_path / "a.db", create=True).close()
    monkeypatch.setattr(machines, "file_system", lambda _path: "nfs4")
    anchor = Anchor.of(tmp_path / "a.db")
    assert anchor is not None
    with contextlib.closing(anchor), Store.open(tmp_path / "a.db") as store:
        assert store.connection.execute("pragma journal_mode").fetchone()[0] == "truncate"


def test_where_locks_end_at_a_machine_a_store_is_open_on_one_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "file_system", lambda _path: "fuse.sshfs")
    # Not every machine has a name of its own there.
    monkeypatch.setattr(machines, "_text_of_file", lambda path: path)
    path, claim = tmp_path / "a.db", tmp_path / "a.db.machine"
    with Store.open(path, create=True):
        with Store.open_for_reading(path):
            mine = json.loads(claim.read_text())
        assert claim.exists(), "another of this machine still has it open"
    assert not claim.exists()
    before = path.read_bytes()
    for others in (
        {"machine": "elsewhere", "id": "1"},
        {"boot": "1", "id": "1"},
        {"boot": "1", "id": ""},
    ):
        claim.write_text(json.dumps(mine | others))
        name = others.get("machine", mine["machine"])
        for opened in (Store.open, Store.open_for_reading):
            with pytest.raises(
                StoreError,
                match=rf"open on {name}.*fuse\.sshfs.*Close it there.*delete .*\.machine",
            ):
                opened(path)
    assert path.read_bytes() == before
    for left in (mine, mine | {"boot": "before it was started anew"}, mine | {"device": 2**40}):
        claim.write_text(json.dumps(left))
        with Store.open(path):
            assert json.loads(claim.read_text()) == mine
        assert not claim.exists()


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    with contextlib.suppress(ZeroDivisionError), store.write() as connection:
        connection.execute("insert into text (key, body) values (x'00', 'lost')")
        raise ZeroDivisionError
    assert store.connection.execute("select count(*) from text").fetchone()[0] == 0


def test_rows_of_the_library_are_part_of_the_one_transaction(store: Store) -> None:
    schema = store.connection.execute(
        "select name, sql from sqlite_master order by name"
    ).fetchall()
    said: list[str] = []
    store.connection.set_trace_callback(said.append)
    store.runs.begin(ModelCard("m", "r", "scripted", "f32", "none"), Sampling())
    store.connection.set_trace_callback(None)
    assert [
        words for words in said if words.lower().startswith(("begin", "commit", "rollback"))
    ] == ["begin immediate", "commit"]
    assert any(words.startswith("SAVEPOINT") for words in said)
    with contextlib.suppress(ZeroDivisionError), store.write() as connection:
        table(connection, "frozen_plan").insert({"hash": "h", "text": "t", "at": "now"})
        raise ZeroDivisionError
    assert store.plans.get("h") is None
    with (
        store.write() as connection,
        pytest.raises(sqlite3.OperationalError, match="no such table: frozen_plans"),
    ):
        table(connection, "frozen_plans").insert({"hash": "h"})
    with (
        store.write() as connection,
        pytest.raises(sqlite3.OperationalError, match="no column named words"),
    ):
        table(connection, "frozen_plan").lookup({"hash": "h"}, {"words": "t"}, pk="hash")
    with pytest.raises(AssertionError, match="written within"):
        table(store.connection, "frozen_plan")
    assert (
        store.connection.execute("select name, sql from sqlite_master order by name").fetchall()
        == schema
    )


def test_a_lock_that_is_held_too_long_is_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(store.path) as other, store.write():
        other.connection.execute("pragma busy_timeout = 50")
        with pytest.raises(StoreBusy, match="another program"), other.write():
            pass


def test_texts_have_one_rowid_whether_they_were_there_or_not(store: Store) -> None:
    known = [f"known {n}" for n in range(700)] + ["\ud800 half a pair", ""]
    with store.write() as connection:
        before = text_ids(connection, known)
        after = text_ids(
            connection, [*known[::-1], "new", *(f"new {n}" for n in range(1200)), "new"]
        )
        assert {text: after[text] for text in known} == before
        assert len(set(after.values())) == len(after) == 702 + 1201
        for text, rowid in after.items():
            key, body = connection.execute(
                "select key, body from text where id = ?", (rowid,)
            ).fetchone()
            assert (bytes(key), decode_text(body)) == (text_key(text), text)


def _add_texts(path: Path, start: int) -> None:
    with Store.open(path) as store:
        for number in range(start, start + 50):
            with store.write() as connection:
                table(connection, "text").insert(
                    {"key": number.to_bytes(16, "big"), "body": str(number)}
                )


@pytest.mark.e2e
def test_four_processes_write_at_once_and_nothing_is_lost(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_texts, args=(store.path, n * 50)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    assert store.connection.execute("select count(*) from text").fetchone()[0] == 200


def _write_without_end(path: Path, batches: Any, stop: Event) -> None:
    with Store.open(path) as store:
        while not stop.is_set():
            with store.write() as connection:
                number = batches.value
                text_ids(connection, [f"batch {number}, {n} " + "word " * 60 for n in range(512)])
            batches.value = number + 1


def _write_small(path: Path, number: int, batches: Any, passed: Any) -> None:
    with Store.open(path) as store:
        for n in range(30):
            time.sleep(0.02)
            before = batches.value
            with store.write() as connection:
                text_ids(connection, [f"{number} {n}"])
            passed.put(batches.value - before)


@pytest.mark.e2e
def test_whoever_waits_beside_a_writer_at_full_speed_has_a_turn_after_few_of_its_transactions(
    store: Store,
) -> None:
    context = multiprocessing.get_context("spawn")
    batches, passed, stop = context.Value("q", 0), context.Queue(), context.Event()
    bulk = context.Process(target=_write_without_end, args=(store.path, batches, stop))
    people = [
        context.Process(target=_write_small, args=(store.path, n, batches, passed))
        for n in range(4)
    ]
    for process in (bulk, *people):
        process.start()
    waits = sorted(passed.get(timeout=120) for _ in range(4 * 30))
    stop.set()
    for process in (bulk, *people):
        process.join()
    assert [process.exitcode for process in (bulk, *people)] == [0] * 5
    assert batches.value > 0
    assert waits[len(waits) // 2] <= 3
    assert waits[-1] <= 20


def test_a_writer_that_is_killed_leaves_whole_transactions_only(store: Store) -> None:
    code = (
        "import sys, itertools; from pathlib import Path; from stores.core.store import Store\n"
        "from stores.core.base import table\n"
        "store = Store.open(Path(sys.argv[1]))\n"
        "for n in itertools.count():\n"
        "    with store.write() as c:\n"
        "        c.execute('insert into text (key, body) values (?, ?)', ((2 * n).to_bytes(16, "
        "'big'), 'a'))\n"
        "        table(c, 'text').insert({'key': (2 * n + 1).to_bytes(16, 'big'), 'body': 'b'})\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    told = 0
    for line in process.stdout:
        told = int(line)
        if told >= 20:
            process.kill()
            break
    process.stdout.close()
    process.wait()
    rows = store.connection.execute("select count(*) from text").fetchone()[0]
    assert rows % 2 == 0
    assert rows >= 2 * (told + 1)
    assert store.connection.execute("pragma integrity_check").fetchone()[0] == "ok"


def test_what_a_connection_remembers_is_bounded(store: Store) -> None:
    held = ConnectionCache(max_results=2)
    read: list[str] = []

    def value(key: str) -> str:
        def now() -> str:
            read.append(key)
            return key.upper()

        return held.value(store.connection, key, now)

    assert [value(key) for key in "abab"] == [*"ABAB"]
    assert [value(key) for key in "cb"] == [*"CB"]
    assert read == [*"abc"], "b was asked for after a, so that c takes the place of a"
    assert value("a") == "A"
    assert read == [*"abca"]
    store.connection.execute("create temporary table other (n)")
    store.connection.execute("insert into temp.other values (1)")
    assert value("a") == "A"
    assert read == [*"abcaa"], "somebody has written"


def test_opening_a_store_again_leaves_the_locks_of_those_who_have_it_open(store: Store) -> None:
    """Closing a file drops all locks of the process on it: another process then takes the file for
    its own alone.
    """
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
        "print(*c.execute(sys.argv[2]).fetchone()); c.close()"
    )

    def seen_elsewhere(sql: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", code, store.path, sql], capture_output=True, text=True
        ).stdout.strip()

    other = Store.open(store.path)
    seen_elsewhere("select count(*) from job")
    with store.write() as connection:
        connection.execute("create table noted (n)")
    assert seen_elsewhere("select count(*) from sqlite_schema where name = 'noted'") == "1"
    other.close()


def test_an_anchor_tells_that_somebody_wrote_and_waits_for_nobody(store: Store) -> None:
    anchor = Anchor(store.path)
    try:
        before = anchor.version()
        assert before is not None
        assert anchor.version() == before
        with store.write() as connection:
            text_ids(connection, ["new"])
            assert anchor.version() == before, "nothing is committed yet"
        after = anchor.version()
        assert after != before
        assert anchor.version() == after
    finally:
        anchor.close()
    assert anchor.version() is None
