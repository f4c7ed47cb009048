"""The arguments of the survey that people answer; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options


def add_surveys(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command with which people answer the instrument's wordings."""
    survey = commands.add_parser("survey", help="answer statements and their variants yourself: the human upper bound")
    survey.add_argument("store", type=Path)
    survey.add_argument("--instrument", metavar="NAME", help="default: the only one")
    survey.add_argument("--respondent", metavar="P", help="name or pseudonym of who answers (default: asked for)")
    survey.add_argument("--language", metavar="L", help="default: the instrument's")
    survey.add_argument(
        "--statements", type=int, default=50, metavar="N", help="how many are drawn (default: 50, as published)"
    )
    survey.add_argument(
        "--variants",
        metavar="V,…",
        help="kinds, one wording of each; paraphrase-2; or all (default: original,paraphrase,negation,opposite)",
    )
    seed_option(survey, "the choice of wordings: people with one seed answer the same")
    act = survey.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", dest="list_", help="who answered how many, and stop")
    act.add_argument("--import", type=Path, metavar="FILE", dest="import_", help="add the answers of a survey.csv")
    act.add_argument("--export", type=Path, metavar="FILE", help="write the answers as a survey.csv")
    figure_options(survey)


GROUPS = (add_surveys,)
