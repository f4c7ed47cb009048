"""Commands that make, fill and check a store, and the one that opens it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from workbench import entry_points, registry
from workbench.annotation.options import PURPOSES
from workbench.cli.output import agreed, at_terminal, print_json, say, say_wrapped, table
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.formats.log_values import LARGEST_COUNT, MOST_COUNT
from workbench.formats.native import statement_columns
from workbench.formats.packed import MOST_BYTES, RATIO, reading
from workbench.formats.read import BESIDE, ISSUE_LABELS, LABELS, LOG
from workbench.formats.read import FORMATS as READ
from workbench.formats.records import AS_IS, ReadSettings
from workbench.options.option import Option, Type, flag
from workbench.options.shared import ANNOTATOR, DRY_RUN, INSTRUMENT, JSON, PERSONAS, QUEUE, STORE

if TYPE_CHECKING:
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.importing import ImportMaterial, ImportOutcome, ImportRequest

SHIPPED = "veldania"
TOLD_S = 0.2
"between two messages on the share of a file that was read"
OF_PEOPLE = (
    "questions",
    "unordered",
    "respondent",
    "weight",
    "drop_unweighted",
    "groups",
    "missing",
)
"options that name columns or values of people's answers"
PREVIEWED = 8
"rows of a file that --dry-run prints"


def welcome() -> int:
    """Open the terminal on the choice of a store."""
    from workbench.tui.home.welcome import run_welcome

    return run_welcome(Path.cwd())


SCREENS = ("home", "statements", "jobs", "annotate", *(screen.mode for screen in registry.places()))
FORMATS = entry_points.names(entry_points.FORMATS, (*READ, *BESIDE))


@verb(
    STORE.but(help="the store's file; if it does not exist, you are asked whether to make it"),
    Option("screen", "where to begin", default="home", choices=SCREENS),
    ANNOTATOR,
    QUEUE.but(none="chosen on screen"),
)
def open_store(options: Namespace) -> int:
    """Open the terminal. If there is no store, ask whether to make it."""
    path: Path = options.store
    if not path.exists():
        if not agreed(f"There is no store at {path}. Make one? [Y/n] "):
            raise UsageError(_no_store(path))
        with_demo = agreed(f"Put the shipped instrument ({SHIPPED}) into it? [Y/n] ")
        make(path, demo=with_demo)
    if not sys.stdout.isatty():
        raise UsageError(
            "the screens need a terminal; without one use the commands: workbench --help"
        )
    from workbench.tui.app import run_app

    return run_app(path, start=options.screen, annotator=options.annotator, queue=options.queue)


def _no_store(path: Path) -> str:
    """Return the message that a path is no store. A bare word may be meant as a command."""
    name = shlex.quote(str(path))
    if path.name == str(path) and not path.suffix:
        message = f"{path} is neither a command nor a store. Commands: workbench --help"
        return f"{message}. To make a store: workbench init {name}"
    return f"there is no store at {path}, and none was made. To make one: workbench init {name}"


@verb(STORE, flag("demo", "with the instrument that ships with workbench"))
def init(options: Namespace) -> int:
    """Make a store."""
    if options.store.exists():
        raise UsageError(
            f"{options.store} exists already; open it with: workbench "
            f"{shlex.quote(str(options.store))}"
        )
    make(options.store, demo=options.demo)
    say(f"Made {options.store}." + (f" It holds the instrument {SHIPPED}." if options.demo else ""))
    if options.demo:
        run_flags = (
            "--model smollm2 --family user --statements 8 --templates 2 --samples 10 "
            "--temperature 0.4"
        )
        say(f"Next: workbench run STORE {run_flags}")
    else:
        say("Next: workbench import STORE PATH; --dry-run previews the import")
    return 0


def make(path: Path, *, demo: bool, instrument: str = SHIPPED) -> None:
    """Make the store at a path unless it exists.

    With `demo`, add a shipped instrument if the store lacks it.
    """
    from stores.core.store import Store

    with Store.open(path, create=True) as store:
        if store.notice:
            print(visible(store.notice), file=sys.stderr)
        if demo and instrument not in store.instruments.names():
            store.instruments.add(shipped_instrument(instrument))


def shipped_instrument(name: str = SHIPPED) -> Instrument:
    """Return an instrument that ships with workbench."""
    from workbench.formats.read import read_shipped

    return read_shipped(name)


@verb(
    STORE,
    Option("path", type=Type.PATH, positional=True, required=True),
    Option("format", "see data/README.md", none="recognised", choices=FORMATS),
    Option("name", "name of the instrument in the store", none="the name in the file"),
    INSTRUMENT.but(
        help="answers, log, manifesto: the instrument with the questions, statements or parties"
    ),
    Option(
        "audit",
        "log: the audit whose prompts were asked",
        none="the one with the most matches",
        metavar="AUDIT",
    ),
    Option(
        "family",
        "log: the templates that were used",
        none="those with the most matches",
        metavar="NAME",
    ),
    Option("model", "log: name of the model", none="as the file says", metavar="NAME"),
    PERSONAS.but(
        help="log: personas or system prompts that stood before the prompts",
        none="those of the store",
    ),
    Option(
        "most_count",
        "log: answers that one row (count) may stand for",
        Type.WHOLE,
        none=f"{MOST_COUNT:,}",
        least=1,
        most=LARGEST_COUNT,
    ),
    Option("codebook", "labels: for rows that name none", none="stance", metavar="NAME"),
    Option("into", "labels: make this queue for items that are in no queue", metavar="QUEUE"),
    Option("purpose", "labels: purpose of that queue", none="training", choices=PURPOSES),
    Option(
        "missing",
        "survey, answers: values that mean no answer, as in --missing=-99,99",
        metavar="CODE,…",
    ),
    Option(
        "questions",
        "survey: columns that are questions",
        none="those with labels of answers",
        metavar="COLUMN,…",
    ),
    Option("unordered", "survey: questions whose answers have no order", metavar="COLUMN,…"),
    Option(
        "weight",
        "survey, answers: columns of weights, multiplied, as in pspwght*pweight",
        metavar="COLUMN*…",
    ),
    flag("drop_unweighted", "survey, answers: leave out people without a weight"),
    Option(
        "groups",
        "survey, answers: columns of groups, as in cntry,age=agea:18-29/30-64/65+",
        metavar="COLUMN,…",
    ),
    Option(
        "respondent",
        "survey: columns that name a person",
        none="the number of the row",
        metavar="COLUMN,…",
    ),
    Option(
        "map", "the file's columns under our names, or a file with them", metavar="NAME=COLUMN,…"
    ),
    Option(
        "ignore",
        "columns to leave out; of answers: columns that are not questions",
        metavar="COLUMN,…",
    ),
    Option(
        "answers",
        "what parties' answers stand for: agree, disagree, neutral, no opinion",
        none="known words",
        metavar="WORD=STANCE,…",
    ),
    Option(
        "language",
        "of the texts, where the file does not say it",
        none="that of its layout, or en",
        metavar="CODE",
    ),
    Option(
        "election",
        "manifesto: country, month (202409) or both",
        none="the newest of the parties' country",
        metavar="WHICH",
    ),
    Option(
        "sheet", "of a spreadsheet, or a list of a JSON file", none="the only one", metavar="NAME"
    ),
    Option("encoding", "of a text", none="UTF-8, or UTF-16 with its mark", metavar="NAME"),
    flag("no_header", "the first row is data; columns are called 1, 2, …"),
    Option(
        "header_row",
        "row or line that names the columns, if a title or comments stand above it",
        Type.WHOLE,
        none="the first that is not empty",
        least=1,
    ),
    Option(
        "decimal",
        "sign before decimals of numbers in a table: . or ,",
        none="a point",
        choices=(".", ","),
    ),
    Option(
        "most_bytes",
        "that a packed file (.gz, .zst, .zip) may come to",
        Type.WHOLE,
        none=f"{MOST_BYTES}, and {RATIO} times its size",
        least=1,
    ),
    Option(
        "keep_map",
        "write what --map and the options below it say into a file, for --map",
        Type.PATH,
    ),
    flag(
        "skip",
        "biasmonkey, published shares, log, labels: skip what has errors, no prompt or an "
        "unknown text",
    ),
    Option("left_right", "probvaa: parties' left-right positions", Type.PATH, metavar="CSV"),
    DRY_RUN.but(help="preview the import: what is new, and the first rows; write nothing"),
    JSON,
    epilog=statement_columns(),
)
def import_instrument(options: Namespace) -> int:
    """Import an instrument: all of it, or nothing."""
    with reading(options.most_bytes, _progress() if sys.stderr.isatty() else None):
        return _import(options)


def _progress() -> Callable[[Path, float], None]:
    """Return a function that prints the share of a file that was read.

    It overwrites its line, and clears it in the end.
    """
    last_time, is_shown = monotonic(), False

    def told(path: Path, share: float) -> None:
        nonlocal last_time, is_shown
        if monotonic() - last_time > TOLD_S or (is_shown and share == 1):
            last_time, is_shown = monotonic(), share < 1
            text = f"{visible(path.name)}: {share:.0%} read" if is_shown else ""
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return told


def _import(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.pipeline.importing import read_beside, read_import, rehearse_import, write_import

    request = request_of(options)
    material = read_import(request)
    # A rehearsal must not create the store that is named.
    if options.dry_run and material is not None and not options.store.exists():
        with (
            TemporaryDirectory() as folder,
            Store.open(Path(folder) / "store.db", create=True) as store,
        ):
            return _say_import(options, rehearse_import(store, material))
    with Store.open(options.store, create=material is not None and not options.dry_run) as store:
        material = _agreed(options, material or read_beside(store, request))
        return _say_import(
            options,
            rehearse_import(store, material) if options.dry_run else write_import(store, material),
        )


def _agreed(options: Namespace, material: ImportMaterial) -> ImportMaterial:
    """Return the material to write. Ask first if much of a log would be left out."""
    log = material.log
    if (
        log is None
        or options.dry_run
        or material.skip
        or not log.leaves_out_much
        or not at_terminal()
    ):
        return material
    for sentence in log.sentences():
        say_wrapped(sentence)
    question = (
        f"{log.count_left_out:,} of {log.count + log.count_left_out:,} answers would be left "
        "out. Import the others?"
    )
    return replace(material, skip=agreed(f"{question} [y/N] ", default=False))


def request_of(options: Namespace) -> ImportRequest:
    """Return the request of an import. Raises UsageError for an option of another format."""
    from workbench.formats import mapping
    from workbench.formats.personas import given_personas
    from workbench.formats.read import ANSWERS, recognised
    from workbench.pipeline.importing import ImportRequest
    from workbench.pipeline.label_imports import LabelOptions

    how_without = partial(
        mapping.how_of,
        options.map or "",
        options.sheet or "",
        options.encoding or "",
        header=not options.no_header,
        answers=options.answers or "",
        language=options.language or "",
        decimal=options.decimal or "",
        header_row=options.header_row or 0,
    )
    how = how_without()
    has_people_options = any(getattr(options, name) for name in OF_PEOPLE)
    format = options.format or recognised(options.path, how, of_people=has_people_options)  # noqa: A001  the command line's word
    ignored = listed(options.ignore)
    if format != ANSWERS:  # whose reader knows the columns that are no questions
        how, ignored = how_without(ignored), ()
    _check_import(options, format, how)
    if options.keep_map is not None:
        mapping.write(how, options.keep_map)
    from workbench.formats.surveys import TYPED, wanted_of

    column_options = {name: getattr(options, name) or "" for name in TYPED} | {
        "language": how.language
    }
    survey_columns = wanted_of(column_options, drop_unweighted=options.drop_unweighted)
    return ImportRequest(
        options.path,
        format,
        options.name,
        options.instrument,
        survey_columns.missing,
        ignored,
        options.skip,
        options.left_right,
        how,
        survey_columns,
        options.election or "",
        options.audit or "",
        options.family or "",
        options.model or "",
        given_personas(options.personas),
        options.most_count or MOST_COUNT,
        LabelOptions(
            options.codebook or "stance", options.into or "", options.purpose or "training"
        ),
    )


def _check_import(options: Namespace, format: str, how: ReadSettings) -> None:  # noqa: A002  the command line's word
    """Raise UsageError for an option that does not belong to the format that is imported."""
    from workbench.formats.party_files import MANIFESTO
    from workbench.formats.read import ANSWERS

    _check_parties(options, format, how)
    _check_table(options, format, how)
    _check_own_options(options, format)
    if format == ANSWERS:
        _check_answers(options)
    elif format not in (LOG, MANIFESTO, ISSUE_LABELS):
        _check_instrument(options, format)


def _check_parties(options: Namespace, format: str, how: ReadSettings) -> None:  # noqa: A002
    """Raise UsageError for an option on parties' answers, or on a language, that has no effect."""
    from workbench.formats.party_files import MANIFESTO
    from workbench.formats.read import SURVEY, WITH_PARTIES

    if how.answers and format not in WITH_PARTIES:
        raise UsageError(
            f"--answers belongs to formats with parties' answers ({', '.join(WITH_PARTIES)}), "
            f"not to {format}"
        )
    is_csv_folder = format == "csv" and options.path.is_dir()
    has_language = format in (*WITH_PARTIES, SURVEY) and not is_csv_folder
    if how.language and not has_language:
        raise UsageError(
            "--language belongs to a table or list of statements; a folder has it in "
            "instrument.toml"
        )
    if options.election and format != MANIFESTO:
        raise UsageError(f"--election belongs to --format {MANIFESTO}, not to {format}")
    if options.left_right is not None and format != "probvaa":
        raise UsageError(
            "--left-right belongs to --format probvaa; the csv format has parties.csv for positions"
        )


