"""Commands that make, fill and check a store, and the one that opens it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from workbench import registry
from workbench.cli.output import agreed, at_terminal, print_json, say, say_wrapped, table
from workbench.cli.verbs import Namespace, verb
from workbench.commands.import_file import ImportCommand
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.formats.native import statement_columns
from workbench.formats.packed import reading
from workbench.options.option import Option, flag
from workbench.options.shared import ANNOTATOR, DRY_RUN, JSON, QUEUE, STORE

if TYPE_CHECKING:
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.importing import ImportMaterial, ImportOutcome

SHIPPED = "veldania"
TOLD_S = 0.2
"between two messages on the share of a file that was read"
PREVIEWED = 8
"rows of a file that --dry-run prints"


def welcome() -> int:
    """Open the terminal on the choice of a store."""
    from workbench.tui.home.welcome import run_welcome

    return run_welcome(Path.cwd())


SCREENS = ("home", "statements", "jobs", "annotate", *(screen.mode for screen in registry.places()))


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
    *ImportCommand.options().values(),
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

    command = ImportCommand.from_arguments(options)
    request = command.request()
    command.save_mapping()
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
