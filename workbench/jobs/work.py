"""What the kinds of jobs do: ask a model, train a classifier, let a classifier read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import pipeline
from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.counting import plural
from workbench.domain.designs import Design
from workbench.domain.first_answers import FirstAnswers
from workbench.domain.responses import EXACT, UNKNOWN, ModelCard
from workbench.errors import ConflictError, ModelError
from workbench.evidence.reader_quality import quality, quality_warnings
from workbench.inference.base import Batching, Changing, Model, Remarking, Work
from workbench.inference.load import load
from workbench.jobs import batching, probe
from workbench.jobs.control import Control
from workbench.jobs.launch import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.pipeline.checking import CHECK, CheckSpec, check_report, plan_check, run_check
from workbench.pipeline.classifying import ClassifySpec, plan_classifying, run_classifying
from workbench.pipeline.draft_planning import DraftSpec, plan_drafting
from workbench.pipeline.drafting import outcome, run_drafting
from workbench.pipeline.training import TrainSpec, plan_training, run_training

if TYPE_CHECKING:
    from workbench.classifier.progress import TrainProgress

Ended = tuple[str, str]
"the job's final state, and a sentence for people"

AGAIN = "Retry asks again what failed, resume all that is missing."
NEVER = "Asked again in the same manner, they would fail again."

REPORT_AFTER_S = 0.5
"progress of a training is written no more often"


@dataclass(slots=True)
class Shelf:
    """The model that a worker holds: also while its job is paused, so that going on takes no time."""

    key: tuple[str, str, str, str] = ("", "", "", "")
    "name, dtype, cluster and chat format"
    model: Model | None = None

    def holds(self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "") -> bool:
        return self.model is not None and self.key == (name, dtype, cluster, chat_format)

    def get(self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "") -> Model:
        if self.model is None or not self.holds(name, dtype, cluster, chat_format):
            self.clear()
            self.model = load(name, dtype=dtype, cluster=cluster, chat_format=chat_format)
            self.key = (name, dtype, cluster, chat_format)
        return self.model

    def clear(self) -> None:
        """Free the memory."""
        held, self.model = self.model, None
        if held is not None:
            held.close()


@dataclass(frozen=True, slots=True)
class Task:
    """A claimed job, and what its work needs."""

    store: Store
    job: Job
    attempt: int
    stop: Control
    "called, whether the job should end"
    say: Callable[[str], None]
    "writes to the job's log"
    shelf: Shelf = field(default_factory=Shelf)

    def load(self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "") -> Model:
        """Return a model, which hears from now on how many answers may be under way at once."""
        held = self.shelf.holds(name, dtype, cluster, chat_format)
        if not held:
            how = {"in": dtype, "on": cluster, "in the chat format of": chat_format}
            where = " ".join([name, *(f"{word} {value}" for word, value in how.items() if value)])
            self.say(f"job {self.job.id}, attempt {self.job.attempts}: loading {where}")
            self.store.jobs.beat(self.job.id, f"loading {where}")
        model = self.shelf.get(name, dtype, cluster, chat_format)
        if not held and isinstance(model, Remarking):
            self.say("\n".join(model.notes))
        self.stop.steer(model)
        if isinstance(model, Changing) and (known := self.store.runs.last_snapshot(model.card, self.job.id)):
            model.expect(known[0], asked=known[1])
        return model

    def tell(self, sentence: str) -> None:
        """Say something in the log and beside the job's progress."""
        self.say(sentence)
        self.store.jobs.beat(self.job.id, sentence, self.attempt)


