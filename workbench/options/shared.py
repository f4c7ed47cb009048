"""The options that several commands, screens and audits share, each with its one default and its bounds.

A command that needs another help or default takes `OPTION.but(...)`; the name, the type and the bounds stay.
"""

from __future__ import annotations

from workbench.domain.designs import PUBLISHED_SAMPLES, TRIES
from workbench.domain.probe_results import LEAST_READABLE as ONE_LEAST
from workbench.domain.responses import EFFORTS, NO_THINKING, SERVER
from workbench.domain.seeds import SEED as ONE_SEED
from workbench.options.option import Option, Type, flag

STORE = Option("store", "the project's file", Type.PATH, positional=True, required=True, completes="stores")
SEED = Option("seed", "of whatever is drawn", Type.WHOLE, ONE_SEED, least=0, metavar="S")

# which answers: what tells one run from another
MODEL = Option("model", "its name", none="the only one", completes="models")
MODELS = MODEL.but(help="several with commas between", none="all", metavar="NAME,…")
INSTRUMENT = Option("instrument", "its name", none="the only one", completes="instruments")
LANGUAGE = Option("language", "of the wordings", none="the instrument's", metavar="L")
TEMPLATE_LANGUAGE = Option(
    "template_language",
    "of the instructions around them, where it is another one",
    none="that of the wordings",
    metavar="L",
)
SAMPLING = Option("sampling", "where a model has several: its description, or a part of it", metavar="TEXT")
DTYPE = Option("dtype", "where a model was computed in several: float32, bfloat16, …")
SNAPSHOT = Option("snapshot", "of a served model: the one that the endpoint reported, or unknown")
REFUSALS = flag("refusals", "how often models refuse, by side and policy issue")
FINGERPRINT = Option(
    "fingerprint",
    "of a served model: answers under this system_fingerprint alone (none: without one; each: split by it)",
)
FAMILY = Option("family", "of templates; several make a result each", none="the one asked last", metavar="NAME,…")
ASKED_LANGUAGE = Option(
    "language", "that was asked; several make a result each", none="every one", metavar="L,…", completes="languages"
)
TEMPLATE_VERSION = Option(
    "template_version",
    "of templates that were edited",
    none="the present one if it was asked, else the one asked last",
    metavar="NAME=N,…",
)
SERVED = (SNAPSHOT, FINGERPRINT)
TEMPLATE = (ASKED_LANGUAGE, FAMILY, TEMPLATE_VERSION)
OF_RUN = (MODEL, INSTRUMENT, SAMPLING, DTYPE, *SERVED, *TEMPLATE)
"what tells one run of an audit from another"
COMPARE = Option(
    "compare",
    "two runs or more side by side, by their names or their models': what changed, with tests; the last of them stands "
    "before another option or at the end",
    metavar="RUN RUN …",
    several=True,
    completes="models",
)

# how a model is asked
STATEMENTS = Option("statements", "the first N, or these", none="all", metavar="N|REF,…")
VARIANTS = Option("variants", "original, paraphrase-1, changed, …", none="those that the audit compares", metavar="V,…")
TEMPLATES = Option("templates", "the first N, or these", none="all of the family", metavar="N|NAME,…")
SAMPLES = Option(
    "samples", "answers to each prompt", Type.WHOLE, none=f"as published: {PUBLISHED_SAMPLES}, 3 or 50", least=1
)
PUBLISHED = "as the audit was published"
LEFT = (SERVER,)
TEMPERATURE = Option(
    "temperature",
    "more than 0; server: a served model's own, which is another sampling",
    Type.NUMBER,
    none=PUBLISHED,
    above=0,
    most=100,
    words=LEFT,
)
TOP_P = Option(
    "top_p",
    "most probability drawn from; server: as of the temperature",
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
    "max_new_tokens", "of an answer", Type.WHOLE, none=PUBLISHED, least=1, unit="tokens", label="tokens"
)
DRAWN = (TEMPERATURE, TOP_P, TOP_K, MAX_NEW_TOKENS)
THINKING = Option(
    "thinking",
    "how much a model may think before it answers: off, low, medium, high, or a number of tokens beside those of the "
    "answer; another sampling",
    Type.WHOLE,
    none="as the model does by itself, within the tokens of the answer",
    least=1,
    most=1_000_000,
    words=(NO_THINKING, *EFFORTS),
    metavar="off|low|medium|high|N",
)
EXTRA_BODY = Option(
    "extra_body",
    "further fields of each request to an endpoint, as JSON or TOML; they are part of the sampling",
    label="extra fields",
    metavar="FILE|JSON",
)
ASKED_WITH = (THINKING, EXTRA_BODY)
"how a model is asked, whether answers are drawn or computed"
TRIED = Option(
    "tries",
    "answers that are no offered letter are drawn again, at most N x samples a prompt in all",
    Type.WHOLE,
    none=str(TRIES),
    least=1,
)

CHAT_FORMAT = Option(
    "chat_format",
    "chat template of another model, or a .jinja file: for base models, which have none",
    metavar="MODEL|FILE",
    label="chat format",
)
EXACT_ANSWERS = Option(
    "exact",
    "compute the probabilities of the two labels, or of the offered letters; nothing is sampled",
    Type.FLAG,
    False,
    label="answers",
)

# how figures are judged
READER = Option("reader", "whose readings of the answers count")
"with the readers that an audit has: choices or names, and the one that is usual"
WITHOUT_RULINGS = flag("without_rulings", "figures as if no auditor had ruled")
THRESHOLD = Option("threshold", "least confidence of the classifier that counts", Type.NUMBER, 0.9, least=0, most=1)
DRAWS = Option("draws", "of the bootstrap", Type.WHOLE, 10_000, least=1)
RESAMPLES = Option("resamples", "for each interval; 0: none", Type.WHOLE, 1000, least=0)
JUDGE_VOID = flag(
    "judge_void", "judge tests that cannot fail too, as published; else a test of one prompt with itself is void"
)

# people and what they label
PERSON = Option("person", "who makes the change", none="$USER", metavar="P")
ANNOTATOR = Option("annotator", "who labels", none="asked for")
QUEUE = Option("queue", "which queue", completes="queues")
CODEBOOK = Option("codebook", default="stance", choices=("stance", "side"))

# jobs and output
NO_PROBE = flag(
    "no_probe", "begin without a probe: 20 answers that are shown with their readings and count in no figure"
)
LEAST_READABLE = Option(
    "least_readable",
    "where nobody can answer: share of the probe's answers that must be readable for the run to begin",
    Type.NUMBER,
    ONE_LEAST,
    least=0,
    most=1,
    metavar="SHARE",
)
BATCH = flag(
    "batch",
    "send the requests of a served model in batches: at a share of the price, within a day; the same run",
).but(label="requests")
PROBING = (NO_PROBE, LEAST_READABLE)
YES = flag("yes", "do not ask before starting")
DETACH = flag("detach", "start the worker and return")
DRY_RUN = flag("dry_run", "say what would be done, and stop")
STARTING = (YES, DETACH, DRY_RUN)
METHODS = flag("methods", "how the figures came about, in a paragraph")
JSON = flag("json", "print data instead of text")
