"""Jobs as cells and text, each kind in its own words. No widgets, no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench import registry
from workbench.domain.courses import bins, means
from workbench.domain.designs import TRIES
from workbench.domain.job_kinds import CHECK, CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.domain.names import in_words, plural, speed
from workbench.domain.responses import EXACT, Sampling
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.tui.format import bar, human_duration, job_mark, literal, percent, sparkline
from workbench.tui.widgets.record_table import Record

if TYPE_CHECKING:
    from stores.jobs.job_rows import Job

NEXT_TOKEN = "p(yes) and p(no) of the next token"
LETTERS = "probabilities of the letters as the next token"


def design_text(job: Job) -> str:
    """Return the lines that describe the design of a job."""
    spec = job.spec
    parts = [
        f"{spec.get('audit', '')} of {spec.get('model', '')} on {spec.get('instrument', '')}",
        *asked_about(job),
        "" if job.exact else _samples(job),
        _read(job),
        f"seed {spec.get('seed', '?')}",
        str(spec.get("dtype") or ""),
        f"cluster {spec['cluster']}" if spec.get("cluster") else "",
        f"chat format {spec['chat_format']}" if spec.get("chat_format") else "",
    ]
    return " · ".join(part for part in parts if part)


def asked_about(job: Job) -> list[str]:
    """Return short texts on the prompts, as far as audit and instrument do not tell."""
    audit = registry.of_design(job.spec)
    return audit.said(job.spec) if audit is not None else []


def _until_valid(job: Job) -> bool:
    """Return whether answers are sampled until they are valid."""
    audit = registry.of_design(job.spec)
    return audit is not None and audit.defaults.until_valid


def _samples(job: Job) -> str:
    n_wanted = job.spec.get("samples", "?")
    if not _until_valid(job):
        return f"{n_wanted} samples per prompt"
    maximum = int(str(n_wanted)) * int(str(job.spec.get("tries", TRIES)))
    return f"at least {n_wanted} valid samples per prompt, at most {maximum:,} drawn"


def _read(job: Job) -> str:
    """Return the measurement of a job: its way of sampling, or a kind of probabilities."""
    audit = registry.of_design(job.spec)
    if job.exact and audit is not None and audit.defaults.exact_by == "next tokens":
        return LETTERS if audit.defaults.drawn else NEXT_TOKEN
    return _drawn(job.spec.get("sampling"))


def _drawn(sampling: object) -> str:
    if not isinstance(sampling, dict):
        return ""
    if sampling.get("mode") == EXACT:
        return str(Sampling(**sampling))
    return Sampling(**sampling).manner


def valid_answers(job: Job) -> list[str]:
    """Return texts on valid and invalid answers, of a job that samples invalid ones again."""
    if not _until_valid(job) or job.exact:
        return []
    progress = job.progress
    n_again, n_over = progress.get("invalid", 0), progress.get("over", 0)
    n_not_offered = n_again - progress.get("truncated", 0)
    parts = [
        f"{job.done:,} valid answers of {job.total:,}"
        + (f" and {n_over:,.0f} beyond the minimum" if n_over else ""),
        f"drawn again {n_again:,.0f} "
        f"({percent(n_not_offered, progress.get('answers', 0), 1)} were no offered letter)",
        _short(round(progress.get("short", 0))),
    ]
    return [part for part in parts if part]


def _short(prompts: int) -> str:
    """Return a text on prompts with too few valid answers, or an empty string without any."""
    return (
        f"{plural(prompts, 'prompt')} {'has' if prompts == 1 else 'have'} too few after all tries"
        if prompts
        else ""
    )


UNREADABLE, UNDRAWN = "unreadable", "undrawn"
"questions of a waiting job, as in `stores.jobs.job_rows`"
DONE = 13
"columns of the number of done units"

_HINTS: Mapping[str, Mapping[str, str]] = {
    SAMPLE: {
        "lost": "its worker is gone; everything it committed is stored. R does the rest",
        "failed": "R asks for everything missing, e changes the settings; l shows the log",
        "cancelled": "R asks for the rest",
    },
    TRAIN: {
        "lost": "its worker is gone. R resumes from the last checkpoint",
        "failed": "R resumes from the last checkpoint; l shows the log",
        "cancelled": "R resumes from the last checkpoint",
        "done": "n, then c: classify the free-text answers",
    },
    CLASSIFY: {
        "lost": "its worker is gone; everything it read is stored. R reads the rest",
        "failed": "what was read is stored. R reads the rest; l shows the log",
        "cancelled": "R reads the rest",
    },
    CHECK: {
        "lost": "its worker is gone; everything it computed is stored. R computes the rest",
        "failed": "what was computed is stored. R computes the rest; l shows the log",
        "cancelled": "R computes the rest",
        "done": "2, then f shows the findings",
    },
    DRAFT: {
        "lost": "its worker is gone; the drafts so far are stored. R asks for the rest",
        "failed": "R asks for everything missing; l shows the log",
        "cancelled": "R asks for the rest; the stored drafts are pending",
        "running": "2, then P reviews the first drafts while the others are asked",
        "done": "2, then P reviews the drafts",
    },
}


_DECISIONS = {
    (
        "probed",
        False,
    ): "Enter shows the answers of its probe · R continues · e changes the settings · S stops it",
    (
        "probed",
        True,
    ): "R continues anyway · e changes the settings · S stops it · Enter shows the answers of "
    "its probe",
    ("", True): "R continues anyway · e changes the settings · S stops it",
    ("", False): "R continues · e changes the settings · S stops it",
}


def kind_word(job: Job) -> str:
    """Return the kind of a job in one word, such as `ask` or `train`."""
    if job.kind != SAMPLE:
        return job.kind
    return "ask anew" if job.spec.get("occasion") else "ask"


def subject(job: Job) -> str:
    """Return a short text on a job: the model it asks or trains, or the reader."""
    spec = job.spec
    if job.kind == TRAIN:
        return f"{spec.get('name', '')} · {_config(job).get('base', '')}"
    if job.kind == CLASSIFY:
        return f"{spec.get('classifier', '')} · {spec.get('audit', '')}"
    if job.kind == DRAFT:
        return f"{spec.get('model', '')} · {_drafted_kinds(job)}"
    if job.kind == CHECK:
        return f"{spec.get('instrument', '')} · {_checkers(job)}"
    names = [str(spec.get("model") or ""), in_words(str(spec.get("audit") or ""))]
    return " · ".join([*filter(None, names), *asked_about(job)]) or job.kind


STOPPING = "stopping"
LOADING = "loading "
"prefix of the message of a job whose model is being loaded"


def counts(done: int, total: int) -> str:
    """Return the counts as `5,400/10,800`, or in thousands, rounded down, if they are too long.

    Examples
    --------
    >>> counts(120_960, 120_961)
    '120k/120k'
    """
    full_text = f"{done:,}/{total:,}"
    return full_text if len(full_text) <= DONE else f"{done // 1000:,}k/{total // 1000:,}k"


def job_record(job: Job) -> Record:
    """Return the row of a job."""
    from workbench.jobs.launch import pace

    progress = pace(job)
    rate = "" if progress.per_second is None else speed(progress.per_second)
    style = "bold" if job.active else ""
    return (
        str(job.id),
        (
            Text(str(job.id), justify="right", style=style),
            literal(kind_word(job), 10, style),
            Text(state_mark(job), style=style),
            literal(subject(job), 80, style),
            Text(bar(job.done, job.total)),
            Text(percent(job.done, job.total), justify="right"),
            Text(counts(job.done, job.total), justify="right"),
            Text(rate, justify="right"),
            Text(human_duration(progress.eta_seconds), justify="right"),
        ),
    )


def is_timed(job: Job) -> bool:
    """Return whether a job has a known rate."""
    from workbench.jobs.launch import pace

    return pace(job).per_second is not None


def state_mark(job: Job) -> str:
    """Return the state of a job with its mark, or `? asks you` if a person has to decide."""
    if job.question:
        return "? asks you"
    if job.waits_for_batch and not job.stopping and not job.pausing:
        return "⧗ at batch"
    return job_mark(job.state, stopping=job.stopping, pausing=job.pausing)


def job_details(job: Job, *, begun: bool = False) -> Content:
    """Return the details of a job.

    `begun`: its worker was just started, and may not have taken it yet.
    """
    describe_design, describe_progress = {
        TRAIN: (_training, _trained),
        CLASSIFY: (_classifying, _classified),
        CHECK: (_checking, _checked),
        DRAFT: (_drafting, _drafted),
    }.get(job.kind, (design_text, _sampled))
    title = visible(f"{kind_word(job)} · {describe_design(job)}")
    lines = [
        Content.assemble((f"Job {job.id} ", "bold"), title),
        Content(visible(describe_progress(job), lines=True)),
        *[Content(line) for line in course_lines(job)],
        Content(visible(_times(job))),
        *_failures(job),
        *_machines(job),
        *_endpoint(job),
        *_message(job),
    ]
    if job.batches and not job.active:
        lines.append(Content(BATCH_LEFT))
    if job.probed is not None and not job.question:
        lines.append(Content(visible(job.probed.describe())))
    if job.hidden:
        lines.append(Content.styled("hidden: H unhides it", "$text-muted"))
    if next_step := hint(job, begun=begun):
        lines.append(Content.styled(next_step, "$text-accent"))
    return Content("\n").join(lines)


SPARK_COLUMNS, SPARK_NAME_COLUMNS = 32, 14
"columns of a sparkline and of the name before it; with the figures after it, 78 have room"
SHARE_TOP = 0.1
"least top of a sparkline of shares, so that one of 1 % looks as small as it is"
LEAST_PARTS = 3
"fewer values than these are no course"
NEWEST_SCORES = 5


def course_lines(job: Job) -> list[str]:
    """Return the sparklines of a job: its rate and unreadable answers, or loss and dev scores."""
    if job.kind == TRAIN:
        lines = [_loss_line(job), _dev_line(job)]
    else:
        lines = _rate_lines(job)
    return [line for line in lines if line]


def _rate_lines(job: Job) -> list[str]:
    """Return the answers a second of this attempt, and the share of unreadable ones."""
    parts = bins(job.course, SPARK_COLUMNS)
    if len(parts) < LEAST_PARTS:
        return []
    rates = [growth / length for length, growth, *_ in parts]
    rate_range = f"highest {speed(max(rates))}, last {speed(rates[-1])}"
    lines = [_spark_line(f"{job.unit}/s", rates, max(rates), rate_range)]
    name = _unread_name(job)
    if not name:
        return lines
    shares = [_share(growth, rest) for _, growth, *rest in parts]
    known_shares = [share for share in shares if share is not None]
    if known_shares:
        highest = max(known_shares)
        share_range = f"highest {percent(highest, 1, 1)}, last {percent(known_shares[-1], 1, 1)}"
        lines.append(_spark_line(name, shares, max(SHARE_TOP, highest), share_range))
    return lines


def _unread_name(job: Job) -> str:
    """Return the name of the answers without a label, or an empty string if none are counted."""
    if job.kind != SAMPLE or job.exact:
        return ""
    if _until_valid(job):
        return "drawn again"
    audit = registry.of_design(job.spec)
    return "unreadable" if audit is not None and audit.nature.by_rule else ""


def _share(n_answers: float, counts: Sequence[float]) -> float | None:
    """Return the share of the first of some counts, or None without answers."""
    return counts[0] / n_answers if counts and n_answers > 0 else None


def _loss_line(job: Job) -> str:
    losses = means(job.losses, SPARK_COLUMNS)
    if len(losses) < LEAST_PARTS:
        return ""
    first_loss, last_loss = job.losses[0][1], job.losses[-1][1]
    return _spark_line("loss", losses, max(losses), f"{first_loss:.3f} → {last_loss:.3f}")


def _dev_line(job: Job) -> str:
    """Return the dev macro F1 of each evaluation; the newest ones as numbers."""
    scores = means(job.dev_scores, SPARK_COLUMNS)
    if len(scores) < 2:
        return ""
    newest = [number(point[1], Kind.COEFFICIENT) for point in job.dev_scores[-NEWEST_SCORES:]]
    return _spark_line("dev macro F1", scores, 1.0, " ".join(newest))


def _spark_line(name: str, values: Sequence[float | None], top: float, figures: str) -> str:
    return f"{name:<{SPARK_NAME_COLUMNS}}{sparkline(values, top)}  {figures}"


BATCH_LEFT = (
    "the endpoint has one of its batches: R resumes the job and fetches the batch's answers"
)


def _failures(job: Job) -> list[Content]:
    """Return a line for each reason of failures that the job's message does not name."""
    return [
        Content(visible(f"{count:,} failed: {reason}", lines=True))
        for reason, count in job.reasons
        if reason not in job.message
    ]


