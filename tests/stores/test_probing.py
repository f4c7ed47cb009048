"""What a probe asks and how it reads what comes; when a run begins with one; which jobs can be
hidden or deleted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import FaultyServer
from workbench import registry
from workbench.commands.run import RunCommand
from workbench.domain.designs import Design
from workbench.domain.probe_results import FIRST, PROBED, PROMPTS, FirstAnswers, ProbeResult
from workbench.domain.prompts import Prompt
from workbench.domain.responses import EXACTLY, Drawn, Request, Sampling
from workbench.errors import JobError
from workbench.formats.read import read_shipped
from workbench.inference.base import Model, NextTokens
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.served.model import load_remote
from workbench.jobs import launch
from workbench.jobs.probing import WORTH_IT, chosen_prompts, is_new, is_worth_it, probe
from workbench.jobs.tidying import delete, what_goes
from workbench.pipeline import asking, planning, scoring


def answers(store: Store) -> int:
    return int(
        store.connection.execute("select coalesce(sum(count), 0) from response").fetchone()[0]
    )


def design(model: str) -> Design:
    return Design("small", model, samples=6)


def test_first_answers_are_many_and_of_several_prompts() -> None:
    first = FirstAnswers()
    first.look(range(PROMPTS - 1), ["Hm."], 5 * FIRST, 5 * FIRST, 0, 0)
    assert not first.hopeless, "answers to few prompts are alike"
    first.look(range(PROMPTS), ["\x1b[31mred", "x" * 500], 5 * FIRST, 5 * FIRST, 7, 0)
    assert first.hopeless
    assert "500 answers (to 10 prompts) can be read (7 refuse)" in first.describe()
    assert len(first.describe()) < 300
    early = FirstAnswers()
    early.look(range(PROMPTS), [], FIRST - 1, FIRST - 1, 0, 0)
    assert not early.hopeless
    early.look([], ["Agree."], FIRST, FIRST - 1, 0, 0)
    early.look(range(50), [], 9 * FIRST, 9 * FIRST, 0, 0)
    assert not early.hopeless, "once an answer could be read nothing more is looked at"


@pytest.mark.parametrize(("samples", "held"), [(1, FIRST), (3, 102), (20, 20 * PROMPTS)])
def test_no_more_than_the_first_answers_are_asked_before_they_are_looked_at(
    store: Store, samples: int, held: int
) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted", samples=samples))
    model = Counting(ScriptedPersona(answers=("Well.",)))
    progress = collected(store, plan, model, FirstAnswers())
    assert (answers(store), model.asked) == (held, held)
    assert progress.hopeless.startswith(f"Not one of the first {held} answers")


def test_what_is_asked_at_once_is_left_off_where_enough_has_come(store: Store) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted", samples=20))
    progress = collected(
        store, plan, ScriptedModel(ScriptedPersona(answers=("Well.",))), FirstAnswers(at_once=True)
    )
    assert progress.hopeless
    assert 20 * PROMPTS <= answers(store) <= 40 * PROMPTS < plan.samples, (
        "what is written is looked at by the second"
    )


def test_a_served_model_is_not_paid_for_more_than_the_first_answers(store: Store) -> None:
    veldania(store)
    with FaultyServer() as server:
        server.respond = lambda asked: {
            "choices": [
                {"index": n, "message": {"content": f"Well, {n}."}}
                for n in range(asked.body.get("n", 1))
            ]
        }
        plan = planning.plan(store, Design("veldania", server.name, samples=20))
        model = load_remote(server.name, environ={})
        progress = collected(store, plan, model, FirstAnswers())
        model.close()
        assert (progress.hopeless != "", len(server.asked), answers(store)) == (
            True,
            PROMPTS,
            20 * PROMPTS,
        )


def test_no_more_than_the_first_prompts_are_scored_before_they_are_looked_at(store: Store) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted", samples=1, sampling=EXACTLY))
    attempt = attempt_of(store, plan)
    progress = scoring.score_design(
        store, plan, Thinker(), attempt=attempt, first=FirstAnswers(exact=True)
    )
    assert progress.hopeless.startswith(f"Not one of the first {FIRST} prompts can be read")
    assert (
        store.connection.execute("select count(distinct prompt_id) from score").fetchone()[0] == 0
    )
    assert progress.failed == FIRST


class Counting(ScriptedModel):
    """Counts the answers that it gives."""

    asked = 0

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for drawn in super().generate(requests, sampling):
            self.asked += sum(count for _, count in drawn.answers)
            yield drawn


class Thinker(ScriptedModel):
    """A model whose likeliest next token begins a thought."""

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        for found in super().next_tokens(prompts, k, words):
            yield replace(found, texts=("<think>", *found.texts[1:]))


def attempt_of(store: Store, plan: planning.Plan) -> int:
    return store.jobs.claim(launch.create(store, plan.design), "1")


def collected(
    store: Store, plan: planning.Plan, model: Model, first: FirstAnswers
) -> asking.AskingProgress:
    return asking.collect(store, plan, model, attempt=attempt_of(store, plan), first=first)


def veldania(store: Store) -> None:
    store.instruments.add(read_shipped("veldania"))


def test_the_prompts_of_a_probe_are_drawn_by_the_seed_evenly_from_the_templates(
    store: Store,
) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted"))
    picked = chosen_prompts(plan)
    assert (len(picked), sum(one.n for one in picked)) == (PROBED, PROBED)
    counts = Counter((one.probe.template, one.probe.inverted) for one in picked)
    assert len(counts) == 12
    assert set(counts.values()) == {1, 2}
    assert [one.probe for one in chosen_prompts(plan)] == [one.probe for one in picked]
    other = planning.plan(store, Design("veldania", "scripted", seed=8))
    assert [one.probe for one in chosen_prompts(other)] != [one.probe for one in picked]
    few = planning.plan(
        store, Design("veldania", "scripted", statements=("env-01",), variants=("original",))
    )
    assert [one.n for one in chosen_prompts(few)] == [2] * 8 + [1] * 4


def test_other_families_are_tried_where_too_few_answers_are_readable(store: Store) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted"))
    said: list[str] = []
    good = probe(store, plan, ScriptedModel(), say=said.append)
    assert good is not None
    assert said[-1] == "probe, family chat: 20 of 20 have come"
    assert (good.others, good.share > 0.6) == ((), True)
    mute = probe(store, plan, ScriptedModel(ScriptedPersona(answers=("Well.",))))
    assert mute is not None
    assert (mute.readable, mute.faults) == (0, {"unreadable": 20})
    assert [(one.family, one.readable, one.answers) for one in mute.others] == [("user", 0, 20)]
    assert mute.describe().endswith("(20 unreadable); user: 0 of 20 (0 %)")
    assert ProbeResult.from_json(json.loads(json.dumps(mute.as_json()))) == mute
    assert store.connection.execute("select count(*) from draw").fetchone()[0] == 0


def test_free_text_is_read_by_words_and_says_how_often_nothing_came(store: Store) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted", "bias_score", 3, family="prefixes"))
    said = (
        "I agree with this.",
        "As an AI language model, I cannot say.",
        "",
        "<think>Hm",
        "Bananas are yellow.",
    )
    found = probe(store, plan, ScriptedModel(ScriptedPersona(answers=said)))
    assert found is not None
    assert not found.by_rule
    read = {(one.text, one.read_as) for one in found.answers}
    assert ("Bananas are yellow.", "no rule reads it") in read
    assert ("<think>Hm", "cut off in thought") in read
    assert ("", "empty") in read
    assert ("As an AI language model, I cannot say.", "refusal (by words)") in read
    assert {one.fault for one in found.answers} == {"", "empty", "cut off in thought"}
    assert "answers say something" in found.describe()
    assert "refusal (by words)" in found.describe()


def test_a_probe_is_asked_to_stop_on_its_way(store: Store) -> None:
    veldania(store)
    plan = planning.plan(store, Design("veldania", "scripted"))
    assert probe(store, plan, ScriptedModel(), lambda: True) is None


@pytest.mark.parametrize("audit", [one.name for one in registry.asking()])
@pytest.mark.parametrize("exact", [False, True])
def test_every_audit_is_probed_and_its_job_can_be_asked_again(
    store: Store, audit: str, exact: bool
) -> None:
    """What a job was told, said as options again, makes the same design; and its probe reads what
    the audit reads.
    """
    of = registry.audit(audit)
    if exact and (not of.defaults.exact_by or not of.defaults.drawn):
        pytest.skip("nothing else is computed of it")
    shown = of.demonstration()
    name = shown.instrument if shown is not None else "veldania"
    store.instruments.add(read_shipped(name))
    asked = (
        shown.design(store, "scripted")
        if shown is not None
        else Design(name, "scripted", audit, family=of.defaults.family)
    )
    plan = planning.plan(store, replace(asked, sampling=EXACTLY, samples=1) if exact else asked)
    found = probe(store, plan, ScriptedModel(ScriptedPersona(unreadable=0.0)))
    assert found is not None
    assert 0 < len(found.answers) <= PROBED
    assert found.exact == (exact or not of.defaults.drawn)
    assert found.readable == len(found.answers), found.describe()
    assert RunCommand.from_design(store, plan.design).audit == audit


def test_a_probe_comes_where_model_family_or_sampling_is_new_and_the_run_is_long(
    store: Store,
) -> None:
    veldania(store)
    asked = Design("veldania", "scripted", samples=2)
    plan = planning.plan(store, asked)
    assert is_worth_it(store, plan)
    short = planning.plan(store, replace(asked, statements=("env-01",), variants=("original",)))
    assert (short.samples_needed < WORTH_IT, is_worth_it(store, short)) == (True, False)
    assert not is_worth_it(store, replace(plan, design=replace(plan.design, cluster="local")))
    store.jobs.note_done("sample", plan.design.as_json(), 10, "", "1")
    assert not is_new(store, plan.design)
    for change in (
        {"model": "other"},
        {"family": "user"},
        {"sampling": EXACTLY},
        {"dtype": "float16"},
    ):
        assert is_new(store, replace(plan.design, **change))


def test_a_job_is_hidden_listed_again_and_deleted_only_where_nothing_rests_on_it(
    filled: Store,
) -> None:
    job_id = launch.create(filled, design("scripted"))
    for act in (filled.jobs.hide, filled.jobs.delete):
        with pytest.raises(JobError, match="ancel it first"):
            act(job_id)
    filled.jobs.request_stop(job_id)
    assert filled.jobs.hide(job_id).hidden
    assert not filled.jobs.hide(job_id, hidden=False).hidden
    assert filled.jobs.delete(job_id).id == job_id
    done = filled.jobs.note_done("sample", design("scripted").as_json(), 5, "", "1")
    with pytest.raises(
        JobError,
        match=r"figures may rest on what it asked, so it is not deleted. Hide it from the list "
        r"instead: H on",
    ):
        filled.jobs.delete(done)
    assert filled.jobs.hide(done).hidden


def test_a_job_that_brought_answers_is_not_deleted(filled: Store) -> None:
    asked = design("scripted")
    job_id = launch.create(filled, asked)
    attempt = filled.jobs.claim(job_id, "1")
    model = ScriptedModel(name="scripted")
    plan = planning.plan(filled, asked, card=model.card)
    asking.collect(filled, plan, model, attempt=attempt, job=job_id)
    filled.jobs.finish(job_id, attempt, "failed", "a fault")
    with pytest.raises(
        JobError,
        match=r"brought 432 answers, which stay, so it is not deleted. Hide it from the list "
        r"instead",
    ):
        what_goes(filled, job_id)
    with pytest.raises(JobError, match="brought 432 answers"):
        delete(filled, job_id)
    assert answers(filled) == 432
