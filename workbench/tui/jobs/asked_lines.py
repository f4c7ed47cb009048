"""What a sampling job asks of whom, and how its answers are drawn, in words; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import registry
from workbench.domain.designs import TRIES
from workbench.domain.names import plural
from workbench.domain.responses import EXACT, Sampling
from workbench.tui.format import percent

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
    """Return what a few words say of what is asked, where the audit and the instrument do not say it."""
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
        f"{job.done:,} valid answers of {job.total:,}" + (f" and {over:,.0f} beyond the minimum" if over else ""),
        f"drawn again {again:,.0f} ({percent(strange, told.get('answers', 0), 1)} were no offered letter)",
        _short(round(told.get("short", 0))),
    ]
    return [part for part in parts if part]


def _short(prompts: int) -> str:
    """Return how many prompts have too few valid answers; nothing where all have enough."""
    return f"{plural(prompts, 'prompt')} {'has' if prompts == 1 else 'have'} too few after all tries" if prompts else ""
