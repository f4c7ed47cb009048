"""Personas in the form of a new job: a file is read, shown in the plan, and asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button, Input

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.tui.conftest import shown, until
from workbench.domain.designs import Design
from workbench.jobs import launch
from workbench.tui.app import WorkbenchApp

FILE = """
[[persona]]
id = "nurse"
text = "You are a nurse."
"""


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_form_shows_the_personas_of_a_file_and_asks_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda _path, _job: None)
    path, file = tmp_path / "audit.db", tmp_path / "personas.toml"
    with new_store(path) as store:
        store.instruments.add(instrument())
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "72 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        app.screen.query_one("#personas", Input).value = str(file)
        await until(pilot, lambda: "cannot be read" in shown(app, "#plan"))
        assert app.screen.query_one("#start", Button).disabled
        file.write_text(FILE, encoding="utf-8")
        app.screen.query_one("#personas", Input).value = f"{file} "
        await until(pilot, lambda: "nurse (persona): You are a nurse." in shown(app, "#plan"))
        assert "144 prompts planned" in shown(app, "#plan")
        await pilot.press("f5")
        await until(pilot, lambda: not app.screen.query("#personas"))
    with Store.open(path) as store:
        (job,) = store.jobs.list()
    assert [(one.name, one.instruction) for one in Design.from_json(job.spec).personas] == [
        ("nurse", "You are a nurse.")
    ]


@pytest.mark.e2e
async def test_a_form_like_a_job_has_its_personas(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    told = Design.from_json(
        {
            **Design("small", "scripted").as_json(),
            "personas": [
                {
                    "id": "owl",
                    "kind": "system",
                    "turns": [{"role": "system", "text": "You are an owl."}],
                }
            ],
        }
    )
    with new_store(path) as store:
        store.instruments.add(instrument())
        job = store.jobs.create("sample", told.as_json(), 1)
        attempt = store.jobs.claim(job, "test")
        store.jobs.finish(job, attempt, "failed")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(140, 40)) as pilot:
        from workbench.tui.jobs.job_form import JobForm

        await pilot.pause()
        await app.push_screen(JobForm(like=1))
        await until(pilot, lambda: "owl (system): You are an owl." in shown(app, "#plan"))
