"""The options that several commands, screens and audits share.

Each has its one default and its bounds. A command that needs another help or default takes
`OPTION.but(...)`, and the name, the type and the bounds stay.
"""

from __future__ import annotations

from workbench.domain.designs import PUBLISHED_SAMPLES, TRIES
from workbench.domain.keys import SEED as ONE_SEED
from workbench.domain.probe_results import LEAST_READABLE as ONE_LEAST
from workbench.domain.responses import EFFORTS, NO_THINKING, SERVER
from workbench.options.option import Option, Type, flag

STORE = Option(
    "store", "the store's file", Type.PATH, positional=True, required=True, completes="stores"
)
SEED = Option("seed", "seed of every random choice", Type.WHOLE, ONE_SEED, least=0, metavar="S")

# which answers: options that identify a run
MODEL = Option("model", "its name", none="the only one", completes="models")
MODELS = MODEL.but(help="one or more, separated by commas", none="all", metavar="NAME,…")
INSTRUMENT = Option("instrument", "its name", none="the only one", completes="instruments")
LANGUAGE = Option("language", "language of the wordings", none="the instrument's", metavar="L")
TEMPLATE_LANGUAGE = Option(
    "template_language",
    "language of the templates, if it differs",
    none="that of the wordings",
    metavar="L",
)
SAMPLING = Option(
    "sampling", "for a model with several samplings: the description, or part of it", metavar="TEXT"
)
DTYPE = Option("dtype", "for a model computed in several dtypes: float32, bfloat16, …")
SNAPSHOT = Option(
    "snapshot",
    "of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their "
    "date, or first",
)
REFUSALS = flag("refusals", "how often models refuse, by side and policy issue")
FINGERPRINT = Option(
    "fingerprint",
    "of a served model: only answers under this system_fingerprint (none: without one; each: "
    "split by it)",
)
PERSONAS = Option(
    "personas",
    "stand before each prompt, which is asked without one, too: personas, system prompts or "
    "beginnings of conversations, in TOML, JSON or CSV, or a list with one a line",
    metavar="FILE|JSON",
)
PERSONA = Option(
    "persona",
    "that stood before the prompts; none: prompts without one; several or all: a result each, "
    "where an audit shows several runs at once",
    none="none",
    metavar="NAME,…",
    completes="personas",
)
FAMILY = Option(
    "family",
    "of templates; each family has its own result",
    none="the most recently asked",
    metavar="NAME,…",
)
ASKED_LANGUAGE = Option(
    "language",
    "language asked in; each has its own result",
    none="all",
    metavar="L,…",
    completes="languages",
)
TEMPLATE_VERSION = Option(
    "template_version",
    "version of edited templates",
    none="the current version if asked, else the most recently asked",
    metavar="NAME=N,…",
)
SERVED = (SNAPSHOT, FINGERPRINT)
TEMPLATE = (ASKED_LANGUAGE, PERSONA, FAMILY, TEMPLATE_VERSION)
OF_RUN = (MODEL, INSTRUMENT, SAMPLING, DTYPE, *SERVED, *TEMPLATE)
"options that identify a run of an audit"
COMPARE = Option(
    "compare",
    "compare two or more runs, by their names or their models' names: differences, with tests; "
    "put the last one before another option or at the end",
    metavar="RUN RUN …",
    several=True,
    completes="models",
)
SAME_WITHIN = Option(
    "same_within",
    "comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5 "
    "points",
    Type.NUMBER,
    none="none: a difference that is not significant is inconclusive",
    above=0,
    most=1,
    metavar="D",
)

TABLE = Option(
    "table",
    "only these tables, each with the words of its subject if there are several of its name: "
    "cells topics, or questions MODEL odd_even key_typo",
    none="those that people see first; all of them for --json and files",
    metavar="NAME SUBJECT …",
    several=True,
)
WHERE = Option(
    "where",
    "only rows with these values, by the names of --json: bias=odd_even,allow_forbid",
    metavar="COLUMN=VALUE …",
    several=True,
)

