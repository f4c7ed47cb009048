"""Texts, stored once under their content key, exactly as they were."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable

from workbench.domain.keys import text_key

PACK_FROM = 1024
"characters from which a text is compressed"


def add_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Insert the texts that are not there yet. Call inside a transaction."""
    connection.executemany(
        "insert into text (key, body, packed) values (?, ?, ?) on conflict (key) do nothing",
        ((text_key(text), *_stored(text)) for text in texts),
    )


def text_ids(connection: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
    """Insert the texts that are not there yet and return the rowid of each. Call inside a transaction."""
    distinct = list(dict.fromkeys(texts))
    add_texts(connection, distinct)
    return {
        text: connection.execute("select id from text where key = ?", (text_key(text),)).fetchone()[0]
        for text in distinct
    }


def _stored(text: str) -> tuple[str | None, bytes | None]:
    """Return (body, packed): long texts are compressed, and so are those that UTF-8 cannot hold."""
    try:
        plain = len(text) < PACK_FROM and text.encode() is not None
    except UnicodeEncodeError:
        plain = False
    return (text, None) if plain else (None, zlib.compress(text.encode("utf-8", "surrogatepass")))


def restored(body: str | None, packed: bytes | None) -> str:
    """Return the text of a row."""
    if body is not None:
        return body
    assert packed is not None, "the table's check lets exactly one of the two be null"
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")
