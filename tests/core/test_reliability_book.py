"""The figures of the reliability audit as values: what each table says, and where Enter leads."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tests.core.test_exact import leaning_to, mass
from tests.core.test_reliability import PARA_1, PARA_2, answered, counts
from workbench.audits.reliability import expected as exact
from workbench.audits.reliability.book import book
from workbench.audits.reliability.counting import PRINTED
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.judged import VerdictFigures
from workbench.audits.reliability.tables import passing_phrase
from workbench.audits.reliability.wordings import beginnings, beginnings_table
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, Statement, Wording
from workbench.domain.verdicts import RepeatedVerdict, Verdict
from workbench.errors import UnknownName
from workbench.figures.book import Book
from workbench.figures.shown import painted
from workbench.figures.table import AnyTable, Link
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.document import document
from workbench.figures.write.html import html_page
from workbench.figures.write.latex import latex_files

TEXTS = {
    variant: f"text of {variant}" for variant in (ORIGINAL, PARA_1, PARA_2, NEGATION, OPPOSITE)
}
FIRST = Statement(
    "s0",
    tuple(Wording(v, "en", text) for v, text in TEXTS.items()),
    "nl",
    issues={"tax": 1, "aid": -1},
)


def instrument(*survey: SurveyAnswer) -> Instrument:
    statements = (FIRST, replace(FIRST, ref="s1", country=None, issues={}))
    return Instrument("two", "Two", statements, survey=survey)


def sampled() -> ReliabilityReport:
    """s0's negation does not flip under t0; s1 passes everything."""
    return judge(answered(counts(statements=2), 3, positive=30))


def computed() -> exact.ExactReport:
    return exact.judge(leaning_to(mass(statements=2), (0, 0, 3, PRINTED), 0.9))


def made(report: ReliabilityReport, *survey: SurveyAnswer, **more: Any) -> Book:
    return book(VerdictFigures(report, instrument(*survey), "en", **more), "a model: reliability")


def cells(table: AnyTable) -> list[dict[str, Any]]:
    return [{column.key: column.value(row) for column in table.columns} for row in table.rows]


def every_table(of: Book) -> list[AnyTable]:
    """Return all tables of the contents about all that they can be about, and all that their links
    lead to.
    """
    found = [entry.make(*subject) for entry in of.contents for subject in entry.subjects]
    for table in found:
        links = [table.link(row) for row in table.rows] if table.link else []
        behind = [of.follow(link) for link in links if link]
        known = {(one.name, one.subject) for one in found}
        found += [one for one in behind if one and (one.name, one.subject) not in known]
    return found


@pytest.mark.parametrize("report", [sampled(), computed()], ids=["sampled", "exact"])
def test_every_table_is_written_in_every_form(report: ReliabilityReport) -> None:
    tables = every_table(made(report, SurveyAnswer("ana", "s0", ORIGINAL, agrees=True)))
    assert {"verdicts", "statement", "wordings", "mean_kappas", "item_agreement", "people"} <= {
        t.name for t in tables
    }
    assert len({table.stem for table in tables}) == len(
        {(table.name, table.subject) for table in tables}
    )
    assert document(tables, {})
    assert csv_files(tables)
    assert html_page(tables, "all")
    assert latex_files(tables)
    for table in tables:
        keys = [table.key(row) for row in table.rows]
        assert len(set(keys)) == len(keys), table.name


def test_a_statement_has_a_verdict_per_test_and_how_many_templates_it_passes() -> None:
    of = made(sampled(), changed={"s1": (1, 2)})
    first, second = cells(of.table("verdicts"))
    assert first["negation"] == RepeatedVerdict(Verdict.FAIL, 1, 2)
    assert first["all"] == RepeatedVerdict(Verdict.FAIL, 1, 2)
    assert first["template"] is Verdict.PASS
    assert second["all"] == RepeatedVerdict(Verdict.PASS, 2, 2)
    assert (first["text"], first["country"], first["issues"]) == (
        "text of original",
        "nl",
        ["−aid", "+tax"],
    )
    assert (first["changed"], second["changed"]) == (False, True)
    assert any("1 changed since" in note for note in of.table("verdicts").notes)
    table = of.table("verdicts")
    assert table.detail is not None
    said = "negation fail: original agree 30/30, negation agree 30/30: expected to flip"
    assert table.detail(table.rows[0]) == [f"t0: ✗ {said}"]
    assert table.detail(table.rows[1]) == []
    assert [row["negation"] for row in cells(of.table("verdicts", "t0"))] == [
        Verdict.FAIL,
        Verdict.PASS,
    ]
    with pytest.raises(UnknownName):
        of.table("verdicts", "t9")


