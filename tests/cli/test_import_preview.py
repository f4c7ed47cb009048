"""`import` without a format, and with --dry-run."""

from __future__ import annotations

import json
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
    ("name", "content", "example"),
    [
        ("mine.csv", "statement,topic,left_or_right,weight\nTax land.,tax,left,2\n", "ref,original"),
        ("mine.jsonl", '{"statement": "Tax land.", "left_or_right": "left", "weight": 2}\n', '{"ref": "tax-1", '),
    ],
)
def test_a_table_with_columns_of_its_own_is_told_what_to_rename(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, example: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / name)
    assert code == 2
    assert example in err
    told = [line for line in err.splitlines() if line.startswith("- ")]
    assert told == [
        "- rename statement to original",
        "- rename left_or_right to leaning",
        "- add ref",
        "- leave out weight, which no column of statements is like",
    ]


def test_a_file_of_no_format_is_refused_and_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.md").write_text("# notes")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / "notes.md")
    assert code == 2
    assert "not a known format" in err
    assert not (tmp_path / "new.db").exists()
