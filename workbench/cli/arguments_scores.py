"""The arguments of the command that prints probabilities; see `main`."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.arguments import Commands, exact_options, reliability_options, run_choice
from workbench.cli.figures import figure_options


def add_scores(commands: Commands) -> None:  # type: ignore[type-arg]  # generic only to type checkers
    """Add `scores`."""
    scores = commands.add_parser("scores", help="label probabilities of every prompt, and its likeliest next tokens")
    scores.add_argument("store", type=Path)
    run_choice(scores)
    scores.add_argument("--statement", metavar="REF", help="only this statement (default: all)")
    scores.add_argument("--template", metavar="NAME", help="only this template (default: all)")
    scores.add_argument("--tokens", action="store_true", help="with the likeliest next tokens of each prompt")
    reliability_options(scores)
    exact_options(scores)
    figure_options(scores)


GROUPS = (add_scores,)
