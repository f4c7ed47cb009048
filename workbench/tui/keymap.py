"""The keys of the terminal, which a person may change: every binding has an id, and a file gives
ids other keys.

An id is the screen and the action: `jobs.pause`, `book.view-1`. The file is TOML, a table for each
screen; `workbench keys` lists all ids:

    [jobs]
    pause = "p"

    [app]
    keys = "f1,ctrl+k"

A key that something else has on the same screen is refused, and so are keys that label and whatever
would take away F1, Ctrl+P or q: every screen's bindings are read for that.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.keys import _character_to_key
from textual.screen import Screen

from workbench import registry
from workbench.codebooks import RESERVED_KEYS
from workbench.errors import WorkbenchError
from workbench.toml_files import read_toml
from workbench.tui.key_words import does, is_key

NAMED, MOST_FOUND = "keymap.toml", 60
"the file, and the characters of a value in it that a complaint repeats"


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that a person chose, and what of the file could not be used."""

    keys: Mapping[str, str]
    "id of a binding -> its keys with commas between"
    wrong: tuple[str, ...] = ()


def scope(name: str) -> str:
    """Return what the class of a screen is called in ids.

    Examples
    --------
    >>> scope("AuditedStatementScreen")
    'audited_statement'
    """
    return re.sub(
        r"(?<!^)(?=[A-Z])", "_", re.sub(r"(Screen|Form|Dialog|App)$", "", name) or name
    ).lower()


def with_ids(bindings: list[BindingType], owner: str) -> list[BindingType]:
    """Return bindings that have ids, made of the screen's name and the action."""
    found: list[BindingType] = []
    for one in bindings:
        binding = one if isinstance(one, Binding) else Binding(*one)
        found.append(
            binding
            if binding.id
            else replace(binding, id=f"{scope(owner)}.{_plain(binding.action)}")
        )
    return found


def _plain(action: str) -> str:
    """Return an action as a part of an id: `view-1` for `view(1)`, `view-minus-1` for
    `view(-1)`.
    """
    return re.sub(
        r"[^a-z0-9_]+", "-", action.removeprefix("app.").replace("(-", "(minus-").lower()
    ).strip("-")


class Keyed(DOMNode):
    """A screen whose keys have ids, so that a person can change them."""

    def __init_subclass__(cls, **options: Any) -> None:
        if "BINDINGS" in cls.__dict__:
            cls.BINDINGS = with_ids(cls.BINDINGS, cls.__name__)
        super().__init_subclass__(**options)


def keymap_file() -> Path:
    """Return where a person's own keys are."""
    from workbench.jobs.origin import config_folder

    return config_folder() / NAMED


def read_keymap(place: Path | None = None) -> Keymap:
    """Return the keys that a person chose, as they are written; none where there is no file."""
    try:
        place = place or keymap_file()
        tables = read_toml(place)
    except (
        WorkbenchError,
        ValueError,
        RuntimeError,
    ) as error:  # a path of no file, or nobody has a home
        if isinstance(error.__cause__, FileNotFoundError):
            return Keymap({})
        return Keymap(
            {}, (f"{place or NAMED}: cannot be read ({str(error).partition(chr(10))[0]})",)
        )
    keys: dict[str, str] = {}
    wrong = []
    for name, value in _entries(tables):
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else [""]
        if all(parts):
            keys[name] = ",".join(
                _character_to_key(part) if len(part) == 1 else part for part in parts
            )
        else:
            found = shorten(repr(value), MOST_FOUND, placeholder=" …")
            wrong.append(
                f'{name}: found {found}; give a key, or several separated by commas: "p", '
                '"ctrl+r,f6"'
            )
    return Keymap(keys, tuple(wrong))