def _check_table(options: Namespace, format: str, how: ReadSettings) -> None:  # noqa: A002
    """Raise UsageError for an option on the columns of a table if the file is none."""
    from workbench.formats.read import MAPPED

    is_mapped = replace(how, answers={}, language="") != AS_IS
    if is_mapped and options.path.is_dir():
        raise UsageError(
            "--map and the options below it belong to a single table; this is a folder"
        )
    if is_mapped and format not in MAPPED:
        raise UsageError(
            f"--map and the options below it belong to tables ({', '.join(MAPPED)}), not to "
            f"{format}"
        )


def _check_own_options(options: Namespace, format: str) -> None:  # noqa: A002
    """Raise UsageError for an option of a log, a survey, its respondents or labels alone."""
    from workbench.formats.read import ANSWERS, SURVEY

    formats_by_names = {
        ("codebook", "into", "purpose"): (LABELS,),
        ("audit", "family", "model", "personas", "most_count"): (LOG,),
        ("questions", "unordered", "respondent"): (SURVEY,),
        ("weight", "drop_unweighted", "groups"): (SURVEY, ANSWERS),
    }
    for names, formats in formats_by_names.items():
        used = [name for name in names if getattr(options, name)]
        if not used or format in formats:
            continue
        message = (
            f"--{used[0].replace('_', '-')} belongs to --format {' and '.join(formats)}; "
            f"this is {format}"
        )
        if format == "csv" and SURVEY in formats and not options.format:
            message += (
                ". If a title stands above the names of its columns, name their row: --header-row N"
            )
        raise UsageError(message)


