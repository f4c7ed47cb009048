"""A person at the screen of an annotation session, for tests: keys count as soon as an item is
painted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.conftest import flowing, screen_text, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.session_screen import SessionScreen
from workbench.tui.widgets.frame import TitleBar


@dataclass
class Seat:
    """A person at the screen."""

    app: WorkbenchApp
    pilot: Pilot[Any]
    screen: Any

    @property
    def rest(self) -> bool:
        """Whether a key pressed now would count."""
        return bool(self.screen.ready)

    async def press(self, *keys: str) -> None:
        """Press keys, each when the item before it is painted."""
        for key in keys:
            await self.until(lambda: self.rest)
            await self.pilot.press(key)
        await self.until(lambda: self.rest)

    async def until(self, holds: Callable[[], object]) -> None:
        await until(self.pilot, holds)

    async def begin(self) -> None:
        """Go on from the introduction of a survey."""
        await self.until(lambda: "Enter begins." in self.text)
        await self.pilot.press("enter")
        await self.until(lambda: self.screen.ready)

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def words(self) -> str:
        """The same, however its lines are wrapped."""
        return flowing(self.app)

    @property
    def note(self) -> str:
        return self.screen.query_one(TitleBar).note

    @property
    def item(self) -> str:
        """The text that is labelled."""
        return self.screen.item.text


@asynccontextmanager
async def at_screen(
    path: Path,
    screen: SessionScreen[Any],
    person: str | None = None,
    size: tuple[int, int] = (80, 24),
) -> AsyncIterator[Seat]:
    app = WorkbenchApp(path, annotator=person)
    async with app.run_test(size=size) as pilot:
        await app.push_screen(screen)
        yield Seat(app, pilot, screen)
