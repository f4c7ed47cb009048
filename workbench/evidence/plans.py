"""Compares a run with its frozen plan, and lists later decisions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.run_rows import Run
from workbench.domain.designs import SHOWN, FrozenPlan, written
from workbench.domain.instruments import Instrument
from workbench.domain.keys import canonical
from workbench.domain.names import plural
from workbench.domain.rulings import RulingVerdict
from workbench.evidence.answered import is_asked_by
from workbench.evidence.rulings import rulings_in_force
from workbench.figures.book import WARNS
from workbench.figures.table import Column, Kind, Table
from workbench.formats.plans import read_text

ASKED, JUDGED, COMPARED, AFTERWARDS = "asked", "judged", "compared", "afterwards"
NO_PLAN = """These answers have no frozen plan.

Before a model is asked: workbench plan STORE --model MODEL --out plan.toml"""
CHANGES_NOTHING = (RulingVerdict.CONFIRMED, RulingVerdict.LOOK_AGAIN)
DEFAULT = "(default)"
"stands for an option that was not given"
VERBATIM = ("name", "inverted", "language", "system", "user", "positive", "negative")
"fields of a template that are part of a prompt"
NAMED = 4
"most deviations named in a header"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A choice fixed by a plan, or made without it."""

    part: str
    "asked, judged, compared or afterwards"
    what: str
    "an option, by its declared name"
    planned: str
    done: str
    when: str = ""
    "when it was done (UTC); empty: not recorded"
    where: str = ""
    "the job, or the figures"
    followed: bool | None = True
    "None: not checked, without figures"


def followed(
    store: Store, run: Run, judged: Mapping[str, Any] | None = None, compared: Sequence[str] = ()
) -> Table[PlanStep]:
    """Return the comparison of a run with its frozen plan.

    It has every option as planned and as done, and later decisions.

    Empty if no job of the run follows a plan.

    Parameters
    ----------
    judged : how its figures are judged, option -> value; None: not looked at
    compared : compared runs; empty: report whether the planned ones have answers
    """
    jobs = _jobs_of(store, run)
    plans = store.plans.of_jobs()
    hashes = [plans[job.id] for job in jobs if job.id in plans]
    stored = store.plans.get(hashes[-1]) if hashes else None
    if stored is None:
        return _table(run, (), "", NO_PLAN)
    plan = read_text(stored.text, f"plan {stored.hash[:SHOWN]}")
    rows = [
        *_steps_of_asking(store, plan, stored.at, run, jobs),
        *_judged(plan, judged),
        *_planned_comparison(store, plan, compared),
        *_afterwards(store, run),
    ]
    frozen = f"plan {stored.hash[:SHOWN]}, frozen {stored.at[:16].replace('T', ' ')} UTC"
    return _table(run, rows, frozen, claims=confirmatory_claims(store, run))


def confirmatory_claims(store: Store, run: Run) -> tuple[str, ...]:
    """Return the questions whose claims about a run are confirmatory.

    They are those of the plan that its first job followed.

    It is empty if the plan was frozen after the first answer, or if the run was asked otherwise.
    """
    plans = store.plans.of_jobs()
    jobs = _jobs_of(store, run)
    if not jobs or jobs[0].id not in plans:
        return ()
    stored = store.plans.get(plans[jobs[0].id])
    if stored is None:
        return ()
    plan = read_text(stored.text, f"plan {stored.hash[:SHOWN]}")
    steps = _steps_of_asking(store, plan, stored.at, run, jobs)
    is_followed = all(step.followed is not False for step in steps if step.part == ASKED)
    return plan.claims if is_followed and run.model in plan.models else ()


def _jobs_of(store: Store, run: Run) -> list[Job]:
    """Return the jobs that asked for a run, the first one first."""
    jobs = sorted(store.jobs.list(), key=lambda job: job.id)
    return [job for job in jobs if is_asked_by(store, job, run)]


def _steps_of_asking(
    store: Store, plan: FrozenPlan, frozen_at: str, run: Run, jobs: Sequence[Job]
) -> tuple[PlanStep, ...]:
    """Return the steps of a plan that are about asking: when, what, and with which texts.

    `frozen_at` is the time at which the plan was frozen.
    """
    return (
        _before(plan, frozen_at, jobs),
        *_design_steps(plan, run, jobs, store.plans.of_jobs()),
        _instrument(store, plan, run),
        *_templates(store, plan, run),
    )


def runs_of_plans(store: Store, audit: str) -> Iterator[tuple[Run, str]]:
    """Yield the runs of an audit that a frozen plan asked for, with the hash of the newest plan."""
    plans = store.plans.of_jobs()
    if not plans:
        return
    jobs = [job for job in sorted(store.jobs.list(), key=lambda job: job.id) if job.id in plans]
    for run in store.runs.list(audit):
        hashes = [plans[job.id] for job in jobs if is_asked_by(store, job, run)]
        if hashes:
            yield run, hashes[-1]


