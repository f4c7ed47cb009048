"""Writes a report as a folder, completely or not at all: beside the page the methods in Markdown, and references."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from stores.core.store import Store
from workbench.audits.reported import Reference
from workbench.domain.instruments import Instrument
from workbench.errors import UsageError
from workbench.figures.pictures.picture import Picture
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.latex import latex_table
from workbench.figures.write.pictures import check_package
from workbench.formats.folder import check_place, expanded
from workbench.report import own_tables as own
from workbench.report.collected import Collected, Part, Shown, Stems, Tell, collect, shown_of
from workbench.report.options import ALL, ReportChoice
from workbench.report.own_tables import behind, every_answer, with_answers
from workbench.report.page import (
    Drawn,
    Material,
    cannot_say,
    commands,
    environment,
    interval_sentences,
    limits,
    page,
    title_of,
)
from workbench.report.pictures import DrawingProcess, chosen, declared, drawings

_SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": "", "~": "", "^": ""}


def _methods(found: Collected, tables: Sequence[AnyTable]) -> Iterator[str]:
    yield f"# Methods: {_plain(title_of(found))}"
    yield ""
    yield f"Store of {found.at[:16].replace('T', ' ')} UTC, SHA-256 of its content `{found.hash}`."
    software = ", ".join(f"{name} {number}" for name, number in found.software.items())
    yield f"Written with {software}."
    for part, cannot in zip(found.parts, cannot_say(found.parts), strict=True):
        yield from ("", f"## {_plain(part.found.title)}", "")
        if part.found.book.methods:
            yield _plain(part.found.book.methods)
        if cannot:
            yield from ("", "What it cannot say:", "", *(f"- {_plain(one)}" for one in cannot))
            yield from ("", f"Each measure with its formula and source: `workbench help {part.audit}`.")
        if part.found.parameters:
            yield from ("", "| choice | value | what it decides | source of the value |", "| --- | --- | --- | --- |")
            for one in part.found.parameters:
                yield f"| {' | '.join(map(_cell, (one.name, one.value, one.meaning, one.source)))} |"
    yield from ("", "## Intervals", "")
    yield from (f"- {what}: {method}" for what, method in interval_sentences(tables))
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
    entries = [_entry(one) for one in dict.fromkeys(references)]
    entries += [_instrument(one, place) for place, one in enumerate(instruments, 1)]
    return "\n".join(entries)


def _entry(one: Reference) -> str:
    where = {"article": "journal", "inproceedings": "booktitle"}.get(one.kind, "howpublished")
    fields = [
        ("author", " and ".join(one.authors)), ("title", f"{{{one.title}}}"), (where, one.venue),
        ("year", str(one.year)), *one.more,
    ]  # fmt: skip
    return _written(one.kind, one.key, fields)


def _instrument(one: Instrument, place: int) -> str:
    """Return an instrument as BibTeX; its own citation is quoted in the note."""
    title = f"{{{_escaped(one.title or one.name)}}}"
    parts = (
        one.citation,
        f"Version {one.version}" if one.version else "",
        f"Licence: {one.licence}" * bool(one.licence),
    )
    note = ". ".join(filter(None, parts))
    fields = [("title", title), ("howpublished", _escaped(one.source)), ("note", _escaped(note))]
    return _written("misc", f"instrument{place}", [(name, value) for name, value in fields if value])


def _written(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
    return f"@{kind}{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields) + "}\n"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in visible(text))


PAGE = "report.html"
Files = Iterator[tuple[str, bytes | Iterable[str]]]
"(path in the folder, content): bytes, or lines that are written one after another"


def silent(share: float, what: str) -> None:
    """Ignore progress reports."""


def write_report(store: Store, folder: Path, choice: ReportChoice, tell: Tell = silent) -> Path:
    """Write a report into a new or empty folder; return the path of its page.

    Files are first written into a temporary folder, which is renamed when complete. Raises UsageError if there is
    nothing to report or the folder cannot be written, UnknownName, MissingPackage.
    """
    folder = expanded(folder)
    check_place(folder, force=False)
    environment()  # before any work: whether the packages are here
    check_package()
    fresh = folder.parent / f".{folder.name}.{uuid4().hex[:12]}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with uncollected():
            store.at_once(lambda: _made(store, fresh, choice, tell))
        tell(1.0, "done")
        if folder.exists():
            folder.rmdir()  # it is empty
        fresh.rename(folder)
    except OSError as error:
        raise UsageError(
            f"{folder}: the report cannot be written ({error.strerror}); nothing of it was kept. Give a folder that "
            "you may write to, with enough room."
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder / PAGE


def _made(store: Store, fresh: Path, choice: ReportChoice, tell: Tell) -> None:
    """Write the files into a new folder; where rules have read answers meanwhile, it is called again."""
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    with DrawingProcess() as process:
        gathered = Gathered(process)
        found = collect(store, choice, tell, gathered.add)
        _write(fresh, _files(store, found, gathered, tell))


@contextmanager
def uncollected() -> Iterator[None]:
    """Do without the search for objects that refer to each other: it takes a seventh of the time and frees nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
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


