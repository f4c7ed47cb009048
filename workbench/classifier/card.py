"""The card of a trained classifier, stored beside its weights, and the check of both.

The check tells whether both belong together. Only safetensors are ever read: a pickled checkpoint
can run code when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workbench.classifier.config import LABELS, TrainConfig
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.errors import CheckpointError, UsageError

CARD, README, WEIGHTS = "card.json", "README.md", "model.safetensors"
FORMAT = 1
PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
HUB_NAMES = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}
LICENCES = {
    "minilm": "Apache-2.0",
    "sentence-transformers/all-MiniLM-L6-v2": "Apache-2.0",
    "facebook/bart-large-mnli": "MIT",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A trained classifier: its base, settings, data and quality."""

    name: str
    base_revision: str
    "hash of the base's weights, or the hub's commit"
    config: TrainConfig
    data_hash: str
    dev_hash: str
    train_labels: Mapping[str, int]
    dev_labels: Mapping[str, int]
    metrics: Mapping[str, float]
    """metrics of the training (`loss`, `dev_macro_f1`), and those of a test set

    `add_metrics` adds the latter.
    """
    steps: int
    "number of steps taken, which are fewer than requested if training ended early"
    best_step: int
    "the step whose weights were kept"
    seconds: float
    "duration of the final call in seconds, while a resumed training had earlier calls"
    device: str
    versions: Mapping[str, str]
    date: str
    weights: str
    "hash of the weights file"

    @property
    def reader(self) -> ReaderCard:
        """The reader's card. The version changes whenever a reading could change."""
        return ReaderCard(
            ReaderKind.CLASSIFIER, self.name, reader_version(self.weights, self.config)
        )


def reader_version(weights: str, config: TrainConfig) -> str:
    """Return a hash (32 hexadecimal digits) of everything that affects a label or a confidence."""
    value = {
        "weights": weights,
        "hypothesis": config.hypothesis,
        "labels": list(LABELS),
        "premise": config.premise.value,
        "confidence": config.confidence.value,
        "max_length": config.max_length,
    }
    return content_key(value).hex()


def licence_note(base: str) -> str:
    """Return the licence of the base, if known."""
    return LICENCES.get(
        base, f"not recorded here: read the licence of {base} before you share this model"
    )


def file_hash(path: Path) -> str:
    """Return the blake2b-16 of a file, in hexadecimal."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_card(folder: Path, card: Card) -> None:
    """Write card.json and the model card for people. Each file is replaced in one step."""
    values = asdict(card) | {"format": FORMAT, "config": card.config.as_json()}
    _replace(folder / CARD, json.dumps(values, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    _replace(folder / README, readme(card))


def _replace(path: Path, text: str) -> None:
    partial_file = path.with_name(path.name + ".part")
    partial_file.write_text(text, encoding="utf-8")
    partial_file.replace(path)


def read_card(folder: Path) -> Card:
    """Return the card of a folder. Raises CheckpointError if there is no readable one."""
    path = folder / CARD
    if not path.is_file():
        raise CheckpointError(
            f"{folder}: there is no {CARD}, so this is no stance classifier that was trained here"
        )
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        format_ = values.pop("format")
        if format_ != FORMAT:
            raise CheckpointError(
                f"{path}: written in format {format_}; this version reads format {FORMAT}"
            )
        return Card(**values | {"config": TrainConfig.from_json(values["config"])})
    except (ValueError, TypeError, KeyError, AttributeError, UsageError) as error:
        raise CheckpointError(
            f"{path}: the card cannot be read ({error}). Train the classifier again."
        ) from error


def verify(folder: Path) -> Card:
    """Return the card of a folder whose weights are the ones it was written for.

    Raises CheckpointError otherwise.
    """
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: there is no such folder")
    require_safetensors(folder)
    card = read_card(folder)
    if not (folder / WEIGHTS).is_file():
        raise CheckpointError(f"{folder}: {WEIGHTS} is missing. Train the classifier again.")
    hash_ = file_hash(folder / WEIGHTS)
    if hash_ != card.weights:
        raise CheckpointError(
            f"{folder}: the weights are not those that the card describes ({hash_[:8]}… instead of "
            f"{card.weights[:8]}…). Restore the folder, or train the classifier again."
        )
    return card


def require_safetensors(folder: Path) -> None:
    """Raise CheckpointError for a folder without safetensors.

    The message mentions pickled weights.
    """
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(path.name for pattern in PICKLED for path in folder.glob(pattern))
    if pickled:
        raise CheckpointError(
            f"{folder}: only {', '.join(pickled[:3])} and no *.safetensors. Only safetensors are "
            "loaded, because pickled weights can run code; convert them with save_pretrained"
        )
    raise CheckpointError(f"{folder}: there are no *.safetensors, so there are no weights to load")


def add_metrics(folder: Path, metrics: Mapping[str, float]) -> Card:
    """Add figures of a test set to the card. The reader's version stays. Raises CheckpointError."""
    card = read_card(folder)
    card = replace(card, metrics=dict(card.metrics) | dict(metrics))
    write_card(folder, card)
    return card


def _about_the_test(metrics: Mapping[str, float]) -> list[str]:
    """Return the paragraph on the population that the test figures describe."""
    if "test_macro_f1" not in metrics:
        return []
    if "test_effective_n" not in metrics:
        return [
            "Inclusion unknown: the figures of the test describe the test set, not the answers.",
            "",
        ]
    return [
        f"The figures of the test stand for {metrics['test_answers']:,.0f} answers: each test "
        "text counts for the answers that it represents. The effective n is "
        f"{metrics['test_effective_n']:,.0f}, and {metrics['test_certainty_share']:.0%} of the "
        "answers have a text that was labelled with certainty.",
        "",
    ]


def readme(card: Card) -> str:
    """Return the model card for people, in Markdown."""
    config = card.config
    base = HUB_NAMES.get(config.base, config.base)
    counts = [
        f"| {label} | {card.train_labels.get(label, 0)} | {card.dev_labels.get(label, 0)} |"
        for label in LABELS
    ]
    figures = [f"| {name} | {value:.4g} |" for name, value in sorted(card.metrics.items())]
    settings = [f"| {name} | {value} |" for name, value in config.as_json().items()]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(card.versions.items()))
    return "\n".join(
        [
            f"# {card.name}",
            "",
            f"A stance classifier: {', '.join(LABELS)}. It was made from `{base}` (revision "
            f"{card.base_revision}) on "
            f"{card.date} by the method of Faulborn et al. 2025, section 3.4: entailment of "
            f'"{config.hypothesis}".',
            "",
            f"Licence of the base: {licence_note(config.base)}.",
            "",
            "## Data",
            "",
            f"Training data {card.data_hash}, {sum(card.train_labels.values())} responses; held "
            f"out to choose the step {card.dev_hash}, {sum(card.dev_labels.values())} responses.",
            "",
            "| label | training | held out |",
            "| --- | --- | --- |",
            *counts,
            "",
            "## Figures",
            "",
            f"{card.steps:,} steps in {card.seconds:,.0f} s on {card.device}; "
            f"kept: the weights of step {card.best_step:,}.",
            "",
            "| figure | value |",
            "| --- | --- |",
            *figures,
            "",
            *_about_the_test(card.metrics),
            "## Settings",
            "",
            "| setting | value |",
            "| --- | --- |",
            *settings,
            "",
            f"Weights {card.weights}. {versions}.",
            "",
        ]
    )
