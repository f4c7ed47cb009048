"""Everything that can be chosen by name.

It is loaded on use, so that a name costs nothing.

Other packages bring more by entry points (`importlib.metadata`) of these groups:

- `workbench.audits`: an `Audit`
- `workbench.readers`: a function of (positive label, negative label, language) that returns a
  `Reader`
- `workbench.formats`: a function of (path, name or None) that returns an `Instrument`
- `workbench.lexicons`: the path of a TOML file like those in `data/lexicons`, under the name of
  its language
- `workbench.templates`: the path of a folder with a TOML file of templates for each audit, like
  those in `data/prompts/de`, under the name of its language
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from workbench.errors import MissingPackage, UnknownName

AUDITS, READERS, FORMATS, LEXICONS = (
    "workbench.audits",
    "workbench.readers",
    "workbench.formats",
    "workbench.lexicons",
)
TEMPLATES = "workbench.templates"
"groups of entry points"
SHIPPED = {
    "reliability": "workbench.audits.reliability:AUDIT",
    "consistency": "workbench.audits.consistency:AUDIT",
    "bias_score": "workbench.audits.bias_score:AUDIT",
    "statement_labels": "workbench.audits.bias_score:LABELS",
    "questionnaire": "workbench.audits.questionnaire:AUDIT",
    "response_bias": "workbench.audits.response_bias:AUDIT",
    "contamination": "workbench.audits.contamination:AUDIT",
    "representation": "workbench.audits.representation:AUDIT",
}
"audits of this package, in the order in which people meet them"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)
"a name that is shown, typed and written to files"
SKIPPED: dict[str, str] = {}
"entry point of another package -> why it is not used"
DEFAULT_AUDIT = next(iter(SHIPPED))
"the audit that is meant if none is named"


def audits() -> tuple[str, ...]:
    """Return the names of all audits: those that ship, then those of other packages."""
    return tuple(_audits())


def audit_modules() -> dict[str, str]:
    """Return the modules that bring audits, each with the name of its first one."""
    return {point.module: name for name, point in reversed(_audits().items())}


@cache
def load_audit(name: str) -> Any:
    """Return an audit.

    Raises UnknownName with the names that exist, and MissingPackage if its package is broken.
    """
    point_by_name = _audits()
    if name not in point_by_name:
        raise UnknownName(f"no audit is named {name!r}. Available: {', '.join(point_by_name)}")
    return point_by_name[name].load() if name in SHIPPED else _loaded(point_by_name[name])


@cache
def _audits() -> dict[str, EntryPoint]:
    shipped = {name: EntryPoint(name, value, AUDITS) for name, value in SHIPPED.items()}
    return shipped | {name: point for name, point in added(AUDITS).items() if name not in shipped}


@cache
def added(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of other packages in a group, by name.

    One whose name cannot be typed is skipped.
    """
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if NAME.fullmatch(point.name):
            points[point.name] = point
        else:
            SKIPPED[f"{group} {point.name!r}"] = "its name is not of letters, digits, -, _ and ."
    return points


def load_added(group: str, name: str) -> Any:
    """Return the object that another package brings under a name, or None if none brings it."""
    point = added(group).get(name)
    return None if point is None else _loaded(point)


def _loaded(point: EntryPoint) -> Any:
    """Return the object that an entry point of another package names.

    Raises MissingPackage if that fails, whatever it does.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        SKIPPED[f"{point.group} {point.name}"] = reason
        package = point.dist.name if point.dist is not None else point.module
        raise MissingPackage(
            f"{point.name} ({point.group}) of the package {package} cannot be loaded: {reason}. "
            "Uninstall the package, or install a version that fits this workbench."
        ) from error


def names(group: str, shipped: Sequence[str]) -> tuple[str, ...]:
    """Return the names of what ships and of what other packages bring to a group."""
    return tuple(dict.fromkeys((*shipped, *added(group))))
