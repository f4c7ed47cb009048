"""What a questionnaire audit puts to a model: whose answers, in which order, with what before the
target.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.questionnaire.asking import (
    CONDITION_NAMES,
    GROUPS,
    PERMUTED,
    REDUCED,
    AskedPerson,
    Conversations,
    context_key,
    context_of,
    default_variants,
    expanded,
    people,
    probes,
    remarks,
)
from workbench.data import shipped_templates
from workbench.domain.prompts import Message, Probe
from workbench.domain.questionnaires import (
    YES_NO,
    AnswerOption,
    Contexts,
    Form,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
    Survey,
)
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import UnknownName, UsageError
from workbench.readers.verbalizers import mass

TEMPLATES = [t for t in shipped_templates("questionnaire") if t.family == "qm"]
FIRST = VariantId(VariantKind.PARAPHRASE, 1)
LIKERT = Scale(
    "likert_3",
    (
        AnswerOption(("agree",), Meaning.YES),
        AnswerOption(("neither",), Meaning.NEUTRAL),
        AnswerOption(("disagree",), Meaning.NO),
    ),
)
CONTEXT = tuple(f"c{i}" for i in range(8))


def questionnaire(respondents: int = 12) -> Questionnaire:
    questions = [Question(ref, QuestionRole.CONTEXT) for ref in CONTEXT]
    questions += [
        Question(ref, QuestionRole.TARGET, Form.STATEMENT, "likert_3") for ref in ("t0", "t1")
    ]
    answers = [
        {ref: ("yes", "no")[(i + j) % 2] for j, ref in enumerate(CONTEXT)}
        | {"t0": ("agree", "disagree")[i % 2], "t1": "neither" if i == 0 else "agree"}
        for i in range(respondents)
    ]
    people_ = tuple(Respondent(f"r{i:02}", of) for i, of in enumerate(answers))
    return Questionnaire(tuple(questions), (YES_NO, LIKERT), people_)


STATEMENTS = [
    *(Statement(ref, (Wording(ORIGINAL, "en", f"Should {ref} be so?"),)) for ref in CONTEXT),
    *(
        Statement(
            ref,
            (Wording(ORIGINAL, "en", f"{ref} is good."), Wording(FIRST, "en", f"Good is {ref}.")),
        )
        for ref in ("t0", "t1")
    ),
]


def made(survey: Survey, variants: tuple[VariantId, ...] = (ORIGINAL, FIRST)) -> list[Probe]:
    return list(probes(STATEMENTS, TEMPLATES, variants, "en", "m", survey))


def axes(probe: Probe) -> dict[str, str]:
    return dict(probe.axes)


def test_a_prompt_is_the_answered_questions_as_turns_and_then_the_target_as_the_paper_prints_it() -> (
    None
):
    first = made(Survey(questionnaire(), Contexts(every=1)))[0]
    turns = first.prompt.messages
    assert [turn.role for turn in turns] == ["user", "assistant"] * 8 + ["user"]
    assert turns[0].content == "Please respond with 'yes' or 'no': Should c0 be so?"
    assert [turn.content for turn in turns[1::2]] == ["yes", "no"] * 4
    asked = """Please respond with 'yes' or 'no': Do you agree with the following statement? "t0 is good.\""""
    assert turns[-1].content == asked
    assert first.prompt.context == 16
    assert axes(first) == {
        "condition": "qm",
        "context": context_key(turns[:-1]),
        "respondent": "r00",
    }


def test_a_context_has_one_key_whether_its_turns_are_made_or_not() -> None:
    # a mark that combines with what is before it, at both ends of a text: the key is that of the
    # composed characters
    odd = [Statement("c0", (Wording(ORIGINAL, "en", "\u0301Cafe\u0301 \u0338="),)), *STATEMENTS[1:]]
    template = [replace(each, user="{statement}", system="Se\u0301rieux") for each in TEMPLATES]
    survey = Survey(questionnaire())
    asking = Conversations(odd, template, "en", survey)
    for person in people(survey):
        for condition in ("qm", "random", "reduced-50-changed"):
            context = asking.context(condition, person)
            assert asking.context_key(condition, person) == context_key(context)
    assert any(
        turn.content.startswith("\u0301Cafe\u0301")
        for turn in asking.context("qm", people(survey)[0])
    )


