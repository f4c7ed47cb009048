"""The command line: the same acts as on the screens, without a screen.

Each command imports what it runs, so that `workbench --help` and the terminal start at once.
"""

from workbench.cli.main import main

__all__ = ["main"]
