"""The arguments of the command for drafts; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option
from workbench.cli.arguments_seed import seed_option

STATES = ("pending", "accepted", "edited", "rejected", "unusable")


def add_drafting(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command by which a model or a rule drafts wordings, and a person decides on them."""
    draft = commands.add_parser("draft", help="let a model or a rule draft wordings; list and decide on drafts")
    draft.add_argument("store", type=Path)
    draft.add_argument("--instrument", help="needed where the store holds several")
    draft.add_argument("--language", help="of the wordings (default: the instrument's)")
    draft.add_argument("--statements", metavar="N|REF,…", help="the first N, or these, or `targets` (default: all)")
    draft.add_argument(
        "--kind",
        metavar="KIND,…",
        help="paraphrase, negation, opposite, reformulation, political_opposite, original (out of a question), changed "
        "(of multiple-choice questions about acquiescence or allow_forbid)",
    )
    _asking(draft)
    act = draft.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", help="list drafts; with --state, --kind and --statements")
    act.add_argument("--accept", type=int, metavar="ID", help="let a draft enter the instrument; with --person")
    act.add_argument(
        "--accept-all",
        action="store_true",
        help="let all that wait enter, but those with a hint; with --person, --kind, --statements, --job",
    )
    act.add_argument("--edit", nargs=2, metavar=("ID", "TEXT"), help="the same, in these words")
    act.add_argument("--reject", type=int, metavar="ID", help="keep a draft out; with --person")
    act.add_argument("--undo", action="store_true", help="take the newest decision of --person back")
    draft.add_argument("--state", choices=STATES, help="list: only these (default: all but unusable ones)")
    draft.add_argument("--job", type=int, metavar="N", help="list, accept-all: only what this job drafted")
    draft.add_argument("--with-hints", action="store_true", help="accept-all: those with a hint, too")
    draft.add_argument("--person", metavar="NAME", help="who decides")
    draft.add_argument("--note", default="", help="kept with a decision")
    json_option(draft)


def _asking(draft: argparse.ArgumentParser) -> None:
    draft.add_argument("--model", help="smollm2, a hub id, a folder, … as for `run`; or `rule`: English, at once")
    draft.add_argument(
        "--prompt",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a prompt of your own, in place of the published one of its kind; see data/README.md",
    )
    draft.add_argument("--calls", type=int, metavar="N", help="to each statement (default: as published, 5 or 1)")
    draft.add_argument("--per-call", type=int, metavar="N", help="wordings a call is asked for (default: 20)")
    draft.add_argument("--keep", type=int, metavar="N", help="sample of a statement's drafts (default: 50; 0: all)")
    seed_option(draft, "the drafts")
    draft.add_argument("--temperature", type=float, help="default: the prompt's, as for the next three")
    draft.add_argument("--top-p", type=float)
    draft.add_argument("--top-k", type=int, help="0: the whole vocabulary")
    draft.add_argument("--max-new-tokens", type=int)
    draft.add_argument("--yes", action="store_true", help="do not ask before starting")
    draft.add_argument("--detach", action="store_true", help="start the worker and return")
    draft.add_argument("--dry-run", action="store_true", help="say what would be asked, and stop")


GROUPS = (add_drafting,)
