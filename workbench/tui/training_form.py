"""What the form of a new training says, as a specification; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.classifier import options as of
from workbench.classifier.config import EMBEDDED_BASE, PUBLISHED_BASE, Confidence, Premise, TrainConfig
from workbench.errors import UsageError
from workbench.options.shared import SEED

if TYPE_CHECKING:
    from workbench.pipeline.training import TrainSpec

SETTINGS = (
    "steps",
    "batch",
    "learning_rate",
    "weight_decay",
    "warmup",
    "seed",
    "dev_share",
    "patience",
    "premise",
    "confidence",
    "hypothesis",
)
"fields that each base has defaults for"


@dataclass(frozen=True, slots=True)
class TrainValues:
    """The form as typed."""

    name: str
    base: str
    steps: str
    batch: str
    learning_rate: str
    weight_decay: str
    warmup: str
    seed: str
    dev_share: str
    patience: str
    "empty: all steps are taken"
    premise: str
    confidence: str
    hypothesis: str
    by_statement: bool = False


def usual_training(name: str, base: str) -> TrainValues:
    """Return the form with the settings to begin with for a base; the published ones while none is named."""
    config = TrainConfig.for_base(base.strip() or PUBLISHED_BASE)
    return TrainValues(
        name=name,
        base=base,
        steps=str(config.steps),
        batch=str(config.batch),
        learning_rate=f"{config.learning_rate:g}",
        weight_decay=f"{config.weight_decay:g}",
        warmup=str(config.warmup),
        seed=str(config.seed),
        dev_share=f"{config.dev_share:g}",
        patience="" if config.patience is None else str(config.patience),
        premise=config.premise.value,
        confidence=config.confidence.value,
        hypothesis=config.hypothesis,
    )


def rebased(values: TrainValues, before: str) -> TrainValues:
    """Return the form under its base: what was typed stays, what stood at the default of `before` becomes its own."""
    old, new = usual_training("", before), usual_training("", values.base)
    moved = {name: getattr(new, name) for name in SETTINGS if getattr(values, name) == getattr(old, name)}
    return replace(values, **moved)


def free_name(taken: frozenset[str]) -> str:
    """Return the first of stance-1, stance-2, … that is not taken."""
    number_ = 1
    while f"stance-{number_}" in taken:
        number_ += 1
    return f"stance-{number_}"


def as_config(values: TrainValues) -> TrainConfig:
    """Return the settings. Raises UsageError, naming the field."""
    if not values.base.strip():
        raise UsageError(f"base: give a hub id or a folder, or choose {EMBEDDED_BASE}, which ships")
    return replace(
        TrainConfig.for_base(values.base.strip()),
        steps=of.STEPS.needed(values.steps),
        batch=of.BATCH.needed(values.batch),
        learning_rate=of.LEARNING_RATE.needed(values.learning_rate),
        weight_decay=of.WEIGHT_DECAY.needed(values.weight_decay),
        warmup=of.WARMUP.needed(values.warmup),
        seed=SEED.needed(values.seed),
        dev_share=of.DEV_SHARE.needed(values.dev_share),
        patience=of.PATIENCE.read(values.patience),
        premise=Premise(values.premise),
        confidence=Confidence(values.confidence),
        hypothesis=values.hypothesis.strip(),
    )


def as_training(values: TrainValues) -> TrainSpec:
    """Return what a training job is to do. Raises UsageError, naming the field."""
    from workbench.pipeline.training import TrainSpec

    return TrainSpec(name=values.name.strip(), config=as_config(values), by_statement=values.by_statement)
