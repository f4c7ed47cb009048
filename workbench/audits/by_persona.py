"""Runs with a persona beside the run without one, in the tables by persona of audits that show
several runs at once.
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
"what tells personas of one name apart, where there are several"
Row = TypeVar("Row")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WithPersona:
    """A run with a persona, and the run that differs from it in the lack of one alone."""

    name: str
    baseline: str
    "name of the run without a persona"
    persona: str
    called: str
    "its name alone, as a file of personas has it: two with other texts may be called alike"


def with_personas(
    runs: Mapping[str, Run], apart: Callable[[str], object] = lambda _: ""
) -> tuple[WithPersona, ...]:
    """Return every run with a persona whose baseline is among these runs, in their order.

    apart : what else of a run, by its name, has to be equal: of one run under several templates,
        the template
    """
    return tuple(
        WithPersona(name, base, other.persona_name, re.sub(KEY, "", other.persona_name))
        for base, run in runs.items()
        if not run.persona
        for name, other in runs.items()
        if other.persona and other.baseline == run.baseline and apart(name) == apart(base)
    )


@dataclass(frozen=True, slots=True)
class PersonaRow(Generic[Found]):
    """What a persona changes in a figure: against the same run without it."""

    runs: WithPersona
    found: Found


def columns(of: Callable[[Row], WithPersona]) -> tuple[Column[Row], Column[Row]]:
    """Return the columns of who answered and with which persona."""
    return Column("model", "model", lambda row: of(row).baseline), Column(
        "persona", "persona", lambda row: of(row).persona
    )