def _machines(job: Job) -> list[Content]:
    """Return the GPUs of an active job, and the snapshots of a model if it has several."""
    lines = []
    if job.active:
        lines += [Content(visible(gpu.describe())) for gpu in job.gpus]
    if len(job.snapshots) > 1:
        lines += [Content(visible(snapshot.describe())) for snapshot in job.snapshots]
    return lines


def _endpoint(job: Job) -> list[Content]:
    """Return several fingerprints of a served model, and the options that its server refuses."""
    lines = []
    if len(job.fingerprints) > 1:
        counts = " · ".join(f"{name} {n_answers:,}" for name, n_answers in job.fingerprints)
        lines.append(Content(visible(f"answers by system_fingerprint: {counts}")))
    refused = [f"{name} ({text})" for name, text in job.asked.items() if name != "dialect"]
    if refused:
        lines.append(Content(visible(f"the server refuses {'; '.join(refused)}", lines=True)))
    return lines


def _message(job: Job) -> list[Content]:
    if not job.message:
        return []
    message = f"{STOPPING}: {job.message}" if is_stopping(job) else job.message
    return [Content.assemble(("→ ", "$text-accent"), visible(message, lines=True))]


def hint(job: Job, *, begun: bool = False) -> str:
    """Return the next step after a job's state, or an empty string without one."""
    if job.state == "queued" and not job.worker:
        return "its worker is starting …" if begun else "no worker yet; R starts one"
    if job.state == "queued":
        return "R starts it now, beside the others"
    if job.question:
        return _DECISIONS[
            "" if job.probed is None else "probed", job.question in (UNREADABLE, UNDRAWN)
        ]
    if job.state == "paused":
        return "R continues" if job.worker else "R resumes; the model is loaded again"
    if job.failed_items and job.state == "failed" and not job.retry_helps:
        return "the same request would fail again; l shows the log"
    if job.failed_items and job.retry_helps and job.state in ("failed", "cancelled"):
        return f"y retries what failed, {_HINTS.get(job.kind, _HINTS[SAMPLE])[job.state]}"
    if job.state == "done" and job.kind not in _HINTS.keys() - {SAMPLE}:
        audit = registry.of_design(job.spec)
        return audit.after if audit is not None else ""
    return _HINTS.get(job.kind, _HINTS[SAMPLE]).get(job.state, "")


