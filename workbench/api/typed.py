"""Options with their types, and the methods that take those of each audit.

`python -m tests.typed_options` writes this file.
"""

# fmt: off

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

if TYPE_CHECKING:
    from workbench.api.commands import Finished
    from workbench.api.results import Result


class Asked(TypedDict, total=False):
    """Options of `workbench run`: what is asked."""

    again: int | None
    """ask anew what this job asked, as it was worded then and in the same way: a run of its own,
    named by today's date"""
    instrument: str | None
    """its name (default: the only one)"""
    statements: str | Sequence[str] | int | None
    """the first N, or these, or `quick`; for a questionnaire its targets (default: all)"""
    quick: bool
    """a quick look: 8 statements that the seed draws, 5 samples unless --samples says otherwise"""
    variants: str | Sequence[str] | None
    """original, paraphrase-1, changed, … (default: those that the audit compares)"""
    templates: str | Sequence[str] | int | None
    """the first N, or these (default: all of the family)"""
    family: str | None
    """of templates; of response_bias lettered, extended, steering, … (default: the published
    family)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    template_language: str | None
    """language of the templates, if it differs (default: that of the wordings)"""
    personas: str | Path | None
    """stand before each prompt, which is asked without one, too: personas, system prompts or
    beginnings of conversations, in TOML, JSON or CSV, or a list with one a line"""
    samples: int | None
    """answers per prompt (default: as published: 30, 3 or 50)"""
    seed: int
    """seed of the answers (default: 1)"""
    temperature: Literal["server"] | float | None
    """more than 0; server: the served model's own, which is another sampling (default: as the audit
    was published)"""
    top_p: Literal["server"] | float | None
    """largest cumulative probability to draw from; server: as for the temperature (default: as the
    audit was published)"""
    top_k: Literal["server"] | int | None
    """0: the whole vocabulary; server: the endpoint's own top-k, min-p and penalties (default: as
    the audit was published)"""
    max_new_tokens: int | None
    """most tokens of an answer (default: as the audit was published)"""
    thinking: Literal["off", "low", "medium", "high"] | int | None
    """how much a model may think before it answers: off, low, medium, high, or a number of tokens
    besides those of the answer; another sampling (default: the model's own, within the tokens of
    the answer)"""
    extra_body: str | None
    """extra fields for each request to an endpoint, as JSON or TOML; part of the sampling"""
    until_decided: bool
    """end an answer once its label cannot change any more"""
    exact: bool
    """compute the probabilities of the two labels, or of the offered letters, instead of
    sampling"""
    no_default_system: bool
    """empty the system turn that the model's chat template adds; counts as another model"""
    dtype: Literal["float32", "bfloat16", "float16", "int8", "nf4"] | None
    """of a local model: float32, bfloat16, float16, int8, nf4 (default: float32, on a GPU
    bfloat16)"""
    device: str | None
    """of a local model: cpu, cuda, cuda:1, …, or all: one model over all GPUs, where one does not
    hold it (default: $WORKBENCH_DEVICE, else the first GPU, else the CPU)"""
    serve: Literal["vllm"] | None
    """start a server for the model here and ask that: vllm, from an environment of its own
    ($WORKBENCH_VLLM); the same as the model vllm:NAME"""
    cluster: str | None
    """answer on a Ray cluster: local (this machine's GPUs), auto, or an address"""
    chat_format: str | None
    """chat template of another model, or a .jinja file: for base models, which have no chat
    template"""
    batch: bool
    """send the requests to a served model in batches: cheaper, within a day; the same run. Where
    answers are drawn in rounds (--until-settled), each round is a batch"""
    until_settled: bool
    """stop asking a prompt once no further answer can change its verdict: the same verdicts, fewer
    answers"""
    conditions: str | Sequence[str] | None
    """qm, zero-shot, random, permuted, reduced, all, or single ones of these (default: qm)"""
    respondents: int | None
    """number of respondents to draw (default: all)"""
    every: int | None
    """one respondent in N for wordings other than the original (default: 10)"""
    context_questions: int | None
    """the first N context questions (default: all)"""
    tries: int | None
    """answers without an offered letter are drawn again, at most N x samples per prompt in all
    (default: 20)"""
    bias: str | Sequence[str] | None
    """only questions of these biases: odd_even, … (default: all)"""


class Judging(TypedDict, total=False):
    """How the answers to an audit are judged, as a frozen plan has it."""

    low: float
    """lower limit of an unclear leaning (default: 0.45)"""
    high: float
    """upper limit of an unclear leaning (default: 0.55)"""
    minimum: int | None
    """readable answers needed (default: two thirds of those planned for the prompt)"""
    tests: str | Sequence[str] | None
    """tests that ALL combines (default: the five tests within a template)"""
    seed: int
    """seed of the bootstrap intervals and the baseline (default: 1); seed of the bootstrap
    intervals (default: 1); seed of ranks and the baseline (default: 1)"""
    named: float | None
    """exact runs: least probability of the labels (default: 0.05)"""
    beside: int | None
    """exact runs: samples per prompt for the expected verdict (default: 30)"""
    with_unreadable: bool
    """exact runs: count these samples as unreadable as often as no label begins the answer"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    reader: str | None
    """rule that reads sampled answers: label-words, label-words-coded (default: label-words); a
    classifier, or people (default: the newest classifier; people where there is none)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    formula: Literal["signed", "tacl", "all"]
    """formula of the stance on policy issues (default: signed)"""
    view: Literal["all", "agree", "disagree"]
    """which matches count (default: all)"""
    labels: str
    """policy-issue labels: the source's, or people's (default: gold); source of the statements'
    sides: the instrument, or a model (default: instrument)"""
    resamples: int
    """draws for each interval; 0: no intervals (default: 1000)"""
    draws: int
    """of the bootstrap (default: 10000)"""
    correct: bool
    """correct for the classifier's error, and include its uncertainty"""
    threshold: float
    """lowest confidence of the classifier that counts (default: 0.9)"""
    common: bool
    """base every figure on the prompts asked of all models"""
    queue: str | None
    """people's labels of this queue (default: all)"""
    condition: str | Sequence[str] | None
    """qm, zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several
    (default: qm, or the first asked; all in --json, files and reports)"""
    masses: Literal["top10", "vocabulary"]
    """tokens over which the probabilities of yes and no are summed (default: top10)"""
    unweighted: bool
    """count every respondent once, whatever the weights of the population"""
    alpha: float
    """significance level of p (default: 0.05)"""
    holm: Literal["none", "biases", "all"]
    """p values that Holm's procedure adjusts: none, a model's biases, or all (default: none)"""
    least_words: int
    """leave out halves of fewer words, which are guessed more easily (default: 3)"""
    measure: Literal["wasserstein", "total_variation", "jensen_shannon"]
    """distance of two distributions of answers: wasserstein, total_variation, jensen_shannon
    (default: wasserstein)"""
    least: int
    """leave out a question for a group in which fewer people, as weighted, answered it (default:
    30)"""


