"""The views for people: plain text, the same counts as the program's own, and indexes for what
people ask.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.annotation_items import unit_of
from stores.annotation.people import reader_id
from stores.core.base import encode_text, text_ids
from stores.core.store import Store
from stores.runs.run_rows import Run
from tests.conftest import instrument
from tests.stores.test_thoughts import OUTPUTS, TRACE, asked, persona
from workbench.domain.keys import text_key
from workbench.domain.readings import ReaderKind
from workbench.evidence.readings import read

LONG = "Harmful, " + "since it is so, " * 200
ANSWERS = (*OUTPUTS, LONG, "I cannot say.", "Beneficial")
VIEWS = ("v_answers", "v_readings", "v_stances")


def rows(path: Path, sql: str) -> list[dict[str, object]]:
    """Return rows as another program reads them."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(sql)]
    finally:
        connection.close()


@pytest.fixture
def run(filled: Store, tmp_path: Path) -> Run:
    found, _ = asked(filled, persona(tmp_path, *ANSWERS))
    return found


def test_every_answer_is_there_as_plain_text_with_where_it_comes_from(
    filled: Store, run: Run
) -> None:
    found = rows(filled.path, "select * from v_answers")
    assert sum(int(str(row["count"])) for row in found) == run.responses == 432
    assert {row["response"] for row in found} == {
        "Harmful.",
        LONG,
        "I cannot say.",
        "Beneficial",
        None,
    }
    thoughts = {(row["response"], row["thinking"]) for row in found if row["thinking"]}
    assert (None, f"<think>{TRACE}") in thoughts
    assert ("Harmful.", f"<think>{TRACE}</think>\n\n") in thoughts
    one = next(
        row for row in found if row["variant"] == "paraphrase-2" and row["label_order"] == "swapped"
    )
    assert (one["instrument"], one["audit"], one["statement_current"]) == (
        "small",
        "reliability",
        1,
    )
    assert one["wording"] == f"Statement {one['statement']} should become law. (2)"
    assert str(one["prompt"]).startswith(f"system: {one['template']}: Is the following")
    assert str(one["prompt"]).endswith(f"\n\nuser: {one['wording']}")
    assert (one["model"], one["temperature"], one["template_version"], one["job"]) == (
        run.model,
        1.0,
        1,
        1,
    )


def test_readings_and_stances_have_the_counts_of_the_program(filled: Store, run: Run) -> None:
    [(alone, unread)] = filled.connection.execute(
        "select sum(answers), sum(unread) from v_stances where reader is null"
    )
    assert unread == alone - sum(filled.runs.truncated(run).values())
    reader, _ = read(filled, run)
    expected: Counter[str | None] = Counter()
    for _, label, _, n in filled.runs.counts(run, [reader]):
        expected[label] += n
    by_label = (
        "select label, sum(count) as n from v_readings where reader_kind = 'rule' and "
        "newest = 1 group by label"
    )
    assert {row["label"]: row["n"] for row in rows(filled.path, by_label)} == expected
    totals = (
        "sum(agree) as agree, sum(disagree) as disagree, sum(unreadable + refused) as none, "
        "sum(cut_off) as cut"
    )
    [row] = rows(
        filled.path,
        f"select {totals}, sum(unread) as unread, sum(answers) as answers from v_stances",
    )
    assert (row["agree"], row["disagree"], row["none"]) == (
        expected["agree"],
        expected["disagree"],
        expected[None],
    )
    assert (row["cut"], row["unread"]) == (sum(filled.runs.truncated(run).values()), 0)
    assert row["answers"] == 432
    shares = rows(
        filled.path, "select agree, disagree, agree_share from v_stances where reader is not null"
    )
    assert len(shares) == run.prompts
    assert all(
        r["agree_share"] == r["agree"] / (r["agree"] + r["disagree"])
        for r in shares
        if r["agree_share"]
    )  # type: ignore[operator]


