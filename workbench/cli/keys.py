"""The command that lists the keys of the terminal, with the ids by which a person changes them."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.options.shared import JSON

EPILOG = """The file is TOML with a table for each screen; other keys keep their defaults:

  [jobs]
  pause = "P"
  retry = "ctrl+r,f6\""""


@verb(JSON, epilog=EPILOG)
def keys(options: Namespace) -> int:
    """Print every action of every screen with its id and its keys, and where other keys are chosen."""
    from workbench.tui.keymap import keymap_file, read_keymap

    keymap = read_keymap()
    rows = list(_rows(dict(keymap.keys)))
    known = {name for name, _, _ in rows}
    wrong = [*keymap.wrong, *(f"{name}: no action has this id" for name in keymap.keys if name not in known)]
    if options.json:
        print_json(
            {"file": str(keymap_file()), "keys": [{"id": i, "keys": k, "does": d} for i, k, d in rows], "wrong": wrong}
        )
        return 0
    for name, bound, does in rows:
        say(f"{name:<34} {bound:<28} {does}")
    say(f"\nTo change keys, edit {keymap_file()}.")
    for sentence in wrong:
        say(f"not used: {sentence}")
    return 0


def _rows(chosen: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield id, keys and what they do, of every screen."""
    from textual.binding import Binding

    import workbench.tui
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.key_words import does
    from workbench.tui.keymap import Keyed

    for module in pkgutil.walk_packages(workbench.tui.__path__, "workbench.tui."):
        import_module(module.name)
    found: dict[str, Binding] = {}
    for kind in (WorkbenchApp, *_below(Keyed)):
        for one in kind.__dict__.get("BINDINGS", ()):
            if isinstance(one, Binding) and one.id and one.description:
                found.setdefault(one.id, one)
    for name in sorted(found):
        yield name, chosen.get(name, found[name].key), does(found[name])


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)
