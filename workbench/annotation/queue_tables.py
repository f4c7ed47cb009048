"""Figures of queues: how far each is, who labels it, and how many items wait for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.figures.table import Column, Kind, Link, Table


@dataclass(frozen=True, slots=True)
class QueueState:
    """How far a queue is."""

    name: str
    purpose: str
    codebook: str
    title: str
    "of the codebook"
    items: int
    needed: int
    "labels that its items need"
    done: int
    "labels that are there; what is beyond what an item needs is not counted"
    finished: int
    "items that have all their labels"
    annotators: tuple[str, ...]
    disputed: int
    "items whose labels differ and on which nobody has decided"
    attention: int
    "items with a known label, mixed in; they are in none of the other counts"
    made: str

    @property
    def share(self) -> float:
        return self.done / self.needed if self.needed else float("nan")


def queues(found: Sequence[QueueState]) -> Table[QueueState]:
    """Return every queue, the oldest first."""
    return Table(
        "queues",
        "Queues",
        found,
        [
            Column("queue", "queue", lambda row: row.name),
            Column("purpose", "for", lambda row: row.purpose, least=8),
            Column("codebook", "codebook", lambda row: row.codebook, aside=True),
            Column("items", "items", lambda row: row.items, Kind.COUNT),
            Column("share", "labelled", lambda row: row.share, Kind.SHARE, help="labels given, of those needed"),
            Column(
                "labels",
                "labels",
                lambda row: row.done,
                Kind.COUNT,
                help="labels that count: of an item, no more than it needs",
            ),
            Column("needed", "needed", lambda row: row.needed, Kind.COUNT, help="labels that the items need"),
            Column("finished", "finished", lambda row: row.finished, Kind.COUNT, help="items with all their labels"),
            Column(
                "people", "people", lambda row: len(row.annotators), Kind.COUNT, help="people who have labelled in it"
            ),
            Column(
                "disputed",
                "decide",
                lambda row: row.disputed,
                Kind.COUNT,
                help="items with different labels and no decision: d",
            ),
            Column(
                "attention",
                "attention items",
                lambda row: row.attention,
                Kind.COUNT,
                aside=True,
                help="items with a known label, in no other count",
            ),
            Column("made", "since", lambda row: row.made[:10], aside=True),
        ],
        key=lambda row: (row.name,),
        definition="Items with a known label, mixed in to check attention, are in no other count.",
        empty="No queue yet. A queue holds the items to label, and how many people label each.",
        link=lambda row: Link("queue", (row.name,)),
        detail=_said,
    )


def _said(row: QueueState) -> list[str]:
    people = ", ".join(row.annotators) or "nobody yet"
    return [f"{row.title}: labelled by {people}"]
