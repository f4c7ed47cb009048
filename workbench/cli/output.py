"""Printing for people and for programs.

Text from data is printed literally: control characters are shown, not sent.

Figures
-------
Figures on the command line: printed, or written in the forms that `workbench.figures.write` has.

Every verb that prints figures takes `FIGURES` and calls `put_out`.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Medium, Printed
from workbench.cli.verbs import Namespace, hint
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.figures.book import warnings_of
from workbench.figures.json_values import to_json_values
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import JSON

if TYPE_CHECKING:
    from workbench.commands.command import Outcome

PIPED = 200
"width of a table that no terminal shows, in columns"


def say(text: str = "") -> None:
    """Print a line with control characters other than the newline made visible.

    It is flushed at once, so that a pipe has it as it happens.
    """
    print(visible(hint(text), lines=True), flush=True)


def print_json(value: Any) -> None:
    """Print one JSON document. Undefined numbers are null."""
    json.dump(to_json_values(value), sys.stdout, ensure_ascii=True, indent=2, allow_nan=False)
    print()


def tell(options: Namespace, sentence: str, data: Any) -> int:
    """Print the outcome of an act: a sentence for a person, data for a program."""
    if options.json:
        print_json(data)
    else:
        say(sentence)
    return 0


def print_outcome(options: Namespace, outcome: Outcome) -> int:
    """Print the outcome of a command: lines for a person, data for a program."""
    if options.json:
        print_json(outcome.data)
        return 0
    say_wrapped(outcome.sentence)
    if outcome.next_step:
        say(outcome.next_step)
    return 0


def room() -> int:
    """Return the width of tables: that of the terminal or of COLUMNS, or enough if piped."""
    from rich.console import Console

    return Console().width if has_width() else PIPED


def has_width() -> bool:
    """Return whether a terminal or COLUMNS limits the width of lines."""
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def say_wrapped(text: str) -> None:
    """Print lines of text, wrapped to the width of the terminal.

    Piped, they stay as they are.

    A word that is longer than that, such as the path of a store, stays whole, so that a command can
    be copied.
    """
    if not has_width():
        say(text)
        return
    width = max(40, room())
    for sentence in hint(text).splitlines():
        indent = "  " if sentence.startswith("- ") else ""
        for line in textwrap.wrap(
            sentence,
            width,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        ):
            say(line)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, whole: int = 0) -> None:
    """Print a table as wide as the terminal.

    Piped, it keeps all of its columns' text.

    The first `whole` columns keep their words in one piece if the terminal is narrow.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=room())
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for index, header in enumerate(headers):
        grid.add_column(Text(visible(header, lines=True)), no_wrap=index < whole)
    for row in rows:
        grid.add_row(*[Text(visible(cell, lines=True)) for cell in row])
    console.print(grid)


def agreed(question: str = "Start? [Y/n] ", *, default: bool = True) -> bool:
    """Ask whether to go on, and return False if nobody can answer.

    `default` is the meaning of an empty line. The question goes to standard error, as standard
    output may be a program's.
    """
    if not sys.stdin.isatty():
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return input().strip().lower() in ("y", "yes", *[""] * default)


