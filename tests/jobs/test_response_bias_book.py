"""The figures of response biases as values: every table, where Enter leads, and what painted cells
say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import pearsonr

from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import EXACT, ask, first_option, pairs
from workbench.audits.response_bias import question_tables as two_ways
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.judged import judge_response_bias
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.questions import Changes
from workbench.data import shipped_templates
from workbench.domain.choices import AnsweredPair, AnswerSet, ArmAnswers, Bias, Perturbation
from workbench.domain.instruments import Instrument, with_pairs
from workbench.errors import UnknownName
from workbench.figures.book import Book
from workbench.figures.shown import painted
from workbench.figures.table import AnyTable, Link
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.document import document
from workbench.figures.write.html import html_page
from workbench.figures.write.latex import latex_files

SAMPLED, EXACTLY = "first · samples", "first · exact"


def told(condition: Perturbation | None, *forms: tuple[int, int], variant: str = "") -> AnswerSet:
    """Answers from elsewhere: so many of ten `a` to the original and to the changed form of each
    question.
    """
    answered = [
        AnsweredPair(f"q{n}", *(ArmAnswers({"a": a, "b": 10 - a}, 3, 3) for a in both))
        for n, both in enumerate(forms)
    ]
    return AnswerSet("told", Bias.RESPONSE_ORDER, condition, tuple(answered), variant=variant)


MOVED = told(None, (9, 2), (8, 2), (9, 3))
STILL = tuple(told(one, (5, 5), (4, 4), (3, 3)) for one in Perturbation)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Changes]:
    """One model asked by samples and exactly, and one whose answers came from elsewhere."""
    with new_store(tmp_path_factory.mktemp("book") / "choices.db") as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        again = told(None, (5, 5), variant="reword")
        store.instruments.add(with_pairs(blank, pairs(), (MOVED, *STILL, again)))
        ask(store, first_option(invalid=0.25))
        ask(store, first_option(invalid=0.25), EXACT)
        yield Changes(judge_response_bias(store), lambda: nullcontext(store))


def cells(table: AnyTable, **of: object) -> list[dict[str, Any]]:
    """Return the rows as values; `of` keeps those with these values."""
    rows = [{column.key: column.value(row) for column in table.columns} for row in table.rows]
    return [row for row in rows if all(row[key] == value for key, value in of.items())]


def every_table(of: Book) -> list[AnyTable]:
    """Return all tables of the contents about all that they can be about, and all that their links
    lead to.
    """
    entries = [entry for entry in of.contents if not entry.empty]
    found = [entry.make(*subject) for entry in entries for subject in entry.subjects]
    known = {(one.name, one.subject) for one in found}
    for table in found:
        for link in {link for row in table.rows if table.link and (link := table.link(row))}:
            behind = of.follow(link)
            assert behind is not None, link
            if (behind.name, behind.subject) not in known:
                known.add((behind.name, behind.subject))
                found.append(behind)
    return found


@pytest.mark.e2e
def test_every_link_leads_to_a_table_and_every_table_is_written_in_every_form(
    found: Changes,
) -> None:
    tables = every_table(book(found))
    assert {"matrix", "place", "questions", "options", "answers", "people_questions"} <= {
        one.name for one in tables
    }
    assert document(tables, {})
    assert len(csv_files(tables)) == len({table.stem for table in tables}) == len(tables)
    assert html_page(tables, "all")
    assert latex_files(tables)
    for table in tables:
        keys = [table.key(row) for row in table.rows]
        assert len(set(keys)) == len(keys), table.stem


def test_a_cell_of_the_matrix_is_its_change_with_stars_and_a_word(found: Changes) -> None:
    table = book(found).table("matrix")
    shown = {
        tuple(row[:2]): dict(zip([c.title for c in table.columns], row, strict=True))
        for row in painted(table)[0]
    }
    assert shown["response order", "bias"]["told"].startswith("+63.3 points [")
    assert shown["response order", "bias"]["told"].endswith("** human-like")
    assert shown["response order", "key typo"]["told"] == "+0.0 points no change"
    assert shown["odd/even", "bias"]["told"] == "–"
    assert shown["response order (reword)", "bias"]["told"] == "+0.0 points no test"
    (row,) = cells(table, bias="response_order", condition="bias")
    assert row["told"].value == pytest.approx(19 / 30), "changes of 70, 60 and 60 points"
    assert row["told"].low < row["told"].value < row["told"].high
    ends = next(column.scale for column in table.columns if column.key == "told")
    assert ends is not None
    assert -ends[0] == ends[1] >= row["told"].high, "the picture has room for the interval"


def test_a_table_is_about_all_models_or_about_one_at_a_time(found: Changes) -> None:
    of = book(found)
    for name in ("cells", "entropies", "draws", "validity", "questions", "people_questions"):
        whole, one = (
            document([of.table(name, *about)], {})["tables"][0] for about in ((), (EXACTLY,))
        )
        assert (
            one["rows"]
            == [row for row in whole["rows"] if row["model"] == EXACTLY]
            != whole["rows"]
        ), name
        assert one["title"] == f"{whole['title']}: {EXACTLY}"
    with pytest.raises(UnknownName, match="there is no table 'cell' here"):
        of.table("cell")


def test_a_table_about_somebody_who_was_not_asked_names_who_was(found: Changes) -> None:
    with pytest.raises(UnknownName, match="there is no model 'nobody'"):
        found.of("nobody")


def test_enter_goes_from_a_bias_to_its_models_its_questions_and_their_answers(
    found: Changes,
) -> None:
    of = book(found)
    place = of.follow(Link("place", ("odd_even", "key_typo")))
    assert place is not None
    assert [row["model"] for row in cells(place)] == [SAMPLED, EXACTLY]
    assert place.link is not None
    questions = of.follow(place.link(place.rows[0]) or Link(""))
    assert questions is not None
    assert (
        questions.title
        == "first · samples, odd/even, key typo: questions, the largest change first"
    )
    changes = [abs(row["change"]) for row in cells(questions)]
    assert changes == sorted(changes, reverse=True)
    assert questions.link is not None
    link = questions.link(questions.rows[0])
    assert link is not None
    options = of.follow(link)
    assert options is not None
    assert {row["form"] for row in cells(options)} == {"original", "changed"}
    assert sum(row["share"] for row in cells(options, form="original")) == pytest.approx(1)
    second = of.follow(Link("options", (*link.subject, "2")))
    assert second is not None
    assert "draw 2 of 2" in second.title
    answers = of.follow(Link("answers", (*link.subject, "2", "changed")))
    assert answers is not None
    drawn = sum(row["count"] for row in cells(answers) if row["offered"])
    assert drawn == sum(row["count"] for row in cells(second, form="changed")) >= 20
    prompts = of.follow(Link("prompts", (*link.subject, "2")))
    assert prompts is not None
    assert "arree" in cells(prompts, form="changed")[0]["content"]


def test_the_score_and_most_human_like_are_of_the_published_definition_alone(
    found: Changes,
) -> None:
    published = Changes(found.judged.by(ChangeOptions(Definition.PAPER)), found.opened)
    for name in ("scores", "likeness"):
        assert "--as-published" in book(found).entry(name).empty
        assert not book(published).entry(name).empty
    (matrix, usual) = (book(changes).table("matrix") for changes in (published, found))
    assert any("✓: human-like" in note for note in matrix.notes)
    assert not any("✓" in note for note in usual.notes)


def test_a_model_that_moves_as_people_do_says_why_not_where_it_does_not(found: Changes) -> None:
    of = book(found)
    (order,) = cells(of.table("likeness"), model="told")
    assert (order["most_human_like"], order["why"]) == (True, "yes")
    missing = cells(of.table("likeness"), model=EXACTLY, bias="odd_even")[0]
    assert (missing["most_human_like"], missing["why"]) == (
        None,
        "open: too few questions for a test",
    )
    assert missing["untested"] == (Perturbation.MIDDLE_RANDOM, Perturbation.LETTER_SWAP)


def test_the_change_against_uncertainty_is_over_the_biases_of_every_model_and_of_each(
    found: Changes,
) -> None:
    rows = {row["model"]: row for row in cells(book(found).table("uncertainty"))}
    assert list(rows) == ["all", *found.reports]
    assert rows["all"]["cells"] == sum(row["cells"] for name, row in rows.items() if name != "all")
    for name, row in rows.items():
        at = [
            (abs(cell.delta.mean), cell.spread.original)
            for model, cell in found.lines
            if name in ("all", model) and cell.scored
        ]
        assert row["cells"] == len(at)
        if row["r"].undefined:
            assert len(at) < 3 or len(set(at)) == 1
        else:
            assert row["r"].value == pytest.approx(pearsonr(*zip(*at, strict=True)).statistic)


def test_two_ways_are_compared_in_any_order(found: Changes) -> None:
    there = cells(two_ways.compared(found, SAMPLED, EXACTLY))
    back = cells(two_ways.compared(found, EXACTLY, SAMPLED))
    assert [row["change"].value for row in there] == pytest.approx(
        [-row["change"].value for row in back]
    )
    assert len(two_ways.sampling(found, SAMPLED, EXACTLY).rows) == 4


def test_p_adjusted_stands_in_the_table_where_it_is_adjusted(
    found: Changes, tmp_path: Path
) -> None:
    path = tmp_path / "holm.db"
    with new_store(path) as store:
        store.instruments.add(
            with_pairs(Instrument("choices", "Choices", ()), pairs(), (MOVED, *STILL))
        )
    with Store.open(path) as store:
        options = ChangeOptions(holm="all")
        adjusted = book(
            Changes(judge_response_bias(store, options=options), lambda: nullcontext(store))
        )
    aside = {
        name: next(c.aside for c in of.table("cells").columns if c.key == "p_adjusted")
        for name, of in (("none", book(found)), ("all", adjusted))
    }
    assert aside == {"none": False, "all": False}, (
        "p of the claim is another number than p against 0"
    )
