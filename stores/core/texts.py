"""Texts, stored once under their content key, unchanged and uncompressed.

A body is text that any program with SQLite can read. A text with half a surrogate pair, which UTF-8 cannot encode, is
stored as a blob.

Texts are not compressed. Measured on 1.5 million answers of 800 to 1,500 characters: compressed, the file is a quarter
smaller (1.6 instead of 2.2 GB), but is written at two thirds of the speed and read at a fifth, and no other program
reads the texts. Short answers are the same either way: five million of 10 to 60 characters take 0.44 GB.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from workbench.domain.keys import text_key


def add_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Insert new texts. Call inside a transaction."""
    connection.executemany(
        "insert into text (key, body) values (?, ?) on conflict (key) do nothing",
        ((text_key(text), stored(text)) for text in texts),
    )


def text_ids(connection: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
    """Insert new texts and return the rowid of each. Call inside a transaction."""
    distinct = list(dict.fromkeys(texts))
    add_texts(connection, distinct)
    return {
        text: connection.execute("select id from text where key = ?", (text_key(text),)).fetchone()[0]
        for text in distinct
    }


def stored(text: str) -> str | bytes:
    """Return the stored form of a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def restored(body: object) -> str:
    """Return the text of a stored form."""
    return body.decode("utf-8", "surrogatepass") if isinstance(body, bytes) else str(body)
