"""The fine-tuning of a stance classifier on labelled responses.

The result is a folder with weights and a card. A training may be stopped and resumed at any step
with the same result, bit for bit on a CPU. A finished classifier gets its name in one step. Until
then all files are in a temporary folder beside it.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.utils.data import SequentialSampler
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from workbench.classifier.card import WEIGHTS, Card, file_hash, verify, write_card
from workbench.classifier.config import LABELS, TrainConfig, TrainProgress
from workbench.classifier.dataset import (
    Example,
    TrainingPair,
    check_labels,
    check_leak,
    check_training,
    data_hash,
    in_canonical_order,
    label_counts,
    macro_f1,
    schedule,
    split,
)
from workbench.classifier.encoding import PairEncoder
from workbench.classifier.model import EntailmentNetwork, load
from workbench.classifier.predict import predictions, premise_of
from workbench.domain.keys import content_key
from workbench.errors import CheckpointError, ModelError, UsageError
from workbench.version import __version__
from workbench.whole_folders import made_beside

OPTIMIZER, GROUPS, SCHEDULER, RANDOM = (
    "optimizer.safetensors",
    "optimizer.json",
    "scheduler.json",
    "random.safetensors",
)
METRIC = "dev_macro_f1"


class TrainingWatch(TrainerCallback):  # type: ignore[misc]
    """A reporter of progress, which also ends training after the current step on request.

    It then leaves a checkpoint.
    """

    def __init__(
        self, on_progress: Callable[[TrainProgress], None], should_stop: Callable[[], bool]
    ):
        self._on_progress, self._should_stop = on_progress, should_stop
        self._started = monotonic()
        self._dev: float | None = None
        self.stopped = False

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step < state.max_steps and self._should_stop():
            self.stopped = control.should_training_stop = control.should_save = True

    def on_log(
        self, _args: Any, state: Any, _control: Any, logs: dict[str, float], **_: Any
    ) -> None:
        if "loss" in logs:
            self._report(state, logs["loss"], logs.get("learning_rate"))

    def on_evaluate(
        self, _args: Any, state: Any, _control: Any, metrics: dict[str, float], **_: Any
    ) -> None:
        self._dev = metrics[f"eval_{METRIC}"]
        self._report(state, None, None)

    def _report(self, state: Any, loss: float | None, rate: float | None) -> None:
        seconds = monotonic() - self._started
        self._on_progress(
            TrainProgress(state.global_step, state.max_steps, loss, rate, self._dev, seconds)
        )


class Collate:
    """The conversion of pairs into a batch. Responses are tokenised once, before training."""

    def __init__(
        self,
        model: EntailmentNetwork,
        encoder: PairEncoder,
        config: TrainConfig,
        examples: Sequence[Example],
    ):
        self._model, self._encoder = model, encoder
        self._premises = encoder.premises(
            [premise_of((example.text, example.statement), config.premise) for example in examples]
        )

    def __call__(self, pairs: Sequence[TrainingPair]) -> dict[str, Any]:
        batch = self._encoder.batch(
            self._encoder.pair(self._premises[pair.example], LABELS.index(pair.label))
            for pair in pairs
        )
        outputs = [
            self._model.entailment if pair.entailed else self._model.contradiction for pair in pairs
        ]
        return batch | {"labels": torch.tensor(outputs)}


class SafeTrainer(Trainer):  # type: ignore[misc]
    """A Trainer with its own order of pairs, macro F1, and checkpoints without pickle.

    Macro F1 is that over four labels.
    """

    def __init__(
        self, model: EntailmentNetwork, config: TrainConfig, dev: Sequence[Example], **settings: Any
    ):
        self._entailment, self._config, self._dev = model, config, list(dev)
        super().__init__(model=model.network, **settings)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """Keep the order of the pairs, which was drawn from the seed.

        Resuming then has the same order.
        """
        return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)

    def evaluate(self, *_: Any, metric_key_prefix: str = "eval", **__: Any) -> dict[str, float]:
        """Evaluate on the held-out responses like the finished classifier."""
        responses = [(example.text, example.statement) for example in self._dev]
        label_by_index = {
            prediction.index: prediction.label
            for batch in predictions(self._entailment, self._config, responses)
            for prediction in batch
        }
        score = macro_f1(
            [example.label for example in self._dev],
            [label_by_index[index] for index in range(len(responses))],
        )
        metrics = {f"{metric_key_prefix}_{METRIC}": score}
        self.log(metrics)
        handler: Any = self.callback_handler
        self.control: Any = handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Write weights and configuration only. Trainer would pickle its arguments beside them."""
        self.model.save_pretrained(output_dir or self.args.output_dir, state_dict=state_dict)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        folder, state = Path(output_dir), self.optimizer.state_dict()
        save_file(
            {
                f"{index}.{name}": value.contiguous()
                for index, values in state["state"].items()
                for name, value in values.items()
            },
            folder / OPTIMIZER,
        )
        (folder / GROUPS).write_text(json.dumps(state["param_groups"]), encoding="utf-8")
        (folder / SCHEDULER).write_text(
            json.dumps(self.lr_scheduler.state_dict()), encoding="utf-8"
        )

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is None:
            return
        folder, state = Path(checkpoint), dict[int, dict[str, Any]]()
        for key, value in load_file(folder / OPTIMIZER).items():
            index, _, name = key.partition(".")
            state.setdefault(int(index), {})[name] = value
        groups = json.loads((folder / GROUPS).read_text(encoding="utf-8"))
        for group in groups:
            group["betas"] = tuple(group["betas"])
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.lr_scheduler.load_state_dict(
            json.loads((folder / SCHEDULER).read_text(encoding="utf-8"))
        )

    def _save_rng_state(self, output_dir: str) -> None:
        """Save torch's generators. After the pairs are drawn, only dropout is random."""
        states = {"cpu": torch.random.get_rng_state()}
        if torch.cuda.is_available():
            states["cuda"] = torch.cuda.random.get_rng_state()
        save_file(states, Path(output_dir) / RANDOM)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is None:
            return
        states = load_file(Path(checkpoint) / RANDOM)
        torch.random.set_rng_state(states["cpu"])
        if "cuda" in states and torch.cuda.is_available():
            torch.cuda.random.set_rng_state(states["cuda"])

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        if not (Path(resume_from_checkpoint) / "model.safetensors").is_file():
            raise CheckpointError(
                f"{resume_from_checkpoint}: there is no model.safetensors to resume from"
            )
        super()._load_from_checkpoint(resume_from_checkpoint, model)

    def _save_scaler(self, output_dir: str) -> None:
        """Save nothing: fp32 has no gradient scaler."""

    def _load_scaler(self, checkpoint: str | None) -> None:
        """Load nothing: fp32 has no gradient scaler."""


