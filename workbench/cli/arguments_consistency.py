"""The arguments of the commands about political consistency and template selection; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, reliability_options, run_choice, snapshot_option
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options
from workbench.inference.dtypes import DTYPES


def add_consistency(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the analysis of reliable stances."""
    command = commands.add_parser(
        "consistency",
        help="political leaning by party family, and stance on policy issues",
        description="Political leaning by party family, and stance on policy issues, of the models that answered "
        "(--model takes several, with commas between), of baselines, parties and people.",
    )
    command.add_argument("store", type=Path)
    run_choice(command)
    reliability_options(command)
    command.add_argument(
        "--formula", choices=("signed", "tacl", "v1", "all"), default="signed", help="of the stance on policy issues"
    )
    command.add_argument("--view", choices=("all", "agree", "disagree"), default="all", help="which matches count")
    command.add_argument(
        "--labels", choices=("gold", "people"), default="gold", help="policy-issue labels: the source's, or people's"
    )
    command.add_argument("--resamples", type=int, default=1000, help="for each interval; 0: none (default: 1000)")
    command.add_argument("--baselines", action="store_true", help="always agree and always disagree, beside the models")
    command.add_argument(
        "--parties", action="store_true", help="each party: its own stances, how often models match it"
    )
    command.add_argument("--people", action="store_true", help="stances of the people who answered the survey")
    command.add_argument("--issue", metavar="ISSUE", help="the statements behind the stance on this policy issue")
    command.add_argument("--party", metavar="COUNTRY/NAME", help="the statements behind the share with this party")
    command.add_argument("--compare", nargs=2, metavar="MODEL", help="differences of two models, with intervals")
    command.add_argument("--methods", action="store_true", help="how the figures came about, in a paragraph")
    figure_options(command)


def add_pilot(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add template selection on a small sample."""
    command = commands.add_parser("pilot", help="ask a few statements with every template, and rank the templates")
    command.add_argument("store", type=Path)
    command.add_argument("--model", help="as for run; with --rank only where several answered")
    command.add_argument("--instrument", help="needed where the store holds several")
    command.add_argument(
        "--statements", type=int, metavar="N", help="how many, drawn evenly over countries (default: 10 a country)"
    )
    seed_option(command, "the draw of statements, the answers and the intervals")
    command.add_argument(
        "--family", help="family of templates (default: the published one; --rank: the one asked last)"
    )
    command.add_argument(
        "--template-version",
        metavar="NAME=N,…",
        help="--rank: of templates that were edited (default: the present one)",
    )
    command.add_argument("--templates", metavar="N|NAME,…", help="the first N, or these (default: all of the family)")
    command.add_argument("--variants", metavar="V,…", help="original, paraphrase-1, … (default: as the audit compares)")
    command.add_argument("--language", help="language of the wordings (default: the instrument's)")
    command.add_argument("--samples", type=int, metavar="N", help="answers to each prompt (default: 30)")
    command.add_argument("--temperature", type=float)
    command.add_argument("--top-p", type=float)
    command.add_argument("--top-k", type=int)
    command.add_argument("--max-new-tokens", type=int)
    command.add_argument("--rank", action="store_true", help="ask nothing; rank by the answers that are stored")
    command.add_argument("--sampling", metavar="TEXT", help="--rank: a sampling's description, or a part of it")
    command.add_argument("--dtype", choices=DTYPES, help="as for run; with --rank only where a model has several")
    snapshot_option(command)
    command.add_argument("--reader", choices=("label-words", "label-words-coded"), default="label-words")
    command.add_argument("--formula", choices=("signed", "tacl", "v1"), default="signed", help="under weaker tests")
    command.add_argument("--yes", action="store_true", help="do not ask before starting")
    command.add_argument("--detach", action="store_true", help="start the worker and return")
    command.add_argument("--dry-run", action="store_true", help="say what would be asked, and stop")
    figure_options(command)


GROUPS = (add_consistency, add_pilot)
