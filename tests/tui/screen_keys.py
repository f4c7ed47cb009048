"""The keys that work together on a screen: its own, and those of the tables on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from workbench.tui.keymap import screens, split

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


def below(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield the classes that derive from a class."""
    for subclass in kind.__subclasses__():
        yield subclass
        yield from below(subclass)


@cache
def context(screen: type[Screen[Any]]) -> tuple[type[DOMNode], ...]:
    """Return the classes whose keys work together: the tables on a screen, and the screen."""
    screens()  # imports the classes
    class_by_name = {
        node_class.__name__: node_class
        for node_class in below(DOMNode)
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


def own_keys(kind: type[Any]) -> Keys:
    """Return the keys of a class and of its base classes, unless the class rebinds them."""
    binding_by_key: dict[str, tuple[Binding, type[Any]]] = {}
    for base_class in kind.__mro__:
        if base_class.__module__.startswith("workbench."):
            for declared in base_class.__dict__.get("BINDINGS", ()):
                binding = declared if isinstance(declared, Binding) else Binding(*declared)
                for key in split(binding.key):
                    binding_by_key.setdefault(key, (binding, base_class))
        if not getattr(base_class, "_inherit_bindings", True):
            break
    return [(key, binding, owner) for key, (binding, owner) in binding_by_key.items()]
