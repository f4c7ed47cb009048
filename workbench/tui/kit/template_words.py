"""What headings say of the templates that figures are about, and which others there are to choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.tui.format import visible

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

SHOWN = 3
"families and versions that a heading names"
Offer = tuple[tuple[str, ...], Mapping[str, tuple[int, ...]]]
"families that were asked, and the versions of each template that was asked in several"


def offered(runs: Iterable[Run]) -> Offer:
    """Return what there is to choose from."""
    families: dict[str, None] = {}
    versions: dict[str, set[int]] = {}
    for run in runs:
        families |= dict.fromkeys(run.families)
        for one in run.versions:
            versions.setdefault(one.name, set()).update({one.version, *one.others} - {0})
    several = {name: tuple(sorted(numbers)) for name, numbers in sorted(versions.items()) if len(numbers) > 1}
    return tuple(families), several


def has_choice(offer: Offer) -> bool:
    """Return whether there is more than one family, or more than one version of a template."""
    families, versions = offer
    return len(families) > 1 or bool(versions)


def heading(runs: Iterable[Run], families: str = "T") -> list[str]:
    """Return which families and versions figures are about, where there are others, as one part of a heading.

    `families`: the key that chooses a family.
    """
    every = tuple(runs)
    parts = list(dict.fromkeys(part for run in every for part in run.asked_with))
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    asked, versions = offered(every)
    keys = [families] * (len(asked) > 1) + ["T"] * bool(versions)
    others = f" ({' and '.join(dict.fromkeys(keys))}: others)" if keys else ""
    return [visible(", ".join(parts[:SHOWN])) + more + others] if parts else []
