"""The arguments of the command for policy-issue labels; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options


def add_issues(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command: without an act it says what there is."""
    issues = commands.add_parser(
        "issues", help="policy issues: scheme, labels by annotators, agreement, gold, ties", allow_abbrev=False
    )
    issues.add_argument("store", type=Path)
    issues.add_argument("--instrument", help="needed where the store holds several")
    act = issues.add_mutually_exclusive_group()
    act.add_argument(
        "--scheme", metavar="FILE|NAME", help="set the issues: smartvote, or a file; no label is ever lost by it"
    )
    act.add_argument(
        "--label",
        nargs=3,
        metavar=("REF", "ISSUE", "LABEL"),
        help="label as --annotator: 1 agreeing supports the issue, -1 disagreeing does, 0 not related, none withdraws",
    )
    act.add_argument(
        "--adjudicate",
        nargs=3,
        metavar=("REF", "ISSUE", "LABEL"),
        help="decide where annotators differ, as --annotator; none withdraws the decision",
    )
    act.add_argument("--ties", action="store_true", help="list what somebody has to decide; nobody is named")
    act.add_argument(
        "--import", type=Path, metavar="CSV", dest="import_", help="add labels: ref, issue, annotator, label"
    )
    issues.add_argument("--gold", action="store_true", help="print the labels that count")
    issues.add_argument("--export", type=Path, metavar="CSV", help="write all labels; with --gold those that count")
    issues.add_argument("--annotator", metavar="NAME", help="who labels or decides")
    issues.add_argument(
        "--whose", choices=("gold", "people"), default="gold", help="gold: a source's own labels first (default: gold)"
    )
    issues.add_argument("--fewest", type=int, default=2, metavar="N", help="people that a majority needs (default: 2)")
    seed_option(issues, "the bootstrap intervals")
    figure_options(issues)


GROUPS = (add_issues,)
