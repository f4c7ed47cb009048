"""How much of a run's plan was answered, and the kinds of answers: the header of every figure.

A cancelled run has figures like any other. So every audit first reports how much of the plan was answered, and which
share of the answers gives no stance: unreadable, refused, cut off in thought.
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
"note below figures that need every answer"
STATES = {
    "queued": "job {} waits to continue",
    "running": "job {} is still running",
    "paused": "job {} is paused",
    "cancelled": "job {} was cancelled",
    "failed": "job {} failed",
    "lost": "job {} lost its worker",
}
"state of an unfinished job -> its sentence"
SAID = 2
"number of such jobs named in a sentence, the newest"
OTHERS = "other snapshots of the model answered the rest"


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the answers."""

    count: int
    of: int
    "the answers for which it is known"

    @property
    def share(self) -> float:
        """The share; NaN if it is known for no answer."""
        return self.count / self.of if self.of else float("nan")


@dataclass(frozen=True, slots=True)
class Answered:
    """How much of a plan one model answered, and the kinds of its answers."""

    name: str
    planned: int
    answered: int
    "planned answers received; answers beyond the plan do not count"
    unit: str = "answers"
    "`answers`, or `prompts` if probabilities were computed"
    parts: Mapping[str, Part] = field(default_factory=dict)
    "by the names above; unknown parts are left out"
    job: str = ""
    "why the rest is missing, in words; empty if nothing is missing or the reason is unknown"
    failed: int = 0
    "answers that failed"
    elsewhere: bool = False
    "whether another snapshot of a served model answered the rest, so that nothing is missing"
    spared: Spared | None = None
    "answers saved because verdicts were settled; None: all answers were to be asked"
    optimum: float = float("nan")
    "expected share of N answers of prompts asked until settled, if settlement is checked after every answer; NaN: not \
computed"

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
        """Return a copy with the kinds of answers; a part that is None is unknown."""
        known = {key: part for key, part in parts.items() if part is not None}
        return replace(self, name=name or self.name, parts={**self.parts, **known})


def answered(store: Store, run: Run, name: str = "") -> Answered:
    """Return how much of a run's plan was answered.

    For answers, every prompt of a plan is recorded before it is asked. For computed probabilities nothing is recorded;
    unfinished jobs show what is missing.
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
    """Return how many answers are in another language than their prompts; None if there are none or it is unknown."""
    return Part(of.foreign, of.answers) if of is not None and of.foreign else None


def _unfinished(store: Store, run: Run) -> Iterator[Job]:
    """Yield the unfinished jobs that asked for a run, or were going to, the newest last."""
    for job in sorted(store.jobs.list(), key=lambda one: one.id):
        if job.state in STATES and job.done < job.total and asks(store, job, run):
            yield job


def asks(store: Store, job: Job, run: Run) -> bool:
    """Return whether a job asked for a run: its audit, instrument, model, sampling, language, templates and persona."""
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
    """Return the keys (hexadecimal) of a job's personas."""
    given = job.spec.get("personas")
    return [Persona.from_json(one).key.hex() for one in given] if isinstance(given, list) else []


def _has_snapshots(store: Store, run: Run) -> bool:
    """Return whether other snapshots of a served model answered under the same settings."""
    return any(
        (one.model, one.sampling_id, one.language, one.family) == (run.model, run.sampling_id, run.language, run.family)
        and one.model_id != run.model_id
        for one in store.runs.list(run.audit, run.instrument)
    )


__all__ = ["Answered", "Part", "answered", "asks", "foreign_part", "refused_part"]
