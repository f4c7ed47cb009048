"""From stored next tokens to accuracy and bias, and from every figure back down to the prompts
behind it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from stores.core.store import Store
from tests.questionnaire_stores import (
    AGREEMENT,
    CONTEXT,
    FIRST,
    NAME,
    TARGETS,
    Masses,
    card,
    ideal,
    panel,
    predict,
)
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.judged import (
    QuestionnaireJudged,
    judge_questionnaire,
    predictions_of,
    prompt_asked,
    takes_long,
    token_shares,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.result import results_of
from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe
from workbench.domain.questionnaires import Form, Meaning, QuestionRole, Respondent
from workbench.domain.statements import ORIGINAL
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.evidence.runs import AnswerSelection

QM, ZERO, RANDOM = Condition("qm"), Condition("zero-shot"), Condition("random", 1)
FEW = PredictionOptions(draws=200)


@pytest.fixture
def people(store: Store) -> Store:
    store.instruments.add(panel())
    return store


def judged(
    store: Store, *models: str, options: PredictionOptions = FEW, dtype: str | None = None
) -> QuestionnaireJudged:
    return judge_questionnaire(store, AnswerSelection(models=models, dtype=dtype), options)


def test_of_many_prompts_the_first_condition_is_judged_before_the_rest_is_read(
    people: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict(
        people, ideal(people), conditions=("qm", "zero-shot"), variants=("original", "paraphrase-1")
    )
    predict(people, ideal(people), card("late"), conditions=("zero-shot",))
    assert not takes_long(people, AnswerSelection()), "few are read at once"
    monkeypatch.setattr("workbench.audits.questionnaire.judged.MANY", 10)
    assert takes_long(people, AnswerSelection())
    whole, part = (
        judge_questionnaire(people, options=FEW, partly=partly) for partly in (False, True)
    )
    assert part.reports["oracle"].predictions.wordings == (ORIGINAL,)
    assert part.reports["oracle"].conditions == (QM,)
    assert repr(part.reports["oracle"].condition(QM)) == repr(
        whole.reports["oracle"].condition(QM)
    ), "NaN or not"
    assert part.reports["late"].conditions == ()


def test_predictions_that_are_read_once_are_judged_by_other_options_as_if_they_were_read_again(
    people: Store,
) -> None:
    predict(people, ideal(people), conditions=("qm", "zero-shot"))
    predict(people, ideal(people), card("silent"), words=False)
    found = judged(people)
    found.reports["oracle"].condition(QM)
    for options in (
        replace(FEW, error="printed"),
        replace(FEW, masses="vocabulary", error="printed"),
    ):
        anew, again = found.with_options(options), judged(people, options=options)
        assert (anew.options, anew.notes) == (again.options, again.notes)
        for name, report in again.reports.items():
            for condition in report.conditions:
                assert repr(anew.reports[name].condition(condition)) == repr(
                    report.condition(condition)
                ), "NaN or not"
    assert any("vocabulary is unknown" in note for note in anew.notes)


def test_a_model_that_knows_every_answer_is_accurate_and_has_no_bias(people: Store) -> None:
    predict(people, ideal(people))
    found = judged(people)
    first, second = found.reports["oracle"].condition(QM).targets
    assert (first.target, first.respondents, first.accuracy.value, first.bias.value) == (
        "t0",
        10,
        1.0,
        0.0,
    )
    assert (second.target, second.respondents, second.accuracy.value, second.bias.value) == (
        "t1",
        9,
        1.0,
        0.0,
    )
    assert (first.ratio, second.ratio) == ("5:5", "8:1")
    assert found.notes == ()


@pytest.mark.parametrize(
    ("says", "biases"), [((0.9, 0.0), (0.5, 1 / 9)), ((0.0, 0.9), (-0.5, -8 / 9))]
)
def test_a_model_that_always_says_the_same_has_the_bias_that_its_definition_implies(
    people: Store, says: Masses, biases: Masses
) -> None:
    predict(people, lambda _: says)
    targets = judged(people).reports["oracle"].condition(QM).targets
    assert [row.bias.value for row in targets] == pytest.approx(biases)


def test_masses_count_the_ten_likeliest_tokens_or_the_whole_vocabulary(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    top = judged(people).gathered["oracle"].predictions
    assert top.yes == pytest.approx(np.full(19, 0.4)), (
        "the yes at the eleventh place does not count"
    )
    every = judged(people, options=replace(FEW, masses="vocabulary")).gathered["oracle"].predictions
    assert every.yes == pytest.approx(np.full(19, 0.42))
    assert every.no == pytest.approx(np.full(19, 0.2))


def test_a_model_without_masses_over_the_vocabulary_is_undefined_and_the_others_go_on(
    people: Store,
) -> None:
    predict(people, lambda _: (0.4, 0.2))
    predict(people, lambda _: (0.4, 0.2), card("served"), words=False)
    found = judged(people, options=replace(FEW, masses="vocabulary"))
    figures = {name: report.condition(QM) for name, report in found.reports.items()}
    assert figures["served"].targets[0].accuracy.undefined
    assert figures["served"].accuracy.undefined
    assert not figures["oracle"].accuracy.undefined
    (note,) = found.notes
    assert note.startswith(
        "served: the probability of yes and no over the whole vocabulary is unknown for 19 of 19"
    )
    assert len(predictions_of(found, "oracle", "t0", QM)) == 10
    assert predictions_of(found, "served", "t0", QM) == (), (
        "nothing was predicted, so nobody's answer was missed"
    )
    assert token_shares(found, "served", "t0", QM).prompts == 0
    assert not judged(people).notes, "the ten likeliest tokens are known of both"


def test_answers_and_roles_that_changed_since_are_said_until_the_prompts_are_asked_again(
    people: Store,
) -> None:
    predict(
        people, lambda _: (0.4, 0.2), conditions=("qm", "zero-shot", "random", "reduced-50-kept")
    )
    before = judged(people)
    assert not before.notes
    people.questionnaires.set_question(NAME, "c3", role=None, person="ann")
    changed = judged(people)
    (note,) = changed.notes
    assert note.startswith(
        "oracle: 57 of 59 prompts show answers, questions or instructions that have changed since"
    )
    row = predictions_of(changed, "oracle", "t0", QM)[0]
    assert row.outdated
    assert prompt_asked(people, changed, "oracle", row.probe).outdated
    predict(people, lambda _: (0.1, 0.6))
    some = judged(people)
    (note,) = some.notes
    assert note.startswith("oracle: 38 of 59 prompts"), (
        "qm was asked again, random and reduced were not"
    )
    assert "changed since (random 19, reduced-50-kept 19)." in note
    again = (
        "workbench run STORE --audit questionnaire --instrument panel --model oracle "
        "--variants original --every 2"
    )
    assert note.endswith(f"{again} --conditions random,reduced-50-kept")
    assert [some.gathered["oracle"].count_outdated(of, "t1") for of in (QM, RANDOM)] == [0, 9]
    assert some.reports["oracle"].condition(QM).p_yes == pytest.approx(1 / 7)
    assert some.reports["oracle"].condition(RANDOM).p_yes == pytest.approx(2 / 3)


def test_what_was_asked_before_counts_again_once_the_change_is_taken_back(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    people.questionnaires.set_question(NAME, "c3", role=None, person="ann")
    predict(people, lambda _: (0.1, 0.6))
    people.questionnaires.set_question(NAME, "c3", role=QuestionRole.CONTEXT, person="ann")
    found = judged(people)
    assert found.reports["oracle"].condition(QM).p_yes == pytest.approx(2 / 3)
    assert found.notes == ()


def test_an_older_prompt_counts_where_the_newer_one_failed(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    people.questionnaires.set_question(NAME, "c3", role=None, person="ann")
    predict(people, lambda probe: "too long" if probe.statement == "t0" else (0.1, 0.6))
    found = judged(people)
    first, second = found.reports["oracle"].condition(QM).targets
    assert [first.p_yes, second.p_yes] == pytest.approx([2 / 3, 1 / 7])
    assert found.gathered["oracle"].outdated.sum() == 10
    assert not found.gathered["oracle"].failed, "each of the ten has an answer, if an older one"


def test_fewer_context_questions_by_design_are_no_change(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2), questions=3)
    found = judged(people)
    assert found.notes == ()
    assert [str(c) for c in found.reports["oracle"].conditions] == ["qm (first 3)"]
    probe = predictions_of(found, "oracle", "t0", Condition("qm", 0, 3))[0].probe
    assert prompt_asked(people, found, "oracle", probe).prompt.context == 6


def test_a_form_that_changed_gives_way_to_the_present_one(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2), conditions=("zero-shot",))
    people.questionnaires.set_question(NAME, "t0", form=Form.QUESTION, person="ann")
    predict(people, lambda _: (0.1, 0.6), conditions=("zero-shot",))
    first = judged(people).reports["oracle"].condition(ZERO).targets[0]
    assert first.p_yes == pytest.approx(1 / 7)
    people.questionnaires.set_question(NAME, "t0", form=Form.STATEMENT, person="ann")
    again = judged(people).reports["oracle"].condition(ZERO).targets[0]
    assert again.p_yes == pytest.approx(2 / 3)


def test_a_template_that_changed_is_said_of_its_prompts_and_one_that_is_back_counts_again(
    store: Store,
) -> None:
    templates = tuple(shipped_templates("questionnaire"))
    store.instruments.add(panel())
    predict(store, lambda _: (0.4, 0.2), conditions=("qm", "zero-shot"))
    for name, prompts in (("statement", 19), ("statement-zero-shot", 2)):
        other = tuple(replace(t, user=f"Say {t.user}") if t.name == name else t for t in templates)
        store.instruments.add(replace(panel(), templates=other))
        (note,) = judged(store).notes
        assert (
            f"{prompts} of 21 prompts show answers, questions or instructions that have changed "
            "since" in note
        )
    other = tuple(replace(t, user=f"Say {t.user}") for t in templates)
    store.instruments.add(replace(panel(), templates=other))
    predict(store, lambda _: (0.1, 0.6), conditions=("qm", "zero-shot"))
    for used, share in ((other, 1 / 7), (templates, 2 / 3)):
        store.instruments.add(replace(panel(), templates=used))
        found = judged(store)
        assert all("was asked several versions of the template" in note for note in found.notes)
        assert [found.reports["oracle"].condition(of).p_yes for of in (QM, ZERO)] == pytest.approx(
            [share, share]
        )


def reworded(instrument: Instrument, **changes: object) -> Instrument:
    """Return an instrument whose `t0` has another text, and is another question."""
    assert instrument.questionnaire is not None
    first, *more = instrument.statements[len(CONTEXT)].wordings
    other = replace(
        instrument.statements[len(CONTEXT)], wordings=(replace(first, text="Is t0 good?"), *more)
    )
    asked_ = instrument.questionnaire
    questions = tuple(replace(q, **changes) if q.ref == "t0" else q for q in asked_.questions)  # type: ignore[arg-type]
    statements = tuple(other if s.ref == "t0" else s for s in instrument.statements)
    return replace(
        instrument, statements=statements, questionnaire=replace(asked_, questions=questions)
    )


def test_a_text_that_changed_together_with_its_form_is_replaced_by_asking_again(
    people: Store,
) -> None:
    predict(people, lambda _: (0.4, 0.2), conditions=("qm", "zero-shot"))
    people.instruments.add(reworded(panel(), form=Form.QUESTION))
    assert "oracle was asked earlier texts of t0" in judged(people).notes[-1]
    predict(people, lambda _: (0.1, 0.6), conditions=("qm", "zero-shot"))
    found = judged(people)
    assert found.notes == ()
    assert [
        found.reports["oracle"].condition(of).targets[0].p_yes for of in (QM, ZERO)
    ] == pytest.approx([1 / 7] * 2)


def test_people_who_are_asked_about_no_more_do_not_keep_a_changed_text_from_being_replaced(
    people: Store,
) -> None:
    predict(people, lambda _: (0.4, 0.2), respondents=6)
    people.instruments.add(reworded(panel()))
    people.questionnaires.set_scale(
        NAME, AGREEMENT.remapped({"disagree": Meaning.NEUTRAL}), person="ann"
    )
    before = judged(people)
    left = before.reports["oracle"].condition(QM).targets[0].respondents
    assert 0 < left < 6
    assert "earlier texts of t0" in before.notes[-1]
    predict(
        people,
        lambda probe: "too long" if dict(probe.axes)["respondent"] > "r03" else (0.1, 0.6),
        respondents=6,
    )
    assert "earlier texts of t0" in judged(people).notes[-1], "as many were answered for before"
    predict(people, lambda _: (0.1, 0.6), respondents=6)
    found = judged(people)
    assert found.notes == ("Not predicted: r09, no answer of yes or no to any target.",)
    first = found.reports["oracle"].condition(QM).targets[0]
    assert (first.respondents, first.p_yes) == (left, pytest.approx(1 / 7))


def test_who_was_drawn_of_fewer_people_counts_when_there_are_more(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2), conditions=("qm", "zero-shot"), respondents=4)
    more = (
        Respondent(f"n{i:02}", dict.fromkeys((*CONTEXT[i % 7 :], "t0"), "yes") | {"t0": "agree"})
        for i in range(30)
    )
    people.questionnaires.add_answers(NAME, more)
    found = judged(people).reports["oracle"]
    assert [found.condition(of).targets[0].respondents for of in (QM, ZERO)] == [4, 4]


def test_people_are_read_by_the_scales_of_now(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    people.questionnaires.set_scale(
        NAME, AGREEMENT.remapped({"disagree": Meaning.NEUTRAL}), person="ann"
    )
    first = judged(people).reports["oracle"].condition(QM).targets[0]
    assert (first.respondents, first.human) == (5, 1.0)
    assert judged(people).notes == ("Not predicted: r09, no answer of yes or no to any target.",)


def test_prompts_that_failed_count_nowhere_and_say_why(people: Store) -> None:
    def by(probe: Probe) -> Masses | str:
        return (
            "it has 3,000 tokens; 2,048 fit"
            if dict(probe.axes)["respondent"] in ("r03", "r04")
            else (0.4, 0.2)
        )

    predict(people, by)
    found = judged(people)
    assert [row.respondents for row in found.reports["oracle"].condition(QM).targets] == [8, 7]
    assert found.notes == (
        "oracle: 4 prompts failed and do not count: it has 3,000 tokens; 2,048 fit (4).",
    )


def test_a_model_of_which_everything_failed_says_so_and_the_others_go_on(people: Store) -> None:
    predict(people, lambda _: "out of memory", card("large"))
    with pytest.raises(
        UsageError, match="none of its 19 prompts was scored, all failed: out of memory"
    ):
        judged(people)
    predict(people, lambda _: (0.4, 0.2))
    found = judged(people)
    assert tuple(found.reports) == ("oracle",)
    assert "out of memory" in found.notes[0]


def test_targets_that_were_left_or_never_asked_are_named(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    people.questionnaires.set_question(NAME, "t1", role=QuestionRole.CONTEXT, person="ann")
    people.questionnaires.set_question(
        NAME, "c9", role=QuestionRole.TARGET, form=Form.QUESTION, person="ann"
    )
    notes = " ".join(judged(people).notes)
    assert "9 prompts left out, about questions that are no longer targets" in notes
    assert "oracle: no answer on c9." in notes


def test_a_target_that_nobody_answered_with_yes_or_no_is_named(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    neutral = AGREEMENT.remapped({"agree": Meaning.NEUTRAL, "disagree": Meaning.NEUTRAL})
    people.questionnaires.set_scale(NAME, neutral, person="ann")
    assert "No respondent answered t0, t1 with yes or no." in judged(people).notes


def test_runs_of_one_model_are_told_apart_and_found_by_name(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2))
    predict(people, lambda _: (0.4, 0.2), card(dtype="bfloat16"))
    predict(people, lambda _: (0.4, 0.2), card(dtype="bfloat16", chat_format="abcdef0123456789"))
    predict(people, lambda _: (0.4, 0.2), card("other"))
    found = judged(people)
    assert tuple(found.reports) == (
        "oracle · float32",
        "oracle · bfloat16 · chat format none",
        "oracle · bfloat16 · chat format abcdef01",
        "other",
    )
    assert found.name("other") == "other"
    assert found.name("oracle · float32") == "oracle · float32"
    with pytest.raises(AmbiguousRun, match="'oracle' was asked in 3 ways"):
        found.name("oracle")
    with pytest.raises(
        UnknownName, match=r"there is no run or model 'x'\. Available: oracle · float32"
    ):
        found.name("x")
    assert tuple(judged(people, dtype="float32").reports) == ("oracle", "other")
    assert tuple(judged(people, "other").reports) == ("other",)


def test_what_is_missing_is_named_with_what_is_there(people: Store) -> None:
    with pytest.raises(UnknownName, match="workbench run STORE --audit questionnaire --model NAME"):
        judged(people)
    with pytest.raises(UnknownName, match="no model was asked panel"):
        judge_questionnaire(people, AnswerSelection(NAME))
    predict(people, lambda _: (0.4, 0.2))
    with pytest.raises(
        UnknownName, match=r"no questionnaire answers by nobody. Models with answers: oracle"
    ):
        judged(people, "nobody")
    with pytest.raises(UnknownName, match=r"in float16\. Available: float32"):
        judged(people, dtype="float16")
    with pytest.raises(UnknownName, match=r"under the condition 'random'\. Available: qm"):
        results_of(judged(people)).select_conditions("random")
    people.instruments.add(panel(name="second"))
    predict(people, lambda _: (0.4, 0.2), instrument="second")
    with pytest.raises(UsageError, match="2 questionnaires were asked: panel, second"):
        judged(people)
    for ref in TARGETS:
        people.questionnaires.set_question("second", ref, role=QuestionRole.CONTEXT, person="ann")
    with pytest.raises(UsageError, match="second has no target question"):
        judge_questionnaire(people, AnswerSelection("second"))


def test_every_figure_leads_down_to_people_and_their_prompts(people: Store) -> None:
    predict(people, ideal(people), conditions=("qm", "zero-shot"))
    found = judged(people)
    rows = predictions_of(found, "oracle", "t1", QM)
    assert [row.respondent for row in rows] == [f"r{i:02}" for i in range(1, 10)], (
        "r00 is neutral there"
    )
    assert [(row.value, row.human, row.predicted, row.correct) for row in rows[-2:]] == [
        ("agree", 1, 1, True),
        ("disagree", 0, 0, True),
    ]
    figure = found.reports["oracle"].condition(QM).targets[1]
    assert np.mean([row.correct for row in rows]) == figure.accuracy.value
    assert np.mean([row.p_yes - row.human for row in rows]) == figure.bias.value
    shown = prompt_asked(people, found, "oracle", rows[0].probe)
    assert (shown.target, shown.respondent, shown.condition, shown.variant) == (
        "t1",
        "r01",
        QM,
        ORIGINAL,
    )
    assert shown.prompt.context == 2 * len(CONTEXT)
    assert [m.content for m in shown.prompt.messages[:2]] == [
        "Please respond with 'yes' or 'no': Should c0 be so?",
        "no",
    ]
    assert "t1 is good." in shown.prompt.messages[-1].content
    assert [shown.yes, shown.no] == pytest.approx([0.9, 0.0])
    assert [token.mark for token in shown.tokens if "es" in token.text.casefold()] == ["yes"] * 3
    assert [token.counted for token in shown.tokens] == [True] * 10 + [False]
    assert sum(token.probability for token in shown.tokens) + shown.rest == pytest.approx(1)
    assert (shown.provenance.model, shown.provenance.code_version, shown.provenance.seed) == (
        "oracle",
        "code-1",
        0,
    )
    assert shown.provenance.job == 1
    with pytest.raises(UnknownName, match="no next tokens of the prompt 999"):
        prompt_asked(people, found, "oracle", 999)
    with pytest.raises(UnknownName, match=r"no target 'c0'\. Its targets: t0, t1"):
        predictions_of(found, "oracle", "c0", QM)
    assert predictions_of(found, "oracle", "t0", RANDOM) == ()


def test_a_prompt_without_context_stands_for_everybody_who_answered(people: Store) -> None:
    predict(people, ideal(people), conditions=("qm", "zero-shot"))
    rows = predictions_of(judged(people), "oracle", "t0", ZERO)
    assert len(rows) == 10
    assert len({row.probe for row in rows}) == 1
    assert {row.predicted for row in rows} == {1}, "a tie is a yes"
    assert sum(row.correct for row in rows) == 5


def test_shares_of_the_next_token_add_up_to_one(people: Store) -> None:
    predict(people, lambda _: (0.5, 0.2))
    shares = token_shares(judged(people), "oracle", "t0", QM)
    assert shares.prompts == 10
    assert [shares.yes, shares.no] == pytest.approx([0.5, 0.2])
    assert shares.other == pytest.approx(0.28)
    assert shares.yes + shares.no + shares.other + shares.rest == pytest.approx(1)
    every = token_shares(
        judged(people, options=replace(FEW, masses="vocabulary")), "oracle", "t0", QM
    )
    assert [every.yes, every.other] == pytest.approx([0.52, 0.28])
    assert every.yes + every.no + every.other + every.rest == pytest.approx(1)


def test_the_mean_variability_is_undefined_where_a_target_has_none(people: Store) -> None:
    def by(probe: Probe) -> Masses:
        if probe.statement == "t0" and dict(probe.axes)["condition"] == "zero-shot":
            return 0.0, 0.0
        return (0.9, 0.0) if probe.variant == "paraphrase-1" else (0.0, 0.9)

    variants = ("original", "paraphrase-1", "paraphrase-2")
    predict(people, by, conditions=("qm", "zero-shot"), variants=variants, every=1)
    report = judged(people).reports["oracle"]
    assert report.mean_variability(QM) == pytest.approx(0.5), (
        "biases 1 apart: a deviation of a half"
    )
    assert math.isnan(report.mean_variability(ZERO))
    assert [row.k for row in report.variability(QM)] == [2, 2]
    assert len(predictions_of(judged(people), "oracle", "t0", QM, FIRST)) == 10


def test_people_who_come_later_change_nobody_elses_context(people: Store) -> None:
    predict(people, lambda _: (0.4, 0.2), conditions=("all",))
    more = Respondent("new", dict.fromkeys(CONTEXT, "yes") | {"t0": "agree", "t1": "agree"})
    people.questionnaires.add_answers(NAME, [more])
    found = judged(people)
    assert found.notes == ()
    assert found.reports["oracle"].condition(QM).targets[0].respondents == 10


def test_a_condition_that_only_another_model_was_asked_is_none_of_a_model_whose_prompts_have_its_text(
    store: Store,
) -> None:
    base = panel()
    assert base.questionnaire is not None
    short = tuple(
        replace(
            one,
            answers={ref: value for ref, value in one.answers.items() if ref in ("c0", *TARGETS)},
        )
        for one in base.questionnaire.respondents
    )
    store.instruments.add(
        replace(base, questionnaire=replace(base.questionnaire, respondents=short))
    )
    predict(store, ideal(store), card("first"), conditions=("qm", "random", "permuted-kept-1"))
    predict(store, ideal(store), card("second"), conditions=("qm",))
    reports = judged(store).reports
    assert {condition.name for condition in reports["first"].conditions} == {
        "qm",
        "random",
        "permuted-kept-1",
    }
    assert reports["second"].conditions == (QM,)
    predict(store, ideal(store), card("second"), conditions=("zero-shot",), seed=3)
    assert judged(store).reports["second"].conditions == (QM, ZERO)


def test_a_model_that_only_another_questionnaire_was_put_to_has_no_figures_of_this_one(
    people: Store,
) -> None:
    predict(people, lambda _: (0.4, 0.2), conditions=("qm", "zero-shot"))
    people.instruments.add(panel(name="long"))
    with pytest.raises(UnknownName, match="no model was asked long"):
        judge_questionnaire(people, AnswerSelection("long"), FEW)
    predict(
        people, lambda _: (0.1, 0.6), card("third"), instrument="long", conditions=("zero-shot",)
    )
    found = judge_questionnaire(people, AnswerSelection("long"), FEW)
    assert tuple(found.reports) == ("third",), (
        "zero-shot of long has the texts of what oracle was asked for panel"
    )
    assert tuple(judge_questionnaire(people, AnswerSelection(NAME), FEW).reports) == ("oracle",)
    predict(people, lambda _: (0.4, 0.2), instrument="long")
    found = judge_questionnaire(people, AnswerSelection("long"), FEW)
    assert found.reports["oracle"].conditions == (QM,), (
        "a job that found all stored says that qm was asked for"
    )
    assert found.reports["oracle"].condition(QM).targets[0].respondents == 10
