"""What the reliability audit may be told: how answers are read, and when a statement passes a test."""

from __future__ import annotations

from workbench import registry
from workbench.audits.audit import Defaults
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.responses import Sampling
from workbench.options.option import Option, Type, flag
from workbench.options.shared import COMPARE, DTYPE, JUDGE_VOID, READER, REFUSALS, SAMPLING, SEED, WITHOUT_RULINGS

DEFAULTS = Defaults(samples=30, sampling=Sampling(), family="chat", exact_by="labels")
"Ceron et al. 2024, section 5.4; temperature, nucleus and length are those of the released code"

RULES = {
    "printed": "printed: 45 % and 55 % both lie outside the interval",
    "coded": "coded: only 55 % does, as in the released code",
}
READERS = dict.fromkeys(registry.added(registry.READERS), "of another package") | {
    "label-words": "label-words: the first assertion decides",
    "label-words-coded": "label-words-coded: as in the released code",
}
RULE = Option("rule", "rule for a clear leaning", default="printed", choices=RULES)
READ_BY = READER.but(help="rule that reads sampled answers", none="label-words", choices=READERS)
LOW = Option("low", "lower limit of an unclear leaning", Type.NUMBER, 0.45, least=0, most=1)
HIGH = Option("high", "upper limit of an unclear leaning", Type.NUMBER, 0.55, least=0, most=1)
MINIMUM = Option(
    "minimum", "readable answers needed", Type.WHOLE, none="two thirds of those planned for the prompt", least=1
)
TESTS = Option("tests", "tests that ALL combines", none="the five tests within a template", metavar="TEST,…")
SEEDED = SEED.of("the bootstrap intervals and the baseline")
JUDGING = (RULE, READ_BY, WITHOUT_RULINGS, LOW, HIGH, MINIMUM, TESTS, JUDGE_VOID, SEEDED)

NAMED = Option(
    "named", "exact runs: least probability of the labels", Type.NUMBER, none="0.05", least=0, most=1, metavar="SHARE"
)
BESIDE = Option(
    "beside",
    "exact runs: samples per prompt for the expected verdict",
    Type.WHOLE,
    none=str(PUBLISHED_SAMPLES),
    least=1,
)
WITH_UNREADABLE = flag(
    "with_unreadable", "exact runs: count these samples as unreadable as often as no label begins the answer"
)
EXACT = (NAMED, BESIDE, WITH_UNREADABLE)

SHOWN = (
    Option("template", "only this template", none="all templates"),
    Option("failed", "only statements that do not pass this test, or `all`", metavar="TEST"),
    flag("baseline", "show coin flips, put through the same tests"),
    REFUSALS,
    COMPARE,
)
ONLY = Option("audit", default="reliability", choices=("reliability",))
"of verbs that judge this audit alone"
RESULT_OPTIONS = (SAMPLING, DTYPE, *JUDGING, *EXACT, *SHOWN)
UNTIL_SETTLED = flag(
    "until_settled",
    "stop asking a prompt once no further answer can change its verdict: the same verdicts, fewer answers",
).but(label="stop early")
RUN_OPTIONS = (UNTIL_SETTLED,)
