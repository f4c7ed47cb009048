"""Frozen plans from Python: the design and the options of judging, before the first answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stores.core.store import Store as OpenStore
from workbench import registry
from workbench.api.options import given
from workbench.api.results import Table
from workbench.audits.followed_plans import check
from workbench.commands.run import NOT_OF_DESIGN, RunCommand, run_options
from workbench.domain.designs import CORRECTIONS, SHOWN, FrozenPlan
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.formats.folder import expanded, put
from workbench.formats.plans import plan_text, read_plan
from workbench.pipeline.plans import frozen, judging


@dataclass(frozen=True, slots=True)
class Plan:
    """A frozen plan with its file. `workbench.run(store, plan=…)` follows it."""

    store: OpenStore
    "the store in which it is recorded"
    path: Path
    "its file"
    frozen: FrozenPlan
    "all that it fixes"

    @property
    def hash(self) -> str:
        """The SHA-256 of everything that the plan fixes."""
        return self.frozen.hash

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that will be asked."""
        return self.frozen.models

    def check(self) -> tuple[Table, ...]:
        """Return the comparison of every run with the plan, as `workbench plan --check` prints it.

        Rows have `planned`, `done` and `differs`. It is empty if nothing was asked by the plan.
        """
        return tuple(Table(table) for table in check(self.store, self.frozen))

    def __repr__(self) -> str:
        return visible(f"<Plan {self.hash[:SHOWN]} of {', '.join(self.models)}, in {self.path}>")


def freeze(
    store: OpenStore,
    file: str | Path,
    models: Sequence[str],
    audit: str,
    judged: Mapping[str, Any],
    compare: Sequence[str],
    correction: str,
    claims: Sequence[str],
    options: Mapping[str, Any],
) -> Plan:
    """Write a plan to a new file, and record it in the store. See `Store.plan`."""
    if not models:
        raise UsageError("found no model; name each that will be asked")
    if correction not in CORRECTIONS:
        raise UsageError(
            f"found the correction {correction!r}. Available: {', '.join(CORRECTIONS)}"
        )
    planned_options = [option for option in run_options() if option.name not in NOT_OF_DESIGN]
    designs = []
    for model in models:
        values = {**options, "audit": audit, "model": model}
        command = RunCommand.from_arguments(given(planned_options, values, "plan"))
        designs.append(command.design(store))
    judging_options = judging(
        registry.audit(audit), [f"{name}={_text(value)}" for name, value in judged.items()]
    )
    frozen_plan = frozen(store, designs, judging_options, compare, correction, claims)
    text, path = plan_text(frozen_plan), expanded(Path(file))
    put({path.name: text}, path.parent, force=False, beside=True)
    store.plans.add(frozen_plan.hash, text)
    return Plan(store, path, frozen_plan)


def opened(store: OpenStore, file: str | Path) -> Plan:
    """Return the plan in a file.

    Raises UsageError if it is not a plan, or was changed after it was frozen.
    """
    path = expanded(Path(file))
    return Plan(store, path, read_plan(path)[0])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
