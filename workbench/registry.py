"""The audits that exist, by name. The layers below them ask `workbench.domain.readings`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from workbench.domain.names import in_words
from workbench.domain.readings import free_text as free_text
from workbench.entry_points import DEFAULT_AUDIT as DEFAULT_AUDIT
from workbench.entry_points import SHIPPED as SHIPPED
from workbench.entry_points import audits as audits
from workbench.entry_points import load_audit
from workbench.errors import MissingPackage

if TYPE_CHECKING:
    # The layers leave this type out: nothing is imported.
    from workbench.audits.audit import (
        Audit,
        AuditPlace,
    )

FORMER = {
    "verdicts": DEFAULT_AUDIT,
    "consistency": "consistency",
    "bias": "bias_score",
    "sides": "statement_labels",
    "scores": f"{DEFAULT_AUDIT} --table prompts",
}
"""former verb of the command line -> the audit whose figures it printed; `verdicts` could name
another"""


def audit(name: str) -> Audit:
    """Return an audit. Raises UnknownName with the names that exist."""
    return cast("Audit", load_audit(name))


def audit_title(name: str) -> str:
    """Return the name of an audit in sentences and titles.

    An audit whose package is missing has its name with blanks.
    """
    title = audit(name).title if name in audits() else ""
    return title or in_words(name)


def every_audit() -> tuple[Audit, ...]:
    """Return all audits, except those of other packages that cannot be loaded.

    `doctor` names these.
    """
    loaded = []
    for name in audits():
        with suppress(MissingPackage):
            loaded.append(audit(name))
    return tuple(loaded)


def asking() -> tuple[Audit, ...]:
    """Return the audits that ask models questions. The others judge answers to these."""
    return tuple(listed_audit for listed_audit in every_audit() if listed_audit.asks)


def places() -> tuple[AuditPlace, ...]:
    """Return the places of audits' results in the terminal.

    A place that names no digit gets the first free one.
    """
    declared_places = [
        listed_audit.place for listed_audit in every_audit() if listed_audit.place is not None
    ]
    free_digits = iter(
        digit
        for digit in "4567890"
        if digit not in {"5", *(place.key for place in declared_places)}
    )
    return tuple(
        place if place.key else replace(place, key=next(free_digits, ""))
        for place in declared_places
    )


def of_design(spec: Mapping[str, object]) -> Audit | None:
    """Return the audit of a stored design, or None if its package is missing."""
    name = str(spec.get("audit", DEFAULT_AUDIT))
    return audit(name) if name in audits() else None
