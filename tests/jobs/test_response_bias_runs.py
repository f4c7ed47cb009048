"""Multiple-choice questions from plan to figures: drawn until valid, bounded, exact; what was
answered to what.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.jobs.test_jobs import ended, wait
from tests.jobs.test_snapshots import done
from workbench.audits.response_bias.judged import (
    compared,
    instruments_with_answers,
    judge_response_bias,
    sampling_agreements,
)
from workbench.audits.response_bias.options import DEFAULTS, ChangeOptions, Definition
from workbench.audits.response_bias.questions import draws_of, question, questions
from workbench.data import shipped_templates
from workbench.domain import job_kinds
from workbench.domain.choices import (
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Choice,
    ChoicePair,
    Perturbation,
)
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.prompts import Prompt
from workbench.domain.responses import EXACTLY, Drawn, Request, Sampling
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.evidence.runs import AnswerSelection
from workbench.inference.base import Model, NextTokens
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning, scoring
from workbench.pipeline.asking import AskingProgress
from workbench.tidy.columns import RowSelection as RowsChoice
from workbench.tidy.probabilities import PROBABILITIES
from workbench.tui.format import percent
from workbench.tui.jobs.job_lines import job_details

SCALE = ("Much better", "A little better", "The same", "A little worse", "Much worse")
ORDER, ODD = (Bias.RESPONSE_ORDER, None, ""), (Bias.ODD_EVEN, None, "")
DESIGN = Design("choices", "first", "response_bias", 20, DEFAULTS.sampling, family="lettered")
EXACT = replace(DESIGN, samples=1, sampling=EXACTLY)


def pairs() -> list[ChoicePair]:
    found = []
    for n in range(3):
        scale = Choice(f"How are things in district {n}?", SCALE)
        three = Choice(f"Which do you prefer in district {n}?", ("Trams", "Buses", "Bicycles"))
        typo = {
            (Perturbation.KEY_TYPO, draw): replace(scale, stem=f"How arr{'e' * draw} things {n}?")
            for draw in (1, 2)
        }
        short = Choice(scale.stem, SCALE[:2] + SCALE[3:])
        found += [
            ChoicePair(
                f"q{n}",
                Bias.ODD_EVEN,
                scale,
                short,
                "life",
                typo,
                middle_removed=True,
                shares=(0.2,) * 5,
            ),
            ChoicePair(
                f"q{n}",
                Bias.RESPONSE_ORDER,
                three,
                Choice(three.stem, three.options[::-1]),
                "transport",
            ),
        ]
    forbid = (
        Choice("Should it be allowed?", ("Yes", "No")),
        Choice("Should it be forbidden?", ("Yes", "No")),
    )
    return [*found, ChoicePair("q9", Bias.ALLOW_FORBID, *forbid)]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        yield store


def first_option(invalid: float = 0.0, others: tuple[str, ...] = ("As", "\n")) -> Model:
    habits = LetterHabits(weights=(3.0, 1.0), by_text=0.0, invalid=invalid, others=others)
    return ScriptedModel(ScriptedPersona(letters=habits), name="first")


class Failing(ScriptedModel):
    """Cannot be asked what should be forbidden."""

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for drawn in super().generate(requests, sampling):
            if "forbidden" in requests[drawn.request].prompt.messages[-1].content:
                yield Drawn(drawn.request, (), requests[drawn.request].n, "the server is gone")
            else:
                yield drawn


class NamingFew(ScriptedModel):
    """Names two tokens and spells no words, as endpoints do that give the likeliest tokens
    alone.
    """

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        del k, words
        yield from super().next_tokens(prompts, 2)


def ask(
    store: Store, model: Model, design: Design = DESIGN, stop_after: int | None = None
) -> AskingProgress:
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create(job_kinds.SAMPLE, design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "0")
    calls = iter(range(10**9))
    stopping = (lambda: next(calls) >= stop_after) if stop_after is not None else (lambda: False)
    run = scoring.score_design if design.sampling.mode == "exact" else asking.collect
    progress = run(store, plan, model, attempt=attempt, should_stop=stopping)
    store.jobs.finish(job, attempt, "done")
    return progress


def test_answers_are_drawn_until_each_prompt_has_enough_valid_ones_and_the_others_are_kept(
    asked: Store,
) -> None:
    progress = ask(asked, first_option(invalid=0.5))
    assert progress.done == progress.total == 20 * 20
    assert progress.invalid > 200
    assert (progress.short, progress.failed) == (0, 0)
    subject = judge_response_bias(asked).subjects["first"]
    arms = [
        arm
        for one in subject.sets.values()
        for pair in one.pairs
        for arm in (pair.original, pair.changed)
    ]
    assert all(sum(arm.counts.values()) >= 20 for arm in arms)
    assert all(letter in "abcde"[: arm.offered] for arm in arms for letter in arm.counts)
    kept = asked.connection.execute("select sum(count) from response").fetchone()[0]
    assert kept == progress.answers
    again = planning.plan(asked, DESIGN, card=first_option(invalid=0.5).card)
    assert (again.samples_needed, again.requests()) == (0, [])
    assert "20 valid samples each" in again.describe()
    asked.instruments.add(replace(asked.instruments.get("choices"), name="copy"))
    copy = planning.plan(asked, replace(DESIGN, instrument="copy"))
    assert copy.samples_needed == 0
    launch.add_cells(asked, copy)
    assert instruments_with_answers(asked) == ("choices",), (
        "a copy has the same texts, and nobody was asked it"
    )
    with pytest.raises(
        UnknownName, match="no model has answered the multiple-choice questions of copy yet"
    ):
        judge_response_bias(asked, AnswerSelection("copy"))
    launch.note_stored(asked, copy)
    assert tuple(judge_response_bias(asked, AnswerSelection("copy")).subjects) == ("first",)


def test_a_letter_that_was_not_offered_is_drawn_again(asked: Store) -> None:
    progress = ask(asked, first_option(invalid=0.3, others=("Z", "f")))
    assert progress.done == progress.total
    assert progress.invalid > 50
    assert judge_response_bias(asked).validity["first"].mean == pytest.approx(0.7, abs=0.06)


def test_a_model_that_never_gives_a_letter_is_asked_so_often_and_no_more(asked: Store) -> None:
    design = replace(DESIGN, samples=5, tries=4)
    progress = ask(asked, first_option(invalid=1.0), design)
    assert (progress.done, progress.invalid, progress.short, progress.lacking) == (0, 400, 20, 100)
    left = planning.plan(asked, design, card=first_option(invalid=1.0).card)
    assert (left.samples_needed, left.requests()) == (0, [])
    assert "with fewer than 5 valid answers after all tries: 20 prompts" in left.describe()
    judged = judge_response_bias(asked)
    assert "20 forms with fewer than 5 valid answers" in judged.notes[0]
    for definition in Definition:
        report = judge_response_bias(asked, options=ChangeOptions(definition)).reports["first"]
        assert all(cell.delta.n == 0 for cell in report.cells), definition
    more = planning.plan(asked, replace(design, tries=6), card=first_option(invalid=1.0).card)
    assert sum(request.n for _, request in more.requests()) == 20 * 5 * 2


def test_a_run_that_was_stopped_goes_on_to_the_same_answers(asked: Store, tmp_path: Path) -> None:
    def answers(store: Store) -> list[tuple[bytes, str, int]]:
        rows = store.connection.execute(
            "select p.key, x.body, sum(r.count) from response r join draw d on d.id = r.draw_id "
            "join prompt p on p.id = d.prompt_id join text x on x.id = r.text_id group by 1, 2 "
            "order by 1, 2"
        )
        return list(map(tuple, rows))

    with new_store(tmp_path / "other.db") as other:
        other.instruments.add(with_pairs(Instrument("choices", "Choices", ()), pairs()))
        found = ask(other, first_option(invalid=0.6))
        assert found.over > 0, "a round is as long as will rarely be too long"
        assert (found.done, found.done + found.over + found.invalid) == (
            found.total - found.lacking,
            found.answers,
        )
        whole = answers(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.pipeline.asking.FLUSH_AFTER_S", 0.0)
        first = ask(asked, first_option(invalid=0.6), stop_after=7)
    assert 0 < first.done < first.total
    ask(asked, first_option(invalid=0.6))
    assert answers(asked) == whole


def test_a_prompt_that_fails_is_not_drawn_again_by_the_same_attempt(asked: Store) -> None:
    model = Failing(
        ScriptedPersona(letters=LetterHabits(invalid=0.5, others=("As",))), name="first"
    )
    progress = ask(asked, model)
    assert (progress.failed, progress.short, progress.total - progress.done) == (20, 0, 20)
    assert planning.plan(asked, DESIGN, card=model.card).prompts_needed == 1
    assert "1 prompt without an answer: the server is gone" in " ".join(
        judge_response_bias(asked).notes
    )


def test_exact_probabilities_are_what_samples_tend_to(asked: Store) -> None:
    ask(asked, first_option(invalid=0.25), EXACT)
    ask(asked, first_option(invalid=0.25), replace(DESIGN, samples=200))
    judged = judge_response_bias(asked)
    assert set(judged.subjects) == {"first · exact", "first · samples"}
    with pytest.raises(AmbiguousRun, match="asked in 2 ways"):
        judged.name("first")
    report = judged.reports["first · exact"]
    assert report.cell(*ORDER).delta.mean == pytest.approx(40.0), (
        "3 of 5 say the first of three, whatever it is"
    )
    assert judged.validity["first · exact"].mean == pytest.approx(0.75)
    found = sampling_agreements(judged, "first · exact", "first · samples")
    assert set(found) == {(c.bias, c.condition, c.variant) for c in report.cells if not c.copied}
    assert all(abs(one.z) < 4 for one in found.values() if one.z == one.z)
    assert sampling_agreements(judged, "first · exact", "first · exact") == {}
    assert len(compared(judged, "first · exact", "first · samples").rows) == 3


def test_rows_of_probabilities_give_the_change_of_forms(asked: Store) -> None:
    ask(asked, first_option(invalid=0.25), EXACT)
    pd = pytest.importorskip("pandas")
    names = [field.name for field in PROBABILITIES.fields]
    rows = pd.DataFrame(PROBABILITIES.read(asked, RowsChoice()), columns=names)
    rows = rows[rows.statement.str.startswith("response_order")]
    assert not rows.empty
    shares = rows.pivot(index=["statement", "variant"], columns="label", values="probability")
    shares = shares.div(shares.sum(axis=1), axis=0)
    before, after = (shares.xs(variant, level="variant") for variant in ("original", "changed"))
    change = judge_response_bias(asked).reports["first"].cell(*ORDER).delta.mean
    assert change == pytest.approx(100 * (before.a - after.c).mean())


def test_a_letter_that_a_backend_does_not_name_is_reported_with_the_most_it_can_have(
    asked: Store,
) -> None:
    ask(
        asked,
        NamingFew(ScriptedPersona(letters=LetterHabits((3.0, 1.0), 0.0, 0.0)), name="first"),
        EXACT,
    )
    said = next(
        note
        for note in judge_response_bias(asked).notes
        if "not among the likeliest tokens" in note
    )
    assert "in 18 forms" in said, "those of three options or more: two are named whole"
    assert said.endswith("counts as 0 and has at most 20 %"), "odds 3, 1 and 1"


def test_exact_probabilities_are_refused_for_answers_longer_than_a_token(asked: Store) -> None:
    with pytest.raises(UsageError, match="longer than a token"):
        planning.plan(asked, replace(EXACT, family="extended"))


def test_a_prompt_that_steers_is_put_to_the_questions_of_its_bias_alone(asked: Store) -> None:
    plan = planning.plan(asked, replace(DESIGN, family="steering"))
    by_template: dict[str, set[str]] = {}
    for probe in plan.probes:
        by_template.setdefault(probe.template, set()).add(probe.statement.partition(".")[0])
    assert by_template == {
        "steer-allow-forbid-1": {"allow_forbid"},
        "steer-allow-forbid-2": {"allow_forbid"},
        "steer-response-order-2": {"response_order"},
    }
    ask(asked, first_option())
    ask(asked, first_option(), replace(DESIGN, family="steering", samples=5))
    judged = judge_response_bias(asked)
    assert not judged.notes, "a job that asks more under other templates leaves these complete"
    assert {subject.wanted for subject in judged.subjects.values()} == {5, 20}


def test_an_instrument_without_multiple_choice_questions_is_refused(asked: Store) -> None:
    asked.instruments.add(instrument())
    with pytest.raises(UsageError, match="small has no multiple-choice questions"):
        planning.plan(asked, replace(DESIGN, instrument="small"))


def test_a_question_shows_the_same_option_of_both_forms_by_the_letter_it_was_offered_under(
    asked: Store,
) -> None:
    ask(asked, first_option())
    judged = judge_response_bias(asked)
    order = question(asked, judged, "first", ORDER, "q1")
    assert [(o.letter, o.original, o.text) for o in order.changed.options] == [
        ("a", "c", "Bicycles"),
        ("b", "b", "Buses"),
        ("c", "a", "Trams"),
    ]
    assert order.changed.options[0].count > order.changed.options[1].count
    odd = question(asked, judged, "first", ODD, "q1")
    assert [(o.letter, o.original) for o in odd.changed.options] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "d"),
        ("d", "e"),
    ]
    assert odd.shares == (0.2,) * 5
    assert sum(o.share for o in odd.original.options) == pytest.approx(1.0)
    assert (
        asked.runs.prompt(odd.changed.probe or 0).messages[0].content.count("A little worse") == 1
    )
    typo = question(
        asked, judged, "first", (Bias.ODD_EVEN, Perturbation.KEY_TYPO, ""), "q1", draw=2
    )
    assert (typo.draw, typo.draws, typo.row.over_draws) == (2, (1, 2), 2)
    assert typo.changed.choice is not None
    assert typo.changed.choice.stem == "How arree things 1?"
    rows = questions(judged, "first", ODD)
    assert [abs(row.delta) for row in rows] == sorted(
        (abs(row.delta) for row in rows), reverse=True
    )


def test_imported_answers_stand_beside_ours_and_their_letters_that_were_not_offered_are_shown(
    asked: Store,
) -> None:
    arm = ArmAnswers({"a": 30, "c": 20}, 5, 5)
    strange = ArmAnswers({"a": 10, "d": 30, "e": 8, "": 2}, 5, 4)
    sets = (
        AnswerSet(
            "first",
            Bias.ODD_EVEN,
            None,
            (AnsweredPair("q0", arm, strange), AnsweredPair("q1", arm, arm)),
        ),
    )
    asked.instruments.add(with_pairs(Instrument("choices", "Choices", ()), pairs(), sets))
    ask(asked, first_option(), EXACT)
    assert instruments_with_answers(asked) == ("choices",)
    judged = judge_response_bias(asked)
    assert set(judged.subjects) == {"first · imported", "first · exact"}
    shown = question(asked, judged, "first · imported", ODD, "q0")
    assert shown.changed.others == (("e", 8),)
    assert (shown.changed.invalid, shown.changed.valid, shown.changed.drawn) == (2, 40.0, 50.0)
    assert shown.changed.options[3].count == 30
    assert np.isnan(question(asked, judged, "first · exact", ODD, "q0").changed.options[0].count)


def test_each_wording_of_a_bias_shows_its_own_answers_and_texts_also_under_another_ref(
    asked: Store,
) -> None:
    stated, plain = Choice("Do you agree?", ("Yes", "No")), Choice("Which is it?", ("This", "That"))
    forms = {"": replace(stated, stem="Don't you agree?"), "reword": stated}
    two = [
        ChoicePair("k", Bias.ACQUIESCENCE, plain, changed, variant=variant)
        for variant, changed in forms.items()
    ]
    said = {"": ArmAnswers({"a": 5}, 2, 2), "reword": ArmAnswers({"b": 5}, 2, 2)}
    sets = [
        AnswerSet(
            "first", Bias.ACQUIESCENCE, None, (AnsweredPair("k", said[""], arm),), variant=variant
        )
        for variant, arm in said.items()
    ]
    asked.instruments.add(with_pairs(Instrument("worded", "Worded", ()), two, tuple(sets)))
    asked.statements.rename("worded", "acquiescence-reword.k", "agree", person="ana")
    judged = judge_response_bias(asked, AnswerSelection("worded"))
    for variant, letter in {"": "a", "reword": "b"}.items():
        shown = question(asked, judged, "first", (Bias.ACQUIESCENCE, None, variant), "k")
        assert shown.changed.choice == forms[variant]
        assert [option.letter for option in shown.changed.options if option.count] == [letter]
        assert (shown.draws, shown.row.over_draws) == ((1,), 1)


@pytest.mark.e2e
def test_a_worker_process_asks_and_a_changed_question_is_asked_anew(asked: Store) -> None:
    design = replace(DESIGN, model="scripted", samples=6)
    job = wait(asked, launch.start(asked, design), ended)
    assert (job.state, job.done, job.total) == ("done", 120, 120), job.message
    changed = [replace(pairs()[0], original=Choice("How is life there?", SCALE)), *pairs()[1:]]
    asked.instruments.add(with_pairs(Instrument("choices", "Choices", ()), changed))
    assert planning.plan(asked, design).prompts_needed == 1
    assert "1 question changed since" in " ".join(judge_response_bias(asked).notes)


def test_a_question_with_other_options_counts_once_it_is_asked_and_the_first_one_again_once_that_is_back(
    asked: Store,
) -> None:
    def asked_text(original: Choice, changed: Choice | None) -> str:
        first = ChoicePair("q9", Bias.ALLOW_FORBID, original, changed)
        asked.instruments.add(
            with_pairs(Instrument("choices", "Choices", ()), [*pairs()[:-1], first])
        )
        ask(asked, first_option())
        judged = judge_response_bias(asked)
        assert not judged.notes
        shown = question(asked, judged, "first", (Bias.ALLOW_FORBID, None, ""), "q9")
        return asked.runs.prompt(shown.original.probe or 0).messages[0].content

    before = pairs()[-1]
    assert "C. Perhaps" not in asked_text(before.original, before.changed)
    assert "C. Perhaps" in asked_text(
        Choice("Should it be allowed?", ("Yes", "No", "Perhaps")), before.changed
    )
    assert "C. Perhaps" not in asked_text(before.original, before.changed)


def test_what_cannot_be_compared_or_read_is_left_out_and_said(asked: Store) -> None:
    alone = ChoicePair("alone", Bias.ODD_EVEN, Choice("Better?", SCALE), None)
    asked.instruments.add(with_pairs(Instrument("choices", "Choices", ()), [*pairs(), alone]))
    with asked.write() as connection:
        connection.execute(
            "update text set body = 'No options here.' where id = (select w.text_id from wording "
            "w join statement s "
            "on s.id = w.statement_id where s.ref = 'allow_forbid.q9' and w.kind = 'changed')"
        )
    said = planning.plan(asked, DESIGN).describe()
    assert "allow_forbid.q9 changed is a question without lettered options" in said
    assert (
        "1 question not asked, for lack of a form to compare with the original: odd_even.alone"
        in said
    )
    assert "allow_forbid.q9" not in {
        probe.statement for probe in planning.plan(asked, DESIGN).probes
    }


def test_forms_that_a_stopped_job_has_not_finished_are_not_called_short_of_valid_answers(
    asked: Store,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.pipeline.asking.FLUSH_AFTER_S", 0.0)
        ask(asked, first_option(invalid=0.6), stop_after=9)
    subject = judge_response_bias(asked).subjects["first"]
    assert subject.unfinished
    assert not subject.short


def test_draws_of_an_error_are_no_further_questions_and_answers_to_the_original_no_further_answers(
    asked: Store,
) -> None:
    ask(asked, first_option(invalid=0.5))
    judged = judge_response_bias(asked)
    cell = judged.reports["first"].cell(Bias.ODD_EVEN, Perturbation.KEY_TYPO)
    assert (cell.spread.change.n, cell.delta.n) == (3, 3)
    sets = [
        one for at, one in judged.subjects["first"].sets.items() if at[1] is Perturbation.KEY_TYPO
    ]
    again = [[pair.original.invalid for pair in one.pairs] for one in sets]
    assert again[0] == again[1]
    assert cell.dropped.invalid == sum(again[0]) + sum(
        pair.changed.invalid for one in sets for pair in one.pairs
    )


def test_a_draw_that_was_put_to_some_questions_leaves_the_others_with_the_draws_that_they_have(
    asked: Store,
) -> None:
    second = ("original", "key_typo-2")
    ask(asked, first_option(), replace(DESIGN, variants=("original", "key_typo-1")))
    ask(asked, first_option(), replace(DESIGN, variants=second, statements=("odd_even.q1",)))
    judged = judge_response_bias(asked)
    typo = (Bias.ODD_EVEN, Perturbation.KEY_TYPO, "")
    cell = judged.reports["first"].cell(*typo)
    assert (cell.delta.n, cell.fewer_draws, cell.deltas.left_out) == (3, 2, ())
    assert {row.key: row.over_draws for row in questions(judged, "first", typo)} == {
        "q0": 1,
        "q1": 2,
        "q2": 1,
    }
    assert (draws_of(judged, "first", typo, "q0"), draws_of(judged, "first", typo, "q1")) == (
        (1,),
        (1, 2),
    )
    with pytest.raises(UnknownName, match=r"'q0' has no draw 2\. Available: 1"):
        question(asked, judged, "first", typo, "q0", draw=2)


def test_a_letter_in_brackets_is_an_answer_by_samples_and_by_probabilities(asked: Store) -> None:
    habits = LetterHabits((3.0, 1.0), 0.0, 0.5, others=("(a",))
    whole, few = (
        ScriptedModel(ScriptedPersona(letters=habits), name="whole"),
        NamingFew(ScriptedPersona(letters=habits), name="few"),
    )
    ask(asked, whole, replace(DESIGN, model="whole", samples=5))
    ask(asked, whole, replace(EXACT, model="whole"))
    ask(asked, few, replace(EXACT, model="few"))
    valid = {name: found.mean for name, found in judge_response_bias(asked).validity.items()}
    assert valid["whole · samples"] == valid["whole · exact"] == 1
    assert 0.7 < valid["few"] < 1, "A and (a are what it names; (a alone has a half"


def test_letters_within_a_thought_are_no_answers_and_those_cut_off_there_are_in_no_denominator(
    asked: Store, tmp_path: Path
) -> None:
    persona = tmp_path / "thinks.toml"
    persona.write_text(
        'answers = ["<think> A, say most.</think>B", "<think> I would say A", "A", "It depends."]\n'
    )
    name = f"scripted:{persona}"
    job = done(asked, replace(DESIGN, model=name, samples=12, tries=20))
    assert job.state == "done"
    drawn = dict(
        asked.connection.execute(
            "select x.body, sum(r.count) from response r join text x on x.id = r.text_id group by 1"
        )
    )
    after, cut = (
        next(text for text in drawn if words in text) for words in ("say most", "I would say")
    )
    judged = judge_response_bias(asked)
    both = [pair for one in judged.subjects[name].sets.values() for pair in one.pairs]
    arms = {id(arm): arm for pair in both for arm in (pair.original, pair.changed)}
    said = [
        (arm.counts.get("a", 0), arm.counts.get("b", 0), arm.invalid, arm.truncated)
        for arm in arms.values()
    ]
    found = [sum(counted) for counted in zip(*said, strict=True)]
    assert found == [drawn["A"], drawn[after], drawn["It depends."], drawn[cut]]
    assert all(sum(arm.counts.values()) >= 12 for arm in arms.values())
    valid, strange = drawn["A"] + drawn[after], drawn["It depends."]
    assert judged.validity[name].mean == pytest.approx(valid / (valid + strange), abs=0.02)
    shown = question(asked, judged, name, ORDER, "q1").original
    assert shown.valid + shown.invalid + shown.truncated == shown.drawn
    assert sum(option.share for option in shown.options) == pytest.approx(1.0)
    assert (
        f"{strange:,} had no offered letter and {drawn[cut]:,} were cut off in thought"
        in job.message
    )
    assert (
        f"drawn again {strange + drawn[cut]:,} ({percent(strange, sum(drawn.values()), 1)} were"
        in job_details(job).plain
    )
