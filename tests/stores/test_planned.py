"""The minimum of readable answers belongs to the prompt: it is a share of what was planned for that
prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from workbench.audits.chosen_run import find_run
from workbench.audits.codes import INSUFFICIENT
from workbench.audits.reliability.counting import PRINTED, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.designs import Design
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.domain.statements import ORIGINAL
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import asking, planning

READABLE = ScriptedPersona(agree=1.0, unreadable=0.0)


class Failing(ScriptedModel):
    """A stand-in of which most answers to each prompt fail."""

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for drawn in super().generate(requests, sampling):
            (text, _), *_ = drawn.answers
            n = requests[drawn.request].n
            yield replace(drawn, answers=((text, 1),), failed=n - 1, reason="the server was away")


def ask(
    store: Store, model: ScriptedModel, *, stop_after: int | None = None, **changes: object
) -> None:
    """Ask what a design needs in this process; `stop_after`: as if it were cancelled after so many
    commits.
    """
    design = Design(**{"instrument": "small", "model": "scripted", "samples": 30, **changes})  # type: ignore[arg-type]
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    only = None if stop_after is None else frozenset(list(plan.prompts)[:stop_after])
    asking.collect(store, plan, model, attempt=attempt, only=only)
    store.jobs.finish(job, attempt, "done" if stop_after is None else "cancelled")


def judged(store: Store) -> ReliabilityReport:
    return run_verdicts(store, find_run(store, "reliability")).report


def test_more_answers_to_one_statement_leave_the_others_as_they_were(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE))
    before = judged(filled)
    assert not (before.verdicts("sampling") == INSUFFICIENT).any()
    ask(filled, ScriptedModel(READABLE), samples=60, statements=("a-1",))
    report = judged(filled)
    assert (report.verdicts("sampling") == before.verdicts("sampling")).all()
    assert report.counts.sizes == (30, 60)
    assert report.required_by_prompt[:, 0].min() == report.required_by_prompt[:, 0].max() == 40
    assert report.required_by_prompt[:, 1:].min() == report.required_by_prompt[:, 1:].max() == 20
    assert report.required_text == "two thirds of 30-60"


def test_one_answer_of_a_prompt_of_which_all_others_failed_is_too_few(filled: Store) -> None:
    ask(filled, Failing(READABLE))
    report = judged(filled)
    assert (report.counts.readable[report.counts.total > 0] == 1).all()
    assert (report.counts.wanted[report.counts.total > 0] == 30).all()
    assert (report.verdicts("sampling") == INSUFFICIENT).all()
    assert (
        report.reason("a-1", "personal-1", "sampling")
        == "original: only 1 of 1 readable, 30 planned, 20 needed"
    )


def test_a_plan_that_was_begun_stays_the_plan(filled: Store) -> None:
    """What a cancelled job did not come to draw counts as planned, and a smaller plan later does
    not lower it.
    """
    ask(filled, ScriptedModel(READABLE), samples=10)
    ask(filled, ScriptedModel(READABLE), samples=60, stop_after=1)
    for again in (0, 1):
        report = judged(filled)
        assert sorted(set(report.counts.total[report.counts.total > 0].tolist())) == [10, 60]
        assert report.counts.sizes == (60, 60), again
        assert (report.verdicts("sampling") == INSUFFICIENT).all()
        ask(filled, ScriptedModel(READABLE), samples=10)
    ask(filled, ScriptedModel(READABLE), samples=60)
    assert not (judged(filled).verdicts("sampling") == INSUFFICIENT).any()


def test_the_plan_of_one_sampling_and_model_is_not_that_of_another(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE), samples=6)
    ask(filled, ScriptedModel(READABLE), samples=60, sampling=Sampling(temperature=0.5))
    runs = {run.sampling.temperature: run for run in filled.runs.list("reliability")}
    assert set(filled.runs.planned(runs[1.0]).values()) == {6}
    assert set(filled.runs.planned(runs[0.5]).values()) == {60}


@given(
    plans=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=2, max_size=6),
    extra=st.integers(0, 80),
)
def test_a_prompt_is_judged_by_its_own_plan_alone(plans: list[tuple[int, int]], extra: int) -> None:
    """Two thirds of one's own plan, whatever is planned for another prompt."""
    planned = [n for n, _ in plans]
    readable = [min(n, k) for n, k in plans]

    def enough(first: int) -> list[bool]:
        wanted = np.array([first, *planned], dtype=np.int32)
        positive = np.zeros((1, len(wanted), 1, 2), dtype=np.int32)
        positive[0, 1:, 0, PRINTED] = readable
        counts = Counts(
            statements=tuple(map(str, range(len(wanted)))),
            variants=(ORIGINAL,),
            templates=("t",),
            positive=positive,
            negative=np.zeros_like(positive),
            unreadable=np.zeros_like(positive),
            exists=np.ones((len(wanted), 1), dtype=np.bool_),
            samples=int(wanted.max()),
            planned=np.broadcast_to(wanted[None, :, None, None], positive.shape).astype(np.int32),
        )
        return [bool(x) for x in judge(counts).has_stance_data[0, 1:, 0, PRINTED]]

    assert (
        enough(1)
        == enough(1 + extra)
        == [3 * k >= 2 * n for n, k in zip(planned, readable, strict=True)]
    )
