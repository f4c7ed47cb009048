"""The keys of the terminal, which the user can change: a file gives other keys to binding ids.

An id is the screen and the action: `jobs.pause`, `book.view-1`. The file is TOML, with a table for
each screen. `workbench keys` lists all ids:

    [jobs]
    pause = "p"

    [app]
    keys = "f1,ctrl+k"

A key that something else has on the same screen is refused, and so are keys that label and entries
that would take away F1, Ctrl+P or q. Every screen's bindings are read for that.
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
from workbench.tui.key_words import effect_of, is_key

NAMED, MOST_FOUND = "keymap.toml", 60
"name of the file, and maximum characters of a value in a complaint"


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that the user chose, and complaints about the file."""

    keys: Mapping[str, str]
    "keys with commas between, by the id of a binding"
    wrong: tuple[str, ...] = ()


def scope(name: str) -> str:
    """Return the name of a screen's class in ids.

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
    bindings_with_ids: list[BindingType] = []
    for declared in bindings:
        binding = declared if isinstance(declared, Binding) else Binding(*declared)
        bindings_with_ids.append(
            binding
            if binding.id
            else replace(binding, id=f"{scope(owner)}.{_plain(binding.action)}")
        )
    return bindings_with_ids


def _plain(action: str) -> str:
    """Return an action as part of an id: `view-1` for `view(1)`, `view-minus-1` for `view(-1)`."""
    return re.sub(
        r"[^a-z0-9_]+", "-", action.removeprefix("app.").replace("(-", "(minus-").lower()
    ).strip("-")


class Keyed(DOMNode):
    """A screen whose keys have ids, so that the user can change them."""

    def __init_subclass__(cls, **options: Any) -> None:
        if "BINDINGS" in cls.__dict__:
            cls.BINDINGS = with_ids(cls.BINDINGS, cls.__name__)
        super().__init_subclass__(**options)


def keymap_file() -> Path:
    """Return the path of the user's own keys."""
    from workbench.jobs.origin import config_folder

    return config_folder() / NAMED


def read_keymap(place: Path | None = None) -> Keymap:
    """Return the user's keys as they are written, or none if there is no file."""
    try:
        place = place or keymap_file()
        tables = read_toml(place)
    except (
        WorkbenchError,
        ValueError,
        RuntimeError,
    ) as error:  # The path is of no file, or the user has no home.
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
            shown_value = shorten(repr(value), MOST_FOUND, placeholder=" …")
            wrong.append(
                f'{name}: found {shown_value}; give a key, or several separated by commas: "p", '
                '"ctrl+r,f6"'
            )
    return Keymap(keys, tuple(wrong))


def checked(keymap: Keymap, app: type[App[Any]]) -> Keymap:
    """Return a keymap without the invalid entries, with complaints about them.

    Imports all screens.
    """
    fault_by_id = faults(keymap.keys, app) if keymap.keys else {}
    wrong = (
        *keymap.wrong,
        *(f'{name} = "{keymap.keys[name]}": {reason}' for name, reason in fault_by_id.items()),
    )
    return Keymap(
        {name: keys for name, keys in keymap.keys.items() if name not in fault_by_id}, wrong
    )


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
"classes of the tables on a screen, whose keys work together with its own, by its class"

Keys = list[tuple[str, Binding, type[Any]]]
"(key, binding, class that binds it)"


@cache
def screens() -> tuple[type[Screen[Any]], ...]:
    """Return the classes of all screens.

    Imports their modules: the first call takes most of a second.
    """
    package = import_module("workbench.tui")
    for module in pkgutil.walk_packages(package.__path__, "workbench.tui."):
        import_module(module.name)
    for audit in registry.every_audit():
        if audit.place is not None and not audit.place.screen:
            # Its class is made of its options.
            import_module("workbench.tui.results.result_screen").screen_class(audit)
    classes = {
        screen_class
        for screen_class in _below(Screen)
        if screen_class.__module__.startswith("workbench.")
    }
    return tuple(sorted(classes, key=lambda found_class: found_class.__name__))


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)


@cache
def context(screen: type[Screen[Any]]) -> tuple[type[DOMNode], ...]:
    """Return the classes whose keys work together: the tables on a screen, and the screen."""
    class_by_name = {
        node_class.__name__: node_class
        for node_class in _below(DOMNode)
        if node_class.__module__.startswith("workbench.")
    }
    base_names = {base_class.__name__ for base_class in screen.__mro__}
    tables = dict.fromkeys(
        table
        for base, table_names in TABLES.items()
        if base in base_names
        for table in table_names.split()
    )
    return (*(class_by_name[table] for table in tables), screen)


def own_keys(kind: type[Any], chosen: Mapping[str, str] | None = None) -> Keys:
    """Return the keys of a class and of its base classes, unless the class rebinds them.

    `chosen`: the user's keys of a binding, by its id.
    """
    binding_by_key: dict[str, tuple[Binding, type[Any]]] = {}
    for base_class in kind.__mro__:
        if base_class.__module__.startswith("workbench."):
            for declared in base_class.__dict__.get("BINDINGS", ()):
                binding = declared if isinstance(declared, Binding) else Binding(*declared)
                for key in split(binding.key):
                    binding_by_key.setdefault(key, (binding, base_class))
        if not getattr(base_class, "_inherit_bindings", True):
            break
    chosen = chosen or {}
    unchanged: Keys = [
        (key, binding, owner)
        for key, (binding, owner) in binding_by_key.items()
        if binding.id not in chosen
    ]
    changed = {
        binding.id: (binding, owner)
        for binding, owner in binding_by_key.values()
        if binding.id in chosen
    }
    return unchanged + [
        (key, *entry) for name, entry in changed.items() for key in split(chosen[str(name)])
    ]


