"""Figures on the command line: printed, or written in the forms that `workbench.figures.write` has.

Every verb that prints figures takes `FIGURES` and calls `put_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.audits.audit import Medium, Printed
from workbench.cli.output import has_width, print_json, room, say, say_wrapped
from workbench.cli.verbs import Namespace, Section, hint
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.figures.book import warnings_of
from workbench.figures.table import AnyTable
from workbench.options.option import Option, Type, flag
from workbench.options.shared import JSON

FOLDERS = ("csv", "parquet", "latex", "figures")
"options that name a folder for many files"

RULINGS = "rulings.txt"
"says beside files of figures what rulings change in them"
NO_RULING = "No auditor's ruling changes these figures."
COMMAND = "workbench "
"begins a note that is a command"

FIGURES = Section(
    "Figures",
    (
        JSON.but(help="print one JSON document with every table"),
        Option("csv", "write a CSV file for each table", Type.PATH, metavar="FOLDER"),
        Option("parquet", "write a Parquet file for each table (pyarrow)", Type.PATH, metavar="FOLDER"),
        Option("html", "write one HTML page that opens offline", Type.PATH),
        Option("latex", "write a LaTeX table for each table (booktabs)", Type.PATH, metavar="FOLDER"),
        Option("figures", "write pictures as SVG and PDF (matplotlib)", Type.PATH, metavar="FOLDER"),
        flag("force", "replace files of the same name"),
    ),
    "Printed as text, or in one or more of these forms.",
)
"where figures go"


def as_data(options: Namespace) -> bool:
    """Return whether figures go to a program, which takes every table that there is."""
    return bool(options.json or medium(options) is Medium.FILES)


def medium(options: Namespace) -> Medium:
    """Return whom figures are for."""
    if options.csv or options.parquet or options.figures:
        return Medium.FILES
    return Medium.DOCUMENT if options.json else Medium.PEOPLE


def print_out(options: Namespace, of: Printed) -> None:
    """Print what an audit says, or write it where the options say."""
    put_out(options, of.tables, of.about, title=of.title, told=of.told, notes=of.notes, header=of.header)


def no_figures(options: Namespace) -> None:
    """Raise UsageError where figures are to be written by an act that prints none."""
    given = [f"--{name}" for name in (*FOLDERS, "html", "force") if getattr(options, name)]
    if given:
        raise UsageError(f"{', '.join(given)}: this act prints no figures; leave it out")


def put_out(
    options: Namespace,
    tables: Sequence[AnyTable],
    about: Mapping[str, Any],
    *,
    title: str,
    told: Sequence[str] = (),
    notes: Sequence[str] = (),
    header: Sequence[str] = (),
) -> None:
    """Print tables, or write them where the options say.

    Parameters
    ----------
    about : what the figures are of and how they came about; in the JSON document beside the tables
    title, told : heading and paragraphs of a page; the paragraphs stand above printed tables, too
    notes : what a reader must know; below printed tables, and beside the names of written files
    header : the first of the paragraphs, see `Book.header`; in the JSON document, and its warnings with every table
        that is a file of its own

    What auditors' rulings change, as `about` has it, stands with every table that is a file of its own: in the caption
    or the metadata, and beside CSV files and pictures, which hold no remarks, in `RULINGS`.
    """
    from workbench.figures.write.document import document
    from workbench.figures.write.terminal import print_tables

    warnings, of = warnings_of(header), about.get("rulings")
    ruled = tuple(of.get("in_words", ())) if isinstance(of, Mapping) else ()
    written = _write(options, tables, title, (*told, *notes), (*warnings, *ruled), ruled)
    if options.json:
        print_json(document(tables, {**({"header": header} if header else {}), **about}))
    elif written:
        for path, what in written.items():
            say(f"{path}  {what}")
        for warning in warnings:
            say_wrapped(f"! {warning}")
        for sentence in ruled:
            say_wrapped(sentence)
    else:
        for paragraph in told:
            say_wrapped(paragraph)
        hinted = [replace(one, notes=tuple(map(hint, one.notes)), empty=hint(one.empty)) for one in tables]
        print_tables(hinted, room(), wrap=has_width())
        if notes:
            say()
    if not options.json:
        for note in notes:
            if note.startswith(COMMAND):
                say(note)  # whole, however long: whoever copies it copies all of it
            else:
                say_wrapped(note)


def _write(
    options: Namespace,
    tables: Sequence[AnyTable],
    title: str,
    told: Sequence[str],
    remarks: Sequence[str],
    ruled: Sequence[str],
) -> dict[Path, str]:
    """Write the files that were asked for; return what each holds. Raises UsageError. `remarks`: with every table that
    is a file of its own, of which `ruled` are on rulings.
    """
    from workbench.figures.write.data_files import csv_files, parquet_files
    from workbench.figures.write.html import html_page
    from workbench.figures.write.latex import latex_files
    from workbench.figures.write.pictures import picture_files
    from workbench.formats.folder import expanded, put

    if options.force and not any((options.html, *(getattr(options, name) for name in FOLDERS))):
        raise UsageError("--force replaces files; give --csv, --parquet, --latex, --figures or --html, or leave it out")
    makers: dict[str, Callable[[Sequence[AnyTable]], Mapping[str, Any]]] = {
        "csv": csv_files,
        "parquet": parquet_files,
        "latex": latex_files,
        "figures": picture_files,
    }
    holds = {table.stem: plural(len(table.rows), "row") for table in tables}
    written: dict[Path, str] = {}
    for name, make in makers.items():
        if (folder := getattr(options, name)) is not None:
            files = make([replace(one, notes=(*remarks, *one.notes)) for one in tables])
            place = expanded(folder) / RULINGS
            silent = name in ("csv", "figures") and place not in written and (ruled or place.exists())
            beside = {RULINGS: "\n".join((*(ruled or (NO_RULING,)), ""))} if silent else {}
            paths = put({**files, **beside}, expanded(folder), force=options.force, beside=True)
            written |= {path: "picture" if name == "figures" else holds[path.stem]
                        for path in paths if path.name != RULINGS}  # fmt: skip
            written |= {path: "what rulings change in these figures" for path in paths if path.name == RULINGS}
    if options.html is not None:
        page = expanded(options.html)
        content = {page.name: html_page(tables, title, told)}
        (path,) = put(content, page.parent, force=options.force, beside=True)
        written[path] = plural(len(tables), "table")
    return written
