"""The arguments of the command that shows and adjusts a questionnaire; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands
from workbench.cli.figures import figure_options
from workbench.domain.questionnaires import Form, Pole, Role

NONE = "none"
"what stands for nothing, where an option takes something away"
EPILOG = """Answers come in with: workbench import STORE answers.csv --format answers. They are kept as they were given;
what they mean is said by the scale of their question:

  workbench questionnaire STORE --scale four_point --map "rather yes=neutral" --person ana
  workbench questionnaire STORE --question t-3 --yes liberal --person ana"""


def add_questionnaire(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the command: without an act it says what there is."""
    command = commands.add_parser(
        "questionnaire",
        help="questions with their roles, scales and answers; adjust what answers mean",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("store", type=Path)
    command.add_argument("--instrument", metavar="NAME", help="default: the only one there is")
    command.add_argument("--person", metavar="P", help="who makes the change (default: $USER)")
    acts = command.add_argument_group("acts, one at a time").add_mutually_exclusive_group()
    acts.add_argument("--scale", metavar="NAME", help="say what its answers mean, with --map")
    acts.add_argument("--question", metavar="REF", help="change a question, or make a statement one")
    acts.add_argument("--history", action="store_true", help="what people changed of questions and scales, and who")
    command.add_argument("--all", action="store_true", help="with --history: what imports said, too (--json has both)")
    values = command.add_argument_group("what an answer or a question is")
    values.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ANSWER=MEANING",
        help="of --scale, may be given again: yes, no, neutral or missing",
    )
    values.add_argument("--role", choices=(*Role, NONE), help="of --question; none takes it out, its answers stay")
    values.add_argument("--form", choices=tuple(Form), help="of --question: asked as it stands, or whether one agrees")
    values.add_argument("--scale-of", metavar="NAME", help="of --question: the scale of its answers")
    values.add_argument("--yes", choices=(*Pole, NONE), help="of --question: what a yes leans to")
    figure_options(command)


GROUPS = (add_questionnaire,)
