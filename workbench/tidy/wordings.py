"""Rows of statements, one per wording: what `workbench statements` lists."""

from __future__ import annotations

from collections.abc import Iterator

from stores.core.store import Store
from stores.instruments.statement_lists import Filters
from workbench.tidy.choice import Choice
from workbench.tidy.columns import CELL, Field, Row, Rows, recurring, truth, whole

OF_CELL = {field.name: field for field in CELL}


def statements_listed(filters: Filters) -> Rows:
    """Return the rows of the statements that filters leave."""

    def read(store: Store, choice: Choice) -> Iterator[Row]:
        for name in choice.instruments or store.instruments.names():
            for line in store.instruments.lines(name, filters):
                statement = store.statements.get(name, line.ref, line.version)
                about = (
                    name, statement.ref, line.version, not filters.archived, statement.country, statement.topic,
                    statement.dimension and str(statement.dimension), statement.leaning and str(statement.leaning),
                    statement.source or None, ", ".join(line.tags),
                )  # fmt: skip
                for one in statement.wordings:
                    yield (*about, one.language, str(one.variant), one.text, one.relation.value, one.author or None)

    return Rows(
        "statements",
        "Statements",
        "One row for each wording of each statement.",
        (
            *recurring(
                OF_CELL["instrument"],
                OF_CELL["statement"],
                whole("statement_version", "version of the statement, from 1; an edit makes a new one"),
                truth("statement_current", "whether the statement is current, not archived"),
                OF_CELL["country"],
                OF_CELL["topic"],
                OF_CELL["dimension"],
                OF_CELL["leaning"],
                Field("source", "survey or test that it comes from", empty="none is given"),
                Field("tags", "its tags, separated by commas"),
                OF_CELL["language"],
                OF_CELL["variant"],
            ),
            Field("wording", "the text"),
            Field(
                "relation",
                "how the stance on it should stand to that on the original: same, flipped or free",
                recurs=True,
            ),
            Field("author", "who or what wrote it", empty="not said", recurs=True),
        ),
        read,
        of_models=False,
    )
