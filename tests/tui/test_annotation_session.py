"""What all annotation sessions share: on disk before the next shows, never what nobody saw, undone
step by step.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual import events

from stores.annotation.annotator import Annotator
from stores.annotation.issue_annotator import IssueAnnotator
from stores.annotation.labels import Labels
from stores.annotation.respondent import SurveyRespondent
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, held, labelling_store, labels_of
from tests.tui.conftest import made, shown
from tests.tui.issue_stores import issue_store
from tests.tui.issue_stores import labels_of as issue_labels
from tests.tui.seats import Seat, at_screen
from tests.tui.test_adjudicate_screen import decisions, labelled, queued
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.issue_grid import IssueGridScreen
from workbench.tui.annotation.survey import SurveyScreen
from workbench.tui.kit import session_screen
from workbench.tui.kit.key_gate import LULL_S


@dataclass(frozen=True)
class Kind:
    """A kind of session: `a` and `d` are among its labels."""

    fill: Callable[[Path], object]
    screen: Callable[[], Any]
    said: tuple[str, str]
    "what is said of a and d"
    kept: Callable[[Path], list[Any]]
    "the labels on disk, in their order"
    labels: tuple[Any, Any]
    "what a and d are on disk"
    sight: Callable[[Any], object]
    "what is in sight"
    write: tuple[type, str] = (Annotator, "label")
    "what commits a label"
    read: tuple[type, str] = (Annotator, "next")
    "what reads the next item"
    elapsed: str = ""
    "the milliseconds on disk"


def agreements(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return [bool(row[0]) for row in connection.execute("select agrees from survey_answer")]


def disputed(path: Path) -> None:
    units = queued(path, ["Yes and no.", "I would rather not.", "It depends."])
    for person, label in (("Annabel", "agree"), ("Bartholomew", "neutral")):
        labelled(path, person, dict.fromkeys(units, label))


KINDS = {
    "queue": Kind(
        lambda path: labelling_store(path, answers(12)),
        lambda: AnnotateScreen(QUEUE, "ana"),
        ("agree", "disagree"),
        lambda path: [label for _, _, label in labels_of(path)],
        ("agree", "disagree"),
        lambda screen: screen.item.text,
        elapsed="select elapsed_ms from reading",
    ),
    "survey": Kind(
        lambda path: made(path, replace(instrument(), survey=())),
        lambda: SurveyScreen("small", None, "ana"),
        ("agree", "disagree"),
        agreements,
        (True, False),
        lambda screen: screen.item.text,
        (SurveyRespondent, "answer"),
        (SurveyRespondent, "next"),
        "select elapsed_ms from survey_event",
    ),
    "issues": Kind(
        issue_store,
        lambda: IssueGridScreen("small"),
        ("+1 open foreign policy", "−1 open foreign policy"),
        lambda path: list(issue_labels(path, "ana").values()),
        (1, -1),
        lambda screen: screen.table.cursor_coordinate,
        (IssueAnnotator, "put"),
        (IssueAnnotator, "pace"),
    ),
    "adjudication": Kind(
        disputed,
        lambda: AdjudicateScreen("q"),
        ("agree", "disagree"),
        lambda path: [label for _, label, *_ in decisions(path)],
        ("agree", "disagree"),
        lambda screen: screen.current.unit,
        (Labels, "decide"),
        (Labels, "judged"),
    ),
}
pytestmark = pytest.mark.usefixtures("no_pause")
ALL = pytest.mark.parametrize("kind", KINDS)
LABELLING = pytest.mark.parametrize("kind", ["queue", "survey", "issues"])
ONE_BY_ONE = pytest.mark.parametrize("kind", ["queue", "survey"])


@dataclass
class Place(Seat):
    """A person at the screen of a kind of session."""

    of: Kind

    @property
    def rest(self) -> bool:
        return not self.screen._busy and (
            isinstance(self.screen, AdjudicateScreen) or self.screen.ready
        )

    @property
    def sight(self) -> object:
        return self.of.sight(self.screen)


@asynccontextmanager
async def seated(path: Path, kind: str, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Place]:
    of = KINDS[kind]
    if not path.exists():
        of.fill(path)
    async with at_screen(path, of.screen(), "ana", size) as seat:
        if kind == "survey":
            await seat.begin()
        place = Place(seat.app, seat.pilot, seat.screen, of)
        await place.until(lambda: place.rest)
        yield place


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


class Gate:
    """Holds a verb of the store back once it is armed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, of: type, name: str):
        self.armed, self.reached, self.go = False, threading.Event(), threading.Event()
        original = getattr(of, name)

        def slow(person: Any, *args: Any, **named: Any) -> Any:
            if self.armed:
                self.reached.set()
                assert self.go.wait(30)
            return original(person, *args, **named)

        monkeypatch.setattr(of, name, slow)


