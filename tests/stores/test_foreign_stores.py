"""A store from somebody else: what would run in it is refused, and what can be read of a damaged one is saved."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from stores.core.connection import SCHEMA_VERSION, open_database
from stores.core.rescue import VIEWS, Rescued, digest, own_views, rescued
from stores.core.store import Store
from tests.cli.test_commands import run
from tests.stores.schemas.rows import thawed
from tests.tui.audit_runs import audited
from workbench.errors import StoreError

FOREIGN = {
    "a trigger": "create trigger shift after insert on draw begin delete from response; end",
    "a view": "create view weather as select 1 as sky",
    "a view of ours that lies": "drop view v_answers; create view v_answers as select 'all agree' as answer",
    "a view in place of a table": "alter table party rename to party_old; create view party as select * from party_old",
    "a generated column": "alter table party add column share real generated always as (1.0) virtual",
    "a virtual table": "create virtual table words using fts5(body)",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audit.db")


def changed(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_the_views_of_the_newest_schema_are_known() -> None:
    assert digest(own_views()) == VIEWS, "schema changed: put this into stores/core/rescue.py"


@pytest.mark.parametrize("what", FOREIGN)
@pytest.mark.parametrize("opened", [Store.open, Store.open_for_reading])
def test_what_would_run_in_a_store_is_refused_by_its_name(
    path: Path, what: str, opened: Callable[[Path], Store]
) -> None:
    changed(path, FOREIGN[what])
    before = sha256(path.read_bytes()).hexdigest()
    with pytest.raises(StoreError, match=r"what no store has.*--rescue NEW"):
        opened(path)
    assert sha256(path.read_bytes()).hexdigest() == before


def test_a_trigger_in_an_older_store_is_refused_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as copy:
        thawed(SCHEMA_VERSION - 1).conn.backup(copy)
        copy.execute("create trigger t after insert on statement begin delete from text; end")
        copy.commit()
    with pytest.raises(StoreError, match="trigger t"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as copy:
        assert copy.execute("pragma user_version").fetchone()[0] == SCHEMA_VERSION - 1
    assert [one.name for one in tmp_path.iterdir()] == ["old.db"]


def saved(path: Path, target: Path) -> Rescued:
    return rescued(path, target, lambda one: open_database(one, create=True)[0])


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        names = [
            name
            for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")
            if not name.startswith(("sqlite_", "_sqlite"))
        ]
        return {name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in names}


@pytest.mark.parametrize("what", [name for name in FOREIGN if "in place" not in name])
def test_a_clean_copy_has_every_row_and_nothing_foreign(path: Path, tmp_path: Path, what: str) -> None:
    whole = counts(path)
    found = saved(changed(path, FOREIGN[what]), tmp_path / "new.db")
    assert found.lost == found.refused == {}
    assert counts(tmp_path / "new.db") == whole
    with Store.open(tmp_path / "new.db") as store:
        assert store.connection.execute("pragma foreign_key_check").fetchall() == []
        assert store.runs.list("reliability")


@pytest.mark.e2e
@pytest.mark.parametrize("seed", range(12))
def test_what_can_be_read_of_a_damaged_store_is_saved(path: Path, tmp_path: Path, seed: int) -> None:
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
    assert all(now[name] == whole[name] for name in whole if name not in found.lost and name not in found.refused)


def test_the_shell_rescues_and_says_what_came(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(path, FOREIGN["a trigger"])
    code, out, err = run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")
    assert (code, err) == (0, "")
    assert "trigger shift" in out
    assert "Go on with" in out
    code, _, err = run(capsys, "doctor", path, "--rescue", tmp_path / "new.db")
    assert code == 1
    assert "there is a file already" in err
    assert run(capsys, "doctor", "--rescue", tmp_path / "new.db")[0] == 2


def test_a_store_that_is_merged_is_only_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as copy:
        thawed(SCHEMA_VERSION - 1).conn.backup(copy)
    before = sha256(other.read_bytes()).hexdigest()
    code, _, err = run(capsys, "labels", path, "--merge", other)
    assert code == 1, err
    assert f"{other}: the store is damaged" in err, "its codebook is none"
    assert "brought from schema" not in err
    assert sha256(other.read_bytes()).hexdigest() == before
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("other")) == ["other.db"]


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
    for command in (("jobs", path), ("statements", path), ("show", path, "reliability"), ("export", path, path / "x")):
        code, _, err = run(capsys, *command)
        assert code in (0, 1, 2), err
        met += [err] * ("--rescue NEW" in err)
    assert met or "codebook" in what
    code, out, _ = run(capsys, "doctor", path)
    assert "Save what can be read" in out or "codebook" in what
