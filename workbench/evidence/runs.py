"""Converts options to choices of runs and readings, and runs to plain values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stores.core.store import Store
from stores.instruments.templates import AskedTemplate
from stores.jobs.job_rows import Job
from stores.runs.run_rows import SERVED, Failures, Run
from workbench import entry_points
from workbench.domain.designs import Design
from workbench.domain.keys import SEED
from workbench.domain.names import listed, parted
from workbench.domain.prompts import LATEST, NONE, TemplateChoice
from workbench.domain.readings import USUAL, ReadingChoice
from workbench.domain.responses import EXACT, UNKNOWN
from workbench.entry_points import DEFAULT_AUDIT
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.formats.personas import EVERY
from workbench.stats.hypothesis_tests import PERMUTATIONS, Heterogeneity, heterogeneity
from workbench.stats.resampling import derive_rng

FIRST = "first"
"instead of a date: prompts that were not asked anew"
DOT = " · "
"between the parts of a run's name"
OF_PERSONA = "persona "
"begins the part of a run's name that names its persona"
ELLIPSIS = re.compile(r"…|\.\.\.")
"printed by a list in place of the rest of a name"
OF_PERSONAS = ("persona", "persona_name", "personas")


def templates_of(options: SimpleNamespace) -> TemplateChoice:
    """Return the chosen templates and languages.

    Raises UsageError for a version that is not a number.
    """
    versions = []
    for text in listed(options.template_version):
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal():
            raise UsageError(
                f"found --template-version {text!r}; give a template and its version, as "
                "personal-1=2"
            )
        versions.append((name, int(number)))
    return TemplateChoice(
        families=listed(options.family),
        versions=tuple(versions),
        languages=listed(options.language),
        personas=listed(getattr(options, "persona", None)),
    )


def plain_run(run: Run) -> dict[str, Any]:
    """Return a run as plain values, with its personas if the model was asked with any."""
    left_out = {"model_id", "sampling_id"} | {
        name for name in OF_PERSONAS if not getattr(run, name)
    }
    plain = {key: value for key, value in asdict(run).items() if key not in left_out}
    plain["sampling"] = {name: run.sampling.known(name) for name in plain["sampling"]}
    return plain


def run_data(run: Run) -> dict[str, Any]:
    """Return a run as plain values. Scored prompts are no responses."""
    plain = plain_run(run)
    return (
        plain if run.sampling.mode != EXACT else plain | {"responses": 0, "scored": run.responses}
    )


def selected_runs(
    store: Store, audit: str, which: AnswerSelection, *, answered: bool = False
) -> list[Run]:
    """Return the runs of an audit that a selection of answers means, the newest last.

    See `find_run`. Raises UnknownName for a sampling, a dtype, a snapshot or a fingerprint that no
    run has.
    """
    model = which.models[0] if len(which.models) == 1 else None
    stored_model = model if model is not None and store.runs.models([model]) else None
    of_selected_models = runs_of_models(
        store,
        runs_of(store, audit, which.instrument, stored_model, templates=which.templates),
        which.models,
    )
    candidates = [
        run for run in of_selected_models if not (answered and run.sampling.mode == EXACT)
    ]
    runs = _newer_encodings(
        matching_runs(candidates, which.sampling, which.dtype, which.snapshot), which.sampling
    )
    runs = split_by_fingerprint(store, runs, which.fingerprint)
    if candidates and not runs:
        selectors = {"sampling": which.sampling, "dtype": which.dtype, "snapshot": which.snapshot}
        selection = " and ".join(
            f"{selector} {name!r}" for selector, name in selectors.items() if name
        )
        raise UnknownName(
            f"no run of {audit} has {selection}. Available:\n{listed_runs(candidates)}"
        )
    return [run for run in runs if run.responses] or runs


def answered_instrument(store: Store, audit: str) -> str:
    """Return the only instrument with answers to an audit, else the store's only one.

    Raises UsageError if the store has none, or several and not one of them alone was answered.
    """
    instruments = dict.fromkeys(run.instrument for run in store.runs.list(audit) if run.responses)
    return next(iter(instruments)) if len(instruments) == 1 else store.instruments.only()


def runs_of(
    store: Store,
    audit: str,
    instrument: str | None = None,
    model: str | None = None,
    *,
    templates: TemplateChoice = LATEST,
) -> tuple[Run, ...]:
    """Return the runs of an audit, the newest last.

    They have each chosen family, by default the one that each model was asked most recently.
    Prompts with a persona are included only if it is named.

    Raises UnknownName for a language, a family, a version of a template, or a persona that no model
    was asked.
    """
    runs = store.runs.list(
        audit, instrument, model, versions=dict(templates.versions), personas=True
    )
    return select_runs(runs, templates)


def select_runs(runs: Sequence[Run], templates: TemplateChoice) -> tuple[Run, ...]:
    """Return the runs that match a choice of templates, as `runs_of`."""
    _check_languages(runs, templates)
    personas = list(dict.fromkeys(name for run in runs for name in run.personas))
    unknown = [name for name in templates.personas if name not in (*personas, NONE, EVERY)]
    if runs and unknown:
        raise UnknownName(
            f"nobody was asked with the persona {', '.join(map(repr, unknown))}; personas that "
            "were asked: "
            f"{', '.join(personas) or 'not one'}. For prompts without a persona: --persona {NONE}"
        )
    selected = [
        run
        for run in runs
        if (not templates.languages or run.language in templates.languages)
        and has_persona(run, templates.personas)
    ]
    _check_templates(selected, templates)
    return tuple(run for run in selected if run.family in (templates.families or run.families[-1:]))


def has_persona(run: Run, wanted: Collection[str]) -> bool:
    """Return whether a run has one of these personas, or no persona if none are given."""
    if not run.persona:
        return not wanted or bool({NONE, EVERY} & set(wanted))
    return bool({run.persona_name, EVERY} & set(wanted))


def _check_languages(runs: Sequence[Run], chosen: TemplateChoice) -> None:
    languages = list(dict.fromkeys(run.language for run in runs))
    unknown = [language for language in chosen.languages if language not in languages]
    if runs and unknown:
        raise UnknownName(
            f"no model was asked in the language {', '.join(map(repr, unknown))}; languages "
            f"asked: {', '.join(languages)}"
        )


def _check_templates(runs: Sequence[Run], chosen: TemplateChoice) -> None:
    families = list(dict.fromkeys(family for run in runs for family in run.families))
    unknown = [family for family in chosen.families if family not in families]
    if runs and unknown:
        raise UnknownName(
            f"no model was asked templates of the family {', '.join(map(repr, unknown))}; "
            f"families asked: {', '.join(families)}"
        )
    versions_by_name: dict[str, set[int]] = {}
    for template in (template for run in runs for template in run.versions):
        versions_by_name.setdefault(template.name, set()).update(
            (template.version, *template.others)
        )
    for name, version in chosen.versions if runs else ():
        if version not in versions_by_name.get(name, ()) or not version:
            available = "; ".join(
                f"{name}: {', '.join(map(str, sorted(asked_versions - {0})))}"
                for name, asked_versions in sorted(versions_by_name.items())
            )
            raise UnknownName(
                f"no answers count under version {version} of the template {name!r}. "
                + (
                    f"Versions asked: {available}"
                    if available
                    else "Every template was asked in one version"
                )
            )


def template_notes(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return notes on answers that results leave out, and how to choose them.

    These are in other languages, families or versions of templates, or with other personas.
    """
    distinct_runs = tuple(dict.fromkeys(runs))
    notes = _mixed_family_notes(distinct_runs)
    for run in distinct_runs:
        notes += _other_language_notes(run, distinct_runs)
        notes += _other_persona_notes(run, distinct_runs)
        notes += _other_family_notes(run, distinct_runs)
        notes += version_notes(run)
    return tuple(dict.fromkeys(notes))