def test_enter_leads_from_a_statement_over_its_templates_and_wordings_to_the_answers() -> None:
    of = made(sampled())
    table = of.table("verdicts")
    assert table.link is not None
    statement = of.follow(table.link(table.rows[0]) or Link("nowhere"))
    assert statement is not None
    under = cells(statement)
    assert [row["template"] for row in under] == ["t0", "t1"]
    assert (
        under[0]["why"]
        == "✗ negation fail: original agree 30/30, negation agree 30/30: expected to flip"
    )
    assert under[1]["why"] is None
    assert statement.notes[0].startswith("✓ template pass: agree under t0, t1")
    assert statement.link is not None
    wordings = of.follow(statement.link("t0") or Link("nowhere"))
    assert wordings is not None
    assert wordings.subject == ("s0", "t0")
    negation = next(
        row for row in cells(wordings) if (row["variant"], row["order"]) == ("negation", "printed")
    )
    assert (negation["leaning"].value, negation["readable"], negation["answers"]) == (1.0, 30, 30)
    assert (negation["stance"], negation["expected"], negation["text"]) == (
        "agree",
        "disagree",
        "text of negation",
    )
    assert negation["tests"] == ["✗ neg", "✓ samp"]
    leaning = next(column for column in wordings.columns if column.key == "leaning")
    assert leaning.reference is not None
    assert leaning.reference(wordings.rows[0]) == (0.45, 0.55), (
        "the limits that an interval has to leave out"
    )
    assert wordings.minor is not None
    shown = {(row.variant, row.order) for row in wordings.rows if not wordings.minor(row)}
    assert {order for variant, order in shown if variant != "original"} == {"printed"}
    assert ("original", "swapped") in shown
    assert "✗ negation fail" in wordings.notes[0]
    assert wordings.link is not None
    answers = wordings.link(wordings.rows[0])
    assert answers == Link("answers", ("s0", "original", "t0", "printed"))
    assert of.follow(answers) is None, "the answers stand in the store"


def test_one_template_leads_to_the_wordings_at_once() -> None:
    of = made(judge(counts(templates=1)))
    table = of.table("verdicts")
    assert table.link is not None
    assert table.link(table.rows[0]) == Link("wordings", ("s0", "t0"))
    assert isinstance(cells(table)[0]["all"], Verdict)


def test_an_exact_run_has_probabilities_beside_its_verdicts() -> None:
    of = made(computed())
    first, second = cells(of.table("verdicts"))
    assert first["sampled_would_pass"] < 0.1 < 0.9 < second["sampled_would_pass"]
    assert cells(of.table("sampled_would_pass"))[1]["all"] == second["sampled_would_pass"]
    wording = cells(of.behind["wordings"]("s0", "t0"))[0]
    assert wording["positive"] == pytest.approx(0.72)
    assert (wording["leaning"], wording["named"]) == pytest.approx((0.9, 0.8))
    assert wording["sampled_agree"] + wording["sampled_disagree"] + wording[
        "sampled_tie"
    ] == pytest.approx(1)
    assert cells(of.table("templates"))[0]["readable"] == pytest.approx(0.8)


def test_the_shares_of_tests_stand_beside_those_of_coin_flips() -> None:
    of = made(sampled())
    negation = next(row for row in cells(of.table("passing")) if row["test"] == "negation")
    assert (negation["share"].mean, negation["passed"], negation["failed"]) == (
        0.75,
        ["1", "2"],
        ["1", "0"],
    )
    assert negation["coin_share"].n == 2
    shares = cells(of.table("templates"))
    assert [(row["template"], row["readable"], row["passed"]) for row in shares] == [
        ("t0", 1.0, 1),
        ("t1", 1.0, 2),
    ]
    assert len(of.table("passing_by_template").rows) == 2 * (6 * 2 + 1)


