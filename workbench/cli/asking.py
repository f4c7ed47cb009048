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


def check_agreed(options: Namespace) -> None:
    """Raise UsageError unless a person wants the job to start, with --yes or when asked."""
    if not options.yes and not agreed():
        raise UsageError("not started; give --yes where nobody can answer")


def changed_by(options: Namespace) -> str:
    """Return who makes a change: --person, or who is logged in. Raises UsageError."""
    name = options.person or os.environ.get("USER", "")
    if not name:
        raise UsageError("it is not known who makes this change; give --person NAME")
    return person_name(name)
