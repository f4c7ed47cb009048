"""Rows of multiple-choice questions and of answers that came with them ↔ values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from stores.core.base import named, now
from workbench.domain.choices import AnsweredPair, AnswerSet, Arm, ArmAnswers, Bias, ChoiceItem, Perturbation

SetName = tuple[str, str, str, str, int]
"(model, bias, variant, condition, draw): the name of an answer set in its instrument"


def read_items(connection: sqlite3.Connection, instrument_id: int) -> dict[str, ChoiceItem]:
    """Return the multiple-choice data of current statements by ref, in the order of the statements."""
    rows = connection.execute(_ITEMS, {"instrument": instrument_id})
    return {
        ref: ChoiceItem(
            *(ref, key, Bias(bias), variant, None if middle is None else bool(middle)),
            *(tuple(json.loads(shares)), tuple(json.loads(warnings))),
        )
        for ref, key, bias, variant, middle, shares, warnings in rows
    }


def write_item(connection: sqlite3.Connection, instrument_id: int, item: ChoiceItem) -> None:
    """Write the multiple-choice data of a statement, replacing earlier data."""
    connection.execute(
        "insert into choice (instrument_id, ref, key, bias, variant, middle_removed, shares, warnings) "
        "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (instrument_id, ref) do update set key = excluded.key, "
        "bias = excluded.bias, variant = excluded.variant, middle_removed = excluded.middle_removed, "
        "shares = excluded.shares, warnings = excluded.warnings",
        (
            *(instrument_id, item.ref, item.key, item.bias.value, item.variant),
            *(item.middle_removed, json.dumps(item.shares), json.dumps(item.warnings)),
        ),
    )


def set_name(answers: AnswerSet) -> SetName:
    """Return the name of an answer set in its instrument."""
    return (answers.model, answers.bias.value, answers.variant, answers.condition or "", answers.draw)


def read_answer_sets(connection: sqlite3.Connection, instrument_id: int) -> dict[int, AnswerSet]:
    """Return answer sets by rowid, in the order of import; their questions in the order of the source."""
    rows = named(connection, _COUNTS, {"instrument": instrument_id})
    return {rowid: _answer_set(list(counted)) for rowid, counted in groupby(rows, key=itemgetter("id"))}


def _answer_set(rows: Sequence[sqlite3.Row]) -> AnswerSet:
    """Return the set of these counts; the rows have the changed form of each question before the original."""
    row = rows[0]
    pairs = zip(rows[1::2], rows[::2], strict=True)
    return AnswerSet(
        row["model"],
        Bias(row["bias"]),
        Perturbation(row["condition"]) if row["condition"] else None,
        tuple(AnsweredPair(one["key"], _answers(one), _answers(changed)) for one, changed in pairs),
        draw=row["draw"],
        mapped_back=bool(row["mapped_back"]),
        variant=row["variant"],
        warnings=tuple(json.loads(row["warnings"])),
    )


def _answers(row: sqlite3.Row) -> ArmAnswers:
    return ArmAnswers(json.loads(row["counts"]), row["recorded"], row["offered"], row["invalid"])


def insert_answer_set(connection: sqlite3.Connection, instrument_id: int, answers: AnswerSet) -> None:
    """Insert a new answer set."""
    row = connection.execute(
        "insert into answer_set (instrument_id, model, bias, variant, condition, draw, mapped_back, warnings, at) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id",
        (instrument_id, *set_name(answers), answers.mapped_back, json.dumps(answers.warnings), now()),
    ).fetchone()
    connection.executemany(
        "insert into answer_count (answer_set_id, ordinal, key, arm, counts, recorded, offered, invalid) "
        "values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (row[0], ordinal, pair.key, arm.value, json.dumps(dict(one.counts)), one.recorded, one.offered, one.invalid)
            for ordinal, pair in enumerate(answers.pairs)
            for arm, one in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
        ),
    )


def write_about(connection: sqlite3.Connection, rowid: int, answers: AnswerSet) -> None:
    """Write a file's data about a set except its answers: the options that its questions offered, and warnings."""
    connection.execute("update answer_set set warnings = ? where id = ?", (json.dumps(answers.warnings), rowid))
    connection.executemany(
        "update answer_count set offered = ? where answer_set_id = ? and key = ? and arm = ?",
        (
            (one.offered, rowid, pair.key, arm.value)
            for pair in answers.pairs
            for arm, one in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
        ),
    )


_ITEMS = """
    select c.ref, c.key, c.bias, c.variant, c.middle_removed, c.shares, c.warnings
    from choice c join statement s on s.instrument_id = c.instrument_id and s.ref = c.ref and s.current = 1
    where c.instrument_id = :instrument order by s.ordinal, s.version, s.id
"""

_COUNTS = """
    select a.id, a.model, a.bias, a.variant, a.condition, a.draw, a.mapped_back, a.warnings,
        n.key, n.counts, n.recorded, n.offered, n.invalid
    from answer_set a join answer_count n on n.answer_set_id = a.id
    where a.instrument_id = :instrument order by a.id, n.ordinal, n.arm
"""  # 'changed' before 'original'
