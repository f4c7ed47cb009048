"""Lexicons imported with instruments, stored so that answers can be read without the original files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from stores.core.base import now
from workbench.domain.instruments import BroughtLexicon


def brought(connection: sqlite3.Connection, instrument: str) -> tuple[BroughtLexicon, ...]:
    """Return the lexicons of an instrument, by language."""
    rows = connection.execute(
        "select l.language, l.text from brought_lexicon l join instrument i on i.id = l.instrument_id "
        "where i.name = ? order by l.language",
        (instrument,),
    )
    return tuple(BroughtLexicon(*row) for row in rows)


def put_lexicons(
    connection: sqlite3.Connection, instrument_id: int, lexicons: Iterable[BroughtLexicon]
) -> tuple[tuple[str, bool], ...]:
    """Write the lexicons of a file; those in other languages are kept. Call inside a transaction.

    Return (language, whether it replaced one) for each new lexicon.
    """
    changed = []
    for one in lexicons:
        here = connection.execute(
            "select text from brought_lexicon where instrument_id = ? and language = ?", (instrument_id, one.language)
        ).fetchone()
        if here is None or here[0] != one.text:
            connection.execute(
                "insert into brought_lexicon (instrument_id, language, text, at) values (?, ?, ?, ?) "
                "on conflict do update set text = excluded.text, at = excluded.at",
                (instrument_id, one.language, one.text, now()),
            )
            changed.append((one.language, here is not None))
    return tuple(changed)