def stop_question(job: Job) -> str:
    """Return the question before a job is cancelled: what is kept, and how to go on."""
    kept_text = {
        TRAIN: f"The job is at step {job.done:,} of {job.total:,}. The last checkpoint stays, "
        "and R resumes from it.",
        CLASSIFY: f"The readings of {job.done:,} responses stay, and R reads the rest later.",
        DRAFT: f"The drafts from {job.done:,} answered prompts stay, and R asks for the rest "
        "later.",
        CHECK: f"The results for {job.done:,} texts stay, and R computes the rest later.",
    }.get(job.kind, f"The {job.done:,} stored {job.unit} stay, and R asks for the rest later.")
    batch_text = (
        " The endpoint cancels its batch, too; the answers so far are kept." if job.batches else ""
    )
    return f"Stop job {job.id} ({kind_word(job)} {subject(job)})?\n\n{kept_text}{batch_text}"


def is_stopping(job: Job) -> bool:
    """Return whether a job was told to stop, and its worker has not ended yet."""
    return job.stopping and job.state == "running"


def stopping_message(job: Job) -> str:
    """Return when a job stops that was told to."""
    if job.state == "cancelled":
        return f"Job {job.id} is cancelled."
    end_text = (
        "once its model is loaded"
        if job.message.startswith(LOADING)
        else f"after the current {job.unit}"
    )
    return f"Job {job.id} is {STOPPING}: it ends {end_text}."


