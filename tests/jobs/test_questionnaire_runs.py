"""Questionnaire runs from plan to store: what is asked once, what is kept, what is refused before
it is computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.core.store import Store
from tests.jobs.test_jobs import ended, wait
from tests.questionnaires import CONTEXT, QUESTIONNAIRE, Known, ask, panel
from workbench.audits.chosen_run import find_run
from workbench.audits.questionnaire.asking import CONDITION_NAMES, people
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.domain.designs import Design
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import Contexts, Survey
from workbench.domain.responses import WHEN_DECIDED, ModelCard, Sampling
from workbench.errors import ModelError, UsageError
from workbench.inference.base import NextTokens
from workbench.inference.scripted.model import ScriptedModel
from workbench.jobs import launch
from workbench.pipeline import planning


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "panel.db", create=True) as store:
        store.instruments.add(panel())
        yield store


def test_a_run_stores_the_next_tokens_of_every_prompt_with_its_masses_and_asks_nothing_twice(
    asked: Store,
) -> None:
    model = Known()
    first = ask(asked, model, conditions=("qm", "zero-shot"))
    assert (first.done, first.total, first.failed) == (6, 6, 0), (
        "of ten people only two answered differently"
    )
    run = find_run(asked, "questionnaire")
    assert (run.responses, run.failed, run.answered) == (6, 0, 6)
    tables = asked.scores.tables_of_run(run)
    assert len(tables) == 21
    assert all(
        table.words is not None and sum(table.words.values()) == pytest.approx(0.9)
        for table in tables.values()
    )
    again = ask(asked, model, conditions=("qm", "zero-shot"))
    assert (again.done, again.answers, len(model.put_to_it)) == (6, 0, 6)
    more = ask(asked, model, conditions=("qm", "random"))
    assert 4 < more.total <= 4 + 19, "random answers are each person's own"
    assert more.answers == more.total - 4 == len(model.put_to_it) - 6


def test_a_context_is_stored_once_and_a_prompt_is_read_back_as_the_model_saw_it(
    asked: Store,
) -> None:
    model = Known()
    ask(asked, model)
    run = find_run(asked, "questionnaire")
    seen = {prompt.key: prompt for prompt in model.put_to_it}
    for probe in asked.scores.tables_of_run(run):
        prompt = asked.runs.prompt(probe)
        assert seen[prompt.key] == prompt
        assert prompt.context == 2 * len(CONTEXT)
    contexts, prompts, longest = asked.connection.execute(
        "select count(distinct context_id), count(*), max(length(messages)) from prompt"
    ).fetchone()
    assert (contexts, prompts) == (2, 4), (
        "of ten people only two answered differently, and two targets each"
    )
    assert longest < 200


def test_seeds_and_contexts_are_axes_of_their_own(asked: Store) -> None:
    ask(asked, Known(), conditions=("random",))
    ask(asked, Known(), replace(QUESTIONNAIRE, seed=2), conditions=("random",))
    axes = [json.loads(row[0]) for row in asked.connection.execute("select axes from probe")]
    assert {(of["condition"], of["seed"]) for of in axes} == {("random", "1"), ("random", "2")}
    assert len(axes) == 38


def test_a_changed_context_question_is_asked_anew_and_the_old_prompts_stay(asked: Store) -> None:
    ask(asked, Known())
    changed = panel()
    first = changed.statements[0]
    other = replace(first, wordings=(replace(first.wordings[0], text="Ought c0 to be so?"),))
    asked.instruments.add(replace(changed, statements=(other, *changed.statements[1:])))
    assert planning.plan(asked, QUESTIONNAIRE, card=Known().card).samples_needed == 4
    ask(asked, Known())
    axes = [json.loads(row[0]) for row in asked.connection.execute("select axes from probe")]
    assert len(axes) == 38
    assert len({of["context"] for of in axes}) == 4


def test_a_worker_process_asks_a_questionnaire(asked: Store) -> None:
    design = replace(QUESTIONNAIRE, contexts=Contexts(CONDITION_NAMES, every=2), variants=())
    job = wait(asked, launch.start(asked, design), ended)
    assert job.state == "done", job.message
    assert (
        job.done
        == job.total
        == len({key for (key,) in asked.connection.execute("select key from prompt")})
    )
    assert Design.from_json(job.spec).contexts == design.contexts


class Refusing(Known):
    """Cannot be asked about the market."""

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        for found in super().next_tokens(prompts, k, words):
            if "market" in prompts[found.prompt].messages[-1].content:
                yield NextTokens(
                    found.prompt, (), np.array([]), float("nan"), None, "the market is closed"
                )
            else:
                yield found


def test_a_prompt_that_cannot_be_asked_fails_by_itself_with_its_reason(asked: Store) -> None:
    progress = ask(asked, Refusing())
    assert (progress.done, progress.failed) == (2, 2)
    assert progress.reasons.describe().startswith("the market is closed")
    run = find_run(asked, "questionnaire")
    assert (run.answered, run.failed) == (2, 2)
    mended = ask(asked, Known())
    assert (mended.done, mended.failed) == (4, 0)


class Narrow(Known):
    """Has a window; a word is a token."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def lengths(self, prompts: Sequence[Prompt]) -> Sequence[int]:
        return [sum(len(m.content.split()) for m in prompt.messages) for prompt in prompts]


