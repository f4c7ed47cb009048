"""The keys of every screen, read from the bindings of all screens."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from workbench import registry

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
    """Return the classes of all screens. Imports their modules: the first call takes most of a second."""
    package = import_module("workbench.tui")
    for module in pkgutil.walk_packages(package.__path__, "workbench.tui."):
        import_module(module.name)
    for audit in registry.every_audit():
        if audit.place is not None and not audit.place.screen:
            import_module("workbench.tui.results.result_screen").screen_class(audit)  # made of its options
    found = {one for one in _below(Screen) if one.__module__.startswith("workbench.")}
    return tuple(sorted(found, key=lambda one: one.__name__))


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


@cache
def context(screen: type[Screen[Any]]) -> tuple[type[DOMNode], ...]:
    """Return the classes whose keys work together: the tables on a screen, and the screen."""
    named = {one.__name__: one for one in _below(DOMNode) if one.__module__.startswith("workbench.")}
    bases = {one.__name__ for one in screen.__mro__}
    tables = dict.fromkeys(table for base, of in TABLES.items() if base in bases for table in of.split())
    return (*(named[table] for table in tables), screen)


def own_keys(kind: type[Any], chosen: Mapping[str, str] | None = None) -> Keys:
    """Return the keys of a class and of those it inherits them from, where a class takes a key from the ones it is
    derived from; `chosen`: id of a binding -> keys that a person gave it.
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
    found: Keys = [(key, binding, of) for key, (binding, of) in taken.items() if binding.id not in chosen]
    moved = {binding.id: (binding, of) for binding, of in taken.values() if binding.id in chosen}
    return found + [(key, *one) for name, one in moved.items() for key in split(chosen[str(name)])]


def action_on(screen: Screen[Any], key: str) -> str:
    """Return the action of a key of a screen's own, as a person may have chosen it; "" where it has none."""
    keys = own_keys(type(screen), screen.app._keymap)
    return next((binding.action for of, binding, _ in keys if of == key), "")


def keys_of(screen: Screen[Any], action: str) -> list[str]:
    """Return the keys of an action of a screen, as a person may have chosen them."""
    return [key for key, binding, _ in own_keys(type(screen), screen.app._keymap) if binding.action == action]


def split(keys: str) -> list[str]:
    """Return the names of keys that stand between commas."""
    return [key.strip() for key in keys.split(",")]