def _before(plan: FrozenPlan, frozen_at: str, jobs: Sequence[Job]) -> PlanStep:
    """Return whether the plan was frozen before the first answer, by the store's times."""
    n_before = int(plan.made.get("answers_before", 0))
    first_asked = min((job.started_at for job in jobs if job.started_at), default="")
    is_late = n_before > 0 or ("" < first_asked < frozen_at)
    done = (
        f"{plural(n_before, 'answer')} stored before"
        if n_before
        else f"first asked {first_asked[:19]}"
        if first_asked
        else "nothing"
    )
    return PlanStep(
        ASKED, "frozen before the first answer", frozen_at, done, first_asked, followed=not is_late
    )


def _design_steps(
    plan: FrozenPlan, run: Run, jobs: Sequence[Job], plans: Mapping[int, str]
) -> Iterator[PlanStep]:
    """Yield each option of the design with its value in the plan and in the plan's jobs.

    The jobs without a plan follow.
    """
    plan_jobs = [job for job in jobs if plans.get(job.id) == plan.hash]
    models = [str(job.spec.get("model")) for job in plan_jobs]
    yield PlanStep(
        ASKED,
        "model",
        ", ".join(plan.models),
        ", ".join(dict.fromkeys(models)),
        plan_jobs[0].created_at,
        _jobs(plan_jobs),
        all(model in plan.models for model in models),
    )
    for name, planned in _flat(plan.asked).items():
        job_by_value = {
            _shown(_flat(written(_json_values(job.spec))).get(name, "")): job for job in plan_jobs
        }
        deviations = [(done, job) for done, job in job_by_value.items() if done != _shown(planned)]
        for done, job in deviations:
            yield PlanStep(
                ASKED, name, _shown(planned), done, job.created_at, f"job {job.id}", followed=False
            )
        if not deviations:
            yield PlanStep(
                ASKED,
                name,
                _shown(planned),
                _shown(planned),
                plan_jobs[0].created_at,
                _jobs(plan_jobs),
            )
    for job in jobs:
        if plans.get(job.id) != plan.hash:
            other_plan = plans.get(job.id)
            done = (
                f"asked by the plan {other_plan[:SHOWN]}"
                if other_plan
                else f"{run.model} was asked without a plan"
            )
            yield PlanStep(
                AFTERWARDS,
                f"job {job.id}",
                "",
                done,
                job.created_at,
                f"job {job.id}",
                followed=False,
            )


def _jobs(jobs: Sequence[Job]) -> str:
    return ", ".join(f"job {job.id}" for job in jobs)


def _instrument(store: Store, plan: FrozenPlan, run: Run) -> PlanStep:
    """Report whether the instrument has changed since the plan was frozen."""
    planned, changed_refs = str(plan.content["instrument"]), tuple(store.runs.outdated(run))
    content = instrument_content(store.instruments.get(run.instrument))
    done = content[:SHOWN] + (
        f"; changed since it was asked: {', '.join(changed_refs)}" if changed_refs else ""
    )
    return PlanStep(
        ASKED,
        "content of the instrument",
        planned[:SHOWN],
        done,
        where="as it is now",
        followed=content == planned,
    )


def _templates(store: Store, plan: FrozenPlan, run: Run) -> Iterator[PlanStep]:
    """Yield whether the prompts used exactly the templates of the plan."""
    planned = [_verbatim(template) for template in plan.templates]
    templates = store.runs.templates(run)
    if not planned or not templates:
        return
    unplanned = [
        template.name
        for template in templates
        if _verbatim(written(_json_values(asdict(template)))) not in planned
    ]
    done = (
        f"other than planned: {', '.join(dict.fromkeys(unplanned))}"
        if unplanned
        else f"{len(templates)} as planned"
    )
    yield PlanStep(
        ASKED,
        "templates, verbatim",
        str(len(planned)),
        done,
        where="every job",
        followed=not unplanned,
    )


def _verbatim(template: Mapping[str, Any]) -> dict[str, Any]:
    return {name: template.get(name, "") for name in VERBATIM}


def _judged(plan: FrozenPlan, judged: Mapping[str, Any] | None) -> Iterator[PlanStep]:
    done = None if judged is None else _flat(written(_json_values(judged)))
    for name, planned in _flat(plan.judged).items():
        if done is None:
            yield PlanStep(JUDGED, name, _shown(planned), "", where="figures say it", followed=None)
        elif name not in done:
            yield PlanStep(
                JUDGED,
                name,
                _shown(planned),
                "no such option now",
                where="these figures",
                followed=False,
            )
        else:
            value = _shown(done[name])
            yield PlanStep(
                JUDGED,
                name,
                _shown(planned),
                value,
                where="these figures",
                followed=value == _shown(planned),
            )


def _planned_comparison(
    store: Store, plan: FrozenPlan, compared: Sequence[str]
) -> Iterator[PlanStep]:
    """Yield whether the compared runs are the planned ones.

    Without a comparison, yield whether the planned runs have answers.

    The planned correction is included: a comparison shows all corrections.
    """
    if not plan.compared:
        return
    planned = f"{'; '.join(plan.compared)} (correction: {plan.correction})"
    if compared:
        is_same = len(compared) == len(plan.compared) and all(
            _among(name, compared) for name in plan.compared
        )
        yield PlanStep(
            COMPARED, "runs", planned, "; ".join(compared), where="these figures", followed=is_same
        )
        return
    answered_names = {
        name for run in store.runs.list() for name in (run.model, run.named) if run.responses
    }
    missing = [
        name
        for name in plan.compared
        if name not in answered_names and name.partition(" · ")[0] not in answered_names
    ]
    done = f"no answers by {'; '.join(missing)}" if missing else "all have answers"
    yield PlanStep(COMPARED, "runs", planned, done, where="--compare", followed=not missing)


