"""The one run that options or a selection of answers match, and the advice if there is none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.prompts import LATEST, NONE, TemplateChoice
from workbench.domain.questionnaires import named_few
from workbench.errors import AmbiguousRun, UnknownName
from workbench.evidence.runs import (
    FIRST,
    AnswerSelection,
    has_parts,
    listed_runs,
    parts_of,
    selected_runs,
    templates_of,
    whole_name,
    whole_names,
    without_runs,
)

NO_LABELS: Mapping[str, str] = {}


def run_of(store: Store, options: SimpleNamespace, *, answered: bool = False) -> Run:
    """Return the run that the options of a command match, see `find_run`."""
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
    """Return the only matching run, see `matching_runs`.

    With `answered`, only runs with answers match, not those with probabilities alone. A run in
    which everything failed matches only if no other does. Of several families of templates the most
    recently asked one is used, unless one is chosen.

    Raises UnknownName if there is none, AmbiguousRun if there are several.
    """
    which = AnswerSelection(
        instrument, (model,) if model else (), templates, sampling, dtype, snapshot, fingerprint
    )
    return run_meant(store, audit, which, answered=answered)


def check_models(store: Store, audit: str, which: AnswerSelection) -> None:
    """Check that every named model has answers of an audit, if any model has.

    Raises UnknownName for names of models without.
    """
    runs = store.runs.list(audit, which.instrument, personas=True)
    missing_names = without_runs(store, runs, which.models) if runs else []
    if missing_names:
        models = ", ".join(sorted({run.model for run in runs}))
        raise UnknownName(
            f"the store has no {audit} answers by {named_few(missing_names)}. Models with "
            f"answers: {models}"
        )


def run_meant(store: Store, audit: str, which: AnswerSelection, *, answered: bool = False) -> Run:
    """Return the only run that a selection of answers matches, see `find_run`."""
    runs = selected_runs(store, audit, which, answered=answered)
    if not runs:
        by_models = f" by {', '.join(which.models)}" if which.models else ""
        models = ", ".join(sorted({run.model for run in store.runs.list(audit)}))
        raise UnknownName(
            f"the store has no {audit} answers{by_models}"
            + (f". Models with answers: {models}" if models else f". {instead(store, audit)}")
        )
    if len(runs) > 1:
        raise AmbiguousRun(_several_match(runs))
    return runs[0]


def _several_match(runs: Sequence[Run]) -> str:
    """Return a message that lists the matching runs, with the options that select each of them.

    Revisions distinguish the runs of one model, and dates those of one snapshot.
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
    for name, option_values in values.items():
        distinct_values = [shlex.quote(value) for value in dict.fromkeys(option_values) if value]
        if len(distinct_values) > 1:
            choices.append(
                f"--{name} {' or '.join((', '.join(distinct_values[:-1]), distinct_values[-1]))}"
            )
    advice = (
        f"Give {'; '.join(choices)}"
        if choices
        else "Give another --template-version or --fingerprint"
    )
    return (
        f"{len(runs)} runs match, and only one can be shown at a time. "
        f"{advice}:\n{listed_runs(runs)}"
    )


def run_named(
    name: str, model_by_run: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS
) -> str:
    """Return the run that a name stands for.

    A name is that of a run, that of a model with one run, or one that has all parts of it. If
    several runs match, the one to whose parts the others only add is returned: `MODEL` is the run
    without a persona.

    Parameters
    ----------
    model_by_run : the model of each run
    labels : the name of the run for each longer name that lists print

    Raises UnknownName, AmbiguousRun.
    """
    name = whole_name(name, (model_by_run.values(), model_by_run, labels))
    name = labels.get(name, name)
    if name in model_by_run:
        return name
    parts_by_run = {run: set(parts_of(run, model)) for run, model in model_by_run.items()}
    matching_runs = [
        run for run, model in model_by_run.items() if has_parts(name, model, parts_by_run[run])
    ]
    simplest_runs = [
        run
        for run in matching_runs
        if all(parts_by_run[run] <= parts_by_run[other_run] for other_run in matching_runs)
    ]
    if simplest_runs:
        return simplest_runs[0]
    if matching_runs:
        raise AmbiguousRun(
            f"{name!r} was asked in {len(matching_runs)} ways; name one: {'; '.join(matching_runs)}"
        )
    raise UnknownName(
        f"there is no run or model {name!r}. Available: {'; '.join(model_by_run) or 'none'}"
    )


def instead(store: Store, audit: str) -> str:
    """Return advice if an audit was not run: other results, or how to start."""
    if other_results := elsewhere(store, audit):
        return other_results.removeprefix(". ")
    return start_with(store, audit)


def start_with(store: Store, audit: str, instrument: str | None = None) -> str:
    """Return advice on how to start the audit of a store or an instrument.

    It names another audit if this one has nothing to ask there.
    """
    instruments_by_audit = meant_for(
        store, store.instruments.names() if instrument is None else [instrument]
    )
    hints = {
        name: f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} asked with --audit {name}"
        for name, names in instruments_by_audit.items()
        if name != audit
    }
    asked_by = audit_for(audit, instruments_by_audit)
    needs_other_audit = asked_by != audit
    instrument_option = f" --instrument {shlex.quote(instrument)}" if instrument else ""
    command_text = (
        f"Start with: workbench run STORE --audit {asked_by}{instrument_option} --model NAME"
    )
    hint_text = "; ".join(hints.values())
    return (
        f"{hint_text}, not with --audit {audit}. {command_text}"
        if needs_other_audit
        else "; ".join(filter(None, (command_text, hint_text)))
    )


def meant_for(store: Store, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the audits that have material of their own, with their instruments among these."""
    instruments_by_audit = {
        audit.name: [name for name in names if audit.may_be_asked(store, name)]
        for audit in registry.asking()
        if audit.own_material
    }
    return {
        audit: instruments for audit, instruments in instruments_by_audit.items() if instruments
    }


def audit_for(audit: str, meant: Mapping[str, Sequence[str]]) -> str:
    """Return the audit that can ask: this one, or one with material if this one has none."""
    can_ask = audit in meant or not registry.audit(audit).own_material
    return audit if can_ask else next(iter(meant), audit)


def elsewhere(store: Store, audit: str) -> str:
    """Return the text on answers of other audits, or an empty string without any.

    Its form is `. There are answers of …: workbench …`.
    """
    other_audits = [
        other_audit
        for other_audit in registry.asking()
        if other_audit.name != audit and other_audit.answered(store)
    ]
    hints = [
        f"of {other_audit.name}: workbench {other_audit.command}" for other_audit in other_audits
    ]
    return f". There are answers {'; '.join(hints)}" if hints else ""
