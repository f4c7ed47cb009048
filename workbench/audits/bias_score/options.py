"""What the bias score may be told: who reads answers, whose sides of the statements count, what is resampled."""

from __future__ import annotations

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.options.option import Option, flag
from workbench.options.shared import DRAWS, JUDGE_VOID, READER, SEED, THRESHOLD, WITHOUT_RULINGS

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
    "statements": "statements: what is said to one statement hangs together",
    "responses": "single answers, as published (narrower)",
}
READ_BY = READER.but(help="a classifier, or people", none="the newest classifier", completes="classifiers")
LABELS = Option(
    "labels", "whose sides of the statements: the instrument's, or a model's", default="instrument", metavar="WHOSE"
)
CORRECT = flag("correct", "correct for the classifier's error and carry it along")
UNIT = Option("unit", "what is resampled", default="statements", choices=UNITS)
COMMON = flag("common", "every figure over the prompts that all models were asked")
RESULT_OPTIONS = (
    READ_BY,
    WITHOUT_RULINGS,
    LABELS,
    THRESHOLD,
    JUDGE_VOID.but(help="count wordings that read like their original too, as published; else they are void"),
    CORRECT,
    UNIT,
    DRAWS,
    SEED.of("the bootstrap intervals"),
    COMMON,
)
