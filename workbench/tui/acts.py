"""Every act of every screen, read from the bindings of all screens, and the way to each."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from workbench import registry
from workbench.tui.key_words import does
from workbench.tui.ways import ON, ROOTS, RUNS, WAYS, Way

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
    from workbench.tui.results.result_screen import screen_class

    package = import_module("workbench.tui")
    for module in pkgutil.walk_packages(package.__path__, "workbench.tui."):
        import_module(module.name)
    for audit in registry.every_audit():
        if audit.options is not None and audit.place is not None and not audit.place.screen:
            screen_class(audit)
    found = {one for one in _below(Screen) if one.__module__.startswith("workbench.")}
    return tuple(sorted(found, key=lambda one: one.__name__))


def shown() -> list[type[Screen[Any]]]:
    """Return the classes of screens that are shown, not only derived from."""
    return [one for one in screens() if one.__name__ in ROOTS or one.__name__ in WAYS]


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


@dataclass(frozen=True, slots=True)
class Act:
    """What a key does on a screen."""

    screen: type[Screen[Any]]
    binding: Binding
    of: type[Any]
    "class that binds it: the screen, one that it is derived from, or a table on it"

    @property
    def says(self) -> str:
        return does(self.binding)

    @property
    def name(self) -> str:
        return self.binding.action.partition("(")[0].removeprefix("app.")

    @property
    def runs(self) -> bool:
        """Whether it is done as soon as its screen is there: it needs nothing chosen first."""
        return self.name in RUNS.get(self.of.__name__, "").split()

    @property
    def way(self) -> Sequence[tuple[str, Way]]:
        """The screens on the way to its own and how each is opened, the first place, which has no way, left out."""
        return way(self.screen.__name__)

    @property
    def root(self) -> str:
        """The class of the screen from which the way begins; empty: it is found wherever something is asked."""
        return self.way[0][1].above if self.way else self.screen.__name__

    def words(self, app: App[Any]) -> str:
        """Return where it is done, with which key, on what: `3 Jobs, p on a running job`."""
        by_name = {one.__name__: one for one in screens()}
        parts = [_place(app, self.root)] if self.root else []
        for _, one in self.way:
            if not one.above:
                parts.append(one.on)
                continue
            bound = next((b for _, b, _ in _keys(by_name[one.above]) if b.action == one.by), None)
            parts.append(_on("Enter" if bound is None else key_of(app, bound), one.on))
        parts.append(_on(key_of(app, self.binding), ON.get(f"{self.of.__name__}.{self.name}", "")))
        return ", ".join(parts)


def way(name: str) -> tuple[tuple[str, Way], ...]:
    """Return how a screen is reached from one of the places that a key or a route leads to."""
    if name in ROOTS or name not in WAYS:
        return ()
    one = WAYS[name]
    return (*way(one.above), (name, one))


def key_of(app: App[Any], binding: Binding) -> str:
    """Return the first key of a binding, as it is shown, where a person chose another one: that."""
    chosen = app._keymap.get(binding.id or "", "")
    first = split(chosen or binding.key)[0]
    return app.get_key_display(binding.with_key(first) if chosen or not binding.key_display else binding)


def _keys(screen: type[Screen[Any]]) -> Keys:
    return [one for kind in context(screen) for one in own_keys(kind)]


def _on(key: str, what: str) -> str:
    return f"{key} on {what}" if what else key


def _place(app: App[Any], root: str) -> str:
    """Return what leads to a place: `3 Jobs`."""
    mode = ROOTS[root]
    for one in type(app).BINDINGS:
        if isinstance(one, Binding) and one.action in (f"go('{mode}')", mode):
            return f"{key_of(app, one)} {one.description or mode.replace('_', ' ').capitalize()}"
    return mode.capitalize()


@cache
def acts() -> tuple[Act, ...]:
    """Return every act that has a sentence: one that several screens share for each place, or else once."""
    found: dict[tuple[str, ...], list[Act]] = {}
    for screen in shown():
        done = set()
        for kind in context(screen):
            for _, binding, of in own_keys(kind):
                if binding.description and (binding.action, does(binding)) not in done:
                    done.add((binding.action, does(binding)))
                    shared = "" if of is not screen else screen.__name__
                    found.setdefault((of.__name__, binding.action, does(binding), shared), []).append(
                        Act(screen, binding, of)
                    )
    chosen = []
    for several in found.values():
        there = [one for one in several if not one.way and one.runs]
        chosen += there or sorted(several, key=lambda one: (not one.root, len(one.way)))[:1]
    return tuple(chosen)
