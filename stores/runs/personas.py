"""Personas that stand before prompts, as models were asked with them.

What a persona says is its identity, so its name may change: the one that was given last counts. Where two have the same
name, as a text was edited under it, the beginning of the key tells them apart.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

from workbench.domain.personas import AXIS, Persona, PersonaKind
from workbench.domain.prompts import Message

SHOWN = 6
"letters of a key that people read"


def add_personas(connection: sqlite3.Connection, personas: Iterable[Persona]) -> None:
    """Write personas; one that is there has its new name and kind. Call inside a transaction."""
    connection.executemany(
        "insert into persona (key, name, kind, language, turns) values (?, ?, ?, ?, ?) "
        "on conflict (key) do update set name = excluded.name, kind = excluded.kind, language = excluded.language",
        (
            (
                one.key,
                one.name,
                one.kind.value,
                one.language,
                json.dumps([[turn.role, turn.content] for turn in one.turns], ensure_ascii=False),
            )
            for one in personas
        ),
    )


def read_personas(connection: sqlite3.Connection) -> dict[str, Persona]:
    """Return the personas of a store by their keys (hexadecimal)."""
    rows = connection.execute("select key, name, kind, language, turns from persona order by name, key")
    return {
        bytes(key).hex(): Persona(
            name, PersonaKind(kind), tuple(Message(*turn) for turn in json.loads(turns)), language
        )
        for key, name, kind, language, turns in rows
    }


def named_axes(connection: sqlite3.Connection, axes: str) -> dict[str, str]:
    """Return the axes of a probe, which are JSON, with the persona's name in place of its key."""
    found: dict[str, str] = json.loads(axes)
    if AXIS in found:
        found[AXIS] = persona_names(connection).get(found[AXIS], found[AXIS])
    return found


def persona_names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return what people call each persona, by its key (hexadecimal): `nurse`, `nurse [3f2a91]` where there are two."""
    rows = [(bytes(key).hex(), name) for key, name in connection.execute("select key, name from persona order by key")]
    often = Counter(name for _, name in rows)
    return {key: f"{name} [{key[:SHOWN]}]" if often[name] > 1 else name for key, name in rows}
