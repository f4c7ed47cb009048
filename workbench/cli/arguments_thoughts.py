"""The arguments of the command that shows what models thought; see `main`."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.arguments import Commands, json_option, run_choice


def add_thoughts(commands: Commands) -> None:  # type: ignore[type-arg]  # generic only to type checkers
    """Add `thoughts`."""
    thoughts = commands.add_parser("thoughts", help="what a model thought before its answers; nothing reads it")
    thoughts.add_argument("store", type=Path)
    run_choice(thoughts, ("reliability", "bias_score", "statement_labels", "response_bias"))
    thoughts.add_argument("--statement", metavar="REF", help="of this statement alone (default: all)")
    thoughts.add_argument("--limit", type=int, default=20, metavar="N", help="outputs that are shown (default: 20)")
    json_option(thoughts)


GROUPS = (add_thoughts,)
