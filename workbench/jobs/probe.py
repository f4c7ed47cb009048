"""Asks a job's probe before anything else, and shows it.

A person decides on it, or the share of readable answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.jobs.job_rows import PROBE, UNDRAWN, UNREADABLE
from workbench.domain.probe_results import ProbeResult, percent
from workbench.inference.base import Doubtful
from workbench.jobs.probing import probe
from workbench.pipeline import planning

if TYPE_CHECKING:
    from workbench.domain.designs import Design
    from workbench.inference.base import Model
    from workbench.jobs.task import Ended, Task

NOTHING_YET = "The run itself has asked nothing yet."


def begin(task: Task, design: Design, model: Model) -> Ended | None:
    """Ask the probe of a job, if it has one.

    Returns how the job ends, or None if it continues.
    """
    store, job, request = task.store, task.job, task.job.probe
    if request is None or request.result is not None:
        return None
    plan = planning.plan(store, design, card=model.card)
    if not plan.samples_needed:
        return None
    store.jobs.beat(job.id, "probe: answers that count in no figure")
    result = probe(store, plan, model, task.stop, lambda message: _tell(task, message))
    if result is None:
        return "cancelled", f"{task.stop.why}; {NOTHING_YET} Resume starts with the probe again."
    for line in lines(result):
        task.say(line)
    if result.all_failed:
        return (
            "failed",
            f"every answer of the probe failed: {result.answers[0].reason}. {NOTHING_YET}",
        )
    store.jobs.note_probe(job.id, result)
    if (
        not job.patient
        and isinstance(model, Doubtful)
        and (why_not_drawn := model.undrawn(design.sampling))
    ):
        return stopped(
            task,
            UNDRAWN,
            f"{result.describe()}. Its answers are not drawn: {why_not_drawn}. {NOTHING_YET}",
        )
    if request.asks:
        return _waits(task, f"{result.describe()}. {NOTHING_YET}")
    if result.share >= request.least:
        return None
    least_share = percent(round(100 * request.least), 100)
    return stopped(
        task, PROBE, f"{result.describe()}, and fewer than {least_share} stop a run. {NOTHING_YET}"
    )


def _tell(task: Task, words: str) -> None:
    task.store.jobs.beat(task.job.id, words, task.attempt)


def lines(result: ProbeResult) -> list[str]:
    """Return a probe in lines: its result, then each answer after its reading."""
    return [
        result.describe(),
        *(f"  {answer.read_as}: {answer.text or answer.reason}" for answer in result.answers),
    ]


def hopeless(task: Task, why: str, stored_message: str, question: str = UNREADABLE) -> Ended:
    """Pause a job whose first answers are all unreadable, or not drawn."""
    return stopped(task, question, f"{why}. {stored_message}")


def stopped(task: Task, question: str, message: str) -> Ended:
    """Leave a job for a person's decision, without a worker."""
    if task.store.jobs.pause_for_people(task.job.id, task.attempt, message, question):
        return "paused", message
    return "cancelled", message


def _waits(task: Task, message: str) -> Ended:
    """Pause a job whose worker stays ready for a person's decision, as for any pause."""
    task.store.jobs.ask_people(task.job.id, task.attempt, PROBE)
    task.stop.pause()
    return "cancelled", message
