"""A report is written from a screen of results, by a process of its own: with progress, stopped, or
refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui import books
from tests.tui.audit_runs import AuditScreen, audited
from tests.tui.conftest import screen_text, shown, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.command_dialog import ReportDialog, free_folder


def test_a_folder_is_named_after_the_store_and_is_free(tmp_path: Path) -> None:
    assert free_folder(tmp_path / "audit.db") == tmp_path / "audit-report"
    (tmp_path / "audit-report").mkdir()
    assert free_folder(tmp_path / "audit.db") == tmp_path / "audit-report-2"


@pytest.mark.e2e
async def test_a_report_is_written_and_its_page_is_named(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ReportDialog))
        assert "page for any browser" in " ".join(screen_text(app).split())
        await pilot.press("enter")
        await until(pilot, lambda: "✓" in shown(app, "#note"), 90)
        page = tmp_path / "audit-report" / "report.html"
        assert page.exists()
        await pilot.press("enter")
        await until(pilot, lambda: "✗" in shown(app, "#note"), 60)
        assert "the folder holds" in " ".join(shown(app, "#note").split())
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_esc_stops_it_and_nothing_is_left(tmp_path: Path) -> None:
    app = WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ReportDialog))
        dialog = app.screen
        assert isinstance(dialog, ReportDialog)
        dialog.query_one("#folder", Input).value = str(tmp_path / "out" / "deep")
        await pilot.press("enter")
        await until(
            pilot, lambda: "…" in shown(app, "#note") and "starting" not in shown(app, "#note"), 60
        )
        await pilot.press("escape")
        await until(
            pilot, lambda: "Stopped" in shown(app, "#note") or "✓" in shown(app, "#note"), 60
        )
        if "Stopped" in shown(app, "#note"):
            assert not list((tmp_path / "out").iterdir())
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)
