"""What of a person's keys cannot be used: with it, one key would mean two things, or a way out would be lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.screen import Screen

from workbench.codebooks import RESERVED_KEYS
from workbench.tui.key_words import does, is_key
from workbench.tui.screen_keys import Keys, context, own_keys, screens, split

KEPT = {"f1": "F1", "ctrl+p": "Ctrl+P", "q": "q"}
"keys that stay what they are: the list of keys, the way to every action, and the way out"
READING = frozenset("adnu")
READ_ON = frozenset({"SessionScreen", "AnswersScreen"})
"classes of screens where answers are read: there these keys mean agree, disagree, neutral, unreadable"
LABELLED = frozenset({"ItemScreen", "AdjudicateScreen"})
"classes of screens where the letters of a codebook label"
ANYWHERE = frozenset(
    {
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
        "ctrl+c",
        "ctrl+i",
        "ctrl+m",
        "ctrl+q",
    }
)
FREE = (*ascii_lowercase, *ascii_uppercase, *(f"f{n}" for n in range(2, 13)))


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an entry is not used."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A screen with the keys that work together there."""

    screen: type[Screen[Any]]
    keys: Keys


def faults(chosen: Mapping[str, str], app: type[App[Any]]) -> tuple[Fault, ...]:
    """Return the entries that cannot be used, the later one of two that want the same key; those left are one set of
    keys. `chosen`: id of a binding -> its keys. Imports all screens.
    """
    known = bindings(app)
    left, found = dict(chosen), []
    for name in chosen:
        why = _by_itself(name, left[name], known)
        if why:
            found.append(Fault(name, why))
            del left[name]
    while (fault := _first(left, app, known)) is not None:
        found.append(fault)
        del left[fault.name]
    return tuple(found)


def bindings(app: type[App[Any]]) -> dict[str, Binding]:
    """Return every binding that a person can change, by its id."""
    found: dict[str, Binding] = {}
    for kind in (app, *screens()):
        for one in kind.__dict__.get("BINDINGS", ()):
            if isinstance(one, Binding) and one.id and one.description:
                found.setdefault(one.id, one)
    return found


def _by_itself(name: str, keys: str, known: Mapping[str, Binding]) -> str:
    """Say what is wrong with an entry, whatever the others say; "" where nothing is."""
    if name not in known:
        action = name.rpartition(".")[2]
        near = next((one for one in known if one.rpartition(".")[2] == action), "")
        return f"no action has this id{f'; {near} is one' if near else ''}"
    had, wanted = split(known[name].key), split(keys)
    if unknown := [key for key in wanted if not is_key(key)]:
        return f'{unknown[0]!r} is no key; a free one: "{_free(known[name], wanted, _places({}), known)}"'
    for key, called in KEPT.items():
        if key in had and key not in wanted:
            free = _free(known[name], wanted, _places({}), known)
            return f'{called} has to stay; "{key},{free}" gives it another key as well'
        if key in wanted and key not in had:
            free = _free(known[name], wanted, _places({}), known)
            return f'{called} cannot be given to something else; a free key: "{free}"'
    return ""


def _first(chosen: dict[str, str], app: type[App[Any]], known: Mapping[str, Binding]) -> Fault | None:
    """Return the last entry with a key that is taken; None where no key has two meanings."""
    places = _places(chosen)
    everywhere = own_keys(app, chosen)
    for name in reversed(chosen):
        binding, wanted = known[name], split(chosen[name])
        for key in wanted:
            if key not in split(binding.key) and (why := _taken(key, binding, places, everywhere)):
                free = _free(binding, wanted, places, {one.id or key: one for key, one, _ in everywhere})
                return Fault(name, f'{key} is {why}; a free key: "{free}"')
    return None


def _taken(key: str, binding: Binding, places: Sequence[_Place], everywhere: Keys) -> str:
    """Say what a key already does where an action is; "" where it is free."""
    if key in ANYWHERE:
        return "for moving, opening and closing, everywhere"
    whole = any(one.id == binding.id for _, one, _ in everywhere)
    for of, one, _ in everywhere:
        if of == key and _differ(one, binding):
            return f"{one.id} ({does(one)}), everywhere"
    for place in places:
        if not whole and all(one.id != binding.id for _, one, _ in place.keys):
            continue
        if key in READING and not READ_ON.isdisjoint(each.__name__ for each in place.screen.__mro__):
            return f"for reading answers, with {', '.join(sorted(READING - {key}))} ({place.screen.__name__})"
        if len(key) == 1 and key not in RESERVED_KEYS and not whole and _labels(place.screen):
            return f"for labels: a codebook may choose it, in either case ({place.screen.__name__})"
        for of, one, kind in place.keys:
            if of == key and _differ(one, binding) and one.description:
                return f"{one.id or kind.__name__} ({does(one)})"
    return ""


def _labels(screen: type[Screen[Any]]) -> bool:
    """Return whether labels have keys of their own on a screen, those of the codebook."""
    return not LABELLED.isdisjoint(each.__name__ for each in screen.__mro__)


def _differ(one: Binding, other: Binding) -> bool:
    return one.id != other.id and one.action.removeprefix("app.") != other.action.removeprefix("app.")


def _places(chosen: Mapping[str, str]) -> list[_Place]:
    return [_Place(screen, [one for kind in context(screen) for one in own_keys(kind, chosen)]) for screen in screens()]


def _free(binding: Binding, wanted: Sequence[str], places: Sequence[_Place], app: Mapping[str, Binding]) -> str:
    """Return a key that nothing has where an action is: the wanted letter in the other case, if it is free."""
    whole = str(binding.id).startswith("app.")
    here = [place for place in places if whole or any(one.id == binding.id for _, one, _ in place.keys)]
    used = {*split(binding.key), *(key for place in here for key, _, _ in place.keys), *READING, *KEPT}
    used |= {key for one in app.values() if str(one.id).startswith("app.") for key in split(one.key)}
    used |= {*ascii_lowercase, *ascii_uppercase} if not whole and any(_labels(one.screen) for one in here) else set()
    near = [key.swapcase() for key in wanted if len(key) == 1 and key.isalpha()]
    return next((key for key in (*near, *FREE) if key not in used), "ctrl+g")


def complaints(found: Sequence[Fault], chosen: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each entry that is not used."""
    for fault in found:
        yield f'{fault.name} = "{chosen[fault.name]}": {fault.sentence}'
