"""Asks a model for the missing answers of a design: first its probe, then the rest, and reports the
end.
"""

from __future__ import annotations

from dataclasses import replace

from stores.jobs.job_rows import UNDRAWN, UNREADABLE
from workbench import pipeline
from workbench.domain.designs import Design
from workbench.domain.names import plural, speed
from workbench.domain.probe_results import FirstAnswers
from workbench.domain.responses import EXACT
from workbench.errors import ConflictError, ModelError
from workbench.inference.base import Batching, Model, Work
from workbench.jobs import probe
from workbench.jobs import tidying as batching
from workbench.jobs.task import AGAIN, Ended, Task, said, unfinished

NEVER = "The same requests would fail again."
PLANS = 5
"plans that may be outdated by edits before anything is asked"


def sample(task: Task) -> Ended:
    """Ask for the missing answers of a design."""
    design = Design.from_json(task.job.spec)
    try:
        model = task.load(
            design.model, design.dtype, design.cluster, design.chat_format, design.device
        )
    except ModelError:
        if not task.stop():
            raise
        return unfinished(task, "its model was not loaded yet", "loads it and asks what is missing")
    if (ended := probe.begin(task, design, model)) is not None:
        return ended
    ledger = None
    if task.job.batched:
        if not isinstance(model, Batching):
            return (
                "failed",
                f"{design.model} is not a served model, so it cannot be asked in batches",
            )
        ledger = batching.JobLedger(task)
        model.use_batches(ledger)
    before = replace(model.work)
    try:
        plan, progress = _asked(task, design, model)
    except ModelError:
        if ledger is not None:
            ledger.settle()  # earlier answers are stored
        raise
    if ledger is not None:
        ledger.settle()
    task.say(throughput(progress, before, model.work, _unit(design)))
    _log(task, design, progress)
    return _ended(task, plan, progress)


