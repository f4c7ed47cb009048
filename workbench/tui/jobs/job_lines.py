"""Jobs as cells and text, each kind in its own words; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench import registry
from workbench.domain.designs import TRIES
from workbench.domain.names import in_words, plural, speed
from workbench.domain.responses import EXACT, Sampling
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.tui.format import bar, human_duration, job_mark, literal, percent
from workbench.tui.jobs.job_kind_dialog import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.tui.widgets.record_table import Record

if TYPE_CHECKING:
    from stores.jobs.job_rows import Job

NEXT_TOKEN = "p(yes) and p(no) of the next token"
LETTERS = "probabilities of the letters as the next token"


def asking(job: Job) -> str:
    """Return what is asked of which model, and how."""
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
    """Return what a few words say of what is asked, where the audit and the instrument do not say
    it.
    """
    audit = registry.of_design(job.spec)
    return audit.said(job.spec) if audit is not None else []


def _until_valid(job: Job) -> bool:
    """Return whether answers are drawn until they are what was offered."""
    audit = registry.of_design(job.spec)
    return audit is not None and audit.defaults.until_valid


def _samples(job: Job) -> str:
    wanted = job.spec.get("samples", "?")
    if not _until_valid(job):
        return f"{wanted} samples per prompt"
    most = int(str(wanted)) * int(str(job.spec.get("tries", TRIES)))
    return f"at least {wanted} valid samples per prompt, at most {most:,} drawn"


def _read(job: Job) -> str:
    """Return what is read: answers that are drawn in this way, or which probabilities."""
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
    """Return how many answers are letters that were offered, where the others are drawn again."""
    if not _until_valid(job) or job.exact:
        return []
    told = job.progress
    again, over = told.get("invalid", 0), told.get("over", 0)
    strange = again - told.get("truncated", 0)
    parts = [
        f"{job.done:,} valid answers of {job.total:,}"
        + (f" and {over:,.0f} beyond the minimum" if over else ""),
        f"drawn again {again:,.0f} ({percent(strange, told.get('answers', 0), 1)} were no "
        "offered letter)",
        _short(round(told.get("short", 0))),
    ]
    return [part for part in parts if part]


def _short(prompts: int) -> str:
    """Return how many prompts have too few valid answers; nothing where all have enough."""
    return (
        f"{plural(prompts, 'prompt')} {'has' if prompts == 1 else 'have'} too few after all tries"
        if prompts
        else ""
    )


UNREADABLE, UNDRAWN = "unreadable", "undrawn"
"what a job waits to be asked, as `stores.jobs.job_rows` has it"
CHECK = "check"
"the kind of jobs that the checks screen starts; see `workbench.pipeline.checking`"
DONE = 13
"columns for how much of a job is done"
UNITS = {TRAIN: "steps", CLASSIFY: "responses", CHECK: "texts", DRAFT: "prompts"}
"""what a job counts; every other kind counts answers, or prompts where it computes label
probabilities"""

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


def kind(job: Job) -> str:
    """Return what a job does, in a word: of some audits a model is asked and nothing is sampled."""
    return job.kind if job.kind != SAMPLE else "ask anew" if job.spec.get("occasion") else "ask"


def unit(job: Job) -> str:
    """Return what the job counts, in the plural."""
    return UNITS.get(job.kind, "prompts" if job.exact else "answers")


def subject(job: Job) -> str:
    """Return what the job is about, in a few words: whom it asks, what it trains, who reads."""
    spec = job.spec
    if job.kind == TRAIN:
        return f"{spec.get('name', '')} · {_config(job).get('base', '')}"
    if job.kind == CLASSIFY:
        return f"{spec.get('classifier', '')} · {spec.get('audit', '')}"
    if job.kind == DRAFT:
        return f"{spec.get('model', '')} · {_drafted_kinds(job)}"
    if job.kind == CHECK:
        return f"{spec.get('instrument', '')} · {_checkers(job)}"
    named = [str(spec.get("model") or ""), in_words(str(spec.get("audit") or ""))]
    return " · ".join([*filter(None, named), *asked_about(job)]) or job.kind


STOPPING = "stopping"
LOADING = "loading "
"how the message of a job begins whose model is being loaded"


def counts(done: int, total: int) -> str:
    """Return `5,400/10,800`; in thousands, rounded down, where that has no room.

    Examples
    --------
    >>> counts(120_960, 120_961)
    '120k/120k'
    """
    whole = f"{done:,}/{total:,}"
    return whole if len(whole) <= DONE else f"{done // 1000:,}k/{total // 1000:,}k"


def job_record(job: Job) -> Record:
    """Return a job's row."""
    from workbench.jobs.launch import pace

    going = pace(job)
    rate = "" if going.per_second is None else speed(going.per_second)
    style = "bold" if job.active else ""
    return (
        str(job.id),
        (
            Text(str(job.id), justify="right", style=style),
            literal(kind(job), 10, style),
            Text(state_mark(job), style=style),
            literal(subject(job), 80, style),
            Text(bar(job.done, job.total)),
            Text(percent(job.done, job.total), justify="right"),
            Text(counts(job.done, job.total), justify="right"),
            Text(rate, justify="right"),
            Text(human_duration(going.eta_seconds), justify="right"),
        ),
    )


