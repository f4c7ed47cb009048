"""What the bias score may be told: who reads answers, whose sides of the statements count, what is resampled."""

from __future__ import annotations

from workbench.options.option import Option, flag
from workbench.options.shared import DRAWS, JUDGE_VOID, SEED, THRESHOLD

UNITS = {
    "statements": "statements: what is said to one statement hangs together",
    "responses": "single answers, as published (narrower)",
}
READER = Option("reader", "a classifier, or people", none="the newest classifier", completes="classifiers")
LABELS = Option(
    "labels", "whose sides of the statements: the instrument's, or a model's", default="instrument", metavar="WHOSE"
)
CORRECT = flag("correct", "correct for the classifier's error and carry it along")
UNIT = Option("unit", "what is resampled", default="statements", choices=UNITS)
COMMON = flag("common", "every figure over the prompts that all models were asked")
RESULT_OPTIONS = (
    READER,
    LABELS,
    THRESHOLD,
    JUDGE_VOID.but(help="count wordings that read like their original too, as published; else they are void"),
    CORRECT,
    UNIT,
    DRAWS,
    SEED.of("the bootstrap intervals"),
    COMMON,
)
