"""The book of a questionnaire: every table can be made, and every row leads to what it was made
of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import new_store
from tests.questionnaire_stores import card, ideal, panel, predict
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.effect_tables import compared
from workbench.audits.questionnaire.judged import judge_questionnaire
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.result import results_of
from workbench.audits.questionnaire.tables import Results, under
from workbench.domain.questionnaires import tallied
from workbench.errors import UnknownName
from workbench.figures.book import Book
from workbench.figures.shown import painted
from workbench.figures.table import AnyTable, Link
from workbench.figures.write.document import document
from workbench.workshop import questionnaire_tables as instrument_tables

CONDITIONS, WORDINGS = ("qm", "zero-shot", "random"), ("original", "paraphrase-1", "paraphrase-2")
LEADS_OUT = {"prompt"}
"tables that a screen of its own shows"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What two models make of twelve people: one knows every answer, its base always says yes."""
    path: Path = tmp_path_factory.mktemp("book") / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel(12))
        predict(store, lambda _: (0.9, 0.0), card("base"), conditions=CONDITIONS, variants=WORDINGS)
        predict(store, ideal(store), card("tuned"), conditions=CONDITIONS)
        return results_of(judge_questionnaire(store, options=PredictionOptions(draws=200)))


@pytest.fixture
def whole(results: Results) -> Book:
    return book(results)


def every_table(of: Book) -> Iterator[AnyTable]:
    for entry in of.contents:
        for subject in () if entry.empty else entry.subjects:
            yield of.table(entry.name, *subject)


def cell(table: AnyTable, key: str, *row: str) -> object:
    (found,) = (one for one in table.rows if table.key(one) == row)
    return next(column for column in table.columns if column.key == key).value(found)


def test_every_table_has_keys_of_its_own_and_can_be_painted_and_written(whole: Book) -> None:
    for table in every_table(whole):
        # It was asked the original alone.
        alone = table.subject == ("tuned",) and "wording" in table.name
        refused = table.name == "refusals"  # probabilities hold none, which the table says
        assert bool(table.rows) != (alone or refused), table.name
        keys = [table.key(row) for row in table.rows]
        assert len(set(keys)) == len(keys), table.name
        assert len({column.key for column in table.columns}) == len(table.columns), table.name
        painted(table)
        assert len(document([table], {})["tables"][0]["rows"]) == len(keys)


def test_every_row_leads_to_a_table_of_the_name_that_it_says_or_out_of_the_book(
    whole: Book,
) -> None:
    waiting, seen = list(every_table(whole)), set[Link]()
    while waiting:
        table = waiting.pop()
        links = {
            link
            for row in table.rows
            if table.link is not None and (link := table.link(row)) is not None
        }
        for link in links - seen:
            seen.add(link)
            behind = whole.follow(link)
            if behind is None:
                assert link.table in LEADS_OUT
            else:
                assert (behind.name, behind.subject) == (link.table, link.subject)
                assert behind.rows, link
                waiting.append(behind)
    assert {link.table for link in seen} == {*whole.behind, *LEADS_OUT}, (
        "nothing stands behind that no row leads to"
    )


def test_models_stand_beside_one_another_on_each_measure(whole: Book) -> None:
    for name, values in {
        "predicted": ("12:0", "6:6"),
        "without": (pytest.approx(0.1), pytest.approx(0.1)),
    }.items():
        table = whole.table(name)
        assert (cell(table, "base", "t0"), cell(table, "tuned", "t0")) == values
    cells, notes = painted(whole.table("bias"))
    assert [cells[0][0], cells[0][3].split(" [")[0], cells[0][3][-1]] == ["t0", "+50.0 points", "▲"]
    assert cells[0][4].startswith("+0.0 points")
    alike = "(a) too few for an interval: all respondents answered alike"
    rare = "(b) too few for an interval: 1 gave the rarer answer; 3 are needed"
    assert notes == ["▲ ▼: the interval of the bias excludes 0", alike, rare]
    assert painted(whole.table("accuracy"))[0][0][4].startswith("100.0 % [")
    variability = painted(whole.table("variability"))[0][0]
    assert (variability[3], variability[4]) == ("0.0 points", "–"), (
        "tuned was asked the original alone"
    )


def test_changes_stand_beside_one_another_by_target(whole: Book) -> None:
    cells, _ = painted(whole.table("accuracy_changes", "tuned"))
    assert [row[0] for row in cells] == ["qm", "zero-shot", "random"]
    assert cells[0][1:4] == ["–", "–", "–"]
    assert [text.split(" [")[0] for text in cells[1][1:4]] == [
        "-29.5 points",
        "-50.0 points",
        "-9.1 points",
    ]
    assert cells[1][2].endswith("▼")
    bias = whole.table("bias_changes", "tuned")
    assert bias.detail is not None
    assert [list(bias.detail(row)) for row in bias.rows] == [
        ["qm: the person's answers to the context questions, in their order"],
        ["the bias changes beyond its interval on t1"],
        ["the bias of no target changes beyond its interval"],
    ]
    base = painted(whole.table("bias_changes", "base"))[0]
    assert all(text.startswith("+0.0 points") for row in base[1:] for text in row[1:4])


