"""Tables that fit the terminal: of several forms, from the fullest to the barest, the first that has room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.cli.output import in_columns, room, table
from workbench.figures.visible import visible

GAP = 2


@dataclass(frozen=True, slots=True)
class Form:
    """A table in one of its forms."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    missing: str = ""
    "what this form leaves out and a fuller one has"

    @property
    def width(self) -> int:
        """Columns that it takes in one line a row."""
        cells = [self.headers, *self.rows]
        widths = (max(len(visible(row[place])) for row in cells) for place in range(len(self.headers)))
        return sum(widths) + GAP * (len(self.headers) - 1)


def print_fitting(*forms: Form, whole: int = 0) -> str:
    """Print the first form that has room, or the last; return what is to be said of what it leaves out."""
    columns = room()
    form = next((one for one in forms if one.width <= columns), forms[-1])
    table(form.headers, form.rows, whole=whole)
    return f"{form.missing}: {in_columns(forms[0].width)}" if form.missing else ""
