"""The arguments of the command that lists what served models answered; see `main`."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.arguments import Commands
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options


def add_snapshots(commands: Commands) -> None:  # type: ignore[type-arg]  # generic only to type checkers
    """Add `snapshots`."""
    command = commands.add_parser(
        "snapshots", help="which snapshots and fingerprints of served models answered, and whether the latter matter"
    )
    command.add_argument("store", type=Path)
    command.add_argument("--model", help="default: all that are served")
    command.add_argument("--instrument", help="default: all")
    seed_option(command, "the permutation test")
    figure_options(command)


GROUPS = (add_snapshots,)
