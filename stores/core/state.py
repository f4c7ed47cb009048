"""The state of a part of a store, in a few numbers: while they are equal, results computed from the part stay valid.

Answers, readings and remarks are only added, or deleted with their draws, so their numbers and newest times suffice.
Data that people edit in place (instruments, statements, wordings) are few and compared row by row.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import TypeVar

T = TypeVar("T")
Value = int | float | str | bytes | None
State = tuple[object, ...]


class Part(Enum):
    """A part of a store, defined by the queries that detect changes."""

    ANSWERS = (
        "select count(*), max(id), max(at), sum(n), sum(failed) from draw",
        "select count(*), sum(n) from planned",
        "select count(*) from thought",
        "select count(*), max(at), total(log_probability) from score",
        "select count(*), max(at) from next_tokens",
        "select count(*), max(id) from probe",
    )
    READINGS = (
        "select count(*) from reading",
        "select count(*), max(id) from reader",
        "select count(*), max(id) from classifier",
    )
    MATERIAL = (
        "select * from instrument",
        "select * from instrument_template",
        "select * from statement",
        "select id, statement_id, kind, ordinal, language, text_id, author, relation from wording",
        "select * from template_version",
        "select count(*), max(id) from template",
        "select * from brought_lexicon",
        "select key, name from persona",
        "select * from choice",
        "select count(*), max(at) from answer_set",
        "select count(*), max(at) from question_revision",
        "select count(*), max(at) from scale_revision",
        "select count(*), max(id) from respondent",
        "select count(*) from answer",
    )
    REMARKS = ("select count(*), max(at) from remark",)
    FINDINGS = (
        "select count(*), max(at) from waiver",
        "select count(*) from embedding",
        "select count(*) from entailment",
        "select max(id) from job where kind = 'check'",
        "select count(*), max(id) from party",
        "select count(*), total(stance) from party_answer",
        "select count(*), max(at) from issue_label",
        "select count(*) from issue",
        "select count(*), max(id) from gold_choice",
    )
    WORK = (
        "select count(*), max(at) from reading where uid is not null",
        "select count(*), max(id) from queue",
        "select count(*), max(at) from draft_decision",
        "select count(*), max(at) from ruling",
        "select count(*), max(at) from waiver",
        "select count(*), max(at) from issue_label",
        "select count(*), max(id) from gold_choice",
        "select count(*), max(at) from edit",
    )
    "what people do: labels, adjudications, rulings, decisions on drafts and findings, edits; flags are REMARKS"
    PRODUCED = (
        "select count(*), max(at) from reading where reader_id not in (select id from reader where kind = 'rule')",
        "select count(*), max(id) from classifier",
        "select count(*), max(id) from draft",
        "select count(*) from frozen_plan",
    )
    "what jobs make for people; without the readings of rules, which are written whenever figures are shown"


def state_of(connection: sqlite3.Connection, parts: Sequence[Part]) -> State:
    """Return the state of some parts of a store."""
    return tuple(hash(tuple(connection.execute(sql).fetchall())) for part in parts for sql in part.value)


MOST_REMEMBERED = 256
"results that a connection keeps: the instrument, templates and versions of some eighty runs"


class Remembered:
    """What was read over a connection, while nobody has written to the store since; of many results, those that were
    asked for last.
    """

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._at: tuple[int, int] | None = None
        self._held: OrderedDict[Hashable, object] = OrderedDict()
        self._most = most

    def value(self, connection: sqlite3.Connection, key: Hashable, read: Callable[[], T]) -> T:
        """Return the cached value of a key, or the result of `read`.

        The data version detects writes of other connections, the number of changes those of this one.
        """
        at = int(connection.execute("pragma data_version").fetchone()[0]), connection.total_changes
        if at != self._at:
            self._at = at
            self._held.clear()
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]  # type: ignore[return-value]
        found = self._held[key] = read()
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return found

    def forget(self) -> None:
        """Clear the cache, after a rollback."""
        self._at = None