# how a model is asked
STATEMENTS = Option("statements", "the first N, or these", none="all", metavar="N|REF,…")
VARIANTS = Option(
    "variants",
    "original, paraphrase-1, changed, …",
    none="those that the audit compares",
    metavar="V,…",
)
TEMPLATES = Option(
    "templates", "the first N, or these", none="all of the family", metavar="N|NAME,…"
)
MOST_SAMPLES = 1_000_000
SAMPLES = Option(
    "samples",
    "answers per prompt",
    Type.WHOLE,
    none=f"as published: {PUBLISHED_SAMPLES}, 3 or 50",
    least=1,
    most=MOST_SAMPLES,
)
PUBLISHED = "as the audit was published"
LEFT = (SERVER,)
TEMPERATURE = Option(
    "temperature",
    "more than 0; server: the served model's own, which is another sampling",
    Type.NUMBER,
    none=PUBLISHED,
    above=0,
    most=100,
    words=LEFT,
)
TOP_P = Option(
    "top_p",
    "largest cumulative probability to draw from; server: as for the temperature",
    Type.NUMBER,
    none=PUBLISHED,
    above=0,
    most=1,
    label="top-p",
    words=LEFT,
)
TOP_K = Option(
    "top_k",
    "0: the whole vocabulary; server: the endpoint's own top-k, min-p and penalties",
    Type.WHOLE,
    none=PUBLISHED,
    least=0,
    label="top-k",
    words=LEFT,
)
MAX_NEW_TOKENS = Option(
    "max_new_tokens",
    "most tokens of an answer",
    Type.WHOLE,
    none=PUBLISHED,
    least=1,
    unit="tokens",
    label="tokens",
)
DRAWN = (TEMPERATURE, TOP_P, TOP_K, MAX_NEW_TOKENS)
THINKING = Option(
    "thinking",
    "how much a model may think before it answers: off, low, medium, high, or a number of tokens "
    "besides those of the answer; another sampling",
    Type.WHOLE,
    none="the model's own, within the tokens of the answer",
    least=1,
    most=1_000_000,
    words=(NO_THINKING, *EFFORTS),
    metavar="off|low|medium|high|N",
)
EXTRA_BODY = Option(
    "extra_body",
    "extra fields for each request to an endpoint, as JSON or TOML; part of the sampling",
    label="extra fields",
    metavar="FILE|JSON",
)
ASKED_WITH = (THINKING, EXTRA_BODY)
"options for asking a model, for drawn and computed answers"
TRIED = Option(
    "tries",
    "answers without an offered letter are drawn again, at most N x samples per prompt in all",
    Type.WHOLE,
    none=str(TRIES),
    least=1,
)

CHAT_FORMAT = Option(
    "chat_format",
    "chat template of another model, or a .jinja file: for base models, which have no chat "
    "template",
    metavar="MODEL|FILE",
    label="chat format",
)
DEVICE = Option(
    "device",
    "of a local model: cpu, cuda, cuda:1, …, or all: one model over all GPUs, where one does not "
    "hold it",
    none="$WORKBENCH_DEVICE, else the first GPU, else the CPU",
    metavar="cpu|cuda:N|all",
)
SERVE = Option(
    "serve",
    "start a server for the model here and ask that: vllm, from an environment of its own "
    "($WORKBENCH_VLLM); the same as the model vllm:NAME",
    choices=("vllm",),
)
EXACT_ANSWERS = Option(
    "exact",
    "compute the probabilities of the two labels, or of the offered letters, instead of sampling",
    Type.FLAG,
    False,
    label="answers",
)

# how figures are judged
READER = Option("reader", "reader whose readings of the answers count")
"an audit adds its readers, as choices or names, and the default"
WITHOUT_RULINGS = flag("without_rulings", "ignore auditors' rulings")
THRESHOLD = Option(
    "threshold",
    "lowest confidence of the classifier that counts",
    Type.NUMBER,
    0.9,
    least=0,
    most=1,
)
DRAWS = Option("draws", "of the bootstrap", Type.WHOLE, 10_000, least=1)
RESAMPLES = Option(
    "resamples", "draws for each interval; 0: no intervals", Type.WHOLE, 1000, least=0
)
JUDGE_VOID = flag(
    "judge_void",
    "also judge tests that cannot fail, as published; otherwise a test of a prompt with itself "
    "is void",
)

# people and what they label
PERSON = Option("person", "who makes the change", none="$USER", metavar="P")
ANNOTATOR = Option("annotator", "who labels", none="prompted")
QUEUE = Option("queue", "which queue", completes="queues")
CODEBOOK = Option("codebook", default="stance", choices=("stance", "side"))

# jobs and output
NO_PROBE = flag(
    "no_probe",
    "start without a probe: 20 answers that are shown with their readings and count in no figure",
)
LEAST_READABLE = Option(
    "least_readable",
    "if nobody can decide: share of the probe's answers that must be readable for the run to begin",
    Type.NUMBER,
    ONE_LEAST,
    least=0,
    most=1,
    metavar="SHARE",
)
BATCH = flag(
    "batch",
    "send the requests to a served model in batches: cheaper, within a day; the same run. Where "
    "answers are drawn in rounds (--until-settled), each round is a batch",
).but(label="requests")
PROBING = (NO_PROBE, LEAST_READABLE)
YES = flag("yes", "do not ask before starting")
DETACH = flag("detach", "start the worker and return")
DRY_RUN = flag("dry_run", "print the plan, and stop")
STARTING = (YES, DETACH, DRY_RUN)
METHODS = flag("methods", "how the figures were computed, in a paragraph")
JSON = flag("json", "print data instead of text")
