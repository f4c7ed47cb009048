"""What a person chose on a results screen: which answers, and the audit's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.options.schema import Options

if TYPE_CHECKING:
    from stores.runs.run_rows import Run


@dataclass(frozen=True, slots=True)
class Settings:
    """Which answers are judged, and how."""

    options: Options
    instrument: str = ""
    "empty: the first one with answers, else the first one that could be asked about; or all of them together"
    models: tuple[str, ...] = ()
    "empty: all"
    templates: TemplateChoice = LATEST
    run: Run | None = None
    "of an audit with a result for each run: whose answers; None: those of the run that is shown, else of the newest"
    readings: Readings = USUAL
    fingerprint: str | None = None
    "`each`: the answers of a served model are told apart by their `system_fingerprint`"