class AnyFigures(TypedDict, total=False):
    """Options of the figures of any audit."""

    model: str | Sequence[str] | None
    """its name (default: the only one); one or more, separated by commas (default: all)"""
    instrument: str | Sequence[str] | None
    """its name (default: the only one); one or more, separated by commas (default: all with
    answers)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it; part of a sampling's
    description"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    low: float
    """lower limit of an unclear leaning (default: 0.45)"""
    high: float
    """upper limit of an unclear leaning (default: 0.55)"""
    minimum: int | None
    """readable answers needed (default: two thirds of those planned for the prompt)"""
    tests: str | Sequence[str] | None
    """tests that ALL combines (default: the five tests within a template)"""
    seed: int
    """seed of the bootstrap intervals and the baseline (default: 1); seed of the bootstrap
    intervals (default: 1); seed of ranks and the baseline (default: 1)"""
    named: float | None
    """exact runs: least probability of the labels (default: 0.05)"""
    beside: int | None
    """exact runs: samples per prompt for the expected verdict (default: 30)"""
    with_unreadable: bool
    """exact runs: count these samples as unreadable as often as no label begins the answer"""
    as_people: bool
    """kappas over only the statements that people answered"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    reader: str | None
    """rule that reads sampled answers: label-words, label-words-coded (default: label-words); a
    classifier, or people (default: the newest classifier; people where there is none)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""
    formula: Literal["signed", "tacl", "all"]
    """formula of the stance on policy issues (default: signed)"""
    view: Literal["all", "agree", "disagree"]
    """which matches count (default: all)"""
    labels: str
    """policy-issue labels: the source's, or people's (default: gold); source of the statements'
    sides: the instrument, or a model (default: instrument)"""
    resamples: int
    """draws for each interval; 0: no intervals (default: 1000)"""
    draws: int
    """of the bootstrap (default: 10000)"""
    correct: bool
    """correct for the classifier's error, and include its uncertainty"""
    threshold: float
    """lowest confidence of the classifier that counts (default: 0.9)"""
    common: bool
    """base every figure on the prompts asked of all models"""
    published_file: str | None
    """a file of published biases, a row a model and a column a prefix, for a table beside these
    (default: no table)"""
    dimension: Literal["economic", "cultural"] | None
    """only statements of this dimension (default: both)"""
    queue: str | None
    """people's labels of this queue (default: all)"""
    condition: str | Sequence[str] | None
    """qm, zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several
    (default: qm, or the first asked; all in --json, files and reports)"""
    masses: Literal["top10", "vocabulary"]
    """tokens over which the probabilities of yes and no are summed (default: top10)"""
    unweighted: bool
    """count every respondent once, whatever the weights of the population"""
    by: str | Sequence[str] | None
    """also the figures of subgroups of the respondents (default: none); only groups of these kinds:
    country,age (default: all)"""
    alpha: float
    """significance level of p (default: 0.05)"""
    holm: Literal["none", "biases", "all"]
    """p values that Holm's procedure adjusts: none, a model's biases, or all (default: none)"""
    without_typos: bool
    """leave the rows of typos out of the matrix"""
    least_words: int
    """leave out halves of fewer words, which are guessed more easily (default: 3)"""
    measure: Literal["wasserstein", "total_variation", "jensen_shannon"]
    """distance of two distributions of answers: wasserstein, total_variation, jensen_shannon
    (default: wasserstein)"""
    least: int
    """leave out a question for a group in which fewer people, as weighted, answered it (default:
    30)"""


class CommonFigures(TypedDict, total=False):
    """Options that the figures of every audit take."""

    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class AgreementFigures(TypedDict, total=False):
    """Options of `workbench agreement`."""

    seed: int
    """seed of the bootstrap intervals (default: 1)"""
    items: bool
    """per labelled item"""


class ReviewFigures(TypedDict, total=False):
    """Options of `workbench review`."""

    audit: str
    """which audit: reliability, bias_score, statement_labels, questionnaire, response_bias,
    contamination, representation (default: reliability)"""
    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    reader: str | None
    """run whose readings are reviewed (default: as in the figures)"""
    as_: str | None
    """your name: items you have reviewed leave the queue, and what others decided on the control
    sample is not shown before your own decisions"""
    blind: bool
    """hide the model and other auditors' rulings"""


class ReliabilityFigures(TypedDict, total=False):
    """Options of the figures of reliability."""

    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    low: float
    """lower limit of an unclear leaning (default: 0.45)"""
    high: float
    """upper limit of an unclear leaning (default: 0.55)"""
    minimum: int | None
    """readable answers needed (default: two thirds of those planned for the prompt)"""
    tests: str | Sequence[str] | None
    """tests that ALL combines (default: the five tests within a template)"""
    seed: int
    """seed of the bootstrap intervals and the baseline (default: 1)"""
    named: float | None
    """exact runs: least probability of the labels (default: 0.05)"""
    beside: int | None
    """exact runs: samples per prompt for the expected verdict (default: 30)"""
    with_unreadable: bool
    """exact runs: count these samples as unreadable as often as no label begins the answer"""
    as_people: bool
    """kappas over only the statements that people answered"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    reader: str | None
    """rule that reads sampled answers: label-words, label-words-coded (default: label-words)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class ConsistencyFigures(TypedDict, total=False):
    """Options of the figures of consistency."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    low: float
    """lower limit of an unclear leaning (default: 0.45)"""
    high: float
    """upper limit of an unclear leaning (default: 0.55)"""
    minimum: int | None
    """readable answers needed (default: two thirds of those planned for the prompt)"""
    tests: str | Sequence[str] | None
    """tests that ALL combines (default: the five tests within a template)"""
    seed: int
    """seed of the bootstrap intervals and the baseline (default: 1)"""
    formula: Literal["signed", "tacl", "all"]
    """formula of the stance on policy issues (default: signed)"""
    view: Literal["all", "agree", "disagree"]
    """which matches count (default: all)"""
    labels: Literal["gold", "people"]
    """policy-issue labels: the source's, or people's (default: gold)"""
    resamples: int
    """draws for each interval; 0: no intervals (default: 1000)"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    reader: str | None
    """rule that reads sampled answers: label-words, label-words-coded (default: label-words)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class BiasScoreFigures(TypedDict, total=False):
    """Options of the figures of bias_score."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | Sequence[str] | None
    """one or more, separated by commas (default: all with answers)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    sampling: str | None
    """part of a sampling's description"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    seed: int
    """seed of the bootstrap intervals (default: 1)"""
    draws: int
    """of the bootstrap (default: 10000)"""
    correct: bool
    """correct for the classifier's error, and include its uncertainty"""
    threshold: float
    """lowest confidence of the classifier that counts (default: 0.9)"""
    labels: str
    """source of the statements' sides: the instrument, or a model (default: instrument)"""
    common: bool
    """base every figure on the prompts asked of all models"""
    published_file: str | None
    """a file of published biases, a row a model and a column a prefix, for a table beside these
    (default: no table)"""
    dimension: Literal["economic", "cultural"] | None
    """only statements of this dimension (default: both)"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    reader: str | None
    """a classifier, or people (default: the newest classifier; people where there is none)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class StatementLabelsFigures(TypedDict, total=False):
    """Options of the figures of statement_labels."""

    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    queue: str | None
    """people's labels of this queue (default: all)"""
    seed: int
    """seed of the bootstrap intervals (default: 1)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class QuestionnaireFigures(TypedDict, total=False):
    """Options of the figures of questionnaire."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    condition: str | Sequence[str] | None
    """qm, zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several
    (default: qm, or the first asked; all in --json, files and reports)"""
    masses: Literal["top10", "vocabulary"]
    """tokens over which the probabilities of yes and no are summed (default: top10)"""
    seed: int
    """seed of the bootstrap intervals (default: 1)"""
    draws: int
    """of the bootstrap (default: 10000)"""
    unweighted: bool
    """count every respondent once, whatever the weights of the population"""
    by: str | Sequence[str] | None
    """also the figures of subgroups of the respondents (default: none)"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class ResponseBiasFigures(TypedDict, total=False):
    """Options of the figures of response_bias."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    alpha: float
    """significance level of p (default: 0.05)"""
    holm: Literal["none", "biases", "all"]
    """p values that Holm's procedure adjusts: none, a model's biases, or all (default: none)"""
    without_typos: bool
    """leave the rows of typos out of the matrix"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class ContaminationFigures(TypedDict, total=False):
    """Options of the figures of contamination."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    least_words: int
    """leave out halves of fewer words, which are guessed more easily (default: 3)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class RepresentationFigures(TypedDict, total=False):
    """Options of the figures of representation."""

    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: the only one)"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    measure: Literal["wasserstein", "total_variation", "jensen_shannon"]
    """distance of two distributions of answers: wasserstein, total_variation, jensen_shannon
    (default: wasserstein)"""
    by: str | Sequence[str] | None
    """only groups of these kinds: country,age (default: all)"""
    least: int
    """leave out a question for a group in which fewer people, as weighted, answered it (default:
    30)"""
    unweighted: bool
    """count every respondent once, whatever the weights of the population"""
    seed: int
    """seed of ranks and the baseline (default: 1)"""
    draws: int
    """of the bootstrap (default: 10000)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    table: str | Sequence[str] | None
    """only these tables, each with the words of its subject if there are several of its name: cells
    topics, or questions MODEL odd_even key_typo (default: those that people see first; all of them
    for --json and files)"""
    where: str | Mapping[str, str] | Sequence[str] | None
    """only rows with these values, by the names of --json: bias=odd_even,allow_forbid"""
    methods: bool
    """how the figures were computed, in a paragraph"""


