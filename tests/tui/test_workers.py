"""The contract by which screens read and write the store: `worker` and `with_store`."""

from __future__ import annotations

from asyncio import get_running_loop, wait_for
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from tests.tui.conftest import at_rest, flowing, until
from workbench.errors import UsageError
from workbench.tui.annotation import queues
from workbench.tui.annotation.queues import QueuesScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.home import home
from workbench.tui.home.home import HomeScreen
from workbench.tui.jobs import jobs
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.kit.base import Background, StoreScreen, worker


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

    @worker("act", newest=False)
    async def carry_out(self, act: Callable[[Store], None]) -> None:
        await self.with_store(act)

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


async def test_writes_outlive_their_screen_also_those_that_wait_for_a_thread(path: Path) -> None:
    app, late = WorkbenchApp(path), Event()
    done: list[int] = []

    def numbered(number: int) -> Callable[[Store], None]:
        def act(_: Store) -> None:
            assert late.wait(60)
            done.append(number)

        return act

    async with app.run_test(size=(80, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        started = [screen.carry_out(numbered(number)) for number in range(40)]
        await pilot.pause()
        app.pop_screen()
        await until(pilot, lambda: all(one.is_finished for one in started))
        late.set()
        await until(pilot, lambda: sorted(done) == list(range(40)))


async def test_a_write_that_fails_after_its_screen_was_left_is_said_on_the_next(path: Path) -> None:
    app, late = WorkbenchApp(path), Event()

    def act(_: Store) -> None:
        assert late.wait(60)
        raise UsageError("the word is taken")

    async with app.run_test(size=(140, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        started = screen.carry_out(act)
        await pilot.pause()
        app.pop_screen()
        await until(pilot, lambda: started.is_finished)
        late.set()
        await until(
            pilot, lambda: "What you began on the screen before was not done." in flowing(app)
        )


async def test_a_write_that_fails_after_the_program_has_ended_is_said_below_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app, late = WorkbenchApp(path), Event()

    def act(_: Store) -> None:
        assert late.wait(60)
        raise UsageError("the word is taken")

    async with app.run_test(size=(80, 24)) as pilot:
        screen = Reading()
        await app.push_screen(screen)
        screen.carry_out(act)
        await pilot.pause()
    late.set()
    await wait_for(get_running_loop().shutdown_default_executor(), 60)
    assert "was not done. the word is taken" in capsys.readouterr().err.lower()


@pytest.mark.parametrize("mode", ["home", "jobs", "annotate"])
async def test_a_screen_in_front_of_a_store_to_which_nobody_writes_reads_nothing(
    mode: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick reads nothing, until somebody writes; after a failure it tries again."""
    labelling_store(path, answers(3))
    app, reads = WorkbenchApp(path, mode), list[object]()
    with_store = Background.with_store

    async def counted(self: Background, load: Callable[[Store], Any], **how: bool) -> Any:
        reads.append(load)
        return await with_store(self, load, **how)

    monkeypatch.setattr(Background, "with_store", counted)
    for module in (home, jobs):
        monkeypatch.setattr(module, "IDLE_TICKS", 1)
    for module in (home, jobs, queues):
        monkeypatch.setattr(module, "REFRESH_S", 3600.0)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: reads and app.anchor is not None)
        screen = app.screen
        assert isinstance(screen, HomeScreen | JobsScreen | QueuesScreen)

        async def read_in(ticks: int) -> int:
            before = len(reads)
            for _ in range(ticks):
                screen.tick()
                await at_rest()
            return len(reads) - before

        await read_in(1)
        assert await read_in(20) == 0
        with Annotator.open(path, QUEUE, "ann") as person:
            item = person.next()
            assert item is not None
            person.label(item.unit, "agree")
        assert await read_in(20) >= 1
        assert await read_in(20) == 0
        screen.failed(UsageError("of no use"))
        assert await read_in(20) >= 1
