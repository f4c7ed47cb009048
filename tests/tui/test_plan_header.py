"""Above figures it stands whether they are judged as a frozen plan says, whatever is chosen on the
screen.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.cli.test_plan_command import GO, freeze
from tests.tui.audit_runs import AuditScreen
from tests.tui.conftest import shown
from tests.tui.test_rulings_screen import press, settle
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as subjects
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.options_dialog import ChoicesScreen
from workbench.tui.results.result_screen import screen_of


@pytest.fixture
def planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store that was asked by a plan which judges by the published rule."""
    path = tmp_path / "demo.db"
    assert run(capsys, "init", path, "--demo")[0] == 0
    assert run(capsys, "run", path, "--plan", freeze(capsys, path), *GO)[0] == 0
    return path


def header(app: WorkbenchApp) -> str:
    return " ".join(shown(app, "#header").split())


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_judging_otherwise_than_planned_is_said_above_the_figures(
    planned: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(planned, start="audit")
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        assert isinstance(app.screen, AuditScreen)
        assert ", frozen" in header(app), (
            "a narrow terminal cuts the line of a plan that was followed; n has all of it"
        )
        assert "deviations" not in header(app)
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)
        app.screen.choices.highlighted = app.screen.choices.get_option_index("as_published:")
        await press(app, pilot, "space", "enter")
        assert "as_published: planned no, done yes" in header(app)
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)
        app.screen.choices.highlighted = app.screen.choices.get_option_index("as_published:")
        await press(app, pilot, "space", "enter")
        assert "deviations" not in header(app)


@pytest.mark.e2e
async def test_leaving_rulings_out_is_another_judgement_than_planned(planned: Path) -> None:
    with Store.open(planned) as store:
        (ref, *_) = [line.ref for line in store.instruments.lines("veldania")]
        thing = subjects.statement_subject(store, "veldania", ref)
        subjects.add_ruling(
            store, thing, RulingVerdict.EXCLUDED, auditor="eva", reason="odd", reading=None
        )
    app = WorkbenchApp(planned, start="audit")
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(app, pilot)
        assert "rulings of auditors: excluded 1" in header(app), "decided afterwards"
        assert "without_rulings" not in header(app)
        await press(app, pilot, "A")
        assert "without_rulings: planned no, done yes" in header(app)


@pytest.mark.e2e
async def test_consistency_judged_from_the_same_answers_says_it_too(planned: Path) -> None:
    app = WorkbenchApp(planned)
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(app, pilot)
        await app.push_screen(screen_of("consistency"))
        await settle(app, pilot)
        assert "points as planned." in header(app)
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)
        app.screen.choices.highlighted = app.screen.choices.get_option_index("as_published:")
        await press(app, pilot, "space", "enter")
        assert "as_published: planned no, done yes" in header(app)