def test_a_context_beyond_the_window_is_refused_with_the_number_of_questions_that_fit(
    asked: Store,
) -> None:
    plan = planning.plan(asked, QUESTIONNAIRE)
    longest = max(Narrow(0).lengths(list(plan.prompts.values())))
    ask(asked, Narrow(longest + 1))
    for questions in (4, 1):
        shorter = longest - (len(CONTEXT) - questions) * 11
        model = Narrow(shorter + 1)
        model._name = f"narrow-{questions}"
        with pytest.raises(
            ModelError, match=rf"6 answered questions .* {questions} of the questions fit"
        ):
            ask(asked, model)
        assert not model.put_to_it, "nothing was computed"
        assert ask(asked, model, questions=questions).failed == 0
    with pytest.raises(ModelError, match="not one question fits"):
        ask(asked, Narrow(5), replace(QUESTIONNAIRE, seed=2), conditions=("permuted",))


def test_what_was_asked_in_another_chat_format_or_dtype_is_not_taken_for_stored(
    asked: Store,
) -> None:
    class Formatted(Known):
        def __init__(self, dtype: str, chat_format: str) -> None:
            super().__init__(name="some/model")
            self.told = {"dtype": dtype, "chat_format": chat_format}

        @property
        def card(self) -> ModelCard:
            return replace(super().card, **self.told)

    plain = replace(QUESTIONNAIRE, model="some/model")
    ask(asked, Formatted("float32", "own"), plain)
    there = [
        (plain, 4),
        (replace(plain, dtype="float32"), 4),
        (replace(plain, chat_format="smollm2"), 0),
        (replace(plain, dtype="bfloat16"), 0),
    ]
    for design, stored in there:
        assert planning.plan(asked, design).samples_stored == stored
    for design, card in (
        (replace(plain, chat_format="smollm2"), ("float32", "others")),
        (replace(plain, dtype="bfloat16"), ("bfloat16", "own")),
    ):
        assert planning.plan(asked, design).samples_stored == 0
        ask(asked, Formatted(*card), design)
        assert planning.plan(asked, design).samples_stored == 4
        assert planning.plan(asked, plain).samples_stored == 4, (
            "those in its own chat format and usual dtype"
        )
    assert len(asked.runs.list("questionnaire")) == 3


