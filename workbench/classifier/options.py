"""What a training may be told; each base has defaults of its own (`TrainConfig.for_base`)."""

from __future__ import annotations

from workbench.classifier.config import Confidence, Premise
from workbench.options.option import Option, Type
from workbench.options.shared import SEED

USUAL = "as the base needs"
STEPS = Option("steps", type=Type.WHOLE, none=USUAL, least=1)
BATCH = Option("batch", "pairs of premise and hypothesis a step", Type.WHOLE, none=USUAL, least=1)
LEARNING_RATE = Option("learning_rate", type=Type.NUMBER, none=USUAL, above=0)
WEIGHT_DECAY = Option("weight_decay", type=Type.NUMBER, none=USUAL, least=0)
WARMUP = Option(
    "warmup",
    "steps in which the learning rate rises",
    Type.WHOLE,
    none=USUAL,
    least=0,
    label="warm-up",
)
DEV_SHARE = Option(
    "dev_share",
    "of the training items, held out to choose the best step; 0: the last step is kept",
    Type.NUMBER,
    none=USUAL,
    least=0,
    most=0.5,
    metavar="SHARE",
)
PATIENCE = Option(
    "patience",
    "evaluations without a better result after which training ends",
    Type.WHOLE,
    none="all steps are taken",
    least=1,
)
EVAL_EVERY = Option("eval_every", "steps between evaluations", Type.WHOLE, none=USUAL, least=1)
MAX_LENGTH = Option(
    "max_length", "of premise and hypothesis together, in tokens", Type.WHOLE, none=USUAL, least=16
)
HYPOTHESIS = Option("hypothesis", "with {label} where a label stands", none=USUAL, metavar="TEXT")
PREMISE = Option(
    "premise",
    "what the hypothesis is held against",
    none=USUAL,
    choices=tuple(one.value for one in Premise),
)
CONFIDENCE = Option(
    "confidence",
    "what the number beside a label is",
    none=USUAL,
    choices=tuple(one.value for one in Confidence),
)
SETTINGS = (
    *(
        STEPS,
        BATCH,
        LEARNING_RATE,
        WEIGHT_DECAY,
        WARMUP,
        DEV_SHARE,
        PATIENCE,
        EVAL_EVERY,
        MAX_LENGTH,
    ),
    *(HYPOTHESIS, PREMISE, CONFIDENCE),
)
TRAINED = (*SETTINGS, SEED.of("the training"))
