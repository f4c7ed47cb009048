"""What of a person's keys cannot be used: with it, one key would mean two things, or a way out would be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import App
from textual.binding import Binding

from workbench.codebooks import RESERVED_KEYS
from workbench.tui.key_words import does, is_key
from workbench.tui.screen_keys import Keys, context, own_keys, screens, split

KEPT = {"f1": "F1", "ctrl+p": "Ctrl+P", "q": "q"}
"keys that stay what they are: the list of keys, the palette, and the way out"
LABELLED = frozenset({"ItemScreen", "AdjudicateScreen"})
"classes of screens where the letters of a codebook label"
MOVING = "enter escape tab shift+tab up down left right pageup pagedown home end ctrl+c ctrl+i ctrl+m ctrl+q"


def faults(chosen: Mapping[str, str], app: type[App[Any]]) -> dict[str, str]:
    """Return why entries cannot be used, the later one of two that want the same key. Imports all screens.

    chosen : id of a binding -> its keys
    """
    known = bindings(app)
    found = {name: why for name, keys in chosen.items() if (why := _by_itself(name, split(keys), known))}
    while True:
        left = {name: keys for name, keys in chosen.items() if name not in found}
        everywhere = own_keys(app, left)
        places = [(screen, [key for kind in context(screen) for key in own_keys(kind, left)]) for screen in screens()]
        labelled = [keys for screen, keys in places if not LABELLED.isdisjoint(of.__name__ for of in screen.__mro__)]
        together = [[*keys, *everywhere] for _, keys in places]
        taken = ((name, _taken(known[name], split(left[name]), together, labelled)) for name in reversed(left))
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


def _taken(binding: Binding, wanted: Sequence[str], together: Sequence[Keys], labelled: Sequence[Keys]) -> str:
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
    return one.id != other.id and one.action.removeprefix("app.") != other.action.removeprefix("app.")
