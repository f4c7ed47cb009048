"""No path stores an infinite number or a text that is no JSON; a store that has one is named, and
rescued.
"""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.core.connection import open_database
from stores.core.rescue import damage, rescue_rows
from stores.core.store import Store
from stores.core.values import (
    COUNTED,
    FINITE,
    JSON,
    LOG_PROBABILITIES,
    MOST_ANSWERS,
    checked_confidence,
    checked_count,
    columns_of,
)
from tests.cli.test_commands import run, unfolded
from tests.tui.audit_runs import audited
from workbench.errors import StoreError


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


def test_every_column_of_real_numbers_is_checked(store: Store) -> None:
    rows = store.connection.execute(
        "select t.name || '.' || c.name from sqlite_schema t join pragma_table_info(t.name) c "
        "where t.type = 'table' and c.type = 'REAL'"
    )
    assert {name for (name,) in rows} == {*FINITE, *LOG_PROBABILITIES}
    known = {".".join(pair) for pair in columns_of(store.connection)}
    assert {*FINITE, *LOG_PROBABILITIES, *COUNTED, *JSON} <= known


WRITES = {
    "update sampling set temperature = ?": (
        math.inf,
        "sampling.temperature holds an infinite number",
    ),
    "update draw set n = ?": (
        2**31,
        "draw.n holds a number that is not between 0 and 2,147,483,647",
    ),
    "update draw set failed = ?": (-1, "draw.failed holds a number that is not between"),
    "insert into job (uid, kind, spec, state, created_at) values (x'00', 'sample', ?, 'queued', "
    "'')": (
        '{"temperature": NaN}',
        "job.spec holds a text that is no JSON",
    ),
    "update instrument set id = ?": (10**20, "a number has more digits than a store can hold"),
}


@pytest.mark.parametrize("sql", WRITES)
def test_a_wrong_value_is_refused_however_it_is_written(path: Path, sql: str) -> None:
    value, words = WRITES[sql]
    with Store.open(path) as store:
        before = store.connection.execute("select * from sampling").fetchall()
        with pytest.raises(StoreError, match=words), store.write() as connection:
            connection.execute(sql, (value,))
        assert store.connection.execute("select * from sampling").fetchall() == before
    assert damage(path) == ""


def test_rows_that_are_written_by_the_million_are_checked_where_they_are_written() -> None:
    assert checked_count(MOST_ANSWERS) == MOST_ANSWERS
    assert checked_confidence(None) is None
    for number in (-1, MOST_ANSWERS + 1):
        with pytest.raises(StoreError, match="equal answers"):
            checked_count(number)
    for confidence in (math.inf, math.nan):
        with pytest.raises(StoreError, match="no finite number"):
            checked_confidence(confidence)


def test_a_job_with_a_number_that_is_none_is_not_stored(path: Path) -> None:
    with Store.open(path) as store:
        for number in (math.nan, math.inf):
            with pytest.raises(StoreError, match=r"job\.spec"):
                store.jobs.create("sample", {"temperature": number}, 1)
        assert [job.kind for job in store.jobs.list()] == ["infer"], "that of the fixture"


DAMAGE = {
    "update sampling set temperature = 9e999": "sampling.temperature holds an infinite number",
    "update draw set n = 9000000000": "draw.n holds a number that is not between",
    "update response set count = 9000000000": "response.count holds a number that is not between",
}


@pytest.mark.parametrize("sql", DAMAGE)
def test_a_store_that_has_a_wrong_value_is_named_and_rescued_without_it(
    path: Path, tmp_path: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)
        connection.commit()
    assert damage(path).startswith(DAMAGE[sql])
    code, _, err = run(capsys, "show", path, "reliability")
    assert code == 0 or "--rescue NEW" in err
    result = rescue_rows(
        path, tmp_path / "new.db", lambda new: open_database(new, create=False, quiet=True)[0]
    )
    assert result.refused or result.replaced
    assert damage(tmp_path / "new.db") == "", "neither the value nor a row about it"
    Store.open(tmp_path / "new.db").close()


@pytest.mark.parametrize("known", ["temperature", "top_p"])
def test_answers_under_a_sampling_with_a_wrong_number_are_rescued(
    path: Path, tmp_path: Path, known: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(path) as store:
        (before,) = store.runs.list("reliability")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"update sampling set {known} = 9e999")
        connection.commit()
    new = tmp_path / "new.db"
    code, out, err = run(capsys, "doctor", path, "--rescue", new)
    assert (code, err) == (0, "")
    assert f"sampling.{known}: 1 wrong value now not known; its answers are kept" in unfolded(out)
    with Store.open(new) as store:
        (after,) = store.runs.list("reliability")
        rows = store.connection.execute("select key from sampling").fetchall()
    assert (after.responses, after.sampling.known(known)) == (before.responses, None)
    assert after.sampling.key in {key for (key,) in rows}
    assert "the rest not known" in str(after.sampling)


@pytest.mark.parametrize(
    "act", [("jobs", "resume", "1", "--yes"), ("jobs", "retry", "1"), ("run", "--again", "1")]
)
def test_a_job_whose_settings_were_lost_says_so(
    path: Path, act: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "update job set spec = '{}', kind = 'sample', state = 'cancelled' where id = 1"
        )
        connection.commit()
    code, _, err = run(capsys, act[0], path, *act[1:])
    assert code in (1, 2)
    assert "job 1 cannot go on: its settings were damaged" in err


def test_a_wrong_value_that_has_a_stand_in_costs_no_row(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def count_rows(store: Path) -> list[int]:
        tables = ("job", "attempt", "draw", "response", "statement", "wording")
        with closing(sqlite3.connect(store)) as connection:
            return [
                connection.execute(f"select count(*) from {table}").fetchone()[0]
                for table in tables
            ]

    with closing(sqlite3.connect(path)) as connection:
        n_jobs = connection.execute("update job set spec = '{', failures = 'x'").rowcount
        connection.execute("update statement set tags = '['")
        connection.commit()
    new = tmp_path / "new.db"
    code, out, err = run(capsys, "doctor", path, "--rescue", new)
    assert code == 0, err
    assert f"job.spec: {n_jobs} wrong value" in out
    assert "left out" not in out
    assert count_rows(new) == count_rows(path)
    assert min(count_rows(new)) > 0
    for verb in (("jobs",), ("show", "reliability"), ("statements",)):
        code, _, err = run(capsys, verb[0], new, *verb[1:])
        assert code == 0, err
