"""Figures of the people who answer an instrument themselves."""

from __future__ import annotations

from collections.abc import Sequence

from stores.annotation.surveys import RespondentLine
from workbench.figures.table import Column, Kind, Table


def respondents(lines: Sequence[RespondentLine], begin: str) -> Table[RespondentLine]:
    """Return who answered how many wordings. `begin`: how somebody begins, for a store without answers."""
    return Table(
        "respondents",
        "People who answered",
        lines,
        [
            Column("instrument", "instrument", lambda row: row.instrument),
            Column("respondent", "respondent", lambda row: row.respondent),
            Column("language", "language", lambda row: row.language, help="none: the answers came from a file"),
            Column("asked", "asked", lambda row: row.asked, Kind.COUNT, help="wordings"),
            Column("answered", "answered", lambda row: row.answered, Kind.COUNT),
            Column("current", "in use", lambda row: row.current, Kind.COUNT, help="statements as they are now"),
            Column("median_s", "seconds each", lambda row: row.median_s, Kind.COEFFICIENT, help="median", unit="s"),
            Column("last_at", "last", lambda row: row.last_at[:16].replace("T", " "), aside=True),
        ],
        key=lambda row: (row.instrument, row.respondent),
        notes=[
            "in use: answers to statements as they are now. How consistent they are: workbench agreement STORE --survey"
        ],
        empty=f"Nobody has answered yet. Begin: {begin}",
    )
