"""A store from somebody else whose labels are hostile is merged or refused, and leaves the other
store sound.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stores.core.rescue import damage
from tests.cli.test_commands import run
from tests.stores.test_exchange import label, stores_of

HOSTILE = (
    "update reading set label = char(27) || '[2J' where uid is not null",
    "update reading set label = '' where uid is not null",
    "update reading set at = 'not a time' where uid is not null",
    "update reading set at = '9999-12-31T23:59:59.999Z' where uid is not null",
    "update reading set confidence = 9e999 where uid is not null",
    "update reading set revision = 9223372036854775807 where uid is not null",
    "update reading set basis = x'01' where uid is not null",
    "update reading set elapsed_ms = -9223372036854775808 where uid is not null",
    "update reader set name = char(27) || name where kind = 'person'",
    "update reader set name = '' where kind = 'person'",
    "update codebook set body = '[]'",
    "update codebook set body = '{\"labels\": 5}'",
    "update codebook set key = x'', name = ''",
    "update text set body = cast(x'ff' as text)",
    "update text set key = cast(id || 'x' as blob)",
)


@pytest.mark.parametrize("sql", HOSTILE)
def test_hostile_labels_leave_a_store_sound(
    tmp_path: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = stores_of(tmp_path)
    label(ours, "ana", 1, 2)
    label(theirs, "bob", 2, 3)
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute(sql)
        connection.commit()
    code, out, err = run(capsys, "labels", ours, "--merge", theirs)
    assert code in (0, 1, 2)
    assert "\x1b" not in out + err
    assert damage(ours) == ""
    code, out, err = run(capsys, "labels", ours)
    assert code == 0, err
    assert "\x1b" not in out + err
    assert "ana" in out