def is_timed(job: Job) -> bool:
    """Return whether a job goes on at a known rate."""
    from workbench.jobs.launch import pace

    return pace(job).per_second is not None


def state_mark(job: Job) -> str:
    """Return a job's state with its mark, `? asks you` where a person has to decide."""
    if job.question:
        return "? asks you"
    if job.waits_for_batch and not job.stopping and not job.pausing:
        return "⧗ at batch"
    return job_mark(job.state, stopping=job.stopping, pausing=job.pausing)


def job_details(job: Job, *, begun: bool = False) -> Content:
    """Return what is known about a job; `begun`: its worker was started a moment ago, and may not
    have it yet.
    """
    what, progress = {
        TRAIN: (_training, _trained),
        CLASSIFY: (_classifying, _classified),
        CHECK: (_checking, _checked),
        DRAFT: (_drafting, _drafted),
    }.get(job.kind, (asking, _sampled))
    parts = [
        Content.assemble((f"Job {job.id} ", "bold"), visible(f"{kind(job)} · {what(job)}")),
        Content(visible(progress(job), lines=True)),
        Content(visible(_times(job))),
    ]
    parts += [
        Content(visible(f"{count:,} failed: {reason}", lines=True))
        for reason, count in job.reasons
        if reason not in job.message
    ]
    parts += [Content(visible(one.describe())) for one in job.gpus if job.active]
    parts += [Content(visible(one.describe())) for one in job.snapshots if len(job.snapshots) > 1]
    if len(job.fingerprints) > 1:
        counts = " · ".join(f"{name} {n:,}" for name, n in job.fingerprints)
        parts.append(Content(visible(f"answers by system_fingerprint: {counts}")))
    refused = {name: said for name, said in job.asked.items() if name != "dialect"}
    if refused:
        said = "; ".join(f"{name} ({words})" for name, words in refused.items())
        parts.append(Content(visible(f"the server refuses {said}", lines=True)))
    if job.message:
        said = f"{STOPPING}: {job.message}" if is_stopping(job) else job.message
        parts.append(Content.assemble(("→ ", "$text-accent"), visible(said, lines=True)))
    if job.batches and not job.active:
        parts.append(
            Content(
                "the endpoint has one of its batches: R resumes the job and fetches the batch's "
                "answers"
            )
        )
    if job.probed is not None and not job.question:
        parts.append(Content(visible(job.probed.describe())))
    if job.hidden:
        parts.append(Content.styled("hidden: H unhides it", "$text-muted"))
    if words := hint(job, begun=begun):
        parts.append(Content.styled(words, "$text-accent"))
    return Content("\n").join(parts)


def hint(job: Job, *, begun: bool = False) -> str:
    """Return what to do next, "" where there is nothing to do."""
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
    """Return what is asked before a job is cancelled: what stays, and how to go on."""
    stays = {
        TRAIN: f"The job is at step {job.done:,} of {job.total:,}. The last checkpoint stays, "
        "and R resumes from it.",
        CLASSIFY: f"The readings of {job.done:,} responses stay, and R reads the rest later.",
        DRAFT: f"The drafts from {job.done:,} answered prompts stay, and R asks for the rest "
        "later.",
        CHECK: f"The results for {job.done:,} texts stay, and R computes the rest later.",
    }.get(job.kind, f"The {job.done:,} stored {unit(job)} stay, and R asks for the rest later.")
    batch = (
        " The endpoint cancels its batch, too; the answers so far are kept." if job.batches else ""
    )
    return f"Stop job {job.id} ({kind(job)} {subject(job)})?\n\n{stays}{batch}"