def _among(name: str, compared: Sequence[str]) -> bool:
    return any(
        other in (name, name.partition(" · ")[0]) or other.partition(" · ")[0] == name
        for other in compared
    )


def _afterwards(store: Store, run: Run) -> Iterator[PlanStep]:
    """Yield people's decisions after the first answers."""
    all_rulings = [
        ruling for on_subject in rulings_in_force(store, run).things for ruling in on_subject
    ]
    deciding = [
        ruling
        for ruling in all_rulings
        if ruling.verdict is not None and ruling.verdict not in CHANGES_NOTHING
    ]
    if deciding:
        kinds = Counter(ruling.verdict.value for ruling in deciding if ruling.verdict is not None)
        text = ", ".join(f"{name} {count:,}" for name, count in sorted(kinds.items()))
        last = max(ruling.at for ruling in deciding)
        yield PlanStep(AFTERWARDS, "rulings of auditors", "", text, last, "rulings", followed=False)


def instrument_content(instrument: Instrument) -> str:
    """Return the hash of an instrument's content.

    It covers statements with all wordings, labels, parties and their answers, and its lexicons.
    """
    plain = json.loads(json.dumps(asdict(replace(instrument, templates=())), default=str))
    if not instrument.lexicons:
        del plain["lexicons"]  # plans frozen before instruments could have lexicons keep their hash
    return sha256(canonical(plain).encode()).hexdigest()


def _json_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(dict(values), default=str)))


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values by dotted names: `sampling.temperature`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": inner_value for inner, inner_value in _flat(value).items()}
        else:
            flat[name] = value
    return flat


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown_entry, value))
    if value == "":
        return DEFAULT
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown_entry(value: Any) -> str:
    """Return an entry of a list as text.

    A persona has its name and the beginning of its text's hash.
    """
    if not isinstance(value, Mapping):
        return str(value)
    return f"{value.get('id', '')} [{sha256(canonical(value).encode()).hexdigest()[:6]}]"


def _table(
    run: Run, rows: Sequence[PlanStep], named: str, empty: str = "", claims: Sequence[str] = ()
) -> Table[PlanStep]:
    decided = [row for row in rows if row.followed is not None]
    n_followed = sum(bool(row.followed) for row in decided)
    note = (
        f"{run.label}: {named}; {n_followed:,} of {len(decided):,} points as planned"
        if rows
        else ""
    )
    if claims:
        note += f"; confirmatory claims: {', '.join(claims)} (any other is exploratory)"
    if len(decided) < len(rows):
        note += (
            f"; {plural(len(rows) - len(decided), 'option')} of judging can be told beside "
            "figures alone"
        )
    return Table(
        "plan",
        f"Plan of {run.label}, and what was done",
        rows,
        [
            Column("part", "part", lambda row: row.part),
            Column("what", "what", lambda row: row.what, least=12),
            Column("planned", "planned", lambda row: row.planned, least=12),
            Column("done", "done", lambda row: row.done, least=12),
            Column("differs", "", lambda row: row.followed is False, Kind.MARK, mark="≠"),
            Column("when", "when (UTC)", lambda row: row.when[:19].replace("T", " "), aside=True),
            Column("where", "where", lambda row: row.where, aside=True),
        ],
        key=lambda row: (row.part, row.what, row.where, row.done),
        definition="The plan was written and hashed before the first answer. ≠ marks what was done "
        "differently or decided afterwards.",
        notes=[note] if note else [],
        empty=empty,
        subject=(run.audit, run.label),
        minor=lambda row: row.followed is not False,
    )


def header_of_plans(
    store: Store, runs: Iterable[Run], judged: Callable[[Run], Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return header lines on whether runs were asked and judged according to their frozen plans."""
    if not store.plans.of_jobs():
        return ()
    return tuple(line for run in runs for line in plan_lines(followed(store, run, judged(run))))


def plan_lines(table: Table[PlanStep]) -> tuple[str, ...]:
    """Return header lines of a run with a plan.

    They say that it was followed, or are a warning with the deviations.
    """
    if not table.rows:
        return ()
    deviations = [row for row in table.rows if row.followed is False]
    if not deviations:
        return (f"{table.notes[0]}.",)
    parts = [
        f"{row.what}: planned {row.planned}, done {row.done}"
        if row.planned
        else f"{row.what}: {row.done}"
        for row in deviations[:NAMED]
    ]
    suffix = f"; and {len(deviations) - NAMED} more" if len(deviations) > NAMED else ""
    return (f"{WARNS}{table.notes[0]}; deviations: {'; '.join(parts)}{suffix}.",)