def test_zero_shot_is_one_prompt_a_wording_with_the_prefix_of_the_answer() -> None:
    found = made(Survey(questionnaire(), Contexts(("zero-shot",))))
    assert [(p.statement, p.variant) for p in found] == [
        ("t0", "original"),
        ("t0", "paraphrase-1"),
        ("t1", "original"),
        ("t1", "paraphrase-1"),
    ]
    assert all(len(p.prompt.messages) == 1 and axes(p) == {"condition": "zero-shot"} for p in found)
    assert found[0].prompt.messages[0].content.endswith('"t0 is good."\n\nYour response:')
    assert found[0].prompt.context == 0


def test_a_person_who_is_neutral_about_a_target_is_not_asked_about_it() -> None:
    found = Counter(
        (p.statement, axes(p)["respondent"]) for p in made(Survey(questionnaire()), (ORIGINAL,))
    )
    assert ("t1", "r00") not in found
    assert {("t0", "r00"), ("t1", "r01")} <= set(found)
    assert len(found) == 2 * 12 - 1


def test_missing_and_neutral_answers_are_left_out_of_the_context() -> None:
    base = questionnaire(2)
    gone = replace(base.respondents[0], answers={**base.respondents[0].answers, "c3": ""})
    without = replace(
        gone, answers={ref: value for ref, value in gone.answers.items() if ref != "c5"}
    )
    person = people(Survey(replace(base, respondents=(without,))))[0]
    assert [ref for ref, _ in person.context] == ["c0", "c1", "c2", "c4", "c6", "c7"]


def test_another_mapping_changes_the_answers_that_are_shown_and_predicted() -> None:
    base = questionnaire(4)
    turned = replace(base, scales=(YES_NO.remapped({"yes": Meaning.NEUTRAL}), LIKERT))
    person = people(Survey(turned))[0]
    assert [answer for _, answer in person.context] == [False] * 4


def test_paraphrases_are_asked_of_one_respondent_in_so_many_and_never_in_ablations() -> None:
    survey = Survey(questionnaire(), Contexts(expanded(["qm", "random", "permuted"]), every=5))
    asked = defaultdict(set)
    for probe in made(survey):
        asked[axes(probe)["condition"], probe.variant].add(axes(probe)["respondent"])
    assert len(asked["qm", "original"]) == 12
    assert len(asked["qm", "paraphrase-1"]) == len(asked["random", "paraphrase-1"]) == 3
    assert not any((name, "paraphrase-1") in asked for name in PERMUTED)


def test_fewer_respondents_are_among_those_that_more_are_drawn_from() -> None:
    few, more = (people(Survey(questionnaire(), Contexts(respondents=n), seed=7)) for n in (4, 9))
    assert len(few) == 4
    assert {p.name for p in few} < {p.name for p in more}
    assert [p.name for p in more] == sorted(p.name for p in more), (
        "in the order of the questionnaire"
    )
    assert {p.name for p in people(Survey(questionnaire(), Contexts(respondents=4), seed=8))} != {
        p.name for p in few
    }


def test_somebody_who_joins_changes_nobody_elses_context() -> None:
    before, after = (made(Survey(questionnaire(n), Contexts(CONDITION_NAMES))) for n in (6, 7))
    assert {(p.axes, p.prompt.key) for p in before} <= {(p.axes, p.prompt.key) for p in after}


PEOPLE = st.lists(st.booleans(), min_size=0, max_size=30).map(
    lambda answers: AskedPerson(
        "p", tuple((f"q{i}", a) for i, a in enumerate(answers)), frozenset(), in_all_wordings=True
    )
)


@given(PEOPLE, st.integers(0, 50), st.sampled_from(PERMUTED))
def test_a_permutation_holds_the_same_answers_and_treats_the_last_as_it_says(
    p: AskedPerson, seed: int, name: str
) -> None:
    found = context_of(name, seed, p, [ref for ref, _ in p.context])
    assert sorted(found) == sorted(p.context)
    if len(p.context) > 1:
        assert (found[-1] == p.context[-1]) is ("kept" in name)


