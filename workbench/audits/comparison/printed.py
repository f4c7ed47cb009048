"""What a verb prints of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.audits.audit import Medium, Printed
from workbench.audits.comparison.book import book, tables
from workbench.audits.comparison.values import Compared


def printed(of: Compared, medium: Medium, about: Mapping[str, Any] | None = None) -> Printed:
    """Return a comparison alone. `about`: what its figures rest on, beside what is compared."""
    made = book(of)
    return Printed(
        tuple(tables(of, data=medium.data)),
        {**(about or {}), **made.about, "methods": made.methods},
        made.title,
        (),  # the first table says it
        made.notes,
        made.header,
    )
