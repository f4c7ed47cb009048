"""A person's own keys, the names that the palette finds, and a theme that is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.command import Hit
from textual.screen import Screen

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument
from tests.tui.conftest import made, screen_text, status, until
from tests.tui.issue_stores import issue_store
from workbench import tui
from workbench.tui.annotation.issue_grid import IssueGridScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.commands import MOST, NamedObject, NameProvider, best_matches
from workbench.tui.home.home import HomeScreen
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.keymap import action_on, bindings, checked, faults, is_key, read_keymap
from workbench.tui.kit.dialogs import TextScreen
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
        await until(pilot, lambda: not app.workers._workers)
        assert app._keymap == {"home.go-statements": "ctrl+g"}
        await pilot.press("escape", "ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, StatementsScreen))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[home", "cannot be read"),
        ("[home]\ngo-jobs = 3\n", "home.go-jobs: found 3; give a key"),
        ('[home]\ngo-jobs = "f1"\n', "F1 cannot be given to something else"),
        ('[app]\nkeys = "ctrl+k"\n', "F1 has to stay"),
        ('[app]\ncommand_palette = "x"\n', "Ctrl+P has to stay"),
        ('[app]\nleave = "Q"\n', "q has to stay"),
        ('[jobs]\nretry = "nokeyatall"\n', "'nokeyatall' is no key"),
        ('[jobs]\npause = "S"\n', "S is jobs.cancel (Stop the job; its work stays)"),
        ('[jobs]\npause = "h"\n', "h is app.go-home (Go to Home)"),
        ('[jobs]\npause = "enter"\n', "enter is for moving, opening and closing"),
        ('[blind_key]\nblind = "r"\n', "r is ruling_keys.rule"),
        ('[annotate]\nskip = "z"\n', "z is annotate.undo"),
        ('[ruling_keys]\nrule = "z"\n', "z is "),
        ('[annotate]\nskip = "a"\n', "a is for labels"),
        ('[annotate]\nflag = "e"\n', "e is for labels: a codebook may choose it"),
        ('[app]\ngo-jobs = "x"\n', "x is "),
        ('[review]\nblind = "x"\n', "no action has this id"),
    ],
)
def test_what_cannot_be_used_is_said(
    config: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    config.write_text(text)
    usable = checked(read_keymap(), WorkbenchApp)
    assert usable.keys == {}
    assert said in " ".join(usable.wrong)
    assert said in run(capsys, "keys")[1]


WRONG = (
    *(
        '["p"]',
        "{a = {b = 3}}",
        "[" * 5000,
        "{a = " * 300 + "1" + "}" * 300,
        "1979-05-27",
        "nan",
        '""',
        '","',
        '"ctrl+"',
    ),
    *('"\\u0000"', '"\\ud7ff"', '"+"', "'\"'", '"p"', "true", '"' + "x" * 100_000 + '"', ""),
)
"values that somebody may write in place of a key"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ("home.go-jobs", "jobs.pause", "app.keys", "jobs", '"a b"."\\n"', "a.b.c.d")
            ),
            st.sampled_from(WRONG),
        ),
        max_size=3,
    ),
    st.binary(max_size=3),
    st.integers(0, 80),
)
def test_a_mutated_keymap_is_read_and_what_is_used_can_be_pressed(
    config: Path, lines: list[tuple[str, str]], noise: bytes, at: int
) -> None:
    text = "".join(f"{name} = {value}\n" for name, value in lines).encode()
    config.write_bytes(text[:at] + noise + text[at:])
    usable = checked(read_keymap(), WorkbenchApp)
    assert all(is_key(key) for keys in usable.keys.values() for key in keys.split(","))
    assert all(len(line) < 500 or "x" * 100 in line for line in usable.wrong)


@pytest.mark.parametrize(
    ("keys", "choices"),
    [
        ("pause = " + "[" * 5000, "[" * 100_000),
        (f"[{'.'.join('a' * 3000)}]\nb = 1\n", '{"theme": ' + "[" * 400 + "]" * 400 + "}"),
        ('[jobs]\npause = ["p"]\n', '{"theme": ["nord"], "order of verdicts": {"a": []}}'),
        ('[home]\nrow = "ctrl+"\n', '{"theme": "none of these"}'),
        (None, None),
    ],
    ids=("nested", "tables in tables", "lists", "unknown", "folders"),
)
async def test_the_terminal_starts_with_any_files_and_says_what_it_ignored(
    path: Path, config: Path, tmp_path: Path, keys: str | None, choices: str | None
) -> None:
    chosen = tmp_path / "state" / "workbench" / "preferences.json"
    for place, text in ((config, keys), (chosen, choices)):
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.mkdir()  # a folder in the place of the file
        else:
            place.write_text(text)
    app = WorkbenchApp(path)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "keymap.toml" in screen_text(app))
        text = "".join(screen_text(app).replace("█", "").split())
        assert "preferences.json,notused" in text or "themethatwasremembered" in text


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ('[jobs]\npause = "S"\ncancel = "p"\n', ["jobs.cancel", "jobs.pause"]),
        ('[jobs]\npause = "K"\ncancel = "K"\nlog = "Y"\n', ["jobs.log", "jobs.pause"]),
        ('[jobs]\npause = "S"\ncancel = "nokeyatall"\nlog = "Y"\n', ["jobs.log"]),
        (
            '[app]\nkeys = "f1,ctrl+k"\ncommand_palette = "ctrl+p,f8"\n',
            ["app.command_palette", "app.keys"],
        ),
        ('[jobs]\npause = "!, f7"\n', ["jobs.pause"]),
        ('[jobs]\npause = "K, f7"\ncancel = "K"\n', ["jobs.pause"]),
    ],
)
def test_entries_without_a_fault_are_used(config: Path, text: str, used: list[str]) -> None:
    config.write_text(text)
    assert sorted(checked(read_keymap(), WorkbenchApp).keys) == used


def test_the_keys_as_they_ship_have_no_fault(config: Path) -> None:
    """Each binding with the keys that it has already: an entry that changes nothing is no fault."""
    del config
    same = {name: one.key for name, one in bindings(WorkbenchApp).items()}
    assert faults(same, WorkbenchApp) == {}


@pytest.mark.e2e
async def test_what_is_not_used_is_said_on_home_and_covers_nothing(
    path: Path, config: Path
) -> None:
    config.write_text('[jobs]\npause = "S"\nlog = "Y"\n')
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and "jobs.pause" in screen_text(app)
        )
        assert not app._notifications
        assert app._keymap == {"jobs.log": "Y"}
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: status(app) == "Not all keys of keymap.toml can be used: Home says why."
        )
        assert not app._notifications


def test_every_action_is_listed_with_its_id(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text('[jobs]\npause = "P"\nsing = "s"\n')
    code, out, _ = run(capsys, "keys", "--json")
    found = json.loads(out)
    keys = {row["id"]: row["keys"] for row in found["keys"]}
    assert (code, keys["jobs.pause"], keys["app.keys"]) == (0, "P", "f1")
    assert found["wrong"] == ['jobs.sing = "s": no action has this id']
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
        hits = [hit async for hit in provider.search(ref) if isinstance(hit, Hit) and hit.text]
        hit = next(hit for hit in hits if str(hit.text).startswith(f"{ref}: "))
        hit.command()
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and ref in screen_text(app)
        )


async def test_the_palette_finds_statements_by_the_words_of_their_wording(
    path: Path, config: Path
) -> None:
    del config
    with Store.open(path) as store:
        line = store.instruments.lines("small")[0]
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        provider = NameProvider(app.screen)
        await provider.startup()
        words = " ".join(reversed(line.text.lower().split()[:3]))
        found = [str(hit.text) async for hit in provider.search(words) if isinstance(hit, Hit)]
        assert any(text.startswith(f"{line.ref}: ") for text in found)


def test_only_the_best_of_many_names_are_listed() -> None:
    many = [
        NamedObject(f"s-{n}", "statement", (), f"Taxes on item {n} are too high")
        for n in range(30_000)
    ]
    assert len(best_matches("taxes", many)) == MOST
    assert best_matches("s-29999 taxes", many)[0][1].name == "s-29999"
    assert best_matches("nothing like it", many) == []


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
    """Textual follows the first base: a class before `Screen` would keep background, layout and
    scrolling from it.
    """
    for module in walk_packages(tui.__path__, f"{tui.__name__}."):
        import_module(module.name)
    ours = [one for one in subclasses(Screen) if one.__module__.startswith(tui.__name__)]
    assert len(ours) > 50
    assert [one.__name__ for one in ours if not {"Screen", "Widget"} <= one._css_type_names] == []  # type: ignore[attr-defined]


@pytest.mark.e2e
async def test_keys_that_label_follow_the_keymap(tmp_path: Path, config: Path) -> None:
    """They are taken before any binding sees them, so the former key would go on doing what it
    did.
    """
    config.write_text('[issue_grid]\nfill = "F"\ntext = "f"\n')
    app = WorkbenchApp(issue_store(tmp_path / "issues.db"), annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and not app.workers._workers)
        grid = IssueGridScreen("small")
        app.push_screen(grid)
        await until(pilot, lambda: grid.is_current and grid.ready)
        assert (action_on(grid, "f"), action_on(grid, "F"), action_on(grid, "a")) == (
            "text",
            "fill",
            "label(1)",
        )
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