@pytest.mark.e2e
@ONE_BY_ONE
async def test_a_label_is_in_the_file_before_the_next_item_shows(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = KINDS[kind]
    gate = Gate(monkeypatch, *of.read)
    async with seated(path, kind) as seat:
        first, gate.armed = seat.sight, True
        await seat.pilot.press("d")
        await seat.until(gate.reached.is_set)
        assert of.kept(path) == [of.labels[1]]
        assert seat.sight == first
        gate.go.set()
        await seat.until(lambda: seat.sight != first)


@pytest.mark.e2e
@ONE_BY_ONE
async def test_keys_pressed_while_a_label_is_saved_label_nothing(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = KINDS[kind]
    gate = Gate(monkeypatch, *of.write)
    async with seated(path, kind) as seat:
        first, gate.armed = seat.sight, True
        await seat.pilot.press("A")  # Caps Lock
        await seat.until(gate.reached.is_set)
        await seat.pilot.press("d", "d", "s", "d", "z")
        gate.go.set()
        await seat.until(lambda: seat.sight != first and seat.rest)
        seat.screen.still_waits()  # the clock ran out as the answer came
        await seat.until(lambda: "last: agree (saved) – z to undo" in seat.words)
    assert of.kept(path) == [of.labels[0]]


@pytest.mark.e2e
@ONE_BY_ONE
async def test_a_burst_of_keys_never_labels_an_item_that_was_not_painted(
    path: Path, kind: str
) -> None:
    """What a slow line delivers at once: all keys are in before the first is handled."""
    async with seated(path, kind) as seat:
        first, driver = seat.sight, seat.app._driver
        assert driver is not None
        for key in "addsadza":
            event = events.Key(key, key)
            event.set_sender(seat.app)
            driver.send_message(event)
        await seat.until(lambda: seat.sight != first and seat.rest)
        second = seat.sight
        for _ in range(5):
            await seat.pilot.pause()
        assert seat.sight == second
    assert KINDS[kind].kept(path) == [KINDS[kind].labels[0]]


@pytest.mark.e2e
@LABELLING
async def test_a_key_that_comes_sooner_than_anybody_reads_is_dropped(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with seated(path, kind) as seat:
        monkeypatch.setattr(session_screen, "GLANCE_S", 3600.0)
        first = seat.sight
        await seat.pilot.press("a", "d", "f")
        await seat.pilot.pause()
        assert seat.sight == first
    assert KINDS[kind].kept(path) == []


@pytest.mark.e2e
@LABELLING
async def test_undo_goes_back_step_by_step_and_withdraws(path: Path, kind: str) -> None:
    async with seated(path, kind) as seat:
        seen = []
        for key in ("a", "d", "a"):
            seen.append(seat.sight)
            await seat.press(key)
        for place, former in zip(reversed(seen), ("agree", "disagree", "agree"), strict=True):
            await seat.press("z")
            assert seat.sight == place
            assert kind == "issues" or all(
                words in seat.words
                for words in (
                    f"‹{former}›",
                    f"your previous label: {former}, withdrawn",
                    "last: undone",
                )
            )
        assert KINDS[kind].kept(path) == []
        await seat.pilot.press("z")
        await seat.until(lambda: "nothing to undo" in seat.words)
        for place in seen:
            assert seat.sight == place
            await seat.press("d")
    assert KINDS[kind].kept(path) == 3 * [KINDS[kind].labels[1]]


@pytest.mark.e2e
@ALL
async def test_a_label_that_could_not_be_saved_says_so_and_the_same_key_tries_again(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = KINDS[kind]
    monkeypatch.setattr("stores.core.connection.BUSY_TIMEOUT_MS", 1000)
    async with seated(path, kind) as seat:
        first = seat.sight
        with held(path):
            await seat.pilot.press("d")
            await seat.until(lambda: "waiting for the store" in shown(seat.app, "#pace"))
            await seat.until(lambda: f"{of.said[1]} was NOT saved" in shown(seat.app, "#pace"))
            assert f"{of.said[1]} was NOT saved" in shown(seat.app, "Trouble")
            assert "press the key again" in shown(seat.app, "Trouble")
            assert seat.sight == first
        assert of.kept(path) == []
        await seat.press("d")
        await seat.until(lambda: seat.sight != first)
        assert "NOT saved" not in seat.words
        assert f"{of.said[1]} (saved)" in shown(seat.app, "#pace")
    assert of.kept(path) == [of.labels[1]]


@pytest.mark.e2e
@ONE_BY_ONE
async def test_a_label_that_was_saved_is_not_called_lost_when_the_next_item_cannot_be_read(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = KINDS[kind]
    original, broken = getattr(*of.read), [False]

    def failing(person: Any) -> object:
        if broken[0]:
            raise sqlite3.OperationalError("disk I/O error")
        return original(person)

    monkeypatch.setattr(*of.read, failing)
    async with seated(path, kind) as seat:
        first, broken[0] = seat.sight, True
        await seat.pilot.press("d")
        await seat.until(
            lambda: (
                "disagree (saved), but the next item could not be read" in shown(seat.app, "#pace")
            )
        )
        assert "NOT saved" not in seat.words
        await seat.pilot.press("a", "s", "z")
        broken[0] = False
        await asyncio.sleep(LULL_S)  # keys that follow dropped ones sooner are dropped, too
        await seat.pilot.press("f5")
        await seat.until(lambda: seat.sight != first and seat.rest)
    assert of.kept(path) == [of.labels[1]]


@pytest.mark.e2e
@ALL
async def test_what_was_saved_and_undone_is_not_called_lost_when_nothing_can_be_read_after_it(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, broken = KINDS[kind], [False]
    commit, read = getattr(*of.write), getattr(*of.read)

    def committing(*values: Any, **more: Any) -> object:
        result = commit(*values, **more)
        broken[0] = True
        return result

    def failing(*values: Any, **more: Any) -> object:
        if broken[0]:
            raise sqlite3.OperationalError("disk I/O error")
        return read(*values, **more)

    async with seated(path, kind) as seat:
        monkeypatch.setattr(*of.write, committing)
        monkeypatch.setattr(*of.read, failing)
        first = seat.sight
        await seat.pilot.press("d")
        await seat.until(
            lambda: f"{of.said[1]} (saved), but the next item" in shown(seat.app, "#pace")
        )
        assert "NOT saved" not in seat.words
        broken[0] = False
        monkeypatch.setattr(*of.write, commit)
        await seat.pilot.press("f5")
        await seat.until(lambda: seat.rest and not seat.screen.trouble.shown)
        if kind == "issues":
            assert seat.sight == first, "the cursor stays on its cell"
        else:
            await seat.until(lambda: seat.sight != first)
        await seat.press("z")
        await seat.until(lambda: seat.sight == first)
    kept = of.kept(path)
    assert kept == ([of.labels[1], None] if kind == "adjudication" else [])


@pytest.mark.e2e
@ONE_BY_ONE
async def test_the_time_from_paint_to_key_is_kept(path: Path, kind: str) -> None:
    async with seated(path, kind) as seat:
        await asyncio.sleep(0.3)
        await seat.press("a")
    with closing(sqlite3.connect(path)) as connection:
        [(elapsed,)] = connection.execute(KINDS[kind].elapsed)
    assert 250 <= elapsed < 5000


@ALL
async def test_keys_that_lead_elsewhere_do_not_lead_away(path: Path, kind: str) -> None:
    async with seated(path, kind) as seat:
        keys = ("2", "5", "9", "h") if kind == "issues" else ("1", "2", "5", "9", "0", "h")
        await seat.pilot.press(*keys)
        assert seat.app.screen is seat.screen
        assert seat.app.current_mode == "home"
    assert KINDS[kind].kept(path) == []


@ALL
async def test_leaving_right_after_a_key_keeps_the_label(path: Path, kind: str) -> None:
    async with seated(path, kind) as seat:
        await seat.pilot.press("a", "escape")
        await seat.until(lambda: seat.app.screen is not seat.screen)
    assert KINDS[kind].kept(path) == [KINDS[kind].labels[0]]
