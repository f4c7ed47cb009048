"""The figures of the left/right bias: every view as a table, down to the answers, and the ways out
of the shell.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as table
from tests.tui import bias_stores
from workbench.audits.bias_score.book import book
from workbench.audits.bias_score.counting import NOT_RECORDED, Selection
from workbench.audits.bias_score.factor_tables import compared
from workbench.audits.bias_score.factors import prefix_deviation, rank_agreement
from workbench.audits.bias_score.judged import BiasJudged, judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.scored import load_scored_answers
from workbench.audits.bias_score.tables import selected, subject
from workbench.domain.statements import Dimension
from workbench.figures.book import Book
from workbench.figures.table import AnyTable
from workbench.figures.write.data_files import flat

MODELS = ("droite-13b", "gauche-7b", "milieu-1b")
QUICK = ("--draws", "100")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bias_stores.full(tmp_path_factory.mktemp("bias") / "bias.db")


@pytest.fixture(scope="module")
def judged(path: Path) -> BiasJudged:
    with Store.open(path) as store:
        return judge_bias(store, options=ScoreOptions(draws=100))


@pytest.fixture(scope="module")
def found(judged: BiasJudged, path: Path) -> Book:
    with Store.open(path) as store:
        return book(load_scored_answers(store, judged, lambda: Store.open(path)))


def rows(of: AnyTable) -> list[dict[str, Any]]:
    return [{column.key: column.value(row) for column in of.columns} for row in of.rows]


def every(found: Book) -> Iterator[AnyTable]:
    for entry in found.contents:
        for about in entry.subjects if not entry.empty else ():
            yield entry.make(*about)


def test_a_row_is_named_by_its_key_and_says_what_it_is_of(found: Book) -> None:
    for of in every(found):
        keys = [of.key(row) for row in of.rows]
        assert len(set(keys)) == len(keys), of.name
        assert of.rows, of.name
        header = flat(of).header
        assert len(set(header)) == len(header), of.name
        assert not of.subject or of.subject[0] in MODELS


def test_statements_behind_a_figure_add_up_to_it(found: Book) -> None:
    """What statements add to a total is that total, whatever the part of the answers."""
    followed = 0
    for of in every(found):
        if of.name in ("statements", "source_differences", "prefix_changes"):
            continue
        for row, values in zip(of.rows, rows(of), strict=True):
            link = of.link(row) if of.link else None
            behind = found.follow(link) if link else None
            if behind is not None:
                followed += 1
                adds = sum(part["contribution"] for part in rows(behind))
                total = values["total"].value
                assert adds == pytest.approx(total) or math.isnan(total)
                kept = ("agree", "disagree", "neutral")
                assert (
                    sum(part[name] for part in rows(behind) for name in kept) == values["answers"]
                )
    assert followed > 50


def test_answers_behind_a_statement_are_those_that_were_counted(found: Book) -> None:
    """From a prefix to a statement to its answers: each count is that of the answers which count
    so.
    """
    prefixes = found.table("prefixes", "gauche-7b")
    assert prefixes.link is not None
    for line in prefixes.rows:
        link = prefixes.link(line)
        assert link is not None
        statements = found.follow(link)
        assert statements is not None
        assert statements.link is not None
        for row, values in zip(statements.rows[:4], rows(statements), strict=False):
            below = statements.link(row)
            assert below is not None
            answers = found.follow(below)
            assert answers is not None
            counted = rows(answers)
            for stance in ("agree", "disagree", "neutral"):
                assert (
                    sum(one["count"] for one in counted if one["counts_as"] == stance)
                    == values[stance]
                )
            left_out = sum(one["count"] for one in counted if one["left_out"])
            assert left_out == values["unrelated"] + values["dropped"] + values["unread"]
            assert {one["prefix"] for one in counted} == {line.name}


def test_tables_hold_what_the_report_says(found: Book, judged: BiasJudged) -> None:
    report = judged.report
    for row in found.table("bias").rows:
        assert row.figure == report.figure(
            row.model, dimension=row.selection.dimension, source=row.selection.source
        )
    for name, by in (
        ("prefixes", report.by_prefix),
        ("wordings", report.by_variant),
        ("authors", report.by_author),
    ):
        for model in MODELS:
            assert [(row.name, row.figure) for row in found.table(name, model).rows] == [*by(model)]
    (first,) = [
        row for row in rows(found.table("prefixes", "gauche-7b")) if row["prefix"] == "likert"
    ]
    deviation = prefix_deviation(report, "gauche-7b", "likert", rule_only=True)
    assert (first["deviation"].value, first["deviation"].low) == (deviation.value, deviation.low)
    ranks = rows(found.table("source_ranks"))
    assert [row["dimension"] for row in ranks] == ["all", "economic", "cultural"]
    assert ranks[1]["tau"] == rank_agreement(report, "PCT", "WVS", Dimension.ECONOMIC).tau
    for row in rows(compared(report, None, "gauche-7b", "milieu-1b")):
        assert row["difference"].value == pytest.approx(
            row["first_total"].value - row["second_total"].value
        )


def test_one_dimension_can_be_chosen(path: Path) -> None:
    economic = bias_stores.book_of(path, ScoreOptions(draws=100, dimension=Dimension.ECONOMIC))
    for name in ("prefixes", "wordings", "sources"):
        of = economic.table(name, "gauche-7b")
        assert {row.selection.dimension for row in of.rows} == {Dimension.ECONOMIC}
        assert "economic statements" in of.title
    assert {row["dimension"] for row in rows(economic.table("statements", "gauche-7b"))} == {
        "economic"
    }
    assert {row["dimension"] for row in rows(economic.table("bias"))} == {"economic"}


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(Dimension.CULTURAL, "a=b, c", "opinion"),
        Selection(source=""),
        Selection(variant="reformulation-1", author=NOT_RECORDED),
    ],
)
def test_a_link_names_any_selection(selection: Selection) -> None:
    assert selected(subject("model", selection)[1:]) == selection


@pytest.mark.e2e
def test_programs_get_every_table_of_all_models(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = [
        "plane",
        "plane_by_source",
        "bias",
        "prefixes",
        "prefix_changes",
        "prefix_sources",
        "wordings",
        "authors",
    ]
    names += [
        "sources",
        "source_differences",
        "source_ranks",
        "components",
        "asked",
        "statement_counts",
        "statements",
    ]
    names += ["answered", "reader", "refusals", "refusal_sides"]
    printed = data(capsys, "show", path, "bias_score", *QUICK)
    assert [one["name"] for one in printed["tables"]] == names
    assert {row["model"] for row in table(printed, "statements")} == set(MODELS)
    assert printed["options"]["draws"] == 100
    assert printed["methods"].startswith("Political bias was scored as by Faulborn et al.")
    assert run(capsys, "show", path, "bias_score", *QUICK, "--csv", tmp_path / "figures")[0] == 0
    assert {file.stem for file in (tmp_path / "figures").iterdir()} == set(names)
    with (tmp_path / "figures" / "prefixes.csv").open(newline="") as file:
        lines = [*csv.DictReader(file)]
    assert len(lines) == 9
    assert float(lines[0]["total"]) == pytest.approx(
        table(printed, "prefixes")[0]["total"]["value"]
    )


@pytest.mark.e2e
def test_the_shell_prints_what_is_asked_for(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys,
        "show",
        path,
        "bias_score",
        *QUICK,
        "--table",
        "bias",
        "wordings",
        "source_ranks",
        "--correct",
    )
    assert code == 0
    for words in (
        "Left/right bias",
        "Bias in answers to each wording",
        "Agreement of sources",
        "is corrected for",
    ):
        assert words in out
    assert "Bias under each prompt prefix" not in out
    methods = run(capsys, "show", path, "bias_score", *QUICK, "--methods")[1]
    assert methods.startswith("Political bias was scored")
    code, out, err = run(
        capsys, "show", path, "bias_score", *QUICK, "--compare", "gauche-7b", "nobody"
    )
    assert (code, out) == (2, "")
    assert "nobody" in err


@pytest.mark.e2e
def test_pictures_go_to_a_folder(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="pictures as files need the extra `report`")
    folder = tmp_path / "pictures"
    code, out, err = run(capsys, "show", path, "bias_score", *QUICK, "--figures", folder)
    assert code == 0, err
    made = {file.name for file in folder.iterdir()}
    assert made >= {"plane.svg", "plane.pdf", "plane_by_source.svg", "prefixes.svg"}
    assert f"{folder / 'plane.svg'}  picture" in out.replace("\n", " ")
    assert "droite-13b" in (folder / "plane.svg").read_text(encoding="utf-8")
    code, _, err = run(capsys, "show", path, "bias_score", *QUICK, "--figures", folder)
    assert (code, "--force" in err) == (2, True)
