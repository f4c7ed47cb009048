"""Stores with policy-issue labels, for tests of the screens that give and judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from stores.annotation.issue_annotator import IssueAnnotator
from stores.core.store import Store
from tests.conftest import instrument
from workbench.data import shipped_issue_scheme

ISSUES = tuple(issue.name for issue in shipped_issue_scheme().issues)
LAW, SOCIETY = "law_and_order", "liberal_society"
Given = Mapping[str, Mapping[str, int | None]]
"statement -> issue -> label"


def issue_store(path: Path, *refs: str, eight: bool = True) -> Path:
    """Make a store with one instrument that nobody labelled, for the eight issues or for none."""
    with Store.open(path, create=True) as store:
        store.instruments.add(replace(instrument(*refs), issue_labels=(), issues=()))
        if eight:
            store.issues.set_scheme("small", shipped_issue_scheme().issues)
    return path


def label(path: Path, person: str, given: Given) -> None:
    """Let a person label statements."""
    with IssueAnnotator.open(path, "small", person) as annotator:
        rows = {row.ref: row for row in annotator.sheet().rows}
        for ref, labels in given.items():
            annotator.put(rows[ref], labels)


def labels_of(path: Path, person: str) -> dict[tuple[str, str], int]:
    """Return a person's current labels: (statement, issue) -> label."""
    with Store.open(path) as store:
        return {
            (x.statement, x.issue): x.label
            for x in store.issues.labels("small")
            if x.annotator == person
        }
