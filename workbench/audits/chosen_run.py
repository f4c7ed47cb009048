"""The one run that options or a choice of answers mean, and what to do where there is none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.prompts import LATEST, NONE, TemplateChoice
from workbench.errors import AmbiguousRun, UnknownName
from workbench.evidence.runs import (
    FIRST,
    Which,
    has_parts,
    listed_runs,
    parts_of,
    runs_meant,
    templates_of,
    whole_name,
    whole_names,
)

NO_LABELS: Mapping[str, str] = {}


def run_of(store: Store, options: SimpleNamespace, *, answered: bool = False) -> Run:
    """Return the run that the options of a command mean; see `find_run`."""
    return find_run(
        store,
        options.audit,
        next(iter(whole_names(store, options.model)), None),
        options.instrument,
        options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        answered=answered,
    )


def find_run(
    store: Store,
    audit: str,
    model: str | None = None,
    instrument: str | None = None,
    sampling: str | None = None,
    *,
    dtype: str | None = None,
    snapshot: str | None = None,
    fingerprint: str | None = None,
    answered: bool = False,
    templates: TemplateChoice = LATEST,
) -> Run:
    """Return the only matching run, see `matching`; `answered`: only runs with answers, not just
    probabilities.

    A run in which everything failed matches only if no other does. Of several families of templates
    the most recently asked one is used, unless one is chosen.

    Raises UnknownName if there is none, AmbiguousRun if there are several.
    """
    which = Which(
        instrument, (model,) if model else (), templates, sampling, dtype, snapshot, fingerprint
    )
    return run_meant(store, audit, which, answered=answered)


def run_meant(store: Store, audit: str, which: Which, *, answered: bool = False) -> Run:
    """Return the only run that a choice of answers means; see `find_run`."""
    runs = runs_meant(store, audit, which, answered=answered)
    if not runs:
        what = f" by {', '.join(which.models)}" if which.models else ""
        others = ", ".join(sorted({run.model for run in store.runs.list(audit)}))
        raise UnknownName(
            f"the store has no {audit} answers{what}"
            + (f". Models with answers: {others}" if others else f". {instead(store, audit)}")
        )
    if len(runs) > 1:
        raise AmbiguousRun(_several_match(runs))
    return runs[0]


def _several_match(runs: Sequence[Run]) -> str:
    """Return a message that lists the matching runs, with the options that tell them apart and what
    to give for each.

    Revisions tell the runs of one model apart, and dates those of one snapshot.
    """
    models = [run.model for run in runs]
    if len(set(models)) == 1:
        models = [f"{run.model}@{run.revision}" for run in runs]
    snapshots = [run.snapshot for run in runs]
    if len(set(snapshots)) == 1:
        snapshots = [run.occasion or FIRST for run in runs]
    values = {
        "persona": [run.persona_name or NONE for run in runs],
        "model": models,
        "instrument": [run.instrument for run in runs],
        "language": [run.language for run in runs],
        "family": [run.family for run in runs],
        "sampling": [", ".join(filter(None, (str(run.sampling), run.encoded))) for run in runs],
        "dtype": [run.dtype for run in runs],
        "snapshot": snapshots,
    }
    choices = []
    for name, given in values.items():
        different = [shlex.quote(value) for value in dict.fromkeys(given) if value]
        if len(different) > 1:
            choices.append(f"--{name} {' or '.join((', '.join(different[:-1]), different[-1]))}")
    advice = (
        f"Give {'; '.join(choices)}"
        if choices
        else "Give another --template-version or --fingerprint"
    )
    return (
        f"{len(runs)} runs match, and only one can be shown at a time. "
        f"{advice}:\n{listed_runs(runs)}"
    )


def run_named(name: str, there: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS) -> str:
    """Return the run that a name means: its own, a model's with one run alone, or one that has all
    parts of the name.

    Of several runs the one is meant that the others only add to: `MODEL` is the run without a
    persona.

    there : name of a run -> its model
    labels : longer names that lists print -> name of a run

    Raises UnknownName, AmbiguousRun.
    """
    name = whole_name(name, (there.values(), there, labels))
    name = labels.get(name, name)
    if name in there:
        return name
    parts = {run: set(parts_of(run, model)) for run, model in there.items()}
    meant = [run for run, model in there.items() if has_parts(name, model, parts[run])]
    plainest = [run for run in meant if all(parts[run] <= parts[other] for other in meant)]
    if plainest:
        return plainest[0]
    if meant:
        raise AmbiguousRun(f"{name!r} was asked in {len(meant)} ways; name one: {'; '.join(meant)}")
    raise UnknownName(f"there is no run or model {name!r}. Available: {'; '.join(there) or 'none'}")


def instead(store: Store, audit: str) -> str:
    """Return advice if nothing of an audit was asked: other results, or how to ask."""
    if there := elsewhere(store, audit):
        return there.removeprefix(". ")
    return start_with(store, audit)


def start_with(store: Store, audit: str, instrument: str | None = None) -> str:
    """Return how to ask about a store, or an instrument: by another audit, if this one has nothing
    to ask there.
    """
    meant = meant_for(store, store.instruments.names() if instrument is None else [instrument])
    others = {
        name: f"{', '.join(of)} {'is' if len(of) == 1 else 'are'} asked with --audit {name}"
        for name, of in meant.items()
        if name != audit
    }
    asked_by = audit_for(audit, meant)
    cannot = asked_by != audit
    of = f" --instrument {shlex.quote(instrument)}" if instrument else ""
    start = f"Start with: workbench run STORE --audit {asked_by}{of} --model NAME"
    told = "; ".join(others.values())
    return (
        f"{told}, not with --audit {audit}. {start}"
        if cannot
        else "; ".join(filter(None, (start, told)))
    )


def meant_for(store: Store, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the audits that have material of their own in some of these instruments, and in
    which.
    """
    found = {
        one.name: [name for name in names if one.may_be_asked(store, name)]
        for one in registry.asking()
        if one.own_material
    }
    return {audit: of for audit, of in found.items() if of}


def audit_for(audit: str, meant: Mapping[str, Sequence[str]]) -> str:
    """Return the audit that can ask: this one, or another that has material where this one has
    none.
    """
    here = audit in meant or not registry.audit(audit).own_material
    return audit if here else next(iter(meant), audit)


def elsewhere(store: Store, audit: str) -> str:
    """Return `. There are answers of …: workbench …` for answers of other audits; empty if there
    are none.
    """
    others = [one for one in registry.asking() if one.name != audit and one.answered(store)]
    looked_at = [f"of {one.name}: workbench {one.command}" for one in others]
    return f". There are answers {'; '.join(looked_at)}" if looked_at else ""