def is_stopping(job: Job) -> bool:
    """Return whether a job was told to stop, and its worker has not ended yet."""
    return job.stopping and job.state == "running"


def stops(job: Job) -> str:
    """Say when a job stops that was told to."""
    if job.state == "cancelled":
        return f"Job {job.id} is cancelled."
    when = (
        "once its model is loaded"
        if job.message.startswith(LOADING)
        else f"after the current {unit(job)}"
    )
    return f"Job {job.id} is {STOPPING}: it ends {when}."


def steps_at_once(job: Job) -> str:
    """Return what the number bounds, for the person who is asked for it."""
    served = str(job.spec.get("model", "")).startswith(("openai:", "vllm:"))
    if served:
        return "most calls at once; below that the number adapts to the endpoint"
    return "samples in one batch; fewer take less memory; the samples of a prompt stay together"


MORE_TOKENS = "the model spends all its tokens on thinking: {cancel}ask again with more new tokens"


def _sampled(job: Job) -> str:
    """Return what came back in this attempt; the shares are of its answers and tokens."""
    answers, counted = job.progress.get("answers", 0), "prompts scored" if job.exact else "answers"
    failed = job.progress.get("failed", 0)
    if not answers and failed:
        return f"no {counted} in this attempt · all {failed:,.0f} failed"
    if not answers:
        return f"no {counted} yet in this attempt"
    audit = registry.of_design(job.spec)
    by_rule = audit is not None and audit.nature.by_rule and not job.exact
    read = ("unreadable", "refused") if by_rule else ()
    shares = [f"{name} {percent(job.progress.get(name, 0), answers, 1)}" for name in read]
    if cut := job.progress.get("truncated", 0):
        shares.append(f"cut off in thought {percent(cut, answers, 1)}")
    shares.append(f"failed {percent(failed, answers + failed, 1)}")
    saved = ("shared",) if job.exact else ("shared", "merged")
    shares += [f"{name} {percent(job.progress.get(name, 0), 1, 0)}" for name in saved]
    if job.progress.get("tokens_thought"):
        shares.append(f"{job.progress['tokens_thought']:,.0f} thinking tokens")
    if job.progress.get("decided"):
        shares.append(f"stopped once decided {percent(job.progress['decided'], answers, 1)}")
    if job.progress.get("spared"):
        settled = f"{job.progress['settled']:,.0f} prompts settled"
        shares.append(
            f"{settled}, which spares {job.progress['spared']:,.0f} of {job.total:,} answers"
        )
    remedy = MORE_TOKENS.format(cancel="" if job.state in ("done", "cancelled") else "cancel, and ")
    more = [remedy] if 2 * job.progress.get("truncated", 0) >= answers else []
    lines = [
        [f"{answers:,.0f} {counted} in this attempt", *_going(job)],
        valid_answers(job),
        shares,
        more,
        _used(job),
    ]
    return "\n".join(" · ".join(line) for line in lines if line)


def _used(job: Job) -> list[str]:
    """Return what the calls to a served model came to, and may come to; nothing for a model that
    runs here.
    """
    from workbench.jobs.launch import cost_at_end

    told, at_end = job.progress, cost_at_end(job)
    if "requests" not in told:
        return []
    parts = [
        _of(f"{told['requests']:,.0f} calls", told, "max_requests", ",.0f"),
        f"at most {told['at_once_most']:,.0f} at once" if "at_once_most" in told else "",
        _of(
            f"{told.get('tokens_in', 0):,.0f} + {told.get('tokens_out', 0):,.0f} tokens",
            told,
            "max_tokens",
            ",.0f",
        ),
        _of(f"cost {told['cost']:.4g}", told, "max_cost", ".4g") if "cost" in told else "",
        f"about {at_end:.4g} in total" if at_end is not None else "",
    ]
    return [part for part in parts if part]


def _of(words: str, told: Mapping[str, float], limit: str, form: str) -> str:
    """Return words with the limit that was set, where there is one."""
    return f"{words} of {told[limit]:{form}} allowed" if limit in told else words


def concurrency_note(job: Job) -> str:
    """Return what bounds how much is done at once."""
    most = job.concurrency
    return "at once: the backend decides" if most is None else f"at once: at most {most:,}"


def _training(job: Job) -> str:
    config = _config(job)
    parts = [
        f"{job.spec.get('name', '')} on {config.get('base', '')}",
        f"{config.get('steps', '?')} steps of {config.get('batch', '?')} pairs",
        f"seed {config.get('seed', '?')}",
    ]
    return " · ".join(parts)


