"""The values that a store refuses although SQLite would take them.

They are infinite numbers, counts out of range and texts that are no JSON. One such value makes
figures, reports and exports fail for the whole store. Each connection that writes refuses them by
temporary triggers, so no way of writing (a plan, a form, Python, a job) is left out. The rows of
`BY_THE_MILLION` are checked where they are written: a trigger halves their speed.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator

from workbench.errors import StoreError

FINITE = (
    "party.position",
    "entailment.entailment",
    "entailment.neutral",
    "entailment.contradiction",
    "respondent.weight",
    "sampling.temperature",
    "sampling.top_p",
    "verdict_rule.low",
    "verdict_rule.high",
    "next_tokens.rest",
    "reading.confidence",
    "queue_item.priority",
    "queue_item.inclusion",
)
"columns of real numbers. SQLite stores NaN as null."
LOG_PROBABILITIES = ("score.log_probability",)
"columns in which minus infinity is valid: a label that a model never gives"
COUNTED = ("draw.n", "draw.failed", "response.count", "planned.n")
"columns with numbers of answers"
MOST_ANSWERS = 2**31 - 1
"the largest number of answers for which figures are computed"
JSON = (
    "answer_count.counts",
    "answer_set.warnings",
    "choice.shares",
    "choice.warnings",
    "classifier.config",
    "classifier.data",
    "classifier.evaluation",
    "codebook.body",
    "control_sample.run",
    "control_sample.strata",
    "instrument.issues",
    "instrument.notes",
    "job.failures",
    "job.progress",
    "job.spec",
    "persona.turns",
    "probe.axes",
    "published_share.shares",
    "queue.spec",
    "ruling.subject",
    "scale_revision.options",
    "server_batch.requests",
    "statement.tags",
)
STAND_INS = {
    "answer_set.warnings": "[]",
    "choice.warnings": "[]",
    "job.failures": "[]",
    "job.progress": "{}",
    "job.spec": "{}",
    "party.position": None,
    "queue_item.priority": 0,
    "reading.confidence": None,
    "statement.tags": "[]",
}
"""neutral values that a rescue puts in place of wrong ones, so that the rows and those about
them are kept"""
BY_THE_MILLION = ("response", "reading")
LARGEST = "1.7976931348623157e308"
REFUSED = "refused value: "
"the beginning of a trigger's message"
PREFIX = "refused_in_"
"the beginning of a trigger's name"


def conditions() -> Iterator[tuple[str, str, str, str]]:
    """Yield the conditions of wrong values: table, column, condition and reason.

    The condition is true of a wrong value in place of `{0}`. The reason is a phrase for the
    message.
    """
    for name in FINITE:
        table, _, column = name.partition(".")
        yield table, column, f"abs({{0}}) > {LARGEST}", "holds an infinite number"
    for name in LOG_PROBABILITIES:
        table, _, column = name.partition(".")
        yield table, column, f"{{0}} > {LARGEST}", "holds an infinite number"
    for name in COUNTED:
        table, _, column = name.partition(".")
        condition = f"{{0}} < 0 or {{0}} > {MOST_ANSWERS}"
        yield table, column, condition, f"holds a number that is not between 0 and {MOST_ANSWERS:,}"
    for name in JSON:
        table, _, column = name.partition(".")
        yield (
            table,
            column,
            "{0} is not null and not json_valid({0})",
            "holds a text that is no JSON",
        )


def checked_count(number: int) -> int:
    """Return a number of equal answers. Raises StoreError if no figure can be computed from it."""
    if not 0 <= number <= MOST_ANSWERS:
        raise StoreError(f"{number:,} equal answers to one prompt; the most is {MOST_ANSWERS:,}")
    return number


def checked_confidence(number: float | None) -> float | None:
    """Return the confidence of a label, or None if it has none.

    Raises StoreError for an infinite one.
    """
    if number is not None and not math.isfinite(number):
        raise StoreError(f"the confidence {number} is no finite number")
    return number


def refuse_wrong_values(connection: sqlite3.Connection, *, rescued: bool = False) -> None:
    """Make a connection refuse wrong values, as long as it is open.

    Parameters
    ----------
    rescued : whether rows of another file are copied: all tables are checked, and an older schema
        may lack some columns
    """
    by_table: dict[str, list[tuple[str, str, str]]] = {}
    columns_here = columns_of(connection) if rescued else None
    for table, column, condition, reason in conditions():
        if columns_here is not None and (table, column) not in columns_here:
            continue
        if table in BY_THE_MILLION and not rescued:
            continue
        by_table.setdefault(table, []).append((column, condition.format(f"new.{column}"), reason))
    for table, checks in by_table.items():
        steps = " ".join(
            f"select raise(abort, '{REFUSED}{table}.{column} {reason}') where {condition};"
            for column, condition, reason in checks
        )
        any_condition = " or ".join(f"({condition})" for _, condition, _ in checks)
        columns = ", ".join(column for column, _, _ in checks)
        for event in ("insert", f"update of {columns}"):
            connection.execute(
                f"create temp trigger {PREFIX}{event.split()[0]}_{table} before {event} on "
                f"main.{table} when {any_condition} begin {steps} end"
            )


def columns_of(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Return the columns of all tables, as (table, column)."""
    return frozenset(
        connection.execute(
            "select t.name, c.name from sqlite_schema t join pragma_table_info(t.name) c where "
            "t.type = 'table'"
        )
    )


def refusal_words(error: sqlite3.Error) -> str:
    """Return a trigger's description of a refused value, or "" for another error."""
    return str(error).removeprefix(REFUSED) if str(error).startswith(REFUSED) else ""


def identity_words(n_rows: int) -> str:
    """Return the description of an identity table with a wrong number of rows."""
    return f"its table identity has {n_rows} rows, not 1"


def wrong_value(connection: sqlite3.Connection) -> str:
    """Return the first table or column with a wrong value and what is wrong, or an empty string."""
    columns_here = columns_of(connection)
    if ("identity", "uid") in columns_here:
        n_rows = connection.execute("select count(*) from identity").fetchone()[0]
        if n_rows != 1:
            return identity_words(n_rows)
    for table, column, condition, reason in conditions():
        if (table, column) not in columns_here:
            continue
        if connection.execute(
            f"select 1 from {table} where {condition.format(column)} limit 1"
        ).fetchone():
            return f"{table}.{column} {reason}"
    return ""
