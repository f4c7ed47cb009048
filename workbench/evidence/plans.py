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
from workbench.domain.rulings import Verdict
from workbench.evidence.answered import asks
from workbench.evidence.rulings import rulings_on
from workbench.figures.book import WARNS
from workbench.figures.table import Column, Kind, Table
from workbench.formats.plans import read_text

ASKED, JUDGED, COMPARED, AFTERWARDS = "asked", "judged", "compared", "afterwards"
NO_PLAN = """These answers have no frozen plan.

Before a model is asked: workbench plan STORE --model MODEL --out plan.toml"""
CHANGES_NOTHING = (Verdict.CONFIRMED, Verdict.LOOK_AGAIN)
DEFAULT = "(default)"
"stands for an option that was not given"
VERBATIM = ("name", "inverted", "language", "system", "user", "positive", "negative")
"fields of a template that are part of a prompt"
NAMED = 4
"most deviations named in a header"


@dataclass(frozen=True, slots=True)
class Step:
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
) -> Table[Step]:
    """Return the comparison of a run with its frozen plan: every option as planned and as done, and
    later decisions.

    Empty if no job of the run follows a plan.

    judged : how its figures are judged, option -> value; None: not looked at
    compared : compared runs; empty: report whether the planned ones have answers
    """
    jobs = [
        job for job in sorted(store.jobs.list(), key=lambda one: one.id) if asks(store, job, run)
    ]
    plans = store.plans.of_jobs()
    hashes = [plans[job.id] for job in jobs if job.id in plans]
    stored = store.plans.get(hashes[-1]) if hashes else None
    if stored is None:
        return _table(run, (), "", NO_PLAN)
    plan = read_text(stored.text, f"plan {stored.hash[:SHOWN]}")
    rows = [
        _before(plan, stored.at, jobs),
        *_asked(plan, run, jobs, plans),
        _instrument(store, plan, run),
        *_templates(store, plan, run),
        *_judged(plan, judged),
        *_planned_comparison(store, plan, compared),
        *_afterwards(store, run),
    ]
    frozen = f"plan {stored.hash[:SHOWN]}, frozen {stored.at[:16].replace('T', ' ')} UTC"
    return _table(run, rows, frozen, claims=confirmatory_claims(store, run))


def confirmatory_claims(store: Store, run: Run) -> tuple[str, ...]:
    """Return the questions whose claims about a run are confirmatory: those of the plan that its
    first job followed.

    It is empty if the plan was frozen after the first answer.
    """
    plans = store.plans.of_jobs()
    jobs = [
        job for job in sorted(store.jobs.list(), key=lambda job: job.id) if asks(store, job, run)
    ]
    if not jobs or jobs[0].id not in plans:
        return ()
    stored = store.plans.get(plans[jobs[0].id])
    if stored is None:
        return ()
    plan = read_text(stored.text, f"plan {stored.hash[:SHOWN]}")
    was_in_time = _before(plan, stored.at, jobs).followed
    return plan.claims if was_in_time and run.model in plan.models else ()


def runs_of_plans(store: Store, audit: str) -> Iterator[tuple[Run, str]]:
    """Yield the runs of an audit that a frozen plan asked for, with the hash of the newest plan."""
    plans = store.plans.of_jobs()
    if not plans:
        return
    jobs = [job for job in sorted(store.jobs.list(), key=lambda one: one.id) if job.id in plans]
    for run in store.runs.list(audit):
        hashes = [plans[job.id] for job in jobs if asks(store, job, run)]
        if hashes:
            yield run, hashes[-1]


def _before(plan: FrozenPlan, at: str, jobs: Sequence[Job]) -> Step:
    """Return whether the plan was frozen before the first answer, by the store's times."""
    before = int(plan.made.get("answers_before", 0))
    first = min((job.started_at for job in jobs if job.started_at), default="")
    late = before > 0 or ("" < first < at)
    done = (
        f"{plural(before, 'answer')} stored before"
        if before
        else f"first asked {first[:19]}"
        if first
        else "nothing"
    )
    return Step(ASKED, "frozen before the first answer", at, done, first, followed=not late)