def _trained(job: Job) -> str:
    """Return how the training stands; a figure is left out while there is none."""
    told = job.progress
    if not told.get("step"):
        return "no steps yet"
    parts = []
    if "loss" in told:
        parts.append(f"loss {told['loss']:.3f}")
    if "dev_macro_f1" in told:
        parts.append(f"dev macro F1 {number(told['dev_macro_f1'], Kind.COEFFICIENT)}")
    else:
        held_out = _config(job).get("dev_share")
        parts.append(
            "no dev macro F1 yet" if held_out else "no dev set: training keeps the last step"
        )
    if "lr" in told:
        parts.append(f"lr {_small(told['lr'])}")
    after = [f"{human_duration(told['seconds'])} in this attempt"] if told.get("seconds") else []
    steps = f"step {told['step']:,.0f} of {told.get('steps', job.total):,.0f}"
    return " · ".join([steps, *_going(job), *after]) + "\n" + " · ".join(parts)


def _classifying(job: Job) -> str:
    spec = job.spec
    models = spec.get("models")
    of = ", ".join(map(str, models)) if isinstance(models, list) and models else "all models"
    where = spec.get("instrument") or "all instruments"
    title = registry.audit_title(str(spec.get("audit", "")))
    return f"{spec.get('classifier', '')} reads {title} answers of {of} on {where}"


def _classified(job: Job) -> str:
    answers = job.progress.get("answers", 0)
    read = f"{job.done:,} of {job.total:,} responses read"
    return " · ".join([read, f"{answers:,.0f} in this attempt", *_going(job)]) if answers else read


def _checking(job: Job) -> str:
    languages = job.spec.get("languages")
    spoken = (
        f" in {', '.join(map(str, languages))}" if isinstance(languages, list) and languages else ""
    )
    return f"wordings of {job.spec.get('instrument', '')}{spoken} by {_checkers(job)}"


def _checkers(job: Job) -> str:
    """Return the models that a check asks."""
    return " and ".join(str(job.spec[name]) for name in ("encoder", "nli") if job.spec.get(name))


def _checked(job: Job) -> str:
    made = job.progress.get("answers", 0)
    held = f"{job.done:,} of {job.total:,} texts and pairs stored"
    return " · ".join([held, f"{made:,.0f} in this attempt", *_going(job)]) if made else held


def _drafting(job: Job) -> str:
    spec = job.spec
    statements = spec.get("statements")
    of = (
        f"{len(statements):,} statements"
        if isinstance(statements, list) and statements
        else "all statements"
    )
    return (
        f"{spec.get('model', '')} drafts {_drafted_kinds(job)} for {of} of "
        f"{spec.get('instrument', '')}"
    )


def _drafted_kinds(job: Job) -> str:
    prompts = job.spec.get("prompts")
    kinds = [str(prompt.get("kind", "")) for prompt in prompts] if isinstance(prompts, list) else []
    return ", ".join(kind.replace("_", " ") for kind in kinds)


def _drafted(job: Job) -> str:
    """Return how many lines came back in this attempt, and how many of them can be wordings."""
    if not job.progress.get("answers"):
        return f"{job.done:,} of {job.total:,} prompts answered"
    lines = (
        f"{job.progress.get('drafts', 0):,.0f} drafts, "
        f"{job.progress.get('unusable', 0):,.0f} unusable lines"
    )
    return (
        " · ".join([f"{job.done:,} of {job.total:,} prompts answered", *_going(job)])
        + f"\n{lines} so far"
    )


def _going(job: Job) -> list[str]:
    from workbench.jobs.launch import pace

    going = pace(job)
    if going.per_second is None:
        return []
    eta = [] if going.eta_seconds is None else [f"ETA {human_duration(going.eta_seconds)}"]
    return [f"{speed(going.per_second)} {unit(job)} a second", *eta]


def _config(job: Job) -> Mapping[str, object]:
    config = job.spec.get("config")
    return config if isinstance(config, dict) else {}


def _small(value: float) -> str:
    """Return `1.2e-4`."""
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
        unsure = ", no heartbeat from it yet" if job.unsure else ""
        parts.append(f"process {job.pid} on {job.host}{unsure}")
    return " · ".join(parts)


def _time(stamp: str) -> str:
    """Return `2026-11-21 09:30 UTC` of a stored time."""
    return f"{stamp[:10]} {stamp[11:16]} UTC"
