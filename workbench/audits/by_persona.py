"""Pairs of a run with a persona and the run without one, for tables by persona.

Audits that show several runs at once have these tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from workbench.figures.table import Column

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

KEY = r" \[[0-9a-f]+\]$"
"the end of a persona's name that distinguishes it from others of that name"
Row = TypeVar("Row")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WithPersona:
    """A run with a persona, and the run that differs from it only in the lack of one."""

    name: str
    baseline: str
    "name of the run without a persona"
    persona: str
    called: str
    "its name alone, as in a file of personas; two with different texts may have the same name"


def with_personas(
    runs: Mapping[str, Run], apart: Callable[[str], object] = lambda _: ""
) -> tuple[WithPersona, ...]:
    """Return every run with a persona whose baseline is among these runs, in their order.

    Parameters
    ----------
    apart : returns a further property of a run, by its name, that has to be equal: the template, if
        one run is under several templates
    """
    return tuple(
        WithPersona(
            persona_name,
            baseline_name,
            persona_run.persona_name,
            re.sub(KEY, "", persona_run.persona_name),
        )
        for baseline_name, baseline_run in runs.items()
        if not baseline_run.persona
        for persona_name, persona_run in runs.items()
        if persona_run.persona
        and persona_run.baseline == baseline_run.baseline
        and apart(persona_name) == apart(baseline_name)
    )


@dataclass(frozen=True, slots=True)
class PersonaRow(Generic[Found]):
    """The change of a figure by a persona, compared with the same run without it."""

    runs: WithPersona
    found: Found


def columns(comparison_of: Callable[[Row], WithPersona]) -> tuple[Column[Row], Column[Row]]:
    """Return the columns of the model and its persona."""
    return Column("model", "model", lambda row: comparison_of(row).baseline), Column(
        "persona", "persona", lambda row: comparison_of(row).persona
    )
