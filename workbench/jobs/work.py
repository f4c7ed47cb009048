"""The work of other kinds of jobs: training a classifier, reading with a classifier, drafting and
checking wordings.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.courses import Course
from workbench.domain.job_kinds import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.errors import ModelError
from workbench.evidence import reader_quality
from workbench.evidence.reader_quality import quality, quality_warnings
from workbench.jobs import probe
from workbench.jobs.sampling import sample
from workbench.jobs.task import AGAIN, Ended, Task, model_description, unfinished
from workbench.pipeline.checking import CHECK, CheckSpec, check_report, plan_check, run_check
from workbench.pipeline.drafting import DraftSpec, outcome, plan_drafting, run_drafting
from workbench.pipeline.training import (
    ClassifySpec,
    TrainSpec,
    plan_classifying,
    plan_training,
    run_classifying,
    run_training,
)

if TYPE_CHECKING:
    from workbench.classifier.config import TrainProgress

REPORT_AFTER_S = 0.5
"least seconds between two reports of a training's progress"


def train(task: Task) -> Ended:
    """Train a classifier, test it, register it."""
    store, job = task.store, task.job
    spec = TrainSpec.from_json(job.spec)
    plan = plan_training(store, spec)
    task.say(f"job {job.id}, attempt {job.attempts}\n{plan.describe()}")
    store.jobs.beat(job.id, f"loading {spec.config.base}")
    report = TrainingReport(task)
    classifier = run_training(
        store, plan, job=job.id, on_progress=report.take, should_stop=task.stop, say=task.say
    )
    if classifier is None:
        return unfinished(task, "the last checkpoint is kept", "continues from it")
    store.jobs.plan(job.id, int(classifier.data["steps"]))  # after an early stop nothing remains
    tested = reader_quality.evaluation(classifier)
    figure = tested.report("tuned").macro_f1
    poor = tuple(quality_warnings(quality(classifier, PUBLISHED_THRESHOLD)))
    for question in (tested.stands_for(), *tested.open_questions(), *poor):
        task.say(question)
    score = (
        f"macro F1 {figure.value:.2f}"
        if figure.defined
        else f"macro F1 undefined: {figure.undefined}"
    )
    return "done", " ".join(
        [
            f"{classifier.name}: {score} on {len(plan.test):,} test responses, {tested.rests_on()}",
            *poor,
        ]
    )


class TrainingReport:
    """The figures of a training in its job's row, and its evaluations and last step in the log."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._figures: dict[str, object] = {}
        self._losses, self._dev_scores = Course(), Course()
        self._first: int | None = None
        "the first reported step of this attempt"
        self._written = -math.inf

    def take(self, progress: TrainProgress) -> None:
        """Record a loss or an evaluation. Losses are written twice a second at most."""
        if self._first is None:
            self._first = progress.step
        has_diverged = progress.loss is not None and not math.isfinite(progress.loss)
        if has_diverged:
            self._figures.pop("loss", None)
            self._task.say(f"step {progress.step}: loss {progress.loss}")
        else:
            self._add_point(progress)
        self._figures.update(
            _training_figures(progress),
            answers=progress.step - self._first,
            losses=self._losses.points,
            dev_scores=self._dev_scores.points,
        )
        is_notable = progress.loss is None or progress.step == progress.steps
        if is_notable or time.monotonic() - self._written >= REPORT_AFTER_S:
            self._write(progress.step)
        if is_notable and not has_diverged:
            self._task.say(self._line(progress))

    def _add_point(self, progress: TrainProgress) -> None:
        if progress.loss is not None:
            self._losses.add(progress.step, round(progress.loss, 4))
        elif progress.dev_macro_f1 is not None:
            self._dev_scores.add(progress.step, round(progress.dev_macro_f1, 4))

    def _line(self, progress: TrainProgress) -> str:
        """Return a line of the log: the newest loss and, after an evaluation, its score."""
        texts = [f"loss {loss:.3f}" for _, loss in self._losses.points[-1:]]
        if progress.loss is None and progress.dev_macro_f1 is not None:
            texts.append(f"dev macro F1 {progress.dev_macro_f1:.3f}")
        return f"step {progress.step}: {', '.join(texts)}"

    def _write(self, step: int) -> None:
        self._written = time.monotonic()
        job_id = self._task.job.id
        self._task.store.jobs.report(job_id, step, json.dumps(self._figures), "training")


