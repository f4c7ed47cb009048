"""Personas before prompts, with which models were asked.

The text of a persona is its identity, so its name may change: the latest name counts. If two have the same name,
because the text was edited, the beginning of the key distinguishes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

from workbench.domain.personas import AXIS, Persona, PersonaKind
from workbench.domain.prompts import Message

SHOWN = 6
"characters of a key shown to people"


def add_personas(connection: sqlite3.Connection, personas: Iterable[Persona]) -> None:
    """Write personas; an existing one gets the new name and kind. Call inside a transaction."""
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
    """Return the axes of a probe, given as JSON, with the persona's name instead of its key."""
    found: dict[str, str] = json.loads(axes)
    if AXIS in found:
        found[AXIS] = persona_names(connection).get(found[AXIS], found[AXIS])
    return found


def persona_names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the displayed name of each persona by key (hexadecimal): `nurse`, or `nurse [3f2a91]` if there are two."""
    rows = [(bytes(key).hex(), name) for key, name in connection.execute("select key, name from persona order by key")]
    often = Counter(name for _, name in rows)
    return {key: f"{name} [{key[:SHOWN]}]" if often[name] > 1 else name for key, name in rows}
