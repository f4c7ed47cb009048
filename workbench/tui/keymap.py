"""The keys of the terminal, which the user can change: a file gives other keys to binding ids.

An id is the screen and the action: `jobs.pause`, `book.view-1`. The file is TOML, with a table for
each screen. `workbench keys` lists all ids:

    [jobs]
    pause = "p"

    [app]
    keys = "f1,ctrl+k"

A key that the screen or the app has for something else is refused, and so are keys that label and
entries that would take away F1, Ctrl+P or q. A table or field with the focus takes its keys first.
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
from textual.binding import Binding, BindingsMap, BindingType
from textual.dom import DOMNode
from textual.keys import REPLACED_KEYS, Keys, _character_to_key, key_to_character
from textual.screen import Screen

from workbench import registry
from workbench.codebooks import RESERVED_KEYS
from workbench.errors import WorkbenchError
from workbench.toml_files import read_toml

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


def bindings(app: type[App[Any]]) -> dict[str, Binding]:
    """Return every binding that the user can change, by its id."""
    binding_by_id: dict[str, Binding] = {}
    for owner in (app, *screens()):
        for binding in _declared(owner):
            if binding.id and binding.description:
                binding_by_id.setdefault(binding.id, binding)
    return binding_by_id


def _declared(owner: type[Any]) -> Iterator[Binding]:
    for declared in owner.__dict__.get("BINDINGS", ()):
        if isinstance(declared, Binding):
            yield declared


def action_on(screen: Screen[Any], key: str) -> str:
    """Return the action of a screen's own key in the user's keymap, or an empty string."""
    for bound_key, binding in _bound(screen):
        if bound_key == key:
            return binding.action
    return ""


def keys_of(screen: Screen[Any], action: str) -> list[str]:
    """Return the keys of an action of a screen, in the user's keymap."""
    return [key for key, binding in _bound(screen) if binding.action == action]


def _bound(screen: Screen[Any]) -> BindingsMap:
    """Return the keys of a screen as Textual applies the user's keymap to them."""
    bindings_map = screen._bindings.copy()
    bindings_map.apply_keymap(screen.app._keymap)
    return bindings_map


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
    label_ids = _ids_beside_labels()
    fault_by_id = {}
    for name, keys in chosen.items():
        if name not in binding_by_id:
            fault_by_id[name] = "no action has this id"
        elif reason := _fault(binding_by_id[name], split(keys), name in label_ids):
            fault_by_id[name] = reason
    app_bindings = _single_keys(app)
    together = [[*_single_keys(screen), *app_bindings] for screen in screens()]
    while True:
        # An entry that clashes gives its default keys back, so all others are checked again.
        valid_entries = {name: keys for name, keys in chosen.items() if name not in fault_by_id}
        clash = _last_clash(valid_entries, binding_by_id, together)
        if clash is None:
            return fault_by_id
        name, reason = clash
        fault_by_id[name] = reason


def _single_keys(kind: type[DOMNode]) -> list[Binding]:
    """Return the bindings of a class as Textual merges them, a binding for each key."""
    return [binding for _, binding in kind._merge_bindings()]


def _last_clash(
    chosen: Mapping[str, str],
    binding_by_id: Mapping[str, Binding],
    together: Sequence[Sequence[Binding]],
) -> tuple[str, str] | None:
    """Return the id of the last entry whose key something else has, and what, or None.

    Textual reports no clash with a binding that has an id, and takes the key from it, so that this
    is not left to `App.handle_bindings_clash`. `together`: the bindings of each screen and the app.
    """
    for name in reversed(list(chosen)):
        binding = binding_by_id[name]
        new_keys = set(split(chosen[name])) - set(split(binding.key))
        for screen_bindings in together:
            if all(other.id != name for other in screen_bindings):
                continue
            for other in screen_bindings:
                other_keys = split(chosen.get(other.id or "", other.key))
                taken_keys = new_keys.intersection(other_keys)
                if taken_keys and other.description and _differ(other, binding):
                    owner = other.id or other.action
                    return name, f"{min(taken_keys)} is {owner} ({effect_of(other)})"
    return None


def _ids_beside_labels() -> set[str]:
    """Return the ids of the bindings on screens where a codebook defines further keys."""
    ids: set[str] = set()
    for screen in screens():
        if not LABELLED.isdisjoint(base_class.__name__ for base_class in screen.__mro__):
            for base_class in screen.__mro__:
                ids.update(binding.id for binding in _declared(base_class) if binding.id)
    return ids


def _fault(binding: Binding, keys: Sequence[str], is_beside_labels: bool) -> str:
    """Return why a binding cannot have these keys, or an empty string."""
    default_keys = split(binding.key)
    for key, key_name in KEPT.items():
        if key in default_keys and key not in keys:
            return f"{key_name} has to stay, beside other keys"
    for key in keys:
        if not is_key(key):
            return f"{key!r} is no key"
        if key in default_keys:
            continue
        if key in KEPT:
            return f"{KEPT[key]} cannot be given to something else"
        if key in MOVING.split():
            return f"{key} is for moving, opening and closing, everywhere"
        if is_beside_labels and len(key) == 1 and key not in RESERVED_KEYS:
            return f"{key} is for labels: a codebook may choose it"
    return ""


def _differ(binding: Binding, other: Binding) -> bool:
    """Return whether two bindings have different ids and different actions."""
    own_action, other_action = (
        compared.action.removeprefix("app.") for compared in (binding, other)
    )
    return binding.id != other.id and own_action != other_action


def effect_of(binding: Binding) -> str:
    """Return a sentence on the effect of a key, or the name that Textual gave it."""
    return binding.tooltip or binding.description


NAMED_KEYS = frozenset(named_key.value for named_key in Keys)


def is_key(key: str) -> bool:
    """Return whether a terminal can send a key of this name."""
    *modifiers, name = key.split("+")
    if key in NAMED_KEYS:
        return True
    if not name or not set(modifiers) <= {"ctrl", "shift", "alt", "meta", "super"}:
        return False
    character = name if len(name) == 1 else key_to_character(REPLACED_KEYS.get(name, name))
    return name in NAMED_KEYS or (character is not None and _character_to_key(character) == name)
