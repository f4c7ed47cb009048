"""Arguments in, exit code out.

Exit codes: 0 done; 1 failed, or `lint` and `doctor` found an error; 2 the request cannot be carried out as asked;
3 stopped on request, what was stored stays; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from workbench import __version__
from workbench.errors import WorkbenchError

EPILOG = """exit codes: 0 done; 1 failed, or lint / doctor found an error; 2 cannot be carried out as asked;
3 stopped on request (what was stored stays); 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. A person's mistake gives a message and an exit code, never a traceback."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
        arguments.insert(0, "open")
    options = parser.parse_args(arguments)
    if not hasattr(options, "command"):
        parser.print_help()
        return 0
    module, function = COMMANDS[options.command]
    command: Callable[[argparse.Namespace], int] = getattr(import_module(f"workbench.cli.{module}"), function)
    try:
        return command(options)
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("workbench: interrupted; what was stored stays", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


COMMANDS = {
    "open": ("acts", "open_store"),
    "init": ("acts", "init"),
    "import": ("acts", "import_instrument"),
    "lint": ("acts", "lint"),
    "run": ("running", "run"),
    "demo": ("running", "demo"),
    "jobs": ("running", "jobs"),
    "verdicts": ("results", "verdicts"),
    "agreement": ("results", "agreement"),
    "doctor": ("doctor", "doctor"),
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="workbench",
        description="Annotate and audit the political and survey-response biases of language models.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    _add_open(commands)
    _add_instruments(commands)
    _add_run(commands)
    _add_jobs(commands)
    _add_results(commands)
    doctor = commands.add_parser("doctor", help="say what works on this machine, and what to do about the rest")
    doctor.add_argument("store", nargs="?", type=Path, help="look at this store too")
    _json(doctor)
    return parser


_Commands = argparse._SubParsersAction  # the type has no public name


def _add_open(commands: _Commands[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("open", help="open the terminal workbench; `workbench STORE` is short for it")
    command.add_argument("store", type=Path, help="the project's file; made after asking where there is none")
    command.add_argument("--screen", choices=("home", "statements", "jobs", "audit"), default="home")


def _add_instruments(commands: _Commands[argparse.ArgumentParser]) -> None:
    init = commands.add_parser("init", help="make a store")
    init.add_argument("store", type=Path)
    init.add_argument("--demo", action="store_true", help="with the instrument that ships with workbench")

    importer = commands.add_parser("import", help="import an instrument: statements, templates, labels, answers")
    importer.add_argument("store", type=Path)
    importer.add_argument("path", type=Path, metavar="PATH")
    importer.add_argument("--format", required=True, choices=("csv", "jsonl", "probvaa"), help="see data/README.md")
    importer.add_argument("--name", help="name of the instrument in the store (default: the file's own)")
    importer.add_argument("--left-right", type=Path, metavar="CSV", help="probvaa: parties' left-right positions")
    _json(importer)

    lint = commands.add_parser("lint", help="check instruments before any GPU time is spent")
    lint.add_argument("store", type=Path)
    lint.add_argument("--instrument", help="only this one (default: all)")
    lint.add_argument("--language", help="only wordings in this language (default: all)")
    _json(lint)


def _add_run(commands: _Commands[argparse.ArgumentParser]) -> None:
    run = commands.add_parser("run", help="ask a model, in a worker process that outlives this terminal")
    run.add_argument("store", type=Path)
    run.add_argument("--audit", default="reliability", choices=("reliability",))
    run.add_argument("--model", required=True, help="smollm2, a hub id, a folder, a .gguf file, or scripted")
    run.add_argument("--instrument", help="needed where the store holds several")
    run.add_argument("--statements", metavar="N|REF,…", help="the first N, or these (default: all)")
    run.add_argument("--variants", metavar="V,…", help="original, paraphrase-1, …, negation, opposite (default: all)")
    run.add_argument("--templates", metavar="N|NAME,…", help="the first N, or these (default: all of the family)")
    run.add_argument("--family", default="chat", help="family of templates (default: chat)")
    run.add_argument("--language", help="language of the wordings (default: the instrument's)")
    run.add_argument("--samples", type=int, default=30, metavar="N", help="answers to each prompt (default: 30)")
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--temperature", type=float, default=1.0)
    run.add_argument("--top-p", type=float, default=0.85)
    run.add_argument("--top-k", type=int, help="default: the whole vocabulary")
    run.add_argument("--max-new-tokens", type=int, default=20)
    run.add_argument("--yes", action="store_true", help="do not ask before starting")
    run.add_argument("--detach", action="store_true", help="start the worker and return")
    run.add_argument("--dry-run", action="store_true", help="say what would be asked, and stop")
    _json(run)

    demo = commands.add_parser("demo", help="audit the embedded model on the shipped instrument and open the workbench")
    demo.add_argument("store", type=Path, nargs="?", default=Path("veldania.db"))
    demo.add_argument("--model", default="smollm2")
    demo.add_argument("--no-screen", action="store_true", help="wait here and print the verdicts")


def _add_jobs(commands: _Commands[argparse.ArgumentParser]) -> None:
    jobs = commands.add_parser("jobs", help="list jobs; cancel, resume or watch one")
    jobs.add_argument("store", type=Path)
    act = jobs.add_mutually_exclusive_group()
    act.add_argument("--cancel", type=int, metavar="JOB")
    act.add_argument("--resume", type=int, metavar="JOB")
    act.add_argument("--watch", type=int, metavar="JOB")
    act.add_argument("--log", type=int, metavar="JOB")
    _json(jobs)


def _add_results(commands: _Commands[argparse.ArgumentParser]) -> None:
    verdicts = commands.add_parser("verdicts", help="test every statement: pass, fail or insufficient")
    verdicts.add_argument("store", type=Path)
    _run_choice(verdicts)
    _options(verdicts)
    verdicts.add_argument("--template", help="only this template (default: over all)")
    verdicts.add_argument("--failed", metavar="TEST", help="only statements that do not pass this test (or `all`)")
    verdicts.add_argument("--baseline", action="store_true", help="coin flips through the same tests, beside the model")
    _json(verdicts)

    agreement = commands.add_parser("agreement", help="kappas, alpha and agreement per statement; or of people")
    agreement.add_argument("store", type=Path)
    _run_choice(agreement)
    _options(agreement)
    agreement.add_argument("--survey", action="store_true", help="of the people who answered the same wordings")
    agreement.add_argument("--items", action="store_true", help="per statement")
    _json(agreement)


def _run_choice(command: argparse.ArgumentParser) -> None:
    command.add_argument("--audit", default="reliability", choices=("reliability",))
    command.add_argument("--model")
    command.add_argument("--instrument")
    command.add_argument("--sampling", metavar="TEXT", help="where a model has several: a part of its description")


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rule", choices=("printed", "coded"), default="printed", help="when a leaning is reliable (default: printed)"
    )
    command.add_argument("--reader", choices=("label-words", "label-words-coded"), default="label-words")
    command.add_argument("--low", type=float, default=0.45)
    command.add_argument("--high", type=float, default=0.55)
    command.add_argument("--minimum", type=int, help="readable answers needed (default: two thirds of the samples)")
    command.add_argument("--tests", metavar="TEST,…", help="which count for ALL (default: the five within a template)")
    command.add_argument("--seed", type=int, default=1, help="of the bootstrap intervals and the baseline")


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print data instead of text")
