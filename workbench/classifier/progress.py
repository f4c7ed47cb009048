"""Progress of a training as reported by the trainer, without torch so that any caller can import it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """One report of a training."""

    step: int
    steps: int
    loss: float | None
    "mean since the last report; None for reports of an evaluation"
    learning_rate: float | None
    dev_macro_f1: float | None
    "of the last evaluation; None: no evaluation yet in this call, or no held-out items"
    seconds: float
    "since training began in this call, which may have resumed"
