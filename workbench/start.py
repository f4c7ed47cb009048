"""The program's start, installed as the module `llm_audit_workbench`.

No other package has that name. Other packages on PyPI are imported as `workbench` or `stores` too,
and one of them may stand in the place of ours.
"""

from __future__ import annotations

import sys
from importlib import import_module, metadata

DISTRIBUTION = "llm-audit-workbench"
OURS = ("workbench", "stores")


def main() -> int:
    """Run the command line, or print which package stands in its way."""
    for name in OURS:
        if foreign_package := _foreign(name):
            print(
                f"{DISTRIBUTION}: the import name {name!r} belongs to another package here: "
                f"{foreign_package}. Uninstall that package, or give this program an environment "
                "of its own: uv tool install, or pipx install, with the copy or the wheel that it "
                "was installed from",
                file=sys.stderr,
            )
            return 1
    from workbench.cli import main as command_line

    return command_line()


def _foreign(name: str) -> str:
    """Return the package that is imported under a name of ours, or "" if it is ours."""
    try:
        package = import_module(name)
    except ImportError as error:
        return f"{_owners(name)} ({error})"
    if getattr(package, "DISTRIBUTION", None) == DISTRIBUTION:
        return ""
    return f"{_owners(name)} ({getattr(package, '__file__', None) or 'a folder'})"


def _owners(name: str) -> str:
    owners = dict.fromkeys(metadata.packages_distributions().get(name, ()))
    return (
        ", ".join(f"{owner} {metadata.version(owner)}" for owner in owners if owner != DISTRIBUTION)
        or "of unknown origin"
    )


if __name__ == "__main__":
    sys.exit(main())