def sample(task: Task) -> Ended:
    """Ask what a design still needs."""
    store, job, say = task.store, task.job, task.say
    design = Design.from_json(job.spec)
    model = task.load(design.model, design.dtype, design.cluster, design.chat_format)
    if (ended := probe.begin(task, design, model)) is not None:
        return ended
    ledger = batching.JobLedger(task) if job.batched else None
    if ledger is not None:
        if not isinstance(model, Batching):
            return "failed", f"{design.model} is not served, so it cannot be asked in batches"
        model.use_batches(ledger)
    before = replace(model.work)
    only = store.jobs.failed_prompts(job.id) if job.only_failed else None
    exact = design.sampling.mode == EXACT
    ask, doing = (pipeline.score_design, "scoring") if exact else (pipeline.collect, "sampling")
    unit = "prompts" if exact else "answers"
    first = None if job.patient or only is not None else FirstAnswers(exact)
    progress = None
    while progress is None:
        plan = pipeline.plan(store, design, card=model.card, attempt=task.attempt)
        store.jobs.plan(job.id, plan.samples)
        store.jobs.beat(job.id, doing if only is None else "asking again what failed")
        say(f"{said(model.card)}\n{plan.describe()}")
        try:
            progress = ask(
                store,
                plan,
                model,
                attempt=task.attempt,
                job=job.id,
                should_stop=task.stop,
                only=only,
                say=task.tell,
                first=first,
            )
        except ConflictError as error:  # somebody changed a statement between the two; nothing was asked yet
            say(f"{error}. Planning again.")
        except ModelError:
            _settle(ledger)  # what came before is stored
            raise
    _settle(ledger)
    say(throughput(progress, before, model.work, unit))
    if progress.answerers:
        say("snapshots: " + "; ".join(answerer.describe() for answerer in progress.answerers))
    if progress.fingerprints:
        say("fingerprints: " + ", ".join(f"{name} {n:,}" for name, n in sorted(progress.fingerprints.items())))
    for reason, count in progress.reasons.most_frequent():
        say(f"{count:,} {unit} failed: {reason}")
    counted_here = unit if plan.tally is None else "valid answers"
    held = f"{progress.done:,} of {progress.total:,} {counted_here} are {'scored' if exact else 'stored'}"
    if cut := cut_off(progress, design):
        say(cut)
    lacks = progress.done + progress.lacking < progress.total
    if progress.hopeless and lacks and not task.stop():
        return probe.hopeless(task, progress.hopeless, held)
    cut = f". {cut}" if cut else ""
    if progress.failed and not task.stop():
        again = AGAIN if progress.failed > progress.reasons.lasting else NEVER
        return "failed", f"{progress.failed:,} {unit} failed: {progress.reasons.describe()}. {held}{cut}. {again}"
    if lacks:
        there = f"; {words}" if (words := batching.waiting(store, job.id)) else ""
        return _unfinished(task, held + cut + there, "asks for the rest")
    if progress.invalid:
        held += f"; {drawn_again(progress)}"
    if progress.over:
        held += f"; {progress.over:,} valid ones more than needed came and count, too"
    if progress.short:
        held += f"; with fewer than {design.samples} valid ones after all tries: {plural(progress.short, 'prompt')}"
    if len(progress.answerers) > 1:
        names = ", ".join(answerer.snapshot or "unknown" for answerer in progress.answerers)
        held += f"; by several snapshots, each a run of its own ({names})"
    rate = f", {progress.answers / progress.seconds:,.1f} {unit} a second" if progress.seconds else ""
    return "done", f"{held}{rate}{cut}"


def _settle(ledger: batching.JobLedger | None) -> None:
    """Close the batches of which all is stored."""
    if ledger is not None:
        ledger.settle()


def cut_off(progress: pipeline.Progress, design: Design) -> str:
    """Say how many answers were cut off in thought, and what helps; empty where none was."""
    if not progress.truncated:
        return ""
    longer, more = "thinks longer", "a budget of their own (--thinking low), or more tokens in all (--max-new-tokens)"
    if design.sampling.thinking:
        longer, more = "stops within its thought, or thinks longer", "a larger budget (--thinking)"
    return (
        f"{progress.truncated:,} of {progress.answers:,} answers were cut off in thought and say nothing: the model "
        f"{longer} than {plural(design.sampling.most_tokens, 'token')}. Give its thoughts {more}"
    )


def drawn_again(progress: pipeline.Progress) -> str:
    """Say how many answers were no offered letter, and that these are drawn again, as those are that were cut off."""
    strange = f"{progress.invalid - progress.truncated:,} were no offered letter"
    cut = f" and {progress.truncated:,} were cut off in thought" if progress.truncated else ""
    return f"{strange}{cut} and were drawn again"


def said(card: ModelCard) -> str:
    """Say which model answers, for the log."""
    chat = "" if card.chat_format == "none" else f", chat template {card.chat_format[:12]}"
    encoding = "" if card.encoding == UNKNOWN else f", turns encoded as {card.encoding}"
    return f"model {card.name}, revision {card.revision}, {card.dtype} by {card.backend}{chat}{encoding}"


def throughput(progress: pipeline.Progress, before: Work, after: Work, unit: str = "answers") -> str:
    """Say what an attempt computed, of what one pass a prompt and a sample would have, and how fast."""
    parts = [f"{progress.answers:,} {unit} in {progress.seconds:,.1f} s"]
    if progress.seconds > 0:
        parts[0] += f", {progress.answers / progress.seconds:,.1f} a second"
    if prompts := after.prompt_tokens - before.prompt_tokens:
        computed = after.prompt_tokens_computed - before.prompt_tokens_computed
        parts.append(f"prompt tokens: {computed:,} of {prompts:,} computed")
    if sampled := after.sampled_tokens - before.sampled_tokens:
        computed = after.sampled_tokens_computed - before.sampled_tokens_computed
        parts.append(f"answer tokens: {computed:,} of {sampled:,} computed")
    if progress.invalid:
        parts.append(f"of the answers, {drawn_again(progress)}")
    if progress.decided:
        parts.append(f"{progress.decided:,} answers were ended when their stance was settled")
    return "; ".join(parts)


