"""Carrying out a command that is done at once, and finding the one that a verb is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import print_outcome
from workbench.cli.verbs import Namespace

if TYPE_CHECKING:
    from workbench.commands.command import ImmediateCommand


def run_immediate(command: type[ImmediateCommand], options: Namespace) -> int:
    """Carry out a command that is done at once, and return the exit code."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        outcome = command.from_arguments(options).run(store)
    return print_outcome(options, outcome)


def act_of(
    commands: Sequence[type[ImmediateCommand]], options: Namespace
) -> type[ImmediateCommand] | None:
    """Return the command of a verb that the options ask for, or None."""
    for command in commands:
        if getattr(options, command.ACT) not in (None, False, ()):
            return command
    return None