def steps_at_once(job: Job) -> str:
    """Return the meaning of the number, for the dialog that asks for it."""
    is_served = str(job.spec.get("model", "")).startswith(("openai:", "vllm:"))
    if is_served:
        return "most calls at once; below that the number adapts to the endpoint"
    return "samples in one batch; fewer take less memory; the samples of a prompt stay together"


MORE_TOKENS = "the model spends all its tokens on thinking: {cancel}ask again with more new tokens"


def _sampled(job: Job) -> str:
    """Return the results of this attempt, with shares of its answers and tokens."""
    answers = job.progress.get("answers", 0)
    failed = job.progress.get("failed", 0)
    name = "prompts scored" if job.exact else "answers"
    if not answers and failed:
        return f"no {name} in this attempt · all {failed:,.0f} failed"
    if not answers:
        return f"no {name} yet in this attempt"
    lines = [
        [f"{answers:,.0f} {name} in this attempt", *_pace(job)],
        valid_answers(job),
        [*_shares(job, answers, failed), *_early_endings(job, answers)],
        _advice(job, answers),
        _used(job),
    ]
    return "\n".join(" · ".join(texts) for texts in lines if texts)


def _shares(job: Job, answers: float, failed: float) -> list[str]:
    """Return the shares of answers by outcome, and of prompts that cost nothing."""
    progress = job.progress
    audit = registry.of_design(job.spec)
    is_read_by_rule = audit is not None and audit.nature.by_rule and not job.exact
    outcomes = ("unreadable", "refused") if is_read_by_rule else ()
    shares = [f"{name} {percent(progress.get(name, 0), answers, 1)}" for name in outcomes]
    if n_truncated := progress.get("truncated", 0):
        shares.append(f"cut off in thought {percent(n_truncated, answers, 1)}")
    shares.append(f"failed {percent(failed, answers + failed, 1)}")
    savings = ("shared",) if job.exact else ("shared", "merged")
    shares += [f"{name} {percent(progress.get(name, 0), 1, 0)}" for name in savings]
    return shares


