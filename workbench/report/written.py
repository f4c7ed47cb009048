"""The writer of a report as a folder, completely or not at all.

Beside the page there are the methods in Markdown, and references.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from stores.core.store import Store
from workbench.audits.claims import AuditSentences, sentences_of
from workbench.audits.reported import Reference
from workbench.domain.instruments import Instrument
from workbench.domain.names import file_stem
from workbench.errors import UnknownName, UsageError
from workbench.evidence.plans import confirmatory_claims
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.pictures.picture import Picture
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.latex import latex_table
from workbench.figures.write.pictures import check_package
from workbench.formats.folder import check_place, expanded
from workbench.report import own_tables as own
from workbench.report.collected import (
    Collected,
    Group,
    ReportPart,
    Shown,
    collect,
    groups,
    shown_of,
)
from workbench.report.options import ALL, ReportChoice, Tell, silent
from workbench.report.own_tables import (
    StatementWithAnswers,
    every_answer,
    statements_with_answers,
    with_answers,
)
from workbench.report.page import (
    ARCHIVE,
    PagePicture,
    PageSection,
    cannot_say,
    commands,
    environment,
    interval_sentences,
    limits,
    page,
    rulings_in_force,
    title_of,
    told_tables,
)
from workbench.report.pictures import DrawingProcess, drawing
from workbench.report.supplement import archive, csv_of, index, packed
from workbench.whole_folders import made_beside

_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {"\\": "", "~": "", "^": ""}


def _methods(collected: Collected, tables: Sequence[AnyTable]) -> Iterator[str]:
    """Yield the lines of the file on methods, in Markdown."""
    yield f"# Methods: {_markdown_text(title_of(collected))}"
    yield ""
    time = collected.at[:16].replace("T", " ")
    yield f"Store of {time} UTC, SHA-256 of its content `{collected.hash}`."
    software = ", ".join(f"{name} {number}" for name, number in collected.software.items())
    yield f"Written with {software}."
    yield rulings_in_force(collected)
    for part, limitations in zip(collected.parts, cannot_say(collected.parts), strict=True):
        yield from _methods_of_part(part, limitations)
    yield from ("", "## Intervals", "")
    yield from (f"- {figure}: {method}" for figure, method in interval_sentences(tables))
    yield from ("", "## Limits", "")
    yield from (f"- {line}" for line in limits(collected))
    yield from ("", "## Commands", "")
    for group in commands(collected):
        yield from (
            f"{group['title']}:",
            "",
            "```sh",
            *map(_markdown_text, group["lines"]),
            "```",
            "",
        )


def _methods_of_part(part: ReportPart, limitations: Sequence[str]) -> Iterator[str]:
    """Yield the lines on the methods of a part, its limitations, and its choices."""
    yield from ("", f"## {_markdown_text(part.found.title)}", "")
    if part.found.book.methods:
        yield _markdown_text(part.found.book.methods)
    if limitations:
        yield from ("", "What it cannot say:", "")
        yield from (f"- {_markdown_text(limitation)}" for limitation in limitations)
        yield ""
        yield f"Each measure with its formula and source: `workbench help {part.audit}`."
    if part.found.parameters:
        yield ""
        yield "| choice | value | what it decides | source of the value |"
        yield "| --- | --- | --- | --- |"
        for parameter in part.found.parameters:
            texts = (parameter.name, parameter.value, parameter.meaning, parameter.source)
            yield f"| {' | '.join(map(_cell, texts))} |"


def _markdown_text(text: str) -> str:
    """Return text as one line without Markdown syntax."""
    return visible(text).replace("<", "&lt;") if "<" in text else visible(text)


def _cell(text: str) -> str:
    return _markdown_text(text).replace("|", "\\|")


def bibtex(references: Sequence[Reference], instruments: Sequence[Instrument]) -> str:
    """Return the publications of audits, and the instruments, as BibTeX."""
    entries = [_reference_entry(reference) for reference in dict.fromkeys(references)]
    entries += [
        _instrument_entry(instrument, number) for number, instrument in enumerate(instruments, 1)
    ]
    return "\n".join(entries)


def _reference_entry(reference: Reference) -> str:
    venue_field = {"article": "journal", "inproceedings": "booktitle"}.get(
        reference.kind, "howpublished"
    )
    fields = [
        ("author", " and ".join(reference.authors)),
        ("title", f"{{{reference.title}}}"),
        (venue_field, reference.venue),
        ("year", str(reference.year)),
        *reference.more,
    ]
    return _bibtex_entry(reference.kind, reference.key, fields)


def _instrument_entry(instrument: Instrument, place: int) -> str:
    """Return an instrument as BibTeX. Its own citation is quoted in the note."""
    title = f"{{{_escaped(instrument.title or instrument.name)}}}"
    parts = (
        instrument.citation,
        f"Version {instrument.version}" if instrument.version else "",
        f"Licence: {instrument.licence}" * bool(instrument.licence),
    )
    note = ". ".join(filter(None, parts))
    fields = [
        ("title", title),
        ("howpublished", _escaped(instrument.source)),
        ("note", _escaped(note)),
    ]
    return _bibtex_entry(
        "misc", f"instrument{place}", [(name, value) for name, value in fields if value]
    )


def _bibtex_entry(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
    return (
        f"@{kind}{{{key},\n"
        + "".join(f"  {name} = {{{value}}},\n" for name, value in fields)
        + "}\n"
    )


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in visible(text))


PAGE = "report.html"
Files = Iterator[tuple[str, bytes | Iterable[str]]]
"(path in the folder, content), which is bytes, or lines that are written one after another"


Tables = tuple[list[Shown], list[str]]
"(tables of a part, reasons for missing ones)"


def write_report(store: Store, folder: Path, choice: ReportChoice, tell: Tell = silent) -> Path:
    """Write a report into a new or empty folder, and return the path of its page.

    Files are first written into a temporary folder, which is renamed when complete. Raises
    UsageError if there is nothing to report or the folder cannot be written, UnknownName,
    MissingPackage.
    """
    folder = expanded(folder)
    check_place(folder, force=False)
    environment()  # checks before any work that the packages are here
    check_package()
    try:
        with made_beside(folder) as fresh:
            with uncollected():
                store.at_once(lambda: _write_into(store, fresh, choice, tell))
            tell(1.0, "done")
            if folder.exists():
                folder.rmdir()  # the folder is empty
            fresh.rename(folder)
    except OSError as error:
        raise UsageError(
            f"{folder}: the report cannot be written ({error.strerror}); nothing of it was kept. "
            "Give a folder that you may write to, with enough room."
        ) from error
    return folder / PAGE


def _write_into(store: Store, fresh: Path, choice: ReportChoice, tell: Tell) -> None:
    """Write the files into a new folder.

    It is called again if rules have read answers meanwhile.
    """
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    with DrawingProcess(fresh.parent) as process:
        tables_by_slug: dict[str, Tables] = {}
        requested = None if choice.every_file else choice.tables
        collected = collect(
            store,
            choice,
            tell,
            lambda part: tables_by_slug.update({part.slug: shown_of(part, requested)}),
        )
        _write(fresh, _ReportFiles(store, collected, tables_by_slug, process, tell).files())


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend the search for objects that refer to each other.

    It takes a seventh of the time and frees nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _write(folder: Path, files: Files) -> None:
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            with path.open("w", encoding="utf-8", newline="", errors="backslashreplace") as file:
                file.writelines(content)


class _ReportFiles:
    """The files of a report, in the order in which they are written.

    The tables of the page and of the supplement are numbered before the first file is written,
    because the names of files have the numbers.
    """

    def __init__(
        self,
        store: Store,
        collected: Collected,
        tables_by_slug: Mapping[str, Tables],
        process: DrawingProcess,
        tell: Tell,
    ) -> None:
        self._store = store
        self._collected = collected
        self._tables_by_slug = {slug: tables for slug, (tables, _) in tables_by_slug.items()}
        self._missing = {part.found.title: tables_by_slug[part.slug][1] for part in collected.parts}
        self._process = process
        self._tell = tell
        report_groups = groups(collected.parts, self._tables_by_slug)
        self._asked, self._main_by_slug = _main_tables(collected, report_groups)
        self._sections = [
            PageSection(group, _sentences(store, group), self._main_by_slug.get(group.slug), None)
            for group in report_groups
        ]
        self._picture_by_slug = _main_pictures(self._main_by_slug)
        self._other_files = [
            (PAGE, "the page"),
            ("methods.md", "how figures are computed"),
            ("references.bib", "publications"),
        ]
        "files that are no tables, with their descriptions, for the index"

    def files(self) -> Files:
        """Yield every file. The index comes last, because it lists the others."""
        self._process.begin(picture.pages()[0] for picture in self._picture_by_slug.values())
        self._tell(0.6, "writing tables")
        part_tables = self._part_tables()
        supplement = self._supplement(part_tables)
        single = _tables_with_files(self._collected, supplement)
        yield from _table_files([*self._page_tables(), *single])
        archived = [] if self._collected.choice.every_file else supplement
        if archived:
            yield ARCHIVE, archive((f"{table.stem}.csv", csv_of(table)) for table in archived)
        yield from self._rulings_file()
        self._tell(0.7, "reading raw answers")
        statements = dict(_statements(self._store, self._collected))
        self._tell(0.75, "drawing pictures")
        drawn_by_slug: dict[str, PagePicture] = {}
        yield from self._pictures_of_page(drawn_by_slug)
        yield from _pictures(single, self._process, self._tell)
        self._tell(0.95, "writing the page")
        html = self._page(drawn_by_slug, len(supplement), packed(supplement, statements))
        yield PAGE, _encoded(html)
        methods = _methods(self._collected, [table.table for table in part_tables])
        yield "methods.md", _encoded("\n".join(methods) + "\n")
        yield "references.bib", self._references()
        if self._collected.choice.answers == ALL:
            yield from self._answer_files()
        archive_by_stem = {table.stem: ARCHIVE for table in archived}
        all_tables = [*self._page_tables(), *supplement]
        yield "index.csv", index(all_tables, archive_by_stem, self._other_files)

    def _page_tables(self) -> list[Shown]:
        """Return the numbered tables of the page."""
        return [self._asked, *self._main_by_slug.values()]

    def _part_tables(self) -> list[Shown]:
        """Return the tables of all parts, each followed by the choices of its part."""
        part_tables: list[Shown] = []
        for part in self._collected.parts:
            part_tables += self._tables_by_slug[part.slug]
            part_tables += _choice_tables(part)
        return part_tables

    def _supplement(self, part_tables: Sequence[Shown]) -> list[Shown]:
        """Return the tables of the supplement, numbered after those of the page."""
        own_tables = _standard_tables(self._collected, self._sections, self._missing)
        return _numbered([*own_tables, *part_tables], len(self._page_tables()) + 1)

    def _rulings_file(self) -> Files:
        """Yield the file with the rulings that count, or nothing without rulings."""
        lines = []
        for part in self._collected.parts:
            for note in part.found.rulings.notes():
                lines.append(f"{visible(f'{part.found.title}: {note}')}\n")
        if lines:
            self._other_files.append(("tables/rulings.txt", "rulings that count"))
            yield "tables/rulings.txt", _encoded("".join(lines))

    def _pictures_of_page(self, drawn_by_slug: dict[str, PagePicture]) -> Files:
        """Yield the files of the pictures of the page, and add the pictures to `drawn_by_slug`."""
        for slug, picture in self._picture_by_slug.items():
            table = self._main_by_slug[slug]
            drawn_by_slug[slug], files = drawing(table, picture.pages()[0], self._process)
            self._other_files += [(name, table.title) for name in files]
            yield from files.items()

    def _page(
        self, drawn_by_slug: Mapping[str, PagePicture], n_tables: int, supplement: str
    ) -> str:
        """Return the page with its pictures."""
        sections = [
            replace(section, picture=drawn_by_slug.get(section.of.slug))
            for section in self._sections
        ]
        return page(self._collected, sections, self._asked, n_tables, supplement)

    def _references(self) -> bytes:
        """Return the file of publications."""
        references: list[Reference] = []
        for part in self._collected.parts:
            references += part.found.references
        return _encoded(bibtex(references, self._collected.instruments))

    def _answer_files(self) -> Files:
        """Yield the files with every answer."""
        for name, content in _answer_files(self._store, self._collected):
            self._other_files.append((name, "every answer, word for word"))
            yield name, content


def _encoded(text: str) -> bytes:
    """Return text as UTF-8, with escapes for characters that it cannot encode."""
    return text.encode("utf-8", "backslashreplace")


def _main_tables(
    collected: Collected, report_groups: Sequence[Group]
) -> tuple[Shown, dict[str, Shown]]:
    """Return the table of what was asked, and the main table of each group by slug, numbered."""
    groups_with_table = [group for group in report_groups if group.main is not None]
    asked, *main_tables = _numbered(
        [Shown("", own.models_asked(collected)), *map(_main_table, groups_with_table)], 1
    )
    slugs = [group.slug for group in groups_with_table]
    return asked, dict(zip(slugs, main_tables, strict=True))


def _sentences(store: Store, group: Group) -> AuditSentences:
    """Return the sentences on the findings of a group."""
    findings = chain.from_iterable(part.found.findings for part in group.parts)
    return sentences_of(findings, planned_claims(store, group.parts))


def _main_pictures(main_by_slug: Mapping[str, Shown]) -> dict[str, Picture]:
    """Return the first picture of each main table that has one, by slug."""
    picture_by_slug = {}
    for slug, main_table in main_by_slug.items():
        table_pictures = pictures_of(main_table.table)
        if table_pictures:
            picture_by_slug[slug] = table_pictures[0]
    return picture_by_slug


def _table_files(tables: Sequence[Shown]) -> Files:
    """Yield each table as CSV and as LaTeX."""
    for table in tables:
        yield f"tables/{table.stem}.csv", csv_of(table)
        yield f"tables/{table.stem}.tex", _latex(table)


def planned_claims(store: Store, parts: Sequence[ReportPart]) -> set[tuple[str, str]]:
    """Return the (question, run) of the claims that frozen plans name."""
    return {
        (question, name)
        for part in parts
        for name, run in part.found.runs.items()
        for question in confirmatory_claims(store, run)
    }


def _main_table(group: Group) -> Shown:
    assert group.main is not None, "only groups with a table"
    ruling_notes = [note for part in group.parts for note in part.found.rulings.notes()]
    return Shown(
        group.title, replace(group.main, name=group.audit), ruled=tuple(dict.fromkeys(ruling_notes))
    )


def _numbered(tables: Sequence[Shown], first: int) -> list[Shown]:
    return [table.numbered(number) for number, table in enumerate(tables, first)]


def _standard_tables(
    collected: Collected, sections: Sequence[PageSection], missing: Mapping[str, Sequence[str]]
) -> Iterator[Shown]:
    """Yield the tables that every report has."""
    yield from (Shown("", table) for table in told_tables(collected, sections, missing))
    yield from (
        Shown("", make(collected))
        for make in (own.models, own.instruments, own.templates, own.design)
    )
    yield from (Shown("", table) for table in (*own.counted(collected), own.rulings(collected)))


def _choice_tables(part: ReportPart) -> Iterator[Shown]:
    if part.found.parameters:
        yield Shown(part.found.title, own.chosen(part))


def _tables_with_files(collected: Collected, tables: Sequence[Shown]) -> list[Shown]:
    """Return the tables that have files of their own. Raises UnknownName."""
    names = dict.fromkeys(table.table.name for table in tables)
    if missing := [name for name in collected.choice.tables if name not in names]:
        contents = [
            entry.name
            for part in collected.parts
            for entry in part.found.book.contents
            if not entry.empty
        ]
        available = ", ".join(dict.fromkeys((*names, *contents)))
        raise UnknownName(f"there is no table {', '.join(missing)}. Available: {available}")
    writes_all = collected.choice.every_file
    return [table for table in tables if writes_all or table.table.name in collected.choice.tables]


def _latex(shown: Shown) -> bytes:
    return _encoded(latex_table(replace(shown.table, notes=(*shown.ruled, *shown.table.notes))))


def _pictures(tables: Sequence[Shown], process: DrawingProcess, tell: Tell) -> Files:
    """Yield every picture of some tables as SVG and PDF."""
    pages = [
        (report_table, page)
        for report_table in tables
        for picture in pictures_of(report_table.table)
        for page in picture.pages()
    ]
    process.begin(picture for _, picture in pages)
    for number, (table, picture) in enumerate(pages):
        figure, files = drawing(table, picture, process)
        yield from files.items()
        tell(0.75 + 0.2 * number / len(pages), f"drew {figure.caption}")


def _statements(
    store: Store, collected: Collected
) -> Iterator[tuple[str, tuple[Sequence[StatementWithAnswers], bool]]]:
    """Yield the statements of each model of each part with their answers.

    A flag tells whether these were read.
    """
    for part in collected.parts:
        for name in part.found.items:
            title = (
                part.found.title if len(part.found.items) == 1 else f"{part.found.title}: {name}"
            )
            yield (
                title,
                (
                    statements_with_answers(store, part, name, collected.choice.answers),
                    name in part.found.readers,
                ),
            )


def _answer_files(store: Store, collected: Collected) -> Files:
    """Yield every answer, each run once, even if several audits judge it."""
    runs = {
        part.found.runs[name]: (part, name)
        for part in reversed(collected.parts)
        for name in with_answers(part)
    }
    for number, (part, name) in enumerate(reversed(runs.values()), 1):
        name_of_run = (
            part.slug
            if len(part.found.runs) == 1
            else file_stem([part.slug, _safe_name(name)], "-._")
        )
        yield f"answers/{number:03}-{name_of_run}.csv", every_answer(store, part, name)


def _safe_name(name: str) -> str:
    return "".join(
        character if character.isascii() and (character.isalnum() or character in "._-") else "_"
        for character in name
    )
