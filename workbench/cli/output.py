"""Printing for people and for programs. Text from data is printed literally: control characters are
shown, not sent.

Figures
-------
Figures on the command line: printed, or written in the forms that `workbench.figures.write` has.

Every verb that prints figures takes `FIGURES` and calls `put_out`.
"""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

from workbench.audits.audit import Medium, Printed
from workbench.cli.verbs import Namespace, hint
from workbench.domain.names import person_name, plural
from workbench.errors import UsageError
from workbench.figures.book import warnings_of
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import JSON

PIPED = 200
"columns of a table that no terminal shows"


def say(text: str = "") -> None:
    """Print a line with control characters other than the newline made visible. Piped, it comes as
    it happens.
    """
    print(visible(hint(text), lines=True), flush=True)


def print_json(value: Any) -> None:
    """Print one JSON document. Undefined numbers are null."""
    json.dump(plain(value), sys.stdout, ensure_ascii=True, indent=2, allow_nan=False)
    print()


def tell(options: Namespace, sentence: str, data: Any) -> int:
    """Print what was done: a sentence for a person, data for a program."""
    if options.json:
        print_json(data)
    else:
        say(sentence)
    return 0


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a new file for writing, which is there whole or not at all. Raises UsageError."""
    if path.exists():
        raise UsageError(f"{path} exists already; choose another name")
    made = path.with_name(path.name + ".part")
    try:
        with made.open("w", encoding="utf-8", newline="") as file:
            yield file
        made.rename(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            made.unlink()


def plain(value: Any) -> Any:
    """Return `value` as plain JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: plain(item) for key, item in asdict(value).items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "item") and callable(value.item):  # numpy scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def room() -> int:
    """Return the columns that there are for a table: the terminal's, or as many as COLUMNS says;
    piped, enough.
    """
    from rich.console import Console

    return Console().width if has_width() else PIPED


def has_width() -> bool:
    """Return whether somebody said how wide lines may be: a terminal, or COLUMNS."""
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def say_wrapped(text: str) -> None:
    """Print lines of text in lines as wide as the terminal; piped, they stay as they are. A word
    that is longer than that, as the path of a store may be, stays whole, so that a command can be
    copied.
    """
    if not has_width():
        say(text)
        return
    width = max(40, room())
    for sentence in hint(text).splitlines():
        hang = "  " if sentence.startswith("- ") else ""
        for line in textwrap.wrap(
            sentence, width, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False
        ):
            say(line)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, whole: int = 0) -> None:
    """Print a table as wide as the terminal; piped, it keeps all of its columns' text. `whole`: so
    many of the first columns keep their words in one piece where the terminal is narrow.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=room())
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        grid.add_column(Text(visible(header, lines=True)), no_wrap=place < whole)
    for row in rows:
        grid.add_row(*[Text(visible(cell, lines=True)) for cell in row])
    console.print(grid)


def agreed(question: str = "Start? [Y/n] ", *, default: bool = True) -> bool:
    """Ask whether to go on; False where nobody can answer. `default`: what an empty line means.

    The question goes to standard error: standard output may be a program's.
    """
    if not sys.stdin.isatty():
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return input().strip().lower() in ("y", "yes", *[""] * default)


def at_terminal() -> bool:
    """Return whether a person reads what is printed, and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def edited(line: str) -> str:
    """Let a person change a line that stands at the prompt already; "" where nothing is left of it,
    or at Ctrl+D.

    readline, where there is one, puts it there; else it is printed and typed anew.
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


def changed_by(options: Namespace) -> str:
    """Return who makes a change: --person, or who is logged in. Raises UsageError."""
    name = options.person or os.environ.get("USER", "")
    if not name:
        raise UsageError("this change needs a name; give --person NAME")
    return person_name(name)


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
    put_out(
        options, of.tables, of.about, title=of.title, told=of.told, notes=of.notes, header=of.header
    )


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
    header : the first of the paragraphs, see `Book.header`; in the JSON document, and its warnings
        with every table that is a file of its own

    What auditors' rulings change, as `about` has it, stands with every table that is a file of its
    own: in the caption or the metadata, and beside CSV files and pictures, which hold no remarks,
    in `RULINGS`.
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
        hinted = [
            replace(one, notes=tuple(map(hint, one.notes)), empty=hint(one.empty)) for one in tables
        ]
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
    """Write the files that were asked for; return what each holds. Raises UsageError. `remarks`:
    with every table that is a file of its own, of which `ruled` are on rulings.
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
    holds = {table.stem: plural(len(table.rows), "row") for table in tables}
    written: dict[Path, str] = {}
    for name, make in makers.items():
        if (folder := getattr(options, name)) is not None:
            files = make([replace(one, notes=(*remarks, *one.notes)) for one in tables])
            place = expanded(folder) / RULINGS
            silent = (
                name in ("csv", "figures") and place not in written and (ruled or place.exists())
            )
            beside = {RULINGS: "\n".join((*(ruled or (NO_RULING,)), ""))} if silent else {}
            paths = put({**files, **beside}, expanded(folder), force=options.force, beside=True)
            written |= {
                path: "picture" if name == "figures" else holds[path.stem]
                for path in paths
                if path.name != RULINGS
            }
            written |= {
                path: "what rulings change in these figures"
                for path in paths
                if path.name == RULINGS
            }
    if options.html is not None:
        page = expanded(options.html)
        content = {page.name: html_page(tables, title, told)}
        (path,) = put(content, page.parent, force=options.force, beside=True)
        written[path] = plural(len(tables), "table")
    return written
