"""Lists of statements, in pages, searched and filtered in the database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import normalize

from stores.annotation.people import issue_labels_of
from stores.core.texts import restored
from stores.instruments.issues import fewest_of
from workbench.domain.issue_gold import Labels, gold_labels


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One row of a statement list."""

    ref: str
    text: str
    "the original in the language of the list, else in any language, else any wording"
    country: str | None
    topic: str | None
    issues: tuple[tuple[str, int], ...]
    "gold labels other than 0"
    variants: int
    "number of wordings in the language of the text"
    languages: int
    tags: tuple[str, ...] = ()
    version: int = 1
    original: bool = True
    "whether the text is an original"


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a list; empty: all statements."""

    search: str = ""
    "searched in refs, topics, tags and all wordings"
    issue: str = ""
    country: str = ""
    tag: str = ""
    language: str = ""
    "of the shown text; does not exclude statements"
    archived: bool = False
    "archived statements instead of current ones"


def count(connection: sqlite3.Connection, name: str, filters: Filters) -> int:
    """Return the number of statements that `lines` lists without a limit."""
    sql = f"select count(*) from ({_LINES} {_conditions(filters)})"
    found: int = connection.execute(sql, _values(connection, name, filters)[0]).fetchone()[0]
    return found


def lines(
    connection: sqlite3.Connection, name: str, filters: Filters, *, offset: int = 0, limit: int = -1
) -> Iterator[StatementLine]:
    """Yield a page of statements in the order of their instrument."""
    values, gold = _values(connection, name, filters)
    sql = f"{_LINES} {_conditions(filters)} order by s.ordinal, s.id limit :limit offset :offset"
    for row in connection.execute(sql, values | {"offset": offset, "limit": limit}).fetchall():
        ref, country, topic, tags, version, kind, body, variants, languages = row
        yield StatementLine(
            ref=ref,
            text=restored(body) if kind else "",
            country=country,
            topic=topic,
            issues=tuple(sorted((issue, label) for issue, label in gold.get(ref, {}).items() if label)),
            variants=variants,
            languages=languages,
            tags=tuple(json.loads(tags)),
            version=version,
            original=kind == "original",
        )


def folded(text: str) -> str:
    """Return a text normalised for searches: without case and with normalised accents, in any script."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def _holds(body: str | bytes | None, sought: str) -> bool:
    return body is not None and sought in folded(restored(body))


def _values(connection: sqlite3.Connection, name: str, filters: Filters) -> tuple[dict[str, object], Labels]:
    """Return the bound values of the queries, and the gold labels; searches need the function `holds`."""
    connection.create_function("holds", 2, _holds, deterministic=True)
    row = connection.execute("select id, language from instrument where name = ?", (name,)).fetchone()
    gold = gold_labels(issue_labels_of(connection, row[0]), fewest=fewest_of(connection, row[0])) if row else {}
    concerned = [ref for ref, labels in gold.items() if labels.get(filters.issue)]
    return {
        "name": name,
        "search": folded(filters.search),
        "country": filters.country,
        "tag": filters.tag,
        "language": filters.language or (row[1] if row else ""),
        "concerned": json.dumps(concerned),
    }, gold


def _conditions(filters: Filters) -> str:
    """Return the further conditions of a list; values are bound by name."""
    clauses = [_ARCHIVED if filters.archived else "s.current = 1"]
    if filters.search:
        clauses.append(_SEARCHED)
    if filters.issue:
        clauses.append("s.ref in (select value from json_each(:concerned))")
    if filters.country:
        clauses.append("s.country = :country")
    if filters.tag:
        clauses.append("exists (select 1 from json_each(s.tags) g where g.value = :tag)")
    return "and " + " and ".join(clauses)


_ARCHIVED = """
    s.current = 0 and s.id = (
        select o.id from statement o where o.instrument_id = s.instrument_id and o.ref = s.ref
        order by o.current desc, o.archived_at desc, o.version desc limit 1
    ) and s.archived_at is not null
"""
"the version archived last, for statements without a current one"

_SEARCHED = """
    (holds(s.ref, :search) or holds(s.topic, :search)
    or exists (select 1 from json_each(s.tags) g where holds(g.value, :search))
    or exists (
        select 1 from wording v join text y on y.id = v.text_id
        where v.statement_id = s.id and holds(y.body, :search)
    ))
"""

_LINES = """
    select s.ref, s.country, s.topic, s.tags, s.version, w.kind, x.body,
        (select count(*) from wording c where c.statement_id = s.id and c.language = w.language) as variants,
        (select count(distinct c.language) from wording c where c.statement_id = s.id) as languages
    from instrument i
    join statement s on s.instrument_id = i.id
    left join wording w on w.id = (
        select o.id from wording o where o.statement_id = s.id
        order by o.kind <> 'original', o.language <> :language, o.id limit 1
    )
    left join text x on x.id = w.text_id
    where i.name = :name
"""
