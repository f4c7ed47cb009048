"""The commands by the kind of their job or by their verb. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from workbench.commands.command import ImmediateCommand, JobCommand

JOB_COMMANDS = {
    "sample": "run.RunCommand",
    "train": "train.TrainCommand",
    "classify": "train.ClassifyCommand",
    "draft": "draft.DraftCommand",
    "check": "check.CheckCommand",
}
"kind of the job -> module and class, below `workbench.commands`"
IMMEDIATE_COMMANDS = {
    "report": "report.ReportCommand",
    "export": "export.ExportCommand",
    "prompts": "prompts.PromptsCommand",
    "sample": "sample.SampleCommand",
}
"verb of a command that is done at once -> module and class"


def job_command(kind: str) -> type[JobCommand]:
    """Return the command that starts jobs of a kind. Raises KeyError for another kind."""
    return cast("type[JobCommand]", _command(JOB_COMMANDS[kind]))


def immediate_command(verb: str) -> type[ImmediateCommand]:
    """Return the command of a verb that is done at once. Raises KeyError for another verb."""
    return cast("type[ImmediateCommand]", _command(IMMEDIATE_COMMANDS[verb]))


def _command(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"workbench.commands.{module}"), name)
