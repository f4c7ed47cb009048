"""The agreement of annotators as tables: nobody named where letters are asked for, and a matrix
behind each pair.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.core.test_annotation_agreement import ITEMS, LABELS, quick
from workbench.annotation.agreement_tables import LabelledItem, QueueAgreement, book
from workbench.figures.table import AnyTable, Link
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.document import document
from workbench.figures.write.html import html_page

REPORT = quick(ITEMS)
SAID = LabelledItem(
    "s1",
    "original",
    "Rents?",
    "Yes \x1b[2J",
    (("A", "agree", "not sure", True),),
    None,
    "agree (hedged)",
)


def queue(**called: str) -> QueueAgreement:
    items = {item.item: SAID for item in ITEMS}
    return QueueAgreement("first", REPORT, items, (("ben", 1, 2), ("ana", 2, 2)), called)


def cells(table: AnyTable) -> list[dict[str, Any]]:
    return [{column.key: column.value(row) for column in table.columns} for row in table.rows]


def test_every_number_of_the_report_is_in_a_table() -> None:
    of = book(queue())
    assert {row["coefficient"]: row["value"] for row in cells(of.table("coefficients"))} == {
        name: getattr(REPORT.coefficients, name)
        for name in ("percent", "alpha", "alpha_ordinal", "fleiss", "ac1")
    }
    assert [(row["first"], row["second"], row["kappa"]) for row in cells(of.table("pairs"))] == [
        (pair.first, pair.second, pair.kappa) for pair in REPORT.pairs
    ]
    matrices = [cells(of.table("confusion", pair.first, pair.second)) for pair in REPORT.pairs]
    found = [
        tuple(tuple(row[f"as_{label}"] for label in LABELS) for row in matrix)
        for matrix in matrices
    ]
    assert found == [pair.matrix for pair in REPORT.pairs]
    assert [row["agreement"] for row in cells(of.table("labels"))] == [
        each.agreement for each in REPORT.per_label
    ]
    groups = {
        (row["kind"], row["name"]): (row["items"], row["fleiss"])
        for row in cells(of.table("groups"))
    }
    assert groups == {(each.kind, each.name): (each.items, each.fleiss) for each in REPORT.groups}
    shares = [[row[f"share_{label}"] for label in LABELS] for row in matrices[0]]
    assert shares == [
        [n / sum(row) if sum(row) else None for n in row] for row in REPORT.pairs[0].matrix
    ]
    times = [[row[f"times_{label}"] for label in LABELS] for row in cells(of.table("given"))]
    assert times == [[n for _, n in each.labels] for each in REPORT.annotator_counts]
    assert [row["share"] for row in cells(of.table("attention"))] == [1.0, 0.5]


def test_what_people_disagree_on_comes_first_and_leads_to_what_they_said() -> None:
    of = book(queue())
    items = of.table("items")
    shares = [row["agreeing"].value for row in cells(items)]
    assert shares == sorted(shares)
    assert cells(items)[-1]["counts"] == ["2 neutral"]
    said = of.follow(Link("item", ("12",)))
    assert said is not None
    assert cells(said) == [{"who": "A", "label": "agree", "flagged": True, "note": "not sure"}]
    assert list(said.notes) == ["decision: agree (hedged)"]


def test_groups_come_with_the_least_agreement_first_and_those_that_nobody_labelled_twice_last() -> (
    None
):
    rows = [
        row for row in cells(book(queue()).table("groups")) if row["kind"] == REPORT.groups[0].kind
    ]
    compared = [row["percent"].value for row in rows if row["percent"].defined]
    assert compared == sorted(compared)
    assert [row["percent"].defined for row in rows] == [True] * len(compared) + [False] * (
        len(rows) - len(compared)
    )


def test_letters_take_the_place_of_every_name() -> None:
    of = book(queue().lettered)
    tables = [entry.make(*subject) for entry in of.contents for subject in entry.subjects]
    keys = [table.key(row) for table in tables for row in table.rows]
    text = html_page(tables, of.title) + str([cells(table) for table in tables]) + str(keys)
    assert not re.search(r"\b(ana|ben|cem)\b", text.replace("-", " "))
    assert document(tables, of.about)
    assert len(csv_files(tables)) == len(tables)


@pytest.mark.parametrize("items", [(), ITEMS[-1:]])
def test_a_queue_without_labels_says_so(items: Any) -> None:
    of = QueueAgreement("first", quick(items))
    assert of.told == "first: nobody has labelled anything yet."
    assert {entry.name for entry in book(of).contents if entry.empty} == {
        "coefficients",
        "pairs",
        "labels",
        "groups",
        "items",
        "over_time",
    }
    assert [table.rows for table in (book(of).table("pairs"), book(of).table("given"))] == [(), []]
