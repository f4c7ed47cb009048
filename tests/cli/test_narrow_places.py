"""Names that are longer than a file's, and terminals without the characters of a text."""

from __future__ import annotations

import io
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.tui.audit_runs import audited
from workbench.cli import main
from workbench.domain.names import LONGEST_STEM, file_stem


@pytest.mark.parametrize(
    "words",
    [
        ("show", "reliability"),
        ("show", "consistency"),
        ("review",),
        ("help", "reliability"),
        ("nonsense–",),
    ],
)
def test_an_output_in_ascii_shows_what_it_lacks_as_numbers(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = audited(tmp_path / "audit.db")
    outputs = {
        name: io.TextIOWrapper(io.BytesIO(), encoding="ascii") for name in ("stdout", "stderr")
    }
    with monkeypatch.context() as patch:
        for name, output in outputs.items():
            patch.setattr(sys, name, output)
        code = main(
            [words[0], *([] if words[0] in ("help", "nonsense–") else [str(path)]), *words[1:]]
        )
    written = ""
    for output in outputs.values():
        output.seek(0)
        written += output.read()
    assert code in (0, 2)
    assert "\\u2013" in written or "\\xb7" in written


def test_a_name_of_a_file_is_short_and_of_one_thing_alone() -> None:
    long, other = file_stem(["cells", "ä" * 700]), file_stem(["cells", "ä" * 701])
    assert long != other
    assert max(len(name.encode()) for name in (long, other)) <= LONGEST_STEM
    assert file_stem(["cells", "gpt-4.1"]) == "cells-gpt_4.1", "short names are as they were"


@pytest.mark.e2e
def test_a_report_has_a_file_for_each_answer_of_models_with_long_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = audited(tmp_path / "audit.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update model set name = ?", ("ß/m" * 230,))
        connection.commit()
    code, _, err = run(
        capsys, "report", path, tmp_path / "report", "--answers", "all", "--every-file"
    )
    assert (code, err) == (0, "")
    names = [file.name for file in (tmp_path / "report").rglob("*") if file.is_file()]
    assert any(name.startswith("001-") for name in names)
    assert max(len(name.encode()) for name in names) < 200
    folder = tmp_path / "csv"
    assert run(capsys, "show", path, "reliability", "--csv", folder)[0] == 0
    assert max(len(file.name.encode()) for file in folder.iterdir()) < 200