@dataclass(frozen=True, slots=True)
class Gathered:
    """Tables and pictures. They are made as soon as their part is judged, so that they are drawn meanwhile."""

    process: DrawingProcess
    stems: Stems = field(default_factory=Stems)
    tables: dict[str, list[Shown]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    pictures: list[tuple[Shown, Picture]] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Make the tables of a part, and let those pictures be drawn that a report has in any case."""
        self.tables[part.slug], self.missing[part.slug] = shown_of(part, self.stems)
        found = declared(self.tables[part.slug])
        self.pictures.extend(found)
        self.process.begin(picture for _, picture in found if len(picture.pages()) == 1)


def _files(store: Store, found: Collected, gathered: Gathered, tell: Tell) -> Files:
    stems, tables, missing = gathered.stems, gathered.tables, gathered.missing
    own_tables = [own.models(found), own.design(found), *own.counted(found), own.rulings(found)]
    own_shown = [Shown("", table, stems.of(table.stem), on_page=True, first=True) for table in own_tables]
    for part in found.parts:
        if part.found.parameters:
            stem = stems.of(f"choices_behind-{part.slug}")
            own_shown.append(Shown(part.slug, own.chosen(part), stem, on_page=True, first=True))
    every = [one for of in tables.values() for one in of]
    wanted, left = chosen(gathered.pictures, sum(1 for of in tables.values() if of))
    for slug, why in left:
        missing[slug].append(why)
    gathered.process.begin(picture for _, picture in wanted if picture.of > 1)
    tell(0.6, "writing tables")
    ruled = {part.slug: part.found.rulings.notes() for part in found.parts}
    for one in (*own_shown, *every):
        yield from _table(one, ruled.get(one.part, ()))
    if any(ruled.values()):
        lines = [f"{part.found.title}: {note}\n" for part in found.parts for note in ruled[part.slug]]
        yield "tables/rulings.txt", "".join(lines).encode("utf-8", "backslashreplace")
    tell(0.65, "reading raw answers")
    answered = {(part.slug, name): behind(store, part, name, found.choice.answers) for part, name in _named(found)}
    tell(0.7, "drawing pictures")
    pictures: dict[str, list[Drawn]] = {}
    for place, drawing in enumerate(drawings(wanted, stems, gathered.process)):
        pictures.setdefault(drawing.table, []).append(drawing.shown)
        yield from drawing.files
        tell(0.7 + 0.25 * place / len(wanted), f"drew {drawing.shown.caption}")
    tell(0.95, "writing the page")
    html = page(found, Material(tables, missing, pictures, answered))
    yield PAGE, html.encode("utf-8", "backslashreplace")
    made = [one.table for one in every]
    yield "methods.md", ("\n".join(_methods(found, made)) + "\n").encode("utf-8", "backslashreplace")
    references = [one for part in found.parts for one in part.found.references]
    yield "references.bib", bibtex(references, found.instruments).encode("utf-8", "backslashreplace")
    if found.choice.answers == ALL:
        yield from _answers(store, found)


def _named(found: Collected) -> Iterator[tuple[Part, str]]:
    yield from ((part, name) for part in found.parts for name in part.found.items)


def _table(one: Shown, ruled: Sequence[str]) -> Files:
    """Yield a table as CSV and LaTeX; `ruled`: what rulings change in it, for the caption."""
    (text,) = csv_files([one.table]).values()
    yield f"tables/{one.stem}.csv", text.encode("utf-8", "backslashreplace")
    yield (
        f"tables/{one.stem}.tex",
        latex_table(replace(one.table, notes=(*ruled, *one.table.notes))).encode("utf-8", "backslashreplace"),
    )


def _answers(store: Store, found: Collected) -> Files:
    """Yield every answer, each run once, even if several audits judge it."""
    stems, seen = Stems(), set()
    for part in found.parts:
        for name in with_answers(part):
            run = part.found.runs[name]
            if run not in seen:
                seen.add(run)
                yield (
                    f"answers/{stems.of(part.slug if len(part.found.runs) == 1 else f'{part.slug}-{_safe(name)}')}.csv",
                    (every_answer(store, part, name)),
                )


def _safe(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
