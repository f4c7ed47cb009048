"""Decides which tables a report shows openly, folded, or only as files, and names the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.errors import WorkbenchError
from workbench.figures.book import Entry, Subject
from workbench.figures.table import AnyTable
from workbench.report.collected import Part

MOST_SUBJECTS = 8
"most subjects of one entry on the page; the others are files"
MOST_ROWS = 24
"most rows of an open table; longer ones are folded"


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A table of a report."""

    part: str
    "slug of its part"
    table: AnyTable
    stem: str
    "name of its files, without their ending"
    on_page: bool
    first: bool
    "whether it is open"


@dataclass(slots=True)
class Stems:
    """Assigns unique file names."""

    taken: set[str] = field(default_factory=set)

    def of(self, wanted: str) -> str:
        """Return a name, with a number if it is taken; unique even on case-insensitive file systems."""
        name, number = wanted[:150], 2
        while name.casefold() in self.taken:
            name, number = f"{wanted[:150]}-{number}", number + 1
        self.taken.add(name.casefold())
        return name


def shown_of(part: Part, stems: Stems) -> tuple[list[Shown], list[str]]:
    """Return the tables of a part, open ones first, and the reasons for missing ones."""
    found: list[Shown] = []
    contents = part.found.book.contents
    missing: list[str] = [f"{one.name}: left out. {one.on_request}" for one in contents if one.on_request]
    for entry in contents:
        if entry.on_request:
            continue
        if entry.empty:
            missing.append(f"{entry.title}: {' '.join(entry.empty.split(chr(10) * 2)[0].split())}")
            continue
        subjects = _subjects(entry)
        on_page = _on_page(subjects)
        for subject in subjects:
            try:
                table = (entry.full or entry.make)(*subject)
            except WorkbenchError as error:
                missing.append(f"{entry.title}: {error}")
                continue
            first = entry.name in part.found.shown and len(table.rows) <= MOST_ROWS and subject == subjects[0]
            stem = stems.of(f"{part.slug}-{_stem(entry.name, subject, table)}")
            found.append(Shown(part.slug, table, stem, subject in on_page, first))
    order = {name: place for place, name in enumerate(part.found.shown)}
    found.sort(key=lambda one: (not one.first, order.get(one.table.name, len(order)) if one.first else 0))
    return found, list(dict.fromkeys(missing))


def _stem(name: str, subject: Subject, table: AnyTable) -> str:
    """Return the name of a table's files, with its subject if the table's own name lacks it."""
    return table.stem if set(subject) <= set(table.subject) else replace(table, name=name, subject=subject).stem


def _subjects(entry: Entry) -> list[Subject]:
    """Return the possible subjects of a table; each compared pair occurs in one direction only."""
    found: list[Subject] = []
    for subject in entry.subjects:
        if len(subject) != 2 or subject[::-1] not in found:
            found.append(subject)
    return found


def _on_page(subjects: Sequence[Subject]) -> Sequence[Subject]:
    """Return the subjects on the page: all together if there is such a table, else the first few."""
    return subjects[:1] if subjects and subjects[0] == () else subjects[:MOST_SUBJECTS]


def files_alone(tables: Sequence[Shown]) -> Iterator[Shown]:
    """Yield the tables that are only in files."""
    return (one for one in tables if not one.on_page)