class ImportOptions(TypedDict, total=False):
    """Options of `workbench import`."""

    format: str | None
    """see data/README.md: csv, jsonl, probvaa, propositions, choices, biasmonkey, survey, wahlomat,
    qualomat, smartvote, positions, compass, answers, log, labels, issue_labels, manifesto (default:
    recognised)"""
    name: str | None
    """name of the instrument in the store (default: the name in the file)"""
    instrument: str | None
    """answers, log, manifesto: the instrument with the questions, statements or parties (default:
    the only one)"""
    audit: str | None
    """log: the audit whose prompts were asked (default: the one with the most matches)"""
    family: str | None
    """log: the templates that were used (default: those with the most matches)"""
    model: str | None
    """log: name of the model (default: as the file says)"""
    personas: str | Path | None
    """log: personas or system prompts that stood before the prompts (default: those of the
    store)"""
    most_count: int | None
    """log: answers that one row (count) may stand for (default: 10,000)"""
    codebook: str | None
    """labels: for rows that name none (default: stance)"""
    into: str | None
    """labels: make this queue for items that are in no queue"""
    purpose: Literal["training", "test", "check"] | None
    """labels: purpose of that queue (default: training)"""
    missing: str | Sequence[str] | None
    """survey, answers: values that mean no answer, as in --missing=-99,99"""
    questions: str | Sequence[str] | None
    """survey: columns that are questions (default: those with labels of answers)"""
    unordered: str | Sequence[str] | None
    """survey: questions whose answers have no order"""
    weight: str | Sequence[str] | None
    """survey, answers: columns of weights, multiplied, as in pspwght*pweight"""
    drop_unweighted: bool
    """survey, answers: leave out people without a weight"""
    groups: str | Sequence[str] | None
    """survey, answers: columns of groups, as in cntry,age=agea:18-29/30-64/65+"""
    respondent: str | Sequence[str] | None
    """survey: columns that name a person (default: the number of the row)"""
    map: str | Path | Mapping[str, str] | Sequence[str] | None
    """the file's columns under our names, or a file with them"""
    ignore: str | Sequence[str] | None
    """columns to leave out; of answers: columns that are not questions"""
    answers: str | Mapping[str, str] | Sequence[str] | None
    """what parties' answers stand for: agree, disagree, neutral, no opinion (default: known
    words)"""
    language: str | None
    """of the texts, where the file does not say it (default: that of its layout, or en)"""
    election: str | None
    """manifesto: country, month (202409) or both (default: the newest of the parties' country)"""
    sheet: str | None
    """of a spreadsheet, or a list of a JSON file (default: the only one)"""
    encoding: str | None
    """of a text (default: UTF-8, or UTF-16 with its mark)"""
    no_header: bool
    """the first row is data; columns are called 1, 2, …"""
    header_row: int | None
    """row or line that names the columns, if a title or comments stand above it (default: the first
    that is not empty)"""
    decimal: Literal[".", ","] | None
    """sign before decimals of numbers in a table: . or , (default: a point)"""
    most_bytes: int | None
    """that a packed file (.gz, .zst, .zip) may come to (default: 1073741824, and 100 times its
    size)"""
    keep_map: str | Path | None
    """write what --map and the options below it say into a file, for --map"""
    skip: bool
    """biasmonkey, published shares, log, labels: skip what has errors, no prompt or an unknown
    text"""
    left_right: str | Path | None
    """probvaa: parties' left-right positions"""


class TrainOptions(TypedDict, total=False):
    """Options of `workbench train`."""

    name: str
    """name of the classifier (default: stance)"""
    base: str
    """minilm, a folder or a hub id such as facebook/bart-large-mnli (default: minilm)"""
    training: str | Sequence[str] | None
    """training sets (default: all training queues)"""
    test: str | Sequence[str] | None
    """test sets (default: all test queues)"""
    codebook: str
    """(default: stance)"""
    by_statement: bool
    """also refuse sets that share a statement"""
    steps: int | None
    """(default: as the base needs)"""
    batch: int | None
    """pairs of premise and hypothesis a step (default: as the base needs)"""
    learning_rate: float | None
    """(default: as the base needs)"""
    weight_decay: float | None
    """(default: as the base needs)"""
    warmup: int | None
    """steps in which the learning rate rises (default: as the base needs)"""
    dev_share: float | None
    """of the training items, held out to choose the best step; 0: the last step is kept (default:
    as the base needs)"""
    patience: int | None
    """evaluations without a better result after which training ends (default: all steps are
    taken)"""
    eval_every: int | None
    """steps between evaluations (default: as the base needs)"""
    max_length: int | None
    """of premise and hypothesis together, in tokens (default: as the base needs)"""
    hypothesis: str | None
    """with {label} where a label stands (default: as the base needs)"""
    premise: Literal["response", "both"] | None
    """what the hypothesis is held against (default: as the base needs)"""
    confidence: Literal["entailment", "softmax"] | None
    """what the number beside a label is (default: as the base needs)"""
    seed: int
    """seed of the training (default: 1)"""


class ClassifyOptions(TypedDict, total=False):
    """Options of `workbench classify`."""

    classifier: str | None
    """(default: the newest)"""
    instrument: str | None
    """its name (default: all)"""
    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all models that answered)"""


class DraftOptions(TypedDict, total=False):
    """Options of `workbench draft`."""

    instrument: str | None
    """its name (default: the only one)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    statements: str | Sequence[str] | int | None
    """the first N, or these, or `targets` (default: all)"""
    kind: str | Sequence[str] | None
    """paraphrase, negation, opposite, reformulation, political_opposite, original (from a
    question), changed (of multiple-choice questions about acquiescence or allow_forbid)"""
    model: str | None
    """smollm2, a hub id, a folder, … as for `run`; or `rule`: English, at once"""
    prompt: str | Path | Sequence[str] | None
    """your own prompt instead of the published one of its kind; see data/README.md"""
    calls: int | None
    """to each statement (default: as published, 5 or 1)"""
    per_call: int | None
    """wordings a call is asked for (default: 20)"""
    keep: int | None
    """sample of a statement's drafts; 0: all (default: 50)"""
    seed: int
    """seed of the drafts (default: 1)"""
    temperature: Literal["server"] | float | None
    """more than 0; server: the served model's own, which is another sampling (default: the
    prompt's)"""
    top_p: Literal["server"] | float | None
    """largest cumulative probability to draw from; server: as for the temperature (default: the
    prompt's)"""
    top_k: Literal["server"] | int | None
    """0: the whole vocabulary; server: the endpoint's own top-k, min-p and penalties (default: the
    prompt's)"""
    max_new_tokens: int | None
    """most tokens of an answer (default: the prompt's)"""
    thinking: Literal["off", "low", "medium", "high"] | int | None
    """how much a model may think before it answers: off, low, medium, high, or a number of tokens
    besides those of the answer; another sampling (default: the prompt's)"""


