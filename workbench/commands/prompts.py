"""Write the prompts of an audit for another program, to be answered there and imported."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from workbench.commands.command import ImmediateCommand, Outcome, option
from workbench.commands.run import RunCommand, design_options
from workbench.domain.names import plural
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.formats.prompt_files import LAYOUTS
from workbench.options.option import Option, Type

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.designs import Design

STAND_IN = "scripted"
"stands for the model that another program asks"


@dataclass(frozen=True)
class PromptsCommand(ImmediateCommand):
    """Write a design's prompts for another program, to be answered there and imported."""

    VERB = "prompts"
    READS_ONLY = True

    folder: Path = option(
        None, "a new or empty folder", type=Type.PATH, positional=True, required=True, metavar="DIR"
    )
    layout: str = option("csv", "for which program", choices=LAYOUTS)
    model: str = option("MODEL", "name that the prompts and requests have for it", metavar="NAME")
    request: RunCommand = field(default=RunCommand(STAND_IN))
    "what the other program is to ask, of a stand-in for its model"

    @classmethod
    def options(cls) -> dict[str, Option]:
        return {**super().options(), **{each.name: each for each in design_options()}}

    @classmethod
    def from_arguments(cls, arguments: SimpleNamespace) -> Self:
        """Return the command of a command line.

        Raises UsageError for an option of another audit, FieldError for an invalid value.
        """
        of_run = SimpleNamespace(**{**vars(arguments), "model": STAND_IN})
        return replace(super().from_arguments(arguments), request=RunCommand.from_arguments(of_run))

    def values(self) -> dict[str, Any]:
        return {**self.request.values(), **super().values()}

    def design(self, store: Store) -> Design:
        """Return the design whose prompts are written. Raises UsageError for an exact one."""
        design = self.request.design(store)
        if design.sampling.mode == EXACT:
            raise UsageError(
                "--exact computes probabilities, which other programs do not write down; leave "
                "it out"
            )
        return replace(design, model=self.model)

    def run(self, store: Store) -> Outcome:
        """Write the prompts. Raises WorkbenchError if they cannot be written."""
        from workbench.formats.folder import put
        from workbench.formats.prompt_files import prompt_files
        from workbench.pipeline import planning

        design = self.design(store)
        plan = planning.plan(store, design)
        files = prompt_files(self.layout, plan.probes, self.model, design.sampling, design.samples)
        put(files, self.folder, force=False)
        n_prompts, times = plural(len(plan.prompts), "prompt"), plural(design.samples, "time")
        flags = f"--audit {design.audit} --family {shlex.quote(design.family)}"
        sentence = f"{self.folder}: {n_prompts}, to be answered {times} each"
        next_step = f"{', '.join(files)}. Then: workbench import STORE FILE {flags}"
        data = {"folder": str(self.folder), "files": list(files), "prompts": len(plan.prompts)}
        return Outcome(sentence, data, next_step)
