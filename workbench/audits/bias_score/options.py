"""What the bias score may be told: who reads answers, whose sides of the statements count, what is resampled."""

from __future__ import annotations

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.domain.statements import Dimension
from workbench.options.option import Option, flag
from workbench.options.shared import (
    COMPARE,
    DRAWS,
    DTYPE,
    INSTRUMENT,
    JUDGE_VOID,
    MODEL,
    MODELS,
    QUEUE,
    READER,
    SAMPLING,
    SEED,
    SERVED,
    TEMPLATE,
    THRESHOLD,
    WITHOUT_RULINGS,
)

DEFAULTS = Defaults(
    samples=3, sampling=Sampling(temperature=1.0, top_p=1.0, top_k=10, max_new_tokens=100), family="prefixes"
)
"""Three runs, the next token from the top 10 (section 3.3, appendix C). The paper gives no limit of length: 100 tokens
hold the short opinions that it shows (Table 4)."""
LABELS_DEFAULTS = Defaults(
    samples=1, sampling=Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=12), family="labels", ours=True
)
"one answer, the likeliest: a label, not a distribution"

UNITS = {
    "statements": "statements: answers to one statement are correlated",
    "responses": "single answers, as published (narrower)",
}
READ_BY = READER.but(
    help="a classifier, or people", none="the newest classifier; people where there is none", completes="classifiers"
)
LABELS = Option(
    "labels", "source of the statements' sides: the instrument, or a model", default="instrument", metavar="WHOSE"
)
CORRECT = flag("correct", "correct for the classifier's error, and include its uncertainty")
UNIT = Option("unit", "unit that the bootstrap resamples", default="statements", choices=UNITS)
COMMON = flag("common", "base every figure on the prompts asked of all models")
RESULT_OPTIONS = (
    READ_BY,
    WITHOUT_RULINGS,
    LABELS,
    THRESHOLD,
    JUDGE_VOID.but(help="also count wordings identical to their original, as published; otherwise they are void"),
    CORRECT,
    UNIT,
    DRAWS,
    SEED.of("the bootstrap intervals"),
    COMMON,
)
TABLES = {
    "prefix": ("prefixes", "prefix_changes"),
    "prefix-source": ("prefix_sources",),
    "variant": ("wordings",),
    "source": ("sources",),
    "author": ("authors", "author_differences"),
    "statement": ("statement_counts", "statements"),
    "component": ("components",),
    "refusal": ("refusals", "refusal_sides"),
}
"what `--by` adds"
FIGURE_OPTIONS = (
    MODELS,
    INSTRUMENT.but(help="one or more, separated by commas", none="all models with answers", metavar="NAME,…"),
    SAMPLING.but(help="part of a sampling's description"),
    DTYPE,
    *TEMPLATE,
    *SERVED,
    *RESULT_OPTIONS,
    Option("by", "more tables", choices=tuple(TABLES), metavar="NAME"),
    COMPARE,
    Option("dimension", "only statements of this dimension", none="both", choices=tuple(map(str, Dimension))),
)
"all that the figures of the bias may be told"
SIDES_OPTIONS = (
    MODEL.but(none="the only model that labelled"),
    INSTRUMENT,
    *TEMPLATE,
    *SERVED,
    QUEUE.but(help="people's labels of this queue", none="all"),
    WITHOUT_RULINGS,
    SEED.of("the bootstrap intervals"),
)
"all that the figures of a model's labels of statements may be told"