def _mixed_family_notes(runs: Sequence[Run]) -> list[str]:
    """Return a note if runs of several models have several families of templates, or nothing."""
    has_several_families = len({run.family for run in runs}) > 1
    has_several_models = len({run.model for run in runs}) > 1
    if not has_several_families or not has_several_models:
        return []
    families = dict.fromkeys(f"{run.model} {run.family}" for run in runs)
    return [f"these results are about several families of templates: {', '.join(families)}"]


def _other_language_notes(run: Run, runs: Sequence[Run]) -> list[str]:
    """Return a note if a model was asked in a language that none of the runs has, or nothing."""
    included = {
        other.language
        for other in runs
        if other.language_independent_key == run.language_independent_key
    }
    left_out = [language for language in run.languages if language not in included]
    if not left_out:
        return []
    return [
        f"{run.model} was asked {run.instrument} in {', '.join(run.languages)}; this "
        f"result is about {run.language}. For another: --language {left_out[-1]}"
    ]


def _other_persona_notes(run: Run, runs: Sequence[Run]) -> list[str]:
    """Return a note if a model was asked with a persona that none of the runs has, or nothing."""
    if not run.personas:
        return []
    included = {other.persona_name for other in runs if other.answerer == run.answerer}
    left_out = [name for name in run.personas if name not in included]
    if not left_out:
        return []
    subject = f"prompts with {run.persona_name}" if run.persona else "prompts without one"
    return [
        f"{run.model} was asked {run.instrument} with the personas {', '.join(run.personas)}, "
        f"too; this result is about {subject}. For another: --persona {shlex.quote(left_out[-1])}"
    ]


