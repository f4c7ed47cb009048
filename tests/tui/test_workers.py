"""The contract by which screens read and write the store: `worker` and `with_store`."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from stores.core.store import Store
from tests.tui.conftest import flowing, until
from workbench.errors import UsageError
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.base import StoreScreen, worker


class Reading(StoreScreen):
    """Reads when a test lets it."""

    PLACE = "reading"

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    async def come(self, name: str, may: Event) -> None:
        def load(store: Store) -> str:
            assert may.wait(60)
            return f"{name}: {', '.join(store.instruments.names())}"

        self.shown.append(await self.with_store(load))

    @worker("look")
    async def look(self, name: str, may: Event) -> None:
        await self.come(name, may)

    @worker("act", newest=False)
    async def write(self, name: str, may: Event) -> None:
        await self.come(name, may)

    @worker("look")
    async def fail(self) -> None:
        def load(_: Store) -> None:
            raise UsageError("nothing of that name")

        await self.with_store(load)


def now() -> Event:
    may = Event()
    may.set()
    return may


async def test_the_newest_reading_is_shown_and_every_write_is_followed(path: Path) -> None:
    app, late = WorkbenchApp(path), Event()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        screen.look("first", late)
        screen.look("second", now())
        await until(pilot, lambda: screen.shown == ["second: small"])
        screen.write("third", late)
        screen.write("fourth", now())
        await until(pilot, lambda: screen.shown[1:] == ["fourth: small"])
        late.set()
        await until(pilot, lambda: screen.shown[1:] == ["fourth: small", "third: small"])


async def test_a_screen_that_was_left_does_not_go_on(path: Path) -> None:
    app, late = WorkbenchApp(path), Event()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        started = screen.look("first", late)
        app.pop_screen()
        await until(pilot, lambda: started.is_finished)
        late.set()
        await pilot.pause()
        assert screen.shown == []


async def test_what_cannot_be_read_is_said_on_the_screen(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        screen.fail()
        await until(pilot, lambda: "nothing of that name" in flowing(app))
