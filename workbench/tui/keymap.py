"""The keys of the terminal, which a person may change: every binding has an id, and a file gives ids other keys.

An id is the screen and the action: `jobs.pause`, `book.view-1`. The file is TOML, a table for each screen;
`workbench keys` lists all ids:

    [jobs]
    pause = "p"

    [app]
    keys = "f1,ctrl+k"

A key that something else has on the same screen is refused, and so are keys that label and whatever would take away F1,
Ctrl+P or q: `screen_keys` says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.keys import _character_to_key

from workbench.errors import WorkbenchError
from workbench.toml_files import read_toml

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
    return re.sub(r"(?<!^)(?=[A-Z])", "_", re.sub(r"(Screen|Form|Dialog|App)$", "", name) or name).lower()


def with_ids(bindings: list[BindingType], owner: str) -> list[BindingType]:
    """Return bindings that have ids, made of the screen's name and the action."""
    found: list[BindingType] = []
    for one in bindings:
        binding = one if isinstance(one, Binding) else Binding(*one)
        found.append(binding if binding.id else replace(binding, id=f"{scope(owner)}.{_plain(binding.action)}"))
    return found


def _plain(action: str) -> str:
    """Return an action as a part of an id: `view-1` for `view(1)`, `view-minus-1` for `view(-1)`."""
    return re.sub(r"[^a-z0-9_]+", "-", action.removeprefix("app.").replace("(-", "(minus-").lower()).strip("-")


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
    except (WorkbenchError, ValueError, RuntimeError) as error:  # a path of no file, or nobody has a home
        if isinstance(error.__cause__, FileNotFoundError):
            return Keymap({})
        return Keymap({}, (f"{place or NAMED}: cannot be read ({str(error).partition(chr(10))[0]})",))
    keys: dict[str, str] = {}
    wrong = []
    for name, value in _entries(tables):
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else [""]
        if all(parts):
            keys[name] = ",".join(_character_to_key(part) if len(part) == 1 else part for part in parts)
        else:
            found = shorten(repr(value), MOST_FOUND, placeholder=" …")
            wrong.append(f'{name}: found {found}; give a key, or several separated by commas: "p", "ctrl+r,f6"')
    return Keymap(keys, tuple(wrong))


def checked(keymap: Keymap, app: type[App[Any]]) -> Keymap:
    """Return a keymap without the entries that cannot be used, which it complains of. Imports all screens."""
    from workbench.tui.screen_keys import faults

    found = faults(keymap.keys, app) if keymap.keys else {}
    wrong = (*keymap.wrong, *(f'{name} = "{keymap.keys[name]}": {why}' for name, why in found.items()))
    return Keymap({name: keys for name, keys in keymap.keys.items() if name not in found}, wrong)


def _entries(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for screen, actions in tables.items():
        if isinstance(actions, dict):
            yield from ((f"{screen}.{action}", keys) for action, keys in actions.items())
        else:
            yield screen, actions
