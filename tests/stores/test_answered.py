"""What stands above every figure: how much of the plan was answered, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask as ask_choices
from tests.jobs.test_response_bias_runs import first_option, pairs
from tests.questionnaire_stores import panel, predict
from tests.stores.test_planned import READABLE, Failing, ask
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.result import book as book_of_consistency
from workbench.audits.questionnaire.book import book as of_questionnaire
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.questionnaire.result import results_of
from workbench.audits.reliability import AUDIT as RELIABILITY
from workbench.audits.reliability.judged import judge_reliability
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.response_bias.book import book as of_choices
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.audits.response_bias.questions import Changes
from workbench.data import shipped_templates
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.responses import EXACTLY
from workbench.evidence.answered import (
    AnswerCount,
    AnsweredPlan,
    answered_data,
    answered_header,
    answered_plan,
    answered_table,
)
from workbench.evidence.runs import AnswerSelection
from workbench.figures.book import warnings_of
from workbench.figures.write.data_files import csv_files
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.pipeline import planning, scoring


def of_run(store: Store) -> AnsweredPlan:
    return judge_reliability(store, find_run(store, "reliability")).answered


def test_a_run_that_was_answered_whole_says_so(filled: Store) -> None:
    ask(filled, ScriptedModel(ScriptedPersona(agree=1.0, unreadable=0.5)))
    found = of_run(filled)
    assert not found.partial
    assert found.planned == found.answered == 30 * find_run(filled, "reliability").prompts
    (line,) = answered_header([found])
    assert line.startswith(f"All {found.planned:,} planned answers came: unreadable ")
    assert line.endswith("cut off in thought 0.0 %.")
    assert found.parts["unreadable"].share == pytest.approx(0.5, abs=0.1)


def test_answers_that_were_collected_elsewhere_were_planned_by_nobody() -> None:
    imported = AnsweredPlan(
        "imported:llm", 539, 539, parts={"unreadable": AnswerCount(9, 539)}, imported=True
    )
    assert answered_header([imported]) == ("539 imported answers: unreadable 1.7 %.",)
    assert answered_header([replace(imported, parts={})]) == ("539 imported answers.",)


def test_a_cancelled_run_says_in_words_how_much_it_has(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE), stop_after=5)
    found = of_run(filled)
    assert (found.answered, found.partial) == (150, True)
    assert found.job == "job 1 was cancelled"
    first, second = answered_header([found])
    share = f"{100 * 150 / found.planned:.1f} %"
    assert (
        first
        == f"! Only {share} of the plan was answered (150 of {found.planned:,} answers): job 1 "
        "was cancelled."
    )
    assert second.startswith("Of 150 answers: unreadable 0.0 %")
    assert warnings_of([first, second]) == (first[2:],)


def test_every_book_on_these_answers_says_it(filled: Store) -> None:
    """The audit that judges answers of another one says the same of them."""
    ask(filled, ScriptedModel(READABLE), stop_after=5)
    judged = judge_consistency(filled)
    assert answered_header(judged.answered)[0].startswith("! Only ")
    book = RELIABILITY.judge(
        filled, AnswerSelection(), ReliabilityOptions(), lambda: nullcontext(filled)
    ).book
    assert tuple(book.header) == answered_header(judged.answered) == tuple(book.told[:2])
    assert book.table("answered").rows[0].partial
    assert tuple(book_of_consistency(judged).header) == answered_header(judged.answered)


def test_a_job_that_goes_on_and_one_after_it_leave_nothing_missing(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE), stop_after=5)
    ask(filled, ScriptedModel(READABLE))
    found = of_run(filled)
    assert (found.partial, found.job) == (False, "")


def test_answers_that_failed_are_missing(filled: Store) -> None:
    ask(filled, Failing(READABLE))
    found = of_run(filled)
    assert found.answered * 30 == found.planned
    assert answered_header([found])[0].endswith(f"): {found.failed:,} failed.")


def test_answers_beyond_the_plan_are_no_part_of_it(filled: Store) -> None:
    ask(filled, ScriptedModel(READABLE))
    ask(filled, ScriptedModel(READABLE), samples=60, statements=("a-1",))
    found = of_run(filled)
    assert found.answered == found.planned
    ask(filled, ScriptedModel(READABLE), samples=90, statements=("a-1",), stop_after=1)
    assert 0 < of_run(filled).answered < of_run(filled).planned


def test_probabilities_of_a_cancelled_job_are_a_part_of_its_plan(filled: Store) -> None:
    model = ScriptedModel(READABLE)
    plan = planning.plan(
        filled, Design("small", "scripted", sampling=EXACTLY, samples=1), card=model.card
    )
    job = filled.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = filled.jobs.claim(job, "test")
    scoring.score_design(
        filled, plan, model, attempt=attempt, job=job, only=frozenset(list(plan.prompts)[:4])
    )
    filled.jobs.finish(job, attempt, "cancelled")
    run = find_run(filled, "reliability")
    found = answered_plan(filled, run)
    assert (found.answered, found.planned, found.unit) == (4, len(plan.prompts), "prompts")
    assert answered_header([found])[0].endswith(
        f"(4 of {len(plan.prompts)} prompts): job 1 was cancelled."
    )
    again = filled.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = filled.jobs.claim(again, "test")
    scoring.score_design(filled, plan, model, attempt=attempt, job=again)
    filled.jobs.finish(again, attempt, "done")
    assert not answered_plan(filled, find_run(filled, "reliability")).partial


WHOLE = AnsweredPlan("one", 100, 100).with_parts(
    unreadable=AnswerCount(2, 100), refused=AnswerCount(0, 100)
)
HALF = replace(
    AnsweredPlan("two", 100, 50, job="job 2 is still running"),
    parts={"unreadable": AnswerCount(20, 50)},
)


def test_of_several_models_those_that_are_not_whole_are_named() -> None:
    first, second = answered_header([WHOLE, HALF])
    assert (
        first == "! two: only 50.0 % of the plan was answered (50 of 100 answers): job 2 is still "
        "running."
    )
    assert second == "Of 150 answers of 2 models: unreadable 14.7 % (two 40.0 %), refused 0.0 %."
    many = answered_header([replace(HALF, name=f"m{n}") for n in range(5)])
    assert sum(line.startswith("! m") for line in many) == 3
    assert "! The same is true of 2 more models: see the table of answers." in many


def test_snapshots_that_share_a_plan_miss_nothing() -> None:
    shared = replace(HALF, elsewhere=True)
    assert not shared.partial
    assert answered_header([shared]) == ("Of 50 answers: unreadable 40.0 %.",)


def test_the_table_and_programs_have_the_same_numbers() -> None:
    (text,) = csv_files([answered_table([WHOLE, HALF])]).values()
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0][:4] == ["model", "share", "answered", "planned"]
    assert rows[2][:4] == ["two", "0.5", "50", "100"]
    one, two = answered_data([WHOLE, HALF])
    assert (one["partial"], two["partial"], two["missing_because"]) == (
        False,
        True,
        "job 2 is still running",
    )
    assert two["unreadable"] == {"count": 20, "of": 50}


@pytest.fixture
def choices(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        yield store


def plan_more(store: Store, audit: str, n: int) -> None:
    """Note that as many answers were planned for every prompt of a run, as if a job had been
    cancelled.
    """
    run = find_run(store, audit)
    store.runs.note_plan(
        run.model_id, run.sampling_id, [key for (key,) in store.connection.execute(_KEYS)], n
    )
    job = store.jobs.create("sample", dict(store.jobs.list()[-1].spec), 100)
    store.jobs.finish(job, store.jobs.claim(job, "test"), "cancelled")


_KEYS = "select key from prompt"


def test_letters_count_where_they_are_on_offer(choices: Store) -> None:
    """Answers that are drawn again are no part of the plan; what is missing of it is said, and
    refusals beside.
    """
    ask_choices(choices, first_option())
    found = judge_response_bias(choices)
    (came,) = found.answered
    assert (came.unit, came.partial) == ("valid answers", False)
    whole = of_choices(Changes(found, lambda: nullcontext(choices)))
    assert whole.header[0].startswith(
        f"All {came.planned:,} planned valid answers came: no offered letter "
    )
    assert any(line.startswith("refused: ") for line in whole.told), "as the other audits say it"
    assert whole.table("answered").rows == found.answered
    plan_more(choices, "response_bias", 1000)
    again = judge_response_bias(choices)
    part = of_choices(Changes(again, lambda: nullcontext(choices)))
    assert part.header[0].startswith("! Only ")
    assert "job 2 was cancelled" in part.header[0]
    assert "job 2 was cancelled" in part.methods
    assert f"Of {again.answered[0].name}, a rule read the letter" in part.methods


def test_a_questionnaire_says_what_its_cancelled_job_left_out(store: Store) -> None:
    store.instruments.add(panel())
    predict(store, lambda probe: (0.0, 0.0) if probe.statement == "t0" else (0.7, 0.2))
    found = judge_questionnaire(store)
    (came,) = found.answered
    run = find_run(store, "questionnaire")
    assert (came.unit, came.answered, came.partial) == ("prompts", run.answered, False)
    assert came.parts["unreadable"].share == pytest.approx(0.5, abs=0.1)
    results = results_of(found)
    whole = of_questionnaire(results)
    assert whole.header == tuple(whole.told[:1])
    assert "Of biases and means: The wider of two bootstraps over respondents" in whole.methods
    job = store.jobs.create("sample", dict(store.jobs.list()[-1].spec), 10 * came.planned)
    store.jobs.finish(job, store.jobs.claim(job, "test"), "cancelled")
    again = results_of(judge_questionnaire(store))
    part = of_questionnaire(again)
    assert part.header[0].startswith(f"! Only 10.0 % of the plan was answered ({came.answered} of ")
    assert part.header[0].endswith("prompts): job 2 was cancelled.")
    assert "Of the plan of oracle 10.0 % was answered" in part.methods