class CheckOptions(TypedDict, total=False):
    """Options of `workbench check`."""

    instrument: str | None
    """its name (default: the only one)"""
    encoder: str
    """minilm, a hub id, a folder, or none (default: minilm)"""
    nli: str
    """entailment model, a hub id or a folder, to check the expected relations"""
    language: str | Sequence[str] | None
    """language of the wordings (default: the instrument's)"""
    low: float | None
    """a variant whose cosine with its original is below this may have lost the meaning (default: as
    it is)"""
    low_negation: float | None
    """the same for negations, which keep the words of their original (default: as it is)"""
    high: float | None
    """a paraphrase from this cosine on hardly varies (default: as it is)"""
    twin: float | None
    """two statements of one country from this cosine on say the same (default: as it is)"""


class ReportOptions(TypedDict, total=False):
    """Options of `workbench report`."""

    audit: str | Sequence[str] | None
    """only these (default: all that were asked)"""
    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    instrument: str | None
    """its name (default: all that were asked)"""
    answers: Literal["failed", "all", "none"]
    """raw answers beside the verdicts (default: failed)"""
    without_rulings: bool
    """ignore auditors' rulings"""
    seed: int
    """seed of the intervals (default: 1)"""
    compare: str | Sequence[str] | None
    """compare two or more runs, by their names or their models' names: differences, with tests; put
    the last one before another option or at the end"""
    same_within: float | None
    """comparisons: the greatest difference that is still no difference, as a part of 1: 0.05 is 5
    points (default: none: a difference that is not significant is inconclusive)"""
    as_published: bool
    """judge by the published rules where the usual ones differ"""
    table: str | Sequence[str] | None
    """also write these tables, as files of their own too: CSV, LaTeX and pictures (default: those
    of the page)"""
    every_file: bool
    """write every table of every audit, and its picture, as files of its own, in place of
    supplement.zip"""
    title: str | None
    """of the page (default: made of what it holds)"""


class ExportOptions(TypedDict, total=False):
    """Options of `workbench export`."""

    instrument: str | Sequence[str] | None
    """its name; for rows, separate several with commas (default: the only one; for rows all)"""
    format: str | None
    """csv, probvaa, jsonl, choices; for rows csv, parquet, jsonl (default: csv; choices if all
    statements are multiple choice)"""
    people: Literal["counts", "pseudonyms", "none"]
    """also write descriptions of annotators and respondents, in separate files (default: counts)"""
    force: bool
    """replace files of the same name; others stay"""
    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all)"""
    audit: str | Sequence[str] | None
    """separate several with commas (default: all)"""
    expand: bool
    """write one row per answer; without it, equal answers of a draw share a row"""
    names: bool
    """write people's names instead of pseudonyms"""
    without_rulings: bool
    """ignore auditors' rulings in verdicts and figures"""


class PromptsOptions(TypedDict, total=False):
    """Options of `workbench prompts`."""

    layout: Literal["csv", "openai-batch", "inspect", "lm-eval"]
    """for which program: csv, openai-batch, inspect, lm-eval (default: csv)"""
    model: str
    """name that the prompts and requests have for it (default: MODEL)"""
    audit: str
    """which audit: reliability, bias_score, statement_labels, questionnaire, response_bias,
    contamination, representation (default: reliability)"""
    instrument: str | None
    """its name (default: the only one)"""
    statements: str | Sequence[str] | int | None
    """the first N, or these, or `quick`; for a questionnaire its targets (default: all)"""
    quick: bool
    """a quick look: 8 statements that the seed draws, 5 samples unless --samples says otherwise"""
    variants: str | Sequence[str] | None
    """original, paraphrase-1, changed, … (default: those that the audit compares)"""
    templates: str | Sequence[str] | int | None
    """the first N, or these (default: all of the family)"""
    family: str | None
    """of templates; of response_bias lettered, extended, steering, … (default: the published
    family)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    template_language: str | None
    """language of the templates, if it differs (default: that of the wordings)"""
    personas: str | Path | None
    """stand before each prompt, which is asked without one, too: personas, system prompts or
    beginnings of conversations, in TOML, JSON or CSV, or a list with one a line"""
    samples: int | None
    """answers per prompt (default: as published: 30, 3 or 50)"""
    seed: int
    """seed of the answers (default: 1)"""
    temperature: Literal["server"] | float | None
    """more than 0; server: the served model's own, which is another sampling (default: as the audit
    was published)"""
    top_p: Literal["server"] | float | None
    """largest cumulative probability to draw from; server: as for the temperature (default: as the
    audit was published)"""
    top_k: Literal["server"] | int | None
    """0: the whole vocabulary; server: the endpoint's own top-k, min-p and penalties (default: as
    the audit was published)"""
    max_new_tokens: int | None
    """most tokens of an answer (default: as the audit was published)"""
    thinking: Literal["off", "low", "medium", "high"] | int | None
    """how much a model may think before it answers: off, low, medium, high, or a number of tokens
    besides those of the answer; another sampling (default: the model's own, within the tokens of
    the answer)"""
    extra_body: str | None
    """extra fields for each request to an endpoint, as JSON or TOML; part of the sampling"""
    until_decided: bool
    """end an answer once its label cannot change any more"""
    exact: bool
    """compute the probabilities of the two labels, or of the offered letters, instead of
    sampling"""
    no_default_system: bool
    """empty the system turn that the model's chat template adds; counts as another model"""
    dtype: Literal["float32", "bfloat16", "float16", "int8", "nf4"] | None
    """of a local model: float32, bfloat16, float16, int8, nf4 (default: float32, on a GPU
    bfloat16)"""
    device: str | None
    """of a local model: cpu, cuda, cuda:1, …, or all: one model over all GPUs, where one does not
    hold it (default: $WORKBENCH_DEVICE, else the first GPU, else the CPU)"""
    serve: Literal["vllm"] | None
    """start a server for the model here and ask that: vllm, from an environment of its own
    ($WORKBENCH_VLLM); the same as the model vllm:NAME"""
    cluster: str | None
    """answer on a Ray cluster: local (this machine's GPUs), auto, or an address"""
    chat_format: str | None
    """chat template of another model, or a .jinja file: for base models, which have no chat
    template"""
    until_settled: bool
    """stop asking a prompt once no further answer can change its verdict: the same verdicts, fewer
    answers"""
    conditions: str | Sequence[str] | None
    """qm, zero-shot, random, permuted, reduced, all, or single ones of these (default: qm)"""
    respondents: int | None
    """number of respondents to draw (default: all)"""
    every: int | None
    """one respondent in N for wordings other than the original (default: 10)"""
    context_questions: int | None
    """the first N context questions (default: all)"""
    tries: int | None
    """answers without an offered letter are drawn again, at most N x samples per prompt in all
    (default: 20)"""
    bias: str | Sequence[str] | None
    """only questions of these biases: odd_even, … (default: all)"""


