"""The arguments of the command that lists and edits statements; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option

EPILOG = """Without an act, statements are listed. Variants are named as in lists: original, negation, paraphrase-2.
Every act says what it did; --undo takes back the newest act of --person that stands."""


def add_statements(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command that lists and edits statements."""
    command = commands.add_parser(
        "statements",
        help="list, write, vary, tag, archive statements; their versions",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("store", type=Path)
    command.add_argument("--instrument", metavar="NAME", help="default: the only one there is")
    command.add_argument("--person", metavar="P", help="who makes the change (default: $USER)")
    command.add_argument("--refs", metavar="A,B", help="of --tag, --untag, --set, --replace, --strip")
    command.add_argument("--dry-run", action="store_true", help="show what these would change, and stop")
    _listing(command.add_argument_group("listing"))
    _acts(command.add_argument_group("acts, one at a time").add_mutually_exclusive_group())
    _values(command.add_argument_group("what a statement, a wording or an instrument is"))
    json_option(command)


def _listing(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--search", default="", metavar="TEXT", help="in refs, topics, tags and every wording")
    group.add_argument("--issue", default="", metavar="NAME", help="that have to do with this policy issue")
    group.add_argument("--tagged", default="", metavar="TAG", help="that carry this tag")
    group.add_argument("--archived", action="store_true", help="those that were archived, instead of the others")


def _acts(acts: argparse._MutuallyExclusiveGroup) -> None:
    acts.add_argument(
        "--add", metavar="REF", help="a statement; with --text, or --question alone for a rule's proposal"
    )
    acts.add_argument("--edit", metavar="REF", help="change a wording's text; with --text, --variant, --language")
    acts.add_argument("--add-variant", nargs=2, metavar=("REF", "KIND"), help="with --text; or a translation: "
                      "--language, and the variant as KIND")  # fmt: skip
    acts.add_argument("--delete-variant", nargs=2, metavar=("REF", "VARIANT"))
    acts.add_argument("--relation", nargs=3, metavar=("REF", "VARIANT", "WHAT"), help="expect same, flipped or free")
    acts.add_argument("--rename", nargs=2, metavar=("REF", "NEW"))
    acts.add_argument("--derive", nargs=2, metavar=("REF", "FROM"), help="say what a statement was made from")
    acts.add_argument("--tag", metavar="TAG", help="tag the statements --refs")
    acts.add_argument("--untag", metavar="TAG")
    acts.add_argument("--set", metavar="FIELD=VALUE", help="topic, country, source, dimension, leaning of --refs")
    acts.add_argument("--replace", nargs=2, metavar=("OLD", "NEW"), help="in all wordings of --refs; capitals count")
    acts.add_argument("--strip", action="store_true", help="strip stray blanks from the wordings of --refs")
    acts.add_argument("--archive", metavar="A,B")
    acts.add_argument("--restore", metavar="A,B")
    acts.add_argument("--history", metavar="REF", help="versions, what points at each, and who changed what")
    acts.add_argument("--undo", action="store_true")
    acts.add_argument("--new-instrument", metavar="NAME", help="with --title, --language, --scheme")


def _values(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--text", metavar="T", help="- reads it from standard input")
    group.add_argument("--question", metavar="Q", help="that the statement answers")
    group.add_argument("--variant", default="original", metavar="V", help="default: original")
    group.add_argument("--language", metavar="L", help="default: the instrument's")
    group.add_argument("--country", default="")
    group.add_argument("--topic", default="")
    group.add_argument("--source", default="", help="survey or test that it was taken from")
    group.add_argument("--tags", default="", metavar="A,B")
    group.add_argument("--title", default="", help="of a new instrument")
    group.add_argument("--scheme", default="", metavar="NAME", help="policy issues of a new instrument: smartvote")


GROUPS = (add_statements,)
