"""`--seed`, the same option for every command that draws or resamples."""

from __future__ import annotations

import argparse

from workbench.domain.seeds import SEED


def seed_option(command: argparse.ArgumentParser, of: str = "", *, default: int | None = SEED) -> None:
    """Add `--seed`. `of`: what is drawn with it; `default`: None where something else than a constant stands in."""
    about = f"of {of} (default: {SEED})" if default is not None else of
    command.add_argument("--seed", type=int, metavar="S", default=default, help=about)
