"""The settings of a job, as options of a command or fields of a form that start a similar job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from stores.core.base import now
from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import registry
from workbench.data import shipped_drafting
from workbench.domain.designs import Design
from workbench.domain.drafting import DraftPrompt
from workbench.domain.responses import EXACT, MAY_BE_LEFT
from workbench.errors import UsageError
from workbench.evidence.runs import run_of_job
from workbench.formats.personas import as_given
from workbench.jobs import origin
from workbench.jobs.launch import CLASSIFY, DRAFT, SAMPLE, TRAIN, check_kept
from workbench.pipeline.checking import CHECK, CheckSpec
from workbench.pipeline.drafting import DraftSpec
from workbench.pipeline.training import ClassifySpec, TrainSpec

Values = Mapping[str, Any]
"option -> value"
VERBS = {SAMPLE: "run", TRAIN: "train", CLASSIFY: "classify", DRAFT: "draft", CHECK: "check"}
"kind of a job -> the command that starts it"


def values_of(store: Store, job: Job) -> Values:
    """Return the options of a job, by name.

    Raises UsageError if options cannot express them: drafts with prompts from files, prompts that
    are asked anew.
    """
    found = _VALUES[job.kind](store, job.spec)
    return {**found, "batch": True} if job.batched else found


def asked_again(store: Store, design: Design) -> Values:
    """Return the options of a command line or a form for this design, by name, without irrelevant
    ones.
    """
    audit = registry.audit(design.audit)
    there = audit.may_be_asked(store, design.instrument) or ()
    values: dict[str, Any] = {
        "audit": design.audit,
        "model": design.model,
        "instrument": design.instrument,
        "statements": as_typed(design.statements, there),
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


def as_typed(refs: Sequence[str], there: Sequence[str]) -> str:
    """Return statements as a person types them: as the number of first statements, or by refs.

    Examples
    --------
    >>> as_typed(("a", "b"), ["a", "b", "c"]), as_typed(("c", "a"), ["a", "b", "c"]), as_typed((), ["a"])
    ('2', 'c,a', '')
    """  # noqa: E501
    if not refs:
        return ""
    return (
        str(len(refs))
        if tuple(refs) == tuple(there[: len(refs)]) and str(len(refs)) not in there
        else ",".join(refs)
    )


def _asked(store: Store, spec: Mapping[str, Any]) -> Values:
    design = Design.from_json(spec)
    if design.occasion:
        raise UsageError(
            "it asks anew what another job asked, and nothing else: workbench run STORE --again JOB"
        )
    return asked_again(store, design)


def _trained(_store: Store, spec: Mapping[str, Any]) -> Values:
    of = TrainSpec.from_json(spec)
    lists = {"training": ",".join(of.training), "test": ",".join(of.test)}
    own = {"name": of.name, "codebook": of.codebook, "by_statement": of.by_statement}
    return of.config.as_json() | lists | own


def _classified(_store: Store, spec: Mapping[str, Any]) -> Values:
    of = ClassifySpec.from_json(spec)
    return {"classifier": of.classifier, "instrument": of.instrument, "model": ",".join(of.models)}


def _checked(_store: Store, spec: Mapping[str, Any]) -> Values:
    of = CheckSpec.from_json(spec)
    named = {"instrument": of.instrument, "encoder": of.encoder or "none", "nli": of.nli}
    return named | {"language": ",".join(of.languages)} | asdict(of.thresholds)


def _drafted(store: Store, spec: Mapping[str, Any]) -> Values:
    of = DraftSpec.from_json(spec)
    kinds = dict.fromkeys(prompt.kind for prompt in of.prompts)
    shipped = {(prompt.kind, prompt.bias): prompt for prompt in shipped_drafting()}
    usual = [shipped.get((prompt.kind, prompt.bias)) for prompt in of.prompts]
    return {
        "instrument": of.instrument,
        "model": of.model,
        "statements": as_typed(
            of.statements, [line.ref for line in store.instruments.lines(of.instrument)]
        ),
        "language": of.language,
        "kind": ",".join(kind.value for kind in kinds),
        "seed": of.seed,
        **_adjusted(of.prompts, usual),
    }


def _adjusted(prompts: tuple[DraftPrompt, ...], usual: list[DraftPrompt | None]) -> Values:
    """Return the adjustments common to all shipped prompts; empty if there are none."""
    first = prompts[0]
    told: dict[str, Any] = {
        "calls": first.calls,
        "per_call": first.per_call,
        "keep": first.keep or 0,
        "max_new_tokens": first.sampling.max_new_tokens,
    }
    told |= {name: first.sampling.told(name) for name in MAY_BE_LEFT}
    if first.sampling.thinking:
        told["thinking"] = first.sampling.thinking
    for values in ({}, told):
        if all(
            one is not None and one.adjusted(**{**_EMPTY, **values}) == prompt
            for one, prompt in zip(usual, prompts, strict=True)
        ):
            return values
    raise UsageError(
        "its drafts used prompts from files: give the files again, workbench draft STORE "
        "--prompt FILE"
    )


_EMPTY: Values = dict.fromkeys(("calls", "per_call", "keep", "max_new_tokens", *MAY_BE_LEFT))
_VALUES: Mapping[str, Callable[[Store, Mapping[str, Any]], Values]] = {
    SAMPLE: _asked,
    TRAIN: _trained,
    CLASSIFY: _classified,
    DRAFT: _drafted,
    CHECK: _checked,
}
