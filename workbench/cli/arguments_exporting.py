"""The arguments of the command that writes an instrument out; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option

FORMATS = ("csv", "probvaa", "jsonl", "choices")


def add_exporting(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add `export`."""
    export = commands.add_parser("export", help="write an instrument as files that can be published and imported")
    export.add_argument("store", type=Path)
    export.add_argument("folder", type=Path, metavar="DIR", help="a folder that is not there yet, or is empty")
    export.add_argument("--instrument", metavar="NAME", help="default: the only one")
    export.add_argument(
        "--format",
        choices=FORMATS,
        help="csv imports back identically (default), choices does so for multiple-choice questions and answers of "
        "models (default where all statements are such); probvaa is the published layout; jsonl holds the statements",
    )
    export.add_argument("--force", action="store_true", help="replace files of the same name; others stay")
    json_option(export)


GROUPS = (add_exporting,)