def test_tables_are_about_all_models_or_one(whole: Book) -> None:
    for name in (
        "targets",
        "means",
        "axis",
        "axis_targets",
        "conditions",
        "changes",
        "wordings",
        "tokens",
    ):
        entry = whole.entry(name)
        assert entry.subjects == [(), ("base",), ("tuned",)]
        both, one = entry.make(), entry.make("base")
        assert one.subject == ("base",)
        assert {table.key(row)[0] for table in (one,) for row in table.rows} == {"base"}
        assert {key[0] for key in map(both.key, both.rows)} >= {"base"}


def test_two_models_are_compared_over_the_same_respondents(results: Results) -> None:
    table = compared(results, under(results), "base", "tuned")
    assert (table.title, table.subject) == ("base − tuned", ("base", "tuned"))
    assert cell(table, "respondents", "base", "tuned", "qm", "t0") == 12


def test_a_condition_is_chosen_for_all_models_and_one_that_is_not_there_says_so(
    results: Results,
) -> None:
    def under_one(name: str) -> Book:
        return book(replace(results, options=replace(results.options, condition=name)))

    random = under_one("random")
    assert random.table("targets").title == "Accuracy and bias under random"
    with pytest.raises(
        UnknownName,
        match=r"under the condition 'permuted-kept-1'\. Available: qm, zero-shot, random",
    ):
        under_one("permuted-kept-1")
    with pytest.raises(
        UnknownName, match=r"base was not asked under 'x'\. Available: qm, zero-shot, random"
    ):
        random.follow(Link("targets_of", ("base", "x")))
    with pytest.raises(
        UnknownName, match=r"there is no run or model 'nobody'\. Available: base; tuned"
    ):
        random.follow(Link("targets_of", ("nobody", "qm")))


def test_the_targets_on_the_axis_are_the_biases_turned_towards_the_conservative_answer(
    whole: Book,
) -> None:
    """Their mean is the place on the axis (figure 5); every model's targets are in one table, one
    model's behind it.
    """
    table, axis = whole.table("axis_targets"), whole.table("axis")
    for row in axis.rows:
        mine = [
            line
            for line in table.rows
            if (line.model, line.condition) == (row.model, row.condition)
        ]
        towards = [cell(table, "towards", *table.key(line)) for line in mine]
        if mine and not row.figure.axis.undefined:
            assert sum(one.value for one in towards) / len(towards) == pytest.approx(
                row.figure.axis.value
            )
        assert axis.link is not None
        behind = whole.follow(axis.link(row))
        assert behind is not None
        assert [line.figure.target for line in behind.rows] == [line.figure.target for line in mine]
    for line in table.rows:
        found, bias = (
            cell(table, "towards", *table.key(line)),
            cell(table, "bias", *table.key(line)),
        )
        sign = 1 if cell(table, "yes_leans", *table.key(line)) == "conservative" else -1
        assert found.value == pytest.approx(sign * bias.value, nan_ok=True)
        assert sorted([found.low, found.high]) == pytest.approx(
            sorted([sign * bias.low, sign * bias.high]), nan_ok=True
        )


def test_the_people_behind_a_figure_make_it_again(whole: Book) -> None:
    question = whole.follow(Link("question", ("base", "t0")))
    assert question is not None
    assert "t0 is good. (statement, agreement, a yes is liberal)" in question.definition
    bias = cell(question, "bias", "random")
    people = whole.follow(Link("respondents_of", ("base", "t0", "random", "original")))
    assert people is not None
    differences = [one.row.p_yes - one.row.human for one in people.rows]
    assert sum(differences) / len(differences) == pytest.approx(getattr(bias, "value", None))
    assert [one.row.correct for one in people.rows] == [False] * 6 + [True] * 6, (
        "missed answers come first"
    )


def test_a_question_leads_to_its_answers_and_an_answer_to_the_questions_on_its_scale() -> None:
    asked = panel(12).questionnaire
    assert asked is not None
    of = instrument_tables.book("panel", tallied(asked), {"t1": "t1 is good."}, {})
    questions = of.table("questions")
    assert [cell(questions, key, "t1") for key in ("yes", "no", "neutral", "missing")] == [
        10,
        1,
        1,
        0,
    ]
    answers = of.follow(Link("answers", ("t1",)))
    assert answers is not None
    assert [cell(answers, "people", answer) for answer in ("agree", "neither", "disagree")] == [
        10,
        1,
        1,
    ]
    assert answers.definition == "Do you agree with the following statement? t1 is good."
    scales = of.table("scales")
    assert (
        cell(scales, "given", "agreement", "agree"),
        cell(scales, "targets", "agreement", "agree"),
    ) == (16, 2)
    on = of.follow(Link("questions_on", ("agreement",)))
    assert on is not None
    assert [row.ref for row in on.rows] == ["t0", "t1"]
