"""Commands that export: rows and instruments for other programs, and a report."""

from __future__ import annotations

import shlex
import sys

from workbench.cli.output import print_json, say, say_wrapped, tell
from workbench.cli.verbs import Namespace, verb
from workbench.commands.report import ReportCommand
from workbench.domain.names import listed, plural
from workbench.errors import UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import INSTRUMENT, JSON, MODELS, STORE, WITHOUT_RULINGS
from workbench.report.options import silent

PEOPLE = ("counts", "pseudonyms", "none")
"descriptions of people in an export: the keys of `pipeline.importing.PEOPLE`"
INSTRUMENTS = "instrument"
FORMATS = {INSTRUMENTS: ("csv", "probvaa", "jsonl", "choices"), "rows": ("csv", "parquet", "jsonl")}
ROWS = ("model", "audit", "expand", "names", "without_rulings", "progress")
"options of rows alone"


@verb(
    STORE,
    Option(
        "folder",
        "a new or empty folder",
        Type.PATH,
        positional=True,
        required=True,
        metavar="DIR",
    ),
    Option(
        "what",
        "instrument, which can be imported again; or rows for pandas, R, DuckDB: answers, "
        "readings, probabilities, "
        "labels, rulings, verdicts, figures (separate several with commas)",
        default=INSTRUMENTS,
        metavar="KIND,…",
    ),
    INSTRUMENT.but(
        help="its name; for rows, separate several with commas", none="the only one; for rows all"
    ),
    Option(
        "format",
        "csv, probvaa, jsonl, choices; for rows csv, parquet, jsonl",
        none="csv; choices if all statements are multiple choice",
        metavar="FORMAT",
    ),
    JSON,
    Section(
        "An instrument",
        (
            Option(
                "people",
                "also write descriptions of annotators and respondents, in separate files",
                default="counts",
                choices=PEOPLE,
            ),
            flag("force", "replace files of the same name; others stay"),
        ),
        "csv imports back identically, as does choices for multiple-choice questions and models' "
        "answers; probvaa is the published layout; jsonl has the statements.",
    ),
    Section(
        "Rows",
        (
            MODELS,
            Option("audit", "separate several with commas", none="all", metavar="NAME,…"),
            flag(
                "expand",
                "write one row per answer; without it, equal answers of a draw share a row",
            ),
            flag("names", "write people's names instead of pseudonyms"),
            WITHOUT_RULINGS.but(help="ignore auditors' rulings in verdicts and figures"),
            flag("progress", "print how many rows are written, a line for each 10,000"),
        ),
        "The folder also has a dictionary of the columns, a README and a Croissant record. Cells "
        "that a spreadsheet would run as formulas are neutralised in csv.",
    ),
)
def export(options: Namespace) -> int:
    """Write an instrument or rows: all files, or none.

    What the format cannot hold is printed.
    """
    kind_names = listed(options.what)
    if kind_names == (INSTRUMENTS,):
        if flags := [f"--{name.replace('_', '-')}" for name in ROWS if getattr(options, name)]:
            raise UsageError(
                f"{', '.join(flags)}: only for rows; name rows with --what, or leave this out"
            )
        return _instrument(options)
    if INSTRUMENTS in kind_names or not kind_names:
        raise UsageError(
            "--what names an instrument and kinds of rows; export each into a separate folder"
        )
    if options.force:
        raise UsageError(
            "--force is only for an instrument; export rows into a new or empty folder"
        )
    return _rows(options, kind_names)


