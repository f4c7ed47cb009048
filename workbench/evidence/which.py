"""Which answers figures are about: one value, the same for every audit and every front end."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Self

from workbench.domain.names import listed
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.evidence.run_choice import readings_of, templates_of


@dataclass(frozen=True, slots=True)
class Which:
    """The answers that are meant. A field that is None or empty leaves its question open."""

    instrument: str | None = None
    "its name; several, separated by commas, of an audit whose result is about all instruments"
    models: tuple[str, ...] = ()
    "names of models, or of runs as figures name them"
    templates: TemplateChoice = LATEST
    sampling: str | None = None
    "the description of a sampling, or a part of it"
    dtype: str | None = None
    snapshot: str | None = None
    "of a served model"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a result for every one"
    readings: Readings = USUAL

    @property
    def instruments(self) -> tuple[str, ...]:
        """Return the names of the instruments that are meant; none: all."""
        return listed(self.instrument)

    def given(self) -> dict[str, str]:
        """Return what a command line gives for the model, the instrument and the templates; nothing for open ones."""
        said = {
            "instrument": self.instrument,
            "model": ",".join(self.models),
            "language": ",".join(self.templates.languages),
            "family": ",".join(self.templates.families),
        }
        return {name: value for name, value in said.items() if value}

    @classmethod
    def of(cls, given: SimpleNamespace) -> Self:
        """Return the answers that a command line or a program names. Raises UsageError."""
        return cls(
            given.instrument,
            listed(given.model),
            templates_of(given),
            getattr(given, "sampling", None),
            getattr(given, "dtype", None),
            given.snapshot,
            given.fingerprint,
            readings_of(given),
        )


__all__ = ["Which"]
