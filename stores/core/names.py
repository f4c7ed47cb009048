"""Names in a store, for shell completion, without migrating, writing or waiting."""

from __future__ import annotations

import sqlite3
from pathlib import Path

NAMES = {
    "models": "select distinct name from model order by name",
    "instruments": "select name from instrument order by name",
    "queues": "select name from queue order by name",
    "classifiers": "select name from classifier order by name",
    "personas": "select distinct name from persona order by name",
    "languages": "select distinct language from wording order by language",
}


def names(path: Path, kind: str) -> tuple[str, ...]:
    """Return the names of a kind; empty if the store cannot be read without changes."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
        try:
            return tuple(str(name) for (name,) in connection.execute(NAMES[kind]))
        finally:
            connection.close()
    except sqlite3.Error:
        return ()
