"""Jobs are started from a form that says what they come to, watched, stopped and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button, Input, SelectionList

from stores.store import Store
from tests.tui.conftest import made, screen_text, shown, until
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling
from workbench.errors import UsageError
from workbench.jobs import launch
from workbench.tui.app import WorkbenchApp
from workbench.tui.design_form import FormValues, as_design
from workbench.tui.screens.dialogs import ConfirmScreen, TextScreen
from workbench.tui.screens.job_form import JobForm
from workbench.tui.screens.jobs import JobsScreen


def state(path: Path, job: int) -> str:
    with Store.open(path) as store:
        return store.jobs.get(job).state


def queued(path: Path, samples: int = 2) -> int:
    with Store.open(path) as store:
        return launch.create(store, Design("small", "scripted", samples=samples))


async def test_no_jobs_yet_says_how_to_start_one(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "n starts one" in screen_text(app))


async def test_the_form_says_what_it_comes_to_before_anything_starts(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert "3 statements x 6 variants x 2 templates x 2 orders" in shown(app, "#plan")
        assert "72 prompts planned; 30 samples each = 2,160 answers" in shown(app, "#plan")
        app.screen.query_one("#statements", Input).value = "2"
        await until(pilot, lambda: "48 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#templates", SelectionList).toggle("personal-1")
        await until(pilot, lambda: "24 prompts planned" in shown(app, "#plan"))
        assert state_count(path) == 0


def state_count(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.jobs.list())


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("statements", "a-1,nowhere", "no statement 'nowhere'"),
        ("samples", "many", "'many' is not a whole number"),
        ("temperature", "0", "give more than 0"),
        ("model", " ", "give a name"),
    ],
)
async def test_the_form_says_what_cannot_be_and_does_not_start(path: Path, field: str, value: str, words: str) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one(f"#{field}", Input).value = value
        await until(pilot, lambda: words in shown(app, "#plan"))
        assert app.screen.query_one("#start", Button).disabled
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, JobForm)
    assert state_count(path) == 0


async def test_a_job_is_started_by_keyboard_alone_and_seen_to_its_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.screens.jobs.REFRESH_S", 0.1)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "model")
        await pilot.press("ctrl+u", *"scripted", "tab", *"a-1", "f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(pilot, lambda: "✓ done" in screen_text(app), 60)
        text = screen_text(app)
        assert "720/720" in text
        assert "unreadable" in text
        assert "answers are stored" in text
    assert state(path, 1) == "done"


async def test_what_is_stored_already_is_not_started_again(path: Path) -> None:
    from tests.tui.test_home import answered

    answered(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        await until(pilot, lambda: "Everything is stored already" in shown(app, "#plan"))
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, JobForm)
    assert state_count(path) == 1


async def test_the_form_fits_a_small_terminal(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "sampling: T 1" in screen_text(app))
        assert "Start  F5" in screen_text(app)
        assert "instrument" in screen_text(app)


async def test_cancelling_asks_first_and_no_is_the_answer_at_hand(path: Path) -> None:
    job = queued(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◌ queued" in screen_text(app))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("enter")
        await pilot.pause()
        assert state(path, job) == "queued"
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: "■ cancelled" in screen_text(app))
    assert state(path, job) == "cancelled"


async def test_a_cancelled_job_is_resumed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.screens.jobs.REFRESH_S", 0.1)
    monkeypatch.setattr("workbench.tui.screens.jobs.IDLE_TICKS", 1)
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.request_stop(job)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "R asks for the rest" in screen_text(app))
        await pilot.press("R")
        await until(pilot, lambda: "✓ done" in screen_text(app), 60)


async def test_a_done_job_offers_neither_cancel_nor_resume(path: Path) -> None:
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.finish(job, store.jobs.claim(job, "test"), "done", "[bold]all[/] stored \x1b[2J")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✓ done" in screen_text(app))
        assert "[bold]all[/] stored ␛[2J" in screen_text(app)
        await pilot.press("c", "R")
        await pilot.pause()
        assert isinstance(app.screen, JobsScreen)
        assert "c Cancel" not in screen_text(app)


async def test_the_log_is_shown_literally_and_at_its_end(path: Path) -> None:
    job = queued(path)
    log = launch.log_path(path, job)
    log.parent.mkdir()
    log.write_text("".join(f"line {n}\n" for n in range(100)) + "\x1b]0;title\x07 [/INST] last\n")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "␛]0;title␇ [/INST] last" in screen_text(app))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "line 0" in shown(app, "#text")


async def test_a_job_whose_worker_is_gone_is_said_to_be_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.claim(job, "test")
    monkeypatch.setattr("stores.jobs._alive", lambda *_: False)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "? lost" in screen_text(app))
        assert "R goes on with the rest" in screen_text(app)


async def test_the_form_of_an_empty_store_says_so(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "empty.db"), start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "holds no instrument yet" in shown(app, "#plan"))
        await pilot.press("escape")
        assert isinstance(app.screen, JobsScreen)


def test_the_form_is_a_design() -> None:
    values = FormValues("small", statements="2", samples="5", temperature="0.25", top_p="1", seed="7")
    design = as_design(values, ["a", "b", "c"])
    assert design == Design("small", "smollm2", samples=5, sampling=Sampling(0.25, 1.0), seed=7, statements=("a", "b"))


@pytest.mark.parametrize(
    "values",
    [
        FormValues("small", samples="0"),
        FormValues("small", temperature="inf"),
        FormValues("small", temperature="nan"),
        FormValues("small", top_p="1.5"),
        FormValues("small", seed="-1"),
        FormValues("small", statements="0"),
    ],
)
def test_what_cannot_be_asked_is_no_design(values: FormValues) -> None:
    with pytest.raises(UsageError):
        as_design(values, ["a"])
