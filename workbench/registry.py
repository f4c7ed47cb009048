"""The audits that there are, by name. What stands below them asks `workbench.domain.readings`."""

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
        Place,
    )

FORMER = {
    "verdicts": DEFAULT_AUDIT,
    "consistency": "consistency",
    "bias": "bias_score",
    "sides": "statement_labels",
    "scores": f"{DEFAULT_AUDIT} --table prompts",
}
"""verbs of the command line before `show` -> whose figures they printed; `verdicts` could name
another audit"""


def audit(name: str) -> Audit:
    """Return an audit. Raises UnknownName, listing those there are."""
    return cast("Audit", load_audit(name))


def audit_title(name: str) -> str:
    """Return the name of an audit in sentences and titles; of one whose package is not here, the
    name with blanks.
    """
    title = audit(name).title if name in audits() else ""
    return title or in_words(name)


def every_audit() -> tuple[Audit, ...]:
    """Return all audits. One of another package that cannot be loaded is left out, and `doctor`
    names it.
    """
    loaded = []
    for name in audits():
        with suppress(MissingPackage):
            loaded.append(audit(name))
    return tuple(loaded)


def asking() -> tuple[Audit, ...]:
    """Return the audits that put questions to models; the others judge answers to these."""
    return tuple(one for one in every_audit() if one.asks)


def places() -> tuple[Place, ...]:
    """Return where the results of audits are in the terminal; one that names no digit gets the
    first free one.
    """
    known = [one.place for one in every_audit() if one.place is not None]
    free = iter(digit for digit in "4567890" if digit not in {"5", *(place.key for place in known)})
    return tuple(place if place.key else replace(place, key=next(free, "")) for place in known)


def of_design(spec: Mapping[str, object]) -> Audit | None:
    """Return the audit that a stored design is for; None where its package is not here."""
    name = str(spec.get("audit", DEFAULT_AUDIT))
    return audit(name) if name in audits() else None
