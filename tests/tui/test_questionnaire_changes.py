"""What a change to a questionnaire means is said before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Pole,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
    Tallied,
)
from workbench.figures.shown import painted
from workbench.tui.results.questionnaire_instrument import (
    change_words,
    mapping_words,
    next_leaning,
    with_change,
)
from workbench.workshop.questionnaire_tables import book


def test_a_change_says_what_it_means_before_it_is_made() -> None:
    target = Question("t", QuestionRole.TARGET, Form.STATEMENT, "four_point", Pole.LIBERAL)
    context = with_change(target, "role", ())
    assert context.role is QuestionRole.CONTEXT
    assert "target → context" in change_words(target, context, 140)
    assert "run the audit again" in change_words(target, context, 140)
    other = with_change(target, "leaning", ())
    assert "no model is asked again" in change_words(target, other, 140)
    assert with_change(target, "scale", ("four_point", "yes_no")).scale == "yes_no"
    assert with_change(target, "form", ()).form is Form.QUESTION


def test_leanings_go_round() -> None:
    assert next_leaning(next_leaning(next_leaning(None))) is None


def test_another_meaning_of_an_answer_says_what_it_does_and_whom_it_is_about() -> None:
    agree = AnswerOption(("agree",), Meaning.YES)
    scale = Scale(
        "s", (agree, AnswerOption(("no",), Meaning.NO), AnswerOption(("-",), Meaning.MISSING))
    )
    asked = Questionnaire((Question("t", QuestionRole.TARGET, scale="s"),), (scale,))
    of = Tallied(asked, 25, {"t": {"agree": 3}})
    said = mapping_words(of, scale, agree, Meaning.NEUTRAL)
    assert "'agree' means yes → neutral. It was given 3 times, to 1 question" in said
    assert "run the audit again" in said
    blank = [column.key for column in book("p", of, {}, {}).table("scales").columns].index("blank")
    assert {row[blank] for row in painted(book("p", of, {}, {}).table("scales"))[0]} == {"22"}


def test_a_survey_question_says_what_it_is_for() -> None:
    context = Question("t", QuestionRole.CONTEXT, Form.QUESTION, "four_point")
    survey = with_change(context, "survey", ())
    assert (survey.role, with_change(survey, "role", ()).role) == (
        QuestionRole.SURVEY,
        QuestionRole.TARGET,
    )
    assert "put with its options" in change_words(context, survey, 3)


@pytest.mark.e2e
async def test_answers_of_people_stand_by_group(tmp_path: Path) -> None:
    from tests.conftest import new_store
    from tests.core.test_formats_surveys import columns, read, sav
    from tests.tui.conftest import flowing, until
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.results.questionnaire_instrument import QuestionsScreen

    found = read(sav(tmp_path / "s.sav", columns()), "weight=w1 groups=land unordered=worst")
    with new_store(tmp_path / "a.db") as store:
        store.instruments.add(found)
    app = WorkbenchApp(tmp_path / "a.db")
    async with app.run_test(size=(140, 40)) as pilot:
        await app.push_screen(QuestionsScreen("v"))
        await until(pilot, lambda: "survey" in flowing(app) and "trust" in flowing(app))
        await pilot.press("tab", "tab")
        await until(pilot, lambda: "everybody" in flowing(app))
        assert "effective n" in flowing(app)
        await pilot.press("b")
        await until(pilot, lambda: "land Nordmark" in flowing(app))
        await pilot.press("b")
        await until(pilot, lambda: "land Nordmark" not in flowing(app))
