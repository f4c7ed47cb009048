"""What a shell completes beside verbs and options: store files, and names that the store at hand
holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from workbench.cli.verbs import Namespace, verb
from workbench.errors import UsageError
from workbench.options.option import Option

COMPLETE = "_WORKBENCH_COMPLETE"
"names the shell in which something is being completed"
SHELL = Option("shell", positional=True, required=True, choices=("bash", "zsh", "fish"))
SQLITE = b"SQLite format 3\0"
WORD = re.compile(r"[\w@%+=:./][\w@%+=:./-]*")
"""a name that a shell takes as one word as it is: what is completed is put into a command line, and
run on Enter"""


def complete(ctx: click.Context, option: Option, incomplete: str) -> Sequence[CompletionItem]:
    """Return the names that an option may have: those of the store that the command line names so
    far.
    """
    if option.completes == "stores":
        return stores(incomplete)
    if option.completes == "topics":
        from workbench.help import topics

        return [
            CompletionItem(one.name, help=one.title)
            for one in topics()
            if one.name.startswith(incomplete)
        ]
    head, comma, last = incomplete.rpartition(",")
    named = _names(_store(ctx), option.completes)
    return [
        CompletionItem(f"{head}{comma}{name}")
        for name in named
        if name.startswith(last) and WORD.fullmatch(name)
    ]


def stores(incomplete: str) -> list[CompletionItem]:
    """Return the SQLite files that a word may become; where there is none, leave it to the
    shell.
    """
    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    shown = incomplete[: incomplete.rfind("/") + 1]
    begun = "" if incomplete.endswith("/") else typed.name
    try:
        names = [path for path in sorted(folder.iterdir()) if path.name.startswith(begun)]
        found = [path for path in names if WORD.fullmatch(path.name) and is_sqlite(path)]
    except OSError:
        found = []
    return [CompletionItem(f"{shown}{path.name}") for path in found] or [
        CompletionItem(incomplete, type="file")
    ]


def _store(ctx: click.Context) -> Path | None:
    """Return the store that the words so far name: while the value of an option is missing, click
    leaves them apart.
    """
    found: Path | None = ctx.params.get("store")
    return Path(ctx.args[0]) if found is None and ctx.args else found


def is_sqlite(path: Path) -> bool:
    """Return whether a file is a database."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _names(path: Path | None, kind: str) -> Sequence[str]:
    """Return names out of a store that is only read: pressing Tab migrates nothing and reports no
    error.
    """
    if path is None or not is_sqlite(path):
        return ()
    from stores.core.contents import names

    return names(path, kind)


@verb(
    SHELL,
    epilog="Add this line to your shell's startup file, with the name of your shell:\n\n"
    '  eval "$(workbench completion bash)"',
)
def completion(options: Namespace) -> int:
    """Print what a shell has to read in order to complete command lines."""
    made = get_completion_class(options.shell)
    if made is None:
        raise UsageError(f"the shell {options.shell} is not supported")
    print(made(click.Group(), {}, "workbench", COMPLETE).source())
    return 0
