"""Which versions of an instrument's statements a run is about: old results keep pointing at the old text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

LIVE = """
    exists (
        select 1 from statement live
        where live.instrument_id = s.instrument_id and live.ref = s.ref and live.current = 1
    )
"""
"whether a version `s` belongs to a statement that is neither retired nor archived"


def scope_of(connection: sqlite3.Connection, run: Mapping[str, object]) -> str:
    """Return the rowids of the statements that a run is about, as a JSON list.

    Of each statement that the instrument still has, it is the newest version that the model has answered; where it has
    answered none, the current one. So an edit takes nothing from results that are there, and asking again replaces
    them.
    `run` binds instrument, audit, language, model and sampling.
    """
    rows = connection.execute(_VERSIONS, run).fetchall()
    chosen: dict[str, int] = {}
    settled: set[str] = set()
    for ref, rowid, current, versions in rows:  # of each ref, the newest first
        if ref in settled:
            continue
        if versions == 1 or connection.execute(_ANSWERED, {**run, "statement": rowid}).fetchone():
            chosen[ref] = rowid
            settled.add(ref)
        elif current:
            chosen[ref] = rowid
    return json.dumps(list(chosen.values()))


_VERSIONS = f"""
    select s.ref, s.id, s.current, count(*) over (partition by s.ref)
    from instrument i join statement s on s.instrument_id = i.id
    where i.name = :instrument and {LIVE}
    order by s.ref, s.version desc
"""

_ANSWERED = """
    select 1 from wording w
    join probe p on p.wording_id = w.id and p.audit = :audit
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    where w.statement_id = :statement and w.language = :language limit 1
"""
