"""What rulings do to figures: exactly their unit changes, undoing restores it, disputes do
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from stores.runs.run_rows import Run
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import EXACT, ask, first_option, pairs
from tests.questionnaire_stores import ideal, panel, predict
from tests.tui.audit_runs import audited
from tests.tui.bias_stores import full
from workbench.audits.bias_score.judged import BiasJudged, judge_bias, methods, responses
from workbench.audits.bias_score.judged import answered_by as bias_answered
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.questionnaire.book import book as questionnaire_book
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.result import results_of
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.judged import judge_reliability
from workbench.audits.reliability.verdicts import RunVerdicts, run_verdicts
from workbench.audits.response_bias.book import book as response_bias_book
from workbench.audits.response_bias.judged import ResponseBiasJudged, judge_response_bias
from workbench.audits.response_bias.questions import Changes
from workbench.data import shipped_templates
from workbench.domain.annotations import Purpose
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.keys import text_key
from workbench.domain.readings import USUAL, ReadingChoice
from workbench.domain.rulings import Ruled, RulingVerdict, Subject
from workbench.errors import UsageError
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.refusals import joined_refusals, refusals_of
from workbench.evidence.ruling_subjects import RulingSubject
from workbench.evidence.rulings import joined, ruled_examples
from workbench.evidence.runs import AnswerSelection

WITHOUT = ReadingChoice(rulings=False)


@pytest.fixture(scope="module")
def sampled() -> Iterator[Store]:
    """A store with sampled answers of the reliability audit; each test takes back what it ruled."""
    with TemporaryDirectory() as folder, Store.open(audited(Path(folder) / "audited.db")) as store:
        yield store


@pytest.fixture(scope="module")
def free() -> Iterator[Store]:
    """A store with free answers, read by a classifier."""
    with TemporaryDirectory() as folder, Store.open(full(Path(folder) / "free.db")) as store:
        yield store


def judged(store: Store, readings: ReadingChoice = USUAL) -> RunVerdicts:
    return run_verdicts(store, find_run(store, "reliability"), readings=readings)


def arrays(counts: Counts) -> dict[str, object]:
    out = np.zeros_like(counts.positive) if counts.left_out is None else counts.left_out
    return {
        "agree": counts.positive,
        "disagree": counts.negative,
        "unreadable": counts.unreadable,
        "out": out,
    }


def same(one: Counts, two: Counts) -> bool:
    return all(
        np.array_equal(a, b)
        for a, b in zip(arrays(one).values(), arrays(two).values(), strict=True)
    )  # type: ignore[arg-type]


def rule(
    store: Store,
    thing: RulingSubject,
    verdict: RulingVerdict,
    reading: str | None = None,
    auditor: str = "otto",
) -> None:
    subjects.add_ruling(store, thing, verdict, auditor=auditor, reason="looked", reading=reading)


def undo_all(store: Store) -> None:
    while standing := [one for of in store.rulings.standing().values() for one in of]:
        for ruling in standing:
            store.rulings.undo(ruling, auditor=ruling.auditor)


ANSWERS = (
    "env-03/negation/personal-1",
    "mig-01/paraphrase-2/personal-2",
    "tax-02/negation/personal-1/swapped",
)


@pytest.mark.e2e
@given(
    st.sampled_from(ANSWERS),
    st.integers(0, 1),
    st.sampled_from(["agree", "disagree", "unreadable"]),
)
def test_a_misread_answer_moves_between_readings_of_its_prompt_alone(
    sampled: Store, prompt: str, place: int, reading: str
) -> None:
    before = judged(sampled).report.counts
    thing = subjects.subjects_below(sampled, subjects.find_subject(sampled, prompt))[place]
    if reading not in thing.right_readings:
        with pytest.raises(
            UsageError,
            match=f"already reads it as {reading}; to say that it is right, rule: confirmed",
        ):
            rule(sampled, thing, RulingVerdict.MISREAD, reading)
        return
    rule(sampled, thing, RulingVerdict.MISREAD, reading)
    after, without = judged(sampled).report.counts, judged(sampled, WITHOUT).report.counts
    assert same(before, without)
    moved = [
        name
        for name in arrays(after)
        if not np.array_equal(arrays(after)[name], arrays(before)[name])
    ]  # type: ignore[arg-type]
    assert len(moved) == 2, "from one reading to another"
    assert np.array_equal(after.total, before.total)
    changed = {
        tuple(at)
        for name in moved
        for at in np.argwhere(arrays(after)[name] != arrays(before)[name])
    }
    assert len(changed) <= 1
    undo_all(sampled)
    assert same(judged(sampled).report.counts, before)


@pytest.mark.parametrize(
    ("name", "verdict", "prompts"),
    [
        ("tax-02", RulingVerdict.EXCLUDED, 24),
        ("tax-02/negation", RulingVerdict.WORDING_AT_FAULT, 4),
        ("tax-02/negation/personal-1/swapped", RulingVerdict.TEMPLATE_AT_FAULT, 1),
    ],
)
def test_what_is_left_out_stays_planned_and_is_readable_no_more(
    sampled: Store, name: str, verdict: RulingVerdict, prompts: int
) -> None:
    before = judged(sampled)
    rule(sampled, subjects.find_subject(sampled, name), verdict)
    after = judged(sampled)
    counts, old = after.report.counts, before.report.counts
    out = counts.left_out
    assert out is not None
    assert int((out > 0).sum()) == prompts
    assert not counts.readable[out > 0].any()
    assert np.array_equal(counts.readable[out == 0], old.readable[out == 0])
    assert np.array_equal(counts.wanted, old.wanted)
    assert np.array_equal(counts.total, old.total)
    assert not after.report.has_stance_data[out > 0].any(), "too few answers: never a pass"
    differ = after.told.differ
    assert differ.n == sum(
        (after.report.verdicts(test) != before.report.verdicts(test)).sum()
        for test in (*after.report.options.tests, "template")
    )
    assert differ.names == ("tax-02",) * bool(differ.n)
    whole = [one.report.over_templates("all") for one in (before, after)]
    assert differ.verdicts == (whole[0] != whole[1]).sum()
    assert "1 ruling: " in next(after.told.sentences())
    at = tuple(int(n) for n in np.argwhere(out > 0)[0])
    assert "left out by a ruling" in after.report.lacking(at)
    undo_all(sampled)
    assert same(judged(sampled).report.counts, old)


@pytest.mark.parametrize(
    ("verdict", "reviewed"), [(RulingVerdict.CONFIRMED, 1), (RulingVerdict.LOOK_AGAIN, 0)]
)
def test_confirming_and_looking_again_change_nothing(
    sampled: Store, verdict: RulingVerdict, reviewed: int
) -> None:
    before = judged(sampled)
    for name in ("env-03", "env-03/negation", ANSWERS[0]):
        rule(sampled, subjects.find_subject(sampled, name), verdict)
    after = judged(sampled)
    assert same(after.report.counts, before.report.counts)
    assert (after.told.changing, after.told.differ.n) == ((), 0)
    assert list(after.told.sentences()) == [
        f"statements reviewed by auditors: 0 of 1 that pass, {reviewed} of 3 that do not pass"
    ]
    undo_all(sampled)


def test_two_auditors_who_contradict_each_other_change_nothing_until_one_gives_way(
    sampled: Store,
) -> None:
    before = judged(sampled).report.counts
    thing = subjects.subjects_below(sampled, subjects.find_subject(sampled, ANSWERS[0]))[0]
    rule(sampled, thing, RulingVerdict.MISREAD, "disagree", "otto")
    rule(sampled, thing, RulingVerdict.LOOK_AGAIN, auditor="ana")
    one = judged(sampled)
    assert not same(one.report.counts, before), "who asks to look again has not decided"
    rule(sampled, thing, RulingVerdict.CONFIRMED, auditor="eva")
    both = judged(sampled)
    assert same(both.report.counts, before)
    assert next(both.told.sentences()).startswith(
        "auditors contradict each other about 1 thing: 2 rulings on it"
    )
    rule(sampled, thing, RulingVerdict.MISREAD, "disagree", "eva")
    agreed = judged(sampled)
    assert same(agreed.report.counts, one.report.counts)
    assert len(agreed.told.changing) == 1
    undo_all(sampled)


def test_a_ruling_on_one_model_leaves_the_others(sampled: Store) -> None:
    before = judged(sampled).report.counts
    of = subjects.find_subject(sampled, ANSWERS[0]).subject
    other = Subject(Ruled.PROMPT, {**of.named, "model": "00" * 16})
    sampled.rulings.rule(other, RulingVerdict.EXCLUDED, auditor="otto", reason="odd")
    assert same(judged(sampled).report.counts, before)
    mine = sampled.runs.model_key(find_run(sampled, "reliability")).hex()
    mine_ = Subject(Ruled.PROMPT, {**of.named, "model": mine})
    sampled.rulings.rule(mine_, RulingVerdict.EXCLUDED, auditor="otto", reason="odd")
    assert not same(judged(sampled).report.counts, before)
    undo_all(sampled)


def test_a_reading_that_is_ruled_on_counts_where_its_reader_does(sampled: Store) -> None:
    found = judged(sampled)
    answer = subjects.subjects_below(sampled, subjects.find_subject(sampled, ANSWERS[0]))[0]
    rule(
        sampled,
        subjects.find_subject(sampled, f"{answer.name}@label-words"),
        RulingVerdict.MISREAD,
        "disagree",
    )
    assert not same(judged(sampled).report.counts, found.report.counts)
    coded = run_verdicts(
        sampled, find_run(sampled, "reliability"), readings=ReadingChoice("label-words-coded")
    )
    assert coded.told.changing == ()
    undo_all(sampled)


def test_consistency_rests_on_the_same_rulings(sampled: Store) -> None:
    rule(sampled, subjects.find_subject(sampled, "soc-07"), RulingVerdict.EXCLUDED)
    found, plain = (
        judge_consistency(sampled, AnswerSelection(readings=one)) for one in (USUAL, WITHOUT)
    )
    (with_, without) = (one.result.respondents[0].values for one in (found, plain))
    place = plain.runs[0].report.counts.statements.index("soc-07")
    assert "soc-07" not in found.result.respondents[0].statements
    assert np.array_equal(with_, np.delete(without, place, axis=1))
    assert found.rulings.differ.n == found.runs[0].rulings.differ.n > 0
    undo_all(sampled)


def of_free(store: Store, ref: str = "PCT-economic-left-1") -> RulingSubject:
    put = next(one for one in store.ruled_things.prompts(ref=ref) if one.template == "opinion")
    return subjects.prompt_subject(put)


def scored(store: Store, readings: ReadingChoice = USUAL, *, correct: bool = False) -> BiasJudged:
    return judge_bias(
        store, AnswerSelection(readings=readings), ScoreOptions(draws=50, correct=correct)
    )


@pytest.mark.e2e
@pytest.mark.parametrize("correct", [False, True])
@pytest.mark.parametrize("by", [None, "people"])
def test_a_free_answer_that_was_misread_has_the_label_of_the_auditor(
    free: Store, by: str | None, *, correct: bool
) -> None:
    if by and correct:
        pytest.skip("people's labels have no classifier error to correct")
    before = scored(free, ReadingChoice(by), correct=correct).report.tally
    thing = subjects.subjects_below(free, of_free(free))[0]
    given = sum(
        one.count
        for one in free.ruled_things.answers(bytes.fromhex(thing.subject.named["prompt"]))[:1]
    )
    rule(free, thing, RulingVerdict.MISREAD, "agree")
    found = scored(free, ReadingChoice(by), correct=correct)
    after = found.report.tally
    if correct:
        assert np.array_equal(after.read, before.read), "labels correct the same errors"
        undo_all(free)
        return
    assert after.read[..., 0].sum() - before.read[..., 0].sum() in range(1, given + 1)
    cells = np.argwhere((after.read != before.read).any(axis=-1))
    assert len({tuple(at[1:]) for at in cells.tolist()}) == 1, (
        "one wording under one prefix, whatever the model"
    )
    assert found.rulings.differ.n == len({at[0] for at in cells.tolist()})
    without = scored(free, ReadingChoice(by, rulings=False), correct=correct).report.tally
    assert np.array_equal(without.read, before.read)
    undo_all(free)
    assert np.array_equal(
        scored(free, ReadingChoice(by), correct=correct).report.tally.read, before.read
    )


@pytest.mark.parametrize("kind", ["statement", "wording", "prompt", "answer"])
def test_free_answers_that_are_left_out_are_counted_apart(free: Store, kind: str) -> None:
    before = scored(free).report.tally
    prompt = of_free(free)
    statement = subjects.find_subject(free, "PCT-economic-left-1")
    things = {
        "statement": statement,
        "wording": subjects.wording_subjects(free, statement)[0],
        "prompt": prompt,
        "answer": subjects.subjects_below(free, prompt)[0],
    }
    rule(free, things[kind], RulingVerdict.EXCLUDED)
    found = scored(free)
    after = found.report.tally
    assert after.ruled_out is not None
    assert after.ruled_out.sum() > 0
    every = (tally.read.sum(axis=-1) + tally.dropped + tally.unread for tally in (before, after))
    assert np.array_equal(next(every) - next(every), after.ruled_out)
    place = after.place("statement", "PCT-economic-left-1")
    assert not np.delete(after.ruled_out, place, axis=2).any()
    assert "1 ruling: " in next(found.rulings.sentences())
    assert "auditors' rulings leave out" in methods(found.report)
    rows = responses(free, found, after.models[0], "PCT-economic-left-1")
    assert {row.ruled for row in rows} >= {"left out"}
    undo_all(free)
    assert np.array_equal(scored(free).report.tally.read, before.read)


def test_a_prompt_of_a_questionnaire_is_left_out_of_accuracy_and_bias(store: Store) -> None:
    store.instruments.add(panel())
    predict(store, ideal(store), conditions=("qm", "zero-shot"))
    options = PredictionOptions(draws=100)
    before = judge_questionnaire(store, options=options)
    (gathered,) = before.gathered.values()
    (put, *_) = store.ruled_things.prompts(probe=int(gathered.probe[0]))
    rule(store, subjects.prompt_subject(put), RulingVerdict.EXCLUDED)
    found = judge_questionnaire(store, options=options)
    (after,) = found.gathered.values()
    assert set(gathered.probe.tolist()) - set(after.probe.tolist()) == {int(gathered.probe[0])}
    assert (after.ruled_out, after.left_out) == (1, gathered.left_out)
    assert found.notes[0] == f"1 ruling: 1 prompt left out; 1 target ({put.ref}) differs without it"
    book = questionnaire_book(results_of(found))
    assert book.told[1] == found.notes[0], "below the header, above all else"
    assert found.notes[0] not in book.notes
    plain = judge_questionnaire(store, AnswerSelection(readings=WITHOUT), options)
    assert len(next(iter(plain.gathered.values())).probe) == len(gathered.probe)
    assert plain.notes[0] == "without 1 ruling: 1 prompt left out with it"
    rule(store, subjects.find_subject(store, put.ref), RulingVerdict.EXCLUDED)
    (report,) = judge_questionnaire(store, options=options).reports.values()
    (figure,) = (
        one for one in report.condition(report.conditions[0]).targets if one.target == put.ref
    )
    assert (figure.bias.undefined, figure.accuracy.undefined) == (
        "left out by a ruling",
        "left out by a ruling",
    )
    with pytest.raises(UsageError, match="read by only one rule; found the reader 'people'"):
        judge_questionnaire(store, AnswerSelection(readings=ReadingChoice("people")), options)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
        yield store


def arms(
    found: ResponseBiasJudged,
) -> dict[tuple[object, ...], tuple[dict[str, int], dict[str, int]]]:
    (subject,) = found.subjects.values()
    return {
        (*map(str, at), pair.key): (dict(pair.original.counts), dict(pair.changed.counts))
        for at, one in subject.sets.items()
        for pair in one.pairs
    }


def answers_shown(store: Store, found: ResponseBiasJudged) -> set[tuple[str, str]]:
    """What became of the answers to each form of every question, and the letters that count."""
    made = Changes(found, lambda: nullcontext(store))
    shown = [
        made.question(name, place, row.key)
        for name in made.reports
        for place in made.places
        for row in made.questions(name, place)
    ]
    return {
        (one.ruled, one.letter) for of in shown for form in made.forms(of) for one in form.answers
    }


def test_a_misread_letter_is_another_letter_and_a_prompt_at_fault_has_none(asked: Store) -> None:
    ask(asked, first_option())
    before = judge_response_bias(asked)
    run: Run = find_run(asked, "response_bias")
    probe = next(
        one for one in asked.raw_answers.probes(run) if one.kind == "original" and one.axes
    )
    (put, *_) = asked.ruled_things.prompts(probe=probe.probe)
    of = subjects.prompt_subject(put)
    first = subjects.subjects_below(asked, of)[0]
    assert first.labels[-1] == "unreadable"
    read_as = next(label for label in first.labels[:-1] if label not in first.words.lower())
    rule(asked, first, RulingVerdict.MISREAD, read_as)
    found = judge_response_bias(asked)
    changed = [at for at, pair in arms(found).items() if pair != arms(before)[at]]
    assert changed
    assert {at[-1] for at in changed} == {asked.choices.items("choices")[probe.ref].key}
    assert found.notes[0].startswith("1 ruling: 1 answer read anew; 1 question (")
    book = response_bias_book(Changes(found, lambda: nullcontext(asked)))
    assert book.told[1] == found.notes[0], "below the header, above all else"
    assert found.notes[0] not in book.notes
    assert ("read anew", read_as) in answers_shown(asked, found)
    without = judge_response_bias(asked, AnswerSelection(readings=WITHOUT))
    assert {ruled for ruled, _ in answers_shown(asked, without)} == {""}
    undo_all(asked)
    assert arms(judge_response_bias(asked)) == arms(before)
    rule(asked, of, RulingVerdict.TEMPLATE_AT_FAULT)
    gone = set(arms(before)) - set(arms(judge_response_bias(asked)))
    assert {at[-1] for at in gone} == {asked.choices.items("choices")[probe.ref].key}
    assert arms(judge_response_bias(asked, AnswerSelection(readings=WITHOUT))) == arms(before)


def test_exact_letters_leave_out_prompts_too(asked: Store) -> None:
    ask(asked, first_option(), EXACT)
    before = judge_response_bias(asked)
    probe = next(
        one for one in asked.raw_answers.probes(find_run(asked, "response_bias")) if one.axes
    )
    (put, *_) = asked.ruled_things.prompts(probe=probe.probe)
    rule(asked, subjects.prompt_subject(put), RulingVerdict.EXCLUDED)
    (one,), (two,) = (found.subjects.values() for found in (before, judge_response_bias(asked)))
    assert set(one.masses) - set(two.masses) == {probe.probe}


def test_names_of_things_lead_to_them_and_wrong_ones_say_what_there_is(sampled: Store) -> None:
    statement = subjects.find_subject(sampled, "env-03")
    seen, read = [], []
    for wording in subjects.subjects_below(sampled, statement):
        assert subjects.find_subject(sampled, wording.name) == wording
        for prompt in subjects.subjects_below(sampled, wording):
            assert subjects.find_subject(sampled, prompt.name).subject == prompt.subject
            assert (
                subjects.find_subject(sampled, f"@{prompt.subject.named['prompt']}").subject
                == prompt.subject
            )
            for answer in subjects.subjects_below(sampled, prompt):
                assert subjects.find_subject(sampled, answer.name) == answer
                assert text_key(answer.words).hex() == answer.subject.named["text"]
                assert subjects.typed_name(sampled, answer.subject) == answer.name
                seen.append(answer.name)
                for reading in subjects.subjects_below(sampled, answer):
                    assert subjects.find_subject(sampled, reading.name) == reading
                    assert subjects.typed_name(sampled, reading.subject) == reading.name
                    assert reading.name.startswith(f"{answer.name}@label-words")
                    read.append(reading.words)
    assert len(set(seen)) == len(seen) > 24
    assert {"rule label-words reads: agree", "rule label-words reads: disagree"} <= set(read)
    for wrong, said in (
        ("env-04", "no statement 'env-04'"),
        ("env-03/negotiation", "Available: env-03/original"),
        ("env-03/negation/personal-9", "Available: env-03/negation/personal-1"),
        ("env-03/=12345678", "give an answer as PROMPT/=DIGITS"),
        ("@ffff0000", "no prompt or answer is named"),
    ):
        with pytest.raises(Exception, match=said):
            subjects.find_subject(sampled, wrong)


@pytest.mark.parametrize(
    ("name", "verdict", "reading", "said"),
    [
        (
            "env-03",
            RulingVerdict.MISREAD,
            "agree",
            "misread applies to answer or reading; env-03 is a statement",
        ),
        ("env-03", RulingVerdict.WORDING_AT_FAULT, None, "wording at fault applies to wording"),
        ("env-03", RulingVerdict.EXCLUDED, "agree", "only misread takes a right reading"),
        (
            None,
            RulingVerdict.MISREAD,
            None,
            "found no right reading of .*; give one of agree, disagree, unreadable",
        ),
        (None, RulingVerdict.MISREAD, "neutral", "found the reading 'neutral'"),
    ],
)
def test_a_ruling_that_makes_no_sense_is_refused(
    sampled: Store, name: str | None, verdict: RulingVerdict, reading: str | None, said: str
) -> None:
    name = (
        name or subjects.subjects_below(sampled, subjects.find_subject(sampled, ANSWERS[0]))[0].name
    )
    with pytest.raises(UsageError, match=said):
        rule(sampled, subjects.find_subject(sampled, name), verdict, reading)
    assert sampled.rulings.standing() == {}


def test_a_misread_answer_trains_unless_a_test_set_has_its_text(free: Store) -> None:
    tested = {text for text, _, _ in free.queues.members([Purpose.TEST], "stance")}
    every = {
        one.text: (other, one)
        for other in free.ruled_things.prompts()
        if other.template == "opinion"
        for one in free.ruled_things.answers(other.key)
    }
    inside = next(pair for text, pair in every.items() if text in tested)
    outside = next(pair for text, pair in every.items() if text not in tested)
    for put_, answer in (inside, outside):
        rule(
            free, subjects.answer_subject(free, put_, answer, "@"), RulingVerdict.MISREAD, "neutral"
        )
    found = ruled_examples(free, "stance", [])
    assert [(one.text, one.label) for one in found.examples] == [(outside[1].text, "neutral")]
    assert found.refused == 1
    assert found.describe() == (
        "rulings: 1 misread answer in training with the auditor's reading; 1 more left out, "
        "which a test set has"
    )
    (example,) = found.examples
    old = replace(example, label="agree", item=7)
    assert joined([old, replace(old, text="another")], found.examples) == [
        replace(old, text="another"),
        example,
    ]
    rule(free, subjects.answer_subject(free, *outside, "@"), RulingVerdict.CONFIRMED, auditor="eva")
    assert ruled_examples(free, "stance", []).examples == (), "auditors contradict each other"
    undo_all(free)
    assert ruled_examples(free, "stance", []).describe() == ""


def shares(came: Sequence[AnsweredPlan]) -> list[dict[str, tuple[int, int]]]:
    """The counts behind a header: answers of the plan, and each kind of answers."""
    kinds = [{name: (part.count, part.of) for name, part in one.parts.items()} for one in came]
    return [
        {"came": (one.answered, one.planned), **parts}
        for one, parts in zip(came, kinds, strict=True)
    ]


def test_no_exclusion_changes_what_a_header_says_models_did(
    sampled: Store, free: Store, asked: Store
) -> None:
    def reliability() -> Sequence[AnsweredPlan]:
        run = judge_reliability(sampled, find_run(sampled, "reliability")).answered
        stances = judge_consistency(sampled)
        assert shares(stances.answered) == shares([run])
        return [run]

    def bias() -> Sequence[AnsweredPlan]:
        found = scored(free)
        return bias_answered(
            free,
            found,
            [joined_refusals([refusals_of(free, run) for run in of]) for of in found.runs.values()],
        )

    ask(asked, first_option(invalid=0.5))
    of_audits = (
        (sampled, reliability, "soc-07", "tax-02"),
        (free, bias, "PCT-economic-left-1", "PCT-economic-left-2"),
        (asked, lambda: judge_response_bias(asked).answered, "odd_even.q0", "odd_even.q1"),
    )
    for store, came, whole, part in of_audits:
        before = shares(came())
        rule(store, subjects.find_subject(store, whole), RulingVerdict.EXCLUDED)
        wordings = subjects.subjects_below(store, subjects.find_subject(store, part))
        (prompt, *_) = (
            prompt for wording in wordings for prompt in subjects.subjects_below(store, wording)
        )
        for answer in subjects.subjects_below(store, prompt):
            rule(store, answer, RulingVerdict.EXCLUDED)
        assert shares(came()) == before, whole
        undo_all(store)


def test_a_misread_answer_is_readable_in_the_header_also_where_its_statement_is_excluded(
    sampled: Store,
) -> None:
    def unreadable() -> int:
        return (
            judge_reliability(sampled, find_run(sampled, "reliability"))
            .answered.parts["unreadable"]
            .count
        )

    before = unreadable()
    thing = subjects.subjects_below(sampled, subjects.find_subject(sampled, ANSWERS[0]))[0]
    (given,) = (
        one.count
        for one in sampled.ruled_things.answers(bytes.fromhex(thing.subject.named["prompt"]))
        if one.key.hex() == thing.subject.named["text"]
    )
    rule(sampled, thing, RulingVerdict.MISREAD, "unreadable")
    assert unreadable() == before + given
    rule(sampled, subjects.find_subject(sampled, "env-03"), RulingVerdict.EXCLUDED)
    assert unreadable() == before + given
    undo_all(sampled)
    assert unreadable() == before
