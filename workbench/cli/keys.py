"""The command that lists the keys of the terminal, with the ids by which a person changes them."""

from __future__ import annotations

from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.options.shared import JSON

EPILOG = """The file is TOML with a table for each screen; other keys keep their defaults:

  [jobs]
  pause = "P"
  retry = "ctrl+r,f6"

An entry is not used where its key already does something else on the same
screen, labels answers, or takes F1, Ctrl+P or q away; the list ends with such
entries."""


@verb(JSON, epilog=EPILOG)
def keys(options: Namespace) -> int:
    """Print every action of every screen with its id and its keys, and where other keys are chosen."""
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.key_words import does
    from workbench.tui.keymap import checked, keymap_file, read_keymap
    from workbench.tui.keymap_faults import bindings

    keymap = checked(read_keymap(), WorkbenchApp)
    rows = [(name, keymap.keys.get(name, one.key), does(one)) for name, one in sorted(bindings(WorkbenchApp).items())]
    if options.json:
        print_json(
            {
                "file": str(keymap_file()),
                "keys": [{"id": i, "keys": k, "does": d} for i, k, d in rows],
                "wrong": keymap.wrong,
            }
        )
        return 0
    for name, bound, said in rows:
        say(f"{name:<34} {bound:<28} {said}")
    say(f"\nTo change keys, edit {keymap_file()}.")
    for sentence in keymap.wrong:
        say(f"not used: {sentence}")
    return 0
