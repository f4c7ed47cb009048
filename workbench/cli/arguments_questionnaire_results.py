"""The arguments of `verdicts --audit questionnaire`."""

from __future__ import annotations

import argparse

SECTIONS = ("targets", "conditions", "wordings", "tokens", "respondents", "correlation", "axis")
"parts of the output, in their order"


def questionnaire_options(command: argparse.ArgumentParser) -> None:
    """Add what questionnaires have and reliability has not."""
    group = command.add_argument_group(
        "questionnaire", "accuracy and bias of predicted answers; --model takes several, with commas between"
    )
    group.add_argument(
        "--masses",
        choices=("top10", "vocabulary"),
        help="where the probabilities of yes and no are summed: the ten likeliest tokens (default), or all",
    )
    group.add_argument(
        "--variability", choices=("sd", "rms"), help="over wordings: standard deviation (default), or as printed"
    )
    group.add_argument(
        "--error",
        choices=("paired", "printed"),
        help="of the bias: of differences to each person's answer (default), or as in the published tables",
    )
    group.add_argument(
        "--show",
        metavar="SECTION,…",
        help=f"{', '.join(SECTIONS)}, or all (default: targets; with --json, --csv or --parquet all; files hold "
        "respondents, single people's answers, where asked for)",
    )
    group.add_argument("--against", metavar="MODEL,…", help="differences of the other models to these, paired")
    group.add_argument("--target", metavar="REF", help="only this target question")