def _other_family_notes(run: Run, runs: Sequence[Run]) -> list[str]:
    """Return a note if a model was asked a family that none of the runs has, or nothing."""
    included = {other.family for other in runs if other.design_key == run.design_key}
    left_out = [family for family in run.families if family not in included]
    if not left_out:
        return []
    return [
        f"{run.model} was asked the families of templates {', '.join(run.families)}; this "
        f"result is about {run.family}. For another: --family {left_out[-1]}"
    ]


def version_notes(run: Run | None, template: str | None = None) -> tuple[str, ...]:
    """Return notes on asked versions of a run's templates, or of one of them, that are left out."""
    versions = run.versions if run is not None else ()
    return tuple(
        _version_note(run, asked_template)
        for asked_template in versions
        if run and asked_template.others and template in (None, asked_template.name)
    )


def _version_note(run: Run, template: AskedTemplate) -> str:
    """Return the note on the versions of a template that are left out."""
    counts = "the chosen one was not among them"
    if template.version:
        counts = f"version {template.version} counts"
    plural_end = "s" if len(template.others) > 1 else ""
    left_out = f"version{plural_end} {', '.join(map(str, template.others))}"
    return (
        f"{run.model} was asked several versions of the template {template.name}: {counts}, "
        f"{left_out} left out. For another: "
        f"--template-version {template.name}={template.others[-1]}"
    )


def matching_runs(
    runs: Sequence[Run],
    sampling: str | None = None,
    dtype: str | None = None,
    snapshot: str | None = None,
) -> list[Run]:
    """Return the runs that match a sampling, a dtype and a snapshot.

    The snapshot is that of a served model (`unknown`: none is known), the date of prompts that were
    asked anew (`first`: those that were not), or both with a blank between.

    The sampling is its full description, else a part of it (`T 0.25`). None or an empty value
    matches any. The description of a local model includes the encoding of turns (`encoding
    unknown`).
    """
    matches = [
        run
        for run in runs
        if (not dtype or run.dtype == dtype or run.dtype.startswith(f"{dtype}+"))
        and (not snapshot or snapshot in _states(run))
    ]
    return [run for run in matches if sampling == str(run.sampling)] or [
        run for run in matches if not sampling or sampling in f"{run.sampling}, {run.encoded}"
    ]


def _states(run: Run) -> tuple[str, str, str]:
    """Return the names that `--snapshot` takes for the state of a run's model.

    The last one is complete.
    """
    snapshot, occasion = run.snapshot or UNKNOWN, run.occasion or FIRST
    return snapshot, occasion, f"{snapshot} {occasion}"


def _newer_encodings(runs: Sequence[Run], sampling: str | None) -> list[Run]:
    """Exclude runs with an unknown encoding of turns if the same model was asked again since.

    The word `encoding` in `sampling` selects them explicitly.
    """
    with_encoding = {_but_encoding(run) for run in runs if run.encoding != UNKNOWN}
    is_named = "encoding" in (sampling or "")
    return [
        run
        for run in runs
        if is_named or run.encoding != UNKNOWN or _but_encoding(run) not in with_encoding
    ]