def at_terminal() -> bool:
    """Return whether a person reads what is printed, and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def edited(line: str) -> str:
    """Let the user edit a line at the prompt.

    Return "" if they clear it or press Ctrl+D.

    readline puts the line there, if it is installed. Without it, the line is printed and typed
    anew.
    """
    try:
        import readline
    except ImportError:
        print(line)
        return _typed()
    readline.set_startup_hook(lambda: readline.insert_text(line))
    try:
        return _typed()
    finally:
        readline.set_startup_hook()


def _typed() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""


def check_agreed(options: Namespace) -> None:
    """Raise UsageError unless a person wants the job to start, with --yes or when asked."""
    if not options.yes and not agreed():
        raise UsageError("not started; where nobody can answer the question, give --yes")


FOLDERS = ("csv", "parquet", "latex", "figures")
"options that name a folder for many files"

RULINGS = "rulings.txt"
"file beside files of figures that says what rulings change in them"
NO_RULING = "No auditor's ruling changes these figures."
COMMAND = "workbench "
"begins a note that is a command"

FIGURES = Section(
    "Figures",
    (
        JSON.but(help="print one JSON document with every table"),
        Option("csv", "write a CSV file for each table", Type.PATH, metavar="FOLDER"),
        Option(
            "parquet", "write a Parquet file for each table (pyarrow)", Type.PATH, metavar="FOLDER"
        ),
        Option("html", "write one HTML page that opens offline", Type.PATH),
        Option(
            "latex", "write a LaTeX table for each table (booktabs)", Type.PATH, metavar="FOLDER"
        ),
        Option(
            "figures", "write pictures as SVG and PDF (matplotlib)", Type.PATH, metavar="FOLDER"
        ),
        flag("force", "replace files of the same name"),
    ),
    "Printed as text, or in one or more of these forms.",
)
"options on where figures go"


def as_data(options: Namespace) -> bool:
    """Return whether figures go to a program, which takes every table."""
    return bool(options.json or medium(options) is Medium.FILES)


def medium(options: Namespace) -> Medium:
    """Return the medium of figures: files, a document, or text for people."""
    if options.csv or options.parquet or options.figures:
        return Medium.FILES
    return Medium.DOCUMENT if options.json else Medium.PEOPLE


def print_out(options: Namespace, of: Printed) -> None:
    """Print the tables of an audit, or write them where the options say."""
    put_out(
        options, of.tables, of.about, title=of.title, told=of.told, notes=of.notes, header=of.header
    )


def no_figures(options: Namespace) -> None:
    """Raise UsageError if figures are to be written by an act that prints none."""
    flags = [f"--{name}" for name in (*FOLDERS, "html", "force") if getattr(options, name)]
    if flags:
        raise UsageError(f"{', '.join(flags)}: this act prints no figures; leave it out")


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

    Every table that is a file of its own has what auditors' rulings change, from `about`: in its
    caption or metadata. CSV files and pictures hold no remarks, so it lies beside them, in
    `RULINGS`.

    Parameters
    ----------
    about : what the figures are of and how they came about; in the JSON document beside the tables
    title, told : heading and paragraphs of a page; the paragraphs stand above printed tables, too
    notes : what a reader must know; below printed tables, and beside the names of written files
    header : the first of the paragraphs, see `Book.header`; in the JSON document, and its warnings
        with every table that is a file of its own
    """
    from workbench.figures.write.document import document
    from workbench.figures.write.terminal import print_tables

    warnings, rulings = warnings_of(header), about.get("rulings")
    ruling_notes = tuple(rulings.get("in_words", ())) if isinstance(rulings, Mapping) else ()
    written_files = _write(
        options, tables, title, (*told, *notes), (*warnings, *ruling_notes), ruling_notes
    )
    if options.json:
        print_json(document(tables, {**({"header": header} if header else {}), **about}))
    elif written_files:
        for path, content in written_files.items():
            say(f"{path}  {content}")
        for warning in warnings:
            say_wrapped(f"! {warning}")
        for sentence in ruling_notes:
            say_wrapped(sentence)
    else:
        for paragraph in told:
            say_wrapped(paragraph)
        hinted_tables = [
            replace(
                printed_table,
                notes=tuple(map(hint, printed_table.notes)),
                empty=hint(printed_table.empty),
            )
            for printed_table in tables
        ]
        print_tables(hinted_tables, room(), wrap=has_width())
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
    """Write the files that were asked for, and return the content of each.

    Raises UsageError.

    Every table that is a file of its own has the `remarks`, of which `ruled` are on rulings.
    """
    from workbench.figures.write.data_files import csv_files, parquet_files
    from workbench.figures.write.html import html_page
    from workbench.figures.write.latex import latex_files
    from workbench.figures.write.pictures import picture_files
    from workbench.formats.folder import expanded, put

    if options.force and not any((options.html, *(getattr(options, name) for name in FOLDERS))):
        raise UsageError(
            "--force replaces files; give --csv, --parquet, --latex, --figures or --html, or "
            "leave it out"
        )
    makers: dict[str, Callable[[Sequence[AnyTable]], Mapping[str, Any]]] = {
        "csv": csv_files,
        "parquet": parquet_files,
        "latex": latex_files,
        "figures": picture_files,
    }
    rows_by_stem = {table.stem: plural(len(table.rows), "row") for table in tables}
    written_files: dict[Path, str] = {}
    for name, make in makers.items():
        if (folder := getattr(options, name)) is not None:
            files = make(
                [
                    replace(written_table, notes=(*remarks, *written_table.notes))
                    for written_table in tables
                ]
            )
            note_path = expanded(folder) / RULINGS
            needs_note = (
                name in ("csv", "figures")
                and note_path not in written_files
                and (ruled or note_path.exists())
            )
            note_file = {RULINGS: "\n".join((*(ruled or (NO_RULING,)), ""))} if needs_note else {}
            paths = put({**files, **note_file}, expanded(folder), force=options.force, beside=True)
            written_files |= {
                path: "picture" if name == "figures" else rows_by_stem[path.stem]
                for path in paths
                if path.name != RULINGS
            }
            written_files |= {
                path: "what rulings change in these figures"
                for path in paths
                if path.name == RULINGS
            }
    if options.html is not None:
        page = expanded(options.html)
        content = {page.name: html_page(tables, title, told)}
        (path,) = put(content, page.parent, force=options.force, beside=True)
        written_files[path] = plural(len(tables), "table")
    return written_files
