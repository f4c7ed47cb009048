"""B on a screen of results: runs are marked, and stand side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.core.store import Store
from tests import template_stores
from tests.cli.test_bias_compare import FIRST, STOPPED, WHOLE
from tests.template_stores import play
from tests.tui.audit_runs import AuditScreen
from tests.tui.bias_stores import asked, trained
from tests.tui.conftest import screen_text, shown, until
from tests.tui.test_bias_screen import begin, press, settled
from workbench.audits.reliability.pooled import answers_words, format_share, pooled_verdicts
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.tui.app import WorkbenchApp
from workbench.tui.comparison.choice import CompareScreen
from workbench.tui.comparison.screen import ComparisonScreen
from workbench.tui.kit.command_dialog import ReportDialog


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """One model in three versions."""
    path = play(tmp_path / "versions.db", [("ask", "one chat", "en")])
    with Store.open(path) as store:
        for revision in ("r2", "r3"):
            template_stores.ask(store, "one", "chat", "en", template_stores.REFS, revision=revision)
    return path


@pytest.mark.e2e
async def test_runs_are_marked_in_a_list_and_compared(versions: Path) -> None:
    app = WorkbenchApp(versions, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and settled(app))
        await press(app, pilot, "B")
        dialog = app.screen
        assert isinstance(dialog, CompareScreen)
        assert "one · r1" in screen_text(app)
        await press(app, pilot, "space", "enter")
        assert app.screen is dialog, "one run alone compares with nothing"
        assert "mark two or more" in screen_text(app)
        await press(app, pilot, "down", "space", "down", "space", "enter")
        assert isinstance(app.screen, ComparisonScreen)
        assert "What differs: version." in shown(app, "#header")
        await press(app, pilot, "tab", "tab", "tab", "tab", "tab")
        assert "▸over time" in shown(app, "#tabs")
        assert "revision r2" in screen_text(app)
        await press(app, pilot, "W")
        assert isinstance(app.screen, ReportDialog)
        assert "one · r1, one · r2, one · r3 stand side by side." in " ".join(
            shown(app, "#note").split()
        )
        await press(app, pilot, "enter")
        await until(pilot, lambda: "✓" in shown(app, "#note"), 90)
        page = (versions.parent / f"{versions.stem}-report" / "report.html").read_text(
            encoding="utf-8"
        )
        assert "Reliability side by side: one · r1, one · r2, one · r3" in page
        await press(app, pilot, "escape", "escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_two_models_are_marked_already_and_what_did_not_change_comes_on_demand(
    tmp_path: Path,
) -> None:
    store = asked(tmp_path / "bias.db", models=(WHOLE,))
    path = trained(asked(store, models=(STOPPED,), only=FIRST), test=False)
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(100, 30)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "B", "enter")
        assert isinstance(app.screen, ComparisonScreen)
        assert "8 statements asked of all; left out: not asked of all: gauche-7b 8." in shown(
            app, "#header"
        )
        await press(app, pilot, "tab", "enter")
        assert "statements whose verdict changed" in screen_text(app), (
            "Enter leads to the statements"
        )
        await press(app, pilot, "E")
        assert "WVS-" in screen_text(app), "a statement that one model alone was asked"


@pytest.mark.e2e
async def test_a_comparison_opens_on_its_first_table(tmp_path: Path, versions: Path) -> None:
    path = play(tmp_path / "two.db", [("ask", "one chat", "en"), ("ask", "two chat", "en")])
    app = WorkbenchApp(versions, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and settled(app))
        await press(app, pilot, "B", "space", "down", "space", "enter", *["tab"] * 5)
        assert "▸over time" in shown(app, "#tabs")
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and settled(app))
        await press(app, pilot, "B", "enter")
        assert "▸runs" in shown(app, "#tabs"), "these two are no versions of one model"
        assert isinstance(app.screen, ComparisonScreen)
        assert app.screen.view.sheet is not None


@pytest.mark.e2e
async def test_runs_are_compared_by_their_pooled_shares_with_their_numbers_of_answers(
    tmp_path: Path,
) -> None:
    path = play(tmp_path / "two.db", [("ask", "one chat", "en"), ("ask", "two chat", "en")])
    with Store.open(path) as store:
        reports = {
            run.named: run_verdicts(store, run).report for run in store.runs.list("reliability")
        }
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(160, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and settled(app))
        await press(app, pilot, "B", "enter")
        assert "▸runs" in shown(app, "#tabs")
        assert isinstance(app.screen, ComparisonScreen)
        lines = screen_text(app).splitlines()
        [header] = [line for line in lines if "keep their stance" in line]
        assert "answers a prompt" in header
        for name, report in reports.items():
            [line] = [line for line in lines if line.strip("│ ").startswith(name)]
            assert format_share(pooled_verdicts(report))[0].split(" of ")[0] in " ".join(
                line.split()
            )
            assert f" {answers_words(report)} " in line
