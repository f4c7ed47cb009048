"""Instruments go into the store and come out as they were; what people decided is never
overwritten.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from stores.instruments.instruments import Filters
from tests.conftest import instrument, statement
from workbench.domain.instruments import Instrument, IssueLabel
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.errors import UnknownName


def test_an_instrument_comes_out_as_it_went_in(store: Store) -> None:
    wanted = instrument()
    store.instruments.add(wanted)
    found = store.instruments.get("small")
    assert {
        s.ref: (set(s.wordings), s.country, s.topic, dict(s.issues)) for s in found.statements
    } == {s.ref: (set(s.wordings), s.country, s.topic, dict(s.issues)) for s in wanted.statements}
    assert found.templates == wanted.templates
    assert found.parties == wanted.parties
    assert found.party_answers == wanted.party_answers
    assert found.survey == wanted.survey
    assert found.issue_labels == wanted.issue_labels
    assert found.issues == wanted.issues


def test_importing_the_same_again_changes_nothing(filled: Store) -> None:
    tables = (
        "statement",
        "wording",
        "text",
        "issue_label",
        "party_answer",
        "template",
        "instrument_template",
    )
    before = [filled.connection.execute(f"select * from {table}").fetchall() for table in tables]
    imported = filled.instruments.add(instrument())
    assert (imported.added, imported.changed, imported.unchanged, imported.retired) == (0, 0, 3, 0)
    assert [
        filled.connection.execute(f"select * from {table}").fetchall() for table in tables
    ] == before


def test_a_changed_statement_becomes_a_new_version_and_the_old_one_stays(filled: Store) -> None:
    changed = instrument()
    changed = replace(
        changed, statements=(statement("a-1", "Quite another text."), *changed.statements[1:])
    )
    imported = filled.instruments.add(changed)
    assert (imported.added, imported.changed, imported.unchanged) == (0, 1, 2)
    versions = filled.connection.execute(
        "select version, current from statement where ref = 'a-1' order by version"
    ).fetchall()
    assert versions == [(1, 0), (2, 1)]
    first = filled.instruments.get("small").statements[0].wording(ORIGINAL, "en")
    assert first is not None
    assert first.text == "Quite another text."


def test_a_statement_that_is_gone_is_retired_and_can_come_back(filled: Store) -> None:
    assert filled.instruments.add(instrument("a-1", "a-2")).retired == 1
    assert [s.ref for s in filled.instruments.get("small").statements] == ["a-1", "a-2"]
    assert filled.instruments.add(instrument()).added == 1
    assert len(filled.instruments.get("small").statements) == 3


def test_a_changed_label_is_a_revision(filled: Store) -> None:
    changed = replace(instrument(), issue_labels=(IssueLabel("a-1", "law_and_order", "gold", -1),))
    filled.instruments.add(changed)
    rows = filled.connection.execute(
        "select l.revision, l.label from issue_label l join statement s on s.id = l.statement_id "
        "where s.ref = 'a-1' order by 1"
    ).fetchall()
    assert rows == [(1, 1), (2, -1)]
    found = {label.statement: label.label for label in filled.instruments.get("small").issue_labels}
    assert found["a-1"] == -1


def test_labels_on_unknown_statements_are_counted_and_left_out(store: Store) -> None:
    wanted = replace(instrument(), issue_labels=(IssueLabel("zz-9", "law_and_order", "gold", 1),))
    assert store.instruments.add(wanted).skipped == 1


def test_an_unknown_instrument_is_named_with_those_there_are(filled: Store) -> None:
    with pytest.raises(UnknownName, match=r"'nope'.*small"):
        filled.instruments.get("nope")


def test_lines_are_paged_searched_and_filtered(store: Store) -> None:
    store.instruments.add(instrument(*(f"x-{n:03}" for n in range(300))))
    page = store.instruments.lines("small", offset=200, limit=50)
    assert [line.ref for line in page] == [f"x-{n:03}" for n in range(200, 250)]
    assert store.instruments.count("small", Filters(search="x-01")) == 10
    assert store.instruments.count("small", Filters(search="(2)")) == 300, (
        "paraphrases are searched too"
    )
    assert store.instruments.count("small", Filters(search="%")) == 0, (
        "a percent sign is a character"
    )
    assert store.instruments.count("small", Filters(issue="law_and_order")) == 300
    assert store.instruments.count("small", Filters(issue="liberal_society")) == 0
    assert store.instruments.count("small", Filters(country="xx")) == 0
    assert page[0].issues == (("law_and_order", 1),)
    assert page[0].variants == 6


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=0, max_size=3000))
def test_any_text_is_stored_exactly(store: Store, text: str) -> None:
    wanted = Instrument("any", "Any", (Statement("s", (Wording(ORIGINAL, "en", text),)),))
    store.instruments.add(wanted)
    found = store.instruments.get("any").statements[0].wording(ORIGINAL, "en")
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    "text", ["", "\x00", "a\x00b", "\ud800", "x" * 200_000, "[/INST]", "\x1b[31m", "‮abc", "é"]
)
def test_hostile_texts_are_stored_exactly(store: Store, text: str) -> None:
    store.instruments.add(
        Instrument("any", "Any", (Statement("s", (Wording(ORIGINAL, "en", text),)),))
    )
    found = store.instruments.get("any").statements[0].wording(ORIGINAL, "en")
    assert found is not None
    assert found.text == text


def test_importing_again_changes_nothing_that_a_person_decided_here(filled: Store) -> None:
    before = filled.instruments.get("small")
    people = (
        IssueLabel("a-1", "law_and_order", "ana", 1),
        IssueLabel("a-1", "law_and_order", "adjudication", 1),
    )
    with filled.write() as connection:
        statement_id = connection.execute("select id from statement where ref = 'a-1'").fetchone()[
            0
        ]
        for kind, name, label in (("person", "ana", -1), ("adjudication", "ben", 0)):
            reader = connection.execute(
                "insert into reader (kind, name, version, created_at) values (?, ?, '', '2026') "
                "returning id",
                (kind, name),
            ).fetchone()[0]
            connection.execute(
                "insert into issue_label values (?, 'law_and_order', ?, 1, ?, '2026')",
                (statement_id, reader, label),
            )
    filled.instruments.add(replace(before, issue_labels=(*before.issue_labels, *people)))
    found = {
        label.annotator: label.label
        for label in filled.instruments.get("small").issue_labels
        if label.statement == "a-1"
    }
    assert found == {"gold": 1, "ana": -1, "adjudication": 0}
