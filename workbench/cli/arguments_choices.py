"""The arguments of the commands for multiple-choice questions and their forms; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option
from workbench.cli.arguments_seed import seed_option
from workbench.domain.choices import Bias, Perturbation

FORMED = (Bias.RESPONSE_ORDER, Bias.OPINION_FLOAT, Bias.ODD_EVEN)
"biases whose changed form follows from the question"
EPILOG = """`add` writes one question; many come with `workbench import STORE --format choices PATH`.
`forms` and `perturb` show what they made, and write it once somebody at the terminal says so, or with
--yes; `workbench statements STORE --undo` takes it back. The changed forms of acquiescence and allow_forbid are worded,
by people or as drafts: `workbench draft STORE --kind changed`."""


def add_choices(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the group: list, show, add, forms, perturb."""
    group = commands.add_parser(
        "choices",
        help="multiple-choice questions: write them; make changed forms and errors of typing",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = group.add_subparsers(title="acts", dest="act", metavar="ACT", required=True)
    listing = _act(acts, "list", "list questions with their bias, topic, options and forms")
    listing.add_argument("--bias", choices=tuple(map(str, Bias)), help="only those that stand under it")
    show = _act(acts, "show", "one question in all its forms, with what differs")
    show.add_argument("ref", metavar="REF", help="or its key, where it stands under one bias")
    _adding(_act(acts, "add", "write a question, or put a statement that is one under a bias"))
    forms = _act(acts, "forms", "make the changed form of a bias out of questions")
    forms.add_argument(
        "--bias", choices=tuple(map(str, FORMED)), help="a pair of its own where a question stands under another bias "
        "(default: the bias that each stands under)",
    )  # fmt: skip
    forms.add_argument("--middle", metavar="TEXT", help="odd_even: the middle option of scales of four")
    forms.add_argument("--dont-know", metavar="TEXT", help="opinion_float: the option that is added")
    _making(forms)
    perturb = _act(acts, "perturb", "make versions with errors of typing")
    kinds = ",".join(Perturbation)
    perturb.add_argument("--kinds", metavar="KIND,…", default=kinds, help=f"default: {kinds}")
    perturb.add_argument("--draws", type=int, default=1, metavar="N", help="of each kind (default: 1)")
    seed_option(perturb, "the errors: the same questions get the same")
    _making(perturb)


def _act(acts: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str) -> argparse.ArgumentParser:
    act = acts.add_parser(name, help=about, description=about[:1].upper() + about[1:] + ".")
    act.add_argument("store", type=Path)
    act.add_argument("--instrument", metavar="NAME", help="default: the only one with such questions")
    act.add_argument("--language", metavar="L", help="default: the instrument's")
    json_option(act)
    return act


def _adding(act: argparse.ArgumentParser) -> None:
    text = "the question, then an option a line, `A. …`: the text itself, a file, or - for standard input"
    act.add_argument("--bias", required=True, choices=tuple(map(str, Bias)), help="that it stands under")
    act.add_argument("--key", required=True, metavar="K", help="of the question; its ref becomes BIAS.K")
    act.add_argument("--text", metavar="T|FILE|-", help=f"{text} (default: that of the statement BIAS.K)")
    act.add_argument("--changed", metavar="T|FILE|-", help="its changed form, likewise")
    act.add_argument("--topic", metavar="T", help="what it is about")
    act.add_argument("--person", metavar="P", help="who makes the change (default: $USER)")


def _making(act: argparse.ArgumentParser) -> None:
    act.add_argument("--questions", metavar="N|REF,…", help="the first N, or these by ref or key (default: all)")
    act.add_argument("--replace", action="store_true", help="also write what another text would go for")
    act.add_argument("--person", metavar="P", help="who makes the change (default: $USER)")
    act.add_argument("--yes", action="store_true", help="write without asking")


GROUPS = (add_choices,)
