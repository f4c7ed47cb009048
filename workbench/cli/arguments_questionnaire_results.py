"""The arguments of `verdicts --audit questionnaire`, and which arguments of `verdicts` belong to which audit."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.errors import UsageError

QUESTIONNAIRE = "questionnaire"
SECTIONS = ("targets", "conditions", "wordings", "tokens", "respondents", "correlation", "axis")
"parts of the output, in their order"

OF_QUESTIONNAIRE = ("masses", "variability", "error", "draws", "condition", "show", "against", "target", "csv", "force")
"verdicts' options that only this audit has"
OF_RELIABILITY = (
    *("sampling", "rule", "reader", "low", "high", "minimum", "tests", "named", "beside", "with_unreadable"),
    *("template", "failed", "baseline"),
)
"those that it has no use for"
DEFAULTS: Mapping[str, object] = {"rule": "printed", "low": 0.45, "high": 0.55}
"of options that are None where they were not given, so that one given for nothing is noticed"


def questionnaire_options(command: argparse.ArgumentParser) -> None:
    """Add what only questionnaires have. Call after the options of reliability."""
    command.set_defaults(**dict.fromkeys(DEFAULTS))
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
    group.add_argument("--draws", type=int, metavar="N", help="of the bootstrap, 100 to 100000 (default: 10000)")
    group.add_argument(
        "--condition",
        metavar="NAME,…",
        help="qm (default), zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several",
    )
    group.add_argument(
        "--show",
        metavar="SECTION,…",
        help=f"{', '.join(SECTIONS)}, or all (default: targets; with --json or --csv all)",
    )
    group.add_argument("--against", metavar="MODEL,…", help="differences of the other models to these, paired")
    group.add_argument("--target", metavar="REF", help="only this target question")
    group.add_argument(
        "--csv", type=Path, metavar="FOLDER", help="write the figures there, a file a section, a row a figure"
    )
    group.add_argument("--force", action="store_true", help="with --csv: replace files of the same name")


def check_options(options: argparse.Namespace) -> None:
    """Raise UsageError for an option of another audit; then give those that were left out their defaults."""
    if options.audit == QUESTIONNAIRE:
        _refuse(options, OF_RELIABILITY, "reliability")
    else:
        _refuse(options, OF_QUESTIONNAIRE, QUESTIONNAIRE)
        for name, value in DEFAULTS.items():
            if getattr(options, name) is None:
                setattr(options, name, value)


def _refuse(options: argparse.Namespace, names: Sequence[str], audit: str) -> None:
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False)]
    if given:
        raise UsageError(
            f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} for verdicts of the audit {audit}; leave "
            f"{'it' if len(given) == 1 else 'them'} out, or choose --audit {audit}"
        )
