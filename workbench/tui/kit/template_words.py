"""What headings say of the templates and languages that figures are about, and which others there are to choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.domain.prompts import TemplateChoice
from workbench.tui.format import visible

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

SHOWN = 3
"families and versions that a heading names"


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from."""

    families: tuple[str, ...] = ()
    "that were asked"
    versions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    "of each template that was asked in several"
    languages: tuple[str, ...] = ()
    "that were asked"

    def __bool__(self) -> bool:
        return len(self.families) > 1 or bool(self.versions) or len(self.languages) > 1


def offered(runs: Iterable[Run]) -> Offer:
    """Return what there is to choose from."""
    families: dict[str, None] = {}
    languages: dict[str, None] = {}
    versions: dict[str, set[int]] = {}
    for run in runs:
        languages |= dict.fromkeys((*run.languages, run.language))
        families |= dict.fromkeys(run.families)
        for one in run.versions:
            versions.setdefault(one.name, set()).update({one.version, *one.others} - {0})
    several = {name: tuple(sorted(numbers)) for name, numbers in sorted(versions.items()) if len(numbers) > 1}
    return Offer(tuple(families), several, tuple(languages))


def heading(runs: Iterable[Run], families: str = "T") -> list[str]:
    """Return which languages, families and versions figures are about, where there are others, as a part of a heading.

    `families`: the key that chooses a language or a family.
    """
    every = tuple(runs)
    parts = list(dict.fromkeys(part for run in every for part in run.asked_with))
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    offer = offered(every)
    keys = [families] * (len(offer.families) > 1 or len(offer.languages) > 1) + ["T"] * bool(offer.versions)
    others = f" ({' and '.join(dict.fromkeys(keys))}: others)" if keys else ""
    return [visible(", ".join(parts[:SHOWN])) + more + others] if parts else []


def templates_for(run: Run, chosen: TemplateChoice) -> TemplateChoice:
    """Return a choice of templates that shows a run: the one that is chosen, changed only where that leaves it out.

    `chosen` without families means those that were asked last.
    """
    families = chosen.families if run.family in (chosen.families or run.families[-1:]) else (run.family,)
    spoken = not chosen.languages or run.language in chosen.languages
    return TemplateChoice(families, chosen.versions, chosen.languages if spoken else (run.language,))