def action_on(screen: Screen[Any], key: str) -> str:
    """Return the action of a screen's own key in the user's keymap, or an empty string."""
    keys = own_keys(type(screen), screen.app._keymap)
    return next((binding.action for bound_key, binding, _ in keys if bound_key == key), "")


def keys_of(screen: Screen[Any], action: str) -> list[str]:
    """Return the keys of an action of a screen, in the user's keymap."""
    return [
        key
        for key, binding, _ in own_keys(type(screen), screen.app._keymap)
        if binding.action == action
    ]


def split(keys: str) -> list[str]:
    """Return the names of keys in a text with commas between them."""
    return [key.strip() for key in keys.split(",")]


KEPT = {"f1": "F1", "ctrl+p": "Ctrl+P", "q": "q"}
"keys that always keep their action: the list of keys, the palette, and the way out"
LABELLED = frozenset({"ItemScreen", "AdjudicateScreen"})
"classes of screens where the letters of a codebook label"
MOVING = (
    "enter escape tab shift+tab up down left right pageup pagedown home end ctrl+c ctrl+i "
    "ctrl+m ctrl+q"
)


def faults(chosen: Mapping[str, str], app: type[App[Any]]) -> dict[str, str]:
    """Return the reasons why entries are invalid, by id.

    Of two entries with the same key, the later one is invalid. `chosen` has the keys of a binding
    by its id. Imports all screens.
    """
    binding_by_id = bindings(app)
    fault_by_id = {}
    for name, keys in chosen.items():
        if reason := _by_itself(name, split(keys), binding_by_id):
            fault_by_id[name] = reason
    while True:
        valid_entries = {name: keys for name, keys in chosen.items() if name not in fault_by_id}
        # An entry that clashes gives its default keys back, so all others are checked again.
        clash = KeyClashes(app, binding_by_id, valid_entries).last()
        if clash is None:
            return fault_by_id
        name, reason = clash
        fault_by_id[name] = reason


class KeyClashes:
    """The clashes of the user's keys with others that work on the same screen."""

    def __init__(
        self, app: type[App[Any]], binding_by_id: Mapping[str, Binding], chosen: dict[str, str]
    ):
        """Read the keys of all screens. `chosen` has the user's keys of a binding by its id."""
        self._binding_by_id = binding_by_id
        self._chosen = chosen
        self._together: list[Keys] = []
        "keys that work together, of each screen"
        self._labelled: list[Keys] = []
        "keys of each screen with labels, where a codebook defines further keys"
        app_keys = own_keys(app, chosen)
        for screen in screens():
            keys = [key for kind in context(screen) for key in own_keys(kind, chosen)]
            self._together.append([*keys, *app_keys])
            if not LABELLED.isdisjoint(base_class.__name__ for base_class in screen.__mro__):
                self._labelled.append(keys)

    def last(self) -> tuple[str, str] | None:
        """Return the id of the last entry with a clash, and the reason, or None without any."""
        for name in reversed(self._chosen):
            if reason := self._fault(name):
                return name, reason
        return None

    def _fault(self, name: str) -> str:
        """Return the clash of an entry's first key with one, or an empty string."""
        binding = self._binding_by_id[name]
        default_keys = split(binding.key)
        for key in split(self._chosen[name]):
            if key not in default_keys and (reason := self._key_fault(binding, key)):
                return reason
        return ""

    def _key_fault(self, binding: Binding, key: str) -> str:
        if key in MOVING.split():
            return f"{key} is for moving, opening and closing, everywhere"
        if other := self._other_use(binding, key):
            return f"{key} is {other}"
        is_letter = len(key) == 1 and key not in RESERVED_KEYS
        if is_letter and any(_has(keys, binding) for keys in self._labelled):
            return f"{key} is for labels: a codebook may choose it"
        return ""

    def _other_use(self, binding: Binding, key: str) -> str:
        """Return the action that a key has beside a binding, or an empty string without one."""
        for keys in self._together:
            if not _has(keys, binding):
                continue
            for bound_key, other, kind in keys:
                if bound_key == key and other.description and _differ(other, binding):
                    return f"{other.id or kind.__name__} ({effect_of(other)})"
        return ""


def _has(keys: Keys, binding: Binding) -> bool:
    return any(bound.id == binding.id for _, bound, _ in keys)


def bindings(app: type[App[Any]]) -> dict[str, Binding]:
    """Return every binding that the user can change, by its id."""
    binding_by_id: dict[str, Binding] = {}
    for owner in (app, *screens()):
        for declared in owner.__dict__.get("BINDINGS", ()):
            if isinstance(declared, Binding) and declared.id and declared.description:
                binding_by_id.setdefault(declared.id, declared)
    return binding_by_id


def _by_itself(name: str, wanted: Sequence[str], known: Mapping[str, Binding]) -> str:
    """Return the fault of an entry by itself, or an empty string."""
    if name not in known:
        return "no action has this id"
    default_keys = split(known[name].key)
    if unknown_keys := [key for key in wanted if not is_key(key)]:
        return f"{unknown_keys[0]!r} is no key"
    for key, key_name in KEPT.items():
        if key in default_keys and key not in wanted:
            return f"{key_name} has to stay, beside other keys"
        if key in wanted and key not in default_keys:
            return f"{key_name} cannot be given to something else"
    return ""


def _differ(binding: Binding, other: Binding) -> bool:
    """Return whether two bindings have different ids and different actions."""
    own_action, other_action = (
        compared.action.removeprefix("app.") for compared in (binding, other)
    )
    return binding.id != other.id and own_action != other_action
