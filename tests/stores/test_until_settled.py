"""A run that is asked until settled has the verdicts of the whole run from the same seed, with
fewer answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.core.store import Store
from tests.conftest import instrument, new_store
from workbench.audits.chosen_run import find_run
from workbench.audits.codes import INSUFFICIENT
from workbench.audits.reliability import AUDIT as RELIABILITY
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import ReliabilityJudged, judge_reliability
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY, Drawn, Request, Sampling
from workbench.errors import UsageError
from workbench.evidence.answered import answered_table
from workbench.evidence.runs import AnswerSelection
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.pipeline.asking import AskingProgress
from workbench.report import own_tables
from workbench.report.collected import collect
from workbench.report.options import ReportChoice
from workbench.stats.proportions import is_settled

SEED = 5
MIXED = ScriptedPersona(agree=0.72, unreadable=0.12)
CLEAR = ScriptedPersona(agree=0.97, unreadable=0.0)
THINKS = replace(MIXED, thoughts=("on the one hand", "let me see"))
TESTS = ("sampling", "paraphrase", "negation", "opposite", "label_order", "all", "template")


class Counting(ScriptedModel):
    """A stand-in that notes what it was asked, and of which some answers fail."""

    def __init__(self, persona: ScriptedPersona, failing: float = 0.0) -> None:
        super().__init__(persona)
        self.heard: list[list[Request]] = []
        self._failing, self._rng = failing, np.random.default_rng(3)

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        self.heard.append(list(requests))
        for drawn in super().generate(requests, sampling):
            if self._rng.random() < self._failing:
                (text, n), *rest = drawn.answers
                left = ((text, n - 1), *rest) if n > 1 else tuple(rest)
                yield replace(drawn, answers=left, failed=1, reason="the server was away")
            else:
                yield drawn


def ask(
    store: Store, model: ScriptedModel, *, stop_after: int | None = None, **changes: object
) -> AskingProgress:
    """Ask what a design needs in this process; `stop_after`: as if it were cancelled after so many
    looks.
    """
    design = Design(**{"instrument": "small", "model": "scripted", "seed": SEED, **changes})  # type: ignore[arg-type]
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    looks = iter(range(10_000))

    def stop() -> bool:
        return stop_after is not None and next(looks) >= stop_after

    progress = asking.collect(store, plan, model, attempt=attempt, job=job, should_stop=stop)
    store.jobs.finish(job, attempt, "done" if stop_after is None else "cancelled")
    return progress


def report(store: Store, **options: object) -> ReliabilityReport:
    return run_verdicts(store, find_run(store, "reliability"), ReliabilityOptions(**options)).report  # type: ignore[arg-type]


def judged(store: Store) -> ReliabilityJudged:
    return judge_reliability(store, find_run(store, "reliability"))


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Store]:
    """A second store, for the run that is asked in full."""
    with new_store(tmp_path / "whole.db") as opened:
        opened.instruments.add(instrument())
        yield opened


def same_verdicts(one: ReliabilityReport, two: ReliabilityReport) -> None:
    for test in TESTS:
        assert np.array_equal(one.verdicts(test), two.verdicts(test)), test
    assert np.array_equal(one.stances, two.stances)
    assert np.array_equal(one.clear, two.clear)
    assert np.array_equal(one.has_stance_data, two.has_stance_data)


@pytest.mark.parametrize(
    ("persona", "sampling"),
    [(MIXED, Sampling()), (CLEAR, Sampling()), (THINKS, Sampling(thinking="low"))],
)
@pytest.mark.parametrize("samples", [30, 7])
def test_the_verdicts_are_those_of_all_answers(
    filled: Store, whole: Store, persona: ScriptedPersona, sampling: Sampling, samples: int
) -> None:
    ask(whole, ScriptedModel(persona), samples=samples, sampling=sampling)
    ask(filled, ScriptedModel(persona), samples=samples, sampling=sampling, until_settled=True)
    few, all_ = report(filled), report(whole)
    assert few.counts.total.sum() < all_.counts.total.sum()
    same_verdicts(few, all_)
    assert repr([row.raw for row in few.agreement()]) == repr([row.raw for row in all_.agreement()])


def test_the_answers_are_the_first_ones_of_the_whole_run(filled: Store, whole: Store) -> None:
    model = Counting(MIXED)
    ask(filled, model, until_settled=True)
    ask(whole, ScriptedModel(MIXED))
    assert len(model.heard) > 2, "in rounds"
    ends: dict[bytes, int] = {}
    for one in (one for wanted in model.heard for one in wanted):
        assert one.first == ends.get(one.prompt.key, 0)
        ends[one.prompt.key] = one.first + one.n
    few, all_ = report(filled).counts, report(whole).counts
    for sides in ("positive", "negative", "unreadable"):
        assert (getattr(few, sides) <= getattr(all_, sides)).all()


def test_no_answer_is_asked_for_that_would_not_have_been_asked_one_by_one(filled: Store) -> None:
    """Without the last answer of a prompt its verdict is open; the first round alone may be
    longer.
    """
    model = Counting(replace(MIXED, unreadable=0.0))
    ask(filled, model, until_settled=True)
    counts = report(filled).counts
    agree, disagree, total = (
        a[counts.total > 0] for a in (counts.positive, counts.negative, counts.total)
    )
    assert is_settled(agree, disagree, total - agree - disagree).all()
    more = total > 22
    assert more.any()
    before = [
        is_settled(np.maximum(agree - 1, 0), disagree, 0) & (agree > 0),
        is_settled(agree, np.maximum(disagree - 1, 0), 0) & (disagree > 0),
    ]
    assert not (before[0] & before[1])[more].any()


def test_under_other_rules_a_prompt_is_settled_again_or_insufficient(
    filled: Store, whole: Store
) -> None:
    ask(filled, ScriptedModel(MIXED), until_settled=True)
    ask(whole, ScriptedModel(MIXED))
    for options in ({"rule": "coded"}, {"minimum": 25}, {"low": 0.3, "high": 0.8}, {"minimum": 3}):
        few, all_ = report(filled, **options), report(whole, **options)
        known = few.has_stance_data
        assert not (known & ~all_.has_stance_data).any()
        assert np.array_equal(few.stances[known], all_.stances[known]), options
        assert np.array_equal(few.clear[known], all_.clear[known]), options
        undecided = few.unsettled
        assert (few.clear[undecided] == INSUFFICIENT).all()
    strict = report(filled, minimum=25)
    at = tuple(int(i) for i in np.argwhere(strict.unsettled)[0])
    assert "do not settle the verdict by these rules" in strict.lacking(at)


def test_a_run_that_is_broken_off_goes_on_with_the_numbers_that_follow(
    filled: Store, whole: Store
) -> None:
    for stop_after in (0, 0, None):
        ask(filled, ScriptedModel(MIXED), until_settled=True, stop_after=stop_after)
    ask(whole, ScriptedModel(MIXED))
    same_verdicts(report(filled), report(whole))


def test_a_run_that_is_not_finished_is_insufficient_and_says_so(filled: Store) -> None:
    ask(filled, ScriptedModel(MIXED), until_settled=True, stop_after=0)
    found = judged(filled)
    open_ = found.report.unsettled
    assert open_.any()
    assert (found.report.clear[open_] == INSUFFICIENT).all()
    assert found.answered.partial
    assert any(line.startswith("! Only") for line in found.header)


def test_what_is_settled_is_neither_missing_nor_failed(filled: Store) -> None:
    progress = ask(filled, ScriptedModel(MIXED), until_settled=True)
    found = judged(filled)
    assert progress.done + progress.spared == progress.total
    assert progress.done == found.answered.answered
    assert progress.spared == found.answered.settled > 0
    assert not found.answered.partial
    assert not any(line.startswith("!") for line in found.header)
    job = filled.jobs.list()[0]
    assert job.done == job.total
    assert job.progress["spared"] == progress.spared
    again = planning.plan(filled, Design.from_json(job.spec))
    assert (again.samples_needed, again.samples_spared) == (0, progress.spared)


def test_a_run_that_stored_answers_settle_is_complete(filled: Store) -> None:
    """A plan of which answers failed is partial; where nothing is left to ask until settled,
    nothing is missing.
    """
    ask(filled, Counting(ScriptedPersona(agree=1.0, unreadable=0.0), failing=1.0), samples=30)
    assert judged(filled).answered.partial
    design = Design("small", "scripted", seed=SEED, samples=30, until_settled=True)
    plan = planning.plan(filled, design)
    assert plan.samples_needed == 0
    assert not launch.is_noted(filled, plan)
    launch.note_stored(filled, plan)
    assert launch.is_noted(filled, planning.plan(filled, design))
    came = judged(filled).answered
    assert not came.partial
    assert (came.answered, came.settled, came.planned) == (
        29 * len(plan.prompts),
        len(plan.prompts),
        plan.samples,
    )


def test_the_share_drawn_stands_beside_the_enumerated_optimum(filled: Store) -> None:
    progress = ask(filled, ScriptedModel(MIXED), until_settled=True)
    found = judged(filled)
    spared = found.answered.spared
    assert spared is not None
    share = spared.drawn / spared.planned
    assert share == pytest.approx(found.answered.optimum, abs=0.03)
    assert f"{share:.1%}" in progress.settlement
    (line,) = [line for line in found.header if line.startswith("Asked until settled")]
    assert "N 30, 20 readable needed, rule printed (0.45, 0.55), reader label-words" in line
    assert "Prompts of scripted" in found.methods()
    told = found.about()["answered"][0]["until_settled"]
    assert told["share_drawn"] == pytest.approx(share)
    assert told["rules"][0]["rule"]["samples"] == 30
    table = answered_table([found.answered])
    shown = {column.key: column.value(found.answered) for column in table.columns}
    assert (shown["settled"], shown["optimum"]) == (progress.spared, found.answered.optimum)
    collected = collect(filled, ReportChoice(audits=("reliability",)), lambda *_: None)
    (row,) = collected.asked
    assert {column.key: column.value(row) for column in own_tables.design(collected).columns}[
        "drawn"
    ] == pytest.approx(share)


def test_figures_that_need_all_answers_say_so(filled: Store, whole: Store) -> None:
    ask(filled, ScriptedModel(MIXED), until_settled=True)
    ask(whole, ScriptedModel(MIXED))

    def noted(store: Store) -> set[str]:
        return {
            entry.name
            for entry in RELIABILITY.judge(
                store, AnswerSelection(), ReliabilityOptions(), lambda: nullcontext(store)
            ).book.contents
            if any("asked until settled" in note for note in entry.make().notes)
        }

    assert noted(filled) == {
        "templates",
        "components",
        "components_by_issue",
        "shifts",
        "refusals",
        "refusal_sides",
    }
    assert not noted(whole)


def test_answers_that_failed_are_asked_again_under_other_numbers(filled: Store) -> None:
    model = Counting(MIXED, failing=0.3)
    ask(filled, model, until_settled=True)
    model._failing = 0.0
    progress = ask(filled, model, until_settled=True)
    asked: set[tuple[bytes, int]] = set()
    for one in (one for wanted in model.heard for one in wanted):
        numbers = {(one.prompt.key, n) for n in range(one.first, one.first + one.n)}
        assert not numbers & asked
        asked |= numbers
    assert progress.done + progress.spared == progress.total
    assert not report(filled).unsettled.any()


def test_a_larger_plan_settles_anew(filled: Store) -> None:
    ask(filled, ScriptedModel(CLEAR), until_settled=True)
    ask(filled, ScriptedModel(CLEAR), samples=60, until_settled=True)
    found = judged(filled)
    assert not found.answered.partial
    assert found.report.counts.sizes == (60, 60)
    assert not found.report.unsettled.any()
    assert [by.rule.samples for by in found.answered.spared.rules] == [60]  # type: ignore[union-attr]


def test_asking_in_full_afterwards_draws_the_rest(filled: Store) -> None:
    ask(filled, ScriptedModel(MIXED), until_settled=True)
    before = report(filled)
    ask(filled, ScriptedModel(MIXED))
    after = judged(filled)
    assert (
        after.report.counts.total[
            after.report.counts.exists[None, :, :, None] & (before.counts.total > 0)
        ]
        == 30
    ).all()
    same_verdicts(before, after.report)


def test_what_has_no_verdict_on_a_prompt_cannot_be_settled(filled: Store) -> None:
    exact = Design("small", "scripted", samples=1, sampling=EXACTLY, until_settled=True)
    with pytest.raises(UsageError, match="leave --until-settled out"):
        planning.plan(filled, exact)


def test_designs_from_before_are_told_alike() -> None:
    assert "until_settled" not in Design("small", "scripted").as_json()
    design = Design("small", "scripted", until_settled=True)
    assert Design.from_json(design.as_json()) == design