@given(PEOPLE, st.integers(0, 50), st.sampled_from(REDUCED))
def test_a_reduction_leaves_a_share_out_and_treats_the_last_as_it_says(
    p: AskedPerson, seed: int, name: str
) -> None:
    found = context_of(name, seed, p, [ref for ref, _ in p.context])
    gone = round(len(p.context) * int(name.split("-")[1]) / 100)
    stays = 1 if "kept" in name and p.context else 0
    assert len(found) == max(stays, len(p.context) - gone), (
        "a last example that is kept is kept, if it is the only one"
    )
    assert [a for a in p.context if a in set(found)] == list(found), "the order stays"
    if gone and found:
        assert (found[-1] == p.context[-1]) is ("kept" in name)


@given(PEOPLE, st.integers(0, 50))
def test_random_answers_are_to_the_same_questions_and_do_not_depend_on_which_were_answered(
    p: AskedPerson, seed: int
) -> None:
    every = [f"q{i}" for i in range(30)]
    found = context_of("random", seed, p, every)
    assert [ref for ref, _ in found] == [ref for ref, _ in p.context]
    fewer = replace(p, context=p.context[::2])
    assert set(context_of("random", seed, fewer, every)) <= set(found)


def test_random_answers_are_fair_coins_of_their_own_for_each_person() -> None:
    refs = [f"q{i}" for i in range(40)]
    answers = tuple((ref, True) for ref in refs)
    of = [
        context_of("random", 1, AskedPerson(f"p{i}", answers, frozenset(), False), refs)
        for i in range(100)
    ]
    share = sum(answer for found in of for _, answer in found) / 4000
    assert abs(share - 0.5) < 4 * 0.5 / 4000**0.5
    assert len(set(of)) == 100


def test_a_permutation_is_the_same_order_for_everybody() -> None:
    refs = [f"q{i}" for i in range(20)]
    orders = {
        tuple(
            ref
            for ref, _ in context_of(
                "permuted-kept-2", 3, AskedPerson(name, answers, frozenset(), False), refs
            )
        )
        for name, answers in (
            ("a", tuple((r, True) for r in refs)),
            ("b", tuple((r, False) for r in refs)),
        )
    }
    assert len(orders) == 1