def test_the_newest_label_of_a_person_is_marked_and_a_model_is_beside_it(
    filled: Store, run: Run
) -> None:
    with filled.write() as connection:
        person = reader_id(connection, ReaderKind.PERSON, "ana", "")
        (wording,) = connection.execute(
            "select min(id) from wording where kind = 'original'"
        ).fetchone()
        unit = unit_of(connection, text_ids(connection, ["Harmful."])["Harmful."], wording)
        connection.executemany(
            "insert into reading (unit_id, reader_id, revision, label, reason, at, uid) values "
            "(?, ?, ?, ?, '', ?, ?)",
            [
                (unit, person, 1, "agree", "2026-01-01", b"1"),
                (unit, person, 2, "disagree", "2026-01-02", b"2"),
            ],
        )
    found = rows(filled.path, "select * from v_readings where reader_kind = 'person'")
    assert {(row["reader"], row["label"], row["newest"]) for row in found} == {
        ("ana", "agree", 0),
        ("ana", "disagree", 1),
    }
    assert {(row["model"], row["variant"], row["response"]) for row in found} == {
        (run.model, "original", "Harmful.")
    }


def test_half_a_surrogate_pair_and_a_shared_context_are_text_too(filled: Store, run: Run) -> None:
    half = "half \ud800"
    with filled.write() as connection:
        context = text_ids(connection, [json.dumps([["user", "Before?"], ["assistant", "yes"]])])
        connection.execute("update prompt set context_id = ?", tuple(context.values()))
        connection.execute(
            "update text set key = ?, body = ? where body = ?",
            (text_key(half), b"half \xed\xa0\x80", LONG),
        )
    found = rows(
        filled.path,
        "select distinct response, prompt from v_answers where response like 'not Unicode%'",
    )
    assert {row["response"] for row in found} == {
        f"not Unicode, as bytes: {b'half '.hex().upper()}EDA080"
    }
    assert all(
        str(row["prompt"]).startswith("user: Before?\n\nassistant: yes\n\nsystem: ")
        for row in found
    )
    with filled.write() as connection:
        connection.execute(
            "update text set body = ? where id = ?",
            (encode_text(f'[["user", "{half}"]]'), *context.values()),
        )
    found = rows(filled.path, "select distinct prompt from v_answers")
    assert all(str(row["prompt"]).startswith("context: not Unicode\n\nsystem: ") for row in found)


def test_another_prompts_answers_to_one_statement_are_not_looked_through(filled: Store) -> None:
    tables = {"answers": "r", "draws": "d", "cells": "p", "texts": "x", "readings": "b"}
    for view in VIEWS:
        sql = f"select * from {view} where instrument = 'small' and statement = 'a-1'"
        plan = [str(step) for *_, step in filled.connection.execute(f"explain query plan {sql}")]
        assert not [
            step for step in plan for alias in tables.values() if step == f"SCAN {alias}"
        ], plan
        assert [step for step in plan if "AUTOMATIC" in step] == []


def test_an_answer_of_two_cells_is_in_both_and_once_among_current_statements(
    store: Store, tmp_path: Path
) -> None:
    store.instruments.add(instrument("a-1"))
    run, _ = asked(store, persona(tmp_path, "Harmful."))
    now = store.statements.get("small", "a-1")
    edited = (*now.wordings[:-1], replace(now.wordings[-1], text="Another text."))
    store.statements.save("small", [replace(now, wordings=edited)], person="ana")
    run, _ = asked(store, run.model)
    total = "select sum(count) as n from v_answers"
    assert rows(store.path, total) == [{"n": 288}], "two versions of 144 answers each"
    assert rows(store.path, f"{total} where statement_current = 1") == [{"n": 144}]
    once = "select sum(count) as n from (select distinct draw_id, output_id, count from v_answers)"
    assert rows(store.path, once) == [{"n": run.responses}] == [{"n": 168}], (
        "of six wordings one was asked in two texts"
    )
