"""`import` without a format, and with --dry-run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from workbench.data import shipped_instrument_folder


def test_a_dry_run_says_what_would_come_and_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.db"
    code, out, _ = run(capsys, "import", path, shipped_instrument_folder(), "--dry-run")
    assert code == 0
    assert "as --format csv" in out
    assert "Would import veldania: 56 statements (56 new" in out
    assert "for-01" in out
    assert "Nothing was written." in out
    assert not path.exists()


def test_what_was_foreseen_is_what_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.db"
    arguments = ("import", path, shipped_instrument_folder(), "--json")
    foreseen = json.loads(run(capsys, *arguments, "--dry-run")[1])
    done = json.loads(run(capsys, *arguments)[1])
    assert foreseen == done | {"written": False}
    with Store.open(path) as store:
        assert store.instruments.names() == ("veldania",)
    assert json.loads(run(capsys, *arguments, "--dry-run")[1])["unchanged"] == 56


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", "statement,topic,left_or_right,weight\nTax land.,tax,left,2\n"),
        ("mine.csv", "statement;topic;left_or_right;weight\nTax land.;tax;left;2\n"),
        ("mine.jsonl", '{"statement": "Tax land.", "topic": "tax", "left_or_right": "left", "weight": 2}\n'),
        ("mine.json", '[{"statement": "Tax land.", "topic": "tax", "left_or_right": "left", "weight": 2}]'),
    ],
)
def test_a_table_with_columns_of_its_own_comes_in_as_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / name)
    assert code == 2
    assert "original from statement" in err
    assert "ref from the number of the row" in err
    assert "left out: weight, which no column of statements is like" in err
    typed = next(line.split("workbench ")[1] for line in err.splitlines() if "--dry-run --map" in line)
    words = shlex.split(typed)
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "Tax land." in out
    code, out, _ = run(capsys, *(word for word in words if word != "--dry-run"), "--keep-map", tmp_path / "map.toml")
    assert code == 0
    with Store.open(tmp_path / "new.db") as store:
        [statement] = store.instruments.get("mine").statements
    assert (statement.ref, statement.topic, str(statement.leaning)) == ("1", "tax", "left")
    code, out, _ = run(capsys, "import", tmp_path / "new.db", tmp_path / name, "--map", tmp_path / "map.toml")
    assert (code, "1 unchanged" in out) == (0, True)
    assert "- columns: original from statement, leaning from left_or_right, ref from the number of the row; left" in out


def test_a_file_of_no_format_is_refused_and_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.md").write_text("# notes")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / "notes.md")
    assert code == 2
    assert "not a known format" in err
    assert not (tmp_path / "new.db").exists()


def test_a_survey_is_not_taken_for_statements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "survey.csv").write_text("CREGION,AGE,Q1,WEIGHT\n1,40,2,0.7\n", encoding="utf-8")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / "survey.csv")
    assert code == 2
    assert "Columns of other names: --map original=COLUMN" in err
    assert "negation" not in err
