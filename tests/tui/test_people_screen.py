"""Who the annotators and respondents are, on screen: a list, a form of optional fields, and
counts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.tui.books import by_parts, press, settled
from tests.tui.conftest import flowing, screen_text, shown, until
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import ORIGINAL
from workbench.tui.annotation.people import PeopleScreen, PersonForm
from workbench.tui.annotation.queues import QueuesScreen
from workbench.tui.app import WorkbenchApp

NAMES = ("[b]ana", "bo")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = instrument()
    survey = tuple(
        SurveyAnswer(name, made.statements[0].ref, ORIGINAL, agrees=True) for name in NAMES
    )
    with new_store(tmp_path / "people.db") as store:
        store.instruments.add(replace(made, survey=survey))
    return tmp_path / "people.db"


async def opened(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await app.push_screen(QueuesScreen())
    await until(pilot, lambda: isinstance(app.screen, QueuesScreen))
    await pilot.press("w")
    await until(pilot, lambda: isinstance(app.screen, PeopleScreen) and settled(app))


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_person_is_described_and_counted(path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        assert set(by_parts(app)) == {(name,) for name in NAMES}
        await press(app, pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, PersonForm))
        assert "[b]ana: respondent" in screen_text(app)
        form = app.screen
        form.query_one("#country", Input).value = "Italy"
        form.query_one("#education", Input).value = "master's"
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, PeopleScreen))
        await until(pilot, lambda: settled(app) and "country: Italy" in flowing(app))
        await press(app, pilot, "tab")
        assert by_parts(app)["respondent", "country", "Italy"]["people"] == "1"
        assert by_parts(app)["respondent", "country", ""]["people"] == "1"
        assert not any(name in shown(app, "#details") for name in NAMES)
    with Store.open(path) as store:
        assert [
            (one.field, one.value)
            for one in sorted(store.people.events(), key=lambda one: one.field)
        ] == [("country", "Italy"), ("education", "master's")]


@pytest.mark.e2e
async def test_a_field_that_is_emptied_is_taken_back_and_a_wrong_one_is_said(path: Path) -> None:
    with Store.open(path) as store:
        store.people.describe("bo", {"country": "Peru", "shoe_size": "40"}, recorded_by="bo")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await press(app, pilot, "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, PersonForm))
        form = app.screen
        assert form.query_one("#shoe_size", Input).value == "40"
        form.query_one("#country", Input).value = "x" * 201
        await pilot.press("f5")
        await until(pilot, lambda: "at most 200" in shown(app, "#said"))
        form.query_one("#country", Input).value = ""
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, PeopleScreen))
    with Store.open(path) as store:
        (bo,) = [one for one in store.people.list() if one.name == "bo"]
        assert bo.fields == {"shoe_size": "40"}


@pytest.mark.e2e
async def test_where_nobody_is_there_it_says_so(tmp_path: Path) -> None:
    with new_store(tmp_path / "a.db") as store:
        store.instruments.add(replace(instrument(), survey=(), issue_labels=()))
    app = WorkbenchApp(tmp_path / "a.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Nobody has annotated or answered yet." in screen_text(app)
