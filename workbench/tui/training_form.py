"""What the form of a new training says, as a specification; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.classifier import options as of
from workbench.classifier.config import EMBEDDED_BASE, PUBLISHED_BASE, Confidence, Premise, TrainConfig
from workbench.domain.names import listed
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


def refilled(told: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands in the fields of the settings for the options of a job, by the names of `values_of`."""
    return {name: "" if told[name] is None else option.text(told[name]) for name, option in _OPTIONS.items()}


def as_training(values: TrainValues, kept: Mapping[str, Any] = {}) -> TrainSpec:
    """Return what a training job is to do. `kept`: the options of a job that it is like, for what no field says.

    Raises UsageError, naming the field.
    """
    from workbench.pipeline.training import TrainSpec

    config = as_config(values)
    if kept:
        config = replace(config, eval_every=kept["eval_every"], max_length=kept["max_length"])
    return TrainSpec(
        name=values.name.strip(),
        config=config,
        codebook=kept.get("codebook", "stance"),
        training=listed(kept.get("training")),
        test=listed(kept.get("test")),
        by_statement=values.by_statement,
    )


_OPTIONS = {one.name: one for one in (*of.SETTINGS, SEED) if one.name in SETTINGS}