def test_groups_stand_for_their_conditions_and_an_unknown_name_lists_all() -> None:
    assert expanded(["reduced", "qm"]) == ("qm", *REDUCED)
    assert expanded(["all"]) == CONDITION_NAMES == expanded(CONDITION_NAMES[::-1])
    assert set(GROUPS) == {"permuted", "reduced", "all"}
    with pytest.raises(UnknownName, match=r"there is no condition 'qmm'.*zero-shot"):
        expanded(["qmm"])


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        (Contexts(respondents=13), "respondents: found 13; there are 12"),
        (Contexts(respondents=-1), "respondents: found -1"),
        (Contexts(every=0), "one in: found 0"),
        (Contexts(questions=9), "questions: found 9; there are 8"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(contexts: Contexts, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        made(Survey(questionnaire(), contexts))


def test_the_first_context_questions_can_be_asked_alone() -> None:
    found = made(Survey(questionnaire(), Contexts(questions=3)), (ORIGINAL,))
    assert {p.prompt.context for p in found} == {6}


def test_without_respondents_or_in_another_language_it_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="has no respondents"):
        made(Survey(questionnaire(0)))
    with pytest.raises(UsageError, match="c0 has no original wording in 'de'"):
        list(probes(STATEMENTS, TEMPLATES, (ORIGINAL,), "de", "m", Survey(questionnaire())))
    with pytest.raises(UsageError, match="needs a questionnaire"):
        list(probes(STATEMENTS, TEMPLATES, (ORIGINAL,), "en", "m", None))
    with pytest.raises(UnknownName, match="needs the template 'statement'"):
        list(probes(STATEMENTS, TEMPLATES[:1], (ORIGINAL,), "en", "m", Survey(questionnaire())))


def test_targets_that_everybody_is_neutral_about_are_named_and_not_asked() -> None:
    base = questionnaire(3)
    neutral = replace(
        base,
        respondents=tuple(
            replace(r, answers={**r.answers, "t0": "neither"}) for r in base.respondents
        ),
    )
    assert remarks(neutral) == ("not asked: t0, because no respondent answered yes or no",)
    assert remarks(base) == ()
    found = made(Survey(neutral, Contexts(("qm", "zero-shot"))))
    assert {p.statement for p in found} == {"t1"}


def test_paraphrases_are_wordings_of_a_target_and_negations_are_not() -> None:
    assert default_variants((ORIGINAL, FIRST, NEGATION)) == (ORIGINAL, FIRST)


def test_masses_are_summed_over_case_and_blanks_and_not_over_longer_words() -> None:
    tokens = [("yes", -1.0), (" Yes", -2.0), ("YES ", -3.0), ("yes!", -1.5), ("Yesterday", -0.5)]
    assert mass(tokens, "Yes") == pytest.approx(0.36787944 + 0.13533528 + 0.04978707)
    assert mass(tokens, "no") == 0


def test_the_key_of_a_prompt_does_not_depend_on_how_much_of_it_is_called_context() -> None:
    prompt = made(Survey(questionnaire()))[0].prompt
    assert replace(prompt, context=0).key == prompt.key
    assert replace(prompt, context=0) == prompt


def test_a_system_turn_of_ones_own_templates_stands_first_under_every_condition() -> None:
    templates = [replace(t, system="Stay in your role.") for t in TEMPLATES]
    survey = Survey(questionnaire(), Contexts(("qm", "zero-shot", "reduced-25-kept")))
    found = list(probes(STATEMENTS, templates, (ORIGINAL,), "en", "m", survey))
    assert {p.prompt.messages[0] for p in found} == {Message("system", "Stay in your role.")}
    assert {[m.role for m in p.prompt.messages].count("system") for p in found} == {1}
    assert {p.prompt.context for p in found if dict(p.axes)["condition"] == "zero-shot"} == {0}
    assert {p.prompt.context for p in found if dict(p.axes)["condition"] == "qm"} == {
        1 + 2 * len(CONTEXT)
    }


def test_templates_are_taken_in_the_language_that_is_asked() -> None:
    german = [
        replace(t, language="de", user=t.user.replace("Please respond with", "Bitte mit"))
        for t in TEMPLATES
    ]
    found = list(
        probes(STATEMENTS, TEMPLATES + german, (ORIGINAL,), "en", "m", Survey(questionnaire()))
    )
    assert found == made(Survey(questionnaire()), (ORIGINAL,))
    in_german = [
        replace(s, wordings=tuple(replace(w, language="de") for w in s.wordings))
        for s in STATEMENTS
    ]
    asked = list(
        probes(in_german, TEMPLATES + german, (ORIGINAL,), "de", "m", Survey(questionnaire()))
    )
    assert all(
        m.content.startswith("Bitte") for p in asked for m in p.prompt.messages if m.role == "user"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"user": "Yes or no?", "system": "{statement}"},
            "needs {statement} exactly once in its user turn",
        ),
        ({"user": "{model_name}, yes or no: {statement}"}, "calls the model by its name"),
        ({"chat": False}, "is not a chat template"),
        ({"name": "statement"}, "exists in two label orders"),
        ({"system": "A."}, "different system turns"),
        ({"positive": "I agree"}, "'I agree' and 'no', and this audit reads the next token alone"),
        ({"positive": "No"}, "calls yes and no 'No' and 'no', case aside one"),
    ],
)
def test_templates_that_cannot_put_a_question_as_a_turn_are_refused(
    changes: dict[str, object], message: str
) -> None:
    first, *others = (replace(t, system="B.") if "system" in changes else t for t in TEMPLATES)
    with pytest.raises(UsageError, match=message):
        list(
            probes(
                STATEMENTS,
                [replace(first, **changes), *others],
                (ORIGINAL,),
                "en",
                "m",
                Survey(questionnaire()),
            )
        )  # type: ignore[arg-type]