def test_kappas_stand_beside_those_of_people() -> None:
    answers = [
        SurveyAnswer("ana", ref, v, agrees=(v == ORIGINAL))
        for ref in ("s0", "s1")
        for v in (ORIGINAL, NEGATION)
    ]
    rows = cells(made(sampled(), *answers).table("mean_kappas"))
    assert [(row["variant"], row["flipped"]) for row in rows][1:3] == [
        ("negation", False),
        ("negation", True),
    ]
    assert (rows[1]["pairs"], rows[1]["answered"], rows[0]["pairs"]) == (2, 1, 0)
    only = cells(made(sampled(), *answers[:2], as_people=True).table("kappas"))
    assert {row["n"] + row["excluded"] for row in only if row["variant"] == "negation"} == {1}


def test_kappas_by_template_are_flipped_and_the_raw_ones_are_published_alone() -> None:
    usual = sampled()
    published = judge(usual.counts, usual.options.with_values(as_published=True))
    rows, raw_rows = (cells(made(report).table("kappas")) for report in (usual, published))
    assert "raw" not in rows[0]
    for row, raw_row in zip(rows, raw_rows, strict=True):
        expected = raw_row["flipped"] or raw_row["raw"]
        assert str(row["kappa"]) == str(expected)
    assert {row["variant"] for row in raw_rows if row["flipped"]} == {"negation", "opposite"}
    assert "coin_kappas" not in [entry.name for entry in made(usual).contents]


def test_kappa_of_a_statement_has_its_pairs_beside_it() -> None:
    """κ was 1.00 in rows of which every verdict said too few."""
    few = counts(statements=2)
    for template, order, place in product((0, 1), (0, 1), (1, 2)):
        if (template, order, place) not in ((0, 0, 1), (1, 1, 1)):
            few = answered(few, place, positive=1, readable=1, order=order, template=template)
    few = answered(few, 1, positive=0, order=1, template=1)
    few = answered(few, 0, positive=0, order=1, template=1)
    table = made(judge(few)).table("verdicts")
    assert next(row["kappa_paraphrase"] for row in cells(table)).value == 1.0
    column = [column.key for column in table.columns].index("kappa_paraphrase")
    shown = [row[column] for row in painted(table)[0]]
    assert shown == ["1.00 (2 of 8)", "undefined (a)"]


def test_it_is_counted_how_many_statements_pass_everything() -> None:
    assert (
        passing_phrase(VerdictFigures(sampled(), instrument(), "en"))
        == "✓ 1 of 2 pass all at 30 answers"
    )
    assert (
        passing_phrase(VerdictFigures(sampled(), instrument(), "en"), "t1")
        == "✓ 2 of 2 pass all at 30 answers"
    )
    computed_words = passing_phrase(VerdictFigures(computed(), instrument(), "en"))
    found = re.fullmatch(r"✓ 1 of 2 pass all \(30 samples: ([\d.]+)\)", computed_words)
    assert found is not None
    assert 0 < float(found[1]) < 2


def test_the_beginnings_of_an_answer_keep_the_rest_of_the_probability_in_sight() -> None:
    spelled = [("Yes", 0.6), ("yes", 0.0004), ("No", 0.3)]
    found = cells(
        beginnings_table("a prompt", list(beginnings(spelled, [(" Y", 0.5)], 0.25)), ["from here"])
    )
    assert [(row["what"], row["text"]) for row in found] == [
        ("label", "Yes"),
        ("label", "No"),
        ("label", "1 other spelling"),
        ("next token", "␣Y"),
        ("next token", "all others"),
    ]
    assert [row["probability"] for row in found] == pytest.approx([0.6, 0.3, 0.0004, 0.5, 0.25])
    alone = beginnings_table("a prompt", list(beginnings(spelled, None, math.nan)), [])
    assert "names no next tokens" in alone.notes[-1]
