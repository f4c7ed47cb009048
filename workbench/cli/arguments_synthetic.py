"""The arguments of `synthesize`; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option
from workbench.cli.arguments_seed import seed_option


def add_synthesize(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command that draws respondents of whom everything is known."""
    synthesize = commands.add_parser(
        "synthesize", help="draw synthetic respondents, and say what an ideal predictor reaches on them"
    )
    synthesize.add_argument(
        "--spec", type=Path, metavar="FILE", help="the population (default: that of the shipped veldania_panel)"
    )
    synthesize.add_argument("--respondents", type=int, metavar="N", help="default: as the population says")
    seed_option(synthesize, "default: as the population says", default=None)
    synthesize.add_argument(
        "--out", type=Path, metavar="FILE", help="write their answers, as the answers.csv of an instrument"
    )
    json_option(synthesize)


GROUPS = (add_synthesize,)
