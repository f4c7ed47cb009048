"""Queues: how far each is, who labels, and making one after seeing what would be drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.annotation_stores import answers, labelling_store
from tests.tui.conftest import flowing, screen_text, shown, until
from workbench.annotation.tables import QueueState
from workbench.commands.sample import SampleCommand, default_labels
from workbench.domain.annotations import Purpose
from workbench.errors import UsageError
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.queues import QueueForm, QueuesScreen, command_of, left_text
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.widgets.record_table import RecordTable


async def opened(app: WorkbenchApp, pilot: Pilot[Any], rows: int) -> None:
    await app.push_screen(QueuesScreen())
    await until(pilot, lambda: app.screen.query_one("#rows", RecordTable).row_count == rows)


async def until_screen(pilot: Pilot[Any], app: WorkbenchApp, kind: type) -> None:
    await until(pilot, lambda: isinstance(app.screen, kind))


def disputed(path: Path) -> Path:
    """Make a store with two queues; two people have labelled two items of the first and disagree on
    one.
    """
    labelling_store(path, answers(4))
    labelling_store(path, ("x", "y", "z"), queue="[b]second", needed=1, purpose=Purpose.TRAINING)
    for name, labels in (("ana", ("agree", "agree")), ("bob", ("agree", "neutral"))):
        with Annotator.open(path, "first", name) as annotator:
            for label in labels:
                item = annotator.next()
                assert item is not None
                annotator.label(item.unit, label)
    return path


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_every_queue_shows_how_far_it_is(tmp_path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(disputed(tmp_path / "a.db"))
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, 2)
        lines = screen_text(app).split("\n")
        first = next(line for line in lines if line.strip().startswith("first"))
        second = next(line for line in lines if line.strip().startswith("[b]second"))
        codebook = ["stance"] if size[0] > 100 else []
        assert (
            first.split()[1:11]
            == ["test", *codebook, "4", "50.0", "%", "4", "8", "2", "2", "1"][:10]
        )
        assert (
            second.split()[1:11]
            == ["training", *codebook, "3", "0.0", "%", "0", "3", "0", "0", "0"][:10]
        )
        assert "labelled by ana, bob" in shown(app, "#details")
        await pilot.press("question_mark")
        assert "mixed in to check attention, are in no other count" in flowing(app)
        assert "Enter labels the items of a queue. s sorts by a column" in flowing(app)
        for elsewhere in ("fail a test", "← →", "rests on"):
            assert elsewhere not in flowing(app)


def queue_state(*, done: int = 16, paces: tuple[tuple[str, float], ...] = ()) -> QueueState:
    return QueueState(
        name="first",
        purpose="test",
        codebook="stance",
        title="Stance",
        items=50,
        needed=100,
        done=done,
        finished=8,
        annotators=("nora", "olaf"),
        disputed=0,
        attention=0,
        made="2026-12-01",
        paces=paces,
    )


def test_what_is_left_of_a_queue_is_told_with_the_paces_of_its_people() -> None:
    nora, olaf = ("nora", 412.0), ("olaf\x1b", 380.4)
    assert left_text(queue_state()) == "84 labels left"
    assert left_text(queue_state(paces=(nora,))) == (
        "84 labels left, ~12 min at 412 an hour (nora)"
    )
    assert left_text(queue_state(paces=(nora, olaf))) == (
        "84 labels left, ~6 min together: nora 412 an hour, olaf␛ 380 an hour"
    )
    assert left_text(queue_state(done=99, paces=(("script", 90_000.0),))) == "1 label left"
    assert left_text(queue_state(done=100, paces=(nora,))) == ""


async def test_the_pace_is_of_people_with_enough_timed_labels(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(40))
    for name, n_labels, elapsed_ms in (("ana", 12, 10_000), ("bob", 9, 10_000), ("eve", 12, None)):
        with Annotator.open(path, "first", name) as annotator:
            for _ in range(n_labels):
                item = annotator.next()
                assert item is not None
                annotator.label(item.unit, "agree", elapsed_ms=elapsed_ms)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 1)
        await until(pilot, lambda: "~8 min at 360 an hour (ana)" in shown(app, "#who"))
        assert "47 labels left" in shown(app, "#who")
        assert "Enter asks who you are" in screen_text(app)


@pytest.mark.e2e
async def test_enter_asks_who_one_is_once_and_the_app_remembers(tmp_path: Path) -> None:
    app = WorkbenchApp(disputed(tmp_path / "a.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 2)
        await pilot.press("enter")
        await until_screen(pilot, app, PersonDialog)
        assert "bob" in screen_text(app)
        await pilot.press(*"eve", "enter")
        await until_screen(pilot, app, AnnotateScreen)
        await until(pilot, lambda: "answer 0002" in screen_text(app))
        assert "eve" in screen_text(app)
        await pilot.press("q")
        await until_screen(pilot, app, QueuesScreen)
        assert "Enter labels as eve" in shown(app, "#who")
        await pilot.press("j", "enter")
        await until_screen(pilot, app, AnnotateScreen)
        assert app.screen.queue_name == "[b]second"  # type: ignore[attr-defined]


@pytest.mark.e2e
async def test_a_name_that_cannot_be_one_is_refused_with_the_reason(tmp_path: Path) -> None:
    app = WorkbenchApp(disputed(tmp_path / "a.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 2)
        await pilot.press("p")
        await until_screen(pilot, app, PersonDialog)
        await pilot.press("enter")
        await until(pilot, lambda: "name is empty" in screen_text(app))
        app.screen.query_one(Input).value = "a\u200bna"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: "\\u200b, which does not show" in " ".join(shown(app, "#trouble").split()),
        )
        await pilot.press("escape")
        await until_screen(pilot, app, QueuesScreen)
        assert "Enter asks who you are" in shown(app, "#who")


@pytest.mark.e2e
async def test_a_known_name_is_chosen_from_the_list(tmp_path: Path) -> None:
    app = WorkbenchApp(disputed(tmp_path / "a.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 2)
        await pilot.press("p")
        await until_screen(pilot, app, PersonDialog)
        await pilot.press("down", "down", "enter")
        await until_screen(pilot, app, QueuesScreen)
        assert "Enter labels as " in shown(app, "#who")
        assert shown(app, "#who").split("Enter labels as ")[1].split(";")[0] in ("ana", "bob")


@pytest.mark.e2e
async def test_d_and_v_open_what_there_is_for_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def note(name: str, queue: str) -> TextScreen:
        asked.append((name, queue))
        return TextScreen(name, queue)

    monkeypatch.setattr("workbench.tui.annotation.queues.screen", note)
    app = WorkbenchApp(disputed(tmp_path / "a.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 2)
        await pilot.press("d", "escape", "v", "escape")
        await until(pilot, lambda: asked == [("adjudicate", "first"), ("agreement", "first")])
        await pilot.press("down", "d", "v", "escape")
        await until(pilot, lambda: asked[2:] == [("agreement", "[b]second")])
        assert "[b]second has no disagreement to decide; first has 1 item to decide" in flowing(app)
        await pilot.press("slash", *"ok")
        assert app.screen.query_one("#find", Input).value == "ok"
        assert len(asked) == 3


@pytest.mark.e2e
async def test_the_cursor_is_on_the_queue_that_waits_so_that_the_keys_of_home_lead_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.db"
    labelling_store(path, ("x", "y", "z"), queue="training", needed=1, purpose=Purpose.TRAINING)
    app = WorkbenchApp(disputed(path), start="home", annotator="eve")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "→ 5, d" in screen_text(app))
        await pilot.press("5")
        await until(pilot, lambda: "labelled by ana, bob" in screen_text(app))
        await pilot.press("d")
        await until_screen(pilot, app, AdjudicateScreen)
        await pilot.press("escape")
        await until_screen(pilot, app, QueuesScreen)
        await pilot.press("home")
        await until(pilot, lambda: "labelled by nobody yet" in screen_text(app))
        await pilot.press("3", "5")
        assert "labelled by nobody yet" in screen_text(app), (
            "who has moved the cursor finds it where it was"
        )


async def test_an_empty_store_says_what_to_do_first(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(QueuesScreen())
        await until(pilot, lambda: "No queue yet" in screen_text(app))
        assert "n makes one from the free-text answers of a bias_score run" in screen_text(app)
        assert "3 goes to Jobs: n there asks a model" in screen_text(app)
        await pilot.press("enter", "d", "v")
        assert isinstance(app.screen, QueuesScreen)


@pytest.mark.e2e
async def test_a_queue_is_made_after_seeing_what_would_be_drawn(path: Path) -> None:
    """Of the store's three statements: the codebook `side` asks about statements themselves."""
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(QueuesScreen())
        await until(pilot, lambda: "No queue yet" in screen_text(app))
        await pilot.press("n")
        await until_screen(pilot, app, QueueForm)
        await until(pilot, lambda: "Give the queue a name" in shown(app, "#proposal"))
        assert "instrument   all" in screen_text(app)
        await pilot.press(*"sides")
        await until(
            pilot, lambda: "has no free-text answers" in " ".join(shown(app, "#proposal").split())
        )
        assert app.screen.query_one("#make", Button).disabled
        app.screen.query_one("#codebook", Select).value = "side"
        await until(
            pilot,
            lambda: "sides: 3 items for training, 3 labels to give" in shown(app, "#proposal"),
        )
        app.screen.query_one("#purpose", Select).value = "test"
        await until(
            pilot, lambda: "sides: 3 items for test, 6 labels to give" in shown(app, "#proposal")
        )
        app.screen.query_one("#per_stratum", Input).value = "x"
        await until(pilot, lambda: "per stratum: found 'x'" in shown(app, "#proposal"))
        app.screen.query_one("#per_stratum", Input).value = "2"
        await pilot.press("f5")
        await until_screen(pilot, app, QueuesScreen)
        await until(pilot, lambda: "sides  " in screen_text(app))
    with Store.open(path) as store:
        queue = store.queues.get("sides")
    assert (queue.purpose, queue.items, queue.needed, queue.spec["seed"]) == (Purpose.TEST, 2, 4, 1)


