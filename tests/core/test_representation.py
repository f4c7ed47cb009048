"""Representation: distributions of answers to survey questions, and whose they are like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

from stores.core.store import Store
from tests.cli.test_commands import given as arguments
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask
from workbench import registry
from workbench.audits.chosen_run import start_with
from workbench.audits.claims import OfModel, sentences_of
from workbench.audits.representation.asking import as_many
from workbench.audits.representation.findings import nearest_by
from workbench.audits.representation.judged import LikenessData
from workbench.audits.representation.likeness import (
    FIRST,
    POSITION,
    ComparedQuestion,
    LetterSample,
    Likenesses,
    likeness,
)
from workbench.audits.representation.options import LikenessOptions
from workbench.audits.representation.result import OTHER_PERSONAS
from workbench.audits.representation.tables import over_pairs
from workbench.audits.result import Result
from workbench.commands.run import RunCommand
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Message, Persona, PersonaKind, TemplateChoice
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    PublishedShares,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
)
from workbench.domain.responses import EXACT, Drawn, Request, Sampling
from workbench.domain.rulings import RulingVerdict
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.errors import UnknownName, UsageError
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.runs import AnswerSelection
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.inference.scripted.model import ScriptedModel
from workbench.stats.hypothesis_tests import holm
from workbench.stats.populations import CodedPeople, Population, populations
from workbench.tui.results.loaded import Settings
from workbench.tui.results.result_screen import load

AMOUNT = Scale(
    "amount",
    (
        *(
            AnswerOption((word,), Meaning.STEP)
            for word in ("a great deal", "some", "a little", "none")
        ),
        AnswerOption(("refused", "99"), Meaning.MISSING),
    ),
)
TOPIC = Scale(
    "topic",
    tuple(AnswerOption((word,), Meaning.OPTION) for word in ("roads", "schools", "clinics")),
)
SHARES = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda values: sum(values) > 0.01)
MEASURES = ("wasserstein", "total_variation", "jensen_shannon")


@given(SHARES, SHARES, st.sampled_from(MEASURES), st.booleans())
def test_likeness_is_a_share_that_is_whole_for_equal_answers(
    p: list[float], q: list[float], measure: str, ordered: bool
) -> None:
    a, b = np.array(p), np.array(q)
    found = float(likeness(a, b, measure, ordered=ordered))
    assert -1e-9 <= found <= 1 + 1e-9
    assert found == pytest.approx(float(likeness(b, a, measure, ordered=ordered)))
    assert float(likeness(a, a, measure, ordered=ordered)) == pytest.approx(1)


@given(SHARES, SHARES)
def test_distances_are_those_of_scipy(p: list[float], q: list[float]) -> None:
    a, b = np.array(p), np.array(q)
    steps = [0, 1, 2]
    moved = 1 - wasserstein_distance(steps, steps, a, b) / 2
    assert float(likeness(a, b, "wasserstein", ordered=True)) == pytest.approx(moved, abs=1e-9)
    shannon = 1 - jensenshannon(a, b, base=2)
    assert float(likeness(a, b, "jensen_shannon", ordered=True)) == pytest.approx(shannon, abs=1e-6)
    variation = 1 - np.abs(a / a.sum() - b / b.sum()).sum() / 2
    assert float(likeness(a, b, "wasserstein", ordered=False)) == pytest.approx(variation)


def person(n: int, answers: Mapping[str, str], weight: float = 1.0, **groups: str) -> Respondent:
    return Respondent(f"p{n}", answers, weight, groups)


def survey(
    people: Sequence[Respondent], published: Sequence[PublishedShares] = ()
) -> Questionnaire:
    questions = (
        Question("q1", QuestionRole.SURVEY, scale="amount"),
        Question("q2", QuestionRole.SURVEY, scale="topic"),
    )
    return Questionnaire(questions, (AMOUNT, TOPIC), tuple(people), tuple(published))


ASKED = {
    "q1": ComparedQuestion(("a great deal", "some", "a little", "none"), True),
    "q2": ComparedQuestion(tuple(TOPIC.described().split(", ")), False),
}


def test_people_count_by_their_weights_and_a_refusal_is_no_answer() -> None:
    people = [
        person(1, {"q1": "some", "q2": "roads"}, 3, age="old"),
        person(2, {"q1": "none", "q2": "clinics"}, 1, age="old"),
        person(3, {"q1": "99"}, 8, age="young"),
        person(4, {"q1": "some"}, 0, age="young"),
    ]
    everybody, old = populations(survey(people), ASKED, (), 1)
    assert everybody.shares["q1"].shares == (0, 0.75, 0, 0.25)
    assert (everybody.shares["q1"].people, everybody.shares["q1"].effective_n) == (2, 1.6)
    assert everybody.design_effect == pytest.approx(1.25)
    assert (old.name, old.shares["q2"].shares) == ("age=old", (0.75, 0, 0.25))
    assert populations(survey(people), ASKED, (), 2) == []
    assert [one.name for one in populations(survey(people), ASKED, ("sex",), 1)] == ["everybody"]


def test_published_shares_are_a_population_without_refusals() -> None:
    given_shares = {"a great deal": 0.4, "some": 0.2, "refused": 0.4}
    published = [
        PublishedShares("q1", "country", "Veldania", given_shares, 900),
        PublishedShares("q1", "country", "Ostland", {"none": 1.0}),
        PublishedShares("q2", "country", "Veldania", {"roads": 1.0}, 20),
    ]
    ostland, veldania = populations(survey([], published), ASKED, (), 30)
    assert veldania.shares["q1"].shares == pytest.approx((2 / 3, 1 / 3, 0, 0))
    assert set(veldania.shares) == {"q1"}, "too few people answered the other one"
    assert (veldania.known, ostland.known) == (True, False)
    assert veldania.people == 540, "those who refused answered nothing"
    assert np.isnan(ostland.people)


def drawn_people(
    rng: np.random.Generator, n: int, ways: Sequence[float], at: str, refs: Sequence[str]
) -> list[Respondent]:
    words = ASKED["q1"].options
    chosen = rng.choice(4, (n, len(refs)), p=ways)
    return [
        person(
            int(rng.integers(10**9)),
            {ref: words[code] for ref, code in zip(refs, codes, strict=True)},
            1,
            town=at,
        )
        for codes in chosen
    ]


def many(
    answers: Sequence[float],
    groups: Mapping[str, Sequence[float]],
    n: int = 200,
    questions: int = 12,
) -> Likenesses:
    """Return what a model that answers every question alike is like, with people drawn in
    groups.
    """
    rng = np.random.default_rng(4)
    refs = [f"q{i}" for i in range(questions)]
    people = [one for at, ways in groups.items() for one in drawn_people(rng, n, ways, at, refs)]
    asked = dict.fromkeys(refs, ASKED["q1"])
    whole = Questionnaire(
        tuple(Question(ref, QuestionRole.SURVEY, scale="amount") for ref in refs),
        (AMOUNT,),
        tuple(people),
    )
    there = populations(whole, asked, (), 30)
    return Likenesses(
        dict.fromkeys(refs, np.array(answers)),
        dict.fromkeys(refs, 0),
        asked,
        there,
        MEASURES[0],
        1,
        500,
    )


def test_the_nearest_group_is_the_one_that_answers_alike_and_its_rank_is_sure() -> None:
    of = many([0.7, 0.1, 0.1, 0.1], {"A": [0.1, 0.1, 0.1, 0.7], "B": [0.6, 0.2, 0.1, 0.1]})
    first, second = of.rankings["town"]
    assert (first.population.value, first.rank, first.ranks) == ("B", 1, (1, 1))
    assert second.p < 1e-6
    assert second.behind is not None
    assert second.behind.value == pytest.approx(first.at_equal_n - second.at_equal_n)


def test_groups_that_answer_alike_share_their_ranks() -> None:
    ways = [0.4, 0.3, 0.2, 0.1]
    ranked = many([0.7, 0.1, 0.1, 0.1], {"A": ways, "B": ways, "C": ways}).rankings["town"]
    assert all(one.ranks[0] < one.ranks[1] for one in ranked)
    assert ranked[1].p > 0.05


def test_people_alone_give_an_interval_where_every_question_is_alike() -> None:
    of = many([0.25] * 4, {"A": [0.7, 0.1, 0.1, 0.1]}, questions=2)
    (everybody, _) = of.populations
    alone = Population("", "", everybody.shares, known=False)
    assert (
        of.to_population(everybody).high - of.to_population(everybody).low
        > of.to_population(alone).high - of.to_population(alone).low
    )


class ByText(ScriptedModel):
    """Answers with the letter of the first of its words that is among the options; else the first
    letter.
    """

    words: Sequence[str] = ()

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for place, request in enumerate(requests):
            said = " ".join(message.content for message in request.prompt.messages)
            lines = [line for line in said.splitlines() if line[1:3] == ". "]
            words = [word for word in ("none", *self.words) if word != "none" or "like B" in said]
            found = [line[0] for word in words for line in lines if line[3:] == word]
            yield Drawn(place, ((found[0] if found else "A", request.n),))


def text_of(ref: str) -> str:
    return f"How much do you think of {ref}?"


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Store]:
    """A store with eight questions and people of two towns: those of A say a great deal, those of B
    none.
    """
    refs = [f"q{i}" for i in range(8)]
    rng = np.random.default_rng(7)
    people = [
        one
        for at, ways in (("A", [0.7, 0.1, 0.1, 0.1]), ("B", [0.1, 0.1, 0.1, 0.7]))
        for one in drawn_people(rng, 60, ways, at, refs)
    ]
    questions = tuple(Question(ref, QuestionRole.SURVEY, Form.QUESTION, "amount") for ref in refs)
    statements = tuple(Statement(ref, (Wording(ORIGINAL, "en", text_of(ref)),)) for ref in refs)
    with new_store(tmp_path / "survey.db") as store:
        whole = Questionnaire(questions, (AMOUNT,), tuple(people))
        store.instruments.add(Instrument("survey", "Survey", statements, questionnaire=whole))
        yield store


DESIGN = Design("survey", "told", "representation", 4, Sampling(max_new_tokens=1), family="survey")


def told(*words: str) -> ScriptedModel:
    model = ByText(name="told")
    model.words = words
    return model


def judged(store: Store, which: AnswerSelection | None = None, **options: Any) -> Result:
    audit = registry.audit("representation")
    (chosen, *_) = audit.narrowed(store, which or AnswerSelection())
    return audit.judge(store, chosen, LikenessOptions(**options), lambda: nullcontext(store))


def found_in(result: Result) -> LikenessData:
    assert isinstance(result.judged, LikenessData)
    return result.judged


def test_a_model_that_goes_by_the_words_is_moved_by_no_order(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    found = found_in(judged(asked))
    assert found.answers["told"].both["q0"].tolist() == [0, 1, 0, 0]
    assert found.answers["told"].moved() == 0
    assert found.answers["told"].drawn["q0"] == 8


def test_a_model_that_goes_by_the_letters_is_moved_by_the_order_and_stands_in_the_middle(
    asked: Store,
) -> None:
    ask(asked, told(), DESIGN)
    found = found_in(judged(asked))
    assert found.answers["told"].both["q0"].tolist() == [0.5, 0, 0, 0.5]
    assert found.answers["told"].moved() == 1


def test_what_is_found_is_claimed_only_where_chance_would_not_do_it(asked: Store) -> None:
    ask(asked, told("a great deal"), DESIGN)
    result = judged(asked)
    findings = sentences_of(result.findings)
    said, tests = findings.sentences, findings.n_tests
    assert tests == 2
    assert any("Nearest group by town: told A" in str(one) for one in said), list(map(str, said))
    assert result.headline is not None
    assert "nearest to town=A" in result.headline.found
    assert result.book.table("groups", "told").rows[0].ranked.population.name == "town=A"
    options = result.book.behind["options"]("told", "q0")
    shares = {column.key: [column.value(row) for row in options.rows] for column in options.columns}
    assert shares["option"] == list(ASKED["q1"].options)
    assert shares["told"] == [1, 0, 0, 0]
    assert np.array(shares["town=A"], dtype=float).sum() == pytest.approx(1)
    with pytest.raises(UnknownName, match="no model"):
        result.book.behind["questions"]("nobody")
    with pytest.raises(UnknownName, match="both orders"):
        result.book.behind["options"]("told", "q99")


def test_a_persona_that_is_called_like_a_group_moves_towards_it(asked: Store) -> None:
    like_b = Persona("town=B", PersonaKind.SYSTEM, (Message("system", "Answer like B."),))
    ask(asked, told("a great deal"), replace(DESIGN, personas=(like_b,)))
    result = judged(asked, AnswerSelection(templates=TemplateChoice(personas=("all",))))
    rows = result.book.table("personas").rows
    assert [
        (row.population.name, row.meant, round(row.change.value, 1) > 0) for row, _ in rows
    ] == [
        ("town=B", True, True),
        ("everybody", False, False),
        ("town=A", False, False),
    ]
    (first, _), *_ = rows
    assert first.way == pytest.approx(first.change.value / (1 - first.without.value))
    said = sentences_of(result.findings).sentences
    assert any("Significant move towards the group of the persona" in str(one) for one in said)


def test_options_that_were_changed_since_are_not_compared(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    before = found_in(judged(asked)).likenesses["told"].overall
    more = replace(
        AMOUNT,
        options=(
            *AMOUNT.options[:4],
            AnswerOption(("nothing at all",), Meaning.STEP),
            AMOUNT.options[4],
        ),
    )
    asked.questionnaires.set_scale("survey", more, person="eva")
    result = judged(asked)
    assert any("other options" in note for note in result.book.notes)
    assert found_in(result).likenesses["told"].refs == ()
    ask(asked, told("some"), replace(DESIGN, statements=("q0",)))
    result = judged(asked)
    assert found_in(result).likenesses["told"].refs == ("q0",), (
        "asked anew, with the options of today alone"
    )
    assert not any("q0" in note for note in result.book.notes if "other options" in note)
    asked.questionnaires.set_scale("survey", AMOUNT, person="eva")
    assert found_in(judged(asked)).likenesses["told"].overall == before
    turned = replace(AMOUNT, options=(*AMOUNT.options[1::-1], *AMOUNT.options[2:]))
    asked.questionnaires.set_scale("survey", turned, person="eva")
    assert found_in(judged(asked)).likenesses["told"].refs == ()


def test_a_question_that_is_put_in_another_form_now_is_not_compared_and_never_mixed(
    asked: Store,
) -> None:
    ask(asked, told("some"), DESIGN)
    asked.questionnaires.set_question("survey", "q0", person="eva", form=Form.STATEMENT)
    asked.questionnaires.set_question("survey", "q1", person="eva", role=None)
    result = judged(asked)
    assert "q0" not in found_in(result).likenesses["told"].refs
    assert any(note.endswith("any more: q0, q1") for note in result.book.notes), result.book.notes
    ask(asked, told("a little"), replace(DESIGN, statements=("q0",)))
    assert found_in(judged(asked)).likenesses["told"].answers["q0"].tolist() == [0, 0, 1, 0]


def test_a_question_that_was_renamed_or_archived_keeps_its_answers(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    asked.statements.rename("survey", "q1", "qx", person="eva")
    asked.statements.archive("survey", ["q2"], person="eva")
    assert found_in(judged(asked)).likenesses["told"].refs == (
        "q0",
        "qx",
        *(f"q{n}" for n in range(3, 8)),
    )
    asked.statements.restore("survey", ["q2"], person="eva")
    assert "q2" in found_in(judged(asked)).likenesses["told"].refs


def test_what_stands_above_figures_stands_above_those_of_a_shell_too(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    thing = subjects.find_subject(asked, "q0")
    subjects.add_ruling(
        asked, thing, RulingVerdict.EXCLUDED, auditor="otto", reason="odd", reading=None, model=""
    )
    book = judged(asked).book
    assert book.header
    assert [*book.told][: len(book.header)] == [*book.header]
    assert any(line.startswith("1 ruling") for line in book.told), book.told


def test_a_model_without_a_question_that_can_be_compared_is_said_to_have_none(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    asked.questionnaires.set_scale(
        "survey", replace(AMOUNT, options=AMOUNT.options[::-1]), person="eva"
    )
    result = judged(asked)
    assert result.headline is not None
    assert result.headline.found == "no question can be compared"
    findings = sentences_of(result.findings)
    said, tests = findings.sentences, findings.n_tests
    assert (list(said), tests) == ([], 0)
    assert not any("no rank" in note for note in result.book.notes)


def test_groups_that_are_too_small_are_named(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    alone = Respondent("alone", {"q0": "some"}, 1.0, {"town": "C"})
    asked.questionnaires.add_answers("survey", [alone])
    result = judged(asked)
    assert (
        "town=C: excluded: no question has 30 or more answers from them (effective number)"
        in result.book.notes
    )
    assert "C" not in [
        row.ranked.population.value for row in result.book.table("groups", "told").rows
    ]
    assert "each counted once" in judged(asked, unweighted=True).book.methods


def test_people_are_read_as_numbers_as_they_are_as_texts(asked: Store) -> None:
    more = [
        Respondent("x", {"q0": "99", "q1": "SOME"}, 2.5, {"town": "A", "age": "old"}),
        Respondent("y", {"q7": "refused"}, 0.0),
    ]
    asked.questionnaires.add_answers("survey", more)
    asked.statements.archive("survey", ["q2"], person="eva")
    whole = asked.questionnaires.get("survey")
    assert whole is not None
    texts, numbers = CodedPeople.of(whole), asked.questionnaires.coded("survey")
    assert list(texts.codes) == list(numbers.codes)
    assert all((texts.codes[ref] == numbers.codes[ref]).all() for ref in texts.codes)
    assert texts.weights.tolist() == numbers.weights.tolist()
    assert {kind: of.tolist() for kind, of in texts.groups.items()} == {
        kind: of.tolist() for kind, of in numbers.groups.items()
    }
    assert asked.questionnaires.get("survey", people=False) == replace(whole, respondents=())


def shares_of(
    ref: str, country: str, people: int | None = None, some: float = 0.5
) -> PublishedShares:
    return PublishedShares(ref, "country", country, {"some": some, "none": 1 - some}, people)


def test_countries_that_were_asked_other_questions_have_no_rank_and_do_not_take_it_from_the_others() -> (
    None
):
    refs = [f"q{n}" for n in range(8)]
    published = [
        shares_of(ref, country, 500, some)
        for country, some in (("A", 0.9), ("B", 0.3))
        for ref in refs
    ]
    published += [shares_of(ref, "C", 500) for ref in refs[:2]]
    asked_ = dict.fromkeys(refs, ASKED["q1"])
    whole = Questionnaire(
        tuple(Question(r, QuestionRole.SURVEY, scale="amount") for r in refs),
        (AMOUNT,),
        (),
        tuple(published),
    )
    answers = {ref: np.array([0.0, 1.0, 0.0, 0.0]) for ref in refs}
    of = Likenesses(
        answers,
        dict.fromkeys(refs, 0),
        asked_,
        populations(whole, asked_, (), 30),
        MEASURES[0],
        1,
        500,
    )
    assert [(one.population.value, one.rank, one.likeness.n) for one in of.rankings["country"]] == [
        ("A", 1, 8),
        ("B", 2, 8),
    ]
    assert [(one.population.value, one.rank, one.likeness.n) for one in of.unranked("country")] == [
        ("C", None, 2)
    ]


def test_published_shares_of_people_who_are_known_are_not_a_second_population() -> None:
    people = [person(n, {"q1": "some"}, country="A") for n in range(40)]
    published = [shares_of("q1", "A", 900), shares_of("q1", "B", 900)]
    found = populations(survey(people, published), ASKED, (), 30)
    assert [(one.name, one.people) for one in found] == [
        ("everybody", 40),
        ("country=A", 40),
        ("country=B", 900),
    ]


def test_of_many_groups_that_are_as_near_hardly_one_is_shown_to_be_farther() -> None:
    ways = [0.4, 0.3, 0.2, 0.1]
    ranked = many([0.7, 0.1, 0.1, 0.1], {f"g{n}": ways for n in range(8)}, n=60).rankings["town"]
    plain = holm(np.array([one.p for one in ranked[1:]]))
    found = np.array(over_pairs(ranked)[1:])
    assert (found >= plain).all()
    assert found.min() == pytest.approx(min(1.0, min(one.p for one in ranked[1:]) * 28)), (
        "over 28 pairs of 8 groups"
    )
    assert over_pairs([]) == []


def test_letters_that_are_few_in_one_order_are_as_noisy_as_few_letters() -> None:
    assert as_many([[50], [50]]) == 100
    assert as_many([[20, 20], [20, 20]]) == 80
    assert as_many([[50], [1]]) == 4
    assert as_many([[0], [0]]) == 0


def test_steering_is_about_the_questions_that_both_answered(asked: Store) -> None:
    like_b = Persona("B", PersonaKind.SYSTEM, (Message("system", "Answer like B."),))
    unlike = Persona("nobody", PersonaKind.SYSTEM, (Message("system", "Answer like nobody."),))
    few = ("q0", "q1", "q2")
    ask(asked, told("a great deal"), replace(DESIGN, personas=(like_b, unlike), statements=few))
    alone = (
        judged(asked, AnswerSelection(templates=TemplateChoice(personas=("all",))))
        .book.table("personas")
        .rows
    )
    ask(asked, told("a great deal"), DESIGN)
    rows = (
        judged(asked, AnswerSelection(templates=TemplateChoice(personas=("all",))))
        .book.table("personas")
        .rows
    )
    assert [(row.without, row.with_it, row.change) for row, _ in rows] == [
        (row.without, row.with_it, row.change) for row, _ in alone
    ]
    assert {row.without.n for row, _ in rows} == {3}
    assert [row.population.name for row, _ in rows if row.meant] == ["town=B"]
    p = [row.p for row, _ in rows]
    assert [adjusted for _, adjusted in rows] == pytest.approx(
        holm(np.array(p)).tolist(), nan_ok=True
    )


def test_a_ruling_leaves_an_answer_out(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    thing = subjects.find_subject(asked, "q0")
    subjects.add_ruling(
        asked, thing, RulingVerdict.EXCLUDED, auditor="otto", reason="odd", reading=None, model=""
    )
    assert "q0" not in found_in(judged(asked)).likenesses["told"].refs


def test_who_is_not_there_is_named(asked: Store, store: Store) -> None:
    with pytest.raises(UsageError, match="nobody was asked"):
        registry.audit("representation").judge(
            store, AnswerSelection("x"), LikenessOptions(), lambda: nullcontext(store)
        )
    ask(asked, told("some"), DESIGN)
    with pytest.raises(UnknownName, match="grouped by income"):
        judged(asked, by="income")
    with pytest.raises(UsageError, match="none has answers of 500"):
        judged(asked, least=500)
    assert [one.kind for one in found_in(judged(asked, by="town")).populations] == [
        "",
        "town",
        "town",
    ]


def test_weights_count_unless_they_are_not_wanted(store: Store) -> None:
    people = [person(n, {"q0": "some"}, 3.0) for n in range(30)] + [
        person(n + 30, {"q0": "none"}) for n in range(30)
    ]
    statement = Statement("q0", (Wording(ORIGINAL, "en", text_of("q0")),))
    whole = Questionnaire(
        (Question("q0", QuestionRole.SURVEY, Form.QUESTION, "amount"),), (AMOUNT,), tuple(people)
    )
    store.instruments.add(Instrument("survey", "Survey", (statement,), questionnaire=whole))
    ask(store, told("some"), DESIGN)
    shares = [
        found_in(judged(store, unweighted=no)).populations[0].shares["q0"].shares[1]
        for no in (False, True)
    ]
    assert shares == [0.75, 0.5]


def test_every_measure_keeps_its_order_of_groups(asked: Store) -> None:
    ask(asked, told("a great deal"), DESIGN)
    for measure in MEASURES:
        ranked = found_in(judged(asked, measure=measure)).likenesses["told"].rankings["town"]
        assert [one.population.value for one in ranked] == ["A", "B"]


def test_other_options_on_the_same_answers_read_nothing_and_give_the_same(asked: Store) -> None:
    ask(asked, told("a great deal"), DESIGN)
    before = judged(asked)
    ask(asked, told("some"), replace(DESIGN, model="later"))
    other = LikenessOptions(measure="total_variation", unweighted=True)
    assert before.again is not None
    again = before.again(other)
    assert again is not None
    assert list(again.runs) == ["told"]
    now = judged(
        asked, AnswerSelection(models=("told",)), measure="total_variation", unweighted=True
    )
    assert (
        again.book.table("groups", "told").rows[0].ranked.likeness
        == now.book.table("groups", "told").rows[0].ranked.likeness
    )


def test_a_persona_whose_text_was_edited_is_still_meant_for_its_group(asked: Store) -> None:
    for text in ("Answer like B.", "Answer like B, please."):
        like_b = Persona("B", PersonaKind.SYSTEM, (Message("system", text),))
        ask(asked, told("a great deal"), replace(DESIGN, personas=(like_b,)))
    rows = (
        judged(asked, AnswerSelection(templates=TemplateChoice(personas=("all",))))
        .book.table("personas")
        .rows
    )
    meant = [row for row, _ in rows if row.meant]
    assert [row.population.name for row in meant] == ["town=B", "town=B"]
    assert all(row.runs.persona.startswith("B [") for row in meant)
    assert OTHER_PERSONAS in [entry.empty for entry in judged(asked).book.contents]


def test_who_wants_another_audit_of_a_survey_is_told_which_can_ask_it(asked: Store) -> None:
    said = start_with(asked, "questionnaire", "survey")
    assert said == (
        "survey is asked with --audit representation, not with --audit questionnaire. Start with: "
        "workbench run STORE --audit representation --instrument survey --model NAME"
    )
    assert start_with(asked, "representation").startswith(
        "Start with: workbench run STORE --audit representation"
    )
    assert start_with(asked, "reliability").endswith(
        "; survey is asked with --audit representation"
    )
    questionnaire = registry.audit("questionnaire")
    loaded = load(asked, questionnaire, Settings(questionnaire.options()))
    assert "choose the audit representation." in (loaded.empty or "")
    assert "--audit questionnaire" not in (loaded.empty or "")


def test_groups_that_are_exactly_as_near_share_the_first_rank_and_one_question_ranks_nobody() -> (
    None
):
    refs = [f"q{n}" for n in range(3)]
    published = [shares_of(ref, country) for ref in refs for country in ("A", "B")]
    questions = tuple(Question(ref, QuestionRole.SURVEY, scale="amount") for ref in refs)
    whole = Questionnaire(questions, (AMOUNT,), (), tuple(published))
    asked_ = dict.fromkeys(refs, ASKED["q1"])
    there = populations(whole, asked_, (), 30)
    answers = {ref: np.array([0.0, 1.0, 0.0, 0.0]) for ref in refs}
    of = Likenesses(answers, dict.fromkeys(refs, 0), asked_, there, MEASURES[0], 1, 500)
    assert [(one.rank, one.ranks) for one in of.rankings["country"]] == [(1, (1, 1))] * 2
    alone = replace(of, answers={"q0": answers["q0"]})
    assert alone.rankings["country"] == []
    assert [one.population.value for one in alone.unranked("country")] == ["A", "B"]


@pytest.mark.parametrize("weight", [1e308, 1e-300])
def test_weights_of_any_size_count_by_what_they_are_to_each_other(weight: float) -> None:
    people = [
        person(n, {"q1": "some" if n % 4 else "none"}, weight, town="A" if n % 2 else "B")
        for n in range(80)
    ]
    plain = [replace(one, weight=1.0) for one in people]
    heavy, one = (populations(survey(every), ASKED, (), 30) for every in (people, plain))
    for each, other in zip(heavy, one, strict=True):
        assert each.shares["q1"].shares == pytest.approx(other.shares["q1"].shares)
        assert each.effective_n == other.effective_n
    influence = {"q1": np.array([0.0, 1.0, 0.0, -1.0])}
    assert heavy[0].noise(influence)[0] == pytest.approx(one[0].noise(influence)[0])


def test_who_is_nearest_to_even_answers_is_said_beside_who_is_nearest_to_the_model(
    asked: Store,
) -> None:
    ask(asked, told("a great deal"), DESIGN)
    result = judged(asked)
    rows = {
        row.ranked.population.value: row.ranked.even
        for row in result.book.table("groups", "told").rows
    }
    of = found_in(result).likenesses["told"]
    for one in of.populations[1:]:
        shares = [np.array(each.shares) for each in one.shares.values()]
        wanted = [float(likeness(np.full(4, 0.25), q, "wasserstein", ordered=True)) for q in shares]
        assert rows[one.value] == pytest.approx(np.mean(wanted))
    said = sentences_of(result.findings).sentences
    nearest = next(one for one in said if one.said.startswith("Nearest group"))
    assert bool(nearest.doubts) == (rows["A"] > rows["B"])


def test_even_answers_that_are_nearest_to_the_same_group_are_a_doubt() -> None:
    of = many([0.55, 0.2, 0.15, 0.1], {"A": [0.5, 0.2, 0.2, 0.1], "B": [0.0, 0.0, 0.0, 1.0]})
    assert [one.population.value for one in of.rankings["town"]] == ["A", "B"]
    first, second = of.rankings["town"]
    assert first.even > second.even
    (claim,) = [nearest_by(LikenessData({}, {"told": of}, of.populations, {}, ()), "town")]
    (one,) = claim.said([0.001])
    assert isinstance(one, OfModel)
    assert one.doubt == "answers that are every option equally often are nearest to A, too"
    (one,) = claim.said([0.2])
    assert isinstance(one, OfModel)
    assert not one.doubt


def test_every_key_of_an_option_has_a_table_that_it_changes(asked: Store) -> None:
    ask(asked, told("some"), DESIGN)
    result = judged(asked)
    keys = {name for name, one in LikenessOptions.offered().items() if one.key}
    assert keys == {"measure", "unweighted"}
    assert keys <= {choice for entry in result.book.contents for choice in entry.choices}
    assert result.steps == {"unweighted": ()}, "all people count the same"
    asked.questionnaires.add_answers("survey", [Respondent("heavy", {"q0": "some"}, 2.0)])
    assert judged(asked).steps == {"unweighted": (False, True)}


def test_a_country_that_was_asked_far_more_does_not_keep_the_others_from_a_rank() -> None:
    refs = [f"q{n}" for n in range(12)]
    published = [shares_of(ref, "A", 500, 0.9) for ref in refs]
    published += [
        shares_of(ref, country, 500, 0.2) for country in ("B", "C", "D") for ref in refs[:4]
    ]
    published += [shares_of(ref, "E", 500) for ref in refs[10:]]
    questions = tuple(Question(ref, QuestionRole.SURVEY, scale="amount") for ref in refs)
    whole = Questionnaire(questions, (AMOUNT,), (), tuple(published))
    answers = {ref: np.array([0.0, 1.0, 0.0, 0.0]) for ref in refs}
    there = populations(whole, refs, (), 30)
    of = Likenesses(
        answers,
        dict.fromkeys(refs, 0),
        dict.fromkeys(refs, ASKED["q1"]),
        there,
        MEASURES[0],
        1,
        500,
    )
    assert [(one.population.value, one.likeness.n) for one in of.rankings["country"]] == [
        ("A", 4),
        ("B", 4),
        ("C", 4),
        ("D", 4),
    ]
    assert [one.population.value for one in of.unranked("country")] == ["E"]


WORDS = ASKED["q1"].options


def world(
    shares: np.ndarray[Any, Any], sizes: Mapping[str, int], rng: np.random.Generator
) -> tuple[dict[str, ComparedQuestion], list[Population]]:
    """Return questions, and people in groups that all think alike. shares : (questions, options)"""
    refs = [f"q{n}" for n in range(len(shares))]
    people: list[Respondent] = []
    for name, size in sizes.items():
        codes = (
            rng.random((size, len(refs)))[:, :, None] > shares.cumsum(axis=1)[None, :, :-1]
        ).sum(axis=2)
        for row in codes.tolist():
            answers = {ref: WORDS[code] for ref, code in zip(refs, row, strict=True)}
            people.append(person(len(people), answers, 1, town=name))
    questions = tuple(Question(ref, QuestionRole.SURVEY, scale="amount") for ref in refs)
    whole = Questionnaire(questions, (AMOUNT,), tuple(people))
    asked_ = dict.fromkeys(refs, ASKED["q1"])
    return asked_, populations(whole, asked_, (), 30)


def likenesses(
    answers: np.ndarray[Any, Any],
    letters: int,
    of: tuple[dict[str, ComparedQuestion], list[Population]],
    **more: Any,
) -> Likenesses:
    said = {f"q{n}": row for n, row in enumerate(answers)}
    return Likenesses(said, dict.fromkeys(said, letters), *of, MEASURES[0], 1, 200, **more)


def test_of_two_groups_that_think_alike_the_larger_is_not_always_the_nearest() -> None:
    rng = np.random.default_rng(2)
    firsts = []
    for _ in range(12):
        shares = rng.dirichlet([1.5] * 4, 20)
        ranked = likenesses(shares, 0, world(shares, {"large": 600, "small": 40}, rng)).rankings[
            "town"
        ]
        firsts.append(ranked[0].population.value)
        assert over_pairs(ranked)[1] > 0.05
    assert 2 <= firsts.count("large") <= 10, "by raw distances it was 12 of 12, each claimed"


@pytest.mark.parametrize(("letters", "raw"), [(100, 0.97), (50, 0.965)])
def test_a_model_that_answers_as_people_do_is_like_them_though_few_letters_were_drawn(
    letters: int, raw: float
) -> None:
    rng = np.random.default_rng(8)
    shares = rng.dirichlet([1.5] * 4, 60)
    of = likenesses(
        rng.multinomial(letters, shares) / letters, letters, world(shares, {"all": 500}, rng)
    )
    assert of.counted.value < raw
    assert of.overall.value > 0.98
    assert of.overall.high == pytest.approx(1.0)
    assert of.above_chance.high == pytest.approx(1.0)


def test_letters_that_do_not_vary_within_an_order_have_no_noise() -> None:
    rng = np.random.default_rng(4)
    of_people = world(rng.dirichlet([1.5] * 4, 8), {"all": 60}, rng)
    ends = np.tile([0.5, 0, 0, 0.5], (8, 1))
    sample = LetterSample(np.eye(4)[[0, 3]], np.array([50, 50]), np.array([0.5, 0.5]))
    fixed = likenesses(ends, 100, of_people, samples={f"q{n}": sample for n in range(8)})
    assert fixed.noise_of_letters(fixed.refs) == 0
    assert likenesses(ends, 100, of_people).noise_of_letters(fixed.refs) > 0.01


def test_answers_without_an_opinion_are_never_more_like_people_than_chance() -> None:
    rng = np.random.default_rng(5)
    shares = rng.dirichlet([9, 1, 1, 9], 40)
    of_people = world(shares, {"all": 200}, rng)
    first, mostly = np.tile([0.5, 0, 0, 0.5], (40, 1)), np.tile([0.42, 0.08, 0.08, 0.42], (40, 1))
    for answers in (first, mostly):
        positions = dict.fromkeys((f"q{n}" for n in range(40)), answers.mean(axis=0))
        of = likenesses(answers, 0, of_people, position=positions)
        assert of.over_random[1] < 0.001, "random letters are farther"
        assert of.weakest_claim[1] > 0.05
    told = likenesses(
        shares, 0, of_people, position=dict.fromkeys((f"q{n}" for n in range(40)), mostly[0])
    )
    assert told.weakest_claim[1] < 0.05


def test_refusing_where_it_is_unlike_people_gains_a_model_no_claim() -> None:
    rng = np.random.default_rng(6)
    shares = rng.dirichlet([1.5] * 4, 40)
    of_people = world(shares, {"all": 200}, rng)
    answers = np.concatenate([shares[:20], shares[20:, ::-1]])
    every = likenesses(answers, 0, of_people)
    missing = {f"q{n}": float(n >= 20) for n in range(40)}
    half = likenesses(answers[:20], 0, of_people, missing=missing)
    assert every.weakest_claim[1] > 0.05
    assert half.over_random[1] < 0.001
    assert half.weakest_claim[1] > 0.05
    assert half.bounds[0] < every.overall.value < half.bounds[1]
    assert half.missing_share == 0.5
    few = likenesses(
        answers[:20], 0, of_people, missing={f"q{n}": 0.01 * (n < 20) for n in range(20)}
    )
    assert few.weakest_claim[1] < 0.05, "hardly anything is missing"


def test_missing_answers_are_held_against_every_kind_of_answers_without_an_opinion() -> None:
    rng = np.random.default_rng(7)
    shares = rng.dirichlet([2, 18, 18, 2], 40)
    of_people = world(shares, {"all": 200}, rng)
    middle = np.array([0.05, 0.45, 0.45, 0.05])
    refs = [f"q{n}" for n in range(40)]
    missing = dict.fromkeys(refs, 0.1)
    positions = dict.fromkeys(refs, middle)
    answers = (shares + middle) / 2
    whole = likenesses(answers, 0, of_people, position=positions)
    assert whole.weakest_claim[1] < 0.001
    assert whole.over_baselines[POSITION][0].value < 0.1, "missing answers may outweigh this"
    assert likenesses(answers, 0, of_people, missing=missing).weakest_claim[1] < 0.001
    assert (
        likenesses(answers, 0, of_people, missing=missing, position=positions).weakest_claim[1] == 1
    )
    unlike = likenesses(
        answers[:30],
        0,
        of_people,
        missing={**missing, **dict.fromkeys(refs[30:], 1.0)},
        position=dict.fromkeys(refs[:30], middle),
    )
    assert unlike.weakest_claim[1] == 1, (
        "of questions without an answer, positions are those of the others"
    )


def test_each_kind_of_answers_without_an_opinion_has_the_noise_of_people_that_is_its_own() -> None:
    rng = np.random.default_rng(9)
    shares = np.tile([0.4, 0.1, 0.1, 0.4], (40, 1))
    of_people = world(shares, {"all": 40}, rng)
    refs = [f"q{n}" for n in range(40)]
    answers = np.tile([0.45, 0.05, 0.05, 0.45], (40, 1))
    whole = likenesses(answers, 0, of_people)
    hardly = likenesses(answers, 0, of_people, missing=dict.fromkeys(refs, 1e-9))
    assert whole.weakest_claim[0] == hardly.weakest_claim[0] == FIRST
    assert hardly.weakest_claim[1] == pytest.approx(whole.weakest_claim[1], rel=1e-3)


def test_few_random_letters_are_no_even_answers_where_hardly_an_answer_is_missing() -> None:
    rng = np.random.default_rng(10)
    shares = rng.dirichlet([2, 6, 6, 2], 40)
    of_people = world(shares, {"all": 200}, rng)
    answers = rng.multinomial(3, [0.35, 0.15, 0.15, 0.35], 40) / 3
    refs = [f"q{n}" for n in range(40)]
    whole = likenesses(answers, 3, of_people)
    hardly = likenesses(answers, 3, of_people, missing=dict.fromkeys(refs, 1e-9))
    assert whole.over_random[0].value < 0
    assert hardly.weakest_claim == (
        whole.weakest_claim[0],
        pytest.approx(whole.weakest_claim[1], rel=1e-3),
    )


def test_what_people_do_not_know_has_a_share_and_a_bound() -> None:
    people = [
        person(n, {"q1": "some" if n < 30 else "99", "q2": "roads"} if n < 40 else {})
        for n in range(50)
    ]
    (everybody,) = populations(survey(people), ASKED, (), 30)
    assert everybody.unsure["q1"] == pytest.approx(0.2)
    assert everybody.unanswered["q1"] == pytest.approx(0.4)
    answers = {"q1": np.array([0.0, 1.0, 0.0, 0.0])}
    of = Likenesses(answers, {"q1": 0}, ASKED, [everybody], MEASURES[0], 1, 200)
    assert of.by_question(everybody)[0] == 1
    low, high = of.bounds_of_people(everybody)
    assert [low, high] == pytest.approx([1 - 0.4 * 2 / 3, 1.0])


def test_a_persona_that_only_evens_answers_out_moves_towards_no_group(asked: Store) -> None:
    class Even(ByText):
        def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
            for place, request in enumerate(requests):
                said = " ".join(message.content for message in request.prompt.messages)
                letters = "ABCD" if "like B" in said else "A"
                yield Drawn(place, tuple((letter, request.n // len(letters)) for letter in letters))

    like_b = Persona("town=B", PersonaKind.SYSTEM, (Message("system", "Answer like B."),))
    ask(asked, Even(name="told"), replace(DESIGN, personas=(like_b,)))
    result = judged(asked, AnswerSelection(templates=TemplateChoice(personas=("all",))))
    said = sentences_of(result.findings).sentences
    assert not any(one.said.startswith("Significant move") for one in said), list(map(str, said))


@pytest.mark.parametrize(
    ("options", "samples", "mode"),
    [
        (("--model", "smollm2"), 1, EXACT),
        (("--model", "smollm2", "--samples", "20"), 20, "sampled"),
        (("--model", "smollm2", "--tries", "3"), 50, "sampled"),
        (("--model", "openai:some"), 50, "sampled"),
        (("--model", "scripted"), 50, "sampled"),
    ],
)
def test_a_local_model_gives_probabilities_unless_letters_are_asked_for(
    asked: Store, options: tuple[str, ...], samples: int, mode: str
) -> None:
    line = arguments("run", "survey.db", "--audit", "representation", *options)
    design = RunCommand.from_arguments(line).design(asked)
    assert (design.samples, design.sampling.mode == EXACT) == (samples, mode == EXACT)


class SilentOn(ByText):
    """Refuses the questions whose names it is given."""

    refused: Sequence[str] = ()

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        for drawn, request in zip(super().generate(requests, sampling), requests, strict=True):
            text = " ".join(message.content for message in request.prompt.messages)
            silent = any(f" {ref}?" in text for ref in self.refused)
            yield replace(drawn, answers=(("I cannot say.", request.n),)) if silent else drawn


def test_questions_that_a_model_refuses_count_among_those_that_were_asked(asked: Store) -> None:
    model = SilentOn(name="told")
    model.words, model.refused = ("a great deal",), ("q0", "q1", "q2", "q3")
    ask(asked, model, DESIGN)
    result = judged(asked)
    row = result.book.table("models").rows[0]
    values: dict[str, Any] = {
        column.key: column.value(row) for column in result.book.table("models").columns
    }
    assert (values["asked"], values["questions"], values["missing"]) == (8, 4, 0.5)
    assert values["least"] < values["likeness"].value <= values["most"]
    columns = {column.key: column for column in result.book.table("models").columns}
    assert not columns["least"].aside
    (value,) = [
        value
        for sentence in sentences_of(result.findings).sentences
        for model, value in sentence.models
        if model == "told" and value.startswith("likeness")
    ]
    missing = "with 50.0 % of the answers to 8 questions missing"
    assert value.startswith(f"likeness {shown_share(values['least'])} to "), value
    assert f"{missing}; those given: " in value
    assert result.headline.found.endswith(missing)
    assert result.headline.found.startswith(shown_share(values["least"])), (
        "the likeness of the answers given is not the headline"
    )


def shown_share(value: float) -> str:
    return number(value, Kind.SHARE)


def test_an_unknown_model_is_named_with_those_that_answered(asked: Store) -> None:
    ask(asked, ByText(name="told"), DESIGN)
    with pytest.raises(UnknownName, match=r"no representation answers by mixed.*: told"):
        judged(asked, AnswerSelection(models=("mixed",)))
