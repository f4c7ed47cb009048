"""The selection of an audit's tables for a report.

A table is in the supplement

1. if the audit names it among its first tables: its findings rest on these,
2. if the help page on a publication names it for a published table or figure, or
3. if a row of a table in the supplement leads to it.

Every other table is written on request: `--table NAME`, or `--every-file` for all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from workbench import registry
from workbench.audits.reported import Reported
from workbench.errors import WorkbenchError
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.table import AnyTable
from workbench.help.pages import AUDITS_PAGE, ENDING

COMMAND = re.compile(
    r"^workbench show STORE (?P<audit>\w+)\b.*? --table (?P<tables>\w+(?: \w+)*)", re.MULTILINE
)
"a line on a help page that prints tables of an audit"


@cache
def published_tables(audit: str) -> frozenset[str]:
    """Return the names of an audit's tables that help pages on publications name.

    The pages name them for a published table or figure.
    """
    names: set[str] = set()
    for text in _publication_pages():
        for command in COMMAND.finditer(text):
            if command["audit"] == audit:
                names.update(command["tables"].split())
    return frozenset(names)


@cache
def _publication_pages() -> tuple[str, ...]:
    """Return the texts of the help pages on publications, which are in the folders of audits."""
    packages = {type(audit).__module__ for audit in registry.every_audit()}
    texts = []
    for package in sorted(packages):
        try:
            pages = [page for page in files(package).iterdir() if page.name.endswith(ENDING)]
        # The audit of another package may be a single file.
        except (
            TypeError,
            OSError,
            ModuleNotFoundError,
        ):
            continue
        texts += [page.read_text(encoding="utf-8") for page in pages if page.name != AUDITS_PAGE]
    return tuple(texts)


@dataclass(slots=True)
class ReportTables:
    """The tables of one part of a report."""

    made: list[AnyTable] = field(default_factory=list)
    "tables in reading order"
    missing: list[str] = field(default_factory=list)
    "the reasons for tables that cannot be made"
    on_request: list[str] = field(default_factory=list)
    "names of tables that nothing leads to"


def report_tables(
    part: Reported, published: Collection[str], requested: Collection[str] | None
) -> ReportTables:
    """Return the tables of a part of a report.

    Parameters
    ----------
    published : names of tables that a publication leads to
    requested : names of tables that the user wants, or None for all
    """
    leading = list(dict.fromkeys((*part.shown, *sorted(published))))
    return _Search(part.book, leading, requested).tables_led_to()


class _Search:
    """The search for the tables of a book that others lead to."""

    def __init__(
        self, book: Book, leading: Sequence[str], requested: Collection[str] | None
    ) -> None:
        self._book = book
        self._leading = leading
        self._entries = {
            entry.name: entry for entry in book.contents if not entry.empty and not entry.on_request
        }
        self._requested = self._entries.keys() if requested is None else requested
        self._made: dict[tuple[str, Subject], AnyTable] = {}
        self._errors: dict[str, str] = {}

    def tables_led_to(self) -> ReportTables:
        """Return the first tables, those that they lead to, and those that are requested."""
        pending: list[tuple[Entry, Subject]] = []
        for name in self._leading:
            if name in self._entries:
                pending += [
                    (self._entries[name], subject)
                    for subject in _usual_subjects(self._entries[name])
                ]
        while pending:
            pending += self._make(*pending.pop())
        for name in self._requested:
            if name in self._entries:
                for subject in _subjects(self._entries[name]):
                    self._make(self._entries[name], subject)
        return self._in_reading_order()

    def _make(self, entry: Entry, subject: Subject) -> list[tuple[Entry, Subject]]:
        """Make a table, unless it is made. Return the tables that its rows lead to."""
        if (entry.name, subject) in self._made or entry.name in self._errors:
            return []
        try:
            table = _maker(entry)(*subject)
        except WorkbenchError as error:
            self._errors[entry.name] = f"{entry.title}: {error}"
            return []
        self._made[entry.name, subject] = _with_subject(entry.name, subject, table)
        links = [table.link(row) for row in table.rows] if table.link is not None else []
        targets = {
            (link.table, link.subject)
            for link in links
            if link is not None and link.table in self._entries
        }
        return [
            (
                self._entries[name],
                linked_subject if linked_subject in _subjects(self._entries[name]) else (),
            )
            for name, linked_subject in sorted(targets)
            if linked_subject in _subjects(self._entries[name])
            or () in _subjects(self._entries[name])
        ]

    def _in_reading_order(self) -> ReportTables:
        tables = ReportTables()
        made_names = {name for name, _ in self._made}
        for entry in self._book.contents:
            if entry.on_request:
                tables.missing.append(f"{entry.name}: left out. {entry.on_request}")
            elif entry.empty:
                if entry.name in self._leading:
                    reason, _, _ = entry.empty.partition("\n\n")
                    tables.missing.append(f"{entry.title}: {' '.join(reason.split())}")
            elif entry.name in self._errors:
                tables.missing.append(self._errors[entry.name])
            elif entry.name not in made_names:
                tables.on_request.append(entry.name)
            else:
                tables.made += [
                    self._made[entry.name, subject]
                    for subject in _subjects(entry)
                    if (entry.name, subject) in self._made
                ]
        return tables


def _maker(entry: Entry) -> Callable[..., AnyTable]:
    if entry.full is not None:
        return entry.full
    return entry.whole or entry.make


def _subjects(entry: Entry) -> list[Subject]:
    """Return the possible subjects of a table. Each compared pair occurs in one direction only."""
    if entry.whole is not None:
        return [()]
    subjects: list[Subject] = []
    for subject in entry.subjects:
        if len(subject) != 2 or subject[::-1] not in subjects:
            subjects.append(subject)
    return subjects


def _usual_subjects(entry: Entry) -> list[Subject]:
    """Return the subject of the table on everything, or all subjects if it has none."""
    subjects = _subjects(entry)
    return [()] if () in subjects else subjects


def _with_subject(name: str, subject: Subject, table: AnyTable) -> AnyTable:
    """Return a table with its subject, if its own name lacks it."""
    return (
        table if set(subject) <= set(table.subject) else replace(table, name=name, subject=subject)
    )
