"""Jobs as cells and text; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.tui.format import bar, human_duration, job_mark, literal, percent, visible
from workbench.tui.widgets.record_table import Record

if TYPE_CHECKING:
    from stores.jobs import Job


def job_record(job: Job) -> Record:
    """Return a job's row."""
    from workbench.jobs.launch import pace

    going = pace(job)
    rate = "" if going.per_second is None else f"{going.per_second:,.1f}"
    style = "bold" if job.active else ""
    return (
        str(job.id),
        (
            Text(str(job.id), justify="right", style=style),
            Text(job_mark(job.state, stopping=job.stopping), style=style),
            literal(str(job.spec.get("model", job.kind)), 60, style),
            Text(bar(job.done, job.total)),
            Text(percent(job.done, job.total), justify="right"),
            Text(f"{job.done:,}/{job.total:,}", justify="right"),
            Text(rate, justify="right"),
            Text(human_duration(going.eta_seconds), justify="right"),
        ),
    )


def job_details(job: Job) -> Content:
    """Return what is known about a job."""
    parts = [
        Content.assemble((f"Job {job.id} ", "bold"), visible(_what(job))),
        Content(visible(_quality(job), lines=True)),
        Content(visible(_times(job))),
    ]
    if job.message:
        parts.append(Content.assemble(("→ ", "$text-accent"), visible(job.message, lines=True)))
    if hint := HINTS.get(job.state, ""):
        parts.append(Content.styled(hint, "$text-accent"))
    return Content("\n").join(parts)


HINTS = {
    "queued": "no worker has it yet; R starts one",
    "lost": "its worker is gone; what it committed is stored. R goes on with the rest",
    "failed": "what was answered is stored. R asks for the rest; l shows the log",
    "cancelled": "R asks for the rest",
    "done": "4 shows the verdicts",
}


def _what(job: Job) -> str:
    spec = job.spec
    sampling = spec.get("sampling")
    drawn = f"T {sampling.get('temperature')}, top-p {sampling.get('top_p')}" if isinstance(sampling, dict) else ""
    parts = [
        f"{job.kind} · {spec.get('audit', '')} of {spec.get('model', '')} on {spec.get('instrument', '')}",
        f"{spec.get('samples', '?')} samples a prompt",
        drawn,
        f"seed {spec.get('seed', '?')}",
    ]
    return " · ".join(part for part in parts if part)


def _quality(job: Job) -> str:
    """Return what came back in this attempt; the shares are of its answers and tokens."""
    from workbench.jobs.launch import pace

    answers = job.progress.get("answers", 0)
    if not answers:
        return "no answers yet in this attempt"
    rate = pace(job).per_second
    shares = [
        f"{name} {percent(job.progress.get(name, 0), answers, 1)}" for name in ("unreadable", "refused", "failed")
    ]
    shares += [f"{name} {percent(job.progress.get(name, 0), 1, 0)}" for name in ("shared", "merged")]
    going = [] if rate is None else [f"{rate:,.1f} a second"]
    return " · ".join([f"{answers:,.0f} answers in this attempt", *going]) + "\n" + " · ".join(shares)


def _times(job: Job) -> str:
    parts = [f"created {_time(job.created_at)}"]
    if job.finished_at:
        parts.append(f"ended {_time(job.finished_at)}")
    if job.attempts:
        parts.append(f"attempt {job.attempts}")
    if job.pid is not None and job.state == "running":
        parts.append(f"process {job.pid} on {job.host}")
    return " · ".join(parts)


def _time(stamp: str) -> str:
    """Return `2026-11-21 09:30 UTC` of a stored time."""
    return f"{stamp[:10]} {stamp[11:16]} UTC"