class SampleOptions(TypedDict, total=False):
    """Options of `workbench sample`."""

    codebook: Literal["stance", "side"]
    """stance of answers, side of statements (default: stance)"""
    per_stratum: int
    """of prefix x wording x model; test: on average (default: 4)"""
    labels: int | None
    """people per item (default: 2 for test and check, otherwise 1)"""
    overlap: float
    """share of items with K people; above 1: their number per stratum (default: 1)"""
    held_out: float
    """test: share of statements kept from training sets"""
    limit: int | None
    """items in all, at random (default: all)"""
    attention: int
    """items with a known label, for everybody"""
    seed: int
    """seed of the draw of items (default: 1)"""
    instrument: str | None
    """its name (default: all)"""
    model: str | Sequence[str] | None
    """one or more, separated by commas (default: all models that answered)"""


class StartInstrumentOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    language: str | None
    """language of the wordings (default: the instrument's)"""
    title: str
    """of a new instrument"""
    scheme: str
    """policy issues of a new instrument: smartvote"""


class AddStatementOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    text: str | None
    """- reads it from standard input"""
    question: str | None
    """question that the statement answers"""
    country: str
    """country"""
    topic: str
    """topic"""
    source: str
    """survey or test that it comes from"""
    tags: str
    """tags"""


class EditWordingOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    text: str | None
    """- reads it from standard input"""
    variant: str
    """(default: original)"""


class AddWordingOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    text: str | None
    """- reads it from standard input"""


class DeleteWordingOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""


class SetRelationOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class RenameStatementOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class DeriveStatementOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class TagStatementsOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    refs: str | None
    """of --tag, --untag, --set, --replace, --strip"""


class UntagStatementsOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    refs: str | None
    """of --tag, --untag, --set, --replace, --strip"""


class SetFieldOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    refs: str | None
    """of --tag, --untag, --set, --replace, --strip"""


class ReplaceTextOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    refs: str | None
    """of --tag, --untag, --set, --replace, --strip"""


class StripSpacesOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    refs: str | None
    """of --tag, --untag, --set, --replace, --strip"""


class ArchiveStatementsOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class RestoreStatementsOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class UndoEditOptions(TypedDict, total=False):
    """Options of `workbench statements`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""


class AddQuestionOptions(TypedDict, total=False):
    """Options of `workbench choices`."""

    instrument: str | None
    """its name (default: the only instrument with such questions)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    text: str | None
    """the question, then one option per line, `A. …`: the text itself, a file, or - for standard
    input (default: default: the text of the statement BIAS.K)"""
    changed: str | None
    """its changed form, likewise"""
    topic: str | None
    """what it is about"""
    person: str | None
    """who makes the change (default: $USER)"""


