"""Completion in a shell beyond verbs and options: store files, and names from the store at hand."""

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
"""a name that a shell takes as one word as it is, as a completion is put into a command line and
run on Enter"""


def complete(ctx: click.Context, option: Option, incomplete: str) -> Sequence[CompletionItem]:
    """Return the names that an option may have, from the store that is named so far."""
    if option.completes == "stores":
        return stores(incomplete)
    if option.completes == "topics":
        from workbench.help import topics

        return [
            CompletionItem(topic.name, help=topic.title)
            for topic in topics()
            if topic.name.startswith(incomplete)
        ]
    head, comma, last = incomplete.rpartition(",")
    names = _names(_store(ctx), option.completes)
    return [
        CompletionItem(f"{head}{comma}{name}")
        for name in names
        if name.startswith(last) and WORD.fullmatch(name)
    ]


def stores(incomplete: str) -> list[CompletionItem]:
    """Return the SQLite files that a word may become. If there is none, leave it to the shell."""
    path_so_far = Path(incomplete)
    folder = path_so_far if incomplete.endswith("/") else path_so_far.parent
    folder_text = incomplete[: incomplete.rfind("/") + 1]
    name_start = "" if incomplete.endswith("/") else path_so_far.name
    try:
        candidates = [path for path in sorted(folder.iterdir()) if path.name.startswith(name_start)]
        databases = [path for path in candidates if WORD.fullmatch(path.name) and is_sqlite(path)]
    except OSError:
        databases = []
    return [CompletionItem(f"{folder_text}{path.name}") for path in databases] or [
        CompletionItem(incomplete, type="file")
    ]


def _store(ctx: click.Context) -> Path | None:
    """Return the store that the words so far name.

    While the value of an option is missing, click leaves these words apart.
    """
    store: Path | None = ctx.params.get("store")
    return Path(ctx.args[0]) if store is None and ctx.args else store


def is_sqlite(path: Path) -> bool:
    """Return whether a file is a SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _names(path: Path | None, kind: str) -> Sequence[str]:
    """Return names from a store, which is only read.

    So pressing Tab migrates nothing and reports no error.
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
    """Print the script that a shell reads to complete command lines."""
    completion_class = get_completion_class(options.shell)
    if completion_class is None:
        raise UsageError(f"the shell {options.shell} is not supported")
    print(completion_class(click.Group(), {}, "workbench", COMPLETE).source())
    return 0
