"""Which answers the bias score is of, by whose readings, and what is resampled."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.domain.seeds import SEED

INSTRUMENT = "instrument"


@dataclass(frozen=True, slots=True)
class BiasChoice:
    """Which answers are scored, by whose readings."""

    instruments: tuple[str, ...] = ()
    "empty: all that have answers"
    models: tuple[str, ...] = ()
    sampling: str | None = None
    "a part of how a sampling is described"
    dtype: str | None = None
    "that local models were computed in; None: any"
    templates: TemplateChoice = LATEST
    snapshot: str | None = None
    "of a served model; None: any, each a run of its own"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a run for every one; None: all together"
    readings: Readings = USUAL
    labels: str = INSTRUMENT
    "whose sides of the statements count: the instrument's, or the name of a model that labelled them"
    threshold: float = PUBLISHED_THRESHOLD
    correct: bool = False
    judge_void: bool = False
    "whether answers to a wording that reads like its original count like the others, as published"
    unit: str = "statements"
    seed: int = SEED
    draws: int = 10_000
    common: bool = False
    "score each model over the prompts that all of them were asked, and no others"


__all__ = ["INSTRUMENT", "BiasChoice"]