def _early_endings(job: Job, answers: float) -> list[str]:
    """Return the thinking tokens, and the answers that ended or were spared early."""
    progress = job.progress
    texts = []
    if progress.get("tokens_thought"):
        texts.append(f"{progress['tokens_thought']:,.0f} thinking tokens")
    if progress.get("decided"):
        texts.append(f"stopped once decided {percent(progress['decided'], answers, 1)}")
    if progress.get("spared"):
        texts.append(
            f"{progress['settled']:,.0f} prompts settled, which spares {progress['spared']:,.0f} "
            f"of {job.total:,} answers"
        )
    return texts


def _advice(job: Job, answers: float) -> list[str]:
    """Return what to do if at least half of the answers end before the thinking does."""
    if 2 * job.progress.get("truncated", 0) < answers:
        return []
    has_ended = job.state in ("done", "cancelled")
    return [MORE_TOKENS.format(cancel="" if has_ended else "cancel, and ")]


def _used(job: Job) -> list[str]:
    """Return the calls, tokens and cost of a served model, or nothing for a local one."""
    from workbench.jobs.launch import cost_at_end

    progress, final_cost = job.progress, cost_at_end(job)
    if "requests" not in progress:
        return []
    calls = f"{progress['requests']:,.0f} calls"
    tokens = f"{progress.get('tokens_in', 0):,.0f} + {progress.get('tokens_out', 0):,.0f} tokens"
    texts = [_with_limit(calls, progress, "max_requests", ",.0f")]
    if "at_once_most" in progress:
        texts.append(f"at most {progress['at_once_most']:,.0f} at once")
    texts.append(_with_limit(tokens, progress, "max_tokens", ",.0f"))
    if "cost" in progress:
        texts.append(_with_limit(f"cost {progress['cost']:.4g}", progress, "max_cost", ".4g"))
    if final_cost is not None:
        texts.append(f"about {final_cost:.4g} in total")
    return texts


def _with_limit(text: str, progress: Mapping[str, float], limit: str, number_format: str) -> str:
    """Return a text with its limit, if one is set."""
    if limit not in progress:
        return text
    return f"{text} of {progress[limit]:{number_format}} allowed"


def concurrency_note(job: Job) -> str:
    """Return the text on how many units are in progress at once."""
    maximum = job.concurrency
    return "at once: the backend decides" if maximum is None else f"at once: at most {maximum:,}"


def _training(job: Job) -> str:
    config = _config(job)
    parts = [
        f"{job.spec.get('name', '')} on {config.get('base', '')}",
        f"{config.get('steps', '?')} steps of {config.get('batch', '?')} pairs",
        f"seed {config.get('seed', '?')}",
    ]
    return " · ".join(parts)


def _trained(job: Job) -> str:
    """Return the progress of a training. Figures that are missing are omitted."""
    progress = job.progress
    if not progress.get("step"):
        return "no steps yet"
    steps = f"step {progress['step']:,.0f} of {progress.get('steps', job.total):,.0f}"
    first_line = [steps, *_pace(job)]
    if progress.get("seconds"):
        first_line.append(f"{human_duration(progress['seconds'])} in this attempt")
    figures = []
    if "loss" in progress:
        figures.append(f"loss {progress['loss']:.3f}")
    figures.append(_dev_score(job))
    if "lr" in progress:
        figures.append(f"lr {_small(progress['lr'])}")
    return " · ".join(first_line) + "\n" + " · ".join(figures)


