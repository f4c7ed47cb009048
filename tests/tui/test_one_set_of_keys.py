"""One key has one meaning: the keys of every screen, with those of the tables on it and of the whole terminal."""

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
from tests.tui.conftest import made, screen_text, status, until
from workbench.tui import commands
from workbench.tui.acts import acts, context, own_keys, screens
from workbench.tui.app import WorkbenchApp, key_list
from workbench.tui.commands import ActionProvider
from workbench.tui.jobs.job_kind_dialog import JobKindDialog
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.key_words import does
from workbench.tui.results.answers import AnswersScreen
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.ways import ON, ROOTS, RUNS, WAYS

Meaning = tuple[str, str, str]
"class, action, what it is called"

ANYWHERE = {"enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "pageup", "pagedown", "home", "end"}
"keys whose meaning depends on what has focus, everywhere"
QUESTION_MARK = {"question_mark", "f1"}
"help of whatever is in front"
NARROWER = {
    ("AuditScreen", "instrument"): "M lists the runs of all instruments, i the policy issues",
    ("AnnotatorsScreen", "instrument"): "it is about one queue",
    ("IssueGoldScreen", "instrument"): "it is about one instrument",
    ("ClassifierScreen", "instrument"): "it is about one classifier",
    ("ArchivedScreen", "undo_ruling"): "z takes back what was done there last, a change or a ruling",
    ("StatementScreen", "undo_ruling"): "z takes back what was done there last, a change or a ruling",
    ("StatementsScreen", "undo_ruling"): "z takes back what was done there last, a change or a ruling",
    ("ImportScreen", "refresh"): "F5 writes, as in every form; what is under the cursor is read anew by Enter",
    ("ReviewScreen", "undo_ruling"): "z takes back what was ruled last on the item of the row",
    ("ReviewItemScreen", "undo_ruling"): "z takes back what was ruled in the session, and goes to it",
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


def below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


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
                actions = {one.action.removeprefix("app.") for one in several if one.description and not one.system}
                found.setdefault(key, set()).update(actions)
    return {key: actions for key, actions in found.items() if actions}


ALL = list(screens())


@pytest.mark.parametrize("screen", ALL, ids=lambda one: one.__name__)
def test_a_key_means_one_thing_on_a_screen_and_nothing_loses_its_last_key(screen: type[Screen[Any]]) -> None:
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
            assert lost in reachable, f"{screen.__name__}: {lost} of {base} lost its key {key} to {action} of {of}"


ONE_MEANING = {
    "D": ({"rows"}, "data: rows for other programs"),
    "R": ({"run", "resume", "go_on"}, "run or resume a job"),
    "m": ({"note"}, "a note"),
    "x": ({"failed(1)", "cycle", "only_open"}, "only what failed or is open"),
    "c": (
        {"narrow('country')", "narrow('code')", "cycle('country')", "condition(1)", "classifier(1)", "confidence"}
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
    assert {action for _, action in seen} == set().union(*(actions for actions, _ in ONE_MEANING.values()))


WORDS = """adjudicate adjud kappa agreement reliability stance persona refusal export report label ruling csv latex json
plot search filter cancel kill lint paper interval cost seed codebook download exclude note data translation party
survey citation clipboard price duplicates history consistency human bootstrap"""
"what people of the field type"


def test_the_palette_knows_the_words_of_the_field() -> None:
    unknown = [word for word in WORDS.split() if not any(commands.found(word, act.says)[0] for act in acts())]
    assert unknown == []


DOES = (
    "resumes? stops shows opens starts lists clears deletes removes reviews unfolds unhides continues runs writes "
    "hides changes counts leaves reads computes goes.to switches tries undoes rules does"
)
HINT = re.compile(rf"(?<![\w{{}}'’-])([A-Za-z0-9]) (?:{DOES.replace(' ', '|')})\b")
THERE = re.compile(r"([0-9]), (?:then )?([A-Za-z])\b")


def hints() -> Iterator[tuple[str, str]]:
    """Yield (module, text) of every text in the terminal."""
    for module in sorted({one.__module__ for one in ALL} | {f"workbench.tui.{name}" for name in HINTING}):
        tree = ast.parse(Path(str(import_module(module).__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield module, node.value


HINTING = ("jobs.job_lines", "home.home_lines", "statements.statements_list", "statements.findings_explained")
"modules with texts of screens of their folder"


def test_hints_name_keys_that_work_in_their_place() -> None:
    """A key beside what it does is one of a screen of the same folder, or of the whole terminal; one that is pressed
    after the digit of a mode is one of the mode's first screen.
    """
    keys_on = {one: {key for of in context(one) for key, _, _ in own_keys(of)} for one in ALL}
    everywhere = {key: binding.action for key, binding, _ in own_keys(WorkbenchApp)}
    first = {f"go('{mode}')": name for name, mode in ROOTS.items()}
    named = {one.__name__: one for one in ALL}
    wrong, seen = [], 0
    for module, text in hints():
        here = [one for one in ALL if one.__module__.startswith(module.rpartition(".")[0])]
        for key in HINT.findall(text):
            seen += 1
            if key not in everywhere and not any(key in keys_on[one] for one in here) and not THERE.search(text):
                wrong.append(f"{module}: {text!r}")
        for digit, key in THERE.findall(text):
            screen = named.get(first.get(everywhere.get(digit, ""), ""))
            if screen is not None and key not in keys_on[screen]:
                wrong.append(f"{module}: {text!r} names {key}, which {screen.__name__} does not have")
    assert wrong == []
    assert seen > 20


NOUNS = ("Row", "Line", "Page", "Item", "Issue", "Question", "Template", "Version", "View", "Model", "Reading")


def test_what_a_key_does_is_said_in_a_sentence() -> None:
    """In the list of keys, the palette and `workbench keys`; Textual's own keys, too."""
    ours: list[type[Any]] = [
        kind for kind in (DOMNode, *below(DOMNode)) if kind.__module__.startswith(("workbench.", "textual."))
    ]
    for kind in ours:  # other tests of this process have screens of their own
        for one in kind.__dict__.get("BINDINGS", ()):
            binding = one if isinstance(one, Binding) else Binding(*one)
            if not binding.description:
                continue
            said = does(binding)
            first, *rest = said.split()
            assert rest, f"{kind.__name__}: {said!r} is one word"
            assert not all(word[0].isupper() for word in rest), f"{kind.__name__}: {said!r} is a title"
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
        assert digits.index("9") < digits.index("1"), "those of Home, then those of the whole terminal"
        for start in (0, digits.index("1")):
            part = digits[start : digits.index("1")] if not start else digits[start:]
            assert part == sorted(part)
        assert not any("Focus" in line for line in lines)
        wrapped = [line for line in lines if line.startswith(" " * 17)]
        assert all(len(line) <= 76 for line in lines)
        assert all(line.strip() for line in wrapped)


@pytest.mark.parametrize("screen", ALL, ids=lambda one: one.__name__)
def test_moving_neighbours_and_undoing_have_the_same_keys_everywhere(screen: type[Screen[Any]]) -> None:
    keys = {key: found[0][1].removeprefix("app.").removeprefix("screen.") for key, found in meanings(screen).items()}
    for key, ways in MOVES.items():
        assert not keys.get(key) or any(way in keys[key] for way in ways), f"{key} on {screen.__name__}: {keys[key]}"
    for key in ("left_square_bracket", "right_square_bracket"):
        assert keys.get(key, "step").startswith(NEIGHBOURS), f"{key} on {screen.__name__}: {keys[key]}"
    assert not keys.get("z") or keys["z"].startswith(("undo", "back")), f"z on {screen.__name__}: {keys['z']}"
    undoing = [key for key, action in keys.items() if action.startswith("undo") and action != "undo_ruling"]
    assert not undoing or "z" in undoing, f"{screen.__name__} undoes with {undoing}"
    if "space" in keys:
        assert keys["space"].startswith(("mark", "choose", "withdraw", "dismiss", "toggle", "scroll")), (
            f"{screen.__name__}"
        )
    for key in ("f1", "ctrl+p"):
        assert keys.get(key, "explain").startswith(("explain", "keys", "command_palette", "dismiss")), screen.__name__


@pytest.mark.parametrize("screen", [one for one in ALL if issubclass(one, AnswersScreen)], ids=lambda one: one.__name__)
def test_keys_that_read_answers_mean_the_same_where_answers_are_read(screen: type[Screen[Any]]) -> None:
    keys = {key: found[0][1] for key, found in meanings(screen).items()}
    for key, reading in READING.items():
        assert key not in keys or reading in keys[key], f"{key} on {screen.__name__}: {keys[key]}"


@pytest.mark.parametrize("mode", ["home", "statements", "jobs", "annotate", "audit", "results", "questionnaire"])
async def test_the_palette_finds_every_act_of_a_screen(tmp_path: Path, mode: str) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()), start=mode)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings and not app.workers._workers)
        for key, actions in clashes(app).items():
            assert len(actions) == 1, f"{key} has two meanings: {actions}"
        provider = ActionProvider(app.screen)
        found = {hit.display.plain async for hit in provider.discover() if isinstance(hit, DiscoveryHit)}  # type: ignore[union-attr]
        offered = [
            active.binding
            for active in app.screen.active_bindings.values()
            if active.enabled and active.binding.description and not active.binding.system
        ]
        assert offered
        for binding in offered:
            assert does(binding) in found
        for key, (_, action, called) in ((key, found[0]) for key, found in meanings(type(app.screen)).items()):
            active = app.screen.active_bindings.get(key)
            if called and active is not None and active.enabled and active.binding.action == action:
                assert does(active.binding) in found


def test_what_is_behind_a_row_has_the_keys_of_its_table() -> None:
    assert {"0", "slash", "s", "Z"} <= meanings(BehindScreen).keys()


async def palette(app: WorkbenchApp, query: str) -> list[Hit]:
    """Return what the palette finds that keys do, best first."""
    provider = ActionProvider(app.screen)
    await provider.startup()
    found = [hit async for hit in provider.search(query) if isinstance(hit, Hit)]
    await provider.shutdown()
    return sorted(found, key=lambda hit: -hit.score)


async def test_the_palette_finds_every_act_of_every_screen_from_home(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        for screen in ALL:
            if screen.__name__ not in ROOTS and screen.__name__ not in WAYS:
                assert below_shown(screen), f"how is {screen.__name__} opened? `ways.py` has to say it"
        for sentence in sorted({does(one) for screen in ALL for one in described(screen)}):
            found = [str(hit.match_display) for hit in await palette(app, sentence)]
            assert sentence in found, sentence
        for act in acts():
            assert act.words(app), act


def below_shown(screen: type[Screen[Any]]) -> bool:
    """Return whether a class is only derived from."""
    return any(one in ALL for one in below(screen))


def described(screen: type[Screen[Any]]) -> Iterator[Binding]:
    for one in screen.__dict__.get("BINDINGS", ()):
        binding = one if isinstance(one, Binding) else Binding(*one)
        if binding.description:
            yield binding


def test_ways_name_screens_and_actions_that_exist() -> None:
    by_name: dict[str, Any] = {kind.__name__: kind for kind in below(DOMNode)}
    actions = {name: {meaning[1] for _, meaning in own(kind)} for name, kind in by_name.items()}
    for name, way in WAYS.items():
        assert name in by_name
        keys = (
            {action for kind in context(by_name[way.above]) for action in actions[kind.__name__]} if way.above else {""}
        )
        assert way.by in keys or not way.by, f"{name}: {way.above} has no {way.by}"
        assert way.by or way.on, f"{name}: Enter on what?"
    plain = {name: {one.partition("(")[0] for one in of} for name, of in actions.items()}
    for name, of in RUNS.items():
        assert set(of.split()) <= plain[name], f"{name}: {set(of.split()) - plain[name]}"
    for one in ON:
        name, _, action = one.partition(".")
        assert action in plain[name], one


@pytest.mark.parametrize(
    ("query", "leads_to"), [("start a new job", "JobKindDialog"), ("a model drafts wordings", "DraftForm"),
                            ("make a new queue", "QueueForm"), ("write the instrument to files", "ExportScreen"),
                            ("write a new statement", "StatementForm")],
)  # fmt: skip
async def test_an_act_of_another_place_is_done_there(tmp_path: Path, query: str, leads_to: str) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        (await palette(app, query))[0].command()
        await until(pilot, lambda: type(app.screen).__name__ == leads_to)


async def test_what_cannot_be_started_is_said_where_it_is_chosen(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        (await palette(app, "train a classifier"))[0].command()
        await until(pilot, lambda: isinstance(app.screen, JobKindDialog) and "✗" in screen_text(app))


@pytest.mark.parametrize(
    ("query", "place", "says"),
    [
        ("pause the job", "JobsScreen", "Pause: 3 Jobs, p on a running job"),
        ("archive", "StatementsScreen", "Change: 2 Statements, b on marked statements"),
        ("rule on this", "AuditScreen", "Rule: 4 Audit, r on a row"),
        ("change the text of this wording", "StatementsScreen", "Edit: 2 Statements, Enter on a statement, e"),
    ],
)
async def test_an_act_on_something_leads_to_where_it_is_chosen(
    tmp_path: Path, query: str, place: str, says: str
) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings)
        hits = [hit for hit in await palette(app, query) if hit.help == says.partition(": ")[2]]
        hits[0].command()
        await until(pilot, lambda: type(app.screen).__name__ == place and status(app) == says)


async def test_what_is_done_here_stands_first_and_a_key_calls_off_what_waits(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument()), start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.active_bindings and isinstance(app.screen, JobsScreen))
        found = await palette(app, "new")
        assert (found[0].text, found[0].help) == ("Start a new job", "key n")
        assert len(found) > 2
        await pilot.press("1")
        (await palette(app, "start a new job"))[0].command()
        await pilot.press("j")
        await until(pilot, lambda: not app.workers._workers)
        assert not isinstance(app.screen, JobKindDialog)
