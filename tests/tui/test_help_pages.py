"""Pages of help are found in the palette by their titles, and read on screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import Hit

from tests.conftest import new_store
from tests.tui.conftest import screen_text, until
from workbench.help import topics
from workbench.tui.app import WorkbenchApp
from workbench.tui.commands import HelpProvider, PageScreen
from workbench.tui.home.home import HomeScreen


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_page_is_found_and_read(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "a.db"
    new_store(path).close()
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        provider = HelpProvider(app.screen)
        assert len([hit async for hit in provider.discover()]) == len(topics())
        for query in ("Faulborn", "faulborn-2025"):
            hits = [hit async for hit in provider.search(query) if isinstance(hit, Hit)]
            assert [hit.help for hit in hits] == ["faulborn-2025"]
        hits[0].command()
        await until(
            pilot, lambda: isinstance(app.screen, PageScreen) and "ACL 2025" in screen_text(app)
        )
        assert "workbench run STORE --audit bias_score --model MODEL" in screen_text(app)
        await pilot.press("pagedown", "j", "k", "escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