def build(
    model: EntailmentNetwork,
    config: TrainConfig,
    examples: Sequence[Example],
    dev: Sequence[Example],
    work: Path,
    watch: TrainingWatch,
) -> SafeTrainer:
    """Return a trainer over the whole schedule of pairs as one epoch.

    It can then resume from any step.
    """
    encoder = PairEncoder(model.tokenizer, config)
    n_pairs = config.steps * config.batch
    callbacks: list[Any] = [watch]
    if dev and config.patience is not None:
        callbacks.append(EarlyStoppingCallback(early_stopping_patience=config.patience))
    trainer = SafeTrainer(
        model,
        config,
        dev,
        args=arguments(config, bool(dev), work, model.device.type),
        train_dataset=schedule(examples, LABELS, n_pairs, np.random.default_rng(config.seed)),
        eval_dataset=list(dev) or None,
        data_collator=Collate(model, encoder, config, examples),
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def arguments(config: TrainConfig, evaluated: bool, work: Path, device: str) -> Any:
    """Return the Trainer's arguments.

    Those not named are its defaults: linear decay, gradients clipped at 1, AdamW.
    """
    training_arguments = TrainingArguments(
        output_dir=str(work),
        max_steps=config.steps,
        per_device_train_batch_size=config.batch,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        warmup_steps=config.warmup,
        adam_beta1=config.beta1,
        adam_beta2=config.beta2,
        adam_epsilon=config.epsilon,
        seed=config.seed,
        eval_strategy="steps" if evaluated else "no",
        eval_steps=config.eval_every if evaluated else None,
        save_strategy="steps",
        save_steps=config.eval_every,
        # The last to resume from and, if there is an evaluation, the best. With a limit of 1
        # Trainer would delete the last one whenever another is better, and a stopped training could
        # not go on.
        save_total_limit=2 if evaluated else 1,
        load_best_model_at_end=evaluated,
        metric_for_best_model=METRIC if evaluated else None,
        greater_is_better=True if evaluated else None,
        restore_callback_states_from_checkpoint=True,
        logging_steps=max(1, min(10, config.steps // 50)),
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        use_cpu=device == "cpu",
        dataloader_pin_memory=device != "cpu",
    )
    # Several devices would multiply the batch size, which affects the result.
    training_arguments._n_gpu = min(training_arguments.n_gpu, 1)
    return training_arguments


PLAN = "plan.json"
STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training."""

    folder: Path
    card: Card | None
    "the card, or None if it was stopped and can be resumed by the same call"
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

    `dev` chooses the best step. None holds `config.dev_share` of the examples out. Called again
    with the same settings and data, it resumes from the last checkpoint, or returns the finished
    classifier. Raises UsageError for insufficient data, LeakError if `dev` shares texts with the
    examples, ModelError for an unusable base, CheckpointError if the folder has other contents.
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
    trainer, was_stopped = _run(
        model, config, (train_on, held_out), work, last, on_progress, should_stop
    )
    step = int(trainer.state.global_step)
    if was_stopped:
        return Trained(folder, None, step)
    card = _card(
        folder.name, config, (train_on, held_out), trainer, model, date, monotonic() - started
    )
    card = _publish(folder, model, card)
    shutil.rmtree(work, ignore_errors=True)
    return Trained(folder, card, step)


def _divide(
    config: TrainConfig, examples: Sequence[Example], dev: Sequence[Example] | None
) -> tuple[list[Example], list[Example]]:
    """Return checked training and held-out examples in a canonical order."""
    check_training(examples)
    rows = in_canonical_order(examples)
    if dev is None:
        train_on, held_out = split(rows, config.dev_share, np.random.default_rng(config.seed))
        check_training(train_on)
    else:
        train_on, held_out = rows, in_canonical_order(dev)
    check_labels(held_out, "held-out")
    check_leak(train_on, held_out)
    if config.patience is not None and not held_out:
        raise UsageError(
            "patience needs held-out responses to tell whether training still helps: set dev_share "
            "above 0, or patience to none"
        )
    return train_on, held_out


def _finished(folder: Path, plan: dict[str, Any]) -> Trained:
    """Return the classifier in a folder if it is the requested one."""
    card = verify(folder)
    existing = {"config": card.config.as_json(), "data": card.data_hash, "dev": card.dev_hash}
    if existing != {name: plan[name] for name in existing}:
        raise CheckpointError(
            f"{folder}: another classifier is here already, trained on {card.date} with other "
            "settings or data. Choose another name, or delete that folder"
        )
    return Trained(folder, card, card.steps)


def _last_checkpoint(work: Path, plan: dict[str, Any]) -> Path | None:
    """Return the newest complete checkpoint of this training, and remove broken ones.

    Raises CheckpointError.
    """
    digest = content_key(plan).hex()
    if not (work / PLAN).is_file():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        partial_file = work / (PLAN + ".part")
        partial_file.write_text(json.dumps(plan | {"key": digest}, indent=2), encoding="utf-8")
        partial_file.replace(work / PLAN)
        return None
    if json.loads((work / PLAN).read_text(encoding="utf-8")).get("key") != digest:
        raise CheckpointError(
            f"{work}: a training was begun here with other settings, data or another version of "
            "workbench. Delete the folder to begin anew, or choose another name"
        )
    for checkpoint in sorted(
        work.glob("checkpoint-*"), key=lambda path: -int(path.name.partition("-")[2])
    ):
        if _is_whole(checkpoint):
            return checkpoint
        shutil.rmtree(checkpoint)
    return None


def _is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint is complete. The state is written last."""
    try:
        json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def _run(
    model: EntailmentNetwork,
    config: TrainConfig,
    data: tuple[list[Example], list[Example]],
    work: Path,
    last: Path | None,
    on_progress: Callable[[TrainProgress], None],
    should_stop: Callable[[], bool],
) -> tuple[SafeTrainer, bool]:
    """Train to the end, to an early stop or until asked to stop.

    Returns whether it was stopped on request.
    """
    import torch

    watch = TrainingWatch(on_progress, should_stop)
    trainer = build(model, config, *data, work, watch)
    try:
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"the GPU's memory does not hold a step of {config.batch} pairs of up to "
            f"{config.max_length} tokens. Close "
            "other programs that use it, or train with a smaller batch or max_length"
        ) from error
    return trainer, watch.stopped


def _card(
    name: str,
    config: TrainConfig,
    data: tuple[list[Example], list[Example]],
    trainer: SafeTrainer,
    model: EntailmentNetwork,
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


def _publish(folder: Path, model: EntailmentNetwork, card: Card) -> Card:
    """Write everything into a temporary folder, then rename it."""
    with made_beside(folder) as partial_folder:
        model.network.save_pretrained(partial_folder, max_shard_size="100GB")
        model.tokenizer.save_pretrained(partial_folder)
        card = replace(card, weights=file_hash(partial_folder / WEIGHTS))
        write_card(partial_folder, card)
        partial_folder.rename(folder)
    return card
