"""One key has one meaning: the keys of every screen, with those of the tables on it and of the
whole terminal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.command import DiscoveryHit, Hit
from textual.dom import DOMNode
from textual.screen import Screen

from tests.conftest import instrument
from tests.tui.conftest import made, until
from tests.tui.screen_keys import below, context, own_keys
from workbench import registry
from workbench.tui.app import WorkbenchApp, key_list
from workbench.tui.commands import PLACES, ActionProvider, _moves_cursor
from workbench.tui.keymap import effect_of, screens
from workbench.tui.results.answers import AnswersScreen
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.book_screen import BookScreen

Meaning = tuple[str, str, str]
"class, action, what it is called"

ANYWHERE = {
    "enter",
    "escape",
    "tab",
    "shift+tab",
    "up",
    "down",
    "left",
    "right",
    "pageup",
    "pagedown",
    "home",
    "end",
}
"keys whose meaning depends on what has focus, everywhere"
QUESTION_MARK = {"question_mark", "f1"}
"help of whatever is in front"
NARROWER = {
    ("AuditScreen", "instrument"): "M lists the runs of all instruments, i the policy issues",
    ("AnnotatorsScreen", "instrument"): "it is about one queue",
    ("IssueGoldScreen", "instrument"): "it is about one instrument",
    ("ClassifierScreen", "instrument"): "it is about one classifier",
    (
        "ArchivedScreen",
        "undo_ruling",
    ): "z takes back what was done there last, a change or a ruling",
    (
        "StatementScreen",
        "undo_ruling",
    ): "z takes back what was done there last, a change or a ruling",
    (
        "StatementsScreen",
        "undo_ruling",
    ): "z takes back what was done there last, a change or a ruling",
    (
        "ImportScreen",
        "refresh",
    ): "F5 writes, as in every form; what is under the cursor is read anew by Enter",
    ("ReviewScreen", "undo_ruling"): "z takes back what was ruled last on the item of the row",
    (
        "ReviewItemScreen",
        "undo_ruling",
    ): "z takes back what was ruled in the session, and goes to it",
    ("IssueCasesScreen", "decide(0)"): "its table is never narrowed",
    ("IssueCasesScreen", "cycle"): "its table has no tests to show the failures of",
    ("ReviewScreen", "instrument"): "M lists the queues of all runs",
}
"actions of a base that have no key on a screen, with the reason"
MOVES = {
    "j": ("down", "row(1)", "move(1)", "scroll", "step(1)"),
    "k": ("up", "row(-1)", "move(-1)", "scroll", "step(-1)"),
}
NEIGHBOURS = ("step", "beside", "view", "question", "skip", "back")
"beginnings of what [ and ] do: a neighbour in a sequence"
READING = {"a": "agree", "d": "disagree", "n": "neutral", "u": "unreadable"}


def own(kind: type[Any]) -> Iterator[tuple[str, Meaning]]:
    """Yield the keys of a class, those of its bases after them."""
    for each in kind.__mro__:
        if not each.__module__.startswith("workbench."):
            continue
        for one in each.__dict__.get("BINDINGS", ()):
            binding = one if isinstance(one, Binding) else Binding(*one)
            for key in binding.key.split(","):
                yield key.strip(), (each.__name__, binding.action, binding.description)


def of_table(kind: type[Any]) -> Iterator[tuple[str, Meaning]]:
    for key, binding, of in own_keys(kind):
        yield key, (of.__name__, binding.action, binding.description)


def meanings(screen: type[Screen[Any]]) -> dict[str, list[Meaning]]:
    found: dict[str, list[Meaning]] = {}
    for kind in context(screen):
        for key, meaning in own(kind) if kind is screen else of_table(kind):
            if meaning[1] not in [action for _, action, _ in found.get(key, [])]:
                found.setdefault(key, []).append(meaning)
    return found


def clashes(app: WorkbenchApp) -> dict[str, set[str]]:
    """Return what each key does that is described, from what has focus to the whole terminal."""
    found: dict[str, set[str]] = {}
    for _, bindings in app._binding_chain:
        for key, several in bindings.key_to_bindings.items():
            if key not in ANYWHERE | QUESTION_MARK | {"q", "ctrl+p"}:
                actions = {
                    one.action.removeprefix("app.")
                    for one in several
                    if one.description and not one.system
                }
                found.setdefault(key, set()).update(actions)
    return {key: actions for key, actions in found.items() if actions}


ALL = list(screens())


@pytest.mark.parametrize("screen", ALL, ids=lambda one: one.__name__)
def test_a_key_means_one_thing_on_a_screen_and_nothing_loses_its_last_key(
    screen: type[Screen[Any]],
) -> None:
    keys = meanings(screen)
    reachable = {found[0][1] for found in keys.values()}
    for key, found in keys.items():
        if key in ANYWHERE | QUESTION_MARK:
            continue
        (of, action, _), *others = found
        for base, lost, called in others:
            if lost == "nothing" or (screen.__name__, lost) in NARROWER or not called:
                continue
            inherited = issubclass(screen, BookScreen) or of == screen.__name__
            assert inherited, f"{key} on {screen.__name__}: {action} of {of}, and {lost} of {base}"
            assert lost in reachable, (
                f"{screen.__name__}: {lost} of {base} lost its key {key} to {action} of {of}"
            )


ONE_MEANING = {
    "D": ({"rows"}, "data: rows for other programs"),
    "R": ({"run", "resume", "go_on"}, "run or resume a job"),
    "m": ({"note"}, "a note"),
    "x": ({"failed(1)", "cycle", "only_open"}, "only what failed or is open"),
    "c": (
        {
            "narrow('country')",
            "narrow('code')",
            "cycle('country')",
            "condition(1)",
            "option('condition')",
            "classifier(1)",
            "confidence",
        }
        | {"cycle_reason"},
        "the next of a few: a country, condition, kind, classifier, reason or sureness",
    ),
}
"key -> the actions that it may have, all of one meaning, anywhere"
MENUS = {"RulingDialog", "JobKindDialog"}
"lists in which a letter is that of the entry it chooses"


def test_a_key_that_once_had_several_meanings_has_one_in_the_whole_program() -> None:
    seen = set()
    for screen in (*ALL, WorkbenchApp):
        for kind in context(screen) if screen is not WorkbenchApp else (screen,):  # type: ignore[arg-type]
            for key, binding, of in own_keys(kind):
                if key in ONE_MEANING and of.__name__ not in MENUS:
                    seen.add((key, binding.action))
                    allowed, meaning = ONE_MEANING[key]
                    assert binding.action in allowed, f"{key} on {screen.__name__} is for {meaning}"
    assert {action for _, action in seen} == set().union(
        *(actions for actions, _ in ONE_MEANING.values())
    )


DOES = (
    "resumes? stops shows opens starts lists clears deletes removes reviews unfolds unhides "
    "continues runs writes "
    "hides changes counts leaves reads computes goes.to switches tries undoes rules does"
)
HINT = re.compile(rf"(?<![\w{{}}'’-])([A-Za-z0-9]) (?:{DOES.replace(' ', '|')})\b")
THERE = re.compile(r"([0-9]), (?:then )?([A-Za-z])\b")


def hints() -> Iterator[tuple[str, str]]:
    """Yield (module, text) of every text in the terminal."""
    for module in sorted(
        {one.__module__ for one in ALL} | {f"workbench.tui.{name}" for name in HINTING}
    ):
        tree = ast.parse(Path(str(import_module(module).__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield module, node.value


HINTING = ("jobs.job_lines", "home.home", "statements.statements", "statements.checks")
"modules with texts of screens of their folder"


def test_hints_name_keys_that_work_in_their_place() -> None:
    """A key beside what it does is one of a screen of the same folder, or of the whole terminal;
    one that is pressed after the digit of a mode is one of the mode's first screen.
    """
    keys_on = {one: {key for of in context(one) for key, _, _ in own_keys(of)} for one in ALL}
    everywhere = {key: binding.action for key, binding, _ in own_keys(WorkbenchApp)}
    first = {f"go('{mode}')": type(make()) for mode, make in WorkbenchApp.MODES.items()}
    wrong, seen = [], 0
    for module, text in hints():
        here = [one for one in ALL if one.__module__.startswith(module.rpartition(".")[0])]
        for key in HINT.findall(text):
            seen += 1
            if (
                key not in everywhere
                and not any(key in keys_on[one] for one in here)
                and not THERE.search(text)
            ):
                wrong.append(f"{module}: {text!r}")
        for digit, key in THERE.findall(text):
            screen = first.get(everywhere.get(digit, ""))
            if screen is not None and key not in keys_on[screen]:
                wrong.append(
                    f"{module}: {text!r} names {key}, which {screen.__name__} does not have"
                )
    assert wrong == []
    assert seen > 20


NOUNS = (
    "Row",
    "Line",
    "Page",
    "Item",
    "Issue",
    "Question",
    "Template",
    "Version",
    "View",
    "Model",
    "Reading",
)


def test_what_a_key_does_is_said_in_a_sentence() -> None:
    """In the list of keys, the palette and `workbench keys`; Textual names its own keys."""
    ours: list[type[Any]] = [
        kind for kind in (DOMNode, *below(DOMNode)) if kind.__module__.startswith("workbench.")
    ]
    for kind in ours:  # other tests of this process have screens of their own
        for one in kind.__dict__.get("BINDINGS", ()):
            binding = one if isinstance(one, Binding) else Binding(*one)
            if not binding.description:
                continue
            said = effect_of(binding)
            first, *rest = said.split()
            assert rest, f"{kind.__name__}: {said!r} is one word"
            assert not all(word[0].isupper() for word in rest), (
                f"{kind.__name__}: {said!r} is a title"
            )
            numbered = rest[0].isdecimal()
            assert first not in NOUNS or numbered, f"{kind.__name__}: {said!r} has no verb"


async def test_the_list_of_keys_is_in_order_and_its_lines_are_indented(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "s.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        lines = key_list(app).plain.split("\n")
        digits = [line.split()[0] for line in lines if line.split()[0].isdecimal()]
        home, everywhere = lines.index("On this screen"), lines.index("Everywhere")
        assert home < everywhere
        assert digits.index("9") < digits.index("1"), (
            "those of Home, then those of the whole terminal"
        )
        for start in (0, digits.index("1")):
            part = digits[start : digits.index("1")] if not start else digits[start:]
            assert part == sorted(part)
        wrapped = [line for line in lines if line.startswith(" " * 17)]
        assert all(len(line) <= 76 for line in lines)
        assert all(line.strip() for line in wrapped)


@pytest.mark.parametrize("screen", ALL, ids=lambda one: one.__name__)
def test_moving_neighbours_and_undoing_have_the_same_keys_everywhere(
    screen: type[Screen[Any]],
) -> None:
    keys = {
        key: found[0][1].removeprefix("app.").removeprefix("screen.")
        for key, found in meanings(screen).items()
    }
    for key, ways in MOVES.items():
        assert not keys.get(key) or any(way in keys[key] for way in ways), (
            f"{key} on {screen.__name__}: {keys[key]}"
        )
    for key in ("left_square_bracket", "right_square_bracket"):
        assert keys.get(key, "step").startswith(NEIGHBOURS), (
            f"{key} on {screen.__name__}: {keys[key]}"
        )
    assert not keys.get("z") or keys["z"].startswith(("undo", "back")), (
        f"z on {screen.__name__}: {keys['z']}"
    )
    undoing = [
        key for key, action in keys.items() if action.startswith("undo") and action != "undo_ruling"
    ]
    assert not undoing or "z" in undoing, f"{screen.__name__} undoes with {undoing}"
    if "space" in keys:
        assert keys["space"].startswith(
            ("mark", "choose", "withdraw", "dismiss", "toggle", "scroll")
        ), f"{screen.__name__}"
    for key in ("f1", "ctrl+p"):
        assert keys.get(key, "explain").startswith(
            ("explain", "keys", "command_palette", "dismiss")
        ), screen.__name__


@pytest.mark.parametrize(
    "screen", [one for one in ALL if issubclass(one, AnswersScreen)], ids=lambda one: one.__name__
)
def test_keys_that_read_answers_mean_the_same_where_answers_are_read(
    screen: type[Screen[Any]],
) -> None:
    keys = {key: found[0][1] for key, found in meanings(screen).items()}
    for key, reading in READING.items():
        assert key not in keys or reading in keys[key], f"{key} on {screen.__name__}: {keys[key]}"


@pytest.mark.parametrize(
    "mode", ["home", "statements", "jobs", "annotate", "audit", "results", "questionnaire"]
)
async def test_the_palette_finds_every_act_of_a_screen(tmp_path: Path, mode: str) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()), start=mode)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings and not app.workers._workers)
        for key, actions in clashes(app).items():
            assert len(actions) == 1, f"{key} has two meanings: {actions}"
        provider = ActionProvider(app.screen)
        found = {
            hit.display.plain async for hit in provider.discover() if isinstance(hit, DiscoveryHit)
        }  # type: ignore[union-attr]
        offered = [
            active.binding
            for active in app.screen.active_bindings.values()
            if active.enabled
            and active.binding.description
            and not active.binding.system
            and not _moves_cursor(active)
        ]
        assert offered
        for binding in offered:
            assert effect_of(binding) in found
        for key, (_, action, called) in (
            (key, found[0]) for key, found in meanings(type(app.screen)).items()
        ):
            active = app.screen.active_bindings.get(key)
            if called and active is not None and active.enabled and active.binding.action == action:
                assert effect_of(active.binding) in found


def test_what_is_behind_a_row_has_the_keys_of_its_table() -> None:
    assert {"0", "slash", "s", "Z"} <= meanings(BehindScreen).keys()


async def test_the_palette_has_one_action_of_textual(tmp_path: Path) -> None:
    """Others do what `q`, F1 and `P` do, or nothing of use."""
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)):
        assert [command.title for command in app.get_system_commands(app.screen)] == ["Theme"]


async def palette(app: WorkbenchApp, query: str) -> list[Hit]:
    """Return what the palette finds that keys do, best first."""
    provider = ActionProvider(app.screen)
    found = [hit async for hit in provider.search(query) if isinstance(hit, Hit)]
    return sorted(found, key=lambda hit: -hit.score)


WORDS = """adjudicate adjud kappa agreement reliability stance persona refusal export report label ruling csv latex json
plot search filter cancel kill lint paper interval cost seed codebook download exclude note data translation party
survey citation clipboard price duplicates history consistency human bootstrap"""
"what people of the field type"


async def test_the_palette_finds_the_places_by_the_words_of_the_field(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        assert [word for word in WORDS.split() if not await palette(app, word)] == []
        assert {str(action) for action in PLACES} <= {
            binding.action for _, binding, _ in own_keys(WorkbenchApp)
        }
        assert all(place.words for place in registry.places())


@pytest.mark.parametrize(
    ("query", "leads_to"),
    [
        ("adjudicate", "annotate"),
        ("kappa", "annotate"),
        ("pause the job", "jobs"),
        ("train classifier", "jobs"),
        ("archive", "statements"),
        ("party family", "consistency"),
        ("import", "home"),
    ],
)
async def test_a_place_is_found_by_what_is_done_there(
    tmp_path: Path, query: str, leads_to: str
) -> None:
    app = WorkbenchApp(
        made(tmp_path / "audit.db", instrument()), start="jobs" if leads_to == "home" else "home"
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        hit = next(hit for hit in await palette(app, query) if leads_to in str(hit.command))
        assert str(hit.help).partition(": ")[2], "the words that were found"
        await hit.command()
        assert app.current_mode == leads_to
        await until(pilot, lambda: not app.workers._workers)


async def test_what_is_done_here_stands_before_places(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()), start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        found = await palette(app, "new")
        assert (found[0].text, found[0].help) == ("Start a new job", "key n")
        assert len(found) > 2
