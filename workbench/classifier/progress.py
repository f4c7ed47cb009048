"""How far a training is: what the trainer reports, free of torch so that any caller can name it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """One report of a training."""

    step: int
    steps: int
    loss: float | None
    "mean since the last report; None where an evaluation reports"
    learning_rate: float | None
    dev_macro_f1: float | None
    "of the last evaluation; None: none yet in this call, or nothing is held out"
    seconds: float
    "since training began in this call, which may have resumed"
