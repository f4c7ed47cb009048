"""What a verb prints of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.audits.comparison.book import book, tables
from workbench.audits.comparison.values import Compared
from workbench.audits.printed import Medium, Printed
from workbench.figures.table import AnyTable


def printed(
    of: Compared, medium: Medium, about: Mapping[str, Any] | None = None, beside: Sequence[AnyTable] = ()
) -> Printed:
    """Return a comparison. `about`: what its figures rest on, beside what is compared; `beside`: the audit's own tables
    that somebody asked for by name, which come first.
    """
    made = book(of)
    return Printed(
        (*beside, *tables(of, data=medium.data)),
        {**(about or {}), **made.about, "methods": made.methods},
        made.title,
        (),  # the first table says it
        made.notes,
        made.header,
    )
