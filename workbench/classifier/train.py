"""Fine-tune a stance classifier: from labelled responses to a folder with weights and a card.

A training may be stopped and resumed at any step with the same result, bit for bit on a CPU. A finished classifier gets
its name in one step; until then all files are in a temporary folder beside it.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.classifier.card import WEIGHTS, Card, file_hash, verify, write_card
from workbench.classifier.config import TrainConfig, TrainProgress
from workbench.classifier.dataset import (
    Example,
    check_labels,
    check_leak,
    check_training,
    data_hash,
    label_counts,
    ordered,
    split,
)
from workbench.classifier.model import EntailmentModel, load
from workbench.domain.keys import content_key
from workbench.errors import CheckpointError, ModelError, UsageError
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.classifier.trainer import SafeTrainer

PLAN = "plan.json"
STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training."""

    folder: Path
    card: Card | None
    "None: it was stopped and can be resumed by the same call"
    step: int


def train(
    config: TrainConfig,
    examples: Sequence[Example],
    dev: Sequence[Example] | None,
    folder: Path,
    *,
    date: str,
    on_progress: Callable[[TrainProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    device: str | None = None,
) -> Trained:
    """Train on examples and leave the classifier in `folder`, whose name becomes the classifier's.

    `dev` chooses the best step; None holds `config.dev_share` of the examples out. Called again with the same settings
    and data, it resumes from the last checkpoint, or returns the finished classifier. Raises UsageError for
    insufficient data, LeakError if `dev` shares texts with the examples, ModelError for an unusable base,
    CheckpointError if the folder has other contents.
    """
    train_on, held_out = _divide(config, examples, dev)
    plan = {
        "config": config.as_json(),
        "data": data_hash(train_on),
        "dev": data_hash(held_out),
        "workbench": __version__,
    }
    if folder.exists():
        return _finished(folder, plan)
    started, work = monotonic(), folder.with_name(folder.name + ".training")
    last = _last_checkpoint(work, plan)
    model = load(config.base, config.seed, device)
    trainer, stopped = _run(model, config, (train_on, held_out), work, last, on_progress, should_stop)
    step = int(trainer.state.global_step)
    if stopped:
        return Trained(folder, None, step)
    card = _card(folder.name, config, (train_on, held_out), trainer, model, date, monotonic() - started)
    card = _publish(folder, model, card)
    shutil.rmtree(work, ignore_errors=True)
    return Trained(folder, card, step)


def _divide(
    config: TrainConfig, examples: Sequence[Example], dev: Sequence[Example] | None
) -> tuple[list[Example], list[Example]]:
    """Return checked training and held-out examples in a canonical order."""
    check_training(examples)
    rows = ordered(examples)
    if dev is None:
        train_on, held_out = split(rows, config.dev_share, np.random.default_rng(config.seed))
        check_training(train_on)
    else:
        train_on, held_out = rows, ordered(dev)
    check_labels(held_out, "held-out")
    check_leak(train_on, held_out)
    if config.patience is not None and not held_out:
        raise UsageError(
            "patience needs held-out responses to tell whether training still helps: set dev_share above 0, or "
            "patience to none"
        )
    return train_on, held_out


def _finished(folder: Path, plan: dict[str, Any]) -> Trained:
    """Return the classifier in a folder if it is the requested one."""
    card = verify(folder)
    made = {"config": card.config.as_json(), "data": card.data_hash, "dev": card.dev_hash}
    if made != {name: plan[name] for name in made}:
        raise CheckpointError(
            f"{folder}: another classifier is here already, trained on {card.date} with other settings or data. Choose "
            "another name, or delete that folder"
        )
    return Trained(folder, card, card.steps)


def _last_checkpoint(work: Path, plan: dict[str, Any]) -> Path | None:
    """Return the newest complete checkpoint of this training and remove broken ones. Raises CheckpointError."""
    digest = content_key(plan).hex()
    if not (work / PLAN).is_file():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        part = work / (PLAN + ".part")
        part.write_text(json.dumps(plan | {"key": digest}, indent=2), encoding="utf-8")
        part.replace(work / PLAN)
        return None
    if json.loads((work / PLAN).read_text(encoding="utf-8")).get("key") != digest:
        raise CheckpointError(
            f"{work}: a training was begun here with other settings, data or another version of workbench. Delete the "
            "folder to begin anew, or choose another name"
        )
    for checkpoint in sorted(work.glob("checkpoint-*"), key=lambda path: -int(path.name.partition("-")[2])):
        if _is_whole(checkpoint):
            return checkpoint
        shutil.rmtree(checkpoint)
    return None


def _is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint is complete: the state is written last."""
    try:
        json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def _run(
    model: EntailmentModel,
    config: TrainConfig,
    data: tuple[list[Example], list[Example]],
    work: Path,
    last: Path | None,
    on_progress: Callable[[TrainProgress], None],
    should_stop: Callable[[], bool],
) -> tuple[SafeTrainer, bool]:
    """Train to the end, to an early stop or until asked to stop; return whether it was stopped on request."""
    import torch

    from workbench.classifier.trainer import Watch, build

    watch = Watch(on_progress, should_stop)
    trainer = build(model, config, *data, work, watch)
    try:
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"the GPU's memory does not hold a step of {config.batch} pairs of up to {config.max_length} tokens. Close "
            "other programs that use it, or train with a smaller batch or max_length"
        ) from error
    return trainer, watch.stopped


def _card(
    name: str,
    config: TrainConfig,
    data: tuple[list[Example], list[Example]],
    trainer: SafeTrainer,
    model: EntailmentModel,
    date: str,
    seconds: float,
) -> Card:
    """Return the card of a finished training, without the hash of its weights."""
    state, (train_on, held_out) = trainer.state, data
    losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
    metrics = {"loss": float(losses[-1])} if losses else {}
    if held_out:
        metrics["dev_macro_f1"] = float(state.best_metric)
    return Card(
        name=name,
        base_revision=model.revision,
        config=config,
        data_hash=data_hash(train_on),
        dev_hash=data_hash(held_out),
        train_labels=label_counts(train_on),
        dev_labels=label_counts(held_out),
        metrics=metrics,
        steps=int(state.global_step),
        best_step=int(state.best_global_step if held_out else state.global_step),
        seconds=seconds,
        device=str(model.device),
        versions=_versions(),
        date=date,
        weights="",
    )


def _versions() -> dict[str, str]:
    import torch
    import transformers

    return {
        "workbench": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def _publish(folder: Path, model: EntailmentModel, card: Card) -> Card:
    """Write everything into a temporary folder, then rename it."""
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        model.network.save_pretrained(made, max_shard_size="100GB")
        model.tokenizer.save_pretrained(made)
        card = replace(card, weights=file_hash(made / WEIGHTS))
        write_card(made, card)
        made.chmod(0o755)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return card
