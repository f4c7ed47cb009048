"""The cells of tables that hold multiple-choice questions."""

from __future__ import annotations

from workbench.domain.choice_texts import Fault, parse_choice
from workbench.domain.choices import Choice
from workbench.domain.statements import MOST_CHARACTERS
from workbench.formats.tabular import Findings, Row


def cell_choice(row: Row, column: str, findings: Findings) -> Choice | None:
    """Return the question in a cell; None, with a note, if it is invalid. The reader of the row notes empty cells."""
    text = row.cells.get(column, "")
    if not text.strip():
        return None
    if len(text) > MOST_CHARACTERS:
        findings.add(row.file, row.line, column, f"{len(text):,} characters", f"{MOST_CHARACTERS:,} at most")
        return None
    found = parse_choice(text)
    if isinstance(found, Fault):
        findings.add(row.file, row.line, column, found.found, found.expected)
        return None
    return found