def _asked(task: Task, design: Design, model: Model) -> tuple[pipeline.Plan, pipeline.Progress]:
    """Ask for all missing answers; plan again if a statement was changed before anything was
    asked.
    """
    store, job = task.store, task.job
    only = store.jobs.failed_prompts(job.id) if job.only_failed else None
    exact = design.sampling.mode == EXACT
    ask, doing = (pipeline.score_design, "scoring") if exact else (pipeline.collect, "sampling")
    looks = not job.patient and only is None
    first = FirstAnswers(exact, at_once=job.batched or bool(design.cluster)) if looks else None
    for attempt in range(PLANS):
        plan = pipeline.plan(store, design, card=model.card, attempt=task.attempt)
        store.jobs.plan(job.id, plan.samples, plan.samples_stored + plan.samples_spared)
        store.jobs.beat(job.id, doing if only is None else "retrying what failed")
        task.say(f"{said(model.card)}\n{plan.describe()}")
        try:
            return plan, ask(
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
        except ConflictError as error:
            if attempt + 1 == PLANS:
                raise
            task.say(f"{error}. Planning again.")
    raise AssertionError("the last plan is asked, or its conflict is raised")


def _log(task: Task, design: Design, progress: pipeline.Progress) -> None:
    """Log who answered, failures with reasons, and cut-off or saved answers."""
    if progress.answerers:
        task.say("snapshots: " + "; ".join(answerer.describe() for answerer in progress.answerers))
    if progress.fingerprints:
        task.say(
            "fingerprints: "
            + ", ".join(f"{name} {n:,}" for name, n in sorted(progress.fingerprints.items()))
        )
    for reason, count in progress.reasons.most_frequent():
        task.say(f"{count:,} {_unit(design)} failed: {reason}")
    for remark in (cut_off(progress, design), progress.settlement):
        if remark:
            task.say(remark)


def _ended(task: Task, plan: pipeline.Plan, progress: pipeline.Progress) -> Ended:
    """Return the final state, with a message on stored answers and other notes for the user."""
    design, unit = plan.design, _unit(plan.design)
    counted_here = unit if plan.tally is None else "valid answers"
    stored = "scored" if design.sampling.mode == EXACT else "stored"
    held = f"{progress.done:,} of {progress.total:,} {counted_here} are {stored}"
    spared = (
        f"; {progress.spared:,} need not be drawn, as {settled_words(progress)}"
        if progress.settlement
        else ""
    )
    cut = f". {words}" if (words := cut_off(progress, design)) else ""
    lacks = progress.done + progress.lacking + progress.spared < progress.total
    if progress.hopeless and (lacks or progress.undrawn) and not task.stop():
        return probe.hopeless(
            task, progress.hopeless, held, UNDRAWN if progress.undrawn else UNREADABLE
        )
    if progress.failed and not task.stop():
        again = AGAIN if progress.failed > progress.reasons.lasting else NEVER
        failed = f"{progress.failed:,} {unit} failed: {progress.reasons.describe()}"
        return "failed", f"{failed}. {held}{spared}{cut}. {again}"
    if lacks:
        there = f"; {words}" if (words := batching.waiting(task.store, task.job.id)) else ""
        return unfinished(task, held + spared + cut + there, "asks for the rest")
    if not progress.answers and progress.done and not spared:
        return "done", f"{held}: other jobs answered what was missing"
    rate = (
        f", {speed(progress.answers / progress.seconds)} {unit} a second"
        if progress.seconds
        else ""
    )
    return "done", f"{held}{_besides(progress, design)}{rate}{spared}{cut}"


def _besides(progress: pipeline.Progress, design: Design) -> str:
    """Return notes on other answers: invalid ones, too many or too few valid ones, and several
    snapshots.
    """
    found = f"; {drawn_again(progress)}" if progress.invalid else ""
    if progress.over:
        found += f"; {progress.over:,} valid answers beyond the minimum came, and count too"
    if progress.short:
        found += (
            f"; with fewer than {design.samples} valid ones after all tries: "
            f"{plural(progress.short, 'prompt')}"
        )
    if len(progress.answerers) > 1:
        names = ", ".join(answerer.snapshot or "unknown" for answerer in progress.answerers)
        found += f"; by several snapshots, each a run of its own ({names})"
    return found


def _unit(design: Design) -> str:
    return "prompts" if design.sampling.mode == EXACT else "answers"


def cut_off(progress: pipeline.Progress, design: Design) -> str:
    """Return a note on answers cut off in thought, with advice; empty if there are none."""
    if not progress.truncated:
        return ""
    longer, more = (
        "thinks longer",
        "a budget of their own (--thinking low), or more tokens in all (--max-new-tokens)",
    )
    if design.sampling.thinking:
        longer, more = "stops within its thought, or thinks longer", "a larger budget (--thinking)"
    return (
        f"{progress.truncated:,} of {progress.answers:,} answers were cut off in thought and say "
        "nothing: the model "
        f"{longer} than {plural(design.sampling.most_tokens, 'token')}. Give its thoughts {more}"
    )


def settled_words(progress: pipeline.Progress) -> str:
    """Return how many prompts are settled, and the share of answers that this took."""
    are = "is" if progress.settled == 1 else "are"
    return f"{plural(progress.settled, 'prompt')} {are} settled: {progress.settlement}"


def drawn_again(progress: pipeline.Progress) -> str:
    """Return how many answers had no offered letter or were cut off, and so were drawn again."""
    strange = f"{progress.invalid - progress.truncated:,} had no offered letter"
    cut = f" and {progress.truncated:,} were cut off in thought" if progress.truncated else ""
    return f"{strange}{cut} and were drawn again"


def throughput(
    progress: pipeline.Progress, before: Work, after: Work, unit: str = "answers"
) -> str:
    """Return the work of an attempt, compared with one pass per prompt and sample, and its
    speed.
    """
    parts = [f"{progress.answers:,} {unit} in {progress.seconds:,.1f} s"]
    if progress.seconds > 0:
        parts[0] += f", {speed(progress.answers / progress.seconds)} a second"
    if prompts := after.prompt_tokens - before.prompt_tokens:
        computed = after.prompt_tokens_computed - before.prompt_tokens_computed
        parts.append(f"prompt tokens: {computed:,} of {prompts:,} computed")
    if sampled := after.sampled_tokens - before.sampled_tokens:
        computed = after.sampled_tokens_computed - before.sampled_tokens_computed
        parts.append(f"answer tokens: {computed:,} of {sampled:,} computed")
    if progress.invalid:
        parts.append(f"of the answers, {drawn_again(progress)}")
    if progress.decided:
        parts.append(f"{progress.decided:,} answers were stopped once their stance was settled")
    return "; ".join(parts)
