"""Exported rows of answers come back by `import`: the same answers to the same prompts, each
once.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import new_store
from tests.tui.audit_runs import audited
from tests.tui.audit_runs import small as instrument
from workbench.errors import UsageError
from workbench.formats.answer_logs import EXPORTED, log_of
from workbench.formats.read import recognised
from workbench.pipeline.planning import spoken_name


def counts(path: Path) -> dict[str, dict[str, int]]:
    """Return prompt -> answer -> how often it was given."""
    with Store.open(path) as store:
        rows = store.connection.execute(
            "select q.key, x.body, sum(r.count) from response r join draw d on d.id = r.draw_id "
            "join prompt q on q.id = d.prompt_id join text x on x.id = r.text_id group by 1, 2"
        )
        found: dict[str, dict[str, int]] = {}
        for key, text, n in rows:
            found.setdefault(key.hex(), {})[text] = n
    return found


@pytest.mark.e2e
@pytest.mark.parametrize(
    "layout", [("csv",), ("csv", "--expand"), ("jsonl",), ("parquet", "--expand")]
)
def test_exported_answers_come_back(
    tmp_path: Path, layout: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path = audited(tmp_path / "a.db")
    assert (
        run(capsys, "export", path, tmp_path / "rows", "--what", "answers", "--format", *layout)[0]
        == 0
    )
    file = tmp_path / "rows" / f"answers.{layout[0]}"
    assert log_of(file) == EXPORTED
    other = tmp_path / "b.db"
    with new_store(other) as store:
        store.instruments.add(instrument())
    code, out, err = run(capsys, "import", other, file)
    assert (code, "left out" in out) == (0, False), err
    assert counts(other) == counts(path)


def test_a_table_whose_statements_are_names_is_no_list_of_statements(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "statement,dimension,wording\na,economic,Taxes should rise.\na,economic,Taxes should go "
        "up.\n"
    )
    with pytest.raises(UsageError):
        recognised(path)
    path.write_text(
        "statement,dimension\nTaxes should rise.,economic\nPorts should close.,cultural\n"
    )
    assert recognised(path) == "compass"


@pytest.mark.parametrize(
    ("model", "name"), [("imported:org/small", "small"), ("imported:m", "m"), ("m", "m")]
)
def test_a_prompt_calls_an_imported_model_by_its_name(model: str, name: str) -> None:
    assert spoken_name(model) == name


@pytest.mark.parametrize(
    ("column", "why"),
    [("wording", ""), ("statement", "texts go in the column wording (--map wording=statement)")],
)
def test_a_statement_is_a_name_and_a_wording_is_a_text(
    tmp_path: Path, column: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = audited(tmp_path / "a.db", model="asked-here")
    [text] = [
        w.text
        for s in instrument().statements
        if s.ref == "soc-07"
        for w in s.wordings
        if str(w.variant) == "original"
    ]
    row = {
        column: text,
        "template": "personal-1",
        "order": "printed",
        "answer": "Beneficial.",
        "model": "m",
    }
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(row) + "\n")
    code, out, err = run(capsys, "import", store, file, "--audit", "reliability")
    assert code == (2 if why else 0), out + err
    assert why in err
