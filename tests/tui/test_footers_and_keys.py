"""The line below a screen and F1 say the same: what the one shows the other lists, and what is
listed can be done.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.stores.test_review import odd
from tests.tui.audit_runs import audited
from tests.tui.bias_stores import full
from tests.tui.conftest import screen_text, until
from tests.tui.test_rulings_screen import press, settle
from workbench.tui.app import WorkbenchApp, key_list
from workbench.tui.keymap import effect_of
from workbench.tui.widgets.frame import Keys

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
MODES = (
    "home",
    "statements",
    "jobs",
    "annotate",
    "audit",
    "consistency",
    "results",
    "questionnaire",
    "response_bias",
)
BELOW = (
    ("audit", "enter"),
    ("audit", "enter", "enter"),
    ("audit", "V"),
    ("audit", "V", "tab"),
    ("audit", "V", "n"),
    ("audit", "L"),
    ("statements", "enter"),
    ("annotate",),
)


def footer(screen: Screen[object]) -> list[tuple[str, str]]:
    """Return the keys that the line below a screen shows, with what they are called there."""
    return [(one.key, one.description) for _, one in screen.query_one(Keys).placed]


async def agrees(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    """Assert that what the footer shows stands in the list of keys, and that there is something
    behind every key.
    """
    screen = app.screen
    await until(pilot, lambda: bool(footer(screen)))
    listed, active = key_list(app).plain, screen.active_bindings
    lines = " ".join(listed.split())
    for key, called in footer(screen):
        found = active[key]
        assert found.enabled, (
            f"{type(screen).__name__}: {called} is in the footer and cannot be done"
        )
        assert found.binding.system or effect_of(found.binding) in lines, (
            f"{type(screen).__name__}: F1 lacks {called}"
        )
        keys = app.get_key_display(found.binding)
        assert keys in lines or set(keys.split()) <= set(lines.split()), (
            "one line for all, or each key on its own"
        )
    for found in active.values():
        name = found.binding.action.partition("(")[0].rpartition(".")[2]
        if found.enabled and found.binding.description:
            known = [of for of in (found.node, screen, app) if hasattr(of, f"action_{name}")]
            assert known, (
                f"{type(screen).__name__}: F1 lists {found.binding.description}, which nothing does"
            )


@pytest.mark.e2e
@SIZES
async def test_footers_and_the_list_of_keys_agree_on_every_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = audited(full(tmp_path / "full.db"), odd)
    for mode in MODES:
        app = WorkbenchApp(path, start=mode, annotator="otto")
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await agrees(app, pilot)
    for mode, *keys in BELOW:
        app = WorkbenchApp(path, start=mode, annotator="otto")
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await press(app, pilot, *keys)
            await agrees(app, pilot)


@pytest.mark.e2e
async def test_f1_lists_the_zoom_where_something_is_drawn_and_undo_where_somebody_can_rule(
    tmp_path: Path,
) -> None:
    path = audited(tmp_path / "audited.db", odd)
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        assert "Undo your last ruling" not in key_list(app).plain
        await press(app, pilot, "a")
        assert "zoom" in key_list(app).plain
        await press(app, pilot, "V")
        assert "zoom" not in key_list(app).plain
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(app, pilot)
        assert "Undo your last ruling" in key_list(app).plain
        await until(pilot, lambda: "z Undo ruling" in screen_text(app))