def train(task: Task) -> Ended:
    """Train a classifier, test it, register it."""
    store, job = task.store, task.job
    spec = TrainSpec.from_json(job.spec)
    plan = plan_training(store, spec)
    task.say(f"job {job.id}, attempt {job.attempts}\n{plan.describe()}")
    store.jobs.beat(job.id, f"loading {spec.config.base}")
    written = 0.0
    told: dict[str, float] = {}
    first: int | None = None

    def report(progress: TrainProgress) -> None:
        nonlocal written, first
        first = progress.step if first is None else first
        told.update(_said(progress), answers=progress.step - first)
        last = progress.step == progress.steps
        if time.monotonic() - written >= REPORT_AFTER_S or last:
            written = time.monotonic()
            store.jobs.report(job.id, progress.step, json.dumps(told), "training")
        if last or progress.dev_macro_f1 is not None:
            task.say(f"step {progress.step}: loss {progress.loss}, dev macro F1 {progress.dev_macro_f1}")

    made = run_training(store, plan, job=job.id, on_progress=report, should_stop=task.stop, say=task.say)
    if made is None:
        return _unfinished(task, "the last checkpoint is kept", "goes on from it")
    store.jobs.plan(job.id, int(made.data["steps"]))  # an early stop is all of it
    tested = pipeline.evaluation(made)
    figure = tested.report("tuned").macro_f1
    poor = tuple(quality_warnings(quality(made, PUBLISHED_THRESHOLD)))
    for question in (tested.stands_for(), *tested.open_questions(), *poor):
        task.say(question)
    score = f"macro F1 {figure.value:.2f}" if figure.defined else f"macro F1 undefined: {figure.undefined}"
    return "done", " ".join([f"{made.name}: {score} on {len(plan.test):,} test responses, {tested.rests_on()}", *poor])


def classify(task: Task) -> Ended:
    """Let a classifier read what it has not read."""
    spec = ClassifySpec.from_json(task.job.spec)
    _, total, left = plan_classifying(task.store, spec)
    task.store.jobs.plan(task.job.id, total)
    task.store.jobs.beat(task.job.id, f"loading {spec.classifier}")
    task.say(f"job {task.job.id}, attempt {task.job.attempts}: {left:,} of {total:,} responses to read")
    done, total = run_classifying(task.store, spec, job=task.job.id, should_stop=task.stop)
    held = f"{done:,} of {total:,} responses are read"
    return ("done", held) if done >= total else _unfinished(task, held, "reads the rest")


def draft(task: Task) -> Ended:
    """Let a model draft wordings; they wait for a person."""
    store, job = task.store, task.job
    spec = DraftSpec.from_json(job.spec)
    model = task.load(spec.model)
    plan = plan_drafting(store, spec, card=model.card, job=job.id)
    store.jobs.plan(job.id, len(plan.calls))
    store.jobs.beat(job.id, "drafting")
    task.say(f"{said(model.card)}\n{plan.describe()}")
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
    held = f"{progress.done:,} of {progress.total:,} prompts are answered"
    if progress.hopeless and progress.done < progress.total and not task.stop():
        return probe.hopeless(task, progress.hopeless, held)
    if progress.failed and not task.stop():
        why = f" ({progress.reason})" if progress.reason else ""
        return "failed", f"{progress.failed:,} prompts failed{why}; {held}. {AGAIN}"
    if progress.done < progress.total:
        return _unfinished(task, held, "asks the rest")
    return "done", outcome(store.drafts.of_job(job.id))


def check(task: Task) -> Ended:
    """Let models say how near wordings are to their originals, and what follows from what."""
    store, job = task.store, task.job
    spec = CheckSpec.from_json(job.spec)
    plan = plan_check(store, spec)
    store.jobs.plan(job.id, plan.total)
    store.jobs.report(job.id, plan.done, "{}", f"loading {spec.encoder or spec.nli}")
    task.say(f"job {job.id}, attempt {job.attempts}\n{plan.describe()}")
    done, total = run_check(store, spec, job=job.id, should_stop=task.stop)
    held = f"{done:,} of {total:,} texts and pairs are stored"
    if done < total:
        return _unfinished(task, held, "computes the rest")
    counts = check_report(store, spec.instrument).counts
    found = ", ".join(f"{n:,} {severity}s" for severity, n in counts.items())
    return "done", f"{held}; findings not waived: {found}"


def _unfinished(task: Task, held: str, rest: str) -> Ended:
    """Say why work ended on the way, what is there, and what resuming does."""
    if task.job.only_failed and not task.stop():
        return "cancelled", f"what had failed is answered; {held}. Resume {rest}."
    return "cancelled", f"{task.stop.why}; {held}. Resume {rest}."


def _said(progress: TrainProgress) -> dict[str, float]:
    """Return what a report of a training says; what it does not say stays as it was."""
    said = {
        "step": progress.step,
        "steps": progress.steps,
        "loss": progress.loss,
        "lr": progress.learning_rate,
        "dev_macro_f1": progress.dev_macro_f1,
        "seconds": round(progress.seconds, 2),
    }
    return {name: value for name, value in said.items() if value is not None}


WORK: Mapping[str, Callable[[Task], Ended]] = {
    SAMPLE: sample,
    TRAIN: train,
    CLASSIFY: classify,
    DRAFT: draft,
    CHECK: check,
}
