"""The writer of a report as a folder, completely or not at all.

Beside the page there are the methods in Markdown, and references.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stores.core.store import Store
from workbench.audits.claims import sentences_of
from workbench.audits.reported import Reference
from workbench.domain.instruments import Instrument
from workbench.domain.names import file_stem
from workbench.errors import UnknownName, UsageError
from workbench.evidence.plans import confirmatory_claims
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.latex import latex_table
from workbench.figures.write.pictures import check_package
from workbench.formats.folder import check_place, expanded
from workbench.report import own_tables as own
from workbench.report.collected import (
    Collected,
    Group,
    Part,
    Shown,
    Tell,
    collect,
    groups,
    shown_of,
)
from workbench.report.options import ALL, ReportChoice
from workbench.report.own_tables import (
    StatementWithAnswers,
    every_answer,
    statements_with_answers,
    with_answers,
)
from workbench.report.page import (
    ARCHIVE,
    Drawn,
    Section,
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


def _methods(found: Collected, tables: Sequence[AnyTable]) -> Iterator[str]:
    yield f"# Methods: {_plain(title_of(found))}"
    yield ""
    yield f"Store of {found.at[:16].replace('T', ' ')} UTC, SHA-256 of its content `{found.hash}`."
    software = ", ".join(f"{name} {number}" for name, number in found.software.items())
    yield f"Written with {software}."
    yield rulings_in_force(found)
    for part, limitations in zip(found.parts, cannot_say(found.parts), strict=True):
        yield from ("", f"## {_plain(part.found.title)}", "")
        if part.found.book.methods:
            yield _plain(part.found.book.methods)
        if limitations:
            yield from (
                "",
                "What it cannot say:",
                "",
                *(f"- {_plain(limitation)}" for limitation in limitations),
            )
            yield from (
                "",
                f"Each measure with its formula and source: `workbench help {part.audit}`.",
            )
        if part.found.parameters:
            yield from (
                "",
                "| choice | value | what it decides | source of the value |",
                "| --- | --- | --- | --- |",
            )
            for parameter in part.found.parameters:
                cells = map(
                    _cell, (parameter.name, parameter.value, parameter.meaning, parameter.source)
                )
                yield f"| {' | '.join(cells)} |"
    yield from ("", "## Intervals", "")
    yield from (f"- {figure}: {method}" for figure, method in interval_sentences(tables))
    yield from ("", "## Limits", "")
    yield from (f"- {line}" for line in limits(found))
    yield from ("", "## Commands", "")
    for group in commands(found):
        yield from (f"{group['title']}:", "", "```sh", *map(_plain, group["lines"]), "```", "")


def _plain(text: str) -> str:
    """Return text as one line without Markdown syntax."""
    return visible(text).replace("<", "&lt;") if "<" in text else visible(text)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def bibtex(references: Sequence[Reference], instruments: Sequence[Instrument]) -> str:
    """Return the publications of audits, and the instruments, as BibTeX."""
    entries = [_entry(reference) for reference in dict.fromkeys(references)]
    entries += [_instrument(instrument, number) for number, instrument in enumerate(instruments, 1)]
    return "\n".join(entries)


def _entry(one: Reference) -> str:
    venue_field = {"article": "journal", "inproceedings": "booktitle"}.get(one.kind, "howpublished")
    fields = [
        ("author", " and ".join(one.authors)),
        ("title", f"{{{one.title}}}"),
        (venue_field, one.venue),
        ("year", str(one.year)),
        *one.more,
    ]
    return _written(one.kind, one.key, fields)


def _instrument(one: Instrument, place: int) -> str:
    """Return an instrument as BibTeX. Its own citation is quoted in the note."""
    title = f"{{{_escaped(one.title or one.name)}}}"
    parts = (
        one.citation,
        f"Version {one.version}" if one.version else "",
        f"Licence: {one.licence}" * bool(one.licence),
    )
    note = ". ".join(filter(None, parts))
    fields = [("title", title), ("howpublished", _escaped(one.source)), ("note", _escaped(note))]
    return _written(
        "misc", f"instrument{place}", [(name, value) for name, value in fields if value]
    )


def _written(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
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


def silent(share: float, what: str) -> None:
    """Ignore progress reports."""


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
                store.at_once(lambda: _made(store, fresh, choice, tell))
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


def _made(store: Store, fresh: Path, choice: ReportChoice, tell: Tell) -> None:
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
        _write(fresh, _files(store, collected, tables_by_slug, process, tell))


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


def _files(
    store: Store, found: Collected, made: Mapping[str, Tables], process: DrawingProcess, tell: Tell
) -> Files:
    tables = {slug: part_tables for slug, (part_tables, _) in made.items()}
    missing = {part.found.title: made[part.slug][1] for part in found.parts}
    report_groups = groups(found.parts, tables)
    sentences = [
        sentences_of(
            (finding for part in group.parts for finding in part.found.findings),
            planned_claims(store, group.parts),
        )
        for group in report_groups
    ]
    asked_table, *mains = _numbered(
        [
            Shown("", own.asked(found)),
            *(_main(group) for group in report_groups if group.main is not None),
        ],
        1,
    )
    main_by_slug = dict(
        zip((group.slug for group in report_groups if group.main is not None), mains, strict=True)
    )
    pictures = {
        slug: picture
        for slug, main_table in main_by_slug.items()
        for picture in pictures_of(main_table.table)[:1]
    }
    process.begin(picture.pages()[0] for picture in pictures.values())
    sections = [
        Section(group, group_sentences, main_by_slug.get(group.slug), None)
        for group, group_sentences in zip(report_groups, sentences, strict=True)
    ]
    tell(0.6, "writing tables")
    all_tables = [
        part_table for part in found.parts for part_table in (*tables[part.slug], *_choices(part))
    ]
    first = len(mains) + 2
    supplement = _numbered([*_own(found, sections, missing), *all_tables], first)
    single = _single(found, supplement)
    for written in (asked_table, *mains, *single):
        yield f"tables/{written.stem}.csv", csv_of(written)
        yield f"tables/{written.stem}.tex", _latex(written)
    packed_ = [] if found.choice.every_file else supplement
    if packed_:
        yield (
            ARCHIVE,
            archive((f"{packed_table.stem}.csv", csv_of(packed_table)) for packed_table in packed_),
        )
    other_files = [
        (PAGE, "the page"),
        ("methods.md", "how figures are computed"),
        ("references.bib", "publications"),
    ]
    if ruling_lines := [
        f"{visible(f'{part.found.title}: {note}')}\n"
        for part in found.parts
        for note in part.found.rulings.notes()
    ]:
        other_files.append(("tables/rulings.txt", "rulings that count"))
        yield "tables/rulings.txt", "".join(ruling_lines).encode("utf-8", "backslashreplace")
    tell(0.7, "reading raw answers")
    statements = dict(_statements(store, found))
    tell(0.75, "drawing pictures")
    drawn_pictures = dict[str, Drawn]()
    for slug, picture in pictures.items():
        drawn_pictures[slug], files = drawing(main_by_slug[slug], picture.pages()[0], process)
        other_files += [(name, main_by_slug[slug].title) for name in files]
        yield from files.items()
    yield from _pictures(single, process, tell)
    tell(0.95, "writing the page")
    sections = [
        replace(section, picture=drawn_pictures.get(section.of.slug)) for section in sections
    ]
    html = page(found, sections, asked_table, len(supplement), packed(supplement, statements))
    yield PAGE, html.encode("utf-8", "backslashreplace")
    methods = _methods(found, [any_table.table for any_table in all_tables])
    yield "methods.md", ("\n".join(methods) + "\n").encode("utf-8", "backslashreplace")
    references = [reference for part in found.parts for reference in part.found.references]
    yield (
        "references.bib",
        bibtex(references, found.instruments).encode("utf-8", "backslashreplace"),
    )
    if found.choice.answers == ALL:
        for name, content in _answers(store, found):
            other_files.append((name, "every answer, word for word"))
            yield name, content
    yield (
        "index.csv",
        index(
            [asked_table, *mains, *supplement],
            {packed_table.stem: ARCHIVE for packed_table in packed_},
            other_files,
        ),
    )


def planned_claims(store: Store, parts: Sequence[Part]) -> set[tuple[str, str]]:
    """Return the (question, run) of the claims that frozen plans name."""
    return {
        (question, name)
        for part in parts
        for name, run in part.found.runs.items()
        for question in confirmatory_claims(store, run)
    }


def _main(of: Group) -> Shown:
    assert of.main is not None, "only groups with a table"
    ruling_notes = [note for part in of.parts for note in part.found.rulings.notes()]
    return Shown(
        of.title, replace(of.main, name=of.audit), ruled=tuple(dict.fromkeys(ruling_notes))
    )


def _numbered(tables: Sequence[Shown], first: int) -> list[Shown]:
    return [table.numbered(number) for number, table in enumerate(tables, first)]


def _own(
    found: Collected, sections: Sequence[Section], missing: Mapping[str, Sequence[str]]
) -> Iterator[Shown]:
    """Yield the tables that every report has."""
    yield from (Shown("", table) for table in told_tables(found, sections, missing))
    yield from (
        Shown("", make(found)) for make in (own.models, own.instruments, own.templates, own.design)
    )
    yield from (Shown("", table) for table in (*own.counted(found), own.rulings(found)))


def _choices(part: Part) -> Iterator[Shown]:
    if part.found.parameters:
        yield Shown(part.found.title, own.chosen(part))


def _single(found: Collected, tables: Sequence[Shown]) -> list[Shown]:
    """Return the tables that have files of their own. Raises UnknownName."""
    names = dict.fromkeys(table.table.name for table in tables)
    if missing := [name for name in found.choice.tables if name not in names]:
        contents = [
            entry.name
            for part in found.parts
            for entry in part.found.book.contents
            if not entry.empty
        ]
        available = ", ".join(dict.fromkeys((*names, *contents)))
        raise UnknownName(f"there is no table {', '.join(missing)}. Available: {available}")
    writes_all = found.choice.every_file
    return [table for table in tables if writes_all or table.table.name in found.choice.tables]


def _latex(one: Shown) -> bytes:
    text = latex_table(replace(one.table, notes=(*one.ruled, *one.table.notes)))
    return text.encode("utf-8", "backslashreplace")


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
    store: Store, found: Collected
) -> Iterator[tuple[str, tuple[Sequence[StatementWithAnswers], bool]]]:
    """Yield the statements of each model of each part with their answers.

    A flag tells whether these were read.
    """
    for part in found.parts:
        for name in part.found.items:
            title = (
                part.found.title if len(part.found.items) == 1 else f"{part.found.title}: {name}"
            )
            yield (
                title,
                (
                    statements_with_answers(store, part, name, found.choice.answers),
                    name in part.found.readers,
                ),
            )


def _answers(store: Store, found: Collected) -> Files:
    """Yield every answer, each run once, even if several audits judge it."""
    runs = {
        part.found.runs[name]: (part, name)
        for part in reversed(found.parts)
        for name in with_answers(part)
    }
    for number, (part, name) in enumerate(reversed(runs.values()), 1):
        name_of_run = (
            part.slug if len(part.found.runs) == 1 else file_stem([part.slug, _safe(name)], "-._")
        )
        yield f"answers/{number:03}-{name_of_run}.csv", every_answer(store, part, name)


def _safe(name: str) -> str:
    return "".join(
        character if character.isascii() and (character.isalnum() or character in "._-") else "_"
        for character in name
    )
