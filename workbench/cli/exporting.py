"""Commands that export: rows and instruments for other programs, and a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbench.cli.output import print_outcome
from workbench.cli.verbs import Namespace, verb
from workbench.commands.export import OF_INSTRUMENT, OF_ROWS, ExportCommand
from workbench.commands.report import ReportCommand
from workbench.options.option import Option, Section, flag
from workbench.options.shared import JSON, STORE
from workbench.report.options import silent

PROGRESS_OF_ROWS = flag("progress", "print how many rows are written, a line for each 10,000")
_OPTIONS = ExportCommand.options()


def _named(names: Sequence[str]) -> list[Option]:
    return [_OPTIONS[name] for name in names]


@verb(
    STORE,
    *(option for name, option in _OPTIONS.items() if name not in (*OF_INSTRUMENT, *OF_ROWS)),
    JSON,
    Section(
        "An instrument",
        _named(OF_INSTRUMENT),
        "csv imports back identically, as does choices for multiple-choice questions and models' "
        "answers; probvaa is the published layout; jsonl has the statements.",
    ),
    Section(
        "Rows",
        [*_named(OF_ROWS), PROGRESS_OF_ROWS],
        "The folder also has a dictionary of the columns, a README and a Croissant record. Cells "
        "that a spreadsheet would run as formulas are neutralised in csv.",
    ),
)
def export(options: Namespace) -> int:
    """Write an instrument or rows: all files, or none.

    What the format cannot hold is printed.
    """
    from stores.core.store import Store

    command = ExportCommand.from_arguments(options)
    command.check(row_flags=[PROGRESS_OF_ROWS.flag] if options.progress else [])
    tell_rows = _show_rows if sys.stderr.isatty() else None
    if options.progress:
        tell_rows = _print_rows
    with Store.open(options.store) as store:
        outcome = command.run(store, tell_rows)
    if tell_rows is _show_rows and not command.is_instrument:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return print_outcome(options, outcome)


def _print_rows(kind: str, count: int) -> None:
    print(f"{kind} {count}", file=sys.stderr, flush=True)


def _show_rows(kind: str, count: int) -> None:
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
    return print_outcome(options, outcome)


def _print_step(share: float, step: str) -> None:
    print(f"{share:.2f} {step}", file=sys.stderr, flush=True)
