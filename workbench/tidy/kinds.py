"""All kinds of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.errors import UnknownName
from workbench.tidy.answers import ANSWERS, READINGS
from workbench.tidy.columns import Rows
from workbench.tidy.figures import FIGURES, VERDICTS
from workbench.tidy.people import LABELS, RULINGS

KINDS: Mapping[str, Rows] = {one.name: one for one in (ANSWERS, READINGS, LABELS, RULINGS, VERDICTS, FIGURES)}


def kinds(names: Sequence[str]) -> tuple[Rows, ...]:
    """Return kinds of rows by their names, each once. Raises UnknownName."""
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise UnknownName(f"--what has no {', '.join(map(repr, unknown))}. Available: {', '.join(KINDS)}")
    return tuple(KINDS[name] for name in dict.fromkeys(names))