def _but_encoding(run: Run) -> tuple[object, ...]:
    computed = (run.model, run.revision, run.backend, run.dtype, run.occasion)
    return run.instrument, run.language, *computed, run.sampling, run.family, run.persona


def runs_of_models(store: Store, runs: Sequence[Run], names: Collection[str]) -> list[Run]:
    """Return the runs that these names of models or runs mean, or all if there are none.

    A hub id may have a revision (`@`). A run is named as lists print it: `MODEL · persona rural`.
    Where one name has a persona, a name without one means prompts without a persona.
    """
    models = {name: store.runs.models([name]) for name in names}
    personas_apart = any(map(persona_in, names))
    return [
        run
        for run in runs
        if not names
        or any(_is_meant(run, name, models[name], personas_apart=personas_apart) for name in names)
    ]


def models_named(store: Store, name: str) -> frozenset[int]:
    """Return the rowids of the models that the name of a model or of a run means."""
    runs = store.runs.list(personas=True)
    return store.runs.models([name]) or frozenset(
        run.model_id for run in runs_of_models(store, runs, [name])
    )


def whole_names(store: Store, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return names of models and runs as the store has them.

    Lists shorten names with … and fold them.

    A name that means none stays as it is. A text is one name, or several between commas. Raises
    AmbiguousRun.
    """
    if not names:
        return ()
    runs = store.runs.list(personas=True)
    labels = [run.label for run in runs]
    printed = (
        [run.model for run in runs],
        [*named_runs(runs), *(run.named for run in runs)],
        labels,
    )
    if isinstance(names, str):
        full_name = whole_name(names, printed)
        names = (full_name,) if full_name in labels else listed(names)
    return tuple(whole_name(name, printed) for name in names)


def whole_name(name: str, printed: Sequence[Collection[str]]) -> str:
    """Return the name that a list printed like this, or the same name if there is none.

    Parameters
    ----------
    printed : the names of each kind; the first kind with a match counts

    Raises AmbiguousRun.

    Examples
    --------
    >>> whole_name("openai:a-long…", [["openai:a-long-name", "other"]])
    'openai:a-long-name'
    >>> whole_name("openai:a-lo ng-name", [["openai:a-long-name"]]), whole_name("openai:a", [["openai:a-long-name"]])
    ('openai:a-long-name', 'openai:a')
    """  # noqa: E501
    if any(name in names for names in printed):
        return name
    pieces = ELLIPSIS.split("".join(name.split()))
    pattern = re.compile(".+".join(map(re.escape, pieces)))
    if not any(pieces):
        return name
    for names in printed:
        matching = [
            candidate
            for candidate in dict.fromkeys(names)
            if pattern.fullmatch("".join(candidate.split()))
        ]
        if len(matching) > 1:
            raise AmbiguousRun(
                f"{name!r} may be {len(matching)} names; give one whole: {'; '.join(matching)}"
            )
        if matching:
            return matching[0]
    return name


def names_of_models(store: Store, names: Sequence[str]) -> tuple[str, ...]:
    """Return the models of names of models and runs.

    It serves what takes answers of all personas of a model.

    A name that means none stays as it is. Raises UsageError for the name of a run with a persona.
    """
    by_rowid = store.data_rows.models() if names else {}
    models: dict[str, None] = {}
    for name in whole_names(store, names):
        if store.runs.models([name]):
            models[name] = None
            continue
        model_names = [str(by_rowid[rowid]["name"]) for rowid in sorted(models_named(store, name))]
        if model_names and persona_in(name):
            raise UsageError(
                f"{name} is a run with a persona. Answers of all personas are taken: name "
                f"{model_names[0]}"
            )
        models |= dict.fromkeys(model_names or [name])
    return tuple(models)


def _is_meant(run: Run, name: str, models: Collection[int], *, personas_apart: bool) -> bool:
    if models:
        return run.model_id in models and not (personas_apart and run.persona)
    if run.persona and not persona_in(name):
        return False
    return has_parts(name, run.model, _printed_parts(run))


def has_parts(name: str, model: str, parts: Collection[str]) -> bool:
    """Return whether a name is a model's, with some of the parts that tell its runs apart.

    Examples
    --------
    >>> has_parts("m · persona rural", "m", ["snapshot 2026-01", "persona rural"])
    True
    >>> has_parts("m · persona urban", "m", ["persona rural"]), has_parts("m2", "m", [])
    (False, False)
    """
    return names_model(name, model) and set(parts_of(name, model)) <= set(parts)


def parts_of(name: str, model: str) -> list[str]:
    """Return the parts that follow the model in the name of a run."""
    return name.removeprefix(model).removeprefix(DOT).split(DOT) if name != model else []


def _printed_parts(run: Run) -> set[str]:
    """Return all that lists and figures print after a model's name to tell its runs apart."""
    return {
        *parts_of(run.named, run.model),
        *parts_of(run.label, run.model),
        run.family,
        run.language,
        run.short_version,
        run.dtype,
        run.encoded,
        _numbered(run),
    }


def _numbered(run: Run) -> str:
    return f"run {run.model_id}.{run.sampling_id}"


def names_model(name: str, model: str) -> bool:
    """Return whether a name is a model's, or that of a run of it."""
    return name == model or name.startswith(f"{model}{DOT}")


def persona_in(name: str) -> str:
    """Return the persona in the name of a run, or an empty text."""
    return next(
        (
            part.removeprefix(OF_PERSONA)
            for part in name.split(DOT)[1:]
            if part.startswith(OF_PERSONA)
        ),
        "",
    )


def without_runs(store: Store, runs: Sequence[Run], names: Collection[str]) -> list[str]:
    """Return the names of the models that have none of these runs."""
    return [name for name in names if not runs_of_models(store, runs, [name])]


def unique_names(names: Sequence[str], *more: Sequence[str]) -> list[str]:
    """Return names that are made unique by appending further data to equal ones.

    Data are appended in the given order.

    Examples
    --------
    >>> unique_names(["m", "m", "n"], ["en", "en", "de"], ["float32", "bfloat16", "float32"])
    ['m · float32', 'm · bfloat16', 'n']
    """
    unique = list(names)
    for details in more:
        kinds: dict[str, set[str]] = {}
        for name, detail in zip(unique, details, strict=True):
            kinds.setdefault(name, set()).add(detail)
        unique = [
            f"{name}{DOT}{detail}" if len(kinds[name]) > 1 else name
            for name, detail in zip(unique, details, strict=True)
        ]
    return unique


def named_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Return runs by names that tell them apart.

    A name is the model's, with as much as it takes of how it was asked.
    """
    names = unique_names(
        [run.named for run in runs],
        [run.instrument for run in runs],
        [run.family for run in runs],
        [str(run.sampling) for run in runs],
        [run.language for run in runs],
        [run.short_version for run in runs],
        [run.dtype for run in runs],
        [run.encoded for run in runs],
        [_numbered(run) for run in runs],
    )
    return dict(zip(names, runs, strict=True))


def listed_runs(runs: Sequence[Run]) -> str:
    """Return the lines of an error message that list runs, one line for each run.

    A line has no dtype if the model is scripted.
    """
    lines = []
    for run in runs:
        dtype = "" if run.dtype == "none" else run.dtype
        details = [
            detail
            for detail in (_size(run), dtype, run.encoded, f"revision {run.revision[:12]}")
            if detail
        ]
        lines.append(f"  {run.label} ({', '.join(details)})")
    return "\n".join(lines)


def _size(run: Run) -> str:
    return f"{run.responses:,} {'prompts scored' if run.sampling.mode == EXACT else 'answers'}"


def no_answers_message(run: Run, failures: Failures) -> str:
    """Return a message that there is nothing to judge, with the reason."""
    done = "scored" if run.sampling.mode == EXACT else "answered"
    reason = f": {failures.reason}" if failures.reason else ""
    return (
        f"{run.label} has nothing to judge: none of its {run.prompts:,} prompts was {done}, "
        f"all failed{reason}"
    )


EACH, UNREPORTED = "each", "none"
"instead of a fingerprint: one result per fingerprint; answers without one"


@dataclass(frozen=True, slots=True)
class ServedRun:
    """A run of a served model, by fingerprint."""

    run: Run
    counts: tuple[tuple[str, int], ...]
    "fingerprint -> number of answers, for an exact run of prompts; empty: none reported"
    test: Heterogeneity
    "whether the texts of answers to a prompt depend on the fingerprint"


def served_runs(
    store: Store,
    model: str | None = None,
    instrument: str | None = None,
    *,
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
) -> tuple[ServedRun, ...]:
    """Return every run of served models, with its fingerprints and the test of heterogeneity."""
    served = []
    for run in store.runs.list(None, instrument, model):
        if run.backend == SERVED and run.answered:
            counts = tuple(store.runs.fingerprints(run).items())
            rng = derive_rng(seed, "fingerprints", run.label, run.audit, run.language)
            served.append(ServedRun(run, counts, homogeneity(store, run, rng, permutations)))
    return tuple(served)


def homogeneity(
    store: Store, run: Run, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Heterogeneity:
    """Test whether answers depend on the fingerprint, within prompts, by the stored texts."""
    if run.sampling.mode == EXACT:
        reason = "a prompt is scored once, so no prompt has answers in two groups"
        return Heterogeneity(float("nan"), float("nan"), 0, 0, reason)
    return heterogeneity(_tables(store.runs.printed(run)), rng, permutations)


def _tables(rows: Iterable[tuple[int, str, int, int]]) -> list[npt.NDArray[np.int64]]:
    """Return a table of fingerprints x texts for each prompt.

    It has the fingerprints of the whole run.
    """
    rows_by_prompt: dict[int, list[tuple[str, int, int]]] = {}
    for prompt, name, text, count in rows:
        rows_by_prompt.setdefault(prompt, []).append((name, text, count))
    names = {
        name: index
        for index, name in enumerate(
            sorted({row[0] for prompt_rows in rows_by_prompt.values() for row in prompt_rows})
        )
    }
    tables = []
    for prompt_rows in rows_by_prompt.values():
        texts = {
            text: index for index, text in enumerate(sorted({text for _, text, _ in prompt_rows}))
        }
        table = np.zeros((len(names), len(texts)), dtype=np.int64)
        for name, text, count in prompt_rows:
            table[names[name], texts[text]] += count
        tables.append(table)
    return tables


def split_by_fingerprint(store: Store, runs: Sequence[Run], fingerprint: str | None) -> list[Run]:
    """Return runs restricted to one fingerprint.

    `each` gives one run per fingerprint, None the runs as they are.

    Raises UnknownName if no run has the fingerprint.
    """
    if not fingerprint:
        return list(runs)
    target = "" if fingerprint == UNREPORTED else fingerprint
    served = [(run, store.runs.fingerprints(run)) for run in runs if run.backend == SERVED]
    restricted = [
        store.runs.of_fingerprint(run, name)
        for run, names in served
        for name in sorted(names)
        if fingerprint == EACH or name == target
    ]
    if runs and not restricted:
        available = sorted({name or UNREPORTED for _, names in served for name in names})
        raise UnknownName(
            f"there are no answers under the fingerprint {fingerprint!r}. Available: "
            f"{', '.join(available) or 'none'}"
        )
    return restricted


def run_of_job(store: Store, job: Job) -> Run | None:
    """Return the run that a job asked or found answered.

    It is None for other jobs and without answers.

    If several match, such as those of two versions of a model, it is one with answers from the job,
    else the newest.
    """
    if (
        "sampling" not in job.spec
        or job.spec.get("audit", DEFAULT_AUDIT) not in entry_points.audits()
    ):
        return None
    design = Design.from_json(job.spec)
    fitting = [run for run in _answering(store, design) if run.occasion == design.occasion]
    with_answers = (
        [run for run in fitting if store.runs.has_results_of_job(run, job.id)]
        if len(fitting) > 1
        else []
    )
    return max(with_answers or fitting, key=lambda run: run.last, default=None)


def run_before(store: Store, design: Design) -> Run:
    """Return the run whose prompts a design asks anew: the newest one of another occasion.

    Raises UsageError if there is none.
    """
    candidates = [run for run in _answering(store, design) if run.occasion != design.occasion]
    if not candidates:
        raise UsageError(
            f"{design.model} has no answers to {design.instrument} of this kind that could be "
            "asked anew"
        )
    return max(candidates, key=lambda run: run.last)


def _answering(store: Store, design: Design) -> list[Run]:
    """Return the runs with answers to a design, of all occasions and versions of its model."""
    return [
        run
        for run in store.runs.list(design.audit, design.instrument, design.model)
        if run.responses
        and (run.sampling, run.family) == (design.sampling, design.family)
        and design.language in ("", run.language)
        and design.dtype in ("", run.dtype, run.dtype.partition("+")[0])
    ]


@dataclass(frozen=True, slots=True)
class AnswerSelection:
    """A selection of answers. A field that is None or empty does not restrict it."""

    instrument: str | None = None
    "its name; several, separated by commas, of an audit whose result is about all instruments"
    models: tuple[str, ...] = ()
    "names of models, or of runs as figures name them"
    templates: TemplateChoice = LATEST
    sampling: str | None = None
    "the description of a sampling, or a part of it"
    dtype: str | None = None
    snapshot: str | None = None
    "snapshot of a served model"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a result for every one"
    readings: ReadingChoice = USUAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", _with_personas(self.templates, self.models))

    def with_personas_in(self, names: Sequence[str]) -> Self:
        """Return a choice that also means the personas in these names of runs.

        Personas that are chosen already stay alone.
        """
        return replace(self, templates=_with_personas(self.templates, names))

    @property
    def instruments(self) -> tuple[str, ...]:
        """The names of the selected instruments, or none for all."""
        return listed(self.instrument)

    def to_options(self) -> dict[str, str]:
        """Return the command line's options for these answers, without those that are open."""
        values = {
            "instrument": self.instrument,
            "model": ",".join(self.models),
            "sampling": self.sampling,
            "dtype": self.dtype,
            "snapshot": self.snapshot,
            "fingerprint": self.fingerprint,
            "language": ",".join(self.templates.languages),
            "family": ",".join(self.templates.families),
            "persona": ",".join(self.templates.personas),
        }
        return {name: value for name, value in values.items() if value}

    def for_each_run(self, runs: Sequence[Run]) -> list[Self]:
        """Return a choice for each of the runs that this one means.

        It has no more than it takes to tell them apart.
        """
        choices = [self._of_run(run) for run in runs]
        anew = any(run.occasion for run in runs)
        return [
            choice if choices.count(choice) == 1 else replace(choice, **_exactly(run, anew=anew))
            for choice, run in zip(choices, runs, strict=True)
        ]

    def _of_run(self, run: Run) -> Self:
        personas = (run.persona_name,) if run.persona else ()
        templates = replace(
            self.templates, languages=(run.language,), families=(run.family,), personas=personas
        )
        fingerprint = self.fingerprint if run.fingerprint is None else run.fingerprint or UNREPORTED
        return replace(
            self,
            instrument=run.instrument,
            models=(run.model,),
            templates=templates,
            sampling=str(run.sampling),
            fingerprint=fingerprint,
        )

    @classmethod
    def from_arguments(cls, arguments: SimpleNamespace, store: Store) -> Self:
        """Return the answers that a command line or a program names. Raises UsageError."""
        reader = getattr(arguments, "reader", None)
        return cls(
            instrument=arguments.instrument,
            models=whole_names(store, arguments.model),
            templates=templates_of(arguments),
            sampling=getattr(arguments, "sampling", None),
            dtype=getattr(arguments, "dtype", None),
            snapshot=arguments.snapshot,
            fingerprint=arguments.fingerprint,
            readings=ReadingChoice(reader, rulings=not arguments.without_rulings),
        )


def _with_personas(templates: TemplateChoice, names: Sequence[str]) -> TemplateChoice:
    """Return a choice of templates with the personas in names of runs.

    A choice that has personas already stays as it is.
    """
    personas = tuple(dict.fromkeys(persona_in(name) or NONE for name in names))
    if templates.personas or not set(personas) - {NONE}:
        return templates
    return replace(templates, personas=personas)


def _exactly(run: Run, *, anew: bool) -> dict[str, Any]:
    """Return the text that tells a run from others of the same model, sampling and templates.

    `anew` says that some of them were asked anew.
    """
    with_revision = f"{run.model}@{run.revision}"
    return {
        "models": (
            with_revision if parted(with_revision) == (run.model, run.revision) else run.model,
        ),
        "dtype": run.dtype or None,
        "snapshot": _states(run)[-1]
        if anew
        else (run.snapshot or UNKNOWN)
        if run.backend == SERVED
        else None,
        "sampling": f"{run.sampling}, {run.encoded}" if run.encoded else str(run.sampling),
    }
