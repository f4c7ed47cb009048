"""What the audit of response biases may be told: which questions are asked, and how changes are judged and shown."""

from __future__ import annotations

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.options.option import Option, Type, flag
from workbench.options.shared import COMPARE, REFUSALS, TRIED, WITHOUT_RULINGS

LETTERED, EXTENDED, STEERING, STEERING_STEPS = "lettered", "extended", "steering", "steering-steps"
"families of templates"

DEFAULTS = Defaults(
    samples=50,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=1),
    family=LETTERED,
    exact_by="next tokens",
    until_valid=True,
    tokens={EXTENDED: 50, STEERING_STEPS: 100},
)
"section 3.1: 50 valid answers at temperature 1; appendix D: an answer with its reason has at most 50 tokens"

DEFINITIONS = ("corrected", "paper", "all_keys", "head")
"names of `audits.response_bias.deltas.Definition` as they are typed"

RESULT_OPTIONS = (
    Option("definition", "definition of a change", default="corrected", choices=DEFINITIONS),
    WITHOUT_RULINGS,
    Option("alpha", "significance level of p", Type.NUMBER, 0.05, above=0, most=1, metavar="P"),
    Option(
        "holm",
        "p values that Holm's procedure adjusts: none, a model's biases, or all",
        default="none",
        choices=("none", "biases", "all"),
    ),
    Option(
        "entropy",
        "entropy by the options actually offered, or as in the published files",
        default="offered",
        choices=("offered", "csv"),
    ),
    Option("bias", "only these: acquiescence, odd_even, acquiescence-reword, …", metavar="B,…"),
    Option(
        "condition", "bias, key_typo, middle_random, letter_swap", none="all; of --questions bias", metavar="NAME,…"
    ),
    flag("cells", "view: mean, interval, t, p and entropy of every cell"),
    flag("topics", "view: change by topic"),
    flag("draws", "view: every draw of the perturbations"),
    Option("questions", "view: questions of this bias, largest change first", metavar="BIAS"),
    Option("question", "view: the answers to both forms of a question, by key or ref", metavar="KEY"),
    Option("draw", "--question: this draw of the perturbation", Type.WHOLE, none="first", least=1),
    flag("validity", "view: share of answers with an offered letter"),
    flag("people", "view: similarity to people's answers, if known"),
    REFUSALS,
    COMPARE,
)
JUDGING = tuple(
    one for one in RESULT_OPTIONS if one.name in ("definition", "without_rulings", "alpha", "holm", "entropy")
)
"how changes are judged; the others say what is shown"
BIASES = Option("bias", "only questions of these biases: odd_even, …", none="all", metavar="B,…", label="biases")
RUN_OPTIONS = (TRIED, BIASES)