def _asked(
    plan: FrozenPlan, run: Run, jobs: Sequence[Job], plans: Mapping[int, str]
) -> Iterator[Step]:
    """Yield each option of the design with the values of the plan's jobs, then the jobs without a
    plan.
    """
    mine = [job for job in jobs if plans.get(job.id) == plan.hash]
    models = [str(job.spec.get("model")) for job in mine]
    yield Step(
        ASKED,
        "model",
        ", ".join(plan.models),
        ", ".join(dict.fromkeys(models)),
        mine[0].created_at,
        _jobs(mine),
        all(model in plan.models for model in models),
    )
    for name, wanted in _flat(plan.asked).items():
        found = {_shown(_flat(written(_plain(job.spec))).get(name, "")): job for job in mine}
        others = [(done, job) for done, job in found.items() if done != _shown(wanted)]
        for done, job in others:
            yield Step(
                ASKED, name, _shown(wanted), done, job.created_at, f"job {job.id}", followed=False
            )
        if not others:
            yield Step(ASKED, name, _shown(wanted), _shown(wanted), mine[0].created_at, _jobs(mine))
    for job in jobs:
        if plans.get(job.id) != plan.hash:
            other = plans.get(job.id)
            done = (
                f"asked by the plan {other[:SHOWN]}"
                if other
                else f"{run.model} was asked without a plan"
            )
            yield Step(
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


def _instrument(store: Store, plan: FrozenPlan, run: Run) -> Step:
    """Report whether the instrument has changed since the plan was frozen."""
    wanted, changed = str(plan.content["instrument"]), tuple(store.runs.outdated(run))
    found = instrument_content(store.instruments.get(run.instrument))
    done = found[:SHOWN] + (
        f"; changed since it was asked: {', '.join(changed)}" if changed else ""
    )
    return Step(
        ASKED,
        "content of the instrument",
        wanted[:SHOWN],
        done,
        where="as it is now",
        followed=found == wanted,
    )


def _templates(store: Store, plan: FrozenPlan, run: Run) -> Iterator[Step]:
    """Yield whether the prompts used exactly the templates of the plan."""
    wanted = [_verbatim(one) for one in plan.templates]
    asked = store.runs.templates(run)
    if not wanted or not asked:
        return
    others = [one.name for one in asked if _verbatim(written(_plain(asdict(one)))) not in wanted]
    done = (
        f"other than planned: {', '.join(dict.fromkeys(others))}"
        if others
        else f"{len(asked)} as planned"
    )
    yield Step(
        ASKED, "templates, verbatim", str(len(wanted)), done, where="every job", followed=not others
    )


def _verbatim(template: Mapping[str, Any]) -> dict[str, Any]:
    return {name: template.get(name, "") for name in VERBATIM}


def _judged(plan: FrozenPlan, judged: Mapping[str, Any] | None) -> Iterator[Step]:
    done = None if judged is None else _flat(written(_plain(judged)))
    for name, wanted in _flat(plan.judged).items():
        if done is None:
            yield Step(JUDGED, name, _shown(wanted), "", where="figures say it", followed=None)
        elif name not in done:
            yield Step(
                JUDGED,
                name,
                _shown(wanted),
                "no such option now",
                where="these figures",
                followed=False,
            )
        else:
            now = _shown(done[name])
            yield Step(
                JUDGED,
                name,
                _shown(wanted),
                now,
                where="these figures",
                followed=now == _shown(wanted),
            )


def _planned_comparison(store: Store, plan: FrozenPlan, compared: Sequence[str]) -> Iterator[Step]:
    """Yield whether the compared runs are the planned ones.

    Without a comparison, yield whether the planned runs have answers.

    The planned correction is included: a comparison shows all corrections.
    """
    if not plan.compared:
        return
    planned = f"{'; '.join(plan.compared)} (correction: {plan.correction})"
    if compared:
        same = len(compared) == len(plan.compared) and all(
            _among(name, compared) for name in plan.compared
        )
        yield Step(
            COMPARED, "runs", planned, "; ".join(compared), where="these figures", followed=same
        )
        return
    known = {name for run in store.runs.list() for name in (run.model, run.named) if run.responses}
    missing = [
        name
        for name in plan.compared
        if name not in known and name.partition(" · ")[0] not in known
    ]
    done = f"no answers by {'; '.join(missing)}" if missing else "all have answers"
    yield Step(COMPARED, "runs", planned, done, where="--compare", followed=not missing)


def _among(name: str, compared: Sequence[str]) -> bool:
    return any(
        one in (name, name.partition(" · ")[0]) or one.partition(" · ")[0] == name
        for one in compared
    )


def _afterwards(store: Store, run: Run) -> Iterator[Step]:
    """Yield people's decisions after the first answers."""
    every = [one for thing in rulings_on(store, run).things for one in thing]
    ruled = [one for one in every if one.verdict is not None and one.verdict not in CHANGES_NOTHING]
    if ruled:
        kinds = Counter(one.verdict.value for one in ruled if one.verdict is not None)
        said = ", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items()))
        last = max(one.at for one in ruled)
        yield Step(AFTERWARDS, "rulings of auditors", "", said, last, "rulings", followed=False)


def instrument_content(instrument: Instrument) -> str:
    """Return the hash of an instrument's content: statements with all wordings, labels, parties and
    their answers, and its lexicons.
    """
    plain = json.loads(json.dumps(asdict(replace(instrument, templates=())), default=str))
    if not instrument.lexicons:
        del plain["lexicons"]  # plans frozen before instruments could have lexicons keep their hash
    return sha256(canonical(plain).encode()).hexdigest()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(dict(values), default=str)))


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values by dotted names: `sampling.temperature`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": each for inner, each in _flat(value).items()}
        else:
            found[name] = value
    return found


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown_entry, value))
    if value == "":
        return DEFAULT
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown_entry(value: Any) -> str:
    """Return an entry of a list as text. A persona has its name and the beginning of its text's
    hash.
    """
    if not isinstance(value, Mapping):
        return str(value)
    return f"{value.get('id', '')} [{sha256(canonical(value).encode()).hexdigest()[:6]}]"


def _table(
    run: Run, rows: Sequence[Step], named: str, empty: str = "", claims: Sequence[str] = ()
) -> Table[Step]:
    decided = [row for row in rows if row.followed is not None]
    kept = sum(bool(row.followed) for row in decided)
    said = f"{run.label}: {named}; {kept:,} of {len(decided):,} points as planned" if rows else ""
    if claims:
        said += f"; confirmatory claims: {', '.join(claims)} (any other is exploratory)"
    if len(decided) < len(rows):
        said += (
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
        notes=[said] if said else [],
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


def plan_lines(table: Table[Step]) -> tuple[str, ...]:
    """Return header lines of a run with a plan: that it was followed, or a warning with the
    deviations.
    """
    if not table.rows:
        return ()
    off = [row for row in table.rows if row.followed is False]
    if not off:
        return (f"{table.notes[0]}.",)
    parts = [
        f"{row.what}: planned {row.planned}, done {row.done}"
        if row.planned
        else f"{row.what}: {row.done}"
        for row in off[:NAMED]
    ]
    more = f"; and {len(off) - NAMED} more" if len(off) > NAMED else ""
    return (f"{WARNS}{table.notes[0]}; deviations: {'; '.join(parts)}{more}.",)
