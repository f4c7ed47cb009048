"""Whoever sits at the terminal: asked whether to go on, and named as the one who makes a change."""

from __future__ import annotations

import os
import sys

from workbench.cli.verbs import Namespace
from workbench.domain.names import person_name
from workbench.errors import UsageError


def agreed(question: str = "Start? [Y/n] ", *, default: bool = True) -> bool:
    """Ask whether to go on; False where nobody can answer. `default`: what an empty line means.

    The question goes to standard error: standard output may be a program's.
    """
    if not sys.stdin.isatty():
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return input().strip().lower() in ("y", "yes", *[""] * default)


def at_terminal() -> bool:
    """Return whether a person reads what is printed, and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def edited(line: str) -> str:
    """Let a person change a line that stands at the prompt already; "" where nothing is left of it, or at Ctrl+D.

    readline, where there is one, puts it there; else it is printed and typed anew.
    """
    try:
        import readline
    except ImportError:
        print(line)
        return _typed()
    readline.set_startup_hook(lambda: readline.insert_text(line))
    try:
        return _typed()
    finally:
        readline.set_startup_hook()


def _typed() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


def check_agreed(options: Namespace) -> None:
    """Raise UsageError unless a person wants the job to start, with --yes or when asked."""
    if not options.yes and not agreed():
        raise UsageError("not started; where nobody can answer the question, give --yes")


def changed_by(options: Namespace) -> str:
    """Return who makes a change: --person, or who is logged in. Raises UsageError."""
    name = options.person or os.environ.get("USER", "")
    if not name:
        raise UsageError("this change needs a name; give --person NAME")
    return person_name(name)
