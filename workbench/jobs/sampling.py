"""Asks a model for the missing answers of a design.

The probe comes first, then the rest, and then a report of the end.
"""

from __future__ import annotations

from dataclasses import replace

from stores.jobs.job_rows import UNDRAWN, UNREADABLE
from workbench.domain.designs import Design
from workbench.domain.names import plural, speed
from workbench.domain.probe_results import FirstAnswers
from workbench.domain.responses import EXACT
from workbench.errors import ConflictError, ModelError
from workbench.inference.base import Batching, Model, Work
from workbench.jobs import probe
from workbench.jobs import tidying as batching
from workbench.jobs.task import AGAIN, Ended, Task, model_description, unfinished
from workbench.pipeline import asking, planning, scoring

NEVER = "The same requests would fail again."
PLANS = 5
"number of plans that may be outdated by edits before anything is asked"


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
    work_before = replace(model.work)
    try:
        plan, progress = _ask_missing(task, design, model)
    except ModelError:
        if ledger is not None:
            ledger.settle()  # earlier answers are stored
        raise
    if ledger is not None:
        ledger.settle()
    task.say(throughput(progress, work_before, model.work, _unit(design)))
    _log(task, design, progress)
    return _ended(task, plan, progress)


def _ask_missing(
    task: Task, design: Design, model: Model
) -> tuple[planning.Plan, asking.AskingProgress]:
    """Ask for all missing answers of a design.

    Plans again if a statement was changed before anything was asked.
    """
    store, job = task.store, task.job
    only_prompts = store.jobs.failed_prompts(job.id) if job.only_failed else None
    exact = design.sampling.mode == EXACT
    ask, activity = (scoring.score_design, "scoring") if exact else (asking.collect, "sampling")
    checks_first = not job.patient and only_prompts is None
    first = (
        FirstAnswers(exact, at_once=job.batched or bool(design.cluster)) if checks_first else None
    )
    for attempt in range(PLANS):
        plan = planning.plan(store, design, card=model.card, attempt=task.attempt)
        store.jobs.plan(job.id, plan.samples, plan.samples_stored + plan.samples_spared)
        store.jobs.beat(job.id, activity if only_prompts is None else "retrying what failed")
        task.say(f"{model_description(model.card)}\n{plan.describe()}")
        try:
            return plan, ask(
                store,
                plan,
                model,
                attempt=task.attempt,
                job=job.id,
                should_stop=task.stop,
                only=only_prompts,
                say=task.tell,
                first=first,
            )
        except ConflictError as error:
            if attempt + 1 == PLANS:
                raise
            task.say(f"{error}. Planning again.")
    raise AssertionError("the last plan is asked, or its conflict is raised")


def _log(task: Task, design: Design, progress: asking.AskingProgress) -> None:
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


def _ended(task: Task, plan: planning.Plan, progress: asking.AskingProgress) -> Ended:
    """Return the final state, with a message on stored answers and other notes for the user."""
    design, unit = plan.design, _unit(plan.design)
    counted_here = unit if plan.tally is None else "valid answers"
    stored = "scored" if design.sampling.mode == EXACT else "stored"
    stored_note = f"{progress.done:,} of {progress.total:,} {counted_here} are {stored}"
    spared_note = (
        f"; {progress.spared:,} need not be drawn, as {settled_words(progress)}"
        if progress.settlement
        else ""
    )
    cut_note = f". {words}" if (words := cut_off(progress, design)) else ""
    incomplete = progress.done + progress.lacking + progress.spared < progress.total
    if progress.hopeless and (incomplete or progress.undrawn) and not task.stop():
        return probe.hopeless(
            task, progress.hopeless, stored_note, UNDRAWN if progress.undrawn else UNREADABLE
        )
    if progress.failed and not task.stop():
        advice = AGAIN if progress.failed > progress.reasons.lasting else NEVER
        failed_note = f"{progress.failed:,} {unit} failed: {progress.reasons.describe()}"
        return "failed", f"{failed_note}. {stored_note}{spared_note}{cut_note}. {advice}"
    if incomplete:
        batches_note = f"; {words}" if (words := batching.waiting(task.store, task.job.id)) else ""
        return unfinished(
            task, stored_note + spared_note + cut_note + batches_note, "asks for the rest"
        )
    if not progress.answers and progress.done and not spared_note:
        return "done", f"{stored_note}: other jobs answered what was missing"
    rate_note = (
        f", {speed(progress.answers / progress.seconds)} {unit} a second"
        if progress.seconds
        else ""
    )
    return (
        "done",
        f"{stored_note}{_answer_notes(progress, design)}{rate_note}{spared_note}{cut_note}",
    )


def _answer_notes(progress: asking.AskingProgress, design: Design) -> str:
    """Return notes on invalid answers, on too many or too few valid ones, and on snapshots."""
    notes = f"; {drawn_again(progress)}" if progress.invalid else ""
    if progress.over:
        notes += f"; {progress.over:,} valid answers beyond the minimum came, and count too"
    if progress.short:
        notes += (
            f"; with fewer than {design.samples} valid ones after all tries: "
            f"{plural(progress.short, 'prompt')}"
        )
    if len(progress.answerers) > 1:
        names = ", ".join(answerer.snapshot or "unknown" for answerer in progress.answerers)
        notes += f"; by several snapshots, each a run of its own ({names})"
    return notes


def _unit(design: Design) -> str:
    return "prompts" if design.sampling.mode == EXACT else "answers"


def cut_off(progress: asking.AskingProgress, design: Design) -> str:
    """Return a note on answers cut off in thought, with advice.

    It is empty if there are none.
    """
    if not progress.truncated:
        return ""
    longer, advice = (
        "thinks longer",
        "a budget of their own (--thinking low), or more tokens in all (--max-new-tokens)",
    )
    if design.sampling.thinking:
        longer, advice = (
            "stops within its thought, or thinks longer",
            "a larger budget (--thinking)",
        )
    return (
        f"{progress.truncated:,} of {progress.answers:,} answers were cut off in thought and say "
        "nothing: the model "
        f"{longer} than {plural(design.sampling.most_tokens, 'token')}. Give its thoughts {advice}"
    )


def settled_words(progress: asking.AskingProgress) -> str:
    """Return the number of settled prompts, and the share of answers that this took."""
    verb = "is" if progress.settled == 1 else "are"
    return f"{plural(progress.settled, 'prompt')} {verb} settled: {progress.settlement}"


def drawn_again(progress: asking.AskingProgress) -> str:
    """Return a note on answers that were drawn again.

    They had no offered letter or were cut off.
    """
    without_letter = f"{progress.invalid - progress.truncated:,} had no offered letter"
    cut = f" and {progress.truncated:,} were cut off in thought" if progress.truncated else ""
    return f"{without_letter}{cut} and were drawn again"


def throughput(
    progress: asking.AskingProgress, before: Work, after: Work, unit: str = "answers"
) -> str:
    """Return a note on the work and the speed of an attempt.

    The work is compared with one pass per prompt and sample.
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
