"""Arguments in, exit code out.

Exit codes: 0 done; 1 failed, or `lint` and `doctor` found an error; 2 the request cannot be carried out as asked;
3 stopped or paused on request, what was stored stays; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from workbench import __version__
from workbench.cli import arguments
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible

EPILOG = """exit codes: 0 done; 1 failed, or lint / doctor found an error; 2 cannot be carried out as asked;
3 stopped or paused on request (what was stored stays); 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. A person's mistake gives a message and an exit code, never a traceback."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
        if told := meant(arguments[0]):
            parser.error(told)
        arguments.insert(0, "open")
    options = parsed(parser, arguments)
    if options.command is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.print_help()
        return 0
    module, function = COMMANDS[options.command] if options.command is not None else ("acts", "welcome")
    command: Callable[[argparse.Namespace], int] = getattr(import_module(f"workbench.cli.{module}"), function)
    try:
        return command(options)
    except WorkbenchError as error:
        print(f"workbench: {visible(str(error), lines=True)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("workbench: interrupted; what was stored stays", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def meant(word: str) -> str:
    """Say which command a word is like; "" where it is like none, or names a file."""
    near = get_close_matches(word, COMMANDS, n=1)
    if not near or Path(word).exists() or Path(word).name != word or Path(word).suffix:
        return ""
    return f"found the command {word!r}; did you mean {near[0]!r}? A store of that name: workbench ./{word}"


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command. What it does not know ends in its own usage, with the nearest of its options."""
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        at_hand = parsers(parser).get(options.command, parser)
        options_among = [word for word in unknown if word.startswith("-")]  # what follows one may be its value
        at_hand.error("; ".join(_unknown(word, _flags(at_hand)) for word in options_among or unknown))
    return options


def parsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


def _flags(parser: argparse.ArgumentParser) -> Sequence[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _unknown(word: str, flags: Sequence[str]) -> str:
    if not word.startswith("-"):
        return f"found {visible(word)!r}, which belongs to no option"
    name = word.partition("=")[0]
    near = get_close_matches(name, flags, n=1)
    return f"found the option {visible(name)}" + (f"; did you mean {near[0]}?" if near else "; there is none like it")


COMMANDS = {
    "open": ("acts", "open_store"),
    "init": ("acts", "init"),
    "import": ("acts", "import_instrument"),
    "lint": ("acts", "lint"),
    "run": ("running", "run"),
    "demo": ("demonstrating", "demo"),
    "jobs": ("jobs", "jobs"),
    "verdicts": ("results", "verdicts"),
    "agreement": ("results", "agreement"),
    "scores": ("scores", "scores"),
    "thoughts": ("thoughts", "thoughts"),
    "snapshots": ("snapshots", "snapshots"),
    "sample": ("annotating", "sample"),
    "annotate": ("annotating", "annotate"),
    "adjudicate": ("annotating", "adjudicate"),
    "labels": ("annotating", "labels"),
    "train": ("classifying", "train"),
    "classify": ("classifying", "classify"),
    "classifiers": ("classifying", "classifiers"),
    "bias": ("bias", "bias"),
    "sides": ("bias", "sides"),
    "consistency": ("consistency", "consistency"),
    "pilot": ("consistency", "pilot"),
    "statements": ("statements", "statements"),
    "draft": ("drafting", "draft"),
    "check": ("checking", "check"),
    "export": ("exporting", "export"),
    "issues": ("issues", "issues"),
    "survey": ("surveys", "survey"),
    "choices": ("choices", "choices"),
    "synthesize": ("synthetic", "synthesize"),
    "questionnaire": ("questionnaires", "questionnaire"),
    "doctor": ("doctor", "doctor"),
}
GROUPS = (
    "", "_scores", "_thoughts", "_snapshots", "_bias", "_consistency", "_statements", "_drafting",
    "_checking", "_exporting",
    "_issues", "_surveys", "_questionnaire", "_choices", "_synthetic",
)  # fmt: skip
"modules of arguments, in the order in which `--help` lists them"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="workbench",
        description="Annotate and audit the political and survey-response biases of language models.\n"
        "Without a command the terminal opens, with the stores that there are; with STORE alone, it opens that one.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for group in GROUPS:
        if find_spec(f"workbench.cli.arguments{group}"):
            for add in import_module(f"workbench.cli.arguments{group}").GROUPS:
                add(commands)
    doctor = commands.add_parser("doctor", help="say what works on this machine, and what to do about the rest")
    doctor.add_argument("store", nargs="?", type=Path, help="look at this store too")
    arguments.json_option(doctor)
    return parser
