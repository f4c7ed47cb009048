"""What headings say of the templates and languages that figures are about, and which others there are to choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.domain.prompts import NONE, TemplateChoice
from workbench.formats.personas import EVERY
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
    personas: tuple[str, ...] = ()
    "that stood before prompts, after `none`; empty: none did"

    def __bool__(self) -> bool:
        return len(self.families) > 1 or bool(self.versions) or len(self.languages) > 1 or bool(self.personas)


def offered(runs: Iterable[Run]) -> Offer:
    """Return what there is to choose from."""
    families: dict[str, None] = {}
    languages: dict[str, None] = {}
    personas: dict[str, None] = {}
    versions: dict[str, set[int]] = {}
    for run in runs:
        languages |= dict.fromkeys((*run.languages, run.language))
        families |= dict.fromkeys(run.families)
        personas |= dict.fromkeys(run.personas)
        for one in run.versions:
            versions.setdefault(one.name, set()).update({one.version, *one.others} - {0})
    several = {name: tuple(sorted(numbers)) for name, numbers in sorted(versions.items()) if len(numbers) > 1}
    return Offer(tuple(families), several, tuple(languages), (NONE, *personas) if personas else ())


def heading(runs: Iterable[Run], families: str = "T") -> list[str]:
    """Return which languages, families and versions figures are about, where there are others, as a part of a heading.

    `families`: the key that chooses a language or a family.
    """
    every = tuple(runs)
    before = [f"persona {run.persona_name or NONE}" for run in every if run.personas]
    parts = list(dict.fromkeys([*before, *(part for run in every for part in run.asked_with)]))
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    offer = offered(every)
    several = len(offer.families) > 1 or len(offer.languages) > 1 or bool(offer.personas)
    keys = [families] * several + ["T"] * bool(offer.versions)
    others = f" ({' and '.join(dict.fromkeys(keys))}: others)" if keys else ""
    return [visible(", ".join(parts[:SHOWN])) + more + others] if parts else []


def templates_for(run: Run, chosen: TemplateChoice) -> TemplateChoice:
    """Return a choice of templates that shows a run: the one that is chosen, changed only where that leaves it out.

    `chosen` without families means those that were asked last.
    """
    families = chosen.families if run.family in (chosen.families or run.families[-1:]) else (run.family,)
    spoken = not chosen.languages or run.language in chosen.languages
    persona = run.persona_name or NONE
    before = chosen.personas if {persona, EVERY} & set(chosen.personas or (NONE,)) else (persona,)
    return TemplateChoice(families, chosen.versions, chosen.languages if spoken else (run.language,), before)