def classify(task: Task) -> Ended:
    """Let a classifier read its unread responses."""
    spec = ClassifySpec.from_json(task.job.spec)
    _, total, left = plan_classifying(task.store, spec)
    task.store.jobs.plan(task.job.id, total, total - left)
    task.store.jobs.beat(task.job.id, f"loading {spec.classifier}")
    task.say(
        f"job {task.job.id}, attempt {task.job.attempts}: {left:,} of {total:,} responses to read"
    )
    done, total = run_classifying(task.store, spec, job=task.job.id, should_stop=task.stop)
    message = f"{done:,} of {total:,} responses are read"
    return ("done", message) if done >= total else unfinished(task, message, "reads the rest")


def draft(task: Task) -> Ended:
    """Let a model draft wordings, for a person's decision."""
    store, job = task.store, task.job
    spec = DraftSpec.from_json(job.spec)
    rest = "loads its model and asks for the rest"
    if task.stop():
        return unfinished(task, "its model was not loaded", rest)
    try:
        model = task.load(spec.model)
    except ModelError:
        if not task.stop():
            raise
    if task.stop():  # asked meanwhile: a load cannot be broken off
        return unfinished(task, "nothing was asked in this attempt", rest)
    plan = plan_drafting(store, spec, card=model.card, job=job.id)
    store.jobs.plan(job.id, len(plan.calls), len(plan.calls) - len(plan.needed))
    store.jobs.beat(job.id, "drafting")
    task.say(f"{model_description(model.card)}\n{plan.describe()}")
    only = frozenset(job.failures) if job.only_failed else None
    progress = run_drafting(
        store,
        plan,
        model,
        attempt=task.attempt,
        job=job.id,
        should_stop=task.stop,
        only=only,
        say=task.tell,
        patient=job.patient or only is not None,
    )
    left = {call.key for call in plan_drafting(store, spec, card=model.card, job=job.id).needed}
    store.jobs.note_failures(job.id, sorted(left & {*job.failures, *progress.failed_calls}))
    message = f"{progress.done:,} of {progress.total:,} prompts are answered"
    if progress.hopeless and progress.done < progress.total and not task.stop():
        return probe.hopeless(task, progress.hopeless, message)
    if progress.failed and not task.stop():
        why = f" ({progress.reason})" if progress.reason else ""
        return "failed", f"{progress.failed:,} prompts failed{why}; {message}. {AGAIN}"
    if progress.done < progress.total:
        return unfinished(task, message, "asks for the rest")
    return "done", outcome(store.drafts.of_job(job.id))


def check(task: Task) -> Ended:
    """Let models compute the similarity of wordings to their originals, and entailments."""
    store, job = task.store, task.job
    spec = CheckSpec.from_json(job.spec)
    plan = plan_check(store, spec)
    store.jobs.plan(job.id, plan.total)
    store.jobs.report(job.id, plan.done, "{}", f"loading {spec.encoder or spec.nli}")
    task.say(f"job {job.id}, attempt {job.attempts}\n{plan.describe()}")
    done, total = run_check(store, spec, job=job.id, should_stop=task.stop)
    message = f"{done:,} of {total:,} texts and pairs are stored"
    if done < total:
        return unfinished(task, message, "computes the rest")
    counts = check_report(store, spec.instrument).counts
    counts_text = ", ".join(f"{n:,} {severity}s" for severity, n in counts.items())
    return "done", f"{message}; findings not waived: {counts_text}"


def _training_figures(progress: TrainProgress) -> dict[str, float]:
    """Return the figures in a report of a training; missing ones keep their earlier values.

    Those of a training that diverged are excluded: SQLite refuses JSON with NaN.
    """
    figures = {
        "step": progress.step,
        "steps": progress.steps,
        "loss": progress.loss,
        "lr": progress.learning_rate,
        "dev_macro_f1": progress.dev_macro_f1,
        "seconds": round(progress.seconds, 2),
    }
    return {
        name: value for name, value in figures.items() if value is not None and math.isfinite(value)
    }


WORK: Mapping[str, Callable[[Task], Ended]] = {
    SAMPLE: sample,
    TRAIN: train,
    CLASSIFY: classify,
    DRAFT: draft,
    CHECK: check,
}
