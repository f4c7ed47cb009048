"""How much of a run's plan was answered, and the kinds of answers: the header of every figure.

A run that was cancelled has figures like any other. So that nobody takes them for the whole, every audit says first how
much of the plan they rest on, and which share of the answers gives no stance: unreadable, refused, cut off in thought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.run_rows import SERVED, Run
from stores.runs.settlements import Spared
from workbench.data import lexicon
from workbench.domain.personas import Persona
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACT, Sampling
from workbench.evidence.refusals import Refusals

UNREAD, UNREADABLE, BELOW, UNRELATED = "unread", "unreadable", "below", "unrelated"
REFUSED, TRUNCATED, INVALID, FOREIGN = "refused", "truncated", "invalid", "foreign"
OF_THOSE_DRAWN = (
    "Prompts were asked until settled: shares are of the answers drawn, of which prompts that are hard to settle have "
    "more, so they are not those of a full run."
)
"what stands under figures that need every answer"
STATES = {
    "queued": "job {} waits to continue",
    "running": "job {} is still running",
    "paused": "job {} is paused",
    "cancelled": "job {} was cancelled",
    "failed": "job {} failed",
    "lost": "job {} lost its worker",
}
"state of a job that has not come to its end -> how a sentence says it"
SAID = 2
"of several such jobs that a sentence names, the newest"
OTHERS = "other snapshots of the model answered the rest"


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the answers."""

    count: int
    of: int
    "answers of which one could say it"

    @property
    def share(self) -> float:
        """NaN where nothing could be said of any."""
        return self.count / self.of if self.of else float("nan")


@dataclass(frozen=True, slots=True)
class Answered:
    """How much of a plan was answered by one model, and what came of it."""

    name: str
    planned: int
    answered: int
    "of those planned; answers beyond the plan are none of them"
    unit: str = "answers"
    "`answers`, or `prompts` where probabilities were computed"
    parts: Mapping[str, Part] = field(default_factory=dict)
    "by the names above; without those of which nothing is known"
    job: str = ""
    "why the rest is missing, in words; empty where nothing is missing, or nobody knows"
    failed: int = 0
    "answers that failed"
    elsewhere: bool = False
    "whether another snapshot of a served model has the rest, so that nothing is missing"
    spared: Spared | None = None
    "what was left unasked as its verdicts were settled; None: everything was to be asked"
    optimum: float = float("nan")
    "share of N answers that the prompts asked until settled take on average where one stops after every answer; NaN: \
nobody worked it out"

    unreviewed: tuple[str, ...] = ()
    "languages of the lexicons that the instrument brings, that read the answers, and that no native speaker reviewed"

    @property
    def settled(self) -> int:
        """Answers of the plan that need not be drawn."""
        return 0 if self.spared is None else self.spared.left

    @property
    def partial(self) -> bool:
        """Whether a part of the plan is missing."""
        return self.answered + self.settled < self.planned and not self.elsewhere

    @property
    def share(self) -> float:
        return self.answered / self.planned if self.planned else float("nan")

    def with_parts(self, name: str = "", **parts: Part | None) -> Answered:
        """Return the same with what came of the answers; a part that is None is not known."""
        known = {key: part for key, part in parts.items() if part is not None}
        return replace(self, name=name or self.name, parts={**self.parts, **known})


def answered(store: Store, run: Run, name: str = "") -> Answered:
    """Return how much of a run's plan was answered.

    Of answers, every prompt of a plan is noted before it is asked. Where probabilities are computed nothing is noted;
    what is missing is told by jobs that have not come to their end.
    """
    planned, came = (run.prompts, run.answered) if run.sampling.mode == EXACT else store.runs.kept_of_plan(run)
    waiting = list(_unfinished(store, run))
    if run.sampling.mode == EXACT:
        planned = max([planned, *(job.total // (1 + len(_personas(job))) for job in waiting)])
    spared = None if run.sampling.mode == EXACT else store.settlements.spared(run)
    missing, why = (
        came + (spared.left if spared else 0) < planned,
        "; ".join(STATES[job.state].format(job.id) for job in waiting[-SAID:]),
    )
    elsewhere = missing and run.backend == SERVED and not waiting and not run.failed and _has_snapshots(store, run)
    return Answered(
        name or run.named,
        planned,
        came,
        "prompts" if run.sampling.mode == EXACT else "answers",
        job=why if missing and waiting else OTHERS if elsewhere else "",
        failed=run.failed,
        elsewhere=elsewhere,
        spared=spared,
        unreviewed=tuple(dict.fromkeys(_unreviewed(store.runs.templates(run)))),
    )


def _unreviewed(templates: Iterable[Template]) -> Iterator[str]:
    return (one.language for one in templates if one.words and not lexicon(one.language, one.words).reviewed)


def refused_part(of: Refusals | None) -> Part | None:
    """Return the number of refusals; None if the run has no answers in words."""
    return Part(of.refused, of.answers) if of is not None and of.answers else None


def foreign_part(of: Refusals | None) -> Part | None:
    """Return how many answers are in another language than their prompts; None where none is, or nobody knows."""
    return Part(of.foreign, of.answers) if of is not None and of.foreign else None


def _unfinished(store: Store, run: Run) -> Iterator[Job]:
    """Yield the jobs that asked for a run, or were about to, and have not come to their end; the newest last."""
    for job in sorted(store.jobs.list(), key=lambda one: one.id):
        if job.state in STATES and job.done < job.total and asks(store, job, run):
            yield job


def asks(store: Store, job: Job, run: Run) -> bool:
    """Return whether a job asked for what a run is: its audit, instrument, model, sampling, language, templates and
    persona.
    """
    spec, sampling = job.spec, job.spec.get("sampling")
    same = (spec.get("audit"), spec.get("instrument"), spec.get("family", run.family)) == (
        run.audit,
        run.instrument,
        run.family,
    )
    if run.persona and run.persona not in _personas(job):
        return False
    if not (same and spec.get("language") in (None, "", run.language) and isinstance(sampling, Mapping)):
        return False
    return Sampling(**sampling).key == run.sampling.key and run.model_id in store.runs.models([str(spec.get("model"))])


def _personas(job: Job) -> Sequence[str]:
    """Return the keys (hexadecimal) of the personas that a job asks with."""
    given = job.spec.get("personas")
    return [Persona.from_json(one).key.hex() for one in given] if isinstance(given, list) else []


def _has_snapshots(store: Store, run: Run) -> bool:
    """Return whether other snapshots of a served model answered in the same manner."""
    return any(
        (one.model, one.sampling_id, one.language, one.family) == (run.model, run.sampling_id, run.language, run.family)
        and one.model_id != run.model_id
        for one in store.runs.list(run.audit, run.instrument)
    )


__all__ = ["Answered", "Part", "answered", "asks", "foreign_part", "refused_part"]