def _dev_score(job: Job) -> str:
    """Return the score on the dev set, or why there is none."""
    if "dev_macro_f1" in job.progress:
        return f"dev macro F1 {number(job.progress['dev_macro_f1'], Kind.COEFFICIENT)}"
    if _config(job).get("dev_share"):
        return "no dev macro F1 yet"
    return "no dev set: training keeps the last step"


def _classifying(job: Job) -> str:
    spec = job.spec
    models = spec.get("models")
    models_text = (
        ", ".join(map(str, models)) if isinstance(models, list) and models else "all models"
    )
    instrument = spec.get("instrument") or "all instruments"
    title = registry.audit_title(str(spec.get("audit", "")))
    return f"{spec.get('classifier', '')} reads {title} answers of {models_text} on {instrument}"


def _classified(job: Job) -> str:
    answers = job.progress.get("answers", 0)
    read_text = f"{job.done:,} of {job.total:,} responses read"
    return (
        " · ".join([read_text, f"{answers:,.0f} in this attempt", *_pace(job)])
        if answers
        else read_text
    )


def _checking(job: Job) -> str:
    languages = job.spec.get("languages")
    languages_text = (
        f" in {', '.join(map(str, languages))}" if isinstance(languages, list) and languages else ""
    )
    return f"wordings of {job.spec.get('instrument', '')}{languages_text} by {_checkers(job)}"


def _checkers(job: Job) -> str:
    """Return the names of the models of a check."""
    return " and ".join(str(job.spec[name]) for name in ("encoder", "nli") if job.spec.get(name))


def _checked(job: Job) -> str:
    n_answers = job.progress.get("answers", 0)
    stored_text = f"{job.done:,} of {job.total:,} texts and pairs stored"
    return (
        " · ".join([stored_text, f"{n_answers:,.0f} in this attempt", *_pace(job)])
        if n_answers
        else stored_text
    )


def _drafting(job: Job) -> str:
    spec = job.spec
    statements = spec.get("statements")
    statements_text = (
        f"{len(statements):,} statements"
        if isinstance(statements, list) and statements
        else "all statements"
    )
    return (
        f"{spec.get('model', '')} drafts {_drafted_kinds(job)} for {statements_text} of "
        f"{spec.get('instrument', '')}"
    )


def _drafted_kinds(job: Job) -> str:
    prompts = job.spec.get("prompts")
    kinds = [str(prompt.get("kind", "")) for prompt in prompts] if isinstance(prompts, list) else []
    return ", ".join(kind_name.replace("_", " ") for kind_name in kinds)


def _drafted(job: Job) -> str:
    """Return the numbers of drafts and of unusable lines of this attempt."""
    if not job.progress.get("answers"):
        return f"{job.done:,} of {job.total:,} prompts answered"
    lines = (
        f"{job.progress.get('drafts', 0):,.0f} drafts, "
        f"{job.progress.get('unusable', 0):,.0f} unusable lines"
    )
    return (
        " · ".join([f"{job.done:,} of {job.total:,} prompts answered", *_pace(job)])
        + f"\n{lines} so far"
    )


def _pace(job: Job) -> list[str]:
    """Return the rate of a job and the remaining time, as far as they are known."""
    from workbench.jobs.launch import pace

    progress = pace(job)
    if progress.per_second is None:
        return []
    texts = [f"{speed(progress.per_second)} {job.unit} a second"]
    if progress.eta_seconds is not None:
        texts.append(f"ETA {human_duration(progress.eta_seconds)}")
    return texts


def _config(job: Job) -> Mapping[str, object]:
    config = job.spec.get("config")
    return config if isinstance(config, dict) else {}


def _small(value: float) -> str:
    """Return a small number as `1.2e-4`."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if value else "0"


def _times(job: Job) -> str:
    parts = [f"created {_time(job.created_at)}"]
    if job.finished_at:
        parts.append(f"ended {_time(job.finished_at)}")
    if job.attempts:
        parts.append(f"attempt {job.attempts}")
    if job.concurrency is not None:
        parts.append(concurrency_note(job))
    if job.pid is not None and job.worker and job.state != "queued":
        heartbeat_note = ", no heartbeat from it yet" if job.unsure else ""
        parts.append(f"process {job.pid} on {job.host}{heartbeat_note}")
    return " · ".join(parts)


def _time(stamp: str) -> str:
    """Return a stored time as `2026-11-21 09:30 UTC`."""
    return f"{stamp[:10]} {stamp[11:16]} UTC"