class MakeFormsOptions(TypedDict, total=False):
    """Options of `workbench choices`."""

    instrument: str | None
    """its name (default: the only instrument with such questions)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    questions: str | Sequence[str] | int | None
    """the first N, or these by ref or key (default: all)"""
    replace: bool
    """also replace existing forms that differ"""
    person: str | None
    """who makes the change (default: $USER)"""
    bias: Literal["response_order", "opinion_float", "odd_even"] | None
    """make a separate pair where a question has another bias: response_order, opinion_float,
    odd_even (default: the bias of each question)"""
    middle: str | None
    """odd_even: the middle option of scales of four"""
    dont_know: str | None
    """opinion_float: the option to add"""


class PerturbQuestionsOptions(TypedDict, total=False):
    """Options of `workbench choices`."""

    instrument: str | None
    """its name (default: the only instrument with such questions)"""
    language: str | None
    """language of the wordings (default: the instrument's)"""
    questions: str | Sequence[str] | int | None
    """the first N, or these by ref or key (default: all)"""
    replace: bool
    """also replace existing forms that differ"""
    person: str | None
    """who makes the change (default: $USER)"""
    kinds: str | Sequence[str]
    """kinds of errors (default: key_typo,middle_random,letter_swap)"""
    draws: int
    """of each kind of error (default: 1)"""
    seed: int
    """seed of the typos; the same questions get the same typos (default: 1)"""


class SetScaleOptions(TypedDict, total=False):
    """Options of `workbench questionnaire`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    map: str | Path | Mapping[str, str] | Sequence[str] | None
    """of --scale, may be given again: yes, no, neutral, step (of an order), option (without one) or
    missing"""


class SetQuestionOptions(TypedDict, total=False):
    """Options of `workbench questionnaire`."""

    instrument: str | None
    """its name (default: the only one)"""
    person: str | None
    """who makes the change (default: $USER)"""
    role: Literal["context", "target", "survey", "none"] | None
    """of --question; none removes it, its answers stay: context, target, survey, none"""
    form: Literal["question", "statement"] | None
    """of --question: ask it as a question, or as a statement to agree with"""
    scale_of: str | None
    """of --question: the scale of its answers"""
    yes: Literal["liberal", "conservative", "none"] | None
    """of --question: the leaning of a yes: liberal, conservative, none"""


class DescribePersonOptions(TypedDict, total=False):
    """Options of `workbench people`."""

    set: str | Mapping[str, str] | Sequence[str] | None
    """set a field; may be given again"""
    unset: str | Sequence[str] | None
    """clear a field; may be given again"""
    person: str | None
    """who enters this (default: that person)"""


class SetIssuesOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""


class LabelIssueOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""
    annotator: str | None
    """who labels or decides"""


class AdjudicateIssueOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""
    annotator: str | None
    """who labels or decides"""


class SetGoldMinimumOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""
    annotator: str | None
    """who labels or decides"""


class ImportIssueLabelsOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""


class ExportIssueLabelsOptions(TypedDict, total=False):
    """Options of `workbench issues`."""

    instrument: str | None
    """its name (default: the only one)"""
    gold: bool
    """print the gold labels"""
    whose: Literal["gold", "people"]
    """gold: prefer a source's own labels (default: gold)"""
    fewest: int | None
    """how many people a majority needs, for this figure only (default: as set by --gold-from)"""


class ImportSurveyAnswersOptions(TypedDict, total=False):
    """Options of `workbench survey`."""

    instrument: str | None
    """its name (default: the only one)"""


class ExportSurveyAnswersOptions(TypedDict, total=False):
    """Options of `workbench survey`."""

    instrument: str | None
    """its name (default: the only one)"""


class ResumeJobOptions(TypedDict, total=False):
    """Options of `workbench jobs`."""

    yes: bool
    """resume, retry: continue a job created elsewhere without asking; delete: do not ask"""


class RetryJobOptions(TypedDict, total=False):
    """Options of `workbench jobs`."""

    yes: bool
    """resume, retry: continue a job created elsewhere without asking; delete: do not ask"""


class ExportLabelsOptions(TypedDict, total=False):
    """Options of `workbench labels`."""

    queue: str | None
    """only this queue (default: all)"""
    layout: Literal["label-studio", "prodigy", "doccano", "potato"] | None
    """export: labels as another tool has them: label-studio, prodigy, doccano, potato (default: our
    own)"""


class ImportLabelsOptions(TypedDict, total=False):
    """Options of `workbench labels`."""

    queue: str | None
    """only this queue (default: all)"""
    into: str | None
    """import: make this queue for items that are in no queue"""
    purpose: Literal["training", "test", "check"]
    """purpose of that queue (default: training)"""
    partial: bool
    """skip events about texts that this store lacks"""
    codebook: str
    """for rows of a file without a queue (default: stance)"""


class MergeLabelsOptions(TypedDict, total=False):
    """Options of `workbench labels`."""

    queue: str | None
    """only this queue (default: all)"""
    into: str | None
    """import: make this queue for items that are in no queue"""
    purpose: Literal["training", "test", "check"]
    """purpose of that queue (default: training)"""
    partial: bool
    """skip events about texts that this store lacks"""


class AdjudicateOptions(TypedDict, total=False):
    """Options of `workbench adjudicate`."""

    queue: str | None
    """only this queue (default: all)"""
    codebook: Literal["stance", "side"]
    """(default: stance)"""
    label: str | None
    """label"""
    reason: Literal["slip", "ambiguous", "guideline", "context", "hedged", "other"]
    """slip, ambiguous, guideline, context, hedged, other (default: other)"""
    note: str
    """note"""
    annotator: str | None
    """who decides"""


class ExportCodebookOptions(TypedDict, total=False):
    """Options of `workbench codebook`."""

    codebook: Literal["stance", "side"]
    """stance of answers, side of statements (default: stance)"""


class ChangeCodebookOptions(TypedDict, total=False):
    """Options of `workbench codebook`."""

    codebook: Literal["stance", "side"]
    """stance of answers, side of statements (default: stance)"""
    annotator: str | None
    """who changes it"""
    note: str
    """why"""


class RestoreCodebookOptions(TypedDict, total=False):
    """Options of `workbench codebook`."""

    codebook: Literal["stance", "side"]
    """stance of answers, side of statements (default: stance)"""
    annotator: str | None
    """who changes it"""
    note: str
    """why"""


class DrawControlSampleOptions(TypedDict, total=False):
    """Options of `workbench review`."""

    audit: str
    """which audit: reliability, bias_score, statement_labels, questionnaire, response_bias,
    contamination, representation (default: reliability)"""
    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    reader: str | None
    """run whose readings are reviewed (default: as in the figures)"""
    as_: str | None
    """your name: items you have reviewed leave the queue, and what others decided on the control
    sample is not shown before your own decisions"""
    seed: int
    """seed of the draw (default: 1)"""


class WithdrawControlSampleOptions(TypedDict, total=False):
    """Options of `workbench review`."""

    audit: str
    """which audit: reliability, bias_score, statement_labels, questionnaire, response_bias,
    contamination, representation (default: reliability)"""
    model: str | None
    """its name (default: the only one)"""
    instrument: str | None
    """its name (default: the only one)"""
    sampling: str | None
    """for a model with several samplings: the description, or part of it"""
    dtype: str | None
    """for a model computed in several dtypes: float32, bfloat16, …"""
    snapshot: str | None
    """of a served model: as reported by the endpoint, or unknown; of prompts asked anew: their
    date, or first"""
    fingerprint: str | None
    """of a served model: only answers under this system_fingerprint (none: without one; each: split
    by it)"""
    language: str | Sequence[str] | None
    """language asked in; each has its own result (default: all)"""
    persona: str | Sequence[str] | None
    """that stood before the prompts; none: prompts without one; several or all: a result each,
    where an audit shows several runs at once (default: none)"""
    family: str | Sequence[str] | None
    """of templates; each family has its own result (default: the most recently asked)"""
    template_version: str | Mapping[str, str] | Sequence[str] | None
    """version of edited templates (default: the current version if asked, else the most recently
    asked)"""
    reader: str | None
    """run whose readings are reviewed (default: as in the figures)"""


class RuleOptions(TypedDict, total=False):
    """Options of `workbench rule`."""

    reading: str | None
    """misread: the right reading; agree, disagree, B, unreadable, …"""
    reader: str | None
    """misread: reader of the figures, whose reading cannot be the right one (default: the usual
    one)"""
    instrument: str | None
    """its name (default: the only one)"""
    model: str | None
    """model whose answers you looked at: a ruling on an answer, and that you reviewed a statement,
    applies to it alone. @ and the first digits of its key name it, too (default: the only one that
    gave the answer, or was asked the statement)"""
    all_models: bool
    """such a ruling applies to every model. Faults and exclusions of statements, wordings and
    prompts always do"""


class UndoRulingOptions(TypedDict, total=False):
    """Options of `workbench rulings`."""

    as_: str | None
    """your name, needed by --undo; what others ruled on drawn answers that you have yet to decide
    is not printed"""
    reason: str
    """undo: why; needed for another auditor's ruling"""


class Typed(ABC):
    """What a store says of an audit, with the options of each audit."""

    @abstractmethod
    def _result(
        self, audit: str, options: Mapping[str, Any], runs: Sequence[str] | None = None
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["reliability"] = ..., **options: Unpack[ReliabilityFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["consistency"], **options: Unpack[ConsistencyFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["bias_score"], **options: Unpack[BiasScoreFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["statement_labels"], **options: Unpack[StatementLabelsFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["questionnaire"], **options: Unpack[QuestionnaireFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["response_bias"], **options: Unpack[ResponseBiasFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["contamination"], **options: Unpack[ContaminationFigures]
    ) -> Result: ...

    @overload
    def results(
        self, audit: Literal["representation"], **options: Unpack[RepresentationFigures]
    ) -> Result: ...

    @overload
    def results(self, audit: str, **options: Unpack[CommonFigures]) -> Result: ...

    def results(self, audit: str = "reliability", **options: Any) -> Result:
        """Return an audit's result: the figures that `--json` prints.

        Options are those of the audit's command, by their names: `model="smollm2"`,
        `sampling="T 1"`, `resamples=500`. Those of an audit of another package are a
        `dict[str, Any]`: `**options`.

        Raises UnknownName for an unknown audit or model, AmbiguousRun if several runs match,
        FieldError for an invalid value of an option.
        """
        return self._result(audit, options)

    @overload
    def compare(
        self, *runs: str, audit: Literal["reliability"] = ..., **options: Unpack[ReliabilityFigures]
    ) -> Result: ...

    @overload
    def compare(
        self, *runs: str, audit: Literal["consistency"], **options: Unpack[ConsistencyFigures]
    ) -> Result: ...

    @overload
    def compare(
        self, *runs: str, audit: Literal["bias_score"], **options: Unpack[BiasScoreFigures]
    ) -> Result: ...

    @overload
    def compare(
        self, *runs: str, audit: Literal["questionnaire"], **options: Unpack[QuestionnaireFigures]
    ) -> Result: ...

    @overload
    def compare(
        self, *runs: str, audit: Literal["response_bias"], **options: Unpack[ResponseBiasFigures]
    ) -> Result: ...

    @overload
    def compare(self, *runs: str, audit: str, **options: Unpack[CommonFigures]) -> Result: ...

    def compare(self, *runs: str, audit: str = "reliability", **options: Any) -> Result:
        """Return the differences between two or more runs, with tests: those of `--compare`.

        Parameters
        ----------
        runs : names of runs, or of models that were asked in one way alone
        audit : whose figures are compared
        options : those of the audit's command

        Raises UsageError for fewer than two runs, UnknownName and AmbiguousRun for a name that
        means none or several.
        """
        return self._result(audit, options, runs)

    @abstractmethod
    def _carry_out(
        self, kind: str, options: Mapping[str, Any], *, quiet: bool
    ) -> Finished: ...

    @abstractmethod
    def _do(self, verb: str, options: Mapping[str, Any]) -> Finished: ...

    def train(
        self, *, quiet: bool = True, **options: Unpack[TrainOptions]
    ) -> Finished:
        """Fine-tune a stance classifier on labels, and test it on others.

        A worker process does it; this waits for its end. Options are those of
        `workbench train`, by their names. `quiet`: print no progress.

        Raises ReadOnlyStore for a store opened for reading, UsageError if there is nothing to
        work on, JobError if the job did not finish.
        """
        return self._carry_out("train", options, quiet=quiet)

    def classify(
        self, *, quiet: bool = True, **options: Unpack[ClassifyOptions]
    ) -> Finished:
        """Let a classifier read the answers that it has not read.

        A worker process does it; this waits for its end. Options are those of
        `workbench classify`, by their names. `quiet`: print no progress.

        Raises ReadOnlyStore for a store opened for reading, UsageError if there is nothing to
        work on, JobError if the job did not finish.
        """
        return self._carry_out("classify", options, quiet=quiet)

    def draft(
        self, *, quiet: bool = True, **options: Unpack[DraftOptions]
    ) -> Finished:
        """Draft wordings of statements. A person decides on each draft.

        A worker process does it; this waits for its end. Options are those of
        `workbench draft`, by their names. `quiet`: print no progress.

        Raises ReadOnlyStore for a store opened for reading, UsageError if there is nothing to
        work on, JobError if the job did not finish.
        """
        return self._carry_out("draft", options, quiet=quiet)

    def check(
        self, *, quiet: bool = True, **options: Unpack[CheckOptions]
    ) -> Finished:
        """Compute similarities and entailments of wordings.

        A worker process does it; this waits for its end. Options are those of
        `workbench check`, by their names. `quiet`: print no progress.

        Raises ReadOnlyStore for a store opened for reading, UsageError if there is nothing to
        work on, JobError if the job did not finish.
        """
        return self._carry_out("check", options, quiet=quiet)

    def report(
        self,
        folder: str | Path,
        **options: Unpack[ReportOptions],
    ) -> Finished:
        """Write a report on the results of a store: all of its files, or none.

        Options are those of `workbench report`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "folder": folder}
        return self._do("report", values)

    def prompts(
        self,
        folder: str | Path,
        **options: Unpack[PromptsOptions],
    ) -> Finished:
        """Write a design's prompts for another program, to be answered there and imported.

        Options are those of `workbench prompts`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "folder": folder}
        return self._do("prompts", values)

    def sample(
        self,
        *,
        name: str,
        purpose: Literal["training", "test", "check"],
        **options: Unpack[SampleOptions],
    ) -> Finished:
        """Draw a queue of answers or statements for people to label.

        Options are those of `workbench sample`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "name": name, "purpose": purpose}
        return self._do("sample", values)

    def start_instrument(
        self,
        new_instrument: str,
        **options: Unpack[StartInstrumentOptions],
    ) -> Finished:
        """Make an instrument without statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "new_instrument": new_instrument}
        return self._do("start_instrument", values)

    def add_statement(
        self,
        add: str,
        **options: Unpack[AddStatementOptions],
    ) -> Finished:
        """Add a statement.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "add": add}
        return self._do("add_statement", values)

    def edit_wording(
        self,
        edit: str,
        **options: Unpack[EditWordingOptions],
    ) -> Finished:
        """Change the text of a wording.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "edit": edit}
        return self._do("edit_wording", values)

    def add_wording(
        self,
        add_variant: str | Sequence[str],
        **options: Unpack[AddWordingOptions],
    ) -> Finished:
        """Add a variant of a statement, or a translation.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "add_variant": add_variant}
        return self._do("add_wording", values)

    def delete_wording(
        self,
        delete_variant: str | Sequence[str],
        **options: Unpack[DeleteWordingOptions],
    ) -> Finished:
        """Delete a variant of a statement in one language.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "delete_variant": delete_variant}
        return self._do("delete_wording", values)

    def set_relation(
        self,
        relation: str | Sequence[str],
        **options: Unpack[SetRelationOptions],
    ) -> Finished:
        """Set which relation a variant is expected to have to its original.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "relation": relation}
        return self._do("set_relation", values)

    def rename_statement(
        self,
        rename: str | Sequence[str],
        **options: Unpack[RenameStatementOptions],
    ) -> Finished:
        """Give a statement another ref.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "rename": rename}
        return self._do("rename_statement", values)

    def derive_statement(
        self,
        derive: str | Sequence[str],
        **options: Unpack[DeriveStatementOptions],
    ) -> Finished:
        """Set which statement another one derives from.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "derive": derive}
        return self._do("derive_statement", values)

    def tag_statements(
        self,
        tag: str,
        **options: Unpack[TagStatementsOptions],
    ) -> Finished:
        """Tag statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "tag": tag}
        return self._do("tag_statements", values)

    def untag_statements(
        self,
        untag: str,
        **options: Unpack[UntagStatementsOptions],
    ) -> Finished:
        """Take a tag off statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "untag": untag}
        return self._do("untag_statements", values)

    def set_field(
        self,
        set: str | Mapping[str, str],  # noqa: A002  the option's name
        **options: Unpack[SetFieldOptions],
    ) -> Finished:
        """Set a field of statements: topic, country, source, dimension or leaning.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "set": set}
        return self._do("set_field", values)

    def replace_text(
        self,
        replace: str | Sequence[str],
        **options: Unpack[ReplaceTextOptions],
    ) -> Finished:
        """Replace a text in all wordings of statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "replace": replace}
        return self._do("replace_text", values)

    def strip_spaces(
        self,
        **options: Unpack[StripSpacesOptions],
    ) -> Finished:
        """Strip stray spaces from the wordings of statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "strip": True}
        return self._do("strip_spaces", values)

    def archive_statements(
        self,
        archive: str,
        **options: Unpack[ArchiveStatementsOptions],
    ) -> Finished:
        """Archive statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "archive": archive}
        return self._do("archive_statements", values)

    def restore_statements(
        self,
        restore: str,
        **options: Unpack[RestoreStatementsOptions],
    ) -> Finished:
        """Restore archived statements.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "restore": restore}
        return self._do("restore_statements", values)

    def undo_edit(
        self,
        **options: Unpack[UndoEditOptions],
    ) -> Finished:
        """Undo the newest change of statements that a person made.

        Options are those of `workbench statements`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "undo": True}
        return self._do("undo_edit", values)

    def add_question(
        self,
        *,
        bias: Literal["acquiescence", "allow_forbid", "response_order", "opinion_float",
            "odd_even"],
        key: str,
        **options: Unpack[AddQuestionOptions],
    ) -> Finished:
        """Write a multiple-choice question, or give an existing one a bias.

        Options are those of `workbench choices`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "bias": bias, "key": key}
        return self._do("add_question", values)

    def make_forms(
        self,
        **options: Unpack[MakeFormsOptions],
    ) -> Finished:
        """Make the changed forms that the biases of questions need.

        Options are those of `workbench choices`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options}
        return self._do("make_forms", values)

    def perturb_questions(
        self,
        **options: Unpack[PerturbQuestionsOptions],
    ) -> Finished:
        """Make versions of questions with typos.

        Options are those of `workbench choices`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options}
        return self._do("perturb_questions", values)

    def set_scale(
        self,
        scale: str,
        **options: Unpack[SetScaleOptions],
    ) -> Finished:
        """Set what the answers of a scale mean. Answers and asked prompts stay.

        Options are those of `workbench questionnaire`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "scale": scale}
        return self._do("set_scale", values)

    def set_question(
        self,
        question: str,
        **options: Unpack[SetQuestionOptions],
    ) -> Finished:
        """Set what a question is, or turn a statement into a question.

        Options are those of `workbench questionnaire`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "question": question}
        return self._do("set_question", values)

    def describe_person(
        self,
        describe: str,
        **options: Unpack[DescribePersonOptions],
    ) -> Finished:
        """Set or clear fields of the description of an annotator or respondent.

        Options are those of `workbench people`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "describe": describe}
        return self._do("describe_person", values)

    def set_issues(
        self,
        scheme: str,
        **options: Unpack[SetIssuesOptions],
    ) -> Finished:
        """Set the policy issues of an instrument. All labels are kept.

        Options are those of `workbench issues`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "scheme": scheme}
        return self._do("set_issues", values)

    def label_issue(
        self,
        label: str | Sequence[str],
        **options: Unpack[LabelIssueOptions],
    ) -> Finished:
        """Label how a statement is related to a policy issue.

        Options are those of `workbench issues`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "label": label}
        return self._do("label_issue", values)

    def adjudicate_issue(
        self,
        adjudicate: str | Sequence[str],
        **options: Unpack[AdjudicateIssueOptions],
    ) -> Finished:
        """Decide a disagreement of people about a statement and a policy issue.

        Options are those of `workbench issues`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "adjudicate": adjudicate}
        return self._do("adjudicate_issue", values)

    def set_gold_minimum(
        self,
        gold_from: int,
        **options: Unpack[SetGoldMinimumOptions],
    ) -> Finished:
        """Set how many people's labels make a gold label from now on, in every figure.

        Options are those of `workbench issues`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "gold_from": gold_from}
        return self._do("set_gold_minimum", values)

    def import_issue_labels(
        self,
        import_: str | Path,
        **options: Unpack[ImportIssueLabelsOptions],
    ) -> Finished:
        """Add labels of policy issues from a file.

        Options are those of `workbench issues`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "import_": import_}
        return self._do("import_issue_labels", values)

    def export_issue_labels(
        self,
        export: str | Path,
        **options: Unpack[ExportIssueLabelsOptions],
    ) -> Finished:
        """Write the labels of policy issues to a file.

        Options are those of `workbench issues`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "export": export}
        return self._do("export_issue_labels", values)

    def import_survey_answers(
        self,
        import_: str | Path,
        **options: Unpack[ImportSurveyAnswersOptions],
    ) -> Finished:
        """Add people's answers to wordings from a file.

        Options are those of `workbench survey`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "import_": import_}
        return self._do("import_survey_answers", values)

    def export_survey_answers(
        self,
        export: str | Path,
        **options: Unpack[ExportSurveyAnswersOptions],
    ) -> Finished:
        """Write people's answers to the current wordings to a file.

        Options are those of `workbench survey`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "export": export}
        return self._do("export_survey_answers", values)

    def pause_job(
        self,
        job: int | None = None,
    ) -> Finished:
        """Let a job store its current work and wait. Its worker and model stay ready for a while.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job}
        return self._do("pause_job", values)

    def resume_job(
        self,
        job: int | None = None,
        **options: Unpack[ResumeJobOptions],
    ) -> Finished:
        """Continue a paused, cancelled, failed or lost job, or start one that waits for its turn.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "job": job}
        return self._do("resume_job", values)

    def cancel_job(
        self,
        job: int | None = None,
    ) -> Finished:
        """Let a job store its current work and end. A second time ends a stuck worker at once.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job}
        return self._do("cancel_job", values)

    def retry_job(
        self,
        job: int | None = None,
        **options: Unpack[RetryJobOptions],
    ) -> Finished:
        """Let a job retry only what failed.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "job": job}
        return self._do("retry_job", values)

    def set_concurrency(
        self,
        job: int | None = None,
        most: int | None = None,
    ) -> Finished:
        """Set how many calls to a served model, or rows of a batch, a job runs at once.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job, "most": most}
        return self._do("set_concurrency", values)

    def hide_job(
        self,
        job: int | None = None,
    ) -> Finished:
        """Hide a finished job from lists.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job}
        return self._do("hide_job", values)

    def unhide_job(
        self,
        job: int | None = None,
    ) -> Finished:
        """List a hidden job again.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job}
        return self._do("unhide_job", values)

    def delete_job(
        self,
        job: int | None = None,
    ) -> Finished:
        """Delete a job that has stored nothing.

        Options are those of `workbench jobs`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"job": job}
        return self._do("delete_job", values)

    def export_labels(
        self,
        export: str | Path,
        **options: Unpack[ExportLabelsOptions],
    ) -> Finished:
        """Write every label event to a file.

        Options are those of `workbench labels`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "export": export}
        return self._do("export_labels", values)

    def import_labels(
        self,
        import_: str | Path,
        **options: Unpack[ImportLabelsOptions],
    ) -> Finished:
        """Add the label events of a file that the store lacks.

        Options are those of `workbench labels`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "import_": import_}
        return self._do("import_labels", values)

    def merge_labels(
        self,
        merge: str | Path,
        **options: Unpack[MergeLabelsOptions],
    ) -> Finished:
        """Add the label events of another store, with its queues, rulings, people, control samples.

        Options are those of `workbench labels`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "merge": merge}
        return self._do("merge_labels", values)

    def adjudicate(
        self,
        item: int,
        **options: Unpack[AdjudicateOptions],
    ) -> Finished:
        """Decide an item that people disagree on.

        Options are those of `workbench adjudicate`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "item": item}
        return self._do("adjudicate", values)

    def export_codebook(
        self,
        export: str | Path,
        **options: Unpack[ExportCodebookOptions],
    ) -> Finished:
        """Write a codebook to a file, which can be changed and read again.

        Options are those of `workbench codebook`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {**options, "export": export}
        return self._do("export_codebook", values)

    def change_codebook(
        self,
        change: str | Path,
        **options: Unpack[ChangeCodebookOptions],
    ) -> Finished:
        """Let the codebook of a file count from now on. Labels keep their version.

        Options are those of `workbench codebook`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "change": change}
        return self._do("change_codebook", values)

    def restore_codebook(
        self,
        restore: int,
        **options: Unpack[RestoreCodebookOptions],
    ) -> Finished:
        """Let an earlier version of a codebook count again.

        Options are those of `workbench codebook`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "restore": restore}
        return self._do("restore_codebook", values)

    def draw_control_sample(
        self,
        draw: int,
        **options: Unpack[DrawControlSampleOptions],
    ) -> Finished:
        """Draw answers at random, for auditors to decide whether they were read rightly.

        Options are those of `workbench review`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "draw": draw}
        return self._do("draw_control_sample", values)

    def withdraw_control_sample(
        self,
        **options: Unpack[WithdrawControlSampleOptions],
    ) -> Finished:
        """Withdraw the newest draw of answers, if nobody ever decided on an answer of it.

        Options are those of `workbench review`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "undraw": True}
        return self._do("withdraw_control_sample", values)

    def rule(
        self,
        subject: str | Sequence[str],
        verdict: Literal["confirmed", "look-again", "excluded", "reviewed", "misread",
            "wording-at-fault", "template-at-fault"],
        *,
        reason: str,
        as_: str,
        **options: Unpack[RuleOptions],
    ) -> Finished:
        """Store a ruling on each subject: all of them, or none if one makes no sense.

        Options are those of `workbench rule`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "subject": subject, "verdict": verdict, "reason": reason, "as_": as_}
        return self._do("rule", values)

    def undo_ruling(
        self,
        undo: str,
        **options: Unpack[UndoRulingOptions],
    ) -> Finished:
        """Undo a ruling.

        Options are those of `workbench rulings`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {**options, "undo": undo}
        return self._do("undo_ruling", values)

    def export_rulings(
        self,
        export: str | Path,
    ) -> Finished:
        """Write every event of the rulings to a file.

        Options are those of `workbench rulings`, by their names.

        Raises WorkbenchError for what cannot be done.
        """
        values = {"export": export}
        return self._do("export_rulings", values)

    def import_rulings(
        self,
        import_: str | Path,
    ) -> Finished:
        """Add the events of a file of rulings that the store lacks.

        Options are those of `workbench rulings`, by their names.

        Raises ReadOnlyStore for a store opened for reading, WorkbenchError for what cannot be done.
        """
        values = {"import_": import_}
        return self._do("import_rulings", values)
