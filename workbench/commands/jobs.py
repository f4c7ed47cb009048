"""Pause, resume, cancel, retry, hide and delete jobs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.errors import UsageError
from workbench.options.option import Type
from workbench.options.shared import YES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.core.store import Store
    from stores.jobs.job_rows import Job

YES_JOB = YES.but(
    help="resume, retry: continue a job created elsewhere without asking; delete: do not ask"
)


@dataclass(frozen=True)
class JobActCommand(ImmediateCommand):
    """The base of commands that do something to one job."""

    VERB = "jobs"
    FITS: ClassVar[Sequence[str]] = ()
    "states of the jobs among which one is chosen if none is named"
    NEEDS_WORKER_STATE: ClassVar[bool] = True
    "whether it matters that the job's worker is alive"

    job: int | None = option(None, "the job's number", type=Type.WHOLE, positional=True)

    def number(self, store: Store) -> int:
        """Return the job's number. Raises WorkbenchError if it has to be given, or is unknown."""
        return job_number(store, self.job, self.ACT_WORD, self.FITS)

    def run(self, store: Store) -> Outcome:
        """Do it. Raises JobError if the job is in another state."""
        from workbench.jobs import launch

        number = self.number(store)
        if self.NEEDS_WORKER_STATE:
            launch.settled(store, number)
        return self.act(store, number)

    @abstractmethod
    def act(self, store: Store, number: int) -> Outcome:
        """Do it to the job of a number. Raises JobError if the job is in another state."""


@dataclass(frozen=True)
class PauseJobCommand(JobActCommand):
    """Let a job store its current work and wait. Its worker and model stay ready for a while."""

    ACT_WORD = "pause"
    FITS = ("running", "queued")

    def act(self, store: Store, number: int) -> Outcome:
        job = store.jobs.pause(number)
        change = "stores its current work and pauses"
        if job.state == "paused":
            change = "is paused"
        hint = f"Continue: workbench jobs STORE resume {number}"
        return _outcome(store, number, f"Job {number} {change}. {hint}")


@dataclass(frozen=True)
class ResumeJobCommand(JobActCommand):
    """Continue a paused, cancelled, failed or lost job, or start one that waits for its turn."""

    ACT_WORD = "resume"
    FITS = ("paused", "lost", "failed", "cancelled")

    yes: bool = shared_option(YES_JOB)

    def act(self, store: Store, number: int) -> Outcome:
        from workbench.jobs import launch

        launch.resume(store, number, consent=self.yes)
        return _outcome(store, number, f"Job {number} continues. {_follow_hint(number)}")


@dataclass(frozen=True)
class RetryJobCommand(JobActCommand):
    """Let a job retry only what failed."""

    ACT_WORD = "retry"
    FITS = ("failed", "cancelled")

    yes: bool = shared_option(YES_JOB)

    def act(self, store: Store, number: int) -> Outcome:
        from workbench.jobs import launch

        launch.retry(store, number, consent=self.yes)
        return _outcome(store, number, f"Job {number} retries what failed. {_follow_hint(number)}")


@dataclass(frozen=True)
class CancelJobCommand(JobActCommand):
    """Let a job store its current work and end. A second time ends a stuck worker at once."""

    ACT_WORD = "cancel"
    FITS = ("running", "queued", "paused", "lost")

    def act(self, store: Store, number: int) -> Outcome:
        from workbench.jobs.tidying import cancel

        job, batches = cancel(store, number)
        change = "stores its current work and stops"
        if job.state == "cancelled":
            change = "is cancelled"
        sentence = " ".join(filter(None, [f"Job {number} {change}.", batches]))
        return _outcome(store, number, sentence)


@dataclass(frozen=True)
class SetConcurrencyCommand(JobActCommand):
    """Set how many calls to a served model, or rows of a batch, a job runs at once."""

    ACT_WORD = "concurrency"
    FITS = ("running", "queued", "paused")
    NEEDS_WORKER_STATE = False

    most: int | None = option(
        None,
        "concurrency: number at once",
        type=Type.WHOLE,
        least=0,
        positional=True,
        metavar="N",
    )

    def act(self, store: Store, number: int) -> Outcome:
        """Set the number; 0 restores the original one. Raises UsageError without a number."""
        if self.most is None:
            raise UsageError(
                f"give the number at once: workbench jobs STORE concurrency {number} N"
            )
        job = store.jobs.set_concurrency(number, self.most or None)
        limit = "the original number"
        if job.concurrency is not None:
            limit = f"at most {job.concurrency}"
        return _outcome(store, number, f"Job {number}: {limit} at once.")


@dataclass(frozen=True)
class HideJobCommand(JobActCommand):
    """Hide a finished job from lists."""

    ACT_WORD = "hide"
    FITS = ("lost", "failed", "cancelled")

    def act(self, store: Store, number: int) -> Outcome:
        store.jobs.hide(number)
        return _outcome(
            store, number, f"Job {number} is hidden. List it: workbench jobs STORE --hidden"
        )


@dataclass(frozen=True)
class UnhideJobCommand(JobActCommand):
    """List a hidden job again."""

    ACT_WORD = "show"
    FITS = ("lost", "failed", "cancelled", "done")
    NEEDS_WORKER_STATE = False

    def act(self, store: Store, number: int) -> Outcome:
        store.jobs.hide(number, hidden=False)
        return _outcome(store, number, f"Job {number} is listed again.")


@dataclass(frozen=True)
class DeleteJobCommand(JobActCommand):
    """Delete a job that has stored nothing."""

    ACT_WORD = "delete"
    FITS = ("failed", "cancelled")

    def act(self, store: Store, number: int) -> Outcome:
        """Delete the job. Raises JobError if it has stored something, or may yet do so."""
        from workbench.jobs.tidying import delete, what_goes

        loss = what_goes(store, number)
        delete(store, number)
        return Outcome(f"Deleted job {number}.", {"deleted": number, "said": loss})


def _outcome(store: Store, number: int, sentence: str) -> Outcome:
    return Outcome(sentence, job_data(store.jobs.get(number)))


def job_number(store: Store, job: int | None, act: str, states: Sequence[str]) -> int:
    """Return the number of the named job, or of the only one in a state that an act fits.

    Raises UsageError if there are none or several, UnknownName for an unknown job.
    """
    if job is not None:
        return int(store.jobs.get(job).id)
    matches = [each for each in store.jobs.list() if each.state in states]
    if len(matches) == 1:
        return matches[0].id
    candidates = ", ".join(f"{each.id} ({each.state})" for each in matches) or "none"
    raise UsageError(f"name the job: workbench jobs STORE {act} JOB. Jobs it fits: {candidates}")


def job_data(job: Job) -> dict[str, Any]:
    """Return a job as plain values. Parameters of its sampling that are unknown are None."""
    from workbench.domain.responses import IMPORTED, Sampling

    data = asdict(job)
    sampling = data["spec"].get("sampling")
    if isinstance(sampling, dict):
        known = Sampling(**sampling)
        data["spec"] = {**data["spec"], "sampling": {name: known.known(name) for name in sampling}}
        if str(data["spec"].get("model", "")).startswith(IMPORTED):
            data["spec"]["seed"] = None
    return data


def _follow_hint(number: int) -> str:
    return f"Follow it: workbench jobs STORE follow {number}"
