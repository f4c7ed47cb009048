"""Queues and people as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.csv_files import csv_text, guarded
from workbench.domain.annotations import FEW, FIELDS, Described
from workbench.domain.names import plural
from workbench.figures.table import Column, Kind, Link, Table


@dataclass(frozen=True, slots=True)
class QueueState:
    """The progress of a queue."""

    name: str
    purpose: str
    codebook: str
    title: str
    "title of the codebook"
    items: int
    needed: int
    "number of labels that its items need"
    done: int
    "number of labels that count, without those beyond the need of an item"
    finished: int
    "number of items that have all their labels"
    annotators: tuple[str, ...]
    disputed: int
    "number of items whose labels differ and on which nobody has decided"
    attention: int
    "number of items with a known label, mixed in, which are in none of the other counts"
    made: str
    paces: tuple[tuple[str, float], ...] = ()
    "labels per hour of the people who have labelled enough in it to tell"

    @property
    def left(self) -> int:
        """The number of labels that are still needed."""
        return self.needed - self.done

    @property
    def share(self) -> float:
        return self.done / self.needed if self.needed else float("nan")


def queues(states: Sequence[QueueState]) -> Table[QueueState]:
    """Return every queue, the oldest first."""
    return Table(
        "queues",
        "Queues",
        states,
        [
            Column("queue", "queue", lambda row: row.name),
            Column("purpose", "for", lambda row: row.purpose, least=8),
            Column("codebook", "codebook", lambda row: row.codebook, aside=True),
            Column("items", "items", lambda row: row.items, Kind.COUNT),
            Column(
                "share",
                "labelled",
                lambda row: row.share,
                Kind.SHARE,
                help="labels given, of those needed",
            ),
            Column(
                "labels",
                "labels",
                lambda row: row.done,
                Kind.COUNT,
                help="labels that count: of an item, no more than it needs",
            ),
            Column(
                "needed",
                "needed",
                lambda row: row.needed,
                Kind.COUNT,
                help="labels that the items need",
            ),
            Column(
                "finished",
                "finished",
                lambda row: row.finished,
                Kind.COUNT,
                help="items with all their labels",
            ),
            Column(
                "people",
                "people",
                lambda row: len(row.annotators),
                Kind.COUNT,
                help="people who have labelled in it",
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
        detail=_queue_details,
    )


def _queue_details(row: QueueState) -> list[str]:
    people = ", ".join(row.annotators) or "nobody yet"
    return [f"{row.title}: labelled by {people}"]


EVERYBODY = "no role here"
EMPTY = "No annotators or respondents yet."


@dataclass(frozen=True, slots=True)
class FieldCount:
    """The number of people of a role who gave a value."""

    role: str
    field: str
    value: str | None
    "the value, or None if they did not say"
    people: int


def fields_of(people: Sequence[Described]) -> tuple[str, ...]:
    """Return the fields that anybody filled in.

    The documented ones come in their order, then others by name.
    """
    used_fields = {field for person in people for field in person.fields}
    return (
        *(field for field in FIELDS if field in used_fields),
        *sorted(used_fields - FIELDS.keys()),
    )


def counts_of(people: Sequence[Described]) -> tuple[FieldCount, ...]:
    """Return the number of people of each role for each value, the most frequent first.

    Those without a value come last.
    """
    counts = []
    for role in dict.fromkeys(role for person in people for role in _roles(person)):
        role_people = [person for person in people if role in _roles(person)]
        for field in fields_of(people):
            value_counts = Counter(person.fields.get(field) for person in role_people)
            order = sorted(
                value_counts.items(), key=lambda pair: (pair[0] is None, -pair[1], pair[0] or "")
            )
            counts += [FieldCount(role, field, value, n_people) for value, n_people in order]
    return tuple(counts)


def _roles(person: Described) -> tuple[str, ...]:
    return person.roles or (EVERYBODY,)


def people_counts(people: Sequence[Described]) -> Table[FieldCount]:
    """Return the number of annotators and respondents for each value of each field.

    See Ceron et al. 2024, Tables 5 and 6.
    """
    rows = counts_of(people)
    n_rare = sum(row.value is not None and row.people < FEW for row in rows)
    return Table(
        "people_counts",
        "Annotators and respondents by their descriptions",
        rows,
        [
            Column("role", "who", lambda row: row.role),
            Column("field", "field", lambda row: row.field),
            Column("value", "value", lambda row: row.value, help="–: not given"),
            Column("people", "people", lambda row: row.people, Kind.COUNT),
        ],
        key=lambda row: (row.role, row.field, row.value or ""),
        notes=[f"{plural(n_rare, 'value')} of fewer than {FEW} people, which may identify them"]
        if n_rare
        else [],
        empty="No descriptions yet." if people else EMPTY,
    )


def people_table(people: Sequence[Described], *, names: bool) -> Table[Described]:
    """Return every annotator and respondent with their descriptions.

    names : whether by name, or under a pseudonym
    """

    def called(row: Described) -> str:
        return row.name if names else row.pseudonym

    rows = people if names else sorted(people, key=called)
    return Table(
        "people",
        "Annotators and respondents",
        rows,
        [
            Column("person", "person" if names else "pseudonym", called),
            Column("roles", "who", lambda row: row.roles, Kind.WORDS),
            *(_field(field) for field in fields_of(people)),
        ],
        key=lambda row: (called(row),),
        definition="All fields are optional.",
        notes=[] if names or not people else ["Names are left out; --names shows them."],
        empty=EMPTY,
        link=(lambda row: Link("person", (row.name,))) if names else None,
        detail=lambda row: [
            f"{field.replace('_', ' ')}: {value}" for field, value in row.fields.items()
        ],
    )


def _field(field: str) -> Column[Described]:
    return Column(
        field,
        field.replace("_", " "),
        lambda row: row.fields.get(field),
        help=FIELDS.get(field, ""),
    )


def people_files(people: Sequence[Described], *, pseudonyms: bool) -> dict[str, str]:
    """Return the files about people for an export of an instrument.

    They are counts, and people under pseudonyms.

    The list is empty if nobody is described. It contains no names.
    """
    if not fields_of(people):
        return {}
    counts = [(row.role, row.field, row.value or "", str(row.people)) for row in counts_of(people)]
    files = {"people_counts.csv": _csv(("role", "field", "value", "people"), counts)}
    if pseudonyms:
        rows = [
            (person.pseudonym, "+".join(person.roles), field, value)
            for person in sorted(people, key=lambda described: described.pseudonym)
            for field, value in person.fields.items()
        ]
        files["people.csv"] = _csv(("pseudonym", "roles", "field", "value"), rows)
    return files


def _csv(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return csv_text(header, ([guarded(cell) for cell in row] for row in rows))
