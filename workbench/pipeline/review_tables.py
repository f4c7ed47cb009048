"""The queue of an auditor as figures: what waits and why, the weights, and who has looked at what."""

from __future__ import annotations

from workbench.domain.counting import plural
from workbench.domain.reviews import NOT_PASSED, PASSED, REASONS, Ranked, Reason
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.review import Review, progress


def queue(of: Review, auditor: str | None = None) -> Table[Ranked]:
    """Return the statements that an auditor, or anybody, has not looked at, the highest score first."""
    places = {one.ref: place for place, one in enumerate(of.queue, start=1)}
    columns: list[Column[Ranked]] = [
        Column("place", "#", lambda row: places[row.ref], Kind.COUNT),
        Column("statement", "statement", lambda row: row.ref),
        Column("score", "score", lambda row: row.score, Kind.COUNT, help="the weights of its reasons, added up"),
        Column("verdict", "verdict", lambda row: _verdict(of, row.ref)),
        Column("why", "why", lambda row: row.why(), Kind.PROSE, least=24),
        Column("reasons", "reasons", lambda row: [one.reason for one in row.signals], Kind.WORDS, aside=True),
    ]
    return Table(
        "review",
        "What waits for an auditor",
        of.waiting(auditor),
        columns,
        key=lambda row: (row.ref,),
        definition="The score of a statement is the sum of the weights of the reasons that apply to it, each once. "
        "Statements of one score stand in the instrument's order. Verdicts are those without rulings.",
        empty="Nothing waits: no reason applies, or everything was looked at.",
    )


def _verdict(of: Review, ref: str) -> str:
    stratum = of.judged.stratum(ref)
    return {PASSED: "passes", NOT_PASSED: "does not pass"}.get(stratum, "")


def reasons() -> Table[Reason]:
    """Return the reasons with their weights."""
    return Table(
        "reasons",
        "Reasons and their weights",
        tuple(REASONS.values()),
        [
            Column("reason", "reason", lambda row: row.title),
            Column("weight", "weight", lambda row: row.weight, Kind.COUNT),
            Column("meaning", "applies where", lambda row: row.meaning, Kind.PROSE, least=24),
        ],
        key=lambda row: (row.key,),
    )


def auditors(of: Review) -> Table[tuple[str, int]]:
    """Return how many statements of the queue each auditor has looked at."""
    return Table(
        "auditors",
        "Auditors",
        tuple(progress(of).items()),
        [
            Column("auditor", "auditor", lambda row: row[0]),
            Column("looked_at", "looked at", lambda row: row[1], Kind.COUNT),
            Column("queue", "of", lambda _: len(of.queue), Kind.COUNT, help="statements that a reason applies to"),
        ],
        key=lambda row: (row[0],),
        empty="Nobody has ruled on anything of this run yet.",
    )


def told(of: Review, auditor: str | None) -> tuple[str, ...]:
    """Say what the queue is about, and how far an auditor, or everybody together, is."""
    left = len(of.waiting(auditor))
    run = f"{of.run.label}{f' · read by {of.card.name}' if of.card else ''}"
    who = auditor or "somebody"
    of_all = f"{len(of.queue):,} of {plural(len(of.judged.statements), 'statement')} have a reason"
    return run, f"{of_all}; {who} has looked at {len(of.queue) - left:,} of them, {left:,} wait"