@pytest.mark.e2e
async def test_a_name_that_is_taken_is_said_in_the_form(path: Path) -> None:
    app = WorkbenchApp(path)
    labelling_store(path, answers(2), queue="taken")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, 1)
        await pilot.press("n")
        await until_screen(pilot, app, QueueForm)
        await until(pilot, lambda: "Give the queue a name" in shown(app, "#proposal"))
        app.screen.query_one("#codebook", Select).value = "side"
        await pilot.press(*"taken", "f5")
        await until(
            pilot, lambda: "named 'taken' already" in " ".join(shown(app, "#proposal").split())
        )
        assert isinstance(app.screen, QueueForm)


@pytest.mark.e2e
async def test_the_form_of_a_queue_waits_for_its_name_and_f5_is_not_remembered(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(QueuesScreen())
        await until(pilot, lambda: "No queue yet" in screen_text(app))
        await pilot.press("n")
        await until_screen(pilot, app, QueueForm)
        await until(pilot, lambda: "Give the queue a name" in shown(app, "#proposal"))
        assert not app.screen.query_one("#proposal").has_class("-trouble"), "nothing was typed yet"
        await pilot.press("f5")
        await until(pilot, lambda: "has no name;" in shown(app, "#proposal"))
        await pilot.press(*"sides")
        await until(
            pilot, lambda: f"workbench run {path} --audit bias_score" in shown(app, "#proposal")
        )
        app.screen.query_one("#codebook", Select).value = "side"
        await until(pilot, lambda: "sides: 3 items for training" in shown(app, "#proposal"))
        assert isinstance(app.screen, QueueForm)
    with Store.open(path) as store:
        assert not store.queues.list()


def typed(**changes: Any) -> SampleCommand:
    texts = {
        "name": " tests ",
        "purpose": "test",
        "codebook": "stance",
        "instrument": "",
        "per_stratum": "4",
        "labels": "2",
        "overlap": "0,5",
        "seed": "0",
        "held_out": ".2",
        "attention": "10",
        "limit": "50",
        "model": ("m",),
    }
    return command_of(texts | changes)


def test_what_is_typed_becomes_the_command() -> None:
    assert typed() == SampleCommand(
        name="tests",
        purpose="test",
        per_stratum=4,
        labels=2,
        overlap=0.5,
        seed=0,
        held_out=0.2,
        attention=10,
        limit=50,
        model=("m",),
    )
    assert typed(limit="").limit is None
    assert typed(model=None, instrument="small").spec().models == ()


@pytest.mark.parametrize(("purpose", "labels"), [("training", 1), ("test", 2), ("check", 2)])
def test_a_queue_has_as_many_labels_as_the_command_line_gives_it(purpose: str, labels: int) -> None:
    assert typed(purpose=purpose, labels="").spec().labels == labels
    assert str(default_labels(Purpose(purpose))) == str(labels)


def test_a_name_that_the_command_line_refuses_is_refused_in_the_form() -> None:
    with pytest.raises(UsageError, match="found the queue name 'a b'"):
        typed(name=" a  b ").spec()


def test_a_list_of_models_without_a_tick_is_refused() -> None:
    with pytest.raises(UsageError, match="model: tick at least one"):
        typed(model=())


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("per_stratum", "0"),
        ("labels", "-1"),
        ("labels", "1.5"),
        ("overlap", "nan"),
        ("held_out", "inf"),
        ("overlap", "half"),
        ("seed", ""),
        ("attention", "²"),
        ("name", "  "),
    ],
)
def test_a_field_that_cannot_be_as_it_is_is_named(field: str, text: str) -> None:
    with pytest.raises(UsageError, match="name" if field == "name" else "found"):
        typed(**{field: text})
