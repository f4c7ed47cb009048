"""Answers are found by their words, each as it is written, once for each draw, with where it comes
from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.core.base import text_ids
from stores.core.store import Store
from stores.runs.answers import answers_with
from tests.template_stores import play
from tests.tui.conftest import screen_text, until
from workbench.cli.main import main
from workbench.domain.names import places
from workbench.tui.app import WorkbenchApp
from workbench.tui.statements.history import FoundAnswersScreen

SAID = (
    'It is 100% "so" OR not_so',
    "It is 100 percent so",
    "Über alles [bold]steuern[/bold]",
    "<think>hidden</think>plain",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = play(tmp_path / "a.db", [("ask", "one chat", "en")])
    with Store.open(path) as store, store.write() as connection:
        draw = connection.execute("select max(id) from draw").fetchone()[0]
        for text, rowid in text_ids(connection, SAID).items():
            connection.execute(
                "insert into response (draw_id, text_id, count) values (?, ?, 2)", (draw, rowid)
            )
            if text.startswith("<think>"):
                answer = text_ids(connection, ["plain"])["plain"]
                connection.execute("insert into thought values (?, ?)", (rowid, answer))
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("100%", SAID[:1]),
        ('"so"', SAID[:1]),
        ("not_so", SAID[:1]),
        ("OR", SAID[:1]),
        ("so 100", SAID[:2]),
        ("ÜBER steuern", SAID[2:3]),
        ("*", ()),
        ("hidden", ()),
        ("PLAIN", ("plain",)),
        ("NEAR(so", ()),
        ("\\", ()),
    ],
)
def test_words_are_what_they_are(store: Store, words: str, found: tuple[str, ...]) -> None:
    rows = [row for row in answers_with(store.connection, words) if places(row.text, words)]
    assert sorted(row.text for row in rows) == sorted(found)
    assert all(
        (row.count, row.instrument, row.model) == (2, "small", "one") and row.ref for row in rows
    )


def test_where_words_stand() -> None:
    assert places("So, so: SO", "so") == [(0, 2), (4, 6), (8, 10)]
    assert places("one two", "two three") == []


def test_the_shell_finds_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["statements", str(path), "--answers", "100%"]) == 0
    assert SAID[0] in (said := capsys.readouterr().out)
    assert "1 answer found." in said
    assert main(["statements", str(path), "--answers", " "]) == 2


async def test_they_are_found_from_anywhere_and_opened_with_where_they_come_from(
    path: Path,
) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(
            pilot, lambda: "Home" in screen_text(app) or "statements" in screen_text(app).lower()
        )
        await pilot.press("f3")
        await until(pilot, lambda: "Answers of this store that contain" in screen_text(app))
        await pilot.press(*"steuern", "enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, FoundAnswersScreen) and "2 given" in screen_text(app),
        )
        assert "answers with certain words" in screen_text(app)
        assert "version 0" not in screen_text(app)
        assert "[bold]steuern[/bold]" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "seed" in screen_text(app) and "y copy" in screen_text(app))
        await pilot.press("escape", "slash")
        await until(pilot, lambda: "Answers that contain" in screen_text(app))
        await pilot.press(*"xyz", "enter")
        await until(pilot, lambda: "No answer here contains" in screen_text(app))
