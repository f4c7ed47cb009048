"""What stands above every table of results, at first sight and at 80 columns: how much was
answered, who read it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from stores.core.store import Store
from tests.tui.audit_runs import AuditScreen, audited
from tests.tui.bias_stores import asked, trained
from tests.tui.books import SIZES, begin, press
from tests.tui.conftest import flowing
from workbench import registry
from workbench.audits.chosen_run import find_run
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.book_screen import BookScreen, headed
from workbench.tui.results.result_screen import screen_class

BiasScreen, ConsistencyScreen = (
    screen_class(registry.audit(name)) for name in ("bias_score", "consistency")
)


@pytest.fixture(scope="module")
def cancelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with verdicts on a part of what was planned."""
    path = audited(tmp_path_factory.mktemp("header") / "part.db")
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        prompts = [key for (key,) in store.connection.execute("select key from prompt")]
        store.runs.note_plan(run.model_id, run.sampling_id, prompts, 130)
    return path


@pytest.mark.e2e
@SIZES
@pytest.mark.parametrize(
    ("mode", "screen"), [("audit", AuditScreen), ("consistency", ConsistencyScreen)]
)
async def test_a_run_that_was_cancelled_says_so_above_every_table(
    cancelled: Path, mode: str, screen: type[BookScreen], size: tuple[int, int]
) -> None:
    app = WorkbenchApp(cancelled, start=mode)
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot, screen)
        for _ in range(3):
            assert "! Only 23.1 % of the plan was answered (" in flowing(app)
            assert "unreadable" in str(app.screen.query_one("#header", Static).content)
            await press(app, pilot, "tab")


@pytest.mark.e2e
async def test_a_poor_classifier_is_named_above_the_figures_that_rest_on_it(tmp_path: Path) -> None:
    app = WorkbenchApp(trained(asked(tmp_path / "poor.db"), right=0.4), start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot, BiasScreen)
        for _ in range(2):
            assert (
                "! The classifier bart-stance is too poor for reliable figures (macro F1 0."
                in flowing(app)
            )
            await press(app, pilot, "tab")


def test_warnings_are_whole_and_the_rest_is_as_much_as_fits() -> None:
    warning, long = f"! {'warned ' * 20}", "said " * 40
    first, cut = str(headed([warning, long, "who read", "third"], 78)).splitlines()
    assert first == warning
    assert len(cut) <= 78
    assert cut.endswith("said …"), "no word is cut"
    assert str(headed(["first", "second", "third"], 78)).splitlines() == ["first"]
    assert str(headed(["first", "second", "third"], 78, 2)).splitlines() == ["first", "second"]
    assert "\x1b" not in str(headed(["! \x1b[31mred"], 78))