def checked(keymap: Keymap, app: type[App[Any]]) -> Keymap:
    """Return a keymap without the entries that cannot be used, which it complains of. Imports all
    screens.
    """
    found = faults(keymap.keys, app) if keymap.keys else {}
    wrong = (
        *keymap.wrong,
        *(f'{name} = "{keymap.keys[name]}": {why}' for name, why in found.items()),
    )
    return Keymap({name: keys for name, keys in keymap.keys.items() if name not in found}, wrong)


def _entries(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for screen, actions in tables.items():
        if isinstance(actions, dict):
            yield from ((f"{screen}.{action}", keys) for action, keys in actions.items())
        else:
            yield screen, actions


TABLES: Mapping[str, str] = {
    "Following": "FigureTable SheetView",
    "QueuesScreen": "FigureTable SheetView",
    "IssueCasesScreen": "FigureTable SheetView",
    "AnswersScreen": "RecordTable",
    "JobsScreen": "RecordTable",
    "ProbeScreen": "RecordTable",
    "ArchivedScreen": "RecordTable",
    "SimilarScreen": "RecordTable",
    "StatementsScreen": "StatementTable",
    "ChecksScreen": "FindingsView",
    "HistoryScreen": "VersionTable",
    "ImportScreen": "FileTree",
    "IssueGridScreen": "IssueTable",
    "HomeScreen": "FactList",
}
"class of a screen -> classes of the tables on it, whose keys work together with its own"

Keys = list[tuple[str, Binding, type[Any]]]
"(key, binding, class that binds it)"


@cache
def screens() -> tuple[type[Screen[Any]], ...]:
    """Return the classes of all screens. Imports their modules: the first call takes most of a
    second.
    """
    package = import_module("workbench.tui")
    for module in pkgutil.walk_packages(package.__path__, "workbench.tui."):
        import_module(module.name)
    for audit in registry.every_audit():
        if audit.place is not None and not audit.place.screen:
            # Made of its options.
            import_module("workbench.tui.results.result_screen").screen_class(audit)
    found = {one for one in _below(Screen) if one.__module__.startswith("workbench.")}
    return tuple(sorted(found, key=lambda one: one.__name__))


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


@cache
def context(screen: type[Screen[Any]]) -> tuple[type[DOMNode], ...]:
    """Return the classes whose keys work together: the tables on a screen, and the screen."""
    named = {
        one.__name__: one for one in _below(DOMNode) if one.__module__.startswith("workbench.")
    }
    bases = {one.__name__ for one in screen.__mro__}
    tables = dict.fromkeys(
        table for base, of in TABLES.items() if base in bases for table in of.split()
    )
    return (*(named[table] for table in tables), screen)


def own_keys(kind: type[Any], chosen: Mapping[str, str] | None = None) -> Keys:
    """Return the keys of a class and of those it inherits them from, where a class takes a key from
    the ones it is derived from; `chosen`: id of a binding -> keys that a person gave it.
    """
    taken: dict[str, tuple[Binding, type[Any]]] = {}
    for each in kind.__mro__:
        if each.__module__.startswith("workbench."):
            for one in each.__dict__.get("BINDINGS", ()):
                binding = one if isinstance(one, Binding) else Binding(*one)
                for key in split(binding.key):
                    taken.setdefault(key, (binding, each))
        if not getattr(each, "_inherit_bindings", True):
            break
    chosen = chosen or {}
    found: Keys = [
        (key, binding, of) for key, (binding, of) in taken.items() if binding.id not in chosen
    ]
    moved = {binding.id: (binding, of) for binding, of in taken.values() if binding.id in chosen}
    return found + [(key, *one) for name, one in moved.items() for key in split(chosen[str(name)])]


def action_on(screen: Screen[Any], key: str) -> str:
    """Return the action of a key of a screen's own, as a person may have chosen it; "" where it has
    none.
    """
    keys = own_keys(type(screen), screen.app._keymap)
    return next((binding.action for of, binding, _ in keys if of == key), "")


def keys_of(screen: Screen[Any], action: str) -> list[str]:
    """Return the keys of an action of a screen, as a person may have chosen them."""
    return [
        key
        for key, binding, _ in own_keys(type(screen), screen.app._keymap)
        if binding.action == action
    ]


def split(keys: str) -> list[str]:
    """Return the names of keys that stand between commas."""
    return [key.strip() for key in keys.split(",")]


KEPT = {"f1": "F1", "ctrl+p": "Ctrl+P", "q": "q"}
"keys that stay what they are: the list of keys, the palette, and the way out"
LABELLED = frozenset({"ItemScreen", "AdjudicateScreen"})
"classes of screens where the letters of a codebook label"
MOVING = (
    "enter escape tab shift+tab up down left right pageup pagedown home end ctrl+c ctrl+i "
    "ctrl+m ctrl+q"
)


def faults(chosen: Mapping[str, str], app: type[App[Any]]) -> dict[str, str]:
    """Return why entries cannot be used, the later one of two that want the same key. Imports all
    screens.

    chosen : id of a binding -> its keys
    """
    known = bindings(app)
    found = {
        name: why for name, keys in chosen.items() if (why := _by_itself(name, split(keys), known))
    }
    while True:
        left = {name: keys for name, keys in chosen.items() if name not in found}
        everywhere = own_keys(app, left)
        places = [
            (screen, [key for kind in context(screen) for key in own_keys(kind, left)])
            for screen in screens()
        ]
        labelled = [
            keys
            for screen, keys in places
            if not LABELLED.isdisjoint(of.__name__ for of in screen.__mro__)
        ]
        together = [[*keys, *everywhere] for _, keys in places]
        taken = (
            (name, _taken(known[name], split(left[name]), together, labelled))
            for name in reversed(left)
        )
        clash = next(((name, why) for name, why in taken if why), None)
        if clash is None:
            return found
        found[clash[0]] = clash[1]


def bindings(app: type[App[Any]]) -> dict[str, Binding]:
    """Return every binding that a person can change, by its id."""
    found: dict[str, Binding] = {}
    for kind in (app, *screens()):
        for one in kind.__dict__.get("BINDINGS", ()):
            if isinstance(one, Binding) and one.id and one.description:
                found.setdefault(one.id, one)
    return found


def _by_itself(name: str, wanted: Sequence[str], known: Mapping[str, Binding]) -> str:
    """Say what is wrong with an entry, whatever the others say; "" where nothing is."""
    if name not in known:
        return "no action has this id"
    had = split(known[name].key)
    if unknown := [key for key in wanted if not is_key(key)]:
        return f"{unknown[0]!r} is no key"
    for key, called in KEPT.items():
        if key in had and key not in wanted:
            return f"{called} has to stay, beside other keys"
        if key in wanted and key not in had:
            return f"{called} cannot be given to something else"
    return ""


def _taken(
    binding: Binding, wanted: Sequence[str], together: Sequence[Keys], labelled: Sequence[Keys]
) -> str:
    """Say what one of the keys wanted does already where an action is; "" where they are free.

    together : the keys that work on each screen
    labelled : the keys of each screen with labels, whose keys the codebook says
    """
    for key in (key for key in wanted if key not in split(binding.key)):
        if key in MOVING.split():
            return f"{key} is for moving, opening and closing, everywhere"
        for keys in together:
            if any(one.id == binding.id for _, one, _ in keys):
                for of, one, kind in keys:
                    if of == key and one.description and _differ(one, binding):
                        return f"{key} is {one.id or kind.__name__} ({does(one)})"
        letter = len(key) == 1 and key not in RESERVED_KEYS
        if letter and any(one.id == binding.id for keys in labelled for _, one, _ in keys):
            return f"{key} is for labels: a codebook may choose it"
    return ""


def _differ(one: Binding, other: Binding) -> bool:
    return one.id != other.id and one.action.removeprefix("app.") != other.action.removeprefix(
        "app."
    )
