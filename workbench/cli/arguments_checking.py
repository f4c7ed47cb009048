"""The arguments of the command by which models check wordings; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands
from workbench.cli.figures import figure_options

THRESHOLDS = {
    "low": "a variant whose cosine with its original is below this may have lost the meaning",
    "low_negation": "the same for negations, which keep the words of their original",
    "high": "a paraphrase from this cosine on hardly varies",
    "twin": "two statements of one country from this cosine on say the same",
}


def add_checking(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command that computes; `lint` shows what it finds."""
    check = commands.add_parser(
        "check", help="similarities and entailments of wordings, in a worker; `lint` shows what they find"
    )
    check.add_argument("store", type=Path)
    check.add_argument("--instrument", help="needed where the store holds several")
    check.add_argument(
        "--encoder", default="minilm", metavar="MODEL", help="minilm, a hub id, a folder, or none (default: minilm)"
    )
    check.add_argument(
        "--nli", default="", metavar="MODEL", help="inference model, a hub id or a folder, for the expected relations"
    )
    check.add_argument("--language", metavar="L,…", help="languages of the wordings (default: the instrument's)")
    for name, what in THRESHOLDS.items():
        check.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="COSINE", help=what)
    check.add_argument("--yes", action="store_true", help="do not ask before starting")
    check.add_argument("--detach", action="store_true", help="start the worker and return")
    check.add_argument("--dry-run", action="store_true", help="say what would be computed, and stop")
    figure_options(check)


GROUPS = (add_checking,)
