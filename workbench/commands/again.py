"""The settings of a job, as options of a command or fields of a form that start a similar job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stores.core.base import now
from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import registry
from workbench.commands.registry import JOB_COMMANDS, job_command
from workbench.domain.designs import Design
from workbench.domain.responses import EXACT, MAY_BE_LEFT
from workbench.errors import UsageError
from workbench.evidence.runs import run_of_job
from workbench.formats.personas import as_given
from workbench.jobs import origin
from workbench.jobs.launch import SAMPLE, check_kept
from workbench.pipeline.planning import statements_as_typed

Values = Mapping[str, Any]
"option -> value"
VERBS = {SAMPLE: "run", **{kind: kind for kind in JOB_COMMANDS}}
"kind of a job -> the command that starts it"


def values_of(store: Store, job: Job) -> Values:
    """Return the options of a job, by name.

    Raises UsageError if options cannot express them: drafts with prompts from files, prompts that
    are asked anew.
    """
    if job.kind == SAMPLE:
        values = _values_of_run(store, job)
    else:
        values = job_command(job.kind).from_specification(store, job.spec).values()
    return {**values, "batch": True} if job.batched else values


def asked_again(store: Store, design: Design) -> Values:
    """Return the options of a command line or a form for this design, by name, without irrelevant
    ones.
    """
    audit = registry.audit(design.audit)
    available = audit.may_be_asked(store, design.instrument) or ()
    values: dict[str, Any] = {
        "audit": design.audit,
        "model": design.model,
        "instrument": design.instrument,
        "statements": statements_as_typed(design.statements, available),
        "variants": ",".join(design.variants),
        "templates": ",".join(design.templates),
        "family": design.family,
        "language": design.language,
        "template_language": design.template_language,
        "seed": design.seed,
        "dtype": design.dtype,
        "cluster": design.cluster,
        "device": design.device,
        "chat_format": design.chat_format,
        "personas": as_given(design.personas),
        "extra_body": design.sampling.extra,
        "thinking": design.sampling.thinking,
        **audit.given_in(design),
    }
    if design.sampling.mode == EXACT:
        again = {name: value for name, value in values.items() if name not in audit.drawn_again}
        return again | {"exact": True} if audit.defaults.drawn else again
    drawn = design.sampling
    return values | {
        "samples": design.samples,
        **{name: drawn.told(name) for name in MAY_BE_LEFT},
        "max_new_tokens": drawn.max_new_tokens,
        "until_decided": bool(drawn.stop),
    }


def anew(store: Store, number: int) -> Design:
    """Return the design that asks anew what a job asked: on today's date (UTC), or the next number
    of today's.

    Raises UsageError for a job that asked no audit, or has no answers yet.
    """
    job = store.jobs.get(number)
    if job.kind != SAMPLE:
        raise UsageError(
            f"job {number} is no run: it does {job.kind}; give the number of a job that asked an "
            "audit"
        )
    check_kept(job)
    if run_of_job(store, job) is None:
        raise UsageError(
            f"job {number} has no answers that could be asked anew; workbench jobs STORE resume "
            f"{number}"
        )
    first, today = replace(Design.from_json(job.spec), occasion=""), now()[:10]
    others = (Design.from_json(one.spec) for one in store.jobs.list() if one.kind == SAMPLE)
    taken = sum(
        one.occasion.startswith(today) and replace(one, occasion="") == first for one in others
    )
    return replace(first, occasion=f"{today} ({taken + 1})" if taken else today)


def from_elsewhere(store: Store, number: int) -> str:
    """Return whom a job asks that was created elsewhere, see `origin.about`; empty for one that was
    created here.
    """
    job = store.jobs.get(number)
    return "" if origin.here().made(job) else origin.about(job)


def _values_of_run(store: Store, job: Job) -> Values:
    design = Design.from_json(job.spec)
    if design.occasion:
        raise UsageError(
            "it asks anew what another job asked, and nothing else: workbench run STORE --again JOB"
        )
    return asked_again(store, design)