def _check_answers(options: Namespace) -> None:
    """Raise UsageError if answers are for two instruments."""
    if options.name and options.instrument and options.name != options.instrument:
        raise UsageError(
            "found --name and --instrument, which both name an instrument; give one of them"
        )


def _check_instrument(options: Namespace, format: str) -> None:  # noqa: A002
    """Raise UsageError for an option that a new instrument, or a file of labels, does not take."""
    from workbench.formats.read import SURVEY

    if format == LABELS and options.name is not None:
        raise UsageError(
            "--name names an instrument; labels belong to answers. Name a new queue with --into."
        )
    if options.instrument is not None:
        raise UsageError("--instrument belongs to --format answers; --name names a new instrument")
    if options.missing is not None and format != SURVEY:
        raise UsageError(
            "--missing belongs to --format answers and survey; for a folder, instrument.toml "
            "says which values of answers.csv are not answers, under missing"
        )
    if options.skip and format not in ("biasmonkey", SURVEY, LOG, LABELS):
        raise UsageError(
            "--skip belongs to --format biasmonkey, survey, log and labels; the files of other "
            "formats are one whole"
        )


def _say_import(options: Namespace, outcome: ImportOutcome) -> int:
    """Print the outcome of an import.

    With --dry-run, print what it would write and the first rows that were read.
    """
    from workbench.pipeline.importing import NOTHING, first_rows, import_data, import_sentences

    if options.json:
        print_json(import_data(outcome))
        return 0
    if not options.format:
        say(f"Reading {options.path} as --format {outcome.material.format}.")
    sentences = import_sentences(outcome, options.store)
    if outcome.written:
        for sentence in sentences:
            say_wrapped(sentence)
        if outcome.material.log is not None:
            say(f"Next: {outcome.material.log.next(options.store)}")
        return 0
    say_wrapped(f"Would import {sentences[0]}")
    for sentence in sentences[1:-1] if outcome.imported is not None else sentences[1:]:
        say_wrapped(sentence)
    say()
    table(*first_rows(outcome.material, PREVIEWED), whole=1)
    say(f"\n{NOTHING} Without --dry-run all of this is written.")
    return 0
