"""Drafting jobs in real workers: each call once, every line kept, nothing entering the
instrument.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from stores.instruments.drafts import Draft
from tests.jobs.drafting import create_drafting, start_drafting
from tests.jobs.test_jobs import ended, wait
from workbench.commands.draft import DraftCommand
from workbench.data import shipped_drafting
from workbench.domain.drafting import CallLabel, DraftPrompt
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.domain.statements import QUESTION, Statement, VariantKind, Wording
from workbench.errors import JobError, UnknownName, UsageError
from workbench.inference.base import Model
from workbench.inference.load import load
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.jobs.task import Control, ModelCache, Task
from workbench.jobs.work import WORK
from workbench.pipeline import drafting
from workbench.pipeline.drafting import (
    DraftingProgress,
    DraftSpec,
    accept,
    accept_all,
    plan_drafting,
    run_drafting,
)

PROMPTS = {prompt.kind: prompt for prompt in shipped_drafting()}
MANY = PROMPTS[VariantKind.PARAPHRASE]
ONE = PROMPTS[VariantKind.NEGATION]
NONSENSE = [
    "",
    "[/INST]",
    "\x1b[31mred\x1b[0m nonsense line",
    "‮desrever",
    "x" * 100_000,
    "\x00",
    "Sure, here you go:",
]
NONSENSE += ["I'm sorry, but I can't help with that.", "Why?", "?!?", "\n\n\n", "{statement}", "ok"]


def persona(folder: Path, answers: list[str], name: str = "p.toml", **more: object) -> str:
    """Write a stand-in that answers from these texts alone."""
    file = folder / name
    settings = "".join(f"{key} = {value}\n" for key, value in more.items())
    file.write_text(f"{settings}answers = {json.dumps(answers)}\n", encoding="utf-8")
    return f"scripted:{file}"


def spec(model: str, *prompts: DraftPrompt, refs: tuple[str, ...] = (), seed: int = 1) -> DraftSpec:
    return DraftSpec("small", model, prompts or (MANY, ONE), refs, "", seed)


def wordings(store: Store) -> list[tuple[object, ...]]:
    return list(store.connection.execute("select * from wording order by id"))


def sentences(n: int) -> str:
    return "\n".join(
        f"{k}. The proposal numbered {chr(96 + k) * 3} ought to be enacted."
        for k in range(1, n + 1)
    )


def lines(drafts: tuple[Draft, ...]) -> list[tuple[object, ...]]:
    return sorted((d.ref, d.kind, CallLabel.parse(d.label).call, d.line, d.fault) for d in drafts)


@pytest.mark.e2e
def test_a_job_asks_every_call_once_and_keeps_where_each_draft_comes_from(
    filled: Store, tmp_path: Path
) -> None:
    model = persona(tmp_path, [sentences(3)])
    before = wordings(filled)
    plan = plan_drafting(filled, spec(model))
    assert (len(plan.calls), len(plan.needed)) == (3 * 5 + 3, 18)
    assert "3 statements × 5 calls of 20 each, a sample of 50 kept for each" in plan.describe()
    job = wait(filled, start_drafting(filled, plan.spec), ended)
    assert (job.state, job.done, job.total) == ("done", 18, 18), job.message
    assert job.message.startswith("12 drafts wait for review; ")
    assert wordings(filled) == before
    found = filled.drafts.list("small", refs=["a-1"], kinds=[VariantKind.PARAPHRASE])
    assert len(found) == 15
    assert [d.fault for d in found].count("repeat") == 12
    draft = next(d for d in found if not d.fault)
    assert draft.made is not None
    assert (draft.made.model, draft.made.backend, draft.made.job) == (model, "scripted", job.id)
    assert draft.made.sampling == MANY.sampling
    assert draft.made.code_version
    assert draft.made.host
    label = CallLabel.parse(draft.label)
    assert (label.name, label.call in range(1, 6)) == ("haller2025", True)
    assert filled.drafts.prompt(label.key) == MANY.template
    assert len({(d.label, d.seed) for d in found}) == 5, "each call has its own seed"
    again = plan_drafting(filled, spec(model))
    assert again.needed == ()
    assert "18 asked already" in again.describe()
    command = DraftCommand(instrument="small", model=model, kind=("paraphrase", "negation"))
    preview = command.preview(filled)
    assert preview.n_units == 0
    assert "drafted all of this already" in preview.text
    assert len(plan_drafting(filled, spec(model, seed=2)).needed) == 18


@pytest.mark.e2e
def test_a_job_that_returns_nonsense_ends_done_says_so_and_leaves_the_instrument_alone(
    filled: Store, tmp_path: Path
) -> None:
    before = wordings(filled)
    model = persona(tmp_path, NONSENSE)
    job = wait(filled, start_drafting(filled, spec(model, MANY.adjusted(calls=20), ONE)), ended)
    assert (job.state, job.question) == ("paused", "unreadable"), (
        "not one of the first brought a draft"
    )
    launch.resume(filled, job.id)
    job = wait(filled, job.id, ended)
    assert job.state == "done"
    assert job.message.startswith("no usable drafts: ")
    assert job.message.endswith("The instrument has not changed.")
    for words in ("question", "refusal", "empty", "far too long", "unprintable", "talk"):
        assert words in job.message
    assert wordings(filled) == before
    found = filled.drafts.list("small")
    assert {d.state for d in found} == {"unusable"}
    kept = {d.line for d in found}
    assert {"\x1b[31mred\x1b[0m nonsense line", "‮desrever", "x" * 100_000, "\x00", ""} <= kept, (
        "exactly as they came"
    )
    assert "Traceback" not in launch.log_tail(filled.path, job.id, 100)


@pytest.mark.e2e
def test_a_sample_is_kept_and_the_rest_is_counted(filled: Store, tmp_path: Path) -> None:
    model = persona(tmp_path, [sentences(20)])
    few = MANY.adjusted(calls=2, keep=7)
    job = wait(filled, start_drafting(filled, spec(model, few)), ended)
    assert "21 drafts wait for review; 39 left out by the sample" in job.message
    assert filled.drafts.counts("small")["pending"] == 21
    for ref in ("a-1", "a-2", "b-1"):
        assert len(filled.drafts.list("small", state="pending", refs=[ref])) == 7
    kept = {
        ref: {d.line for d in filled.drafts.list("small", state="pending", refs=[ref])}
        for ref in ("a-1", "a-2")
    }
    assert kept["a-1"] != kept["a-2"], "each statement has its own draw"


@pytest.mark.e2e
def test_fifty_of_five_calls_of_twenty_become_paraphrases_by_the_published_recipe(
    filled: Store, tmp_path: Path
) -> None:
    """Haller et al. 2025, appendix C: five calls of 20, empty lines out, deduplicated, a sample of
    50.
    """
    said = [
        f"{k}. Statement a-1 ought to become law, in words {k}{c}."
        for c in "abcde"
        for k in range(1, 18)
    ]
    answers = ["\n\n".join([*said[17 * c : 17 * c + 17], said[0], "", "1. Why?"]) for c in range(5)]
    model = persona(tmp_path, answers)
    wait(filled, start_drafting(filled, spec(model, MANY, refs=("a-1",))), ended)
    waiting = filled.drafts.list("small", state="pending", refs=["a-1"])
    distinct = {
        d.line for d in filled.drafts.list("small", refs=["a-1"]) if d.fault in ("", "unsampled")
    }
    assert len(waiting) == min(50, len(distinct))
    assert len(distinct) > 50, "there is something to draw from"
    done = accept_all(filled, waiting, person="ana", with_hints=True)
    assert (len(done.accepted), done.left) == (50, {})
    held = filled.statements.get("small", "a-1")
    paraphrases = [w for w in held.wordings if w.variant.kind is VariantKind.PARAPHRASE]
    assert [w.variant.ordinal for w in paraphrases] == list(range(1, 54)), "three were there"
    assert {w.author for w in paraphrases[3:]} == {model}
    assert len({w.text for w in paraphrases}) == 53


@pytest.mark.e2e
def test_a_sample_is_drawn_once_whatever_was_decided_since(filled: Store, tmp_path: Path) -> None:
    model = persona(tmp_path, [sentences(20)])
    few = MANY.adjusted(calls=2, keep=7)
    wait(filled, start_drafting(filled, spec(model, few)), ended)
    for draft in filled.drafts.list("small", state="pending", refs=["a-1"])[:4]:
        filled.drafts.reject(draft.id, person="ana")
    wait(filled, start_drafting(filled, spec(model, few, ONE)), ended)
    assert (
        len(
            filled.drafts.list(
                "small", state="pending", refs=["a-1"], kinds=[VariantKind.PARAPHRASE]
            )
        )
        == 3
    )


@pytest.mark.e2e
def test_a_job_that_is_stopped_keeps_its_drafts_and_resumes_with_what_is_missing(
    filled: Store, tmp_path: Path
) -> None:
    model = persona(tmp_path, [sentences(3), sentences(5)], delay_s=0.25)
    job_id = start_drafting(filled, spec(model))
    wait(filled, job_id, lambda job: job.done > 0)
    filled.jobs.request_stop(job_id)
    stopped = wait(filled, job_id, ended)
    assert stopped.state == "cancelled"
    held = filled.drafts.list("small")
    calls = {(d.ref, d.kind, d.label) for d in held}
    assert 0 < len(calls) == stopped.done < 18
    launch.resume(filled, job_id)
    finished = wait(filled, job_id, lambda job: job.state == "done")
    assert (finished.done, finished.attempts) == (18, 2)
    found = filled.drafts.list("small")
    assert {d.id for d in held} <= {d.id for d in found}
    assert len({(d.ref, d.kind, d.label) for d in found}) == 18


@pytest.mark.e2e
def test_a_killed_worker_loses_no_committed_line_and_asks_no_call_twice(
    filled: Store, tmp_path: Path
) -> None:
    texts = [sentences(3), sentences(5), sentences(2)]
    slow = persona(tmp_path, texts, delay_s=0.25)
    job_id = start_drafting(filled, spec(slow))
    job = wait(filled, job_id, lambda job: job.done > 0)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    assert wait(filled, job_id, ended).state == "lost"
    launch.resume(filled, job_id)
    wait(filled, job_id, lambda job: job.state == "done")
    found = filled.drafts.list("small")
    by_call: dict[tuple[object, ...], int] = {}
    for draft in found:
        by_call[draft.ref, draft.kind, draft.label] = (
            by_call.get((draft.ref, draft.kind, draft.label), 0) + 1
        )
    assert len(by_call) == 18
    assert set(by_call.values()) <= {2, 3, 5}, "no call's lines are there twice, none in part"


@pytest.mark.e2e
def test_the_same_seed_drafts_the_same_lines_and_the_same_sample(
    filled: Store, tmp_path: Path
) -> None:
    from tests.conftest import instrument

    found = []
    model = persona(tmp_path, [sentences(9), sentences(12), "Sure:\n" + sentences(4)])
    for number in (1, 2):
        with Store.open(tmp_path / f"{number}.db", create=True) as store:
            store.instruments.add(instrument())
            wait(store, start_drafting(store, spec(model, MANY.adjusted(keep=5), ONE)), ended)
            found.append(lines(store.drafts.list("small")))
    assert found[0] == found[1]


@pytest.mark.e2e
def test_a_model_that_is_not_there_fails_the_job_with_a_sentence(
    filled: Store, tmp_path: Path
) -> None:
    model = persona(tmp_path, [sentences(2)], name="nowhere.toml")
    job_id = create_drafting(filled, spec(model))
    (tmp_path / "nowhere.toml").unlink()
    with pytest.raises(UsageError, match=r"nowhere\.toml: cannot be read"):
        create_drafting(filled, spec(model))
    launch.spawn(filled.path, job_id)
    job = wait(filled, job_id, ended)
    assert job.state == "failed"
    assert "nowhere.toml" in job.message
    assert "Traceback" not in launch.log_tail(filled.path, job.id, 100)


def test_a_job_that_is_asked_for_twice_is_refused(filled: Store, tmp_path: Path) -> None:
    model = persona(tmp_path, [sentences(2)], delay_s=0.3)
    job_id = start_drafting(filled, spec(model))
    with pytest.raises(JobError, match=f"job {job_id} does this already"):
        start_drafting(filled, spec(model))
    filled.jobs.request_stop(job_id)
    wait(filled, job_id, ended)


@pytest.mark.e2e
def test_what_was_rejected_or_accepted_before_is_a_repeat_for_another_drafter(
    filled: Store, tmp_path: Path
) -> None:
    first = persona(tmp_path, [sentences(2)], "one.toml")
    wait(
        filled,
        start_drafting(filled, spec(first, MANY.adjusted(calls=1), refs=("a-1",))),
        ended,
    )
    rejected, accepted = filled.drafts.list("small", state="pending")
    filled.drafts.reject(rejected.id, person="ana")
    accept(filled, accepted, person="ana")
    second = persona(tmp_path, [sentences(3)], "two.toml")
    job = wait(
        filled,
        start_drafting(filled, spec(second, MANY.adjusted(calls=1), refs=("a-1",))),
        ended,
    )
    assert job.message.startswith("1 draft waits for review; 2 lines cannot be wordings")
    assert sorted(d.fault for d in filled.drafts.list("small") if d.drafter == second) == [
        "",
        "repeat",
        "wording",
    ]


def test_what_cannot_be_asked_is_counted_and_said(filled: Store) -> None:
    asked = Statement("q-1", (Wording(QUESTION, "en", "Should the state pay?"),))
    filled.statements.create("small", [asked], person="ana")
    plan = plan_drafting(filled, spec("scripted", ONE, PROMPTS[VariantKind.ORIGINAL]))
    assert {(call.ref, call.prompt.kind.value) for call in plan.calls} == {
        ("a-1", "negation"),
        ("a-2", "negation"),
        ("b-1", "negation"),
        ("q-1", "original"),
    }
    assert "negation: 1 statement left out, no original in 'en'" in plan.describe()
    assert "original: 3 statements left out, an original in 'en' exists" in plan.describe()
    with pytest.raises(UsageError, match="nothing to draft"):
        plan_drafting(filled, spec("scripted", ONE, refs=("q-1",)))
    with pytest.raises(UnknownName, match="'nowhere'"):
        plan_drafting(filled, spec("scripted", ONE, refs=("nowhere",)))
    with pytest.raises(UsageError, match="no kind"):
        plan_drafting(filled, DraftSpec("small", "scripted", ()))


@pytest.mark.e2e
def test_a_statement_that_is_archived_meanwhile_does_not_stop_the_job(
    filled: Store, tmp_path: Path
) -> None:
    model = persona(tmp_path, [sentences(2)], delay_s=0.2)
    job_id = start_drafting(filled, spec(model))
    wait(filled, job_id, lambda job: job.done > 0)
    filled.statements.archive("small", ["b-1"], person="ana")
    job = wait(filled, job_id, ended)
    assert job.state == "done", job.message
    assert {d.ref for d in filled.drafts.list("small")} == {"a-1", "a-2"}
    filled.statements.restore("small", ["b-1"], person="ana")
    assert "b-1" in {d.ref for d in filled.drafts.list("small")}


class Failing(ScriptedModel):
    """Fails every second request until it is mended."""

    mended = False

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for drawn in super().generate(requests, sampling):
            failed = not self.mended and drawn.request % 2
            yield Drawn(drawn.request, (), 1, "the service is busy") if failed else drawn


def test_a_call_that_failed_has_no_draft_and_is_asked_again(filled: Store) -> None:
    model = Failing(ScriptedPersona(answers=(sentences(2),)), "flaky")
    attempt = filled.jobs.claim(filled.jobs.create("draft", {}, 0), "test")
    asked = spec("flaky", MANY)
    first = run_drafting(
        filled, plan_drafting(filled, asked, card=model.card), model, attempt=attempt
    )
    assert (first.done, first.failed, first.reason) == (8, 7, "the service is busy")
    left = plan_drafting(filled, asked, card=model.card)
    assert len(left.needed) == 7
    model.mended = True
    second = run_drafting(filled, left, model, attempt=attempt)
    assert (second.done, second.calls, second.failed) == (15, 7, 0)
    assert len({(d.ref, d.label) for d in filled.drafts.list("small")}) == 15


@pytest.mark.slow
def test_the_embedded_model_drafts_for_the_shipped_instrument(tmp_path: Path) -> None:
    from workbench.cli.main import main

    path = tmp_path / "demo.db"
    assert main(["init", str(path), "--demo"]) == 0
    with Store.open(path) as store:
        brief = PROMPTS[VariantKind.REFORMULATION].adjusted(max_new_tokens=40)
        asked = DraftSpec("veldania", "smollm2", (brief,), ("for-03", "mig-01"))
        job = wait(store, start_drafting(store, asked), ended, seconds=600)
        assert job.state == "done", job.message
        found = store.drafts.list("veldania")
        assert {d.ref for d in found} == {"for-03", "mig-01"}
        assert {d.made.model for d in found if d.made} == {"smollm2"}
        assert {d.made.backend for d in found if d.made} == {"transformers"}


def test_a_model_of_which_nothing_can_be_used_is_seen_before_the_rest_is_asked(
    filled: Store, tmp_path: Path
) -> None:
    plan = plan_drafting(filled, spec(persona(tmp_path, ["Why not?"])))
    model = load(plan.spec.model)

    def asked(*, patient: bool, limit: int) -> DraftingProgress:
        job = create_drafting(filled, plan.spec)
        attempt = filled.jobs.claim(job, "9.9")
        monkey = pytest.MonkeyPatch()
        monkey.setattr(drafting, "FIRST_CALLS", limit)
        try:
            return run_drafting(filled, plan, model, attempt=attempt, job=job, patient=patient)
        finally:
            monkey.undo()
            filled.jobs.finish(job, attempt, "cancelled")

    stopped = asked(patient=False, limit=4)
    assert 4 <= stopped.calls < len(plan.calls)
    assert stopped.hopeless.startswith(f"None of the first {stopped.calls} prompts gave a draft: ")
    assert '"Why not?"' in stopped.hopeless
    assert asked(patient=True, limit=4).hopeless == "", "somebody looked and went on"


@pytest.mark.e2e
def test_a_drafting_job_of_which_nothing_can_be_used_waits_for_a_person(
    filled: Store, tmp_path: Path
) -> None:
    refs = tuple(statement.ref for statement in filled.instruments.get("small").statements)
    many = DraftSpec(
        "small",
        persona(tmp_path, ["Why not?"], delay_s=0.05),
        (replace(MANY, calls=20),),
        refs,
        "",
        1,
    )
    job = wait(filled, start_drafting(filled, many), lambda job: bool(job.question) or ended(job))
    assert (job.state, job.question) == ("paused", "unreadable"), job.message
    assert job.message.startswith("None of the first ")
    assert job.done < job.total == 60
    launch.resume(filled, job.id)
    job = wait(filled, job.id, ended)
    assert (job.state, job.done) == ("done", 60), "asked to go on, it goes on"


def test_every_job_keeps_as_many_as_it_was_asked_to(filled: Store, tmp_path: Path) -> None:
    """Whatever earlier jobs, and other models, drafted for the same statement."""
    few = MANY.adjusted(calls=1, keep=3)
    first = persona(tmp_path, [sentences(10), sentences(10).replace("proposal", "motion")])
    other = persona(tmp_path, [sentences(10).replace("proposal", "bill")], "other.toml")
    for model, prompt in ((first, few), (first, few.adjusted(calls=9)), (other, few)):
        made = drafted_here(filled, spec(model, prompt, refs=("a-1",)))
        kept = [
            d
            for d in filled.drafts.list("small", state="pending", refs=["a-1"])
            if d.drafter == model
        ]
        assert (made.done, len(kept)) == (prompt.calls, 3)


def test_a_stop_is_heard_after_the_answer_under_way(filled: Store, tmp_path: Path) -> None:
    """The model is asked for eight together; the one that is under way is kept."""
    made = drafted_here(
        filled, spec(persona(tmp_path, [sentences(2)]), MANY), should_stop=lambda: True
    )
    assert made.done == 0
    asked = iter([False, *[True] * 99])
    made = drafted_here(
        filled, spec(persona(tmp_path, [sentences(2)]), MANY), should_stop=lambda: next(asked)
    )
    assert (made.done, made.total) == (1, 15)


def drafted_here(
    store: Store, of: DraftSpec, should_stop: Callable[[], bool] = lambda: False
) -> DraftingProgress:
    """Let a drafting job run in this process."""
    model = load(of.model)
    plan = plan_drafting(store, of, card=model.card)
    job = store.jobs.create("draft", of.as_json(), len(plan.calls))
    return run_drafting(
        store, plan, model, attempt=store.jobs.claim(job, "test"), job=job, should_stop=should_stop
    )


@pytest.mark.parametrize("stopped", ["before", "meanwhile"])
def test_a_job_that_is_stopped_before_its_model_is_loaded_asks_nothing(
    filled: Store, tmp_path: Path, stopped: str
) -> None:
    """The model's answers would be drafts: there are none, and nothing is planned for the job."""
    of = spec(persona(tmp_path, [sentences(3)]))
    job = filled.jobs.create("draft", of.as_json(), 18)
    attempt = filled.jobs.claim(job, "test")
    control = Control()

    class Slow(ModelCache):
        loads = 0

        def get(self, *args: Any, **how: Any) -> Model:
            self.loads += 1
            control.end()
            return super().get(*args, **how)

    if stopped == "before":
        control.end()
    models = Slow()
    state, message = WORK["draft"](
        Task(filled, filled.jobs.get(job), attempt, control, lambda _: None, models)
    )
    models.clear()
    assert state == "cancelled"
    assert message.startswith("stopped on request; ")
    assert models.loads == (stopped == "meanwhile")
    assert filled.jobs.get(job).message != "drafting"
    assert filled.drafts.list("small") == ()
