"""The answers of a probe as a table: prompts, answers and readings."""

from __future__ import annotations

from workbench.domain.probe_results import ProbedAnswer, ProbeResult
from workbench.figures.table import Column, Kind, Table

DEFINITION = (
    "Answers drawn before the run, with separate seeds, to prompts drawn at random, evenly from "
    "its templates. No figure counts them."
)
FREE = (
    "No rule reads free text. What its words say stands here, if anything; the figures rest "
    "on other readings."
)
EMPTY = "This job had no probe."

Numbered = tuple[int, ProbedAnswer]


def answers(result: ProbeResult | None) -> Table[Numbered]:
    """Return the answers of a probe, unreadable ones first."""
    rows = (
        []
        if result is None
        else sorted(enumerate(result.answers, 1), key=lambda row: not row[1].fault)
    )
    notes = [] if result is None or result.by_rule else [FREE]
    title = (
        "Answers of the probe" if result is None or not result.exact else "What the probe computed"
    )
    return Table(
        "probe",
        title,
        rows,
        [
            Column("statement", "statement", lambda row: row[1].statement),
            Column("variant", "wording", lambda row: row[1].variant),
            Column("template", "template", lambda row: row[1].template),
            Column("order", "label order", lambda row: row[1].order, short="order", aside=True),
            Column("read_as", "read as", lambda row: row[1].read_as),
            Column("answer", "answer", lambda row: row[1].text or row[1].reason, Kind.PROSE),
        ],
        key=lambda row: (str(row[0]),),
        definition=DEFINITION,
        notes=notes,
        empty=EMPTY,
    )
