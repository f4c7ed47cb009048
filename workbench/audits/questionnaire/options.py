"""What the questionnaire audit may be told: what stands before a target, and how predicted answers are judged."""

from __future__ import annotations

from workbench.audits.audit import Defaults
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, Sampling
from workbench.options.option import Option, Type
from workbench.options.shared import COMPARE, DRAWS, DTYPE, SEED, WITHOUT_RULINGS

COUNTED = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=16)
"for endpoints that name no probabilities; 16 tokens are the fewest that every kind of endpoint accepts"
DEFAULTS = Defaults(
    samples=1,
    sampling=EXACTLY,
    family="qm",
    drawn=False,
    exact_by="next tokens",
    counted=COUNTED,
    counted_samples=PUBLISHED_SAMPLES,
)
"the probabilities of the next token at temperature 1 (section 4 and Limitations)"

MASSES = {"top10": "among the ten likeliest next tokens, as published", "vocabulary": "over the whole vocabulary"}
SECTIONS = ("targets", "conditions", "wordings", "tokens", "respondents", "correlation", "axis")
"parts of the output, in their order"
LEAST_DRAWS, MOST_DRAWS = 100, 100_000
"below the least the ends of an interval are single draws; more than the most take gigabytes and move no printed digit"

RESULT_OPTIONS = (
    DTYPE,
    WITHOUT_RULINGS,
    SEED.of("the bootstrap intervals"),
    Option("masses", "tokens over which the probabilities of yes and no are summed", default="top10", choices=MASSES),
    Option(
        "variability",
        "variability over wordings: the standard deviation, or the root mean square as printed",
        default="sd",
        choices=("sd", "rms"),
    ),
    Option(
        "error",
        "standard error of the bias: of differences from each person's answer, or as in the published tables",
        default="paired",
        choices=("paired", "printed"),
    ),
    Option(
        "show",
        f"{', '.join(SECTIONS)}, or all",
        none="targets; with --json, --csv or --parquet all; files include respondents, single people's answers, if "
        "asked for",
        metavar="SECTION,…",
    ),
    COMPARE,
    Option("target", "only this target question", metavar="REF"),
    Option(
        "condition",
        "qm, zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several",
        none="qm",
        metavar="NAME,…",
    ),
    DRAWS.but(least=LEAST_DRAWS, most=MOST_DRAWS),
)

JUDGING = tuple(
    one
    for one in RESULT_OPTIONS
    if one.name in ("without_rulings", "seed", "masses", "variability", "error", "draws", "condition")
)
"how predictions are judged; the others say what is shown"

USUAL = Contexts()
CONDITIONS = Option(
    "conditions",
    "qm, zero-shot, random, permuted, reduced, all, or single ones of these",
    none=",".join(USUAL.conditions),
    metavar="C,…",
)
RESPONDENTS = Option("respondents", "number of respondents to draw", Type.WHOLE, none="all", least=0)
EVERY = Option(
    "every",
    "one respondent in N for wordings other than the original",
    Type.WHOLE,
    none=str(USUAL.every),
    least=1,
    label="one in",
)
CONTEXT_QUESTIONS = Option(
    "context_questions", "the first N context questions", Type.WHOLE, none="all", least=0, label="questions"
)
RUN_OPTIONS = (CONDITIONS, RESPONDENTS, EVERY, CONTEXT_QUESTIONS)
