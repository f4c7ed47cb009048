"""Carrying out a command that starts a job: preview, question, worker, progress, end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.output import check_agreed, print_json, say_wrapped
from workbench.cli.verbs import Namespace
from workbench.cli.watching import EXIT_CODES, started, watch

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.commands.command import JobCommand

PrintEnd = Callable[["Store", Namespace, "JobCommand", Mapping[str, Any], str], int]
"prints the end of a command, its data and a sentence, and returns the exit code"


def run_command(
    kind: type[JobCommand], options: Namespace, print_end: PrintEnd | None = None
) -> int:
    """Carry out a command that starts a job, and return the exit code.

    The options may lack `dry_run` and `yes`; the command then starts without asking.
    """
    from stores.core.store import Store

    print_end = print_end or print_next
    with Store.open(options.store) as store:
        command = kind.from_arguments(options)
        preview = command.preview(store)
        unstarted = {**preview.data, "job": None}
        is_dry_run = getattr(options, "dry_run", False)
        if preview.immediate is not None and not is_dry_run:
            outcome = preview.immediate(store)
            return print_end(
                store, options, command, {**unstarted, **outcome.data}, outcome.sentence
            )
        if not options.json:
            say_wrapped(preview.text)
        if is_dry_run:
            if options.json:
                print_json(unstarted)
            return 0
        if not preview.n_units:
            return print_end(store, options, command, unstarted, "")
        if hasattr(options, "yes"):
            check_agreed(options)
        number = command.start(store, preview)
        if options.detach:
            return started(options, number, preview.data)
        job = watch(store, number, quiet=options.json)
        data = {**preview.data, "job": asdict(job)}
        if job.state == "done":
            return print_end(store, options, command, data, "")
        if options.json:
            print_json(data)
        return EXIT_CODES.get(job.state, 1)


def print_next(
    store: Store,  # noqa: ARG001  of the interface
    options: Namespace,
    command: JobCommand,
    data: Mapping[str, Any],
    sentence: str,
) -> int:
    """Print a sentence and what to do next, or data for a program."""
    if options.json:
        print_json(data)
        return 0
    for line in filter(None, (sentence, command.NEXT)):
        say_wrapped(line)
    return 0
