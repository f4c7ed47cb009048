"""A person's own keys, the names that the palette finds, and a theme that is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from textual.command import Hit
from textual.screen import Screen

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument
from tests.tui.conftest import made, screen_text, until
from workbench import tui
from workbench.tui.app import WorkbenchApp
from workbench.tui.commands import NameProvider
from workbench.tui.home.home import HomeScreen
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.keymap import read_keymap
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statements import StatementsScreen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made(tmp_path / "audit.db", instrument())
    return tmp_path / "audit.db"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "keymap.toml"


@pytest.mark.e2e
async def test_a_key_of_the_keymap_does_what_it_was_given(path: Path, config: Path) -> None:
    config.write_text('[home]\ngo-statements = "ctrl+g"\n')
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 50)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("s")
        await pilot.pause()
        assert isinstance(app.screen, HomeScreen), "its former key is free"
        await pilot.press("f1")
        await until(pilot, lambda: "^g" in screen_text(app))
        await pilot.press("escape", "ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, StatementsScreen))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[home", "cannot be read"),
        ("[home]\ngo-jobs = 3\n", "give a key"),
        ('[home]\ngo-jobs = "f1"\n', "cannot be given to something else"),
    ],
)
async def test_what_cannot_be_used_is_said_and_changes_nothing(
    path: Path, config: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    config.write_text(text)
    assert read_keymap().keys == {}
    assert said in " ".join(read_keymap().wrong)
    assert said in run(capsys, "keys")[1]
    app = WorkbenchApp(path)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and any(said in n.message for n in app._notifications), 20
        )
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))


def test_every_action_is_listed_with_its_id(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text('[jobs]\npause = "P"\nsing = "s"\n')
    code, out, _ = run(capsys, "keys", "--json")
    found = json.loads(out)
    keys = {row["id"]: row["keys"] for row in found["keys"]}
    assert (code, keys["jobs.pause"], keys["app.keys"]) == (0, "P", "f1")
    assert found["wrong"] == ["jobs.sing: no action has this id"]
    assert len(keys) > 100


async def test_the_palette_finds_statements_by_name(path: Path, config: Path) -> None:
    del config
    with Store.open(path) as store:
        ref = store.instruments.get("small").statements[1].ref
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        provider = NameProvider(app.screen)
        await provider.startup()
        hit = next(iter([hit async for hit in provider.search(ref) if isinstance(hit, Hit) and hit.text == ref]))
        hit.command()
        await until(pilot, lambda: isinstance(app.screen, StatementScreen) and ref in screen_text(app))


@pytest.mark.e2e
async def test_a_theme_is_remembered(path: Path, config: Path) -> None:
    del config
    for theme in ("gruvbox", "nord"):
        app = WorkbenchApp(path)
        async with app.run_test() as pilot:
            app.theme = theme
            await pilot.pause()
        app = WorkbenchApp(path)
        async with app.run_test():
            assert app.theme == theme


def subclasses(of: type) -> Iterator[type]:
    for one in of.__subclasses__():
        yield one
        yield from subclasses(one)


def test_every_screen_has_the_style_of_a_screen() -> None:
    """Textual follows the first base: a class before `Screen` would keep background, layout and scrolling from it."""
    for module in walk_packages(tui.__path__, f"{tui.__name__}."):
        import_module(module.name)
    ours = [one for one in subclasses(Screen) if one.__module__.startswith(tui.__name__)]
    assert len(ours) > 50
    assert [one.__name__ for one in ours if not {"Screen", "Widget"} <= one._css_type_names] == []  # type: ignore[attr-defined]