def test_what_a_questionnaire_cannot_be_asked_for_is_said(asked: Store) -> None:
    for design, message in [
        (replace(QUESTIONNAIRE, statements=("c1",)), "c1 is not asked: only targets are"),
        (replace(QUESTIONNAIRE, sampling=Sampling(stop=WHEN_DECIDED)), "without sampling"),
        (
            replace(QUESTIONNAIRE, variants=("paraphrase-1",), contexts=Contexts(("reduced",))),
            "wordings other than the original are asked only under qm, zero-shot, random",
        ),
        (
            replace(QUESTIONNAIRE, model="openai:x@http://127.0.0.1:1/v1", chat_format="y"),
            "its own chat format",
        ),
    ]:
        with pytest.raises(UsageError, match=message):
            planning.plan(asked, design)
    base = panel()
    first, *more = base.statements
    leak = replace(
        first, wordings=(replace(first.wordings[0], text="Good is the market, said in way 1."),)
    )
    asked.instruments.add(replace(base, name="leaky", statements=(leak, *more)))
    leaky = replace(QUESTIONNAIRE, instrument="leaky")
    with pytest.raises(
        UsageError, match=r"market has the text of the context question c0, .* --question c0 "
    ):
        planning.plan(asked, leaky)
    for design in (
        replace(leaky, contexts=Contexts(("zero-shot",))),
        replace(leaky, statements=("state",)),
    ):
        assert planning.plan(asked, design).probes, "nothing is given away"
    asked.instruments.add(replace(panel(), name="plain", questionnaire=None))
    with pytest.raises(UsageError, match="plain is not a questionnaire"):
        planning.plan(asked, replace(QUESTIONNAIRE, instrument="plain"))


def test_a_plan_names_targets_that_nobody_answered_and_asks_the_others(asked: Store) -> None:
    base = panel()
    assert base.questionnaire is not None
    silent = tuple(
        replace(r, answers={**r.answers, "market": "neither"})
        for r in base.questionnaire.respondents
    )
    neutral = replace(
        base, name="silent", questionnaire=replace(base.questionnaire, respondents=silent)
    )
    asked.instruments.add(neutral)
    plan = planning.plan(asked, replace(QUESTIONNAIRE, instrument="silent"))
    assert {probe.statement for probe in plan.probes} == {"state"}
    assert "not asked: market, because no respondent answered yes or no" in plan.describe()
    assert "10 respondents, 1 condition" in plan.describe()
    assert "predicted from nothing" not in plan.describe()
    first, *more = silent
    unasked = (replace(first, answers={"state": "agree"}), *more)
    mute = replace(
        base.questionnaire,
        respondents=(replace(first, answers={**first.answers, "state": ""}), *more),
    )
    asked.instruments.add(replace(base, name="mute", questionnaire=mute))
    about = planning.plan(asked, replace(QUESTIONNAIRE, instrument="mute")).describe()
    assert "9 respondents, 1 condition" in about
    assert f"not predicted: {first.name}, no answer of yes or no to any target" in about
    bare = replace(
        base, name="bare", questionnaire=replace(base.questionnaire, respondents=unasked)
    )
    asked.instruments.add(bare)
    said = (
        "1 of 10 respondents answered no context question with yes or no: their answers are "
        "predicted without context"
    )
    for conditions, there in ((("qm",), True), (("zero-shot",), False)):
        design = replace(QUESTIONNAIRE, instrument="bare", contexts=Contexts(conditions))
        assert (said in planning.plan(asked, design).describe()) is there
    with pytest.raises(
        UsageError, match="no prompts: not asked: market, because no respondent answered yes or no"
    ):
        planning.plan(asked, replace(QUESTIONNAIRE, instrument="silent", statements=("market",)))


