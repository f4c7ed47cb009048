"""Rows are written from a screen of results, by a process of its own: what, as what, and whose
names.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from textual.widgets import Input, Select

from stores.core.store import Store
from tests.tui import books
from tests.tui.audit_runs import AuditScreen, audited
from tests.tui.conftest import screen_text, shown, until
from workbench.tidy.columns import COUNTED_ON_THE_WAY, RowSelection, stored
from workbench.tidy.export import KINDS as KINDS_OF_ROWS
from workbench.tidy.export import WRITERS
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.command_dialog import FORMATS, KINDS, RowsDialog


async def opened(app: WorkbenchApp, pilot: object) -> RowsDialog:
    await books.begin(app, pilot, AuditScreen)  # type: ignore[arg-type]
    await pilot.press("D")  # type: ignore[attr-defined]
    await until(pilot, lambda: isinstance(app.screen, RowsDialog))  # type: ignore[arg-type]
    dialog = app.screen
    assert isinstance(dialog, RowsDialog)
    await until(pilot, lambda: "stored" in shown(app, "#note"))  # type: ignore[arg-type]
    return dialog


def choose(dialog: RowsDialog, **values: str) -> None:
    for name, value in values.items():
        dialog.query_one(f"#{name}", Select).value = value


def test_what_can_be_chosen_is_what_the_command_takes() -> None:
    assert {value for _, value in KINDS[:-1]} == set(KINDS_OF_ROWS)
    assert set(KINDS[-1][1].split(",")) == set(KINDS_OF_ROWS)
    assert [value for _, value in FORMATS] == list(WRITERS)


def test_a_store_says_how_much_it_has(tmp_path: Path) -> None:
    with Store.open(audited(tmp_path / "audit.db")) as store:
        (answers,) = store.connection.execute("select sum(count) from response").fetchone()
        assert stored(store, "answers") == (answers, f"{answers:,} answers by 1 model are stored.")
        labels = len(list(KINDS_OF_ROWS["labels"].read(store, RowSelection())))
        assert stored(store, "labels") == (labels, f"{labels} labels by people are stored.")
        assert stored(store, "rulings") == (0, "0 rulings by auditors are stored.")
        assert stored(store, "figures") == (None, COUNTED_ON_THE_WAY)


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_answers_are_written_counted_and_refused_where_the_folder_is_taken(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")
    async with app.run_test(size=size) as pilot:
        dialog = await opened(app, pilot)
        said = " ".join(screen_text(app).split())
        assert "answers: what models said" in said
        assert "answers by 1 model are stored." in said
        await pilot.press("f5")
        await until(pilot, lambda: "✓" in shown(app, "#note"), 60)
        with (tmp_path / "audit-rows" / "answers.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert f"{len(rows):,} rows of answers" in " ".join(shown(app, "#note").split())
        assert (tmp_path / "audit-rows" / "dictionary.csv").exists()
        await pilot.press("f5")
        await until(pilot, lambda: "✗" in shown(app, "#note"), 60)
        assert "the folder holds" in " ".join(shown(app, "#note").split())
        choose(dialog, what="verdicts", format="jsonl", people="names")
        dialog.query_one("#folder", Input).value = str(tmp_path / "verdicts")
        await pilot.press("f5")
        await until(pilot, lambda: "✓" in shown(app, "#note"), 60)
        lines = (tmp_path / "verdicts" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
        assert f"{len(lines):,} rows of verdicts" in " ".join(shown(app, "#note").split())
        assert "verdict" in json.loads(lines[0])
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_esc_stops_it_and_nothing_is_left(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await opened(app, pilot)
        choose(dialog, what="figures")
        dialog.query_one("#folder", Input).value = str(tmp_path / "out" / "deep")
        await pilot.press("f5")
        await until(pilot, lambda: dialog.query_one("#folder", Input).disabled)
        await pilot.press("escape")
        await until(
            pilot, lambda: "Stopped" in shown(app, "#note") or "✓" in shown(app, "#note"), 60
        )
        if "Stopped" in shown(app, "#note"):
            assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden" / "pyarrow"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not here')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{hidden.parent}:{Path(__file__).parents[2]}")
    app = WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await opened(app, pilot)
        choose(dialog, format="parquet")
        await pilot.press("f5")
        await until(pilot, lambda: "✗" in shown(app, "#note"), 60)
        assert "[data]" in " ".join(shown(app, "#note").split())
        assert not (tmp_path / "audit-rows").exists()
