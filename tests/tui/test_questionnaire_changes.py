"""What a change to a questionnaire means is said before it is made."""

from __future__ import annotations

from workbench.domain.questionnaires import Form, Meaning, Option, Pole, Question, Questionnaire, Role, Scale, Tallied
from workbench.figures.shown import painted
from workbench.tui.results.questionnaire_instrument import change_words, mapping_words, next_leaning, with_change
from workbench.workshop.questionnaire_tables import book


def test_a_change_says_what_it_means_before_it_is_made() -> None:
    target = Question("t", Role.TARGET, Form.STATEMENT, "four_point", Pole.LIBERAL)
    context = with_change(target, "role", ())
    assert context.role is Role.CONTEXT
    assert "target → context" in change_words(target, context, 140)
    assert "run the audit again" in change_words(target, context, 140)
    other = with_change(target, "leaning", ())
    assert "no model is asked again" in change_words(target, other, 140)
    assert with_change(target, "scale", ("four_point", "yes_no")).scale == "yes_no"
    assert with_change(target, "form", ()).form is Form.QUESTION


def test_leanings_go_round() -> None:
    assert next_leaning(next_leaning(next_leaning(None))) is None


def test_another_meaning_of_an_answer_says_what_it_does_and_whom_it_is_about() -> None:
    agree = Option(("agree",), Meaning.YES)
    scale = Scale("s", (agree, Option(("no",), Meaning.NO), Option(("-",), Meaning.MISSING)))
    asked = Questionnaire((Question("t", Role.TARGET, scale="s"),), (scale,))
    of = Tallied(asked, 25, {"t": {"agree": 3}})
    said = mapping_words(of, scale, agree, Meaning.NEUTRAL)
    assert "'agree' means yes → neutral. It was given 3 times, to 1 question" in said
    assert "run the audit again" in said
    blank = [column.key for column in book("p", of, {}, {}).table("scales").columns].index("blank")
    assert {row[blank] for row in painted(book("p", of, {}, {}).table("scales"))[0]} == {"22"}