def test_where_nobody_who_is_drawn_answered_the_target_the_plan_says_so(asked: Store) -> None:
    base = panel()
    assert base.questionnaire is not None
    last = base.questionnaire.respondents[-1].name
    some = replace(
        base.questionnaire,
        respondents=tuple(
            replace(r, answers={**r.answers, "market": "agree" if r.name == last else ""})
            for r in base.questionnaire.respondents
        ),
    )
    asked.instruments.add(replace(base, name="few", questionnaire=some))
    found = []
    for seed in range(1, 12):
        design = replace(QUESTIONNAIRE, instrument="few", statements=("market",), seed=seed)
        drawn = people(Survey(some, Contexts(respondents=1), seed))[0].name
        if drawn != last:
            with pytest.raises(
                UsageError, match="none of these respondents answered these targets with yes or no"
            ):
                planning.plan(asked, replace(design, contexts=Contexts(respondents=1)))
            found.append(drawn)
    assert found
    assert (
        len(
            planning.plan(
                asked, replace(QUESTIONNAIRE, instrument="few", statements=("market",))
            ).probes
        )
        == 1
    )


def test_stand_ins_that_only_say_yes_or_no_are_asked_the_same_way(asked: Store) -> None:
    from workbench.inference.scripted.model import ScriptedPersona

    for word in ("yes", "no"):
        ask(asked, ScriptedModel(ScriptedPersona(answers=(word,)), f"constant-{word}"))
        run = find_run(asked, "questionnaire", f"constant-{word}")
        assert {t.tokens for t in asked.scores.tables_of_run(run).values()} == {((word, 0.0),)}
        assert all(
            t.words == {"yes": float(word == "yes"), "no": float(word == "no")}
            for t in asked.scores.tables_of_run(run).values()
        )


def test_a_plan_says_that_the_instruction_is_in_another_language(asked: Store) -> None:
    base = panel()
    german = tuple(
        replace(s, wordings=tuple(replace(w, language="de") for w in s.wordings))
        for s in base.statements
    )
    asked.instruments.add(replace(base, name="tafel", statements=german, language="de"))
    in_german = replace(QUESTIONNAIRE, instrument="tafel")
    assert all(
        "ja" in p.messages[0].content for p in planning.plan(asked, in_german).prompts.values()
    )
    plan = planning.plan(asked, replace(in_german, template_language="en"))
    assert "the statements are in 'de' and the templates in 'en'" in plan.describe()
    assert "templates in" not in planning.plan(asked, QUESTIONNAIRE).describe()


def test_figures_of_a_run_that_was_stopped_say_so(asked: Store) -> None:
    class Tiring(Known):
        def next_tokens(
            self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
        ) -> Iterator[NextTokens]:
            yield from list(super().next_tokens(prompts, k, words))[:3]

    ask(asked, Tiring())
    asked.connection.execute("update job set state = 'cancelled'")
    notes = judge_questionnaire(asked).notes
    assert "known: job 1 was cancelled at 3 of 4 prompts; figures will change." in notes


def test_a_condition_is_finished_before_the_next_begins_so_that_a_stopped_run_has_whole_figures(
    asked: Store,
) -> None:
    class Calls(Known):
        calls: list[set[int]]

        def next_tokens(
            self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
        ) -> Iterator[NextTokens]:
            self.calls = [*getattr(self, "calls", []), {prompt.context for prompt in prompts}]
            return super().next_tokens(prompts, k, words)

    model = Calls()
    ask(asked, model, conditions=("qm", "zero-shot", "reduced-50-kept"))
    assert model.calls == [{12}, {0}, {6}]


def test_zero_shot_is_compared_with_the_people_who_were_drawn(asked: Store) -> None:
    ask(asked, Known(), conditions=("qm", "zero-shot"), respondents=4)
    report = judge_questionnaire(asked).reports["known"]
    counts = [
        [target.respondents for target in report.condition(of).targets] for of in report.conditions
    ]
    assert counts[0] == counts[1]
    assert counts[0][0] == 4, "of ten"


@pytest.mark.parametrize("name", ["veldania_panel", "wide"])
def test_an_ideal_predictor_of_other_people_is_refused_before_a_job_is_queued(
    asked: Store, name: str
) -> None:
    with pytest.raises(
        UsageError, match="It predicts only the questionnaire that it is named after"
    ):
        planning.plan(asked, replace(QUESTIONNAIRE, model=f"scripted:ideal@{name}"))