def _instrument(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.pipeline.importing import prepared

    _check_format(options, INSTRUMENTS)
    with Store.open(options.store) as store:
        instrument = store.instruments.get(options.instrument or store.instruments.only())
        is_all_choices = len(instrument.choices) == len(instrument.statements)
        instrument_export = prepared(
            store,
            instrument.name,
            options.format or ("choices" if is_all_choices else "csv"),
            options.people,
        )
    written = instrument_export.write(options.folder, force=options.force)
    remarks = {
        "left_out": written.left_out,
        "notes": written.notes,
        "left_alone": written.left_alone,
    }
    if options.json:
        fields = {
            "instrument": instrument.name,
            "format": written.format,
            "folder": str(written.folder),
        }
        print_json(fields | {"files": [str(path) for path in written.files]} | remarks)
        return 0
    say(
        f"{instrument.name}: {len(instrument.statements):,} statements as {written.format} in "
        f"{written.folder}"
    )
    for path in written.files:
        say(f"  {path.relative_to(written.folder)}  {path.stat().st_size:,} bytes")
    for heading, lines in zip(
        ("Left out:", "Note:", "Files in the folder, not changed:"), remarks.values(), strict=True
    ):
        if lines:
            say("\n- ".join((heading, *lines)))
    source = written.files[0] if written.format == "jsonl" else written.folder
    say(
        f"Import it: workbench import OTHER_STORE --format {written.format} "
        f"{shlex.quote(str(source))}"
    )
    return 0


def _rows(options: Namespace, what: tuple[str, ...]) -> int:
    from stores.core.store import Store
    from workbench.tidy.columns import Choice
    from workbench.tidy.export import export as write
    from workbench.tidy.export import kinds

    _check_format(options, "rows")
    selected = kinds(what)
    of_people = [kind.name for kind in selected if not kind.of_models]
    if (options.model or options.audit) and len(of_people) == len(selected):
        raise UsageError(
            f"{', '.join(of_people)}: rows without a model or audit; leave out --model and --audit"
        )
    choice = Choice(
        models=listed(options.model),
        audits=listed(options.audit),
        instruments=listed(options.instrument),
        expand=options.expand,
        names=options.names,
        rulings=not options.without_rulings,
    )
    with Store.open(options.store) as store:
        progress = _line if options.progress else _tell if _watched() else None
        exported = write(store, selected, options.format or "csv", choice, options.folder, progress)
    if progress is _tell:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if options.json:
        files = [
            {
                "file": str(exported.folder / file.name),
                "rows": file.rows,
                "bytes": file.bytes,
                "sha256": file.sha256,
            }
            for file in exported.files
        ]
        print_json(
            {
                "folder": str(exported.folder),
                "files": files,
                "notes": exported.notes,
                "left_out": exported.left_out,
            }
        )
        return 0
    for file in exported.files:
        say(f"{exported.folder / file.name}  {plural(file.rows, 'row')}, {file.bytes:,} bytes")
    for note in (*exported.notes, *(f"Left out: {sentence}" for sentence in exported.left_out)):
        say_wrapped(f"- {note}")
    say(f"What the columns mean: {exported.folder / 'dictionary.csv'}")
    return 0


def _check_format(options: Namespace, of: str) -> None:
    """Raise UsageError for a format that an instrument, or rows, do not have."""
    if options.format is not None and options.format not in FORMATS[of]:
        other = "rows" if of == INSTRUMENTS else INSTRUMENTS
        hint = (
            f" ({options.format} is a format of {_named(other)})"
            if options.format in FORMATS[other]
            else ""
        )
        raise UsageError(
            f"{_named(of)} {'is' if of == INSTRUMENTS else 'are'} written as "
            f"{', '.join(FORMATS[of])}; found --format {options.format}{hint}"
        )


def _named(of: str) -> str:
    return "an instrument" if of == INSTRUMENTS else of


def _watched() -> bool:
    return sys.stderr.isatty()


def _line(kind: str, count: int) -> None:
    print(f"{kind} {count}", file=sys.stderr, flush=True)


def _tell(kind: str, count: int) -> None:
    print(f"\r\x1b[K{kind}: {count:,} rows", end="", file=sys.stderr, flush=True)


PROGRESS = flag("progress", "print each step as a line: share of the work done, and the next step")


@verb(
    STORE,
    *ReportCommand.options().values(),
    PROGRESS,
    JSON,
    about="Write a report: a short page that opens offline, with the strongest findings, a "
    "picture and a table of all "
    "models for each audit, and behind it a supplement with every other table and the answers. "
    "Next to it lie tables, "
    "pictures, methods, references and an index. The same store gives the same bytes.",
)
def report(options: Namespace) -> int:
    """Write a report: all of its files, or none."""
    from stores.core.store import Store

    command = ReportCommand.from_arguments(options)
    with Store.open(options.store) as store:
        outcome = command.run(store, _print_step if options.progress else silent)
    return tell(options, outcome.sentence, outcome.data)


def _print_step(share: float, step: str) -> None:
    print(f"{share:.2f} {step}", file=sys.stderr, flush=True)
