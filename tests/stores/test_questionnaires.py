"""Questionnaires in a store: what a file says, what people change here, and answers that nothing
writes over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from stores.instruments.questionnaires import QuestionnaireSummary, QuestionRevision, ScaleRevision
from tests.conftest import instrument
from workbench.data import shipped_scale
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Pole,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
)
from workbench.errors import ConflictError, UnknownName, UsageError
from workbench.pipeline.checking import open_lint
from workbench.pipeline.importing import prepared

FOUR, SEVEN = shipped_scale("four_point"), shipped_scale("likert_7")
QUESTIONS = (
    Question("a-1", QuestionRole.CONTEXT, Form.QUESTION, "four_point"),
    Question("a-2", QuestionRole.CONTEXT, Form.QUESTION, "four_point", Pole.LIBERAL),
    Question("b-1", QuestionRole.TARGET, Form.STATEMENT, "likert_7", Pole.CONSERVATIVE),
)
PEOPLE = (
    Respondent("zoe", {"a-1": "yes", "a-2": "rather yes", "b-1": "7"}),
    Respondent("ana", {"a-1": "Rather Yes", "b-1": "neutral"}),
    Respondent("bo", {"a-2": "no answer", "b-1": "1"}),
)
WHOLE = Questionnaire(QUESTIONS, (FOUR, SEVEN), PEOPLE)


def asked(questionnaire: Questionnaire = WHOLE) -> Instrument:
    return replace(instrument(), questionnaire=questionnaire)


@pytest.fixture
def panel(store: Store) -> Store:
    store.instruments.add(asked())
    return store


def revisions(store: Store) -> int:
    return len(store.questionnaires.history("small"))


def held(store: Store) -> Questionnaire:
    found = store.questionnaires.get("small")
    assert found is not None
    return found


def test_a_questionnaire_is_read_as_it_was_imported(panel: Store) -> None:
    assert panel.questionnaires.get("small") == WHOLE
    assert panel.instruments.get("small").questionnaire is None, "it may be large, and few need it"


def test_an_instrument_without_roles_has_no_questionnaire(filled: Store) -> None:
    assert filled.questionnaires.get("small") is None
    assert filled.questionnaires.summary("small") is None
    with pytest.raises(UnknownName):
        filled.questionnaires.get("large")


def test_the_counts_are_those_of_the_people(panel: Store) -> None:
    # 3 people times 3 questions, 7 answers given; ana's 4 of 7 points is neutral; two gave none and
    # one refused.
    assert panel.questionnaires.summary("small") == QuestionnaireSummary(
        context=2, target=1, respondents=3, answers=7, neutral=1, missing=3
    )
    tally = panel.questionnaires.tallied("small")
    assert tally is not None
    assert dict(tally.meanings(QUESTIONS[1])) == {
        Meaning.YES: 1,
        Meaning.NO: 0,
        Meaning.NEUTRAL: 0,
        Meaning.MISSING: 2,
    }


def test_importing_again_changes_nothing(panel: Store) -> None:
    before = revisions(panel)
    answers = panel.instruments.add(asked()).answers
    assert answers is not None
    assert (answers.added, answers.known, answers.answers, answers.absent) == (0, 3, 0, 0)
    assert revisions(panel) == before == 5, "three questions and two scales, once"
    assert held(panel) == WHOLE


def test_what_a_person_changed_stays_until_the_file_changes_it(panel: Store) -> None:
    neutral = FOUR.remapped({"rather yes": Meaning.NEUTRAL})
    assert panel.questionnaires.set_scale("small", neutral, person="ana") == 2
    assert panel.questionnaires.set_question("small", "a-2", leaning=None, person="ana")
    panel.instruments.add(asked())
    assert held(panel).scale("four_point") == neutral
    assert held(panel).questions[1].leaning is None
    other = replace(QUESTIONS[1], leaning=Pole.CONSERVATIVE)
    panel.instruments.add(asked(replace(WHOLE, questions=(QUESTIONS[0], other, QUESTIONS[2]))))
    assert held(panel).questions[1] == other, "the file says something else than it did"
    assert held(panel).scale("four_point") == neutral


def test_a_role_that_the_file_takes_away_is_gone_and_one_given_here_stays(panel: Store) -> None:
    panel.instruments.add(replace(instrument("a-1", "a-2", "b-1", "n-1"), questionnaire=WHOLE))
    panel.questionnaires.set_question("small", "n-1", role=QuestionRole.CONTEXT, person="ana")
    fewer = replace(WHOLE, questions=QUESTIONS[1:], respondents=())
    panel.instruments.add(replace(instrument("a-1", "a-2", "b-1", "n-1"), questionnaire=fewer))
    assert [question.ref for question in held(panel).questions] == ["a-2", "b-1", "n-1"]
    assert [dict(one.answers) for one in held(panel).respondents] == [
        {"a-2": "rather yes", "b-1": "7"},
        {"b-1": "neutral"},
        {"a-2": "no answer", "b-1": "1"},
    ]
    panel.instruments.add(replace(instrument("a-1", "a-2", "b-1", "n-1"), questionnaire=WHOLE))
    assert held(panel).respondents == PEOPLE, "answers were there all the time"


def test_a_file_that_says_nothing_of_a_questionnaire_leaves_it_alone(panel: Store) -> None:
    assert panel.instruments.add(instrument()).answers is None
    assert held(panel) == WHOLE


def test_new_people_and_new_questions_are_added(panel: Store) -> None:
    more = (*PEOPLE, Respondent("cy", {"a-1": "no"}))
    added = panel.questionnaires.add_answers("small", more)
    assert (added.added, added.known, added.answers) == (1, 3, 1)
    assert held(panel).respondents == more
    added = panel.questionnaires.add_answers("small", more[1:2])
    assert (added.added, added.known, added.answers, added.absent) == (0, 1, 0, 3)
    panel.instruments.add(replace(instrument("a-1", "a-2", "b-1", "n-1"), questionnaire=WHOLE))
    panel.questionnaires.set_question(
        "small", "n-1", role=QuestionRole.TARGET, form=Form.QUESTION, person="ana"
    )
    later = (Respondent("zoe", {**PEOPLE[0].answers, "n-1": "yes"}),)
    assert panel.questionnaires.add_answers("small", later).answers == 1
    assert held(panel).respondents[0] == later[0]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (
            {"a-1": "no", "a-2": "rather yes", "b-1": "7"},
            "'zoe' to 'a-1': 'yes' here, 'no' in the file",
        ),
        ({"a-1": "yes", "b-1": "7"}, None),
        (
            {"a-1": "yes", "a-2": "rather yes", "b-1": "strongly agree"},
            "'zoe' to 'b-1': '7' here, 'strongly agree'",
        ),
    ],
)
def test_other_answers_of_people_who_are_here_are_refused(
    panel: Store, answers: Mapping[str, str], said: str | None
) -> None:
    new = Respondent("new", {"a-1": "yes"})
    before = held(panel)
    people = (new, Respondent("zoe", answers))
    if said is None:  # nobody in the file answered a-2, so it was not asked there
        assert panel.questionnaires.add_answers("small", people).added == 1
        return
    with pytest.raises(ConflictError, match=f"1 answer is .*{said}"):
        panel.questionnaires.add_answers("small", people)
    assert held(panel) == before
    with pytest.raises(ConflictError):
        panel.instruments.add(asked(replace(WHOLE, respondents=people)))
    assert held(panel) == before


def test_every_difference_is_counted(panel: Store) -> None:
    turned = tuple(replace(one, answers={"a-1": "no", "a-2": "no", "b-1": "4"}) for one in PEOPLE)
    with pytest.raises(ConflictError, match="9 answers are not"):
        panel.questionnaires.add_answers("small", turned)


def test_answers_that_cannot_be_are_refused_whole(panel: Store) -> None:
    for people, error, said in (
        ([Respondent("x", {"a-1": "yes", "a-9": "no"})], UnknownName, "no question 'a-9'"),
        ([Respondent("x", {"a-1": "7"})], UsageError, r"a-1: '7' \(1 people\), not on four_point"),
        (
            [Respondent("x", {"a-1": "yes"}), Respondent("x", {"a-1": "yes"})],
            UsageError,
            "'x' is given twice",
        ),
    ):
        with pytest.raises(error, match=said):
            panel.questionnaires.add_answers("small", people)
    assert held(panel) == WHOLE


def test_an_edited_or_renamed_statement_keeps_its_role_and_answers(panel: Store) -> None:
    statement = panel.statements.get("small", "a-1")
    first, *rest = statement.wordings
    panel.statements.save(
        "small", [replace(statement, wordings=(replace(first, text="Else?"), *rest))], person="ana"
    )
    assert held(panel) == WHOLE
    panel.statements.rename("small", "a-1", "z-1", person="ana")
    assert held(panel).questions[0] == replace(QUESTIONS[0], ref="z-1")
    assert held(panel).respondents[0].answers == {"z-1": "yes", "a-2": "rather yes", "b-1": "7"}
    before = revisions(panel)
    panel.instruments.add(asked())
    assert revisions(panel) == before, "what the file calls a-1 is z-1 here"
    assert held(panel).questions[0].ref == "z-1"
    panel.statements.undo("small", person="ana")
    assert held(panel).questions[0].ref == "a-1"


def test_an_archived_statement_is_left_out_with_its_answers_and_comes_back_with_them(
    panel: Store,
) -> None:
    panel.statements.archive("small", ["b-1", "a-2"], person="ana")
    found = held(panel)
    assert found.questions == QUESTIONS[:1]
    assert found.respondents == (
        Respondent("zoe", {"a-1": "yes"}),
        Respondent("ana", {"a-1": "Rather Yes"}),
    )
    summary = panel.questionnaires.summary("small")
    assert summary is not None
    assert (summary.respondents, summary.answers) == (2, 2)
    assert (
        "5 answers to questions that were archived or taken out"
        in prepared(panel, "small", "csv").notes[-1]
    )
    panel.instruments.add(asked())
    assert held(panel).questions == QUESTIONS[:1], (
        "a person archived them, and the file says what it said"
    )
    panel.statements.restore("small", ["b-1", "a-2"], person="ana")
    assert held(panel) == WHOLE


def test_a_question_is_changed_taken_out_and_put_back(panel: Store) -> None:
    change = panel.questionnaires.set_question
    assert change("small", "b-1", role=QuestionRole.CONTEXT, leaning=Pole.LIBERAL, person="ana")
    assert held(panel).questions[2] == Question(
        "b-1", QuestionRole.CONTEXT, Form.STATEMENT, "likert_7", Pole.LIBERAL
    )
    assert not change("small", "b-1", leaning=Pole.LIBERAL, person="ana")
    assert change("small", "b-1", role=None, person="ana")
    assert not change("small", "b-1", role=None, person="ana")
    assert held(panel).questions == QUESTIONS[:2]
    with pytest.raises(UsageError, match="say its role"):
        change("small", "b-1", form=Form.QUESTION, person="ana")
    assert change("small", "b-1", role=QuestionRole.TARGET, person="bo")
    assert held(panel).questions[2] == replace(QUESTIONS[2], leaning=Pole.LIBERAL)
    history = [
        one for one in panel.questionnaires.history("small") if isinstance(one, QuestionRevision)
    ]
    assert [(one.ref, one.revision, one.role, one.person) for one in history[3:]] == [
        ("b-1", 2, QuestionRole.CONTEXT, "ana"),
        ("b-1", 3, None, "ana"),
        ("b-1", 4, QuestionRole.TARGET, "bo"),
    ]


def test_a_statement_becomes_a_question_on_a_shipped_scale(filled: Store) -> None:
    change = filled.questionnaires.set_question
    with pytest.raises(UsageError, match="say its form"):
        change("small", "a-1", role=QuestionRole.TARGET, person="ana")
    with pytest.raises(UnknownName, match="four_point, likert_7, yes_no"):
        change("small", "a-1", role=QuestionRole.CONTEXT, scale="likert", person="ana")
    with pytest.raises(UnknownName, match="no statement 'x'"):
        change("small", "x", role=QuestionRole.CONTEXT, person="ana")
    assert filled.questionnaires.get("small") is None
    assert change(
        "small",
        "a-1",
        role=QuestionRole.TARGET,
        form=Form.STATEMENT,
        scale="likert_7",
        person="ana",
    )
    assert filled.questionnaires.get("small") == Questionnaire(
        (Question("a-1", QuestionRole.TARGET, Form.STATEMENT, "likert_7"),), (SEVEN,)
    )


def test_a_scale_without_the_answers_that_were_given_is_refused(panel: Store) -> None:
    with pytest.raises(UsageError, match=r"b-1: '1' .*not on four_point"):
        panel.questionnaires.set_question("small", "b-1", scale="four_point", person="ana")
    with pytest.raises(UsageError, match=r"a-2: 'rather yes' \(1 people\), not on four_point"):
        panel.questionnaires.set_scale(
            "small", replace(FOUR, options=FOUR.options[:1]), person="ana"
        )
    assert held(panel) == WHOLE
    own = Scale("mine", (AnswerOption(("7", "neutral", "1"), Meaning.NO),))
    assert panel.questionnaires.set_scale("small", own, person="ana") == 0
    assert panel.questionnaires.set_question("small", "b-1", scale="mine", person="ana")
    assert [m.value for m in held(panel).meanings(held(panel).questions[2])] == ["no", "no", "no"]


def test_a_mapping_says_how_many_answers_it_changes_and_keeps_them_as_given(panel: Store) -> None:
    harsh = SEVEN.remapped({"neutral": Meaning.NO, "1": Meaning.MISSING, "6": Meaning.NO})
    assert panel.questionnaires.set_scale("small", harsh, person="ana") == 2
    assert panel.questionnaires.set_scale("small", harsh, person="bo") == 0
    assert held(panel).respondents == PEOPLE
    assert [m.value for m in held(panel).meanings(QUESTIONS[2])] == ["yes", "no", "missing"]
    history = [
        one for one in panel.questionnaires.history("small") if isinstance(one, ScaleRevision)
    ]
    assert [(one.scale.name, one.revision, one.person) for one in history] == [
        ("four_point", 1, "import"),
        ("likert_7", 1, "import"),
        ("likert_7", 2, "ana"),
    ]


def test_lint_looks_at_the_questionnaire_of_the_store(panel: Store) -> None:
    def found() -> list[str]:
        return [one.code for one in open_lint(panel, "small")]

    assert "no-yes-or-no" not in found()
    every = {option.values[0]: Meaning.NEUTRAL for option in SEVEN.options}
    panel.questionnaires.set_scale("small", SEVEN.remapped(every), person="ana")
    assert {"no-yes-or-no", "one-sided-scale"} <= set(found())
    text = panel.statements.get("small", "a-1").wordings[0].text
    target = panel.statements.get("small", "b-1")
    same = (replace(target.wordings[0], text=text.upper()), *target.wordings[1:])
    panel.statements.save("small", [replace(target, wordings=same)], person="ana")
    assert ("error", "b-1") in [
        (f.severity, f.subject) for f in open_lint(panel, "small") if "context" in f.code
    ]


def test_nobody_changes_things_in_the_name_of_a_file(panel: Store) -> None:
    with pytest.raises(UsageError, match="stands for files"):
        panel.questionnaires.set_question("small", "a-1", leaning=Pole.LIBERAL, person=" import")
    with pytest.raises(UsageError, match="stands for files"):
        panel.questionnaires.set_scale("small", SEVEN.remapped({"4": Meaning.NO}), person="import")
    assert held(panel) == WHOLE


def test_two_stores_on_one_file_see_each_others_changes(panel: Store) -> None:
    with Store.open(panel.path) as other:
        other.questionnaires.set_question("small", "a-1", leaning=Pole.LIBERAL, person="bo")
    assert held(panel).questions[0].leaning is Pole.LIBERAL


ANSWERS = st.dictionaries(
    st.sampled_from(["a-1", "a-2"]),
    st.sampled_from(["yes", "rather yes", "no", "75", "NA"]),
    min_size=1,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    people=st.dictionaries(st.text("abc", min_size=1, max_size=3), ANSWERS, min_size=1, max_size=6),
    cut=st.integers(0, 6),
)
def test_adding_people_in_parts_and_again_is_adding_them_once(
    store: Store, people: Mapping[str, Mapping[str, str]], cut: int
) -> None:
    name = f"n{len(store.instruments.names())}"
    everybody = tuple(Respondent(who, answers) for who, answers in people.items())
    questions = replace(WHOLE, questions=QUESTIONS[:2], respondents=())
    store.instruments.add(replace(instrument(name=name), questionnaire=questions))
    for some in (everybody[:cut], everybody[cut:], everybody):
        store.questionnaires.add_answers(name, some)
    found = store.questionnaires.get(name)
    assert found is not None
    assert found.respondents == everybody
    assert store.questionnaires.add_answers(name, everybody).answers == 0
