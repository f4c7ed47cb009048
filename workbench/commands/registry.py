"""The commands that start jobs, by the kind of their jobs. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from workbench.commands.command import JobCommand

JOB_COMMANDS = {
    "sample": "run.RunCommand",
    "train": "train.TrainCommand",
    "classify": "train.ClassifyCommand",
    "draft": "draft.DraftCommand",
    "check": "check.CheckCommand",
}
"kind of the job -> module and class, below `workbench.commands`"


def job_command(kind: str) -> type[JobCommand]:
    """Return the command that starts jobs of a kind. Raises KeyError for another kind."""
    module, _, name = JOB_COMMANDS[kind].rpartition(".")
    return cast("type[JobCommand]", getattr(import_module(f"workbench.commands.{module}"), name))
